/* Whole studies of simulated machines: daemons with periods, over samples or over windows. */
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
#include "protocol/sedona/windows.h"
#include "sedona-machine.h"

#define MS 1e6
#define S 1e9

/* Takes the CPU away for busy_ns every period_ns. */
struct rogue {
	const char *name;
	double period_ns, busy_ns, phase_ns;
};

static const struct rogue rogues[] = {
	{ "backup", 60 * S, 1 * S, 17.4 * S },
	{ "indexer", 20 * S, 300 * MS, 3.2 * S },
	{ "ticker", 7 * S, 2 * MS, 1 * S },
};
#define ROGUES 3

/* How long the rogue had the CPU in [0, at). */
static double taken_until(const struct rogue *d, double at)
{
	double since = at - d->phase_ns;
	if (since <= 0)
		return 0;
	double whole = floor(since / d->period_ns);
	return whole * d->busy_ns + fmin(since - whole * d->period_ns, d->busy_ns);
}

/* Executions back to back; the rogues preempt them. */
static void simulate(double length_ns, size_t samples, double sigma_ns, struct random *r,
		     struct sedona_run *out, bool *disturbed)
{
	double now = 0;
	for (size_t i = 0; i < samples; i++) {
		double needs = length_ns + sigma_ns * machine_gaussian(r), end = now + needs;
		for (double before = 0; end - before > 1;) { /* until it had what it needs */
			before = end;
			end = now + needs;
			for (size_t d = 0; d < ROGUES; d++)
				end += taken_until(&rogues[d], before) -
				       taken_until(&rogues[d], now);
		}
		struct sedona_sample s = { .number = (uint32_t)i + 1,
					   .at_ns = (int64_t)(1e18 + now),
					   .et_ns = (uint64_t)(end - now),
					   .first = out->executions.count };
		disturbed[i] = false;
		for (size_t d = 0; d < ROGUES; d++) {
			double pt = taken_until(&rogues[d], end) - taken_until(&rogues[d], now);
			disturbed[i] |= pt > 10 * sigma_ns;
			if (pt >= 1)
				array_push(&out->executions,
					   (struct sedona_execution){
						   sedona_name_index(out, rogues[d].name),
						   (uint64_t)pt });
		}
		/* one that is always there */
		array_push(&out->executions,
			   (struct sedona_execution){ sedona_name_index(out, "kworker/0"),
						      (uint64_t)(1e5 + 1e4 * random_unit(r)) });
		s.count = out->executions.count - s.first;
		array_push(&out->samples, s);
		now = end;
	}
}

static bool was_dropped(const struct study_run *run, uint32_t number)
{
	for (size_t i = 0; i < run->dropped.count; i++)
		if (run->dropped.items[i] == number)
			return true;
	return false;
}

static void check_rogue(const struct study *s, const struct rogue *want, uint64_t length_ns)
{
	const struct study_daemon *d = daemon_named(s, want->name);
	const struct study_seen *seen = &d->seen[STUDY_SHORT];
	assert_true(d->period.found);
	assert_near((double)d->period.ns, want->period_ns, 0.05 * want->period_ns);
	assert_true(seen->has_cutoff);
	assert_true(seen->cutoff_ns > seen->cluster_max_ns &&
		    seen->cutoff_ns < seen->long_least_ns);
	const struct cutoff *c =
		cutoff_find(s->cutoffs.items, s->cutoffs.count, want->name, length_ns);
	assert_non_null(c);
	assert_int_equal(c->cutoff_ns, seen->cutoff_ns);
}

/* The live experiment, simulated: INC1 x 120 with noise that hides the third. uneven_ns:
 * how much of its sigma is the program's own process time. */
