/* Slices of a profile into the lab: each entry of a dictionary is stored once per run. */
#include "lab/profile_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static const char storing[] = "store the profile in";

/* Above this what is known is forgotten, and found in the lab again. */
#define KNOWN_BYTES_MAX (16u << 20)

struct writer {
	struct lab *lab;
	struct profile_store *s;
	int64_t run;
	const struct profile *p;
	uint32_t *at[PROFILE_KINDS]; /* of each entry of p: its position among the known */
	uint64_t bytes;		     /* of the rows added, samples left out */
	ZSTD_CCtx *zstd;
	struct error *err;
};

static struct known *known_at(struct writer *w, enum profile_kind kind, uint32_t at)
{
	while (w->s->ids[kind].count <= at)
		array_push(&w->s->ids[kind], (struct known){ 0 });
	return &w->s->ids[kind].items[at];
}

static int64_t id_of(const struct writer *w, enum profile_kind kind, uint32_t position)
{
	return w->s->ids[kind].items[w->at[kind][position]].id;
}

static sqlite3_stmt *statement(struct writer *w, enum profile_statement which)
{
	return profile_statement(w->lab, which, storing, w->err);
}

/* A name as it is looked up; NULL for NULL. */
static void bind_key(sqlite3_stmt *stmt, int at, const char *bytes)
{
	if (bytes)
		sqlite3_bind_blob64(stmt, at, bytes, strlen(bytes), SQLITE_STATIC);
	else
		sqlite3_bind_null(stmt, at);
}

static void bind_id(sqlite3_stmt *stmt, int at, int64_t id)
{
	if (id)
		sqlite3_bind_int64(stmt, at, id);
	else
		sqlite3_bind_null(stmt, at);
}

/* Fills in the id (0: there is none) and, where the statement tells, whether it is complete. */
static int find(struct writer *w, sqlite3_stmt *stmt, struct known *k)
{
	int rc = sqlite3_step(stmt);
	*k = (struct known){ 0 };
	if (rc == SQLITE_ROW) {
		k->id = sqlite3_column_int64(stmt, 0);
		k->complete = sqlite3_column_count(stmt) > 1 && sqlite3_column_int(stmt, 1);
	}
	int result = rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : lab_fail(w->lab, w->err, storing);
	sqlite3_reset(stmt);
	return result;
}

static int add(struct writer *w, sqlite3_stmt *stmt, struct known *k, size_t bytes)
{
	if (lab_done(w->lab, stmt, storing, w->err))
		return -1;
	k->id = sqlite3_last_insert_rowid(w->lab->db);
	w->bytes += bytes;
	return 0;
}

static size_t length_of(const char *text)
{
	return text ? strlen(text) : 0;
}

/* ---- the dictionaries ---- */

static int store_object(struct writer *w, uint32_t i)
{
	const struct profile_object *o = &w->p->objects.items[i];
	uint32_t at = w->at[KIND_OBJECT][i] = profile_add_object(&w->s->known, o);
	struct known *k = known_at(w, KIND_OBJECT, at);
	sqlite3_stmt *stmt;
	if (k->id)
		return 0;
	if (!(stmt = statement(w, FIND_OBJECT)))
		return -1;
	/* a blob of no bytes is no NULL */
	const void *build_id = o->build_id;
	sqlite3_bind_int64(stmt, 1, w->run);
	bind_key(stmt, 2, o->path);
	sqlite3_bind_int64(stmt, 3, o->pid);
	sqlite3_bind_int64(stmt, 4, (int64_t)o->inode);
	sqlite3_bind_int64(stmt, 5, (int64_t)o->device);
	sqlite3_bind_blob(stmt, 6, build_id, o->build_id_size, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 7, o->kind);
	if (find(w, stmt, k) || k->id)
		return k->id ? 0 : -1;
	if (!(stmt = statement(w, ADD_OBJECT)))
		return -1;
	int column = 3;
	sqlite3_bind_int64(stmt, 1, w->run);
	sqlite3_bind_blob(stmt, 2, build_id, o->build_id_size, SQLITE_STATIC);
	fields_bind(stmt, &column, profile_object_fields, o);
	return add(w, stmt, k, OBJECT_BYTES + 2 * length_of(o->path));
}

