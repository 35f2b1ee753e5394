#include "record/profile.h"

#include <stdio.h>
#include <string.h>

const char *const profile_mode_names[PROFILE_MODES] = { "tick", "cpu-clock", "cycles", "event" };

const char *const profile_stacks_names[PROFILE_STACKS] = { "none", "fp", "eh_frame" };

const char *const object_kind_names[OBJECT_KINDS] = { "file", "kernel", "module", "vdso",
						      "jit",  "memory", "unknown" };

/* ---- the catalogue ---- */

#define X(member, ...) FACT(struct profile, member, __VA_ARGS__)
const struct field profile_settings_fields[] = {
	X(mode, "mode", FIELD_ENUM,
	  "What made a CPU look: the kernel's own tick, a timer, the cycle counter at a rate, or "
	  "so many of an event.",
	  .limit = PROFILE_MODES, .names = profile_mode_names),
	X(stacks, "stacks", FIELD_ENUM, "How user stacks were followed.", .limit = PROFILE_STACKS,
	  .names = profile_stacks_names),
	X(hz, "hz", FIELD_REAL, "Samples per second of a busy CPU; null by an event.",
	  .flags = FIELD_ZERO_ABSENT, .more = "\"minimum\": 0"),
	X(cpus, "cpus", FIELD_U32, "Sampled."),
	X(event, "event", FIELD_NAME,
	  "mode event: which one, as perf calls it. A sample is its overflow, not time.",
	  .limit = COUNTER_NAME, .flags = FIELD_ZERO_ABSENT),
	X(period, "period", FIELD_U64, "mode event: each sample stands for so many events.",
	  .flags = FIELD_ZERO_ABSENT),
	X(realtime_ns, "realtime_ns", FIELD_I64, NULL, .flags = FIELD_ONLY_SQL),
	{ 0 },
};
const struct shape profile_settings_shape = { "profile_settings", NULL, profile_settings_fields };
#undef X

#define X(member, ...) FACT(struct profile_slice, member, __VA_ARGS__)
const struct field profile_slice_fields[] = {
	X(begin_ns, "begin_ns", FIELD_U64, NULL, .flags = FIELD_ONLY_SQL),
	X(end_ns, "end_ns", FIELD_U64, NULL, .flags = FIELD_ONLY_SQL),
	X(samples, "samples", FIELD_U64, "user + kernel."),
	X(user, "user", FIELD_U64, NULL),
	X(kernel, "kernel", FIELD_U64, NULL),
	X(idle, "idle", FIELD_U64,
	  "Measured by the kernel's own account of idle time, in samples."),
	X(others, "others", FIELD_U64, "Taken, but not of what was asked for."),
	X(lost, "lost", FIELD_U64, "Taken, but no room."),
	X(throttled, "throttled", FIELD_U64, "Times the kernel held sampling back."),
	X(untold, "untold", FIELD_U64,
	  "Mappings, forks and ends that the kernel had no room to tell."),
	X(peak_used, "peak_used", FIELD_U32, "Entries of the fullest buffer."),
	X(peak_room, "peak_room", FIELD_U32, NULL),
	X(self_ns, "self_ns", FIELD_U64, "CPU time of tare."),
	{ 0 },
};
const struct shape profile_slice_shape = { "profile_slice", NULL, profile_slice_fields };
#undef X

#define X(member, ...) FACT(struct profile_object, member, __VA_ARGS__)
const struct field profile_object_fields[] = {
	X(kind, "kind", FIELD_ENUM, NULL, .limit = OBJECT_KINDS, .names = object_kind_names),
	X(path, "path", FIELD_RAW, NULL),
	X(device, "device", FIELD_U64, NULL),
	X(inode, "inode", FIELD_U64, NULL),
	X(pid, "pid", FIELD_U32, NULL),
	{ 0 },
};
#undef X

#define X(member, ...) FACT(struct profile_instance, member, __VA_ARGS__)
const struct field profile_instance_fields[] = {
	X(number, "number", FIELD_U32, NULL),
	X(pid, "pid", FIELD_U32, NULL),
	X(start_ns, "start_ns", FIELD_U64, NULL),
	X(exec_id, "exec_id", FIELD_U64, NULL),
	X(first_ns, "first_ns", FIELD_U64, NULL),
	X(comm, "comm", FIELD_NAME, NULL, .limit = sizeof((struct profile_instance){ 0 }.comm)),
	{ 0 },
};
#undef X

