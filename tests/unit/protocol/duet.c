/* The verdict of a duet: known ratios come back, looks do not make it err more often than agreed,
 * and what is left out is counted. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "../fixtures/duet.h"
#include "protocol/duet/duet.h"
#include "protocol/duet/pool.h"

static struct duet_result judged(struct duet *d)
{
	struct duet_result r;
	duet_judge(d, DUET_MEASURES, &r);
	return r;
}

static void release(struct duet *d, struct duet_result *r)
{
	duet_release(d);
	duet_result_release(r);
}

static void a_known_ratio_comes_back(void **state)
{
	(void)state;
	static const double ratios[] = { .25, .98, .995, 1.01, 3 };
	for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
		struct duet d = duet_made(&(struct duet_scene){ .sides = 2,
								.pairs = 30,
								.ratio = { 1, ratios[i] },
								.sigma = .002,
								.speed = .15,
								.look_every = 10,
								.seed = 100 + i });
		struct duet_result r = judged(&d);
		const struct duet_verdict *v = &r.verdicts.items[0];
		assert_int_equal(r.measure, DUET_PT_NET);
		assert_true(v->low < ratios[i] && ratios[i] < v->high);
		assert_true(fabs(v->ratio / ratios[i] - 1) < .002);
		assert_int_equal(v->end, ratios[i] < 1 ? DUET_FASTER : DUET_SLOWER);
		assert_true(r.done);
		assert_int_equal(v->pairs, 30); /* without the warm-up */
		assert_int_equal(v->judged, 30);
		assert_int_equal(v->trimmed, 6);
		assert_int_equal(v->steps.count, 3);
		assert_float_equal(v->sigma, .002, .001);
		assert_true(v->spread[0] > .08);
		release(&d, &r);
	}
}

static void one_spoilt_pair_changes_little(void **state)
{
	(void)state;
	const struct duet_scene scene = {
		.sides = 2, .pairs = 20, .ratio = { 1, .98 }, .sigma = .004, .seed = 5
	};
	struct duet d = duet_made(&scene), spoilt = duet_made(&scene);
	for (size_t i = 0; i < spoilt.parts.count; i++)
		if (spoilt.parts.items[i].pair == 9 && spoilt.parts.items[i].side == 1)
			spoilt.parts.items[i].pt_ns[GRADE_NET] *= 3;
	struct duet_result r = judged(&d), s = judged(&spoilt);
	const struct duet_verdict *a = &r.verdicts.items[0], *b = &s.verdicts.items[0];
	assert_float_equal(a->ratio, b->ratio, .001);
	assert_true(b->high - b->low < 1.3 * (a->high - a->low));
	assert_true(b->end == DUET_FASTER && b->list.items[7].pair == 9 &&
		    b->list.items[7].trimmed);
	release(&d, &r);
	release(&spoilt, &s);
}

/* The looks of a duet of 20 pairs (measure/duet.c), the first pair being a warm-up. */
static void look_as_duets_do(struct duet *d, uint32_t others)
{
	static const uint32_t rounds[] = { 6, 8, 11, 15, 20, 21 };
	d->looks.count = 0;
	for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++)
		array_push(&d->looks,
			   ((struct duet_look){ rounds[i] * others, sqrt(rounds[i] / 21.) }));
}

/* Without levels for looks it would be about twice as often. */
static void equal_sides_are_rarely_called_different(void **state)
{
	(void)state;
	for (uint32_t sides = 2; sides <= 4; sides += 2) {
		const size_t runs = sides == 2 ? 400 : 250;
		size_t different = 0;
		for (uint64_t i = 0; i < runs; i++) {
			struct duet d = duet_made(&(struct duet_scene){ .sides = sides,
									.pairs = 20,
									.ratio = { 1, 1, 1, 1 },
									.sigma = .01,
									.speed = .1,
									.seed = 1000 * i + sides });
			look_as_duets_do(&d, sides - 1);
			struct duet_result r = judged(&d);
			bool called = false;
			array_each(v, &r.verdicts)
				array_each(step, &v->steps)
					called |= step->low > 1 || step->high < 1;
			different += called;
			assert_int_equal(r.verdicts.items[0].steps.count, 6);
			release(&d, &r);
		}
		print_message("%u sides: %zu of %zu called different\n", sides, different, runs);
		/* the seeds are fixed, so there is no chance to allow for; nor is it needlessly
		 * wide */
		assert_true((double)different <= .05 * (double)runs);
		assert_true((double)different >= .02 * (double)runs);
	}
}

