/* Who has a CPU, and who waits for it. Part of ledger.bpf.c. */
#ifndef TARE_COLLECT_BPF_LEDGER_CPU_BPF_H
#define TARE_COLLECT_BPF_LEDGER_CPU_BPF_H

#include "collect/bpf/ledger_account.bpf.h"

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
		/* a thread that waited long may have named it meanwhile */
		if (o && !o->delayed_ns && !o->io_delayed_ns)
			return index;
	}
	return 0;
}

/* An ended task that delayed nothing makes room if that is short. */
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
	if (old) { /* from an earlier execution */
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
	/* "tare-speed/0" */
	bool probe = o->tgid == self_tgid && o->comm[4] == '-' && o->comm[5] == 's' &&
		     o->comm[6] == 'p';
	u32 occupant = OCCUPANT_OTHER | (probe ? OCCUPANT_PROBE : 0) | index;
	if (register_task(key, occupant))
		lose();
	return occupant;
}

static __always_inline u32 known_occupant(struct task_struct *t)
{
	u64 key = (u64)t;
	struct known *k = bpf_map_lookup_elem(&tasks, &key);
	return k && k->generation == control.generation ? k->occupant : OCCUPANT_IDLE;
}

/* Most switches on a CPU are between the same few tasks. */
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

/* The occupant for the current task. */
ONCE u32 occupant_now(struct ledger_cpu *c)
{
	return c ? occupant_of(c, bpf_get_current_task_btf()) : OCCUPANT_IDLE;
}

static __always_inline struct ledger_cpu *cpu_at(u32 number)
{
	return bpf_map_lookup_elem(&cpus, &number);
}

ONCE int begin_cpu(struct ledger_cpu *c)
{
	if (!c)
		return 0;
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
	return 0;
}

/* The state of this CPU. At its first event in an execution, not even its occupant is known. */
static __always_inline struct ledger_cpu *this_cpu(void)
{
	struct ledger_cpu *c = cpu_at(bpf_get_smp_processor_id());
	if (c && c->generation != control.generation)
		begin_cpu(c);
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
	struct ledger_burst *last = &c->bursts[(c->head - 1) & (LEDGER_BURSTS - 1)];
	struct ledger_burst *before = &c->bursts[(c->head - 2) & (LEDGER_BURSTS - 1)];
	if (c->head > 1 && last->occupant & OCCUPANT_PROBE && before->occupant == c->occupant) {
		/* A probe was in between for some µs. Without it this is one burst, or those of a
		 * second would not fit. */
		c->head--;
	} else {
		b->begin_ns = c->turn_ns;
		b->occupant = c->occupant;
		c->head++;
	}
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

ONCE int close_turn(struct ledger_cpu *c, u64 now)
{
	if (!c)
		return 0;
	advance(c, now, true, 0);
	end_turn(c, now);
	return 0;
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

/* Accounts for the part of the wait before `until` that falls into one burst, counted back from the
 * last. Returns where that part begins; 0 if no burst is known. */
ONCE u64 enter_burst(struct ledger_slot *t, struct ledger_cpu *c, u32 back, u64 until)
{
	if (!t || !c)
		return 0;
	struct ledger_burst *b = &c->bursts[(c->head - back) & (LEDGER_BURSTS - 1)];
	if (!b->begin_ns)
		return 0;
	u64 begin = later(b->begin_ns, t->since_ns);
	if (begin >= until)
		return until;
	enter_queue(t, b->occupant, until - begin);
	return begin;
}

/* A thread was queued on CPU c until now. Attributes the time to those who had it, last first. */
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
		u64 begin = enter_burst(t, c, i, until);
		if (!begin)
			break;
		until = begin;
	}
	if (until > from)
		enter_queue(t, OCCUPANT_MANY, until - from);
	return 0;
}

/* Usually one task had the CPU all the time. */
static __always_inline void leave_queue(struct ledger_slot *t, struct ledger_cpu *c, u64 now)
{
	struct ledger_burst *last = &c->bursts[(c->head - 1) & (LEDGER_BURSTS - 1)];
	if (t->state == LEDGER_QUEUED && last->begin_ns && last->begin_ns <= t->since_ns)
		enter_queue(t, last->occupant, now - t->since_ns);
	else
		settle_queue(t, c, now, false);
}

#endif
