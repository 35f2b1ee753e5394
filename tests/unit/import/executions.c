#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/csv.h"
#include "import/executions.h"

#define HEADER "run,sample,et_ns,pt_ns,daemon,daemon_pt_ns\n"

/* ---- CSV ---- */

/* Records as they come, fields in brackets, a line number before each. */
static void shown_csv(const char *text, size_t length, struct strbuf *out)
{
	struct csv c;
	struct error err = ERROR_INIT;
	int got;
	csv_begin(&c, text, length);
	while ((got = csv_next(&c, &err)) > 0) {
		strbuf_printf(out, "%d", (int)c.line);
		for (size_t i = 0; i < c.fields.count; i++)
			strbuf_printf(out, "[%s]", c.fields.items[i]);
	}
	if (got < 0) {
		assert_int_equal(err.code, EXIT_USAGE);
		strbuf_printf(out, "!%s", err.text);
	}
	csv_release(&c);
}

static void assert_csv(const char *text, size_t length, const char *wanted)
{
	struct strbuf out = { 0 };
	shown_csv(text, length, &out);
	assert_string_equal(strbuf_text(&out), wanted);
	strbuf_release(&out);
}

#define CSV(text, wanted) assert_csv(text, sizeof(text) - 1, wanted)

static void csv_is_read_as_rfc_4180_has_it(void **state)
{
	(void)state;
	CSV("", "");
	CSV("\n\r\n\n", "");
	CSV("a,b\nc,d", "1[a][b]2[c][d]");
	CSV("a,b\r\nc,d\r\n", "1[a][b]2[c][d]");
	CSV("a,\n,b\n,", "1[a][]2[][b]3[][]");
	CSV("\n\na\n\n\nb\n", "3[a]6[b]");
	CSV("\"a,b\",\"c\"\"d\",\"\"\n", "1[a,b][c\"d][]");
	CSV("\"one\ntwo\r\nthree\",x\ny\n", "1[one\ntwo\r\nthree][x]4[y]");
	CSV("\xef\xbb\xbf"
	    "a\n",
	    "1[a]");
	CSV("a b , c\n", "1[a b ][ c]");
	CSV("a\rb\n", "1[a\rb]");
	CSV("\"\"", "1[]");
}

static void what_is_no_csv_is_told(void **state)
{
	(void)state;
	CSV("a\nb,\"c\nd\n", "1[a]!line 2, field 2: its quote is not closed");
	CSV("\"", "!line 1, field 1: its quote is not closed");
	CSV("a,b\"c\n", "!line 1, field 2: a quote within a field that has none around it");
	CSV("\"a\"b,c\n", "!line 1, field 1: something follows its closing quote");
	CSV("a\n\nb\0c\n", "1[a]!line 3, field 1: a byte of 0, which no text has");
	CSV("\"b\0c\"\n", "!line 1, field 1: a byte of 0, which no text has");
}

/* ---- runs ---- */

static void rows_become_executions(void **state)
{
	(void)state;
	static const char text[] = "daemon,daemon_pt_ns,run,et_ns,pt_ns,sample\r\n"
				   "sshd,40,B,2000,1900,3\r\n"
				   ",,A,1000,,2\r\n"
				   "kworker/1:2-events_unbound,7,B,1500,1400,1\r\n"
				   "\"a, \"\"b\"\"\",90,B,2000,1900,3\r\n"
				   "sshd,60,B,2000,1900,3\r\n";
	imported_list list = { 0 };
	struct error err = ERROR_INIT;
	assert_int_equal(imported_read(text, strlen(text), &list, &err), 0);
	assert_int_equal(list.count, 2);
	const struct imported_run *b = &list.items[0], *a = &list.items[1];
	assert_string_equal(b->name, "B");
	assert_string_equal(a->name, "A");
	assert_int_equal(b->daemons, 4);
	assert_int_equal(a->daemons, 0);
	assert_int_equal(a->executions.count, 1);
	assert_int_equal(a->executions.items[0].number, 2);
	assert_int_equal(a->executions.items[0].et_ns, 1000);
	assert_int_equal(a->executions.items[0].processes.count, 0);
	for (int g = 0; g < GRADES; g++)
		assert_int_equal(a->executions.items[0].pt_ns[g], ABSENT_NS);
	assert_int_equal(b->executions.count, 2);
	const struct execution *first = &b->executions.items[0], *third = first + 1;
	assert_int_equal(first->number, 1);
	assert_string_equal(first->processes.items[0].name, "kworker/1");
	assert_int_equal(third->number, 3);
	assert_int_equal(third->pt_ns[GRADE_EXEC], 1900);
	assert_int_equal(third->pt_ns[GRADE_NET], ABSENT_NS);
	assert_int_equal(third->started_at_ns, 0);
	static const char *const names[] = { "a, \"b\"", "sshd", "sshd" };
	static const uint64_t pts[] = { 90, 60, 40 };
	assert_int_equal(third->processes.count, 3);
	for (int i = 0; i < 3; i++) {
		const struct process *p = &third->processes.items[i];
		assert_string_equal(p->name, names[i]);
		assert_int_equal(p->role, ROLE_DAEMON);
		assert_int_equal(p->present, 1u << TASK_EXEC);
		assert_int_equal(p->value[TASK_EXEC], pts[i]);
	}
	imported_release(&list);
}

