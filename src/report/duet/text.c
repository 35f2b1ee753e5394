/* The report of a duet for people: the answer, what it depends on, and the details. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/core/rows.h"
#include "report/duet/words.h"

#define NAME_COLUMNS 20 /* at most */
#define FOREST_LEAST 12

/* "   after 14 pairs, 9 s (interrupted)" */
static void put_after(const struct duet_view *v, size_t pairs, struct strbuf *out)
{
	char count[WORDS], time[WORDS];
	double elapsed = duet_elapsed_ns(v);
	format_count(pairs, count);
	strbuf_printf(out, "   after %s pair%s", count, pairs == 1 ? "" : "s");
	if (!isnan(elapsed)) {
		format_duration(elapsed, 2, TIME_UNIT_AUTO, time);
		strbuf_printf(out, ", %s", time);
	}
	strbuf_puts(out, run_state_words(v->run));
}

/* What may still hide within the interval, where no difference was shown. */
static void put_hidden(const struct duet_verdict *s, const struct style *style, struct strbuf *out)
{
	double most = fmax(1 - s->low, s->high - 1);
	if (s->end == DUET_OPEN && !isnan(s->ratio) && most < 1)
		put_wrapped(out, style, "  ", 2,
			    "A difference of up to %s may be there: more pairs would show it.",
			    AS_PERCENT(most));
}

static const char *gate_colour(enum duet_gate g)
{
	return g == DUET_GATE_SLOWER ? RED : g == DUET_GATE_NOT_SLOWER ? GREEN : YELLOW;
}

/* Who A and B are. */
static void put_letters(const struct duet *d, const struct style *style, struct strbuf *out)
{
	for (size_t i = 0; duet_lettered(d) && i < d->sides.count; i++) {
		FREED char *shown = display_copy(d->sides.items[i].name);
		char first[8];
		snprintf(first, sizeof first, "  %c: ", (int)('A' + i));
		put_paragraph(
			out,
			&(struct paragraph){
				.width = style->width, .indent = 5, .lines = 3, .first = first },
			shown);
	}
}

static void put_two(const struct duet_view *v, const struct style *style, struct strbuf *out)
{
	const struct duet_verdict *s = &v->result->verdicts.items[0];
	SCOPED(strbuf_release) struct strbuf gate = { 0 }, answer = { 0 };
	duet_gate_sentence(v, s, &gate);
	duet_sentence(v, s, &answer);
	put_after(v, s->judged, &answer);
	if (gate.length) {
		put_paragraph(out,
			      &(struct paragraph){ .width = style->width,
						   .indent = 2,
						   .first = "",
						   .colour = style->colour ? gate_colour(s->gate)
									   : NULL },
			      strbuf_text(&gate));
		put_wrapped(out, style, "  ", 2, "%s", strbuf_text(&answer));
	} else {
		put_headline(out, style->width, style->colour, strbuf_text(&answer));
	}
	put_hidden(s, style, out);
}

/* ---- several sides ---- */

static const char *verdict_words(const struct duet_view *v, const struct duet_verdict *s,
				 char out[WORDS])
{
	static const char *const gates[] = { "", "slower", "not slower", "not known yet" };
	struct duet_figures f = duet_figures_of(s->ratio, s->low, s->high);
	if (s->gate)
		snprintf(out, WORDS, "%s", gates[s->gate]);
	else if (isnan(s->ratio))
		snprintf(out, WORDS, "too few pairs");
	else if (s->end == DUET_OPEN)
		snprintf(out, WORDS, "not shown");
	else if (s->end == DUET_SAME)
		snprintf(out, WORDS, "the same");
	else if (duet_is_count(v->result->measure))
		snprintf(out, WORDS, "%s", s->ratio < 1 ? "fewer" : "more");
	else
		snprintf(out, WORDS, "%s", f.change);
	return out;
}

/* The columns of a table with a forest plot, as wide as their texts. */
struct layout {
	size_t name, mean, ratio, verdict, forest; /* forest 0: on lines of its own */
	struct duet_range range;
};

