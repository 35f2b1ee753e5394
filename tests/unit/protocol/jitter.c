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
#include "jitter-scene.h"
#include "stats/random.h"

#define US 1000
#define MS 1000000

static int start(void **state)
{
	struct scene *s = malloc(sizeof *s);
	if (!s)
		return -1;
	scene_init(s);
	*state = s;
	return 0;
}

static int stop(void **state)
{
	scene_release(*state);
	free(*state);
	return 0;
}

static const struct noise_cpu *played(struct scene *s)
{
	scene_play(s);
	const char *wrong = noise_sums_wrong(&s->noise);
	if (wrong)
		fail_msg("sums do not agree: %s", wrong);
	return &s->noise.cpus.items[0];
}

static void assert_source(const struct noise_cpu *c, enum noise_class class, const char *name,
			  uint64_t count, uint64_t ns)
{
	const struct noise_source *s = scene_source(c, class, name);
	uint64_t has = s ? s->spread.count : 0, has_ns = s ? s->spread.ns : 0;
	if (has != count || has_ns != ns)
		fail_msg("%s %s: %lu of %lu ns, not %lu of %lu ns", noise_class_names[class], name,
			 has, has_ns, count, ns);
}

static void assert_class(const struct noise_cpu *c, enum noise_class class, uint64_t ns)
{
	if (c->total.class_ns[class] != ns)
		fail_msg("%s: %lu ns, not %lu", noise_class_names[class], c->total.class_ns[class],
			 ns);
}

static void assert_combination(const struct noise_cpu *c, const char *name, uint64_t count)
{
	const struct noise_combination *x = scene_combination(c, name);
	if ((x ? x->seen.count : 0) != count) {
		for (size_t i = 0; i < c->combinations.count; i++)
			print_message("%s: %lu\n", c->combinations.items[i].name,
				      c->combinations.items[i].seen.count);
		fail_msg("not %lu of %s", count, name);
	}
}

/* ---- the four cases of section II-A ---- */

static void a_detour_is_split_into_its_interrupt_and_delivery(void **state)
{
	struct scene *s = *state;
	scene_detour(s, 1 * MS, 1 * MS + 6 * US);
	scene_irq(s, 1 * MS + 2 * US, 1 * MS + 5 * US, 1);
	const struct noise_cpu *c = played(s);
	assert_source(c, NOISE_IRQ, "irq1", 1, 3 * US);
	assert_source(c, NOISE_DELIVERY, "delivery", 1, 3 * US);
	assert_combination(c, "irq1", 1);
	assert_int_equal(scene_combination(c, "irq1")->told.ns, 3 * US);
	assert_int_equal(noise_histogram_at(&c->master, noise_bucket_of(3 * US)).count, 1);
	assert_int_equal(c->buckets[noise_bucket_of(6 * US)].class_ns[NOISE_IRQ], 3 * US);
	assert_int_equal(c->total.overlap_ns, 6 * US);
}

static void sources_in_succession_get_their_time_and_one_combination(void **state)
{
	struct scene *s = *state;
	scene_detour(s, 1 * MS, 1 * MS + 40 * US);
	scene_irq(s, 1 * MS + 1 * US, 1 * MS + 5 * US, 1);
	scene_softirq(s, 1 * MS + 5 * US, 1 * MS + 12 * US, 2);
	scene_switch(s, 1 * MS + 13 * US, LOOP, 7, "sshd");
	scene_switch(s, 1 * MS + 39 * US, 7, LOOP, "loop");
	const struct noise_cpu *c = played(s);
	assert_source(c, NOISE_IRQ, "irq1", 1, 4 * US);
	assert_source(c, NOISE_SOFTIRQ, "softirq:s2", 1, 7 * US);
	assert_source(c, NOISE_THREAD, "sshd", 1, 26 * US);
	assert_source(c, NOISE_DELIVERY, "delivery", 1, 3 * US);
	assert_int_equal(c->combinations.count, 1);
	assert_combination(c, "irq1_softirq:s2_sshd", 1);
	assert_int_equal(c->combinations.items[0].seen.ns, 40 * US);
	assert_int_equal(c->combinations.items[0].told.ns, 37 * US);
}

static void detours_of_equal_length_are_told_apart_by_time(void **state)
{
	struct scene *s = *state;
	for (uint64_t i = 1; i <= 3; i++) {
		scene_detour(s, i * MS, i * MS + 10 * US);
		scene_irq(s, i * MS, i * MS + 10 * US, (uint32_t)i);
	}
	scene_detour(s, 6 * MS, 6 * MS + 10 * US);
	scene_irq(s, 6 * MS, 6 * MS + 10 * US, 1);
	const struct noise_cpu *c = played(s);
	assert_source(c, NOISE_IRQ, "irq1", 2, 20 * US);
	assert_source(c, NOISE_IRQ, "irq2", 1, 10 * US);
	assert_source(c, NOISE_IRQ, "irq3", 1, 10 * US);
	assert_int_equal(c->combinations.count, 3);
	assert_int_equal(c->buckets[noise_bucket_of(10 * US)].count, 4);
	const struct noise_source *one = scene_source(c, NOISE_IRQ, "irq1");
	assert_int_equal(noise_histogram_at(&one->intervals, noise_bucket_of(5 * MS)).ns, 5 * MS);
	/* the next round goes on from this one's last: a period may be longer than a round */
	scene_detour(s, 1001 * MS, 1001 * MS + 10 * US);
	scene_irq(s, 1001 * MS, 1001 * MS + 10 * US, 1);
	c = played(s);
	one = scene_source(c, NOISE_IRQ, "irq1");
	assert_int_equal(one->spread.count, 3);
	uint64_t intervals = 0;
	for (unsigned i = 0; i < NOISE_BUCKETS; i++)
		intervals += noise_histogram_at(&one->intervals, i).count;
	assert_int_equal(intervals, 2);
}

static void nested_sources_are_netted_out(void **state)
{
	struct scene *s = *state;
	const uint64_t t = 5 * MS;
	scene_detour(s, t, t + 100 * US);
	scene_event(s, t, TRACE_ENTER, LEDGER_SOFTIRQ, 1);
	scene_event(s, t + 10 * US, TRACE_ENTER, LEDGER_IRQ, 2);
	scene_irq(s, t + 20 * US, t + 25 * US, 3);
	scene_event(s, t + 40 * US, TRACE_LEAVE, LEDGER_IRQ, 2);
	scene_event(s, t + 100 * US, TRACE_LEAVE, LEDGER_SOFTIRQ, 1);
	const struct noise_cpu *c = played(s);
	assert_source(c, NOISE_SOFTIRQ, "softirq:s1", 1, 70 * US);
	assert_source(c, NOISE_IRQ, "irq2", 1, 25 * US);
	assert_source(c, NOISE_IRQ, "irq3", 1, 5 * US);
	assert_class(c, NOISE_DELIVERY, 0);
	assert_combination(c, "softirq:s1", 1);
}

