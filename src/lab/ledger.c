/* The ledger in its tables: one row for the subject, a row per item of each list. */
#include <stdlib.h>
#include <string.h>

#include "lab/sqlite.h"
#include "lab/trace.h"

/* Kinds of rows in ledger_item; ids as the schema makes them. */
enum item_kind { ITEM_ENTRY, ITEM_OTHER, ITEM_INTERRUPT, ITEM_DETAIL };
#define POSITION_BITS 24
#define KIND_BITS 2

static uint64_t item_id(int64_t execution, enum item_kind kind)
{
	return ((uint64_t)execution << KIND_BITS | kind) << POSITION_BITS;
}

#define LIST(table, kind, detail, shape, member)                                      \
	{                                                                             \
		table, true, kind, detail, &(shape), offsetof(struct ledger, member), \
			sizeof *((struct ledger *)NULL)->member.items                 \
	}

/* In the order they are read: the subject's row first, threads before their details. */
static const struct {
	const char *table;
	bool list;		/* id as item_id() and position, else the execution's */
	enum item_kind kind;	/* 0 for threads */
	enum lab_detail detail; /* read from here on */
	const struct shape *shape;
	size_t offset, size; /* of the list, and of an item */
} parts[LAB_LEDGER_PARTS] = {
	{ "ledger_subject", false, 0, LAB_PROCESSES, &ledger_shape, 0, 0 },
	LIST("ledger_item", ITEM_ENTRY, LAB_PROCESSES, ledger_entry_shape, entries),
	LIST("ledger_item", ITEM_OTHER, LAB_PROCESSES, ledger_other_shape, others),
	LIST("ledger_item", ITEM_INTERRUPT, LAB_PROCESSES, ledger_interrupt_shape, interrupts),
	LIST("ledger_thread", 0, LAB_THREADS, ledger_thread_shape, threads),
	LIST("ledger_item", ITEM_DETAIL, LAB_THREADS, ledger_detail_shape, details),
};

static const char storing[] = "store a ledger in";

static int insert_part(struct lab *lab, int part, int64_t execution, const struct ledger *l,
		       struct error *err)
{
	byte_list list = { (char *)l, 1, 1 };
	if (parts[part].list)
		memcpy(&list, (const char *)l + parts[part].offset, sizeof list);
	size_t count = list.count;
	const char *item = list.items;
	const struct lab_table table = { parts[part].table, parts[part].shape->fields,
					 parts[part].list ? "id" : "execution", NULL };
	if (count && !lab->add_ledger[part] &&
	    lab_prepare_inserts(lab, &table, 1, &lab->add_ledger[part], storing, err))
		return -1;
	if (count >> POSITION_BITS)
		return error_set(err, EXIT_USAGE, "a ledger has %zu rows of a kind, %d are room",
				 count, 1 << POSITION_BITS);
	sqlite3_stmt *stmt = lab->add_ledger[part];
	uint64_t id = parts[part].list ? item_id(execution, parts[part].kind) : (uint64_t)execution;
	for (size_t i = 0; i < count; i++, item += parts[part].size) {
		int at = 1;
		fields_bind(stmt, &at, parts[part].shape->fields, item);
		sqlite3_bind_int64(stmt, at, (int64_t)(id + i));
		if (lab_done(lab, stmt, storing, err))
			return -1;
	}
	return 0;
}

int lab_insert_ledger(struct lab *lab, int64_t execution, const struct ledger *l, struct error *err)
{
	for (int part = 0; l->present && part < LAB_LEDGER_PARTS; part++)
		if (insert_part(lab, part, execution, l, err))
			return -1;
	return 0;
}

static int read_part(struct lab *lab, int part, const struct lab_some *some, execution_list *into,
		     struct error *err)
{
	const struct field *fields = parts[part].shape->fields;
	sqlite3_stmt *stmt = NULL;
	int result;
	if (parts[part].list)
		result = lab_select(lab, &stmt, fields, ARGS(NUM(some->id)), err,
				    ", e.id FROM (SELECT id, (%d * id + %d) << %d AS first FROM "
				    "execution WHERE %s) e CROSS JOIN %s l "
				    "ON l.id BETWEEN e.first AND e.first + %d ORDER BY e.id, l.id",
				    1 << KIND_BITS, parts[part].kind, POSITION_BITS, some->where,
				    parts[part].table, (1 << POSITION_BITS) - 1);
	else
		result = lab_select(lab, &stmt, fields, ARGS(NUM(some->id)), err,
				    ", execution FROM %s WHERE execution IN "
				    "(SELECT id FROM execution WHERE %s) ORDER BY execution",
				    parts[part].table, some->where);
	int last = sqlite3_column_count(stmt) - 1;
	size_t from = 0;
	while (lab_row(lab, stmt, "read", &result, err)) {
		int at = 0;
		int64_t id = sqlite3_column_int64(stmt, last);
		struct execution *x = lab_next_execution(into, &from, id);
		if (!x)
			continue;
		if (parts[part].list && !x->ledger.present)
			result = lab_damaged(lab, err, "a part of a ledger has no ledger");
		else if (fields_read(stmt, &at, fields,
				     parts[part].list
					     ? lab_list_add((char *)&x->ledger + parts[part].offset,
							    parts[part].size)
					     : &x->ledger))
			result = lab_damaged(lab, err, "a ledger has impossible values");
		else
			x->ledger.present = true;
	}
	return result;
}

