/* What tasks.bpf.c and bpf.c share beside struct task_record. */
#ifndef TARE_COLLECT_BPF_TASKS_H
#define TARE_COLLECT_BPF_TASKS_H

#define MEMBERS_MAX 65536
#define TASKS_CUMULATIVE 16 /* == TASK_CUMULATIVE */

/* One live process of the subject's tree. */
struct member {
	__s32 tgid;
	__s32 tasks;	      /* threads alive */
	__u64 maxrss_at_exec; /* pages; what signal->maxrss owes to the memory before the exec */
	__u64 rss_peak_bytes; /* taken while its memory was still there; 0 not yet */
};

/* What the ended tasks of the tree used; kept in the kernel so that no lost event can make it
 * wrong. */
struct tree_totals {
	__u64 present;	     /* as one of them had it; they differ in the block delay at most */
	__u32 without_blkio; /* so many had none */
	__u64 value[TASKS_CUMULATIVE];
	__u64 rss_peak_bytes;
	__u32 processes, threads; /* that belonged to it */
};

#endif
