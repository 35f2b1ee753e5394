/* Shared by profile.bpf.c and samples/bpf.c: memory that both have mapped.
 *
 * Each CPU has two halves of everything. The kernel counts in one while tare reads the other. Only
 * the CPU itself writes, in its interrupt, so no locks are needed. */
#ifndef TARE_COLLECT_BPF_PROFILE_H
#define TARE_COLLECT_BPF_PROFILE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define PROFILE_SLOTS 8192	/* per CPU and half; a power of 2 */
#define PROFILE_PROBES 16	/* slots tried before a sample is lost */
#define PROFILE_WORDS 131072	/* of stacks, per CPU and half; a power of 2 */
#define PROFILE_INDEX 4096	/* a power of 2 */
#define PROFILE_FULL 4		/* a part of the room: a beat more of the same fits, too */
#define PROFILE_STACK_MOST 1536 /* words that a stack may need, with a margin */
#define PROFILE_DEPTH 127	/* frames in the kernel */
/* Frames in user space: as many as these are kept, the outermost ones in a ring. */
#define PROFILE_INNER 1024
#define PROFILE_OUTER 256 /* a power of 2 */
#define PROFILE_USER (PROFILE_INNER + PROFILE_OUTER)
/* So many are followed. The two loops are verified one by one. */
#define PROFILE_CHUNK 128
#define PROFILE_CHUNKS 64
#define PROFILE_WALK (PROFILE_CHUNK * PROFILE_CHUNKS)
#define PROFILE_SPANS 128     /* mappings of a process that the kernel side knows */
#define PROFILE_DUMP_PAGES 9  /* including partial ones */
#define PROFILE_DUMP_FEW 3    /* if the stack is known to be no larger */
#define PROFILE_DUMP_MANY 257 /* if it is known to be larger, but no larger than this */
#define PROFILE_PAGE 4096
#define PROFILE_CPUS 4096

enum profile_flag {
	PROFILE_OUTSIDE = 2, /* of a dump: the program is known, but one of its addresses is not */
	PROFILE_CUT = 4,     /* no room for the stack */
	PROFILE_IN_USER = 1, /* of the instruction, or the innermost one of the stack */
};

/* One program in one process. */
struct profile_identity {
	__u64 start_ns; /* of the process, CLOCK_BOOTTIME */
	__u32 tgid;
	__u32 exec_id; /* goes up with each exec */
};

/* What was sampled, and how often. It fits a cache line, because at a tick everything is cold. */
struct profile_slot {
	struct profile_identity identity;
	__u64 ip; /* the innermost */
	__u32 tid;
	__u32 stack;	/* index + 1 into the words; 0: none */
	__u64 first_ns; /* CLOCK_MONOTONIC */
	__u32 count;	/* 0: free */
	__u32 flags;
	__u32 version; /* of the mappings, if the kernel has it: an address may be mapped to
			  something else later */
	__u32 unused;
	__u64 cgroup; /* id in the v2 hierarchy */
};

/* The words of a stack: hash, counts (PROFILE_COUNTS), then the addresses, innermost first. The
 * first `skip` of the kernel's belong to the sampling itself. Those of callers in user space are
 * reduced by 1. The innermost is of the sample that came first: samples share their callers, and
 * each has its own address in its slot.
 *
 * user is the depth of the stack. Frame number i from PROFILE_INNER on is in the ring, so that the
 * last ones are there, whatever the depth. */
#define PROFILE_USER_WORD(i) \
	((i) < PROFILE_INNER ? (i) : PROFILE_INNER + (((i)-PROFILE_INNER) & (PROFILE_OUTER - 1)))
#define PROFILE_COUNTS(kernel, user, end, skip) \
	((__u64)(kernel) | (__u64)(user) << 16 | (__u64)(end) << 32 | (__u64)(skip) << 48)

struct profile_half {
	__u32 used; /* slots */
	__u32 words;
	__u32 woken;   /* tare was told that it fills up */
	__u32 hurried; /* tare was told of a deep stack that was copied */
	__u64 user, kernel, others, lost;
	__u64 irq_regs; /* where the CPU keeps an interrupt's saved registers; 0: not known yet */
	__u64 css_set, cgroup;	     /* of the last new one; the next is usually the same */
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
	__u64 page[PROFILE_PAGE / 8]; /* of the stack that is being walked */
};

/* A mapping of code with unwind rows. For each 4 KiB of the table's addresses, the page index has
 * the row that contains the first byte. */
struct profile_span {
	__u64 begin, end;
	__u64 bias;  /* address minus bias is the table's address */
	__u32 row;   /* first row of the table */
	__u32 index; /* first row of the page index */
	__u32 limit; /* size of the table's addresses */
	__u32 rows;  /* 0: none, only frame pointers may help */
};

struct profile_space {
	__u32 count;
	__u32 known;				  /* do not dump for addresses outside the spans */
	struct profile_span spans[PROFILE_SPANS]; /* by address */
};

/* A sample whose stack tare unwinds itself, as long as the kernel side lacks the mappings. A
 * smaller record only wakes tare. */
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
	__u32 half;	 /* being written now */
	__u32 filtered;	 /* count only what is wanted */
	__u32 following; /* out: wanted processes that are alive */
};

#endif
