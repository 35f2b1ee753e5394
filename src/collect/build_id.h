/* The build-id in the notes of an ELF file. Private to collect/. */
#ifndef TARE_COLLECT_BUILD_ID_H
#define TARE_COLLECT_BUILD_ID_H

#include <stdbool.h>

#include "record/profile.h"

/* Into o's build_id; false, and o untouched: there is none, or one that is longer than the kernel
 * would tell. Hostile files are fine. */
bool build_id_read(int fd, struct profile_object *o);

#endif
