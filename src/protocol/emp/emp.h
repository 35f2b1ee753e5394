/* EMP steps 2-4 as a pure function of stored executions: drops the first, applies rules (I) and
 * (II), computes mean and standard deviation of ET and of PT at each grade, and warns if a mean of
 * the rest would mislead. */
#ifndef TARE_PROTOCOL_EMP_EMP_H
#define TARE_PROTOCOL_EMP_EMP_H

#include "protocol/emp/steady.h"
#include "record/execution.h"
#include "record/machine.h"
#include "record/study.h"
#include "stats/summary.h"

/* What is summarised. Times are in ns, without the shell's own cost (never below 0). User and
 * system are the headline's PT divided by the run's user_share (docs/decisions/006). Counts are of
 * user mode, since the kernel's depend on what interrupted it, and have the shell's in them. */
enum emp_measure {
	EMP_ET,
	EMP_PT_NET,
	EMP_PT_EXEC,
	EMP_PT_TICK,
	EMP_USER,
	EMP_SYSTEM,
	EMP_PT_STEADY, /* PT(net) at the machine's reference speed: an estimate */
	EMP_TIMES,     /* those above are times, those below counts */
	EMP_INSTRUCTIONS = EMP_TIMES,
	EMP_CYCLES,
	EMP_MEASURES
};
extern const char *const emp_measure_names[];
/* Whether it is a count, not a time. */
static inline bool emp_is_count(enum emp_measure m)
{
	return m >= EMP_TIMES && m < EMP_MEASURES;
}

enum emp_rule {
	EMP_KEPT = 0,
	EMP_WARMUP,  /* run before the measured ones to fill caches, as is the first execution */
	EMP_FAILED,  /* unexpected exit code, killed, or over its time limit */
	EMP_CUTOFF,  /* rule (I): a daemon ran longer in it than the daemon's cutoff */
	EMP_OUTSIDE, /* rule (II): PT (or ET without PT) is outside mean +- 2 sigma of the rest */
};
extern const char *const emp_rule_names[];

/* One per execution, in the order given. */
struct emp_verdict {
	enum emp_rule rule;
	double value_ns, low_ns,
		high_ns; /* EMP_OUTSIDE: the judged value and the bounds; EMP_CUTOFF: the daemon's
			    PT, 0 and the cutoff; otherwise NaN */
	char daemon[DAEMON_NAME]; /* EMP_CUTOFF: the daemon; "" otherwise */
	char reason[192]; /* a sentence with the culprit, if known: from the ledger, the cause with
			     the largest excess that can be part of PT (or ET); without a ledger,
			     the busiest daemon; "" if kept */
};

struct emp_warning {
	const char *id;	  /* "drift", "bimodal", "autocorrelated", "too_short", "few", "slow_first",
			     "outliers", "waiting", "cutoffs_old", "cutoffs_changed", ... */
	char text[256];	  /* what was found, with its figures */
	char remedy[256]; /* what to do */
};

/* The origin of cutoffs, to judge whether they still fit. 0 and NULL: unknown. */
struct emp_origin {
	int64_t study;			  /* in the lab */
	int64_t made_at_ns;		  /* CLOCK_REALTIME */
	const struct machine *then, *now; /* at the study, and at the run */
	bool quieted; /* daemons were stopped for the run, so their absence is not a change */
};

struct emp_options {
	bool keep_outside; /* do not apply rule (II) */
	bool no_steady;	   /* the lead is the headline, as in the papers */
	/* The lead is `measure`, where every execution that counts has it and it is a time: rule
	 * (II) judges by it. */
	bool by_measure;
	enum emp_measure measure;
	bool ignore_failure;	   /* failed executions count */
	const int *expected_codes; /* exit codes that are not a failure, in addition to 0 */
	size_t expected_count;
	/* For rule (I): the cutoffs of the machine's daemon study, for programs of every length.
	 * Those for the median ET of what counts apply. None: rule (I) drops nothing. */
	const struct cutoff *cutoffs;
	size_t cutoff_count;
	struct emp_origin origin;
	/* The best speed seen of the machine's CPUs, by enum speed_kind. NULL, or NaN for a kind:
	 * the best of the run. */
	const double *speed_ns;
};

