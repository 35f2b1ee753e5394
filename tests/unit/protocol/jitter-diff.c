#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../fixtures/jitter.h"
#include "../fixtures/near.h"
#include "protocol/jitter/diff.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct made_run half_minute = { .cpus = 2, .parts = 30, .part_s = 1 };

static void compare(const struct made_source *base, size_t base_count,
		    const struct made_source *run, size_t run_count, const struct made_run *how,
		    struct jitter_diff *out)
{
	struct noise b, r;
	struct random seed = { 20 };
	struct error err = ERROR_INIT;
	make_noise(&b, how, base, base_count, &seed);
	make_noise(&r, how, run, run_count, &seed);
	assert_int_equal(jitter_compare(&b, &r, out, &err), 0);
	noise_release(&b);
	noise_release(&r);
}

static const struct jitter_source_diff *find(const struct jitter_diff *d, const char *name)
{
	for (size_t i = 0; i < d->sources.count; i++)
		if (strcmp(d->sources.items[i].name, name) == 0)
			return &d->sources.items[i];
	fail_msg("there is no source %s", name);
	return NULL;
}

static const struct made_source quiet[] = {
	{ NOISE_IRQ, "timer", 250, 3000, 0.1 },	 { NOISE_SOFTIRQ, "softirq:sched", 40, 1500, 0.3 },
	{ NOISE_THREAD, "sshd", 2, 20000, 0.5 }, { NOISE_THREAD, "cron", 1, 200000, 0.2 },
	{ NOISE_STEAL, "steal", 5, 40000, 0.5 }, { NOISE_UNEXPLAINED, "unexplained", 30, 400, 0.4 },
};
static const struct made_source busy[] = {
	{ NOISE_IRQ, "timer", 250, 3000, 0.1 },
	{ NOISE_SOFTIRQ, "softirq:sched", 10, 1500, 0.3 },
	{ NOISE_THREAD, "sshd", 2, 20000, 0.5 },
	{ NOISE_STEAL, "steal", 15, 40000, 0.5 },
	{ NOISE_UNEXPLAINED, "unexplained", 30, 400, 0.4 },
	{ NOISE_THREAD, "dummydaemon1", 0.5, 2500000, 0.01 },
};

static void changes_are_found(void **state)
{
	(void)state;
	struct jitter_diff d;
	compare(quiet, COUNT(quiet), busy, COUNT(busy), &half_minute, &d);
	assert_int_equal(d.sources.count, 7);
	/* in the order of the header */
	static const struct {
		const char *name;
		enum jitter_change change;
	} want[] = { { "dummydaemon1", JITTER_NEW },	 { "steal", JITTER_GROWN },
		     { "softirq:sched", JITTER_SHRUNK }, { "cron", JITTER_GONE },
		     { "timer", JITTER_SAME },		 { "sshd", JITTER_SAME },
		     { "unexplained", JITTER_SAME } };
	for (size_t i = 0; i < COUNT(want); i++) {
		assert_string_equal(d.sources.items[i].name, want[i].name);
		assert_int_equal(d.sources.items[i].change, want[i].change);
	}
	const struct jitter_source_diff *s = find(&d, "steal");
	assert_true(s->ratio_low < 3 && s->ratio_high > 3 && s->p < 0.001);
	assert_near(s->base_rate, 5, 1);
	assert_near(s->run_rate, 15, 1.5);
	assert_near(s->run_share, 15 * s->run_mean_ns / 1e9, 1e-3);
	s = find(&d, "dummydaemon1");
	assert_true(isnan(s->ratio) && s->base_rate <= 0 && s->p < 1e-6);
	assert_near(s->run_mean_ns, 2500000, 20000);
	s = find(&d, "timer");
	assert_true(s->ratio_low < 1 && s->ratio_high > 1 && s->p > 0.05);
	assert_true(d.ratio > 1.5 && d.ratio_low > 1 && d.p < 0.001);
	jitter_diff_release(&d);
}

