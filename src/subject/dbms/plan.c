#include "subject/dbms/plan.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"

void plan_seal(json_t *root, struct query_plan *into)
{
	char *text = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
	into->json = text ? text : xstrdup("{}"); /* NULL: out of memory only */
	into->hash = text_hash(into->json);
	json_decref(root);
}

json_t *plan_string(const char *text, size_t length)
{
	FREED char *copy = xstrndup(text, length), *valid = text_utf8(copy);
	return json_string(valid);
}

json_t *plan_node(const char *what, size_t length)
{
	json_t *node = json_object();
	json_object_set_new(node, "node", plan_string(what, length));
	return node;
}

void plan_adopt(json_t *parent, json_t *child)
{
	json_t *children = json_object_get(parent, "children");
	if (!children) {
		children = json_array();
		json_object_set_new(parent, "children", children);
	}
	json_array_append_new(children, child);
}
