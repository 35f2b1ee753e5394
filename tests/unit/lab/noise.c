/* The noise of a run in the lab: it comes back as it was, in place of what was stored before; the
 * views say the same; a lab from before it is brought up to date. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fixture.h"
#include "lab/lab.h"
#include "lab/sqlite.h"

static int64_t add_run_on(struct lab *lab, enum subject_kind kind, int64_t machine)
{
	struct run run = { .kind = kind, .name = xstrdup("x"), .machine = machine };
	ok(lab_add_run(lab, &run, &err));
	int64_t id = run.id;
	run_release(&run);
	return id;
}

static int64_t add_run(struct lab *lab)
{
	return add_run_on(lab, SUBJECT_CPU, 0);
}

/* ---- things to store ---- */

/* Even, so that neither it nor a sum is ABSENT_NS: a run never counted up to that. */
static uint64_t known_value(void)
{
	return random_value() & ~UINT64_C(1);
}

static struct noise_spread random_spread(void)
{
	double squares = (double)random_number() * 1e9 / 7;
	return (struct noise_spread){ known_value(), known_value(), known_value(), known_value(),
				      squares };
}

static void random_histogram(struct noise_histogram *h, uint64_t buckets)
{
	for (; buckets; buckets--)
		noise_histogram_add(h, (unsigned)(random_number() % NOISE_BUCKETS), known_value(),
				    known_value());
}

static void random_detours(struct noise_detours *d)
{
	d->count = known_value();
	d->ns = known_value();
	d->overlap_ns = known_value();
	for (size_t i = 0; i < NOISE_CLASSES; i++)
		d->class_ns[i] = known_value();
}

/* Names are any bytes, but each is there once. */
static void random_sources(struct noise_cpu *c, size_t sources, size_t combinations)
{
	char name[NOISE_COMBINED_SIZE];
	while (c->sources.count < sources) {
		memset(name, 0, sizeof name);
		random_name(name, sizeof name);
		enum noise_class class = (enum noise_class)(random_number() % NOISE_CLASSES);
		struct noise_source *s = noise_source_get(c, class, name);
		s->spread = random_spread();
		s->last_ns = known_value();
		random_histogram(&s->lengths, random_number() % 30);
		random_histogram(&s->intervals, random_number() % 30);
	}
	while (c->combinations.count < combinations) {
		memset(name, 0, sizeof name);
		random_name(name, sizeof name);
		struct noise_combination *x = noise_combination_get(c, name);
		x->seen = random_spread();
		x->told = random_spread();
		random_histogram(&x->seen_lengths, random_number() % 20);
		random_histogram(&x->told_lengths, random_number() % 20);
	}
}

static void random_cpu(struct noise_cpu *c, size_t sources, size_t combinations)
{
	c->rounds = (uint32_t)random_number();
	c->window_ns = known_value();
	c->unwatched_ns = known_value();
	c->turns = known_value();
	c->threshold_ns = known_value();
	c->step_ns = (double)random_number() / 3;
	c->turn_ns = 1.0 / 3;
	c->turn_p999_ns = 1e-300;
	random_detours(&c->total);
	for (size_t i = 0; i < NOISE_BUCKETS; i += 1 + random_number() % 20)
		random_detours(&c->buckets[i]);
	random_histogram(&c->master, 200);
	random_sources(c, sources, combinations);
	for (uint64_t i = random_number() % 4; i; i--) {
		struct noise_untold u = { .count = known_value() };
		random_name(u.name, sizeof u.name);
		array_push(&c->untold, u);
	}
	for (uint64_t i = random_number() % 9; i; i--) {
		double ns = (double)random_number() / 7;
		array_push(&c->speeds, (struct noise_speed_point){ known_value(),
								   known_value(),
								   { ns, ns / 3, 1e-300, 1.0 / 3 },
								   known_value(),
								   known_value() });
	}
	c->host = (struct noise_host){ 9, 7, 4e6 / 3, 0.1, 0.01, known_value(), known_value() };
	c->events = known_value();
	c->lost = known_value();
	c->outside = known_value();
	c->outside_ns = known_value();
	c->smi_count = random_number() % 2 ? ABSENT_NS : random_number() >> 1;
	c->smi_explained = c->smi_count;
}

static void random_trace(struct trace *t, size_t events, size_t names)
{
	t->present = true;
	t->lost = known_value();
	for (size_t i = 0; i < events; i++)
		array_push(&t->events, (struct trace_event){ .at_ns = known_value(), .cpu = 3 });
	for (size_t i = 0; i < names; i++)
		array_push(&t->names,
			   (struct trace_name){ .cause = i % 2 ? TRACE_NAMES_WORK : LEDGER_IRQ,
						.name = "vmstat_update" });
}

