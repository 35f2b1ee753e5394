/* The catalogue of measures: one row for each thing that tare records about a task or the whole
 * system. Names are the same in code, SQL, JSON, CSV and docs. */
#ifndef TARE_RECORD_MEASURE_H
#define TARE_RECORD_MEASURE_H

#include "record/field.h"

/* Measures of one task. The value of each is its bit in task_record.present. */
enum task_measure {
	TASK_EXEC,	  /* on-CPU time by the scheduler, exact */
	TASK_USER,	  /* tick-sampled */
	TASK_SYSTEM,	  /* tick-sampled */
	TASK_RUN_DELAY,	  /* runnable, waiting for a CPU */
	TASK_BLKIO_DELAY, /* blocked on block I/O; only with kernel.task_delayacct=1 */
	TASK_MIN_FLT,
	TASK_MAJ_FLT,
	TASK_NVCSW,
	TASK_NIVCSW,
	TASK_RCHAR,
	TASK_WCHAR,
	TASK_SYSCR,
	TASK_SYSCW,
	TASK_READ_BYTES,
	TASK_WRITE_BYTES,
	TASK_CANCELLED_WRITE_BYTES,
	TASK_CUMULATIVE, /* the measures above only grow, so differences are meaningful */
	TASK_RSS = TASK_CUMULATIVE,
	TASK_RSS_PEAK,
	TASK_VM,
	TASK_MEASURES,
};

/* Measures of the whole system: TTPv2's 20 of /proc/stat (some are now in /proc/vmstat). */
enum overall_measure {
	OVERALL_USER,
	OVERALL_NICE,
	OVERALL_SYSTEM,
	OVERALL_IDLE,
	OVERALL_IOWAIT,
	OVERALL_IRQ,
	OVERALL_SOFTIRQ,
	OVERALL_STEAL,
	OVERALL_GUEST,
	OVERALL_GUEST_NICE,
	OVERALL_PAGE_IN,
	OVERALL_PAGE_OUT,
	OVERALL_SWAP_IN,
	OVERALL_SWAP_OUT,
	OVERALL_INTERRUPTS,
	OVERALL_SWITCHES,
	OVERALL_BOOT_TIME,
	OVERALL_FORKS,
	OVERALL_RUNNING,
	OVERALL_BLOCKED,
	OVERALL_MEASURES,
};

struct measure {
	const char *name;
	enum unit unit;
	const char *source; /* where the kernel keeps it */
	const char *meaning;
	const char *title; /* the heading for people; NULL: people do not see this column */
};

extern const struct measure task_measures[TASK_MEASURES];
extern const struct measure overall_measures[OVERALL_MEASURES];

#endif
