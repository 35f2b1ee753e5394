/* Ledgers and traces in the lab: they come back as they were, at the level of detail asked for; the
 * views say the same; a lab from before them is brought up to date. */
#include <inttypes.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fixture.h"
#include "lab/lab.h"
#include "lab/sqlite.h"
#include "lab/trace.h"

static int64_t add_run(struct lab *lab, const char *name)
{
	struct run run = { .name = xstrdup(name), .command = xstrdup("sleep 1") };
	ok(lab_add_run(lab, &run, &err));
	int64_t id = run.id;
	run_release(&run);
	return id;
}

/* ---- things to store ---- */

static void random_account(struct ledger_account *a)
{
	for (int c = 0; c < LEDGER_CAUSES; c++) {
		a->ns[c] = random_value();
		a->count[c] = random_value();
	}
	a->tick_user_ns = random_value();
	a->tick_system_ns = random_value();
	a->migrations = random_value();
}

static struct ledger_entry random_entry(uint32_t thread)
{
	struct ledger_entry e = { .thread = thread, .pid = (int32_t)random_number() };
	e.cause = (enum ledger_cause)(random_number() % LEDGER_CAUSES);
	random_name(e.name, sizeof e.name);
	e.ns = random_value();
	e.count = random_value();
	return e;
}

static struct ledger_thread random_thread(void)
{
	struct ledger_thread t = { .tid = (int32_t)random_number(),
				   .tgid = (int32_t)random_number(),
				   .start_ns = random_value(),
				   .begin_ns = random_value(),
				   .end_ns = random_value(),
				   .alive = random_number() % 2 };
	random_name(t.name, sizeof t.name);
	random_account(&t.account);
	return t;
}

static void random_lists(struct ledger *l, size_t threads, size_t details)
{
	for (size_t i = 0; i < threads; i++)
		array_push(&l->threads, random_thread());
	for (size_t i = 0; threads && i < details; i++)
		array_push(&l->details, random_entry((uint32_t)(random_number() % threads)));
	for (uint64_t i = random_number() % 9; i; i--)
		array_push(&l->entries, random_entry(0));
	for (uint64_t i = random_number() % 9; i; i--) {
		struct ledger_other o = { .pid = (int32_t)random_number(),
					  .self = random_number() % 2,
					  .kernel = random_number() % 2,
					  .ns = random_value(),
					  .bursts = random_value(),
					  .longest_ns = random_value(),
					  .delayed_ns = random_value(),
					  .io_delayed_ns = random_value() };
		random_name(o.name, sizeof o.name);
		array_push(&l->others, o);
	}
	for (uint64_t i = random_number() % 9; i; i--) {
		struct ledger_interrupt n = { .count = random_value(),
					      .ns = random_value(),
					      .subject_count = random_value(),
					      .subject_ns = random_value() };
		n.cause = (enum ledger_cause)(LEDGER_IRQ + random_number() % 3);
		random_name(n.name, sizeof n.name);
		array_push(&l->interrupts, n);
	}
}

static void random_ledger(struct ledger *l, size_t threads, size_t details)
{
	l->present = true;
	l->begin_ns = random_value();
	l->end_ns = random_value();
	random_account(&l->subject);
	for (int c = 0; c < LEDGER_CAUSES; c++)
		l->wall_ns[c] = random_value();
	l->unlisted = (uint32_t)random_number();
	for (int e = 0; e < LEDGER_EVENTS; e++) {
		l->events[e] = random_value();
		l->event_ns[e] = (double)random_value() / 1000;
	}
	l->subject_events = random_value();
	l->lost = random_value();
	random_name(l->not_seen, sizeof l->not_seen);
	random_lists(l, threads, details);
}

static void random_trace(struct trace *t, size_t events, size_t names)
{
	t->present = true;
	t->lost = random_value();
	for (size_t i = 0; i < events; i++) {
		struct trace_event e = { .at_ns = 1000 * i,
					 .kind = (uint8_t)random_number(),
					 .cpu = (uint16_t)random_number(),
					 .tid = (int32_t)random_number(),
					 .a = (uint32_t)random_value(),
					 .b = (uint32_t)random_value() };
		memcpy(e.comm, "0123456789abcdef", 16);
		array_push(&t->events, e);
	}
	for (size_t i = 0; i < names; i++) {
		struct trace_name n = { .cause = (uint32_t)(random_number() % LEDGER_CAUSES),
					.source = (uint32_t)random_number() };
		random_name(n.name, sizeof n.name);
		array_push(&t->names, n);
	}
}

