/* Reports of duets: what is said of a ratio, of what is not known, and of names of any kind. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../fixtures/duet.h"
#include "base/text.h"
#include "report/chart/charts.h"
#include "report/duet/words.h"
#include "report/page/page.h"

static struct run run = { .id = 7, .name = (char *)"a duet", .status = RUN_COMPLETE };

static char *text_of(const struct duet_scene *s, void (*spoil)(struct duet *), bool details)
{
	struct duet d = duet_made(s);
	struct duet_result r;
	struct strbuf out = { 0 };
	if (spoil)
		spoil(&d);
	duet_judge(&d, DUET_MEASURES, &r);
	const struct duet_view v = { .run = &run, .duet = &d, .result = &r };
	duet_text(&v, NULL, details, &out);
	duet_result_release(&r);
	duet_release(&d);
	return strbuf_detach(&out);
}

static void a_ratio_is_said_as_people_say_it(void **state)
{
	(void)state;
	static const struct {
		double ratio, low, high;
		const char *change, *interval, *text;
	} cases[] = {
		{ .982, .979, .985, "1.8 % faster", "[1.5, 2.1] %", "0.982 [0.979, 0.985]" },
		{ 1.018, 1.0151, 1.0209, "1.8 % slower", "[1.5, 2.1] %", "1.018 [1.015, 1.021]" },
		{ .43, .42, .44, "2.33 times as fast", "[2.27, 2.38]", "0.430 [0.420, 0.440]" },
		{ 2.3, 2.2, 2.4, "2.30 times as long", "[2.20, 2.40]", "2.30 [2.20, 2.40]" },
		{ 1, 1, 1, "0.000000 % slower", "[0.000000, 0.000000] %",
		  "1.000000 [1.000000, 1.000000]" },
		{ NAN, NAN, NAN, "not known", "", "-" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct duet_figures f =
			duet_figures_of(cases[i].ratio, cases[i].low, cases[i].high);
		struct strbuf out = { 0 };
		strbuf_printf(&out, "%s|%s|%s", f.change, f.interval, f.ratio);
		style_finish(&(struct style){ 0 }, &out, 0);
		struct strbuf wanted = { 0 };
		strbuf_printf(&wanted, "%s|%s|%s", cases[i].change, cases[i].interval,
			      cases[i].text);
		assert_string_equal(out.text, wanted.text);
		strbuf_release(&out);
		strbuf_release(&wanted);
	}
}

static void the_short_text_is_the_answer_and_how(void **state)
{
	(void)state;
	char *text = text_of(&(struct duet_scene){ .sides = 2,
						   .pairs = 20,
						   .ratio = { 1, .98 },
						   .sigma = .004,
						   .speed = .1,
						   .look_every = 5,
						   .seed = 1 },
			     NULL, false);
	assert_non_null(strstr(text, " % faster than old   ["));
	assert_non_null(strstr(text, "after 20 pairs, "));
	assert_non_null(strstr(text, "Both ran in turns on CPU 1"));
	assert_null(strstr(text, "\n\n")); /* no details */
	free(text);
}

static void lack(struct duet *d)
{
	d->lacks = xstrdup("Without root the scheduler alternates them only every 3 ms.");
	free(d->sides.items[0].name);
	d->sides.items[0].name = xstrdup("a\n\033[31m\xff name that is far longer than any line "
					 "that is to be read by anybody at all, really");
}

static void what_lacks_is_said_and_names_do_no_harm(void **state)
{
	(void)state;
	for (uint32_t sides = 2; sides <= 4; sides++) {
		char *text = text_of(&(struct duet_scene){ .sides = sides,
							   .pairs = 20,
							   .ratio = { 1, .98, .5, 3 },
							   .sigma = .004,
							   .slower = .01,
							   .seed = 1 },
				     lack, true);
		assert_non_null(strstr(text, "Without root the scheduler"));
		assert_null(strchr(text, '\033'));
		for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			assert_true(text_width(line) <= 80);
		}
		free(text);
	}
}

static void no_pairs(struct duet *d)
{
	d->parts.count = d->looks.count = 0;
}

