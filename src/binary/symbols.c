#include "binary/symbols.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "binary/symbols_private.h"

/* ---- work ---- */

#define BREATHE_NS (20 * UINT64_C(1000000))

void work_begin(struct work *w)
{
	w->begun_ns = clock_thread_cpu_ns();
}

void work_end(struct work *w)
{
	uint64_t now = clock_thread_cpu_ns(), spent = now - w->begun_ns;
	w->left_ns = spent < w->left_ns ? w->left_ns - spent : 0;
	w->begun_ns = now;
}

static void work_breathe(struct work *w)
{
	uint64_t now = w->breathe ? clock_monotonic_ns() : 0;
	if (!w->breathe || now - w->breathed_ns < BREATHE_NS)
		return;
	w->breathe(w->context);
	w->breathed_ns = clock_monotonic_ns();
}

bool work_on(struct work *w, size_t steps)
{
	if (!w)
		return true;
	w->steps += steps;
	if (w->steps >= WORK_LOOK) {
		w->steps = 0;
		work_end(w);
		work_breathe(w);
		work_begin(w); /* what the breath took is not the file's fault */
	}
	return w->left_ns > 0;
}

/* ---- objects ---- */

#define MEMORY_USUAL ((size_t)256 << 20)
#define OPEN_MAX_OBJECTS 200			 /* each holds up to three descriptors */
#define KNOWN_MAX 8192				 /* objects whose outcome is remembered */
#define BOOT_SLACK_NS (60 * INT64_C(1000000000)) /* by which the time may be set meanwhile */
#define BUDGET_LEAST_NS UINT64_C(50000000)
#define BUDGET_NS (5 * UINT64_C(1000000000)) /* of CPU time to read one file, all in all */

/* What is known of an object. What it holds can go and be read again. */
struct known {
	struct profile_object object;
	bool loaded, readable;
	struct elf_image image;
	struct symbol_table table;
	struct symbol_table pieces; /* where that names nothing; read when it is first needed */
	bool in_pieces;
	struct lines *lines;
	struct jit_map jit;
	struct work work; /* of reading it */
	uint64_t budget_ns;
	uint64_t used; /* when, as s->clock counts */
};

struct symbols {
	struct symbols_options options;
	char *debug_path;
	ARRAY(struct known *) list;
	struct kernel_symbols kernel;
	struct absent absent;
	struct work work; /* of the kernel, and between objects */
	uint64_t clock;
};

struct symbols *symbols_new(const struct symbols_options *options)
{
	struct symbols *s = xcalloc(1, sizeof *s);
	if (options)
		s->options = *options;
	if (s->options.debug_path)
		s->options.debug_path = s->debug_path = xstrdup(s->options.debug_path);
	if (!s->options.memory)
		s->options.memory = MEMORY_USUAL;
	s->work = (struct work){ .breathe = s->options.breathe,
				 .context = s->options.context,
				 .left_ns = UINT64_MAX };
	s->kernel.table.work = &s->work;
	if (s->options.files) {
		s->kernel.open = s->options.files->kallsyms;
		s->kernel.context = s->options.context;
	}
	return s;
}

struct symbols *symbols_new_with_kernel(const struct symbols_options *options,
					const struct kernel_symbols *kernel)
{
	struct symbols *s = symbols_new(options);
	s->kernel = *kernel;
	s->kernel.table.work = &s->work;
	return s;
}

/* ---- the objects ---- */

static void unload(struct known *k)
{
	if (!k->loaded)
		return;
	elf_image_close(&k->image);
	symbol_table_release(&k->table);
	symbol_table_release(&k->pieces);
	k->in_pieces = false;
	lines_free(k->lines);
	k->lines = NULL;
	jit_release(&k->jit);
	k->jit = (struct jit_map){ 0 };
	k->loaded = false;
}

static void known_free(struct known *k)
{
	unload(k);
	xfree(k->object.path);
	xfree(k);
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->list.count; i++)
		known_free(s->list.items[i]);
	array_release(&s->list);
	kernel_release(&s->kernel);
	array_release(&s->absent.ids);
	xfree(s->debug_path);
	xfree(s);
}

static struct known *known_of(struct symbols *s, const struct profile_object *o)
{
	for (size_t i = 0; i < s->list.count; i++) {
		const struct profile_object *a = &s->list.items[i]->object;
		if (a->kind == o->kind && a->pid == o->pid && a->device == o->device &&
		    a->inode == o->inode && a->build_id_size == o->build_id_size &&
		    memcmp(a->build_id, o->build_id, a->build_id_size) == 0 &&
		    strcmp(a->path, o->path) == 0)
			return s->list.items[i];
	}
	if (s->list.count >= KNOWN_MAX) {
		struct known **first = s->list.items;
		known_free(*first);
		/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
		memmove(first, first + 1, --s->list.count * sizeof *first);
	}
	struct known *k = xcalloc(1, sizeof *k);
	k->object = *o;
	k->object.path = xstrdup(o->path);
	k->image.fd = -1;
	array_push(&s->list, k); /* NOLINT(bugprone-sizeof-expression): of pointers */
	return k;
}

