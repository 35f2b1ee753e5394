/* The user-level and the master histogram side by side, and their densities by Parzen's method. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/noise/rows.h"
#include "stats/density.h"

/* ---- histograms ---- */

#define MOST_ROWS 24
#define EMPTY_MASS 0.08 /* of a bucket without samples: a gap of a decade is not one row */
#define GAP 32		/* empty fine buckets, a fifth of a decade or more: a new row */
#define MOST_GAPS 8	/* rows kept for that */
#define BAR 18
#define BAR_NARROW 6
#define RANGE_COLUMNS 19
#define COUNT_COLUMNS 9

struct span {
	unsigned first, end; /* fine buckets */
	uint64_t count, master;
};
struct spans {
	struct span list[MOST_ROWS];
	size_t count;
};

static uint64_t samples(const struct noise_cpu *c, unsigned bucket)
{
	return c->buckets[bucket].count + noise_histogram_at(&c->master, bucket).count;
}

static double mass(const struct noise_cpu *c, unsigned bucket)
{
	return EMPTY_MASS + log2(1 + (double)samples(c, bucket));
}

/* How many gaps get a row of their own, at most MOST_GAPS. */
static size_t count_gaps(const struct noise_cpu *c, unsigned first, unsigned end)
{
	size_t gaps = 0, empty = 0;
	for (unsigned i = first; i < end; i++) {
		bool any = samples(c, i);
		gaps += any && empty >= GAP && gaps < MOST_GAPS;
		empty = any ? 0 : empty + 1;
	}
	return gaps;
}

/* Rows of equal mass of log counts: narrow where samples are dense. Edges are those of fine
 * buckets; empty ends are cut off, empty rows left out. */
static void split(const struct noise_cpu *c, struct spans *out)
{
	unsigned first = 0, end = NOISE_BUCKETS;
	double all = 0, before = 0;
	out->count = 0;
	while (first < end && !samples(c, first))
		first++;
	while (end > first && !samples(c, end - 1))
		end--;
	for (unsigned i = first; i < end; i++)
		all += mass(c, i);
	size_t gaps = count_gaps(c, first, end), rows = MOST_ROWS - gaps, last = rows;
	for (unsigned i = first; i < end; i++) {
		size_t row = (size_t)(before / all * (double)rows);
		before += mass(c, i);
		if (!samples(c, i))
			continue;
		bool gap = gaps && out->count && i - out->list[out->count - 1].end >= GAP;
		gaps -= gap;
		row = row < rows ? row : rows - 1;
		if (row != last || gap)
			out->list[out->count++] = (struct span){ .first = i };
		last = row;
		struct span *s = &out->list[out->count - 1];
		s->end = i + 1;
		s->count += c->buckets[i].count;
		s->master += noise_histogram_at(&c->master, i).count;
	}
}

/* The combination with most of the time in these lengths. */
static void put_contributor(const struct noise_cpu *c, const struct span *s, size_t columns,
			    struct strbuf *out)
{
	const struct noise_combination *main = NULL;
	uint64_t most = 0, all = 0;
	for (size_t i = 0; i < c->combinations.count; i++) {
		const struct noise_combination *x = &c->combinations.items[i];
		uint64_t ns = noise_histogram_sum(&x->seen_lengths, s->first, s->end).ns;
		all += ns;
		if (ns > most) {
			most = ns;
			main = x;
		}
	}
	if (!main)
		return;
	char share[32];
	int length = snprintf(share, sizeof share, " %.0f %%", 100 * (double)most / (double)all);
	char *name = display_copy(main->name);
	put_middle(out, name, columns > (size_t)length ? columns - (size_t)length : 1);
	strbuf_puts(out, share);
	free(name);
}

static void put_bar(double share, unsigned columns, const struct noise_style *style,
		    struct strbuf *out)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	unsigned length = (unsigned)lround(share * columns * 8);
	unsigned whole = style->ascii ? (length + 4) / 8 : length / 8;
	const char *rest = style->ascii ? "" : eighths[length % 8];
	for (unsigned i = 0; i < whole; i++)
		strbuf_puts(out, style->ascii ? "#" : "█");
	strbuf_puts(out, rest);
	strbuf_pad(out, ' ', columns - whole - (*rest ? 1 : 0));
}

