/* A run by version of EMP, and the study of the sample size. */
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
#include "protocol/emp/versions.h"
#include "stats/random.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char good_machine[] =
	"now.daemons.service=none\nnow.daemons.timed=none\nnow.daemons.updates=none\n"
	"now.daemons.index=none\nnow.daemons.ntp=chronyd\nnow.clock.synchronised=yes\n"
	"cpu.turbo=off\ncpu.governor=performance\nkernel.release=6.1.0-9\n";

#define YEAR_NS (INT64_C(365) * 24 * 3600 * 1000000000)
#define IN_2023_NS (INT64_C(1700000000) * 1000000000)

static void every_version_has_a_name_and_says_what_it_adds(void **state)
{
	(void)state;
	assert_string_equal(emp_version_names[EMP_V0], "v0");
	assert_string_equal(emp_version_names[EMP_V6], "v6");
	for (enum emp_version v = EMP_V0; v < EMP_STEADY; v++)
		assert_true(strlen(emp_version_adds(v)) > 5);
}

static void each_condition_of_a_version_is_judged_by_the_machines_facts(void **state)
{
	(void)state;
	static const struct {
		const char *facts; /* instead of those of the good machine */
		enum emp_version v;
		enum emp_met met;
		const char *why;
	} cases[] = {
		{ "", EMP_V1, EMP_MET, "No known non-critical service runs" },
		{ "now.daemons.service=cupsd\n", EMP_V1, EMP_NOT_MET, "cupsd" },
		{ "now.daemons.timed=cron\n", EMP_V1, EMP_NOT_MET, "cron" },
		{ "now.daemons.timed=cron\n", EMP_V2, EMP_MET, "kept by NTP" },
		{ "", EMP_V2, EMP_MET, "kept by NTP" },
		{ "now.clock.synchronised=no\n", EMP_V2, EMP_MET, "chronyd runs" },
		{ "now.clock.synchronised=no\nnow.daemons.ntp=none\n", EMP_V2, EMP_NOT_MET,
		  "not synchronised" },
		{ "", EMP_V3, EMP_MET, "Turbo is off" },
		{ "cpu.turbo=on\n", EMP_V3, EMP_NOT_MET, "Turbo (boost) is on" },
		{ "cpu.governor=powersave\n", EMP_V3, EMP_NOT_MET, "powersave" },
		{ "cpu.frequency.driver=none\n", EMP_V3, EMP_CANNOT_SAY,
		  "no control of the CPU frequency" },
		{ "cpu.frequency.driver=none\ncpu.turbo=on\n", EMP_V3, EMP_NOT_MET,
		  "Turbo (boost) is on" },
		{ "now.load.1=2.1\ncpu.online.count=2\n", EMP_V1, EMP_NOT_MET,
		  "The load average is 2.1 on 2 CPUs" },
		{ "now.load.1=0.6\ncpu.online.count=2\n", EMP_V1, EMP_MET,
		  "No known non-critical service runs" },
		{ "kernel.release=5.10.0-30-amd64\n", EMP_V4, EMP_CANNOT_SAY, "from about 2020" },
		{ "kernel.release=6.12.9\n", EMP_V4, EMP_MET, "Linux 6.12.9" },
		{ "kernel.release=5.4.0\n", EMP_V4, EMP_NOT_MET, "older than 5.8" },
		{ "", EMP_V4, EMP_MET, "Linux 6.1.0-9" },
		{ "kernel.release=2.6.28\n", EMP_V4, EMP_NOT_MET, "2.6.28" },
		{ "", EMP_V0, EMP_NOT_MET, "nothing of the machine" },
		{ "", EMP_V5, EMP_NOT_MET, "nothing of the machine" },
	};
	char why[EMP_WHY];
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct machine m = { 0 }, changes = { 0 };
		machine_from_text(&m, good_machine);
		machine_from_text(&changes, cases[i].facts);
		for (size_t k = 0; k < changes.facts.count; k++)
			machine_set(&m, changes.facts.items[k].key, changes.facts.items[k].value);
		assert_int_equal(emp_condition(&m, IN_2023_NS, cases[i].v, why), cases[i].met);
		assert_holds(why, cases[i].why);
		machine_release(&m);
		machine_release(&changes);
	}
	/* the same kernel three years later */
	struct machine old = { 0 };
	machine_from_text(&old, good_machine);
	assert_int_equal(emp_condition(&old, IN_2023_NS + 3 * YEAR_NS, EMP_V4, why),
			 EMP_CANNOT_SAY);
	assert_holds(why, "whether it has had its updates");
	/* neither turbo nor governor: that there is no fact is no good fact */
	struct machine m = { 0 };
	machine_set(&m, "cpu.turbo", "off");
	assert_int_equal(emp_condition(&m, IN_2023_NS, EMP_V3, why), EMP_CANNOT_SAY);
	machine_release(&m);
	machine_release(&old);
	/* nothing known, nothing met */
	machine_set(&m, "cpu.model", "A");
	for (enum emp_version v = EMP_V1; v <= EMP_V4; v++) {
		assert_int_equal(emp_condition(&m, IN_2023_NS, v, why), EMP_CANNOT_SAY);
		assert_holds(why, "not known here");
		assert_int_equal(emp_condition(NULL, IN_2023_NS, v, why), EMP_CANNOT_SAY);
		assert_holds(why, "nothing is known");
	}
	machine_release(&m);
}