/* Lets the least used go until the rest is within bounds. */
static void trim(struct symbols *s)
{
	for (;;) {
		size_t memory = 0, open = 0;
		struct known *oldest = NULL;
		for (size_t i = 0; i < s->list.count; i++) {
			struct known *k = s->list.items[i];
			if (!k->loaded)
				continue;
			memory += sizeof *k + symbol_table_memory(&k->table) +
				  symbol_table_memory(&k->pieces) +
				  symbol_table_memory(&k->jit.table) + lines_memory(k->lines);
			open++;
			if (!oldest || k->used < oldest->used)
				oldest = k;
		}
		if (!oldest || (memory <= s->options.memory && open <= OPEN_MAX_OBJECTS))
			return;
		unload(oldest);
	}
}

/* ---- reading one ---- */

/* Is it the file that ran? */
static bool is_same_file(const struct profile_object *o, const struct elf_image *e)
{
	if (o->build_id_size)
		return e->build_id_size == o->build_id_size &&
		       memcmp(e->build_id, o->build_id, o->build_id_size) == 0;
	struct stat st;
	if (!o->inode || e->fd < 0)
		return true;
	/* the kernel keeps a device's number in another form than stat tells it */
	return fstat(e->fd, &st) == 0 && st.st_ino == o->inode &&
	       (!o->device || o->device == st.st_dev ||
		o->device == ((uint64_t)major(st.st_dev) << 20 | minor(st.st_dev)));
}

static void read_tables(struct symbols *s, struct known *k)
{
	struct debug_file debug;
	const struct symbols_files *by = s->options.files;
	const struct debug_search search = { .directories = s->options.debug_path,
					     .work = &k->work,
					     .absent = &s->absent,
					     .open = by ? by->path : NULL,
					     .ask = by ? by->server : NULL,
					     .context = s->options.context };
	bool file = k->object.kind == OBJECT_FILE;
	bool separate = file && debug_file_find(&debug, &k->image, k->object.path, &search);
	symbol_table_read(&k->table, &k->image, separate ? &debug.image : NULL);
	struct dwarf_files files;
	if (file && !s->options.no_lines &&
	    dwarf_files_open(&files, &k->image, k->object.path, separate ? &debug : NULL, &search))
		k->lines = lines_new(&files, &k->work);
	if (separate)
		debug_file_close(&debug);
}

/* False: that was before this machine booted, and its pids mean nothing now. Sleep only lets the
 * profile's zero of CLOCK_MONOTONIC be later than the boot. */
static bool times_of(const struct profile *p, uint32_t pid, struct jit_times *times)
{
	int64_t boot_ns = clock_realtime_ns() - (int64_t)clock_boottime_ns();
	if (p->realtime_ns && p->realtime_ns < boot_ns - BOOT_SLACK_NS)
		return false;
	*times = (struct jit_times){ 0 };
	uint64_t began = 0;
	for (size_t i = 0; i < p->instances.count; i++)
		if (p->instances.items[i].pid == pid && p->instances.items[i].start_ns > began)
			began = p->instances.items[i].start_ns;
	if (began)
		times->began_ns = boot_ns + (int64_t)began;
	if (p->slices.count && p->realtime_ns)
		times->session_ns = p->realtime_ns + (int64_t)p->slices.items[0].begin_ns;
	return true;
}

int jit_open_of(struct jit_map *j, const struct profile *p, uint32_t pid)
{
	struct jit_times times;
	return pid && times_of(p, pid, &times) ? jit_open(j, pid, &times) : -1;
}

static void read_jit(struct symbols *s, struct known *k, const struct profile *p)
{
	const struct symbols_files *by = s->options.files;
	CLOSED int fd = by ? by->jit(s->options.context) : jit_open_of(&k->jit, p, k->object.pid);
	if (fd >= 0)
		jit_read(&k->jit, fd);
}

