/* The conditions of a run: every option that shaped it, as one JSON object. It is parsed once,
 * here; what reports and protocols need are members. */
#ifndef TARE_RECORD_CONDITIONS_H
#define TARE_RECORD_CONDITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

struct knob_changes {
	const char *name;
	size_t changed, refused;
};

struct conditions {
	char *text;	    /* the object as stored; NULL: there is none */
	struct json_t *all; /* the parsed object; NULL: there is none, or it is not JSON */
	/* of commands */
	bool ignore_failure, keep_outliers, no_cutoffs, no_ledger;
	ARRAY(int) expected_codes;
	const char *emp;     /* the version it was made with, such as "v5"; NULL: none */
	const char *measure; /* asked for by --measure, such as "et"; NULL: the best */
	/* in any way; by an earlier 'tare quiet'; for this run, by the changes in quiet */
	bool quieted, quieted_before, quieted_for_it;
	ARRAY(struct knob_changes) quiet;
	/* of profiles: what was sampled; NULL or empty: not this */
	ARRAY(int64_t) pids;
	const char *cgroup, *command;
};

/* Parses the text, which becomes part of the struct and is freed with it. */
struct conditions conditions_take(char *text);
void conditions_release(struct conditions *c);

#endif
