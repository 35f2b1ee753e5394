/* The known work of a probe. Private to collect/. */
#ifndef TARE_COLLECT_SPEED_WORK_H
#define TARE_COLLECT_SPEED_WORK_H

#include <stdint.h>

#include "record/speed.h"

/* Memory that is read in a random order; one for all threads, which only read it. */
struct speed_ring;
struct speed_ring *speed_ring_new(void); /* NULL: no memory */
void speed_ring_free(struct speed_ring *r);

/* Does each kind of work once. *place is where the thread is in the ring, 0 at first. */
void speed_work(const struct speed_ring *r, uint32_t *place, uint64_t ticks[SPEED_KINDS]);

/* The counter by which it is timed. */
uint64_t speed_ticks(void);

#endif