static struct known *load(struct symbols *s, const struct profile *p, uint32_t object)
{
	const struct profile_object *o = &p->objects.items[object];
	struct known *k = known_of(s, o);
	k->used = ++s->clock;
	bool was_loaded = k->loaded;
	k->loaded = true;
	if (!was_loaded || o->kind == OBJECT_MEMORY || o->kind == OBJECT_JIT) {
		/* Files are read again and again: one that used up its budget gets half of it. */
		if (!k->budget_ns)
			k->budget_ns = BUDGET_NS;
		else if (k->work.left_ns == 0 && k->budget_ns > BUDGET_LEAST_NS)
			k->budget_ns /= 2;
		k->work = (struct work){ .breathe = s->options.breathe,
					 .context = s->options.context,
					 .left_ns = k->budget_ns };
	}
	k->table.work = k->jit.table.work = &k->work;
	work_begin(&k->work);
	switch (o->kind) {
	case OBJECT_FILE:
	case OBJECT_VDSO:
		if (was_loaded)
			break;
		if (o->kind == OBJECT_VDSO)
			k->readable = elf_image_open_vdso(&k->image);
		else
			k->readable = elf_image_open(
				&k->image, s->options.open
						   ? s->options.open(s->options.context, &k->object)
						   : file_open_regular(k->object.path));
		k->readable = k->readable && is_same_file(&k->object, &k->image);
		if (k->readable)
			read_tables(s, k);
		else
			elf_image_close(&k->image);
		break;
	case OBJECT_JIT:
	case OBJECT_MEMORY:
		read_jit(s, k, p);
		break;
	default:
		break;
	}
	work_end(&k->work);
	return k;
}

/* ---- one location ---- */

/* What is known of an address: of the symbol tables the function, of DWARF the rest. */
struct found {
	uint64_t address;
	const struct symbol_table *table;
	const struct symbol *symbol;
	struct line_frame lines[LINE_FRAMES_MAX];
	size_t count;
};

static void find(struct symbols *s, struct known *k, uint64_t offset, struct found *into)
{
	into->address = offset;
	into->symbol = NULL;
	into->count = 0;
	switch (k->object.kind) {
	case OBJECT_FILE:
	case OBJECT_VDSO:
		if (!k->readable || !elf_image_address(&k->image, offset, &into->address))
			return;
		into->table = &k->table;
		if (k->lines)
			into->count = lines_find(k->lines, into->address, into->lines);
		break;
	case OBJECT_KERNEL:
	case OBJECT_MODULE:
		into->symbol = kernel_find(&s->kernel, offset);
		into->table = &s->kernel.table;
		return;
	case OBJECT_JIT:
	case OBJECT_MEMORY:
		into->table = &k->jit.table;
		break;
	default:
		return;
	}
	into->symbol = symbol_table_find(into->table, into->address);
	if (!into->symbol && !into->count && k->object.kind == OBJECT_FILE) {
		if (!k->in_pieces) {
			k->in_pieces = true;
			k->pieces.work = &k->work;
			work_begin(&k->work);
			symbol_table_read_pieces(&k->pieces, &k->image, object_name(&k->object));
			work_end(&k->work);
		}
		into->symbol = symbol_table_find(&k->pieces, into->address);
		into->table = &k->pieces;
	}
}

/* `line`: what DWARF says; symbol: of the function itself, NULL for one that is inlined. False:
 * nothing tells its name. */
static bool make_frame(struct profile *p, uint32_t object, const struct symbol_table *table,
		       const struct symbol *symbol, const struct line_frame *line,
		       struct profile_frame *into)
{
	if (!symbol && !line->name)
		return false;
	struct profile_function function = {
		.object = object,
		.name = symbol ? demangled(symbol_table_name(table, symbol)) : xstrdup(line->name),
		.address = symbol ? symbol->start : line->start,
		.size = symbol ? symbol->end - symbol->start : line->size,
		.file = xstrdup_or_null(line->decl_file),
		.line = line->decl_line,
	};
	into->function = profile_add_function(p, &function);
	into->line = line->line;
	const char *own = p->functions.items[into->function].file;
	bool same = own && line->file && strcmp(own, line->file) == 0;
	into->file = same ? NULL : xstrdup_or_null(line->file);
	xfree(function.name);
	xfree(function.file);
	return true;
}

/* What the function is of: modules and JIT code have locations in the kernel and in memory. */
static uint32_t object_of(const struct symbols *s, struct profile *p, uint32_t object,
			  const struct found *f)
{
	const struct profile_object *of = &p->objects.items[object];
	char jit[] = "[jit]";
	const char *module = NULL;
	if (f->symbol && of->kind == OBJECT_KERNEL)
		module = kernel_module(&s->kernel, f->symbol);
	if (module) {
		/* not written to: it is copied */
		const struct profile_object o = { .path = (char *)module, .kind = OBJECT_MODULE };
		return profile_add_object(p, &o);
	}
	if (f->symbol && of->kind == OBJECT_MEMORY) {
		const struct profile_object o = { .path = jit, .kind = OBJECT_JIT, .pid = of->pid };
		return profile_add_object(p, &o);
	}
	return object;
}

