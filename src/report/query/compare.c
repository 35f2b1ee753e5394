/* Two runs of queries side by side: plans that changed first, then times, then the rest. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/query/rows.h"
#include "stats/tests.h"

#define MOST 20
#define ALPHA 0.05
#define ENOUGH 64 /* executions to find any difference with */

const char *const query_change_names[] = { "same", "slower", "faster", "only_base", "only_other" };

static void put_run(const struct query_view *v, struct strbuf *out)
{
	char server[WORDS];
	query_server(v->data, server);
	if (v->run && v->run->id > 0)
		strbuf_printf(out, "run %lld (%s", (long long)v->run->id, server);
	else
		strbuf_printf(out, "a run (%s", server);
	if (v->run && v->run->name && *v->run->name) {
		FREED char *name = display_copy(v->run->name);
		strbuf_printf(out, ", %s", name);
	}
	strbuf_putc(out, ')');
}

/* As many digits as the interval supports. */
static void format_ratio(double ratio, double low, double high, char out[WORDS])
{
	if (!isfinite(ratio))
		snprintf(out, WORDS, "-");
	else
		snprintf(out, WORDS, "%.*f", ratio_decimals((high - low) / 4), ratio);
}

static void format_interval(double low, double high, char out[WORDS])
{
	int decimals = ratio_decimals((high - low) / 4);
	if (!isfinite(low) || !isfinite(high))
		snprintf(out, WORDS, "-");
	else
		snprintf(out, WORDS, "%.*f to %.*f", decimals, low, decimals, high);
}

/* ---- in short ---- */

static size_t count_of(const struct ttp_comparison *c, enum ttp_change change)
{
	size_t n = 0;
	for (size_t i = 0; i < c->pairs.count; i++)
		n += c->pairs.items[i].change == change;
	return n;
}

static bool is_compared(const struct ttp_pair *p)
{
	return (p->change == TTP_SAME && !isnan(p->time.base_ns) && !isnan(p->time.other_ns)) ||
	       p->change == TTP_SLOWER || p->change == TTP_FASTER;
}

static void put_summary(const struct query_view *base, const struct query_view *other,
			const struct ttp_comparison *c, const struct query_style *style,
			struct strbuf *out)
{
	struct strbuf text = { 0 };
	char ratio[WORDS], interval[WORDS];
	size_t only_base = count_of(c, TTP_ONLY_BASE), only_other = count_of(c, TTP_ONLY_OTHER);
	size_t unknown = 0;
	for (size_t i = 0; i < c->pairs.count; i++)
		unknown += c->pairs.items[i].change == TTP_SAME && !is_compared(&c->pairs.items[i]);
	strbuf_printf(&text, "%zu Q@C%s by %s", c->compared, c->compared == 1 ? "" : "s",
		      query_time_title(c->time));
	if (only_base)
		strbuf_printf(&text, "; %zu kept in the base alone", only_base);
	if (only_other)
		strbuf_printf(&text, "; %zu kept in the other alone", only_other);
	if (unknown)
		strbuf_printf(&text, "; %zu of which it is not known", unknown);
	put_query_fact("Compared", strbuf_text(&text), style, out);
	strbuf_clear(&text);
	strbuf_printf(&text, "%zu of %zu Q@Cs of the base, %zu of %zu of the other",
		      base->result->at_kept, base->result->at_count, other->result->at_kept,
		      other->result->at_count);
	put_query_fact("Kept", strbuf_text(&text), style, out);
	if (!c->compared) {
		strbuf_release(&text);
		return;
	}
	strbuf_clear(&text);
	format_ratio(c->ratio, c->ratio_low, c->ratio_high, ratio);
	format_interval(c->ratio_low, c->ratio_high, interval);
	strbuf_printf(&text, "%s times the base's %s (geometric mean; 95 %%: %s)", ratio,
		      query_time_title(c->time), interval);
	if (c->time != TTP_MEASURED) {
		format_ratio(c->elapsed_ratio, c->elapsed_low, c->elapsed_high, ratio);
		format_interval(c->elapsed_low, c->elapsed_high, interval);
		strbuf_printf(&text, ", %s times its elapsed time (%s)", ratio, interval);
	}
	put_query_fact("Overall", strbuf_text(&text), style, out);
	strbuf_clear(&text);
	strbuf_printf(&text, "%zu slower, %zu faster, %zu without a significant difference by %s",
		      c->slower, c->faster, c->compared - c->slower - c->faster,
		      query_time_title(c->time));
	if (c->contrary)
		strbuf_printf(&text,
			      "; but %zu by elapsed time, as that changed the other way (--measure "
			      "decides)",
			      c->contrary);
	put_query_fact("Times", strbuf_text(&text), style, out);
	strbuf_clear(&text);
	if (strcmp(base->data->dbms, other->data->dbms) != 0)
		strbuf_puts(&text, "not compared: they are of two DBMSs");
	else
		strbuf_printf(&text, "%zu changed", c->plan_changes);
	put_query_fact("Plans", strbuf_text(&text), style, out);
	strbuf_clear(&text);
	SCOPED(query_settings_release) query_settings settings = { 0 };
	query_settings_that_differ(base->data, other->data, &settings);
	array_each(s, &settings)
		strbuf_printf(&text, "%s%s %s %s %s", text.length ? ", " : "", s->name,
			      s->base ? s->base : "-", style->style.ascii ? "->" : "→",
			      s->other ? s->other : "-");
	if (text.length) {
		FREED char *shown = display_copy(strbuf_text(&text));
		put_query_fact("Settings", shown, style, out);
	}
	strbuf_release(&text);
}