/* What is of its object is filled in by hand. */
#define X(member, ...) FACT(struct profile_function, member, __VA_ARGS__)
const struct field profile_function_fields[] = {
	X(name, "name", FIELD_RAW, NULL, .flags = FIELD_ALWAYS),
	{ "object", FIELD_TEXT, .flags = FIELD_ONLY_JSON | FIELD_BY_HAND | FIELD_ALWAYS },
	{ "object_kind", FIELD_ENUM, .limit = OBJECT_KINDS, .names = object_kind_names,
	  .flags = FIELD_ONLY_JSON | FIELD_BY_HAND },
	{ "build_id", FIELD_TEXT, .flags = FIELD_ONLY_JSON | FIELD_BY_HAND },
	X(address, "address", FIELD_ADDRESS, NULL, .flags = FIELD_ALWAYS),
	X(size, "size", FIELD_U64, NULL),
	X(file, "file", FIELD_RAW, NULL),
	X(line, "line", FIELD_U32, NULL, .flags = FIELD_ZERO_ABSENT),
	{ 0 },
};
const struct shape profile_function_shape = { "profile_listing_function", NULL,
					      profile_function_fields };
#undef X

const char *const stack_end_names[] = {
	"leaf", "complete", "limit", "broken", "no_room", "elided"
};

static const struct field stack_ends_fields[] = {
	{ "", FIELD_EACH, STACK_ENDS, .names = stack_end_names, .item = FIELD_U64 },
	{ 0 },
};
const struct shape stack_ends_shape = {
	"stack_ends",
	"Samples with a part in user space, by how their stacks ended. leaf: not followed, only the "
	"instruction is known. complete: up to where the thread started. elided: the same, but "
	"frames in its middle were left out. limit: deeper than it was followed. no_room: the "
	"buffer was full. broken: unreadable, for want of unwind rows or memory.",
	stack_ends_fields
};

/* ---- finding what is there ---- */

/* Positions by the hash of what makes an item the same; the item itself decides. */
struct table {
	uint32_t *slots; /* position + 1; 0: free */
	uint32_t *hashes;
	size_t size, used; /* size: a power of 2, or 0 */
};

enum { OBJECTS, APPS, INSTANCES, THREADS, FUNCTIONS, LOCATIONS, STACKS, SAMPLES, CODE, TABLES };

struct profile_index {
	struct table tables[TABLES];
};

/* Not a plain XOR of the two: threads whose tid grows with their instance would all be one. */
static uint32_t mix(uint32_t hash, uint64_t value)
{
	uint64_t x = (value ^ value >> 32) * 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 29) + hash;
	x *= 0xbf58476d1ce4e5b9u;
	return (uint32_t)(x >> 32);
}

static uint32_t mix_text(uint32_t hash, const char *text)
{
	while (text && *text)
		hash = (hash ^ (uint8_t)*text++) * 16777619u;
	return mix(hash, 1);
}

static struct table *table_of(struct profile *p, int which)
{
	if (!p->index)
		p->index = xcalloc(1, sizeof *p->index);
	return &p->index->tables[which];
}

static void table_put(struct table *t, uint32_t hash, uint32_t position)
{
	size_t at = hash & (t->size - 1);
	while (t->slots[at])
		at = (at + 1) & (t->size - 1);
	t->slots[at] = position + 1;
	t->hashes[at] = hash;
}

static void table_add(struct table *t, uint32_t hash, uint32_t position)
{
	if (t->used * 4 >= t->size * 3) {
		struct table old = *t;
		t->size = old.size ? old.size * 2 : 64;
		t->slots = xcalloc(t->size, sizeof *t->slots);
		t->hashes = xmalloc(t->size * sizeof *t->hashes);
		for (size_t i = 0; i < old.size; i++)
			if (old.slots[i])
				table_put(t, old.hashes[i], old.slots[i] - 1);
		xfree(old.slots);
		xfree(old.hashes);
	}
	table_put(t, hash, position);
	t->used++;
}

/* The next position with this hash; *at: 0 at first. PROFILE_NONE: no more. */
static uint32_t table_next(const struct table *t, uint32_t hash, size_t *at)
{
	for (; *at < t->size; ++*at) {
		size_t slot = (hash + *at) & (t->size - 1);
		if (!t->slots[slot])
			break;
		if (t->hashes[slot] == hash) {
			++*at;
			return t->slots[slot] - 1;
		}
	}
	return PROFILE_NONE;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): `found` is the name of a variable */
/* The position of the item that `same` holds for (`found` is its position there); else
 * PROFILE_NONE.
 */
