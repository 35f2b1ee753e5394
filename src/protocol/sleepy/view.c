/* Samples, summed by thread and by stack in one pass; rows are made of these sums. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "protocol/sleepy/private.h"

#define SEVERAL (PROFILE_NONE - 1) /* apps */
#define SEEN_ALL 0.97		   /* of what all CPUs make: idle time is coarse */

static const struct sleepy_row no_row = { .app = PROFILE_NONE,
					  .instance = PROFILE_NONE,
					  .thread = PROFILE_NONE,
					  .object = PROFILE_NONE,
					  .function = PROFILE_NONE,
					  .location = PROFILE_NONE };

struct sums {
	struct {
		uint64_t user, kernel;
	} * threads;
	uint64_t *stacks;
	uint32_t *stack_apps; /* PROFILE_NONE: no sample; SEVERAL */
};

struct tally {
	const struct profile *p;
	struct sleepy_view *v;
	struct sums sums;
	bool merge_inlined;
	uint32_t *lines; /* by frame: the first frame of the same line; view LINE */
};

static uint32_t joined(uint32_t a, uint32_t b)
{
	return a == PROFILE_NONE ? b : b == PROFILE_NONE || a == b ? a : SEVERAL;
}

static void sum_up(struct tally *t, const struct sleepy_sieve *sieve)
{
	const struct profile *p = t->p;
	struct sums *sums = &t->sums;
	sums->threads = xcalloc(p->threads.count + 1, sizeof *sums->threads);
	sums->stacks = xcalloc(p->stack_list.count + 1, sizeof *sums->stacks);
	sums->stack_apps = xmalloc((p->stack_list.count + 1) * sizeof *sums->stack_apps);
	memset(sums->stack_apps, 0xff, (p->stack_list.count + 1) * sizeof *sums->stack_apps);
	array_each(s, &p->samples) {
		const struct profile_stack *stack = &p->stack_list.items[s->stack];
		t->v->all += s->count;
		if (!sleepy_passes(sieve, s))
			continue;
		uint32_t instance = p->threads.items[s->thread].instance;
		uint32_t *app = &sums->stack_apps[s->stack];
		*app = joined(*app, p->instances.items[instance].app);
		sums->stacks[s->stack] += s->count;
		if (stack->kernel)
			sums->threads[s->thread].kernel += s->count;
		else
			sums->threads[s->thread].user += s->count;
		t->v->samples += s->count;
		if (stack->count > stack->kernel)
			t->v->ends[stack->end] += s->count;
		uint32_t leaf = sleepy_leaf(p, stack);
		if (leaf == PROFILE_NONE || !p->locations.items[leaf].frames)
			t->v->no_function += s->count;
	}
}

/* ---- by owner ---- */

static void system_rows(struct tally *t, const struct sleepy_sieve *sieve)
{
	static const char *const names[SLEEPY_STATES] = { "user",   "kernel", "idle",
							  "others", "lost",   "not sampled" };
	uint64_t counts[SLEEPY_STATES] = { 0 };
	for (size_t i = 0; i < t->p->threads.count; i++) {
		counts[0] += t->sums.threads[i].user;
		counts[1] += t->sums.threads[i].kernel;
	}
	for (size_t i = 0; i < t->p->slices.count; i++) {
		const struct profile_slice *s = &t->p->slices.items[i];
		counts[2] += sieve->slices[i] ? s->idle : 0;
		counts[3] += sieve->slices[i] ? s->others : 0;
		counts[4] += sieve->slices[i] ? s->lost : 0;
	}
	/* samples that there should have been, and were not: the timer came late, or not at all */
	double whole = t->p->hz * t->p->cpus * (double)t->v->elapsed_ns / 1e9;
	double seen = (double)t->v->busy + (double)counts[2];
	counts[5] = seen < SEEN_ALL * whole ? (uint64_t)(whole - seen + 0.5) : 0;
	for (size_t i = 0; i < SLEEPY_STATES; i++) {
		struct sleepy_row row = no_row;
		row.name = xstrdup(names[i]);
		row.self = row.total = counts[i];
		row.user = i == 0 ? counts[0] : 0;
		row.kernel = i == 1 ? counts[1] : 0;
		array_push(&t->v->rows, row);
	}
}

struct named_instance {
	const char *name; /* NULL: not known */
	uint32_t instance;
};

static int by_container(const void *a, const void *b)
{
	const struct named_instance *x = a, *y = b;
	if (!x->name || !y->name)
		return !x->name - !y->name;
	return strcmp(x->name, y->name);
}

