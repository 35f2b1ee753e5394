/* Executions made up for the tests of protocol/emp.h. */
#ifndef TARE_TEST_EMP_FIXTURE_H
#define TARE_TEST_EMP_FIXTURE_H

#include "protocol/emp/emp.h"
#include "stats/random.h"

#define MS 1000000.0

/* PT exec only (below 0: none); user and system not seen. */
struct execution execution(double et_ns, double pt_ns);
/* n of them, numbered from 1. pt_ns may be NULL. */
void make(struct execution *x, size_t n, const double *et_ns, const double *pt_ns);
/* A process that ran in it for so long, by the scheduler. */
void add_process(struct execution *x, enum role role, const char *name, double exec_ns);
void release_executions(struct execution *x, size_t n);

/* NULL: it was not given. */
const struct emp_warning *find(const struct emp_result *r, const char *id);
void assert_holds(const char *text, const char *part);
void assert_text(const struct emp_result *r, const char *id, const char *part);
void assert_remedy(const struct emp_result *r, const char *id, const char *part);

double normal(struct random *r);

#endif
