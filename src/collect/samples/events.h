/* One perf event per CPU. A BPF program is called when it overflows. Private to collect/. */
#ifndef TARE_COLLECT_SAMPLES_EVENTS_H
#define TARE_COLLECT_SAMPLES_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/profile.h"

struct bpf_program;
struct sample_events;

/* Opens stopped events. The caller must check hz against the kernel's limit. */
int sample_events_open(struct sample_events **out, enum profile_mode mode, uint32_t hz,
		       const uint32_t *cpus, size_t count, struct error *err);
int sample_events_start(struct sample_events *e, struct bpf_program *program, struct error *err);
void sample_events_stop(struct sample_events *e);
void sample_events_close(struct sample_events *e); /* NULL is fine */
/* How often the kernel throttled an event since the last call. */
uint64_t sample_events_throttled(struct sample_events *e);

#endif
