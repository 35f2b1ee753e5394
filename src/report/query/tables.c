/* Tables of queries: a row for each Q@C, execution, sanity check or relation of the model. */
#include <math.h>
#include <stdio.h>

#include "report/query/rows.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static void add_figure(struct table *t, const struct ttp_figure *f, double value)
{
	table_add_number(t, f->present ? value : NAN);
}

/* ---- Q@Cs ---- */

static void add_times(struct table *t, const struct query_view *v,
		      const struct ttp_figure figures[TTP_TIMES])
{
	static const enum ttp_time order[] = { TTP_DEVICE, TTP_BLOCKED, TTP_CALC, TTP_MEASURED };
	for (size_t i = 0; i < COUNT_OF(order); i++) {
		struct ttp_figure f = figures[order[i]];
		f.present = f.present && ttp_time_means(v->data, order[i]);
		add_figure(t, &f, f.median_ns);
		add_figure(t, &f, f.sigma_ns);
	}
}

static void add_row(struct table *t, const struct query_view *v, const struct query_row *row)
{
	char text[WORDS], letter[16];
	uint64_t hash = row->at->executions.count ? row->at->executions.items[0].plan : 0;
	bool blocked = ttp_time_means(v->data, TTP_BLOCKED);
	table_add_count(t, row->at->query);
	query_name(v->data, row->at->query, text);
	table_add_text(t, text);
	if (row->at->cardinality)
		table_add_count(t, (int64_t)row->at->cardinality);
	else
		table_add_absent(t);
	plan_letter(row->plan, letter);
	table_add_text(t, row->plan < 0 ? NULL : letter);
	snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
	table_add_text(t, hash ? text : NULL);
	table_add_count(t, (int64_t)row->verdict->kept);
	table_add_count(t, (int64_t)row->at->executions.count);
	table_add_text(t, row->verdict->drop ? ttp_drop_name(row->verdict->drop) : "");
	add_times(t, v, row->verdict->times);
	add_figure(t, &row->cpu, row->cpu.median_ns);
	add_figure(t, &row->device, row->device.median_ns);
	table_add_number(t, row->blocked.present && blocked ? row->blocked.median_ns : NAN);
	table_add_number(t, row->read_share);
	add_times(t, v, row->verdict->unfiltered);
}

struct table *query_table(const struct query_view *v)
{
	static const struct column columns[] = {
		{ "query", "No.", COLUMN_COUNT },
		{ "name", "Query", COLUMN_TEXT },
		{ "cardinality", "Cardinality", COLUMN_COUNT },
		{ "plan", "Plan", COLUMN_TEXT },
		{ "plan_hash", "Plan's hash", COLUMN_TEXT, .code = true },
		{ "kept", "Kept", COLUMN_COUNT },
		{ "made", "Made", COLUMN_COUNT },
		{ "dropped_by", "Dropped by", COLUMN_TEXT },
		{ "cpu_device", "CPU + device", COLUMN_DURATION },
		{ "cpu_device_sigma", "σ", COLUMN_DURATION, .digits = 2 },
		{ "cpu_blocked", "CPU + blocked", COLUMN_DURATION },
		{ "cpu_blocked_sigma", "σ", COLUMN_DURATION, .digits = 2 },
		{ "calculated", "Time_calc", COLUMN_DURATION },
		{ "calculated_sigma", "σ", COLUMN_DURATION, .digits = 2 },
		{ "measured", "Elapsed", COLUMN_DURATION },
		{ "measured_sigma", "σ", COLUMN_DURATION, .digits = 2 },
		{ "cpu", "CPU", COLUMN_DURATION },
		{ "own_device", "Own device", COLUMN_DURATION },
		{ "blocked", "Blocked", COLUMN_DURATION },
		{ "read", "Read of tables", COLUMN_PERCENT },
		/* of all executions that ended */
		{ "unfiltered_cpu_device", "CPU + device, unfiltered", COLUMN_DURATION },
		{ "unfiltered_cpu_device_sigma", "σ", COLUMN_DURATION, .digits = 2 },
		{ "unfiltered_cpu_blocked", "CPU + blocked, unfiltered", COLUMN_DURATION },
		{ "unfiltered_cpu_blocked_sigma", "σ", COLUMN_DURATION, .digits = 2 },
		{ "unfiltered_calculated", "Time_calc, unfiltered", COLUMN_DURATION },
		{ "unfiltered_calculated_sigma", "σ", COLUMN_DURATION, .digits = 2 },
		{ "unfiltered_measured", "Elapsed, unfiltered", COLUMN_DURATION },
		{ "unfiltered_measured_sigma", "σ", COLUMN_DURATION, .digits = 2 },
	};
	struct table *t = table_new(columns, COUNT_OF(columns));
	struct query_rows rows;
	query_rows_of(v, &rows);
	for (size_t i = 0; i < rows.list.count; i++)
		add_row(t, v, &rows.list.items[i]);
	query_rows_release(&rows);
	return t;
}