static int store_app(struct writer *w, uint32_t i)
{
	const struct profile_app *a = &w->p->apps.items[i];
	bool kernel = a->object == PROFILE_NONE;
	uint32_t object = kernel ? PROFILE_NONE : w->at[KIND_OBJECT][a->object];
	uint32_t at = w->at[KIND_APP][i] = profile_add_app(&w->s->known, a->name, object);
	int64_t object_id = kernel ? 0 : id_of(w, KIND_OBJECT, a->object);
	struct known *k = known_at(w, KIND_APP, at);
	sqlite3_stmt *stmt;
	if (k->id)
		return 0;
	if (!(stmt = statement(w, FIND_APP)))
		return -1;
	sqlite3_bind_int64(stmt, 1, w->run);
	bind_key(stmt, 2, a->name);
	bind_id(stmt, 3, object_id);
	if (find(w, stmt, k) || k->id)
		return k->id ? 0 : -1;
	if (!(stmt = statement(w, ADD_APP)))
		return -1;
	int column = 3;
	sqlite3_bind_int64(stmt, 1, w->run);
	bind_id(stmt, 2, object_id);
	raw_bind(stmt, &column, a->name);
	return add(w, stmt, k, OBJECT_BYTES + 2 * length_of(a->name));
}

static int store_cgroup(struct writer *w, const struct profile_instance *i, struct known *k)
{
	sqlite3_stmt *stmt = statement(w, FIND_CGROUP);
	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, w->run);
	bind_key(stmt, 2, i->cgroup);
	bind_key(stmt, 3, i->container);
	if (find(w, stmt, k) || k->id)
		return k->id ? 0 : -1;
	if (!(stmt = statement(w, ADD_CGROUP)))
		return -1;
	int column = 2;
	sqlite3_bind_int64(stmt, 1, w->run);
	raw_bind(stmt, &column, i->cgroup);
	raw_bind(stmt, &column, i->container);
	return add(w, stmt, k,
		   OBJECT_BYTES + 2 * length_of(i->cgroup) + 2 * length_of(i->container));
}

static int store_instance(struct writer *w, uint32_t i)
{
	struct profile_instance instance = w->p->instances.items[i];
	int64_t app = id_of(w, KIND_APP, instance.app);
	instance.app = w->at[KIND_APP][instance.app];
	uint32_t at = w->at[KIND_INSTANCE][i] = profile_add_instance(&w->s->known, &instance);
	struct known *k = known_at(w, KIND_INSTANCE, at), cgroup;
	sqlite3_stmt *stmt;
	if (k->id)
		return 0;
	if (!(stmt = statement(w, FIND_INSTANCE)))
		return -1;
	sqlite3_bind_int64(stmt, 1, w->run);
	sqlite3_bind_int64(stmt, 2, instance.pid);
	sqlite3_bind_int64(stmt, 3, (int64_t)instance.start_ns);
	sqlite3_bind_int64(stmt, 4, (int64_t)instance.exec_id);
	if (find(w, stmt, k) || k->id)
		return k->id ? 0 : -1;
	if (store_cgroup(w, &instance, &cgroup) || !(stmt = statement(w, ADD_INSTANCE)))
		return -1;
	int column = 4;
	sqlite3_bind_int64(stmt, 1, w->run);
	sqlite3_bind_int64(stmt, 2, app);
	sqlite3_bind_int64(stmt, 3, cgroup.id);
	fields_bind(stmt, &column, profile_instance_fields, &instance);
	return add(w, stmt, k, INSTANCE_BYTES);
}

static int store_thread(struct writer *w, uint32_t i)
{
	const struct profile_thread *t = &w->p->threads.items[i];
	uint32_t instance = w->at[KIND_INSTANCE][t->instance];
	uint32_t at = w->at[KIND_THREAD][i] =
		profile_add_thread(&w->s->known, instance, t->tid, NULL);
	struct known *k = known_at(w, KIND_THREAD, at);
	bool renamed = strcmp(w->s->known.threads.items[at].comm, t->comm) != 0;
	sqlite3_stmt *stmt;
	if (k->id && !renamed)
		return 0;
	if (!k->id) {
		if (!(stmt = statement(w, FIND_THREAD)))
			return -1;
		sqlite3_bind_int64(stmt, 1, id_of(w, KIND_INSTANCE, t->instance));
		sqlite3_bind_int64(stmt, 2, t->tid);
		if (find(w, stmt, k))
			return -1;
	}
	profile_add_thread(&w->s->known, instance, t->tid, t->comm);
	bool there = k->id != 0;
	if (!(stmt = statement(w, there ? NAME_THREAD : ADD_THREAD)))
		return -1;
	sqlite3_bind_int64(stmt, 1, there ? k->id : id_of(w, KIND_INSTANCE, t->instance));
	if (!there)
		sqlite3_bind_int64(stmt, 2, t->tid);
	sqlite3_bind_text(stmt, there ? 2 : 3, t->comm, (int)strnlen(t->comm, sizeof t->comm - 1),
			  SQLITE_STATIC);
	return there ? lab_done(w->lab, stmt, storing, w->err) : add(w, stmt, k, THREAD_BYTES + 8);
}

