/* The report of ledgers: the line, the tables, CSV, and the sentences of explain. JSON is held
 * against its schema by `schema`. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/text.h"
#include "csv.h"
#include "fixture.h"
#include "report/time/explain.h"

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' in:\n%s", part, text);
}

/* Checks the width and empties it. */
static void check_lines(struct strbuf *out, size_t width)
{
	char *save, *line = strtok_r(out->text, "\n", &save);
	for (; line; line = strtok_r(NULL, "\n", &save))
		if (text_width(line) > width)
			fail_msg("%zu columns: %s", text_width(line), line);
	strbuf_clear(out);
}

static void a_ledger_is_one_line_of_causes_by_share(void **state)
{
	(void)state;
	static struct fixture f;
	struct strbuf out = { 0 };
	struct style style = { 0 };
	fixture_init(&f, "./prog", 10, 100);
	time_text(&f.view, 1, 0, &style, &out);
	assert_lacks(out.text, "Ledger");
	strbuf_clear(&out);
	fixture_ledger(&f, false);
	time_text(&f.view, 1, 0, &style, &out);
	assert_has(
		out.text,
		"\n  Ledger                run 97.1 % · queued 1.9 % postgres · irq 0.6 % timer ·\n"
		"                        steal 0.4 %\n");
	assert_lacks(out.text, "Ledger note");
	check_lines(&out, 80);
	style.ascii = true;
	time_text(&f.view, 1, 0, &style, &out);
	assert_has(out.text,
		   "\n  Ledger                run 97.1 %, queued 1.9 % postgres, irq 0.6 % timer,\n"
		   "                        steal 0.4 %\n");
	check_lines(&out, 80);
	style.width = 60;
	style.ascii = false;
	time_text(&f.view, 1, 0, &style, &out);
	assert_has(out.text, "\n  Ledger                run 97.1 % · queued 1.9 % postgres ·\n"
			     "                        irq 0.6 % timer · steal 0.4 %\n");
	check_lines(&out, 60);
	/* what only dropped executions have is not in the mean */
	for (size_t i = 2; i < f.view.count; i++)
		f.executions[i].ledger.present = false;
	fixture_drop(&f, 1, EMP_FAILED, "exited with 1");
	time_text(&f.view, 1, 0, &style, &out);
	assert_lacks(out.text, "Ledger");
	strbuf_release(&out);
	fixture_release(&f);
}

static void odd_names_fit_the_width(void **state)
{
	(void)state;
	static struct fixture f;
	struct strbuf out = { 0 };
	fixture_init(&f, "./prog", 3, 100);
	fixture_ledger(&f, true);
	for (size_t i = 0; i < f.view.count; i++) {
		struct ledger *l = &f.executions[i].ledger;
		snprintf(l->entries.items[1].name, 48, "\xff\n日本語の長い名前を持つ");
		snprintf(l->entries.items[3].name, 48,
			 "a-name-of-an-interrupt-that-is-rather-long-x");
		l->lost = 3;
	}
	for (size_t width = 60; width < 100; width += 13) {
		struct style style = { .width = width };
		time_text(&f.view, 1, 0, &style, &out);
		assert_has(out.text, "Ledger note");
		assert_has(out.text, width < 70 ? "; 9\n" : "9 facts");
		check_lines(&out, width);
		time_ledger(&f.view, LEDGER_OF_KEPT, &style, &out);
		check_lines(&out, width < 80 ? 80 : width);
		time_ledger(&f.view, 1, &style, &out);
		check_lines(&out, width < 80 ? 80 : width);
	}
	strbuf_release(&out);
	fixture_release(&f);
}

static void a_ledger_is_shown_in_tables_with_who_delayed_it(void **state)
{
	(void)state;
	static struct fixture f;
	struct strbuf out = { 0 };
	fixture_init(&f, "./prog", 10, 1000);
	fixture_ledger(&f, false);
	fixture_disturb(&f, 7, 61000000);
	time_ledger(&f.view, LEDGER_OF_KEPT, NULL, &out);
	assert_has(out.text, "Ledger of run 7, mean of 10 executions, 1.027 s: ./prog\n");
	assert_has(out.text, "Cause   Name                     Time");
	assert_has(out.text, "        user (sampled)");
	assert_has(out.text, "stress (pid 1234)     6.10 ms  0.59 %    1.2  61.0 ms  7\n");
	assert_has(out.text, "postgres (pid 4711)      17.5 ms        -  51.0 ms      12");
	assert_has(out.text, "tare (itself)");
	assert_has(out.text, "4000 events of 100 ns: 400 µs on the whole machine, 100 µs");
	assert_has(out.text, "tare itself used 1.20 ms");
	assert_lacks(out.text, "Threads");
	check_lines(&out, 80);
	time_ledger(&f.view, 7, NULL, &out);
	assert_has(out.text, "Ledger of run 7, execution 7, 1.082 s: ./prog\n");
	assert_lacks(out.text, "Worst");
	check_lines(&out, 80);
	fixture_release(&f);
	fixture_init(&f, "./prog", 3, 1000);
	fixture_ledger(&f, true);
	time_ledger(&f.view, 2, NULL, &out);
	assert_has(out.text, "Elapsed   Share  Threads");
	assert_has(out.text, "The subject's processes\n");
	assert_has(out.text, "worker  102  101");
	assert_has(out.text, "futex 170 ms futex");
	assert_has(out.text, "and 2 more threads\n");
	assert_has(out.text, "Note: not seen: steal, on this kernel; 2 threads");
	check_lines(&out, 80);
	f.executions[2].ledger.present = false;
	assert_false(time_ledger(&f.view, 2, NULL, &out));
	strbuf_release(&out);
	fixture_release(&f);
}