/* A warm-up, a failure and twelve that count: ET 110 ms and PT 100 ms but for the third, in which a
 * daemon ran, and the fifth, which used more itself. */
static void make_run(struct execution x[14])
{
	for (size_t i = 0; i < 14; i++)
		x[i] = execution(110 * MS, 100 * MS);
	x[0].warmup = true;
	x[2].status = 1;
	x[4].et_ns = 300000000; /* the third that counts */
	add_process(&x[4], ROLE_DAEMON, "backup", 190 * MS);
	x[6].pt_ns[GRADE_EXEC] = 200000000; /* the fifth */
}

static const struct cutoff backup = { .daemon = "backup", .cutoff_ns = 50000000 };

static void each_version_drops_what_its_rules_say(void **state)
{
	(void)state;
	struct execution x[14];
	struct run run = { .started_at_ns = IN_2023_NS };
	struct machine m = { 0 };
	struct emp_versions v;
	/* that the run was judged with other rules is no matter */
	struct emp_options o = { .keep_outside = true, .cutoffs = &backup, .cutoff_count = 1 };
	make_run(x);
	machine_from_text(&m, good_machine);
	emp_versions(&run, x, 14, &m, &o, &v);
	for (enum emp_version i = EMP_V0; i < EMP_STEADY; i++) {
		assert_int_equal(v.rows[i].version, i);
		assert_true(v.rows[i].held);
		assert_int_equal(v.rows[i].measure, i ? EMP_PT_EXEC : EMP_ET);
	}
	for (enum emp_version i = EMP_V0; i <= EMP_V4; i++) {
		assert_int_equal(v.rows[i].n, 12);
		assert_int_equal(v.rows[i].dropped_cutoff + v.rows[i].dropped_outside, 0);
		assert_near(v.rows[i].et.mean, (11 * 110 + 300) / 12.0 * MS, 1);
		assert_near(v.rows[i].value.mean, (i ? 1300 : 1510) / 12.0 * MS, 1);
	}
	/* rule (I) drops the third; then mean + 2 sigma is 169.4 ms, and rule (II) the fifth */
	assert_int_equal(v.rows[EMP_V5].n, 10);
	assert_int_equal(v.rows[EMP_V5].dropped_cutoff, 1);
	assert_int_equal(v.rows[EMP_V5].dropped_outside, 1);
	assert_near(v.rows[EMP_V5].value.mean, 100 * MS, 0);
	assert_near(v.rows[EMP_V5].et.max, 110 * MS, 0);
	/* of the first ten */
	assert_int_equal(v.rows[EMP_V6].n, 8);
	assert_int_equal(v.rows[EMP_V6].dropped_cutoff, 1);
	assert_int_equal(v.rows[EMP_V6].dropped_outside, 1);
	assert_string_equal(v.rows[EMP_V0].why, "");
	assert_string_equal(v.rows[EMP_V5].why, "1 cutoff for this length");
	assert_holds(v.rows[EMP_V6].why, "the first 10 of 12");

	/* one that is not met takes those after it along, and they say so */
	machine_set(&m, "cpu.turbo", "on");
	emp_versions(&run, x, 14, &m, &o, &v);
	for (enum emp_version i = EMP_V0; i < EMP_STEADY; i++)
		assert_int_equal(v.rows[i].held, i < EMP_V3);
	assert_holds(v.rows[EMP_V3].why, "Turbo (boost) is on");
	assert_string_equal(v.rows[EMP_V4].why, "v3 is not met");
	assert_string_equal(v.rows[EMP_V6].why, "v3 is not met");
	assert_int_equal(v.rows[EMP_V5].n, 10); /* the figures are there all the same */
	/* what cannot be said is said beside what is not met before it */
	machine_set(&m, "now.daemons.timed", "cron");
	machine_set(&m, "cpu.turbo", "off");
	machine_set(&m, "cpu.frequency.driver", "none");
	emp_versions(&run, x, 14, &m, &o, &v);
	assert_string_equal(
		v.rows[EMP_V3].why,
		"v1 is not met, and it cannot be said: This kernel has no control of the "
		"CPU frequency");
	assert_false(v.rows[EMP_V3].held || v.rows[EMP_V3].unsaid);
	machine_release(&m);
	release_executions(x, 14);
}

