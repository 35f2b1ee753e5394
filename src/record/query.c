#include "record/query.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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
							 "resumed",   "same plan",  "made table",
							 "gave up" };
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

/* ---- columns ---- */

enum absence {
	NEVER, /* always known */
	ZERO,
	ONES, /* ABSENT_NS, -1 */
	BIT,
};

#define SIZE_OF(field) sizeof(((struct query_execution *)NULL)->field)
#define AT(field) offsetof(struct query_execution, field)
#define FIELD(column, is, field, unknown)                                                      \
	{                                                                                      \
		.name = (column), .kind = (is), .bytes = SIZE_OF(field), .absence = (unknown), \
		.offset = AT(field),                                                           \
	}
#define BITS(column, is, field, bits, nth)                                               \
	{                                                                                \
		.name = (column), .kind = (is), .bytes = SIZE_OF(field), .absence = BIT, \
		.offset = AT(field), .bits_offset = AT(bits), .bit = (nth),              \
	}
#define OF_ROLE(role, column, is, measure) \
	BITS(column, is, usage[role].value[measure], usage[role].missing, measure)
#define ROLE(role, name)                                                           \
	OF_ROLE(role, name "_user_ns", QUERY_DURATION, QUERY_USER_NS),             \
		OF_ROLE(role, name "_system_ns", QUERY_DURATION, QUERY_SYSTEM_NS), \
		OF_ROLE(role, name "_blkio_ns", QUERY_DURATION, QUERY_BLKIO_NS),   \
		OF_ROLE(role, name "_reads", QUERY_NUMBER, QUERY_READS),           \
		OF_ROLE(role, name "_writes", QUERY_NUMBER, QUERY_WRITES),         \
		OF_ROLE(role, name "_nvcsw", QUERY_NUMBER, QUERY_NVCSW),           \
		OF_ROLE(role, name "_nivcsw", QUERY_NUMBER, QUERY_NIVCSW),         \
		OF_ROLE(role, name "_majflt", QUERY_NUMBER, QUERY_MAJFLT),         \
		OF_ROLE(role, name "_guest_ns", QUERY_DURATION, QUERY_GUEST_NS),   \
		FIELD(name "_processes", QUERY_NUMBER, usage[role].processes, NEVER)
#define OVERALL(name, measure) \
	BITS("overall_" name "_ns", QUERY_DURATION, overall_ns[measure], overall_missing, measure)

const struct query_column query_columns[QUERY_COLUMNS] = {
	FIELD("execution", QUERY_NUMBER, number, NEVER),
	FIELD("started_at_ns", QUERY_MOMENT, started_at_ns, ZERO),
	FIELD("timed_out", QUERY_FLAG, outcome, NEVER),
	FIELD("measured_ns", QUERY_DURATION, measured_ns, NEVER),
	FIELD("snapshot_ns", QUERY_DURATION, snapshot_ns, NEVER),
	FIELD("plan", QUERY_HASH, plan, ZERO),
	ROLE(QUERY_QUERY, "query"),
	ROLE(QUERY_UTILITY, "utility"),
	ROLE(QUERY_DAEMON, "daemon"),
	ROLE(QUERY_USER, "user"),
	ROLE(QUERY_OWN, "tare"),
	OVERALL("user", OVERALL_USER),
	OVERALL("nice", OVERALL_NICE),
	OVERALL("system", OVERALL_SYSTEM),
	OVERALL("idle", OVERALL_IDLE),
	OVERALL("iowait", OVERALL_IOWAIT),
	OVERALL("irq", OVERALL_IRQ),
	OVERALL("softirq", OVERALL_SOFTIRQ),
	OVERALL("steal", OVERALL_STEAL),
	OVERALL("guest", OVERALL_GUEST),
	FIELD("query_process", QUERY_IDENTITY, query_process, NEVER),
	FIELD("query_tasks", QUERY_NUMBER, query_tasks, NEVER),
	FIELD("utility_most_ns", QUERY_DURATION, utility_most_ns, NEVER),
	FIELD("blkio_most_ns", QUERY_DURATION, blkio_most_ns, NEVER),
	FIELD("other_query", QUERY_NUMBER, other_query, NEVER),
	FIELD("other_utility", QUERY_NUMBER, other_utility, NEVER),
	FIELD("ephemeral", QUERY_NUMBER, ephemeral, ONES),
	FIELD("own_device_ns", QUERY_DURATION, own_device_ns, ONES),
	FIELD("others_device_ns", QUERY_DURATION, others_device_ns, ONES),
	FIELD("rows", QUERY_NUMBER, rows, NEVER),
	FIELD("read_bytes", QUERY_NUMBER, read_bytes, ONES),
	FIELD("run_delay_ns", QUERY_DURATION, run_delay_ns, ONES),
	FIELD("lost", QUERY_NUMBER, lost, NEVER),
};

static uint64_t load(const struct query_column *c, const struct query_execution *x)
{
	uint64_t wide;
	uint32_t narrow;
	const char *from = (const char *)x + c->offset;
	if (c->bytes == sizeof narrow) {
		memcpy(&narrow, from, sizeof narrow);
		return narrow;
	}
	memcpy(&wide, from, sizeof wide);
	return wide;
}

static void store(const struct query_column *c, struct query_execution *x, uint64_t value)
{
	uint32_t narrow = (uint32_t)value;
	char *to = (char *)x + c->offset;
	if (c->bytes == sizeof narrow)
		memcpy(to, &narrow, sizeof narrow);
	else
		memcpy(to, &value, sizeof value);
}

static bool has_bit(const struct query_column *c, const struct query_execution *x)
{
	uint32_t bits;
	memcpy(&bits, (const char *)x + c->bits_offset, sizeof bits);
	return bits >> c->bit & 1;
}

static void set_bit(const struct query_column *c, struct query_execution *x, bool missing)
{
	uint32_t bits;
	char *at = (char *)x + c->bits_offset;
	memcpy(&bits, at, sizeof bits);
	bits = missing ? bits | 1u << c->bit : bits & ~(1u << c->bit);
	memcpy(at, &bits, sizeof bits);
}

bool query_column_get(const struct query_column *c, const struct query_execution *x,
		      uint64_t *value)
{
	uint64_t is = load(c, x);
	bool known = true;
	if (c->absence == ZERO)
		known = is != 0;
	else if (c->absence == ONES)
		known = is != UINT64_MAX;
	else if (c->absence == BIT)
		known = !has_bit(c, x);
	*value = known ? is : 0;
	return known;
}

uint64_t query_column_most(const struct query_column *c)
{
	if (c->kind == QUERY_FLAG)
		return 1;
	if (c->kind == QUERY_HASH || c->kind == QUERY_IDENTITY)
		return UINT64_MAX;
	return c->bytes == sizeof(uint32_t) ? UINT32_MAX : INT64_MAX;
}

void query_column_set(const struct query_column *c, struct query_execution *x, uint64_t value)
{
	store(c, x, value);
	if (c->absence == BIT)
		set_bit(c, x, false);
}

void query_column_clear(const struct query_column *c, struct query_execution *x)
{
	store(c, x, c->absence == ONES ? UINT64_MAX : 0);
	if (c->absence == BIT)
		set_bit(c, x, true);
}
