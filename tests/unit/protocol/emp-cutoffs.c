/* EMP's rule (I): by hand, on the papers' own samples, and the warnings about a study that does not
 * fit. */
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
#include "emp-fixture.h"
#include "protocol/emp/cutoffs_validity.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define DAY_NS 86400000000000
#define NOW_NS 1763197953123000000

/* Ten executions of about a second. */
static void make_ten(struct execution *x)
{
	double et[10], pt[10];
	for (size_t i = 0; i < 10; i++) {
		et[i] = (1000 + (double)(i % 3)) * MS;
		pt[i] = (990 + (double)(i % 3)) * MS;
	}
	make(x, 10, et, pt);
}

static void judge(const struct execution *x, size_t n, const struct cutoff *cutoffs, size_t count,
		  struct emp_result *r)
{
	struct run run = { 0 };
	emp_judge(&run, x, n, &(struct emp_options){ .cutoffs = cutoffs, .cutoff_count = count },
		  r);
}

static void an_execution_with_a_daemon_above_its_cutoff_is_dropped(void **state)
{
	(void)state;
	struct execution x[10];
	struct emp_result r;
	static const struct cutoff cutoffs[] = {
		{ .daemon = "rhn_check", .below_ns = 720000000000, .cutoff_ns = 281000000 },
		{ .daemon = "rhn_check", .from_ns = 720000000000, .cutoff_ns = 12828000000 },
		{ .daemon = "cron", .cutoff_ns = 10000000 },
	};
	make_ten(x);
	x[0].warmup = true;
	x[1].status = 1;
	add_process(&x[0], ROLE_DAEMON, "rhn_check", 999 * MS); /* not judged twice */
	add_process(&x[1], ROLE_DAEMON, "rhn_check", 999 * MS);
	add_process(&x[2], ROLE_DAEMON, "rhn_check", 281 * MS); /* not above */
	add_process(&x[3], ROLE_DAEMON, "rhn_check", 562 * MS);
	add_process(&x[4], ROLE_SUBJECT, "rhn_check", 900 * MS); /* no daemon here */
	add_process(&x[4], ROLE_SELF, "cron", 900 * MS);
	add_process(&x[5], ROLE_DAEMON, "rhn_check", 200 * MS); /* two are not one */
	add_process(&x[5], ROLE_DAEMON, "rhn_check", 200 * MS);
	/* cron is above by 3 times, rhn_check by 2 */
	add_process(&x[6], ROLE_DAEMON, "rhn_check", 562 * MS);
	add_process(&x[6], ROLE_DAEMON, "cron", 20 * MS);
	add_process(&x[6], ROLE_DAEMON, "cron", 30 * MS);
	add_process(&x[7], ROLE_DAEMON, "other", 900 * MS); /* has no cutoff */
	add_process(&x[8], ROLE_DAEMON, "cron", 10 * MS + 1);
	judge(x, 10, cutoffs, 3, &r);
	static const enum emp_rule rules[] = { EMP_WARMUP, EMP_FAILED, EMP_KEPT,   EMP_CUTOFF,
					       EMP_KEPT,   EMP_KEPT,   EMP_CUTOFF, EMP_KEPT,
					       EMP_CUTOFF, EMP_KEPT };
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(r.verdicts[i].rule, rules[i]);
	assert_string_equal(emp_rule_names[EMP_CUTOFF], "I");
	assert_string_equal(r.verdicts[3].daemon, "rhn_check");
	assert_string_equal(r.verdicts[3].reason,
			    "rhn_check ran 562 ms, above its cutoff of 281 ms");
	assert_near(r.verdicts[3].value_ns, 562 * MS, 0);
	assert_near(r.verdicts[3].low_ns, 0, 0);
	assert_near(r.verdicts[3].high_ns, 281 * MS, 0);
	assert_string_equal(r.verdicts[6].reason, "cron ran 30.0 ms, above its cutoff of 10.0 ms");
	/* as many digits as it takes */
	assert_string_equal(r.verdicts[8].reason,
			    "cron ran 10.000001 ms, above its cutoff of 10.000000 ms");
	assert_string_equal(r.verdicts[9].daemon, "");
	assert_int_equal(r.dropped[EMP_CUTOFF], 3);
	assert_int_equal(r.kept[EMP_ET].n, 5);
	assert_int_equal(r.unfiltered[EMP_ET].n, 8); /* without both rules */
	assert_int_equal(r.cutoffs.count, 3);
	assert_int_equal(r.cutoffs.hold, 2);
	assert_true(r.cutoffs.seen);
	assert_near(r.cutoffs.program_ns, 1001 * MS, 0.5 * MS);
	assert_null(find(&r, "cutoffs_many"));
	emp_result_release(&r);

	/* no cutoffs: no rule (I) */
	judge(x, 10, cutoffs, 0, &r);
	assert_int_equal(r.dropped[EMP_CUTOFF], 0);
	assert_int_equal(r.cutoffs.count, 0);
	emp_result_release(&r);
	release_executions(x, 10);
}

