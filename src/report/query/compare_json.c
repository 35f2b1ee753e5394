/* docs/schema/query-compare.schema.json */
#include <math.h>
#include <stdio.h>

#include "report/core/json.h"
#include "report/page/documents.h"
#include "report/query/rows.h"

static void set(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

static json_t *side_json(const struct query_view *v)
{
	json_t *o = json_object();
	set(o, "run", json_id(v->run ? v->run->id : 0));
	set(o, "name", json_text(v->run ? v->run->name : NULL));
	set(o, "dbms", json_text(v->data->dbms));
	set(o, "version", json_text(v->data->version));
	set(o, "cold", json_boolean(v->data->cold));
	set(o, "kept", json_integer((json_int_t)v->result->at_kept));
	return o;
}

static uint64_t plan_of(const struct query_at *at)
{
	return at && at->executions.count ? at->executions.items[0].plan : 0;
}

static json_t *pair_json(const struct query_view *base, const struct query_view *other,
			 const struct ttp_pair *p)
{
	json_t *o = json_object();
	char name[WORDS];
	uint64_t before = plan_of(p->base), after = plan_of(p->other);
	query_name(p->base ? base->data : other->data, p->query, name);
	set(o, "query", json_integer(p->query));
	set(o, "name", json_text(name));
	set(o, "cardinality",
	    p->cardinality ? json_integer((json_int_t)p->cardinality) : json_null());
	set(o, "change", json_string(query_change_name(p->change)));
	set(o, "same_plan", json_boolean(p->same_plan));
	set(o, "base_plan", json_hash(before));
	set(o, "other_plan", json_hash(after));
	if (p->same_plan)
		set(o, "plan_change", json_null());
	else {
		struct strbuf text = { 0 };
		put_plan_change(query_plan_of(base->data, before),
				query_plan_of(other->data, after), false, &text);
		set(o, "plan_change", json_text(strbuf_text(&text)));
		strbuf_release(&text);
	}
	json_set_real(o, "base_ns", p->base_ns);
	json_set_real(o, "other_ns", p->other_ns);
	json_set_real(o, "ratio", p->ratio);
	json_set_real(o, "ratio_low", p->low);
	json_set_real(o, "ratio_high", p->high);
	json_set_real(o, "p", isfinite(p->ratio) ? p->p : NAN);
	return o;
}

json_t *query_compare_document(const struct query_view *base, const struct query_view *other,
			       const struct ttp_comparison *c)
{
	json_t *root = json_object(), *pairs = json_array();
	for (size_t i = 0; i < c->pairs.count; i++)
		json_array_append_new(pairs, pair_json(base, other, &c->pairs.items[i]));
	set(root, "type", json_string("query-compare"));
	set(root, "format", json_integer(1));
	set(root, "base", side_json(base));
	set(root, "other", side_json(other));
	set(root, "time", json_string(ttp_time_name(c->time)));
	set(root, "compared", json_integer((json_int_t)c->compared));
	set(root, "plan_changes", json_integer((json_int_t)c->plan_changes));
	set(root, "slower", json_integer((json_int_t)c->slower));
	set(root, "faster", json_integer((json_int_t)c->faster));
	json_set_real(root, "ratio", c->ratio);
	json_set_real(root, "ratio_low", c->ratio_low);
	json_set_real(root, "ratio_high", c->ratio_high);
	set(root, "pairs", pairs);
	return root;
}

void query_compare_json(const struct query_view *base, const struct query_view *other,
			const struct ttp_comparison *c, struct strbuf *out)
{
	put_json(query_compare_document(base, other, c), 1, out);
}