/* Once is new, too, if not sure; and a burst within a part is as sure as once. */
static void what_the_base_lacks_is_new(void **state)
{
	(void)state;
	struct noise b, r;
	struct random seed = { 21 };
	struct error err = ERROR_INIT;
	struct jitter_diff d;
	make_noise(&b, &half_minute, quiet, COUNT(quiet), &seed);
	make_noise(&r, &half_minute, quiet, COUNT(quiet), &seed);
	static const struct {
		const char *name;
		uint64_t count;
	} late[] = { { "once", 1 }, { "burst", 400 } };
	for (size_t i = 0; i < COUNT(late); i++) {
		struct noise_source *s =
			noise_source_get(&r.cpus.items[0], NOISE_THREAD, late[i].name);
		for (uint64_t k = 0; k < late[i].count; k++)
			noise_spread_add(&s->spread, 70000);
		struct noise_share share = { 0, (uint32_t)(s - r.cpus.items[0].sources.items),
					     late[i].count, late[i].count * 70000 };
		array_push(&r.parts.items[3].shares, share);
	}
	assert_int_equal(jitter_compare(&b, &r, &d, &err), 0);
	for (size_t i = 0; i < COUNT(late); i++) {
		const struct jitter_source_diff *s = find(&d, late[i].name);
		assert_int_equal(s->change, JITTER_NEW);
		assert_int_equal(s->run_max_ns, 70000);
		assert_true(s->p >= 0.4);
	}
	jitter_diff_release(&d);
	noise_release(&b);
	noise_release(&r);
}

/* 200 sources of one rate in both: by chance some are in one run only. */
static void equal_ones_stay_the_same(void **state)
{
	(void)state;
	static char names[200][16];
	struct made_source many[200];
	size_t lopsided = 0;
	for (int i = 0; i < 200; i++) {
		snprintf(names[i], sizeof names[i], "task%d", i);
		many[i] = (struct made_source){ NOISE_THREAD, names[i], 0.03 * (1 + i % 5), 1e4,
						0.3 };
	}
	struct jitter_diff d;
	compare(many, 200, many, 200, &half_minute, &d);
	for (size_t i = 0; i < d.sources.count; i++) {
		const struct jitter_source_diff *s = &d.sources.items[i];
		bool one_sided = s->base_rate <= 0 || s->run_rate <= 0;
		lopsided += one_sided;
		assert_true(one_sided || s->change == JITTER_SAME);
		assert_true(s->p >= 0.05); /* none of it is sure */
	}
	assert_true(lopsided > 0); /* or this has shown nothing */
	jitter_diff_release(&d);
}

/* Without parts no ratio, but what came up anew still counts. */
static void with_few_parts_there_is_no_ratio_but_new_sources_count(void **state)
{
	(void)state;
	struct made_run short_one = { .cpus = 1, .parts = 3, .part_s = 10 };
	struct jitter_diff d;
	compare(quiet, COUNT(quiet), busy, COUNT(busy), &short_one, &d);
	assert_true(isnan(d.p) && isnan(d.ratio) && isnan(find(&d, "steal")->p));
	assert_int_equal(find(&d, "steal")->change, JITTER_SAME);
	assert_int_equal(find(&d, "dummydaemon1")->change, JITTER_NEW);
	jitter_diff_release(&d);
}

/* The last part may be a fraction of a round: it must not count like the others. */
static void a_part_that_was_cut_short_does_not_count_like_others(void **state)
{
	(void)state;
	struct noise b, r;
	struct random seed = { 3 };
	struct error err = ERROR_INIT;
	struct jitter_diff d;
	make_noise(&b, &half_minute, quiet, COUNT(quiet), &seed);
	make_noise(&r, &half_minute, quiet, COUNT(quiet), &seed);
	struct noise_part cut = { .begin_ns = 1, .window_ns = 1000000, .count = 1, .ns = 900000 };
	array_push(&r.parts, cut);
	/* and shares that point nowhere are of no harm */
	array_push(&r.parts.items[0].shares, (struct noise_share){ 99, 0, 1, 1 });
	array_push(&r.parts.items[0].shares, (struct noise_share){ 0, 999, 1, 1 });
	assert_int_equal(jitter_compare(&b, &r, &d, &err), 0);
	assert_true(d.ratio < 1.2 && d.ratio_low < 1 && d.p > 0.05);
	jitter_diff_release(&d);
	noise_release(&b);
	noise_release(&r);
}

static double area(const double *density, const double *grid_ns)
{
	double sum = 0;
	for (size_t i = 1; i < JITTER_GRID; i++)
		sum += (density[i] + density[i - 1]) / 2 * log10(grid_ns[i] / grid_ns[i - 1]);
	return sum;
}

