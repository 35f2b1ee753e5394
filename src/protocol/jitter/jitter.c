#include "protocol/jitter/jitter.h"

#include <stdlib.h>

#include "protocol/jitter/private.h"

const struct jitter_tuning jitter_tuning = {
	.slack_ns = 200,
	.floor_ns = { [GAP_LEAD] = 1000, [GAP_BETWEEN] = 500, [GAP_TAIL] = 500 },
	.unlearnt_ns = { [GAP_LEAD] = 10000, [GAP_BETWEEN] = 2000, [GAP_TAIL] = 2000 },
	.cap_medians = 2,
	.learnt_from = 50,
	.residue_ns = 1000,
	.periods_ns = { 1e6, 4e6, 1e7, 1e7 / 3 },
	.period_tolerance = 3e-4,
	.period_alpha = 1e-6,
	.period_times = 1024,
	.width_sigmas = 4,
	.width_least_ns = 5000,
	.width_most_share = 1. / 20,
	.longest_share = 1. / 10,
	.names_max = 8,
	.name_share = 0.2,
	.worst_around = 1000000,
	.worst_events = 512,
};

struct jitter {
	struct noise *into;
	struct jitter_learnt *learnt; /* by CPU */
	size_t cpu_count;
	uint32_t filled; /* rounds in the last part */
	struct noise_part part;
	struct jitter_work work;
};

struct jitter *jitter_new(struct noise *into)
{
	struct jitter *j = xcalloc(1, sizeof *j);
	j->into = into;
	j->cpu_count = into->cpus.count;
	j->learnt = xcalloc(j->cpu_count, sizeof *j->learnt);
	j->filled = into->part_rounds;
	return j;
}

void jitter_free(struct jitter *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < j->cpu_count; i++)
		for (size_t k = 0; k < GAP_KINDS; k++)
			noise_histogram_release(&j->learnt[i].gaps[k]);
	xfree(j->learnt);
	array_release(&j->part.shares);
	trace_release(&j->work.sorted);
	array_release(&j->work.detours);
	array_release(&j->work.occurrences);
	array_release(&j->work.gaps);
	array_release(&j->work.segments);
	array_release(&j->work.pieces);
	array_release(&j->work.times);
	array_release(&j->work.shares);
	array_release(&j->work.speeds);
	xfree(j);
}

/* One occurrence of the source. bucket: of ns. */
static void add_sample_in(struct jitter_work *w, uint32_t source, uint64_t begin_ns, uint64_t ns,
			  unsigned bucket)
{
	struct noise_source *s = &w->into->sources.items[source];
	noise_spread_add(&s->spread, ns);
	noise_histogram_add(&s->lengths, bucket, 1, ns);
	if (s->last_ns && begin_ns >= s->last_ns) {
		uint64_t since = begin_ns - s->last_ns;
		noise_histogram_add(&s->intervals, noise_bucket_of(since), 1, since);
	}
	s->last_ns = begin_ns;
	while (w->shares.count <= source)
		array_push(&w->shares, (struct noise_bucket){ 0, 0 });
	w->shares.items[source].count++;
	w->shares.items[source].ns += ns;
}

static void add_sample(struct jitter_work *w, uint32_t source, uint64_t begin_ns, uint64_t ns)
{
	add_sample_in(w, source, begin_ns, ns, noise_bucket_of(ns));
}

static void add_to(struct noise_detours *sum, uint64_t ns, const uint64_t *class_ns, bool overlap)
{
	sum->count++;
	sum->ns += ns;
	for (size_t i = 0; i < NOISE_CLASSES; i++)
		sum->class_ns[i] += class_ns[i];
	if (overlap)
		sum->overlap_ns += ns;
}

/* Most detours are short and nothing is known of them: that is done quickly, for the pause between
 * rounds is not watched. */
static void add_unexplained(struct jitter *j, size_t detour, uint64_t ns)
{
	struct jitter_work *w = &j->work;
	const struct jitter_detour *d = &w->detours.items[detour];
	const char *name = noise_class_names[NOISE_UNEXPLAINED];
	if (w->unexplained == UINT32_MAX) {
		w->unexplained = (uint32_t)(noise_source_get(w->into, NOISE_UNEXPLAINED, name) -
					    w->into->sources.items);
		w->alone = (uint32_t)(noise_combination_get(w->into, name) -
				      w->into->combinations.items);
	}
	unsigned bucket = noise_bucket_of(ns);
	struct noise_combination *x = &w->into->combinations.items[w->alone];
	struct noise_detours *sums[] = { &w->into->total, &w->into->buckets[bucket] };
	add_sample_in(w, w->unexplained, d->begin_ns, ns, bucket);
	noise_spread_add(&x->seen, ns);
	noise_spread_add(&x->told, 0);
	noise_histogram_add(&x->seen_lengths, bucket, 1, ns);
	for (size_t i = 0; i < 2; i++) {
		sums[i]->count++;
		sums[i]->ns += ns;
		sums[i]->class_ns[NOISE_UNEXPLAINED] += ns;
	}
}

