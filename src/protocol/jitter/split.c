/* What of a detour's time without a source is steal, delivery, firmware's, the host's; and its
 * name. */
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/jitter/private.h"
#include "stats/period.h"

struct range {
	size_t begin, end;
};

/* What of a list is the detour's, which says where its part ends. */
#define OWN(w, detour, list)                                                 \
	((struct range){ (detour) ? (w)->detours.items[(detour)-1].list : 0, \
			 (w)->detours.items[detour].list })

/* ---- how long delivery takes ---- */

static uint64_t cap_of(const struct jitter_learnt *learnt, enum gap_kind kind)
{
	const struct jitter_tuning *t = &jitter_tuning;
	if (learnt->counts[kind] < t->learnt_from)
		return t->unlearnt_ns[kind];
	double median = 0;
	uint64_t below = 0;
	for (unsigned i = 0; i < NOISE_BUCKETS && below <= learnt->counts[kind] / 2; i++) {
		struct noise_bucket b = noise_histogram_at(&learnt->gaps[kind], i);
		below += b.count;
		median = b.count ? (double)b.ns / (double)b.count : 0;
	}
	double cap = t->cap_medians * median;
	return cap > (double)t->floor_ns[kind] ? (uint64_t)fmin(cap, 1e18) : t->floor_ns[kind];
}

/* ---- steal ---- */

static int longest_first(const void *a, const void *b)
{
	const struct jitter_piece *x = a, *y = b;
	return ORDER(y->ns, x->ns) ?: ORDER(x->index, y->index);
}

static void add_piece(struct jitter_work *w, uint64_t ns, size_t index)
{
	struct jitter_piece piece = { ns, index };
	if (ns)
		array_push(&w->pieces, piece);
}

/* Leaves in the pieces what is taken from each. Returns what is still to be taken. */
static uint64_t take(struct jitter_work *w, uint64_t steal)
{
	array_sort(&w->pieces, longest_first);
	for (size_t i = 0; i < w->pieces.count; i++) {
		uint64_t *ns = &w->pieces.items[i].ns;
		*ns = *ns < steal ? *ns : steal;
		steal -= *ns;
	}
	return steal;
}

static void list_segments(struct jitter_work *w, size_t detour)
{
	struct range segments = OWN(w, detour, segments);
	w->pieces.count = 0;
	for (size_t k = segments.begin; k < segments.end; k++)
		add_piece(w, w->segments.items[k].ns, w->segments.items[k].occurrence);
}

static uint64_t longest_piece(const struct jitter_work *w)
{
	uint64_t longest = 0;
	for (size_t i = 0; i < w->pieces.count; i++)
		if (w->pieces.items[i].ns > longest)
			longest = w->pieces.items[i].ns;
	return longest;
}

static uint64_t take_from_segments(struct jitter_work *w, size_t detour, uint64_t steal)
{
	list_segments(w, detour);
	steal = take(w, steal);
	for (size_t i = 0; i < w->pieces.count; i++)
		w->occurrences.items[w->pieces.items[i].index].ns -= w->pieces.items[i].ns;
	return steal;
}

/* The hypervisor takes the CPU for a stretch, which is where it fits: in a gap, where nothing is
 * told; else within a source; else in several places, gaps first. */
static void take_steal(struct jitter_work *w, size_t detour)
{
	uint64_t steal = w->detours.items[detour].steal_ns;
	list_segments(w, detour);
	uint64_t source = longest_piece(w);
	struct range gaps = OWN(w, detour, gaps);
	w->pieces.count = 0;
	for (size_t k = gaps.begin; k < gaps.end; k++)
		add_piece(w, w->gaps.items[k].ns, k);
	if (longest_piece(w) < steal && source >= steal) {
		take_from_segments(w, detour, steal);
		return;
	}
	steal = take(w, steal);
	for (size_t i = 0; i < w->pieces.count; i++) {
		struct jitter_gap *g = &w->gaps.items[w->pieces.items[i].index];
		uint64_t ns = w->pieces.items[i].ns; /* first what delivery does not account for */
		uint64_t residue = g->residue_ns < ns ? g->residue_ns : ns;
		g->residue_ns -= residue;
		g->delivery_ns -= ns - residue;
	}
	if (steal)
		take_from_segments(w, detour, steal);
}

