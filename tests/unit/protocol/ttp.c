/* TTPv2 on the paper's own examples; every check on a case made for it and on its neighbour; the
 * steps on a run that is known. */
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
#include "base/file.h"
#include "protocol/ttp/ttp.h"

#define MS UINT64_C(1000000)
#define TICK (10 * MS)

static const struct ttp_options by_paper = { .form = TTP_PAPER };
static const struct ttp_options adapted = { .form = TTP_ADAPTED };

/* One that no check has anything against: 100 ms of 1 s, a little of others. */
static struct query_execution sound(uint32_t number)
{
	struct query_execution x = { .number = number,
				     .measured_ns = 1000 * MS,
				     .plan = 7,
				     .query_process = 5,
				     .query_tasks = 1,
				     .blkio_most_ns = 300 * MS,
				     .utility_most_ns = 10 * MS,
				     .own_device_ns = 250 * MS,
				     .others_device_ns = 20 * MS };
	x.usage[QUERY_QUERY] = (struct query_usage){
		.value = { [QUERY_USER_NS] = 90 * MS,
			   [QUERY_SYSTEM_NS] = 10 * MS,
			   [QUERY_BLKIO_NS] = 300 * MS,
			   [QUERY_NVCSW] = 100 + number % 3 },
		.processes = 1,
	};
	x.usage[QUERY_UTILITY].value[QUERY_USER_NS] = 10 * MS;
	x.usage[QUERY_UTILITY].processes = 1;
	x.usage[QUERY_DAEMON].value[QUERY_SYSTEM_NS] = 5 * MS;
	x.usage[QUERY_DAEMON].processes = 3;
	x.overall_ns[OVERALL_USER] = 100 * MS;
	x.overall_ns[OVERALL_SYSTEM] = 20 * MS;
	x.overall_ns[OVERALL_IOWAIT] = 200 * MS;
	return x;
}

static struct query_at *add_at(struct query_run *run, uint32_t query, uint64_t cardinality)
{
	array_push(&run->at, ((struct query_at){ .query = query, .cardinality = cardinality }));
	if (query > run->queries)
		run->queries = query;
	return &run->at.items[run->at.count - 1];
}

static struct query_at *add_sound(struct query_run *run, uint32_t query, uint64_t cardinality)
{
	struct query_at *q = add_at(run, query, cardinality);
	for (uint32_t i = 1; i <= 10; i++)
		array_push(&q->executions, sound(i));
	return q;
}

/* ---- the paper's examples ---- */

/* A row of the golden file: ten cells, NaN where there is none. */
static void read_row(const char *text, const char *name, double out[10])
{
	char key[64];
	snprintf(key, sizeof key, "\n%s,", name);
	const char *at = strstr(text, key);
	assert_non_null(at);
	at += strlen(key);
	for (int i = 0; i < 10; i++) {
		char *end;
		out[i] = *at == '-' ? NAN : strtod(at, &end);
		at = strpbrk(at, i < 9 ? "," : "\n");
		assert_non_null(at);
		at++;
	}
}

static void the_papers_example_comes_out(void **state)
{
	(void)state;
	char *text = file_read(TARE_GOLDEN "/ttp-example.csv");
	assert_non_null(text);
	double user[10], system[10], blkio[10], iowait[10], measured[10], io[10], calc[10];
	read_row(text, "time_meas_ms", measured);
	read_row(text, "u_query", user);
	read_row(text, "s_query", system);
	read_row(text, "blkio_query", blkio);
	read_row(text, "iowait", iowait);
	read_row(text, "io_calc", io);
	read_row(text, "time_calc_ms", calc);
	free(text);
	struct query_run run = { 0 };
	struct query_at *q = add_at(&run, 1, 1000);
	for (int i = 0; i < 10; i++) {
		struct query_execution x = sound((uint32_t)i + 1);
		x.measured_ns = (uint64_t)(measured[i] * (double)MS);
		/* the fourth and the seventh are dropped in step 2; the paper does not say by which
		 */
		if (isnan(user[i]))
			x.timed_out = true;
		else {
			x.usage[QUERY_QUERY].value[QUERY_USER_NS] = (uint64_t)user[i] * TICK;
			x.usage[QUERY_QUERY].value[QUERY_SYSTEM_NS] = (uint64_t)system[i] * TICK;
			x.usage[QUERY_QUERY].value[QUERY_BLKIO_NS] = (uint64_t)blkio[i] * TICK;
			x.overall_ns[OVERALL_IOWAIT] = (uint64_t)iowait[i] * TICK;
			x.overall_ns[OVERALL_USER] = 2000 * MS;
			double ns;
			assert_true(ttp_time_of(&x, TTP_CALC, &ns));
			assert_near(ns, calc[i] * (double)MS, 1);
			assert_near(ttp_io_calc(blkio[i], iowait[i]), io[i], 1e-9);
		}
		array_push(&q->executions, x);
	}
	struct ttp_result r;
	ttp_judge(&run, &by_paper, &r);
	assert_int_equal(r.executions_kept, 8);
	assert_int_equal(r.at[0].drop, TTP_KEPT);
	assert_near(r.at[0].times[TTP_CALC].median_ns, 1992.5 * (double)MS, 1);
	assert_near(r.at[0].times[TTP_CALC].sigma_ns, 46.25 * (double)MS, 0.005 * (double)MS);
	ttp_result_release(&r);
	query_run_release(&run);
}

