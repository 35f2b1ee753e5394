/* Shared by the parts of `tare query`. */
#ifndef TARE_CMD_QUERY_QUERY_H
#define TARE_CMD_QUERY_QUERY_H

#include "base/options.h"
#include "cmd/kinds.h"
#include "cmd/view.h"
#include "lab/lab.h"
#include "protocol/ttp/ttp.h"
#include "report/query/report.h"
#include "subject/experiment.h"

/* How to print a stored run. */
struct query_display {
	struct lab_access *lab;
	bool json, csv, markdown, executions, paragraphs; /* at most one, on standard output */
	bool all, plans, model, checks, paper;
	const char *ledger; /* "3" or "3@20000" */
	const char *others; /* as in struct query_view; may be NULL */
	const char *export_json, *export_csv, *export_markdown, *export_executions;
};
void query_display_specs(spec_list *into, struct query_display *d);
int query_display_check(const struct query_display *d, struct error *err);
/* Whether only the requested output may be on standard output. */
bool query_to_stdout(const struct query_display *d);

int query_print(struct lab *lab, const struct loaded_run *l, const struct query_display *d,
		bool quiet, struct error *err);
/* In one of the forms of its kind; as CSV, with a row for each execution where that is asked for.
 */
void query_put(const struct loaded_run *l, enum run_form_as as, bool executions,
	       const struct query_display *d, struct strbuf *out);

/* "3" or "join" is the query at its largest cardinality, "join@20000" at that one. */
int query_find_at(const struct query_run *q, const char *text, const struct query_at **at,
		  struct error *err);

/* The executions of a query run as those of a command, for the reports that take these. */
struct query_executions {
	const struct loaded_run *of;
	const struct query_at *at; /* NULL: of all Q@Cs */
	execution_list list;	   /* by number, within their Q@C if there is one */
	struct emp_result result;  /* of a Q@C: EMP_OUTSIDE where the protocol dropped it */
};
/* Loads them, with their processes and ledgers. They borrow from l. */
int query_executions_load(struct lab *lab, const struct loaded_run *l, const struct query_at *at,
			  struct query_executions *into, struct error *err);
void query_executions_release(struct query_executions *x);
struct run_view query_executions_view(const struct query_executions *x);
/* The Q@C whose slowest execution took longest, in terms of its median. NULL: there is none. */
const struct query_at *query_most_varied(const struct loaded_run *l);

/* Loads an experiment by a file's path or the name of a built-in one. */
int query_scale(const char *text, double *scale, struct error *err); /* NULL: 0, the default */
int query_experiment(const char *name, double scale, struct experiment *into, struct error *err);

/* Compares two runs and prints it. Returns the exit code, or -1. */
struct query_compare_how {
	enum ttp_time time; /* TTP_TIMES: the best that both have */
	bool json, all;
	/* The code is EXIT_CHECK if a Q@C is slower by more than this share, or nothing could be
	 * compared; below 0: never. */
	double fail_if_slower;
	bool fail_if_plan; /* ... or if a plan changed */
};
int query_compare_runs(struct lab *lab, const text_list *names, const struct query_compare_how *how,
		       struct error *err);

int query_record(struct lab_access *lab, int argc, char **argv);
int query_resume(struct lab_access *lab, int argc, char **argv);
int query_report(struct lab_access *lab, int argc, char **argv);
int query_compare(struct lab_access *lab, int argc, char **argv);
int query_check(struct lab_access *lab, int argc, char **argv);
int query_import(struct lab_access *lab, int argc, char **argv);

#endif
