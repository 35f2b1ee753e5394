/* Runs and executions to fill a lab with, and what compares them: shared by the tests of
 * what is stored and of the file it is stored in. */
#ifndef TARE_TESTS_LAB_SAMPLE_H
#define TARE_TESTS_LAB_SAMPLE_H

#include "lab/lab.h"

/* SQL that gives each execution the images it had before decision 026. */
#define OLD_IMAGES                                                        \
	"INSERT INTO image (id, version, count, begin_ns, end_ns, data) " \
	"SELECT 4 * e.id + k.column1, 1, 0, 1, 2, x'00' FROM execution e, (VALUES (0), (1)) k"

void make_run(struct run *run, const char *name);
int64_t add_run(struct lab *lab, const char *name);
void make_execution(struct execution *x, uint32_t number);
void same_execution(const struct execution *a, const struct execution *b);
void release_executions(execution_list *list);
size_t count_executions(struct lab *lab, int64_t run, enum lab_detail detail);

#endif
