/* The tables and views that grow with the catalogue. A column that was added needs no new version
 * of the schema: an older tare does not ask for it, and a newer one reads NULL where a lab lacks
 * it. */
#include <stdlib.h>
#include <string.h>

#include "lab/sqlite.h"

const struct lab_growing lab_growing[LAB_GROWING] = {
	[LAB_EXECUTION] = { "execution", "executions", 'e', execution_fields },
	[LAB_PROCESS] = { "process", "processes", 'p', process_fields },
	[LAB_QUERY_EXECUTION] = { "query_execution", "query_executions", 'x',
				  query_execution_fields },
	[LAB_DUET_PART] = { "duet_part", "duet_parts", 'p', duet_part_fields },
	[LAB_PROFILE] = { "profile", "profiles", 'p', profile_settings_fields },
};

/* The names of the columns, each between commas. */
static char *columns_of(sqlite3 *db, const char *table)
{
	struct strbuf names = { 0 };
	sqlite3_stmt *stmt = NULL;
	strbuf_puts(&names, ",");
	sqlite3_prepare_v2(db, "SELECT name FROM pragma_table_info(?)", -1, &stmt, NULL);
	sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
	while (sqlite3_step(stmt) == SQLITE_ROW)
		strbuf_printf(&names, "%s,", (const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	return strbuf_detach(&names);
}

static bool has_column(const char *columns, const char *name)
{
	struct strbuf wanted = { 0 };
	strbuf_printf(&wanted, ",%s,", name);
	bool found = strstr(columns, wanted.text);
	strbuf_release(&wanted);
	return found;
}

bool lab_lacks_columns(sqlite3 *db)
{
	bool lacks = false;
	for (int i = 0; i < LAB_GROWING; i++) {
		char *columns = columns_of(db, lab_growing[i].table);
		struct field_cursor c = { .fields = lab_growing[i].fields,
					  .without = FIELD_NOT_SQL };
		while (!lacks && field_next(&c))
			lacks = !has_column(columns, c.leaf.name);
		free(columns);
	}
	return lacks;
}

static int grow_table(sqlite3 *db, const struct lab_growing *g)
{
	char *columns = columns_of(db, g->table);
	struct field_cursor c = { .fields = g->fields, .without = FIELD_NOT_SQL };
	int rc = SQLITE_OK;
	while (!rc && field_next(&c)) {
		if (has_column(columns, c.leaf.name))
			continue;
		struct strbuf sql = { 0 };
		const enum field_kind kind = c.leaf.kind;
		bool text = kind == FIELD_TEXT || kind == FIELD_RAW || kind == FIELD_NAME;
		strbuf_printf(&sql, "ALTER TABLE %s ADD COLUMN %s %s", g->table, c.leaf.name,
			      kind == FIELD_REAL ? "REAL"
			      : text		 ? "TEXT"
						 : "INTEGER");
		rc = sqlite3_exec(db, sql.text, NULL, NULL, NULL);
		strbuf_release(&sql);
	}
	free(columns);
	return rc;
}

/* Readers of a view get NULL for what is not known. */
static void add_column(const struct lab_growing *g, const struct field *f, struct strbuf *out)
{
	const char *absent = !(f->flags & FIELD_ZERO_ABSENT) ? NULL
			     : f->kind == FIELD_NAME	     ? "''"
							     : "0";
	strbuf_printf(out, "\n  , %s%c.%s%s%s%s AS %s -- %s", absent ? "nullif(" : "", g->alias,
		      f->name, absent ? ", " : "", absent ? absent : "", absent ? ")" : "", f->name,
		      f->meaning);
}

/* A view is made again with its own text and, before its FROM, the columns that it lacks. The comma
 * comes first, since behind the last column there may be a comment. */
static int grow_view(sqlite3 *db, const struct lab_growing *g)
{
	char *columns = columns_of(db, g->view);
	struct field_cursor c = { .fields = g->fields, .without = FIELD_NOT_SQL | FIELD_NOT_JSON };
	struct strbuf more = { 0 };
	while (field_next(&c))
		if (!has_column(columns, c.leaf.name) && c.leaf.kind != FIELD_DATE)
			add_column(g, &c.leaf, &more);
	free(columns);
	if (!more.length)
		return SQLITE_OK;
	struct strbuf sql = { 0 };
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_schema WHERE name = ?", -1, &stmt,
				    NULL);
	sqlite3_bind_text(stmt, 1, g->view, -1, SQLITE_STATIC);
	if (!rc && sqlite3_step(stmt) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(stmt, 0);
		const char *from = strstr(text, "\nFROM ");
		if (from)
			strbuf_printf(&sql, "DROP VIEW %s; %.*s%s%s", g->view, (int)(from - text),
				      text, more.text, from);
	}
	sqlite3_finalize(stmt);
	if (sql.length)
		rc = sqlite3_exec(db, sql.text, NULL, NULL, NULL);
	strbuf_release(&sql);
	strbuf_release(&more);
	return rc;
}

/* The length of the first statement of a script, comments before it included; 0: there is none. */
static size_t statement_length(const char *script)
{
	for (const char *end = strchr(script, ';'); end; end = strchr(end + 1, ';')) {
		char *head = xstrndup(script, (size_t)(end + 1 - script));
		bool complete = sqlite3_complete(head);
		free(head);
		if (complete)
			return (size_t)(end + 1 - script);
	}
	return 0;
}

static const char *skip_comments(const char *s)
{
	for (;;) {
		s += strspn(s, " \n");
		if (strncmp(s, "--", 2) != 0)
			return s;
		s += strcspn(s, "\n");
	}
}

/* Whether the lab itself has the view whose name the text begins with. */
static bool has_view(sqlite3 *db, const char *text)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3_prepare_v2(db, "SELECT 1 FROM main.sqlite_schema WHERE type = 'view' AND name = ?",
			   -1, &stmt, NULL);
	sqlite3_bind_text(stmt, 1, text, (int)strcspn(text, " \n"), SQLITE_STATIC);
	bool has = sqlite3_step(stmt) == SQLITE_ROW;
	sqlite3_finalize(stmt);
	return has;
}

