/* The ledger: where the time of every thread of the subject goes.
 *
 * On a CPU every event advances a mark: what lies between two marks belongs to the innermost
 * interrupt, or to the task, less what the hypervisor says it stole. So nested interrupts are
 * netted out by construction. Off the CPU a thread has one state since one instant, settled at its
 * wake-up and when it gets a CPU; who had the CPU meanwhile is read from that CPU's last bursts.
 *
 * Built twice: for tp_btf, and (LEDGER_RAW) for raw tracepoints, whose arguments are mere numbers.
 */
#include "collect/bpf/ledger_wait.bpf.h"

char LICENSE[] SEC("license") = "GPL";

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

/* A slot for a task, which begins now; NULL when there is no room. */
static __always_inline struct ledger_slot *begin_slot(struct task_struct *t, u64 now)
{
	u64 key = (u64)t;
	u32 index = take_slot();
	struct ledger_slot *s = index ? slot_of(index) : 0;
	if (s && register_task(key, OCCUPANT_SUBJECT | index)) {
		bpf_map_push_elem(&free_slots, &index, BPF_ANY);
		s = 0;
	}
	if (!s) {
		__sync_fetch_and_add(&control.unseen, 1);
		if (register_task(key, OCCUPANT_UNLISTED))
			lose();
		return 0;
	}
	__builtin_memset(s, 0, sizeof *s);
	s->tid = GET(t, pid);
	s->tgid = GET(t, tgid);
	s->start_ns = GET(t, start_boottime);
	s->begin_ns = s->since_ns = now;
	s->state = LEDGER_QUEUED;
	s->call = NAME_NO_CALL;
	bpf_probe_read_kernel(s->comm, sizeof s->comm, t->comm);
	return s;
}

