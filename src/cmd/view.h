/* Views of loaded runs for reports, and what several commands share for runs of commands. */
#ifndef TARE_CMD_VIEW_H
#define TARE_CMD_VIEW_H

#include "base/options.h"
#include "report/duet/report.h"
#include "report/noise/report.h"
#include "report/profile/report.h"
#include "report/query/report.h"
#include "report/time/report.h"
#include "run/load.h"

/* Views of loaded runs. The caller frees the array of the first. */
struct run_view *loaded_views(const loaded_list *list);
struct noise_view loaded_noise(const struct loaded_run *l);
struct profile_subject loaded_profile(const struct loaded_run *l);
struct query_view loaded_queries(const struct loaded_run *l);
struct duet_view loaded_duet(const struct loaded_run *l);

/* Converts "7", or "w1" for a warm-up, to an index of the executions. */
int loaded_find_execution(const struct loaded_run *l, const char *command, const char *text,
			  size_t *index, struct error *err);
/* Explains why the run, or one execution (LEDGER_OF_KEPT: the kept ones), has no ledger. Always
 * returns -1 with EXIT_ENVIRONMENT. */
int loaded_no_ledger(const struct loaded_run *l, size_t only, struct error *err);

/* "'b' is 1.25 times slower than 'a' in process time (exec): ..." base and other are the first of
 * as many runs as the comparison has on each side. */
void comparison_sentence(const struct loaded_run *base, const struct loaded_run *other,
			 const struct run_comparison *c, struct strbuf *out);
/* Like comparison_sentence(), in lines that fit the terminal. */
void put_comparison(const struct loaded_run *base, const struct loaded_run *other,
		    const struct run_comparison *c, struct strbuf *out);
/* "Compared by elapsed time: 'a' slept or did I/O 95 % of its time."; why "": nothing. */
void put_comparison_why(enum emp_measure measure, const char *why, struct strbuf *out);
/* The choices of --measure; the best is EMP_MEASURES. Counts are only for comparisons. */
#define COMPARED_TIMES "best|et|net|exec|tick|steady"
#define COMPARED_MEASURES COMPARED_TIMES "|instructions|cycles"
extern const enum emp_measure compared_measures[8];
/* The same as they are kept with a run; NULL: the best. */
extern const char *const compared_words[8];

/* Returns true, and says so on stderr, if it is significantly slower by more than this share, or if
 * there are too few executions to tell. */
bool cmd_judge_slower(const struct run_comparison *c, double share);

/* Loads a run or, with whole_study, all runs of its command line. */
int cmd_add_run(loaded_list *list, struct lab *lab, int64_t id, bool whole_study,
		const struct load_options *how, struct error *err);
/* Opens the lab and loads the named runs of commands, or the newest if there are no names.
 * whole_study: as above. */
int cmd_load_runs(struct lab_access *in, const text_list *names, bool whole_study,
		  const struct load_options *how, loaded_list *list, struct error *err);

#endif
