/* Runs of `tare time` on a page. */
#include <stdlib.h>

#include "cmd/kinds.h"
#include "cmd/view.h"

struct loading {
	struct lab *lab;
	struct error *err;
	bool failed;
};

static bool load_trace(void *context, const struct execution *x, struct trace *into)
{
	struct loading *l = context;
	if (l->failed || !x->id)
		return false;
	l->failed = lab_get_trace(l->lab, x->id, into, l->err) != 0;
	return !l->failed;
}

int page_times_add(struct page *p, struct lab *lab, struct loaded_run *l, size_t runs,
		   struct error *err)
{
	struct loading loading = { .lab = lab, .err = err };
	const struct page_traces traces = { .load = load_trace, .context = &loading };
	FREED struct run_view *view = loaded_views(&(loaded_list){ .items = l, .count = 1 });
	page_add_time(p, view, runs, &traces);
	/* what comparisons do not need is much of many runs */
	for (size_t i = 0; i < l->executions.count; i++) {
		array_release(&l->executions.items[i].processes);
		ledger_release(&l->executions.items[i].ledger);
	}
	return loading.failed ? -1 : 0;
}

/* ---- comparisons ---- */

static bool has(const struct loaded_run *l, enum emp_measure m)
{
	return l->result.present[m] && l->result.kept[m].n;
}

int page_times_compare(struct page *p, const loaded_list *list, size_t first, int64_t wanted,
		       struct error *err)
{
	size_t reference = 0;
	while (reference < list->count && !(wanted ? list->items[reference].run.id == wanted
						   : has(&list->items[reference], EMP_ET)))
		reference++;
	reference = reference < list->count ? reference : 0;
	const struct loaded_run *base = &list->items[reference];
	struct emp_choice choice;
	SCOPED(strbuf_release) struct strbuf why = { 0 };
	loaded_choose(list->items, list->count, NULL, 0, EMP_MEASURES, &choice, &why);
	/* the page's figures are times */
	enum emp_measure measure = emp_is_count(choice.measure) ? base->result.shown
								: choice.measure;
	ARRAY(struct page_time_comparison) rows = { 0 };
	ARRAY(char *) sentences = { 0 };
	int failed = 0;
	for (size_t i = 0; i < list->count && !failed && has(base, measure); i++) {
		const struct loaded_run *l = &list->items[i];
		struct run_comparison c;
		struct strbuf words = { 0 };
		if (i == reference || !has(l, measure))
			continue;
		failed = loaded_compare(base, l, measure, &c, err);
		if (failed)
			break;
		comparison_sentence(base, l, &c, &words);
		array_push(&sentences, strbuf_detach(&words));
		array_push(&rows, (struct page_time_comparison){
					  .section = first + i,
					  .result = c.result,
					  .sentence = sentences.items[sentences.count - 1] });
	}
	if (!failed && rows.count)
		page_compare_times(p, first + reference, measure, strbuf_text(&why), rows.items,
				   rows.count);
	for (size_t i = 0; i < sentences.count; i++)
		free(sentences.items[i]);
	array_release(&sentences);
	array_release(&rows);
	return failed;
}
