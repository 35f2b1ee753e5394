#include "protocol/jitter/diff.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/jitter/lengths.h"
#include "stats/density.h"
#include "stats/tests.h"

#define ALPHA 0.05
#define LEAST_OF_LONGEST 8 /* a part shorter than this share of the longest is left out */
#define LEAST_PARTS 4	   /* for a test and an interval over them */
#define LEAST_RATIO 1.1
#define DEPENDENCE_ALPHA 0.2
#define NS_PER_S 1e9
/* A peak ends where the difference, as time, is below this share of its top. It must be hard to
 * have by chance, anywhere on the grid, and no mere ripple of a rate that is there in both. */
#define PEAK_EDGE 0.05
#define PEAK_RATIO 1.25
#define PEAK_TRIES 60

const char *const jitter_change_names[JITTER_CHANGES] = {
	[JITTER_SAME] = "same",	  [JITTER_NEW] = "new",	      [JITTER_GONE] = "gone",
	[JITTER_GROWN] = "grown", [JITTER_SHRUNK] = "shrunk", [JITTER_UNSURE] = "unsure",
};

bool jitter_in_one_only(const struct jitter_source_diff *d)
{
	return d->base_rate <= 0 || d->run_rate <= 0;
}

/* ---- the sources of both, by class and name ---- */

typedef ARRAY(struct jitter_source_diff) source_list;

static int compare_keys(const void *a, const void *b)
{
	const struct jitter_source_diff *x = a, *y = b;
	return ORDER(x->class, y->class) ?: strcmp(x->name, y->name);
}

/* What one run puts down to SMIs is unexplained in a run that does not know them. */
static struct jitter_source_diff key_of(const struct noise_source *s, bool smis)
{
	bool hidden = s->class == NOISE_SMI && !smis;
	struct jitter_source_diff key = { .class = hidden ? NOISE_UNEXPLAINED : s->class };
	snprintf(key.name, sizeof key.name, "%s",
		 hidden ? noise_class_names[NOISE_UNEXPLAINED] : s->name);
	return key;
}

static void list_keys(const struct noise *base, const struct noise *run, bool smis,
		      source_list *list)
{
	size_t kept = 0;
	const struct noise *both[] = { base, run };
	for (size_t n = 0; n < 2; n++)
		for (size_t i = 0; i < both[n]->cpus.count; i++)
			for (size_t k = 0; k < both[n]->cpus.items[i].sources.count; k++)
				array_push(list,
					   key_of(&both[n]->cpus.items[i].sources.items[k], smis));
	array_sort(list, compare_keys);
	for (size_t i = 0; i < list->count; i++)
		if (!kept || compare_keys(&list->items[kept - 1], &list->items[i]))
			list->items[kept++] = list->items[i];
	list->count = kept;
}

static size_t find_key(const source_list *list, const struct noise_source *s, bool smis)
{
	struct jitter_source_diff key = key_of(s, smis), *found;
	if (!list->items) /* it has the sources of both, so it cannot be */
		return 0;
	found = bsearch(&key, list->items, list->count, sizeof key, compare_keys);
	return (size_t)(found - list->items);
}

/* ---- one of the two runs ---- */

struct side {
	const struct noise *noise;
	bool smis; /* both runs know them */
	struct noise_cpu all;
	double window_ns;
	struct noise_spread *spreads; /* by source of the list */
	/* Time lost per time, by part: of everything, then of each source. */
	size_t parts;
	double *totals, *shares;
	size_t *present; /* by source: parts in which it was seen */
};

