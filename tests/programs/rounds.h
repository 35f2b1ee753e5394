/* How much work a program that is profiled does: COUNT once, or rounds of it for MS of CPU time. */
#ifndef ROUNDS_H
#define ROUNDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct rounds {
	uint64_t count;
	uint64_t until_ns; /* CPU time of the process; 0: one round */
};

static inline bool rounds_number(const char *text, uint64_t *into)
{
	char *end;
	*into = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end;
}

static inline bool rounds_read(struct rounds *r, int argc, char **argv, uint64_t count)
{
	uint64_t ms = 0;
	r->count = count;
	if (argc > 3 || (argc > 1 && (!rounds_number(argv[1], &r->count) || !r->count)) ||
	    (argc > 2 && !rounds_number(argv[2], &ms))) {
		fprintf(stderr, "usage: %s [COUNT [MS]]\n", argv[0]);
		return false;
	}
	r->until_ns = ms * 1000000u;
	return true;
}

static inline bool rounds_more(const struct rounds *r)
{
	struct timespec used;
	if (!r->until_ns)
		return false;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec < r->until_ns;
}

#endif
