/* An experiment with a database: its tables, its queries, and how to execute them. It comes from a
 * YAML file or is built in. */
#ifndef TARE_SUBJECT_EXPERIMENT_H
#define TARE_SUBJECT_EXPERIMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"
#include "subject/dbms/dbms.h"

enum experiment_scenario {
	SCENARIO_EXHAUSTIVE, /* every cardinality */
	SCENARIO_ONEPASS,    /* only those whose plan differs from that of the next higher one */
};
enum experiment_order { ORDER_BY_CARDINALITY, ORDER_BY_QUERY, ORDER_SHUFFLED };

struct experiment_column {
	char *name;
	enum column_kind kind;
	uint32_t length;   /* of texts */
	uint64_t distinct; /* values are 0 to this - 1; 0: as many as rows */
	bool serial; /* 1, 2, 3, ...: the number of the row; begins again at 1 after `distinct` */
	uint64_t repeat; /* this many consecutive rows have the same value; 0: 1 */
	bool primary, index;
	double nulls;	  /* share of NULL */
	char **words;	  /* texts are chosen from these (ends with NULL); NULL: generated */
	bool ranged;	  /* from and to are given; for a serial column only from */
	int64_t from, to; /* of numbers and dates (days since 1970), inclusive */
	/* Its value is that of a column of another table declared before (columns that refer to the
	 * same table use the same row there), or of an earlier column in the same row (then `of` is
	 * its own table), plus add_from to add_to. NULL: neither. */
	const struct experiment_table *of;
	size_t of_column;
	double within; /* refers only to the first share of the rows; 0: to all. It is the same in
			  columns that refer to the same table. */
	int64_t add_from, add_to;
};

struct experiment_table {
	char *name;
	uint64_t rows; /* at most; of the variable table, the largest cardinality */
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
	char **settings; /* ends with NULL; or NULL */
};

struct experiment {
	char *name, *text; /* text: of the file, or of the built-in experiment as a file */
	char *url;	   /* NULL: from the command line, or the server's own */
	char *dbms;	   /* of `server`: "postgresql", ...; NULL: by the URL */
	char *driver_file;
	char **settings; /* statements for each connection, ends with NULL; or NULL */
	struct experiment_server server; /* all NULL: tare does not start it */
	/* Columns may point into this array, so nothing may be added later. */
	ARRAY(struct experiment_table) tables; /* empty: they already exist */
	ARRAY(uint64_t) cardinalities;	       /* descending; empty: nothing varies */
	ARRAY(struct experiment_query) queries;
	enum experiment_scenario scenario;
	enum experiment_order order;
	uint32_t executions; /* of each Q@C; 10 */
	bool cold;
	uint64_t time_limit_ns; /* 20 min */
	uint64_t seed;
};

#define EXPERIMENT_MOST (1u << 20) /* bytes of a file */

/* Parses the text of a file. Errors (EXIT_USAGE) name the line, the key and what was expected.
 * relative: the directory that paths in it start from. */
int experiment_parse(const char *text, size_t length, const char *relative, struct experiment *into,
		     struct error *err);
/* Makes an experiment of statements on existing tables. Refuses statements without SQL. */
int experiment_of_statements(const char *const *sql, size_t count, struct experiment *into,
			     struct error *err);
/* "quick", "onepass", "tpch" (scale 1: 6 M rows of lineitem; 0: 0.01). Names end with NULL. */
extern const char *const experiment_names[];
int experiment_builtin(const char *name, double scale, struct experiment *into, struct error *err);
void experiment_release(struct experiment *e);

/* The rows of a table by its seed. They never change, whatever the DBMS or version, and row n does
 * not depend on how many there are. */
struct table_rows;
struct table_rows *table_rows_open(const struct experiment_table *t, uint64_t rows);
bool table_rows_next(void *rows, const char **values); /* a dbms_row_fn */
void table_rows_close(struct table_rows *r);

/* The column whose value in row n (from 1) is n, an integer without NULLs; NULL: there is none.
 * With it, SQL can select the first rows. */
const char *table_numbered(const struct experiment_table *t);

/* CREATE TABLE for this DBMS. The caller frees it. name NULL: its own. */
char *table_create_sql(const struct experiment_table *t, const char *name, const struct dbms *d);
/* CREATE INDEX for its i-th index, from 0; NULL: it has no more. */
char *table_index_sql(const struct experiment_table *t, size_t i, const char *name);

#endif
