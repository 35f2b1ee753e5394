#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/chart/chart.h"
#include "report/core/format.h"
#include "report/noise/diff.h"
#include "report/time/several.h"

#define MOST_FACTS 4 /* named */
#define NS_PER_S 1e9

/* ---- words ---- */

struct noise_amount noise_amount_of(const struct noise *n)
{
	struct noise_amount a = { 0 };
	for (size_t i = 0; i < n->cpus.count; i++) {
		a.window_ns += (double)n->cpus.items[i].window_ns;
		if (n->cpus.items[i].threshold_ns > a.threshold_ns)
			a.threshold_ns = n->cpus.items[i].threshold_ns;
	}
	return a;
}

/* Three digits, never an exponent. */
static void format_rate(double rate, char out[WORDS])
{
	int decimals = rate >= 100 ? 0 : rate >= 10 ? 1 : rate >= 1 ? 2 : 3;
	snprintf(out, WORDS, "%.*f", decimals, rate);
	if (rate > 0 && rate < 0.0005)
		snprintf(out, WORDS, "<0.001");
}

static void format_ratio(double ratio, char out[WORDS])
{
	int decimals = ratio >= 100 ? 0 : ratio >= 10 ? 1 : 2;
	if (isfinite(ratio))
		snprintf(out, WORDS, "%.*f", decimals, ratio);
	else
		snprintf(out, WORDS, "inf");
}

static void put_interval(double low, double high, struct strbuf *out)
{
	char words[WORDS];
	format_ratio(low, words);
	strbuf_printf(out, "[%s, ", words);
	format_ratio(high, words);
	strbuf_printf(out, "%s]", words);
}

/* Those that are sure; how many are not. */
static void put_changes(const struct jitter_diff *d, struct strbuf *out)
{
	size_t counts[JITTER_CHANGES] = { 0 }, unsure = 0;
	for (size_t i = 0; i < d->sources.count; i++) {
		const struct jitter_source_diff *s = &d->sources.items[i];
		counts[s->change] += jitter_diff_sure(s);
		unsure += s->change != JITTER_SAME && !jitter_diff_sure(s);
	}
	static const enum jitter_change order[] = { JITTER_NEW, JITTER_GROWN, JITTER_SHRUNK,
						    JITTER_GONE };
	size_t all = 0;
	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		size_t n = counts[order[i]];
		if (!n)
			continue;
		strbuf_printf(out, "%s%zu %s", all ? ", " : "", n, jitter_change_name(order[i]));
		if (!all)
			strbuf_puts(out, n == 1 ? " source" : " sources");
		all += n;
	}
	if (!all)
		strbuf_printf(out, "No source is %snew, grown, shrunk or gone",
			      unsure ? "surely " : "");
	if (unsure)
		strbuf_printf(out, " (%zu%s %s in one of the two only, too rarely to be sure)",
			      unsure, all ? " more" : "", unsure == 1 ? "was" : "were");
}

void noise_diff_verdict(const struct noise *base, const struct noise *run,
			const struct jitter_diff *d, struct strbuf *out)
{
	char words[WORDS];
	if (base->kernel == run->kernel)
		put_changes(d, out);
	else
		strbuf_puts(out, "Sources have names in one of the two only");
	if (isnan(d->ratio)) {
		if (d->base_share <= 0) {
			strbuf_puts(out, d->run_share > 0 ? "; the baseline had no jitter"
							  : "; there was no jitter at all");
		} else {
			format_ratio(d->run_share / d->base_share, words);
			strbuf_printf(out,
				      "; jitter %s times the baseline's, by too few rounds to say "
				      "how sure that is",
				      words);
		}
	} else {
		format_ratio(d->ratio, words);
		strbuf_printf(out, "; jitter %s times ", words);
		put_interval(d->ratio_low, d->ratio_high, out);
		format_p(d->p, words);
		strbuf_printf(out, " of the baseline's, %s", words);
	}
	strbuf_putc(out, '.');
}

