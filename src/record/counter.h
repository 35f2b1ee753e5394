/* What the CPU and the kernel counted while a subject's tree ran: cycles, instructions, page
 * faults. */
#ifndef TARE_RECORD_COUNTER_H
#define TARE_RECORD_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "record/field.h"

#define COUNTER_NAME 64

struct counter {
	char name[COUNTER_NAME]; /* perf's, as it was asked for: "branch-misses", "cycles:u" */
	/* What was counted, in both modes unless the name says otherwise or `kernel` is unknown.
	 * -1: it never had a counter of the CPU. */
	int64_t value;
	int64_t user, kernel; /* the parts of value; -1: not counted apart */
	/* CPU time of the tree, and the part of it in which this was counted. If there were fewer
	 * counters than events, that part is smaller, and value is scaled up by the two. */
	uint64_t enabled_ns, running_ns;
};
typedef ARRAY(struct counter) counter_list;

extern const struct field counter_fields[];
extern const struct shape counter_shape;

/* Sets the value from the raw count: scaled up, or -1 if it was never counted. */
int64_t counter_scaled(uint64_t count, uint64_t enabled_ns, uint64_t running_ns);
bool counter_is_scaled(const struct counter *c);

/* NULL: there is none of this name, or it has no value. */
const struct counter *counter_find(const counter_list *list, const char *name);
/* Of the event `name` in user mode, whether it was counted apart or as "name:u"; -1: unknown. */
int64_t counter_in_user_mode(const counter_list *list, const char *name);

#endif
