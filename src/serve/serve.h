/* A lab over HTTP, for a browser on this machine. It checks requests, makes answers in a few
 * threads, caches the latest, and notifies listeners of changes. The caller supplies the
 * answers. */
#ifndef TARE_SERVE_SERVE_H
#define TARE_SERVE_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "serve/request.h"

struct serve_state {
	int64_t run;	    /* set by the caller */
	bool found;	    /* otherwise the rest is not set */
	const char *status; /* static */
	uint64_t stamp;	    /* below 2^53; it changes when the stored data of the run do */
};

/* All functions except `changed` may be called by several threads at once. Those that return int
 * return 0, or the HTTP status with err set. */
struct serve_source {
	void *context;
	/* The answer to `GET /`; called once. */
	void (*page)(void *context, struct strbuf *out);
	/* The answer as JSON, and a number that changes when the answer would. */
	int (*answer)(void *context, const struct request *r, struct strbuf *out,
		      struct error *err);
	int (*stamp)(void *context, const struct request *r, uint64_t *stamp, struct error *err);
	/* NULL members stay unchanged. waited_ns: since the request came. */
	int (*edit)(void *context, int64_t run, const struct request_edit *edit, uint64_t waited_ns,
		    struct error *err);
	/* Fills in the states of these runs, and a stamp of the list of runs. */
	int (*states)(void *context, struct serve_state *states, size_t count, uint64_t *list,
		      struct error *err);
	/* Whether something may have been stored since the last call; cheap. By one thread. */
	bool (*changed)(void *context);
	/* Called once, when the port is open and before threads are started, to give up rights that
	 * the others do not need; may be NULL. */
	void (*confine)(void *context);
};

struct serve_options {
	struct request_place place; /* port 0: any free one */
	const char *token;
	bool read_only;
};

struct server;

/* EXIT_ENVIRONMENT if this build lacks it, the library is missing, or the port is taken. The source
 * must outlive the server. Signals that are blocked in the caller are blocked in all threads of the
 * server. */
int serve_start(struct server **out, const struct serve_options *o,
		const struct serve_source *source, struct error *err);
uint16_t serve_port(const struct server *s);
void serve_stop(struct server *s); /* NULL is fine */

#endif