/* Instances of one container get one key. */
static uint32_t *container_keys(const struct profile *p)
{
	size_t count = p->instances.count;
	struct named_instance *list = xcalloc(count + 1, sizeof *list);
	uint32_t *keys = xcalloc(count + 1, sizeof *keys);
	for (size_t i = 0; i < count; i++)
		list[i] = (struct named_instance){ sleepy_container_of(&p->instances.items[i]),
						   (uint32_t)i };
	qsort(list, count, sizeof *list, by_container);
	for (size_t i = 1; i < count; i++)
		keys[list[i].instance] =
			keys[list[i - 1].instance] + (by_container(&list[i - 1], &list[i]) != 0);
	xfree(list);
	return keys;
}

static void owner_rows(struct tally *t)
{
	const struct profile *p = t->p;
	enum sleepy_by by = t->v->by;
	uint32_t *containers = by == SLEEPY_CONTAINER ? container_keys(p) : NULL;
	size_t keys = p->threads.count + p->instances.count + p->apps.count + 1;
	uint32_t *row_of = xmalloc(keys * sizeof *row_of);
	memset(row_of, 0xff, keys * sizeof *row_of);
	for (uint32_t i = 0; i < p->threads.count; i++) {
		uint64_t user = t->sums.threads[i].user, kernel = t->sums.threads[i].kernel;
		if (!user && !kernel)
			continue;
		uint32_t instance = p->threads.items[i].instance;
		uint32_t app = p->instances.items[instance].app, key = app;
		struct sleepy_row new = no_row;
		if (containers) {
			key = containers[instance];
			new.container = sleepy_container_of(&p->instances.items[instance]);
		} else if (by == SLEEPY_THREAD) {
			key = new.thread = i;
		} else if (by == SLEEPY_INSTANCE) {
			key = instance;
		}
		if (by == SLEEPY_THREAD || by == SLEEPY_INSTANCE)
			new.instance = instance;
		if (row_of[key] == PROFILE_NONE) {
			row_of[key] = (uint32_t)t->v->rows.count;
			array_push(&t->v->rows, new);
		}
		struct sleepy_row *row = &t->v->rows.items[row_of[key]];
		row->app = joined(row->app, app);
		row->self += user + kernel;
		row->total += user + kernel;
		row->user += user;
		row->kernel += kernel;
	}
	xfree(containers);
	xfree(row_of);
}

/* ---- by place ---- */

static const char *frame_file(const struct profile *p, const struct profile_frame *f)
{
	return f->file ? f->file : p->functions.items[f->function].file;
}

static bool same_line(const struct profile *p, const struct profile_frame *a,
		      const struct profile_frame *b)
{
	if (a->function != b->function || a->line != b->line)
		return false;
	const char *x = frame_file(p, a), *y = frame_file(p, b);
	return !a->line || x == y || (x && y && strcmp(x, y) == 0);
}

static void find_lines(struct tally *t)
{
	const struct profile *p = t->p;
	size_t room = 64;
	while (room < 2 * p->frames.count)
		room *= 2;
	uint32_t *slots = xmalloc(room * sizeof *slots);
	memset(slots, 0xff, room * sizeof *slots);
	t->lines = xmalloc((p->frames.count + 1) * sizeof *t->lines);
	for (uint32_t i = 0; i < p->frames.count; i++) {
		const struct profile_frame *f = &p->frames.items[i];
		uint64_t hash = ((uint64_t)f->function << 32 | f->line) * 0x9e3779b97f4a7c15u;
		size_t at = (size_t)(hash >> 32) & (room - 1);
		while (slots[at] != PROFILE_NONE && !same_line(p, &p->frames.items[slots[at]], f))
			at = (at + 1) & (room - 1);
		if (slots[at] == PROFILE_NONE)
			slots[at] = i;
		t->lines[i] = slots[at];
	}
	xfree(slots);
}

/* What rows are of gets a number, its key; a location has one or several, innermost first. Laid out
 * for the loop over all frames of all stacks, which is where an aggregation spends its time. */
struct places {
	uint32_t *first; /* by location: its keys, up to those of the next one */
	uint32_t *keys;
	size_t key_count;
	struct place {
		uint32_t last; /* stack that was counted */
		uint32_t app;
		uint64_t total;
	} * counted; /* by key */
	struct origin {
		uint32_t location, frame; /* one that has this key */
		uint64_t user, kernel;
	} * origins;
	size_t count;
};

static size_t known_keys(const struct tally *t)
{
	const struct profile *p = t->p;
	switch (t->v->by) {
	case SLEEPY_FUNCTION:
		return p->functions.count;
	case SLEEPY_LINE:
		return p->frames.count;
	case SLEEPY_OBJECT:
		return p->objects.count;
	default:
		return 0;
	}
}

/* Those of locations without a function come after the known ones, then those of regions; the last
 * is of stacks without a location. */
