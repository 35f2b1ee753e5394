/* EXPLAIN FORMAT=JSON of MariaDB and MySQL: an object for each thing done, its parts as members,
 * what it works on as members that are objects or lists of objects. Those become children, texts
 * become details, numbers are left out: they are all estimates. */
#include "subject/dbms/mariadb/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "base/text.h"

/* Estimates that are written as texts, what was only considered, and what ANALYZE adds. */
static bool is_passing(const char *name)
{
	static const char *const names[] = { "possible_keys", "buffer_size", "cost",
					     "filtered",      "loops",	     "rows",
					     "state",	      "cost_info",   "data_read_per_join" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return strncmp(name, "r_", 2) == 0 || strncmp(name, "rows_", 5) == 0;
}

/* ---- tables behind aliases ---- */

/* Reads `name` at *at and moves behind it; NULL: there is none. The caller frees. */
static char *take_name(const char **at)
{
	SCOPED(strbuf_release) struct strbuf name = { 0 };
	const char *c = *at;
	if (*c != '`')
		return NULL;
	for (c++; *c && (*c != '`' || c[1] == '`'); c++) {
		c += *c == '`';
		strbuf_putc(&name, *c);
	}
	if (*c != '`')
		return NULL;
	*at = c + 1;
	return strbuf_detach(&name);
}

/* An alias that stands for one table here and another there tells nothing: null. */
static void note_alias(json_t *tables, const char *alias, const char *table)
{
	json_t *known = json_object_get(tables, alias);
	if (!known)
		json_object_set_new(tables, alias, json_string(table));
	else if (!json_is_string(known) || strcmp(json_string_value(known), table) != 0)
		json_object_set_new(tables, alias, json_null());
}

/* `database`.`table` `alias`, the only way in which names stand side by side. Columns have three
 * parts. */
static void take_chain(json_t *tables, const char **at)
{
	FREED char *first = take_name(at), *table = NULL, *alias = NULL;
	if (first && **at == '.') {
		(*at)++;
		table = take_name(at);
	}
	if (table && **at == ' ') {
		const char *after = *at + 1;
		alias = take_name(&after);
		if (alias) {
			note_alias(tables, alias, table);
			*at = after;
		}
	}
	while (!alias && first && **at == '.') { /* of a column */
		(*at)++;
		FREED char *more = take_name(at);
		if (!more)
			break;
	}
	if (!first)
		(*at)++;
}

static const char *behind_text(const char *at)
{
	for (at++; *at && *at != '\''; at++)
		if (*at == '\\' && at[1])
			at++;
	return *at ? at + 1 : at;
}

/* ---- nodes ---- */

static json_t *node_of(const char *name, const json_t *object, const json_t *tables);

static json_t *member(json_t *node, const char *name, json_t *(*make)(void))
{
	json_t *found = json_object_get(node, name);
	if (!found) {
		json_object_set_new(node, name, make());
		found = json_object_get(node, name);
	}
	return found;
}

static void add_detail(json_t *node, const char *name, const char *text)
{
	json_object_set_new(member(node, "details", json_object), name, json_string(text));
}

static void add_text(json_t *node, const char *object, const char *name, const char *text,
		     const json_t *tables)
{
	bool table = strcmp(object, "table") == 0;
	if (strcmp(name, "table_name") == 0) {
		if (*text == '<') {
			/* one that lives only as long as the query, as <derived2> */
			add_detail(node, "table", text);
		} else {
			const char *own = json_string_value(json_object_get(tables, text));
			json_object_set_new(node, "relation", json_string(own ? own : text));
			if (own && strcmp(own, text) != 0)
				json_object_set_new(node, "alias", json_string(text));
		}
	} else if (strcmp(name, "access_type") == 0 && table) {
		json_object_set_new(node, "node", json_string(text));
	} else if (strcmp(name, "key") == 0) {
		json_object_set_new(node, "index", json_string(text));
	} else if (text_ends_with(name, "_condition")) {
		SCOPED(strbuf_release) struct strbuf line = { 0 };
		if (strcmp(name, "attached_condition") != 0)
			strbuf_printf(&line, "%s: ", name);
		strbuf_puts(&line, text);
		json_array_append_new(member(node, "conditions", json_array),
				      json_string(line.text));
	} else {
		add_detail(node, name, text);
	}
}

/* {"table": {...}} is that table. */
static json_t *element_of(const char *list, const json_t *element, const json_t *tables)
{
	const char *name = json_object_iter_key(json_object_iter((json_t *)element));
	const json_t *only = name ? json_object_get(element, name) : NULL;
	if (json_object_size(element) == 1 && json_is_object(only))
		return node_of(name, only, tables);
	return node_of(list, element, tables);
}

static void add_list(json_t *node, const char *name, const json_t *list, const json_t *tables)
{
	json_auto_t *group = json_pack("{s:s}", "node", name);
	SCOPED(strbuf_release) struct strbuf line = { 0 };
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *text = json_string_value(json_array_get(list, i));
		if (text)
			strbuf_printf(&line, "%s%s", line.length ? ", " : "", text);
	}
	if (line.length)
		add_detail(node, name, line.text);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *element = json_array_get(list, i);
		if (json_is_object(element))
			plan_adopt(group, element_of(name, element, tables));
		else if (json_is_array(element))
			add_list(group, name, element, tables);
	}
	json_t *children = json_object_get(group, "children");
	if (strcmp(name, "nested_loop") == 0 && json_array_size(children) == 1)
		plan_adopt(node, json_incref(json_array_get(children, 0))); /* no loop at all */
	else if (children)
		plan_adopt(node, json_incref(group));
}

static json_t *node_of(const char *name, const json_t *object, const json_t *tables)
{
	json_t *node = json_pack("{s:s}", "node", name);
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)object, key, value)
	{
		if (is_passing(key))
			continue;
		if (json_is_object(value))
			plan_adopt(node, node_of(key, value, tables));
		else if (json_is_array(value))
			add_list(node, key, value, tables);
		else if (json_is_string(value))
			add_text(node, name, key, json_string_value(value), tables);
		else if (json_is_boolean(value))
			add_detail(node, key, json_is_true(value) ? "true" : "false");
	}
	return node;
}

int plan_of_mariadb_written(const char *json, const char *written, struct query_plan *into,
			    struct error *err)
{
	json_error_t wrong;
	json_auto_t *said = json_loads(json, 0, &wrong);
	const json_t *block = json_object_get(said, "query_block");
	if (!json_is_object(block))
		return error_set(err, EXIT_ENVIRONMENT, "MariaDB's plan is not understood: %s",
				 said ? "it has no query_block" : wrong.text);
	json_auto_t *tables = json_object();
	while (written && *written) {
		if (*written == '`')
			take_chain(tables, &written);
		else if (*written == '\'')
			written = behind_text(written);
		else
			written++;
	}
	plan_seal(node_of("query_block", block, tables), into);
	return 0;
}

int plan_of_mariadb(const char *json, struct query_plan *into, struct error *err)
{
	return plan_of_mariadb_written(json, NULL, into, err);
}
