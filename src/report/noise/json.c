/* docs/schema/noise.schema.json */
#include <math.h>

#include "report/core/json.h"
#include "report/noise/rows.h"
#include "report/page/documents.h"

/* ---- parts ---- */

static json_t *class_ns_json(const struct noise *n, const uint64_t class_ns[NOISE_CLASSES])
{
	json_t *o = json_object();
	for (enum noise_class class = 0; class < NOISE_CLASSES; class ++)
		json_object_set_new(o, noise_class_name(class),
				    noise_class_told(n, class) ? json_count(class_ns[class])
							       : json_null());
	return o;
}

static void set_edges(json_t *o, unsigned bucket)
{
	json_set_count(o, "low_ns", bucket ? noise_bucket_low(bucket) : 0);
	json_set_count(o, "high_ns", noise_bucket_low(bucket + 1));
}

static json_t *histogram_json(const struct noise_histogram *h)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < NOISE_BUCKETS; i++) {
		struct noise_bucket b = noise_histogram_at(h, i);
		if (!b.count)
			continue;
		json_t *o = json_object();
		set_edges(o, i);
		json_set_count(o, "count", b.count);
		json_set_count(o, "ns", b.ns);
		json_array_append_new(list, o);
	}
	return list;
}

/* A spread of nothing has no extremes; one of one has no sigma. */
static void set_spread(json_t *o, const struct noise_spread *s)
{
	double any = s->count ? 1 : NAN;
	json_set_count(o, "count", s->count);
	json_set_count(o, "ns", s->ns);
	json_object_set_new(o, "min_ns", s->count ? json_count(s->min_ns) : json_null());
	json_object_set_new(o, "max_ns", s->count ? json_count(s->max_ns) : json_null());
	json_set_real(o, "mean_ns", noise_spread_mean(s) * any);
	json_set_real(o, "sigma_ns", s->count > 1 ? noise_spread_sigma(s) : NAN);
}

static double share_of(const struct noise_cpu *c, uint64_t ns)
{
	return c->total.ns ? (double)ns / (double)c->total.ns : NAN;
}

