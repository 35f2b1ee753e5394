/* Studies of daemons in the lab: they come back as they were, their cutoffs come into force on
 * their machine, and what was edited by hand is not lost to them. */
#include <math.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lab-fixture.h"
#include "lab/lab.h"
#include "lab/sqlite.h"

#define SECOND UINT64_C(1000000000)

static uint32_t below(size_t limit)
{
	return (uint32_t)(random_number() % limit);
}

static int64_t add_run(struct lab *lab)
{
	struct run run = { .name = xstrdup("inc"), .command = xstrdup("tare inc") };
	ok(lab_add_run(lab, &run, &err));
	ok(lab_end_run(lab, run.id, RUN_COMPLETE, &err));
	int64_t id = run.id;
	run_release(&run);
	return id;
}

/* ---- things to store ---- */

static double random_real(void)
{
	return below(10) ? (double)random_number() / 7 : (double)NAN;
}

static void random_period(struct study_period *p)
{
	p->found = below(2);
	p->uncertain = below(2);
	p->samples = random_real();
	p->ns = random_value();
	p->error_ns = random_value();
}

static void random_run(struct study_run *r, size_t size)
{
	r->present = true;
	r->length_ns = random_value();
	r->samples = (uint32_t)random_number();
	r->cluster = (uint32_t)random_number();
	r->cluster_low_ns = random_value();
	r->cluster_high_ns = random_value();
	r->sigma_ns = random_real();
	r->sigma_kept_ns = random_real();
	r->mean_ns = random_real();
	r->mean_kept_ns = random_real();
	for (size_t i = 0; i < below(8); i++) {
		struct study_level l = { random_value(), random_value(), random_value() };
		l.neither = (uint32_t)random_number();
		l.first = below(100);
		l.second = UINT32_MAX;
		l.both = below(10);
		l.both_expected = random_real();
		l.shape = (enum study_shape)below(STUDY_SHAPES);
		array_push(&r->levels, l);
	}
	for (size_t i = 0; i < below(size + 1); i++)
		array_push(&r->l_samples, (uint32_t)random_number());
	for (size_t i = 0; i < below(size + 1); i++)
		array_push(&r->dropped, (uint32_t)i * 3);
}

static void random_seen(struct study_seen *s, size_t size)
{
	s->cluster_executions = (uint32_t)random_number();
	s->cluster_max_ns = random_value();
	s->cluster_sigma_ns = random_real();
	s->long_executions = below(3);
	s->long_least_ns = random_value();
	s->long_most_ns = random_value();
	for (size_t i = 0; i < below(size + 1); i++)
		array_push(&s->samples, (uint32_t)random_number());
	random_period(&s->period);
	s->has_cutoff = below(2);
	s->cutoff_ns = random_value();
}

static void add_cutoff(struct study *s, const char *daemon, uint64_t from, uint64_t end,
		       uint64_t cutoff)
{
	struct cutoff c = { .from_ns = from, .below_ns = end, .cutoff_ns = cutoff };
	snprintf(c.daemon, sizeof c.daemon, "%s", daemon);
	array_push(&s->cutoffs, c);
}

static void random_study(struct study *s, int64_t machine, size_t size)
{
	*s = (struct study){ .machine = machine, .made_at_ns = (int64_t)random_number() };
	s->source = (enum study_source)below(STUDY_SOURCES);
	for (int i = 0; i < STUDY_LENGTHS; i++)
		if (below(4))
			random_run(&s->runs[i], size);
	for (size_t i = 0; i < size / 10; i++) {
		struct study_daemon d = { 0 };
		random_name(d.name, sizeof d.name);
		for (int k = 0; k < STUDY_LENGTHS; k++)
			random_seen(&d.seen[k], size);
		random_period(&d.period);
		array_push(&s->daemons, d);
	}
	for (uint32_t i = 0; i < size / 20; i++) {
		char name[24];
		snprintf(name, sizeof name, "d\xc3\xa4mon%u", i / 2);
		/* two ranges each, the second without end */
		add_cutoff(s, name, i % 2 * 1000, i % 2 ? 0 : 1 + below(1000), below(9) * SECOND);
	}
}

static struct study one_cutoff(int64_t machine, const char *daemon, uint64_t from, uint64_t end)
{
	struct study s = { .machine = machine, .made_at_ns = 77, .source = STUDY_WATCH };
	add_cutoff(&s, daemon, from, end, 5);
	return s;
}

/* ---- comparing ---- */

static bool same_real(double a, double b)
{
	return (isnan(a) && isnan(b)) || a == b;
}

static void same_numbers(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count)
{
	assert_int_equal(a_count, b_count);
	if (a_count)
		assert_memory_equal(a, b, a_count * sizeof *a);
}

