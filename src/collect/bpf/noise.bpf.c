/* What happens on the measured CPUs while the loops run: every switch, interrupt, work item and
 * fault, written into memory that tare has mapped. A round's events are read when it is over. */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "collect/bpf/ledger.h"
#include "collect/bpf/noise.h"
#include "record/trace.h"

char LICENSE[] SEC("license") = "GPL";

#define PF_KTHREAD 0x200000
#define FIRST_FAIR_PRIO 100 /* the kernel's MAX_RT_PRIO */
#define TP(name) SEC("tp_btf/" #name)

const volatile __u16 slot_of_cpu[NOISE_CPUS_MAX] = {}; /* + 1; 0: not measured */
const volatile __u32 room = 1;			       /* events for each */
const volatile __u32 steal_known = 0;
const volatile __s64 steal_from_rq = 0; /* address of steal_time less that of the run queue */

struct noise_control control = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the measured CPUs, set before loading */
	__type(key, u32);
	__type(value, struct noise_slot);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* room for each of them */
	__type(key, u32);
	__type(value, struct trace_event);
} events SEC(".maps");

/* The slot of this CPU, and its index; NULL: not measured. */
static __always_inline struct noise_slot *slot_here(u32 *index)
{
	u32 cpu = bpf_get_smp_processor_id();
	u32 slot = cpu < NOISE_CPUS_MAX ? slot_of_cpu[cpu] : 0;
	*index = slot - 1;
	return slot ? bpf_map_lookup_elem(&slots, index) : 0;
}

/* Room for an event on this CPU; NULL: not measured, or full. A hard interrupt may come in between
 * and take the next: hence the atomic step. */
static __always_inline struct trace_event *next_event(struct noise_slot **slot)
{
	u32 index;
	struct noise_slot *s = control.active ? slot_here(&index) : 0;
	if (!s)
		return 0;
	*slot = s;
	u64 at = __sync_fetch_and_add(&s->head, 1);
	if (at >= room)
		return 0;
	index = index * room + (u32)at;
	return bpf_map_lookup_elem(&events, &index);
}

static __always_inline void put(struct trace_event *e, u64 now, u8 kind, u32 a, u32 b)
{
	e->at_ns = now;
	e->kind = kind;
	e->flags = 0;
	e->a = a;
	e->b = b;
}

static __always_inline int interrupt(u8 kind, u32 cause, u32 source)
{
	struct noise_slot *slot;
	struct trace_event *e = next_event(&slot);
	if (e)
		put(e, bpf_ktime_get_ns(), kind, cause, source);
	return 0;
}

static __always_inline u32 source_of_irq(int irq)
{
	u32 source = SOURCE_IRQS + (u32)irq;
	return source < SOURCE_HIGH ? source : SOURCE_HIGH;
}

TP(irq_handler_entry)
int BPF_PROG(noise_irq_entry, int irq)
{
	return interrupt(TRACE_ENTER, LEDGER_IRQ, source_of_irq(irq));
}

TP(irq_handler_exit)
int BPF_PROG(noise_irq_exit, int irq)
{
	return interrupt(TRACE_LEAVE, LEDGER_IRQ, source_of_irq(irq));
}

TP(softirq_entry)
int BPF_PROG(noise_softirq_entry, unsigned int number)
{
	return interrupt(TRACE_ENTER, LEDGER_SOFTIRQ, SOURCE_SOFTIRQS + (number & 15));
}

TP(softirq_exit)
int BPF_PROG(noise_softirq_exit, unsigned int number)
{
	return interrupt(TRACE_LEAVE, LEDGER_SOFTIRQ, SOURCE_SOFTIRQS + (number & 15));
}

