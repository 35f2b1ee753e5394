#include "record/query.h"

#include <stddef.h>
#include <stdlib.h>

#include "record/measure.h"

const char *const query_role_names[QUERY_ROLES] = { "query", "utility", "daemon", "user", "tare" };

static const struct measure measures[QUERY_MEASURES] = {
	[QUERY_USER_NS] = { "user_ns", UNIT_NS, .title = "user", .meaning = "user time" },
	[QUERY_SYSTEM_NS] = { "system_ns", UNIT_NS, .title = "system", .meaning = "system time" },
	[QUERY_BLKIO_NS] = { "blkio_ns", UNIT_NS, .title = "blkio",
			     .meaning = "time blocked on block I/O" },
	[QUERY_READS] = { "reads", .title = "reads", .meaning = "read calls" },
	[QUERY_WRITES] = { "writes", .title = "writes", .meaning = "write calls" },
	[QUERY_NVCSW] = { "nvcsw", .title = "nvcsw", .meaning = "voluntary context switches" },
	[QUERY_NIVCSW] = { "nivcsw", .title = "nivcsw", .meaning = "involuntary context switches" },
	[QUERY_MAJFLT] = { "majflt", .title = "majflt", .meaning = "major page faults" },
	[QUERY_GUEST_NS] = { "guest_ns", UNIT_NS, .title = "guest",
			     .meaning = "time running guests" },
};

const char *query_measure_name(enum query_measure m)
{
	return measures[m].title;
}

const char *const query_event_names[QUERY_EVENTS] = { "restarted", "backed off", "paused",
						      "resumed",   "same plan",	 "made table",
						      "gave up" };

const char *const query_transaction_names[QUERY_TRANSACTIONS] = { "read only", "rolled back",
								  "committed" };

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

/* ---- the catalogue ---- */

#define X(member, ...) FACT(struct query_execution, member, __VA_ARGS__)

static const struct measure overall_times[OVERALL_GUEST + 1] = {
	[OVERALL_USER] = { "user_ns", UNIT_NS, .meaning = "time in user mode, of all CPUs" },
	[OVERALL_NICE] = { "nice_ns", UNIT_NS, .meaning = "time in user mode, low priority" },
	[OVERALL_SYSTEM] = { "system_ns", UNIT_NS, .meaning = "time in kernel mode" },
	[OVERALL_IDLE] = { "idle_ns", UNIT_NS, .meaning = "time with nothing to do" },
	[OVERALL_IOWAIT] = { "iowait_ns", UNIT_NS, .meaning = "time idle with I/O pending" },
	[OVERALL_IRQ] = { "irq_ns", UNIT_NS, .meaning = "time in interrupts" },
	[OVERALL_SOFTIRQ] = { "softirq_ns", UNIT_NS, .meaning = "time in soft interrupts" },
	[OVERALL_STEAL] = { "steal_ns", UNIT_NS, .meaning = "time taken by the hypervisor" },
	[OVERALL_GUEST] = { "guest_ns", UNIT_NS, .meaning = "time running a guest" },
};

#define ROLE(role, name, whose)                                                                   \
	X(usage[role].value, name "_", FIELD_MEASURES, whose,                                     \
	  .flags = FIELD_NOT_JSON | FIELD_MISSING, .limit = QUERY_MEASURES, .measures = measures, \
	  .bits = offsetof(struct query_execution, usage[role].missing)),                         \
		X(usage[role].processes, name "_processes", FIELD_U32, "how many there were",     \
		  .flags = FIELD_NOT_JSON)

