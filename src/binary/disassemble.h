/* Disassembles with capstone, or with libopcodes where capstone fails. */
#ifndef TARE_BINARY_DISASSEMBLE_H
#define TARE_BINARY_DISASSEMBLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/code.h"

/* For this machine's architecture. Every byte belongs to one instruction; an undecodable byte is
 * "(bad)". Jump targets are shown as addresses. EXIT_ENVIRONMENT: built without a disassembler. */
int disassemble(uint64_t address, const uint8_t *bytes, size_t size, instruction_list *into,
		struct error *err);

#endif
