/* What the subjects share: clocks, and the log in which each writes its own truth. */
#ifndef TARE_TESTS_PROGRAMS_OWN_H
#define TARE_TESTS_PROGRAMS_OWN_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline uint64_t read_clock(clockid_t id)
{
	struct timespec ts;
	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline void burn_until(clockid_t id, uint64_t until)
{
	while (read_clock(id) < until)
		;
}

static inline void burn_for(uint64_t wall_ns)
{
	burn_until(CLOCK_MONOTONIC, read_clock(CLOCK_MONOTONIC) + wall_ns);
}

static inline void sleep_ns(uint64_t ns)
{
	nanosleep(&(struct timespec){ (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) }, NULL);
}

/* Opened first, so that as little as possible comes after the last look at the clock. */
static inline int open_log(void)
{
	const char *path = getenv("BURN_LOG");
	return path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
}

/* "50ms", "1s" or ns */
static inline uint64_t to_ns(const char *text)
{
	char *end;
	double value = strtod(text, &end);
	double scale = strcmp(end, "s") == 0	? 1e9
		       : strcmp(end, "ms") == 0 ? 1e6
		       : strcmp(end, "us") == 0 ? 1e3
						: 1;
	return (uint64_t)(value * scale);
}

#endif