/* ---- firmware ---- */

/* An SMI stops the CPU for one stretch, in which nothing else can be reported. The count does not
 * say where in the detour: it was most likely where the most is unexplained. An SMI within a source
 * leaves no such stretch, and its time stays that source's. */
static void take_smis(struct jitter_work *w, size_t detour)
{
	struct range gaps = OWN(w, detour, gaps);
	for (uint64_t left = w->detours.items[detour].smis; left; left--) {
		struct jitter_gap *longest = NULL;
		for (size_t k = gaps.begin; k < gaps.end; k++) {
			struct jitter_gap *g = &w->gaps.items[k];
			if (!g->smi && g->residue_ns >= jitter_tuning.residue_ns &&
			    (!longest || g->residue_ns > longest->residue_ns))
				longest = g;
		}
		if (!longest)
			return;
		longest->smi = true;
	}
}

void jitter_split(struct jitter_work *w, struct jitter_learnt *learnt)
{
	uint64_t caps[GAP_KINDS + 1] = { [GAP_ALONE] = 0 };
	for (size_t i = 0; i < w->detours.count; i++) {
		struct range gaps = OWN(w, i, gaps);
		if (w->detours.items[i].steal_ns || w->detours.items[i].smis)
			continue;
		for (size_t k = gaps.begin; k < gaps.end; k++) {
			const struct jitter_gap *g = &w->gaps.items[k];
			if (g->kind == GAP_ALONE)
				continue;
			noise_histogram_add(&learnt->gaps[g->kind], noise_bucket_of(g->ns), 1,
					    g->ns);
			learnt->counts[g->kind]++;
		}
	}
	for (size_t kind = 0; kind < GAP_KINDS; kind++)
		caps[kind] = cap_of(learnt, (enum gap_kind)kind);
	array_each(g, &w->gaps) {
		g->delivery_ns = g->ns < caps[g->kind] ? g->ns : caps[g->kind];
		g->residue_ns = g->ns - g->delivery_ns;
	}
	for (size_t i = 0; i < w->detours.count; i++) {
		struct jitter_detour *d = &w->detours.items[i];
		if (d->steal_ns)
			take_steal(w, i);
		if (d->smis && w->round->kernel)
			take_smis(w, i);
		struct range own = OWN(w, i, occurrences), gaps = OWN(w, i, gaps);
		d->strict_ns = d->delivery_ns = 0;
		for (size_t k = own.begin; k < own.end; k++)
			d->strict_ns += w->occurrences.items[k].ns;
		for (size_t k = gaps.begin; k < gaps.end; k++)
			d->delivery_ns += w->gaps.items[k].delivery_ns;
	}
}

/* ---- the host's period ---- */

/* Of the distances of w->times, which it overwrites. Times that have nothing to do with the period
 * are at all distances; so it is looked for again within the window that came out. */
static double width_of(struct jitter_work *w, const struct period *p)
{
	const struct jitter_tuning *t = &jitter_tuning;
	double most = p->period * t->width_most_share, width = most;
	double *x = w->times.items;
	size_t count = w->times.count;
	for (size_t i = 0; i < count; i++)
		x[i] = fabs(period_distance(p, x[i]));
	gsl_sort(x, 1, count);
	for (int turn = 0; turn < 3 && count; turn++) {
		width = fmin(fmax(t->width_sigmas * 1.4826 * x[count / 2], t->width_least_ns),
			     most);
		while (count && x[count - 1] > width)
			count--;
	}
	return width;
}

/* Detours without a source, long enough to be looked at. What is left before the guest's own tick
 * has a period, too, that says nothing of the host. */
