/* Executions of queries that were measured elsewhere, from CSV (documented in tare-query(1)): a row
 * for each, with the columns query, cardinality, execution, measured_ns and any other of
 * query_execution_fields, in any order. A time may be in ticks instead, its column's name then ends
 * with _ticks and not _ns. The column dropped_by, which an export has, is passed over. */
#ifndef TARE_IMPORT_QUERIES_H
#define TARE_IMPORT_QUERIES_H

#include "base/error.h"
#include "record/query.h"

#define IMPORTED_QUERIES_MOST 1000000 /* a query's number */

/* into is zeroed; tick_ns 0: 10 ms, as in the paper. All or nothing: an error (EXIT_USAGE) names
 * the line and the column. Measures whose column is absent or whose cell is empty are missing.
 * Where it is not told how many processes a role has, there is one when a measure of it is known;
 * and where it is not told which process evaluates, it is always the same one. */
int imported_queries_read(const char *text, size_t length, uint64_t tick_ns, struct query_run *into,
			  struct error *err);

#endif
