#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "lab/sqlite.h"

static void comma(struct strbuf *out)
{
	if (out->length)
		strbuf_puts(out, ", ");
}

void fields_columns(const struct field *f, bool writing, struct strbuf *out)
{
	struct field_cursor c = { .fields = f };
	while (field_next(&c)) {
		if (c.leaf.flags & FIELD_NOT_SQL)
			continue;
		comma(out);
		strbuf_puts(out, c.leaf.name);
		if (writing && c.leaf.kind == FIELD_RAW)
			strbuf_printf(out, ", %s_text", c.leaf.name);
	}
}

int lab_prepare_inserts(struct lab *lab, const struct lab_table *tables, int count,
			sqlite3_stmt **out, const char *doing, struct error *err)
{
	int result = 0;
	for (const struct lab_table *table = tables; table < tables + count && !result; table++) {
		struct strbuf columns = { 0 }, sql = { 0 };
		fields_columns(table->fields, true, &columns);
		comma(&columns);
		strbuf_puts(&columns, table->more);
		strbuf_printf(&sql, "INSERT INTO %s (%s) VALUES (?", table->name, columns.text);
		for (const char *c = columns.text; *c; c++)
			if (*c == ',')
				strbuf_puts(&sql, ", ?");
		strbuf_printf(&sql, ")%s", table->there ? table->there : "");
		result = lab_prepare(lab, out++, sql.text, doing, err);
		strbuf_release(&columns);
		strbuf_release(&sql);
	}
	return result;
}

int lab_vselect(struct lab *lab, sqlite3_stmt **out, const char *columns, const struct arg *args,
		struct error *err, const char *format, va_list ap)
{
	struct strbuf sql = { 0 };
	strbuf_printf(&sql, "SELECT %s", columns);
	strbuf_vprintf(&sql, format, ap);
	int result = lab_bound(lab, out, sql.text, args, "read", err);
	strbuf_release(&sql);
	return result;
}

int lab_select(struct lab *lab, sqlite3_stmt **out, const struct field *fields,
	       const struct arg *args, struct error *err, const char *format, ...)
{
	struct strbuf columns = { 0 };
	va_list ap;
	fields_columns(fields, false, &columns);
	va_start(ap, format);
	int result = lab_vselect(lab, out, columns.text, args, err, format, ap);
	va_end(ap);
	strbuf_release(&columns);
	return result;
}

void raw_bind(sqlite3_stmt *stmt, int *at, const char *bytes)
{
	if (!bytes) {
		sqlite3_bind_null(stmt, (*at)++);
		sqlite3_bind_null(stmt, (*at)++);
		return;
	}
	sqlite3_bind_blob64(stmt, (*at)++, bytes, strlen(bytes), SQLITE_TRANSIENT);
	char *text = text_utf8(bytes);
	if (strcmp(text, bytes) == 0)
		sqlite3_bind_null(stmt, (*at)++);
	else
		sqlite3_bind_text(stmt, (*at)++, text, -1, SQLITE_TRANSIENT);
	free(text);
}

/* Bytes that are not UTF-8 are stored as U+F780 to U+F7FF, which are for private use, and come back
 * as they were: other programs cannot read a text that is not UTF-8. If one of those characters is
 * in a name, its bytes are stored so, too. */
#define ESCAPED 0xef
static bool is_escaped(const char *text, size_t length)
{
	const unsigned char *u = (const unsigned char *)text;
	return utf8_length(text, length) == 3 && u[0] == ESCAPED && (u[1] & 0xfe) == 0x9e;
}

/* NULL: it can be stored as it is. */
static char *escaped_name(const char *name, size_t length)
{
	struct strbuf out = { 0 };
	bool any = false;
	for (size_t i = 0, n; i < length; i += n) {
		unsigned char byte = (unsigned char)name[i];
		n = is_escaped(name + i, length - i) ? 0 : utf8_length(name + i, length - i);
		any |= !n;
		if (n) {
			strbuf_add(&out, name + i, n);
			continue;
		}
		n = 1;
		strbuf_putc(&out, (char)ESCAPED);
		strbuf_putc(&out, (char)(0x9c | byte >> 6));
		strbuf_putc(&out, (char)(0x80 | (byte & 0x3f)));
	}
	if (any)
		return strbuf_detach(&out);
	strbuf_release(&out);
	return NULL;
}

void name_bind(sqlite3_stmt *stmt, int at, const char *name, size_t length)
{
	char *escaped = escaped_name(name, length);
	sqlite3_bind_text64(stmt, at, escaped ? escaped : name, escaped ? strlen(escaped) : length,
			    escaped ? SQLITE_TRANSIENT : SQLITE_STATIC, SQLITE_UTF8);
	free(escaped);
}