/* Of the CSV this is the order, too. */
const struct field query_execution_fields[] = {
	X(number, "execution", FIELD_U32, "from 1 within its Q@C", .json = "number",
	  .more = "\"minimum\": 1"),
	X(started_at_ns, "started_at_ns", FIELD_ID, "since 1970", .unit = UNIT_NS,
	  .flags = FIELD_NOT_JSON),
	X(timed_out, "timed_out", FIELD_BOOL, "it was cancelled at the time limit"),
	X(started_at_ns, "started_at", FIELD_DATE, "UTC", .flags = FIELD_ONLY_JSON),
	X(measured_ns, "measured_ns", FIELD_U64, "from asking to the last row", .unit = UNIT_NS),
	X(snapshot_ns, "snapshot_ns", FIELD_U64, "that the snapshots of all processes took",
	  .unit = UNIT_NS, .flags = FIELD_NOT_JSON),
	X(plan, "plan", FIELD_HASH, "hash of its plan"),
	ROLE(QUERY_QUERY, "query", "of the processes that evaluate the query"),
	ROLE(QUERY_UTILITY, "utility", "of the server's other processes"),
	ROLE(QUERY_DAEMON, "daemon", "of daemons"),
	ROLE(QUERY_USER, "user", "of users' processes"),
	ROLE(QUERY_OWN, "tare", "of tare itself"),
	X(overall_ns, "overall_", FIELD_MEASURES, "", .flags = FIELD_NOT_JSON | FIELD_MISSING,
	  .limit = OVERALL_GUEST + 1, .measures = overall_times,
	  .bits = offsetof(struct query_execution, overall_missing)),
	X(query_process, "query_process", FIELD_U64,
	  "which process evaluated it: the same number, the same one; 0: there was none",
	  .unit = UNIT_ID, .flags = FIELD_NOT_JSON),
	X(query_tasks, "query_tasks", FIELD_U32,
	  "threads of it that may run at once; 0 counts as 1", .flags = FIELD_NOT_JSON),
	X(utility_most_ns, "utility_most_ns", FIELD_NS,
	  "user and system time of the server's busiest other process", .unit = UNIT_NS,
	  .flags = FIELD_NOT_JSON),
	X(blkio_most_ns, "blkio_most_ns", FIELD_NS,
	  "of the process, of any role, that was blocked most", .unit = UNIT_NS,
	  .flags = FIELD_NOT_JSON),
	X(other_query, "other_query", FIELD_KNOWN,
	  "processes of another server that evaluated queries", .flags = FIELD_NOT_JSON),
	X(other_utility, "other_utility", FIELD_KNOWN, "other processes of another server",
	  .flags = FIELD_NOT_JSON),
	X(ephemeral, "ephemeral", FIELD_KNOWN, "processes that nobody saw",
	  .flags = FIELD_NOT_JSON),
	X(own_device_ns, "own_device_ns", FIELD_NS, "time that devices served it", .unit = UNIT_NS),
	X(others_device_ns, "others_device_ns", FIELD_NS,
	  "time that devices served everybody else meanwhile", .unit = UNIT_NS),
	X(rows, "rows", FIELD_U64, "fetched"),
	X(read_bytes, "read_bytes", FIELD_NS, "read from devices for it", .unit = UNIT_BYTES),
	X(run_delay_ns, "run_delay_ns", FIELD_NS, "its tasks waited so long for a CPU",
	  .unit = UNIT_NS),
	X(lost, "lost", FIELD_U32, "events the collector lost", .flags = FIELD_NOT_JSON),
	X(workers, "workers", FIELD_KNOWN, "helper processes that worked for it"),
	X(workers_planned, "workers_planned", FIELD_KNOWN, "helper processes that its plan has"),
	X(transaction, "transaction_end", FIELD_ENUM,
	  "how its transaction ended. Only what was committed is left, and only that time has the "
	  "commit in it",
	  .json = "transaction", .limit = QUERY_TRANSACTIONS, .names = query_transaction_names,
	  .flags = FIELD_ZERO_ABSENT | FIELD_NOT_CSV),
	X(table_bytes, "relation_bytes", FIELD_U64,
	  "of the tables in its plan before it, where it may write", .unit = UNIT_BYTES,
	  .flags = FIELD_ZERO_ABSENT | FIELD_NOT_CSV),
	X(raw, "raw", FIELD_ID, "id of its processes and ledger", .flags = FIELD_ONLY_SQL),
	{ 0 },
};

#undef X
#define X(member, ...) FACT(struct query_at, member, __VA_ARGS__)

const struct field query_at_fields[] = {
	X(query, "query", FIELD_U32, "", .more = "\"minimum\": 1"),
	X(cardinality, "cardinality", FIELD_U64, "Of the table that varies; null: none does.",
	  .flags = FIELD_ZERO_ABSENT, .more = "\"minimum\": 1"),
	X(table_bytes, "table_bytes", FIELD_U64, "of the tables it reads, as the server says",
	  .flags = FIELD_ZERO_ABSENT, .more = "\"minimum\": 1"),
	{ 0 },
};

#undef X
#define X(member, ...) FACT(struct query_text, member, __VA_ARGS__)

