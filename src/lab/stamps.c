/* Whether something was stored since: for those who show a lab while others write to it. */
#include "lab/sqlite.h"

#define STAMP_BITS 53 /* what a double, and so JSON, keeps exactly */

int lab_version(struct lab *lab, uint32_t *version, struct error *err)
{
	int64_t number;
	int failed = lab_number(lab, "PRAGMA data_version", NULL, &number, err);
	if (!failed)
		*version = (uint32_t)number;
	return failed;
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ at[i]) * 0x100000001b3; /* FNV-1a */
	return hash;
}

#define OWNER_COLUMNS 4

/* A statement of runs gives status, LAB_OWNER, and what follows. The status is the one that readers
 * see: of a run whose tare was killed the row says for ever that it goes on. */
static int stamp_rows(struct lab *lab, const char *sql, bool runs, int64_t run, uint64_t *hash,
		      struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int result = lab_bound(lab, &stmt, sql, ARGS(NUM(run)), "read", err);
	while (lab_row(lab, stmt, "read", &result, err)) {
		if (runs) {
			int status = sqlite3_column_int(stmt, 0);
			if (status == RUN_GOING && lab_owner_gone(stmt, 1))
				status = RUN_INTERRUPTED;
			*hash = mix(*hash, &status, sizeof status);
		}
		for (int i = runs ? 1 + OWNER_COLUMNS : 0; i < sqlite3_column_count(stmt); i++) {
			const void *bytes = sqlite3_column_blob(stmt, i);
			int length = sqlite3_column_bytes(stmt, i);
			*hash = mix(*hash, &length, sizeof length);
			if (bytes)
				*hash = mix(*hash, bytes, (size_t)length);
		}
	}
	return result;
}

/* parts end with NULL. */
static int stamp(struct lab *lab, const char *const *parts, int64_t run, uint64_t *hash,
		 struct error *err)
{
	int failed = 0;
	for (; *parts && !failed; parts++)
		failed = stamp_rows(lab, *parts, false, run, hash, err);
	return failed;
}

static int finish(int failed, uint64_t hash, uint64_t *into)
{
	if (!failed)
		*into = hash & ((UINT64_C(1) << STAMP_BITS) - 1);
	return failed ? -1 : 0;
}

#define BEGIN 0xcbf29ce484222325
#define RUN_COLUMNS "status, " LAB_OWNER ", id, name, tags, ended_at_ns"

static const char *const studies[] = {
	"SELECT count(*), max(id) FROM daemon_study",
	"SELECT id, daemon, cutoff_ns, from_ns, below_ns, edited, edited_at_ns FROM cutoff",
	NULL,
};

int lab_stamp_run(struct lab *lab, int64_t id, uint64_t *into, struct error *err)
{
	static const char *const parts[] = {
		/* what is added has a greater id, and the old is not changed */
		"SELECT max(id) FROM execution WHERE run = ?1",
		"SELECT count(*) FROM query_execution WHERE at IN (SELECT id FROM query_at WHERE run = ?1)",
		"SELECT count(*), max(rowid) FROM query_event WHERE run = ?1",
		"SELECT max(id) FROM duet_part WHERE run = ?1",
		"SELECT max(id) FROM duet_look WHERE run = ?1",
		"SELECT elapsed_ns FROM noise WHERE run = ?1",
		"SELECT count(*), max(id), max(end_ns) FROM profile_slice WHERE run = ?1",
		"SELECT run FROM noise_baseline ORDER BY identity",
		NULL,
	};
	uint64_t hash = BEGIN;
	struct run run = { 0 };
	if (lab_get_run(lab, id, &run, err)) /* which says it where there is none */
		return -1;
	run_release(&run);
	int failed = stamp_rows(lab, "SELECT " RUN_COLUMNS " FROM run WHERE id = ?1", true, id,
				&hash, err) ||
		     stamp(lab, parts, id, &hash, err) || stamp(lab, studies, id, &hash, err);
	return finish(failed, hash, into);
}

int lab_stamp_list(struct lab *lab, bool counts, uint64_t *into, struct error *err)
{
	static const char *const counted[] = {
		"SELECT max(id) FROM execution",
		/* of a run that goes on any Q@C may be the one at work, and one that is begun again
		 * has an event; at its end the run itself changes */
		("SELECT id, (SELECT max(execution) FROM query_execution WHERE at = a.id)"
		 " FROM query_at a WHERE run IN (SELECT id FROM run WHERE status = 0) ORDER BY id"),
		"SELECT max(rowid) FROM query_event",
		"SELECT max(id) FROM duet_part",
		"SELECT run, elapsed_ns FROM noise ORDER BY run",
		"SELECT count(*), max(id), total(samples) FROM profile_slice",
		NULL,
	};
	uint64_t hash = BEGIN;
	int failed = stamp_rows(lab, "SELECT " RUN_COLUMNS " FROM run ORDER BY id", true, 0, &hash,
				err) ||
		     stamp(lab, studies, 0, &hash, err) ||
		     (counts && stamp(lab, counted, 0, &hash, err));
	return finish(failed, hash, into);
}
