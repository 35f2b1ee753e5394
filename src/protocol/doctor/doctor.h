/* EMP's step 1 (versions 1-4) and TTPv2's step 0 as a judgement of a machine's facts: which
 * conditions will disturb a measurement, how they do so, and how to fix them. Pure: the facts may
 * be old or come from another machine. */
#ifndef TARE_PROTOCOL_DOCTOR_DOCTOR_H
#define TARE_PROTOCOL_DOCTOR_DOCTOR_H

#include <stdbool.h>

#include "base/array.h"
#include "record/machine.h"

enum severity {
	SEVERITY_UNKNOWN, /* a fact that the check needs is missing */
	SEVERITY_OK,
	SEVERITY_NOTE, /* a condition to report with the results */
	SEVERITY_WARN, /* adds variance, or hides something */
	SEVERITY_BAD,  /* measurements taken now will mislead */
};
extern const char *const severity_names[];

struct finding {
	const char *id;	    /* of the check: "turbo" */
	const char *source; /* what asks for it: "EMP v3, TTP step 0 (b)" */
	enum severity severity;
	char condition[256]; /* what was found, even if OK */
	char effect[384];    /* "" unless NOTE or worse */
	char remedy[640];    /* likewise */
	bool command;	     /* the remedy is a shell command, not a sentence */
};

typedef ARRAY(struct finding) finding_list;

/* Appends one finding per check, worst first, and in the order of the table if equal. Release out
 * with array_release(). */
void doctor_judge(const struct machine *m, finding_list *out);

#endif
