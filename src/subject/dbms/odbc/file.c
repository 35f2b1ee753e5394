#include "subject/dbms/odbc/file.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "base/text.h"

#define LONGEST 65536

enum value_kind { VALUE_TEXT, VALUE_TEXTS, VALUE_CHOICE };

static const struct key {
	const char *name;
	enum value_kind kind;
	size_t offset;	  /* in struct odbc_file; VALUE_CHOICE has none */
	const char *mark; /* that must be in it */
	size_t longest;	  /* 0: whatever */
	const char *choices[2];
} keys[] = {
#define TEXT(key) #key, VALUE_TEXT, offsetof(struct odbc_file, key)
#define TEXTS(key) #key, VALUE_TEXTS, offsetof(struct odbc_file, key)
#define TYPE(key, kind) #key, VALUE_TEXT, offsetof(struct odbc_file, types[kind])
	{ TEXT(name), .longest = 31 },
	{ TEXT(process_name), .longest = 15 },
	{ TEXT(session_id) },
	{ TEXT(version) },
	{ TEXT(plan), .mark = "{sql}" },
	{ TEXT(plan_after) },
	{ TEXT(analyze), .mark = "{table}" },
	{ TEXT(table_bytes), .mark = "{table}" },
	{ TEXTS(session) },
	{ TEXTS(read_only) },
	{ TEXTS(settle) },
	{ TEXTS(flush) },
	{ TYPE(type_integer, KIND_INTEGER), .longest = 50 },
	{ TYPE(type_bigint, KIND_BIGINT), .longest = 50 },
	{ TYPE(type_decimal, KIND_DECIMAL), .longest = 50 },
	{ TYPE(type_real, KIND_REAL), .longest = 50 },
	{ TYPE(type_text, KIND_TEXT), .longest = 50 },
	{ TYPE(type_date, KIND_DATE), .longest = 50 },
	{ "session_is_thread", VALUE_CHOICE, .choices = { "no", "yes" } },
	{ "plan_numbers", VALUE_CHOICE, .choices = { "keep", "drop" } },
	{ "cold", VALUE_CHOICE, .choices = { "online", "restart" } },
#undef TYPE
#undef TEXTS
#undef TEXT
};
#define KEYS (sizeof keys / sizeof *keys)

struct reading {
	struct odbc_file file;
	int line_of[KEYS]; /* 0: not given */
	bool chosen[KEYS]; /* VALUE_CHOICE: the second one */
	int line;	   /* where the entry begins */
};

