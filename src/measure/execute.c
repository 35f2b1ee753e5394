#include "measure/execute.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/interrupt.h"
#include "base/process.h"

#define TERM_PATIENCE_NS 200000000u
#define KILL_PATIENCE_NS 2000000000u
#define GUARD_PATIENCE_NS 1000000000u
#define DRAIN_EVERY_NS 100000000u

enum ending { ENDED, OVER_LIMIT, STOPPED, FAILED };

/* false: nobody writes any more. A writer may be as fast as this reader, so it takes turns with the
 * clock. */
static bool swallow(int fd)
{
	char sink[65536];
	for (int turn = 0; turn < 16; turn++) {
		ssize_t n = fd >= 0 ? read(fd, sink, sizeof sink) : 0;
		if (n <= 0)
			return n < 0 && (errno == EAGAIN || errno == EINTR);
	}
	return true;
}

/* Asleep until the root ends: nothing of tare runs unless the ring fills up or output is piped. */
static enum ending wait_for_end(struct collector *c, const struct command *command,
				uint64_t limit_ns, const struct execute_watch *watch)
{
	struct pollfd fds[] = { { .fd = command->pidfd, .events = POLLIN },
				{ .fd = command->output_fd, .events = POLLIN },
				{ .fd = collector_fd(c), .events = POLLIN },
				{ .fd = watch ? watch->fd : -1, .events = POLLIN } };
	bool takes_turns = collector_backend(c) == BACKEND_NETLINK;
	if (takes_turns)
		fds[2].fd = -1;
	uint64_t until = limit_ns ? clock_monotonic_ns() + limit_ns : 0;
	for (;;) {
		uint64_t now = until ? clock_monotonic_ns() : 0;
		if (until && now >= until)
			return OVER_LIMIT;
		/* At most until the time limit, and with netlink a turn now and then, since its
		 * sockets would wake tare at every fork on the machine. 0: without end. */
		uint64_t left_ns = until ? until - now : 0;
		uint64_t sleep_ns = takes_turns && (!left_ns || left_ns > DRAIN_EVERY_NS)
					    ? DRAIN_EVERY_NS
					    : left_ns;
		struct timespec most = { (time_t)(sleep_ns / 1000000000u),
					 (long)(sleep_ns % 1000000000u) };
		int n = ppoll(fds, 4, sleep_ns ? &most : NULL, interrupt_mask());
		if (interrupted())
			return STOPPED;
		if (n < 0 && errno != EINTR)
			return FAILED;
		if (n > 0 && fds[0].revents)
			return ENDED;
		if (n > 0 && fds[1].revents && !swallow(fds[1].fd))
			fds[1].fd = -1; /* poll ignores it from now on */
		if (takes_turns || (n > 0 && fds[2].revents))
			collector_drain(c);
		if (n > 0 && watch && fds[3].revents && watch->readable(watch->context, c))
			return STOPPED;
	}
}

/* Reaps whatever of the tree has ended: tare is the subreaper of its orphans. */
static void reap(struct collector *c)
{
	struct rusage usage;
	pid_t pid;
	while ((pid = wait4(-1, NULL, WNOHANG, &usage)) > 0)
		collector_reaped(c, pid, &usage);
}

static size_t living(struct collector *c, pid_list *pids)
{
	collector_drain(c);
	reap(c);
	pids->count = 0;
	collector_members(c, pids);
	return pids->count;
}

/* Waits until the tree is empty; the number of processes still there when patience ran out. */
static size_t wait_for_tree(struct collector *c, pid_list *pids, int output_fd,
			    uint64_t patience_ns)
{
	uint64_t until = clock_monotonic_ns() + patience_ns;
	long pause_ns = 50000;
	while (living(c, pids) && clock_monotonic_ns() < until && !interrupted()) {
		swallow(output_fd); /* or they would wait for room in the pipe */
		nanosleep(&(struct timespec){ 0, pause_ns }, NULL);
		if (pause_ns < 5000000)
			pause_ns *= 2;
	}
	return pids->count;
}

/* That of a tare which was the subject, or in it. It ends by itself as soon as it has put back what
 * that one changed. */
static bool is_guard(pid_t pid)
{
	FREED char *name = file_read_proc(pid, "comm");
	return name && strcmp(name, "tare-guard\n") == 0;
}

/* By descriptors, a few at a time, which are opened before it is asked again who belongs to the
 * tree: a number that became another process's meanwhile is not in the second list. */
