/* Two runs against each other where the truth is known, and how often equal ones are said to
 * differ. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../fixtures/near.h"
#include "protocol/ttp/compare.h"
#include "stats/random.h"
#include "stats/tests.h"

#define MS UINT64_C(1000000)
#define EXECUTIONS 10

static const struct ttp_options adapted = { .form = TTP_ADAPTED };

/* About normal. */
static double wobble(struct random *r)
{
	double sum = -6;
	for (int i = 0; i < 12; i++)
		sum += random_unit(r);
	return sum;
}

/* So many ms of CPU with a deviation of 1 %, and 50 ms of the device. */
static struct query_execution make(struct random *r, uint32_t number, double ms, uint64_t plan)
{
	uint64_t cpu = (uint64_t)((ms + 50) * 1e6 * (1 + 0.01 * wobble(r))) - 50 * MS;
	struct query_execution x = { .number = number,
				     .measured_ns = cpu + 80 * MS,
				     .plan = plan,
				     .query_process = 5,
				     .query_tasks = 1,
				     .own_device_ns = 50 * MS,
				     .others_device_ns = 0 };
	x.usage[QUERY_QUERY].value[QUERY_USER_NS] = cpu;
	x.usage[QUERY_QUERY].value[QUERY_BLKIO_NS] = 60 * MS;
	x.usage[QUERY_QUERY].processes = 1;
	x.overall_ns[OVERALL_USER] = cpu;
	return x;
}

static void add_at(struct query_run *run, struct random *r, uint32_t query, uint64_t cardinality,
		   double ms, uint64_t plan)
{
	array_push(&run->at, ((struct query_at){ .query = query, .cardinality = cardinality }));
	for (uint32_t i = 1; i <= EXECUTIONS; i++)
		array_push(&run->at.items[run->at.count - 1].executions, make(r, i, ms, plan));
	run->queries = query > run->queries ? query : run->queries;
}

static void add_text(struct query_run *run, uint32_t query, const char *sql)
{
	array_push(&run->texts, ((struct query_text){ query, strdup("q"), strdup(sql) }));
}

/* Both runs judged and compared, and all of it released. */
static void compare(struct query_run *base, struct query_run *other, enum ttp_time time,
		    void (*look)(const struct ttp_comparison *))
{
	struct ttp_result a, b;
	struct ttp_comparison c;
	ttp_judge(base, &adapted, &a);
	ttp_judge(other, &adapted, &b);
	ttp_compare(base, &a, other, &b, time, &c);
	look(&c);
	ttp_comparison_release(&c);
	ttp_result_release(&a);
	ttp_result_release(&b);
	query_run_release(base);
	query_run_release(other);
}

/* ---- the truth ---- */

static void look_at_changes(const struct ttp_comparison *c)
{
	static const enum ttp_change changes[] = { TTP_SAME,	  TTP_SLOWER,	 TTP_FASTER,
						   TTP_SAME,	  TTP_ONLY_BASE, TTP_ONLY_BASE,
						   TTP_ONLY_OTHER };
	assert_int_equal(c->time, TTP_DEVICE);
	assert_int_equal(c->pairs.count, 7);
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(c->pairs.items[i].change, changes[i]);
		assert_int_equal(c->pairs.items[i].same_plan, i != 3);
	}
	const struct ttp_pair *slower = &c->pairs.items[1], *dropped = &c->pairs.items[5];
	assert_int_equal(slower->query, 1);
	assert_int_equal(slower->cardinality, 2000);
	assert_near(slower->time.ratio, 1.1, 0.02);
	assert_true(slower->time.low < 1.1 && slower->time.high > 1.1 && slower->time.low > 1.05);
	assert_near(slower->time.other_ns / slower->time.base_ns, 1.1, 0.02);
	assert_true(slower->time.p < 0.001);
	assert_near(c->pairs.items[2].time.ratio, 0.9, 0.02);
	assert_null(c->pairs.items[4].other);
	assert_non_null(dropped->other); /* it is there, but was not kept */
	assert_true(isnan(dropped->time.ratio));
	assert_int_equal(c->pairs.items[6].query, 4);
	assert_null(c->pairs.items[6].base);
	assert_int_equal(c->compared, 4);
	assert_int_equal(c->slower, 1);
	assert_int_equal(c->faster, 1);
	assert_int_equal(c->plan_changes, 1);
	assert_near(c->ratio, pow(1.1 * 0.9, 0.25), 0.01);
	assert_true(c->ratio_low < c->ratio && c->ratio < c->ratio_high);
	assert_true(c->ratio_high - c->ratio_low < 0.02);
}