static void csv_has_columns_of_the_ledger_only_where_there_is_one(void **state)
{
	(void)state;
	static struct fixture f;
	struct strbuf out = { 0 };
	struct csv csv;
	fixture_init(&f, "./prog", 2, 100);
	struct table *t = time_executions(&f.view, 1);
	table_render(t, TABLE_CSV, NULL, &out);
	assert_lacks(out.text, "wall_");
	table_free(t);
	strbuf_clear(&out);
	fixture_ledger(&f, false);
	f.executions[2].ledger.present = false;
	t = time_executions(&f.view, 1);
	table_render(t, TABLE_CSV, NULL, &out);
	table_free(t);
	assert_has(out.text, ",rule,reason,wall_run_ns,");
	csv_parse(out.text, &csv);
	char expected[32];
	snprintf(expected, sizeof expected, "%llu",
		 (unsigned long long)f.executions[1].ledger.wall_ns[LEDGER_QUEUED]);
	assert_string_equal(csv_at(&csv, 2, "wall_queued_ns"), expected);
	assert_string_equal(csv_at(&csv, 2, "wall_unseen_ns"), "0");
	assert_string_equal(csv_at(&csv, 3, "wall_queued_ns"), "");
	csv_release(&csv);
	strbuf_release(&out);
	fixture_release(&f);
}

static void explain(struct fixture *f, size_t asked, size_t most, struct strbuf *out)
{
	struct explanation e;
	struct error err = ERROR_INIT;
	strbuf_clear(out);
	assert_int_equal(explain_run(f->executions, f->view.count, &f->result, asked, &e, &err), 0);
	explain_text(&f->view, &e, most, NULL, out);
	explanation_release(&e);
}

static void slow_executions_are_explained_in_sentences(void **state)
{
	(void)state;
	static struct fixture f;
	struct strbuf out = { 0 };
	fixture_init(&f, "./prog", 10, 1000);
	fixture_ledger(&f, false);
	explain(&f, EXPLAIN_SLOW_ONES, 5, &out);
	assert_has(out.text, "1.020 s. None stands out\n  (above 1.041 s); this is the slowest.");
	fixture_disturb(&f, 7, 61200000);
	explain(&f, EXPLAIN_SLOW_ONES, 5, &out);
	const char *expected =
		"Run 7: ./prog\n"
		"10 executions with a ledger; the median one is 2, 1.020 s. 1 is slow: elapsed\n"
		"  time above 1.041 s, or dropped by a rule.\n"
		"\n"
		"Execution 7 took 1.082 s, 62.2 ms (6.1 %) longer than the median execution (2).\n"
		"  +61.2 ms    98 %  It was runnable for longer while another task had its CPU:\n"
		"                    stress (pid 1234), in 12 bursts, the longest 7.7 ms.\n"
		"  +990 µs      2 %  It ran for longer in its own code; no cause outside it is\n"
		"                    known (cache, frequency, or its own work).\n"
		"  +10.2 µs    <1 %  Everything else.\n";
	assert_string_equal(out.text, expected);
	explain(&f, 6, 0, &out);
	assert_has(out.text, "shorter than the median execution\n  (2).\n");
	assert_has(out.text, "It ran for less time in its own code.\n");
	assert_lacks(out.text, "no cause outside");
	explain(&f, 2, 0, &out);
	assert_has(out.text, "'tare show --ledger' tells");
	fixture_disturb(&f, 3, 90000000);
	explain(&f, EXPLAIN_SLOW_ONES, 1, &out);
	assert_has(out.text, "Execution 3 took");
	assert_lacks(out.text, "Execution 7 took");
	assert_has(out.text, "and 1 more: --all tells them");
	fixture_release(&f);
	fixture_init(&f, "./prog", 10, 1000);
	fixture_ledger(&f, true);
	fixture_disturb(&f, 7, 100000000);
	explain(&f, 7, 0, &out);
	assert_has(out.text, "It had several threads or");
	assert_has(out.text, "100 ms more queued (stress)");
	assert_has(out.text, "Not seen: steal, on this kernel.\n");
	check_lines(&out, 80);
	strbuf_release(&out);
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ledger_is_one_line_of_causes_by_share),
		cmocka_unit_test(odd_names_fit_the_width),
		cmocka_unit_test(a_ledger_is_shown_in_tables_with_who_delayed_it),
		cmocka_unit_test(csv_has_columns_of_the_ledger_only_where_there_is_one),
		cmocka_unit_test(slow_executions_are_explained_in_sentences),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
