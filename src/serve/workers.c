#include "serve/workers.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define THREADS 4
#define KEPT 12			/* answers */
#define KEPT_BYTES (64UL << 20) /* all of them */

/* An answer that is kept, or in the making: then `answer` is NULL. */
struct kept {
	char *key;
	struct answer *answer;
	struct work *waiting; /* for it */
	uint64_t used;	      /* when, counted */
};

struct workers {
	const struct serve_source *source;
	pthread_t threads[THREADS];
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t more;
	struct work *first, **end;
	ARRAY(struct kept) kept;
	uint64_t clock;
	bool editing; /* a thread is at it: it may wait long for the lab, and readers must not */
	bool stopping;
};

/* ---- what is kept ---- */

static struct kept *find_kept(struct workers *all, const char *key)
{
	for (size_t i = 0; i < all->kept.count; i++)
		if (strcmp(all->kept.items[i].key, key) == 0)
			return &all->kept.items[i];
	return NULL;
}

static void drop(struct workers *all, struct kept *k)
{
	free(k->key);
	answer_release(k->answer);
	*k = all->kept.items[--all->kept.count];
}

/* Drops what was not used for longest until the rest is few and small enough. */
static void trim(struct workers *all)
{
	for (;;) {
		struct kept *oldest = NULL;
		size_t bytes = 0, count = 0;
		for (size_t i = 0; i < all->kept.count; i++) {
			struct kept *k = &all->kept.items[i];
			if (!k->answer)
				continue;
			bytes += k->answer->length;
			count++;
			if (!oldest || k->used < oldest->used)
				oldest = k;
		}
		if (!oldest || (count <= KEPT && bytes <= KEPT_BYTES))
			return;
		drop(all, oldest);
	}
}

/* ---- one request ---- */

static void finish(struct work *w, struct answer *a)
{
	w->answer = a;
	w->done(w);
}

/* Hands the answer to all who wait for it, and keeps it if it is one. */
static void deliver(struct workers *all, const char *key, struct work *w, struct answer *a)
{
	pthread_mutex_lock(&all->lock);
	struct kept *k = find_kept(all, key);
	struct work *waiting = k->waiting;
	k->waiting = NULL;
	if (a->status == 200)
		k->answer = answer_share(a);
	else
		drop(all, k);
	trim(all);
	pthread_mutex_unlock(&all->lock);
	while (waiting) {
		struct work *next = waiting->next;
		finish(waiting, answer_share(a));
		waiting = next;
	}
	finish(w, a);
}

static void answer_question(struct workers *all, struct work *w)
{
	struct error err = ERROR_INIT;
	uint64_t stamp;
	int status = all->source->stamp(all->source->context, &w->request, &stamp, &err);
	if (status) {
		finish(w, answer_error((unsigned)status, &err));
		return;
	}
	FREED char *asked = request_key(&w->request);
	FREED char *key = xprintf("%" PRIu64 " %d %s", stamp, w->gzip, asked);
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	struct answer *known = NULL;
	bool waits = false;
	pthread_mutex_lock(&all->lock);
	struct kept *k = find_kept(all, key);
	if (k && k->answer) {
		known = answer_share(k->answer);
		k->used = ++all->clock;
	} else if (k) {
		waits = true;
		w->next = k->waiting;
		k->waiting = w;
	} else {
		struct kept fresh = { .key = xstrdup(key), .used = ++all->clock };
		array_push(&all->kept, fresh);
	}
	pthread_mutex_unlock(&all->lock);
	if (known) {
		finish(w, known);
	} else if (!waits) {
		status = all->source->answer(all->source->context, &w->request, &text, &err);
		deliver(all, key, w,
			status ? answer_error((unsigned)status, &err)
			       : answer_new(200, &text, w->gzip));
	}
}

static struct answer *not_made(const char *why)
{
	struct error err = ERROR_INIT;
	request_refuse(503, &err, why, NULL);
	return answer_error(503, &err);
}

struct answer *workers_stopping(void)
{
	return not_made("this server is being stopped");
}