/* One look needs no caution: its interval is Student's. */
static void a_single_look_has_all_of_the_error_rate(void **state)
{
	(void)state;
	struct duet d = duet_made(&(struct duet_scene){
		.sides = 2, .pairs = 5, .ratio = { 1, .98 }, .sigma = .01, .seed = 4 });
	d.looks.count = 0;
	array_push(&d.looks, ((struct duet_look){ 6, 1 }));
	struct duet_result r = judged(&d);
	assert_int_equal(r.verdicts.items[0].judged, 5);
	assert_float_equal(r.verdicts.items[0].level, .05, 1e-6);
	release(&d, &r);
}

static void looks_widen_the_interval(void **state)
{
	(void)state;
	struct duet_scene scene = {
		.sides = 2, .pairs = 24, .ratio = { 1, .99 }, .sigma = .01, .seed = 3
	};
	struct duet once = duet_made(&scene);
	scene.look_every = 4;
	struct duet often = duet_made(&scene);
	scene.sides = 3;
	scene.ratio[2] = 1;
	struct duet shared = duet_made(&scene);
	struct duet_result a = judged(&once), b = judged(&often), c = judged(&shared);
	assert_float_equal(a.verdicts.items[0].level, .05, 1e-12);
	assert_true(b.verdicts.items[0].level < .05);
	/* several sides share the error rate */
	assert_true(c.verdicts.items[0].level < b.verdicts.items[0].level);
	assert_int_equal(c.verdicts.count, 2);
	release(&once, &a);
	release(&often, &b);
	release(&shared, &c);
}

static void pairs_after_the_last_look_are_not_judged(void **state)
{
	(void)state;
	struct duet d = duet_made(&(struct duet_scene){ .sides = 2,
							.pairs = 20,
							.ratio = { 1, .98 },
							.sigma = .004,
							.look_every = 8,
							.seed = 3 });
	struct duet_result r = judged(&d);
	assert_int_equal(r.verdicts.items[0].pairs, 20);
	assert_int_equal(r.verdicts.items[0].judged, 16);
	assert_int_equal(r.verdicts.items[0].steps.count, 2);
	release(&d, &r);
}

static void repeats_count_with_what_overlapped(void **state)
{
	(void)state;
	struct duet d = { .sides = { 0 }, .precision = .005, .slower = NAN };
	array_push(&d.sides, ((struct duet_side){ xstrdup("long"), xstrdup("long") }));
	array_push(&d.sides, ((struct duet_side){ xstrdup("short"), xstrdup("short") }));
	for (uint32_t pair = 1; pair <= 4; pair++) {
		struct duet_part p = { .pair = pair,
				       .overlap = 1,
				       .et_ns = 1,
				       .turn_ns = ABSENT_NS,
				       .pt_ns = { 1000, 1000, ABSENT_NS } };
		array_push(&d.parts, p);
		p.side = 1;
		p.pt_ns[GRADE_NET] = 400;
		array_push(&d.parts, p);
		p.repeat = 1;
		p.pt_ns[GRADE_NET] = 410;
		array_push(&d.parts, p);
		p.repeat = 2;
		p.overlap = .5;
		p.pt_ns[GRADE_NET] = 360;
		array_push(&d.parts, p);
		p.repeat = 3; /* unknown overlap, and failed: extra, no harm */
		p.overlap = NAN;
		array_push(&d.parts, p);
		p.overlap = 1;
		p.status = 1;
		array_push(&d.parts, p);
	}
	struct duet_result r = judged(&d);
	const struct duet_verdict *v = &r.verdicts.items[0];
	assert_int_equal(v->pairs, 4);
	assert_int_equal(v->failed, 0);
	assert_float_equal(v->list.items[0].ns[1], (400 + 410 + 180) / 2.5, 1e-9);
	/* all alike: as sure as the clock allows */
	assert_float_equal(v->ratio, .396, 1e-9);
	assert_true(v->low == v->high && v->end == DUET_FASTER);
	release(&d, &r);
}