static void a_version_whose_condition_is_unknown_is_not_held(void **state)
{
	(void)state;
	struct execution x[14];
	struct run run = { .started_at_ns = IN_2023_NS };
	struct machine m = { 0 };
	struct emp_versions v;
	machine_from_text(&m, good_machine);
	make_run(x);
	/* facts of the machine */
	emp_versions(&run, x, 14, NULL,
		     &(struct emp_options){ .cutoffs = &backup, .cutoff_count = 1 }, &v);
	assert_true(v.rows[EMP_V0].held);
	for (enum emp_version i = EMP_V1; i <= EMP_V4; i++) {
		assert_true(!v.rows[i].held && v.rows[i].unsaid);
		assert_holds(v.rows[i].why, "nothing is known of the machine");
	}
	assert_true(v.rows[EMP_V5].unsaid);
	assert_string_equal(v.rows[EMP_V5].why, "v1 cannot be said");
	/* what is not met is not met, whatever cannot be said before it */
	emp_versions(&run, x, 14, NULL, &(struct emp_options){ 0 }, &v);
	assert_false(v.rows[EMP_V5].unsaid || v.rows[EMP_V5].held);
	assert_holds(v.rows[EMP_V5].why, "no cutoffs of this machine");
	assert_string_equal(v.rows[EMP_V6].why, "v5 is not met");
	/* cutoffs, or any for this length, or daemons */
	emp_versions(&run, x, 14, &m, &(struct emp_options){ 0 }, &v);
	assert_true(v.rows[EMP_V4].held);
	assert_false(v.rows[EMP_V5].held);
	assert_holds(v.rows[EMP_V5].why, "no cutoffs of this machine");
	assert_string_equal(v.rows[EMP_V6].why, "v5 is not met");
	assert_int_equal(v.rows[EMP_V5].dropped_cutoff, 0);
	assert_int_equal(v.rows[EMP_V5].dropped_outside, 1);
	/* a study that found nothing to drop is one */
	emp_versions(&run, x, 14, &m, &(struct emp_options){ .origin.study = 3 }, &v);
	assert_true(v.rows[EMP_V5].held);
	assert_holds(v.rows[EMP_V5].why, "found no cutoff");
	struct cutoff late = backup;
	late.from_ns = 1000000000;
	emp_versions(&run, x, 14, &m, &(struct emp_options){ .cutoffs = &late, .cutoff_count = 1 },
		     &v);
	assert_false(v.rows[EMP_V5].held);
	assert_holds(v.rows[EMP_V5].why, "no cutoff of this machine is for this length");
	release_executions(x, 14);
	x[4].processes = (typeof(x[4].processes)){ 0 };
	emp_versions(&run, x, 14, &m,
		     &(struct emp_options){ .cutoffs = &backup, .cutoff_count = 1 }, &v);
	assert_false(v.rows[EMP_V5].held);
	assert_holds(v.rows[EMP_V5].why, "no daemon was seen");
	/* process time */
	for (size_t i = 0; i < 14; i++)
		x[i].pt_ns[GRADE_EXEC] = ABSENT_NS;
	emp_versions(&run, x, 14, &m, &(struct emp_options){ 0 }, &v);
	assert_false(v.rows[EMP_V1].held);
	assert_string_equal(v.rows[EMP_V1].why, "no process time was seen");
	assert_int_equal(v.rows[EMP_V5].measure, EMP_ET);
	/* ten samples; any at all */
	emp_versions(&run, x, 5, &m, &(struct emp_options){ 0 }, &v);
	assert_false(v.rows[EMP_V6].held);
	assert_string_equal(v.rows[EMP_V6].why, "only 3");
	assert_int_equal(v.rows[EMP_V6].n, 3);
	emp_versions(&run, NULL, 0, &m, &(struct emp_options){ 0 }, &v);
	for (enum emp_version i = EMP_V0; i < EMP_STEADY; i++)
		assert_int_equal(v.rows[i].n, 0);
	machine_release(&m);
}

