/* Stored profiles: found and loaded. */
#include <stdlib.h>

#include "cmd/profile/profile.h"
#include "run/control.h"
#include "run/find.h"

#define FLUSH_PATIENCE_S 30

/* That there is no collector to ask is no error: what is in the lab is shown. */
void profile_flush(struct lab *lab, int64_t id)
{
	struct run run = { 0 };
	struct error none = ERROR_INIT;
	struct control_place place;
	if (lab_get_run(lab, id, &run, &none) == 0 && run.status == RUN_GOING &&
	    control_place_of(&place, CONTROL_PROFILE, lab_path(lab), false, &none) == 0)
		free(control_ask(&place, "flush", FLUSH_PATIENCE_S, &none));
	run_release(&run);
}

int profile_load_named(struct loaded_run *into, struct lab *lab, const char *name,
		       const struct profile_filter_options *window, struct error *err)
{
	int64_t id;
	/* only the listing of a function has a use for code */
	const struct load_options how = { .since_ns = window->since_ns,
					  .until_ns = window->until_ns,
					  .code = window->function };
	if (run_find(lab, name ? name : "last", LAB_OF(SUBJECT_SYSTEM), &id, err))
		return -1;
	profile_flush(lab, id);
	return run_load(into, lab, id, &how, err);
}
