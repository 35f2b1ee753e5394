/* The values of a column: base + i * step for i from 0 to count - 1, in units of the last written
 * digit (1 is 0.01 for a decimal). For texts and words it is i itself. Private to the experiment's
 * files. */
#ifndef TARE_SUBJECT_EXPERIMENT_DOMAIN_H
#define TARE_SUBJECT_EXPERIMENT_DOMAIN_H

#include "subject/experiment.h"

struct column_domain {
	int64_t base, step;
	uint64_t count;
	bool again; /* serial: begins again after count */
};

int64_t column_units(enum column_kind kind); /* how many make 1 */
struct column_domain column_domain(const struct experiment_table *t,
				   const struct experiment_column *c);
bool column_may_be_null(const struct experiment_column *c); /* itself, or what it refers to */
/* Writes a value of this kind, except a text. out has at least COLUMN_VALUE_MOST bytes. */
#define COLUMN_VALUE_MOST 32
void column_write(enum column_kind kind, int64_t value, char *out);

/* Days since 1970 of "1992-01-31"; false: it is not a date. */
bool date_parse(const char *text, int64_t *days);

#endif