/* Tables VII and VIII: both did I/O for 3 ticks, and were blocked for 4. */
static void io_of_seven_ticks_is_calculated_as_in_the_paper(void **state)
{
	(void)state;
	assert_near(ttp_io_calc(4, 2), 3, 0);
	assert_near(ttp_io_calc_of(4, 2, 4, 0, 4), 3, 0);
	assert_near(ttp_io_calc_of(0, 2, 0, 0, 0), 0, 0);
	struct query_execution x = { .query_process = 1, .measured_ns = 7 * TICK };
	x.usage[QUERY_QUERY] = (struct query_usage){ { TICK, 2 * TICK, 4 * TICK }, 0, 1 };
	x.usage[QUERY_DAEMON] = (struct query_usage){ { TICK, TICK, 4 * TICK }, 0, 1 };
	x.overall_ns[OVERALL_USER] = x.overall_ns[OVERALL_NICE] = TICK;
	x.overall_ns[OVERALL_SYSTEM] = x.overall_ns[OVERALL_IOWAIT] = 2 * TICK;
	double ns;
	assert_true(ttp_time_of(&x, TTP_CALC, &ns));
	assert_near(ns, 6. * TICK, 0);
	assert_int_equal(query_process_ns(&x, QUERY_QUERY), 7 * TICK);
	assert_int_equal(query_process_ns(&x, QUERY_DAEMON), 6 * TICK);
}

/* Appendix B: P1 to P12 are accounted for; Px, in the first snapshot only, is not. */
static void processes_only_in_the_first_snapshot_are_ephemeral(void **state)
{
	(void)state;
	enum { X = 100, Y, Z };
	static const uint64_t first[] = { 1, 2, 3, 4, 5, 6, X, Z };
	static const uint64_t second[] = { 3, 6, 9, 10, 11, 12, Y, Z };
	static const uint64_t stopped[] = { 1, 2, 4, 5, 6, 7, 8, 10, 11 };
	assert_int_equal(ttp_ephemeral((struct ttp_set){ first, 8 }, (struct ttp_set){ second, 8 },
				       (struct ttp_set){ stopped, 9 }),
			 1);
	assert_int_equal(ttp_ephemeral((struct ttp_set){ first, 6 }, (struct ttp_set){ second, 8 },
				       (struct ttp_set){ stopped, 9 }),
			 0);
	assert_int_equal(ttp_ephemeral((struct ttp_set){ first, 1 }, (struct ttp_set){ NULL, 0 },
				       (struct ttp_set){ NULL, 0 }),
			 1);
}

/* ---- checks ---- */

/* What fires of a run of ten, whose third execution is this one. */
static uint32_t fired_of(struct query_execution x, const struct ttp_options *o)
{
	struct query_run run = { .cpus = 2 };
	struct query_at *q = add_sound(&run, 1, 1000);
	q->executions.items[2] = x;
	struct ttp_result r;
	ttp_judge(&run, o, &r);
	uint32_t fired = r.fired[2];
	for (int i = 0; i < TTP_CHECKS; i++)
		assert_int_equal(r.checks[i].fired, fired >> i & 1);
	ttp_result_release(&r);
	query_run_release(&run);
	return fired;
}

#define QUERY(m) x.usage[QUERY_QUERY].value[m]

static void each_check_of_the_paper_fires_at_its_bound(void **state)
{
	(void)state;
	struct query_execution x = sound(3);
	assert_int_equal(fired_of(x, &by_paper), 0);

	x.ephemeral = 1;
	assert_int_equal(fired_of(x, &by_paper), 1 << TTP_EPHEMERAL);

	x = sound(3); /* 400 + 10 ms */
	x.usage[QUERY_DAEMON].value[QUERY_BLKIO_NS] = 405 * MS;
	assert_int_equal(fired_of(x, &by_paper), 0);
	x.usage[QUERY_DAEMON].value[QUERY_BLKIO_NS] = 406 * MS;
	assert_int_equal(fired_of(x, &by_paper), 1 << TTP_DBMS_TIME);

	x = sound(3);
	QUERY(QUERY_USER_NS) = QUERY(QUERY_SYSTEM_NS) = 0;
	x.utility_most_ns = x.overall_ns[OVERALL_IOWAIT] = 0;
	QUERY(QUERY_BLKIO_NS) = 1;
	assert_int_equal(fired_of(x, &by_paper) & 1 << TTP_ZERO_TIME, 0);
	QUERY(QUERY_BLKIO_NS) = 0;
	assert_true(fired_of(x, &by_paper) & 1 << TTP_ZERO_TIME);

	x = sound(3);
	x.measured_ns = 400 * MS;
	assert_int_equal(fired_of(x, &by_paper), 0);
	x.measured_ns -= TICK - 1; /* the last of its ticks had begun */
	assert_int_equal(fired_of(x, &by_paper), 0);
	x.measured_ns--;
	assert_int_equal(fired_of(x, &by_paper), 1 << TTP_QUERY_TIME);

	x = sound(3);
	x.measured_ns = 400 * MS;
	QUERY(QUERY_SYSTEM_NS) += TICK - 1; /* another has not passed */
	assert_int_equal(fired_of(x, &by_paper), 0);
	QUERY(QUERY_SYSTEM_NS)++;
	assert_int_equal(fired_of(x, &by_paper), 1 << TTP_QUERY_TIME);

	x = sound(3);
	QUERY(QUERY_USER_NS) = 110 * MS;
	assert_int_equal(fired_of(x, &by_paper), 0);
	QUERY(QUERY_USER_NS)++;
	assert_int_equal(fired_of(x, &by_paper), 1 << TTP_USER_TICKS);

	x = sound(3);
	x.overall_ns[OVERALL_SYSTEM] = 890 * MS;
	x.overall_ns[OVERALL_NICE] = 10 * MS;
	assert_int_equal(fired_of(x, &by_paper), 0);
	x.overall_ns[OVERALL_NICE] += TICK - 1;
	assert_int_equal(fired_of(x, &by_paper), 0);
	x.overall_ns[OVERALL_NICE]++;
	assert_int_equal(fired_of(x, &by_paper), 1 << TTP_OVERALL_CPU);

	x = sound(3); /* 115 ms of the others */
	x.usage[QUERY_USER].value[QUERY_USER_NS] = 985 * MS;
	assert_int_equal(fired_of(x, &by_paper), 0);
	x.usage[QUERY_USER].value[QUERY_USER_NS] += TICK - 1;
	assert_int_equal(fired_of(x, &by_paper), 0);
	x.usage[QUERY_USER].value[QUERY_USER_NS]++;
	assert_int_equal(fired_of(x, &by_paper), 1 << TTP_CPU);

	x = sound(3);
	x.blkio_most_ns = x.measured_ns;
	assert_int_equal(fired_of(x, &by_paper), 0);
	x.blkio_most_ns += TICK - 1;
	assert_int_equal(fired_of(x, &by_paper), 0);
	x.blkio_most_ns++;
	assert_int_equal(fired_of(x, &by_paper), 1 << TTP_BLKIO);

	x = sound(3);
	x.overall_ns[OVERALL_IOWAIT] = 300 * MS;
	assert_int_equal(fired_of(x, &by_paper), 0);
	x.overall_ns[OVERALL_IOWAIT]++;
	assert_int_equal(fired_of(x, &by_paper), 1 << TTP_IOWAIT);

	x = sound(3);
	x.utility_most_ns = 100 * MS;
	assert_int_equal(fired_of(x, &by_paper), 0);
	x.utility_most_ns++;
	assert_int_equal(fired_of(x, &by_paper), 1 << TTP_AMBIGUOUS);

	x = sound(3);
	x.usage[QUERY_QUERY].processes = 0;
	assert_int_equal(fired_of(x, &by_paper), 1 << TTP_NO_QUERY_PROCESS);

	x = sound(3);
	x.timed_out = true;
	assert_int_equal(fired_of(x, &by_paper), 1 << TTP_TIMED_OUT);
}