static void random_noise(struct noise *n, size_t sources, size_t combinations, size_t parts)
{
	noise_init(n, (const uint32_t[]){ 5, 2 }, 2);
	n->realtime = n->steal_told = true;
	n->kernel = random_number() % 2;
	n->priority = -3;
	n->begin_ns = known_value();
	n->elapsed_ns = known_value();
	n->part_rounds = 64;
	for (size_t i = 0; i < n->cpus.count; i++)
		random_cpu(&n->cpus.items[i], sources, combinations);
	for (size_t i = 0; i < parts; i++) {
		struct noise_part p = {
			known_value(), known_value(), known_value(), known_value(), { 0 }
		};
		for (uint64_t k = sources ? random_number() % 9 : 0; k; k--)
			array_push(&p.shares,
				   (struct noise_share){ random_number() % 2,
							 (uint32_t)(random_number() % sources),
							 known_value(), known_value() });
		array_push(&n->parts, p);
	}
	for (uint32_t i = 0; i < 4; i++) { /* one without a trace, one with an empty one */
		struct noise_worst w = { .cpu = i, .begin_ns = known_value() };
		w.ns = known_value();
		random_name(w.name, sizeof w.name);
		for (size_t k = 0; k < NOISE_CLASSES; k++)
			w.class_ns[k] = known_value();
		if (i)
			random_trace(&w.trace, (i - 1) * 50, i - 1);
		array_push(&n->worst, w);
	}
}

/* ---- the same? ---- */

static void same_histogram(const struct noise_histogram *a, const struct noise_histogram *b)
{
	for (unsigned i = 0; i < NOISE_BUCKETS; i++) {
		struct noise_bucket x = noise_histogram_at(a, i), y = noise_histogram_at(b, i);
		assert_true(x.count == y.count && x.ns == y.ns);
	}
}

static void same_spread(const struct noise_spread *a, const struct noise_spread *b)
{
	assert_memory_equal(a, b, sizeof *a);
}

static void same_cpu(const struct noise_cpu *a, struct noise_cpu *b)
{
	assert_memory_equal(a, b, offsetof(struct noise_cpu, buckets));
	assert_memory_equal(a->buckets, b->buckets, NOISE_BUCKETS * sizeof *a->buckets);
	same_histogram(&a->master, &b->master);
	assert_memory_equal(&a->host, &b->host, sizeof a->host);
	assert_true(a->events == b->events && a->lost == b->lost);
	assert_true(a->outside == b->outside && a->outside_ns == b->outside_ns);
	assert_true(a->smi_count == b->smi_count && a->smi_explained == b->smi_explained);
	assert_int_equal(a->sources.count, b->sources.count);
	for (size_t i = 0; i < a->sources.count; i++) {
		const struct noise_source *s = &a->sources.items[i], *t = &b->sources.items[i];
		assert_true(s->class == t->class && s->last_ns == t->last_ns);
		assert_string_equal(s->name, t->name);
		same_spread(&s->spread, &t->spread);
		same_histogram(&s->lengths, &t->lengths);
		same_histogram(&s->intervals, &t->intervals);
		assert_ptr_equal(noise_source_get(b, s->class, s->name), t); /* found by name */
	}
	assert_int_equal(a->combinations.count, b->combinations.count);
	for (size_t i = 0; i < a->combinations.count; i++) {
		const struct noise_combination *x = &a->combinations.items[i],
					       *y = &b->combinations.items[i];
		assert_string_equal(x->name, y->name);
		same_spread(&x->seen, &y->seen);
		same_spread(&x->told, &y->told);
		same_histogram(&x->seen_lengths, &y->seen_lengths);
		same_histogram(&x->told_lengths, &y->told_lengths);
		assert_ptr_equal(noise_combination_get(b, x->name), y);
	}
	assert_int_equal(a->untold.count, b->untold.count);
	for (size_t i = 0; i < a->untold.count; i++) {
		assert_string_equal(a->untold.items[i].name, b->untold.items[i].name);
		assert_true(a->untold.items[i].count == b->untold.items[i].count);
	}
	assert_int_equal(a->speeds.count, b->speeds.count);
	for (size_t i = 0; i < a->speeds.count; i++)
		assert_memory_equal(&a->speeds.items[i], &b->speeds.items[i],
				    sizeof a->speeds.items[i]);
}

/* Items without a gap between their members; none is no pointer to compare. */
#define same_items(a, b)                                                      \
	do {                                                                  \
		assert_int_equal((a)->count, (b)->count);                     \
		if ((a)->count)                                               \
			assert_memory_equal((a)->items, (b)->items,           \
					    (a)->count * sizeof *(a)->items); \
	} while (0)