/* ---- executions ---- */

/* What may have all of 64 bits is no count, but text. */
static bool is_text(const struct query_column *c)
{
	return c->kind == QUERY_HASH || c->kind == QUERY_IDENTITY;
}

static void add_cell(struct table *t, const struct query_column *c, const struct query_execution *x)
{
	uint64_t value;
	char text[32];
	if (!query_column_get(c, x, &value)) {
		table_add_absent(t);
		return;
	}
	if (!is_text(c)) {
		table_add_count(t, (int64_t)value);
		return;
	}
	snprintf(text, sizeof text, c->kind == QUERY_HASH ? "%016llx" : "%llu",
		 (unsigned long long)value);
	table_add_text(t, text);
}

struct table *query_executions_table(const struct query_view *v)
{
	struct column columns[QUERY_COLUMNS + 3] = {
		{ "query", "Query", COLUMN_COUNT }, { "cardinality", "Cardinality", COLUMN_COUNT }
	};
	for (size_t i = 0; i < QUERY_COLUMNS; i++)
		columns[i + 2] =
			(struct column){ query_columns[i].name, query_columns[i].name,
					 is_text(&query_columns[i]) ? COLUMN_TEXT : COLUMN_COUNT,
					 .right = true };
	columns[QUERY_COLUMNS + 2] = (struct column){ "dropped_by", "Dropped by", COLUMN_TEXT };
	struct table *t = table_new(columns, COUNT_OF(columns));
	const uint32_t *fired = v->result->fired;
	for (size_t i = 0; i < v->data->at.count; i++) {
		const struct query_at *at = &v->data->at.items[i];
		for (size_t k = 0; k < at->executions.count; k++) {
			struct strbuf names = { 0 };
			table_add_count(t, at->query);
			table_add_count(t, (int64_t)at->cardinality);
			for (size_t c = 0; c < QUERY_COLUMNS; c++)
				add_cell(t, &query_columns[c], &at->executions.items[k]);
			put_checks(*fired++, "; ", &names);
			table_add_text(t, strbuf_text(&names));
			strbuf_release(&names);
		}
	}
	return t;
}

/* ---- sanity checks ---- */

static void add_check(struct table *t, bool all, const char *scope, const char *name,
		      const struct ttp_count *c)
{
	char share[WORDS], fired[WORDS], of[WORDS];
	if (!c->fired && !all)
		return;
	format_percent(c->of ? (double)c->fired / (double)c->of : 0, share);
	format_count(c->fired, fired);
	format_count(c->of, of);
	table_add_text(t, scope);
	table_add_text(t, name);
	table_add_text(t, fired);
	table_add_text(t, of);
	table_add_text(t, share);
}