/* The p of so many, all of which are below all of the others. */
static double least_p(size_t n_a, size_t n_b)
{
	double a[ENOUGH], b[ENOUGH];
	struct mann_whitney test;
	n_a = n_a < ENOUGH ? n_a : ENOUGH;
	n_b = n_b < ENOUGH ? n_b : ENOUGH;
	for (size_t i = 0; i < n_a; i++)
		a[i] = (double)i;
	for (size_t i = 0; i < n_b; i++)
		b[i] = (double)(n_a + i);
	mann_whitney(a, n_a, b, n_b, &test);
	return test.p;
}

/* With few executions and many Q@Cs no difference, however large, is significant. */
static void put_power(const struct query_view *base, const struct query_view *other,
		      const struct ttp_comparison *c, const struct query_style *style,
		      struct strbuf *out)
{
	double least = 1;
	for (size_t i = 0; i < c->pairs.count && least * (double)c->compared >= ALPHA; i++) {
		const struct ttp_pair *p = &c->pairs.items[i];
		if (is_compared(p))
			least = fmin(
				least,
				least_p(base->result->at[p->base - base->data->at.items].kept,
					other->result->at[p->other - other->data->at.items].kept));
	}
	if (c->compared && least * (double)c->compared >= ALPHA)
		put_query_text("Note: ",
			       "there are so few executions for so many Q@Cs that not even a large "
			       "difference can be significant.",
			       style, out);
}

/* ---- plans ---- */

static void put_plans(const struct query_view *base, const struct query_view *other,
		      const struct ttp_comparison *c, const struct query_style *style,
		      struct strbuf *out)
{
	size_t shown = 0;
	for (size_t i = 0; i < c->pairs.count; i++) {
		const struct ttp_pair *p = &c->pairs.items[i];
		struct strbuf text = { 0 };
		char place[2 * WORDS], ratio[WORDS];
		if (p->same_plan)
			continue;
		if (!shown)
			strbuf_puts(out, "\nPlans that changed\n");
		if (shown++ >= MOST && !style->all)
			continue;
		query_place(p->base ? base->data : other->data, p->query, p->cardinality, place);
		strbuf_puts(&text, place);
		if (p->time.ratio > 0) {
			format_ratio(p->time.ratio, p->time.low, p->time.high, ratio);
			strbuf_printf(&text, " (%s times the %s", ratio, query_time_title(c->time));
			format_ratio(p->elapsed.ratio, p->elapsed.low, p->elapsed.high, ratio);
			if (c->time != TTP_MEASURED)
				strbuf_printf(&text, ", %s times the elapsed time", ratio);
			strbuf_putc(&text, ')');
		}
		strbuf_puts(&text, ": ");
		const struct query_plan *from = query_plan_of(base->data, query_plan_hash(p->base));
		const struct query_plan *to = query_plan_of(other->data, query_plan_hash(p->other));
		if (from && to)
			put_plan_change(from, to, style->style.ascii, &text);
		else
			strbuf_puts(&text, "its plan is not stored");
		put_query_text("  ", strbuf_text(&text), style, out);
		strbuf_release(&text);
	}
	if (!style->all && shown > MOST)
		strbuf_printf(out, "  and %zu more\n", shown - MOST);
}

/* ---- times ---- */

/* "1.02", as many digits as the interval supports. */
static void add_ratio(struct table *t, const struct ttp_pair *p)
{
	char text[WORDS];
	const struct ttp_ratio *r = &p->time;
	format_ratio(r->ratio, r->low, r->high, text);
	table_add_shown(t, r->ratio, text);
	format_interval(r->low, r->high, text);
	table_add_text(t, text);
	format_p(r->p, text);
	table_add_text(t, isfinite(r->ratio) ? text + 2 : "-"); /* "p = ": the column says so */
	format_ratio(p->elapsed.ratio, p->elapsed.low, p->elapsed.high, text);
	table_add_shown(t, p->elapsed.ratio, text);
}

