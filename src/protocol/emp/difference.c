#include "protocol/emp/difference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of what it ran less in parallel: who had less of a CPU is not to blame for it. */
#define CROWDING_SMALL 0.05

/* One name beneath one cause in both executions. */
struct pair {
	const struct ledger_entry *entry; /* for its cause and name */
	uint64_t ns[2], count[2];	  /* of x, of base */
	int32_t pid[2];			  /* 0: none or several */
	bool seen[2];
};

typedef ARRAY(struct pair) pair_list;

static int compare_entries(const void *a, const void *b)
{
	const struct ledger_entry *x = ((const struct pair *)a)->entry;
	const struct ledger_entry *y = ((const struct pair *)b)->entry;
	return ORDER(x->cause, y->cause) ?: strcmp(x->name, y->name);
}

static void collect(const struct ledger *l, int side, pair_list *into)
{
	for (size_t i = 0; i < l->entries.count; i++) {
		struct pair p = { .entry = &l->entries.items[i] };
		p.ns[side] = p.entry->ns;
		p.count[side] = p.entry->count;
		p.pid[side] = p.entry->pid;
		p.seen[side] = true;
		array_push(into, p);
	}
}

/* The names of both, each once, by cause. */
static void pair_up(const struct ledger *x, const struct ledger *base, pair_list *out)
{
	collect(x, 0, out);
	collect(base, 1, out);
	if (!out->count)
		return;
	array_sort(out, compare_entries);
	size_t n = 0;
	for (size_t i = 1; i < out->count; i++) {
		struct pair *into = &out->items[n], *p = &out->items[i];
		if (compare_entries(into, p) != 0) {
			out->items[++n] = *p;
			continue;
		}
		for (int side = 0; side < 2; side++) {
			if (!p->seen[side])
				continue;
			bool several = into->seen[side] && into->pid[side] != p->pid[side];
			into->pid[side] = several ? 0 : p->pid[side];
			into->seen[side] = true;
			into->ns[side] += p->ns[side];
			into->count[side] += p->count[side];
		}
	}
	out->count = n + 1;
}

/* The largest part first, where sign is -1 the smallest; what no name accounts for comes last. */
static int compare_names(const void *a, const void *b, void *sign)
{
	const struct difference_name *x = a, *y = b;
	return !*x->name - !*y->name ?: *(int *)sign * ORDER(y->ns, x->ns) ?: strcmp(x->name, y->name);
}

static int compare_causes(const void *a, const void *b, void *sign)
{
	const struct difference_cause *x = a, *y = b;
	return *(int *)sign * ORDER(y->ns, x->ns) ?: ORDER(x->cause, y->cause);
}

/* The differences of the names become parts of c->ns, none of them larger than it was. */
static void apportion(struct difference_cause *c)
{
	int64_t sum = 0, same = 0, given = 0; /* same: of those in the direction of c->ns */
	for (size_t i = 0; i < c->names.count; i++) {
		sum += c->names.items[i].ns;
		if ((c->names.items[i].ns > 0) == (c->ns > 0))
			same += c->names.items[i].ns;
	}
	double scale = sum ? (double)c->ns / (double)sum : 0;
	bool all = scale > 0 && scale <= 1;
	if (!all)
		scale = same ? fmin((double)c->ns / (double)same, 1) : 0;
	size_t largest = 0;
	for (size_t i = 0; i < c->names.count; i++) {
		struct difference_name *n = &c->names.items[i];
		bool counts = all || (n->ns > 0) == (c->ns > 0);
		if (sum != c->ns)
			n->ns = counts ? llround((double)n->ns * scale) : 0;
		given += n->ns;
		if (llabs(n->ns) > llabs(c->names.items[largest].ns))
			largest = i;
	}
	if (given == c->ns)
		return;
	/* what rounding left, or what no name accounts for */
	if (same && llabs(c->ns - given) <= (int64_t)c->names.count)
		c->names.items[largest].ns += c->ns - given;
	else
		array_push(&c->names, (struct difference_name){ .ns = c->ns - given });
}

/* Queued behind the subject's own threads. */
static bool is_itself(const struct ledger_entry *e)
{
	return e->cause == LEDGER_QUEUED && strcmp(e->name, "itself") == 0;
}

