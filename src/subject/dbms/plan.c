#include "subject/dbms/plan.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

/* ---- plans that are mere text ---- */

#define DEEPEST 200 /* what is beneath that is beside it: trees are printed by recursion */

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

/* The length of the number at s: "12", "0.5", "1e-07", "35.50" */
static size_t number_length(const char *s)
{
	size_t n = strspn(s, "0123456789");
	if (n && s[n] == '.' && isdigit((unsigned char)s[n + 1]))
		n += 1 + strspn(s + n + 1, "0123456789");
	size_t exponent = n;
	if (n && (s[n] == 'e' || s[n] == 'E')) {
		exponent += 1 + (s[n + 1] == '-' || s[n + 1] == '+');
		size_t digits = strspn(s + exponent, "0123456789");
		n = digits ? exponent + digits : n;
	}
	return n;
}

void plan_drop_numbers(char *text)
{
	char *to = text;
	bool name = false;
	for (const char *from = text; *from;) {
		size_t n = name ? 0 : number_length(from);
		if (n && !in_name(from[n])) {
			*to++ = '#';
			from += n;
			continue;
		}
		name = in_name(*from);
		*to++ = *from++;
	}
	*to = '\0';
}

static size_t indent_of(const char *line, size_t length)
{
	size_t indent = 0;
	while (indent < length && (line[indent] == ' ' || line[indent] == '\t'))
		indent++;
	return indent;
}

int plan_of_text(const char *text, struct query_plan *into, struct error *err)
{
	/* the nodes that a line may be beneath, and their indentations */
	json_t *above[DEEPEST] = { plan_node("QUERY PLAN", strlen("QUERY PLAN")) };
	size_t indents[DEEPEST] = { 0 };
	size_t depth = 0, nodes = 0;
	for (size_t length; *text; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		size_t end = length, indent = indent_of(text, length);
		while (end > indent && isspace((unsigned char)text[end - 1]))
			end--;
		if (end == indent)
			continue;
		while (depth && indents[depth] >= indent)
			depth--;
		json_t *node = plan_node(text + indent, end - indent);
		plan_adopt(above[depth], node);
		nodes++;
		if (depth + 1 < DEEPEST) {
			above[++depth] = node;
			indents[depth] = indent;
		}
	}
	if (!nodes) {
		json_decref(above[0]);
		return error_set(err, EXIT_ENVIRONMENT, "the server's plan is empty");
	}
	plan_seal(above[0], into);
	return 0;
}

/* ---- all of them ---- */

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