struct line {
	const char *name, *mean, *ratio, *verdict, *forest;
};

static void put_line(const struct layout *l, const struct line *line, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 }, name = { 0 };
	put_fitted(&name, line->name, l->name);
	strbuf_puts(&text, "  ");
	put_columns(&text, strbuf_text(&name), l->name + 2);
	put_columns(&text, line->mean, l->mean + 2);
	put_columns(&text, line->ratio, l->ratio + 2);
	put_columns(&text, line->verdict, l->verdict + 2);
	strbuf_puts(&text, line->forest ? line->forest : "");
	while (text.length && text.text[text.length - 1] == ' ')
		text.text[--text.length] = '\0';
	strbuf_printf(out, "%s\n", strbuf_text(&text));
}

static size_t wider(size_t a, size_t b)
{
	return a > b ? a : b;
}

static struct layout layout_of(const struct duet_view *views, size_t count,
			       const struct duet_pool *pool, const struct style *style)
{
	struct layout l = { .name = 9, .mean = 8, .ratio = 17, .range = { -1e-4, 1e-4 } };
	char words[WORDS];
	for (size_t i = 0; i < count; i++)
		array_each(s, &views[i].result->verdicts) {
			FREED char *name = duet_name(views[i].duet, s->side);
			l.name = wider(l.name, text_width(name) + (count > 1 ? 5 : 0));
			l.ratio =
				wider(l.ratio,
				      text_width(duet_figures_of(s->ratio, s->low, s->high).ratio));
			l.verdict =
				wider(l.verdict, text_width(verdict_words(&views[i], s, words)));
			duet_range_add(&l.range, s->ratio, s->low, s->high);
		}
	if (count == 1) {
		FREED char *base = duet_name(views[0].duet, 0);
		l.name = wider(l.name, text_width(base));
		l.verdict = wider(l.verdict, strlen("the reference"));
	}
	if (pool) {
		struct duet_figures f = duet_figures_of(pool->ratio, pool->low, pool->high);
		l.ratio = wider(l.ratio, text_width(f.ratio));
		l.verdict = wider(l.verdict, text_width(f.change));
		duet_range_add(&l.range, pool->ratio, pool->low, pool->high);
	}
	l.name = l.name < NAME_COLUMNS ? l.name : NAME_COLUMNS;
	size_t used = 2 + l.name + 2 + l.mean + 2 + l.ratio + 2 + l.verdict + 2;
	l.forest = style->width >= used + FOREST_LEAST ? style->width - used : 0;
	return l;
}

/* The plot gets a line of its own where it does not fit beside the row. */
static void put_row(const struct layout *l, struct line line, double ratio, double low, double high,
		    const struct style *style, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf forest = { 0 };
	duet_forest_row(ratio, low, high, l->range.low, l->range.high,
			l->forest ? l->forest : style->width - 4, style->ascii, &forest);
	line.forest = l->forest ? strbuf_text(&forest) : NULL;
	put_line(l, &line, out);
	if (!l->forest)
		strbuf_printf(out, "    %s\n", strbuf_text(&forest));
}

static void put_rows_of(const struct duet_view *v, const char *prefix, const struct layout *l,
			const struct style *style, struct strbuf *out)
{
	array_each(s, &v->result->verdicts) {
		SCOPED(strbuf_release) struct strbuf named = { 0 };
		FREED char *name = duet_name(v->duet, s->side);
		char mean[WORDS] = "-", words[WORDS];
		struct duet_figures f = duet_figures_of(s->ratio, s->low, s->high);
		strbuf_printf(&named, "%s%s", prefix, name);
		if (!isnan(s->mean_ns[1]))
			duet_format_mean(v, s->mean_ns[1], 3, style->unit, mean);
		put_row(l,
			(struct line){ strbuf_text(&named), mean, f.ratio,
				       verdict_words(v, s, words), NULL },
			s->ratio, s->low, s->high, style, out);
	}
}

