/* Windows cut from made-up bursts: what a program of that length would have met. */
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
#include "base/clock.h"
#include "protocol/sedona/windows.h"
#include "stats/random.h"

#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)
#define BEGIN (5000 * S) /* CLOCK_MONOTONIC of a part's begin */
#define REALTIME INT64_C(1700000000000000000)

static struct bursts part_of(uint64_t seconds)
{
	return (struct bursts){
		.begin_ns = BEGIN, .end_ns = BEGIN + seconds * S, .realtime_ns = REALTIME, .cpus = 2
	};
}

static uint32_t add_process(struct bursts *b, const char *name, bool own)
{
	struct burst_process p = { .pid = (int32_t)b->processes.count + 100, .own = own };
	snprintf(p.name, sizeof p.name, "%s", name);
	array_push(&b->processes, p);
	return (uint32_t)b->processes.count - 1;
}

static void add_burst(struct bursts *b, uint32_t process, uint16_t cpu, uint64_t at_ns,
		      uint64_t span_ns, uint64_t busy_ns)
{
	array_push(&b->bursts, (struct burst){ .begin_ns = BEGIN + at_ns,
					       .span_ns = span_ns,
					       .busy_ns = busy_ns,
					       .process = process,
					       .cpu = cpu,
					       .turns = 1 });
}

static struct sedona_run cut(const struct bursts *parts, size_t count, uint64_t length_ns, int cpu,
			     uint32_t most)
{
	struct sedona_run r;
	struct windows_options o = { .length_ns = length_ns, .cpu = cpu, .most = most };
	windows_cut(parts, count, &o, &r, NULL);
	assert_int_equal(r.length_ns, length_ns);
	return r;
}

/* The PT of a name in a sample, summed; its executions are counted. */
static uint64_t pt_of(const struct sedona_run *r, size_t sample, const char *name, size_t *count)
{
	uint64_t pt = 0;
	*count = 0;
	const struct sedona_sample *s = &r->samples.items[sample];
	for (size_t i = s->first; i < s->first + s->count; i++)
		if (strcmp(r->names.items[r->executions.items[i].daemon].text, name) == 0) {
			pt += r->executions.items[i].pt_ns;
			++*count;
		}
	return pt;
}

/* The window's time is taken on its own CPU only; on the other one a process delays nobody. */
static void a_window_tells_who_held_the_program_up(void **state)
{
	(void)state;
	struct bursts b = part_of(10);
	uint32_t here = add_process(&b, "here", false), there = add_process(&b, "there", false);
	add_burst(&b, here, 0, 2 * S, 300 * MS, 300 * MS);
	add_burst(&b, there, 1, 2 * S, 400 * MS, 400 * MS);
	struct sedona_run r = cut(&b, 1, S, 0, 0);
	size_t seen = 0;
	array_each(x, &r.executions) {
		bool delays = strcmp(r.names.items[x->daemon].text, "here") == 0;
		assert_int_equal(x->delay_ns, delays ? x->pt_ns : 0);
		seen++;
	}
	assert_int_equal(seen, 2);
	array_each(s, &r.samples)
		assert_true(s->tells_delays);
	sedona_run_release(&r);
	bursts_release(&b);
}

