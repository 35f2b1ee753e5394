/* The query. It is sent as a plain statement: MariaDB optimizes a prepared one anew at each
 * execution all the same, but with the changes of the first execution already in it, so EXPLAIN of
 * the text would not be sure to tell its plan. Parsing, which preparing would save, takes
 * microseconds. */
#include <mysqld_error.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "subject/dbms/mariadb/plan.h"
#include "subject/dbms/mariadb/private.h"

#define MS 1000000ull

enum { CANNOT_PREPARE = ER_UNSUPPORTED_PS, NOTE_OF_REWRITTEN = ER_YES };

enum {
	ASK_MS = 50,	      /* how often the caller may stop it */
	CANCELLED_MS = 10000, /* the server has so long to obey */
	ROWS_UNASKED =
		1024, /* rows between two looks at the clock when there is nothing to wait for */
};

/* ---- preparing ---- */

/* The statement as the optimizer has it, where tables have their own names beside the aliases; the
 * plan has only the latter. A server that does not tell is no error. */
static int learn_written(struct mariadb *m, struct error *err)
{
	SCOPED(strbuf_release) struct strbuf sql = { 0 };
	struct error unsaid = ERROR_INIT;
	strbuf_printf(&sql, "EXPLAIN EXTENDED %s", m->sql);
	MYSQL_RES *result = NULL;
	if (mariadb_ask(m, sql.text, &result, &unsaid) == 0) {
		m->lib->mysql_free_result(result);
		result = NULL;
		if (mariadb_ask(m, "SHOW WARNINGS", &result, &unsaid) == 0) {
			MYSQL_ROW row;
			while ((row = m->lib->mysql_fetch_row(result)) && !m->written)
				if (row[1] && row[2] &&
				    strtol(row[1], NULL, 10) == NOTE_OF_REWRITTEN)
					m->written = xstrdup(row[2]);
			m->lib->mysql_free_result(result);
		}
	}
	if (!m->lost)
		return 0;
	if (err)
		*err = unsaid;
	return -1;
}

/* Only asks the server to look at it. A SELECT without columns puts its rows elsewhere (INTO
 * OUTFILE), which a read-only transaction does not prevent. */
static int check_statement(struct mariadb *m, const char *text, struct error *err)
{
	MYSQL_STMT *looked = m->lib->mysql_stmt_init(m->link);
	int failed = !looked || m->lib->mysql_stmt_prepare(looked, text, strlen(text));
	if (failed) {
		failed = mariadb_failed(m, err);
		if (!m->lost && mariadb_said(m, CANNOT_PREPARE))
			failed = 0;
	} else if (m->reads_only && m->link->server_status & SERVER_STATUS_IN_TRANS &&
		   !m->lib->mysql_stmt_field_count(looked)) {
		error_set(err, EXIT_USAGE, "MariaDB: a statement without a result is no query");
		failed = error_hint(err, DBMS_ALLOW_WRITES);
	}
	if (looked)
		m->lib->mysql_stmt_close(looked);
	return failed;
}

int mariadb_prepare(void *state, const char *sql, struct error *err)
{
	struct mariadb *m = state;
	free(m->sql);
	free(m->written);
	m->sql = m->written = NULL;
	if (mariadb_need_link(m, err) || check_statement(m, sql, err))
		return -1;
	m->sql = xstrdup(sql);
	return learn_written(m, err);
}

static int need_statement(struct mariadb *m, struct error *err)
{
	if (mariadb_need_link(m, err))
		return -1;
	if (m->sql)
		return 0;
	return error_set(err, EXIT_USAGE, "no statement was prepared since the last connection");
}

int mariadb_plan(void *state, struct query_plan *plan, struct error *err)
{
	struct mariadb *m = state;
	FREED char *json = NULL;
	SCOPED(strbuf_release) struct strbuf sql = { 0 };
	if (need_statement(m, err))
		return -1;
	strbuf_printf(&sql, "EXPLAIN FORMAT=JSON %s", m->sql);
	int failed = mariadb_text(m, sql.text, &json, err);
	if (!failed)
		failed = plan_of_mariadb_written(json, m->written, plan, err);
	return failed;
}

/* ---- executing ---- */

enum why { GOING_ON, AT_LIMIT, STOPPED };

struct waiting {
	struct mariadb *m;
	const struct dbms_wait *wait;
	uint64_t begin_ns, asked_ns, cancelled_ns;
	enum why cancelled;
};

/* The server then ends the connection's thread, too, when it notices. What waits for it fails. */
static void hang_up(struct mariadb *m)
{
	shutdown(m->lib->mysql_get_socket(m->link), SHUT_RDWR);
	m->lost = true;
}

static void cancel(struct waiting *w, enum why why)
{
	struct mariadb *m = w->m;
	char sql[64];
	w->cancelled = why;
	w->cancelled_ns = clock_monotonic_ns();
	MYSQL *other = mariadb_link(m, NULL, NULL);
	snprintf(sql, sizeof sql, "KILL QUERY %lu", m->lib->mysql_thread_id(m->link));
	if (!other || m->lib->mysql_real_query(other, sql, strlen(sql)))
		hang_up(m);
	if (other)
		m->lib->mysql_close(other);
}

