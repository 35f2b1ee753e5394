/* Differences of ledgers, what stands out of a run, and the culprits of rule (II). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "protocol/emp/explain.h"
#include "stats/random.h"

#define MS 1000000u

static void add_entry(struct ledger *l, enum ledger_cause cause, const char *name, int32_t pid,
		      uint64_t ns)
{
	struct ledger_entry e = { .cause = cause, .pid = pid, .ns = ns, .count = 1 };
	snprintf(e.name, sizeof e.name, "%s", name);
	array_push(&l->entries, e);
	l->subject.ns[cause] += ns;
}

/* One thread: run, and queued behind postgres. */
static struct execution simple(uint32_t number, uint64_t run, uint64_t queued)
{
	struct execution x = { .number = number,
			       .et_ns = run + queued,
			       .pt_ns = { run, run, ABSENT_NS },
			       .user_ns = ABSENT_NS,
			       .system_ns = ABSENT_NS };
	x.ledger.present = true;
	x.ledger.wall_ns[LEDGER_RUN] = run;
	x.ledger.wall_ns[LEDGER_QUEUED] = queued;
	add_entry(&x.ledger, LEDGER_RUN, "", 0, run);
	add_entry(&x.ledger, LEDGER_QUEUED, "postgres", 7, queued);
	x.totals.threads = 1;
	return x;
}

static void queue(struct execution *x, const char *name, int32_t pid, uint64_t ns)
{
	x->et_ns += ns;
	x->ledger.wall_ns[LEDGER_QUEUED] += ns;
	add_entry(&x->ledger, LEDGER_QUEUED, name, pid, ns);
}

static void release(struct execution *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		execution_release(&x[i]);
}

static int64_t sum_names(const struct difference_cause *c)
{
	int64_t sum = 0;
	for (size_t i = 0; i < c->names.count; i++)
		sum += c->names.items[i].ns;
	return sum;
}

static void check_closure(const struct difference *d)
{
	int64_t sum = d->rest_ns;
	for (size_t i = 0; i < d->causes.count; i++) {
		const struct difference_cause *c = &d->causes.items[i];
		sum += c->ns;
		assert_int_not_equal(c->ns, 0);
		assert_int_equal(c->ns, (int64_t)(c->had_ns - c->base_ns) + c->parallel_ns);
		if (c->names.count)
			assert_int_equal(sum_names(c), c->ns);
		if (i && d->ns >= 0)
			assert_true(d->causes.items[i - 1].ns >= c->ns);
		if (i && d->ns < 0)
			assert_true(d->causes.items[i - 1].ns <= c->ns);
	}
	assert_int_equal(sum, d->ns);
}

static void a_difference_is_explained_by_causes_and_names(void **state)
{
	(void)state;
	struct execution x[2] = { simple(1, 100 * MS, 5 * MS), simple(2, 101 * MS, 3 * MS) };
	queue(&x[1], "stress", 1234, 50 * MS);
	struct difference d;
	difference_of(&x[1], &x[0], DIFFERENCE_WALL, &d);
	check_closure(&d);
	assert_int_equal(d.ns, 49 * MS);
	assert_int_equal(d.causes.count, 2);
	const struct difference_cause *c = &d.causes.items[0];
	assert_int_equal(c->cause, LEDGER_QUEUED);
	assert_int_equal(c->ns, 48 * MS);
	assert_int_equal(c->names.count, 2);
	assert_string_equal(c->names.items[0].name, "stress");
	assert_int_equal(c->names.items[0].pid, 1234);
	assert_int_equal(c->names.items[0].ns, 50 * MS);
	assert_string_equal(c->names.items[1].name, "postgres");
	assert_int_equal(c->names.items[1].ns, -2 * (int64_t)MS);
	assert_int_equal(d.causes.items[1].cause, LEDGER_RUN);
	difference_release(&d);
	/* the other way round: less of the same, largest first */
	difference_of(&x[0], &x[1], DIFFERENCE_WALL, &d);
	check_closure(&d);
	assert_int_equal(d.ns, -49 * (int64_t)MS);
	assert_int_equal(d.causes.items[0].cause, LEDGER_QUEUED);
	assert_string_equal(d.causes.items[0].names.items[0].name, "stress");
	assert_int_equal(d.causes.items[0].names.items[0].pid, 1234);
	difference_release(&d);
	difference_of(&x[0], &x[0], DIFFERENCE_WALL, &d);
	assert_int_equal(d.causes.count, 0);
	assert_int_equal(d.ns, 0);
	difference_release(&d);
	release(x, 2);
}

