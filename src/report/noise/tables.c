/* The source table, for people as the paper's Table I has it, and as data. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/noise/rows.h"

#define NAME_LEAST 14 /* columns of a name: figures that leave less are not shown */

/* ---- for people ---- */

enum figure { CLASS, LOWEST, HIGHEST, COUNT, MEAN, TOTAL, SIGMA, SHARE, PERIOD, FIGURES };

static const char *const titles[] = {
	[CLASS] = "Class", [LOWEST] = "Lowest", [HIGHEST] = "Highest",
	[COUNT] = "Count", [MEAN] = "Mean",	[TOTAL] = "Total",
	[SIGMA] = "σ",	   [SHARE] = "%",	[PERIOD] = "Period",
};

struct layout {
	bool shown[FIGURES];
	int decimals[FIGURES];
	size_t rows, name; /* how many rows; columns of the name */
};

static double figure_ns(const struct noise_figures *s, enum figure f)
{
	switch (f) {
	case LOWEST:
		return (double)s->min_ns;
	case HIGHEST:
		return (double)s->max_ns;
	case MEAN:
		return s->mean_ns;
	case TOTAL:
		return (double)s->ns;
	case SIGMA:
		return s->sigma_ns;
	default:
		return NAN;
	}
}

static double share_of(const struct noise_rows *rows, uint64_t ns)
{
	return rows->ns ? (double)ns / (double)rows->ns : NAN;
}

static void format_cell(const struct noise_row *row, enum figure f, int decimals, char out[WORDS])
{
	double value = f == SHARE ? row->share * 100 : figure_ns(&row->seen, f) / 1e3;
	snprintf(out, WORDS, "-");
	if (f == COUNT)
		snprintf(out, WORDS, "%llu", (unsigned long long)row->seen.count);
	else if (f == CLASS && row->class < NOISE_CLASSES)
		snprintf(out, WORDS, "%s", noise_class_name(row->class));
	else if (f == PERIOD && isfinite(row->period_ns))
		text_duration(row->period_ns, 3, out, WORDS);
	else if (isfinite(value))
		snprintf(out, WORDS, "%.*f", decimals, value);
}

/* All of a column in µs with the same decimals, so that its figures can be compared by eye. */
static int decimals_for(const struct noise_rows *rows, size_t shown, enum figure f)
{
	double largest = 0;
	for (size_t i = 0; i < shown; i++)
		largest = fmax(largest, figure_ns(&rows->list.items[i].seen, f) / 1e3);
	return f == SHARE || largest < 1e4 ? 2 : largest < 1e6 ? 1 : 0;
}

static size_t widest_name(const struct noise_rows *rows, size_t shown)
{
	size_t widest = 0;
	for (size_t i = 0; i < shown; i++) {
		char *name = display_copy(rows->list.items[i].name);
		widest = text_width(name) > widest ? text_width(name) : widest;
		xfree(name);
	}
	return widest;
}

/* Figures are never cut, so it is columns that give way when names would have no room. Names of
 * combinations are told apart by all of it: for them, two columns do. */
static void lay_out(const struct noise_rows *rows, const struct noise_style *style,
		    struct layout *l)
{
	static const enum figure dispensable[] = { SIGMA, LOWEST, HIGHEST, MEAN };
	size_t widths[FIGURES] = { 0 }, used = 0, widest = widest_name(rows, l->rows);
	bool source = style->mode == NOISE_BY_SOURCE;
	for (enum figure f = 0; f < FIGURES; f++) {
		char cell[WORDS];
		l->shown[f] = (source && style->width >= NOISE_WIDE) || (f != CLASS && f != PERIOD);
		l->decimals[f] = decimals_for(rows, l->rows, f);
		widths[f] = f == SIGMA && style->ascii ? strlen("Sigma") : text_width(titles[f]);
		for (size_t i = 0; i < l->rows; i++) {
			format_cell(&rows->list.items[i], f, l->decimals[f], cell);
			if (text_width(cell) > widths[f])
				widths[f] = text_width(cell);
		}
		used += l->shown[f] ? widths[f] + 2 : 0;
	}
	for (size_t i = 0; i < sizeof dispensable / sizeof *dispensable; i++) {
		size_t least = source || i > 1 || widest < NAME_LEAST ? NAME_LEAST : widest;
		if (used + least <= style->width)
			break;
		l->shown[dispensable[i]] = false;
		used -= widths[dispensable[i]] + 2;
	}
	l->name = style->width > used + NAME_LEAST ? style->width - used : NAME_LEAST;
}

