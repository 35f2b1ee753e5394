/* The slices of a profile, with a collector that is made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "measure/profile.h"

#define MS 1000000u

/* ---- the collector ---- */

struct samples {
	bool started, stopped;
	uint32_t beats, takes;
	uint32_t idle_after; /* beats; 0: never */
	bool fails_to_start, fails_to_beat;
	uint64_t last_ns;
};

void samples_describe(const struct samples *s, struct profile *into)
{
	(void)s;
	into->hz = 250;
}

int samples_start(struct samples *s, struct error *err)
{
	if (s->fails_to_start)
		return error_set(err, EXIT_ENVIRONMENT, "no start");
	s->started = true;
	s->last_ns = clock_monotonic_ns();
	return 0;
}

void samples_stop(struct samples *s)
{
	s->stopped = true;
}

uint64_t samples_beat_ns(const struct samples *s)
{
	(void)s;
	return 5 * MS;
}

int samples_fd(const struct samples *s)
{
	(void)s;
	return -1;
}

int samples_beat(struct samples *s, struct error *err)
{
	s->beats++;
	return s->fails_to_beat ? error_set(err, EXIT_ENVIRONMENT, "no beat") : 0;
}

int samples_take(struct samples *s, struct profile *into, struct error *err)
{
	(void)err;
	uint64_t now = clock_monotonic_ns();
	struct profile_slice slice = { .begin_ns = s->last_ns, .end_ns = now, .samples = 1 };
	array_push(&into->slices, slice);
	s->last_ns = now;
	s->takes++;
	return 0;
}

bool samples_idle(const struct samples *s)
{
	return s->idle_after && s->beats >= s->idle_after;
}

/* ---- who gets the slices ---- */

struct seen {
	uint32_t slices, started, beats;
	uint64_t samples, begin_ns, end_ns;
	bool gap; /* between two slices */
	uint32_t fail_at;
	int control[2];
	enum profile_wish wish;
};

static int on_slice(void *context, struct profile *slice, struct error *err)
{
	struct seen *seen = context;
	assert_int_equal(slice->slices.count, 1);
	assert_true(slice->hz > 249);
	const struct profile_slice *s = &slice->slices.items[0];
	if (!seen->slices)
		seen->begin_ns = s->begin_ns;
	else if (s->begin_ns != seen->end_ns)
		seen->gap = true;
	seen->end_ns = s->end_ns;
	seen->samples += s->samples;
	seen->slices++;
	return seen->slices == seen->fail_at ? error_set(err, EXIT_ENVIRONMENT, "no room") : 0;
}

static void on_started(void *context)
{
	((struct seen *)context)->started++;
}

static void on_beat(void *context)
{
	((struct seen *)context)->beats++;
}

static int on_control(void *context, enum profile_wish *wish, struct error *err)
{
	struct seen *seen = context;
	char byte;
	(void)err;
	assert_int_equal(read(seen->control[0], &byte, 1), 1);
	*wish = byte == 'c' ? PROFILE_CUT : PROFILE_END;
	return 0;
}

/* ---- tests ---- */

static void a_time_is_sampled_in_slices_without_gaps(void **state)
{
	(void)state;
	struct samples s = { 0 };
	struct seen seen = { 0 };
	struct error err = ERROR_INIT;
	const struct profile_plan plan = { .duration_ns = 100 * MS,
					   .slice_ns = 30 * MS,
					   .control_fd = -1,
					   .started = on_started,
					   .beat = on_beat };
	assert_int_equal(profile_run(&s, &plan, on_slice, &seen, NULL, &err), 0);
	assert_true(s.started && s.stopped);
	assert_in_range(seen.slices, 2, 4); /* a busy machine makes longer ones */
	assert_false(seen.gap);
	assert_true(seen.end_ns - seen.begin_ns >= 100 * MS);
	assert_int_equal(seen.started, 1);
	assert_true(seen.beats >= 2);
}

static void sampling_ends_with_the_last_process(void **state)
{
	(void)state;
	struct samples s = { .idle_after = 3 };
	struct seen seen = { 0 };
	struct error err = ERROR_INIT;
	const struct profile_plan plan = { .slice_ns = UINT64_C(3600000) * MS, .control_fd = -1 };
	assert_int_equal(profile_run(&s, &plan, on_slice, &seen, NULL, &err), 0);
	assert_int_equal(seen.slices, 1);
	assert_int_equal(s.beats, 3);
}

