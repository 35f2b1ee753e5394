/* Plots in the terminal, in place of a table that is longer than its screen. Each ends with a line
 * that says how to get the rows. */
#ifndef TARE_REPORT_CHART_PLOT_H
#define TARE_REPORT_CHART_PLOT_H

#include "report/noise/report.h"
#include "report/query/report.h"
#include "report/time/report.h"

struct plot_style {
	size_t width, lines; /* of the screen; lines 0: there is none, and nothing is too long */
	bool colour, ascii;
};

/* Whether so many lines are too many for it: the prompt needs one, too. */
bool plot_wanted(const struct plot_style *s, size_t lines);

/* "300 rows: --all, or through a pipe" */
void plot_rows_line(size_t rows, const char *what, const struct plot_style *s, struct strbuf *out);

/* In place of time_executions_brief(): the headline over the executions, dropped ones marked. */
void plot_executions(const struct run_view *v, const struct plot_style *s, struct strbuf *out);
/* In place of time_processes(): who used the most CPU time. */
void plot_processes(const struct run_view *v, const struct plot_style *s, struct strbuf *out);

/* After noise_hist(): the densities of all CPUs together. */
void plot_noise(const struct noise_view *v, const struct plot_style *s, struct strbuf *out);

struct query_rows;
/* In place of the times of query_text(): time by cardinality, a sign for each query. */
void plot_queries(const struct query_view *v, const struct query_rows *rows,
		  const struct plot_style *s, struct strbuf *out);

#endif
