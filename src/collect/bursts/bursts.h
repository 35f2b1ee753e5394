/* The bursts of every process on the CPUs, merged in the kernel. Watching costs almost nothing. */
#ifndef TARE_COLLECT_BURSTS_BURSTS_H
#define TARE_COLLECT_BURSTS_BURSTS_H

#include "base/error.h"
#include "record/bursts.h"

struct burst_collector;

/* Recording begins at once. EXIT_ENVIRONMENT: not permitted, or the kernel lacks what err says. */
int burst_collector_open(struct burst_collector **out, struct error *err);
void burst_collector_close(struct burst_collector *c); /* NULL is fine */

/* For poll(): readable when it should be taken earlier than every few seconds. */
int burst_collector_fd(const struct burst_collector *c);

/* Everything that ended since the last call (or the beginning). The caller zeroes and releases
 * into. A turn that is still running is not included: it comes when it ends, and may have begun
 * before its stretch. A burst that continues comes in parts. */
enum burst_take {
	BURSTS_ALL,
	BURSTS_HANDED_OVER, /* without running bursts, which are searched in every CPU's memory */
};
void burst_collector_take(struct burst_collector *c, enum burst_take which, struct bursts *into);

#endif
