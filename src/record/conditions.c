#include "record/conditions.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct conditions conditions_take(char *text)
{
	struct conditions c = { .text = text, .all = text ? json_loads(text, 0, NULL) : NULL };
	const json_t *quiet = json_object_get(c.all, "quiet");
	const json_t *codes = json_object_get(c.all, "expected_codes");
	const json_t *pids = json_object_get(c.all, "pids");
	c.ignore_failure = json_is_true(json_object_get(c.all, "ignore_failure"));
	c.keep_outliers = json_is_true(json_object_get(c.all, "keep_outliers"));
	c.no_cutoffs = json_is_false(json_object_get(c.all, "cutoffs"));
	c.no_ledger = json_is_false(json_object_get(c.all, "ledger"));
	for (size_t i = 0; i < json_array_size(codes); i++)
		array_push(&c.expected_codes, (int)json_integer_value(json_array_get(codes, i)));
	c.emp = json_string_value(json_object_get(c.all, "emp"));
	c.measure = json_string_value(json_object_get(c.all, "measure"));
	c.quieted = quiet;
	c.quieted_before = json_is_string(quiet);
	c.quieted_for_it = json_is_array(quiet);
	/* how many changes of each knob were made, and how many refused */
	for (size_t i = 0; i < json_array_size(quiet); i++) {
		const json_t *change = json_array_get(quiet, i);
		const char *knob = json_string_value(json_object_get(change, "knob"));
		const char *state = json_string_value(json_object_get(change, "state"));
		size_t at = 0;
		if (!knob || !state)
			continue;
		while (at < c.quiet.count && strcmp(c.quiet.items[at].name, knob) != 0)
			at++;
		if (at == c.quiet.count)
			array_push(&c.quiet, (struct knob_changes){ .name = knob });
		c.quiet.items[at].changed += !strcmp(state, "changed");
		c.quiet.items[at].refused += !strcmp(state, "refused");
	}
	for (size_t i = 0; i < json_array_size(pids); i++)
		array_push(&c.pids, (int64_t)json_integer_value(json_array_get(pids, i)));
	c.cgroup = json_string_value(json_object_get(c.all, "cgroup"));
	c.command = json_string_value(json_object_get(c.all, "command"));
	return c;
}

void conditions_release(struct conditions *c)
{
	array_release(&c->expected_codes);
	array_release(&c->quiet);
	array_release(&c->pids);
	json_decref(c->all);
	free(c->text);
	*c = (struct conditions){ 0 };
}
