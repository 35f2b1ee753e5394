/* Lists of runs: searched, in some order, with what came of each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "lab/sqlite.h"

#define TEXT_OF(column) "coalesce(" column "_text, CAST(" column " AS TEXT))"
#define OF_COMMANDS "FROM execution WHERE run = run.id AND NOT warmup"
#define OF_QUERIES "FROM query_at a JOIN query_execution x ON x.at = a.id WHERE a.run = run.id"
#define CAME_OF_OTHERS                                                                  \
	" WHEN 1 THEN (SELECT total(ns) / sum(window_ns * 1.0)"                         \
	"   FROM noise_cpu WHERE run = run.id)"                                         \
	" WHEN 2 THEN (SELECT sum(l.samples * 1.0) / p.hz"                              \
	"   FROM profile p JOIN profile_slice l ON l.run = p.run WHERE p.run = run.id)" \
	" ELSE (SELECT count(*) FROM query_at WHERE run = run.id) END"

/* What runs are sorted by; ones with a figure by kind first, since figures of different kinds do
 * not compare. */
static const struct {
	bool by_kind;
	const char *key;
} orders[LAB_ORDERS] = {
	[LAB_BY_NUMBER] = { false, "id" },
	[LAB_BY_NAME] = { false, TEXT_OF("name") " COLLATE NOCASE" },
	[LAB_BY_COMMAND] = { false, TEXT_OF("command") " COLLATE NOCASE" },
	[LAB_BY_TAGS] = { false, TEXT_OF("tags") " COLLATE NOCASE" },
	[LAB_BY_STATUS] = { false, "iif(status = 0 AND owner_gone(" LAB_OWNER "), 2, status)" },
	[LAB_BY_BEGIN] = { false, "started_at_ns" },
	[LAB_BY_MADE] = { true,
			  "CASE kind WHEN 0 THEN (SELECT count(*) " OF_COMMANDS ")"
			  " WHEN 1 THEN (SELECT total(window_ns) FROM noise_cpu WHERE run = run.id)"
			  " WHEN 2 THEN (SELECT total(samples) FROM profile_slice"
			  "   WHERE run = run.id)"
			  " ELSE (SELECT count(*) " OF_QUERIES ") END" },
	[LAB_BY_ET] = { true,
			"CASE kind WHEN 0 THEN (SELECT avg(max(et_ns - coalesce(shell_et_ns, 0),"
			" 0)) " OF_COMMANDS ")" CAME_OF_OTHERS },
	[LAB_BY_PT] = { true,
			"CASE kind WHEN 0 THEN (SELECT avg(max(pt_exec_ns -"
			" coalesce(shell_pt_exec_ns, 0), 0)) " OF_COMMANDS ")" CAME_OF_OTHERS },
};

/* ---- what came of a run ---- */

static const char *const figures[SUBJECT_KINDS] = {
	[SUBJECT_COMMAND] = "SELECT total(NOT warmup), total(warmup),"
			    " avg(max(et_ns - ?2, 0)) FILTER (WHERE NOT warmup),"
			    " avg(max(pt_exec_ns - ?3, 0)) FILTER (WHERE NOT warmup)"
			    " FROM execution WHERE run = ?1",
	[SUBJECT_CPU] = "SELECT count(*), sum(window_ns * 1.0), total(ns) / sum(window_ns * 1.0)"
			" FROM noise_cpu WHERE run = ?1",
	[SUBJECT_SYSTEM] = "SELECT sum(l.samples * 1.0), sum(l.samples * 1e9) / p.hz"
			   " FROM profile p JOIN profile_slice l ON l.run = p.run WHERE p.run = ?1",
	[SUBJECT_QUERY] = "SELECT (SELECT count(*) FROM query_at a JOIN query_execution x"
			  "   ON x.at = a.id WHERE a.run = ?1),"
			  " (SELECT queries FROM query_run WHERE run = ?1),"
			  " (SELECT count(*) FROM query_at WHERE run = ?1)",
};

static double real_or_nan(sqlite3_stmt *stmt, int column)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL
		       ? (double)NAN
		       : sqlite3_column_double(stmt, column);
}

static uint32_t count_of(sqlite3_stmt *stmt, int column)
{
	return (uint32_t)sqlite3_column_int64(stmt, column);
}

static void read_figures(sqlite3_stmt *stmt, enum subject_kind kind, struct run_summary_row *s)
{
	switch (kind) {
	case SUBJECT_CPU:
		s->cpus = count_of(stmt, 0);
		s->watched_ns = real_or_nan(stmt, 1);
		s->lost_share = real_or_nan(stmt, 2);
		break;
	case SUBJECT_SYSTEM:
		s->samples = real_or_nan(stmt, 0);
		s->sampled_ns = real_or_nan(stmt, 1);
		break;
	case SUBJECT_QUERY:
		s->executions = count_of(stmt, 0);
		s->queries = count_of(stmt, 1);
		s->ats = count_of(stmt, 2);
		break;
	default:
		s->executions = count_of(stmt, 0);
		s->warmups = count_of(stmt, 1);
		s->mean_et_ns = real_or_nan(stmt, 2);
		s->mean_pt_exec_ns = real_or_nan(stmt, 3);
	}
}

static int64_t cost(uint64_t ns)
{
	return ns == ABSENT_NS ? 0 : (int64_t)ns;
}

