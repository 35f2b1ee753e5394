#include "record/ledger.h"

#include <stdlib.h>
#include <string.h>

/* In the order of enum ledger_cause. */
#define CAUSES(X)                                                                    \
	X(LEDGER_RUN, "run", "on a CPU, in its own user or kernel code")             \
	X(LEDGER_IRQ, "irq", "its CPU served a hard interrupt")                      \
	X(LEDGER_SOFTIRQ, "softirq", "its CPU served a soft interrupt")              \
	X(LEDGER_NMI, "nmi", "its CPU served a non-maskable interrupt")              \
	X(LEDGER_STEAL, "steal", "the hypervisor had taken its CPU away")            \
	X(LEDGER_QUEUED, "queued", "runnable, another task had its CPU")             \
	X(LEDGER_WAKING, "waking", "runnable, its idle CPU was still waking up")     \
	X(LEDGER_THROTTLED, "throttled",                                             \
	  "runnable, the CPU quota of its control group was used up")                \
	X(LEDGER_IO, "io", "blocked on I/O, the device served the subject")          \
	X(LEDGER_IO_OTHER, "io_other", "blocked on I/O, the device served others")   \
	X(LEDGER_IO_IDLE, "io_idle", "blocked on I/O, the device had nothing to do") \
	X(LEDGER_FAULT, "fault", "waiting for a page from storage")                  \
	X(LEDGER_FUTEX, "futex", "asleep on a lock or condition of user space")      \
	X(LEDGER_PIPE, "pipe", "asleep on a pipe")                                   \
	X(LEDGER_SOCKET, "socket", "asleep on a socket")                             \
	X(LEDGER_TIMER, "timer", "asleep until a time")                              \
	X(LEDGER_POLL, "poll", "asleep until a file or event is ready")              \
	X(LEDGER_CHILD, "child", "asleep until a child ends")                        \
	X(LEDGER_LOCK, "lock", "blocked in the kernel on a lock or journal")         \
	X(LEDGER_SLEEP, "sleep", "asleep on something else")                         \
	X(LEDGER_STOPPED, "stopped", "stopped by a signal, tracer or freezer")       \
	X(LEDGER_UNSEEN, "unseen", "alive, but not accounted for")

#define ROW(cause, name, meaning) [cause] = { name, meaning },
const struct ledger_cause_row ledger_causes[LEDGER_CAUSES] = { CAUSES(ROW) };
#undef ROW
/* NOLINTNEXTLINE(bugprone-macro-parentheses): an initialiser */
#define ROW(cause, name, meaning) [cause] = name,
const char *const ledger_cause_names[LEDGER_CAUSES] = { CAUSES(ROW) };
#undef ROW

const char *const ledger_event_names[LEDGER_EVENTS] = { "switches", "wakeups", "interrupts",
							"blocks" };

/* ---- rows ---- */

#define CAUSE(type)                                                          \
	FACT(type, cause, "cause", FIELD_ENUM, "See THE LEDGER in tare(1).", \
	     .limit = LEDGER_CAUSES, .names = ledger_cause_names)
#define NAME(type, meaning) \
	FACT(type, name, "name", FIELD_NAME, meaning, .limit = sizeof(((type *)0)->name))
#define PID(type) \
	FACT(type, pid, "pid", FIELD_I32, "null: none, or several.", .flags = FIELD_ZERO_ABSENT)

static const struct field causes_fields[] = { { "", FIELD_CAUSES }, { 0 } };
const struct shape ledger_causes_shape = { "causes", NULL, causes_fields };
static const struct field mean_causes_fields[] = {
	{ "", FIELD_CAUSES, .item = FIELD_REAL, .flags = FIELD_ALWAYS, .more = "\"minimum\": 0" },
	{ 0 },
};
const struct shape ledger_mean_causes_shape = { "mean_causes", NULL, mean_causes_fields };

