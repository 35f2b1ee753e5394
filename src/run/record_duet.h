/* Records a duet: each pair is stored when it ends, and the duet stops when its verdict is sure. */
#ifndef TARE_RUN_RECORD_DUET_H
#define TARE_RUN_RECORD_DUET_H

#include "measure/duet.h"
#include "protocol/duet/duet.h"
#include "run/record.h"
#include "run/record_time.h"

struct duet_recording {
	/* set by the caller */
	struct time_plan *p; /* the commands and how to start them */
	struct duet_plan plan;
	struct duet duet; /* the limits; the rest is filled in */
	enum duet_measure measure;
	const char *tags, *name, *shell_name;
	char *conditions; /* owned */
	void *context;
	/* result: of the last look; NULL: none yet */
	void (*progress)(void *context, uint32_t pairs, uint64_t elapsed_ns,
			 const struct duet_result *result);
	struct recorder to; /* opened by the caller */
	/* filled in */
	struct run run;		   /* id 0: not begun */
	struct duet_result result; /* of the last look */
	bool looked, stored;
	struct counters *counting;	   /* NULL: none */
	size_t parts_stored, looks_stored; /* of duet's; the lab could not take the rest yet */
};

/* -1 with EXIT_USAGE if d, of which the way and the executions alone are known, cannot be compared
 * by the measure. */
int duet_check_measure(const struct duet *d, enum duet_measure m, struct error *err);

/* From here on signals are noted but do not end the process. The run ends with its status; one
 * without a pair is removed. */
int duet_recording_run(struct duet_recording *r, struct error *err);
void duet_recording_close(struct duet_recording *r);

#endif
