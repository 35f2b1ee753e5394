/* Clients that listen for changes, as server-sent events. Private to serve/. A listener needs no
 * thread: its connection is suspended until there is something to send. */
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

/* Operations on a connection that was passed to listener_add(). */
struct events_driver {
	void (*suspend)(void *connection);
	void (*resume)(void *connection);
	bool (*gone)(void *connection); /* the client has hung up */
};

struct events *events_new(const struct serve_source *source, const struct events_driver *driver);
void events_free(struct events *all); /* call it when all listeners are gone */

/* Takes states, which are the current ones. last: the number of the last event that the client saw
 * before its connection broke, or NULL. Returns NULL if there are too many, or the server is
 * stopping. */
struct listener *listener_add(struct events *all, void *connection, struct serve_state *states,
			      size_t count, uint64_t list, const char *last);
void listener_remove(struct events *all, struct listener *l);
/* Up to room bytes to send; 0: none, and the connection was suspended; -1: close it. */
ssize_t listener_read(struct events *all, struct listener *l, char *into, size_t room);

/* Checks for changes and sends them. One thread calls it about twice a second. */
void events_tick(struct events *all);
/* From now on every listener is closed, and none is added. */
void events_close(struct events *all);

#endif
