#include "collect/speed/speed.h"

#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/schedule.h"
#include "collect/speed/tick.h"
#include "collect/speed/work.h"
#include "record/field.h"

#define PRIORITY 10
#define SLICE_NS 100000u /* the shortest that the kernel grants (sched_setattr(2)) */
#define ROOM (1u << 14)	 /* samples per CPU, before they are thinned out */
#define PARK_PATIENCE_NS 20000000u
#define PERIOD_MIN_NS 2000000u
/* A probe on a CPU that the subject does not have looks less and less often. */
#define REST_MOST 4u

struct prober {
	struct speed_probe *all;
	uint32_t cpu;
	uint64_t phase_ns; /* of its CPU's tick */
	pthread_t thread;
	bool made;
	int failed; /* errno */
	bool real_time, own_slice;
	uint32_t began, parked; /* the last begin and end that it has seen; parked: futex */
	uint32_t stride, skipped;
	size_t count;
	struct speed_sample *samples;
	uint32_t place;	 /* in the ring */
	uint64_t cpu_ns; /* of the thread, at begin */
};

struct speed_probe {
	uint64_t period_ns; /* ticks, PERIOD_MIN_NS at least */
	int priority;
	speed_turn_fn turn;
	void *context;
	struct speed_ring *ring;
	struct prober *probers;
	size_t count;
	uint32_t word; /* odd: probing; even: asleep. Futex. */
	uint32_t ready;
	bool closing;
	uint64_t begin_ns;
	uint64_t ticks_at, ns_at; /* of the same instant, when it was opened */
	double ns_per_tick;
	char *not_seen;
};

/* ---- waiting ---- */

