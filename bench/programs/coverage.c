/* How often the 95 % interval holds the true mean: simulated runs are judged as real ones are, by
 * emp_judge(), and the intervals counted that contain the truth. Standard output is Markdown. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "protocol/emp/emp.h"
#include "stats/precision.h"
#include "stats/random.h"

#define SECOND 1e9
#define MOST 10000

struct setting {
	const char *name;
	double dependence; /* of a first-order autoregression */
	double share;	   /* of its variance; the rest is independent */
	double upper;	   /* two peaks: the share of the upper one */
	bool skewed;	   /* lognormal, sigma 0.5 */
	bool exponential;
};

static const struct setting settings[] = {
	{ "independent, normal", 0, 0, 0, false },
	{ "independent, lognormal (σ = 0.5)", 0, 0, 0, true },
	{ "two peaks, half and half", 0, 0, 0.5, false },
	{ "two peaks, 70 and 30 %", 0, 0, 0.3, false },
	{ "AR(1), 0.5", 0.5, 1, 0, false },
	{ "AR(1), 0.8", 0.8, 1, 0, false },
	{ "half AR(1) 0.9, half independent", 0.9, 0.5, 0, false },
	/* the constants of stats/interval.c were chosen with those above, but never with these */
	{ "AR(1), 0.3", 0.3, 1, 0, false },
	{ "AR(1), 0.65", 0.65, 1, 0, false },
	{ "independent, exponential", .exponential = true },
	{ "lognormal (σ = 0.5), AR(1) 0.6", 0.6, 1, 0, true },
};
#define SETTINGS (sizeof settings / sizeof *settings)

static double normal(struct random *r)
{
	double u = 1 - random_unit(r);
	return sqrt(-2 * log(u)) * cos(2 * M_PI * random_unit(r));
}

/* The state of a series that goes on. */
struct source {
	const struct setting *s;
	struct random r;
	double wave;
};

static struct source begin(const struct setting *s, uint64_t seed)
{
	/* neighbouring seeds of splitmix64 give one series, shifted: scatter them */
	struct random scatter = { seed };
	struct source o = { s, { random_next(&scatter) }, 0 };
	o.wave = normal(&o.r);
	return o;
}

static double next(struct source *o)
{
	const struct setting *s = o->s;
	if (s->exponential)
		return -log(1 - random_unit(&o->r));
	if (s->upper > 0)
		return (random_unit(&o->r) < s->upper ? 11 : 10) + 0.1 * normal(&o->r);
	double wave = o->wave, a = s->dependence;
	o->wave = a * wave + sqrt(1 - a * a) * normal(&o->r);
	double z = sqrt(s->share) * wave + sqrt(1 - s->share) * normal(&o->r);
	return s->skewed ? exp(0.5 * z) : 10 + z;
}

/* The true means: of everything, and of what rule II keeps of it. From 2,000,000 values. */
static void find_truth(const struct setting *s, double *all, double *kept)
{
	enum { N = 2000000 };
	struct setting independent = *s;
	independent.share = 0; /* the same distribution of each value */
	double sum = 0, squares = 0, inside = 0, count = 0, low = 0, high = 0;
	for (int pass = 0; pass < 2; pass++) {
		struct source o = begin(&independent, 12345);
		for (int i = 0; i < N; i++) {
			double x = next(&o);
			if (pass == 0) {
				sum += x;
				squares += x * x;
			} else if (x >= low && x <= high) {
				inside += x;
				count++;
			}
		}
		double mean = sum / N, sigma = sqrt(squares / N - mean * mean);
		low = mean - 2 * sigma;
		high = mean + 2 * sigma;
	}
	*all = s->skewed ? exp(0.125) : s->exponential ? 1 : 10 + s->upper;
	*kept = s->skewed || s->exponential || s->upper > 0 ? inside / count : 10;
}