static void failed_pairs_are_counted_and_left_out(void **state)
{
	(void)state;
	struct duet d = duet_made(&(struct duet_scene){ .sides = 2,
							.pairs = 20,
							.ratio = { 1, .98 },
							.sigma = .004,
							.fail_every = 5,
							.seed = 3 });
	struct duet_result r = judged(&d);
	assert_int_equal(r.verdicts.items[0].failed, 4);
	assert_int_equal(r.verdicts.items[0].pairs, 16);
	duet_result_release(&r);
	d.ignore_failure = true;
	r = judged(&d);
	assert_int_equal(r.verdicts.items[0].pairs, 20);
	duet_result_release(&r);
	d.ignore_failure = false;
	array_push(&d.expected_codes, 1);
	r = judged(&d);
	assert_int_equal(r.verdicts.items[0].pairs, 20);
	duet_result_release(&r);
	d.shell_pt_ns[GRADE_NET] = 10000000000; /* longer than any of them */
	r = judged(&d);
	assert_int_equal(r.verdicts.items[0].pairs, 0);
	assert_int_equal(r.verdicts.items[0].unusable, 20);
	release(&d, &r);
}

static void few_pairs_or_none_are_not_known(void **state)
{
	(void)state;
	for (uint32_t pairs = 0; pairs <= 3; pairs++) {
		struct duet d = duet_made(&(struct duet_scene){
			.sides = 2, .pairs = pairs, .ratio = { 1, .5 }, .sigma = .004, .seed = 3 });
		struct duet_result r = judged(&d);
		const struct duet_verdict *v = &r.verdicts.items[0];
		assert_int_equal(isnan(v->ratio), pairs < 3);
		assert_true(pairs == 3 || v->end == DUET_OPEN);
		assert_true(pairs == 3 || !r.done);
		release(&d, &r);
	}
	struct duet d = duet_made(&(struct duet_scene){ .sides = 3, .ratio = { 1, 1, 1 } });
	d.parts.count = 0;
	struct duet_result r = judged(&d);
	assert_int_equal(r.verdicts.count, 2);
	assert_true(isnan(r.verdicts.items[1].mean_ns[0]));
	release(&d, &r);
}

static void what_the_way_asks_for_is_compared(void **state)
{
	(void)state;
	struct duet_scene scene = {
		.sides = 2, .pairs = 5, .ratio = { 1, .9 }, .sigma = .004, .seed = 3
	};
	struct duet d = duet_made(&scene);
	d.parts.items[4].pt_ns[GRADE_NET] = ABSENT_NS;
	struct duet_result r = judged(&d);
	assert_int_equal(r.measure, DUET_PT_EXEC);
	duet_result_release(&r);
	d.way = DUET_WHOLE;
	r = judged(&d);
	assert_int_equal(r.measure, DUET_ET);
	duet_result_release(&r);
	d.way = DUET_FREEZER;
	array_each(p, &d.parts) {
		p->pt_ns[GRADE_NET] = p->pt_ns[GRADE_EXEC] = ABSENT_NS;
		p->turn_ns = p->side ? 900 : 1000;
	}
	r = judged(&d);
	assert_int_equal(r.measure, DUET_TURN);
	assert_float_equal(r.verdicts.items[0].ratio, .9, 1e-9);
	release(&d, &r);
}

