#include "serve/events.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

#define KEEP_ALIVE_NS UINT64_C(15000000000)
/* A run whose tare was killed ends without a word of it in the lab. */
#define LOOK_ANYWAY_NS UINT64_C(5000000000)
#define UNREAD_MAX 65536 /* bytes: who does not read is left */

struct listener {
	void *connection;
	struct serve_state *states; /* as last told */
	size_t count;
	uint64_t list;
	struct strbuf out;
	size_t sent;
	uint64_t told_at_ns;
	bool suspended, leave;
	struct listener *next, **before;
};

struct events {
	const struct serve_source *source;
	const struct events_driver *driver;
	pthread_mutex_t lock; /* of all below, and of every listener */
	struct listener *first;
	size_t count;
	bool closing;
	uint64_t looked_at_ns; /* only for events_tick() */
};

struct events *events_new(const struct serve_source *source, const struct events_driver *driver)
{
	struct events *all = xcalloc(1, sizeof *all);
	all->source = source;
	all->driver = driver;
	pthread_mutex_init(&all->lock, NULL);
	return all;
}

void events_free(struct events *all)
{
	pthread_mutex_destroy(&all->lock);
	free(all);
}

/* ---- what is told ---- */

/* Stands for all that a listener knows: with it, it asks again when its connection broke. */
static uint64_t number(const struct listener *l)
{
	uint64_t n = l->list;
	for (size_t i = 0; i < l->count; i++)
		n = n * 31 + l->states[i].stamp;
	return n;
}

static void tell_list(struct listener *l)
{
	strbuf_printf(&l->out, "event: runs\ndata: {}\nid: %" PRIx64 "\n\n", number(l));
}

static void tell_run(struct listener *l, const struct serve_state *s)
{
	strbuf_printf(&l->out,
		      "event: change\ndata: {\"run\":%" PRId64
		      ",\"status\":\"%s\",\"stamp\":%" PRIu64 "}\nid: %" PRIx64 "\n\n",
		      s->run, s->found ? s->status : "removed", s->stamp, number(l));
}

/* Under the lock. */
static void wake(struct events *all, struct listener *l)
{
	if (l->out.length - l->sent > UNREAD_MAX)
		l->leave = true;
	if (l->suspended && (l->leave || l->out.length > l->sent)) {
		l->suspended = false;
		all->driver->resume(l->connection);
	}
}

static const struct serve_state *find_state(const struct serve_state *states, size_t count,
					    int64_t run)
{
	for (size_t i = 0; i < count; i++)
		if (states[i].run == run)
			return &states[i];
	return NULL;
}

static void tell_changes(struct listener *l, const struct serve_state *states, size_t count,
			 uint64_t list)
{
	bool list_changed = l->list != list;
	l->list = list;
	for (size_t i = 0; i < l->count; i++) {
		const struct serve_state *now = find_state(states, count, l->states[i].run);
		struct serve_state *was = &l->states[i];
		if (!now || (now->found == was->found && now->stamp == was->stamp))
			continue;
		*was = *now;
		tell_run(l, was);
	}
	if (list_changed)
		tell_list(l);
}

/* ---- listeners ---- */

struct listener *listener_add(struct events *all, void *connection, struct serve_state *states,
			      size_t count, uint64_t list, const char *last)
{
	struct listener *l = xcalloc(1, sizeof *l);
	*l = (struct listener){ .connection = connection,
				.states = states,
				.count = count,
				.list = list,
				.told_at_ns = clock_monotonic_ns() };
	strbuf_printf(&l->out, "retry: 2000\nid: %" PRIx64 "\n\n", number(l));
	if (last && strtoull(last, NULL, 16) != number(l)) {
		for (size_t i = 0; i < count; i++)
			tell_run(l, &states[i]);
		tell_list(l);
	}
	pthread_mutex_lock(&all->lock);
	bool room = !all->closing && all->count < LISTENERS_MAX;
	if (room) {
		l->next = all->first;
		l->before = &all->first;
		if (l->next)
			l->next->before = &l->next;
		all->first = l;
		all->count++;
	}
	pthread_mutex_unlock(&all->lock);
	if (room)
		return l;
	strbuf_release(&l->out);
	free(l->states);
	free(l);
	return NULL;
}

void listener_remove(struct events *all, struct listener *l)
{
	pthread_mutex_lock(&all->lock);
	*l->before = l->next;
	if (l->next)
		l->next->before = l->before;
	all->count--;
	pthread_mutex_unlock(&all->lock);
	strbuf_release(&l->out);
	free(l->states);
	free(l);
}

ssize_t listener_read(struct events *all, struct listener *l, char *into, size_t room)
{
	ssize_t result = 0;
	pthread_mutex_lock(&all->lock);
	size_t ready = l->out.length - l->sent;
	if (l->leave || all->closing) {
		result = -1;
	} else if (ready) {
		size_t n = ready < room ? ready : room;
		memcpy(into, l->out.text + l->sent, n);
		l->sent += n;
		if (n == ready) {
			strbuf_clear(&l->out);
			l->sent = 0;
		}
		result = (ssize_t)n;
	} else {
		/* under the lock, so that whoever resumes it comes after */
		l->suspended = true;
		all->driver->suspend(l->connection);
	}
	pthread_mutex_unlock(&all->lock);
	return result;
}

/* ---- the clock ---- */

void events_tick(struct events *all)
{
	uint64_t now = clock_monotonic_ns();
	pthread_mutex_lock(&all->lock);
	bool anybody = all->first;
	pthread_mutex_unlock(&all->lock);
	if (!anybody)
		return;
	if (all->source->changed(all->source->context) ||
	    now - all->looked_at_ns >= LOOK_ANYWAY_NS) {
		all->looked_at_ns = now;
		struct error none = ERROR_INIT;
		FREED ARRAY(struct serve_state) states = { 0 };
		uint64_t list;
		/* the runs that somebody listens for, each once */
		pthread_mutex_lock(&all->lock);
		for (struct listener *l = all->first; l; l = l->next)
			for (size_t i = 0; i < l->count; i++)
				if (!find_state(states.items, states.count, l->states[i].run))
					array_push(&states,
						   (struct serve_state){ .run = l->states[i].run });
		pthread_mutex_unlock(&all->lock);
		if (!all->source->states(all->source->context, states.items, states.count, &list,
					 &none)) {
			pthread_mutex_lock(&all->lock);
			for (struct listener *l = all->first; l; l = l->next)
				tell_changes(l, states.items, states.count, list);
			pthread_mutex_unlock(&all->lock);
		}
	}
	pthread_mutex_lock(&all->lock);
	for (struct listener *l = all->first; l; l = l->next) {
		if (l->out.length > l->sent) {
			l->told_at_ns = now;
		} else if (now - l->told_at_ns >= KEEP_ALIVE_NS) {
			strbuf_puts(&l->out, ":\n\n");
			l->told_at_ns = now;
		}
		/* nobody else looks at a connection that is suspended */
		l->leave = l->leave || all->driver->gone(l->connection);
		wake(all, l);
	}
	pthread_mutex_unlock(&all->lock);
}

void events_close(struct events *all)
{
	pthread_mutex_lock(&all->lock);
	all->closing = true;
	for (struct listener *l = all->first; l; l = l->next) {
		l->leave = true;
		wake(all, l);
	}
	pthread_mutex_unlock(&all->lock);
}