/* Every 10 s for 300 ms on the program's CPU: each tenth window or so, 300 ms longer. */
static void a_window_is_longer_by_the_time_of_the_daemon_in_it(void **state)
{
	(void)state;
	struct bursts b = part_of(100);
	uint32_t d = add_process(&b, "d", false);
	for (uint64_t i = 0; i < 10; i++)
		add_burst(&b, d, 0, (10 * i + 5) * S + 400 * MS, 300 * MS, 300 * MS);
	struct sedona_run r = cut(&b, 1, S, 0, 0);
	/* 100 s less 3 s of the daemon's */
	assert_int_equal(r.samples.count, 97);
	uint64_t sum_pt = 0, sum_et = 0;
	for (size_t i = 0; i < r.samples.count; i++) {
		const struct sedona_sample *s = &r.samples.items[i];
		size_t count;
		uint64_t pt = pt_of(&r, i, "d", &count);
		assert_int_equal(s->number, i + 1);
		assert_near((double)s->et_ns, (double)(S + pt), 2);
		assert_near((double)s->at_ns, (double)REALTIME + (double)sum_et, 1000);
		sum_pt += pt;
		sum_et += s->et_ns;
	}
	assert_near((double)sum_pt, 3e9, 100);
	/* the first one is whole, in the sixth window */
	size_t count;
	assert_int_equal(pt_of(&r, 5, "d", &count), 300 * MS);
	assert_int_equal(count, 1);
	assert_int_equal(r.samples.items[5].et_ns, 1300 * MS);
	sedona_run_release(&r);
	bursts_release(&b);
}

/* By its share within, on the way in, between and out; also of what began before the part. */
static void a_burst_over_several_windows_counts_by_its_share(void **state)
{
	(void)state;
	struct bursts b = part_of(10);
	uint32_t d = add_process(&b, "d", false);
	add_burst(&b, d, 1, 1500 * MS, 2000 * MS, 1000 * MS);
	b.bursts.items[0].begin_ns = BEGIN + 1500 * MS;
	struct burst before = { .begin_ns = BEGIN - S,
				.span_ns = 1250 * MS,
				.busy_ns = 1250 * MS,
				.process = d,
				.cpu = 1,
				.turns = 1 };
	array_push(&b.bursts, before);
	bursts_sort(&b);
	struct sedona_run r = cut(&b, 1, S, 0, 0); /* CPU 0 is free: windows of 1 s */
	const uint64_t want_ms[] = { 250, 250, 500, 250, 0 };
	assert_int_equal(r.samples.count, 10);
	for (size_t i = 0; i < 5; i++) {
		size_t count;
		assert_int_equal(pt_of(&r, i, "d", &count), want_ms[i] * MS);
		assert_int_equal(count, want_ms[i] ? 1 : 0);
		assert_int_equal(r.samples.items[i].et_ns, S);
	}
	sedona_run_release(&r);

	/* on its own CPU the program gets half of it meanwhile */
	r = cut(&b, 1, S, 1, 0);
	assert_int_equal(r.samples.items[0].et_ns, 1250 * MS);
	/* 250 ms alone, then 750 ms at half the rate */
	assert_int_equal(r.samples.items[1].et_ns, 1750 * MS);
	assert_int_equal(r.samples.items[1].at_ns, REALTIME + (int64_t)(1250 * MS));
	sedona_run_release(&r);
	bursts_release(&b);
}

/* Two processes of a name are two executions; several bursts of one are one. */
static void each_process_is_one_execution_of_a_window(void **state)
{
	(void)state;
	struct bursts b = part_of(4);
	uint32_t first = add_process(&b, "sshd", false), second = add_process(&b, "sshd", false);
	add_burst(&b, first, 1, 100 * MS, 5 * MS, 5 * MS);
	add_burst(&b, second, 1, 200 * MS, 7 * MS, 7 * MS);
	add_burst(&b, first, 0, 300 * MS, 0, 0);
	add_burst(&b, first, 1, 400 * MS, 5 * MS, 5 * MS);
	struct sedona_run r = cut(&b, 1, S, 0, 0);
	size_t count;
	assert_int_equal(pt_of(&r, 0, "sshd", &count), 17 * MS);
	assert_int_equal(count, 2);
	assert_int_equal(r.names.count, 1);
	sedona_run_release(&r);
	bursts_release(&b);
}

