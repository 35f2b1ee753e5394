#include "report/time/ledger.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/core/format.h"
#include "report/time/speed.h"

#define SMALL 0.001	/* of the ET: below it a cause is part of the rest */
#define NAME_COLUMNS 16 /* of a name in the line */

static struct ledger_sum *add_sum(struct ledger_sums *s, const struct execution *x,
				  const struct ledger_sum *one)
{
	uint32_t key = number_of_pair(&s->keys, (uint64_t)one->kind << 32 | one->cause,
				      number_of_text(&s->names, one->name));
	if (key == s->list.count)
		array_push(&s->list, (struct ledger_sum){ .kind = one->kind,
							  .cause = one->cause,
							  .name = one->name,
							  .pid = one->pid });
	struct ledger_sum *sum = &s->list.items[key];
	if (sum->pid != one->pid)
		sum->pid = 0;
	if (sum->last != s->n) {
		sum->last = s->n;
		sum->current_ns = 0;
	}
	sum->self |= one->self;
	sum->kernel |= one->kernel;
	sum->ns += one->ns;
	sum->count += one->count;
	sum->processes += one->processes;
	sum->delayed_ns += one->delayed_ns;
	sum->io_delayed_ns += one->io_delayed_ns;
	sum->subject_ns += one->subject_ns;
	sum->subject_count += one->subject_count;
	if (one->longest_ns > sum->longest_ns)
		sum->longest_ns = one->longest_ns;
	sum->current_ns += one->ns;
	if (sum->current_ns > sum->worst_ns) {
		sum->worst_ns = sum->current_ns;
		sum->worst = x->number;
	}
	return sum;
}

static void add_processes(struct ledger_sums *s, const struct execution *x)
{
	size_t n, first = 0;
	const struct ledger_thread *threads = x->ledger.threads.items;
	struct ledger_process *list = ledger_processes(&x->ledger, &n);
	for (size_t i = 0; i < n; i++, first++) {
		uint64_t on_cpu = ledger_account_on_cpu_ns(&list[i].account);
		/* both are by begin; the list is freed, its names with it */
		while (threads[first].tgid != list[i].tgid ||
		       threads[first].begin_ns != list[i].begin_ns)
			first++;
		struct ledger_sum one = { .kind = SUM_PROCESS,
					  .name = threads[first].name,
					  .pid = list[i].tgid,
					  .ns = on_cpu,
					  .count = list[i].threads,
					  .processes = 1 };
		ledger_account_add(&add_sum(s, x, &one)->account, &list[i].account);
	}
	xfree(list);
}

static void add_names(struct ledger_sums *s, const struct execution *x)
{
	const struct ledger *l = &x->ledger;
	array_each(e, &l->entries) {
		add_sum(s, x,
			&(struct ledger_sum){ .kind = SUM_ENTRY,
					      .cause = e->cause,
					      .name = e->name,
					      .pid = e->pid,
					      .ns = e->ns,
					      .count = e->count });
	}
	array_each(o, &l->others) {
		add_sum(s, x,
			&(struct ledger_sum){ .kind = SUM_OTHER,
					      .name = o->name,
					      .pid = o->pid,
					      .self = o->self,
					      .kernel = o->kernel,
					      .ns = o->ns,
					      .count = o->bursts,
					      .longest_ns = o->longest_ns,
					      .delayed_ns = o->delayed_ns,
					      .io_delayed_ns = o->io_delayed_ns });
	}
	array_each(v, &l->interrupts) {
		add_sum(s, x,
			&(struct ledger_sum){ .kind = SUM_INTERRUPT,
					      .cause = v->cause,
					      .name = v->name,
					      .ns = v->ns,
					      .count = v->count,
					      .subject_ns = v->subject_ns,
					      .subject_count = v->subject_count });
	}
	add_processes(s, x);
}

