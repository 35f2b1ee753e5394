#include "experiment-fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"

/* That of standard SQL: no connection is needed for it. */
const char *dbms_type(const struct dbms *d, enum column_kind kind, uint32_t length, char out[64])
{
	static const char *const names[] = { "INTEGER",		 "BIGINT", "DECIMAL(15,2)",
					     "DOUBLE PRECISION", "TEXT",   "DATE" };
	(void)d;
	if (kind == KIND_TEXT && length)
		snprintf(out, 64, "VARCHAR(%u)", length);
	else
		snprintf(out, 64, "%s", names[kind]);
	return out;
}

struct experiment fixture_parse(const char *text)
{
	struct experiment e;
	struct error err = ERROR_INIT;
	if (experiment_parse(text, strlen(text), NULL, &e, &err))
		fail_msg("%s (%s)", err.text, err.hint);
	return e;
}

static void run(sqlite3 *db, char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sqlite3_errmsg(db), sql);
	free(sql);
}

static void insert(sqlite3 *db, const struct experiment_table *t, uint64_t rows)
{
	struct strbuf sql = { 0 };
	sqlite3_stmt *s;
	int n = (int)t->columns.count;
	const char **values = xcalloc((size_t)n, sizeof *values);
	struct table_rows *from = table_rows_open(t, rows);
	strbuf_printf(&sql, "INSERT INTO %s VALUES (?", t->name);
	for (int i = 1; i < n; i++)
		strbuf_puts(&sql, ", ?");
	strbuf_putc(&sql, ')');
	assert_int_equal(sqlite3_prepare_v2(db, sql.text, -1, &s, NULL), SQLITE_OK);
	while (table_rows_next(from, values)) {
		for (int i = 0; i < n; i++)
			sqlite3_bind_text(s, i + 1, values[i], -1, SQLITE_STATIC);
		if (sqlite3_step(s) != SQLITE_DONE)
			fail_msg("%s: %s", t->name, sqlite3_errmsg(db));
		sqlite3_reset(s);
	}
	sqlite3_finalize(s);
	table_rows_close(from);
	free(values);
	strbuf_release(&sql);
}

sqlite3 *fixture_tables(const struct experiment *e, uint64_t rows)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	run(db, xstrdup("BEGIN"));
	for (size_t i = 0; i < e->tables.count; i++) {
		const struct experiment_table *t = &e->tables.items[i];
		char *sql;
		run(db, table_create_sql(t, NULL, NULL));
		if (rows)
			insert(db, t, t->rows < rows ? t->rows : rows);
		for (size_t k = 0; (sql = table_index_sql(t, k, NULL)); k++)
			run(db, sql);
	}
	run(db, xstrdup("COMMIT"));
	run(db, xstrdup("ANALYZE"));
	return db;
}

long fixture_execute(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s;
	long rows = 0;
	int code = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
	while (code == SQLITE_OK || code == SQLITE_ROW) {
		code = sqlite3_step(s);
		rows += code == SQLITE_ROW;
	}
	if (code != SQLITE_DONE) {
		print_error("%s: %s\n", sqlite3_errmsg(db), sql);
		rows = -1;
	}
	sqlite3_finalize(s);
	return rows;
}

long fixture_number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s;
	long value = -1;
	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sqlite3_errmsg(db), sql);
	if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_type(s, 0) != SQLITE_NULL)
		value = (long)sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return value;
}
