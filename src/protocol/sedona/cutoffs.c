/* Steps 5 to 9: from the cluster and the L-samples of two runs to the cutoffs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/sedona/private.h"

#define SIGMAS 2
#define PERIOD_SHARE 0.05 /* of the period: what is shorter than that rarely meets the daemon */
#define NS_PER_S 1e9
/* Of what an L-sample took too long: what a daemon must have to do with it. */
#define SHARE 0.05     /* if it is known who held the program up */
#define MAIN_SHARE 0.5 /* if not, and by itself; */
#define PART_SHARE 0.2 /* or with some evidence that it comes with slow samples; */
#define PART_ALPHA 0.05
#define ALPHA 0.01 /* or with strong evidence: both of all daemons together */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct sedona_cluster_row *)a)->name,
		      ((const struct sedona_cluster_row *)b)->name);
}

void sedona_cluster(const struct sedona_run *r, const bool *is_l, sedona_cluster_list *out)
{
	size_t names = r->names.count;
	struct sedona_cluster_row *rows = xcalloc(names + 1, sizeof *rows);
	double *mean = xcalloc(names + 1, sizeof *mean),
	       *squares = xcalloc(names + 1, sizeof *squares);
	for (size_t i = 0; i < r->samples.count; i++) {
		const struct sedona_sample *s = &r->samples.items[i];
		for (size_t k = s->first; !is_l[i] && k < s->first + s->count; k++) {
			const struct sedona_execution *x = &r->executions.items[k];
			struct sedona_cluster_row *row = &rows[x->daemon];
			double pt = (double)x->pt_ns, from = pt - mean[x->daemon];
			mean[x->daemon] += from / ++row->executions;
			squares[x->daemon] += from * (pt - mean[x->daemon]);
			if (x->pt_ns > row->max_ns)
				row->max_ns = x->pt_ns;
		}
	}
	for (size_t d = 0; d < names; d++) {
		if (!rows[d].executions)
			continue;
		memcpy(rows[d].name, r->names.items[d].text, sizeof rows[d].name);
		if (rows[d].executions > 1)
			rows[d].sigma_ns = sqrt(squares[d] / (rows[d].executions - 1));
		array_push(out, rows[d]);
	}
	array_sort(out, by_name);
	xfree(rows);
	xfree(mean);
	xfree(squares);
}

static struct study_daemon *daemon_of(struct study *out, const char *name)
{
	for (size_t i = 0; i < out->daemons.count; i++)
		if (strcmp(out->daemons.items[i].name, name) == 0)
			return &out->daemons.items[i];
	struct study_daemon d = { 0 };
	strncpy(d.name, name, sizeof d.name - 1);
	array_push(&out->daemons, d);
	return &out->daemons.items[out->daemons.count - 1];
}

static uint64_t rounded(double ns, uint64_t unit_ns)
{
	double unit = unit_ns ? (double)unit_ns : 1;
	return (uint64_t)(floor(ns / unit + 0.5) * unit);
}

static int by_number(const void *key, const void *item)
{
	const struct sedona_sample *sample = item;
	return ORDER(*(const uint32_t *)key, sample->number);
}

/* Step 7 for one daemon. */
static void find_period(const struct sedona_seen_run *run, struct study_seen *s)
{
	const struct sedona_run *r = run->l_samples;
	struct sedona_occurrence *seen = xcalloc(s->samples.count + 1, sizeof *seen);
	for (size_t i = 0; i < s->samples.count; i++) {
		const struct sedona_sample *sample = bsearch(&s->samples.items[i], r->samples.items,
							     r->samples.count,
							     sizeof *r->samples.items, by_number);
		seen[i].number = s->samples.items[i];
		seen[i].at_ns = sample && run->spacing_ns ? sample->at_ns : 0;
	}
	sedona_period(seen, s->samples.count, run->total,
		      run->spacing_ns ? run->spacing_ns : run->length_ns, &s->period);
	xfree(seen);
}

/* The largest share that a daemon has in what one of its L-samples took too long: by the delays, if
 * all of these samples tell them, or else by its process time. */
