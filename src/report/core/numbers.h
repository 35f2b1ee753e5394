/* Numbers things in the order of their first use. Private to report/. A zeroed one is empty. */
#ifndef TARE_REPORT_CORE_NUMBERS_H
#define TARE_REPORT_CORE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

struct number_slots {
	uint32_t *slots; /* number + 1; 0: free */
	size_t size;
};
struct number_pair {
	uint64_t a, b;
};
struct pair_numbers {
	ARRAY(struct number_pair) items;
	struct number_slots index;
};
struct text_numbers {
	ARRAY(char *) items;
	struct number_slots index;
};
uint32_t number_of_pair(struct pair_numbers *p, uint64_t a, uint64_t b);
uint32_t number_of_text(struct text_numbers *t, const char *text);
void pair_numbers_release(struct pair_numbers *p);
void text_numbers_release(struct text_numbers *t);

#endif
