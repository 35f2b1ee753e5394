/* Every process's bursts on the CPUs, merged in the kernel, for a watch of days at next to no cost.
 */
#ifndef TARE_COLLECT_BURSTS_BURSTS_H
#define TARE_COLLECT_BURSTS_BURSTS_H

#include "base/error.h"
#include "record/bursts.h"

struct burst_collector;

/* EXIT_ENVIRONMENT: not permitted, or the kernel lacks something (says what). It records from then
 * on. */
int burst_collector_open(struct burst_collector **out, struct error *err);
void burst_collector_close(struct burst_collector *c); /* NULL is fine */

/* For poll(): readable when it should be taken earlier than every few seconds. */
int burst_collector_fd(const struct burst_collector *c);

/* Everything that ended since the last call (or the beginning): into is zeroed by the caller and
 * its to release. A turn that goes on all the while is in none: it comes when it ends, and may have
 * begun before its stretch. A burst that goes on comes in parts. */
enum burst_take {
	BURSTS_ALL,
	BURSTS_HANDED_OVER, /* without what goes on: that is looked for in all CPUs' memory */
};
void burst_collector_take(struct burst_collector *c, enum burst_take which, struct bursts *into);

#endif