static void same_noise(const struct noise *a, const struct noise *b)
{
	assert_true(a->realtime == b->realtime && a->kernel == b->kernel);
	assert_true(a->priority == b->priority && a->steal_told == b->steal_told);
	assert_true(a->begin_ns == b->begin_ns && a->elapsed_ns == b->elapsed_ns);
	assert_true(a->part_rounds == b->part_rounds && a->worst_max == b->worst_max);
	assert_int_equal(a->cpus.count, b->cpus.count);
	for (size_t i = 0; i < a->cpus.count; i++)
		same_cpu(&a->cpus.items[i], &b->cpus.items[i]);
	assert_int_equal(a->parts.count, b->parts.count);
	for (size_t i = 0; i < a->parts.count; i++) {
		const struct noise_part *p = &a->parts.items[i], *q = &b->parts.items[i];
		assert_memory_equal(p, q, offsetof(struct noise_part, shares));
		same_items(&p->shares, &q->shares);
	}
	assert_int_equal(a->worst.count, b->worst.count);
	for (size_t i = 0; i < a->worst.count; i++) {
		const struct noise_worst *w = &a->worst.items[i], *x = &b->worst.items[i];
		assert_true(w->cpu == x->cpu && w->begin_ns == x->begin_ns && w->ns == x->ns);
		assert_memory_equal(w->class_ns, x->class_ns, sizeof w->class_ns);
		assert_string_equal(w->name, x->name);
		assert_true(w->trace.present == x->trace.present);
		assert_true(w->trace.lost == x->trace.lost);
		same_items(&w->trace.events, &x->trace.events);
		same_items(&w->trace.names, &x->trace.names);
	}
}

static void comes_back(struct lab *lab, int64_t run, const struct noise *n)
{
	struct noise back = { 0 };
	ok(lab_get_noise(lab, run, &back, &err));
	same_noise(n, &back);
	noise_release(&back);
}

static void refused(int failed, const char *text, const char *hint)
{
	assert_int_equal(failed, -1);
	assert_int_equal(err.code, EXIT_USAGE);
	if (!strstr(err.text, text) || !strstr(err.hint, hint))
		fail_msg("'%s', not '%s'; hint '%s', not '%s'", err.text, text, err.hint, hint);
}

/* ---- round trips ---- */

static void noise_comes_back(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct noise stored[6];
	int64_t runs[6];
	for (size_t i = 0; i < 6; i++) { /* from next to nothing on */
		random_noise(&stored[i], i * i * 3, i * 11, i * 7);
		runs[i] = add_run(lab);
		ok(lab_put_noise(lab, runs[i], &stored[i], &err));
	}
	lab_close(lab);
	lab = open_lab(LAB_READ);
	for (size_t i = 0; i < 6; i++) {
		struct run run = { 0 };
		comes_back(lab, runs[i], &stored[i]);
		noise_release(&stored[i]);
		ok(lab_get_run(lab, runs[i], &run, &err));
		assert_int_equal(run.kind, SUBJECT_CPU);
		run_release(&run);
	}
	lab_close(lab);
}

static void a_list_says_what_was_lost(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = add_run(lab);
	struct noise n;
	run_list runs = { 0 };
	run_count_list counts = { 0 };
	uint64_t before, after;
	add_run(lab); /* nothing is stored of it */
	ok(lab_stamp_list(lab, true, &before, &err));
	random_noise(&n, 3, 3, 3);
	double lost = 0, watched = 0;
	for (size_t i = 0; i < n.cpus.count; i++) {
		struct noise_cpu *c = &n.cpus.items[i];
		c->window_ns = 1000000 * (i + 1);
		c->total.ns = 1000 * (i + 3);
		watched += (double)c->window_ns;
		lost += (double)c->total.ns;
	}
	ok(lab_put_noise(lab, run, &n, &err));
	ok(lab_stamp_list(lab, true, &after, &err));
	assert_true(before != after);
	ok(lab_list_runs(lab, NULL, 0, &runs, &counts, &err));
	assert_int_equal(counts.count, 2);
	assert_int_equal(counts.items[1].cpus, n.cpus.count);
	assert_true(counts.items[1].watched_ns == watched);
	assert_true(fabs(counts.items[1].lost_share - lost / watched) < 1e-12);
	assert_int_equal(counts.items[0].cpus, 0);
	assert_true(isnan(counts.items[0].lost_share) && isnan(counts.items[0].watched_ns));
	for (size_t i = 0; i < runs.count; i++)
		run_release(&runs.items[i]);
	array_release(&runs);
	array_release(&counts);
	noise_release(&n);
	lab_close(lab);
}

