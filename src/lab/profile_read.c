/* A profile out of its tables: the samples asked for, and what they refer to. What is out of its
 * bounds, or refers to what is not there, is damage. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "lab/profile_rows.h"

#define CODE_MAX (64u << 20) /* bounds the memory that a damaged lab may ask for */

struct reader {
	struct lab *lab;
	int64_t run;
	struct profile *p;
	bool code;				      /* is wanted */
	sqlite3_stmt *statements[PROFILE_STATEMENTS]; /* that read what these add */
	struct number_map objects, apps, instances, threads, functions, locations, chains, stacks;
	ARRAY(struct profile_stack) chain_list; /* callers, as positions of locations in `links` */
	ARRAY(uint32_t) links, stack;
	struct error *err;
};

static uint32_t impossible(struct reader *r)
{
	lab_damaged(r->lab, r->err, "a profile has impossible values");
	return PROFILE_NONE;
}

/* Reads the rows of a table with this id, or of this location or function: the fields, then what is
 * behind them. NULL with err set. */
static sqlite3_stmt *rows_of(struct reader *r, enum profile_statement which, int64_t id)
{
	const struct lab_table *t = &profile_tables[which];
	sqlite3_stmt **stmt = &r->statements[which];
	int failed = 0;
	if (!*stmt && which == ADD_CODE)
		failed = lab_prepare(r->lab, stmt,
				     "SELECT size, data FROM profile_code WHERE function = ?",
				     "read", r->err);
	else if (!*stmt)
		failed = lab_select(r->lab, stmt, t->fields, NULL, r->err,
				    ", %s FROM %s WHERE %s = ?%s", t->more, t->name,
				    which == ADD_FRAME ? "location" : "id",
				    which == ADD_FRAME ? " ORDER BY level" : "");
	if (failed)
		return NULL;
	sqlite3_bind_int64(*stmt, 1, id);
	return *stmt;
}

/* The row with this id; NULL with err set. The caller resets the statement. */
static sqlite3_stmt *row_of(struct reader *r, enum profile_statement which, int64_t id)
{
	sqlite3_stmt *stmt = rows_of(r, which, id);
	int rc = stmt ? sqlite3_step(stmt) : SQLITE_ROW;
	if (rc == SQLITE_ROW)
		return stmt;
	if (rc == SQLITE_DONE)
		impossible(r);
	else
		lab_fail(r->lab, r->err, "read");
	sqlite3_reset(stmt);
	return NULL;
}

static bool is_mine(const struct reader *r, sqlite3_stmt *stmt, int column)
{
	return sqlite3_column_int64(stmt, column) == r->run;
}

/* Where the entry with this id is in the profile, or what `make` makes of it; PROFILE_NONE with err
 * set on an error. */
static uint32_t entry(struct reader *r, struct number_map *map, int64_t id,
		      uint32_t (*make)(struct reader *, int64_t))
{
	if (id <= 0)
		return impossible(r);
	const uint64_t *had = number_map_find(map, (uint64_t)id);
	if (had)
		return (uint32_t)*had;
	uint32_t made = make(r, id);
	if (made != PROFILE_NONE)
		*number_map_at(map, (uint64_t)id) = made;
	return made;
}

/* ---- places ---- */

static uint32_t make_object(struct reader *r, int64_t id)
{
	struct profile_object o = { 0 };
	sqlite3_stmt *stmt = row_of(r, ADD_OBJECT, id);
	int at = 0;
	if (!stmt)
		return PROFILE_NONE;
	bool sound = !fields_read(stmt, &at, profile_object_fields, &o) && o.path;
	const void *build_id = sqlite3_column_blob(stmt, at + 1);
	size_t length = (size_t)sqlite3_column_bytes(stmt, at + 1);
	sound = sound && is_mine(r, stmt, at) && length <= BUILD_ID_MAX;
	if (sound && length)
		memcpy(o.build_id, build_id, length);
	o.build_id_size = (uint8_t)length;
	sqlite3_reset(stmt);
	uint32_t made = sound ? profile_add_object(r->p, &o) : impossible(r);
	free(o.path);
	return made;
}