static void a_short_count_of_workers_is_named(void **state)
{
	(void)state;
	struct query_run r = { .queries = 1, .cpus = 2 };
	struct query_at at = { .query = 1 };
	struct ttp_result result;
	for (uint32_t i = 1; i <= 8; i++) {
		struct query_execution x = sound(i);
		x.workers_planned = 4;
		x.workers = i == 3 ? 2 : i == 5 ? -1 : 3; /* 4 never ran */
		array_push(&at.executions, x);
	}
	array_push(&r.at, at);
	ttp_judge(&r, &adapted, &result);
	assert_int_equal(result.checks[TTP_WORKERS].fired, 1);
	assert_int_equal(result.fired[2], 1 << TTP_WORKERS);
	assert_int_equal(result.executions_kept, 7);
	assert_string_equal(ttp_check_names[TTP_WORKERS], "missing worker");
	ttp_result_release(&result);
	ttp_judge(&r, &by_paper, &result);
	assert_int_equal(result.checks[TTP_WORKERS].fired, 0);
	ttp_result_release(&result);
	query_run_release(&r);
}

static void each_adapted_check_fires_at_its_bound(void **state)
{
	(void)state;
	struct query_execution x = sound(3);
	assert_int_equal(fired_of(x, &adapted), 0);

	x.query_tasks = 3; /* parallel workers */
	QUERY(QUERY_BLKIO_NS) = 2900 * MS;
	assert_int_equal(fired_of(x, &adapted), 0);
	QUERY(QUERY_BLKIO_NS)++;
	assert_int_equal(fired_of(x, &adapted), 1 << TTP_QUERY_TIME);

	x = sound(3); /* 10 ticks: 1 and 3 times the root of it */
	QUERY(QUERY_USER_NS) = 204 * MS;
	assert_int_equal(fired_of(x, &adapted), 0);
	QUERY(QUERY_USER_NS) = 205 * MS;
	assert_int_equal(fired_of(x, &adapted), 1 << TTP_USER_TICKS);

	x = sound(3); /* two CPUs, a tick each */
	x.overall_ns[OVERALL_SYSTEM] = 1920 * MS;
	assert_int_equal(fired_of(x, &adapted), 0);
	x.overall_ns[OVERALL_SYSTEM]++;
	assert_int_equal(fired_of(x, &adapted), 1 << TTP_OVERALL_CPU);

	x = sound(3);
	x.snapshot_ns = 2 * MS;
	x.usage[QUERY_USER].value[QUERY_USER_NS] = 1909 * MS; /* and a tick of both CPUs */
	assert_int_equal(fired_of(x, &adapted), 0);
	x.usage[QUERY_USER].value[QUERY_USER_NS]++;
	assert_int_equal(fired_of(x, &adapted), 1 << TTP_CPU);

	x = sound(3); /* twice the time of the DBMS, on two CPUs; blocked time of daemons is nothing
		       */
	uint64_t dbms = query_process_ns(&x, QUERY_QUERY) + query_process_ns(&x, QUERY_UTILITY);
	x.usage[QUERY_DAEMON].value[QUERY_SYSTEM_NS] = 0;
	x.usage[QUERY_DAEMON].value[QUERY_BLKIO_NS] = 10 * dbms;
	x.usage[QUERY_DAEMON].value[QUERY_USER_NS] = 2 * dbms;
	assert_int_equal(fired_of(x, &adapted), 0);
	x.usage[QUERY_DAEMON].value[QUERY_USER_NS]++;
	assert_int_equal(fired_of(x, &adapted), 1 << TTP_DBMS_TIME);
	x.snapshot_ns = x.measured_ns / 4; /* of what they used, four fifths are the query's */
	x.usage[QUERY_DAEMON].value[QUERY_USER_NS] = 5 * dbms / 2;
	x.overall_ns[OVERALL_USER] = 1500 * MS;
	assert_int_equal(fired_of(x, &adapted), 0);
	x.usage[QUERY_DAEMON].value[QUERY_USER_NS] += 2;
	assert_int_equal(fired_of(x, &adapted), 1 << TTP_DBMS_TIME);

	x = sound(3);
	x.lost = 1;
	assert_int_equal(fired_of(x, &adapted), 1 << TTP_LOST);
	assert_int_equal(fired_of(x, &by_paper), 0);

	x = sound(3); /* others may have been blocked since before */
	x.blkio_most_ns = 2 * x.measured_ns;
	assert_int_equal(fired_of(x, &adapted), 0);
	QUERY(QUERY_BLKIO_NS) = x.measured_ns;
	assert_int_equal(fired_of(x, &adapted), 1 << TTP_QUERY_TIME);
	QUERY(QUERY_BLKIO_NS)++;
	assert_int_equal(fired_of(x, &adapted), 1 << TTP_QUERY_TIME | 1 << TTP_BLKIO);

	x = sound(3);
	x.overall_ns[OVERALL_IOWAIT] = 1900 * MS; /* says nothing here */
	x.own_device_ns = 100 * MS;
	x.others_device_ns = 500 * MS;
	assert_int_equal(fired_of(x, &adapted), 0);
	x.others_device_ns++;
	assert_int_equal(fired_of(x, &adapted), 1 << TTP_IOWAIT);
	x.own_device_ns = 251 * MS;
	assert_int_equal(fired_of(x, &adapted), 0);
	x.own_device_ns = 10 * MS; /* it hardly waited for any */
	assert_int_equal(fired_of(x, &adapted), 0);
	x.own_device_ns++;
	assert_int_equal(fired_of(x, &adapted), 1 << TTP_IOWAIT);
	x.others_device_ns = UINT64_MAX;
	assert_int_equal(fired_of(x, &adapted), 0);
	for (int i = 0; i < TTP_CHECKS; i++)
		assert_true(*ttp_check_names[(enum ttp_check)i]);
	assert_non_null(ttp_form_note(TTP_IOWAIT));
	assert_null(ttp_form_note(TTP_TIMED_OUT));
}

