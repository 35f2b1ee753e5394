/* Plans in canonical form, so that equal plans have equal texts. A node is an object with some of
 *these members:
 *
 *	"node"	     what it does, in the DBMS's own word: "Seq Scan", "SEARCH"
 *	"relation"   the table it reads
 *	"alias"	     if that differs
 *	"index"	     the index it uses
 *	"join"	     "inner", "left", ...
 *	"conditions" an array of texts
 *	"details"    an object of texts: what else distinguishes this plan (sort keys,
 *		     strategy, parallel)
 *	"children"   an array of nodes
 *
 * It has nothing that changes when rows are counted again: no costs, rows, widths, times or
 * buffers. */
#ifndef TARE_SUBJECT_DBMS_PLAN_H
#define TARE_SUBJECT_DBMS_PLAN_H

#include <jansson.h>

#include "base/error.h"
#include "record/query.h"

/* Fills in the text (sorted keys, compact) and the hash (FNV-1a, 64 bits) of a canonical tree.
 * Takes the reference. */
void plan_seal(json_t *root, struct query_plan *into);

/* Parts of such a tree: a text of any bytes, a node with this name, and adding a child to a node
 * (which takes the reference). */
json_t *plan_string(const char *text, size_t length);
json_t *plan_node(const char *what, size_t length);
void plan_adopt(json_t *parent, json_t *child);

/* From the servers' answers; pure, and tested with recorded texts. -1: not understood. */
int plan_of_postgresql(const char *json, struct query_plan *into, struct error *err);
int plan_of_mariadb(const char *json, struct query_plan *into, struct error *err);
/* Rows of EXPLAIN QUERY PLAN. */
struct sqlite_plan_row {
	int id, parent;
	const char *detail;
};
int plan_of_sqlite(const struct sqlite_plan_row *rows, size_t count, struct query_plan *into,
		   struct error *err);
/* Any text by lines, with deeper indentation below: for ODBC. plan_drop_numbers() may be called
 * first; it replaces each number that is not part of a name by '#'. */
int plan_of_text(const char *text, struct query_plan *into, struct error *err);
void plan_drop_numbers(char *text);

#endif
