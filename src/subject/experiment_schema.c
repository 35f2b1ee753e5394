/* libcyaml's tables are the schema. What libcyaml says of a wrong file is too little for a user: it
 * names the line of the key before, takes -1 for an unsigned number and "maybe" for true, and knows
 * no alternatives. So the tree is checked against the same tables first, and libcyaml fills the
 * structs from what has passed. */
#include "subject/experiment_schema.h"

#include <cyaml/cyaml.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/options.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "subject/experiment.h"

#define OPTIONAL (CYAML_FLAG_OPTIONAL)
#define OPTIONAL_PTR (CYAML_FLAG_OPTIONAL | CYAML_FLAG_POINTER)
#define OPTIONAL_ENUM (CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT)
#define ANY CYAML_UNLIMITED
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* clang-format off */
static const cyaml_strval_t kinds[] = {
	{ "integer", KIND_INTEGER }, { "bigint", KIND_BIGINT }, { "decimal", KIND_DECIMAL },
	{ "real", KIND_REAL }, { "text", KIND_TEXT }, { "date", KIND_DATE },
};
static const cyaml_strval_t scenarios[] = {
	{ "exhaustive", SCENARIO_EXHAUSTIVE }, { "onepass", SCENARIO_ONEPASS },
};
static const cyaml_strval_t orders[] = {
	{ "cardinality", ORDER_BY_CARDINALITY }, { "query", ORDER_BY_QUERY }, { "shuffled", ORDER_SHUFFLED },
};
static const cyaml_strval_t caches[] = { { "warm", 0 }, { "cold", 1 } };

static const cyaml_schema_value_t text_value = { CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, ANY) };
static const cyaml_schema_value_t count_value = { CYAML_VALUE_UINT(CYAML_FLAG_DEFAULT, uint64_t) };
static const cyaml_schema_value_t number_value = { CYAML_VALUE_INT(CYAML_FLAG_DEFAULT, int64_t) };

#define COLUMN struct raw_column
static const cyaml_schema_field_t column_fields[] = {
	CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, COLUMN, name, 1, ANY),
	CYAML_FIELD_ENUM("type", OPTIONAL_ENUM, COLUMN, type, kinds, COUNT(kinds)),
	CYAML_FIELD_UINT("length", OPTIONAL, COLUMN, length),
	CYAML_FIELD_UINT("distinct", OPTIONAL, COLUMN, distinct),
	CYAML_FIELD_STRING_PTR("from", OPTIONAL_PTR, COLUMN, from, 0, ANY),
	CYAML_FIELD_STRING_PTR("to", OPTIONAL_PTR, COLUMN, to, 0, ANY),
	CYAML_FIELD_STRING_PTR("nulls", OPTIONAL_PTR, COLUMN, nulls, 0, ANY),
	CYAML_FIELD_SEQUENCE("words", OPTIONAL_PTR, COLUMN, words, &text_value, 1, ANY),
	CYAML_FIELD_BOOL("serial", OPTIONAL, COLUMN, serial),
	CYAML_FIELD_UINT("repeat", OPTIONAL, COLUMN, repeat),
	CYAML_FIELD_STRING_PTR("references", OPTIONAL_PTR, COLUMN, references, 1, ANY),
	CYAML_FIELD_STRING_PTR("within", OPTIONAL_PTR, COLUMN, within, 0, ANY),
	CYAML_FIELD_SEQUENCE("add", OPTIONAL_PTR, COLUMN, add, &number_value, 2, 2),
	CYAML_FIELD_BOOL("primary", OPTIONAL, COLUMN, primary),
	CYAML_FIELD_BOOL("index", OPTIONAL, COLUMN, index),
	CYAML_FIELD_END
};
static const cyaml_schema_value_t column_value = { CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, COLUMN, column_fields) };

