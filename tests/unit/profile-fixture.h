/* A small profile made by hand, with all that a reader of profiles must get right: two apps, three
 * instances (two of them on one PID), an inlined function, stacks that go from the kernel into user
 * space, code without a function, and two slices of 10 s. */
#ifndef TARE_TESTS_PROFILE_FIXTURE_H
#define TARE_TESTS_PROFILE_FIXTURE_H

#include "record/profile.h"

/* Samples, over both slices:
 *
 *	btree 0, pid 100          compare in search  50   search  20   clear_page_erms  10
 *	btree 1, pid 100 again    compare in search  30
 *	python3 0, pid 200        unknown (python3+0x5000)  25   finish_task_switch  5
 *	  its thread 201          py::loop (JIT)  40
 *	first slice 100 (90 user, 10 kernel), second 80 (75 user, 5 kernel) */
#define FIXTURE_SAMPLES 180
#define FIXTURE_USER 165
#define FIXTURE_KERNEL 15
#define FIXTURE_BTREE 110
#define FIXTURE_BTREE_0 80
#define FIXTURE_BTREE_1 30
#define FIXTURE_PYTHON 70
#define FIXTURE_COMPARE 80 /* self; all of it inlined into search */
#define FIXTURE_SEARCH 20  /* self */
#define FIXTURE_UNKNOWN 25
#define FIXTURE_SLICE_NS UINT64_C(10000000000)
#define FIXTURE_BEGIN_NS UINT64_C(1000000000000) /* of the first slice */

/* p is zeroed. */
void fixture_profile(struct profile *p);

#endif
