/* The report of runs for other programs: JSON, CSV, markup, and the tables of executions and
 * processes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <cmocka.h>

#include "base/array.h"
#include "csv.h"
#include "fixture.h"

static json_t *json_of(const struct run_view *views, size_t count)
{
	struct strbuf out = { 0 };
	json_error_t error;
	time_json(views, count, 0, &out);
	json_t *root = json_loads(strbuf_text(&out), 0, &error);
	if (!root)
		fail_msg("%s at line %d", error.text, error.line);
	strbuf_release(&out);
	return root;
}

/* "results.0.times.3": what is there; the test fails when nothing is. */
static json_t *at(json_t *value, const char *path)
{
	char copy[200], *save;
	snprintf(copy, sizeof copy, "%s", path);
	for (char *key = strtok_r(copy, ".", &save); key; key = strtok_r(NULL, ".", &save)) {
		value = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10))
					     : json_object_get(value, key);
		if (!value)
			fail_msg("nothing at %s of %s", key, path);
	}
	return value;
}

static void assert_near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-12 + 1e-12 * fabs(b)))
		fail_msg("%.17g is not %.17g", a, b);
}

static double number(json_t *root, const char *path)
{
	json_t *value = at(root, path);
	assert_true(json_is_number(value));
	return json_number_value(value);
}

/* The meaning of hyperfine's fields, worked out here from the executions alone. */
static void fields_that_hyperfine_has_mean_what_they_mean_there(void **state)
{
	(void)state;
	static struct fixture f;
	fixture_init(&f, "./prog", 10, 100);
	f.run.shell = strdup("sh");
	f.run.shell_et_ns = 1000000;
	f.run.shell_pt_ns[GRADE_EXEC] = 400000;
	f.run.shell_pt_ns[GRADE_NET] = 500000;
	fixture_judge(&f);
	fixture_drop(&f, 3, EMP_OUTSIDE, "outside");
	f.executions[5].outcome = OUTCOME_SIGNALLED;
	f.executions[5].status = 9;
	f.executions[6].outcome = OUTCOME_TIMED_OUT;
	f.executions[7].et_ns = 5; /* less than the shell's */
	f.executions[8].pt_ns[GRADE_NET] = ABSENT_NS;
	f.executions[9].user_ns = f.executions[9].system_ns = ABSENT_NS; /* hit by no tick */
	f.result.user_share = 0.625; /* not what one execution would give */
	json_t *root = json_of(&f.view, 1);
	assert_string_equal(json_string_value(at(root, "results.0.command")), "./prog");
	assert_int_equal(json_array_size(at(root, "results.0.times")), 10);
	double sum = 0, exec = 0, squares = 0, low = 1e9, high = 0;
	for (size_t i = 1; i <= 10; i++) {
		const struct execution *x = &f.executions[i];
		double t = i == 7 ? 0 : ((double)x->et_ns - 1000000) / 1e9;
		assert_near(json_number_value(json_array_get(at(root, "results.0.times"), i - 1)),
			    t);
		sum += t;
		exec += i == 8 ? 0 : ((double)x->pt_ns[GRADE_NET] - 500000) / 1e9;
		low = t < low ? t : low;
		high = t > high ? t : high;
	}
	for (size_t i = 0; i < 10; i++) {
		double t = json_number_value(json_array_get(at(root, "results.0.times"), i));
		squares += (t - sum / 10) * (t - sum / 10);
	}
	assert_near(number(root, "results.0.mean"), sum / 10);
	assert_near(number(root, "results.0.stddev"), sqrt(squares / 9));
	assert_near(number(root, "results.0.user"), exec / 9 * 0.625);
	assert_near(number(root, "results.0.system"), exec / 9 * 0.375);
	assert_near(number(root, "results.0.tare.protocol.user_share"), 0.625);
	assert_true(json_is_null(at(root, "results.0.tare.executions.9.user_ns")));
	assert_int_equal(json_integer_value(at(root, "results.0.tare.executions.1.user_ns")),
			 f.executions[1].user_ns);
	assert_null(json_object_get(at(root, "results.0.tare.shell"), "user_ns"));
	assert_near(number(root, "results.0.min"), low);
	assert_near(number(root, "results.0.max"), high);
	assert_int_equal(json_integer_value(at(root, "results.0.exit_codes.0")), 0);
	assert_int_equal(json_integer_value(at(root, "results.0.exit_codes.4")), 137);
	assert_true(json_is_null(at(root, "results.0.exit_codes.5")));
	assert_int_equal(json_integer_value(at(root, "results.0.memory_usage_byte.0")),
			 f.executions[1].totals.rss_peak_bytes);
	assert_near(number(root, "results.0.process_times.0"),
		    ((double)f.executions[1].pt_ns[GRADE_NET] - 500000) / 1e9);
	assert_null(json_object_get(at(root, "results.0"), "parameters"));
	json_decref(root);
	fixture_release(&f);
}

