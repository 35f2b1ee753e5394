#include "measure/turns.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/schedule.h"
#include "stats/random.h"

#define PRIORITY 20
#define WAKER_SLICE_NS 100000u
/* A thread freezes when it returns from the kernel; one that does not within this time is left. */
#define FREEZE_LOOKS 40
#define FREEZE_PAUSE_NS 50000

struct turns {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool running, closing, exact, ready;
	bool by_freezer;
	int cpu;
	uint64_t period_ns; /* of the wake-ups, or a turn's length */
	/* the freezer's */
	char parent[96], group[2][128];
	int freeze[2], events[2]; /* files */
	bool present[2];
	int active; /* whose turn it is */
	uint64_t since_ns, had_ns[2];
	int guard_pipe;
	pid_t guard;
};

/* ---- the thread ---- */

static void sleep_until(uint64_t at_ns)
{
	const struct timespec at = { (time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u) };
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void set_frozen(const struct turns *t, int subject, bool frozen)
{
	if (pwrite(t->freeze[subject], frozen ? "1" : "0", 1, 0) != 1)
		return; /* it has no process left: nothing to freeze */
	char text[64];
	const struct timespec pause = { 0, FREEZE_PAUSE_NS };
	for (int i = 0; frozen && i < FREEZE_LOOKS; i++) {
		ssize_t n = pread(t->events[subject], text, sizeof text - 1, 0);
		text[n > 0 ? n : 0] = '\0';
		if (strstr(text, "frozen 1") || strstr(text, "populated 0"))
			break;
		/* sleeping: its threads may need this CPU to get where they freeze */
		nanosleep(&pause, NULL);
	}
}

/* With the lock held. */
static void give_turn(struct turns *t, int to)
{
	uint64_t now = clock_monotonic_ns();
	if (to == t->active) {
		t->had_ns[to] += now - t->since_ns;
		t->since_ns = now;
		return;
	}
	set_frozen(t, t->active, true);
	now = clock_monotonic_ns();
	t->had_ns[t->active] += now - t->since_ns;
	set_frozen(t, to, false);
	t->active = to;
	t->since_ns = clock_monotonic_ns();
}

static void *keep_turns(void *context)
{
	struct turns *t = context;
	prctl(PR_SET_NAME, "tare-turns");
	prctl(PR_SET_TIMERSLACK, 1);
	if (!t->by_freezer)
		schedule_pin(t->cpu);
	t->exact = schedule_set_fifo(PRIORITY);
	if (!t->exact)
		schedule_set_slice(0, WAKER_SLICE_NS);
	pthread_mutex_lock(&t->lock);
	t->ready = true;
	pthread_cond_broadcast(&t->change);
	uint64_t next = 0;
	struct random random = { clock_monotonic_ns() };
	while (!t->closing) {
		if (!t->running) {
			pthread_cond_wait(&t->change, &t->lock);
			next = clock_monotonic_ns();
			continue;
		}
		uint64_t now = clock_monotonic_ns();
		/* Turns of equal length would be in step with the ticks of the kernel and of the
		 * host, which then always hit the same side. What was missed while the host had the
		 * CPU is not made up for. */
		uint64_t length = t->period_ns / 2 + random_below(&random, (size_t)t->period_ns);
		next = next + length > now ? next + length : now + length;
		pthread_mutex_unlock(&t->lock);
		sleep_until(next);
		pthread_mutex_lock(&t->lock);
		if (t->running && t->by_freezer) {
			int other = !t->active;
			give_turn(t, t->present[other] ? other : t->active);
		}
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

static int start_thread(struct turns *t, struct error *err)
{
	pthread_condattr_t attr;
	pthread_mutexattr_t inherit;
	pthread_condattr_init(&attr);
	pthread_mutexattr_init(&inherit);
	/* the thread has a priority, its caller has not */
	pthread_mutexattr_setprotocol(&inherit, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&t->lock, &inherit);
	pthread_cond_init(&t->change, &attr);
	pthread_mutexattr_destroy(&inherit);
	pthread_condattr_destroy(&attr);
	int failed = pthread_create(&t->thread, NULL, keep_turns, t);
	if (failed)
		return error_set(err, EXIT_ENVIRONMENT, "cannot start a thread: %s",
				 strerror(failed));
	pthread_mutex_lock(&t->lock);
	while (!t->ready)
		pthread_cond_wait(&t->change, &t->lock);
	pthread_mutex_unlock(&t->lock);
	return 0;
}

int turns_open_scheduler(struct turns **out, int cpu, uint64_t period_ns, struct error *err)
{
	struct turns *t = xcalloc(1, sizeof *t);
	*t = (struct turns){ .cpu = cpu, .period_ns = period_ns, .guard_pipe = -1 };
	if (start_thread(t, err)) {
		free(t);
		return -1;
	}
	*out = t;
	return 0;
}

/* ---- control groups ---- */

/* Where cgroup v2 is mounted, alone or beside v1. */
static bool find_mount(char *into, size_t size)
{
	FILE *f = setmntent("/proc/self/mounts", "r");
	struct mntent *m;
	bool found = false;
	while (f && !found && (m = getmntent(f))) {
		found = strcmp(m->mnt_type, "cgroup2") == 0 && strlen(m->mnt_dir) < size;
		if (found)
			snprintf(into, size, "%s", m->mnt_dir);
	}
	if (f)
		endmntent(f);
	return found;
}

static void write_text(const char *folder, const char *name, const char *text)
{
	char path[192];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	CLOSED int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		return;
}

/* Thaws, ends and removes a group; async-signal-safe enough for the guard, which has no other
 * threads. */
static void clear_group(const char *group)
{
	char path[192];
	for (int i = 0; i < 200; i++) {
		write_text(group, "cgroup.kill", "1"); /* Linux 5.14; also of frozen ones */
		write_text(group, "cgroup.freeze", "0");
		snprintf(path, sizeof path, "%s/cgroup.procs", group);
		char *pids = file_read(path), *at = pids, *next;
		for (long pid; at && (pid = strtol(at, &next, 10)) > 0; at = next)
			kill((pid_t)pid, SIGKILL);
		free(pids);
		if (rmdir(group) == 0 || errno == ENOENT)
			return;
		nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
	}
}

/* Waits in a process of its own until tare is gone, however it went, and then clears the groups:
 * nobody else would thaw what is frozen. */
static void start_guard(struct turns *t)
{
	int ends[2];
	t->guard_pipe = -1;
	if (pipe2(ends, O_CLOEXEC))
		return;
	t->guard = fork();
	if (t->guard == 0) {
		setsid();
		prctl(PR_SET_NAME, "tare-guard");
		for (int s = 1; s < NSIG; s++)
			signal(s, SIG_IGN);
		/* it must not keep a terminal or a pipe of tare's open */
		for (int fd = 0; fd < 1024; fd++)
			if (fd != ends[0])
				close(fd);
		char end;
		while (read(ends[0], &end, 1) < 0 && errno == EINTR)
			;
		for (int i = 0; i < 2; i++)
			clear_group(t->group[i]);
		rmdir(t->parent);
		_exit(0);
	}
	close(ends[0]);
	t->guard_pipe = ends[1];
}

static void close_freezer(struct turns *t)
{
	for (int i = 0; i < 2; i++) {
		if (t->freeze[i] >= 0)
			close(t->freeze[i]);
		if (t->events[i] >= 0)
			close(t->events[i]);
		if (*t->group[i])
			clear_group(t->group[i]);
	}
	if (*t->parent)
		rmdir(t->parent);
	if (t->guard_pipe >= 0)
		close(t->guard_pipe);
	if (t->guard > 0)
		while (waitpid(t->guard, NULL, 0) < 0 && errno == EINTR)
			;
}

static int open_groups(struct turns *t, struct error *err)
{
	char mount[64], path[192];
	if (!find_mount(mount, sizeof mount))
		return error_set(err, EXIT_ENVIRONMENT, "no cgroup v2 is mounted");
	snprintf(t->parent, sizeof t->parent, "%s/tare-%d", mount, (int)getpid());
	if (mkdir(t->parent, 0755)) {
		error_errno(err, EXIT_ENVIRONMENT, "cannot make a control group in %s", mount);
		*t->parent = '\0';
		return -1;
	}
	for (int i = 0; i < 2; i++)
		snprintf(t->group[i], sizeof t->group[i], "%s/%d", t->parent, i);
	start_guard(t);
	for (int i = 0; i < 2; i++) {
		if (mkdir(t->group[i], 0755))
			return error_errno(err, EXIT_ENVIRONMENT, "cannot make a control group");
		snprintf(path, sizeof path, "%s/cgroup.freeze", t->group[i]);
		t->freeze[i] = open(path, O_WRONLY | O_CLOEXEC);
		snprintf(path, sizeof path, "%s/cgroup.events", t->group[i]);
		t->events[i] = open(path, O_RDONLY | O_CLOEXEC);
		if (t->freeze[i] < 0 || t->events[i] < 0)
			return error_errno(err, EXIT_ENVIRONMENT,
					   "this kernel's control groups have no freezer");
	}
	return 0;
}

int turns_open_freezer(struct turns **out, uint64_t turn_ns, struct error *err)
{
	struct turns *t = xcalloc(1, sizeof *t);
	*t = (struct turns){ .by_freezer = true,
			     .period_ns = turn_ns,
			     .freeze = { -1, -1 },
			     .events = { -1, -1 },
			     .guard_pipe = -1 };
	/* the guard is forked before there is a thread */
	if (open_groups(t, err) || start_thread(t, err)) {
		close_freezer(t);
		free(t);
		return -1;
	}
	*out = t;
	return 0;
}

void turns_close(struct turns *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->closing = true;
	pthread_cond_broadcast(&t->change);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	if (t->by_freezer)
		close_freezer(t);
	pthread_cond_destroy(&t->change);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* ---- while it goes on ---- */

bool turns_exact(const struct turns *t)
{
	return t->exact;
}

const char *turns_group(const struct turns *t, int subject)
{
	return t && t->by_freezer ? t->group[subject] : "";
}

void turns_begin(struct turns *t)
{
	pthread_mutex_lock(&t->lock);
	t->running = true;
	if (t->by_freezer) {
		t->present[0] = t->present[1] = true;
		set_frozen(t, !t->active, true);
		set_frozen(t, t->active, false);
		t->since_ns = clock_monotonic_ns();
	}
	pthread_cond_broadcast(&t->change);
	pthread_mutex_unlock(&t->lock);
}

void turns_set_present(struct turns *t, int subject, bool present)
{
	pthread_mutex_lock(&t->lock);
	t->present[subject] = present;
	if (t->by_freezer && t->running && !present && t->active == subject && t->present[!subject])
		give_turn(t, !subject);
	pthread_mutex_unlock(&t->lock);
}

void turns_end(struct turns *t)
{
	pthread_mutex_lock(&t->lock);
	t->running = false;
	if (t->by_freezer) {
		t->had_ns[t->active] += clock_monotonic_ns() - t->since_ns;
		t->since_ns = clock_monotonic_ns();
		for (int i = 0; i < 2; i++)
			set_frozen(t, i, false);
	}
	pthread_mutex_unlock(&t->lock);
}

uint64_t turns_had_ns(struct turns *t, int subject)
{
	pthread_mutex_lock(&t->lock);
	uint64_t had = t->had_ns[subject];
	if (t->running && t->active == subject)
		had += clock_monotonic_ns() - t->since_ns;
	pthread_mutex_unlock(&t->lock);
	return had;
}
