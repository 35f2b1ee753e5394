#include "protocol/duet/duet.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/sequential.h"

#define ERROR_RATE 0.05
/* Below this many pairs the outermost are kept: trimming would leave too few. */
#define TRIMMED_FROM 10
#define TRIMMED_SHARE 0.1
#define PAIRS_MIN 3
#define SHARE_MOST 0.7
#define APART_FROM_NS 60000000u

const char *const duet_measure_names[DUET_MEASURES] = { "pt_net", "pt_exec", "turn", "et" };
const char *const duet_measure_words[DUET_MEASURES] = { "process time (net)", "process time (exec)",
							"time in its turns", "elapsed time" };

static uint64_t value_ns(const struct duet_part *p, enum duet_measure m)
{
	return m == DUET_PT_NET	   ? p->pt_ns[GRADE_NET]
	       : m == DUET_PT_EXEC ? p->pt_ns[GRADE_EXEC]
	       : m == DUET_TURN	   ? p->turn_ns
				   : p->et_ns;
}

/* Without what the shell alone took, never below 0. Turns are elapsed time. */
static double net_ns(const struct duet *d, enum duet_measure m, uint64_t ns)
{
	uint64_t cost = m == DUET_PT_NET    ? d->shell_pt_ns[GRADE_NET]
			: m == DUET_PT_EXEC ? d->shell_pt_ns[GRADE_EXEC]
					    : d->shell_et_ns;
	return ns > cost ? (double)(ns - cost) : 0;
}

static bool succeeded(const struct duet *d, const struct duet_part *p)
{
	bool expected = p->status == 0 || d->ignore_failure;
	for (size_t i = 0; i < d->expected_codes.count; i++)
		expected |= p->status == d->expected_codes.items[i];
	return (p->outcome == OUTCOME_EXITED && expected) ||
	       (d->ignore_failure && p->outcome != OUTCOME_TIMED_OUT);
}

/* Whether every counted part has it. */
static bool has(const struct duet *d, enum duet_measure m)
{
	bool any = false;
	array_each(p, &d->parts) {
		if (!p->pair || p->warmup || !succeeded(d, p))
			continue;
		if (value_ns(p, m) == ABSENT_NS)
			return false;
		any = true;
	}
	return any;
}

static enum duet_measure choose(const struct duet *d)
{
	if (d->way == DUET_WHOLE)
		return DUET_ET;
	/* the elapsed time of sides that ran at once is as much the other's: never that */
	return has(d, DUET_PT_NET) ? DUET_PT_NET
	       : d->way == DUET_FREEZER && !has(d, DUET_PT_EXEC) && has(d, DUET_TURN)
		       ? DUET_TURN
		       : DUET_PT_EXEC;
}

/* The time of one side in one pair, per whole execution. Repeats count with the share that
 * overlapped the other side: the time used in the overlap over the executions done in it. */
struct total {
	double ns, done, overlap;
	bool seen, failed, apart;
	int64_t at_ns;
};

static void add_part(const struct duet *d, const struct duet_part *p, enum duet_measure m,
		     struct total *t)
{
	t->seen = true;
	if (!succeeded(d, p)) {
		/* a repeat is only extra */
		t->failed |= p->repeat == 0;
		return;
	}
	uint64_t ns = value_ns(p, m);
	if (ns == ABSENT_NS)
		return;
	double share = p->repeat == 0 ? 1 : p->overlap;
	if (isnan(share))
		return;
	t->ns += net_ns(d, m, ns) * share;
	t->done += share;
	if (p->repeat == 0) {
		uint64_t pt = p->pt_ns[GRADE_EXEC];
		/* the one that ended first had half of the CPU all the time, if they took turns */
		t->apart = d->way == DUET_SCHEDULER && pt != ABSENT_NS && p->overlap >= 1 &&
			   pt > APART_FROM_NS && (double)pt > SHARE_MOST * (double)p->et_ns;
		t->overlap = p->overlap;
		t->at_ns = p->started_at_ns;
	}
}

/* The pairs of one side with the reference, in order. */
static void collect_pairs(const struct duet *d, enum duet_measure m, struct duet_verdict *v)
{
	uint32_t last = 0;
	array_each(p, &d->parts)
		last = p->pair > last ? p->pair : last;
	FREED struct total *totals = xcalloc(2 * ((size_t)last + 1), sizeof *totals);
	FREED bool *is_this = xcalloc((size_t)last + 1, sizeof *is_this);
	array_each(p, &d->parts) {
		if (!p->pair || p->warmup || (p->side && p->side != v->side))
			continue;
		is_this[p->pair] |= p->side == v->side;
		add_part(d, p, m, &totals[2 * p->pair + (p->side != 0)]);
	}
	for (uint32_t i = 1; i <= last; i++) {
		const struct total *t = &totals[2 * (size_t)i];
		if (!is_this[i] || !t[0].seen || !t[1].seen)
			continue;
		if (t[0].failed || t[1].failed) {
			v->failed++;
			continue;
		}
		if (t[0].done <= 0 || t[1].done <= 0 || t[0].ns <= 0 || t[1].ns <= 0) {
			v->unusable++;
			continue;
		}
		struct duet_pair pair = { .pair = i,
					  .at_ns = t[0].at_ns < t[1].at_ns ? t[0].at_ns
									   : t[1].at_ns,
					  .ns = { t[0].ns / t[0].done, t[1].ns / t[1].done },
					  .overlap = fmin(t[0].overlap, t[1].overlap) };
		v->apart += t[0].apart || t[1].apart;
		pair.log_ratio = log(pair.ns[1] / pair.ns[0]);
		array_push(&v->list, pair);
	}
	v->pairs = v->list.count;
}

