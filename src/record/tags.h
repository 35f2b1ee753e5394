/* Tags of a run: a text with commas. A tag is a part between commas, without blanks around it. */
#ifndef TARE_RECORD_TAGS_H
#define TARE_RECORD_TAGS_H

#include <stdbool.h>
#include <stddef.h>

/* The next tag of the text at *at, which is advanced; NULL: no more. */
const char *tags_next(const char **at, size_t *length);
bool tags_any(const char *tags);

/* The text without the tags in `remove`, and with the missing tags of `add`; NULL: none. Unchanged
 * parts stay as written. The caller frees it. */
char *tags_change(const char *tags, const char *add, const char *remove);

#endif
