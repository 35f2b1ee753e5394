/* Executions of queries in the lab: they come back as they were; an execution is there with all of
 * its own or not at all; a Q@C that is thrown away takes nothing of the others with it. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "../fixtures/query-columns.h"
#include "fixture.h"
#include "lab/lab.h"
#include "lab/sqlite.h"
#include "sample.h"

/* ---- runs of queries ---- */

static int64_t add_query_run(struct lab *lab)
{
	struct run run = { .kind = SUBJECT_QUERY,
			   .name = xstrdup("tpch"),
			   .command = xstrdup("tare query") };
	ok(lab_add_run(lab, &run, &err));
	int64_t id = run.id;
	run_release(&run);
	return id;
}

/* Any values; every column is missing now and then. */
static struct query_execution random_execution(uint32_t number)
{
	struct query_execution x = { 0 };
	EACH_COLUMN(c)
	{
		uint64_t value = random_value() & field_most(&c.leaf);
		field_set(&c, &x, random_number() % 5 != 0, (int64_t)value);
	}
	x.number = number;
	return x;
}

static struct query_at random_at(uint32_t query, uint64_t cardinality, uint32_t count)
{
	struct query_at at = { .query = query,
			       .cardinality = cardinality,
			       .table_bytes = random_value() };
	for (uint32_t i = 1; i <= count; i++)
		array_push(&at.executions, random_execution(i));
	return at;
}

/* 3 queries at 4 cardinalities, some without executions. */
static void random_run(struct query_run *q)
{
	*q = (struct query_run){ .dbms = "postgresql",
				 .cpus = 2,
				 .queries = 3,
				 .version = xstrdup("15.3"),
				 .settings = xstrdup("{\"jit\": \"off\"}"),
				 .experiment_name = xstrdup("quick"),
				 .experiment = xstrdup("# caf\xe9\n"),
				 .scenario = xstrdup("onepass"),
				 .cold = true,
				 .io_by_process = true,
				 .planned = 10,
				 .time_limit_ns = 5,
				 .tick_ns = 4000000,
				 .seed = UINT64_MAX - 3 };
	array_push(&q->texts,
		   ((struct query_text){ 1, xstrdup("q\xff"), xstrdup("SELECT '\xe9'") }));
	array_push(&q->texts, ((struct query_text){ 2, NULL, xstrdup("") }));
	array_push(&q->plans, ((struct query_plan){ 5, xstrdup("{}") }));
	array_push(&q->plans, ((struct query_plan){ UINT64_MAX - 1, xstrdup("[\"scan\"]") }));
	array_push(&q->events, ((struct query_event){ QUERY_RESTARTED, 7, 1, 100, UINT64_MAX, 3,
						      xstrdup("changed") }));
	array_push(&q->events, ((struct query_event){ .kind = QUERY_PAUSED, .at_ns = 6 }));
	for (uint32_t i = 0; i < 12; i++)
		array_push(&q->at, random_at(i / 4 + 1, i % 4 * 1000, i * 3 % 11));
}

static void same_text(const char *a, const char *b)
{
	assert_true(!a == !b);
	if (a)
		assert_string_equal(a, b);
}

static void same_query_execution(const struct query_execution *a, const struct query_execution *b)
{
	EACH_COLUMN(c)
	{
		uint64_t p, q;
		bool known = column_get(&c, a, &p);
		if (known != column_get(&c, b, &q) || p != q)
			fail_msg("%s differs", c.leaf.csv);
	}
}

static void same_ats(const struct query_run *a, const struct query_run *b)
{
	assert_int_equal(a->at.count, b->at.count);
	for (size_t i = 0; i < a->at.count; i++) {
		const struct query_at *p = &a->at.items[i], *q = &b->at.items[i];
		assert_true(p->query == q->query && p->cardinality == q->cardinality &&
			    p->table_bytes == q->table_bytes);
		assert_int_equal(p->executions.count, q->executions.count);
		for (size_t k = 0; k < p->executions.count; k++)
			same_query_execution(&p->executions.items[k], &q->executions.items[k]);
	}
}

