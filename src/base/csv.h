/* Reads CSV as RFC 4180 has it: a field in quotes may hold commas, line breaks and, doubled,
 * quotes. Lines end with LF or CRLF. A byte order mark in front and lines without anything are
 * passed over.
 */
#ifndef TARE_BASE_CSV_H
#define TARE_BASE_CSV_H

#include <stdint.h>

#include "base/error.h"
#include "base/options.h"
#include "base/strbuf.h"

struct csv {
	const char *at, *end;
	uint64_t line;	   /* on which the record last read begins, from 1 */
	uint64_t lines;	   /* passed so far */
	text_list fields;  /* of that record; valid until the next is read */
	struct strbuf raw; /* what they point into */
};

/* text must last. */
void csv_begin(struct csv *c, const char *text, size_t length);
/* 1: a record was read; 0: there is none left; -1: what comes is no CSV (EXIT_USAGE), the text
 * names line and field. */
int csv_next(struct csv *c, struct error *err);
void csv_release(struct csv *c);

#endif