static void same_period(const struct study_period *a, const struct study_period *b)
{
	assert_true(a->found == b->found && a->uncertain == b->uncertain);
	assert_true(same_real(a->samples, b->samples));
	assert_true(a->ns == b->ns && a->error_ns == b->error_ns);
}

static void same_run(const struct study_run *a, const struct study_run *b)
{
	assert_int_equal(a->present, b->present);
	assert_int_equal(a->run, b->run);
	assert_int_equal(a->length_ns, b->length_ns);
	assert_true(a->samples == b->samples && a->cluster == b->cluster);
	assert_true(a->cluster_low_ns == b->cluster_low_ns);
	assert_true(a->cluster_high_ns == b->cluster_high_ns);
	assert_true(same_real(a->sigma_ns, b->sigma_ns) && same_real(a->mean_ns, b->mean_ns));
	assert_true(same_real(a->sigma_kept_ns, b->sigma_kept_ns));
	assert_true(same_real(a->mean_kept_ns, b->mean_kept_ns));
	assert_int_equal(a->levels.count, b->levels.count);
	for (size_t i = 0; i < a->levels.count; i++) {
		const struct study_level *p = &a->levels.items[i], *q = &b->levels.items[i];
		assert_true(p->low_ns == q->low_ns && p->high_ns == q->high_ns);
		assert_true(p->cut_ns == q->cut_ns && p->shape == q->shape);
		assert_true(p->neither == q->neither && p->first == q->first);
		assert_true(p->second == q->second && p->both == q->both);
		assert_true(same_real(p->both_expected, q->both_expected));
	}
	same_numbers(a->l_samples.items, a->l_samples.count, b->l_samples.items,
		     b->l_samples.count);
	same_numbers(a->dropped.items, a->dropped.count, b->dropped.items, b->dropped.count);
}

static void same_daemon(const struct study_daemon *a, const struct study_daemon *b)
{
	assert_string_equal(a->name, b->name);
	same_period(&a->period, &b->period);
	for (int i = 0; i < STUDY_LENGTHS; i++) {
		const struct study_seen *p = &a->seen[i], *q = &b->seen[i];
		assert_int_equal(p->cluster_executions, q->cluster_executions);
		assert_int_equal(p->cluster_max_ns, q->cluster_max_ns);
		assert_true(same_real(p->cluster_sigma_ns, q->cluster_sigma_ns));
		assert_int_equal(p->long_executions, q->long_executions);
		assert_int_equal(p->long_least_ns, q->long_least_ns);
		assert_int_equal(p->long_most_ns, q->long_most_ns);
		same_numbers(p->samples.items, p->samples.count, q->samples.items,
			     q->samples.count);
		same_period(&p->period, &q->period);
		assert_true(p->has_cutoff == q->has_cutoff && p->cutoff_ns == q->cutoff_ns);
	}
}

static void same_cutoff(const struct cutoff *a, const struct cutoff *b)
{
	assert_string_equal(a->daemon, b->daemon);
	assert_true(a->id == b->id && a->from_ns == b->from_ns && a->below_ns == b->below_ns);
	assert_true(a->cutoff_ns == b->cutoff_ns && a->edited == b->edited);
}

static void same_study(const struct study *a, const struct study *b)
{
	assert_true(a->id == b->id && a->source == b->source && a->machine == b->machine);
	assert_int_equal(a->made_at_ns, b->made_at_ns);
	for (int i = 0; i < STUDY_LENGTHS; i++)
		same_run(&a->runs[i], &b->runs[i]);
	assert_int_equal(a->daemons.count, b->daemons.count);
	for (size_t i = 0; i < a->daemons.count; i++)
		same_daemon(&a->daemons.items[i], &b->daemons.items[i]);
	assert_int_equal(a->cutoffs.count, b->cutoffs.count);
	for (size_t i = 0; i < a->cutoffs.count; i++)
		same_cutoff(&a->cutoffs.items[i], &b->cutoffs.items[i]);
}

static void comes_back(struct lab *lab, const struct machine *m, int64_t id,
		       const struct study *expected)
{
	struct study back = { 0 };
	bool found = false;
	ok(lab_get_study_of_daemons(lab, m, id, &found, &back, &err));
	assert_true(found);
	same_study(expected, &back);
	study_release(&back);
}

static bool exists(struct lab *lab, const struct machine *m, int64_t id)
{
	struct study back = { 0 };
	bool found = true;
	ok(lab_get_study_of_daemons(lab, m, id, &found, &back, &err));
	study_release(&back);
	return found;
}

