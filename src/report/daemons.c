/* A daemon study for people, in the order of what is asked first: what dropping gains, who it was,
 * who else was seen, and how the central cluster was found. */
#include "report/daemons.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/daemons_style.h"

#define LEAST_SAMPLES 6 /* fewer have no cluster: protocol/sedona.h */
#define WIDE 104	/* columns from which on there is room for more of them */
#define NARROW 78	/* below, there is room for the main ones only */
#define MOST_SEEN 5
#define NUMBER_LINES 3
#define HOUR_NS 3600e9
#define HOURS_FROM (10 * HOUR_NS)

static void put_text(const char *text, const struct daemons_style *style, struct strbuf *out)
{
	put_paragraph(out, &(struct paragraph){ .width = style->width, .first = "", .indent = 2 },
		      text);
}

static void render(struct table *t, const struct daemons_style *style, struct strbuf *out)
{
	table_render(t, TABLE_TEXT,
		     &(struct table_style){ .width = style->width, .colour = style->colour }, out);
	table_free(t);
}

static void put_heading(const char *text, const struct daemons_style *style, struct strbuf *out)
{
	strbuf_putc(out, '\n');
	put_coloured(out, style->colour, BOLD, text);
	strbuf_putc(out, '\n');
}

static void add_ns(struct table *t, bool known, double ns)
{
	char text[WORDS] = "-";
	if (known)
		format_ns(ns, text);
	table_add_text(t, text);
}

static size_t runs_present(const struct study *s)
{
	size_t n = 0;
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++)
		n += s->runs[k].present;
	return n;
}

static bool is_long_running(const struct study_daemon *d)
{
	return d->seen[STUDY_SHORT].long_executions || d->seen[STUDY_LONG].long_executions;
}

static size_t count_long_running(const struct study *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->daemons.count; i++)
		n += is_long_running(&s->daemons.items[i]);
	return n;
}

/* ---- what was studied ---- */

static void put_title(const struct study *s, const struct machine *machine,
		      const struct daemons_style *style, struct strbuf *out)
{
	static const char *const sources[] = { [STUDY_ACTIVE] = "executions of inc",
					       [STUDY_WATCH] = "windows of a watch",
					       [STUDY_RUNS] = "stored runs" };
	struct strbuf text = { 0 };
	const char *model = machine ? machine_get(machine, "cpu.model") : NULL;
	const char *kernel = machine ? machine_get(machine, "kernel.release") : NULL;
	const int64_t runs[] = { s->runs[STUDY_SHORT].run, s->runs[STUDY_LONG].run };
	strbuf_puts(&text, "Daemon study");
	if (s->id > 0)
		strbuf_printf(&text, " %lld", (long long)s->id);
	strbuf_printf(&text, " of %s", sources[s->source]);
	if (runs[0] > 0 && runs[1] > 0)
		strbuf_printf(&text, " (runs %lld and %lld)", (long long)runs[0],
			      (long long)runs[1]);
	else if (runs[0] > 0 || runs[1] > 0)
		strbuf_printf(&text, " (run %lld)", (long long)(runs[0] > 0 ? runs[0] : runs[1]));
	if (s->made_at_ns) {
		char date[WORDS];
		text_date(s->made_at_ns, date, sizeof date);
		strbuf_printf(&text, ", %s", date);
	}
	put_paragraph(out,
		      &(struct paragraph){ .width = style->width,
					   .first = "",
					   .indent = 2,
					   .colour = style->colour ? BOLD : NULL },
		      strbuf_text(&text));
	strbuf_clear(&text);
	if (model || kernel) {
		strbuf_printf(&text, "%s%s%s%s", model ? model : "", model && kernel ? ", " : "",
			      kernel ? "Linux " : "", kernel ? kernel : "");
		put_text(strbuf_text(&text), style, out);
	}
	strbuf_release(&text);
}

/* ---- the runs ---- */

/* "1/906" of what became much smaller, "0.93" of what did not; "-" without a spread. */
static void format_ratio(const struct study_run *r, char out[WORDS])
{
	double ratio = r->sigma_ns > 0 ? r->sigma_kept_ns / r->sigma_ns : NAN;
	if (!isfinite(ratio))
		snprintf(out, WORDS, "-");
	else if (ratio > 0.1)
		snprintf(out, WORDS, "%.2f", ratio);
	else if (ratio > 0)
		snprintf(out, WORDS, "1/%.0f", 1 / ratio);
	else
		snprintf(out, WORDS, "0");
}