static void a_measure_that_the_way_does_not_give_is_refused(void **state)
{
	(void)state;
	struct duet d = duet_made(
		&(struct duet_scene){ .sides = 2, .pairs = 3, .ratio = { 1, 1 }, .seed = 3 });
	d.way = DUET_SCHEDULER;
	assert_null(duet_measure_missing(&d, DUET_PT_NET));
	assert_non_null(duet_measure_missing(&d, DUET_TURN));
	assert_non_null(duet_measure_missing(&d, DUET_ET));
	d.way = DUET_FREEZER;
	assert_null(duet_measure_missing(&d, DUET_TURN));
	d.way = DUET_WHOLE;
	assert_null(duet_measure_missing(&d, DUET_ET));
	d.parts.items[0].pt_ns[GRADE_NET] = ABSENT_NS;
	assert_non_null(duet_measure_missing(&d, DUET_PT_NET));
	assert_null(duet_measure_missing(&d, DUET_PT_EXEC));
	duet_release(&d);
}

static void sides_that_hardly_took_turns_are_noted(void **state)
{
	(void)state;
	static const struct {
		double pt_ms[2], et_ms[2], overlap;
		bool apart;
	} cases[] = {
		{ { 50, 50 }, { 100, 100 }, 1, false },
		{ { 50, 50 }, { 300, 310 }, .95, false }, /* beside other load */
		{ { 50, 80 }, { 100, 130 }, .6, false },
		{ { 50, 50 }, { 52, 100 }, .02, true },	 /* the first had a priority */
		{ { 50, 50 }, { 150, 200 }, .05, true }, /* the same, beside other load */
		{ { 50, 50 }, { 70, 72 }, .98, true },	 /* each on a CPU of its own */
		{ { 5, 5 }, { 6, 9 }, .1, false },	 /* too short to tell */
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct duet d = duet_made(&(struct duet_scene){
			.sides = 2, .pairs = 4, .ratio = { 1, 1 }, .seed = 3 });
		d.way = DUET_SCHEDULER;
		array_each(p, &d.parts) {
			p->pt_ns[GRADE_EXEC] = (uint64_t)(cases[i].pt_ms[p->side] * 1e6);
			p->et_ns = (uint64_t)(cases[i].et_ms[p->side] * 1e6);
			p->overlap = p->side ? cases[i].overlap : 1;
		}
		struct duet_result r = judged(&d);
		assert_int_equal(r.verdicts.items[0].apart > 0, cases[i].apart);
		release(&d, &r);
	}
}

static void the_three_ends_of_the_gate(void **state)
{
	(void)state;
	static const struct {
		double ratio;
		enum duet_gate gate;
	} cases[] = { { 1.03, DUET_GATE_SLOWER },
		      { 1, DUET_GATE_NOT_SLOWER },
		      { .9, DUET_GATE_NOT_SLOWER },
		      { 1.01, DUET_GATE_NOT_KNOWN } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct duet d = duet_made(&(struct duet_scene){ .sides = 2,
								.pairs = 20,
								.ratio = { 1, cases[i].ratio },
								.sigma = .004,
								.slower = .01,
								.seed = 3 });
		struct duet_result r = judged(&d);
		assert_int_equal(r.verdicts.items[0].gate, cases[i].gate);
		assert_int_equal(r.done, cases[i].gate != DUET_GATE_NOT_KNOWN);
		release(&d, &r);
	}
}

static void the_same_is_within_the_precision(void **state)
{
	(void)state;
	struct duet d = duet_made(&(struct duet_scene){
		.sides = 2, .pairs = 30, .ratio = { 1, 1 }, .sigma = .002, .seed = 11 });
	struct duet_result r = judged(&d);
	assert_int_equal(r.verdicts.items[0].end, DUET_SAME);
	assert_true(r.done);
	duet_result_release(&r);
	d.precision = .0001;
	r = judged(&d);
	assert_int_equal(r.verdicts.items[0].end, DUET_OPEN);
	assert_false(r.done);
	release(&d, &r);
}

