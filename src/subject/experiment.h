/* An experiment with a database: its tables, queries, and how they are executed. From a YAML file
 * or built in. */
#ifndef TARE_SUBJECT_EXPERIMENT_H
#define TARE_SUBJECT_EXPERIMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"
#include "subject/dbms/dbms.h"

enum experiment_scenario {
	SCENARIO_EXHAUSTIVE, /* every cardinality */
	SCENARIO_ONEPASS,    /* where the plan is not that of the next higher one */
};
enum experiment_order { ORDER_BY_CARDINALITY, ORDER_BY_QUERY, ORDER_SHUFFLED };

struct experiment_column {
	char *name;
	enum column_kind kind;
	uint32_t length;   /* of texts */
	uint64_t distinct; /* values are 0 to this - 1; 0: as many as rows */
	bool serial;	   /* 1, 2, 3, ... : the row's number; after `distinct` again from 1 */
	uint64_t repeat;   /* so many rows in succession have one value; 0: 1 */
	bool primary, index;
	double nulls;	  /* share of NULL */
	char **words;	  /* texts are chosen from these (ended by NULL); NULL: made up */
	bool ranged;	  /* from and to are given; of a serial one, from alone */
	int64_t from, to; /* of numbers and dates (days since 1970), both included */
	/* Its value is that of a column of another table (declared before; columns that refer to
	 * the same table take it from the same row there) or of a column before it in the same row
	 * (of is then its own table); add_from to add_to are added. NULL: neither. */
	const struct experiment_table *of;
	size_t of_column;
	double within; /* of the first share of its rows; 0: of all. The same in columns that refer
			* to the same table. */
	int64_t add_from, add_to;
};

struct experiment_table {
	char *name;
	uint64_t rows; /* the most; of the one that varies, the largest cardinality */
	uint64_t seed;
	ARRAY(struct experiment_column) columns;
	ARRAY(char *) indexes; /* of several columns: "a, b" */
	bool varies;
};

struct experiment_query {
	char *name, *sql;
};

struct experiment_server {
	char *data, *start, *stop, *user;
	bool make;
	char **settings; /* ended by NULL; or NULL */
};

struct experiment {
	char *name, *text; /* text: the file's, or the built-in's as a file would have it */
	char *url;	   /* NULL: from the command line, or the server's own */
	char *dbms;	   /* of `server`: "postgresql", ...; NULL: by the URL */
	char *driver_file;
	char **settings; /* statements for each connection, ended by NULL; or NULL */
	struct experiment_server server; /* all NULL: not ours to start */
	/* Columns may point at them, so that none can be added later. */
	ARRAY(struct experiment_table) tables; /* none: they are there already */
	ARRAY(uint64_t) cardinalities;	       /* descending; none: nothing varies */
	ARRAY(struct experiment_query) queries;
	enum experiment_scenario scenario;
	enum experiment_order order;
	uint32_t executions; /* of each Q@C; 10 */
	bool cold;
	uint64_t time_limit_ns; /* 20 min */
	uint64_t seed;
};

#define EXPERIMENT_MOST (1u << 20) /* bytes of a file */

/* From a file's text. Errors (EXIT_USAGE) name the line, the key and what was expected. relative:
 * directory of paths in it. */
int experiment_parse(const char *text, size_t length, const char *relative, struct experiment *into,
		     struct error *err);
/* Of statements alone, on tables that are there. Those without SQL are refused. */
int experiment_of_statements(const char *const *sql, size_t count, struct experiment *into,
			     struct error *err);
/* "quick", "onepass", "tpch" (scale: 1 is 6 M rows of lineitem; 0: 0.01). NULL-terminated names. */
extern const char *const experiment_names[];
int experiment_builtin(const char *name, double scale, struct experiment *into, struct error *err);
void experiment_release(struct experiment *e);

/* The rows of a table by its seed: the same for ever, whatever the DBMS. Row n does not depend on
 * how many there are. */
struct table_rows;
struct table_rows *table_rows_open(const struct experiment_table *t, uint64_t rows);
bool table_rows_next(void *rows, const char **values); /* a dbms_row_fn */
void table_rows_close(struct table_rows *r);

/* The column whose value in row n (from 1) is n, whole numbers without NULL; NULL: there is none.
 * So the first rows can be told from the others by SQL. */
const char *table_numbered(const struct experiment_table *t);

/* CREATE TABLE of it, for this DBMS; the caller frees. name: NULL for its own. */
char *table_create_sql(const struct experiment_table *t, const char *name, const struct dbms *d);
/* CREATE INDEX of its i-th, from 0 on; NULL: it has no more. */
char *table_index_sql(const struct experiment_table *t, size_t i, const char *name);

#endif
