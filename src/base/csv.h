/* Reads CSV as in RFC 4180: a quoted field may contain commas, line breaks and doubled quotes.
 * Lines end with LF or CRLF. A byte order mark and empty lines are skipped. */
#ifndef TARE_BASE_CSV_H
#define TARE_BASE_CSV_H

#include <stdint.h>

#include "base/error.h"
#include "base/options.h"
#include "base/strbuf.h"

struct csv {
	const char *at, *end;
	uint64_t line;	   /* where the last record read begins, from 1 */
	uint64_t lines;	   /* read so far */
	text_list fields;  /* of that record; valid until the next is read */
	struct strbuf raw; /* what they point into */
};

/* text must stay valid. */
void csv_begin(struct csv *c, const char *text, size_t length);
/* 1: a record was read; 0: none is left; -1: invalid CSV (EXIT_USAGE, names line and field). */
int csv_next(struct csv *c, struct error *err);
void csv_release(struct csv *c);

#endif
