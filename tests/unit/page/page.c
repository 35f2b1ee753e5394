/* Pages: the document, and the file around it. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../report/fixture.h"
#include "base/clock.h"
#include "base/text.h"
#include "fixture.h"

#define MOST_BYTES (15u << 20) /* of a file with 100,000 executions */

static json_t *document_of(const struct page *p)
{
	struct strbuf out = { 0 };
	json_error_t error;
	page_json(p, &out);
	json_t *doc = json_loads(strbuf_text(&out), 0, &error);
	assert_non_null(doc);
	assert_null(strchr(strbuf_text(&out), '\n'));
	strbuf_release(&out);
	return doc;
}

static json_t *document(const char *which)
{
	struct page *p = page_fixture_make(which);
	json_t *doc = document_of(p);
	page_free(p);
	return doc;
}

static json_t *at(json_t *list, size_t i)
{
	json_t *item = json_array_get(list, i);
	assert_non_null(item);
	return item;
}

static json_t *of(json_t *o, const char *key)
{
	json_t *value = json_object_get(o, key);
	if (!value)
		fail_msg("there is no %s", key);
	return value;
}

static json_int_t number(json_t *list, size_t i)
{
	return json_integer_value(at(list, i));
}

/* What the index in this column of a row names. */
static const char *name_at(json_t *names, json_t *row, size_t column)
{
	return json_string_value(at(names, (size_t)number(row, column)));
}

/* ---- time ---- */

static void columns_are_parallel(json_t *section)
{
	static const char *const names[] = { "number", "at_us", "et",  "net",
					     "exec",   "tick",	"rss", "rule" };
	json_t *columns = of(section, "columns");
	size_t count = json_array_size(of(columns, "number"));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		json_t *column = of(columns, names[i]);
		if (!json_is_null(column))
			assert_int_equal(json_array_size(column), count);
	}
}

static void ledgers_add_up(json_t *section)
{
	json_t *columns = of(section, "columns"), *ledger = of(section, "ledger");
	if (json_is_null(ledger))
		return;
	json_t *index = of(ledger, "index"), *wall = of(ledger, "wall");
	size_t count = json_array_size(at(wall, 0));
	assert_int_equal(json_array_size(wall), json_array_size(of(ledger, "causes")));
	assert_int_equal(json_array_size(of(ledger, "mean")), json_array_size(wall));
	assert_int_equal(count, json_array_size(json_is_null(index) ? of(columns, "et") : index));
	for (size_t i = 0; i < count; i++) {
		json_int_t sum = 0;
		size_t position = json_is_null(index) ? i : (size_t)number(index, i);
		for (size_t c = 0; c < json_array_size(wall); c++)
			sum += number(at(wall, c), i);
		assert_int_equal(sum, number(of(columns, "et"), position) +
					      json_integer_value(of(section, "shell_ns")));
	}
}

static void columns_are_parallel_and_ledgers_add_up(void **state)
{
	(void)state;
	json_t *doc = document("time"), *sections = of(doc, "sections");
	assert_int_equal(json_array_size(sections), 4);
	for (size_t i = 0; i < 4; i++) {
		columns_are_parallel(at(sections, i));
		ledgers_add_up(at(sections, i));
	}
	json_t *columns = of(at(sections, 0), "columns");
	assert_int_equal(number(of(columns, "rule"), 0), EMP_WARMUP);
	assert_int_equal(number(of(columns, "rule"), 4), EMP_OUTSIDE);
	assert_int_equal(number(of(columns, "at_us"), 3), 6000000);
	/* the third has none of them, the second a ledger less */
	assert_true(json_is_null(of(of(at(sections, 2), "columns"), "net")));
	assert_true(json_is_null(of(at(sections, 2), "ledger")));
	assert_true(json_is_null(of(of(at(sections, 0), "ledger"), "index")));
	assert_int_equal(json_array_size(of(of(at(sections, 1), "ledger"), "index")), 12);
	json_decref(doc);
}

