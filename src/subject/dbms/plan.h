/* Plans in canonical form, so that equal plans have equal texts. A node is an object with some of
 *
 *	"node"	     what it does, in the DBMS's own word: "Seq Scan", "SEARCH"
 *	"relation"   the table it reads
 *	"alias"	     where that differs
 *	"index"	     that it uses
 *	"join"	     "inner", "left", ...
 *	"conditions" an array of texts
 *	"details"    an object of texts: other things that make it this plan and no other (sort
 *		     keys, strategy, parallel)
 *	"children"   an array of nodes
 *
 * and nothing that changes when rows are counted anew: no costs, rows, widths, times, buffers. */
#ifndef TARE_SUBJECT_DBMS_PLAN_H
#define TARE_SUBJECT_DBMS_PLAN_H

#include <jansson.h>

#include "base/error.h"
#include "record/query.h"

/* Text (keys sorted, compact) and hash (FNV-1a, 64 bits) of a canonical tree; takes the reference.
 */
void plan_seal(json_t *root, struct query_plan *into);

/* Parts of such a tree: a text whose bytes may be any, a node that does this, a child of a node
 * (takes the reference). */
json_t *plan_string(const char *text, size_t length);
json_t *plan_node(const char *what, size_t length);
void plan_adopt(json_t *parent, json_t *child);

/* From what the servers say; pure, tested on recorded texts. -1: not understood. */
int plan_of_postgresql(const char *json, struct query_plan *into, struct error *err);
int plan_of_mariadb(const char *json, struct query_plan *into, struct error *err);
/* Rows of EXPLAIN QUERY PLAN. */
struct sqlite_plan_row {
	int id, parent;
	const char *detail;
};
int plan_of_sqlite(const struct sqlite_plan_row *rows, size_t count, struct query_plan *into,
		   struct error *err);
/* Any text, line by line, what is indented deeper beneath: for ODBC. Numbers in it can be left out
 * before: each that is no part of a name becomes '#'. */
int plan_of_text(const char *text, struct query_plan *into, struct error *err);
void plan_drop_numbers(char *text);

#endif