static struct table *shown_table(const struct layout *l, const struct noise_style *style)
{
	struct column columns[FIGURES + 1];
	size_t n = 0;
	columns[n++] = (struct column){ "source",
					style->mode == NOISE_BY_SOURCE ? "Source" : "In succession",
					COLUMN_TEXT };
	for (enum figure f = 0; f < FIGURES; f++)
		if (l->shown[f])
			columns[n++] =
				(struct column){ "figure",
						 f == SIGMA && style->ascii ? "Sigma" : titles[f],
						 COLUMN_TEXT, .right = f != CLASS };
	return table_new(columns, n);
}

static void add_shown(struct table *t, const struct noise_row *row, const struct layout *l)
{
	struct strbuf name = { 0 };
	char *display = display_copy(row->name);
	put_middle(&name, display, l->name);
	table_add_text(t, strbuf_text(&name));
	strbuf_release(&name);
	xfree(display);
	for (enum figure f = 0; f < FIGURES; f++) {
		char cell[WORDS];
		format_cell(row, f, l->decimals[f], cell);
		if (l->shown[f])
			table_add_text(t, cell);
	}
}

void put_noise_sources(const struct noise_rows *rows, size_t most, const struct noise_style *style,
		       struct strbuf *out)
{
	struct layout l = { .rows = rows->list.count };
	uint64_t rest = 0;
	char share[WORDS];
	if (most && l.rows > most)
		l.rows = most;
	lay_out(rows, style, &l);
	struct table *t = shown_table(&l, style);
	for (size_t i = 0; i < l.rows; i++)
		add_shown(t, &rows->list.items[i], &l);
	table_render(t, TABLE_TEXT, &(struct style){ .colour = style->colour }, out);
	table_free(t);
	if (l.rows == rows->list.count)
		return;
	for (size_t i = l.rows; i < rows->list.count; i++)
		rest += rows->list.items[i].seen.ns;
	format_share(share_of(rows, rest), 2, share);
	strbuf_printf(out, "%s and %zu more (%s)\n", style->ascii ? "..." : "…",
		      rows->list.count - l.rows, share);
}

/* ---- as data ---- */

static const struct column source_columns[] = {
	{ "cpu", "CPU", COLUMN_COUNT }, /* with per_cpu */
	{ "source", "Source", COLUMN_TEXT },
	{ "class", "Class", COLUMN_TEXT },
	{ "lowest", "Lowest", COLUMN_DURATION },
	{ "highest", "Highest", COLUMN_DURATION },
	{ "count", "Count", COLUMN_COUNT },
	{ "mean", "Mean", COLUMN_DURATION },
	{ "total", "Total", COLUMN_DURATION },
	{ "sigma", "σ", COLUMN_DURATION },
	{ "share", "Share", COLUMN_PERCENT },
	{ "period", "Period", COLUMN_DURATION },
	{ "period_share", "In period", COLUMN_PERCENT },
};

static const struct column combination_columns[] = {
	{ "cpu", "CPU", COLUMN_COUNT },
	{ "source", "In succession", COLUMN_TEXT },
	{ "lowest", "Lowest", COLUMN_DURATION },
	{ "highest", "Highest", COLUMN_DURATION },
	{ "count", "Count", COLUMN_COUNT },
	{ "mean", "Mean", COLUMN_DURATION },
	{ "total", "Total", COLUMN_DURATION },
	{ "sigma", "σ", COLUMN_DURATION },
	{ "share", "Share", COLUMN_PERCENT },
	{ "told_mean", "Told mean", COLUMN_DURATION },
	{ "told_total", "Told total", COLUMN_DURATION },
};

static void add_data(struct table *t, const struct noise_row *row, bool kernel)
{
	const struct noise_figures *s = &row->seen;
	table_add_text(t, row->name);
	if (row->class < NOISE_CLASSES)
		table_add_text(t, noise_class_name(row->class));
	table_add_number(t, (double)s->min_ns);
	table_add_number(t, (double)s->max_ns);
	table_add_count(t, (int64_t)s->count);
	table_add_number(t, s->mean_ns);
	table_add_number(t, (double)s->ns);
	table_add_number(t, s->sigma_ns);
	table_add_number(t, row->share);
	if (row->class < NOISE_CLASSES) {
		table_add_number(t, row->period_ns);
		table_add_number(t, row->period_share);
	} else {
		table_add_number(t, row->told.mean_ns);
		table_add_number(t, kernel ? (double)row->told.ns : NAN);
	}
}

