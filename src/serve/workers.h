/* A few threads that make answers, and a cache of the latest. Private to serve/. If many clients
 * ask the same at once, one answer is made, and the others wait without a thread. */
#ifndef TARE_SERVE_WORKERS_H
#define TARE_SERVE_WORKERS_H

#include "serve/answer.h"
#include "serve/serve.h"

/* A request in progress. Its owner may not touch it from workers_ask() until done() is called. */
struct work {
	struct request request;
	struct request_edit edit; /* for ROUTE_RUN */
	bool gzip;
	void (*done)(struct work *w); /* by any thread, possibly before workers_ask() returns */
	bool (*wanted)(const struct work *w); /* by any thread: somebody still waits for it */
	struct answer
		*answer; /* afterwards the owner's; NULL for ROUTE_EVENTS, which has `states` */
	struct serve_state *states; /* for ROUTE_EVENTS: an entry per run */
	uint64_t list;
	uint64_t asked_at_ns;
	struct work *next;
};

struct workers;

struct workers *workers_start(const struct serve_source *source);
/* False: the workers are stopping, and done() will not be called. */
bool workers_ask(struct workers *all, struct work *w);
/* Answers in progress are finished; requests not yet begun are answered with 503. */
void workers_stop(struct workers *all);
/* The answer to requests that are no longer accepted. */
struct answer *workers_stopping(void);
void workers_free(struct workers *all); /* call it when stopped and nobody asks any more */

#endif
