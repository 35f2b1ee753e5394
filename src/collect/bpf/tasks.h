/* Shared by tasks.bpf.c and bpf.c, in addition to struct task_record. */
#ifndef TARE_COLLECT_BPF_TASKS_H
#define TARE_COLLECT_BPF_TASKS_H

#define MEMBERS_MAX 65536
#define TASKS_CUMULATIVE 16 /* == TASK_CUMULATIVE */

/* One live process of the subject's tree. */
struct member {
	__s32 tgid;
	__s32 tasks;	      /* living threads */
	__u64 maxrss_at_exec; /* pages; the part of signal->maxrss from before the exec */
	__u64 rss_peak_bytes; /* taken while its memory still existed; 0: not yet */
	__u32 titles;	      /* that were told of it; see struct title_record */
};

/* The beginning of the command line of a process that `maker` made, which servers change to say
 * what the process is for. It may come several times; the last one holds. */
#define TITLE_BYTES 124
struct title_record {
	__s32 tgid;
	char text[TITLE_BYTES];
};

/* What the ended tasks of the tree used, kept in the kernel because events may be lost. */
struct tree_totals {
	__u64 present;	     /* from one of them; only the block delay may differ */
	__u32 without_blkio; /* how many lacked it */
	__u64 value[TASKS_CUMULATIVE];
	__u64 rss_peak_bytes;
	__u32 processes, threads; /* that belonged to the tree */
};

#endif