static uint32_t key_of(const struct tally *t, uint32_t location, uint32_t frame)
{
	const struct profile *p = t->p;
	if (t->v->by == SLEEPY_OBJECT)
		return profile_location_object(p, location);
	if (frame != PROFILE_NONE && t->v->by == SLEEPY_FUNCTION)
		return p->frames.items[frame].function;
	if (frame != PROFILE_NONE && t->lines)
		return t->lines[frame];
	uint32_t key = (uint32_t)known_keys(t);
	if (t->v->by != SLEEPY_INSTRUCTION && frame == PROFILE_NONE &&
	    sleepy_is_region(p, location))
		return key + (uint32_t)p->locations.count + p->locations.items[location].object;
	return key + location;
}

static void lay_out_keys(const struct tally *t, struct places *places)
{
	const struct profile *p = t->p;
	bool by_frame = t->v->by == SLEEPY_FUNCTION || t->v->by == SLEEPY_LINE;
	places->count = known_keys(t) + p->locations.count + p->objects.count + 1;
	places->first = xcalloc(p->locations.count + 1, sizeof *places->first);
	size_t keys = 1;
	for (size_t i = 0; i < p->locations.count; i++)
		keys += p->locations.items[i].frames + 1;
	places->keys = xcalloc(keys, sizeof *places->keys);
	places->counted = xmalloc(places->count * sizeof *places->counted);
	places->origins = xcalloc(places->count, sizeof *places->origins);
	for (size_t i = 0; i < places->count; i++) {
		places->counted[i] = (struct place){ .last = PROFILE_NONE, .app = PROFILE_NONE };
		places->origins[i].location = places->origins[i].frame = PROFILE_NONE;
	}
	for (uint32_t i = 0; i < p->locations.count; i++) {
		const struct profile_location *l = &p->locations.items[i];
		uint32_t end = l->first_frame + l->frames;
		places->first[i] = (uint32_t)places->key_count;
		bool one = !l->frames || !by_frame || t->merge_inlined;
		for (uint32_t k = one ? end - 1 : l->first_frame; k != end; k++) {
			uint32_t frame = l->frames ? k : PROFILE_NONE, key = key_of(t, i, frame);
			places->keys[places->key_count++] = key;
			places->origins[key].location = i;
			places->origins[key].frame = frame;
		}
	}
	places->first[p->locations.count] = (uint32_t)places->key_count;
}

static inline void count_place(struct places *places, uint32_t key, uint32_t stack, uint32_t app,
			       uint64_t count)
{
	struct place *place = &places->counted[key];
	if (place->last == stack)
		return;
	place->last = stack;
	place->total += count;
	place->app = joined(place->app, app);
}

static void count_stack(const struct tally *t, struct places *places, uint32_t stack)
{
	const struct profile_stack *s = &t->p->stack_list.items[stack];
	const uint32_t *links = t->p->links.items + s->first;
	uint64_t count = t->sums.stacks[stack];
	uint32_t app = t->sums.stack_apps[stack], key = (uint32_t)places->count - 1;
	uint32_t depth = t->v->by == SLEEPY_INSTRUCTION && s->count ? 1 : s->count;
	for (uint32_t i = 0; i < depth; i++)
		for (uint32_t k = places->first[links[i]]; k < places->first[links[i] + 1]; k++)
			count_place(places, places->keys[k], stack, app, count);
	if (depth)
		key = places->keys[places->first[links[0]]];
	else
		count_place(places, key, stack, app, count);
	if (s->kernel)
		places->origins[key].kernel += count;
	else
		places->origins[key].user += count;
}

static void add_place(struct tally *t, const struct place *place, const struct origin *origin)
{
	const struct profile *p = t->p;
	enum sleepy_by by = t->v->by;
	struct sleepy_row row = no_row;
	row.total = place->total;
	row.app = place->app;
	row.user = origin->user;
	row.kernel = origin->kernel;
	row.self = origin->user + origin->kernel;
	if (origin->location != PROFILE_NONE) {
		const struct profile_location *l = &p->locations.items[origin->location];
		bool one = by == SLEEPY_INSTRUCTION || (origin->frame == PROFILE_NONE &&
							!sleepy_is_region(p, origin->location));
		row.object = profile_location_object(p, origin->location);
		if (by != SLEEPY_OBJECT) {
			row.where = object_name(&p->objects.items[row.object]);
			row.location = one ? origin->location : PROFILE_NONE;
			row.address = one ? l->address : 0;
		}
	}
	if (origin->frame != PROFILE_NONE && by != SLEEPY_OBJECT) {
		const struct profile_frame *f = &p->frames.items[origin->frame];
		row.function = f->function;
		row.file = by == SLEEPY_LINE ? frame_file(p, f) : NULL;
		row.line = by == SLEEPY_LINE ? f->line : 0;
	}
	array_push(&t->v->rows, row);
}

