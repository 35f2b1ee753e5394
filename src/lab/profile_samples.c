/* Slices and samples of a profile in their tables, and what the lab keeps at hand for them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lab/profile_rows.h"

/* The numbers in the schema's views. */
_Static_assert(PROFILE_TICK == 0 && PROFILE_CLOCK == 1 && PROFILE_CYCLES == 2 && PROFILE_EVENT == 3,
	       "");
_Static_assert(STACKS_NONE == 0 && STACKS_POINTERS == 1 && STACKS_EH_FRAME == 2, "");
_Static_assert(OBJECT_FILE == 0 && OBJECT_KERNEL == 1 && OBJECT_MODULE == 2, "");
_Static_assert(OBJECT_VDSO == 3 && OBJECT_JIT == 4 && OBJECT_MEMORY == 5, "");
_Static_assert(OBJECT_UNKNOWN == 6 && OBJECT_KINDS == 7, "");
_Static_assert(STACK_LEAF == 0 && STACK_COMPLETE == 1 && STACK_LIMIT == 2, "");
_Static_assert(STACK_BROKEN == 3 && STACK_NO_ROOM == 4 && STACK_ELIDED == 5, "");
_Static_assert(STACK_ENDS == 6, "");

/* ---- statements ---- */

#define SLICE_COLUMNS                                                                      \
	"begin_ns, end_ns, samples, user, kernel, idle, others, lost, throttled, untold, " \
	"peak_used, peak_room, self_ns"

static const char *const texts[PROFILE_STATEMENTS] = {
	[FIND_OBJECT] = "SELECT id FROM profile_object WHERE run = ? AND path = ? AND pid = ? AND "
			"inode = ? AND device = ? AND build_id = ? AND kind = ?",
	[FIND_APP] = "SELECT id FROM profile_app WHERE run = ? AND name = ? AND object IS ?",
	[FIND_CGROUP] = "SELECT id FROM profile_cgroup WHERE run = ? AND cgroup IS ? AND container "
			"IS ?",
	[FIND_INSTANCE] = "SELECT id FROM profile_instance WHERE run = ? AND pid = ? AND start_ns "
			  "= ? AND exec_id = ?",
	[FIND_THREAD] = "SELECT id FROM profile_thread WHERE instance = ? AND tid = ?",
	[NAME_THREAD] = "UPDATE profile_thread SET comm = ?2 WHERE id = ?1 AND comm <> ?2",
	[FIND_FUNCTION] = "SELECT id, EXISTS (SELECT 1 FROM profile_code c WHERE c.function = f.id)"
			  " FROM profile_function f WHERE object = ? AND address = ? AND name = ?",
	[ADD_CODE] = "INSERT INTO profile_code (function, size, data) VALUES (?, ?, ?)",
	[FIND_LOCATION] = "SELECT id, EXISTS (SELECT 1 FROM profile_frame f WHERE f.location = "
			  "l.id) FROM profile_location l WHERE object = ? AND offset = ?",
	[MOVE_LOCATION] = "UPDATE profile_location SET shift = ?2 WHERE id = ?1 AND shift <> ?2",
	[FIND_CHAIN] = "SELECT id FROM profile_chain WHERE run = ? AND hash = ? AND kernel = ? AND "
		       "stop = ? AND links = ?",
	[FIND_SLICE] = "SELECT id, " SLICE_COLUMNS " FROM profile_slice WHERE run = ? AND begin_ns "
		       "= ?",
	[ADD_SLICE] = "INSERT INTO profile_slice (run, sample_rows, id, " SLICE_COLUMNS
		      ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[SET_SLICE] = "UPDATE profile_slice SET (run, sample_rows, id, " SLICE_COLUMNS
		      ") = (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) "
		      "WHERE id = ?3",
	[DROP_SLICE] = "DELETE FROM profile_slice WHERE id = ?1",
	[ADD_SAMPLE] = "INSERT INTO profile_sample (id, thread, location, chain, count) VALUES (?, "
		       "?, ?, ?, ?)",
	[READ_SAMPLES] = "SELECT thread, chain, location, count FROM profile_sample WHERE id "
			 "BETWEEN ?1 << 24 AND (?1 << 24) + 16777215",
	[DROP_SAMPLES] = "DELETE FROM profile_sample WHERE id BETWEEN ?1 << 24 AND (?1 << 24) + "
			 "16777215",
	[SEE_CHANGES] = "PRAGMA data_version",
};

