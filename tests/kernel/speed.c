/* The speed probe on the live kernel. Nothing is said about how fast it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "collect/speed/speed.h"

static void busy(uint64_t ns)
{
	uint64_t until = clock_monotonic_ns() + ns;
	while (clock_monotonic_ns() < until)
		;
}

static struct speed_probe *open_probe(const struct speed_options *options)
{
	struct speed_probe *p = NULL;
	struct error err = ERROR_INIT;
	if (speed_probe_open(&p, options, &err))
		fail_msg("%s", err.text);
	return p;
}

static void probes_come_while_something_runs(void **unused)
{
	(void)unused;
	struct speed_probe *p = open_probe(&(struct speed_options){ 0 });
	for (int turn = 0; turn < 3; turn++) {
		struct speed_means m;
		speed_probe_begin(p);
		busy(100000000);
		speed_probe_end(p, &m);
		assert_true(m.used >= 10);
		assert_true(m.self_ns > 0);
		for (enum speed_kind k = 0; k < SPEED_KINDS; k++)
			assert_true(m.ns[k] > 20 && m.ns[k] < 1e6);
	}
	struct speed_series s;
	size_t cpus = 0;
	for (; speed_probe_series(p, cpus, &s); cpus++) {
		assert_int_equal(s.stride, 1);
		for (size_t i = 1; i < s.count; i++)
			assert_true(s.samples[i].at_ns > s.samples[i - 1].at_ns);
	}
	assert_true(cpus >= 1);
	speed_probe_close(p);
}

static void nothing_wakes_up_between_executions(void **unused)
{
	(void)unused;
	struct speed_probe *p = open_probe(&(struct speed_options){ 0 });
	struct speed_means m;
	speed_probe_begin(p);
	speed_probe_end(p, &m);
	assert_true(m.used <= 64); /* it may be over before a thread has woken up */
	uint64_t before = clock_cpu_ns();
	nanosleep(&(struct timespec){ 0, 100000000 }, NULL);
	assert_true(clock_cpu_ns() - before < 5000000);
	speed_probe_close(p);
}

/* Timer interrupts of a CPU so far; 0: this architecture's are not known here. */
static uint64_t timer_interrupts(int cpu)
{
	FREED char *text = file_read("/proc/interrupts");
	char *at = text ? strstr(text, "LOC:") : NULL;
	if (!at)
		return 0;
	at += 4;
	for (int i = 0; i < cpu; i++)
		strtoull(at, &at, 10);
	return strtoull(at, NULL, 10);
}

static uint64_t interrupts_while_busy(int cpu)
{
	uint64_t before = timer_interrupts(cpu);
	busy(400000000);
	return timer_interrupts(cpu) - before;
}

static void a_probe_takes_no_interrupt_of_its_own(void **unused)
{
	(void)unused;
	cpu_set_t before, one;
	int cpu = sched_getcpu();
	if (!timer_interrupts(cpu) || access("/proc/timer_list", R_OK))
		skip();
	sched_getaffinity(0, sizeof before, &before);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
	struct speed_probe *p = open_probe(&(struct speed_options){ .cpus = &one });
	uint64_t least_alone = UINT64_MAX, least_with = UINT64_MAX;
	bool few = false;
	/* others on this CPU have timers as well: the least of each is compared */
	for (int turn = 0; turn < 8 && !few; turn++) {
		struct speed_means m;
		uint64_t alone = interrupts_while_busy(cpu);
		speed_probe_begin(p);
		uint64_t with = interrupts_while_busy(cpu);
		speed_probe_end(p, &m);
		assert_true(m.used + m.left_out >= 5);
		least_alone = alone < least_alone ? alone : least_alone;
		least_with = with < least_with ? with : least_with;
		few = least_with < least_alone + (uint64_t)(m.used + m.left_out) / 2;
	}
	assert_true(few);
	speed_probe_close(p);
	sched_setaffinity(0, sizeof before, &before);
}

static uint64_t count;
static enum speed_turn turns(void *context, uint32_t cpu, uint64_t *events)
{
	(void)cpu;
	*events = context ? __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST) : 0;
	return context ? SPEED_TURN_SUBJECT : SPEED_TURN_OTHER;
}

static void interrupted_and_foreign_probes_are_left_out(void **unused)
{
	(void)unused;
	struct speed_means m;
	/* an event in each of them */
	struct speed_probe *p =
		open_probe(&(struct speed_options){ .turn = turns, .context = &count });
	speed_probe_begin(p);
	busy(50000000);
	speed_probe_end(p, &m);
	assert_int_equal(m.used, 0);
	assert_true(m.left_out > 0);
	speed_probe_close(p);
	/* somebody else had the CPU before */
	p = open_probe(&(struct speed_options){ .turn = turns });
	speed_probe_begin(p);
	busy(50000000);
	speed_probe_end(p, &m);
	assert_int_equal(m.used, 0);
	assert_int_equal(m.left_out, 0);
	speed_probe_close(p);
}

static void a_cpu_that_does_not_exist_is_an_error(void **unused)
{
	(void)unused;
	struct speed_probe *p = NULL;
	struct error err = ERROR_INIT;
	cpu_set_t none;
	CPU_ZERO(&none);
	CPU_SET(CPU_SETSIZE - 1, &none);
	assert_int_equal(speed_probe_open(&p, &(struct speed_options){ .cpus = &none }, &err), -1);
	assert_non_null(strstr(err.text, "no speed probe can run"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probes_come_while_something_runs),
		cmocka_unit_test(nothing_wakes_up_between_executions),
		cmocka_unit_test(a_probe_takes_no_interrupt_of_its_own),
		cmocka_unit_test(interrupted_and_foreign_probes_are_left_out),
		cmocka_unit_test(a_cpu_that_does_not_exist_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
