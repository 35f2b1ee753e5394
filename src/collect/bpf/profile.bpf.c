/* What a CPU executes, looked at on its timer tick or on a perf event, and counted right there. */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "collect/bpf/profile.h"
#include "profile_walk.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define TP(name) SEC("tp_btf/" #name)

const volatile __u64 tick_functions[2] = {}; /* of the timer whose expiry is a tick */
/* The per-CPU pointer to what an interrupt interrupted, less the address of the run queue. */
const volatile __s64 regs_from_rq = 0;
const volatile __u64 cgroup_id = 0; /* is, when not 0, by its cgroup, this deep */
const volatile __s32 cgroup_level = 0;
const volatile __u32 user_only = 0;
const volatile __u8 sampled_cpus[PROFILE_CPUS] = {};
const volatile __u32 any_cpu = 1;

struct {
	__uint(type, BPF_MAP_TYPE_HASH); /* tgids of what is followed */
	__uint(max_entries, 32768);
	__type(key, u32);
	__type(value, u32);
} wanted SEC(".maps");

/* ---- identity ---- */

static __always_inline void identify(struct task_struct *t, struct profile_identity *id)
{
	id->start_ns = t->group_leader->start_boottime;
	id->tgid = t->tgid;
	id->exec_id = (u32)t->self_exec_id;
}

static __always_inline bool is_wanted(struct task_struct *t)
{
	u32 tgid = t->tgid;
	if (cgroup_id && bpf_get_current_ancestor_cgroup_id(cgroup_level) == cgroup_id)
		return true;
	return bpf_map_lookup_elem(&wanted, &tgid) != 0;
}

/* ---- counting ---- */

static __always_inline u32 hash_of(const struct profile_slot *s)
{
	u64 h = (s->ip ^ s->identity.start_ns) * 0x9e3779b97f4a7c15ull;
	h = (h ^ ((u64)s->tid << 32 | (s->stack ^ s->version << 8))) * 0x9e3779b97f4a7c15ull;
	return (u32)(h >> 32);
}

static __always_inline bool same(const struct profile_slot *a, const struct profile_slot *b)
{
	return a->ip == b->ip && a->tid == b->tid && a->stack == b->stack &&
	       a->version == b->version && a->identity.start_ns == b->identity.start_ns &&
	       a->identity.exec_id == b->identity.exec_id && a->identity.tgid == b->identity.tgid;
}

static __always_inline u64 cgroup_of(struct profile_half *half, struct task_struct *t)
{
	if (half->css_set != (u64)t->cgroups) {
		half->css_set = (u64)t->cgroups;
		half->cgroup = bpf_get_current_cgroup_id();
	}
	return half->cgroup;
}

/* `what` has all but first_ns, count and cgroup. */
static __always_inline void count(struct profile_half *half, const struct profile_slot *what,
				  struct task_struct *t)
{
	u32 at = hash_of(what);
	for (int i = 0; i < PROFILE_PROBES; i++) {
		u32 index = (at + i) & (PROFILE_SLOTS - 1);
		struct profile_slot *slot = &half->slots[index];
		if (slot->count && !same(slot, what))
			continue;
		if (!slot->count) {
			slot->identity = what->identity;
			slot->ip = what->ip;
			slot->tid = what->tid;
			slot->stack = what->stack;
			slot->version = what->version;
			slot->flags = what->flags;
			slot->first_ns = bpf_ktime_get_ns();
			slot->cgroup = cgroup_of(half, t);
			const u64 *comm = (const u64 *)t->comm;
			u64 *to = (u64 *)half->comms[index];
			to[0] = comm[0];
			to[1] = comm[1];
			half->filled[half->used++ & (PROFILE_SLOTS - 1)] = index;
		}
		slot->count++;
		if (what->flags & PROFILE_IN_USER)
			half->user++;
		else
			half->kernel++;
		return;
	}
	half->lost++;
}

/* The half that is written on this CPU; NULL: it is not sampled. */
static __always_inline struct profile_half *half_of(u32 cpu, u32 which)
{
	if (!any_cpu && (cpu >= PROFILE_CPUS || !sampled_cpus[cpu]))
		return 0;
	struct profile_cpu *here = bpf_map_lookup_elem(&cpus, &cpu);
	return here ? &here->halves[which] : 0;
}

struct looking {
	struct task_struct *t;
	struct profile_half *half;
	u32 cpu, which;
};

