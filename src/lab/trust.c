/* A lab may come from a stranger. tare has no reason to trust what is in it: only tare's own tables
 * are read, nothing else in the file is executed, and neither time nor memory grows beyond what a
 * file of its size can need. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "lab/sqlite.h"

/* More than any value that tare stores: those that can grow are stored in parts. */
#define VALUE_BYTES (256 << 20)
#define HEAP_BYTES (1 << 30)
/* A table is read in about one instruction per byte, its sorting included. */
#define STEPS_PER_BYTE 16
#define STEPS_BASE 20000000
#define STEPS_PER_CALL 1000000
#define CHECKS_MOST 1000 /* of a table: each is looked for in all of tare's schema */
#define SLOW 10		 /* times as many where subqueries read again and again */

/* Whether tare's own schema, of any version, makes an object of this type and name. Names do not
 * differ by case in SQLite. */
static bool is_known(const char *type, const char *name)
{
	static const struct {
		const char *before, *quote;
	} ways[] = { { "", "" }, { "", "\"" }, { "UNIQUE ", "" } };
	/* made when they are first needed (speeds.c, noise.c) */
	if (strcasecmp(name, "speed_best") == 0 || strcasecmp(name, "noise_speed") == 0)
		return strcmp(type, "TABLE") == 0;
	for (int v = -1; v < lab_schema_version; v++) {
		const char *script = v < 0 ? lab_schema_whole : lab_schema[v];
		for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
			struct strbuf begin = { 0 };
			strbuf_printf(&begin, "CREATE %s%s %s%s%s", ways[i].before, type,
				      ways[i].quote, name, ways[i].quote);
			const char *at = script;
			while ((at = strcasestr(at, begin.text)) && at[begin.length] != ' ' &&
			       at[begin.length] != '(' && at[begin.length] != '\n')
				at += begin.length;
			strbuf_release(&begin);
			if (at)
				return true;
		}
	}
	return false;
}

/* Whether tare's own schema has this text. */
static bool is_own_text(const char *sql)
{
	if (!*sql)
		return false;
	bool found = strstr(lab_schema_whole, sql);
	for (int v = 0; v < lab_schema_version && !found; v++)
		found = strstr(lab_schema[v], sql);
	return found;
}

/* Whether every CHECK (...) is one of tare's. */
static bool has_own_checks(const char *sql)
{
	/* of versions 4 to 7, which made it by renaming a column */
	static const char *const renamed[] = { "CHECK (kind BETWEEN 0 AND 2)",
					       "CHECK (kind BETWEEN 0 AND 3)" };
	bool own = true;
	int left = CHECKS_MOST;
	for (const char *at = sql; own && (at = strcasestr(at, "check")); at++) {
		int depth = 0;
		size_t length = strcspn(at, "(");
		for (; at[length]; length++) {
			depth += (at[length] == '(') - (at[length] == ')');
			if (!depth)
				break;
		}
		FREED char *check = xstrndup(at, length + 1);
		own = left-- && (is_own_text(check) || strcmp(check, renamed[0]) == 0 ||
				 strcmp(check, renamed[1]) == 0);
	}
	return own;
}

/* Not a virtual table, nor one that computes anything of its own: columns ("AS (...)"), defaults
 * or checks. Its text differs from tare's once columns were added. */
static bool is_plain_table(struct lab *lab, const char *name, const char *sql)
{
	int64_t computes = 0;
	if (strncmp(sql, "CREATE TABLE", 12) != 0)
		return false;
	return has_own_checks(sql) &&
	       !lab_number(lab,
			   "SELECT EXISTS (SELECT 1 FROM pragma_table_xinfo(?) "
			   "WHERE hidden OR dflt_value GLOB '*[^0-9]*')",
			   ARGS(TEXT(name)), &computes, NULL) &&
	       !computes;
}

enum stranger { OURS, IGNORED, IN_THE_WAY };

