/* Shared by the reports of noise. Private to report/. */
#ifndef TARE_REPORT_NOISE_ROWS_H
#define TARE_REPORT_NOISE_ROWS_H

#include "protocol/jitter/speed.h"
#include "report/core/format.h"
#include "report/noise/report.h"

/* A spread for display: without values there are no extremes, and with one there is no sigma. */
struct noise_figures {
	uint64_t count, ns;
	uint64_t min_ns, max_ns;  /* ABSENT_NS: none */
	double mean_ns, sigma_ns; /* NaN: none */
};

/* A source, or a combination in the time domain. Borrowed from its CPU. */
struct noise_row {
	const char *name;
	enum noise_class class;		 /* NOISE_CLASSES: a combination */
	struct noise_figures seen, told; /* told: only for a combination */
	double share;			 /* of all time lost on the CPU; NaN: none was */
	double period_ns, period_share;	 /* NaN: none */
	const struct noise_histogram *lengths;
};
void noise_row_of_source(const struct noise_cpu *c, const struct noise_source *s,
			 struct noise_row *row);
void noise_row_of_combination(const struct noise_cpu *c, const struct noise_combination *x,
			      struct noise_row *row);

struct noise_rows {
	ARRAY(struct noise_row) list; /* by time, largest first */
	uint64_t ns;		      /* of all detours */
};

/* Rows without an occurrence are omitted. */
void noise_rows_of(const struct noise_cpu *c, enum noise_mode mode, struct noise_rows *out);
void noise_rows_release(struct noise_rows *rows);

void noise_coverage_of(const struct noise *n, const struct noise_cpu *c, uint64_t from_ns,
		       struct noise_coverage *out);
/* Whether this run could see the class. Without names from the kernel it could see none: even what
 * is unexplained is known only by what is not. */
bool noise_class_told(const struct noise *n, enum noise_class class);
/* Marks the classes that it could not see as absent. */
void noise_hide_untold(const struct noise *n, uint64_t class_ns[NOISE_CLASSES]);

/* The window without the time that the loop needed for its notes. */
double noise_watched_ns(const struct noise_cpu *c);
/* The base of every rate per s; for all CPUs their sum, so that rates are per CPU. */
double noise_window_s(const struct noise_cpu *c);
/* The window as a share of the elapsed time, including pauses; NaN without a window. */
double noise_duty(const struct noise *n, const struct noise_cpu *c);
/* The time lost as a share of the window, as in the lab's views; NaN without a window. */
double noise_lost_share(const struct noise_cpu *c);
double noise_detour_rate(const struct noise_cpu *c); /* per s */
/* The shortest and the longest detour; false if there is none. */
bool noise_extremes(const struct noise_cpu *c, uint64_t *min_ns, uint64_t *max_ns);
/* The edge of a bucket below which this share of the detours is. */
uint64_t noise_length_below(const struct noise_cpu *c, double share);
/* The sum over [first, end) of the buckets. */
struct noise_bucket noise_histogram_sum(const struct noise_histogram *h, unsigned first,
					unsigned end);

/* A row of the histograms, in which what could not be seen is absent; false: it is empty. */
bool noise_bucket_told(const struct noise *n, const struct noise_cpu *c, unsigned bucket,
		       struct noise_bucket_row *out);

/* The speed of a CPU as JSON has it. Borrowed. */
struct noise_speed_report {
	struct jitter_speed figures;
	noise_speed_list points;
};

/* ---- comparisons ---- */

/* One of the two runs. Borrowed. */
struct noise_side {
	int64_t run; /* 0: not stored */
	const char *name;
	struct noise noise;
	uint64_t window_ns;    /* watched, summed over the CPUs */
	uint64_t threshold_ns; /* the largest */
};

/* Reasons for a difference that no source caused, one sentence each. */
typedef ARRAY(char *) note_list;

/* The comparison as JSON has it. */
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
#define NOISE_WIDE 104 /* from this width on, class and period of a source have columns */
/* The table of the first `most` rows (0: all), and a line about the others. */
void put_noise_sources(const struct noise_rows *rows, size_t most, const struct noise_style *style,
		       struct strbuf *out);
/* A line on the speed of the CPU, or of the one of all whose speed varied most. */
void put_noise_speed(const struct noise *n, const struct noise_cpu *c, const struct style *style,
		     struct strbuf *out);
/* Histograms of one CPU or of all together (kernel: with what it told); densities of all. */
void put_noise_histograms(const struct noise_cpu *c, bool kernel, const struct style *style,
			  struct strbuf *out);
void put_noise_density(const struct noise_view *v, const struct style *style, struct strbuf *out);
/* What the run could not see, if anything. */
void put_noise_not_seen(const struct noise_view *v, const struct style *style, struct strbuf *out);
/* "… and 3 more (1.20 %)", if there are more. */
void put_noise_rest(size_t more, double share, const struct style *style, struct strbuf *out);
#endif