static int read_code(struct reader *r, int64_t id, uint32_t function)
{
	if (!r->code)
		return 0;
	sqlite3_stmt *stmt = rows_of(r, ADD_CODE, id);
	if (!stmt)
		return -1;
	int rc = sqlite3_step(stmt), result = 0;
	if (rc == SQLITE_ROW) {
		int64_t size = sqlite3_column_int64(stmt, 0);
		const void *data = sqlite3_column_blob(stmt, 1);
		size_t length = (size_t)sqlite3_column_bytes(stmt, 1);
		bool sound = data && size > 0 && size <= CODE_MAX;
		uint8_t *bytes = sound ? xmalloc((size_t)size) : NULL;
		if (sound && ZSTD_decompress(bytes, (size_t)size, data, length) == (size_t)size) {
			profile_add_code(r->p, function, bytes, (uint32_t)size);
		} else {
			impossible(r);
			result = -1;
		}
		free(bytes);
	} else if (rc != SQLITE_DONE) {
		result = lab_fail(r->lab, r->err, "read");
	}
	sqlite3_reset(stmt);
	return result;
}

static uint32_t make_function(struct reader *r, int64_t id)
{
	struct profile_function f = { 0 };
	sqlite3_stmt *stmt = row_of(r, ADD_FUNCTION, id);
	int at = 0;
	if (!stmt)
		return PROFILE_NONE;
	bool sound = !fields_read(stmt, &at, profile_function_fields, &f) && f.name;
	int64_t object = sqlite3_column_int64(stmt, at);
	sqlite3_reset(stmt);
	uint32_t made = PROFILE_NONE;
	if (!sound)
		impossible(r);
	else if ((f.object = entry(r, &r->objects, object, make_object)) != PROFILE_NONE)
		made = profile_add_function(r->p, &f);
	free(f.name);
	free(f.file);
	return made == PROFILE_NONE || read_code(r, id, made) ? PROFILE_NONE : made;
}

typedef ARRAY(struct profile_frame) frame_list;

/* The frames of a location; their functions are looked up when the rows are read. */
static int read_frames(struct reader *r, int64_t id, frame_list *frames)
{
	sqlite3_stmt *stmt = rows_of(r, ADD_FRAME, id);
	int rc = SQLITE_DONE, result = stmt ? 0 : -1;
	while (!result && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct profile_frame f = { 0 };
		int at = 0;
		bool sound = !fields_read(stmt, &at, profile_tables[ADD_FRAME].fields, &f) &&
			     sqlite3_column_int64(stmt, at + 1) == (int64_t)frames->count;
		f.function = sound ? entry(r, &r->functions, sqlite3_column_int64(stmt, at + 2),
					   make_function)
				   : impossible(r);
		array_push(frames, f);
		result = f.function == PROFILE_NONE ? -1 : 0;
	}
	if (!result && rc != SQLITE_DONE)
		result = lab_fail(r->lab, r->err, "read");
	sqlite3_reset(stmt);
	return result;
}

static uint32_t make_location(struct reader *r, int64_t id)
{
	sqlite3_stmt *stmt = row_of(r, ADD_LOCATION, id);
	if (!stmt)
		return PROFILE_NONE;
	uint64_t offset = (uint64_t)sqlite3_column_int64(stmt, 0);
	int64_t object = sqlite3_column_int64(stmt, 1);
	uint64_t address = offset + (uint64_t)sqlite3_column_int64(stmt, 2);
	sqlite3_reset(stmt);
	uint32_t in = entry(r, &r->objects, object, make_object);
	if (in == PROFILE_NONE)
		return PROFILE_NONE;
	frame_list frames = { 0 };
	uint32_t made = PROFILE_NONE;
	if (!read_frames(r, id, &frames)) {
		made = profile_add_location(r->p, in, offset);
		profile_set_frames(r->p, made, address, frames.items, frames.count);
	}
	for (size_t i = 0; i < frames.count; i++)
		free(frames.items[i].file);
	array_release(&frames);
	return made;
}

/* ---- owners ---- */

static uint32_t make_app(struct reader *r, int64_t id)
{
	sqlite3_stmt *stmt = row_of(r, ADD_APP, id);
	if (!stmt)
		return PROFILE_NONE;
	bool sound = is_mine(r, stmt, 1), kernel = sqlite3_column_type(stmt, 2) == SQLITE_NULL;
	char *name = raw_read(stmt, 0);
	int64_t object = sqlite3_column_int64(stmt, 2);
	sqlite3_reset(stmt);
	uint32_t made = PROFILE_NONE, of = PROFILE_NONE;
	if (!sound || !name)
		impossible(r);
	else if (kernel || (of = entry(r, &r->objects, object, make_object)) != PROFILE_NONE)
		made = profile_add_app(r->p, name, of);
	free(name);
	return made;
}

