/* The build-id in the notes of an ELF file. Hostile files are fine. */
#ifndef TARE_BINARY_BUILD_ID_H
#define TARE_BINARY_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/profile.h"

/* Into o's build_id; false, and o untouched: there is none, or one that is longer than the kernel
 * would tell. */
bool build_id_read(int fd, struct profile_object *o);
/* The same of notes in memory. Its size; 0, and id untouched: none. */
uint8_t build_id_in_notes(const uint8_t *notes, size_t size, uint8_t id[BUILD_ID_MAX]);

#endif
