/* Shared by ledger.bpf.c and ledger.c. All of it is in maps that both have mapped. */
#ifndef TARE_COLLECT_BPF_LEDGER_H
#define TARE_COLLECT_BPF_LEDGER_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "record/ledger.h"

#define LEDGER_SLOTS 8192      /* threads of the subject that can be listed */
#define LEDGER_OTHERS 8192     /* tasks outside it */
#define LEDGER_TASKS_MAX 65536 /* live tasks that ran within an execution */
#define LEDGER_NAMES 16	       /* per thread; further names go to the map of all threads */
#define LEDGER_BURSTS 64       /* per CPU: how far back a wait can be attributed */
#define LEDGER_DEPTH 8	       /* of nested interrupts */
#define LEDGER_DEVICES 16
#define LEDGER_OWNERS 8 /* with requests in flight on one device */
#define LEDGER_CALLS 512

/* Who has a CPU. */
#define OCCUPANT_IDLE 0u
#define OCCUPANT_MANY 1u	  /* unknown: there was no room */
#define OCCUPANT_UNLISTED 2u	  /* a thread of the subject without room for a slot */
#define OCCUPANT_OTHER 0x10000u	  /* | index into others */
#define OCCUPANT_SUBJECT 0x20000u /* | index into slots */
#define OCCUPANT_PROBE 0x40000u	  /* with OCCUPANT_OTHER: a speed probe of tare */
#define OCCUPANT_INDEX 0xffffu

/* A name within a cause: cause << 24
 *
 * id. id is an occupant, a source, a call or a device. */
#define NAME_KEY(cause, id) ((__u32)(cause) << 24 | ((id)&0xffffffu))
#define NAME_NO_CALL 0xffffu /* asleep outside any call: in a page fault, or a kernel worker */

/* Sources of interrupts. */
#define SOURCE_SOFTIRQS 0 /* + the kernel's number */
enum ledger_vector {
	SOURCE_TIMER = 16,
	SOURCE_RESCHEDULE,
	SOURCE_CALL,
	SOURCE_CALL_SINGLE,
	SOURCE_IRQ_WORK,
	SOURCE_PLATFORM,
	SOURCE_THERMAL,
	SOURCE_THRESHOLD,
	SOURCE_DEFERRED,
	SOURCE_ERROR,
	SOURCE_SPURIOUS,
	SOURCE_NMI,
};
/* Those with tracepoints NAME_entry and NAME_exit, for VECTOR(name, source). */
#define EACH_VECTOR(VECTOR)                              \
	VECTOR(local_timer, SOURCE_TIMER)                \
	VECTOR(reschedule, SOURCE_RESCHEDULE)            \
	VECTOR(call_function, SOURCE_CALL)               \
	VECTOR(call_function_single, SOURCE_CALL_SINGLE) \
	VECTOR(irq_work, SOURCE_IRQ_WORK)                \
	VECTOR(x86_platform_ipi, SOURCE_PLATFORM)        \
	VECTOR(thermal_apic, SOURCE_THERMAL)             \
	VECTOR(threshold_apic, SOURCE_THRESHOLD)         \
	VECTOR(deferred_error_apic, SOURCE_DEFERRED)     \
	VECTOR(error_apic, SOURCE_ERROR)                 \
	VECTOR(spurious_apic, SOURCE_SPURIOUS)
#define SOURCE_IRQS 32 /* + the number in /proc/interrupts */
#define LEDGER_SOURCES 512
#define SOURCE_HIGH (LEDGER_SOURCES - 1) /* all with a higher number */

/* The class of a call; below LEDGER_CAUSES it is a cause. */
#define CALL_UNKNOWN 0
#define CALL_BY_FILE 100 /* by the kind of file that its first argument names */
#define CALL_AGAIN 101	 /* restart_syscall: as before */

/* What the subject waits for when none of its threads has a CPU: the first of these that any thread
 * is in, for WAIT(cause). */
#define EACH_WAIT(WAIT)        \
	WAIT(LEDGER_QUEUED)    \
	WAIT(LEDGER_THROTTLED) \
	WAIT(LEDGER_IO)        \
	WAIT(LEDGER_FAULT)     \
	WAIT(LEDGER_LOCK)      \
	WAIT(LEDGER_TIMER)     \
	WAIT(LEDGER_SOCKET)    \
	WAIT(LEDGER_POLL)      \
	WAIT(LEDGER_SLEEP)     \
	WAIT(LEDGER_PIPE)      \
	WAIT(LEDGER_FUTEX)     \
	WAIT(LEDGER_STOPPED)   \
	WAIT(LEDGER_CHILD)

struct ledger_name {
	__u32 key; /* 0: free */
	__u32 count;
	__u64 ns;
};

