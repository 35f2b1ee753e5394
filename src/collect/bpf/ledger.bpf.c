/* The ledger: where the time of every thread of the subject goes.
 *
 * On a CPU every event advances a mark: what lies between two marks belongs to the innermost
 * interrupt, or to the task, less what the hypervisor says it stole. So nested interrupts are
 * netted out by construction. Off the CPU a thread has one state since one instant, settled at its
 * wake-up and when it gets a CPU; who had the CPU meanwhile is read from that CPU's last bursts.
 *
 * Built twice: for tp_btf, and (LEDGER_RAW) for raw tracepoints, whose arguments are mere numbers.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "collect/bpf/ledger.h"
#include "collect/bpf/tasks.h"
#include "record/trace.h"

char LICENSE[] SEC("license") = "GPL";

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
#define TS_COMPAT 2 /* thread_info.status of x86: in a call of the 32-bit table */
/* A hypervisor takes longer to give a CPU to another and take it back. */
#define STEAL_SHORTEST_NS 5000
#define S_IFMT 0170000
#define S_IFIFO 0010000
#define S_IFSOCK 0140000

const volatile __s32 self_tgid = 0;
const volatile __u32 steal_known = 0;
const volatile __s64 steal_from_rq = 0; /* address of steal_time less that of the run queue */
const volatile __u32 tracing = 0;
const volatile __u32 hands_on = 0; /* the last switch of a task, to ends */
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
 * much more than one: the kernel then calls each indirectly. So this one hands on to that. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} ends SEC(".maps");

/* Slots of threads that have ended and were folded. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, LEDGER_SLOTS);
	__type(value, u32);
} free_slots SEC(".maps");

/* Records of tasks outside the subject that have ended; in order, so that one is used again late.
 */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, LEDGER_OTHERS);
	__type(value, u32);
} free_others SEC(".maps");

/* What those had been: told apart no longer by process. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, char[16]);
	__type(value, struct ledger_outsider);
} crowd SEC(".maps");

struct spill {
	__u64 ns, count;
};

/* Names that found no room in a slot, or whose thread was folded: told apart no longer by thread.
 */
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
	__uint(max_entries, 4096); /* set before loading when tracing */
} stream SEC(".maps");

/* The kernel verifies a function that is not static on its own, not again at each call. */
#define ONCE __noinline

/* ---- small things ---- */

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

ONCE int lose(void)
{
	__sync_fetch_and_add(&control.lost, 1);
	return 0;
}

/* What tare costs while the root lives. */
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

/* ---- accounts ---- */

ONCE int spill(u32 key, u64 ns, u64 count)
{
	struct spill *s = bpf_map_lookup_elem(&spills, &key);
	if (!s) {
		struct spill none = {};
		bpf_map_update_elem(&spills, &key, &none, BPF_NOEXIST);
		s = bpf_map_lookup_elem(&spills, &key);
	}
	if (!s)
		return lose();
	control.spilled = 1;
	__sync_fetch_and_add(&s->ns, ns);
	__sync_fetch_and_add(&s->count, count);
	return 0;
}

/* One thread is worked upon by one CPU at a time. */
ONCE int enter_name(struct ledger_slot *t, u32 key, u64 ns, u32 count)
{
	if (!t)
		return 0;
	for (int i = 0; i < LEDGER_NAMES; i++) {
		struct ledger_name *n = &t->names[i];
		if (!n->key)
			n->key = key;
		if (n->key == key) {
			n->ns += ns;
			n->count += count;
			return 0;
		}
	}
	return spill(key, ns, count);
}

static __always_inline u64 read_steal(struct ledger_cpu *c)
{
	u64 steal = c->steal_ns;
	if (!c->steal_at) {
		struct task_struct *t = (void *)bpf_get_current_task();
		c->steal_at = (u64)BPF_CORE_READ(t, se.cfs_rq, rq) + (u64)steal_from_rq;
	}
	bpf_probe_read_kernel(&steal, sizeof steal, (void *)c->steal_at);
	return steal;
}

/* Enters the time up to now on this CPU. open: this program can be interrupted by that of a hard
 * interrupt. ended: interrupts that end now, 1 or 0. */
static __always_inline void advance(struct ledger_cpu *c, u64 now, bool open, u32 ended)
{
	u64 stolen = 0, mark;
	if (open) {
		mark = __sync_lock_test_and_set(&c->mark_ns, now);
	} else {
		mark = c->mark_ns;
		c->mark_ns = now;
	}
	if (now <= mark) { /* one came after the clock was read: it has entered more */
		c->mark_ns = mark;
		return;
	}
	u64 ns = now - mark;
	if (steal_known && ns > STEAL_SHORTEST_NS) {
		u64 steal = read_steal(c);
		stolen = steal - c->steal_ns;
		c->steal_ns = steal;
	}
	if (stolen > ns)
		stolen = ns;
	ns -= stolen;
	if (c->nmi_ns) {
		ns -= c->nmi_ns < ns ? c->nmi_ns : ns;
		c->nmi_ns = 0;
	}
	u32 depth = c->depth, source = 0;
	if (depth) {
		source = c->stack[(depth - 1) & (LEDGER_DEPTH - 1)] & (LEDGER_SOURCES - 1);
		if (control.window)
			c->sources[source].ns += ns;
	}
	if (!is_subject(c->occupant))
		return;
	struct ledger_slot *t = slot_of(c->occupant);
	if (!t)
		return;
	bool alone = control.in_state[LEDGER_RUN] == 1 && control.window;
	if (depth) {
		u32 cause = cause_of(source);
		if (control.window)
			c->sources[source].subject_ns += ns;
		if (cause < LEDGER_QUEUED) {
			t->ns[cause] += ns;
			t->count[cause] += ended;
			if (alone)
				c->alone_ns[cause] += ns;
		}
		enter_name(t, NAME_KEY(cause, source), ns, ended);
	} else {
		t->ns[LEDGER_RUN] += ns;
	}
	if (stolen) {
		t->ns[LEDGER_STEAL] += stolen;
		t->count[LEDGER_STEAL]++;
		if (alone)
			c->alone_ns[LEDGER_STEAL] += stolen;
	}
}

/* ---- the subject as a whole, by the wall clock ----
 *
 * in_state counts threads by state. A stretch is entered when its cause may end. Whatever order two
 * CPUs come in, each piece of time is taken off the mark once, so the entries add up. */