const struct field query_text_fields[] = {
	X(query, "query", FIELD_U32, "its number", .more = "\"minimum\": 1"),
	X(name, "name", FIELD_RAW, NULL),
	X(sql, "sql", FIELD_RAW, NULL),
	{ 0 },
};
const struct shape query_text_shape = { "query_text", NULL, query_text_fields };

#undef X
#define X(member, ...) FACT(struct query_plan, member, __VA_ARGS__)

const struct field query_plan_fields[] = {
	X(hash, "hash", FIELD_HASH, NULL, .flags = FIELD_ALWAYS),
	X(json, "json", FIELD_TEXT, NULL, .flags = FIELD_ONLY_SQL),
	{ "plan", FIELD_MAP, .flags = FIELD_ONLY_JSON | FIELD_MAYBE,
	  .meaning = "A tree of nodes: node, relation, alias, index, join, conditions, details, "
		     "children." },
	{ 0 },
};
const struct shape query_plan_shape = { "query_plan", NULL, query_plan_fields };

#undef X
#define X(member, ...) FACT(struct query_event, member, __VA_ARGS__)

const struct field query_event_fields[] = {
	X(kind, "kind", FIELD_ENUM, NULL, .limit = QUERY_EVENTS, .names = query_event_names),
	X(at_ns, "at_ns", FIELD_DATE, NULL, .json = "at"),
	X(query, "query", FIELD_U32, NULL, .flags = FIELD_ZERO_ABSENT, .more = "\"minimum\": 1"),
	X(cardinality, "cardinality", FIELD_U64, NULL, .flags = FIELD_ZERO_ABSENT,
	  .more = "\"minimum\": 1"),
	X(plan, "plan", FIELD_HASH, NULL),
	X(before, "before", FIELD_HASH, NULL),
	X(text, "text", FIELD_TEXT, NULL),
	{ 0 },
};
const struct shape query_event_shape = { "query_event", NULL, query_event_fields };

#undef X
#define X(member, ...) FACT(struct query_run, member, __VA_ARGS__)

const struct field query_run_fields[] = {
	X(cpus, "cpus", FIELD_U32, "Online.", .flags = FIELD_ZERO_ABSENT, .more = "\"minimum\": 1"),
	X(experiment_name, "experiment_name", FIELD_TEXT, NULL, .json = "experiment.name"),
	X(experiment, "experiment", FIELD_RAW, "Of its file.", .json = "experiment.text"),
	X(scenario, "scenario", FIELD_TEXT, NULL, .json = "experiment.scenario"),
	X(queries, "queries", FIELD_U32, "That were to be executed.", .json = "experiment.queries"),
	X(planned, "planned", FIELD_U32, "Of each Q@C.", .json = "experiment.executions",
	  .flags = FIELD_ZERO_ABSENT, .more = "\"minimum\": 1"),
	X(cold, "cold", FIELD_BOOL, NULL, .json = "experiment.cold"),
	X(imported, "imported", FIELD_BOOL, "Measured elsewhere.", .json = "experiment.imported"),
	X(time_limit_ns, "time_limit_ns", FIELD_U64, NULL, .json = "experiment.time_limit_ns",
	  .flags = FIELD_ZERO_ABSENT, .more = "\"minimum\": 1"),
	X(seed, "seed", FIELD_U64, NULL, .flags = FIELD_ONLY_SQL),
	{ "experiment.seed", FIELD_TEXT, .flags = FIELD_ONLY_JSON | FIELD_MAYBE,
	  .meaning = "Of 64 bits, more than a number holds everywhere.",
	  .more = "\"pattern\": \"^[0-9]+$\"" },
	X(dbms, "dbms", FIELD_NAME, NULL, .json = "server.dbms",
	  .limit = sizeof(((struct query_run *)NULL)->dbms)),
	X(version, "version", FIELD_TEXT, NULL, .json = "server.version"),
	X(settings, "settings", FIELD_TEXT, NULL, .flags = FIELD_ONLY_SQL),
	{ "server.settings", FIELD_MAP, .flags = FIELD_ONLY_JSON | FIELD_MAYBE },
	X(io_by_process, "io_by_process", FIELD_BOOL,
	  "It reads in threads other than the query's: what rests on the query's blocked time is "
	  "refused.",
	  .json = "server.io_by_process"),
	X(tick_ns, "tick_ns", FIELD_U64, NULL, .flags = FIELD_ONLY_SQL),
	{ 0 },
};
const struct shape query_run_shape = { "query_run", NULL, query_run_fields };
