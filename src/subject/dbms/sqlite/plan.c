/* Rows of EXPLAIN QUERY PLAN. Their words are not fixed by SQLite's documentation and changed over
 * the years ("SCAN TABLE t AS x" until 3.35, then "SCAN x"); what is not known here stays the
 * node's own text, so that plans differ where the texts do. */
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "subject/dbms/plan.h"

struct span {
	const char *at;
	size_t length;
};

static bool take(struct span *s, const char *prefix)
{
	size_t length = strlen(prefix);
	if (s->length < length || memcmp(s->at, prefix, length) != 0)
		return false;
	s->at += length;
	s->length -= length;
	return true;
}

static bool take_end(struct span *s, const char *suffix)
{
	size_t length = strlen(suffix);
	if (s->length < length || memcmp(s->at + s->length - length, suffix, length) != 0)
		return false;
	s->length -= length;
	return true;
}

/* What is before the first such text, which is taken off as well; all where there is none. */
static struct span take_until(struct span *s, const char *text)
{
	const char *found = memmem(s->at, s->length, text, strlen(text));
	struct span before = { s->at, found ? (size_t)(found - s->at) : s->length };
	size_t gone = found ? before.length + strlen(text) : s->length;
	s->at += gone;
	s->length -= gone;
	return before;
}

static void set(json_t *node, const char *key, struct span value)
{
	if (value.length)
		json_object_set_new(node, key, plan_string(value.at, value.length));
}

static void set_detail(json_t *node, const char *key, struct span value)
{
	json_t *details = json_object_get(node, "details");
	if (!details) {
		details = json_object();
		json_object_set_new(node, "details", details);
	}
	json_object_set_new(details, key, plan_string(value.at, value.length));
}

/* "(a=? AND b>?)" at the end: from the parenthesis that the last one closes. */
static struct span take_conditions(struct span *s)
{
	if (!s->length || s->at[s->length - 1] != ')')
		return (struct span){ 0 };
	size_t open = s->length, depth = 0;
	do {
		open--;
		depth += s->at[open] == ')';
		depth -= s->at[open] == '(';
	} while (open && depth);
	if (depth || !open || s->at[open - 1] != ' ')
		return (struct span){ 0 };
	struct span inner = { s->at + open + 1, s->length - open - 2 };
	s->length = open - 1;
	return inner;
}

/* "COVERING INDEX i", "AUTOMATIC PARTIAL COVERING INDEX", "INTEGER PRIMARY KEY" */
static void set_access(json_t *node, struct span how)
{
	struct span kind = how;
	const char *word = memmem(how.at, how.length, "INDEX", 5);
	if (word && (word == how.at || word[-1] == ' ')) {
		kind.length = (size_t)(word - how.at) + 5;
		struct span name = { word + 5, how.length - kind.length };
		if (take(&name, " "))
			set(node, "index", name);
	}
	set_detail(node, "using", kind);
}

/* "SCAN t", "SEARCH t AS x USING INDEX i (a=?) LEFT-JOIN" */
static json_t *access_node(const char *what, struct span rest)
{
	json_t *node = plan_node(what, strlen(what));
	take(&rest, "TABLE ");
	if (take_end(&rest, " LEFT-JOIN"))
		json_object_set_new(node, "join", json_string("left"));
	else if (take_end(&rest, " RIGHT-JOIN"))
		json_object_set_new(node, "join", json_string("right"));
	struct span text = take_conditions(&rest);
	if (text.length) {
		json_t *conditions = json_array();
		while (text.length) {
			struct span one = take_until(&text, " AND ");
			json_array_append_new(conditions, plan_string(one.at, one.length));
		}
		json_object_set_new(node, "conditions", conditions);
	}
	struct span table = rest;
	if (memmem(rest.at, rest.length, " VIRTUAL TABLE INDEX ", 21)) {
		table = take_until(&rest, " VIRTUAL TABLE INDEX ");
		set_detail(node, "virtual", rest);
	} else {
		table = take_until(&rest, " USING ");
		if (rest.length)
			set_access(node, rest);
	}
	struct span relation = take_until(&table, " AS ");
	set(node, "relation", relation);
	set(node, "alias", table);
	return node;
}

/* What is told by its first words, then what it is about. */
static const struct {
	const char *begins, *key;
} forms[] = {
	{ "USE TEMP B-TREE FOR ", "for" },
	{ "MATERIALIZE ", "name" },
	{ "CO-ROUTINE ", "name" },
	{ "CORRELATED SCALAR SUBQUERY ", "number" },
	{ "SCALAR SUBQUERY ", "number" },
	{ "CORRELATED LIST SUBQUERY ", "number" },
	{ "REUSE LIST SUBQUERY ", "number" },
	{ "LIST SUBQUERY ", "number" },
	{ "INDEX ", "number" },
};

static json_t *node_of(const char *detail)
{
	struct span text = { detail, strlen(detail) };
	bool constant = strstr(detail, "CONSTANT ROW") || strstr(detail, "-ROW VALUES CLAUSE");
	if (!constant && take(&text, "SCAN "))
		return access_node("SCAN", text);
	if (!constant && take(&text, "SEARCH "))
		return access_node("SEARCH", text);
	if (take(&text, "BLOOM FILTER ON "))
		return access_node("BLOOM FILTER", text);
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (take(&text, forms[i].begins)) {
			size_t length = strlen(forms[i].begins) - 1;
			if (strcmp(forms[i].key, "for") == 0)
				length -= strlen(" FOR");
			json_t *node = plan_node(forms[i].begins, length);
			set_detail(node, forms[i].key, text);
			return node;
		}
	return plan_node(text.at, text.length);
}

int plan_of_sqlite(const struct sqlite_plan_row *rows, size_t count, struct query_plan *into,
		   struct error *err)
{
	FREED json_t **nodes = xcalloc(count + 1, sizeof(void *)); /* by row; the tree holds them */
	json_t *root = plan_node("QUERY PLAN", strlen("QUERY PLAN"));
	for (size_t i = 0; i < count; i++) {
		json_t *parent = rows[i].parent ? NULL : root;
		for (size_t j = i; !parent && j-- > 0;)
			if (rows[j].id == rows[i].parent)
				parent = nodes[j];
		if (!parent) {
			json_decref(root);
			return error_set(
				err, EXIT_ENVIRONMENT,
				"SQLite's plan is not understood: row %d is beneath row %d, which is not there",
				rows[i].id, rows[i].parent);
		}
		nodes[i] = node_of(rows[i].detail);
		plan_adopt(parent, nodes[i]);
	}
	plan_seal(root, into);
	return 0;
}