#define X(member, ...) FACT(struct ledger_account, member, __VA_ARGS__)
static const struct field account_fields[] = {
	X(ns, "_ns", FIELD_CAUSES, NULL, .flags = FIELD_ONLY_SQL),
	X(ns, "ns", FIELD_OBJECT, NULL, .shape = &ledger_causes_shape, .flags = FIELD_ONLY_JSON),
	X(count, "_count", FIELD_CAUSES, NULL, .flags = FIELD_ONLY_SQL),
	X(count, "count", FIELD_OBJECT, "How often it came to be so.",
	  .shape = &ledger_causes_shape, .flags = FIELD_ONLY_JSON),
	X(tick_user_ns, "tick_user_ns", FIELD_U64,
	  "Ticks that fell on it: `run` is user and kernel in their proportion, sampled."),
	X(tick_system_ns, "tick_system_ns", FIELD_U64, NULL),
	X(migrations, "migrations", FIELD_U64, "Moves to another CPU."),
	{ 0 },
};
const struct shape ledger_account_shape = { "account", NULL, account_fields };
#undef X

#define X(member, ...) FACT(struct ledger_thread, member, __VA_ARGS__)
static const struct field thread_fields[] = {
	X(tid, "tid", FIELD_I32, NULL),
	X(tgid, "tgid", FIELD_I32, NULL, .json = "pid"),
	NAME(struct ledger_thread, NULL),
	X(start_ns, "start_ns", FIELD_U64, NULL, .flags = FIELD_ONLY_SQL),
	/* the lab has them by the clock */
	X(begin_ns, "begin_ns", FIELD_I64, "After the subject's exec.", .flags = FIELD_BY_HAND),
	X(end_ns, "end_ns", FIELD_I64, NULL, .flags = FIELD_BY_HAND),
	X(alive, "alive", FIELD_BOOL, "At the end of the execution."),
	X(account, "", FIELD_SPLICE, NULL, .shape = &ledger_account_shape, .flags = FIELD_ONLY_SQL),
	X(account, "account", FIELD_OBJECT, NULL, .shape = &ledger_account_shape,
	  .flags = FIELD_ONLY_JSON),
	{ 0 },
};
const struct shape ledger_thread_shape = { "thread", NULL, thread_fields };
#undef X

#define X(member, ...) FACT(struct ledger_entry, member, __VA_ARGS__)
static const struct field entry_fields[] = {
	CAUSE(struct ledger_entry),   NAME(struct ledger_entry, NULL),	  PID(struct ledger_entry),
	X(ns, "ns", FIELD_U64, NULL), X(count, "count", FIELD_U64, NULL), { 0 },
};
const struct shape ledger_entry_shape = { "entry", NULL, entry_fields };
static const struct field detail_fields[] = {
	X(thread, "thread", FIELD_U32, NULL),
	{ "", FIELD_SPLICE, .shape = &ledger_entry_shape },
	{ 0 },
};
const struct shape ledger_detail_shape = { "detail", NULL, detail_fields };
#undef X

#define X(member, ...) FACT(struct ledger_other, member, __VA_ARGS__)
static const struct field other_fields[] = {
	NAME(struct ledger_other, NULL),
	PID(struct ledger_other),
	X(self, "self", FIELD_BOOL, "tare itself."),
	X(kernel, "kernel", FIELD_BOOL, NULL),
	X(ns, "ns", FIELD_U64, "On a CPU."),
	X(bursts, "count", FIELD_U64, NULL, .json = "bursts"),
	X(longest_ns, "longest_ns", FIELD_U64, NULL),
	X(delayed_ns, "delayed_ns", FIELD_U64,
	  "Had a CPU that a thread of the subject was queued for."),
	X(io_delayed_ns, "io_delayed_ns", FIELD_U64,
	  "Had the device that a thread of the subject was blocked on."),
	{ 0 },
};
const struct shape ledger_other_shape = { "ran_beside", NULL, other_fields };
#undef X

#define X(member, ...) FACT(struct ledger_interrupt, member, __VA_ARGS__)
static const struct field interrupt_fields[] = {
	X(cause, "cause", FIELD_ENUM, NULL, .limit = LEDGER_CAUSES, .names = ledger_cause_names,
	  .more = "\"enum\": [\"irq\", \"softirq\", \"nmi\"]"),
	NAME(struct ledger_interrupt, NULL),
	X(count, "count", FIELD_U64, NULL),
	X(ns, "ns", FIELD_U64, NULL),
	X(subject_count, "subject_count", FIELD_U64, NULL),
	X(subject_ns, "subject_ns", FIELD_U64, NULL),
	{ 0 },
};
const struct shape ledger_interrupt_shape = { "interrupt", NULL, interrupt_fields };
#undef X

