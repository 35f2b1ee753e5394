/* The Tucson Timing Protocol, version 2 (Currim, Snodgrass, Suh, Zhang), steps 1 to 5, as a pure
 * function of stored executions: sanity checks, the executions and Q@Cs that they drop, the time of
 * the rest, and the quality of that time. Also its causal model. */
#ifndef TARE_PROTOCOL_TTP_TTP_H
#define TARE_PROTOCOL_TTP_TTP_H

#include "record/query.h"

/* ---- step 1 ---- */

/* For the experiment: none may fire. */
enum ttp_wide_check {
	TTP_MISSING_QUERY,
	TTP_UNIQUE_PLAN, /* Q@Cs with several plans */
	TTP_UNDERLYING,	 /* executions with an unknown measure */
	TTP_DERIVED,	 /* ... with unknown ephemeral processes */
	TTP_STEAL,
	TTP_GUEST,
	TTP_OTHER_QUERY, /* processes of another server */
	TTP_OTHER_UTILITY,
	TTP_WIDE_CHECKS,
};
/* For an execution, which is dropped. */
enum ttp_check {
	TTP_EPHEMERAL,
	TTP_DBMS_TIME,
	TTP_ZERO_TIME,
	TTP_QUERY_TIME,
	TTP_USER_TICKS,
	TTP_OVERALL_CPU,
	TTP_CPU,
	TTP_BLKIO,
	TTP_IOWAIT,
	TTP_SWITCHES,
	TTP_AMBIGUOUS,
	TTP_NO_QUERY_PROCESS,
	TTP_TIMED_OUT,
	TTP_LOST,    /* not in the paper: the collector lost events */
	TTP_WORKERS, /* not in the paper: fewer helpers than planned, and than in others */
	TTP_CHECKS,
};
/* For a Q@C. */
enum ttp_at_check {
	TTP_VARIATION,
	TTP_RESULT_CACHE,
	TTP_STRICT,  /* monotonicity: longer at the lower of two cardinalities with one plan */
	TTP_RELAXED, /* ... by more than half of both sigmas */
	TTP_AT_CHECKS,
};
/* As in the paper's tables. */
extern const char *const ttp_wide_check_names[TTP_WIDE_CHECKS],
	*const ttp_check_names[TTP_CHECKS], *const ttp_at_check_names[TTP_AT_CHECKS];

/* Bits of the underlying measures that are missing in at least one execution. */
struct ttp_missing {
	uint32_t roles[QUERY_ROLES]; /* of enum query_measure */
	uint32_t overall;	     /* of enum overall_measure */
};

/* How often a check fired, out of how often it was evaluated: what it rests on was measured. */
struct ttp_count {
	uint64_t fired, of;
};

enum ttp_form {
	TTP_ADAPTED, /* for several CPUs, guests and clocks in ns; see ttp_form_note() */
	TTP_PAPER,   /* exactly as written: one CPU, ticks */
};

struct ttp_options {
	enum ttp_form form;
	uint64_t tick_ns;  /* of the data; 0: 10 ms, as in the paper. Adapted: the kernel's own */
	uint64_t floor_ns; /* step 3 (iii), adapted: anything shorter cannot be measured */
	double most_steal; /* adapted: share of CPUs x measured time; 0: 0.05 */
};

/* ---- steps 2 and 3 ---- */

enum ttp_drop {
	TTP_KEPT,
	TTP_DROP_VARIATION,    /* (i) */
	TTP_DROP_RESULT_CACHE, /* (i) */
	/* (ii) not the same one in every execution, though tare made no new connection */
	TTP_DROP_QUERY_PROCESS,
	TTP_DROP_SHORT, /* (iii) */
	TTP_DROP_FEW,	/* (iv) fewer than 6 executions left */
	TTP_DROPS,
};
extern const char *const ttp_drop_names[TTP_DROPS];
#define TTP_LEAST_EXECUTIONS 6

/* ---- step 4 ---- */

