/* The block of one run, in the order of what is asked first: how long, how sure, what was left out,
 * what else ran, and what to mistrust. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/chart/chart.h"
#include "report/core/rows.h"
#include "report/time/counters.h"
#include "report/time/ledger.h"
#include "report/time/parts.h"
#include "report/time/several.h"
#include "report/time/shares.h"
#include "report/time/speed.h"
#include "stats/bins.h"

#define MOST_BINS 40 /* columns that a histogram has */

/* One character a bin, its height the bin's count. */
static void put_histogram(const struct run_view *view, enum emp_measure m,
			  const struct style *style, struct row *row)
{
	size_t counts[MOST_BINS] = { 0 }, n = 0;
	double *values = emp_values(view->run, view->executions, view->result, m, &n);
	qsort(values, n, sizeof *values, chart_by_value);
	const double low = values[0], high = values[n - 1];
	size_t bins = bins_of(values, n, low, high, MOST_BINS);
	bins_count(values, n, low, high, bins, counts);
	struct strbuf bars = { 0 };
	put_spark(counts, bins, style->ascii, &bars);
	snprintf(row->left, sizeof row->left, "%s", strbuf_text(&bars));
	strbuf_release(&bars);
	free(values);
}

/* Of n: with less, the dependence between executions is worth a line. */
#define TELLING 0.5

static void mean_row(const struct summary *s, const struct scale *scale, struct row *row)
{
	char a[WORDS], b[WORDS];
	format_time(s->mean, scale, a);
	if (s->n < 2) {
		snprintf(row->left, sizeof row->left, "%.70s", a);
		return;
	}
	format_time(s->stddev, scale, b);
	snprintf(row->left, sizeof row->left, "%.70s ± %.70s", a, b);
	if (s->error.too_few) {
		snprintf(row->right, sizeof row->right, "too few: about %zu needed",
			 s->error.needed);
		return;
	}
	format_figure(s->ci_low, scale, a);
	format_figure(s->ci_high, scale, b);
	snprintf(row->right, sizeof row->right, "95%% [%.60s, %.60s] %s", a, b, scale->unit);
}

static void measure_rows(const struct run_view *view, enum emp_measure m, const struct style *style,
			 struct rows *rows)
{
	const struct emp_result *r = view->result;
	const struct summary *s = &r->kept[m];
	/* PT stands in ET's unit, so that the two compare at a glance, unless it is far smaller */
	enum time_unit et = natural_unit(r->kept[EMP_ET].mean), unit = style->unit;
	char label[WORDS], a[WORDS], b[WORDS];
	if (!r->present[m] || !s->n)
		return;
	if (unit == TIME_UNIT_AUTO)
		unit = s->mean >= 0.1 * scale_for(0, et).ns ? et : natural_unit(s->mean);
	snprintf(label, sizeof label, "  %s", measure_title(m));
	label[2] = (char)(label[2] - 'a' + 'A');
	struct scale scale = scale_of_summary(s, unit);
	struct row *row = rows_add(rows, label);
	row->colour = m == r->shown ? GREEN : NULL;
	/* unknown is not zero */
	if (s->max <= 0) {
		row->spans = true;
		snprintf(row->left, sizeof row->left, "%s",
			 view->run->shell ? "not above the shell's own" : "too short to tell");
		return;
	}
	mean_row(s, &scale, row);
	if (s->n > 1) {
		format_percent(s->relative_error, a);
		snprintf(label, sizeof label, "    σ/mean %.100s", a);
		row = rows_add(rows, label);
		format_figure(s->median, &scale, a);
		format_figure(s->mad, &scale, b);
		snprintf(row->left, sizeof row->left, "median %.60s ± %.60s %s", a, b, scale.unit);
		format_figure(s->min, &scale, a);
		format_figure(s->max, &scale, b);
		snprintf(row->right, sizeof row->right, "range %.60s … %.60s %s", a, b, scale.unit);
	}
	if (!s->error.too_few && s->error.effective < TELLING * (double)s->n) {
		row = rows_add(rows, "    dependent");
		row->spans = true;
		snprintf(row->left, sizeof row->left,
			 "%zu executions tell as much as %.0f independent ones", s->n,
			 s->error.effective);
	}
	if (r->dropped[EMP_CUTOFF] || r->dropped[EMP_OUTSIDE]) {
		scale = scale_of_summary(&r->unfiltered[m], unit);
		mean_row(&r->unfiltered[m], &scale,
			 rows_add(rows, !r->dropped[EMP_CUTOFF]	   ? "    without rule II"
					: !r->dropped[EMP_OUTSIDE] ? "    without rule I"
								   : "    without rules I, II"));
	}
	if (s->n >= 5 && s->max > s->min) {
		row = rows_add(rows, "");
		row->spans = true;
		put_histogram(view, m, style, row);
	}
}