/* Blocked time of a server that reads in other threads than the query's. */
static void blocked_time_of_other_threads_does_not_fire_a_check(void **state)
{
	(void)state;
	struct query_run run = { .cpus = 2, .io_by_process = true };
	struct query_execution *x = &add_sound(&run, 1, 1000)->executions.items[2];
	struct ttp_result r;
	x->usage[QUERY_QUERY].value[QUERY_BLKIO_NS] = x->blkio_most_ns = 2 * x->measured_ns;
	ttp_judge(&run, &adapted, &r);
	assert_int_equal(r.fired[2], 0);
	ttp_result_release(&r);
	ttp_judge(&run, &by_paper, &r);
	assert_int_equal(r.fired[2], 1 << TTP_QUERY_TIME | 1 << TTP_BLKIO);
	ttp_result_release(&r);
	x->measured_ns = 100 * MS - 1; /* that of the CPU still counts */
	x->overall_ns[OVERALL_IOWAIT] = 0;
	ttp_judge(&run, &adapted, &r);
	assert_int_equal(r.fired[2] & (1 << TTP_QUERY_TIME | 1 << TTP_BLKIO), 1 << TTP_QUERY_TIME);
	ttp_result_release(&r);
	query_run_release(&run);
}

/* Which of a Q@C's ten has too many, with the seventh having these more. */
static uint32_t switching(struct query_run *run, uint64_t more, const struct ttp_options *o)
{
	struct query_execution *odd = &run->at.items[0].executions.items[6];
	struct ttp_result r;
	odd->usage[QUERY_QUERY].value[QUERY_NIVCSW] = more;
	ttp_judge(run, o, &r);
	uint32_t fired = 0;
	for (size_t i = 0; i < 10; i++)
		fired |= (r.fired[i] >> TTP_SWITCHES & 1) << i;
	assert_int_equal(r.checks[TTP_SWITCHES].fired, fired != 0);
	ttp_result_release(&r);
	return fired;
}

/* Against the nine others, whatever other cardinalities do. */
static void context_switches_are_judged_against_the_other_executions(void **state)
{
	(void)state;
	struct query_run run = { .cpus = 1 };
	struct query_execution *x = add_sound(&run, 1, 1000)->executions.items;
	add_sound(&run, 1, 2000);
	for (size_t i = 0; i < 10; i++)
		run.at.items[1].executions.items[i].usage[QUERY_QUERY].value[QUERY_NVCSW] = 5000;
	assert_int_equal(switching(&run, 0, &adapted), 0);
	assert_int_equal(switching(&run, 29, &adapted), 0); /* three roots of 101 */
	assert_int_equal(switching(&run, 31, &adapted), 1 << 6);
	assert_int_equal(switching(&run, 31, &by_paper), 0);
	x[6].plan = 8; /* alone with its plan */
	assert_int_equal(switching(&run, 31, &adapted), 0);
	x[6].plan = x[0].plan;
	for (uint32_t i = 0; i < 10; i++) /* sigma of the others: about 37 */
		x[i].usage[QUERY_QUERY].value[QUERY_NVCSW] = 100 + (i % 2) * 70;
	assert_int_equal(switching(&run, 130, &adapted), 0);
	assert_int_equal(switching(&run, 160, &adapted), 1 << 6);
	for (uint32_t i = 0; i < 10; i++)
		x[i].usage[QUERY_QUERY].value[QUERY_NVCSW] = 0;
	assert_int_equal(switching(&run, 3, &adapted), 0);
	assert_int_equal(switching(&run, 4, &adapted), 1 << 6);
	query_run_release(&run);
}

/* The paper's: of ten, none is 3 sigmas off; of a hundred one may be. */
static void the_papers_check_of_switches_is_over_all_of_a_query(void **state)
{
	(void)state;
	struct query_run run = { .cpus = 1 };
	struct ttp_result r;
	for (uint64_t c = 1; c <= 10; c++)
		add_sound(&run, 1, 1000 * c);
	ttp_judge(&run, &by_paper, &r);
	assert_int_equal(r.checks[TTP_SWITCHES].fired, 0);
	ttp_result_release(&r);
	run.at.items[4].executions.items[6].usage[QUERY_QUERY].value[QUERY_NIVCSW] = 50;
	run.at.items[4].executions.items[6].plan = 8;
	ttp_judge(&run, &by_paper, &r);
	assert_int_equal(r.checks[TTP_SWITCHES].fired, 1);
	assert_int_equal(r.fired[46], 1 << TTP_SWITCHES);
	assert_int_equal(r.wide[TTP_UNIQUE_PLAN].fired, 1);
	ttp_result_release(&r);
	query_run_release(&run);
}

