/* Charts for gnuplot: data and scripts. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "fixture.h"
#include "noise-fixture.h"
#include "profile-report.h"
#include "query-fixture.h"
#include "report/chart/charts.h"

static char *data_of(const struct chart *f)
{
	struct strbuf out = { 0 };
	chart_data(f, &out);
	return strbuf_detach(&out);
}

static char *script_of_width(const struct chart *f, const char *name, double width_cm)
{
	struct strbuf out = { 0 }, data = { 0 }, picture = { 0 };
	strbuf_printf(&data, "%s.dat", name);
	strbuf_printf(&picture, "%s.pdf", name);
	const struct chart_look look = { .data_name = strbuf_text(&data),
					 .picture_name = strbuf_text(&picture),
					 .width_cm = width_cm };
	chart_script(f, &look, &out);
	strbuf_release(&data);
	strbuf_release(&picture);
	return strbuf_detach(&out);
}

static char *script_of(const struct chart *f, const char *name)
{
	return script_of_width(f, name, 0);
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static size_t lines_with(const char *text, const char *part)
{
	size_t lines = 0;
	for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
		lines++;
	return lines;
}

static void samples_are_drawn_kept_and_dropped_apart(void **state)
{
	(void)state;
	struct fixture f;
	struct error err = ERROR_INIT;
	struct chart *figure = chart_new();
	fixture_init(&f, "sort big", 12, 20);
	fixture_drop(&f, 3, EMP_OUTSIDE, "too\tlong\nby far");
	assert_int_equal(chart_samples(figure, &f.view, EMP_ET, &err), 0);
	char *data = data_of(figure), *script = script_of(figure, "fig");
	assert_has(data, "# figure: samples\n");
	assert_has(data, "# block 0: kept\n# execution\tat_ns\tvalue_ns\twhy\n");
	assert_has(data, "\n\n\n# block 1: dropped by rule (II)\n");
	assert_has(data, "\ttoo\\tlong\\nby far\n"); /* one row, whatever is in it */
	assert_has(script, "set output './fig.pdf'\ndata = './fig.dat'\n");
	assert_has(script, "set ylabel 'elapsed time (ms)'");
	assert_has(script, "title 'dropped by rule (II)'");
	assert_int_equal(lines_with(script, "with points"), 2); /* of blocks with rows */
	free(data);
	free(script);
	chart_free(figure);
	fixture_release(&f);
}

/* A name reaches the script in quotes, on one line, and is no format. */
static void a_name_reaches_the_script_quoted_and_is_no_format(void **state)
{
	(void)state;
	struct fixture f;
	struct error err = ERROR_INIT;
	struct chart *figure = chart_new();
	fixture_init(&f, "it's `id` 100%\nsystem(\"x\")", 12, 20);
	free(f.run.name);
	f.run.name = strdup("it's `id` 5%\n\"x\"");
	assert_int_equal(chart_compare(figure, &f.view, 1, EMP_ET, &err), 0);
	char *script = script_of(figure, "<it's");
	assert_has(script, "('it''s `id` 5%%\\n\"x\"' 0)");
	assert_has(script, "data = './<it''s.dat'\n");
	assert_int_equal(lines_with(script, "\nsystem"), 0);
	free(script);
	chart_free(figure);
	fixture_release(&f);
}

