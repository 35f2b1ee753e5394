/* Means of counters, what is derived from them, comparisons by counts, and the words of explain, on
 * made-up executions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "protocol/emp/choice.h"
#include "protocol/emp/counters.h"

#define MS 1000000u
#define M 1000000

static void count(struct execution *x, const char *name, int64_t user, int64_t kernel)
{
	struct counter c = { .user = user, .kernel = kernel, .enabled_ns = 9, .running_ns = 9 };
	snprintf(c.name, sizeof c.name, "%s", name);
	c.value = user + (kernel > 0 ? kernel : 0);
	array_push(&x->counters, c);
}

/* 100 ms at 3 GHz, 2 instructions per cycle. */
static struct execution execution(double instructions, double cycles, double ms)
{
	struct execution x = execution_unknown();
	x.et_ns = (uint64_t)(ms * MS);
	x.pt_ns[GRADE_EXEC] = x.et_ns;
	count(&x, "instructions", (int64_t)(600 * M * instructions), 0);
	count(&x, "cycles", (int64_t)(300 * M * cycles), 0);
	return x;
}

static void derived_figures_are_of_each_execution(void **unused)
{
	(void)unused;
	struct execution x = execution(1, 1, 100);
	count(&x, "ref-cycles", 250 * M, 0);
	count(&x, "branch-misses", 3 * M, 0);
	assert_float_equal(emp_counter_value(&x, EMP_PER_CYCLE, "instructions"), 2, 1e-9);
	assert_float_equal(emp_counter_value(&x, EMP_GHZ, "cycles"), 3, 1e-9);
	assert_float_equal(emp_counter_value(&x, EMP_CLOCK, "cycles"), 1.2, 1e-9);
	assert_float_equal(emp_counter_value(&x, EMP_PER_1000, "branch-misses"), 5, 1e-9);
	assert_true(isnan(emp_counter_value(&x, EMP_COUNTED, "cache-misses")));
	execution_release(&x);
}

static void assert_slots(const struct execution *x, double retiring, double bad, double frontend,
			 double backend)
{
	const double shares[EMP_SLOTS_OF] = { retiring, bad, frontend, backend };
	double sum = 0;
	for (size_t i = 0; i < EMP_SLOTS_OF; i++) {
		double share = emp_counter_value(x, EMP_SLOTS, emp_slots[i]);
		assert_true(fabs(share - shares[i]) < 1e-9);
		sum += share;
	}
	assert_true(fabs(sum - 1) < 1e-9);
}

/* In user mode alone. Each count is in steps of 1/255 of the slots, so their sum is not slots. */
static void intels_slots_are_shares_of_all_four(void **unused)
{
	(void)unused;
	struct execution x = execution(1, 1, 100);
	assert_true(isnan(emp_counter_value(&x, EMP_SLOTS, "retiring")));
	count(&x, "slots:u", 1503 * M, -1);
	count(&x, "topdown-retiring:u", 300 * M, -1);
	count(&x, "topdown-bad-spec:u", 150 * M, -1);
	count(&x, "topdown-fe-bound:u", 450 * M, -1);
	count(&x, "topdown-be-bound:u", 600 * M, -1);
	assert_slots(&x, 0.2, 0.1, 0.3, 0.4);
	execution_release(&x);
}

/* 8 slots in each of 300 M cycles, of which 60 % stalled; one operation of ten was in vain. */
static void arms_slots_are_stalled_retired_or_wasted(void **unused)
{
	(void)unused;
	struct execution x = execution(1, 1, 100);
	count(&x, "slots", INT64_C(2400) * M, 0);
	count(&x, "stall_slot", 1440 * M, 0);
	count(&x, "stall_slot_frontend", 480 * M, 0);
	count(&x, "stall_slot_backend", 960 * M, 0);
	count(&x, "op_retired", 810 * M, 0);
	count(&x, "op_spec", 900 * M, 0);
	assert_slots(&x, 0.36, 0.04, 0.2, 0.4);
	execution_release(&x);
}

static void the_effective_clock_is_aperf_over_mperf(void **unused)
{
	(void)unused;
	struct execution x = execution(1, 1, 100);
	assert_true(isnan(emp_counter_value(&x, EMP_EFFECTIVE, "msr/aperf/")));
	count(&x, "msr/aperf/", 330 * M, 0);
	count(&x, "msr/mperf/", 250 * M, 0);
	assert_float_equal(emp_counter_value(&x, EMP_EFFECTIVE, "msr/aperf/"), 1.32, 1e-9);
	execution_release(&x);
}

