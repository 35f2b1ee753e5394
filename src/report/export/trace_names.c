#include "report/export/trace_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b)
{
	const struct trace_name *x = a, *y = b;
	if (x->cause != y->cause)
		return x->cause < y->cause ? -1 : 1;
	return (x->source > y->source) - (x->source < y->source);
}

void trace_names_of(const struct trace *t, struct trace_names *out)
{
	*out = (struct trace_names){ .count = t->names.count };
	if (!out->count)
		return;
	out->items = xcalloc(out->count, sizeof *out->items);
	memcpy(out->items, t->names.items, out->count * sizeof *out->items);
	qsort(out->items, out->count, sizeof *out->items, compare_names);
}

void trace_names_release(struct trace_names *names)
{
	xfree(names->items);
	*names = (struct trace_names){ 0 };
}

void trace_source(const struct trace_names *names, uint32_t cause, uint32_t source, char *out,
		  size_t size)
{
	struct trace_name key = { .cause = cause, .source = source };
	const struct trace_name *found =
		names->count ? bsearch(&key, names->items, names->count, sizeof key, compare_names)
			     : NULL;
	if (found && *found->name)
		snprintf(out, size, "%.*s", (int)sizeof found->name, found->name);
	else if (cause == LEDGER_IO)
		snprintf(out, size, "%" PRIu32 ":%" PRIu32, source >> 20, source & 0xfffff);
	else
		snprintf(out, size, "%" PRIu32, source);
}
