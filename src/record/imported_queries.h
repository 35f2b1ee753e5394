/* Executions of queries that were measured elsewhere, from CSV (documented in tare-query(1)): a row
 * for each, with the columns query, cardinality, execution, measured_ns and any of the measures. */
#ifndef TARE_RECORD_IMPORTED_QUERIES_H
#define TARE_RECORD_IMPORTED_QUERIES_H

#include "base/error.h"
#include "record/query.h"

/* into is zeroed. All or nothing: an error (EXIT_USAGE) names the line and the column. Measures
 * whose column is absent or whose cell is empty are missing. */
int imported_queries_read(const char *text, size_t length, uint64_t tick_ns, struct query_run *into,
			  struct error *err);

#endif