static void work(struct workers *all, struct work *w)
{
	switch (w->request.route) {
	case ROUTE_RUN: {
		struct error err = ERROR_INIT;
		struct strbuf none = { 0 };
		int status = all->source->edit(all->source->context, w->request.runs.items[0],
					       &w->edit, clock_monotonic_ns() - w->asked_at_ns,
					       &err);
		finish(w, status ? answer_error((unsigned)status, &err)
				 : answer_new(204, &none, false));
		break;
	}
	case ROUTE_EVENTS: {
		struct error err = ERROR_INIT;
		size_t count = w->request.runs.count;
		w->states = xcalloc(count + 1, sizeof *w->states);
		for (size_t i = 0; i < count; i++)
			w->states[i].run = w->request.runs.items[i];
		int status =
			all->source->states(all->source->context, w->states, count, &w->list, &err);
		for (size_t i = 0; i < count && !status; i++) {
			if (w->states[i].found)
				continue;
			error_set(&err, EXIT_USAGE, "there is no run %" PRId64 " in the lab",
				  w->states[i].run);
			status = 404;
		}
		finish(w, status ? answer_error((unsigned)status, &err) : NULL);
		break;
	}
	default:
		answer_question(all, w);
	}
}

/* ---- the threads ---- */

/* The next that may be done now; under the lock. Of changes one at a time. */
static struct work *take(struct workers *all)
{
	for (struct work **at = &all->first; *at; at = &(*at)->next) {
		struct work *w = *at;
		if (w->request.writes && all->editing && !all->stopping)
			continue;
		all->editing = all->editing || w->request.writes;
		*at = w->next;
		if (all->end == &w->next)
			all->end = at;
		return w;
	}
	return NULL;
}

static void *run_worker(void *context)
{
	struct workers *all = context;
	pthread_mutex_lock(&all->lock);
	for (;;) {
		struct work *w;
		while (!(w = take(all)) && !all->stopping)
			pthread_cond_wait(&all->more, &all->lock);
		if (!w)
			break;
		bool stopping = all->stopping, writes = w->request.writes;
		pthread_mutex_unlock(&all->lock);
		/* a change is made even if nobody waits for the answer any more */
		bool unwanted = !w->request.writes && !w->wanted(w);
		if (stopping)
			finish(w, workers_stopping());
		else if (unwanted)
			finish(w,
			       not_made("the connection was closed before it was this one's turn"));
		else
			work(all, w);
		pthread_mutex_lock(&all->lock);
		/* if another change waits, this thread is the next to look */
		if (writes)
			all->editing = false;
	}
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

struct workers *workers_start(const struct serve_source *source)
{
	struct workers *all = xcalloc(1, sizeof *all);
	all->source = source;
	all->end = &all->first;
	pthread_mutex_init(&all->lock, NULL);
	pthread_cond_init(&all->more, NULL);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&all->threads[i], NULL, run_worker, all))
			abort(); /* like memory that is exhausted */
	return all;
}

bool workers_ask(struct workers *all, struct work *w)
{
	pthread_mutex_lock(&all->lock);
	bool taken = !all->stopping;
	if (taken) {
		w->next = NULL;
		w->asked_at_ns = clock_monotonic_ns();
		*all->end = w;
		all->end = &w->next;
		pthread_cond_signal(&all->more);
	}
	pthread_mutex_unlock(&all->lock);
	return taken;
}

void workers_stop(struct workers *all)
{
	pthread_mutex_lock(&all->lock);
	all->stopping = true;
	pthread_cond_broadcast(&all->more);
	pthread_mutex_unlock(&all->lock);
	for (int i = 0; i < THREADS; i++)
		pthread_join(all->threads[i], NULL);
}

void workers_free(struct workers *all)
{
	while (all->kept.count)
		drop(all, all->kept.items);
	array_release(&all->kept);
	pthread_mutex_destroy(&all->lock);
	pthread_cond_destroy(&all->more);
	free(all);
}