static json_t *sources_json(const struct noise_cpu *c)
{
	json_t *list = json_array();
	for (size_t i = 0; i < c->sources.count; i++) {
		const struct noise_source *s = &c->sources.items[i];
		double share, period = noise_source_period(s, &share), found = period > 0 ? 1 : NAN;
		json_t *o = json_object();
		json_object_set_new(o, "class", json_string(noise_class_name(s->class)));
		json_object_set_new(o, "name", json_text(s->name));
		set_spread(o, &s->spread);
		json_set_real(o, "share", share_of(c, s->spread.ns));
		json_set_real(o, "period_ns", period * found);
		json_set_real(o, "period_share", share * found);
		json_object_set_new(o, "lengths", histogram_json(&s->lengths));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *combinations_json(const struct noise *n, const struct noise_cpu *c)
{
	json_t *list = json_array();
	for (size_t i = 0; i < c->combinations.count; i++) {
		const struct noise_combination *x = &c->combinations.items[i];
		json_t *o = json_object(), *told = n->kernel ? json_object() : json_null();
		json_object_set_new(o, "name", json_text(x->name));
		set_spread(o, &x->seen);
		json_set_real(o, "share", share_of(c, x->seen.ns));
		json_object_set_new(o, "lengths", histogram_json(&x->seen_lengths));
		if (n->kernel) {
			set_spread(told, &x->told);
			json_object_set_new(told, "lengths", histogram_json(&x->told_lengths));
		}
		json_object_set_new(o, "told", told);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *buckets_json(const struct noise *n, const struct noise_cpu *c)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < NOISE_BUCKETS; i++) {
		const struct noise_detours *d = &c->buckets[i];
		struct noise_bucket master = noise_histogram_at(&c->master, i);
		if (!d->count && !master.count)
			continue;
		json_t *o = json_object();
		set_edges(o, i);
		json_set_count(o, "count", d->count);
		json_set_count(o, "ns", d->ns);
		json_object_set_new(o, "class_ns", class_ns_json(n, d->class_ns));
		json_object_set_new(o, "overlap_ns",
				    n->kernel ? json_count(d->overlap_ns) : json_null());
		json_object_set_new(o, "master_count",
				    n->kernel ? json_count(master.count) : json_null());
		json_object_set_new(o, "master_ns",
				    n->kernel ? json_count(master.ns) : json_null());
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *coverage_json(const struct noise *n, const struct noise_cpu *c)
{
	static const uint64_t from[] = { 0, 1000, 8000 };
	json_t *list = json_array();
	for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
		struct noise_coverage coverage;
		json_t *o = json_object();
		noise_coverage_of(n, c, from[i], &coverage);
		json_set_count(o, "from_ns", coverage.from_ns);
		json_set_count(o, "count", coverage.count);
		json_set_count(o, "ns", coverage.ns);
		json_set_real(o, "named", coverage.named);
		json_set_real(o, "strict", coverage.strict);
		json_set_real(o, "overlap", coverage.overlap);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *host_json(const struct noise_host *h)
{
	double found = h->fitted ? 1 : NAN;
	json_t *o = json_object();
	json_set_count(o, "rounds", h->rounds);
	json_set_count(o, "fitted", h->fitted);
	json_set_real(o, "period_ns", h->period_ns * found);
	json_set_real(o, "width_ns", h->width_ns * found);
	json_set_real(o, "chance", h->chance * found);
	json_set_count(o, "in_phase", h->in_phase);
	json_set_count(o, "looked_at", h->looked_at);
	return o;
}

static json_t *untold_json(const struct noise_cpu *c)
{
	json_t *list = json_array();
	for (size_t i = 0; i < c->untold.count; i++) {
		json_t *o = json_object();
		json_object_set_new(o, "name", json_text(c->untold.items[i].name));
		json_set_count(o, "count", c->untold.items[i].count);
		json_array_append_new(list, o);
	}
	return list;
}

/* ---- a CPU ---- */

static json_t *detours_json(const struct noise *n, const struct noise_cpu *c)
{
	json_t *o = json_object();
	uint64_t min, max;
	bool any = noise_extremes(c, &min, &max);
	json_set_count(o, "count", c->total.count);
	json_set_count(o, "ns", c->total.ns);
	json_object_set_new(o, "min_ns", any ? json_count(min) : json_null());
	json_object_set_new(o, "max_ns", any ? json_count(max) : json_null());
	json_set_real(o, "per_s", noise_detour_rate(c));
	json_set_real(o, "lost_share", noise_lost_share(c));
	json_object_set_new(o, "class_ns", class_ns_json(n, c->total.class_ns));
	json_object_set_new(o, "overlap_ns",
			    n->kernel ? json_count(c->total.overlap_ns) : json_null());
	return o;
}

static json_t *cpu_json(const struct noise *n, const struct noise_cpu *c)
{
	json_t *o = json_object();
	json_object_set_new(o, "cpu", c->cpu == UINT32_MAX ? json_null() : json_count(c->cpu));
	json_set_count(o, "rounds", c->rounds);
	json_set_count(o, "window_ns", c->window_ns);
	json_set_count(o, "unwatched_ns", c->unwatched_ns);
	json_set_real(o, "duty_cycle", noise_duty(n, c));
	json_set_count(o, "turns", c->turns);
	json_set_count(o, "threshold_ns", c->threshold_ns);
	json_set_real(o, "step_ns", c->step_ns);
	json_set_real(o, "turn_ns", c->turn_ns);
	json_set_real(o, "turn_p999_ns", c->turn_p999_ns);
	json_object_set_new(o, "detours", detours_json(n, c));
	json_object_set_new(o, "coverage", coverage_json(n, c));
	json_object_set_new(o, "host", host_json(&c->host));
	json_object_set_new(o, "untold", untold_json(c));
	json_object_set_new(o, "events", n->kernel ? json_count(c->events) : json_null());
	json_object_set_new(o, "lost", n->kernel ? json_count(c->lost) : json_null());
	json_object_set_new(o, "outside", n->kernel ? json_count(c->outside) : json_null());
	json_object_set_new(o, "outside_ns", n->kernel ? json_count(c->outside_ns) : json_null());
	json_object_set_new(o, "sources", sources_json(c));
	json_object_set_new(o, "combinations", combinations_json(n, c));
	json_object_set_new(o, "buckets", buckets_json(n, c));
	return o;
}

/* ---- the run ---- */

static json_t *parts_json(const struct noise *n)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n->parts.count; i++) {
		const struct noise_part *p = &n->parts.items[i];
		json_t *o = json_object(), *shares = json_array();
		json_set_count(o, "begin_ns", p->begin_ns);
		json_set_count(o, "window_ns", p->window_ns);
		json_set_count(o, "count", p->count);
		json_set_count(o, "ns", p->ns);
		for (size_t k = 0; k < p->shares.count; k++) {
			const struct noise_share *s = &p->shares.items[k];
			json_t *share = json_object();
			json_set_count(share, "cpu", s->cpu);
			json_set_count(share, "source", s->source);
			json_set_count(share, "count", s->count);
			json_set_count(share, "ns", s->ns);
			json_array_append_new(shares, share);
		}
		json_object_set_new(o, "shares", shares);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *worst_json(const struct noise *n)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n->worst.count; i++) {
		const struct noise_worst *w = &n->worst.items[i];
		json_t *o = json_object();
		json_set_count(o, "cpu", w->cpu);
		json_set_count(o, "begin_ns",
			       w->begin_ns > n->begin_ns ? w->begin_ns - n->begin_ns : 0);
		json_set_count(o, "ns", w->ns);
		json_object_set_new(o, "name", json_text(w->name));
		json_object_set_new(o, "class_ns", class_ns_json(n, w->class_ns));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *settings_json(const struct noise *n)
{
	json_t *o = json_object(), *cpus = json_array();
	for (size_t i = 0; i < n->cpus.count; i++)
		json_array_append_new(cpus, json_count(n->cpus.items[i].cpu));
	json_object_set_new(o, "cpus", cpus);
	json_object_set_new(o, "realtime", json_boolean(n->realtime));
	json_object_set_new(o, "priority", n->realtime ? json_integer(n->priority) : json_null());
	json_object_set_new(o, "kernel", json_boolean(n->kernel));
	json_object_set_new(o, "steal_told", json_boolean(n->steal_told));
	json_set_count(o, "part_rounds", n->part_rounds);
	return o;
}

json_t *noise_document(const struct noise_view *v)
{
	const struct noise *n = v->noise;
	struct noise_cpu together;
	json_t *root = json_object(), *cpus = json_array();
	noise_together(n, &together);
	for (size_t i = 0; i < n->cpus.count; i++)
		json_array_append_new(cpus, cpu_json(n, &n->cpus.items[i]));
	json_object_set_new(root, "type", json_string("noise"));
	json_object_set_new(root, "format", json_integer(1));
	json_object_set_new(root, "run", json_run(v->run));
	json_object_set_new(root, "machine", json_machine(v->machine));
	json_object_set_new(root, "settings", settings_json(n));
	json_set_count(root, "elapsed_ns", n->elapsed_ns);
	json_object_set_new(root, "together", cpu_json(n, &together));
	json_object_set_new(root, "cpus", cpus);
	json_object_set_new(root, "parts", parts_json(n));
	json_object_set_new(root, "worst", worst_json(n));
	noise_cpu_release(&together);
	return root;
}

void noise_json(const struct noise_view *v, struct strbuf *out)
{
	put_json(noise_document(v), 1, out);
}