static uint32_t make_instance(struct reader *r, int64_t id)
{
	struct profile_instance i = { 0 };
	sqlite3_stmt *stmt = row_of(r, ADD_INSTANCE, id);
	int at = 0;
	if (!stmt)
		return PROFILE_NONE;
	bool sound = !fields_read(stmt, &at, profile_instance_fields, &i) && is_mine(r, stmt, at);
	int64_t app = sqlite3_column_int64(stmt, at + 1),
		cgroup = sqlite3_column_int64(stmt, at + 2);
	sqlite3_reset(stmt);
	if (!sound)
		return impossible(r);
	i.app = entry(r, &r->apps, app, make_app);
	if (i.app == PROFILE_NONE || !(stmt = row_of(r, ADD_CGROUP, cgroup)))
		return PROFILE_NONE;
	at = 0;
	fields_read(stmt, &at, profile_tables[ADD_CGROUP].fields, &i);
	sound = is_mine(r, stmt, at);
	sqlite3_reset(stmt);
	uint32_t made = sound ? profile_add_instance(r->p, &i) : impossible(r);
	free(i.cgroup);
	free(i.container);
	return made;
}

static uint32_t make_thread(struct reader *r, int64_t id)
{
	sqlite3_stmt *stmt = row_of(r, ADD_THREAD, id);
	struct profile_thread t = { 0 };
	int at = 0;
	if (!stmt)
		return PROFILE_NONE;
	bool sound = !fields_read(stmt, &at, profile_tables[ADD_THREAD].fields, &t);
	int64_t instance = sqlite3_column_int64(stmt, at);
	sqlite3_reset(stmt);
	if (!sound)
		return impossible(r);
	uint32_t of = entry(r, &r->instances, instance, make_instance);
	return of == PROFILE_NONE ? of : profile_add_thread(r->p, of, t.tid, t.comm);
}

/* ---- stacks ---- */

/* ",12,7": positions of the locations with these ids, behind r->links. */
static int read_links(struct reader *r, const char *text)
{
	while (*text) {
		char *end;
		if (*text++ != ',' || *text < '1' || *text > '9')
			return impossible(r), -1;
		errno = 0;
		int64_t id = strtoll(text, &end, 10);
		if (errno)
			return impossible(r), -1;
		text = end;
		uint32_t location = entry(r, &r->locations, id, make_location);
		if (location == PROFILE_NONE)
			return -1;
		array_push(&r->links, location);
	}
	return 0;
}

static uint32_t make_chain(struct reader *r, int64_t id)
{
	struct profile_stack c = { .first = (uint32_t)r->links.count };
	sqlite3_stmt *stmt = row_of(r, ADD_CHAIN, id);
	int at = 0;
	if (!stmt)
		return PROFILE_NONE;
	bool sound = !fields_read(stmt, &at, profile_tables[ADD_CHAIN].fields, &c) &&
		     is_mine(r, stmt, at);
	char *links = raw_read(stmt, at + 2);
	sqlite3_reset(stmt);
	int result = sound && links ? read_links(r, links) : (impossible(r), -1);
	free(links);
	c.count = (uint32_t)r->links.count - c.first;
	if (result)
		return PROFILE_NONE;
	array_push(&r->chain_list, c);
	return (uint32_t)r->chain_list.count - 1;
}

static uint32_t stack_of(struct reader *r, const struct sample_row *row)
{
	uint32_t chain = entry(r, &r->chains, row->chain, make_chain), leaf = 0;
	if (row->location)
		leaf = entry(r, &r->locations, row->location, make_location);
	if (chain == PROFILE_NONE || leaf == PROFILE_NONE || !r->chain_list.items)
		return PROFILE_NONE;
	/* by both; no key is 0 */
	uint64_t key = ((uint64_t)chain << 32 | (row->location ? leaf + 1 : 0)) + 1;
	const uint64_t *had = number_map_find(&r->stacks, key);
	if (had)
		return (uint32_t)*had;
	const struct profile_stack *c = &r->chain_list.items[chain];
	r->stack.count = 0;
	if (row->location)
		array_push(&r->stack, leaf);
	for (uint32_t i = 0; i < c->count; i++)
		array_push(&r->stack, r->links.items[c->first + i]);
	if (c->kernel > r->stack.count)
		return impossible(r);
	uint32_t made = profile_add_stack(r->p, r->stack.items, r->stack.count, c->kernel, c->end);
	*number_map_at(&r->stacks, key) = made;
	return made;
}

