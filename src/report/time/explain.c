#include "report/time/explain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "protocol/emp/counters.h"
#include "report/core/format.h"
#include "report/core/json.h"
#include "report/core/shapes.h"
#include "report/time/several.h"
#include "report/time/speed.h"

#define SMALL 0.01	/* of the difference: below it a cause is part of the remainder */
#define MOST_CAUSES 6	/* told one by one */
#define MOST_NAMES 3	/* of a cause */
#define NAME_SMALL 0.05 /* of a cause: names below it are others */
#define FIGURES 20	/* columns of "  +58.9 ms   96 %  " */

/* With "for longer" or "for less time" in them. */
static const char *const sentences[LEDGER_CAUSES] = {
	[LEDGER_RUN] = "", /* put_run() */
	[LEDGER_IRQ] = "Its CPU served hard interrupts %s",
	[LEDGER_SOFTIRQ] = "Its CPU served soft interrupts %s",
	[LEDGER_NMI] = "Its CPU served non-maskable interrupts %s",
	[LEDGER_STEAL] = "The hypervisor had taken its CPU away %s",
	[LEDGER_QUEUED] = "It was runnable %s while another task had its CPU",
	[LEDGER_WAKING] = "It was runnable %s while its idle CPU was still waking up",
	[LEDGER_THROTTLED] =
		"It was runnable %s while the CPU quota of its control group was used up",
	[LEDGER_IO] = "It was blocked %s on I/O that the device did for it",
	[LEDGER_IO_OTHER] = "It was blocked %s on I/O while the device served others",
	[LEDGER_IO_IDLE] = "It was blocked %s on I/O while the device had nothing to do",
	[LEDGER_FAULT] = "It waited %s for pages from storage",
	[LEDGER_FUTEX] = "It slept %s on a lock or condition of user space",
	[LEDGER_PIPE] = "It slept %s on a pipe",
	[LEDGER_SOCKET] = "It slept %s on a socket",
	[LEDGER_TIMER] = "It slept %s until a time it had set",
	[LEDGER_POLL] = "It slept %s until a file or event was ready",
	[LEDGER_CHILD] = "It slept %s until a child ended",
	[LEDGER_LOCK] = "It was blocked %s in the kernel, on a lock or journal",
	[LEDGER_SLEEP] = "It slept %s on something else",
	[LEDGER_STOPPED] = "It was stopped %s, by a signal, tracer or freezer",
	[LEDGER_UNSEEN] = "It lived %s without being accounted for",
};

/* What is known of the task behind a name, in the execution that has more of it. It may have run
 * where it delayed nobody: bursts longer than the delay say nothing about it. */
static void put_bursts(const struct ledger *l, const struct difference_name *n,
		       const struct style *style, struct strbuf *out)
{
	uint64_t bursts = 0, longest = 0;
	char time[WORDS];
	array_each(o, &l->others) {
		if (strcmp(o->name, n->name) != 0 || (n->pid && o->pid != n->pid))
			continue;
		bursts += o->bursts;
		longest = o->longest_ns > longest ? o->longest_ns : longest;
	}
	double delay = fabs((double)n->ns);
	if (!bursts || (double)longest > delay || (double)bursts * (double)longest < delay)
		return;
	format_duration((double)longest, 2, style->unit, time);
	if (bursts == 1)
		strbuf_printf(out, ", in one burst of %s", time);
	else
		strbuf_printf(out, ", in %llu bursts, the longest %s", (unsigned long long)bursts,
			      time);
}

