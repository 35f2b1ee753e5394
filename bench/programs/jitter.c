/* How fast the jitter analyser is: rounds of detours with their events, made in memory, as on a
 * machine that is disturbed all the time. Per second of CPU.
 *
 *	bench-jitter [EVENTS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "protocol/jitter/jitter.h"
#include "stats/random.h"

#define ROUND_DETOURS 2000
#define LOOP 100

struct stage {
	struct random random;
	uint64_t now;
	detour_list detours;
	struct trace trace;
};

static void tell(struct stage *s, enum trace_kind kind, uint32_t a, uint32_t b)
{
	struct trace_event e = { .at_ns = s->now, .kind = (uint8_t)kind, .a = a, .b = b };
	array_push(&s->trace.events, e);
}

static void interrupt(struct stage *s, uint32_t cause)
{
	uint32_t number = (uint32_t)(1 + random_below(&s->random, 10));
	tell(s, TRACE_ENTER, cause, number);
	s->now += 500 + random_below(&s->random, 5000);
	tell(s, TRACE_LEAVE, cause, number);
}

static void turn(struct stage *s)
{
	struct trace_event *e;
	tell(s, TRACE_SWITCH, LOOP, LEDGER_QUEUED);
	e = &s->trace.events.items[s->trace.events.count - 1];
	e->tid = 200 + (int32_t)random_below(&s->random, 30);
	snprintf(e->comm, sizeof e->comm, "kworker/%d:1", e->tid);
	s->now += 3000;
	if (random_below(&s->random, 2)) {
		interrupt(s, LEDGER_IRQ);
		s->now += 1000;
	}
	tell(s, TRACE_SWITCH, (uint32_t)e->tid, LEDGER_SLEEP);
	s->trace.events.items[s->trace.events.count - 1].tid = LOOP;
}

/* One in four has nothing told; some have steal. */
static void detour(struct stage *s)
{
	struct detour d = { .begin_ns = s->now += 100000 + random_below(&s->random, 800000) };
	s->now += 1000 + random_below(&s->random, 8000);
	switch (random_below(&s->random, 4)) {
	case 0:
		break;
	case 1:
		turn(s);
		break;
	default:
		interrupt(s, LEDGER_IRQ);
		interrupt(s, LEDGER_SOFTIRQ);
	}
	d.end_ns = s->now += 300;
	d.steal_ns = random_below(&s->random, 20) ? 0 : (d.end_ns - d.begin_ns) / 2;
	array_push(&s->detours, d);
}

static void fill(struct stage *s, struct detour_round *r)
{
	s->detours.count = s->trace.events.count = 0;
	r->begin_ns = s->now;
	for (size_t i = 0; i < ROUND_DETOURS; i++)
		detour(s);
	r->end_ns = s->now += 1000;
	r->tid = LOOP;
	r->kernel = true;
	r->detours = s->detours.items;
	r->detour_count = s->detours.count;
	r->events = s->trace.events.items;
	r->event_count = s->trace.events.count;
	r->names = s->trace.names.items;
	r->name_count = s->trace.names.count;
}

/* The analyser's own, also where others want the CPU. */
static uint64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000, events = 0, detours = 0;
	struct stage s = { .random = { 1 }, .now = 1000000 };
	struct noise n;
	const uint32_t cpu = 0;
	uint64_t spent_ns = 0;
	for (uint32_t i = 1; i <= 10; i++) {
		struct trace_name name = { LEDGER_IRQ, i, "" };
		snprintf(name.name, sizeof name.name, "device %u", i);
		array_push(&s.trace.names, name);
		name.cause = LEDGER_SOFTIRQ;
		array_push(&s.trace.names, name);
	}
	noise_init(&n, &cpu, 1);
	struct jitter *j = jitter_new(&n);
	while (events < wanted) {
		struct detour_round r = { 0 };
		fill(&s, &r);
		uint64_t before = cpu_ns();
		jitter_add_round(j, &r, 1);
		spent_ns += cpu_ns() - before;
		events += r.event_count;
		detours += r.detour_count;
	}
	printf("jitter: %.0f events/s\n", (double)events * 1e9 / (double)spent_ns);
	printf("%lu events in %lu detours, %.0f ns per detour, %u rounds, %u with a period\n",
	       events, detours, (double)spent_ns / (double)detours, n.cpus.items[0].rounds,
	       n.cpus.items[0].host.fitted);
	jitter_free(j);
	noise_release(&n);
	array_release(&s.detours);
	trace_release(&s.trace);
}