/* ---- the same ---- */

static void same_account(const struct ledger_account *a, const struct ledger_account *b)
{
	assert_memory_equal(a, b, sizeof *a); /* 64-bit numbers only */
}

static void same_entry(const struct ledger_entry *a, const struct ledger_entry *b)
{
	assert_true(a->thread == b->thread && a->cause == b->cause && a->pid == b->pid);
	assert_true(a->ns == b->ns && a->count == b->count);
	assert_string_equal(a->name, b->name);
}

static void same_thread(const struct ledger_thread *a, const struct ledger_thread *b)
{
	assert_true(a->tid == b->tid && a->tgid == b->tgid && a->alive == b->alive);
	assert_true(a->start_ns == b->start_ns && a->begin_ns == b->begin_ns &&
		    a->end_ns == b->end_ns);
	assert_string_equal(a->name, b->name);
	same_account(&a->account, &b->account);
}

static void same_other(const struct ledger_other *a, const struct ledger_other *b)
{
	assert_true(a->pid == b->pid && a->self == b->self && a->kernel == b->kernel);
	assert_true(a->ns == b->ns && a->bursts == b->bursts && a->longest_ns == b->longest_ns);
	assert_true(a->delayed_ns == b->delayed_ns && a->io_delayed_ns == b->io_delayed_ns);
	assert_string_equal(a->name, b->name);
}

static void same_interrupt(const struct ledger_interrupt *a, const struct ledger_interrupt *b)
{
	assert_true(a->cause == b->cause && a->count == b->count && a->ns == b->ns);
	assert_true(a->subject_count == b->subject_count && a->subject_ns == b->subject_ns);
	assert_string_equal(a->name, b->name);
}

#define same_list(a, b, member, same)                                             \
	do {                                                                      \
		assert_int_equal((a)->member.count, (b)->member.count);           \
		for (size_t item = 0; item < (a)->member.count; item++)           \
			same(&(a)->member.items[item], &(b)->member.items[item]); \
	} while (0)

static void same_ledger(const struct ledger *a, const struct ledger *b, bool threads)
{
	assert_true(a->present == b->present);
	assert_true(a->begin_ns == b->begin_ns && a->end_ns == b->end_ns);
	same_account(&a->subject, &b->subject);
	assert_memory_equal(a->wall_ns, b->wall_ns, sizeof a->wall_ns);
	assert_true(a->unlisted == b->unlisted && a->lost == b->lost);
	assert_memory_equal(a->events, b->events, sizeof a->events);
	assert_memory_equal(a->event_ns, b->event_ns, sizeof a->event_ns);
	assert_true(a->subject_events == b->subject_events);
	assert_string_equal(a->not_seen, b->not_seen);
	same_list(a, b, entries, same_entry);
	same_list(a, b, others, same_other);
	same_list(a, b, interrupts, same_interrupt);
	if (threads) {
		same_list(a, b, threads, same_thread);
		same_list(a, b, details, same_entry);
	} else {
		assert_int_equal(b->threads.count, 0);
		assert_int_equal(b->details.count, 0);
	}
}

static void same_trace(const struct trace *a, const struct trace *b)
{
	assert_true(a->present == b->present && a->lost == b->lost);
	assert_int_equal(a->events.count, b->events.count);
	assert_int_equal(a->names.count, b->names.count);
	if (a->events.count)
		assert_memory_equal(a->events.items, b->events.items,
				    a->events.count * sizeof *a->events.items);
	for (size_t i = 0; i < a->names.count; i++) {
		const struct trace_name *n = &a->names.items[i], *m = &b->names.items[i];
		assert_true(n->cause == m->cause && n->source == m->source);
		assert_string_equal(n->name, m->name);
	}
}

static void release_executions(execution_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		execution_release(&list->items[i]);
	array_release(list);
}

/* ---- round trips ---- */

