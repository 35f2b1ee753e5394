/* The loop of a watch, with a collector that is made up. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "measure/watch.h"

#define MS UINT64_C(1000000)

/* ---- the collector ---- */

struct burst_collector {
	uint32_t takes;
	uint32_t per_take; /* bursts */
	uint64_t last_ns;
	int fd;
};

int burst_collector_fd(const struct burst_collector *c)
{
	return c->fd;
}

void burst_collector_take(struct burst_collector *c, enum burst_take which, struct bursts *into)
{
	(void)which;
	uint64_t now = clock_monotonic_ns();
	c->takes++;
	*into = (struct bursts){ .begin_ns = c->last_ns, .end_ns = now, .cpus = 2 };
	array_push(&into->processes, (struct burst_process){ .pid = 7, .name = "it" });
	for (uint32_t i = 0; i < c->per_take; i++)
		array_push(&into->bursts,
			   (struct burst){ .begin_ns = c->last_ns, .span_ns = 1, .busy_ns = 1 });
	c->last_ns = now;
}

/* ---- who is told ---- */

struct seen {
	struct burst_collector collector;
	uint32_t chunks, taken, fails_at;
	uint64_t first_ns, end_ns, bursts;
	bool gap;
	int control[2];
};

static int on_chunk(void *context, const struct bursts *chunk, struct error *err)
{
	struct seen *s = context;
	if (!s->chunks++)
		s->first_ns = chunk->begin_ns;
	else if (chunk->begin_ns != s->end_ns)
		s->gap = true;
	s->end_ns = chunk->end_ns;
	s->bursts += chunk->bursts.count;
	return s->chunks == s->fails_at ? error_set(err, EXIT_ENVIRONMENT, "no room") : 0;
}

static void on_taken(void *context)
{
	struct seen *s = context;
	s->taken++;
}

static int on_control(void *context, enum watch_wish *wish, struct error *err)
{
	struct seen *s = context;
	char byte = 0;
	(void)err;
	assert_int_equal(read(s->control[0], &byte, 1), 1);
	*wish = byte == 'c' ? WATCH_CUT : WATCH_END;
	return 0;
}

static struct seen new_seen(uint32_t per_take)
{
	return (struct seen){
		.collector = { .per_take = per_take, .last_ns = clock_monotonic_ns(), .fd = -1 },
		.control = { -1, -1 }
	};
}

static int run(struct seen *s, struct watch_plan plan, struct error *err)
{
	plan.taken = on_taken;
	if (s->control[0] >= 0) {
		plan.control_fd = s->control[0];
		plan.control = on_control;
	}
	return watch_run(&s->collector, &plan, on_chunk, s, err);
}

/* ---- tests ---- */

/* Everything that was taken is handed over, in chunks that leave nothing out. */
static void everything_taken_is_handed_over_in_chunks_without_gaps(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct seen s = new_seen(10);
	const struct watch_plan plan = { .duration_ns = 300 * MS,
					 .take_ns = 30 * MS,
					 .chunk_ns = 100 * MS };
	uint64_t begin = clock_monotonic_ns();
	assert_int_equal(run(&s, plan, &err), 0);
	uint64_t passed = clock_monotonic_ns() - begin;
	assert_true(passed >= 300 * MS);
	assert_true(s.chunks >= 2);
	assert_true(s.taken > s.chunks);
	assert_false(s.gap);
	assert_int_equal(s.bursts, 10 * s.collector.takes);
	assert_true(s.end_ns - s.first_ns >= 300 * MS);
}

static void a_chunk_ends_when_it_is_large_enough(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct seen s = new_seen(100);
	const struct watch_plan plan = { .duration_ns = 200 * MS,
					 .take_ns = 30 * MS,
					 .chunk_bytes = 50 * sizeof(struct burst) };
	assert_int_equal(run(&s, plan, &err), 0);
	assert_int_equal(s.chunks, s.collector.takes);
	assert_int_equal(s.bursts, 100 * s.collector.takes);
}

/* A full buffer is emptied before its time, but not without a pause. */
static void a_full_buffer_is_emptied_early_but_not_without_a_pause(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct seen s = new_seen(1);
	int fds[2];
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "x", 1), 1); /* stays readable */
	s.collector.fd = fds[0];
	const struct watch_plan plan = { .duration_ns = 300 * MS };
	assert_int_equal(run(&s, plan, &err), 0);
	assert_in_range(s.collector.takes, 3, 16);
	close(fds[0]);
	close(fds[1]);
}

static void chunks_are_cut_and_the_watch_ended_on_request(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct seen s = new_seen(3);
	const struct watch_plan plan = { 0 }; /* would go on for ever */
	assert_int_equal(pipe(s.control), 0);
	assert_int_equal(write(s.control[1], "ce", 2), 2);
	assert_int_equal(run(&s, plan, &err), 0);
	assert_int_equal(s.chunks, 2);
	assert_int_equal(s.bursts, 6);
	assert_false(s.gap);
	close(s.control[0]);
	close(s.control[1]);
}

static void an_error_of_the_receiver_ends_the_watch(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct seen s = new_seen(5);
	s.fails_at = 1;
	const struct watch_plan short_chunks = { .duration_ns = 10000 * MS,
						 .take_ns = 25 * MS,
						 .chunk_ns = 1 };
	assert_int_equal(run(&s, short_chunks, &err), -1);
	assert_string_equal(err.text, "no room");
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_int_equal(s.chunks, 2);
}

/* In a process of its own: the signal stays noted. */
static void a_signal_ends_the_watch_and_loses_nothing(void **state)
{
	(void)state;
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		struct error err = ERROR_INIT;
		struct seen s = new_seen(2);
		const struct watch_plan plan = { .duration_ns = 20000 * MS };
		interrupt_watch();
		kill(getpid(), SIGTERM);
		int failed = run(&s, plan, &err);
		_exit(failed == -1 && err.code == EXIT_INTERRUPTED && s.bursts == 2 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_taken_is_handed_over_in_chunks_without_gaps),
		cmocka_unit_test(a_chunk_ends_when_it_is_large_enough),
		cmocka_unit_test(a_full_buffer_is_emptied_early_but_not_without_a_pause),
		cmocka_unit_test(chunks_are_cut_and_the_watch_ended_on_request),
		cmocka_unit_test(an_error_of_the_receiver_ends_the_watch),
		cmocka_unit_test(a_signal_ends_the_watch_and_loses_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