void name_read(sqlite3_stmt *stmt, int column, char *name, size_t size)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);
	size_t length = text ? strlen(text) : 0, used = 0;
	for (size_t i = 0; i < length && used < size - 1; used++) {
		bool escaped = is_escaped(text + i, length - i);
		name[used] = escaped ? (char)((text[i + 1] & 3) << 6 | (text[i + 2] & 0x3f))
				     : text[i];
		i += escaped ? 3 : 1;
	}
	name[used] = '\0';
}

static void escaped_name_sql(sqlite3_context *context, int count, sqlite3_value **values)
{
	(void)count;
	const char *text = (const char *)sqlite3_value_text(values[0]);
	char *escaped = text ? escaped_name(text, (size_t)sqlite3_value_bytes(values[0])) : NULL;
	if (escaped)
		sqlite3_result_text(context, escaped, -1, SQLITE_TRANSIENT);
	free(escaped);
}

int lab_repair_names(sqlite3 *db)
{
	/* for each table: UPDATE t SET a = coalesce(escaped(a), a), ... WHERE escaped(a) NOT NULL
	 * OR ... */
	static const char tables[] =
		"SELECT 'UPDATE \"' || s.name || '\" SET ' || group_concat('\"' || c.name "
		"|| '\" = coalesce(escaped(\"' || c.name || '\"), \"' || c.name || '\")') || "
		"' WHERE ' || group_concat('escaped(\"' || c.name || '\") NOT NULL', ' OR ') "
		"FROM sqlite_schema s, pragma_table_info(s.name) c "
		"WHERE s.type = 'table' AND c.type = 'TEXT' GROUP BY s.name";
	sqlite3_stmt *stmt = NULL;
	struct strbuf updates = { 0 };
	int rc = sqlite3_create_function(db, "escaped", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL,
					 escaped_name_sql, NULL, NULL);
	if (!rc)
		rc = sqlite3_prepare_v2(db, tables, -1, &stmt, NULL);
	while (!rc && sqlite3_step(stmt) == SQLITE_ROW)
		strbuf_printf(&updates, "%s;", (const char *)sqlite3_column_text(stmt, 0));
	if (!rc)
		rc = sqlite3_finalize(stmt);
	if (!rc)
		rc = sqlite3_exec(db, strbuf_text(&updates), NULL, NULL, NULL);
	strbuf_release(&updates);
	return rc;
}

char *raw_read(sqlite3_stmt *stmt, int column)
{
	if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
		return NULL;
	const char *bytes = sqlite3_column_blob(stmt, column);
	return xstrndup(bytes ? bytes : "", (size_t)sqlite3_column_bytes(stmt, column));
}

static void bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
	if (!text) {
		sqlite3_bind_null(stmt, at);
		return;
	}
	char *clean = text_utf8(text);
	sqlite3_bind_text(stmt, at, clean, -1, SQLITE_TRANSIENT);
	free(clean);
}

/* Numbers above INT64_MAX keep their 64 bits and are negative in SQL. */
static void bind_unless(sqlite3_stmt *stmt, int at, int64_t value, bool absent)
{
	if (absent)
		sqlite3_bind_null(stmt, at);
	else
		sqlite3_bind_int64(stmt, at, value);
}

static unsigned numbers_of(const struct field *f)
{
	return f->kind == FIELD_CAUSES ? LEDGER_CAUSES : f->limit;
}

/* A list of numbers: "[1,2]". */
static void bind_list(sqlite3_stmt *stmt, int at, const number_list *list)
{
	struct strbuf text = { 0 };
	strbuf_putc(&text, '[');
	for (size_t i = 0; i < list->count; i++)
		strbuf_printf(&text, "%s%" PRIu32, i ? "," : "", list->items[i]);
	strbuf_putc(&text, ']');
	sqlite3_bind_text64(stmt, at, text.text, text.length, SQLITE_TRANSIENT, SQLITE_UTF8);
	strbuf_release(&text);
}

