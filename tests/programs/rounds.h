/* How much work a program that is profiled does: COUNT once, or rounds of it for MS of CPU time.
 * How long each round took, in ns, goes to the file $ROUND_TIMES, where there is one. */
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
	uint64_t mark_ns;  /* when this round began */
	FILE *times;
};

static inline bool rounds_number(const char *text, uint64_t *into)
{
	char *end;
	*into = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end;
}

static inline uint64_t rounds_clock(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
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
	const char *path = getenv("ROUND_TIMES");
	r->times = path ? fopen(path, "w") : NULL;
	r->mark_ns = rounds_clock(CLOCK_MONOTONIC);
	return true;
}

static inline bool rounds_more(struct rounds *r)
{
	if (!r->until_ns)
		return false;
	uint64_t now = rounds_clock(CLOCK_MONOTONIC);
	bool more = rounds_clock(CLOCK_PROCESS_CPUTIME_ID) < r->until_ns;
	if (r->times)
		fprintf(r->times, "%llu\n", (unsigned long long)(now - r->mark_ns));
	if (r->times && !more)
		fclose(r->times);
	r->mark_ns = rounds_clock(CLOCK_MONOTONIC);
	return more;
}

#endif