#define X(member, ...) FACT(struct ledger, member, __VA_ARGS__)
#define EVENT(event, name) X(events[event], "events_" name, FIELD_U64, NULL, .json = "events." name)
#define EVENT_NS(event, name)                                                            \
	X(event_ns[event], "event_ns_" name, FIELD_REAL,                                 \
	  "Measured on this machine at the start of the run.", .json = "event_ns." name, \
	  .more = "\"minimum\": 0")
static const struct field cost_fields[] = {
	EVENT(LEDGER_SWITCHES, "switches"),
	EVENT(LEDGER_WAKEUPS, "wakeups"),
	EVENT(LEDGER_INTERRUPTS, "interrupts"),
	EVENT(LEDGER_BLOCKS, "blocks"),
	EVENT_NS(LEDGER_SWITCHES, "switches"),
	EVENT_NS(LEDGER_WAKEUPS, "wakeups"),
	EVENT_NS(LEDGER_INTERRUPTS, "interrupts"),
	EVENT_NS(LEDGER_BLOCKS, "blocks"),
	X(subject_events, "subject_events", FIELD_U64, NULL),
	{ "ns", FIELD_REAL, .flags = FIELD_ONLY_JSON | FIELD_MAYBE, .more = "\"minimum\": 0" },
	{ "subject_ns", FIELD_REAL, .flags = FIELD_ONLY_JSON | FIELD_MAYBE,
	  .more = "\"minimum\": 0" },
	{ 0 },
};
_Static_assert(LEDGER_EVENTS == 4, "a new kind of event is a new column");
_Static_assert(LEDGER_CAUSES == 22, "a new cause is a new row of ledger_cause and new columns");
const struct shape ledger_cost_shape = {
	"ledger_cost",
	"tare's own, nothing is taken off for it: events on the whole machine times what each costs; "
	"subject_: on a CPU that the subject had.",
	cost_fields
};

static const struct field ledger_fields[] = {
	X(begin_ns, "begin_ns", FIELD_U64, NULL, .flags = FIELD_ONLY_SQL),
	X(end_ns, "end_ns", FIELD_U64, NULL, .flags = FIELD_ONLY_SQL),
	X(wall_ns, "_wall_ns", FIELD_CAUSES, NULL, .flags = FIELD_ONLY_SQL),
	X(wall_ns, "wall_ns", FIELD_OBJECT,
	  "The elapsed time: `run` when anything of the subject ran, else what all of it waited for.",
	  .shape = &ledger_causes_shape, .flags = FIELD_ONLY_JSON),
	X(subject, "", FIELD_SPLICE, NULL, .shape = &ledger_account_shape, .flags = FIELD_ONLY_SQL),
	X(subject, "account", FIELD_OBJECT, "Summed over the subject's threads.",
	  .shape = &ledger_account_shape, .flags = FIELD_ONLY_JSON),
	X(entries, "entries", FIELD_LIST, "The account by name; for each cause they add up to it.",
	  .shape = &ledger_entry_shape, .limit = sizeof(struct ledger_entry),
	  .flags = FIELD_ONLY_JSON),
	X(threads, "threads", FIELD_LIST, "null: not loaded.", .shape = &ledger_thread_shape,
	  .flags = FIELD_ONLY_JSON | FIELD_MAYBE),
	X(unlisted, "unlisted", FIELD_U32, "Threads that are in the account only."),
	X(others, "others", FIELD_LIST,
	  "Other processes that ran, those that delayed the subject most first; at most 20.",
	  .shape = &ledger_other_shape, .flags = FIELD_ONLY_JSON | FIELD_BY_HAND),
	X(interrupts, "interrupts", FIELD_LIST,
	  "Of the whole machine; subject_: on a CPU that the subject had.",
	  .shape = &ledger_interrupt_shape, .limit = sizeof(struct ledger_interrupt),
	  .flags = FIELD_ONLY_JSON),
	{ "", FIELD_SPLICE, .shape = &ledger_cost_shape, .flags = FIELD_ONLY_SQL },
	{ "cost", FIELD_OBJECT, .shape = &ledger_cost_shape, .flags = FIELD_ONLY_JSON },
	X(lost, "lost", FIELD_U64, "Facts that found no room: names or I/O, not time."),
	X(not_seen, "not_seen", FIELD_NAME, "What this kernel does not tell.",
	  .limit = sizeof(((struct ledger *)0)->not_seen), .flags = FIELD_ZERO_ABSENT),
	{ 0 },
};
const struct shape ledger_shape = { "ledger", NULL, ledger_fields };
#undef X