static void add_run(struct table *t, const struct study_run *r, const char *name, bool wide)
{
	char ratio[WORDS];
	bool kept = r->samples > r->dropped.count + 1;
	table_add_text(t, name);
	add_ns(t, r->length_ns, (double)r->length_ns);
	table_add_count(t, r->samples);
	table_add_count(t, r->cluster);
	table_add_count(t, (int64_t)r->l_samples.count);
	table_add_count(t, (int64_t)r->dropped.count);
	add_ns(t, r->samples > 1, r->sigma_ns);
	add_ns(t, kept, r->sigma_kept_ns);
	format_ratio(r, ratio);
	table_add_text(t, kept ? ratio : "-");
	if (wide) {
		add_ns(t, r->samples, r->mean_ns);
		add_ns(t, r->samples > r->dropped.count, r->mean_kept_ns);
	}
}

static void put_runs(const struct study *s, const struct daemons_style *style, struct strbuf *out)
{
	const struct column columns[] = {
		{ "run", "Run", COLUMN_TEXT },
		{ "length", "Length", COLUMN_TEXT, .right = true },
		{ "samples", "Samples", COLUMN_COUNT },
		{ "cluster", "Cluster", COLUMN_COUNT },
		{ "l_samples", "L-samples", COLUMN_COUNT },
		{ "dropped", "Dropped", COLUMN_COUNT },
		{ "sigma", style->ascii ? "Sigma" : "σ of ET", COLUMN_TEXT, .right = true },
		{ "sigma_kept", style->ascii ? "kept" : "σ kept", COLUMN_TEXT, .right = true },
		{ "ratio", "Ratio", COLUMN_TEXT, .right = true },
		{ "mean", "Mean ET", COLUMN_TEXT, .right = true },
		{ "mean_kept", "Mean kept", COLUMN_TEXT, .right = true },
	};
	bool wide = style->width >= WIDE;
	struct table *t = table_new(columns, sizeof columns / sizeof *columns - (wide ? 0 : 2));
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++)
		if (s->runs[k].present)
			add_run(t, &s->runs[k], study_length_name(k), wide);
	strbuf_putc(out, '\n');
	render(t, style, out);
}

static bool holds(const number_list *list, uint32_t number)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == number)
			return true;
	return false;
}

static void put_numbers(const uint32_t *numbers, size_t count, struct strbuf *out)
{
	for (size_t i = 0; i < count; i++)
		strbuf_printf(out, "%s%u", i ? ", " : "", numbers[i]);
}

static void put_listed(const char *first, const number_list *numbers,
		       const struct daemons_style *style, struct strbuf *out)
{
	struct strbuf text = { 0 };
	put_numbers(numbers->items, numbers->count, &text);
	put_paragraph(
		out,
		&(struct paragraph){
			.width = style->width, .first = first, .indent = 2, .lines = NUMBER_LINES },
		strbuf_text(&text));
	strbuf_release(&text);
}

/* What is dropped, and the L-samples that are not. */
static void put_dropped(const struct study_run *r, const char *name,
			const struct daemons_style *style, struct strbuf *out)
{
	number_list stay = { 0 };
	char first[WORDS], share[WORDS];
	for (size_t i = 0; i < r->l_samples.count; i++)
		if (!holds(&r->dropped, r->l_samples.items[i]))
			array_push(&stay, r->l_samples.items[i]);
	if (r->dropped.count) {
		format_percent((double)r->dropped.count / (double)r->samples, share);
		snprintf(first, sizeof first, "Dropped of the %s run (%.40s): ", name, share);
		put_listed(first, &r->dropped, style, out);
	}
	if (stay.count) {
		snprintf(first, sizeof first,
			 "L-sample%s that stay%s, no daemon above its cutoff: ",
			 stay.count == 1 ? "" : "s", stay.count == 1 ? "s" : "");
		put_listed(first, &stay, style, out);
	}
	array_release(&stay);
}

/* ---- in words ---- */