static void errors_end_it_and_lose_nothing(void **state)
{
	(void)state;
	struct samples s = { .fails_to_beat = true };
	struct seen seen = { 0 };
	struct error err = ERROR_INIT;
	struct profile_plan plan = { .slice_ns = UINT64_C(3600000) * MS, .control_fd = -1 };
	assert_int_equal(profile_run(&s, &plan, on_slice, &seen, NULL, &err), -1);
	assert_string_equal(err.text, "no beat");
	assert_int_equal(seen.slices, 1); /* the last one came all the same */
	assert_true(s.stopped);

	s = (struct samples){ 0 };
	seen = (struct seen){ .fail_at = 2 };
	plan.slice_ns = 10 * MS;
	assert_int_equal(profile_run(&s, &plan, on_slice, &seen, NULL, &err), -1);
	assert_string_equal(err.text, "no room");
	assert_true(s.stopped);
}

static void what_never_started_has_no_slice(void **state)
{
	(void)state;
	struct samples s = { .fails_to_start = true };
	struct seen seen = { 0 };
	struct error err = ERROR_INIT;
	const struct profile_plan plan = { .slice_ns = 10 * MS, .control_fd = -1 };
	assert_int_equal(profile_run(&s, &plan, on_slice, &seen, NULL, &err), -1);
	assert_string_equal(err.text, "no start");
	assert_int_equal(seen.slices, 0);
}

static void wishes_are_met(void **state)
{
	(void)state;
	struct samples s = { 0 };
	struct seen seen = { 0 };
	struct error err = ERROR_INIT;
	assert_int_equal(pipe(seen.control), 0);
	const struct profile_plan plan = { .slice_ns = UINT64_C(3600000) * MS,
					   .control_fd = seen.control[0],
					   .control = on_control };
	assert_int_equal(write(seen.control[1], "cce", 3), 3);
	assert_int_equal(profile_run(&s, &plan, on_slice, &seen, NULL, &err), 0);
	assert_int_equal(seen.slices, 3); /* cut, cut, the end */
	close(seen.control[0]);
	close(seen.control[1]);
}

static int run_command(const char *script, uint64_t duration_ns, struct seen *seen)
{
	struct samples s = { .idle_after = 1 }; /* a command's end is the end, not this */
	struct error err = ERROR_INIT;
	struct launcher *launcher = NULL;
	struct command command;
	const struct launch launch = { .iteration = -1 };
	char sh[] = "sh", c[] = "-c", words[64];
	char *argv[] = { sh, c, words, NULL };
	int status = -2;
	snprintf(words, sizeof words, "%s", script);
	assert_int_equal(launcher_new(&launcher, &launch, &err), 0);
	assert_int_equal(command_spawn(launcher, &launch, argv, &command, &err), 0);
	const struct profile_plan plan = { .duration_ns = duration_ns,
					   .slice_ns = UINT64_C(3600000) * MS,
					   .command = &command,
					   .control_fd = -1 };
	assert_int_equal(profile_run(&s, &plan, on_slice, seen, &status, &err), 0);
	assert_int_equal(command_started(&command, sh, &err), 0);
	command_release(&command);
	launcher_free(launcher);
	return status;
}

static void a_command_is_sampled_from_begin_to_end(void **state)
{
	(void)state;
	struct seen seen = { 0 };
	int status = run_command("sleep 0.05; exit 3", 0, &seen);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
	assert_int_equal(seen.slices, 1);
	assert_true(seen.end_ns - seen.begin_ns >= 50 * MS);
}

static void a_command_beyond_its_time_is_ended(void **state)
{
	(void)state;
	struct seen seen = { 0 };
	uint64_t begin = clock_monotonic_ns();
	assert_int_equal(run_command("exec sleep 60", 50 * MS, &seen), -1);
	assert_true(clock_monotonic_ns() - begin < UINT64_C(10000) * MS);
	assert_int_equal(seen.slices, 1);
	assert_false(interrupted()); /* by the signal for the command */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_is_sampled_in_slices_without_gaps),
		cmocka_unit_test(sampling_ends_with_the_last_process),
		cmocka_unit_test(errors_end_it_and_lose_nothing),
		cmocka_unit_test(what_never_started_has_no_slice),
		cmocka_unit_test(wishes_are_met),
		cmocka_unit_test(a_command_is_sampled_from_begin_to_end),
		cmocka_unit_test(a_command_beyond_its_time_is_ended),
	};
	interrupt_watch();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