static void tares_own_processes_are_left_out(void **state)
{
	(void)state;
	struct bursts b = part_of(10);
	uint32_t own = add_process(&b, "tare", true), d = add_process(&b, "d", false);
	add_burst(&b, own, 0, 0, 9 * S, 9 * S);
	add_burst(&b, d, 1, 9 * S + 500 * MS, 10 * MS, 10 * MS);
	int cpu = -7;
	struct sedona_run r;
	struct windows_options o = { .length_ns = S, .cpu = WINDOWS_WORST_CPU };
	windows_cut(&b, 1, &o, &r, &cpu);
	assert_int_equal(cpu, 1);
	assert_int_equal(r.samples.count, 9);
	assert_int_equal(r.executions.count, 0);
	sedona_run_release(&r);
	r = cut(&b, 1, S, 0, 0);
	assert_int_equal(r.samples.count, 10);
	assert_int_equal(r.names.count, 1);
	assert_int_equal(r.executions.count, 1);
	sedona_run_release(&r);
	bursts_release(&b);
}

/* No window reaches over the end of a part; numbers go on. */
static void no_window_reaches_over_the_end_of_a_part(void **state)
{
	(void)state;
	struct bursts parts[] = { part_of(3), part_of(0), part_of(5) };
	parts[0].end_ns += 900 * MS;
	parts[2].realtime_ns += 1000 * (int64_t)S;
	uint32_t d = add_process(&parts[2], "d", false);
	add_burst(&parts[2], d, 0, 1500 * MS, MS, MS);
	struct sedona_run r = cut(parts, 3, S, 0, 0);
	assert_int_equal(r.samples.count, 3 + 4);
	assert_int_equal(r.samples.items[3].number, 4);
	assert_int_equal(r.samples.items[3].at_ns, REALTIME + 1000 * (int64_t)S);
	size_t count;
	assert_int_equal(pt_of(&r, 4, "d", &count), MS);
	sedona_run_release(&r);
	for (size_t i = 0; i < 3; i++)
		bursts_release(&parts[i]);
}

/* Of more than are wanted the newest, without a gap and numbered as if there were no others. */
static void of_more_windows_than_wanted_the_newest_are_taken(void **state)
{
	(void)state;
	struct bursts parts[] = { part_of(100), part_of(7) };
	parts[1].realtime_ns += 1000 * (int64_t)S;
	uint32_t d = add_process(&parts[0], "early", false);
	add_burst(&parts[0], d, 1, 96 * S + 900 * MS, 200 * MS, 200 * MS);
	add_process(&parts[1], "other", false);
	add_burst(&parts[1], add_process(&parts[1], "late", false), 1, S, MS, MS);
	struct sedona_run r = cut(parts, 2, S, 0, 10);
	assert_int_equal(r.samples.count, 10);
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(r.samples.items[i].number, i + 1);
		uint64_t at = i < 3 ? 97 + i : 1000 + i - 3;
		assert_int_equal(r.samples.items[i].at_ns, REALTIME + (int64_t)(at * S));
	}
	size_t count;
	assert_int_equal(pt_of(&r, 0, "early", &count), 100 * MS); /* its share */
	assert_int_equal(pt_of(&r, 4, "late", &count), MS);
	assert_int_equal(r.executions.count, 2);
	sedona_run_release(&r);
	const uint32_t most[] = { 1, 7, 8, 106, 107, 108 };
	for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
		r = cut(parts, 2, S, 0, most[i]);
		assert_int_equal(r.samples.count, most[i] < 107 ? most[i] : 107);
		assert_int_equal(r.samples.items[r.samples.count - 1].at_ns,
				 REALTIME + (int64_t)(1006 * S));
		sedona_run_release(&r);
	}
	bursts_release(&parts[0]);
	bursts_release(&parts[1]);
}

