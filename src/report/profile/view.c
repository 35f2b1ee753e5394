/* The rows of a view for people. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/profile/rows.h"

#define FEW_SAMPLES 100000 /* below: shares have their margin beside them */
#define OWNER_COLUMNS 14   /* of an app's name */
#define OBJECT_COLUMNS 16
#define FUNCTION_COLUMNS 24
#define NAME_LEAST 20

enum cell { TOTAL, SHARE, MARGIN, SAMPLES, PID, TID, FIRST, ADDRESS, NAME, OBJECT, OWNER, CELLS };

/* What is not in every view has a `spare`: columns that say least go first. */
static const struct column cells[CELLS] = {
	[TOTAL] = { "total", "Total %", COLUMN_PERCENT, .bare = true },
	[SHARE] = { "share", "Share %", COLUMN_PERCENT, .bare = true },
	[MARGIN] = { "margin", "±", COLUMN_PERCENT, .bare = true, .spare = 2 },
	[SAMPLES] = { "samples", "Samples", COLUMN_COUNT },
	[PID] = { "pid", "PID", COLUMN_COUNT },
	[TID] = { "tid", "TID", COLUMN_COUNT },
	[FIRST] = { "first", "First seen", COLUMN_DURATION, .digits = 3, .spare = 3 },
	[ADDRESS] = { "address", "Address", COLUMN_TEXT, .right = true },
	[NAME] = { "name", "", COLUMN_TEXT, .middle = true, .least = NAME_LEAST },
	[OBJECT] = { "object", "Object", COLUMN_TEXT, .middle = true, .most = OBJECT_COLUMNS,
		     .spare = 1 },
	[OWNER] = { "owner", "App", COLUMN_TEXT, .middle = true, .most = OWNER_COLUMNS,
		    .spare = 4 },
};

struct view {
	const struct profile_subject *s;
	const struct sleepy_view *v;
	const struct profile_style *style;
	bool shown[CELLS];
	profile_row_list rows;
	uint64_t begin_ns;
	int decimals;
};

static void choose_cells(struct view *w)
{
	const struct profile *p = w->s->profile;
	enum sleepy_by by = w->v->by;
	bool place = by == SLEEPY_FUNCTION || by == SLEEPY_LINE || by == SLEEPY_INSTRUCTION;
	w->shown[TOTAL] = w->style->totals &&
			  (by == SLEEPY_OBJECT || by == SLEEPY_FUNCTION || by == SLEEPY_LINE);
	w->shown[SHARE] = w->shown[SAMPLES] = w->shown[NAME] = true;
	/* where each event is a sample, there is no chance in it */
	w->shown[MARGIN] = w->v->samples < FEW_SAMPLES && p->period != 1;
	w->shown[PID] = w->shown[FIRST] = by == SLEEPY_INSTANCE;
	w->shown[TID] = by == SLEEPY_THREAD;
	w->shown[ADDRESS] = by == SLEEPY_INSTRUCTION;
	w->shown[OBJECT] = place;
	/* one app only, or several in each row: a column of it says nothing */
	for (size_t i = 0; i < w->rows.count; i++) {
		const struct sleepy_row *row = w->rows.items[i].row;
		if (by == SLEEPY_INSTANCE ? p->instances.items[row->instance].container != NULL
					  : place && p->apps.count > 1 && row->app != PROFILE_NONE)
			w->shown[OWNER] = true;
	}
}

static struct table *make_table(const struct view *w)
{
	static const char *const names[SLEEPY_VIEWS] = {
		[SLEEPY_APP] = "App",		[SLEEPY_INSTANCE] = "Instance",
		[SLEEPY_THREAD] = "Thread",	[SLEEPY_OBJECT] = "Object",
		[SLEEPY_FUNCTION] = "Function", [SLEEPY_LINE] = "Line",
		[SLEEPY_INSTRUCTION] = "At",	[SLEEPY_CONTAINER] = "Container or cgroup",
	};
	struct column columns[CELLS];
	size_t count = 0;
	memcpy(columns, cells, sizeof cells);
	columns[NAME].title = names[w->v->by];
	if (w->shown[TOTAL])
		columns[SHARE].title = "Self %";
	if (w->v->by == SLEEPY_INSTANCE)
		columns[OWNER].title = "Container";
	if (w->v->by == SLEEPY_LINE) {
		/* of lines that are not known the function is the name: it only becomes narrower */
		columns[OBJECT].title = "Function";
		columns[OBJECT].most = FUNCTION_COLUMNS;
		columns[OBJECT].spare = 0;
		columns[OBJECT].whole = 1;
		/* what the rows are sorted by stays */
		columns[w->style->by_total ? SAMPLES : TOTAL].spare = 1;
	}
	for (enum cell c = 0; c < CELLS; c++) {
		columns[count] = columns[c];
		if (columns[c].bare)
			columns[count].decimals = DECIMALS(w->decimals);
		count += w->shown[c];
	}
	return table_new(columns, count);
}

