#include "subject/dbms/worker.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"

#define NS_PER_S 1000000000u
#define ASK_NS 50000000u    /* wait->stop is asked at least every 100 ms */
#define CANCEL_NS 10000000u /* between two calls of cancel */

struct worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	worker_fn work; /* NULL: none to do */
	void *context;
	bool ending;
	pid_t tid; /* 0: has not begun */
	char name[16];
};

static void *live(void *context)
{
	struct worker *w = context;
	pthread_setname_np(pthread_self(), w->name);
	pthread_mutex_lock(&w->lock);
	w->tid = gettid();
	pthread_cond_broadcast(&w->changed);
	for (;;) {
		while (!w->work && !w->ending)
			pthread_cond_wait(&w->changed, &w->lock);
		if (!w->work)
			break;
		pthread_mutex_unlock(&w->lock);
		w->work(w->context);
		pthread_mutex_lock(&w->lock);
		w->work = NULL;
		pthread_cond_broadcast(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void free_worker(struct worker *w)
{
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	xfree(w);
}

int worker_start(struct worker **out, const char *name, struct error *err)
{
	struct worker *w = xcalloc(1, sizeof *w);
	strncpy(w->name, name, sizeof w->name - 1);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failed = pthread_create(&w->thread, NULL, live, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed) {
		free_worker(w);
		return error_set(err, EXIT_ENVIRONMENT, "cannot make a thread for queries: %s",
				 strerror(failed));
	}
	pthread_mutex_lock(&w->lock);
	while (!w->tid)
		pthread_cond_wait(&w->changed, &w->lock);
	pthread_mutex_unlock(&w->lock);
	*out = w;
	return 0;
}

void worker_stop(struct worker *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->ending = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	free_worker(w);
}

pid_t worker_tid(const struct worker *w)
{
	return w->tid;
}

/* With the lock held: until the work is done or this instant is there. */
static void wait_until(struct worker *w, uint64_t at_ns)
{
	struct timespec at = { (time_t)(at_ns / NS_PER_S), (long)(at_ns % NS_PER_S) };
	while (w->work && !pthread_cond_clockwait(&w->changed, &w->lock, CLOCK_MONOTONIC, &at))
		;
}

static enum worker_end judge(const struct dbms_wait *wait, uint64_t begin_ns, uint64_t now_ns)
{
	if (wait->stop && wait->stop(wait->context))
		return WORKER_STOPPED;
	if (wait->limit_ns && now_ns - begin_ns >= wait->limit_ns)
		return WORKER_LIMIT;
	return WORKER_DONE;
}

static uint64_t next_look(const struct dbms_wait *wait, uint64_t begin_ns, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - begin_ns;
	if (wait->limit_ns && wait->limit_ns - passed_ns < ASK_NS)
		return begin_ns + wait->limit_ns;
	return now_ns + ASK_NS;
}

enum worker_end worker_run(struct worker *w, worker_fn work, worker_fn cancel, void *context,
			   const struct dbms_wait *wait)
{
	enum worker_end end = WORKER_DONE;
	uint64_t begin_ns = clock_monotonic_ns(), now_ns = begin_ns;
	pthread_mutex_lock(&w->lock);
	w->context = context;
	w->work = work;
	pthread_cond_broadcast(&w->changed);
	while (w->work && end == WORKER_DONE) {
		wait_until(w, next_look(wait, begin_ns, now_ns));
		if (!w->work)
			break;
		pthread_mutex_unlock(&w->lock);
		now_ns = clock_monotonic_ns();
		end = judge(wait, begin_ns, now_ns);
		pthread_mutex_lock(&w->lock);
	}
	while (w->work) {
		pthread_mutex_unlock(&w->lock);
		cancel(context);
		pthread_mutex_lock(&w->lock);
		wait_until(w, clock_monotonic_ns() + CANCEL_NS);
	}
	pthread_mutex_unlock(&w->lock);
	return end;
}
