/* The reports of a daemon study. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>
#include <cmocka.h>

#include "../fixtures/near.h"
#include "../fixtures/text-lines.h"
#include "csv.h"
#include "report/study/report.h"
#include "study-fixture.h"

static struct study_fixture f;

static void render(const struct style *style, struct strbuf *out)
{
	strbuf_clear(out);
	daemons_text(&f.study, f.machine.facts.count ? &f.machine : NULL, style, out);
	assert_lines(out, style->width ? style->width : 80, style->ascii);
}

/* ---- text ---- */

static void a_study_is_shown_whole(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	assert_true(study_fixture_make(&f, "paper"));
	render(&(struct style){ 0 }, &out);
	const char *head =
		"Daemon study 3 of executions of inc (runs 12 and 13), 2026-09-15 08:13:20\n"
		"Intel(R) Core(TM) i7-870, Linux 6.1.0-18-amd64\n"
		"\n"
		"Run     Length  Samples  Cluster  L-samples  Dropped  σ of ET   σ kept  Ratio\n"
		"short    128 s      800      784         16       15   1.70 s  10.2 ms  1/167\n"
		"long   16384 s       40       38          2        2   5.38 s   127 ms   1/42\n"
		"Dropped of the short run (1.9 %): 75, 104, 186, 216, 298, 328, 366, 410, 439,\n"
		"  522, 551, 634, 663, 746, 775\n"
		"L-sample that stays, no daemon above its cutoff: 451\n"
		"Dropped of the long run (5.0 %): 10, 16\n"
		"\n"
		"Long-running daemons, process time in a sample\n"
		"Daemon        Usual        σ     Long  No.         Period  Cutoff\n"
		"bash              -        -  1.00 ms    2           none  1.00 ms any\n"
		"flush-9:0   1.00 ms     0 ns   126 ms    2  19.88±0.05 h?  64.0 ms <3600 s\n"
		"  long run  7.00 ms  1.50 ms  89.0 ms    2                 48.0 ms ≥3600 s\n"
		"rhn_check         -        -   562 ms    7  3.976±0.006 h  281 ms <720 s\n"
		"  long run   714 ms  93.0 ms   24.9 s    2                 12.8 s ≥720 s\n";
	assert_memory_equal(out.text, head, strlen(head));
	assert_has(&out, " ?: a period that rests on two\n");
	assert_has(&out,
		   "\nSeen, but not long-running: proc_monitor (at most 204 ms), java (6.00 ms)"
		   ", cifs\n  (1.00 ms), kblockd/0 (1.00 ms), khugepaged (1.00 ms) and 1 more\n");
	assert_has(&out,
		   "\nZooms of the short run: which samples of a pair are slow\n"
		   "#    ET up to  Slow above  Neither  First  Second  Both  Chance  Shape\n"
		   "1  163.0000 s  130.0000 s      398      1       1     0   <0.01  L\n"
		   "2  129.0000 s  128.0200 s      384      5       9     0    0.11  L\n"
		   "3  128.0109 s  128.0080 s      291     48      44     1     5.7  symmetric\n");
	assert_has(&out, "\n2  16384.68 s  16384.50 s        7      3       5     3     2.7  symm");
	assert_has_not(&out, "a long run would tell");
	assert_has_not(&out, "\033");
	strbuf_release(&out);
	study_fixture_release(&f);
}

/* Without a long run, what holds for long programs is not known, and that is said. */
static void without_a_long_run_it_says_what_is_not_known(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	assert_true(study_fixture_make(&f, "live"));
	render(&(struct style){ 0 }, &out);
	assert_has(&out, "Daemon study of windows of a watch\n\n");
	assert_has(&out, "\nshort  1.00 s      120      112          8        8   143 ms");
	assert_has(&out, "\ntare-a      -  -  299 ms    6  20.01±0.04 s  150 ms <1.00 s\n");
	assert_has(&out, "\ntare-b      -  -  998 ms    2   60.2±0.9 s?  499 ms <3.00 s\n");
	assert_has(&out, "\nSeen, but not long-running: tare-c (at most 2.10 ms)\n");
	assert_has(&out, "a long run would tell.\n");
	assert_has_not(&out, "long run  ");
	assert_has_not(&out, "own process time varies");
	f.study.runs[STUDY_SHORT].steadied = true;
	f.study.runs[STUDY_SHORT].steady_sigma_ns = 140e6;
	f.study.runs[STUDY_SHORT].steady_sigma_kept_ns = 2.5e6;
	render(&(struct style){ .width = 1000 }, &out);
	assert_has(&out, "own process time varies in the short run");
	assert_has(&out, "is 140 ms of all and 2.50 ms of those kept.");
	strbuf_release(&out);
	study_fixture_release(&f);
}

