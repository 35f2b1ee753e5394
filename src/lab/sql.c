#include <stdlib.h>
#include <string.h>

#include "lab/sqlite.h"

/* Pragmas that tell something and change nothing, as long as they get no value to set. */
static bool harmless_pragma(const char *name, const char *value)
{
	static const char *const with_value[] = { "table_info",	      "table_xinfo",
						  "index_list",	      "index_info",
						  "foreign_key_list", "table_list",
						  "integrity_check",  "quick_check" };
	static const char *const without[] = { "application_id", "user_version",    "page_count",
					       "page_size",	 "freelist_count",  "journal_mode",
					       "database_list",	 "compile_options", "function_list",
					       "pragma_list" };
	for (size_t i = 0; i < sizeof with_value / sizeof *with_value; i++)
		if (sqlite3_stricmp(name, with_value[i]) == 0)
			return true;
	for (size_t i = 0; i < sizeof without / sizeof *without; i++)
		if (!value && sqlite3_stricmp(name, without[i]) == 0)
			return true;
	return false;
}

static int authorize(void *context, int action, const char *one, const char *two,
		     const char *database, const char *trigger)
{
	(void)context;
	(void)database;
	(void)trigger;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_UPDATE:
		/* asked when SQLite declares the table behind pragma_table_info(); a true update is
		 * no read-only statement */
		return strcmp(one, "sqlite_master") == 0 ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_FUNCTION:
		return two && sqlite3_stricmp(two, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_PRAGMA:
		return harmless_pragma(one, two) ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

static int sql_fail(struct lab *lab, struct error *err)
{
	int code = sqlite3_errcode(lab->db) & 0xff;
	if (code == SQLITE_AUTH || code == SQLITE_READONLY) {
		error_set(err, EXIT_USAGE, "SQL: only statements that read the lab are allowed");
		return error_hint(err, "'tare rename' and 'tare rm' change it");
	}
	if (code != SQLITE_ERROR)
		return lab_fail(lab, err, "read");
	error_set(err, EXIT_USAGE, "SQL: %s", sqlite3_errmsg(lab->db));
	return error_hint(err, "'tare sql' lists the views and their columns");
}

static char *blob_text(sqlite3_stmt *stmt, int column)
{
	const unsigned char *bytes = sqlite3_column_blob(stmt, column);
	struct strbuf out = { 0 };
	strbuf_puts(&out, "X'");
	for (int i = 0; i < sqlite3_column_bytes(stmt, column); i++)
		strbuf_printf(&out, "%02X", bytes[i]);
	strbuf_putc(&out, '\'');
	return strbuf_detach(&out);
}

static int run_statement(struct lab *lab, sqlite3_stmt *stmt, lab_row_fn fn, void *context,
			 struct error *err)
{
	static const enum lab_type types_of[] = { [SQLITE_NULL] = LAB_NULL,
						  [SQLITE_INTEGER] = LAB_INTEGER,
						  [SQLITE_FLOAT] = LAB_REAL,
						  [SQLITE_BLOB] = LAB_BLOB,
						  [SQLITE_TEXT] = LAB_TEXT };
	size_t columns = (size_t)sqlite3_column_count(stmt);
	const char **names = xcalloc(columns, sizeof *names);
	const char **values = xcalloc(columns, sizeof *values);
	enum lab_type *types = xcalloc(columns, sizeof *types);
	char **blobs = xcalloc(columns, sizeof *blobs); /* as texts */
	bool any = false, more = true;
	int rc = SQLITE_DONE;
	for (size_t i = 0; i < columns; i++)
		names[i] = sqlite3_column_name(stmt, (int)i);
	while (more && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		for (size_t i = 0; i < columns; i++) {
			int column = (int)i;
			types[i] = types_of[sqlite3_column_type(stmt, column)];
			free(blobs[i]);
			blobs[i] = types[i] == LAB_BLOB ? blob_text(stmt, column) : NULL;
			values[i] = blobs[i] ? blobs[i]
					     : (const char *)sqlite3_column_text(stmt, column);
		}
		more = fn(context, (int)columns, names, values, types);
		any = true;
	}
	int result = more && rc != SQLITE_DONE ? sql_fail(lab, err) : 0;
	if (!result && !any)
		fn(context, (int)columns, names, NULL, NULL);
	for (size_t i = 0; i < columns; i++)
		free(blobs[i]);
	free(names);
	free(values);
	free(types);
	free(blobs);
	return result;
}

/* Whether only white space, semicolons and comments are left. */
static bool nothing_left(struct lab *lab, const char *tail)
{
	while (*tail) {
		sqlite3_stmt *more = NULL;
		const char *next = tail;
		int rc = sqlite3_prepare_v2(lab->db, tail, -1, &more, &next);
		bool another = rc || more;
		sqlite3_finalize(more);
		if (another || next == tail)
			return !another;
		tail = next;
	}
	return true;
}

int lab_sql(struct lab *lab, const char *statement, lab_row_fn row, void *context,
	    struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	const char *tail = "";
	int result = 0;
	sqlite3_set_authorizer(lab->db, authorize, NULL);
	lab->unlimited = true;
	if (sqlite3_prepare_v2(lab->db, statement, -1, &stmt, &tail)) {
		result = sql_fail(lab, err);
	} else if (!stmt) {
		result = error_set(err, EXIT_USAGE, "SQL: there is no statement");
	} else if (!nothing_left(lab, tail)) {
		error_set(err, EXIT_USAGE, "SQL: there is more than one statement");
		result = error_hint(err, "give one statement at a time");
	} else if (!sqlite3_stmt_readonly(stmt)) {
		error_set(err, EXIT_USAGE, "SQL: only statements that read the lab are allowed");
		result = error_hint(err, "'tare rename' and 'tare rm' change it");
	} else {
		result = run_statement(lab, stmt, row, context, err);
	}
	sqlite3_finalize(stmt);
	sqlite3_set_authorizer(lab->db, NULL, NULL);
	lab->unlimited = false;
	return result;
}

/* The lines of a view's definition that carry " -- meaning" name a column as their last word before
 * it; the first line names the view. SQLite keeps the text as it was written. */
static void describe_view(const char *view, const char *sql, lab_view_fn each, void *context)
{
	bool first = true;
	while (*sql) {
		size_t length = strcspn(sql, "\n");
		char *line = xstrndup(sql, length), *meaning = strstr(line, " -- ");
		if (meaning) {
			*meaning = '\0';
			size_t end = strlen(line);
			while (end && strchr(", ", line[end - 1]))
				line[--end] = '\0';
			char *space = strrchr(line, ' ');
			each(context, view, first ? NULL : space ? space + 1 : line, meaning + 4);
			first = false;
		}
		free(line);
		sql += length + (sql[length] == '\n');
	}
}

int lab_views(lab_view_fn each, void *context, struct error *err)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *stmt = NULL;
	/* some were made again since, and are still what to begin with */
	static const char sql[] =
		"SELECT name, sql FROM sqlite_schema WHERE type = 'view' "
		"ORDER BY name <> 'runs', name <> 'executions', name <> 'processes', rowid";
	if (sqlite3_open(":memory:", &db) || lab_apply_schema(db, 0) ||
	    sqlite3_prepare_v2(db, sql, -1, &stmt, NULL)) {
		error_set(err, EXIT_ENVIRONMENT, "cannot make the schema of a lab: %s",
			  sqlite3_errmsg(db));
		sqlite3_close(db);
		return -1;
	}
	while (sqlite3_step(stmt) == SQLITE_ROW)
		describe_view((const char *)sqlite3_column_text(stmt, 0),
			      (const char *)sqlite3_column_text(stmt, 1), each, context);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return 0;
}
