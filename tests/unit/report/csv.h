/* A small reader of RFC 4180, independent of what writes it. */
#ifndef TARE_TEST_REPORT_CSV_H
#define TARE_TEST_REPORT_CSV_H

#include <stddef.h>

struct csv {
	char **cells; /* rows × columns */
	size_t rows, columns;
};

/* Aborts the test when the text is not CSV with the same number of fields in every row. */
void csv_parse(const char *text, struct csv *out);
const char *csv_at(const struct csv *csv, size_t row, const char *column); /* row 0 is the header */
void csv_release(struct csv *csv);

#endif