static __always_inline u32 waits_for(void)
{
#define IF_ANY(cause)                    \
	if (control.in_state[cause] > 0) \
	return cause
	IF_ANY(LEDGER_QUEUED);
	IF_ANY(LEDGER_THROTTLED);
	IF_ANY(LEDGER_IO);
	IF_ANY(LEDGER_FAULT);
	IF_ANY(LEDGER_LOCK);
	IF_ANY(LEDGER_TIMER);
	IF_ANY(LEDGER_SOCKET);
	IF_ANY(LEDGER_POLL);
	IF_ANY(LEDGER_SLEEP);
	IF_ANY(LEDGER_PIPE);
	IF_ANY(LEDGER_FUTEX);
	IF_ANY(LEDGER_STOPPED);
	IF_ANY(LEDGER_CHILD);
#undef IF_ANY
	return LEDGER_UNSEEN;
}

static __always_inline void enter_wall(u32 cause, u64 now)
{
	u64 mark = __sync_lock_test_and_set(&control.wall_mark_ns, now);
	__sync_fetch_and_add(&control.wall_ns[cause], now - mark);
}

/* The first ns of the stretch that goes on, under another cause than the rest of it. */
static __always_inline void enter_wall_part(u32 cause, u64 ns)
{
	__sync_fetch_and_add(&control.wall_mark_ns, ns);
	__sync_fetch_and_add(&control.wall_ns[cause], ns);
}

static __always_inline void change_state(u32 from, u32 to, u64 now)
{
	if (!control.window || from == to || from >= LEDGER_CAUSES || to >= LEDGER_CAUSES)
		return;
	if (from == LEDGER_RUN)
		enter_wall(LEDGER_RUN, now);
	else if (control.in_state[LEDGER_RUN] <= 0)
		enter_wall(waits_for(), now);
	__sync_fetch_and_add(&control.in_state[to], 1);
	__sync_fetch_and_add(&control.in_state[from], -1);
}

/* ---- who has a CPU ---- */

static __always_inline u32 take_other(void)
{
	u32 index = __sync_fetch_and_add(&control.others_used, 1) + 1;
	if (index < LEDGER_OTHERS)
		return index;
	for (int i = 0; i < 4; i++) {
		if (bpf_map_pop_elem(&free_others, &index))
			return 0;
		struct ledger_outsider *o = other_of(index);
		/* a thread that waited long may have come to name it after all */
		if (o && !o->delayed_ns && !o->io_delayed_ns)
			return index;
	}
	return 0;
}

/* An ended task that held nothing up makes room where that is short. */
ONCE int leave_other(u32 index)
{
	struct ledger_outsider *o = other_of(index), none = {};
	if (!o || control.others_used < LEDGER_OTHERS / 2 || o->delayed_ns || o->io_delayed_ns ||
	    o->in_flight > 0)
		return 0;
	struct ledger_outsider *sum = bpf_map_lookup_elem(&crowd, o->comm);
	if (!sum) {
		__builtin_memcpy(none.comm, o->comm, sizeof none.comm);
		none.kernel = o->kernel;
		bpf_map_update_elem(&crowd, o->comm, &none, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&crowd, o->comm);
	}
	if (!sum)
		return lose();
	control.crowded = 1;
	__sync_fetch_and_add(&sum->ns, o->ns);
	__sync_fetch_and_add(&sum->bursts, o->bursts);
	if (o->longest_ns > sum->longest_ns)
		sum->longest_ns = o->longest_ns;
	o->ns = o->longest_ns = 0;
	o->bursts = 0;
	bpf_map_push_elem(&free_others, &index, BPF_ANY);
	return 0;
}

static __always_inline long register_task(u64 key, u32 occupant)
{
	struct known k = { .occupant = occupant, .generation = control.generation };
	struct known *old = bpf_map_lookup_elem(&tasks, &key);
	if (old) { /* of an execution before */
		*old = k;
		return 0;
	}
	long failed = bpf_map_update_elem(&tasks, &key, &k, BPF_ANY);
	if (!failed)
		__sync_fetch_and_add(&control.tasks, 1);
	return failed;
}

static __noinline u32 meet(struct task_struct *t)
{
	u64 key = (u64)t;
	u32 index = take_other();
	struct ledger_outsider *o = index ? other_of(index) : 0;
	if (!o) {
		lose();
		return OCCUPANT_MANY;
	}
	__builtin_memset(o, 0, sizeof *o);
	o->tid = BPF_CORE_READ(t, pid);
	o->tgid = BPF_CORE_READ(t, tgid);
	o->kernel = (BPF_CORE_READ(t, flags) & PF_KTHREAD) != 0;
	bpf_probe_read_kernel(o->comm, sizeof o->comm, t->comm);
	if (register_task(key, OCCUPANT_OTHER | index))
		lose();
	return OCCUPANT_OTHER | index;
}

static __always_inline u32 known_occupant(struct task_struct *t)
{
	u64 key = (u64)t;
	struct known *k = bpf_map_lookup_elem(&tasks, &key);
	return k && k->generation == control.generation ? k->occupant : OCCUPANT_IDLE;
}

/* Most switches on a CPU are between the same few. */
static __always_inline struct ledger_met *met_as(struct ledger_cpu *c, struct task_struct *t,
						 s32 pid)
{
	struct ledger_met *met = &c->met[(u32)pid % LEDGER_MET];
	return met->task == (u64)t && met->pid == pid ? met : 0;
}

static __always_inline u32 occupant_of(struct ledger_cpu *c, struct task_struct *t)
{
	s32 pid = GET(t, pid);
	if (!pid)
		return OCCUPANT_IDLE;
	struct ledger_met *met = met_as(c, t, pid);
	if (met)
		return met->occupant;
	u32 occupant = known_occupant(t);
	if (!occupant)
		occupant = meet(t);
	met = &c->met[(u32)pid % LEDGER_MET];
	met->task = (u64)t;
	met->pid = pid;
	met->occupant = occupant;
	return occupant;
}

static __always_inline struct ledger_cpu *cpu_at(u32 number)
{
	return bpf_map_lookup_elem(&cpus, &number);
}

/* This CPU's state; at its first event in an execution not even who has it is known. */
static __always_inline struct ledger_cpu *this_cpu(u64 now)
{
	struct ledger_cpu *c = cpu_at(bpf_get_smp_processor_id());
	if (!c || c->generation == control.generation)
		return c;
	c->generation = control.generation;
	c->task = 0;
	c->occupant = OCCUPANT_MANY;
	c->turn_ns = c->mark_ns = control.armed_ns;
	c->nmi_ns = 0;
	c->depth = 0;
	c->head = 0;
	for (int i = 0; i < LEDGER_MET; i++)
		c->met[i].task = 0;
	for (int i = 0; i < LEDGER_BURSTS; i++)
		c->bursts[i].begin_ns = 0;
	if (steal_known)
		c->steal_ns = read_steal(c);
	return c;
}

