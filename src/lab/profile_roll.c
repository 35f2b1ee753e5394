/* The old of a profile becomes coarser: slices of a minute and of an hour in place of those of a
 * few seconds, and under a cap of bytes the oldest go with what only they used. */
#include <stdlib.h>
#include <string.h>

#include "lab/profile_rows.h"

#define MINUTE_NS UINT64_C(60000000000)
#define HOUR_NS (60 * MINUTE_NS)

static const char rolling[] = "roll up the profile in";

struct stored_slice {
	int64_t id;
	uint64_t rows; /* of samples */
	struct profile_slice slice;
};

struct roller {
	struct lab *lab;
	int64_t run;
	uint64_t origin_ns;
	uint64_t bytes;			   /* of the dictionaries */
	ARRAY(struct stored_slice) slices; /* the oldest first */
	bool collected;			   /* garbage */
	struct error *err;
};

/* ---- what there is ---- */

static int read_run(struct roller *r, bool *found)
{
	sqlite3_stmt *stmt = NULL;
	int result = lab_bound(r->lab, &stmt, "SELECT origin_ns, bytes FROM profile WHERE run = ?",
			       ARGS(NUM(r->run)), rolling, r->err);
	while (lab_row(r->lab, stmt, rolling, &result, r->err)) {
		int64_t bytes = sqlite3_column_int64(stmt, 1);
		r->origin_ns = (uint64_t)sqlite3_column_int64(stmt, 0);
		r->bytes = bytes > 0 ? (uint64_t)bytes : 0;
		*found = true;
	}
	return result;
}

static int read_slices(struct roller *r)
{
	sqlite3_stmt *stmt = NULL;
	int result =
		lab_select(r->lab, &stmt, profile_slice_fields, ARGS(NUM(r->run)), r->err,
			   ", id, sample_rows FROM profile_slice WHERE run = ? ORDER BY begin_ns");
	while (lab_row(r->lab, stmt, rolling, &result, r->err)) {
		struct stored_slice s = { 0 };
		int at = 0;
		bool sound = !fields_read(stmt, &at, profile_slice_fields, &s.slice);
		int64_t rows = sqlite3_column_int64(stmt, at + 1);
		if (!sound || rows < 0 || rows > SAMPLES_LIMIT)
			result = lab_damaged(r->lab, r->err, "a slice has impossible values");
		s.id = sqlite3_column_int64(stmt, at);
		s.rows = (uint64_t)rows;
		array_push(&r->slices, s);
	}
	return result;
}

static uint64_t sample_bytes(const struct roller *r)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < r->slices.count; i++)
		sum += r->slices.items[i].rows * SAMPLE_BYTES + SLICE_BYTES;
	return sum;
}

/* ---- coarser ---- */

/* All of them into the first. */
static int merge(struct roller *r, struct stored_slice *slices, size_t count)
{
	sample_rows rows = { 0 };
	struct stored_slice *first = &slices[0];
	int result = 0;
	for (size_t i = 0; i < count && !result; i++) {
		result = lab_read_samples(r->lab, slices[i].id, 0, &rows, r->err) ||
			 lab_drop(r->lab, i ? DROP_SLICE : DROP_SAMPLES, slices[i].id, rolling,
				  r->err);
		if (i)
			profile_slice_add(&first->slice, &slices[i].slice);
	}
	sample_rows_sum(&rows);
	first->rows = rows.count;
	result = result ||
		 lab_put_slice(r->lab, r->run, &first->id, &first->slice, rows.count, rolling,
			       r->err) ||
		 lab_insert_samples(r->lab, first->id, rows.items, rows.count, rolling, r->err);
	array_release(&rows);
	return result;
}

/* Slices that begin within one period that ended before `before_ns` become one. */
static int coarsen(struct roller *r, uint64_t period_ns, uint64_t before_ns)
{
	size_t kept = 0, next;
	int result = 0;
	for (size_t i = 0; i < r->slices.count && !result; i = next) {
		struct stored_slice *s = &r->slices.items[i];
		uint64_t period = (s->slice.begin_ns - r->origin_ns) / period_ns;
		uint64_t end_ns = r->origin_ns + (period + 1) * period_ns;
		next = i + 1;
		bool old = s->slice.begin_ns >= r->origin_ns && end_ns <= before_ns;
		while (old && next < r->slices.count &&
		       r->slices.items[next].slice.begin_ns < end_ns)
			next++;
		if (next - i > 1)
			result = merge(r, s, next - i);
		r->slices.items[kept++] = *s;
	}
	if (!result)
		r->slices.count = kept;
	return result;
}

/* ---- what nothing refers to ---- */

struct used {
	struct number_map threads, chains, locations, instances, apps, cgroups, objects, functions;
};

static void use(struct number_map *m, int64_t id)
{
	if (id > 0)
		*number_map_at(m, (uint64_t)id) = 1;
}

/* A table: rows come as id, bytes, and up to two ids of what they use, in other tables. Those that
 * are not used go; those that are use others in turn. */