static void a_ledger_is_drawn_with_one_colour_for_each_cause(void **state)
{
	(void)state;
	struct fixture f;
	struct error err = ERROR_INIT;
	struct chart *figure = chart_new(), *none = chart_new();
	fixture_init(&f, "sort", 12, 20);
	assert_int_equal(chart_ledger(none, &f.view, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	fixture_ledger(&f, false);
	assert_int_equal(chart_ledger(figure, &f.view, &err), 0);
	char *data = data_of(figure), *script = script_of(figure, "fig");
	assert_has(data, "first\tlast\trun_ns\t");
	/* a cause has its one colour */
	assert_has(script, "'#2f6db3' lw 0.5 title 'run'");
	assert_has(script, "'#c2508f' lw 0.5 title 'queued'");
	assert_has(script, "set yrange [0:2"); /* ms, from 0 on */
	free(data);
	free(script);
	chart_free(figure);
	chart_free(none);
	fixture_release(&f);
}

/* Those that failed are signs over time, and nothing else. */
static void failed_executions_are_drawn_over_time_only(void **state)
{
	(void)state;
	struct fixture f;
	struct error err = ERROR_INIT;
	struct chart *over_time = chart_new(), *bins = chart_new(), *none = chart_new();
	fixture_init(&f, "sort", 12, 20);
	f.executions[3].et_ns = 900000000;
	fixture_drop(&f, 3, EMP_FAILED, "exit code 1");
	assert_int_equal(chart_samples(over_time, &f.view, EMP_ET, &err), 0);
	char *data = data_of(over_time);
	assert_has(data, "# block 1: failed\n");
	assert_has(data, "\texit code 1\n");
	free(data);
	assert_int_equal(chart_histogram(bins, &f.view, EMP_ET, &err), 0);
	data = data_of(bins);
	assert_int_equal(lines_with(data, "900000000"), 0);
	free(data);
	for (size_t i = 1; i < f.view.count; i++)
		fixture_drop(&f, i, EMP_FAILED, "exit code 1");
	f.result.present[EMP_ET] = false;
	assert_int_equal(chart_samples(none, &f.view, EMP_ET, &err), -1);
	assert_has(err.text, "no execution of run");
	chart_free(over_time);
	chart_free(bins);
	chart_free(none);
	fixture_release(&f);
}

/* Nothing measured is an error, and so is a measure that there is none of. */
static void a_chart_of_nothing_measured_is_refused(void **state)
{
	(void)state;
	struct fixture f;
	struct error err = ERROR_INIT;
	struct chart *figure = chart_new();
	fixture_init(&f, "sort", 12, 20);
	fixture_plain(&f);
	assert_int_equal(chart_samples(figure, &f.view, EMP_PT_NET, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	chart_free(figure);
	f.view.count = 1; /* the warm-up */
	figure = chart_new();
	assert_int_equal(chart_density(figure, &f.view, EMP_ET, &err), -1);
	chart_free(figure);
	figure = chart_new();
	assert_int_equal(chart_histogram(figure, &f.view, EMP_ET, &err), -1);
	chart_free(figure);
	figure = chart_new();
	assert_int_equal(chart_dual(figure, &f.view, EMP_ET, &err), -1);
	chart_free(figure);
	fixture_release(&f);
}

/* ---- numbers beside the axes ---- */

#define DIGIT_CM 0.18 /* of the font that figures have here, at 8 points */

struct numbers {
	double low, high, at[64];
	char label[64][64];
	size_t count; /* of those with a label */
	bool log;
};

/* As in "set xrange [low:high]" and "set xtics ... ('label' at, '' at 1, ...)". */
static void read_axis(const char *script, char axis, struct numbers *n)
{
	char words[32];
	*n = (struct numbers){ 0 };
	snprintf(words, sizeof words, "set logscale %c\n", axis);
	n->log = strstr(script, words) != NULL;
	snprintf(words, sizeof words, "set %crange [", axis);
	const char *range = strstr(script, words);
	assert_non_null(range);
	assert_int_equal(sscanf(range + strlen(words), "%lf:%lf", &n->low, &n->high), 2);
	snprintf(words, sizeof words, "set %ctics ", axis);
	const char *tics = strstr(script, words);
	assert_non_null(tics);
	for (const char *c = strchr(tics, '('); *c != '\n';) {
		const char *begin = strchr(c, '\'') + 1, *end = strchr(begin, '\'');
		char *after;
		double at = strtod(end + 1, &after);
		if (end > begin) {
			assert_true(n->count < 64);
			snprintf(n->label[n->count], 64, "%.*s", (int)(end - begin), begin);
			n->at[n->count++] = at;
		}
		c = after + strcspn(after, ",)");
		c += *c == ')' || *c == ',';
	}
}

static double part_of(const struct numbers *n, double at)
{
	return n->log ? log(at / n->low) / log(n->high / n->low)
		      : (at - n->low) / (n->high - n->low);
}

static double widest(const struct numbers *n)
{
	size_t most = 0;
	for (size_t i = 0; i < n->count; i++)
		most = text_width(n->label[i]) > most ? text_width(n->label[i]) : most;
	return DIGIT_CM * (double)most;
}

/* What a label ends in: "k" of 20k, " ms" of 5 ms, nothing of 0.15. */
static const char *ending(const char *label)
{
	const char *end = label + strspn(label, "0123456789.-");
	return end;
}

/* There are some, none touches the next, and all are written one way. */
static void assert_fits(const struct chart *f, double width_cm, bool names)
{
	char *script = script_of_width(f, "fig", width_cm);
	struct numbers x, y;
	read_axis(script, 'x', &x);
	read_axis(script, 'y', &y);
	double across = width_cm - 0.8 - widest(&y);
	assert_true(across > width_cm / 3); /* names do not take it all */
	assert_in_range(x.count, 2, 9);
	for (size_t i = 1; i < x.count; i++) {
		double cm = (part_of(&x, x.at[i]) - part_of(&x, x.at[i - 1])) * across;
		double need = DIGIT_CM *
			      (double)(text_width(x.label[i]) + text_width(x.label[i - 1])) / 2;
		if (cm < need)
			fail_msg("'%s' and '%s' are %.2f cm apart on %.1f cm in:\n%s",
				 x.label[i - 1], x.label[i], cm, width_cm, script);
	}
	const struct numbers *axes[] = { &x, &y };
	for (size_t a = 0; a < (names ? 1 : 2); a++) {
		assert_in_range(axes[a]->count, 2, 9);
		for (size_t i = 0; i < axes[a]->count && !axes[a]->log; i++) {
			const char *last = axes[a]->label[axes[a]->count - 1];
			assert_null(strchr(axes[a]->label[i], 'e'));
			if (strcmp(axes[a]->label[i], "0") != 0)
				assert_string_equal(ending(axes[a]->label[i]), ending(last));
		}
	}
	free(script);
}

static void assert_fits_both(const struct chart *f, bool names)
{
	assert_fits(f, CHART_COLUMN_CM, names);
	assert_fits(f, CHART_WIDE_CM, names);
}

static int (*const kinds[])(struct chart *, const struct run_view *, enum emp_measure,
			    struct error *) = { chart_samples, chart_histogram, chart_density,
						chart_dual };

/* Whatever the length of a task: from 100 ns to hours. */
static void axes_fit_times_from_100_ns_to_hours(void **state)
{
	(void)state;
	for (int i = -8; i < 15; i++) {
		struct fixture f;
		fixture_init(&f, "sort", 12, 1.3 * pow(3.7, i));
		for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
			struct error err = ERROR_INIT;
			struct chart *figure = chart_new();
			assert_int_equal(kinds[k](figure, &f.view, EMP_ET, &err), 0);
			assert_fits_both(figure, false);
			chart_free(figure);
		}
		fixture_release(&f);
	}
}

/* Values so far from 0 that 1 ns more is hardly another number: there are few numbers beside the
 * axes, no two the same, and in the data each ns. */
static void values_far_from_zero_have_few_distinct_labels_and_exact_data(void **state)
{
	(void)state;
	static const uint64_t values[][2] = { { 1000000000001, 1000000000002 },
					      { 1000000000000000, 1000000000000001 },
					      { 1000000000000000000, 999999999999999872 } };
	alarm(20); /* a loop that takes memory must not go on until there is none */
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		struct fixture f;
		fixture_init(&f, "sort", 12, 20);
		for (size_t k = 0; k < f.view.count; k++)
			f.executions[k].et_ns = values[i][k % 2];
		fixture_judge(&f);
		for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
			struct error err = ERROR_INIT;
			struct chart *figure = chart_new();
			assert_int_equal(kinds[k](figure, &f.view, EMP_ET, &err), 0);
			assert_fits(figure, CHART_WIDE_CM, false);
			char *script = script_of(figure, "fig"), *data = data_of(figure), ns[32];
			struct numbers n;
			read_axis(script, k ? 'x' : 'y', &n);
			assert_true(n.low < n.high);
			assert_in_range(n.count, 1, 9); /* long ones on one column */
			for (size_t j = 1; j < n.count; j++) {
				assert_true(n.at[j - 1] < n.at[j]);
				assert_string_not_equal(n.label[j - 1], n.label[j]);
			}
			snprintf(ns, sizeof ns, "\t%" PRIu64, values[i][1]);
			if (kinds[k] == chart_samples || kinds[k] == chart_dual)
				assert_has(data, ns);
			free(script);
			free(data);
			chart_free(figure);
		}
		fixture_release(&f);
	}
	alarm(0);
}

/* Of nothing but 0 the axis is 1 ns long. */
static void an_axis_of_nothing_but_zero_is_1_ns_long(void **state)
{
	(void)state;
	struct fixture f;
	fixture_init(&f, "true", 12, 20);
	for (size_t i = 0; i < f.view.count; i++)
		f.executions[i].pt_ns[GRADE_EXEC] = 0;
	fixture_judge(&f);
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		struct error err = ERROR_INIT;
		struct chart *figure = chart_new();
		assert_int_equal(kinds[k](figure, &f.view, EMP_PT_EXEC, &err), 0);
		assert_fits_both(figure, false);
		char *script = script_of(figure, "fig");
		struct numbers n;
		read_axis(script, k ? 'x' : 'y', &n);
		assert_true(n.high >= 1);
		free(script);
		chart_free(figure);
	}
	fixture_release(&f);
}

