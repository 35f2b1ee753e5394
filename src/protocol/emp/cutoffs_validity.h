/* Whether cutoffs still fit the machine that they were made for: their age, and what has
 * changed. */
#ifndef TARE_PROTOCOL_EMP_CUTOFFS_VALIDITY_H
#define TARE_PROTOCOL_EMP_CUTOFFS_VALIDITY_H

#include "base/array.h"
#include "record/machine.h"

#define CUTOFFS_OLD_DAYS 90 /* by then a typical machine has been updated */

/* Whether more than CUTOFFS_OLD_DAYS days lie between the two (CLOCK_REALTIME), in either
 * direction: a stored run may be older than the cutoffs. *days counts from made_at to at. A time of
 * 0 is unknown and not old. */
bool cutoffs_old(int64_t made_at_ns, int64_t at_ns, int64_t *days);

struct cutoffs_change {
	const char *fact;	/* "kernel.release" */
	const char *name;	/* "kernel"; NULL: it lists daemons */
	const char *then, *now; /* borrowed from the machines */
	char *come, *gone;	/* daemons that only one machine lists; NULL: none */
};
typedef ARRAY(struct cutoffs_change) cutoffs_change_list;

/* Compares kernel, CPUs and known daemons. A fact that is unknown for either machine is no change.
 * Nor are updaters, which come and go by themselves, or missing daemons if it was quieted. */
void cutoffs_changes(const struct machine *then, const struct machine *now, bool quieted,
		     cutoffs_change_list *into);
void cutoffs_changes_release(cutoffs_change_list *list);

#endif