static void what_tare_adds_is_in_an_object_of_its_own(void **state)
{
	(void)state;
	static struct fixture f;
	fixture_init(&f, "./prog", 4, 100);
	fixture_drop(&f, 3, EMP_OUTSIDE, "outside; kworker/0 ran");
	fixture_drop(&f, 4, EMP_CUTOFF, "cron ran 3 ns, above its cutoff of 2 ns");
	strcpy(f.verdicts[4].daemon, "cron");
	f.result.cutoffs = (struct emp_cutoffs){ .count = 2, .hold = 1, .study = 5 };
	fixture_warn(&f, "few", "few executions", "take more");
	fixture_parameter(&f, "threads", "4");
	json_t *root = json_of(&f.view, 1);
	assert_string_equal(json_string_value(at(root, "results.0.parameters.threads")), "4");
	json_t *tare = at(root, "results.0.tare");
	assert_int_equal(json_integer_value(at(tare, "run")), 7);
	assert_string_equal(json_string_value(at(tare, "grade")), "net");
	assert_string_equal(json_string_value(at(tare, "started_at")), "2025-11-15T09:12:33.123Z");
	assert_int_equal(json_integer_value(at(tare, "conditions.runs")), 10);
	assert_int_equal(json_integer_value(at(tare, "protocol.measures.et.kept.n")), 2);
	assert_int_equal(json_integer_value(at(tare, "protocol.measures.et.unfiltered.n")), 4);
	assert_int_equal(json_array_size(at(tare, "protocol.drops")), 2);
	assert_int_equal(json_integer_value(at(tare, "protocol.drops.0.number")), 3);
	assert_string_equal(json_string_value(at(tare, "protocol.drops.0.rule")), "II");
	assert_true(json_is_null(at(tare, "protocol.drops.0.daemon")));
	assert_string_equal(json_string_value(at(tare, "protocol.drops.1.rule")), "I");
	assert_string_equal(json_string_value(at(tare, "protocol.drops.1.daemon")), "cron");
	assert_near(number(tare, "protocol.drops.1.high_ns"), 2);
	assert_string_equal(json_string_value(at(tare, "executions.4.verdict.daemon")), "cron");
	assert_int_equal(json_integer_value(at(tare, "protocol.cutoffs.study")), 5);
	assert_int_equal(json_integer_value(at(tare, "protocol.cutoffs.hold")), 1);
	assert_true(json_is_null(at(tare, "protocol.cutoffs.made_at")));
	assert_string_equal(json_string_value(at(tare, "protocol.warnings.0.remedy")), "take more");
	assert_int_equal(json_array_size(at(tare, "executions")), 5);
	assert_true(json_is_true(at(tare, "executions.0.warmup")));
	assert_int_equal(json_integer_value(at(tare, "executions.2.et_ns")), f.executions[2].et_ns);
	assert_int_equal(json_integer_value(at(tare, "executions.2.overall.switches")), 1002);
	assert_int_equal(json_integer_value(at(tare, "executions.2.totals.min_flt")), 345);
	assert_string_equal(json_string_value(at(tare, "executions.3.verdict.reason")),
			    "outside; kworker/0 ran");
	assert_string_equal(json_string_value(at(tare, "executions.1.processes.1.name")),
			    "kworker/0");
	json_decref(root);
	fixture_release(&f);
}