static void put_run(const struct noise_view *v, struct strbuf *out)
{
	char time[WORDS];
	struct noise_amount a = noise_amount_of(v->noise);
	size_t cpus = v->noise->cpus.count;
	strbuf_puts(out, run_title(v->run));
	if (v->run->id)
		strbuf_printf(out, " (run %lld)", (long long)v->run->id);
	format_duration(cpus ? a.window_ns / (double)cpus : 0, 3, TIME_UNIT_AUTO, time);
	strbuf_printf(out, ", %s on %zu CPU%s", time, cpus, cpus == 1 ? "" : "s");
}

static void add_note(note_list *list, const char *text)
{
	array_push(list, xstrdup(text));
}

static bool same_cpus(const struct noise *a, const struct noise *b)
{
	if (a->cpus.count != b->cpus.count)
		return false;
	for (size_t i = 0; i < a->cpus.count; i++)
		if (a->cpus.items[i].cpu != b->cpus.items[i].cpu)
			return false;
	return true;
}

/* Settings of the machine that are not the same; those that move by themselves are left out. */
static void note_facts(const struct machine *base, const struct machine *run, note_list *list)
{
	struct strbuf text = { 0 };
	size_t count = 0;
	for (size_t i = 0; i < run->facts.count; i++) {
		const struct fact *f = &run->facts.items[i];
		const char *was = machine_get(base, f->key);
		if (strncmp(f->key, "now.", 4) == 0 || (was && strcmp(was, f->value) == 0))
			continue;
		if (count++ < MOST_FACTS)
			strbuf_printf(&text, "%s%s", count > 1 ? ", " : "", f->key);
	}
	if (count > MOST_FACTS)
		strbuf_printf(&text, " and %zu more", count - MOST_FACTS);
	if (count) {
		char *all = xstrdup(text.text);
		strbuf_clear(&text);
		strbuf_printf(&text, "The machine is not set up the same: %s differ%s.", all,
			      count == 1 ? "s" : "");
		add_note(list, text.text);
		xfree(all);
	}
	strbuf_release(&text);
}

void noise_diff_notes(const struct noise_view *of_base, const struct noise_view *of_run,
		      note_list *list)
{
	const struct noise *base = of_base->noise, *run = of_run->noise;
	uint64_t before = noise_amount_of(base).threshold_ns,
		 after = noise_amount_of(run).threshold_ns;
	char text[3 * WORDS];
	if (base->kernel != run->kernel)
		add_note(list, base->kernel
				       ? "This run has no names from the kernel: by source the two "
					 "cannot be compared."
				       : "The baseline has no names from the kernel: by source the "
					 "two cannot be compared.");
	else if (base->steal_told != run->steal_told)
		add_note(list, "Steal is known in one of the two only: in the other it is "
			       "unexplained.");
	if (base->realtime != run->realtime)
		add_note(list, "The loop was of the real-time class in one of the two only: what "
			       "may interrupt it differs.");
	if (!same_cpus(base, run))
		add_note(list, "They are of different CPUs.");
	if (before > after + after / 4 || after > before + before / 4) {
		char was[WORDS], is[WORDS];
		format_duration((double)before, 3, TIME_UNIT_AUTO, was);
		format_duration((double)after, 3, TIME_UNIT_AUTO, is);
		snprintf(text, sizeof text,
			 "The thresholds differ, %s before and %s now: detours between them are "
			 "in one of the two only.",
			 was, is);
		add_note(list, text);
	}
	if (of_base->machine && of_run->machine)
		note_facts(of_base->machine, of_run->machine, list);
}

void noise_diff_notes_release(note_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		xfree(list->items[i]);
	array_release(list);
}

/* ---- the table: a source takes two lines, before above after ---- */

#define CHANGE_COLUMNS 8
#define RATE_COLUMNS 7
#define TIME_COLUMNS 9
#define RATIO_COLUMNS 20
#define SHORT_RATIO_COLUMNS 8
#define P_COLUMNS 8
#define SOURCE_MOST 40
#define FULL_WIDTH 80

struct layout {
	size_t source, ratio;
	bool longest; /* has a column; and ratios their intervals */
	bool colour;
};

