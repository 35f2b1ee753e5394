/* Studies of daemons into their tables, once and for all; lists of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/studies_rows.h"

const struct study_table_spec study_tables[STUDY_TABLES] = {
	[STUDY_ROW] = { "daemon_study", study_fields, "identity" },
	[STUDY_RUN] = { "daemon_study_run", study_run_fields, "study, length" },
	[STUDY_LEVEL] = { "daemon_study_level", study_level_fields, "study, length, position" },
	[STUDY_DAEMON] = { "daemon_study_daemon", study_daemon_fields, "study, position" },
	[STUDY_SEEN] = { "daemon_study_seen", study_seen_fields, "study, daemon, length" },
	[STUDY_CUTOFF] = { "daemon_study_cutoff", cutoff_fields, "study, position, cutoff" },
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

static int prepare_all(struct writer *w)
{
	int result = 0;
	for (int t = 0; t < STUDY_TABLES && !result; t++) {
		struct strbuf columns = { 0 };
		fields_columns(study_tables[t].fields, true, &columns);
		strbuf_printf(&columns, ", %s", study_tables[t].more);
		char *sql = sql_insert(study_tables[t].name, columns.text);
		result = lab_prepare(w->lab, &w->stmts[t], sql, storing, w->err);
		free(sql);
		strbuf_release(&columns);
	}
	return result;
}

/* The fields, the study and one key; what follows begins at the number returned. */
static int bind_row(struct writer *w, enum study_table t, const void *row, size_t key)
{
	int at = 1;
	fields_bind(w->stmts[t], &at, study_tables[t].fields, row);
	sqlite3_bind_int64(w->stmts[t], at++, w->study);
	sqlite3_bind_int64(w->stmts[t], at++, (int64_t)key);
	return at;
}

static int done(struct writer *w, enum study_table t)
{
	return lab_done(w->lab, w->stmts[t], storing, w->err);
}

static int add_row(struct writer *w, const struct study *s, const char *identity)
{
	int at = 1;
	fields_bind(w->stmts[STUDY_ROW], &at, study_fields, s);
	sqlite3_bind_text(w->stmts[STUDY_ROW], at, identity, -1, SQLITE_STATIC);
	if (done(w, STUDY_ROW))
		return -1;
	w->study = sqlite3_last_insert_rowid(w->lab->db);
	return 0;
}

static int add_run(struct writer *w, size_t length, const struct study_run *r)
{
	bind_row(w, STUDY_RUN, r, length);
	if (done(w, STUDY_RUN))
		return -1;
	for (size_t i = 0; i < r->levels.count; i++) {
		int at = bind_row(w, STUDY_LEVEL, &r->levels.items[i], length);
		sqlite3_bind_int64(w->stmts[STUDY_LEVEL], at, (int64_t)i);
		if (done(w, STUDY_LEVEL))
			return -1;
	}
	return 0;
}

static int add_daemon(struct writer *w, size_t position, const struct study_daemon *d)
{
	bind_row(w, STUDY_DAEMON, d, position);
	if (done(w, STUDY_DAEMON))
		return -1;
	for (int length = 0; length < STUDY_LENGTHS; length++) {
		int at = bind_row(w, STUDY_SEEN, &d->seen[length], position);
		sqlite3_bind_int(w->stmts[STUDY_SEEN], at, length);
		if (done(w, STUDY_SEEN))
			return -1;
	}
	return 0;
}

static int add_cutoffs(struct writer *w, const struct study *s, const int64_t *ids)
{
	for (size_t i = 0; i < s->cutoffs.count; i++) {
		int at = bind_row(w, STUDY_CUTOFF, &s->cutoffs.items[i], i);
		sqlite3_bind_int64(w->stmts[STUDY_CUTOFF], at, ids[i]);
		if (done(w, STUDY_CUTOFF))
			return -1;
	}
	return 0;
}

static int add_all(struct writer *w, const struct study *s, const char *identity, int64_t *ids)
{
	if (add_row(w, s, identity))
		return -1;
	for (size_t i = 0; i < STUDY_LENGTHS; i++)
		if (s->runs[i].present && add_run(w, i, &s->runs[i]))
			return -1;
	for (size_t i = 0; i < s->daemons.count; i++)
		if (add_daemon(w, i, &s->daemons.items[i]))
			return -1;
	return lab_put_in_force(w->lab, identity, w->study, s->cutoffs.items, s->cutoffs.count,
				STUDY_WINS, ids, w->err) ||
	       add_cutoffs(w, s, ids);
}