static void a_duet_without_pairs_can_be_shown(void **state)
{
	(void)state;
	char *text = text_of(&(struct duet_scene){ .sides = 2, .ratio = { 1, 1 } }, no_pairs, true);
	assert_non_null(strstr(text, "Not known yet: 0 pairs of new and old counted"));
	free(text);
	text = text_of(&(struct duet_scene){ .sides = 3, .ratio = { 1, 1, 1 } }, no_pairs, true);
	assert_non_null(strstr(text, "too few pairs"));
	free(text);
	struct duet d = duet_made(&(struct duet_scene){ .sides = 2, .ratio = { 1, 1 } });
	struct duet_result r;
	struct error err = ERROR_INIT;
	struct chart *c = chart_new();
	struct strbuf out = { 0 };
	no_pairs(&d);
	duet_judge(&d, DUET_MEASURES, &r);
	const struct duet_view v = { .run = &run, .duet = &d, .result = &r };
	assert_int_equal(chart_duet(c, &v, &err), -1);
	chart_free(c);
	c = chart_new();
	assert_int_equal(chart_forest(c, &v, 1, &err), -1);
	chart_free(c);
	duet_json(&v, &out);
	duet_markdown(&v, &out);
	assert_null(strstr(out.text, "nan"));
	strbuf_release(&out);
	duet_result_release(&r);
	duet_release(&d);
	const struct duet_view nothing = { .run = &run, .result = &r };
	duet_text(&nothing, NULL, true, &out);
	assert_non_null(strstr(out.text, "Nothing of run 7 is stored yet"));
	strbuf_release(&out);
}

static void the_document_has_pairs_steps_and_parts(void **state)
{
	(void)state;
	struct duet d = duet_made(&(struct duet_scene){ .sides = 3,
							.pairs = 12,
							.ratio = { 1, .98, 1 },
							.sigma = .004,
							.look_every = 4,
							.seed = UINT64_MAX });
	struct duet_result r;
	struct strbuf out = { 0 };
	duet_judge(&d, DUET_MEASURES, &r);
	const struct duet_view v = { .run = &run, .duet = &d, .result = &r };
	duet_json(&v, &out);
	json_t *root = json_loads(out.text, 0, NULL);
	assert_non_null(root);
	json_t *verdicts = json_object_get(root, "verdicts");
	assert_int_equal(json_array_size(verdicts), 2);
	json_t *first = json_array_get(verdicts, 0);
	assert_int_equal(json_array_size(json_object_get(first, "list")), 12);
	assert_int_equal(json_array_size(json_object_get(first, "steps")), 3);
	assert_string_equal(json_string_value(json_object_get(first, "end")), "faster");
	assert_string_equal(json_string_value(json_object_get(root, "seed")),
			    "18446744073709551615");
	assert_int_equal(json_array_size(json_object_get(root, "parts")), d.parts.count);
	json_decref(root);
	strbuf_release(&out);
	struct page *p = page_new("a page", false);
	page_add_duet(p, &v);
	page_json(p, &out);
	assert_non_null(strstr(out.text, "\"kind\":\"duet\""));
	page_free(p);
	strbuf_release(&out);
	duet_result_release(&r);
	duet_release(&d);
}

static void a_forest_row_has_its_bar_at_one(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	duet_forest_row(exp(-.5), exp(-.8), exp(-.2), -1, 1, 21, true, &out);
	assert_string_equal(out.text, "  [--o--] |          ");
	strbuf_clear(&out);
	duet_forest_row(NAN, NAN, NAN, -1, 1, 21, true, &out);
	assert_string_equal(out.text, "          |          ");
	strbuf_clear(&out);
	duet_forest_row(1, 0, INFINITY, -1, 1, 21, true, &out);
	assert_string_equal(out.text, "[---------o---------]");
	strbuf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ratio_is_said_as_people_say_it),
		cmocka_unit_test(the_short_text_is_the_answer_and_how),
		cmocka_unit_test(what_lacks_is_said_and_names_do_no_harm),
		cmocka_unit_test(a_duet_without_pairs_can_be_shown),
		cmocka_unit_test(the_document_has_pairs_steps_and_parts),
		cmocka_unit_test(a_forest_row_has_its_bar_at_one),
	};
	return cmocka_run_group_tests_name("report of duets", tests, NULL, NULL);
}
