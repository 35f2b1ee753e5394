/* Executions of queries out of their tables. What is out of its bounds is damage. */
#include "lab/queries_rows.h"

#include <inttypes.h>
#include <string.h>

struct reader {
	struct lab *lab;
	struct query_run run;
	bool found;
	int64_t at;				  /* id of the Q@C being read */
	ARRAY(struct query_execution) executions; /* of it, so far */
	struct error *err;
};

static int impossible(struct reader *r)
{
	return lab_damaged(r->lab, r->err, "an execution of a query has impossible values");
}

/* ---- what a run has but for its executions ---- */

/* A new row of the list that the table becomes; NULL: it is no list. */
static void *add_to(struct reader *r, enum queries_table t)
{
	struct query_run *q = &r->run;
	switch (t) {
	case QUERIES_TEXT:
		array_push(&q->texts, (struct query_text){ 0 });
		return &q->texts.items[q->texts.count - 1];
	case QUERIES_PLAN:
		array_push(&q->plans, (struct query_plan){ 0 });
		return &q->plans.items[q->plans.count - 1];
	case QUERIES_EVENT:
		array_push(&q->events, (struct query_event){ 0 });
		return &q->events.items[q->events.count - 1];
	default:
		r->found = true;
		return q;
	}
}

static int read_table(struct reader *r, enum queries_table t, int64_t run)
{
	const struct queries_table_spec *spec = &queries_tables[t];
	struct strbuf columns = { 0 }, sql = { 0 };
	fields_columns(spec->fields, false, &columns);
	strbuf_printf(&sql, "SELECT %s FROM %s WHERE run = ? ORDER BY %s", columns.text, spec->name,
		      spec->order);
	sqlite3_stmt *stmt = NULL;
	int rc = SQLITE_DONE, result = lab_prepare(r->lab, &stmt, sql.text, "read", r->err);
	strbuf_release(&columns);
	strbuf_release(&sql);
	if (!result)
		sqlite3_bind_int64(stmt, 1, run);
	while (!result && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		int at = 0;
		if (fields_read(stmt, &at, spec->fields, add_to(r, t)))
			result = impossible(r);
	}
	if (!result && rc != SQLITE_DONE)
		result = lab_fail(r->lab, r->err, "read");
	sqlite3_finalize(stmt);
	return result;
}

/* ---- executions ---- */

/* Those of the last Q@C, in memory as large as they are. */
static void keep_executions(struct reader *r)
{
	size_t count = r->executions.count;
	if (!count)
		return;
	struct query_at *at = &r->run.at.items[r->run.at.count - 1];
	at->executions.items = xmalloc(count * sizeof *at->executions.items);
	memcpy(at->executions.items, r->executions.items, count * sizeof *at->executions.items);
	at->executions.count = at->executions.capacity = count;
	r->executions.count = 0;
}

/* The Q@C's id, its own columns, then those of an execution, then which raw one that is. */
static int read_joined(void *context, sqlite3_stmt *stmt)
{
	struct reader *r = context;
	struct query_at at = { 0 };
	int64_t id = sqlite3_column_int64(stmt, 0);
	int column = 1;
	if (fields_read(stmt, &column, query_at_fields, &at))
		return impossible(r);
	if (!r->run.at.count || id != r->at) {
		keep_executions(r);
		array_push(&r->run.at, at);
		r->at = id;
	}
	if (sqlite3_column_type(stmt, column) == SQLITE_NULL) /* none was made yet */
		return 0;
	array_reserve(&r->executions, 1);
	struct query_execution *x = &r->executions.items[r->executions.count++];
	*x = (struct query_execution){ 0 };
	if (fields_read(stmt, &column, query_execution_fields, x))
		return impossible(r);
	x->raw = sqlite3_column_int64(stmt, column);
	return 0;
}

/* One statement, whose order is that of the two tables' own keys: nothing is sorted. */
static int read_ats(struct reader *r, int64_t run)
{
	struct strbuf at = { 0 }, columns = { 0 }, sql = { 0 };
	fields_columns(query_at_fields, false, &at);
	lab_readable_columns(r->lab, &lab_growing[LAB_QUERY_EXECUTION], &columns);
	strbuf_printf(
		&sql,
		"SELECT id, %s, %s, raw FROM query_at a LEFT JOIN query_execution x ON x.at = a.id"
		" WHERE run = ? ORDER BY query, cardinality, execution",
		at.text, columns.text);
	sqlite3_stmt *stmt = NULL;
	int result = lab_prepare(r->lab, &stmt, sql.text, "read", r->err);
	strbuf_release(&at);
	strbuf_release(&columns);
	strbuf_release(&sql);
	if (result)
		return -1;
	sqlite3_bind_int64(stmt, 1, run);
	result = lab_each_row(r->lab, stmt, read_joined, r, r->err);
	if (!result)
		keep_executions(r);
	return result;
}

/* ---- all of it ---- */

static int need_queries(struct lab *lab, int64_t id, struct error *err)
{
	struct run run = { 0 };
	if (lab_get_run(lab, id, &run, err))
		return -1;
	enum subject_kind kind = run.kind;
	run_release(&run);
	if (kind == SUBJECT_QUERY)
		return 0;
	error_set(err, EXIT_USAGE, "run %" PRId64 " is not one of 'tare query'", id);
	return error_hint(err, "'tare show %" PRId64 "' shows it", id);
}

int lab_get_query_run(struct lab *lab, int64_t run, struct query_run *into, struct error *err)
{
	struct reader r = { .lab = lab, .err = err };
	/* all tables as of one moment: the run may be going */
	bool alone = sqlite3_get_autocommit(lab->db);
	if (alone && sqlite3_exec(lab->db, "BEGIN", NULL, NULL, NULL))
		return lab_fail(lab, err, "read");
	int result = need_queries(lab, run, err);
	for (int t = QUERIES_RUN; t < QUERIES_AT && !result; t++)
		result = read_table(&r, (enum queries_table)t, run);
	if (!result && !r.found)
		result = error_set(err, EXIT_USAGE, "nothing of run %" PRId64 " was stored", run);
	if (!result)
		result = read_ats(&r, run);
	if (alone)
		lab_rollback(lab);
	array_release(&r.executions);
	if (result) {
		query_run_release(&r.run);
		return -1;
	}
	*into = r.run;
	return 0;
}

int lab_get_query_ledger(struct lab *lab, int64_t run, uint32_t query, uint64_t cardinality,
			 execution_list *into, struct error *err)
{
	struct lab_some of_at = { "id IN (SELECT raw FROM query_execution WHERE at = ?)", 0 };
	if (need_queries(lab, run, err) ||
	    lab_find_query_at(lab, run, query, cardinality, &of_at.id, err))
		return -1;
	return lab_read_some(lab, &of_at, LAB_PROCESSES, into, err);
}
