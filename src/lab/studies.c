/* Studies of daemons into their tables, once and for all; lists of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/studies_rows.h"

const struct lab_table study_tables[STUDY_TABLES] = {
	[STUDY_ROW] = { "daemon_study", study_fields, "identity", NULL },
	[STUDY_RUN] = { "daemon_study_run", study_run_fields, "study, length", NULL },
	[STUDY_LEVEL] = { "daemon_study_level", study_level_fields, "study, length, position",
			  NULL },
	[STUDY_DAEMON] = { "daemon_study_daemon", study_daemon_fields, "study, position", NULL },
	[STUDY_SEEN] = { "daemon_study_seen", study_seen_fields, "study, daemon, length", NULL },
	[STUDY_CUTOFF] = { "daemon_study_cutoff", cutoff_fields, "study, position, cutoff", NULL },
};

/* The numbers in the schema. */
_Static_assert(STUDY_ACTIVE == 0 && STUDY_WATCH == 1 && STUDY_RUNS == 2 && STUDY_SOURCES == 3, "");
_Static_assert(STUDY_SHORT == 0 && STUDY_LONG == 1 && STUDY_LENGTHS == 2 && STUDY_SHAPES == 3, "");

/* ---- writing ---- */

static const char storing[] = "store the study in";

struct writer {
	struct lab *lab;
	int64_t study;
	sqlite3_stmt *stmts[STUDY_TABLES];
	struct error *err;
};

/* The fields, the study and, as far as the table has them, two keys. */
static int add_row(struct writer *w, enum study_table t, const void *row, int64_t first,
		   int64_t second)
{
	int at = 1;
	fields_bind(w->stmts[t], &at, study_tables[t].fields, row);
	sqlite3_bind_int64(w->stmts[t], at++, w->study);
	sqlite3_bind_int64(w->stmts[t], at++, first);
	if (at <= sqlite3_bind_parameter_count(w->stmts[t]))
		sqlite3_bind_int64(w->stmts[t], at, second);
	return lab_done(w->lab, w->stmts[t], storing, w->err);
}

static int add_all(struct writer *w, const struct study *s, const char *identity, int64_t *ids)
{
	int at = 1, result;
	fields_bind(w->stmts[STUDY_ROW], &at, study_fields, s);
	sqlite3_bind_text(w->stmts[STUDY_ROW], at, identity, -1, SQLITE_STATIC);
	result = lab_done(w->lab, w->stmts[STUDY_ROW], storing, w->err);
	w->study = sqlite3_last_insert_rowid(w->lab->db);
	for (int l = 0; l < STUDY_LENGTHS && !result; l++) {
		const struct study_run *r = &s->runs[l];
		if (r->present)
			result = add_row(w, STUDY_RUN, r, l, 0);
		for (size_t i = 0; r->present && i < r->levels.count && !result; i++)
			result = add_row(w, STUDY_LEVEL, &r->levels.items[i], l, (int64_t)i);
	}
	for (size_t i = 0; i < s->daemons.count && !result; i++) {
		const struct study_daemon *d = &s->daemons.items[i];
		result = add_row(w, STUDY_DAEMON, d, (int64_t)i, 0);
		for (int l = 0; l < STUDY_LENGTHS && !result; l++)
			result = add_row(w, STUDY_SEEN, &d->seen[l], (int64_t)i, l);
	}
	if (!result)
		result = lab_put_in_force(w->lab, identity, w->study, s->cutoffs.items,
					  s->cutoffs.count, STUDY_WINS, ids, w->err);
	for (size_t i = 0; i < s->cutoffs.count && !result; i++)
		result = add_row(w, STUDY_CUTOFF, &s->cutoffs.items[i], (int64_t)i, ids[i]);
	return result;
}

int lab_add_study(struct lab *lab, struct study *s, struct error *err)
{
	struct writer w = { .lab = lab, .err = err };
	char identity[17];
	if (lab_check_cutoffs(s->cutoffs.items, s->cutoffs.count, err) ||
	    lab_begin(lab, storing, err))
		return -1;
	int64_t *ids = xcalloc(s->cutoffs.count + 1, sizeof *ids);
	int result = lab_read_identity(lab, s->machine, identity, err) ||
		     lab_prepare_inserts(lab, study_tables, STUDY_TABLES, w.stmts, storing, err) ||
		     add_all(&w, s, identity, ids);
	for (int t = 0; t < STUDY_TABLES; t++)
		sqlite3_finalize(w.stmts[t]);
	result = lab_finish(lab, result, storing, err);
	if (!result) {
		s->id = w.study;
		for (size_t i = 0; i < s->cutoffs.count; i++)
			s->cutoffs.items[i].id = ids[i];
	}
	free(ids);
	return result;
}

