#include "protocol/sedona/windows.h"

#include <math.h>
#include <stdlib.h>

struct window {
	size_t part;
	double begin_ns, end_ns; /* since the part's begin */
};
typedef ARRAY(struct window) window_list;

static bool counts(const struct bursts *part, const struct burst *b)
{
	return !part->processes.items[b->process].own;
}

static int worst_cpu(const struct bursts *parts, size_t count)
{
	uint64_t *busy = xcalloc(UINT16_MAX + 1, sizeof *busy);
	int worst = 0;
	for (size_t i = 0; i < count; i++)
		array_each(b, &parts[i].bursts)
			if (counts(&parts[i], b))
				busy[b->cpu] += b->busy_ns;
	for (int cpu = 1; cpu <= UINT16_MAX; cpu++)
		if (busy[cpu] > busy[worst])
			worst = cpu;
	xfree(busy);
	return worst;
}

/* ---- where windows end ---- */

/* A burst takes its CPU at an even rate over its span. */
struct taken {
	double end_ns, rate;
};
/* A heap, the earliest end on top. */
typedef ARRAY(struct taken) taken_list;

static void taken_push(taken_list *t, struct taken item)
{
	array_push(t, item);
	size_t i = t->count - 1;
	for (; i && t->items[(i - 1) / 2].end_ns > item.end_ns; i = (i - 1) / 2)
		t->items[i] = t->items[(i - 1) / 2];
	t->items[i] = item;
}

static void taken_pop(taken_list *t)
{
	struct taken last = t->items[--t->count];
	size_t i = 0;
	for (size_t child; (child = 2 * i + 1) < t->count; i = child) {
		if (child + 1 < t->count && t->items[child + 1].end_ns < t->items[child].end_ns)
			child++;
		if (t->items[child].end_ns >= last.end_ns)
			break;
		t->items[i] = t->items[child];
	}
	if (t->count)
		t->items[i] = last;
}

struct cutter {
	double length_ns;
	double begin_ns, left_ns; /* of the window at hand: what the program still needs */
	size_t part;
	size_t most; /* windows that are kept, 0: all */
	size_t cut;  /* windows so far */
	window_list windows;
};

/* The i-th of those kept, the oldest first. */
static const struct window *kept(const struct cutter *c, size_t i)
{
	return &c->windows.items[(c->cut + i) % c->windows.count];
}

/* From one moment to another the CPU is left to the program at an even rate. */
static void go_on(struct cutter *c, double from_ns, double to_ns, double taken)
{
	double rate = 1 - fmin(taken, 1);
	while (rate > 0 && (to_ns - from_ns) * rate >= c->left_ns) {
		from_ns += c->left_ns / rate;
		/* the newest take the place of the oldest */
		struct window w = { c->part, c->begin_ns, from_ns };
		if (!c->most || c->cut < c->most)
			array_push(&c->windows, w);
		else
			c->windows.items[c->cut % c->most] = w;
		c->cut++;
		c->begin_ns = from_ns;
		c->left_ns = c->length_ns;
	}
	c->left_ns -= (to_ns - from_ns) * rate;
}

static void cut_part(struct cutter *c, const struct bursts *part, int cpu)
{
	taken_list taken = { 0 };
	double now = 0, rate = 0, end = (double)(part->end_ns - part->begin_ns);
	c->begin_ns = 0;
	c->left_ns = c->length_ns;
	for (size_t next = 0;;) {
		const struct burst *b = NULL;
		while (next < part->bursts.count && !b) {
			b = &part->bursts.items[next];
			if (b->cpu != cpu || !b->span_ns || !counts(part, b))
				b = NULL, next++;
		}
		double begins = b ? (double)b->begin_ns - (double)part->begin_ns : end;
		bool ends = taken.count && taken.items[0].end_ns <= begins;
		double then = fmin(end, ends ? taken.items[0].end_ns : begins);
		if (then > now) {
			go_on(c, now, then, rate);
			now = then;
		}
		if (now >= end)
			break;
		if (ends) {
			taken_pop(&taken);
			rate = 0; /* summed anew: differences would not come back to 0 */
			for (size_t i = 0; i < taken.count; i++)
				rate += taken.items[i].rate;
		} else if (b) {
			struct taken t = { begins + (double)b->span_ns,
					   (double)b->busy_ns / (double)b->span_ns };
			taken_push(&taken, t);
			rate += t.rate;
			next++;
		}
	}
	array_release(&taken);
}

/* ---- what ran in them ---- */

