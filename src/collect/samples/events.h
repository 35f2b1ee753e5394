/* One perf event per CPU, whose overflows a BPF program is called at. Private to collect/. */
#ifndef TARE_COLLECT_SAMPLES_EVENTS_H
#define TARE_COLLECT_SAMPLES_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/profile.h"

struct bpf_program;
struct sample_events;

/* Stopped. hz beyond the kernel's limit is the caller's to refuse. */
int sample_events_open(struct sample_events **out, enum profile_mode mode, uint32_t hz,
		       const uint32_t *cpus, size_t count, struct error *err);
int sample_events_start(struct sample_events *e, struct bpf_program *program, struct error *err);
void sample_events_stop(struct sample_events *e);
void sample_events_close(struct sample_events *e); /* NULL is fine */
/* How often the kernel held one back, since the last call. */
uint64_t sample_events_throttled(struct sample_events *e);

#endif
