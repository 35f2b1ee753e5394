/* Watches: chunks of bursts, the oldest of which go when there is no more room. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "lab/chunk.h"
#include "lab/studies_rows.h"

#define ROW_BYTES 100 /* of a chunk but for its data, with its part of the indexes */

static const char storing[] = "store the watch in";

_Static_assert(RUN_GOING == 0 && RUN_COMPLETE == 1 && RUN_INTERRUPTED == 2, "");

int lab_begin_watch(struct lab *lab, int64_t machine, int64_t *watch, struct error *err)
{
	char identity[17];
	sqlite3_stmt *stmt = NULL;
	int at = 4;
	if (lab_begin(lab, storing, err))
		return -1;
	int result = lab_read_identity(lab, machine, identity, err) ||
		     lab_bound(lab, &stmt,
			       "INSERT INTO watch (machine, identity, begun_at_ns, " LAB_OWNER
			       ", status) VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
			       ARGS(NUM(machine), TEXT(identity), NUM(clock_realtime_ns())),
			       storing, err);
	if (!result) {
		lab_bind_owner(stmt, &at);
		result = lab_done(lab, stmt, storing, err);
	}
	sqlite3_finalize(stmt);
	int64_t id = sqlite3_last_insert_rowid(lab->db);
	result = lab_finish(lab, result, storing, err);
	if (!result)
		*watch = id;
	return result;
}

/* Refuses a watch that is not there; going may be NULL. */
static int need_watch(struct lab *lab, int64_t id, bool *going, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	bool found = false;
	int result = lab_bound(lab, &stmt, "SELECT status, " LAB_OWNER " FROM watch WHERE id = ?",
			       ARGS(NUM(id)), "read", err);
	while (lab_row(lab, stmt, "read", &result, err)) {
		found = true;
		if (going)
			*going = sqlite3_column_int64(stmt, 0) == RUN_GOING &&
				 !lab_owner_gone(stmt, 1);
	}
	if (result || found)
		return result;
	error_set(err, EXIT_USAGE, "there is no watch %" PRId64 " in the lab", id);
	return error_hint(err, "'tare calibrate --watch' begins one");
}

/* ---- chunks ---- */

#define B(member, kind) FACT(struct bursts, member, #member, kind, NULL)
static const struct field chunk_fields[] = {
	B(begin_ns, FIELD_U64), B(end_ns, FIELD_U64), B(realtime_ns, FIELD_I64),
	B(cpus, FIELD_U32),	B(lost, FIELD_U64),   { 0 },
};
#undef B

/* The chunk just stored stays, whatever it takes. A watch of which nothing is left goes, unless it
 * may be continued. Only the chunks that have to go are looked at, and the index of all: a watch of
 * days has thousands. */
static int make_room(struct lab *lab, int64_t newest, uint64_t keep_bytes, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int64_t last = 0, total = 0;
	if (!keep_bytes)
		return 0;
	if (lab_number(lab, "SELECT sum(bytes) FROM watch_chunk", NULL, &total, err))
		return -1;
	if (total <= 0 || (uint64_t)total <= keep_bytes)
		return 0;
	int result = lab_bound(lab, &stmt,
			       "SELECT id, bytes FROM watch_chunk WHERE id < ? ORDER BY id",
			       ARGS(NUM(newest)), "read", err);
	while (lab_row(lab, stmt, "read", &result, err)) {
		last = sqlite3_column_int64(stmt, 0);
		total -= sqlite3_column_int64(stmt, 1);
		if (total <= 0 || (uint64_t)total <= keep_bytes) {
			sqlite3_finalize(stmt);
			break;
		}
	}
	if (result || !last)
		return result;
	return lab_change(lab, "DELETE FROM watch_chunk WHERE id <= ?", ARGS(NUM(last)), storing,
			  err) ||
	       lab_change(lab,
			  "DELETE FROM watch WHERE status <> 0 AND NOT EXISTS"
			  " (SELECT 1 FROM watch_chunk c WHERE c.watch = watch.id)",
			  NULL, storing, err);
}

