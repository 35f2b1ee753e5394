/* Names what a database server's processes do, which all have the server's name. Private to
 * measure/. */
#ifndef TARE_MEASURE_QUERY_NAMES_H
#define TARE_MEASURE_QUERY_NAMES_H

#include "base/array.h"
#include "record/execution.h"

/* Names seen so far, for processes that end before they are looked at again. */
struct query_names {
	struct known_process {
		int32_t pid;
		uint64_t start_ns;
		char name[17];
	} * items;
	size_t count, capacity;
};

/* Gives the processes of this execution, and its ledger's names of them, the names that their
 * titles tell: "autovacuum" for a "postgres". Those of the query itself stay. */
void query_name_processes(struct query_names *known, struct execution *x);
void query_names_release(struct query_names *known);

#endif
