/* What a thread waits for: a device, or something else. Part of ledger.bpf.c. */
#ifndef TARE_COLLECT_BPF_LEDGER_WAIT_BPF_H
#define TARE_COLLECT_BPF_LEDGER_WAIT_BPF_H

#include "collect/bpf/ledger_cpu.bpf.h"
#include "collect/bpf/request.bpf.h"

/* ---- block devices ---- */

static __always_inline struct ledger_device *device_at(u32 index)
{
	return bpf_map_lookup_elem(&devices, &index);
}

/* Accounts for the time of a device up to now: each request in flight has an equal share of it. */
ONCE int advance_device(struct ledger_device *d, u64 now)
{
	if (!d)
		return 0;
	u64 mark = __sync_lock_test_and_set(&d->mark_ns, now);
	s64 all = d->in_flight, own = d->own;
	if (now < mark) /* another CPU with a later time came first */
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

ONCE u32 claim_owner(struct ledger_device *d, u32 occupant)
{
	if (!d)
		return LEDGER_OWNERS;
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
	if (!d) /* the device is unknown, and so is whom it serves */
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

static __always_inline u32 class_of_call(u64 call)
{
	if (call >= LEDGER_CALLS)
		return CALL_UNKNOWN;
	barrier_var(call); /* so that the compiler leaves the mask, which older verifiers need */
	return call_class[call & (LEDGER_CALLS - 1)];
}

/* Why a task sleeps, by the call it is in. Also notes that call. */
static __always_inline u32 cause_by_call(struct ledger_slot *slot, struct task_struct *t, u32 state)
{
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
	u32 cause = class_of_call(call);
	if (cause == CALL_AGAIN) {
		slot->call = was;
		cause = class_of_call(was);
	}
	if (state & TASK_UNINTERRUPTIBLE && cause != LEDGER_CHILD)
		return LEDGER_LOCK;
	if (cause == CALL_BY_FILE)
		return cause_by_file(t, first);
	return cause > LEDGER_FAULT && cause < LEDGER_STOPPED ? cause : LEDGER_SLEEP;
}

/* Like cause_by_call(), for the current task, which is going to sleep. */
ONCE u32 why_asleep(struct ledger_slot *slot, u32 state)
{
	return slot ? cause_by_call(slot, bpf_get_current_task_btf(), state) : LEDGER_SLEEP;
}

static __always_inline bool is_throttled(struct task_struct *t)
{
	if (bpf_core_field_exists(t->throttled))
		return GET(t, throttled);
	if (bpf_core_field_exists(t->se.cfs_rq->throttle_count))
		return BPF_CORE_READ(t, se.cfs_rq, throttle_count) > 0;
	return false;
}

/* Ends a sleep of any kind. */
ONCE int settle_sleep(struct ledger_slot *t, u64 now)
{
	if (!t)
		return 0;
	u32 state = t->state;
	if (state == LEDGER_IO || state == LEDGER_FAULT) {
		return settle_block(t, now);
	}
	if (state >= LEDGER_CAUSES)
		return 0;
	t->ns[state] += now - t->since_ns;
	t->count[state]++;
	if (state != LEDGER_STOPPED)
		enter_name(t, NAME_KEY(state, t->call), now - t->since_ns, 1);
	return 0;
}

static __always_inline bool waits_for_cpu(u32 state)
{
	return state == LEDGER_QUEUED || state == LEDGER_THROTTLED;
}

#endif
