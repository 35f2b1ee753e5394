/* Private to `tare time`: its options, and the commands they make. */
#ifndef TARE_CMD_TIME_PLAN_H
#define TARE_CMD_TIME_PLAN_H

#include "base/options.h"
#include "measure/parameters.h"
#include "measure/plan.h"

struct json_t; /* of jansson */

struct time_options {
	long warmup, runs, min_runs, max_runs;
	double precision;
	const char *setup, *cleanup, *reference, *shell, *input, *step;
	text_list prepare, conclude, names, outputs, scans, lists;
	bool no_shell, show_output, keep_outliers, no_aslr, no_padding, as_root, no_lab, json;
	bool ledger, no_ledger, trace; /* ledger: it must be kept, and is shown whole */
	bool quiet, no_cutoffs;
	int emp;	    /* the version of EMP asked for; 0: none */
	const char *ignore; /* NULL not given, "" or "all-non-zero", or a list of codes */
	int order, backend, orphans, unit, style, measure;
	uint64_t time_limit_ns, grace_ns, min_time_ns;
	const char *cpus, *sched, *tag, *baseline;
	struct lab_access *lab;
	long nice_level, seed;
	double slower;
	const char *export_json, *export_csv, *export_markdown, *export_asciidoc, *export_orgmode;
};

enum time_style_choice {
	STYLE_AUTO,
	STYLE_BASIC,
	STYLE_FULL,
	STYLE_NOCOLOR,
	STYLE_COLOR,
	STYLE_NONE
};

/* One command with its parameters filled in, and what it is started with. */
struct time_command {
	char *text, *name;  /* as given, filled in */
	size_t combination; /* of the parameters; SIZE_MAX for the reference */
	word_list argv, setup, prepare, conclude, cleanup;
	char *output; /* --output with the parameters filled in; NULL: none */
};

struct time_plan {
	parameter_space space;
	ARRAY(struct time_command) commands;
	word_list shell;  /* empty: none */
	ARRAY(int) codes; /* exit codes that are no failure */
	cpu_set_t cpus;
	struct plan_item *items;
	struct plan plan;
};

/* Fills in what the version of EMP asked for stands for, before the plan is made. */
int time_apply_emp(struct time_options *o, struct error *err);

/* Everything that can be judged before anything runs. */
int time_plan_make(const struct time_options *o, const text_list *operands, struct time_plan *out,
		   struct error *err);
void time_plan_release(struct time_plan *p);

/* Every option that shaped the run, as a JSON object; the caller frees. quiet: what was done to the
 * machine for it; a reference that is taken over, or NULL. */
char *time_conditions(const struct time_options *o, const struct time_plan *p,
		      struct json_t *quiet);

#endif