static void judge(struct source *o, size_t n, struct summary *all, struct summary *kept)
{
	struct run run = { 0 };
	struct emp_options options = { 0 };
	struct emp_result result;
	struct execution *x = xcalloc(n, sizeof *x);
	for (size_t i = 0; i < n; i++) {
		x[i].number = (uint32_t)i + 1;
		x[i].et_ns = (uint64_t)llround(fmax(next(o), 0) * SECOND);
		for (int g = 0; g < GRADES; g++)
			x[i].pt_ns[g] = ABSENT_NS;
		x[i].user_ns = x[i].system_ns = ABSENT_NS;
	}
	emp_judge(&run, x, n, &options, &result);
	*all = result.unfiltered[EMP_ET];
	*kept = result.kept[EMP_ET];
	emp_result_release(&result);
	xfree(x);
}

struct count {
	int runs, silent, missed;
};

static void add(struct count *c, const struct summary *s, double truth)
{
	c->runs++;
	c->silent += s->error.too_few;
	c->missed += !s->error.too_few &&
		     !(s->ci_low <= truth * SECOND && truth * SECOND <= s->ci_high);
}

/* "95.1 % | 0.0 % | 95.1 %": of the intervals given; how often none was; held or none was given */
static void put(const struct count *c)
{
	int given = c->runs - c->silent;
	if (given)
		printf(" %.1f %% |", 100.0 * (given - c->missed) / given);
	else
		printf(" – |");
	printf(" %.1f %% | %.1f %% |", 100.0 * c->silent / c->runs,
	       100.0 * (c->runs - c->missed) / c->runs);
}

static void of_intervals(const struct setting *s, int runs, uint64_t seed)
{
	static const size_t sizes[] = { 10, 30, 100, 400 };
	double truth_all, truth_kept;
	find_truth(s, &truth_all, &truth_kept);
	for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
		struct count all = { 0 }, kept = { 0 };
		int different = 0, refused = 0;
		for (int i = 0; i < runs; i++) {
			struct summary a[2], b[2];
			struct emp_comparison c;
			struct source one = begin(s, seed + (uint64_t)(2 * i + 1));
			struct source two = begin(s, seed + (uint64_t)(2 * i + 2));
			judge(&one, sizes[j], &a[0], &a[1]);
			judge(&two, sizes[j], &b[0], &b[1]);
			add(&all, &a[0], truth_all);
			add(&kept, &a[1], truth_kept);
			emp_compare(&a[1], &b[1], &c);
			different += c.significant;
			refused += c.needed > 0;
		}
		printf("| %s | %zu |", s->name, sizes[j]);
		put(&all);
		put(&kept);
		printf(" %.1f %% | %.1f %% |\n", 100.0 * different / runs, 100.0 * refused / runs);
		fflush(stdout);
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* --precision: until the mean is known to 3 %, from 10 executions on. */
static void of_precision(const struct setting *s, int runs, uint64_t seed)
{
	const double wanted = 0.03;
	double *x = xmalloc(MOST * sizeof *x), *stops = xmalloc((size_t)runs * sizeof *stops);
	double truth, truth_kept;
	int within = 0, held = 0;
	find_truth(s, &truth, &truth_kept);
	for (int i = 0; i < runs; i++) {
		struct source o = begin(s, seed + (uint64_t)i + 1);
		struct precision p;
		struct summary of;
		size_t n = 0;
		precision_begin(&p, wanted, 10, MOST);
		do
			x[n++] = fmax(next(&o), 0);
		while (!precision_reached(&p, x, n) && n < MOST);
		summarise(x, n, &of);
		within += fabs(of.mean - truth) <= wanted * of.mean;
		held += of.ci_low <= truth && truth <= of.ci_high;
		stops[i] = (double)n;
	}
	qsort(stops, (size_t)runs, sizeof *stops, by_value);
	printf("| %s | %.1f %% | %.1f %% | %.0f |\n", s->name, 100.0 * within / runs,
	       100.0 * held / runs, stops[runs / 2]);
	xfree(x);
	xfree(stops);
}

/* bench-coverage intervals|precision RUNS SETTING SEED */
int main(int argc, char **argv)
{
	int runs = argc > 2 ? atoi(argv[2]) : 0, at = argc > 3 ? atoi(argv[3]) : 0;
	uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 10) * 1000003 : 0;
	if (runs < 1 || at < 0 || (size_t)at >= SETTINGS)
		return 2;
	if (*argv[1] == 'i')
		of_intervals(&settings[at], runs, seed);
	else
		of_precision(&settings[at], runs, seed);
	return 0;
}
