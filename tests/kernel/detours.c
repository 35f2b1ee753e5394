/* The detour loop and the analyser on the live kernel. Bounds on times are wide, for this runs on
 * busy machines; bench/noise-* has the sharp ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "collect/detours/detours.h"
#include "collect/machine/cpus.h"
#include "protocol/jitter/jitter.h"
#include "subject.h"

#define MS UINT64_C(1000000)

static uint32_t cpu; /* the last one that may be used */

static struct detours *open_on(const uint32_t *cpus, size_t count, bool kernel, int priority)
{
	struct detours_options o = {
		.cpus = cpus, .count = count, .kernel = kernel, .priority = priority
	};
	struct detours *d;
	struct error err = ERROR_INIT;
	if (detours_open(&d, &o, &err))
		fail_msg("%s", err.text);
	return d;
}

static const struct detour_round *round_of(struct detours *d, uint64_t ns)
{
	const struct detour_round *r = NULL;
	struct error err = ERROR_INIT;
	assert_int_equal(detours_round(d, ns, &r, &err), 0);
	assert_non_null(r);
	return r;
}

/* What holds of every round. */
static void assert_sound(const struct detour_round *r, uint64_t ns)
{
	uint64_t last = r->begin_ns;
	assert_true(r->end_ns - r->begin_ns >= ns - ns / 100);
	assert_true(r->turns > 1000);
	assert_true(r->unwatched_ns < (r->end_ns - r->begin_ns) / 2);
	for (size_t i = 0; i < r->detour_count; i++) {
		const struct detour *d = &r->detours[i];
		assert_true(d->begin_ns + 1000 >= last && d->end_ns > d->begin_ns);
		assert_true(d->end_ns <= r->end_ns + 1000);
		last = d->end_ns;
	}
	for (size_t i = 1; i < r->event_count; i++)
		assert_true(r->events[i].at_ns >= r->events[i - 1].at_ns);
	for (size_t i = 0; i < r->event_count; i++) {
		const struct trace_event *e = &r->events[i];
		bool named = e->kind != TRACE_ENTER;
		for (size_t k = 0; !named && k < r->name_count; k++)
			named = r->names[k].cause == e->a && r->names[k].source == e->b &&
				*r->names[k].name;
		assert_true(named);
		assert_int_equal(e->cpu, r->cpu);
	}
}

/* Every ns under one source. */
static void assert_closed(const struct noise_cpu *c)
{
	uint64_t sources = 0, combined = 0, classes = 0, buckets = 0;
	for (size_t i = 0; i < c->sources.count; i++)
		sources += c->sources.items[i].spread.ns;
	for (size_t i = 0; i < c->combinations.count; i++)
		combined += c->combinations.items[i].seen.ns;
	for (size_t i = 0; i < NOISE_CLASSES; i++)
		classes += c->total.class_ns[i];
	for (size_t i = 0; i < NOISE_BUCKETS; i++)
		buckets += c->buckets[i].ns;
	assert_int_equal(sources, c->total.ns);
	assert_int_equal(combined, c->total.ns);
	assert_int_equal(classes, c->total.ns);
	assert_int_equal(buckets, c->total.ns);
}

static const struct noise_source *find(const struct noise_cpu *c, const char *name)
{
	for (size_t i = 0; i < c->sources.count; i++)
		if (strcmp(c->sources.items[i].name, name) == 0)
			return &c->sources.items[i];
	return NULL;
}

static void detours_are_seen_and_named(void **state)
{
	(void)state;
	struct noise n;
	noise_init(&n, &cpu, 1);
	struct detours *d = open_on(&cpu, 1, true, 0);
	detours_describe(d, &n);
	assert_true(n.kernel);
	bool smis = access("/sys/bus/event_source/devices/msr/events/smi", F_OK) == 0;
	assert_int_equal(round_of(d, 10 * MS)->smis_told, smis);
	assert_true((double)n.cpus.items[0].threshold_ns >= n.cpus.items[0].step_ns);
	assert_true(n.cpus.items[0].turn_ns > 0);
	struct jitter *j = jitter_new(&n);
	for (int i = 0; i < 10; i++) {
		const struct detour_round *r = round_of(d, 100 * MS);
		assert_sound(r, 100 * MS);
		assert_int_equal(r->lost, 0);
		jitter_add_round(j, r, 1);
	}
	jitter_free(j);
	detours_untold(d, &n);
	detours_close(d);
	const struct noise_cpu *c = &n.cpus.items[0];
	assert_closed(c);
	assert_int_equal(c->rounds, 10);
	assert_true(c->events > 0);
#if defined(__x86_64__) /* a loop that never sleeps has the tick; others count it as a device's */
	const struct noise_source *timer = find(c, "timer");
	assert_non_null(timer);
	assert_true(timer->spread.count >= 1);
	assert_int_equal(timer->class, NOISE_IRQ);
#endif
	noise_release(&n);
}

