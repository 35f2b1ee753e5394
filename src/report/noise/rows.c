#include "report/noise/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"

/* ---- the period of a source ---- */

#define PERIOD_LEAST 8	   /* intervals: fewer have no period */
#define PERIOD_HOLDS 0.6   /* of them: at random times about a tenth would fit */
#define PERIOD_FIRST 0.25  /* of those that fit: else half of a period would fit as well */
#define PERIOD_MULTIPLES 4 /* some occurrences are in no detour */
#define PERIOD_OFF 0.05
#define PERIOD_CANDIDATE                                                        \
	50 /* a bucket with one in so many of the intervals may be the period's \
	    */

/* How many intervals are within the tolerance of multiple k of the period, by whole buckets. */
static uint64_t near_multiple(const uint64_t *below, double period, int k)
{
	double at = period * k;
	return below[noise_bucket_of((uint64_t)(at * (1 + PERIOD_OFF))) + 1] -
	       below[noise_bucket_of((uint64_t)(at * (1 - PERIOD_OFF)))];
}

/* The candidate that most intervals fit: of a period and its half, the one more often met itself.
 */
static double best_candidate(const struct noise_histogram *h, const uint64_t *below)
{
	uint64_t all = below[NOISE_BUCKETS], most = 0, most_first = 0;
	double best = 0;
	for (unsigned i = 0; i < NOISE_BUCKETS; i++) {
		struct noise_bucket b = noise_histogram_at(h, i);
		if (!b.count || b.count < all / PERIOD_CANDIDATE)
			continue;
		double period = (double)b.ns / (double)b.count;
		uint64_t first = near_multiple(below, period, 1), fit = first;
		for (int k = 2; k <= PERIOD_MULTIPLES; k++)
			fit += near_multiple(below, period, k);
		if (fit > most || (fit == most && first > most_first)) {
			most = fit;
			most_first = first;
			best = period;
		}
	}
	return best;
}

struct fit {
	uint64_t count, first;
	double ns, periods; /* of those that fit: their sum, and how many periods that is */
};

static struct fit fit_of(const struct noise_histogram *h, double period)
{
	struct fit f = { 0 };
	for (unsigned i = 0; i < NOISE_BUCKETS; i++) {
		struct noise_bucket b = noise_histogram_at(h, i);
		if (!b.count)
			continue;
		double mean = (double)b.ns / (double)b.count, k = round(mean / period);
		if (k < 1 || k > PERIOD_MULTIPLES ||
		    fabs(mean - k * period) > PERIOD_OFF * k * period)
			continue;
		f.count += b.count;
		f.first += k == 1 ? b.count : 0;
		f.ns += (double)b.ns;
		f.periods += k * (double)b.count;
	}
	return f;
}

double noise_source_period(const struct noise_source *s, double *share)
{
	FREED uint64_t *below = xcalloc(NOISE_BUCKETS + 1, sizeof *below);
	for (unsigned i = 0; i < NOISE_BUCKETS; i++)
		below[i + 1] = below[i] + noise_histogram_at(&s->intervals, i).count;
	uint64_t all = below[NOISE_BUCKETS];
	double period = all >= PERIOD_LEAST ? best_candidate(&s->intervals, below) : 0;
	if (share)
		*share = 0;
	if (!(period > 0))
		return 0;
	struct fit f = fit_of(&s->intervals, period);
	if (f.periods > 0) { /* from one bucket's mean to that of all that fit */
		period = f.ns / f.periods;
		f = fit_of(&s->intervals, period);
	}
	double fitting = (double)f.count / (double)all;
	if (fitting < PERIOD_HOLDS || (double)f.first < PERIOD_FIRST * (double)f.count)
		return 0;
	if (share)
		*share = fitting;
	return period;
}

/* ---- rows ---- */