/* ---- kinds of sources ---- */

static void work_items_and_turns_of_other_tasks_are_told_apart(void **state)
{
	struct scene *s = *state;
	const uint64_t t = 5 * MS;
	scene_detour(s, t, t + 100 * US);
	scene_switch(s, t, LOOP, 8, "kworker/1:2-even");
	scene_event(s, t + 10 * US, TRACE_WORK_BEGIN, 4, 0);
	scene_irq(s, t + 12 * US, t + 15 * US, 1);
	/* the item sleeps, another task has its turn, then it goes on */
	scene_switch(s, t + 20 * US, 8, 9, "sshd");
	scene_switch(s, t + 50 * US, 9, 8, "kworker/1:2-even");
	scene_event(s, t + 60 * US, TRACE_WORK_END, 0, 0);
	scene_event(s, t + 70 * US, TRACE_WORK_BEGIN, 5, 0);
	scene_event(s, t + 75 * US, TRACE_WORK_END, 0, 0);
	scene_switch(s, t + 80 * US, 8, 0, "swapper/1");
	scene_switch(s, t + 100 * US, 0, LOOP, "loop");
	const struct noise_cpu *c = played(s);
	assert_source(c, NOISE_THREAD, "kworker/1", 2, 25 * US);
	assert_source(c, NOISE_WORK, "work:w4", 1, 17 * US);
	assert_source(c, NOISE_WORK, "work:w5", 1, 5 * US);
	assert_source(c, NOISE_IRQ, "irq1", 1, 3 * US);
	assert_source(c, NOISE_THREAD, "sshd", 1, 30 * US);
	assert_source(c, NOISE_THREAD, "idle", 1, 20 * US);
	assert_combination(c, "kworker/1_sshd_kworker/1_idle", 1);
}

static void faults_and_nmis_get_their_own_time(void **state)
{
	struct scene *s = *state;
	const uint64_t t = 5 * MS;
	scene_detour(s, t, t + 30 * US);
	scene_event(s, t + 1 * US, TRACE_FAULT, 0, 0);
	scene_irq(s, t + 4 * US, t + 10 * US, 1);
	scene_event(s, t + 11 * US, TRACE_FAULT, 0, 0);
	/* a fault to the end */
	scene_detour(s, 6 * MS, 6 * MS + 30 * US);
	scene_event(s, 6 * MS, TRACE_FAULT, 0, 0);
	/* an NMI in an interrupt, one alone */
	scene_detour(s, 7 * MS, 7 * MS + 30 * US);
	scene_event(s, 7 * MS, TRACE_ENTER, LEDGER_IRQ, 2);
	scene_event(s, 7 * MS + 8 * US, TRACE_NMI, 0, 3 * US);
	scene_event(s, 7 * MS + 10 * US, TRACE_LEAVE, LEDGER_IRQ, 2);
	scene_event(s, 7 * MS + 30 * US, TRACE_NMI, 0, 19 * US);
	const struct noise_cpu *c = played(s);
	assert_source(c, NOISE_FAULT, "page_fault", 3, (3 + 19 + 30) * US);
	assert_source(c, NOISE_IRQ, "irq1", 1, 6 * US);
	assert_source(c, NOISE_IRQ, "irq2", 1, 7 * US);
	assert_source(c, NOISE_NMI, "nmi", 2, 22 * US);
	assert_combination(c, "page_fault_irq1_page_fault", 1);
	assert_combination(c, "page_fault", 1);
	assert_combination(c, "irq2_nmi", 1);
}

static void a_real_time_loop_that_waits_for_fair_tasks_is_throttled(void **state)
{
	struct scene *s = *state;
	for (int realtime = 0; realtime < 2; realtime++) {
		uint64_t t = (uint64_t)(1 + realtime) * 500 * MS;
		s->round.realtime = realtime;
		scene_detour(s, t, t + 51 * MS);
		scene_switch(s, t, LOOP, 9, "make");
		s->trace.events.items[0].flags = TRACE_IS_FAIR;
		scene_switch(s, t + 20 * MS, 9, 10, "migration/3"); /* not of that class */
		scene_switch(s, t + 21 * MS, 10, 9, "make");
		s->trace.events.items[2].flags = TRACE_IS_FAIR;
		scene_switch(s, t + 50 * MS, 9, 0, "swapper/3");
		s->trace.events.items[3].flags = TRACE_IS_FAIR;
		scene_switch(s, t + 51 * MS, 0, LOOP, "loop");
		const struct noise_cpu *c = played(s);
		assert_source(c, NOISE_THREAD, "idle", 1, 1 * MS);
		assert_source(c, NOISE_THROTTLED, "idle", realtime ? 1 : 0, realtime ? MS : 0);
		assert_source(c, NOISE_THROTTLED, "make", realtime ? 2 : 0, realtime ? 49 * MS : 0);
		assert_source(c, NOISE_THREAD, "make", 2, 49 * MS);
		assert_source(c, NOISE_THREAD, "migration/3", 1 + realtime, (1 + realtime) * MS);
	}
}

static void another_tare_noise_is_named_by_its_process(void **state)
{
	struct scene *s = *state;
	for (int32_t i = 0; i < 4; i++) {
		uint64_t t = (uint64_t)(1 + i) * 100 * MS;
		scene_detour(s, t, t + 3 * MS);
		scene_switch(s, t, LOOP, 4712 + i % 2, "tare-loop/1");
		s->trace.events.items[s->trace.events.count - 1].tgid = 4700 + i % 2;
		scene_switch(s, t + 3 * MS, 4712 + i % 2, LOOP, "tare-loop/1");
	}
	const struct noise_cpu *c = played(s);
	assert_source(c, NOISE_THREAD, "another tare noise (4700)", 2, 6 * MS);
	assert_source(c, NOISE_THREAD, "another tare noise (4701)", 2, 6 * MS);
}

static void a_source_without_a_name_is_called_by_its_number(void **state)
{
	struct scene *s = *state;
	scene_detour(s, 1 * MS, 1 * MS + 10 * US);
	scene_irq(s, 1 * MS, 1 * MS + 4 * US, 77);
	scene_softirq(s, 1 * MS + 4 * US, 1 * MS + 10 * US, 88);
	const struct noise_cpu *c = played(s);
	assert_combination(c, "irq 77_softirq:88", 1);
}

/* ---- events that are missing ---- */

