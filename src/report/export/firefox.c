/* The Firefox profiler's processed profile format, version 48 (docs-developer/CHANGELOG-formats.md
 * of github.com/firefox-devtools/profiler); every later profiler reads it, too. */
#include <stdlib.h>

#include "report/export/profile.h"

enum { FORMAT_VERSION = 48, GECKO_VERSION = 29 };
enum category { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL };
enum { RESOURCE_LIBRARY = 1 };
#define CATEGORIES                                                                \
	"[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}," \
	"{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]}," \
	"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}]"

/* Cells that are no numbers. */
#define CELL_NULL INT64_MIN
#define CELL_FALSE (INT64_MIN + 1)

enum { RESOURCES, FUNCTIONS, SYMBOLS, FRAMES, STACKS, SAMPLES, FOX_TABLES };
#define COLUMNS_MAX 10

/* A table is an object of columns. */
struct fox_table {
	const char *const *columns;
	size_t width; /* columns */
	struct strbuf cells[COLUMNS_MAX];
	size_t rows;
};

/* One thread's tables, filled as its samples come. */
struct fox_thread {
	struct text_numbers texts;
	/* What the rows are of: (object, 0), (export_name_id(), 0), (function, 0), (location,
	 * inlined), (prefix + 1, frame); samples: none. */
	struct pair_numbers ids[FOX_TABLES];
	struct fox_table tables[FOX_TABLES];
	struct strbuf times; /* a column of samples, with fractions */
	double last_ms;	     /* of them */
};

/* What a thread was seen at in one slice. */
struct fox_sample {
	uint32_t slice, thread, stack;
	uint64_t count;
};

struct fox {
	const struct profile *profile;
	struct strbuf *out;
	uint64_t begin_ns;
	uint32_t slice; /* that is gathered */
	export_frames stack;
	ARRAY(struct fox_sample) samples;
	struct pair_numbers libs; /* (object, 0) */
	struct pair_numbers pids; /* (pid, which of the instances with it) */
	char **processes;	  /* by instance: what stands for its pid; NULL: not yet known */
};

static void gather(void *context, const struct profile_sample *s, uint64_t count)
{
	struct fox *w = context;
	array_push(&w->samples, (struct fox_sample){ w->slice, s->thread, s->stack, count });
}

/* By thread, and within it by slice. */
static int by_thread(const void *a, const void *b, void *context)
{
	const struct profile_slice *slices = context;
	const struct fox_sample *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->slice != y->slice)
		return slices[x->slice].begin_ns < slices[y->slice].begin_ns ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/* ---- tables ---- */

static void add_cells(struct fox_table *t, const int64_t *row, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct strbuf *cells = &t->cells[i];
		if (t->rows)
			strbuf_putc(cells, ',');
		if (row[i] == CELL_NULL)
			strbuf_puts(cells, "null");
		else if (row[i] == CELL_FALSE)
			strbuf_puts(cells, "false");
		else
			strbuf_printf(cells, "%lld", (long long)row[i]);
	}
	t->rows++;
}