struct filler {
	const struct bursts *part;
	struct sedona_run *out;
	uint32_t *names;  /* by process, UINT32_MAX: not entered yet */
	double *used_ns;  /* by process, within the window at hand */
	double *delay_ns; /* of that, on the program's CPU */
	int cpu;
	ARRAY(uint32_t) active; /* processes that used something */
	ARRAY(size_t) open;	/* bursts that may reach into the next window */
	size_t next;
};

static void use(struct filler *f, const struct burst *b, const struct window *w)
{
	double begin = (double)b->begin_ns - (double)f->part->begin_ns, span = (double)b->span_ns;
	double within = fmin(begin + span, w->end_ns) - fmax(begin, w->begin_ns);
	double share = span > 0 ? within / span : begin >= w->begin_ns;
	if (share <= 0)
		return;
	if (f->used_ns[b->process] == 0)
		array_push(&f->active, b->process);
	f->used_ns[b->process] += (double)b->busy_ns * share;
	if (b->cpu == f->cpu)
		f->delay_ns[b->process] += (double)b->busy_ns * share;
}

static void use_bursts(struct filler *f, const struct window *w)
{
	const struct bursts *part = f->part;
	size_t open = 0;
	for (size_t i = 0; i < f->open.count; i++) {
		const struct burst *b = &part->bursts.items[f->open.items[i]];
		use(f, b, w);
		if ((double)(b->begin_ns + b->span_ns) - (double)part->begin_ns > w->end_ns)
			f->open.items[open++] = f->open.items[i];
	}
	f->open.count = open;
	for (; f->next < part->bursts.count; f->next++) {
		const struct burst *b = &part->bursts.items[f->next];
		if ((double)b->begin_ns - (double)part->begin_ns >= w->end_ns)
			break;
		if (!counts(part, b))
			continue;
		use(f, b, w);
		if ((double)(b->begin_ns + b->span_ns) - (double)part->begin_ns > w->end_ns)
			array_push(&f->open, f->next);
	}
}

static void fill_window(struct filler *f, const struct window *w)
{
	struct sedona_sample s = { .number = (uint32_t)f->out->samples.count + 1,
				   .at_ns = f->part->realtime_ns + (int64_t)w->begin_ns,
				   .et_ns = (uint64_t)llround(w->end_ns - w->begin_ns),
				   .tells_delays = true,
				   .first = f->out->executions.count };
	use_bursts(f, w);
	for (size_t i = 0; i < f->active.count; i++) {
		uint32_t process = f->active.items[i];
		uint64_t pt = (uint64_t)llround(f->used_ns[process]);
		uint64_t delay = (uint64_t)llround(f->delay_ns[process]);
		f->used_ns[process] = f->delay_ns[process] = 0;
		if (!pt)
			continue;
		if (f->names[process] == UINT32_MAX)
			f->names[process] =
				sedona_name_index(f->out, f->part->processes.items[process].name);
		array_push(&f->out->executions,
			   (struct sedona_execution){ f->names[process], pt, delay });
	}
	f->active.count = 0;
	s.count = f->out->executions.count - s.first;
	array_push(&f->out->samples, s);
}

void windows_cut(const struct bursts *parts, size_t count, const struct windows_options *options,
		 struct sedona_run *out, int *cpu)
{
	int taken = options->cpu == WINDOWS_WORST_CPU ? worst_cpu(parts, count) : options->cpu;
	struct cutter c = { .length_ns = (double)options->length_ns, .most = options->most };
	*out = (struct sedona_run){ .length_ns = options->length_ns };
	if (cpu)
		*cpu = taken;
	for (c.part = 0; c.part < count && options->length_ns; c.part++)
		if (parts[c.part].end_ns > parts[c.part].begin_ns)
			cut_part(&c, &parts[c.part], taken);
	for (size_t next = 0; next < c.windows.count;) {
		size_t index = kept(&c, next)->part, processes = parts[index].processes.count;
		struct filler f = { .part = &parts[index], .out = out, .cpu = taken };
		f.names = xcalloc(processes + 1, sizeof *f.names);
		f.used_ns = xcalloc(processes + 1, sizeof *f.used_ns);
		f.delay_ns = xcalloc(processes + 1, sizeof *f.delay_ns);
		for (size_t i = 0; i < processes; i++)
			f.names[i] = UINT32_MAX;
		for (; next < c.windows.count && kept(&c, next)->part == index; next++)
			fill_window(&f, kept(&c, next));
		xfree(f.names);
		xfree(f.used_ns);
		xfree(f.delay_ns);
		array_release(&f.active);
		array_release(&f.open);
	}
	array_release(&c.windows);
}