struct sweep {
	const char *rows, *remove;
	size_t of;	/* offsets in struct used: what says that a row is */
	size_t uses[2]; /* and what it uses; 0 is none */
	unsigned bytes; /* besides those that the row says */
	bool links;	/* the first is the text of a chain */
};

#define OF(member) offsetof(struct used, member)
#define IN_RUN " IN (SELECT id FROM profile_object WHERE run = ?)"
#define MAPPED(offset) ((struct number_map *)((char *)u + (offset)))

static const struct sweep sweeps[] = {
	{ "SELECT t.id, length(t.comm), t.instance FROM profile_instance i JOIN profile_thread t ON "
	  "t.instance = i.id WHERE i.run = ?",
	  "DELETE FROM profile_thread WHERE id = ?",
	  OF(threads),
	  { OF(instances) },
	  THREAD_BYTES,
	  false },
	{ "SELECT id, 0, app, cgroup FROM profile_instance WHERE run = ?",
	  "DELETE FROM profile_instance WHERE id = ?",
	  OF(instances),
	  { OF(apps), OF(cgroups) },
	  INSTANCE_BYTES,
	  false },
	{ "SELECT id, 2 * length(name), object FROM profile_app WHERE run = ?",
	  "DELETE FROM profile_app WHERE id = ?",
	  OF(apps),
	  { OF(objects) },
	  OBJECT_BYTES,
	  false },
	{ "SELECT id, 2 * (coalesce(length(cgroup), 0) + coalesce(length(container), 0)) FROM "
	  "profile_cgroup WHERE run = ?",
	  "DELETE FROM profile_cgroup WHERE id = ?",
	  OF(cgroups),
	  { 0 },
	  OBJECT_BYTES,
	  false },
	{ "SELECT id, length(links), links FROM profile_chain WHERE run = ?",
	  "DELETE FROM profile_chain WHERE id = ?",
	  OF(chains),
	  { OF(locations) },
	  CHAIN_BYTES,
	  true },
	{ "SELECT id, 0, object FROM profile_location WHERE object" IN_RUN,
	  "DELETE FROM profile_location WHERE id = ?",
	  OF(locations),
	  { OF(objects) },
	  LOCATION_BYTES,
	  false },
	/* a frame is used when its location is; that one's own went with it */
	{ "SELECT l.id, coalesce(length(f.file), 0), f.function FROM profile_location l JOIN "
	  "profile_frame f ON f.location = l.id WHERE l.object" IN_RUN,
	  NULL,
	  OF(locations),
	  { OF(functions) },
	  FRAME_BYTES,
	  false },
	{ "SELECT f.id, 2 * length(f.name) + coalesce(length(f.file), 0) + coalesce(length(c.data) "
	  "+ 16, 0), f.object FROM profile_function f LEFT JOIN profile_code c ON c.function = f.id "
	  "WHERE f.object" IN_RUN,
	  "DELETE FROM profile_function WHERE id = ?",
	  OF(functions),
	  { OF(objects) },
	  FUNCTION_BYTES,
	  false },
	{ "SELECT id, 2 * length(path) FROM profile_object WHERE run = ?",
	  "DELETE FROM profile_object WHERE id = ?",
	  OF(objects),
	  { 0 },
	  OBJECT_BYTES,
	  false },
};
_Static_assert(OF(threads) == 0 && OF(chains) > 0, "0 is none: nothing uses a thread");

static int sweep_table(struct roller *r, struct used *u, const struct sweep *s)
{
	ARRAY(int64_t) gone = { 0 };
	sqlite3_stmt *stmt = NULL;
	int result = lab_bound(r->lab, &stmt, s->rows, ARGS(NUM(r->run)), rolling, r->err);
	while (lab_row(r->lab, stmt, rolling, &result, r->err)) {
		int64_t id = sqlite3_column_int64(stmt, 0);
		if (id <= 0 || !number_map_find(MAPPED(s->of), (uint64_t)id)) {
			array_push(&gone, id);
			continue;
		}
		r->bytes += s->bytes + (uint64_t)sqlite3_column_int64(stmt, 1);
		const char *text = s->links ? (const char *)sqlite3_column_text(stmt, 2) : NULL;
		while (text && *text == ',') {
			char *end;
			use(MAPPED(s->uses[0]), strtoll(text + 1, &end, 10));
			text = end;
		}
		for (int i = 0; i < 2 && s->uses[i] && !s->links; i++)
			use(MAPPED(s->uses[i]), sqlite3_column_int64(stmt, 2 + i));
	}
	stmt = NULL;
	if (!result && s->remove && gone.count)
		result = lab_prepare(r->lab, &stmt, s->remove, rolling, r->err);
	for (size_t i = 0; stmt && i < gone.count && !result; i++) {
		sqlite3_bind_int64(stmt, 1, gone.items[i]);
		result = lab_done(r->lab, stmt, rolling, r->err);
	}
	sqlite3_finalize(stmt);
	array_release(&gone);
	return result;
}

