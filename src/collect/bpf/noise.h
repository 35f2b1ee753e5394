/* Shared by noise.bpf.c and detours/kernel.c, in addition to struct trace_event. */
#ifndef TARE_COLLECT_BPF_NOISE_H
#define TARE_COLLECT_BPF_NOISE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define NOISE_CPUS_MAX 1024

#define NOISE_NOBODY (-1)

/* One measured CPU. Padded so that no two share a cache line. */
struct noise_slot {
	__u64 head;	/* events in this round, including those without room */
	__u64 steal_ns; /* when the loop last asked for it */
	__u64 steal_at; /* its address; 0: not known yet */
	__s32 tid;	/* of the loop, in the kernel's namespace */
	__s32 occupant; /* who last got the CPU; NOISE_NOBODY: not known yet */
	__u64 switched_ns;
	__u64 padding[11];
};

struct noise_control {
	__u32 active;
};

#endif
