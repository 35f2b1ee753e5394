/* Tags of a run: a text, and what is between its commas, without the blanks around. */
#ifndef TARE_RECORD_TAGS_H
#define TARE_RECORD_TAGS_H

#include <stdbool.h>
#include <stddef.h>

/* The next tag of the text at *at, which is moved on behind it; NULL: no more. */
const char *tags_next(const char **at, size_t *length);
bool tags_any(const char *tags);

/* The text without the tags of `remove`, then with those of `add` that it does not have; NULL:
 * none. What needs no change stays as it is written. The caller frees. */
char *tags_change(const char *tags, const char *add, const char *remove);

#endif