/* ---- a task that takes the CPU ---- */

struct burst {
	_Atomic bool stop;
	_Atomic int count;
	uint64_t ns;
};

static void *burst_now_and_then(void *argument)
{
	struct burst *b = argument;
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	struct sched_param param = { .sched_priority = 90 };
	if (sched_setaffinity(0, sizeof one, &one) || sched_setscheduler(0, SCHED_FIFO, &param))
		return (void *)"no real-time class";
	pthread_setname_np(pthread_self(), "burst");
	while (!b->stop) {
		struct timespec pause = { .tv_nsec = 30 * (long)MS };
		nanosleep(&pause, NULL);
		uint64_t end = clock_monotonic_ns() + b->ns;
		while (clock_monotonic_ns() < end)
			;
		b->count++;
	}
	return NULL;
}

static void a_task_that_takes_the_cpu(int priority)
{
	struct noise n;
	struct burst b = { .ns = 3 * MS };
	pthread_t thread;
	void *refused;
	noise_init(&n, &cpu, 1);
	struct detours *d = open_on(&cpu, 1, true, priority);
	detours_describe(d, &n);
	struct jitter *j = jitter_new(&n);
	assert_int_equal(pthread_create(&thread, NULL, burst_now_and_then, &b), 0);
	for (int i = 0; i < 4; i++) {
		const struct detour_round *r = round_of(d, 250 * MS);
		assert_sound(r, 250 * MS);
		jitter_add_round(j, r, 1);
	}
	b.stop = true;
	pthread_join(thread, &refused);
	assert_null(refused);
	jitter_free(j);
	detours_close(d);
	const struct noise_cpu *c = &n.cpus.items[0];
	const struct noise_source *s = find(c, "burst");
	assert_closed(c);
	assert_non_null(s);
	assert_int_equal(s->class, NOISE_THREAD);
	/* it goes on between the rounds, where nobody looks */
	assert_true(s->spread.count >= 5);
	assert_true((double)s->spread.ns > 2e6 * (double)s->spread.count / 2);
	assert_true((double)s->spread.ns <= (double)b.count * 2 * (double)b.ns);
	/* nothing of it is left over: the CPU's own clock and the kernel's agree */
	assert_true(c->total.class_ns[NOISE_UNEXPLAINED] < c->total.ns / 2);
	assert_true(n.worst.count > 0 && n.worst.items[0].ns >= 2 * MS);
	noise_release(&n);
}

static void a_task_that_takes_the_cpu_is_found(void **state)
{
	(void)state;
	a_task_that_takes_the_cpu(0);
}

static void a_task_is_found_by_a_real_time_loop(void **state)
{
	(void)state;
	a_task_that_takes_the_cpu(50);
}

/* ---- ticks within a task's turn ---- */

/* Local timer interrupts of the CPU so far; 0: this machine does not count them by that name. */
static uint64_t timer_interrupts(void)
{
	char *text = file_read("/proc/interrupts"), name[16];
	uint64_t count = 0;
	char *at = text ? strstr(text, "LOC:") : NULL;
	snprintf(name, sizeof name, "CPU%u", cpu);
	at = at ? at + strlen("LOC:") : NULL;
	/* the first line has the CPUs in the order of the columns */
	for (char *rest = text, *word; at && (word = strtok_r(rest, " \n", &rest));) {
		count = strtoull(at, &at, 10);
		if (strcmp(word, name) == 0)
			break;
	}
	free(text);
	return count;
}

/* A turn of 20 ms holds several ticks: each is a timer interrupt, not the task's time. */
static void ticks_within_a_tasks_turn_are_the_timers(void **state)
{
	(void)state;
	struct noise n;
	struct burst b = { .ns = 20 * MS };
	pthread_t thread;
	void *refused;
	if (!timer_interrupts())
		skip();
	noise_init(&n, &cpu, 1);
	struct detours *d = open_on(&cpu, 1, true, 0);
	struct jitter *j = jitter_new(&n);
	assert_int_equal(pthread_create(&thread, NULL, burst_now_and_then, &b), 0);
	uint64_t ticks = 0;
	for (int i = 0; i < 4; i++) {
		uint64_t before = timer_interrupts();
		const struct detour_round *r = round_of(d, 250 * MS);
		ticks += timer_interrupts() - before;
		jitter_add_round(j, r, 1);
	}
	b.stop = true;
	pthread_join(thread, &refused);
	assert_null(refused);
	jitter_free(j);
	detours_close(d);
	const struct noise_cpu *c = &n.cpus.items[0];
	const struct noise_source *s = find(c, "burst"), *timer = find(c, "timer");
	assert_closed(c);
	assert_true(s && timer);
	assert_true(s->spread.count >= 10);
	/* pauses are not looked at, and this kernel hides some while init runs */
	assert_true(timer->spread.count <= ticks);
	assert_true(timer->spread.count + 8 >= ticks * 8 / 10);
	noise_release(&n);
}

