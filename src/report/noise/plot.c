/* The user-level and the master histogram side by side, and their densities. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "report/chart/charts.h"
#include "report/noise/rows.h"

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
	/* how many gaps get a row of their own */
	size_t gaps = 0, empty = 0;
	for (unsigned i = first; i < end; i++) {
		gaps += samples(c, i) && empty >= GAP && gaps < MOST_GAPS;
		empty = samples(c, i) ? 0 : empty + 1;
	}
	size_t rows = MOST_ROWS - gaps, last = rows;
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
	FREED char *name = display_copy(main->name);
	put_middle(out, name, columns > (size_t)length ? columns - (size_t)length : 1);
	strbuf_puts(out, share);
}

void put_noise_histograms(const struct noise_cpu *c, bool kernel, const struct style *style,
			  struct strbuf *out)
{
	struct spans spans;
	uint64_t most = 1;
	unsigned bar = style->width < 76 ? BAR_NARROW : BAR;
	size_t used = RANGE_COLUMNS + COUNT_COLUMNS + bar + COUNT_COLUMNS + 4;
	split(c, &spans);
	for (size_t i = 0; i < spans.count; i++)
		most = spans.list[i].count > most ? spans.list[i].count : most;
	strbuf_printf(out, "\nHistogram: seen by the loop (bar: log)%s\n",
		      kernel ? ", told by the kernel" : "");
	if (style->colour)
		strbuf_puts(out, BOLD);
	strbuf_printf(out, "%*s%*s", RANGE_COLUMNS, "Length", COUNT_COLUMNS, "Seen");
	if (kernel)
		strbuf_printf(out, "  %-*s%*s  %s", (int)bar, "", COUNT_COLUMNS, "Told", "Mostly");
	strbuf_puts(out, style->colour ? RESET "\n" : "\n");
	for (size_t i = 0; i < spans.count; i++) {
		const struct span *s = &spans.list[i];
		char range[2 * WORDS + 8];
		snprintf(range, sizeof range, "%.31s - %.31s",
			 AS_DURATION((double)noise_bucket_low(s->first), 3),
			 AS_DURATION((double)noise_bucket_low(s->end), 3));
		size_t width = text_width(range);
		strbuf_pad(out, ' ', width < RANGE_COLUMNS ? RANGE_COLUMNS - width : 0);
		strbuf_puts(out, range);
		strbuf_printf(out, "%*llu  ", COUNT_COLUMNS, (unsigned long long)s->count);
		size_t from = out->length;
		put_bar(log2(1 + (double)s->count) / log2(1 + (double)most), bar, style->ascii,
			out);
		strbuf_pad(out, ' ', bar - text_width(strbuf_text(out) + from));
		if (kernel) {
			strbuf_printf(out, "%*llu  ", COUNT_COLUMNS, (unsigned long long)s->master);
			put_contributor(c, s, style->width - used, out);
		}
		while (out->text[out->length - 1] == ' ')
			out->text[--out->length] = '\0';
		strbuf_putc(out, '\n');
	}
}

/* ---- densities ---- */

void put_noise_density(const struct noise_view *v, const struct style *style, struct strbuf *out)
{
	struct error none = ERROR_INIT;
	struct chart *c = chart_new();
	if (!chart_noise(c, v, NULL, &none)) {
		strbuf_printf(out,
			      "\nDetours per s and decade; Parzen, bandwidth %.3f decades\n"
			      "%s seen by the loop  %s told by the kernel  %s both\n",
			      c->bandwidth, style->ascii ? ":" : "░", style->ascii ? "o" : "▒",
			      style->ascii ? "#" : "█");
		chart_areas_text(
			c, &(struct chart_screen){ .width = style->width, .ascii = style->ascii },
			out);
	}
	chart_free(c);
}