/* As many of everything as there may be, the others included. */
static void the_largest_comes_back(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct noise n;
	int64_t run = add_run(lab);
	random_noise(&n, NOISE_SOURCES_MAX, NOISE_COMBINATIONS_MAX, NOISE_PARTS_MAX);
	for (size_t i = 0; i < n.cpus.count; i++) {
		for (int class = 0; class < NOISE_CLASSES; class ++)
			noise_source_get(&n.cpus.items[i], (enum noise_class) class, "one more")
				->spread.count = 7;
		noise_combination_get(&n.cpus.items[i], "one more")->seen.count = 7;
		assert_int_equal(n.cpus.items[i].sources.count, NOISE_SOURCES_MAX + NOISE_CLASSES);
	}
	ok(lab_put_noise(lab, run, &n, &err));
	comes_back(lab, run, &n);
	noise_release(&n);
	lab_close(lab);
}

static const char *const tables[] = { "noise",	      "noise_cpu",	   "noise_bucket",
				      "noise_source", "noise_combination", "noise_vector",
				      "noise_part",   "noise_longest",	   "noise_share",
				      "noise_length", "noise_baseline",	   "noise_speed" };
#define TABLES (sizeof tables / sizeof *tables)

static int64_t rows_in(struct lab *lab, size_t table)
{
	char sql[80];
	snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", tables[table]);
	return query(lab, sql);
}

static void a_second_put_replaces_the_first(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct noise first, second, other;
	int64_t run = add_run(lab), beside[] = { add_run(lab), add_run(lab) };
	random_noise(&first, 20, 30, 12);
	random_noise(&second, 9, 40, 5);
	random_noise(&other, 15, 15, 15);
	ok(lab_put_noise(lab, beside[0], &other, &err));
	ok(lab_put_noise(lab, run, &first, &err));
	ok(lab_put_noise(lab, beside[1], &other, &err));
	ok(lab_put_noise(lab, run, &second, &err));
	comes_back(lab, run, &second);
	/* what cannot be stored leaves what was */
	array_push(&first.parts.items[0].shares, (struct noise_share){ .cpu = 1, .source = 20 });
	refused(lab_put_noise(lab, run, &first, &err), "beyond the bounds", "");
	refused(lab_put_noise(lab, 77, &second, &err), "no run 77", "tare list");
	comes_back(lab, run, &second);
	for (size_t i = 0; i < 2; i++)
		comes_back(lab, beside[i], &other);
	noise_release(&first);
	noise_release(&second);
	noise_release(&other);
	lab_close(lab);
}

static int64_t add_machine(struct lab *lab, const char *model, struct machine *m)
{
	int64_t id;
	char facts[100];
	snprintf(facts, sizeof facts, "cpu.model=%s\n", model);
	machine_from_text(m, facts);
	ok(lab_add_machine(lab, m, &id, &err));
	return id;
}

static void a_removed_run_takes_all_with_it(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct machine m = { 0 };
	int64_t machine = add_machine(lab, "a", &m), kept = add_run(lab),
		run = add_run_on(lab, SUBJECT_CPU, machine), before[TABLES];
	struct noise n;
	random_noise(&n, 20, 30, 12);
	array_push(&n.cpus.items[0].untold, (struct noise_untold){ .name = "HYP" });
	array_push(&n.cpus.items[0].speeds, (struct noise_speed_point){ .length_ns = 1 });
	ok(lab_put_noise(lab, kept, &n, &err));
	for (size_t i = 0; i < TABLES; i++)
		before[i] = rows_in(lab, i);
	ok(lab_put_noise(lab, run, &n, &err));
	ok(lab_set_baseline(lab, run, &err));
	for (size_t i = 0; i < TABLES; i++)
		assert_true(rows_in(lab, i) > before[i]);
	ok(lab_rename_run(lab, run, "quiet", &err));
	ok(lab_end_run(lab, run, RUN_COMPLETE, &err));
	ok(lab_end_run(lab, kept, RUN_COMPLETE, &err));
	ok(lab_remove_run(lab, run, &err));
	for (size_t i = 0; i < TABLES; i++)
		assert_int_equal(rows_in(lab, i), before[i]);
	comes_back(lab, kept, &n);
	ok(lab_remove_run(lab, kept, &err));
	for (size_t i = 0; i < TABLES; i++)
		assert_int_equal(rows_in(lab, i), 0);
	noise_release(&n);
	machine_release(&m);
	lab_close(lab);
}

/* ---- baselines ---- */

static int64_t baseline_of(struct lab *lab, const struct machine *m)
{
	int64_t run = -1;
	ok(lab_get_baseline(lab, m, &run, &err));
	return run;
}

