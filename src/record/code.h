/* Machine instructions from a disassembler. */
#ifndef TARE_RECORD_CODE_H
#define TARE_RECORD_CODE_H

#include <stdint.h>

#include "base/array.h"

struct instruction {
	uint64_t address;
	uint8_t size;
	char text[120]; /* "mov %rax,(%rbx)": AT&T as in objdump and perf annotate; "(bad)" */
	char *file;	/* of its source line, borrowed; NULL: unknown */
	uint32_t line;	/* 0: unknown */
};

typedef ARRAY(struct instruction) instruction_list;

#endif