static int store_function(struct writer *w, uint32_t i)
{
	struct profile_function f = w->p->functions.items[i];
	int64_t object = id_of(w, KIND_OBJECT, f.object);
	f.object = w->at[KIND_OBJECT][f.object];
	uint32_t at = w->at[KIND_FUNCTION][i] = profile_add_function(&w->s->known, &f);
	struct known *k = known_at(w, KIND_FUNCTION, at);
	sqlite3_stmt *stmt;
	if (k->id)
		return 0;
	if (!(stmt = statement(w, FIND_FUNCTION)))
		return -1;
	sqlite3_bind_int64(stmt, 1, object);
	sqlite3_bind_int64(stmt, 2, (int64_t)f.address);
	bind_key(stmt, 3, f.name);
	if (find(w, stmt, k) || k->id)
		return k->id ? 0 : -1;
	if (!(stmt = statement(w, ADD_FUNCTION)))
		return -1;
	int column = 2;
	sqlite3_bind_int64(stmt, 1, object);
	fields_bind(stmt, &column, profile_function_fields, &f);
	return add(w, stmt, k, FUNCTION_BYTES + 2 * length_of(f.name) + length_of(f.file));
}

static int store_code(struct writer *w, uint32_t i)
{
	const struct profile_code *c = &w->p->code.items[i];
	struct known *k = known_at(w, KIND_FUNCTION, w->at[KIND_FUNCTION][c->function]);
	if (k->complete || c->size == 0)
		return 0;
	sqlite3_stmt *stmt = statement(w, ADD_CODE);
	if (!stmt)
		return -1;
	if (!w->zstd)
		w->zstd = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(c->size);
	void *bytes = xmalloc(room);
	size_t length = w->zstd ? ZSTD_compressCCtx(w->zstd, bytes, room, c->bytes, c->size, 3) : 0;
	if (length == 0 || ZSTD_isError(length)) {
		free(bytes);
		return error_set(w->err, EXIT_ENVIRONMENT, "no memory to compress code");
	}
	sqlite3_bind_int64(stmt, 1, k->id);
	sqlite3_bind_int64(stmt, 2, c->size);
	sqlite3_bind_blob64(stmt, 3, bytes, length, free);
	if (lab_done(w->lab, stmt, storing, w->err))
		return -1;
	sqlite3_clear_bindings(stmt);
	w->bytes += CODE_BYTES + length;
	k->complete = true;
	return 0;
}

static int store_frames(struct writer *w, const struct profile_location *l, int64_t location)
{
	sqlite3_stmt *stmt = statement(w, ADD_FRAME);
	if (!stmt)
		return -1;
	for (uint32_t i = 0; i < l->frames; i++) {
		const struct profile_frame *f = &w->p->frames.items[l->first_frame + i];
		int column = 5;
		sqlite3_bind_int64(stmt, 1, location);
		sqlite3_bind_int64(stmt, 2, i);
		sqlite3_bind_int64(stmt, 3, id_of(w, KIND_FUNCTION, f->function));
		sqlite3_bind_int64(stmt, 4, f->line);
		raw_bind(stmt, &column, f->file);
		if (lab_done(w->lab, stmt, storing, w->err))
			return -1;
		w->bytes += FRAME_BYTES + length_of(f->file);
	}
	return 0;
}