/* A run gives a cutoff that the other run's usual samples are above of; and a daemon that was in
 * slow samples only, but made none of them slow. */
static void why_a_daemon_has_no_cutoff_is_said(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	assert_true(study_fixture_make(&f, "paper"));
	array_each(d, &f.study.daemons)
		if (strcmp(d->name, "java") == 0) {
			struct study_seen *seen = &d->seen[STUDY_LONG];
			seen->long_executions = 2;
			seen->long_least_ns = seen->long_most_ns = 3000000;
			seen->has_cutoff = true;
			seen->cutoff_ns = 3000000;
			assert_true(study_is_undecided(&f.study, d));
		} else {
			assert_false(study_is_undecided(&f.study, d));
		}
	render(&(struct style){ .width = 1000 }, &out);
	assert_has(&out,
		   "\njava: cannot tell. The long run gives a cutoff of 3.00 ms, but it takes "
		   "up to 6.00 ms in usual samples of the short run.\n");
	assert_has(&out, "none  cannot tell"); /* in the table */
	study_fixture_release(&f);
	assert_true(study_fixture_make(&f, "live"));
	array_push(&f.study.daemons, ((struct study_daemon){ .name = "make" }));
	render(&(struct style){ 0 }, &out);
	assert_has(&out, "\nSeen, but not long-running: tare-c (at most 2.10 ms), make (made no "
			 "sample slow)\n");
	strbuf_release(&out);
	study_fixture_release(&f);
}

static void studies_without_daemons_are_told_in_words(void **state)
{
	(void)state;
	static const struct {
		const char *which, *said, *not_said;
	} cases[] = {
		{ "quiet",
		  "\nNo sample of the short run stands out: nothing to drop.\n\nNo daemon was "
		  "seen in any sample.\n",
		  "another cause" },
		{ "alike",
		  "\nAll samples of the short run took the same time, 100 ms: none is slow.\n",
		  "stands out:" },
		{ "few", "\nThe short run has 4 samples: too few to tell slow ones", "Zooms" },
		{ "one", "\nThe short run has 1 sample: too few", "Zooms" },
		{ "empty", "\nThe short run has no samples.\n", "No daemon" },
		{ "nothing", "\nThere is no run in it: nothing was studied.\n", "Run " },
		{ "corner",
		  "\nIn the short run both of a pair are slow as often as chance makes it:",
		  "another cause" },
		{ "unexplained",
		  "\nL-samples that stay, no daemon above its cutoff: 7, 20\n\n"
		  "No daemon is long-running: there is no cutoff.\n"
		  "The slow samples have another cause",
		  "Dropped of" },
	};
	struct strbuf out = { 0 };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_true(study_fixture_make(&f, cases[i].which));
		render(&(struct style){ 0 }, &out);
		assert_has(&out, cases[i].said);
		assert_has_not(&out, cases[i].not_said);
		assert_has_not(&out, "Long-running daemons");
		study_fixture_release(&f);
	}
	strbuf_release(&out);
}

/* Every study in every style, as text and as plots. */
static void every_study_fits_every_width(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	for (size_t i = 0; study_fixture_names[i]; i++) {
		assert_true(study_fixture_make(&f, study_fixture_names[i]));
		for (size_t width = 60; width <= 160; width += 10)
			for (int ascii = 0; ascii < 2; ascii++) {
				struct style style = { .width = width, .ascii = ascii };
				render(&style, &out);
				strbuf_clear(&out);
				daemons_plots(&f.runs[0], f.is_l[0], &f.study.runs[0], &style,
					      &out);
				assert_lines(&out, width, ascii);
			}
		study_fixture_release(&f);
	}
	strbuf_release(&out);
}