static void null_is_not_zero(void **state)
{
	(void)state;
	static struct fixture f;
	fixture_init(&f, "\xff\"\n", 1, 100);
	fixture_plain(&f);
	f.run.id = f.run.invocation = 0;
	f.view.machine = NULL;
	json_t *root = json_of(&f.view, 1);
	static const char *const nulls[] = {
		"stddev",
		"user",
		"system",
		"memory_usage_byte.0",
		"tare.run",
		"tare.machine",
		"tare.shell",
		"tare.executions.1.pt_ns.net",
		"tare.executions.1.totals.exec",
		"tare.executions.1.tree_ns",
		"tare.executions.1.ephemeral",
		"tare.executions.1.processes",
		"tare.executions.1.overall.switches",
		"tare.executions.1.user_ns",
		"tare.protocol.user_share",
		"tare.protocol.measures.pt_net.kept",
		"tare.protocol.measures.user.kept",
		"tare.protocol.measures.et.kept.stddev_ns",
	};
	for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
		if (!json_is_null(at(at(root, "results.0"), nulls[i])))
			fail_msg("%s is not null", nulls[i]);
	assert_string_equal(json_string_value(at(root, "results.0.command")), "\xef\xbf\xbd\"\n");
	assert_near(number(root, "results.0.mean"), (double)f.executions[1].et_ns / 1e9);
	json_decref(root);
	f.view.count = f.result.count = 0;
	fixture_judge(&f);
	root = json_of(&f.view, 1);
	assert_int_equal(json_array_size(at(root, "results")), 0);
	assert_true(json_is_null(at(root, "tare.failed_runs.0.mean")));
	assert_true(json_is_null(at(root, "tare.failed_runs.0.min")));
	assert_int_equal(json_array_size(at(root, "tare.failed_runs.0.times")), 0);
	json_decref(root);
	f.view.count = 2;
	fixture_release(&f);
	root = json_of(NULL, 0);
	assert_int_equal(json_array_size(at(root, "results")), 0);
	json_decref(root);
}

static void comparisons_point_to_their_places_in_the_results(void **state)
{
	(void)state;
	static struct fixture f[3];
	fixture_init(&f[0], "slow", 10, 200);
	fixture_init(&f[1], "fast", 10, 100);
	fixture_init(&f[2], "none", 0, 100);
	/* the places are those in results, which does not have a run without executions */
	struct run_view views[] = { f[2].view, f[0].view, f[1].view };
	json_t *root = json_of(views, 3);
	assert_int_equal(json_array_size(at(root, "results")), 2);
	assert_string_equal(json_string_value(at(root, "results.1.command")), "fast");
	assert_int_equal(json_array_size(at(root, "tare.failed_runs")), 1);
	assert_string_equal(json_string_value(at(root, "tare.failed_runs.0.command")), "none");
	assert_int_equal(json_array_size(at(root, "tare.comparisons")), 1);
	assert_int_equal(json_integer_value(at(root, "tare.comparisons.0.reference")), 1);
	assert_int_equal(json_integer_value(at(root, "tare.comparisons.0.result")), 0);
	assert_near(number(root, "tare.comparisons.0.ratio"),
		    f[0].result.kept[EMP_PT_NET].mean / f[1].result.kept[EMP_PT_NET].mean);
	assert_true(json_is_true(at(root, "tare.comparisons.0.significant")));
	json_decref(root);
	for (size_t i = 0; i < 3; i++)
		fixture_release(&f[i]);
}