/* The id of a location; *added: it was not there. */
static int find_location(struct writer *w, const struct profile_location *l, struct known *k,
			 bool *added)
{
	sqlite3_stmt *stmt = statement(w, FIND_LOCATION);
	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, id_of(w, KIND_OBJECT, l->object));
	sqlite3_bind_int64(stmt, 2, (int64_t)l->offset);
	if (find(w, stmt, k) || k->id)
		return k->id ? 0 : -1;
	if (!(stmt = statement(w, ADD_LOCATION)))
		return -1;
	*added = true;
	sqlite3_bind_int64(stmt, 1, id_of(w, KIND_OBJECT, l->object));
	sqlite3_bind_int64(stmt, 2, (int64_t)l->offset);
	sqlite3_bind_int64(stmt, 3, (int64_t)(l->address - l->offset));
	return add(w, stmt, k, LOCATION_BYTES);
}

/* One that was stored before it was looked up gets its address and frames now. */
static int store_location(struct writer *w, uint32_t i)
{
	const struct profile_location *l = &w->p->locations.items[i];
	uint32_t at = w->at[KIND_LOCATION][i] =
		profile_add_location(&w->s->known, w->at[KIND_OBJECT][l->object], l->offset);
	struct known *k = known_at(w, KIND_LOCATION, at);
	uint64_t *address = &w->s->known.locations.items[at].address;
	bool added = false;
	if (!k->id && find_location(w, l, k, &added))
		return -1;
	bool moved = l->address != *address && (l->frames || l->address != l->offset);
	if (k->complete || (!l->frames && !moved))
		return 0;
	*address = l->address;
	if (!added && moved) {
		sqlite3_stmt *stmt = statement(w, MOVE_LOCATION);
		if (!stmt)
			return -1;
		sqlite3_bind_int64(stmt, 1, k->id);
		sqlite3_bind_int64(stmt, 2, (int64_t)(l->address - l->offset));
		if (lab_done(w->lab, stmt, storing, w->err))
			return -1;
	}
	k->complete = l->frames > 0;
	return store_frames(w, l, k->id);
}

static uint32_t hash_of(const char *text, uint32_t hash)
{
	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 16777619u;
	return hash;
}

static int find_chain(struct writer *w, const struct profile_stack *s, struct known *k)
{
	struct strbuf links = { 0 };
	strbuf_puts(&links, "");
	for (uint32_t i = 1; i < s->count; i++)
		strbuf_printf(&links, ",%" PRId64,
			      id_of(w, KIND_LOCATION, w->p->links.items[s->first + i]));
	const char *text = strbuf_text(&links);
	uint32_t hash = hash_of(text, s->kernel * STACK_ENDS + s->end);
	int result = -1;
	for (int adding = 0; adding < 2; adding++) {
		sqlite3_stmt *stmt = statement(w, adding ? ADD_CHAIN : FIND_CHAIN);
		if (!stmt)
			break;
		sqlite3_bind_int64(stmt, 1, w->run);
		sqlite3_bind_int64(stmt, 2, hash);
		sqlite3_bind_int64(stmt, 3, s->kernel);
		sqlite3_bind_int64(stmt, 4, s->end);
		sqlite3_bind_text64(stmt, 5, text, links.length, SQLITE_STATIC, SQLITE_UTF8);
		result = adding ? add(w, stmt, k, CHAIN_BYTES + links.length) : find(w, stmt, k);
		sqlite3_clear_bindings(stmt);
		if (result || k->id)
			break;
	}
	strbuf_release(&links);
	return result;
}

static int store_chain(struct writer *w, uint32_t i)
{
	const struct profile_stack *s = &w->p->stack_list.items[i];
	uint32_t callers = s->count ? s->count - 1 : 0;
	ARRAY(uint32_t) links = { 0 };
	array_reserve(&links, callers + 1);
	for (uint32_t c = 0; c < callers; c++)
		links.items[c] = w->at[KIND_LOCATION][w->p->links.items[s->first + 1 + c]];
	uint32_t at = w->at[KIND_CHAIN][i] =
		profile_add_stack(&w->s->known, links.items, callers, s->kernel, s->end);
	array_release(&links);
	struct known *k = known_at(w, KIND_CHAIN, at);
	return k->id ? 0 : find_chain(w, s, k);
}

static int store_dictionaries(struct writer *w)
{
	const struct profile *p = w->p;
	const struct {
		int (*store)(struct writer *, uint32_t);
		size_t count;
	} steps[] = {
		{ store_object, p->objects.count },	{ store_app, p->apps.count },
		{ store_instance, p->instances.count }, { store_thread, p->threads.count },
		{ store_function, p->functions.count }, { store_code, p->code.count },
		{ store_location, p->locations.count }, { store_chain, p->stack_list.count },
	};
	for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
		for (uint32_t i = 0; i < steps[s].count; i++)
			if (steps[s].store(w, i))
				return -1;
	return 0;
}

