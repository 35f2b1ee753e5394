/* All charts, by their source. Each fills an empty chart once, and fails with EXIT_USAGE if there
 * is nothing to draw. */
#ifndef TARE_REPORT_CHART_CHARTS_H
#define TARE_REPORT_CHART_CHARTS_H

#include "protocol/sedona/sedona.h"
#include "report/chart/chart.h"
#include "report/duet/report.h"
#include "report/noise/report.h"
#include "report/profile/report.h"
#include "report/query/report.h"
#include "report/time/report.h"

/* measure EMP_MEASURES: the best, unless the chart needs ET. User and system are not allowed. */
int chart_samples(struct chart *c, const struct run_view *v, enum emp_measure measure,
		  struct error *err);
int chart_histogram(struct chart *c, const struct run_view *v, enum emp_measure measure,
		    struct error *err);
int chart_density(struct chart *c, const struct run_view *v, enum emp_measure measure,
		  struct error *err);
int chart_ledger(struct chart *c, const struct run_view *v, struct error *err);
int chart_dual(struct chart *c, const struct run_view *v, enum emp_measure measure,
	       struct error *err);
int chart_compare(struct chart *c, const struct run_view *views, size_t count,
		  enum emp_measure measure, struct error *err);
int chart_sigma(struct chart *c, const struct run_view *views, size_t count, struct error *err);

/* One block: the rates at this many lengths, evenly spaced by their logarithm. */
#define CHART_NOISE_GRID 512
int chart_noise(struct chart *c, const struct noise_view *v,
		const struct noise_view *baseline, /* NULL: none */
		struct error *err);
int chart_sources(struct chart *c, const struct noise_view *v, size_t most, struct error *err);
/* A line for each CPU, for up to CHART_PENS of them: the kind of work that varied most. */
int chart_speed(struct chart *c, const struct noise_view *v, struct error *err);

int chart_functions(struct chart *c, const struct profile_subject *s, const struct sleepy_view *v,
		    size_t most, struct error *err);
int chart_system(struct chart *c, const struct profile_subject *s, struct error *err);

/* query 0: all queries. */
int chart_query(struct chart *c, const struct query_view *v, uint32_t query, struct error *err);
int chart_split(struct chart *c, const struct query_view *v, uint32_t query, struct error *err);
int chart_matrix(struct chart *c, const struct query_view *v, struct error *err);

/* The ratio of each pair, and how it settled look by look. */
int chart_duet(struct chart *c, const struct duet_view *v, struct error *err);
/* The ratios of one or several duets with their intervals. */
int chart_forest(struct chart *c, const struct duet_view *views, size_t count, struct error *err);

/* level: the zoom, from 1; 0: the last, with the cluster. is_l has an entry for each sample. */
int chart_zoom(struct chart *c, const struct study *s, enum study_length length,
	       const struct machine *machine, const struct sedona_run *r, const bool *is_l,
	       size_t level, struct error *err);
/* Pairs of samples in the window of a level; is_l may be NULL. */
void chart_pairs(struct chart *c, const struct sedona_run *r, const bool *is_l,
		 const struct study_level *l);
int chart_periods(struct chart *c, const struct study *s, enum study_length length,
		  const struct machine *machine, const struct sedona_run *r, struct error *err);

#endif