static void checks_of_the_experiment_count_what_is_wrong_in_it(void **state)
{
	(void)state;
	struct query_run run = { .cpus = 2 };
	struct ttp_result r;
	add_sound(&run, 1, 1000);
	add_at(&run, 2, 1000);
	run.queries = 3;
	struct query_execution *x = run.at.items[0].executions.items;
	ttp_judge(&run, &adapted, &r);
	assert_int_equal(r.wide[TTP_MISSING_QUERY].fired, 2);
	for (int i = TTP_UNIQUE_PLAN; i < TTP_WIDE_CHECKS; i++)
		assert_int_equal(r.wide[i].fired, 0);
	ttp_result_release(&r);
	run.queries = 1;
	run.at.count = 1;
	x[0].usage[QUERY_DAEMON].missing = 1 << QUERY_READS;
	x[1].usage[QUERY_OWN].missing = 1; /* of nobody */
	x[2].ephemeral = -1;
	x[3].overall_ns[OVERALL_STEAL] = 100 * MS;
	x[4].overall_ns[OVERALL_STEAL] = 100 * MS + 1;
	x[5].overall_ns[OVERALL_GUEST] = 1;
	x[6].other_query = 1;
	x[7].other_utility = 2;
	x[8].usage[QUERY_DAEMON].missing = 1 << QUERY_BLKIO_NS; /* older than delay accounting */
	ttp_judge(&run, &adapted, &r);
	for (int i = 0; i < TTP_WIDE_CHECKS; i++)
		assert_int_equal(r.wide[i].fired, i != TTP_MISSING_QUERY && i != TTP_UNIQUE_PLAN);
	assert_int_equal(r.wide[TTP_STEAL].of, 10);
	for (int role = 0; role < QUERY_ROLES; role++)
		assert_int_equal(r.missing.roles[role],
				 role == QUERY_DAEMON ? 1 << QUERY_READS : 0);
	assert_int_equal(r.missing.overall, 0);
	assert_int_equal(r.executions_kept, 10); /* they drop nothing */
	ttp_result_release(&r);
	ttp_judge(&run, &by_paper, &r);
	assert_int_equal(r.wide[TTP_STEAL].fired, 2);
	assert_int_equal(r.wide[TTP_UNDERLYING].fired, 2);
	assert_int_equal(r.missing.roles[QUERY_DAEMON], 1 << QUERY_READS | 1 << QUERY_BLKIO_NS);
	ttp_result_release(&r);
	x[9].overall_missing = 1 << OVERALL_IOWAIT;
	ttp_judge(&run, &adapted, &r);
	assert_int_equal(r.wide[TTP_UNDERLYING].fired, 2);
	assert_int_equal(r.missing.overall, 1 << OVERALL_IOWAIT);
	ttp_result_release(&r);
	query_run_release(&run);
}

/* How often a check of the execution fired and was evaluated, of ten of which each is this one. */
static struct ttp_count count_of(struct query_execution x, const struct ttp_options *o,
				 enum ttp_check check)
{
	struct query_run run = { .cpus = 2 };
	struct query_at *q = add_at(&run, 1, 1000);
	struct ttp_result r;
	for (uint32_t i = 1; i <= 10; i++) {
		x.number = i;
		array_push(&q->executions, x);
	}
	ttp_judge(&run, o, &r);
	struct ttp_count count = r.checks[check];
	ttp_result_release(&r);
	query_run_release(&run);
	return count;
}

/* Neither passed nor failed; unless what is known decides it. */
static void what_was_not_measured_is_not_evaluated(void **state)
{
	(void)state;
	const uint32_t all = (1u << QUERY_MEASURES) - 1;
	for (int form = 0; form < 2; form++) {
		const struct ttp_options *o = form ? &by_paper : &adapted;
		struct query_execution x = sound(1);
		for (int i = 0; i <= TTP_LOST; i++)
			assert_int_equal(count_of(x, o, i).of, form && i == TTP_LOST ? 0 : 10);
		x.overall_missing = ~0u;
		for (int m = 0; m <= OVERALL_GUEST; m++)
			x.overall_ns[m] = 0;
		assert_int_equal(count_of(x, o, TTP_USER_TICKS).of, 0);
		assert_int_equal(count_of(x, o, TTP_USER_TICKS).fired, 0);
		assert_int_equal(count_of(x, o, TTP_OVERALL_CPU).of, 0);
		x.usage[QUERY_QUERY].missing = 1 << QUERY_NVCSW;
		assert_int_equal(count_of(x, o, TTP_SWITCHES).of, 0);
		x.ephemeral = -1;
		assert_int_equal(count_of(x, o, TTP_EPHEMERAL).of, 0);
		x.utility_most_ns = UINT64_MAX;
		assert_int_equal(count_of(x, o, TTP_AMBIGUOUS).of, 0);
		x.own_device_ns = UINT64_MAX;
		assert_int_equal(count_of(x, o, TTP_IOWAIT).of, 0);
		x.usage[QUERY_DAEMON] = (struct query_usage){ .missing = all };
		assert_int_equal(count_of(x, o, TTP_DBMS_TIME).of, 0);
		assert_int_equal(count_of(x, o, TTP_CPU).of, 0);
		/* what is known is too much already */
		x.usage[QUERY_UTILITY].value[QUERY_USER_NS] = 5000 * MS;
		assert_int_equal(count_of(x, o, TTP_CPU).fired, 10);
		assert_int_equal(count_of(x, o, TTP_CPU).of, 10);
		x = sound(1); /* blocked time is at most that of devices, and of the window */
		x.usage[QUERY_QUERY].missing = 1 << QUERY_BLKIO_NS;
		QUERY(QUERY_BLKIO_NS) = 0;
		x.usage[QUERY_DAEMON].value[QUERY_USER_NS] = 1000 * MS;
		x.own_device_ns = x.others_device_ns = 0;
		assert_int_equal(count_of(x, o, TTP_DBMS_TIME).fired, 10);
		x.own_device_ns = UINT64_MAX;
		assert_int_equal(count_of(x, o, TTP_DBMS_TIME).of, 0);
		x.usage[QUERY_DAEMON].value[QUERY_USER_NS] = 4000 * MS;
		assert_int_equal(count_of(x, o, TTP_DBMS_TIME).fired, 10);
		x.usage[QUERY_DAEMON].value[QUERY_USER_NS] = 10 * MS;
		assert_int_equal(count_of(x, o, TTP_DBMS_TIME).of, 10);
		assert_int_equal(count_of(x, o, TTP_QUERY_TIME).of, 0);
		assert_int_equal(count_of(x, o, TTP_BLKIO).of, 0);
		x.usage[QUERY_QUERY].missing = 1 << QUERY_USER_NS;
		QUERY(QUERY_USER_NS) = QUERY(QUERY_SYSTEM_NS) = 0;
		assert_int_equal(count_of(x, o, TTP_ZERO_TIME).fired, 0);
		assert_int_equal(count_of(x, o, TTP_ZERO_TIME).of, 0);
	}
	/* one without a CPU time does not vary, and has no part in the model */
	struct query_run run = { .cpus = 2 };
	struct query_at *q = add_sound(&run, 1, 1000);
	struct ttp_result r;
	q->executions.items[3].usage[QUERY_QUERY] =
		(struct query_usage){ .missing = all, .processes = 1 };
	ttp_judge(&run, &adapted, &r);
	assert_int_equal(r.at_checks[TTP_VARIATION].fired, 0);
	assert_int_equal(r.at_checks[TTP_VARIATION].of, 1);
	assert_int_equal(r.at_checks[TTP_RESULT_CACHE].of, 0);
	assert_true(r.post.constant >> TTP_Q_USER & 1);
	assert_true(isnan(ttp_model_value(&q->executions.items[3], TTP_Q_USER)));
	ttp_result_release(&r);
	query_run_release(&run);
}

