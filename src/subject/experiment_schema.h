/* What an experiment's file may contain, and the structs it is loaded into before it is checked
 * (experiment_file.c). Private to the experiment's files. */
#ifndef TARE_SUBJECT_EXPERIMENT_SCHEMA_H
#define TARE_SUBJECT_EXPERIMENT_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "subject/yaml_tree.h"

struct raw_column {
	char *name, *references, *within, *from, *to, *nulls;
	int type;
	uint32_t length;
	uint64_t distinct, repeat;
	bool serial, primary, index;
	char **words;
	unsigned words_count;
	int64_t *add; /* two */
	unsigned add_count;
};

struct raw_table {
	char *name;
	uint64_t rows, seed;
	bool varies, scales;
	struct raw_column *columns;
	unsigned columns_count;
	char **indexes;
	unsigned indexes_count;
};

struct raw_query {
	char *name, *sql;
};

struct raw_server {
	char *dbms, *data, *start, *stop, *user;
	bool make;
	char **settings;
	unsigned settings_count;
};

struct raw_steps {
	uint64_t from, to, max, step;
};

struct raw_generate {
	uint32_t count, joins, selections;
	uint64_t seed;
	char *aggregates;
};

struct raw_experiment {
	char *name, *url, *driver, *time_limit, *scale;
	int scenario, order, cache;
	uint32_t executions;
	uint64_t seed;
	char **settings;
	unsigned settings_count;
	struct raw_server *server;
	uint64_t *cardinalities; /* one of these two */
	unsigned cardinalities_count;
	struct raw_steps *steps;
	struct raw_table *tables;
	unsigned tables_count;
	struct raw_query *queries; /* one of these two */
	unsigned queries_count;
	char **texts;
	unsigned texts_count;
	char **query_files;
	unsigned query_files_count;
	struct raw_generate *generate;
};

/* Checks the tree (keys, types, required members) and loads the text that it was made from. What is
 * not given is 0 or NULL. */
int raw_load(const char *text, size_t length, const struct tree_node *tree,
	     struct raw_experiment **into, struct error *err);
/* tree is the one that it was loaded with. */
void raw_free(struct raw_experiment *raw, const struct tree_node *tree);

/* The error "line N: PATH: ..." */
int tree_error(const struct tree_node *tree, const char *path, struct error *err, const char *fmt,
	       ...) __attribute__((format(printf, 4, 5)));

#endif