static int by_ratio(const void *a, const void *b)
{
	const struct duet_pair *const *x = a, *const *y = b;
	return ORDER((*x)->log_ratio, (*y)->log_ratio);
}

struct estimate {
	double mean, error, df; /* error: of the mean */
};

/* The mean without the outermost tenth on each side, and its standard error from the winsorised
 * variance (Yuen 1974, Biometrika 61, 165-170): one pair that the host spoilt does not count, and
 * below TRIMMED_FROM pairs it is Student's. n counts the first pairs of the list; trimmed marks are
 * set if `mark`. */
static struct estimate estimate(const struct duet_verdict *v, size_t n, bool mark)
{
	struct estimate e = { NAN, NAN, 0 };
	if (n < 2)
		return e;
	FREED struct duet_pair **sorted = xmalloc(n * sizeof(struct duet_pair *));
	for (size_t i = 0; i < n; i++)
		sorted[i] = &v->list.items[i];
	qsort(sorted, n, sizeof(struct duet_pair *), by_ratio);
	size_t cut = n >= TRIMMED_FROM ? (size_t)(TRIMMED_SHARE * (double)n) : 0;
	size_t kept = n - 2 * cut;
	double sum = 0, winsorised = 0, squares = 0;
	for (size_t i = 0; i < n; i++) {
		bool out = i < cut || i >= n - cut;
		size_t at = i < cut ? cut : i >= n - cut ? n - cut - 1 : i;
		sum += out ? 0 : sorted[i]->log_ratio;
		winsorised += sorted[at]->log_ratio;
		if (mark)
			sorted[i]->trimmed = out;
	}
	winsorised /= (double)n;
	for (size_t i = 0; i < n; i++) {
		size_t at = i < cut ? cut : i >= n - cut ? n - cut - 1 : i;
		double off = sorted[at]->log_ratio - winsorised;
		squares += off * off;
	}
	e.mean = sum / (double)kept;
	e.df = (double)kept - 1;
	e.error = sqrt(squares / ((double)kept * ((double)kept - 1)));
	return e;
}

static struct duet_step step_of(const struct duet_verdict *v, size_t n, double level)
{
	struct duet_step step = {
		.pairs = n, .ratio = NAN, .low = NAN, .high = NAN, .level = level
	};
	if (n < PAIRS_MIN)
		return step;
	struct estimate e = estimate(v, n, false);
	double t = gsl_cdf_tdist_Qinv(level / 2, e.df);
	step.ratio = exp(e.mean);
	step.low = exp(e.mean - t * e.error);
	step.high = exp(e.mean + t * e.error);
	return step;
}

/* A step for each look that had something new to see. Without looks, as an interrupted or imported
 * duet has: one at all pairs. */
static void take_steps(const struct duet *d, struct duet_verdict *v)
{
	struct sequential s;
	size_t at = 0;
	const double alpha = ERROR_RATE / (double)(d->sides.count - 1);
	sequential_begin(&s, alpha);
	array_each(look, &d->looks) {
		size_t n = at;
		while (n < v->list.count && v->list.items[n].pair <= look->pairs)
			n++;
		if (n == at || n < PAIRS_MIN)
			continue;
		at = n;
		double level = sequential_look(&s, (double)n, look->spent);
		if (level > 0)
			array_push(&v->steps, step_of(v, n, level));
	}
	if (!v->steps.count)
		array_push(&v->steps, step_of(v, v->list.count, alpha));
}

static double standard_deviation(const struct duet_verdict *v, size_t n, int side, double *mean)
{
	double sum = 0, squares = 0;
	for (size_t i = 0; i < n; i++)
		sum += v->list.items[i].ns[side];
	*mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += pow(v->list.items[i].ns[side] - *mean, 2);
	return n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
}

/* What sharing cost a side: its executions alone against its own in the nearest pair, as the mean
 * of the log ratios with a t interval. Executions alone that share a nearest pair count as one:
 * they met one speed. The speed of the CPU differs between the two, so that this is far less sure
 * than the comparison of the sides. */
