/* The room that a lab takes on the disk. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "lab/sqlite.h"

#define STEP_PAGES "256"       /* 1 MiB: others wait no longer than that takes */
#define SMALL_BYTES (16 << 20) /* a whole VACUUM takes a moment */
#define STEP_PAUSE_NS 20000000
#define BUSY_PAUSE_NS 1000000
#define GIVE_UP_NS 5000000000u /* what others never let through stays, to be used again */
#define WANTED_PAGES 64

static int64_t ask(struct lab *lab, const char *sql)
{
	int64_t answer = 0;
	lab_number(lab, sql, NULL, &answer, NULL);
	return answer;
}

static bool shrinks_in_steps(struct lab *lab)
{
	return ask(lab, "PRAGMA auto_vacuum") == 2;
}

/* Each step is a transaction of its own, and others have as much time between them. */
static void shrink_in_steps(struct lab *lab)
{
	uint64_t last = clock_monotonic_ns();
	sqlite3_busy_timeout(lab->db, 0);
	while (ask(lab, "PRAGMA freelist_count") > 0) {
		uint64_t begin = clock_monotonic_ns();
		int rc = sqlite3_exec(lab->db, "PRAGMA incremental_vacuum(" STEP_PAGES ")", NULL,
				      NULL, NULL);
		uint64_t end = clock_monotonic_ns(), took = end - begin;
		last = rc ? last : end;
		if ((rc && (rc & 0xff) != SQLITE_BUSY) || end - last > GIVE_UP_NS)
			break;
		/* Long enough for the sleep of SQLite's busy handler of others to end. Who found it
		 * locked tries again soon: another may leave it for only a moment at a time. */
		if (rc)
			took = BUSY_PAUSE_NS;
		else if (took < STEP_PAUSE_NS)
			took = STEP_PAUSE_NS;
		nanosleep(&(struct timespec){ (time_t)(took / 1000000000),
					      (long)(took % 1000000000) },
			  NULL);
	}
	sqlite3_wal_checkpoint_v2(lab->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	sqlite3_busy_timeout(lab->db, LAB_BUSY_MS);
}

static int rewrite(struct lab *lab)
{
	return sqlite3_exec(lab->db, "PRAGMA auto_vacuum = INCREMENTAL; VACUUM", NULL, NULL, NULL);
}

/* Like rewrite(), for a lab of any size: the copy is a file beside the lab, or where $SQLITE_TMPDIR
 * says, instead of in memory. SQLite unlinks it at once. */
static int rewrite_large(struct lab *lab)
{
	const char *chosen = getenv("SQLITE_TMPDIR"), *slash = strrchr(lab->path, '/');
	int length = slash == lab->path ? 1 : slash ? (int)(slash - lab->path) : 0;
	if (!chosen || !*chosen)
		sqlite3_temp_directory =
			sqlite3_mprintf("%.*s", length ? length : 1, length ? lab->path : ".");
	sqlite3_exec(lab->db, "PRAGMA temp_store = FILE", NULL, NULL, NULL);
	int rc = rewrite(lab);
	if (!rc) /* else the caller asks SQLite for its error */
		sqlite3_exec(lab->db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
	sqlite3_free(sqlite3_temp_directory);
	sqlite3_temp_directory = NULL;
	return rc;
}

int64_t lab_unused_bytes(struct lab *lab)
{
	return ask(lab, "PRAGMA freelist_count") * ask(lab, "PRAGMA page_size");
}

void lab_give_space_back(struct lab *lab)
{
	int64_t pages = ask(lab, "PRAGMA page_count");
	if (ask(lab, "PRAGMA freelist_count") * 2 <= pages)
		return;
	if (shrinks_in_steps(lab))
		shrink_in_steps(lab);
	else if (pages * ask(lab, "PRAGMA page_size") <= SMALL_BYTES)
		rewrite(lab);
}

int lab_compact(struct lab *lab, struct error *err)
{
	if (shrinks_in_steps(lab))
		shrink_in_steps(lab);
	else if (rewrite_large(lab))
		return lab_fail(lab, err, "compact");
	return 0;
}

/* A few rows of the run. False: it has none of them left. */
static bool remove_some(struct lab *lab, int64_t run)
{
	static const char *const parts[] = {
		"DELETE FROM execution WHERE id IN (SELECT id FROM execution WHERE run = ?1 LIMIT 4)",
		("DELETE FROM profile_slice WHERE id IN "
		 "(SELECT id FROM profile_slice WHERE run = ?1 LIMIT 1)"),
		"DELETE FROM query_at WHERE id IN (SELECT id FROM query_at WHERE run = ?1 LIMIT 1)",
		"DELETE FROM duet_part WHERE id IN (SELECT id FROM duet_part WHERE run = ?1 LIMIT 50)",
	};
	bool removed = false;
	for (size_t i = 0; i < sizeof parts / sizeof *parts && !removed; i++)
		removed = lab_change(lab, parts[i], ARGS(NUM(run)), "remove the run from", NULL) ==
				  0 &&
			  sqlite3_changes(lab->db) > 0;
	return removed;
}

bool lab_begin_in_place(struct lab *lab)
{
	/* with the lab for itself alone, SQLite needs neither a -shm nor a -wal file */
	sqlite3_exec(lab->db, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY", NULL,
		     NULL, NULL);
	return ask(lab, "SELECT journal_mode = 'memory' FROM pragma_journal_mode") == 1;
}

void lab_end_in_place(struct lab *lab)
{
	sqlite3_exec(lab->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
}

bool lab_make_room(struct lab *lab, int64_t run)
{
	int64_t before = ask(lab, "PRAGMA page_count");
	bool removed = false, more = lab_begin_in_place(lab);
	while (more) {
		more = remove_some(lab, run);
		removed |= more;
		sqlite3_exec(lab->db, "PRAGMA incremental_vacuum", NULL, NULL, NULL);
		more = more && shrinks_in_steps(lab) &&
		       before - ask(lab, "PRAGMA page_count") < WANTED_PAGES;
	}
	lab_end_in_place(lab);
	return removed;
}
