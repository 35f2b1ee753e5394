/* The papers' own way: /proc and taskstats for snapshots, taskstats for exits, and the process
 * connector for the tree and the time of its events.
 *
 * Two sockets tell of one exit. A task's taskstats record is queued before its exit event, so the
 * records are read first; each waits in its id's slot for that event, which binds it: to the
 * subject's tree or not, and to its time. Events are taken in their order, so that an id used twice
 * is two tasks.
 *
 * A taskstats record is made before the task's last turn on its CPU is charged: it lacks up to one
 * tick of exec. What wait4() says lacks nothing but leaves out children that were never waited
 * for; the total is the larger of the two. */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/backend/backend.h"
#include "collect/backend/connector.h"
#include "collect/backend/procfs.h"
#include "collect/backend/taskstats.h"
#include "collect/backend/tree.h"

enum {
	BUFFER_BYTES = 32 << 20, /* some 20,000 exits */
	ROOT_PATIENCE_NS = 20000000,
	EXITS_PATIENCE_NS = 50000000,
	PROC_START_NS = 10000000, /* what /proc rounds start times down to */
};

/* What is known of a task id. */
struct slot {
	int32_t tid; /* 0: free */
	int32_t tgid;
	bool member, alive; /* of the subject's tree; alive only means something for members */
	uint32_t living;    /* threads of the process; in the slot of a leader */
	uint32_t owed;	    /* exit events whose record has not come */
	uint64_t owed_ns;
	uint64_t ended_ns;    /* last exit event of a thread of the process; in a leader's slot */
	uint32_t first, last; /* records that wait for their exit event: index + 1, 0 none */
};

/* Beside each record of netlink.exits. */
struct note {
	uint32_t next; /* that waits in the same slot */
	bool waiting;
	bool known_start; /* start_ns is from a snapshot */
	uint64_t lived_ns;
};

/* A task of the last snapshot: its exit record gets the same start. */
struct seen {
	int32_t tid;
	bool exited;
	uint64_t start_ns;
};

struct netlink {
	struct procfs *proc;
	struct taskstats_link listener, questions;
	struct connector connector;
	int epoll;
	struct tree tree;
	uint64_t armed_ns; /* 0: exits are not kept */
	bool delays;
	struct slot *slots; /* open addressing; capacity is a power of two */
	size_t slots_used, slots_capacity;
	struct image exits;
	ARRAY(struct note) notes;
	ARRAY(struct seen) seen;
	uint64_t seen_ns;	  /* when that snapshot was begun; 0: none */
	uint64_t ended, recorded; /* of the members' exits: events, records */
	uint64_t root_end_ns;
	uint32_t processes, threads; /* members ever */
	struct totals reaped;
};

/* Slots */

static struct slot *slot_place(struct slot *slots, size_t capacity, int32_t tid)
{
	size_t at = (uint32_t)tid * UINT32_C(2654435761) & (capacity - 1);
	while (slots[at].tid && slots[at].tid != tid)
		at = (at + 1) & (capacity - 1);
	return &slots[at];
}

static struct slot *slot_find(const struct netlink *n, int32_t tid)
{
	if (!n->slots_used || tid <= 0)
		return NULL;
	struct slot *s = slot_place(n->slots, n->slots_capacity, tid);
	return s->tid ? s : NULL;
}

/* Pointers to other slots are void afterwards. */
static struct slot *slot_make(struct netlink *n, int32_t tid)
{
	if (n->slots_used * 2 >= n->slots_capacity) {
		size_t capacity = n->slots_capacity ? n->slots_capacity * 2 : 1024;
		struct slot *slots = xcalloc(capacity, sizeof *slots);
		for (size_t i = 0; i < n->slots_capacity; i++)
			if (n->slots[i].tid)
				*slot_place(slots, capacity, n->slots[i].tid) = n->slots[i];
		free(n->slots);
		n->slots = slots;
		n->slots_capacity = capacity;
	}
	struct slot *s = slot_place(n->slots, n->slots_capacity, tid);
	if (!s->tid) {
		*s = (struct slot){ .tid = tid };
		n->slots_used++;
	}
	return s;
}