static void a_machine_has_one_baseline(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct machine a = { 0 }, b = { 0 };
	int64_t on_a = add_machine(lab, "a", &a), on_b = add_machine(lab, "b", &b);
	int64_t first = add_run_on(lab, SUBJECT_CPU, on_a),
		second = add_run_on(lab, SUBJECT_CPU, on_a),
		other = add_run_on(lab, SUBJECT_CPU, on_b),
		command = add_run_on(lab, SUBJECT_COMMAND, on_a);
	assert_int_equal(baseline_of(lab, &a), 0);
	ok(lab_set_baseline(lab, first, &err));
	assert_int_equal(baseline_of(lab, &a), first);
	assert_int_equal(baseline_of(lab, &b), 0);
	ok(lab_set_baseline(lab, other, &err));
	ok(lab_set_baseline(lab, second, &err));
	ok(lab_set_baseline(lab, second, &err));
	assert_int_equal(baseline_of(lab, &a), second);
	assert_int_equal(baseline_of(lab, &b), other);
	refused(lab_set_baseline(lab, command, &err), "is not one of 'tare noise'", "tare show");
	refused(lab_set_baseline(lab, 99, &err), "no run 99", "");
	refused(lab_set_baseline(lab, add_run(lab), &err), "which machine", "");
	assert_int_equal(baseline_of(lab, &a), second);
	ok(lab_end_run(lab, second, RUN_COMPLETE, &err));
	ok(lab_remove_run(lab, second, &err));
	assert_int_equal(baseline_of(lab, &a), 0);
	assert_int_equal(baseline_of(lab, &b), other);
	machine_release(&a);
	machine_release(&b);
	lab_close(lab);
}

/* ---- what is refused ---- */

static void kinds_are_told_apart(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t command = add_run_on(lab, SUBJECT_COMMAND, 0), run = add_run(lab);
	struct noise n, none = { 0 };
	execution_list list = { 0 };
	random_noise(&n, 3, 3, 3);
	refused(lab_put_noise(lab, command, &n, &err), "run 1 is not one of 'tare noise'", "");
	refused(lab_get_noise(lab, command, &none, &err), "run 1 is not one of 'tare noise'",
		"'tare show 1' shows it");
	refused(lab_get_noise(lab, run, &none, &err), "nothing of run 2 was stored", "");
	refused(lab_get_noise(lab, 9, &none, &err), "no run 9", "");
	assert_null(none.cpus.items);
	ok(lab_put_noise(lab, run, &n, &err));
	ok(lab_get_executions(lab, run, LAB_THREADS, &list, &err));
	assert_int_equal(list.count, 0);
	assert_int_equal(query(lab, "SELECT group_concat(kind) = 'command,cpu' FROM runs"), 1);
	lab_close(lab);
	lab = open_lab(LAB_READ);
	refused(lab_put_noise(lab, run, &n, &err), "opened for reading", "");
	refused(lab_set_baseline(lab, run, &err), "opened for reading", "");
	comes_back(lab, run, &n);
	noise_release(&n);
	lab_close(lab);
}

