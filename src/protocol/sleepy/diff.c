/* Two profiles, row by row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/sleepy/sleepy.h"
#include "stats/proportions.h"
#include "stats/tests.h"

#define ALPHA 0.05

bool sleepy_change_sure(const struct sleepy_change *c)
{
	return c->p < ALPHA;
}

struct side {
	const struct sleepy_row *row;
	const char *name; /* by which it is matched */
	bool after;
};
typedef ARRAY(struct side) side_list;

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_name(const void *a, const void *b)
{
	const struct side *x = a, *y = b;
	return compare_texts(x->name, y->name) ?: compare_texts(x->row->where, y->row->where);
}

/* Of a system only what was sampled can be compared: idle CPUs and what was lost are no samples. */
static void gather(const struct sleepy_view *v, bool after, side_list *list)
{
	size_t count = v->by == SLEEPY_SYSTEM && v->rows.count > 2 ? 2 : v->rows.count;
	for (size_t i = 0; i < count; i++)
		if (v->rows.items[i].self)
			array_push(list, (struct side){ &v->rows.items[i], v->rows.items[i].name,
							after });
}

static void sort(side_list *list)
{
	array_sort(list, by_name);
}

/* Where those that are called as this one end. */
static size_t end_of(const side_list *list, size_t from)
{
	size_t end = from + 1;
	while (end < list->count && by_name(&list->items[from], &list->items[end]) == 0)
		end++;
	return end;
}

static bool on_both_sides(const side_list *list, size_t from, size_t to)
{
	for (size_t i = from + 1; i < to; i++)
		if (list->items[i].after != list->items[from].after)
			return true;
	return false;
}

/* The same program may have been built, or be installed, in another place: a path that only one of
 * the two has is matched by its last part. */
static void match_by_last_part(side_list *list)
{
	for (size_t i = 0, next; i < list->count; i = next) {
		next = end_of(list, i);
		const char *slash = strrchr(list->items[i].name, '/');
		if (!slash || !slash[1] || on_both_sides(list, i, next))
			continue;
		for (size_t k = i; k < next; k++)
			list->items[k].name = slash + 1;
	}
	sort(list);
	for (size_t i = 0, next; i < list->count; i = next) {
		next = end_of(list, i);
		bool matched = on_both_sides(list, i, next);
		for (size_t k = i; k < next && !matched; k++)
			list->items[k].name = list->items[k].row->name;
	}
	sort(list);
}

void sleepy_judge(struct sleepy_change *list, size_t count, uint64_t before, uint64_t after)
{
	double *p = xcalloc(count + 1, sizeof *p);
	size_t tests = 0;
	for (size_t i = 0; i < count; i++) {
		struct sleepy_change *c = &list[i];
		struct proportions both;
		proportions_compare(c->before, before, c->after, after, &both);
		c->before_share = before ? (double)c->before / (double)before : NAN;
		c->after_share = after ? (double)c->after / (double)after : NAN;
		c->change = both.change;
		c->low = both.low;
		c->high = both.high;
		c->p = both.least_p < ALPHA ? both.p : NAN;
		if (!isnan(c->p))
			p[tests++] = c->p;
	}
	adjust_p(p, tests);
	for (size_t i = 0, at = 0; i < count; i++)
		if (!isnan(list[i].p))
			list[i].p = p[at++];
	xfree(p);
}

static int by_size(const void *a, const void *b)
{
	const struct sleepy_change *x = a, *y = b;
	double one = fabs(x->change), other = fabs(y->change);
	return ORDER(other, one) ?: strcmp(x->name, y->name) ?: compare_texts(x->where, y->where);
}

void sleepy_compare(const struct sleepy_view *before, const struct sleepy_view *after,
		    double before_hz, double after_hz, struct sleepy_diff *into)
{
	side_list list = { 0 };
	*into = (struct sleepy_diff){ .by = before->by,
				      .before = before->samples,
				      .after = after->samples,
				      .before_hz = before_hz,
				      .after_hz = after_hz,
				      .before_elapsed_ns = before->elapsed_ns,
				      .after_elapsed_ns = after->elapsed_ns };
	gather(before, false, &list);
	gather(after, true, &list);
	sort(&list);
	if (into->by == SLEEPY_OBJECT || into->by == SLEEPY_LINE)
		match_by_last_part(&list);
	for (size_t i = 0, next; i < list.count; i = next) {
		const struct sleepy_row *first = list.items[i].row;
		struct sleepy_change c = { .name = xstrdup(list.items[i].name),
					   .where = first->where ? xstrdup(first->where) : NULL,
					   .kernel = true };
		next = end_of(&list, i);
		for (size_t k = i; k < next; k++) {
			const struct sleepy_row *row = list.items[k].row;
			*(list.items[k].after ? &c.after : &c.before) += row->self;
			c.kernel = c.kernel && !row->user;
		}
		array_push(&into->rows, c);
	}
	array_release(&list);
	sleepy_judge(into->rows.items, into->rows.count, into->before, into->after);
	array_sort(&into->rows, by_size);
}

void sleepy_diff_release(struct sleepy_diff *d)
{
	for (size_t i = 0; i < d->rows.count; i++) {
		xfree(d->rows.items[i].name);
		xfree(d->rows.items[i].where);
	}
	array_release(&d->rows);
}
