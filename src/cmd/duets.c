#include "cmd/duets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/kinds.h"
#include "report/duet/report.h"

struct duet_view *loaded_duets(const loaded_list *list)
{
	struct duet_view *views = xcalloc(list->count + 1, sizeof *views);
	for (size_t i = 0; i < list->count; i++)
		views[i] = loaded_duet(&list->items[i]);
	return views;
}

static bool same_sides(const struct loaded_run *a, const struct loaded_run *b)
{
	if (a->duet.sides.count != 2 || b->duet.sides.count != 2 ||
	    a->duet_result.measure != b->duet_result.measure)
		return false;
	for (size_t i = 0; i < 2; i++)
		if (strcmp(a->duet.sides.items[i].name, b->duet.sides.items[i].name) != 0 ||
		    strcmp(a->duet.sides.items[i].command, b->duet.sides.items[i].command) != 0)
			return false;
	return true;
}

bool pool_duets(const loaded_list *list, struct duet_pool *out)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	FREED const struct duet_verdict **verdicts = xcalloc(list->count + 1, sizeof *verdicts);
	bool same = true;
	for (size_t i = 0; i < list->count; i++) {
		same &= same_sides(&list->items[0], &list->items[i]);
		verdicts[i] = &list->items[i].duet_result.verdicts.items[0];
	}
	duet_pool(verdicts, same ? list->count : 0, out);
	return same;
}

/* Of the pooled ratio, or of each where nothing is pooled: "slower" and "not known yet" fail. */
static int judge_slower(const loaded_list *list, const struct duet_pool *pool, double slower)
{
	int code = EXIT_DONE;
	for (size_t i = 0; i < (pool ? 1 : list->count); i++) {
		const struct duet_result *r = &list->items[i].duet_result;
		for (size_t k = 0; k < (pool ? 1 : r->verdicts.count); k++) {
			double low = pool ? pool->low : r->verdicts.items[k].low;
			double high = pool ? pool->high : r->verdicts.items[k].high;
			if (high <= 1 + slower)
				continue;
			fprintf(stderr,
				low > 1 + slower
					? "tare: slower by more than %g %%\n"
					: "tare: not known yet whether it is slower by more than %g %%\n",
				slower * 100);
			code = EXIT_CHECK;
		}
	}
	return code;
}

int compare_duets(const loaded_list *list, enum table_format format, double slower)
{
	struct duet_pool pool;
	FREED struct duet_view *views = loaded_duets(list);
	bool pooled = pool_duets(list, &pool);
	const struct style style = cmd_style(0);
	struct strbuf out = { 0 };
	if (format == TABLE_TEXT) {
		duet_compare_text(views, list->count, pooled ? &pool : NULL, &style, &out);
		cmd_print(&out);
	} else {
		struct table *t = duet_compare_table(views, list->count, pooled ? &pool : NULL);
		cmd_print_table(t, format);
		table_free(t);
	}
	return slower >= 0 ? judge_slower(list, pooled ? &pool : NULL, slower) : EXIT_DONE;
}

/* ---- pages ---- */

int page_duets_add(struct page *p, struct lab *lab, struct loaded_run *l, size_t runs,
		   struct error *err)
{
	const struct duet_view v = loaded_duet(l);
	(void)lab;
	(void)runs;
	(void)err;
	page_add_duet(p, &v);
	return 0;
}

void page_duets_compare(struct page *p, const loaded_list *list, const size_t *sections)
{
	struct duet_pool pool;
	SCOPED(strbuf_release) struct strbuf sentence = { 0 };
	FREED struct duet_view *views = loaded_duets(list);
	bool pooled = pool_duets(list, &pool);
	if (pooled)
		duet_pool_sentence(&views[0], &pool, &sentence);
	style_finish(&(struct style){ 0 }, &sentence, 0);
	page_compare_duets(p, sections, list->count, &pool, pooled ? strbuf_text(&sentence) : NULL);
}
