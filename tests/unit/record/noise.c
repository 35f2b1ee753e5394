#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../fixtures/near.h"
#include "record/detour.h"
#include "record/execution.h"
#include "record/noise.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void edges_of_buckets_are_round_numbers(void **state)
{
	(void)state;
	static const uint64_t edges[] = { 0,	   20,	    50,	       100,    110,    1000,
					  1020,	   2000,    2050,      5000,   5100,   8000,
					  10000,   100000,  110000,    200000, 500000, 950000,
					  1000000, 2500000, 1000000000 };
	for (size_t i = 0; i < COUNT(edges); i++) {
		unsigned bucket = noise_bucket_of(edges[i]);
		if (noise_bucket_low(bucket) != edges[i])
			fail_msg("%lu ns is in a bucket from %lu", edges[i],
				 noise_bucket_low(bucket));
		if (edges[i] >= 1000)
			assert_int_equal(noise_bucket_of(edges[i] - 1) + 1, bucket);
	}
}

/* Buckets that are narrower than 1 ns, below 50 ns, hold nothing or one length. */
static void every_length_is_in_the_bucket_that_holds_it(void **state)
{
	(void)state;
	for (unsigned b = 0; b < NOISE_BUCKETS; b++) {
		uint64_t low = noise_bucket_low(b), end = noise_bucket_low(b + 1);
		assert_true(low <= end);
		if (low == end)
			continue;
		assert_int_equal(noise_bucket_of(low), b);
		assert_int_equal(noise_bucket_of(end - 1), b);
		if (low >= 1000)
			assert_true(end - low <= low / 40 + 1 && end - low >= low / 100);
	}
	assert_int_equal(noise_bucket_of(0), 0);
	assert_int_equal(noise_bucket_of(9), 0);
	assert_int_equal(noise_bucket_of(UINT64_MAX), NOISE_BUCKETS - 1);
	assert_int_equal(noise_bucket_low(NOISE_BUCKETS), 1000000000000);
	assert_int_equal(noise_bucket_of(999999999999), NOISE_BUCKETS - 1);
}

static void histograms_are_added_up_bucket_by_bucket(void **state)
{
	(void)state;
	struct noise_histogram a = { 0 }, b = { 0 };
	noise_histogram_add(&a, 3, 1, 100);
	noise_histogram_add(&a, NOISE_BUCKETS - 1, 2, 200);
	noise_histogram_add(&b, 3, 4, 400);
	noise_histogram_add(&b, 700, 8, 800);
	noise_histogram_merge(&a, &b);
	assert_int_equal(noise_histogram_at(&a, 3).count, 5);
	assert_int_equal(noise_histogram_at(&a, 3).ns, 500);
	assert_int_equal(noise_histogram_at(&a, 700).count, 8);
	assert_int_equal(noise_histogram_at(&a, NOISE_BUCKETS - 1).ns, 200);
	assert_int_equal(noise_histogram_at(&a, 4).count, 0);
	assert_int_equal(noise_histogram_at(&b, NOISE_BUCKETS - 1).count, 0);
	noise_histogram_release(&a);
	noise_histogram_release(&b);
	assert_int_equal(noise_histogram_at(&a, 3).count, 0);
}

static void spreads_of_parts_merge_into_that_of_the_whole(void **state)
{
	(void)state;
	static const uint64_t x[] = { 9, 2, 4, 5, 4, 7, 5, 4 };
	struct noise_spread s = { 0 }, halves[2] = { { 0 }, { 0 } }, none = { 0 };
	assert_near(noise_spread_mean(&s), 0, 0);
	for (size_t i = 0; i < COUNT(x); i++) {
		noise_spread_add(&s, x[i]);
		noise_spread_add(&halves[i < 3], x[i]);
	}
	assert_int_equal(s.count, 8);
	assert_int_equal(s.ns, 40);
	assert_int_equal(s.min_ns, 2);
	assert_int_equal(s.max_ns, 9);
	assert_near(noise_spread_mean(&s), 5, 0);
	assert_near(noise_spread_sigma(&s), 2, 1e-12);
	noise_spread_merge(&halves[0], &none);
	noise_spread_merge(&halves[0], &halves[1]);
	assert_memory_equal(&halves[0], &s, sizeof s);
	noise_spread_merge(&none, &s);
	assert_memory_equal(&none, &s, sizeof s);
	struct noise_spread zero = { 0 };
	noise_spread_add(&zero, 0);
	noise_spread_add(&zero, 3);
	assert_int_equal(zero.min_ns, 0);
}