/* 30 h of a daemon that comes every 20 s: more windows than are taken, and still its period. */
static void the_period_of_a_daemon_is_found_in_a_long_watch(void **state)
{
	(void)state;
	const uint64_t seconds = 108000;
	struct bursts b = part_of(seconds);
	uint32_t often = add_process(&b, "often", false), seldom = add_process(&b, "seldom", false);
	struct random random = { 11 };
	for (uint64_t i = 0; i < seconds; i++) {
		uint64_t usual = MS + random_below(&random, MS);
		add_burst(&b, often, 0, i * S + 100 * MS, usual, usual);
		if (i % 20 == 7)
			add_burst(&b, seldom, 0, i * S + 500 * MS, 300 * MS, 300 * MS);
	}
	struct sedona_run r = cut(&b, 1, S, 0, 100000);
	assert_int_equal(r.samples.count, 100000);
	struct study study = { 0 };
	sedona_study(&r, NULL, 1, &study, NULL);
	assert_int_equal(study.cutoffs.count, 1);
	assert_string_equal(study.cutoffs.items[0].daemon, "seldom");
	assert_int_equal(study.cutoffs.items[0].below_ns, 2 * S);
	assert_string_equal(study.daemons.items[0].name, "seldom");
	assert_true(study.daemons.items[0].period.found);
	assert_near((double)study.daemons.items[0].period.ns, 20e9, 1e8);
	study_release(&study);
	sedona_run_release(&r);
	bursts_release(&b);
}

static void there_is_no_window_longer_than_its_part(void **state)
{
	(void)state;
	struct bursts b = part_of(10);
	struct sedona_run r = cut(&b, 1, 11 * S, 0, 0);
	assert_int_equal(r.samples.count, 0);
	r = cut(&b, 1, 0, 0, 0);
	assert_int_equal(r.samples.count, 0);
	r = cut(NULL, 0, S, WINDOWS_WORST_CPU, 0);
	assert_int_equal(r.samples.count, 0);
	/* a CPU that is never left */
	uint32_t d = add_process(&b, "hog", false);
	add_burst(&b, d, 0, 0, 10 * S, 10 * S);
	r = cut(&b, 1, MS, WINDOWS_WORST_CPU, 0);
	assert_int_equal(r.samples.count, 0);
	bursts_release(&b);
}

/* A day of 100 bursts a second. */
static void a_day_of_bursts_is_cut_quickly(void **state)
{
	(void)state;
#ifdef __OPTIMIZE__
	const uint64_t seconds = 86400;
#else
	const uint64_t seconds = 8640;
#endif
	struct bursts b = part_of(seconds);
	for (unsigned i = 0; i < 50; i++) {
		char name[DAEMON_NAME];
		snprintf(name, sizeof name, "daemon-%u", i % 100);
		add_process(&b, name, false);
	}
	for (uint64_t i = 0; i < seconds * 100; i++)
		add_burst(&b, (uint32_t)(i % 50), (uint16_t)(i / 7 % 2), i * 10 * MS, 200000,
			  100000);
	uint64_t before = clock_cpu_ns();
	struct sedona_run r = cut(&b, 1, 200 * MS, 0, 0);
	double took = (double)(clock_cpu_ns() - before) / 1e9;
	print_message("%zu windows of %zu bursts: %.2f s\n", r.samples.count, b.bursts.count, took);
	assert_near((double)r.samples.count, (double)seconds * 5 * 0.995, (double)seconds / 200);
	assert_true(took < 10);
	sedona_run_release(&r);
	bursts_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_tells_who_held_the_program_up),
		cmocka_unit_test(a_window_is_longer_by_the_time_of_the_daemon_in_it),
		cmocka_unit_test(a_burst_over_several_windows_counts_by_its_share),
		cmocka_unit_test(each_process_is_one_execution_of_a_window),
		cmocka_unit_test(tares_own_processes_are_left_out),
		cmocka_unit_test(no_window_reaches_over_the_end_of_a_part),
		cmocka_unit_test(of_more_windows_than_wanted_the_newest_are_taken),
		cmocka_unit_test(there_is_no_window_longer_than_its_part),
		cmocka_unit_test(the_period_of_a_daemon_is_found_in_a_long_watch),
		cmocka_unit_test(a_day_of_bursts_is_cut_quickly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
