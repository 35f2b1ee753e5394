/* SEDONA's daemon study as pure functions (EMP section 5, SEDONA steps 3-10): from the samples of a
 * short and a long run to the central cluster, the long-running daemons, their periods and the
 * cutoffs, and which samples the cutoffs drop. */
#ifndef TARE_PROTOCOL_SEDONA_SEDONA_H
#define TARE_PROTOCOL_SEDONA_SEDONA_H

#include "record/execution.h"
#include "record/study.h"

/* The PT of one process in one sample. */
struct sedona_execution {
	uint32_t daemon; /* index into the run's names */
	uint64_t pt_ns;
	uint64_t delay_ns; /* by which it held the program up, where the sample tells */
};

struct sedona_sample {
	uint32_t number; /* from 1, in the order taken; failed ones leave a gap */
	int64_t at_ns;	 /* when it began, in any epoch; 0: unknown, and number is used instead */
	uint64_t et_ns;
	uint64_t pt_ns;	     /* of the program; 0: unknown */
	bool tells_delays;   /* delay_ns of its executions is known */
	size_t first, count; /* in the run's executions */
};

struct sedona_name {
	char text[DAEMON_NAME];
};

/* Whether samples are compared by sedona_steady()'s ET. */
enum sedona_steadying {
	SEDONA_STEADY_IF_UNEVEN, /* sedona_is_uneven() */
	SEDONA_STEADY,		 /* if the process times are known */
	SEDONA_NOT_STEADY,
};

/* The samples of one run, in order. */
struct sedona_run {
	uint64_t length_ns; /* 0: the median ET */
	int64_t run;	    /* in the lab; 0: none */
	enum sedona_steadying steadying;
	ARRAY(struct sedona_name) names;
	ARRAY(struct sedona_sample) samples;
	ARRAY(struct sedona_execution) executions;
};
void sedona_run_release(struct sedona_run *r);
/* The index of a name, which is added if it is new. */
uint32_t sedona_name_index(struct sedona_run *r, const char *name);
/* The samples of a stored run, without warm-ups and failed executions, with ET less the shell.
 * Executions are those of daemons (ROLE_DAEMON) with their exec (else user + system) unless it is
 * 0. */
void sedona_run_of(const struct run *run, const struct execution *executions, size_t count,
		   struct sedona_run *out);

/* ---- steps 3 and 4: the central cluster ---- */

/* Makes samples whose ET contains the median process time instead of their own: daemons lengthen
 * ET, but not that time. Names and executions are borrowed; the caller releases the samples. False:
 * not every process time is known, and out is not touched. */
bool sedona_steady(const struct sedona_run *r, struct sedona_run *out);
/* The program's own process time varies so much that it hides what daemons take: by more than a few
 * tenths of a percent, and ET less it spreads less than half as widely as ET. */
bool sedona_is_uneven(const struct sedona_run *r);

/* Finds the cluster by successive zooms without a human. is_l[i] is set if sample i lies outside
 * the cluster. Fills in these members of out: samples, cluster, bounds, levels, l_samples (by
 * number), mean_ns, sigma_ns, length_ns. Works with 0 to 100,000 samples; fewer than 6 are all in
 * the cluster. */
void sedona_split(const struct sedona_run *r, bool *is_l, struct study_run *out);

/* ---- steps 5 to 9 ---- */

/* The daemons of the cluster, from sedona_cluster() or from a table in a paper. */
struct sedona_cluster_row {
	char name[DAEMON_NAME];
	uint32_t executions;
	uint64_t max_ns;
	double sigma_ns;
};
typedef ARRAY(struct sedona_cluster_row) sedona_cluster_list;
void sedona_cluster(const struct sedona_run *r, const bool *is_l, sedona_cluster_list *out);

/* Input of steps 6 and 7. l_samples has only the L-samples; total counts all samples of the run. */
struct sedona_seen_run {
	const struct sedona_run *l_samples;
	const struct sedona_cluster_row *cluster;
	size_t cluster_count;
	uint32_t total;
	uint64_t length_ns;
	uint64_t spacing_ns; /* from one sample's begin to the next; 0: length_ns */
	/* The longest ET in the cluster. A longer L-sample has proportionally more of frequent
	 * daemons, which does not make them long-running. 0: unknown. */
	uint64_t cluster_high_ns;
	/* The mean ET in the cluster, from which on an L-sample is slow, and the number of all
	 * samples that were taken. 0: unknown; then every daemon may have made its L-samples slow.
	 */
	double cluster_mean_ns;
	size_t samples;
	/* A shorter execution is not long-running, because it cannot have made the sample an
	 * L-sample. Without this limit, times in ns (the papers have ms) would make any execution
	 * long-running. */
	uint64_t least_ns;
};
/* A daemon that can have made none of its L-samples slow is a bystander, and not long-running: it
 * held the program up for less than a twentieth of what the sample took too long. Where it is not
 * known who held it up, its own process time is asked instead; then a daemon is no bystander if it
 * is in L-samples far more often than chance would have it.
 *
 * A cutoff below the most that the daemon took in the cluster of a run it is for would drop what is
 * usual: that daemon has seen[].has_cutoff, but no cutoff in the study.
 *
 * long_run may be NULL. Cutoffs are rounded half up to unit_ns (1; 1000000 as in the paper). Fills
 * in daemons and cutoffs of out.
 *
 * The range of task lengths is divided at 5 % of the period, rounded to two significant digits in
 * its natural unit (h, min, s) as in the paper's tables: 19.9 h count as 20 h. A short run longer
 * than that has found its daemons to be infrequent at its own length. Its cutoffs therefore apply
 * further, up to the geometric mean of both runs' lengths, or twice its own without a long run. */
void sedona_cutoffs(const struct sedona_seen_run *short_run, const struct sedona_seen_run *long_run,
		    uint64_t unit_ns, struct study *out);

/* ---- the complete study, and step 10 ---- */

/* Steps 3 to 10. long_run may be NULL. is_l, unless NULL, gets an array per run for plots; the
 * caller frees each. Fills in runs, daemons and cutoffs; the caller sets source, times and
 * machine. */
void sedona_study(const struct sedona_run *short_run, const struct sedona_run *long_run,
		  uint64_t unit_ns, struct study *out, bool *is_l[STUDY_LENGTHS]);

/* Step 10 alone: drops samples with an execution above its cutoff for a program of out->length_ns.
 * Fills in dropped (by number), mean_kept_ns and sigma_kept_ns of out. */
void sedona_drop(const struct sedona_run *r, const struct cutoff *cutoffs, size_t count,
		 struct study_run *out);

#endif
