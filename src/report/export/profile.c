#include "report/export/profile.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/core/json.h"

/* ---- stacks and names ---- */

static void push_location(const struct profile *p, uint32_t location, bool kernel,
			  export_frames *into)
{
	const struct profile_location *l = &p->locations.items[location];
	if (l->frames == 0)
		array_push(into, (struct export_frame){ .location = location,
							.function = PROFILE_NONE,
							.kernel = kernel });
	for (uint32_t i = l->frames; i-- > 0;) {
		const struct profile_frame *f = &p->frames.items[l->first_frame + i];
		array_push(into, (struct export_frame){ .location = location,
							.function = f->function,
							.line = f->file ? 0 : f->line,
							.inlined = l->frames - 1 - i,
							.kernel = kernel });
	}
}

void export_stack(const struct profile *p, uint32_t stack, export_frames *into)
{
	const struct profile_stack *s = &p->stack_list.items[stack];
	into->count = 0;
	for (uint32_t i = s->count; i-- > 0;)
		push_location(p, p->links.items[s->first + i], i < s->kernel, into);
}

uint32_t export_name_id(const struct profile *p, const struct export_frame *f)
{
	return f->function != PROFILE_NONE ? f->function
					   : (uint32_t)p->functions.count + f->location;
}

uint32_t export_names(const struct profile *p)
{
	return (uint32_t)(p->functions.count + p->locations.count);
}

const struct profile_function *export_function(const struct profile *p, uint32_t id)
{
	return id < p->functions.count ? &p->functions.items[id] : NULL;
}

const char *export_name(const struct profile *p, uint32_t id, char room[EXPORT_NAME_MAX])
{
	const struct profile_function *function = export_function(p, id);
	if (function)
		return function->name;
	sleepy_location_name(p, id - (uint32_t)p->functions.count, room, EXPORT_NAME_MAX);
	return room;
}

uint32_t export_object(const struct profile *p, uint32_t id)
{
	const struct profile_function *function = export_function(p, id);
	return function ? function->object : p->locations.items[id - p->functions.count].object;
}

/* ---- time and identity ---- */

uint64_t export_weight_ns(const struct profile *p, uint64_t samples)
{
	return p->hz > 0 ? (uint64_t)llround((double)samples * 1e9 / p->hz) : 0;
}

const struct profile_instance *export_instance(const struct profile *p, uint32_t thread)
{
	return &p->instances.items[p->threads.items[thread].instance];
}

const struct profile_app *export_app(const struct profile *p, uint32_t thread)
{
	return &p->apps.items[export_instance(p, thread)->app];
}

bool export_passes(const struct profile_slice *slice, const struct sleepy_filter *f)
{
	return slice->begin_ns >= f->begin_ns && (!f->end_ns || slice->begin_ns < f->end_ns);
}

void export_window(const struct profile *p, const struct sleepy_filter *f, uint64_t *begin_ns,
		   uint64_t *length_ns)
{
	uint64_t begin = UINT64_MAX;
	*length_ns = 0;
	for (size_t i = 0; i < p->slices.count; i++) {
		const struct profile_slice *slice = &p->slices.items[i];
		if (!export_passes(slice, f))
			continue;
		if (slice->begin_ns < begin)
			begin = slice->begin_ns;
		if (slice->end_ns > slice->begin_ns)
			*length_ns += slice->end_ns - slice->begin_ns;
	}
	*begin_ns = begin == UINT64_MAX ? 0 : begin;
}

void export_json_text(struct strbuf *out, const char *text)
{
	json_t *value = json_text(text);
	char *encoded = json_dumps(value, JSON_ENCODE_ANY);
	strbuf_puts(out, encoded ? encoded : "null");
	free(encoded);
	json_decref(value);
}

/* ---- numbers for things ---- */

static uint64_t hash_pair(uint64_t a, uint64_t b)
{
	uint64_t x = (a * 0x9e3779b97f4a7c15u) ^ (b + 0x7f4a7c159e3779b9u + (a << 7));
	x *= 0xd6e8feb86659fd93u;
	return x ^ x >> 32;
}

static uint64_t hash_text(const char *text)
{
	uint64_t hash = 14695981039346656037u;
	while (*text)
		hash = (hash ^ (uint8_t)*text++) * 1099511628211u;
	return hash ^ hash >> 32;
}

/* Room for one more than `count`; true: the slots are empty now, and what was there is to be put
 * again. */
static bool slots_grow(struct export_slots *s, size_t count)
{
	if (count * 4 < s->size * 3)
		return false;
	xfree(s->slots);
	s->size = s->size ? s->size * 2 : 256;
	s->slots = xcalloc(s->size, sizeof *s->slots);
	return true;
}

static void slots_put(struct export_slots *s, uint64_t hash, size_t number)
{
	size_t at = hash & (s->size - 1);
	while (s->slots[at])
		at = (at + 1) & (s->size - 1);
	s->slots[at] = (uint32_t)number + 1;
}

uint32_t export_pair(struct export_pairs *p, uint64_t a, uint64_t b)
{
	if (slots_grow(&p->index, p->items.count))
		for (size_t i = 0; i < p->items.count; i++)
			slots_put(&p->index, hash_pair(p->items.items[i].a, p->items.items[i].b),
				  i);
	uint64_t hash = hash_pair(a, b);
	for (size_t at = hash & (p->index.size - 1); p->index.slots[at];
	     at = (at + 1) & (p->index.size - 1)) {
		const struct export_pair *found = &p->items.items[p->index.slots[at] - 1];
		if (found->a == a && found->b == b)
			return p->index.slots[at] - 1;
	}
	slots_put(&p->index, hash, p->items.count);
	array_push(&p->items, (struct export_pair){ a, b });
	return (uint32_t)p->items.count - 1;
}

uint32_t export_text(struct export_texts *t, const char *text)
{
	if (slots_grow(&t->index, t->items.count))
		for (size_t i = 0; i < t->items.count; i++)
			slots_put(&t->index, hash_text(t->items.items[i]), i);
	uint64_t hash = hash_text(text);
	for (size_t at = hash & (t->index.size - 1); t->index.slots[at];
	     at = (at + 1) & (t->index.size - 1))
		if (strcmp(t->items.items[t->index.slots[at] - 1], text) == 0)
			return t->index.slots[at] - 1;
	slots_put(&t->index, hash, t->items.count);
	array_push(&t->items, xstrdup(text));
	return (uint32_t)t->items.count - 1;
}

void export_pairs_release(struct export_pairs *p)
{
	array_release(&p->items);
	xfree(p->index.slots);
	p->index = (struct export_slots){ 0 };
}

void export_texts_release(struct export_texts *t)
{
	for (size_t i = 0; i < t->items.count; i++)
		xfree(t->items.items[i]);
	array_release(&t->items);
	xfree(t->index.slots);
	t->index = (struct export_slots){ 0 };
}

void profile_export(const struct profile_subject *s, const struct sleepy_filter *f,
		    enum profile_format format, struct strbuf *out)
{
	static void (*const formats[PROFILE_FORMATS])(
		const struct profile_subject *, const struct sleepy_filter *, struct strbuf *) = {
		[PROFILE_PPROF] = export_pprof,
		[PROFILE_FOLDED] = export_folded,
		[PROFILE_SPEEDSCOPE] = export_speedscope,
		[PROFILE_FIREFOX] = export_firefox,
	};
	formats[format](s, f, out);
}
