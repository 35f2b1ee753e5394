/* `--ledger`: the causes with their names, the subject's processes or threads, who else ran, and
 * what tare itself cost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/time/ledger.h"
#include "report/time/several.h"

#define MOST_ROWS 10	/* of processes, threads and others: the rest did less */
#define MOST_NAMES 5	/* beneath a cause */
#define WIDE 96		/* columns from which on a thread's interrupts have one */
#define NAME_SHARE 1e-4 /* of the threads' time: a name with less is not worth a line */

static void put_more(size_t more, const char *what, struct strbuf *out)
{
	if (more)
		strbuf_printf(out, "and %zu more %s%s\n", more, what, more == 1 ? "" : "s");
}

#define MOST_COLUMNS 8

/* Its durations in the unit asked for. */
static struct table *new_table(const struct column *columns, size_t count,
			       const struct style *style)
{
	struct column own[MOST_COLUMNS];
	for (size_t i = 0; i < count; i++) {
		own[i] = columns[i];
		own[i].unit = (int)style->unit;
	}
	return table_new(own, count);
}

/* The sums of one kind lie together. */
static const struct ledger_sum *sums_of(const struct ledger_sums *s, enum sum_kind kind,
					size_t *count)
{
	size_t first = 0, n = 0;
	while (first < s->list.count && s->list.items[first].kind != kind)
		first++;
	while (first + n < s->list.count && s->list.items[first + n].kind == kind)
		n++;
	*count = n;
	return n ? &s->list.items[first] : NULL;
}

/* ---- causes ---- */

static void add_count(struct table *t, double mean)
{
	char text[32];
	if (isnan(mean)) {
		table_add_text(t, "");
		return;
	}
	snprintf(text, sizeof text,
		 mean > 0 && mean < 9.95 && mean != floor(mean) ? "%.1f" : "%.0f", mean);
	table_add_text(t, text);
}

/* A cause has its part of the elapsed time and that of the threads; a name is known by thread only,
 * which is the same for one thread. */
static void add_row(const struct ledger_sums *s, struct table *t, const char *cause,
		    const char *name, const double ns[2], double count, uint64_t worst_ns,
		    uint32_t worst)
{
	double n = (double)s->n;
	table_add_text(t, cause);
	table_add_text(t, name);
	table_add_number(t, ns[0] / n);
	table_add_number(t, ns[0] / (double)s->wall_total_ns);
	table_add_number(t, s->threads ? ns[1] / n : NAN);
	add_count(t, count / n);
	worst = s->n > 1 ? worst : 0;
	table_add_number(t, worst ? (double)worst_ns : NAN);
	if (worst)
		table_add_count(t, worst);
	else
		table_add_absent(t);
}

static void add_names(const struct ledger_sums *s, struct table *t, enum ledger_cause c)
{
	size_t count, shown = 0;
	const struct ledger_sum *sums = sums_of(s, SUM_ENTRY, &count);
	double least = NAME_SHARE * (double)ledger_account_sum(&s->subject);
	uint64_t user = c == LEDGER_RUN ? ledger_account_user_ns(&s->subject) : UINT64_MAX;
	for (int kernel = 0; kernel < 2 && user != UINT64_MAX; kernel++) {
		double part = (double)(kernel ? s->subject.ns[LEDGER_RUN] - user : user);
		double ns[2] = { s->threads ? NAN : part, part };
		add_row(s, t, "", kernel ? "kernel (sampled)" : "user (sampled)", ns, NAN, 0, 0);
	}
	if (c == LEDGER_RUN && s->slower_ns > least) {
		double ns[2] = { s->threads ? NAN : s->slower_ns, s->slower_ns };
		add_row(s, t, "", "slower CPU (estimated)", ns, NAN, 0, 0);
	}
	for (size_t i = 0; i < count && shown < MOST_NAMES; i++) {
		const struct ledger_sum *sum = &sums[i];
		char name[96];
		double ns[2] = { s->threads ? NAN : (double)sum->ns, (double)sum->ns };
		if (sum->cause != c || !*sum->name || (double)sum->ns <= least)
			continue;
		snprintf(name, sizeof name, sum->pid ? "%s (pid %d)" : "%s", sum->name, sum->pid);
		add_row(s, t, "", name, ns, (double)sum->count, sum->worst_ns, sum->worst);
		shown++;
	}
}