/* The cutoffs in force as "daemon:from-below=cutoff", edited ones with a star. */
static void in_force(struct lab *lab, const struct machine *m, int64_t study, const char *expected)
{
	struct lab_cutoffs got = { 0 };
	struct strbuf text = { 0 };
	ok(lab_get_cutoffs(lab, m, &got, &err));
	for (size_t i = 0; i < got.cutoffs.count; i++) {
		const struct cutoff *c = &got.cutoffs.items[i];
		assert_true(c->id > 0);
		strbuf_printf(&text, "%s%s:%d-%d=%d%s", i ? " " : "", c->daemon, (int)c->from_ns,
			      (int)c->below_ns, (int)c->cutoff_ns, c->edited ? "*" : "");
	}
	assert_string_equal(strbuf_text(&text), expected);
	assert_int_equal(got.study, study);
	strbuf_release(&text);
	lab_cutoffs_release(&got);
}

static int put(struct lab *lab, const struct machine *m, int64_t *id, const char *daemon,
	       uint64_t from, uint64_t end, uint64_t cutoff)
{
	struct cutoff c = { .id = *id, .from_ns = from, .below_ns = end, .cutoff_ns = cutoff };
	snprintf(c.daemon, sizeof c.daemon, "%s", daemon);
	int failed = lab_put_cutoff(lab, m, &c, &err);
	assert_true(failed || c.edited);
	*id = c.id;
	return failed;
}

static void put_new(struct lab *lab, const struct machine *m, const char *daemon, uint64_t from,
		    uint64_t end, uint64_t cutoff)
{
	int64_t id = 0;
	ok(put(lab, m, &id, daemon, from, end, cutoff));
	assert_true(id > 0);
}

static void add_one(struct lab *lab, int64_t machine, const char *daemon, uint64_t from,
		    uint64_t end)
{
	struct study s = one_cutoff(machine, daemon, from, end);
	ok(lab_add_study_of_daemons(lab, &s, &err));
	study_release(&s);
}

/* ---- studies ---- */

static void studies_come_back(void **state)
{
	(void)state;
	static const size_t sizes[] = { 0, 10, 25, 100, 3000 };
	enum { COUNT = sizeof sizes / sizeof *sizes };
	struct study stored[COUNT];
	struct machine machines[COUNT];
	struct lab *lab = open_lab(LAB_WRITE);
	for (size_t i = 0; i < COUNT; i++) {
		char host[20];
		snprintf(host, sizeof host, "host%zu", i);
		random_study(&stored[i], add_host(lab, host, "6.1", &machines[i]), sizes[i]);
		for (int k = 0; k < STUDY_LENGTHS; k++)
			if (stored[i].runs[k].present && below(2))
				stored[i].runs[k].run = add_run(lab);
		ok(lab_add_study_of_daemons(lab, &stored[i], &err));
		assert_int_equal(stored[i].id, i + 1);
		for (size_t k = 0; k < stored[i].cutoffs.count; k++)
			assert_true(stored[i].cutoffs.items[k].id > 0);
	}
	lab_close(lab);
	lab = open_lab(LAB_READ);
	for (size_t i = 0; i < COUNT; i++) {
		comes_back(lab, &machines[i], 0, &stored[i]);
		comes_back(lab, NULL, stored[i].id, &stored[i]);
		study_release(&stored[i]);
		machine_release(&machines[i]);
	}
	assert_false(exists(lab, NULL, 99));
	lab_close(lab);
}

static void the_newest_of_a_machine(void **state)
{
	(void)state;
	struct machine here, updated, there, nowhere = { 0 };
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t one = add_host(lab, "here", "6.1", &here);
	int64_t two = add_host(lab, "here", "6.12", &updated); /* the same one, later */
	int64_t three = add_host(lab, "there", "6.1", &there);
	struct study a, b, c;
	random_study(&a, one, 40);
	random_study(&b, two, 40);
	random_study(&c, three, 40);
	ok(lab_add_study_of_daemons(lab, &a, &err));
	ok(lab_add_study_of_daemons(lab, &b, &err));
	ok(lab_add_study_of_daemons(lab, &c, &err));
	comes_back(lab, &here, 0, &b);
	comes_back(lab, &updated, 0, &b);
	comes_back(lab, &there, 0, &c);
	assert_false(exists(lab, &nowhere, 0));
	lab_study_list rows = { 0 };
	ok(lab_list_studies_of_daemons(lab, &rows, &err));
	assert_int_equal(rows.count, 3);
	assert_true(rows.items[0].id == c.id && rows.items[0].in_force);
	assert_true(rows.items[1].id == b.id && rows.items[1].in_force);
	assert_true(rows.items[2].id == a.id && !rows.items[2].in_force);
	const struct study *all[] = { &c, &b, &a };
	for (size_t i = 0; i < 3; i++) {
		const struct lab_study_row *row = &rows.items[i];
		uint32_t daemons = 0;
		for (size_t k = 0; k < all[i]->daemons.count; k++)
			daemons += all[i]->daemons.items[k].seen[0].long_executions ||
				   all[i]->daemons.items[k].seen[1].long_executions;
		assert_int_equal(row->daemons, daemons);
		assert_int_equal(row->cutoffs, all[i]->cutoffs.count);
		assert_true(row->machine == all[i]->machine && row->source == all[i]->source);
		assert_int_equal(row->made_at_ns, all[i]->made_at_ns);
		assert_int_equal(row->short_ns, all[i]->runs[STUDY_SHORT].length_ns);
		assert_int_equal(row->long_ns, all[i]->runs[STUDY_LONG].length_ns);
	}
	array_release(&rows);
	/* where the cutoffs come from: the machine as it was then */
	struct lab_cutoffs got = { 0 };
	ok(lab_get_cutoffs(lab, &here, &got, &err));
	assert_int_equal(got.made_at_ns, b.made_at_ns);
	assert_string_equal(machine_get(&got.machine, "kernel.release"), "6.12");
	assert_int_equal(got.cutoffs.count, b.cutoffs.count);
	for (size_t i = 0; i < got.cutoffs.count; i++)
		same_cutoff(&got.cutoffs.items[i], &b.cutoffs.items[i]);
	lab_cutoffs_release(&got);
	/* replaced: the older study has them still, out of force */
	for (size_t i = 0; i < a.cutoffs.count; i++)
		a.cutoffs.items[i].id = 0;
	comes_back(lab, NULL, a.id, &a);
	study_release(&a);
	study_release(&b);
	study_release(&c);
	lab_close(lab);
	machine_release(&here);
	machine_release(&updated);
	machine_release(&there);
}

