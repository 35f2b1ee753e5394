/* docs/schema/query-compare.schema.json */
#include <math.h>

#include "report/core/json.h"
#include "report/core/shapes.h"
#include "report/page/documents.h"
#include "report/query/rows.h"

static struct query_side side_of(const struct query_view *v)
{
	return (struct query_side){ .run = v->run ? v->run->id : 0,
				    .name = v->run ? v->run->name : NULL,
				    .dbms = v->data->dbms,
				    .version = v->data->version,
				    .cold = v->data->cold,
				    .kept = v->result->at_kept };
}

static json_t *pair_json(const struct query_view *base, const struct query_view *other,
			 const struct ttp_pair *p)
{
	struct query_pair row = { .pair = *p,
				  .base_plan = query_plan_hash(p->base),
				  .other_plan = query_plan_hash(p->other) };
	query_name(p->base ? base->data : other->data, p->query, row.name);
	if (!isfinite(p->time.ratio))
		row.pair.time.p = NAN;
	if (!isfinite(p->elapsed.ratio))
		row.pair.elapsed.p = NAN;
	json_t *o = json_shape(&query_pair_shape, &row);
	if (!p->same_plan) {
		SCOPED(strbuf_release) struct strbuf text = { 0 };
		put_plan_change(query_plan_of(base->data, row.base_plan),
				query_plan_of(other->data, row.other_plan), false, &text);
		json_object_set_new(o, "plan_change", json_text(strbuf_text(&text)));
	}
	return o;
}

json_t *query_compare_document(const struct query_view *base, const struct query_view *other,
			       const struct ttp_comparison *c)
{
	const struct query_compared compared = {
		.format = 1, .base = side_of(base), .other = side_of(other), .c = *c
	};
	json_t *root = json_shape(&query_compare_shape, &compared), *pairs = json_array();
	for (size_t i = 0; i < c->pairs.count; i++)
		json_array_append_new(pairs, pair_json(base, other, &c->pairs.items[i]));
	json_object_set_new(root, "pairs", pairs);
	SCOPED(query_settings_release) query_settings list = { 0 };
	query_settings_that_differ(base->data, other->data, &list);
	json_object_set_new(
		root, "settings",
		json_shapes(&query_setting_shape, list.items, list.count, sizeof *list.items));
	return root;
}

void query_compare_json(const struct query_view *base, const struct query_view *other,
			const struct ttp_comparison *c, struct strbuf *out)
{
	put_json(query_compare_document(base, other, c), 1, out);
}
