/* The source table, for people as the paper's Table I has it, and as data. */
#include <math.h>

#include "report/noise/rows.h"

#define NAME_LEAST 14 /* columns of a name: figures that leave less are not shown */
#define LEAST_FIGURE 3

/* People see times in µs, in as few columns as fit. */
#define US .unit = TIME_UNIT_MICROSECOND, .common = true, .bare = true
enum row_of { ANY, SOURCE, COMBINATION };
static const struct {
	struct column column;
	enum row_of of;
} figures[] = {
	{ { "cpu", "CPU", COLUMN_COUNT, FOR_DATA } },
	{ { "source", "Source", COLUMN_TEXT, .middle = true, .least = NAME_LEAST } },
	{ { "class", "Class", COLUMN_TEXT, .from = NOISE_WIDE, .least = NAME_LEAST }, SOURCE },
	{ { "lowest", "Lowest", COLUMN_DURATION, US, .spare = LEAST_FIGURE } },
	{ { "highest", "Highest", COLUMN_DURATION, US, .spare = 2 } },
	{ { "count", "Count", COLUMN_COUNT } },
	{ { "mean", "Mean", COLUMN_DURATION, US, .spare = 1 } },
	{ { "total", "Total", COLUMN_DURATION, US } },
	{ { "sigma", "σ", COLUMN_DURATION, US, .ascii = "Sigma", .spare = 4 } },
	{ { "share", "%", COLUMN_PERCENT, .bare = true, .decimals = DECIMALS(2) } },
	{ { "period", "Period", COLUMN_DURATION, .digits = 3, .from = NOISE_WIDE }, SOURCE },
	{ { "period_share", "In period", COLUMN_PERCENT, FOR_DATA }, SOURCE },
	{ { "told_mean", "Told mean", COLUMN_DURATION, FOR_DATA }, COMBINATION },
	{ { "told_total", "Told total", COLUMN_DURATION, FOR_DATA }, COMBINATION },
};
#define FIGURES (sizeof figures / sizeof *figures)

static struct table *sources_table(enum noise_mode mode, bool per_cpu)
{
	struct column columns[FIGURES];
	enum row_of of = mode == NOISE_BY_SOURCE ? SOURCE : COMBINATION;
	size_t n = 0;
	for (size_t i = per_cpu ? 0 : 1; i < FIGURES; i++)
		if (figures[i].of == ANY || figures[i].of == of)
			columns[n++] = figures[i].column;
	if (of == COMBINATION) {
		struct column *name = &columns[per_cpu ? 1 : 0];
		name->title = "In succession";
		/* told apart by all of it: it stays whole while two columns can go */
		name->whole = LEAST_FIGURE;
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
		table_add_text(t, noise_class_names[row->class]);
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
	struct table *t = sources_table(style->mode, false);
	uint64_t rest = 0;
	for (size_t i = 0; i < rows->list.count; i++) {
		if (i < shown)
			add_row(t, &rows->list.items[i], true);
		else
			rest += rows->list.items[i].seen.ns;
	}
	table_put(t, &style->style, out);
	put_noise_rest(rows->list.count - shown, rows->ns ? (double)rest / (double)rows->ns : NAN,
		       &style->style, out);
}

struct table *noise_sources_table(const struct noise_view *v, const struct noise_style *given)
{
	struct noise_style style = noise_normal_style(given);
	struct table *t = sources_table(style.mode, style.per_cpu);
	SCOPED(noise_cpu_release) struct noise_cpu together = { 0 };
	/* without names there are no sources */
	size_t count = !v->noise->kernel ? 0 : style.per_cpu ? v->noise->cpus.count : 1;
	if (!style.per_cpu)
		noise_together(v->noise, &together);
	for (size_t i = 0; i < count; i++) {
		const struct noise_cpu *c = style.per_cpu ? &v->noise->cpus.items[i] : &together;
		SCOPED(noise_rows_release) struct noise_rows rows;
		noise_rows_of(c, style.mode, &rows);
		for (size_t k = 0; k < rows.list.count; k++) {
			if (style.per_cpu)
				table_add_count(t, c->cpu);
			add_row(t, &rows.list.items[k], v->noise->kernel);
		}
	}
	return t;
}

/* ---- histograms as data ---- */

struct bucket {
	struct noise_bucket_row row;
	uint64_t strict_ns;
};

static const char *const class_columns[NOISE_CLASSES] = { "irq",	   "softirq",	  "nmi",
							  "thread",	   "work",	  "fault",
							  "throttled",	   "delivery",	  "steal",
							  "host_periodic", "unexplained", "smi" };
#define X(member, name, kind, ...) FACT(struct bucket, member, name, kind, NULL, __VA_ARGS__)
static const struct field bucket_fields[] = {
	X(row.low_ns, "bucket_low_ns", FIELD_NS),
	X(row.high_ns, "bucket_high_ns", FIELD_NS),
	X(row.detours.count, "count", FIELD_U64),
	X(row.detours.ns, "total_ns", FIELD_NS),
	X(strict_ns, "strict_ns", FIELD_NS),
	X(row.detours.overlap_ns, "overlap_ns", FIELD_NS),
	X(row.master.count, "master_count", FIELD_KNOWN),
	X(row.master.ns, "master_total_ns", FIELD_NS),
	X(row.detours.class_ns, "_ns", FIELD_EACH, .limit = NOISE_CLASSES, .names = class_columns,
	  .item = FIELD_NS),
	{ 0 },
};
#undef X

struct table *noise_histogram_table(const struct noise_view *v)
{
	SCOPED(noise_cpu_release) struct noise_cpu together;
	struct columns columns = { 0 };
	columns_add_fields(&columns, bucket_fields);
	struct table *t = table_of(&columns);
	noise_together(v->noise, &together);
	for (unsigned i = 0; i < NOISE_BUCKETS; i++) {
		struct bucket b = { .strict_ns = v->noise->kernel ? 0 : ABSENT_NS };
		if (!noise_bucket_told(v->noise, &together, i, &b.row))
			continue;
		for (enum noise_class class = 0; v->noise->kernel && noise_class_strict(class);
		     class ++)
			b.strict_ns += b.row.detours.class_ns[class];
		table_add_fields(t, bucket_fields, &b);
	}
	return t;
}
