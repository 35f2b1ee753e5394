/* Trees of plans, and what changes between two of them. The shape of their JSON is described in
 * subject/dbms/plan.h. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "report/query/rows.h"

#define DEEP 40		/* levels that are indented: deeper ones would run out of the line */
#define MOST_LINES 2000 /* of a plan: comparing takes the product of two */

struct plan_line {
	int depth;
	char *text;
};
typedef ARRAY(struct plan_line) plan_lines;

static void lines_release(plan_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		xfree(lines->items[i].text);
	array_release(lines);
}

/* ---- a tree as lines ---- */

static const char *text_in(const json_t *node, const char *key)
{
	return json_string_value(json_object_get(node, key));
}

static void put_if(const char *before, const char *text, struct strbuf *out)
{
	if (text && *text)
		strbuf_printf(out, "%s%s", before, text);
}

/* "Hash Join (inner) on t as x using t_a: (a = b); sort key: a" */
static char *describe(const json_t *node)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	const char *name = text_in(node, "node"), *join = text_in(node, "join");
	const char *key, *between = ": ";
	size_t i;
	const json_t *item;
	json_t *details = json_object_get(node, "details");
	strbuf_puts(&text, name ? name : "?");
	if (join)
		strbuf_printf(&text, " (%s)", join);
	put_if(" on ", text_in(node, "relation"), &text);
	put_if(" as ", text_in(node, "alias"), &text);
	put_if(" using ", text_in(node, "index"), &text);
	json_array_foreach(json_object_get(node, "conditions"), i, item)
	{
		put_if(between, json_string_value(item), &text);
		between = "; ";
	}
	void *at = json_object_iter(details);
	for (; at; at = json_object_iter_next(details, at)) {
		key = json_object_iter_key(at);
		const char *value = json_string_value(json_object_iter_value(at));
		if (value)
			strbuf_printf(&text, "%s%s: %s", between, key, value);
		between = "; ";
	}
	char *shown = display_copy(strbuf_text(&text));
	return shown;
}

/* jansson limits how deep a text may nest. */
static void add_lines(const json_t *node, int depth,
		      plan_lines *lines) /* NOLINT(misc-no-recursion) */
{
	size_t i;
	const json_t *child;
	if (lines->count == MOST_LINES)
		return;
	array_push(lines, ((struct plan_line){ depth, describe(node) }));
	json_array_foreach(json_object_get(node, "children"), i, child)
		add_lines(child, depth + 1, lines);
}

/* A plan that is no JSON is one line. */
static void lines_of(const struct query_plan *plan, plan_lines *lines)
{
	*lines = (plan_lines){ 0 };
	json_t *root = plan && plan->json ? json_loads(plan->json, 0, NULL) : NULL;
	if (json_is_object(root))
		add_lines(root, 0, lines);
	else
		array_push(lines, ((struct plan_line){ 0, display_copy(plan && plan->json
									       ? plan->json
									       : "not stored") }));
	json_decref(root);
}

/* ---- what changes ---- */

enum side { BOTH, BEFORE, AFTER };
struct change {
	enum side side;
	size_t at; /* in the lines of that side; BOTH: of the later plan */
};
typedef ARRAY(struct change) change_list;

/* The longest common subsequence of lines, whatever their depth: a node that is put around others
 * does not change them. */
static void diff_lines(const plan_lines *a, const plan_lines *b, change_list *out)
{
	size_t stride = b->count + 1, i = 0, j = 0;
	FREED uint32_t *length = xcalloc((a->count + 1) * stride, sizeof *length);
	for (size_t p = a->count; p-- > 0;)
		for (size_t q = b->count; q-- > 0;) {
			uint32_t *cell = &length[p * stride + q];
			uint32_t skip_a = cell[stride], skip_b = cell[1];
			*cell = !strcmp(a->items[p].text, b->items[q].text) ? cell[stride + 1] + 1
				: skip_a > skip_b			    ? skip_a
									    : skip_b;
		}
	while (i < a->count || j < b->count) {
		if (i < a->count && j < b->count && !strcmp(a->items[i].text, b->items[j].text)) {
			array_push(out, ((struct change){ BOTH, j }));
			i++;
			j++;
		} else if (j == b->count || (i < a->count && length[(i + 1) * stride + j] >=
								     length[i * stride + j + 1]))
			array_push(out, ((struct change){ BEFORE, i++ }));
		else
			array_push(out, ((struct change){ AFTER, j++ }));
	}
}

/* The node and what it reads, without its conditions: so many bytes of its text. */
static size_t short_length(const char *text)
{
	const char *end = strstr(text, ": ");
	return end ? (size_t)(end - text) : strlen(text);
}

/* The nth line of this side in [first, end); NULL: there are fewer. */
static const char *nth_of(const change_list *changes, size_t first, size_t end, enum side side,
			  size_t nth, const plan_lines *lines)
{
	for (size_t i = first; i < end; i++)
		if (changes->items[i].side == side && !nth--)
			return lines->items[changes->items[i].at].text;
	return NULL;
}