static void experiment(uint64_t seeds, double uneven_ns)
{
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct random r = { seed };
		struct sedona_run run = { .length_ns = (uint64_t)S };
		bool disturbed[120], *is_l[STUDY_LENGTHS];
		simulate(S, 120, 1.5 * MS, &r, &run, disturbed);
		for (size_t i = 0; i < 120; i++) {
			double slower = uneven_ns * random_unit(&r);
			run.samples.items[i].et_ns += (uint64_t)slower;
			run.samples.items[i].pt_ns = (uint64_t)(S + slower);
		}
		struct study s = { 0 };
		sedona_study(&run, NULL, 1, &s, is_l);
		check_rogue(&s, &rogues[0], (uint64_t)S);
		check_rogue(&s, &rogues[1], (uint64_t)S);
		assert_int_equal(daemon_named(&s, "ticker")->seen[STUDY_SHORT].long_executions, 0);
		assert_int_equal(daemon_named(&s, "kworker/0")->seen[STUDY_SHORT].long_executions,
				 0);
		const struct study_run *out = &s.runs[STUDY_SHORT];
		double right = 0, hit = 0, wrong = 0;
		for (uint32_t i = 0; i < 120; i++) {
			hit += disturbed[i];
			right += disturbed[i] && was_dropped(out, i + 1);
			wrong += !disturbed[i] && was_dropped(out, i + 1);
		}
		assert_true(right >= 0.95 * hit && wrong <= 0.03 * (120 - hit));
		assert_int_equal(out->steadied, uneven_ns > 0);
		if (out->steadied)
			assert_true(out->steady_sigma_kept_ns <= out->steady_sigma_ns / 10 &&
				    out->sigma_kept_ns > out->steady_sigma_kept_ns * 10);
		else
			assert_true(out->sigma_kept_ns <= out->sigma_ns / 10);
		assert_true(out->present && !s.runs[STUDY_LONG].present);
		assert_null(is_l[STUDY_LONG]);
		free(is_l[STUDY_SHORT]);
		study_release(&s);
		sedona_run_release(&run);
	}
}

static void known_daemons_are_found_and_their_samples_dropped(void **state)
{
	(void)state;
	experiment(20, 0);
}

/* Each execution takes up to 0.6 s longer by itself, at random: twice what the one daemon takes. */
static void known_daemons_are_found_on_an_uneven_host(void **state)
{
	(void)state;
	experiment(20, 600 * MS);
}

static void a_run_is_steadied_only_if_its_process_times_are_known(void **state)
{
	(void)state;
	struct random r = { 3 };
	struct sedona_run run = { 0 }, steady;
	bool disturbed[40];
	simulate(S, 40, 50 * MS, &r, &run, disturbed);
	for (size_t i = 0; i < 40; i++) /* half a millisecond of it is not its own */
		run.samples.items[i].pt_ns =
			run.samples.items[i].et_ns - (uint64_t)(MS * random_unit(&r));
	assert_true(sedona_steady(&run, &steady));
	assert_int_equal(steady.samples.count, 40);
	assert_ptr_equal(steady.executions.items, run.executions.items);
	array_release(&steady.samples);
	run.samples.items[7].pt_ns = 0;
	assert_false(sedona_steady(&run, &steady));
	run.samples.items[7].pt_ns = (uint64_t)S;
	run.samples.count = 5;
	assert_false(sedona_steady(&run, &steady));
	run.samples.count = 0;
	assert_false(sedona_steady(&run, &steady));
	sedona_run_release(&run);
}

/* As even as the papers' machine: 0.02 % of process time, all of ET's variation being its own. */
static void an_even_run_is_compared_by_its_own_et_unless_asked_otherwise(void **state)
{
	(void)state;
	for (int way = SEDONA_STEADY_IF_UNEVEN; way <= SEDONA_NOT_STEADY; way++) {
		for (int uneven = 0; uneven < 2; uneven++) {
			struct random r = { 8 };
			struct sedona_run run = { .steadying = (enum sedona_steadying)way };
			struct study s = { 0 };
			for (int i = 0; i < 100; i++) {
				double sigma = uneven ? 20 * MS : 0.2 * MS;
				machine_add(&run, S + sigma * machine_gaussian(&r));
				struct sedona_sample *x = &run.samples.items[i];
				x->pt_ns = x->et_ns - (uint64_t)(1e4 * random_unit(&r));
			}
			sedona_study(&run, NULL, 1, &s, NULL);
			assert_int_equal(s.runs[STUDY_SHORT].steadied,
					 way == SEDONA_STEADY ||
						 (way == SEDONA_STEADY_IF_UNEVEN && uneven));
			study_release(&s);
			sedona_run_release(&run);
		}
	}
}

