/* Stored runs made ready for a report: the one path from the lab through the protocol, for live and
 * old runs alike. */
#ifndef TARE_RUN_LOAD_H
#define TARE_RUN_LOAD_H

#include "lab/lab.h"
#include "protocol/emp/emp.h"
#include "protocol/ttp/ttp.h"

/* Whether the cutoffs of the run's machine are applied. */
enum cutoff_use {
	CUTOFFS_OF_RUN, /* unless the run was made without */
	CUTOFFS_NONE,
	CUTOFFS_ALL, /* also where the run was made without */
};

/* How much of a run is loaded and how it is judged; all zero is fine. */
struct load_options {
	bool may_be_empty; /* that nothing was stored of it yet is no error: .stored is false then
			    */
	enum lab_detail detail;	     /* of commands */
	enum cutoff_use cutoffs;     /* of commands */
	uint64_t since_ns, until_ns; /* of profiles, since the run's begin; until 0: its end */
	bool code;		     /* of profiles: also the functions' code */
	bool paper;		     /* of queries: judged word by word as the paper does */
};

/* A run with what its kind has, and the verdict of the kind's protocol. */
struct loaded_run {
	struct run run;		/* id 0: it is in no lab that could be looked at later */
	struct machine machine; /* no facts: unknown */
	bool stored;
	union {
		struct { /* SUBJECT_COMMAND */
			execution_list executions;
			struct lab_cutoffs cutoffs; /* those applied */
			struct emp_result result;
		};
		struct noise noise; /* SUBJECT_CPU */
		struct {	    /* SUBJECT_SYSTEM */
			struct profile profile;
			uint64_t begin_ns; /* of its first slice, also when that is not here */
		};
		struct { /* SUBJECT_QUERY */
			struct query_run queries;
			struct ttp_options ttp_options;
			struct ttp_result ttp;
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

/* What its result was judged by. Holds while l stays where it is. */
struct emp_options loaded_options(const struct loaded_run *l);

/* How the base and another run compare by `measure`; EMP_MEASURES: the best that both have. */
struct run_comparison {
	enum emp_measure measure;
	struct emp_comparison result;
};
int loaded_compare(const struct loaded_run *base, const struct loaded_run *other,
		   enum emp_measure measure, struct run_comparison *out, struct error *err);
/* "process time (net)" */
const char *loaded_measure_words(enum emp_measure m);

#endif
