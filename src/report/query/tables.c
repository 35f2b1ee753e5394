/* Tables of queries: a row for each Q@C, execution, sanity check or relation of the model. */
#include <math.h>
#include <stdio.h>

#include "report/query/rows.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* ---- Q@Cs and executions ---- */

struct table *query_table(const struct query_view *v)
{
	struct columns columns = { 0 };
	struct query_rows rows;
	columns_add_fields(&columns, query_row_fields);
	struct table *t = table_of(&columns);
	query_rows_of(v, &rows);
	for (size_t i = 0; i < rows.list.count; i++)
		table_add_fields(t, query_row_fields, &rows.list.items[i]);
	query_rows_release(&rows);
	return t;
}

/* What may have all of 64 bits is no count, but text. */
static bool is_text(const struct field *f)
{
	return f->kind == FIELD_HASH || f->unit == UNIT_ID;
}

/* All numbers are integers: what is written is read as it was. */
struct table *query_executions_table(const struct query_view *v)
{
	struct columns columns = { 0 };
	struct field_cursor c = { .fields = query_execution_fields, .without = FIELD_NOT_CSV };
	columns_add(&columns, COLUMN_COUNT, "", "query");
	columns_add(&columns, COLUMN_COUNT, "", "cardinality");
	while (field_next(&c))
		columns_add(&columns, is_text(&c.leaf) ? COLUMN_TEXT : COLUMN_COUNT, "",
			    c.leaf.csv);
	columns_add(&columns, COLUMN_TEXT, "", "dropped_by");
	struct table *t = table_of(&columns);
	const uint32_t *fired = v->result->fired;
	for (size_t i = 0; i < v->data->at.count; i++) {
		const struct query_at *at = &v->data->at.items[i];
		for (size_t k = 0; k < at->executions.count; k++) {
			SCOPED(strbuf_release) struct strbuf names = { 0 };
			table_add_count(t, at->query);
			table_add_count(t, (int64_t)at->cardinality);
			c = (struct field_cursor){ .fields = query_execution_fields,
						   .without = FIELD_NOT_CSV,
						   .unnamed = true };
			while (field_next(&c)) {
				struct value cell = field_value(&c, &at->executions.items[k]);
				char text[32];
				snprintf(text, sizeof text,
					 c.leaf.kind == FIELD_HASH ? "%016llx" : "%llu",
					 (unsigned long long)cell.integer);
				if (cell.type == IS_ABSENT)
					table_add_absent(t);
				else if (is_text(&c.leaf))
					table_add_text(t, text);
				else
					table_add_count(t, cell.integer);
			}
			put_checks(*fired++, "; ", &names);
			table_add_text(t, strbuf_text(&names));
		}
	}
	return t;
}

struct table *query_dropped_table(const struct query_view *v, const char *what, const char *number,
				  const char *by)
{
	const struct column columns[] = {
		{ "query", what, COLUMN_TEXT },
		{ "execution", number, COLUMN_COUNT },
		{ "elapsed", "Elapsed", COLUMN_DURATION, .digits = 3 },
		{ "checks", by, COLUMN_TEXT },
	};
	struct table *t = table_new(columns, COUNT_OF(columns));
	const uint32_t *fired = v->result->fired;
	for (size_t i = 0; i < v->data->at.count; i++) {
		const struct query_at *at = &v->data->at.items[i];
		for (size_t k = 0; k < at->executions.count; k++, fired++) {
			struct strbuf names = { 0 };
			char place[2 * WORDS];
			if (!*fired)
				continue;
			query_place(v->data, at->query, at->cardinality, place);
			put_checks(*fired, ", ", &names);
			table_add_text(t, place);
			table_add_count(t, at->executions.items[k].number);
			table_add_number(t, (double)at->executions.items[k].measured_ns);
			table_add_text(t, strbuf_text(&names));
			strbuf_release(&names);
		}
	}
	if (table_rows(t))
		return t;
	table_free(t);
	return NULL;
}

/* ---- sanity checks ---- */

static void add_check(struct table *t, bool all, const char *scope, const char *name,
		      const struct ttp_count *c)
{
	if (!c->fired && !all)
		return;
	table_add_text(t, scope);
	table_add_text(t, name);
	table_add_count(t, (int64_t)c->fired);
	table_add_count(t, (int64_t)c->of);
	if (c->of)
		table_add_number(t, (double)c->fired / (double)c->of);
	else
		table_add_shown(t, NAN, "not evaluated");
}

