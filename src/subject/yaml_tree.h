/* A YAML text as a tree that remembers lines, so that errors can say where. It is strict, because
 * people write it: no aliases (so nothing can explode or loop), one document, keys that are plain
 * words and occur once, limited depth and size. */
#ifndef TARE_SUBJECT_YAML_TREE_H
#define TARE_SUBJECT_YAML_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

#define TREE_BYTES_MOST (1 << 20)
#define TREE_DEPTH_MOST 16
#define TREE_KEYS_MOST 64 /* of one map */

enum tree_kind { TREE_TEXT, TREE_LIST, TREE_MAP };

struct tree_node {
	enum tree_kind kind;
	uint32_t line; /* from 1; in a map, of its key */
	char *key;     /* in a map; otherwise NULL */
	char *text;    /* of TREE_TEXT */
	ARRAY(struct tree_node) children;
};

/* Errors (EXIT_USAGE) begin with "line N: ". */
int tree_parse(const char *text, size_t length, struct tree_node *root, struct error *err);
void yaml_tree_release(struct tree_node *root);

/* NULL if there is none, or it is not a map. */
const struct tree_node *tree_child(const struct tree_node *map, const char *key);
/* Finds a node by a path like "tables[0].rows"; NULL: there is none. */
const struct tree_node *tree_find(const struct tree_node *root, const char *path);
/* The line of the node at a path, or of the nearest existing node above it. */
uint32_t tree_line(const struct tree_node *root, const char *path);

#endif