static void dropped_executions_have_their_reasons(void **state)
{
	(void)state;
	json_t *doc = document("time"), *section = at(of(doc, "sections"), 0);
	json_t *reasons = of(section, "reasons");
	assert_int_equal(json_object_size(reasons), 2);
	assert_string_equal(json_string_value(of(of(reasons, "5"), "daemon")), "cron");
	assert_string_equal(json_string_value(of(of(reasons, "4"), "text")),
			    "process time 1009.3 ms, outside 998.1 to 1006.2 ms");
	assert_int_equal(json_object_size(of(at(of(doc, "sections"), 2), "reasons")), 3);
	assert_true(json_real_value(of(of(section, "rule2"), "high_ns")) == 1006.2e6);
	assert_true(json_is_null(of(at(of(doc, "sections"), 2), "rule2")));
	json_t *c = at(of(doc, "comparisons"), 0);
	assert_int_equal(json_array_size(of(c, "sections")), 2);
	assert_int_equal(json_integer_value(of(at(of(c, "rows"), 0), "section")), 1);
	json_decref(doc);
}

/* Over the grid they are 1, or as much as lies on it. */
static void a_density_adds_up_to_one(void **state)
{
	(void)state;
	json_t *doc = document("time"), *charts = of(at(of(doc, "sections"), 0), "charts"), *chart;
	const char *name;
	assert_int_equal(json_object_size(charts), 2);
	json_object_foreach(charts, name, chart)
	{
		json_t *d = at(of(chart, "blocks"), 0), *ns = of(d, "value_ns"),
		       *kept = of(d, "kept_per_ns");
		double sum = 0;
		size_t count = json_array_size(ns);
		assert_in_range(count, 100, 512);
		assert_int_equal(json_array_size(of(d, "all_per_ns")), count);
		assert_int_equal(json_array_size(kept), count);
		for (size_t k = 1; k < count; k++) {
			double step = (double)(number(ns, k) - number(ns, k - 1));
			assert_true(step >= 0);
			sum += step * json_number_value(at(kept, k));
		}
		if (fabs(sum - 1) > 0.03)
			fail_msg("the density adds up to %g", sum);
	}
	json_decref(doc);
}

static void a_trace_has_its_slices_and_waits(void **state)
{
	(void)state;
	json_t *doc = document("time"), *section = at(of(doc, "sections"), 0);
	json_t *trace = of(of(of(section, "details"), "3"), "trace");
	json_t *slices = of(trace, "slices"), *waits = of(trace, "waits");
	static const json_int_t expected[][4] = {
		{ 0, 0, 9000, 0 },
		{ 0, 1000, 2000, 4 },
		{ 0, 9000, 7000, 1 },
	};
	assert_int_equal(json_array_size(slices), 4);
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 4; k++)
			assert_int_equal(number(at(slices, i), k), expected[i][k]);
	assert_int_equal(json_array_size(waits), 2);
	json_t *names = of(section, "names");
	assert_string_equal(name_at(names, at(waits, 0), 3), "futex");
	assert_int_equal(number(at(waits, 0), 2), 6000);
	assert_string_equal(name_at(names, at(waits, 1), 3), "queued");
	assert_int_equal(number(at(waits, 1), 2), 1000);
	assert_string_equal(name_at(names, at(slices, 2), 4), "post</gres");
	assert_true(json_is_null(of(of(of(at(of(doc, "sections"), 1), "details"), "3"), "trace")));
	json_decref(doc);
}

/* Only when each is known, else they would begin before the run did. */
static void begins_are_made_up_where_not_all_are_known(void **state)
{
	(void)state;
	struct fixture f;
	fixture_init(&f, "sort", 12, 20);
	f.executions[5].started_at_ns = 0;
	struct page *p = page_new("some", false);
	page_add_time(p, &f.view, 1, NULL);
	json_t *doc = document_of(p), *section = at(of(doc, "sections"), 0);
	json_t *at_us = of(of(section, "columns"), "at_us");
	for (size_t i = 1; i < json_array_size(at_us); i++)
		assert_true(number(at_us, i) > number(at_us, i - 1));
	assert_int_equal(number(at_us, 0), 0);
	assert_int_equal(json_array_size(of(section, "notes")), 1);
	json_decref(doc);
	page_free(p);
	fixture_release(&f);
}

