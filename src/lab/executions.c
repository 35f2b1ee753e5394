#include <inttypes.h>
#include <stdlib.h>

#include "lab/sqlite.h"

/* The numbers in the schema's views. */
_Static_assert(OUTCOME_EXITED == 0 && OUTCOME_SIGNALLED == 1 && OUTCOME_TIMED_OUT == 2, "");
_Static_assert(ROLE_SUBJECT == 0 && ROLE_DAEMON == 1 && ROLE_SELF == 2, "");

static const char storing[] = "store an execution in";

static const struct lab_table tables[] = {
	{ "execution", execution_fields, "run", NULL },
	{ "process", process_fields, "execution, position", NULL },
	{ "counter", counter_fields, "execution, position", NULL },
};
_Static_assert(sizeof tables / sizeof *tables == LAB_EXECUTION_TABLES, "");

/* A row of a list that belongs to an execution. */
static int insert_part(struct lab *lab, int table, const void *row, int64_t execution,
		       size_t position, struct error *err)
{
	int at = 1;
	sqlite3_stmt *stmt = lab->add_execution[table];
	fields_bind(stmt, &at, tables[table].fields, row);
	sqlite3_bind_int64(stmt, at++, execution);
	sqlite3_bind_int64(stmt, at, (int64_t)position);
	return lab_done(lab, stmt, storing, err);
}

int lab_insert_execution(struct lab *lab, int64_t run, struct execution *x, struct error *err)
{
	int at = 1;
	if (!lab->add_execution[1] && lab_prepare_inserts(lab, tables, LAB_EXECUTION_TABLES,
							  lab->add_execution, storing, err))
		return -1;
	sqlite3_stmt *stmt = lab->add_execution[0];
	fields_bind(stmt, &at, execution_fields, x);
	sqlite3_bind_int64(stmt, at, run);
	if (lab_done(lab, stmt, storing, err))
		return -1;
	int64_t id = sqlite3_last_insert_rowid(lab->db);
	for (size_t i = 0; i < x->processes.count; i++)
		if (insert_part(lab, 1, &x->processes.items[i], id, i, err))
			return -1;
	for (size_t i = 0; i < x->counters.count; i++)
		if (insert_part(lab, 2, &x->counters.items[i], id, i, err))
			return -1;
	if (lab_insert_ledger(lab, id, &x->ledger, err) ||
	    lab_insert_trace(lab, id, &x->trace, err))
		return -1;
	x->id = id;
	return 0;
}

int lab_add_executions(struct lab *lab, int64_t run, struct execution *x, size_t count,
		       struct error *err)
{
	if (lab_begin_often(lab, storing, err))
		return -1;
	int result = 0;
	for (size_t i = 0; !result && i < count; i++)
		result = lab_insert_execution(lab, run, &x[i], err);
	result = lab_finish(lab, result, storing, err);
	for (size_t i = 0; result && i < count; i++)
		x[i].id = 0;
	return result;
}

int lab_add_execution(struct lab *lab, int64_t run, struct execution *x, struct error *err)
{
	return lab_add_executions(lab, run, x, 1, err);
}

static int read_executions(struct lab *lab, const struct lab_some *some, execution_list *into,
			   struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int result = lab_select_growing(lab, &stmt, LAB_EXECUTION, ARGS(NUM(some->id)), err,
					", id FROM execution WHERE %s ORDER BY id", some->where);
	while (lab_row(lab, stmt, "read", &result, err)) {
		struct execution x = { 0 };
		int at = 0;
		if (fields_read(stmt, &at, execution_fields, &x)) {
			result = lab_damaged(lab, err, "an execution has impossible values");
			continue;
		}
		x.id = sqlite3_column_int64(stmt, at);
		array_push(into, x);
	}
	return result;
}

struct execution *lab_next_execution(execution_list *list, size_t *from, int64_t id)
{
	while (*from < list->count && list->items[*from].id < id)
		(*from)++;
	return *from < list->count && list->items[*from].id == id ? &list->items[*from] : NULL;
}

static int read_processes(struct lab *lab, const struct lab_some *some, execution_list *into,
			  struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	size_t from = 0;
	int result = lab_select_growing(lab, &stmt, LAB_PROCESS, ARGS(NUM(some->id)), err,
					", execution FROM process WHERE execution IN "
					"(SELECT id FROM execution WHERE %s) "
					"ORDER BY execution, position",
					some->where);
	while (lab_row(lab, stmt, "read", &result, err)) {
		struct process p = { 0 };
		int at = 0;
		if (fields_read(stmt, &at, process_fields, &p)) {
			result = lab_damaged(lab, err, "a process has impossible values");
			continue;
		}
		struct execution *x =
			lab_next_execution(into, &from, sqlite3_column_int64(stmt, at));
		if (x) /* else another tare stored it since */
			array_push(&x->processes, p);
	}
	return result;
}

static int read_counters(struct lab *lab, const struct lab_some *some, execution_list *into,
			 struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	size_t from = 0;
	int result = lab_select(lab, &stmt, counter_fields, ARGS(NUM(some->id)), err,
				", execution FROM counter WHERE execution IN "
				"(SELECT id FROM execution WHERE %s) "
				"ORDER BY execution, position",
				some->where);
	while (lab_row(lab, stmt, "read", &result, err)) {
		struct counter c = { 0 };
		int at = 0;
		if (fields_read(stmt, &at, counter_fields, &c)) {
			result = lab_damaged(lab, err, "a counter has impossible values");
			continue;
		}
		struct execution *x =
			lab_next_execution(into, &from, sqlite3_column_int64(stmt, at));
		if (x)
			array_push(&x->counters, c);
	}
	return result;
}

/* 100,000 executions with room for 16 of everything each would be too much. */
static void fit(execution_list *list)
{
	array_each(x, list) {
		array_fit(&x->processes);
		array_fit(&x->counters);
		array_fit(&x->ledger.entries);
		array_fit(&x->ledger.others);
		array_fit(&x->ledger.interrupts);
	}
}

int lab_read_some(struct lab *lab, const struct lab_some *some, enum lab_detail detail,
		  execution_list *into, struct error *err)
{
	execution_list list = { 0 };
	int result = read_executions(lab, some, &list, err);
	if (!result)
		result = read_counters(lab, some, &list, err);
	if (!result && detail >= LAB_PROCESSES)
		result = read_processes(lab, some, &list, err);
	fit(&list);
	if (!result && detail >= LAB_PROCESSES)
		result = lab_read_ledgers(lab, some, detail, &list, err);
	fit(&list);
	if (result) {
		for (size_t i = 0; i < list.count; i++)
			execution_release(&list.items[i]);
		array_release(&list);
		return -1;
	}
	if (!into->count) {
		array_release(into);
		into->items = list.items;
		into->count = list.count;
		into->capacity = list.capacity;
		return 0;
	}
	array_reserve(into, list.count);
	for (size_t i = 0; i < list.count; i++)
		into->items[into->count++] = list.items[i];
	array_release(&list);
	return 0;
}

int lab_get_executions(struct lab *lab, int64_t run, enum lab_detail detail, execution_list *into,
		       struct error *err)
{
	struct lab_some of_run = { "run = ?", run };
	return lab_read_some(lab, &of_run, detail, into, err);
}