void ledger_release(struct ledger *l)
{
	array_release(&l->threads);
	array_release(&l->entries);
	array_release(&l->details);
	array_release(&l->others);
	array_release(&l->interrupts);
	*l = (struct ledger){ 0 };
}

void ledger_clear(struct ledger *l)
{
	struct ledger had = *l;
	*l = (struct ledger){ 0 };
#define KEEP(list) (l->list.items = had.list.items, l->list.capacity = had.list.capacity)
	KEEP(threads);
	KEEP(entries);
	KEEP(details);
	KEEP(others);
	KEEP(interrupts);
#undef KEEP
}

void ledger_account_add(struct ledger_account *a, const struct ledger_account *b)
{
	for (int c = 0; c < LEDGER_CAUSES; c++) {
		a->ns[c] += b->ns[c];
		a->count[c] += b->count[c];
	}
	a->tick_user_ns += b->tick_user_ns;
	a->tick_system_ns += b->tick_system_ns;
	a->migrations += b->migrations;
}

uint64_t ledger_account_sum(const struct ledger_account *a)
{
	uint64_t sum = 0;
	for (int c = 0; c < LEDGER_CAUSES; c++)
		sum += a->ns[c];
	return sum;
}

uint64_t ledger_account_on_cpu_ns(const struct ledger_account *a)
{
	uint64_t sum = 0;
	for (enum ledger_cause c = 0; ledger_on_cpu(c); c++)
		sum += a->ns[c];
	return sum;
}

uint64_t ledger_account_user_ns(const struct ledger_account *a)
{
	uint64_t ticks = a->tick_user_ns + a->tick_system_ns;
	if (!ticks)
		return UINT64_MAX;
	return (uint64_t)((double)a->ns[LEDGER_RUN] * (double)a->tick_user_ns / (double)ticks);
}

struct ledger_process *ledger_processes(const struct ledger *l, size_t *count)
{
	struct ledger_process *list = xcalloc(l->threads.count + 1, sizeof *list);
	size_t n = 0;
	array_each(t, &l->threads) {
		struct ledger_process *p = NULL;
		/* threads of a process mostly follow one another */
		for (size_t k = n; !p && k-- > 0;)
			p = list[k].tgid == t->tgid ? &list[k] : NULL;
		/* a pid may be given again: the one before had ended by then */
		if (!p || (t->tid == t->tgid && t->begin_ns >= p->end_ns)) {
			p = &list[n++];
			*p = (struct ledger_process){ .tgid = t->tgid, .begin_ns = t->begin_ns };
			memcpy(p->name, t->name, sizeof p->name);
		}
		p->threads++;
		if (t->end_ns > p->end_ns)
			p->end_ns = t->end_ns;
		ledger_account_add(&p->account, &t->account);
	}
	*count = n;
	return list;
}

static uint64_t less(uint64_t from, uint64_t by)
{
	return from > by ? from - by : 0;
}

/* From the entry of that name; what it does not have, from the others of the cause. */
static void take_off_entries(struct ledger *l, const struct ledger_entry *d)
{
	uint64_t left = d->ns;
	for (int turn = 0; turn < 2; turn++)
		array_each(e, &l->entries) {
			bool named = e->pid == d->pid && strcmp(e->name, d->name) == 0;
			if (e->cause != d->cause || named != (turn == 0))
				continue;
			uint64_t ns = left < e->ns ? left : e->ns;
			e->ns -= ns;
			left -= ns;
			e->count = named ? less(e->count, d->count) : e->count;
		}
}