/* ---- the steps ---- */

static enum ttp_drop drop_of(const struct query_at *q, const struct ttp_options *o)
{
	struct query_run run = { .cpus = 2, .queries = 1 };
	struct ttp_result r;
	array_push(&run.at, *q);
	ttp_judge(&run, o, &r);
	enum ttp_drop drop = r.at[0].drop;
	assert_int_equal(r.at_kept, drop == TTP_KEPT);
	assert_int_equal(r.dropped[drop], drop != TTP_KEPT);
	ttp_result_release(&r);
	array_release(&run.at);
	return drop;
}

static void a_query_with_few_sound_executions_is_dropped(void **state)
{
	(void)state;
	struct query_run run = { 0 };
	struct query_at *q = add_sound(&run, 1, 1000);
	struct query_execution *x = q->executions.items;
	assert_int_equal(drop_of(q, &by_paper), TTP_KEPT);

	for (int i = 0; i < 4; i++) /* six are left, then five */
		x[i].ephemeral = 1;
	assert_int_equal(drop_of(q, &by_paper), TTP_KEPT);
	x[4].ephemeral = 1;
	assert_int_equal(drop_of(q, &by_paper), TTP_DROP_FEW);

	for (uint32_t i = 0; i < 10; i++)
		x[i] = sound(i + 1);
	x[9].query_process = 6;
	assert_int_equal(drop_of(q, &by_paper), TTP_DROP_QUERY_PROCESS);
	x[9].ephemeral = 1; /* dropped: it does not matter then */
	assert_int_equal(drop_of(q, &by_paper), TTP_KEPT);
	x[9] = sound(10);
	x[4].query_process = 6; /* and back: twice another one */
	assert_int_equal(drop_of(q, &adapted), TTP_DROP_QUERY_PROCESS);

	for (uint32_t i = 0; i < 10; i++) {
		x[i] = sound(i + 1);
		x[i].usage[QUERY_QUERY].value[QUERY_USER_NS] = 5 * MS;
		x[i].usage[QUERY_QUERY].value[QUERY_BLKIO_NS] = 0;
		x[i].overall_ns[OVERALL_IOWAIT] = 0;
		x[i].overall_ns[OVERALL_USER] = x[i].overall_ns[OVERALL_SYSTEM] = 0;
		x[i].blkio_most_ns = 0;
		x[i].measured_ns = 2 * TICK;
	}
	assert_int_equal(drop_of(q, &by_paper), TTP_DROP_SHORT);
	assert_int_equal(drop_of(q, &adapted), TTP_KEPT); /* ns are seen */
	assert_int_equal(drop_of(q, &(struct ttp_options){ .floor_ns = 2 * TICK }), TTP_DROP_SHORT);
	x[0].measured_ns++;
	assert_int_equal(drop_of(q, &by_paper), TTP_KEPT);

	/* of 0 and 100 ms by turns sigma is more than 20 % of the mean */
	for (uint32_t i = 0; i < 10; i++) {
		x[i] = sound(i + 1);
		if (i % 2)
			x[i].usage[QUERY_QUERY].value[QUERY_USER_NS] = 20 * MS;
	}
	assert_int_equal(drop_of(q, &by_paper), TTP_DROP_VARIATION);
	query_run_release(&run);
}

