#include <string.h>

#include "base/array.h"
#include "collect/backend/backend.h"

struct task_record *image_add(struct image *image)
{
	image->tasks =
		array_grow(image->tasks, &image->capacity, image->count + 1, sizeof *image->tasks);
	struct task_record *added = &image->tasks[image->count++];
	memset(added, 0, sizeof *added);
	return added;
}

void totals_add(struct totals *totals, const struct task_record *task)
{
	const uint64_t cumulative = (UINT64_C(1) << TASK_CUMULATIVE) - 1;
	/* a sum is known only where every summand is */
	uint64_t seen = totals->threads ? totals->present & task->present : task->present;
	totals->present = seen & cumulative;
	for (int m = 0; m < TASK_CUMULATIVE; m++)
		if (task->present >> m & 1)
			totals->value[m] += task->value[m];
	if (task_has(task, TASK_RSS_PEAK) && task->value[TASK_RSS_PEAK] > totals->rss_peak_bytes)
		totals->rss_peak_bytes = task->value[TASK_RSS_PEAK];
	if (task->flags & TASK_IS_LEADER)
		totals->processes++;
	totals->threads++;
}

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

void totals_add_usage(struct totals *totals, const struct rusage *usage, bool is_root)
{
	uint64_t user = timeval_ns(usage->ru_utime), system = timeval_ns(usage->ru_stime);
	totals->present = totals->threads ? totals->present & USAGE_MEASURES : USAGE_MEASURES;
	totals->value[TASK_EXEC] += user + system;
	totals->value[TASK_USER] += user;
	totals->value[TASK_SYSTEM] += system;
	totals->value[TASK_MIN_FLT] += (uint64_t)usage->ru_minflt;
	totals->value[TASK_MAJ_FLT] += (uint64_t)usage->ru_majflt;
	totals->value[TASK_NVCSW] += (uint64_t)usage->ru_nvcsw;
	totals->value[TASK_NIVCSW] += (uint64_t)usage->ru_nivcsw;
	/* the kernel counts the memory before the exec, which was tare's: no more than that says
	 * nothing */
	struct rusage own;
	if (is_root && getrusage(RUSAGE_SELF, &own) == 0 && usage->ru_maxrss > own.ru_maxrss)
		totals->rss_peak_bytes = (uint64_t)usage->ru_maxrss * 1024;
	totals->processes++;
	totals->threads++;
}

void totals_subtract(struct totals *totals, const struct totals *base)
{
	if (!base)
		return;
	for (int m = 0; m < TASK_CUMULATIVE; m++) {
		if (!(totals->present & base->present & UINT64_C(1) << m))
			continue;
		uint64_t less = base->value[m];
		totals->value[m] -= less < totals->value[m] ? less : totals->value[m];
	}
}
