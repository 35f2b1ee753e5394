/* Stored runs made ready for a report: the one path from lab through protocol, for live and old
 * runs alike. */
#ifndef TARE_CMD_VIEW_H
#define TARE_CMD_VIEW_H

#include "base/options.h"
#include "lab/lab.h"
#include "protocol/emp/emp.h"
#include "report/time/report.h"

/* Whether the cutoffs of the run's machine are applied. */
enum cutoff_use {
	CUTOFFS_OF_RUN, /* unless the run was made without */
	CUTOFFS_NONE,
	CUTOFFS_ALL, /* also where the run was made without */
};

/* The part of a run's conditions that the protocol needs. */
struct loaded_conditions {
	bool ignore_failure, keep_outliers, no_cutoffs, quieted;
	ARRAY(int) codes;
};

struct loaded_run {
	struct run run;
	execution_list executions;
	struct machine machine;
	struct loaded_conditions conditions;
	struct lab_cutoffs cutoffs; /* those applied */
	struct emp_result result;
};

typedef ARRAY(struct loaded_run) loaded_list;

/* Options of the protocol that the run was made under are taken from its conditions, cutoffs from
 * the lab (CUTOFFS_OF_RUN). */
int loaded_add(loaded_list *list, struct lab *lab, int64_t run, enum lab_detail detail,
	       struct error *err);
int loaded_add_by(loaded_list *list, struct lab *lab, int64_t run, enum lab_detail detail,
		  enum cutoff_use use, struct error *err);
/* What its result was judged by. Holds while l stays where it is. */
struct emp_options loaded_options(const struct loaded_run *l);
void loaded_release(loaded_list *list);

/* "7", or "w1" for a warm-up, to an index of the executions. */
int loaded_find_execution(const struct loaded_run *l, const char *command, const char *text,
			  size_t *index, struct error *err);
/* Why the run, or that execution of it (LEDGER_OF_KEPT: the kept ones), has no ledger: always -1,
 * with EXIT_ENVIRONMENT. */
int loaded_no_ledger(const struct loaded_run *l, size_t only, struct error *err);

/* Views onto the loaded runs, to be freed (the array only). */
struct run_view *loaded_views(const loaded_list *list);

/* How the base and another run compare by `measure`; EMP_MEASURES: the best that both have. */
struct run_comparison {
	enum emp_measure measure;
	struct emp_comparison result;
};
int loaded_compare(const struct loaded_run *base, const struct loaded_run *other,
		   enum emp_measure measure, struct run_comparison *out, struct error *err);
/* "'b' is 1.25 times slower than 'a' in process time (exec): ..." */
void comparison_sentence(const struct loaded_run *base, const struct loaded_run *other,
			 const struct run_comparison *c, struct strbuf *out);
/* The same as lines that fit the terminal. */
void put_comparison(const struct loaded_run *base, const struct loaded_run *other,
		    const struct run_comparison *c, struct strbuf *out);
/* What --measure chooses from; the best is EMP_MEASURES. */
#define COMPARED_MEASURES "best|et|net|exec|tick"
extern const enum emp_measure compared_measures[5];

/* True, said on stderr, when it is slower by more than this share and not by chance, or when there
 * are too few executions for any difference to count. */
bool cmd_judge_slower(const struct run_comparison *c, double share);

/* lab_find_run() for what needs executions: a run of 'tare noise' or a profile is an error that
 * says so. */
int cmd_find_run(struct lab *lab, const char *text, int64_t *id, struct error *err);

/* Opens the lab for reading and finds the runs named; with no name, the newest. */
int cmd_load_runs(struct lab_access *in, const text_list *names, enum lab_detail detail,
		  bool whole_study, loaded_list *list, struct error *err);
int cmd_load_runs_by(struct lab_access *in, const text_list *names, enum lab_detail detail,
		     bool whole_study, enum cutoff_use use, loaded_list *list, struct error *err);

#endif