static void add_detour(struct jitter *j, size_t detour)
{
	struct jitter_work *w = &j->work;
	const struct jitter_detour *d = &w->detours.items[detour];
	size_t first = detour ? d[-1].occurrences : 0, gap = detour ? d[-1].gaps : 0;
	uint64_t ns = d->end_ns - d->begin_ns, class_ns[NOISE_CLASSES] = { 0 };
	if (d->occurrences == first && !d->steal_ns && d->gaps == gap + 1 &&
	    w->gaps.items[gap].kind == GAP_ALONE && !w->gaps.items[gap].host &&
	    !w->gaps.items[gap].smi) {
		class_ns[NOISE_UNEXPLAINED] = ns;
		add_unexplained(j, detour, ns);
		jitter_keep_worst(j->into, w, detour, class_ns,
				  noise_class_names[NOISE_UNEXPLAINED]);
		return;
	}
	for (size_t i = first; i < d->occurrences; i++) {
		const struct jitter_occurrence *o = &w->occurrences.items[i];
		class_ns[w->into->sources.items[o->source].class] += o->ns;
		add_sample(w, o->source, o->begin_ns, o->ns);
	}
	class_ns[NOISE_DELIVERY] = d->delivery_ns;
	class_ns[NOISE_STEAL] = d->steal_ns;
	for (; gap < d->gaps; gap++) {
		const struct jitter_gap *g = &w->gaps.items[gap];
		class_ns[g->host  ? NOISE_HOST
			 : g->smi ? NOISE_SMI
				  : NOISE_UNEXPLAINED] += g->residue_ns;
	}
	if (class_ns[NOISE_SMI])
		w->smis += d->smis;
	for (enum noise_class c = NOISE_DELIVERY; c < NOISE_CLASSES; c++)
		if (class_ns[c]) {
			struct noise_source *s = noise_source_get(w->into, c, noise_class_names[c]);
			add_sample(w, (uint32_t)(s - w->into->sources.items), d->begin_ns,
				   class_ns[c]);
		}

	bool overlap = d->occurrences > first;
	char name[NOISE_COMBINED_SIZE] = "";
	jitter_name(w, detour, class_ns, name);
	struct noise_combination *x = noise_combination_get(w->into, name);
	noise_spread_add(&x->seen, ns);
	noise_spread_add(&x->told, d->strict_ns);
	noise_histogram_add(&x->seen_lengths, noise_bucket_of(ns), 1, ns);
	if (d->strict_ns)
		noise_histogram_add(&x->told_lengths, noise_bucket_of(d->strict_ns), 1,
				    d->strict_ns);
	add_to(&w->into->total, ns, class_ns, overlap);
	add_to(&w->into->buckets[noise_bucket_of(ns)], ns, class_ns, overlap);
	if (d->strict_ns)
		noise_histogram_add(&w->into->master, noise_bucket_of(d->strict_ns), 1,
				    d->strict_ns);
	jitter_keep_worst(j->into, w, detour, class_ns, name);
}

static void add_cpu(struct jitter *j, uint32_t index, const struct detour_round *r)
{
	struct jitter_work *w = &j->work;
	struct noise_cpu *into = &j->into->cpus.items[index];
	uint64_t window_ns = r->end_ns > r->begin_ns ? r->end_ns - r->begin_ns : 0;
	uint64_t count = into->total.count, ns = into->total.ns;
	w->round = r;
	w->into = into;
	w->shares.count = 0;
	w->unexplained = UINT32_MAX;
	w->smis = 0;
	jitter_match(w);
	jitter_split(w, &j->learnt[index]);
	jitter_find_host(w);
	for (size_t i = 0; i < w->detours.count; i++)
		add_detour(j, i);
	jitter_add_speeds(w, j->into->begin_ns);
	into->rounds++;
	into->window_ns += window_ns;
	into->unwatched_ns += r->unwatched_ns;
	into->turns += r->turns;
	into->events += w->event_count;
	into->lost += r->lost;
	if (r->smis_told)
		into->smi_count = r->smis + (into->smi_count == ABSENT_NS ? 0 : into->smi_count);
	if (r->smis_told && r->kernel)
		into->smi_explained =
			w->smis + (into->smi_explained == ABSENT_NS ? 0 : into->smi_explained);

	j->part.window_ns += window_ns;
	j->part.count += into->total.count - count;
	j->part.ns += into->total.ns - ns;
	for (size_t i = 0; i < w->shares.count; i++) {
		const struct noise_bucket *b = &w->shares.items[i];
		struct noise_share share = { index, (uint32_t)i, b->count, b->ns };
		if (b->count)
			array_push(&j->part.shares, share);
	}
}

void jitter_add_round(struct jitter *j, const struct detour_round *rounds, size_t count)
{
	struct noise *n = j->into;
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;
	bool first = true;
	if (count > j->cpu_count)
		count = j->cpu_count;
	if (!count)
		return;
	for (size_t i = 0; i < count; i++) {
		begin_ns = rounds[i].begin_ns < begin_ns ? rounds[i].begin_ns : begin_ns;
		end_ns = rounds[i].end_ns > end_ns ? rounds[i].end_ns : end_ns;
	}
	for (size_t i = 0; i < n->cpus.count; i++)
		first &= !n->cpus.items[i].rounds;
	if (first)
		n->begin_ns = begin_ns;
	if (end_ns > n->begin_ns && end_ns - n->begin_ns > n->elapsed_ns)
		n->elapsed_ns = end_ns - n->begin_ns;
	j->part.begin_ns = begin_ns > n->begin_ns ? begin_ns - n->begin_ns : 0;
	j->part.window_ns = j->part.count = j->part.ns = 0;
	j->part.shares.count = 0;
	for (size_t i = 0; i < count; i++)
		add_cpu(j, (uint32_t)i, &rounds[i]);
	jitter_keep_part(n, &j->part, &j->filled);
}
