/* Loads stored runs for a report, new and old ones alike: from the lab through the protocol. */
#ifndef TARE_RUN_LOAD_H
#define TARE_RUN_LOAD_H

#include "lab/lab.h"
#include "protocol/duet/duet.h"
#include "protocol/emp/choice.h"
#include "protocol/ttp/ttp.h"

/* Whether to apply the cutoffs of the run's machine. */
enum cutoff_use {
	CUTOFFS_OF_RUN, /* unless the run was made without */
	CUTOFFS_NONE,
	CUTOFFS_ALL, /* even if the run was made without */
};

/* How much of a run to load and how to judge it. All zero is valid. */
struct load_options {
	bool may_be_empty;	     /* a run without data is not an error, but has .stored false */
	enum lab_detail detail;	     /* for commands */
	enum cutoff_use cutoffs;     /* for commands */
	const char *measure;	     /* for commands: in place of the one asked for (choice.h) */
	uint64_t since_ns, until_ns; /* for profiles, since the run's begin; until 0: its end */
	bool code;		     /* for profiles: also load the code of functions */
	bool paper;		     /* for queries: judge exactly as the paper does */
};

/* A run with the data of its kind and the verdict of the kind's protocol. */
struct loaded_run {
	struct run run;		/* id 0: no lab keeps it */
	struct machine machine; /* no facts: unknown */
	bool stored;
	union {
		struct { /* SUBJECT_COMMAND */
			execution_list executions;
			struct lab_cutoffs cutoffs;   /* those applied */
			double speed_ns[SPEED_KINDS]; /* the best seen of its machine; NaN: none */
			struct emp_result result;
		};
		struct noise noise; /* SUBJECT_CPU */
		struct {	    /* SUBJECT_SYSTEM */
			struct profile profile;
			uint64_t begin_ns; /* of its first slice, even if that is not loaded */
		};
		struct { /* SUBJECT_QUERY */
			struct query_run queries;
			struct ttp_options ttp_options;
			struct ttp_result ttp;
		};
		struct { /* SUBJECT_DUET */
			struct duet duet;
			struct duet_result duet_result;
		};
	};
};

/* After an error there is nothing to release. options NULL: all zero. */
int run_load(struct loaded_run *into, struct lab *lab, int64_t id,
	     const struct load_options *options, struct error *err);
void loaded_run_release(struct loaded_run *l); /* a zeroed one is fine */

typedef ARRAY(struct loaded_run) loaded_list;
int loaded_add(loaded_list *list, struct lab *lab, int64_t id, const struct load_options *options,
	       struct error *err);
void loaded_release(loaded_list *list);

/* ---- runs of commands ---- */

/* The options that its result was judged by. They are valid while l is not moved. */
struct emp_options loaded_options(const struct loaded_run *l);

/* What the runs are compared by (choice.h). why, unless NULL, gets the reason in words. */
void loaded_choose(const struct loaded_run *base, size_t n_base, const struct loaded_run *other,
		   size_t n_other, enum emp_measure asked, struct emp_choice *out,
		   struct strbuf *why);

/* Compares two runs by `measure`; EMP_MEASURES: as loaded_choose() says. */
struct run_comparison {
	enum emp_measure measure;
	struct emp_comparison result;
};
int loaded_compare(const struct loaded_run *base, const struct loaded_run *other,
		   enum emp_measure measure, struct run_comparison *out, struct error *err);
/* Compares two sides of one or more runs each, which follow each other in memory. With several, the
 * interval has the variation between the runs of a side (summarise_runs()). */
int loaded_compare_sides(const struct loaded_run *base, size_t n_base,
			 const struct loaded_run *other, size_t n_other, enum emp_measure measure,
			 struct run_comparison *out, struct error *err);

#endif
