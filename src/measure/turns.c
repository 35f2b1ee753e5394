#include "measure/turns.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
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
	const char *group[2];
	int freeze[2], events[2]; /* files */
	bool present[2];
	int active; /* whose turn it is */
	uint64_t since_ns, had_ns[2];
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
	*t = (struct turns){ .cpu = cpu, .period_ns = period_ns };
	if (start_thread(t, err)) {
		free(t);
		return -1;
	}
	*out = t;
	return 0;
}

/* ---- the freezer ---- */

static void close_files(struct turns *t)
{
	for (int i = 0; i < 2; i++) {
		if (t->freeze[i] >= 0)
			close(t->freeze[i]);
		if (t->events[i] >= 0)
			close(t->events[i]);
	}
}

static int open_files(struct turns *t, const struct groups *g, struct error *err)
{
	char path[CGROUP_PATH + 32];
	for (int i = 0; i < 2; i++) {
		t->group[i] = groups_of_subject(g, i);
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

int turns_open_freezer(struct turns **out, const struct groups *g, uint64_t turn_ns,
		       struct error *err)
{
	struct turns *t = xcalloc(1, sizeof *t);
	*t = (struct turns){
		.by_freezer = true, .period_ns = turn_ns, .freeze = { -1, -1 }, .events = { -1, -1 }
	};
	if (open_files(t, g, err) || start_thread(t, err)) {
		close_files(t);
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
		close_files(t);
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