/* A statement for each kind, made when there is the first run of it. */
static int summarize(struct lab *lab, sqlite3_stmt **of_kind, const struct run *run,
		     struct run_summary_row *s, struct error *err)
{
	sqlite3_stmt **stmt = &of_kind[run->kind];
	*s = (struct run_summary_row){ .mean_et_ns = NAN,
				       .mean_pt_exec_ns = NAN,
				       .watched_ns = NAN,
				       .lost_share = NAN,
				       .samples = NAN,
				       .sampled_ns = NAN };
	if (!*stmt && lab_prepare(lab, stmt, figures[run->kind], "read", err))
		return -1;
	sqlite3_bind_int64(*stmt, 1, run->id);
	if (run->kind == SUBJECT_COMMAND) {
		sqlite3_bind_int64(*stmt, 2, cost(run->shell_et_ns));
		sqlite3_bind_int64(*stmt, 3, cost(run->shell_pt_ns[GRADE_EXEC]));
	}
	int failed = sqlite3_step(*stmt) == SQLITE_ROW ? 0 : lab_fail(lab, err, "read");
	if (!failed)
		read_figures(*stmt, run->kind, s);
	sqlite3_reset(*stmt);
	return failed;
}

static int summarize_all(struct lab *lab, const run_list *runs, size_t from, run_count_list *counts,
			 struct error *err)
{
	sqlite3_stmt *of_kind[SUBJECT_KINDS] = { NULL };
	size_t had = counts->count;
	int failed = 0;
	for (size_t i = from; i < runs->count && !failed; i++) {
		struct run_summary_row s;
		failed = summarize(lab, of_kind, &runs->items[i], &s, err);
		array_push(counts, s);
	}
	for (int i = 0; i < SUBJECT_KINDS; i++)
		sqlite3_finalize(of_kind[i]);
	if (failed)
		counts->count = had;
	return failed;
}

/* ---- lists ---- */

/* Reads what the statement gives and finalizes it; on failure the lists are as before. */
static int collect_runs(struct lab *lab, sqlite3_stmt *stmt, run_list *runs, run_count_list *counts,
			struct error *err)
{
	size_t had = runs->count;
	int rc = SQLITE_DONE, result = 0;
	while (!result && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct run run;
		if (!(result = lab_read_run(lab, stmt, &run, err)))
			array_push(runs, run);
	}
	if (!result && rc != SQLITE_DONE)
		result = lab_fail(lab, err, "read");
	sqlite3_finalize(stmt);
	if (!result && counts)
		result = summarize_all(lab, runs, had, counts, err);
	while (result && runs->count > had)
		run_release(&runs->items[--runs->count]);
	return result;
}

static char *search_sql(const struct lab_search *search)
{
	static const char where[] =
		"WHERE id < ?3 AND (?1 IS NULL"
		" OR instr(lower(" TEXT_OF(
			"name") "), lower(?1))"
				" OR instr(lower(" TEXT_OF(
					"command") "), lower(?1))"
						   " OR instr(lower(" TEXT_OF(
							   "tags") "), lower(?1)))";
	struct strbuf rest = { 0 };
	strbuf_printf(&rest, "%s ORDER BY %s%s %s NULLS LAST", where,
		      orders[search->order].by_kind ? "kind, " : "", orders[search->order].key,
		      search->up ? "ASC" : "DESC");
	strbuf_printf(&rest, "%s LIMIT ?2 OFFSET ?4", search->order ? ", id DESC" : "");
	char *sql = lab_select_runs(rest.text);
	strbuf_release(&rest);
	return sql;
}

int lab_search_runs(struct lab *lab, const struct lab_search *search, run_list *runs,
		    run_count_list *counts, struct error *err)
{
	char *sql = search_sql(search);
	char *pattern = search->like && *search->like ? text_utf8(search->like) : NULL;
	sqlite3_stmt *stmt = NULL;
	if (search->order == LAB_BY_STATUS)
		lab_add_owner_gone(lab);
	int result = lab_prepare(lab, &stmt, sql, "read", err);
	if (!result) {
		sqlite3_bind_text(stmt, 1, pattern, -1, SQLITE_STATIC);
		sqlite3_bind_int64(stmt, 2, search->most ? (int64_t)search->most : -1);
		sqlite3_bind_int64(stmt, 3, search->before ? search->before : INT64_MAX);
		sqlite3_bind_int64(stmt, 4, search->skip);
		result = collect_runs(lab, stmt, runs, counts, err);
	}
	free(pattern);
	free(sql);
	return result;
}

int lab_list_runs(struct lab *lab, const char *like, uint32_t most, run_list *runs,
		  run_count_list *counts, struct error *err)
{
	struct lab_search search = { .like = like, .most = most };
	return lab_search_runs(lab, &search, runs, counts, err);
}

int lab_invocation_runs(struct lab *lab, int64_t invocation, run_list *runs, struct error *err)
{
	char *sql = lab_select_runs("WHERE study = ? ORDER BY id");
	sqlite3_stmt *stmt = NULL;
	int result = lab_prepare(lab, &stmt, sql, "read", err);
	free(sql);
	if (result)
		return -1;
	sqlite3_bind_int64(stmt, 1, invocation);
	size_t had = runs->count;
	result = collect_runs(lab, stmt, runs, NULL, err);
	for (size_t i = had; i < runs->count; i++)
		runs->items[i].conditions = conditions_take(runs->items[i].conditions.text);
	return result;
}