/* The time only where the cause has other names, too. */
static void put_name(const struct ledger *l, const struct difference_cause *c,
		     const struct difference_name *n, const struct style *style, struct strbuf *out)
{
	bool itself = strcmp(n->name, "itself") == 0;
	strbuf_puts(out, itself ? "another thread of the subject" : n->name);
	if (n->pid && !itself)
		strbuf_printf(out, " (pid %d)", n->pid);
	if ((double)n->ns / (double)c->ns < 1 - NAME_SMALL) {
		char time[WORDS];
		format_duration(fabs((double)n->ns), 3, style->unit, time);
		strbuf_printf(out, " %s", time);
	}
	if (c->cause == LEDGER_QUEUED)
		put_bursts(l, n, style, out);
	else if (c->cause != LEDGER_RUN && c->cause != LEDGER_IO_OTHER && n->count != n->base_count)
		strbuf_printf(out, ", %llu time%s instead of %llu", (unsigned long long)n->count,
			      n->count == 1 ? "" : "s", (unsigned long long)n->base_count);
}

/* "stress (pid 1234) 50.1 ms, in 12 bursts ...; kworker/0:1 8.2 ms; others 0.6 ms" */
static void put_names(const struct ledger *l, const struct difference_cause *c,
		      const struct style *style, struct strbuf *out)
{
	int64_t told = 0;
	size_t shown = 0;
	for (size_t i = 0; i < c->names.count && shown < MOST_NAMES; i++) {
		const struct difference_name *n = &c->names.items[i];
		if (!*n->name || (double)n->ns / (double)c->ns < NAME_SMALL)
			continue;
		strbuf_puts(out, shown++ ? "; " : ": ");
		put_name(l, c, n, style, out);
		told += n->ns;
	}
	double rest = 1 - (double)told / (double)c->ns;
	if (shown && rest >= NAME_SMALL) {
		char time[WORDS];
		format_duration(rest * fabs((double)c->ns), 2, style->unit, time);
		strbuf_printf(out, "; others %s", time);
	}
}

/* What it ran for longer, and why: its own work, or less of it at once. */
static void put_run(const struct run_view *view, const struct execution *x,
		    const struct execution *base, const struct difference_cause *c,
		    const struct style *style, struct strbuf *out)
{
	bool more = c->ns > 0;
	double least = SMALL * fabs((double)c->ns), own = (double)(c->ns - c->unexplained_ns);
	if (fabs((double)c->unexplained_ns) < least) {
		SCOPED(strbuf_release) struct strbuf counted = { 0 };
		strbuf_printf(out, "It ran for %s in its own code", more ? "longer" : "less time");
		emp_counters_explain(x, base, &counted);
		if (counted.length)
			strbuf_printf(out, "; %s", strbuf_text(&counted));
		else if (more && !put_slower_cpu(view, x, base, (double)c->ns, style, out))
			strbuf_puts(out, "; no cause outside it is known (cache, frequency, or its "
					 "own work)");
		return;
	}
	bool crowded = c->names.count && *c->names.items[0].name;
	strbuf_printf(out, "It ran %s in parallel", more ? "less" : "more");
	if (crowded)
		strbuf_printf(out, ": its threads shared a CPU for %s while another task had one",
			      more ? "longer" : "less time");
	if (fabs(own) >= least) {
		char time[WORDS];
		format_duration(fabs(own), 3, style->unit, time);
		strbuf_printf(out, ", and for %s %s in its own code", time,
			      more ? "longer" : "less");
	}
}

static void put_sentence(const struct run_view *view, const struct execution *x,
			 const struct execution *base, const struct difference_cause *c,
			 const struct style *style, struct strbuf *out)
{
	bool more = c->ns > 0;
	const char *how = more ? "for longer" : "for less time", *place = sentences[c->cause];
	const char *at = strstr(place, "%s");
	if (c->cause == LEDGER_RUN)
		put_run(view, x, base, c, style, out);
	else
		strbuf_printf(out, "%.*s%s%s", (int)(at - place), place, how, at + 2);
	/* where it is most of what the cause has: the other threads went on meanwhile */
	if (c->cause != LEDGER_RUN && 2 * fabs((double)c->parallel_ns) > fabs((double)c->ns))
		strbuf_printf(out, ", so that it ran %s in parallel", more ? "less" : "more");
	put_names(more ? &x->ledger : &base->ledger, c, style, out);
	strbuf_putc(out, '.');
}

