#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/chart/chart.h"
#include "report/core/json.h"
#include "report/core/shapes.h"
#include "report/noise/rows.h"
#include "report/page/documents.h"
#include "report/time/several.h"

#define MOST_FACTS 4 /* named */
#define NS_PER_S 1e9

/* ---- words ---- */

static struct noise_side noise_side_of(const struct noise_view *v)
{
	struct noise_side side = { v->run->id, run_title(v->run), .noise = *v->noise };
	for (size_t i = 0; i < v->noise->cpus.count; i++) {
		const struct noise_cpu *c = &v->noise->cpus.items[i];
		side.window_ns += c->window_ns;
		if (c->threshold_ns > side.threshold_ns)
			side.threshold_ns = c->threshold_ns;
	}
	return side;
}

/* Three digits, never an exponent. */
#define AS_RATE(rate) AS_WORDS(format_rate, rate)
static void format_rate(double rate, char out[WORDS])
{
	int decimals = rate >= 100 ? 0 : rate >= 10 ? 1 : rate >= 1 ? 2 : 3;
	snprintf(out, WORDS, "%.*f", decimals, rate);
	if (rate > 0 && rate < 0.0005)
		snprintf(out, WORDS, "<0.001");
}

#define AS_RATIO(ratio) AS_WORDS(format_ratio, ratio)
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
	strbuf_printf(out, "[%s, %s]", AS_RATIO(low), AS_RATIO(high));
}

static void put_changes(const struct jitter_diff *d, struct strbuf *out)
{
	size_t counts[JITTER_CHANGES] = { 0 }, one_only = 0;
	for (size_t i = 0; i < d->sources.count; i++) {
		const struct jitter_source_diff *s = &d->sources.items[i];
		counts[s->change]++;
		one_only += s->change == JITTER_UNSURE && jitter_in_one_only(s);
	}
	static const enum jitter_change order[] = { JITTER_NEW, JITTER_GROWN, JITTER_SHRUNK,
						    JITTER_GONE };
	size_t all = 0;
	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		size_t n = counts[order[i]];
		if (!n)
			continue;
		strbuf_printf(out, "%s%zu %s", all ? ", " : "", n, jitter_change_names[order[i]]);
		if (!all)
			strbuf_puts(out, n == 1 ? " source" : " sources");
		all += n;
	}
	if (!all)
		strbuf_puts(out, "No source is surely new, grown, shrunk or gone");
	if (one_only)
		strbuf_printf(out, " (%zu%s %s in one of the two only, too rarely to be sure)",
			      one_only, all ? " more" : "", one_only == 1 ? "was" : "were");
}

static void noise_diff_verdict(const struct noise *base, const struct noise *run,
			       const struct jitter_diff *d, struct strbuf *out)
{
	if (base->kernel && run->kernel)
		put_changes(d, out);
	else
		strbuf_printf(out, "Sources have names in %s",
			      base->kernel || run->kernel ? "one of the two only"
							  : "neither of the two");
	if (isnan(d->ratio)) {
		if (d->base_share <= 0)
			strbuf_puts(out, d->run_share > 0 ? "; the baseline had no jitter"
							  : "; there was no jitter at all");
		else
			strbuf_printf(out,
				      "; jitter %s times the baseline's, by rounds too few or too "
				      "uneven to say how sure that is",
				      AS_RATIO(d->run_share / d->base_share));
	} else {
		strbuf_printf(out, "; jitter %s times ", AS_RATIO(d->ratio));
		put_interval(d->ratio_low, d->ratio_high, out);
		strbuf_printf(out, " of the baseline's, %s", AS_WORDS(format_p, d->p));
	}
	strbuf_putc(out, '.');
}

static void put_run(const struct noise_view *v, struct strbuf *out)
{
	struct noise_side side = noise_side_of(v);
	size_t cpus = v->noise->cpus.count;
	strbuf_puts(out, side.name);
	if (side.run)
		strbuf_printf(out, " (run %lld)", (long long)side.run);
	strbuf_printf(out, ", %s on %zu CPU%s",
		      AS_DURATION(cpus ? (double)side.window_ns / (double)cpus : 0, 3), cpus,
		      cpus == 1 ? "" : "s");
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
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	size_t count = 0;
	strbuf_puts(&text, "The machine is not set up the same: ");
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
	strbuf_printf(&text, " differ%s.", count == 1 ? "s" : "");
	if (count)
		array_push(list, strbuf_detach(&text));
}