static void collect_times(struct jitter_work *w, struct noise_host *h)
{
	w->times.count = 0;
	for (size_t i = 0; i < w->detours.count; i++) {
		struct range gaps = OWN(w, i, gaps);
		bool any = false;
		for (size_t k = gaps.begin; k < gaps.end; k++) {
			const struct jitter_gap *g = &w->gaps.items[k];
			if (g->smi || g->residue_ns < jitter_tuning.residue_ns)
				continue;
			any = true;
			if (g->kind == GAP_ALONE)
				array_push(&w->times,
					   (double)(g->begin_ns - w->detours.items[0].begin_ns));
		}
		h->looked_at += any;
	}
	size_t stride = w->times.count / jitter_tuning.period_times + 1, kept = 0;
	for (size_t i = 0; i < w->times.count; i += stride)
		w->times.items[kept++] = w->times.items[i];
	w->times.count = kept;
}

void jitter_find_host(struct jitter_work *w)
{
	const struct jitter_tuning *t = &jitter_tuning;
	struct noise_host *h = &w->into->host;
	struct period p;
	/* without the kernel's word the machine's own tick would pass for the host's */
	if (!w->round->kernel)
		return;
	h->rounds++;
	collect_times(w, h);
	period_fit(w->times.items, w->times.count, t->periods_ns,
		   sizeof t->periods_ns / sizeof *t->periods_ns, t->period_tolerance,
		   t->period_alpha, &p);
	if (!p.found)
		return;
	double width = width_of(w, &p);
	h->fitted++;
	h->period_ns += (p.period - h->period_ns) / h->fitted;
	h->width_ns += (width - h->width_ns) / h->fitted;
	h->chance += (2 * width / p.period - h->chance) / h->fitted;
	for (size_t i = 0; i < w->detours.count; i++) {
		struct range gaps = OWN(w, i, gaps);
		bool any = false;
		for (size_t k = gaps.begin; k < gaps.end; k++) {
			struct jitter_gap *g = &w->gaps.items[k];
			double at = (double)(g->begin_ns - w->detours.items[0].begin_ns);
			g->host = !g->smi && g->residue_ns >= t->residue_ns &&
				  (double)g->residue_ns <= t->longest_share * p.period &&
				  fabs(period_distance(&p, at)) <= width;
			any |= g->host;
		}
		h->in_phase += any;
	}
}

/* ---- names ---- */

#define SUFFIXES sizeof "_…_steal_host-periodic_smi" /* what must still fit behind the sources */

static size_t add_name(char *out, size_t used, const char *name)
{
	size_t length = strlen(name);
	if (used + 1 + length >= NOISE_COMBINED_SIZE)
		return used;
	if (used)
		out[used++] = '_';
	memcpy(out + used, name, length + 1);
	return used + length;
}

static size_t name_sources(const struct jitter_work *w, size_t detour, char *out)
{
	struct range own = OWN(w, detour, occurrences);
	uint32_t last = UINT32_MAX;
	size_t used = 0;
	unsigned names = 0;
	for (size_t k = own.begin; k < own.end; k++) {
		const struct jitter_occurrence *o = &w->occurrences.items[k];
		if (!o->top || o->source == last)
			continue;
		const char *name = w->into->sources.items[o->source].name;
		if (names++ == jitter_tuning.names_max ||
		    used + 1 + strlen(name) + SUFFIXES > NOISE_COMBINED_SIZE)
			return add_name(out, used, "…");
		used = add_name(out, used, name);
		last = o->source;
	}
	return used;
}

void jitter_name(const struct jitter_work *w, size_t detour, const uint64_t *class_ns,
		 char out[NOISE_COMBINED_SIZE])
{
	static const enum noise_class inferred[] = { NOISE_STEAL, NOISE_HOST, NOISE_SMI };
	const size_t count = sizeof inferred / sizeof *inferred;
	const struct jitter_detour *d = &w->detours.items[detour];
	double share = jitter_tuning.name_share * (double)(d->end_ns - d->begin_ns);
	*out = '\0';
	size_t used = name_sources(w, detour, out);
	if (used) {
		for (size_t i = 0; i < count; i++) {
			enum noise_class c = inferred[i];
			if (class_ns[c] && (double)class_ns[c] >= share)
				used = add_name(out, used, noise_class_names[c]);
		}
		return;
	}
	enum noise_class largest = NOISE_UNEXPLAINED;
	for (size_t i = 0; i < count; i++)
		if (class_ns[inferred[i]] > class_ns[largest])
			largest = inferred[i];
	add_name(out, 0, noise_class_names[largest]);
}