/* ---- slices ---- */

/* A slice that begins when a stored one does is added to it. */
static int store_slice(struct writer *w, uint32_t slice, const struct sample_row *first,
		       size_t count)
{
	struct profile_slice sum = { 0 };
	int64_t id = 0;
	sqlite3_stmt *stmt = statement(w, FIND_SLICE);
	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, w->run);
	sqlite3_bind_int64(stmt, 2, (int64_t)w->p->slices.items[slice].begin_ns);
	int rc = sqlite3_step(stmt), at = 1, result = 0;
	if (rc == SQLITE_ROW) {
		id = sqlite3_column_int64(stmt, 0);
		if (fields_read(stmt, &at, profile_slice_fields, &sum))
			result = lab_damaged(w->lab, w->err, "a slice has impossible values");
	} else if (rc != SQLITE_DONE) {
		result = lab_fail(w->lab, w->err, storing);
	}
	sqlite3_reset(stmt);
	if (result)
		return -1;
	if (!id)
		return lab_put_slice(w->lab, w->run, &id, &w->p->slices.items[slice], count,
				     storing, w->err) ||
		       lab_insert_samples(w->lab, id, first, count, storing, w->err);
	sample_rows rows = { 0 };
	for (size_t i = 0; i < count; i++)
		array_push(&rows, first[i]);
	result = lab_read_samples(w->lab, id, slice, &rows, w->err) ||
		 lab_drop(w->lab, DROP_SAMPLES, id, storing, w->err);
	sample_rows_sum(&rows);
	profile_slice_add(&sum, &w->p->slices.items[slice]);
	result = result || lab_put_slice(w->lab, w->run, &id, &sum, rows.count, storing, w->err) ||
		 lab_insert_samples(w->lab, id, rows.items, rows.count, storing, w->err);
	array_release(&rows);
	return result;
}

static int store_slices(struct writer *w)
{
	const struct profile *p = w->p;
	sample_rows rows = { 0 };
	array_reserve(&rows, p->samples.count + 1);
	for (size_t i = 0; i < p->samples.count; i++) {
		const struct profile_sample *s = &p->samples.items[i];
		const struct profile_stack *stack = &p->stack_list.items[s->stack];
		array_push(&rows,
			   (struct sample_row){
				   .slice = s->slice,
				   .thread = id_of(w, KIND_THREAD, s->thread),
				   .chain = id_of(w, KIND_CHAIN, s->stack),
				   .location = stack->count ? id_of(w, KIND_LOCATION,
								    p->links.items[stack->first])
							    : 0,
				   .count = s->count });
	}
	sample_rows_sum(&rows);
	int result = 0;
	for (size_t i = 0, end = 0, slice = 0; !result && slice < p->slices.count;
	     slice++, i = end) {
		while (end < rows.count && rows.items[end].slice == slice)
			end++;
		result = store_slice(w, (uint32_t)slice, rows.items + i, end - i);
	}
	array_release(&rows);
	return result;
}

/* ---- all of it ---- */

#define ALL(list, holds)                                                  \
	for (size_t i_ = 0; i_ < p->list.count; i_++) {                   \
		const __typeof__(*p->list.items) *x = &p->list.items[i_]; \
		if (!(holds))                                             \
			return false;                                     \
	}

static bool within(uint64_t first, uint64_t count, size_t limit)
{
	return first + count <= limit;
}

/* What points nowhere is not stored. */
static bool is_sound(const struct profile *p)
{
	if ((unsigned)p->mode >= PROFILE_MODES || (unsigned)p->stacks >= PROFILE_STACKS)
		return false;
	ALL(objects, (unsigned)x->kind < OBJECT_KINDS && x->build_id_size <= BUILD_ID_MAX)
	ALL(apps, x->object == PROFILE_NONE || x->object < p->objects.count)
	ALL(instances, x->app < p->apps.count)
	ALL(threads, x->instance < p->instances.count)
	ALL(functions, x->object < p->objects.count)
	ALL(frames, x->function < p->functions.count)
	ALL(locations, x->object < p->objects.count &&
			       (within(x->first_frame, x->frames, p->frames.count) || !x->frames))
	ALL(links, *x < p->locations.count)
	ALL(stack_list, (unsigned)x->end < STACK_ENDS && x->kernel <= x->count &&
				(within(x->first, x->count, p->links.count) || !x->count))
	ALL(samples, x->slice < p->slices.count && x->thread < p->threads.count &&
			     x->stack < p->stack_list.count)
	ALL(code, x->function < p->functions.count)
	return true;
}