static void side_fill_parts(struct side *s, const source_list *list)
{
	const struct noise *n = s->noise;
	uint64_t longest = 0;
	for (size_t i = 0; i < n->parts.count; i++)
		if (n->parts.items[i].window_ns > longest)
			longest = n->parts.items[i].window_ns;
	s->totals = xcalloc(n->parts.count + 1, sizeof *s->totals);
	s->shares = xcalloc((n->parts.count + 1) * (list->count + 1), sizeof *s->shares);
	for (size_t i = 0; i < n->parts.count; i++) {
		const struct noise_part *p = &n->parts.items[i];
		/* The last part may have hardly begun: its rate would count like that of a whole
		 * one. Others may be shorter than the longest, where rounds had to be. */
		if (!p->window_ns || p->window_ns < longest / LEAST_OF_LONGEST)
			continue;
		s->totals[s->parts] = (double)p->ns / (double)p->window_ns;
		array_each(x, &p->shares) {
			if (x->cpu >= n->cpus.count ||
			    x->source >= n->cpus.items[x->cpu].sources.count)
				continue; /* of a lab that someone changed */
			size_t at = find_key(list, &n->cpus.items[x->cpu].sources.items[x->source],
					     s->smis);
			double *share = &s->shares[at * n->parts.count + s->parts];
			s->present[at] += x->count && *share <= 0;
			*share += (double)x->ns / (double)p->window_ns;
		}
		s->parts++;
	}
}

static void side_init(struct side *s, const struct noise *n, bool smis, const source_list *list)
{
	*s = (struct side){ .noise = n, .smis = smis };
	noise_together(n, &s->all);
	s->window_ns = (double)s->all.window_ns;
	s->spreads = xcalloc(list->count + 1, sizeof *s->spreads);
	s->present = xcalloc(list->count + 1, sizeof *s->present);
	for (size_t i = 0; i < n->cpus.count; i++)
		array_each(from, &n->cpus.items[i].sources)
			noise_spread_merge(&s->spreads[find_key(list, from, smis)], &from->spread);
	side_fill_parts(s, list);
}

static void side_release(struct side *s)
{
	noise_cpu_release(&s->all);
	xfree(s->spreads);
	xfree(s->present);
	xfree(s->totals);
	xfree(s->shares);
}

static double per_second(const struct side *s, uint64_t count)
{
	return (double)count / s->window_ns * NS_PER_S;
}

/* ---- what changed ---- */

/* Whether a part tells something about the next. Few parts hide that, so the level is generous. */
static double dependence(const double *x, size_t n)
{
	struct autocorrelation a;
	autocorrelation_lag1(x, n, DEPENDENCE_ALPHA, &a);
	return a.r1 > a.high ? a.r1 : 0;
}

/* Means of pairs, in place; a last one without a partner is left out. */
static size_t pair_up(double *x, size_t n)
{
	for (size_t i = 0; i < n / 2; i++)
		x[i] = (x[2 * i] + x[2 * i + 1]) / 2;
	return n / 2;
}

static double *copy(const double *x, size_t n)
{
	double *out = xmalloc((n + 1) * sizeof *out);
	memcpy(out, x, n * sizeof *out);
	return out;
}

/* Noise comes in bouts, which the tests do not know of: parts are joined until one does not depend
 * on the one before. */
static void compare_parts(const double *base, size_t n_base, const double *run, size_t n_run,
			  double *p, struct ratio *ratio)
{
	*p = NAN;
	*ratio = (struct ratio){ NAN, NAN, NAN };
	FREED double *b = copy(base, n_base), *r = copy(run, n_run);
	while (n_base >= LEAST_PARTS && n_run >= LEAST_PARTS &&
	       (dependence(b, n_base) > 0 || dependence(r, n_run) > 0)) {
		n_base = pair_up(b, n_base);
		n_run = pair_up(r, n_run);
	}
	if (n_base < LEAST_PARTS || n_run < LEAST_PARTS)
		return;
	/* both of the means, so that interval and p do not speak of different things */
	ratio_of_means(b, n_base, r, n_run, ratio);
	*p = permutation_test(b, n_base, r, n_run);
}

/* How many times it appeared on its own account: parts in a row may be one bout. */
static double appearances(const struct side *s, size_t index)
{
	const double *share = s->shares + index * s->noise->parts.count;
	double *seen = xmalloc((s->parts + 1) * sizeof *seen);
	for (size_t i = 0; i < s->parts; i++)
		seen[i] = share[i] > 0;
	double r = dependence(seen, s->parts);
	xfree(seen);
	return fmax(1, floor((double)s->present[index] * (1 - r) / (1 + r)));
}