static void same_run(const struct query_run *a, const struct query_run *b)
{
	assert_string_equal(a->dbms, b->dbms);
	same_text(a->version, b->version);
	same_text(a->settings, b->settings);
	same_text(a->experiment_name, b->experiment_name);
	same_text(a->experiment, b->experiment);
	same_text(a->scenario, b->scenario);
	assert_true(a->cpus == b->cpus && a->queries == b->queries && a->cold == b->cold &&
		    a->imported == b->imported && a->io_by_process == b->io_by_process &&
		    a->planned == b->planned && a->time_limit_ns == b->time_limit_ns &&
		    a->tick_ns == b->tick_ns && a->seed == b->seed);
	assert_int_equal(a->texts.count, b->texts.count);
	for (size_t i = 0; i < a->texts.count; i++) {
		assert_int_equal(a->texts.items[i].query, b->texts.items[i].query);
		same_text(a->texts.items[i].name, b->texts.items[i].name);
		same_text(a->texts.items[i].sql, b->texts.items[i].sql);
	}
	assert_int_equal(a->plans.count, b->plans.count);
	for (size_t i = 0; i < a->plans.count; i++) {
		assert_true(a->plans.items[i].hash == b->plans.items[i].hash);
		same_text(a->plans.items[i].json, b->plans.items[i].json);
	}
	assert_int_equal(a->events.count, b->events.count);
	for (size_t i = 0; i < a->events.count; i++) {
		const struct query_event *p = &a->events.items[i], *q = &b->events.items[i];
		assert_true(p->kind == q->kind && p->at_ns == q->at_ns && p->query == q->query &&
			    p->cardinality == q->cardinality && p->plan == q->plan &&
			    p->before == q->before);
		same_text(p->text, q->text);
	}
	same_ats(a, b);
}

static void comes_back(struct lab *lab, int64_t run, const struct query_run *q)
{
	struct query_run back = { 0 };
	ok(lab_get_query_run(lab, run, &back, &err));
	same_run(q, &back);
	query_run_release(&back);
}

static void a_run_stored_at_once_comes_back(void **state)
{
	(void)state;
	struct query_run q, empty = { .dbms = "sqlite", .imported = true };
	random_run(&q);
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = add_query_run(lab), other = add_query_run(lab), none = add_query_run(lab);
	ok(lab_add_query_data(lab, run, &q, &err));
	ok(lab_add_query_data(lab, other, &empty, &err));
	assert_refused(lab_get_query_run(lab, none, &empty, &err), "nothing of run 3");
	lab_close(lab);
	lab = open_lab(LAB_READ);
	comes_back(lab, run, &q);
	comes_back(lab, other, &empty);
	lab_close(lab);
	query_run_release(&q);
}

static void a_run_stored_one_by_one_in_any_order_comes_back(void **state)
{
	(void)state;
	struct query_run q;
	random_run(&q);
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = add_query_run(lab);
	ok(lab_add_query_run(lab, run, &q, &err));
	for (size_t i = q.plans.count; i-- > 0;)
		for (int twice = 0; twice < 2; twice++)
			ok(lab_add_query_plan(lab, run, &q.plans.items[i], &err));
	for (size_t i = 0; i < q.events.count; i++)
		ok(lab_add_query_event(lab, run, &q.events.items[i], &err));
	for (size_t i = q.at.count; i-- > 0;) {
		struct query_at before = { .query = q.at.items[i].query,
					   .cardinality = q.at.items[i].cardinality };
		ok(lab_add_query_at(lab, run, &before, &err));
		for (size_t k = 0; k < q.at.items[i].executions.count; k++)
			ok(lab_add_query_execution(lab, run, before.query, before.cardinality,
						   &q.at.items[i].executions.items[k], NULL, &err));
		ok(lab_add_query_at(lab, run, &q.at.items[i], &err));
	}
	comes_back(lab, run, &q);
	lab_close(lab);
	query_run_release(&q);
}

/* ---- an execution and what was measured beside it ---- */

static int64_t begin_run(struct lab *lab)
{
	struct query_run q = { .dbms = "sqlite", .queries = 3, .planned = 10 };
	int64_t run = add_query_run(lab);
	ok(lab_add_query_run(lab, run, &q, &err));
	for (uint32_t query = 1; query <= 3; query++) {
		struct query_at at = { .query = query, .cardinality = 1000 };
		ok(lab_add_query_at(lab, run, &at, &err));
	}
	return run;
}

static int add_execution(struct lab *lab, int64_t run, uint32_t query, uint32_t number,
			 struct execution *raw)
{
	struct query_execution x = random_execution(number);
	make_execution(raw, 77);
	return lab_add_query_execution(lab, run, query, 1000, &x, raw, &err);
}

