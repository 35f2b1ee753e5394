#include "report/time/counters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/core/json.h"
#include "report/core/rows.h"
#include "report/core/shapes.h"
#include "report/time/several.h"

static void format_ratio(double value, char out[WORDS])
{
	snprintf(out, WORDS, "%.*f", value >= 100 ? 0 : 2, value);
}

static void format_ghz(double value, char out[WORDS])
{
	snprintf(out, WORDS, "%.2f GHz", value);
}

static void format_time_of(double ns, char out[WORDS])
{
	format_duration(ns, 3, TIME_UNIT_AUTO, out);
}

/* How its figures are written: the kernel's clocks count ns. */
typedef void (*format_fn)(double value, char out[WORDS]);
static format_fn format_of(const struct emp_counter *c)
{
	bool clock = strncmp(c->name, "task-clock", 10) == 0 ||
		     strncmp(c->name, "cpu-clock", 9) == 0;
	return c->kind == EMP_GHZ	? format_ghz
	       : c->kind == EMP_SLOTS	? format_percent
	       : c->kind != EMP_COUNTED ? format_ratio
	       : clock			? format_time_of
					: format_amount;
}

static const char *title_of(const struct emp_counter *c, char out[WORDS])
{
	static const char *const titles[EMP_COUNTER_KINDS] = { "%s",
							       "instructions per cycle",
							       "clock",
							       "cycles / ref-cycles",
							       "aperf / mperf",
							       "slots: %s",
							       "%s per 1,000 instructions" };
	const char *title = titles[c->kind], *at = strstr(title, "%s");
	snprintf(out, WORDS, "%.*s%s%s%s", (int)(at ? at - title : 0), title, at ? c->name : title,
		 at ? at + 2 : "",
		 c->user_only && c->kind == EMP_COUNTED && !strchr(c->name, ':') ? ":u" : "");
	return out;
}

/* ---- the line of a run ---- */

void put_counters(const struct run_view *view, const struct style *style, struct strbuf *out)
{
	emp_counter_list list = { 0 };
	struct strbuf text = { 0 };
	char words[WORDS];
	emp_counters(view->executions, view->result, &list);
	const struct emp_counter *instructions =
		emp_counter_find(&list, EMP_COUNTED, "instructions");
	const struct emp_counter *ipc = emp_counter_find(&list, EMP_PER_CYCLE, "instructions");
	const struct emp_counter *ghz = emp_counter_find(&list, EMP_GHZ, "cycles");
	bool scaled = false, misses = false;
	size_t unknown = 0;
	if (instructions) {
		format_amount(instructions->kept.mean, words);
		strbuf_printf(&text, "%s instructions", words);
		if (instructions->user_only)
			strbuf_puts(&text, " in user mode");
		if (ipc)
			strbuf_printf(&text, ", %.2f per cycle", ipc->kept.mean);
		if (ghz)
			strbuf_printf(&text, " at %.2f GHz", ghz->kept.mean);
	}
	array_each(c, &list) {
		scaled |= c->scaled;
		if (c->kind == EMP_COUNTED && c->unknown > unknown)
			unknown = c->unknown;
		if (c->kind != EMP_PER_1000)
			continue;
		format_of(c)(c->kept.mean, words);
		strbuf_printf(&text, "%s%s %s", misses ? ", " : "; per 1,000: ", words, c->name);
		misses = true;
	}
	/* what was asked for may be none of these */
	for (size_t i = 0; !instructions && i < list.count && list.items[i].kind == EMP_COUNTED;
	     i++) {
		format_of (&list.items[i])(list.items[i].kept.mean, words);
		strbuf_printf(&text, "%s%s %s", i ? ", " : "", words, list.items[i].name);
	}
	bool slots = false;
	array_each(c, &list) {
		if (c->kind != EMP_SLOTS)
			continue;
		strbuf_printf(&text, "%s%.0f %% %s", slots ? ", " : "; slots: ", 100 * c->kept.mean,
			      c->name);
		slots = true;
	}
	if (scaled)
		strbuf_puts(&text, "; too few counters for all at once: some are scaled up");
	if (unknown)
		strbuf_printf(&text, "; not all are known in %zu of %zu executions", unknown,
			      view->result->kept[EMP_ET].n);
	put_labelled_text(out, style, "  Counters", NULL, &text);
	array_release(&list);
}

/* ---- poop's table ---- */

/* cost: less of it is better. */
static void add_delta(struct table *t, const struct summary *first, const struct summary *s,
		      bool cost)
{
	struct emp_comparison c;
	char cell[WORDS];
	if (!first || first == s) {
		table_add_absent(t);
		return;
	}
	emp_compare_with(first, s, 0, 1, &c);
	if (!isfinite(c.ratio)) {
		table_add_absent(t);
		return;
	}
	double percent = 100 * (c.ratio - 1), reach = 50 * (c.ratio_high - c.ratio_low);
	int decimals = reach < 0.1 && fabs(percent) < 10 ? 2 : 1;
	if (reach <= 100 * c.ratio)
		snprintf(cell, sizeof cell, "%+.*f %% ± %.*f %%", decimals, percent, decimals,
			 reach);
	else
		snprintf(cell, sizeof cell, "%+.*f %%", decimals, percent);
	table_add_shown(t, c.ratio - 1, cell);
	if (c.significant && cost)
		table_paint(t, percent < 0 ? GREEN : YELLOW);
}

