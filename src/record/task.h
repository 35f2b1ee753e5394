/* One task (a thread) as the kernel had it at one instant. BPF programs write these bytes, and an
 * image contains them. */
#ifndef TARE_RECORD_TASK_H
#define TARE_RECORD_TASK_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define TASK_RECORD_MEASURES 19 /* == TASK_MEASURES, which BPF programs cannot include */

enum task_flag {
	TASK_IS_SUBJECT = 1, /* belongs to the subject's tree */
	TASK_IS_SELF = 2,    /* tare itself or one of its helpers */
	TASK_IS_KERNEL = 4,  /* a kernel thread */
	TASK_HAS_EXITED = 8, /* an exit record: the measures are final, at_ns is the end */
	TASK_IS_LEADER = 16, /* tid == tgid */
	TASK_IS_SUM = 32,    /* stands for several processes that ended */
};

struct task_record {
	__u64 present;			   /* bit m: value[m] was seen (enum task_measure) */
	__u64 at_ns;			   /* CLOCK_MONOTONIC when this was taken */
	__u64 start_ns;			   /* CLOCK_BOOTTIME of its start; with tid, its identity */
	__u64 value[TASK_RECORD_MEASURES]; /* by enum task_measure, in the unit of the catalogue */
	__s32 tid, tgid, ppid;		   /* ppid: tgid of the parent */
	__u32 flags;			   /* enum task_flag */
	char comm[16];			   /* as the kernel has it; any bytes */
};

#ifndef __bpf__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/measure.h"

_Static_assert(TASK_MEASURES == TASK_RECORD_MEASURES, "catalogue and record disagree");

/* Every task at one instant, or the exits of one execution, in no particular order. */
struct image {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC before and after taking it */
	struct task_record *tasks;
	size_t count, capacity;
};

void image_release(struct image *image);

static inline bool task_has(const struct task_record *t, enum task_measure m)
{
	return t->present >> m & 1;
}

/* "kworker/0:1-events" -> "kworker/0": the name of a daemon, stable across instances. out is
 * NUL-terminated; bytes that are not printable ASCII or valid UTF-8 become '?'. */
void daemon_name(const char comm[16], char out[17]);
#endif
#endif