static void add_name(struct table *t, const struct view *w, const struct sleepy_shown *shown,
		     const struct profile_row *row, const char *kernel)
{
	enum sleepy_by by = w->v->by;
	SCOPED(strbuf_release) struct strbuf after = { 0 };
	if (by == SLEEPY_FUNCTION && row->inlined)
		strbuf_puts(&after, " (inlined)");
	if (shown->mark)
		strbuf_printf(&after, " (%s)", shown->mark);
	if (by == SLEEPY_FUNCTION || by == SLEEPY_INSTRUCTION) {
		table_add_symbol(t, kernel, row->name, strbuf_text(&after));
	} else {
		SCOPED(strbuf_release) struct strbuf text = { 0 };
		strbuf_printf(&text, "%s%s",
			      by == SLEEPY_LINE && !row->line		  ? "(not known)"
			      : by == SLEEPY_CONTAINER && !row->container ? "(no cgroup was told)"
									  : row->name,
			      strbuf_text(&after));
		table_add_text(t, strbuf_text(&text));
	}
}

static void add_row(struct table *t, const struct view *w, const struct sleepy_shown *shown)
{
	const struct sleepy_row *of = shown->row;
	const struct profile *p = w->s->profile;
	const bool *has = w->shown;
	enum sleepy_by by = w->v->by;
	struct profile_row row;
	profile_row_of(p, w->v, of, &row);
	const char *kernel = profile_row_kernel(p, w->v, of) ? "[k] " : "";
	if (has[TOTAL])
		table_add_number(t, row.total_share);
	table_add_number(t, row.share);
	if (has[MARGIN]) /* the larger half of the interval */
		table_add_number(t, fmax(row.share_high - row.share, row.share - row.share_low));
	table_add_count(t, (int64_t)row.samples);
	if (has[PID])
		table_add_count(t, row.pid);
	if (has[TID])
		table_add_count(t, row.tid);
	if (has[FIRST]) {
		uint64_t first_ns = p->instances.items[of->instance].first_ns;
		if (first_ns >= w->begin_ns)
			table_add_number(t, (double)(first_ns - w->begin_ns));
		else
			table_add_shown(t, NAN, "");
	}
	if (has[ADDRESS]) {
		char address[WORDS];
		snprintf(address, sizeof address, "%llx", (unsigned long long)of->address);
		table_add_text(t, address);
	}
	add_name(t, w, shown, &row, kernel);
	if (has[OBJECT] && by == SLEEPY_LINE) /* the function says more */
		table_add_symbol(t, kernel, row.function ? row.function : row.name, "");
	else if (has[OBJECT])
		table_add_symbol(t, "", of->where ? of->where : "-", "");
	if (has[OWNER])
		table_add_text(t, by == SLEEPY_INSTANCE ? row.container : row.app ? row.app : "");
}

static void put_rest(const struct view *w, struct strbuf *out)
{
	const struct sleepy_view *v = w->v;
	uint64_t rest = v->samples;
	size_t left = 0;
	for (size_t i = 0; i < v->rows.count; i++)
		left += v->rows.items[i].self > 0;
	for (size_t i = 0; i < w->rows.count; i++) {
		rest -= w->rows.items[i].row->self;
		left -= w->rows.items[i].row->self > 0;
	}
	if (!left)
		return;
	strbuf_printf(out, "… and %zu more %s with %s %% of the samples\n", left,
		      profile_row_word(v->by, left),
		      AS_POINTS((double)rest / (double)v->samples, w->decimals));
}

static void put_rows(const struct profile_subject *s, const struct sleepy_view *v,
		     const struct profile_style *style, struct strbuf *out)
{
	struct view w = { s, v, style, .decimals = profile_decimals(v->samples) };
	struct profile_totals sums;
	profile_totals_of(s->profile, &sums);
	w.begin_ns = s->begin_ns ? s->begin_ns : sums.slice.begin_ns;
	profile_rows_of(v, style, &w.rows);
	sleepy_tell_apart(s->profile, v->by, w.rows.items, w.rows.count);
	choose_cells(&w);
	struct table *t = make_table(&w);
	for (size_t i = 0; i < w.rows.count; i++)
		add_row(t, &w, &w.rows.items[i]);
	table_put(t, &style->style, out);
	put_rest(&w, out);
	for (size_t i = 0; i < w.rows.count; i++)
		xfree(w.rows.items[i].mark);
	array_release(&w.rows);
}

void profile_view_text(const struct profile_subject *s, const struct sleepy_view *v,
		       const struct profile_style *given, struct strbuf *out)
{
	struct profile_style style = profile_normal_style(given);
	SCOPED(strbuf_release) struct strbuf title = { 0 }, rows = { 0 };
	if (v->by == SLEEPY_SYSTEM)
		put_profile_system(s, v, &style.style, &rows);
	else if (v->samples)
		put_rows(s, v, &style, &rows);
	strbuf_printf(&title, "By %s, of ", sleepy_by_names[v->by]);
	if (v->samples != v->all)
		strbuf_printf(&title, "%llu of ", (unsigned long long)v->samples);
	put_samples_count(&title, v->all, "sample");
	strbuf_puts(&title, " (");
	put_profile_worth(s->profile, v->samples, &title);
	strbuf_putc(&title, ')');
	/* the margin is explained where there is room for it */
	const char *margin = strstr(strbuf_text(&rows), cells[MARGIN].title);
	if (margin && margin < strchr(strbuf_text(&rows), '\n'))
		strbuf_puts(&title, "; ± is 95 %, in points");
	put_wrapped(out, &style.style, "", 2, "%s", strbuf_text(&title));
	strbuf_puts(out, strbuf_text(&rows));
}