static void a_source_without_an_end_lasts_until_the_next_known_moment(void **state)
{
	struct scene *s = *state;
	const uint64_t t = 5 * MS;
	/* until the detour's end */
	scene_detour(s, t, t + 10 * US);
	scene_event(s, t + 1 * US, TRACE_ENTER, LEDGER_IRQ, 1);
	/* until the outer one's end */
	scene_detour(s, t + 1 * MS, t + 1 * MS + 10 * US);
	scene_event(s, t + 1 * MS, TRACE_ENTER, LEDGER_SOFTIRQ, 1);
	scene_event(s, t + 1 * MS + 4 * US, TRACE_ENTER, LEDGER_IRQ, 2);
	scene_event(s, t + 1 * MS + 9 * US, TRACE_LEAVE, LEDGER_SOFTIRQ, 1);
	/* until it comes again: it is not nested in itself */
	scene_detour(s, t + 2 * MS, t + 2 * MS + 12 * US);
	scene_event(s, t + 2 * MS, TRACE_ENTER, LEDGER_IRQ, 3);
	scene_irq(s, t + 2 * MS + 3 * US, t + 2 * MS + 10 * US, 3);
	/* until a task gets the CPU; the loop's return is not told */
	scene_detour(s, t + 3 * MS, t + 3 * MS + 10 * US);
	scene_event(s, t + 3 * MS, TRACE_ENTER, LEDGER_IRQ, 4);
	scene_switch(s, t + 3 * MS + 2 * US, LOOP, 9, "sshd");
	/* until the next soft one, until the worker goes on */
	scene_detour(s, t + 4 * MS, t + 4 * MS + 12 * US);
	scene_event(s, t + 4 * MS, TRACE_ENTER, LEDGER_SOFTIRQ, 5);
	scene_softirq(s, t + 4 * MS + 3 * US, t + 4 * MS + 10 * US, 6);
	scene_detour(s, t + 5 * MS, t + 5 * MS + 10 * US);
	scene_switch(s, t + 5 * MS, LOOP, 10, "kworker/0:1");
	scene_event(s, t + 5 * MS + 1 * US, TRACE_ENTER, LEDGER_IRQ, 5);
	scene_event(s, t + 5 * MS + 2 * US, TRACE_WORK_BEGIN, 1, 0);
	scene_event(s, t + 5 * MS + 5 * US, TRACE_WORK_END, 0, 0);
	scene_switch(s, t + 5 * MS + 10 * US, 10, LOOP, "loop");
	const struct noise_cpu *c = played(s);
	assert_source(c, NOISE_SOFTIRQ, "softirq:s5", 1, 3 * US);
	assert_source(c, NOISE_SOFTIRQ, "softirq:s6", 1, 7 * US);
	assert_source(c, NOISE_THREAD, "kworker/0", 1, 6 * US);
	assert_source(c, NOISE_IRQ, "irq5", 1, 1 * US);
	assert_source(c, NOISE_WORK, "work:w1", 1, 3 * US);
	assert_combination(c, "softirq:s5_softirq:s6", 1);
	assert_source(c, NOISE_IRQ, "irq1", 1, 9 * US);
	assert_source(c, NOISE_SOFTIRQ, "softirq:s1", 1, 4 * US);
	assert_source(c, NOISE_IRQ, "irq2", 1, 5 * US);
	assert_source(c, NOISE_IRQ, "irq3", 2, 10 * US);
	assert_source(c, NOISE_IRQ, "irq4", 1, 2 * US);
	assert_source(c, NOISE_THREAD, "sshd", 1, 8 * US);
	assert_combination(c, "irq3", 1);
	assert_combination(c, "irq4_sshd", 1);
}

static void a_source_without_a_begin_lasts_since_the_last_known_moment(void **state)
{
	struct scene *s = *state;
	const uint64_t t = 5 * MS;
	scene_detour(s, t, t + 10 * US);
	scene_event(s, t + 9 * US, TRACE_LEAVE, LEDGER_IRQ, 1);
	/* since the last that is known */
	scene_detour(s, t + 1 * MS, t + 1 * MS + 10 * US);
	scene_irq(s, t + 1 * MS, t + 1 * MS + 4 * US, 2);
	scene_event(s, t + 1 * MS + 9 * US, TRACE_LEAVE, LEDGER_SOFTIRQ, 2);
	/* of a task: it left, so it was there, but nobody knows since when or who */
	scene_detour(s, t + 2 * MS, t + 2 * MS + 10 * US);
	scene_switch(s, t + 2 * MS + 9 * US, 9, LOOP, "loop");
	/* another one than assumed leaves */
	scene_detour(s, t + 3 * MS, t + 3 * MS + 10 * US);
	scene_switch(s, t + 3 * MS, LOOP, 10, "sshd");
	scene_switch(s, t + 3 * MS + 6 * US, 11, LOOP, "loop");
	/* the end of a work item in no work */
	scene_detour(s, t + 4 * MS, t + 4 * MS + 10 * US);
	scene_event(s, t + 4 * MS + 5 * US, TRACE_WORK_END, 4, 0);
	const struct noise_cpu *c = played(s);
	assert_source(c, NOISE_IRQ, "irq1", 1, 9 * US);
	assert_source(c, NOISE_IRQ, "irq2", 1, 4 * US);
	assert_source(c, NOISE_SOFTIRQ, "softirq:s2", 1, 5 * US);
	assert_source(c, NOISE_THREAD, "sshd", 1, 6 * US);
	assert_class(c, NOISE_UNEXPLAINED, (10 + 2 + 10) * US);
	assert_combination(c, "unexplained", 2);
}

static void hundreds_of_nested_interrupts_do_no_harm(void **state)
{
	struct scene *s = *state;
	scene_detour(s, 1 * MS, 2 * MS);
	for (uint32_t i = 0; i < 500; i++)
		scene_event(s, 1 * MS + i * US, TRACE_ENTER, LEDGER_IRQ, 1000 + i);
	for (uint32_t i = 500; i--;)
		scene_event(s, 1 * MS + (1000 - i) * US, TRACE_LEAVE, LEDGER_IRQ, 1000 + i);
	const struct noise_cpu *c = played(s);
	assert_class(c, NOISE_IRQ, 1 * MS);
	assert_source(c, NOISE_IRQ, "irq 1000", 1, 2 * US);
}

/* ---- at the edges ---- */

