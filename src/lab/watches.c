/* Watches: chunks of bursts, the oldest of which go when there is no more room. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	int at = 1;
	if (lab_begin(lab, storing, err))
		return -1;
	int result =
		lab_read_identity(lab, machine, identity, err) ||
		lab_prepare(lab, &stmt,
			    "INSERT INTO watch (machine, identity, status, begun_at_ns, " LAB_OWNER
			    ") VALUES (?, ?, 0, ?, ?, ?, ?, ?)",
			    storing, err);
	if (!result) {
		sqlite3_bind_int64(stmt, at++, machine);
		sqlite3_bind_text(stmt, at++, identity, -1, SQLITE_STATIC);
		sqlite3_bind_int64(stmt, at++, clock_realtime_ns());
		lab_bind_owner(stmt, &at);
		result = lab_done(lab, stmt, storing, err);
	}
	sqlite3_finalize(stmt);
	int64_t id = sqlite3_last_insert_rowid(lab->db);
	if (!result)
		result = lab_commit(lab, storing, err);
	lab_rollback(lab);
	if (result)
		return -1;
	*watch = id;
	return 0;
}

static int no_such_watch(int64_t id, struct error *err)
{
	error_set(err, EXIT_USAGE, "there is no watch %" PRId64 " in the lab", id);
	return error_hint(err, "'tare calibrate --watch' begins one");
}

/* Refuses a watch that is not there; going may be NULL. */
static int need_watch(struct lab *lab, int64_t id, bool *going, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	if (lab_prepare(lab, &stmt, "SELECT status, " LAB_OWNER " FROM watch WHERE id = ?", "read",
			err))
		return -1;
	sqlite3_bind_int64(stmt, 1, id);
	int rc = sqlite3_step(stmt);
	int result = rc == SQLITE_ROW	 ? 0
		     : rc == SQLITE_DONE ? no_such_watch(id, err)
					 : lab_fail(lab, err, "read");
	if (!result && going)
		*going = sqlite3_column_int64(stmt, 0) == RUN_GOING && !lab_owner_gone(stmt, 1);
	sqlite3_finalize(stmt);
	return result;
}

/* ---- chunks ---- */

#define B(member, kind)                                           \
	{                                                         \
#member, kind, 0, offsetof(struct bursts, member) \
	}
static const struct field chunk_fields[] = {
	B(begin_ns, FIELD_U64), B(end_ns, FIELD_U64), B(realtime_ns, FIELD_I64),
	B(cpus, FIELD_U32),	B(lost, FIELD_U64),   { 0 },
};
#undef B

static int add_chunk(struct lab *lab, int64_t watch, const struct bursts *b,
		     const unsigned char *data, size_t length, struct error *err)
{
	struct strbuf columns = { 0 };
	fields_columns(chunk_fields, true, &columns);
	strbuf_puts(&columns, ", watch, processes, bursts, bytes, data");
	char *sql = sql_insert("watch_chunk", columns.text);
	sqlite3_stmt *stmt = NULL;
	int at = 1, result = lab_prepare(lab, &stmt, sql, storing, err);
	if (!result) {
		fields_bind(stmt, &at, chunk_fields, b);
		sqlite3_bind_int64(stmt, at++, watch);
		sqlite3_bind_int64(stmt, at++, (int64_t)b->processes.count);
		sqlite3_bind_int64(stmt, at++, (int64_t)b->bursts.count);
		sqlite3_bind_int64(stmt, at++, (int64_t)length + ROW_BYTES);
		sqlite3_bind_blob64(stmt, at++, data, length, SQLITE_STATIC);
		result = lab_done(lab, stmt, storing, err);
	}
	sqlite3_finalize(stmt);
	strbuf_release(&columns);
	free(sql);
	return result;
}

/* The newest of the oldest chunks that have to go before `newest`, 0: none has to. Only those are
 * looked at, and the index of all: a watch of days has thousands. */