static void put_changed(const struct query_view *base, const struct query_view *other,
			const struct ttp_comparison *c, const struct query_style *style,
			struct strbuf *out)
{
	const bool by_elapsed = c->time == TTP_MEASURED; /* no need to say it twice */
	const struct column columns[] = {
		{ "query", "Query", COLUMN_TEXT },
		{ "cardinality", "Rows", COLUMN_COUNT, .thousands = true },
		{ "base", "Base", COLUMN_DURATION, .digits = 3 },
		{ "other", "Other", COLUMN_DURATION, .digits = 3 },
		{ "ratio", "Ratio", COLUMN_RATIO },
		{ "interval", "95 %", COLUMN_TEXT, .spare = 1 },
		{ "p", "p (Holm)", COLUMN_TEXT, .spare = 2 },
		{ "elapsed", "Elapsed", COLUMN_RATIO, by_elapsed ? FOR_DATA : FOR_ALL },
		{ "change", "", COLUMN_TEXT },
	};
	static const char *const words[] = { "", "slower", "faster", "only base", "only other" };
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	size_t shown = 0;
	for (size_t i = 0; i < c->pairs.count; i++) {
		const struct ttp_pair *p = &c->pairs.items[i];
		char text[WORDS];
		if (!style->all && p->change != TTP_SLOWER && p->change != TTP_FASTER)
			continue;
		if (!style->all && shown++ >= MOST)
			continue;
		query_name(p->base ? base->data : other->data, p->query, text);
		table_add_text(t, text);
		if (p->cardinality)
			table_add_count(t, (int64_t)p->cardinality);
		else
			table_add_absent(t);
		table_add_number(t, p->time.base_ns);
		table_add_number(t, p->time.other_ns);
		add_ratio(t, p);
		snprintf(text, sizeof text, "%s%s%s%s", words[p->change],
			 p->by != c->time ? " by elapsed" : "",
			 p->same_plan || !*words[p->change] ? "" : ", ",
			 p->same_plan ? "" : "plan");
		table_add_text(t, text);
	}
	if (!table_rows(t)) {
		table_free(t);
		return;
	}
	strbuf_printf(out, "\n%s, by %s\n", style->all ? "Every Q@C" : "Times that changed",
		      query_time_title(c->time));
	table_put(t, &style->style, out);
	if (shown > MOST)
		strbuf_printf(out, "and %zu more\n", shown - MOST);
}

static void put_rest(const struct ttp_comparison *c, const struct query_style *style,
		     struct strbuf *out)
{
	double low = INFINITY, high = 0, widest = 0;
	size_t n = 0;
	char text[2 * WORDS], range[WORDS];
	for (size_t i = 0; i < c->pairs.count; i++) {
		const struct ttp_pair *p = &c->pairs.items[i];
		if (p->change != TTP_SAME || !(p->time.ratio > 0))
			continue;
		low = fmin(low, p->time.ratio);
		high = fmax(high, p->time.ratio);
		widest = fmax(widest, fmax(p->time.high, 1 / p->time.low) - 1);
		n++;
	}
	if (!n)
		return;
	snprintf(range, sizeof range, "%.3f to %.3f", low, high);
	snprintf(text, sizeof text,
		 "%zu Q@C%s, ratios %.60s. Each one's 95 %% interval ends within %.2g %% of no "
		 "difference.",
		 n, n == 1 ? "" : "s", range, ceil(widest * 1000) / 10);
	strbuf_putc(out, '\n');
	put_query_text("No significant difference: ", text, style, out);
}

void query_compare_text(const struct query_view *base, const struct query_view *other,
			const struct ttp_comparison *c, const struct query_style *given,
			struct strbuf *out)
{
	struct query_style style = query_normal_style(given);
	SCOPED(strbuf_release) struct strbuf title = { 0 };
	size_t from = out->length;
	put_run(other, &title);
	strbuf_puts(&title, " against ");
	put_run(base, &title);
	*title.text = *title.text == 'r' ? 'R' : 'A';
	put_headline(out, style.style.width, style.style.colour, strbuf_text(&title));
	put_summary(base, other, c, &style, out);
	put_power(base, other, c, &style, out);
	put_plans(base, other, c, &style, out);
	put_changed(base, other, c, &style, out);
	put_rest(c, &style, out);
	style_finish(&style.style, out, from);
}
