/* What profile.bpf.c and samples_bpf.c share: memory that both have mapped.
 *
 * Each CPU has two halves of everything. The kernel counts in one while tare reads the other; only
 * the CPU itself writes, in its interrupt, so nothing is locked. */
#ifndef TARE_COLLECT_BPF_PROFILE_H
#define TARE_COLLECT_BPF_PROFILE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define PROFILE_SLOTS 8192     /* per CPU and half; a power of 2 */
#define PROFILE_PROBES 16      /* slots looked at before a sample is lost */
#define PROFILE_WORDS 131072   /* of stacks, per CPU and half; a power of 2 */
#define PROFILE_INDEX 4096     /* a power of 2 */
#define PROFILE_STACK_MOST 512 /* words of a stack, and then some */
#define PROFILE_DEPTH 127      /* frames in the kernel, and in user space */
#define PROFILE_SPANS 128      /* mappings of a process that the kernel side knows */
#define PROFILE_DUMP_PAGES 9   /* with parts */
#define PROFILE_DUMP_FEW 3     /* where the stack is known to be no larger */
#define PROFILE_PAGE 4096
#define PROFILE_CPUS 4096

enum profile_flag {
	PROFILE_OUTSIDE = 2, /* of a dump: the program is known, one of its addresses is not */
	PROFILE_CUT = 4,     /* no room for the stack */
	PROFILE_IN_USER = 1, /* the instruction, or the innermost one of the stack */
};

/* One program in one process. */
struct profile_identity {
	__u64 start_ns; /* of the process, CLOCK_BOOTTIME */
	__u32 tgid;
	__u32 exec_id; /* goes up with each exec */
};

/* What was sampled, and how often. One line of a cache: at a tick all is cold. */
struct profile_slot {
	struct profile_identity identity;
	__u64 ip; /* 0 with a stack */
	__u32 tid;
	__u32 stack;	/* where in the words, + 1; 0: none */
	__u64 first_ns; /* CLOCK_MONOTONIC */
	__u32 count;	/* 0: free */
	__u32 flags;
	__u32 version; /* of what is mapped, where the kernel tells: an address may become
			  another\'s */
	__u32 unused;
	__u64 cgroup; /* id in the hierarchy of v2 */
};

/* In the words: hash, counts (PROFILE_COUNTS), then the addresses, the innermost first, of which
 * `skip` of the kernel's are the sampling's own. Those of callers in user space are less by 1. */
#define PROFILE_COUNTS(kernel, user, end, skip) \
	((__u64)(kernel) | (__u64)(user) << 16 | (__u64)(end) << 32 | (__u64)(skip) << 48)

struct profile_half {
	__u32 used; /* slots */
	__u32 words;
	__u64 user, kernel, others, lost;
	__u64 irq_regs; /* where the CPU keeps what an interrupt interrupted; 0: not known yet */
	__u64 css_set, cgroup;	     /* of the last new one: seldom another is next */
	__u32 index[PROFILE_INDEX];  /* of stacks, as in profile_slot */
	__u16 filled[PROFILE_SLOTS]; /* the slots in use, in order of their first sample */
	struct profile_slot slots[PROFILE_SLOTS];
	char comms[PROFILE_SLOTS][16]; /* of the thread, by slot */
};

struct profile_cpu {
	struct profile_half halves[2];
};

struct profile_words {
	__u64 halves[2][PROFILE_WORDS];
};

/* A mapping of code whose unwind rows are there. The page index has for each 4 KiB of the table's
 * addresses the row that its first byte is in. */
struct profile_span {
	__u64 begin, end;
	__u64 bias;  /* table address of an address: that less bias */
	__u32 row;   /* the table's first */
	__u32 index; /* the page index's first, in rows */
	__u32 limit; /* addresses of the table */
	__u32 rows;  /* 0: none, only frame pointers may help */
};

struct profile_space {
	__u32 count;
	__u32 known; /* no dump because of an address outside of the spans */
	struct profile_span spans[PROFILE_SPANS]; /* by address */
};

/* A sample whose stack tare itself follows, because the kernel side does not know the mappings yet.
 */
struct profile_dump {
	struct profile_identity identity;
	__u64 ip, sp, bp; /* of user space */
	__u64 at_ns;
	__u64 cgroup;
	__u32 tid;
	__u32 flags;
	__u32 kernel_count; /* | skip << 16 */
	__u32 size;	    /* of the stack */
	char comm[16];
	__u64 kernel[PROFILE_DEPTH + 1];
	__u8 stack[]; /* from sp on */
};

/* Written by tare. */
struct profile_control {
	__u32 half;	 /* that is written now */
	__u32 filtered;	 /* only what is wanted counts */
	__u32 following; /* out: wanted processes that live */
};

#endif