int lab_read_ledgers(struct lab *lab, const struct lab_some *some, enum lab_detail detail,
		     execution_list *into, struct error *err)
{
	for (int part = 0; part < LAB_LEDGER_PARTS; part++)
		if (detail >= parts[part].detail && read_part(lab, part, some, into, err))
			return -1;
	/* whoever follows a detail to its thread must find one */
	for (size_t i = 0; i < into->count; i++) {
		const struct ledger *l = &into->items[i].ledger;
		for (size_t k = 0; k < l->details.count; k++)
			if (l->details.items[k].thread >= l->threads.count)
				return lab_damaged(lab, err,
						   "a ledger has details of an unknown thread");
	}
	return 0;
}

int lab_bind_trace(struct lab *lab, sqlite3_stmt *stmt, int at, const struct trace *t,
		   const char *doing, struct error *err)
{
	void *bytes;
	size_t length;
	if (trace_encode(t, &bytes, &length, err))
		return -1;
	sqlite3_bind_int(stmt, at++, TRACE_VERSION);
	sqlite3_bind_int64(stmt, at++, (int64_t)t->events.count);
	sqlite3_bind_int64(stmt, at++, (int64_t)t->names.count);
	sqlite3_bind_int64(stmt, at++, (int64_t)t->lost);
	return sqlite3_bind_blob64(stmt, at, bytes, length, free) ? lab_fail(lab, err, doing) : 0;
}

int lab_insert_trace(struct lab *lab, int64_t execution, const struct trace *t, struct error *err)
{
	static const char sql[] = "INSERT INTO trace (execution, version, events, names, lost, "
				  "data) VALUES (?, ?, ?, ?, ?, ?)";
	static const char doing[] = "store a trace in";
	if (!t->present)
		return 0;
	if (!lab->add_trace && lab_prepare(lab, &lab->add_trace, sql, doing, err))
		return -1;
	sqlite3_bind_int64(lab->add_trace, 1, execution);
	int result = lab_bind_trace(lab, lab->add_trace, 2, t, doing, err);
	if (!result)
		result = lab_done(lab, lab->add_trace, doing, err);
	sqlite3_clear_bindings(lab->add_trace); /* frees the bytes */
	return result;
}

int lab_read_trace(struct lab *lab, sqlite3_stmt *stmt, int column, struct trace *into,
		   struct error *err)
{
	struct error why = ERROR_INIT;
	int64_t events = sqlite3_column_int64(stmt, column + 1),
		names = sqlite3_column_int64(stmt, column + 2);
	const void *bytes = sqlite3_column_blob(stmt, column + 4);
	if (sqlite3_column_int(stmt, column) != TRACE_VERSION)
		return lab_damaged(lab, err, "a trace has an unknown version");
	if (events < 0 || names < 0)
		return lab_damaged(lab, err, "a trace has impossible values");
	if (trace_decode(bytes, (size_t)sqlite3_column_bytes(stmt, column + 4), (size_t)events,
			 (size_t)names, into, &why))
		return lab_damaged(lab, err, why.text);
	into->lost = (uint64_t)sqlite3_column_int64(stmt, column + 3);
	return 0;
}

int lab_get_trace(struct lab *lab, int64_t execution, struct trace *into, struct error *err)
{
	static const char sql[] =
		"SELECT version, events, names, lost, data FROM trace WHERE execution = ?";
	sqlite3_stmt *stmt = NULL;
	struct trace t = { 0 };
	int result = lab_bound(lab, &stmt, sql, ARGS(NUM(execution)), "read", err);
	while (lab_row(lab, stmt, "read", &result, err))
		result = lab_read_trace(lab, stmt, 0, &t, err);
	if (result)
		return -1;
	trace_release(into);
	*into = t;
	return 0;
}