/* CPU 1 was watched, but for the second from 1 s on; its ports had half their speed after that. */
static void the_speed_of_a_cpu_is_a_line_with_gaps(void **state)
{
	(void)state;
	struct noise_fixture f;
	struct error err = ERROR_INIT;
	struct chart *none = chart_new(), *speed = chart_new();
	noise_fixture_guest(&f);
	assert_int_equal(chart_speed(none, &f.view, &err), -1);
	err = (struct error)ERROR_INIT;
	for (uint64_t ms = 0; ms < 4000; ms += 10) {
		struct speed_sample s = { .ns = { 700, ms < 2000 ? 1000 : 2000, 700, 2000 } };
		if (ms / 1000 != 1)
			noise_speed_add(&f.noise.cpus.items[1].speeds, ms * 1000000, &s);
	}
	assert_int_equal(chart_speed(speed, &f.view, &err), 0);
	assert_int_equal(speed->series.count, 1);
	assert_string_equal(speed->series.items[0].title, "CPU 1");
	assert_int_equal(chart_rows(speed), 31);
	assert_true(fabs(chart_at(speed, 0, 0, 1) - 100) < 1e-6);
	assert_true(isnan(chart_at(speed, 0, 10, 1)));
	assert_true(fabs(chart_at(speed, 0, 30, 1) - 50) < 1e-6);
	chart_free(none);
	chart_free(speed);
	noise_fixture_release(&f);
}

