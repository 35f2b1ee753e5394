/* Executions of queries into their tables, one by one as they are made, or all at once. */
#include "lab/queries_rows.h"

#include <inttypes.h>
#include <stdlib.h>

const struct lab_table queries_tables[QUERIES_TABLES] = {
	[QUERIES_RUN] = { "query_run", query_run_fields, "run", NULL },
	[QUERIES_TEXT] = { "query_text", query_text_fields, "run", NULL },
	[QUERIES_PLAN] = { "query_plan", query_plan_fields, "run", " ON CONFLICT DO NOTHING" },
	[QUERIES_EVENT] = { "query_event", query_event_fields, "run", NULL },
	[QUERIES_AT] = { "query_at", query_at_fields, "run",
			 " ON CONFLICT (run, query, cardinality)"
			 " DO UPDATE SET table_bytes = excluded.table_bytes" },
	[QUERIES_EXECUTION] = { "query_execution", query_execution_fields, "at", NULL },
};

/* The numbers in the schema's views. */
_Static_assert(QUERY_RESTARTED == 0 && QUERY_BACKED_OFF == 1 && QUERY_PAUSED == 2 &&
		       QUERY_RESUMED == 3 && QUERY_SAME_PLAN == 4 && QUERY_MADE_TABLE == 5 &&
		       QUERY_GAVE_UP == 6 && QUERY_EVENTS == 7,
	       "");

/* ---- statements, kept prepared ---- */

static const char storing[] = "store executions of queries in";

/* Binds a row and what it belongs to: the run, or the Q@C. NULL: it cannot be prepared, and err
 * says why. */
static sqlite3_stmt *insert_of(struct lab *lab, enum queries_table t, int64_t of, const void *row,
			       struct error *err)
{
	int at = 1;
	if (!lab->queries[t] &&
	    lab_prepare_inserts(lab, &queries_tables[t], 1, &lab->queries[t], storing, err))
		return NULL;
	fields_bind(lab->queries[t], &at, queries_tables[t].fields, row);
	sqlite3_bind_int64(lab->queries[t], at, of);
	return lab->queries[t];
}

/* The integer that a statement gives which is kept prepared; 0 when there is no row. */
static int kept_number(struct lab *lab, sqlite3_stmt **stmt, const char *sql,
		       const struct arg *args, int64_t *value, struct error *err)
{
	if (!*stmt && lab_prepare(lab, stmt, sql, storing, err))
		return -1;
	lab_bind(*stmt, 1, args);
	int rc = sqlite3_step(*stmt), result = 0;
	*value = rc == SQLITE_ROW ? sqlite3_column_int64(*stmt, 0) : 0;
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		result = lab_fail(lab, err, "read");
	sqlite3_reset(*stmt);
	return result;
}

int lab_find_query_at(struct lab *lab, int64_t run, uint32_t query, uint64_t cardinality,
		      int64_t *id, struct error *err)
{
	if (kept_number(lab, &lab->find_query_at,
			"SELECT id FROM query_at WHERE run = ? AND query = ? AND cardinality = ?",
			ARGS(NUM(run), NUM(query), NUM(cardinality)), id, err))
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
	sqlite3_stmt *stmt = insert_of(lab, t, run, row, err);
	return stmt ? lab_done(lab, stmt, storing, err) : -1;
}

/* raw: 0 where only it is kept. */
static int insert_execution(struct lab *lab, int64_t at, struct query_execution x, int64_t raw,
			    struct error *err)
{
	x.raw = raw;
	sqlite3_stmt *stmt = insert_of(lab, QUERIES_EXECUTION, at, &x, err);
	int result = 0;
	if (!stmt)
		return -1;
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

int lab_add_query_run(struct lab *lab, int64_t run, const struct query_run *q, struct error *err)
{
	if (lab_begin(lab, storing, err))
		return -1;
	return lab_finish(lab, insert_run(lab, run, q, err), storing, err);
}

static int add_row(struct lab *lab, enum queries_table t, int64_t run, const void *row,
		   struct error *err)
{
	if (lab_begin(lab, storing, err))
		return -1;
	return lab_finish(lab, insert_row(lab, t, run, row, err), storing, err);
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
	return lab_finish(lab, result, storing, err);
}

int lab_add_query_execution(struct lab *lab, int64_t run, uint32_t query, uint64_t cardinality,
			    const struct query_execution *q, struct execution *raw,
			    struct error *err)
{
	int64_t at = 0, last = 0;
	if (lab_begin_often(lab, storing, err))
		return -1;
	int result = lab_find_query_at(lab, run, query, cardinality, &at, err);
	if (!result && raw) {
		/* numbers and ids of a run's executions ascend together */
		result = kept_number(
			lab, &lab->last_number,
			"SELECT number FROM execution WHERE run = ? ORDER BY id DESC LIMIT 1",
			ARGS(NUM(run)), &last, err);
		raw->number = (uint32_t)last + 1;
		if (!result)
			result = lab_insert_execution(lab, run, raw, err);
	}
	if (!result)
		result = insert_execution(lab, at, *q, raw ? raw->id : 0, err);
	result = lab_finish(lab, result, storing, err);
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
		result = lab_change(lab, steps[i], ARGS(NUM(at)), storing, err);
	if (!result)
		result = insert_row(lab, QUERIES_EVENT, run, why, err);
	return lab_finish(lab, result, storing, err);
}