static int compare_rows(const void *a, const void *b)
{
	const struct noise_row *x = a, *y = b;
	if (x->seen.ns != y->seen.ns)
		return x->seen.ns > y->seen.ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void noise_figures_of(const struct noise_spread *s, struct noise_figures *out)
{
	*out = (struct noise_figures){
		.count = s->count,
		.ns = s->ns,
		.min_ns = s->count ? s->min_ns : ABSENT_NS,
		.max_ns = s->count ? s->max_ns : ABSENT_NS,
		.mean_ns = s->count ? noise_spread_mean(s) : NAN,
		.sigma_ns = s->count > 1 ? noise_spread_sigma(s) : NAN,
	};
}

static double share_of(const struct noise_cpu *c, uint64_t ns)
{
	return c->total.ns ? (double)ns / (double)c->total.ns : NAN;
}

void noise_row_of_source(const struct noise_cpu *c, const struct noise_source *s,
			 struct noise_row *row)
{
	double share, period = noise_source_period(s, &share);
	*row = (struct noise_row){ .name = s->name,
				   .class = s->class,
				   .share = share_of(c, s->spread.ns),
				   .period_ns = period > 0 ? period : NAN,
				   .period_share = period > 0 ? share : NAN,
				   .lengths = &s->lengths };
	noise_figures_of(&s->spread, &row->seen);
}

void noise_row_of_combination(const struct noise_cpu *c, const struct noise_combination *x,
			      struct noise_row *row)
{
	*row = (struct noise_row){ .name = x->name,
				   .class = NOISE_CLASSES,
				   .share = share_of(c, x->seen.ns),
				   .period_ns = NAN,
				   .period_share = NAN,
				   .lengths = &x->seen_lengths };
	noise_figures_of(&x->seen, &row->seen);
	noise_figures_of(&x->told, &row->told);
}

void noise_rows_of(const struct noise_cpu *c, enum noise_mode mode, struct noise_rows *out)
{
	bool sources = mode == NOISE_BY_SOURCE;
	size_t count = sources ? c->sources.count : c->combinations.count;
	*out = (struct noise_rows){ .ns = c->total.ns };
	for (size_t i = 0; i < count; i++) {
		struct noise_row row;
		if (sources)
			noise_row_of_source(c, &c->sources.items[i], &row);
		else
			noise_row_of_combination(c, &c->combinations.items[i], &row);
		if (row.seen.count)
			array_push(&out->list, row);
	}
	if (out->list.count)
		qsort(out->list.items, out->list.count, sizeof *out->list.items, compare_rows);
}

void noise_rows_release(struct noise_rows *rows)
{
	array_release(&rows->list);
}

/* ---- sums ---- */

bool noise_class_told(const struct noise *n, enum noise_class class)
{
	return n->kernel && (class != NOISE_STEAL || n->steal_told) &&
	       (class != NOISE_SMI || noise_smis_told(n));
}

void noise_hide_untold(const struct noise *n, uint64_t class_ns[NOISE_CLASSES])
{
	for (enum noise_class class = 0; class < NOISE_CLASSES; class ++)
		if (!noise_class_told(n, class))
			class_ns[class] = ABSENT_NS;
}

bool noise_bucket_told(const struct noise *n, const struct noise_cpu *c, unsigned bucket,
		       struct noise_bucket_row *out)
{
	noise_bucket_row_of(c, bucket, out);
	if (!out->detours.count && !out->master.count)
		return false;
	noise_hide_untold(n, out->detours.class_ns);
	if (!n->kernel)
		out->detours.overlap_ns = out->master.count = out->master.ns = ABSENT_NS;
	return true;
}

void noise_coverage_of(const struct noise *n, const struct noise_cpu *c, uint64_t from_ns,
		       struct noise_coverage *out)
{
	uint64_t unexplained = 0, strict = 0, overlap = 0;
	*out = (struct noise_coverage){ .from_ns = from_ns };
	for (unsigned i = noise_bucket_of(from_ns); i < NOISE_BUCKETS; i++) {
		const struct noise_detours *d = &c->buckets[i];
		uint64_t throttled = d->class_ns[NOISE_THROTTLED];
		out->count += d->count;
		out->ns += d->ns - throttled;
		unexplained += d->class_ns[NOISE_UNEXPLAINED];
		overlap += d->overlap_ns - throttled; /* it was told of */
		for (enum noise_class class = 0; class < NOISE_THROTTLED; class ++)
			strict += d->class_ns[class];
	}
	double told = out->ns && n->kernel ? (double)out->ns : NAN;
	out->named = (told - (double)unexplained) / told;
	out->strict = (double)strict / told;
	out->overlap = (double)overlap / told;
}

double noise_watched_ns(const struct noise_cpu *c)
{
	return c->window_ns > c->unwatched_ns ? (double)(c->window_ns - c->unwatched_ns) : 0;
}

double noise_window_s(const struct noise_cpu *c)
{
	return (double)c->window_ns / 1e9;
}

double noise_duty(const struct noise *n, const struct noise_cpu *c)
{
	double cpus = c->cpu == UINT32_MAX ? (double)n->cpus.count : 1;
	double all = cpus * (double)n->elapsed_ns;
	return c->window_ns && all > 0 ? fmin(noise_watched_ns(c) / all, 1) : NAN;
}

double noise_lost_share(const struct noise_cpu *c)
{
	return c->window_ns ? (double)c->total.ns / (double)c->window_ns : NAN;
}

double noise_detour_rate(const struct noise_cpu *c)
{
	return c->window_ns ? (double)c->total.count / noise_window_s(c) : NAN;
}

bool noise_extremes(const struct noise_cpu *c, uint64_t *min_ns, uint64_t *max_ns)
{
	struct noise_spread all = { 0 };
	for (size_t i = 0; i < c->combinations.count; i++)
		noise_spread_merge(&all, &c->combinations.items[i].seen);
	*min_ns = all.min_ns;
	*max_ns = all.max_ns;
	return all.count;
}

uint64_t noise_length_below(const struct noise_cpu *c, double share)
{
	double seen = 0, wanted = share * (double)c->total.count;
	unsigned bucket = 0;
	while (bucket < NOISE_BUCKETS && seen < wanted)
		seen += (double)c->buckets[bucket++].count;
	return noise_bucket_low(bucket);
}

struct noise_bucket noise_histogram_sum(const struct noise_histogram *h, unsigned first,
					unsigned end)
{
	struct noise_bucket sum = { 0 };
	for (unsigned i = first; i < end; i++) {
		struct noise_bucket b = noise_histogram_at(h, i);
		sum.count += b.count;
		sum.ns += b.ns;
	}
	return sum;
}

/* ---- text ---- */

struct noise_style noise_normal_style(const struct noise_style *given)
{
	struct noise_style s = given ? *given : (struct noise_style){ 0 };
	s.style = style_normal(&s.style);
	return s;
}

void put_cpus(const struct noise *n, struct strbuf *out)
{
	FREED ARRAY(uint32_t) cpus = { 0 };
	for (size_t i = 0; i < n->cpus.count; i++)
		array_push(&cpus, n->cpus.items[i].cpu);
	strbuf_puts(out, cpus.count == 1 ? "CPU " : "CPUs ");
	cpus_text(cpus.items, cpus.count, out);
}

void put_noise_rest(size_t more, double share, const struct style *style, struct strbuf *out)
{
	if (more)
		strbuf_printf(out, "%s and %zu more (%s)\n", style->ascii ? "..." : "…", more,
			      AS_SHARE(share));
}

void put_scheduling(const struct noise *n, struct strbuf *out)
{
	if (n->realtime)
		strbuf_printf(out, "SCHED_FIFO %d", n->priority);
	else
		strbuf_puts(out, "ordinary scheduling");
}