static void add_names(struct difference_cause *c, const pair_list *pairs, bool wall)
{
	array_each(p, pairs) {
		int64_t ns = (int64_t)(p->ns[0] - p->ns[1]);
		if (p->entry->cause != c->cause || !ns || (wall && is_itself(p->entry)))
			continue;
		struct difference_name n = { .ns = ns,
					     .pid = p->pid[ns < 0],
					     .count = p->count[0],
					     .base_count = p->count[1] };
		memcpy(n.name, p->entry->name, sizeof n.name);
		n.name[sizeof n.name - 1] = '\0';
		array_push(&c->names, n);
	}
	if (!c->names.count)
		return;
	apportion(c);
	/* names without a part tell nothing */
	size_t kept = 0;
	for (size_t i = 0; i < c->names.count; i++)
		if (c->names.items[i].ns)
			c->names.items[kept++] = c->names.items[i];
	c->names.count = kept;
	qsort_r(c->names.items, kept, sizeof *c->names.items, compare_names,
		&(int){ c->ns > 0 ? 1 : -1 });
}

/* By name, what another had of the CPUs in l less that in other. */
static int64_t other_growth(const struct ledger *l, const struct ledger *other, const char *name)
{
	int64_t ns = 0;
	for (size_t i = 0; i < l->others.count; i++)
		if (!strcmp(l->others.items[i].name, name))
			ns += (int64_t)l->others.items[i].ns;
	for (size_t i = 0; i < other->others.count; i++)
		if (!strcmp(other->others.items[i].name, name))
			ns -= (int64_t)other->others.items[i].ns;
	return ns;
}

/* Its threads queued behind one another for longer: those who had more of the other CPUs are the
 * names, up to that time. They stand beneath run, as they did not have the CPU it was queued for.
 * x has more of it than base. */
static void blame_crowding(struct difference_cause *run, const struct ledger *x,
			   const struct ledger *base, const pair_list *pairs, int side)
{
	int64_t left = 0, told = 0, all = llabs(run->unexplained_ns);
	for (size_t i = 0; i < pairs->count; i++)
		if (is_itself(pairs->items[i].entry))
			left += (int64_t)(pairs->items[i].ns[side] - pairs->items[i].ns[!side]);
	left = left < all ? left : all;
	run->names.count = 0;
	for (;;) {
		const struct ledger_other *most = NULL;
		int64_t most_ns = 0;
		for (size_t i = 0; i < x->others.count && left > 0; i++) {
			const struct ledger_other *o = &x->others.items[i];
			bool done = o->self || (double)o->ns < CROWDING_SMALL * (double)all;
			for (size_t j = 0; j < run->names.count && !done; j++)
				done = !strcmp(run->names.items[j].name, o->name);
			int64_t ns = done ? 0 : other_growth(x, base, o->name);
			if (ns > most_ns) {
				most_ns = ns;
				most = o;
			}
		}
		if (!most || (double)most_ns < CROWDING_SMALL * (double)all)
			break;
		struct difference_name n = { .pid = most->pid,
					     .ns = most_ns < left ? most_ns : left };
		memcpy(n.name, most->name, sizeof most->name);
		left -= n.ns;
		told += n.ns;
		n.ns = run->ns > 0 ? n.ns : -n.ns;
		array_push(&run->names, n);
	}
	int64_t rest = run->ns - (run->ns > 0 ? told : -told);
	if (run->names.count && rest)
		array_push(&run->names, (struct difference_name){ .ns = rest });
}

bool has_threads(const struct execution *x)
{
	return x->totals.threads > 1 || x->ledger.threads.count > 1 || x->ledger.unlisted;
}

/* How run grew from base to x (it did), and why. */
struct growth {
	int64_t lost;		      /* of the wall's: it ran less in parallel */
	double spare[LEDGER_CAUSES];  /* grown over the threads, but not in the wall view */
	double sum;		      /* of spare */
	int64_t given[LEDGER_CAUSES]; /* of lost */
};

static double excess(uint64_t x, uint64_t base)
{
	return (double)x - (double)base;
}