#define X(type, member, name, ...) FACT(struct profile_##type, member, name, __VA_ARGS__)
static const struct field app_fields[] = { X(app, name, "name", FIELD_RAW, NULL), { 0 } },
			  cgroup_fields[] = { X(instance, cgroup, "cgroup", FIELD_RAW, NULL),
					      X(instance, container, "container", FIELD_RAW, NULL),
					      { 0 } },
			  thread_fields[] = { X(thread, tid, "tid", FIELD_U32, NULL),
					      X(thread, comm, "comm", FIELD_NAME, NULL,
						.limit = sizeof((struct profile_thread){ 0 }.comm)),
					      { 0 } },
			  frame_fields[] = { X(frame, line, "line", FIELD_U32, NULL),
					     X(frame, file, "file", FIELD_RAW, NULL),
					     { 0 } },
			  location_fields[] = { X(location, offset, "offset", FIELD_U64, NULL),
						{ 0 } },
			  chain_fields[] = { X(stack, kernel, "kernel", FIELD_U32, NULL),
					     X(stack, end, "stop", FIELD_ENUM, NULL,
					       .limit = STACK_ENDS),
					     { 0 } };
#undef X

const struct lab_table profile_tables[PROFILE_STATEMENTS] = {
	[ADD_OBJECT] = { "profile_object", profile_object_fields, "run, build_id", NULL },
	[ADD_APP] = { "profile_app", app_fields, "run, object", NULL },
	[ADD_CGROUP] = { "profile_cgroup", cgroup_fields, "run", NULL },
	[ADD_INSTANCE] = { "profile_instance", profile_instance_fields, "run, app, cgroup", NULL },
	[ADD_THREAD] = { "profile_thread", thread_fields, "instance", NULL },
	[ADD_LOCATION] = { "profile_location", location_fields, "object, shift", NULL },
	[ADD_CHAIN] = { "profile_chain", chain_fields, "run, hash, links", NULL },
	[ADD_FUNCTION] = { "profile_function", profile_function_fields, "object", NULL },
	[ADD_FRAME] = { "profile_frame", frame_fields, "location, level, function", NULL },
};

struct profile_store *profile_store_of(struct lab *lab)
{
	if (!lab->profile)
		lab->profile = xcalloc(1, sizeof *lab->profile);
	return lab->profile;
}

void profile_store_forget(struct profile_store *s)
{
	if (!s)
		return;
	profile_release(&s->known);
	for (int i = 0; i < PROFILE_KINDS; i++)
		array_release(&s->ids[i]);
	s->run = 0;
}

void lab_close_profile(struct lab *lab)
{
	if (!lab->profile)
		return;
	profile_store_forget(lab->profile);
	for (int i = 0; i < PROFILE_STATEMENTS; i++)
		sqlite3_finalize(lab->profile->statements[i]);
	free(lab->profile);
	lab->profile = NULL;
}

void lab_forget_profile(struct lab *lab)
{
	profile_store_forget(lab->profile);
}

sqlite3_stmt *profile_statement(struct lab *lab, enum profile_statement which, const char *doing,
				struct error *err)
{
	sqlite3_stmt **stmt = &profile_store_of(lab)->statements[which];
	if (!*stmt &&
	    (texts[which] ? lab_prepare(lab, stmt, texts[which], doing, err)
			  : lab_prepare_inserts(lab, &profile_tables[which], 1, stmt, doing, err)))
		return NULL;
	sqlite3_reset(*stmt);
	return *stmt;
}

/* ---- samples ---- */

static int by_place(const void *one, const void *two)
{
	const struct sample_row *a = one, *b = two;
	return ORDER(a->slice, b->slice) ?: ORDER(a->thread, b->thread) ?:
	       ORDER(a->chain, b->chain) ?: ORDER(a->location, b->location);
}

void sample_rows_sum(sample_rows *rows)
{
	if (rows->count < 2)
		return;
	array_sort(rows, by_place);
	size_t last = 0;
	for (size_t i = 1; i < rows->count; i++) {
		if (by_place(&rows->items[last], &rows->items[i]) == 0)
			rows->items[last].count += rows->items[i].count;
		else
			rows->items[++last] = rows->items[i];
	}
	rows->count = last + 1;
}

int lab_read_samples(struct lab *lab, int64_t slice, uint32_t as, sample_rows *rows,
		     struct error *err)
{
	sqlite3_stmt *stmt = profile_statement(lab, READ_SAMPLES, "read", err);
	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, slice);
	int rc;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
		array_push(rows, (struct sample_row){
					 .slice = as,
					 .thread = sqlite3_column_int64(stmt, 0),
					 .chain = sqlite3_column_int64(stmt, 1),
					 .location = sqlite3_column_int64(stmt, 2),
					 .count = (uint64_t)sqlite3_column_int64(stmt, 3),
				 });
	int result = rc == SQLITE_DONE ? 0 : lab_fail(lab, err, "read");
	sqlite3_reset(stmt);
	return result;
}

