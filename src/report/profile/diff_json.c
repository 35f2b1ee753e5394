/* docs/schema/profile-diff.schema.json */
#include "report/core/json.h"
#include "report/core/shapes.h"
#include "report/page/documents.h"
#include "report/profile/rows.h"

static json_t *side_json(const struct profile_subject *s, uint64_t samples, double hz,
			 uint64_t elapsed_ns)
{
	const struct profile_side side = { .mode = s->profile->mode,
					   .cpus = s->profile->cpus,
					   .samples = samples,
					   .elapsed_ns = elapsed_ns,
					   .hz = hz,
					   .cpu_per_s =
						   profile_cpu_per_s(samples, hz, elapsed_ns) };
	json_t *o = json_shape(&profile_side_shape, &side);
	json_object_set_new(o, "run", json_run(s->run));
	return o;
}

json_t *profile_diff_document(const struct profile_subject *before,
			      const struct profile_subject *after, const struct sleepy_diff *d,
			      size_t most)
{
	json_t *root = json_shape(&profile_diff_shape, d), *rows = json_array();
	json_object_set_new(root, "before",
			    side_json(before, d->before, d->before_hz, d->before_elapsed_ns));
	json_object_set_new(root, "after",
			    side_json(after, d->after, d->after_hz, d->after_elapsed_ns));
	json_object_set_new(root, "rows", rows);
	for (size_t i = 0; i < d->rows.count && i < most; i++) {
		struct profile_change change;
		profile_change_of(d, i, &change);
		json_array_append_new(rows, json_shape(&profile_change_shape, &change));
	}
	return root;
}

void profile_diff_json(const struct profile_subject *before, const struct profile_subject *after,
		       const struct sleepy_diff *d, struct strbuf *out)
{
	put_json(profile_diff_document(before, after, d, SIZE_MAX), 1, out);
}