static const char *sign(double ns, bool ascii)
{
	return ns >= 0 ? "+" : ascii ? "-" : "−";
}

/* "  +58.9 ms   96 %  ", then the text. */
static void put_line(double ns, double of, const char *text, const struct style *style,
		     struct strbuf *out)
{
	char time[WORDS], share[WORDS];
	struct strbuf first = { 0 }, figure = { 0 };
	double percent = of == 0 ? 0 : fabs(ns / of) * 100;
	format_duration(fabs(ns), 3, style->unit, time);
	strbuf_printf(&figure, "  %s%s", sign(ns, style->ascii), time);
	put_columns(&first, strbuf_text(&figure), 12);
	strbuf_clear(&figure);
	snprintf(share, sizeof share, percent < 0.5 ? "<1 %%" : "%.0f %%", percent);
	/* of less than 1 % the direction stands in the figure before */
	bool minus = percent >= 0.5 && ns / of < 0;
	if (of != 0)
		strbuf_printf(&figure, "%s%s", minus ? sign(-1, style->ascii) : "", share);
	size_t width = text_width(strbuf_text(&figure));
	strbuf_pad(&first, ' ', width < 6 ? 6 - width : 0);
	strbuf_printf(&first, "%s  ", strbuf_text(&figure));
	struct paragraph p = { .width = style->width,
			       .indent = FIGURES,
			       .first = strbuf_text(&first) };
	put_paragraph(out, &p, text);
	strbuf_release(&first);
	strbuf_release(&figure);
}

static void put_plain(const char *text, const char *colour, const struct style *style,
		      struct strbuf *out)
{
	struct paragraph p = { .width = style->width,
			       .indent = 2,
			       .first = "",
			       .colour = style->colour ? colour : NULL };
	put_paragraph(out, &p, text);
}

/* "Execution 7 took 412.3 ms, 61.2 ms (17 %) longer than the median execution (3)." */
static void put_head(const struct run_view *view, const struct explanation *e,
		     const struct explained *d, const struct style *style, struct strbuf *out)
{
	const struct execution *x = &view->executions[d->index];
	const struct execution *base = &view->executions[e->base];
	double took = less_shell(x->et_ns, view->run->shell_et_ns);
	double usual = less_shell(base->et_ns, view->run->shell_et_ns);
	char et[WORDS], more[WORDS], share[WORDS] = "";
	format_duration(took, 4, style->unit, et);
	format_duration(fabs((double)d->wall.ns), 3, style->unit, more);
	strbuf_printf(out, "%s %u took %s, ", x->warmup ? "Warm-up" : "Execution", x->number, et);
	if (!d->wall.ns) {
		strbuf_printf(out, "as long as the median execution (%u).", base->number);
		return;
	}
	if (usual > 0)
		format_percent(fabs((double)d->wall.ns) / usual, share);
	strbuf_printf(out, "%s%s%s%s %s than the median execution (%u).", more, *share ? " (" : "",
		      share, *share ? ")" : "", d->wall.ns > 0 ? "longer" : "shorter",
		      base->number);
	if (d->index < view->result->count && view->result->verdicts[d->index].rule == EMP_FAILED)
		strbuf_printf(out, " It failed: %s.", view->result->verdicts[d->index].reason);
}

static void put_lacks(const struct execution *x, const struct execution *base, struct strbuf *out)
{
	const char *not_seen = *x->ledger.not_seen ? x->ledger.not_seen : base->ledger.not_seen;
	uint64_t lost = x->ledger.lost + base->ledger.lost;
	if (*not_seen)
		strbuf_printf(out, "Not seen: %s", not_seen);
	if (*not_seen && not_seen[strlen(not_seen) - 1] != '.')
		strbuf_putc(out, '.');
	if (lost)
		strbuf_printf(out, "%s%llu fact%s found no room: names or I/O may be missing.",
			      out->length ? " " : "", (unsigned long long)lost,
			      lost == 1 ? "" : "s");
}