static void axes_of_noise_are_powers_of_ten(void **state)
{
	(void)state;
	struct noise_fixture f;
	struct error err = ERROR_INIT;
	struct chart *densities = chart_new(), *sources = chart_new();
	noise_fixture_guest(&f);
	assert_int_equal(chart_noise(densities, &f.view, NULL, &err), 0);
	assert_fits_both(densities, false);
	char *script = script_of(densities, "fig");
	assert_has(script, "10⁰"); /* not 1 beside 10³ */
	/* a line would be drawn through what is missing, but not through NaN */
	assert_null(strstr(script, "datafile missing"));
	free(script);
	assert_int_equal(chart_sources(sources, &f.view, 15, &err), 0);
	assert_fits_both(sources, true);
	chart_free(densities);
	chart_free(sources);
	noise_fixture_release(&f);
}

/* Two detours, a thousand times as long the one as the other: less than one per decade of each, and
 * drawn all the same. */
static void two_detours_far_apart_are_both_drawn(void **state)
{
	(void)state;
	static const struct noise_piece pieces[] = { { NOISE_IRQ, "timer", 300 },
						     { NOISE_IRQ, "timer", 900000000 } };
	struct noise_fixture f;
	struct error err = ERROR_INIT;
	struct chart *figure = chart_new();
	noise_fixture_empty(&f, 1);
	noise_fixture_detour(&f, 0, 1000, &pieces[0], 1);
	noise_fixture_detour(&f, 0, 20000000, &pieces[1], 1);
	assert_int_equal(chart_noise(figure, &f.view, NULL, &err), 0);
	char *script = script_of(figure, "fig"), *data = data_of(figure);
	struct numbers y;
	size_t drawn = 0;
	read_axis(script, 'y', &y);
	for (const char *line = strstr(data, "\n# length_ns"); line;
	     line = strchr(line + 1, '\n')) {
		double ns, rate;
		if (sscanf(line, "%lf %lf", &ns, &rate) == 2)
			drawn += rate >= y.low && rate <= y.high;
	}
	assert_in_range(drawn, 100, 1600);
	free(script);
	free(data);
	chart_free(figure);
	noise_fixture_release(&f);
}