static void put_range(const struct span *s, struct strbuf *out)
{
	char low[WORDS], high[WORDS], range[2 * WORDS + 8];
	text_duration((double)noise_bucket_low(s->first), 3, low, sizeof low);
	text_duration((double)noise_bucket_low(s->end), 3, high, sizeof high);
	snprintf(range, sizeof range, "%s - %s", low, high);
	strbuf_pad(out, ' ',
		   text_width(range) < RANGE_COLUMNS ? RANGE_COLUMNS - text_width(range) : 0);
	strbuf_puts(out, range);
}

static void trim(struct strbuf *out)
{
	while (out->length && out->text[out->length - 1] == ' ')
		out->text[--out->length] = '\0';
}

void put_noise_histograms(const struct noise_cpu *c, const struct noise_style *style,
			  struct strbuf *out)
{
	struct spans spans;
	uint64_t most = 1;
	unsigned bar = style->width < 76 ? BAR_NARROW : BAR;
	size_t used = RANGE_COLUMNS + COUNT_COLUMNS + bar + COUNT_COLUMNS + 4;
	split(c, &spans);
	for (size_t i = 0; i < spans.count; i++)
		most = spans.list[i].count > most ? spans.list[i].count : most;
	strbuf_puts(out, "\nHistogram: seen by the loop (bar: log), told by the kernel\n");
	if (style->colour)
		strbuf_puts(out, BOLD);
	strbuf_printf(out, "%*s%*s  %-*s%*s  %s", RANGE_COLUMNS, "Length", COUNT_COLUMNS, "Seen",
		      (int)bar, "", COUNT_COLUMNS, "Told", "Mostly");
	strbuf_puts(out, style->colour ? RESET "\n" : "\n");
	for (size_t i = 0; i < spans.count; i++) {
		const struct span *s = &spans.list[i];
		put_range(s, out);
		strbuf_printf(out, "%*llu  ", COUNT_COLUMNS, (unsigned long long)s->count);
		put_bar(log2(1 + (double)s->count) / log2(1 + (double)most), bar, style, out);
		strbuf_printf(out, "%*llu  ", COUNT_COLUMNS, (unsigned long long)s->master);
		put_contributor(c, s, style->width - used, out);
		trim(out);
		strbuf_putc(out, '\n');
	}
}

/* ---- densities ---- */

#define PLOT_LINES 12
#define PLOT_LEFT 8 /* columns of the axis */
#define PLOT_MOST 160
#define PLOT_FINE 8 /* points in a column */

void noise_points_of(const struct noise_cpu *c, bool told, struct noise_points *out)
{
	*out = (struct noise_points){ .x = xcalloc(NOISE_BUCKETS, sizeof(double)),
				      .weight = xcalloc(NOISE_BUCKETS, sizeof(double)),
				      .low = INFINITY,
				      .high = -INFINITY };
	for (unsigned i = 0; i < NOISE_BUCKETS; i++) {
		const struct noise_detours *seen = &c->buckets[i];
		struct noise_bucket b = told ? noise_histogram_at(&c->master, i)
					     : (struct noise_bucket){ seen->count, seen->ns };
		if (!b.count || !b.ns)
			continue;
		double x = log10((double)b.ns / (double)b.count);
		out->x[out->n] = x;
		out->weight[out->n++] = (double)b.count;
		out->total += (double)b.count;
		out->low = fmin(out->low, x);
		out->high = fmax(out->high, x);
	}
}

void noise_points_release(struct noise_points *p)
{
	xfree(p->x);
	xfree(p->weight);
}

struct plot {
	size_t columns;
	double low, high;   /* of the x axis: log10 ns, whole decades */
	double top, bottom; /* of the y axis: log10 of detours per s and decade */
	double window_s;
	double bandwidth;
	double seen[PLOT_MOST], told[PLOT_MOST]; /* log10 of detours per s and decade */
};

/* The mean over each column: a peak narrower than one must not fall between two. */
static void estimate(struct plot *plot, const struct noise_points *p, double *out)
{
	double grid[PLOT_MOST * PLOT_FINE], fine[PLOT_MOST * PLOT_FINE];
	size_t count = plot->columns * PLOT_FINE;
	for (size_t i = 0; i < count; i++)
		grid[i] = plot->low + (plot->high - plot->low) * ((double)i + 0.5) / (double)count;
	density_estimate(p->x, p->weight, p->n, plot->bandwidth, grid, count, fine);
	for (size_t i = 0; i < plot->columns; i++) {
		double sum = 0;
		for (size_t k = 0; k < PLOT_FINE; k++)
			sum += fine[i * PLOT_FINE + k];
		out[i] = sum > 0 ? log10(sum / PLOT_FINE * p->total / plot->window_s) : -INFINITY;
		plot->top = fmax(plot->top, out[i]);
	}
}

