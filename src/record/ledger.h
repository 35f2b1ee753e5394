/* The ledger of one execution: every nanosecond of every thread of the subject, from its start (for
 * the root: its exec) to its end, counted once under a cause. Names within a cause say which
 * interrupt, task, device or call it was.
 *
 * The causes of a thread add up to its lifetime, the subject's account is the sum over its threads,
 * and the wall-clock view adds up to the ET. */
#ifndef TARE_RECORD_LEDGER_H
#define TARE_RECORD_LEDGER_H

#ifndef __bpf__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "record/field.h"
#endif

/* The numbers are stored and shared with the BPF programs: add at the end. */
enum ledger_cause {
	LEDGER_RUN,	  /* on a CPU in its own context, user and kernel */
	LEDGER_IRQ,	  /* on a CPU, which served a hard interrupt */
	LEDGER_SOFTIRQ,	  /* on a CPU, which served a soft interrupt */
	LEDGER_NMI,	  /* on a CPU, which served a non-maskable interrupt */
	LEDGER_STEAL,	  /* on a CPU that the hypervisor had taken away */
	LEDGER_QUEUED,	  /* runnable; another task had its CPU */
	LEDGER_WAKING,	  /* runnable; its CPU was idle and still waking up */
	LEDGER_THROTTLED, /* runnable; its control group had used up its quota */
	LEDGER_IO,	  /* blocked on I/O: the share the device spent on the subject */
	LEDGER_IO_OTHER,  /* blocked on I/O or in a fault: the share it spent on others */
	LEDGER_IO_IDLE,	  /* blocked on I/O, nothing in flight on the device */
	LEDGER_FAULT,	  /* waiting for the page of a major fault, except IO_OTHER */
	LEDGER_FUTEX,	  /* asleep: on a lock or condition of user space */
	LEDGER_PIPE,	  /* asleep: on a pipe */
	LEDGER_SOCKET,	  /* asleep: on a socket */
	LEDGER_TIMER,	  /* asleep: until a time */
	LEDGER_POLL,	  /* asleep: until one of several files or events is ready */
	LEDGER_CHILD,	  /* asleep: until a child ends or execs */
	LEDGER_LOCK,	  /* asleep: uninterruptibly in the kernel, on a lock or a journal */
	LEDGER_SLEEP,	  /* asleep: on anything else */
	LEDGER_STOPPED,	  /* stopped by a signal, a tracer or the freezer */
	LEDGER_UNSEEN,	  /* alive, but not accounted for */
	LEDGER_CAUSES,
};

/* Kinds of events that ran a BPF program. */
enum ledger_event {
	LEDGER_SWITCHES,
	LEDGER_WAKEUPS,
	LEDGER_INTERRUPTS, /* entries and exits of hard, soft and non-maskable interrupts */
	LEDGER_BLOCKS,	   /* block requests started and done */
	LEDGER_EVENTS,
};

#ifndef __bpf__

struct ledger_cause_row {
	const char *name;    /* everywhere: "io_other" */
	const char *meaning; /* one line */
};
extern const struct ledger_cause_row ledger_causes[LEDGER_CAUSES];
extern const char *const ledger_cause_names[LEDGER_CAUSES];
extern const char *const ledger_event_names[LEDGER_EVENTS]; /* "switches", ... */

/* Causes under which the thread was on a CPU. */
static inline bool ledger_on_cpu(enum ledger_cause cause)
{
	return cause <= LEDGER_STEAL;
}

/* The account of one thread, one process or the whole subject. */
struct ledger_account {
	uint64_t ns[LEDGER_CAUSES];
	uint64_t count[LEDGER_CAUSES]; /* how often it began */
	/* its ticks, which divide LEDGER_RUN into user and kernel time (sampled) */
	uint64_t tick_user_ns, tick_system_ns;
	uint64_t migrations; /* moves to another CPU */
};

struct ledger_thread {
	int32_t tid, tgid;
	uint64_t start_ns;	   /* CLOCK_BOOTTIME; with tid, its identity */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC: its lifetime; the root's begins with exec */
	bool alive;    /* at the end of the execution: then end_ns is when tare looked */
	char name[17]; /* its last name */
	struct ledger_account account;
};

/* What caused the time under a cause. */
struct ledger_entry {
	uint32_t thread; /* details: index into threads; entries: 0 */
	enum ledger_cause cause;
	/* the interrupt ("timer", "virtio1-req.0"), the kind of soft interrupt ("net_rx"), the task
	 * that had the CPU or the device ("postgres"; "itself" for the subject's own), the device
	 * ("vda"), the call ("clock_nanosleep"); "" if there are no names */
	char name[48];
	int32_t pid; /* the process of that name; 0: none or several */
	uint64_t ns, count;
};

