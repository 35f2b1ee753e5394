/* Symbols, lines and instructions, read by a process that can do nothing else: it has no rights, no
 * files but those that tare opens for it, and a limit of memory and time. Program files may be made
 * to break whoever reads them; here that costs the names of one file. The process is started when
 * it is first needed, and again after a crash. */
#ifndef TARE_BINARY_READER_H
#define TARE_BINARY_READER_H

#include "binary/symbols.h"
#include "record/code.h"

struct reader;

/* As symbols_new(), symbols_fill() and disassemble(); `files` must be NULL. One thread at a
 * time. */
struct reader *reader_new(const struct symbols_options *options);
void reader_free(struct reader *r);
void reader_fill(struct reader *r, struct profile *p);
int reader_disassemble(struct reader *r, uint64_t address, const uint8_t *bytes, size_t size,
		       instruction_list *into, struct error *err);

/* CPU time that the process used since the last call. */
uint64_t reader_spent_ns(struct reader *r);
/* What could not be read because it ended or held up the process; NULL: nothing. Valid until the
 * next fill. */
const char *reader_trouble(struct reader *r);

#endif
