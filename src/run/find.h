/* Finds the run that the user means. */
#ifndef TARE_RUN_FIND_H
#define TARE_RUN_FIND_H

#include "lab/lab.h"

/* Like lab_find_run(), but among runs of these kinds (LAB_OF()s): 'last' is the newest that the
 * caller can use. If a named run has another kind, the error says which kind and which command
 * shows it. */
int run_find(struct lab *lab, const char *text, unsigned kinds, int64_t *id, struct error *err);

/* Like run_find(), but accepts a run of another kind; the caller checks *kind. */
int run_find_any(struct lab *lab, const char *text, unsigned kinds, int64_t *id,
		 enum subject_kind *kind, struct error *err);

/* "one of 'tare noise'" */
const char *run_kind_words(enum subject_kind kind);
/* The command that shows a run of this kind: "noise show". */
const char *run_kind_shower(enum subject_kind kind);

#endif