/* One cell for each column. */
#define add_row(t, ...)                          \
	add_cells(t, (int64_t[]){ __VA_ARGS__ }, \
		  sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

static void put_table(struct strbuf *out, const char *name, const struct fox_table *t,
		      const char *more)
{
	strbuf_printf(out, ",\n\"%s\":{", name);
	for (size_t i = 0; i < t->width; i++)
		strbuf_printf(out, "\"%s\":[%s],\n", t->columns[i], strbuf_text(&t->cells[i]));
	strbuf_printf(out, "%s\"length\":%zu}", more, t->rows);
}

static void thread_init(struct fox_thread *t)
{
	static const char *const resources[] = { "lib", "name", "host", "type" };
	static const char *const functions[] = { "name",	"isJS",	    "relevantForJS",
						 "resource",	"fileName", "lineNumber",
						 "columnNumber" };
	static const char *const symbols[] = { "libIndex", "address", "name", "functionSize" };
	static const char *const frames[] = { "address",       "inlineDepth",	 "category",
					      "subcategory",   "func",		 "nativeSymbol",
					      "innerWindowID", "implementation", "line",
					      "column" };
	static const char *const stacks[] = { "frame", "prefix", "category", "subcategory" };
	static const char *const samples[] = { "stack", "weight", "threadCPUDelta" };
	*t = (struct fox_thread){ .tables = {
					  [RESOURCES] = { .columns = resources, .width = 4 },
					  [FUNCTIONS] = { .columns = functions, .width = 7 },
					  [SYMBOLS] = { .columns = symbols, .width = 4 },
					  [FRAMES] = { .columns = frames, .width = 10 },
					  [STACKS] = { .columns = stacks, .width = 4 },
					  [SAMPLES] = { .columns = samples, .width = 3 },
				  } };
}

/* ---- what a sample points to, the innermost last ---- */

static uint32_t resource_of(struct fox *w, struct fox_thread *t, uint32_t object)
{
	uint32_t id = number_of_pair(&t->ids[RESOURCES], object, 0);
	if (id < t->tables[RESOURCES].rows)
		return id;
	int64_t name = number_of_text(&t->texts, object_name(&w->profile->objects.items[object]));
	add_row(&t->tables[RESOURCES], number_of_pair(&w->libs, object, 0), name, CELL_NULL,
		RESOURCE_LIBRARY);
	return id;
}

static uint32_t function_of(struct fox *w, struct fox_thread *t, uint32_t name_id)
{
	uint32_t id = number_of_pair(&t->ids[FUNCTIONS], name_id, 0);
	if (id < t->tables[FUNCTIONS].rows)
		return id;
	char room[EXPORT_NAME_MAX];
	const struct profile_function *f = export_function(w->profile, name_id);
	int64_t name = number_of_text(&t->texts, export_name(w->profile, name_id, room));
	int64_t file = f && f->file ? (int64_t)number_of_text(&t->texts, f->file) : CELL_NULL;
	int64_t resource = resource_of(w, t, export_object(w->profile, name_id));
	add_row(&t->tables[FUNCTIONS], name, CELL_FALSE, CELL_FALSE, resource, file,
		f && f->line ? (int64_t)f->line : CELL_NULL, CELL_NULL);
	return id;
}

/* The function that the linker knows; inlined ones have none. Addresses are those of a library:
 * the kernel's have no room in a number of JavaScript. */
static int64_t symbol_of(struct fox *w, struct fox_thread *t, uint32_t location)
{
	const struct profile *p = w->profile;
	const struct profile_location *l = &p->locations.items[location];
	if (!l->frames)
		return CELL_NULL;
	uint32_t function = p->frames.items[l->first_frame + l->frames - 1].function;
	const struct profile_function *f = &p->functions.items[function];
	if (!f->size || f->address > UINT32_MAX)
		return CELL_NULL;
	uint32_t id = number_of_pair(&t->ids[SYMBOLS], function, 0);
	if (id < t->tables[SYMBOLS].rows)
		return id;
	add_row(&t->tables[SYMBOLS], number_of_pair(&w->libs, f->object, 0), (int64_t)f->address,
		number_of_text(&t->texts, f->name), (int64_t)f->size);
	return id;
}

static uint32_t frame_of(struct fox *w, struct fox_thread *t, const struct export_frame *f)
{
	uint32_t id = number_of_pair(&t->ids[FRAMES], f->location, f->inlined);
	if (id < t->tables[FRAMES].rows)
		return id;
	uint64_t address = w->profile->locations.items[f->location].address;
	int64_t function = function_of(w, t, export_name_id(w->profile, f));
	add_row(&t->tables[FRAMES], address > UINT32_MAX ? -1 : (int64_t)address, f->inlined,
		f->kernel ? CATEGORY_KERNEL : CATEGORY_USER, 0, function,
		symbol_of(w, t, f->location), CELL_NULL, CELL_NULL,
		f->line ? (int64_t)f->line : CELL_NULL, CELL_NULL);
	return id;
}

static int64_t stack_of(struct fox *w, struct fox_thread *t, uint32_t stack)
{
	int64_t at = CELL_NULL;
	export_stack(w->profile, stack, &w->stack);
	for (size_t i = 0; i < w->stack.count; i++) {
		const struct export_frame *f = &w->stack.items[i];
		uint32_t frame = frame_of(w, t, f);
		uint32_t id = number_of_pair(&t->ids[STACKS],
					     at == CELL_NULL ? 0 : (uint64_t)at + 1, frame);
		if (id == t->tables[STACKS].rows)
			add_row(&t->tables[STACKS], frame, at,
				f->kernel ? CATEGORY_KERNEL : CATEGORY_USER, 0);
		at = id;
	}
	return at;
}

/* ---- samples ---- */

static void add_sample(struct fox_thread *t, double ms, int64_t stack, uint64_t count,
		       uint64_t cpu_ns)
{
	strbuf_printf(&t->times, t->tables[SAMPLES].rows ? ",%.6f" : "%.6f", ms);
	add_row(&t->tables[SAMPLES], stack, (int64_t)count, (int64_t)(cpu_ns / 1000));
	t->last_ms = ms;
}

/* A slice's samples have no times of their own: each gets the part of the slice that it is of what
 * the thread had there, and stands at its end, for its CPU time is that since the one before. The
 * first has an empty one before it. */
static void add_samples(struct fox *w, struct fox_thread *t, const struct fox_sample *s, size_t n)
{
	const struct profile_slice *slice = &w->profile->slices.items[s->slice];
	double begin_ms = (double)(slice->begin_ns - w->begin_ns) / 1e6;
	double length_ms = ((double)slice->end_ns - (double)slice->begin_ns) / 1e6;
	uint64_t all = 0, until = 0;
	for (size_t i = 0; i < n; i++)
		all += s[i].count;
	if (!t->tables[SAMPLES].rows || t->last_ms < begin_ms)
		add_sample(t, begin_ms, CELL_NULL, 0, 0);
	for (size_t i = 0; i < n; i++) {
		until += s[i].count;
		add_sample(t, begin_ms + length_ms * ((double)until / (double)all),
			   stack_of(w, t, s[i].stack), s[i].count,
			   export_weight(w->profile, s[i].count));
	}
}

/* Threads are shown by pid: two processes that had the same one are to stay two. */
static const char *process_of(struct fox *w, uint32_t instance)
{
	if (w->processes[instance])
		return w->processes[instance];
	uint32_t pid = w->profile->instances.items[instance].pid;
	uint64_t which = 0;
	for (size_t had = w->pids.items.count; number_of_pair(&w->pids, pid, which) < had;)
		which++;
	struct strbuf text = { 0 };
	strbuf_printf(&text, which ? "%u.%llu" : "%u", pid, (unsigned long long)which);
	return w->processes[instance] = strbuf_detach(&text);
}

static void put_thread_head(struct fox *w, uint32_t thread)
{
	const struct profile_thread *t = &w->profile->threads.items[thread];
	const struct profile_instance *instance = export_instance(w->profile, thread);
	SCOPED(strbuf_release) struct strbuf name = { 0 };
	strbuf_printf(&name, "%s#%u", export_app(w->profile, thread)->name, instance->number);
	strbuf_puts(w->out, "{\"processType\":\"default\",\"processName\":");
	export_json_text(w->out, strbuf_text(&name));
	strbuf_puts(w->out, ",\"name\":");
	export_json_text(w->out, t->comm);
	strbuf_printf(w->out, ",\"pid\":\"%s\",\"tid\":\"%u\",\"isMainThread\":%s",
		      process_of(w, t->instance), t->tid,
		      t->tid == instance->pid ? "true" : "false");
	strbuf_puts(w->out, ",\"processStartupTime\":0,\"processShutdownTime\":null,"
			    "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[]");
	strbuf_puts(w->out, ",\n\"markers\":{\"category\":[],\"data\":[],\"endTime\":[],"
			    "\"name\":[],\"phase\":[],\"startTime\":[],\"length\":0}");
}

static void put_thread(struct fox *w, const struct fox_sample *s, size_t n)
{
	struct fox_thread t;
	thread_init(&t);
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i; next < n && s[next].slice == s[i].slice;)
			next++;
		add_samples(w, &t, s + i, next - i);
	}
	put_thread_head(w, s->thread);
	SCOPED(strbuf_release) struct strbuf more = { 0 };
	strbuf_printf(&more, "\"time\":[%s],\"weightType\":\"samples\",", strbuf_text(&t.times));
	/* the last column is CPU time, which an event does not stand for */
	struct fox_table samples = t.tables[SAMPLES];
	samples.width -= w->profile->mode == PROFILE_EVENT;
	put_table(w->out, "samples", &samples, strbuf_text(&more));
	put_table(w->out, "stackTable", &t.tables[STACKS], "");
	put_table(w->out, "frameTable", &t.tables[FRAMES], "");
	put_table(w->out, "funcTable", &t.tables[FUNCTIONS], "");
	put_table(w->out, "nativeSymbols", &t.tables[SYMBOLS], "");
	put_table(w->out, "resourceTable", &t.tables[RESOURCES], "");
	strbuf_puts(w->out, ",\n\"stringArray\":[");
	for (size_t i = 0; i < t.texts.items.count; i++) {
		strbuf_puts(w->out, i ? "," : "");
		export_json_text(w->out, t.texts.items.items[i]);
	}
	strbuf_puts(w->out, "]}");
	for (size_t i = 0; i < FOX_TABLES; i++) {
		for (size_t c = 0; c < t.tables[i].width; c++)
			strbuf_release(&t.tables[i].cells[c]);
		pair_numbers_release(&t.ids[i]);
	}
	text_numbers_release(&t.texts);
	strbuf_release(&t.times);
}

