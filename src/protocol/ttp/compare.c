#include "protocol/ttp/compare.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/tests.h"

#define ALPHA 0.05
#define HALF_WIDTH 1.959964 /* of a 95 % interval, in standard errors */

struct side {
	const struct query_run *run;
	const struct ttp_result *result;
	size_t *first; /* of each Q@C: where its executions begin in result->fired */
};

static struct side side_of(const struct query_run *run, const struct ttp_result *result)
{
	struct side s = { run, result, xcalloc(run->at.count + 1, sizeof *s.first) };
	for (size_t i = 0; i < run->at.count; i++)
		s.first[i + 1] = s.first[i] + run->at.items[i].executions.count;
	return s;
}

/* ---- which queries are the same ---- */

/* Texts that differ in white space alone are one. */
static bool is_same_text(const char *a, const char *b)
{
	for (;;) {
		bool gap_a = isspace((unsigned char)*a), gap_b = isspace((unsigned char)*b);
		while (isspace((unsigned char)*a))
			a++;
		while (isspace((unsigned char)*b))
			b++;
		if (*a != *b || (*a && gap_a != gap_b))
			return false;
		if (!*a)
			return true;
		a++;
		b++;
	}
}

static const char *text_of(const struct query_run *run, uint32_t query)
{
	for (size_t i = 0; i < run->texts.count; i++)
		if (run->texts.items[i].query == query)
			return run->texts.items[i].sql;
	return NULL;
}

/* The other run's number of this query of the base; 0: it has none. The same text may be there
 * several times: the same number is preferred. */
static uint32_t counterpart(const struct query_run *base, const struct query_run *other,
			    uint32_t query)
{
	const char *text = text_of(base, query), *there = text_of(other, query);
	if (!text || !other->texts.count || (there && is_same_text(text, there)))
		return query;
	array_each(t, &other->texts)
		if (t->sql && is_same_text(text, t->sql))
			return t->query;
	return 0;
}

static int by_query(const void *a, const void *b)
{
	const struct query_at *p = a, *q = b;
	return ORDER(p->query, q->query) ?: ORDER(p->cardinality, q->cardinality);
}

/* ---- one pair ---- */

static size_t times_of(const struct side *s, size_t at, enum ttp_time time, double **out)
{
	const struct query_at *q = &s->run->at.items[at];
	size_t n = 0;
	*out = xcalloc(q->executions.count + 1, sizeof **out);
	for (size_t k = 0; k < q->executions.count; k++)
		if (!s->result->fired[s->first[at] + k] &&
		    ttp_time_of(&q->executions.items[k], time, &(*out)[n]) && (*out)[n] > 0)
			n++;
	return n;
}

static bool has_same_plan(const struct side *base, size_t i, const struct side *other, size_t j)
{
	if (i == SIZE_MAX || j == SIZE_MAX || strcmp(base->run->dbms, other->run->dbms) != 0)
		return true;
	const struct query_at *a = &base->run->at.items[i], *b = &other->run->at.items[j];
	if (!a->executions.count || !b->executions.count)
		return true;
	uint64_t before = a->executions.items[0].plan, after = b->executions.items[0].plan;
	return !before || !after || before == after;
}

static double median_of(const struct side *s, size_t at, enum ttp_time time)
{
	const struct ttp_figure *f = at == SIZE_MAX ? NULL : &s->result->at[at].times[time];
	return f && f->present ? f->median_ns : NAN;
}

static struct ttp_ratio ratio_of(const struct side *base, size_t i, const struct side *other,
				 size_t j, enum ttp_time time, bool both)
{
	struct ttp_ratio r = { .base_ns = median_of(base, i, time),
			       .other_ns = median_of(other, j, time),
			       .ratio = NAN,
			       .low = NAN,
			       .high = NAN,
			       .p = 1 };
	if (both) {
		double *a, *b;
		size_t n_a = times_of(base, i, time, &a), n_b = times_of(other, j, time, &b);
		struct mann_whitney test;
		struct ratio ratio;
		mann_whitney(a, n_a, b, n_b, &test);
		ratio_of_shift(a, n_a, b, n_b, &ratio);
		r.p = test.p; /* not corrected yet */
		r.ratio = ratio.ratio;
		r.low = ratio.low;
		r.high = ratio.high;
		xfree(a);
		xfree(b);
	}
	return r;
}

static bool is_kept(const struct side *s, size_t at)
{
	return at != SIZE_MAX && s->result->at[at].drop == TTP_KEPT;
}

static void add_pair(const struct side *base, size_t i, const struct side *other, size_t j,
		     struct ttp_comparison *out)
{
	bool kept = is_kept(base, i), kept_other = is_kept(other, j);
	struct ttp_pair pair = { .base = i == SIZE_MAX ? NULL : &base->run->at.items[i],
				 .other = j == SIZE_MAX ? NULL : &other->run->at.items[j],
				 .by = out->time };
	const struct query_at *either = pair.base ? pair.base : pair.other;
	if (!either || (!kept && !kept_other))
		return;
	pair.query = either->query;
	pair.cardinality = either->cardinality;
	pair.same_plan = has_same_plan(base, i, other, j);
	pair.change = !kept_other ? TTP_ONLY_BASE : !kept ? TTP_ONLY_OTHER : TTP_SAME;
	pair.time = ratio_of(base, i, other, j, out->time, pair.change == TTP_SAME);
	pair.elapsed = ratio_of(base, i, other, j, TTP_MEASURED, pair.change == TTP_SAME);
	array_push(&out->pairs, pair);
}

