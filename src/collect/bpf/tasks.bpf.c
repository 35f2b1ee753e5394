/* Snapshots of all tasks, the subject's tree, and the final record of every task that ends.
 *
 * A task's last record is taken at its last switch off the CPU, not at sched_process_exit:
 * from 6.16 on that tracepoint comes before the memory is torn down, which can be a good part of a
 * short program. */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "collect/bpf/tasks.h"
#include "record/task.h"

char LICENSE[] SEC("license") = "GPL";

#define TASK_DEAD 0x80
#define PF_KTHREAD 0x200000
#define MOST_TITLES 16 /* of a process, where they are read before its end */

/* enum task_measure, which lives in a header that BPF cannot include */
enum {
	EXEC,
	USER,
	SYSTEM,
	RUN_DELAY,
	BLKIO_DELAY,
	MIN_FLT,
	MAJ_FLT,
	NVCSW,
	NIVCSW,
	RCHAR,
	WCHAR,
	SYSCR,
	SYSCW,
	READ_BYTES,
	WRITE_BYTES,
	CANCELLED_WRITE_BYTES,
	RSS,
	RSS_PEAK,
	VM,
};

const volatile __u32 page_size = 4096;
const volatile __s32 self_tgid = 0;
const volatile __u64 ring_half = 8 << 20;

__u32 armed = 0;  /* the next process that tare forks is the root */
__u32 active = 0; /* exits are kept */
__s32 root_tgid = 0;
__s32 maker_tgid = 0;	 /* what it forks is the subject's; 0: nobody */
__s32 enlisted_tgid = 0; /* of enlist() */
__u64 root_end_ns = 0;	 /* 0 while a thread of the root lives */
__u64 lost = 0;		 /* exit records that found the ring full */
__u64 lost_members = 0;
__u32 live_members = 0;	    /* in the map: walking it when it is empty takes 100 us */
__u32 ends_with_memory = 0; /* this kernel tells of an exit before the memory is gone (6.16) */
struct tree_totals totals = {};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} exits SEC(".maps");

/* Keyed by the signal_struct, which the threads of a process share, io_uring's workers too (those
 * are made without a fork event), and which keeps its address when a thread takes over the leader's
 * pid in exec. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MEMBERS_MAX);
	__type(key, u64);
	__type(value, struct member);
} members SEC(".maps");

static __always_inline u64 signal_of(struct task_struct *t)
{
	return (u64)BPF_CORE_READ(t, signal);
}

static __always_inline struct member *member_of(struct task_struct *t)
{
	u64 key = signal_of(t);
	return bpf_map_lookup_elem(&members, &key);
}

/* MM_FILEPAGES, MM_ANONPAGES, MM_SHMEMPAGES; 2 is swap. The kernel's own approximate sums: each CPU
 * may hold back some 32 pages. */
static __always_inline s64 resident_pages(struct mm_struct *mm)
{
	struct mm_struct___before_6_2 *old = (void *)mm;
	if (bpf_core_field_exists(old->rss_stat.count))
		return BPF_CORE_READ(old, rss_stat.count[0].counter) +
		       BPF_CORE_READ(old, rss_stat.count[1].counter) +
		       BPF_CORE_READ(old, rss_stat.count[3].counter);
	return mm->rss_stat[0].count + mm->rss_stat[1].count + mm->rss_stat[3].count;
}

static __always_inline u64 peak_bytes(struct mm_struct *mm, s64 pages)
{
	u64 peak = mm->hiwater_rss;
	if (pages > 0 && (u64)pages > peak)
		peak = (u64)pages;
	return peak * page_size;
}

static __always_inline void fill_memory(struct task_record *r, struct mm_struct *mm)
{
	s64 pages = resident_pages(mm);
	r->value[RSS] = pages > 0 ? (u64)pages * page_size : 0;
	r->value[RSS_PEAK] = peak_bytes(mm, pages);
	r->value[VM] = mm->total_vm * page_size;
	r->present |= 1ull << RSS | 1ull << RSS_PEAK | 1ull << VM;
}

static __always_inline void fill_io(struct task_record *r, struct task_struct *t)
{
	if (!bpf_core_field_exists(t->ioac.read_bytes))
		return;
	r->value[RCHAR] = t->ioac.rchar;
	r->value[WCHAR] = t->ioac.wchar;
	r->value[SYSCR] = t->ioac.syscr;
	r->value[SYSCW] = t->ioac.syscw;
	r->value[READ_BYTES] = t->ioac.read_bytes;
	r->value[WRITE_BYTES] = t->ioac.write_bytes;
	r->value[CANCELLED_WRITE_BYTES] = t->ioac.cancelled_write_bytes;
	r->present |= 1ull << RCHAR | 1ull << WCHAR | 1ull << SYSCR | 1ull << SYSCW |
		      1ull << READ_BYTES | 1ull << WRITE_BYTES | 1ull << CANCELLED_WRITE_BYTES;
}