/* A long name is cut in its middle, more so where there is less room. */
static void a_long_name_is_cut_in_its_middle(void **state)
{
	(void)state;
	struct profile_case c;
	struct sleepy_view v = { 0 };
	const struct sleepy_filter all = SLEEPY_ALL;
	struct error err = ERROR_INIT;
	struct chart *figure = chart_new();
	const char *name = "std::map<std::string, std::vector<int>>::insert_or_assign(int) const";
	profile_case_make(&c);
	sleepy_aggregate(&c.profile, SLEEPY_FUNCTION, &all, false, &v);
	free(v.rows.items[0].name);
	v.rows.items[0].name = strdup(name);
	assert_int_equal(chart_functions(figure, &c.subject, &v, 15, &err), 0);
	assert_fits_both(figure, true);
	for (int wide = 0; wide < 2; wide++) {
		char *script = script_of_width(figure, "fig", wide ? CHART_WIDE_CM : 8.5);
		const char *tic = strstr(script, "('std::map"), *end = strchr(tic + 2, '\'');
		char *label = strndup(tic + 2, (size_t)(end - tic - 2));
		assert_has(label, "…");
		assert_has(label, ") const");
		assert_in_range(text_width(label), wide ? 30 : 15, wide ? 48 : 20);
		free(label);
		free(script);
	}
	char *data = data_of(figure);
	assert_has(data, name);
	free(data);
	chart_free(figure);
	sleepy_view_release(&v);
	profile_case_release(&c);
}

/* What the page draws, and in the data all there is. */
static void the_system_is_drawn_in_parts_and_its_data_has_all(void **state)
{
	(void)state;
	struct profile_case c;
	struct error err = ERROR_INIT;
	struct chart *figure = chart_new();
	profile_case_make(&c);
	c.profile.slices.items[0].others = 7;
	c.profile.slices.items[1].idle = 3;
	assert_int_equal(chart_system(figure, &c.subject, &err), 0);
	assert_fits_both(figure, false);
	char *script = script_of(figure, "fig"), *data = data_of(figure);
	assert_int_equal(lines_with(script, "title '"), 3);
	assert_has(script, "title 'user'");
	assert_has(script, "title 'kernel'");
	assert_has(script, "title 'idle'");
	assert_has(data, "\tidle_cpus\tothers_cpus\tlost_cpus\n");
	free(script);
	free(data);
	chart_free(figure);
	profile_case_release(&c);
}

/* ---- queries ---- */

