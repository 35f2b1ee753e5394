/* The maps of the ledger, and small helpers. Part of ledger.bpf.c. */
#ifndef TARE_COLLECT_BPF_LEDGER_MAPS_BPF_H
#define TARE_COLLECT_BPF_LEDGER_MAPS_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "collect/bpf/ledger.h"
#include "collect/bpf/tasks.h"
#include "record/trace.h"

#ifdef LEDGER_RAW
#define TP(name) SEC("raw_tp/" #name)
#define GET(p, field) BPF_CORE_READ(p, field)
#else
#define TP(name) SEC("tp_btf/" #name)
#define GET(p, field) ((p)->field)
#endif

#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_STOPPED_TRACED 0xc
#define TASK_DEAD 0x80
#define TASK_WAKING 0x200
#define TASK_FROZEN 0x8000
#define PF_IO_WORKER 0x10
#define PF_KTHREAD 0x200000
#define TS_COMPAT 2 /* thread_info.status on x86: in a call of the 32-bit table */
/* A hypervisor needs longer than this to give a CPU to another guest and take it back. */
#define STEAL_SHORTEST_NS 5000
#define S_IFMT 0170000
#define S_IFIFO 0010000
#define S_IFSOCK 0140000

const volatile __s32 self_tgid = 0;
const volatile __u32 steal_known = 0;
const volatile __s64 steal_from_rq = 0; /* address of steal_time minus that of the run queue */
const volatile __u32 tracing = 0;
const volatile __u32 hands_on = 0; /* passes the last switch of a task on to `ends` */
const volatile __u64 ring_half = 32 << 20;
const volatile __u8 call_class[LEDGER_CALLS] = {};

struct ledger_control control = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the possible CPUs, set before loading */
	__type(key, u32);
	__type(value, struct ledger_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LEDGER_SLOTS);
	__type(key, u32);
	__type(value, struct ledger_slot);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LEDGER_OTHERS);
	__type(key, u32);
	__type(value, struct ledger_outsider);
} others SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LEDGER_DEVICES);
	__type(key, u32);
	__type(value, struct ledger_device);
} devices SEC(".maps");

struct known {
	__u32 occupant;
	__u32 generation;
};

/* By address, which a task keeps when exec gives it another pid. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LEDGER_TASKS_MAX);
	__type(key, u64);
	__type(value, struct known);
} tasks SEC(".maps");

/* The processes of the subject's tree, kept by tasks.bpf.c. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MEMBERS_MAX);
	__type(key, u64);
	__type(value, struct member);
} members SEC(".maps");

/* The program of tasks.bpf.c for the last switch of a task. Two programs on one tracepoint cost
 * much more than one, because the kernel then calls each indirectly. So this one calls that. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} ends SEC(".maps");

/* Slots of threads that ended and were folded. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, LEDGER_SLOTS);
	__type(value, u32);
} free_slots SEC(".maps");

/* Records of ended tasks outside the subject. A queue, so that each is reused late. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, LEDGER_OTHERS);
	__type(value, u32);
} free_others SEC(".maps");

/* Sums of those records, by name instead of by process. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, char[16]);
	__type(value, struct ledger_outsider);
} crowd SEC(".maps");

struct spill {
	__u64 ns, count;
};

/* Names without room in a slot, or whose thread was folded: summed over threads. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);
	__type(value, struct spill);
} spills SEC(".maps");

struct in_flight {
	__u32 generation;
	__u16 device; /* index */
	__u16 owner;  /* index; LEDGER_OWNERS: there was no room */
	__u32 occupant;
	__u32 own;
	__s32 tid;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, u64);
	__type(value, struct in_flight);
} requests SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* set before loading if tracing */
} stream SEC(".maps");

/* The kernel verifies a non-static function once, not again at each call. */
#define ONCE __noinline

/* ---- small helpers ---- */

static __always_inline struct ledger_slot *slot_of(u32 occupant)
{
	u32 index = occupant & OCCUPANT_INDEX;
	return bpf_map_lookup_elem(&slots, &index);
}

static __always_inline struct ledger_outsider *other_of(u32 occupant)
{
	u32 index = occupant & OCCUPANT_INDEX;
	return bpf_map_lookup_elem(&others, &index);
}

static __always_inline bool is_subject(u32 occupant)
{
	return occupant & OCCUPANT_SUBJECT;
}

static __always_inline u32 state_of(struct task_struct *t)
{
	struct task_struct___before_5_14 *old = (void *)t;
	if (bpf_core_field_exists(t->__state))
		return GET(t, __state);
	return (u32)BPF_CORE_READ(old, state);
}

static __always_inline u32 cpu_of(struct task_struct *t)
{
	struct task_struct___before_5_16 *old = (void *)t;
	if (bpf_core_field_exists(t->thread_info.cpu))
		return GET(t, thread_info.cpu);
	return BPF_CORE_READ(old, cpu);
}

static __always_inline int lose(void)
{
	__sync_fetch_and_add(&control.lost, 1);
	return 0;
}

/* Counts what tare costs while the root lives. */
static __always_inline void count_event(struct ledger_cpu *c, u32 kind)
{
	if (!control.window)
		return;
	c->events[kind]++;
	c->subject_events += is_subject(c->occupant);
}

/* ---- the trace ---- */

static __always_inline u32 cause_of(u32 source)
{
	return source < SOURCE_TIMER  ? LEDGER_SOFTIRQ
	       : source == SOURCE_NMI ? LEDGER_NMI
				      : LEDGER_IRQ;
}

static __always_inline struct trace_event *begin_event(u64 now, u8 kind)
{
	struct trace_event *e = bpf_ringbuf_reserve(&stream, sizeof *e, 0);
	if (!e) {
		__sync_fetch_and_add(&control.trace_lost, 1);
		return 0;
	}
	__builtin_memset(e, 0, sizeof *e);
	e->at_ns = now;
	e->kind = kind;
	e->cpu = (u16)bpf_get_smp_processor_id();
	return e;
}

static __always_inline void end_event(struct trace_event *e)
{
	u64 wake = bpf_ringbuf_query(&stream, BPF_RB_AVAIL_DATA) > ring_half;
	bpf_ringbuf_submit(e, wake ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

static __always_inline void about_task(struct trace_event *e, struct task_struct *t, u32 occupant)
{
	e->tid = GET(t, pid);
	e->tgid = GET(t, tgid);
	bpf_probe_read_kernel(e->comm, sizeof e->comm, t->comm);
	e->flags = (is_subject(occupant) ? TRACE_IS_SUBJECT : 0) |
		   (e->tgid == self_tgid ? TRACE_IS_SELF : 0) |
		   (GET(t, flags) & PF_KTHREAD ? TRACE_IS_KERNEL : 0);
}

ONCE int trace_interrupt(u64 now, u32 kind, u32 source)
{
	struct trace_event *e = begin_event(now, (u8)kind);
	if (!e)
		return 0;
	e->a = cause_of(source);
	e->b = source;
	end_event(e);
	return 0;
}

#endif
