/* Lists of runs: searched, in some order, with what came of each. */
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "lab/sqlite.h"

#define TEXT_OF(column) "coalesce(" column "_text, CAST(" column " AS TEXT))"
#define OF_COMMANDS "FROM execution WHERE run = run.id AND NOT warmup"
#define OF_QUERIES "FROM query_at a JOIN query_execution x ON x.at = a.id WHERE a.run = run.id"
#define OF_DUETS "FROM duet_part WHERE run = run.id AND pair AND NOT warmup"
#define CAME_OF_OTHERS                                                                  \
	" WHEN 1 THEN (SELECT total(ns) / sum(window_ns * 1.0)"                         \
	"   FROM noise_cpu WHERE run = run.id)"                                         \
	" WHEN 2 THEN (SELECT sum(l.samples * 1.0) / p.hz"                              \
	"   FROM profile p JOIN profile_slice l ON l.run = p.run WHERE p.run = run.id)" \
	" WHEN 3 THEN (SELECT count(*) FROM query_at WHERE run = run.id)"               \
	" ELSE (SELECT count(DISTINCT pair) " OF_DUETS ") END"

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
			  " WHEN 3 THEN (SELECT count(*) " OF_QUERIES ")"
			  " ELSE (SELECT count(*) " OF_DUETS ") END" },
	[LAB_BY_ET] = { true,
			"CASE kind WHEN 0 THEN (SELECT avg(max(et_ns - coalesce(shell_et_ns, 0),"
			" 0)) " OF_COMMANDS ")" CAME_OF_OTHERS },
	[LAB_BY_PT] = { true,
			"CASE kind WHEN 0 THEN (SELECT avg(max(pt_exec_ns -"
			" coalesce(shell_pt_exec_ns, 0), 0)) " OF_COMMANDS ")" CAME_OF_OTHERS },
};

/* ---- what came of a run ---- */

#define S(member, kind) FACT(struct run_summary_row, member, #member, kind, NULL)
static const struct {
	const char *sql;
	struct field fields[5];
} figures[SUBJECT_KINDS] = {
	[SUBJECT_COMMAND] = { "SELECT total(NOT warmup), total(warmup),"
			      " avg(max(et_ns - ?2, 0)) FILTER (WHERE NOT warmup),"
			      " avg(max(pt_exec_ns - ?3, 0)) FILTER (WHERE NOT warmup)"
			      " FROM execution WHERE run = ?1",
			      { S(executions, FIELD_U32), S(warmups, FIELD_U32),
				S(mean_et_ns, FIELD_REAL), S(mean_pt_exec_ns, FIELD_REAL) } },
	[SUBJECT_CPU] = { "SELECT count(*), sum(window_ns * 1.0), total(ns) / sum(window_ns * 1.0)"
			  " FROM noise_cpu WHERE run = ?1",
			  { S(cpus, FIELD_U32), S(watched_ns, FIELD_REAL),
			    S(lost_share, FIELD_REAL) } },
	[SUBJECT_SYSTEM] = { "SELECT sum(l.samples * 1.0), sum(l.samples * 1e9) / p.hz FROM profile"
			     " p JOIN profile_slice l ON l.run = p.run WHERE p.run = ?1",
			     { S(samples, FIELD_REAL), S(sampled_ns, FIELD_REAL) } },
	[SUBJECT_QUERY] = { "SELECT (SELECT count(*) FROM query_at a JOIN query_execution x"
			    "   ON x.at = a.id WHERE a.run = ?1),"
			    " (SELECT queries FROM query_run WHERE run = ?1),"
			    " (SELECT count(*) FROM query_at WHERE run = ?1)",
			    { S(executions, FIELD_U32), S(queries, FIELD_U32),
			      S(ats, FIELD_U32) } },
	[SUBJECT_DUET] = { "SELECT total(pair AND NOT warmup), total(warmup),"
			   " count(DISTINCT iif(pair AND NOT warmup, pair, NULL)),"
			   " (SELECT count(*) FROM duet_side WHERE run = ?1)"
			   " FROM duet_part WHERE run = ?1",
			   { S(executions, FIELD_U32), S(warmups, FIELD_U32), S(pairs, FIELD_U32),
			     S(sides, FIELD_U32) } },
};
#undef S

