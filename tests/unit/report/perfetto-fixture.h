/* A made-up machine: a trace of what it did, and what it did by its own books. */
#ifndef TARE_TESTS_PERFETTO_FIXTURE_H
#define TARE_TESTS_PERFETTO_FIXTURE_H

#include <stdio.h>

#include "record/trace.h"

#define FIXTURE_CPUS 4
#define FIXTURE_BEGIN 1000000000u

struct fixture_task {
	int32_t tid, tgid;
	const char *name; /* its last */
	unsigned flags;
	bool alive, known;
	unsigned state; /* LEDGER_RUN, LEDGER_QUEUED or why it waits */
	uint64_t since_ns;
	int cpu;
	/* the books: of a thread of the subject since its begin, of another the CPU time */
	uint64_t ns[LEDGER_CAUSES];
};

#define FIXTURE_TASKS 8
#define FIXTURE_DEPTH 3
struct fixture {
	struct trace trace;
	struct fixture_task tasks[FIXTURE_TASKS];
	uint64_t now_ns, busy_ns[FIXTURE_CPUS];
	int running[FIXTURE_CPUS]; /* task, or -1 */
	struct {
		uint32_t cause, source;
		uint64_t since_ns;
	} stack[FIXTURE_CPUS][FIXTURE_DEPTH];
	int depth[FIXTURE_CPUS];
	uint64_t interrupts[3], interrupt_ns[3]; /* by kind, those within included */
	uint64_t requests, request_ns;
	uint32_t seed;
};

void fixture_make(struct fixture *f, size_t steps);
void fixture_release(struct fixture *f);
/* The books as JSON. */
void fixture_print(const struct fixture *f, FILE *to);

#endif