static void ledgers_come_back(void **state)
{
	(void)state;
	enum { COUNT = 60 };
	static struct execution stored[COUNT];
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t runs[] = { add_run(lab, "a"), add_run(lab, "b") };
	for (uint32_t i = 0; i < COUNT; i++) { /* some without ledger, without trace, empty */
		struct execution *x = &stored[i];
		*x = (struct execution){ .number = i + 1 };
		if (i % 5)
			random_ledger(&x->ledger, i % 7, i);
		if (i % 3)
			random_trace(&x->trace, i * 10 * (i % 4), i % 4);
		ok(lab_add_execution(lab, runs[i % 2], x, &err));
	}
	lab_close(lab);
	lab = open_lab(LAB_READ);
	for (size_t i = 0; i < COUNT; i++) {
		struct trace t = { 0 };
		ok(lab_get_trace(lab, stored[i].id, &t, &err));
		same_trace(&stored[i].trace, &t);
		trace_release(&t);
	}
	for (int side = 0; side < 2; side++)
		for (enum lab_detail detail = LAB_ROWS; detail <= LAB_THREADS; detail++) {
			static const struct ledger none;
			execution_list list = { 0 };
			ok(lab_get_executions(lab, runs[side], detail, &list, &err));
			assert_int_equal(list.count, COUNT / 2);
			for (size_t i = 0; i < list.count; i++)
				same_ledger(detail == LAB_ROWS
						    ? &none
						    : &stored[2 * i + (size_t)side].ledger,
					    &list.items[i].ledger, detail >= LAB_THREADS);
			release_executions(&list);
		}
	struct trace none = { 0 };
	ok(lab_get_trace(lab, 12345, &none, &err));
	assert_false(none.present);
	lab_close(lab);
	for (size_t i = 0; i < COUNT; i++)
		execution_release(&stored[i]);
}

static void a_ledger_of_thousands_of_threads_comes_back(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = add_run(lab, "crowd");
	struct execution x = { .number = 1 };
	random_ledger(&x.ledger, 5000, 30000);
	random_trace(&x.trace, 200000, 50);
	ok(lab_add_execution(lab, run, &x, &err));
	execution_list list = { 0 };
	ok(lab_get_executions(lab, run, LAB_THREADS, &list, &err));
	same_ledger(&x.ledger, &list.items[0].ledger, true);
	release_executions(&list);
	struct trace t = { 0 };
	ok(lab_get_trace(lab, x.id, &t, &err));
	same_trace(&x.trace, &t);
	trace_release(&t);
	assert_int_equal(query(lab, "SELECT count(*) FROM ledger_threads"), 5000);
	assert_int_equal(query(lab, "SELECT count(*) FROM ledger_details"), 30000);
	execution_release(&x);
	lab_close(lab);
}

static void a_removed_run_takes_all_with_it(void **state)
{
	(void)state;
	static const char *const tables[] = { "ledger_subject", "ledger_thread", "ledger_item",
					      "trace" };
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t runs[] = { add_run(lab, "a"), add_run(lab, "b") }, before[4];
	char sql[80];
	struct execution kept = { .number = 1 };
	for (uint32_t i = 0; i < 6; i++) {
		struct execution x = { .number = i };
		random_ledger(&x.ledger, 4, 20);
		array_push(&x.ledger.entries, random_entry(0));
		random_trace(&x.trace, 5, 1);
		ok(lab_add_execution(lab, runs[i % 2], &x, &err));
		if (i == 5)
			kept = x;
		else
			execution_release(&x);
	}
	for (size_t i = 0; i < 4; i++) {
		snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", tables[i]);
		before[i] = query(lab, sql);
	}
	ok(lab_end_run(lab, runs[0], RUN_COMPLETE, &err));
	ok(lab_end_run(lab, runs[1], RUN_COMPLETE, &err));
	ok(lab_remove_run(lab, runs[0], &err));
	assert_int_equal(query(lab, "SELECT count(*) FROM ledger_subject"), 3);
	execution_list list = { 0 };
	ok(lab_get_executions(lab, runs[1], LAB_THREADS, &list, &err));
	same_ledger(&kept.ledger, &list.items[2].ledger, true);
	release_executions(&list);
	for (size_t i = 0; i < 4; i++) {
		snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", tables[i]);
		int64_t now = query(lab, sql);
		assert_true(now > 0 && now < before[i]);
	}
	ok(lab_remove_run(lab, runs[1], &err));
	for (size_t i = 0; i < 4; i++) {
		snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", tables[i]);
		assert_int_equal(query(lab, sql), 0);
	}
	execution_release(&kept);
	lab_close(lab);
}

/* ---- versions ---- */

