/* The rows of a view for people. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/profile/rows.h"

#define FEW_SAMPLES 100000 /* below: shares have their margin beside them */
#define OWNER_COLUMNS 14   /* of an app's name */
#define OBJECT_COLUMNS 16
#define FUNCTION_COLUMNS 24
#define FUNCTION_LEAST 16
#define NAME_LEAST 20

enum cell { TOTAL, SHARE, MARGIN, SAMPLES, PID, TID, FIRST, ADDRESS, NAME, OBJECT, OWNER, CELLS };

struct layout {
	bool shown[CELLS];
	bool totals; /* there are some, shown or not */
	profile_row_list rows;
	uint64_t begin_ns;
	int decimals;
	size_t name, object, owner; /* most columns; 0: any */
};

static const char *title_of(const struct layout *l, enum sleepy_by by, enum cell cell)
{
	static const char *const names[SLEEPY_VIEWS] = {
		[SLEEPY_APP] = "App",		[SLEEPY_INSTANCE] = "Instance",
		[SLEEPY_THREAD] = "Thread",	[SLEEPY_OBJECT] = "Object",
		[SLEEPY_FUNCTION] = "Function", [SLEEPY_LINE] = "Line",
		[SLEEPY_INSTRUCTION] = "At",	[SLEEPY_CONTAINER] = "Container or cgroup",
	};
	static const char *const titles[CELLS] = {
		[TOTAL] = "Total %",   [MARGIN] = "±",	    [SAMPLES] = "Samples",
		[PID] = "PID",	       [TID] = "TID",	    [FIRST] = "First seen",
		[ADDRESS] = "Address", [OBJECT] = "Object",
	};
	if (cell == NAME)
		return names[by];
	if (cell == SHARE)
		return l->totals ? "Self %" : "Share %";
	if (cell == OBJECT && by == SLEEPY_LINE)
		return "Function";
	if (cell == OWNER)
		return by == SLEEPY_INSTANCE ? "Container" : "App";
	return titles[cell];
}

static const char *kernel_mark(const struct profile *p, const struct sleepy_view *v,
			       const struct sleepy_row *row)
{
	return profile_row_kernel(p, v, row) ? "[k] " : "";
}

/* By line the function stands where the object does: it says more. */
static const char *object_text(const struct profile *p, const struct sleepy_view *v,
			       const struct sleepy_row *row)
{
	if (v->by != SLEEPY_LINE)
		return row->where ? row->where : "-";
	if (row->function == PROFILE_NONE)
		return row->name;
	return p->functions.items[row->function].name;
}

static const char *owner_text(const struct profile *p, const struct sleepy_view *v,
			      const struct sleepy_row *row)
{
	if (v->by == SLEEPY_INSTANCE)
		return p->instances.items[row->instance].container;
	return row->app == PROFILE_NONE ? "" : p->apps.items[row->app].name;
}

static void add_name(struct table *t, const struct profile *p, const struct sleepy_view *v,
		     const struct sleepy_row *row, const char *mark, size_t columns)
{
	bool inlined = v->by == SLEEPY_FUNCTION && profile_row_inlined(p, row);
	bool symbol = v->by == SLEEPY_FUNCTION || v->by == SLEEPY_INSTRUCTION;
	struct strbuf text = { 0 };
	if (v->by == SLEEPY_LINE && !row->line)
		strbuf_puts(&text, "(not known)");
	else if (v->by == SLEEPY_CONTAINER && !row->container)
		strbuf_puts(&text, "(no cgroup was told)");
	else
		strbuf_puts(&text, symbol ? "" : row->name);
	strbuf_puts(&text, inlined ? " (inlined)" : "");
	if (mark)
		strbuf_printf(&text, " (%s)", mark);
	if (symbol) {
		char *after = display_copy(strbuf_text(&text));
		table_add_symbol(t, kernel_mark(p, v, row), row->name, after, columns);
		xfree(after);
	} else {
		table_add_fitted(t, strbuf_text(&text), columns);
	}
	strbuf_release(&text);
}

static void format_cell(const struct profile *p, const struct sleepy_view *v,
			const struct sleepy_row *row, const struct layout *l, enum cell cell,
			char out[WORDS])
{
	const struct profile_instance *i =
		row->instance == PROFILE_NONE ? NULL : &p->instances.items[row->instance];
	double n = (double)v->samples;
	*out = 0;
	if (cell == TOTAL)
		format_points((double)row->total / n, l->decimals, out);
	else if (cell == SHARE)
		format_points((double)row->self / n, l->decimals, out);
	else if (cell == MARGIN)
		format_points(profile_margin(row->self, v->samples), l->decimals, out);
	else if (cell == SAMPLES)
		snprintf(out, WORDS, "%llu", (unsigned long long)row->self);
	else if (cell == PID && i)
		snprintf(out, WORDS, "%u", i->pid);
	else if (cell == TID && row->thread != PROFILE_NONE)
		snprintf(out, WORDS, "%u", p->threads.items[row->thread].tid);
	else if (cell == ADDRESS)
		snprintf(out, WORDS, "%llx", (unsigned long long)row->address);
	else if (cell == FIRST && i && i->first_ns >= l->begin_ns)
		text_duration((double)(i->first_ns - l->begin_ns), 3, out, WORDS);
}