static void put_several(const struct duet_view *v, const struct style *style, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf head = { 0 };
	FREED char *base = duet_name(v->duet, 0);
	char mean[WORDS] = "-";
	size_t pairs = 0;
	array_each(s, &v->result->verdicts)
		pairs += s->judged;
	strbuf_printf(&head, "Against %s", base);
	put_after(v, pairs, &head);
	put_headline(out, style->width, style->colour, strbuf_text(&head));
	const struct layout l = layout_of(v, 1, NULL, style);
	put_line(&l, &(struct line){ "", "mean", "ratio [95%]", "", NULL }, out);
	if (!isnan(v->result->verdicts.items[0].mean_ns[0]))
		duet_format_mean(v, v->result->verdicts.items[0].mean_ns[0], 3, style->unit, mean);
	put_line(&l, &(struct line){ base, mean, "1", "the reference", NULL }, out);
	put_rows_of(v, "", &l, style, out);
}

/* ---- details ---- */

static void put_left_out(const struct duet_view *v, struct strbuf *text)
{
	size_t failed = 0, unusable = 0, apart = 0;
	array_each(s, &v->result->verdicts) {
		apart += s->apart;
		failed += s->failed;
		unusable += s->unusable;
	}
	if (failed)
		strbuf_printf(text, "%zu pair%s left out: an execution failed.", failed,
			      failed == 1 ? "" : "s");
	if (unusable)
		strbuf_printf(text,
			      "%s%zu pair%s left out: a time is not known, or not longer than the "
			      "shell's own.",
			      text->length ? " " : "", unusable, unusable == 1 ? "" : "s");
	if (apart)
		strbuf_printf(text,
			      "%sIn %zu pair%s the two hardly took turns, so they did not meet the "
			      "same speed: one of them changes its own priority or CPUs, has more "
			      "processes than the other, or waits.",
			      text->length ? " " : "", apart, apart == 1 ? "" : "s");
}

static void put_cost(const struct duet_view *v, const struct duet_verdict *s, int side,
		     struct strbuf *text)
{
	FREED char *name = duet_name(v->duet, side ? s->side : 0);
	strbuf_printf(text, "%s%s ", text->length ? ", " : "", name);
	if (isnan(s->cost[side])) {
		strbuf_puts(text, "could not be told");
		return;
	}
	strbuf_printf(text,
		      "%+.1f" NO_BREAK "%%" NO_BREAK "[%+.1f," NO_BREAK "%+.1f]" NO_BREAK "%%",
		      100 * (s->cost[side] - 1), 100 * (s->cost_low[side] - 1),
		      100 * (s->cost_high[side] - 1));
}

static void put_pairs(const struct duet_view *v, const struct style *style, struct strbuf *out)
{
	struct strbuf text = { 0 };
	size_t counted = 0, judged = 0, trimmed = 0, warmups = 0, alone = 0;
	double overlap = NAN;
	array_each(s, &v->result->verdicts) {
		counted += s->pairs;
		judged += s->judged;
		trimmed += s->trimmed;
		array_each(p, &s->list)
			overlap = fmin(overlap, p->overlap);
	}
	array_each(p, &v->duet->parts) {
		warmups += p->warmup && p->pair && p->repeat == 0 && p->side == 0;
		alone += !p->pair;
	}
	strbuf_printf(&text, "%zu counted", counted);
	if (counted > judged)
		strbuf_printf(&text, " (%zu of them after the last look, not judged)",
			      counted - judged);
	if (trimmed)
		strbuf_printf(&text, "; the mean leaves out the %zu outermost", trimmed);
	if (warmups)
		strbuf_printf(&text, "; %zu more to warm up", warmups);
	if (alone)
		strbuf_printf(&text, "; %zu execution%s alone", alone, alone == 1 ? "" : "s");
	if (v->duet->way != DUET_WHOLE && overlap < 0.995)
		strbuf_printf(&text, "; least overlap of a pair %s", AS_PERCENT(overlap));
	put_labelled_text(out, style, "  Pairs", NULL, &text);
}