static void clocks_that_are_some_ns_apart_do_not_hide_a_source(void **state)
{
	struct scene *s = *state;
	/* over both ends: cut to the detour */
	scene_detour(s, 1 * MS, 1 * MS + 10 * US);
	scene_irq(s, 1 * MS - 150, 1 * MS + 10 * US + 150, 1);
	/* in no detour: shorter than the threshold, one nested, and right before and behind one */
	scene_event(s, 2 * MS, TRACE_ENTER, LEDGER_IRQ, 2);
	scene_irq(s, 2 * MS + 20, 2 * MS + 50, 3);
	scene_event(s, 2 * MS + 90, TRACE_LEAVE, LEDGER_IRQ, 2);
	scene_detour(s, 3 * MS, 3 * MS + 10 * US);
	scene_irq(s, 3 * MS - 180, 3 * MS - 100, 4);
	scene_irq(s, 3 * MS - 50, 3 * MS + 9 * US, 5);
	scene_irq(s, 3 * MS + 10 * US + 10, 3 * MS + 10 * US + 80, 4);
	/* told by half: nobody knows */
	scene_event(s, 4 * MS, TRACE_LEAVE, LEDGER_IRQ, 6);
	scene_event(s, 5 * MS, TRACE_ENTER, LEDGER_IRQ, 6);
	const struct noise_cpu *c = played(s);
	assert_source(c, NOISE_IRQ, "irq1", 1, 10 * US);
	assert_source(c, NOISE_IRQ, "irq5", 1, 9 * US);
	assert_source(c, NOISE_DELIVERY, "delivery", 1, 1 * US);
	assert_class(c, NOISE_IRQ, 19 * US);
	assert_int_equal(c->outside, 4);
	assert_int_equal(c->outside_ns, 90 + 80 + 70);
	assert_int_equal(c->events, 14);
}

/* Two detours nearer to each other than the slack: an end is the first one's, a begin the second's.
 */
static void close_detours_each_get_their_own_events(void **state)
{
	struct scene *s = *state;
	const uint64_t t = 1 * MS;
	scene_detour(s, t, t + 5000);
	scene_irq(s, t, t + 5050, 1);
	scene_detour(s, t + 5150, t + 10000);
	scene_irq(s, t + 5100, t + 10000, 2);
	scene_detour(s, 2 * t, 2 * t + 5000);
	scene_switch(s, 2 * t, LOOP, 9, "sshd");
	scene_switch(s, 2 * t + 5050, 9, LOOP, "loop");
	scene_detour(s, 2 * t + 5150, 2 * t + 10000);
	scene_switch(s, 2 * t + 5100, LOOP, 10, "make");
	scene_switch(s, 2 * t + 10000, 10, LOOP, "loop");
	const struct noise_cpu *c = played(s);
	assert_source(c, NOISE_THREAD, "sshd", 1, 5000);
	assert_source(c, NOISE_THREAD, "make", 1, 4850);
	assert_source(c, NOISE_IRQ, "irq1", 1, 5000);
	assert_source(c, NOISE_IRQ, "irq2", 1, 4850);
	assert_class(c, NOISE_IRQ, 9850);
	assert_int_equal(c->outside, 0);
}

static void events_out_of_order_are_sorted(void **state)
{
	struct scene *s = *state;
	scene_detour(s, 1 * MS, 1 * MS + 10 * US);
	scene_event(s, 1 * MS + 10 * US, TRACE_LEAVE, LEDGER_IRQ, 1);
	scene_irq(s, 1 * MS + 4 * US, 1 * MS + 6 * US, 2);
	scene_event(s, 1 * MS, TRACE_ENTER, LEDGER_IRQ, 1);
	const struct noise_cpu *c = played(s);
	assert_source(c, NOISE_IRQ, "irq1", 1, 8 * US);
	assert_source(c, NOISE_IRQ, "irq2", 1, 2 * US);
}

/* ---- what no source has ---- */

static void delivery_is_learnt(void **state)
{
	struct scene *s = *state;
	/* too few to know: 10 µs before, 2 µs between and after */
	scene_detour(s, 1 * MS, 1 * MS + 40 * US);
	scene_irq(s, 1 * MS + 12 * US, 1 * MS + 20 * US, 1);
	scene_irq(s, 1 * MS + 25 * US, 1 * MS + 35 * US, 1);
	const struct noise_cpu *c = played(s);
	assert_class(c, NOISE_DELIVERY, (10 + 2 + 2) * US);
	assert_class(c, NOISE_UNEXPLAINED, (2 + 3 + 3) * US);
	/* then twice the median, but not less than 1, 0.5, 0.5 µs */
	for (uint64_t i = 0; i < 100; i++) {
		uint64_t t = 1001 * MS + i * 3333 * US;
		scene_detour(s, t, t + 11200);
		scene_irq(s, t + 6 * US, t + 8 * US, 1);
		scene_irq(s, t + 9 * US, t + 11 * US, 1);
	}
	/* steal before an interrupt teaches nothing */
	for (uint64_t i = 0; i < 200; i++) {
		uint64_t t = 1501 * MS + i * 1111 * US;
		scene_detour(s, t, t + 100 * US);
		s->detours.items[s->detours.count - 1].steal_ns = 94 * US;
		scene_irq(s, t + 96 * US, t + 100 * US, 2);
	}
	scene_detour(s, 1900 * MS, 1900 * MS + 60 * US);
	scene_irq(s, 1900 * MS + 30 * US, 1900 * MS + 40 * US, 1);
	scene_irq(s, 1900 * MS + 48 * US, 1900 * MS + 50 * US, 1);
	c = played(s);
	/* of the 96 µs before each of those interrupts 94 were stolen */
	assert_class(c, NOISE_DELIVERY,
		     14 * US + 100 * 7200 + 12 * US + 2 * US + 500 + 200 * 2 * US);
	assert_class(c, NOISE_UNEXPLAINED, 8 * US + 18 * US + 6 * US + 9500);
}

/* Attribute by time, not by presence: the gap seen on the development machine. */
static void a_tick_within_stolen_time_gets_only_its_own_part(void **state)
{
	struct scene *s = *state;
	const uint64_t t = 100 * MS;
	scene_detour(s, t, t + 3750 * US);
	s->detours.items[0].steal_ns = 3710 * US;
	scene_irq(s, t + 3718 * US, t + 3728 * US, 1);
	scene_softirq(s, t + 3728 * US, t + 3749 * US, 1);
	const struct noise_cpu *c = played(s);
	assert_source(c, NOISE_STEAL, "steal", 1, 3710 * US);
	assert_source(c, NOISE_IRQ, "irq1", 1, 10 * US);
	assert_source(c, NOISE_SOFTIRQ, "softirq:s1", 1, 21 * US);
	assert_source(c, NOISE_DELIVERY, "delivery", 1, 9 * US);
	assert_class(c, NOISE_UNEXPLAINED, 0);
	assert_combination(c, "irq1_softirq:s1_steal", 1);
	assert_int_equal(c->total.overlap_ns, 3750 * US);
}

