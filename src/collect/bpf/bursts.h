/* What bursts.bpf.c tells. Shared with user space. */
#ifndef TARE_COLLECT_BPF_BURSTS_H
#define TARE_COLLECT_BPF_BURSTS_H

enum { BURST_IS_KERNEL = 1, BURST_IS_OWN = 2 };

/* Turns of one process on one CPU. */
struct burst_record {
	__u64 begin_ns, end_ns; /* CLOCK_MONOTONIC */
	__u64 busy_ns;
	__u64 start_ns; /* CLOCK_BOOTTIME, of the process */
	__s32 pid;
	__u32 turns;
	__u16 cpu;
	__u16 flags;
	char comm[16];
	__u32 unused;
};

struct burst_key {
	__u64 signal;
	__u64 cpu;
};

struct burst_control {
	__u64 lost; /* bursts without room */
};

#endif
