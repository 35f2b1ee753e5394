/* SEDONA's daemon study as pure functions (EMP section 5, SEDONA steps 3-10): from the samples of a
 * short and a long run to the central cluster, the long-running daemons, their periods and the
 * cutoffs; and what the cutoffs say about a sample. */
#ifndef TARE_PROTOCOL_SEDONA_SEDONA_H
#define TARE_PROTOCOL_SEDONA_SEDONA_H

#include "record/execution.h"
#include "record/study.h"

/* One process's PT inside one sample. */
struct sedona_execution {
	uint32_t daemon; /* index of the run's names */
	uint64_t pt_ns;
};

struct sedona_sample {
	uint32_t number; /* from 1, as it was taken: failed ones leave a gap */
	int64_t at_ns;	 /* when it began, any epoch; 0: not known, then number tells */
	uint64_t et_ns;
	uint64_t pt_ns;	     /* of the program; 0: not known */
	size_t first, count; /* of the run's executions */
};

struct sedona_name {
	char text[DAEMON_NAME];
};

/* The samples of one run, in order. */
struct sedona_run {
	uint64_t length_ns; /* 0: the median ET */
	int64_t run;	    /* in the lab, 0 none */
	ARRAY(struct sedona_name) names;
	ARRAY(struct sedona_sample) samples;
	ARRAY(struct sedona_execution) executions;
};
void sedona_run_release(struct sedona_run *r);
/* The index of a name, entered when it is new. */
uint32_t sedona_name_index(struct sedona_run *r, const char *name);
/* Of a stored run: warm-ups and failed executions left out, ET less the shell; executions of
 * daemons (ROLE_DAEMON) with their exec (else user + system), those with 0 left out. */
void sedona_run_of(const struct run *run, const struct execution *executions, size_t count,
		   struct sedona_run *out);

/* ---- steps 3 and 4: the central cluster ---- */

/* Where the program's own process time varies so much that ET less it spreads less than half as
 * widely as ET: the same samples with an ET that has the median process time in place of their own,
 * since daemons lengthen the one and not the other. Names and executions are lent, the samples are
 * the caller's to release. False: ET serves as it is, and out is not touched. */
bool sedona_steady(const struct sedona_run *r, struct sedona_run *out);

/* Successive zooms without a human. is_l[i] for every sample: it lies outside the cluster. Fills in
 * of out: samples, cluster, bounds, levels, l_samples (by number), mean_ns, sigma_ns, length_ns.
 * Works from no sample to 100,000; fewer than 6: all are the cluster. */
void sedona_split(const struct sedona_run *r, bool *is_l, struct study_run *out);

/* ---- steps 5 to 9 ---- */

/* What is known of the cluster's daemons: by sedona_cluster(), or a paper's own table. */
struct sedona_cluster_row {
	char name[DAEMON_NAME];
	uint32_t executions;
	uint64_t max_ns;
	double sigma_ns;
};
typedef ARRAY(struct sedona_cluster_row) sedona_cluster_list;
void sedona_cluster(const struct sedona_run *r, const bool *is_l, sedona_cluster_list *out);

/* One run as steps 6 and 7 want it. l_samples: the L-samples only (the others are not looked at);
 * total: samples of the whole run. */
struct sedona_seen_run {
	const struct sedona_run *l_samples;
	const struct sedona_cluster_row *cluster;
	size_t cluster_count;
	uint32_t total;
	uint64_t length_ns;
	uint64_t spacing_ns; /* from a sample's begin to the next one's; 0: length_ns */
	/* The longest ET in the cluster: an L-sample that is longer has by that much more of
	 * frequent daemons, too, which makes none of them long-running. 0: not known. */
	uint64_t cluster_high_ns;
	/* What took less than this is no long-running execution: it cannot be what made the sample
	 * one. In ns, unlike in the papers' ms, whatever happens to be there would be one else. */
	uint64_t least_ns;
};
/* long_run NULL: there is none. unit_ns: what cutoffs are rounded half up to (1; 1000000 for the
 * paper's). Fills in daemons and cutoffs of out.
 *
 * The range of task lengths is divided at 5 % of the period, rounded to two significant digits in
 * its natural unit (h, min, s), as the paper's tables have it: 19.9 h count as 20 h. A short run
 * that is itself longer than that has seen its daemons to be infrequent at its own length, so its
 * cutoffs hold on, up to the geometric mean of both runs' lengths, or twice its own without a long
 * run. */
void sedona_cutoffs(const struct sedona_seen_run *short_run, const struct sedona_seen_run *long_run,
		    uint64_t unit_ns, struct study *out);

/* ---- the whole study, and step 10 ---- */

/* Steps 3 to 10. long_run may be NULL. is_l, when not NULL, gets an array per run (the caller frees
 * each), for plots. Fills in runs, daemons, cutoffs; source, times and machine are the caller's. */
void sedona_study(const struct sedona_run *short_run, const struct sedona_run *long_run,
		  uint64_t unit_ns, struct study *out, bool *is_l[STUDY_LENGTHS]);

/* Step 10 alone: which samples have an execution above its cutoff for a program of out->length_ns.
 * Fills in of out: dropped (by number), mean_kept_ns, sigma_kept_ns. */
void sedona_drop(const struct sedona_run *r, const struct cutoff *cutoffs, size_t count,
		 struct study_run *out);

#endif