/* The fifth used more process time itself, but no more elapsed time; the last took longer, but no
 * more process time. */
static void rule_ii_judges_by_the_measure_asked_for(void **state)
{
	(void)state;
	struct execution x[20];
	struct run run = { .started_at_ns = IN_2023_NS };
	struct emp_versions v;
	emp_size_list sizes = { 0 };
	for (size_t i = 0; i < 20; i++)
		x[i] = execution((110 + (double)(i % 2)) * MS, (100 + (double)(i % 2)) * MS);
	x[4].pt_ns[GRADE_EXEC] = 109000000;
	x[19].et_ns = 300000000;
	struct emp_options o = { .by_measure = true, .measure = EMP_ET };
	emp_versions(&run, x, 20, NULL, &o, &v);
	assert_int_equal(v.rows[EMP_V5].measure, EMP_ET);
	assert_int_equal(v.rows[EMP_V5].dropped_outside, 1);
	assert_near(v.rows[EMP_V5].et.max, 111 * MS, 0);
	assert_near(v.rows[EMP_V5].value.max, 111 * MS, 0);
	emp_sizes(&run, x, 20, &o, &sizes);
	assert_int_equal(sizes.items[0].dropped_outside, 1);
	assert_near(sizes.items[0].value.max, 111 * MS, 0);
	array_release(&sizes);
	/* by default process time is judged, and what took longer stays */
	emp_versions(&run, x, 20, NULL, &(struct emp_options){ 0 }, &v);
	assert_int_equal(v.rows[EMP_V5].measure, EMP_PT_EXEC);
	assert_near(v.rows[EMP_V5].et.max, 300 * MS, 0);
	assert_near(v.rows[EMP_V5].value.max, 101 * MS, 0);
	/* what was not seen cannot be judged by */
	o.measure = EMP_PT_NET;
	emp_versions(&run, x, 20, NULL, &o, &v);
	assert_int_equal(v.rows[EMP_V5].measure, EMP_PT_EXEC);
	release_executions(x, 20);
}

