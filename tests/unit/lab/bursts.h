/* Watches and bursts to fill a lab with, and what compares them: shared by the tests of watches. */
#ifndef TARE_TESTS_LAB_BURSTS_H
#define TARE_TESTS_LAB_BURSTS_H

#include "lab/lab.h"

#define SECOND UINT64_C(1000000000)
#define EPOCH INT64_C(1700000000000000000) /* CLOCK_REALTIME at CLOCK_MONOTONIC 0 */

uint64_t random_below(uint64_t limit);

int64_t begin_watch(struct lab *lab, int64_t machine);
void stretch(struct bursts *b, uint64_t begin_ns, uint64_t length_ns);
void add_process(struct bursts *b, int32_t pid, const char *name);
void add_burst(struct bursts *b, uint64_t begin_ns, uint64_t span_ns, uint32_t process);
/* Anything that may be stored, in no order. */
void random_bursts(struct bursts *b, size_t processes, size_t bursts);
/* What a machine with some daemons looks like: most bursts are of one turn. */
void usual_bursts(struct bursts *b, uint64_t begin_ns, size_t count, double step_ns);
void same_bursts(const struct bursts *a, const struct bursts *b);
/* Stores a stretch with one burst, and one that was lost. */
void put_stretch(struct lab *lab, int64_t watch, uint64_t begin_ns, uint64_t length_ns);
bursts_list get_bursts(struct lab *lab, const struct machine *m, int64_t watch, int64_t since,
		       int64_t until);
void release_bursts(bursts_list *list);

#endif