static void find_cost(const struct duet *d, enum duet_measure m, struct duet_verdict *v, int side)
{
	struct group {
		double log_sum;
		size_t count;
	};
	FREED struct group *groups = xcalloc(v->list.count + 1, sizeof *groups);
	double sum = 0, squares = 0;
	size_t n = 0;
	v->cost[side] = v->cost_low[side] = v->cost_high[side] = NAN;
	if (d->way == DUET_WHOLE || !v->list.count)
		return;
	array_each(p, &d->parts) {
		uint64_t ns = value_ns(p, m);
		size_t nearest = 0;
		if (p->pair || p->side != (side ? v->side : 0) || p->warmup || !succeeded(d, p) ||
		    ns == ABSENT_NS || !(net_ns(d, m, ns) > 0))
			continue;
		for (size_t i = 1; i < v->list.count; i++)
			if (llabs(v->list.items[i].at_ns - p->started_at_ns) <
			    llabs(v->list.items[nearest].at_ns - p->started_at_ns))
				nearest = i;
		groups[nearest].log_sum += log(net_ns(d, m, ns));
		groups[nearest].count++;
	}
	for (size_t i = 0; i < v->list.count; i++) {
		if (!groups[i].count)
			continue;
		double l = log(v->list.items[i].ns[side]) -
			   groups[i].log_sum / (double)groups[i].count;
		sum += l;
		squares += l * l;
		n++;
	}
	if (n < 3)
		return;
	double mean = sum / (double)n;
	double error =
		sqrt(fmax(squares - (double)n * mean * mean, 0) / (double)(n - 1) / (double)n);
	double t = gsl_cdf_tdist_Pinv(0.975, (double)n - 1);
	v->cost[side] = exp(mean);
	v->cost_low[side] = exp(mean - t * error);
	v->cost_high[side] = exp(mean + t * error);
}

static enum duet_end end_of(const struct duet *d, const struct duet_verdict *v)
{
	if (isnan(v->low))
		return DUET_OPEN;
	if (d->precision > 0 && v->low >= 1 - d->precision && v->high <= 1 + d->precision)
		return v->high < 1 ? DUET_FASTER : v->low > 1 ? DUET_SLOWER : DUET_SAME;
	return v->high < 1 ? DUET_FASTER : v->low > 1 ? DUET_SLOWER : DUET_OPEN;
}

static enum duet_gate gate_of(const struct duet *d, const struct duet_verdict *v)
{
	if (isnan(d->slower))
		return DUET_GATE_NONE;
	if (isnan(v->low))
		return DUET_GATE_NOT_KNOWN;
	return v->low > 1 + d->slower	  ? DUET_GATE_SLOWER
	       : v->high <= 1 + d->slower ? DUET_GATE_NOT_SLOWER
					  : DUET_GATE_NOT_KNOWN;
}

static void judge_side(const struct duet *d, enum duet_measure m, struct duet_verdict *v)
{
	collect_pairs(d, m, v);
	take_steps(d, v);
	const struct duet_step *last = &v->steps.items[v->steps.count - 1];
	v->judged = last->pairs;
	v->level = last->level;
	v->ratio = last->ratio;
	v->low = last->low;
	v->high = last->high;
	v->sigma = NAN;
	for (int side = 0; side < 2; side++) {
		double mean = NAN;
		double sigma = v->list.count ? standard_deviation(v, v->list.count, side, &mean)
					     : 0;
		v->mean_ns[side] = mean;
		v->spread[side] = v->list.count ? sigma / mean : NAN;
		find_cost(d, m, v, side);
	}
	if (v->judged >= PAIRS_MIN)
		v->sigma = estimate(v, v->judged, true).error * sqrt((double)v->judged);
	array_each(p, &v->list)
		v->trimmed += p->trimmed;
	v->end = end_of(d, v);
	v->gate = gate_of(d, v);
}

void duet_judge(const struct duet *d, enum duet_measure measure, struct duet_result *out)
{
	*out = (struct duet_result){ .measure = measure == DUET_MEASURES ? choose(d) : measure };
	out->done = true;
	for (uint32_t i = 1; i < d->sides.count; i++) {
		struct duet_verdict v = { .side = i };
		judge_side(d, out->measure, &v);
		bool sure = isnan(d->slower) ? v.end != DUET_OPEN : v.gate != DUET_GATE_NOT_KNOWN;
		/* with a precision asked for, a sign is not enough */
		if (d->precise && isnan(d->slower))
			sure = !isnan(v.low) && v.high - v.low <= 2 * d->precision;
		out->done &= sure;
		array_push(&out->verdicts, v);
	}
}

void duet_result_release(struct duet_result *r)
{
	for (size_t i = 0; i < r->verdicts.count; i++) {
		array_release(&r->verdicts.items[i].list);
		array_release(&r->verdicts.items[i].steps);
	}
	array_release(&r->verdicts);
	*r = (struct duet_result){ 0 };
}
