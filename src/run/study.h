/* From samples to a study of daemons: stored runs, or windows cut from what was watched, as
 * samples; and the study made of them and stored. */
#ifndef TARE_RUN_STUDY_H
#define TARE_RUN_STUDY_H

#include "lab/lab.h"
#include "protocol/sedona/sedona.h"
#include "run/record.h"

#define STUDY_LEAST 6	  /* samples of a run, below which there is no cluster to find */
#define STUDY_MOST 100000 /* samples of a run */

struct study_input {
	notice_fn notice; /* told by the caller */
	enum study_source source;
	int64_t machine; /* id in the lab; 0: not known, then nothing is stored */
	bool has_long;
	struct sedona_run runs[STUDY_LENGTHS];
	enum backend seen; /* how the last run that was loaded was measured */
};
void study_input_release(struct study_input *in);

/* A stored run as samples, and its machine. */
int study_load(struct lab *lab, int64_t run, enum study_length as, struct study_input *in,
	       struct error *err);
/* A stored run, and a long one unless `second` is 0. */
int study_load_pair(struct lab *lab, int64_t first, int64_t second, struct study_input *in,
		    struct error *err);
/* The samples of a stored study, for its plots; of a run that is gone, or was cut from a watch,
 * there are none, and its is_l stays NULL. The caller frees is_l, also after an error. */
int study_load_samples(struct lab *lab, const struct study *s, struct study_input *in,
		       bool *is_l[STUDY_LENGTHS], struct error *err);

/* Which windows are cut from what this machine's watches have on record. */
struct study_windows {
	int64_t since_ns, until_ns;	    /* 0: not given */
	uint64_t lengths_ns[STUDY_LENGTHS]; /* 0: not given */
	int cpu;			    /* or WINDOWS_WORST_CPU; then the one that was taken */
	/* found: what is on record of the time given */
	size_t stretches;
	uint64_t covered_ns, lost;
};
/* A watch that is going stores what it has so far before. */
int study_cut_windows(struct lab *lab, struct study_windows *w, struct study_input *in,
		      struct error *err);

/* Steps 3 to 10. */
struct study_made {
	struct study study;	   /* its id is 0 unless it was stored */
	struct machine machine;	   /* no facts: unknown */
	bool *is_l[STUDY_LENGTHS]; /* for every sample of the input */
	int64_t replaced; /* the study whose place it took, 0: none; and that one's cutoffs */
	size_t replaced_cutoffs;
};
int study_make(struct lab *lab, const struct study_input *in, bool store, struct study_made *out,
	       struct error *err);
void study_made_release(struct study_made *m);

#endif
