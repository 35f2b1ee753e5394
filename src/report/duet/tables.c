/* Duets as tables, and the summary for a pull request. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/duet/words.h"

struct table *duet_parts_table(const struct duet_view *views, size_t count)
{
	struct columns c = { 0 };
	columns_add(&c, COLUMN_COUNT, "", "run");
	columns_add(&c, COLUMN_TEXT, "", "name");
	columns_add_fields(&c, duet_part_fields);
	struct table *t = table_of(&c);
	for (size_t i = 0; i < count; i++) {
		const struct duet *d = views[i].duet;
		for (size_t k = 0; d && k < d->parts.count; k++) {
			const struct duet_part *p = &d->parts.items[k];
			if (views[i].run->id)
				table_add_count(t, views[i].run->id);
			else
				table_add_absent(t);
			table_add_text(t, d->sides.items[p->side].name);
			table_add_fields(t, duet_part_fields, p);
		}
	}
	return t;
}

struct table *duet_pairs_table(const struct duet_view *v)
{
	static const struct column columns[] = {
		{ "pair", "Pair", COLUMN_COUNT },
		{ "side", "Side", COLUMN_TEXT, .if_any = true },
		{ "reference", "Reference", COLUMN_DURATION },
		{ "other", "Other", COLUMN_DURATION },
		{ "ratio", "Ratio", COLUMN_REAL, .decimals = DECIMALS(4) },
		{ "overlap", "Overlap", COLUMN_PERCENT, .spare = 1 },
		{ "note", "Note", COLUMN_TEXT, .if_any = true, .spare = 2 },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	const bool several = v->result->verdicts.count > 1;
	array_each(s, &v->result->verdicts)
		array_each(p, &s->list) {
			table_add_count(t, p->pair);
			table_add_text(t, several ? v->duet->sides.items[s->side].name : NULL);
			table_add_number(t, p->ns[0]);
			table_add_number(t, p->ns[1]);
			table_add_number(t, exp(p->log_ratio));
			table_add_number(t, p->overlap);
			table_add_text(t, p->trimmed ? "left out of the mean" : NULL);
		}
	return t;
}

/* ---- Markdown ---- */

/* What Markdown would read as its own. */
static void put_escaped(const char *text, struct strbuf *out)
{
	for (; *text; text++) {
		if (strchr("\\`*_[]<>|~#&", *text))
			strbuf_putc(out, '\\');
		strbuf_putc(out, *text);
	}
}

static void put_verdict(const struct duet_view *v, const struct duet_verdict *s, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	duet_gate_sentence(v, s, &text);
	if (text.length)
		strbuf_puts(&text, ". ");
	duet_sentence(v, s, &text);
	strbuf_puts(out, v->result->verdicts.count > 1 ? "- **" : "**");
	put_escaped(strbuf_text(&text), out);
	strbuf_puts(out, "**\n");
}