static void add_cpu(struct table *t, const struct noise *n, const struct noise_cpu *c,
		    enum noise_mode mode)
{
	struct noise_rows rows;
	noise_rows_of(c, mode, &rows);
	for (size_t i = 0; i < rows.list.count; i++) {
		if (c->cpu != UINT32_MAX)
			table_add_count(t, c->cpu);
		add_data(t, &rows.list.items[i], n->kernel);
	}
	noise_rows_release(&rows);
}

struct table *noise_sources_table(const struct noise_view *v, const struct noise_style *given)
{
	struct noise_style style = noise_normal_style(given);
	bool by_source = style.mode == NOISE_BY_SOURCE;
	const struct column *columns = by_source ? source_columns : combination_columns;
	size_t count = by_source ? sizeof source_columns / sizeof *source_columns
				 : sizeof combination_columns / sizeof *combination_columns;
	size_t skipped = style.per_cpu ? 0 : 1;
	struct table *t = table_new(columns + skipped, count - skipped);
	if (style.per_cpu) {
		for (size_t i = 0; i < v->noise->cpus.count; i++)
			add_cpu(t, v->noise, &v->noise->cpus.items[i], style.mode);
		return t;
	}
	struct noise_cpu together;
	noise_together(v->noise, &together);
	add_cpu(t, v->noise, &together, style.mode);
	noise_cpu_release(&together);
	return t;
}

/* ---- histograms as data ---- */

static const struct column bucket_columns[] = {
	{ "bucket_low", "From", COLUMN_DURATION },
	{ "bucket_high", "To", COLUMN_DURATION },
	{ "count", "Count", COLUMN_COUNT },
	{ "total", "Total", COLUMN_DURATION },
	{ "strict", "Strict", COLUMN_DURATION },
	{ "overlap", "Overlap", COLUMN_DURATION },
	{ "master_count", "Master count", COLUMN_COUNT },
	{ "master_total", "Master total", COLUMN_DURATION },
};
#define BUCKET_COLUMNS (sizeof bucket_columns / sizeof *bucket_columns)

static struct table *bucket_table(void)
{
	struct column columns[BUCKET_COLUMNS + NOISE_CLASSES];
	char names[NOISE_CLASSES][32];
	memcpy(columns, bucket_columns, sizeof bucket_columns);
	for (enum noise_class class = 0; class < NOISE_CLASSES; class ++) {
		snprintf(names[class], sizeof names[class], "%s", noise_class_name(class));
		for (char *c = names[class]; *c; c++)
			*c = *c == '-' ? '_' : *c;
		columns[BUCKET_COLUMNS + class] =
			(struct column){ names[class], noise_class_name(class), COLUMN_DURATION };
	}
	return table_new(columns, BUCKET_COLUMNS + NOISE_CLASSES);
}

static void add_bucket(struct table *t, const struct noise *n, unsigned bucket,
		       const struct noise_detours *d, struct noise_bucket master)
{
	uint64_t strict = 0;
	for (enum noise_class class = 0; noise_class_strict(class); class ++)
		strict += d->class_ns[class];
	table_add_number(t, bucket ? (double)noise_bucket_low(bucket) : 0);
	table_add_number(t, (double)noise_bucket_low(bucket + 1));
	table_add_count(t, (int64_t)d->count);
	table_add_number(t, (double)d->ns);
	table_add_number(t, n->kernel ? (double)strict : NAN);
	table_add_number(t, n->kernel ? (double)d->overlap_ns : NAN);
	if (n->kernel)
		table_add_count(t, (int64_t)master.count);
	else
		table_add_absent(t);
	table_add_number(t, n->kernel ? (double)master.ns : NAN);
	for (enum noise_class class = 0; class < NOISE_CLASSES; class ++)
		table_add_number(t, noise_class_told(n, class) ? (double)d->class_ns[class] : NAN);
}

struct table *noise_histogram_table(const struct noise_view *v)
{
	struct noise_cpu together;
	struct table *t = bucket_table();
	noise_together(v->noise, &together);
	for (unsigned i = 0; i < NOISE_BUCKETS; i++) {
		struct noise_bucket master = noise_histogram_at(&together.master, i);
		if (together.buckets[i].count || master.count)
			add_bucket(t, v->noise, i, &together.buckets[i], master);
	}
	noise_cpu_release(&together);
	return t;
}
