#include "record/query.h"

#include <stdlib.h>

const char *query_role_name(enum query_role role)
{
	static const char *const names[QUERY_ROLES] = { "query", "utility", "daemon", "user",
							"tare" };
	return names[role];
}

const char *query_measure_name(enum query_measure m)
{
	static const char *const names[QUERY_MEASURES] = { "user",   "system", "blkio",
							   "reads",  "writes", "nvcsw",
							   "nivcsw", "majflt", "guest" };
	return names[m];
}

const char *query_event_name(enum query_event_kind kind)
{
	static const char *const names[QUERY_EVENTS] = { "restarted", "backed off", "paused",
							 "resumed", "same plan" };
	return names[kind];
}

void query_run_release(struct query_run *r)
{
	for (size_t i = 0; i < r->at.count; i++)
		array_release(&r->at.items[i].executions);
	array_release(&r->at);
	for (size_t i = 0; i < r->texts.count; i++) {
		free(r->texts.items[i].name);
		free(r->texts.items[i].sql);
	}
	array_release(&r->texts);
	for (size_t i = 0; i < r->plans.count; i++)
		free(r->plans.items[i].json);
	array_release(&r->plans);
	for (size_t i = 0; i < r->events.count; i++)
		free(r->events.items[i].text);
	array_release(&r->events);
	free(r->version);
	free(r->settings);
	free(r->experiment_name);
	free(r->experiment);
	free(r->scenario);
	*r = (struct query_run){ 0 };
}

uint64_t query_cpu_ns(const struct query_execution *x, enum query_role role)
{
	const uint64_t *value = x->usage[role].value;
	return value[QUERY_USER_NS] + value[QUERY_SYSTEM_NS];
}

uint64_t query_process_ns(const struct query_execution *x, enum query_role role)
{
	return query_cpu_ns(x, role) + x->usage[role].value[QUERY_BLKIO_NS];
}