static void signal_tree(struct collector *c, const pid_list *pids, int number, bool spare_guards)
{
	enum { MOST = 128 };
	int fds[MOST];
	FREED pid_list now = { 0 };
	for (size_t from = 0; from < pids->count; from += MOST) {
		size_t count = pids->count - from < MOST ? pids->count - from : MOST;
		for (size_t i = 0; i < count; i++)
			fds[i] = process_open(pids->items[from + i]);
		living(c, &now);
		for (size_t i = 0; i < count; i++) {
			bool still = false;
			for (size_t k = 0; !still && k < now.count; k++)
				still = now.items[k] == pids->items[from + i];
			if (still && fds[i] >= 0 &&
			    !(spare_guards && is_guard(pids->items[from + i])))
				process_signal(fds[i], number);
			if (fds[i] >= 0)
				close(fds[i]);
		}
	}
}

/* Ends every process of the tree. Each round stops them before it kills them, so that a program
 * that forks without end cannot outrun it. */
static void end_tree(struct collector *c, pid_list *pids)
{
	uint64_t begin = clock_monotonic_ns(), now = begin;
	for (; living(c, pids) && now < begin + KILL_PATIENCE_NS; now = clock_monotonic_ns()) {
		signal_tree(c, pids, SIGSTOP, now < begin + GUARD_PATIENCE_NS);
		signal_tree(c, pids, SIGKILL, now < begin + GUARD_PATIENCE_NS);
		nanosleep(&(struct timespec){ 0, 200000 }, NULL);
	}
}

/* What the root used before its exec: by its own word, and what it cannot know (ticks, I/O) from
 * the snapshot that was taken while it waited at the gate. That record is made the one of its exec,
 * so that what is counted for the process is what is counted for the tree. */
static struct totals used_before_exec(const struct command *command, enum backend backend,
				      struct image *before)
{
	struct rusage used;
	memcpy(&used, (const void *)&command->stamp->used, sizeof used);
	struct totals base = { 0 };
	struct task_record *root = NULL;
	for (size_t i = 0; i < before->count && !root; i++)
		root = before->tasks[i].tid == command->pid ? &before->tasks[i] : NULL;
	for (int m = 0; root && m < TASK_CUMULATIVE; m++)
		base.value[m] = task_has(root, (enum task_measure)m) ? root->value[m] : 0;
	base.present = (UINT64_C(1) << TASK_CUMULATIVE) - 1;
	base.value[TASK_SYSCR]++; /* its last look at its own time on a run queue */
	base.value[TASK_RCHAR] += command->stamp->read_bytes;
	base.value[TASK_EXEC] = command->stamp->cpu_ns;
	base.value[TASK_RUN_DELAY] = command->stamp->run_delay_ns;
	base.value[TASK_MIN_FLT] = (uint64_t)used.ru_minflt;
	base.value[TASK_MAJ_FLT] = (uint64_t)used.ru_majflt;
	base.value[TASK_NVCSW] = (uint64_t)used.ru_nvcsw;
	base.value[TASK_NIVCSW] = (uint64_t)used.ru_nivcsw;
	if (backend == BACKEND_PLAIN) { /* whose totals are rusages as well */
		base.value[TASK_USER] = (uint64_t)used.ru_utime.tv_sec * 1000000000u +
					(uint64_t)used.ru_utime.tv_usec * 1000u;
		base.value[TASK_SYSTEM] = (uint64_t)used.ru_stime.tv_sec * 1000000000u +
					  (uint64_t)used.ru_stime.tv_usec * 1000u;
	}
	if (root) {
		memcpy(root->value, base.value, sizeof base.value);
		root->at_ns = command->stamp->exec_ns;
	}
	return base;
}

static void derive_times(struct execution *x, enum backend backend)
{
	const struct totals *t = &x->totals;
	bool exec = t->present >> TASK_EXEC & 1;
	bool ticks = t->present >> TASK_USER & 1 && t->present >> TASK_SYSTEM & 1;
	uint64_t user = t->value[TASK_USER], both = user + t->value[TASK_SYSTEM];
	const struct ledger *l = &x->ledger;
	x->pt_ns[GRADE_NET] = l->present && l->net ? l->subject.ns[LEDGER_RUN] : ABSENT_NS;
	x->pt_ns[GRADE_EXEC] = exec ? t->value[TASK_EXEC] : ABSENT_NS;
	/* what wait4 and /proc call user and system is exec, scaled: no grade of its own */
	x->pt_ns[GRADE_TICK] = ticks && backend != BACKEND_PLAIN ? both : ABSENT_NS;
	x->user_ns = x->system_ns = ABSENT_NS;
	if (exec && ticks && both) {
		x->user_ns = (uint64_t)((double)t->value[TASK_EXEC] * (double)user / (double)both);
		x->system_ns = t->value[TASK_EXEC] - x->user_ns;
	}
	if (t->present >> TASK_NVCSW & 1 && x->et_ns)
		x->switches_per_s = (double)(t->value[TASK_NVCSW] + t->value[TASK_NIVCSW]) /
				    (double)x->et_ns * 1e9;
}

