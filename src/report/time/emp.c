#include "report/time/emp.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "report/core/format.h"
#include "report/core/json.h"
#include "report/core/shapes.h"
#include "report/time/several.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static double spread_of(const struct summary *s, double value)
{
	return s->n > 1 ? value : NAN; /* one value has none */
}

/* Mean and sigma, with or without their quotient. */
static void add_summary(struct table *t, const struct summary *s, bool relative)
{
	table_add_number(t, s->n ? s->mean : NAN);
	table_add_number(t, spread_of(s, s->stddev));
	if (relative)
		table_add_number(t, spread_of(s, s->relative_error));
}

/* Its own columns, then those that both tables have. */
static struct table *result_table(const struct column *own, size_t count)
{
	static const struct column results[] = {
		{ "dropped_cutoff", "I", COLUMN_COUNT },
		{ "dropped_outside", "II", COLUMN_COUNT },
		{ "mean", "Mean", COLUMN_DURATION, .digits = 6 },
		{ "stddev", "σ", COLUMN_DURATION, .digits = 3 },
		{ "relative_error", "σ/mean", COLUMN_REAL },
		{ "et_mean", "ET mean", COLUMN_DURATION, .digits = 6 },
		{ "et_stddev", "ET σ", COLUMN_DURATION, .digits = 3 },
		{ "et_relative_error", "ET σ/mean", COLUMN_REAL },
	};
	struct column *all = xcalloc(count + COUNT(results), sizeof *all);
	memcpy(all, own, count * sizeof *all);
	memcpy(all + count, results, sizeof results);
	struct table *t = table_new(all, count + COUNT(results));
	xfree(all);
	return t;
}

static void add_result(struct table *t, size_t cutoff, size_t outside, const struct summary *value,
		       const struct summary *et)
{
	table_add_count(t, (int64_t)cutoff);
	table_add_count(t, (int64_t)outside);
	add_summary(t, value, true);
	add_summary(t, et, true);
}

struct table *emp_versions_table(const struct emp_versions *versions)
{
	static const struct column columns[] = {
		{ "version", "EMP", COLUMN_TEXT },     { "adds", "Adds", COLUMN_TEXT },
		{ "held", "Met", COLUMN_COUNT },       { "why", "Why", COLUMN_TEXT },
		{ "measure", "Measure", COLUMN_TEXT }, { "n", "n", COLUMN_COUNT },
	};
	struct table *t = result_table(columns, COUNT(columns));
	for (enum emp_version v = EMP_V0; v < EMP_VERSIONS; v++) {
		const struct emp_version_row *row = &versions->rows[v];
		table_add_text(t, emp_version_name(v));
		table_add_text(t, emp_version_adds(v));
		table_add_count(t, row->held);
		table_add_text(t, *row->why ? row->why : NULL);
		table_add_text(t, emp_measure_name(row->measure));
		table_add_count(t, (int64_t)row->n);
		add_result(t, row->dropped_cutoff, row->dropped_outside, &row->value, &row->et);
	}
	return t;
}

struct table *emp_sizes_table(const emp_size_list *sizes)
{
	static const struct column columns[] = {
		{ "n", "n", COLUMN_COUNT },
		{ "recommended", "Recommended", COLUMN_COUNT },
	};
	struct table *t = result_table(columns, COUNT(columns));
	for (size_t i = 0; i < sizes->count; i++) {
		const struct emp_size_row *row = &sizes->items[i];
		table_add_count(t, (int64_t)row->n);
		table_add_count(t, row->recommended);
		add_result(t, row->dropped_cutoff, row->dropped_outside, &row->value, &row->et);
	}
	return t;
}

/* ---- for people ---- */

/* The figures that both tables have: the best process time, then elapsed time. */
static struct table *brief_table(const char *first, const char *second, const struct style *s)
{
	const struct column columns[] = {
		{ "first", first, COLUMN_TEXT, .right = true },
		{ "second", second, COLUMN_TEXT },
		{ "n", "kept", COLUMN_COUNT },
		{ "dropped_cutoff", "I", COLUMN_COUNT },
		{ "dropped_outside", "II", COLUMN_COUNT },
		{ "mean", "Process", COLUMN_DURATION, .digits = 6, .unit = (int)s->unit },
		{ "stddev", "σ", COLUMN_DURATION, .digits = 3, .unit = (int)s->unit },
		{ "relative_error", "σ/mean", COLUMN_PERCENT },
		{ "et_mean", "Elapsed", COLUMN_DURATION, .digits = 6, .unit = (int)s->unit },
		{ "et_stddev", "σ", COLUMN_DURATION, .digits = 3, .unit = (int)s->unit },
	};
	return table_new(columns, COUNT(columns));
}

/* The cells from `kept` on. pt may be NULL: there is none. */
static void add_brief(struct table *t, size_t cutoff, size_t outside, const struct summary *pt,
		      const struct summary *et)
{
	static const struct summary none = { 0 };
	table_add_count(t, (int64_t)et->n);
	table_add_count(t, (int64_t)cutoff);
	table_add_count(t, (int64_t)outside);
	add_summary(t, pt ? pt : &none, true);
	add_summary(t, et, false);
}

