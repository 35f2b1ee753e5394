/* The tables of an experiment, made and filled. Private to measure/. */
#ifndef TARE_MEASURE_QUERY_TABLES_H
#define TARE_MEASURE_QUERY_TABLES_H

#include "measure/query.h"

/* Which tables are this run's own: those alone may be dropped unasked. */
struct table_book {
	enum query_tables others; /* what becomes of those that are not */
	ARRAY(char *) ours;
	size_t before; /* of ours, from the tare before this one */
	/* Told before a table is made, so that it is known for ours whatever happens then. */
	int (*note)(void *context, const char *name, struct error *err);
	void *context;
};
void table_book_add(struct table_book *b, const char *name);
void table_book_release(struct table_book *b);

/* All tables, empty unless they are there with all their rows. Nothing is changed before all of
 * them were looked at. */
int query_tables_create(struct dbms *d, const struct experiment *e, struct table_book *b,
			struct error *err);
/* Drops those that were made since: there is no use for them. */
void query_tables_undo(struct dbms *d, struct table_book *b);
/* Fills all but the one that varies, and what that one is filled from. */
int query_tables_load(struct dbms *d, const struct experiment *e, struct error *err);
/* The one that varies, with its first `cardinality` rows, made anew; nothing where none does. */
int query_tables_fill(struct dbms *d, const struct experiment *e, uint64_t cardinality,
		      struct error *err);

#endif