int lab_add_bursts(struct lab *lab, int64_t watch, const struct bursts *b, uint64_t keep_bytes,
		   struct error *err)
{
	static const struct lab_table table = { "watch_chunk", chunk_fields,
						"watch, processes, bursts, bytes, data", NULL };
	sqlite3_stmt *stmt = NULL;
	unsigned char *data = NULL;
	size_t length = 0;
	int at = 1;
	if (b->end_ns < b->begin_ns)
		return error_set(err, EXIT_USAGE, "a stretch of bursts ends before it begins");
	if (chunk_encode(b, &data, &length, err))
		return -1;
	int result = lab_begin(lab, storing, err);
	if (!result)
		result = need_watch(lab, watch, NULL, err) ||
			 lab_prepare_inserts(lab, &table, 1, &stmt, storing, err);
	if (!result) {
		fields_bind(stmt, &at, chunk_fields, b);
		sqlite3_bind_int64(stmt, at++, watch);
		sqlite3_bind_int64(stmt, at++, (int64_t)b->processes.count);
		sqlite3_bind_int64(stmt, at++, (int64_t)b->bursts.count);
		sqlite3_bind_int64(stmt, at++, (int64_t)length + ROW_BYTES);
		sqlite3_bind_blob64(stmt, at++, data, length, SQLITE_STATIC);
		result = lab_done(lab, stmt, storing, err) ||
			 make_room(lab, sqlite3_last_insert_rowid(lab->db), keep_bytes, err);
	}
	sqlite3_finalize(stmt);
	free(data);
	return lab_finish(lab, result, storing, err);
}

/* ---- watches as wholes ---- */

int lab_end_watch(struct lab *lab, int64_t watch, struct error *err)
{
	if (lab_begin(lab, storing, err))
		return -1;
	int result = need_watch(lab, watch, NULL, err) ||
		     lab_change(lab, "UPDATE watch SET status = 1, ended_at_ns = ? WHERE id = ?",
				ARGS(NUM(clock_realtime_ns()), NUM(watch)), storing, err);
	return lab_finish(lab, result, storing, err);
}

int lab_remove_watch(struct lab *lab, int64_t watch, struct error *err)
{
	static const char doing[] = "remove the watch from";
	bool going = false;
	if (lab_begin(lab, doing, err))
		return -1;
	int result = need_watch(lab, watch, &going, err);
	if (!result && going) {
		error_set(err, EXIT_USAGE, "watch %" PRId64 " is going", watch);
		result = error_hint(err, "'tare calibrate --watch-stop' ends it");
	}
	if (!result)
		result = lab_change(lab, "DELETE FROM watch WHERE id = ?", ARGS(NUM(watch)), doing,
				    err);
	result = lab_finish(lab, result, doing, err);
	if (!result)
		lab_give_space_back(lab);
	return result;
}

int lab_list_watches(struct lab *lab, lab_watch_list *into, struct error *err)
{
	static const char sql[] =
		"SELECT w.id, w.machine, coalesce(min(c.realtime_ns), w.begun_at_ns),"
		" coalesce(max(c.realtime_ns + c.end_ns - c.begin_ns), w.begun_at_ns),"
		" coalesce(sum(c.end_ns - c.begin_ns), 0), coalesce(sum(c.bursts), 0),"
		" coalesce(sum(c.lost), 0), coalesce(sum(c.bytes), 0), w.status = 0, " LAB_OWNER
		" FROM watch w LEFT JOIN watch_chunk c ON c.watch = w.id GROUP BY w.id"
		" ORDER BY w.id DESC";
	sqlite3_stmt *stmt = NULL;
	size_t had = into->count;
	int result = lab_prepare(lab, &stmt, sql, "read", err);
	while (lab_row(lab, stmt, "read", &result, err)) {
		struct watch_row row = { 0 };
		int at = 0;
		if (fields_read(stmt, &at, watch_row_fields, &row))
			result = lab_damaged(lab, err, "a watch has impossible values");
		row.going = row.going && !lab_owner_gone(stmt, at);
		array_push(into, row);
	}
	if (result)
		into->count = had;
	return result;
}

/* ---- reading bursts ---- */

