#include <math.h>

#include "report/core/json.h"
#include "report/core/shapes.h"
#include "report/noise/diff.h"
#include "report/noise/rows.h"
#include "report/page/documents.h"
#include "report/time/several.h"

static json_t *side_json(const struct noise_view *v)
{
	struct noise_amount a = noise_amount_of(v->noise);
	json_t *o = json_shape(&noise_diff_side_shape, v->noise);
	json_object_set_new(o, "run", json_id(v->run->id));
	json_object_set_new(o, "name", json_text(run_title(v->run)));
	json_object_set_new(o, "cpus", noise_cpus_json(v->noise));
	json_object_set_new(o, "window_ns", json_integer((json_int_t)a.window_ns));
	json_set_count(o, "parts", v->noise->parts.count);
	json_set_count(o, "threshold_ns", a.threshold_ns);
	return o;
}

static json_t *reals_json(const double *values, size_t count)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_real(values[i]));
	return list;
}

json_t *noise_diff_document(const struct noise_view *base, const struct noise_view *run,
			    const struct jitter_diff *d)
{
	json_t *root = json_shape(&noise_diff_shape, d), *list = json_array();
	struct strbuf verdict = { 0 };
	uint64_t counts[JITTER_CHANGES] = { 0 };
	note_list notes = { 0 };
	noise_diff_verdict(base->noise, run->noise, d, &verdict);
	json_object_set_new(root, "text", json_text(strbuf_text(&verdict)));
	noise_diff_notes(base, run, &notes);
	json_object_set_new(root, "notes", list);
	for (size_t i = 0; i < notes.count; i++)
		json_array_append_new(list, json_text(notes.items[i]));
	json_object_set_new(root, "base", side_json(base));
	json_object_set_new(root, "run", side_json(run));
	json_object_set_new(root, "sources", list = json_array());
	for (size_t i = 0; i < d->sources.count; i++) {
		struct jitter_source_diff s = d->sources.items[i];
		counts[s.change]++;
		if (!(s.base_rate > 0)) {
			s.base_mean_ns = NAN;
			s.base_max_ns = ABSENT_NS;
		}
		if (!(s.run_rate > 0)) {
			s.run_mean_ns = NAN;
			s.run_max_ns = ABSENT_NS;
		}
		json_array_append_new(list, json_shape(&noise_diff_source_shape, &s));
	}
	json_object_set_new(root, "counts", json_shape(&noise_diff_counts_shape, counts));
	json_object_set_new(
		root, "peaks",
		json_shapes(&noise_diff_peak_shape, d->peaks, d->peak_count, sizeof *d->peaks));
	json_t *density = json_object_get(root, "density");
	json_object_set_new(density, "ns", reals_json(d->grid_ns, JITTER_GRID));
	json_object_set_new(density, "base", reals_json(d->base_density, JITTER_GRID));
	json_object_set_new(density, "run", reals_json(d->run_density, JITTER_GRID));
	noise_diff_notes_release(&notes);
	strbuf_release(&verdict);
	return root;
}

void noise_diff_json(const struct noise_view *base, const struct noise_view *run,
		     const struct jitter_diff *d, struct strbuf *out)
{
	put_json(noise_diff_document(base, run, d), 2, out);
}
