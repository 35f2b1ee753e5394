#include "protocol/sedona/sedona.h"

#include <math.h>
#include <string.h>

#include "protocol/sedona/private.h"

void sedona_run_release(struct sedona_run *r)
{
	array_release(&r->names);
	array_release(&r->samples);
	array_release(&r->executions);
	*r = (struct sedona_run){ 0 };
}

uint32_t sedona_name_index(struct sedona_run *r, const char *name)
{
	struct sedona_name n = { { 0 } };
	strncpy(n.text, name, sizeof n.text - 1);
	for (size_t i = 0; i < r->names.count; i++)
		if (strcmp(r->names.items[i].text, n.text) == 0)
			return (uint32_t)i;
	array_push(&r->names, n);
	return (uint32_t)(r->names.count - 1);
}

/* How long a process held the subject up; 0 without a ledger. */
static uint64_t delay_by(const struct ledger *l, const struct process *p)
{
	array_each(o, &l->others)
		if (o->pid == p->pid && !o->self)
			return o->delayed_ns + o->io_delayed_ns;
	return 0;
}

void sedona_run_of(const struct run *run, const struct execution *executions, size_t count,
		   struct sedona_run *out)
{
	*out = (struct sedona_run){ .run = run->id };
	uint64_t shell = run->shell_et_ns == ABSENT_NS ? 0 : run->shell_et_ns;
	for (size_t i = 0; i < count; i++) {
		const struct execution *x = &executions[i];
		if (x->warmup || !execution_succeeded(x, NULL, 0))
			continue;
		/* the scheduler's word, which has no interrupts in it that ET would lack */
		uint64_t own = x->pt_ns[GRADE_EXEC];
		struct sedona_sample s = { .number = x->number,
					   .at_ns = x->started_at_ns,
					   .et_ns = x->et_ns > shell ? x->et_ns - shell : 0,
					   .pt_ns = own == ABSENT_NS ? 0 : own,
					   .tells_delays = x->ledger.present && !x->ledger.lost,
					   .first = out->executions.count };
		array_each(p, &x->processes) {
			uint64_t pt;
			if (p->role == ROLE_DAEMON && process_pt_ns(p, &pt) && pt)
				array_push(
					&out->executions,
					(struct sedona_execution){ sedona_name_index(out, p->name),
								   pt, delay_by(&x->ledger, p) });
		}
		s.count = out->executions.count - s.first;
		array_push(&out->samples, s);
	}
}

/* ---- the whole study ---- */

#define LEAST_NS 100000 /* a tenth of the unit of the papers' data */

struct looked_at {
	bool *is_l;
	struct sedona_run steady;
	struct sedona_run l_samples;
	sedona_cluster_list cluster;
	struct sedona_seen_run seen;
};

/* Of the ET of those that are not left out. */
static void moments(const struct sedona_run *r, const bool *out, double *mean_ns, double *sigma_ns)
{
	double n = 0, mean = 0, squares = 0;
	for (size_t i = 0; i < r->samples.count; i++) {
		double et = (double)r->samples.items[i].et_ns, from = et - mean;
		if (out && out[i])
			continue;
		mean += from / ++n;
		squares += from * (et - mean);
	}
	*mean_ns = mean;
	*sigma_ns = n > 1 ? sqrt(squares / (n - 1)) : 0;
}