static void sources_beyond_the_bound_are_counted_as_others(void **state)
{
	(void)state;
	uint32_t cpu = 5;
	struct noise n;
	noise_init(&n, &cpu, 1);
	struct noise_cpu *c = &n.cpus.items[0];
	assert_int_equal(c->cpu, 5);
	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i < 2000; i++) {
			char name[64];
			snprintf(name, sizeof name, "source %d", i);
			noise_spread_add(&noise_source_get(c, NOISE_THREAD, name)->spread, 1);
			noise_spread_add(&noise_combination_get(c, name)->seen, 1);
		}
	noise_spread_add(&noise_source_get(c, NOISE_IRQ, "source 1")->spread, 1);
	assert_int_equal(c->sources.count, NOISE_SOURCES_MAX + 2);
	assert_int_equal(c->combinations.count, NOISE_COMBINATIONS_MAX + 1);
	assert_int_equal(noise_source_get(c, NOISE_THREAD, "source 1")->spread.count, 2);
	assert_int_equal(noise_source_get(c, NOISE_THREAD, "others")->spread.count,
			 2 * (2000 - NOISE_SOURCES_MAX));
	assert_int_equal(noise_source_get(c, NOISE_IRQ, "others")->spread.count, 1);
	assert_int_equal(noise_combination_get(c, "others")->seen.count,
			 2 * (2000 - NOISE_COMBINATIONS_MAX));
	noise_release(&n);
}

static void long_names_are_cut_and_found_again(void **state)
{
	(void)state;
	uint32_t cpu = 0;
	struct noise n;
	char name[400];
	memset(name, 'x', sizeof name);
	name[sizeof name - 1] = '\0';
	noise_init(&n, &cpu, 1);
	struct noise_cpu *c = &n.cpus.items[0];
	assert_int_equal(strlen(noise_source_get(c, NOISE_IRQ, name)->name), NOISE_NAME_SIZE - 1);
	assert_ptr_equal(noise_source_get(c, NOISE_IRQ, name), &c->sources.items[0]);
	assert_int_equal(strlen(noise_combination_get(c, name)->name), NOISE_COMBINED_SIZE - 1);
	assert_ptr_equal(noise_combination_get(c, name), &c->combinations.items[0]);
	noise_release(&n);
}

static void fill(struct noise_cpu *c, uint64_t by)
{
	c->rounds = (uint32_t)by;
	c->window_ns = 100 * by;
	c->unwatched_ns = 2 * by;
	c->turns = 3 * by;
	c->threshold_ns = 100 + by;
	c->step_ns = (double)by;
	c->events = 4 * by;
	c->lost = by;
	c->outside = by, c->outside_ns = 5 * by;
	c->smi_count = by > 1 ? ABSENT_NS : 6;
	c->total = (struct noise_detours){ .count = by, .ns = 7 * by, .overlap_ns = by };
	c->total.class_ns[NOISE_STEAL] = 7 * by;
	c->buckets[40] = c->total;
	noise_histogram_add(&c->master, 12, by, 7 * by);
	noise_spread_add(&noise_source_get(c, NOISE_IRQ, "timer")->spread, 7 * by);
	noise_histogram_add(&noise_source_get(c, NOISE_IRQ, "timer")->intervals, 9, by, by);
	noise_spread_add(&noise_combination_get(c, "timer")->seen, 8 * by);
	noise_spread_add(&noise_combination_get(c, "timer")->told, 7 * by);
	c->host = (struct noise_host){ .rounds = 4,
				       .fitted = (uint32_t)by,
				       .period_ns = 1e6 + (double)by,
				       .in_phase = by,
				       .looked_at = 2 * by };
	struct noise_untold u = { .name = "HYP", .count = by };
	array_push(&c->untold, u);
}