/* The figures that matter are whole in 80 columns with names as long as the kernel allows. */
static void figures_are_whole_beside_the_longest_names(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	assert_true(study_fixture_make(&f, "paper"));
	strcpy(f.study.daemons.items[1].name, "rhsmcertd-worke"); /* it was flush-9:0 */
	for (size_t i = 1; i < 3; i++)
		strcpy(f.study.cutoffs.items[i].daemon, "rhsmcertd-worke");
	render(&(struct style){ 0 }, &out);
	assert_has(&out,
		   "\nrhsmcertd-worke  1.00 ms     0 ns   126 ms    2  19.88±0.05 h?  64.0 ms "
		   "<3600 s\n");
	render(&(struct style){ .width = 120 }, &out);
	assert_has(&out, "  Longest  ");
	assert_has(&out, "  In samples\n");
	assert_has(&out, "  75, 186, 298, 410");
	assert_has(&out, "  128.0064 s\n"); /* the mean of what is kept */
	render(&(struct style){ .width = 60 }, &out);
	assert_has(&out, "64.0 ms <3600 s\n");
	strbuf_release(&out);
	study_fixture_release(&f);
}

/* Of a daemon that the long run did not see, both cutoffs stand there all the same. */
static void both_cutoffs_are_shown_where_the_long_run_saw_nothing(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	assert_true(study_fixture_make(&f, "paper"));
	struct study_seen *seen = &f.study.daemons.items[1].seen[STUDY_LONG];
	seen->cluster_executions = seen->long_executions = 0;
	render(&(struct style){ 0 }, &out);
	assert_has(&out, "  64.0 ms <3600 s\n           ");
	assert_has(&out, "   48.0 ms ≥3600 s\nrhn_check ");
	render(&(struct style){ .width = 60 }, &out);
	assert_has(&out, " 48.0 ms ≥3600 s\nrhn_check ");
	f.study.cutoffs.items[2].below_ns = 7000000000000;
	render(&(struct style){ .width = 140, .ascii = true }, &out);
	assert_has(&out, " 48.0 ms >=3600 s <7000 s\nrhn_check ");
	strbuf_release(&out);
	study_fixture_release(&f);
}

/* Names as a program may set them, figures that are none, and as many samples as a study may have:
 * lines stay lines, JSON stays JSON. */
static void hostile_names_and_figures_keep_lines_lines_and_json_json(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	assert_true(study_fixture_make(&f, "paper"));
	struct study_run *r = &f.study.runs[STUDY_SHORT];
	for (size_t i = 0; i < 2; i++)
		strcpy(f.study.daemons.items[3 * i].name, "\xff\n\033[1m\"%s\t,\xc3");
	f.study.daemons.items[1].seen[0].cluster_sigma_ns = NAN;
	f.study.daemons.items[1].seen[0].long_most_ns = UINT64_MAX;
	r->sigma_ns = INFINITY;
	r->levels.items[0].both_expected = NAN;
	r->levels.items[2].high_ns = r->levels.items[2].low_ns;
	r->samples = 100000;
	for (uint32_t i = 801; i <= 100000; i += 3) {
		array_push(&r->l_samples, i);
		array_push(&r->dropped, i);
		array_push(&f.study.daemons.items[1].seen[0].samples, i);
	}
	for (size_t width = 60; width <= 200; width += 20) {
		render(&(struct style){ .width = width }, &out);
		assert_has(&out, "\\n\\x1b[1m\"%s");
		assert_has(&out, " and 33052 more\n");
		assert_has(&out, "stays, no daemon above its cutoff: 451\n");
		assert_has_not(&out, "\033");
	}
	strbuf_clear(&out);
	daemons_json(&f.study, NULL, &out);
	json_t *root = json_loads(strbuf_text(&out), 0, NULL);
	assert_non_null(root);
	json_decref(root);
	strbuf_release(&out);
	study_fixture_release(&f);
}

static void colour_is_used_only_if_it_is_wanted(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	assert_true(study_fixture_make(&f, "live"));
	daemons_text(&f.study, NULL, &(struct style){ .colour = true }, &out);
	assert_has(&out, "\033[1mDaemon study of windows of a watch\033[0m\n");
	daemons_plots(&f.runs[0], f.is_l[0], &f.study.runs[0], &(struct style){ .colour = true },
		      &out);
	assert_has(&out, "\033[31m●\033[0m");
	strbuf_release(&out);
	study_fixture_release(&f);
}

/* ---- plots ---- */