/* ---- the whole ---- */

static void put_lib(struct strbuf *out, const struct profile_object *o)
{
	static const char *const names[] = { "name", "debugName", "path", "debugPath" };
	char id[2 * BUILD_ID_MAX + 1];
	build_id_text(o, id);
	strbuf_putc(out, '{');
	for (size_t i = 0; i < 4; i++) {
		strbuf_printf(out, "\"%s\":", names[i]);
		export_json_text(out, i < 2 ? object_name(o) : o->path);
		strbuf_putc(out, ',');
	}
	strbuf_puts(out, "\"breakpadId\":");
	/* breakpad's name of a build-id: its first 16 bytes as a GUID, whose first three parts are
	 * little-endian, and an age of 0 */
	static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	strbuf_putc(out, '"');
	for (size_t i = 0; i < 16; i++)
		strbuf_printf(out, "%02X", order[i] < o->build_id_size ? o->build_id[order[i]] : 0);
	strbuf_puts(out, "0\"");
	strbuf_puts(out, ",\"codeId\":");
	export_json_text(out, *id ? id : NULL);
	strbuf_puts(out, ",\"arch\":\"\"}");
}

static void put_meta(const struct fox *w, const struct profile_subject *s)
{
	const struct profile *p = w->profile;
	strbuf_printf(w->out,
		      "{\"meta\":{\"interval\":%.6f,\"startTime\":%.3f,\"processType\":0,"
		      "\"stackwalk\":1,\"debug\":false,\"version\":%d,"
		      "\"preprocessedProfileVersion\":%d,\"symbolicated\":true,",
		      p->hz > 0 ? 1e3 / p->hz : 1,
		      ((double)p->realtime_ns + (double)w->begin_ns) / 1e6, GECKO_VERSION,
		      FORMAT_VERSION);
	strbuf_puts(w->out, "\"extensions\":{\"id\":[],\"name\":[],\"baseURL\":[],\"length\":0},"
			    "\"categories\":" CATEGORIES ",\"markerSchema\":[],");
	if (p->mode != PROFILE_EVENT)
		strbuf_puts(w->out, "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
				    "\"threadCPUDelta\":\"\xc2\xb5s\"},");
	strbuf_puts(w->out,
		    "\"usesOnlyOneStackType\":true,"
		    "\"doesNotUseFrameImplementation\":true,"
		    "\"sourceCodeIsNotOnSearchfox\":true,\"importedFrom\":\"tare " TARE_VERSION
		    "\",\"product\":");
	export_json_text(w->out, s->run && s->run->name ? s->run->name : "tare profile");
	strbuf_puts(w->out,
		    "},\n\"pages\":[],\"counters\":[],\"profilerOverhead\":[],\n\"threads\":[");
}

