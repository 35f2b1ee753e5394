/* A simulated machine: sources in every order and nesting, of which every ns is known, and a loop
 * that notes its detours in ticks of a counter that drifts. The analyser must find the truth to the
 * ns.
 *
 * The truth: each occurrence has the parts of its intervals that are in the detour as it was placed
 * (the pairs are some ns off) without what is nested in it; the rest of a detour is delivery where
 * there is a source, else unexplained. Gaps are kept so short that all of them can be delivery. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "jitter-scene.h"
#include "record/execution.h"
#include "stats/random.h"

#define CPUS 2
#define ROUNDS 6
#define DETOURS 400
#define TICKS 2.4
#define DRIFT 30e-6

/* ---- the truth ---- */

struct occurrence {
	size_t detour;
	enum noise_class class;
	char name[NOISE_NAME_SIZE];
	bool top;
	uint64_t begin_ns;
};

struct interval {
	size_t occurrence;
	uint64_t begin_ns, end_ns;
};

struct machine {
	struct random random;
	uint64_t now; /* CLOCK_MONOTONIC */
	size_t innermost;
	ARRAY(struct occurrence) occurrences;
	ARRAY(struct interval) intervals;
	ARRAY(struct detour_note) notes;
	struct trace trace;
	detour_list detours;
};

#define NONE SIZE_MAX

static uint64_t between(struct machine *m, uint64_t low, uint64_t high)
{
	return low + random_below(&m->random, high - low + 1);
}

static bool chance(struct machine *m, unsigned percent)
{
	return random_below(&m->random, 100) < percent;
}

/* The innermost one has the CPU for so long. */
static void pass(struct machine *m, uint64_t ns)
{
	if (m->innermost != NONE) {
		struct interval i = { m->innermost, m->now, m->now + ns };
		array_push(&m->intervals, i);
	}
	m->now += ns;
}

static struct trace_event *tell(struct machine *m, enum trace_kind kind, uint32_t a, uint32_t b)
{
	struct trace_event e = { .at_ns = m->now, .kind = (uint8_t)kind, .a = a, .b = b };
	array_push(&m->trace.events, e);
	return &m->trace.events.items[m->trace.events.count - 1];
}

/* Returns what was innermost before. */
static size_t begin(struct machine *m, enum noise_class class, const char *name)
{
	struct occurrence o = { m->notes.count, class, "", m->innermost == NONE, m->now };
	size_t before = m->innermost;
	snprintf(o.name, sizeof o.name, "%s", name);
	m->innermost = m->occurrences.count;
	array_push(&m->occurrences, o);
	return before;
}

/* ---- what happens ---- */

static void nmi(struct machine *m)
{
	size_t outer = begin(m, NOISE_NMI, "nmi");
	uint64_t ns = between(m, 200, 3000);
	pass(m, ns);
	tell(m, TRACE_NMI, 0, (uint32_t)ns);
	m->innermost = outer;
}

/* Each depth has interrupts of its own: none is nested in itself. */
static void interrupt(struct machine *m, unsigned depth, bool soft)
{
	uint32_t number = (uint32_t)(1 + 3 * depth + random_below(&m->random, 3));
	uint32_t cause = soft ? LEDGER_SOFTIRQ : LEDGER_IRQ;
	char name[NOISE_NAME_SIZE];
	snprintf(name, sizeof name, soft ? "softirq:s%u" : "irq%u", number);
	tell(m, TRACE_ENTER, cause, number);
	size_t outer = begin(m, soft ? NOISE_SOFTIRQ : NOISE_IRQ, name);
	do {
		/* often of equal length: the paper's third case */
		pass(m, chance(m, 30) ? 5000 : between(m, depth ? 50 : 200, 20000));
		if (depth < 2 && chance(m, 30))
			interrupt(m, depth + 1, false);
		else if (chance(m, 10))
			nmi(m);
		else
			break;
	} while (chance(m, 50));
	if (chance(m, 50))
		pass(m, between(m, 1, 900));
	tell(m, TRACE_LEAVE, cause, number);
	m->innermost = outer;
}

