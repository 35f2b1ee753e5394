#include "cmd/page/page.h"

#include <string.h>

#include "base/options.h"
#include "base/text.h"
#include "cmd/kinds.h"

#define TITLE_NAMES 3

static size_t count_name(const word_list *names, size_t before, const char *name)
{
	size_t n = 0;
	for (size_t i = 0; i < before; i++)
		n += strcmp(names->items[i], name) == 0;
	return n;
}

/* "sort, 2 runs of inc and 4 more": a name is told once, and has little room. */
static void put_title(const word_list *names, struct strbuf *title)
{
	size_t told = 0, shown = 0;
	for (size_t i = 0; i < names->count && shown < TITLE_NAMES; i++) {
		char name[64];
		if (count_name(names, i, names->items[i]))
			continue;
		size_t same = count_name(names, names->count, names->items[i]);
		text_display(names->items[i], name, sizeof name);
		strbuf_puts(title, shown ? ", " : "");
		if (same > 1)
			strbuf_printf(title, "%zu runs of ", same);
		strbuf_puts(title, name);
		shown++;
		told += same;
	}
	if (names->count > told)
		strbuf_printf(title, " and %zu more", names->count - told);
}

/* Each once: an anchor is of one section. */
static void take_once(const id_list *given, id_list *into)
{
	for (size_t i = 0, k; i < given->count; i++) {
		for (k = 0; k < into->count && into->items[k] != given->items[i];)
			k++;
		if (k == into->count)
			array_push(into, given->items[i]);
	}
}

/* Runs of commands stay loaded, without their details: all of them are compared at the end. */
static int add_commands(struct page *p, struct lab *lab, const struct page_request *request,
			const id_list *runs, struct error *err)
{
	struct load_options how = run_kinds[SUBJECT_COMMAND].page_options;
	SCOPED(loaded_release) loaded_list list = { 0 };
	size_t first = page_section_count(p);
	int failed = 0;
	how.cutoffs = request->cutoffs;
	how.measure = request->measure;
	for (size_t i = 0; i < runs->count && !failed; i++)
		failed = loaded_add(&list, lab, runs->items[i], &how, err) ||
			 page_times_add(p, lab, &list.items[i], runs->count, err);
	if (!failed && list.count > 1)
		failed = page_times_compare(p, &list, first, request->reference, err);
	return failed;
}

/* The first that has anything stays loaded, since all others are compared with it. */
static int add_runs(struct page *p, struct lab *lab, enum subject_kind kind, const id_list *runs,
		    struct error *err)
{
	const struct run_kind *k = &run_kinds[kind];
	SCOPED(loaded_run_release) struct loaded_run first = { 0 };
	size_t at = 0;
	int failed = 0;
	for (size_t i = 0; i < runs->count && !failed; i++) {
		struct loaded_run run = { 0 };
		failed = run_load(&run, lab, runs->items[i], &k->page_options, err) ||
			 k->add_to_page(p, lab, &run, runs->count, err);
		if (!failed && run.stored && !first.stored) {
			first = run;
			at = page_section_count(p) - 1;
			continue;
		}
		if (!failed && run.stored)
			k->compare_on_page(p, at, &first, &run);
		loaded_run_release(&run);
	}
	return failed ? -1 : 0;
}

/* Duets stay loaded: all of them are compared at the end. */
static int add_duets(struct page *p, struct lab *lab, const id_list *runs, struct error *err)
{
	const struct run_kind *k = &run_kinds[SUBJECT_DUET];
	SCOPED(loaded_release) loaded_list list = { 0 };
	FREED size_t *sections = xcalloc(runs->count + 1, sizeof *sections);
	int failed = 0;
	for (size_t i = 0; i < runs->count && !failed; i++) {
		struct loaded_run run = { 0 };
		failed = run_load(&run, lab, runs->items[i], &k->page_options, err) ||
			 k->add_to_page(p, lab, &run, runs->count, err);
		if (!failed && run.stored) {
			sections[list.count] = page_section_count(p) - 1;
			array_push(&list, run);
		} else if (!failed) {
			loaded_run_release(&run);
		}
	}
	if (!failed && list.count > 1)
		page_duets_compare(p, &list, sections);
	return failed ? -1 : 0;
}

int cmd_make_page(struct lab *lab, const struct page_request *request, struct page **out,
		  struct error *err)
{
	id_list by_kind[SUBJECT_KINDS] = { 0 }, runs = { 0 }, studies = { 0 };
	SCOPED(strbuf_release) struct strbuf title = { 0 };
	word_list names = { 0 };
	struct page *p = NULL;
	take_once(&request->runs, &runs);
	take_once(&request->studies, &studies);
	int failed = 0;
	for (size_t i = 0; i < runs.count && !failed; i++) {
		SCOPED(run_release) struct run run = { 0 };
		failed = lab_get_run(lab, runs.items[i], &run, err);
		if (!failed) {
			array_push(&by_kind[run.kind], runs.items[i]);
			array_push(&names, xstrdup(run.name ? run.name : "a run"));
		}
	}
	put_title(&names, &title);
	words_release(&names);
	if (!failed) {
		if (!runs.count)
			strbuf_puts(&title, "daemons");
		p = page_new(strbuf_text(&title), request->served);
		failed = add_commands(p, lab, request, &by_kind[SUBJECT_COMMAND], err);
		for (size_t i = 0; i < studies.count && !failed; i++)
			failed = cmd_page_study(p, lab, studies.items[i], err);
		for (int k = SUBJECT_COMMAND + 1; k < SUBJECT_DUET && !failed; k++)
			failed = add_runs(p, lab, (enum subject_kind)k, &by_kind[k], err);
		if (!failed)
			failed = add_duets(p, lab, &by_kind[SUBJECT_DUET], err);
	}
	for (size_t i = 0; i < SUBJECT_KINDS; i++)
		array_release(&by_kind[i]);
	array_release(&runs);
	array_release(&studies);
	if (failed) {
		page_free(p);
		return -1;
	}
	*out = p;
	return 0;
}