static struct layout layout_for(const struct noise_style *style)
{
	struct layout l = { .longest = style->width >= FULL_WIDTH, .colour = style->colour };
	l.ratio = l.longest ? RATIO_COLUMNS : SHORT_RATIO_COLUMNS;
	l.source = style->width - CHANGE_COLUMNS - RATE_COLUMNS - TIME_COLUMNS -
		   (l.longest ? TIME_COLUMNS : 0) - l.ratio - P_COLUMNS;
	if (l.source > SOURCE_MOST)
		l.source = SOURCE_MOST;
	return l;
}

static void put_right(struct strbuf *out, const char *text, size_t columns)
{
	size_t width = text_width(text);
	strbuf_pad(out, ' ', width < columns ? columns - width : 1);
	strbuf_puts(out, text);
}

static void put_cell(struct strbuf *out, const char *text, size_t columns)
{
	struct strbuf cell = { 0 };
	char *safe = display_copy(text);
	put_middle(&cell, safe, columns);
	put_columns(out, strbuf_text(&cell), columns);
	strbuf_release(&cell);
	xfree(safe);
}

static void put_figures(const struct layout *l, double rate, double share, uint64_t longest_ns,
			struct strbuf *out)
{
	char words[WORDS] = "-";
	if (rate > 0)
		format_rate(rate, words);
	put_right(out, words, RATE_COLUMNS);
	if (rate > 0)
		format_duration(share * NS_PER_S, 3, TIME_UNIT_AUTO, words);
	put_right(out, words, TIME_COLUMNS);
	if (!l->longest)
		return;
	if (rate > 0)
		format_duration((double)longest_ns, 3, TIME_UNIT_AUTO, words);
	put_right(out, words, TIME_COLUMNS);
}

static const char *change_colour(enum jitter_change change)
{
	return change == JITTER_NEW	? RED
	       : change == JITTER_GROWN ? YELLOW
	       : change == JITTER_SAME	? DIM
					: GREEN;
}

/* A class that the kernel did not tell of has one source, called like it: how it is known. */
static const char *class_word(const struct jitter_source_diff *s)
{
	static const char *const words[NOISE_CLASSES] = {
		[NOISE_DELIVERY] = "overhead",
		[NOISE_STEAL] = "by its clock",
		[NOISE_HOST] = "inferred",
		[NOISE_UNEXPLAINED] = "remainder",
	};
	return words[s->class] ? words[s->class] : noise_class_name(s->class);
}

/* What is not sure is not the same: that is where a difference is sure, but small. */
static const char *change_word(const struct jitter_source_diff *s)
{
	return s->change == JITTER_SAME && !jitter_diff_sure(s) ? "unsure"
								: jitter_change_name(s->change);
}

static void put_source(const struct layout *l, const struct jitter_source_diff *s,
		       struct strbuf *out)
{
	char words[WORDS];
	struct strbuf ratio = { 0 };
	const char *change = change_word(s);
	put_coloured(out, l->colour, change_colour(s->change), change);
	strbuf_pad(out, ' ', CHANGE_COLUMNS - strlen(change));
	put_cell(out, s->name, l->source);
	put_figures(l, s->base_rate, s->base_share, s->base_max_ns, out);
	strbuf_putc(out, '\n');
	strbuf_pad(out, ' ', CHANGE_COLUMNS);
	put_cell(out, class_word(s), l->source);
	put_figures(l, s->run_rate, s->run_share, s->run_max_ns, out);
	if (isnan(s->ratio)) {
		strbuf_putc(&ratio, '-');
	} else {
		format_ratio(s->ratio, words);
		strbuf_puts(&ratio, words);
		if (l->longest) {
			strbuf_putc(&ratio, ' ');
			put_interval(s->ratio_low, s->ratio_high, &ratio);
		}
	}
	put_right(out, strbuf_text(&ratio), l->ratio);
	if (isnan(s->p))
		snprintf(words, sizeof words, "-");
	else if (s->p < 0.001)
		snprintf(words, sizeof words, "<0.001");
	else
		snprintf(words, sizeof words, "%.3f", s->p);
	put_right(out, words, P_COLUMNS);
	strbuf_putc(out, '\n');
	strbuf_release(&ratio);
}

