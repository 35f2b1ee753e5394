/* The columns of the CSV of executions, as tests go through them. */
#ifndef TARE_TESTS_QUERY_COLUMNS_H
#define TARE_TESTS_QUERY_COLUMNS_H

#include "record/query.h"

#define EACH_COLUMN(c)                                                   \
	for (struct field_cursor c = { .fields = query_execution_fields, \
				       .without = FIELD_NOT_CSV };       \
	     field_next(&(c));)

/* False: it is not known, and *value is 0. */
static inline bool column_get(const struct field_cursor *c, const struct query_execution *x,
			      uint64_t *value)
{
	struct value v = field_value(c, x);
	*value = v.type == IS_ABSENT ? 0 : (uint64_t)v.integer;
	return v.type != IS_ABSENT;
}

#endif
