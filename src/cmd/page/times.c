/* Runs of `tare time` on a page. */
#include <stdlib.h>

#include "cmd/page/page.h"

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

/* What comparisons do not need: of many runs it is much. */
static void forget_details(struct loaded_run *l)
{
	for (size_t i = 0; i < l->executions.count; i++) {
		array_release(&l->executions.items[i].processes);
		ledger_release(&l->executions.items[i].ledger);
	}
}

static int add_runs(struct page *p, struct lab *lab, const struct page_request *request,
		    const id_list *runs, loaded_list *list, struct error *err)
{
	struct loading loading = { .lab = lab, .err = err };
	const struct page_traces traces = { .load = load_trace, .context = &loading };
	for (size_t i = 0; i < runs->count; i++) {
		if (loaded_add_by(list, lab, runs->items[i], LAB_PROCESSES, request->cutoffs, err))
			return -1;
		struct run_view *views = loaded_views(list);
		page_add_time(p, &views[i], runs->count, &traces);
		free(views);
		if (loading.failed)
			return -1;
		forget_details(&list->items[i]);
	}
	return 0;
}

/* ---- comparisons ---- */

static bool has(const struct loaded_run *l, enum emp_measure m)
{
	return l->result.present[m] && l->result.kept[m].n;
}

/* The best that all of those with a kept execution have. */
static enum emp_measure common_measure(const loaded_list *list)
{
	static const enum emp_measure best[] = { EMP_PT_NET, EMP_PT_EXEC, EMP_PT_TICK };
	for (size_t k = 0; k < sizeof best / sizeof *best; k++) {
		bool all = true;
		for (size_t i = 0; i < list->count; i++)
			all &= has(&list->items[i], best[k]) || !has(&list->items[i], EMP_ET);
		if (all)
			return best[k];
	}
	return EMP_ET;
}

static size_t find_reference(const loaded_list *list, int64_t wanted)
{
	for (size_t i = 0; i < list->count; i++)
		if (wanted ? list->items[i].run.id == wanted : has(&list->items[i], EMP_ET))
			return i;
	return 0;
}

/* first: the section of the first of the list. */
static int compare(struct page *p, const loaded_list *list, size_t first, int64_t wanted,
		   struct error *err)
{
	size_t reference = find_reference(list, wanted);
	const struct loaded_run *base = &list->items[reference];
	enum emp_measure measure = common_measure(list);
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
		page_compare_times(p, first + reference, measure, rows.items, rows.count);
	for (size_t i = 0; i < sentences.count; i++)
		free(sentences.items[i]);
	array_release(&sentences);
	array_release(&rows);
	return failed;
}

int cmd_page_times(struct page *p, struct lab *lab, const struct page_request *request,
		   const id_list *runs, struct error *err)
{
	loaded_list list = { 0 };
	size_t first = page_section_count(p);
	int failed = add_runs(p, lab, request, runs, &list, err);
	if (!failed && list.count > 1)
		failed = compare(p, &list, first, request->reference, err);
	loaded_release(&list);
	return failed;
}
