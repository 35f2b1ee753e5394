#include "report/export/profile.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

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
	uint32_t id = (uint32_t)p->functions.count;
	if (f->function != PROFILE_NONE)
		return f->function;
	if (sleepy_is_region(p, f->location))
		return id + (uint32_t)p->locations.count + p->locations.items[f->location].object;
	return id + f->location;
}

uint32_t export_names(const struct profile *p)
{
	return (uint32_t)(p->functions.count + p->locations.count + p->objects.count);
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
	if (id - p->functions.count >= p->locations.count)
		return object_name(&p->objects.items[export_object(p, id)]);
	sleepy_location_name(p, id - (uint32_t)p->functions.count, room, EXPORT_NAME_MAX);
	return room;
}

uint32_t export_object(const struct profile *p, uint32_t id)
{
	const struct profile_function *function = export_function(p, id);
	size_t location = id - p->functions.count;
	if (function)
		return function->object;
	return location < p->locations.count ? p->locations.items[location].object
					     : (uint32_t)(location - p->locations.count);
}

/* ---- time and identity ---- */

uint64_t export_weight(const struct profile *p, uint64_t samples)
{
	if (p->mode == PROFILE_EVENT)
		return samples * p->period;
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
	FREED char *encoded = json_dumps(value, JSON_ENCODE_ANY);
	strbuf_puts(out, encoded ? encoded : "null");
	json_decref(value);
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
