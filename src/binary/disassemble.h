/* Bytes to instructions: capstone, and libopcodes where that gives up. */
#ifndef TARE_BINARY_DISASSEMBLE_H
#define TARE_BINARY_DISASSEMBLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/code.h"

/* Of this machine's architecture. Every byte is in one instruction; what nobody can decode is
 * "(bad)" of one byte. Targets of jumps are shown as addresses. EXIT_ENVIRONMENT: built without a
 * disassembler. */
int disassemble(uint64_t address, const uint8_t *bytes, size_t size, instruction_list *into,
		struct error *err);

#endif
