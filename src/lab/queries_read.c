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

static int read_table(struct reader *r, enum queries_table t, int64_t run)
{
	static const struct {
		const char *order;
		size_t list, size; /* where its rows go; of size 0: into the run itself */
	} reading[] = {
		[QUERIES_RUN] = { "run", 0, 0 },
		[QUERIES_TEXT] = { "query", offsetof(struct query_run, texts),
				   sizeof(struct query_text) },
		/* by hash, which is unsigned */
		[QUERIES_PLAN] = { "hash < 0, hash", offsetof(struct query_run, plans),
				   sizeof(struct query_plan) },
		[QUERIES_EVENT] = { "id", offsetof(struct query_run, events),
				    sizeof(struct query_event) },
	};
	const struct lab_table *spec = &queries_tables[t];
	sqlite3_stmt *stmt = NULL;
	int result = lab_select(r->lab, &stmt, spec->fields, ARGS(NUM(run)), r->err,
				" FROM %s WHERE run = ? ORDER BY %s", spec->name, reading[t].order);
	while (lab_row(r->lab, stmt, "read", &result, r->err)) {
		void *row = (char *)&r->run + reading[t].list;
		int at = 0;
		r->found = true;
		if (fields_read(stmt, &at, spec->fields,
				reading[t].size ? lab_list_add(row, reading[t].size) : row))
			result = impossible(r);
	}
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

/* The columns of an execution, then the Q@C's id and its own columns. */
static int read_joined(struct reader *r, sqlite3_stmt *stmt)
{
	struct query_at at = { 0 };
	struct query_execution x = { 0 };
	int column = 0;
	bool made = sqlite3_column_type(stmt, 0) != SQLITE_NULL;
	bool sound = !fields_read(stmt, &column, query_execution_fields, &x) || !made;
	int64_t id = sqlite3_column_int64(stmt, column++);
	if (fields_read(stmt, &column, query_at_fields, &at) || !sound)
		return impossible(r);
	if (!r->run.at.count || id != r->at) {
		keep_executions(r);
		array_push(&r->run.at, at);
		r->at = id;
	}
	if (made)
		array_push(&r->executions, x);
	return 0;
}

/* One statement, whose order is that of the two tables' own keys: nothing is sorted. */
static int read_ats(struct reader *r, int64_t run)
{
	struct strbuf at = { 0 };
	sqlite3_stmt *stmt = NULL;
	fields_columns(query_at_fields, false, &at);
	int result = lab_select_growing(r->lab, &stmt, LAB_QUERY_EXECUTION, ARGS(NUM(run)), r->err,
					", id, %s FROM query_at a LEFT JOIN query_execution x"
					" ON x.at = a.id WHERE run = ?"
					" ORDER BY query, cardinality, execution",
					at.text);
	while (lab_row(r->lab, stmt, "read", &result, r->err))
		result = read_joined(r, stmt);
	strbuf_release(&at);
	if (!result)
		keep_executions(r);
	return result;
}

/* ---- all of it ---- */

static int need_queries(struct lab *lab, int64_t run, struct error *err)
{
	return lab_need_kind(lab, run, SUBJECT_QUERY, "is not one of 'tare query'", err);
}

int lab_get_query_run(struct lab *lab, int64_t run, struct query_run *into, struct error *err)
{
	struct reader r = { .lab = lab, .err = err };
	bool alone; /* the run may be going */
	if (lab_begin_reading(lab, &alone, err))
		return -1;
	int result = need_queries(lab, run, err);
	for (int t = QUERIES_RUN; t < QUERIES_AT && !result; t++) {
		result = read_table(&r, (enum queries_table)t, run);
		if (!result && !r.found)
			result = error_set(err, EXIT_USAGE, "nothing of run %" PRId64 " was stored",
					   run);
	}
	if (!result)
		result = read_ats(&r, run);
	lab_end_reading(lab, alone);
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