/* What there is to say of a run that has no L-samples. */
static void put_quiet(const struct study_run *r, const char *name,
		      const struct daemons_style *style, struct strbuf *out)
{
	char text[2 * WORDS], time[WORDS];
	format_ns((double)r->cluster_low_ns, time);
	if (!r->samples)
		snprintf(text, sizeof text, "The %s run has no samples.", name);
	else if (r->samples < LEAST_SAMPLES)
		snprintf(text, sizeof text,
			 "The %s run has %u sample%s: too few to tell slow ones from usual ones. "
			 "It takes %d at least, a hundred or more to see rare daemons.",
			 name, r->samples, r->samples == 1 ? "" : "s", LEAST_SAMPLES);
	else if (r->cluster_low_ns == r->cluster_high_ns)
		snprintf(text, sizeof text,
			 "All samples of the %s run took the same time, %s: none is slow.", name,
			 time);
	else
		snprintf(text, sizeof text, "No sample of the %s run stands out: nothing to drop.",
			 name);
	put_text(text, style, out);
}

static void put_corner(const struct study_run *r, const char *name,
		       const struct daemons_style *style, struct strbuf *out)
{
	char text[2 * WORDS];
	for (size_t i = 0; i < r->levels.count; i++)
		if (r->levels.items[i].shape == STUDY_CORNER) {
			snprintf(text, sizeof text,
				 "In the %s run both of a pair are slow as often as chance makes "
				 "it: a frequent daemon, or two bands. They stay in the cluster; "
				 "no cutoff removes them.",
				 name);
			put_text(text, style, out);
			return;
		}
}

/* No daemon to show: why not. */
static void put_none(const struct study *s, const struct daemons_style *style, struct strbuf *out)
{
	size_t l_samples = 0;
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++)
		l_samples += s->runs[k].l_samples.count;
	strbuf_putc(out, '\n');
	if (!s->daemons.count)
		put_text("No daemon was seen in any sample.", style, out);
	else
		put_text("No daemon is long-running: there is no cutoff.", style, out);
	if (l_samples)
		put_text("The slow samples have another cause, which no daemon's process time "
			 "shows: interrupts, the hypervisor, the clock frequency, or the program "
			 "itself (tare explain tells).",
			 style, out);
}

static void put_words(const struct study *s, const struct daemons_style *style, struct strbuf *out)
{
	if (!runs_present(s)) {
		put_text("There is no run in it: nothing was studied.", style, out);
		return;
	}
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++) {
		const struct study_run *r = &s->runs[k];
		if (!r->present)
			continue;
		if (r->l_samples.count || r->dropped.count)
			put_dropped(r, study_length_name(k), style, out);
		else
			put_quiet(r, study_length_name(k), style, out);
		put_corner(r, study_length_name(k), style, out);
	}
}

/* ---- the long-running daemons ---- */

/* As many digits as the error supports, four at most; "?" after an uncertain one. */
static void format_period(const struct study_period *p, bool ascii, char out[WORDS])
{
	struct scale scale = scale_for((double)p->ns, TIME_UNIT_AUTO);
	char value[WORDS], error[WORDS] = "";
	if (!p->found) {
		snprintf(out, WORDS, "none");
		return;
	}
	if ((double)p->ns >= HOURS_FROM)
		scale = (struct scale){ HOUR_NS, "h", 1 };
	double figure = (double)p->ns / scale.ns;
	int most = 3 - (int)floor(log10(fmax(figure, 1)));
	int decimals = p->error_ns ? ratio_decimals((double)p->error_ns / scale.ns) : most - 1;
	scale.decimals = decimals > most ? most : decimals;
	scale.decimals = scale.decimals < 0 ? 0 : scale.decimals;
	format_figure((double)p->ns, &scale, value);
	/* an error too small for these digits is not worth more of them */
	if ((double)p->error_ns / scale.ns * pow(10, scale.decimals) >= 0.5)
		format_figure((double)p->error_ns, &scale, error);
	snprintf(out, WORDS, "%.40s%s%.40s\u00a0%s%s", value, *error ? (ascii ? "+-" : "±") : "",
		 error, scale.unit, p->uncertain ? "?" : "");
}