struct table *query_checks_table(const struct query_view *v, enum query_checks which)
{
	static const struct column columns[] = {
		{ "scope", "Of", COLUMN_TEXT },
		{ "check", "Sanity check", COLUMN_TEXT },
		{ "fired", "Fired", COLUMN_COUNT, .thousands = true },
		{ "of", "Evaluated", COLUMN_COUNT, .thousands = true },
		{ "share", "Share", COLUMN_PERCENT },
	};
	const struct ttp_result *r = v->result;
	bool all = which == QUERY_ALL_CHECKS, drops = which != QUERY_OTHER_CHECKS;
	struct table *t = table_new(columns, COUNT_OF(columns));
	for (enum ttp_wide_check c = 0; c < TTP_WIDE_CHECKS; c++)
		add_check(t, all, "experiment", ttp_wide_check_names[c], &r->wide[c]);
	for (enum ttp_check c = 0; drops && c < TTP_CHECKS; c++)
		add_check(t, all, "execution", ttp_check_names[c], &r->checks[c]);
	for (enum ttp_at_check c = drops ? 0 : TTP_STRICT; c < TTP_AT_CHECKS; c++)
		add_check(t, all, "Q@C", ttp_at_check_names[c], &r->at_checks[c]);
	if (ttp_time_means(v->data, TTP_CALC)) {
		add_check(t, all, "afterwards", "excessive variation in calculated time",
			  &r->post.variation);
		add_check(t, all, "afterwards", ttp_at_check_names[TTP_STRICT], &r->post.strict);
		add_check(t, all, "afterwards", ttp_at_check_names[TTP_RELAXED], &r->post.relaxed);
	}
	if (table_rows(t))
		return t;
	table_free(t);
	return NULL;
}

/* ---- the causal model ---- */

void query_model_of(const struct query_view *v, struct query_relation out[TTP_RELATIONS])
{
	struct ttp_correlation found[TTP_RELATIONS];
	ttp_model(&v->data, &v->result, 1, found);
	for (size_t i = 0; i < TTP_RELATIONS; i++) {
		const struct ttp_relation *relation = &ttp_relations[i];
		bool known = found[i].off >= 0;
		out[i] = (struct query_relation){
			.id = relation->id,
			.left = ttp_model_measure_names[relation->left],
			.right = ttp_model_measure_names[relation->right],
			.predicted = relation->predicted,
			.papers_r = relation->papers,
			.known = known,
			.r = known ? found[i].r : NAN,
			.p = known ? found[i].p : NAN,
			.observed = found[i].level,
			.off = found[i].off,
		};
	}
}

struct table *query_model_table(const struct query_relation model[TTP_RELATIONS])
{
	static const struct column columns[] = {
		{ "id", "Id", COLUMN_TEXT },
		{ "left", "Measure", COLUMN_TEXT },
		{ "right", "with", COLUMN_TEXT },
		{ "predicted", "Predicted", COLUMN_TEXT },
		{ "r", "r", COLUMN_REAL, .decimals = DECIMALS(2) },
		{ "p", "p", COLUMN_TEXT },
		{ "observed", "Observed", COLUMN_TEXT },
		{ "match", "", COLUMN_TEXT },
		{ "papers", "Paper's r", COLUMN_REAL, .decimals = DECIMALS(2) },
	};
	struct table *t = table_new(columns, COUNT_OF(columns));
	for (size_t i = 0; i < TTP_RELATIONS; i++) {
		static const char *const matches[] = { "match", "close", "off" };
		const struct query_relation *m = &model[i];
		char p[WORDS] = "= -";
		if (m->known)
			format_p(m->p, p);
		table_add_text(t, m->id);
		table_add_text(t, m->left);
		table_add_text(t, m->right);
		table_add_text(t, ttp_level_names[m->predicted]);
		table_add_number(t, fabs(m->r) < 0.005 ? 0 : m->r);
		table_add_text(t, p + 2); /* its title says what it is */
		char observed[WORDS] = "-";
		if (m->known)
			snprintf(observed, sizeof observed, "%s%s",
				 m->r < 0 && m->observed != TTP_LOW ? "-" : "",
				 ttp_level_names[m->observed]);
		table_add_text(t, observed);
		table_add_text(t, m->known ? matches[m->off] : "-");
		table_add_number(t, m->papers_r);
	}
	return t;
}

void put_model_summary(const struct query_relation model[TTP_RELATIONS], struct strbuf *out)
{
	int counts[4] = { 0 };
	for (size_t i = 0; i < TTP_RELATIONS; i++)
		counts[model[i].known ? model[i].off : 3]++;
	strbuf_printf(out,
		      "%d of %d correlations are as predicted, %d one level off, %d two or more",
		      counts[0], TTP_RELATIONS, counts[1], counts[2]);
	if (counts[3])
		strbuf_printf(out,
			      "; %d cannot be told, as a measure does not vary or was not seen",
			      counts[3]);
	strbuf_putc(out, '.');
}
