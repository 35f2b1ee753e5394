/* The back end that needs no privileges: /proc for snapshots, wait4() for the subject.
 *
 * The sum of a rusage's two times is exact to the µs (the kernel scales the ticks so that they add
 * up to what the scheduler counted), and includes every descendant that was waited for. Its split
 * is scaled, too: the grade `tick` cannot be claimed here. ru_maxrss of a child starts at its
 * spawner's high-water mark, so a small subject shows tare's. */
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/backend/backend.h"
#include "collect/backend/ended.h"
#include "collect/backend/procfs.h"
#include "collect/backend/tree.h"

struct plain {
	struct procfs *proc;
	struct tree tree;
	uint64_t armed_ns; /* 0: not armed */
	struct totals reaped;
	struct image exits; /* of the root alone, and one for all that a maker made */
	struct ended ended;
};

static int plain_open(void **state, struct error *err)
{
	struct procfs *proc;
	if (procfs_open(&proc, err) != 0)
		return -1;
	struct plain *p = xcalloc(1, sizeof *p);
	p->proc = proc;
	*state = p;
	return 0;
}

static void plain_close(void *state)
{
	struct plain *p = state;
	if (!p)
		return;
	procfs_close(p->proc);
	tree_release(&p->tree);
	image_release(&p->exits);
	ended_release(&p->ended);
	free(p);
}

static void add_task(void *context, struct task_record *task, const struct stat_extra *extra)
{
	(void)extra;
	*image_add(context) = *task;
}

static int plain_snapshot(void *state, struct image *image, struct error *err)
{
	struct plain *p = state;
	image->count = 0;
	image->begin_ns = clock_monotonic_ns();
	/* zombies too: no exit record will tell what they used */
	if (procfs_each(p->proc, PROCFS_ALL, add_task, image, err) != 0)
		return -1;
	image->end_ns = clock_monotonic_ns();
	tree_flag(&p->tree, image);
	return 0;
}

static void plain_arm(void *state)
{
	struct plain *p = state;
	tree_arm(&p->tree, p->proc);
	ended_release(&p->ended);
	p->reaped = (struct totals){ 0 };
	p->exits.count = 0;
	p->armed_ns = clock_monotonic_ns();
}

static int plain_arm_running(void *state, const struct collector_running *who, struct error *err)
{
	(void)err;
	struct plain *p = state;
	tree_arm_running(&p->tree, p->proc, who);
	ended_begin(&p->ended, who->maker);
	return 0;
}

static int plain_adopt(void *state, pid_t root, struct error *err)
{
	(void)err;
	struct plain *p = state;
	tree_adopt(&p->tree, root);
	return 0;
}

/* A process that is forked while /proc is being listed is missed, also when its parent, listed
 * before, is gone by the time it is read: nobody is only believed the second time. */
static void plain_members(void *state, pid_list *pids)
{
	struct plain *p = state;
	FREED kin_list list = { 0 };
	size_t had = pids->count;
	for (int turn = 0; turn < 2 && pids->count == had; turn++) {
		list.count = 0;
		tree_scan(&p->tree, p->proc, &list);
		for (size_t i = 0; i < list.count; i++)
			if (list.items[i].member)
				array_push(pids, list.items[i].pid);
	}
	if (pids->count == had)
		tree_children(&p->tree, p->proc, pids);
}

static void add_exit(void *context, struct task_record *task, const struct stat_extra *extra)
{
	(void)extra;
	task->flags |= TASK_IS_SUBJECT | TASK_HAS_EXITED;
	*image_add(context) = *task;
}

/* The end itself is not seen, but the root, not yet waited for, can still be read: its name above
 * all. */
static uint64_t plain_root_end_ns(void *state)
{
	struct plain *p = state;
	procfs_each_thread(p->proc, p->tree.root, PROCFS_ALL, add_exit, &p->exits);
	return 0;
}

static void plain_reaped(void *state, pid_t pid, const struct rusage *usage)
{
	struct plain *p = state;
	if (p->armed_ns && !tree_is_helper(&p->tree, pid))
		totals_add_usage(&p->reaped, usage, pid == p->tree.root);
}

struct living {
	struct totals *totals;
	uint64_t measures; /* that rusages have as well */
};

static void add_living(void *context, struct task_record *task, const struct stat_extra *extra)
{
	struct living *l = context;
	if (procfs_is_gone(extra))
		return;
	task->present &= l->measures;
	totals_add(l->totals, task);
}

static void plain_finish(void *state, const struct totals *base, struct image *exits,
			 struct totals *totals, uint64_t *lost)
{
	struct plain *p = state;
	*totals = p->reaped;
	struct living living = { totals, USAGE_MEASURES };
	FREED pid_list alive = { 0 };
	plain_members(p, &alive);
	for (size_t i = 0; i < alive.count; i++)
		procfs_each_thread(p->proc, alive.items[i], PROCFS_ALL, add_living, &living);
	totals_subtract(totals, base);
	struct task_record sum;
	if (ended_take(&p->ended, &sum))
		*image_add(&p->exits) = sum;
	struct image had = *exits;
	*exits = p->exits;
	p->exits = had;
	p->exits.count = 0;
	exits->begin_ns = p->armed_ns;
	exits->end_ns = clock_monotonic_ns();
	*lost = 0;
	p->armed_ns = 0;
}

const struct backend_ops plain_backend = {
	.backend = BACKEND_PLAIN,
	.not_seen =
		"without privileges: processes of the subject that nobody waited for, the exits "
		"of other processes and their I/O, interrupts and the time of single events; "
		"run as root (or with CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN) to see them",
	.open = plain_open,
	.close = plain_close,
	.snapshot = plain_snapshot,
	.arm = plain_arm,
	.adopt = plain_adopt,
	.listen = plain_arm,
	.arm_running = plain_arm_running,
	.root_end_ns = plain_root_end_ns,
	.members = plain_members,
	.reaped = plain_reaped,
	.finish = plain_finish,
};
