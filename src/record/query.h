/* Executions of database queries, in the terms of the Tucson Timing Protocol: a query at a
 * cardinality (Q@C) is executed several times; each execution (QE) has what was used meanwhile, by
 * the processes of each role and overall. */
#ifndef TARE_RECORD_QUERY_H
#define TARE_RECORD_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "record/execution.h"
#include "record/field.h"

enum query_role {
	QUERY_QUERY,   /* evaluates it: the server's process and its parallel workers */
	QUERY_UTILITY, /* other processes of that server */
	QUERY_DAEMON,
	QUERY_USER, /* a user's process, not a daemon */
	QUERY_OWN,  /* tare itself */
	QUERY_ROLES,
};
extern const char *const query_role_names[QUERY_ROLES];

/* What the processes of a role used. */
enum query_measure {
	QUERY_USER_NS,
	QUERY_SYSTEM_NS,
	QUERY_BLKIO_NS, /* blocked on I/O */
	QUERY_READS,	/* system calls */
	QUERY_WRITES,
	QUERY_NVCSW,
	QUERY_NIVCSW,
	QUERY_MAJFLT,
	QUERY_GUEST_NS,
	QUERY_MEASURES,
};
const char *query_measure_name(enum query_measure m); /* "user", "system", "blkio", ... */

/* How an execution's transaction ended, and so what is left of what it wrote. */
enum query_transaction {
	QUERY_READ_ONLY,   /* it could not write */
	QUERY_ROLLED_BACK, /* after the time was taken: no commit is in it */
	QUERY_COMMITTED,   /* the statement's own commit is in the time */
	QUERY_TRANSACTIONS,
};
extern const char *const query_transaction_names[QUERY_TRANSACTIONS];

struct query_usage {
	uint64_t value[QUERY_MEASURES];
	uint32_t missing;   /* bits of measures that are unknown for one of them */
	uint32_t processes; /* 0: there was none */
};

struct query_execution {
	uint32_t number; /* from 1 within its Q@C */
	bool timed_out;
	uint64_t measured_ns; /* from sending the query to the last row */
	uint64_t snapshot_ns; /* from snapshot to snapshot, minus the measured time */
	uint64_t plan;	      /* its hash */
	struct query_usage usage[QUERY_ROLES];
	uint64_t overall_ns[OVERALL_GUEST + 1]; /* of the CPUs, by enum overall_measure */
	uint32_t overall_missing;		/* bits */
	/* Identifies the evaluating process or thread: equal numbers mean the same one. 0: there
	 * was none. */
	uint64_t query_process;
	uint32_t query_tasks; /* of its threads, how many may run at once; 0 counts as 1 */
	/* User + system of the busiest utility process, and the time blocked of the process of any
	 * role that was blocked most; ABSENT_NS: unknown. */
	uint64_t utility_most_ns, blkio_most_ns;
	int64_t other_query, other_utility; /* processes of another server; -1: unknown */
	int64_t ephemeral;		    /* that nobody saw; -1: unknown */
	/* The time that devices served it, and everybody else meanwhile; ABSENT_NS: unknown. */
	uint64_t own_device_ns, others_device_ns;
	int64_t started_at_ns; /* CLOCK_REALTIME; 0: unknown */
	uint64_t rows;	       /* fetched */
	uint64_t read_bytes;   /* from devices, for it; ABSENT_NS: unknown */
	uint64_t run_delay_ns; /* how long its tasks waited for a CPU; ABSENT_NS: unknown */
	uint32_t lost;	       /* events that the collector lost */
	/* Helper processes that were seen to work for it, and that its plan has; -1: unknown. */
	int64_t workers, workers_planned;
	enum query_transaction transaction; /* QUERY_TRANSACTIONS: unknown */
	/* Of the tables in its plan, before it, if it may write; 0: unknown. */
	uint64_t table_bytes;
	int64_t raw; /* the execution in the lab with its processes and ledger; 0: none */
};

/* A query at a cardinality. */
struct query_at {
	uint32_t query;	      /* from 1 */
	uint64_t cardinality; /* of the variable table; 0: nothing varies */
	uint64_t table_bytes; /* of the tables it reads, as the server reports; 0: unknown */
	ARRAY(struct query_execution) executions; /* in the order they were made */
};

/* A plan in canonical form: a JSON tree without costs and numbers of rows (subject/dbms/plan.h). */
struct query_plan {
	uint64_t hash; /* of the text */
	char *json;
};

struct query_text {
	uint32_t query; /* from 1 */
	char *name, *sql;
};

enum query_event_kind {
	QUERY_RESTARTED,  /* the plan changed: the earlier executions of the Q@C were removed */
	QUERY_BACKED_OFF, /* an error; waited and reconnected */
	QUERY_PAUSED,	  /* ... ten times */
	QUERY_RESUMED,
	QUERY_SAME_PLAN,  /* onepass: not executed, as the next higher cardinality has this plan */
	QUERY_MADE_TABLE, /* about to be made: `text` */
	QUERY_GAVE_UP,	  /* a Q@C that failed: `text`; without one its plan kept changing */
	QUERY_EVENTS,
};
extern const char *const query_event_names[QUERY_EVENTS];

struct query_event {
	enum query_event_kind kind;
	int64_t at_ns; /* CLOCK_REALTIME */
	uint32_t query;
	uint64_t cardinality;
	uint64_t plan, before; /* hashes; 0: not applicable */
	char *text;	       /* what happened; may be NULL */
};

struct query_run {
	char dbms[32];		   /* "postgresql" */
	uint32_t cpus;		   /* online */
	uint32_t queries;	   /* to be executed: 1 to this */
	ARRAY(struct query_at) at; /* by query, then cardinality ascending */
	/* Not used by the protocol, but by reports. NULL or 0: unknown. */
	char *version, *settings;	    /* of the server; settings: a JSON object */
	char *experiment_name, *experiment; /* the text of its file */
	char *scenario;			    /* "exhaustive", "onepass" */
	bool cold;			    /* each execution began with empty caches */
	bool imported;			    /* measured elsewhere */
	bool io_by_process; /* the server reads in other threads: the query's blkio means nothing */
	uint32_t planned;   /* executions of each Q@C */
	uint64_t time_limit_ns, tick_ns, seed;
	ARRAY(struct query_text) texts;	  /* by query */
	ARRAY(struct query_plan) plans;	  /* by hash */
	ARRAY(struct query_event) events; /* as they happened */
};
void query_run_release(struct query_run *r);

/* The rows of query_execution_fields are also the columns of the CSV of executions, after query and
 * cardinality. */
extern const struct field query_execution_fields[], query_at_fields[], query_text_fields[],
	query_plan_fields[], query_event_fields[], query_run_fields[];
extern const struct shape query_text_shape, query_plan_shape, query_event_shape, query_run_shape;

/* User + system time. */
uint64_t query_cpu_ns(const struct query_execution *x, enum query_role role);
/* User, system and blocked time: the protocol's process time. */
uint64_t query_process_ns(const struct query_execution *x, enum query_role role);

#endif
