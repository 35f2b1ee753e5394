/* Statements and transactions. */
#include <string.h>

#include "base/clock.h"
#include "lab/sqlite.h"

int lab_prepare(struct lab *lab, sqlite3_stmt **out, const char *sql, const char *doing,
		struct error *err)
{
	unsigned flags = SQLITE_PREPARE_PERSISTENT;
	lab->steps = 0;
	return sqlite3_prepare_v3(lab->db, sql, -1, flags, out, NULL) ? lab_fail(lab, err, doing)
								      : 0;
}

int lab_done(struct lab *lab, sqlite3_stmt *stmt, const char *doing, struct error *err)
{
	int result = sqlite3_step(stmt) == SQLITE_DONE ? 0 : lab_fail(lab, err, doing);
	sqlite3_reset(stmt);
	return result;
}

/* FULL: the commit waits until the disk has it, and everything before it. It can be changed only
 * outside of transactions. */
static void wait_for_disk(struct lab *lab, bool wait)
{
	if (wait)
		lab->synced_ns = clock_monotonic_ns();
	if (wait == lab->syncs)
		return;
	lab->syncs = wait;
	sqlite3_exec(lab->db, wait ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL",
		     NULL, NULL, NULL);
}

static int begin(struct lab *lab, const char *doing, struct error *err)
{
	if (lab->mode == LAB_READ)
		return error_set(err, EXIT_USAGE, "cannot %s the lab: it was opened for reading",
				 doing);
	if (!lab->begin && lab_prepare(lab, &lab->begin, "BEGIN IMMEDIATE", doing, err))
		return -1;
	return lab_done(lab, lab->begin, doing, err);
}

int lab_begin(struct lab *lab, const char *doing, struct error *err)
{
	wait_for_disk(lab, true);
	return begin(lab, doing, err);
}

int lab_begin_often(struct lab *lab, const char *doing, struct error *err)
{
	wait_for_disk(lab, clock_monotonic_ns() - lab->synced_ns >= LAB_SYNC_NS);
	return begin(lab, doing, err);
}

int lab_commit(struct lab *lab, const char *doing, struct error *err)
{
	if (!lab->commit && lab_prepare(lab, &lab->commit, "COMMIT", doing, err))
		return -1;
	return lab_done(lab, lab->commit, doing, err);
}

void lab_rollback(struct lab *lab)
{
	/* after some errors SQLite has rolled back by itself */
	if (!sqlite3_get_autocommit(lab->db))
		sqlite3_exec(lab->db, "ROLLBACK", NULL, NULL, NULL);
}

int lab_finish(struct lab *lab, int result, const char *doing, struct error *err)
{
	if (!result)
		result = lab_commit(lab, doing, err);
	lab_rollback(lab);
	/* the -wal file may have what is missing on a full disk */
	if (result && lab->failure == SQLITE_FULL)
		sqlite3_wal_checkpoint_v2(lab->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	return result ? -1 : 0;
}

int lab_begin_reading(struct lab *lab, bool *alone, struct error *err)
{
	*alone = sqlite3_get_autocommit(lab->db);
	return *alone && sqlite3_exec(lab->db, "BEGIN", NULL, NULL, NULL)
		       ? lab_fail(lab, err, "read")
		       : 0;
}

void lab_end_reading(struct lab *lab, bool alone)
{
	if (alone)
		lab_rollback(lab);
}

int lab_bind(sqlite3_stmt *stmt, int at, const struct arg *args)
{
	int count = sqlite3_bind_parameter_count(stmt);
	for (; args && args->kind && at <= count; args++, at++) {
		if (args->kind == ARG_ID && !args->number)
			sqlite3_bind_null(stmt, at);
		else if (args->kind == ARG_NUMBER || args->kind == ARG_ID)
			sqlite3_bind_int64(stmt, at, args->number);
		else if (args->kind == ARG_TEXT)
			name_bind(stmt, at, args->bytes, args->bytes ? strlen(args->bytes) : 0);
		else
			sqlite3_bind_blob64(stmt, at, args->bytes, (uint64_t)args->number,
					    SQLITE_STATIC);
	}
	return at;
}

int lab_bound(struct lab *lab, sqlite3_stmt **out, const char *sql, const struct arg *args,
	      const char *doing, struct error *err)
{
	if (lab_prepare(lab, out, sql, doing, err))
		return -1;
	lab_bind(*out, 1, args);
	return 0;
}

int lab_change(struct lab *lab, const char *sql, const struct arg *args, const char *doing,
	       struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int result = lab_bound(lab, &stmt, sql, args, doing, err);
	if (!result)
		result = lab_done(lab, stmt, doing, err);
	sqlite3_finalize(stmt);
	return result;
}

int lab_number(struct lab *lab, const char *sql, const struct arg *args, int64_t *value,
	       struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int result = lab_bound(lab, &stmt, sql, args, "read", err);
	*value = 0;
	while (lab_row(lab, stmt, "read", &result, err))
		*value = sqlite3_column_int64(stmt, 0);
	return result;
}

bool lab_row(struct lab *lab, sqlite3_stmt *stmt, const char *doing, int *result, struct error *err)
{
	int rc = *result ? SQLITE_DONE : sqlite3_step(stmt);
	lab->steps = 0;
	if (rc == SQLITE_ROW && !lab_has_too_many_rows(lab, stmt))
		return true;
	if (rc == SQLITE_ROW)
		*result = lab_damaged(lab, err, "it has more rows than its size can explain");
	else if (rc != SQLITE_DONE)
		*result = lab_fail(lab, err, doing);
	sqlite3_finalize(stmt);
	return false;
}