static void put_figures(const struct run_view *view, const struct style *style, struct strbuf *out)
{
	const struct emp_result *r = view->result;
	struct rows rows = { 0 };
	const enum emp_measure order[] = { r->shown, r->lead, r->headline, EMP_ET };
	unsigned put = 0;
	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		if (!(put >> order[i] & 1))
			measure_rows(view, order[i], style, &rows);
		put |= 1u << order[i];
	}
	if (r->kept[r->headline].n && r->kept[r->headline].max <= 0) {
		; /* there is nothing to divide */
	} else if (r->present[EMP_USER] && r->present[EMP_SYSTEM] && r->kept[EMP_USER].n) {
		struct row *row = rows_add(&rows, "  User, system");
		char a[WORDS], b[WORDS];
		format_duration(r->kept[EMP_USER].mean, 3, style->unit, a);
		format_duration(r->kept[EMP_SYSTEM].mean, 3, style->unit, b);
		snprintf(row->left, sizeof row->left, "%.70s, %.70s", a, b);
	} else if (r->headline != EMP_ET && isnan(r->user_share)) {
		struct row *row = rows_add(&rows, "  User, system");
		row->spans = true;
		snprintf(row->left, sizeof row->left, "not known: no tick was seen");
	}
	rows_put(&rows, style, out);
}

static bool is_kept(const struct run_view *view, size_t i)
{
	return i < view->result->count && view->result->verdicts[i].rule == EMP_KEPT;
}

static void put_range(struct strbuf *out, uint32_t low, uint32_t high, const char *one,
		      const char *many)
{
	if (low == high)
		strbuf_printf(out, "%u %s", low, low == 1 ? one : many);
	else
		strbuf_printf(out, "%u … %u %s", low, high, many);
}

static void put_subject(const struct run_view *view, const struct style *style, struct strbuf *out)
{
	uint32_t processes[2] = { UINT32_MAX, 0 }, threads[2] = { UINT32_MAX, 0 };
	uint64_t rss = 0;
	for (size_t i = 0; i < view->count; i++) {
		const struct totals *t = &view->executions[i].totals;
		if (!is_kept(view, i))
			continue;
		processes[0] = t->processes < processes[0] ? t->processes : processes[0];
		processes[1] = t->processes > processes[1] ? t->processes : processes[1];
		threads[0] = t->threads < threads[0] ? t->threads : threads[0];
		threads[1] = t->threads > threads[1] ? t->threads : threads[1];
		rss = t->rss_peak_bytes > rss ? t->rss_peak_bytes : rss;
	}
	struct strbuf text = { 0 };
	/* the plain back end sees the first process only */
	if (processes[1] && view->run->backend != BACKEND_PLAIN) {
		put_range(&text, processes[0], processes[1], "process", "processes");
		strbuf_puts(&text, ", ");
		put_range(&text, threads[0], threads[1], "thread", "threads");
	}
	if (rss) {
		char bytes[WORDS];
		text_bytes((double)rss, bytes, sizeof bytes);
		strbuf_printf(&text, "%s%s at most", text.length ? ", " : "", bytes);
	}
	put_labelled_text(out, style, "  Subject", NULL, &text);
}