/* n executions whose PT goes 2 ms below a second, 1 below, ... 2 above, and so on. */
static struct execution *make_steady(size_t n)
{
	struct execution *x = calloc(n ? n : 1, sizeof *x);
	for (size_t i = 0; i < n; i++)
		x[i] = execution(1010 * MS, (998 + (double)(i % 5)) * MS);
	return x;
}

/* The n that is marked, 0 for none; every list begins with the whole and falls. */
static size_t recommended(const struct execution *x, size_t n, const struct cutoff *cutoff)
{
	struct run run = { .started_at_ns = IN_2023_NS };
	emp_size_list sizes = { 0 };
	size_t found = 0, marks = 0;
	emp_sizes(&run, x, n,
		  &(struct emp_options){ .cutoffs = cutoff, .cutoff_count = cutoff ? 1 : 0 },
		  &sizes);
	for (size_t i = 0; i < sizes.count; i++) {
		assert_true(i ? sizes.items[i].n < sizes.items[i - 1].n : sizes.items[i].n == n);
		marks += sizes.items[i].recommended;
		found = sizes.items[i].recommended ? sizes.items[i].n : found;
	}
	assert_true(marks <= 1);
	array_release(&sizes);
	return found;
}

static void sizes_of_samples_are_those_of_the_paper(void **state)
{
	(void)state;
	static const struct {
		size_t whole, sizes[12];
	} cases[] = { { 800, { 800, 400, 200, 100, 40, 30, 20, 10, 5 } },
		      { 300, { 300, 150, 75, 40, 30, 20, 10, 5 } },
		      { 40, { 40, 30, 20, 10, 5 } },
		      { 12, { 12, 10, 5 } },
		      { 5, { 5 } },
		      { 1, { 1 } },
		      { 0, { 0 } } };
	for (size_t k = 0; k < COUNT(cases); k++) {
		struct run run = { .started_at_ns = IN_2023_NS };
		emp_size_list sizes = { 0 };
		struct execution *x = make_steady(cases[k].whole);
		emp_sizes(&run, x, cases[k].whole, &(struct emp_options){ 0 }, &sizes);
		for (size_t i = 0; i < sizes.count; i++)
			assert_int_equal(sizes.items[i].n, cases[k].sizes[i]);
		assert_int_equal(cases[k].sizes[sizes.count], 0);
		array_release(&sizes);
		free(x);
	}
}

static void each_size_counts_only_measured_executions(void **state)
{
	(void)state;
	struct execution x[14];
	struct run run = { .started_at_ns = IN_2023_NS };
	emp_size_list sizes = { 0 };
	make_run(x);
	emp_sizes(&run, x, 14,
		  &(struct emp_options){
			  .keep_outside = true, .cutoffs = &backup, .cutoff_count = 1 },
		  &sizes);
	assert_int_equal(sizes.count, 3);
	static const size_t n[] = { 12, 10, 5 }, kept[] = { 10, 8, 4 }, outside[] = { 1, 1, 0 };
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(sizes.items[i].n, n[i]);
		assert_int_equal(sizes.items[i].value.n, kept[i]);
		assert_int_equal(sizes.items[i].et.n, kept[i]);
		assert_int_equal(sizes.items[i].dropped_cutoff, 1);
		assert_int_equal(sizes.items[i].dropped_outside, outside[i]);
	}
	assert_near(sizes.items[0].value.mean, 100 * MS, 0);
	assert_near(sizes.items[2].value.mean, 125 * MS, 0); /* 3 of 100 and one of 200 */
	array_release(&sizes);
	release_executions(x, 14);
}