static void same_ledger(struct lab *lab, int64_t run, uint32_t number, struct execution *const *of,
			size_t count)
{
	execution_list list = { 0 };
	ok(lab_get_query_ledger(lab, run, number, 1000, &list, &err));
	assert_int_equal(list.count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(list.items[i].id, of[i]->id);
		assert_int_equal(list.items[i].number, of[i]->number);
		assert_int_equal(list.items[i].processes.count, of[i]->processes.count);
	}
	release_executions(&list);
}

static void what_was_measured_beside_a_query_comes_back(void **state)
{
	(void)state;
	enum { COUNT = 30 };
	struct execution raw[COUNT];
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = begin_run(lab);
	for (uint32_t i = 0; i < COUNT; i++) {
		ok(add_execution(lab, run, i % 20 < 10 ? 1 : 1 + i % 3, i + 1, &raw[i]));
		assert_int_equal(raw[i].number, i + 1);
		assert_true(raw[i].id > 0);
	}
	execution_list list = { 0 };
	ok(lab_get_executions(lab, run, LAB_THREADS, &list, &err));
	assert_int_equal(list.count, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		same_execution(&list.items[i], &raw[i]);
	release_executions(&list);
	struct execution *of_two[COUNT];
	size_t count = 0;
	for (size_t i = 0; i < COUNT; i++)
		if (i % 20 >= 10 && i % 3 == 1)
			of_two[count++] = &raw[i];
	same_ledger(lab, run, 2, of_two, count);
	for (size_t i = 0; i < COUNT; i++)
		execution_release(&raw[i]);
	lab_close(lab);
}

static void an_execution_of_a_query_says_what_was_measured_beside_it(void **state)
{
	(void)state;
	struct execution raw[2];
	struct query_execution alone = random_execution(3);
	struct query_run back = { 0 };
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = begin_run(lab);
	for (uint32_t i = 0; i < 2; i++)
		ok(add_execution(lab, run, 2, i + 1, &raw[i]));
	alone.raw = 12345; /* not the caller's to say */
	ok(lab_add_query_execution(lab, run, 2, 1000, &alone, NULL, &err));
	ok(lab_get_query_run(lab, run, &back, &err));
	assert_int_equal(back.at.items[1].executions.count, 3);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(back.at.items[1].executions.items[i].raw, raw[i].id);
		execution_release(&raw[i]);
	}
	assert_int_equal(back.at.items[1].executions.items[2].raw, 0);
	query_run_release(&back);
	lab_close(lab);
}

static void a_number_is_given_once(void **state)
{
	(void)state;
	struct execution raw;
	struct query_execution x = { .number = 1 };
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = begin_run(lab);
	ok(add_execution(lab, run, 1, 1, &raw));
	execution_release(&raw);
	assert_refused(add_execution(lab, run, 1, 1, &raw), "execution 1 of this query");
	assert_true(raw.id == 0 && raw.number == 0);
	execution_release(&raw);
	assert_refused(lab_add_query_execution(lab, run, 1, 1000, &x, NULL, &err),
		       "stored already");
	assert_refused(lab_add_query_execution(lab, run, 1, 999, &x, NULL, &err),
		       "no query 1 at cardinality 999");
	assert_refused(lab_add_query_execution(lab, run, 4, 1000, &x, NULL, &err), "no query 4");
	assert_int_equal(query(lab, "SELECT count(*) FROM execution"), 1);
	ok(add_execution(lab, run, 1, 2, &raw));
	execution_release(&raw);
	assert_int_equal(count_executions(lab, run, LAB_THREADS), 2);
	lab_close(lab);
}