static bool is_figure(enum cell cell)
{
	return cell < NAME;
}

static void choose_cells(const struct profile *p, const struct sleepy_view *v,
			 const struct profile_style *style, struct layout *l)
{
	enum sleepy_by by = v->by;
	bool place = by == SLEEPY_FUNCTION || by == SLEEPY_LINE || by == SLEEPY_INSTRUCTION;
	l->totals = style->totals &&
		    (by == SLEEPY_OBJECT || by == SLEEPY_FUNCTION || by == SLEEPY_LINE);
	l->shown[TOTAL] = l->totals;
	l->shown[SHARE] = l->shown[SAMPLES] = l->shown[NAME] = true;
	l->shown[MARGIN] = v->samples < FEW_SAMPLES;
	l->shown[PID] = by == SLEEPY_INSTANCE;
	l->shown[FIRST] = by == SLEEPY_INSTANCE;
	l->shown[TID] = by == SLEEPY_THREAD;
	l->shown[ADDRESS] = by == SLEEPY_INSTRUCTION;
	l->shown[OBJECT] = place;
	/* one app only, or several in each row: a column of it says nothing */
	for (size_t i = 0; i < l->rows.count; i++) {
		const struct sleepy_row *row = l->rows.items[i].row;
		if (by == SLEEPY_INSTANCE ? p->instances.items[row->instance].container != NULL
					  : place && p->apps.count > 1 && row->app != PROFILE_NONE)
			l->shown[OWNER] = true;
	}
}

static size_t widest(size_t most, size_t width)
{
	return width > most ? width : most;
}

static size_t display_width(const char *text)
{
	char *safe = display_copy(text ? text : "-");
	size_t width = text_width(safe);
	xfree(safe);
	return width;
}

static size_t object_width(const struct profile *p, const struct sleepy_view *v,
			   const struct sleepy_row *row)
{
	size_t mark = v->by == SLEEPY_LINE ? strlen(kernel_mark(p, v, row)) : 0;
	return mark + display_width(object_text(p, v, row));
}

static size_t cell_width(const struct profile *p, const struct sleepy_view *v,
			 const struct layout *l, enum cell c)
{
	size_t width = text_width(title_of(l, v->by, c));
	for (size_t i = 0; i < l->rows.count; i++) {
		const struct sleepy_row *row = l->rows.items[i].row;
		char text[WORDS];
		format_cell(p, v, row, l, c, text);
		width = widest(width, c == OBJECT  ? object_width(p, v, row)
				      : c == OWNER ? display_width(owner_text(p, v, row))
						   : text_width(text));
	}
	return width;
}

static size_t at_most(size_t width, size_t most)
{
	return width < most ? width : most;
}

/* Figures are never cut. The object and the owner take what they need up to a bound, the name the
 * rest; where that is too little for it, columns that say least go. Of lines that are not known the
 * function is the name: it only becomes narrower. */
static void lay_out(const struct profile *p, const struct sleepy_view *v,
		    const struct profile_style *style, struct layout *l)
{
	bool line = v->by == SLEEPY_LINE;
	/* what the rows are sorted by stays */
	const enum cell dispensable[] = { OWNER, FIRST, MARGIN,
					  !line		    ? OBJECT
					  : style->by_total ? SAMPLES
							    : TOTAL };
	size_t widths[CELLS] = { 0 }, used = 0;
	choose_cells(p, v, style, l);
	if (!style->width)
		return;
	for (enum cell c = 0; c < CELLS; c++) {
		if (c == NAME || !l->shown[c])
			continue;
		widths[c] = cell_width(p, v, l, c);
		if (c == OBJECT)
			widths[c] = at_most(widths[c], line ? FUNCTION_COLUMNS : OBJECT_COLUMNS);
		else if (c == OWNER)
			widths[c] = at_most(widths[c], OWNER_COLUMNS);
		used += widths[c] + 2;
	}
	for (size_t i = 0; i < sizeof dispensable / sizeof *dispensable; i++)
		if (l->shown[dispensable[i]] && used + NAME_LEAST > style->width) {
			l->shown[dispensable[i]] = false;
			used -= widths[dispensable[i]] + 2;
		}
	while (line && widths[OBJECT] > FUNCTION_LEAST && used + NAME_LEAST > style->width) {
		widths[OBJECT]--;
		used--;
	}
	l->object = widths[OBJECT];
	l->owner = widths[OWNER];
	l->name = style->width > used + NAME_LEAST ? style->width - used : NAME_LEAST;
}