/* Keeps what has a part within (after, until) of CLOCK_MONOTONIC. */
static void keep_within(struct bursts *b, uint64_t after, uint64_t until)
{
	size_t kept = 0;
	for (size_t i = 0; i < b->bursts.count; i++) {
		struct burst x = b->bursts.items[i];
		if (x.begin_ns + x.span_ns > after && x.begin_ns < until)
			b->bursts.items[kept++] = x;
	}
	b->bursts.count = kept;
}

/* Cuts a chunk to the two times of CLOCK_REALTIME, as far as they are within. */
static void trim(struct bursts *b, int64_t since_ns, int64_t until_ns)
{
	uint64_t begin = b->begin_ns, end = b->end_ns;
	if (until_ns && until_ns > b->realtime_ns &&
	    (uint64_t)until_ns - (uint64_t)b->realtime_ns < end - begin) {
		b->end_ns = begin + ((uint64_t)until_ns - (uint64_t)b->realtime_ns);
		keep_within(b, 0, b->end_ns);
	}
	if (since_ns > b->realtime_ns) {
		uint64_t off = (uint64_t)since_ns - (uint64_t)b->realtime_ns;
		b->begin_ns = begin + (off < b->end_ns - begin ? off : b->end_ns - begin);
		b->realtime_ns = since_ns;
		keep_within(b, b->begin_ns, UINT64_MAX);
	}
}

/* at is moved on behind its columns. */
static int read_chunk(struct lab *lab, sqlite3_stmt *stmt, int *at, struct bursts *into,
		      struct error *err)
{
	struct error why = ERROR_INIT;
	if (fields_read(stmt, at, chunk_fields, into) || into->end_ns < into->begin_ns)
		return lab_damaged(lab, err, "a watch has impossible values");
	int64_t processes = sqlite3_column_int64(stmt, (*at)++);
	int64_t bursts = sqlite3_column_int64(stmt, (*at)++);
	size_t length = (size_t)sqlite3_column_bytes(stmt, *at);
	const unsigned char *data = sqlite3_column_blob(stmt, (*at)++);
	/* below zero is far too many, too */
	if (chunk_decode(data, length, (size_t)processes, (size_t)bursts, into, &why))
		return lab_damaged(lab, err, why.text);
	return 0;
}

int lab_get_bursts(struct lab *lab, const struct machine *m, int64_t watch, int64_t since_ns,
		   int64_t until_ns, bursts_list *into, struct error *err)
{
	char identity[17];
	sqlite3_stmt *stmt = NULL;
	size_t had = into->count;
	int64_t of = 0; /* the watch of the stretch last in the list; 0: none yet */
	since_ns = since_ns ? since_ns : INT64_MIN;
	if (watch && need_watch(lab, watch, NULL, err))
		return -1;
	if (m)
		machine_identity(m, identity);
	/* watch by watch: two that went on at the same time are two stretches */
	int result = lab_select(
		lab, &stmt, chunk_fields,
		ARGS(TEXT(m ? identity : NULL), NUM(watch), NUM(since_ns), NUM(until_ns)), err,
		", c.processes, c.bursts, c.data, w.id FROM watch w"
		" JOIN watch_chunk c ON c.watch = w.id WHERE (w.identity = ?1 OR ?1 IS NULL)"
		" AND (w.id = ?2 OR ?2 = 0) AND c.realtime_ns + (c.end_ns - c.begin_ns) > ?3"
		" AND (c.realtime_ns < ?4 OR ?4 = 0) ORDER BY w.id, c.id");
	while (lab_row(lab, stmt, "read", &result, err)) {
		struct bursts chunk = { 0 }, *last = of ? &into->items[into->count - 1] : NULL;
		int at = 0;
		if ((result = read_chunk(lab, stmt, &at, &chunk, err)))
			continue;
		trim(&chunk, since_ns, until_ns);
		int64_t id = sqlite3_column_int64(stmt, at);
		/* what nobody watched, however short, is no quiet time */
		if (last && id == of && chunk.begin_ns == last->end_ns) {
			bursts_append(last, &chunk);
			bursts_release(&chunk);
		} else {
			array_push(into, chunk);
		}
		of = id;
	}
	while (result && into->count > had)
		bursts_release(&into->items[--into->count]);
	return result;
}
