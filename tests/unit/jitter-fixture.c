#include "jitter-fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double normal(struct random *r)
{
	return sqrt(-2 * log(1 - random_unit(r))) * cos(6.283185307179586 * random_unit(r));
}

static uint64_t poisson(struct random *r, double mean)
{
	if (mean > 60) /* near enough */
		return (uint64_t)fmax(0, round(mean + sqrt(mean) * normal(r)));
	uint64_t count = 0;
	for (double left = exp(-mean), at = random_unit(r); at > left; at *= random_unit(r))
		count++;
	return count;
}

static void add_detour(struct noise_cpu *c, const struct made_source *s, uint64_t ns)
{
	struct noise_detours *of[] = { &c->total, &c->buckets[noise_bucket_of(ns)] };
	for (int i = 0; i < 2; i++) {
		of[i]->count++;
		of[i]->ns += ns;
		of[i]->class_ns[s->class] += ns;
		of[i]->overlap_ns += noise_class_strict(s->class) ? ns : 0;
	}
	struct noise_source *source = noise_source_get(c, s->class, s->name);
	noise_spread_add(&source->spread, ns);
	noise_histogram_add(&source->lengths, noise_bucket_of(ns), 1, ns);
	struct noise_combination *x = noise_combination_get(c, s->name);
	noise_spread_add(&x->seen, ns);
	noise_histogram_add(&x->seen_lengths, noise_bucket_of(ns), 1, ns);
}

void make_noise(struct noise *n, const struct made_run *run, const struct made_source *sources,
		size_t count, struct random *r)
{
	uint32_t cpus[16];
	uint64_t window_ns = (uint64_t)(run->part_s * 1e9);
	for (uint32_t i = 0; i < run->cpus; i++)
		cpus[i] = 2 * i + 1;
	noise_init(n, cpus, run->cpus);
	n->kernel = n->steal_told = n->realtime = true;
	n->begin_ns = 1000000000;
	n->elapsed_ns = window_ns * run->parts;
	for (uint32_t p = 0; p < run->parts; p++) {
		struct noise_part part = { .begin_ns = p * window_ns,
					   .window_ns = run->cpus * window_ns };
		for (uint32_t i = 0; i < run->cpus; i++) {
			struct noise_cpu *c = &n->cpus.items[i];
			c->rounds++;
			c->window_ns += window_ns;
			c->threshold_ns = 100;
			for (size_t k = 0; k < count; k++) {
				struct noise_share share = { .cpu = i };
				share.count = poisson(r, sources[k].rate * run->part_s);
				for (uint64_t o = 0; o < share.count; o++) {
					double ns = sources[k].mean_ns *
						    exp(sources[k].spread * normal(r));
					share.ns += (uint64_t)ns;
					add_detour(c, &sources[k], (uint64_t)ns);
				}
				if (!share.count)
					continue;
				share.source = (uint32_t)(noise_source_get(c, sources[k].class,
									   sources[k].name) -
							  c->sources.items);
				part.count += share.count;
				part.ns += share.ns;
				array_push(&part.shares, share);
			}
		}
		array_push(&n->parts, part);
	}
}

/* ---- the worst ---- */

#define AT 5000000000u
#define LOOP 4000
#define WORKER 77
#define DAEMON 900

static void put(struct trace *t, uint64_t at_ns, enum trace_kind kind, uint32_t a, uint32_t b)
{
	struct trace_event e = { .at_ns = at_ns, .kind = (uint8_t)kind, .cpu = 1, .a = a, .b = b };
	array_push(&t->events, e);
}

static void put_switch(struct trace *t, uint64_t at_ns, uint32_t from, int32_t to, const char *comm,
		       unsigned flags)
{
	struct trace_event e = { .at_ns = at_ns,
				 .kind = TRACE_SWITCH,
				 .cpu = 1,
				 .tid = to,
				 .tgid = to,
				 .a = from,
				 .b = from == LOOP ? LEDGER_QUEUED : LEDGER_SLEEP,
				 .flags = (uint8_t)flags };
	snprintf(e.comm, sizeof e.comm, "%s", comm);
	array_push(&t->events, e);
}

static struct noise_worst *add_worst(struct noise *n, uint64_t begin_ns, uint64_t ns,
				     const char *name)
{
	struct noise_worst w = { .cpu = 1, .begin_ns = begin_ns, .ns = ns };
	snprintf(w.name, sizeof w.name, "%s", name);
	w.trace.present = true;
	static const struct trace_name names[] = { { LEDGER_IRQ, 236, "timer" },
						   { LEDGER_SOFTIRQ, 7, "sched" },
						   { TRACE_NAMES_WORK, 3, "vmstat_update" } };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		array_push(&w.trace.names, names[i]);
	array_push(&n->worst, w);
	return &n->worst.items[n->worst.count - 1];
}

/* A worker's turn, then a daemon's: both are in the surroundings of both detours. */
static void put_story(struct trace *t, uint64_t from_ns, uint64_t to_ns)
{
	struct trace all = { 0 };
	put(&all, AT + 900, TRACE_ENTER, LEDGER_IRQ, 236);
	put(&all, AT + 2000, TRACE_NMI, 0, 400);
	put(&all, AT + 2900, TRACE_ENTER, LEDGER_SOFTIRQ, 7);
	put(&all, AT + 3000, TRACE_LEAVE, LEDGER_SOFTIRQ, 7);
	put(&all, AT + 3100, TRACE_LEAVE, LEDGER_IRQ, 236);
	put_switch(&all, AT + 4000, LOOP, WORKER, "kworker/1:2", TRACE_IS_KERNEL);
	put(&all, AT + 5000, TRACE_WORK_BEGIN, 3, 0);
	put(&all, AT + 9000, TRACE_WORK_END, 3, 0);
	put_switch(&all, AT + 10000, WORKER, LOOP, "tare", TRACE_IS_SELF);
	put(&all, AT + 11000, 200, 1, 2); /* of a later tare */
	put(&all, AT + 12000, TRACE_FAULT, 0, 0);
	put_switch(&all, AT + 20000, LOOP, DAEMON, "dummydaemon1", 0);
	put_switch(&all, AT + 2520000, DAEMON, LOOP, "tare", TRACE_IS_SELF);
	for (size_t i = 0; i < all.events.count; i++)
		if (all.events.items[i].at_ns >= from_ns && all.events.items[i].at_ns <= to_ns)
			array_push(&t->events, all.events.items[i]);
	trace_release(&all);
}

void make_worst(struct noise *n)
{
	struct noise_worst *w = add_worst(n, AT + 19000, 2502000, "dummydaemon1");
	w->class_ns[NOISE_THREAD] = 2500000;
	w->class_ns[NOISE_DELIVERY] = 2000;
	put_story(&w->trace, AT + 4000, AT + 3000000);
	w = add_worst(n, AT + 800, 9400, "timer_work:vmstat_update");
	w->class_ns[NOISE_IRQ] = 1700;
	w->class_ns[NOISE_NMI] = 400;
	w->class_ns[NOISE_SOFTIRQ] = 100;
	w->class_ns[NOISE_THREAD] = 2000;
	w->class_ns[NOISE_WORK] = 4000;
	w->class_ns[NOISE_UNEXPLAINED] = 1200;
	put_story(&w->trace, AT, AT + 20000);
	w->trace.lost = 2;
	w = add_worst(n, AT + 100000, 4000, "steal");
	w->cpu = 3;
	w->class_ns[NOISE_STEAL] = 4000;
}
