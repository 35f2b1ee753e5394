#include "cmd/time/quiet.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/core/json.h"

typedef ARRAY(const char *) name_list;

/* The knobs that a version of EMP up to this one asks for. */
static void find_knobs(int version, name_list *out)
{
	for (const struct quiet_knob *k = quiet_knobs; k->name; k++)
		for (int v = 1; v <= version; v++) {
			char asked[16];
			snprintf(asked, sizeof asked, "EMP v%d", v);
			if (strstr(k->source, asked)) {
				array_push(out, k->name);
				break;
			}
		}
}

/* Where the machine is: for tests a tree of files, as for 'tare quiet'. */
static struct quiet_options machine_here(void)
{
	return (struct quiet_options){ .root = getenv("TARE_QUIET_ROOT") };
}

int time_quiet_begin(const struct time_options *o, struct time_quiet *q, struct error *err)
{
	struct quiet_options options = machine_here();
	struct quiet_status status;
	*q = (struct time_quiet){ .asked = o->quiet || o->emp };
	if (!q->asked)
		return 0;
	if (quiet_look(&options, &status, err))
		return error_prefix(err, "time");
	if (status.quiet && !status.owner && !status.stale) {
		q->standing = true;
		return 0;
	}
	name_list knobs = { 0 };
	if (!o->quiet)
		find_knobs(o->emp, &knobs);
	options.only = knobs.items;
	options.only_count = knobs.count;
	int failed = quiet_apply(&options, getpid(), &q->changes, err);
	array_release(&knobs);
	q->applied = !failed;
	return failed ? error_prefix(err, "time") : 0;
}

int time_quiet_end(struct time_quiet *q, struct error *err)
{
	struct quiet_options options = machine_here();
	quiet_list restored = { 0 };
	int failed = q->applied ? quiet_restore_own(&options, getpid(), &restored, err) : 0;
	if (failed && !*err->hint)
		error_hint(err, "'tare quiet --restore' tries again");
	q->applied = false;
	quiet_list_release(&restored);
	quiet_list_release(&q->changes);
	return failed;
}

json_t *time_quiet_json(const struct time_quiet *q)
{
	static const char *const states[QUIET_STATES] = { [QUIET_CHANGED] = "changed",
							  [QUIET_ALREADY] = "as wanted",
							  [QUIET_REFUSED] = "refused" };
	if (!q->asked)
		return NULL;
	if (q->standing)
		return json_string("standing");
	json_t *list = json_array();
	for (size_t i = 0; i < q->changes.count; i++) {
		const struct quiet_item *item = &q->changes.items[i];
		if (!states[item->state])
			continue;
		json_t *o = json_object();
		json_object_set_new(o, "knob", json_text(item->knob));
		json_object_set_new(o, "what", json_text(item->what));
		json_object_set_new(o, "before", json_text(item->before));
		json_object_set_new(o, "after", json_text(item->after));
		json_object_set_new(o, "state", json_text(states[item->state]));
		json_array_append_new(list, o);
	}
	return list;
}