static void a_removed_run_leaves_the_study(void **state)
{
	(void)state;
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	struct study s;
	random_study(&s, add_host(lab, "here", "6.1", &m), 50);
	for (int i = 0; i < STUDY_LENGTHS; i++) {
		s.runs[i].present = true;
		s.runs[i].run = add_run(lab);
	}
	ok(lab_add_study_of_daemons(lab, &s, &err));
	ok(lab_remove_run(lab, s.runs[STUDY_SHORT].run, &err));
	s.runs[STUDY_SHORT].run = 0;
	comes_back(lab, &m, 0, &s);
	assert_int_equal(query(lab, "SELECT short_run IS NULL AND long_run = 2 FROM studies"), 1);
	study_release(&s);
	lab_close(lab);
	machine_release(&m);
}

static const char *const tables[] = { "daemon_study",
				      "daemon_study_run",
				      "daemon_study_level",
				      "daemon_study_daemon",
				      "daemon_study_seen",
				      "daemon_study_cutoff",
				      "cutoff" };
#define TABLES (sizeof tables / sizeof *tables)

static int64_t rows_in(struct lab *lab, size_t table)
{
	char sql[80];
	snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", tables[table]);
	return query(lab, sql);
}

static void a_removed_study_takes_all_with_it(void **state)
{
	(void)state;
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	struct study s;
	do
		random_study(&s, add_host(lab, "here", "6.1", &m), 200);
	while (!s.runs[0].levels.count && (study_release(&s), machine_release(&m), true));
	ok(lab_add_study_of_daemons(lab, &s, &err));
	for (size_t i = 0; i < TABLES; i++)
		assert_true(rows_in(lab, i) > 0);
	assert_refused(lab_remove_study_of_daemons(lab, 7, &err), "no study 7");
	ok(lab_remove_study_of_daemons(lab, s.id, &err));
	for (size_t i = 0; i < TABLES; i++)
		assert_int_equal(rows_in(lab, i), 0);
	assert_refused(lab_remove_study_of_daemons(lab, s.id, &err), "no study 1");
	in_force(lab, &m, 0, "");
	int64_t before = s.id;
	ok(lab_add_study_of_daemons(lab, &s, &err));
	assert_true(s.id > before); /* numbers are not given twice */
	study_release(&s);
	lab_close(lab);
	machine_release(&m);
}

/* ---- cutoffs ---- */

