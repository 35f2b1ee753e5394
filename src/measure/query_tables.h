/* Makes and fills the tables of an experiment. Private to measure/. */
#ifndef TARE_MEASURE_QUERY_TABLES_H
#define TARE_MEASURE_QUERY_TABLES_H

#include "measure/query.h"

/* Which tables this run made. Only those may be dropped without asking. */
struct table_book {
	enum query_tables others; /* what to do with other tables */
	ARRAY(char *) ours;
	size_t before; /* how many of `ours` an earlier session of this run made */
	/* Called before a table is made, so that it is known as ours whatever happens next. */
	int (*note)(void *context, const char *name, struct error *err);
	void *context;
};
void table_book_add(struct table_book *b, const char *name);
void table_book_release(struct table_book *b);

/* Makes all tables, empty unless they exist with all their rows. Checks all before changing any. */
int query_tables_create(struct dbms *d, const struct experiment *e, struct table_book *b,
			struct error *err);
/* Drops the tables that this session made, because they are of no use. */
void query_tables_undo(struct dbms *d, struct table_book *b);
/* Fills all tables except the variable one, and the source that the variable one is filled from. */
int query_tables_load(struct dbms *d, const struct experiment *e, struct error *err);
/* Recreates the variable table with its first `cardinality` rows. Does nothing if there is none. */
int query_tables_fill(struct dbms *d, const struct experiment *e, uint64_t cardinality,
		      struct error *err);

#endif