static void wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* Until *word is no longer value, or until_ns (CLOCK_MONOTONIC; 0: without end). */
static void wait_until(uint32_t *word, uint32_t value, uint64_t until_ns)
{
	struct timespec until = { (time_t)(until_ns / 1000000000u),
				  (long)(until_ns % 1000000000u) };
	syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value, until_ns ? &until : NULL, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

static uint32_t load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* ---- the thread of a CPU ---- */

/* Before everything ordinary if it may, or else as soon as the scheduler can be made to. */
static void settle(struct prober *p)
{
	cpu_set_t one;
	char name[16];
	CPU_ZERO(&one);
	CPU_SET(p->cpu, &one);
	snprintf(name, sizeof name, "tare-speed/%u", p->cpu % 10000);
	pthread_setname_np(pthread_self(), name);
	prctl(PR_SET_TIMERSLACK, 1);
	if (sched_setaffinity(0, sizeof one, &one) != 0) {
		p->failed = errno;
		return;
	}
	p->real_time = schedule_set_fifo(p->all->priority);
	p->own_slice = !p->real_time && schedule_set_slice(0, SLICE_NS) == SLICE_NS;
}

/* Keeps every second sample, and from now on only every second of those that come. */
static void thin_out(struct prober *p)
{
	for (size_t i = 0; i < p->count / 2; i++)
		p->samples[i] = p->samples[2 * i];
	p->count /= 2;
	p->stride *= 2;
}

/* False: the subject did not have this CPU, and nothing was measured. */
static bool probe_once(struct prober *p)
{
	struct speed_probe *all = p->all;
	uint64_t events = 0, events_after = 0, ticks[SPEED_KINDS];
	enum speed_turn turn = all->turn ? all->turn(all->context, p->cpu, &events)
					 : SPEED_TURN_SUBJECT;
	if (turn == SPEED_TURN_OTHER)
		return false;
	struct speed_sample s = { .at_ns = clock_monotonic_ns() };
	speed_work(all->ring, &p->place, ticks);
	if (all->turn)
		all->turn(all->context, p->cpu, &events_after);
	s.flags = (turn == SPEED_TURN_UNKNOWN ? (uint32_t)SPEED_ELSEWHERE : 0) |
		  (events != events_after ? (uint32_t)SPEED_INTERRUPTED : 0) |
		  (sched_getcpu() != (int)p->cpu ? (uint32_t)SPEED_MOVED : 0);
	for (enum speed_kind k = 0; k < SPEED_KINDS; k++)
		s.ns[k] = (float)((double)ticks[k] * all->ns_per_tick);
	if (p->skipped++ % p->stride)
		return true;
	p->samples[p->count++] = s;
	if (p->count == ROOM)
		thin_out(p);
	return true;
}

/* The first instant after `now` at which the CPU's tick comes and its periods have the phase. */
static uint64_t next_tick(const struct prober *p, uint64_t now)
{
	uint64_t period = p->all->period_ns;
	return now + period - (now + period - p->phase_ns) % period;
}

/* From begin to end. Where the subject does not have the CPU, the thread looks between the ticks:
 * if all threads woke up at once, a CPU that falls idle would take the subject, which is not
 * running just then. */
static void probe_along(struct prober *p, uint32_t word)
{
	struct speed_probe *all = p->all;
	uint64_t next = next_tick(p, all->begin_ns);
	uint32_t rest = 1;
	while (load(&all->word) == word) {
		if (clock_monotonic_ns() < next) {
			wait_until(&all->word, word, next);
			continue;
		}
		bool subject = probe_once(p);
		next = next_tick(p, clock_monotonic_ns());
		rest = subject ? 1 : rest < REST_MOST ? rest * 2 : rest;
		if (!subject)
			next += (rest - 1) * all->period_ns + all->period_ns / 2;
	}
}

static void *probe_thread(void *argument)
{
	struct prober *p = argument;
	struct speed_probe *all = p->all;
	settle(p);
	if (!p->failed) {
		uint64_t ticks[SPEED_KINDS];
		for (int i = 0; i < 4; i++) /* brings in pages and code */
			speed_work(all->ring, &p->place, ticks);
	}
	__atomic_add_fetch(&all->ready, 1, __ATOMIC_SEQ_CST);
	wake(&all->ready);
	for (uint32_t seen = 0; !p->failed;) {
		uint32_t word;
		while ((word = load(&all->word)) == seen)
			wait_until(&all->word, seen, 0);
		if (__atomic_load_n(&all->closing, __ATOMIC_SEQ_CST))
			break;
		seen = word;
		if (word % 2) {
			p->began = word;
			p->count = 0;
			p->stride = 1;
			p->skipped = 0;
			probe_along(p, word);
			continue;
		}
		if (p->began != word - 1)
			p->count = 0; /* it was over before this thread woke up */
		__atomic_store_n(&p->parked, word, __ATOMIC_SEQ_CST);
		wake(&p->parked);
	}
	return NULL;
}

/* ---- opening ---- */

static void calibrate(struct speed_probe *p)
{
	uint64_t ns = clock_monotonic_ns(), ticks = speed_ticks();
	if (!p->ns_at) {
		p->ns_at = ns;
		p->ticks_at = ticks;
		struct timespec short_while = { 0, 500000 };
		nanosleep(&short_while, NULL);
		ns = clock_monotonic_ns();
		ticks = speed_ticks();
	}
	p->ns_per_tick = (double)(ns - p->ns_at) / (double)(ticks - p->ticks_at);
}

static void say_what_is_lost(struct speed_probe *p)
{
	bool real_time = true, slices = true;
	for (size_t i = 0; i < p->count; i++) {
		real_time &= p->probers[i].real_time;
		slices &= p->probers[i].real_time | p->probers[i].own_slice;
	}
	if (real_time)
		return;
	p->not_seen = xstrdup(
		slices ? "The speed of the CPU is known less well: its probe may not run before "
			 "everything else (SCHED_FIFO)."
		       : "The speed of the CPU is known poorly: its probe may not run before "
			 "everything else (SCHED_FIFO), and this kernel has no short slices.");
}

/* Leaves out CPUs on which no thread can be. */
static int check_probers(struct speed_probe *p, struct error *err)
{
	size_t good = 0;
	int failed = 0;
	for (size_t i = 0; i < p->count; i++) {
		failed = p->probers[i].failed ? p->probers[i].failed : failed;
		good += !p->probers[i].failed;
	}
	if (good)
		return 0;
	return error_set(err, EXIT_ENVIRONMENT, "no speed probe can run: %s", strerror(failed));
}

static void list_cpus(const struct speed_options *options, cpu_set_t *set)
{
	CPU_ZERO(set);
	if (options->cpus)
		*set = *options->cpus;
	else
		sched_getaffinity(0, sizeof *set, set);
}

int speed_probe_open(struct speed_probe **out, const struct speed_options *options,
		     struct error *err)
{
	struct speed_probe *p = xcalloc(1, sizeof *p);
	cpu_set_t set;
	FREED uint64_t *phases = xcalloc(CPU_SETSIZE, sizeof *phases);
	tick_phases(phases, CPU_SETSIZE);
	list_cpus(options, &set);
	uint64_t tick = tick_period_ns();
	p->period_ns = (PERIOD_MIN_NS + tick - 1) / tick * tick;
	p->priority = options->above_priority >= PRIORITY ? options->above_priority + 1 : PRIORITY;
	if (p->priority > 99)
		p->priority = 99;
	p->turn = options->turn;
	p->context = options->context;
	p->ring = speed_ring_new();
	p->probers = xcalloc((size_t)CPU_COUNT(&set), sizeof *p->probers);
	calibrate(p);
	for (uint32_t cpu = 0; p->ring && cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		struct prober *b = &p->probers[p->count];
		*b = (struct prober){ .all = p,
				      .cpu = cpu,
				      .phase_ns = phases[cpu],
				      .stride = 1,
				      .samples = xcalloc(ROOM, sizeof *b->samples) };
		p->count++;
	}
	size_t made = 0;
	for (size_t i = 0; i < p->count; i++) {
		int failed =
			pthread_create(&p->probers[i].thread, NULL, probe_thread, &p->probers[i]);
		p->probers[i].made = !failed;
		/* a thread that was made sets it itself, maybe already */
		if (failed)
			p->probers[i].failed = failed;
		made += p->probers[i].made;
	}
	for (uint32_t ready; (ready = load(&p->ready)) < made;)
		wait_until(&p->ready, ready, 0);
	if (check_probers(p, err)) {
		speed_probe_close(p);
		return -1;
	}
	say_what_is_lost(p);
	*out = p;
	return 0;
}

void speed_probe_close(struct speed_probe *p)
{
	if (!p)
		return;
	__atomic_store_n(&p->closing, true, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&p->word, 2, __ATOMIC_SEQ_CST);
	wake(&p->word);
	for (size_t i = 0; i < p->count; i++) {
		if (p->probers[i].made)
			pthread_join(p->probers[i].thread, NULL);
		xfree(p->probers[i].samples);
	}
	speed_ring_free(p->ring);
	xfree(p->probers);
	free(p->not_seen);
	xfree(p);
}

const char *speed_probe_not_seen(const struct speed_probe *p)
{
	return p->not_seen;
}

/* ---- an execution ---- */

static uint64_t thread_cpu_ns(const struct prober *b)
{
	clockid_t clock;
	struct timespec t;
	if (b->failed || pthread_getcpuclockid(b->thread, &clock) != 0 ||
	    clock_gettime(clock, &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void speed_probe_begin(struct speed_probe *p)
{
	for (size_t i = 0; i < p->count; i++)
		p->probers[i].cpu_ns = thread_cpu_ns(&p->probers[i]);
	p->begin_ns = clock_monotonic_ns();
	__atomic_add_fetch(&p->word, 1, __ATOMIC_SEQ_CST);
	wake(&p->word);
}

void speed_probe_end(struct speed_probe *p, struct speed_means *out)
{
	uint32_t word = __atomic_add_fetch(&p->word, 1, __ATOMIC_SEQ_CST);
	wake(&p->word);
	struct speed_sample *all = NULL;
	size_t count = 0;
	uint64_t self_ns = 0, until = clock_monotonic_ns() + PARK_PATIENCE_NS;
	for (size_t i = 0; i < p->count; i++) {
		struct prober *b = &p->probers[i];
		if (b->failed)
			continue;
		for (uint32_t parked; (parked = load(&b->parked)) != word;) {
			if (clock_monotonic_ns() > until)
				break;
			wait_until(&b->parked, parked, until);
		}
		self_ns += thread_cpu_ns(b) - b->cpu_ns;
		if (load(&b->parked) != word)
			continue; /* it does not get its CPU: what it noted is still being written
				   */
		all = xrealloc(all, (count + b->count + 1) * sizeof *all);
		memcpy(all + count, b->samples, b->count * sizeof *all);
		count += b->count;
	}
	calibrate(p);
	speed_mean(all, count, out);
	out->self_ns = self_ns;
	xfree(all);
}

bool speed_probe_series(const struct speed_probe *p, size_t number, struct speed_series *out)
{
	if (number >= p->count)
		return false;
	const struct prober *b = &p->probers[number];
	bool whole = load(&b->parked) == load(&p->word);
	*out = (struct speed_series){ b->cpu, b->samples, whole ? b->count : 0, b->stride };
	return true;
}

void speed_probe_means(const struct speed_probe *p, size_t number, struct speed_means *out)
{
	struct speed_series s;
	*out = speed_unknown();
	if (!speed_probe_series(p, number, &s) || !s.count)
		return;
	struct speed_sample *copy = xmalloc(s.count * sizeof *copy);
	memcpy(copy, s.samples, s.count * sizeof *copy);
	speed_mean(copy, s.count, out);
	xfree(copy);
}
