/* Who makes up a range of lengths. */
#include <stdlib.h>

#include "report/noise/rows.h"

struct part {
	const struct noise_row *row;
	struct noise_bucket sum;
};

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	if (x->sum.ns != y->sum.ns)
		return x->sum.ns > y->sum.ns ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static void put_range_line(const struct noise_cpu *c, unsigned first, unsigned end,
			   const struct style *style, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	uint64_t count = 0, ns = 0;
	for (unsigned i = first; i < end; i++) {
		count += c->buckets[i].count;
		ns += c->buckets[i].ns;
	}
	strbuf_printf(&text, "Detours from %s ",
		      AS_NS(first ? (double)noise_bucket_low(first) : 0));
	if (end == NOISE_BUCKETS)
		strbuf_puts(&text, "on: ");
	else
		strbuf_printf(&text, "to %s: ", AS_NS((double)noise_bucket_low(end)));
	if (count)
		strbuf_printf(&text, "%llu, %s (%s of all time lost)", (unsigned long long)count,
			      AS_NS((double)ns), AS_SHARE((double)ns / (double)c->total.ns));
	else
		strbuf_puts(&text, "none");
	put_headline(out, style->width, style->colour, strbuf_text(&text));
}

static void put_parts(const struct part *parts, size_t count, const char *title,
		      const struct noise_style *style, struct strbuf *out)
{
	const struct column columns[] = {
		{ "source", title, COLUMN_TEXT },
		{ "count", "Count", COLUMN_COUNT },
		{ "total", "Time", COLUMN_DURATION, .digits = 4 },
		{ "share", "Share", COLUMN_PERCENT, .decimals = DECIMALS(2) },
	};
	size_t shown = style->most && count > style->most ? style->most : count;
	uint64_t all = 0, rest = 0;
	for (size_t i = 0; i < count; i++) {
		all += parts[i].sum.ns;
		rest += i >= shown ? parts[i].sum.ns : 0;
	}
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < shown; i++) {
		table_add_text(t, parts[i].row->name);
		table_add_count(t, (int64_t)parts[i].sum.count);
		table_add_number(t, (double)parts[i].sum.ns);
		table_add_number(t, (double)parts[i].sum.ns / (double)all);
	}
	table_put(t, &style->style, out);
	put_noise_rest(count - shown, (double)rest / (double)all, &style->style, out);
}

/* False when there is nothing of that length. */
static bool zoom_rows(const struct noise_cpu *c, unsigned first, unsigned end, enum noise_mode mode,
		      const char *title, const struct noise_style *style, struct strbuf *out)
{
	SCOPED(noise_rows_release) struct noise_rows rows;
	noise_rows_of(c, mode, &rows);
	FREED struct part *parts = xcalloc(rows.list.count + 1, sizeof *parts);
	size_t count = 0;
	for (size_t i = 0; i < rows.list.count; i++) {
		const struct noise_row *row = &rows.list.items[i];
		struct noise_bucket sum = noise_histogram_sum(row->lengths, first, end);
		if (sum.count)
			parts[count++] = (struct part){ row, sum };
	}
	qsort(parts, count, sizeof *parts, compare_parts);
	if (count)
		put_parts(parts, count, title, style, out);
	return count > 0;
}

/* A detour of 105 µs may be made of 50 and 55: who makes such detours are combinations. Sources
 * that alone take so long are another question. */
static void zoom_cpu(const struct noise_view *v, const struct noise_cpu *c, unsigned first,
		     unsigned end, const struct noise_style *style, struct strbuf *out)
{
	put_range_line(c, first, end, &style->style, out);
	if (!v->noise->kernel)
		return;
	bool any = zoom_rows(c, first, end, NOISE_BY_SUCCESSION, "In succession", style, out);
	if (style->mode == NOISE_BY_SOURCE) {
		SCOPED(strbuf_release) struct strbuf alone = { 0 };
		if (zoom_rows(c, first, end, NOISE_BY_SOURCE, "Alone this long", style, &alone))
			strbuf_printf(out, "%s%s", any ? "\n" : "", strbuf_text(&alone));
		any |= alone.length > 0;
	}
	if (!any)
		strbuf_puts(out, "Nothing has such a length.\n");
}

void noise_zoom(const struct noise_view *v, uint64_t low_ns, uint64_t high_ns,
		const struct noise_style *given, struct strbuf *out)
{
	struct noise_style style = noise_normal_style(given);
	struct noise_cpu together;
	size_t from = out->length;
	/* outward to edges of buckets: what is not kept apart cannot be told apart */
	unsigned first = noise_bucket_of(low_ns);
	unsigned end = high_ns > low_ns ? noise_bucket_of(high_ns - 1) + 1 : first + 1;
	bool blocks = style.per_cpu && v->noise->cpus.count > 1;
	for (size_t i = 0; blocks && i < v->noise->cpus.count; i++) {
		strbuf_printf(out, "CPU %u\n", v->noise->cpus.items[i].cpu);
		zoom_cpu(v, &v->noise->cpus.items[i], first, end, &style, out);
		strbuf_putc(out, '\n');
	}
	if (blocks)
		strbuf_puts(out, "All CPUs together\n");
	noise_together(v->noise, &together);
	zoom_cpu(v, &together, first, end, &style, out);
	if (!v->noise->kernel)
		put_noise_not_seen(v, &style.style, out);
	noise_cpu_release(&together);
	style_finish(&style.style, out, from);
}