static int64_t cost(uint64_t ns)
{
	return ns == ABSENT_NS ? 0 : (int64_t)ns;
}

/* A statement for each kind, made when there is the first run of it. */
static int summarize(struct lab *lab, sqlite3_stmt **of_kind, const struct run *run,
		     struct run_summary_row *s, struct error *err)
{
	sqlite3_stmt **stmt = &of_kind[run->kind];
	int at = 0;
	*s = (struct run_summary_row){ .mean_et_ns = NAN,
				       .mean_pt_exec_ns = NAN,
				       .watched_ns = NAN,
				       .lost_share = NAN,
				       .samples = NAN,
				       .sampled_ns = NAN };
	if (!*stmt && lab_prepare(lab, stmt, figures[run->kind].sql, "read", err))
		return -1;
	lab_bind(*stmt, 1,
		 ARGS(NUM(run->id), NUM(cost(run->shell_et_ns)),
		      NUM(cost(run->shell_pt_ns[GRADE_EXEC]))));
	int failed = sqlite3_step(*stmt) != SQLITE_ROW ? lab_fail(lab, err, "read")
		     : fields_read(*stmt, &at, figures[run->kind].fields, s)
			     ? lab_damaged(lab, err, "a run has impossible values")
			     : 0;
	sqlite3_reset(*stmt);
	return failed;
}

/* ---- lists ---- */

/* Reads what the statement gives and finalizes it; on failure the lists are as before. */
static int collect_runs(struct lab *lab, sqlite3_stmt *stmt, int result, run_list *runs,
			run_count_list *counts, struct error *err)
{
	size_t had = runs->count;
	while (lab_row(lab, stmt, "read", &result, err)) {
		struct run run;
		if (!(result = lab_read_run(lab, stmt, &run, err)))
			array_push(runs, run);
	}
	sqlite3_stmt *of_kind[SUBJECT_KINDS] = { NULL };
	size_t counted = counts ? counts->count : 0;
	for (size_t i = had; counts && i < runs->count && !result; i++) {
		struct run_summary_row s;
		result = summarize(lab, of_kind, &runs->items[i], &s, err);
		array_push(counts, s);
	}
	for (int i = 0; i < SUBJECT_KINDS; i++)
		sqlite3_finalize(of_kind[i]);
	if (result && counts)
		counts->count = counted;
	while (result && runs->count > had)
		run_release(&runs->items[--runs->count]);
	return result;
}

int lab_search_runs(struct lab *lab, const struct lab_search *search, run_list *runs,
		    run_count_list *counts, struct error *err)
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
	char *pattern = search->like && *search->like ? text_utf8(search->like) : NULL;
	sqlite3_stmt *stmt = NULL;
	strbuf_printf(&rest, "%s ORDER BY %s%s %s NULLS LAST%s LIMIT ?2 OFFSET ?4", where,
		      orders[search->order].by_kind ? "kind, " : "", orders[search->order].key,
		      search->up ? "ASC" : "DESC", search->order ? ", id DESC" : "");
	if (search->order == LAB_BY_STATUS)
		lab_add_owner_gone(lab);
	int result = lab_select_runs(
		lab, &stmt,
		ARGS(TEXT(pattern), NUM(search->most ? (int64_t)search->most : -1),
		     NUM(search->before ? search->before : INT64_MAX), NUM(search->skip)),
		rest.text, err);
	result = collect_runs(lab, stmt, result, runs, counts, err);
	free(pattern);
	strbuf_release(&rest);
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
	sqlite3_stmt *stmt = NULL;
	size_t had = runs->count;
	int result = lab_select_runs(lab, &stmt, ARGS(NUM(invocation)),
				     "WHERE study = ? ORDER BY id", err);
	result = collect_runs(lab, stmt, result, runs, NULL, err);
	for (size_t i = had; i < runs->count; i++)
		runs->items[i].conditions = conditions_take(runs->items[i].conditions.text);
	return result;
}
