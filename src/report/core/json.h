/* What JSON texts of tare have in common: the reports', and those that commands make themselves. */
#ifndef TARE_REPORT_CORE_JSON_H
#define TARE_REPORT_CORE_JSON_H

#include <jansson.h>

#include "base/strbuf.h"
#include "record/execution.h"
#include "record/field.h"
#include "record/machine.h"

/* The struct as the catalogue describes it. Rows that are filled in by hand are null until the
 * caller sets them, so that members stay in the order of the rows. */
json_t *json_shape(const struct shape *shape, const void *object);
/* The same for the items of a plain array; at most so many. */
json_t *json_shapes(const struct shape *shape, const void *items, size_t count, size_t size);

/* New references, as jansson calls them. */
json_t *json_real_or_null(double value); /* what is not finite is null */
json_t *json_count(uint64_t n);
json_t *json_hash(uint64_t hash);		     /* 16 digits; 0 is null */
json_t *json_text(const char *text);		     /* any bytes; NULL is null */
json_t *json_ns(uint64_t ns);			     /* ABSENT_NS is null */
json_t *json_date(int64_t realtime_ns);		     /* ISO 8601; 0 is null */
json_t *json_id(int64_t id);			     /* 0 is null */
json_t *json_machine(const struct machine *machine); /* NULL is null */
json_t *json_parsed(const char *text);		     /* a JSON text; null when it is none */
json_t *json_run(const struct run *run);	     /* NULL is null */

void json_set_count(json_t *o, const char *key, uint64_t n);
void json_set_real(json_t *o, const char *key, double value); /* what is not finite is null */

/* As the text of a command's output; takes the reference. */
void put_json(json_t *root, size_t indent, struct strbuf *out);
/* On one line, without an end of it, for what goes into a larger text; keeps the reference. */
void put_compact_json(const json_t *root, struct strbuf *out);

#endif