static void stolen_time_is_taken_from_the_longest_piece(void **state)
{
	struct scene *s = *state;
	const uint64_t t = 100 * MS;
	/* alone, and not all of it */
	scene_detour(s, t, t + 100 * US);
	s->detours.items[0].steal_ns = 99500;
	/* in an interrupt: the longest piece of it */
	scene_detour(s, 2 * t, 2 * t + 1000 * US);
	s->detours.items[1].steal_ns = 800 * US;
	scene_event(s, 2 * t, TRACE_ENTER, LEDGER_SOFTIRQ, 1);
	scene_irq(s, 2 * t + 900 * US, 2 * t + 950 * US, 1);
	scene_event(s, 2 * t + 1000 * US, TRACE_LEAVE, LEDGER_SOFTIRQ, 1);
	/* more than the detour is long */
	scene_detour(s, 3 * t, 3 * t + 50 * US);
	s->detours.items[2].steal_ns = 60 * US;
	scene_irq(s, 3 * t + 2 * US, 3 * t + 49 * US, 2);
	/* too little to be in the name */
	scene_detour(s, 4 * t, 4 * t + 100 * US);
	s->detours.items[3].steal_ns = 19 * US;
	scene_irq(s, 4 * t, 4 * t + 81 * US, 3);
	const struct noise_cpu *c = played(s);
	assert_source(c, NOISE_SOFTIRQ, "softirq:s1", 1, 150 * US);
	assert_source(c, NOISE_IRQ, "irq1", 1, 50 * US);
	assert_source(c, NOISE_IRQ, "irq2", 1, 0);
	/* it fits into the gap after the interrupt */
	assert_source(c, NOISE_IRQ, "irq3", 1, 81 * US);
	assert_source(c, NOISE_STEAL, "steal", 4, 99500 + (800 + 50 + 19) * US);
	assert_class(c, NOISE_UNEXPLAINED, 500);
	assert_combination(c, "steal", 1);
	assert_combination(c, "softirq:s1_steal", 1);
	assert_combination(c, "irq2_steal", 1);
	assert_combination(c, "irq3", 1);
	assert_int_equal(scene_combination(c, "irq2_steal")->told.ns, 0);
}

/* ---- SMIs ---- */

static void count_smis(struct scene *s, uint64_t smis)
{
	s->round.smis_told = true;
	s->round.smis = smis;
}

/* Firmware ran for 80 us; the tick that was due meanwhile came right after. */
static void the_unexplained_part_of_a_detour_with_an_smi_is_firmwares(void **state)
{
	struct scene *s = *state;
	const uint64_t t = 100 * MS;
	scene_detour(s, t, t + 80 * US); /* alone */
	scene_detour(s, 2 * t, 2 * t + 95 * US);
	scene_irq(s, 2 * t + 91 * US, 2 * t + 95 * US, 1);
	scene_detour(s, 3 * t, 3 * t + 70 * US); /* none was counted in this one */
	s->detours.items[0].smis = s->detours.items[1].smis = 1;
	count_smis(s, 5);
	const struct noise_cpu *c = played(s);
	assert_source(c, NOISE_SMI, "smi", 2, (80 + 81) * US);
	assert_source(c, NOISE_IRQ, "irq1", 1, 4 * US);
	assert_class(c, NOISE_DELIVERY, 10 * US);
	assert_class(c, NOISE_UNEXPLAINED, 70 * US);
	assert_combination(c, "smi", 1);
	assert_combination(c, "irq1_smi", 1);
	assert_combination(c, "unexplained", 1);
	assert_int_equal(c->smi_count, 5);
	assert_int_equal(c->smi_explained, 2);
}

/* One SMI is one stretch, the longest. One in a handler leaves none, and is not looked for in what
 * is left elsewhere. */
static void an_smi_takes_one_stretch(void **state)
{
	struct scene *s = *state;
	const uint64_t t = 100 * MS;
	scene_detour(s, t, t + 100 * US);
	scene_irq(s, t + 30 * US, t + 40 * US, 1);
	scene_detour(s, 2 * t, 2 * t + 50 * US);
	scene_irq(s, 2 * t, 2 * t + 49500, 2);
	scene_detour(s, 3 * t, 3 * t + 100 * US);
	scene_irq(s, 3 * t + 30 * US, 3 * t + 40 * US, 1);
	s->detours.items[0].smis = s->detours.items[1].smis = 1;
	s->detours.items[2].smis = 1000000; /* more than there are stretches */
	count_smis(s, 1000002);
	const struct noise_cpu *c = played(s);
	/* 10 of the 30 us before the handler, and 2 of the 60 after it, may be delivery */
	assert_source(c, NOISE_SMI, "smi", 2, (58 + 20 + 58) * US);
	assert_class(c, NOISE_UNEXPLAINED, 20 * US);
	assert_class(c, NOISE_DELIVERY, 2 * 12 * US + 500);
	assert_int_equal(c->smi_explained, 1000001);
}

/* Unknown is not none. */
static void without_a_count_no_smi_is_known(void **state)
{
	struct scene *s = *state;
	scene_detour(s, 1 * MS, 1 * MS + 80 * US);
	const struct noise_cpu *c = played(s);
	assert_true(c->smi_count == ABSENT_NS && c->smi_explained == ABSENT_NS);
	assert_false(noise_smis_told(&s->noise));
	count_smis(s, 0);
	scene_detour(s, 1001 * MS, 1001 * MS + 80 * US);
	played(s);
	assert_true(c->smi_count == 0 && c->smi_explained == 0);
	assert_true(noise_smis_told(&s->noise));
	assert_class(c, NOISE_UNEXPLAINED, 160 * US);
}

/* What SMIs are put down to needs the kernel's word on everything else. */
static void without_the_kernel_smis_are_only_counted(void **state)
{
	struct scene *s = *state;
	s->round.kernel = false;
	scene_detour(s, 1 * MS, 1 * MS + 80 * US);
	s->detours.items[0].smis = 1;
	count_smis(s, 1);
	const struct noise_cpu *c = played(s);
	assert_class(c, NOISE_UNEXPLAINED, 80 * US);
	assert_int_equal(c->smi_count, 1);
	assert_true(c->smi_explained == ABSENT_NS);
}

/* SMIs every 4 ms would pass for the tick of a host. */
static void smis_are_no_tick_of_a_host(void **state)
{
	struct scene *s = *state;
	for (uint64_t i = 0; i < 240; i++) {
		scene_detour(s, (1 + 4 * i) * MS, (1 + 4 * i) * MS + 90 * US);
		s->detours.items[i].smis = 1;
	}
	count_smis(s, 240);
	const struct noise_cpu *c = played(s);
	assert_int_equal(c->host.fitted, 0);
	assert_int_equal(c->host.looked_at, 0);
	assert_source(c, NOISE_SMI, "smi", 240, 240 * 90 * US);
}

/* ---- the host ---- */

static double exponential(struct random *r, double mean)
{
	return -mean * log(1 - random_unit(r));
}

