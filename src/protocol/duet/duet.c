#include "protocol/duet/duet.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/sequential.h"
#include "stats/trimmed.h"

#define ERROR_RATE 0.05
/* Below this many pairs the outermost are kept: trimming would leave too few. */
#define TRIMMED_FROM 10
#define TRIMMED_SHARE 0.1
#define PAIRS_MIN 3
/* The levels of several looks are those of normal deviates, but the first looks have few pairs, and
 * log ratios may be skewed. So they are multiplied by CAUTION n / (n + CAUTION_PAIRS), which was
 * found by simulation (decision 031, docs/coverage.md). */
#define CAUTION 0.9
#define CAUTION_PAIRS 2.0
#define SHARE_MOST 0.7
#define CPUS_MOST 1.2
/* Shorter ones may have ended before the other began. */
#define APART_FROM_NS 20000000u

const char *const duet_measure_names[DUET_MEASURES] = { "pt_net", "pt_exec",	  "turn",
							"et",	  "instructions", "cycles" };
const char *const duet_measure_words[DUET_MEASURES] = {
	"process time (net)", "process time (exec)",	   "time in its turns",
	"elapsed time",	      "instructions in user mode", "cycles in user mode"
};

static uint64_t value_ns(const struct duet_part *p, enum duet_measure m)
{
	int64_t count = m == DUET_CYCLES ? p->cycles : p->instructions;
	if (duet_is_count(m))
		return count < 0 ? ABSENT_NS : (uint64_t)count;
	return m == DUET_PT_NET	   ? p->pt_ns[GRADE_NET]
	       : m == DUET_PT_EXEC ? p->pt_ns[GRADE_EXEC]
	       : m == DUET_TURN	   ? p->turn_ns
				   : p->et_ns;
}

/* Without what the shell alone took, never below 0. Turns are elapsed time. What the shell counts
 * is not known. */
static double net_ns(const struct duet *d, enum duet_measure m, uint64_t ns)
{
	uint64_t cost = m == DUET_PT_NET    ? d->shell_pt_ns[GRADE_NET]
			: m == DUET_PT_EXEC ? d->shell_pt_ns[GRADE_EXEC]
			: duet_is_count(m)  ? 0
					    : d->shell_et_ns;
	return ns > cost ? (double)(ns - cost) : 0;
}

static bool succeeded(const struct duet *d, const struct duet_part *p)
{
	return outcome_counts(p->outcome, p->status, d->expected_codes.items,
			      d->expected_codes.count, d->ignore_failure);
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

const char *duet_measure_missing(const struct duet *d, enum duet_measure m)
{
	if (m == DUET_TURN && d->way != DUET_FREEZER)
		return "there are no turns without the freezer";
	if (m == DUET_ET && d->way != DUET_WHOLE)
		return "while both run, the elapsed time of one is as much the other's";
	array_each(p, &d->parts)
		if (m != DUET_TURN && value_ns(p, m) == ABSENT_NS)
			return m == DUET_PT_NET	  ? "it takes a ledger, which needs root and BPF"
			       : duet_is_count(m) ? "there are no hardware counters"
						  : "it is not known here";
	return NULL;
}

/* The time of one side in one pair, per whole execution. Repeats count with the share that
 * overlapped the other side: the time used in the overlap over the executions done in it. */
struct total {
	double ns, done, overlap;
	bool seen, failed, repeated;
	int64_t at_ns;
	double pt_ns, et_ns; /* of the first execution, by the scheduler; NaN: unknown */
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
	t->repeated |= p->repeat > 0;
	if (p->repeat == 0) {
		uint64_t pt = p->pt_ns[GRADE_EXEC];
		t->pt_ns = pt == ABSENT_NS ? NAN : (double)pt;
		t->et_ns = (double)p->et_ns;
		t->overlap = p->overlap;
		t->at_ns = p->started_at_ns;
	}
}

/* Whether the sides of a pair on one CPU hardly took turns. Had they, each would have used about
 * half of what both used until the first of them ended, and together no more than one CPU. */
static bool are_apart(const struct total t[2])
{
	const struct total *first = &t[t[1].et_ns < t[0].et_ns], *other = &t[first == t];
	if (!(first->pt_ns > APART_FROM_NS))
		return false;
	if (first->pt_ns > SHARE_MOST * first->et_ns)
		return true;
	double used = other->overlap * other->pt_ns, both = first->pt_ns + used;
	return !first->repeated && !isnan(used) &&
	       (fmax(used, first->pt_ns) > SHARE_MOST * both || both > CPUS_MOST * first->et_ns);
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
		v->apart += d->way == DUET_SCHEDULER && are_apart(t);
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

/* Of the first n pairs. One pair that the host spoilt does not count; below TRIMMED_FROM pairs all
 * do. mark: sets which pairs are left out. */
static struct trimmed_mean estimate(const struct duet_verdict *v, size_t n, bool mark)
{
	struct trimmed_mean e;
	FREED struct duet_pair **sorted = xmalloc((n + 1) * sizeof(struct duet_pair *));
	FREED double *values = xmalloc((n + 1) * sizeof *values);
	for (size_t i = 0; i < n; i++)
		sorted[i] = &v->list.items[i];
	qsort(sorted, n, sizeof(struct duet_pair *), by_ratio);
	for (size_t i = 0; i < n; i++)
		values[i] = sorted[i]->log_ratio;
	trimmed_mean_of(values, n, n >= TRIMMED_FROM ? TRIMMED_SHARE : 0, &e);
	for (size_t i = 0; mark && i < n; i++)
		sorted[i]->trimmed = i < e.cut || i >= n - e.cut;
	return e;
}

static struct duet_step step_of(const struct duet_verdict *v, size_t n, double level)
{
	struct duet_step step = {
		.pairs = n, .ratio = NAN, .low = NAN, .high = NAN, .level = level
	};
	if (n < PAIRS_MIN)
		return step;
	struct trimmed_mean e = estimate(v, n, false);
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
		/* a single look is Student's own */
		if (level < alpha * (1 - 1e-6))
			level *= CAUTION * (double)n / ((double)n + CAUTION_PAIRS);
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
