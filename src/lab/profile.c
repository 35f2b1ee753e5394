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

static sqlite3_stmt *statement(struct writer *w, enum profile_statement which,
			       const struct arg *args)
{
	sqlite3_stmt *stmt = profile_statement(w->lab, which, storing, w->err);
	if (stmt)
		lab_bind(stmt, 1, args);
	return stmt;
}

/* Fills in the id (0: there is none) and, where the statement tells, whether it is complete. */
static int find(struct writer *w, enum profile_statement which, const struct arg *args,
		struct known *k)
{
	sqlite3_stmt *stmt = statement(w, which, args);
	*k = (struct known){ 0 };
	if (!stmt)
		return -1;
	int rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		k->id = sqlite3_column_int64(stmt, 0);
		k->complete = sqlite3_column_count(stmt) > 1 && sqlite3_column_int(stmt, 1);
	}
	int result = rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : lab_fail(w->lab, w->err, storing);
	sqlite3_reset(stmt);
	return result;
}

/* Adds the row that an object and the arguments behind its fields make. */
static int add_row(struct writer *w, enum profile_statement which, const void *object,
		   const struct arg *args, struct known *k, size_t bytes)
{
	sqlite3_stmt *stmt = statement(w, which, NULL);
	int at = 1;
	if (!stmt)
		return -1;
	fields_bind(stmt, &at, profile_tables[which].fields, object);
	lab_bind(stmt, at, args);
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
	if (k->id)
		return 0;
	if (find(w, FIND_OBJECT,
		 ARGS(NUM(w->run), RAW(o->path), NUM(o->pid), NUM(o->inode), NUM(o->device),
		      BYTES(o->build_id, o->build_id_size), NUM(o->kind)),
		 k))
		return -1;
	return k->id ? 0
		     : add_row(w, ADD_OBJECT, o,
			       ARGS(NUM(w->run), BYTES(o->build_id, o->build_id_size)), k,
			       OBJECT_BYTES + 2 * length_of(o->path));
}

static int store_app(struct writer *w, uint32_t i)
{
	const struct profile_app *a = &w->p->apps.items[i];
	bool kernel = a->object == PROFILE_NONE;
	uint32_t object = kernel ? PROFILE_NONE : w->at[KIND_OBJECT][a->object];
	uint32_t at = w->at[KIND_APP][i] = profile_add_app(&w->s->known, a->name, object);
	int64_t id = kernel ? 0 : id_of(w, KIND_OBJECT, a->object);
	struct known *k = known_at(w, KIND_APP, at);
	if (k->id)
		return 0;
	if (find(w, FIND_APP, ARGS(NUM(w->run), RAW(a->name), ID(id)), k))
		return -1;
	return k->id ? 0
		     : add_row(w, ADD_APP, a, ARGS(NUM(w->run), ID(id)), k,
			       OBJECT_BYTES + 2 * length_of(a->name));
}

static int store_instance(struct writer *w, uint32_t i)
{
	struct profile_instance instance = w->p->instances.items[i];
	int64_t app = id_of(w, KIND_APP, instance.app);
	instance.app = w->at[KIND_APP][instance.app];
	uint32_t at = w->at[KIND_INSTANCE][i] = profile_add_instance(&w->s->known, &instance);
	struct known *k = known_at(w, KIND_INSTANCE, at), cgroup;
	if (k->id)
		return 0;
	if (find(w, FIND_INSTANCE,
		 ARGS(NUM(w->run), NUM(instance.pid), NUM(instance.start_ns),
		      NUM(instance.exec_id)),
		 k))
		return -1;
	if (k->id)
		return 0;
	if (find(w, FIND_CGROUP, ARGS(NUM(w->run), RAW(instance.cgroup), RAW(instance.container)),
		 &cgroup) ||
	    (!cgroup.id && add_row(w, ADD_CGROUP, &instance, ARGS(NUM(w->run)), &cgroup,
				   OBJECT_BYTES + 2 * length_of(instance.cgroup) +
					   2 * length_of(instance.container))))
		return -1;
	return add_row(w, ADD_INSTANCE, &instance, ARGS(NUM(w->run), NUM(app), NUM(cgroup.id)), k,
		       INSTANCE_BYTES);
}