static void work(struct machine *m)
{
	uint32_t number = (uint32_t)between(m, 1, 5);
	char name[NOISE_NAME_SIZE];
	snprintf(name, sizeof name, "work:w%u", number);
	tell(m, TRACE_WORK_BEGIN, number, 0);
	size_t outer = begin(m, NOISE_WORK, name);
	pass(m, between(m, 500, 9000));
	if (chance(m, 30)) {
		interrupt(m, 1, chance(m, 50));
		pass(m, between(m, 10, 900));
	}
	tell(m, TRACE_WORK_END, 0, 0);
	m->innermost = outer;
}

/* Some tasks after each other, and back to the loop. */
static void turns(struct machine *m)
{
	static const char *const comms[] = { "sshd", "kworker/1:0-mm_", "rcu_preempt", "make" };
	static const char *const names[] = { "sshd", "kworker/1", "rcu_preempt", "make" };
	int32_t from = LOOP;
	unsigned count = 1 + (unsigned)random_below(&m->random, 3);
	for (unsigned i = 0; i < count; i++) {
		uint32_t which = (uint32_t)random_below(&m->random, 4);
		struct trace_event *e = tell(m, TRACE_SWITCH, (uint32_t)from, LEDGER_QUEUED);
		from = e->tid = 200 + (int32_t)which;
		snprintf(e->comm, sizeof e->comm, "%s", comms[which]);
		if (which == 3)
			e->flags = TRACE_IS_FAIR;
		begin(m, NOISE_THREAD, names[which]);
		pass(m, between(m, 300, 30000));
		while (chance(m, 40)) {
			if (which == 1)
				work(m);
			else
				interrupt(m, 1, chance(m, 30));
			pass(m, between(m, 1, 2000));
		}
		m->innermost = NONE;
	}
	struct trace_event *e = tell(m, TRACE_SWITCH, (uint32_t)from, LEDGER_SLEEP);
	e->tid = LOOP;
	memcpy(e->comm, "loop", 5);
}

/* It ends with the next event or the detour. */
static void fault(struct machine *m)
{
	tell(m, TRACE_FAULT, 0, 0);
	begin(m, NOISE_FAULT, "page_fault");
	pass(m, between(m, 300, 4000));
	m->innermost = NONE;
}

static bool happen(struct machine *m)
{
	size_t what = random_below(&m->random, 10);
	if (what < 4)
		interrupt(m, 0, false);
	else if (what < 6)
		interrupt(m, 0, true);
	else if (what < 8)
		turns(m);
	else if (what < 9)
		nmi(m);
	else
		fault(m);
	return what == 9;
}

static uint64_t ticks(uint64_t ns)
{
	return (uint64_t)((double)(ns - 1000000) * TICKS * (1 + DRIFT));
}

/* The clocks are some ns apart: what is told may seem to begin before the detour, to end after it.
 */
static void detour(struct machine *m)
{
	m->now += between(m, 2000, 2000000);
	struct detour_note n = { .before = ticks(m->now), .steal_ns = ABSENT_NS };
	uint64_t over = 0;
	if (chance(m, 15)) { /* nothing is told */
		m->now += between(m, 300, 50000);
	} else {
		bool open = false;
		if (chance(m, 30))
			m->now -= between(m, 0, 150);
		else
			pass(m, between(m, 50, 900));
		size_t count = 1 + random_below(&m->random, 4);
		for (size_t i = 0; i < count; i++) {
			if (i && !open && chance(m, 70))
				pass(m, between(m, 20, 450));
			open = happen(m);
		}
		if (open) /* a fault, until the detour's end wherever it is placed */
			m->intervals.items[m->intervals.count - 1].end_ns += 1000;
		else if (chance(m, 50))
			pass(m, between(m, 20, 400));
		else
			over = between(m, 0, 150);
	}
	n.after = ticks(m->now - over);
	m->now += between(m, 20, 60);
	n.paired = ticks(m->now);
	n.paired_ns = m->now + between(m, 0, 10);
	m->now += 100;
	n.resumed = ticks(m->now);
	array_push(&m->notes, n);
	/* shorter than the threshold: in no detour */
	if (chance(m, 10)) {
		m->now += 500;
		tell(m, TRACE_ENTER, LEDGER_IRQ, 1);
		m->now += 60;
		tell(m, TRACE_LEAVE, LEDGER_IRQ, 1);
		m->now += 1000;
	}
}