/* Appearances that know nothing of the two runs fall into one of them in the proportion of the
 * windows: the probability that all of them fell into this one, or into the other if that is even
 * less likely. */
static double chance_of_one_only(const struct side *has, const struct side *lacks, double times)
{
	double share = has->window_ns / (has->window_ns + lacks->window_ns);
	double here = pow(share, times), there = pow(1 - share, times);
	return fmin(1, there <= here ? here + there : here);
}

static void judge_one_only(struct jitter_source_diff *d, const struct side *has,
			   const struct side *lacks, double times)
{
	d->p = chance_of_one_only(has, lacks, times);
	d->too_rare = fmin(d->p, chance_of_one_only(lacks, has, times)) >= ALPHA;
}

static void compare_source(struct jitter_source_diff *d, size_t index, const struct side *base,
			   const struct side *run)
{
	const struct noise_spread *b = &base->spreads[index], *r = &run->spreads[index];
	struct ratio ratio = { NAN, NAN, NAN };
	d->base_rate = per_second(base, b->count);
	d->run_rate = per_second(run, r->count);
	d->base_share = (double)b->ns / base->window_ns;
	d->run_share = (double)r->ns / run->window_ns;
	d->base_mean_ns = b->count ? noise_spread_mean(b) : NAN;
	d->run_mean_ns = r->count ? noise_spread_mean(r) : NAN;
	d->base_max_ns = b->count ? b->max_ns : ABSENT_NS;
	d->run_max_ns = r->count ? r->max_ns : ABSENT_NS;
	if (!b->count)
		judge_one_only(d, run, base, appearances(run, index));
	else if (!r->count)
		judge_one_only(d, base, run, appearances(base, index));
	else
		compare_parts(base->shares + index * base->noise->parts.count, base->parts,
			      run->shares + index * run->noise->parts.count, run->parts, &d->p,
			      &ratio);
	d->ratio = ratio.ratio;
	d->ratio_low = ratio.low;
	d->ratio_high = ratio.high;
}

/* A source that is too rare to be sure in any case is no trial: it does not make the others less
 * sure (Tarone 1990, Biometrics 46, 515-522). */
static bool is_trial(const struct jitter_source_diff *d)
{
	return !isnan(d->p) && !d->too_rare;
}

static void adjust(source_list *list)
{
	double *p = xmalloc((list->count + 1) * sizeof *p);
	size_t count = 0;
	for (size_t i = 0; i < list->count; i++)
		if (is_trial(&list->items[i]))
			p[count++] = list->items[i].p;
	adjust_p(p, count);
	count = 0;
	for (size_t i = 0; i < list->count; i++)
		if (is_trial(&list->items[i]))
			list->items[i].p = p[count++];
	xfree(p);
}

static enum jitter_change change_of(const struct jitter_source_diff *d)
{
	if (!(d->p < ALPHA))
		return JITTER_UNSURE;
	if (d->base_rate <= 0)
		return JITTER_NEW;
	if (d->run_rate <= 0)
		return JITTER_GONE;
	if (d->ratio_low > 1 && d->ratio >= LEAST_RATIO)
		return JITTER_GROWN;
	if (d->ratio_high < 1 && d->ratio <= 1 / LEAST_RATIO)
		return JITTER_SHRUNK;
	return JITTER_SAME;
}

static int compare_places(const void *a, const void *b)
{
	const struct jitter_source_diff *x = a, *y = b;
	static const int rank[] = { [JITTER_NEW] = 0,  [JITTER_GROWN] = 1, [JITTER_SHRUNK] = 2,
				    [JITTER_GONE] = 3, [JITTER_SAME] = 4,  [JITTER_UNSURE] = 5 };
	if (x->change != y->change)
		return rank[x->change] - rank[y->change];
	double of_x = fmax(x->base_share, x->run_share), of_y = fmax(y->base_share, y->run_share);
	return of_x > of_y ? -1 : of_x < of_y ? 1 : compare_keys(x, y);
}

/* ---- densities ---- */

