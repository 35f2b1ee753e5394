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
		     { "timer", JITTER_UNSURE },	 { "sshd", JITTER_UNSURE },
		     { "unexplained", JITTER_UNSURE } };
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
	assert_true(isnan(s->ratio) && s->base_rate <= 0 && s->p < 0.01);
	assert_near(s->run_mean_ns, 2500000, 20000);
	s = find(&d, "timer");
	assert_true(s->ratio_low < 1 && s->ratio_high > 1 && s->p > 0.05);
	assert_true(d.ratio > 1.5 && d.ratio_low > 1 && d.p < 0.001);
	jitter_diff_release(&d);
}

static void add_in_part(struct noise *n, uint32_t part, const char *name, uint64_t count)
{
	struct noise_source *s = noise_source_get(&n->cpus.items[0], NOISE_THREAD, name);
	for (uint64_t k = 0; k < count; k++)
		noise_spread_add(&s->spread, 70000);
	struct noise_share share = { 0, (uint32_t)(s - n->cpus.items[0].sources.items), count,
				     count * 70000 };
	array_push(&n->parts.items[part].shares, share);
}

static const struct made_source firmware[] = {
	{ NOISE_IRQ, "timer", 250, 3000, 0.1 },
	{ NOISE_SMI, "smi", 4, 90000, 0.2 },
	{ NOISE_UNEXPLAINED, "unexplained", 30, 400, 0.4 },
};
static const struct made_source uncounted[] = {
	{ NOISE_IRQ, "timer", 250, 3000, 0.1 },
	{ NOISE_UNEXPLAINED, "unexplained", 30, 400, 0.4 },
};

/* SMIs are new where the baseline counted none, but not where it could not count them. */
static void smis_that_the_baseline_could_not_count_are_not_new(void **state)
{
	(void)state;
	for (int counted = 0; counted < 2; counted++) {
		struct noise b, r;
		struct random seed = { 22 };
		struct error err = ERROR_INIT;
		struct jitter_diff d;
		make_noise(&b, &half_minute, uncounted, COUNT(uncounted), &seed);
		make_noise(&r, &half_minute, firmware, COUNT(firmware), &seed);
		for (size_t i = 0; i < 2; i++) {
			r.cpus.items[i].smi_count = 120;
			b.cpus.items[i].smi_count = counted ? 0 : ABSENT_NS;
		}
		assert_int_equal(jitter_compare(&b, &r, &d, &err), 0);
		assert_int_equal(d.sources.count, counted ? 3 : 2);
		const struct jitter_source_diff *s = find(&d, counted ? "smi" : "unexplained");
		assert_int_equal(s->class, counted ? NOISE_SMI : NOISE_UNEXPLAINED);
		assert_int_equal(s->change, counted ? JITTER_NEW : JITTER_GROWN);
		assert_int_equal(find(&d, "timer")->change, JITTER_UNSURE);
		assert_near(s->run_rate, counted ? 4 : 34, counted ? 1 : 3);
		jitter_diff_release(&d);
		noise_release(&b);
		noise_release(&r);
	}
}

/* Nor does a bout of some seconds make it so, however often it came then. */
static void what_appeared_once_is_not_surely_new(void **state)
{
	(void)state;
	struct noise b, r;
	struct random seed = { 21 };
	struct error err = ERROR_INIT;
	struct jitter_diff d;
	static const char *const names[] = { "once", "burst", "bout" };
	make_noise(&b, &half_minute, quiet, COUNT(quiet), &seed);
	make_noise(&r, &half_minute, quiet, COUNT(quiet), &seed);
	add_in_part(&r, 3, "once", 1);
	add_in_part(&r, 3, "burst", 400);
	for (uint32_t part = 11; part < 20; part++)
		add_in_part(&r, part, "bout", 30);
	for (uint32_t part = 0; part < 30; part += 3)
		add_in_part(&r, part, "again", 1);
	for (int turned = 0; turned < 2; turned++) {
		assert_int_equal(jitter_compare(turned ? &r : &b, turned ? &b : &r, &d, &err), 0);
		for (size_t i = 0; i < COUNT(names); i++) {
			const struct jitter_source_diff *s = find(&d, names[i]);
			assert_int_equal(s->change, JITTER_UNSURE);
			assert_int_equal(turned ? s->base_max_ns : s->run_max_ns, 70000);
			assert_true(s->p >= 0.2);
		}
		assert_int_equal(find(&d, "again")->change, turned ? JITTER_GONE : JITTER_NEW);
		jitter_diff_release(&d);
	}
	noise_release(&b);
	noise_release(&r);
}