static void queries_are_drawn_with_what_was_dropped(void **state)
{
	(void)state;
	for (const char *const *name = query_fixture_names; *name; name++) {
		struct query_fixture f;
		struct error err = ERROR_INIT;
		struct chart *times = chart_new(), *split = chart_new();
		assert_true(query_fixture_make(&f, *name));
		f.view.run = &f.run;
		bool empty = strcmp(*name, "empty") == 0, dropped = strcmp(*name, "dropped") == 0;
		assert_int_equal(chart_split(split, &f.view, 0, &err), empty ? -1 : 0);
		if (!empty)
			assert_fits_both(split, true);
		if (!chart_query(times, &f.view, 0, &err))
			assert_fits_both(times, false);
		else
			assert_int_equal(err.code, EXIT_USAGE);
		/* a page draws what was dropped, and so do we: with a cross and a word */
		struct chart *both[] = { times, split };
		for (size_t k = 0; k < 2 && dropped; k++) {
			char *script = script_of(both[k], "fig"), *data = data_of(both[k]);
			char title[64];
			snprintf(title, sizeof title, "title 'dropped (%zu of %zu)'",
				 f.result.at_count, f.result.at_count);
			assert_has(script, title);
			assert_non_null(chart_note(both[k]));
			assert_has(chart_note(both[k]), "dropped");
			assert_has(data, "# note: ");
			free(script);
			free(data);
		}
		if (!dropped)
			assert_null(chart_note(times));
		chart_free(times);
		chart_free(split);
		query_fixture_release(&f);
	}
}

/* A query of which no table varies has no place beside those of which one does. */
static void a_query_without_a_table_that_varies_is_noted_not_drawn(void **state)
{
	(void)state;
	struct query_fixture f;
	struct error err = ERROR_INIT;
	struct chart *figure = chart_new();
	assert_true(query_fixture_make(&f, "whole"));
	f.view.run = &f.run;
	for (size_t i = 0; i < f.data.at.count; i++) {
		if (f.data.at.items[i].query == 1)
			f.data.at.items[i].cardinality += 400000;
		if (f.data.at.items[i].query == 4)
			f.data.at.items[i].cardinality = 0;
	}
	query_fixture_judge(&f);
	assert_int_equal(chart_query(figure, &f.view, 0, &err), 0);
	char *script = script_of(figure, "fig"), *data = data_of(figure);
	assert_non_null(chart_note(figure));
	assert_has(chart_note(figure),
		   "1 Q@C without a table that varies is not drawn: 'split' shows it");
	assert_has(data, ": a query with a long name, without a table that varies: not drawn\n");
	assert_has(script, "title 'join'");
	assert_int_equal(lines_with(script, "title 'a query"), 0);
	free(script);
	free(data);
	chart_free(figure);
	query_fixture_release(&f);
}

/* As many digits of a cardinality as tell it from the next. */
static void a_cardinality_has_enough_digits_to_differ_from_the_next(void **state)
{
	(void)state;
	struct query_fixture f;
	struct error err = ERROR_INIT;
	struct chart *figure = chart_new(), *usual = chart_new();
	assert_true(query_fixture_make(&f, "whole"));
	f.view.run = &f.run;
	assert_int_equal(chart_split(usual, &f.view, 0, &err), 0);
	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(f.data.at.items[i].query, 1);
		f.data.at.items[i].cardinality = 1000000 + i * 40;
	}
	query_fixture_judge(&f);
	assert_int_equal(chart_split(figure, &f.view, 0, &err), 0);
	char *script = script_of_width(figure, "fig", CHART_WIDE_CM);
	assert_has(script, "('scan at 1M' 0, 'scan at 1.00004M' 1, 'scan at 1.00008M' 2, ");
	free(script);
	script = script_of_width(usual, "fig", CHART_WIDE_CM);
	assert_has(script, "('scan at 100k' 0, 'scan at 500k' 1, 'scan at 1M' 2, ");
	free(script);
	chart_free(figure);
	chart_free(usual);
	query_fixture_release(&f);
}

/* ---- sigma ---- */

