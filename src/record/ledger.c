#include "record/ledger.h"

#include <stdlib.h>
#include <string.h>

const struct ledger_cause_row ledger_causes[LEDGER_CAUSES] = {
	[LEDGER_RUN] = { "run", "on a CPU, in its own user or kernel code" },
	[LEDGER_IRQ] = { "irq", "its CPU served a hard interrupt" },
	[LEDGER_SOFTIRQ] = { "softirq", "its CPU served a soft interrupt" },
	[LEDGER_NMI] = { "nmi", "its CPU served a non-maskable interrupt" },
	[LEDGER_STEAL] = { "steal", "the hypervisor had taken its CPU away" },
	[LEDGER_QUEUED] = { "queued", "runnable, another task had its CPU" },
	[LEDGER_WAKING] = { "waking", "runnable, its idle CPU was still waking up" },
	[LEDGER_THROTTLED] = { "throttled",
			       "runnable, the CPU quota of its control group was used up" },
	[LEDGER_IO] = { "io", "blocked on I/O, the device served the subject" },
	[LEDGER_IO_OTHER] = { "io_other", "blocked on I/O, the device served others" },
	[LEDGER_IO_IDLE] = { "io_idle", "blocked on I/O, the device had nothing to do" },
	[LEDGER_FAULT] = { "fault", "waiting for a page from storage" },
	[LEDGER_FUTEX] = { "futex", "asleep on a lock or condition of user space" },
	[LEDGER_PIPE] = { "pipe", "asleep on a pipe" },
	[LEDGER_SOCKET] = { "socket", "asleep on a socket" },
	[LEDGER_TIMER] = { "timer", "asleep until a time" },
	[LEDGER_POLL] = { "poll", "asleep until a file or event is ready" },
	[LEDGER_CHILD] = { "child", "asleep until a child ends" },
	[LEDGER_LOCK] = { "lock", "blocked in the kernel on a lock or journal" },
	[LEDGER_SLEEP] = { "sleep", "asleep on something else" },
	[LEDGER_STOPPED] = { "stopped", "stopped by a signal, tracer or freezer" },
	[LEDGER_UNSEEN] = { "unseen", "alive, but not accounted for" },
};

const char *const ledger_event_names[LEDGER_EVENTS] = { "switches", "wakeups", "interrupts",
							"blocks" };

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

const struct ledger_entry *ledger_top_entry(const struct ledger *l, enum ledger_cause cause)
{
	for (size_t i = 0; i < l->entries.count; i++)
		if (l->entries.items[i].cause == cause)
			return &l->entries.items[i];
	return NULL;
}

static struct ledger_process *find_process(struct ledger_process *list, size_t count, int32_t tgid)
{
	/* threads of a process mostly follow one another */
	for (size_t i = count; i-- > 0;)
		if (list[i].tgid == tgid)
			return &list[i];
	return NULL;
}

struct ledger_process *ledger_processes(const struct ledger *l, size_t *count)
{
	struct ledger_process *list = xcalloc(l->threads.count + 1, sizeof *list);
	size_t n = 0;
	for (size_t i = 0; i < l->threads.count; i++) {
		const struct ledger_thread *t = &l->threads.items[i];
		struct ledger_process *p = find_process(list, n, t->tgid);
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
		for (size_t i = 0; i < l->entries.count; i++) {
			struct ledger_entry *e = &l->entries.items[i];
			bool named = e->pid == d->pid && strcmp(e->name, d->name) == 0;
			if (e->cause != d->cause || named != (turn == 0))
				continue;
			uint64_t ns = left < e->ns ? left : e->ns;
			e->ns -= ns;
			left -= ns;
			e->count = named ? less(e->count, d->count) : e->count;
		}
}

static void take_off_account(struct ledger_account *a, const struct ledger_account *b)
{
	for (int c = 0; c < LEDGER_CAUSES; c++) {
		a->ns[c] = less(a->ns[c], b->ns[c]);
		a->count[c] = less(a->count[c], b->count[c]);
	}
	a->tick_user_ns = less(a->tick_user_ns, b->tick_user_ns);
	a->tick_system_ns = less(a->tick_system_ns, b->tick_system_ns);
	a->migrations = less(a->migrations, b->migrations);
}

/* Its details go as well; those of threads behind it are renumbered. */
static void take_off_thread(struct ledger *l, uint32_t index)
{
	struct ledger_account rest = l->threads.items[index].account;
	size_t kept = 0;
	take_off_account(&l->subject, &rest);
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
	return (x->ns < y->ns) - (x->ns > y->ns);
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