static void an_older_lab_is_brought_up_to_date(void **state)
{
	(void)state;
	execute_sql(lab_schema[0]);
	execute_sql("PRAGMA application_id = 0x74617265; PRAGMA user_version = 1;"
		    "INSERT INTO run (status, backend, name, command, parameters, parameters_raw,"
		    " started_at_ns, planned, owner_pid, owner_start, owner_boot, owner_space)"
		    " VALUES (1, 2, x'6f', x'74', '{}', x'', 5, 1, 1, 1, '', '');"
		    "INSERT INTO execution (run, number, warmup, outcome, status, started_at_ns,"
		    " left_behind, ended, lost, processes, threads, rss_peak, present)"
		    " VALUES (1, 1, 0, 0, 0, 5, 0, 0, 0, 1, 1, 0, 0)");
	struct lab *lab = NULL;
	assert_int_equal(lab_open(&lab, path, LAB_READ, &err), -1);
	assert_non_null(strstr(err.text, "older schema version 1"));
	lab = open_lab(LAB_WRITE);
	assert_int_equal(query(lab, "PRAGMA user_version"), lab_schema_version);
	execution_list list = { 0 };
	ok(lab_get_executions(lab, 1, LAB_THREADS, &list, &err));
	assert_int_equal(list.count, 1);
	assert_false(list.items[0].ledger.present);
	release_executions(&list);
	struct trace t = { 0 };
	ok(lab_get_trace(lab, 1, &t, &err));
	assert_false(t.present);
	struct execution x = { .number = 2 };
	random_ledger(&x.ledger, 3, 9);
	ok(lab_add_execution(lab, 1, &x, &err));
	ok(lab_get_executions(lab, 1, LAB_THREADS, &list, &err));
	same_ledger(&x.ledger, &list.items[1].ledger, true);
	release_executions(&list);
	ok(lab_remove_run(lab, 1, &err));
	assert_int_equal(query(lab, "SELECT count(*) FROM ledger_item"), 0);
	execution_release(&x);
	lab_close(lab);
}

static bool note_cause(void *context, int columns, const char *const *names,
		       const char *const *values, const enum lab_type *types)
{
	(void)names;
	(void)types;
	assert_int_equal(columns, 2);
	int *next = context;
	assert_int_equal(atoi(values[0]), *next);
	assert_string_equal(values[1], ledger_causes[(*next)++].name);
	return true;
}

static void causes_in_the_lab_are_those_of_the_catalogue(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int causes = 0;
	ok(lab_sql(lab, "SELECT id, name FROM ledger_cause ORDER BY id", note_cause, &causes,
		   &err));
	assert_int_equal(causes, LEDGER_CAUSES);
	lab_close(lab);
}

/* ---- damage ---- */

static void damage_is_an_error(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = add_run(lab, "x");
	struct execution x = { .number = 1 };
	random_ledger(&x.ledger, 3, 10);
	array_push(&x.ledger.entries, random_entry(0));
	random_trace(&x.trace, 100, 3);
	ok(lab_add_execution(lab, run, &x, &err));
	lab_close(lab);
	static const char *const cases[] = {
		"UPDATE ledger_item SET thread = 3 WHERE kind = 3",
		"UPDATE ledger_item SET thread = -1 WHERE kind = 3",
		"UPDATE ledger_item SET cause = 22 WHERE kind = 0",
		"UPDATE ledger_item SET cause = NULL WHERE kind = 0",
		"UPDATE ledger_thread SET tid = 1 << 40",
		"UPDATE ledger_subject SET unlisted = -1",
		"DELETE FROM ledger_subject",
		"DELETE FROM ledger_thread",
		"UPDATE trace SET data = x''",
		"UPDATE trace SET data = zeroblob(50)",
		"UPDATE trace SET data = CAST(data || x'00' AS BLOB)",
		"UPDATE trace SET data = substr(data, 1, length(data) - 1)",
		"UPDATE trace SET version = 2",
		"UPDATE trace SET events = -1",
		"UPDATE trace SET events = events + 1",
		"UPDATE trace SET events = 1 << 40",
		"UPDATE trace SET names = 1 << 62",
		"UPDATE trace SET events = events - 1",
	};
	size_t damages = sizeof cases / sizeof *cases;
	for (size_t i = 0; i < damages; i++) {
		char copy[160], back[160];
		snprintf(copy, sizeof copy, "VACUUM INTO '%s/copy.db'", directory);
		snprintf(back, sizeof back, "%s/copy.db", directory);
		execute_sql(copy);
		execute_sql(cases[i]);
		lab = open_lab(LAB_READ);
		execution_list list = { 0 };
		struct trace t = { 0 };
		bool of_trace = strstr(cases[i], " trace ");
		err = (struct error)ERROR_INIT;
		int bad_ledger = lab_get_executions(lab, run, LAB_THREADS, &list, &err);
		int bad_trace = of_trace ? lab_get_trace(lab, x.id, &t, &err) : 0;
		if (of_trace ? bad_ledger || !bad_trace : !bad_ledger)
			fail_msg("%s: not what was expected", cases[i]);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_non_null(strstr(err.text, "is damaged"));
		assert_null(t.events.items);
		release_executions(&list);
		lab_close(lab);
		assert_int_equal(rename(back, path), 0);
	}
	execution_release(&x);
}

