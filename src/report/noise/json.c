/* docs/schema/noise.schema.json */
#include <math.h>

#include "report/core/json.h"
#include "report/core/shapes.h"
#include "report/noise/rows.h"
#include "report/page/documents.h"

static json_t *histogram_json(const struct noise_histogram *h)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < NOISE_BUCKETS; i++) {
		struct noise_length_row row;
		if (noise_length_row_of(h, i, &row) && row.in.count)
			json_array_append_new(list, json_shape(&noise_length_shape, &row));
	}
	return list;
}

/* What the run could not know is made absent in a copy. */
static json_t *cpu_json(const struct noise *n, const struct noise_cpu *given)
{
	static const uint64_t from[] = { 0, 1000, 8000 };
	struct noise_cpu c = *given;
	uint64_t min, max;
	bool any = noise_extremes(&c, &min, &max);
	noise_hide_untold(n, c.total.class_ns);
	if (!n->kernel)
		c.total.overlap_ns = c.events = c.lost = c.outside = c.outside_ns = ABSENT_NS;
	if (!c.host.fitted)
		c.host.period_ns = c.host.width_ns = c.host.chance = NAN;
	json_t *o = json_shape(&noise_cpu_report_shape, &c), *list = json_array();
	if (c.cpu != UINT32_MAX)
		json_set_count(o, "cpu", c.cpu);
	json_set_real(o, "duty_cycle", noise_duty(n, &c));
	json_t *detours = json_object_get(o, "detours");
	json_object_set_new(detours, "min_ns", json_ns(any ? min : ABSENT_NS));
	json_object_set_new(detours, "max_ns", json_ns(any ? max : ABSENT_NS));
	json_set_real(detours, "per_s", noise_detour_rate(&c));
	json_set_real(detours, "lost_share", noise_lost_share(&c));
	for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
		struct noise_coverage coverage;
		noise_coverage_of(n, given, from[i], &coverage);
		json_array_append_new(list, json_shape(&noise_coverage_shape, &coverage));
	}
	json_object_set_new(o, "coverage", list);
	if (c.speeds.count) {
		struct noise_speed_report speed = { .points = c.speeds };
		jitter_speed_of(&c, &speed.figures);
		json_object_set_new(o, "speed", json_shape(&noise_speed_shape, &speed));
	}
	json_object_set_new(o, "sources", list = json_array());
	for (size_t i = 0; n->kernel && i < c.sources.count; i++) {
		struct noise_row row;
		noise_row_of_source(&c, &c.sources.items[i], &row);
		json_t *source = json_shape(&noise_source_shape, &row);
		json_object_set_new(source, "lengths", histogram_json(row.lengths));
		json_array_append_new(list, source);
	}
	json_object_set_new(o, "combinations", list = json_array());
	for (size_t i = 0; n->kernel && i < c.combinations.count; i++) {
		const struct noise_combination *x = &c.combinations.items[i];
		struct noise_row row;
		noise_row_of_combination(&c, x, &row);
		json_t *combination = json_shape(&noise_combination_shape, &row);
		json_object_set_new(combination, "lengths", histogram_json(row.lengths));
		json_array_append_new(list, combination);
		json_t *told = json_shape(&noise_told_shape, &row.told);
		json_object_set_new(told, "lengths", histogram_json(&x->told_lengths));
		json_object_set_new(combination, "told", told);
	}
	json_object_set_new(o, "buckets", list = json_array());
	for (unsigned i = 0; i < NOISE_BUCKETS; i++) {
		struct noise_bucket_row row;
		if (noise_bucket_told(n, given, i, &row))
			json_array_append_new(list, json_shape(&noise_bucket_shape, &row));
	}
	return o;
}

json_t *noise_document(const struct noise_view *v)
{
	struct noise n = *v->noise;
	SCOPED(noise_cpu_release) struct noise_cpu together;
	FREED struct noise_part *parts = xcalloc(n.parts.count + 1, sizeof *parts);
	if (!n.realtime)
		n.priority = 0;
	for (size_t i = 0; !n.kernel && i < n.parts.count; i++) { /* without shares of sources */
		parts[i] = n.parts.items[i];
		parts[i].shares.count = 0;
	}
	if (!n.kernel)
		n.parts.items = parts;
	json_t *root = json_shape(&noise_shape, &n), *list = json_array();
	json_object_set_new(root, "run", json_run(v->run));
	json_object_set_new(root, "machine", json_machine(v->machine));
	noise_together(&n, &together);
	json_object_set_new(root, "together", cpu_json(&n, &together));
	json_object_set_new(root, "cpus", list);
	for (size_t i = 0; i < n.cpus.count; i++)
		json_array_append_new(list, cpu_json(&n, &n.cpus.items[i]));
	json_object_set_new(root, "worst", list = json_array());
	for (size_t i = 0; i < n.worst.count; i++) {
		struct noise_worst w = n.worst.items[i];
		w.begin_ns = w.begin_ns > n.begin_ns ? w.begin_ns - n.begin_ns : 0;
		noise_hide_untold(&n, w.class_ns);
		if (!n.kernel)
			w.name[0] = '\0';
		json_array_append_new(list, json_shape(&noise_worst_shape, &w));
	}
	return root;
}

void noise_json(const struct noise_view *v, struct strbuf *out)
{
	put_json(noise_document(v), 1, out);
}