/* The scheduler's time was not seen: the tick's is taken. Nothing seen drops nothing. */
static void a_daemons_time_is_the_ticks_where_the_schedulers_is_unseen(void **state)
{
	(void)state;
	struct execution x[10];
	struct emp_result r;
	static const struct cutoff cutoff = { .daemon = "cron", .cutoff_ns = 10000000 };
	make_ten(x);
	judge(x, 10, &cutoff, 1, &r);
	assert_false(r.cutoffs.seen);
	assert_int_equal(r.cutoffs.hold, 1);
	emp_result_release(&r);
	for (size_t i = 0; i < 2; i++) {
		add_process(&x[i], ROLE_DAEMON, "cron", 0);
		x[i].processes.items[0].value[TASK_USER] = 8000000;
		x[i].processes.items[0].value[TASK_SYSTEM] = 4000000;
	}
	x[0].processes.items[0].present = 1 << TASK_USER | 1 << TASK_SYSTEM;
	x[1].processes.items[0].present = 1 << TASK_USER;
	judge(x, 10, &cutoff, 1, &r);
	assert_int_equal(r.verdicts[0].rule, EMP_CUTOFF);
	assert_near(r.verdicts[0].value_ns, 12 * MS, 0);
	assert_int_equal(r.verdicts[1].rule, EMP_KEPT);
	emp_result_release(&r);
	release_executions(x, 10);

	/* none at all, and warm-ups only */
	judge(x, 0, &cutoff, 1, &r);
	assert_int_equal(r.cutoffs.hold, 0);
	emp_result_release(&r);
	x[0] = execution(1e9, 1e9);
	x[0].warmup = true;
	judge(x, 1, &cutoff, 1, &r);
	assert_int_equal(r.cutoffs.hold, 0);
	assert_int_equal(r.dropped[EMP_CUTOFF], 0);
	emp_result_release(&r);
}

/* Which cutoff holds is told by the length of the program: the median, the shell taken off. */
static void the_length_of_the_program_tells_which_cutoff_holds(void **state)
{
	(void)state;
	static const struct cutoff cutoffs[] = {
		{ .daemon = "a", .below_ns = 1000000000, .cutoff_ns = 5000000 },
		{ .daemon = "a", .from_ns = 1000000000, .cutoff_ns = 50000000 },
	};
	static const struct {
		double et_ns, shell_ns, cutoff_ns;
	} cases[] = { { 999 * MS, 0, 5 * MS },
		      { 1000 * MS, 0, 50 * MS },
		      { 1000 * MS, 1, 5 * MS },
		      { 60000 * MS, 0, 50 * MS } };
	for (size_t k = 0; k < COUNT(cases); k++) {
		struct execution x[3];
		struct run run = { .shell_et_ns = (uint64_t)cases[k].shell_ns };
		struct emp_result r;
		for (size_t i = 0; i < 3; i++)
			x[i] = execution(cases[k].et_ns, cases[k].et_ns);
		add_process(&x[1], ROLE_DAEMON, "a", cases[k].cutoff_ns + 1);
		add_process(&x[2], ROLE_DAEMON, "a", cases[k].cutoff_ns);
		emp_judge(&run, x, 3,
			  &(struct emp_options){ .cutoffs = cutoffs, .cutoff_count = 2 }, &r);
		assert_int_equal(r.cutoffs.hold, 1);
		assert_int_equal(r.verdicts[1].rule, EMP_CUTOFF);
		assert_int_equal(r.verdicts[2].rule, EMP_KEPT);
		assert_near(r.verdicts[1].high_ns, cases[k].cutoff_ns, 0);
		emp_result_release(&r);
		release_executions(x, 3);
	}
}