/* Threads: the names of all of them are scaled to what the elapsed time lost. */
static void names_of_threads_are_scaled_to_the_elapsed_time_lost(void **state)
{
	(void)state;
	struct execution x[2] = { simple(1, 100 * MS, 0), simple(2, 100 * MS, 0) };
	queue(&x[1], "stress", 1, 40 * MS);
	queue(&x[1], "cron", 2, 20 * MS);
	x[1].ledger.wall_ns[LEDGER_QUEUED] = 6 * MS;
	x[1].et_ns = 106 * MS;
	struct difference d;
	difference_of(&x[1], &x[0], DIFFERENCE_WALL, &d);
	check_closure(&d);
	assert_int_equal(d.causes.items[0].names.items[0].ns, 4 * MS);
	assert_int_equal(d.causes.items[0].names.items[1].ns, 2 * MS);
	difference_release(&d);
	difference_of(&x[1], &x[0], DIFFERENCE_ACCOUNT, &d);
	assert_int_equal(d.ns, 60 * MS);
	assert_int_equal(d.causes.items[0].names.items[0].ns, 40 * MS);
	difference_release(&d);
	/* the elapsed time went the other way: no name can be blamed */
	x[0].ledger.wall_ns[LEDGER_QUEUED] = 9 * MS;
	x[0].et_ns = 109 * MS;
	difference_of(&x[1], &x[0], DIFFERENCE_WALL, &d);
	check_closure(&d);
	assert_int_equal(d.causes.items[0].names.count, 1);
	assert_string_equal(d.causes.items[0].names.items[0].name, "");
	difference_release(&d);
	release(x, 2);
}

/* As of make -j2, two of them: 68 ms elapsed, or 132.6 with a hog on one of the CPUs. */
static void make_pair(struct execution x[2])
{
	for (int i = 0; i < 2; i++) {
		x[i] = simple((uint32_t)i + 1, 124 * MS, i ? 127 * MS + 500000 : 500000);
		snprintf(x[i].ledger.entries.items[1].name,
			 sizeof x[i].ledger.entries.items[1].name, "%s", "evilhog");
		x[i].totals.threads = 3;
		x[i].ledger.wall_ns[LEDGER_RUN] = i ? 122 * MS : 66 * MS;
		x[i].ledger.wall_ns[LEDGER_QUEUED] = i ? 10 * MS + 600000 : 2 * MS;
		x[i].et_ns = i ? 132600000 : 68 * MS;
		add_entry(&x[i].ledger, LEDGER_QUEUED, "itself", 0, i ? 2 * MS : 90 * MS);
	}
}