static void damage_is_an_error(void **state)
{
	(void)state;
	static const char *const cases[] = {
		"UPDATE noise SET worst_max = -1",
		"UPDATE noise SET part_rounds = 1 << 40",
		"UPDATE noise SET priority = 1 << 40",
		"UPDATE noise_cpu SET cpu = -1",
		"UPDATE noise_cpu SET position = position + 1000",
		"UPDATE noise_cpu SET position = -1 WHERE position = 0",
		"DELETE FROM noise_cpu",
		"DELETE FROM noise_cpu WHERE position = 0",
		"UPDATE noise_bucket SET cpu = 2 WHERE cpu = 1",
		"UPDATE noise_bucket SET cpu = -1 WHERE cpu = 1",
		"INSERT INTO noise_bucket SELECT run, cpu, 1760, low_ns, high_ns, count, ns, 0, 0, 0, "
		"0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM noise_bucket LIMIT 1",
		"UPDATE noise_bucket SET bucket = -bucket",
		"UPDATE noise_bucket SET bucket = bucket + (1 << 40)",
		"UPDATE noise_source SET class = 12",
		"UPDATE noise_source SET class = -1",
		"UPDATE noise_source SET cpu = 2 WHERE cpu = 1",
		"UPDATE noise_source SET position = -1 WHERE position = 0",
		"UPDATE noise_source SET class = 0, name = 'twice'",
		"DELETE FROM noise_source WHERE position = 0",
		"DELETE FROM noise_source",
		"WITH RECURSIVE i(n) AS (SELECT 10 UNION ALL SELECT n + 1 FROM i WHERE n < 600) "
		"INSERT INTO noise_source SELECT 1, 1, n, 0, 'n' || n, 0, 0, 0, 0, 0, 0, 0 FROM i",
		"UPDATE noise_combination SET name = 'twice'",
		"UPDATE noise_combination SET position = 1000 WHERE position = 0",
		"DELETE FROM noise_combination",
		"WITH RECURSIVE i(n) AS (SELECT 8 UNION ALL SELECT n + 1 FROM i WHERE n < 600) INSERT "
		"INTO noise_combination SELECT 1, 0, n, 'n' || n, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 "
		"FROM i",
		"UPDATE noise_vector SET cpu = cpu + 7",
		"UPDATE noise_vector SET position = position + 1000",
		"UPDATE noise_speed SET cpu = cpu + 7",
		"UPDATE noise_speed SET position = position + 1000",
		"UPDATE noise_part SET position = position + 1000",
		"DELETE FROM noise_part",
		"WITH RECURSIVE i(n) AS (SELECT 6 UNION ALL SELECT n + 1 FROM i WHERE n < 200) INSERT "
		"INTO noise_part SELECT 1, n, 0, 0, 0, 0 FROM i",
		"UPDATE noise_share SET cpu = 2",
		"UPDATE noise_share SET cpu = -1",
		"UPDATE noise_share SET source = 10",
		"UPDATE noise_share SET source = 1 << 33",
		"UPDATE noise_share SET id = id + (1 << 30)",
		"UPDATE noise_share SET id = id + 20",
		"UPDATE noise_length SET id = id + (2 << 23)",	/* CPU */
		"UPDATE noise_length SET id = id + (10 << 11)", /* owner */
		"UPDATE noise_length SET id = id | 2047 WHERE id = (SELECT max(id) FROM noise_length)",
		"UPDATE noise_longest SET position = position + 1000",
		"UPDATE noise_longest SET cpu = -1",
		"UPDATE noise_longest SET version = 2 WHERE version",
		"UPDATE noise_longest SET events = events + 1",
		"UPDATE noise_longest SET events = -1",
		"UPDATE noise_longest SET names = 1 << 62",
		"UPDATE noise_longest SET data = NULL",
		"UPDATE noise_longest SET data = substr(data, 2)",
	};
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = add_run(lab);
	struct noise n;
	random_noise(&n, 10, 8, 6);
	array_push(&n.cpus.items[0].untold, (struct noise_untold){ .name = "HYP" });
	array_push(&n.parts.items[0].shares, (struct noise_share){ .cpu = 1, .source = 9 });
	ok(lab_put_noise(lab, run, &n, &err));
	lab_close(lab);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char copy[160], back[160];
		snprintf(copy, sizeof copy, "VACUUM INTO '%s/copy.db'", directory);
		snprintf(back, sizeof back, "%s/copy.db", directory);
		execute_sql(copy);
		execute_sql(cases[i]);
		lab = open_lab(LAB_READ);
		struct noise read = { 0 };
		err = (struct error)ERROR_INIT;
		if (!lab_get_noise(lab, run, &read, &err))
			fail_msg("%s: not noticed", cases[i]);
		if (!strstr(err.text, "is damaged"))
			fail_msg("%s: %s", cases[i], err.text);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_null(read.cpus.items);
		lab_close(lab);
		assert_int_equal(rename(back, path), 0);
	}
	lab = open_lab(LAB_READ);
	comes_back(lab, run, &n);
	noise_release(&n);
	lab_close(lab);
}

/* ---- versions ---- */

static void an_older_lab_is_brought_up_to_date(void **state)
{
	(void)state;
	execute_sql(lab_schema[0]);
	execute_sql(lab_schema[1]);
	execute_sql("PRAGMA application_id = 0x74617265; PRAGMA user_version = 2;"
		    "INSERT INTO run (status, backend, name, command, parameters, parameters_raw,"
		    " started_at_ns, planned, owner_pid, owner_start, owner_boot, owner_space)"
		    " VALUES (1, 2, x'6f', x'74', '{}', x'', 5, 1, 1, 1, '', '')");
	struct lab *lab = NULL;
	assert_int_equal(lab_open(&lab, path, LAB_READ, &err), -1);
	assert_non_null(strstr(err.text, "older schema version 2"));
	lab = open_lab(LAB_WRITE);
	assert_int_equal(query(lab, "PRAGMA user_version"), lab_schema_version);
	struct run old = { .kind = SUBJECT_CPU };
	ok(lab_get_run(lab, 1, &old, &err));
	assert_int_equal(old.kind, SUBJECT_COMMAND);
	run_release(&old);
	assert_int_equal(query(lab, "SELECT name = 'o' AND kind = 'command' FROM runs"), 1);
	struct noise n;
	random_noise(&n, 5, 5, 5);
	int64_t run = add_run(lab);
	ok(lab_put_noise(lab, run, &n, &err));
	comes_back(lab, run, &n);
	noise_release(&n);
	lab_close(lab);
}