static void a_short_and_a_long_run_find_the_same_daemons(void **state)
{
	(void)state;
	struct random r = { 9 };
	struct sedona_run runs[] = { { .run = 4 }, { .run = 5 } };
	bool *disturbed = calloc(600, sizeof *disturbed);
	assert_non_null(disturbed);
	simulate(0.2 * S, 600, 0.1 * MS, &r, &runs[0], disturbed);
	simulate(30 * S, 40, 1 * MS, &r, &runs[1], disturbed);
	struct study s = { 0 };
	sedona_study(&runs[0], &runs[1], 1, &s, NULL);
	check_rogue(&s, &rogues[0], (uint64_t)(0.2 * S));
	check_rogue(&s, &rogues[1], (uint64_t)(0.2 * S));
	/* 2 ms stand out of 0.1 ms */
	assert_true(daemon_named(&s, "ticker")->seen[STUDY_SHORT].long_executions > 10);
	assert_int_equal(daemon_named(&s, "kworker/0")->seen[STUDY_SHORT].long_executions, 0);
	assert_near((double)s.runs[STUDY_SHORT].length_ns, 0.2 * S, MS);
	assert_int_equal(s.runs[STUDY_LONG].run, 5);
	/* 60 s are rare beside 0.2 s, and half of the samples of 30 s have it: usual there */
	const struct study_daemon *d = daemon_named(&s, "backup");
	assert_int_equal(d->seen[STUDY_LONG].long_executions, 0);
	assert_true(d->seen[STUDY_LONG].has_cutoff);
	assert_int_equal(s.runs[STUDY_LONG].dropped.count, 0);
	const struct cutoff *c =
		cutoff_find(s.cutoffs.items, s.cutoffs.count, "backup", (uint64_t)(30 * S));
	assert_non_null(c);
	assert_true(c->cutoff_ns >= d->seen[STUDY_LONG].cluster_max_ns);
	study_release(&s);
	for (int i = 0; i < 2; i++)
		sedona_run_release(&runs[i]);
	free(disturbed);
}

static int by_begin(const void *a, const void *b)
{
	const struct burst *p = a, *q = b;
	return p->begin_ns < q->begin_ns ? -1 : p->begin_ns > q->begin_ns;
}

/* The same rogues in the record of a watch, in two parts with an hour between them. */
static void record(struct bursts *parts, struct random *r)
{
	for (uint64_t p = 0; p < 2; p++) {
		struct bursts *b = &parts[p];
		b->begin_ns = (uint64_t)(1000 * S + (double)p * 3600 * S);
		b->end_ns = b->begin_ns + (uint64_t)(300 * S);
		b->realtime_ns = (int64_t)(1e18 + (double)p * 3600 * S);
		b->cpus = 2;
		for (uint32_t d = 0; d < ROGUES; d++) {
			struct burst_process process = { .pid = (int32_t)d };
			snprintf(process.name, sizeof process.name, "%s", rogues[d].name);
			array_push(&b->processes, process);
			double at = rogues[d].phase_ns;
			while (at < 300 * S) {
				uint64_t busy = (uint64_t)rogues[d].busy_ns;
				array_push(&b->bursts,
					   (struct burst){ .begin_ns = b->begin_ns + (uint64_t)at,
							   .span_ns = busy,
							   .busy_ns = busy,
							   .process = d });
				at += rogues[d].period_ns;
			}
		}
		array_push(&b->processes, (struct burst_process){ .pid = 99, .name = "noise" });
		double at = 0;
		while (at < 299 * S) {
			uint64_t busy = (uint64_t)(0.3 * MS * random_unit(r));
			array_push(&b->bursts,
				   (struct burst){ .begin_ns = b->begin_ns + (uint64_t)at,
						   .span_ns = busy + 1,
						   .busy_ns = busy,
						   .process = ROGUES });
			at += 40 * MS * random_unit(r);
		}
		qsort(b->bursts.items, b->bursts.count, sizeof *b->bursts.items, by_begin);
	}
}

static void windows_of_a_watch_find_the_same_daemons(void **state)
{
	(void)state;
	struct random r = { 10 };
	struct bursts parts[2] = { { 0 } };
	record(parts, &r);
	const double lengths[] = { 0.2 * S, 1 * S };
	for (size_t i = 0; i < 2; i++) {
		struct windows_options o = { .length_ns = (uint64_t)lengths[i],
					     .cpu = WINDOWS_WORST_CPU };
		struct sedona_run run;
		int cpu;
		windows_cut(parts, 2, &o, &run, &cpu);
		assert_int_equal(cpu, 0);
		struct study s = { 0 };
		sedona_study(&run, NULL, 1, &s, NULL);
		check_rogue(&s, &rogues[0], o.length_ns);
		check_rogue(&s, &rogues[1], o.length_ns);
		assert_int_equal(daemon_named(&s, "noise")->seen[STUDY_SHORT].long_executions, 0);
		study_release(&s);
		sedona_run_release(&run);
	}
	bursts_release(&parts[0]);
	bursts_release(&parts[1]);
}

