/* The CPU time of children of another process that came and went, for whom there are no events.
 * Private to collect/. */
#ifndef TARE_COLLECT_BACKEND_ENDED_H
#define TARE_COLLECT_BACKEND_ENDED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"
#include "record/task.h"

struct ended_child {
	pid_t pid;
	uint64_t cpu_ns;
};
typedef ARRAY(struct ended_child) ended_child_list;

struct ended {
	pid_t parent;		     /* 0: nobody's */
	char *group;		     /* directory of its control group; NULL: unknown, or others' */
	uint64_t user_ns, system_ns; /* of the group, or of the children it has waited for */
	ended_child_list living;     /* in the group */
};

/* From now on for the children of this process. A process's own sum of those that it has waited for
 * is in steps of 10 ms; that of its control group, if nobody else is in there, is exact. */
void ended_begin(struct ended *e, pid_t parent);
/* Sets exec, user and system of one record that stands for all of them, and what it is. False: it
 * is not known. */
bool ended_take(struct ended *e, struct task_record *into);
void ended_release(struct ended *e);

#endif