/* ---- all of it ---- */

static int read_run(struct reader *r)
{
	sqlite3_stmt *stmt = NULL;
	bool found = false;
	int result = lab_select_growing(r->lab, &stmt, LAB_PROFILE, ARGS(NUM(r->run)), r->err,
					" FROM profile WHERE run = ?");
	while (lab_row(r->lab, stmt, "read", &result, r->err)) {
		int at = 0;
		found = true;
		if (fields_read(stmt, &at, profile_settings_fields, r->p))
			result = (impossible(r), -1);
	}
	if (result || found)
		return result;
	error_set(r->err, EXIT_USAGE, "nothing of run %" PRId64 " was stored", r->run);
	return error_hint(r->err, "one that is going stores its first slice soon");
}

static int read_samples(struct reader *r, int64_t slice, sample_rows *rows)
{
	rows->count = 0;
	if (lab_read_samples(r->lab, slice, (uint32_t)r->p->slices.count - 1, rows, r->err))
		return -1;
	array_each(row, rows) {
		uint32_t thread = entry(r, &r->threads, row->thread, make_thread);
		uint32_t stack = thread == PROFILE_NONE ? thread : stack_of(r, row);
		if (stack == PROFILE_NONE)
			return -1;
		profile_add_sample(r->p, row->slice, thread, stack, row->count);
	}
	return 0;
}

static int read_slices(struct reader *r, uint64_t begin_ns, uint64_t end_ns)
{
	sample_rows rows = { 0 };
	sqlite3_stmt *stmt = NULL;
	int result = lab_select(
		r->lab, &stmt, profile_slice_fields,
		ARGS(NUM(r->run), NUM(begin_ns ? (int64_t)begin_ns : INT64_MIN), NUM(end_ns)),
		r->err,
		", id FROM profile_slice WHERE run = ?1 AND begin_ns >= ?2 AND "
		"(?3 = 0 OR begin_ns < ?3) ORDER BY begin_ns");
	while (lab_row(r->lab, stmt, "read", &result, r->err)) {
		struct profile_slice slice = { 0 };
		int at = 0;
		if (fields_read(stmt, &at, profile_slice_fields, &slice)) {
			result = (impossible(r), -1);
			continue;
		}
		array_push(&r->p->slices, slice);
		result = read_samples(r, sqlite3_column_int64(stmt, at), &rows);
	}
	array_release(&rows);
	return result;
}

static int read_profile(struct lab *lab, int64_t run, uint64_t begin_ns, uint64_t end_ns, bool code,
			struct profile *into, struct error *err)
{
	struct profile p = { 0 };
	struct reader r = { .lab = lab, .run = run, .p = &p, .code = code, .err = err };
	bool alone; /* a run that is going is added to again and again */
	if (lab_begin_reading(lab, &alone, err))
		return -1;
	int result = lab_need_profile(lab, run, err) || read_run(&r) ||
		     read_slices(&r, begin_ns, end_ns);
	for (int i = 0; i < PROFILE_STATEMENTS; i++)
		sqlite3_finalize(r.statements[i]);
	struct number_map *maps[8] = { &r.objects,   &r.apps,	   &r.instances, &r.threads,
				       &r.functions, &r.locations, &r.chains,	 &r.stacks };
	for (size_t i = 0; i < 8; i++)
		number_map_release(maps[i]);
	array_release(&r.chain_list);
	array_release(&r.links);
	array_release(&r.stack);
	lab_end_reading(lab, alone);
	if (result) {
		profile_release(&p);
		return -1;
	}
	*into = p;
	return 0;
}

int lab_get_profile(struct lab *lab, int64_t run, uint64_t begin_ns, uint64_t end_ns,
		    struct profile *into, struct error *err)
{
	return read_profile(lab, run, begin_ns, end_ns, true, into, err);
}

int lab_get_profile_without_code(struct lab *lab, int64_t run, uint64_t begin_ns, uint64_t end_ns,
				 struct profile *into, struct error *err)
{
	return read_profile(lab, run, begin_ns, end_ns, false, into, err);
}