#define TABLE struct raw_table
static const cyaml_schema_field_t table_fields[] = {
	CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, TABLE, name, 1, ANY),
	CYAML_FIELD_UINT("rows", OPTIONAL, TABLE, rows),
	CYAML_FIELD_UINT("seed", OPTIONAL, TABLE, seed),
	CYAML_FIELD_BOOL("varies", OPTIONAL, TABLE, varies),
	CYAML_FIELD_BOOL("scales", OPTIONAL, TABLE, scales),
	CYAML_FIELD_SEQUENCE("columns", CYAML_FLAG_POINTER, TABLE, columns, &column_value, 1, 1000),
	CYAML_FIELD_SEQUENCE("indexes", OPTIONAL_PTR, TABLE, indexes, &text_value, 0, 1000),
	CYAML_FIELD_END
};
static const cyaml_schema_value_t table_value = { CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, TABLE, table_fields) };

#define QUERY struct raw_query
static const cyaml_schema_field_t query_fields[] = {
	CYAML_FIELD_STRING_PTR("name", OPTIONAL_PTR, QUERY, name, 1, ANY),
	CYAML_FIELD_STRING_PTR("sql", CYAML_FLAG_POINTER, QUERY, sql, 1, ANY),
	CYAML_FIELD_END
};
static const cyaml_schema_value_t query_value = { CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, QUERY, query_fields) };

#define SERVER struct raw_server
static const cyaml_schema_field_t server_fields[] = {
	CYAML_FIELD_STRING_PTR("dbms", OPTIONAL_PTR, SERVER, dbms, 1, ANY),
	CYAML_FIELD_STRING_PTR("data", OPTIONAL_PTR, SERVER, data, 1, ANY),
	CYAML_FIELD_BOOL("make", OPTIONAL, SERVER, make),
	CYAML_FIELD_SEQUENCE("settings", OPTIONAL_PTR, SERVER, settings, &text_value, 0, 1000),
	CYAML_FIELD_STRING_PTR("user", OPTIONAL_PTR, SERVER, user, 1, ANY),
	CYAML_FIELD_STRING_PTR("start", OPTIONAL_PTR, SERVER, start, 1, ANY),
	CYAML_FIELD_STRING_PTR("stop", OPTIONAL_PTR, SERVER, stop, 1, ANY),
	CYAML_FIELD_END
};

#define STEPS struct raw_steps
static const cyaml_schema_field_t steps_fields[] = {
	CYAML_FIELD_UINT("from", OPTIONAL, STEPS, from),
	CYAML_FIELD_UINT("to", OPTIONAL, STEPS, to),
	CYAML_FIELD_UINT("max", OPTIONAL, STEPS, max),
	CYAML_FIELD_UINT("step", CYAML_FLAG_DEFAULT, STEPS, step),
	CYAML_FIELD_END
};

#define GENERATE struct raw_generate
static const cyaml_schema_field_t generate_fields[] = {
	CYAML_FIELD_UINT("count", CYAML_FLAG_DEFAULT, GENERATE, count),
	CYAML_FIELD_UINT("seed", OPTIONAL, GENERATE, seed),
	CYAML_FIELD_UINT("joins", OPTIONAL, GENERATE, joins),
	CYAML_FIELD_UINT("selections", OPTIONAL, GENERATE, selections),
	CYAML_FIELD_STRING_PTR("aggregates", OPTIONAL_PTR, GENERATE, aggregates, 0, ANY),
	CYAML_FIELD_END
};

