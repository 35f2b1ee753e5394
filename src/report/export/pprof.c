/* pprof: perftools.profiles.Profile of github.com/google/pprof, proto/profile.proto, whose field
 * numbers these are; compressed by gzip. */
#include <zlib.h>

#include "report/export/profile.h"
#include "report/export/proto.h"

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
};
enum { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_TEXT = 2, LABEL_NUMBER = 3 };
enum mapping_field {
	MAPPING_ID = 1,
	MAPPING_LIMIT = 3,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILES = 8,
	MAPPING_HAS_LINES = 9,
	MAPPING_HAS_INLINES = 10,
};
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_NUMBER = 2 };
enum {
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
	FUNCTION_LINE = 5
};

/* What the locations of an object tell. */
struct pprof_mapping {
	bool used, nameless, lines, files, inlines;
};

struct pprof {
	const struct profile *profile;
	struct strbuf *out;
	struct text_numbers texts;
	bool *locations, *functions; /* in use; functions by export_name_id() */
	struct pprof_mapping *mappings;
	ARRAY(uint64_t) links;
};

static void put_text(struct pprof *w, uint32_t field, const char *text)
{
	proto_uint(w->out, field, number_of_text(&w->texts, text));
}

static void put_type(struct pprof *w, uint32_t field, const char *type, const char *unit)
{
	size_t entry = proto_open(w->out, field);
	put_text(w, VALUE_TYPE, type);
	put_text(w, VALUE_UNIT, unit);
	proto_close(w->out, entry);
}

/* text NULL: it is a number. */
static void put_label(struct pprof *w, const char *key, const char *text, uint64_t number)
{
	if (text && !*text)
		return;
	size_t label = proto_open(w->out, SAMPLE_LABEL);
	put_text(w, LABEL_KEY, key);
	if (text)
		put_text(w, LABEL_TEXT, text);
	else
		proto_uint(w->out, LABEL_NUMBER, number);
	proto_close(w->out, label);
}

static void put_sample(void *context, const struct profile_sample *s, uint64_t count)
{
	struct pprof *w = context;
	const struct profile_stack *stack = &w->profile->stack_list.items[s->stack];
	w->links.count = 0;
	for (uint32_t i = 0; i < stack->count; i++) {
		uint32_t location = w->profile->links.items[stack->first + i];
		w->locations[location] = true;
		array_push(&w->links, (uint64_t)location + 1);
	}
	uint64_t values[] = { count, export_weight(w->profile, count) };
	size_t sample = proto_open(w->out, PROFILE_SAMPLE);
	proto_packed(w->out, SAMPLE_LOCATION, w->links.items, w->links.count);
	proto_packed(w->out, SAMPLE_VALUE, values, 2);
	const struct profile_thread *thread = &w->profile->threads.items[s->thread];
	const struct profile_instance *instance = export_instance(w->profile, s->thread);
	const struct profile_app *app = export_app(w->profile, s->thread);
	SCOPED(strbuf_release) struct strbuf appid = { 0 };
	strbuf_printf(&appid, "%s#%u", app->name, instance->number);
	put_label(w, "app", app->name, 0);
	put_label(w, "instance", strbuf_text(&appid), 0);
	put_label(w, "pid", NULL, instance->pid);
	put_label(w, "tid", NULL, thread->tid);
	put_label(w, "thread", thread->comm, 0);
	put_label(w, "container", instance->container ? instance->container : "", 0);
	enum stack_end end = w->profile->stack_list.items[s->stack].end;
	if (end > STACK_COMPLETE)
		put_label(w, "stack", stack_end_names[end], 0);
	proto_close(w->out, sample);
}

static void put_line(struct pprof *w, uint32_t name, uint32_t number)
{
	w->functions[name] = true;
	size_t line = proto_open(w->out, LOCATION_LINE);
	proto_uint(w->out, LINE_FUNCTION, (uint64_t)name + 1);
	proto_uint(w->out, LINE_NUMBER, number);
	proto_close(w->out, line);
}

static void put_location(struct pprof *w, uint32_t location)
{
	const struct profile *p = w->profile;
	const struct profile_location *l = &p->locations.items[location];
	uint32_t object = profile_location_object(p, location);
	struct pprof_mapping *mapping = &w->mappings[object];
	mapping->used = true;
	mapping->inlines |= l->frames > 1;
	mapping->nameless |= l->frames == 0;
	size_t entry = proto_open(w->out, PROFILE_LOCATION);
	proto_uint(w->out, LOCATION_ID, (uint64_t)location + 1);
	proto_uint(w->out, LOCATION_MAPPING, (uint64_t)object + 1);
	proto_uint(w->out, LOCATION_ADDRESS, l->address);
	for (uint32_t i = 0; i < l->frames; i++) {
		const struct profile_frame *f = &p->frames.items[l->first_frame + i];
		mapping->lines |= f->line != 0;
		mapping->files |= p->functions.items[f->function].file != NULL;
		put_line(w, f->function,
			 f->file ? 0 : f->line); /* a line is of its function's file */
	}
	if (l->frames == 0)
		put_line(w,
			 export_name_id(p, &(struct export_frame){ .location = location,
								   .function = PROFILE_NONE }),
			 0);
	proto_close(w->out, entry);
}