/* One run is one length. Of several, x is the mean of the same measure. */
static void sigma_needs_runs_of_several_lengths(void **state)
{
	(void)state;
	struct fixture f[3];
	struct run_view views[3];
	struct error err = ERROR_INIT;
	struct chart *one = chart_new(), *three = chart_new();
	for (size_t i = 0; i < 3; i++) {
		fixture_init(&f[i], "inc", 12, pow(10, (double)i));
		views[i] = f[i].view;
	}
	assert_int_equal(chart_sigma(one, views, 1, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_has(err.text, "one task length");
	assert_has(err.hint, "--study");
	err = (struct error)ERROR_INIT;
	assert_int_equal(chart_sigma(three, views, 3, &err), 0);
	assert_fits_both(three, false);
	char *data = data_of(three), row[128];
	const struct summary *pt = &f[1].result.kept[EMP_PT_NET];
	snprintf(row, sizeof row, "\n%.15g\t%.15g\t12\t7\n", pt->mean, pt->stddev);
	assert_has(data, row);
	free(data);
	chart_free(one);
	chart_free(three);
	for (size_t i = 0; i < 3; i++)
		fixture_release(&f[i]);
}

/* Below 1 ns, too, a label is no 0. */
static void a_label_below_1_ns_is_not_zero(void **state)
{
	(void)state;
	struct fixture f[2];
	struct run_view views[2];
	struct error err = ERROR_INIT;
	struct chart *figure = chart_new();
	for (size_t i = 0; i < 2; i++) {
		fixture_init(&f[i], "inc", 12, 20 + 10 * (double)i);
		f[i].result.kept[EMP_ET].stddev = 0.02;
		views[i] = f[i].view;
	}
	assert_int_equal(chart_sigma(figure, views, 2, &err), 0);
	assert_fits_both(figure, false);
	char *script = script_of_width(figure, "fig", CHART_WIDE_CM);
	assert_has(script, "'0.1 ns' 0.1");
	assert_int_equal(lines_with(script, "'0 ns'"), 0);
	free(script);
	chart_free(figure);
	for (size_t i = 0; i < 2; i++)
		fixture_release(&f[i]);
}

/* Runs of one name and one parameter are told apart by their number; others need none. */
static void runs_of_one_name_are_told_apart_by_their_number(void **state)
{
	(void)state;
	static const char *const values[] = { "3", "4", "3" };
	struct fixture f[3];
	struct run_view views[3];
	struct error err = ERROR_INIT;
	struct chart *figure = chart_new();
	for (size_t i = 0; i < 3; i++) {
		fixture_init(&f[i], "inc", 12, 20);
		fixture_parameter(&f[i], "n", values[i]);
		f[i].run.id = 7 + (int64_t)i;
		views[i] = f[i].view;
	}
	assert_int_equal(chart_compare(figure, views, 3, EMP_ET, &err), 0);
	char *script = script_of_width(figure, "fig", CHART_WIDE_CM);
	assert_has(script, "('inc (n = 3) (run 7)' 0, 'inc (n = 4)' 1, 'inc (n = 3) (run 9)' 2)");
	free(script);
	chart_free(figure);
	for (size_t i = 0; i < 3; i++)
		fixture_release(&f[i]);
}

/* The clock was set back after the run began: what was measured is drawn. */
static void a_clock_set_back_still_draws_what_was_measured(void **state)
{
	(void)state;
	struct fixture f;
	struct error err = ERROR_INIT;
	struct chart *figure = chart_new();
	fixture_init(&f, "sort", 12, 20);
	f.run.started_at_ns = f.executions[12].started_at_ns + 500000000;
	f.executions[5].started_at_ns -= INT64_C(3600000000000);
	assert_int_equal(chart_samples(figure, &f.view, EMP_ET, &err), 0);
	char *script = script_of(figure, "fig"), *data = data_of(figure);
	struct numbers x;
	read_axis(script, 'x', &x);
	assert_has(script, "set xlabel 'time into the run (min)'");
	assert_true(x.low == 0 && x.high > 60 && x.high < 65);
	assert_has(data, "# at_ns: since the earliest execution");
	assert_has(data, "\n5\t0\t");
	assert_int_equal(lines_with(data, "\t-"), 0);
	free(script);
	free(data);
	chart_free(figure);
	fixture_release(&f);
}

/* One that was imported has no time but its number. */
static void an_imported_execution_is_drawn_by_its_number(void **state)
{
	(void)state;
	struct fixture f;
	struct error err = ERROR_INIT;
	struct chart *figure = chart_new();
	fixture_init(&f, "sort", 1, 20);
	f.view.executions = &f.executions[1]; /* without the warm-up */
	f.verdicts[0] = f.verdicts[1];
	f.view.count = 1;
	f.executions[1].started_at_ns = 0;
	assert_int_equal(chart_samples(figure, &f.view, EMP_ET, &err), 0);
	char *script = script_of(figure, "fig");
	assert_has(script, "set xlabel 'execution'");
	assert_has(script, "set xrange [0.5:1.5]\nset xtics nomirror ('1' 1)\n");
	assert_has(script, "using ($1/1):");
	free(script);
	chart_free(figure);
	f.view.count = 2;
	fixture_release(&f);
}

/* Times are since the run began; of imported ones one follows the other. */
static void times_are_since_the_run_began(void **state)
{
	(void)state;
	struct fixture f;
	struct error err = ERROR_INIT;
	struct chart *timed = chart_new(), *untimed = chart_new();
	fixture_init(&f, "sort", 12, 20);
	f.run.started_at_ns = f.executions[0].started_at_ns - 500000000;
	assert_int_equal(chart_samples(timed, &f.view, EMP_ET, &err), 0);
	char *data = data_of(timed), *script = script_of(timed, "fig"), row[64];
	assert_has(data, "\n1\t2500000000\t");
	assert_has(script, "set xlabel 'time into the run (s)'");
	assert_has(script, "set xrange [0:");
	free(data);
	free(script);
	for (size_t i = 0; i < f.view.count; i++)
		f.executions[i].started_at_ns = 0;
	assert_int_equal(chart_samples(untimed, &f.view, EMP_ET, &err), 0);
	data = data_of(untimed);
	snprintf(row, sizeof row, "\n2\t%" PRIu64 "\t",
		 f.executions[0].et_ns + f.executions[1].et_ns);
	assert_has(data, row);
	free(data);
	chart_free(timed);
	chart_free(untimed);
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_drawn_kept_and_dropped_apart),
		cmocka_unit_test(a_name_reaches_the_script_quoted_and_is_no_format),
		cmocka_unit_test(a_ledger_is_drawn_with_one_colour_for_each_cause),
		cmocka_unit_test(failed_executions_are_drawn_over_time_only),
		cmocka_unit_test(a_chart_of_nothing_measured_is_refused),
		cmocka_unit_test(axes_fit_times_from_100_ns_to_hours),
		cmocka_unit_test(values_far_from_zero_have_few_distinct_labels_and_exact_data),
		cmocka_unit_test(an_axis_of_nothing_but_zero_is_1_ns_long),
		cmocka_unit_test(axes_of_noise_are_powers_of_ten),
		cmocka_unit_test(the_speed_of_a_cpu_is_a_line_with_gaps),
		cmocka_unit_test(two_detours_far_apart_are_both_drawn),
		cmocka_unit_test(a_long_name_is_cut_in_its_middle),
		cmocka_unit_test(the_system_is_drawn_in_parts_and_its_data_has_all),
		cmocka_unit_test(queries_are_drawn_with_what_was_dropped),
		cmocka_unit_test(a_query_without_a_table_that_varies_is_noted_not_drawn),
		cmocka_unit_test(a_cardinality_has_enough_digits_to_differ_from_the_next),
		cmocka_unit_test(sigma_needs_runs_of_several_lengths),
		cmocka_unit_test(a_label_below_1_ns_is_not_zero),
		cmocka_unit_test(runs_of_one_name_are_told_apart_by_their_number),
		cmocka_unit_test(a_clock_set_back_still_draws_what_was_measured),
		cmocka_unit_test(an_imported_execution_is_drawn_by_its_number),
		cmocka_unit_test(times_are_since_the_run_began),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