static void compare_densities(const struct side *base, const struct side *run,
			      struct jitter_diff *out)
{
	struct jitter_lengths b, r;
	double grid[JITTER_GRID];
	jitter_lengths_of(&base->all, false, &b);
	jitter_lengths_of(&run->all, false, &r);
	out->bandwidth = jitter_lay_grid(&b, NULL, &r, grid, JITTER_GRID);
	density_estimate(b.x, b.weight, b.count, out->bandwidth, grid, JITTER_GRID,
			 out->base_density);
	density_estimate(r.x, r.weight, r.count, out->bandwidth, grid, JITTER_GRID,
			 out->run_density);
	double sum = 0;
	for (size_t i = 0; i < JITTER_GRID; i++)
		sum += fabs(out->run_density[i] - out->base_density[i]) *
		       (i && i + 1 < JITTER_GRID ? 1 : 0.5);
	if (b.count && r.count)
		out->distance = fmin(1, sum * (grid[1] - grid[0]) / 2);
	else
		out->distance = b.count || r.count ? 1 : 0;
	for (size_t i = 0; i < JITTER_GRID; i++) {
		out->grid_ns[i] = pow(10, grid[i]);
		out->base_density[i] *= per_second(base, base->all.total.count);
		out->run_density[i] *= per_second(run, run->all.total.count);
	}
	jitter_lengths_release(&b);
	jitter_lengths_release(&r);
}

/* ---- peaks ---- */

static uint64_t combined_within(const struct noise_combination *c, unsigned first, unsigned end)
{
	uint64_t count = 0;
	for (unsigned i = first; c && i < end; i++)
		count += noise_histogram_at(&c->seen_lengths, i).count;
	return count;
}

/* Of those in `more`, the one whose rate in these buckets is most above that in `less`. */
static void name_peak(const struct side *more, const struct side *less, unsigned first,
		      unsigned end, char *name)
{
	double most = 0;
	for (size_t i = 0; more->all.combinations.items && i < more->all.combinations.count; i++) {
		const struct noise_combination *c = &more->all.combinations.items[i];
		double had = per_second(more, combined_within(c, first, end));
		if (had <= most)
			continue;
		const struct noise_combination *other = NULL;
		for (size_t k = 0; k < less->all.combinations.count && !other; k++)
			if (strcmp(less->all.combinations.items[k].name, c->name) == 0)
				other = &less->all.combinations.items[k];
		double change = had - per_second(less, combined_within(other, first, end));
		if (change > most) {
			most = change;
			memcpy(name, c->name, NOISE_COMBINED_SIZE);
		}
	}
}

static bool judge_peak(const struct side *base, const struct side *run, unsigned first,
		       unsigned end, double alpha, struct jitter_peak *out)
{
	uint64_t b = 0, r = 0;
	for (unsigned i = first; i < end; i++) {
		b += base->all.buckets[i].count;
		r += run->all.buckets[i].count;
	}
	double share = run->window_ns / (base->window_ns + run->window_ns);
	*out = (struct jitter_peak){ .low_ns = noise_bucket_low(first),
				     .high_ns = noise_bucket_low(end),
				     .base_rate = per_second(base, b),
				     .run_rate = per_second(run, r) };
	double larger = fmax(out->base_rate, out->run_rate);
	if (larger < PEAK_RATIO * fmin(out->base_rate, out->run_rate))
		return false;
	/* that chance, which knows only the windows, put them as far apart as this: two-sided;
	 * beyond millions it is out of the question */
	if (b + r < UINT32_MAX / 2) {
		unsigned n = (unsigned)(b + r), k = (unsigned)r;
		double below = gsl_cdf_binomial_P(k, share, n);
		double above = k ? gsl_cdf_binomial_Q(k - 1, share, n) : 1;
		if (fmin(1, 2 * fmin(below, above)) >= alpha)
			return false;
	}
	bool more = out->run_rate > out->base_rate;
	name_peak(more ? run : base, more ? base : run, first, end, out->name);
	return true;
}

