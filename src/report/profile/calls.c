/* What calls what, as a tree for people: from the start of the threads down, or from functions up
 * to their callers. */
#include <stdlib.h>
#include <string.h>

#include "report/core/numbers.h"
#include "report/export/profile.h"
#include "report/profile/rows.h"

#define LEAST_SHARE 0.01     /* of the samples, in a tree, unless something else is asked for */
#define LEAST_OF_FUNCTION 20 /* direct callers: one in so many of their function's samples */
#define INDENT_MOST 40	     /* levels */
#define OBJECT_COLUMNS 16

struct call {
	uint32_t parent, id; /* as of export_name_id(); apps come after those */
	bool kernel;
	uint64_t self, total;
};

struct calls {
	const struct profile *p;
	const struct profile_calls *asked;
	bool apps;   /* are a level of the tree */
	bool *meant; /* by id: the function that was asked for; NULL: none was */
	struct pair_numbers numbers;
	ARRAY(struct call) list; /* [0]: all of them; callers come before what they call */
	export_frames frames;
};

static uint32_t enter(struct calls *c, uint32_t parent, uint32_t id, bool kernel, uint64_t count)
{
	uint32_t number = number_of_pair(&c->numbers, parent, (uint64_t)id << 1 | kernel);
	if (number == c->list.count)
		array_push(&c->list, (struct call){ .parent = parent, .id = id, .kernel = kernel });
	c->list.items[number].total += count;
	return number;
}

static void add_stack(void *context, const struct profile_sample *s, uint64_t count)
{
	struct calls *c = context;
	const struct profile *p = c->p;
	uint32_t at = 0, last = PROFILE_NONE;
	size_t from = 0, levels = 0;
	export_stack(p, s->stack, &c->frames);
	size_t n = c->frames.count;
	while (c->meant && from < n && !c->meant[export_name_id(p, &c->frames.items[from])])
		from++;
	if (c->meant && from == n)
		return;
	c->list.items[0].total += count;
	if (c->apps)
		at = enter(c, at, export_names(p) + export_instance(p, s->thread)->app, false,
			   count);
	/* up: from the function, or the innermost frame, to the outermost */
	size_t first = !c->asked->up ? from : c->meant ? from : n - 1;
	size_t steps = !c->asked->up ? n - from : n ? first + 1 : 0;
	for (size_t i = 0; i < steps && !(c->asked->direct && levels == 2); i++) {
		const struct export_frame *f =
			&c->frames.items[c->asked->up ? first - i : first + i];
		uint32_t id = export_name_id(p, f);
		if (id == last || (c->asked->merge_inlined && f->inlined))
			continue;
		at = enter(c, at, id, f->kernel, count);
		last = id;
		levels++;
	}
	c->list.items[at].self += count;
}

static bool *functions_meant(const struct profile *p, const struct profile_calls *asked)
{
	const char *object = asked->filter ? asked->filter->object : NULL;
	char room[EXPORT_NAME_MAX];
	bool *meant = xcalloc(export_names(p) + 1, sizeof *meant);
	for (uint32_t i = 0; i < export_names(p); i++)
		meant[i] = (i < p->functions.count
				    ? sleepy_function_matches(p, asked->function, i)
				    : sleepy_matches(asked->function, export_name(p, i, room))) &&
			   (!object || sleepy_object_matches(p, object, export_object(p, i)));
	return meant;
}

static void make(struct calls *c, const struct profile *p, const struct profile_calls *asked)
{
	*c = (struct calls){ .p = p, .asked = asked };
	c->apps = !asked->up && !asked->function && p->apps.count > 1;
	if (asked->function)
		c->meant = functions_meant(p, asked);
	enter(c, PROFILE_NONE, PROFILE_NONE, false, 0);
	sleepy_each(p, asked->filter, add_stack, c);
}

static void release(struct calls *c)
{
	xfree(c->meant);
	array_release(&c->list);
	array_release(&c->frames);
	pair_numbers_release(&c->numbers);
}

/* ---- which rows, in which order ---- */

struct shown {
	const struct call *call;
	uint32_t number, depth;
};
typedef ARRAY(struct shown) shown_list;

/* A caller has at least the samples of what it calls, and comes first: so none stays whose caller
 * goes. */
static int by_total(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;
	return ORDER(y->call->total, x->call->total) ?: ORDER(x->number, y->number);
}

/* The rows below one, largest first. Recursion is as deep as a stack, of which direct recursion is
 * one level. */
static void put_below(const shown_list *chosen, const uint32_t *first, const uint32_t *next,
		      uint32_t parent, uint32_t depth, shown_list *out)
{
	for (uint32_t i = first[parent]; i != PROFILE_NONE; i = next[i]) {
		struct shown row = chosen->items[i];
		row.depth = depth;
		array_push(out, row);
		put_below(chosen, first, next, row.number, depth + 1, out);
	}
}