static void all_cpus_are_watched_at_once(void **state)
{
	(void)state;
	cpu_list all = { 0 };
	struct error err = ERROR_INIT;
	struct noise n;
	assert_int_equal(cpus_choose("all", &all, &err), 0);
	noise_init(&n, all.items, all.count);
	struct detours *d = open_on(all.items, all.count, true, 0);
	detours_describe(d, &n);
	struct jitter *j = jitter_new(&n);
	for (int i = 0; i < 5; i++) {
		const struct detour_round *r = round_of(d, 100 * MS);
		for (size_t k = 0; k < all.count; k++) {
			assert_int_equal(r[k].cpu, all.items[k]);
			assert_sound(&r[k], 100 * MS);
		}
		jitter_add_round(j, r, all.count);
	}
	jitter_free(j);
	detours_close(d);
	for (size_t k = 0; k < all.count; k++)
		assert_closed(&n.cpus.items[k]);
	noise_release(&n);
	array_release(&all);
}

static void without_the_kernel_detours_have_no_names(void **state)
{
	(void)state;
	struct noise n;
	noise_init(&n, &cpu, 1);
	struct detours *d = open_on(&cpu, 1, false, 0);
	detours_describe(d, &n);
	assert_false(n.kernel);
	assert_false(n.steal_told);
	assert_non_null(strstr(detours_not_seen(d), "Who caused"));
	struct jitter *j = jitter_new(&n);
	for (int i = 0; i < 5; i++) {
		const struct detour_round *r = round_of(d, 100 * MS);
		assert_sound(r, 100 * MS);
		assert_int_equal(r->event_count, 0);
		jitter_add_round(j, r, 1);
	}
	jitter_free(j);
	detours_close(d);
	assert_closed(&n.cpus.items[0]);
	assert_true(n.cpus.items[0].total.count > 0);
	for (enum noise_class k = 0; k <= NOISE_STEAL; k++)
		assert_int_equal(n.cpus.items[0].total.class_ns[k], 0);
	noise_release(&n);
}

static void only_detours_above_the_threshold_are_seen(void **state)
{
	(void)state;
	struct detours *d;
	struct error err = ERROR_INIT;
	struct detours_options o = {
		.cpus = &cpu, .count = 1, .threshold = THRESHOLD_NS, .threshold_ns = 0
	};
	assert_int_equal(detours_open(&d, &o, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	o.threshold_ns = 50000;
	assert_int_equal(detours_open(&d, &o, &err), 0);
	const struct detour_round *r = round_of(d, 300 * MS);
	for (size_t i = 0; i < r->detour_count; i++)
		assert_true(r->detours[i].end_ns - r->detours[i].begin_ns >= 49900);
	detours_close(d);
	o.threshold = THRESHOLD_PAPER;
	assert_int_equal(detours_open(&d, &o, &err), 0);
	detours_close(d);
}

/* What was changed is as before. */
static void the_thread_gets_its_cpus_back(void **state)
{
	(void)state;
	cpu_set_t before, after;
	sched_getaffinity(0, sizeof before, &before);
	detours_close(open_on(&cpu, 1, false, 0));
	sched_getaffinity(0, sizeof after, &after);
	assert_memory_equal(&before, &after, sizeof before);
}

int main(void)
{
	cpu_list all = { 0 };
	struct error err = ERROR_INIT;
	if (cpus_choose("all", &all, &err))
		skip_all(err.text);
	cpu = all.items[all.count - 1];
	array_release(&all);
	struct detours *d;
	struct detours_options o = { .cpus = &cpu, .count = 1, .kernel = true, .priority = 50 };
	if (detours_open(&d, &o, &err))
		skip_all(err.text);
	bool named = !strstr(detours_not_seen(d), "Who caused");
	char why[512];
	snprintf(why, sizeof why, "%s", detours_not_seen(d));
	detours_close(d);
	if (!named)
		skip_all(why);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(detours_are_seen_and_named),
		cmocka_unit_test(a_task_that_takes_the_cpu_is_found),
		cmocka_unit_test(a_task_is_found_by_a_real_time_loop),
		cmocka_unit_test(ticks_within_a_tasks_turn_are_the_timers),
		cmocka_unit_test(all_cpus_are_watched_at_once),
		cmocka_unit_test(without_the_kernel_detours_have_no_names),
		cmocka_unit_test(only_detours_above_the_threshold_are_seen),
		cmocka_unit_test(the_thread_gets_its_cpus_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
