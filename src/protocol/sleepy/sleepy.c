#include "protocol/sleepy/sleepy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/sleepy/private.h"

const char *const sleepy_by_names[SLEEPY_VIEWS] = { "system", "app",	     "instance",
						    "thread", "object",	     "function",
						    "line",   "instruction", "container" };

/* ---- which samples ---- */

const char *sleepy_container_of(const struct profile_instance *i)
{
	return i->container ? i->container : i->cgroup;
}

static bool thread_passes(const struct profile *p, const struct sleepy_filter *f,
			  const struct profile_thread *t)
{
	const struct profile_instance *i = &p->instances.items[t->instance];
	if ((f->pid && f->pid != i->pid) || (f->tid && f->tid != t->tid) ||
	    (f->instance >= 0 && f->instance != (int64_t)i->number))
		return false;
	if (f->container && !sleepy_matches(f->container, i->container) &&
	    !sleepy_matches(f->container, i->cgroup))
		return false;
	return sleepy_app_matches(p, f->app, i->app) && sleepy_matches(f->comm, t->comm);
}

static bool location_passes(const struct profile *p, const struct sleepy_filter *f,
			    uint32_t location, const bool *objects, const bool *functions)
{
	const struct profile_location *l = &p->locations.items[location];
	if (!objects[profile_location_object(p, location)])
		return false;
	for (uint32_t i = 0; i < l->frames; i++)
		if (functions[p->frames.items[l->first_frame + i].function])
			return true;
	if (l->frames || !f->function)
		return !f->function;
	return sleepy_unnamed_matches(p, f->function, location);
}

static bool stack_passes(const struct profile *p, const struct sleepy_filter *f,
			 const struct profile_stack *s, const bool *places)
{
	uint32_t depth = f->function && !f->innermost ? s->count : s->count > 0;
	if (!f->object && !f->function)
		return true;
	for (uint32_t i = 0; i < depth; i++)
		if (places[p->links.items[s->first + i]])
			return true;
	return false;
}

void sleepy_sieve_make(const struct profile *p, const struct sleepy_filter *f,
		       struct sleepy_sieve *out)
{
	static const struct sleepy_filter everything = SLEEPY_ALL;
	bool *objects = xcalloc(p->objects.count + 1, sizeof *objects);
	bool *functions = xcalloc(p->functions.count + 1, sizeof *functions);
	bool *places = xcalloc(p->locations.count + 1, sizeof *places);
	f = f ? f : &everything;
	*out = (struct sleepy_sieve){ .slices = xcalloc(p->slices.count + 1, sizeof(bool)),
				      .threads = xcalloc(p->threads.count + 1, sizeof(bool)),
				      .stacks = xcalloc(p->stack_list.count + 1, sizeof(bool)) };
	for (size_t i = 0; i < p->slices.count; i++) {
		uint64_t begin = p->slices.items[i].begin_ns;
		out->slices[i] = begin >= f->begin_ns && (!f->end_ns || begin < f->end_ns);
	}
	for (size_t i = 0; i < p->threads.count; i++)
		out->threads[i] = thread_passes(p, f, &p->threads.items[i]);
	for (uint32_t i = 0; i < p->objects.count; i++)
		objects[i] = sleepy_object_matches(p, f->object, i);
	for (uint32_t i = 0; i < p->functions.count; i++)
		functions[i] = sleepy_function_matches(p, f->function, i);
	for (uint32_t i = 0; i < p->locations.count; i++)
		places[i] = location_passes(p, f, i, objects, functions);
	for (size_t i = 0; i < p->stack_list.count; i++) {
		const struct profile_stack *s = &p->stack_list.items[i];
		int space = s->kernel ? 2 : 1;
		out->stacks[i] = (!f->space || f->space == space) && stack_passes(p, f, s, places);
	}
	xfree(objects);
	xfree(functions);
	xfree(places);
}

void sleepy_sieve_release(struct sleepy_sieve *s)
{
	xfree(s->slices);
	xfree(s->threads);
	xfree(s->stacks);
}