static void put_plot_line(const struct plot *plot, size_t line, const struct noise_style *style,
			  struct strbuf *out)
{
	static const char *const marks[2][4] = { { " ", ":", "o", "#" }, { " ", "░", "▒", "█" } };
	double step = (plot->top - plot->bottom) / PLOT_LINES;
	double level = plot->bottom + step * (double)(PLOT_LINES - 1 - line);
	/* A decade is named on the line in which it begins. */
	double decade = ceil(level - 1e-9);
	if (decade < level + step - 1e-9)
		strbuf_printf(out, "%*.0e ", PLOT_LEFT - 2, pow(10, decade));
	else
		strbuf_pad(out, ' ', PLOT_LEFT - 1);
	strbuf_puts(out, style->ascii ? "|" : "│");
	for (size_t i = 0; i < plot->columns; i++) {
		int seen = plot->seen[i] >= level, told = plot->told[i] >= level;
		strbuf_puts(out, marks[!style->ascii][seen + 2 * told]);
	}
	trim(out);
	strbuf_putc(out, '\n');
}

static void put_x_axis(const struct plot *plot, const struct noise_style *style, struct strbuf *out)
{
	struct strbuf labels = { 0 };
	size_t at = PLOT_LEFT, tick = 0;
	strbuf_pad(out, ' ', PLOT_LEFT - 1);
	strbuf_puts(out, style->ascii ? "+" : "└");
	int first = (int)plot->low, last = (int)plot->high;
	for (int decade = first; decade <= last; decade++) {
		char name[WORDS];
		size_t column = (size_t)(decade - first) * plot->columns / (size_t)(last - first);
		for (; tick < column && tick < plot->columns; tick++)
			strbuf_puts(out, style->ascii ? "-" : "─");
		if (column < plot->columns && tick++ == column)
			strbuf_puts(out, style->ascii ? "+" : "┬");
		text_duration(pow(10, decade), 1, name, sizeof name);
		size_t width = text_width(name), begin = PLOT_LEFT + column;
		if (begin + width > PLOT_LEFT + plot->columns)
			begin = PLOT_LEFT + plot->columns - width;
		if (begin < at)
			continue;
		size_t have = text_width(strbuf_text(&labels));
		strbuf_pad(&labels, ' ', begin - have);
		strbuf_puts(&labels, name);
		at = begin + width + 1;
	}
	strbuf_printf(out, "\n%s\n", strbuf_text(&labels));
	strbuf_release(&labels);
}

void put_noise_density(const struct noise_cpu *c, const struct noise_style *style,
		       struct strbuf *out)
{
	struct noise_points seen, told;
	struct plot plot = { .columns = style->width - PLOT_LEFT, .window_s = noise_window_s(c) };
	plot.columns = plot.columns > PLOT_MOST ? PLOT_MOST : plot.columns;
	noise_points_of(c, false, &seen);
	noise_points_of(c, true, &told);
	plot.low = floor(fmin(seen.low, told.low));
	plot.high = floor(fmax(seen.high, told.high)) + 1;
	if (seen.n && plot.window_s > 0) {
		/* one bandwidth for both, or what differs would be the smoothing */
		plot.bandwidth = density_bandwidth(seen.x, seen.weight, seen.n, NOISE_LEAST_WIDTH);
		plot.bottom = log10(1 / plot.window_s); /* one detour per decade */
		plot.top = plot.bottom + 1;
		estimate(&plot, &seen, plot.seen);
		estimate(&plot, &told, plot.told);
		strbuf_printf(out,
			      "\nDetours per s and decade; Parzen, bandwidth %.3f decades\n"
			      "%s seen by the loop  %s told by the kernel  %s both\n",
			      plot.bandwidth, style->ascii ? ":" : "░", style->ascii ? "o" : "▒",
			      style->ascii ? "#" : "█");
		for (size_t line = 0; line < PLOT_LINES; line++)
			put_plot_line(&plot, line, style, out);
		put_x_axis(&plot, style, out);
	}
	noise_points_release(&seen);
	noise_points_release(&told);
}