/* Rule (II) takes mean and sigma of what rule (I) keeps: 1.2 s is inside with the 9 s one. */
static void rule_two_judges_what_the_cutoffs_kept(void **state)
{
	(void)state;
	struct execution x[12];
	struct emp_result r;
	static const struct cutoff cutoff = { .daemon = "backup", .cutoff_ns = 100000000 };
	for (size_t i = 0; i < 12; i++)
		x[i] = execution((1000 + (double)i) * MS, (1000 + (double)i) * MS);
	x[4] = execution(9000 * MS, 9000 * MS);
	x[5] = execution(1200 * MS, 1200 * MS);
	add_process(&x[4], ROLE_DAEMON, "backup", 8000 * MS);
	judge(x, 12, &cutoff, 0, &r);
	assert_int_equal(r.verdicts[4].rule, EMP_OUTSIDE);
	assert_int_equal(r.verdicts[5].rule, EMP_KEPT);
	emp_result_release(&r);
	judge(x, 12, &cutoff, 1, &r);
	assert_int_equal(r.verdicts[4].rule, EMP_CUTOFF);
	assert_int_equal(r.verdicts[5].rule, EMP_OUTSIDE);
	assert_int_equal(r.kept[EMP_PT_EXEC].n, 10);
	assert_int_equal(r.unfiltered[EMP_PT_EXEC].n, 12);
	assert_near(r.unfiltered[EMP_PT_EXEC].max, 9000 * MS, 0);
	/* mean of 0..11 without 4 and 5 is 5.7 */
	assert_near(r.kept[EMP_PT_EXEC].mean, 1005.7 * MS, 1);
	size_t n;
	free(emp_values(&(struct run){ 0 }, x, &r, EMP_ET, &n));
	assert_int_equal(n, 10);
	/* what rule (I) explains is no outlier that nobody knows the reason of */
	assert_non_null(find(&r, "outliers"));
	assert_text(&r, "outliers", "1 of 11 executions lies far from the rest: PT 1.20 s");
	emp_result_release(&r);
	release_executions(x, 12);
}

static void a_warning_says_that_cutoffs_dropped_more_than_half(void **state)
{
	(void)state;
	struct execution x[10];
	struct emp_result r;
	static const struct cutoff cutoffs[] = { { .daemon = "a", .cutoff_ns = 1 },
						 { .daemon = "b", .cutoff_ns = 1 } };
	make_ten(x);
	for (size_t i = 0; i < 5; i++)
		add_process(&x[i], ROLE_DAEMON, i < 2 ? "a" : "b", MS);
	judge(x, 10, cutoffs, 2, &r);
	assert_int_equal(r.dropped[EMP_CUTOFF], 5);
	assert_null(find(&r, "cutoffs_many")); /* half is not more than half */
	emp_result_release(&r);
	for (size_t i = 5; i < 10; i++)
		add_process(&x[i], ROLE_DAEMON, "b", MS);
	judge(x, 10, cutoffs, 2, &r);
	assert_int_equal(r.kept[EMP_ET].n, 0);
	assert_text(&r, "cutoffs_many",
		    "cutoffs dropped 10 of 10 executions, 8 of them because of b");
	assert_remedy(&r, "cutoffs_many", "--no-cutoffs");
	emp_result_release(&r);
	release_executions(x, 10);
}

static void warnings_of(const struct emp_origin *origin, bool holds, struct emp_result *r)
{
	struct run run = { .started_at_ns = NOW_NS };
	struct execution x[10];
	struct cutoff cutoff = { .daemon = "a",
				 .from_ns = holds ? 0 : 9000000000000,
				 .cutoff_ns = 1 };
	make_ten(x);
	emp_judge(&run, x, 10,
		  &(struct emp_options){ .cutoffs = &cutoff, .cutoff_count = 1, .origin = *origin },
		  r);
}

static void cutoffs_older_than_90_days_are_warned_of(void **state)
{
	(void)state;
	static const struct {
		int64_t days;
		const char *says;
	} cases[] = { { 0, NULL },
		      { 90, NULL },
		      { 91, "made 91 days before this run" },
		      { -90, NULL },
		      { -400, "made 400 days after this run" } };
	struct emp_result r;
	for (size_t k = 0; k < COUNT(cases); k++) {
		struct emp_origin o = { .study = 3, .made_at_ns = NOW_NS - cases[k].days * DAY_NS };
		warnings_of(&o, true, &r);
		assert_int_equal(r.cutoffs.study, 3);
		if (cases[k].says) {
			assert_text(&r, "cutoffs_old", cases[k].says);
			assert_remedy(&r, "cutoffs_old", "tare calibrate");
		} else {
			assert_null(find(&r, "cutoffs_old"));
		}
		emp_result_release(&r);
	}
	/* not known; and cutoffs of which none holds */
	warnings_of(&(struct emp_origin){ 0 }, true, &r);
	assert_null(find(&r, "cutoffs_old"));
	emp_result_release(&r);
	warnings_of(&(struct emp_origin){ .made_at_ns = NOW_NS - 900 * DAY_NS }, false, &r);
	assert_null(find(&r, "cutoffs_old"));
	emp_result_release(&r);
}