/* One thread of the subject. */
struct ledger_slot {
	__u64 begin_ns, end_ns; /* end 0: alive */
	__u64 start_ns;		/* CLOCK_BOOTTIME */
	__u64 since_ns;		/* of its present state, unless that is LEDGER_RUN */
	__u32 state;		/* enum ledger_cause; LEDGER_QUEUED until it has a CPU */
	__u32 call;		/* the call that it sleeps in */
	__s32 tid, tgid;
	__u32 cpu;    /* the last one it had */
	__u32 device; /* index + 1 of the device it last used; 0: none */
	__u32 migrations;
	__u32 unused;
	__u64 io_own_ns, io_other_ns; /* of the device, at since_ns */
	__u64 user_ns, system_ns;     /* ticks: at begin; after its end, those within its life */
	__u64 ns[LEDGER_CAUSES];
	__u32 count[LEDGER_CAUSES];
	struct ledger_name names[LEDGER_NAMES];
	char comm[16];
};

/* A task outside the subject. */
struct ledger_outsider {
	__u64 ns, longest_ns, delayed_ns, io_delayed_ns;
	__u32 bursts;
	__s32 in_flight; /* its requests */
	__s32 tid, tgid;
	__u32 kernel;
	char comm[16];
};

struct ledger_burst {
	__u64 begin_ns; /* 0: before tare looked */
	__u32 occupant;
	__u32 unused;
};

/* A task that a CPU switched to recently. */
struct ledger_met {
	__u64 task; /* its address */
	__s32 pid;  /* the same address may be reused for a new task */
	__u32 occupant;
};
#define LEDGER_MET 32

struct ledger_source {
	__u64 count, ns, subject_count, subject_ns;
};

struct ledger_cpu {
	__u64 mark_ns;	/* all time before it is accounted for */
	__u64 steal_ns; /* the hypervisor's clock at the mark */
	__u64 steal_at; /* its address; 0: not known yet */
	__u64 nmi_ns;	/* since the mark */
	__u64 turn_ns;	/* when the occupant got the CPU */
	__u64 task;	/* the occupant's address */
	__u32 occupant;
	__u32 generation; /* of the above */
	__u32 depth;
	__u32 hard_edge, soft_edge; /* of an interrupt that is being passed on */
	__u32 head;		    /* of bursts: where the next goes */
	__u16 stack[LEDGER_DEPTH];
	__u64 events[LEDGER_EVENTS], subject_events;
	/* interrupts and steal while no other thread of the subject had a CPU */
	__u64 alone_ns[LEDGER_QUEUED];
	struct ledger_met met[LEDGER_MET];
	struct ledger_burst bursts[LEDGER_BURSTS];
	struct ledger_source sources[LEDGER_SOURCES];
};

struct ledger_owner {
	__u32 occupant;
	__s32 in_flight;
};

struct ledger_device {
	__u32 number;		/* major << 20 | minor; 0 free */
	__s32 in_flight, own;	/* requests; own: the subject's */
	__s32 blocked;		/* threads of the subject that wait for it */
	__u64 mark_ns;		/* all time before it is accounted for */
	__u64 own_ns, other_ns; /* integrals of own / all and others / all in flight */
	struct ledger_owner owners[LEDGER_OWNERS];
};

/* Everything that is not a map. */
struct ledger_control {
	__u32 active;
	__u32 generation; /* of this execution */
	__u32 window;	  /* the root lives and has begun */
	__u32 root_slot;  /* 0 until it is made */
	__s32 root_tgid;
	__s32 root_threads;
	__u64 armed_ns, begin_ns, end_ns;
	__s32 enlisted_tid, enlisted_tgid; /* already running when armed; 0: none */
	__u64 clock_ns,
		clock_at_ns; /* CLOCK_MONOTONIC minus the scheduler's clock; when that was read */
	__u32 slots_used, others_used; /* may exceed what there is */
	__s32 tasks;		       /* entries of the map */
	__u32 device;		       /* index + 1 of the last one that the subject used */
	__u64 lost;		       /* names, tasks and requests without room */
	__u64 trace_lost;
	/* threads that ended when slots ran short, and those that never had one */
	__u32 folded, unseen;
	__u64 folded_ns[LEDGER_CAUSES];
	__u64 folded_count[LEDGER_CAUSES];
	__u64 folded_user_ns, folded_system_ns, folded_migrations;
	__u64 fault_other_ns; /* the part of LEDGER_IO_OTHER within a fault */
	__u32 spilled;	      /* the map of names beyond the slots is in use */
	__u32 crowded;	      /* the map of ended tasks is in use */
	__u64 wall_mark_ns;
	__u64 wall_ns[LEDGER_CAUSES];
	__s32 in_state[LEDGER_CAUSES]; /* threads, by state */
};

#endif
