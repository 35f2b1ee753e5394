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

/* An item of a list as a row: what is there to store, and room for one more that was read. */
#define LIST(member, type)                                                       \
	static const void *member##_items(const struct ledger *l, size_t *count) \
	{                                                                        \
		*count = l->member.count;                                        \
		return l->member.items;                                          \
	}                                                                        \
	static void *member##_add(struct ledger *l)                              \
	{                                                                        \
		array_push(&l->member, (type){ 0 });                             \
		return &l->member.items[l->member.count - 1];                    \
	}
LIST(threads, struct ledger_thread)
LIST(entries, struct ledger_entry)
LIST(details, struct ledger_entry)
LIST(others, struct ledger_other)
LIST(interrupts, struct ledger_interrupt)

static const void *subject_items(const struct ledger *l, size_t *count)
{
	*count = 1;
	return l;
}

static void *subject_add(struct ledger *l)
{
	l->present = true;
	return l;
}

/* In the order they are read: the subject's row first, threads before their details. */
static const struct {
	const char *table;
	bool list;		/* id as item_id() and position, else the execution's */
	enum item_kind kind;	/* 0 for threads */
	enum lab_detail detail; /* read from here on */
	const struct shape *shape;
	size_t size;
	const void *(*items)(const struct ledger *l, size_t *count);
	void *(*add)(struct ledger *l);
} parts[LAB_LEDGER_PARTS] = {
	{ "ledger_subject", false, 0, LAB_PROCESSES, &ledger_shape, sizeof(struct ledger),
	  subject_items, subject_add },
	{ "ledger_item", true, ITEM_ENTRY, LAB_PROCESSES, &ledger_entry_shape,
	  sizeof(struct ledger_entry), entries_items, entries_add },
	{ "ledger_item", true, ITEM_OTHER, LAB_PROCESSES, &ledger_other_shape,
	  sizeof(struct ledger_other), others_items, others_add },
	{ "ledger_item", true, ITEM_INTERRUPT, LAB_PROCESSES, &ledger_interrupt_shape,
	  sizeof(struct ledger_interrupt), interrupts_items, interrupts_add },
	{ "ledger_thread", true, 0, LAB_THREADS, &ledger_thread_shape, sizeof(struct ledger_thread),
	  threads_items, threads_add },
	{ "ledger_item", true, ITEM_DETAIL, LAB_THREADS, &ledger_detail_shape,
	  sizeof(struct ledger_entry), details_items, details_add },
};

static const char storing[] = "store a ledger in";

static int prepare(struct lab *lab, int part, struct error *err)
{
	if (lab->add_ledger[part])
		return 0;
	struct strbuf columns = { 0 };
	fields_columns(parts[part].shape->fields, true, &columns);
	strbuf_puts(&columns, parts[part].list ? ", id" : ", execution");
	char *sql = sql_insert(parts[part].table, columns.text);
	int result = lab_prepare(lab, &lab->add_ledger[part], sql, storing, err);
	free(sql);
	strbuf_release(&columns);
	return result;
}

static int insert_part(struct lab *lab, int part, int64_t execution, const struct ledger *l,
		       struct error *err)
{
	size_t count;
	const char *item = parts[part].items(l, &count);
	if (count && prepare(lab, part, err))
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

/* Whoever follows a detail to its thread must find one. */
static bool threads_known(const struct ledger *l)
{
	for (size_t i = 0; i < l->details.count; i++)
		if (l->details.items[i].thread >= l->threads.count)
			return false;
	return true;
}

static int prepare_reading(struct lab *lab, int part, const char *where, sqlite3_stmt **stmt,
			   struct error *err)
{
	struct strbuf sql = { 0 };
	fields_columns(parts[part].shape->fields, false, &sql);
	char *columns = strbuf_detach(&sql);
	if (parts[part].list)
		strbuf_printf(&sql,
			      "SELECT %s, e.id FROM (SELECT id, (%d * id + %d) << %d AS first FROM "
			      "execution WHERE %s) e CROSS JOIN %s l "
			      "ON l.id BETWEEN e.first AND e.first + %d ORDER BY e.id, l.id",
			      columns, 1 << KIND_BITS, parts[part].kind, POSITION_BITS, where,
			      parts[part].table, (1 << POSITION_BITS) - 1);
	else
		strbuf_printf(&sql,
			      "SELECT %s, execution FROM %s WHERE execution IN "
			      "(SELECT id FROM execution WHERE %s) ORDER BY execution",
			      columns, parts[part].table, where);
	int result = lab_prepare(lab, stmt, sql.text, "read", err);
	free(columns);
	strbuf_release(&sql);
	return result;
}

static int read_part(struct lab *lab, int part, const struct lab_some *some, execution_list *into,
		     struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	if (prepare_reading(lab, part, some->where, &stmt, err))
		return -1;
	sqlite3_bind_int64(stmt, 1, some->id);
	int rc, result = 0, last = sqlite3_column_count(stmt) - 1;
	size_t from = 0;
	while (!result && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		int at = 0;
		int64_t id = sqlite3_column_int64(stmt, last);
		struct execution *x = lab_next_execution(into, &from, id);
		if (!x)
			continue;
		if (parts[part].list && !x->ledger.present)
			result = lab_damaged(lab, err, "a part of a ledger has no ledger");
		else if (fields_read(stmt, &at, parts[part].shape->fields,
				     parts[part].add(&x->ledger)))
			result = lab_damaged(lab, err, "a ledger has impossible values");
	}
	if (!result && rc != SQLITE_DONE)
		result = lab_fail(lab, err, "read");
	sqlite3_finalize(stmt);
	return result;
}

int lab_read_ledgers(struct lab *lab, const struct lab_some *some, enum lab_detail detail,
		     execution_list *into, struct error *err)
{
	for (int part = 0; part < LAB_LEDGER_PARTS; part++)
		if (detail >= parts[part].detail && read_part(lab, part, some, into, err))
			return -1;
	for (size_t i = 0; i < into->count; i++)
		if (!threads_known(&into->items[i].ledger))
			return lab_damaged(lab, err, "a ledger has details of an unknown thread");
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
	if (lab_prepare(lab, &stmt, sql, "read", err))
		return -1;
	sqlite3_bind_int64(stmt, 1, execution);
	int rc = sqlite3_step(stmt), result = 0;
	if (rc == SQLITE_ROW)
		result = lab_read_trace(lab, stmt, 0, &t, err);
	else if (rc != SQLITE_DONE)
		result = lab_fail(lab, err, "read");
	sqlite3_finalize(stmt);
	if (result)
		return -1;
	trace_release(into);
	*into = t;
	return 0;
}