static double share_in(const struct sedona_seen_run *run, uint32_t daemon,
		       const struct study_seen *s, bool *by_delays)
{
	const struct sedona_run *r = run->l_samples;
	double most[2] = { 0 };
	*by_delays = true;
	for (size_t i = 0; i < s->samples.count; i++) {
		const struct sedona_sample *sample = bsearch(&s->samples.items[i], r->samples.items,
							     r->samples.count,
							     sizeof *r->samples.items, by_number);
		double sums[2] = { 0 }, late = (double)sample->et_ns - run->cluster_mean_ns;
		for (size_t k = sample->first; k < sample->first + sample->count; k++) {
			const struct sedona_execution *x = &r->executions.items[k];
			if (x->daemon != daemon)
				continue;
			sums[0] += (double)x->pt_ns;
			sums[1] += (double)x->delay_ns;
		}
		*by_delays &= sample->tells_delays;
		for (int k = 0; k < 2; k++)
			most[k] = fmax(most[k], late > 0 ? sums[k] / late : 0);
	}
	return most[*by_delays];
}

/* The daemon's long-running executions happened to be in slow samples. found: another run says that
 * it does make samples slow. */
static bool is_bystander(const struct sedona_seen_run *run, uint32_t daemon,
			 const struct study_seen *s, bool found)
{
	const struct sedona_run *r = run->l_samples;
	bool by_delays;
	if (!(run->cluster_mean_ns > 0) || !run->samples)
		return false;
	double share = share_in(run, daemon, s, &by_delays);
	if (by_delays)
		return share < SHARE;
	/* that as many samples, taken at random, would all be L-samples */
	double p = 1, slow = (double)r->samples.count, all = (double)run->samples;
	for (size_t i = 0; i < s->samples.count; i++)
		p *= (slow - (double)i) / (all - (double)i);
	p *= (double)r->names.count;
	return !found && share < MAIN_SHARE && !(share >= PART_SHARE && p < PART_ALPHA) &&
	       p >= ALPHA;
}

/* It is not long-running after all. */
static void acquit(struct study_seen *s)
{
	s->long_executions = 0;
	s->long_least_ns = s->long_most_ns = 0;
	s->samples.count = 0;
}

/* Steps 5 to 7 of one run. */
static void see(const struct sedona_seen_run *run, enum study_length length, struct study *out)
{
	const struct sedona_run *r = run->l_samples;
	for (size_t i = 0; i < run->cluster_count; i++) {
		const struct sedona_cluster_row *row = &run->cluster[i];
		struct study_seen *s = &daemon_of(out, row->name)->seen[length];
		/* a paper's table may not say how many */
		s->cluster_executions = row->executions ? row->executions : 1;
		s->cluster_max_ns = row->max_ns;
		s->cluster_sigma_ns = row->sigma_ns;
	}
	size_t *where = xcalloc(r->names.count + 1, sizeof *where);
	for (size_t i = 0; i < r->names.count; i++)
		where[i] = (size_t)(daemon_of(out, r->names.items[i].text) - out->daemons.items);
	array_each(sample, &r->samples) {
		double longer = 1;
		if (run->cluster_high_ns && sample->et_ns > run->cluster_high_ns)
			longer = (double)sample->et_ns / (double)run->cluster_high_ns;
		for (size_t k = sample->first; k < sample->first + sample->count; k++) {
			const struct sedona_execution *x = &r->executions.items[k];
			struct study_seen *s = &out->daemons.items[where[x->daemon]].seen[length];
			/* step 6; the sample is `longer` times as long as those of the cluster */
			double usual = (double)s->cluster_max_ns + SIGMAS * s->cluster_sigma_ns;
			if (x->pt_ns < run->least_ns ||
			    (s->cluster_executions && !((double)x->pt_ns > usual * longer)))
				continue;
			if (!s->long_executions++ || x->pt_ns < s->long_least_ns)
				s->long_least_ns = x->pt_ns;
			if (x->pt_ns > s->long_most_ns)
				s->long_most_ns = x->pt_ns;
			if (!s->samples.count ||
			    s->samples.items[s->samples.count - 1] != sample->number)
				array_push(&s->samples, sample->number);
		}
	}
	for (uint32_t i = 0; i < r->names.count; i++) {
		struct study_seen *s = &out->daemons.items[where[i]].seen[length];
		/* what the short run has found, few long samples cannot deny */
		bool found = length == STUDY_LONG &&
			     out->daemons.items[where[i]].seen[STUDY_SHORT].long_executions;
		if (s->samples.count && is_bystander(run, i, s, found))
			acquit(s);
		if (s->samples.count)
			find_period(run, s);
	}
	xfree(where);
}

