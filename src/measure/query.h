/* Queries measured by the Tucson Timing Protocol: one execution, and the experiment of many. */
#ifndef TARE_MEASURE_QUERY_H
#define TARE_MEASURE_QUERY_H

#include "collect/collect.h"
#include "collect/devices/devices.h"
#include "record/query.h"
#include "subject/dbms/dbms.h"
#include "subject/dbms/server.h"
#include "subject/experiment.h"

/* What measures, and what is measured. */
struct query_rig {
	struct collector *collector;
	struct devices *devices; /* NULL: not to be had here */
	struct dbms *dbms;
	struct server *server; /* NULL: not tare's to restart */
};

/* One execution of what is prepared, in the paper's order: all tasks, /proc/stat, clock, query,
 * clock, /proc/stat, what ended, all tasks. Fills in q but for number and plan, and raw, whose
 * memory is reused. Over its limit (0: none) it is cancelled and timed_out, which is no error. */
int query_execute(struct query_rig *r, uint64_t limit_ns, struct query_execution *q,
		  struct execution *raw, struct error *err);

/* Empties the caches: the server's own and the kernel's. What was prepared is lost. */
int query_cold(struct query_rig *r, struct error *err);
/* Whether that can be done here at all. */
int query_cold_check(const struct query_rig *r, struct error *err);

/* ---- the experiment ---- */

/* What becomes of tables of the experiment's names that are not this run's own. */
enum query_tables {
	TABLES_NEW,   /* there must be none */
	TABLES_FORCE, /* they are dropped */
	TABLES_REUSE, /* those with all their rows are used */
};

struct query_progress {
	size_t done, total; /* executions; total is the most there can be */
	const char *doing;  /* "filling to 20000", "query 3 at 20000" */
};

/* What the caller is told, and stores. -1 ends the experiment. */
struct query_hooks {
	void *context;
	/* A Q@C, before its first execution. */
	int (*begun)(void *context, const struct query_at *at, struct error *err);
	int (*planned)(void *context, const struct query_plan *plan, struct error *err);
	int (*executed)(void *context, uint32_t query, uint64_t cardinality,
			const struct query_execution *q, struct execution *raw, struct error *err);
	/* QUERY_RESTARTED: what is stored of the Q@C is to be thrown away. */
	int (*event)(void *context, const struct query_event *event, struct error *err);
	void (*progress)(void *context, const struct query_progress *p);
};

struct query_conduct_options {
	enum query_tables tables;
	const struct query_run *done; /* what is stored already of a run that is resumed; or NULL */
	bool elsewhere; /* it is resumed in another database: the tables there are not its own */
	uint64_t back_off_ns; /* the first pause after an error, doubled each time; 0: 100 ms */
};

/* All Q@Cs of the experiment in its order. An error that a new connection may mend is waited out;
 * after ten times, or at the user's signal, it pauses: EXIT_SUBJECT, EXIT_INTERRUPTED. A Q@C whose
 * plan changes again and again is given up (QUERY_GAVE_UP), and the others are executed. */
int query_conduct(struct query_rig *r, const struct experiment *e,
		  const struct query_conduct_options *o, const struct query_hooks *hooks,
		  struct error *err);

#endif
