/* Every process's bursts on the CPUs. A turn ends at a switch; turns of one process on one CPU that
 * begin within merge_ns of each other are one burst, handed over when the next one begins. What has
 * no next is taken from the table by whoever reads. */
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
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, struct burst_key);
	__type(value, struct burst_record);
} open_bursts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

/* Since when a CPU has been whose. */
struct turn {
	u64 task, since_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4096);
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

static __noinline int hand_over(const struct burst_record *b)
{
	struct burst_record *to = bpf_ringbuf_reserve(&ring, sizeof *to, 0);
	if (!to) {
		__sync_fetch_and_add(&control.lost, 1);
		return 0;
	}
	*to = *b;
	/* nobody is woken for one; only in time before the ring is full */
	bool late = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > RING_BYTES / 2;
	bpf_ringbuf_submit(to, late ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
	return 0;
}

static __noinline int begin_burst(struct task_struct *t, struct burst_key *key, u64 begin, u64 end,
				  u64 busy)
{
	struct task_struct *leader = t->group_leader;
	struct burst_record b = {
		.begin_ns = begin,
		.end_ns = end,
		.busy_ns = busy,
		.start_ns = leader->start_boottime,
		.pid = t->tgid,
		.turns = 1,
		.cpu = (u16)key->cpu,
	};
	if (t->flags & PF_KTHREAD)
		b.flags = BURST_IS_KERNEL;
	else if (is_own(t))
		b.flags = BURST_IS_OWN;
	bpf_probe_read_kernel(b.comm, sizeof b.comm, leader->comm);
	if (bpf_map_update_elem(&open_bursts, key, &b, BPF_ANY))
		__sync_fetch_and_add(&control.lost, 1);
	return 0;
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
	u64 busy = now - begin;
	struct burst_key key = { .signal = (u64)prev->signal, .cpu = cpu };
	struct burst_record *b = bpf_map_lookup_elem(&open_bursts, &key);
	if (b && b->pid == prev->tgid && begin - b->begin_ns < merge_ns) {
		b->end_ns = now;
		b->busy_ns += busy;
		b->turns++;
		/* what it calls itself by now */
		bpf_probe_read_kernel(b->comm, sizeof b->comm, prev->group_leader->comm);
		return 0;
	}
	if (b)
		hand_over(b);
	begin_burst(prev, &key, begin, now, busy);
	return 0;
}