static int store_thread(struct writer *w, uint32_t i)
{
	const struct profile_thread *t = &w->p->threads.items[i];
	uint32_t instance = w->at[KIND_INSTANCE][t->instance];
	uint32_t at = w->at[KIND_THREAD][i] =
		profile_add_thread(&w->s->known, instance, t->tid, NULL);
	struct known *k = known_at(w, KIND_THREAD, at);
	int64_t of = id_of(w, KIND_INSTANCE, t->instance);
	if (k->id && strcmp(w->s->known.threads.items[at].comm, t->comm) == 0)
		return 0;
	if (!k->id && find(w, FIND_THREAD, ARGS(NUM(of), NUM(t->tid)), k))
		return -1;
	profile_add_thread(&w->s->known, instance, t->tid, t->comm);
	if (!k->id)
		return add_row(w, ADD_THREAD, t, ARGS(NUM(of)), k, THREAD_BYTES + 8);
	sqlite3_stmt *stmt = statement(w, NAME_THREAD, ARGS(NUM(k->id), TEXT(t->comm)));
	return stmt ? lab_done(w->lab, stmt, storing, w->err) : -1;
}

static int store_function(struct writer *w, uint32_t i)
{
	struct profile_function f = w->p->functions.items[i];
	int64_t object = id_of(w, KIND_OBJECT, f.object);
	f.object = w->at[KIND_OBJECT][f.object];
	uint32_t at = w->at[KIND_FUNCTION][i] = profile_add_function(&w->s->known, &f);
	struct known *k = known_at(w, KIND_FUNCTION, at);
	if (k->id)
		return 0;
	if (find(w, FIND_FUNCTION, ARGS(NUM(object), NUM(f.address), RAW(f.name)), k))
		return -1;
	return k->id ? 0
		     : add_row(w, ADD_FUNCTION, &f, ARGS(NUM(object)), k,
			       FUNCTION_BYTES + 2 * length_of(f.name) + length_of(f.file));
}

static int store_code(struct writer *w, uint32_t i)
{
	const struct profile_code *c = &w->p->code.items[i];
	struct known *k = known_at(w, KIND_FUNCTION, w->at[KIND_FUNCTION][c->function]);
	if (k->complete || c->size == 0)
		return 0;
	if (!w->zstd)
		w->zstd = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(c->size);
	void *bytes = xmalloc(room);
	size_t length = w->zstd ? ZSTD_compressCCtx(w->zstd, bytes, room, c->bytes, c->size, 3) : 0;
	if (length == 0 || ZSTD_isError(length)) {
		free(bytes);
		return error_set(w->err, EXIT_ENVIRONMENT, "no memory to compress code");
	}
	sqlite3_stmt *stmt = statement(
		w, ADD_CODE, ARGS(NUM(k->id), NUM(c->size), BYTES(bytes, (int64_t)length)));
	int result = stmt ? lab_done(w->lab, stmt, storing, w->err) : -1;
	free(bytes);
	w->bytes += CODE_BYTES + length;
	k->complete = !result;
	return result;
}

/* One that was stored before it was looked up gets its address and frames now. */
static int store_location(struct writer *w, uint32_t i)
{
	const struct profile_location *l = &w->p->locations.items[i];
	uint32_t at = w->at[KIND_LOCATION][i] =
		profile_add_location(&w->s->known, w->at[KIND_OBJECT][l->object], l->offset);
	struct known *k = known_at(w, KIND_LOCATION, at);
	uint64_t *address = &w->s->known.locations.items[at].address;
	int64_t object = id_of(w, KIND_OBJECT, l->object),
		shift = (int64_t)(l->address - l->offset);
	bool added = false;
	if (!k->id && find(w, FIND_LOCATION, ARGS(NUM(object), NUM(l->offset)), k))
		return -1;
	if (!k->id) {
		if (add_row(w, ADD_LOCATION, l, ARGS(NUM(object), NUM(shift)), k, LOCATION_BYTES))
			return -1;
		added = true;
	}
	bool moved = l->address != *address && (l->frames || l->address != l->offset);
	if (k->complete || (!l->frames && !moved))
		return 0;
	*address = l->address;
	if (!added && moved) {
		sqlite3_stmt *stmt = statement(w, MOVE_LOCATION, ARGS(NUM(k->id), NUM(shift)));
		if (!stmt || lab_done(w->lab, stmt, storing, w->err))
			return -1;
	}
	k->complete = l->frames > 0;
	for (uint32_t f = 0; f < l->frames; f++) {
		const struct profile_frame *frame = &w->p->frames.items[l->first_frame + f];
		int64_t function = id_of(w, KIND_FUNCTION, frame->function);
		struct known none;
		if (add_row(w, ADD_FRAME, frame, ARGS(NUM(k->id), NUM(f), NUM(function)), &none,
			    FRAME_BYTES + length_of(frame->file)))
			return -1;
	}
	return 0;
}

