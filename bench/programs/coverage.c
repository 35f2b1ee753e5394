/* How often the 95 % interval holds the true mean: simulated runs are judged as real ones are, by
 * emp_judge(), and the intervals counted that contain the truth. Standard output is Markdown. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "protocol/duet/duet.h"
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
	double away; /* two peaks: how far the upper one is away; 0: 1 */
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
	{ "one in twenty takes half as long again", .upper = 0.05, .away = 5 },
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

static double away_of(const struct setting *s)
{
	return s->away > 0 ? s->away : 1;
}

static double next(struct source *o)
{
	const struct setting *s = o->s;
	if (s->exponential)
		return -log(1 - random_unit(&o->r));
	if (s->upper > 0)
		return (random_unit(&o->r) < s->upper ? 10 + away_of(s) : 10) + 0.1 * normal(&o->r);
	double wave = o->wave, a = s->dependence;
	o->wave = a * wave + sqrt(1 - a * a) * normal(&o->r);
	double z = sqrt(s->share) * wave + sqrt(1 - s->share) * normal(&o->r);
	return s->skewed ? exp(0.5 * z) : 10 + z;
}

/* The true means: of everything, and of what rule II keeps of it. From 2,000,000 values. */
static void find_truth(const struct setting *s, double *all, double *kept)
{
	const int N = 2000000;
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
	*all = s->skewed ? exp(0.125) : s->exponential ? 1 : 10 + s->upper * away_of(s);
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
			emp_compare_with(&a[1], &b[1], 0, 1, &c);
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

/* ---- duets of equal programs ---- */

static double heavy(struct random *r)
{
	double chi = 0;
	for (int i = 0; i < 3; i++)
		chi += pow(normal(r), 2);
	return normal(r) / sqrt(chi / 3); /* Student's t with 3 degrees of freedom */
}

static double skewed(struct random *r)
{
	return exp(0.5 * normal(r));
}

static const struct {
	const char *name;
	double (*draw)(struct random *r);
	double sigma;
} kinds_of_pairs[] = {
	{ "normal", normal, 1 },
	{ "t with 3 degrees of freedom", heavy, 1.732 },
	{ "lognormal (σ = 0.5)", skewed, 0.604 },
};
#define KINDS_OF_PAIRS (sizeof kinds_of_pairs / sizeof *kinds_of_pairs)

/* Without the outermost tenths: what the duet's mean tends to. */
static double trimmed_truth(double (*draw)(struct random *r))
{
	enum { N = 2000000 };
	double *x = xmalloc(N * sizeof *x), sum = 0;
	struct random r = { 4711 };
	for (size_t i = 0; i < N; i++)
		x[i] = draw(&r);
	qsort(x, N, sizeof *x, by_value);
	for (size_t i = N / 10; i < N - N / 10; i++)
		sum += x[i];
	xfree(x);
	return sum / (N - 2 * (N / 10));
}

/* Looks as measure/duet.c takes them, if --max-time ends with the last pair. */
static void add_looks(struct duet *d, uint32_t most)
{
	uint32_t looked = 0;
	for (uint32_t rounds = 6; rounds <= most + 1; rounds++) {
		bool last = rounds == most + 1;
		if (!last && (double)rounds < 1.3 * looked)
			continue;
		looked = rounds;
		double spent = last ? 1 : sqrt((double)rounds / (most + 1));
		array_push(&d->looks, (struct duet_look){ .pairs = rounds, .spent = spent });
	}
}

/* Whether a look of a duet says that the sides differ. Its first pair is a warm-up; a share `fails`
 * of the others fail. */
static bool says_different(double (*draw)(struct random *r), struct random *r, double truth,
			   double effect, uint32_t most, double fails)
{
	struct duet d = { .precision = 0.0001, .slower = NAN };
	struct duet_result result;
	bool different = false;
	for (int i = 0; i < 2; i++)
		array_push(&d.sides, (struct duet_side){ 0 });
	for (uint32_t pair = 1; pair <= most + 1; pair++) {
		struct duet_part part = {
			.pair = pair, .warmup = pair == 1, .overlap = 1, .turn_ns = ABSENT_NS
		};
		for (int g = 0; g < GRADES; g++)
			part.pt_ns[g] = ABSENT_NS;
		part.pt_ns[GRADE_NET] = 1000000000;
		part.status = random_unit(r) < fails;
		array_push(&d.parts, part);
		part.side = 1;
		part.pt_ns[GRADE_NET] =
			(uint64_t)llround(SECOND * exp(0.01 * (draw(r) - truth + effect)));
		array_push(&d.parts, part);
	}
	add_looks(&d, most);
	duet_judge(&d, DUET_PT_NET, &result);
	array_each(step, &result.verdicts.items[0].steps)
		different |= step->low > 1 || step->high < 1;
	duet_result_release(&result);
	duet_release(&d);
	return different;
}

static void of_duets(size_t kind, int runs, uint64_t seed)
{
	static const struct {
		uint32_t most;
		double fails;
	} sizes[] = { { 5, 0 }, { 20, 0 }, { 20, 0.4 }, { 100, 0 } };
	double (*draw)(struct random * r) = kinds_of_pairs[kind].draw;
	double truth = trimmed_truth(draw);
	for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
		double pairs = sizes[j].most * (1 - sizes[j].fails);
		double effect = 3.5 * kinds_of_pairs[kind].sigma / sqrt(pairs);
		int different = 0, found = 0;
		for (int i = 0; i < runs; i++) {
			struct random scatter = { seed + (uint64_t)i + 1 };
			struct random r = { random_next(&scatter) };
			different +=
				says_different(draw, &r, truth, 0, sizes[j].most, sizes[j].fails);
			found += i % 4 == 0 && says_different(draw, &r, truth, effect,
							      sizes[j].most, sizes[j].fails);
		}
		printf("| %s | %u%s | %.1f %% | %.1f %% |\n", kinds_of_pairs[kind].name,
		       sizes[j].most, sizes[j].fails > 0 ? ", 4 in 10 of them failed" : "",
		       100.0 * different / runs, 100.0 * found / ((runs + 3) / 4));
		fflush(stdout);
	}
}