static void user_mode_alone_says_nothing_about_the_clock(void **unused)
{
	(void)unused;
	struct execution x = execution_unknown();
	x.pt_ns[GRADE_EXEC] = 100 * MS;
	count(&x, "cycles", 300 * M, -1);
	assert_true(isnan(emp_counter_value(&x, EMP_GHZ, "cycles")));
	execution_release(&x);
}

static void means_are_of_those_that_have_it_and_tell_how_many_lack_it(void **unused)
{
	(void)unused;
	struct execution x[4];
	struct emp_result r;
	struct run run = { 0 };
	emp_counter_list list = { 0 };
	for (size_t i = 0; i < 4; i++) {
		x[i] = execution(1 + 0.1 * (double)i, 1, 100);
		if (i != 2)
			count(&x[i], "cache-misses", 5, 0);
	}
	x[0].warmup = true;
	x[3].counters.items[1].running_ns = 3; /* cycles were scaled */
	emp_judge(&run, x, 4, &(struct emp_options){ 0 }, &r);
	emp_counters(x, &r, &list);
	const struct emp_counter *instructions =
		emp_counter_find(&list, EMP_COUNTED, "instructions");
	assert_non_null(instructions);
	assert_int_equal(instructions->kept.n, 3);
	assert_float_equal(instructions->kept.mean, 720 * M, 1);
	assert_float_equal(instructions->user, 720 * M, 1);
	assert_false(instructions->scaled);
	assert_true(emp_counter_find(&list, EMP_COUNTED, "cycles")->scaled);
	assert_int_equal(instructions->unknown, 0);
	/* made of what was scaled */
	assert_true(emp_counter_find(&list, EMP_PER_CYCLE, "instructions")->scaled);
	const struct emp_counter *misses = emp_counter_find(&list, EMP_COUNTED, "cache-misses");
	assert_int_equal(misses->kept.n, 2);
	assert_int_equal(misses->unknown, 1);
	array_release(&list);
	emp_result_release(&r);
	for (size_t i = 0; i < 4; i++)
		execution_release(&x[i]);
}

static void misses_are_beside_instructions_of_the_same_mode(void **unused)
{
	(void)unused;
	struct execution x = execution_unknown();
	count(&x, "instructions", 80 * M, 20 * M);
	count(&x, "branch-misses:u", 80000, 0);
	count(&x, "branch-misses:k", 80000, 0);
	assert_float_equal(emp_counter_value(&x, EMP_PER_1000, "branch-misses:u"), 1, 1e-9);
	assert_float_equal(emp_counter_value(&x, EMP_PER_1000, "branch-misses:k"), 4, 1e-9);
	assert_true(isnan(emp_counter_value(&x, EMP_PER_1000, "branch-misses:uk")));
	execution_release(&x);
}

static void runs_are_compared_by_instructions_if_asked(void **unused)
{
	(void)unused;
	struct execution a[5], b[5];
	struct emp_result ra, rb;
	struct run run = { .conditions.measure = "instructions" };
	const struct emp_options by = { .by_measure = true, .measure = EMP_INSTRUCTIONS };
	for (size_t i = 0; i < 5; i++) { /* times say nothing */
		a[i] = execution(1 + 1e-6 * (double)i, 1, 100 + 10 * (double)(i % 3));
		b[i] = execution(1.01 + 1e-6 * (double)(i % 2), 1, 100 + 10 * (double)(i % 2));
	}
	emp_judge(&run, a, 5, &by, &ra);
	emp_judge(&run, b, 5, &by, &rb);
	assert_int_equal(ra.lead, EMP_PT_EXEC); /* rule (II) judges times */
	assert_int_equal(ra.shown, EMP_PT_EXEC);
	const struct emp_judged runs[] = { { &run, a, &ra, false }, { &run, b, &rb, true } };
	struct emp_choice choice;
	emp_choose(runs, 2, EMP_MEASURES, &choice);
	assert_int_equal(choice.measure, EMP_INSTRUCTIONS);
	assert_int_equal(choice.why, EMP_WHY_ASKED);
	struct emp_comparison c;
	emp_compare_sides(runs, 2, choice.measure, &c);
	assert_true(c.significant);
	assert_float_equal(c.ratio, 1.01, 1e-5);
	/* a run without counters has none to be compared by */
	b[2].counters.count = 0;
	emp_result_release(&rb);
	emp_judge(&run, b, 5, &by, &rb);
	emp_choose(runs, 2, EMP_MEASURES, &choice);
	assert_int_equal(choice.missed, EMP_INSTRUCTIONS);
	emp_result_release(&ra);
	emp_result_release(&rb);
	for (size_t i = 0; i < 5; i++) {
		execution_release(&a[i]);
		execution_release(&b[i]);
	}
}

