/* Runs, executions and images to fill a lab with, and what compares them: shared by the tests of
 * what is stored and of the file it is stored in. */
#ifndef TARE_TESTS_LAB_SAMPLE_H
#define TARE_TESTS_LAB_SAMPLE_H

#include "lab/lab.h"

struct image make_image(size_t count);
/* What an image looks like a little later: some counters grew, tasks went, came, changed places. */
struct image later_image(const struct image *image);
void same_image(const struct image *a, const struct image *b);

void make_run(struct run *run, const char *name);
int64_t add_run(struct lab *lab, const char *name);
void make_execution(struct execution *x, uint32_t number);
void same_execution(const struct execution *a, const struct execution *b);
void release_executions(execution_list *list);
size_t count_executions(struct lab *lab, int64_t run, enum lab_detail detail);

#endif