static int by_begin(const void *a, const void *b)
{
	const struct detour *x = a, *y = b;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static void add_noise(struct scene *s, struct random *r, double mean_ns)
{
	uint64_t from = s->round.begin_ns;
	for (double t = exponential(r, mean_ns); t < 999e6; t += exponential(r, mean_ns))
		scene_detour(s, from + (uint64_t)t,
			     from + (uint64_t)t + 2000 + random_below(r, 3000));
}

static void detours_in_phase_with_the_hosts_tick_are_the_hosts(void **state)
{
	struct scene *s = *state;
	struct random r = { 11 };
	const struct noise_cpu *c = NULL;
	uint64_t comb = 0, comb_ns = 0, all = 0;
	for (int round = 0; round < 5; round++) {
		uint64_t from = s->round.begin_ns;
		for (int i = 0; i < 990; i++) {
			uint64_t at = from + (uint64_t)(217e3 + i * 1e6 * (1 + 40e-6)) +
				      random_below(&r, 3000);
			uint64_t ns = 8000 + random_below(&r, 20000);
			scene_detour(s, at, at + ns);
			comb++;
			comb_ns += ns;
		}
		add_noise(s, &r, 700e3);
		qsort(s->detours.items, s->detours.count, sizeof *s->detours.items, by_begin);
		all += s->detours.count;
		c = played(s);
	}
	assert_int_equal(c->host.rounds, 5);
	assert_int_equal(c->host.fitted, 5);
	assert_near(c->host.period_ns, 1e6 * (1 + 40e-6), 1);
	assert_true(c->host.width_ns >= 5000 && c->host.width_ns < 10000);
	assert_near(c->host.chance, 2 * c->host.width_ns / c->host.period_ns, 1e-6);
	/* some have hardly a rest behind the one before */
	assert_in_range(c->host.looked_at, all * 98 / 100, all);
	/* all of the comb, and few of the others; some of it is moved by one right before */
	double others = (double)(all - comb);
	assert_true(c->host.in_phase >= comb * 98 / 100);
	assert_true((double)c->host.in_phase <= (double)comb + others * 3 * c->host.chance + 10);
	assert_near((double)c->total.class_ns[NOISE_HOST] / (double)comb_ns, 1, 0.03);
	assert_true(c->total.class_ns[NOISE_UNEXPLAINED] > 0);
	const struct noise_combination *x = scene_combination(c, "host-periodic");
	assert_int_equal(x->seen.count, c->host.in_phase);
	assert_int_equal(x->told.ns, 0);
}

static void no_tick_of_a_host_is_found_in_random_noise(void **state)
{
	struct scene *s = *state;
	struct random r = { 12 };
	const struct noise_cpu *c = NULL;
	for (int round = 0; round < 50; round++) {
		add_noise(s, &r, 700e3);
		c = played(s);
	}
	assert_int_equal(c->host.rounds, 50);
	assert_int_equal(c->host.fitted, 0);
	assert_int_equal(c->host.in_phase, 0);
	assert_class(c, NOISE_HOST, 0);
	assert_class(c, NOISE_UNEXPLAINED, c->total.ns);
	assert_combination(c, "unexplained", c->total.count);
	assert_int_equal(c->total.overlap_ns, 0);
}

/* The rest of a detour that has a source, too. */
/* Without the kernel's word it may be the machine's own tick. */
static void without_the_kernel_no_tick_is_called_the_hosts(void **state)
{
	struct scene *s = *state;
	s->round.kernel = false;
	for (uint64_t i = 0; i < 240; i++)
		scene_detour(s, (1 + 4 * i) * MS, (1 + 4 * i) * MS + 10 * US);
	const struct noise_cpu *c = played(s);
	assert_int_equal(c->host.fitted, 0);
	assert_class(c, NOISE_UNEXPLAINED, 240 * 10 * US);
}

static void the_hosts_tick_is_found_before_an_interrupt_too(void **state)
{
	struct scene *s = *state;
	for (uint64_t i = 1; i < 990; i++) {
		uint64_t t = i * MS;
		bool both = i % 100 == 0;
		scene_detour(s, t, t + (both ? 60 : 20) * US);
		if (both)
			scene_irq(s, t + 40 * US, t + 60 * US, 1);
		if (i % 10 == 5) { /* where 6 µs of delivery are learnt: 12 of the 40 can be it */
			scene_detour(s, t + 300 * US, t + 310 * US);
			scene_irq(s, t + 306 * US, t + 310 * US, 1);
		}
	}
	const struct noise_cpu *c = played(s);
	assert_int_equal(c->host.fitted, 1);
	assert_int_equal(c->host.in_phase, 989);
	assert_int_equal(c->host.looked_at, 989);
	assert_class(c, NOISE_DELIVERY, (99 * 6 + 9 * 12) * US);
	assert_class(c, NOISE_HOST, (980 * 20 + 9 * 28) * US);
	assert_class(c, NOISE_UNEXPLAINED, 0);
	assert_combination(c, "irq1", 99);
	assert_combination(c, "irq1_host-periodic", 9);
	assert_combination(c, "host-periodic", 980);
}

static void without_the_kernel_only_stolen_time_is_explained(void **state)
{
	struct scene *s = *state;
	s->round.kernel = false;
	scene_detour(s, 1 * MS, 1 * MS + 10 * US);
	s->detours.items[0].steal_ns = 7 * US;
	scene_irq(s, 1 * MS, 1 * MS + 10 * US, 1);
	const struct noise_cpu *c = played(s);
	assert_class(c, NOISE_STEAL, 7 * US);
	assert_class(c, NOISE_UNEXPLAINED, 3 * US);
	assert_int_equal(c->sources.count, 2);
	assert_int_equal(c->events, 0);
	assert_combination(c, "steal", 1);
}

/* ---- names ---- */

static void combinations_name_repeats_once_and_at_most_eight(void **state)
{
	struct scene *s = *state;
	const uint64_t t = 1 * MS;
	/* equal ones that follow each other are named once; eight, then an ellipsis */
	scene_detour(s, t, t + 100 * US);
	for (uint64_t i = 0; i < 5; i++)
		scene_irq(s, t + i * US, t + (i + 1) * US, 1);
	scene_irq(s, t + 5 * US, t + 6 * US, 2);
	scene_irq(s, t + 6 * US, t + 7 * US, 1);
	scene_detour(s, 2 * t, 2 * t + 10 * US);
	for (uint32_t i = 0; i < 10; i++)
		scene_irq(s, 2 * t + i * US, 2 * t + (i + 1) * US, 1 + i % 5);
	/* eight long ones do not fit */
	for (uint32_t i = 0; i < 8; i++) {
		struct trace_name n = { .cause = LEDGER_IRQ, .source = 60 + i };
		memset(n.name, 'a' + (int)i, sizeof n.name - 1);
		array_push(&s->trace.names, n);
	}
	scene_detour(s, 3 * t, 3 * t + 100 * US);
	s->detours.items[2].steal_ns = 92 * US;
	for (uint32_t i = 0; i < 8; i++)
		scene_irq(s, 3 * t + i * US, 3 * t + (i + 1) * US, 60 + i);
	const struct noise_cpu *c = played(s);
	assert_combination(c, "irq1_irq2_irq1", 1);
	assert_combination(c, "irq1_irq2_irq3_irq4_irq5_irq1_irq2_irq3_…", 1);
	const char *name = c->combinations.items[2].name;
	assert_int_equal(strlen(name), 3 * 48 + strlen("…_steal"));
	assert_string_equal(name + 3 * 48, "…_steal");
}

static void sources_beyond_the_bound_are_counted_as_others(void **state)
{
	struct scene *s = *state;
	char comm[16];
	for (int i = 0; i < 3000; i++) {
		uint64_t t = 1 * MS + (uint64_t)i * 300 * US;
		snprintf(comm, sizeof comm, "task %d", i);
		scene_detour(s, t, t + 10 * US);
		scene_switch(s, t, LOOP, 1000 + i, comm);
		scene_switch(s, t + 10 * US, 1000 + i, LOOP, "loop");
	}
	const struct noise_cpu *c = played(s);
	assert_int_equal(c->sources.count, NOISE_SOURCES_MAX + 1);
	assert_source(c, NOISE_THREAD, "task 7", 1, 10 * US);
	assert_source(c, NOISE_THREAD, "others", 3000 - NOISE_SOURCES_MAX,
		      (3000 - NOISE_SOURCES_MAX) * 10 * US);
	assert_combination(c, "others", 3000 - NOISE_SOURCES_MAX);
	/* an inferred class always finds room */
	scene_detour(s, 1500 * MS, 1500 * MS + 10 * US);
	c = played(s);
	assert_source(c, NOISE_UNEXPLAINED, "unexplained", 1, 10 * US);
}

/* ---- in time ---- */

static void parts_are_merged(void **state)
{
	struct scene *s = *state;
	for (uint32_t round = 0; round < 300; round++) {
		uint64_t t = s->round.begin_ns + 10 * MS;
		s->round.turns = 10, s->round.unwatched_ns = 7, s->round.lost = 1;
		scene_detour(s, t, t + (1 + round) * US);
		scene_irq(s, t, t + (1 + round) * US, 1 + round % 9);
		played(s);
		assert_in_range(s->noise.parts.count, 1, NOISE_PARTS_MAX);
	}
	const struct noise *n = &s->noise;
	const struct noise_cpu *c = &n->cpus.items[0];
	assert_int_equal(n->part_rounds, 4);
	assert_int_equal(n->parts.count, 75);
	for (size_t i = 0; i < n->parts.count; i++) {
		const struct noise_part *p = &n->parts.items[i];
		assert_int_equal(p->begin_ns, i * 4000 * MS);
		assert_int_equal(p->window_ns, 4000ul * MS);
		assert_int_equal(p->count, 4);
		assert_int_equal(p->ns, (4 * (1 + 4 * i) + 6) * US);
		assert_int_equal(p->shares.count, 4);
	}
	assert_int_equal(n->elapsed_ns, 300000ul * MS);
	assert_int_equal(c->rounds, 300);
	assert_int_equal(c->turns, 3000);
	assert_int_equal(c->unwatched_ns, 2100);
	assert_int_equal(c->lost, 300);
	assert_int_equal(c->window_ns, 300000ul * MS);
}

static void a_part_holds_the_detours_of_all_cpus(void **state)
{
	(void)state;
	const uint32_t cpus[] = { 4, 9 };
	static const struct detour one[] = { { 2 * MS, 2 * MS + 10, 0 } },
				   two[] = { { 3 * MS, 3 * MS + 20, 0 },
					     { 4 * MS, 4 * MS + 30, 0 } };
	struct noise n;
	noise_init(&n, cpus, 2);
	struct jitter *j = jitter_new(&n);
	const struct detour_round rounds[] = {
		{ .cpu = 4,
		  .begin_ns = 2 * MS,
		  .end_ns = 9 * MS,
		  .detours = one,
		  .detour_count = 1 },
		{ .cpu = 9,
		  .begin_ns = 1 * MS,
		  .end_ns = 8 * MS,
		  .detours = two,
		  .detour_count = 2 },
	};
	jitter_add_round(j, rounds, 2);
	assert_null(noise_sums_wrong(&n));
	assert_int_equal(n.begin_ns, 1 * MS);
	assert_int_equal(n.elapsed_ns, 8 * MS);
	assert_int_equal(n.parts.count, 1);
	assert_int_equal(n.parts.items[0].window_ns, 14 * MS);
	assert_int_equal(n.parts.items[0].count, 3);
	assert_int_equal(n.parts.items[0].shares.count, 2);
	assert_int_equal(n.parts.items[0].shares.items[1].cpu, 1);
	assert_int_equal(n.parts.items[0].shares.items[1].ns, 50);
	assert_int_equal(n.worst.items[0].cpu, 9);
	assert_int_equal(n.worst.items[2].ns, 10);
	jitter_free(j);
	noise_release(&n);
}

static void the_longest_detours_are_kept_with_their_surroundings(void **state)
{
	struct scene *s = *state;
	struct random r = { 13 };
	uint64_t longest[400];
	s->noise.worst_max = 20;
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 100; i++) {
			uint64_t t = s->round.begin_ns + (1 + (uint64_t)i * 5) * MS;
			uint64_t ns = longest[round * 100 + i] =
				1000 + random_below(&r, 5 * MS / 2);
			scene_irq(s, t - 500 * US, t - 499 * US, 2);
			scene_irq(s, t - 1100 * US, t - 1099 * US, 3);
			scene_detour(s, t, t + ns);
			scene_irq(s, t, t + ns, 1);
			scene_softirq(s, t + ns + 600 * US, t + ns + 601 * US, 2);
			scene_softirq(s, t + ns + 1001 * US, t + ns + 1002 * US, 2);
		}
		played(s);
	}
	const struct noise *n = &s->noise;
	assert_int_equal(n->worst.count, 20);
	for (size_t i = 0; i < n->worst.count; i++) {
		const struct noise_worst *x = &n->worst.items[i];
		uint64_t above = 0;
		for (size_t k = 0; k < 400; k++)
			above += longest[k] > x->ns;
		assert_int_equal(above, i);
		assert_int_equal(x->cpu, 3);
		assert_string_equal(x->name, "irq1");
		assert_int_equal(x->class_ns[NOISE_IRQ], x->ns);
		static const uint8_t kinds[] = { TRACE_ENTER, TRACE_LEAVE, TRACE_DETOUR_BEGIN,
						 TRACE_ENTER, TRACE_LEAVE, TRACE_DETOUR_END,
						 TRACE_ENTER, TRACE_LEAVE };
		assert_true(x->trace.present);
		assert_int_equal(x->trace.lost, 0);
		assert_int_equal(x->trace.events.count, sizeof kinds);
		for (size_t k = 0; k < sizeof kinds; k++)
			assert_int_equal(x->trace.events.items[k].kind, kinds[k]);
		assert_int_equal(x->trace.events.items[2].at_ns, x->begin_ns);
		assert_int_equal(x->trace.events.items[5].at_ns, x->begin_ns + x->ns);
		assert_int_equal(x->trace.names.count, 3);
	}
}

