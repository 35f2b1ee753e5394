/* Accounts for time, by thread and by the wall clock. Part of ledger.bpf.c. */
#ifndef TARE_COLLECT_BPF_LEDGER_ACCOUNT_BPF_H
#define TARE_COLLECT_BPF_LEDGER_ACCOUNT_BPF_H

#include "collect/bpf/ledger_maps.bpf.h"

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

/* Only one CPU at a time works on a thread. */
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

/* No other thread of the subject has a CPU. */
static __always_inline bool is_alone(void)
{
	return control.window && control.in_state[LEDGER_RUN] == 1;
}

/* Accounts for the time up to now on this CPU. open: the program of a hard interrupt may interrupt
 * this one. ended: how many interrupts end now, 1 or 0. */
static __always_inline void advance(struct ledger_cpu *c, u64 now, bool open, u32 ended)
{
	u64 stolen = 0, mark;
	if (open) {
		mark = __sync_lock_test_and_set(&c->mark_ns, now);
	} else {
		mark = c->mark_ns;
		c->mark_ns = now;
	}
	if (now <= mark) { /* an interrupt after the clock was read has accounted for more */
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
	if (depth) {
		u32 cause = cause_of(source);
		if (control.window)
			c->sources[source].subject_ns += ns;
		if (cause < LEDGER_QUEUED) {
			t->ns[cause] += ns;
			t->count[cause] += ended;
			if (is_alone())
				c->alone_ns[cause] += ns;
		}
		enter_name(t, NAME_KEY(cause, source), ns, ended);
	} else {
		t->ns[LEDGER_RUN] += ns;
	}
	if (stolen) {
		t->ns[LEDGER_STEAL] += stolen;
		t->count[LEDGER_STEAL]++;
		if (is_alone())
			c->alone_ns[LEDGER_STEAL] += stolen;
	}
}

/* ---- the whole subject, by the wall clock ----
 *
 * in_state counts threads by state. A period is accounted for when its cause may end. Whatever the
 * order of two CPUs, each piece of time is taken off the mark once, so the entries add up. */

static __always_inline u32 waits_for(void)
{
#define IF_ANY(cause)                    \
	if (control.in_state[cause] > 0) \
		return cause;
	EACH_WAIT(IF_ANY)
#undef IF_ANY
	return LEDGER_UNSEEN;
}

static __always_inline void enter_wall(u32 cause, u64 now)
{
	u64 mark = __sync_lock_test_and_set(&control.wall_mark_ns, now);
	__sync_fetch_and_add(&control.wall_ns[cause], now - mark);
}

/* Accounts for the first ns of the current period under a different cause than the rest. */
static __always_inline void enter_wall_part(u32 cause, u64 ns)
{
	__sync_fetch_and_add(&control.wall_mark_ns, ns);
	__sync_fetch_and_add(&control.wall_ns[cause], ns);
}

ONCE int change_state(u32 from, u32 to, u64 now)
{
	if (!control.window || from == to || from >= LEDGER_CAUSES || to >= LEDGER_CAUSES)
		return 0;
	if (from == LEDGER_RUN)
		enter_wall(LEDGER_RUN, now);
	else if (control.in_state[LEDGER_RUN] <= 0)
		enter_wall(waits_for(), now);
	__sync_fetch_and_add(&control.in_state[to], 1);
	__sync_fetch_and_add(&control.in_state[from], -1);
	return 0;
}

#endif