static void assert_explained(struct execution *x, struct execution *base, const char *words)
{
	SCOPED(strbuf_release) struct strbuf out = { 0 };
	emp_counters_explain(x, base, &out);
	assert_string_equal(strbuf_text(&out), words);
	execution_release(x);
	execution_release(base);
}

static void more_instructions_are_more_work(void **unused)
{
	(void)unused;
	struct execution base = execution(1, 1, 100), x = execution(1.25, 1.24, 124);
	assert_explained(&x, &base, "it executed 25 % more instructions: it did more");
	base = execution(1, 1, 100);
	x = execution(0.95, 0.95, 95);
	assert_explained(&x, &base, "it executed 5.0 % fewer instructions: it did less");
}

static void more_cycles_for_the_same_are_stalls_with_their_kind(void **unused)
{
	(void)unused;
	struct execution base = execution(1, 1, 100), x = execution(1.001, 1.3, 130);
	count(&base, "stalled-cycles-backend", 50 * M, 0);
	count(&base, "cache-misses", 2 * M, 0);
	count(&base, "branch-misses", M, 0);
	count(&x, "stalled-cycles-backend", 140 * M, 0);
	count(&x, "cache-misses", 10 * M, 0);
	count(&x, "branch-misses", M, 0);
	assert_explained(&x, &base,
			 "each instruction took 30 % more cycles: it stalled, with 180 % more "
			 "stalled-cycles-backend and 400 % more cache-misses");
	base = execution(1, 1, 100);
	x = execution(1, 1.3, 130);
	assert_explained(&x, &base, "each instruction took 30 % more cycles: it stalled");
	/* a few misses more are no reason, whatever their share; what was 0 before may be one */
	base = execution(1, 1, 100);
	x = execution(1, 1.3, 130);
	count(&base, "dTLB-load-misses", 5, 0);
	count(&x, "dTLB-load-misses", 20, 0);
	count(&base, "stalled-cycles-frontend", 0, 0);
	count(&x, "stalled-cycles-frontend", 40 * M, 0);
	assert_explained(&x, &base,
			 "each instruction took 30 % more cycles: it stalled, with 40000000 more "
			 "stalled-cycles-frontend");
}

static void the_same_cycles_in_more_time_are_the_clock(void **unused)
{
	(void)unused;
	struct execution base = execution(1, 1, 100), x = execution(1, 1.01, 150);
	assert_explained(&x, &base,
			 "the same cycles took longer: the clock ran at 2.02 instead of 3.00 GHz");
}

static void without_a_difference_or_counters_nothing_is_said(void **unused)
{
	(void)unused;
	struct execution base = execution(1, 1, 100), x = execution(1, 1, 100.2);
	assert_explained(&x, &base, "");
	base = execution(1, 1, 100);
	x = execution(1, 1, 130);
	x.counters.count = 0;
	assert_explained(&x, &base, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(derived_figures_are_of_each_execution),
		cmocka_unit_test(intels_slots_are_shares_of_all_four),
		cmocka_unit_test(arms_slots_are_stalled_retired_or_wasted),
		cmocka_unit_test(the_effective_clock_is_aperf_over_mperf),
		cmocka_unit_test(user_mode_alone_says_nothing_about_the_clock),
		cmocka_unit_test(means_are_of_those_that_have_it_and_tell_how_many_lack_it),
		cmocka_unit_test(misses_are_beside_instructions_of_the_same_mode),
		cmocka_unit_test(runs_are_compared_by_instructions_if_asked),
		cmocka_unit_test(more_instructions_are_more_work),
		cmocka_unit_test(more_cycles_for_the_same_are_stalls_with_their_kind),
		cmocka_unit_test(the_same_cycles_in_more_time_are_the_clock),
		cmocka_unit_test(without_a_difference_or_counters_nothing_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