static void add_execution(struct ledger_sums *s, const struct execution *x)
{
	const struct ledger *l = &x->ledger;
	s->n++;
	s->et_ns += x->et_ns;
	for (enum ledger_cause c = 0; c < LEDGER_CAUSES; c++) {
		s->wall_ns[c] += l->wall_ns[c];
		s->wall_total_ns += l->wall_ns[c];
		if (l->wall_ns[c] > s->worst_ns[c]) {
			s->worst_ns[c] = l->wall_ns[c];
			s->worst[c] = x->number;
		}
	}
	ledger_account_add(&s->subject, &l->subject);
	s->threads |= x->totals.threads > 1 || l->threads.count > 1 || l->unlisted;
	for (int e = 0; e < LEDGER_EVENTS; e++)
		s->events[e] += l->events[e];
	s->subject_events += l->subject_events;
	s->cost_ns += ledger_cost_ns(l);
	s->subject_cost_ns += ledger_subject_cost_ns(l);
	if (x->self_ns == ABSENT_NS || s->self_ns == ABSENT_NS)
		s->self_ns = ABSENT_NS;
	else
		s->self_ns += x->self_ns;
	s->lost += l->lost;
	s->unlisted += l->unlisted;
	if (*l->not_seen)
		s->not_seen = l->not_seen;
	add_names(s, x);
}

static int compare_sums(const void *a, const void *b)
{
	const struct ledger_sum *x = a, *y = b;
	uint64_t p = x->delayed_ns + x->io_delayed_ns, q = y->delayed_ns + y->io_delayed_ns;
	return ORDER(x->kind, y->kind) ?: ORDER(x->cause, y->cause) ?: ORDER(q, p) ?:
	       ORDER(y->ns, x->ns) ?: strcmp(x->name, y->name);
}

static void finish_sums(struct ledger_sums *s)
{
	pair_numbers_release(&s->keys);
	text_numbers_release(&s->names);
	array_sort(&s->list, compare_sums);
}

void ledger_sums_of_executions(const struct execution *const *executions, size_t count,
			       struct ledger_sums *out)
{
	*out = (struct ledger_sums){ .slower_ns = NAN };
	for (size_t i = 0; i < count; i++)
		if (executions[i]->ledger.present)
			add_execution(out, executions[i]);
	finish_sums(out);
}

void ledger_sums_of(const struct run_view *view, size_t only, struct ledger_sums *out)
{
	*out = (struct ledger_sums){ 0 };
	for (size_t i = 0; i < view->count; i++) {
		const struct execution *x = &view->executions[i];
		bool kept = i < view->result->count && view->result->verdicts[i].rule == EMP_KEPT;
		bool wanted = only == LEDGER_OF_KEPT	   ? kept
			      : only == LEDGER_OF_MEASURED ? !x->warmup
							   : i == only;
		if (!x->ledger.present || !wanted)
			continue;
		add_execution(out, x);
		out->slower_ns += speed_slower_ns(view, x);
	}
	finish_sums(out);
}

void ledger_sums_release(struct ledger_sums *s)
{
	array_release(&s->list);
}

/* For the wall view: while all of the subject waits, none of it has a CPU. */
static const struct ledger_sum *top_name(const struct ledger_sums *s, enum ledger_cause cause)
{
	array_each(sum, &s->list) {
		bool itself = cause == LEDGER_QUEUED && !strcmp(sum->name, "itself");
		if (sum->kind == SUM_ENTRY && sum->cause == cause && *sum->name && sum->ns &&
		    !itself)
			return sum;
	}
	return NULL;
}

/* Causes by their part of the wall view, descending. */
static size_t rank_causes(const struct ledger_sums *s, enum ledger_cause ranked[LEDGER_CAUSES])
{
	size_t n = 0;
	for (enum ledger_cause c = 0; c < LEDGER_CAUSES; c++) {
		if ((double)s->wall_ns[c] < SMALL * (double)s->wall_total_ns || !s->wall_ns[c])
			continue;
		size_t at = n++;
		for (; at && s->wall_ns[ranked[at - 1]] < s->wall_ns[c]; at--)
			ranked[at] = ranked[at - 1];
		ranked[at] = c;
	}
	return n;
}

