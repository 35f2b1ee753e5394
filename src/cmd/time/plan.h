/* Options of `tare time`, and the commands made from them. Private to it. */
#ifndef TARE_CMD_TIME_PLAN_H
#define TARE_CMD_TIME_PLAN_H

#include "base/options.h"
#include "run/record_time.h"

struct time_options {
	long warmup, runs, min_runs, max_runs;
	double precision;
	const char *setup, *cleanup, *reference, *shell, *input, *step;
	text_list prepare, conclude, names, outputs, scans, lists;
	bool no_shell, show_output, keep_outliers, no_aslr, no_padding, as_root, no_lab, json;
	bool no_speed;
	const char *counters;	       /* NULL: the usual ones; "none"; or a list */
	bool ledger, no_ledger, trace; /* ledger: it must be kept, and is shown in full */
	bool quiet, no_cutoffs;
	bool duet;	    /* compare the commands as `tare duet` does */
	int emp;	    /* the requested version of EMP; 0: none */
	const char *ignore; /* NULL: not given; "" or "all-non-zero", or a list of codes */
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

/* Sets the options that the requested version of EMP implies, before the plan is made. */
int time_apply_emp(struct time_options *o, struct error *err);

/* Refuses options that have no meaning with --duet. */
int time_check_duet(const struct time_options *o, struct error *err);

/* Makes the plan and checks everything that can be checked before anything runs. */
int time_plan_make(const struct time_options *o, const text_list *operands, struct time_plan *out,
		   struct error *err);

/* Every option that shaped the run, as a JSON object. The caller frees it. quiet: what was changed
 * on the machine for it. */
char *time_conditions(const struct time_options *o, const struct time_plan *p,
		      const struct run_quiet *quiet);

#endif
