/* A few threads that make answers, and the last of these: private to serve/. Of many who ask the
 * same at once one has it made, the others wait without keeping a thread. */
#ifndef TARE_SERVE_WORKERS_H
#define TARE_SERVE_WORKERS_H

#include "serve/answer.h"
#include "serve/serve.h"

/* A request at work. Its owner may not touch or free it from workers_ask() until done() is called.
 */
struct work {
	struct request request;
	struct request_edit edit; /* of ROUTE_RUN */
	bool gzip;
	void (*done)(struct work *w); /* by any thread, and maybe before workers_ask() returns */
	bool (*wanted)(const struct work *w); /* by any thread: somebody still waits for it */
	struct answer *answer;	    /* then the owner's; NULL for ROUTE_EVENTS: `states` are */
	struct serve_state *states; /* of ROUTE_EVENTS: an entry per run */
	uint64_t list;
	uint64_t asked_at_ns;
	struct work *next;
};

struct workers;

struct workers *workers_start(const struct serve_source *source);
/* False: it is being stopped, and done() will not be called. */
bool workers_ask(struct workers *all, struct work *w);
/* What is being made is finished first; what is not yet begun is answered with 503. */
void workers_stop(struct workers *all);
/* For those who are not taken any more. */
struct answer *workers_stopping(void);
void workers_free(struct workers *all); /* when it was stopped and nobody asks any more */

#endif