/* ---- PT(steady) ---- */

/* The best speed seen is this many sigmas better than the mean, or the best of the runs. */
#define REFERENCE 2.0

/* What programs are bound by. */
static const double bound_by[][SPEED_KINDS] = {
	{ [SPEED_PORTS] = 0.8 },
	{ [SPEED_CHAIN] = 1 },
	{ [SPEED_PORTS] = 0.5, [SPEED_LOADS] = 0.4 },
	{ 0.3, 0.3, 0.2, 0.2 },
};
#define PROGRAMS (sizeof bound_by / sizeof *bound_by)

struct speeds {
	const char *name;
	double sigma;	   /* of ln speed */
	double dependence; /* AR(1) from one execution to the next */
	double common;	   /* share of the variance that all kinds have in common */
	double probe;	   /* noise of the mean of an execution's probes */
	double own;	   /* noise of ln PT */
	int program;	   /* of bound_by, or -1: each in turn */
};

static const struct speeds speeds[] = {
	{ "3 %", 0.03, 0.9, 0.5, 0.003, 0.01, -1 },
	{ "10 %", 0.10, 0.9, 0.5, 0.003, 0.01, -1 },
	{ "17 %", 0.17, 0.9, 0.5, 0.003, 0.01, -1 },
	/* TEMPER of emp/steady.c was chosen with those above, but never with these */
	{ "10 %, independent executions", 0.10, 0, 0.5, 0.003, 0.01, -1 },
	{ "10 %, kinds hardly correlated", 0.10, 0.9, 0.1, 0.003, 0.01, -1 },
	{ "10 %, kinds nearly alike", 0.10, 0.9, 0.9, 0.003, 0.01, -1 },
	{ "10 %, PT's own noise 3 %", 0.10, 0.9, 0.5, 0.003, 0.03, -1 },
	{ "10 %, probe noise 1 %", 0.10, 0.9, 0.5, 0.01, 0.01, -1 },
	{ "3 %, probe noise 1 %", 0.03, 0.9, 0.5, 0.01, 0.01, -1 },
	{ "10 %, bound by ports", 0.10, 0.9, 0.5, 0.003, 0.01, 0 },
	{ "10 %, bound by all four", 0.10, 0.9, 0.5, 0.003, 0.01, 3 },
};
#define SPEEDS (sizeof speeds / sizeof *speeds)

static struct execution *at_speeds(const struct speeds *s, const double *b, struct random *r,
				   size_t n)
{
	double wave[SPEED_KINDS + 1], a = s->dependence;
	struct execution *x = xcalloc(n, sizeof *x);
	for (size_t k = 0; k <= SPEED_KINDS; k++)
		wave[k] = normal(r);
	for (size_t i = 0; i < n; i++) {
		double y = s->own * normal(r);
		for (size_t k = 0; k <= SPEED_KINDS; k++)
			wave[k] = a * wave[k] + sqrt(1 - a * a) * normal(r);
		for (size_t k = 0; k < SPEED_KINDS; k++) {
			double slow = s->sigma * (sqrt(1 - s->common) * wave[k] +
						  sqrt(s->common) * wave[SPEED_KINDS]);
			x[i].speed.ns[k] = 1000 * exp(slow + s->probe * normal(r));
			y += b[k] * slow;
		}
		x[i].speed.used = 100;
		x[i].number = (uint32_t)i + 1;
		x[i].et_ns = (uint64_t)llround(exp(y) * SECOND);
		for (int g = 0; g < GRADES; g++)
			x[i].pt_ns[g] = ABSENT_NS;
		x[i].pt_ns[GRADE_NET] = x[i].et_ns;
		x[i].user_ns = x[i].system_ns = ABSENT_NS;
	}
	return x;
}

