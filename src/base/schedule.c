#include "base/schedule.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As in linux/sched/types.h, which glibc's headers do not get along with. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
};

uint64_t schedule_set_slice(pid_t thread, uint64_t slice_ns)
{
	struct attributes a = { .size = sizeof a };
	if (syscall(SYS_sched_getattr, thread, &a, sizeof a, 0))
		return 0;
	if (a.policy != SCHED_OTHER && a.policy != SCHED_BATCH)
		return 0;
	a.runtime = slice_ns;
	a.flags = 0;
	if (syscall(SYS_sched_setattr, thread, &a, 0))
		return 0;
	memset(&a, 0, sizeof a);
	a.size = sizeof a;
	/* older kernels accept the call, and say 0 */
	if (syscall(SYS_sched_getattr, thread, &a, sizeof a, 0))
		return 0;
	return a.runtime;
}

bool schedule_set_fifo(int priority)
{
	struct sched_param p = { .sched_priority = priority };
	return sched_setscheduler(0, SCHED_FIFO, &p) == 0;
}

bool schedule_pin(int cpu)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof one, &one) == 0;
}