/* The mean of a measure over the kept executions; NAN unless every one of them has it. */
static double kept_mean(const struct run_view *view, enum task_measure m)
{
	double sum = 0;
	size_t n = 0;
	for (size_t i = 0; i < view->count; i++) {
		const struct totals *t = &view->executions[i].totals;
		if (!is_kept(view, i))
			continue;
		if (!(t->present >> m & 1))
			return NAN;
		sum += (double)t->value[m];
		n++;
	}
	return n ? sum / (double)n : NAN;
}

static void put_count(struct strbuf *out, double mean, const char *one, const char *many)
{
	double n = round(mean);
	if (n >= 1)
		strbuf_printf(out, "%s%.0f %s", out->length ? ", " : "", n, n == 1 ? one : many);
}

/* Only what is worth a look: a wait of 1 % of what the tree was ready for, a page read from disk.
 * The waits are of every task of the tree, so the elapsed time is no measure for them. */
static void put_delays(const struct run_view *view, const struct style *style, struct strbuf *out)
{
	struct strbuf text = { 0 };
	char time[WORDS], share[WORDS];
	double delay = kept_mean(view, TASK_RUN_DELAY), block = kept_mean(view, TASK_BLKIO_DELAY);
	double ready = kept_mean(view, TASK_EXEC) + delay;
	struct ledger_sums s;
	/* of the time its threads waited for a CPU, what they had it themselves */
	ledger_sums_of(view, LEDGER_OF_KEPT, &s);
	array_each(sum, &s.list)
		if (sum->kind == SUM_ENTRY && sum->cause == LEDGER_QUEUED &&
		    !strcmp(sum->name, "itself"))
			delay = fmax(delay - (double)sum->ns / (double)view->result->kept[EMP_ET].n,
				     0);
	ledger_sums_release(&s);
	if (ready > 0 && delay > 0.01 * ready) {
		format_duration(delay, 3, style->unit, time);
		format_percent(delay / ready, share);
		strbuf_printf(&text, "%s waiting for a CPU (%s of its time on or for one)", time,
			      share);
		put_count(&text, kept_mean(view, TASK_NIVCSW), "forced switch", "forced switches");
	}
	if (block > 0 && !(block <= 0.01 * (ready + block))) {
		format_duration(block, 3, style->unit, time);
		strbuf_printf(&text, "%s%s waiting for block I/O", text.length ? ", " : "", time);
	}
	put_count(&text, kept_mean(view, TASK_MAJ_FLT), "major fault", "major faults");
	put_labelled_text(out, style, "  Held up", NULL, &text);
}

/* By the ledgers: what others had of the CPUs within the executions, to the ns. False when one of
 * them has no ledger. */
static bool put_others(const struct run_view *view, const struct style *style, struct strbuf *out)
{
	const struct ledger_sum *told[3] = { NULL };
	struct strbuf text = { 0 };
	struct ledger_sums s;
	size_t measured = 0;
	for (size_t i = 0; i < view->count; i++)
		measured += !view->executions[i].warmup;
	ledger_sums_of(view, LEDGER_OF_MEASURED, &s);
	bool all = s.n && s.n == measured;
	for (size_t k = 0; all && k < 3; k++) {
		array_each(o, &s.list)
			if (o->kind == SUM_OTHER && !o->self && o->ns && o != told[0] &&
			    o != told[1] && (!told[k] || o->ns > told[k]->ns))
				told[k] = o;
		if (!told[k])
			break;
		char time[WORDS], share[WORDS];
		format_duration((double)told[k]->ns / (double)s.n, 3, style->unit, time);
		format_percent(s.et_ns ? (double)told[k]->ns / (double)s.et_ns : 0, share);
		strbuf_printf(&text, "%s%s %s (%s)", k ? ", " : "per execution: ", told[k]->name,
			      time, share);
	}
	put_labelled_text(out, style, "  Also ran", NULL, &text);
	ledger_sums_release(&s);
	return all;
}

