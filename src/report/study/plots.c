/* The plots by which a person would find the central cluster. */
#include <stdio.h>

#include "report/chart/charts.h"
#include "report/study/style.h"

#define PLOT_WIDTH 76 /* about 64 columns within the axes */
#define PLOT_LINES 16

static void put_plot(const struct chart *c, const char *title, const char *y_label,
		     const struct style *style, struct strbuf *out)
{
	const struct chart_screen screen = { .width = style->width < PLOT_WIDTH ? style->width
										: PLOT_WIDTH,
					     .height = PLOT_LINES,
					     .ascii = style->ascii,
					     .colour = style->colour,
					     .title = title,
					     .y_label = y_label };
	strbuf_putc(out, '\n');
	chart_points_text(c, &screen, out);
}

static const char *mark(const struct style *style)
{
	return style->ascii ? "x" : "●";
}

/* Whether the samples say when they began. */
static bool is_timed(const struct sedona_run *r)
{
	const struct sedona_sample *s = r->samples.items;
	for (size_t i = 0; i < r->samples.count; i++)
		if (!s[i].at_ns || (i && s[i].at_ns < s[i - 1].at_ns))
			return false;
	return r->samples.count > 1 && s[r->samples.count - 1].at_ns > s[0].at_ns;
}

static void put_over_time(const struct sedona_run *r, const bool *is_l, const struct style *style,
			  struct strbuf *out)
{
	struct chart *c = chart_new();
	const struct sedona_sample *s = r->samples.items;
	size_t count = r->samples.count, blocks[2];
	bool timed = is_timed(r);
	char title[WORDS];
	for (size_t k = 0; k < 2; k++) {
		blocks[k] = chart_block(c, "at\tet_ns", k ? "L-samples" : "samples");
		chart_add(c, blocks[k], CHART_POINTS, k ? CHART_OUTSIDE : CHART_KEPT, NULL, 0, 1);
	}
	for (size_t i = 0; i < count; i++) {
		double row[] = { timed ? (double)(s[i].at_ns - s[0].at_ns) : s[i].number,
				 (double)s[i].et_ns };
		chart_row(c, blocks[is_l && is_l[i]], row, 2, NULL);
	}
	size_t l_samples = c->blocks.items[blocks[1]].count;
	chart_axis_label(&c->x, timed ? "time into the run" : "sample");
	c->x.unit_name = timed ? "ns" : NULL;
	c->y.unit_name = "ns";
	if (l_samples)
		snprintf(title, sizeof title, "%zu samples over time, %zu of them L-samples (%s)",
			 count, l_samples, mark(style));
	else
		snprintf(title, sizeof title, "%zu sample%s over time, no L-samples", count,
			 count == 1 ? "" : "s");
	put_plot(c, title, "ET", style, out);
	chart_free(c);
}

void daemons_plots(const struct sedona_run *r, const bool *is_l, const struct study_run *found,
		   const struct style *given, struct strbuf *out)
{
	struct style style = style_normal(given);
	struct sedona_run steady;
	bool steadied = found && found->steadied && sedona_steady(r, &steady);
	size_t from = out->length, levels = found ? found->levels.count : 0;
	if (!r->samples.count) {
		strbuf_puts(out, "\nNo samples: nothing to plot.\n");
		return;
	}
	put_over_time(steadied ? &steady : r, is_l, &style, out);
	for (size_t i = 0; i < levels; i++) {
		const struct study_level *l = &found->levels.items[i];
		struct chart *c = chart_new();
		char title[2 * WORDS], expected[WORDS];
		chart_pairs(c, steadied ? &steady : r, is_l, l);
		chart_axis_label(&c->x, "ET of the first");
		format_expected(l->both_expected, expected);
		snprintf(title, sizeof title,
			 "Zoom %zu of %zu, %s: neither %u, first %u, second %u, both %u (%.40s)",
			 i + 1, levels, study_shape_names[l->shape], l->neither, l->first,
			 l->second, l->both, expected);
		put_plot(c, title, "ET of the second of a pair", &style, out);
		chart_free(c);
	}
	if (levels)
		put_paragraph(out,
			      &(struct paragraph){
				      .width = style.width, .first = mark(&style), .indent = 2 },
			      ": one of the pair is an L-sample. > and ^: beyond the window. In "
			      "brackets: both slow by chance.");
	style_finish(&style, out, from);
	if (steadied)
		array_release(&steady.samples);
}