/* Lines that stand against each other between two that stay. */
static size_t put_hunk(const change_list *changes, size_t first, size_t end, const plan_lines *a,
		       const plan_lines *b, const char *arrow, size_t said, struct strbuf *out)
{
	for (size_t n = 0;; n++) {
		const char *before = nth_of(changes, first, end, BEFORE, n, a);
		const char *after = nth_of(changes, first, end, AFTER, n, b);
		if (!before && !after)
			return said;
		size_t length = before ? short_length(before) : 0;
		bool same = before && after && short_length(after) == length &&
			    !strncmp(before, after, length);
		strbuf_puts(out, said++ ? "; " : "");
		strbuf_add(out, before ? before : "", length);
		strbuf_puts(out, same		   ? " otherwise"
				 : before && after ? arrow
				 : before	   ? " gone"
						   : "new: ");
		if (after && !same)
			strbuf_add(out, after, short_length(after));
	}
}

void put_plan_change(const struct query_plan *from, const struct query_plan *to, bool ascii,
		     struct strbuf *out)
{
	plan_lines a, b;
	FREED change_list changes = { 0 };
	size_t said = 0;
	lines_of(from, &a);
	lines_of(to, &b);
	diff_lines(&a, &b, &changes);
	for (size_t first = 0, end; first < changes.count; first = end + 1) {
		for (end = first; end < changes.count && changes.items[end].side != BOTH;)
			end++;
		said = put_hunk(&changes, first, end, &a, &b, ascii ? " -> " : " → ", said, out);
	}
	if (!said)
		strbuf_puts(out, "the same nodes in another order");
	lines_release(&a);
	lines_release(&b);
}

/* ---- text ---- */

static void put_line(char mark, const struct plan_line *line, const struct query_style *style,
		     struct strbuf *out)
{
	size_t indent = 4 + 2 * (size_t)(line->depth < DEEP ? line->depth : DEEP);
	size_t most = style->style.width / 2;
	char first[128];
	indent = indent > most ? most : indent;
	memset(first, ' ', sizeof first);
	first[2] = mark;
	first[indent] = '\0';
	put_paragraph(out,
		      &(struct paragraph){ .width = style->style.width,
					   .indent = indent + 4,
					   .first = first,
					   .lines = 3,
					   .colour = !style->style.colour ? NULL
						     : mark == '+'	  ? GREEN
						     : mark == '-'	  ? RED
									  : NULL },
		      line->text);
}

/* All of a plan, or how it differs from the one at higher cardinalities. */
static void put_tree(const struct query_plan *before, const struct query_plan *plan,
		     const struct query_style *style, struct strbuf *out)
{
	plan_lines a = { 0 }, b;
	FREED change_list changes = { 0 };
	lines_of(plan, &b);
	if (before)
		lines_of(before, &a);
	diff_lines(&a, &b, &changes);
	for (size_t i = 0; i < changes.count; i++) {
		const struct change *c = &changes.items[i];
		char mark = !before || c->side == BOTH ? ' ' : c->side == BEFORE ? '-' : '+';
		put_line(mark, c->side == BEFORE ? &a.items[c->at] : &b.items[c->at], style, out);
	}
	lines_release(&a);
	lines_release(&b);
}

/* Of one query, whose rows are [first, end): from the highest cardinality down. */
static void put_query(const struct query_view *v, const struct query_row *rows, size_t first,
		      size_t end, const struct query_style *style, struct strbuf *out)
{
	const struct query_plan *before = NULL;
	int shown = -1;
	strbuf_printf(out, "\n%s\n", rows[first].name);
	for (size_t i = end, next; i > first; i = next) {
		const struct query_row *row = &rows[i - 1];
		for (next = i - 1; next > first && rows[next - 1].plan == row->plan;)
			next--;
		if (row->plan < 0)
			continue;
		const struct query_plan *plan = query_plan_of(v->data, row->hash);
		SCOPED(strbuf_release) struct strbuf text = { 0 };
		char high[WORDS], low[WORDS];
		format_count(row->cardinality, high);
		format_count(rows[next].cardinality, low);
		strbuf_printf(&text, "plan %s", row->letter);
		if (row->cardinality && i == end && next == first)
			strbuf_puts(&text, " at every cardinality");
		else if (row->cardinality)
			strbuf_printf(&text, next == i - 1 ? " at %s" : " from %s down to %s", high,
				      low);
		if (before && plan) {
			strbuf_puts(&text, ": ");
			put_plan_change(before, plan, style->style.ascii, &text);
		}
		put_paragraph(out,
			      &(struct paragraph){
				      .width = style->style.width, .first = "  ", .indent = 4 },
			      strbuf_text(&text));
		if (row->plan > shown && plan) /* letters ascend as plans are first seen */
			put_tree(before, plan, style, out);
		shown = row->plan > shown ? row->plan : shown;
		before = plan;
	}
}

void put_query_plans(const struct query_view *v, const struct query_rows *rows,
		     const struct query_style *style, struct strbuf *out)
{
	const struct query_row *list = rows->list.items;
	bool varies = rows->list.count && list[rows->list.count - 1].at->cardinality;
	strbuf_puts(out, varies ? "\nPlans, from the highest cardinality down\n" : "\nPlans\n");
	for (size_t first = 0, end; first < rows->list.count; first = end) {
		for (end = first;
		     end < rows->list.count && list[end].at->query == list[first].at->query;)
			end++;
		put_query(v, list, first, end, style, out);
	}
}
