/* Where the time of a query went: its executions' ledgers, by what a DBA would do about it. */
#include <math.h>
#include <string.h>

#include "report/query/rows.h"
#include "report/time/ledger.h"
#include "report/time/shares.h"

#define MOST_NAMES 3
#define NAME_SMALL 0.02 /* of a group: a name with less is not worth a word */
#define MOST_OTHERS 5
#define WORTH_SAYING 0.01
#define WORTH_A_ROW 0.0001

struct group {
	const char *title; /* of its row */
	const char *verb;  /* "it ... 12 %" */
	uint32_t causes;   /* bits */
};

#define CAUSE(name) (1u << LEDGER_##name)

/* Every cause is in one of them. */
static const struct group groups[] = {
	{ "CPU", "computed", CAUSE(RUN) },
	{ "own I/O", "waited for its own I/O", CAUSE(IO) | CAUSE(FAULT) },
	{ "others' I/O", "waited for the I/O of others", CAUSE(IO_OTHER) },
	{ "I/O, device idle", "was blocked on I/O with no request at the device", CAUSE(IO_IDLE) },
	{ "locks", "waited for locks", CAUSE(FUTEX) | CAUSE(LOCK) },
	{ "client, sockets", "waited for its client or another process",
	  CAUSE(SOCKET) | CAUSE(PIPE) | CAUSE(POLL) },
	{ "waiting for a CPU", "waited for a CPU", CAUSE(QUEUED) | CAUSE(THROTTLED) },
	{ "CPU waking up", "waited for an idle CPU to wake up", CAUSE(WAKING) },
	{ "interrupts", "was interrupted", CAUSE(IRQ) | CAUSE(SOFTIRQ) | CAUSE(NMI) },
	{ "steal", "was stolen by the hypervisor", CAUSE(STEAL) },
	{ "asleep", "slept", CAUSE(TIMER) | CAUSE(CHILD) | CAUSE(SLEEP) | CAUSE(STOPPED) },
	{ "not seen", "was not seen", CAUSE(UNSEEN) },
};
#define GROUPS (sizeof groups / sizeof *groups)

static uint64_t sum_of(const uint64_t ns[LEDGER_CAUSES], uint32_t causes)
{
	uint64_t sum = 0;
	for (int c = 0; c < LEDGER_CAUSES; c++)
		sum += causes >> c & 1 ? ns[c] : 0;
	return sum;
}

/* Who stood behind it: the biggest names of its causes, and how long in the mean. These are parts
 * of the threads' time, whatever of it shows in the elapsed one. */
static void put_names(const struct ledger_sums *s, uint32_t causes, struct strbuf *out)
{
	uint64_t all = sum_of(s->subject.ns, causes);
	const struct ledger_sum *said[MOST_NAMES];
	for (size_t n = 0; n < MOST_NAMES; n++) {
		const struct ledger_sum *best = NULL;
		for (size_t i = 0; i < s->list.count; i++) {
			const struct ledger_sum *x = &s->list.items[i];
			bool seen = x->kind != SUM_ENTRY || !(causes >> x->cause & 1) || !*x->name;
			for (size_t k = 0; k < n && !seen; k++)
				seen = said[k] == x;
			if (!seen && (!best || x->ns > best->ns))
				best = x;
		}
		if (!best || (double)best->ns < NAME_SMALL * (double)all)
			return;
		char time[WORDS];
		format_duration((double)best->ns / (double)s->n, 2, TIME_UNIT_AUTO, time);
		strbuf_printf(out, "%s%s%s %s", n ? ", " : "",
			      strcmp(best->name, "itself") ? best->name : "its own threads",
			      best->cause == LEDGER_SOFTIRQ ? " (soft)" : "", time);
		said[n] = best;
	}
}

static void add_row(struct table *t, const struct ledger_sums *s, const char *title, double wall,
		    double threads, const char *mostly)
{
	table_add_text(t, title);
	table_add_number(t, wall / (double)s->n);
	table_add_number(t, wall / (double)s->wall_total_ns);
	table_add_number(t, s->threads ? threads / (double)s->n : NAN);
	table_add_text(t, mostly);
}

static struct table *groups_table(const struct ledger_sums *s)
{
	static const struct column columns[] = {
		{ "where", "Where the time went", COLUMN_TEXT },
		{ "time", "Elapsed", COLUMN_DURATION, .digits = 3 },
		{ "share", "Share", COLUMN_PERCENT },
		{ "threads", "Threads", COLUMN_DURATION, .digits = 3, .if_any = true },
		{ "mostly", "By", COLUMN_TEXT, .least = 8 },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < GROUPS; i++) {
		uint64_t wall = sum_of(s->wall_ns, groups[i].causes);
		uint64_t threads = sum_of(s->subject.ns, groups[i].causes);
		struct strbuf mostly = { 0 };
		if ((double)(wall > threads ? wall : threads) <
		    WORTH_A_ROW * (double)s->wall_total_ns)
			continue;
		put_names(s, groups[i].causes, &mostly);
		add_row(t, s, groups[i].title, (double)wall, (double)threads, strbuf_text(&mostly));
		strbuf_release(&mostly);
		uint64_t user = ledger_account_user_ns(&s->subject);
		if (groups[i].causes != CAUSE(RUN) || user == UINT64_MAX || !threads)
			continue;
		/* user and kernel in the proportion of ticks, which are of all threads */
		double share = (double)user / (double)threads;
		add_row(t, s, "  user", (double)wall * share, (double)user, "sampled");
		add_row(t, s, "  kernel", (double)wall * (1 - share), (double)(threads - user),
			"sampled");
	}
	return t;
}

