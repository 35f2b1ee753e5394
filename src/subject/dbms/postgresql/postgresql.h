/* Shared by the files of the PostgreSQL driver. Private to subject/dbms/. */
#ifndef TARE_SUBJECT_DBMS_POSTGRESQL_POSTGRESQL_H
#define TARE_SUBJECT_DBMS_POSTGRESQL_POSTGRESQL_H

#include <libpq-fe.h>

#include "subject/dbms/driver.h"

/* libpq, loaded at its first use. */
/* clang-format off */
#define LIBPQ_FUNCTIONS(X) \
	X(PQcancel) X(PQclear) X(PQconnectPoll) X(PQconnectStartParams) \
	X(PQconnectionNeedsPassword) X(PQconninfoFree) X(PQconninfoParse) X(PQconsumeInput) \
	X(PQerrorMessage) X(PQexec) X(PQexecParams) X(PQfinish) X(PQfreeCancel) \
	X(PQfreemem) X(PQgetCancel) X(PQgetResult) X(PQgetisnull) X(PQgetvalue) X(PQisBusy) \
	X(PQntuples) X(PQparameterStatus) X(PQprepare) X(PQputCopyData) X(PQputCopyEnd) \
	X(PQresultErrorField) X(PQresultStatus) X(PQsendQueryPrepared) \
	X(PQsetErrorVerbosity) X(PQsetNoticeProcessor) X(PQsetSingleRowMode) X(PQsocket) \
	X(PQstatus) X(PQtransactionStatus)
/* clang-format on */

struct libpq {
#define LIBPQ_MEMBER(name) __typeof__(name)(*(name));
	LIBPQ_FUNCTIONS(LIBPQ_MEMBER)
#undef LIBPQ_MEMBER
};

#define POSTGRESQL_STATEMENT "tare" /* the name of the prepared statement */

struct postgresql {
	const struct libpq *pq;
	char *url;
	bool reads_only;    /* prepared statements must not write */
	bool whole_reads;   /* nor anything else on this connection */
	PGconn *connection; /* NULL: none */
	bool lost;
	bool was_connected; /* earlier, so a missing server has gone away */
	bool prepared;
	pid_t backend, postmaster; /* 0: unknown, or not on this machine */
	pid_t said;		   /* the backend's number in the server's own pid namespace */
	int64_t workers_planned;   /* by the last plan; -1: there was none */
	ARRAY(pid_t) workers;	   /* of the last execution */
	ARRAY(pid_t) others;	   /* children of the postmaster that are not workers */
	ARRAY(pid_t) readers;	   /* I/O workers, from version 18 on */
};

/* Turns the failure of a result or, without one, of the connection into an error. */
int postgresql_failed(struct postgresql *s, const PGresult *r, struct error *err);
/* Fails if there is no prepared statement. */
int postgresql_is_prepared(struct postgresql *s, struct error *err);
int postgresql_plan(void *state, struct query_plan *plan, struct error *err);
int postgresql_execute(void *state, const struct dbms_wait *wait, struct dbms_execution *x,
		       struct error *err);
int postgresql_tasks(void *state, struct dbms_tasks *into, struct error *err);
void postgresql_ended(void *state, const struct dbms_end *ends, size_t count);
/* Looks for parallel workers of this backend among the postmaster's children, once
 * postgresql_tasks() has found it: before the query, and while it runs. */
void postgresql_look(struct postgresql *s);

/* What a process of PostgreSQL is for, by its title. */
enum postgresql_kind {
	POSTGRESQL_UNTITLED, /* it has its parent's title still, or none was seen */
	POSTGRESQL_OTHER,
	POSTGRESQL_WORKER, /* a parallel worker of the backend with this number */
	POSTGRESQL_READER, /* an I/O worker */
};
enum postgresql_kind postgresql_kind(const char *title, pid_t backend);

#endif