static void the_trace_of_a_long_detour_is_bounded(void **state)
{
	struct scene *s = *state;
	const uint64_t t = 100 * MS;
	for (uint64_t i = 0; i < 300; i++)
		scene_irq(s, t - 900 * US + i * US, t - 900 * US + i * US + 10, 2);
	scene_detour(s, t, t + 1 * MS);
	for (uint64_t i = 0; i < 200; i++)
		scene_irq(s, t + i * US, t + i * US + 500, 1);
	for (uint64_t i = 0; i < 300; i++)
		scene_irq(s, t + 1001 * US + i * US, t + 1001 * US + i * US + 10, 3);
	played(s);
	const struct trace *x = &s->noise.worst.items[0].trace;
	assert_int_equal(x->events.count, 512);
	assert_int_equal(x->lost, 1600 - 510);
	assert_int_equal(x->events.items[110].kind, TRACE_DETOUR_BEGIN);
	assert_int_equal(x->events.items[511].kind, TRACE_DETOUR_END);
	/* the detour alone has more */
	scene_detour(s, 11 * t, 11 * t + 2 * MS);
	for (uint64_t i = 0; i < 1000; i++)
		scene_irq(s, 11 * t + i * US, 11 * t + i * US + 500, 1);
	played(s);
	x = &s->noise.worst.items[0].trace;
	assert_int_equal(x->events.count, 512);
	assert_int_equal(x->events.items[0].kind, TRACE_DETOUR_BEGIN);
	assert_int_equal(x->events.items[511].kind, TRACE_DETOUR_END);
	assert_int_equal(x->events.items[511].at_ns, 11 * t + 2 * MS);
	assert_int_equal(s->noise.worst.count, 2);
	s->noise.worst_max = 0;
}