/* Removes what no sample leads to, and counts the bytes of the rest anew. */
static int collect_garbage(struct roller *r)
{
	struct used u = { 0 };
	r->bytes = 0;
	r->collected = true;
	sample_rows rows = { 0 };
	int result = 0;
	for (size_t i = 0; i < r->slices.count && !result; i++) {
		rows.count = 0;
		result = lab_read_samples(r->lab, r->slices.items[i].id, 0, &rows, r->err);
		for (size_t k = 0; k < rows.count && !result; k++) {
			use(&u.threads, rows.items[k].thread);
			use(&u.chains, rows.items[k].chain);
			use(&u.locations, rows.items[k].location);
		}
	}
	array_release(&rows);
	for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps && !result; i++)
		result = sweep_table(r, &u, &sweeps[i]);
	struct number_map *maps[8] = { &u.threads, &u.chains,  &u.locations, &u.instances,
				       &u.apps,	   &u.cgroups, &u.objects,   &u.functions };
	for (size_t i = 0; i < 8; i++)
		number_map_release(maps[i]);
	return result ? -1
		      : lab_change(r->lab, "UPDATE profile SET bytes = ?2 WHERE run = ?1",
				   ARGS(NUM(r->run), NUM(r->bytes)), rolling, r->err);
}

/* ---- under a cap ---- */

/* The oldest go until so many bytes of samples went; the newest stays. */
static int drop_oldest(struct roller *r, uint64_t bytes)
{
	size_t gone = 0;
	uint64_t freed = 0;
	while (freed < bytes && gone + 1 < r->slices.count) {
		const struct stored_slice *s = &r->slices.items[gone++];
		freed += s->rows * SAMPLE_BYTES + SLICE_BYTES;
		if (lab_drop(r->lab, DROP_SLICE, s->id, rolling, r->err))
			return -1;
	}
	r->slices.count -= gone;
	memmove(r->slices.items, r->slices.items + gone, r->slices.count * sizeof *r->slices.items);
	return 0;
}

/* What the samples' share of the excess is goes at first; dictionaries shrink as they do, or the
 * next turn takes more. */
static int keep_below(struct roller *r, uint64_t keep_bytes)
{
	uint64_t goal = keep_bytes / 10 * 9, samples = sample_bytes(r);
	if (samples + r->bytes <= keep_bytes)
		return 0;
	while (samples + r->bytes > goal && r->slices.count > 1) {
		uint64_t total = samples + r->bytes;
		double share = (double)samples / (double)total;
		if (drop_oldest(r, (uint64_t)((double)(total - goal) * share) + 1) ||
		    collect_garbage(r))
			return -1;
		samples = sample_bytes(r);
	}
	return 0;
}

static int roll_up(struct roller *r, const struct lab_roll *roll, uint64_t now_ns)
{
	bool found = false;
	if (lab_need_profile(r->lab, r->run, r->err) || read_run(r, &found))
		return -1;
	if (!found)
		return 0;
	if (read_slices(r))
		return -1;
	if (roll->hour_after_ns && now_ns > roll->hour_after_ns &&
	    coarsen(r, HOUR_NS, now_ns - roll->hour_after_ns))
		return -1;
	if (roll->minute_after_ns && now_ns > roll->minute_after_ns &&
	    coarsen(r, MINUTE_NS, now_ns - roll->minute_after_ns))
		return -1;
	return roll->keep_bytes ? keep_below(r, roll->keep_bytes) : 0;
}

int lab_roll_slices(struct lab *lab, int64_t run, const struct lab_roll *roll, uint64_t now_ns,
		    uint64_t *bytes, struct error *err)
{
	struct roller r = { .lab = lab, .run = run, .err = err };
	if (lab_begin(lab, rolling, err))
		return -1;
	int result = lab_finish(lab, roll_up(&r, roll, now_ns), rolling, err);
	if (r.collected || result)
		lab_forget_profile(lab); /* some of it is gone */
	if (!result && bytes)
		*bytes = r.bytes + sample_bytes(&r);
	array_release(&r.slices);
	/* pages that are free are used again; only a lab that was made to shrink does */
	int64_t mode;
	if (!result && roll->keep_bytes &&
	    !lab_number(lab, "PRAGMA auto_vacuum", NULL, &mode, NULL) && mode == 2)
		sqlite3_exec(lab->db, "PRAGMA incremental_vacuum", NULL, NULL, NULL);
	/* a run of days has no end that would do it */
	sqlite3_wal_checkpoint_v2(lab->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	return result;
}

int lab_measure_profile(struct lab *lab, int64_t run, uint64_t *begin_ns, uint64_t *bytes,
			struct error *err)
{
	struct roller r = { .lab = lab, .run = run, .err = err };
	bool found = false;
	int result = lab_need_profile(lab, run, err) || read_run(&r, &found) || read_slices(&r);
	*begin_ns = r.origin_ns;
	*bytes = r.bytes + sample_bytes(&r);
	array_release(&r.slices);
	return result ? -1 : 0;
}