/* "In 123 ms, the mean of 10 executions (elapsed in the query itself: 121 ms), the query computed
 * 80 %, ...": the ledger is armed a little before the query is asked. */
static void put_sentence(const struct ledger_sums *s, const struct query_style *style,
			 struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	char time[WORDS], share[WORDS], query[WORDS];
	bool told[GROUPS] = { false };
	size_t said = 0;
	format_ns((double)s->wall_total_ns / (double)s->n, time);
	format_ns((double)s->et_ns / (double)s->n, query);
	if (s->n > 1)
		strbuf_printf(&text, "In %s, the mean of %zu executions", time, s->n);
	else
		strbuf_printf(&text, "In the %s of one execution", time);
	strbuf_printf(&text, " (elapsed in the query itself: %s), the query ", query);
	for (;;) {
		size_t next = GROUPS;
		for (size_t i = 0; i < GROUPS; i++)
			if (!told[i] &&
			    (next == GROUPS || sum_of(s->wall_ns, groups[i].causes) >
						       sum_of(s->wall_ns, groups[next].causes)))
				next = i;
		double part = next == GROUPS ? 0
					     : (double)sum_of(s->wall_ns, groups[next].causes) /
						       (double)s->wall_total_ns;
		if (part < WORTH_SAYING)
			break;
		told[next] = true;
		format_percent(part, share);
		strbuf_printf(&text, "%s%s %s%s", said ? ", " : "", groups[next].verb, share,
			      said ? "" : " of the time");
		said++;
	}
	strbuf_putc(&text, '.');
	put_query_text("", strbuf_text(&text), style, out);
}

/* What the column of elapsed time does not show: a thread that waits while another one runs. */
static void put_threads(const struct ledger_sums *s, const struct query_style *style,
			struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	char time[WORDS], own[WORDS];
	uint64_t itself = 0;
	uint64_t waited = sum_of(s->subject.ns, CAUSE(QUEUED) | CAUSE(THROTTLED) | CAUSE(WAKING));
	array_each(x, &s->list)
		if (x->kind == SUM_ENTRY && x->cause == LEDGER_QUEUED && !strcmp(x->name, "itself"))
			itself += x->ns;
	strbuf_puts(&text, "Elapsed: when any of its threads ran, or else what all of them waited "
			   "for. Threads: summed over them, as are the names.");
	if ((double)waited >= WORTH_SAYING * (double)s->wall_total_ns) {
		format_ns((double)waited / (double)s->n, time);
		format_ns((double)itself / (double)s->n, own);
		strbuf_printf(&text,
			      " In sum they waited %s for a CPU, %s of that for one another.", time,
			      own);
	}
	put_query_text("", strbuf_text(&text), style, out);
}

void put_query_others(const struct run_view *view, struct strbuf *out)
{
	struct shares shares;
	size_t said = 0;
	shares_of(view, &shares);
	array_each(s, &shares.list) {
		char time[WORDS];
		if (s->role != ROLE_DAEMON || !s->exec_seen || said == MOST_OTHERS ||
		    (double)s->exec_ns < WORTH_SAYING * (double)shares.window_ns)
			continue;
		FREED char *name = display_copy(s->name);
		format_ns((double)s->exec_ns / (double)shares.executions, time);
		strbuf_printf(out, "%s%s %s", said++ ? ", " : "", name, time);
	}
	shares_release(&shares);
}

void query_ledger_text(const struct execution *const *executions, size_t count,
		       const struct query_style *given, struct strbuf *out)
{
	struct query_style style = query_normal_style(given);
	struct ledger_sums s;
	SCOPED(strbuf_release) struct strbuf note = { 0 };
	size_t from = out->length;
	ledger_sums_of_executions(executions, count, &s);
	/* the threads themselves are not loaded, but what they add up to is */
	s.threads |= (double)ledger_account_sum(&s.subject) >
		     (1 + WORTH_SAYING) * (double)s.wall_total_ns;
	if (s.n && s.wall_total_ns) {
		put_sentence(&s, &style, out);
		strbuf_putc(out, '\n');
		table_put(groups_table(&s), &style.style, out);
		if (s.threads)
			put_threads(&s, &style, out);
		put_ledger_note(&s, false, &note);
		if (note.length)
			put_query_text("Note: ", strbuf_text(&note), &style, out);
	} else
		strbuf_puts(out, "No ledger was kept of these executions.\n");
	ledger_sums_release(&s);
	style_finish(&style.style, out, from);
}
