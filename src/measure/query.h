/* Measures queries by the Tucson Timing Protocol: one execution, or an experiment of many. */
#ifndef TARE_MEASURE_QUERY_H
#define TARE_MEASURE_QUERY_H

#include "collect/collect.h"
#include "collect/devices/devices.h"
#include "record/query.h"
#include "subject/dbms/dbms.h"
#include "subject/dbms/server.h"
#include "subject/experiment.h"

/* The database and what measures it. */
struct query_rig {
	struct collector *collector;
	struct devices *devices; /* NULL: not available here */
	struct dbms *dbms;
	struct server *server; /* NULL: tare cannot restart it */
};

/* Executes what is prepared once, in the paper's order: all tasks, /proc/stat, clock, query, clock,
 * /proc/stat, exits, all tasks. Fills in q except number and plan, and raw, whose memory is reused.
 * A query over its limit (0: none) is cancelled and marked as timed_out, which is not an error. */
int query_execute(struct query_rig *r, uint64_t limit_ns, struct query_execution *q,
		  struct execution *raw, struct error *err);

/* Empties the caches of the server and the kernel. What was prepared is lost. */
int query_cold(struct query_rig *r, struct error *err);
/* Whether query_cold() is possible here. */
int query_cold_check(const struct query_rig *r, struct error *err);

/* ---- the experiment ---- */

/* What to do with existing tables of the experiment's names that this run did not make. */
enum query_tables {
	TABLES_NEW,   /* there must be none */
	TABLES_FORCE, /* drop them */
	TABLES_REUSE, /* use those with all their rows */
};

struct query_progress {
	size_t done, total; /* executions; total is an upper limit */
	const char *doing;  /* "filling to 20000", "query 3 at 20000" */
};

/* Notifies the caller, who stores the results. -1 ends the experiment. */
struct query_hooks {
	void *context;
	/* Called for a Q@C before its first execution. */
	int (*begun)(void *context, const struct query_at *at, struct error *err);
	int (*planned)(void *context, const struct query_plan *plan, struct error *err);
	int (*executed)(void *context, uint32_t query, uint64_t cardinality,
			const struct query_execution *q, struct execution *raw, struct error *err);
	/* On QUERY_RESTARTED, remove what is stored of the Q@C. */
	int (*event)(void *context, const struct query_event *event, struct error *err);
	void (*progress)(void *context, const struct query_progress *p);
};

struct query_conduct_options {
	enum query_tables tables;
	const struct query_run *done; /* what a resumed run has already stored; or NULL */
	bool elsewhere;	      /* resumed in another database, whose tables are not the run's own */
	uint64_t back_off_ns; /* the first pause after an error, doubled each time; 0: 100 ms */
	bool writes;	      /* queries may write: note how large their tables are */
};

/* Executes all Q@Cs of the experiment in its order. After an error that a new connection may fix,
 * it waits and retries; after ten retries or a signal it pauses (EXIT_SUBJECT, EXIT_INTERRUPTED). A
 * Q@C whose plan keeps changing, whose statement fails, or that is cancelled four times in a row is
 * given up (QUERY_GAVE_UP with the reason), and the others are executed. */
int query_conduct(struct query_rig *r, const struct experiment *e,
		  const struct query_conduct_options *o, const struct query_hooks *hooks,
		  struct error *err);

#endif