static void put_notes(const struct run_view *view, const struct explanation *e,
		      const struct explained *d, const struct style *style, struct strbuf *out)
{
	struct strbuf text = { 0 };
	if (d->threads) {
		strbuf_puts(
			&text,
			"It had several threads or processes: it ran when any of them did, and waited "
			"when all did. Summed over them: ");
		size_t before = text.length;
		/* what the threads had more of in sum: a wait of one does not show in the wall view
		 * while another runs */
		size_t shown = 0;
		for (int down = 0; down < 2 && !shown; down++)
			for (size_t i = 0; i < d->account.causes.count && shown < 3; i++) {
				const struct difference_cause *c = &d->account.causes.items[i];
				char time[WORDS];
				if (c->cause == LEDGER_RUN || (c->ns < 0) != down ||
				    fabs((double)c->ns) < SMALL * fabs((double)d->wall.ns))
					continue;
				format_duration(fabs((double)c->ns), 3, style->unit, time);
				strbuf_printf(&text, "%s%s %s %s", shown++ ? ", " : "", time,
					      down ? "less" : "more", ledger_causes[c->cause].name);
				if (c->names.count && *c->names.items[0].name)
					strbuf_printf(&text, " (%s)", c->names.items[0].name);
			}
		strbuf_puts(&text, text.length > before ? "." : "no other difference.");
		put_plain(strbuf_text(&text), NULL, style, out);
		strbuf_clear(&text);
	}
	put_lacks(&view->executions[d->index], &view->executions[e->base], &text);
	if (text.length)
		put_plain(strbuf_text(&text), DIM, style, out);
	strbuf_release(&text);
}

static void put_explained(const struct run_view *view, const struct explanation *e,
			  const struct explained *d, const struct style *style, struct strbuf *out)
{
	const struct execution *x = &view->executions[d->index];
	const struct execution *base = &view->executions[e->base];
	struct strbuf text = { 0 };
	size_t shown = 0;
	int64_t rest = d->wall.ns;
	put_head(view, e, d, style, &text);
	put_plain(strbuf_text(&text), BOLD, style, out);
	/* the largest, whatever their direction, in the order they have */
	int64_t least = 0;
	for (size_t keep = d->wall.causes.count; keep > MOST_CAUSES; keep--) {
		int64_t smallest = INT64_MAX;
		for (size_t i = 0; i < d->wall.causes.count; i++) {
			int64_t size = llabs(d->wall.causes.items[i].ns);
			if (size > least && size < smallest)
				smallest = size;
		}
		least = smallest;
	}
	array_each(c, &d->wall.causes) {
		if (fabs((double)c->ns) < SMALL * fabs((double)d->wall.ns) || llabs(c->ns) < 1000 ||
		    llabs(c->ns) <= least)
			continue;
		strbuf_clear(&text);
		put_sentence(view, x, base, c, style, &text);
		put_line((double)c->ns, (double)d->wall.ns, strbuf_text(&text), style, out);
		rest -= c->ns;
		shown++;
	}
	if (llabs(rest) >= 1000 || (!shown && rest))
		put_line((double)rest, (double)d->wall.ns,
			 shown ? "Everything else." : "No cause stands out.", style, out);
	put_notes(view, e, d, style, out);
	strbuf_release(&text);
}