/* What is counted over runs of one length. */
struct steady_count {
	struct count all, kept;
	int leads, pairs, different;
	double *width; /* of kept.runs - kept.silent intervals */
};

/* Two runs of one program. The first is counted, and then whether they are called different. */
static void judge_steady(const struct speeds *s, struct random *r, size_t n, size_t at,
			 struct steady_count *c)
{
	const double *b = bound_by[s->program < 0 ? at % PROGRAMS : (size_t)s->program];
	struct execution *x[2] = { at_speeds(s, b, r, n), at_speeds(s, b, r, n) };
	struct run run = { 0 };
	struct emp_result result[2];
	double best[SPEED_KINDS], truth = 0;
	struct emp_options options = { .speed_ns = best };
	for (size_t k = 0; k < SPEED_KINDS; k++) {
		best[k] = 1000 * exp(-REFERENCE * s->sigma);
		for (size_t i = 0; i < 2 * n; i++)
			best[k] = fmin(best[k], x[i / n][i % n].speed.ns[k]);
		truth += b[k] * log(best[k] / 1000);
	}
	for (int i = 0; i < 2; i++)
		emp_judge(&run, x[i], n, &options, &result[i]);
	if (result[0].present[EMP_PT_STEADY]) {
		const struct summary *kept = &result[0].kept[EMP_PT_STEADY];
		if (!kept->error.too_few)
			c->width[c->kept.runs - c->kept.silent] =
				(kept->ci_high - kept->ci_low) / 2 / kept->mean;
		add(&c->all, &result[0].unfiltered[EMP_PT_STEADY], exp(truth));
		add(&c->kept, kept, exp(truth));
		c->leads += result[0].lead == EMP_PT_STEADY;
	}
	struct emp_comparison compared;
	const struct emp_judged judged[] = { { &run, x[0], &result[0], false },
					     { &run, x[1], &result[1], true } };
	if (emp_compare_at_equal_speed(judged, 2, &compared)) {
		c->pairs++;
		c->different += compared.significant;
	}
	for (int i = 0; i < 2; i++) {
		emp_result_release(&result[i]);
		xfree(x[i]);
	}
}

static void of_steady(const struct speeds *s, int runs, uint64_t seed)
{
	static const size_t sizes[] = { 10, 20, 30, 100 };
	double *width = xmalloc((size_t)runs * sizeof *width);
	for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
		struct steady_count c = { .width = width };
		for (int i = 0; i < runs; i++) {
			struct random scatter = { seed + (uint64_t)i + 1 };
			struct random r = { random_next(&scatter) };
			judge_steady(s, &r, sizes[j], (size_t)i, &c);
		}
		int shown = c.kept.runs - c.kept.silent;
		qsort(width, (size_t)shown, sizeof *width, by_value);
		printf("| %s | %zu | %.1f %% | %.1f %% |", s->name, sizes[j],
		       100.0 * c.kept.runs / runs, 100.0 * c.leads / runs);
		put(&c.all);
		put(&c.kept);
		printf(" ± %.1f %% | %.1f %% |\n", shown ? 100 * width[shown / 2] : NAN,
		       c.pairs ? 100.0 * c.different / c.pairs : NAN);
		fflush(stdout);
	}
	xfree(width);
}

/* bench-coverage intervals|precision|duet|steady RUNS SETTING SEED */
int main(int argc, char **argv)
{
	int runs = argc > 2 ? atoi(argv[2]) : 0, at = argc > 3 ? atoi(argv[3]) : 0;
	uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 10) * 1000003 : 0;
	char mode = argc > 1 ? *argv[1] : 0;
	size_t settings_of_mode = mode == 'd' ? KINDS_OF_PAIRS : mode == 's' ? SPEEDS : SETTINGS;
	if (runs < 1 || at < 0 || (size_t)at >= settings_of_mode)
		return 2;
	if (mode == 's')
		of_steady(&speeds[at], runs, seed);
	else if (mode == 'd')
		of_duets((size_t)at, runs, seed);
	else if (mode == 'i')
		of_intervals(&settings[at], runs, seed);
	else
		of_precision(&settings[at], runs, seed);
	return 0;
}