static void a_study_replaces_cutoffs(void **state)
{
	(void)state;
	struct machine m, other;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t machine = add_host(lab, "here", "6.1", &m);
	add_host(lab, "there", "6.1", &other);
	put_new(lab, &other, "cron", 0, 0, 9);
	in_force(lab, &m, 0, "");
	add_one(lab, machine, "cron", 0, 10);
	add_one(lab, machine, "atd", 0, 10); /* cron's, not edited, goes */
	in_force(lab, &m, 2, "atd:0-10=5");
	put_new(lab, &m, "sshd", 0, 0, 7);    /* a daemon that no study knows */
	put_new(lab, &m, "cron", 0, 5, 1);    /* in its range */
	put_new(lab, &m, "cron", 50, 100, 2); /* and beside it */
	in_force(lab, &m, 2, "atd:0-10=5 cron:0-5=1* cron:50-100=2* sshd:0-0=7*");
	add_one(lab, machine, "cron", 4, 50);
	in_force(lab, &m, 3, "cron:4-50=5 cron:50-100=2* sshd:0-0=7*");
	/* a study that found nothing */
	struct study none = { .machine = machine };
	ok(lab_add_study_of_daemons(lab, &none, &err));
	in_force(lab, &m, 4, "cron:50-100=2* sshd:0-0=7*");
	in_force(lab, &other, 0, "cron:0-0=9*");
	/* removed again: the one before holds, but for what is edited */
	put_new(lab, &m, "cron", 0, 5, 8);
	ok(lab_remove_study_of_daemons(lab, 4, &err));
	in_force(lab, &m, 3, "cron:0-5=8* cron:50-100=2* sshd:0-0=7*");
	ok(lab_remove_study_of_daemons(lab, 1, &err)); /* not in force */
	in_force(lab, &m, 3, "cron:0-5=8* cron:50-100=2* sshd:0-0=7*");
	ok(lab_remove_study_of_daemons(lab, 3, &err));
	in_force(lab, &m, 2, "atd:0-10=5 cron:0-5=8* cron:50-100=2* sshd:0-0=7*");
	struct study expected = one_cutoff(machine, "atd", 0, 10);
	expected.id = 2;
	expected.cutoffs.items[0].id = query(lab, "SELECT id FROM cutoffs WHERE daemon = 'atd'");
	comes_back(lab, &m, 0, &expected); /* it knows which cutoff its own is now */
	study_release(&expected);
	ok(lab_remove_study_of_daemons(lab, 2, &err));
	in_force(lab, &m, 0, "cron:0-5=8* cron:50-100=2* sshd:0-0=7*");
	struct lab_cutoffs got = { 0 };
	ok(lab_get_cutoffs(lab, &m, &got, &err));
	assert_int_equal(got.made_at_ns, query(lab, "SELECT max(edited_at_ns) FROM cutoff"));
	assert_int_equal(got.machine.facts.count, 0);
	lab_cutoffs_release(&got);
	lab_close(lab);
	machine_release(&m);
	machine_release(&other);
}

