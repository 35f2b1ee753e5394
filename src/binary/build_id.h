/* Reads the build-id in the notes of an ELF file. Hostile files are handled. */
#ifndef TARE_BINARY_BUILD_ID_H
#define TARE_BINARY_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/profile.h"

/* Sets o's build_id. Returns false, and leaves o untouched, if there is none or it is longer than
 * the kernel reports. */
bool build_id_read(int fd, struct profile_object *o);
/* Like build_id_read(), for notes in memory. Returns its size; 0: none, and id is untouched. */
uint8_t build_id_in_notes(const uint8_t *notes, size_t size, uint8_t id[BUILD_ID_MAX]);

#endif