static void put_causes(const struct ledger_sums *s, const struct style *style, struct strbuf *out)
{
	const struct column columns[] = {
		{ "cause", "Cause", COLUMN_TEXT },
		{ "name", "Name", COLUMN_TEXT },
		{ "wall", s->threads ? "Elapsed" : "Time", COLUMN_DURATION, .digits = 3 },
		{ "share", "Share", COLUMN_PERCENT },
		{ "threads", "Threads", COLUMN_DURATION, .digits = 3, .if_any = true },
		{ "count", "Count", COLUMN_TEXT, .right = true },
		{ "worst", "Worst", COLUMN_DURATION, .digits = 3, .if_any = true },
		{ "execution", "#", COLUMN_COUNT, .if_any = true },
	};
	struct table *t = new_table(columns, sizeof columns / sizeof *columns, style);
	bool told[LEDGER_CAUSES] = { false };
	for (;;) {
		enum ledger_cause next = LEDGER_CAUSES;
		for (enum ledger_cause c = 0; c < LEDGER_CAUSES; c++)
			if (!told[c] && (s->wall_ns[c] || s->subject.ns[c]) &&
			    (next == LEDGER_CAUSES || s->wall_ns[c] > s->wall_ns[next]))
				next = c;
		if (next == LEDGER_CAUSES)
			break;
		told[next] = true;
		double ns[2] = { (double)s->wall_ns[next], (double)s->subject.ns[next] };
		add_row(s, t, ledger_causes[next].name, "", ns, (double)s->subject.count[next],
			s->worst_ns[next], s->worst[next]);
		add_names(s, t, next);
	}
	table_put(t, style, out);
	if (!s->threads)
		return;
	put_wrapped(out, style, "", 0,
		    "Elapsed: when anything of it ran, or else what all of it waited for. "
		    "Threads: summed over them, as are names and counts.%s",
		    s->n > 1 ? " Worst: of a cause elapsed, of a name summed." : "");
}

/* ---- processes, threads, others ---- */

static void put_processes(const struct ledger_sums *s, const struct style *style,
			  struct strbuf *out)
{
	static const struct column columns[] = {
		{ "name", "Process", COLUMN_TEXT },
		{ "processes", "Of them", COLUMN_TEXT, .right = true },
		{ "threads", "Threads", COLUMN_TEXT, .right = true },
		{ "on_cpu", "On CPU", COLUMN_DURATION, .digits = 3 },
		{ "run", "Run", COLUMN_DURATION, .digits = 3 },
		{ "queued", "Queued", COLUMN_DURATION, .digits = 3 },
		{ "waited", "Waited", COLUMN_DURATION, .digits = 3 },
	};
	size_t count;
	const struct ledger_sum *sums = sums_of(s, SUM_PROCESS, &count);
	if (!count || (count == 1 && sums->count == s->n))
		return;
	struct table *t = new_table(columns, sizeof columns / sizeof *columns, style);
	for (size_t i = 0; i < count && i < MOST_ROWS; i++) {
		const struct ledger_sum *p = &sums[i];
		double n = (double)s->n, all = (double)ledger_account_sum(&p->account);
		double queued = (double)p->account.ns[LEDGER_QUEUED];
		table_add_text(t, p->name);
		add_count(t, (double)p->processes / n);
		add_count(t, (double)p->count / n);
		table_add_number(t, (double)p->ns / n);
		table_add_number(t, (double)p->account.ns[LEDGER_RUN] / n);
		table_add_number(t, queued / n);
		table_add_number(t, (all - (double)p->ns - queued) / n);
	}
	strbuf_puts(out, "\nThe subject's processes\n");
	table_put(t, style, out);
	put_more(count > MOST_ROWS ? count - MOST_ROWS : 0, "name", out);
}

struct ranked_thread {
	uint64_t on_cpu;
	size_t index;
};

static int compare_threads(const void *a, const void *b)
{
	const struct ranked_thread *x = a, *y = b;
	return ORDER(y->on_cpu, x->on_cpu) ?: ORDER(x->index, y->index);
}

