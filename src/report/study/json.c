/* docs/schema/study.schema.json */
#include <math.h>
#include <string.h>

#include "report/core/json.h"
#include "report/page/documents.h"
#include "report/study/style.h"

static void set(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

/* null where there is none. */
static void set_count_if(json_t *o, const char *key, bool known, uint64_t n)
{
	set(o, key, known ? json_integer((json_int_t)n) : json_null());
}

static void set_real_if(json_t *o, const char *key, bool known, double value)
{
	set(o, key, json_real_or_null(known ? value : NAN));
}

static json_t *numbers_json(const uint32_t *numbers, size_t count)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_integer(numbers[i]));
	return list;
}

/* ---- the runs ---- */

json_t *json_level(const struct study_level *l)
{
	json_t *o = json_object();
	json_set_count(o, "low_ns", l->low_ns);
	json_set_count(o, "high_ns", l->high_ns);
	json_set_count(o, "cut_ns", l->cut_ns);
	json_set_count(o, "neither", l->neither);
	json_set_count(o, "first", l->first);
	json_set_count(o, "second", l->second);
	json_set_count(o, "both", l->both);
	set_real_if(o, "both_expected", true, l->both_expected);
	set(o, "shape", json_string(study_shape_name(l->shape)));
	return o;
}

static json_t *run_json(const struct study_run *r)
{
	if (!r->present)
		return json_null();
	json_t *o = json_object(), *levels = json_array();
	bool spread = r->samples > 1 && r->sigma_ns > 0;
	for (size_t i = 0; i < r->levels.count; i++)
		json_array_append_new(levels, json_level(&r->levels.items[i]));
	set(o, "run", json_id(r->run));
	json_set_count(o, "length_ns", r->length_ns);
	json_set_count(o, "samples", r->samples);
	json_set_count(o, "cluster", r->cluster);
	set_count_if(o, "cluster_low_ns", r->cluster, r->cluster_low_ns);
	set_count_if(o, "cluster_high_ns", r->cluster, r->cluster_high_ns);
	set(o, "steadied", json_boolean(r->steadied));
	set(o, "levels", levels);
	set(o, "l_samples", numbers_json(r->l_samples.items, r->l_samples.count));
	set(o, "dropped", numbers_json(r->dropped.items, r->dropped.count));
	set_real_if(o, "mean_ns", r->samples, r->mean_ns);
	set_real_if(o, "mean_kept_ns", r->samples > r->dropped.count, r->mean_kept_ns);
	set_real_if(o, "sigma_ns", r->samples > 1, r->sigma_ns);
	set_real_if(o, "sigma_kept_ns", r->samples > r->dropped.count + 1, r->sigma_kept_ns);
	set_real_if(o, "sigma_ratio", spread && r->samples > r->dropped.count + 1,
		    spread ? r->sigma_kept_ns / r->sigma_ns : NAN);
	set_real_if(o, "steady_sigma_ns", r->steadied, r->steady_sigma_ns);
	set_real_if(o, "steady_sigma_kept_ns", r->steadied && r->samples > r->dropped.count + 1,
		    r->steady_sigma_kept_ns);
	return o;
}

/* ---- the daemons ---- */

static json_t *period_json(const struct study_period *p)
{
	if (!p->found)
		return json_null();
	json_t *o = json_object();
	json_set_count(o, "ns", p->ns);
	json_set_count(o, "error_ns", p->error_ns);
	set_real_if(o, "samples", true, p->samples);
	set(o, "uncertain", json_boolean(p->uncertain));
	return o;
}

static json_t *seen_json(const struct study_run *r, const struct study_seen *s)
{
	if (!r->present)
		return json_null();
	json_t *o = json_object();
	json_set_count(o, "cluster_executions", s->cluster_executions);
	set_count_if(o, "cluster_max_ns", s->cluster_executions, s->cluster_max_ns);
	set_real_if(o, "cluster_sigma_ns", s->cluster_executions, s->cluster_sigma_ns);
	json_set_count(o, "long_executions", s->long_executions);
	set_count_if(o, "long_least_ns", s->long_executions, s->long_least_ns);
	set_count_if(o, "long_most_ns", s->long_executions, s->long_most_ns);
	set(o, "samples", numbers_json(s->samples.items, s->samples.count));
	set(o, "period", period_json(&s->period));
	set_count_if(o, "cutoff_ns", s->has_cutoff, s->cutoff_ns);
	return o;
}

/* Of one daemon; NULL: of all, each with its name. */
static json_t *cutoffs_json(const struct study *s, const char *daemon)
{
	json_t *list = json_array();
	for (size_t i = 0; i < s->cutoffs.count; i++) {
		const struct cutoff *c = &s->cutoffs.items[i];
		json_t *o;
		if (daemon && strcmp(c->daemon, daemon) != 0)
			continue;
		o = json_object();
		if (!daemon) {
			set(o, "id", json_id(c->id));
			set(o, "daemon", json_text(c->daemon));
		}
		json_set_count(o, "from_ns", c->from_ns);
		set_count_if(o, "below_ns", c->below_ns, c->below_ns);
		json_set_count(o, "cutoff_ns", c->cutoff_ns);
		set(o, "edited", json_boolean(c->edited));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *daemon_json(const struct study *s, const struct study_daemon *d)
{
	json_t *o = json_object(), *runs = json_object();
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++)
		set(runs, study_length_name(k), seen_json(&s->runs[k], &d->seen[k]));
	set(o, "name", json_text(d->name));
	set(o, "long_running", json_boolean(daemon_is_long_running(d)));
	set(o, "period", period_json(&d->period));
	set(o, "cutoffs", cutoffs_json(s, d->name));
	set(o, "runs", runs);
	return o;
}

json_t *daemons_document(const struct study *s, const struct machine *machine)
{
	json_t *root = json_object(), *runs = json_object(), *daemons = json_array();
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++)
		set(runs, study_length_name(k), run_json(&s->runs[k]));
	for (size_t i = 0; i < s->daemons.count; i++)
		json_array_append_new(daemons, daemon_json(s, &s->daemons.items[i]));
	set(root, "type", json_string("study"));
	json_set_count(root, "format", 1);
	set(root, "id", json_id(s->id));
	set(root, "source", json_string(study_source_name(s->source)));
	set(root, "made_at", s->made_at_ns ? json_date(s->made_at_ns) : json_null());
	set(root, "machine_id", json_id(s->machine));
	set(root, "machine", json_machine(machine));
	set(root, "runs", runs);
	set(root, "daemons", daemons);
	set(root, "cutoffs", cutoffs_json(s, NULL));
	return root;
}

void daemons_json(const struct study *s, const struct machine *machine, struct strbuf *out)
{
	put_json(daemons_document(s, machine), 1, out);
}