/* The run's own row, with the first slice; later ones find it. */
static int store_run(struct writer *w)
{
	static const char sql[] = "INSERT OR IGNORE INTO profile (run, origin_ns, bytes, mode, "
				  "stacks, hz, cpus, realtime_ns) VALUES (?, ?, 0, ?, ?, ?, ?, ?)";
	uint64_t origin = UINT64_MAX;
	for (size_t i = 0; i < w->p->slices.count; i++)
		if (w->p->slices.items[i].begin_ns < origin)
			origin = w->p->slices.items[i].begin_ns;
	sqlite3_stmt *stmt = NULL;
	int at = 3;
	if (lab_prepare(w->lab, &stmt, sql, storing, w->err))
		return -1;
	sqlite3_bind_int64(stmt, 1, w->run);
	sqlite3_bind_int64(stmt, 2, (int64_t)origin);
	fields_bind(stmt, &at, profile_settings_fields, w->p);
	int result = lab_done(w->lab, stmt, storing, w->err);
	sqlite3_finalize(stmt);
	return result;
}

static size_t known_bytes(const struct profile *k)
{
	return 24 * (k->objects.count + k->apps.count) + 160 * k->instances.count +
	       64 * k->threads.count + 160 * k->functions.count + 64 * k->locations.count +
	       48 * k->stack_list.count + 4 * k->links.count;
}

/* Another process may have stored, removed or rolled up. */
static int check_known(struct writer *w)
{
	sqlite3_stmt *stmt = statement(w, SEE_CHANGES);
	if (!stmt)
		return -1;
	if (sqlite3_step(stmt) != SQLITE_ROW)
		return lab_fail(w->lab, w->err, storing);
	int64_t changes = sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	if (w->s->run != w->run || w->s->changes != changes ||
	    known_bytes(&w->s->known) > KNOWN_BYTES_MAX)
		profile_store_forget(w->s);
	w->s->run = w->run;
	w->s->changes = changes;
	return 0;
}

static int add_bytes(struct writer *w)
{
	sqlite3_stmt *stmt = w->bytes ? statement(w, ADD_BYTES) : NULL;
	if (!stmt)
		return w->bytes ? -1 : 0;
	sqlite3_bind_int64(stmt, 1, w->run);
	sqlite3_bind_int64(stmt, 2, (int64_t)w->bytes);
	return lab_done(w->lab, stmt, storing, w->err);
}

static void make_room(struct writer *w)
{
	const struct profile *p = w->p;
	const size_t counts[PROFILE_KINDS] = {
		[KIND_OBJECT] = p->objects.count,     [KIND_APP] = p->apps.count,
		[KIND_INSTANCE] = p->instances.count, [KIND_THREAD] = p->threads.count,
		[KIND_FUNCTION] = p->functions.count, [KIND_LOCATION] = p->locations.count,
		[KIND_CHAIN] = p->stack_list.count,
	};
	for (int i = 0; i < PROFILE_KINDS; i++)
		w->at[i] = xcalloc(counts[i] + 1, sizeof *w->at[i]);
}

int lab_add_slices(struct lab *lab, int64_t run, const struct profile *p, struct error *err)
{
	if (!is_sound(p))
		return error_set(err, EXIT_USAGE,
				 "the profile of run %" PRId64 " is beyond the bounds of a lab",
				 run);
	if (lab_begin(lab, storing, err))
		return -1;
	struct writer w = {
		.lab = lab, .s = profile_store_of(lab), .run = run, .p = p, .err = err
	};
	make_room(&w);
	int result = lab_need_profile(lab, run, err) || check_known(&w);
	if (!result && p->slices.count)
		result = store_run(&w) || store_dictionaries(&w) || store_slices(&w) ||
			 add_bytes(&w);
	for (int i = 0; i < PROFILE_KINDS; i++)
		xfree(w.at[i]);
	ZSTD_freeCCtx(w.zstd);
	if (!result)
		result = lab_commit(lab, storing, err);
	if (result)
		profile_store_forget(w.s); /* ids of what is rolled back */
	lab_rollback(lab);
	return result ? -1 : 0;
}
