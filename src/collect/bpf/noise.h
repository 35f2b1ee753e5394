/* What noise.bpf.c and detour_kernel.c share, beside struct trace_event. */
#ifndef TARE_COLLECT_BPF_NOISE_H
#define TARE_COLLECT_BPF_NOISE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define NOISE_CPUS_MAX 1024

#define NOISE_NOBODY (-1)

/* One measured CPU. Padded, so that no two share a cache line. */
struct noise_slot {
	__u64 head;	/* events that wanted room in this round */
	__u64 steal_ns; /* as the loop last asked for it */
	__u64 steal_at; /* its address; 0 not yet known */
	__s32 tid;	/* of the loop, as the kernel knows it */
	__s32 occupant; /* who was last told to get the CPU; NOISE_NOBODY: not yet known */
	__u64 switched_ns;
	__u64 padding[11];
};

struct noise_control {
	__u32 active;
};

#endif