static void noise_diff_notes(const struct noise_view *of_base, const struct noise_view *of_run,
			     note_list *list)
{
	const struct noise *base = of_base->noise, *run = of_run->noise;
	uint64_t before = noise_side_of(of_base).threshold_ns,
		 after = noise_side_of(of_run).threshold_ns;
	if (base->kernel != run->kernel)
		array_push(
			list,
			xstrdup(base->kernel
					? "This run has no names from the kernel: by source the two "
					  "cannot be compared."
					: "The baseline has no names from the kernel: by source the "
					  "two cannot be compared."));
	else if (base->steal_told != run->steal_told)
		array_push(list,
			   xstrdup("Steal is known in one of the two only: in the other it is "
				   "unexplained."));
	if (base->kernel && run->kernel && noise_smis_told(base) != noise_smis_told(run))
		array_push(list, xstrdup("SMIs are counted in one of the two only: what they took "
					 "is compared as unexplained."));
	if (base->realtime != run->realtime)
		array_push(
			list,
			xstrdup("The loop was of the real-time class in one of the two only: what "
				"may interrupt it differs."));
	if (!same_cpus(base, run))
		array_push(list, xstrdup("They are of different CPUs."));
	if (before > after + after / 4 || after > before + before / 4) {
		struct strbuf text = { 0 };
		strbuf_printf(
			&text,
			"The thresholds differ, %s before and %s now: detours between them are "
			"in one of the two only.",
			AS_DURATION((double)before, 3), AS_DURATION((double)after, 3));
		array_push(list, strbuf_detach(&text));
	}
	if (of_base->machine && of_run->machine)
		note_facts(of_base->machine, of_run->machine, list);
}

static void noise_diff_notes_release(note_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		xfree(list->items[i]);
	array_release(list);
}

/* ---- the table: a source takes two lines, before above after ---- */

#define RATIO_LEAST 24
#define FULL_WIDTH 80 /* with the longest, and ratios with their intervals */

static const char *change_colour(enum jitter_change change)
{
	return change == JITTER_NEW				  ? RED
	       : change == JITTER_GROWN				  ? YELLOW
	       : change == JITTER_SAME || change == JITTER_UNSURE ? DIM
								  : GREEN;
}

/* A class that the kernel did not tell of has one source, called like it: how it is known. */
static const char *class_word(const struct jitter_source_diff *s)
{
	static const char *const words[NOISE_CLASSES] = {
		[NOISE_DELIVERY] = "overhead", [NOISE_STEAL] = "by its clock",
		[NOISE_HOST] = "inferred",     [NOISE_UNEXPLAINED] = "remainder",
		[NOISE_SMI] = "by its count",
	};
	return words[s->class] ? words[s->class] : noise_class_names[s->class];
}

static void add_figures(struct table *t, double rate, double share, uint64_t longest_ns)
{
	table_add_shown(t, rate, rate > 0 ? AS_RATE(rate) : "-");
	table_add_number(t, rate > 0 ? share * NS_PER_S : NAN);
	table_add_number(t, rate > 0 ? (double)longest_ns : NAN);
}

static void add_source(struct table *t, const struct jitter_source_diff *s, bool full)
{
	char words[WORDS];
	SCOPED(strbuf_release) struct strbuf ratio = { 0 };
	table_add_text(t, jitter_change_names[s->change]);
	table_paint(t, change_colour(s->change));
	table_add_text(t, s->name);
	add_figures(t, s->base_rate, s->base_share, s->base_max_ns);
	table_add_text(t, "");
	table_add_text(t, "");
	table_add_text(t, "");
	table_add_text(t, class_word(s));
	add_figures(t, s->run_rate, s->run_share, s->run_max_ns);
	strbuf_puts(&ratio, isnan(s->ratio) ? "-" : AS_RATIO(s->ratio));
	if (!isnan(s->ratio) && full) {
		strbuf_putc(&ratio, ' ');
		put_interval(s->ratio_low, s->ratio_high, &ratio);
	}
	table_add_text(t, strbuf_text(&ratio));
	snprintf(words, sizeof words, "%.3f", s->p);
	table_add_text(t, isnan(s->p) ? "-" : s->p < 0.001 ? "<0.001" : words);
}

struct lost { /* ns per s, by sources [first, end) */
	double before, after;
};

static struct lost lost_to(const struct jitter_diff *d, size_t first, size_t end)
{
	struct lost lost = { 0 };
	for (size_t i = first; i < end; i++) {
		lost.before += d->sources.items[i].base_share * NS_PER_S;
		lost.after += d->sources.items[i].run_share * NS_PER_S;
	}
	return lost;
}

/* Those that show no change come last. They are listed only when all are wanted. */
static void put_sources(const struct jitter_diff *d, const struct noise_style *style,
			struct strbuf *out)
{
	bool full = style->style.width >= FULL_WIDTH;
	const struct column columns[] = {
		{ "change", "Change", COLUMN_TEXT },
		{ "source", "Source, class", COLUMN_TEXT, .middle = true },
		{ "rate", "Per s", COLUMN_REAL },
		{ "lost", "Lost/s", COLUMN_DURATION, .digits = 3 },
		{ "longest", "Longest", COLUMN_DURATION, .digits = 3, .from = FULL_WIDTH },
		{ "ratio", full ? "Ratio of lost" : "Ratio", COLUMN_TEXT, .right = true,
		  .least = RATIO_LEAST },
		{ "p", "p", COLUMN_TEXT, .right = true },
	};
	size_t all = d->sources.count, changed = 0;
	while (changed < all && d->sources.items[changed].change != JITTER_SAME &&
	       d->sources.items[changed].change != JITTER_UNSURE)
		changed++;
	size_t n = !style->most ? all : changed > style->most ? style->most : changed;
	if (!all)
		return;
	strbuf_putc(out, '\n');
	if (n) {
		struct table *t = table_new(columns, sizeof columns / sizeof *columns);
		put_wrapped(out, &style->style, "", 0,
			    "For each source, before above after; per s of one CPU; p is adjusted");
		for (size_t i = 0; i < n; i++)
			add_source(t, &d->sources.items[i], full);
		table_put(t, &style->style, out);
	}
	if (n < changed) {
		struct lost lost = lost_to(d, n, changed);
		strbuf_printf(out, "and %zu more that changed (%s/s before, %s/s now)\n",
			      changed - n, AS_DURATION(lost.before, 3), AS_DURATION(lost.after, 3));
	}
	if (style->most && changed < all) {
		struct lost lost = lost_to(d, changed, all);
		put_wrapped(out, &style->style, "", 0,
			    "%zu source%s no sure change (%s/s before, %s/s now)", all - changed,
			    all - changed == 1 ? " has" : "s have", AS_DURATION(lost.before, 3),
			    AS_DURATION(lost.after, 3));
	}
}

