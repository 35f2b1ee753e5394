/* Helpers for all JSON that tare writes. */
#ifndef TARE_REPORT_CORE_JSON_H
#define TARE_REPORT_CORE_JSON_H

#include <jansson.h>

#include "base/strbuf.h"
#include "record/execution.h"
#include "record/field.h"
#include "record/machine.h"

/* A struct as the catalogue describes it. Rows that are set by hand are null, or empty for lists
 * and maps of FIELD_BY_HAND, until the caller sets them, which keeps the members in the order of
 * the rows. */
json_t *json_shape(const struct shape *shape, const void *object);
/* A JSON array of `count` structs of `size` bytes each. */
json_t *json_shapes(const struct shape *shape, const void *items, size_t count, size_t size);

/* All return new references, in jansson's terms. */
json_t *json_real_or_null(double value); /* null if not finite */
json_t *json_count(uint64_t n);
json_t *json_hash(uint64_t hash);		     /* 16 digits; 0 is null */
json_t *json_text(const char *text);		     /* any bytes; NULL is null */
json_t *json_ns(uint64_t ns);			     /* ABSENT_NS is null */
json_t *json_date(int64_t realtime_ns);		     /* ISO 8601; 0 is null */
json_t *json_id(int64_t id);			     /* 0 is null */
json_t *json_machine(const struct machine *machine); /* NULL is null */
json_t *json_parsed(const char *text);		     /* parses a JSON text; null if it is invalid */
json_t *json_run(const struct run *run);	     /* NULL is null */

/* Adds to a list that is a member of o. */
void json_append(json_t *o, const char *key, json_t *value);
void json_set_count(json_t *o, const char *key, uint64_t n);
void json_set_real(json_t *o, const char *key, double value); /* null if not finite */

/* Writes the output of a command; takes the reference. */
void put_json(json_t *root, size_t indent, struct strbuf *out);
/* Writes one line without a newline, to be embedded in a larger text; keeps the reference. */
void put_compact_json(const json_t *root, struct strbuf *out);

#endif