static void put_cause(const struct ledger_sums *s, enum ledger_cause c, bool ascii,
		      struct strbuf *out)
{
	const struct ledger_sum *top = top_name(s, c);
	strbuf_printf(out, "%s %.1f %%", ledger_causes[c].name,
		      100 * (double)s->wall_ns[c] / (double)s->wall_total_ns);
	double slower = c == LEDGER_RUN && !s->threads ? s->slower_ns : NAN;
	if (slower > SMALL * (double)s->wall_total_ns)
		strbuf_printf(out, " (slower CPU ~%.1f %%)",
			      100 * slower / (double)s->wall_total_ns);
	if (!top)
		return;
	char *name = display_copy(top->name);
	strbuf_putc(out, ' ');
	if (ascii && text_width(name) > NAME_COLUMNS)
		strbuf_printf(out, "%.*s", NAME_COLUMNS, name);
	else
		put_fitted(out, name, NAME_COLUMNS);
	xfree(name);
}

/* Adds an item to lines of so many columns, of which `used` are taken in the last; how many lines
 * there are then. */
static size_t put_item(const char *item, const char *dot, size_t columns, size_t indent,
		       size_t *used, size_t lines, struct strbuf *out)
{
	size_t width = text_width(item), gap = *used ? text_width(dot) : 0;
	/* the separator ends a line that is full, and room is left for it */
	if (*used && *used + gap + width + 2 > columns) {
		strbuf_printf(out, "%.*s\n", (int)strlen(dot) - 1, dot);
		strbuf_pad(out, ' ', indent);
		*used = 0;
		gap = 0;
		lines++;
	}
	strbuf_puts(out, gap ? dot : "");
	put_fitted(out, item, columns);
	*used += gap + width;
	return lines;
}

void put_ledger_line(const struct ledger_sums *s, bool ascii, size_t columns, size_t indent,
		     struct strbuf *out)
{
	enum ledger_cause ranked[LEDGER_CAUSES];
	const char *dot = ascii ? ", " : " · ";
	size_t n = s->wall_total_ns ? rank_causes(s, ranked) : 0;
	/* the smallest give way until it fits */
	for (size_t lines = 0; n && lines != 1 && lines != 2; n--) {
		struct strbuf text = { 0 }, item = { 0 };
		size_t used = 0;
		uint64_t told = 0;
		lines = 1;
		for (size_t i = 0; i < n; i++) {
			strbuf_clear(&item);
			put_cause(s, ranked[i], ascii, &item);
			lines = put_item(strbuf_text(&item), dot, columns, indent, &used, lines,
					 &text);
			told += s->wall_ns[ranked[i]];
		}
		double rest = 1 - (double)told / (double)s->wall_total_ns;
		if (rest >= SMALL) {
			strbuf_clear(&item);
			strbuf_printf(&item, "rest %.1f %%", 100 * rest);
			lines = put_item(strbuf_text(&item), dot, columns, indent, &used, lines,
					 &text);
		}
		if (lines <= 2)
			strbuf_puts(out, strbuf_text(&text));
		strbuf_release(&item);
		strbuf_release(&text);
	}
}

void put_ledger_note(const struct ledger_sums *s, bool said, struct strbuf *out)
{
	if (s->not_seen && !said) {
		size_t length = strlen(s->not_seen);
		strbuf_printf(out, "not seen: %.*s",
			      (int)(length - (s->not_seen[length - 1] == '.')), s->not_seen);
	}
	if (s->lost)
		strbuf_printf(
			out,
			"%s%llu fact%s found no room: names or I/O may be missing, time is not",
			out->length ? "; " : "", (unsigned long long)s->lost,
			s->lost == 1 ? "" : "s");
	if (s->unlisted)
		strbuf_printf(out, "%s%llu thread%s not listed one by one", out->length ? "; " : "",
			      (unsigned long long)s->unlisted, s->unlisted == 1 ? "" : "s");
	if (s->wall_total_ns && (double)s->wall_ns[LEDGER_UNSEEN] > 0.01 * (double)s->wall_total_ns)
		strbuf_printf(out, "%s%.1f %% of the time is not accounted for",
			      out->length ? "; " : "",
			      100 * (double)s->wall_ns[LEDGER_UNSEEN] / (double)s->wall_total_ns);
}
