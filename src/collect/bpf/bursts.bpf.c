/* Every process's bursts on the CPUs. A turn ends at a switch; turns of one process on one CPU that
 * begin within merge_ns of each other are one burst, which stands in a slot of its CPU until
 * another one takes the slot; then it is handed over. What is not, the reader sees in its slot:
 * begin_ns is 0 while it is written, and stores are taken to be seen in their order, as on x86. */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "collect/bpf/bursts.h"

char LICENSE[] SEC("license") = "GPL";

#define PF_KTHREAD 0x200000
#define GENERATIONS 12 /* of ancestors that are looked at */
#define RING_BYTES (4u << 20)

const volatile __u64 merge_ns = 10000000;

struct burst_control control = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, BURST_SLOTS); /* for each CPU: set before it is loaded */
	__type(key, u32);
	__type(value, struct burst_record);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

/* Since when a CPU has been whose. A line of a cache for each: another CPU's would be cold. */
struct turn {
	u64 task, since_ns;
	u64 signal; /* of the one that leaves: there a pointer becomes a number */
	u64 unused[5];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct turn);
} turns SEC(".maps");

static __always_inline bool is_tare(const char comm[16])
{
	return comm[0] == 't' && comm[1] == 'a' && comm[2] == 'r' && comm[3] == 'e' && !comm[4];
}

/* Tare itself, or started by one. */
static __noinline bool is_own(struct task_struct *t)
{
	struct task_struct *p = BPF_CORE_READ(t, group_leader);
	for (int i = 0; i < GENERATIONS && p; i++) {
		char comm[16];
		if (bpf_probe_read_kernel(comm, sizeof comm, &p->comm))
			return false;
		if (is_tare(comm))
			return true;
		if (BPF_CORE_READ(p, pid) <= 1)
			return false;
		p = BPF_CORE_READ(p, real_parent, group_leader);
	}
	return false;
}

/* Empties the slot before anybody can see the burst in the ring: it is never in both. */
static __noinline int hand_over(struct burst_record *b)
{
	struct burst_record *to = bpf_ringbuf_reserve(&ring, sizeof *to, 0);
	if (!to) {
		__sync_fetch_and_add(&control.lost, 1);
		return 0;
	}
	*to = *b;
	b->begin_ns = 0;
	barrier();
	/* nobody is woken for one; only in time before the ring is full */
	bool late = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > RING_BYTES / 2;
	bpf_ringbuf_submit(to, late ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
	return 0;
}

struct name {
	u64 a, b;
};

static __always_inline struct name name_of(struct task_struct *t)
{
	const u64 *comm = (const u64 *)t->comm;
	return (struct name){ comm[0], comm[1] };
}

/* What it calls itself by now, and what follows from that. */
static __always_inline void note_name(struct burst_record *b, struct task_struct *t, bool same)
{
	struct name now = name_of(t->group_leader), *had = (struct name *)b->comm;
	if (same && had->a == now.a && had->b == now.b)
		return;
	*had = now;
	b->flags = t->flags & PF_KTHREAD ? BURST_IS_KERNEL : is_own(t) ? BURST_IS_OWN : 0;
}

static __noinline int begin_burst(struct burst_record *b, struct task_struct *t, u32 signal,
				  u64 begin, u64 end)
{
	u64 start = t->group_leader->start_boottime;
	bool same = b->pid == t->tgid && b->signal == signal && b->start_ns == start;
	b->begin_ns = 0;
	barrier();
	b->end_ns = end;
	b->busy_ns = end - begin;
	b->turns = 1;
	b->start_ns = start;
	b->pid = t->tgid;
	b->signal = signal;
	note_name(b, t, same);
	barrier();
	b->begin_ns = begin;
	return 0;
}

static __always_inline bool is_of(const struct burst_record *b, struct task_struct *t, u32 signal)
{
	return b->pid == t->tgid && b->signal == signal;
}

/* The slot of a process, or the one it may have: of two, the one that was used less lately. */
static __always_inline struct burst_record *slot_of(struct task_struct *t, u32 signal, u32 cpu)
{
	u32 at = cpu * BURST_SLOTS + (signal * 0x9e3779b9u >> (32 - BURST_SLOTS_LOG2));
	struct burst_record *b = bpf_map_lookup_elem(&slots, &at);
	if (!b || is_of(b, t, signal))
		return b;
	u32 beside = at ^ 1;
	struct burst_record *other = bpf_map_lookup_elem(&slots, &beside);
	if (!other)
		return b;
	if (is_of(other, t, signal) || other->end_ns < b->end_ns) {
		b = other;
		at = beside;
	}
	b->slot = at;
	return b;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(bursts_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct turn *turn = bpf_map_lookup_elem(&turns, &cpu);
	if (!turn)
		return 0;
	u64 now = bpf_ktime_get_ns(), begin = turn->since_ns;
	bool seen = turn->task == (u64)prev;
	turn->task = (u64)next;
	turn->since_ns = now;
	if (!prev->pid || !begin)
		return 0;
	if (!seen) {
		/* a switch was not told: the scheduler knows how long this turn was */
		u64 ran = prev->se.sum_exec_runtime - prev->se.prev_sum_exec_runtime;
		if (ran < now - begin)
			begin = now - ran;
	}
	if (now <= begin)
		return 0;
	*(volatile u64 *)&turn->signal = (u64)prev->signal;
	u32 signal = (u32)(*(volatile u64 *)&turn->signal >> 6);
	struct burst_record *b = slot_of(prev, signal, cpu);
	if (!b)
		return 0;
	if (b->begin_ns && is_of(b, prev, signal) && begin - b->begin_ns < merge_ns) {
		u64 first = b->begin_ns;
		b->begin_ns = 0;
		barrier();
		b->end_ns = now;
		b->busy_ns += now - begin;
		if (b->turns < 0xffff)
			b->turns++;
		note_name(b, prev, true);
		barrier();
		b->begin_ns = first;
		return 0;
	}
	if (b->begin_ns)
		hand_over(b);
	begin_burst(b, prev, signal, begin, now);
	return 0;
}