static void put_function(struct pprof *w, uint32_t id)
{
	char room[EXPORT_NAME_MAX];
	const char *name = export_name(w->profile, id, room);
	const struct profile_function *function = export_function(w->profile, id);
	size_t entry = proto_open(w->out, PROFILE_FUNCTION);
	proto_uint(w->out, FUNCTION_ID, (uint64_t)id + 1);
	put_text(w, FUNCTION_NAME, name);
	put_text(w, FUNCTION_SYSTEM_NAME, name);
	if (function && function->file)
		put_text(w, FUNCTION_FILE, function->file);
	if (function)
		proto_uint(w->out, FUNCTION_LINE, function->line);
	proto_close(w->out, entry);
}

/* Where it was mapped is of one process and is not kept: addresses are the object's own, which the
 * tools take from a mapping of everything. */
static void put_mapping(struct pprof *w, uint32_t object)
{
	const struct profile_object *o = &w->profile->objects.items[object];
	const struct pprof_mapping *mapping = &w->mappings[object];
	char id[2 * BUILD_ID_MAX + 1];
	build_id_text(o, id);
	size_t entry = proto_open(w->out, PROFILE_MAPPING);
	proto_uint(w->out, MAPPING_ID, (uint64_t)object + 1);
	proto_uint(w->out, MAPPING_LIMIT, UINT64_MAX);
	put_text(w, MAPPING_FILE, o->path);
	put_text(w, MAPPING_BUILD_ID, id);
	proto_uint(w->out, MAPPING_HAS_FUNCTIONS, !mapping->nameless);
	proto_uint(w->out, MAPPING_HAS_FILES, mapping->files);
	proto_uint(w->out, MAPPING_HAS_LINES, mapping->lines);
	proto_uint(w->out, MAPPING_HAS_INLINES, mapping->inlines);
	proto_close(w->out, entry);
}

static void put_head(struct pprof *w, const struct profile_subject *s,
		     const struct sleepy_filter *f)
{
	const struct profile *p = w->profile;
	uint64_t begin_ns, length_ns;
	export_window(p, f, &begin_ns, &length_ns);
	bool event = p->mode == PROFILE_EVENT;
	const char *type = event ? p->event : "cpu", *unit = event ? "count" : "nanoseconds";
	put_type(w, PROFILE_SAMPLE_TYPE, "samples", "count");
	put_type(w, PROFILE_SAMPLE_TYPE, type, unit);
	put_type(w, PROFILE_PERIOD_TYPE, type, unit);
	proto_uint(w->out, PROFILE_PERIOD, export_weight(p, 1));
	proto_uint(w->out, PROFILE_TIME, (uint64_t)p->realtime_ns + begin_ns);
	proto_uint(w->out, PROFILE_DURATION, length_ns);
	put_text(w, PROFILE_DEFAULT_TYPE, type);
	if (s->run && s->run->name)
		put_text(w, PROFILE_COMMENT, s->run->name);
}

static voidpf zlib_alloc(voidpf context, uInt count, uInt size)
{
	(void)context;
	return xcalloc(count, size);
}

static void zlib_free(voidpf context, voidpf memory)
{
	(void)context;
	xfree(memory);
}

/* With memory that never lacks there is nothing that could fail. */
static void compress_into(const struct strbuf *from, struct strbuf *out)
{
	enum { WINDOW_OF_GZIP = 15 + 16, MEMORY = 8, CHUNK = 1 << 30 };
	z_stream z = { .zalloc = zlib_alloc, .zfree = zlib_free };
	unsigned char room[16384];
	size_t taken = 0;
	int flush, state = deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_OF_GZIP,
					MEMORY, Z_DEFAULT_STRATEGY);
	while (state == Z_OK) {
		size_t left = from->length - taken;
		if (!z.avail_in) {
			z.next_in = (unsigned char *)from->text + taken;
			z.avail_in = (uInt)(left < CHUNK ? left : CHUNK);
			taken += z.avail_in;
		}
		flush = taken == from->length ? Z_FINISH : Z_NO_FLUSH;
		z.next_out = room;
		z.avail_out = sizeof room;
		state = deflate(&z, flush);
		strbuf_add(out, (const char *)room, sizeof room - z.avail_out);
	}
	deflateEnd(&z);
}

void export_pprof(const struct profile_subject *s, const struct sleepy_filter *f,
		  struct strbuf *out)
{
	const struct profile *p = s->profile;
	SCOPED(strbuf_release) struct strbuf plain = { 0 };
	struct pprof w = {
		.profile = p,
		.out = &plain,
		.locations = xcalloc(p->locations.count + 1, sizeof(bool)),
		.functions = xcalloc(export_names(p) + 1, sizeof(bool)),
		.mappings = xcalloc(p->objects.count + 1, sizeof(struct pprof_mapping)),
	};
	number_of_text(&w.texts, ""); /* the first string is always this one */
	put_head(&w, s, f);
	sleepy_each(p, f, put_sample, &w);
	for (uint32_t i = 0; i < p->locations.count; i++)
		if (w.locations[i])
			put_location(&w, i);
	for (uint32_t i = 0; i < export_names(p); i++)
		if (w.functions[i])
			put_function(&w, i);
	for (uint32_t i = 0; i < p->objects.count; i++)
		if (w.mappings[i].used)
			put_mapping(&w, i);
	for (size_t i = 0; i < w.texts.items.count; i++)
		proto_text(&plain, PROFILE_STRING, w.texts.items.items[i]);
	compress_into(&plain, out);
	text_numbers_release(&w.texts);
	array_release(&w.links);
	xfree(w.locations);
	xfree(w.functions);
	xfree(w.mappings);
}