/* What it waited for most, off the CPU and not for one: "futex 12.3 ms". */
static void add_wait(struct table *t, const struct ledger *l, size_t thread,
		     const struct style *style)
{
	const struct ledger_account *a = &l->threads.items[thread].account;
	enum ledger_cause most = LEDGER_WAKING;
	char text[WORDS + 128], time[WORDS];
	const char *name = "";
	uint64_t best = 0;
	for (enum ledger_cause c = LEDGER_WAKING; c < LEDGER_CAUSES; c++)
		if (a->ns[c] > a->ns[most])
			most = c;
	if (!a->ns[most]) {
		table_add_text(t, "");
		return;
	}
	array_each(e, &l->details) {
		if (e->thread == thread && e->cause == most && e->ns > best) {
			best = e->ns;
			name = e->name;
		}
	}
	format_duration((double)a->ns[most], 3, style->unit, time);
	snprintf(text, sizeof text, "%s %s%s%s", ledger_causes[most].name, time, *name ? " " : "",
		 name);
	table_add_text(t, text);
}

static void put_threads(const struct ledger *l, const struct style *style, struct strbuf *out)
{
	static const struct column columns[] = {
		{ "name", "Thread", COLUMN_TEXT },
		{ "tid", "Tid", COLUMN_COUNT },
		{ "pid", "Pid", COLUMN_COUNT },
		{ "life", "Life", COLUMN_DURATION, .digits = 3 },
		{ "run", "Run", COLUMN_DURATION, .digits = 3 },
		{ "interrupted", "Irq, steal", COLUMN_DURATION, .digits = 3, .from = WIDE },
		{ "queued", "Queued", COLUMN_DURATION, .digits = 3 },
		{ "wait", "Waited most", COLUMN_TEXT },
	};
	size_t count = l->threads.count;
	if (!count)
		return;
	struct ranked_thread *ranked = xcalloc(count, sizeof *ranked);
	for (size_t i = 0; i < count; i++)
		ranked[i] = (struct ranked_thread){
			ledger_account_on_cpu_ns(&l->threads.items[i].account), i
		};
	qsort(ranked, count, sizeof *ranked, compare_threads);
	struct table *t = new_table(columns, sizeof columns / sizeof *columns, style);
	for (size_t i = 0; i < count && i < 2 * MOST_ROWS; i++) {
		const struct ledger_thread *th = &l->threads.items[ranked[i].index];
		table_add_text(t, th->name);
		table_add_count(t, th->tid);
		table_add_count(t, th->tgid);
		table_add_number(t, (double)(th->end_ns - th->begin_ns));
		table_add_number(t, (double)th->account.ns[LEDGER_RUN]);
		table_add_number(t, (double)(ranked[i].on_cpu - th->account.ns[LEDGER_RUN]));
		table_add_number(t, (double)th->account.ns[LEDGER_QUEUED]);
		add_wait(t, l, ranked[i].index, style);
	}
	strbuf_puts(out, "\nThe subject's threads\n");
	table_put(t, style, out);
	put_more((count > 2 * MOST_ROWS ? count - 2 * MOST_ROWS : 0) + l->unlisted, "thread", out);
	xfree(ranked);
}

static void put_others(const struct ledger_sums *s, const struct style *style, struct strbuf *out)
{
	static const struct column columns[] = {
		{ "name", "Process", COLUMN_TEXT },
		{ "delayed", "Delayed it", COLUMN_DURATION, .digits = 3 },
		{ "io_delayed", "Its I/O", COLUMN_DURATION, .digits = 3 },
		{ "on_cpu", "On CPU", COLUMN_DURATION, .digits = 3 },
		{ "bursts", "Bursts", COLUMN_TEXT, .right = true },
		{ "longest", "Longest", COLUMN_DURATION, .digits = 3 },
	};
	size_t count;
	const struct ledger_sum *sums = sums_of(s, SUM_OTHER, &count);
	if (!count)
		return;
	struct table *t = new_table(columns, sizeof columns / sizeof *columns, style);
	for (size_t i = 0; i < count && i < MOST_ROWS; i++) {
		const struct ledger_sum *o = &sums[i];
		char name[64];
		double n = (double)s->n;
		if (o->pid && !o->self)
			snprintf(name, sizeof name, "%s (pid %d)", o->name, o->pid);
		else
			snprintf(name, sizeof name, "%s%s", o->name, o->self ? " (itself)" : "");
		table_add_text(t, name);
		table_add_number(t, o->delayed_ns ? (double)o->delayed_ns / n : NAN);
		table_add_number(t, o->io_delayed_ns ? (double)o->io_delayed_ns / n : NAN);
		table_add_number(t, (double)o->ns / n);
		add_count(t, (double)o->count / n);
		table_add_number(t, (double)o->longest_ns);
	}
	strbuf_puts(out, "\nOthers that ran meanwhile\n");
	table_put(t, style, out);
	put_more(count > MOST_ROWS ? count - MOST_ROWS : 0, "name", out);
	if (s->threads)
		put_wrapped(out, style, "", 0, "Delays are summed over the subject's threads.");
}