static void known_changes_of_time_and_plan_are_found(void **state)
{
	(void)state;
	struct random r = { 1 };
	struct query_run base = { .dbms = "sqlite", .cpus = 2 },
			 other = { .dbms = "sqlite", .cpus = 2 };
	add_at(&base, &r, 1, 1000, 100, 7);
	add_at(&base, &r, 1, 2000, 200, 7);
	add_at(&base, &r, 2, 1000, 300, 8);
	add_at(&base, &r, 2, 2000, 400, 8);
	add_at(&base, &r, 3, 1000, 100, 9);
	add_at(&base, &r, 3, 2000, 100, 9);
	add_at(&other, &r, 1, 1000, 100, 7);
	add_at(&other, &r, 1, 2000, 250 * 1.1 - 50, 7);
	add_at(&other, &r, 2, 1000, 350 * 0.9 - 50, 8);
	add_at(&other, &r, 2, 2000, 400, 5); /* another plan, which is not slower */
	add_at(&other, &r, 3, 2000, 100, 9);
	for (size_t k = 0; k < 6; k++)
		other.at.items[4].executions.items[k].timed_out = true;
	add_at(&other, &r, 4, 1000, 100, 9);
	compare(&base, &other, TTP_TIMES, look_at_changes);
}

/* ---- which time ---- */

static void look_for_blocked(const struct ttp_comparison *c)
{
	assert_int_equal(c->time, TTP_BLOCKED);
}

static void look_for_measured(const struct ttp_comparison *c)
{
	assert_int_equal(c->time, TTP_MEASURED);
	assert_int_equal(c->pairs.count, 1);
	assert_near(c->pairs.items[0].time.base_ns, 180e6, 3e6);
}

static void two_runs_are_compared_by_the_best_time_that_both_have(void **state)
{
	(void)state;
	for (int refused = 0; refused < 3; refused++) {
		struct random r = { 2 };
		struct query_run base = { .dbms = "a", .cpus = 2 },
				 other = { .dbms = "a", .cpus = 2, .io_by_process = refused == 1 };
		add_at(&base, &r, 1, 1000, 100, 7);
		add_at(&other, &r, 1, 1000, 100, 7);
		/* one execution without it is enough */
		other.at.items[0].executions.items[3].own_device_ns = ABSENT_NS;
		compare(&base, &other, refused == 2 ? TTP_MEASURED : TTP_TIMES,
			refused ? look_for_measured : look_for_blocked);
	}
}

/* ---- which query ---- */

static void look_for_texts(const struct ttp_comparison *c)
{
	assert_int_equal(c->pairs.count, 4);
	assert_int_equal(c->pairs.items[0].query, 1);
	assert_int_equal(c->pairs.items[0].other->query, 2);
	assert_int_equal(c->pairs.items[1].query, 2);
	assert_int_equal(c->pairs.items[1].other->query, 1);
	assert_int_equal(c->pairs.items[2].change, TTP_ONLY_BASE);
	assert_int_equal(c->pairs.items[3].change, TTP_ONLY_OTHER);
	assert_int_equal(c->slower + c->faster, 0);
}

static void queries_are_paired_by_their_text(void **state)
{
	(void)state;
	struct random r = { 3 };
	struct query_run base = { .dbms = "a", .cpus = 2 }, other = { .dbms = "b", .cpus = 2 };
	for (uint32_t i = 1; i <= 3; i++) {
		add_at(&base, &r, i, 0, 100 * i, 7);
		add_at(&other, &r, i, 0, i == 3 ? 300 : 300 - 100 * i, 8);
	}
	add_text(&base, 1, "SELECT a  FROM t");
	add_text(&base, 2, "SELECT b\nFROM t ");
	add_text(&base, 3, "SELECT c FROM t");
	add_text(&other, 1, "SELECT b FROM t");
	add_text(&other, 2, "SELECT a FROM t");
	add_text(&other, 3, "SELECT cFROM t");
	compare(&base, &other, TTP_TIMES, look_for_texts);
}

static void look_for_nothing(const struct ttp_comparison *c)
{
	assert_int_equal(c->pairs.count, 0);
	assert_true(isnan(c->ratio));
}

static void runs_without_executions_have_nothing_to_compare(void **state)
{
	(void)state;
	struct query_run base = { 0 }, other = { 0 };
	compare(&base, &other, TTP_TIMES, look_for_nothing);
}

/* A parallel plan: more CPU, and the user waits for less. */
static void make_parallel(struct query_run *base, struct query_run *other)
{
	struct random r = { 6 };
	add_at(base, &r, 1, 0, 100, 1);
	add_at(other, &r, 1, 0, 140, 2);
	array_each(x, &other->at.items[0].executions) {
		x->measured_ns = 100 * MS + x->number * 1000;
		x->query_tasks = 3;
	}
}