/* "64.0 ms <3600 s" */
static void format_cutoff(const struct cutoff *c, bool ascii, char out[WORDS])
{
	char cutoff[WORDS], from[WORDS], below[WORDS];
	format_ns((double)c->cutoff_ns, cutoff);
	format_ns((double)c->from_ns, from);
	format_ns((double)c->below_ns, below);
	const char *least = ascii ? ">=" : "≥";
	if (!c->from_ns && !c->below_ns)
		snprintf(out, WORDS, "%.40s any", cutoff);
	else if (!c->from_ns)
		snprintf(out, WORDS, "%.40s <%.40s", cutoff, below);
	else if (!c->below_ns)
		snprintf(out, WORDS, "%.40s %s%.40s", cutoff, least, from);
	else
		snprintf(out, WORDS, "%.40s %s%.40s <%.40s", cutoff, least, from, below);
}

/* The cutoff number n of a daemon; NULL: it has no so many. */
static const struct cutoff *cutoff_of(const struct study *s, const char *daemon, size_t n)
{
	for (size_t i = 0; i < s->cutoffs.count; i++)
		if (!strcmp(s->cutoffs.items[i].daemon, daemon) && !n--)
			return &s->cutoffs.items[i];
	return NULL;
}

static void add_times(struct table *t, const struct study_seen *seen, size_t width)
{
	char count[WORDS] = "";
	add_ns(t, seen->cluster_executions, (double)seen->cluster_max_ns);
	if (width >= NARROW)
		add_ns(t, seen->cluster_executions, seen->cluster_sigma_ns);
	add_ns(t, seen->long_executions, (double)seen->long_least_ns);
	if (width >= WIDE)
		add_ns(t, seen->long_executions, (double)seen->long_most_ns);
	snprintf(count, sizeof count, "%u", seen->long_executions);
	if (width >= NARROW)
		table_add_text(t, count);
}

static void add_blank(struct table *t, size_t width)
{
	size_t cells = width >= WIDE ? 5 : width >= NARROW ? 4 : 2;
	for (size_t i = 0; i < cells; i++)
		table_add_text(t, "");
}

/* A line for each run and for each cutoff: the short run's beside the cutoff of short programs. */
static void add_daemon(struct table *t, const struct study *s, const struct study_daemon *d,
		       const struct daemons_style *style)
{
	const struct study_seen *seen[STUDY_LENGTHS] = { NULL };
	size_t runs = 0;
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++)
		if (s->runs[k].present)
			seen[runs++] = &d->seen[k];
	for (size_t line = 0; line < runs || cutoff_of(s, d->name, line); line++) {
		const struct cutoff *c = cutoff_of(s, d->name, line);
		char period[WORDS] = "", cutoff[WORDS] = "";
		table_add_text(t, !line ? d->name : line < runs ? "  long run" : "");
		if (line < runs)
			add_times(t, seen[line], style->width);
		else
			add_blank(t, style->width);
		if (!line)
			format_period(&d->period, style->ascii, period);
		if (c)
			format_cutoff(c, style->ascii, cutoff);
		else if (!line)
			snprintf(cutoff, sizeof cutoff, "none");
		table_add_text(t, period);
		table_add_text(t, cutoff);
		if (style->width >= WIDE) {
			struct strbuf numbers = { 0 };
			if (line < runs)
				put_numbers(seen[line]->samples.items, seen[line]->samples.count,
					    &numbers);
			table_add_text(t, strbuf_text(&numbers));
			strbuf_release(&numbers);
		}
	}
}

static struct table *daemons_table(const struct daemons_style *style)
{
	const struct {
		struct column column;
		size_t from; /* columns of the terminal */
	} all[] = {
		{ { "daemon", "Daemon", COLUMN_TEXT }, 0 },
		{ { "cluster_max", "Usual", COLUMN_TEXT, .right = true }, 0 },
		{ { "cluster_sigma", style->ascii ? "sigma" : "σ", COLUMN_TEXT, .right = true },
		  NARROW },
		{ { "long_least", "Long", COLUMN_TEXT, .right = true }, 0 },
		{ { "long_most", "Longest", COLUMN_TEXT, .right = true }, WIDE },
		{ { "long_executions", "Times", COLUMN_TEXT, .right = true }, NARROW },
		{ { "period", "Period", COLUMN_TEXT, .right = true }, 0 },
		{ { "cutoff", "Cutoff", COLUMN_TEXT }, 0 },
		{ { "samples", "In samples", COLUMN_TEXT }, WIDE },
	};
	struct column columns[sizeof all / sizeof *all];
	size_t n = 0;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (style->width >= all[i].from)
			columns[n++] = all[i].column;
	return table_new(columns, n);
}