/* ---- what is expected of it ---- */

static uint64_t overlap(const struct interval *i, const struct detour *d)
{
	uint64_t low = i->begin_ns > d->begin_ns ? i->begin_ns : d->begin_ns;
	uint64_t high = i->end_ns < d->end_ns ? i->end_ns : d->end_ns;
	return high > low ? high - low : 0;
}

static void expect_sample(struct noise_cpu *truth, enum noise_class class, const char *name,
			  uint64_t begin_ns, uint64_t ns)
{
	struct noise_source *s = noise_source_get(truth, class, name);
	noise_spread_add(&s->spread, ns);
	if (s->last_ns)
		noise_histogram_add(&s->intervals, noise_bucket_of(begin_ns - s->last_ns), 1,
				    begin_ns - s->last_ns);
	s->last_ns = begin_ns;
	truth->total.class_ns[class] += ns;
}

static void expect_detour(const struct machine *m, size_t index, const uint64_t *own,
			  struct noise_cpu *truth)
{
	const struct detour *d = &m->detours.items[index];
	uint64_t ns = d->end_ns - d->begin_ns, told = 0;
	char name[NOISE_COMBINED_SIZE] = "";
	const char *last = "";
	unsigned names = 0;
	for (size_t i = 0; i < m->occurrences.count; i++) {
		const struct occurrence *o = &m->occurrences.items[i];
		if (o->detour != index)
			continue;
		uint64_t at = o->begin_ns > d->begin_ns ? o->begin_ns : d->begin_ns;
		at = at < d->end_ns ? at : d->end_ns;
		expect_sample(truth, o->class, o->name, at, own[i]);
		told += own[i];
		if (!o->top || !strcmp(last, o->name) || names > 8)
			continue;
		last = names++ == 8 ? "…" : o->name;
		snprintf(name + strlen(name), sizeof name - strlen(name), "%s%s", *name ? "_" : "",
			 last);
	}
	enum noise_class rest = *name ? NOISE_DELIVERY : NOISE_UNEXPLAINED;
	if (ns > told)
		expect_sample(truth, rest, noise_class_names[rest], d->begin_ns, ns - told);
	struct noise_combination *x =
		noise_combination_get(truth, *name ? name : noise_class_names[rest]);
	noise_spread_add(&x->seen, ns);
	noise_spread_add(&x->told, told);
	truth->total.count++;
	truth->total.ns += ns;
	truth->total.overlap_ns += *name ? ns : 0;
}

static void expect_round(const struct machine *m, struct noise_cpu *truth)
{
	uint64_t *own = xcalloc(m->occurrences.count, sizeof *own);
	for (size_t i = 0; i < m->intervals.count; i++) {
		const struct interval *x = &m->intervals.items[i];
		size_t in = m->occurrences.items[x->occurrence].detour;
		own[x->occurrence] += overlap(x, &m->detours.items[in]);
	}
	for (size_t i = 0; i < m->detours.count; i++)
		expect_detour(m, i, own, truth);
	xfree(own);
}

static void assert_spread(const char *name, const struct noise_spread *has,
			  const struct noise_spread *truth)
{
	if (has->count != truth->count || has->ns != truth->ns || has->min_ns != truth->min_ns ||
	    has->max_ns != truth->max_ns)
		fail_msg("%s: %lu of %lu ns, %lu to %lu; but in truth %lu of %lu ns, %lu to %lu",
			 name, has->count, has->ns, has->min_ns, has->max_ns, truth->count,
			 truth->ns, truth->min_ns, truth->max_ns);
}