static void put_how(const struct duet_view *v, const struct style *style, struct strbuf *out)
{
	static const char *const ways[DUET_WAYS] = {
		[DUET_SCHEDULER] = "at once, alternated by the scheduler",
		[DUET_FREEZER] = "at once, alternated by the freezer",
		[DUET_WHOLE] = "whole executions in turns",
	};
	const struct duet *d = v->duet;
	struct strbuf text = { 0 };
	strbuf_printf(&text, "%s", ways[d->way]);
	if (d->period_ns)
		strbuf_printf(&text, ", woken every %s", AS_NS((double)d->period_ns));
	if (d->slice_ns)
		strbuf_printf(&text, ", in slices of %s", AS_NS((double)d->slice_ns));
	if (d->turn_ns)
		strbuf_printf(&text, ", in turns of %s", AS_NS((double)d->turn_ns));
	if (d->cpus && *d->cpus)
		strbuf_printf(&text, ", on CPU%s %s", strpbrk(d->cpus, ",-") ? "s" : "", d->cpus);
	if (d->why && *d->why && d->way != DUET_WHOLE)
		strbuf_printf(&text, "; %s", d->why);
	put_labelled_text(out, style, "  How", NULL, &text);
}

static void put_details(const struct duet_view *v, const struct style *style, struct strbuf *out)
{
	const struct duet *d = v->duet;
	strbuf_putc(out, '\n');
	for (size_t i = 0; i < d->sides.count; i++) {
		const struct duet_verdict *s = &v->result->verdicts.items[i ? i - 1 : 0];
		char label[WORDS], mean[WORDS];
		FREED char *name = duet_name(d, i);
		SCOPED(strbuf_release) struct strbuf fitted = { 0 }, text = { 0 };
		put_fitted(&fitted, name, LABEL_COLUMNS - 3);
		snprintf(label, sizeof label, "  %s", strbuf_text(&fitted));
		duet_format_mean(v, s->mean_ns[i != 0], 4, style->unit, mean);
		if (isnan(s->mean_ns[i != 0]))
			strbuf_puts(&text, "no time");
		else
			strbuf_printf(&text, "%s per execution", mean);
		if (strcmp(d->sides.items[i].name, d->sides.items[i].command) != 0)
			strbuf_printf(&text, ": %s", d->sides.items[i].command);
		put_labelled(out, style, label, NULL, strbuf_text(&text));
	}
	put_labelled(out, style, "  Compared by", NULL, duet_measure_words[v->result->measure]);
	array_each(s, &v->result->verdicts) {
		FREED char *base = duet_name(d, 0), *other = duet_name(d, s->side);
		struct strbuf text = { 0 };
		strbuf_printf(&text, "%s / %s = %s", other, base,
			      duet_figures_of(s->ratio, s->low, s->high).ratio);
		if (!isnan(s->ratio))
			strbuf_printf(&text, ", 95%%, over %zu look%s; σ of a pair %s",
				      s->steps.count, s->steps.count == 1 ? "" : "s",
				      AS_PERCENT(s->sigma));
		put_labelled_text(out, style, "  Ratio", NULL, &text);
	}
	put_pairs(v, style, out);
	put_how(v, style, out);
	if (d->way != DUET_WHOLE) {
		struct strbuf text = { 0 };
		array_each(s, &v->result->verdicts) {
			if (s->side == 1)
				put_cost(v, s, 0, &text);
			put_cost(v, s, 1, &text);
		}
		put_labelled_text(out, style, "  Alternating cost", NULL, &text);
	}
	if (d->revisions)
		put_labelled(out, style, "  Revisions", NULL, d->revisions);
	if (v->run->tags && *v->run->tags)
		put_labelled(out, style, "  Tags", NULL, v->run->tags);
	put_labelled(out, style, "  Not in the interval", DIM,
		     "how much the ratio varies from run to run: layout and the machine's state "
		     "can favour one side for a whole run. Repeat it, then: tare compare RUN RUN");
}