/* Its details go as well; those of threads behind it are renumbered. */
static void take_off_thread(struct ledger *l, uint32_t index)
{
	struct ledger_account rest = l->threads.items[index].account, *all = &l->subject;
	size_t kept = 0;
	for (int c = 0; c < LEDGER_CAUSES; c++) {
		all->ns[c] = less(all->ns[c], rest.ns[c]);
		all->count[c] = less(all->count[c], rest.count[c]);
	}
	all->tick_user_ns = less(all->tick_user_ns, rest.tick_user_ns);
	all->tick_system_ns = less(all->tick_system_ns, rest.tick_system_ns);
	all->migrations = less(all->migrations, rest.migrations);
	for (size_t i = 0; i < l->details.count; i++) {
		struct ledger_entry d = l->details.items[i];
		if (d.thread == index) {
			take_off_entries(l, &d);
			rest.ns[d.cause] = less(rest.ns[d.cause], d.ns);
			rest.count[d.cause] = less(rest.count[d.cause], d.count);
			continue;
		}
		d.thread -= d.thread > index;
		l->details.items[kept++] = d;
	}
	l->details.count = kept;
	for (int c = 0; c < LEDGER_CAUSES; c++)
		take_off_entries(l, &(struct ledger_entry){ .cause = (enum ledger_cause)c,
							    .ns = rest.ns[c],
							    .count = rest.count[c] });
	l->threads.count--;
	memmove(&l->threads.items[index], &l->threads.items[index + 1],
		(l->threads.count - index) * sizeof *l->threads.items);
}

static int by_ns(const void *a, const void *b)
{
	const struct ledger_entry *x = a, *y = b;
	return ORDER(y->ns, x->ns);
}

void ledger_keep_processes(struct ledger *l, const int32_t *tgids, size_t count)
{
	size_t had = l->threads.count, kept = 0;
	for (size_t i = had; i-- > 0;) {
		bool keep = false;
		for (size_t k = 0; k < count; k++)
			keep |= l->threads.items[i].tgid == tgids[k];
		if (!keep)
			take_off_thread(l, (uint32_t)i);
	}
	if (l->threads.count == had)
		return;
	for (size_t i = 0; i < l->entries.count; i++)
		if (l->entries.items[i].ns)
			l->entries.items[kept++] = l->entries.items[i];
	l->entries.count = kept;
	if (kept)
		qsort(l->entries.items, kept, sizeof *l->entries.items, by_ns);
	if (l->threads.count == 1 && !l->unlisted)
		memcpy(l->wall_ns, l->subject.ns, sizeof l->wall_ns);
}

void ledger_cut(struct ledger *l, uint64_t end_ns)
{
	if (!l->present || end_ns >= l->end_ns || end_ns < l->begin_ns)
		return;
	uint64_t over = l->end_ns - end_ns;
	l->end_ns = end_ns;
	/* it was queued behind tare, which had been woken, or ran; else whatever was most */
	for (int turn = 0; over && turn < LEDGER_CAUSES + 2; turn++) {
		int cause = turn == 0 ? LEDGER_QUEUED : LEDGER_RUN;
		for (int c = 0; turn > 1 && c < LEDGER_CAUSES; c++)
			if (l->wall_ns[c] > l->wall_ns[cause])
				cause = c;
		uint64_t ns = over < l->wall_ns[cause] ? over : l->wall_ns[cause];
		l->wall_ns[cause] -= ns;
		over -= ns;
	}
}

double ledger_cost_ns(const struct ledger *l)
{
	double cost = 0;
	for (int e = 0; e < LEDGER_EVENTS; e++)
		cost += (double)l->events[e] * l->event_ns[e];
	return cost;
}

double ledger_subject_cost_ns(const struct ledger *l)
{
	double all = 0;
	for (int e = 0; e < LEDGER_EVENTS; e++)
		all += (double)l->events[e];
	return all > 0 ? ledger_cost_ns(l) * (double)l->subject_events / all : 0;
}
