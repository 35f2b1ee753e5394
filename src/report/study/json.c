/* docs/schema/study.schema.json */
#include <math.h>
#include <string.h>

#include "report/core/json.h"
#include "report/core/shapes.h"
#include "report/page/documents.h"
#include "report/study/style.h"

static void set(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

static json_t *run_json(const struct study_run *of)
{
	struct study_run r = *of;
	size_t kept = r.samples - r.dropped.count;
	bool spread = r.samples > 1 && r.sigma_ns > 0;
	if (!r.present)
		return json_null();
	/* of so few there is no such figure */
	if (!r.cluster)
		r.cluster_low_ns = r.cluster_high_ns = ABSENT_NS;
	if (!r.samples)
		r.mean_ns = NAN;
	if (!kept)
		r.mean_kept_ns = NAN;
	if (r.samples < 2)
		r.sigma_ns = NAN;
	if (!r.steadied)
		r.steady_sigma_ns = r.steady_sigma_kept_ns = NAN;
	if (kept < 2)
		r.sigma_kept_ns = r.steady_sigma_kept_ns = NAN;
	json_t *o = json_shape(&study_run_shape, &r);
	set(o, "sigma_ratio", json_real_or_null(spread ? r.sigma_kept_ns / r.sigma_ns : NAN));
	return o;
}

static json_t *seen_json(const struct study_run *r, const struct study_seen *of)
{
	struct study_seen s = *of;
	if (!r->present)
		return json_null();
	if (!s.cluster_executions) {
		s.cluster_max_ns = ABSENT_NS;
		s.cluster_sigma_ns = NAN;
	}
	if (!s.long_executions)
		s.long_least_ns = s.long_most_ns = ABSENT_NS;
	return json_shape(&study_seen_shape, &s);
}

json_t *daemons_document(const struct study *s, const struct machine *machine)
{
	json_t *root = json_shape(&study_shape, &(struct study_head){ .format = 1, .study = *s });
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++)
		set(json_object_get(root, "runs"), study_length_names[k], run_json(&s->runs[k]));
	array_each(d, &s->daemons) {
		json_t *o = json_shape(&study_daemon_shape, d);
		array_each(c, &s->cutoffs)
			if (!strcmp(c->daemon, d->name))
				json_append(o, "cutoffs", json_shape(&cutoff_range_shape, c));
		for (enum study_length k = 0; k < STUDY_LENGTHS; k++)
			set(json_object_get(o, "runs"), study_length_names[k],
			    seen_json(&s->runs[k], &d->seen[k]));
		set(o, "long_running", json_boolean(daemon_is_long_running(d)));
		set(o, "undecided", json_boolean(study_is_undecided(s, d)));
		json_append(root, "daemons", o);
	}
	set(root, "machine", json_machine(machine));
	return root;
}

void daemons_json(const struct study *s, const struct machine *machine, struct strbuf *out)
{
	put_json(daemons_document(s, machine), 1, out);
}
