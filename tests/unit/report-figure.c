/* Figures: data and scripts; and plots in the terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report-fixture.h"
#include "report/figure.h"
#include "report/plot.h"

static char *data_of(const struct figure *f)
{
	struct strbuf out = { 0 };
	figure_data(f, &out);
	return strbuf_detach(&out);
}

static char *script_of(const struct figure *f, const char *name)
{
	struct strbuf out = { 0 }, data = { 0 }, picture = { 0 };
	strbuf_printf(&data, "%s.dat", name);
	strbuf_printf(&picture, "%s.pdf", name);
	const struct figure_look look = { .data_name = strbuf_text(&data),
					  .picture_name = strbuf_text(&picture) };
	figure_script(f, &look, &out);
	strbuf_release(&data);
	strbuf_release(&picture);
	return strbuf_detach(&out);
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

static void samples(void **state)
{
	(void)state;
	struct fixture f;
	struct error err = ERROR_INIT;
	struct figure *figure = figure_new();
	fixture_init(&f, "sort big", 12, 20);
	fixture_drop(&f, 3, EMP_OUTSIDE, "too\tlong\nby far");
	assert_int_equal(figure_samples(figure, &f.view, EMP_ET, &err), 0);
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
	figure_free(figure);
	fixture_release(&f);
}

/* A name reaches the script in quotes, on one line, and is no format. */
static void names(void **state)
{
	(void)state;
	struct fixture f;
	struct error err = ERROR_INIT;
	struct figure *figure = figure_new();
	fixture_init(&f, "it's `id` 100%\nsystem(\"x\")", 12, 20);
	free(f.run.name);
	f.run.name = strdup("it's `id` 5%\n\"x\"");
	assert_int_equal(figure_compare(figure, &f.view, 1, EMP_ET, &err), 0);
	char *script = script_of(figure, "<it's");
	assert_has(script, "('it''s `id` 5%%\\n\"x\"' 0)");
	assert_has(script, "data = './<it''s.dat'\n");
	assert_int_equal(lines_with(script, "\nsystem"), 0);
	free(script);
	figure_free(figure);
	fixture_release(&f);
}

static void ledger(void **state)
{
	(void)state;
	struct fixture f;
	struct error err = ERROR_INIT;
	struct figure *figure = figure_new(), *none = figure_new();
	fixture_init(&f, "sort", 12, 20);
	assert_int_equal(figure_ledger(none, &f.view, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	fixture_ledger(&f, false);
	assert_int_equal(figure_ledger(figure, &f.view, &err), 0);
	char *data = data_of(figure), *script = script_of(figure, "fig");
	assert_has(data, "first\tlast\trun_ns\t");
	assert_has(script, "title 'run'");
	assert_has(script, "title 'queued'");
	assert_has(script, "set yrange [0:*]");
	free(data);
	free(script);
	figure_free(figure);
	figure_free(none);
	fixture_release(&f);
}

/* Those that failed are signs over time, and nothing else. */
static void failed(void **state)
{
	(void)state;
	struct fixture f;
	struct error err = ERROR_INIT;
	struct figure *over_time = figure_new(), *bins = figure_new(), *none = figure_new();
	fixture_init(&f, "sort", 12, 20);
	f.executions[3].et_ns = 900000000;
	fixture_drop(&f, 3, EMP_FAILED, "exit code 1");
	assert_int_equal(figure_samples(over_time, &f.view, EMP_ET, &err), 0);
	char *data = data_of(over_time);
	assert_has(data, "# block 1: failed\n");
	assert_has(data, "\texit code 1\n");
	free(data);
	assert_int_equal(figure_histogram(bins, &f.view, EMP_ET, &err), 0);
	data = data_of(bins);
	assert_int_equal(lines_with(data, "900000000"), 0);
	free(data);
	for (size_t i = 1; i < f.view.count; i++)
		fixture_drop(&f, i, EMP_FAILED, "exit code 1");
	f.result.present[EMP_ET] = false;
	assert_int_equal(figure_samples(none, &f.view, EMP_ET, &err), -1);
	assert_has(err.text, "no execution of run");
	figure_free(over_time);
	figure_free(bins);
	figure_free(none);
	fixture_release(&f);
}

/* Nothing measured is an error, and so is a measure that there is none of. */
static void nothing(void **state)
{
	(void)state;
	struct fixture f;
	struct error err = ERROR_INIT;
	struct figure *figure = figure_new();
	fixture_init(&f, "sort", 12, 20);
	fixture_plain(&f);
	assert_int_equal(figure_samples(figure, &f.view, EMP_PT_NET, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	figure_free(figure);
	f.view.count = 1; /* the warm-up */
	figure = figure_new();
	assert_int_equal(figure_density(figure, &f.view, EMP_ET, &err), -1);
	figure_free(figure);
	figure = figure_new();
	assert_int_equal(figure_histogram(figure, &f.view, EMP_ET, &err), -1);
	figure_free(figure);
	figure = figure_new();
	assert_int_equal(figure_dual(figure, &f.view, EMP_ET, &err), -1);
	figure_free(figure);
	fixture_release(&f);
}

static void bars(void **state)
{
	(void)state;
	const struct plot_bar list[] = { { "a", 4, "4" }, { "b\n", 2, "2" }, { "c", 0, "0" } };
	const struct plot_style style = { .width = 38, .lines = 24, .ascii = true };
	struct strbuf out = { 0 };
	plot_bars(list, 3, "Three", &style, &out);
	assert_string_equal(strbuf_text(&out), "Three\n"
					       "a                        4 ##########\n"
					       "b\\n                      2 #####\n"
					       "c                        0 \n");
	strbuf_release(&out);
	assert_false(plot_wanted(&style, 23));
	assert_true(plot_wanted(&style, 24));
	assert_false(plot_wanted(&(struct plot_style){ 0 }, 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples), cmocka_unit_test(names),   cmocka_unit_test(ledger),
		cmocka_unit_test(failed),  cmocka_unit_test(nothing), cmocka_unit_test(bars),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
