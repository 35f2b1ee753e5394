/* Executions of queries into their tables, one by one as they are made, or all at once. */
#include "lab/queries_rows.h"

#include <inttypes.h>
#include <stdlib.h>

const struct queries_table_spec queries_tables[QUERIES_TABLES] = {
	[QUERIES_RUN] = { "query_run", query_run_fields, "", "run" },
	[QUERIES_TEXT] = { "query_text", query_text_fields, "", "query" },
	/* by hash, which is unsigned */
	[QUERIES_PLAN] = { "query_plan", query_plan_fields, " ON CONFLICT DO NOTHING",
			   "hash < 0, hash" },
	[QUERIES_EVENT] = { "query_event", query_event_fields, "", "id" },
	[QUERIES_AT] = { "query_at", query_at_fields,
			 " ON CONFLICT (run, query, cardinality)"
			 " DO UPDATE SET table_bytes = excluded.table_bytes",
			 "query, cardinality" },
};

/* The numbers in the schema's views. */
_Static_assert(QUERY_RESTARTED == 0 && QUERY_BACKED_OFF == 1 && QUERY_PAUSED == 2 &&
		       QUERY_RESUMED == 3 && QUERY_SAME_PLAN == 4 && QUERY_MADE_TABLE == 5 &&
		       QUERY_GAVE_UP == 6 && QUERY_EVENTS == 7,
	       "");

/* ---- statements, kept prepared ---- */

/* Behind an insert for each table. */
enum { ADD_EXECUTION = QUERIES_TABLES, FIND_AT, LAST_NUMBER, STATEMENTS };
_Static_assert(STATEMENTS == LAB_QUERY_STATEMENTS, "");

static const char storing[] = "store executions of queries in";

static char *insert_of(const char *table, const struct field *fields, const char *more,
		       const char *there)
{
	struct strbuf columns = { 0 }, sql = { 0 };
	fields_columns(fields, true, &columns);
	strbuf_puts(&columns, more);
	char *insert = sql_insert(table, columns.text);
	strbuf_printf(&sql, "%s%s", insert, there);
	strbuf_release(&columns);
	free(insert);
	return strbuf_detach(&sql);
}

/* NULL: it cannot be prepared, and err says why. */
static sqlite3_stmt *statement(struct lab *lab, int which, struct error *err)
{
	static const char find_at[] =
		"SELECT id FROM query_at WHERE run = ? AND query = ? AND cardinality = ?";
	/* numbers and ids of a run's executions ascend together */
	static const char last_number[] =
		"SELECT number FROM execution WHERE run = ? ORDER BY id DESC LIMIT 1";
	if (lab->queries[which])
		return lab->queries[which];
	const struct queries_table_spec *spec = which < QUERIES_TABLES ? &queries_tables[which]
								       : NULL;
	char *sql = which == FIND_AT	   ? xstrdup(find_at)
		    : which == LAST_NUMBER ? xstrdup(last_number)
		    : which == ADD_EXECUTION
			    ? insert_of("query_execution", query_execution_fields, ", at", "")
			    : insert_of(spec->name, spec->fields, ", run", spec->there);
	lab_prepare(lab, &lab->queries[which], sql, storing, err);
	free(sql);
	return lab->queries[which];
}

/* The integer that the statement gives, 0 when there is no row; resets it. */
static int number_of(struct lab *lab, sqlite3_stmt *stmt, int64_t *value, struct error *err)
{
	int rc = sqlite3_step(stmt), result = 0;
	*value = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		result = lab_fail(lab, err, "read");
	sqlite3_reset(stmt);
	return result;
}

int lab_find_query_at(struct lab *lab, int64_t run, uint32_t query, uint64_t cardinality,
		      int64_t *id, struct error *err)
{
	sqlite3_stmt *stmt = statement(lab, FIND_AT, err);
	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, run);
	sqlite3_bind_int64(stmt, 2, query);
	sqlite3_bind_int64(stmt, 3, (int64_t)cardinality);
	if (number_of(lab, stmt, id, err))
		return -1;
	if (*id)
		return 0;
	return error_set(err, EXIT_USAGE,
			 "run %" PRId64 " has no query %" PRIu32 " at cardinality %" PRIu64, run,
			 query, cardinality);
}

/* ---- rows, within a transaction ---- */

static int insert_row(struct lab *lab, enum queries_table t, int64_t run, const void *row,
		      struct error *err)
{
	sqlite3_stmt *stmt = statement(lab, t, err);
	int at = 1;
	if (!stmt)
		return -1;
	fields_bind(stmt, &at, queries_tables[t].fields, row);
	sqlite3_bind_int64(stmt, at, run);
	return lab_done(lab, stmt, storing, err);
}

/* raw: 0 where only it is kept. */
static int insert_execution(struct lab *lab, int64_t at, struct query_execution x, int64_t raw,
			    struct error *err)
{
	sqlite3_stmt *stmt = statement(lab, ADD_EXECUTION, err);
	int column = 1, result = 0;
	if (!stmt)
		return -1;
	x.raw = raw;
	fields_bind(stmt, &column, query_execution_fields, &x);
	sqlite3_bind_int64(stmt, column, at);
	if (sqlite3_step(stmt) != SQLITE_DONE)
		result = sqlite3_extended_errcode(lab->db) == SQLITE_CONSTRAINT_PRIMARYKEY
				 ? error_set(err, EXIT_USAGE,
					     "execution %" PRIu32 " of this query and cardinality "
					     "is stored already",
					     x.number)
				 : lab_fail(lab, err, storing);
	sqlite3_reset(stmt);
	return result;
}

