/* Studies of daemons to fill a lab with, and what compares them: shared by the tests of studies and
 * of cutoffs. */
#ifndef TARE_TESTS_LAB_STUDY_H
#define TARE_TESTS_LAB_STUDY_H

#include "lab/lab.h"

/* Anything that may be stored. */
void random_study(struct study *s, int64_t machine, size_t size);
void add_cutoff(struct study *s, const char *daemon, uint64_t from, uint64_t end, uint64_t cutoff);
struct study one_cutoff(int64_t machine, const char *daemon, uint64_t from, uint64_t end);

void same_cutoff(const struct cutoff *a, const struct cutoff *b);
/* The study of this id (0: the newest of the machine) is the one expected. */
void comes_back(struct lab *lab, const struct machine *m, int64_t id, const struct study *expected);
/* The cutoffs in force as "daemon:from-below=cutoff", edited ones with a star. */
void in_force(struct lab *lab, const struct machine *m, int64_t study, const char *expected);

/* By hand: *id 0 is a new one, and is set. */
int put_cutoff(struct lab *lab, const struct machine *m, int64_t *id, const char *daemon,
	       uint64_t from, uint64_t end, uint64_t cutoff);
void put_new(struct lab *lab, const struct machine *m, const char *daemon, uint64_t from,
	     uint64_t end, uint64_t cutoff);

#endif
