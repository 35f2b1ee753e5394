/* Shared by storing and reading executions of queries. Private to lab/. */
#ifndef TARE_LAB_QUERIES_ROWS_H
#define TARE_LAB_QUERIES_ROWS_H

#include "lab/sqlite.h"

enum queries_table {
	QUERIES_RUN,
	QUERIES_TEXT,
	QUERIES_PLAN,
	QUERIES_EVENT,
	QUERIES_AT,
	QUERIES_EXECUTION,
	QUERIES_TABLES
};
_Static_assert(QUERIES_TABLES == LAB_QUERY_TABLES, "");
extern const struct lab_table queries_tables[QUERIES_TABLES];

/* The id of a Q@C; EXIT_USAGE if the run has none like it. */
int lab_find_query_at(struct lab *lab, int64_t run, uint32_t query, uint64_t cardinality,
		      int64_t *id, struct error *err);

#endif
