/* What bursts.bpf.c reports. Shared with user space. */
#ifndef TARE_COLLECT_BPF_BURSTS_H
#define TARE_COLLECT_BPF_BURSTS_H

enum { BURST_IS_KERNEL = 1, BURST_IS_OWN = 2 };

#define BURST_SLOTS_LOG2 9
#define BURST_SLOTS (1u << BURST_SLOTS_LOG2) /* of each CPU */

/* Turns of one process on one CPU. It fits a cache line. */
struct burst_record {
	__u64 begin_ns; /* CLOCK_MONOTONIC; 0: empty, or being written */
	__u64 end_ns;
	__u64 busy_ns;
	__u64 start_ns; /* CLOCK_BOOTTIME, of the process */
	__s32 pid;
	__u16 turns; /* 65535: that many or more */
	__u16 flags;
	__u32 slot;   /* its place: BURST_SLOTS for each CPU */
	__u32 signal; /* distinguishes processes that had the same PID */
	char comm[16];
};

struct burst_control {
	__u64 lost; /* bursts without room */
};

#endif