#define TOP struct raw_experiment
/* The first two have alternatives, which schema_for() puts in their place. */
static const cyaml_schema_field_t top_fields[] = {
	CYAML_FIELD_SEQUENCE("cardinalities", OPTIONAL_PTR, TOP, cardinalities, &count_value, 1, 1000),
	CYAML_FIELD_SEQUENCE("queries", OPTIONAL_PTR, TOP, queries, &query_value, 1, 10000),
	CYAML_FIELD_STRING_PTR("name", OPTIONAL_PTR, TOP, name, 1, ANY),
	CYAML_FIELD_STRING_PTR("url", OPTIONAL_PTR, TOP, url, 1, ANY),
	CYAML_FIELD_STRING_PTR("driver", OPTIONAL_PTR, TOP, driver, 1, ANY),
	CYAML_FIELD_MAPPING_PTR("server", OPTIONAL_PTR, TOP, server, server_fields),
	CYAML_FIELD_SEQUENCE("settings", OPTIONAL_PTR, TOP, settings, &text_value, 0, 1000),
	CYAML_FIELD_ENUM("scenario", OPTIONAL_ENUM, TOP, scenario, scenarios, COUNT(scenarios)),
	CYAML_FIELD_ENUM("order", OPTIONAL_ENUM, TOP, order, orders, COUNT(orders)),
	CYAML_FIELD_ENUM("cache", OPTIONAL_ENUM, TOP, cache, caches, COUNT(caches)),
	CYAML_FIELD_UINT("executions", OPTIONAL, TOP, executions),
	CYAML_FIELD_STRING_PTR("time_limit", OPTIONAL_PTR, TOP, time_limit, 0, ANY),
	CYAML_FIELD_UINT("seed", OPTIONAL, TOP, seed),
	CYAML_FIELD_STRING_PTR("scale", OPTIONAL_PTR, TOP, scale, 0, ANY),
	CYAML_FIELD_SEQUENCE("tables", OPTIONAL_PTR, TOP, tables, &table_value, 1, 1000),
	CYAML_FIELD_SEQUENCE("query_files", OPTIONAL_PTR, TOP, query_files, &text_value, 1, 10000),
	CYAML_FIELD_MAPPING_PTR("generate", OPTIONAL_PTR, TOP, generate, generate_fields),
	CYAML_FIELD_END
};
static const cyaml_schema_field_t steps_instead =
	CYAML_FIELD_MAPPING_PTR("cardinalities", OPTIONAL_PTR, TOP, steps, steps_fields);
static const cyaml_schema_field_t texts_instead =
	CYAML_FIELD_SEQUENCE("queries", OPTIONAL_PTR, TOP, texts, &text_value, 1, 10000);
/* clang-format on */

struct schema {
	cyaml_schema_field_t fields[COUNT(top_fields)];
	cyaml_schema_value_t top;
};

static void schema_for(const struct tree_node *tree, struct schema *s)
{
	const struct tree_node *cardinalities = tree_child(tree, "cardinalities");
	const struct tree_node *queries = tree_child(tree, "queries");
	memcpy(s->fields, top_fields, sizeof top_fields);
	if (cardinalities && cardinalities->kind == TREE_MAP)
		s->fields[0] = steps_instead;
	if (queries && queries->kind == TREE_LIST && queries->children.count &&
	    queries->children.items[0].kind == TREE_TEXT)
		s->fields[1] = texts_instead;
	s->top = (cyaml_schema_value_t){ CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, TOP, s->fields) };
}

/* ---- checking ---- */

__attribute__((format(printf, 4, 0))) static int
error_line(uint32_t line, const char *path, struct error *err, const char *fmt, va_list args)
{
	SCOPED(strbuf_release) struct strbuf message = { 0 };
	strbuf_vprintf(&message, fmt, args);
	error_set(err, EXIT_USAGE, "line %u: %s%s%s", line, path, *path ? ": " : "",
		  strbuf_text(&message));
	return -1;
}

int tree_error(const struct tree_node *tree, const char *path, struct error *err, const char *fmt,
	       ...)
{
	va_list args;
	va_start(args, fmt);
	error_line(tree_line(tree, path), path, err, fmt, args);
	va_end(args);
	return -1;
}

struct check {
	struct strbuf path;
	struct error *err;
};

__attribute__((format(printf, 3, 4))) static int wrong(struct check *c, const struct tree_node *at,
						       const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	error_line(at->line, strbuf_text(&c->path), c->err, fmt, args);
	va_end(args);
	return -1;
}

static int wrong_value(struct check *c, const struct tree_node *at, const char *wanted)
{
	return wrong(c, at, "'%s' is not %s", DISPLAYED(at->text, 64), wanted);
}