/* Steps 3 to 5. */
static void look_at(const struct sedona_run *run, struct study_run *out, struct looked_at *l)
{
	out->present = true;
	out->run = run->run;
	*l = (struct looked_at){ .is_l = xcalloc(run->samples.count + 1, sizeof *l->is_l) };
	bool steady = run->steadying == SEDONA_STEADY ||
		      (run->steadying == SEDONA_STEADY_IF_UNEVEN && sedona_is_uneven(run));
	out->steadied = steady && sedona_steady(run, &l->steady);
	const struct sedona_run *r = out->steadied ? &l->steady : run;
	sedona_split(r, l->is_l, out);
	if (out->steadied) {
		double mean;
		moments(r, NULL, &mean, &out->steady_sigma_ns);
		moments(run, NULL, &out->mean_ns, &out->sigma_ns);
	}
	sedona_cluster(r, l->is_l, &l->cluster);
	/* the L-samples alone, with the run's executions and names lent to them */
	l->l_samples = *r;
	memset(&l->l_samples.samples, 0, sizeof l->l_samples.samples);
	for (size_t i = 0; i < r->samples.count; i++)
		if (l->is_l[i])
			array_push(&l->l_samples.samples, r->samples.items[i]);
	double mean, sigma;
	moments(r, l->is_l, &mean, &sigma);
	uint64_t spacing = sedona_spacing(r);
	l->seen = (struct sedona_seen_run){
		.l_samples = &l->l_samples,
		.cluster = l->cluster.items,
		.cluster_count = l->cluster.count,
		.total = r->samples.count ? r->samples.items[r->samples.count - 1].number : 0,
		.length_ns = out->length_ns,
		/* without times, one sample follows the other */
		.spacing_ns = spacing ? spacing : (uint64_t)out->mean_ns,
		.cluster_high_ns = out->cluster_high_ns,
		.cluster_mean_ns = mean,
		.samples = r->samples.count,
		.least_ns = sigma < LEAST_NS ? (uint64_t)sigma : LEAST_NS,
	};
}

/* Which samples have an execution above its cutoff. */
static bool *above_cutoffs(const struct sedona_run *r, const struct cutoff *cutoffs, size_t count,
			   uint64_t length_ns)
{
	bool *above = xcalloc(r->samples.count + 1, sizeof *above);
	uint64_t *most = xcalloc(r->names.count + 1, sizeof *most); /* by name */
	for (size_t i = 0; i < r->names.count; i++) {
		const struct cutoff *c =
			cutoff_find(cutoffs, count, r->names.items[i].text, length_ns);
		most[i] = c ? c->cutoff_ns : UINT64_MAX;
	}
	for (size_t i = 0; i < r->samples.count; i++) {
		const struct sedona_sample *s = &r->samples.items[i];
		for (size_t k = s->first; k < s->first + s->count && !above[i]; k++) {
			const struct sedona_execution *x = &r->executions.items[k];
			above[i] = x->pt_ns > most[x->daemon];
		}
	}
	xfree(most);
	return above;
}

void sedona_drop(const struct sedona_run *r, const struct cutoff *cutoffs, size_t count,
		 struct study_run *out)
{
	bool *above = above_cutoffs(r, cutoffs, count, out->length_ns);
	struct sedona_run steady;
	for (size_t i = 0; i < r->samples.count; i++)
		if (above[i])
			array_push(&out->dropped, r->samples.items[i].number);
	moments(r, above, &out->mean_kept_ns, &out->sigma_kept_ns);
	if (out->steadied && sedona_steady(r, &steady)) {
		double mean;
		moments(&steady, above, &mean, &out->steady_sigma_kept_ns);
		array_release(&steady.samples);
	}
	xfree(above);
}

void sedona_study(const struct sedona_run *short_run, const struct sedona_run *long_run,
		  uint64_t unit_ns, struct study *out, bool *is_l[STUDY_LENGTHS])
{
	const struct sedona_run *runs[STUDY_LENGTHS] = { short_run, long_run };
	struct looked_at looked[STUDY_LENGTHS] = { 0 };
	for (int i = 0; i < STUDY_LENGTHS; i++)
		if (runs[i])
			look_at(runs[i], &out->runs[i], &looked[i]);
	sedona_cutoffs(&looked[STUDY_SHORT].seen, long_run ? &looked[STUDY_LONG].seen : NULL,
		       unit_ns, out);
	for (int i = 0; i < STUDY_LENGTHS; i++) {
		if (runs[i])
			sedona_drop(runs[i], out->cutoffs.items, out->cutoffs.count, &out->runs[i]);
		array_release(&looked[i].l_samples.samples);
		array_release(&looked[i].steady.samples);
		array_release(&looked[i].cluster);
		if (is_l)
			is_l[i] = looked[i].is_l;
		else
			xfree(looked[i].is_l);
	}
}
