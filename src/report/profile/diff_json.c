/* docs/schema/profile-diff.schema.json */
#include "report/core/json.h"
#include "report/page/documents.h"
#include "report/profile/rows.h"

static json_t *side_json(const struct profile_subject *s, uint64_t samples, double hz,
			 uint64_t elapsed_ns)
{
	json_t *o = json_object();
	json_object_set_new(o, "run", json_run(s->run));
	json_object_set_new(o, "mode", json_string(profile_mode_name(s->profile->mode)));
	json_set_real(o, "hz", hz);
	json_set_count(o, "cpus", s->profile->cpus);
	json_set_count(o, "samples", samples);
	json_set_count(o, "elapsed_ns", elapsed_ns);
	json_set_real(o, "cpu_per_s", profile_cpu_per_s(samples, hz, elapsed_ns));
	return o;
}

static json_t *change_json(const struct sleepy_diff *d, const struct sleepy_change *c)
{
	json_t *o = json_object();
	json_object_set_new(o, "name", json_text(c->name));
	json_object_set_new(o, "object", json_text(c->where));
	json_object_set_new(o, "kernel", json_boolean(c->kernel));
	json_set_count(o, "before", c->before);
	json_set_count(o, "after", c->after);
	json_set_real(o, "before_share", c->before_share);
	json_set_real(o, "after_share", c->after_share);
	json_set_real(o, "before_cpu_per_s",
		      profile_cpu_per_s(c->before, d->before_hz, d->before_elapsed_ns));
	json_set_real(o, "after_cpu_per_s",
		      profile_cpu_per_s(c->after, d->after_hz, d->after_elapsed_ns));
	json_set_real(o, "change", c->change);
	json_set_real(o, "change_low", c->low);
	json_set_real(o, "change_high", c->high);
	json_set_real(o, "p", c->p);
	json_object_set_new(o, "sure", json_boolean(sleepy_change_sure(c)));
	return o;
}

json_t *profile_diff_document(const struct profile_subject *before,
			      const struct profile_subject *after, const struct sleepy_diff *d,
			      size_t most)
{
	json_t *root = json_object(), *rows = json_array();
	for (size_t i = 0; i < d->rows.count && i < most; i++)
		json_array_append_new(rows, change_json(d, &d->rows.items[i]));
	json_object_set_new(root, "type", json_string("profile-diff"));
	json_object_set_new(root, "format", json_integer(1));
	json_object_set_new(root, "by", json_string(sleepy_by_name(d->by)));
	json_object_set_new(root, "before",
			    side_json(before, d->before, d->before_hz, d->before_elapsed_ns));
	json_object_set_new(root, "after",
			    side_json(after, d->after, d->after_hz, d->after_elapsed_ns));
	json_object_set_new(root, "rows", rows);
	return root;
}

void profile_diff_json(const struct profile_subject *before, const struct profile_subject *after,
		       const struct sleepy_diff *d, struct strbuf *out)
{
	put_json(profile_diff_document(before, after, d, SIZE_MAX), 1, out);
}