/* Where nothing was kept there is no mean of what was kept. */
static void a_ledger_of_nothing_kept_has_no_mean(void **state)
{
	(void)state;
	struct fixture f;
	fixture_init(&f, "sort", 12, 20);
	fixture_ledger(&f, false);
	for (size_t i = 1; i < f.view.count; i++)
		fixture_drop(&f, i, EMP_FAILED, "it failed");
	struct page *p = page_new("failed", false);
	page_add_time(p, &f.view, 1, NULL);
	json_t *doc = document_of(p), *ledger = of(at(of(doc, "sections"), 0), "ledger");
	assert_true(json_is_null(of(ledger, "mean")));
	assert_true(json_array_size(of(ledger, "wall")) > 0);
	json_decref(doc);
	page_free(p);
	fixture_release(&f);
}

/* ---- machines ---- */

static void add_moment(struct page *p, const char *load, const char *pressure)
{
	struct fixture f;
	fixture_init(&f, "sort", 12, 20);
	machine_set(&f.machine, "now.pressure.cpu.avg60", pressure);
	machine_set(&f.machine, "now.x", load);
	page_add_time(p, &f.view, 1, NULL);
	fixture_release(&f);
}

static const char *condition_of(json_t *machine, const char *id)
{
	json_t *findings = of(machine, "findings");
	for (size_t i = 0; i < json_array_size(findings); i++)
		if (strcmp(json_string_value(of(at(findings, i), "id")), id) == 0)
			return json_string_value(of(at(findings, i), "condition"));
	return "";
}

/* A machine is one as long as what was found in its runs is the same. */
static void machines_that_are_the_same_are_there_once(void **state)
{
	(void)state;
	static const json_int_t expected[] = { 0, 0, 1, 1, 2 };
	struct page *p = page_new("moments", false);
	add_moment(p, "1", "0.5");
	add_moment(p, "2", "0.7");
	add_moment(p, "1", "50");
	add_moment(p, "1", "50");
	add_moment(p, "1", "60");
	json_t *doc = document_of(p), *machines = of(doc, "machines");
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(json_integer_value(of(at(of(doc, "sections"), i), "machine")),
				 expected[i]);
	assert_int_equal(json_array_size(machines), 3);
	assert_null(json_object_get(of(at(machines, 0), "facts"), "now.x"));
	assert_non_null(json_object_get(of(at(machines, 0), "facts"), "cpu.model"));
	assert_non_null(json_object_get(of(at(machines, 1), "facts"), "now.x"));
	assert_string_equal(condition_of(at(machines, 0), "cpu_pressure"),
			    "fine in each of these runs");
	assert_non_null(strstr(condition_of(at(machines, 1), "cpu_pressure"), "50"));
	assert_non_null(strstr(condition_of(at(machines, 2), "cpu_pressure"), "60"));
	json_decref(doc);
	page_free(p);
}

/* ---- studies ---- */

/* Every occurrence lies near one that the phase and the period expect. */
static void check_phases(json_t *daemons, json_t *phases)
{
	assert_int_equal(json_array_size(phases), json_array_size(daemons));
	for (size_t i = 0; i < json_array_size(daemons); i++) {
		json_t *seen = of(of(at(daemons, i), "runs"), "short");
		json_t *period = of(seen, "period"), *samples = of(seen, "samples");
		assert_int_equal(json_is_null(period), json_is_null(at(phases, i)));
		if (json_is_null(period))
			continue;
		double phase = json_number_value(at(phases, i));
		double every = json_number_value(of(period, "samples"));
		for (size_t k = 0; k < json_array_size(samples); k++) {
			double off = remainder((double)number(samples, k) - phase, every);
			assert_true(fabs(off) <= 1);
		}
	}
}

static void a_study_has_its_samples_and_phases(void **state)
{
	(void)state;
	json_t *doc = document("live"), *section = at(of(doc, "sections"), 0);
	json_t *run = of(of(of(section, "study"), "runs"), "short");
	json_t *samples = of(of(section, "samples"), "short");
	assert_int_equal(json_array_size(of(samples, "et")),
			 json_integer_value(of(run, "samples")));
	assert_int_equal(json_array_size(of(samples, "l")), json_array_size(of(run, "l_samples")));
	for (size_t i = 0; i < json_array_size(of(samples, "l")); i++)
		assert_int_equal(number(of(samples, "number"), (size_t)number(of(samples, "l"), i)),
				 number(of(run, "l_samples"), i));
	assert_int_equal(json_array_size(of(samples, "dropped")),
			 json_array_size(of(run, "dropped")));
	assert_true(json_is_null(of(of(section, "samples"), "long")));
	check_phases(of(of(section, "study"), "daemons"), of(of(section, "phases"), "short"));
	json_decref(doc);
}

