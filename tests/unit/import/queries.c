/* Columns of a query's execution, and executions from CSV: what is written is read as it was, and
 * what cannot be read is named by its line and column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../fixtures/query-columns.h"
#include "base/strbuf.h"
#include "import/queries.h"

#define HEADER "query,cardinality,execution,measured_ns\n"

/* Its names are valid until the next call. */
static const struct field_cursor *column(const char *name)
{
	static struct field_cursor found;
	found = (struct field_cursor){ .fields = query_execution_fields, .without = FIELD_NOT_CSV };
	while (field_next(&found))
		if (strcmp(found.leaf.csv, name) == 0)
			return &found;
	fail_msg("no column %s", name);
	return NULL;
}

/* ---- columns ---- */

static void every_field_has_its_column(void **state)
{
	(void)state;
	struct query_execution x;
	memset(&x, 0, sizeof x);
	int64_t n = 0;
	EACH_COLUMN(c)
	{
		uint64_t value;
		size_t same = 0;
		EACH_COLUMN(other)
		{
			same += strcmp(other.leaf.csv, c.leaf.csv) == 0;
			same += other.leaf.offset == c.leaf.offset;
		}
		assert_int_equal(same, 2);
		n++;
		assert_int_equal(field_set(&c, &x, true, c.leaf.kind == FIELD_BOOL ? 1 : n), 0);
		assert_true(column_get(&c, &x, &value));
		assert_int_equal(value, c.leaf.kind == FIELD_BOOL ? 1 : n);
	}
	assert_int_equal(n, 6 + QUERY_ROLES * (QUERY_MEASURES + 1) + OVERALL_GUEST + 1 + 15);
	assert_int_equal(x.number, 1);
	assert_int_equal(x.usage[QUERY_OWN].missing | x.overall_missing, 0);
}

static void columns_are_the_members(void **state)
{
	(void)state;
	struct query_execution x = { .timed_out = true, .plan = UINT64_MAX, .rows = 9 };
	uint64_t value;
	for (int role = 0; role < QUERY_ROLES; role++)
		for (int m = 0; m < QUERY_MEASURES; m++) {
			struct strbuf name = { 0 };
			strbuf_printf(&name, "%s_%s", query_role_names[role],
				      query_measure_name((enum query_measure)m));
			if (m <= QUERY_BLKIO_NS || m == QUERY_GUEST_NS)
				strbuf_puts(&name, "_ns");
			x.usage[role].value[m] = (uint64_t)(role * 100 + m);
			assert_true(column_get(column(name.text), &x, &value));
			assert_int_equal(value, role * 100 + m);
			strbuf_release(&name);
		}
	for (int m = 0; m <= OVERALL_GUEST; m++) {
		struct strbuf name = { 0 };
		strbuf_printf(&name, "overall_%s_ns", overall_measures[m].name);
		field_set(column(name.text), &x, true, m + 7);
		assert_int_equal(x.overall_ns[m], m + 7);
		strbuf_release(&name);
	}
	assert_true(column_get(column("timed_out"), &x, &value) && value == 1);
	assert_true(column_get(column("plan"), &x, &value) && value == UINT64_MAX);
	assert_true(column_get(column("rows"), &x, &value) && value == 9);
}

static void what_is_missing_says_so(void **state)
{
	(void)state;
	struct query_execution x = { 0 };
	uint64_t value = 5;
	field_set(column("daemon_blkio_ns"), &x, false, 0);
	assert_int_equal(x.usage[QUERY_DAEMON].missing, 1u << QUERY_BLKIO_NS);
	assert_false(column_get(column("daemon_blkio_ns"), &x, &value));
	assert_int_equal(value, 0);
	field_set(column("daemon_blkio_ns"), &x, true, 0);
	assert_int_equal(x.usage[QUERY_DAEMON].missing, 0);
	field_set(column("overall_steal_ns"), &x, false, 0);
	assert_int_equal(x.overall_missing, 1u << OVERALL_STEAL);
	field_set(column("own_device_ns"), &x, false, 0);
	assert_true(x.own_device_ns == ABSENT_NS);
	field_set(column("ephemeral"), &x, false, 0);
	assert_int_equal(x.ephemeral, -1);
	assert_false(column_get(column("started_at_ns"), &x, &value));
	assert_true(column_get(column("query_process"), &x, &value)); /* there was none */
}