static void put_head(const struct layout *l, struct strbuf *out)
{
	struct strbuf head = { 0 };
	put_columns(&head, "Change", CHANGE_COLUMNS);
	put_columns(&head, "Source, class", l->source);
	put_right(&head, "Per s", RATE_COLUMNS);
	put_right(&head, "Lost/s", TIME_COLUMNS);
	if (l->longest)
		put_right(&head, "Longest", TIME_COLUMNS);
	put_right(&head, l->longest ? "Ratio of lost" : "Ratio", l->ratio);
	put_right(&head, "p", P_COLUMNS);
	put_coloured(out, l->colour, BOLD, strbuf_text(&head));
	strbuf_putc(out, '\n');
	strbuf_release(&head);
}

struct lost { /* per s, by sources [first, end) */
	char before[WORDS], after[WORDS];
};

static struct lost lost_to(const struct jitter_diff *d, size_t first, size_t end)
{
	struct lost lost;
	double base = 0, run = 0;
	for (size_t i = first; i < end; i++) {
		base += d->sources.items[i].base_share;
		run += d->sources.items[i].run_share;
	}
	format_duration(base * NS_PER_S, 3, TIME_UNIT_AUTO, lost.before);
	format_duration(run * NS_PER_S, 3, TIME_UNIT_AUTO, lost.after);
	return lost;
}

/* Those that show no change come last. They are listed only when all are wanted. */
static void put_sources(const struct jitter_diff *d, const struct noise_style *style,
			struct strbuf *out)
{
	struct layout l = layout_for(style);
	size_t all = d->sources.count, changed = 0;
	while (changed < all && d->sources.items[changed].change != JITTER_SAME)
		changed++;
	size_t n = !style->most ? all : changed > style->most ? style->most : changed;
	if (!all)
		return;
	strbuf_putc(out, '\n');
	if (n) {
		put_paragraph(out, &(struct paragraph){ .width = style->width, .first = "" },
			      "For each source, before above after; per s of one CPU; p is "
			      "adjusted");
		put_head(&l, out);
	}
	for (size_t i = 0; i < n; i++)
		put_source(&l, &d->sources.items[i], out);
	if (n < changed) {
		struct lost lost = lost_to(d, n, changed);
		strbuf_printf(out, "and %zu more that changed (%s/s before, %s/s now)\n",
			      changed - n, lost.before, lost.after);
	}
	if (style->most && changed < all) {
		struct lost lost = lost_to(d, changed, all);
		struct strbuf text = { 0 };
		strbuf_printf(&text,
			      "%zu source%s not surely grown or shrunk (%s/s before, %s/s now)",
			      all - changed, all - changed == 1 ? " has" : "s have", lost.before,
			      lost.after);
		put_paragraph(out, &(struct paragraph){ .width = style->width, .first = "" },
			      strbuf_text(&text));
		strbuf_release(&text);
	}
}

/* ---- peaks ---- */

static void put_peaks(const struct jitter_diff *d, const struct noise_style *style,
		      struct strbuf *out)
{
	if (!d->peak_count)
		return;
	strbuf_puts(out, "\nLengths that became more or less frequent\n");
	for (size_t i = 0; i < d->peak_count; i++) {
		const struct jitter_peak *p = &d->peaks[i];
		char low[WORDS], high[WORDS], range[2 * WORDS + 8], before[WORDS], after[WORDS];
		struct scale scale = scale_for((double)p->high_ns, TIME_UNIT_AUTO);
		struct strbuf line = { 0 };
		format_figure((double)p->low_ns, &scale, low);
		format_time((double)p->high_ns, &scale, high);
		snprintf(range, sizeof range, "%s to %s", low, high);
		strbuf_puts(&line, "  ");
		put_columns(&line, range, 20);
		format_rate(p->base_rate, before);
		format_rate(p->run_rate, after);
		put_right(&line, p->base_rate > 0 ? before : "0", 7);
		strbuf_puts(&line, style->ascii ? " -> " : " → ");
		put_columns(&line, p->run_rate > 0 ? after : "0", 6);
		strbuf_puts(&line, " per s  ");
		size_t used = text_width(strbuf_text(&line));
		char *safe = display_copy(p->name);
		put_middle(&line, safe, used < style->width ? style->width - used : 1);
		xfree(safe);
		strbuf_puts(out, strbuf_text(&line));
		strbuf_putc(out, '\n');
		strbuf_release(&line);
	}
}

/* ---- both densities, drawn ---- */

