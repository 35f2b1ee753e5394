#include "report/core/json.h"
#include "report/noise/diff.h"
#include "report/page/documents.h"
#include "report/time/several.h"

static json_t *view_json(const struct noise_view *v)
{
	struct noise_amount a = noise_amount_of(v->noise);
	json_t *o = json_object(), *cpus = json_array();
	for (size_t i = 0; i < v->noise->cpus.count; i++)
		json_array_append_new(cpus, json_integer(v->noise->cpus.items[i].cpu));
	json_object_set_new(o, "run", v->run->id ? json_integer(v->run->id) : json_null());
	json_object_set_new(o, "name", json_text(run_title(v->run)));
	json_object_set_new(o, "cpus", cpus);
	json_object_set_new(o, "window_ns", json_integer((json_int_t)a.window_ns));
	json_object_set_new(o, "parts", json_integer((json_int_t)v->noise->parts.count));
	json_object_set_new(o, "threshold_ns", json_integer((json_int_t)a.threshold_ns));
	json_object_set_new(o, "kernel", json_boolean(v->noise->kernel));
	json_object_set_new(o, "steal_told", json_boolean(v->noise->steal_told));
	json_object_set_new(o, "realtime", json_boolean(v->noise->realtime));
	return o;
}

static void set_ratio(json_t *o, double ratio, double low, double high, double p)
{
	json_object_set_new(o, "ratio", json_real_or_null(ratio));
	json_object_set_new(o, "ratio_low", json_real_or_null(low));
	json_object_set_new(o, "ratio_high", json_real_or_null(high));
	json_object_set_new(o, "p", json_real_or_null(p));
}

static json_t *source_json(const struct jitter_source_diff *s)
{
	json_t *o = json_object();
	bool was = s->base_rate > 0, is = s->run_rate > 0;
	json_object_set_new(o, "class", json_string(noise_class_name(s->class)));
	json_object_set_new(o, "name", json_text(s->name));
	json_object_set_new(o, "change", json_string(jitter_change_name(s->change)));
	json_object_set_new(o, "base_rate", json_real(s->base_rate));
	json_object_set_new(o, "run_rate", json_real(s->run_rate));
	json_object_set_new(o, "base_share", json_real(s->base_share));
	json_object_set_new(o, "run_share", json_real(s->run_share));
	json_object_set_new(o, "base_mean_ns", was ? json_real(s->base_mean_ns) : json_null());
	json_object_set_new(o, "run_mean_ns", is ? json_real(s->run_mean_ns) : json_null());
	json_object_set_new(o, "base_max_ns", was ? json_ns(s->base_max_ns) : json_null());
	json_object_set_new(o, "run_max_ns", is ? json_ns(s->run_max_ns) : json_null());
	set_ratio(o, s->ratio, s->ratio_low, s->ratio_high, s->p);
	return o;
}

static json_t *counts_json(const struct jitter_diff *d)
{
	size_t counts[CHANGES] = { 0 };
	json_t *o = json_object();
	for (size_t i = 0; i < d->sources.count; i++)
		counts[d->sources.items[i].change]++;
	for (unsigned i = 0; i < CHANGES; i++)
		json_object_set_new(o, jitter_change_name((enum jitter_change)i),
				    json_integer((json_int_t)counts[i]));
	return o;
}

static json_t *density_json(const struct jitter_diff *d)
{
	json_t *o = json_object(), *ns = json_array(), *base = json_array(), *run = json_array();
	for (size_t i = 0; i < JITTER_GRID; i++) {
		json_array_append_new(ns, json_real(d->grid_ns[i]));
		json_array_append_new(base, json_real(d->base_density[i]));
		json_array_append_new(run, json_real(d->run_density[i]));
	}
	json_object_set_new(o, "bandwidth", json_real(d->bandwidth));
	json_object_set_new(o, "distance", json_real(d->distance));
	json_object_set_new(o, "ns", ns);
	json_object_set_new(o, "base", base);
	json_object_set_new(o, "run", run);
	return o;
}

static json_t *peaks_json(const struct jitter_diff *d)
{
	json_t *list = json_array();
	for (size_t i = 0; i < d->peak_count; i++) {
		const struct jitter_peak *p = &d->peaks[i];
		json_t *o = json_object();
		json_object_set_new(o, "low_ns", json_ns(p->low_ns));
		json_object_set_new(o, "high_ns", json_ns(p->high_ns));
		json_object_set_new(o, "base_rate", json_real(p->base_rate));
		json_object_set_new(o, "run_rate", json_real(p->run_rate));
		json_object_set_new(o, "name", json_text(p->name));
		json_array_append_new(list, o);
	}
	return list;
}

json_t *noise_diff_document(const struct noise_view *base, const struct noise_view *run,
			    const struct jitter_diff *d)
{
	json_t *root = json_object(), *total = json_object(), *sources = json_array();
	json_t *notes = json_array();
	struct strbuf verdict = { 0 };
	note_list said = { 0 };
	noise_diff_verdict(base->noise, run->noise, d, &verdict);
	noise_diff_notes(base, run, &said);
	for (size_t i = 0; i < said.count; i++)
		json_array_append_new(notes, json_text(said.items[i]));
	for (size_t i = 0; i < d->sources.count; i++)
		json_array_append_new(sources, source_json(&d->sources.items[i]));
	json_object_set_new(total, "base_share", json_real(d->base_share));
	json_object_set_new(total, "run_share", json_real(d->run_share));
	set_ratio(total, d->ratio, d->ratio_low, d->ratio_high, d->p);
	json_object_set_new(root, "format", json_integer(1));
	json_object_set_new(root, "text", json_text(strbuf_text(&verdict)));
	json_object_set_new(root, "notes", notes);
	json_object_set_new(root, "base", view_json(base));
	json_object_set_new(root, "run", view_json(run));
	json_object_set_new(root, "total", total);
	json_object_set_new(root, "counts", counts_json(d));
	json_object_set_new(root, "sources", sources);
	json_object_set_new(root, "peaks", peaks_json(d));
	json_object_set_new(root, "density", density_json(d));
	noise_diff_notes_release(&said);
	strbuf_release(&verdict);
	return root;
}

void noise_diff_json(const struct noise_view *base, const struct noise_view *run,
		     const struct jitter_diff *d, struct strbuf *out)
{
	put_json(noise_diff_document(base, run, d), 2, out);
}