/* A reader must not change it. */
static void a_lab_that_knows_no_smis_is_read_as_it_is(void **state)
{
	(void)state;
	struct noise n;
	struct lab *lab = open_lab(LAB_WRITE);
	random_noise(&n, 5, 5, 5);
	array_each(c, &n.cpus) {
		c->smi_count = c->smi_explained = ABSENT_NS;
		c->total.class_ns[NOISE_SMI] = 0;
		for (unsigned i = 0; i < NOISE_BUCKETS; i++)
			c->buckets[i].class_ns[NOISE_SMI] = 0;
	}
	array_each(w, &n.worst)
		w->class_ns[NOISE_SMI] = 0;
	int64_t run = add_run(lab);
	ok(lab_put_noise(lab, run, &n, &err));
	lab_close(lab);
	execute_sql("DROP VIEW noise_runs; DROP VIEW noise_cpus; DROP VIEW noise_histogram;"
		    "DROP VIEW noise_worst;"
		    "ALTER TABLE noise_cpu DROP COLUMN smi_ns;"
		    "ALTER TABLE noise_cpu DROP COLUMN smi_count;"
		    "ALTER TABLE noise_cpu DROP COLUMN smi_explained;"
		    "ALTER TABLE noise_bucket DROP COLUMN smi_ns;"
		    "ALTER TABLE noise_longest DROP COLUMN smi_ns; PRAGMA user_version = 12");
	lab = open_lab(LAB_READ);
	comes_back(lab, run, &n);
	assert_int_equal(query(lab, "PRAGMA user_version"), 12);
	lab_close(lab);
	noise_release(&n);
}

static bool note_class(void *context, int columns, const char *const *names,
		       const char *const *values, const enum lab_type *types)
{
	(void)names;
	(void)types;
	int *next = context;
	enum noise_class class = (enum noise_class) * next;
	assert_int_equal(columns, 3);
	assert_int_equal(atoi(values[0]), (*next)++);
	assert_string_equal(values[1], noise_class_names[class]);
	assert_int_equal(atoi(values[2]), noise_class_strict(class));
	return true;
}

static void classes_are_those_of_the_record(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int classes = 0;
	ok(lab_sql(lab, "SELECT id, name, strict FROM noise_class ORDER BY id", note_class,
		   &classes, &err));
	assert_int_equal(classes, NOISE_CLASSES);
	lab_close(lab);
}

/* ---- views ---- */

/* Three detours of 1, 2 and 6 us on the second of two CPUs; all but 1 us of it told. */
static void sound_noise(struct noise *n)
{
	static const uint64_t lengths[] = { 1000, 2000, 6000 };
	noise_init(n, (const uint32_t[]){ 4, 9 }, 2);
	n->kernel = true;
	n->begin_ns = 500;
	struct noise_cpu *c = &n->cpus.items[1];
	struct noise_source *timer, *rest;
	rest = noise_source_get(c, NOISE_UNEXPLAINED, "unexplained");
	noise_spread_add(&rest->spread, 1000);
	timer = noise_source_get(c, NOISE_IRQ, "timer");
	struct noise_combination *x = noise_combination_get(c, "timer_softirq:sched");
	struct noise_part p = { .window_ns = 2000000000, .count = 3, .ns = 9000 };
	array_push(&p.shares,
		   (struct noise_share){ .cpu = 1, .source = 1, .count = 2, .ns = 8000 });
	array_push(&n->parts, p);
	n->cpus.items[0].window_ns = c->window_ns = 1000000000;
	for (size_t i = 0; i < 3; i++) {
		uint64_t told = lengths[i] - (i == 0 ? 1000 : 0);
		unsigned bucket = noise_bucket_of(lengths[i]);
		struct noise_detours d = { .count = 1, .ns = lengths[i], .overlap_ns = told };
		d.class_ns[NOISE_IRQ] = told;
		d.class_ns[NOISE_UNEXPLAINED] = lengths[i] - told;
		c->buckets[bucket] = d;
		c->total.count++;
		c->total.ns += lengths[i];
		c->total.class_ns[NOISE_IRQ] += told;
		c->total.class_ns[NOISE_UNEXPLAINED] += lengths[i] - told;
		noise_spread_add(&x->seen, lengths[i]);
		if (!told)
			continue;
		noise_spread_add(&timer->spread, told);
		noise_histogram_add(&timer->lengths, bucket, 1, told);
		noise_histogram_add(&c->master, bucket, 1, told);
		noise_spread_add(&x->told, told);
	}
	struct noise_worst w = { .cpu = 9, .begin_ns = 700, .ns = 6000, .name = "timer" };
	w.class_ns[NOISE_IRQ] = 6000;
	array_push(&n->worst, w);
	array_push(&c->untold, (struct noise_untold){ "HYP: Hypervisor", 3 });
}