static void csv_has_a_row_for_each_run_with_executions(void **state)
{
	(void)state;
	static struct fixture f[3];
	fixture_init(&f[2], "none", 0, 100); /* left out */
	fixture_init(&f[0], "a, \"b\"\nc", 10, 200);
	fixture_init(&f[1], "single", 1, 100);
	fixture_drop(&f[0], 2, EMP_OUTSIDE, "x");
	fixture_drop(&f[0], 4, EMP_CUTOFF, "y");
	fixture_parameter(&f[0], "n", "1,5");
	fixture_parameter(&f[1], "m", "x");
	struct run_view views[] = { f[0].view, f[1].view, f[2].view };
	struct strbuf out = { 0 };
	struct csv csv;
	time_csv(views, 3, 0, &out);
	static const char header[] = "command,mean,stddev,median,user,system,min,max,parameter_n,"
				     "parameter_m,run,";
	assert_memory_equal(out.text, header, strlen(header));
	csv_parse(out.text, &csv);
	assert_int_equal(csv.rows, 3);
	assert_string_equal(csv_at(&csv, 1, "command"), "a, \"b\"\nc");
	assert_string_equal(csv_at(&csv, 1, "parameter_n"), "1,5");
	assert_string_equal(csv_at(&csv, 1, "parameter_m"), "");
	assert_string_equal(csv_at(&csv, 1, "measured"), "10");
	assert_string_equal(csv_at(&csv, 1, "kept"), "8");
	assert_string_equal(csv_at(&csv, 1, "dropped_outside"), "1");
	assert_string_equal(csv_at(&csv, 1, "dropped_cutoff"), "1");
	assert_string_equal(csv_at(&csv, 2, "stddev"), "");
	assert_near(strtod(csv_at(&csv, 2, "mean"), NULL), (double)f[1].executions[1].et_ns / 1e9);
	assert_near(strtod(csv_at(&csv, 1, "pt_net_mean_ns"), NULL),
		    f[0].result.kept[EMP_PT_NET].mean);
	json_t *root = json_of(views, 2);
	static const char *const same[] = { "mean",   "stddev", "median", "user",
					    "system", "min",	"max" };
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		assert_near(strtod(csv_at(&csv, 1, same[i]), NULL),
			    number(at(root, "results.0"), same[i]));
	json_decref(root);
	csv_release(&csv);
	strbuf_release(&out);
	for (size_t i = 0; i < 3; i++)
		fixture_release(&f[i]);
}

static void check_markup(const struct run_view *views, size_t count, enum time_unit unit,
			 const char *expected)
{
	struct strbuf out = { 0 };
	time_markup(views, count, 0, &(struct style){ .unit = unit }, TABLE_MARKDOWN, &out);
	assert_string_equal(strbuf_text(&out), expected);
	strbuf_release(&out);
}

static void markdown_has_relative_times_in_one_unit(void **state)
{
	(void)state;
	static struct fixture f[3];
	fixture_init(&f[0], "a|b", 2, 200);
	fixture_init(&f[1], "one", 1, 100);
	fixture_init(&f[2], "none", 0, 1);
	f[0].executions[1].et_ns = 200000000;
	f[0].executions[2].et_ns = 206000000;
	f[1].executions[1].et_ns = 100000000;
	for (size_t i = 1; i < 3; i++)
		f[0].executions[i].pt_ns[GRADE_NET] = 150000000 + i * 100000;
	f[1].executions[1].pt_ns[GRADE_NET] = 75000000;
	fixture_judge(&f[0]);
	fixture_judge(&f[1]);
	struct run_view views[] = { f[0].view, f[1].view, f[2].view };
	check_markup(views, 3, TIME_UNIT_AUTO,
		     "| Command | Mean [ms] | Min [ms] | Max [ms] | PT net [ms] | PT relative |\n"
		     "|:---|---:|---:|---:|---:|---:|\n"
		     "| `a\\|b` | 203 ± 4 | 200 | 206 | 150.15 ± 0.07 | 2.00 |\n"
		     "| `one` | 100.0 | 100.0 | 100.0 | 75.00 | 1.00 |\n");
	/* one that sleeps is compared by elapsed time */
	f[1].result.spent.blocked = 0.25;
	check_markup(views, 3, TIME_UNIT_AUTO,
		     "| Command | Mean [ms] | Min [ms] | Max [ms] | Relative | PT net [ms] |\n"
		     "|:---|---:|---:|---:|---:|---:|\n"
		     "| `a\\|b` | 203 ± 4 | 200 | 206 | 2.03 | 150.15 ± 0.07 |\n"
		     "| `one` | 100.0 | 100.0 | 100.0 | 1.00 | 75.00 |\n");

	f[0].result.present[EMP_PT_NET] = f[0].result.present[EMP_PT_EXEC] = false;
	f[0].result.present[EMP_PT_TICK] = false;
	check_markup(views, 1, TIME_UNIT_SECOND,
		     "| Command | Mean [s] | Min [s] | Max [s] | Relative |\n"
		     "|:---|---:|---:|---:|---:|\n"
		     "| `a\\|b` | 0.203 ± 0.004 | 0.200 | 0.206 | 1.00 |\n");
	for (size_t i = 0; i < 3; i++)
		fixture_release(&f[i]);
}

