/* libopcodes, kept apart because of the headers it includes. Only in builds that have it. */
#ifndef TARE_BINARY_OPCODES_H
#define TARE_BINARY_OPCODES_H

#include <stddef.h>
#include <stdint.h>

struct opcodes;

/* NULL: it does not know this machine. The caller keeps the bytes. */
struct opcodes *opcodes_new(uint64_t address, const uint8_t *bytes, size_t size);
void opcodes_free(struct opcodes *o);

/* Decodes the instruction at an address within the bytes. Returns its size; 0: it is cut short. */
size_t opcodes_decode(struct opcodes *o, uint64_t address, char *text, size_t room);

#endif