static void views_say_the_same(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct noise n, other;
	struct machine m = { 0 };
	int64_t run = add_run_on(lab, SUBJECT_CPU, add_machine(lab, "a", &m)),
		beside = add_run(lab);
	sound_noise(&n);
	sound_noise(&other);
	other.kernel = false;
	ok(lab_put_noise(lab, run, &n, &err));
	ok(lab_put_noise(lab, beside, &other, &err));
	ok(lab_set_baseline(lab, run, &err));
	static const char *const truths[] = {
		"SELECT count(*) = 2 AND sum(baseline) = 1 AND min(cpus) = 2 FROM noise_runs",
		"SELECT baseline AND count = 3 AND ns = 9000 AND window_ns = 2000000000 AND "
		"abs(share - 4.5e-6) < 1e-12 AND strict_ns = 8000 AND irq_ns = 8000 AND "
		"unexplained_ns = 1000 AND steal_ns IS NULL AND priority IS NULL AND name = 'x' "
		"FROM noise_runs WHERE run = 1",
		"SELECT strict_ns IS NULL AND irq_ns IS NULL AND unexplained_ns = 1000 FROM "
		"noise_runs WHERE run = 2",
		"SELECT group_concat(cpu) = '4,9' AND sum(count) = 3 AND max(per_second) = 3.0 AND "
		"min(host_period_ns) IS NULL FROM noise_cpus WHERE run = 1",
		"SELECT class = 'irq' AND strict AND count = 2 AND mean_ns = 4000.0 AND sigma_ns = "
		"2000.0 AND min_ns = 2000 AND max_ns = 6000 AND abs(share - 8.0 / 9) < 1e-9 AND "
		"per_second = 2.0 FROM noise_sources WHERE run = 1 AND cpu = 9 AND name = 'timer'",
		"SELECT sum(ns) = 9000 AND sum(share) > 0.999 AND sum(strict) = 1 FROM "
		"noise_sources WHERE run = 1",
		"SELECT name = 'timer_softirq:sched' AND count = 3 AND mean_ns = 3000.0 AND share = "
		"1.0 AND told_ns = 8000 AND told_mean_ns = 4000.0 AND told_sigma_ns = 2000.0 FROM "
		"noise_combinations WHERE run = 1",
		"SELECT count(*) = 3 AND sum(ns) = 9000 AND sum(strict_ns) = 8000 AND "
		"sum(overlap_ns) = 8000 AND sum(master_ns) = 8000 AND sum(master_count) = 2 FROM "
		"noise_histogram WHERE run = 1 AND cpu = 9",
		"SELECT count(*) = 1 FROM noise_histogram WHERE run = 1 AND bucket_low_ns = 6000 AND "
		"bucket_high_ns = 6100 AND ns = 6000",
		"SELECT count(*) = 2 AND sum(kind = 'source' AND name = 'timer' AND class = 'irq') = 2 "
		"AND sum(ns) = 8000 FROM noise_lengths WHERE run = 1 AND ns >= bucket_low_ns AND "
		"ns < bucket_high_ns",
		"SELECT part = 1 AND cpu = 9 AND class = 'irq' AND name = 'timer' AND count = 2 AND "
		"per_second = 2.0 AND abs(share - 8e-6) < 1e-12 FROM noise_parts WHERE run = 1",
		"SELECT rank = 1 AND cpu = 9 AND begin_ns = 200 AND ns = 6000 AND strict_ns = 6000 AND "
		"events IS NULL FROM noise_worst WHERE run = 1",
		"SELECT cpu = 9 AND name = 'HYP: Hypervisor' AND count = 3 FROM noise_untold WHERE "
		"run = 1",
		"SELECT count(*) = 2 AND sum(kind = 'cpu' AND executions = 0) = 2 FROM runs",
	};
	for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
		if (query(lab, truths[i]) != 1)
			fail_msg("not true: %s", truths[i]);
	noise_release(&n);
	noise_release(&other);
	machine_release(&m);
	lab_close(lab);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	seed = 20261115;
	const struct CMUnitTest tests[] = {
		TEST(noise_comes_back),
		TEST(a_list_says_what_was_lost),
		TEST(the_largest_comes_back),
		TEST(a_second_put_replaces_the_first),
		TEST(a_removed_run_takes_all_with_it),
		TEST(a_machine_has_one_baseline),
		TEST(kinds_are_told_apart),
		TEST(damage_is_an_error),
		TEST(an_older_lab_is_brought_up_to_date),
		TEST(a_lab_that_knows_no_smis_is_read_as_it_is),
		TEST(classes_are_those_of_the_record),
		TEST(views_say_the_same),
	};
	return cmocka_run_group_tests_name("lab-noise", tests, NULL, NULL);
}