static void a_restart_takes_only_its_own_executions_away(void **state)
{
	(void)state;
	struct execution raw[9], more;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = begin_run(lab);
	for (uint32_t i = 0; i < 9; i++)
		ok(add_execution(lab, run, i / 3 + 1, i % 3 + 1, &raw[i]));
	execute_sql(OLD_IMAGES); /* as in a run that a tare of before decision 026 began */
	struct query_event why = { .kind = QUERY_RESTARTED,
				   .query = 1,
				   .cardinality = 1000,
				   .plan = 8,
				   .before = 9,
				   .text = (char[]){ "another plan" } };
	for (uint32_t gone = 1; gone <= 3; gone += 2) { /* the first of the run, then the last */
		why.query = gone;
		ok(lab_restart_query_at(lab, run, &why, &err));
		ok(add_execution(lab, run, gone, 1, &more));
		assert_int_equal(more.number, gone == 1 ? 10 : 11);
		execution_release(&more);
		struct query_run back = { 0 };
		ok(lab_get_query_run(lab, run, &back, &err));
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(back.at.items[i].executions.count,
					 i == 0 || (i == 2 && gone == 3) ? 1 : 3);
		assert_int_equal(back.events.count, gone == 1 ? 1 : 2);
		assert_string_equal(back.events.items[0].text, "another plan");
		query_run_release(&back);
	}
	execution_list list = { 0 };
	ok(lab_get_executions(lab, run, LAB_THREADS, &list, &err));
	assert_int_equal(list.count, 5);
	for (size_t i = 0; i < 3; i++)
		same_execution(&list.items[i], &raw[3 + i]);
	release_executions(&list);
	assert_int_equal(query(lab, "SELECT count(*) FROM image"), 6);
	why.query = 9;
	assert_refused(lab_restart_query_at(lab, run, &why, &err), "no query 9");
	assert_int_equal(query(lab, "SELECT count(*) FROM query_events"), 2);
	for (size_t i = 0; i < 9; i++)
		execution_release(&raw[i]);
	lab_close(lab);
}

/* ---- kill -9 ---- */

static void store_until_killed(int64_t run, int told)
{
	struct lab *lab = open_lab(LAB_WRITE);
	for (uint32_t i = 1;; i++) {
		struct execution raw;
		ok(add_execution(lab, run, 1, i, &raw));
		execution_release(&raw);
		if (write(told, "x", 1) != 1)
			_exit(1);
	}
}

static void a_killed_writer_leaves_whole_executions(void **state)
{
	(void)state;
	for (int round = 0; round < 8; round++) {
		int ends[2];
		struct lab *lab = open_lab(LAB_WRITE);
		int64_t run = begin_run(lab);
		lab_close(lab); /* none of SQLite's is taken across fork() */
		assert_int_equal(pipe(ends), 0);
		pid_t pid = fork();
		assert_true(pid >= 0);
		if (!pid)
			store_until_killed(run, ends[1]);
		char done[5];
		for (size_t got = 0; got < sizeof done;) {
			ssize_t n = read(ends[0], done + got, sizeof done - got);
			assert_true(n > 0);
			got += (size_t)n;
		}
		usleep((useconds_t)(random_number() % 3000)); /* anywhere within one */
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		close(ends[0]);
		close(ends[1]);
		lab = open_lab(LAB_WRITE);
		struct query_run back = { 0 };
		ok(lab_get_query_run(lab, run, &back, &err));
		size_t count = back.at.items[0].executions.count;
		assert_true(count >= sizeof done);
		for (size_t i = 0; i < count; i++)
			assert_int_equal(back.at.items[0].executions.items[i].number, i + 1);
		assert_int_equal(count_executions(lab, run, LAB_THREADS), count);
		assert_int_equal(query(lab,
				       "SELECT count(*) FROM query_execution x WHERE NOT EXISTS"
				       " (SELECT 1 FROM process p WHERE p.execution = x.raw)"),
				 0);
		/* it goes on where that one was */
		struct execution raw;
		ok(add_execution(lab, run, 1, (uint32_t)count + 1, &raw));
		execution_release(&raw);
		query_run_release(&back);
		lab_close(lab);
	}
}

/* ---- beside other runs ---- */

static void a_removed_run_takes_all_of_its_queries_with_it(void **state)
{
	(void)state;
	static const char *const tables[] = { "query_run",   "query_text", "query_plan",
					      "query_event", "query_at",   "query_execution",
					      "execution",   "process",	   "image" };
	struct query_run q;
	struct execution raw;
	random_run(&q);
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t all = add_query_run(lab), run = begin_run(lab);
	ok(lab_add_query_data(lab, all, &q, &err));
	for (uint32_t i = 1; i < 4; i++) {
		ok(add_execution(lab, run, i, 1, &raw));
		execution_release(&raw);
	}
	execute_sql(OLD_IMAGES);
	ok(lab_end_run(lab, run, RUN_COMPLETE, &err));
	ok(lab_remove_run(lab, run, &err));
	comes_back(lab, all, &q);
	ok(lab_end_run(lab, all, RUN_COMPLETE, &err));
	ok(lab_remove_run(lab, all, &err));
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		char sql[80];
		snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", tables[i]);
		assert_int_equal(query(lab, sql), 0);
	}
	lab_close(lab);
	query_run_release(&q);
}