static void derive_ends(struct execution *x, const struct command *command, uint64_t waited_ns,
			uint64_t root_end_ns)
{
	/* the ledger saw both ends for itself, within a µs of these */
	bool kept = x->ledger.present;
	uint64_t begin = kept ? x->ledger.begin_ns : command->stamp->exec_ns;
	uint64_t end = kept ? x->ledger.end_ns : root_end_ns;
	/* it may begin between the time limit and its being ended */
	x->wait_ns = waited_ns > begin ? waited_ns - begin : 0;
	/* the last switch may come after tare has been told; what tare saw is then the better end
	 */
	x->et_ns = end > begin && end < waited_ns ? end - begin : x->wait_ns;
	ledger_cut(&x->ledger, begin + x->et_ns);
	x->tree_ns = x->et_ns;
	for (size_t i = 0; i < x->exits.count; i++) {
		const struct task_record *t = &x->exits.tasks[i];
		if (t->flags & TASK_IS_SUBJECT && t->at_ns > begin + x->tree_ns)
			x->tree_ns = t->at_ns - begin;
	}
}

/* The single probes are part of a trace. */
static void keep_speed(const struct speed_probe *p, struct trace *t)
{
	struct speed_series s;
	for (size_t i = 0; t->present && speed_probe_series(p, i, &s); i++)
		trace_add_speed(t, s.cpu, s.samples, s.count);
	if (t->present)
		trace_sort(t);
}