static const struct key *key_of(const char *name)
{
	for (size_t i = 0; i < KEYS; i++)
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

static bool chosen(const struct reading *r, const char *name)
{
	return r->chosen[key_of(name) - keys];
}

static bool given(const struct reading *r, const char *name)
{
	return r->line_of[key_of(name) - keys] != 0;
}

static int unknown_key(const struct reading *r, const char *name, struct error *err)
{
	const char *names[KEYS + 1] = { NULL };
	for (size_t i = 0; i < KEYS; i++)
		names[i] = keys[i].name;
	error_set(err, EXIT_USAGE, "line %d: there is no key '%s'", r->line, DISPLAYED(name, 64));
	const char *meant = nearest_word(name, names);
	return meant ? error_hint(err, "'%s' was perhaps meant", meant) : -1;
}

static int set_value(struct reading *r, const struct key *key, const char *value, struct error *err)
{
	int *line = &r->line_of[key - keys];
	if (*line && key->kind != VALUE_TEXTS)
		return error_set(err, EXIT_USAGE, "line %d: %s is given in line %d already",
				 r->line, key->name, *line);
	*line = r->line;
	if (!*value)
		return error_set(err, EXIT_USAGE, "line %d: %s has no value", r->line, key->name);
	if (key->mark && !strstr(value, key->mark))
		return error_set(err, EXIT_USAGE, "line %d: %s must have %s in it", r->line,
				 key->name, key->mark);
	if (key->longest && strlen(value) > key->longest)
		return error_set(err, EXIT_USAGE, "line %d: %s is longer than %zu bytes", r->line,
				 key->name, key->longest);
	void *into = (char *)&r->file + key->offset;
	if (key->kind == VALUE_CHOICE) {
		for (size_t i = 0; i < 2; i++)
			if (strcmp(value, key->choices[i]) == 0) {
				r->chosen[key - keys] = i == 1;
				return 0;
			}
		return error_set(err, EXIT_USAGE, "line %d: %s is %s or %s", r->line, key->name,
				 key->choices[0], key->choices[1]);
	}
	if (key->kind == VALUE_TEXTS)
		array_push((word_list *)into, xstrdup(value));
	else
		*(char **)into = xstrdup(value);
	return 0;
}

static char *trim(char *text)
{
	text += strspn(text, " \t\r");
	size_t length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	return text;
}

/* "key = value", with the lines that go on with it. */
static int read_entry(struct reading *r, char *entry, struct error *err)
{
	char *equals = strchr(entry, '=');
	if (!equals)
		return error_set(err, EXIT_USAGE, "line %d is no 'key = value'", r->line);
	*equals = '\0';
	const char *name = trim(entry);
	const struct key *key = key_of(name);
	return key ? set_value(r, key, trim(equals + 1), err) : unknown_key(r, name, err);
}

/* A line of `length` bytes: begins an entry, or goes on with one. */
static int read_line(struct reading *r, struct strbuf *entry, const char *text, size_t length,
		     int line, struct error *err)
{
	bool more = *text == ' ' || *text == '\t';
	if (*text == '#' || strspn(text, " \t\r") >= length)
		return 0;
	if (more && !entry->length)
		return error_set(err, EXIT_USAGE,
				 "line %d begins with a blank, but no value is before it", line);
	if (!more && entry->length) {
		if (read_entry(r, entry->text, err))
			return -1;
		strbuf_clear(entry);
	}
	r->line = more ? r->line : line;
	strbuf_add(entry, text, length);
	strbuf_putc(entry, '\n');
	return 0;
}

static int read_lines(struct reading *r, const char *text, struct error *err)
{
	SCOPED(strbuf_release) struct strbuf entry = { 0 };
	int failed = 0;
	for (int line = 1; *text && !failed; line++) {
		size_t length = strcspn(text, "\n");
		failed = read_line(r, &entry, text, length, line, err);
		text += length + (text[length] == '\n');
	}
	if (entry.length && !failed)
		failed = read_entry(r, entry.text, err);
	return failed;
}

static int check_whole(const struct reading *r, struct error *err)
{
	if (given(r, "plan_after") && !given(r, "plan"))
		return error_set(err, EXIT_USAGE, "plan_after is given, but no plan");
	if (given(r, "session_is_thread") && !given(r, "session_id"))
		return error_set(err, EXIT_USAGE, "session_is_thread is given, but no session_id");
	if (given(r, "cold") && !chosen(r, "cold") && !given(r, "flush"))
		return error_set(err, EXIT_USAGE, "cold is online, but there is no flush");
	return 0;
}

int odbc_file_parse(const char *text, size_t length, struct odbc_file *into, struct error *err)
{
	struct reading r = { 0 };
	if (length > LONGEST)
		return error_set(err, EXIT_USAGE, "longer than %d bytes: not a driver file",
				 LONGEST);
	int line = 1;
	for (size_t i = 0, n; i < length; i += n) {
		n = text[i] ? utf8_length(text + i, length - i) : 0;
		if (!n)
			return error_set(err, EXIT_USAGE, "line %d is not UTF-8 text", line);
		line += text[i] == '\n';
	}
	FREED char *copy = xstrndup(text, length);
	int failed = read_lines(&r, copy, err) || check_whole(&r, err);
	if (failed) {
		odbc_file_release(&r.file);
		return -1;
	}
	r.file.session_is_thread = chosen(&r, "session_is_thread");
	r.file.drop_numbers = chosen(&r, "plan_numbers");
	bool restart = given(&r, "cold") ? chosen(&r, "cold") : !given(&r, "flush");
	r.file.cold = restart ? DBMS_COLD_RESTART : DBMS_COLD_ONLINE;
	*into = r.file;
	return 0;
}

int odbc_file_read(const char *path, struct odbc_file *into, struct error *err)
{
	size_t length = 0;
	FREED char *text = invoker_read(path, &length);
	if (!text)
		return error_errno(err, EXIT_USAGE, "cannot read the driver file %s", path);
	int failed = odbc_file_parse(text, length, into, err);
	return failed ? error_prefix(err, "driver file %s", path) : 0;
}

void odbc_file_release(struct odbc_file *f)
{
	for (size_t i = 0; i < KEYS; i++) {
		void *at = (char *)f + keys[i].offset;
		if (keys[i].kind == VALUE_TEXT)
			xfree(*(char **)at);
		else if (keys[i].kind == VALUE_TEXTS)
			words_release(at);
	}
	*f = (struct odbc_file){ 0 };
}

char *odbc_file_fill(const char *statement, const char *mark, const char *value)
{
	struct strbuf sql = { 0 };
	for (const char *found; (found = strstr(statement, mark));
	     statement = found + strlen(mark)) {
		strbuf_add(&sql, statement, (size_t)(found - statement));
		strbuf_puts(&sql, value);
	}
	strbuf_puts(&sql, statement);
	return strbuf_detach(&sql);
}