/* Step 3 (ii): another process is expected after a new connection, and after a restart. */
static void a_new_connection_explains_another_query_process(void **state)
{
	(void)state;
	struct query_run run = { .cpus = 2 };
	struct query_execution *x = add_sound(&run, 1, 1000)->executions.items;
	struct ttp_result r;
	for (uint32_t i = 0; i < 10; i++) {
		x[i].started_at_ns = 1000 + i;
		x[i].query_process = i < 4 ? 5 : 6;
	}
	array_push(&run.events, ((struct query_event){ .kind = QUERY_BACKED_OFF, .at_ns = 900 }));
	ttp_judge(&run, &adapted, &r);
	assert_int_equal(r.at[0].drop, TTP_DROP_QUERY_PROCESS);
	ttp_result_release(&r);
	run.events.items[0].at_ns = 1003;
	ttp_judge(&run, &adapted, &r);
	assert_int_equal(r.at[0].drop, TTP_KEPT);
	ttp_result_release(&r);
	run.events.count = 0;
	run.cold = true;
	ttp_judge(&run, &adapted, &r); /* not restarted before each */
	assert_int_equal(r.at[0].drop, TTP_DROP_QUERY_PROCESS);
	ttp_result_release(&r);
	for (uint32_t i = 0; i < 10; i++)
		x[i].query_process = 100 + i;
	ttp_judge(&run, &adapted, &r);
	assert_int_equal(r.at[0].drop, TTP_KEPT);
	ttp_result_release(&r);
	run.events.count = 1; /* restarted before each, and connected again between two of them */
	ttp_judge(&run, &adapted, &r);
	assert_int_equal(r.at[0].drop, TTP_KEPT);
	ttp_result_release(&r);
	query_run_release(&run);
}

/* The first takes far longer than all others, by what is usual in the experiment. */
static void a_first_execution_that_is_far_slower_shows_a_result_cache(void **state)
{
	(void)state;
	struct query_run run = { .cpus = 1 };
	struct ttp_result r;
	for (uint64_t c = 1; c <= 200; c++) {
		struct query_at *q = add_sound(&run, 1, 1000 * c);
		for (size_t i = 0; i < 10; i++) /* sigma of 0.3 ms */
			q->executions.items[i].usage[QUERY_QUERY].value[QUERY_USER_NS] +=
				(uint64_t)(i % 4) * MS / 4;
	}
	ttp_judge(&run, &by_paper, &r);
	assert_int_equal(r.at_checks[TTP_RESULT_CACHE].fired, 0);
	ttp_result_release(&r);
	run.at.items[3].executions.items[0].usage[QUERY_QUERY].value[QUERY_USER_NS] += 10 * MS;
	ttp_judge(&run, &by_paper, &r);
	assert_int_equal(r.at_checks[TTP_RESULT_CACHE].fired, 1);
	assert_int_equal(r.at[3].drop, TTP_DROP_RESULT_CACHE);
	ttp_result_release(&r);
	run.at.items[3].executions.items[5].usage[QUERY_QUERY].value[QUERY_USER_NS] += 10 * MS;
	ttp_judge(&run, &by_paper, &r);
	assert_int_equal(r.at_checks[TTP_RESULT_CACHE].fired, 0);
	ttp_result_release(&r);
	query_run_release(&run);
}

/* Adds to every execution's user time; and spreads them by up to this. */
static void take_longer(struct query_at *q, uint64_t ns, uint64_t spread_ns)
{
	for (size_t i = 0; i < q->executions.count; i++) {
		struct query_execution *x = &q->executions.items[i];
		uint64_t more = ns + (i % 2 ? spread_ns : 0);
		x->usage[QUERY_QUERY].value[QUERY_USER_NS] += more;
		x->overall_ns[OVERALL_USER] += more;
	}
}

static void times_that_fall_with_more_rows_are_counted(void **state)
{
	(void)state;
	struct query_run run = { .cpus = 1 };
	struct ttp_result r;
	for (uint64_t c = 1; c <= 4; c++)
		add_sound(&run, 1, 1000 * c);
	add_sound(&run, 2, 500); /* of another query: no neighbour */
	take_longer(&run.at.items[0], 1 * MS, 0);
	take_longer(&run.at.items[1], 2 * MS, 0);
	take_longer(&run.at.items[2], 30 * MS, 0);
	take_longer(&run.at.items[3], 31 * MS, 0);
	ttp_judge(&run, &adapted, &r);
	assert_int_equal(r.post.strict.fired, 0);
	assert_int_equal(r.post.strict.of, 3);
	assert_int_equal(r.post.variation.of, 5);
	assert_near(r.relative_error, 0, 0);
	ttp_result_release(&r);
	take_longer(&run.at.items[1], 29 * MS,
		    8 * MS); /* longer than the third, within its sigma */
	ttp_judge(&run, &adapted, &r);
	assert_int_equal(r.post.strict.fired, 1);
	assert_int_equal(r.post.relaxed.fired, 1);
	assert_int_equal(r.at[1].after, 1 << TTP_STRICT | 1 << TTP_RELAXED);
	assert_int_equal(r.at_checks[TTP_STRICT].fired, 1);
	ttp_result_release(&r);
	take_longer(&run.at.items[2], 3 * MS, 0);
	ttp_judge(&run, &adapted, &r);
	assert_int_equal(r.post.strict.fired, 2); /* and the third is slower than the fourth */
	assert_int_equal(r.at[1].after, 1 << TTP_STRICT);
	ttp_result_release(&r);
	for (size_t i = 0; i < 10; i++)
		run.at.items[2].executions.items[i].plan = 9;
	ttp_judge(&run, &adapted, &r);
	/* the second is compared with the fourth, whose plan it has, as in a onepass run */
	assert_int_equal(r.post.strict.of, 2);
	assert_int_equal(r.post.strict.fired, 1);
	assert_int_equal(r.at[1].after & 1 << TTP_STRICT, 1 << TTP_STRICT);
	assert_int_equal(ttp_next_higher(&run, 1), 3);
	assert_true(ttp_next_higher(&run, 2) == SIZE_MAX);
	assert_true(ttp_next_higher(&run, 3) == SIZE_MAX); /* what follows is another query's */
	ttp_result_release(&r);
	query_run_release(&run);
}

