/* What the reports of noise have in common: private to report/. */
#ifndef TARE_REPORT_NOISE_ROWS_H
#define TARE_REPORT_NOISE_ROWS_H

#include "report/core/format.h"
#include "report/noise/report.h"

/* A spread as it is read: one of nothing has no extremes, one of one has no sigma. */
struct noise_figures {
	uint64_t count, ns;
	uint64_t min_ns, max_ns;  /* ABSENT_NS: none */
	double mean_ns, sigma_ns; /* NaN: none */
};
void noise_figures_of(const struct noise_spread *s, struct noise_figures *out);

/* A source, or a combination in the time domain. Borrowed from the CPU it was made of. */
struct noise_row {
	const char *name;
	enum noise_class class;		 /* NOISE_CLASSES: a combination */
	struct noise_figures seen, told; /* told: of a combination */
	double share;			 /* of all time lost on the CPU; NaN: there is none */
	double period_ns, period_share;	 /* NaN: none */
	const struct noise_histogram *lengths;
};
void noise_row_of_source(const struct noise_cpu *c, const struct noise_source *s,
			 struct noise_row *row);
void noise_row_of_combination(const struct noise_cpu *c, const struct noise_combination *x,
			      struct noise_row *row);

struct noise_rows {
	ARRAY(struct noise_row) list; /* by time, the most first */
	uint64_t ns;		      /* of all detours */
};

/* Rows without an occurrence are left out. */
void noise_rows_of(const struct noise_cpu *c, enum noise_mode mode, struct noise_rows *out);
void noise_rows_release(struct noise_rows *rows);

void noise_coverage_of(const struct noise *n, const struct noise_cpu *c, uint64_t from_ns,
		       struct noise_coverage *out);
/* Whether this run could know of the class. */
bool noise_class_told(const struct noise *n, enum noise_class class);
/* Makes absent what it could not know. */
void noise_hide_untold(const struct noise *n, uint64_t class_ns[NOISE_CLASSES]);

/* The window less what the loop needed for its notes. */
double noise_watched_ns(const struct noise_cpu *c);
/* What every rate per s is of; of all CPUs together their sum, so that rates are of one. */
double noise_window_s(const struct noise_cpu *c);
/* Of the time that passed, pauses between rounds included; NaN without a window. */
double noise_duty(const struct noise *n, const struct noise_cpu *c);
/* Of the window, the time looked at, as in the lab's views and in comparisons; NaN without one. */
double noise_lost_share(const struct noise_cpu *c);
double noise_detour_rate(const struct noise_cpu *c); /* per s */
/* Shortest and longest detour; false when there is none. */
bool noise_extremes(const struct noise_cpu *c, uint64_t *min_ns, uint64_t *max_ns);
/* The sum over [first, end) of the buckets. */
struct noise_bucket noise_histogram_sum(const struct noise_histogram *h, unsigned first,
					unsigned end);

/* A row of the histograms, made absent what could not be known; false: it is empty. */
bool noise_bucket_told(const struct noise *n, const struct noise_cpu *c, unsigned bucket,
		       struct noise_bucket_row *out);

/* ---- comparisons ---- */

/* One of the two. Borrowed. */
struct noise_side {
	int64_t run; /* 0: not stored */
	const char *name;
	struct noise noise;
	uint64_t window_ns;    /* looked at, summed over the CPUs */
	uint64_t threshold_ns; /* the largest */
};
struct noise_side noise_side_of(const struct noise_view *v);

/* One sentence. */
void noise_diff_verdict(const struct noise *base, const struct noise *run,
			const struct jitter_diff *d, struct strbuf *out);

/* What makes a difference that no source made: one sentence each. */
typedef ARRAY(char *) note_list;
void noise_diff_notes(const struct noise_view *base, const struct noise_view *run, note_list *list);
void noise_diff_notes_release(note_list *list);

/* What JSON has of it. */
struct noise_diff_report {
	const char *text; /* the verdict */
	note_list notes;
	struct noise_side base, run;
	struct jitter_diff diff;
	uint64_t counts[JITTER_CHANGES]; /* of sources, by change */
	ARRAY(const struct jitter_peak) peaks;
	ARRAY(const double) grid_ns, base_density, run_density;
};

/* ---- text ---- */

struct noise_style noise_normal_style(const struct noise_style *given);
/* "CPU 3", "CPUs 0-3, 8" */
void put_cpus(const struct noise *n, struct strbuf *out);
/* "ordinary scheduling", "SCHED_FIFO 95" */
void put_scheduling(const struct noise *n, struct strbuf *out);
#define NOISE_WIDE 104 /* columns from which on a source's class and period have one */
/* The table of the first `most` rows (0: all), and a line on the others. */
void put_noise_sources(const struct noise_rows *rows, size_t most, const struct noise_style *style,
		       struct strbuf *out);
/* Histograms of one CPU or of all together, densities of all. */
void put_noise_histograms(const struct noise_cpu *c, const struct style *style, struct strbuf *out);
void put_noise_density(const struct noise_view *v, const struct style *style, struct strbuf *out);
/* "… and 3 more (1.20 %)", where there are more. */
void put_noise_rest(size_t more, double share, const struct style *style, struct strbuf *out);
#endif