static void assert_truth(const struct noise_cpu *has, const struct noise_cpu *truth)
{
	assert_int_equal(has->sources.count, truth->sources.count);
	for (size_t i = 0; i < truth->sources.count; i++) {
		const struct noise_source *t = &truth->sources.items[i];
		const struct noise_source *s = scene_source(has, t->class, t->name);
		if (!s)
			fail_msg("%s is not there", t->name);
		assert_spread(t->name, &s->spread, &t->spread);
		for (unsigned k = 0; k < NOISE_BUCKETS; k++) {
			struct noise_bucket a = noise_histogram_at(&s->intervals, k),
					    b = noise_histogram_at(&t->intervals, k);
			assert_int_equal(a.count, b.count);
			assert_int_equal(a.ns, b.ns);
		}
	}
	assert_int_equal(has->combinations.count, truth->combinations.count);
	for (size_t i = 0; i < truth->combinations.count; i++) {
		const struct noise_combination *t = &truth->combinations.items[i];
		const struct noise_combination *x = scene_combination(has, t->name);
		if (!x)
			fail_msg("%s is not there", t->name);
		assert_spread(t->name, &x->seen, &t->seen);
		assert_spread(t->name, &x->told, &t->told);
	}
	assert_memory_equal(&has->total, &truth->total, sizeof truth->total);
}

static void add_names(struct trace *t)
{
	for (uint32_t i = 1; i <= 9; i++) {
		struct trace_name n = { .cause = LEDGER_IRQ, .source = i };
		snprintf(n.name, sizeof n.name, "irq%u", i);
		array_push(&t->names, n);
		n.cause = LEDGER_SOFTIRQ;
		snprintf(n.name, sizeof n.name, "s%u", i);
		array_push(&t->names, n);
		n.cause = TRACE_NAMES_WORK;
		snprintf(n.name, sizeof n.name, "w%u", i);
		array_push(&t->names, n);
	}
}

static void simulate_round(struct machine *m, uint32_t cpu, struct detour_round *r)
{
	m->innermost = NONE;
	m->occurrences.count = m->intervals.count = m->notes.count = 0;
	m->detours.count = m->trace.events.count = 0;
	r->begin_ns = m->now;
	for (size_t i = 0; i < DETOURS; i++)
		detour(m);
	m->now += 1000;
	detours_place(m->notes.items, m->notes.count, TICKS, ABSENT_NS, &m->detours);
	r->cpu = cpu;
	r->tid = LOOP;
	r->kernel = true;
	r->end_ns = m->now;
	r->detours = m->detours.items;
	r->detour_count = m->detours.count;
	r->events = m->trace.events.items;
	r->event_count = m->trace.events.count;
	r->names = m->trace.names.items;
	r->name_count = m->trace.names.count;
}

static void release(struct machine *m)
{
	array_release(&m->occurrences);
	array_release(&m->intervals);
	array_release(&m->notes);
	array_release(&m->detours);
	trace_release(&m->trace);
}

static void the_noise_of_a_simulated_machine_is_attributed_right(void **state)
{
	(void)state;
	const uint32_t cpus[CPUS] = { 0, 1 };
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct machine m[CPUS];
		struct noise n, truth;
		noise_init(&n, cpus, CPUS);
		noise_init(&truth, cpus, CPUS);
		struct jitter *j = jitter_new(&n);
		memset(m, 0, sizeof m);
		for (size_t i = 0; i < CPUS; i++) {
			m[i].random.state = seed * 1000 + i;
			m[i].now = 5000000000;
			add_names(&m[i].trace);
		}
		for (int round = 0; round < ROUNDS; round++) {
			struct detour_round rounds[CPUS] = { { 0 }, { 0 } };
			for (uint32_t i = 0; i < CPUS; i++) {
				simulate_round(&m[i], i, &rounds[i]);
				expect_round(&m[i], &truth.cpus.items[i]);
			}
			jitter_add_round(j, rounds, CPUS);
		}
		for (size_t i = 0; i < CPUS; i++) {
			assert_truth(&n.cpus.items[i], &truth.cpus.items[i]);
			assert_true(n.cpus.items[i].sources.count > 20);
			assert_true(n.cpus.items[i].outside > 100);
			assert_int_equal(n.cpus.items[i].outside_ns, n.cpus.items[i].outside * 60);
			release(&m[i]);
		}
		const char *wrong = noise_sums_wrong(&n);
		if (wrong)
			fail_msg("sums do not agree: %s", wrong);
		jitter_free(j);
		noise_release(&n);
		noise_release(&truth);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(
		the_noise_of_a_simulated_machine_is_attributed_right) };
	return cmocka_run_group_tests_name("jitter-simulation", tests, NULL, NULL);
}
