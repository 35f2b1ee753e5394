/* Imports executions of queries that were measured elsewhere, from CSV (documented in
 * tare-query(1)). It has a row for each execution, with the columns query, cardinality, execution,
 * measured_ns and any other of query_execution_fields, in any order. A time may be in ticks; then
 * the name of its column ends with _ticks instead of _ns. The column dropped_by, which an export
 * has, is ignored. */
#ifndef TARE_IMPORT_QUERIES_H
#define TARE_IMPORT_QUERIES_H

#include "base/error.h"
#include "record/query.h"

#define IMPORTED_QUERIES_MOST 1000000 /* the highest number of a query */

/* into must be zeroed; tick_ns 0: 10 ms, as in the paper. On an error (EXIT_USAGE), which names the
 * line and the column, nothing is read. Measures without a column or with an empty cell are
 * missing. If the number of processes of a role is not given, it is one if a measure of the role is
 * known. If the evaluating process is not given, it is always the same one. */
int imported_queries_read(const char *text, size_t length, uint64_t tick_ns, struct query_run *into,
			  struct error *err);

#endif
