/* The full stream of events of one execution, for --trace: who had each CPU, every interrupt, and
 * what each thread of the subject waited for. BPF programs write these bytes and the lab stores
 * them compressed: add fields at the end and raise TRACE_VERSION. */
#ifndef TARE_RECORD_TRACE_H
#define TARE_RECORD_TRACE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define TRACE_VERSION 1

enum trace_kind {
	TRACE_SWITCH = 1, /* tid, tgid, comm: who gets the CPU (tid 0: idle); a: tid of who leaves
			     it; b: why it leaves (enum ledger_cause; LEDGER_QUEUED: it still wants
			     to run; TRACE_ENDED: it is dead), known only for the subject, otherwise
			     LEDGER_QUEUED or LEDGER_SLEEP */
	TRACE_WAKEUP,	  /* tid, tgid, comm of the subject's thread; a: tid of who woke it */
	TRACE_BEGIN,	  /* a thread of the subject begins: tid, tgid, comm; a: tid of its maker */
	TRACE_END,	  /* it ends: tid, tgid, comm */
	TRACE_RENAME,	  /* a thread of the subject has this name from now on: tid, tgid, comm */
	TRACE_ENTER,	  /* an interrupt begins on cpu: a: enum ledger_cause, b: its source */
	TRACE_LEAVE,	  /* the innermost one ends: a, b as above */
	TRACE_MIGRATE,	  /* tid of a thread of the subject; a: the CPU it goes to */
	TRACE_IO_START,	  /* a request: tid, tgid, comm of who submitted it; a: device, b: bytes */
	TRACE_IO_DONE,	  /* a: device, b: bytes; tid: who submitted it */
	/* Only in `tare noise`: */
	TRACE_WORK_BEGIN, /* a work item begins on the worker that has the CPU: a: its function, in
			     names under TRACE_NAMES_WORK */
	TRACE_WORK_END,	  /* it ends */
	TRACE_FAULT,	  /* a page fault of the loop begins; its end is not reported */
	TRACE_NMI,	  /* a handler of an NMI ends: b: ns it took */
	TRACE_DETOUR_BEGIN, /* the loop is away from here */
	TRACE_DETOUR_END,
	/* Only in `tare time`: */
	TRACE_SPEED, /* a speed probe on cpu, in tenths of a ns: tid: chain, tgid: turns, a: ports,
			b: loads */
};

#define TRACE_NAMES_WORK 200 /* cause of a struct trace_name: source is a function's number */

#define TRACE_ENDED 255

enum trace_flag {
	TRACE_IS_SUBJECT = 1,	  /* tid belongs to the subject */
	TRACE_IS_SELF = 2,	  /* tid is tare's */
	TRACE_IS_KERNEL = 4,	  /* tid is a kernel thread */
	TRACE_LEAVER_SUBJECT = 8, /* TRACE_SWITCH: a belongs to the subject */
	TRACE_IS_WRITE = 16,	  /* TRACE_IO_* */
	TRACE_IS_FAIR = 32, /* TRACE_SWITCH of `tare noise`: who gets the CPU is not in a real-time
			       or deadline class, and is not the idle task */
};

struct trace_event {
	__u64 at_ns; /* CLOCK_MONOTONIC */
	__u8 kind;   /* enum trace_kind */
	__u8 flags;  /* enum trace_flag */
	__u16 cpu;
	__s32 tid, tgid;
	__u32 a, b;
	__u32 reserved;
	char comm[16];
};

#ifndef __bpf__
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "record/ledger.h"

_Static_assert(sizeof(struct trace_event) == 48, "the stored layout must not change");

/* The meaning of b in TRACE_ENTER and a in TRACE_IO_*. */
struct trace_name {
	uint32_t cause; /* LEDGER_IRQ, LEDGER_SOFTIRQ, LEDGER_NMI; LEDGER_IO for a device */
	uint32_t source;
	char name[48];
};

struct trace {
	bool present;
	ARRAY(struct trace_event) events; /* by at_ns, except ties */
	ARRAY(struct trace_name) names;
	uint64_t lost; /* events that found the ring full */
};

void trace_release(struct trace *t);
void trace_clear(struct trace *t);
/* Adds the probes of one CPU that were not interrupted, out of order. */
struct speed_sample;
void trace_add_speed(struct trace *t, uint32_t cpu, const struct speed_sample *samples,
		     size_t count);
/* Sorts by time; the events of one CPU keep their order. */
void trace_sort(struct trace *t);
#endif
#endif
