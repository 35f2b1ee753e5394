#include "collect/detours/loop.h"

#include <linux/bpf.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/detours/smi.h"
#include "record/execution.h"

#if defined(__x86_64__)
#include <x86intrin.h>
static inline uint64_t ticks_now(void)
{
	return __rdtsc();
}
#elif defined(__aarch64__)
static inline uint64_t ticks_now(void)
{
	uint64_t value;
	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(value));
	return value;
}
#else
static inline uint64_t ticks_now(void)
{
	return clock_monotonic_ns();
}
#endif

#define PAIR_TRIES 8
#define READINGS (1u << 16)
#define PASSES 12
/* A difference is usual when so many readings have it. */
#define USUAL_SHARE 0.0005
/* From one probe to the next. It varies at random between these: at an even period the probes would
 * meet a timer of the kernel or of the host always or never. */
#define PROBE_SHORTEST_NS 8000000
#define PROBE_SPREAD_NS 4000000
/* A probe that is late by this much was due in a detour. It waits a little: what ran instead has
 * left its traces in the caches. */
#define PROBE_LATE_NS 1000
#define PROBE_REST_NS 20000

struct loop_pair loop_pair_now(void)
{
	struct loop_pair best = { 0 };
	uint64_t least = UINT64_MAX;
	for (int i = 0; i < PAIR_TRIES; i++) {
		uint64_t before = ticks_now(), ns = clock_monotonic_ns(), after = ticks_now();
		if (after - before < least) {
			least = after - before;
			best = (struct loop_pair){ before + (after - before) / 2, ns };
		}
	}
	return best;
}

/* ---- what a turn takes ---- */

/* The counter of a virtual machine may move in steps of many ticks, give or take one: the usual
 * differences then lie in clumps, a step apart. Where there is but one clump, the step is a tick.
 */
static double step_of(const uint32_t *sorted, size_t count)
{
	double last_centre = 0, weight = 0, sum = 0, step = 0;
	uint32_t last_value = 0;
	bool any = false;
	for (size_t i = 0; i <= count;) {
		size_t end = i;
		while (end < count && sorted[end] == sorted[i])
			end++;
		bool over = i == count;
		if (!over && (double)(end - i) < USUAL_SHARE * (double)count) {
			i = end;
			continue;
		}
		if (weight > 0 && (over || sorted[i] > last_value + 1)) {
			double centre = sum / weight;
			if (any && (step == 0 || centre - last_centre < step))
				step = centre - last_centre;
			last_centre = centre;
			any = true;
			weight = sum = 0;
		}
		if (over)
			break;
		weight += (double)(end - i);
		sum += (double)sorted[i] * (double)(end - i);
		last_value = sorted[i];
		i = end;
	}
	return step > 0 ? step : 1;
}

void loop_judge(const uint32_t *sorted, size_t count, struct loop_turn *out)
{
	out->step = step_of(sorted, count);
	out->median = sorted[count / 2];
	out->p999 = sorted[(size_t)((double)count * 0.999)];
	out->least = sorted[count - 1];
	/* two readings within one step differ by less than it for no reason of the CPU's */
	for (size_t i = 0; i < count; i++)
		if (sorted[i] >= out->step / 2) {
			out->least = sorted[i];
			break;
		}
}

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

void loop_calibrate(struct loop *l, struct loop_turn *out)
{
	uint32_t *differences = (uint32_t *)l->notes;
	size_t room = l->room * sizeof *l->notes / sizeof *differences;
	size_t count = room < READINGS ? room : READINGS;
	for (int pass = 0; pass <= PASSES; pass++) {
		struct loop_turn turn;
		uint64_t before = ticks_now();
		for (size_t i = 0; i < count; i++) {
			uint64_t now = ticks_now(), difference = now - before;
			differences[i] = difference < UINT32_MAX ? (uint32_t)difference
								 : UINT32_MAX;
			before = now;
		}
		qsort(differences, count, sizeof *differences, by_size);
		loop_judge(differences, count, &turn);
		/* the first warms up; of the others the quietest tells of the loop itself */
		if (pass <= 1 || turn.p999 < out->p999)
			*out = turn;
	}
	memset(l->notes, 0, l->room * sizeof *l->notes);
}

/* ---- the loop ---- */