void fields_bind(sqlite3_stmt *stmt, int *at, const struct field *f, const void *object)
{
	for (; f->kind; f++) {
		const void *p = (const char *)object + f->offset;
		int64_t i64;
		uint64_t bits;
		if (f->flags & FIELD_NOT_SQL)
			continue;
		switch (f->kind) {
		case FIELD_BOOL:
			sqlite3_bind_int(stmt, (*at)++, *(const bool *)p);
			break;
		case FIELD_ENUM:
			if (f->flags & FIELD_ZERO_ABSENT && *(const uint32_t *)p == f->limit) {
				sqlite3_bind_null(stmt, (*at)++);
				break;
			}
			/* fall through */
		case FIELD_U32:
			sqlite3_bind_int64(stmt, (*at)++, *(const uint32_t *)p);
			break;
		case FIELD_I32:
			sqlite3_bind_int(stmt, (*at)++, *(const int32_t *)p);
			break;
		case FIELD_I64:
		case FIELD_ID:
		case FIELD_KNOWN:
		case FIELD_U64:
		case FIELD_NS:
		case FIELD_DATE:
		case FIELD_HASH:
		case FIELD_ADDRESS:
			memcpy(&i64, p, sizeof i64);
			bind_unless(stmt, (*at)++, i64,
				    ((f->kind == FIELD_ID || f->kind == FIELD_HASH) && i64 == 0) ||
					    (f->kind == FIELD_KNOWN && i64 == -1) ||
					    (f->kind == FIELD_NS && (uint64_t)i64 == ABSENT_NS));
			break;
		case FIELD_TEXT:
			bind_text(stmt, (*at)++, *(char *const *)p);
			break;
		case FIELD_RAW:
			raw_bind(stmt, at, *(char *const *)p);
			break;
		case FIELD_NAME:
			name_bind(stmt, (*at)++, p, strnlen(p, f->limit - 1));
			break;
		case FIELD_REAL:
			sqlite3_bind_double(stmt, (*at)++, *(const double *)p);
			break;
		case FIELD_SPLICE:
			fields_bind(stmt, at, f->shape->fields, p);
			break;
		case FIELD_CAUSES:
		case FIELD_EACH:
			for (unsigned i = 0; i < numbers_of(f); i++)
				sqlite3_bind_int64(stmt, (*at)++, ((const int64_t *)p)[i]);
			break;
		case FIELD_MEASURES:
			if (f->flags & FIELD_MISSING)
				bits = ~(uint64_t) *
				       (const uint32_t *)((const char *)object + f->bits);
			else
				memcpy(&bits, (const char *)object + f->bits, sizeof bits);
			for (unsigned m = 0; m < f->limit; m++)
				bind_unless(stmt, (*at)++, ((const int64_t *)p)[m],
					    !(bits >> m & 1));
			break;
		case FIELD_LIST:
			bind_list(stmt, (*at)++, p);
			break;
		default: /* only in JSON */
			break;
		}
	}
}

static int read_list(sqlite3_stmt *stmt, int column, number_list *into)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);
	if (!text || *text++ != '[')
		return -1;
	if (strcmp(text, "]") == 0)
		return 0;
	for (;; text++) {
		char *end;
		if (*text < '0' || *text > '9')
			return -1;
		errno = 0;
		unsigned long value = strtoul(text, &end, 10);
		if (errno || value > UINT32_MAX)
			return -1;
		array_push(into, (uint32_t)value);
		text = end;
		if (strcmp(text, "]") == 0)
			return 0;
		if (*text != ',')
			return -1;
	}
}

int fields_read(sqlite3_stmt *stmt, int *at, const struct field *f, void *object)
{
	for (; f->kind; f++) {
		void *p = (char *)object + f->offset;
		if (f->flags & FIELD_NOT_SQL)
			continue;
		if (f->kind == FIELD_MEASURES) {
			for (unsigned m = 0; m < f->limit; m++, (*at)++) {
				int64_t value = sqlite3_column_int64(stmt, *at);
				if (value < 0 && f->flags & FIELD_MISSING)
					return -1;
				((int64_t *)p)[m] = value;
				field_put_bit(f, object, m,
					      value || sqlite3_column_type(stmt, *at) !=
							       SQLITE_NULL);
			}
			continue;
		}
		if (f->kind == FIELD_SPLICE) {
			if (fields_read(stmt, at, f->shape->fields, p))
				return -1;
			continue;
		}
		if (f->kind == FIELD_CAUSES || f->kind == FIELD_EACH) {
			for (unsigned i = 0; i < numbers_of(f); i++)
				((int64_t *)p)[i] = sqlite3_column_int64(stmt, (*at)++);
			continue;
		}
		int column = (*at)++;
		if (f->kind == FIELD_REAL) {
			bool none = sqlite3_column_type(stmt, column) == SQLITE_NULL;
			*(double *)p = none ? (double)NAN : sqlite3_column_double(stmt, column);
			continue;
		}
		if (f->kind == FIELD_TEXT || f->kind == FIELD_RAW) {
			*(char **)p = raw_read(stmt, column);
			continue;
		}
		if (f->kind == FIELD_NAME) {
			name_read(stmt, column, p, f->limit);
			continue;
		}
		if (f->kind == FIELD_LIST) {
			if (read_list(stmt, column, p))
				return -1;
			continue;
		}
		int64_t value = sqlite3_column_int64(stmt, column);
		bool null = value == 0 && sqlite3_column_type(stmt, column) == SQLITE_NULL;
		if (field_put(f, p, !null, value))
			return -1;
	}
	return 0;
}

void *lab_list_add(void *list, size_t size)
{
	byte_list any;
	memcpy(&any, list, sizeof any);
	any.items = array_grow(any.items, &any.capacity, any.count + 1, size);
	void *item = memset(any.items + any.count++ * size, 0, size);
	memcpy(list, &any, sizeof any);
	return item;
}