int lab_insert_samples(struct lab *lab, int64_t slice, const struct sample_row *rows, size_t count,
		       const char *doing, struct error *err)
{
	sqlite3_stmt *stmt = profile_statement(lab, ADD_SAMPLE, doing, err);
	if (!stmt)
		return -1;
	if (count > SAMPLES_LIMIT || slice <= 0 || slice >= INT64_C(1) << (63 - SAMPLE_SHIFT))
		return error_set(err, EXIT_USAGE, "a slice is beyond the bounds of a lab");
	for (size_t i = 0; i < count; i++) {
		lab_bind(stmt, 1,
			 ARGS(NUM((slice << SAMPLE_SHIFT) + (int64_t)i), NUM(rows[i].thread),
			      ID(rows[i].location), NUM(rows[i].chain), NUM(rows[i].count)));
		if (lab_done(lab, stmt, doing, err))
			return -1;
	}
	return 0;
}

/* ---- slices ---- */

int lab_put_slice(struct lab *lab, int64_t run, int64_t *id, const struct profile_slice *slice,
		  size_t rows, const char *doing, struct error *err)
{
	sqlite3_stmt *stmt = profile_statement(lab, *id ? SET_SLICE : ADD_SLICE, doing, err);
	int at = 4;
	if (!stmt)
		return -1;
	lab_bind(stmt, 1, ARGS(NUM(run), NUM(rows), ID(*id)));
	fields_bind(stmt, &at, profile_slice_fields, slice);
	if (lab_done(lab, stmt, doing, err))
		return -1;
	if (!*id)
		*id = sqlite3_last_insert_rowid(lab->db);
	return 0;
}

int lab_drop(struct lab *lab, enum profile_statement which, int64_t slice, const char *doing,
	     struct error *err)
{
	sqlite3_stmt *stmt = profile_statement(lab, which, doing, err);
	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, slice);
	return lab_done(lab, stmt, doing, err);
}

int lab_need_profile(struct lab *lab, int64_t run, struct error *err)
{
	return lab_need_kind(lab, run, SUBJECT_SYSTEM, "is not a profile", err);
}

/* ---- numbers by number ---- */

static struct number_pair *slot_of(const struct number_map *m, uint64_t key)
{
	uint64_t hash = key * 0x9e3779b97f4a7c15u;
	size_t at = (size_t)(hash ^ hash >> 32) & (m->size - 1);
	while (m->slots[at].key && m->slots[at].key != key)
		at = (at + 1) & (m->size - 1);
	return &m->slots[at];
}

#define DENSE_MOST (1u << 22)

uint64_t *number_map_at(struct number_map *m, uint64_t key)
{
	if (key < DENSE_MOST && key >= m->dense_size) {
		size_t size = m->dense_size ? m->dense_size : 256;
		while (size <= key)
			size *= 2;
		m->dense = xrealloc(m->dense, size * sizeof *m->dense);
		memset(m->dense + m->dense_size, 0xff, (size - m->dense_size) * sizeof *m->dense);
		m->dense_size = size;
	}
	if (key < DENSE_MOST) {
		if (m->dense[key] == NUMBER_NONE)
			m->dense[key] = 0;
		return &m->dense[key];
	}
	if (m->used * 4 >= m->size * 3) {
		struct number_map old = *m;
		m->size = old.size ? old.size * 2 : 256;
		m->slots = xcalloc(m->size, sizeof *m->slots);
		for (size_t i = 0; i < old.size; i++)
			if (old.slots[i].key)
				*slot_of(m, old.slots[i].key) = old.slots[i];
		xfree(old.slots);
	}
	struct number_pair *slot = slot_of(m, key);
	m->used += !slot->key;
	slot->key = key;
	return &slot->value;
}

const uint64_t *number_map_find(const struct number_map *m, uint64_t key)
{
	if (key < DENSE_MOST)
		return key < m->dense_size && m->dense[key] != NUMBER_NONE ? &m->dense[key] : NULL;
	const struct number_pair *slot = m->size ? slot_of(m, key) : NULL;
	return slot && slot->key ? &slot->value : NULL;
}

void number_map_release(struct number_map *m)
{
	xfree(m->slots);
	xfree(m->dense);
	*m = (struct number_map){ 0 };
}