/* Tasks that come in bouts of 8 s, 40 s apart on average, beside steady and rare ones. */
static void make_machine(struct noise *n, const struct made_source *more, struct random *seed)
{
	static const struct made_run minute = { .cpus = 1, .parts = 60, .part_s = 1 };
	static char names[40][16];
	struct made_source all[COUNT(quiet) + 30 + 1];
	memcpy(all, quiet, sizeof quiet);
	for (size_t i = 0; i < COUNT(names); i++)
		snprintf(names[i], sizeof names[i], "task%zu", i);
	for (size_t i = 0; i < 30; i++)
		all[COUNT(quiet) + i] = (struct made_source){ NOISE_THREAD, names[i],
							      0.005 * (1 + (double)i), 1e4, 0.3 };
	if (more)
		all[COUNT(all) - 1] = *more;
	make_noise(n, &minute, all, COUNT(all) - !more, seed);
	for (size_t i = 30; i < COUNT(names); i++) {
		bool on = random_unit(seed) < 1. / 6;
		for (uint32_t part = 0; part < minute.parts; part++) {
			on = random_unit(seed) < 1. / (on ? 8 : 40) ? !on : on;
			if (on)
				add_in_part(n, part, names[i],
					    (uint64_t)(1 + 5 * random_unit(seed)));
		}
	}
}

/* Of 60 comparisons of equal machines few say that anything changed. A daemon each second is found
 * all the same, and little else beside it. */
static void what_is_said_to_have_changed_has_changed(void **state)
{
	(void)state;
	static const struct made_source daemon = { NOISE_THREAD, "daemon", 1, 500000, 0.1 };
	struct random seed = { 6 };
	struct error err = ERROR_INIT;
	unsigned wrong = 0, found = 0, beside = 0;
	for (int i = 0; i < 80; i++) {
		struct noise b, r;
		struct jitter_diff d;
		bool changed = i >= 60;
		unsigned said = 0;
		make_machine(&b, NULL, &seed);
		make_machine(&r, changed ? &daemon : NULL, &seed);
		assert_int_equal(jitter_compare(&b, &r, &d, &err), 0);
		for (size_t k = 0; k < d.sources.count; k++)
			said += d.sources.items[k].change != JITTER_UNSURE &&
				d.sources.items[k].change != JITTER_SAME;
		if (changed) {
			bool new = find(&d, "daemon")->change == JITTER_NEW;
			found += new;
			beside += said - new;
		} else {
			wrong += said > 0;
		}
		jitter_diff_release(&d);
		noise_release(&b);
		noise_release(&r);
	}
	print_message("equal: %u of 60 wrong; changed: %u of 20 found, %u beside\n", wrong, found,
		      beside);
	assert_true(wrong <= 7);
	assert_true(found >= 19 && beside <= 5);
}

/* Without names there is nothing to compare by source. */
static void runs_without_names_have_no_sources_to_compare(void **state)
{
	(void)state;
	for (int k = 0; k < 3; k++) {
		struct noise b, r;
		struct random seed = { 8 };
		struct error err = ERROR_INIT;
		struct jitter_diff d;
		make_noise(&b, &half_minute, quiet, COUNT(quiet), &seed);
		make_noise(&r, &half_minute, busy, COUNT(busy), &seed);
		b.kernel = k == 1;
		r.kernel = k == 2;
		assert_int_equal(jitter_compare(&b, &r, &d, &err), 0);
		assert_int_equal(d.sources.count, 0);
		assert_true(d.ratio_low > 1);
		jitter_diff_release(&d);
		noise_release(&b);
		noise_release(&r);
	}
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
		lopsided += jitter_in_one_only(s);
		assert_int_equal(s->change, JITTER_UNSURE);
	}
	assert_true(lopsided > 0); /* or this has shown nothing */
	jitter_diff_release(&d);
}

static void with_few_parts_nothing_is_sure(void **state)
{
	(void)state;
	struct made_run short_one = { .cpus = 1, .parts = 3, .part_s = 10 };
	struct jitter_diff d;
	compare(quiet, COUNT(quiet), busy, COUNT(busy), &short_one, &d);
	assert_true(isnan(d.p) && isnan(d.ratio) && isnan(find(&d, "steal")->p));
	for (size_t i = 0; i < d.sources.count; i++)
		assert_int_equal(d.sources.items[i].change, JITTER_UNSURE);
	assert_int_equal(d.peak_count, 0); /* nor are lengths */
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
		cmocka_unit_test(smis_that_the_baseline_could_not_count_are_not_new),
		cmocka_unit_test(what_appeared_once_is_not_surely_new),
		cmocka_unit_test(what_is_said_to_have_changed_has_changed),
		cmocka_unit_test(runs_without_names_have_no_sources_to_compare),
		cmocka_unit_test(with_few_parts_nothing_is_sure),
		cmocka_unit_test(a_part_that_was_cut_short_does_not_count_like_others),
		cmocka_unit_test(the_area_of_a_density_is_the_rate_of_detours),
		cmocka_unit_test(peaks_are_named_by_the_source_that_made_them),
		cmocka_unit_test(equal_runs_seldom_have_peaks),
		cmocka_unit_test(a_run_without_a_round_cannot_be_compared),
	};
	return cmocka_run_group_tests_name("jitter-diff", tests, NULL, NULL);
}