static int find_surplus(struct lab *lab, int64_t newest, uint64_t keep_bytes, int64_t *last,
			struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int64_t total = 0;
	int rc = SQLITE_DONE;
	*last = 0;
	if (lab_number(lab, "SELECT sum(bytes) FROM watch_chunk", NULL, &total, err))
		return -1;
	if (total <= 0 || (uint64_t)total <= keep_bytes)
		return 0;
	if (lab_prepare(lab, &stmt, "SELECT id, bytes FROM watch_chunk WHERE id < ? ORDER BY id",
			"read", err))
		return -1;
	sqlite3_bind_int64(stmt, 1, newest);
	while (total > 0 && (uint64_t)total > keep_bytes &&
	       (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		*last = sqlite3_column_int64(stmt, 0);
		total -= sqlite3_column_int64(stmt, 1);
	}
	int result = rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : lab_fail(lab, err, "read");
	sqlite3_finalize(stmt);
	return result;
}

/* The chunk just stored stays, whatever it takes. A watch of which nothing is left goes, unless it
 * may be continued. */
static int make_room(struct lab *lab, int64_t newest, uint64_t keep_bytes, struct error *err)
{
	int64_t last = 0;
	if (!keep_bytes)
		return 0;
	if (find_surplus(lab, newest, keep_bytes, &last, err))
		return -1;
	if (!last)
		return 0;
	return lab_change(lab, "DELETE FROM watch_chunk WHERE id <= ?", last, storing, err) ||
	       lab_change(lab,
			  "DELETE FROM watch WHERE status <> 0 AND NOT EXISTS"
			  " (SELECT 1 FROM watch_chunk c WHERE c.watch = watch.id)",
			  0, storing, err);
}

int lab_add_bursts(struct lab *lab, int64_t watch, const struct bursts *b, uint64_t keep_bytes,
		   struct error *err)
{
	unsigned char *data = NULL;
	size_t length = 0;
	if (b->end_ns < b->begin_ns)
		return error_set(err, EXIT_USAGE, "a stretch of bursts ends before it begins");
	if (chunk_encode(b, &data, &length, err))
		return -1;
	int result = lab_begin(lab, storing, err);
	if (!result)
		result = need_watch(lab, watch, NULL, err) ||
			 add_chunk(lab, watch, b, data, length, err) ||
			 make_room(lab, sqlite3_last_insert_rowid(lab->db), keep_bytes, err);
	if (!result)
		result = lab_commit(lab, storing, err);
	lab_rollback(lab);
	free(data);
	return result ? -1 : 0;
}

/* ---- watches as wholes ---- */

int lab_end_watch(struct lab *lab, int64_t watch, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	if (lab_begin(lab, storing, err))
		return -1;
	int result = need_watch(lab, watch, NULL, err) ||
		     lab_prepare(lab, &stmt,
				 "UPDATE watch SET status = 1, ended_at_ns = ? WHERE id = ?",
				 storing, err);
	if (!result) {
		sqlite3_bind_int64(stmt, 1, clock_realtime_ns());
		sqlite3_bind_int64(stmt, 2, watch);
		result = lab_done(lab, stmt, storing, err);
	}
	sqlite3_finalize(stmt);
	if (!result)
		result = lab_commit(lab, storing, err);
	lab_rollback(lab);
	return result ? -1 : 0;
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
		result = lab_change(lab, "DELETE FROM watch WHERE id = ?", watch, doing, err);
	if (!result)
		result = lab_commit(lab, doing, err);
	lab_rollback(lab);
	if (!result)
		lab_give_space_back(lab);
	return result;
}

struct lister {
	struct lab *lab;
	lab_watch_list *into;
	struct error *err;
};

static int list_watch(void *context, sqlite3_stmt *stmt)
{
	struct lister *l = context;
	struct watch_row row = { 0 };
	int at = 0;
	if (fields_read(stmt, &at, watch_row_fields, &row))
		return lab_damaged(l->lab, l->err, "a watch has impossible values");
	row.going = row.going && !lab_owner_gone(stmt, at);
	array_push(l->into, row);
	return 0;
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
	struct lister l = { lab, into, err };
	size_t had = into->count;
	if (lab_prepare(lab, &stmt, sql, "read", err))
		return -1;
	int result = lab_each_row(lab, stmt, list_watch, &l, err);
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

struct joiner {
	struct lab *lab;
	bursts_list *into;
	int64_t since_ns, until_ns;
	struct error *err;
	int64_t watch; /* of the stretch last in the list; 0: none yet */
};

/* Takes the chunk over. */
static void join(struct joiner *j, struct bursts *chunk, int64_t watch)
{
	struct bursts *last = j->watch ? &j->into->items[j->into->count - 1] : NULL;
	/* what nobody watched, however short, is no quiet time */
	if (last && watch == j->watch && chunk->begin_ns == last->end_ns) {
		bursts_append(last, chunk);
		bursts_release(chunk);
	} else {
		array_push(j->into, *chunk);
	}
	j->watch = watch;
}

static int join_chunk(void *context, sqlite3_stmt *stmt)
{
	struct joiner *j = context;
	struct bursts chunk = { 0 };
	int at = 0;
	if (read_chunk(j->lab, stmt, &at, &chunk, j->err))
		return -1;
	trim(&chunk, j->since_ns, j->until_ns);
	join(j, &chunk, sqlite3_column_int64(stmt, at));
	return 0;
}

/* Watch by watch: two that went on at the same time are two stretches. */
static int select_chunks(struct lab *lab, sqlite3_stmt **stmt, struct error *err)
{
	struct strbuf columns = { 0 }, sql = { 0 };
	fields_columns(chunk_fields, false, &columns);
	strbuf_printf(&sql,
		      "SELECT %s, c.processes, c.bursts, c.data, w.id FROM watch w"
		      " JOIN watch_chunk c ON c.watch = w.id WHERE (w.identity = ?1 OR ?1 IS NULL)"
		      " AND (w.id = ?2 OR ?2 = 0)"
		      " AND c.realtime_ns + (c.end_ns - c.begin_ns) > ?3"
		      " AND (c.realtime_ns < ?4 OR ?4 = 0) ORDER BY w.id, c.id",
		      columns.text);
	int result = lab_prepare(lab, stmt, sql.text, "read", err);
	strbuf_release(&columns);
	strbuf_release(&sql);
	return result;
}

int lab_get_bursts(struct lab *lab, const struct machine *m, int64_t watch, int64_t since_ns,
		   int64_t until_ns, bursts_list *into, struct error *err)
{
	struct joiner j = { .lab = lab, .into = into, .until_ns = until_ns, .err = err };
	char identity[17];
	sqlite3_stmt *stmt = NULL;
	size_t had = into->count;
	if ((watch && need_watch(lab, watch, NULL, err)) || select_chunks(lab, &stmt, err))
		return -1;
	if (m) {
		machine_identity(m, identity);
		sqlite3_bind_text(stmt, 1, identity, -1, SQLITE_STATIC);
	}
	j.since_ns = since_ns ? since_ns : INT64_MIN;
	sqlite3_bind_int64(stmt, 2, watch);
	sqlite3_bind_int64(stmt, 3, j.since_ns);
	sqlite3_bind_int64(stmt, 4, until_ns);
	int result = lab_each_row(lab, stmt, join_chunk, &j, err);
	while (result && into->count > had)
		bursts_release(&into->items[--into->count]);
	return result;
}
