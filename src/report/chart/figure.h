/* A figure for a paper: its data as a file of columns, and the gnuplot script that draws it. Both
 * are text; whoever runs gnuplot is no concern of this. Names of runs, functions and the like are
 * any bytes and reach the script only as quoted text on one line. */
#ifndef TARE_REPORT_CHART_FIGURE_H
#define TARE_REPORT_CHART_FIGURE_H

#include "base/error.h"
#include "base/strbuf.h"
#include "protocol/sedona/sedona.h"
#include "report/noise/report.h"
#include "report/profile/report.h"
#include "report/query/report.h"
#include "report/time/report.h"

struct figure;
struct figure *figure_new(void);
void figure_free(struct figure *f); /* NULL is fine */

/* ---- what it shows: one of these, once. EXIT_USAGE where there is nothing to draw ---- */

/* measure EMP_MEASURES: the best, where the kind does not ask for ET; user and system are none. */
int figure_samples(struct figure *f, const struct run_view *v, enum emp_measure measure,
		   struct error *err);
int figure_histogram(struct figure *f, const struct run_view *v, enum emp_measure measure,
		     struct error *err);
int figure_density(struct figure *f, const struct run_view *v, enum emp_measure measure,
		   struct error *err);
int figure_ledger(struct figure *f, const struct run_view *v, struct error *err);
int figure_dual(struct figure *f, const struct run_view *v, enum emp_measure measure,
		struct error *err);
int figure_compare(struct figure *f, const struct run_view *views, size_t count,
		   enum emp_measure measure, struct error *err);
int figure_sigma(struct figure *f, const struct run_view *views, size_t count, struct error *err);

int figure_noise(struct figure *f, const struct noise_view *v,
		 const struct noise_view *baseline, /* NULL: none */
		 struct error *err);
int figure_sources(struct figure *f, const struct noise_view *v, size_t most, struct error *err);

int figure_functions(struct figure *f, const struct profile_subject *s, const struct sleepy_view *v,
		     size_t most, struct error *err);
int figure_system(struct figure *f, const struct profile_subject *s, struct error *err);

/* query 0: all of them. */
int figure_query(struct figure *f, const struct query_view *v, uint32_t query, struct error *err);
int figure_split(struct figure *f, const struct query_view *v, uint32_t query, struct error *err);
int figure_matrix(struct figure *f, const struct query_view *v, struct error *err);

/* level: the zoom, from 1; 0: the last, with the cluster. is_l: of each sample. */
int figure_zoom(struct figure *f, const struct study *s, enum study_length length,
		const struct machine *machine, const struct sedona_run *r, const bool *is_l,
		size_t level, struct error *err);
int figure_periods(struct figure *f, const struct study *s, enum study_length length,
		   const struct machine *machine, const struct sedona_run *r, struct error *err);

/* ---- how ---- */

enum figure_format { FIGURE_PDF, FIGURE_SVG, FIGURE_PNG, FIGURE_FORMATS };
const char *figure_extension(enum figure_format format); /* "pdf" */

struct figure_look {
	enum figure_format format;
	double width_cm, height_cm; /* 0: what fits */
	const char *title;	    /* NULL: none */
	/* In the script's directory. No control characters. */
	const char *data_name, *picture_name;
};
#define FIGURE_COLUMN_CM 8.5
#define FIGURE_WIDE_CM 17.5

/* What the reader of a figure should be told beside it; NULL: nothing. */
const char *figure_note(const struct figure *f);
void figure_data(const struct figure *f, struct strbuf *out);
void figure_script(const struct figure *f, const struct figure_look *look, struct strbuf *out);

#endif