/* Step 9's cutoff of each run. */
static void set_cutoffs(struct study_daemon *d, uint64_t unit_ns)
{
	for (int length = 0; length < STUDY_LENGTHS; length++) {
		struct study_seen *s = &d->seen[length];
		double max = (double)s->cluster_max_ns;
		if (s->long_executions) {
			s->has_cutoff = true;
			s->cutoff_ns = rounded((max + (double)s->long_least_ns) / 2, unit_ns);
		} else if (length == STUDY_LONG && d->seen[STUDY_SHORT].long_executions &&
			   s->cluster_executions) {
			s->has_cutoff = true;
			s->cutoff_ns = rounded(max + SIGMAS * s->cluster_sigma_ns, unit_ns);
		}
	}
	d->period = d->seen[STUDY_SHORT].period.found ? d->seen[STUDY_SHORT].period
						      : d->seen[STUDY_LONG].period;
}

/* At a share of the period, which is taken to two digits in h, min or s. */
static uint64_t divide_at(const struct study_daemon *d, const struct sedona_seen_run *short_run,
			  const struct sedona_seen_run *long_run)
{
	double ns = (double)d->period.ns, own = (double)short_run->length_ns;
	double unit = ns >= 3600 * NS_PER_S ? 3600 * NS_PER_S
		      : ns >= 60 * NS_PER_S ? 60 * NS_PER_S
					    : NS_PER_S;
	double in_units = ns / unit, digit = pow(10, floor(log10(in_units)) - 1);
	double at = PERIOD_SHARE * (round(in_units / digit) * digit * unit);
	if (at <= own)
		at = long_run && long_run->length_ns > short_run->length_ns
			     ? sqrt(own * (double)long_run->length_ns)
			     : 2 * own;
	return (uint64_t)llround(at);
}

/* Unless it would drop samples of a cluster. */
static void add_cutoff(struct study *out, const struct study_daemon *d,
		       const struct sedona_seen_run *const runs[STUDY_LENGTHS], uint64_t from_ns,
		       uint64_t below_ns, uint64_t cutoff_ns)
{
	struct cutoff c = { .from_ns = from_ns, .below_ns = below_ns, .cutoff_ns = cutoff_ns };
	memcpy(c.daemon, d->name, sizeof c.daemon);
	for (int l = 0; l < STUDY_LENGTHS; l++)
		if (runs[l] && cutoff_find(&c, 1, d->name, runs[l]->length_ns) &&
		    cutoff_ns < d->seen[l].cluster_max_ns)
			return;
	array_push(&out->cutoffs, c);
}

static int daemons_by_name(const void *a, const void *b)
{
	const struct study_daemon *p = a, *q = b;
	bool long_p = p->seen[STUDY_SHORT].long_executions || p->seen[STUDY_LONG].long_executions;
	bool long_q = q->seen[STUDY_SHORT].long_executions || q->seen[STUDY_LONG].long_executions;
	return long_p != long_q ? long_q - long_p : strcmp(p->name, q->name);
}

void sedona_cutoffs(const struct sedona_seen_run *short_run, const struct sedona_seen_run *long_run,
		    uint64_t unit_ns, struct study *out)
{
	const struct sedona_seen_run *const runs[STUDY_LENGTHS] = { short_run, long_run };
	see(short_run, STUDY_SHORT, out);
	if (long_run)
		see(long_run, STUDY_LONG, out);
	array_sort(&out->daemons, daemons_by_name);
	array_each(d, &out->daemons) {
		set_cutoffs(d, unit_ns);
		const struct study_seen *s = &d->seen[STUDY_SHORT], *l = &d->seen[STUDY_LONG];
		if (!s->has_cutoff && !l->has_cutoff)
			continue;
		if (!d->period.found || !d->period.ns) {
			add_cutoff(out, d, runs, 0, 0,
				   s->cutoff_ns > l->cutoff_ns ? s->cutoff_ns : l->cutoff_ns);
			continue;
		}
		uint64_t at = divide_at(d, short_run, long_run);
		if (s->has_cutoff)
			add_cutoff(out, d, runs, 0, at, s->cutoff_ns);
		if (l->has_cutoff)
			add_cutoff(out, d, runs, at, 0, l->cutoff_ns);
	}
}