#define FIND(p, which, hash, found, same)                                                 \
	({                                                                                \
		const struct table *t_ = table_of(p, which);                              \
		size_t at_ = 0;                                                           \
		uint32_t found;                                                           \
		while ((found = table_next(t_, hash, &at_)) != PROFILE_NONE && !(same)) { \
		}                                                                         \
		found;                                                                    \
	})
/* NOLINTEND(bugprone-macro-parentheses) */

#define ADD(p, which, list, hash, ...)                                              \
	({                                                                          \
		array_push(&(p)->list, __VA_ARGS__);                                \
		table_add(table_of(p, which), hash, (uint32_t)(p)->list.count - 1); \
		(uint32_t)(p)->list.count - 1;                                      \
	})

static char *copied(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

/* ---- the dictionaries ---- */

static bool same_object(const struct profile_object *a, const struct profile_object *b)
{
	return a->kind == b->kind && a->pid == b->pid && a->device == b->device &&
	       a->inode == b->inode && a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0 &&
	       strcmp(a->path, b->path) == 0;
}

uint32_t profile_add_object(struct profile *p, const struct profile_object *o)
{
	uint32_t hash = mix(mix_text(o->kind, o->path), o->inode + o->pid);
	uint32_t found = FIND(p, OBJECTS, hash, i, same_object(&p->objects.items[i], o));
	if (found != PROFILE_NONE)
		return found;
	struct profile_object new = *o;
	new.path = xstrdup(o->path);
	return ADD(p, OBJECTS, objects, hash, new);
}

uint32_t profile_add_app(struct profile *p, const char *name, uint32_t object)
{
	uint32_t hash = mix(mix_text(APPS, name), object);
	uint32_t found =
		FIND(p, APPS, hash, i,
		     p->apps.items[i].object == object && strcmp(p->apps.items[i].name, name) == 0);
	if (found != PROFILE_NONE)
		return found;
	return ADD(p, APPS, apps, hash,
		   (struct profile_app){ .name = xstrdup(name), .object = object });
}

uint32_t profile_add_instance(struct profile *p, const struct profile_instance *i)
{
	uint32_t hash = mix(mix(i->pid, i->start_ns), i->exec_id);
	const struct profile_instance *all = p->instances.items;
	uint32_t found = FIND(p, INSTANCES, hash, at,
			      all[at].pid == i->pid && all[at].start_ns == i->start_ns &&
				      all[at].exec_id == i->exec_id);
	if (found != PROFILE_NONE)
		return found;
	struct profile_instance new = *i;
	new.cgroup = copied(i->cgroup);
	new.container = copied(i->container);
	return ADD(p, INSTANCES, instances, hash, new);
}

uint32_t profile_add_thread(struct profile *p, uint32_t instance, uint32_t tid, const char *comm)
{
	uint32_t hash = mix(tid, instance);
	uint32_t found =
		FIND(p, THREADS, hash, i,
		     p->threads.items[i].tid == tid && p->threads.items[i].instance == instance);
	if (found == PROFILE_NONE)
		found = ADD(p, THREADS, threads, hash,
			    (struct profile_thread){ .instance = instance, .tid = tid });
	if (comm)
		snprintf(p->threads.items[found].comm, sizeof p->threads.items[found].comm, "%s",
			 comm);
	return found;
}

uint32_t profile_add_function(struct profile *p, const struct profile_function *f)
{
	uint32_t hash = mix(mix_text(f->object, f->name), f->address);
	uint32_t found = FIND(p, FUNCTIONS, hash, i,
			      p->functions.items[i].object == f->object &&
				      p->functions.items[i].address == f->address &&
				      strcmp(p->functions.items[i].name, f->name) == 0);
	if (found != PROFILE_NONE)
		return found;
	struct profile_function new = *f;
	new.name = xstrdup(f->name);
	new.file = copied(f->file);
	return ADD(p, FUNCTIONS, functions, hash, new);
}

uint32_t profile_add_location(struct profile *p, uint32_t object, uint64_t offset)
{
	uint32_t hash = mix(object, offset);
	uint32_t found = FIND(p, LOCATIONS, hash, i,
			      p->locations.items[i].object == object &&
				      p->locations.items[i].offset == offset);
	if (found != PROFILE_NONE)
		return found;
	return ADD(
		p, LOCATIONS, locations, hash,
		(struct profile_location){ .object = object, .offset = offset, .address = offset });
}

void profile_set_frames(struct profile *p, uint32_t location, uint64_t address,
			const struct profile_frame *frames, size_t count)
{
	struct profile_location *l = &p->locations.items[location];
	l->address = address;
	l->first_frame = (uint32_t)p->frames.count;
	l->frames = (uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		struct profile_frame frame = frames[i];
		frame.file = copied(frames[i].file);
		array_push(&p->frames, frame);
	}
}

uint32_t profile_location_object(const struct profile *p, uint32_t location)
{
	const struct profile_location *l = &p->locations.items[location];
	if (!l->frames)
		return l->object;
	uint32_t function = p->frames.items[l->first_frame + l->frames - 1].function;
	return p->functions.items[function].object;
}

static bool same_stack(const struct profile *p, uint32_t i, const uint32_t *locations, size_t count,
		       size_t kernel, enum stack_end end)
{
	const struct profile_stack *s = &p->stack_list.items[i];
	return s->count == count && s->kernel == kernel && s->end == end &&
	       (count == 0 ||
		memcmp(p->links.items + s->first, locations, count * sizeof *locations) == 0);
}

uint32_t profile_add_stack(struct profile *p, const uint32_t *locations, size_t count,
			   size_t kernel, enum stack_end end)
{
	uint32_t hash = mix((uint32_t)count, kernel * STACK_ENDS + end);
	for (size_t i = 0; i < count; i++)
		hash = mix(hash, locations[i]);
	uint32_t found = FIND(p, STACKS, hash, i, same_stack(p, i, locations, count, kernel, end));
	if (found != PROFILE_NONE)
		return found;
	struct profile_stack new = { .first = (uint32_t)p->links.count,
				     .count = (uint32_t)count,
				     .kernel = (uint32_t)kernel,
				     .end = end };
	array_reserve(&p->links, count + 1);
	if (count)
		memcpy(p->links.items + p->links.count, locations, count * sizeof *locations);
	p->links.count += count;
	return ADD(p, STACKS, stack_list, hash, new);
}

/* It has a function, so that every view and format shows its name. A function of size 0 would be an
 * inlined one. */
static uint32_t add_gap(struct profile *p, const char *name)
{
	uint32_t object = profile_add_object(
		p, &(struct profile_object){ .path = (char *)name, .kind = OBJECT_UNKNOWN });
	uint32_t location = profile_add_location(p, object, 0);
	if (!p->locations.items[location].frames) {
		const struct profile_function f = { .object = object,
						    .name = (char *)name,
						    .size = 1 };
		const struct profile_frame frame = { .function = profile_add_function(p, &f) };
		profile_set_frames(p, location, 0, &frame, 1);
	}
	return location;
}

uint32_t profile_add_walked_stack(struct profile *p, const uint32_t *locations, size_t count,
				  size_t kernel, size_t depth, enum stack_end end)
{
	/* frame pointers do not tell the end from a break */
	const char *missing = end == STACK_BROKEN && p->stacks == STACKS_EH_FRAME ? "[broken]"
			      : end == STACK_LIMIT || end == STACK_NO_ROOM	  ? "[truncated]"
										  : NULL;
	size_t inner = kernel + PROFILE_FRAMES_INNER;
	bool elided = depth > PROFILE_FRAMES_MAX && count > inner;
	if (!missing && !elided)
		return profile_add_stack(p, locations, count, kernel, end);
	ARRAY(uint32_t) links = { 0 };
	for (size_t i = 0; i < count; i++) {
		if (elided && i == inner) {
			array_push(&links, add_gap(p, "[truncated]"));
			if (end == STACK_LIMIT) /* none of the rest is the outermost */
				break;
		}
		array_push(&links, locations[i]);
	}
	if (missing && !(elided && end == STACK_LIMIT))
		array_push(&links, add_gap(p, missing));
	uint32_t stack = profile_add_stack(p, links.items, links.count, kernel,
					   end == STACK_COMPLETE ? STACK_ELIDED : end);
	array_release(&links);
	return stack;
}

void profile_add_sample(struct profile *p, uint32_t slice, uint32_t thread, uint32_t stack,
			uint64_t count)
{
	uint32_t hash = mix(mix(slice, thread), stack);
	uint32_t found =
		FIND(p, SAMPLES, hash, i,
		     p->samples.items[i].slice == slice && p->samples.items[i].thread == thread &&
			     p->samples.items[i].stack == stack);
	if (found == PROFILE_NONE)
		found = ADD(p, SAMPLES, samples, hash,
			    (struct profile_sample){
				    .slice = slice, .thread = thread, .stack = stack });
	p->samples.items[found].count += count;
}

void profile_add_code(struct profile *p, uint32_t function, const uint8_t *bytes, uint32_t size)
{
	if (profile_find_code(p, function) || size == 0)
		return;
	struct profile_code new = { .function = function, .bytes = xmalloc(size), .size = size };
	memcpy(new.bytes, bytes, size);
	ADD(p, CODE, code, mix(CODE, function), new);
}

const struct profile_code *profile_find_code(const struct profile *p, uint32_t function)
{
	if (!p->index)
		return NULL;
	const struct table *t = &p->index->tables[CODE];
	size_t at = 0;
	uint32_t found;
	while ((found = table_next(t, mix(CODE, function), &at)) != PROFILE_NONE)
		if (p->code.items[found].function == function)
			return &p->code.items[found];
	return NULL;
}

/* ---- all of it ---- */

void profile_release(struct profile *p)
{
	for (size_t i = 0; i < p->objects.count; i++)
		xfree(p->objects.items[i].path);
	for (size_t i = 0; i < p->apps.count; i++)
		xfree(p->apps.items[i].name);
	for (size_t i = 0; i < p->instances.count; i++) {
		xfree(p->instances.items[i].cgroup);
		xfree(p->instances.items[i].container);
	}
	for (size_t i = 0; i < p->functions.count; i++) {
		xfree(p->functions.items[i].name);
		xfree(p->functions.items[i].file);
	}
	for (size_t i = 0; i < p->frames.count; i++)
		xfree(p->frames.items[i].file);
	for (size_t i = 0; i < p->code.count; i++)
		xfree(p->code.items[i].bytes);
	array_release(&p->objects);
	array_release(&p->apps);
	array_release(&p->instances);
	array_release(&p->threads);
	array_release(&p->functions);
	array_release(&p->frames);
	array_release(&p->locations);
	array_release(&p->links);
	array_release(&p->stack_list);
	array_release(&p->slices);
	array_release(&p->samples);
	array_release(&p->code);
	for (int i = 0; p->index && i < TABLES; i++) {
		xfree(p->index->tables[i].slots);
		xfree(p->index->tables[i].hashes);
	}
	xfree(p->index);
	*p = (struct profile){ 0 };
}

/* Where each item of `from` is in `to`. */
struct mapped {
	uint32_t *objects, *apps, *instances, *threads, *functions, *locations, *stacks, *slices;
};

static void merge_places(struct profile *to, const struct profile *from, struct mapped *m)
{
	for (uint32_t i = 0; i < from->objects.count; i++)
		m->objects[i] = profile_add_object(to, &from->objects.items[i]);
	for (uint32_t i = 0; i < from->functions.count; i++) {
		struct profile_function f = from->functions.items[i];
		f.object = m->objects[f.object];
		m->functions[i] = profile_add_function(to, &f);
	}
	ARRAY(struct profile_frame) frames = { 0 };
	for (uint32_t i = 0; i < from->locations.count; i++) {
		const struct profile_location *l = &from->locations.items[i];
		uint32_t at = profile_add_location(to, m->objects[l->object], l->offset);
		m->locations[i] = at;
		/* what was looked up stays, also where no function was found */
		if (to->locations.items[at].frames > 0 ||
		    (l->frames == 0 && l->address == l->offset))
			continue;
		frames.count = 0;
		for (uint32_t k = 0; k < l->frames; k++) {
			struct profile_frame frame = from->frames.items[l->first_frame + k];
			frame.function = m->functions[frame.function];
			array_push(&frames, frame);
		}
		profile_set_frames(to, at, l->address, frames.items, frames.count);
	}
	for (uint32_t i = 0; i < from->code.count; i++)
		profile_add_code(to, m->functions[from->code.items[i].function],
				 from->code.items[i].bytes, from->code.items[i].size);
	array_release(&frames);
}

static void merge_owners(struct profile *to, const struct profile *from, struct mapped *m)
{
	for (uint32_t i = 0; i < from->apps.count; i++) {
		uint32_t object = from->apps.items[i].object;
		m->apps[i] = profile_add_app(to, from->apps.items[i].name,
					     object == PROFILE_NONE ? object : m->objects[object]);
	}
	for (uint32_t i = 0; i < from->instances.count; i++) {
		struct profile_instance instance = from->instances.items[i];
		instance.app = m->apps[instance.app];
		m->instances[i] = profile_add_instance(to, &instance);
	}
	for (uint32_t i = 0; i < from->threads.count; i++) {
		const struct profile_thread *t = &from->threads.items[i];
		m->threads[i] = profile_add_thread(to, m->instances[t->instance], t->tid, t->comm);
	}
}

void profile_slice_add(struct profile_slice *to, const struct profile_slice *from)
{
	if (from->end_ns > to->end_ns)
		to->end_ns = from->end_ns;
	to->samples += from->samples;
	to->user += from->user;
	to->kernel += from->kernel;
	to->idle += from->idle;
	to->others += from->others;
	to->lost += from->lost;
	to->throttled += from->throttled;
	to->untold += from->untold;
	to->self_ns += from->self_ns;
	if (from->peak_used > to->peak_used) {
		to->peak_used = from->peak_used;
		to->peak_room = from->peak_room;
	}
}

void profile_merge(struct profile *to, const struct profile *from)
{
	if (to->slices.count == 0) {
		to->mode = from->mode;
		to->stacks = from->stacks;
		to->hz = from->hz;
		memcpy(to->event, from->event, sizeof to->event);
		to->period = from->period;
		to->cpus = from->cpus;
		to->realtime_ns = from->realtime_ns;
	}
	struct mapped m = { 0 };
	struct {
		uint32_t **map;
		size_t count;
	} maps[] = {
		{ &m.objects, from->objects.count },	 { &m.apps, from->apps.count },
		{ &m.instances, from->instances.count }, { &m.threads, from->threads.count },
		{ &m.functions, from->functions.count }, { &m.locations, from->locations.count },
		{ &m.stacks, from->stack_list.count },	 { &m.slices, from->slices.count },
	};
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		*maps[i].map = xcalloc(maps[i].count + 1, sizeof **maps[i].map);
	merge_places(to, from, &m);
	merge_owners(to, from, &m);
	ARRAY(uint32_t) links = { 0 };
	for (uint32_t i = 0; i < from->stack_list.count; i++) {
		const struct profile_stack *s = &from->stack_list.items[i];
		links.count = 0;
		for (uint32_t k = 0; k < s->count; k++)
			array_push(&links, m.locations[from->links.items[s->first + k]]);
		m.stacks[i] = profile_add_stack(to, links.items, links.count, s->kernel, s->end);
	}
	array_release(&links);
	for (uint32_t i = 0; i < from->slices.count; i++) {
		const struct profile_slice *slice = &from->slices.items[i];
		uint32_t at = 0;
		while (at < to->slices.count && to->slices.items[at].begin_ns != slice->begin_ns)
			at++;
		if (at < to->slices.count)
			profile_slice_add(&to->slices.items[at], slice);
		else
			array_push(&to->slices, *slice);
		m.slices[i] = at;
	}
	array_each(s, &from->samples)
		profile_add_sample(to, m.slices[s->slice], m.threads[s->thread], m.stacks[s->stack],
				   s->count);
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		xfree(*maps[i].map);
}

/* ---- names ---- */

const char *object_name(const struct profile_object *o)
{
	const char *slash = o->kind == OBJECT_FILE ? strrchr(o->path, '/') : NULL;
	return slash && slash[1] ? slash + 1 : o->path;
}

void build_id_text(const struct profile_object *o, char text[2 * BUILD_ID_MAX + 1])
{
	for (size_t i = 0; i < o->build_id_size; i++)
		snprintf(text + 2 * i, 3, "%02x", o->build_id[i]);
	text[2 * (size_t)o->build_id_size] = 0;
}

char *cgroup_container(const char *path)
{
	/* 64 hex digits, as all runtimes of OCI name their containers */
	for (const char *text = path; *text;) {
		size_t length = strspn(text, "0123456789abcdef");
		if (length == 64)
			return xstrndup(text, 64);
		text += length ? length : 1;
	}
	static const char *const before[] = { "/lxc.payload.", "/lxc/", "/machine.slice/machine-",
					      "/machine.slice/systemd-nspawn@" };
	for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
		const char *at = strstr(path, before[i]);
		if (!at)
			continue;
		at += strlen(before[i]);
		size_t length = strcspn(at, "/");
		for (size_t k = 0; k < 2; k++) {
			static const char *const ends[] = { ".scope", ".service" };
			size_t end = strlen(ends[k]);
			if (length > end && strncmp(at + length - end, ends[k], end) == 0)
				length -= end;
		}
		if (length > 0)
			return xstrndup(at, length);
	}
	return NULL;
}