/* Whatever is done to the bytes: an error, or the very same trace. */
static void damaged_traces_are_an_error(void **state)
{
	(void)state;
	struct trace t = { 0 };
	void *bytes;
	size_t length;
	random_trace(&t, 50, 3);
	ok(trace_encode(&t, &bytes, &length, &err));
	unsigned char *bad = xmalloc(length + 8);
	for (int i = 0; i < 20000; i++) {
		size_t now = length, events = t.events.count, names = t.names.count;
		memcpy(bad, bytes, length);
		switch (random_number() % 5) {
		case 0:
			now = random_number() % length;
			break;
		case 1:
			now = length + 1 + random_number() % 8;
			memset(bad + length, (int)random_number(), now - length);
			break;
		case 2:
			events = random_value();
			names = random_value();
			break;
		default:
			for (uint64_t k = random_number() % 3 + 1; k; k--)
				bad[random_number() % length] ^=
					(unsigned char)(1 << random_number() % 8);
		}
		struct trace back = { .lost = 0 };
		if (trace_decode(bad, now, events, names, &back, &err)) {
			assert_int_equal(err.code, EXIT_USAGE);
			assert_non_null(strstr(err.text, "damaged"));
			assert_null(back.events.items);
			continue;
		}
		back.lost = t.lost;
		same_trace(&t, &back);
		trace_release(&back);
	}
	t.names.items[1].cause = LEDGER_CAUSES; /* sound bytes, impossible facts */
	struct trace back = { 0 };
	free(bytes);
	ok(trace_encode(&t, &bytes, &length, &err));
	assert_int_equal(trace_decode(bytes, length, 50, 3, &back, &err), -1);
	assert_null(back.events.items);
	free(bytes);
	xfree(bad);
	trace_release(&t);
}

/* ---- views ---- */

/* A ledger whose parts agree, as a collector's do: three threads of two processes. */
static void sound_ledger(struct ledger *l)
{
	*l = (struct ledger){ .present = true, .begin_ns = 5000, .end_ns = 9000 };
	for (uint32_t i = 0; i < 3; i++) {
		struct ledger_thread t = { .tid = 10 + (int32_t)i, .tgid = i == 2 ? 12 : 10 };
		snprintf(t.name, sizeof t.name, "t%u", i);
		t.begin_ns = t.end_ns = 5000 + i;
		for (int c = 0; c < LEDGER_CAUSES; c++) {
			struct ledger_entry e = { .thread = i, .cause = (enum ledger_cause)c };
			e.ns = t.account.ns[c] = random_number() % 1000000;
			e.count = t.account.count[c] = random_number() % 100;
			t.end_ns += e.ns;
			array_push(&l->details, e);
		}
		t.account.migrations = i;
		ledger_account_add(&l->subject, &t.account);
		array_push(&l->threads, t);
	}
	for (int c = 0; c < LEDGER_CAUSES; c++) {
		uint64_t part = l->subject.ns[c] / 3;
		struct ledger_entry e = { .cause = (enum ledger_cause)c, .ns = part, .count = 1 };
		array_push(&l->entries, e);
		e = (struct ledger_entry){ 0, (enum ledger_cause)c, "cc1", 77, 0, 0 };
		e.ns = l->subject.ns[c] - part;
		array_push(&l->entries, e);
		l->wall_ns[c] = random_number() % 1000;
	}
	array_push(&l->others, (struct ledger_other){ 77, false, true, "cc1", 900, 3, 500, 40, 2 });
	array_push(&l->interrupts, (struct ledger_interrupt){ LEDGER_NMI, "pmu", 9, 800, 4, 300 });
	for (int e = 0; e < LEDGER_EVENTS; e++) {
		l->events[e] = 10;
		l->event_ns[e] = 0.5;
	}
}

