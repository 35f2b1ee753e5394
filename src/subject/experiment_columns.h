/* Reads and checks the columns of a table in an experiment. Private to the experiment's files. */
#ifndef TARE_SUBJECT_EXPERIMENT_COLUMNS_H
#define TARE_SUBJECT_EXPERIMENT_COLUMNS_H

#include "subject/experiment.h"
#include "subject/experiment_schema.h"

#define ROWS_MOST UINT64_C(1000000000000)

/* For names of tables and columns, which are written into SQL unquoted. */
bool name_is_plain(const char *name);
#define NAME_RULE "'%.40s' is not a name of letters, digits and _ (at most 48, not a digit first)"

/* path: of the table, for errors. t has its name, rows and seed; earlier tables are complete. */
int columns_read(const struct raw_table *raw, const struct tree_node *tree, const char *path,
		 const struct experiment *e, struct experiment_table *t, struct error *err);

#endif
