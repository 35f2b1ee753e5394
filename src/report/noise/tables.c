/* The source table, for people as the paper's Table I has it, and as data. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/noise/rows.h"

#define NAME_LEAST 14 /* columns of a name: figures that leave less are not shown */

/* Cells of both tables are the same; people see times in µs, in as few columns as fit. */
enum figure {
	CPU,
	NAME,
	CLASS, /* of a source */
	LOWEST,
	HIGHEST,
	COUNT,
	MEAN,
	TOTAL,
	SIGMA,
	SHARE,
	PERIOD,
	PERIOD_SHARE, /* of a source */
	TOLD_MEAN,
	TOLD_TOTAL, /* of a combination */
	FIGURES
};

static const struct column data_columns[FIGURES] = {
	[CPU] = { "cpu", "CPU", COLUMN_COUNT },
	[NAME] = { "source", "Source", COLUMN_TEXT },
	[CLASS] = { "class", "Class", COLUMN_TEXT },
	[LOWEST] = { "lowest", "Lowest", COLUMN_DURATION },
	[HIGHEST] = { "highest", "Highest", COLUMN_DURATION },
	[COUNT] = { "count", "Count", COLUMN_COUNT },
	[MEAN] = { "mean", "Mean", COLUMN_DURATION },
	[TOTAL] = { "total", "Total", COLUMN_DURATION },
	[SIGMA] = { "sigma", "σ", COLUMN_DURATION },
	[SHARE] = { "share", "Share", COLUMN_PERCENT },
	[PERIOD] = { "period", "Period", COLUMN_DURATION },
	[PERIOD_SHARE] = { "period_share", "In period", COLUMN_PERCENT },
	[TOLD_MEAN] = { "told_mean", "Told mean", COLUMN_DURATION },
	[TOLD_TOTAL] = { "told_total", "Told total", COLUMN_DURATION },
};

#define US(title_, spare_)                                                                      \
	{                                                                                       \
		"time", title_, COLUMN_DURATION, .unit = TIME_UNIT_MICROSECOND, .common = true, \
						 .bare = true, .spare = spare_                  \
	}
/* Names of combinations are told apart by all of it: they stay whole while two columns can go. */
static const struct column shown_columns[FIGURES] = {
	[CPU] = { "cpu", "CPU", COLUMN_COUNT, .only = FOR_DATA },
	[NAME] = { "source", "Source", COLUMN_TEXT, .middle = true, .least = NAME_LEAST },
	[CLASS] = { "class", "Class", COLUMN_TEXT, .from = NOISE_WIDE, .least = NAME_LEAST },
	[LOWEST] = US("Lowest", 3),
	[HIGHEST] = US("Highest", 2),
	[COUNT] = { "count", "Count", COLUMN_COUNT },
	[MEAN] = US("Mean", 1),
	[TOTAL] = US("Total", 0),
	[SIGMA] = { "sigma", "σ", COLUMN_DURATION, .unit = TIME_UNIT_MICROSECOND, .common = true,
		    .bare = true, .ascii = "Sigma", .spare = 4 },
	[SHARE] = { "share", "%", COLUMN_PERCENT, .bare = true, .decimals = DECIMALS(2) },
	[PERIOD] = { "period", "Period", COLUMN_DURATION, .digits = 3, .from = NOISE_WIDE },
	[PERIOD_SHARE] = { "period_share", "In period", COLUMN_PERCENT, .only = FOR_DATA },
	[TOLD_MEAN] = { "told_mean", "Told mean", COLUMN_DURATION, .only = FOR_DATA },
	[TOLD_TOTAL] = { "told_total", "Told total", COLUMN_DURATION, .only = FOR_DATA },
};

static bool has_figure(enum noise_mode mode, enum figure f)
{
	if (f == CLASS || f == PERIOD || f == PERIOD_SHARE)
		return mode == NOISE_BY_SOURCE;
	return mode != NOISE_BY_SOURCE || (f != TOLD_MEAN && f != TOLD_TOTAL);
}

static struct table *sources_table(const struct column *all, enum noise_mode mode, bool per_cpu)
{
	struct column columns[FIGURES];
	size_t n = 0;
	for (enum figure f = per_cpu ? CPU : NAME; f < FIGURES; f++)
		if (has_figure(mode, f)) {
			columns[n] = all[f];
			if (f == NAME && mode != NOISE_BY_SOURCE) {
				columns[n].title = "In succession";
				columns[n].whole = all[LOWEST].spare;
			}
			n++;
		}
	return table_new(columns, n);
}

static void add_ns(struct table *t, uint64_t ns)
{
	table_add_number(t, ns == ABSENT_NS ? NAN : (double)ns);
}

static void add_row(struct table *t, const struct noise_row *row, bool kernel)
{
	bool source = row->class < NOISE_CLASSES;
	table_add_text(t, row->name);
	if (source)
		table_add_text(t, noise_class_name(row->class));
	add_ns(t, row->seen.min_ns);
	add_ns(t, row->seen.max_ns);
	table_add_count(t, (int64_t)row->seen.count);
	table_add_number(t, row->seen.mean_ns);
	add_ns(t, row->seen.ns);
	table_add_number(t, row->seen.sigma_ns);
	table_add_number(t, row->share);
	table_add_number(t, source ? row->period_ns : row->told.mean_ns);
	table_add_number(t, source ? row->period_share : kernel ? (double)row->told.ns : NAN);
}

void put_noise_sources(const struct noise_rows *rows, size_t most, const struct noise_style *style,
		       struct strbuf *out)
{
	size_t shown = most && rows->list.count > most ? most : rows->list.count;
	struct table *t = sources_table(shown_columns, style->mode, false);
	uint64_t rest = 0;
	char share[WORDS];
	for (size_t i = 0; i < shown; i++)
		add_row(t, &rows->list.items[i], true);
	table_put(t,
		  &(struct style){
			  .width = style->width, .colour = style->colour, .ascii = style->ascii },
		  out);
	if (shown == rows->list.count)
		return;
	for (size_t i = shown; i < rows->list.count; i++)
		rest += rows->list.items[i].seen.ns;
	format_share(rows->ns ? (double)rest / (double)rows->ns : NAN, 2, share);
	strbuf_printf(out, "%s and %zu more (%s)\n", style->ascii ? "..." : "…",
		      rows->list.count - shown, share);
}

struct table *noise_sources_table(const struct noise_view *v, const struct noise_style *given)
{
	struct noise_style style = noise_normal_style(given);
	struct table *t = sources_table(data_columns, style.mode, style.per_cpu);
	struct noise_cpu together = { 0 };
	size_t count = style.per_cpu ? v->noise->cpus.count : 1;
	if (!style.per_cpu)
		noise_together(v->noise, &together);
	for (size_t i = 0; i < count; i++) {
		const struct noise_cpu *c = style.per_cpu ? &v->noise->cpus.items[i] : &together;
		struct noise_rows rows;
		noise_rows_of(c, style.mode, &rows);
		for (size_t k = 0; k < rows.list.count; k++) {
			if (style.per_cpu)
				table_add_count(t, c->cpu);
			add_row(t, &rows.list.items[k], v->noise->kernel);
		}
		noise_rows_release(&rows);
	}
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