/* A process outside the subject that had a CPU while the root lived. */
struct ledger_other {
	int32_t pid;
	bool self;   /* tare */
	bool kernel; /* a kernel thread */
	char name[17];
	uint64_t ns; /* on a CPU, including interrupts and steal */
	uint64_t bursts, longest_ns;
	uint64_t delayed_ns;	/* it had a CPU that a thread of the subject was queued for */
	uint64_t io_delayed_ns; /* it had the device that a thread of the subject was blocked on */
};

/* A source of interrupts on the whole machine while the root lived, without nested interrupts. */
struct ledger_interrupt {
	enum ledger_cause cause; /* LEDGER_IRQ, LEDGER_SOFTIRQ or LEDGER_NMI */
	char name[48];
	uint64_t count, ns;
	uint64_t subject_count, subject_ns; /* of those, on a CPU that the subject had */
};

struct ledger {
	bool present;
	bool net;		       /* while measuring: subject.ns[LEDGER_RUN] is PT(net) */
	uint64_t begin_ns, end_ns;     /* CLOCK_MONOTONIC: the root's exec and end */
	struct ledger_account subject; /* summed over every thread */
	/* At each instant of [begin, end]: LEDGER_RUN if any thread of the subject ran, otherwise
	 * what all of it waited for (order of choice: docs/decisions/011). Adds up to the ET. */
	uint64_t wall_ns[LEDGER_CAUSES];
	ARRAY(struct ledger_thread) threads; /* by begin */
	/* Threads without room to be listed: only in the subject's account. */
	uint32_t unlisted;
	/* The subject's account by name: each cause adds up to subject.ns. By ns, descending. */
	ARRAY(struct ledger_entry) entries;
	ARRAY(struct ledger_entry) details; /* the same by thread, if known */
	ARRAY(struct ledger_other) others;  /* by delayed_ns + io_delayed_ns, then ns, descending */
	ARRAY(struct ledger_interrupt) interrupts; /* by ns, descending */
	/* The cost of tare itself, which is not subtracted anywhere. */
	uint64_t events[LEDGER_EVENTS]; /* on the whole machine */
	double event_ns[LEDGER_EVENTS]; /* measured on this machine at the start of the run */
	uint64_t subject_events;	/* of all, on a CPU that the subject had */
	uint64_t lost;			/* facts that found a map full: names or I/O, not time */
	char not_seen[256];		/* what this kernel does not report; "": nothing */
};

/* The rows of these structs, for the lab and for JSON. A detail is an entry with its thread. */
extern const struct shape ledger_detail_shape, ledger_causes_shape, ledger_mean_causes_shape,
	ledger_account_shape, ledger_thread_shape, ledger_entry_shape, ledger_other_shape,
	ledger_interrupt_shape, ledger_cost_shape, ledger_shape;

void ledger_release(struct ledger *l);
/* Empties it but keeps its memory. */
void ledger_clear(struct ledger *l);

/* Adds b to a. */
void ledger_account_add(struct ledger_account *a, const struct ledger_account *b);
uint64_t ledger_account_sum(const struct ledger_account *a);
/* The sum of the causes under which it was on a CPU. */
uint64_t ledger_account_on_cpu_ns(const struct ledger_account *a);
/* The user part of LEDGER_RUN by the ticks; UINT64_MAX without a tick. */
uint64_t ledger_account_user_ns(const struct ledger_account *a);

/* Accounts of the listed threads by process, in order of first begin. The caller frees them. */
struct ledger_process {
	int32_t tgid;
	uint64_t begin_ns, end_ns; /* from its first thread's begin to its last one's end */
	char name[17];		   /* of its first thread */
	size_t threads;
	struct ledger_account account;
};
struct ledger_process *ledger_processes(const struct ledger *l, size_t *count);

/* Keeps only the threads of these processes, because others were counted as the subject's when they
 * began. If one thread is left, the wall-clock view becomes its own; with several it stays, because
 * it cannot be divided later. */
void ledger_keep_processes(struct ledger *l, const int32_t *tgids, size_t count);

/* Ends the wall-clock view at end_ns if it is longer: the root was still being torn down, or was
 * ended by the time limit. The threads' accounts stay complete. */
void ledger_cut(struct ledger *l, uint64_t end_ns);

/* The estimated cost of the BPF programs: on the machine, and on the subject's CPUs. */
double ledger_cost_ns(const struct ledger *l);
double ledger_subject_cost_ns(const struct ledger *l);

#endif
#endif