/* Gate open to the root's end. */
static int run_timed(struct collector *c, struct command *command, const char *name,
		     const struct execute_options *options, struct execution *x, struct error *err)
{
	overall_read(&x->before);
	uint64_t own = clock_cpu_ns();
	x->started_at_ns = clock_realtime_ns();
	if (options->speed)
		speed_probe_begin(options->speed);
	command_start(command);
	enum ending how = wait_for_end(c, command, options->time_limit_ns, options->watch);
	uint64_t waited_ns = clock_monotonic_ns();
	x->self_ns = clock_cpu_ns() - own;
	overall_read(&x->after);
	if (options->speed)
		speed_probe_end(options->speed, &x->speed);

	int status = 0;
	struct rusage usage;
	if (how != ENDED) {
		if (kill(command->pid, SIGKILL) != 0 && errno == EPERM)
			return error_set(
				err, EXIT_ENVIRONMENT,
				"'%.100s' (process %d) runs as another user and cannot be ended",
				name, (int)command->pid);
		waitid(P_PID, (id_t)command->pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	}
	uint64_t root_end_ns = collector_root_end_ns(c);
	if (wait4(command->pid, &status, 0, &usage) == command->pid)
		collector_reaped(c, command->pid, &usage);
	if (how != ENDED) {
		pid_list pids = { 0 };
		end_tree(c, &pids);
		array_release(&pids);
	}
	if (how == STOPPED)
		return error_set(err, EXIT_INTERRUPTED, "interrupted");
	if (command_started(command, name, err))
		return -1;
	if (!command->stamp->exec_ns)
		return error_set(err, EXIT_SUBJECT,
				 how == OVER_LIMIT
					 ? "'%.100s' did not get to run: its time limit was over "
					   "while its input or output was being opened"
					 : "'%.100s' did not get to run: it was ended while its "
					   "input or output was being opened",
				 name);
	x->outcome = how == OVER_LIMIT	   ? OUTCOME_TIMED_OUT
		     : WIFSIGNALED(status) ? OUTCOME_SIGNALLED
					   : OUTCOME_EXITED;
	x->status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	pid_list pids = { 0 };
	x->left_behind = (uint32_t)living(c, &pids);
	if (x->left_behind && options->orphans == ORPHANS_END) {
		FREED ARRAY(int) guarded = { 0 };
		/* without a group the guard only finds those that have a parent */
		for (size_t i = 0; guard_subjects() < 0 && i < pids.count; i++)
			array_push(&guarded, guard_process(pids.items[i], 0));
		x->ended = (uint32_t)wait_for_tree(c, &pids, command->output_fd, options->grace_ns);
		if (x->ended) {
			signal_tree(c, &pids, SIGTERM, true);
			if (wait_for_tree(c, &pids, command->output_fd, TERM_PATIENCE_NS))
				end_tree(c, &pids);
		}
		array_each(g, &guarded)
			guard_release(*g);
	}
	reap(c); /* those that ended since the last look */
	array_release(&pids);
	struct totals base = used_before_exec(command, collector_backend(c), &x->tasks_before);
	if (options->counters)
		counters_end(options->counters, &x->counters);
	collector_finish(c, &base, &x->exits, &x->totals, &x->lost);
	collector_take_ledger(c, &x->ledger, &x->trace);
	if (options->speed)
		keep_speed(options->speed, &x->trace);
	int failed = collector_snapshot(c, &x->tasks_after, err);
	derive_ends(x, command, waited_ns, root_end_ns);
	return failed;
}

/* Counting begins within the exec. On a slow machine that takes long. */
#define EXEC_MOST_NS 10000000u

/* The kernel ends the events of a process that gains rights by its exec, the first one or any other
 * of the tree. What was counted of the rest is not the count of the subject. */
static void forget_unfollowed(struct execution *x)
{
	enum grade g = execution_grade(x);
	uint64_t pt_ns = g <= GRADE_EXEC ? x->pt_ns[g] : 0;
	uint64_t most_ns = pt_ns / 10 > EXEC_MOST_NS ? pt_ns / 10 : EXEC_MOST_NS;
	array_each(n, &x->counters)
		if (pt_ns > n->enabled_ns &&
		    (pt_ns - n->enabled_ns > most_ns || n->enabled_ns < pt_ns / 4)) {
			n->value = n->user = n->kernel = -1;
			n->running_ns = 0;
		}
}

static void abandon(struct collector *c, struct execution *x)
{
	struct totals none = { 0 };
	collector_finish(c, &none, &x->exits, &x->totals, &x->lost);
}

int execute(struct collector *c, struct launcher *l, const struct launch *launch, char *const *argv,
	    const struct execute_options *options, struct execution *x, struct error *err)
{
	struct command command;
	execution_begin_again(x);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		; /* what a hook left behind is not the subject's */
	collector_arm(c);
	if (command_spawn(l, launch, argv, &command, err)) {
		abandon(c, x);
		return -1;
	}
	const struct execute_watch *watch = options->watch;
	if (options->counters)
		counters_begin(options->counters, command.pid);
	int failed = collector_adopt(c, command.pid, err) ||
		     collector_snapshot(c, &x->tasks_before, err) ||
		     (watch && watch->at_gate(watch->context, command.pid, err));
	if (failed) {
		kill(command.pid, SIGKILL);
		waitpid(command.pid, NULL, 0);
	} else {
		failed = run_timed(c, &command, argv[0], options, x, err);
	}
	command_release(&command);
	if (failed) {
		if (options->counters)
			counters_end(options->counters, NULL);
		abandon(c, x);
		return -1;
	}
	processes_between(&x->tasks_before, &x->tasks_after, &x->exits, getpid(), x);
	derive_times(x, collector_backend(c));
	forget_unfollowed(x);
	return 0;
}

int hook_execute(struct launcher *l, const struct launch *launch, char *const *argv, int *status,
		 struct error *err)
{
	struct command command;
	if (command_spawn(l, launch, argv, &command, err))
		return -1;
	command_start(&command);
	struct pollfd ended = { .fd = command.pidfd, .events = POLLIN };
	while (!interrupted() && ppoll(&ended, 1, NULL, interrupt_mask()) != 1)
		;
	bool cut = interrupted();
	if (cut) {
		kill(command.pid, SIGTERM);
		if (poll(&ended, 1, TERM_PATIENCE_NS / 1000000) == 0)
			kill(command.pid, SIGKILL);
	}
	while (waitpid(command.pid, status, 0) < 0 && errno == EINTR)
		;
	if (cut) {
		/* What an interrupted hook had started is now tare's own child, and between
		 * executions tare has no others: all of them are ended. */
		uint64_t until = clock_monotonic_ns() + KILL_PATIENCE_NS;
		char path[64];
		snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
		while (clock_monotonic_ns() < until) {
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
			char *list = file_read(path), *at = list, *next;
			bool any = false;
			for (long pid; at && (pid = strtol(at, &next, 10)) > 0; at = next)
				any |= kill((pid_t)pid, SIGKILL) == 0;
			free(list);
			if (!any)
				break;
			nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
		}
	}
	int failed = cut ? error_set(err, EXIT_INTERRUPTED, "interrupted")
			 : command_started(&command, argv[0], err);
	command_release(&command);
	return failed;
}