/* It ran for longer since it ran less in parallel, and that was the hog's doing. */
static void running_less_in_parallel_is_the_fault_of_who_took_the_cpu(void **state)
{
	(void)state;
	struct execution x[2];
	struct difference d;
	make_pair(x);
	difference_of(&x[1], &x[0], DIFFERENCE_WALL, &d);
	check_closure(&d);
	assert_int_equal(d.ns, 64600000);
	assert_int_equal(d.causes.count, 1);
	assert_int_equal(d.causes.items[0].cause, LEDGER_QUEUED);
	assert_int_equal(d.causes.items[0].ns, 64600000);
	assert_int_equal(d.causes.items[0].parallel_ns, 56 * MS);
	assert_int_equal(d.causes.items[0].names.count, 1);
	assert_string_equal(d.causes.items[0].names.items[0].name, "evilhog");
	difference_release(&d);
	/* the other way round */
	difference_of(&x[0], &x[1], DIFFERENCE_WALL, &d);
	check_closure(&d);
	assert_int_equal(d.causes.items[0].ns, -64600000);
	assert_string_equal(d.causes.items[0].names.items[0].name, "evilhog");
	difference_release(&d);
	/* it had more to do: at a parallelism of 124 / 66 those are 10 ms */
	x[1].ledger.subject.ns[LEDGER_RUN] += 18787879;
	difference_of(&x[1], &x[0], DIFFERENCE_WALL, &d);
	check_closure(&d);
	assert_int_equal(d.causes.items[0].cause, LEDGER_QUEUED);
	assert_int_equal(d.causes.items[1].cause, LEDGER_RUN);
	assert_in_range(d.causes.items[1].ns, 10 * MS - 10, 10 * MS + 10);
	assert_int_equal(d.causes.items[1].unexplained_ns, 0);
	difference_release(&d);
	/* nobody had the CPU instead: it is said, but nobody is blamed */
	x[1].ledger.entries.items[1].ns = x[0].ledger.entries.items[1].ns;
	x[1].ledger.subject.ns[LEDGER_RUN] = x[0].ledger.subject.ns[LEDGER_RUN];
	difference_of(&x[1], &x[0], DIFFERENCE_WALL, &d);
	check_closure(&d);
	assert_int_equal(d.causes.items[0].cause, LEDGER_RUN);
	assert_int_equal(d.causes.items[0].unexplained_ns, 56 * MS);
	difference_release(&d);
	/* unless its own threads were crowded together, since another had the other CPU */
	x[1].ledger.entries.items[2].ns = 150 * MS;
	array_push(&x[1].ledger.others,
		   ((struct ledger_other){ .pid = 9, .name = "evilhog", .ns = 50 * MS }));
	difference_of(&x[1], &x[0], DIFFERENCE_WALL, &d);
	check_closure(&d);
	assert_string_equal(d.causes.items[0].names.items[0].name, "evilhog");
	assert_int_equal(d.causes.items[0].names.items[0].ns, 50 * MS);
	difference_release(&d);
	release(x, 2);
}

static void random_ledger(struct random *r, struct execution *x)
{
	static const char *const names[] = { "", "postgres", "stress", "timer", "itself", "vda" };
	*x = (struct execution){ .ledger.present = true };
	x->totals.threads = (uint32_t)random_below(r, 3);
	size_t entries = random_below(r, 40);
	for (size_t i = 0; i < entries; i++)
		add_entry(&x->ledger, (enum ledger_cause)random_below(r, LEDGER_CAUSES),
			  names[random_below(r, 6)], (int32_t)random_below(r, 3),
			  random_next(r) >> (20 + random_below(r, 44)));
	bool same = random_below(r, 2);
	for (int c = 0; c < LEDGER_CAUSES; c++) {
		x->ledger.wall_ns[c] = same ? x->ledger.subject.ns[c]
				       : random_below(r, 3)
					       ? random_next(r) >> (22 + random_below(r, 42))
					       : 0;
		x->et_ns += x->ledger.wall_ns[c];
	}
	x->et_ns += random_below(r, 3) ? 0 : random_below(r, 5000);
}

/* Running less in parallel moves time from run to others: all one way, and nothing is made up. */
static void check_parallel(const struct ledger *x, const struct ledger *base,
			   const struct difference *d)
{
	int64_t wall = (int64_t)(x->wall_ns[LEDGER_RUN] - base->wall_ns[LEDGER_RUN]), moved = 0;
	for (size_t i = 0; i < d->causes.count; i++) {
		const struct difference_cause *c = &d->causes.items[i];
		if (c->cause == LEDGER_RUN) {
			assert_true(wall > 0 ? c->parallel_ns <= 0 : c->parallel_ns >= 0);
			assert_true(llabs(c->unexplained_ns) <= llabs(c->ns));
			continue;
		}
		moved += c->parallel_ns;
		assert_int_equal(c->unexplained_ns, 0);
		assert_true(!c->parallel_ns || (c->parallel_ns > 0) == (wall > 0));
		if (c->cause == LEDGER_QUEUED)
			for (size_t j = 0; j < c->names.count; j++)
				assert_string_not_equal(c->names.items[j].name, "itself");
	}
	assert_true(llabs(moved) <= llabs(wall));
}