static void all_cpus_together_are_the_sum_of_each(void **state)
{
	(void)state;
	const uint32_t cpus[] = { 2, 7 };
	struct noise n;
	struct noise_cpu sum;
	noise_init(&n, cpus, 2);
	fill(&n.cpus.items[0], 1);
	fill(&n.cpus.items[1], 3);
	noise_spread_add(&noise_source_get(&n.cpus.items[1], NOISE_THREAD, "timer")->spread, 11);
	noise_together(&n, &sum);
	assert_int_equal(sum.cpu, UINT32_MAX);
	assert_int_equal(sum.rounds, 4);
	assert_int_equal(sum.window_ns, 400);
	assert_int_equal(sum.unwatched_ns, 8);
	assert_int_equal(sum.turns, 12);
	assert_int_equal(sum.threshold_ns, 103);
	assert_near(sum.step_ns, 3, 0);
	assert_int_equal(sum.events, 16);
	assert_int_equal(sum.lost, 4);
	assert_int_equal(sum.outside, 4);
	assert_int_equal(sum.outside_ns, 20);
	assert_int_equal(sum.smi_count, 6);
	assert_true(sum.smi_explained == ABSENT_NS);
	assert_int_equal(sum.total.count, 4);
	assert_int_equal(sum.total.class_ns[NOISE_STEAL], 28);
	assert_int_equal(sum.buckets[40].ns, 28);
	assert_int_equal(sum.buckets[40].overlap_ns, 4);
	assert_int_equal(noise_histogram_at(&sum.master, 12).count, 4);
	assert_int_equal(sum.sources.count, 2);
	const struct noise_source *timer = noise_source_get(&sum, NOISE_IRQ, "timer");
	assert_int_equal(timer->spread.count, 2);
	assert_int_equal(timer->spread.min_ns, 7);
	assert_int_equal(timer->spread.max_ns, 21);
	assert_int_equal(noise_histogram_at(&timer->intervals, 9).count, 4);
	assert_int_equal(noise_source_get(&sum, NOISE_THREAD, "timer")->spread.ns, 11);
	assert_int_equal(sum.combinations.count, 1);
	assert_int_equal(sum.combinations.items[0].seen.ns, 32);
	assert_int_equal(sum.combinations.items[0].told.ns, 28);
	assert_int_equal(sum.host.rounds, 8);
	assert_int_equal(sum.host.fitted, 4);
	assert_near(sum.host.period_ns, 1e6 + 2.5, 1e-6);
	assert_int_equal(sum.host.looked_at, 8);
	assert_int_equal(sum.untold.count, 1);
	assert_int_equal(sum.untold.items[0].count, 4);
	noise_cpu_release(&sum);
	noise_release(&n);
}

static void classes_have_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < NOISE_CLASSES; i++) {
		assert_non_null(noise_class_names[(enum noise_class)i]);
		assert_int_equal(noise_class_strict((enum noise_class)i), i < NOISE_DELIVERY);
	}
	assert_string_equal(noise_class_names[NOISE_HOST], "host-periodic");
	assert_string_equal(noise_class_names[NOISE_UNEXPLAINED], "unexplained");
}

static void detours_are_placed_by_their_clock_pairs(void **state)
{
	(void)state;
	/* 2.5 ticks per ns; the pair is taken 100 ns after the detour */
	static const struct detour_note notes[] = {
		{ 1000, 3500, 3750, 10000, ABSENT_NS, 4000, 0 },
		{ 250000, 500000, 500250, 300100, 700, 500300, 0 },
		{ 600000, 600250, 600500, 340190, ABSENT_NS, 600600, 0 },
		{ 700000, 800000, 800250, 420100, 1700, 800300, 0 },
		{ 900000, 900500, 900750, 460000, 1600, 900800, 0 },
	};
	detour_list out = { 0 };
	detours_place(notes, COUNT(notes), 2.5, 400, &out);
	assert_int_equal(out.count, 5);
	assert_int_equal(out.items[0].begin_ns, 8900);
	assert_int_equal(out.items[0].end_ns, 9900);
	assert_int_equal(out.items[0].steal_ns, 0);
	assert_int_equal(out.items[1].begin_ns, 200000);
	assert_int_equal(out.items[1].end_ns, 300000);
	assert_int_equal(out.items[1].steal_ns, 300);
	assert_int_equal(out.items[2].end_ns - out.items[2].begin_ns, 100);
	assert_int_equal(out.items[2].steal_ns, 0);
	assert_int_equal(out.items[3].steal_ns, 1000);
	assert_int_equal(out.items[4].steal_ns, 0); /* the clock went back: nothing is known */
	array_release(&out);
	/* without a reading at the begin the first one cannot be told from what was before */
	detours_place(notes, COUNT(notes), 2.5, ABSENT_NS, &out);
	assert_int_equal(out.items[1].steal_ns, 0);
	assert_int_equal(out.items[3].steal_ns, 1000);
	array_release(&out);
}

static void placed_detours_do_not_overlap(void **state)
{
	(void)state;
	/* the second one's pair says that it began 30 ns before the first ended */
	static const struct detour_note notes[] = {
		{ 0, 1000, 1000, 5000, ABSENT_NS, 1000, 0 },
		{ 1010, 2010, 2010, 5970, ABSENT_NS, 2010, 0 },
	};
	detour_list out = { 0 };
	detours_place(notes, COUNT(notes), 1, ABSENT_NS, &out);
	assert_int_equal(out.items[0].end_ns, 5000);
	assert_int_equal(out.items[1].begin_ns, 5000);
	assert_int_equal(out.items[1].end_ns, 6000);
	array_release(&out);
}

/* ---- the speed over time ---- */

/* A probe every 10 ms for so many seconds; of 100 ns, but 200 ns in every other point of 100 ms. */
static void probe_for(noise_speed_list *points, uint64_t s)
{
	for (uint64_t at = 0; at < s * 1000000000; at += 10000000) {
		float ns = at / NOISE_SPEED_POINT_NS % 2 ? 200 : 100;
		noise_speed_add(points, at, &(struct speed_sample){ at, { ns, ns, ns, ns }, 0 });
	}
}