static void every_time_of_a_query_is_calculated(void **state)
{
	(void)state;
	struct query_run run = { .cpus = 2 };
	struct ttp_result r;
	struct query_at *q = add_sound(&run, 1, 1000);
	ttp_judge(&run, &adapted, &r);
	const struct ttp_figure *t = r.at[0].times;
	assert_near(t[TTP_MEASURED].median_ns, 1000. * MS, 0);
	assert_near(t[TTP_CALC].median_ns, 300. * MS, 0);
	assert_near(t[TTP_BLOCKED].median_ns, 400. * MS, 0);
	assert_near(t[TTP_DEVICE].median_ns, 350. * MS, 0);
	assert_near(r.post.kept_difference, 0.7, 1e-12);
	/* everything but context switches is always the same */
	assert_int_equal(r.post.constant, ((1u << TTP_MODEL_MEASURES) - 1) & ~(1u << TTP_Q_NVCSW));
	ttp_result_release(&r);
	q->executions.items[4].own_device_ns = UINT64_MAX;
	ttp_judge(&run, &adapted, &r);
	assert_false(r.at[0].times[TTP_DEVICE].present);
	assert_true(r.at[0].times[TTP_BLOCKED].present);
	ttp_result_release(&r);
	query_run_release(&run);
	ttp_judge(&run, &adapted, &r); /* of nothing at all */
	assert_int_equal(r.at_kept, 0);
	ttp_result_release(&r);
}

/* What rests on a measure that was not seen is not known. */
static void a_time_that_rests_on_an_unseen_measure_is_unknown(void **state)
{
	(void)state;
	static const struct {
		uint32_t missing, overall, known; /* bits; of enum ttp_time */
	} cases[] = {
		{ 0, 0, 1 << TTP_MEASURED | 1 << TTP_CALC | 1 << TTP_BLOCKED | 1 << TTP_DEVICE },
		{ 1 << QUERY_USER_NS, 0, 1 << TTP_MEASURED },
		{ 1 << QUERY_SYSTEM_NS, 0, 1 << TTP_MEASURED },
		{ 1 << QUERY_BLKIO_NS, 0, 1 << TTP_MEASURED | 1 << TTP_DEVICE },
		{ 0, 1 << OVERALL_IOWAIT, 1 << TTP_MEASURED | 1 << TTP_BLOCKED | 1 << TTP_DEVICE },
		{ 1 << QUERY_READS, 1 << OVERALL_USER,
		  1 << TTP_MEASURED | 1 << TTP_CALC | 1 << TTP_BLOCKED | 1 << TTP_DEVICE },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct query_execution x = sound(1);
		uint32_t known = 0;
		double ns;
		x.usage[QUERY_QUERY].missing = cases[i].missing;
		x.overall_missing = cases[i].overall;
		for (int t = 0; t < TTP_TIMES; t++)
			known |= (uint32_t)ttp_time_of(&x, (enum ttp_time)t, &ns) << t;
		assert_int_equal(known, cases[i].known);
	}
	struct query_run run = { .cpus = 2 };
	struct ttp_result r;
	struct query_at *q = add_sound(&run, 1, 1000);
	q->executions.items[0].usage[QUERY_QUERY].missing = 1 << QUERY_BLKIO_NS;
	ttp_judge(&run, &adapted, &r);
	assert_true(isnan(r.post.kept_difference) && isnan(r.relative_error));
	ttp_result_release(&r);
	query_run_release(&run);
}

/* One lost event costs one execution, not the run's headline; and what is dropped still has a time
 * beside it. */
static void a_lost_event_costs_one_execution_and_not_the_headline(void **state)
{
	(void)state;
	struct query_run run = { .cpus = 2 };
	struct ttp_result r;
	struct query_at *q = add_sound(&run, 1, 1000);
	q->executions.items[0].lost = 3;
	q->executions.items[0].own_device_ns = UINT64_MAX;
	ttp_judge(&run, &adapted, &r);
	assert_int_equal(r.executions_kept, 9);
	assert_int_equal(ttp_best_time(&run, &r), TTP_DEVICE);
	assert_false(r.at[0].unfiltered[TTP_DEVICE].present);
	ttp_result_release(&r);
	for (size_t i = 0; i < 10; i++) {
		q->executions.items[i].ephemeral = 1;
		q->executions.items[i].measured_ns += i * MS;
	}
	q->executions.items[9].timed_out = true;
	ttp_judge(&run, &adapted, &r);
	assert_int_equal(r.executions_kept, 0);
	assert_false(r.at[0].times[TTP_MEASURED].present);
	assert_near(r.at[0].unfiltered[TTP_MEASURED].median_ns, 1004. * MS, 0);
	ttp_result_release(&r);
	query_run_release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_papers_example_comes_out),
		cmocka_unit_test(io_of_seven_ticks_is_calculated_as_in_the_paper),
		cmocka_unit_test(processes_only_in_the_first_snapshot_are_ephemeral),
		cmocka_unit_test(each_check_of_the_paper_fires_at_its_bound),
		cmocka_unit_test(each_adapted_check_fires_at_its_bound),
		cmocka_unit_test(a_short_count_of_workers_is_named),
		cmocka_unit_test(blocked_time_of_other_threads_does_not_fire_a_check),
		cmocka_unit_test(context_switches_are_judged_against_the_other_executions),
		cmocka_unit_test(the_papers_check_of_switches_is_over_all_of_a_query),
		cmocka_unit_test(checks_of_the_experiment_count_what_is_wrong_in_it),
		cmocka_unit_test(a_query_with_few_sound_executions_is_dropped),
		cmocka_unit_test(a_new_connection_explains_another_query_process),
		cmocka_unit_test(what_was_not_measured_is_not_evaluated),
		cmocka_unit_test(a_first_execution_that_is_far_slower_shows_a_result_cache),
		cmocka_unit_test(times_that_fall_with_more_rows_are_counted),
		cmocka_unit_test(every_time_of_a_query_is_calculated),
		cmocka_unit_test(a_time_that_rests_on_an_unseen_measure_is_unknown),
		cmocka_unit_test(a_lost_event_costs_one_execution_and_not_the_headline),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
