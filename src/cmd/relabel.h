/* Commands that give a run another text: private to cmd/. */
#ifndef TARE_CMD_RELABEL_H
#define TARE_CMD_RELABEL_H

#include "lab/lab.h"

struct relabel {
	const char *usage, *about;
	const char *needed, *example; /* when there are not two operands: the error and its hint */
	int (*change)(struct lab *lab, int64_t run, const char *text, struct error *err);
	bool some; /* it is tags: --add and --remove change some of them */
	void (*show)(const struct run *run); /* with a RUN alone; NULL: that is an error */
	const char *now, *noun; /* "run 1 is now [now]'text'", "run 1 has no [noun] now" */
};

int cmd_relabel(const struct relabel *what, struct lab_access *lab, int argc, char **argv);

#endif