static bool wants_stop(struct waiting *w, uint64_t now)
{
	if (!w->wait->stop || now - w->asked_ns < ASK_MS * MS / 2)
		return false;
	w->asked_ns = now;
	return w->wait->stop(w->wait->context);
}

static void look_up(struct waiting *w)
{
	uint64_t now = clock_monotonic_ns();
	if (w->cancelled) {
		if (now - w->cancelled_ns > CANCELLED_MS * MS && !w->m->lost)
			hang_up(w->m);
	} else if (w->wait->limit_ns && now - w->begin_ns >= w->wait->limit_ns) {
		cancel(w, AT_LIMIT);
	} else if (wants_stop(w, now)) {
		cancel(w, STOPPED);
	}
}

static struct timespec pause_of(const struct waiting *w)
{
	uint64_t pause = ASK_MS * MS, spent = clock_monotonic_ns() - w->begin_ns;
	if (w->wait->limit_ns && !w->cancelled) {
		uint64_t left = w->wait->limit_ns > spent ? w->wait->limit_ns - spent : 0;
		if (left < pause)
			pause = left;
	}
	return (struct timespec){ .tv_nsec = (long)pause };
}

/* Waits for what a function ending with _start or _cont said it waits for. */
static int await(struct waiting *w, int events)
{
	struct pollfd fd = { .fd = w->m->lib->mysql_get_socket(w->m->link) };
	if (events & MYSQL_WAIT_READ)
		fd.events |= POLLIN;
	if (events & MYSQL_WAIT_WRITE)
		fd.events |= POLLOUT;
	if (events & MYSQL_WAIT_EXCEPT)
		fd.events |= POLLPRI;
	for (;;) {
		struct timespec pause = pause_of(w);
		int ready = ppoll(&fd, 1, &pause, NULL);
		look_up(w);
		if (ready > 0)
			break;
	}
	/* at the other end's hanging up the library shall read and see it */
	return fd.revents & (POLLHUP | POLLERR | POLLNVAL)
		       ? events & ~MYSQL_WAIT_TIMEOUT
		       : (fd.revents & POLLIN ? MYSQL_WAIT_READ : 0) |
				 (fd.revents & POLLOUT ? MYSQL_WAIT_WRITE : 0) |
				 (fd.revents & POLLPRI ? MYSQL_WAIT_EXCEPT : 0);
}

/* Whether there is another result: 0, or -1: none, or more: an error. */
static int next_result(struct waiting *w)
{
	struct mariadb *m = w->m;
	int more = -1;
	int events = m->lib->mysql_next_result_start(&more, m->link);
	while (events)
		events = m->lib->mysql_next_result_cont(&more, m->link, await(w, events));
	return more;
}

static bool fetch(struct waiting *w, uint64_t *rows)
{
	struct mariadb *m = w->m;
	MYSQL_RES *result = m->lib->mysql_use_result(m->link);
	if (!result)
		return m->lib->mysql_errno(m->link) == 0;
	for (;;) {
		MYSQL_ROW row = NULL;
		int events = m->lib->mysql_fetch_row_start(&row, result);
		while (events)
			events = m->lib->mysql_fetch_row_cont(&row, result, await(w, events));
		if (!row)
			break;
		if (++*rows % ROWS_UNASKED == 0)
			look_up(w);
	}
	bool good = m->lib->mysql_errno(m->link) == 0;
	m->lib->mysql_free_result(result);
	return good;
}

static bool evaluate(struct waiting *w, uint64_t *rows)
{
	int more;
	struct mariadb *m = w->m;
	int failed = 0;
	int events = m->lib->mysql_real_query_start(&failed, m->link, m->sql, strlen(m->sql));
	while (events)
		events = m->lib->mysql_real_query_cont(&failed, m->link, await(w, events));
	if (failed)
		return false;
	do {
		if (!fetch(w, rows))
			return false;
		more = next_result(w);
	} while (more == 0);
	return more < 0;
}

int mariadb_execute(void *state, const struct dbms_wait *wait, struct dbms_execution *x,
		    struct error *err)
{
	struct mariadb *m = state;
	if (need_statement(m, err))
		return -1;
	struct waiting w = { .m = m, .wait = wait };
	struct dbms_execution done = { 0 };
	w.begin_ns = w.asked_ns = done.begin_ns = clock_monotonic_ns();
	bool good = evaluate(&w, &done.rows);
	done.end_ns = clock_monotonic_ns();
	bool by_us = w.cancelled && mariadb_said(m, ER_QUERY_INTERRUPTED);
	int failed = good || by_us ? 0 : mariadb_failed(m, err);
	if (w.cancelled) {
		/* a cancel that came too late would hit the next statement */
		struct error ignored;
		if (!m->lost)
			mariadb_run(m, "DO 0", &ignored);
	}
	if (w.cancelled == STOPPED)
		return error_set(err, EXIT_INTERRUPTED, "the query was stopped");
	if (failed)
		return -1;
	done.timed_out = w.cancelled == AT_LIMIT;
	*x = done;
	return 0;
}