static size_t count_of(const struct strbuf *out, const char *text)
{
	size_t n = 0;
	for (const char *at = strbuf_text(out); (at = strstr(at, text)); at += strlen(text))
		n++;
	return n;
}

static void samples_and_zooms_are_plotted(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	assert_true(study_fixture_make(&f, "live"));
	daemons_plots(&f.runs[0], f.is_l[0], &f.study.runs[0], &(struct style){ .ascii = true },
		      &out);
	assert_has(&out, "\n120 samples over time, 8 of them L-samples (x)\n");
	assert_has(&out, "\n2.00 s +                 x                                x\n");
	assert_has(&out, "time into the run");
	assert_has(&out, "\nZoom 1 of 3, L: neither 58, first 1, second 1, both 0 (0.02)\n");
	assert_has(&out, "\nZoom 3 of 3, symmetric: ");
	assert_int_equal(count_of(&out, "ET of the first\n") + count_of(&out, "ET of the first "),
			 3);
	strbuf_clear(&out);
	/* samples that do not say when they began stand by number */
	for (size_t i = 0; i < f.runs[0].samples.count; i++)
		f.runs[0].samples.items[i].at_ns = 0;
	daemons_plots(&f.runs[0], NULL, NULL, NULL, &out);
	assert_has(&out, "\n120 samples over time, no L-samples\n");
	assert_has(&out, " sample ");
	assert_has_not(&out, "Zoom");
	assert_has_not(&out, "●");
	strbuf_release(&out);
	study_fixture_release(&f);
	assert_true(study_fixture_make(&f, "empty"));
	daemons_plots(&f.runs[0], f.is_l[0], &f.study.runs[0], NULL, &out);
	assert_string_equal(strbuf_text(&out), "\nNo samples: nothing to plot.\n");
	strbuf_release(&out);
	study_fixture_release(&f);
}

/* A sample that failed leaves its partner alone: (1, 2) and (3, 4) are pairs, (2, 3) is none. */
static void a_failed_sample_leaves_its_partner_without_a_pair(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	const struct style style = { .ascii = true };
	assert_true(study_fixture_make(&f, "live"));
	f.runs[0].samples.count = 2;
	daemons_plots(&f.runs[0], f.is_l[0], &f.study.runs[0], &style, &out);
	assert_has_not(&out, "no points");
	for (size_t i = 0; i < 2; i++)
		f.runs[0].samples.items[i].number++;
	strbuf_clear(&out);
	daemons_plots(&f.runs[0], f.is_l[0], &f.study.runs[0], &style, &out);
	assert_int_equal(count_of(&out, "no points"), f.study.runs[0].levels.count);
	strbuf_release(&out);
	study_fixture_release(&f);
}

/* ---- for programs ---- */

static json_t *json_of(const char *which)
{
	struct strbuf out = { 0 };
	assert_true(study_fixture_make(&f, which));
	daemons_json(&f.study, f.machine.facts.count ? &f.machine : NULL, &out);
	json_t *root = json_loads(strbuf_text(&out), 0, NULL);
	assert_non_null(root);
	strbuf_release(&out);
	study_fixture_release(&f);
	return root;
}

static const json_t *at(const json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);
	if (!value)
		fail_msg("there is no %s", key);
	return value;
}