static int insert_run(struct lab *lab, int64_t run, const struct query_run *q, struct error *err)
{
	int result = insert_row(lab, QUERIES_RUN, run, q, err);
	for (size_t i = 0; i < q->texts.count && !result; i++)
		result = insert_row(lab, QUERIES_TEXT, run, &q->texts.items[i], err);
	return result;
}

/* ---- transactions ---- */

static int finish(struct lab *lab, int result, struct error *err)
{
	if (!result)
		result = lab_commit(lab, storing, err);
	lab_rollback(lab);
	return result;
}

int lab_add_query_run(struct lab *lab, int64_t run, const struct query_run *q, struct error *err)
{
	if (lab_begin(lab, storing, err))
		return -1;
	return finish(lab, insert_run(lab, run, q, err), err);
}

static int add_row(struct lab *lab, enum queries_table t, int64_t run, const void *row,
		   struct error *err)
{
	if (lab_begin(lab, storing, err))
		return -1;
	return finish(lab, insert_row(lab, t, run, row, err), err);
}

int lab_add_query_at(struct lab *lab, int64_t run, const struct query_at *at, struct error *err)
{
	return add_row(lab, QUERIES_AT, run, at, err);
}

int lab_add_query_plan(struct lab *lab, int64_t run, const struct query_plan *p, struct error *err)
{
	return add_row(lab, QUERIES_PLAN, run, p, err);
}

int lab_add_query_event(struct lab *lab, int64_t run, const struct query_event *e,
			struct error *err)
{
	return add_row(lab, QUERIES_EVENT, run, e, err);
}

int lab_add_query_data(struct lab *lab, int64_t run, const struct query_run *q, struct error *err)
{
	if (lab_begin(lab, storing, err))
		return -1;
	int result = insert_run(lab, run, q, err);
	for (size_t i = 0; i < q->plans.count && !result; i++)
		result = insert_row(lab, QUERIES_PLAN, run, &q->plans.items[i], err);
	for (size_t i = 0; i < q->events.count && !result; i++)
		result = insert_row(lab, QUERIES_EVENT, run, &q->events.items[i], err);
	for (size_t i = 0; i < q->at.count && !result; i++) {
		const struct query_at *at = &q->at.items[i];
		int64_t id = 0;
		result = insert_row(lab, QUERIES_AT, run, at, err);
		if (!result)
			result = lab_find_query_at(lab, run, at->query, at->cardinality, &id, err);
		for (size_t k = 0; k < at->executions.count && !result; k++)
			result = insert_execution(lab, id, at->executions.items[k], 0, err);
	}
	return finish(lab, result, err);
}

int lab_add_query_execution(struct lab *lab, int64_t run, uint32_t query, uint64_t cardinality,
			    const struct query_execution *q, struct execution *raw,
			    struct error *err)
{
	int64_t at = 0, last = 0;
	if (lab_begin(lab, storing, err))
		return -1;
	int result = lab_find_query_at(lab, run, query, cardinality, &at, err);
	sqlite3_stmt *stmt = !result && raw ? statement(lab, LAST_NUMBER, err) : NULL;
	if (!result && raw) {
		if (stmt)
			sqlite3_bind_int64(stmt, 1, run);
		result = !stmt || number_of(lab, stmt, &last, err) ? -1 : 0;
		raw->number = (uint32_t)last + 1;
		if (!result)
			result = lab_insert_execution(lab, run, raw, err);
	}
	if (!result)
		result = insert_execution(lab, at, *q, raw ? raw->id : 0, err);
	result = finish(lab, result, err);
	if (result && raw)
		raw->id = raw->number = 0;
	return result;
}

/* ---- a restart ---- */

int lab_restart_query_at(struct lab *lab, int64_t run, const struct query_event *why,
			 struct error *err)
{
	static const char *const steps[] = {
		/* runs begun before decision 026 have images */
		("DELETE FROM image WHERE id IN (SELECT 4 * x.raw + k.column1 FROM"
		 " query_execution x, (VALUES (0), (1), (2)) k WHERE x.at = ?)"),
		/* processes, ledger and trace go with it */
		"DELETE FROM execution WHERE id IN (SELECT raw FROM query_execution WHERE at = ?)",
		"DELETE FROM query_execution WHERE at = ?",
	};
	int64_t at = 0;
	if (lab_begin(lab, storing, err))
		return -1;
	int result = lab_find_query_at(lab, run, why->query, why->cardinality, &at, err);
	for (size_t i = 0; i < sizeof steps / sizeof *steps && !result; i++)
		result = lab_change(lab, steps[i], at, storing, err);
	if (!result)
		result = insert_row(lab, QUERIES_EVENT, run, why, err);
	return finish(lab, result, err);
}
