/* Those who listen for changes, as server-sent events: private to serve/. A listener keeps no
 * thread: its connection is suspended until there is something to tell. */
#ifndef TARE_SERVE_EVENTS_H
#define TARE_SERVE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "serve/serve.h"

#define LISTENERS_MAX 256

struct events;
struct listener;

/* Of a connection, as it was given to listener_add(). */
struct events_driver {
	void (*suspend)(void *connection);
	void (*resume)(void *connection);
	bool (*gone)(void *connection); /* whoever listened has hung up */
};

struct events *events_new(const struct serve_source *source, const struct events_driver *driver);
void events_free(struct events *all); /* when all listeners are gone */

/* Takes states, which are those of now. last: the number of the last event that it saw, before its
 * connection broke, or NULL. NULL: there are too many, or the end is near. */
struct listener *listener_add(struct events *all, void *connection, struct serve_state *states,
			      size_t count, uint64_t list, const char *last);
void listener_remove(struct events *all, struct listener *l);
/* Up to room bytes to send; 0: none, and the connection was suspended; -1: it is to be closed. */
ssize_t listener_read(struct events *all, struct listener *l, char *into, size_t room);

/* Looks for changes and tells of them; by one thread, twice a second or so. */
void events_tick(struct events *all);
/* From now on every listener is to be closed, and none is added. */
void events_close(struct events *all);

#endif
