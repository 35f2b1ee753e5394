#include "cmd/page.h"

#include "base/text.h"

/* In the title of a page a name has little room. */
static void put_name(struct strbuf *title, const char *name, bool another)
{
	char shown[64];
	text_display(name ? name : "a run", shown, sizeof(shown));
	strbuf_printf(title, "%s%s", another ? ", " : "", shown);
}

static bool is_in(const id_list *list, int64_t id)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == id)
			return true;
	return false;
}

/* Each once: an anchor is of one section. */
static void take_once(const id_list *given, id_list *into)
{
	for (size_t i = 0; i < given->count; i++)
		if (!is_in(into, given->items[i]))
			array_push(into, given->items[i]);
}

static int sort_runs(struct lab *lab, const id_list *runs, id_list by_kind[SUBJECT_KINDS],
		     struct strbuf *title, struct error *err)
{
	for (size_t i = 0; i < runs->count; i++) {
		struct run run = { 0 };
		if (lab_get_run(lab, runs->items[i], &run, err))
			return -1;
		array_push(&by_kind[run.kind], runs->items[i]);
		if (i < 3)
			put_name(title, run.name, i > 0);
		run_release(&run);
	}
	if (runs->count > 3)
		strbuf_printf(title, " and %zu more", runs->count - 3);
	return 0;
}

/* The first stays loaded, since all others are compared with it. */
int cmd_page_compared(struct page *p, struct lab *lab, const id_list *runs,
		      const struct page_kind *kind, struct error *err)
{
	void *first = NULL;
	size_t at = 0;
	int failed = 0;
	for (size_t i = 0; i < runs->count && !failed; i++) {
		void *run = xcalloc(1, kind->size);
		bool stored = false;
		failed = kind->add(p, lab, runs->items[i], run, &stored, err);
		if (!failed && stored && !first) {
			first = run;
			at = page_section_count(p) - 1;
			continue;
		}
		if (!failed && stored)
			kind->compare(p, at, first, run);
		kind->release(run);
		xfree(run);
	}
	if (first)
		kind->release(first);
	xfree(first);
	return failed ? -1 : 0;
}

int cmd_make_page(struct lab *lab, const struct page_request *request, struct page **out,
		  struct error *err)
{
	id_list by_kind[SUBJECT_KINDS] = { 0 }, runs = { 0 }, studies = { 0 };
	struct strbuf title = { 0 };
	struct page *p = NULL;
	take_once(&request->runs, &runs);
	take_once(&request->studies, &studies);
	int failed = sort_runs(lab, &runs, by_kind, &title, err);
	if (!failed) {
		if (!runs.count)
			strbuf_puts(&title, "daemons");
		p = page_new(strbuf_text(&title), request->served);
		failed = cmd_page_times(p, lab, request, &by_kind[SUBJECT_COMMAND], err) ||
			 cmd_page_studies(p, lab, &studies, err) ||
			 cmd_page_noises(p, lab, &by_kind[SUBJECT_CPU], err) ||
			 cmd_page_profiles(p, lab, &by_kind[SUBJECT_SYSTEM], err) ||
			 cmd_page_queries(p, lab, &by_kind[SUBJECT_QUERY], err);
	}
	for (size_t i = 0; i < SUBJECT_KINDS; i++)
		array_release(&by_kind[i]);
	array_release(&runs);
	array_release(&studies);
	strbuf_release(&title);
	if (failed) {
		page_free(p);
		return -1;
	}
	*out = p;
	return 0;
}