/* ---- the file ---- */

/* What stands between the page's own bytes; the rest of the file is the page as it was built. */
static char *embedded(const char *html)
{
	static const char open[] = "type=\"application/json\"";
	const char *script = strstr(html, open);
	assert_non_null(script);
	const char *begin = strchr(script, '>'), *end = strstr(script, "</script>");
	assert_non_null(begin);
	assert_non_null(end);
	return xstrndup(begin + 1, (size_t)(end - begin - 1));
}

static void hostile_names_do_not_leave_the_embedded_document(void **state)
{
	(void)state;
	struct page *p = page_fixture_make("hostile");
	struct strbuf html = { 0 }, empty = { 0 };
	page_html(p, &html);
	page_empty(&empty);
	json_t *alone = document_of(p);
	char *inside = embedded(strbuf_text(&html));
	assert_null(strchr(inside, '<'));
	json_t *doc = json_loads(inside, 0, NULL);
	assert_non_null(doc);
	assert_true(json_equal(doc, alone));
	for (size_t i = 0; page_fixture_hostile[i]; i++) {
		json_t *section = at(of(doc, "sections"), i);
		char *valid = text_utf8(page_fixture_hostile[i]);
		const char *command = json_string_value(of(section, "command"));
		assert_true(strlen(command) >= 10240);
		assert_int_equal(strncmp(command, valid, strlen(valid)), 0);
		assert_string_equal(json_string_value(of(section, "tags")), valid);
		xfree(valid);
	}
	/* nothing of the data is elsewhere in the file */
	assert_int_equal(html.length, empty.length + strlen(inside));
	xfree(inside);
	json_decref(doc);
	json_decref(alone);
	strbuf_release(&html);
	strbuf_release(&empty);
	page_free(p);
}

static void a_hundred_thousand_executions_fit_into_a_page(void **state)
{
	(void)state;
	struct page_fixture_big b;
	struct strbuf html = { 0 };
	page_fixture_big(&b, 100000);
	uint64_t begin = clock_monotonic_ns();
	struct page *p = page_new("many", false);
	page_add_time(p, &b.view, 1, NULL);
	page_html(p, &html);
	uint64_t ns = clock_monotonic_ns() - begin;
	print_message("%zu bytes in %.2f s\n", html.length, (double)ns / 1e9);
	assert_true(html.length < MOST_BYTES);
	json_t *doc = document_of(p), *section = at(of(doc, "sections"), 0);
	columns_are_parallel(section);
	ledgers_add_up(section);
	assert_int_equal(json_array_size(of(of(section, "columns"), "et")), 100000);
	assert_in_range(json_array_size(of(of(section, "ledger"), "index")), 19000, 20000);
	assert_in_range(json_object_size(of(section, "details")), 300, 400);
	assert_true(json_array_size(of(section, "notes")) >= 2);
	/* the longest is told of */
	json_t *et = of(of(section, "columns"), "et");
	size_t longest = 0;
	for (size_t i = 0; i < json_array_size(et); i++)
		if (number(et, i) > number(et, longest))
			longest = i;
	char key[32];
	snprintf(key, sizeof key, "%zu", longest);
	assert_non_null(json_object_get(of(section, "details"), key));
	json_decref(doc);
	page_free(p);
	strbuf_release(&html);
	page_fixture_big_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_parallel_and_ledgers_add_up),
		cmocka_unit_test(dropped_executions_have_their_reasons),
		cmocka_unit_test(a_density_adds_up_to_one),
		cmocka_unit_test(a_trace_has_its_slices_and_waits),
		cmocka_unit_test(begins_are_made_up_where_not_all_are_known),
		cmocka_unit_test(a_ledger_of_nothing_kept_has_no_mean),
		cmocka_unit_test(machines_that_are_the_same_are_there_once),
		cmocka_unit_test(a_study_has_its_samples_and_phases),
		cmocka_unit_test(hostile_names_do_not_leave_the_embedded_document),
		cmocka_unit_test(a_hundred_thousand_executions_fit_into_a_page),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
