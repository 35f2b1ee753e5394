/* Traces on a page against the books of the machine they were made up by. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../report/perfetto-fixture.h"
#include "report/page/page.h"

#define SLICES_OF_ONE 20000

static bool copy_trace(void *context, const struct execution *x, struct trace *into)
{
	const struct trace *from = context;
	(void)x;
	into->present = true;
	for (size_t i = 0; i < from->events.count; i++)
		array_push(&into->events, from->events.items[i]);
	for (size_t i = 0; i < from->names.count; i++)
		array_push(&into->names, from->names.items[i]);
	return true;
}

/* The document of a run of one execution that has this trace. */
static json_t *document(const struct trace *t, uint64_t et_ns)
{
	struct run run = { .id = 1, .backend = BACKEND_BPF };
	struct execution x = { .number = 1, .et_ns = et_ns };
	struct emp_verdict verdict = { .rule = EMP_KEPT };
	struct emp_result result = { .verdicts = &verdict, .count = 1 };
	const struct run_view view = { &run, &x, 1, &result, NULL };
	const struct page_traces traces = { copy_trace, (void *)(uintptr_t)t };
	struct strbuf out = { 0 };
	struct page *p = page_new("trace", false);
	for (enum grade g = 0; g < GRADES; g++)
		x.pt_ns[g] = ABSENT_NS;
	page_add_time(p, &view, 1, &traces);
	page_json(p, &out);
	json_t *doc = json_loads(strbuf_text(&out), 0, NULL);
	assert_non_null(doc);
	strbuf_release(&out);
	page_free(p);
	return doc;
}

static json_t *trace_of(json_t *doc)
{
	json_t *section = json_array_get(json_object_get(doc, "sections"), 0);
	json_t *detail = json_object_get(json_object_get(section, "details"), "0");
	json_t *trace = json_object_get(detail, "trace");
	assert_true(json_is_object(trace));
	return trace;
}

static uint64_t number(json_t *row, size_t i)
{
	return (uint64_t)json_integer_value(json_array_get(row, i));
}

/* Whose name a wait has. */
static size_t cause_of(json_t *doc, json_t *wait)
{
	json_t *section = json_array_get(json_object_get(doc, "sections"), 0);
	json_t *name = json_array_get(json_object_get(section, "names"), number(wait, 3));
	size_t c = 0;
	assert_non_null(name);
	while (c < LEDGER_CAUSES && strcmp(ledger_causes[c].name, json_string_value(name)) != 0)
		c++;
	assert_true(c < LEDGER_CAUSES);
	return c;
}

static void the_trace_agrees_with_the_books_of_the_machine(void **state)
{
	static struct fixture f;
	uint64_t busy_ns[FIXTURE_CPUS] = { 0 }, interrupt_ns[2] = { 0 }, wait_ns[LEDGER_CAUSES];
	uint64_t expected[LEDGER_CAUSES] = { 0 }, last_ns = 0;
	size_t i;
	json_t *row;
	(void)state;
	memset(wait_ns, 0, sizeof wait_ns);
	fixture_make(&f, 4000);
	json_t *doc = document(&f.trace, f.now_ns - FIXTURE_BEGIN), *trace = trace_of(doc);
	json_t *cpus = json_object_get(trace, "cpus");
	assert_int_equal(json_integer_value(json_object_get(trace, "cut")), 0);
	json_array_foreach(json_object_get(trace, "slices"), i, row)
	{
		uint64_t kind = number(row, 3);
		assert_true(number(row, 1) >= last_ns);
		last_ns = number(row, 1);
		if (kind < 4)
			busy_ns[number(cpus, number(row, 0))] += number(row, 2);
		else
			interrupt_ns[0] += number(row, 2);
	}
	json_array_foreach(json_object_get(trace, "waits"), i, row)
		wait_ns[cause_of(doc, row)] += number(row, 2);
	for (int k = 0; k < 3; k++)
		interrupt_ns[1] += f.interrupt_ns[k];
	assert_int_equal(interrupt_ns[0], interrupt_ns[1]);
	for (int k = 0; k < FIXTURE_CPUS; k++)
		assert_int_equal(busy_ns[k], f.busy_ns[k]);
	for (int k = 0; k < FIXTURE_TASKS; k++)
		for (size_t c = LEDGER_QUEUED; c < LEDGER_CAUSES; c++)
			if (f.tasks[k].flags & TRACE_IS_SUBJECT)
				expected[c] += f.tasks[k].ns[c];
	for (size_t c = LEDGER_QUEUED; c < LEDGER_CAUSES; c++)
		assert_int_equal(wait_ns[c], expected[c]);
	/* one tid was given twice */
	assert_int_equal(json_array_size(json_object_get(trace, "threads")), 4);
	json_decref(doc);
	fixture_release(&f);
}

/* The shortest go, and it says how many. */
static void the_shortest_slices_are_cut_and_counted(void **state)
{
	static struct fixture f;
	uint64_t shortest = UINT64_MAX;
	size_t i;
	json_t *row;
	(void)state;
	fixture_make(&f, 200000);
	json_t *doc = document(&f.trace, f.now_ns - FIXTURE_BEGIN), *trace = trace_of(doc);
	json_t *slices = json_object_get(trace, "slices");
	assert_int_equal(json_array_size(slices), SLICES_OF_ONE);
	assert_true(json_integer_value(json_object_get(trace, "cut")) > 0);
	json_array_foreach(slices, i, row) shortest = number(row, 2) < shortest ? number(row, 2)
										: shortest;
	assert_true(shortest > 100);
	json_decref(doc);
	/* of an execution that ended long before, nothing after its end is shown */
	doc = document(&f.trace, 100000);
	json_array_foreach(json_object_get(trace_of(doc), "slices"), i, row)
		assert_true(number(row, 1) + number(row, 2) <= 100000);
	json_decref(doc);
	fixture_release(&f);
}

/* Whatever is lost or damaged, there is a document. */
static void a_damaged_trace_still_makes_a_document(void **state)
{
	static struct fixture f;
	uint32_t seed = 7;
	(void)state;
	for (int round = 0; round < 20; round++) {
		fixture_make(&f, 500);
		for (size_t i = 0; i < f.trace.events.count; i++) {
			struct trace_event *e = &f.trace.events.items[i];
			seed = seed * 1664525 + 1013904223;
			if (seed >> 28)
				continue;
			e->kind = (uint8_t)(seed >> 8);
			e->a = seed >> 3;
			e->b = seed >> 5;
			e->tid = (int32_t)(seed >> 6);
			e->cpu = (uint16_t)(seed >> 20);
			memset(e->comm, 'x', sizeof e->comm);
		}
		json_decref(document(&f.trace, 1000000));
		fixture_release(&f);
	}
	struct trace empty = { .present = true };
	json_decref(document(&empty, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_trace_agrees_with_the_books_of_the_machine),
		cmocka_unit_test(the_shortest_slices_are_cut_and_counted),
		cmocka_unit_test(a_damaged_trace_still_makes_a_document),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