static void put_overview(const struct run_view *view, const struct explanation *e,
			 const struct style *style, struct strbuf *out)
{
	const struct execution *base = &view->executions[e->base];
	double shell = (double)(view->run->shell_et_ns == ABSENT_NS ? 0 : view->run->shell_et_ns);
	struct strbuf text = { 0 };
	char median[WORDS], limit[WORDS];
	format_duration(less_shell(base->et_ns, view->run->shell_et_ns), 4, style->unit, median);
	format_duration(fmax(e->limit_ns - shell, 0), 4, style->unit, limit);
	if (view->run->id > 0)
		strbuf_printf(&text, "Run %lld: ", (long long)view->run->id);
	strbuf_printf(&text, "%s", run_title(view->run));
	struct paragraph p = { .width = style->width, .indent = 2, .first = "", .lines = 3 };
	put_paragraph(out, &p, strbuf_text(&text));
	strbuf_clear(&text);
	strbuf_printf(&text, "%zu execution%s with a ledger; the median one is %u, %s.",
		      e->compared, e->compared == 1 ? "" : "s", base->number, median);
	bool slow = e->list.count && e->list.items[0].why == EXPLAIN_SLOW;
	bool asked = e->list.count && e->list.items[0].why == EXPLAIN_ASKED;
	if (slow)
		strbuf_printf(&text, " %zu %s slow: elapsed time above %s, or dropped by a rule.",
			      e->list.count, e->list.count == 1 ? "is" : "are", limit);
	else if (!asked && e->list.count)
		strbuf_printf(&text, " None stands out (above %s); this is the slowest.", limit);
	else if (!asked)
		strbuf_puts(&text, " There is nothing to compare it with but itself: "
				   "'tare show --ledger' tells what it spent its time on.");
	put_plain(strbuf_text(&text), NULL, style, out);
	strbuf_release(&text);
}

void explain_text(const struct run_view *view, const struct explanation *e, size_t most,
		  const struct style *given, struct strbuf *out)
{
	struct style style = style_normal(given);
	size_t n = most && e->list.count > most ? most : e->list.count;
	put_overview(view, e, &style, out);
	for (size_t i = 0; i < n; i++) {
		strbuf_putc(out, '\n');
		put_explained(view, e, &e->list.items[i], &style, out);
	}
	if (n < e->list.count)
		strbuf_printf(out, "\nand %zu more: --all tells them\n", e->list.count - n);
}

/* ---- JSON ---- */

/* With the sentences of the text where they are about the wall view. */
static json_t *causes_json(const struct run_view *view, const struct explanation *e,
			   const struct explained *d, const struct difference *of)
{
	json_t *list = json_array();
	array_each(c, &of->causes) {
		json_t *o = json_shape(&explain_thread_shape, c);
		json_object_set_new(
			o, "share",
			json_real_or_null(of->ns ? (double)c->ns / (double)of->ns : NAN));
		if (of == &d->wall) {
			struct strbuf text = { 0 };
			put_sentence(view, &view->executions[d->index], &view->executions[e->base],
				     c, &(struct style){ 0 }, &text);
			json_object_set_new(o, "text", json_text(strbuf_text(&text)));
			strbuf_release(&text);
		}
		json_array_append_new(list, o);
	}
	return list;
}

void explain_json(const struct run_view *view, const struct explanation *e, struct strbuf *out)
{
	json_t *root = json_shape(&explain_shape,
				  &(struct explain_head){ .run = *view->run,
							  .explanation = *e,
							  .median = view->executions[e->base] });
	json_object_set_new(root, "command", json_text(run_title(view->run)));
	json_object_set_new(root, "explained", json_array());
	array_each(d, &e->list) {
		const struct execution *x = &view->executions[d->index];
		struct strbuf text = { 0 }, lacks = { 0 };
		json_t *o = json_shape(&explained_shape, d);
		put_head(view, e, d, &(struct style){ 0 }, &text);
		put_lacks(x, &view->executions[e->base], &lacks);
		json_object_set_new(o, "number", json_integer(x->number));
		json_object_set_new(o, "warmup", json_boolean(x->warmup));
		json_object_set_new(o, "et_ns", json_ns(x->et_ns));
		json_object_set_new(o, "text", json_text(strbuf_text(&text)));
		json_object_set_new(o, "contributions", causes_json(view, e, d, &d->wall));
		if (d->threads)
			json_object_set_new(o, "threads", causes_json(view, e, d, &d->account));
		if (lacks.length)
			json_object_set_new(o, "lacks", json_text(lacks.text));
		json_append(root, "explained", o);
		strbuf_release(&text);
		strbuf_release(&lacks);
	}
	put_json(root, 2, out);
}