/* ---- CSV ---- */

static void imported(const char *text, struct query_run *run)
{
	struct error err = ERROR_INIT;
	if (imported_queries_read(text, strlen(text), 0, run, &err))
		fail_msg("%s", err.text);
}

static void refused(const char *text, const char *why)
{
	struct error err = ERROR_INIT;
	struct query_run run = { 0 };
	assert_int_equal(imported_queries_read(text, strlen(text), 0, &run, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	if (!strstr(err.text, why))
		fail_msg("'%s', not '%s'", err.text, why);
	assert_true(!run.at.count && !run.at.items);
}

static void four_columns_are_enough_and_the_rest_is_not_known(void **state)
{
	(void)state;
	struct query_run run = { 0 };
	imported("measured_ns,execution,cardinality,query,plan,timed_out\n"
		 "500,2,20,3,00000000000000ff,0\n"
		 "400,1,20,3,,1\n"
		 "300,7,10,3,abcdef0123456789,\n"
		 "200,1,9223372036854775807,1,,\n",
		 &run);
	assert_int_equal(run.queries, 3);
	assert_int_equal(run.planned, 2);
	assert_true(run.imported);
	assert_int_equal(run.at.count, 3);
	const struct query_at *at = run.at.items;
	assert_true(at[0].query == 1 && at[0].cardinality == INT64_MAX);
	assert_true(at[1].query == 3 && at[1].cardinality == 10);
	assert_true(at[1].executions.items[0].number == 7 &&
		    at[1].executions.items[0].plan == UINT64_C(0xabcdef0123456789));
	assert_true(at[2].query == 3 && at[2].cardinality == 20 && at[2].executions.count == 2);
	const struct query_execution *x = at[2].executions.items;
	assert_true(x[0].number == 1 && x[0].measured_ns == 400 && x[0].plan == 0 &&
		    x[0].timed_out);
	assert_true(x[1].number == 2 && x[1].measured_ns == 500 && x[1].plan == 0xff &&
		    !x[1].timed_out);
	/* nothing else is known */
	assert_int_equal(x[1].usage[QUERY_QUERY].missing, (1u << QUERY_MEASURES) - 1);
	assert_int_equal(x[1].overall_missing, (1u << (OVERALL_GUEST + 1)) - 1);
	assert_true(x[1].own_device_ns == ABSENT_NS && x[1].read_bytes == ABSENT_NS);
	assert_true(x[1].ephemeral == -1 && x[1].query_process == 0);
	assert_int_equal(x[1].usage[QUERY_QUERY].processes, 0);
	query_run_release(&run);
}

static void processes_that_are_not_told_are_one_where_their_times_are_told(void **state)
{
	(void)state;
	struct query_run run = { 0 };
	imported("query,cardinality,execution,measured_ns,query_user_ns,utility_user_ns,"
		 "utility_processes,query_process,dropped_by\n"
		 "1,0,1,9,5,,,,\n"
		 "1,0,2,9,,4,3,,BlockIO delay time; IOWait time\n"
		 "1,0,3,9,5,4,,18446744073709551615,\n"
		 "1,0,4,9,5,,0,0,\n",
		 &run);
	const struct query_execution *x = run.at.items[0].executions.items;
	assert_true(x[0].usage[QUERY_QUERY].processes == 1 && x[0].query_process == 1 &&
		    x[0].usage[QUERY_UTILITY].processes == 0);
	assert_true(x[1].usage[QUERY_QUERY].processes == 0 && x[1].query_process == 0 &&
		    x[1].usage[QUERY_UTILITY].processes == 3);
	assert_true(x[2].usage[QUERY_UTILITY].processes == 1 && x[2].query_process == UINT64_MAX);
	assert_true(x[3].usage[QUERY_QUERY].processes == 1 && x[3].query_process == 0);
	query_run_release(&run);
}

static void ticks_become_ns_by_the_length_of_a_tick(void **state)
{
	(void)state;
	static const char text[] = "query,cardinality,execution,measured_ticks,query_user_ticks,"
				   "query_reads,query_blkio_ns\n1,5,1,932,148,7,11\n";
	struct error err = ERROR_INIT;
	for (uint64_t tick = 0; tick <= 4000000; tick += 4000000) {
		struct query_run run = { 0 };
		uint64_t ns = tick ? tick : 10000000;
		assert_int_equal(imported_queries_read(text, strlen(text), tick, &run, &err), 0);
		const struct query_execution *x = run.at.items[0].executions.items;
		assert_int_equal(x->measured_ns, 932 * ns);
		assert_int_equal(x->usage[QUERY_QUERY].value[QUERY_USER_NS], 148 * ns);
		assert_int_equal(x->usage[QUERY_QUERY].value[QUERY_READS], 7);
		assert_int_equal(x->usage[QUERY_QUERY].value[QUERY_BLKIO_NS], 11);
		assert_int_equal(run.tick_ns, ns);
		query_run_release(&run);
	}
}

static uint64_t seed = 1;
static uint64_t next(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 1 >> (seed >> 20) % 63;
}

static void put_execution(struct strbuf *out, uint32_t query, const struct query_execution *x)
{
	strbuf_printf(out, "%u,%u", query, query * 10);
	EACH_COLUMN(c)
	{
		uint64_t value;
		bool known = column_get(&c, x, &value);
		strbuf_puts(out, ",");
		if (known && c.leaf.kind == FIELD_HASH)
			strbuf_printf(out, "%016llx", (unsigned long long)value);
		else if (known)
			strbuf_printf(out, "%llu", (unsigned long long)value);
	}
	strbuf_puts(out, "\n");
}

/* As an export has it: every column, of executions in no order. */
static void what_is_exported_comes_back(void **state)
{
	(void)state;
	enum { COUNT = 60 };
	struct query_execution made[COUNT];
	struct strbuf text = { 0 };
	strbuf_puts(&text, "query,cardinality");
	EACH_COLUMN(c)
	strbuf_printf(&text, ",%s", c.leaf.csv);
	strbuf_puts(&text, "\n");
	memset(made, 0, sizeof made);
	for (size_t i = 0; i < COUNT; i++) {
		struct query_execution *x = &made[i];
		EACH_COLUMN(c)
		{
			uint64_t value = next() & field_most(&c.leaf);
			field_set(&c, x, next() % 4 != 0, (int64_t)value);
		}
		x->number = (uint32_t)(i * 7 % COUNT / 3 + 1);
		put_execution(&text, (uint32_t)(i * 7 % 3 + 1), x);
	}
	struct query_run run = { 0 };
	imported(text.text, &run);
	assert_int_equal(run.at.count, 3);
	for (size_t i = 0; i < COUNT; i++) {
		const struct query_at *at = &run.at.items[i * 7 % 3];
		const struct query_execution *x = &at->executions.items[made[i].number - 1];
		EACH_COLUMN(c)
		{
			uint64_t a, b;
			bool known = column_get(&c, &made[i], &a);
			if (known != column_get(&c, x, &b) || a != b)
				fail_msg("%s differs", c.leaf.csv);
		}
	}
	query_run_release(&run);
	strbuf_release(&text);
}

static void a_bad_header_is_refused_and_its_column_named(void **state)
{
	(void)state;
	refused("", "nothing in it");
	refused(HEADER, "no execution in it");
	refused("query,cardinality,execution\n1,2,3\n", "lacks the column 'measured_ns'");
	refused("query,cardinality,measured_ns\n1,2,3\n", "lacks the column 'execution'");
	refused("cardinality,execution,measured_ns\n1,2,3\n", "lacks the column 'query'");
	refused("query,cardinality,execution,measured_ns,query_usr_ns\n1,1,1,1,1\n",
		"line 1: there is no column 'query_usr_ns'");
	refused("query,cardinality,execution,measured_ns,query_reads_ticks\n1,1,1,1,1\n",
		"no column 'query_reads_ticks'");
	refused("query,cardinality,execution,measured_ns,_ticks\n1,1,1,1,1\n",
		"no column '_ticks'");
	refused("query,cardinality,execution,measured_ns,started_at_ticks\n1,1,1,1,1\n",
		"no column 'started_at_ticks'");
	refused("query,cardinality,execution,measured_ns,measured_ticks\n1,1,1,1,1\n",
		"two columns are of 'measured_ns'");
	refused("query,query,cardinality,execution,measured_ns\n1,1,1,1,1\n",
		"two columns are of 'query'");
	struct error err = ERROR_INIT;
	struct query_run run = { 0 };
	static const char text[] = "query,cardinality,execution,mesured_ns\n1,1,1,1\n";
	assert_int_equal(imported_queries_read(text, strlen(text), 0, &run, &err), -1);
	assert_non_null(strstr(err.hint, "measured_ns"));
}

static void a_bad_row_is_refused_and_its_line_and_column_named(void **state)
{
	(void)state;
	refused(HEADER "1,1,1,1\n1,1,2\n", "line 3: it has 3 fields, the header 4 columns");
	refused(HEADER "0,1,1,1\n", "line 2, column query: '0' is not a query's number");
	refused(HEADER "1000001,1,1,1\n", "column query: '1000001'");
	refused(HEADER "1,-1,1,1\n", "column cardinality: '-1'");
	refused(HEADER "1,9223372036854775808,1,1\n", "column cardinality");
	refused(HEADER "1,1,0,1\n", "column execution: '0'");
	refused(HEADER "1,1,4294967296,1\n", "column execution: '4294967296'");
	refused(HEADER "1,1,1,\n", "line 2, column measured_ns: '' is not a number of ns");
	refused(HEADER "1,1,1,1.5\n", "column measured_ns: '1.5'");
	refused(HEADER "1,1,1, 1\n", "column measured_ns: ' 1'");
	refused(HEADER "1,1,1,1e9\n", "column measured_ns: '1e9'");
	refused(HEADER "1,1,1,9223372036854775808\n", "column measured_ns");
	refused("query,cardinality,execution,measured_ticks\n1,1,1,922337203686\n",
		"column measured_ticks: '922337203686' is not a number of ticks");
	refused("query,cardinality,execution,measured_ns,timed_out\n1,1,1,1,2\n",
		"column timed_out: '2' is not 0 or 1");
	refused("query,cardinality,execution,measured_ns,timed_out\n1,1,1,1,9\n",
		"column timed_out: '9' is not 0 or 1");
	refused("query,cardinality,execution,measured_ns,plan\n1,1,1,1,0ffffffffffffffffg\n",
		"column plan");
	refused("query,cardinality,execution,measured_ns,plan\n1,1,1,1,10000000000000000\n",
		"column plan");
	refused("query,cardinality,execution,measured_ns,lost\n1,1,1,1,4294967296\n",
		"column lost");
	refused("query,cardinality,execution,measured_ns,query_user_ns\n1,1,1,1,a\n",
		"line 2, column query_user_ns: 'a'");
	refused(HEADER "1,1,1,1\n2,1,1,1\n1,1,1,2\n", "line 4, column execution: it has the same "
						      "query, cardinality and execution as line 2");
	refused(HEADER "1,1,1,\"1\n", "its quote is not closed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_has_its_column),
		cmocka_unit_test(columns_are_the_members),
		cmocka_unit_test(what_is_missing_says_so),
		cmocka_unit_test(four_columns_are_enough_and_the_rest_is_not_known),
		cmocka_unit_test(processes_that_are_not_told_are_one_where_their_times_are_told),
		cmocka_unit_test(ticks_become_ns_by_the_length_of_a_tick),
		cmocka_unit_test(what_is_exported_comes_back),
		cmocka_unit_test(a_bad_header_is_refused_and_its_column_named),
		cmocka_unit_test(a_bad_row_is_refused_and_its_line_and_column_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
