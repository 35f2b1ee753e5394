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

/* Loads an experiment by a file's path or the name of a built-in one. */
int query_scale(const char *text, double *scale, struct error *err); /* NULL: 0, the default */
int query_experiment(const char *name, double scale, struct experiment *into, struct error *err);

int query_record(struct lab_access *lab, int argc, char **argv);
int query_resume(struct lab_access *lab, int argc, char **argv);
int query_report(struct lab_access *lab, int argc, char **argv);
int query_compare(struct lab_access *lab, int argc, char **argv);
int query_check(struct lab_access *lab, int argc, char **argv);
int query_import(struct lab_access *lab, int argc, char **argv);

#endif
