/* Counts what happens in a subject's whole tree: its threads, and children that nobody waits for.
 * Each event is opened on the first process before that executes its program, is enabled by the
 * exec, and is inherited. Events are read one by one, because each then says itself whether it
 * had a counter all the time. */
#ifndef TARE_COLLECT_COUNTERS_COUNTERS_H
#define TARE_COLLECT_COUNTERS_COUNTERS_H

#include <sys/types.h>

#include "base/error.h"
#include "record/counter.h"

struct counters;

/* list: perf's names with commas between them; NULL: the usual ones that this CPU has, and *out is
 * NULL if it has none. Finds out which can be counted at once, by trying. -1: one that was named
 * cannot be counted here (EXIT_ENVIRONMENT), or is not an event (EXIT_USAGE). */
int counters_open(struct counters **out, const char *list, struct error *err);
void counters_close(struct counters *c);

/* Whether the CPU counts anything at all for this process; why, unless NULL, says why not. */
bool counters_hardware(struct error *why);

/* Whether instructions and cycles of user mode will be known. */
bool counters_have(const struct counters *c, const char *name);

/* What is lost because this process may not do all, a sentence; NULL: nothing. */
const char *counters_not_seen(const struct counters *c);

/* Call it while the process waits at its gate. What cannot be opened will be unknown. */
void counters_begin(struct counters *c, pid_t pid);
/* Adds what was counted so far of the tree, living tasks included, and ends the counting. into
 * NULL: only ends it. */
void counters_end(struct counters *c, counter_list *into);

#endif