static void add_row(struct table *t, const char *name, format_fn format, const struct summary *s,
		    size_t outliers, const struct summary *first, bool cost)
{
	char mean[WORDS], sigma[WORDS], low[WORDS], high[WORDS], cell[3 * WORDS];
	format(s->mean, mean);
	format(s->stddev, sigma);
	format(s->min, low);
	format(s->max, high);
	table_add_text(t, name);
	snprintf(cell, sizeof cell, s->n > 1 ? "%s ± %s" : "%s", mean, sigma);
	table_add_text(t, cell);
	snprintf(cell, sizeof cell, "%s … %s", low, high);
	table_add_text(t, cell);
	snprintf(cell, sizeof cell, "%zu (%.0f %%)", outliers,
		 s->n ? 100 * (double)outliers / (double)s->n : 0);
	table_add_text(t, cell);
	add_delta(t, first, s, cost);
}

bool time_counters(const struct run_view *view, const struct run_view *first,
		   const struct style *style, struct strbuf *out)
{
	static const struct column columns[] = {
		{ "measurement", "Measurement", COLUMN_TEXT },
		{ "mean", "Mean ± σ", COLUMN_TEXT, .right = true },
		{ "range", "Min … max", COLUMN_TEXT, .right = true, .spare = 2 },
		{ "outliers", "Outliers", COLUMN_TEXT, .right = true, .spare = 3 },
		{ "delta", "Delta", COLUMN_PERCENT, .if_any = true },
	};
	emp_counter_list list = { 0 }, base = { 0 };
	const struct emp_result *r = view->result;
	emp_counters(view->executions, r, &list);
	if (!list.count)
		return false;
	if (first != view)
		emp_counters(first->executions, first->result, &base);
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	const enum emp_measure times[] = { EMP_ET, r->headline };
	for (size_t i = 0; i < 1 + (size_t)(r->headline != EMP_ET); i++) {
		if (!r->present[times[i]] || !r->kept[times[i]].n)
			continue;
		size_t n;
		FREED double *values = emp_values(view->run, view->executions, r, times[i], &n);
		add_row(t, measure_title(times[i]), format_time_of, &r->kept[times[i]],
			emp_outliers(values, n),
			first == view || !first->result->kept[times[i]].n
				? NULL
				: &first->result->kept[times[i]],
			true);
	}
	array_each(c, &list) {
		char title[WORDS];
		const struct emp_counter *of = emp_counter_find(&base, c->kind, c->name);
		title_of(c, title);
		if (c->unknown)
			snprintf(title + strlen(title), WORDS - strlen(title), " (%zu of %zu)",
				 c->kept.n, c->kept.n + c->unknown);
		if (c->scaled)
			snprintf(title + strlen(title), WORDS - strlen(title), " *");
		/* of one mode here and of both there: not the same */
		if (of && of->user_only != c->user_only)
			of = NULL;
		add_row(t, title, format_of(c), &c->kept, c->outliers, of ? &of->kept : NULL,
			c->kind == EMP_COUNTED || c->kind == EMP_PER_1000);
	}
	strbuf_printf(out, "%s (%zu executions)\n", run_title(view->run), r->kept[EMP_ET].n);
	table_put(t, style, out);
	array_each(c, &list)
		if (c->scaled) {
			strbuf_puts(out, "* scaled up: the CPU has too few counters for all of "
					 "them at once\n");
			break;
		}
	array_release(&list);
	array_release(&base);
	return true;
}

/* ---- for programs ---- */

void counters_json(const struct run_view *view, json_t *run)
{
	emp_counter_list list = { 0 };
	emp_counters(view->executions, view->result, &list);
	if (list.count)
		json_object_set_new(run, "counters",
				    json_shapes(&mean_counter_shape, list.items, list.count,
						sizeof *list.items));
	array_release(&list);
}

void execution_counters_json(const struct execution *x, json_t *execution)
{
	if (x->counters.count)
		json_object_set_new(execution, "counters",
				    json_shapes(&counter_shape, x->counters.items,
						x->counters.count, sizeof *x->counters.items));
}

void counter_names_of(const struct run_view *views, size_t count, counter_names *out)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < views[i].count; j++)
			array_each(c, &views[i].executions[j].counters) {
				size_t k = 0;
				while (k < out->count && strcmp(out->items[k], c->name) != 0)
					k++;
				if (k == out->count)
					array_push(out, c->name);
			}
}

static bool is_apart(const struct run_view *views, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < views[i].count; j++) {
			const struct counter *c =
				counter_find(&views[i].executions[j].counters, name);
			if (c && c->user >= 0)
				return true;
		}
	return false;
}

void counter_names_apart(const struct run_view *views, size_t count, const counter_names *names,
			 counter_names *out)
{
	for (size_t i = 0; i < names->count; i++)
		if (is_apart(views, count, names->items[i]))
			array_push(out, names->items[i]);
}