static void pair_all(const struct side *base, const struct side *other, struct ttp_comparison *out)
{
	bool *taken = xcalloc(other->run->at.count + 1, sizeof *taken);
	uint32_t query = 0;
	for (size_t i = 0; i < base->run->at.count; i++) {
		const struct query_at *q = &base->run->at.items[i];
		if (!i || q->query != q[-1].query)
			query = counterpart(base->run, other->run, q->query);
		const struct query_at key = { .query = query, .cardinality = q->cardinality };
		const struct query_at *found = query && other->run->at.count
						       ? bsearch(&key, other->run->at.items,
								 other->run->at.count, sizeof key,
								 by_query)
						       : NULL;
		size_t j = found ? (size_t)(found - other->run->at.items) : SIZE_MAX;
		if (j != SIZE_MAX && taken[j])
			j = SIZE_MAX;
		if (j != SIZE_MAX)
			taken[j] = true;
		add_pair(base, i, other, j, out);
	}
	for (size_t j = 0; j < other->run->at.count; j++)
		if (!taken[j])
			add_pair(base, SIZE_MAX, other, j, out);
	xfree(taken);
}

/* ---- all of them ---- */

static int by_place(const void *a, const void *b)
{
	const struct ttp_pair *p = a, *q = b;
	return ORDER(p->query, q->query) ?: ORDER(p->cardinality, q->cardinality) ?:
	       (q->base != NULL) - (p->base != NULL);
}

/* Kept in both, and the time is known of both. */
static bool can_tell(const struct ttp_pair *p)
{
	return p->change == TTP_SAME && !isnan(p->time.base_ns) && !isnan(p->time.other_ns);
}

static enum ttp_change change_of(const struct ttp_ratio *r)
{
	return r->p >= ALPHA ? TTP_SAME
	       : r->low > 1  ? TTP_SLOWER
	       : r->high < 1 ? TTP_FASTER
			     : TTP_SAME;
}

/* asked: for this time, which decides then. */
static void judge(struct ttp_comparison *out, bool asked)
{
	double *p = xcalloc(2 * out->pairs.count + 1, sizeof *p), *elapsed = p + out->pairs.count;
	for (size_t i = 0; i < out->pairs.count; i++)
		if (can_tell(&out->pairs.items[i])) {
			p[out->compared] = out->pairs.items[i].time.p;
			elapsed[out->compared++] = out->pairs.items[i].elapsed.p;
		}
	adjust_p_holm(p, out->compared);
	adjust_p_holm(elapsed, out->compared);
	for (size_t i = 0, n = 0; i < out->pairs.count; i++) {
		struct ttp_pair *pair = &out->pairs.items[i];
		out->plan_changes += !pair->same_plan;
		if (!can_tell(pair))
			continue;
		pair->time.p = p[n];
		pair->elapsed.p = elapsed[n++];
		pair->change = change_of(&pair->time);
		enum ttp_change waited = change_of(&pair->elapsed);
		if (!asked && pair->change && waited && waited != pair->change) {
			pair->change = waited;
			pair->by = TTP_MEASURED;
			out->contrary++;
		}
		out->slower += pair->change == TTP_SLOWER;
		out->faster += pair->change == TTP_FASTER;
	}
	xfree(p);
}

/* The mean of logarithms; its error is that of the pairs, each from its own interval. `at`: which
 * ratio of a pair. */
static void find_mean(const struct ttp_comparison *c, size_t at, double *ratio, double *low,
		      double *high)
{
	double sum = 0, variance = 0, n = 0;
	array_each(pair, &c->pairs) {
		const struct ttp_ratio *r = (const void *)((const char *)pair + at);
		if (!(r->ratio > 0))
			continue;
		double error = log(r->high / r->low) / (2 * HALF_WIDTH);
		sum += log(r->ratio);
		variance += error * error;
		n++;
	}
	double half = HALF_WIDTH * sqrt(variance) / n;
	*ratio = n > 0 ? exp(sum / n) : NAN;
	*low = *ratio * exp(-half);
	*high = *ratio * exp(half);
}

void ttp_compare(const struct query_run *base, const struct ttp_result *base_result,
		 const struct query_run *other, const struct ttp_result *other_result,
		 enum ttp_time time, struct ttp_comparison *out)
{
	struct side a = side_of(base, base_result), b = side_of(other, other_result);
	bool asked = time != TTP_TIMES;
	static const enum ttp_time order[] = { TTP_DEVICE, TTP_BLOCKED, TTP_MEASURED };
	for (size_t i = 0; time == TTP_TIMES; i++)
		if (order[i] == TTP_MEASURED || (ttp_has_time(base, base_result, order[i]) &&
						 ttp_has_time(other, other_result, order[i])))
			time = order[i];
	*out = (struct ttp_comparison){ .time = time };
	pair_all(&a, &b, out);
	array_sort(&out->pairs, by_place);
	judge(out, asked);
	find_mean(out, offsetof(struct ttp_pair, time), &out->ratio, &out->ratio_low,
		  &out->ratio_high);
	find_mean(out, offsetof(struct ttp_pair, elapsed), &out->elapsed_ratio, &out->elapsed_low,
		  &out->elapsed_high);
	xfree(a.first);
	xfree(b.first);
}

void ttp_comparison_release(struct ttp_comparison *c)
{
	array_release(&c->pairs);
}