static const char *changes(const char *then_text, const char *now_text, bool quieted,
			   struct emp_result *r)
{
	struct machine then = { 0 }, now = { 0 };
	machine_from_text(&then, then_text);
	machine_from_text(&now, now_text);
	warnings_of(&(struct emp_origin){ .then = &then, .now = &now, .quieted = quieted }, true,
		    r);
	machine_release(&then);
	machine_release(&now);
	const struct emp_warning *w = find(r, "cutoffs_changed");
	return w ? w->text : "";
}

static void a_warning_says_how_the_machine_changed_since_its_study(void **state)
{
	(void)state;
	static const char then[] =
		"kernel.release=6.1.0-9\ncpu.model=A\nnow.daemons.timed=cron\n"
		"now.daemons.service=cupsd,smartd\nnow.daemons.updates=apt\n"
		"now.daemons.ntp=none\ncpu.present=0-3\ncpu.online=0-1\ncpu.smt=on\n"
		"system.timers=8\n";
	static const struct {
		const char *now;
		bool quieted;
		const char *says; /* after the colon; "": no warning */
	} cases[] = {
		{ "kernel.release=6.1.0-9\ncpu.model=A\nnow.daemons.timed=cron\n"
		  "now.daemons.service=smartd,cupsd\nnow.daemons.updates=none\n"
		  "now.daemons.ntp=none\n",
		  false, "" },
		{ "kernel.release=6.1.0-10\ncpu.model=B\n", false,
		  "kernel 6.1.0-10, was 6.1.0-9; CPU B, was A" },
		{ "kernel.release=6.1.0-9\nnow.daemons.service=cupsd,smartd,dockerd\n"
		  "now.daemons.ntp=chronyd\n",
		  false, "now runs dockerd, chronyd" },
		{ "now.daemons.service=smart\nnow.daemons.timed=none\n", false,
		  "now runs smart; no longer runs cron, cupsd, smartd" },
		{ "now.daemons.service=none\nnow.daemons.timed=none\n", true, "" },
		{ "now.daemons.service=dockerd\nnow.daemons.timed=none\n", true,
		  "now runs dockerd" },
		{ "cpu.present=0-7\ncpu.online=0-3\ncpu.smt=off\nsystem.timers=9\n", false,
		  "CPUs present 0-7, was 0-3; CPUs online 0-3, was 0-1; SMT off, was on" },
		{ "something=else\n", false, "" }, /* not known is no change */
	};
	for (size_t k = 0; k < COUNT(cases); k++) {
		struct emp_result r;
		char expected[256] = "";
		const char *text = changes(then, cases[k].now, cases[k].quieted, &r);
		if (*cases[k].says)
			snprintf(expected, sizeof expected,
				 "the machine is not as it was at its study: %s", cases[k].says);
		assert_string_equal(text, expected);
		emp_result_release(&r);
	}
	/* a long list is cut, not overrun */
	char many_daemons[4000] = "now.daemons.service=";
	for (size_t i = 0, at = strlen(many_daemons); i < 300; i++)
		at += (size_t)snprintf(many_daemons + at, sizeof many_daemons - at, "d%zu,", i);
	struct emp_result r;
	const char *text = changes(then, many_daemons, false, &r);
	assert_holds(text, "now runs d0, d1, d2");
	assert_true(strlen(text) < 256);
	emp_result_release(&r);
}

/* What the warning is made of: each fact with the daemons that make the difference. */
static void changes_of_the_machine_are_listed_with_what_came_and_went(void **state)
{
	(void)state;
	struct machine then = { 0 }, now = { 0 };
	cutoffs_change_list list = { 0 };
	machine_from_text(&then, "kernel.release=1\nnow.daemons.service=a, b\n"
				 "now.daemons.timed=cron\nnow.daemons.updates=apt\n");
	machine_from_text(&now, "kernel.release=2\nnow.daemons.service=b,c,d\n"
				"now.daemons.timed=none\nnow.daemons.updates=dnf\n");
	cutoffs_changes(&then, &now, false, &list);
	assert_int_equal(list.count, 3);
	assert_string_equal(list.items[0].fact, "kernel.release");
	assert_string_equal(list.items[0].name, "kernel");
	assert_string_equal(list.items[0].then, "1");
	assert_string_equal(list.items[0].now, "2");
	assert_string_equal(list.items[1].fact, "now.daemons.timed");
	assert_null(list.items[1].name);
	assert_null(list.items[1].come);
	assert_string_equal(list.items[1].gone, "cron");
	assert_string_equal(list.items[2].then, "a, b");
	assert_string_equal(list.items[2].come, "c, d");
	assert_string_equal(list.items[2].gone, "a");
	cutoffs_changes_release(&list);
	cutoffs_changes(&then, &now, true, &list);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.items[1].come, "c, d");
	assert_null(list.items[1].gone);
	cutoffs_changes_release(&list);
	cutoffs_changes(&then, &then, false, &list);
	assert_int_equal(list.count, 0);
	machine_release(&then);
	machine_release(&now);
}