static void the_area_of_a_density_is_the_rate_of_detours(void **state)
{
	(void)state;
	struct jitter_diff d;
	compare(quiet, COUNT(quiet), busy, COUNT(busy), &half_minute, &d);
	double base_rate = 0, run_rate = 0;
	for (size_t i = 0; i < d.sources.count; i++) {
		base_rate += d.sources.items[i].base_rate;
		run_rate += d.sources.items[i].run_rate;
	}
	assert_near(area(d.base_density, d.grid_ns), base_rate, base_rate / 100);
	assert_near(area(d.run_density, d.grid_ns), run_rate, run_rate / 100);
	assert_true(d.bandwidth > 0.008 && d.bandwidth < 0.2);
	/* 30 of 328 left one place, 10 came to another */
	assert_true(d.distance > 0.05 && d.distance < 0.25);
	assert_true(d.grid_ns[0] > 50 && d.grid_ns[JITTER_GRID - 1] < 1e7);
	jitter_diff_release(&d);
	compare(quiet, COUNT(quiet), NULL, 0, &half_minute, &d);
	assert_near(d.distance, 1, 0);
	assert_near(d.ratio, 0, 0);
	jitter_diff_release(&d);
	compare(NULL, 0, NULL, 0, &half_minute, &d);
	assert_near(d.distance, 0, 0);
	assert_near(d.ratio, 1, 0);
	assert_int_equal(d.peak_count, 0);
	jitter_diff_release(&d);
}

static void peaks_are_named_by_the_source_that_made_them(void **state)
{
	(void)state;
	struct jitter_diff d;
	compare(quiet, COUNT(quiet), busy, COUNT(busy), &half_minute, &d);
	assert_true(d.peak_count >= 2);
	const struct jitter_peak *p = &d.peaks[0];
	assert_string_equal(p->name, "dummydaemon1");
	assert_true(p->low_ns > 2000000 && p->low_ns < 2500000);
	assert_true(p->high_ns > 2500000 && p->high_ns < 3100000);
	assert_near(p->base_rate, 0, 0);
	assert_near(p->run_rate, find(&d, "dummydaemon1")->run_rate, 1e-9);
	bool steal = false;
	for (size_t i = 1; i < d.peak_count; i++) {
		steal |= strcmp(d.peaks[i].name, "steal") == 0;
		assert_string_not_equal(d.peaks[i].name, "timer");
	}
	assert_true(steal);
	jitter_diff_release(&d);
}

/* Where the difference is highest was picked: that must be allowed for. */
static void equal_runs_seldom_have_peaks(void **state)
{
	(void)state;
	struct noise b, r;
	struct random seed = { 5 };
	struct error err = ERROR_INIT;
	size_t found = 0;
	for (int i = 0; i < 40; i++) {
		struct jitter_diff d;
		make_noise(&b, &half_minute, quiet, COUNT(quiet), &seed);
		make_noise(&r, &half_minute, quiet, COUNT(quiet), &seed);
		assert_int_equal(jitter_compare(&b, &r, &d, &err), 0);
		found += d.peak_count;
		jitter_diff_release(&d);
		noise_release(&b);
		noise_release(&r);
	}
	assert_true(found <= 3);
}

static void a_run_without_a_round_cannot_be_compared(void **state)
{
	(void)state;
	struct noise b, r;
	struct random seed = { 1 };
	struct error err = ERROR_INIT;
	struct jitter_diff d;
	make_noise(&b, &half_minute, quiet, COUNT(quiet), &seed);
	noise_init(&r, (const uint32_t[]){ 0 }, 1);
	assert_int_equal(jitter_compare(&b, &r, &d, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_non_null(strstr(err.text, "this run ended"));
	assert_int_equal(jitter_compare(&r, &b, &d, &err), -1);
	assert_non_null(strstr(err.text, "the baseline ended"));
	noise_release(&b);
	noise_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_are_found),
		cmocka_unit_test(equal_ones_stay_the_same),
		cmocka_unit_test(what_the_base_lacks_is_new),
		cmocka_unit_test(with_few_parts_there_is_no_ratio_but_new_sources_count),
		cmocka_unit_test(a_part_that_was_cut_short_does_not_count_like_others),
		cmocka_unit_test(the_area_of_a_density_is_the_rate_of_detours),
		cmocka_unit_test(peaks_are_named_by_the_source_that_made_them),
		cmocka_unit_test(equal_runs_seldom_have_peaks),
		cmocka_unit_test(a_run_without_a_round_cannot_be_compared),
	};
	return cmocka_run_group_tests_name("jitter-diff", tests, NULL, NULL);
}