/* ---- lists, removal ---- */

#define NEWER "SELECT 1 FROM daemon_study n WHERE n.identity = s.identity AND n.id > s.id"

#define X(member, name, kind, ...) FACT(struct lab_study_row, member, name, kind, NULL, __VA_ARGS__)
static const struct field list_fields[] = {
	X(id, "id", FIELD_I64),
	X(machine, "machine", FIELD_I64),
	X(made_at_ns, "made_at_ns", FIELD_I64),
	X(source, "source", FIELD_ENUM, .limit = STUDY_SOURCES),
	X(short_ns, "short", FIELD_U64),
	X(long_ns, "long", FIELD_U64),
	X(daemons, "daemons", FIELD_U32),
	X(cutoffs, "cutoffs", FIELD_U32),
	X(in_force, "in_force", FIELD_BOOL),
	{ 0 },
};

int lab_list_studies(struct lab *lab, lab_study_list *into, struct error *err)
{
	static const char sql[] =
		"SELECT s.id, s.machine, s.made_at_ns, s.source,"
		" (SELECT length_ns FROM daemon_study_run WHERE study = s.id AND length = 0),"
		" (SELECT length_ns FROM daemon_study_run WHERE study = s.id AND length = 1),"
		" (SELECT count(DISTINCT daemon) FROM daemon_study_seen WHERE study = s.id"
		"  AND long_executions > 0),"
		" (SELECT count(*) FROM daemon_study_cutoff WHERE study = s.id),"
		" NOT EXISTS (" NEWER ") FROM daemon_study s ORDER BY s.id DESC";
	sqlite3_stmt *stmt = NULL;
	size_t had = into->count;
	int result = lab_prepare(lab, &stmt, sql, "read", err);
	while (lab_row(lab, stmt, "read", &result, err)) {
		struct lab_study_row row = { 0 };
		int at = 0;
		if (fields_read(stmt, &at, list_fields, &row))
			result = lab_damaged(lab, err, "a study has impossible values");
		array_push(into, row);
	}
	if (result)
		into->count = had;
	return result;
}

/* The cutoffs of the study that is the newest now come back into force. */
static int reinstate(struct lab *lab, int64_t study, const char *identity, const char *doing,
		     struct error *err)
{
	struct study s = { 0 };
	bool found = false;
	if (lab_get_study(lab, NULL, study, &found, &s, err))
		return -1;
	int64_t *ids = xcalloc(s.cutoffs.count + 1, sizeof *ids);
	int result = lab_put_in_force(lab, identity, study, s.cutoffs.items, s.cutoffs.count,
				      EDITED_WINS, ids, err);
	for (size_t i = 0; i < s.cutoffs.count && !result; i++)
		result = lab_change(lab,
				    "UPDATE daemon_study_cutoff SET cutoff = nullif(?, 0)"
				    " WHERE study = ? AND position = ?",
				    ARGS(NUM(ids[i]), NUM(study), NUM(i)), doing, err);
	free(ids);
	study_release(&s);
	return result;
}

int lab_remove_study(struct lab *lab, int64_t id, struct error *err)
{
	static const char doing[] = "remove the study from";
	char identity[17] = ""; /* of its machine */
	bool newest = false;
	int64_t before = 0;
	sqlite3_stmt *stmt = NULL;
	if (lab_begin(lab, doing, err))
		return -1;
	int result = lab_bound(lab, &stmt,
			       "SELECT s.identity, NOT EXISTS (" NEWER ") FROM daemon_study s"
			       " WHERE s.id = ?",
			       ARGS(NUM(id)), "read", err);
	while (lab_row(lab, stmt, "read", &result, err)) {
		const char *text = (const char *)sqlite3_column_text(stmt, 0);
		snprintf(identity, sizeof identity, "%s", text ? text : "");
		newest = sqlite3_column_int(stmt, 1);
	}
	if (!result && !*identity) {
		error_set(err, EXIT_USAGE, "there is no study %" PRId64 " of daemons in the lab",
			  id);
		result = error_hint(err,
				    "'tare sql \"SELECT id, made_at FROM studies\"' shows them");
	}
	if (!result) /* its cutoffs and all of its rows go with it */
		result = lab_change(lab, "DELETE FROM daemon_study WHERE id = ?", ARGS(NUM(id)),
				    doing, err);
	if (!result && newest)
		result = lab_number(lab, "SELECT max(id) FROM daemon_study WHERE identity = ?",
				    ARGS(TEXT(identity)), &before, err);
	if (!result && before)
		result = reinstate(lab, before, identity, doing, err);
	return lab_finish(lab, result, doing, err);
}