static int check_choice(struct check *c, const struct tree_node *at, const cyaml_schema_value_t *v)
{
	FREED text_list words = { 0 };
	SCOPED(strbuf_release) struct strbuf all = { 0 };
	bool found = false;
	for (uint32_t i = 0; i < v->enumeration.count; i++) {
		const char *word = v->enumeration.strings[i].str;
		array_push(&words, word);
		strbuf_printf(&all, "%s%s", i ? ", " : "", word);
		found |= strcmp(at->text, word) == 0;
	}
	array_push(&words, NULL);
	if (found)
		return 0;
	const char *near = nearest_word(at->text, words.items);
	wrong_value(c, at, "one of the words it may be");
	return near ? error_hint(c->err, "did you mean '%s'? It may be: %s", near,
				 strbuf_text(&all))
		    : error_hint(c->err, "it may be: %s", strbuf_text(&all));
}

/* Decimal only: libcyaml would read 010 as 8. */
static int check_number(struct check *c, const struct tree_node *at, const cyaml_schema_value_t *v)
{
	const char *digits = at->text + (at->text[0] == '-' && v->type == CYAML_INT);
	long most = v->data_size == sizeof(uint32_t) ? UINT32_MAX : INT64_MAX, value;
	bool plain = *digits && strspn(digits, "0123456789") == strlen(digits) &&
		     (digits[0] != '0' || !digits[1]);
	if (plain && integer_parse(at->text, INT64_MIN, most, &value))
		return 0;
	if (v->type == CYAML_INT)
		return wrong_value(c, at, "a whole number");
	char wanted[64];
	snprintf(wanted, sizeof wanted, "a whole number from 0 to %ld", most);
	return wrong_value(c, at, wanted);
}

static int check_text(struct check *c, const struct tree_node *at, const cyaml_schema_value_t *v)
{
	switch (v->type) {
	case CYAML_STRING:
		return strlen(at->text) < v->string.min ? wrong(c, at, "it is empty") : 0;
	case CYAML_BOOL:
		if (strcmp(at->text, "true") == 0 || strcmp(at->text, "false") == 0)
			return 0;
		return wrong_value(c, at, "true or false");
	case CYAML_ENUM:
		return check_choice(c, at, v);
	default:
		return check_number(c, at, v);
	}
}

static int check_value(struct check *c, const struct tree_node *at, const cyaml_schema_value_t *v);

static int unknown_key(struct check *c, const struct tree_node *at,
		       const cyaml_schema_field_t *fields)
{
	FREED text_list known = { 0 };
	SCOPED(strbuf_release) struct strbuf all = { 0 };
	for (const cyaml_schema_field_t *f = fields; f->key; f++) {
		array_push(&known, f->key);
		strbuf_printf(&all, "%s%s", all.length ? ", " : "", f->key);
	}
	array_push(&known, NULL);
	const char *near = nearest_word(at->key, known.items);
	wrong(c, at, "unknown key '%s'", DISPLAYED(at->key, 64));
	return near ? error_hint(c->err, "did you mean '%s'?", near)
		    : error_hint(c->err, "known keys: %s", strbuf_text(&all));
}

static int check_map(struct check *c, const struct tree_node *at, const cyaml_schema_value_t *v)
{
	size_t length = c->path.length;
	const cyaml_schema_field_t *fields = v->mapping.fields, *f;
	for (size_t i = 0; i < at->children.count; i++) {
		const struct tree_node *child = &at->children.items[i];
		for (f = fields; f->key && strcmp(f->key, child->key) != 0; f++)
			;
		if (!f->key)
			return unknown_key(c, child, fields);
		strbuf_printf(&c->path, "%s%s", length ? "." : "", f->key);
		if (check_value(c, child, &f->value))
			return -1;
		c->path.text[c->path.length = length] = '\0';
	}
	for (f = fields; f->key; f++)
		if (!(f->value.flags & CYAML_FLAG_OPTIONAL) && !tree_child(at, f->key))
			return wrong(c, at, "the key '%s' is missing", f->key);
	return 0;
}