/* Whether a daemon has a cutoff for short programs and none for longer ones. */
static bool lacks_long(const struct study *s)
{
	for (size_t i = 0; i < s->cutoffs.count; i++) {
		const struct cutoff *c = &s->cutoffs.items[i];
		if (c->below_ns &&
		    !cutoff_find(s->cutoffs.items, s->cutoffs.count, c->daemon, c->below_ns))
			return true;
	}
	return false;
}

static void put_daemons(const struct study *s, const struct daemons_style *style,
			struct strbuf *out)
{
	bool uncertain = false;
	struct strbuf text = { 0 };
	struct table *t = daemons_table(style);
	for (size_t i = 0; i < s->daemons.count; i++) {
		const struct study_daemon *d = &s->daemons.items[i];
		if (!is_long_running(d))
			continue;
		uncertain |= d->period.found && d->period.uncertain;
		add_daemon(t, s, d, style);
	}
	put_heading("Long-running daemons, process time in a sample", style, out);
	render(t, style, out);
	strbuf_printf(&text,
		      "Usual: the most in the cluster%s. Long: the least of the long-running ones. "
		      "A sample with more than the cutoff is dropped; %s and < say for programs of "
		      "which elapsed time.",
		      style->width < NARROW ? ""
		      : style->ascii	    ? ", with its sigma"
					    : ", with its σ",
		      style->ascii ? ">=" : "≥");
	if (uncertain)
		strbuf_puts(&text, " ?: a period that rests on two occurrences.");
	if (lacks_long(s) && !s->runs[STUDY_LONG].present)
		strbuf_puts(&text, " What holds for longer programs a long run would tell.");
	put_text(strbuf_text(&text), style, out);
	strbuf_release(&text);
}

/* ---- the others ---- */

static uint64_t usual_ns(const struct study_daemon *d)
{
	uint64_t a = d->seen[STUDY_SHORT].cluster_max_ns, b = d->seen[STUDY_LONG].cluster_max_ns;
	return a > b ? a : b;
}

static int compare_usual(const void *a, const void *b)
{
	const struct study_daemon *x = *(const struct study_daemon *const *)a;
	const struct study_daemon *y = *(const struct study_daemon *const *)b;
	if (usual_ns(x) != usual_ns(y))
		return usual_ns(x) > usual_ns(y) ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void put_others(const struct study *s, const struct daemons_style *style, struct strbuf *out)
{
	ARRAY(const struct study_daemon *) others = { 0 };
	struct strbuf text = { 0 };
	for (size_t i = 0; i < s->daemons.count; i++)
		if (!is_long_running(&s->daemons.items[i]))
			array_push(&others, &s->daemons.items[i]);
	if (!others.count)
		return;
	qsort(others.items, others.count, sizeof *others.items, compare_usual);
	for (size_t i = 0; i < others.count && i < MOST_SEEN; i++) {
		char time[WORDS];
		format_ns((double)usual_ns(others.items[i]), time);
		strbuf_printf(&text, "%s%s (%s%s)", i ? ", " : "", others.items[i]->name,
			      i ? "" : "at most ", time);
	}
	if (others.count > MOST_SEEN)
		strbuf_printf(&text, " and %zu more", others.count - MOST_SEEN);
	strbuf_putc(out, '\n');
	put_paragraph(out,
		      &(struct paragraph){ .width = style->width,
					   .indent = 2,
					   .first = "Seen, but not long-running: " },
		      strbuf_text(&text));
	strbuf_release(&text);
	array_release(&others);
}

void daemons_text(const struct study *s, const struct machine *machine,
		  const struct daemons_style *given, struct strbuf *out)
{
	struct daemons_style style = daemons_normal_style(given);
	size_t from = out->length;
	put_title(s, machine, &style, out);
	if (runs_present(s))
		put_runs(s, &style, out);
	put_words(s, &style, out);
	if (count_long_running(s))
		put_daemons(s, &style, out);
	else if (runs_present(s))
		put_none(s, &style, out);
	put_others(s, &style, out);
	put_daemons_zooms(s, &style, out);
	daemons_finish(&style, out, from);
}
