/* What the kernel reports about the measured CPUs (bpf/noise.bpf.c). Private to collect/. */
#ifndef TARE_COLLECT_DETOURS_KERNEL_H
#define TARE_COLLECT_DETOURS_KERNEL_H

#include "base/error.h"
#include "base/strbuf.h"
#include "collect/bpf/noise.h"
#include "record/detour.h"

struct detour_kernel;

/* Loads and attaches the programs. Adds what this kernel does not report to not_seen, with
 * commas. */
int detour_kernel_open(struct detour_kernel **out, const uint32_t *cpus, size_t count,
		       struct strbuf *not_seen, struct error *err);
void detour_kernel_close(struct detour_kernel *k);

/* For a loop: the program to call on its CPU (BPF_PROG_RUN), and the slot that it fills in. */
int detour_kernel_here(const struct detour_kernel *k);
const volatile struct noise_slot *detour_kernel_slot(const struct detour_kernel *k, size_t index);
bool detour_kernel_tells_steal(const struct detour_kernel *k);

void detour_kernel_begin(struct detour_kernel *k);
void detour_kernel_end(struct detour_kernel *k);
/* Puts the events of a CPU within round->begin_ns..end_ns into the round, by time, with their
 * names. They are valid until the next begin. Returns the share of the room that was used. */
double detour_kernel_take(struct detour_kernel *k, size_t index, struct detour_round *round);
/* Adds the names of work items and interrupts, after all rounds of a set are taken. */
void detour_kernel_name(struct detour_kernel *k, struct detour_round *rounds, size_t count);

#endif
