/* How much work a program that is profiled does: COUNT once, or rounds of it for MS of CPU time.
 * When each round began and how long it took, in ns, goes to the file $ROUND_TIMES, where there is
 * one; so it does of the parts of one that the program marks. */
#ifndef ROUNDS_H
#define ROUNDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_PARTS (1u << 20)

struct part {
	uint64_t begin_ns, ns;
};

struct rounds {
	uint64_t count;
	uint64_t until_ns;  /* CPU time of the process; 0: one round */
	uint64_t mark_ns;   /* when this part began */
	struct part *parts; /* NULL: nobody asks */
	size_t part_count;
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
	r->part_count = 0;
	r->parts = getenv("ROUND_TIMES") ? malloc(MOST_PARTS * sizeof *r->parts) : NULL;
	if (r->parts)
		memset(r->parts, 1, MOST_PARTS * sizeof *r->parts); /* no page faults later */
	r->mark_ns = rounds_clock(CLOCK_MONOTONIC);
	return true;
}

static inline void rounds_mark(struct rounds *r)
{
	if (!r->parts || r->part_count == MOST_PARTS)
		return;
	uint64_t now = rounds_clock(CLOCK_MONOTONIC);
	r->parts[r->part_count++] = (struct part){ r->mark_ns, now - r->mark_ns };
	r->mark_ns = now;
}

static inline void rounds_tell(struct rounds *r)
{
	FILE *file = fopen(getenv("ROUND_TIMES"), "w");
	for (size_t i = 0; file && i < r->part_count; i++)
		fprintf(file, "%llu %llu\n", (unsigned long long)r->parts[i].begin_ns,
			(unsigned long long)r->parts[i].ns);
	if (file)
		fclose(file);
	free(r->parts);
}

static inline bool rounds_more(struct rounds *r)
{
	if (!r->until_ns)
		return false;
	rounds_mark(r);
	bool more = rounds_clock(CLOCK_PROCESS_CPUTIME_ID) < r->until_ns;
	if (r->parts && !more)
		rounds_tell(r);
	return more;
}

#endif
