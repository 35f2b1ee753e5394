#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "subject/dbms/plan.h"

/* A value of a node's key as text. NULL: it is none of the plan's properties. Texts, lists of them
 * and what is so ("Parallel Aware": true) are; of the numbers only those that are not estimates. */
static char *text_of(const char *key, const json_t *value)
{
	static const char *const numbers[] = { "Workers Planned", "Subplans Removed" };
	struct strbuf text = { 0 };
	size_t i;
	json_t *item;
	if (json_is_string(value))
		return xstrdup(json_string_value(value));
	if (json_is_true(value))
		return xstrdup("true");
	for (i = 0; json_is_integer(value) && i < sizeof numbers / sizeof *numbers; i++)
		if (strcmp(key, numbers[i]) == 0) {
			strbuf_printf(&text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
			return strbuf_detach(&text);
		}
	if (!json_is_array(value))
		return NULL;
	json_array_foreach(value, i, item)
	{
		FREED char *dumped =
			json_is_string(item)
				? xstrdup(json_string_value(item))
				: json_dumps(item, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
		strbuf_printf(&text, "%s%s", i ? ", " : "", dumped ? dumped : "");
	}
	return strbuf_detach(&text);
}

/* Keys that have a place of their own in a canonical node. */
static bool add_named(json_t *node, const json_t *source, const char *key, const char *text)
{
	static const char *const names[][2] = { { "Node Type", "node" },
						{ "Relation Name", "relation" },
						{ "Index Name", "index" } };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(key, names[i][0]) == 0) {
			json_object_set_new(node, names[i][1], json_string(text));
			return true;
		}
	if (strcmp(key, "Join Type") == 0) {
		FREED char *lower = xstrdup(text);
		for (char *at = lower; *at; at++)
			*at = (char)tolower((unsigned char)*at);
		json_object_set_new(node, "join", json_string(lower));
		return true;
	}
	if (strcmp(key, "Alias") == 0) {
		const char *relation = json_string_value(json_object_get(source, "Relation Name"));
		if (!relation || strcmp(relation, text) != 0)
			json_object_set_new(node, "alias", json_string(text));
		return true;
	}
	return false;
}

static void set_unless_empty(json_t *node, const char *key, json_t *value)
{
	if (json_is_object(value) ? json_object_size(value) : json_array_size(value))
		json_object_set_new(node, key, value);
	else
		json_decref(value);
}

static json_t *canonical(const json_t *source)
{
	json_t *node = json_object(), *conditions = json_array(), *details = json_object(),
	       *children = json_array(), *value;
	const char *key;
	size_t i;
	json_object_foreach((json_t *)source, key, value)
	{
		FREED char *text = strcmp(key, "Plans") == 0 ? NULL : text_of(key, value);
		if (!text || add_named(node, source, key, text))
			continue;
		if (text_ends_with(key, "Cond") || text_ends_with(key, "Filter") ||
		    text_ends_with(key, "Condition")) {
			FREED char *line = xprintf("%s: %s", key, text);
			json_array_append_new(conditions, json_string(line));
		} else {
			json_object_set_new(details, key, json_string(text));
		}
	}
	json_array_foreach(json_object_get(source, "Plans"), i, value)
		json_array_append_new(children, canonical(value));
	set_unless_empty(node, "conditions", conditions);
	set_unless_empty(node, "details", details);
	set_unless_empty(node, "children", children);
	return node;
}

/* [{"Plan": {...}}]: more than one where a rule made several queries of it. */
int plan_of_postgresql(const char *json, struct query_plan *into, struct error *err)
{
	json_error_t why;
	FREED char *valid = text_utf8(json); /* a database of SQL_ASCII may hold anything */
	json_auto_t *told = json_loads(valid, 0, &why), *plans = json_array();
	json_t *one, *root = NULL;
	size_t i;
	json_array_foreach(told, i, one)
	{
		json_t *plan = json_object_get(one, "Plan");
		if (!json_is_string(json_object_get(plan, "Node Type")))
			break;
		json_array_append_new(plans, canonical(plan));
	}
	size_t count = json_array_size(plans);
	bool understood = told && count && count == json_array_size(told);
	if (understood && count == 1)
		root = json_incref(json_array_get(plans, 0));
	else if (understood)
		root = json_pack("{s:s, s:O}", "node", "Queries", "children", plans);
	if (!root)
		return error_set(err, EXIT_ENVIRONMENT, "PostgreSQL's plan is not understood: %s",
				 told ? "it has no plan node" : why.text);
	plan_seal(root, into);
	return 0;
}