int lab_add_study(struct lab *lab, struct study *s, struct error *err)
{
	struct writer w = { .lab = lab, .err = err };
	char identity[17];
	if (lab_check_cutoffs(s->cutoffs.items, s->cutoffs.count, err) ||
	    lab_begin(lab, storing, err))
		return -1;
	int64_t *ids = xcalloc(s->cutoffs.count + 1, sizeof *ids);
	int result = lab_read_identity(lab, s->machine, identity, err) || prepare_all(&w) ||
		     add_all(&w, s, identity, ids);
	for (int t = 0; t < STUDY_TABLES; t++)
		sqlite3_finalize(w.stmts[t]);
	if (!result)
		result = lab_commit(lab, storing, err);
	lab_rollback(lab);
	if (!result) {
		s->id = w.study;
		for (size_t i = 0; i < s->cutoffs.count; i++)
			s->cutoffs.items[i].id = ids[i];
	}
	free(ids);
	return result ? -1 : 0;
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

struct lister {
	struct lab *lab;
	lab_study_list *into;
	struct error *err;
};

static int list_study(void *context, sqlite3_stmt *stmt)
{
	struct lister *l = context;
	struct lab_study_row row = { 0 };
	int at = 0;
	if (fields_read(stmt, &at, list_fields, &row))
		return lab_damaged(l->lab, l->err, "a study has impossible values");
	array_push(l->into, row);
	return 0;
}

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
	struct lister l = { lab, into, err };
	size_t had = into->count;
	if (lab_prepare(lab, &stmt, sql, "read", err))
		return -1;
	int result = lab_each_row(lab, stmt, list_study, &l, err);
	if (result)
		into->count = had;
	return result;
}

/* The cutoffs of the study that is the newest now come back into force. */
static int reinstate(struct lab *lab, int64_t study, const char *identity, struct error *err)
{
	static const char doing[] = "remove the study from";
	struct study s = { 0 };
	bool found = false;
	sqlite3_stmt *stmt = NULL;
	if (lab_get_study(lab, NULL, study, &found, &s, err))
		return -1;
	int64_t *ids = xcalloc(s.cutoffs.count + 1, sizeof *ids);
	int result = lab_put_in_force(lab, identity, study, s.cutoffs.items, s.cutoffs.count,
				      EDITED_WINS, ids, err) ||
		     lab_prepare(lab, &stmt,
				 "UPDATE daemon_study_cutoff SET cutoff = nullif(?, 0)"
				 " WHERE study = ? AND position = ?",
				 doing, err);
	for (size_t i = 0; i < s.cutoffs.count && !result; i++) {
		sqlite3_bind_int64(stmt, 1, ids[i]);
		sqlite3_bind_int64(stmt, 2, study);
		sqlite3_bind_int64(stmt, 3, (int64_t)i);
		result = lab_done(lab, stmt, doing, err);
	}
	sqlite3_finalize(stmt);
	free(ids);
	study_release(&s);
	return result;
}

/* identity: of its machine; "" when there is no such study. */
static int find_study(struct lab *lab, int64_t id, char identity[17], bool *newest,
		      struct error *err)
{
	static const char sql[] = "SELECT s.identity, NOT EXISTS (" NEWER ") FROM daemon_study s"
				  " WHERE s.id = ?";
	sqlite3_stmt *stmt = NULL;
	if (lab_prepare(lab, &stmt, sql, "read", err))
		return -1;
	sqlite3_bind_int64(stmt, 1, id);
	int rc = sqlite3_step(stmt), result = 0;
	const char *text = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
	snprintf(identity, 17, "%s", text ? text : "");
	*newest = rc == SQLITE_ROW && sqlite3_column_int(stmt, 1);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		result = lab_fail(lab, err, "read");
	sqlite3_finalize(stmt);
	return result;
}

static int delete_study(struct lab *lab, int64_t id, struct error *err)
{
	char identity[17];
	bool newest;
	int64_t before = 0;
	if (find_study(lab, id, identity, &newest, err))
		return -1;
	if (!*identity) {
		error_set(err, EXIT_USAGE, "there is no study %" PRId64 " of daemons in the lab",
			  id);
		return error_hint(err, "'tare sql \"SELECT id, made_at FROM studies\"' shows them");
	}
	/* its cutoffs and all of its rows go with it */
	if (lab_change(lab, "DELETE FROM daemon_study WHERE id = ?", id, "remove the study from",
		       err))
		return -1;
	if (!newest)
		return 0;
	if (lab_number(lab, "SELECT max(id) FROM daemon_study WHERE identity = ?", identity,
		       &before, err))
		return -1;
	return before ? reinstate(lab, before, identity, err) : 0;
}

int lab_remove_study(struct lab *lab, int64_t id, struct error *err)
{
	static const char doing[] = "remove the study from";
	if (lab_begin(lab, doing, err))
		return -1;
	int result = delete_study(lab, id, err);
	if (!result)
		result = lab_commit(lab, doing, err);
	lab_rollback(lab);
	return result;
}