/* Nothing there: nothing found, nothing dropped. */
static void nothing_is_found_on_a_quiet_machine(void **state)
{
	(void)state;
	struct random r = { 11 };
	for (size_t n = 0; n <= 100; n += 25) {
		struct sedona_run run = { 0 };
		for (size_t i = 0; i < n; i++)
			machine_add(&run, 1e9 + 1e5 * machine_gaussian(&r));
		struct study s = { 0 };
		sedona_study(&run, NULL, 1, &s, NULL);
		assert_int_equal(s.daemons.count, 0);
		assert_int_equal(s.cutoffs.count, 0);
		assert_int_equal(s.runs[STUDY_SHORT].dropped.count, 0);
		assert_near(s.runs[STUDY_SHORT].sigma_kept_ns, s.runs[STUDY_SHORT].sigma_ns, 1);
		study_release(&s);
		sedona_run_release(&run);
	}
}

/* The clock is set back in the middle: the samples' numbers still tell the period. */
static void a_step_of_the_clock_does_not_hide_a_period(void **state)
{
	(void)state;
	struct random r = { 12 };
	struct sedona_run run = { .length_ns = (uint64_t)S };
	bool disturbed[120];
	simulate(S, 120, 1.5 * MS, &r, &run, disturbed);
	for (size_t i = 50; i < 120; i++)
		run.samples.items[i].at_ns -= (int64_t)(7200 * S);
	struct study s = { 0 };
	sedona_study(&run, NULL, 1, &s, NULL);
	check_rogue(&s, &rogues[1], (uint64_t)S);
	study_release(&s);
	sedona_run_release(&run);
}

/* Of data without times, whose daemon takes a quarter of the time; and a bystander of 19 us in two
 * of its samples, which explains nothing. */
static void a_period_is_found_without_times(void **state)
{
	(void)state;
	struct random r = { 7 };
	struct sedona_run run = { .length_ns = (uint64_t)S };
	struct study study = { 0 };
	for (uint32_t i = 0; i < 200; i++) {
		bool slow = i % 15 == 4;
		struct sedona_sample s = { .number = i + 1,
					   .et_ns = (uint64_t)(S + MS * machine_gaussian(&r) +
							       (slow ? 5 * S : 0)),
					   .first = run.executions.count };
		if (slow)
			array_push(&run.executions,
				   ((struct sedona_execution){ sedona_name_index(&run, "bkp"),
							       (uint64_t)(5 * S) }));
		if (i == 19 || i == 64)
			array_push(&run.executions,
				   ((struct sedona_execution){ sedona_name_index(&run, "sort"),
							       19000 }));
		s.count = run.executions.count - s.first;
		array_push(&run.samples, s);
	}
	sedona_study(&run, NULL, 1, &study, NULL);
	const struct study_daemon *d = daemon_named(&study, "bkp");
	assert_true(d->period.found);
	assert_near((double)d->period.ns, 20 * S, 0.05 * 20 * S);
	assert_false(daemon_named(&study, "sort")->seen[STUDY_SHORT].has_cutoff);
	assert_int_equal(study.runs[STUDY_SHORT].dropped.count, 14);
	study_release(&study);
	sedona_run_release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_daemons_are_found_and_their_samples_dropped),
		cmocka_unit_test(a_short_and_a_long_run_find_the_same_daemons),
		cmocka_unit_test(known_daemons_are_found_on_an_uneven_host),
		cmocka_unit_test(an_even_run_is_compared_by_its_own_et_unless_asked_otherwise),
		cmocka_unit_test(a_run_is_steadied_only_if_its_process_times_are_known),
		cmocka_unit_test(windows_of_a_watch_find_the_same_daemons),
		cmocka_unit_test(nothing_is_found_on_a_quiet_machine),
		cmocka_unit_test(a_step_of_the_clock_does_not_hide_a_period),
		cmocka_unit_test(a_period_is_found_without_times),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