static void a_round_without_detours_has_no_sources(void **state)
{
	struct scene *s = *state;
	const struct noise_cpu *c = played(s);
	assert_int_equal(c->total.count, 0);
	assert_int_equal(c->rounds, 1);
	assert_int_equal(s->noise.parts.count, 1);
	assert_int_equal(c->sources.count, 0);
	jitter_free(NULL);
}

/* By an event within it, or by a time that no speed explains; the second round has no probes. */
static void interrupted_probes_are_left_out_of_the_speed(void **state)
{
	struct scene *s = *state;
	struct speed_sample samples[20];
	uint64_t begin = s->round.begin_ns;
	for (size_t i = 0; i < 20; i++)
		samples[i] = (struct speed_sample){ begin + (i + 1) * 10 * MS,
						    { 700, 1500, 700, 2000 },
						    0 };
	samples[7].ns[SPEED_PORTS] = 50000;
	scene_irq(s, samples[3].at_ns + 1000, samples[3].at_ns + 2000, 1);
	scene_irq(s, samples[4].at_ns + 100000, samples[4].at_ns + 101000, 1);
	s->round.speeds = samples;
	s->round.speed_count = 20;
	const struct noise_cpu *c = played(s);
	uint64_t probes = 0, left_out = 0;
	for (size_t i = 0; i < c->speeds.count; i++) {
		probes += c->speeds.items[i].probes;
		left_out += c->speeds.items[i].left_out;
		assert_true(fabs(c->speeds.items[i].ns[SPEED_PORTS] - 1500) < 1e-3);
	}
	assert_int_equal(probes, 18);
	assert_int_equal(left_out, 2);
	assert_int_equal(samples[3].flags, 0); /* the collector's are not changed */
	s->round.speed_count = 0;
	size_t points = c->speeds.count;
	played(s);
	assert_int_equal(s->noise.cpus.items[0].speeds.count, points);
}

#define SCENE(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(a_detour_is_split_into_its_interrupt_and_delivery),
		SCENE(sources_in_succession_get_their_time_and_one_combination),
		SCENE(detours_of_equal_length_are_told_apart_by_time),
		SCENE(nested_sources_are_netted_out),
		SCENE(work_items_and_turns_of_other_tasks_are_told_apart),
		SCENE(faults_and_nmis_get_their_own_time),
		SCENE(a_real_time_loop_that_waits_for_fair_tasks_is_throttled),
		SCENE(another_tare_noise_is_named_by_its_process),
		SCENE(a_source_without_a_name_is_called_by_its_number),
		SCENE(a_source_without_an_end_lasts_until_the_next_known_moment),
		SCENE(a_source_without_a_begin_lasts_since_the_last_known_moment),
		SCENE(hundreds_of_nested_interrupts_do_no_harm),
		SCENE(clocks_that_are_some_ns_apart_do_not_hide_a_source),
		SCENE(close_detours_each_get_their_own_events),
		SCENE(events_out_of_order_are_sorted),
		SCENE(delivery_is_learnt),
		SCENE(a_tick_within_stolen_time_gets_only_its_own_part),
		SCENE(stolen_time_is_taken_from_the_longest_piece),
		SCENE(the_unexplained_part_of_a_detour_with_an_smi_is_firmwares),
		SCENE(an_smi_takes_one_stretch),
		SCENE(without_a_count_no_smi_is_known),
		SCENE(without_the_kernel_smis_are_only_counted),
		SCENE(smis_are_no_tick_of_a_host),
		SCENE(detours_in_phase_with_the_hosts_tick_are_the_hosts),
		SCENE(without_the_kernel_no_tick_is_called_the_hosts),
		SCENE(no_tick_of_a_host_is_found_in_random_noise),
		SCENE(the_hosts_tick_is_found_before_an_interrupt_too),
		SCENE(without_the_kernel_only_stolen_time_is_explained),
		SCENE(combinations_name_repeats_once_and_at_most_eight),
		SCENE(sources_beyond_the_bound_are_counted_as_others),
		SCENE(parts_are_merged),
		cmocka_unit_test(a_part_holds_the_detours_of_all_cpus),
		SCENE(the_longest_detours_are_kept_with_their_surroundings),
		SCENE(the_trace_of_a_long_detour_is_bounded),
		SCENE(a_round_without_detours_has_no_sources),
		SCENE(interrupted_probes_are_left_out_of_the_speed),
	};
	return cmocka_run_group_tests_name("jitter", tests, NULL, NULL);
}
