/* Queries. */

#include "report/page/documents.h"
#include "report/page/private.h"
#include "report/query/rows.h"

#define EXECUTIONS_MOST 30000 /* one takes 340 bytes */

/* NULL where nothing was kept: no r is known. */
static json_t *matrix_json(const struct query_view *v)
{
	double r[TTP_MODEL_MEASURES][TTP_MODEL_MEASURES];
	if (!v->result->executions_kept)
		return json_null();
	ttp_model_matrix(v->data, v->result, r);
	json_t *o = json_shape(&matrix_shape, v);
	for (int i = 0; i < TTP_MODEL_MEASURES; i++) {
		json_t *row = json_array();
		for (int k = 0; k < TTP_MODEL_MEASURES; k++)
			json_array_append_new(row, chart_real(r[i][k]));
		json_append(o, "measures",
			    json_string(ttp_model_measure_names[(enum ttp_model_measure)i]));
		json_append(o, "r", row);
	}
	return o;
}

void page_add_query(struct page *p, const struct query_view *v, const struct ttp_ledger *ledgers,
		    size_t count)
{
	const bool stored = v->data, whole = !stored || v->result->executions <= EXECUTIONS_MOST;
	struct strbuf subtitle = { 0 };
	if (stored) { /* "four on PostgreSQL 15.8, cold, exhaustive" */
		const struct query_run *r = v->data;
		char server[WORDS];
		query_server(r, server);
		if (r->experiment_name && *r->experiment_name)
			strbuf_printf(&subtitle, "%s on ", r->experiment_name);
		strbuf_printf(&subtitle, "%s, %s", server,
			      r->imported ? "imported"
			      : r->cold	  ? "cold"
					  : "warm");
		if (r->scenario)
			strbuf_printf(&subtitle, ", %s", r->scenario);
	}
	json_t *o = page_head_stored(p, &query_section_shape, v->run, v->machine,
				     stored ? &subtitle : NULL);
	json_object_set_new(o, "query", stored ? query_document(v, whole) : json_null());
	json_object_set_new(o, "matrix", stored ? matrix_json(v) : json_null());
	for (size_t i = 0; i < count; i++) {
		json_t *ledger = json_shape(&query_ledger_shape, &ledgers[i]);
		for (int c = 0; c < LEDGER_CAUSES; c++) {
			if (!ledgers[i].wall_ns[c])
				continue;
			json_append(ledger, "causes", json_string(ledger_causes[c].name));
			json_append(ledger, "mean", json_count(ledgers[i].wall_ns[c]));
		}
		json_append(o, "ledgers", ledger);
	}
	if (stored) {
		struct error none = ERROR_INIT;
		struct chart *c = chart_new();
		page_chart(o, "split", c, chart_split(c, v, 0, &none));
	}
	if (!whole)
		page_notef(o,
			   "The %zu executions are not in this page one by one: 'tare query report "
			   "--executions' lists them.",
			   v->result->executions);
	if (count && count >= PAGE_QUERY_LEDGERS && v->data->at.count > count)
		page_note(o, "Ledgers: only those of the first Q@Cs are in this page.");
	page_add(p, o);
	strbuf_release(&subtitle);
}

void page_compare_queries(struct page *p, size_t base, size_t other,
			  const struct query_view *base_view, const struct query_view *other_view,
			  const struct ttp_comparison *c)
{
	json_array_append_new(p->comparisons,
			      json_pack("{s:s, s:I, s:I, s:o}", "kind", "query", "base",
					(json_int_t)base, "other", (json_int_t)other, "diff",
					query_compare_document(base_view, other_view, c)));
}