static void the_causes_always_add_up_to_the_difference(void **state)
{
	(void)state;
	struct random r = { 20260 };
	for (int i = 0; i < 5000; i++) {
		struct execution x[2];
		struct difference d;
		random_ledger(&r, &x[0]);
		random_ledger(&r, &x[1]);
		difference_of(&x[0], &x[1], DIFFERENCE_WALL, &d);
		assert_int_equal(d.ns, (int64_t)(x[0].et_ns - x[1].et_ns));
		check_closure(&d);
		check_parallel(&x[0].ledger, &x[1].ledger, &d);
		difference_release(&d);
		difference_of(&x[0], &x[1], DIFFERENCE_ACCOUNT, &d);
		assert_int_equal(d.rest_ns, 0);
		check_closure(&d);
		difference_release(&d);
		release(x, 2);
	}
}

static void judge(const struct execution *x, size_t n, struct emp_result *r)
{
	static const struct run run = { 0 };
	static const struct emp_options options = { 0 };
	emp_judge(&run, x, n, &options, r);
}

static void the_slow_execution_is_found_and_explained(void **state)
{
	(void)state;
	struct execution x[12];
	struct emp_result r;
	struct explanation e;
	struct error err = ERROR_INIT;
	for (uint32_t i = 0; i < 12; i++)
		x[i] = simple(i, (1000 + (i * 5) % 7) * MS, 2 * MS);
	x[0].number = 1;
	x[0].warmup = true;
	x[0].et_ns += 5000 * MS; /* is none of them */
	x[3].outcome = OUTCOME_TIMED_OUT;
	x[3].et_ns += 900 * MS;
	queue(&x[7], "stress", 1234, 61 * MS);
	judge(x, 12, &r);
	assert_int_equal(explain_run(x, 12, &r, EXPLAIN_SLOW_ONES, &e, &err), 0);
	assert_true(explain_finds_slow(x, 12, &r));
	assert_false(explain_finds_slow(x, 7, &r));
	assert_int_equal(e.compared, 10);
	assert_int_equal(e.list.count, 1);
	assert_int_equal(e.list.items[0].index, 7);
	assert_int_equal(e.list.items[0].why, EXPLAIN_SLOW);
	assert_false(e.list.items[0].threads);
	assert_int_equal(e.list.items[0].wall.causes.items[0].cause, LEDGER_QUEUED);
	assert_string_equal(e.list.items[0].wall.causes.items[0].names.items[0].name, "stress");
	/* as many are slower as are faster than the one it is compared with */
	size_t below = 0, above = 0;
	for (size_t i = 0; i < 12; i++)
		if (r.verdicts[i].rule == EMP_KEPT) {
			below += x[i].et_ns < x[e.base].et_ns;
			above += x[i].et_ns > x[e.base].et_ns;
		}
	assert_true(below <= 5 && above <= 5);
	size_t base = e.base;
	explanation_release(&e);
	/* asked for: a failed one, a warm-up, the median itself */
	for (size_t i = 0; i < 4; i += 3) {
		assert_int_equal(explain_run(x, 12, &r, i, &e, &err), 0);
		assert_int_equal(e.list.items[0].index, i);
		assert_int_equal(e.list.items[0].why, EXPLAIN_ASKED);
		explanation_release(&e);
	}
	assert_int_equal(explain_run(x, 12, &r, base, &e, &err), 0);
	assert_int_equal(e.list.count, 0);
	explanation_release(&e);
	/* without a ledger it is not looked at */
	x[7].ledger.present = false;
	assert_int_equal(explain_run(x, 12, &r, 7, &e, &err), -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_int_equal(explain_run(x, 12, &r, EXPLAIN_SLOW_ONES, &e, &err), 0);
	assert_int_equal(e.list.items[0].why, EXPLAIN_SLOWEST);
	explanation_release(&e);
	emp_result_release(&r);
	release(x, 12);
}

static void without_ledgers_nothing_is_explained(void **state)
{
	(void)state;
	struct execution x[3];
	struct emp_result r;
	struct explanation e;
	struct error err = ERROR_INIT;
	for (uint32_t i = 0; i < 3; i++) {
		x[i] = simple(i + 1, 1000 * MS, 0);
		x[i].ledger.present = false;
	}
	judge(x, 3, &r);
	assert_int_equal(explain_run(x, 3, &r, EXPLAIN_SLOW_ONES, &e, &err), -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_non_null(strstr(err.hint, "sudo tare time"));
	x[1].ledger.present = true;
	assert_int_equal(explain_run(x, 3, &r, EXPLAIN_SLOW_ONES, &e, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	r.verdicts[1].rule = EMP_FAILED;
	assert_int_equal(explain_run(x, 3, &r, EXPLAIN_SLOW_ONES, &e, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	emp_result_release(&r);
	/* all alike: the slowest is the median one */
	for (uint32_t i = 0; i < 3; i++)
		x[i].ledger.present = true;
	judge(x, 3, &r);
	assert_int_equal(explain_run(x, 3, &r, EXPLAIN_SLOW_ONES, &e, &err), 0);
	assert_int_equal(e.list.count, 1);
	assert_int_equal(e.list.items[0].wall.ns, 0);
	explanation_release(&e);
	emp_result_release(&r);
	assert_int_equal(
		explain_run(NULL, 0, &(struct emp_result){ 0 }, EXPLAIN_SLOW_ONES, &e, &err), -1);
	release(x, 3);
}

static void ten_thousand_executions_are_explained_quickly(void **state)
{
	(void)state;
	size_t n = 10000;
	struct execution *x = calloc(n, sizeof *x);
	struct emp_result r = { .count = n, .verdicts = calloc(n, sizeof *r.verdicts) };
	struct explanation e;
	struct error err = ERROR_INIT;
	struct random random = { 7 };
	assert_true(x && r.verdicts);
	for (uint32_t i = 0; i < n; i++) {
		x[i] = simple(i + 1, 1000 * MS + random_below(&random, MS), 0);
		for (int32_t j = 0; j < 30; j++) {
			char name[16];
			snprintf(name, sizeof name, "kworker/%d", j);
			queue(&x[i], name, j, random_below(&random, 1000));
		}
		if (i % 20 == 0)
			queue(&x[i], "stress", 1, 100 * MS);
	}
	uint64_t begun = clock_monotonic_ns();
	assert_int_equal(explain_run(x, n, &r, EXPLAIN_SLOW_ONES, &e, &err), 0);
	assert_true(clock_monotonic_ns() - begun < 2000 * (uint64_t)MS);
	assert_int_equal(e.list.count, n / 20);
	for (size_t i = 1; i < e.list.count; i++)
		assert_true(x[e.list.items[i - 1].index].et_ns >= x[e.list.items[i].index].et_ns);
	explanation_release(&e);
	release(x, n);
	free(x);
	free(r.verdicts);
}

/* Rule (II): the ledger knows better than the list of daemons. */
static void the_culprit_of_rule_two_is_named_by_the_ledger(void **state)
{
	(void)state;
	struct execution x[10];
	struct emp_result r;
	for (uint32_t i = 0; i < 10; i++) {
		x[i] = simple(i + 1, (1000 + i % 3) * MS, 2 * MS);
		struct process p = { .role = ROLE_DAEMON, .present = 1u << TASK_EXEC };
		p.value[TASK_EXEC] = 80 * MS;
		snprintf(p.name, sizeof p.name, "elsewhere");
		array_push(&x[i].processes, p);
	}
	x[4].pt_ns[GRADE_NET] = 1100 * MS;
	x[4].ledger.subject.ns[LEDGER_RUN] += 100 * MS;
	queue(&x[4], "stress", 1234, 58900000);
	judge(x, 10, &r);
	assert_int_equal(r.headline, EMP_PT_NET);
	assert_int_equal(r.verdicts[4].rule, EMP_OUTSIDE);
	/* neither a wait nor an interrupt makes a process time that is net of them */
	assert_non_null(strstr(r.verdicts[4].reason, "; it used more CPU itself"));
	emp_result_release(&r);
	/* an interrupt makes the scheduler's, a wait does not */
	add_entry(&x[4].ledger, LEDGER_IRQ, "timer", 0, 40 * MS);
	add_entry(&x[4].ledger, LEDGER_TIMER, "clock_nanosleep", 0, 90 * MS);
	for (size_t i = 0; i < 10; i++)
		x[i].pt_ns[GRADE_NET] = ABSENT_NS;
	x[4].pt_ns[GRADE_EXEC] = 1100 * MS;
	judge(x, 10, &r);
	assert_int_equal(r.headline, EMP_PT_EXEC);
	assert_non_null(strstr(r.verdicts[4].reason, "; irq 40.0 ms more than usual: timer"));
	emp_result_release(&r);
	/* without a ledger the busiest is named */
	x[4].ledger.present = false;
	judge(x, 10, &r);
	assert_non_null(strstr(r.verdicts[4].reason, "; elsewhere ran 80 ms meanwhile"));
	emp_result_release(&r);
	x[4].ledger.present = true;
	/* but an elapsed time */
	for (size_t i = 0; i < 10; i++)
		x[i].pt_ns[GRADE_NET] = x[i].pt_ns[GRADE_EXEC] = ABSENT_NS;
	x[4].ledger.wall_ns[LEDGER_TIMER] = 90 * MS;
	x[4].et_ns += 90 * MS;
	judge(x, 10, &r);
	assert_int_equal(r.headline, EMP_ET);
	bool told = false;
	for (size_t i = 0; i < r.warnings.count; i++)
		told |= strstr(r.warnings.items[i].remedy, "`tare explain RUN`") != NULL;
	assert_true(told);
	assert_non_null(
		strstr(r.verdicts[4].reason, "; timer 90.0 ms more than usual: clock_nanosleep"));
	emp_result_release(&r);
	release(x, 10);
}

/* Net is the headline where all that count have it, whatever failed ones or warm-ups lack. */
static void net_is_the_headline_where_all_that_count_have_it(void **state)
{
	(void)state;
	struct execution x[6];
	struct emp_result r;
	for (uint32_t i = 0; i < 6; i++) {
		x[i] = simple(i + 1, (1000 + i) * MS, 2 * MS);
		x[i].pt_ns[GRADE_EXEC] += MS;
	}
	x[0].warmup = true;
	x[0].pt_ns[GRADE_NET] = ABSENT_NS;
	x[1].status = 1;
	x[1].pt_ns[GRADE_NET] = ABSENT_NS;
	judge(x, 6, &r);
	assert_int_equal(r.headline, EMP_PT_NET);
	assert_int_equal(r.kept[EMP_PT_NET].n, 4);
	assert_true(r.kept[EMP_PT_EXEC].mean - r.kept[EMP_PT_NET].mean > 0.9 * MS);
	emp_result_release(&r);
	x[5].pt_ns[GRADE_NET] = ABSENT_NS;
	judge(x, 6, &r);
	assert_int_equal(r.headline, EMP_PT_EXEC);
	assert_false(r.present[EMP_PT_NET]);
	assert_int_equal(r.kept[EMP_PT_NET].n, 0);
	emp_result_release(&r);
	release(x, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_difference_is_explained_by_causes_and_names),
		cmocka_unit_test(names_of_threads_are_scaled_to_the_elapsed_time_lost),
		cmocka_unit_test(running_less_in_parallel_is_the_fault_of_who_took_the_cpu),
		cmocka_unit_test(the_causes_always_add_up_to_the_difference),
		cmocka_unit_test(the_slow_execution_is_found_and_explained),
		cmocka_unit_test(without_ledgers_nothing_is_explained),
		cmocka_unit_test(ten_thousand_executions_are_explained_quickly),
		cmocka_unit_test(the_culprit_of_rule_two_is_named_by_the_ledger),
		cmocka_unit_test(net_is_the_headline_where_all_that_count_have_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