/* ---- peaks ---- */

static void put_peaks(const struct jitter_diff *d, const struct style *style, struct strbuf *out)
{
	static const struct column columns[] = {
		{ "lengths", "Lengths", COLUMN_TEXT },
		{ "before", "Before/s", COLUMN_REAL },
		{ "now", "Now/s", COLUMN_REAL },
		{ "name", "Most by", COLUMN_TEXT, .middle = true },
	};
	if (!d->peak_count)
		return;
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < d->peak_count; i++) {
		const struct jitter_peak *p = &d->peaks[i];
		char low[WORDS], high[WORDS], range[2 * WORDS + 8];
		struct scale scale = scale_for((double)p->high_ns, TIME_UNIT_AUTO);
		format_figure((double)p->low_ns, &scale, low);
		format_time((double)p->high_ns, &scale, high);
		snprintf(range, sizeof range, "%s to %s", low, high);
		table_add_text(t, range);
		table_add_shown(t, p->base_rate, p->base_rate > 0 ? AS_RATE(p->base_rate) : "0");
		table_add_shown(t, p->run_rate, p->run_rate > 0 ? AS_RATE(p->run_rate) : "0");
		table_add_text(t, p->name);
	}
	strbuf_puts(out, "\nLengths that became more or less frequent\n");
	table_put(t, style, out);
}

/* ---- both densities, drawn ---- */

#define PLOT_DECADES 5 /* from the top to nothing */

static void put_densities(const struct jitter_diff *d, const struct style *style,
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
	struct noise_style style = noise_normal_style(given);
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	SCOPED(noise_diff_notes_release) note_list notes = { 0 };
	noise_diff_verdict(base->noise, run->noise, d, &text);
	struct paragraph p = { .width = style.style.width,
			       .first = "",
			       .colour = style.style.colour ? BOLD : NULL };
	put_paragraph(out, &p, strbuf_text(&text));
	strbuf_clear(&text);
	put_run(base, &text);
	put_wrapped(out, &style.style, "Baseline  ", 10, "%s; %s lost per s of a CPU",
		    strbuf_text(&text), AS_DURATION(d->base_share * NS_PER_S, 3));
	strbuf_clear(&text);
	put_run(run, &text);
	put_wrapped(out, &style.style, "This run  ", 10, "%s; %s", strbuf_text(&text),
		    AS_DURATION(d->run_share * NS_PER_S, 3));
	noise_diff_notes(base, run, &notes);
	p = (struct paragraph){ .width = style.style.width,
				.indent = 10,
				.first = "Note      ",
				.colour = style.style.colour ? YELLOW : NULL };
	for (size_t i = 0; i < notes.count; i++)
		put_paragraph(out, &p, notes.items[i]);
	put_sources(d, &style, out);
	put_peaks(d, &style.style, out);
	if (style.density)
		put_densities(d, &style.style, out);
}

/* ---- JSON ---- */

json_t *noise_diff_document(const struct noise_view *base, const struct noise_view *run,
			    const struct jitter_diff *d)
{
	SCOPED(strbuf_release) struct strbuf verdict = { 0 };
	struct noise_diff_report report = { .base = noise_side_of(base),
					    .run = noise_side_of(run),
					    .diff = *d,
					    .peaks = { d->peaks, d->peak_count },
					    .grid_ns = { d->grid_ns, JITTER_GRID },
					    .base_density = { d->base_density, JITTER_GRID },
					    .run_density = { d->run_density, JITTER_GRID } };
	noise_diff_verdict(base->noise, run->noise, d, &verdict);
	report.text = strbuf_text(&verdict);
	noise_diff_notes(base, run, &report.notes);
	for (size_t i = 0; i < d->sources.count; i++)
		report.counts[d->sources.items[i].change]++;
	json_t *root = json_shape(&noise_diff_shape, &report);
	noise_diff_notes_release(&report.notes);
	return root;
}

void noise_diff_json(const struct noise_view *base, const struct noise_view *run,
		     const struct jitter_diff *d, struct strbuf *out)
{
	put_json(noise_diff_document(base, run, d), 2, out);
}
