/* Plots in the terminal that replace a table longer than the screen. Each ends with a line that
 * says how to get the rows. */
#ifndef TARE_REPORT_CHART_PLOT_H
#define TARE_REPORT_CHART_PLOT_H

#include "report/duet/report.h"
#include "report/noise/report.h"
#include "report/query/report.h"
#include "report/time/report.h"

/* Whether this many lines are too many for the screen, where the prompt also needs one. */
bool plot_wanted(const struct style *s, size_t lines);

/* Replaces time_executions_brief(): the headline over the executions, with dropped ones marked. */
void plot_executions(const struct run_view *v, const struct style *s, struct strbuf *out);
/* Replaces time_processes(): who used the most CPU time. */
void plot_processes(const struct run_view *v, const struct style *s, struct strbuf *out);

/* Replaces duet_pairs_table(): the ratio of each pair. */
void plot_pairs(const struct duet_view *v, const struct style *s, struct strbuf *out);

/* Follows noise_hist(): the densities of all CPUs together. */
void plot_noise(const struct noise_view *v, const struct style *s, struct strbuf *out);

struct query_rows;
/* Replaces the times of query_text(): time by cardinality, with a sign for each query. */
void plot_queries(const struct query_view *v, const struct query_rows *rows, const struct style *s,
		  struct strbuf *out);

#endif
