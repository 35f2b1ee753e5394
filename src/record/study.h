/* The results of a daemon study (SEDONA): the zooms to the central cluster, the infrequent
 * long-running daemons, their periods, and the cutoffs that follow. Made by protocol/sedona, kept
 * in the lab. */
#ifndef TARE_RECORD_STUDY_H
#define TARE_RECORD_STUDY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "record/field.h"

typedef ARRAY(uint32_t) number_list;

#define DAEMON_NAME 17 /* of daemon_name(), with its NUL */

enum study_source {
	STUDY_ACTIVE, /* executions of inc, made for it */
	STUDY_WATCH,  /* windows cut from a watch */
	STUDY_RUNS,   /* runs already in the lab, including imported ones */
	STUDY_SOURCES,
};
extern const char *const study_source_names[];

/* A study has a short run and, if there was time, a long one. */
enum study_length { STUDY_SHORT, STUDY_LONG, STUDY_LENGTHS };
extern const char *const study_length_names[];

/* The shape of the pairs of samples within the bounds of a zoom level. */
enum study_shape {
	STUDY_SYMMETRIC, /* nothing stands out: the central cluster */
	STUDY_L,	 /* arms along both axes, but no corner: infrequent daemons */
	STUDY_CORNER,	 /* the corner is as full as by chance: a frequent daemon, or two bands */
	STUDY_SHAPES,
};
extern const char *const study_shape_names[];

/* One look at the samples with an ET of at most high_ns; cut_ns divides them into usual and slow.
 * Pairs of (odd, even) samples within the window are counted by which of them is slow. */
struct study_level {
	uint64_t low_ns, high_ns; /* the window */
	uint64_t cut_ns;
	uint32_t neither, first, second, both;
	double both_expected; /* if slow samples were independent */
	enum study_shape shape;
};

struct study_period {
	bool found;
	bool uncertain;	   /* based on two occurrences */
	double samples;	   /* between occurrences, in samples */
	uint64_t ns;	   /* the same as time */
	uint64_t error_ns; /* +-, a standard error */
};

/* One daemon in one of the runs. */
struct study_seen {
	uint32_t cluster_executions; /* in the samples of the cluster; 0: it does not occur there */
	uint64_t cluster_max_ns;
	double cluster_sigma_ns;
	uint32_t long_executions; /* long-running ones, in L-samples; 0: none */
	uint64_t long_least_ns, long_most_ns;
	number_list samples; /* the samples with those, by number, ascending, each once */
	struct study_period period;
	bool has_cutoff;
	uint64_t cutoff_ns;
};

struct study_daemon {
	char name[DAEMON_NAME];
	struct study_seen seen[STUDY_LENGTHS];
	struct study_period period; /* the one to use: of the short run, or else of the long */
};

/* An execution of daemon above cutoff_ns spoils a sample of a program with ET in [from, below). */
struct cutoff {
	int64_t id; /* in the lab; 0 before it is stored */
	char daemon[DAEMON_NAME];
	uint64_t from_ns, below_ns; /* below 0: no limit */
	uint64_t cutoff_ns;
	bool edited; /* by hand */
};
typedef ARRAY(struct cutoff) cutoff_list;

bool number_list_has(const number_list *list, uint32_t number); /* in an ascending list */

struct study_run {
	bool present;
	int64_t run;	    /* in the lab; 0: none (a watch) */
	uint64_t length_ns; /* the intended length, or the median ET */
	uint32_t samples, cluster;
	uint64_t cluster_low_ns, cluster_high_ns; /* ET of its samples */
	ARRAY(struct study_level) levels;	  /* outermost first; the last is the cluster */
	number_list l_samples;			  /* by number, ascending */
	number_list dropped;			  /* by the cutoffs for length_ns */
	double sigma_ns, sigma_kept_ns;		  /* of the ET of all, and without the dropped */
	double mean_ns, mean_kept_ns;
	/* Samples were compared by an ET without the variation of the program's own process time
	 * (sedona_steady). The steady sigmas, the cluster's bounds and the levels are of that
	 * ET. */
	bool steadied;
	double steady_sigma_ns, steady_sigma_kept_ns;
};

struct study {
	int64_t id; /* in the lab; 0 before it is stored */
	enum study_source source;
	int64_t made_at_ns; /* CLOCK_REALTIME */
	int64_t machine;    /* id in the lab; 0: unknown */
	struct study_run runs[STUDY_LENGTHS];
	ARRAY(struct study_daemon) daemons; /* long-running ones first, then by name */
	cutoff_list cutoffs;		    /* by daemon, then from_ns */
};

void study_release(struct study *s); /* and zeroes it */

/* A watch in the lab's list. */
struct watch_row {
	int64_t id, machine, begun_at_ns, ended_at_ns; /* CLOCK_REALTIME; of what is kept */
	uint64_t covered_ns, bytes, bursts, lost;
	bool going;
};

extern const struct field study_fields[], study_run_fields[], study_level_fields[],
	study_daemon_fields[], study_seen_fields[], cutoff_fields[], watch_row_fields[];
extern const struct shape study_run_shape, study_level_shape, study_period_shape,
	study_daemon_shape, study_seen_shape, cutoff_shape, cutoff_range_shape, watch_row_shape;

/* The cutoff for a program of this ET; NULL: none. */
const struct cutoff *cutoff_find(const struct cutoff *list, size_t count, const char *daemon,
				 uint64_t et_ns);

/* A run gives the daemon a cutoff, but the study has none: it would be below the most that the
 * daemon takes in the cluster of a run, and so drop what is usual. */
bool study_is_undecided(const struct study *s, const struct study_daemon *d);

#endif
