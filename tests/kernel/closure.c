#include "closure.h"

#include <stdarg.h>
#include <stdio.h>

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void raise_to(uint64_t *worst, uint64_t value)
{
	if (value > *worst)
		*worst = value;
}

uint64_t closure_allows(uint64_t of_ns)
{
	return of_ns / 1000 > CLOSURE_NS ? of_ns / 1000 : CLOSURE_NS;
}

static uint64_t life_ns(const struct ledger_thread *t)
{
	return t->end_ns - t->begin_ns;
}

static uint64_t gap_ns(const struct ledger_thread *t)
{
	return apart(ledger_account_sum(&t->account), life_ns(t));
}

static void add_entries(const struct ledger *l, uint64_t ns[LEDGER_CAUSES])
{
	for (size_t i = 0; i < l->entries.count; i++)
		ns[l->entries.items[i].cause] += l->entries.items[i].ns;
}

void closure_of(const struct execution *x, struct closure *c)
{
	const struct ledger *l = &x->ledger;
	struct ledger_account threads = { 0 };
	uint64_t wall = 0, entries[LEDGER_CAUSES] = { 0 };
	*c = (struct closure){ 0 };
	for (size_t i = 0; i < l->threads.count; i++) {
		const struct ledger_thread *t = &l->threads.items[i];
		uint64_t gap = gap_ns(t), life = life_ns(t);
		raise_to(&c->worst_ns, gap);
		if (life && (double)gap / (double)life > c->worst_share)
			c->worst_share = (double)gap / (double)life;
		c->beyond += gap > closure_allows(life);
		raise_to(&c->unseen_ns, t->account.ns[LEDGER_UNSEEN]);
		ledger_account_add(&threads, &t->account);
	}
	add_entries(l, entries);
	for (int cause = 0; cause < LEDGER_CAUSES; cause++) {
		wall += l->wall_ns[cause];
		raise_to(&c->entries_ns, apart(entries[cause], l->subject.ns[cause]));
		if (!l->unlisted)
			raise_to(&c->sum_ns, apart(threads.ns[cause], l->subject.ns[cause]));
	}
	c->wall_ns = apart(wall, x->et_ns);
	c->window_ns = apart(l->end_ns - l->begin_ns, x->et_ns);
}

__attribute__((format(printf, 4, 5))) static void note(char *why, size_t size, size_t *at,
						       const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	int n = *at < size ? vsnprintf(why + *at, size - *at, fmt, args) : 0;
	va_end(args);
	*at += n > 0 ? (size_t)n : 0;
}

static void judge_thread(const struct ledger_thread *t, char *why, size_t size, size_t *at)
{
	if (t->end_ns < t->begin_ns)
		note(why, size, at, "thread %d (%s) ends before it begins; ", t->tid, t->name);
	else if (gap_ns(t) > closure_allows(life_ns(t)))
		note(why, size, at, "thread %d (%s) lived %llu ns, its causes add up to %llu; ",
		     t->tid, t->name, (unsigned long long)life_ns(t),
		     (unsigned long long)ledger_account_sum(&t->account));
	for (int c = 0; c < LEDGER_CAUSES; c++)
		if (t->account.ns[c] > life_ns(t) + closure_allows(life_ns(t)))
			note(why, size, at, "thread %d (%s) has more %s than life; ", t->tid,
			     t->name, ledger_causes[c].name);
	/* what closes only by being unexplained does not close */
	if (t->account.ns[LEDGER_UNSEEN] > closure_allows(life_ns(t)))
		note(why, size, at, "of thread %d (%s) %llu of %llu ns are unseen; ", t->tid,
		     t->name, (unsigned long long)t->account.ns[LEDGER_UNSEEN],
		     (unsigned long long)life_ns(t));
}

/* The view adds up by construction; but for each stretch of it some thread must have been in that
 * state. */
static void judge_wall(const struct execution *x, char *why, size_t size, size_t *at)
{
	const struct ledger *l = &x->ledger;
	/* a switch that the kernel hides is dated back when it is found, and another CPU may have
	 * entered that stretch meanwhile under the state before */
	uint64_t slack = closure_allows(x->et_ns) + 300000;
	bool single = x->totals.threads == 1 && l->threads.count == 1;
	for (int c = 0; c < LEDGER_CAUSES; c++) {
		uint64_t wall = l->wall_ns[c], all = l->subject.ns[c];
		if (wall > x->et_ns + slack || (!l->unlisted && wall > all + slack))
			note(why, size, at, "wall-clock %s is %llu ns, of all threads %llu; ",
			     ledger_causes[c].name, (unsigned long long)wall,
			     (unsigned long long)all);
		else if (single && x->et_ns < x->wait_ns && apart(wall, all) > slack)
			note(why, size, at, "wall-clock %s is %llu ns, of the thread %llu; ",
			     ledger_causes[c].name, (unsigned long long)wall,
			     (unsigned long long)all);
	}
}

static void judge_details(const struct ledger *l, char *why, size_t size, size_t *at)
{
	uint64_t ns = 0;
	for (size_t i = 0; i < l->details.count; i++) {
		const struct ledger_entry *e = &l->details.items[i];
		if (e->thread >= l->threads.count || e->cause >= LEDGER_CAUSES) {
			note(why, size, at, "detail %zu is of no thread or no cause; ", i);
			return;
		}
		const struct ledger_account *a = &l->threads.items[e->thread].account;
		if (e->ns > a->ns[e->cause] + closure_allows(a->ns[e->cause]))
			note(why, size, at, "%s by '%s' is more than all of it in its thread; ",
			     ledger_causes[e->cause].name, e->name);
		ns += e->ns;
	}
	uint64_t all = ledger_account_sum(&l->subject);
	if (ns > all + closure_allows(all))
		note(why, size, at, "details are more than the subject; ");
}

void closure_verdict(const struct execution *x, char *why, size_t size)
{
	const struct ledger *l = &x->ledger;
	struct closure c;
	size_t at = 0;
	closure_of(x, &c);
	*why = '\0';
	if (!l->present) {
		note(why, size, &at, "no ledger was kept; ");
		return;
	}
	for (size_t i = 0; i < l->threads.count; i++)
		judge_thread(&l->threads.items[i], why, size, &at);
	judge_details(l, why, size, &at);
	judge_wall(x, why, size, &at);
	for (size_t i = 0; i < l->threads.count && !x->left_behind; i++)
		if (l->threads.items[i].alive)
			note(why, size, &at, "thread %d (%s) was not seen to end; ",
			     l->threads.items[i].tid, l->threads.items[i].name);
	if (c.window_ns > closure_allows(x->et_ns))
		note(why, size, &at, "begin to end is %llu ns off the ET; ",
		     (unsigned long long)c.window_ns);
	if (c.wall_ns > closure_allows(x->et_ns))
		note(why, size, &at, "the wall-clock view is %llu ns off the ET; ",
		     (unsigned long long)c.wall_ns);
	if (c.sum_ns)
		note(why, size, &at, "the subject is %llu ns off the sum of its threads; ",
		     (unsigned long long)c.sum_ns);
	if (c.entries_ns > closure_allows(x->et_ns))
		note(why, size, &at, "names are %llu ns off their cause; ",
		     (unsigned long long)c.entries_ns);
}