static void cutoffs_are_edited(void **state)
{
	(void)state;
	struct machine m, other;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t machine = add_host(lab, "here", "6.1", &m);
	add_host(lab, "there", "6.1", &other);
	struct study s = one_cutoff(machine, "cron", 10, 20);
	add_cutoff(&s, "cron", 20, 0, 6);
	ok(lab_add_study_of_daemons(lab, &s, &err));
	int64_t id = s.cutoffs.items[0].id, second = s.cutoffs.items[1].id, none = 0;
	ok(put(lab, &m, &id, "cron", 5, 20, 99));
	assert_int_equal(id, s.cutoffs.items[0].id);
	in_force(lab, &m, s.id, "cron:5-20=99* cron:20-0=6");
	/* the study says what it found, still */
	s.cutoffs.items[0].id = 0;
	comes_back(lab, &m, 0, &s);
	study_release(&s);
	static const struct {
		uint64_t from, end;
	} overlapping[] = { { 0, 0 }, { 0, 6 }, { 19, 20 }, { 7, 8 }, { 30, 0 }, { 1000, 1001 } };
	for (size_t i = 0; i < sizeof overlapping / sizeof *overlapping; i++) {
		assert_refused(
			put(lab, &m, &none, "cron", overlapping[i].from, overlapping[i].end, 1),
			"overlaps");
		assert_true(*err.hint);
	}
	assert_refused(put(lab, &m, &id, "cron", 5, 21, 1), "overlaps");
	assert_refused(put(lab, &m, &none, "x", 5, 5, 1), "cannot be for programs");
	assert_refused(put(lab, &m, &none, "x", 6, 5, 1), "cannot be for programs");
	assert_refused(put(lab, &m, &none, "x", UINT64_MAX, 0, 1), "cannot be for programs");
	assert_refused(put(lab, &m, &none, "x", 0, UINT64_MAX, 1), "cannot be for programs");
	static const char *const names[] = { "", "0123456789abcdef", "a\nb", "\xff", "\x7f" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_refused(put(lab, &m, &none, names[i], 0, 5, 1), "cannot be called");
	int64_t unknown = 99, theirs = id;
	assert_refused(put(lab, &m, &unknown, "x", 0, 5, 1), "no cutoff 99");
	assert_refused(put(lab, &other, &theirs, "x", 0, 5, 1), "no cutoff");
	in_force(lab, &m, 1, "cron:5-20=99* cron:20-0=6");
	put_new(lab, &m, "cron", 0, 5, 0); /* up to where the next begins */
	put_new(lab, &m, "0123456789abcde", 7, 8, INT64_MAX >> 40);
	ok(put(lab, &m, &second, "\xc3\xa4 (b)", 0, 0, 3)); /* of another daemon now */
	in_force(lab, &m, 1,
		 "0123456789abcde:7-8=8388607* cron:0-5=0* cron:5-20=99* \xc3\xa4 (b):0-0=3*");
	assert_refused(lab_remove_cutoff(lab, &other, id, &err), "no cutoff");
	assert_refused(lab_remove_cutoff(lab, &m, 99, &err), "no cutoff 99");
	ok(lab_remove_cutoff(lab, &m, id, &err));
	put_new(lab, &other, "cron", 0, 0, 1);
	in_force(lab, &m, 1, "0123456789abcde:7-8=8388607* cron:0-5=0* \xc3\xa4 (b):0-0=3*");
	ok(lab_remove_cutoff(lab, &m, 0, &err));
	ok(lab_remove_cutoff(lab, &m, 0, &err)); /* none is no error */
	in_force(lab, &m, 1, "");
	in_force(lab, &other, 0, "cron:0-0=1*");
	lab_close(lab);
	lab = open_lab(LAB_READ);
	assert_refused(put(lab, &m, &none, "x", 0, 5, 1), "for reading");
	assert_refused(lab_remove_cutoff(lab, &m, 0, &err), "for reading");
	lab_close(lab);
	machine_release(&m);
	machine_release(&other);
}

static void impossible_studies_are_refused(void **state)
{
	(void)state;
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t machine = add_host(lab, "here", "6.1", &m);
	add_one(lab, machine, "cron", 0, 10);
	static const struct {
		const char *daemon;
		uint64_t from, end;
		const char *text;
	} cases[] = {
		{ "", 0, 0, "no daemon" },
		{ "atd", 5, 6, "overlaps" },
		{ "x", 6, 6, "cannot be for programs" },
		{ "x", 0, UINT64_MAX, "cannot be for programs" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct study s = one_cutoff(machine, "atd", 0, 0);
		add_cutoff(&s, cases[i].daemon, cases[i].from, cases[i].end, 1);
		assert_refused(lab_add_study_of_daemons(lab, &s, &err), cases[i].text);
		assert_true(s.id == 0 && s.cutoffs.items[0].id == 0);
		study_release(&s);
	}
	struct study s = one_cutoff(0, "atd", 0, 0);
	assert_refused(lab_add_study_of_daemons(lab, &s, &err), "no machine 0");
	s.machine = machine;
	s.runs[0].present = true;
	s.runs[0].run = 99; /* there is no such run */
	assert_int_equal(lab_add_study_of_daemons(lab, &s, &err), -1);
	assert_int_equal(s.id, 0);
	study_release(&s);
	in_force(lab, &m, 1, "cron:0-10=5"); /* and nothing changed */
	lab_close(lab);
	machine_release(&m);
}

/* ---- damage, no room, versions ---- */

static void damage_is_an_error(void **state)
{
	(void)state;
	static const char *const damages[] = {
		"UPDATE daemon_study SET source = 3",
		"UPDATE daemon_study_run SET length = 2 WHERE length = 1",
		"UPDATE daemon_study_run SET samples = -1",
		"UPDATE daemon_study_run SET l_samples = ''",
		"UPDATE daemon_study_run SET l_samples = '['",
		"UPDATE daemon_study_run SET l_samples = '[]]'",
		"UPDATE daemon_study_run SET l_samples = '[1'",
		"UPDATE daemon_study_run SET l_samples = '[1,]'",
		"UPDATE daemon_study_run SET l_samples = '[-1]'",
		"UPDATE daemon_study_run SET dropped = '[4294967296]'",
		"UPDATE daemon_study_run SET dropped = '[99999999999999999999]'",
		"UPDATE daemon_study_run SET dropped = '[1 2]'",
		"DELETE FROM daemon_study_run",
		"UPDATE daemon_study_level SET shape = 3",
		"UPDATE daemon_study_level SET shape = -1",
		"UPDATE daemon_study_level SET both = 1 << 40",
		"UPDATE daemon_study_level SET position = position + 20",
		"UPDATE daemon_study_level SET length = length + 7",
		"UPDATE daemon_study_daemon SET position = 5 WHERE position = 0",
		"DELETE FROM daemon_study_daemon WHERE position = 2",
		"DELETE FROM daemon_study_daemon",
		"DELETE FROM daemon_study_seen WHERE length = 1",
		"DELETE FROM daemon_study_seen",
		"DELETE FROM daemon_study_seen WHERE daemon = 2 AND length = 1",
		"UPDATE daemon_study_seen SET daemon = 3 WHERE daemon = 2",
		"UPDATE daemon_study_seen SET samples = 'x'",
		"UPDATE daemon_study_seen SET cluster_executions = -7",
		"UPDATE daemon_study_cutoff SET position = 9 WHERE position = 0",
	};
	static const char *const cutoffs[] = {
		"UPDATE cutoff SET daemon = ''",
		"UPDATE cutoff SET from_ns = -1",
		"UPDATE cutoff SET below_ns = 1, from_ns = 2",
		"UPDATE cutoff SET cutoff_ns = -1",
		"DELETE FROM machine",
	};
	size_t count = sizeof damages / sizeof *damages, more = sizeof cutoffs / sizeof *cutoffs;
	struct lab *lab = open_lab(LAB_WRITE);
	struct machine m;
	struct study s;
	random_study(&s, add_host(lab, "here", "6.1", &m), 30);
	for (int k = 0; k < STUDY_LENGTHS; k++) {
		s.runs[k].present = true;
		array_push(&s.runs[k].levels, ((struct study_level){ 0 }));
	}
	ok(lab_add_study_of_daemons(lab, &s, &err));
	sqlite3_exec(lab->db, "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = 1",
		     NULL, NULL, NULL);
	for (size_t i = 0; i < count + more; i++) {
		struct study back = { 0 };
		struct lab_cutoffs got = { 0 };
		bool found = false;
		const char *damage = i < count ? damages[i] : cutoffs[i - count];
		sqlite3_exec(lab->db, "BEGIN", NULL, NULL, NULL);
		if (sqlite3_exec(lab->db, damage, NULL, NULL, NULL))
			fail_msg("%s: %s", damage, sqlite3_errmsg(lab->db));
		int failed = i < count ? lab_get_study_of_daemons(lab, &m, 0, &found, &back, &err)
				       : lab_get_cutoffs(lab, &m, &got, &err);
		if (failed != -1)
			fail_msg("not seen: %s", damage);
		if (strncmp(damage, "DELETE FROM machine", 19) != 0)
			assert_non_null(strstr(err.text, "damaged"));
		assert_true(!found && !back.daemons.items && !got.cutoffs.items);
		sqlite3_exec(lab->db, "ROLLBACK", NULL, NULL, NULL);
	}
	comes_back(lab, &m, 0, &s);
	study_release(&s);
	lab_close(lab);
	machine_release(&m);
}

static void a_full_disk(void **state)
{
	(void)state;
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t machine = add_host(lab, "here", "6.1", &m);
	struct study last = { 0 }, next;
	char limit[60];
	int stored = 0;
	snprintf(limit, sizeof limit, "PRAGMA max_page_count = %d",
		 (int)query(lab, "PRAGMA page_count") + 60);
	assert_int_equal(sqlite3_exec(lab->db, limit, NULL, NULL, NULL), SQLITE_OK);
	for (; stored < 200; stored++) {
		random_study(&next, machine, 100);
		if (lab_add_study_of_daemons(lab, &next, &err))
			break;
		study_release(&last);
		last = next;
	}
	assert_in_range(stored, 1, 199);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_non_null(strstr(err.text, "what was stored before is kept"));
	comes_back(lab, &m, 0, &last); /* its cutoffs are in force, still */
	sqlite3_exec(lab->db, "PRAGMA max_page_count = 100000", NULL, NULL, NULL);
	ok(lab_add_study_of_daemons(lab, &next, &err)); /* with room it goes on */
	comes_back(lab, &m, 0, &next);
	study_release(&last);
	study_release(&next);
	lab_close(lab);
	machine_release(&m);
}

static void a_lab_before_studies_is_brought_up_to_date(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		execute_sql(lab_schema[i]);
	execute_sql(
		"PRAGMA application_id = 0x74617265; PRAGMA user_version = 4;"
		"INSERT INTO machine VALUES (1, 'f', CAST('system.host=here' AS BLOB), NULL, 5);"
		"INSERT INTO study VALUES (1, x'74', NULL, 5);"
		"INSERT INTO run (study, machine, status, backend, name, command, parameters,"
		" parameters_raw, started_at_ns, planned, owner_pid, owner_start, owner_boot,"
		" owner_space) VALUES (1, 1, 1, 2, x'6f', x'74', '{}', x'', 5, 1, 1, 1, '', '')");
	struct lab *lab = NULL;
	assert_int_equal(lab_open(&lab, path, LAB_READ, &err), -1);
	assert_non_null(strstr(err.text, "older schema version 4"));
	lab = open_lab(LAB_WRITE);
	assert_int_equal(query(lab, "PRAGMA user_version"), lab_schema_version);
	struct run old = { 0 };
	ok(lab_get_run(lab, 1, &old, &err));
	assert_true(old.study == 1 && old.machine == 1 && strcmp(old.name, "o") == 0);
	run_release(&old);
	struct machine m = { 0 };
	struct study s;
	int64_t watch = 0;
	ok(lab_get_machine(lab, 1, &m, &err));
	random_study(&s, 1, 60);
	s.runs[STUDY_LONG].present = true;
	s.runs[STUDY_LONG].run = 1;
	ok(lab_add_study_of_daemons(lab, &s, &err));
	comes_back(lab, &m, 0, &s);
	study_release(&s);
	ok(lab_begin_watch(lab, 1, &watch, &err));
	sqlite3_stmt *stmt = NULL;
	ok(lab_prepare(lab, &stmt, "PRAGMA foreign_key_check", "read", &err));
	assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
	sqlite3_finalize(stmt);
	lab_close(lab);
	machine_release(&m);
}

/* ---- views ---- */

static void views_say_the_same(void **state)
{
	(void)state;
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t machine = add_host(lab, "here", "6.1", &m);
	struct study s = { .source = STUDY_RUNS, .machine = machine };
	s.made_at_ns = INT64_C(1700000000500000000);
	struct study_run *r = &s.runs[STUDY_SHORT];
	*r = (struct study_run){ .present = true, .run = add_run(lab), .length_ns = 128 * SECOND };
	r->samples = 800;
	r->cluster = 780;
	r->sigma_ns = 9;
	r->sigma_kept_ns = 3;
	r->mean_ns = 100;
	r->mean_kept_ns = 90;
	for (uint32_t i = 0; i < 3; i++)
		array_push(&r->l_samples, i * 100);
	array_push(&r->dropped, 200);
	struct study_daemon d = { .name = "flush-9:0", .period = { true, false, 20, SECOND, 7 } };
	d.seen[STUDY_SHORT].long_executions = 2;
	d.seen[STUDY_SHORT].long_least_ns = 11;
	d.seen[STUDY_SHORT].has_cutoff = true;
	d.seen[STUDY_SHORT].cutoff_ns = 10;
	array_push(&d.seen[STUDY_SHORT].samples, 100);
	array_push(&d.seen[STUDY_SHORT].samples, 200);
	array_push(&s.daemons, d);
	array_push(&s.daemons, ((struct study_daemon){ .name = "cron" }));
	add_cutoff(&s, "flush-9:0", 0, 64 * SECOND, 10);
	add_cutoff(&s, "flush-9:0", 64 * SECOND, 0, 12);
	ok(lab_add_study_of_daemons(lab, &s, &err));
	put_new(lab, &m, "cron", 0, 0, 8);
	static const char *const truths[] = {
		"SELECT id = 1 AND source = 'runs' AND made_at = '2023-11-14T22:13:20.500Z' AND "
		"machine = 1 AND in_force = 1 AND short_run = 1 AND short_ns = 128000000000 AND "
		"short_samples = 800 AND short_cluster = 780 AND short_l_samples = 3 AND short_dropped "
		"= 1 AND short_sigma_ns = 9.0 AND short_sigma_kept_ns = 3.0 AND short_mean_ns = 100.0 "
		"AND short_mean_kept_ns = 90.0 AND daemons = 1 AND cutoffs = 2 FROM studies",
		"SELECT long_run IS NULL AND long_ns IS NULL AND long_l_samples IS NULL FROM studies",
		"SELECT count(*) = 2 FROM study_daemons WHERE study = 1",
		"SELECT long_running = 1 AND period_ns = 1000000000 AND period_error_ns = 7 AND "
		"period_uncertain = 0 AND short_cutoff_ns = 10 AND short_long_least_ns = 11 AND "
		"long_cutoff_ns IS NULL AND short_cluster_max_ns IS NULL FROM study_daemons WHERE "
		"daemon = 'flush-9:0'",
		"SELECT group_concat(j.value) = '100,200' FROM study_daemons d, "
		"json_each(d.short_samples) j",
		"SELECT long_running = 0 AND period_ns IS NULL AND short_samples = '[]' FROM "
		"study_daemons WHERE daemon = 'cron'",
		"SELECT count(*) = 3 AND sum(edited) = 1 AND count(study) = 2 AND count(below_ns) = 1 "
		"AND count(edited_at) = 1 FROM cutoffs WHERE identity = (SELECT identity FROM studies)",
		"SELECT cutoff_ns = 12 AND from_ns = 64000000000 FROM cutoffs WHERE below_ns IS NULL "
		"AND NOT edited",
	};
	for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
		if (query(lab, truths[i]) != 1)
			fail_msg("not true: %s", truths[i]);
	study_release(&s);
	lab_close(lab);
	machine_release(&m);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	seed = 20261118;
	const struct CMUnitTest tests[] = {
		TEST(studies_come_back),
		TEST(the_newest_of_a_machine),
		TEST(a_removed_run_leaves_the_study),
		TEST(a_removed_study_takes_all_with_it),
		TEST(a_study_replaces_cutoffs),
		TEST(cutoffs_are_edited),
		TEST(impossible_studies_are_refused),
		TEST(damage_is_an_error),
		TEST(a_full_disk),
		TEST(a_lab_before_studies_is_brought_up_to_date),
		TEST(views_say_the_same),
	};
	return cmocka_run_group_tests_name("lab-studies", tests, NULL, NULL);
}
