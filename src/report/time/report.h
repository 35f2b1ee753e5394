/* The report of `tare time` and `tare show`: one run, or several of one command line. New and
 * stored runs take the same path. Everything is appended to a strbuf; nothing is printed here. */
#ifndef TARE_REPORT_TIME_REPORT_H
#define TARE_REPORT_TIME_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "protocol/emp/emp.h"
#include "record/execution.h"
#include "record/machine.h"
#include "report/core/table.h"

/* All borrowed. */
struct run_view {
	const struct run *run;
	const struct execution *executions; /* with processes if they are loaded */
	size_t count;
	const struct emp_result *result; /* from emp_judge() over these executions */
	const struct machine *machine;	 /* may be NULL */
};

/* `reference` is the run (from 1) that several others are compared with; 0: the fastest. */

/* For people: a block for each run, then a summary of two or more runs. */
void time_text(const struct run_view *views, size_t count, size_t reference,
	       const struct style *style, struct strbuf *out);
/* Its parts, for printing each block when its run ends. number counts from 1. */
enum time_said {			 /* said in an earlier block, and not repeated */
		 TIME_NOT_SEEN_SAID = 1, /* what this back end does not see */
		 TIME_LEDGER_SAID = 2,	 /* what the kernel does not report to the ledger */
};
void time_text_run(const struct run_view *view, size_t number, unsigned said,
		   const struct style *style, struct strbuf *out);
void time_text_summary(const struct run_view *views, size_t count, size_t reference,
		       const struct style *style, struct strbuf *out);

/* For `--ledger`: the mean ledger of the kept executions, or that of the execution with index
 * `only`, with its threads if loaded. Returns false, and appends nothing, if there is none. */
#define LEDGER_OF_KEPT SIZE_MAX
bool time_ledger(const struct run_view *view, size_t only, const struct style *style,
		 struct strbuf *out);

/* For `--counters`: poop's table of a run, with the difference from the first one. Returns false,
 * and appends nothing, without counters. */
bool time_counters(const struct run_view *view, const struct run_view *first,
		   const struct style *style, struct strbuf *out);

/* The exports below omit runs without a measured execution, which have no figures; JSON lists them
 * under tare.failed_runs. */
/* A superset of hyperfine's export; docs/schema/time.schema.json. */
void time_json(const struct run_view *views, size_t count, size_t reference, struct strbuf *out);
/* hyperfine's columns (seconds, over all measured executions), then tare's (ns, over kept ones),
 * and the ratio to the reference by what the runs are compared by. */
void time_csv(const struct run_view *views, size_t count, size_t reference, struct strbuf *out);
/* hyperfine's table plus process time, over kept executions: TABLE_MARKDOWN, _ASCIIDOC, _ORGMODE or
 * _TEXT. */
void time_markup(const struct run_view *views, size_t count, size_t reference,
		 const struct style *style, enum table_format format, struct strbuf *out);

/* One row per execution, for `tare export`. The caller renders and frees it. Times are as recorded;
 * et_less_shell_ns and pt_less_shell_ns are what the protocol summarises. If an execution has a
 * ledger, its wall view follows, one column per cause; counters follow, one column each. */
struct table *time_executions(const struct run_view *views, size_t count);
/* Like time_executions(), for people, one run in 80 columns: ET and PT (without the shell), peak
 * memory, forced switches, and why an execution was dropped. */
struct table *time_executions_brief(const struct run_view *view);
/* One row per name and role of the processes seen in the measured executions: the subject's first,
 * then by CPU time. The caller renders and frees it. */
struct table *time_processes(const struct run_view *view);

#endif
