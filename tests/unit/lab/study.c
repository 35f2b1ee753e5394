#include "study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "fixture.h"

static uint32_t below(size_t limit)
{
	return (uint32_t)(random_number() % limit);
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
	r->cluster_low_ns = random_value() >> 1;  /* never absent */
	r->cluster_high_ns = random_value() >> 1; /* never absent */
	r->sigma_ns = random_real();
	r->sigma_kept_ns = random_real();
	r->mean_ns = random_real();
	r->mean_kept_ns = random_real();
	r->steadied = random_real() > 0;
	r->steady_sigma_ns = random_real();
	r->steady_sigma_kept_ns = random_real();
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
	s->cluster_max_ns = random_value() >> 1; /* never absent */
	s->cluster_sigma_ns = random_real();
	s->long_executions = below(3);
	s->long_least_ns = random_value() >> 1; /* never absent */
	s->long_most_ns = random_value() >> 1;	/* never absent */
	for (size_t i = 0; i < below(size + 1); i++)
		array_push(&s->samples, (uint32_t)random_number());
	random_period(&s->period);
	s->has_cutoff = below(2);
	s->cutoff_ns = random_value();
}

void add_cutoff(struct study *s, const char *daemon, uint64_t from, uint64_t end, uint64_t cutoff)
{
	struct cutoff c = { .from_ns = from, .below_ns = end, .cutoff_ns = cutoff };
	snprintf(c.daemon, sizeof c.daemon, "%s", daemon);
	array_push(&s->cutoffs, c);
}

void random_study(struct study *s, int64_t machine, size_t size)
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
		add_cutoff(s, name, i % 2 * 1000, i % 2 ? 0 : 1 + below(1000),
			   below(9) * UINT64_C(1000000000));
	}
}

struct study one_cutoff(int64_t machine, const char *daemon, uint64_t from, uint64_t end)
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
	assert_int_equal(a->steadied, b->steadied);
	assert_true(same_real(a->steady_sigma_ns, b->steady_sigma_ns));
	assert_true(same_real(a->steady_sigma_kept_ns, b->steady_sigma_kept_ns));
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

void same_cutoff(const struct cutoff *a, const struct cutoff *b)
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

void comes_back(struct lab *lab, const struct machine *m, int64_t id, const struct study *expected)
{
	struct study back = { 0 };
	bool found = false;
	ok(lab_get_study(lab, m, id, &found, &back, &err));
	assert_true(found);
	same_study(expected, &back);
	study_release(&back);
}

void in_force(struct lab *lab, const struct machine *m, int64_t study, const char *expected)
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

int put_cutoff(struct lab *lab, const struct machine *m, int64_t *id, const char *daemon,
	       uint64_t from, uint64_t end, uint64_t cutoff)
{
	struct cutoff c = { .id = *id, .from_ns = from, .below_ns = end, .cutoff_ns = cutoff };
	snprintf(c.daemon, sizeof c.daemon, "%s", daemon);
	int failed = lab_put_cutoff(lab, m, &c, &err);
	assert_true(failed || c.edited);
	*id = c.id;
	return failed;
}

void put_new(struct lab *lab, const struct machine *m, const char *daemon, uint64_t from,
	     uint64_t end, uint64_t cutoff)
{
	int64_t id = 0;
	ok(put_cutoff(lab, m, &id, daemon, from, end, cutoff));
	assert_true(id > 0);
}