int lab_stand_in(sqlite3 *db, int version)
{
	int rc = SQLITE_OK;
	for (; version < lab_schema_version; version++) {
		const char *at = lab_schema[version];
		for (size_t length; !rc && (length = statement_length(at)); at += length) {
			const char *begin = skip_comments(at);
			const char *what = begin + strlen("CREATE ");
			/* a changed column of an older table is no matter to readers */
			if (strncmp(begin, "CREATE TABLE ", 13) != 0 &&
			    strncmp(begin, "CREATE VIEW ", 12) != 0)
				continue;
			if (strncmp(begin, "CREATE VIEW ", 12) == 0 && has_view(db, begin + 12))
				continue;
			struct strbuf sql = { 0 };
			strbuf_printf(&sql, "CREATE TEMP %.*s", (int)(at + length - what), what);
			rc = sqlite3_exec(db, sql.text, NULL, NULL, NULL);
			strbuf_release(&sql);
		}
	}
	return rc;
}

int lab_grow(sqlite3 *db)
{
	int rc = SQLITE_OK;
	for (int i = 0; !rc && i < LAB_GROWING; i++) {
		rc = grow_table(db, &lab_growing[i]);
		if (!rc)
			rc = grow_view(db, &lab_growing[i]);
	}
	return rc;
}

static void readable_columns(sqlite3 *db, const char *table, const struct field *fields,
			     struct strbuf *out)
{
	char *columns = columns_of(db, table);
	struct field_cursor c = { .fields = fields, .without = FIELD_NOT_SQL };
	while (field_next(&c))
		strbuf_printf(out, "%s%s", out->length ? ", " : "",
			      has_column(columns, c.leaf.name) ? c.leaf.name : "NULL");
	free(columns);
}

int lab_select_growing(struct lab *lab, sqlite3_stmt **out, int growing, const struct arg *args,
		       struct error *err, const char *format, ...)
{
	const struct lab_growing *g = &lab_growing[growing];
	SCOPED(strbuf_release) struct strbuf readable = { 0 };
	readable_columns(lab->db, g->table, g->fields, &readable);
	va_list ap;
	va_start(ap, format);
	int result = lab_vselect(lab, out, readable.text, args, err, format, ap);
	va_end(ap);
	return result;
}

int lab_select_there(struct lab *lab, sqlite3_stmt **out, const char *table,
		     const struct field *fields, const struct arg *args, struct error *err,
		     const char *format, ...)
{
	SCOPED(strbuf_release) struct strbuf readable = { 0 };
	readable_columns(lab->db, table, fields, &readable);
	va_list ap;
	va_start(ap, format);
	int result = lab_vselect(lab, out, readable.text, args, err, format, ap);
	va_end(ap);
	return result;
}