static int check_list(struct check *c, const struct tree_node *at, const cyaml_schema_value_t *v)
{
	size_t length = c->path.length;
	if (at->children.count < v->sequence.min || at->children.count > v->sequence.max) {
		if (v->sequence.min == v->sequence.max)
			return wrong(c, at, "a list of %u is wanted, not of %zu", v->sequence.min,
				     at->children.count);
		return wrong(c, at,
			     at->children.count ? "the list is too long" : "the list is empty");
	}
	for (size_t i = 0; i < at->children.count; i++) {
		strbuf_printf(&c->path, "[%zu]", i);
		if (check_value(c, &at->children.items[i], v->sequence.entry))
			return -1;
		c->path.text[c->path.length = length] = '\0';
	}
	return 0;
}

static int check_value(struct check *c, const struct tree_node *at, const cyaml_schema_value_t *v)
{
	static const char *const kind_names[] = { "a plain value", "a list", "keys with values" };
	static const char *const wanted[] = { [CYAML_MAPPING] = "keys with values",
					      [CYAML_SEQUENCE] = "a list",
					      [CYAML_STRING] = "a text",
					      [CYAML_BOOL] = "true or false",
					      [CYAML_ENUM] = "a word",
					      [CYAML_INT] = "a whole number",
					      [CYAML_UINT] = "a whole number" };
	enum tree_kind kind = v->type == CYAML_MAPPING	  ? TREE_MAP
			      : v->type == CYAML_SEQUENCE ? TREE_LIST
							  : TREE_TEXT;
	if (at->kind != kind)
		return wrong(c, at, "%s is wanted here, not %s", wanted[v->type],
			     kind_names[at->kind]);
	if (kind == TREE_MAP)
		return check_map(c, at, v);
	return kind == TREE_LIST ? check_list(c, at, v) : check_text(c, at, v);
}

/* ---- loading ---- */

/* Keeps the first line that libcyaml says. */
__attribute__((format(printf, 3, 0))) static void keep_first(cyaml_log_t level, void *context,
							     const char *fmt, va_list args)
{
	struct strbuf *said = context;
	(void)level;
	if (!said->length)
		strbuf_vprintf(said, fmt, args);
}

static cyaml_config_t config_for(struct strbuf *said)
{
	return (cyaml_config_t){ .log_fn = said ? keep_first : NULL,
				 .log_ctx = said,
				 .mem_fn = cyaml_mem,
				 .log_level = CYAML_LOG_ERROR,
				 .flags = CYAML_CFG_NO_ALIAS };
}

int raw_load(const char *text, size_t length, const struct tree_node *tree,
	     struct raw_experiment **into, struct error *err)
{
	struct check c = { .err = err };
	struct schema s;
	SCOPED(strbuf_release) struct strbuf said = { 0 };
	schema_for(tree, &s);
	strbuf_puts(&c.path, "");
	int failed = check_value(&c, tree, &s.top);
	strbuf_release(&c.path);
	if (failed)
		return -1;
	cyaml_config_t config = config_for(&said);
	cyaml_data_t *data = NULL;
	cyaml_err_t code =
		cyaml_load_data((const uint8_t *)text, length, &config, &s.top, &data, NULL);
	if (code != CYAML_OK)
		return error_set(err, EXIT_USAGE, "it cannot be loaded: %s: %s",
				 cyaml_strerror(code), strbuf_text(&said));
	*into = data ? data : cyaml_mem(NULL, NULL, sizeof **into);
	if (!data)
		memset(*into, 0, sizeof **into);
	return 0;
}

void raw_free(struct raw_experiment *raw, const struct tree_node *tree)
{
	struct schema s;
	schema_for(tree, &s);
	cyaml_config_t config = config_for(NULL);
	if (raw)
		cyaml_free(&config, &s.top, raw, 0);
}
