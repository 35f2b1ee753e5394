/* docs/schema/query.schema.json */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/core/json.h"
#include "report/page/documents.h"
#include "report/query/rows.h"

static void set(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

/* 0: not known. */
static void set_count_if(json_t *o, const char *key, uint64_t n)
{
	set(o, key, n ? json_integer((json_int_t)n) : json_null());
}

/* ---- what was executed ---- */

static json_t *texts_json(const struct query_run *r)
{
	json_t *list = json_array();
	for (size_t i = 0; i < r->texts.count; i++) {
		json_t *o = json_object();
		json_set_count(o, "query", r->texts.items[i].query);
		set(o, "name", json_text(r->texts.items[i].name));
		set(o, "sql", json_text(r->texts.items[i].sql));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *plans_json(const struct query_run *r)
{
	json_t *list = json_array();
	for (size_t i = 0; i < r->plans.count; i++) {
		json_t *o = json_object();
		const char *text = r->plans.items[i].json;
		json_t *tree = text ? json_loads(text, 0, NULL) : NULL;
		set(o, "hash", json_hash(r->plans.items[i].hash));
		set(o, "plan", tree ? tree : json_null());
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *events_json(const struct query_run *r)
{
	json_t *list = json_array();
	for (size_t i = 0; i < r->events.count; i++) {
		const struct query_event *e = &r->events.items[i];
		json_t *o = json_object();
		set(o, "kind", json_string(query_event_name(e->kind)));
		set(o, "at", e->at_ns ? json_date(e->at_ns) : json_null());
		set_count_if(o, "query", e->query);
		set_count_if(o, "cardinality", e->cardinality);
		set(o, "plan", json_hash(e->plan));
		set(o, "before", json_hash(e->before));
		set(o, "text", json_text(e->text));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *experiment_json(const struct query_run *r)
{
	json_t *o = json_object();
	char seed[32];
	set(o, "name", json_text(r->experiment_name));
	set(o, "text", json_text(r->experiment));
	set(o, "scenario", json_text(r->scenario));
	json_set_count(o, "queries", r->queries);
	set_count_if(o, "executions", r->planned);
	set(o, "cold", json_boolean(r->cold));
	set(o, "imported", json_boolean(r->imported));
	set_count_if(o, "time_limit_ns", r->time_limit_ns);
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)r->seed);
	set(o, "seed", r->seed ? json_string(seed) : json_null());
	return o;
}

static json_t *server_json(const struct query_run *r)
{
	json_t *o = json_object();
	set(o, "dbms", json_text(r->dbms));
	set(o, "version", json_text(r->version));
	json_t *settings = r->settings ? json_loads(r->settings, 0, NULL) : NULL;
	set(o, "settings", settings ? settings : json_null());
	set(o, "io_by_process", json_boolean(r->io_by_process));
	return o;
}

/* ---- times ---- */

static json_t *figure_json(const struct ttp_figure *f)
{
	if (!f->present)
		return json_null();
	json_t *o = json_object();
	set(o, "median_ns", json_real_or_null(f->median_ns));
	set(o, "mean_ns", json_real_or_null(f->mean_ns));
	set(o, "sigma_ns", json_real_or_null(f->sigma_ns));
	return o;
}

static json_t *checks_of(uint32_t bits)
{
	json_t *list = json_array();
	for (enum ttp_check c = 0; c < TTP_CHECKS; c++)
		if (bits >> c & 1)
			json_array_append_new(list, json_string(ttp_check_name(c)));
	return list;
}

static json_t *at_checks_of(uint32_t bits)
{
	json_t *list = json_array();
	for (enum ttp_at_check c = 0; c < TTP_AT_CHECKS; c++)
		if (bits >> c & 1)
			json_array_append_new(list, json_string(ttp_at_check_name(c)));
	return list;
}

static json_t *execution_of(const struct query_run *r, const struct query_execution *x,
			    uint32_t fired)
{
	json_t *o = json_object(), *times = json_object();
	bool lacks_cpu = x->usage[QUERY_QUERY].missing &
			 (1u << QUERY_USER_NS | 1u << QUERY_SYSTEM_NS);
	for (enum ttp_time t = 0; t < TTP_TIMES; t++) {
		double ns;
		bool known = ttp_time_means(r, t) && ttp_time_of(x, t, &ns);
		set(times, ttp_time_name(t), json_real_or_null(known ? ns : NAN));
	}
	json_set_count(o, "number", x->number);
	set(o, "timed_out", json_boolean(x->outcome == QUERY_TIMED_OUT));
	set(o, "started_at", x->started_at_ns ? json_date(x->started_at_ns) : json_null());
	json_set_count(o, "measured_ns", x->measured_ns);
	set(o, "cpu_ns",
	    lacks_cpu ? json_null() : json_integer((json_int_t)query_cpu_ns(x, QUERY_QUERY)));
	set(o, "own_device_ns", json_ns(x->own_device_ns));
	set(o, "others_device_ns", json_ns(x->others_device_ns));
	set(o, "run_delay_ns", json_ns(x->run_delay_ns));
	set(o, "read_bytes", json_ns(x->read_bytes));
	json_set_count(o, "rows", x->rows);
	set(o, "plan", json_hash(x->plan));
	set(o, "times_ns", times);
	set(o, "dropped_by", checks_of(fired));
	return o;
}

static json_t *times_of(const struct query_run *r, const struct ttp_figure figures[TTP_TIMES])
{
	json_t *o = json_object();
	for (enum ttp_time t = 0; t < TTP_TIMES; t++) {
		struct ttp_figure f = figures[t];
		f.present = f.present && ttp_time_means(r, t);
		set(o, ttp_time_name(t), figure_json(&f));
	}
	return o;
}

static json_t *row_json(const struct query_view *v, const struct query_row *row,
			bool with_executions)
{
	json_t *o = json_object(), *executions = json_array();
	const struct query_at *at = row->at;
	char text[WORDS], letter[16];
	for (size_t k = 0; with_executions && k < at->executions.count; k++)
		json_array_append_new(
			executions, execution_of(v->data, &at->executions.items[k], row->fired[k]));
	query_name(v->data, at->query, text);
	plan_letter(row->plan, letter);
	json_set_count(o, "query", at->query);
	set(o, "name", json_text(text));
	set_count_if(o, "cardinality", at->cardinality);
	set_count_if(o, "table_bytes", at->table_bytes);
	set(o, "plan", row->plan < 0 ? json_null() : json_string(letter));
	set(o, "plan_hash", json_hash(at->executions.count ? at->executions.items[0].plan : 0));
	set(o, "several_plans", json_boolean(row->plans));
	json_set_count(o, "made", at->executions.count);
	json_set_count(o, "kept", row->verdict->kept);
	set(o, "dropped_by",
	    row->verdict->drop ? json_string(ttp_drop_name(row->verdict->drop)) : json_null());
	set(o, "fired", at_checks_of(row->verdict->fired));
	set(o, "fired_afterwards", at_checks_of(row->verdict->after));
	set(o, "times", times_of(v->data, row->verdict->times));
	set(o, "unfiltered", times_of(v->data, row->verdict->unfiltered));
	set(o, "cpu", figure_json(&row->cpu));
	set(o, "own_device", figure_json(&row->device));
	set(o, "blocked", figure_json(&row->blocked));
	set(o, "read_share", json_real_or_null(row->read_share));
	set(o, "executions", executions);
	return o;
}

/* ---- what they are worth ---- */

static void add_check(json_t *list, const char *name, const struct ttp_count *c)
{
	json_t *o = json_object();
	set(o, "name", json_string(name));
	json_set_count(o, "fired", c->fired);
	json_set_count(o, "of", c->of);
	json_array_append_new(list, o);
}

/* The columns of the executions' CSV that the check of underlying measures did not find. */
static json_t *missing_json(const struct ttp_missing *m)
{
	const struct query_execution whole = { 0 };
	struct query_execution lacking = { .overall_missing = m->overall };
	json_t *list = json_array();
	for (int role = 0; role < QUERY_ROLES; role++)
		lacking.usage[role].missing = m->roles[role];
	for (size_t i = 0; i < QUERY_COLUMNS; i++) {
		const struct query_column *c = &query_columns[i];
		uint64_t value;
		if (query_column_get(c, &whole, &value) && !query_column_get(c, &lacking, &value))
			json_array_append_new(list, json_string(c->name));
	}
	return list;
}

static json_t *checks_json(const struct ttp_result *r)
{
	json_t *o = json_object(), *wide = json_array(), *executions = json_array(),
	       *at = json_array();
	for (enum ttp_wide_check c = 0; c < TTP_WIDE_CHECKS; c++)
		add_check(wide, ttp_wide_check_name(c), &r->wide[c]);
	for (enum ttp_check c = 0; c < TTP_CHECKS; c++)
		add_check(executions, ttp_check_name(c), &r->checks[c]);
	for (enum ttp_at_check c = 0; c < TTP_AT_CHECKS; c++)
		add_check(at, ttp_at_check_name(c), &r->at_checks[c]);
	set(o, "experiment", wide);
	set(o, "execution", executions);
	set(o, "at", at);
	set(o, "missing", missing_json(&r->missing));
	return o;
}

/* null: what rests on the query's blocked time means nothing here. */
static json_t *post_json(const struct query_view *v)
{
	const struct ttp_result *r = v->result;
	if (!ttp_time_means(v->data, TTP_CALC))
		return json_null();
	json_t *o = json_object(), *list = json_array(), *constant = json_array();
	add_check(list, ttp_at_check_name(TTP_VARIATION), &r->post.variation);
	add_check(list, ttp_at_check_name(TTP_STRICT), &r->post.strict);
	add_check(list, ttp_at_check_name(TTP_RELAXED), &r->post.relaxed);
	for (enum ttp_model_measure m = 0; m < TTP_MODEL_MEASURES; m++)
		if (r->post.constant >> m & 1)
			json_array_append_new(constant, json_string(ttp_model_measure_name(m)));
	set(o, "checks", list);
	set(o, "kept_difference", json_real_or_null(r->post.kept_difference));
	set(o, "dropped_difference", json_real_or_null(r->post.dropped_difference));
	set(o, "relative_error", json_real_or_null(r->relative_error));
	set(o, "constant", constant);
	return o;
}

static json_t *reading_json(const struct query_rows *rows)
{
	struct query_reading r = query_reading_of(rows);
	if (!r.known)
		return json_null();
	json_t *o = json_object();
	json_set_count(o, "known", r.known);
	json_set_count(o, "whole", r.whole);
	json_set_count(o, "less", r.less);
	json_set_count(o, "more", r.more);
	json_set_count(o, "warm", r.warm);
	return o;
}

static json_t *surroundings_json(const struct query_run *r, const struct query_rows *rows)
{
	struct query_surroundings s = query_surroundings_of(r, rows);
	json_t *o = json_object();
	set(o, "run_delay_share", json_real_or_null(s.run_delay));
	set(o, "steal_share", json_real_or_null(s.steal));
	json_set_count(o, "lost", s.lost);
	return o;
}

static json_t *model_json(const struct query_view *v)
{
	struct ttp_correlation found[TTP_RELATIONS];
	json_t *list = json_array();
	query_model_of(v, found);
	for (size_t i = 0; i < TTP_RELATIONS; i++) {
		const struct ttp_relation *relation = &ttp_relations[i];
		const struct ttp_correlation *c = &found[i];
		json_t *o = json_object();
		set(o, "id", json_string(relation->id));
		set(o, "left", json_string(ttp_model_measure_name(relation->left)));
		set(o, "right", json_string(ttp_model_measure_name(relation->right)));
		set(o, "predicted", json_string(ttp_level_name(relation->predicted)));
		set(o, "papers_r", json_real_or_null(relation->papers));
		set(o, "r", json_real_or_null(c->off < 0 ? NAN : c->r));
		set(o, "p", json_real_or_null(c->off < 0 ? NAN : c->p));
		set(o, "observed",
		    c->off < 0 ? json_null() : json_string(ttp_level_name(c->level)));
		set(o, "off", c->off < 0 ? json_null() : json_integer(c->off));
		json_array_append_new(list, o);
	}
	return list;
}

/* ---- section 9 ---- */

static json_t *deviations_json(const struct query_view *v)
{
	json_t *list = json_array();
	sentence_list sentences = { 0 };
	query_deviations(v, false, &sentences);
	for (size_t i = 0; i < sentences.count; i++)
		json_array_append_new(list, json_text(sentences.items[i]));
	sentences_release(&sentences);
	return list;
}

static json_t *items_json(const struct query_view *v)
{
	json_t *list = json_array();
	struct query_item items[QUERY_ITEMS];
	query_items(v, items);
	for (size_t i = 0; i < QUERY_ITEMS; i++) {
		json_t *o = json_object();
		set(o, "name", json_string(items[i].name));
		set(o, "text", json_text(items[i].text));
		json_array_append_new(list, o);
	}
	query_items_release(items);
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

static json_t *options_json(const struct ttp_options *o)
{
	json_t *options = json_object();
	set(options, "form", json_string(o->form == TTP_PAPER ? "paper" : "adapted"));
	set_count_if(options, "tick_ns", o->tick_ns);
	json_set_count(options, "floor_ns", o->floor_ns);
	return options;
}

/* One after the other: half a million executions as a tree would take more than a GiB. */
static void put_rows(const struct query_view *v, const struct query_rows *rows, struct strbuf *out)
{
	strbuf_puts(out, ",\n \"at\": [");
	for (size_t i = 0; i < rows->list.count; i++) {
		json_t *row = row_json(v, &rows->list.items[i], true);
		strbuf_puts(out, i ? ",\n  " : "\n  ");
		put_compact_json(row, out);
		json_decref(row);
	}
	strbuf_puts(out, "\n ]");
}

/* All but "at". */
static json_t *head_json(const struct query_view *v, const struct query_rows *rows)
{
	json_t *root = json_object();
	const struct ttp_result *r = v->result;
	set(root, "type", json_string("query"));
	json_set_count(root, "format", 1);
	set(root, "run", json_run(v->run));
	set(root, "machine", json_machine(v->machine));
	set_count_if(root, "cpus", v->data->cpus);
	set(root, "experiment", experiment_json(v->data));
	set(root, "server", server_json(v->data));
	set(root, "options", options_json(v->options));
	set(root, "texts", texts_json(v->data));
	set(root, "plans", plans_json(v->data));
	set(root, "events", events_json(v->data));
	json_set_count(root, "at_made", r->at_count);
	json_set_count(root, "at_kept", r->at_kept);
	json_set_count(root, "executions_made", r->executions);
	json_set_count(root, "executions_kept", r->executions_kept);
	set(root, "time", json_string(ttp_time_name(rows->time)));
	set(root, "relative_error", json_real_or_null(rows->relative_error));
	set(root, "checks", checks_json(r));
	set(root, "post", post_json(v));
	set(root, "reading", reading_json(rows));
	set(root, "surroundings", surroundings_json(v->data, rows));
	set(root, "model", model_json(v));
	set(root, "deviations", deviations_json(v));
	set(root, "items", items_json(v));
	set(root, "paragraphs", paragraphs_json(v));
	set(root, "no_paragraphs", json_text(query_unfit(v)));
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
	char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	text[strlen(text) - 2] = '\0'; /* its last newline and brace */
	strbuf_puts(out, text);
	put_rows(v, &rows, out);
	strbuf_puts(out, "\n}\n");
	free(text);
	json_decref(root);
	query_rows_release(&rows);
}