#define PLOT_DECADES 5 /* from the top to nothing */

static void put_densities(const struct jitter_diff *d, const struct noise_style *style,
			  struct strbuf *out)
{
	struct chart *c = chart_new();
	double top = 0;
	size_t block = chart_block(c, "length_ns\tbefore\tafter", "detours per s and decade");
	size_t less = chart_block(c, "low_ns\thigh_ns", "less frequent than before");
	size_t more = chart_block(c, "low_ns\thigh_ns", "more frequent than before");
	for (size_t i = 0; i < JITTER_GRID; i++) {
		double row[] = { d->grid_ns[i], d->base_density[i], d->run_density[i] };
		chart_row(c, block, row, 3, NULL);
		top = fmax(top, fmax(row[1], row[2]));
	}
	for (size_t i = 0; i < d->peak_count; i++) {
		const struct jitter_peak *p = &d->peaks[i];
		double row[] = { (double)p->low_ns, (double)p->high_ns };
		chart_row(c, p->run_rate > p->base_rate ? more : less, row, 2, NULL);
	}
	chart_add(c, block, CHART_LINE, CHART_PEN, "before", 0, 1);
	chart_add(c, block, CHART_LINE, CHART_PEN + 1, "after", 0, 2);
	chart_add(c, less, CHART_SPANS, CHART_GUIDE, NULL, 0, 0)->sign = '-';
	chart_add(c, more, CHART_SPANS, CHART_GUIDE, NULL, 0, 0)->sign = '+';
	c->x.from = pow(10, floor(log10(d->grid_ns[0])));
	c->x.to = pow(10, ceil(log10(d->grid_ns[JITTER_GRID - 1])));
	c->y.from = top * pow(10, -PLOT_DECADES);
	if (top > 0) {
		strbuf_printf(out,
			      "\nDetours per s and decade, by length (distance %.2f of 1)\n"
			      "%s before  %s after  %s both%s\n",
			      d->distance, style->ascii ? ":" : "░", style->ascii ? "o" : "▒",
			      style->ascii ? "#" : "█",
			      d->peak_count ? "; beneath: + more, - less" : "");
		chart_areas_text(
			c, &(struct chart_screen){ .width = style->width, .ascii = style->ascii },
			out);
	}
	chart_free(c);
}

void noise_diff_text(const struct noise_view *base, const struct noise_view *run,
		     const struct jitter_diff *d, const struct noise_style *given,
		     struct strbuf *out)
{
	struct noise_style style = given ? *given : (struct noise_style){ 0 };
	struct strbuf text = { 0 };
	note_list notes = { 0 };
	char before[WORDS], after[WORDS];
	style.width = !style.width ? 80 : style.width < 60 ? 60 : style.width;
	struct paragraph p = { .width = style.width,
			       .first = "",
			       .colour = style.colour ? BOLD : NULL };
	noise_diff_verdict(base->noise, run->noise, d, &text);
	put_paragraph(out, &p, strbuf_text(&text));
	p = (struct paragraph){ .width = style.width, .indent = 10, .first = "Baseline  " };
	strbuf_clear(&text);
	format_duration(d->base_share * NS_PER_S, 3, TIME_UNIT_AUTO, before);
	format_duration(d->run_share * NS_PER_S, 3, TIME_UNIT_AUTO, after);
	put_run(base, &text);
	strbuf_printf(&text, "; %s lost per s of a CPU", before);
	put_paragraph(out, &p, strbuf_text(&text));
	strbuf_clear(&text);
	p.first = "This run  ";
	put_run(run, &text);
	strbuf_printf(&text, "; %s", after);
	put_paragraph(out, &p, strbuf_text(&text));
	noise_diff_notes(base, run, &notes);
	p = (struct paragraph){ .width = style.width,
				.indent = 10,
				.first = "Note      ",
				.colour = style.colour ? YELLOW : NULL };
	for (size_t i = 0; i < notes.count; i++)
		put_paragraph(out, &p, notes.items[i]);
	put_sources(d, &style, out);
	put_peaks(d, &style, out);
	if (style.density)
		put_densities(d, &style, out);
	noise_diff_notes_release(&notes);
	strbuf_release(&text);
}