static void what_is_wrong_is_told_by_line_and_column(void **state)
{
	(void)state;
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{ "", "there is nothing in it" },
		{ HEADER, "there is no sample in it" },
		{ "A,1,2,3,,\n", "line 1: there is no column 'A'" },
		{ "run,sample\n", "line 1: it lacks the column 'et_ns'" },
		{ "run,sample,run\n", "line 1: two columns are called 'run'" },
		{ HEADER "A,1,2,3,\n", "line 2: it has 5 fields, the header 6 columns" },
		{ HEADER "A,1,2,3,,\n\nA,2,2,3,,,\n",
		  "line 4: it has 7 fields, the header 6 columns" },
		{ HEADER ",1,2,3,,\n", "line 2, column run: '' is not the name of a run" },
		{ HEADER "A,0,2,3,,\n",
		  "line 2, column sample: '0' is not a sample's number, from 1 on" },
		{ HEADER "A,4294967296,2,3,,\n",
		  "line 2, column sample: '4294967296' is not a sample's number, from 1 on" },
		{ HEADER "A,1,,3,,\n", "line 2, column et_ns: '' is not a number of ns from 1 on" },
		{ HEADER "A,1,0,3,,\n",
		  "line 2, column et_ns: '0' is not a number of ns from 1 on" },
		{ HEADER "A,1,1e9,3,,\n",
		  "line 2, column et_ns: '1e9' is not a number of ns from 1 on" },
		{ HEADER "A,1,2000000000000000000,3,,\n",
		  "line 2, column et_ns: '2000000000000000000' is not a number of ns from 1 on" },
		{ HEADER "A,1,2,-3,,\n",
		  "line 2, column pt_ns: '-3' is not a number of ns from 0 on" },
		{ HEADER "A,1,2,3,d,\n",
		  "line 2, column daemon_pt_ns: '' is not a number of ns from 0 on" },
		{ HEADER "A,1,2,3,,5\n", "line 2, column daemon: '' is not the name of a daemon, "
					 "whose daemon_pt_ns there is" },
		{ HEADER "A,1,2,3,sixteen-bytes-ab,5\n",
		  "line 2, column daemon: 'sixteen-bytes-ab' is not a task's name, which has 15 "
		  "bytes at most" },
		{ HEADER "A,1,2,3,d,5\nA,2,2,3,,\nA,1,4,3,d,5\n",
		  "line 4, column et_ns: it differs from line 2, which has the same run and "
		  "sample" },
		{ HEADER "A,1,2,3,d,5\nA,1,2,,d,5\n",
		  "line 3, column pt_ns: it differs from line 2, which has the same run and "
		  "sample" },
		{ HEADER "A,1,2,3,,\nA,1,2,3,,\n",
		  "line 3, column daemon: it is empty, unlike in line 2, which has the same run "
		  "and sample" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		imported_list list = { 0 };
		struct error err = ERROR_INIT;
		assert_int_equal(imported_read(cases[i].text, strlen(cases[i].text), &list, &err),
				 -1);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_string_equal(err.text, cases[i].wanted);
		assert_int_equal(list.count, 0);
	}
}

static void runs_are_not_without_end(void **state)
{
	(void)state;
	for (int extra = 0; extra < 2; extra++) {
		struct strbuf text = { 0 };
		imported_list list = { 0 };
		struct error err = ERROR_INIT;
		strbuf_puts(&text, HEADER);
		for (int i = 0; i < IMPORTED_RUNS_MOST + extra; i++)
			strbuf_printf(&text, "r%d,1,2,3,,\n", i);
		assert_int_equal(imported_read(text.text, text.length, &list, &err), -extra);
		assert_int_equal(list.count, extra ? 0 : IMPORTED_RUNS_MOST);
		imported_release(&list);
		strbuf_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_is_read_as_rfc_4180_has_it),
		cmocka_unit_test(what_is_no_csv_is_told),
		cmocka_unit_test(rows_become_executions),
		cmocka_unit_test(what_is_wrong_is_told_by_line_and_column),
		cmocka_unit_test(runs_are_not_without_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