#define VECTOR(name, source)                                       \
	TP(name##_entry)                                           \
	int BPF_PROG(noise_##name##_entry)                         \
	{                                                          \
		return interrupt(TRACE_ENTER, LEDGER_IRQ, source); \
	}                                                          \
	TP(name##_exit)                                            \
	int BPF_PROG(noise_##name##_exit)                          \
	{                                                          \
		return interrupt(TRACE_LEAVE, LEDGER_IRQ, source); \
	}
EACH_VECTOR(VECTOR)

TP(nmi_handler)
int BPF_PROG(noise_nmi, void *handler, s64 ns)
{
	struct noise_slot *slot;
	struct trace_event *e = next_event(&slot);
	if (e)
		put(e, bpf_ktime_get_ns(), TRACE_NMI, LEDGER_NMI,
		    ns < 0	      ? 0
		    : ns < 0xffffffff ? (u32)ns
				      : 0xffffffff);
	return 0;
}

/* The task gets the CPU. */
static __always_inline void put_switch(struct trace_event *e, u64 at, u32 leaver, u32 why,
				       struct task_struct *t, const struct noise_slot *slot)
{
	put(e, at, TRACE_SWITCH, leaver, why);
	e->tid = t->pid;
	e->tgid = t->tgid;
	e->flags = (t->flags & PF_KTHREAD ? TRACE_IS_KERNEL : 0) |
		   (t->prio >= FIRST_FAIR_PRIO ? TRACE_IS_FAIR : 0) |
		   (t->pid == slot->tid ? TRACE_IS_SELF : 0);
	bpf_probe_read_kernel(e->comm, sizeof e->comm, t->comm);
}

/* Some kernels do not tell of a switch away from init (decision 012): whoever leaves the CPU now
 * and was not told to get it got it when the scheduler says so. */
static __always_inline void catch_up(struct task_struct *t, u64 now)
{
	struct noise_slot *slot;
	struct trace_event *e = next_event(&slot);
	if (!e)
		return;
	u64 at = now;
	if (bpf_core_field_exists(t->sched_info.last_arrival)) /* whose clock was just read */
		at -= BPF_CORE_READ(t, se.cfs_rq, rq, clock) - t->sched_info.last_arrival;
	if (at > now || at < slot->switched_ns)
		at = slot->switched_ns;
	put_switch(e, at, (u32)slot->occupant, LEDGER_SLEEP, t, slot);
}

TP(sched_switch)
int BPF_PROG(noise_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct noise_slot *slot;
	u32 index;
	slot = control.active ? slot_here(&index) : 0;
	if (!slot)
		return 0;
	u64 now = bpf_ktime_get_ns();
	if (slot->occupant != NOISE_NOBODY && slot->occupant != prev->pid)
		catch_up(prev, now);
	slot->occupant = next->pid;
	slot->switched_ns = now;
	struct trace_event *e = next_event(&slot);
	if (e)
		put_switch(e, now, (u32)prev->pid,
			   preempt || !prev->__state ? LEDGER_QUEUED : LEDGER_SLEEP, next, slot);
	return 0;
}

static __always_inline int work(u8 kind, u64 function)
{
	struct noise_slot *slot;
	struct trace_event *e = next_event(&slot);
	if (e)
		put(e, bpf_ktime_get_ns(), kind, (u32)function, (u32)(function >> 32));
	return 0;
}

TP(workqueue_execute_start)
int BPF_PROG(noise_work_start, struct work_struct *w)
{
	return work(TRACE_WORK_BEGIN, (u64)w->func);
}

TP(workqueue_execute_end)
int BPF_PROG(noise_work_end)
{
	return work(TRACE_WORK_END, 0); /* the item may be gone by now */
}

/* Of the loop itself: others' faults are in their own time. */
TP(page_fault_user)
int BPF_PROG(noise_fault)
{
	u32 index;
	struct noise_slot *slot = control.active ? slot_here(&index) : 0;
	if (!slot || slot->tid != bpf_get_current_task_btf()->pid)
		return 0;
	struct trace_event *e = next_event(&slot);
	if (e)
		put(e, bpf_ktime_get_ns(), TRACE_FAULT, 0, 0);
	return 0;
}

/* Called by a loop itself: who it is, and what the hypervisor has taken from its CPU so far. */
SEC("syscall")
int noise_here(void *context)
{
	u32 index;
	struct noise_slot *s = slot_here(&index);
	if (!s)
		return 0;
	struct task_struct *t = bpf_get_current_task_btf();
	if (!s->steal_at && steal_known)
		s->steal_at = (u64)BPF_CORE_READ(t, se.cfs_rq, rq) + (u64)steal_from_rq;
	s->tid = t->pid;
	if (s->steal_at)
		bpf_probe_read_kernel(&s->steal_ns, sizeof s->steal_ns, (void *)s->steal_at);
	return 0;
}