static void probes_of_100_ms_are_one_point(void **state)
{
	(void)state;
	noise_speed_list points = { 0 };
	probe_for(&points, 2);
	assert_int_equal(points.count, 20);
	for (size_t i = 0; i < points.count; i++) {
		const struct noise_speed_point *p = &points.items[i];
		assert_int_equal(p->begin_ns, i * NOISE_SPEED_POINT_NS);
		assert_int_equal(p->length_ns, NOISE_SPEED_POINT_NS);
		assert_int_equal(p->probes, 10);
		for (size_t k = 0; k < SPEED_KINDS; k++)
			assert_near(p->ns[k], i % 2 ? 200 : 100, 1e-9);
	}
	array_release(&points);
}

static void too_many_points_are_merged_by_twos_and_keep_the_mean_speed(void **state)
{
	(void)state;
	for (uint64_t s = 1; s < 2000; s = s * 3 + 1) {
		noise_speed_list points = { 0 };
		double work = 0;
		uint64_t probes = 0;
		probe_for(&points, s);
		assert_in_range(points.count, 1, NOISE_SPEED_POINTS_MAX);
		for (size_t i = 0; i < points.count; i++) {
			const struct noise_speed_point *p = &points.items[i];
			assert_int_equal(p->begin_ns % p->length_ns, 0);
			assert_int_equal(p->length_ns, points.items[0].length_ns);
			assert_true(!i || p->begin_ns == p[-1].begin_ns + p->length_ns);
			probes += p->probes;
			work += (double)p->probes / p->ns[SPEED_PORTS];
			/* half the time at half the speed: three quarters of it */
			if (p->length_ns > NOISE_SPEED_POINT_NS && i + 1 < points.count)
				assert_near(p->ns[SPEED_PORTS], 100 / 0.75, 1e-9);
		}
		assert_int_equal(probes, 100 * s);
		assert_near(work, (double)probes / 100 * 0.75, 1e-6);
		array_release(&points);
	}
}

static void probes_that_are_left_out_are_counted_and_not_in_the_mean(void **state)
{
	(void)state;
	noise_speed_list points = { 0 };
	noise_speed_add(&points, 5,
			&(struct speed_sample){ 5, { 900, 1, 1, 1 }, SPEED_INTERRUPTED });
	assert_int_equal(points.count, 1);
	assert_true(isnan(points.items[0].ns[SPEED_CHAIN]));
	assert_int_equal(points.items[0].probes, 0);
	noise_speed_add(&points, 6, &(struct speed_sample){ 6, { 100, 1, 1, 1 }, 0 });
	noise_speed_add(&points, 7, &(struct speed_sample){ 7, { 900, 1, 1, 1 }, SPEED_MOVED });
	assert_int_equal(points.count, 1);
	assert_int_equal(points.items[0].probes, 1);
	assert_int_equal(points.items[0].left_out, 2);
	assert_near(points.items[0].ns[SPEED_CHAIN], 100, 0);
	array_release(&points);
}

/* A pause is not filled with points, and a far one does not make memory grow. */
static void stretches_without_a_probe_have_no_point(void **state)
{
	(void)state;
	noise_speed_list points = { 0 };
	const struct speed_sample s = { 0, { 1, 1, 1, 1 }, 0 };
	noise_speed_add(&points, 0, &s);
	noise_speed_add(&points, UINT64_C(86400) * 1000000000, &s);
	assert_int_equal(points.count, 2);
	assert_int_equal(points.items[1].begin_ns, UINT64_C(86400) * 1000000000);
	array_release(&points);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_of_buckets_are_round_numbers),
		cmocka_unit_test(every_length_is_in_the_bucket_that_holds_it),
		cmocka_unit_test(histograms_are_added_up_bucket_by_bucket),
		cmocka_unit_test(spreads_of_parts_merge_into_that_of_the_whole),
		cmocka_unit_test(sources_beyond_the_bound_are_counted_as_others),
		cmocka_unit_test(long_names_are_cut_and_found_again),
		cmocka_unit_test(all_cpus_together_are_the_sum_of_each),
		cmocka_unit_test(classes_have_names),
		cmocka_unit_test(detours_are_placed_by_their_clock_pairs),
		cmocka_unit_test(placed_detours_do_not_overlap),
		cmocka_unit_test(probes_of_100_ms_are_one_point),
		cmocka_unit_test(too_many_points_are_merged_by_twos_and_keep_the_mean_speed),
		cmocka_unit_test(probes_that_are_left_out_are_counted_and_not_in_the_mean),
		cmocka_unit_test(stretches_without_a_probe_have_no_point),
	};
	return cmocka_run_group_tests_name("noise", tests, NULL, NULL);
}