struct table *query_checks_table(const struct query_view *v, enum query_checks which)
{
	static const struct column columns[] = {
		{ "scope", "Of", COLUMN_TEXT },
		{ "check", "Sanity check", COLUMN_TEXT },
		{ "fired", "Fired", COLUMN_TEXT, .right = true },
		{ "of", "Asked", COLUMN_TEXT, .right = true },
		{ "share", "Share", COLUMN_TEXT, .right = true },
	};
	const struct ttp_result *r = v->result;
	bool all = which == QUERY_ALL_CHECKS, drops = which != QUERY_OTHER_CHECKS;
	struct table *t = table_new(columns, COUNT_OF(columns));
	for (enum ttp_wide_check c = 0; c < TTP_WIDE_CHECKS; c++)
		add_check(t, all, "experiment", ttp_wide_check_name(c), &r->wide[c]);
	for (enum ttp_check c = 0; drops && c < TTP_CHECKS; c++)
		add_check(t, all, "execution", ttp_check_name(c), &r->checks[c]);
	for (enum ttp_at_check c = drops ? 0 : TTP_STRICT; c < TTP_AT_CHECKS; c++)
		add_check(t, all, "Q@C", ttp_at_check_name(c), &r->at_checks[c]);
	if (ttp_time_means(v->data, TTP_CALC)) {
		add_check(t, all, "afterwards", "excessive variation in calculated time",
			  &r->post.variation);
		add_check(t, all, "afterwards", ttp_at_check_name(TTP_STRICT), &r->post.strict);
		add_check(t, all, "afterwards", ttp_at_check_name(TTP_RELAXED), &r->post.relaxed);
	}
	if (table_rows(t))
		return t;
	table_free(t);
	return NULL;
}

/* ---- the causal model ---- */

void query_model_of(const struct query_view *v, struct ttp_correlation out[TTP_RELATIONS])
{
	ttp_model(&v->data, &v->result, 1, out);
}

static const char *match_name(int off)
{
	return off < 0 ? "-" : off == 0 ? "match" : off == 1 ? "close" : "off";
}

struct table *query_model_table(const struct ttp_correlation found[TTP_RELATIONS])
{
	static const struct column columns[] = {
		{ "id", "Id", COLUMN_TEXT },
		{ "left", "Measure", COLUMN_TEXT },
		{ "right", "with", COLUMN_TEXT },
		{ "predicted", "Predicted", COLUMN_TEXT },
		{ "r", "r", COLUMN_TEXT, .right = true },
		{ "p", "p", COLUMN_TEXT },
		{ "observed", "Observed", COLUMN_TEXT },
		{ "match", "", COLUMN_TEXT },
		{ "papers", "Paper's r", COLUMN_TEXT, .right = true },
	};
	struct table *t = table_new(columns, COUNT_OF(columns));
	for (size_t i = 0; i < TTP_RELATIONS; i++) {
		const struct ttp_relation *relation = &ttp_relations[i];
		const struct ttp_correlation *c = &found[i];
		char r[WORDS] = "-", p[WORDS] = "-", papers[WORDS];
		if (c->off >= 0) {
			snprintf(r, sizeof r, "%.2f", fabs(c->r) < 0.005 ? 0 : c->r);
			format_p(c->p, p);
		}
		snprintf(papers, sizeof papers, "%.2f", relation->papers);
		table_add_text(t, relation->id);
		table_add_text(t, ttp_model_measure_name(relation->left));
		table_add_text(t, ttp_model_measure_name(relation->right));
		table_add_text(t, ttp_level_name(relation->predicted));
		table_add_text(t, r);
		table_add_text(t, c->off < 0 ? p : p + 2); /* its title says what it is */
		table_add_text(t, c->off < 0 ? "-" : ttp_level_name(c->level));
		table_add_text(t, match_name(c->off));
		table_add_text(t, papers);
	}
	return t;
}

void put_model_summary(const struct ttp_correlation found[TTP_RELATIONS], struct strbuf *out)
{
	int counts[4] = { 0 };
	for (size_t i = 0; i < TTP_RELATIONS; i++)
		counts[found[i].off < 0 ? 3 : found[i].off]++;
	strbuf_printf(out, "%d of %d correlations are as predicted, %d one level off, %d two",
		      counts[0], TTP_RELATIONS, counts[1], counts[2]);
	if (counts[3])
		strbuf_printf(out, "; %d cannot be told, as a measure does not vary", counts[3]);
	strbuf_putc(out, '.');
}