enum ttp_time {
	TTP_MEASURED, /* elapsed */
	TTP_CALC,     /* as in the paper: user + system + blocked, less half of IOWait */
	TTP_BLOCKED,  /* user + system + blocked */
	TTP_DEVICE,   /* user + system + time that devices spent serving it */
	TTP_TIMES,
	/* parts of these, not times of a query */
	TTP_PART_CPU = TTP_TIMES,
	TTP_PART_DEVICE,
	TTP_PART_BLOCKED,
};
extern const char *const ttp_time_names[TTP_TIMES];

struct ttp_figure {
	bool present; /* known for every execution that was kept */
	double median_ns, mean_ns, sigma_ns;
};

/* One per Q@C, in the run's order. */
struct ttp_at {
	enum ttp_drop drop;
	uint32_t fired; /* bits of enum ttp_at_check, from step 1 */
	uint32_t after; /* the same from step 5 */
	size_t kept;	/* executions */
	struct ttp_figure times[TTP_TIMES];
	struct ttp_figure unfiltered[TTP_TIMES]; /* of all that ended, whatever fired */
	struct ttp_figure cpu, device, blocked;	 /* TTP_PART_*, of those kept */
	/* Mean bytes read, as a share of those of its tables, by executions that ended, dropped or
	 * not: whether caches were cold is independent of what is dropped. NaN: unknown. */
	double read_share;
};

/* IO_calc of the query's process. */
double ttp_io_calc(double blkio, double iowait);
/* IO_calc of a daemon, utility or user process p. */
double ttp_io_calc_of(double blkio_p, double iowait, double blkio_query, double blkio_utility,
		      double blkio_daemon);
/* The time of one execution in ns; false: unknown. */
bool ttp_time_of(const struct query_execution *x, enum ttp_time t, double *ns);
/* Whether the time is meaningful in this run: the blocked time of a query does not include what a
 * server does in other threads. */
bool ttp_time_means(const struct query_run *run, enum ttp_time t);
/* The Q@C that monotonicity compares this one with, by index: the next higher one of its query with
 * the same plan. SIZE_MAX: there is none. */
size_t ttp_next_higher(const struct query_run *run, size_t at);

/* ---- step 5, and the complete result ---- */

struct ttp_post {
	struct ttp_count variation, strict, relaxed; /* of calculated times */
	/* Relative difference of measured and calculated time; NaN: the latter is unknown. */
	double kept_difference, dropped_difference;
	uint32_t constant; /* bits of enum ttp_model_measure that never vary */
};

struct ttp_result {
	struct ttp_count wide[TTP_WIDE_CHECKS], checks[TTP_CHECKS], at_checks[TTP_AT_CHECKS];
	struct ttp_missing missing;
	uint32_t *fired; /* bits of enum ttp_check, by execution, Q@C after Q@C */
	size_t executions, executions_kept;
	size_t switches_alone; /* executions with too few others to compare context switches with */
	struct ttp_at *at;
	size_t at_count, at_kept;
	size_t dropped[TTP_DROPS]; /* Q@Cs by reason; [TTP_KEPT] stays 0 */
	/* Mean of sigma / mean of the calculated times of those kept; NaN: none is known. */
	double relative_error;
	struct ttp_post post;
};
void ttp_judge(const struct query_run *run, const struct ttp_options *options,
	       struct ttp_result *out);
void ttp_result_release(struct ttp_result *r);

/* Whether the time is meaningful and known for every Q@C that was kept or, if none was, for every
 * one with executions. */
bool ttp_has_time(const struct query_run *run, const struct ttp_result *r, enum ttp_time t);
/* The best available time: device, blocked, measured. */
enum ttp_time ttp_best_time(const struct query_run *run, const struct ttp_result *r);

/* Mean of sigma / mean of this time over the kept Q@Cs; NaN: none is known. */
double ttp_relative_error(const struct ttp_result *r, enum ttp_time t);