static void put_table(struct table *t, const struct style *style, struct strbuf *out)
{
	struct style s = { .width = style->width, .colour = style->colour };
	table_render(t, TABLE_TEXT, &s, out);
	table_free(t);
}

static void put_versions(const struct emp_versions *versions, const struct style *style,
			 struct strbuf *out)
{
	struct table *t = brief_table("EMP", "Met", style);
	for (enum emp_version v = EMP_V0; v < EMP_VERSIONS; v++) {
		const struct emp_version_row *row = &versions->rows[v];
		table_add_text(t, emp_version_name(v));
		table_add_text(t, row->held ? "yes" : "no");
		add_brief(t, row->dropped_cutoff, row->dropped_outside,
			  row->measure == EMP_ET ? NULL : &row->value, &row->et);
	}
	put_table(t, style, out);
	strbuf_putc(out, '\n');
	for (enum emp_version v = EMP_V0; v < EMP_VERSIONS; v++) {
		const struct emp_version_row *row = &versions->rows[v];
		struct strbuf text = { 0 };
		char first[WORDS];
		snprintf(first, sizeof first, " %s  ", emp_version_name(v));
		struct paragraph p = { .width = style->width, .indent = 5, .first = first };
		strbuf_puts(&text, emp_version_adds(v));
		if (*row->why)
			strbuf_printf(&text, "%s%s", row->held ? ". " : ". Not met: ", row->why);
		put_paragraph(out, &p, strbuf_text(&text));
		strbuf_release(&text);
	}
}

static void put_advice(const emp_size_list *sizes, const struct style *style, struct strbuf *out)
{
	struct paragraph p = { .width = style->width, .first = "" };
	size_t whole = sizes->count ? sizes->items[0].n : 0, enough = 0;
	char text[WORDS * 2];
	for (size_t i = 0; i < sizes->count; i++)
		if (sizes->items[i].recommended)
			enough = sizes->items[i].n;
	if (!enough)
		snprintf(text, sizeof text,
			 "%zu sample%s: too few to study how many it takes. The paper takes 300.",
			 whole, whole == 1 ? "" : "s");
	else if (enough == whole)
		snprintf(text, sizeof text,
			 "Fewer than these %zu samples do not show their σ and share of outliers.",
			 whole);
	else
		snprintf(text, sizeof text,
			 "%zu samples are enough: σ and the share of outliers of the first %zu are "
			 "near those of all %zu.",
			 enough, enough, whole);
	put_paragraph(out, &p, text);
}

static void put_sizes(const emp_size_list *sizes, enum emp_measure measure,
		      const struct style *style, struct strbuf *out)
{
	struct table *t = brief_table("n", "", style);
	for (size_t i = 0; i < sizes->count; i++) {
		const struct emp_size_row *row = &sizes->items[i];
		char n[WORDS];
		snprintf(n, sizeof n, "%zu", row->n);
		table_add_text(t, n);
		table_add_text(t, row->recommended ? "<-" : "");
		add_brief(t, row->dropped_cutoff, row->dropped_outside,
			  measure == EMP_ET ? NULL : &row->value, &row->et);
	}
	if (sizes->count)
		put_table(t, style, out);
	else
		table_free(t);
	put_advice(sizes, style, out);
}

void emp_text(const struct run_view *view, const struct emp_versions *versions,
	      const emp_size_list *sizes, const struct style *given, struct strbuf *out)
{
	struct style style = style_normal(given);
	enum emp_measure measure = versions->rows[EMP_V5].measure;
	struct strbuf text = { 0 };
	struct paragraph p = { .width = style.width, .indent = 2, .first = "", .lines = 3 };
	if (view->run->id > 0)
		strbuf_printf(&text, "Run %lld: ", (long long)view->run->id);
	strbuf_puts(&text, run_title(view->run));
	put_paragraph(out, &p, strbuf_text(&text));
	strbuf_clear(&text);
	if (measure != EMP_ET) {
		strbuf_printf(&text, "Process is %s.", measure_title(measure));
		put_paragraph(out, &p, strbuf_text(&text));
	}
	strbuf_release(&text);
	strbuf_putc(out, '\n');
	put_versions(versions, &style, out);
	if (sizes) {
		strbuf_putc(out, '\n');
		put_sizes(sizes, measure, &style, out);
	}
}

/* ---- JSON ---- */

void emp_json(const struct run_view *view, const struct emp_versions *versions,
	      const emp_size_list *sizes, struct strbuf *out)
{
	json_t *root = json_shape(&emp_shape, view->run), *list = json_array();
	for (enum emp_version v = EMP_V0; v < EMP_VERSIONS; v++) {
		json_t *o = json_shape(&version_shape, &versions->rows[v]);
		json_object_set_new(o, "adds", json_string(emp_version_adds(v)));
		json_array_append_new(list, o);
	}
	json_object_set_new(root, "command", json_text(run_title(view->run)));
	json_object_set_new(root, "versions", list);
	if (sizes)
		json_object_set_new(
			root, "sizes",
			json_shapes(&size_shape, sizes->items, sizes->count, sizeof *sizes->items));
	put_json(root, 2, out);
}
