/* What the targets share that change a stored lab and have it reported. */
#ifndef TARE_FUZZ_LABS_H
#define TARE_FUZZ_LABS_H

#include <stddef.h>
#include <stdint.h>

#include "lab/lab.h"

/* Writes tests/fuzz/lab.db.zst, unpacked, to a file in memory, which goes with this process unless
 * it is killed. Also redirects what commands print. */
const char *labs_begin(void);

/* Runs a command (modulo how many there are) on the open lab, and checks what it prints: JSON must
 * parse, and text for people has no control characters and is UTF-8. */
void labs_run(struct lab *lab, uint8_t command);

#endif
