/* The plots by which a person would find the central cluster. */
#include <math.h>
#include <stdio.h>

#include "report/chart/scatter.h"
#include "report/study/style.h"

#define PLOT_WIDTH 76 /* about 64 columns within the axes */
#define PLOT_LINES 16

struct points {
	double *x, *y;
	bool *marked;
	size_t count;
};

static struct points new_points(size_t most)
{
	/* never of no bytes */
	return (struct points){ .x = xcalloc(most + 1, sizeof(double)),
				.y = xcalloc(most + 1, sizeof(double)),
				.marked = xcalloc(most + 1, sizeof(bool)) };
}

static void free_points(struct points *p)
{
	xfree(p->x);
	xfree(p->y);
	xfree(p->marked);
}

static void add_point(struct points *p, double x, double y, bool marked)
{
	p->x[p->count] = x;
	p->y[p->count] = y;
	p->marked[p->count++] = marked;
}

static void put_plot(struct scatter *s, const struct points *p, const struct daemons_style *style,
		     struct strbuf *out)
{
	s->x = p->x;
	s->y = p->y;
	s->marked = p->marked;
	s->count = p->count;
	strbuf_putc(out, '\n');
	scatter_text(s, style->width < PLOT_WIDTH ? style->width : PLOT_WIDTH, PLOT_LINES,
		     style->ascii, style->colour, out);
}

static const char *mark(const struct daemons_style *style)
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

static void put_over_time(const struct sedona_run *r, const bool *is_l,
			  const struct daemons_style *style, struct strbuf *out)
{
	struct points p = new_points(r->samples.count);
	bool timed = is_timed(r);
	char title[WORDS];
	size_t l_samples = 0;
	for (size_t i = 0; i < r->samples.count; i++) {
		const struct sedona_sample *s = &r->samples.items[i];
		bool l = is_l && is_l[i];
		l_samples += l;
		add_point(&p, timed ? (double)(s->at_ns - r->samples.items[0].at_ns) : s->number,
			  (double)s->et_ns, l);
	}
	struct scatter plot = { .title = title,
				.y_label = "ET",
				.x_label = timed ? "time into the run" : "sample",
				.times = timed,
				.times_y = true,
				.x_low = p.x[0],
				.x_high = p.x[p.count - 1],
				.y_low = p.y[0],
				.y_high = p.y[0] };
	for (size_t i = 0; i < p.count; i++) {
		plot.y_low = fmin(plot.y_low, p.y[i]);
		plot.y_high = fmax(plot.y_high, p.y[i]);
	}
	if (l_samples)
		snprintf(title, sizeof title, "%zu samples over time, %zu of them L-samples (%s)",
			 p.count, l_samples, mark(style));
	else
		snprintf(title, sizeof title, "%zu sample%s over time, no L-samples", p.count,
			 p.count == 1 ? "" : "s");
	put_plot(&plot, &p, style, out);
	free_points(&p);
}

/* Those outside of the window stand at its edges. */
static void put_level(const struct points *pairs, const struct study_run *found, size_t level,
		      const struct daemons_style *style, struct strbuf *out)
{
	const struct study_level *l = &found->levels.items[level];
	char title[2 * WORDS], expected[WORDS];
	struct scatter plot = { .title = title,
				.y_label = "ET of the second of a pair",
				.x_label = "ET of the first",
				.times = true,
				.x_low = (double)l->low_ns,
				.x_high = (double)l->high_ns,
				.y_low = (double)l->low_ns,
				.y_high = (double)l->high_ns };
	format_expected(l->both_expected, expected);
	snprintf(title, sizeof title,
		 "Zoom %zu of %zu, %s: neither %u, first %u, second %u, both %u (%.40s)", level + 1,
		 found->levels.count, study_shape_name(l->shape), l->neither, l->first, l->second,
		 l->both, expected);
	put_plot(&plot, pairs, style, out);
}

static void put_plots(const struct sedona_run *r, const bool *is_l, const struct study_run *found,
		      const struct daemons_style *given, struct strbuf *out)
{
	struct daemons_style style = daemons_normal_style(given);
	const struct sedona_sample *s = r->samples.items;
	size_t from = out->length;
	if (!r->samples.count) {
		strbuf_puts(out, "\nNo samples: nothing to plot.\n");
		return;
	}
	put_over_time(r, is_l, &style, out);
	struct points pairs = new_points(r->samples.count / 2);
	for (size_t i = 0; i + 1 < r->samples.count; i++)
		if (s[i].number % 2 && s[i + 1].number == s[i].number + 1)
			add_point(&pairs, (double)s[i].et_ns, (double)s[i + 1].et_ns,
				  is_l && (is_l[i] || is_l[i + 1]));
	for (size_t i = 0; found && i < found->levels.count; i++)
		put_level(&pairs, found, i, &style, out);
	if (found && found->levels.count)
		put_paragraph(out,
			      &(struct paragraph){
				      .width = style.width, .first = mark(&style), .indent = 2 },
			      ": one of the pair is an L-sample. > and ^: beyond the window. In "
			      "brackets: both slow by chance.");
	free_points(&pairs);
	daemons_finish(&style, out, from);
}

void daemons_plots(const struct sedona_run *r, const bool *is_l, const struct study_run *found,
		   const struct daemons_style *given, struct strbuf *out)
{
	struct sedona_run steady;
	bool steadied = found && found->steadied && sedona_steady(r, &steady);
	put_plots(steadied ? &steady : r, is_l, found, given, out);
	if (steadied)
		array_release(&steady.samples);
}