static __always_inline u64 later(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* The occupant's turn ends. */
static __always_inline void end_turn(struct ledger_cpu *c, u64 now)
{
	struct ledger_burst *b = &c->bursts[c->head & (LEDGER_BURSTS - 1)];
	b->begin_ns = c->turn_ns;
	b->occupant = c->occupant;
	c->head++;
	if (!(c->occupant & OCCUPANT_OTHER) || !control.begin_ns)
		return;
	struct ledger_outsider *o = other_of(c->occupant);
	u64 begin = later(c->turn_ns, control.begin_ns);
	u64 end = control.end_ns && control.end_ns < now ? control.end_ns : now;
	if (!o || end <= begin)
		return;
	o->ns += end - begin;
	o->bursts++;
	if (end - begin > o->longest_ns)
		o->longest_ns = end - begin;
}

/* ---- queued ---- */

ONCE int enter_queue(struct ledger_slot *t, u32 occupant, u64 ns)
{
	if (!t)
		return 0;
	if (occupant == OCCUPANT_IDLE) {
		t->ns[LEDGER_WAKING] += ns;
		t->count[LEDGER_WAKING]++;
		return 0;
	}
	t->ns[LEDGER_QUEUED] += ns;
	t->count[LEDGER_QUEUED]++;
	bool own = is_subject(occupant) || occupant == OCCUPANT_UNLISTED;
	u32 id = own ? OCCUPANT_SUBJECT : occupant;
	enter_name(t, NAME_KEY(LEDGER_QUEUED, id), ns, 1);
	struct ledger_outsider *o = occupant & OCCUPANT_OTHER ? other_of(occupant) : 0;
	if (o && control.begin_ns)
		__sync_fetch_and_add(&o->delayed_ns, ns);
	return 0;
}

/* A thread has been queued on CPU c until now: under the names of those who had the CPU, the last
 * first. */
ONCE int settle_queue(struct ledger_slot *t, struct ledger_cpu *c, u64 now, bool turn_goes_on)
{
	if (!t || !c)
		return 0;
	u64 from = t->since_ns, until = now;
	if (t->state == LEDGER_THROTTLED) {
		t->ns[LEDGER_THROTTLED] += until - from;
		t->count[LEDGER_THROTTLED]++;
		return 0;
	}
	if (turn_goes_on && until > from) {
		u64 begin = later(c->turn_ns, from);
		if (begin < until) {
			enter_queue(t, c->occupant, until - begin);
			until = begin;
		}
	}
	for (u32 i = 1; i <= LEDGER_BURSTS && until > from; i++) {
		struct ledger_burst *b = &c->bursts[(c->head - i) & (LEDGER_BURSTS - 1)];
		if (!b->begin_ns)
			break;
		u64 begin = later(b->begin_ns, from);
		if (begin >= until)
			continue;
		enter_queue(t, b->occupant, until - begin);
		until = begin;
	}
	if (until > from)
		enter_queue(t, OCCUPANT_MANY, until - from);
	return 0;
}

/* Mostly one task had the CPU all the while. */
static __always_inline void leave_queue(struct ledger_slot *t, struct ledger_cpu *c, u64 now)
{
	struct ledger_burst *last = &c->bursts[(c->head - 1) & (LEDGER_BURSTS - 1)];
	if (t->state == LEDGER_QUEUED && last->begin_ns && last->begin_ns <= t->since_ns)
		enter_queue(t, last->occupant, now - t->since_ns);
	else
		settle_queue(t, c, now, false);
}

/* ---- block devices ---- */

static __always_inline struct ledger_device *device_at(u32 index)
{
	return bpf_map_lookup_elem(&devices, &index);
}

/* Enters the time of a device up to now: each request in flight has an equal share of it. */
ONCE int advance_device(struct ledger_device *d, u64 now)
{
	if (!d)
		return 0;
	u64 mark = __sync_lock_test_and_set(&d->mark_ns, now);
	s64 all = d->in_flight, own = d->own;
	if (now < mark) /* another CPU was later, but came first */
		d->mark_ns = mark;
	if (now <= mark || !mark || all <= 0)
		return 0;
	u64 ns = now - mark;
	u64 own_ns = own > 0 ? own < all ? ns * (u64)own / (u64)all : ns : 0;
	__sync_fetch_and_add(&d->own_ns, own_ns);
	__sync_fetch_and_add(&d->other_ns, ns - own_ns);
	s64 blocked = d->blocked;
	if (blocked <= 0 || own >= all)
		return 0;
	for (int i = 0; i < LEDGER_OWNERS; i++) {
		u32 occupant = d->owners[i].occupant;
		s64 theirs = d->owners[i].in_flight;
		struct ledger_outsider *o = occupant & OCCUPANT_OTHER ? other_of(occupant) : 0;
		if (o && theirs > 0)
			__sync_fetch_and_add(&o->io_delayed_ns,
					     ns * (u64)theirs / (u64)all * (u64)blocked);
	}
	return 0;
}

ONCE u32 device_index(u32 number)
{
	for (u32 i = 0; i < LEDGER_DEVICES; i++) {
		struct ledger_device *d = device_at(i);
		if (!d)
			break;
		if (d->number == number)
			return i;
		if (!d->number && !__sync_val_compare_and_swap(&d->number, 0, number))
			return i;
	}
	return LEDGER_DEVICES;
}

static __always_inline u32 claim_owner(struct ledger_device *d, u32 occupant)
{
	for (u32 i = 0; i < LEDGER_OWNERS; i++)
		if (d->owners[i].occupant == occupant)
			return i;
	for (u32 i = 0; i < LEDGER_OWNERS; i++) {
		u32 had = d->owners[i].occupant;
		if (d->owners[i].in_flight <= 0 &&
		    __sync_val_compare_and_swap(&d->owners[i].occupant, had, occupant) == had)
			return i;
	}
	return LEDGER_OWNERS;
}

static __always_inline u32 number_of(struct request *rq)
{
	struct request___before_5_16 *old = (void *)rq;
	struct gendisk *disk;
	if (bpf_core_field_exists(old->rq_disk))
		disk = BPF_CORE_READ(old, rq_disk);
	else
		disk = BPF_CORE_READ(rq, q, disk);
	return disk ? (u32)BPF_CORE_READ(disk, major) << 20 | (u32)BPF_CORE_READ(disk, first_minor)
		    : 0;
}

static __always_inline void begin_block(struct ledger_slot *t, u64 now)
{
	u32 device = t->device ? t->device : control.device;
	struct ledger_device *d = device ? device_at(device - 1) : 0;
	t->device = device;
	if (!d)
		return;
	advance_device(d, now);
	__sync_fetch_and_add(&d->blocked, 1);
	t->io_own_ns = d->own_ns;
	t->io_other_ns = d->other_ns;
}

ONCE int settle_block(struct ledger_slot *t, u64 now)
{
	if (!t)
		return 0;
	u64 left = now - t->since_ns, own = 0, other = 0;
	u32 device = t->device;
	struct ledger_device *d = device ? device_at(device - 1) : 0;
	if (d) {
		advance_device(d, now);
		__sync_fetch_and_add(&d->blocked, -1);
		other = d->other_ns - t->io_other_ns;
		own = d->own_ns - t->io_own_ns;
	}
	if (!d) /* which device it is is not known, still less whom it serves */
		own = left;
	if (other > left)
		other = left;
	left -= other;
	if (own > left)
		own = left;
	left -= own;
	bool fault = t->state == LEDGER_FAULT;
	u32 cause = fault ? LEDGER_FAULT : LEDGER_IO;
	if (fault) {
		own += left;
		left = 0;
		__sync_fetch_and_add(&control.fault_other_ns, other);
	}
	t->ns[cause] += own;
	t->count[cause]++;
	enter_name(t, NAME_KEY(cause, device), own, 1);
	if (other) {
		t->ns[LEDGER_IO_OTHER] += other;
		t->count[LEDGER_IO_OTHER]++;
	}
	if (left) {
		t->ns[LEDGER_IO_IDLE] += left;
		t->count[LEDGER_IO_IDLE]++;
		enter_name(t, NAME_KEY(LEDGER_IO_IDLE, device), left, 1);
	}
	return 0;
}

/* ---- asleep ---- */

static __always_inline u32 cause_by_file(struct task_struct *t, u32 fd)
{
	struct fdtable *table = t->files->fdt;
	struct file **list = table->fd, *file = 0;
	if (fd >= table->max_fds || bpf_probe_read_kernel(&file, sizeof file, list + fd) || !file)
		return LEDGER_SLEEP;
	u32 kind = BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT;
	return kind == S_IFIFO ? LEDGER_PIPE : kind == S_IFSOCK ? LEDGER_SOCKET : LEDGER_SLEEP;
}

/* Why the current task goes to sleep, by the call it is in; also notes that call. */
ONCE u32 why_asleep(struct ledger_slot *slot, u32 state)
{
	struct task_struct *t = bpf_get_current_task_btf();
	if (!slot)
		return LEDGER_SLEEP;
	long call = -1;
	u32 first = 0, was = slot->call;
	slot->call = NAME_NO_CALL;
	bool blocked = BPF_CORE_READ_BITFIELD(t, in_iowait);
	if (!(t->flags & (PF_KTHREAD | PF_IO_WORKER))) {
#if defined(__TARGET_ARCH_x86)
		struct pt_regs *regs = (void *)bpf_task_pt_regs(t);
		call = (long)regs->orig_ax;
		first = (u32)regs->di;
		if (t->thread_info.status & TS_COMPAT)
			call = LEDGER_CALLS;
#elif defined(__TARGET_ARCH_arm64)
		struct pt_regs *regs = (void *)bpf_task_pt_regs(t);
		call = regs->syscallno;
		first = (u32)regs->regs[0];
#endif
	}
	if (call < 0)
		return blocked			      ? LEDGER_FAULT
		       : state & TASK_UNINTERRUPTIBLE ? LEDGER_LOCK
						      : LEDGER_SLEEP;
	if (call < NAME_NO_CALL)
		slot->call = (u32)call;
	if (blocked)
		return LEDGER_IO;
	u32 cause = call < LEDGER_CALLS ? call_class[call & (LEDGER_CALLS - 1)] : CALL_UNKNOWN;
	if (cause == CALL_AGAIN) {
		slot->call = was;
		cause = was < LEDGER_CALLS ? call_class[was & (LEDGER_CALLS - 1)] : CALL_UNKNOWN;
	}
	if (state & TASK_UNINTERRUPTIBLE && cause != LEDGER_CHILD)
		return LEDGER_LOCK;
	if (cause == CALL_BY_FILE)
		return cause_by_file(t, first);
	return cause > LEDGER_FAULT && cause < LEDGER_STOPPED ? cause : LEDGER_SLEEP;
}

static __always_inline bool is_throttled(struct task_struct *t)
{
	if (bpf_core_field_exists(t->throttled))
		return GET(t, throttled);
	if (bpf_core_field_exists(t->se.cfs_rq->throttle_count))
		return BPF_CORE_READ(t, se.cfs_rq, throttle_count) > 0;
	return false;
}

/* Ends a sleep, whatever it was. */
static __always_inline void settle_sleep(struct ledger_slot *t, u64 now)
{
	u32 state = t->state;
	if (state == LEDGER_IO || state == LEDGER_FAULT) {
		settle_block(t, now);
		return;
	}
	if (state >= LEDGER_CAUSES)
		return;
	t->ns[state] += now - t->since_ns;
	t->count[state]++;
	if (state != LEDGER_STOPPED)
		enter_name(t, NAME_KEY(state, t->call), now - t->since_ns, 1);
}

static __always_inline bool waits_for_cpu(u32 state)
{
	return state == LEDGER_QUEUED || state == LEDGER_THROTTLED;
}

/* ---- the life of a thread ---- */

static __always_inline u32 take_slot(void)
{
	u32 index = __sync_fetch_and_add(&control.slots_used, 1) + 1;
	if (index < LEDGER_SLOTS)
		return index;
	if (!bpf_map_pop_elem(&free_slots, &index))
		return index;
	return 0;
}

TP(sched_wakeup_new)
int BPF_PROG(ledger_begin, struct task_struct *t)
{
	if (!control.active)
		return 0;
	u64 key = (u64)t, signal = (u64)GET(t, signal), now = bpf_ktime_get_ns();
	if (!bpf_map_lookup_elem(&members, &signal))
		return 0;
	u32 index = take_slot();
	s32 tgid = GET(t, tgid);
	if (!control.root_slot) {
		control.root_slot = index;
		control.root_tgid = tgid;
	}
	if (tgid == control.root_tgid && !control.end_ns)
		__sync_fetch_and_add(&control.root_threads, 1);
	struct ledger_slot *s = index ? slot_of(index) : 0;
	if (s && register_task(key, OCCUPANT_SUBJECT | index)) {
		bpf_map_push_elem(&free_slots, &index, BPF_ANY);
		s = 0;
	}
	if (!s) {
		__sync_fetch_and_add(&control.unseen, 1);
		return register_task(key, OCCUPANT_UNLISTED) ? lose() : 0;
	}
	__builtin_memset(s, 0, sizeof *s);
	s->tid = GET(t, pid);
	s->tgid = tgid;
	s->start_ns = GET(t, start_boottime);
	s->begin_ns = s->since_ns = now;
	s->state = LEDGER_QUEUED;
	s->call = NAME_NO_CALL;
	bpf_probe_read_kernel(s->comm, sizeof s->comm, t->comm);
	if (control.window) {
		if (control.in_state[LEDGER_RUN] <= 0)
			enter_wall(waits_for(), now);
		__sync_fetch_and_add(&control.in_state[LEDGER_QUEUED], 1);
	}
	if (tracing) {
		struct trace_event *e = begin_event(now, TRACE_BEGIN);
		if (!e)
			return 0;
		about_task(e, t, OCCUPANT_SUBJECT);
		e->a = (u32)bpf_get_current_pid_tgid();
		end_event(e);
	}
	return 0;
}

/* The execution begins: the root, about to exec, has told so by naming itself. An interrupt may
 * come at any point of this and enter its time: then it is done again. */
ONCE u64 begin_window(struct ledger_slot *s, struct ledger_cpu *c)
{
	struct task_struct *t = bpf_get_current_task_btf();
	u64 now = 0;
	if (!s || !c)
		return 0;
	for (int attempt = 0; attempt < 4; attempt++) {
		u64 entered = 0;
		for (int i = 0; i < LEDGER_NAMES; i++)
			s->names[i].key = 0, s->names[i].count = 0, s->names[i].ns = 0;
		for (int i = 0; i < LEDGER_CAUSES; i++) {
			s->ns[i] = 0;
			s->count[i] = 0;
		}
		now = bpf_ktime_get_ns();
		s->begin_ns = now;
		c->mark_ns = now;
		for (int i = 0; i < LEDGER_CAUSES; i++)
			entered += *(volatile u64 *)&s->ns[i];
		if (!entered)
			break;
	}
	s->state = LEDGER_RUN;
	s->count[LEDGER_RUN] = 1;
	s->migrations = 0;
	c->nmi_ns = 0;
	s->user_ns = t->utime;
	s->system_ns = t->stime;
	control.wall_mark_ns = now;
	control.in_state[LEDGER_RUN] = 1;
	control.begin_ns = now;
	control.window = 1;
	return now;
}

/* A thread that leaves its slot to others lives on in the sums. */
ONCE int fold(struct ledger_slot *s, u32 index)
{
	if (!s)
		return 0;
	for (int i = 0; i < LEDGER_CAUSES; i++) {
		__sync_fetch_and_add(&control.folded_ns[i], s->ns[i]);
		__sync_fetch_and_add(&control.folded_count[i], s->count[i]);
	}
	__sync_fetch_and_add(&control.folded_user_ns, s->user_ns);
	__sync_fetch_and_add(&control.folded_system_ns, s->system_ns);
	__sync_fetch_and_add(&control.folded_migrations, s->migrations);
	__sync_fetch_and_add(&control.folded, 1);
	for (int i = 0; i < LEDGER_NAMES; i++)
		if (s->names[i].key)
			spill(s->names[i].key, s->names[i].ns, s->names[i].count);
	s->begin_ns = 0;
	bpf_map_push_elem(&free_slots, &index, BPF_ANY);
	return 0;
}

/* One of the root's threads is gone. Its pid may be given again while orphans are waited for. */
static __always_inline void end_of_root(u64 now)
{
	if (control.end_ns || __sync_fetch_and_add(&control.root_threads, -1) != 1)
		return;
	if (control.window)
		control.end_ns = now;
	control.window = 0;
}

ONCE int end_thread(struct ledger_slot *s, u32 index, u64 now)
{
	struct task_struct *t = bpf_get_current_task_btf();
	if (!s)
		return 0;
	s->end_ns = now;
	s->user_ns = t->utime - s->user_ns;
	s->system_ns = t->stime - s->system_ns;
	s->tid = t->pid;
	if (tracing) {
		struct trace_event *e = begin_event(now, TRACE_END);
		if (e) {
			about_task(e, t, OCCUPANT_SUBJECT);
			end_event(e);
		}
	}
	if (control.window) {
		enter_wall(LEDGER_RUN, now);
		__sync_fetch_and_add(&control.in_state[LEDGER_RUN], -1);
	}
	if (s->tgid == control.root_tgid)
		end_of_root(now);
	/* the first half of the slots stay with whom they were given to */
	if (index > LEDGER_SLOTS / 2)
		fold(s, index);
	return 0;
}

/* CLOCK_MONOTONIC, from the scheduler's record; 0 unknown. */
static __always_inline u64 queued_since(struct task_struct *t)
{
	if (!bpf_core_field_exists(t->sched_info.last_queued) || !control.clock_at_ns)
		return 0;
	u64 at = BPF_CORE_READ(t, sched_info.last_queued);
	return at ? at + control.clock_ns : 0;
}

/* A thread gets a CPU; its state before. When all of the subject waited for that, the stretch is
 * divided as this thread's own wait was: another task had the CPU, or it was waking up. */
static __always_inline u32 arrive(struct ledger_slot *s, struct ledger_cpu *c,
				  struct task_struct *t, u64 now)
{
	u32 from = s->state;
	s->cpu = bpf_get_smp_processor_id();
	if (from != LEDGER_RUN && !waits_for_cpu(from)) {
		/* its wake-up crossed its switch away, and was not seen as one: the scheduler knows
		 * since when it was queued */
		u64 queued = queued_since(t);
		if (queued > s->since_ns && queued < now) {
			settle_sleep(s, queued);
			change_state(from, LEDGER_QUEUED, queued);
			s->state = from = LEDGER_QUEUED;
			s->since_ns = queued;
		}
	}
	if (waits_for_cpu(from)) {
		u64 waited = now - s->since_ns, waking = s->ns[LEDGER_WAKING];
		leave_queue(s, c, now);
		waking = s->ns[LEDGER_WAKING] - waking;
		if (waking && control.window && control.in_state[LEDGER_RUN] <= 0 &&
		    from == LEDGER_QUEUED && now > control.wall_mark_ns) {
			u64 stretch = now - control.wall_mark_ns;
			if (stretch > waited)
				stretch = waited;
			if (waking < waited)
				stretch = stretch * waking / waited;
			enter_wall_part(LEDGER_WAKING, stretch);
		}
	} else if (from != LEDGER_RUN) {
		settle_sleep(s, now);
	}
	s->state = LEDGER_RUN;
	s->count[LEDGER_RUN]++;
	return from;
}

/* ---- switches that were not told ----
 *
 * Some kernels hide the switch away from certain tasks (that of the development machine, those of
 * init's). Whoever then has the CPU unseen is found at the next event there, and the scheduler's
 * own record tells since when. */

#define CLOCK_GOOD_NS 1000000000

/* To be called at a switch, where the scheduler has just read its clock. */
static __always_inline void compare_clocks(struct task_struct *t, u64 now)
{
	if (now - control.clock_at_ns < CLOCK_GOOD_NS)
		return;
	control.clock_ns = now - BPF_CORE_READ(t, se.cfs_rq, rq, clock);
	control.clock_at_ns = now;
}

static __always_inline void trace_caught(struct task_struct *t, u32 left, u64 at)
{
	struct trace_event *e = begin_event(at, TRACE_SWITCH);
	if (!e)
		return;
	about_task(e, t, known_occupant(t));
	struct ledger_slot *s = is_subject(left) ? slot_of(left) : 0;
	struct ledger_outsider *o = left & OCCUPANT_OTHER ? other_of(left) : 0;
	e->a = s ? (u32)s->tid : o ? (u32)o->tid : 0;
	e->b = s ? LEDGER_QUEUED : LEDGER_SLEEP;
	if (s)
		e->flags |= TRACE_LEAVER_SUBJECT;
	end_event(e);
}

ONCE int catch_up(struct ledger_cpu *c, u64 now)
{
	struct task_struct *t = bpf_get_current_task_btf();
	u64 at = now;
	if (!c)
		return 0;
	if (bpf_core_field_exists(t->sched_info.last_arrival) && control.clock_at_ns)
		at = BPF_CORE_READ(t, sched_info.last_arrival) + control.clock_ns;
	if (at > now)
		at = now;
	if (at < c->mark_ns)
		at = c->mark_ns;
	control.missed += c->task != 0;
	advance(c, at, true, 0);
	end_turn(c, at);
	u32 left = c->occupant, to = LEDGER_CAUSES, from = LEDGER_CAUSES;
	struct ledger_slot *s = is_subject(left) ? slot_of(left) : 0;
	/* it is not known why; it may long run elsewhere */
	if (s && !s->end_ns && s->state == LEDGER_RUN && s->cpu == bpf_get_smp_processor_id()) {
		s->since_ns = at;
		s->state = to = LEDGER_QUEUED;
	}
	if (tracing)
		trace_caught(t, left, at);
	c->task = (u64)t;
	c->occupant = occupant_of(c, t);
	c->turn_ns = at;
	s = is_subject(c->occupant) ? slot_of(c->occupant) : 0;
	if (s) {
		from = arrive(s, c, t, at);
		if (control.window && from != LEDGER_RUN)
			change_state(from, LEDGER_RUN, at);
	}
	if (to < LEDGER_CAUSES)
		change_state(LEDGER_RUN, to, at);
	return 0;
}

/* This CPU's state, brought up to date. */
static __always_inline struct ledger_cpu *here(u64 now)
{
	struct ledger_cpu *c = this_cpu(now);
	if (c && c->task != bpf_get_current_task())
		catch_up(c, now);
	return c;
}

/* ---- the tracepoints of the scheduler ---- */

TP(task_rename)
int BPF_PROG(ledger_rename, struct task_struct *t, const char *comm)
{
	if (!control.active)
		return 0;
	u32 occupant = known_occupant(t);
	if (occupant & OCCUPANT_OTHER) {
		struct ledger_outsider *o = other_of(occupant);
		if (o)
			bpf_probe_read_kernel_str(o->comm, sizeof o->comm, comm);
		return 0;
	}
	struct ledger_slot *s = is_subject(occupant) ? slot_of(occupant) : 0;
	if (!s)
		return 0;
	u64 now = bpf_ktime_get_ns();
	bpf_probe_read_kernel_str(s->comm, sizeof s->comm, comm);
	if (!control.begin_ns && (occupant & OCCUPANT_INDEX) == control.root_slot) {
		struct ledger_cpu *c = here(now);
		if (c)
			now = begin_window(s, c);
	}
	if (tracing) {
		struct trace_event *e = begin_event(now, TRACE_RENAME);
		if (!e)
			return 0;
		about_task(e, t, occupant);
		bpf_probe_read_kernel_str(e->comm, sizeof e->comm, comm);
		end_event(e);
	}
	return 0;
}

static __noinline u32 leave_for(struct ledger_slot *s, struct task_struct *prev, bool preempt)
{
	u32 state = state_of(prev);
	if (preempt || !state)
		return is_throttled(prev) ? LEDGER_THROTTLED : LEDGER_QUEUED;
	if (state & TASK_WAKING)
		return LEDGER_QUEUED;
	if (state & (TASK_STOPPED_TRACED | TASK_FROZEN))
		return LEDGER_STOPPED;
	return why_asleep(s, state);
}

TP(sched_switch)
int BPF_PROG(ledger_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	if (!control.active)
		return 0;
	bool dead = state_of(prev) & TASK_DEAD;
	u64 now = bpf_ktime_get_ns();
	struct ledger_cpu *c = here(now);
	if (!c)
		return 0;
	compare_clocks(prev, now);
	count_event(c, LEDGER_SWITCHES);
	c->depth = 0;
	advance(c, now, false, 0);
	u32 left = c->occupant, why = TRACE_ENDED;
	end_turn(c, now);

	u32 came = occupant_of(c, next);
	c->task = (u64)next;
	c->occupant = came;
	c->turn_ns = now;

	/* a turn that passes from one thread of the subject to another is no gap for the subject */
	u32 to = LEDGER_CAUSES, from = LEDGER_CAUSES;
	struct ledger_slot *s = is_subject(left) ? slot_of(left) : 0;
	if (s && dead) {
		end_thread(s, left & OCCUPANT_INDEX, now);
	} else if (s) {
		to = leave_for(s, prev, preempt);
		why = to;
		/* last of all its state: from then on it may be woken */
		s->since_ns = now;
		if (to == LEDGER_IO || to == LEDGER_FAULT)
			begin_block(s, now);
		*(volatile u32 *)&s->state = to;
	}
	if (dead && left == OCCUPANT_UNLISTED && GET(prev, tgid) == control.root_tgid)
		end_of_root(now);
	if (dead && left != OCCUPANT_IDLE) {
		u64 key = (u64)prev;
		if (!bpf_map_delete_elem(&tasks, &key))
			__sync_fetch_and_add(&control.tasks, -1);
		if (left & OCCUPANT_OTHER)
			leave_other(left & OCCUPANT_INDEX);
	}
	struct ledger_slot *n = is_subject(came) ? slot_of(came) : 0;
	if (n) {
		from = arrive(n, c, next, now);
	}
	if (control.window) {
		if (to < LEDGER_CAUSES && from < LEDGER_CAUSES) {
			__sync_fetch_and_add(&control.in_state[to], 1);
			__sync_fetch_and_add(&control.in_state[from], -1);
		} else if (to < LEDGER_CAUSES) {
			change_state(LEDGER_RUN, to, now);
		} else if (from < LEDGER_CAUSES) {
			change_state(from, LEDGER_RUN, now);
		}
	}
	if (tracing) {
		struct trace_event *e = begin_event(now, TRACE_SWITCH);
		if (!e)
			goto out;
		about_task(e, next, came);
		e->a = GET(prev, pid);
		if (!s)
			why = dead			   ? TRACE_ENDED
			      : preempt || !state_of(prev) ? LEDGER_QUEUED
							   : LEDGER_SLEEP;
		e->b = why;
		if (s)
			e->flags |= TRACE_LEAVER_SUBJECT;
		end_event(e);
	}
out:
	if (dead && hands_on)
		bpf_tail_call(ctx, &ends, 0);
	return 0;
}

TP(sched_waking)
int BPF_PROG(ledger_waking, struct task_struct *t)
{
	if (!control.active)
		return 0;
	struct ledger_cpu *c = cpu_at(bpf_get_smp_processor_id());
	if (!c || c->generation != control.generation)
		return 0;
	count_event(c, LEDGER_WAKEUPS);
	struct ledger_met *met = met_as(c, t, GET(t, pid));
	u32 occupant = met ? met->occupant : known_occupant(t);
	struct ledger_slot *s = is_subject(occupant) ? slot_of(occupant) : 0;
	if (!s || s->state == LEDGER_RUN || waits_for_cpu(s->state))
		return 0;
	u64 now = bpf_ktime_get_ns();
	settle_sleep(s, now);
	change_state(s->state, LEDGER_QUEUED, now);
	s->state = LEDGER_QUEUED;
	s->since_ns = now;
	if (tracing) {
		struct trace_event *e = begin_event(now, TRACE_WAKEUP);
		if (!e)
			return 0;
		about_task(e, t, occupant);
		e->a = (u32)bpf_get_current_pid_tgid();
		end_event(e);
	}
	return 0;
}

/* What a thread waited on its old CPU is told by the bursts of that one. */
TP(sched_migrate_task)
int BPF_PROG(ledger_migrate, struct task_struct *t, int target)
{
	if (!control.active)
		return 0;
	u32 occupant = known_occupant(t);
	struct ledger_slot *s = is_subject(occupant) ? slot_of(occupant) : 0;
	if (!s)
		return 0;
	s->migrations++;
	u64 now = bpf_ktime_get_ns();
	/* while it is being woken it is on no queue yet */
	if (s->state == LEDGER_QUEUED && GET(t, on_rq)) {
		struct ledger_cpu *c = cpu_at(cpu_of(t));
		if (c && c->generation == control.generation && now > s->since_ns) {
			settle_queue(s, c, now, true);
			s->since_ns = now;
		}
	}
	if (tracing) {
		struct trace_event *e = begin_event(now, TRACE_MIGRATE);
		if (!e)
			return 0;
		about_task(e, t, occupant);
		e->a = (u32)target;
		end_event(e);
	}
	return 0;
}

/* ---- block requests ---- */

static __always_inline void count_in_flight(const struct in_flight *f, int change)
{
	struct ledger_device *d = device_at(f->device);
	if (!d)
		return;
	__sync_fetch_and_add(&d->in_flight, change);
	if (f->own)
		__sync_fetch_and_add(&d->own, change);
	if (f->owner < LEDGER_OWNERS)
		__sync_fetch_and_add(&d->owners[f->owner].in_flight, change);
	struct ledger_outsider *o = f->occupant & OCCUPANT_OTHER ? other_of(f->occupant) : 0;
	if (o)
		__sync_fetch_and_add(&o->in_flight, change);
}

/* A request is over. The kernel does not tell it of all: one that is merged into its neighbour goes
 * in silence, but for block_rq_merge; so whatever is known of an address is undone when it comes
 * again. */
static __noinline void end_request(struct request *rq, u64 now, bool told)
{
	u64 key = (u64)rq;
	struct in_flight *f = bpf_map_lookup_elem(&requests, &key);
	if (!f)
		return;
	struct in_flight was = *f;
	bpf_map_delete_elem(&requests, &key);
	struct ledger_device *d = device_at(was.device);
	if (was.generation != control.generation || !d)
		return;
	advance_device(d, now);
	count_in_flight(&was, -1);
	if (tracing && told) {
		struct trace_event *e = begin_event(now, TRACE_IO_DONE);
		if (!e)
			return;
		e->tid = was.tid;
		e->a = d->number;
		e->b = BPF_CORE_READ(rq, __data_len);
		e->flags = (was.own ? TRACE_IS_SUBJECT : 0) |
			   (BPF_CORE_READ(rq, cmd_flags) & 1 ? TRACE_IS_WRITE : 0);
		end_event(e);
	}
}

TP(block_io_start)
int BPF_PROG(ledger_io_start, struct request *rq)
{
	if (!control.active)
		return 0;
	u64 now = bpf_ktime_get_ns(), key = (u64)rq;
	u32 number = number_of(rq);
	struct ledger_cpu *c = here(now);
	if (!c || !number)
		return 0;
	count_event(c, LEDGER_BLOCKS);
	end_request(rq, now, false);
	u32 index = device_index(number);
	struct ledger_device *d = device_at(index);
	if (!d)
		return lose();
	u32 occupant = c->occupant;
	bool own = is_subject(occupant) || occupant == OCCUPANT_UNLISTED;
	advance_device(d, now);
	u32 owner = claim_owner(d, own ? OCCUPANT_SUBJECT : occupant);
	struct task_struct *current = (void *)bpf_get_current_task();
	struct in_flight f = { .generation = control.generation,
			       .device = (u16)index,
			       .owner = (u16)owner,
			       .occupant = occupant,
			       .own = own,
			       .tid = BPF_CORE_READ(current, pid) };
	if (bpf_map_update_elem(&requests, &key, &f, BPF_ANY))
		return lose();
	count_in_flight(&f, 1);
	if (owner >= LEDGER_OWNERS)
		lose();
	if (own) {
		struct ledger_slot *t = is_subject(occupant) ? slot_of(occupant) : 0;
		if (t)
			t->device = index + 1;
		control.device = index + 1;
	}
	if (tracing) {
		struct trace_event *e = begin_event(now, TRACE_IO_START);
		if (!e)
			return 0;
		about_task(e, (void *)bpf_get_current_task_btf(), occupant);
		e->a = number;
		e->b = BPF_CORE_READ(rq, __data_len);
		if (BPF_CORE_READ(rq, cmd_flags) & 1)
			e->flags |= TRACE_IS_WRITE;
		end_event(e);
	}
	return 0;
}

TP(block_io_done)
int BPF_PROG(ledger_io_done, struct request *rq)
{
	if (!control.active)
		return 0;
	u64 now = bpf_ktime_get_ns();
	struct ledger_cpu *c = here(now);
	if (c)
		count_event(c, LEDGER_BLOCKS);
	end_request(rq, now, true);
	return 0;
}

TP(block_rq_merge)
int BPF_PROG(ledger_io_merged, struct request *rq)
{
	if (control.active)
		end_request(rq, bpf_ktime_get_ns(), true);
	return 0;
}

/* ---- interrupts ---- */

static __always_inline int enter(u32 source)
{
	if (!control.active)
		return 0;
	u64 now = bpf_ktime_get_ns();
	struct ledger_cpu *c = here(now);
	if (!c)
		return 0;
	count_event(c, LEDGER_INTERRUPTS);
	advance(c, now, source < SOURCE_TIMER, 0);
	source &= LEDGER_SOURCES - 1;
	if (control.window) {
		c->sources[source].count++;
		if (is_subject(c->occupant))
			c->sources[source].subject_count++;
	}
	u32 depth = c->depth;
	c->stack[depth & (LEDGER_DEPTH - 1)] = (u16)source;
	c->depth = depth < LEDGER_DEPTH ? depth + 1 : depth;
	if (tracing)
		trace_interrupt(now, TRACE_ENTER, source);
	return 0;
}

static __always_inline int leave(u32 source)
{
	if (!control.active)
		return 0;
	u64 now = bpf_ktime_get_ns();
	struct ledger_cpu *c = here(now);
	if (!c)
		return 0;
	count_event(c, LEDGER_INTERRUPTS);
	advance(c, now, source < SOURCE_TIMER, 1);
	if (c->depth)
		c->depth--;
	if (tracing)
		trace_interrupt(now, TRACE_LEAVE, source);
	return 0;
}

static __always_inline u32 source_of_irq(int irq)
{
	return irq >= 0 && irq < SOURCE_HIGH - SOURCE_IRQS ? SOURCE_IRQS + (u32)irq : SOURCE_HIGH;
}

TP(irq_handler_entry)
int BPF_PROG(ledger_irq_entry, int irq)
{
	return enter(source_of_irq(irq));
}

TP(irq_handler_exit)
int BPF_PROG(ledger_irq_exit, int irq)
{
	return leave(source_of_irq(irq));
}

TP(softirq_entry)
int BPF_PROG(ledger_softirq_entry, unsigned int number)
{
	return enter(SOURCE_SOFTIRQS + (number & 15));
}

TP(softirq_exit)
int BPF_PROG(ledger_softirq_exit, unsigned int number)
{
	return leave(SOURCE_SOFTIRQS + (number & 15));
}

/* The programs of the vectors only say which it is and hand on: so the kernel has to verify the
 * rest for two programs, not for twenty-two. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, u32);
} vectors SEC(".maps");

TP(local_timer_entry)
int BPF_PROG(ledger_vector_enter)
{
	struct ledger_cpu *c = cpu_at(bpf_get_smp_processor_id());
	return c ? enter(c->vector) : 0;
}

TP(local_timer_exit)
int BPF_PROG(ledger_vector_leave)
{
	struct ledger_cpu *c = cpu_at(bpf_get_smp_processor_id());
	return c ? leave(c->vector) : 0;
}

#define HAND_ON(source, to)                                                       \
	do {                                                                      \
		struct ledger_cpu *c;                                             \
		if (!control.active || !(c = cpu_at(bpf_get_smp_processor_id()))) \
			return 0;                                                 \
		c->vector = source;                                               \
		bpf_tail_call(ctx, &vectors, to);                                 \
		return 0;                                                         \
	} while (0)

#define VECTOR(name, source)                \
	TP(name##_entry)                    \
	int BPF_PROG(ledger_##name##_entry) \
	{                                   \
		HAND_ON(source, 0);         \
	}                                   \
	TP(name##_exit)                     \
	int BPF_PROG(ledger_##name##_exit)  \
	{                                   \
		HAND_ON(source, 1);         \
	}
VECTOR(local_timer, SOURCE_TIMER)
VECTOR(reschedule, SOURCE_RESCHEDULE)
VECTOR(call_function, SOURCE_CALL)
VECTOR(call_function_single, SOURCE_CALL_SINGLE)
VECTOR(irq_work, SOURCE_IRQ_WORK)
VECTOR(x86_platform_ipi, SOURCE_PLATFORM)
VECTOR(thermal_apic, SOURCE_THERMAL)
VECTOR(threshold_apic, SOURCE_THRESHOLD)
VECTOR(deferred_error_apic, SOURCE_DEFERRED)
VECTOR(error_apic, SOURCE_ERROR)
VECTOR(spurious_apic, SOURCE_SPURIOUS)

/* Told when it is over. It may have come in the middle of any of the above: what it took is taken
 * off at the next mark. */
TP(nmi_handler)
int BPF_PROG(ledger_nmi, void *handler, s64 ns)
{
	if (!control.active || ns < 0)
		return 0;
	struct ledger_cpu *c = cpu_at(bpf_get_smp_processor_id());
	if (!c || c->generation != control.generation)
		return 0;
	count_event(c, LEDGER_INTERRUPTS);
	c->nmi_ns += (u64)ns;
	bool subject = is_subject(c->occupant);
	if (tracing) {
		u64 now = bpf_ktime_get_ns();
		trace_interrupt(now - (u64)ns, TRACE_ENTER, SOURCE_NMI);
		trace_interrupt(now, TRACE_LEAVE, SOURCE_NMI);
	}
	if (control.window) {
		c->sources[SOURCE_NMI].count++;
		c->sources[SOURCE_NMI].ns += (u64)ns;
		c->sources[SOURCE_NMI].subject_count += subject;
		c->sources[SOURCE_NMI].subject_ns += subject ? (u64)ns : 0;
	}
	struct ledger_slot *t = subject ? slot_of(c->occupant) : 0;
	if (!t)
		return 0;
	t->ns[LEDGER_NMI] += (u64)ns;
	t->count[LEDGER_NMI]++;
	if (control.window && control.in_state[LEDGER_RUN] == 1)
		c->alone_ns[LEDGER_NMI] += (u64)ns;
	return 0;
}