/* What stands in for one of tare's tables would be read: IN_THE_WAY. */
static enum stranger judge(struct lab *lab, const char *type, const char *name, const char *sql)
{
	/* SQLite's own, but whoever sets writable_schema can give that name to anything */
	bool of_sqlite = strncmp(name, "sqlite_", 7) == 0;
	if (is_own_text(sql))
		return OURS;
	if (strcmp(type, "trigger") == 0)
		return IGNORED;
	if (strcmp(type, "index") == 0)
		return of_sqlite && !*sql ? OURS : IGNORED;
	if (strcmp(type, "table") == 0 && (of_sqlite || is_known("TABLE", name)))
		return is_plain_table(lab, name, sql) ? OURS : IN_THE_WAY;
	/* nothing but 'tare sql' reads a view */
	if (strcmp(type, "view") == 0 && is_known("VIEW", name))
		return OURS;
	return is_known("TABLE", name) ? IN_THE_WAY : IGNORED;
}

int lab_check_schema(struct lab *lab, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	enum stranger found = OURS;
	int result = lab_prepare(lab, &stmt,
				 "SELECT type, name, coalesce(sql, '') FROM main.sqlite_schema",
				 "open", err);
	while (lab_row(lab, stmt, "open", &result, err)) {
		const char *texts[3];
		for (int i = 0; i < 3; i++) {
			const char *text = (const char *)sqlite3_column_text(stmt, i);
			texts[i] = text ? text : "";
		}
		enum stranger now = judge(lab, texts[0], texts[1], texts[2]);
		if (now <= found)
			continue;
		char name[60];
		text_display(texts[1], name, sizeof name);
		snprintf(lab->stranger, sizeof lab->stranger, "the %.20s '%s'", texts[0], name);
		found = now;
	}
	if (result || found == OURS)
		return result;
	if (found == IGNORED && lab->mode == LAB_READ)
		return 0;
	char shown[200];
	text_display(lab->path, shown, sizeof shown);
	error_set(err, EXIT_USAGE, "lab %s has %s, which is not tare's; nothing was changed", shown,
		  lab->stranger);
	return error_hint(
		err, found == IGNORED ? "commands that only read work; 'sqlite3 FILE' can drop it"
				      : "do not trust the file: nobody but its maker can have done "
					"that");
}

const char *lab_stranger(const struct lab *lab)
{
	return *lab->stranger ? lab->stranger : NULL;
}

/* The instructions that a statement may take. Counted now, since others may write. */
static int64_t steps_allowed(struct lab *lab)
{
	sqlite3_int64 bytes = 0;
	int64_t wal = lab_beside_size(lab, "-wal");
	sqlite3_file *file = NULL;
	sqlite3_file_control(lab->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
	if (file && file->pMethods)
		file->pMethods->xFileSize(file, &bytes);
	return STEPS_BASE + STEPS_PER_BYTE * (bytes + (wal > 0 ? wal : 0));
}

/* Ends a statement that goes on and on without a row. */
static int on_steps(void *context)
{
	struct lab *lab = context;
	int64_t steps = ++lab->steps * STEPS_PER_CALL;
	return !lab->unlimited && steps > SLOW * STEPS_BASE && steps > SLOW * steps_allowed(lab);
}

void lab_distrust(struct lab *lab)
{
	sqlite3_db_config(lab->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(lab->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_limit(lab->db, SQLITE_LIMIT_LENGTH, VALUE_BYTES);
	/* this limits all of the process, and so a SQLite that 'tare query' measures */
	if (lab->mode == LAB_READ)
		sqlite3_hard_heap_limit64(HEAP_BYTES);
	sqlite3_progress_handler(lab->db, STEPS_PER_CALL, on_steps, lab);
}

bool lab_has_too_many_rows(struct lab *lab, sqlite3_stmt *stmt)
{
	int64_t steps = sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 0);
	return steps > STEPS_BASE && !lab->unlimited && steps > steps_allowed(lab);
}
