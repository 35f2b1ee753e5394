/* Whether cutoffs still fit the machine they were made for: their age, and what has changed. */
#ifndef TARE_PROTOCOL_EMP_CUTOFFS_VALIDITY_H
#define TARE_PROTOCOL_EMP_CUTOFFS_VALIDITY_H

#include "base/array.h"
#include "record/machine.h"

#define CUTOFFS_OLD_DAYS 90 /* by then a usual machine has had its updates */

/* Whether so many whole days lie between the two (CLOCK_REALTIME), either way round: a stored run
 * may be older than the cutoffs. *days: from made_at to at. A time of 0 is not known, and not old.
 */
bool cutoffs_old(int64_t made_at_ns, int64_t at_ns, int64_t *days);

struct cutoffs_change {
	const char *fact;	/* "kernel.release" */
	const char *name;	/* "kernel"; NULL: it lists daemons */
	const char *then, *now; /* of the machines compared */
	char *come, *gone;	/* daemons that only the one or the other lists; NULL: none */
};
typedef ARRAY(struct cutoffs_change) cutoffs_change_list;

/* Kernel, CPUs, known daemons. What either machine does not know is no change, nor are updaters,
 * which come and go by themselves; nor, when the machine was quieted, are daemons that are gone. */
void cutoffs_changes(const struct machine *then, const struct machine *now, bool quieted,
		     cutoffs_change_list *into);
void cutoffs_changes_release(cutoffs_change_list *list);

#endif
