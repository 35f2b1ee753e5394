#include "subject/yaml_tree.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/text.h"

struct builder {
	yaml_parser_t parser;
	struct error *err;
};

static uint32_t line_of(yaml_mark_t mark)
{
	return (uint32_t)mark.line + 1;
}

static int next_event(struct builder *b, yaml_event_t *event)
{
	if (yaml_parser_parse(&b->parser, event))
		return 0;
	const char *problem = b->parser.problem ? b->parser.problem : "it cannot be read";
	return error_set(b->err, EXIT_USAGE, "line %u: this is not YAML: %s",
			 line_of(b->parser.problem_mark), problem);
}

static int read_node(struct builder *b, const yaml_event_t *event, int depth,
		     struct tree_node *into);

static int read_list(struct builder *b, int depth, struct tree_node *into)
{
	for (;;) {
		SCOPED(yaml_event_delete) yaml_event_t event = { 0 };
		if (next_event(b, &event))
			return -1;
		if (event.type == YAML_SEQUENCE_END_EVENT)
			return 0;
		array_push(&into->children, (struct tree_node){ 0 });
		if (read_node(b, &event, depth + 1,
			      &into->children.items[into->children.count - 1]))
			return -1;
	}
}

static int read_map(struct builder *b, int depth, struct tree_node *into)
{
	for (;;) {
		SCOPED(yaml_event_delete) yaml_event_t event = { 0 }, value = { 0 };
		if (next_event(b, &event))
			return -1;
		if (event.type == YAML_MAPPING_END_EVENT)
			return 0;
		uint32_t line = line_of(event.start_mark);
		if (event.type != YAML_SCALAR_EVENT)
			return error_set(b->err, EXIT_USAGE, "line %u: a key must be a word", line);
		const char *key = (const char *)event.data.scalar.value;
		const struct tree_node *before = tree_child(into, key);
		if (before)
			return error_set(b->err, EXIT_USAGE,
					 "line %u: '%s' is given twice, first in line %u", line,
					 DISPLAYED(key, 64), before->line);
		if (into->children.count == TREE_KEYS_MOST)
			return error_set(b->err, EXIT_USAGE, "line %u: too many keys", line);
		array_push(&into->children,
			   (struct tree_node){ .key = xstrdup(key), .line = line });
		if (next_event(b, &value) ||
		    read_node(b, &value, depth + 1,
			      &into->children.items[into->children.count - 1]))
			return -1;
	}
}

static int read_node(struct builder *b, const yaml_event_t *event, int depth,
		     struct tree_node *into)
{
	uint32_t line = line_of(event->start_mark);
	if (!into->line)
		into->line = line;
	if (depth > TREE_DEPTH_MOST)
		return error_set(b->err, EXIT_USAGE, "line %u: nested too deeply", line);
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		into->kind = TREE_TEXT;
		into->text = xstrdup((const char *)event->data.scalar.value);
		if (strlen(into->text) != event->data.scalar.length)
			return error_set(b->err, EXIT_USAGE, "line %u: a text with a zero byte",
					 line);
		return 0;
	case YAML_SEQUENCE_START_EVENT:
		into->kind = TREE_LIST;
		return read_list(b, depth, into);
	case YAML_MAPPING_START_EVENT:
		into->kind = TREE_MAP;
		return read_map(b, depth, into);
	case YAML_ALIAS_EVENT:
		error_set(b->err, EXIT_USAGE, "line %u: aliases (*name) are not supported", line);
		return error_hint(b->err, "write out what it stands for");
	default:
		return error_set(b->err, EXIT_USAGE, "line %u: this is not YAML", line);
	}
}

static int read_document(struct builder *b, struct tree_node *root)
{
	bool seen = false;
	for (;;) {
		SCOPED(yaml_event_delete) yaml_event_t event = { 0 };
		if (next_event(b, &event))
			return -1;
		yaml_event_type_t type = event.type;
		if (type == YAML_STREAM_END_EVENT)
			return seen ? 0 : error_set(b->err, EXIT_USAGE, "there is nothing in it");
		if (type == YAML_DOCUMENT_START_EVENT && seen)
			return error_set(b->err, EXIT_USAGE, "line %u: a second document begins",
					 line_of(event.start_mark));
		if (type == YAML_STREAM_START_EVENT || type == YAML_DOCUMENT_START_EVENT ||
		    type == YAML_DOCUMENT_END_EVENT)
			continue;
		seen = true;
		if (read_node(b, &event, 0, root))
			return -1;
	}
}

int tree_parse(const char *text, size_t length, struct tree_node *root, struct error *err)
{
	struct builder b = { .err = err };
	/* libyaml would guess at other encodings, and does not say in which line */
	uint32_t line = 1;
	if (length > TREE_BYTES_MOST)
		return error_set(err, EXIT_USAGE, "it is larger than 1 MiB");
	for (size_t i = 0, n; i < length; i += n) {
		n = text[i] ? utf8_length(text + i, length - i) : 0;
		if (!n)
			return error_set(err, EXIT_USAGE, "line %u: %s", line,
					 text[i] ? "invalid UTF-8" : "a zero byte");
		line += text[i] == '\n';
	}
	if (!yaml_parser_initialize(&b.parser))
		return error_set(err, EXIT_ENVIRONMENT, "out of memory");
	yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&b.parser, (const unsigned char *)text, length);
	struct tree_node made = { 0 };
	int failed = read_document(&b, &made);
	yaml_parser_delete(&b.parser);
	if (failed)
		yaml_tree_release(&made);
	else
		*root = made;
	return failed;
}

void yaml_tree_release(struct tree_node *root)
{
	for (size_t i = 0; i < root->children.count; i++)
		yaml_tree_release(&root->children.items[i]);
	array_release(&root->children);
	xfree(root->key);
	xfree(root->text);
	root->key = root->text = NULL;
}

static const struct tree_node *child_of(const struct tree_node *map, const char *key, size_t length)
{
	for (size_t i = 0; map && map->kind == TREE_MAP && i < map->children.count; i++) {
		const struct tree_node *c = &map->children.items[i];
		if (strncmp(c->key, key, length) == 0 && !c->key[length])
			return c;
	}
	return NULL;
}

const struct tree_node *tree_child(const struct tree_node *map, const char *key)
{
	return child_of(map, key, strlen(key));
}

/* nearest: the last on the way that there is. */
static const struct tree_node *walk(const struct tree_node *root, const char *path,
				    const struct tree_node **nearest)
{
	const struct tree_node *at = root;
	*nearest = root;
	while (*path) {
		if (*path == '[') {
			char *end;
			size_t i = strtoul(path + 1, &end, 10);
			bool there = at->kind == TREE_LIST && i < at->children.count;
			at = there ? &at->children.items[i] : NULL;
			path = end + (*end == ']');
		} else {
			path += *path == '.';
			size_t n = strcspn(path, ".[");
			at = child_of(at, path, n);
			path += n;
		}
		if (!at)
			return NULL;
		*nearest = at;
	}
	return at;
}

const struct tree_node *tree_find(const struct tree_node *root, const char *path)
{
	const struct tree_node *nearest;
	return walk(root, path, &nearest);
}

uint32_t tree_line(const struct tree_node *root, const char *path)
{
	const struct tree_node *nearest;
	walk(root, path, &nearest);
	return nearest->line;
}