/* False: nothing to look at. */
static __always_inline bool look_here(struct looking *l)
{
	l->t = bpf_get_current_task_btf();
	if (l->t->pid == 0)
		return false;
	l->cpu = bpf_get_smp_processor_id();
	l->which = control.half & 1;
	l->half = half_of(l->cpu, l->which);
	return l->half != 0;
}

/* One look. r: what was interrupted; ctx: for the kernel's own stack. */
static __always_inline int look(void *ctx, const struct looking *l, const struct place *r,
				bool tick)
{
	struct task_struct *t = l->t;
	struct profile_half *half = l->half;
	if ((control.filtered && !is_wanted(t)) || (user_only && !r->user)) {
		half->others++;
		return 0;
	}
	struct profile_slot what = { .ip = r->ip, .tid = t->pid };
	identify(t, &what.identity);
	what.flags = r->user ? PROFILE_IN_USER : 0;
	struct mm_struct *mm = t->mm;
	if (mm && bpf_core_field_exists(mm->mm_lock_seq) &&
	    (r->user || follow_stacks)) /* odd while it changes */
		what.version = mm->mm_lock_seq.sequence / 2;
	if (follow_stacks) {
		enum followed f = follow(ctx, half, l->cpu << 1 | l->which, t, r, &what, tick);
		if (f == FOLLOWED_DUMPED) /* and is counted where it is read */
			return 0;
		if (f == FOLLOWED_NOT)
			what.flags |= PROFILE_CUT;
	}
	count(half, &what, t);
	return 0;
}

TP(hrtimer_expire_entry)
int BPF_PROG(profile_tick, struct hrtimer *timer)
{
	u64 function = (u64)timer->function;
	if (function != tick_functions[0] && function != tick_functions[1])
		return 0;
	struct looking l;
	struct place r;
	struct pt_regs *regs = 0;
	if (!look_here(&l))
		return 0;
	struct task_struct *t = l.t;
	if (!l.half->irq_regs) {
		u64 queue = (u64)BPF_CORE_READ(t, se.cfs_rq, rq);
		if (!queue)
			return 0;
		l.half->irq_regs = queue + (u64)regs_from_rq;
	}
	if (bpf_probe_read_kernel(&regs, sizeof regs, (void *)l.half->irq_regs) ||
	    !place_of_kernel(&r, regs))
		return 0;
	return look(ctx, &l, &r, true);
}

SEC("perf_event")
int profile_event(struct bpf_perf_event_data *ctx)
{
	struct looking l;
	struct place r;
	if (!look_here(&l))
		return 0;
	place_of_perf(&r, ctx);
	return look(ctx, &l, &r, false);
}

/* ---- whom to follow, and what the kernel side knows of them ---- */

TP(sched_process_fork)
int BPF_PROG(profile_fork, struct task_struct *parent, struct task_struct *child)
{
	if (child->pid != child->tgid)
		return 0;
	u32 tgid = parent->tgid, new = child->tgid, one = 1;
	if (control.filtered && bpf_map_lookup_elem(&wanted, &tgid) &&
	    bpf_map_update_elem(&wanted, &new, &one, BPF_ANY) == 0)
		__sync_fetch_and_add(&control.following, 1);
	if (!follow_stacks)
		return 0;
	struct profile_identity id;
	identify(parent, &id);
	u32 *space = bpf_map_lookup_elem(&space_of, &id);
	if (!space)
		return 0;
	u32 shared = *space;
	identify(child, &id);
	bpf_map_update_elem(&space_of, &id, &shared, BPF_ANY);
	return 0;
}

TP(sched_process_exec)
int BPF_PROG(profile_exec, struct task_struct *t)
{
	struct profile_identity id;
	identify(t, &id);
	id.exec_id--;
	if (follow_stacks)
		bpf_map_delete_elem(&space_of, &id);
	return 0;
}

TP(sched_process_exit)
int BPF_PROG(profile_exit, struct task_struct *t)
{
	if (t->signal->live.counter > 0)
		return 0;
	u32 tgid = t->tgid;
	if (control.filtered && bpf_map_delete_elem(&wanted, &tgid) == 0)
		__sync_fetch_and_add(&control.following, -1);
	struct profile_identity id;
	identify(t, &id);
	if (follow_stacks)
		bpf_map_delete_elem(&space_of, &id);
	return 0;
}