static bool is_member(const struct netlink *n, int32_t tgid)
{
	const struct slot *s = slot_find(n, tgid);
	return s && s->member;
}

/* Records and events */

/* A new life of the id; records that wait are kept, since they may be of this one. */
static void member_begin(struct netlink *n, int32_t tid, int32_t tgid)
{
	struct slot *s = slot_make(n, tid);
	*s = (struct slot){ .tid = tid,
			    .tgid = tgid,
			    .member = true,
			    .alive = true,
			    .first = s->first,
			    .last = s->last };
	n->threads++;
	n->processes += tid == tgid;
	struct slot *leader = slot_find(n, tgid);
	if (leader)
		leader->living++;
}

/* The task of this record ended at that time. */
static void bind_record(struct netlink *n, size_t index, const struct slot *s, uint64_t at_ns)
{
	struct task_record *t = &n->exits.tasks[index];
	n->notes.items[index].waiting = false;
	t->at_ns = at_ns;
	if (!s->member)
		return;
	t->flags |= TASK_IS_SUBJECT;
	if (!t->tgid)
		t->tgid = s->tgid;
	n->recorded++;
}

static bool bind_waiting(struct netlink *n, struct slot *s, uint64_t at_ns)
{
	if (!s->first)
		return false;
	size_t index = s->first - 1;
	s->first = n->notes.items[index].next;
	if (!s->first)
		s->last = 0;
	bind_record(n, index, s, at_ns);
	return true;
}