static void put_sides(const struct duet_view *v, struct strbuf *out)
{
	const bool count = duet_is_count(v->result->measure);
	const struct column columns[] = {
		{ "side", "Side", COLUMN_TEXT, .code = true },
		{ "mean", "Mean", count ? COLUMN_REAL : COLUMN_DURATION, .digits = 4,
		  .decimals = count ? DECIMALS(0) : 0 },
		{ "ratio", "Ratio [95 %]", COLUMN_TEXT, .right = true },
		{ "pairs", "Pairs", COLUMN_COUNT },
		{ "failed", "Failed", COLUMN_COUNT },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	const struct duet_verdict *first = &v->result->verdicts.items[0];
	table_add_text(t, v->duet->sides.items[0].name);
	table_add_number(t, first->mean_ns[0]);
	table_add_text(t, "1");
	table_add_absent(t);
	table_add_absent(t);
	array_each(s, &v->result->verdicts) {
		table_add_text(t, v->duet->sides.items[s->side].name);
		table_add_number(t, s->mean_ns[1]);
		table_add_text(t, duet_figures_of(s->ratio, s->low, s->high).ratio);
		table_add_count(t, (int64_t)s->pairs);
		table_add_count(t, (int64_t)s->failed);
	}
	table_render(t, TABLE_MARKDOWN, NULL, out);
	table_free(t);
}

static const char *fact(const struct machine *m, const char *key)
{
	const char *value = m ? machine_get(m, key) : NULL;
	return value && *value ? value : NULL;
}

void duet_markdown(const struct duet_view *v, struct strbuf *out)
{
	size_t from = out->length;
	char time[WORDS];
	if (!v->duet)
		return;
	array_each(s, &v->result->verdicts)
		put_verdict(v, s, out);
	for (size_t i = 0; duet_lettered(v->duet) && i < v->duet->sides.count; i++) {
		FREED char *shown = display_copy(v->duet->sides.items[i].name);
		strbuf_printf(out, "%s- %c: ", i ? "" : "\n", (int)('A' + i));
		put_escaped(shown, out);
		strbuf_putc(out, '\n');
	}
	strbuf_putc(out, '\n');
	put_sides(v, out);
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	strbuf_printf(&text, "\nTimes are %s per execution. ",
		      duet_measure_words[v->result->measure]);
	duet_way_sentence(v, &text);
	double elapsed = duet_elapsed_ns(v);
	if (!isnan(elapsed)) {
		format_duration(elapsed, 2, TIME_UNIT_AUTO, time);
		strbuf_printf(&text, " It took %s%s.", time, run_state_words(v->run));
	}
	if (v->duet->lacks && *v->duet->lacks)
		strbuf_printf(&text, " %s.", v->duet->lacks);
	strbuf_puts(&text, " The interval is of one run: how much the ratio varies from run to run "
			   "is not in it.");
	put_escaped(strbuf_text(&text), out);
	strbuf_puts(out, "\n");
	strbuf_clear(&text);
	const char *cpu = fact(v->machine, "cpu.model"),
		   *kernel = fact(v->machine, "kernel.release");
	if (v->duet->revisions)
		strbuf_printf(&text, "%s; ", v->duet->revisions);
	if (cpu)
		strbuf_printf(&text, "%s, ", cpu);
	if (kernel)
		strbuf_printf(&text, "Linux %s, ", kernel);
	strbuf_printf(&text, "tare %s", v->run->version ? v->run->version : "");
	strbuf_puts(out, "\n<sub>");
	put_escaped(strbuf_text(&text), out);
	strbuf_puts(out, "</sub>\n");
	style_finish(&(struct style){ 0 }, out, from);
}

/* ---- several duets ---- */

struct table *duet_compare_table(const struct duet_view *views, size_t count,
				 const struct duet_pool *pool)
{
	static const struct column columns[] = {
		{ "run", "Run", COLUMN_COUNT },
		{ "reference", "Reference", COLUMN_TEXT, .code = true },
		{ "side", "Side", COLUMN_TEXT, .code = true },
		{ "measure", "Measure", COLUMN_TEXT },
		{ "pairs", "Pairs", COLUMN_COUNT },
		{ "reference_mean", "Reference's mean", COLUMN_DURATION },
		{ "mean", "Mean", COLUMN_DURATION },
		{ "ratio", "Ratio", COLUMN_RATIO },
		{ "ratio_low", "95% low", COLUMN_RATIO },
		{ "ratio_high", "high", COLUMN_RATIO },
		{ "sigma_between_runs", "σ between runs", COLUMN_PERCENT, .if_any = true },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < count; i++)
		array_each(s, &views[i].result->verdicts) {
			table_add_count(t, views[i].run->id);
			table_add_text(t, views[i].duet->sides.items[0].name);
			table_add_text(t, views[i].duet->sides.items[s->side].name);
			table_add_text(t, duet_measure_names[views[i].result->measure]);
			table_add_count(t, (int64_t)s->judged);
			table_add_number(t, s->mean_ns[0]);
			table_add_number(t, s->mean_ns[1]);
			table_add_number(t, s->ratio);
			table_add_number(t, s->low);
			table_add_number(t, s->high);
			table_add_absent(t);
		}
	if (pool) {
		table_add_absent(t);
		table_add_text(t, views[0].duet->sides.items[0].name);
		table_add_text(t, views[0].duet->sides.items[1].name);
		table_add_text(t, duet_measure_names[views[0].result->measure]);
		for (int i = 0; i < 3; i++)
			table_add_absent(t);
		table_add_number(t, pool->ratio);
		table_add_number(t, pool->low);
		table_add_number(t, pool->high);
		table_add_number(t, pool->between);
	}
	return t;
}