static void tables_of_executions_and_processes_have_all_that_was_seen(void **state)
{
	(void)state;
	static struct fixture f;
	struct strbuf out = { 0 };
	struct csv csv;
	fixture_init(&f, "./prog", 2, 100);
	f.executions[2].pt_ns[GRADE_NET] = ABSENT_NS;
	f.executions[2].ephemeral = -1;
	f.run.shell_et_ns = 1000000;
	f.executions[1].totals.value[TASK_NIVCSW] = 1234;
	f.executions[2].totals.present &= ~(UINT64_C(1) << TASK_NIVCSW);
	f.executions[2].totals.rss_peak_bytes = 0;
	fixture_drop(&f, 2, EMP_FAILED, "exited with 1");
	struct table *t = time_executions(&f.view, 1);
	table_render(t, TABLE_CSV, NULL, &out);
	table_free(t);
	csv_parse(out.text, &csv);
	assert_int_equal(csv.rows, 4);
	assert_string_equal(csv_at(&csv, 1, "warmup"), "1");
	assert_string_equal(csv_at(&csv, 2, "et_ns"), "101490000");
	assert_string_equal(csv_at(&csv, 2, "et_less_shell_ns"), "100490000");
	assert_string_equal(csv_at(&csv, 2, "rule"), "kept");
	assert_string_equal(csv_at(&csv, 3, "pt_net_ns"), "");
	assert_string_equal(csv_at(&csv, 3, "pt_less_shell_ns"), "");
	assert_string_equal(csv_at(&csv, 3, "ephemeral"), "");
	assert_string_equal(csv_at(&csv, 3, "totals_min_flt"), "345");
	assert_string_equal(csv_at(&csv, 3, "reason"), "exited with 1");
	csv_release(&csv);
	strbuf_clear(&out);
	t = time_executions_brief(&f.view);
	table_render(t, TABLE_TEXT, &(struct style){ .width = 80 }, &out);
	assert_string_equal(out.text,
			    "#    Elapsed    Process    Memory  Forced  Rule    Reason\n"
			    "1  101.31 ms  99.930 ms  12.0 MiB      12  warmup\n"
			    "1  100.49 ms  99.850 ms  12.0 MiB    1234  kept\n"
			    "2  101.00 ms          -         -       -  failed  exited with 1\n");
	table_free(t);
	strbuf_clear(&out);
	t = time_processes(&f.view);
	table_render(t, TABLE_CSV, NULL, &out);
	csv_parse(out.text, &csv);
	assert_string_equal(csv_at(&csv, 1, "role"), "subject");
	assert_string_equal(csv_at(&csv, 2, "name"), "kworker/0");
	assert_string_equal(csv_at(&csv, 3, "name"), "sshd");
	assert_string_equal(csv_at(&csv, 3, "executions"), "2");
	assert_string_equal(csv_at(&csv, 3, "exec_total_ns"), "1003000"); /* 501 + 502 µs */
	assert_string_equal(csv_at(&csv, 3, "exec_mean_ns"), "501500");
	assert_string_equal(csv_at(&csv, 3, "exec_max_ns"), "502000");
	assert_string_equal(csv_at(&csv, 1, "started"), "2");
	csv_release(&csv);
	strbuf_clear(&out);
	table_render(t, TABLE_TEXT, &(struct style){ .width = 80 }, &out);
	for (char *save, *line = strtok_r(out.text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		assert_true(strlen(line) <= 82); /* µ has two bytes */
	table_free(t);
	strbuf_release(&out);
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_that_hyperfine_has_mean_what_they_mean_there),
		cmocka_unit_test(what_tare_adds_is_in_an_object_of_its_own),
		cmocka_unit_test(null_is_not_zero),
		cmocka_unit_test(comparisons_point_to_their_places_in_the_results),
		cmocka_unit_test(csv_has_a_row_for_each_run_with_executions),
		cmocka_unit_test(markdown_has_relative_times_in_one_unit),
		cmocka_unit_test(tables_of_executions_and_processes_have_all_that_was_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