/* Peaks of the difference as time lost, the largest first: one rare long detour more is no less
 * than many short ones. */
static void find_peaks(const struct side *base, const struct side *run, struct jitter_diff *out)
{
	double change[JITTER_GRID];
	bool taken[JITTER_GRID] = { false };
	/* Bonferroni's: so many places are a bandwidth apart, and the highest was picked */
	double alpha =
		ALPHA * out->bandwidth / log10(out->grid_ns[JITTER_GRID - 1] / out->grid_ns[0]);
	for (size_t i = 0; i < JITTER_GRID; i++)
		change[i] = (out->run_density[i] - out->base_density[i]) * out->grid_ns[i];
	for (int tries = 0; tries < PEAK_TRIES && out->peak_count < 5; tries++) {
		size_t top = JITTER_GRID;
		for (size_t i = 0; i < JITTER_GRID; i++)
			if (!taken[i] && fabs(change[i]) > 0 &&
			    (top == JITTER_GRID || fabs(change[i]) > fabs(change[top])))
				top = i;
		if (top == JITTER_GRID)
			return;
		size_t first = top, last = top;
		while (first > 0 && !taken[first - 1] &&
		       change[first - 1] / change[top] > PEAK_EDGE)
			first--;
		while (last + 1 < JITTER_GRID && !taken[last + 1] &&
		       change[last + 1] / change[top] > PEAK_EDGE)
			last++;
		for (size_t i = first; i <= last; i++)
			taken[i] = true;
		if (judge_peak(base, run, noise_bucket_of((uint64_t)out->grid_ns[first]),
			       noise_bucket_of((uint64_t)out->grid_ns[last]) + 1, alpha,
			       &out->peaks[out->peak_count]))
			out->peak_count++;
	}
}

/* ---- the whole ---- */

/* Lengths are not kept over time: how uneven their rates are is known only of sources and of all.
 */
static bool any_sure(const struct jitter_diff *d)
{
	bool sure = d->p < ALPHA;
	for (size_t i = 0; i < d->sources.count; i++)
		sure |= d->sources.items[i].p < ALPHA;
	return sure;
}

static bool has_window(const struct noise *n)
{
	for (size_t i = 0; i < n->cpus.count; i++)
		if (n->cpus.items[i].window_ns)
			return true;
	return false;
}

int jitter_compare(const struct noise *base, const struct noise *run, struct jitter_diff *out,
		   struct error *err)
{
	if (!has_window(base) || !has_window(run))
		return error_set(err, EXIT_USAGE,
				 "%s ended before its first round: there is nothing to compare",
				 has_window(base) ? "this run" : "the baseline");
	source_list list = { 0 };
	struct side b, r;
	struct ratio ratio;
	bool smis = noise_smis_told(base) && noise_smis_told(run);
	list_keys(base, run, smis, &list);
	side_init(&b, base, smis, &list);
	side_init(&r, run, smis, &list);
	*out = (struct jitter_diff){ .base_share = (double)b.all.total.ns / b.window_ns,
				     .run_share = (double)r.all.total.ns / r.window_ns };
	compare_parts(b.totals, b.parts, r.totals, r.parts, &out->p, &ratio);
	out->ratio = ratio.ratio;
	out->ratio_low = ratio.low;
	out->ratio_high = ratio.high;
	for (size_t i = 0; i < list.count; i++)
		compare_source(&list.items[i], i, &b, &r);
	adjust(&list);
	for (size_t i = 0; i < list.count; i++)
		list.items[i].change = change_of(&list.items[i]);
	array_sort(&list, compare_places);
	if (!base->kernel || !run->kernel) /* they would be names for what was not seen */
		list.count = 0;
	out->sources.items = list.items;
	out->sources.count = list.count;
	out->sources.capacity = list.capacity;
	compare_densities(&b, &r, out);
	if (any_sure(out))
		find_peaks(&b, &r, out);
	side_release(&b);
	side_release(&r);
	return 0;
}

void jitter_diff_release(struct jitter_diff *d)
{
	array_release(&d->sources);
	*d = (struct jitter_diff){ 0 };
}