/* Executions alone beside one and the same pair are one look at the cost. */
static void the_cost_of_sharing_has_an_honest_interval(void **state)
{
	(void)state;
	size_t held = 0;
	enum { RUNS = 100 };
	for (uint64_t i = 0; i < RUNS; i++) {
		struct duet d = duet_made(&(struct duet_scene){ .sides = 2,
								.pairs = 20,
								.ratio = { 1, .98 },
								.sigma = .004,
								.speed = .05,
								.alone = 4,
								.seed = 77 * i });
		struct duet_result r = judged(&d);
		const struct duet_verdict *v = &r.verdicts.items[0];
		held += v->cost_low[0] < DUET_MADE_COST && v->cost_high[0] > DUET_MADE_COST;
		release(&d, &r);
	}
	assert_true(held >= 88 && held <= 100);
	struct duet d = duet_made(&(struct duet_scene){ .sides = 2,
							.pairs = 20,
							.ratio = { 1, .98 },
							.sigma = .004,
							.alone = 20,
							.seed = 1 });
	struct duet_part alone = { 0 };
	array_each(p, &d.parts)
		if (!p->pair && !p->side)
			alone = *p;
	for (int i = 0; i < 5; i++)
		array_push(&d.parts, alone);
	struct duet_result r = judged(&d);
	assert_true(isnan(r.verdicts.items[0].cost[0]));
	release(&d, &r);
}

/* ---- several runs ---- */

static void the_variation_between_runs_is_in_the_pooled_interval(void **state)
{
	(void)state;
	struct duet_verdict v[4] = {
		{ .ratio = .98, .low = .979, .high = .981, .sigma = .002, .judged = 16 },
		{ .ratio = .96, .low = .959, .high = .961, .sigma = .002, .judged = 16 },
		{ .ratio = 1, .low = .999, .high = 1.001, .sigma = .002, .judged = 16 },
		{ .ratio = NAN, .low = NAN, .high = NAN },
	};
	const struct duet_verdict *list[] = { &v[0], &v[1], &v[2], &v[3] };
	struct duet_pool p;
	duet_pool(list, 4, &p);
	assert_int_equal(p.runs, 3);
	assert_float_equal(p.ratio, .98, .001);
	/* t over three means: 4.303 * sigma / sqrt(3) */
	assert_true(p.low < .94 && p.high > 1.02);
	assert_float_equal(p.between, .0204, .001);
	assert_true(p.share > .98);
	duet_pool(list, 1, &p);
	assert_true(p.runs == 1 && p.ratio == .98 && p.low == .979 && isnan(p.between));
	duet_pool(list + 3, 1, &p);
	assert_true(p.runs == 0 && isnan(p.ratio));
	duet_pool(list, 0, &p);
	assert_true(p.runs == 0 && isnan(p.ratio));
	/* equal ones: never narrower than without the variation between them */
	v[1] = v[2] = v[0];
	duet_pool(list, 3, &p);
	assert_true(p.between == 0 && p.low < .9795 && p.high > .9805);
	v[0].sigma = v[1].sigma = v[2].sigma = 0;
	duet_pool(list, 3, &p);
	assert_float_equal(p.low, .98, 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_known_ratio_comes_back),
		cmocka_unit_test(one_spoilt_pair_changes_little),
		cmocka_unit_test(equal_sides_are_rarely_called_different),
		cmocka_unit_test(a_single_look_has_all_of_the_error_rate),
		cmocka_unit_test(looks_widen_the_interval),
		cmocka_unit_test(pairs_after_the_last_look_are_not_judged),
		cmocka_unit_test(repeats_count_with_what_overlapped),
		cmocka_unit_test(failed_pairs_are_counted_and_left_out),
		cmocka_unit_test(few_pairs_or_none_are_not_known),
		cmocka_unit_test(what_the_way_asks_for_is_compared),
		cmocka_unit_test(a_measure_that_the_way_does_not_give_is_refused),
		cmocka_unit_test(sides_that_hardly_took_turns_are_noted),
		cmocka_unit_test(the_three_ends_of_the_gate),
		cmocka_unit_test(the_same_is_within_the_precision),
		cmocka_unit_test(the_cost_of_sharing_has_an_honest_interval),
		cmocka_unit_test(the_variation_between_runs_is_in_the_pooled_interval),
	};
	return cmocka_run_group_tests_name("duet", tests, NULL, NULL);
}
