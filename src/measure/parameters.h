/* Parameter scans and lists: every combination of their values replaces {NAME} in texts. */
#ifndef TARE_MEASURE_PARAMETERS_H
#define TARE_MEASURE_PARAMETERS_H

#include "base/array.h"
#include "base/error.h"
#include "base/options.h"
#include "record/execution.h"

struct parameter_values {
	const char *name; /* borrowed */
	word_list values; /* owned */
};

typedef ARRAY(struct parameter_values) parameter_space;

/* MIN to MAX in steps (NULL: 1), including MAX if a step reaches it, with the input's decimals. */
int parameter_scan(parameter_space *space, const char *name, const char *min, const char *max,
		   const char *step, struct error *err);
/* "a,b,c"; a backslash escapes a comma. */
int parameter_list(parameter_space *space, const char *name, const char *values, struct error *err);
void parameter_space_release(parameter_space *space);

/* The number of combinations; 1 for an empty space. */
size_t parameter_combinations(const parameter_space *space);
/* The value of parameter p in combination n. The first varies fastest, as in hyperfine. */
const char *parameter_value(const parameter_space *space, size_t n, size_t p);
/* text with every {NAME} replaced. The caller frees it. NULL gives NULL. */
char *parameter_fill(const parameter_space *space, size_t n, const char *text);

#endif