static void look_for_elapsed(const struct ttp_comparison *c)
{
	const struct ttp_pair *p = &c->pairs.items[0];
	assert_int_equal(c->time, TTP_DEVICE);
	assert_near(p->time.ratio, 190. / 150, 0.03);
	assert_near(p->elapsed.ratio, 100. / 180, 0.03);
	assert_near(c->elapsed_ratio, p->elapsed.ratio, 1e-9);
	assert_int_equal(p->change, TTP_FASTER);
	assert_int_equal(p->by, TTP_MEASURED);
	assert_int_equal(c->slower, 0);
	assert_int_equal(c->contrary, 1);
}

static void look_for_device(const struct ttp_comparison *c)
{
	assert_int_equal(c->pairs.items[0].change, TTP_SLOWER);
	assert_int_equal(c->pairs.items[0].by, TTP_DEVICE);
	assert_int_equal(c->slower, 1);
	assert_int_equal(c->contrary, 0);
}

static void look_for_slower_elapsed(const struct ttp_comparison *c)
{
	assert_int_equal(c->pairs.items[0].change, TTP_SLOWER);
	assert_int_equal(c->pairs.items[0].by, TTP_MEASURED);
}

static void a_speed_up_by_elapsed_is_no_slow_down_unless_asked_for(void **state)
{
	(void)state;
	struct query_run base = { .dbms = "a", .cpus = 4 }, other = base;
	make_parallel(&base, &other);
	compare(&base, &other, TTP_TIMES, look_for_elapsed);
	base = other = (struct query_run){ .dbms = "a", .cpus = 4 };
	make_parallel(&base, &other);
	compare(&base, &other, TTP_DEVICE, look_for_device);
	base = other = (struct query_run){ .dbms = "a", .cpus = 4 };
	make_parallel(&other, &base);
	compare(&base, &other, TTP_TIMES, look_for_slower_elapsed);
}

/* ---- chance ---- */

static size_t wrong, out_of_interval;

static void count_wrong(const struct ttp_comparison *c)
{
	wrong += c->slower + c->faster > 0;
	out_of_interval += c->ratio_low > 1 || c->ratio_high < 1;
}

/* Of 1000 comparisons of 10 equal Q@Cs, at most about 5 % say that anything differs; and the
 * interval of the mean does not hold 1 about as often. */
static void equal_runs_differ_in_about_five_of_a_hundred_comparisons(void **state)
{
	(void)state;
	struct random r = { 4 };
	wrong = out_of_interval = 0;
	for (int turn = 0; turn < 1000; turn++) {
		struct query_run base = { .dbms = "a", .cpus = 2 },
				 other = { .dbms = "a", .cpus = 2 };
		for (uint32_t i = 1; i <= 10; i++) {
			add_at(&base, &r, i, 0, 100, i);
			add_at(&other, &r, i, 0, 100, i);
		}
		compare(&base, &other, TTP_TIMES, count_wrong);
	}
	assert_in_range(wrong, 5, 70);
	assert_in_range(out_of_interval, 20, 80);
}

static void p_is_adjusted_by_holms_method(void **state)
{
	(void)state;
	double p[] = { 0.01, 0.04, 0.03, 0.005 };
	const double adjusted[] = { 0.03, 0.06, 0.06, 0.02 };
	adjust_p_holm(p, 4);
	for (size_t i = 0; i < 4; i++)
		assert_near(p[i], adjusted[i], 1e-15);
	adjust_p_holm(p, 0);
}

/* Of 5 and 5 the third smallest pair is the end of the interval: P(U <= 2) is 4 of 252. */
static void the_interval_of_a_shift_is_that_of_known_ranks(void **state)
{
	(void)state;
	const double a[] = { 1, 2, 4, 8, 16 }, b[] = { 2, 4, 8, 16, 32 };
	struct ratio ratio;
	ratio_of_shift(a, 5, b, 5, &ratio);
	assert_near(ratio.ratio, 2, 1e-12);
	assert_near(ratio.low, 0.25, 1e-12);
	assert_near(ratio.high, 16, 1e-12);
	ratio_of_shift(a, 3, b, 3, &ratio);
	assert_near(ratio.ratio, 2, 1e-12);
	assert_true(isnan(ratio.low));
	ratio_of_shift(a, 0, b, 3, &ratio);
	assert_true(isnan(ratio.ratio));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_changes_of_time_and_plan_are_found),
		cmocka_unit_test(two_runs_are_compared_by_the_best_time_that_both_have),
		cmocka_unit_test(queries_are_paired_by_their_text),
		cmocka_unit_test(runs_without_executions_have_nothing_to_compare),
		cmocka_unit_test(a_speed_up_by_elapsed_is_no_slow_down_unless_asked_for),
		cmocka_unit_test(equal_runs_differ_in_about_five_of_a_hundred_comparisons),
		cmocka_unit_test(p_is_adjusted_by_holms_method),
		cmocka_unit_test(the_interval_of_a_shift_is_that_of_known_ranks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