static __always_inline void fill_delays(struct task_record *r, struct task_struct *t, bool directly)
{
	if (bpf_core_field_exists(t->sched_info.run_delay)) {
		r->value[RUN_DELAY] = t->sched_info.run_delay;
		r->present |= 1ull << RUN_DELAY;
	}
	if (bpf_core_field_exists(t->delays)) {
		struct task_delay_info *d = directly ? t->delays : BPF_CORE_READ(t, delays);
		u64 blkio = !d ? ~0ull : directly ? d->blkio_delay : BPF_CORE_READ(d, blkio_delay);
		/* Only tasks forked while delay accounting was on have one. With delayed dequeue
		 * the kernel sometimes takes the uptime for a delay: more than the task's life
		 * cannot be. */
		if (!blkio || (~blkio && blkio <= bpf_ktime_get_boot_ns() - t->start_boottime)) {
			r->value[BLKIO_DELAY] = blkio;
			r->present |= 1ull << BLKIO_DELAY;
		}
	}
}

/* Everything but the memory. r is zeroed. A pointer that is followed directly is read quickly, but
 * since 6.2 the verifier searches all types of the kernel for each, which takes 1 ms: only a
 * snapshot, which reads all tasks, is worth that. */
static __always_inline void fill(struct task_record *r, struct task_struct *t, bool directly)
{
	r->at_ns = bpf_ktime_get_ns();
	r->start_ns = t->start_boottime;
	r->tid = t->pid;
	r->tgid = t->tgid;
	r->ppid = directly ? t->real_parent->tgid : BPF_CORE_READ(t, real_parent, tgid);
	r->value[EXEC] = t->se.sum_exec_runtime;
	r->value[USER] = t->utime;
	r->value[SYSTEM] = t->stime;
	r->value[MIN_FLT] = t->min_flt;
	r->value[MAJ_FLT] = t->maj_flt;
	r->value[NVCSW] = t->nvcsw;
	r->value[NIVCSW] = t->nivcsw;
	r->present = 1ull << EXEC | 1ull << USER | 1ull << SYSTEM | 1ull << MIN_FLT |
		     1ull << MAJ_FLT | 1ull << NVCSW | 1ull << NIVCSW;
	fill_delays(r, t, directly);
	fill_io(r, t);
	bpf_probe_read_kernel(r->comm, sizeof r->comm, t->comm);
	if (t->flags & PF_KTHREAD)
		r->flags |= TASK_IS_KERNEL;
	if (r->tid == r->tgid)
		r->flags |= TASK_IS_LEADER;
	if (r->tgid == self_tgid)
		r->flags |= TASK_IS_SELF;
}

SEC("iter/task")
int snapshot(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	if (!t)
		return 0;
	struct task_record r = {};
	fill(&r, t, true);
	struct mm_struct *mm = t->mm;
	if (mm)
		fill_memory(&r, mm);
	/* members that were let live stay in the map until tare is armed again */
	if (live_members && !(r.flags & TASK_IS_KERNEL) && member_of(t))
		r.flags |= TASK_IS_SUBJECT;
	bpf_seq_write(ctx->meta->seq, &r, sizeof r);
	return 0;
}

static __always_inline void add_member(struct task_struct *t, s32 tasks)
{
	u64 key = signal_of(t);
	struct member m = { .tgid = t->tgid, .tasks = tasks };
	if (bpf_map_update_elem(&members, &key, &m, BPF_ANY))
		__sync_fetch_and_add(&lost_members, 1);
	else
		__sync_fetch_and_add(&live_members, 1);
}

/* A process that runs already becomes the subject. */
SEC("iter/task")
int enlist(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	if (t && t->tgid == enlisted_tgid && !member_of(t))
		add_member(t, BPF_CORE_READ(t, signal, live.counter));
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	if (!active || signal_of(child) == signal_of(parent))
		return 0;
	bool root = armed && parent->tgid == self_tgid;
	bool made = maker_tgid && parent->tgid == maker_tgid;
	if (!root && !made && !member_of(parent))
		return 0;
	if (root) {
		armed = 0;
		root_tgid = child->tgid;
	}
	add_member(child, 0);
	__sync_fetch_and_add(&totals.processes, 1);
	return 0;
}

