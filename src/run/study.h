/* Makes a study of daemons: loads samples from stored runs or cuts them from a watch, then makes
 * the study and stores it. */
#ifndef TARE_RUN_STUDY_H
#define TARE_RUN_STUDY_H

#include "lab/lab.h"
#include "protocol/sedona/sedona.h"
#include "run/record.h"

#define STUDY_LEAST 6	  /* samples of a run; fewer cannot form a cluster */
#define STUDY_MOST 100000 /* samples of a run */

struct study_input {
	notice_fn notice; /* set by the caller */
	enum study_source source;
	int64_t machine; /* id in the lab; 0: unknown, and then nothing is stored */
	bool has_long;
	enum sedona_steadying steadying; /* set by the caller */
	struct sedona_run runs[STUDY_LENGTHS];
	enum backend seen; /* the back end of the last run that was loaded */
};
void study_input_release(struct study_input *in);

/* Loads a stored run as samples, and its machine. */
int study_load(struct lab *lab, int64_t run, enum study_length as, struct study_input *in,
	       struct error *err);
/* Loads a stored run, and a long one unless `second` is 0. */
int study_load_pair(struct lab *lab, int64_t first, int64_t second, struct study_input *in,
		    struct error *err);
/* Loads the samples of a stored study for its plots. A run that was removed, or was cut from a
 * watch, has none, and its is_l stays NULL. The caller frees is_l, even after an error. */
int study_load_samples(struct lab *lab, const struct study *s, struct study_input *in,
		       bool *is_l[STUDY_LENGTHS], struct error *err);

/* Which windows to cut from the watches of this machine. */
struct study_windows {
	int64_t since_ns, until_ns;	    /* 0: not given */
	uint64_t lengths_ns[STUDY_LENGTHS]; /* 0: not given */
	int cpu; /* or WINDOWS_WORST_CPU; set to the CPU that was taken */
	/* results: what the watches have recorded in that time */
	size_t stretches;
	uint64_t covered_ns, lost;
};
/* A watch that is running first stores what it has so far. */
int study_cut_windows(struct lab *lab, struct study_windows *w, struct study_input *in,
		      struct error *err);

/* What a study finds, in numbers. */
struct study_counts {
	size_t l_samples, dropped, cutoffs;
};

/* Steps 3 to 10. */
struct study_made {
	struct study study;	   /* id 0: not stored */
	struct machine machine;	   /* no facts: unknown */
	bool *is_l[STUDY_LENGTHS]; /* for every sample of the input */
	/* Of the same samples, none steadied if one of the study's runs is, otherwise all. Without
	 * process times, the study itself. */
	struct study_counts found, otherwise;
	bool steadied;	  /* one of the runs is */
	int64_t replaced; /* the study that it replaced, or 0, and that study's cutoffs */
	size_t replaced_cutoffs;
};
int study_make(struct lab *lab, const struct study_input *in, bool store, struct study_made *out,
	       struct error *err);
void study_made_release(struct study_made *m);

#endif