static void views_say_the_same(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t other = add_run(lab, "other"), run = add_run(lab, "x");
	struct execution noise = { .number = 1 },
			 x = { .number = 3, .warmup = true, .et_ns = 4000 };
	sound_ledger(&noise.ledger);
	ok(lab_add_execution(lab, other, &noise, &err));
	sound_ledger(&x.ledger);
	ok(lab_add_execution(lab, run, &x, &err));
	char sql[400];
	for (int c = 0; c < LEDGER_CAUSES; c++) {
		const char *name = ledger_causes[c].name;
		int64_t ns = (int64_t)x.ledger.subject.ns[c];
		snprintf(sql, sizeof sql,
			 "SELECT sum(ns) FROM ledger WHERE run = %" PRId64 " AND cause = '%s'", run,
			 name);
		assert_int_equal(query(lab, sql), ns);
		snprintf(sql, sizeof sql,
			 "SELECT sum(ns) FROM ledger_details WHERE run = %" PRId64
			 " AND cause = '%s'",
			 run, name);
		assert_int_equal(query(lab, sql), ns);
		static const char *const wide[] = { "ledger_executions", "ledger_threads",
						    "ledger_processes" };
		for (size_t v = 0; v < 3; v++) {
			snprintf(sql, sizeof sql, "SELECT sum(%s_ns) FROM %s WHERE run = %" PRId64,
				 name, wide[v], run);
			assert_int_equal(query(lab, sql), ns);
		}
		snprintf(sql, sizeof sql,
			 "SELECT ns FROM ledger_wall WHERE execution = %" PRId64
			 " AND cause = '%s' AND number = 3 AND warmup",
			 x.id, name);
		assert_int_equal(query(lab, sql), x.ledger.wall_ns[c]);
	}
	static const char *const truths[] = {
		"SELECT count(*) = 44 FROM ledger WHERE run = 2 AND number = 3 AND warmup",
		"SELECT count(*) = 22 FROM ledger WHERE run = 2 AND name IS NULL AND pid IS NULL",
		"SELECT sum(abs(share_of_et * 4000 - ns) < 1e-3) = 44 FROM ledger WHERE run = 2",
		"SELECT count(*) = 44 AND min(ns IS NOT NULL) FROM ledger_wall",
		"SELECT group_concat(name || ':' || pid || ':' || threads || ':' || begin_ns) = "
		"'t0:10:2:0,t2:12:1:2' FROM ledger_processes WHERE run = 2",
		"SELECT group_concat(name || ':' || tid || ':' || begin_ns) = "
		"'t0:10:0,t1:11:1,t2:12:2' FROM ledger_threads WHERE run = 2",
		"SELECT threads = 3 AND migrations = 3 AND cost_ns = 20.0 AND not_seen IS NULL "
		"FROM ledger_executions WHERE run = 2",
		"SELECT name = 'cc1' AND pid = 77 AND NOT self AND kernel AND ns = 900 AND bursts "
		"= 3 AND longest_ns = 500 AND delayed_ns = 40 AND io_delayed_ns = 2 FROM delays "
		"WHERE run = 2",
		"SELECT kind = 'nmi' AND name = 'pmu' AND count = 9 AND ns = 800 AND subject_count "
		"= 4 AND subject_ns = 300 FROM interrupts WHERE execution = 2",
		"SELECT count(*) = 2 AND count(DISTINCT run) = 2 FROM interrupts",
	};
	for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
		if (query(lab, truths[i]) != 1)
			fail_msg("not true: %s", truths[i]);
	execution_release(&noise);
	execution_release(&x);
	lab_close(lab);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	seed = 20261115;
	const struct CMUnitTest tests[] = {
		TEST(ledgers_come_back),
		TEST(a_ledger_of_thousands_of_threads_comes_back),
		TEST(a_removed_run_takes_all_with_it),
		TEST(an_older_lab_is_brought_up_to_date),
		TEST(causes_in_the_lab_are_those_of_the_catalogue),
		TEST(damage_is_an_error),
		TEST(damaged_traces_are_an_error),
		TEST(views_say_the_same),
	};
	return cmocka_run_group_tests_name("lab-ledger", tests, NULL, NULL);
}