/* Returns how many were left out. */
static size_t choose(const struct calls *c, const struct profile_style *style, shown_list *out)
{
	FREED shown_list chosen = { 0 };
	uint64_t all = c->list.items[0].total;
	double share = c->asked->direct || style->least_share > 0 ? style->least_share
								  : LEAST_SHARE;
	size_t count = c->list.count, roots = 0;
	for (uint32_t i = 1; i < count; i++) {
		const struct call *call = &c->list.items[i];
		uint64_t of = c->list.items[call->parent].total;
		bool caller = c->asked->direct && call->parent;
		if (!style->most || (caller ? call->total * LEAST_OF_FUNCTION >= of
					    : (double)call->total >= share * (double)all))
			array_push(&chosen, (struct shown){ .call = call, .number = i });
	}
	array_sort(&chosen, by_total);
	if (!c->asked->direct && style->most && chosen.count > style->most)
		chosen.count = style->most;
	FREED uint32_t *first = xmalloc((count + 1) * sizeof *first);
	FREED uint32_t *next = xmalloc((chosen.count + 1) * sizeof *next);
	memset(first, 0xff, (count + 1) * sizeof *first);
	for (uint32_t i = (uint32_t)chosen.count; i-- > 0;) {
		next[i] = first[chosen.items[i].call->parent];
		first[chosen.items[i].call->parent] = i;
	}
	/* of functions with their direct callers, so many functions */
	for (uint32_t i = first[0]; c->asked->direct && i != PROFILE_NONE; i = next[i])
		if (++roots == style->most)
			next[i] = PROFILE_NONE;
	put_below(&chosen, first, next, 0, 0, out);
	return count - 1 - out->count;
}

/* ---- written ---- */

static void add_row(struct table *t, const struct calls *c, const struct shown *row)
{
	const struct profile *p = c->p;
	const struct call *call = row->call;
	double all = (double)c->list.items[0].total;
	char room[EXPORT_NAME_MAX], indent[INDENT_MOST + 1] = "";
	bool app = call->id >= export_names(p);
	const char *name = app ? p->apps.items[call->id - export_names(p)].name
			       : export_name(p, call->id, room);
	memset(indent, ' ', row->depth < INDENT_MOST ? row->depth : INDENT_MOST);
	SCOPED(strbuf_release) struct strbuf before = { 0 };
	strbuf_printf(&before, "%s%s%s", indent, c->asked->up && row->depth ? "< " : "",
		      call->kernel ? "[k] " : "");
	table_add_count(t, row->depth);
	table_add_number(t, (double)call->total / all);
	table_add_number(t, (double)call->self / all);
	table_add_count(t, (int64_t)call->total);
	table_add_symbol(t, strbuf_text(&before), name, "");
	table_add_text(t, name);
	table_add_text(t, app ? "" : object_name(&p->objects.items[export_object(p, call->id)]));
}

static struct table *table_of_calls(const struct calls *c, const struct profile_style *style,
				    size_t *left_out)
{
	struct column columns[] = {
		{ "depth", "Depth", COLUMN_COUNT, FOR_DATA },
		{ "total_share", "Total %", COLUMN_PERCENT, .bare = true },
		{ "share", "Self %", COLUMN_PERCENT, .bare = true, .spare = 2 },
		{ "samples", "Samples", COLUMN_COUNT, .spare = 3 },
		{ "call", "Function", COLUMN_TEXT, FOR_PEOPLE, .middle = true, .least = 20 },
		{ "name", "Name", COLUMN_TEXT, FOR_DATA },
		{ "object", "Object", COLUMN_TEXT, .middle = true, .most = OBJECT_COLUMNS,
		  .spare = 1 },
	};
	columns[1].decimals = columns[2].decimals =
		DECIMALS(profile_decimals(c->list.items[0].total));
	/* of callers nothing is their own */
	if (c->asked->up) {
		columns[1].title = "Share %";
		columns[2].only = FOR_DATA;
	}
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	FREED shown_list rows = { 0 };
	*left_out = choose(c, style, &rows);
	array_each(row, &rows)
		add_row(t, c, row);
	return t;
}

struct table *profile_calls_table(const struct profile_subject *s,
				  const struct profile_calls *asked,
				  const struct profile_style *given)
{
	struct profile_style style = profile_normal_style(given);
	struct calls c;
	size_t left_out;
	make(&c, s->profile, asked);
	struct table *t = table_of_calls(&c, &style, &left_out);
	release(&c);
	return t;
}

void profile_calls_text(const struct profile_subject *s, const struct profile_calls *asked,
			const struct profile_style *given, struct strbuf *out)
{
	struct profile_style style = profile_normal_style(given);
	struct calls c;
	size_t left_out;
	SCOPED(strbuf_release) struct strbuf title = { 0 };
	make(&c, s->profile, asked);
	struct table *t = table_of_calls(&c, &style, &left_out);
	uint64_t all = c.list.items[0].total;
	if (asked->function)
		strbuf_printf(&title, asked->up ? "Who calls %s" : "What %s calls",
			      asked->function);
	else
		strbuf_puts(&title, asked->up ? "By callers" : "Calls from the outside in");
	strbuf_puts(&title, ", of ");
	put_samples_count(&title, all, "sample");
	strbuf_puts(&title, " (");
	put_profile_worth(s->profile, all, &title);
	strbuf_putc(&title, ')');
	put_wrapped(out, &style.style, "", 2, "%s", strbuf_text(&title));
	table_put(t, &style.style, out);
	if (left_out)
		strbuf_printf(out, "… and %zu smaller; --top 0 shows all\n", left_out);
	release(&c);
}