static void add_row(struct table *t, const struct profile *p, const struct sleepy_view *v,
		    size_t at, const struct layout *l)
{
	const struct sleepy_row *row = l->rows.items[at].row;
	bool line = v->by == SLEEPY_LINE;
	for (enum cell c = 0; c < CELLS; c++) {
		char text[WORDS];
		if (!l->shown[c])
			continue;
		format_cell(p, v, row, l, c, text);
		if (is_figure(c))
			table_add_text(t, text);
		else if (c == NAME)
			add_name(t, p, v, row, l->rows.items[at].mark, l->name);
		else if (c == OBJECT)
			table_add_symbol(t, line ? kernel_mark(p, v, row) : "",
					 object_text(p, v, row), "", l->object);
		else
			table_add_fitted(t, owner_text(p, v, row), l->owner);
	}
}

static void put_rows(const struct profile *p, const struct sleepy_view *v,
		     const struct profile_style *style, struct layout *l, struct strbuf *out)
{
	struct column columns[CELLS];
	size_t count = 0;
	for (enum cell c = 0; c < CELLS; c++)
		if (l->shown[c])
			columns[count++] = (struct column){ "cell", title_of(l, v->by, c),
							    COLUMN_TEXT, .right = is_figure(c) };
	struct table *t = table_new(columns, count);
	for (size_t i = 0; i < l->rows.count; i++)
		add_row(t, p, v, i, l);
	table_render(t, TABLE_TEXT, &(struct style){ .colour = style->colour }, out);
	table_free(t);
}

static void put_rest(const struct sleepy_view *v, const struct layout *l, struct strbuf *out)
{
	uint64_t rest = v->samples;
	size_t left = 0;
	char share[WORDS];
	for (size_t i = 0; i < v->rows.count; i++)
		left += v->rows.items[i].self > 0;
	for (size_t i = 0; i < l->rows.count; i++) {
		rest -= l->rows.items[i].row->self;
		left -= l->rows.items[i].row->self > 0;
	}
	if (!left)
		return;
	format_points((double)rest / (double)v->samples, l->decimals, share);
	strbuf_printf(out, "… and %zu more %s with %s %% of the samples\n", left,
		      profile_row_word(v->by, left), share);
}

/* Of how many samples the shares are; the margin is explained where it is shown. */
static void put_view_title(const struct profile_subject *s, const struct sleepy_view *v,
			   const struct layout *l, const struct profile_style *style,
			   struct strbuf *out)
{
	struct strbuf text = { 0 };
	strbuf_printf(&text, "By %s, of ", sleepy_by_name(v->by));
	if (v->samples == v->all)
		put_samples_count(&text, v->samples, "sample");
	else {
		strbuf_printf(&text, "%llu of ", (unsigned long long)v->samples);
		put_samples_count(&text, v->all, "sample");
	}
	strbuf_puts(&text, " (");
	put_cpu_seconds(&text, profile_ns(s->profile, v->samples));
	strbuf_putc(&text, ')');
	if (l->shown[MARGIN] && v->samples)
		strbuf_puts(&text, "; ± is 95 %, in points");
	put_paragraph(
		out, &(struct paragraph){ .width = profile_width(style), .first = "", .indent = 2 },
		strbuf_text(&text));
	strbuf_release(&text);
}

static void layout_release(struct layout *l)
{
	for (size_t i = 0; i < l->rows.count; i++)
		xfree(l->rows.items[i].mark);
	array_release(&l->rows);
}

void profile_view_text(const struct profile_subject *s, const struct sleepy_view *v,
		       const struct profile_style *given, struct strbuf *out)
{
	struct profile_style style = profile_normal_style(given);
	struct layout l = { .decimals = profile_decimals(v->samples) };
	struct profile_totals sums;
	if (v->by == SLEEPY_SYSTEM) {
		put_view_title(s, v, &l, &style, out);
		put_profile_system(s, v, &style, out);
		return;
	}
	profile_totals_of(s->profile, &sums);
	l.begin_ns = s->begin_ns ? s->begin_ns : sums.slice.begin_ns;
	profile_rows_of(v, &style, &l.rows);
	sleepy_tell_apart(s->profile, v->by, l.rows.items, l.rows.count);
	lay_out(s->profile, v, &style, &l);
	put_view_title(s, v, &l, &style, out);
	if (v->samples) {
		put_rows(s->profile, v, &style, &l, out);
		put_rest(v, &l, out);
	}
	layout_release(&l);
}