TP(sched_wakeup_new)
int BPF_PROG(ledger_begin, struct task_struct *t)
{
	if (!control.active)
		return 0;
	u64 signal = (u64)BPF_CORE_READ(t, signal), now = bpf_ktime_get_ns();
	if (!bpf_map_lookup_elem(&members, &signal))
		return 0;
	s32 tgid = GET(t, tgid);
	bool first = !control.root_slot;
	if (first)
		control.root_tgid = tgid;
	if (tgid == control.root_tgid && !control.end_ns)
		__sync_fetch_and_add(&control.root_threads, 1);
	struct ledger_slot *s = begin_slot(t, now);
	if (first)
		control.root_slot = s ? known_occupant(t) & OCCUPANT_INDEX : LEDGER_SLOTS;
	if (!s)
		return 0;
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

/* ---- what runs already ----
 *
 * While nothing is active an iterator visits the tasks: each that is wanted gets a slot and the
 * state it is in. Then the keeper lets the ledger begin. One that has a CPU is met there at the
 * CPU's first event; one that is woken meanwhile is made up for when it gets a CPU, as a wake-up
 * that was not seen. */

static __always_inline u32 state_now(struct ledger_slot *s, struct task_struct *t)
{
	u32 state = state_of(t);
	if (GET(t, on_cpu))
		return LEDGER_RUN;
	if (!state || state & TASK_WAKING)
		return is_throttled(t) ? LEDGER_THROTTLED : LEDGER_QUEUED;
	if (state & (TASK_STOPPED_TRACED | TASK_FROZEN))
		return LEDGER_STOPPED;
	return cause_by_call(s, t, state);
}

SEC("iter/task")
int ledger_enlist(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	if (!t || (t->pid != control.enlisted_tid && t->tgid != control.enlisted_tgid))
		return 0;
	u64 now = bpf_ktime_get_ns();
	struct ledger_slot *s = state_of(t) & TASK_DEAD ? 0 : begin_slot(t, now);
	if (!s)
		return 0;
	u32 state = state_now(s, t);
	s->cpu = cpu_of(t);
	s->user_ns = t->utime;
	s->system_ns = t->stime;
	if (state == LEDGER_IO || state == LEDGER_FAULT)
		begin_block(s, now);
	s->state = state;
	barrier_var(state); /* the compiler knows the range, older verifiers do not */
	if (state < LEDGER_CAUSES)
		control.in_state[state]++;
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
		for (int i = 0; i < LEDGER_CAUSES; i++) {
			s->ns[i] = 0;
			s->count[i] = 0;
		}
		for (int i = 0; i < LEDGER_NAMES; i++)
			s->names[i].key = 0, s->names[i].count = 0, s->names[i].ns = 0;
		now = bpf_ktime_get_ns();
		s->begin_ns = now;
		c->mark_ns = now;
		for (int i = 0; i < LEDGER_CAUSES; i++)
			entered += *(volatile u64 *)&s->ns[i];
		for (int i = 0; i < LEDGER_NAMES; i++)
			entered += *(volatile u32 *)&s->names[i].key;
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

/* Of a thread that gets a CPU although it was not seen to be woken: CLOCK_MONOTONIC, from the
 * scheduler's record; 0 unknown. */
static __always_inline u64 queued_since(struct ledger_slot *s, struct task_struct *t)
{
	if (s->state == LEDGER_RUN || waits_for_cpu(s->state) || !control.clock_at_ns ||
	    !bpf_core_field_exists(t->sched_info.last_queued))
		return 0;
	u64 at = BPF_CORE_READ(t, sched_info.last_queued);
	return at ? at + control.clock_ns : 0;
}

/* A thread gets a CPU; its state before. queued: queued_since(). When all of the subject waited for
 * that, the stretch is divided as this thread's own wait was: another task had the CPU, or it was
 * waking up. */
ONCE u32 arrive(struct ledger_slot *s, struct ledger_cpu *c, u64 queued, u64 now)
{
	if (!s || !c)
		return LEDGER_RUN;
	u32 from = s->state;
	s->cpu = bpf_get_smp_processor_id();
	if (from != LEDGER_RUN && !waits_for_cpu(from)) {
		/* its wake-up crossed its switch away, and was not seen as one: the scheduler knows
		 * since when it was queued */
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
	} else if (!s->count[LEDGER_RUN] && now > s->since_ns) {
		/* it had a CPU when it was enlisted, but lost it before the ledger began */
		settle_queue(s, c, now, false);
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
	u32 came = occupant_now(c);
	struct ledger_slot *n = is_subject(came) ? slot_of(came) : 0;
	/* the scheduler's clock drifts from ours: nobody arrives before the wait that ends with it
	 */
	if (n && n->state != LEDGER_RUN && at < n->since_ns)
		at = n->since_ns;
	if (at > now)
		at = now;
	if (at < c->mark_ns)
		at = c->mark_ns;
	close_turn(c, at);
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
	c->occupant = came;
	c->turn_ns = at;
	if (n) {
		from = arrive(n, c, queued_since(n, t), at);
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
	struct ledger_cpu *c = this_cpu();
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
	struct ledger_cpu *c = this_cpu();
	if (c && !control.begin_ns && (occupant & OCCUPANT_INDEX) == control.root_slot) {
		if (c->task != (u64)t) { /* by a switch that was not told; so far nothing counts */
			end_turn(c, now);
			c->task = (u64)t;
			c->occupant = occupant;
			c->turn_ns = now;
		}
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
	if (!control.active) {
		/* whoever keeps exits knows for himself when */
		if (hands_on && state_of(prev) & TASK_DEAD)
			bpf_tail_call(ctx, &ends, 0);
		return 0;
	}
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
	if (n)
		from = arrive(n, c, queued_since(n, next), now);
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
	struct ledger_cpu *c = this_cpu();
	if (!c || !number)
		return 0;
	count_event(c, LEDGER_BLOCKS);
	end_request(rq, now, false);
	u32 index = device_index(number);
	struct ledger_device *d = device_at(index);
	if (!d)
		return lose();
	struct task_struct *current = (void *)bpf_get_current_task();
	/* who came by a switch that was not told is caught up with at the next event */
	u32 occupant = c->task == (u64)current ? c->occupant : occupant_now(c);
	bool own = is_subject(occupant) || occupant == OCCUPANT_UNLISTED;
	advance_device(d, now);
	u32 owner = claim_owner(d, own ? OCCUPANT_SUBJECT : occupant);
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
	struct ledger_cpu *c = this_cpu();
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

/* Every interrupt comes here at its begin and its end. The programs of the tracepoints only say
 * which it is and hand on, so that the kernel has to verify the work once, not for each of them.
 * They are raw in both builds: programs for tp_btf hand on only to those of a tracepoint with the
 * same arguments. */
#define EDGE(name) SEC("raw_tp/" #name)
#define EDGE_ENDS 0x10000
#define EDGE_IS_HARD 0x20000

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} edges SEC(".maps");

EDGE(irq_handler_entry)
int ledger_edge(void *ctx)
{
	u64 now = bpf_ktime_get_ns();
	struct ledger_cpu *c = here(now);
	if (!c)
		return 0;
	/* a hard interrupt may come between a soft one's hand-over and here, not the other way */
	u32 edge = c->hard_edge;
	if (edge)
		c->hard_edge = 0;
	else
		edge = c->soft_edge;
	u32 source = edge & (LEDGER_SOURCES - 1), ends = (edge & EDGE_ENDS) != 0;
	count_event(c, LEDGER_INTERRUPTS);
	advance(c, now, source < SOURCE_TIMER, ends);
	if (tracing)
		trace_interrupt(now, ends ? TRACE_LEAVE : TRACE_ENTER, source);
	if (ends) {
		if (c->depth)
			c->depth--;
		return 0;
	}
	if (control.window) {
		c->sources[source].count++;
		if (is_subject(c->occupant))
			c->sources[source].subject_count++;
	}
	u32 depth = c->depth;
	c->stack[depth & (LEDGER_DEPTH - 1)] = (u16)source;
	c->depth = depth < LEDGER_DEPTH ? depth + 1 : depth;
	return 0;
}

#define HAND_ON(which, what)                                                      \
	do {                                                                      \
		struct ledger_cpu *c;                                             \
		if (!control.active || !(c = cpu_at(bpf_get_smp_processor_id()))) \
			return 0;                                                 \
		c->which = what;                                                  \
		bpf_tail_call(ctx, &edges, 0);                                    \
		return 0;                                                         \
	} while (0)

static __always_inline u32 source_of_irq(int irq)
{
	return irq >= 0 && irq < SOURCE_HIGH - SOURCE_IRQS ? SOURCE_IRQS + (u32)irq : SOURCE_HIGH;
}

EDGE(irq_handler_entry)
int BPF_PROG(ledger_irq_entry, int irq)
{
	HAND_ON(hard_edge, EDGE_IS_HARD | source_of_irq(irq));
}

EDGE(irq_handler_exit)
int BPF_PROG(ledger_irq_exit, int irq)
{
	HAND_ON(hard_edge, EDGE_IS_HARD | EDGE_ENDS | source_of_irq(irq));
}

EDGE(softirq_entry)
int BPF_PROG(ledger_softirq_entry, unsigned int number)
{
	HAND_ON(soft_edge, SOURCE_SOFTIRQS + (number & 15));
}

EDGE(softirq_exit)
int BPF_PROG(ledger_softirq_exit, unsigned int number)
{
	HAND_ON(soft_edge, EDGE_ENDS | (SOURCE_SOFTIRQS + (number & 15)));
}

#define VECTOR(name, source)                                             \
	EDGE(name##_entry)                                               \
	int BPF_PROG(ledger_##name##_entry)                              \
	{                                                                \
		HAND_ON(hard_edge, EDGE_IS_HARD | (source));             \
	}                                                                \
	EDGE(name##_exit)                                                \
	int BPF_PROG(ledger_##name##_exit)                               \
	{                                                                \
		HAND_ON(hard_edge, EDGE_IS_HARD | EDGE_ENDS | (source)); \
	}
EACH_VECTOR(VECTOR)

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
	if (is_alone())
		c->alone_ns[LEDGER_NMI] += (u64)ns;
	return 0;
}