static void put_cost(const struct ledger_sums *s, const struct style *style, struct strbuf *out)
{
	double n = (double)s->n, events = 0;
	char cost[WORDS], each[WORDS], subject[WORDS], share[WORDS], self[WORDS];
	for (int e = 0; e < LEDGER_EVENTS; e++)
		events += (double)s->events[e];
	format_duration(s->cost_ns / n, 3, style->unit, cost);
	format_duration(events > 0 ? s->cost_ns / events : 0, 3, TIME_UNIT_NANOSECOND, each);
	format_duration(s->subject_cost_ns / n, 3, style->unit, subject);
	format_percent(s->subject_cost_ns / (double)s->wall_total_ns, share);
	struct strbuf own = { 0 };
	if (s->self_ns != ABSENT_NS) {
		format_duration((double)s->self_ns / n, 3, style->unit, self);
		strbuf_printf(&own, "; tare itself used %s of CPU meanwhile", self);
	}
	strbuf_putc(out, '\n');
	put_wrapped(out, style, "tare's own cost: ", 2,
		    "%.0f events of %s: %s on the whole machine, %s (%s of the elapsed time) "
		    "where the subject ran%s. Nothing is taken off for it.",
		    events / n, each, cost, subject, share, strbuf_text(&own));
	strbuf_release(&own);
}

static void put_title(const struct run_view *view, size_t only, const struct ledger_sums *s,
		      const struct style *style, struct strbuf *out)
{
	struct strbuf text = { 0 };
	char et[WORDS];
	if (view->run->id > 0)
		strbuf_printf(&text, "Ledger of run %lld, ", (long long)view->run->id);
	else
		strbuf_puts(&text, "Ledger, ");
	format_duration((double)s->et_ns / (double)s->n, 4, style->unit, et);
	if (only == LEDGER_OF_KEPT)
		strbuf_printf(&text, "%s%zu execution%s, %s", s->n == 1 ? "" : "mean of ", s->n,
			      s->n == 1 ? "" : "s", et);
	else
		strbuf_printf(&text, "%s %u, %s",
			      view->executions[only].warmup ? "warm-up" : "execution",
			      view->executions[only].number, et);
	strbuf_printf(&text, ": %s", run_title(view->run));
	put_headline(out, style->width, style->colour, strbuf_text(&text));
	strbuf_release(&text);
}

bool time_ledger(const struct run_view *view, size_t only, const struct style *given,
		 struct strbuf *out)
{
	struct style style = style_normal(given);
	const struct run *run = view->run;
	struct ledger_sums s;
	ledger_sums_of(view, only, &s);
	bool any = s.n > 0;
	if (any) {
		struct strbuf note = { 0 };
		put_title(view, only, &s, &style, out);
		put_causes(&s, &style, out);
		put_ledger_note(&s, false, &note);
		if (run->shell && run->shell_et_ns && run->shell_et_ns != ABSENT_NS)
			strbuf_printf(&note, "%sthe shell (%s) is in the ledger, not taken off",
				      note.length ? "; " : "", run->shell);
		if (note.length)
			put_wrapped(out, &style, "Note: ", 2, "%s", strbuf_text(&note));
		strbuf_release(&note);
		put_processes(&s, &style, out);
		if (only != LEDGER_OF_KEPT)
			put_threads(&view->executions[only].ledger, &style, out);
		put_others(&s, &style, out);
		put_cost(&s, &style, out);
	}
	ledger_sums_release(&s);
	return any;
}
