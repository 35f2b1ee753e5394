/* The tables of an experiment, made and filled. Private to measure/. */
#ifndef TARE_MEASURE_QUERY_TABLES_H
#define TARE_MEASURE_QUERY_TABLES_H

#include "measure/query.h"

/* All tables but the one that varies, and what that one is filled from. */
int query_tables_make(struct dbms *d, const struct experiment *e, enum query_tables how,
		      struct error *err);
/* The one that varies, with its first `cardinality` rows, made anew; nothing where none does. */
int query_tables_fill(struct dbms *d, const struct experiment *e, uint64_t cardinality,
		      struct error *err);

#endif
