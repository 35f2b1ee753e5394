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

/* Beneath the table of a text: what it says there is no column of it. */
#define TOLD_BELOW .from = SIZE_MAX

/* Its own columns, then those that both tables have: the best process time, then elapsed time. A
 * text has little room for titles. */
static struct table *result_table(const struct column *own, size_t count, const struct style *style)
{
	enum time_unit unit = style ? style->unit : TIME_UNIT_AUTO;
	const struct column results[] = {
		{ "dropped_cutoff", "I", COLUMN_COUNT },
		{ "dropped_outside", "II", COLUMN_COUNT },
		{ "mean", style ? "Process" : "Mean", COLUMN_DURATION, .digits = 6, .unit = unit },
		{ "stddev", "σ", COLUMN_DURATION, .digits = 3, .unit = unit },
		{ "relative_error", "σ/mean", COLUMN_REAL },
		{ "et_mean", style ? "Elapsed" : "ET mean", COLUMN_DURATION, .digits = 6,
		  .unit = unit },
		{ "et_stddev", style ? "σ" : "ET σ", COLUMN_DURATION, .digits = 3, .unit = unit },
		{ "et_relative_error", "ET σ/mean", COLUMN_REAL, TOLD_BELOW },
	};
	struct column *all = xcalloc(count + COUNT(results), sizeof *all);
	memcpy(all, own, count * sizeof *all);
	memcpy(all + count, results, sizeof results);
	struct table *t = table_new(all, count + COUNT(results));
	xfree(all);
	return t;
}

/* One value has no spread. People see what is elapsed time only where that stands. */
static void add_summary(struct table *t, const struct summary *s, bool shown)
{
	const double figures[] = { s->n ? s->mean : NAN, s->n > 1 ? s->stddev : NAN,
				   s->n > 1 ? s->relative_error : NAN };
	char share[WORDS] = "-";
	for (size_t i = 0; i < 2; i++)
		if (shown)
			table_add_number(t, figures[i]);
		else
			table_add_shown(t, figures[i], "-");
	if (shown && isfinite(figures[2]))
		format_percent(figures[2], share);
	table_add_shown(t, figures[2], share);
}

static void add_result(struct table *t, size_t cutoff, size_t outside, const struct summary *value,
		       enum emp_measure measure, const struct summary *et)
{
	table_add_count(t, (int64_t)cutoff);
	table_add_count(t, (int64_t)outside);
	add_summary(t, value, measure != EMP_ET);
	add_summary(t, et, true);
}

struct table *emp_versions_table(const struct emp_versions *versions, const struct style *style)
{
	static const struct column columns[] = {
		{ "version", "EMP", COLUMN_TEXT, .right = true },
		{ "adds", "Adds", COLUMN_TEXT, TOLD_BELOW },
		{ "held", "Met", COLUMN_COUNT, FOR_DATA },
		{ "held", "Met", COLUMN_TEXT, FOR_PEOPLE },
		{ "why", "Why", COLUMN_TEXT, TOLD_BELOW },
		{ "measure", "Measure", COLUMN_TEXT, TOLD_BELOW },
		{ "n", "kept", COLUMN_COUNT },
	};
	struct table *t = result_table(columns, COUNT(columns), style);
	for (enum emp_version v = EMP_V0; v < versions->count; v++) {
		const struct emp_version_row *row = &versions->rows[v];
		table_add_text(t, emp_version_names[v]);
		table_add_text(t, emp_version_adds(v));
		if (!row->unsaid)
			table_add_count(t, row->held);
		else
			table_add_absent(t);
		table_add_text(t, row->unsaid ? "?" : row->held ? "yes" : "no");
		table_add_text(t, *row->why ? row->why : NULL);
		table_add_text(t, emp_measure_names[row->measure]);
		table_add_count(t, (int64_t)row->n);
		add_result(t, row->dropped_cutoff, row->dropped_outside, &row->value, row->measure,
			   &row->et);
	}
	return t;
}

struct table *emp_sizes_table(const emp_size_list *sizes, enum emp_measure measure,
			      const struct style *style)
{
	const struct column columns[] = {
		{ "n", "n", COLUMN_COUNT },
		{ "recommended", style ? "" : "Recommended", COLUMN_COUNT },
		{ "kept", "kept", COLUMN_COUNT, FOR_PEOPLE },
	};
	struct table *t = result_table(columns, COUNT(columns), style);
	array_each(row, sizes) {
		table_add_count(t, (int64_t)row->n);
		table_add_shown(t, row->recommended, !row->recommended ? "" : style ? "<-" : "yes");
		table_add_count(t, (int64_t)row->et.n);
		add_result(t, row->dropped_cutoff, row->dropped_outside, &row->value, measure,
			   &row->et);
	}
	return t;
}

/* ---- for people ---- */

static void put_sizes(const emp_size_list *sizes, enum emp_measure measure,
		      const struct style *style, struct strbuf *out)
{
	if (sizes->count)
		table_put(emp_sizes_table(sizes, measure, style), style, out);
	size_t whole = sizes->count ? sizes->items[0].n : 0, enough = 0;
	for (size_t i = 0; i < sizes->count; i++)
		if (sizes->items[i].recommended)
			enough = sizes->items[i].n;
	if (!enough)
		put_wrapped(
			out, style, "", 0,
			"%zu sample%s: too few to study how many it takes. The paper takes 300.",
			whole, whole == 1 ? "" : "s");
	else if (enough == whole)
		put_wrapped(out, style, "", 0,
			    "Fewer than these %zu samples do not show their σ and share of "
			    "outliers.",
			    whole);
	else
		put_wrapped(out, style, "", 0,
			    "%zu samples are enough: σ and the share of outliers of the first %zu "
			    "are near those of all %zu, or differ by no more than chance.",
			    enough, enough, whole);
	double effective = enough ? sizes->items[0].value.error.effective : 0;
	if (effective > 0 && effective < (double)sizes->items[0].value.n / 2)
		put_wrapped(out, style, "", 0,
			    "But the executions depend on each other: a few in a row may all be "
			    "alike.");
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
	} else if (versions->by_measure) {
		put_paragraph(out, &p, "Rule II judges elapsed time.");
	}
	strbuf_release(&text);
	strbuf_putc(out, '\n');
	table_put(emp_versions_table(versions, &style), &style, out);
	strbuf_putc(out, '\n');
	for (enum emp_version v = EMP_V0; v < versions->count; v++) {
		const struct emp_version_row *row = &versions->rows[v];
		char first[WORDS];
		snprintf(first, sizeof first, v == EMP_STEADY ? " %s " : " %s  ",
			 emp_version_names[v]);
		put_wrapped(out, &style, first, 5, "%s%s%s", emp_version_adds(v),
			    !*row->why	  ? ""
			    : row->unsaid ? ". Cannot be said: "
			    : row->held	  ? ". "
					  : ". Not met: ",
			    row->why);
	}
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
	for (enum emp_version v = EMP_V0; v < versions->count; v++) {
		json_t *o = json_shape(&version_shape, &versions->rows[v]);
		json_object_set_new(o, "adds", json_string(emp_version_adds(v)));
		json_object_set_new(o, "held",
				    versions->rows[v].unsaid
					    ? json_null()
					    : json_boolean(versions->rows[v].held));
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