static void a_run_of_queries_is_counted_by_its_executions(void **state)
{
	(void)state;
	struct query_run q, back = { 0 };
	execution_list list = { 0 };
	run_list runs = { 0 };
	run_count_list counts = { 0 };
	random_run(&q);
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t command = add_run(lab, "true"), run = add_query_run(lab);
	struct execution x;
	make_execution(&x, 1);
	ok(lab_add_execution(lab, command, &x, &err));
	execution_release(&x);
	ok(lab_add_query_data(lab, run, &q, &err));
	uint32_t executions = 0;
	for (size_t i = 0; i < q.at.count; i++)
		executions += (uint32_t)q.at.items[i].executions.count;
	ok(lab_list_runs(lab, NULL, 0, &runs, &counts, &err));
	assert_int_equal(runs.items[0].kind, SUBJECT_QUERY);
	assert_int_equal(counts.items[0].executions, executions);
	assert_true(counts.items[0].mean_et_ns != counts.items[0].mean_et_ns); /* NaN */
	assert_int_equal(counts.items[0].queries, 3);
	assert_int_equal(counts.items[0].ats, q.at.count);
	assert_int_equal(counts.items[1].executions, 1);
	assert_int_equal(query(lab, "SELECT executions FROM runs WHERE kind = 'query'"),
			 executions);
	assert_int_equal(query(lab, "SELECT executions FROM runs WHERE kind = 'command'"), 1);
	assert_refused(lab_get_query_run(lab, command, &back, &err), "not one of 'tare query'");
	assert_refused(lab_get_query_ledger(lab, command, 1, 0, &list, &err), "not one of");
	assert_refused(lab_get_query_run(lab, 99, &back, &err), "no run 99");
	for (size_t i = 0; i < runs.count; i++)
		run_release(&runs.items[i]);
	array_release(&runs);
	array_release(&counts);
	lab_close(lab);
	query_run_release(&q);
}

/* ---- views ---- */

/* Each of its columns is there under its name, with its value. */
static void views_have_every_column(void **state)
{
	(void)state;
	struct query_run q = { .dbms = "sqlite", .queries = 1 };
	struct query_at at = random_at(1, 7, 3);
	array_push(&q.at, at);
	array_push(&q.plans, ((struct query_plan){ UINT64_C(0xfedcba9876543210), xstrdup("{}") }));
	at.executions.items[2].plan = q.plans.items[0].hash;
	struct lab *lab = open_lab(LAB_WRITE);
	ok(lab_add_query_data(lab, add_query_run(lab), &q, &err));
	EACH_COLUMN(c)
	{
		char sql[200];
		uint64_t value;
		bool known = column_get(&c, &at.executions.items[2], &value);
		if (c.leaf.kind == FIELD_HASH)
			continue;
		char wanted[24] = "NULL";
		if (known)
			snprintf(wanted, sizeof wanted, "%lld", (long long)value);
		snprintf(sql, sizeof sql,
			 "SELECT %s IS %s FROM query_executions WHERE execution = 3"
			 " AND query = 1 AND cardinality = 7",
			 c.leaf.name, wanted);
		if (query(lab, sql) != 1)
			fail_msg("%s", sql);
	}
	assert_int_equal(query(lab, "SELECT count(*) FROM query_executions JOIN query_plans"
				    " USING (run, plan) WHERE plan = 'fedcba9876543210'"),
			 1);
	assert_int_equal(query(lab, "SELECT executions FROM query_ats"), 3);
	lab_close(lab);
	query_run_release(&q);
}

static void views_repair_text(void **state)
{
	(void)state;
	struct query_run q;
	random_run(&q);
	struct lab *lab = open_lab(LAB_WRITE);
	ok(lab_add_query_data(lab, add_query_run(lab), &q, &err));
	assert_int_equal(query(lab, "SELECT sql = 'SELECT ''\xef\xbf\xbd''' FROM queries"
				    " WHERE query = 1"),
			 1);
	assert_int_equal(query(lab, "SELECT count(*) FROM query_runs WHERE dbms = 'postgresql'"
				    " AND cold AND NOT imported AND scenario = 'onepass'"),
			 1);
	assert_int_equal(query(lab, "SELECT count(*) FROM query_events WHERE kind = 'restarted'"
				    " AND plan = 'ffffffffffffffff' AND cardinality = 100"),
			 1);
	assert_int_equal(query(lab, "SELECT count(*) FROM query_ats"), 12);
	lab_close(lab);
	query_run_release(&q);
}