static void json_has_every_daemon_run_and_period(void **state)
{
	(void)state;
	json_t *root = json_of("paper");
	const json_t *daemons = at(root, "daemons"), *runs = at(root, "runs");
	const json_t *flush = json_array_get(daemons, 1), *bash = json_array_get(daemons, 0);
	assert_int_equal(json_array_size(daemons), 9);
	assert_string_equal(json_string_value(at(flush, "name")), "flush-9:0");
	assert_true(json_is_true(at(flush, "long_running")));
	assert_true(json_is_true(at(at(flush, "period"), "uncertain")));
	assert_near((double)json_integer_value(at(at(flush, "period"), "ns")), 71552e9, 0);
	assert_true(json_is_null(at(bash, "period")));
	const json_t *in_short = at(at(flush, "runs"), "short");
	assert_int_equal(json_integer_value(at(in_short, "cluster_max_ns")), 1000000);
	assert_int_equal(json_integer_value(at(in_short, "long_least_ns")), 126000000);
	assert_int_equal(json_integer_value(json_array_get(at(in_short, "samples"), 1)), 634);
	assert_true(json_is_null(at(at(at(bash, "runs"), "short"), "cluster_max_ns")));
	assert_true(json_is_false(at(json_array_get(daemons, 8), "long_running")));
	const json_t *cutoffs = at(flush, "cutoffs");
	assert_int_equal(json_array_size(cutoffs), 2);
	assert_near((double)json_integer_value(at(json_array_get(cutoffs, 0), "below_ns")), 3600e9,
		    0);
	assert_true(json_is_null(at(json_array_get(cutoffs, 1), "below_ns")));
	assert_int_equal(json_integer_value(at(json_array_get(cutoffs, 1), "cutoff_ns")), 48000000);
	assert_int_equal(json_array_size(at(root, "cutoffs")), 5);
	assert_int_equal(json_array_size(at(at(runs, "short"), "dropped")), 15);
	assert_int_equal(json_array_size(at(at(runs, "long"), "levels")), 2);
	double ratio = json_real_value(at(at(runs, "short"), "sigma_ratio"));
	assert_true(ratio > 0.005 && ratio < 0.007);
	assert_true(json_is_false(at(at(runs, "short"), "steadied")));
	assert_true(json_is_null(at(at(runs, "short"), "steady_sigma_ns")));
	json_decref(root);
	root = json_of("alike");
	assert_true(json_is_null(at(at(root, "runs"), "long")));
	assert_true(json_is_null(at(at(at(root, "runs"), "short"), "sigma_ratio")));
	assert_true(json_is_null(at(root, "machine")) && json_is_null(at(root, "id")));
	json_decref(root);
}

static void cutoffs_are_a_table_with_their_bounds(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	struct csv csv;
	assert_true(study_fixture_make(&f, "paper"));
	f.study.cutoffs.items[2].edited = true;
	struct table *t = daemons_cutoffs(f.study.cutoffs.items, f.study.cutoffs.count);
	assert_int_equal(table_rows(t), 5);
	table_render(t, TABLE_CSV, NULL, &out);
	csv_parse(strbuf_text(&out), &csv);
	assert_string_equal(csv_at(&csv, 3, "daemon"), "flush-9:0");
	assert_string_equal(csv_at(&csv, 3, "from_ns"), "3600000000000");
	assert_string_equal(csv_at(&csv, 3, "below_ns"), "");
	assert_string_equal(csv_at(&csv, 3, "cutoff_ns"), "48000000");
	assert_string_equal(csv_at(&csv, 3, "edited"), "1");
	assert_string_equal(csv_at(&csv, 2, "below_ns"), "3600000000000");
	assert_string_equal(csv_at(&csv, 2, "edited"), "0");
	csv_release(&csv);
	strbuf_clear(&out);
	table_render(t, TABLE_TEXT, NULL, &out);
	assert_has(&out, "ID  Daemon     Programs from    Below    Cutoff  Edited\n");
	assert_has(&out, "\n 3  flush-9:0         3600 s        -  48.00 ms       1\n");
	table_free(t);
	strbuf_clear(&out);
	t = daemons_cutoffs(NULL, 0);
	table_render(t, TABLE_JSON, NULL, &out);
	assert_string_equal(strbuf_text(&out), "[]\n");
	table_free(t);
	strbuf_release(&out);
	study_fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_study_is_shown_whole),
		cmocka_unit_test(without_a_long_run_it_says_what_is_not_known),
		cmocka_unit_test(why_a_daemon_has_no_cutoff_is_said),
		cmocka_unit_test(studies_without_daemons_are_told_in_words),
		cmocka_unit_test(every_study_fits_every_width),
		cmocka_unit_test(figures_are_whole_beside_the_longest_names),
		cmocka_unit_test(both_cutoffs_are_shown_where_the_long_run_saw_nothing),
		cmocka_unit_test(hostile_names_and_figures_keep_lines_lines_and_json_json),
		cmocka_unit_test(colour_is_used_only_if_it_is_wanted),
		cmocka_unit_test(a_failed_sample_leaves_its_partner_without_a_pair),
		cmocka_unit_test(samples_and_zooms_are_plotted),
		cmocka_unit_test(json_has_every_daemon_run_and_period),
		cmocka_unit_test(cutoffs_are_a_table_with_their_bounds),
	};
	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests_name("report-daemons", tests, NULL, NULL);
}