static void put_daemons(const struct run_view *view, const struct style *style, struct strbuf *out)
{
	if (put_others(view, style, out))
		return;
	struct shares shares;
	struct strbuf text = { 0 };
	size_t shown = 0;
	shares_of(view, &shares);
	for (size_t i = 0; i < shares.list.count && shown < 3; i++) {
		const struct share *s = &shares.list.items[i];
		char time[WORDS], share[WORDS];
		if (s->role != ROLE_DAEMON || !s->exec_ns)
			continue;
		format_duration((double)s->exec_ns / (double)shares.executions, 3, style->unit,
				time);
		format_percent(shares.window_ns ? (double)s->exec_ns / (double)shares.window_ns : 0,
			       share);
		strbuf_printf(&text, "%s%s %s (%s)", shown++ ? ", " : "per execution: ", s->name,
			      time, share);
	}
	put_labelled_text(out, style, "  Also ran", NULL, &text);
	shares_release(&shares);
}

static void put_shell(const struct run_view *view, const struct style *style, struct strbuf *out)
{
	const struct run *run = view->run;
	enum grade grade = (enum grade)(view->result->headline - EMP_PT_NET);
	char et[WORDS], pt[WORDS];
	if (!run->shell || !run->shell_et_ns || run->shell_et_ns == ABSENT_NS)
		return;
	struct strbuf text = { 0 };
	format_duration((double)run->shell_et_ns, 3, style->unit, et);
	strbuf_printf(&text, "%s; its own %s elapsed", run->shell, et);
	if (view->result->headline != EMP_ET && run->shell_pt_ns[grade] != ABSENT_NS) {
		format_duration((double)run->shell_pt_ns[grade], 3, style->unit, pt);
		strbuf_printf(&text, " and %s process time", pt);
	}
	strbuf_puts(&text, " taken off");
	for (size_t i = 0; i < view->count; i++)
		if (view->executions[i].ledger.present) {
			strbuf_puts(&text, ", but of the ledger");
			break;
		}
	put_labelled_text(out, style, "  Shell", NULL, &text);
}

static void put_left_behind(const struct run_view *view, const struct style *style,
			    struct strbuf *out)
{
	size_t in = 0, measured = 0;
	uint64_t ended = 0, lost = 0, ephemeral = 0;
	for (size_t i = 0; i < view->count; i++) {
		const struct execution *x = &view->executions[i];
		if (x->warmup)
			continue;
		measured++;
		in += x->left_behind > 0;
		ended += x->ended;
		lost += x->lost;
		/* with the plain back end those may well be in PT: a warning tells; with bpf they
		 * are others' */
		if (x->ephemeral > 0 && view->run->backend == BACKEND_NETLINK)
			ephemeral += (uint64_t)x->ephemeral;
	}
	struct strbuf text = { 0 };
	if (in) {
		strbuf_printf(&text, "in %zu of %zu execution%s processes outlived the first one",
			      in, measured, measured == 1 ? "" : "s");
		if (ended)
			strbuf_printf(&text, "; tare ended %llu of them",
				      (unsigned long long)ended);
		put_labelled(out, style, "  Left behind", NULL, strbuf_text(&text));
	}
	strbuf_clear(&text);
	if (lost)
		strbuf_printf(&text, "%llu event%s%s", (unsigned long long)lost,
			      lost == 1 ? "" : "s", ephemeral ? ", " : "");
	if (ephemeral)
		strbuf_printf(&text, "%llu task%s that came and went unseen",
			      (unsigned long long)ephemeral, ephemeral == 1 ? "" : "s");
	if (text.length) {
		strbuf_puts(&text, "; what they used is missing");
		put_labelled(out, style, "  Lost", YELLOW, strbuf_text(&text));
	}
	strbuf_release(&text);
}