/* ---- one function ---- */

static int by_address(const void *a, const void *b)
{
	const struct sleepy_count *x = a, *y = b;
	return ORDER(x->address, y->address);
}

void sleepy_instructions(const struct profile *p, uint32_t function, const struct sleepy_filter *f,
			 sleepy_counts *into)
{
	struct sleepy_sieve sieve;
	uint64_t *at = xcalloc(p->locations.count + 1, sizeof *at);
	sleepy_sieve_make(p, f, &sieve);
	*into = (sleepy_counts){ 0 };
	array_each(s, &p->samples) {
		uint32_t leaf = sleepy_leaf(p, &p->stack_list.items[s->stack]);
		if (leaf != PROFILE_NONE && sleepy_function_of(p, leaf) == function &&
		    sleepy_passes(&sieve, s))
			at[leaf] += s->count;
	}
	for (size_t i = 0; i < p->locations.count; i++)
		if (at[i])
			array_push(into,
				   (struct sleepy_count){ p->locations.items[i].address, at[i] });
	array_sort(into, by_address);
	/* two offsets may have got one address: memory that was mapped twice */
	size_t kept = 0;
	for (size_t i = 0; i < into->count; i++)
		if (kept && into->items[kept - 1].address == into->items[i].address)
			into->items[kept - 1].self += into->items[i].self;
		else
			into->items[kept++] = into->items[i];
	into->count = kept;
	sleepy_sieve_release(&sieve);
	xfree(at);
}

/* ---- all of them ---- */

struct passed {
	const struct profile_sample *sample;
};

static int by_thread_and_stack(const void *a, const void *b)
{
	const struct profile_sample *x = ((const struct passed *)a)->sample;
	const struct profile_sample *y = ((const struct passed *)b)->sample;
	return ORDER(x->thread, y->thread) ?: ORDER(x->stack, y->stack) ?:
	       ORDER(x->slice, y->slice);
}

void sleepy_each(const struct profile *p, const struct sleepy_filter *f, sleepy_stack_fn each,
		 void *context)
{
	struct sleepy_sieve sieve;
	ARRAY(struct passed) list = { 0 };
	sleepy_sieve_make(p, f, &sieve);
	for (size_t i = 0; i < p->samples.count; i++)
		if (sleepy_passes(&sieve, &p->samples.items[i]))
			array_push(&list, (struct passed){ &p->samples.items[i] });
	array_sort(&list, by_thread_and_stack);
	for (size_t i = 0, next = 0; i < list.count; i = next) {
		const struct profile_sample *s = list.items[i].sample;
		uint64_t count = 0;
		for (; next < list.count; next++) {
			const struct profile_sample *other = list.items[next].sample;
			if (other->thread != s->thread || other->stack != s->stack)
				break;
			count += other->count;
		}
		each(context, s, count);
	}
	array_release(&list);
	sleepy_sieve_release(&sieve);
}

bool sleepy_is_region(const struct profile *p, uint32_t location)
{
	const struct profile_location *l = &p->locations.items[location];
	enum object_kind kind = p->objects.items[l->object].kind;
	return !l->frames && (kind == OBJECT_MEMORY || kind == OBJECT_UNKNOWN);
}

void sleepy_location_name(const struct profile *p, uint32_t location, char *out, size_t size)
{
	uint32_t function = sleepy_function_of(p, location);
	if (location == PROFILE_NONE)
		snprintf(out, size, "[unknown]");
	else if (function != PROFILE_NONE)
		snprintf(out, size, "%s", p->functions.items[function].name);
	else if (sleepy_is_region(p, location))
		snprintf(out, size, "%s",
			 object_name(&p->objects.items[p->locations.items[location].object]));
	else {
		const struct profile_location *l = &p->locations.items[location];
		snprintf(out, size, "%s+0x%" PRIx64, object_name(&p->objects.items[l->object]),
			 l->offset);
	}
}