static int store_chain(struct writer *w, uint32_t i)
{
	const struct profile_stack *s = &w->p->stack_list.items[i];
	const uint32_t *callers = w->p->links.items + s->first + 1;
	uint32_t count = s->count ? s->count - 1 : 0;
	ARRAY(uint32_t) known = { 0 };
	array_reserve(&known, count + 1);
	for (uint32_t c = 0; c < count; c++)
		known.items[c] = w->at[KIND_LOCATION][callers[c]];
	uint32_t at = w->at[KIND_CHAIN][i] =
		profile_add_stack(&w->s->known, known.items, count, s->kernel, s->end);
	array_release(&known);
	struct known *k = known_at(w, KIND_CHAIN, at);
	if (k->id)
		return 0;
	struct strbuf links = { 0 };
	strbuf_puts(&links, "");
	for (uint32_t c = 0; c < count; c++)
		strbuf_printf(&links, ",%" PRId64, id_of(w, KIND_LOCATION, callers[c]));
	uint32_t hash = s->kernel * STACK_ENDS + s->end;
	for (const char *c = links.text; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 16777619u;
	int result = find(
		w, FIND_CHAIN,
		ARGS(NUM(w->run), NUM(hash), NUM(s->kernel), NUM(s->end), TEXT(links.text)), k);
	if (!result && !k->id)
		result = add_row(w, ADD_CHAIN, s, ARGS(NUM(w->run), NUM(hash), TEXT(links.text)), k,
				 CHAIN_BYTES + links.length);
	strbuf_release(&links);
	return result;
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
	sqlite3_stmt *stmt = statement(w, FIND_SLICE,
				       ARGS(NUM(w->run), NUM(w->p->slices.items[slice].begin_ns)));
	if (!stmt)
		return -1;
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
	array_each(s, &p->samples) {
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
	static const struct lab_table table = { "profile", profile_settings_fields,
						"run, origin_ns, bytes",
						" ON CONFLICT DO NOTHING" };
	uint64_t origin = UINT64_MAX;
	for (size_t i = 0; i < w->p->slices.count; i++)
		if (w->p->slices.items[i].begin_ns < origin)
			origin = w->p->slices.items[i].begin_ns;
	sqlite3_stmt *stmt = NULL;
	int at = 1;
	if (lab_prepare_inserts(w->lab, &table, 1, &stmt, storing, w->err))
		return -1;
	fields_bind(stmt, &at, profile_settings_fields, w->p);
	lab_bind(stmt, at, ARGS(NUM(w->run), NUM(origin), NUM(0)));
	int result = lab_done(w->lab, stmt, storing, w->err);
	sqlite3_finalize(stmt);
	return result;
}

/* Another process may have stored, removed or rolled up. */
static int check_known(struct writer *w)
{
	sqlite3_stmt *stmt = statement(w, SEE_CHANGES, NULL);
	if (!stmt)
		return -1;
	if (sqlite3_step(stmt) != SQLITE_ROW)
		return lab_fail(w->lab, w->err, storing);
	int64_t changes = sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	const struct profile *k = &w->s->known;
	size_t bytes = 24 * (k->objects.count + k->apps.count) + 160 * k->instances.count +
		       64 * k->threads.count + 160 * k->functions.count + 64 * k->locations.count +
		       48 * k->stack_list.count + 4 * k->links.count;
	if (w->s->run != w->run || w->s->changes != changes || bytes > KNOWN_BYTES_MAX)
		profile_store_forget(w->s);
	w->s->run = w->run;
	w->s->changes = changes;
	return 0;
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
	const size_t counts[PROFILE_KINDS] = {
		[KIND_OBJECT] = p->objects.count,     [KIND_APP] = p->apps.count,
		[KIND_INSTANCE] = p->instances.count, [KIND_THREAD] = p->threads.count,
		[KIND_FUNCTION] = p->functions.count, [KIND_LOCATION] = p->locations.count,
		[KIND_CHAIN] = p->stack_list.count,
	};
	for (int i = 0; i < PROFILE_KINDS; i++)
		w.at[i] = xcalloc(counts[i] + 1, sizeof *w.at[i]);
	int result = lab_need_profile(lab, run, err) || check_known(&w);
	if (!result && p->slices.count)
		result = store_run(&w) || store_dictionaries(&w) || store_slices(&w);
	if (!result && w.bytes)
		result = lab_change(lab, "UPDATE profile SET bytes = bytes + ?2 WHERE run = ?1",
				    ARGS(NUM(run), NUM(w.bytes)), storing, err);
	for (int i = 0; i < PROFILE_KINDS; i++)
		xfree(w.at[i]);
	ZSTD_freeCCtx(w.zstd);
	result = lab_finish(lab, result, storing, err);
	if (result)
		profile_store_forget(w.s); /* ids of what is rolled back */
	return result;
}