/* ---- the file ---- */

static void damage_is_an_error(void **state)
{
	(void)state;
	static const char *const damages[] = {
		"UPDATE query_execution SET timed_out = 2",
		"UPDATE query_execution SET query_tasks = -1",
		"UPDATE query_execution SET measured_ns = -1",
		"UPDATE query_execution SET overall_idle_ns = -5",
		"UPDATE query_execution SET started_at_ns = -1",
		"UPDATE query_execution SET lost = 1 << 40",
		"UPDATE query_at SET query = query - 9",
		"UPDATE query_event SET kind = 17",
		"UPDATE query_text SET query = 1 << 33 WHERE query = 2",
		"UPDATE query_run SET cpus = -1",
	};
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		struct query_run q, back = { 0 };
		random_run(&q);
		struct lab *lab = open_lab(LAB_WRITE);
		int64_t run = add_query_run(lab);
		ok(lab_add_query_data(lab, run, &q, &err));
		assert_int_equal(sqlite3_exec(lab->db, damages[i], NULL, NULL, NULL), SQLITE_OK);
		err = (struct error)ERROR_INIT;
		assert_int_equal(lab_get_query_run(lab, run, &back, &err), -1);
		assert_non_null(strstr(err.text, "is damaged"));
		assert_true(!back.at.count && !back.version);
		lab_close(lab);
		unlink(path);
		query_run_release(&q);
	}
}

static void a_lab_before_queries_is_brought_up_to_date(void **state)
{
	(void)state;
	for (int i = 0; i < 6; i++)
		execute_sql(lab_schema[i]);
	execute_sql(
		"PRAGMA application_id = 0x74617265; PRAGMA user_version = 6;"
		"INSERT INTO run (status, backend, name, command, parameters, parameters_raw,"
		" started_at_ns, planned, owner_pid, owner_start, owner_boot, owner_space, kind)"
		" VALUES (1, 2, x'6f', x'74', '{}', x'', 5, 1, 1, 1, '', '', 0),"
		" (1, 2, x'6e', x'74', '{}', x'', 6, 1, 1, 1, '', '', 2)");
	struct lab *lab = open_lab(LAB_WRITE);
	struct query_run q;
	random_run(&q);
	assert_int_equal(
		query(lab, "SELECT group_concat(id || kind) = '1command,2system' FROM runs"), 1);
	int64_t run = add_query_run(lab);
	ok(lab_add_query_data(lab, run, &q, &err));
	comes_back(lab, run, &q);
	lab_close(lab);
	query_run_release(&q);
}

/* Reading half a million must not sort them. */
static void executions_are_read_without_sorting(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	sqlite3_stmt *stmt = NULL;
	ok(lab_prepare(lab, &stmt,
		       "EXPLAIN QUERY PLAN SELECT a.id, x.measured_ns FROM query_at a"
		       " LEFT JOIN query_execution x ON x.at = a.id WHERE a.run = 1"
		       " ORDER BY a.query, a.cardinality, x.execution",
		       "read", &err));
	while (sqlite3_step(stmt) == SQLITE_ROW)
		assert_null(strstr((const char *)sqlite3_column_text(stmt, 3), "TEMP B-TREE"));
	sqlite3_finalize(stmt);
	lab_close(lab);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_run_stored_at_once_comes_back),
		TEST(a_run_stored_one_by_one_in_any_order_comes_back),
		TEST(what_was_measured_beside_a_query_comes_back),
		TEST(an_execution_of_a_query_says_what_was_measured_beside_it),
		TEST(a_number_is_given_once),
		TEST(a_restart_takes_only_its_own_executions_away),
		TEST(a_killed_writer_leaves_whole_executions),
		TEST(a_removed_run_takes_all_of_its_queries_with_it),
		TEST(a_run_of_queries_is_counted_by_its_executions),
		TEST(views_have_every_column),
		TEST(views_repair_text),
		TEST(damage_is_an_error),
		TEST(a_lab_before_queries_is_brought_up_to_date),
		TEST(executions_are_read_without_sorting),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
