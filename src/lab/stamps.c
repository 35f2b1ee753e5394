/* Whether something was stored since: for those who show a lab while others write to it. */
#include "lab/sqlite.h"

#define STAMP_BITS 53 /* what a double, and so JSON, keeps exactly */

int lab_version(struct lab *lab, uint32_t *version, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	if (lab_prepare(lab, &stmt, "PRAGMA data_version", "read", err))
		return -1;
	int rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		*version = (uint32_t)sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return rc == SQLITE_ROW ? 0 : lab_fail(lab, err, "read");
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ at[i]) * 0x100000001b3; /* FNV-1a */
	return hash;
}

/* Every column of every row, of whatever type. */
static int mix_row(void *context, sqlite3_stmt *stmt)
{
	uint64_t *hash = context;
	for (int i = 0; i < sqlite3_column_count(stmt); i++) {
		const void *bytes = sqlite3_column_blob(stmt, i);
		int length = sqlite3_column_bytes(stmt, i);
		*hash = mix(*hash, &length, sizeof length);
		if (bytes)
			*hash = mix(*hash, bytes, (size_t)length);
	}
	return 0;
}

static int stamp(struct lab *lab, const char *sql, int64_t run, uint64_t *hash, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	if (lab_prepare(lab, &stmt, sql, "read", err))
		return -1;
	if (sqlite3_bind_parameter_count(stmt))
		sqlite3_bind_int64(stmt, 1, run);
	return lab_each_row(lab, stmt, mix_row, hash, err);
}

static int finish(int failed, uint64_t hash, uint64_t *into)
{
	if (!failed)
		*into = hash & ((UINT64_C(1) << STAMP_BITS) - 1);
	return failed ? -1 : 0;
}

#define BEGIN 0xcbf29ce484222325

int lab_stamp_run(struct lab *lab, int64_t id, uint64_t *into, struct error *err)
{
	static const char *const parts[] = {
		/* what is added has a greater id, and the old is not changed */
		"SELECT max(id) FROM execution WHERE run = ?1",
		"SELECT count(*) FROM query_execution WHERE at IN (SELECT id FROM query_at WHERE run = ?1)",
		"SELECT count(*), max(rowid) FROM query_event WHERE run = ?1",
		"SELECT elapsed_ns FROM noise WHERE run = ?1",
		"SELECT count(*), max(id), max(end_ns) FROM profile_slice WHERE run = ?1",
		/* what judges it */
		"SELECT count(*), max(id) FROM daemon_study",
		"SELECT id, cutoff_ns, from_ns, below_ns, edited_at_ns FROM cutoff",
		"SELECT run FROM noise_baseline ORDER BY identity",
	};
	struct run run = { 0 };
	if (lab_get_run(lab, id, &run, err))
		return -1;
	int status = run.status; /* by its owner, who may be gone: not what the row says */
	uint64_t hash = mix(BEGIN, &status, sizeof status);
	run_release(&run);
	int failed = stamp(lab, "SELECT id, name, tags, ended_at_ns FROM run WHERE id = ?1", id,
			   &hash, err);
	for (size_t i = 0; i < sizeof parts / sizeof *parts && !failed; i++)
		failed = stamp(lab, parts[i], id, &hash, err);
	return finish(failed, hash, into);
}

int lab_stamp_list(struct lab *lab, bool counts, uint64_t *into, struct error *err)
{
	uint64_t hash = BEGIN;
	int failed = stamp(lab, "SELECT id, status, name, tags, ended_at_ns FROM run ORDER BY id",
			   0, &hash, err) ||
		     stamp(lab, "SELECT count(*), max(id) FROM daemon_study", 0, &hash, err);
	if (!failed && counts)
		failed = stamp(lab,
			       "SELECT max(id), (SELECT count(*) FROM cutoff),"
			       " (SELECT max(at) FROM query_execution) FROM execution",
			       0, &hash, err);
	return finish(failed, hash, into);
}