/* x is at side 0 or 1 of the pairs. */
static void find_growth(const struct ledger *x, const struct ledger *base, const pair_list *pairs,
			int side, struct growth *g)
{
	int64_t wall = (int64_t)(x->wall_ns[LEDGER_RUN] - base->wall_ns[LEDGER_RUN]);
	double parallel = base->wall_ns[LEDGER_RUN] ? (double)base->subject.ns[LEDGER_RUN] /
							      (double)base->wall_ns[LEDGER_RUN]
						    : 1;
	double own =
		excess(x->subject.ns[LEDGER_RUN], base->subject.ns[LEDGER_RUN]) / fmax(parallel, 1);
	own = fmin(fmax(own, 0), (double)wall);
	g->lost = wall - llround(own);
	array_each(p, pairs) {
		/* what may hold a thread up without its own doing */
		bool outside = p->entry->cause > LEDGER_RUN && p->entry->cause <= LEDGER_FAULT;
		if (outside && !is_itself(p->entry))
			g->spare[p->entry->cause] += excess(p->ns[side], p->ns[!side]);
	}
	for (enum ledger_cause c = 0; c < LEDGER_CAUSES; c++) {
		g->spare[c] -= fmax(excess(x->wall_ns[c], base->wall_ns[c]), 0);
		g->spare[c] = fmax(g->spare[c], 0);
		g->sum += g->spare[c];
	}
}

/* Of the time run has more (or less) in the wall view, what comes of running less (or more) in
 * parallel goes to the causes outside the subject that its threads had more (or less) of. */
static void share_growth(const struct ledger *a, const struct ledger *b, const pair_list *pairs,
			 struct growth *g)
{
	bool more = a->wall_ns[LEDGER_RUN] > b->wall_ns[LEDGER_RUN];
	if (more)
		find_growth(a, b, pairs, 0, g);
	else
		find_growth(b, a, pairs, 1, g);
	int64_t left = g->lost;
	double scale = g->sum > (double)g->lost ? (double)g->lost / g->sum : 1;
	for (enum ledger_cause c = 0; c < LEDGER_CAUSES; c++) {
		int64_t part = (int64_t)floor(g->spare[c] * scale);
		part = part < left ? part : left;
		left -= part;
		g->given[c] = more ? part : -part;
	}
	g->lost = more ? left : -left;
	for (enum ledger_cause c = 0; c < LEDGER_CAUSES; c++)
		if (c != LEDGER_RUN)
			g->given[LEDGER_RUN] -= g->given[c];
}

void difference_of(const struct execution *x, const struct execution *base,
		   enum difference_view view, struct difference *out)
{
	const struct ledger *a = &x->ledger, *b = &base->ledger;
	bool wall = view == DIFFERENCE_WALL;
	pair_list pairs = { 0 };
	struct growth growth = { 0 };
	int64_t explained = 0;
	*out = (struct difference){ 0 };
	pair_up(a, b, &pairs);
	if (wall && (has_threads(x) || has_threads(base)))
		share_growth(a, b, &pairs, &growth);
	for (enum ledger_cause c = 0; c < LEDGER_CAUSES; c++) {
		uint64_t had = wall ? a->wall_ns[c] : a->subject.ns[c];
		uint64_t base_ns = wall ? b->wall_ns[c] : b->subject.ns[c];
		struct difference_cause d = { .cause = c,
					      .ns = (int64_t)(had - base_ns) + growth.given[c],
					      .had_ns = had,
					      .base_ns = base_ns,
					      .parallel_ns = growth.given[c],
					      .unexplained_ns = c == LEDGER_RUN ? growth.lost : 0 };
		if (!d.ns)
			continue;
		explained += d.ns;
		add_names(&d, &pairs, wall);
		if (d.unexplained_ns > 0)
			blame_crowding(&d, a, b, &pairs, 0);
		else if (d.unexplained_ns < 0)
			blame_crowding(&d, b, a, &pairs, 1);
		array_push(&out->causes, d);
	}
	array_release(&pairs);
	out->ns = wall ? (int64_t)(x->et_ns - base->et_ns) : explained;
	out->rest_ns = out->ns - explained;
	if (out->causes.count)
		qsort_r(out->causes.items, out->causes.count, sizeof *out->causes.items,
			compare_causes, &(int){ out->ns < 0 ? -1 : 1 });
}

void difference_release(struct difference *d)
{
	for (size_t i = 0; i < d->causes.count; i++)
		array_release(&d->causes.items[i].names);
	array_release(&d->causes);
	*d = (struct difference){ 0 };
}
