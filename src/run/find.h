/* Which run is meant. */
#ifndef TARE_RUN_FIND_H
#define TARE_RUN_FIND_H

#include "lab/lab.h"

/* As lab_find_run() reads the text, but among the runs of these kinds: 'last' is the newest that
 * the caller can use. kinds: LAB_OF()s. A run of another kind that was named is an error that says
 * what it is and which command shows it. */
int run_find(struct lab *lab, const char *text, unsigned kinds, int64_t *id, struct error *err);

/* The same, but the caller looks at the kind of what was found. */
int run_find_any(struct lab *lab, const char *text, unsigned kinds, int64_t *id,
		 enum subject_kind *kind, struct error *err);

/* "one of 'tare noise'" */
const char *run_kind_words(enum subject_kind kind);
/* The command that shows a run of this kind: "noise show". */
const char *run_kind_shower(enum subject_kind kind);

#endif