/* Every new task comes through here, also those that are made without a fork event: io_uring's
 * workers, vhost's. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_first_wakeup, struct task_struct *t)
{
	struct member *m = active ? member_of(t) : 0;
	if (m) {
		__sync_fetch_and_add(&m->tasks, 1);
		__sync_fetch_and_add(&totals.threads, 1);
	}
	return 0;
}

/* The kernel counts the memory before the exec into the process's peak: that is tare's, for the
 * root. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *t)
{
	struct member *m = active ? member_of(t) : 0;
	if (m)
		m->maxrss_at_exec = BPF_CORE_READ(t, signal, maxrss);
	return 0;
}

/* t must be the current task. */
static __always_inline void tell_title(struct task_struct *t, struct member *m)
{
	struct mm_struct *mm = BPF_CORE_READ(t, mm);
	struct title_record *r = mm ? bpf_ringbuf_reserve(&exits, sizeof *r, 0) : 0;
	if (!r)
		return; /* the process that ended is told of without its title */
	r->tgid = t->tgid;
	r->text[0] = 0;
	bpf_probe_read_user_str(r->text, sizeof r->text, (void *)BPF_CORE_READ(mm, arg_start));
	m->titles++;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* Only here is the memory still there (from 6.16 on; earlier kernels leave signal->maxrss). */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *t)
{
	struct member *m = active ? member_of(t) : 0;
	struct mm_struct *mm = t->mm;
	if (!m || !mm)
		return 0;
	ends_with_memory = 1;
	if (maker_tgid && t->pid == t->tgid)
		tell_title(t, m);
	u64 peak = peak_bytes(mm, resident_pages(mm));
	if (peak > m->rss_peak_bytes)
		m->rss_peak_bytes = peak;
	return 0;
}

static __always_inline void add_to_totals(const struct task_record *r)
{
	for (int i = 0; i < TASKS_CUMULATIVE; i++)
		__sync_fetch_and_add(&totals.value[i], r->value[i]);
	totals.present = r->present;
	if (!(r->present & 1ull << BLKIO_DELAY))
		__sync_fetch_and_add(&totals.without_blkio, 1);
	if (r->value[RSS_PEAK] > totals.rss_peak_bytes)
		totals.rss_peak_bytes = r->value[RSS_PEAK];
}

static __always_inline bool is_dead(struct task_struct *t)
{
	struct task_struct___before_5_14 *old = (void *)t;
	if (bpf_core_field_exists(t->__state))
		return t->__state & TASK_DEAD;
	return BPF_CORE_READ(old, state) & TASK_DEAD;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev)
{
	if (!active)
		return 0;
	if (!is_dead(prev)) {
		/* older kernels: a title is set early in a process's life, and most are switched
		 * off their CPU at least once afterwards */
		struct member *living = maker_tgid && !ends_with_memory ? member_of(prev) : 0;
		if (living && living->titles < MOST_TITLES)
			tell_title(prev, living);
		return 0;
	}
	struct task_record local = {};
	struct member *m = member_of(prev);
	bool root_ends = false;
	fill(&local, prev, false);
	local.flags |= TASK_HAS_EXITED;
	u64 maxrss = BPF_CORE_READ(prev, signal, maxrss);
	if (m) {
		local.flags |= TASK_IS_SUBJECT;
		local.value[RSS_PEAK] = m->rss_peak_bytes;
		if (!local.value[RSS_PEAK] && maxrss > m->maxrss_at_exec)
			local.value[RSS_PEAK] = maxrss * page_size;
	} else {
		local.value[RSS_PEAK] = maxrss * page_size;
	}
	if (local.value[RSS_PEAK])
		local.present |= 1ull << RSS_PEAK;
	if (m) {
		add_to_totals(&local);
		__sync_fetch_and_add(&m->tasks, -1);
		if (m->tasks <= 0) {
			u64 key = signal_of(prev);
			/* two last threads may come here at once: one of them deletes */
			if (!bpf_map_delete_elem(&members, &key))
				__sync_fetch_and_add(&live_members, -1);
			root_ends = local.tgid == root_tgid;
		}
	}
	struct task_record *kept = bpf_ringbuf_reserve(&exits, sizeof *kept, 0);
	if (kept) {
		*kept = local;
		/* nobody is woken within a measurement unless the ring would run over */
		u64 wake = bpf_ringbuf_query(&exits, BPF_RB_AVAIL_DATA) > ring_half;
		bpf_ringbuf_submit(kept, wake ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
	} else {
		__sync_fetch_and_add(&lost, 1);
	}
	/* last: tare waits for it, then asks who is left and reads the records */
	if (root_ends)
		root_end_ns = local.at_ns;
	return 0;
}