static int compare_seen(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void take_exit(void *context, struct taskstats_answer *answer)
{
	struct netlink *n = context;
	struct task_record *t = &answer->task;
	struct note note = { .lived_ns = answer->lived_ns };
	struct seen wanted = { .tid = t->tid };
	struct seen *seen = n->seen.count ? bsearch(&wanted, n->seen.items, n->seen.count,
						    sizeof wanted, compare_seen)
					  : NULL;
	if (seen && !seen->exited) {
		seen->exited = true;
		note.known_start = true;
		t->start_ns = seen->start_ns;
	}
	if (!n->armed_ns)
		return;
	t->at_ns = clock_monotonic_ns();
	t->flags |= TASK_HAS_EXITED;
	if (t->tgid == n->tree.self)
		t->flags |= TASK_IS_SELF;
	struct slot *s = slot_make(n, t->tid);
	size_t index = n->exits.count;
	*image_add(&n->exits) = *t;
	array_push(&n->notes, note);
	if (s->owed) {
		s->owed--;
		bind_record(n, index, s, s->owed_ns);
		return;
	}
	n->notes.items[index].waiting = true;
	if (s->last)
		n->notes.items[s->last - 1].next = (uint32_t)index + 1;
	else
		s->first = (uint32_t)index + 1;
	s->last = (uint32_t)index + 1;
}

static void take_fork(struct netlink *n, const struct connector_event *e)
{
	bool is_thread = e->tid != e->tgid;
	struct slot *s = slot_find(n, e->tid);
	/* the root's own fork, read after it was adopted, or that of a thread listed already */
	if ((e->tid == n->tree.root || n->tree.running) && s && s->member && s->alive)
		return;
	bool made = !is_thread && n->tree.maker && e->parent == n->tree.maker;
	if (made || is_member(n, is_thread ? e->tgid : e->parent))
		member_begin(n, e->tid, e->tgid);
	else if (s)
		s->member = s->alive = false;
}

static void take_end(struct netlink *n, const struct connector_event *e)
{
	struct slot *s = slot_find(n, e->tid);
	if (!s)
		return;
	if (!s->member) {
		bind_waiting(n, s, e->at_ns);
		return;
	}
	if (!s->alive)
		return;
	s->alive = false;
	n->ended++;
	if (!bind_waiting(n, s, e->at_ns)) {
		s->owed++;
		s->owed_ns = e->at_ns;
	}
	struct slot *leader = slot_find(n, s->tgid);
	if (!leader)
		return;
	leader->ended_ns = e->at_ns;
	if (leader->living && --leader->living == 0 && leader->tid == n->tree.root &&
	    !n->root_end_ns)
		n->root_end_ns = e->at_ns;
}

/* An exec leaves one thread, which then has the leader's id even if it had another: of that one no
 * exit event comes under its old id, and the leader has two. */
static void take_exec(struct netlink *n, const struct connector_event *e)
{
	struct slot *leader = slot_find(n, e->tgid);
	if (!leader || !leader->member || (leader->living == 1 && leader->alive))
		return;
	for (size_t i = 0; i < n->slots_capacity; i++) {
		struct slot *s = &n->slots[i];
		if (s->tid && s->member && s->alive && s->tgid == e->tgid && s != leader)
			s->alive = false;
	}
	leader->alive = true;
	leader->living = 1;
	if (leader->tid == n->tree.root)
		n->root_end_ns = 0;
}

static void take_event(void *context, const struct connector_event *e)
{
	struct netlink *n = context;
	if (!n->armed_ns)
		return;
	switch (e->kind) {
	case CONNECTOR_FORK:
		take_fork(n, e);
		break;
	case CONNECTOR_EXEC:
		take_exec(n, e);
		break;
	case CONNECTOR_EXIT:
		take_end(n, e);
		break;
	}
}

static void netlink_drain(void *state)
{
	struct netlink *n = state;
	/* once more after something came: a record may follow between the two */
	for (int round = 0; round < 8; round++)
		if (!(taskstats_receive(&n->listener, n->delays, take_exit, n) |
		      connector_receive(&n->connector, take_event, n)))
			break;
}

/* Opening and closing */

static void netlink_close(void *state)
{
	struct netlink *n = state;
	if (!n)
		return;
	taskstats_close(&n->listener);
	taskstats_close(&n->questions);
	connector_close(&n->connector);
	if (n->epoll >= 0)
		close(n->epoll);
	procfs_close(n->proc);
	tree_release(&n->tree);
	image_release(&n->exits);
	array_release(&n->notes);
	array_release(&n->seen);
	free(n->slots);
	free(n);
}

static void set_buffer(const struct mnl_socket *socket, int bytes)
{
	if (!socket)
		return;
	int fd = mnl_socket_get_fd(socket);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

void netlink_set_buffers(void *state, int bytes)
{
	struct netlink *n = state;
	set_buffer(n->listener.socket, bytes);
	set_buffer(n->connector.socket, bytes);
}

static int watch(struct netlink *n, const struct mnl_socket *socket)
{
	if (!socket)
		return 0;
	struct epoll_event event = { .events = EPOLLIN };
	return epoll_ctl(n->epoll, EPOLL_CTL_ADD, mnl_socket_get_fd(socket), &event);
}

static int netlink_open(void **state, struct error *err)
{
	struct netlink *n = xcalloc(1, sizeof *n);
	n->epoll = -1;
	bool opened = procfs_open(&n->proc, err) == 0 && taskstats_open(&n->listener, err) == 0 &&
		      taskstats_open(&n->questions, err) == 0;
	if (opened) {
		/* without it the tree is found by parent ids */
		connector_open(&n->connector, NULL);
		netlink_set_buffers(n, BUFFER_BYTES);
		opened = taskstats_listen(&n->listener, err) == 0;
	}
	n->epoll = opened ? epoll_create1(EPOLL_CLOEXEC) : -1;
	if (n->epoll >= 0 && watch(n, n->listener.socket) == 0 &&
	    watch(n, n->connector.socket) == 0) {
		*state = n;
		return 0;
	}
	if (opened)
		error_errno(err, EXIT_ENVIRONMENT, "cannot watch the netlink sockets");
	netlink_close(n);
	return -1;
}

static const char *netlink_explain(void *state)
{
	const struct netlink *n = state;
	if (n->connector.socket)
		return netlink_backend.not_seen;
	return "without BPF and the process connector: no ledger, no interrupts, no exact end of the "
	       "subject; its tree is found by parent ids, exits lack up to one tick of CPU time; "
	       "run as root on a kernel with BTF for the bpf back end";
}

static int netlink_fd(void *state)
{
	return ((struct netlink *)state)->epoll;
}

/* Snapshots */

static void add_task(void *context, struct task_record *task, const struct stat_extra *extra)
{
	/* what is gone has its exit record already, or will have it in a moment */
	if (!procfs_is_gone(extra))
		*image_add(context) = *task;
}

/* Of /proc only what taskstats does not tell: so that before and after have the same grain. */
static void merge_answer(void *context, struct taskstats_answer *answer)
{
	struct image *image = context;
	if (!answer->sequence || answer->sequence > image->count)
		return;
	struct task_record *t = &image->tasks[answer->sequence - 1];
	uint64_t kept = UINT64_C(1) << TASK_RSS | UINT64_C(1) << TASK_VM;
	for (int m = 0; m < TASK_MEASURES; m++)
		if (answer->task.present >> m & 1)
			t->value[m] = answer->task.value[m];
	t->present = (t->present & kept) | answer->task.present;
	t->at_ns = clock_monotonic_ns();
}

/* Asks taskstats about the tasks of the image; those that are gone leave it. */
static void complete(struct netlink *n, struct image *image)
{
	taskstats_ask(&n->questions, image->tasks, image->count, n->delays, merge_answer, image);
	size_t kept = 0;
	for (size_t i = 0; i < image->count; i++)
		if (task_has(&image->tasks[i], TASK_EXEC))
			image->tasks[kept++] = image->tasks[i];
	image->count = kept;
}

/* Whether fork events can be trusted to have told the whole tree. */
static bool tree_is_known(const struct netlink *n)
{
	return n->connector.socket && !connector_lost(&n->connector);
}

static int netlink_snapshot(void *state, struct image *image, struct error *err)
{
	struct netlink *n = state;
	netlink_drain(n);
	image->count = 0;
	image->begin_ns = clock_monotonic_ns();
	if (procfs_each(n->proc, PROCFS_STAT, add_task, image, err) != 0)
		return -1;
	n->delays = procfs_delays_kept(n->proc);
	complete(n, image);
	image->end_ns = clock_monotonic_ns();
	/* exits that came meanwhile are of tasks this image may hold */
	n->seen.count = 0;
	array_reserve(&n->seen, image->count);
	for (size_t i = 0; i < image->count; i++)
		array_push(&n->seen,
			   (struct seen){ image->tasks[i].tid, false, image->tasks[i].start_ns });
	array_sort(&n->seen, compare_seen);
	n->seen_ns = image->begin_ns;
	netlink_drain(n);
	if (!tree_is_known(n)) {
		tree_flag(&n->tree, image);
	} else {
		for (size_t i = 0; i < image->count; i++) {
			const struct slot *s = slot_find(n, image->tasks[i].tgid);
			if (s && s->member && s->living)
				image->tasks[i].flags |= TASK_IS_SUBJECT;
		}
	}
	return 0;
}

/* The subject */

static void netlink_arm(void *state)
{
	struct netlink *n = state;
	n->armed_ns = 0;
	netlink_drain(n); /* to no one */
	if (n->slots_used)
		memset(n->slots, 0, n->slots_capacity * sizeof *n->slots);
	n->slots_used = 0;
	n->exits.count = n->notes.count = 0;
	n->ended = n->recorded = 0;
	n->processes = n->threads = 0;
	n->root_end_ns = 0;
	n->reaped = (struct totals){ 0 };
	n->delays = procfs_delays_kept(n->proc);
	connector_reset(&n->connector);
	n->listener.overruns = 0;
	tree_arm(&n->tree, n->proc);
	n->armed_ns = clock_monotonic_ns();
}

static void add_member(void *context, struct task_record *task, const struct stat_extra *extra)
{
	struct netlink *n = context;
	const struct slot *s = slot_find(n, task->tid);
	if (!procfs_is_gone(extra) && !(s && s->member))
		member_begin(n, task->tid, task->tgid);
}

/* A thread that begins while the others are listed is told by its fork event as well. */
static int netlink_arm_running(void *state, const struct collector_running *who, struct error *err)
{
	struct netlink *n = state;
	(void)err;
	netlink_drain(n); /* whom the maker forked before is not the subject's */
	tree_arm_running(&n->tree, n->proc, who);
	if (who->process)
		procfs_each_thread(n->proc, who->process, PROCFS_STAT, add_member, n);
	netlink_drain(n);
	return 0;
}

static int netlink_adopt(void *state, pid_t root, struct error *err)
{
	struct netlink *n = state;
	if (kill(root, 0) != 0 && errno == ESRCH)
		return error_set(err, EXIT_SUBJECT, "the subject's first process, %d, is gone",
				 (int)root);
	tree_adopt(&n->tree, root);
	member_begin(n, root, root);
	netlink_drain(n);
	return 0;
}

/* Until something is there to drain, at most so long. */
static void wait_until(struct netlink *n, uint64_t until_ns)
{
	uint64_t now = clock_monotonic_ns();
	struct epoll_event event;
	if (now < until_ns)
		epoll_wait(n->epoll, &event, 1, (int)((until_ns - now) / 1000000) + 1);
}

static uint64_t netlink_root_end_ns(void *state)
{
	struct netlink *n = state;
	uint64_t until = clock_monotonic_ns() + ROOT_PATIENCE_NS;
	if (!n->connector.socket)
		return 0;
	for (;;) {
		netlink_drain(n);
		if (n->root_end_ns || clock_monotonic_ns() >= until)
			return n->root_end_ns;
		wait_until(n, until);
	}
}

static void netlink_members(void *state, pid_list *pids)
{
	struct netlink *n = state;
	netlink_drain(n);
	if (tree_is_known(n)) {
		for (size_t i = 0; i < n->slots_capacity; i++) {
			const struct slot *s = &n->slots[i];
			if (s->tid && s->member && s->tid == s->tgid && s->living)
				array_push(pids, s->tid);
		}
		return;
	}
	FREED kin_list list = { 0 };
	tree_scan(&n->tree, n->proc, &list);
	for (size_t i = 0; i < list.count; i++)
		if (list.items[i].member)
			array_push(pids, list.items[i].pid);
}

static void netlink_reaped(void *state, pid_t pid, const struct rusage *usage)
{
	struct netlink *n = state;
	if (n->armed_ns && !tree_is_helper(&n->tree, pid))
		totals_add_usage(&n->reaped, usage, pid == n->tree.root);
}

/* The end of an execution */

static void await_exits(struct netlink *n)
{
	uint64_t until = clock_monotonic_ns() + EXITS_PATIENCE_NS;
	for (;;) {
		netlink_drain(n);
		if (n->recorded >= n->ended || clock_monotonic_ns() >= until)
			return;
		wait_until(n, until);
	}
}

/* Without all fork events: a process whose parent is in the tree is in it. */
static void flag_by_parents(struct netlink *n)
{
	FREED kin_list list = { 0 };
	for (size_t i = 0; i < n->exits.count; i++) {
		const struct task_record *t = &n->exits.tasks[i];
		if (t->flags & TASK_IS_LEADER)
			array_push(&list, (struct kin){ t->tgid, t->ppid, is_member(n, t->tgid) });
	}
	tree_scan(&n->tree, n->proc, &list);
	for (size_t i = 0; i < n->exits.count; i++)
		if (tree_has(&list, n->exits.tasks[i].tgid))
			n->exits.tasks[i].flags |= TASK_IS_SUBJECT;
}

/* Gives starts to the records that have none, and leaves out those of tasks which were there before
 * the snapshot was begun but are not in it: they had ended, and what they used in all their life is
 * not of this execution. */
static void settle_starts(struct netlink *n)
{
	uint64_t asleep_ns = clock_boottime_ns() - clock_monotonic_ns();
	size_t kept = 0;
	for (size_t i = 0; i < n->exits.count; i++) {
		struct task_record *t = &n->exits.tasks[i];
		const struct note *note = &n->notes.items[i];
		uint64_t began = t->at_ns > note->lived_ns ? t->at_ns - note->lived_ns : 0;
		if (!note->known_start) {
			if (n->seen_ns && began < n->seen_ns && !(t->flags & TASK_IS_SUBJECT))
				continue;
			t->start_ns = (began + asleep_ns) / PROC_START_NS * PROC_START_NS;
		}
		if (!t->tgid)
			t->tgid = t->tid;
		n->exits.tasks[kept++] = *t;
	}
	n->exits.count = kept;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* known: the tree. whole: the records of all its exits came. */
static void sum_up(struct netlink *n, const struct image *living, bool known, bool whole,
		   struct totals *totals)
{
	*totals = (struct totals){ 0 };
	for (size_t i = 0; i < n->exits.count; i++)
		if (n->exits.tasks[i].flags & TASK_IS_SUBJECT)
			totals_add(totals, &n->exits.tasks[i]);
	for (int m = 0; m < TASK_CUMULATIVE; m++)
		if ((m == TASK_EXEC || !whole) && n->reaped.present >> m & 1 &&
		    n->reaped.value[m] > totals->value[m])
			totals->value[m] = n->reaped.value[m];
	if (!whole) {
		totals->processes = larger(totals->processes, n->reaped.processes);
		totals->threads = larger(totals->threads, n->reaped.threads);
		if (n->reaped.rss_peak_bytes > totals->rss_peak_bytes)
			totals->rss_peak_bytes = n->reaped.rss_peak_bytes;
	}
	for (size_t i = 0; i < living->count; i++) {
		const struct slot *s = slot_find(n, living->tasks[i].tid);
		if (!known || (s && s->alive))
			totals_add(totals, &living->tasks[i]);
	}
	/* wait4() has no raw ticks, and of what it does not tell only a part is known */
	if (!whole)
		totals->present = n->reaped.present &
				  ~(UINT64_C(1) << TASK_USER | UINT64_C(1) << TASK_SYSTEM);
	if (known) {
		totals->processes = n->processes;
		totals->threads = n->threads;
	}
}

static void netlink_finish(void *state, const struct totals *base, struct image *exits,
			   struct totals *totals, uint64_t *lost)
{
	struct netlink *n = state;
	SCOPED(image_release) struct image living = { 0 };
	/* the members that live now, as in a snapshot */
	FREED pid_list pids = { 0 };
	netlink_members(n, &pids);
	for (size_t i = 0; i < pids.count; i++)
		procfs_each_thread(n->proc, pids.items[i], PROCFS_STAT, add_task, &living);
	complete(n, &living);
	await_exits(n);
	/* records whose exit event did not come: of the old leader when another thread called exec,
	 * or all when there is no connector or it lost some */
	for (size_t i = 0; i < n->exits.count; i++) {
		const struct slot *s = slot_find(n, n->exits.tasks[i].tid);
		if (n->notes.items[i].waiting && s && s->member)
			bind_record(n, i, s, n->exits.tasks[i].at_ns);
	}
	bool known = tree_is_known(n);
	if (!known)
		flag_by_parents(n);
	settle_starts(n);
	uint64_t missing = n->ended > n->recorded ? n->ended - n->recorded : 0;
	uint64_t overruns = n->listener.overruns;
	*lost = (missing > overruns ? missing : overruns) + connector_lost(&n->connector);
	/* exits of others may have been lost without harm to the subject's sum */
	bool whole = known ? !missing : !*lost;
	sum_up(n, &living, known, whole, totals);
	totals_subtract(totals, base);
	n->exits.begin_ns = n->armed_ns;
	n->exits.end_ns = clock_monotonic_ns();
	struct image reuse = *exits;
	*exits = n->exits;
	n->exits = reuse;
	n->exits.count = n->notes.count = 0;
	n->armed_ns = 0;
}

const struct backend_ops netlink_backend = {
	.backend = BACKEND_NETLINK,
	.not_seen =
		"without BPF: no ledger, no interrupts, no device time; user and system time by "
		"the tick, no count of read and write calls, and exits of other processes lack up to one tick of CPU time; run as "
		"root (or with CAP_BPF and CAP_PERFMON) on a kernel with BTF to see them",
	.explain = netlink_explain,
	.open = netlink_open,
	.close = netlink_close,
	.snapshot = netlink_snapshot,
	.arm = netlink_arm,
	.adopt = netlink_adopt,
	.listen = netlink_arm,
	.arm_running = netlink_arm_running,
	.fd = netlink_fd,
	.drain = netlink_drain,
	.root_end_ns = netlink_root_end_ns,
	.members = netlink_members,
	.reaped = netlink_reaped,
	.finish = netlink_finish,
};
