/* docs/schema/query.schema.json */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/core/json.h"
#include "report/core/shapes.h"
#include "report/page/documents.h"
#include "report/query/rows.h"

static void set(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

static json_t *names_of(uint32_t bits, const char *const *names)
{
	json_t *list = json_array();
	for (int i = 0; bits >> i; i++)
		if (bits >> i & 1)
			json_array_append_new(list, json_string(names[i]));
	return list;
}

static json_t *row_json(const struct query_view *v, const struct query_row *row,
			bool with_executions)
{
	json_t *o = json_shape(&query_row_shape, row), *executions = json_array();
	for (size_t k = 0; with_executions && k < row->made; k++) {
		const struct query_execution *x = &row->at->executions.items[k];
		struct query_judged j = { .x = *x, .cpu_ns = ABSENT_NS };
		if (!(x->usage[QUERY_QUERY].missing &
		      (1u << QUERY_USER_NS | 1u << QUERY_SYSTEM_NS)))
			j.cpu_ns = query_cpu_ns(x, QUERY_QUERY);
		for (enum ttp_time t = 0; t < TTP_TIMES; t++)
			if (!ttp_time_means(v->data, t) || !ttp_time_of(x, t, &j.times[t]))
				j.times[t] = NAN;
		json_t *one = json_shape(&query_judged_shape, &j);
		set(one, "dropped_by", names_of(row->fired[k], ttp_check_names));
		json_array_append_new(executions, one);
	}
	set(o, "dropped_by", json_text(row->dropped_by));
	set(o, "fired", names_of(row->verdict->fired, ttp_at_check_names));
	set(o, "fired_afterwards", names_of(row->verdict->after, ttp_at_check_names));
	set(o, "executions", executions);
	return o;
}

static json_t *checks_of(const struct shape *shape, const struct ttp_count *counts, size_t count)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(
			list, json_shape(shape, &(struct query_check){ (uint32_t)i, counts[i] }));
	return list;
}

/* The columns of the executions' CSV that the check of underlying measures did not find. */
static json_t *missing_json(const struct ttp_missing *m)
{
	struct query_execution lacking = { .overall_missing = m->overall };
	struct field_cursor c = { .fields = query_execution_fields };
	json_t *list = json_array();
	for (int role = 0; role < QUERY_ROLES; role++)
		lacking.usage[role].missing = m->roles[role];
	while (field_next(&c))
		if (c.leaf.kind == FIELD_MEASURES && field_value(&c, &lacking).type == IS_ABSENT)
			json_array_append_new(list, json_string(c.leaf.csv));
	return list;
}

/* None where the run is not fit for a paper. */
static json_t *paragraphs_json(const struct query_view *v)
{
	json_t *list = json_array();
	struct strbuf text = { 0 };
	if (query_unfit(v))
		return list;
	query_paragraphs(v, &text);
	char *second = strstr(text.text, "\n\n");
	text.text[text.length - 1] = '\0';
	if (second)
		*second = '\0';
	json_array_append_new(list, json_text(text.text));
	json_array_append_new(list, json_text(second ? second + 2 : ""));
	strbuf_release(&text);
	return list;
}

/* All but "at". */
static json_t *head_json(const struct query_view *v, const struct query_rows *rows)
{
	const struct ttp_result *r = v->result;
	struct query_head head = { .format = 1,
				   .data = *v->data,
				   .options = *v->options,
				   .result = *r,
				   .time = rows->time,
				   .relative_error = rows->relative_error,
				   .reading = query_reading_of(rows),
				   .surroundings = query_surroundings_of(v->data, rows),
				   .no_paragraphs = query_unfit(v),
				   .has_post = ttp_time_means(v->data, TTP_CALC) };
	const struct query_check post[] = { { TTP_VARIATION, r->post.variation },
					    { TTP_STRICT, r->post.strict },
					    { TTP_RELAXED, r->post.relaxed } };
	struct query_relation model[TTP_RELATIONS];
	struct query_item items[QUERY_ITEMS];
	sentence_list deviations = { 0 };
	char seed[32];
	head.has_reading = head.reading.known;
	query_model_of(v, model);
	query_items(v, items);
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)v->data->seed);
	json_t *root = json_shape(&query_shape, &head), *checks = json_object_get(root, "checks");
	set(root, "run", json_run(v->run));
	set(root, "machine", json_machine(v->machine));
	set(json_object_get(root, "experiment"), "seed", json_text(v->data->seed ? seed : NULL));
	set(json_object_get(root, "server"), "settings", json_parsed(v->data->settings));
	for (size_t i = 0; i < v->data->plans.count; i++)
		set(json_array_get(json_object_get(root, "plans"), i), "plan",
		    json_parsed(v->data->plans.items[i].json));
	set(checks, "experiment", checks_of(&query_wide_check_shape, r->wide, TTP_WIDE_CHECKS));
	set(checks, "execution", checks_of(&query_check_shape, r->checks, TTP_CHECKS));
	set(checks, "at", checks_of(&query_at_check_shape, r->at_checks, TTP_AT_CHECKS));
	set(checks, "missing", missing_json(&r->missing));
	if (head.has_post) {
		json_t *o = json_object_get(root, "post");
		set(o, "checks", json_shapes(&query_at_check_shape, post, 3, sizeof *post));
		set(o, "constant", names_of(r->post.constant, ttp_model_measure_names));
	}
	set(root, "model", json_shapes(&query_relation_shape, model, TTP_RELATIONS, sizeof *model));
	set(root, "deviations", json_array());
	query_deviations(v, false, &deviations);
	for (size_t i = 0; i < deviations.count; i++)
		json_array_append_new(json_object_get(root, "deviations"),
				      json_text(deviations.items[i]));
	sentences_release(&deviations);
	set(root, "items", json_shapes(&query_item_shape, items, QUERY_ITEMS, sizeof *items));
	set(root, "paragraphs", paragraphs_json(v));
	json_object_del(root, "at");
	query_items_release(items);
	return root;
}

json_t *query_document(const struct query_view *v, bool with_executions)
{
	struct query_rows rows;
	query_rows_of(v, &rows);
	json_t *root = head_json(v, &rows), *list = json_array();
	for (size_t i = 0; i < rows.list.count; i++)
		json_array_append_new(list, row_json(v, &rows.list.items[i], with_executions));
	set(root, "at", list);
	query_rows_release(&rows);
	return root;
}

void query_json(const struct query_view *v, struct strbuf *out)
{
	struct query_rows rows;
	query_rows_of(v, &rows);
	json_t *root = head_json(v, &rows);
	FREED char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	text[strlen(text) - 2] = '\0'; /* its last newline and brace */
	strbuf_puts(out, text);
	/* one after the other: half a million executions as a tree would take more than a GiB */
	strbuf_puts(out, ",\n \"at\": [");
	for (size_t i = 0; i < rows.list.count; i++) {
		json_t *row = row_json(v, &rows.list.items[i], true);
		strbuf_puts(out, i ? ",\n  " : "\n  ");
		put_compact_json(row, out);
		json_decref(row);
	}
	strbuf_puts(out, "\n ]\n}\n");
	json_decref(root);
	query_rows_release(&rows);
}
