#include "record/counter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define X(member, ...) FACT(struct counter, member, __VA_ARGS__)

const struct field counter_fields[] = {
	X(name, "name", FIELD_NAME, "as perf calls it: cycles, branch-misses, instructions:u",
	  .limit = COUNTER_NAME),
	X(value, "value", FIELD_KNOWN,
	  "what was counted of the subject's tree, scaled up if it was not counted all the time; "
	  "absent if it never was",
	  .unit = UNIT_COUNT),
	X(user, "user", FIELD_KNOWN, "the part of it in user mode; absent if not counted apart",
	  .unit = UNIT_COUNT),
	X(kernel, "kernel", FIELD_KNOWN,
	  "the part of it in kernel mode; absent if not counted apart, or not allowed",
	  .unit = UNIT_COUNT),
	X(enabled_ns, "enabled_ns", FIELD_U64, "CPU time of the tree", .unit = UNIT_NS),
	X(running_ns, "running_ns", FIELD_U64,
	  "the part of that time in which it was counted: less if the CPU has fewer counters than "
	  "were asked for",
	  .unit = UNIT_NS),
	{ 0 },
};

const struct shape counter_shape = { "counter", NULL, counter_fields };

int64_t counter_scaled(uint64_t count, uint64_t enabled_ns, uint64_t running_ns)
{
	if (!running_ns)
		return -1;
	if (running_ns >= enabled_ns)
		return (int64_t)count;
	return (int64_t)llround((double)count * (double)enabled_ns / (double)running_ns);
}

bool counter_is_scaled(const struct counter *c)
{
	return c->running_ns < c->enabled_ns;
}

const struct counter *counter_find(const counter_list *list, const char *name)
{
	array_each(c, list)
		if (strcmp(c->name, name) == 0)
			return c->value < 0 ? NULL : c;
	return NULL;
}

int64_t counter_in_user_mode(const counter_list *list, const char *name)
{
	const struct counter *c = counter_find(list, name);
	char only[COUNTER_NAME];
	if (c && c->user >= 0)
		return c->user;
	snprintf(only, sizeof only, "%s:u", name);
	c = counter_find(list, only);
	return c ? c->value : -1;
}