static void name_location(const struct symbols *s, struct profile *p, uint32_t location,
			  const struct found *f)
{
	struct profile_frame frames[LINE_FRAMES_MAX + 1];
	uint32_t object = object_of(s, p, p->locations.items[location].object, f);
	size_t count = 0;
	const struct line_frame none = { 0 }, *outer = &none;
	for (size_t i = 0; i < f->count; i++)
		if (!f->lines[i].inlined)
			outer = &f->lines[i];
		else
			count += make_frame(p, object, NULL, NULL, &f->lines[i], &frames[count]);
	count += make_frame(p, object, f->table, f->symbol, outer, &frames[count]);
	profile_set_frames(p, location, f->address, frames, count);
	for (size_t i = 0; i < count; i++)
		xfree(frames[i].file);
}

/* ---- code ---- */

uint32_t symbols_outermost(const struct profile *p, const struct profile_location *l)
{
	return l->frames ? p->frames.items[l->first_frame + l->frames - 1].function : PROFILE_NONE;
}

bool symbols_want_code(const struct symbols_options *o, const struct profile *p,
		       const struct profile_location *l)
{
	uint32_t function = symbols_outermost(p, l);
	return !o->no_code && function != PROFILE_NONE && p->functions.items[function].size &&
	       !profile_find_code(p, function);
}

static void add_code(struct symbols *s, struct known *k, struct profile *p, uint32_t function)
{
	const struct profile_function *f = &p->functions.items[function];
	uint32_t size = f->size < CODE_MAX ? (uint32_t)f->size : CODE_MAX;
	FREED uint8_t *bytes = NULL;
	uint64_t offset;
	if (k->object.kind == OBJECT_KERNEL || k->object.kind == OBJECT_MODULE) {
		bytes = xmalloc(size);
		size = (uint32_t)kernel_code(&s->kernel, f->address, bytes, size);
	} else if (k->readable && elf_image_offset(&k->image, f->address, &offset)) {
		if (offset < k->image.size && size > k->image.size - offset)
			size = (uint32_t)(k->image.size - offset);
		bytes = elf_image_bytes(&k->image, offset, size);
	}
	if (bytes)
		profile_add_code(p, function, bytes, size);
}

/* ---- all of them ---- */

static void fill_object(void *context, struct profile *p, uint32_t object,
			const uint32_t *locations, size_t count, const bool *sampled)
{
	struct symbols *s = context;
	struct known *k = NULL;
	FREED struct found *found = NULL;
	for (size_t i = 0; i < count; i++) {
		uint32_t at = locations[i];
		struct profile_location *l = &p->locations.items[at];
		if (l->frames && (!sampled[at] || !symbols_want_code(&s->options, p, l)))
			continue;
		if (!k) {
			k = load(s, p, object);
			found = xcalloc(1, sizeof *found);
		}
		work_breathe(&k->work);
		if (!l->frames) {
			find(s, k, l->offset, found);
			name_location(s, p, at, found);
		}
		if (sampled[at] && symbols_want_code(&s->options, p, l))
			add_code(s, k, p, symbols_outermost(p, l));
	}
	if (!k)
		return;
	trim(s);
	if (s->options.breathe)
		s->options.breathe(s->options.context);
}

void symbols_each(struct profile *p, symbols_each_fn *each, void *context)
{
	FREED uint32_t *locations = xcalloc(p->locations.count + 1, sizeof *locations);
	/* first[o]..first[o + 1]: those of object o */
	FREED uint32_t *first = xcalloc(p->objects.count + 2, sizeof *first);
	FREED bool *sampled = xcalloc(p->locations.count + 1, sizeof *sampled);
	for (size_t i = 0; i < p->locations.count; i++)
		first[p->locations.items[i].object + 2]++;
	for (size_t i = 2; i < p->objects.count + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < p->locations.count; i++)
		locations[first[p->locations.items[i].object + 1]++] = (uint32_t)i;
	for (size_t i = 0; i < p->stack_list.count; i++)
		if (p->stack_list.items[i].count)
			sampled[p->links.items[p->stack_list.items[i].first]] = true;
	size_t count = p->objects.count; /* those that are added have no locations */
	for (uint32_t i = 0; i < count; i++)
		each(context, p, i, locations + first[i], first[i + 1] - first[i], sampled);
}

void symbols_fill(struct symbols *s, struct profile *p)
{
	symbols_each(p, fill_object, s);
}