static uint64_t read_steal(const struct loop *l)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.test.prog_fd = (uint32_t)l->here;
	if (l->here < 0 || syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof attr) != 0)
		return ABSENT_NS;
	return l->slot->steal_at ? l->slot->steal_ns : ABSENT_NS;
}

/* SMIs since the last reading. */
static uint64_t read_smis(struct loop *l)
{
	uint64_t now = smi_read(l->smi), before = l->smis_read;
	if (now == ABSENT_NS)
		return 0;
	l->smis_read = now;
	return before != ABSENT_NS && now > before ? now - before : 0;
}

/* Out of line: the loop stays small. Gives the reading to go on from. */
static __attribute__((noinline, cold)) uint64_t note(struct loop *l, uint64_t before,
						     uint64_t after)
{
	struct detour_note *n = &l->notes[l->count++];
	n->before = before;
	n->after = after;
	n->paired_ns = 0;
	uint64_t least = UINT64_MAX;
	for (int i = 0; i < 3; i++) { /* again when something came in between */
		uint64_t first = ticks_now(), ns = clock_monotonic_ns(), second = ticks_now();
		if (second - first < least) {
			least = second - first;
			n->paired = first + least / 2;
			n->paired_ns = ns;
		}
		if ((double)least < 200 * l->ticks_per_ns)
			break;
	}
	n->steal_ns = after - before > l->steal_after ? read_steal(l) : ABSENT_NS;
	n->smis = after - before > l->smi_after ? read_smis(l) : 0;
	return n->resumed = ticks_now();
}

/* Likewise: known work, during which nothing is watched. */
static __attribute__((noinline, cold)) uint64_t probe(struct loop *l, uint64_t now)
{
	struct loop_probe *p = &l->probes[l->probe_count++];
	p->at = now;
	speed_work(l->ring, &l->place, p->ticks);
	if (l->smi >= 0) /* one in the probe must not be taken for one in the next detour */
		read_smis(l);
	/* a few readings: the first after other work may take longer */
	for (int i = 0; i < 4; i++)
		p->resumed = ticks_now();
	return p->resumed;
}

/* Ticks until the next probe. */
static uint64_t probe_pause(struct loop *l, double shortest_ns)
{
	l->dither = l->dither * 6364136223846793005u + 1442695040888963407u + l->cpu;
	double part = (double)(l->dither >> 40) / (double)(1u << 24);
	return (uint64_t)((shortest_ns + part * PROBE_SPREAD_NS) * l->ticks_per_ns);
}

void loop_run(struct loop *l, uint64_t ns)
{
	uint64_t threshold = l->threshold, turns = 0;
	l->count = l->probe_count = 0;
	l->moved = sched_getcpu() != (int)l->cpu;
	l->steal_before = read_steal(l);
	uint64_t smis_before = l->smis_read = smi_read(l->smi);
	l->begin = loop_pair_now();
	uint64_t before = ticks_now(), now;
	l->begin.ns += (uint64_t)((double)(before - l->begin.ticks) / l->ticks_per_ns);
	l->begin.ticks = before;
	uint64_t end = before + (uint64_t)((double)ns * l->ticks_per_ns);
	/* the first one soon, so that short rounds have one too */
	uint64_t next = l->ring ? before + probe_pause(l, 0) : UINT64_MAX;
	for (;;) {
		uint64_t until = next < end ? next : end;
		do {
			now = ticks_now();
			if (__builtin_expect(now - before > threshold, 0)) {
				now = note(l, before, now);
				if (l->count == l->room)
					until = end = now;
			}
			before = now;
			turns++;
		} while (now < until);
		if (now >= end)
			break;
		if ((double)(now - until) > PROBE_LATE_NS * l->ticks_per_ns) {
			next = now + (uint64_t)(PROBE_REST_NS * l->ticks_per_ns);
			continue;
		}
		before = probe(l, now);
		next = l->probe_count < l->probe_room ? before + probe_pause(l, PROBE_SHORTEST_NS)
						      : UINT64_MAX;
	}
	l->end = loop_pair_now();
	l->end.ns -= (uint64_t)((double)(l->end.ticks - now) / l->ticks_per_ns);
	l->end.ticks = now;
	l->turns = turns;
	l->smis = smi_read(l->smi);
	if (l->smis != ABSENT_NS)
		l->smis = smis_before != ABSENT_NS ? l->smis - smis_before : ABSENT_NS;
	l->moved |= sched_getcpu() != (int)l->cpu;
}