/* One call for each slice: what is asked for all at once comes summed, without its time. */
static void gather_slices(struct fox *w, const struct sleepy_filter *f)
{
	const struct profile *p = w->profile;
	for (uint32_t i = 0; i < p->slices.count; i++) {
		const struct profile_slice *slice = &p->slices.items[i];
		if (!export_passes(slice, f))
			continue;
		struct sleepy_filter within = *f;
		within.begin_ns = slice->begin_ns;
		within.end_ns = slice->begin_ns + 1;
		w->slice = i;
		sleepy_each(p, &within, gather, w);
	}
	if (w->samples.count)
		qsort_r(w->samples.items, w->samples.count, sizeof *w->samples.items, by_thread,
			p->slices.items);
}

void export_firefox(const struct profile_subject *s, const struct sleepy_filter *f,
		    struct strbuf *out)
{
	const struct profile *p = s->profile;
	struct fox w = { .profile = p,
			 .out = out,
			 .processes = xcalloc(p->instances.count + 1, sizeof(char *)) };
	uint64_t length_ns;
	export_window(p, f, &w.begin_ns, &length_ns);
	gather_slices(&w, f);
	put_meta(&w, s);
	for (size_t i = 0, next; i < w.samples.count; i = next) {
		const struct fox_sample *first = &w.samples.items[i];
		for (next = i;
		     next < w.samples.count && w.samples.items[next].thread == first->thread;)
			next++;
		strbuf_puts(out, i ? ",\n" : "\n");
		put_thread(&w, first, next - i);
	}
	strbuf_puts(out, "],\n\"libs\":[");
	for (size_t i = 0; i < w.libs.items.count; i++) {
		strbuf_puts(out, i ? ",\n" : "\n");
		put_lib(out, &p->objects.items[w.libs.items.items[i].a]);
	}
	strbuf_puts(out, "]}\n");
	for (size_t i = 0; i < w.profile->instances.count; i++)
		xfree(w.processes[i]);
	xfree(w.processes);
	array_release(&w.stack);
	array_release(&w.samples);
	pair_numbers_release(&w.libs);
	pair_numbers_release(&w.pids);
}