/* How a check in TTP_ADAPTED differs from the paper's; NULL: it does not. */
const char *ttp_form_note(enum ttp_check c);

/* ---- ephemeral processes (Appendix B) ---- */

/* Takes sets of process ids, each ascending: those in the first snapshot, in the second, and those
 * reported as ended. Returns how many are only in the first: Px. (The paper's Py and Pz are empty
 * by construction, because what continues is defined as what is in the second and did not stop.) */
struct ttp_set {
	const uint64_t *ids;
	size_t count;
};
size_t ttp_ephemeral(struct ttp_set first, struct ttp_set second, struct ttp_set stopped);

/* ---- the causal model ---- */

enum ttp_model_measure {
	TTP_Q_USER,
	TTP_Q_SYSTEM,
	TTP_Q_BLKIO,
	TTP_Q_READS,
	TTP_Q_WRITES,
	TTP_Q_NVCSW,
	TTP_Q_NIVCSW,
	TTP_U_USER,
	TTP_U_SYSTEM,
	TTP_U_BLKIO,
	TTP_U_READS,
	TTP_U_WRITES,
	TTP_U_NVCSW,
	TTP_U_NIVCSW,
	TTP_D_USER,
	TTP_D_SYSTEM,
	TTP_D_BLKIO,
	TTP_D_READS,
	TTP_D_WRITES,
	TTP_D_NVCSW,
	TTP_D_NIVCSW,
	TTP_O_USER,
	TTP_O_SYSTEM,
	TTP_O_SOFTIRQ,
	TTP_O_IOWAIT,
	TTP_MODEL_MEASURES,
};
extern const char *const ttp_model_measure_names[TTP_MODEL_MEASURES];
/* NaN: it was not seen. */
double ttp_model_value(const struct query_execution *x, enum ttp_model_measure m);

enum ttp_level { TTP_LOW, TTP_MEDIUM, TTP_HIGH, TTP_LEVELS }; /* |r| below 0.3, below 0.7, above */
extern const char *const ttp_level_names[TTP_LEVELS];

#define TTP_RELATIONS 73
struct ttp_relation {
	const char *id; /* "Ia" */
	enum ttp_model_measure left, right;
	enum ttp_level predicted;
	double papers; /* r in the paper's confirmatory data */
};
extern const struct ttp_relation ttp_relations[TTP_RELATIONS];

struct ttp_correlation {
	double r, p;	      /* as in stats/correlation.h */
	enum ttp_level level; /* of its size; its sign is that of r */
	/* Levels away from the prediction, which is always positive: 0 match, 1 close, 2 off or
	 * more; -1: r is unknown. */
	int off;
};
/* The mean ledger of a Q@C over its kept executions. It begins before the query is sent and ends
 * after it; et_ns is the elapsed time of the query itself. */
struct ttp_ledger {
	uint32_t query;
	uint64_t cardinality, et_ns;
	uint64_t wall_ns[LEDGER_CAUSES];
};
/* Selects the executions, out of those stored for the Q@C with index `at`, that are kept and have a
 * ledger. `kept` has room for all. There are none if the Q@C is dropped. */
size_t ttp_kept_ledgers(const struct query_run *q, const struct ttp_result *r, size_t at,
			const struct execution *list, size_t count, const struct execution **kept);
/* count must not be 0. */
void ttp_mean_ledger(const struct execution *const *kept, size_t count, struct ttp_ledger *mean);

/* Over all executions of these runs that their results do not drop. There is one run for each DBMS;
 * the values of each are scaled separately. */
void ttp_model(const struct query_run *const *runs, const struct ttp_result *const *results,
	       size_t count, struct ttp_correlation out[TTP_RELATIONS]);
/* Like ttp_model(), for every pair of measures: r, which is NaN if unknown. */
void ttp_model_matrix(const struct query_run *run, const struct ttp_result *result,
		      double r[TTP_MODEL_MEASURES][TTP_MODEL_MEASURES]);

#endif