static void put_source(const struct run_view *view, unsigned said, const struct style *style,
		       struct strbuf *out)
{
	static const char *const grades[EMP_MEASURES] = {
		[EMP_ET] = "no process time",
		[EMP_PT_NET] = "process time net of interrupts and steal",
		[EMP_PT_EXEC] = "process time from the scheduler, in ns",
		[EMP_PT_TICK] = "process time sampled at the tick",
	};
	struct strbuf text = { 0 };
	strbuf_printf(&text, "%s back end; %s.", backend_name(view->run->backend),
		      grades[view->result->headline] ? grades[view->result->headline] : "");
	if (said & TIME_NOT_SEEN_SAID && view->run->not_seen)
		strbuf_puts(&text, " Not seen: as above.");
	else if (view->run->not_seen && *view->run->not_seen)
		strbuf_printf(&text, " Not seen: %s", view->run->not_seen);
	put_labelled_text(out, style, "  Seen by", DIM, &text);
}

void time_text_run(const struct run_view *view, size_t number, unsigned said,
		   const struct style *given, struct strbuf *out)
{
	struct style style = style_normal(given);
	const struct emp_result *r = view->result;
	char first[WORDS];
	snprintf(first, sizeof first, "Command %zu: ", number);
	struct paragraph p = { .width = style.width,
			       .indent = 2,
			       .lines = 6,
			       .first = first,
			       .colour = style.colour ? BOLD : NULL };
	put_paragraph(out, &p, run_title(view->run));
	if (view->run->command && strcmp(run_title(view->run), view->run->command) != 0)
		put_labelled(out, &style, "  Command line", NULL, view->run->command);
	if (view->run->tags && *view->run->tags)
		put_labelled(out, &style, "  Tags", NULL, view->run->tags);
	if (r->kept[EMP_ET].n) {
		put_figures(view, &style, out);
		struct ledger_sums s;
		ledger_sums_of(view, LEDGER_OF_KEPT, &s);
		if (s.n && s.wall_total_ns) {
			struct strbuf note = { 0 };
			put_columns(out, "  Ledger", LABEL_COLUMNS);
			put_ledger_line(&s, style.ascii, style.width - LABEL_COLUMNS, LABEL_COLUMNS,
					out);
			strbuf_putc(out, '\n');
			put_ledger_note(&s, said & TIME_LEDGER_SAID, &note);
			if (note.length)
				put_labelled(out, &style, "  Ledger note", DIM, strbuf_text(&note));
			strbuf_release(&note);
		}
		ledger_sums_release(&s);
		put_speed(view, &style, out);
		put_counters(view, &style, out);
		put_subject(view, &style, out);
		put_delays(view, &style, out);
	}
	put_daemons(view, &style, out);
	put_left_behind(view, &style, out);
	put_executions(view, &style, out);
	put_cutoffs(view, &style, out);
	put_emp_version(view, &style, out);
	put_quiet(view, &style, out);
	put_shell(view, &style, out);
	put_source(view, said, &style, out);
	array_each(w, &r->warnings) {
		put_labelled(out, &style, "  Warning", YELLOW, w->text);
		if (*w->remedy)
			put_labelled(out, &style, "", NULL, w->remedy);
	}
}

/* What the kernel does not tell its ledger; "" when nothing, or there is none. */
static const char *ledger_not_seen(const struct run_view *view)
{
	for (size_t i = 0; i < view->count; i++)
		if (view->executions[i].ledger.present)
			return view->executions[i].ledger.not_seen;
	return "";
}

void time_text(const struct run_view *views, size_t count, size_t reference,
	       const struct style *style, struct strbuf *out)
{
	for (size_t i = 0; i < count; i++) {
		const char *before = i ? views[i - 1].run->not_seen : NULL;
		const char *now = views[i].run->not_seen;
		unsigned said = before && now && !strcmp(before, now) ? TIME_NOT_SEEN_SAID : 0;
		if (i && !strcmp(ledger_not_seen(&views[i - 1]), ledger_not_seen(&views[i])))
			said |= TIME_LEDGER_SAID;
		if (i)
			strbuf_putc(out, '\n');
		time_text_run(&views[i], i + 1, said, style, out);
	}
	if (count > 1) {
		strbuf_putc(out, '\n');
		time_text_summary(views, count, reference, style, out);
	}
}
