/* A lab whose cells anyone may have changed: any value in any column of any table, also where the
 * schema would refuse it. The first byte of the input is the command that reports the lab; then
 * come changes: table, column, row, how, and the value. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "lab/sqlite.h"
#include "labs.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct column {
	char *name;
	sqlite3_stmt *get, *put; /* of the row with a number; NULL: not needed yet */
};

struct table {
	char *name, *key;
	sqlite3_stmt *remove;
	ARRAY(struct column) columns;
};

static struct lab *lab;
static ARRAY(struct table) tables;

static void exec(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL))
		abort();
}

static sqlite3_stmt *prepare(sqlite3 *db, char *sql)
{
	sqlite3_stmt *stmt = NULL;
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL))
		abort();
	free(sql);
	return stmt;
}

/* A stranger's file needs not have types. */
static void take_types_away(const char *path)
{
	sqlite3 *db;
	if (sqlite3_open(path, &db))
		abort();
	exec(db, "PRAGMA writable_schema = ON;"
		 "UPDATE sqlite_schema SET sql = replace(replace(sql, ') STRICT, WITHOUT ROWID', "
		 "') WITHOUT ROWID'), ') STRICT', ')') WHERE type = 'table'");
	sqlite3_close(db);
}

static void find_columns(struct table *t)
{
	sqlite3_stmt *stmt =
		prepare(lab->db, xprintf("SELECT name, pk FROM pragma_table_info('%s')", t->name));
	struct strbuf key = { 0 };
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		struct column c = { xstrdup((const char *)sqlite3_column_text(stmt, 0)) };
		if (sqlite3_column_int(stmt, 1))
			strbuf_printf(&key, "%s\"%s\"", key.length ? ", " : "", c.name);
		array_push(&t->columns, c);
	}
	sqlite3_finalize(stmt);
	if (!key.length)
		strbuf_puts(&key, "rowid");
	t->key = strbuf_detach(&key);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	struct error err = ERROR_INIT;
	const char *path = labs_begin();
	take_types_away(path);
	if (lab_open(&lab, path, LAB_EDIT, &err))
		abort();
	exec(lab->db, "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF");
	sqlite3_stmt *stmt = prepare(
		lab->db, xstrdup("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT "
				 "LIKE 'sqlite_%' ORDER BY name"));
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		struct table t = { xstrdup((const char *)sqlite3_column_text(stmt, 0)) };
		find_columns(&t);
		array_push(&tables, t);
	}
	sqlite3_finalize(stmt);
	return 0;
}

/* ---- one change ---- */

#define ROW "WHERE (%s) = (SELECT %s FROM %s LIMIT 1 OFFSET ?1)"

/* The bytes of a value that is there, with one changed. */
static void bind_changed(const struct table *t, struct column *c, uint8_t row, uint16_t at,
			 uint8_t by)
{
	if (!c->get)
		c->get = prepare(lab->db, xprintf("SELECT \"%s\" FROM %s LIMIT 1 OFFSET ?1",
						  c->name, t->name));
	sqlite3_bind_int(c->get, 1, row);
	if (sqlite3_step(c->get) == SQLITE_ROW) {
		int type = sqlite3_column_type(c->get, 0);
		const void *bytes = sqlite3_column_blob(c->get, 0);
		size_t length = (size_t)sqlite3_column_bytes(c->get, 0);
		if (length) {
			char *copy = memcpy(xmalloc(length), bytes, length);
			copy[at % length] = (char)(copy[at % length] ^ by);
			if (type == SQLITE_BLOB)
				sqlite3_bind_blob64(c->put, 2, copy, length, SQLITE_TRANSIENT);
			else
				sqlite3_bind_text64(c->put, 2, copy, length, SQLITE_TRANSIENT,
						    SQLITE_UTF8);
			xfree(copy);
		}
	}
	sqlite3_reset(c->get);
}

static int64_t number(const uint8_t *data)
{
	static const int64_t usual[] = { 0,	    1,		 2,	    -1,		 INT64_MAX,
					 INT64_MIN, UINT32_MAX,	 INT32_MAX, INT32_MIN,	 1000000000,
					 1 << 16,   (1LL << 53), 255,	    (1LL << 40), 86400 };
	int64_t value;
	memcpy(&value, data, sizeof value);
	if (data[0] & 1)
		return value;
	/* or near one of these; beyond the largest comes the smallest */
	return (int64_t)((uint64_t)usual[data[1] % (sizeof usual / sizeof *usual)] +
			 (uint64_t)(int8_t)data[2]);
}

/* Takes one change from the input; returns how many bytes it was. */
static size_t change(const uint8_t *data, size_t size)
{
	struct table *t = &tables.items[data[0] % tables.count];
	struct column *c = &t->columns.items[data[1] % t->columns.count];
	uint8_t row = data[2], how = data[3] % 8, length = data[4];
	const uint8_t *value = data + 4;
	size_t used = 12;
	double real;
	if (how == 7) {
		if (!t->remove)
			t->remove = prepare(lab->db, xprintf("DELETE FROM %s " ROW, t->name, t->key,
							     t->key, t->name));
		sqlite3_bind_int(t->remove, 1, row);
		sqlite3_step(t->remove);
		sqlite3_reset(t->remove);
		return 5;
	}
	if (!c->put)
		c->put = prepare(lab->db, xprintf("UPDATE %s SET \"%s\" = ?2 " ROW, t->name,
						  c->name, t->key, t->key, t->name));
	sqlite3_bind_int(c->put, 1, row);
	sqlite3_bind_null(c->put, 2);
	if (how == 0 || how == 1) {
		sqlite3_bind_int64(c->put, 2, number(value));
	} else if (how == 2) {
		memcpy(&real, value, sizeof real);
		sqlite3_bind_double(c->put, 2, real);
	} else if (how == 3) {
		bind_changed(t, c, row, (uint16_t)(value[0] << 8 | value[1]), value[2]);
	} else if (how == 4) {
		used = 5;
	} else {
		used = 5 + length > size ? size : 5 + (size_t)length;
		if (how == 5)
			sqlite3_bind_text(c->put, 2, (const char *)data + 5, (int)used - 5,
					  SQLITE_TRANSIENT);
		else
			sqlite3_bind_blob(c->put, 2, data + 5, (int)used - 5, SQLITE_TRANSIENT);
	}
	sqlite3_step(c->put); /* two with one key: not changed */
	sqlite3_reset(c->put);
	return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	uint8_t command = *data++;
	size--;
	exec(lab->db, "BEGIN");
	while (size >= 12) {
		size_t used = change(data, size);
		data += used;
		size -= used;
	}
	labs_run(lab, command);
	lab_forget_profile(lab);
	if (sqlite3_get_autocommit(lab->db))
		abort(); /* a command must not write */
	exec(lab->db, "ROLLBACK");
	return 0;
}