static void the_least_size_that_is_like_the_whole_is_recommended(void **state)
{
	(void)state;
	/* every part is like the whole: the paper's ten, though five are, too */
	struct execution *x = make_steady(800);
	assert_int_equal(recommended(x, 800, NULL), 10);
	assert_int_equal(recommended(x, 10, NULL), 10);
	assert_int_equal(recommended(x, 9, NULL), 0);
	assert_int_equal(recommended(x, 0, NULL), 0);

	/* the first 20 are all alike: 40 still show a sigma of 1.01 ms, 100 one of 1.27, all 1.40
	 */
	for (size_t i = 0; i < 20; i++)
		x[i].pt_ns[GRADE_EXEC] = 1000000000;
	assert_int_equal(recommended(x, 800, NULL), 100);

	/* ten that happen to be like the whole, while 20 to 40 are not: not relied on */
	for (size_t i = 0; i < 40; i++)
		x[i].pt_ns[GRADE_EXEC] =
			(uint64_t)(i < 10 ? (998 + (double)(i % 5)) * MS : 1000 * MS);
	assert_int_equal(recommended(x, 800, NULL), 100);
	free(x);

	/* nothing but the whole: sigma grows to the end */
	x = make_steady(40);
	for (size_t i = 0; i < 40; i++)
		x[i].pt_ns[GRADE_EXEC] = 1000000000 + (uint64_t)(i * i * 1000000);
	assert_int_equal(recommended(x, 40, NULL), 40);

	/* all alike, to the clock */
	for (size_t i = 0; i < 40; i++)
		x[i].pt_ns[GRADE_EXEC] = 1000000000 + i;
	assert_int_equal(recommended(x, 40, NULL), 10);
	free(x);

	/* 3 of the first 10 are outliers, and of the first 20: 30 % and 15 %, against 0.4 % */
	x = make_steady(800);
	for (size_t i = 0; i < 3; i++)
		add_process(&x[i], ROLE_DAEMON, "backup", 51 * MS);
	assert_int_equal(recommended(x, 800, &backup), 30);

	/* all of them dropped: there is no sigma to be near to */
	for (size_t i = 3; i < 800; i++)
		add_process(&x[i], ROLE_DAEMON, "backup", 51 * MS);
	assert_int_equal(recommended(x, 800, &backup), 0);
	release_executions(x, 800);
	free(x);
}

/* Executions that do not depend on each other: ten tell as much as any number, but for chance. */
static void ten_are_recommended_for_nearly_all_runs_of_independent_executions(void **state)
{
	(void)state;
	for (int skewed = 0; skewed < 2; skewed++) {
		struct random r = { 17 };
		int ten = 0, at_most_20 = 0;
		for (int i = 0; i < 60; i++) {
			struct execution *x = make_steady(300);
			for (size_t k = 0; k < 300; k++) {
				double u = 1 - random_unit(&r), v = random_unit(&r);
				double z = sqrt(-2 * log(u)) * cos(2 * M_PI * v);
				double ns = skewed ? 1e9 * exp(0.05 * z) : 1e9 + 1e7 * z;
				x[k].pt_ns[GRADE_EXEC] = (uint64_t)ns;
			}
			size_t n = recommended(x, 300, NULL);
			ten += n == 10;
			at_most_20 += n == 10 || n == 20;
			free(x);
		}
		assert_true(ten >= 54);
		assert_true(at_most_20 >= 57);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_version_has_a_name_and_says_what_it_adds),
		cmocka_unit_test(each_condition_of_a_version_is_judged_by_the_machines_facts),
		cmocka_unit_test(each_version_drops_what_its_rules_say),
		cmocka_unit_test(a_version_whose_condition_is_unknown_is_not_held),
		cmocka_unit_test(sizes_of_samples_are_those_of_the_paper),
		cmocka_unit_test(each_size_counts_only_measured_executions),
		cmocka_unit_test(rule_ii_judges_by_the_measure_asked_for),
		cmocka_unit_test(ten_are_recommended_for_nearly_all_runs_of_independent_executions),
		cmocka_unit_test(the_least_size_that_is_like_the_whole_is_recommended),
	};
	return cmocka_run_group_tests_name("emp-versions", tests, NULL, NULL);
}