/* ---- the papers' samples ---- */

static void read_cutoffs(cutoff_list *out)
{
	FILE *f = fopen(TARE_GOLDEN "/emp-cutoffs.csv", "r");
	assert_non_null(f);
	char line[256];
	while (fgets(line, sizeof line, f)) {
		char *fields[5] = { 0 }, *rest = line;
		for (size_t i = 0; i < 5 && rest; i++)
			fields[i] = strsep(&rest, ",\n");
		if (*line == '#' || !fields[4] || !strcmp(fields[0], "daemon"))
			continue;
		struct cutoff c = { .cutoff_ns = strtoull(fields[4], NULL, 10) * 1000000 };
		snprintf(c.daemon, sizeof c.daemon, "%s", fields[0]);
		if (*fields[3] == '<')
			c.below_ns = strtoull(fields[3] + 1, NULL, 10) * 1000000000;
		else if (*fields[3] == '>')
			c.from_ns = strtoull(fields[3] + 2, NULL, 10) * 1000000000;
		array_push(out, c);
	}
	fclose(f);
}

static void read_samples(const char *path, struct execution *x, size_t n)
{
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	char line[256], name[32];
	size_t number, rows = 0;
	double ms;
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%zu,%31[^,],%lf", &number, name, &ms) != 3)
			continue;
		assert_in_range(number, 1, n);
		add_process(&x[number - 1], ROLE_DAEMON, name, ms * MS);
		rows++;
	}
	assert_true(rows > 20);
	fclose(f);
}

/* EMP Table XVII. */
static void the_samples_that_emps_table_xvii_drops_are_dropped(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		size_t samples;
		double et_ns;
		uint32_t dropped[16]; /* ends with 0 */
	} runs[] = {
		{ TARE_GOLDEN "/emp-inc128-lsamples.csv",
		  800,
		  128250 * MS,
		  { 75, 104, 186, 216, 298, 328, 366, 410, 439, 522, 551, 634, 663, 746, 775 } },
		{ TARE_GOLDEN "/emp-inc16384-lsamples.csv", 40, 16416637 * MS, { 10, 16 } },
	};
	cutoff_list cutoffs = { 0 };
	read_cutoffs(&cutoffs);
	assert_int_equal(cutoffs.count, 16);
	for (size_t k = 0; k < COUNT(runs); k++) {
		struct execution *x = calloc(runs[k].samples, sizeof *x);
		struct emp_result r;
		for (size_t i = 0; i < runs[k].samples; i++) {
			x[i] = execution(runs[k].et_ns, runs[k].et_ns);
			x[i].number = (uint32_t)i + 1;
		}
		read_samples(runs[k].path, x, runs[k].samples);
		judge(x, runs[k].samples, cutoffs.items, cutoffs.count, &r);
		const uint32_t *next = runs[k].dropped;
		for (size_t i = 0; i < runs[k].samples; i++) {
			bool dropped = x[i].number == *next;
			assert_int_equal(r.verdicts[i].rule, dropped ? EMP_CUTOFF : EMP_KEPT);
			next += dropped;
		}
		assert_int_equal(*next, 0);
		emp_result_release(&r);
		release_executions(x, runs[k].samples);
		free(x);
	}
	array_release(&cutoffs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_execution_with_a_daemon_above_its_cutoff_is_dropped),
		cmocka_unit_test(a_daemons_time_is_the_ticks_where_the_schedulers_is_unseen),
		cmocka_unit_test(the_length_of_the_program_tells_which_cutoff_holds),
		cmocka_unit_test(rule_two_judges_what_the_cutoffs_kept),
		cmocka_unit_test(a_warning_says_that_cutoffs_dropped_more_than_half),
		cmocka_unit_test(cutoffs_older_than_90_days_are_warned_of),
		cmocka_unit_test(a_warning_says_how_the_machine_changed_since_its_study),
		cmocka_unit_test(the_samples_that_emps_table_xvii_drops_are_dropped),
		cmocka_unit_test(changes_of_the_machine_are_listed_with_what_came_and_went),
	};
	return cmocka_run_group_tests_name("emp-cutoffs", tests, NULL, NULL);
}
