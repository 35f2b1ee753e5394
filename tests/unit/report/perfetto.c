#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perfetto-check.h"
#include "perfetto-fixture.h"
#include "report/export/perfetto.h"

static const struct perfetto_title title = { .run = "run\xff",
					     .execution = "execution 1",
					     .begin_ns = FIXTURE_BEGIN,
					     .end_ns = FIXTURE_BEGIN + 5000 };

static struct perfetto_counts check(const struct trace *t)
{
	struct strbuf out = { 0 };
	struct perfetto_counts counts;
	perfetto_render(t, &title, &out);
	const char *wrong = perfetto_check(out.text, out.length, &counts);
	if (wrong)
		fail_msg("%s", wrong);
	strbuf_release(&out);
	return counts;
}

static void the_trace_agrees_with_the_books_of_the_machine(void **state)
{
	(void)state;
	struct fixture f;
	fixture_make(&f, 5000);
	struct perfetto_counts counts = check(&f.trace);
	uint64_t busy_ns = 0;
	for (int i = 0; i < FIXTURE_CPUS; i++)
		busy_ns += f.busy_ns[i];
	assert_int_equal(counts.busy_ns, busy_ns);
	/* the outermost are soft interrupts there */
	assert_int_equal(counts.interrupt_ns, f.interrupt_ns[0]);
	assert_int_equal(counts.lost, 0);
	assert_int_equal(counts.instants, 1);
	fixture_release(&f);
}

static void an_empty_trace_tells_its_losses(void **state)
{
	(void)state;
	struct trace t = { .present = true, .lost = 7 };
	struct perfetto_counts counts = check(&t);
	assert_int_equal(counts.slices, 1);
	assert_int_equal(counts.lost, 7);
	array_push(&t.events, (struct trace_event){ .kind = TRACE_ENTER, .cpu = 65535 });
	counts = check(&t);
	assert_int_equal(counts.slices, 2);
	trace_release(&t);
}

/* Who had a CPU must have left it: a switch that was lost is said to be. */
static void a_gap_is_marked(void **state)
{
	(void)state;
	struct trace t = { .present = true };
	array_push(&t.events, (struct trace_event){ .at_ns = 10, .kind = TRACE_SWITCH, .tid = 5 });
	array_push(&t.events,
		   (struct trace_event){ .at_ns = 20, .kind = TRACE_SWITCH, .tid = 7, .a = 6 });
	/* 7 turns up on another CPU */
	array_push(&t.events,
		   (struct trace_event){ .at_ns = 30, .kind = TRACE_SWITCH, .cpu = 1, .tid = 7 });
	struct perfetto_counts counts = check(&t);
	assert_int_equal(counts.instants, 3);
	assert_int_equal(counts.busy_ns, 20);
	trace_release(&t);
}

/* Every n-th event is lost; then order is, too. */
static void any_loss_of_events_leaves_a_valid_trace(void **state)
{
	(void)state;
	struct fixture f;
	for (size_t nth = 2; nth < 50; nth++) {
		fixture_make(&f, 1500);
		size_t kept = 0;
		for (size_t i = 0; i < f.trace.events.count; i++)
			if (i % nth)
				f.trace.events.items[kept++] = f.trace.events.items[i];
		f.trace.events.count = kept;
		check(&f.trace);
		for (size_t i = 0; i + nth < kept; i += nth) {
			struct trace_event e = f.trace.events.items[i];
			f.trace.events.items[i] = f.trace.events.items[i + nth - 1];
			f.trace.events.items[i + nth - 1] = e;
		}
		check(&f.trace);
		fixture_release(&f);
	}
}

static void random_events_make_a_valid_trace(void **state)
{
	(void)state;
	uint64_t seed = 1;
	for (int round = 0; round < 300; round++) {
		struct trace t = { .present = true };
		for (int i = 0; i < 200; i++) {
			struct trace_event e;
			unsigned char *bytes = (unsigned char *)&e;
			for (size_t j = 0; j < sizeof e; j++) {
				seed = seed * 6364136223846793005u + 1442695040888963407u;
				bytes[j] = (unsigned char)(seed >> 56);
			}
			e.kind %= 19;
			e.cpu %= 3;
			e.tid %= 5;
			e.tgid %= 5;
			e.a %= 5;
			e.b %= round % 2 ? LEDGER_CAUSES + 2 : 4;
			if (i % 50)
				e.at_ns %= 1000;
			array_push(&t.events, e);
		}
		check(&t);
		trace_release(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_trace_agrees_with_the_books_of_the_machine),
		cmocka_unit_test(an_empty_trace_tells_its_losses),
		cmocka_unit_test(a_gap_is_marked),
		cmocka_unit_test(any_loss_of_events_leaves_a_valid_trace),
		cmocka_unit_test(random_events_make_a_valid_trace),
	};
	return cmocka_run_group_tests_name("perfetto", tests, NULL, NULL);
}