void duet_text(const struct duet_view *v, const struct style *given, bool details,
	       struct strbuf *out)
{
	struct style style = style_normal(given);
	size_t from = out->length;
	if (!v->duet) {
		strbuf_printf(out, "Nothing of run %lld is stored yet.\n", (long long)v->run->id);
		return;
	}
	if (v->duet->sides.count == 2)
		put_two(v, &style, out);
	else
		put_several(v, &style, out);
	put_letters(v->duet, &style, out);
	SCOPED(strbuf_release) struct strbuf way = { 0 }, left = { 0 };
	duet_way_sentence(v, &way);
	put_wrapped(out, &style, "  ", 2, "%s", strbuf_text(&way));
	if (v->duet->lacks && *v->duet->lacks)
		put_wrapped(out, &style, "  ", 2, "%s.", v->duet->lacks);
	put_left_out(v, &left);
	if (left.length)
		put_wrapped(out, &style, "  ", 2, "%s", strbuf_text(&left));
	if (details)
		put_details(v, &style, out);
	style_finish(&style, out, from);
}

/* ---- several duets ---- */

void duet_pool_sentence(const struct duet_view *first, const struct duet_pool *pool,
			struct strbuf *out)
{
	FREED char *base = duet_name(first->duet, 0), *other = duet_name(first->duet, 1);
	SCOPED(strbuf_release) struct strbuf words = { 0 };
	const struct duet_figures f = duet_figures_of(pool->ratio, pool->low, pool->high);
	if (pool->runs < 2) {
		strbuf_printf(out,
			      "%s has a ratio: how much it varies from run to run is not known.",
			      pool->runs ? "Only one run" : "No run");
		return;
	}
	if (pool->low > 1 || pool->high < 1)
		strbuf_printf(out, "%s %s, over %zu runs.", duet_change(other, base, &f, &words),
			      f.interval, pool->runs);
	else
		strbuf_printf(out, "No difference shown over %zu runs: %s / %s = %s.", pool->runs,
			      other, base, f.ratio);
	strbuf_printf(
		out,
		" From run to run the ratio varies by %s more than the pairs explain; that is "
		"in the interval.",
		AS_PERCENT(pool->between));
}

void duet_compare_text(const struct duet_view *views, size_t count, const struct duet_pool *pool,
		       const struct style *given, struct strbuf *out)
{
	struct style style = style_normal(given);
	size_t from = out->length;
	const struct layout l = layout_of(views, count, pool, &style);
	put_line(&l, &(struct line){ "run: side", "mean", "ratio [95%]", "", NULL }, out);
	for (size_t i = 0; i < count; i++) {
		char prefix[WORDS];
		snprintf(prefix, sizeof prefix, "%lld: ", (long long)views[i].run->id);
		put_rows_of(&views[i], prefix, &l, &style, out);
	}
	if (pool) {
		SCOPED(strbuf_release) struct strbuf words = { 0 };
		const struct duet_figures f = duet_figures_of(pool->ratio, pool->low, pool->high);
		bool sure = pool->low > 1 || pool->high < 1;
		put_row(&l,
			(struct line){ "all runs", "", f.ratio, sure ? f.change : "not shown",
				       NULL },
			pool->ratio, pool->low, pool->high, &style, out);
		strbuf_putc(out, '\n');
		duet_pool_sentence(&views[0], pool, &words);
		put_wrapped(out, &style, "", 0, "%s", strbuf_text(&words));
	}
	for (size_t i = 0; i < (pool ? 1 : count); i++) {
		if (!duet_lettered(views[i].duet))
			continue;
		strbuf_printf(out, "Run %lld:\n", (long long)views[i].run->id);
		put_letters(views[i].duet, &style, out);
	}
	style_finish(&style, out, from);
}
