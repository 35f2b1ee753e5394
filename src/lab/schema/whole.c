/* Writes the schema that the files given make, one after the other, as a C source to standard
 * output: what is in the database in the end, without the changes that led there. A new lab is made
 * by it in a tenth of the time, most of which goes into columns that are dropped and renamed. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static void put(const char *text)
{
	for (; *text; text++)
		printf("%d,", (unsigned char)*text);
}

static void die(sqlite3 *db)
{
	fprintf(stderr, "%s\n", sqlite3_errmsg(db));
	exit(1);
}

/* Puts the first column of every row as a statement. */
static void put_rows(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt;
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL))
		die(db);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		put((const char *)sqlite3_column_text(stmt, 0));
		put(";\n");
	}
	if (sqlite3_finalize(stmt))
		die(db);
}

static void put_inserts(sqlite3 *db)
{
	sqlite3_stmt *stmt;
	if (sqlite3_prepare_v2(db,
			       "SELECT 'SELECT ''INSERT INTO ' || s.name || ' VALUES ('' || ' || "
			       "group_concat('quote(' || c.name || ')', ' || '','' || ') || "
			       "' || '')'' FROM ' || s.name "
			       "FROM sqlite_schema s, pragma_table_info(s.name) c "
			       "WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite%' "
			       "GROUP BY s.rowid ORDER BY s.rowid, c.cid",
			       -1, &stmt, NULL))
		die(db);
	while (sqlite3_step(stmt) == SQLITE_ROW)
		put_rows(db, (const char *)sqlite3_column_text(stmt, 0));
	if (sqlite3_finalize(stmt))
		die(db);
}

int main(int argc, char **argv)
{
	static char sql[1 << 20];
	sqlite3 *db;
	if (sqlite3_open(":memory:", &db))
		return 1;
	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "r");
		if (!file)
			return 1;
		sql[fread(sql, 1, sizeof sql - 1, file)] = '\0';
		fclose(file);
		if (sqlite3_exec(db, sql, NULL, NULL, NULL))
			die(db);
	}
	puts("#include \"lab/sqlite.h\"\nstatic const unsigned char whole[] = {");
	put_rows(db, "SELECT sql FROM sqlite_schema WHERE sql NOT NULL AND name NOT LIKE 'sqlite%' "
		     "ORDER BY rowid");
	put_inserts(db);
	puts("0 };\nconst char *const lab_schema_whole = (const char *)whole;");
	sqlite3_close(db);
	return 0;
}
