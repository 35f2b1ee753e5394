/* Compares two runs of `tare noise`: which sources are new, gone, grown or shrunk, and how certain
 * that is. The CPUs of a run are taken together. */
#ifndef TARE_PROTOCOL_JITTER_DIFF_H
#define TARE_PROTOCOL_JITTER_DIFF_H

#include "base/error.h"
#include "record/noise.h"

/* JITTER_SAME: there is a sure difference, but it is small. JITTER_UNSURE: no difference is sure.
 */
enum jitter_change {
	JITTER_SAME,
	JITTER_NEW,
	JITTER_GONE,
	JITTER_GROWN,
	JITTER_SHRUNK,
	JITTER_UNSURE,
	JITTER_CHANGES
};
extern const char *const jitter_change_names[JITTER_CHANGES];

/* Rates are per second of window of one CPU. */
struct jitter_source_diff {
	enum noise_class class;
	char name[NOISE_NAME_SIZE];
	enum jitter_change change;
	double base_rate, run_rate;	  /* occurrences per s */
	double base_share, run_share;	  /* ns lost per ns: the weight of the source */
	double base_mean_ns, run_mean_ns; /* NaN: it has none */
	uint64_t base_max_ns, run_max_ns; /* ABSENT_NS: likewise */
	/* The time lost to it per s: run / base with a 95 % interval over the parts of the runs.
	 * NaN if one run lacks the source or has too few parts. */
	double ratio, ratio_low, ratio_high;
	/* Of a source that only one run has: the probability that all its appearances fell into one
	 * of the two by chance. Otherwise from a permutation test over the parts. Both allow for
	 * parts that depend on the one before. Adjusted over all sources (Benjamini and Hochberg).
	 * NaN: too few parts, for the dependence seen. */
	double p;
	bool too_rare; /* in one only, so rarely that no outcome would be sure: p is not adjusted */
};

#define JITTER_GRID 240
struct jitter_diff {
	/* NEW first, then GROWN, SHRUNK, GONE, SAME, UNSURE; within each by the larger time lost.
	 * Empty if one of the runs has no names. */
	ARRAY(struct jitter_source_diff) sources;
	/* Total time lost per s, as above. */
	double base_share, run_share, ratio, ratio_low, ratio_high, p;
	/* Detours per s and per decade of length at grid_ns[i], estimated by Parzen's method over
	 * log10(length in ns). The bandwidth is in decades and the same for both. */
	double grid_ns[JITTER_GRID], base_density[JITTER_GRID], run_density[JITTER_GRID];
	double bandwidth;
	double distance; /* half the integral of |run - base|, both normalised: 0 to 1 */
	/* Where the rates differ most: peaks of run - base, at most 5; none if nothing changed
	 * surely. */
	struct jitter_peak {
		uint64_t low_ns, high_ns;
		double base_rate, run_rate;	/* detours per s in it */
		char name[NOISE_COMBINED_SIZE]; /* of the combination that changed most */
	} peaks[5];
	size_t peak_count;
};

/* EXIT_USAGE if one of them has no window. */
int jitter_compare(const struct noise *base, const struct noise *run, struct jitter_diff *out,
		   struct error *err);
/* One of the runs lacks it. */
bool jitter_in_one_only(const struct jitter_source_diff *d);
void jitter_diff_release(struct jitter_diff *d);

#endif
