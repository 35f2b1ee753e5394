#include "run/record.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "collect/collect.h"

int recorder_open(struct recorder *r, struct lab_access *lab, enum recorder_lab which,
		  struct error *err)
{
	if (which == RECORD_IN_MEMORY)
		lab->file = LAB_IN_MEMORY;
	r->access = lab;
	r->lab = lab_access_open(lab, err);
	if (r->lab)
		return 0;
	if (!*err->hint)
		error_hint(err, "--lab FILE keeps the run elsewhere%s",
			   which == RECORD_IN_FILE ? "" : ", --no-lab keeps nothing");
	return -1;
}

int recorder_add_machine(struct recorder *r, struct error *err)
{
	machine_read(&r->machine);
	return lab_add_machine(r->lab, &r->machine, &r->machine_id, err);
}

int recorder_begin(struct recorder *r, struct run *run, struct error *err)
{
	if ((!r->machine_id && recorder_add_machine(r, err)) ||
	    (!r->invocation && lab_add_invocation(r->lab, r->command_line, &r->invocation, err)))
		return -1;
	run->machine = r->machine_id;
	run->invocation = r->invocation;
	run->directory = getcwd(NULL, 0);
	if (!run->directory)
		run->directory = xstrdup("?");
	run->version = xstrdup(TARE_VERSION);
	run->started_at_ns = clock_realtime_ns();
	return lab_add_run(r->lab, run, err);
}

int recorder_end(struct recorder *r, const struct run *run, enum run_status status, bool keep,
		 struct error *err)
{
	return lab_end_run(r->lab, run->id, status, err) ||
			       (!keep && lab_remove_run(r->lab, run->id, err))
		       ? -1
		       : 0;
}

void recorder_close(struct recorder *r)
{
	machine_release(&r->machine);
	free(r->command_line);
	if (r->access)
		lab_access_close(r->access);
	*r = (struct recorder){ 0 };
}

enum run_status recorded_status(int failed, const struct error *err)
{
	if (!failed)
		return RUN_COMPLETE;
	return err->code == EXIT_INTERRUPTED ? RUN_INTERRUPTED : RUN_FAILED;
}

char *recorded_text(const char *text)
{
	return text ? xstrdup(text) : NULL;
}
