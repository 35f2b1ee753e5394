/* One execution: asks, waits, fetches every row and keeps none.
 *
 * Rows come in libpq's single-row mode. Without it libpq keeps the whole result, so that 10^7 rows
 * would take gigabytes and the allocating would be timed as the query's; a cursor (FETCH 1000)
 * would have bounded memory too, but is another query: planned for its first rows, never parallel,
 * and with a round trip for each portion. Single-row mode adds 35 ns a row, measured over 10^6
 * rows, in the client, which is another process than the query's. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "subject/dbms/postgresql/postgresql.h"

#define MS UINT64_C(1000000)
#define STOP_EVERY_NS (80 * MS)
/* A worker lives as long as its Gather, so that looks may be the rarer the longer the query has
 * run: one that lived for less than 2 % of it may be missed. Once all planned ones were seen, more
 * come only where a Gather is started again. A look takes some 50 us. */
#define LOOK_SHARE 50
#define LOOK_SOONEST_NS (2 * MS)
#define LOOK_LATEST_NS (50 * MS)
#define CANCEL_PATIENCE_NS (60000 * MS)

enum cancelled { CANCELLED_NOT, CANCELLED_BY_LIMIT, CANCELLED_BY_STOP };

/* ---- one execution ---- */

struct fetch {
	struct postgresql *s;
	const struct dbms_wait *wait;
	struct dbms_execution *x;
	uint64_t limit_at_ns, stop_at_ns, look_at_ns; /* UINT64_MAX: never */
	enum cancelled cancelled;
	PGresult *error; /* the first one */
};

static void cancel(struct fetch *f, enum cancelled why, uint64_t now)
{
	char reason[256];
	PGcancel *request = f->s->pq->PQgetCancel(f->s->connection);
	if (request)
		f->s->pq->PQcancel(request, reason, sizeof reason);
	f->s->pq->PQfreeCancel(request);
	f->cancelled = why;
	/* from now on the limit of the answer to that */
	f->limit_at_ns = now + CANCEL_PATIENCE_NS;
	f->stop_at_ns = UINT64_MAX;
}

static int wait_ms(const struct fetch *f, uint64_t now)
{
	uint64_t next = now + 100 * MS;
	next = f->limit_at_ns < next ? f->limit_at_ns : next;
	next = f->stop_at_ns < next ? f->stop_at_ns : next;
	next = f->look_at_ns < next ? f->look_at_ns : next;
	return next > now ? (int)((next - now + MS - 1) / MS) : 0;
}

/* Until there is something to take, or something is due. -1: the connection is gone. */
static int await_input(struct fetch *f, struct error *err)
{
	struct postgresql *s = f->s;
	uint64_t now = clock_monotonic_ns();
	if (now >= f->look_at_ns) {
		uint64_t after = (now - f->x->begin_ns) / LOOK_SHARE;
		postgresql_look(f->s);
		if (after < LOOK_SOONEST_NS)
			after = LOOK_SOONEST_NS;
		bool all = f->s->workers_planned > 0 &&
			   (int64_t)f->s->workers.count >= f->s->workers_planned;
		if (after > LOOK_LATEST_NS || all)
			after = LOOK_LATEST_NS;
		f->look_at_ns = now + after;
	}
	if (now >= f->stop_at_ns) {
		f->stop_at_ns = now + STOP_EVERY_NS;
		if (f->wait->stop(f->wait->context))
			cancel(f, CANCELLED_BY_STOP, now);
	}
	if (now >= f->limit_at_ns) {
		if (f->cancelled) {
			s->lost = true;
			return error_set(err, EXIT_SUBJECT,
					 "PostgreSQL: no answer to a cancelled query within %llu s",
					 (unsigned long long)(CANCEL_PATIENCE_NS / (1000 * MS)));
		}
		cancel(f, CANCELLED_BY_LIMIT, now);
	}
	struct pollfd fd = { .fd = s->pq->PQsocket(s->connection), .events = POLLIN };
	if (poll(&fd, 1, wait_ms(f, now)) > 0 && !s->pq->PQconsumeInput(s->connection))
		return postgresql_failed(s, NULL, err);
	return 0;
}

/* Takes the result over. */
static int take(struct fetch *f, PGresult *r, struct error *err)
{
	struct postgresql *s = f->s;
	switch (s->pq->PQresultStatus(r)) {
	case PGRES_SINGLE_TUPLE:
		f->x->rows++;
		break;
	case PGRES_TUPLES_OK:
	case PGRES_COMMAND_OK:
	case PGRES_EMPTY_QUERY:
		break;
	case PGRES_COPY_IN:
	case PGRES_COPY_OUT:
	case PGRES_COPY_BOTH:
		s->pq->PQclear(r);
		s->lost = true; /* it would go on copying */
		return error_set(err, EXIT_USAGE, "a COPY from or to the client is no query");
	default:
		if (!f->error) {
			f->error = r;
			return 0;
		}
	}
	s->pq->PQclear(r);
	return 0;
}

static int fetch_all(struct fetch *f, struct error *err)
{
	const struct libpq *pq = f->s->pq;
	for (;;) {
		if (pq->PQisBusy(f->s->connection)) {
			if (await_input(f, err))
				return -1;
			continue;
		}
		PGresult *r = pq->PQgetResult(f->s->connection);
		if (!r)
			return 0;
		if (take(f, r, err))
			return -1;
	}
}

static int judge(const struct fetch *f, struct error *err)
{
	const char *state = f->error ? f->s->pq->PQresultErrorField(f->error, PG_DIAG_SQLSTATE)
				     : NULL;
	bool by_us = f->cancelled && state && strcmp(state, "57014") == 0;
	if (f->error && !by_us)
		return postgresql_failed(f->s, f->error, err);
	if (f->cancelled == CANCELLED_BY_STOP)
		return error_set(err, EXIT_INTERRUPTED, "interrupted");
	f->x->timed_out = by_us;
	return 0;
}

/* Looks for workers where the plan has some, or nobody asked for it: asking the server now would be
 * measured. */
static uint64_t first_look(struct postgresql *s, bool ends_are_told)
{
	s->workers.count = s->others.count = 0;
	if (s->workers_planned == 0 || !s->postmaster || ends_are_told)
		return UINT64_MAX;
	postgresql_look(s);
	return 0;
}

int postgresql_execute(void *state, const struct dbms_wait *wait, struct dbms_execution *x,
		       struct error *err)
{
	struct postgresql *s = state;
	if (postgresql_is_prepared(s, err))
		return -1;
	*x = (struct dbms_execution){ 0 };
	struct fetch f = { .s = s, .wait = wait, .x = x };
	f.look_at_ns = first_look(s, wait->ends_are_told);
	x->begin_ns = clock_monotonic_ns();
	f.limit_at_ns = wait->limit_ns ? x->begin_ns + wait->limit_ns : UINT64_MAX;
	f.stop_at_ns = wait->stop ? x->begin_ns + STOP_EVERY_NS : UINT64_MAX;
	if (!s->pq->PQsendQueryPrepared(s->connection, POSTGRESQL_STATEMENT, 0, NULL, NULL, NULL,
					0))
		return postgresql_failed(s, NULL, err);
	s->pq->PQsetSingleRowMode(s->connection);
	int failed = fetch_all(&f, err);
	x->end_ns = clock_monotonic_ns();
	if (!failed)
		failed = judge(&f, err);
	s->pq->PQclear(f.error);
	return failed;
}