/* What rule (I) was based on. */
struct emp_cutoffs {
	size_t count,
		hold;	   /* how many were given, and how many apply to a program of this length */
	double program_ns; /* its length: the median ET of what counts */
	bool seen;	   /* some daemon was seen; otherwise nothing can be dropped */
	int64_t study, made_at_ns; /* as in emp_origin */
};

/* The range that rule (II) keeps. */
struct emp_bounds {
	bool applied; /* to the lead. Otherwise it was not wanted, or there were too few or too
			 equal values */
	double low_ns, high_ns;
	bool undecided; /* a group was dropped that may be too frequent for it, so the kept mean has
			   no interval (trimming_is_undecided()) */
};

/* Where the elapsed time of the kept executions went, as shares of it; from their ledgers, or else
 * from what the scheduler counted. NaN: unknown. */
struct emp_spent {
	double blocked; /* all of it slept or was blocked; also what it queued if that is NaN */
	double queued;	/* it was ready, but others had the CPU */
	double cpus;	/* CPUs that it used at once while it ran */
};

struct emp_result {
	enum emp_measure headline; /* the best available PT, or else EMP_ET */
	/* What is shown first and what rule (II) judges by: what was asked for, or EMP_PT_STEADY
	 * where that is shown to be better, or else the headline. */
	enum emp_measure lead;
	/* What the run is about: a time asked for by --measure, or ET if it sleeps or does I/O, or
	 * else the lead (choice.h). */
	enum emp_measure shown;
	struct emp_spent spent;
	struct steady_fit steady;
	bool present[EMP_MEASURES];
	double user_share; /* user / (user + system), pooled over the executions that count
			      (whatever rule (II) says) and have a split; NaN if none has */
	struct summary kept[EMP_MEASURES];	 /* after every rule. The interval is that of the
						    mean of what rule (II) would keep of
						    infinitely many executions (summarise_kept()) */
	struct summary unfiltered[EMP_MEASURES]; /* without rules (I) and (II), but never with
						    warm-ups and failures */
	struct emp_bounds outside;		 /* of rule (II), for the lead */
	struct emp_verdict *verdicts;
	size_t count;			 /* of verdicts: the executions given */
	size_t dropped[EMP_OUTSIDE + 1]; /* by rule; [EMP_KEPT] stays 0 */
	struct emp_cutoffs cutoffs;
	ARRAY(struct emp_warning) warnings;
};

void emp_judge(const struct run *run, const struct execution *executions, size_t count,
	       const struct emp_options *options, struct emp_result *out);
void emp_result_release(struct emp_result *r);

/* What PT(steady) is fitted to: PT(net), or else PT(exec), and the CPU's speed. False: one of them
 * is not known. */
bool emp_speed(const struct run *run, const struct execution *x, struct steady_input *out);

/* Compares two kept means: b with the baseline a. ratio = mean(b) / mean(a), with the 95 % interval
 * and the p-value of ratio_of_summaries(), which says when they are NaN or infinite. */
struct emp_comparison {
	size_t n_a, n_b;
	size_t runs_a, runs_b; /* with one run on a side, its interval does not have the variation
				  between runs */
	double ratio, ratio_low, ratio_high;
	double p;
	const char *test; /* the name of the test, for display */
	size_t needed;	  /* above 0: one side has too few executions for the dependence between
			     them, so that nothing can be said; about as many are needed */
	bool significant; /* p < 0.05: the interval does not contain 1 */
};
/* The logarithm of the ratio may have one more error (ratio_of_summaries_with()); 0, 1: none. */
void emp_compare_with(const struct summary *a, const struct summary *b, double more_error,
		      double more_df, struct emp_comparison *out);

/* A judged run of one side of a comparison. */
struct emp_judged {
	const struct run *run;
	const struct execution *executions;
	const struct emp_result *result;
	bool other; /* of the side that is compared with the baseline */
};

/* Compares the sides at equal speed of the CPU: PT of every execution that counts (rule II does not
 * apply), less what the speed explains by coefficients that are common to all runs. False: not all
 * were probed, or the speed explains nothing. */
bool emp_compare_at_equal_speed(const struct emp_judged *runs, size_t count,
				struct emp_comparison *out);

/* The kept values of one measure, in execution order. The caller frees them. */
double *emp_values(const struct run *run, const struct execution *executions,
		   const struct emp_result *r, enum emp_measure m, size_t *count);

#endif