static void place_rows(struct tally *t)
{
	struct places places = { 0 };
	if (t->v->by == SLEEPY_LINE)
		find_lines(t);
	lay_out_keys(t, &places);
	for (uint32_t i = 0; i < t->p->stack_list.count; i++)
		if (t->sums.stacks[i])
			count_stack(t, &places, i);
	for (size_t i = 0; i < places.count; i++)
		if (places.counted[i].total)
			add_place(t, &places.counted[i], &places.origins[i]);
	xfree(places.first);
	xfree(places.keys);
	xfree(places.counted);
	xfree(places.origins);
}

/* ---- names and order ---- */

static void put_place(const struct profile *p, const struct sleepy_view *v,
		      const struct sleepy_row *row, struct strbuf *out)
{
	const struct profile_function *f =
		row->function == PROFILE_NONE ? NULL : &p->functions.items[row->function];
	if (v->by == SLEEPY_LINE && row->line && row->file)
		strbuf_printf(out, "%s:%" PRIu32, row->file, row->line);
	else if (v->by == SLEEPY_INSTRUCTION && f)
		strbuf_printf(out, "%s+0x%" PRIx64, f->name, row->address - f->address);
	else if (f)
		strbuf_puts(out, f->name);
	else if (row->location != PROFILE_NONE)
		strbuf_printf(out, "%s+0x%" PRIx64, row->where,
			      p->locations.items[row->location].offset);
	else
		strbuf_puts(out, row->where ? row->where : "[unknown]");
}

static char *name_of(const struct profile *p, const struct sleepy_view *v,
		     const struct sleepy_row *row)
{
	struct strbuf out = { 0 };
	switch (v->by) {
	case SLEEPY_APP:
		strbuf_puts(&out, p->apps.items[row->app].name);
		break;
	case SLEEPY_INSTANCE:
	case SLEEPY_THREAD: {
		const struct profile_instance *i = &p->instances.items[row->instance];
		strbuf_printf(&out, "%s#%" PRIu32, p->apps.items[i->app].name, i->number);
		if (v->by == SLEEPY_THREAD)
			strbuf_printf(&out, "/%s", p->threads.items[row->thread].comm);
		break;
	}
	case SLEEPY_OBJECT:
		strbuf_puts(&out, row->object == PROFILE_NONE ? "[unknown]"
							      : p->objects.items[row->object].path);
		break;
	case SLEEPY_CONTAINER:
		strbuf_puts(&out, row->container ? row->container : "[unknown]");
		break;
	default:
		put_place(p, v, row, &out);
	}
	return strbuf_detach(&out);
}

static int by_weight(const void *a, const void *b)
{
	const struct sleepy_row *x = a, *y = b;
	return ORDER(y->self, x->self) ?: ORDER(y->total, x->total) ?: strcmp(x->name, y->name) ?:
	       ORDER(x->address, y->address);
}

void sleepy_aggregate(const struct profile *p, enum sleepy_by by, const struct sleepy_filter *f,
		      bool merge_inlined, struct sleepy_view *into)
{
	struct sleepy_sieve sieve;
	struct tally t = { .p = p, .v = into, .merge_inlined = merge_inlined };
	*into = (struct sleepy_view){ .by = by };
	sleepy_sieve_make(p, f, &sieve);
	for (size_t i = 0; i < p->slices.count; i++) {
		const struct profile_slice *s = &p->slices.items[i];
		if (!sieve.slices[i])
			continue;
		into->elapsed_ns += s->end_ns > s->begin_ns ? s->end_ns - s->begin_ns : 0;
		into->busy += s->samples + s->others + s->lost;
	}
	sum_up(&t, &sieve);
	if (by == SLEEPY_SYSTEM)
		system_rows(&t, &sieve);
	else if (by == SLEEPY_APP || by == SLEEPY_INSTANCE || by == SLEEPY_THREAD ||
		 by == SLEEPY_CONTAINER)
		owner_rows(&t);
	else
		place_rows(&t);
	for (size_t i = 0; i < into->rows.count && by != SLEEPY_SYSTEM; i++) {
		struct sleepy_row *row = &into->rows.items[i];
		row->app = row->app == SEVERAL ? PROFILE_NONE : row->app;
		row->name = name_of(p, into, row);
	}
	if (into->rows.count && by != SLEEPY_SYSTEM)
		array_sort(&into->rows, by_weight);
	sleepy_sieve_release(&sieve);
	xfree(t.sums.threads);
	xfree(t.sums.stacks);
	xfree(t.sums.stack_apps);
	xfree(t.lines);
}

void sleepy_view_release(struct sleepy_view *v)
{
	for (size_t i = 0; i < v->rows.count; i++)
		xfree(v->rows.items[i].name);
	array_release(&v->rows);
}
