/* A YAML text as a tree that remembers lines, for errors that say where. Strict, since people write
 * it: no aliases (so nothing grows or goes round), one document, keys that are plain words and
 * occur once, a bounded depth and size. */
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
	char *key;     /* in a map; else NULL */
	char *text;    /* of TREE_TEXT */
	ARRAY(struct tree_node) children;
};

/* Errors (EXIT_USAGE) begin with "line N: ". */
int tree_parse(const char *text, size_t length, struct tree_node *root, struct error *err);
void yaml_tree_release(struct tree_node *root);

/* NULL: there is none, or it is no map. */
const struct tree_node *tree_child(const struct tree_node *map, const char *key);
/* By a path like "tables[0].rows"; NULL: there is none. */
const struct tree_node *tree_find(const struct tree_node *root, const char *path);
/* Of what a path leads to, or of the nearest there is above it. */
uint32_t tree_line(const struct tree_node *root, const char *path);

#endif
