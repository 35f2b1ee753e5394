#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/options.h"
#include "base/text.h"
#include "lab/sqlite.h"
#include "record/tags.h"

#define RUN(member, kind, name)                             \
	{                                                   \
		name, kind, 0, offsetof(struct run, member) \
	}

static const struct field run_fields[] = {
	{ "kind", FIELD_ENUM, SUBJECT_KINDS, offsetof(struct run, kind) },
	RUN(invocation, FIELD_ID, "study"),
	RUN(machine, FIELD_ID, "machine"),
	{ "status", FIELD_ENUM, RUN_FAILED + 1, offsetof(struct run, status) },
	{ "backend", FIELD_ENUM, BACKENDS, offsetof(struct run, backend) },
	RUN(name, FIELD_RAW, "name"),
	RUN(command, FIELD_RAW, "command"),
	RUN(shell, FIELD_RAW, "shell"),
	RUN(directory, FIELD_RAW, "directory"),
	RUN(tags, FIELD_RAW, "tags"),
	RUN(conditions.text, FIELD_TEXT, "conditions"),
	RUN(not_seen, FIELD_TEXT, "not_seen"),
	RUN(version, FIELD_TEXT, "version"),
	RUN(started_at_ns, FIELD_I64, "started_at_ns"),
	RUN(ended_at_ns, FIELD_ID, "ended_at_ns"),
	RUN(planned, FIELD_U32, "planned"),
	RUN(shell_et_ns, FIELD_NS, "shell_et_ns"),
	RUN(shell_pt_ns[GRADE_NET], FIELD_NS, "shell_pt_net_ns"),
	RUN(shell_pt_ns[GRADE_EXEC], FIELD_NS, "shell_pt_exec_ns"),
	RUN(shell_pt_ns[GRADE_TICK], FIELD_NS, "shell_pt_tick_ns"),
	{ 0 },
};

/* The numbers in the schema's views. */
_Static_assert(RUN_GOING == 0 && RUN_COMPLETE == 1 && RUN_INTERRUPTED == 2 && RUN_FAILED == 3, "");
_Static_assert(BACKEND_PLAIN == 0 && BACKEND_NETLINK == 1 && BACKEND_BPF == 2, "");
_Static_assert(SUBJECT_COMMAND == 0 && SUBJECT_CPU == 1 && SUBJECT_SYSTEM == 2 &&
		       SUBJECT_QUERY == 3,
	       "");

int lab_add_machine(struct lab *lab, const struct machine *m, int64_t *id, struct error *err)
{
	static const char doing[] = "store the machine in";
	char fingerprint[17], *facts = machine_to_text(m);
	machine_fingerprint(m, fingerprint);
	sqlite3_stmt *find = NULL, *add = NULL;
	int result = lab_begin(lab, doing, err), rc, at = 2;
	if (result)
		goto out;
	if ((result = lab_prepare(lab, &find,
				  "SELECT id FROM machine WHERE fingerprint = ? AND facts = ?",
				  doing, err)))
		goto out;
	sqlite3_bind_text(find, 1, fingerprint, -1, SQLITE_STATIC);
	sqlite3_bind_blob64(find, 2, facts, strlen(facts), SQLITE_STATIC);
	if ((rc = sqlite3_step(find)) == SQLITE_ROW) {
		*id = sqlite3_column_int64(find, 0);
	} else if (rc != SQLITE_DONE) {
		result = lab_fail(lab, err, doing);
	} else if (!(result = lab_prepare(lab, &add,
					  "INSERT INTO machine (fingerprint, facts, facts_text, "
					  "first_seen_ns) VALUES (?, ?, ?, ?)",
					  doing, err))) {
		sqlite3_bind_text(add, 1, fingerprint, -1, SQLITE_STATIC);
		raw_bind(add, &at, facts);
		sqlite3_bind_int64(add, at, clock_realtime_ns());
		if (!(result = lab_done(lab, add, doing, err)))
			*id = sqlite3_last_insert_rowid(lab->db);
	}
	sqlite3_reset(find);
	if (!result)
		result = lab_commit(lab, doing, err);
out:
	sqlite3_finalize(find);
	sqlite3_finalize(add);
	lab_rollback(lab);
	free(facts);
	return result;
}

int lab_get_machine(struct lab *lab, int64_t id, struct machine *into, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	if (lab_prepare(lab, &stmt, "SELECT facts FROM machine WHERE id = ?", "read", err))
		return -1;
	sqlite3_bind_int64(stmt, 1, id);
	int rc = sqlite3_step(stmt), result = 0;
	if (rc == SQLITE_ROW) {
		char *facts = raw_read(stmt, 0);
		machine_from_text(into, facts ? facts : "");
		free(facts);
	} else if (rc == SQLITE_DONE) {
		result = error_set(err, EXIT_USAGE, "there is no machine %" PRId64 " in the lab",
				   id);
	} else {
		result = lab_fail(lab, err, "read");
	}
	sqlite3_finalize(stmt);
	return result;
}

int lab_add_invocation(struct lab *lab, const char *command_line, int64_t *id, struct error *err)
{
	static const char doing[] = "store the command line in";
	sqlite3_stmt *stmt = NULL;
	int at = 1, result = lab_begin(lab, doing, err);
	if (!result)
		result = lab_prepare(lab, &stmt,
				     "INSERT INTO study (command_line, command_line_text, "
				     "created_at_ns) VALUES (?, ?, ?)",
				     doing, err);
	if (!result) {
		raw_bind(stmt, &at, command_line);
		sqlite3_bind_int64(stmt, at, clock_realtime_ns());
		result = lab_done(lab, stmt, doing, err);
	}
	if (!result)
		result = lab_commit(lab, doing, err);
	if (!result)
		*id = sqlite3_last_insert_rowid(lab->db);
	sqlite3_finalize(stmt);
	lab_rollback(lab);
	return result;
}

/* Parameters twice: JSON for queries, and the bytes as they were. */
static void bind_parameters(sqlite3_stmt *stmt, int *at, const struct run *run)
{
	struct strbuf raw = { 0 };
	json_t *object = json_object();
	for (size_t i = 0; i < run->parameters.count; i++) {
		const struct parameter *p = &run->parameters.items[i];
		strbuf_add(&raw, p->name, strlen(p->name) + 1);
		strbuf_add(&raw, p->value, strlen(p->value) + 1);
		char *name = text_utf8(p->name), *value = text_utf8(p->value);
		json_object_set_new(object, name, json_string(value));
		free(name);
		free(value);
	}
	char *text = json_dumps(object, JSON_COMPACT);
	sqlite3_bind_text(stmt, (*at)++, text ? text : "{}", -1, SQLITE_TRANSIENT);
	sqlite3_bind_blob64(stmt, (*at)++, strbuf_text(&raw), raw.length, SQLITE_TRANSIENT);
	free(text);
	json_decref(object);
	strbuf_release(&raw);
}

static int read_parameters(sqlite3_stmt *stmt, int column, struct run *run)
{
	const char *raw = sqlite3_column_blob(stmt, column);
	if (!raw)
		return 0;
	const char *end = raw + sqlite3_column_bytes(stmt, column);
	while (raw < end) {
		const char *name = raw, *value = memchr(name, '\0', (size_t)(end - name));
		if (!value || ++value == end || !(raw = memchr(value, '\0', (size_t)(end - value))))
			return -1;
		raw++;
		array_push(&run->parameters, (struct parameter){ xstrdup(name), xstrdup(value) });
	}
	return 0;
}

int lab_add_run(struct lab *lab, struct run *run, struct error *err)
{
	static const char doing[] = "store the run in";
	struct strbuf columns = { 0 };
	fields_columns(run_fields, true, &columns);
	strbuf_puts(&columns, ", parameters, parameters_raw, " LAB_OWNER);
	char *sql = sql_insert("run", columns.text);
	struct run stored = *run;
	stored.status = RUN_GOING;
	stored.command = run->command ? run->command : run->name;
	stored.name = run->name ? run->name : run->command;
	sqlite3_stmt *stmt = NULL;
	int at = 1, result = lab_begin(lab, doing, err);
	if (!result)
		result = lab_prepare(lab, &stmt, sql, doing, err);
	if (!result) {
		fields_bind(stmt, &at, run_fields, &stored);
		bind_parameters(stmt, &at, run);
		lab_bind_owner(stmt, &at);
		result = lab_done(lab, stmt, doing, err);
	}
	if (!result)
		result = lab_commit(lab, doing, err);
	if (!result) {
		run->id = sqlite3_last_insert_rowid(lab->db);
		run->status = RUN_GOING;
	}
	sqlite3_finalize(stmt);
	lab_rollback(lab);
	strbuf_release(&columns);
	free(sql);
	return result;
}

static int no_such_run(int64_t id, struct error *err)
{
	error_set(err, EXIT_USAGE, "there is no run %" PRId64 " in the lab", id);
	return error_hint(err, "'tare list' shows the runs");
}

/* Runs a prepared change of one run in a transaction and finalizes it. */
static int change_run(struct lab *lab, sqlite3_stmt *stmt, int64_t id, const char *doing,
		      struct error *err)
{
	int result = lab_begin(lab, doing, err);
	if (!result)
		result = lab_done(lab, stmt, doing, err);
	int changed = result ? 0 : sqlite3_changes(lab->db);
	if (!result)
		result = lab_commit(lab, doing, err);
	sqlite3_finalize(stmt);
	lab_rollback(lab);
	return result || changed ? result : no_such_run(id, err);
}

int lab_end_run(struct lab *lab, int64_t run, enum run_status status, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	if (lab_prepare(lab, &stmt, "UPDATE run SET status = ?, ended_at_ns = ? WHERE id = ?",
			"end the run in", err))
		return -1;
	sqlite3_bind_int64(stmt, 1, status);
	sqlite3_bind_int64(stmt, 2, clock_realtime_ns());
	sqlite3_bind_int64(stmt, 3, run);
	if (change_run(lab, stmt, run, "end the run in", err))
		return -1;
	/* now nobody is being measured; what cannot be moved stays in the -wal file */
	sqlite3_wal_checkpoint_v2(lab->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	return 0;
}

/* Columns: id, run_fields, parameters_raw, LAB_OWNER. */
char *lab_select_runs(const char *rest)
{
	struct strbuf sql = { 0 }, all = { 0 };
	strbuf_puts(&sql, "id"); /* the columns of the fields are appended with commas */
	fields_columns(run_fields, false, &sql);
	strbuf_printf(&all, "SELECT %s, parameters_raw, " LAB_OWNER " FROM run %s", sql.text, rest);
	strbuf_release(&sql);
	return strbuf_detach(&all);
}

int lab_read_run(struct lab *lab, sqlite3_stmt *stmt, struct run *run, struct error *err)
{
	int at = 1;
	*run = (struct run){ .id = sqlite3_column_int64(stmt, 0) };
	if (fields_read(stmt, &at, run_fields, run) || read_parameters(stmt, at, run)) {
		run_release(run);
		return lab_damaged(lab, err, "a run has impossible values");
	}
	if (run->status == RUN_GOING && lab_owner_gone(stmt, at + 1))
		run->status = RUN_INTERRUPTED;
	return 0;
}

int lab_get_run(struct lab *lab, int64_t id, struct run *into, struct error *err)
{
	char *sql = lab_select_runs("WHERE id = ?");
	sqlite3_stmt *stmt = NULL;
	int result = lab_prepare(lab, &stmt, sql, "read", err);
	free(sql);
	if (result)
		return -1;
	sqlite3_bind_int64(stmt, 1, id);
	int rc = sqlite3_step(stmt);
	result = rc == SQLITE_ROW    ? lab_read_run(lab, stmt, into, err)
		 : rc == SQLITE_DONE ? no_such_run(id, err)
				     : lab_fail(lab, err, "read");
	sqlite3_finalize(stmt);
	if (!result)
		into->conditions = conditions_take(into->conditions.text);
	return result;
}

static int refuse_going(const struct run *run, struct error *err)
{
	if (run->status != RUN_GOING)
		return 0;
	error_set(err, EXIT_USAGE, "run %" PRId64 " is going", run->id);
	return error_hint(err, "wait for its end or stop it first");
}

static int own_run(struct lab *lab, int64_t id, const char *doing, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int at = 1;
	if (lab_prepare(lab, &stmt,
			"UPDATE run SET (" LAB_OWNER ") = (?, ?, ?, ?), status = 0,"
			" ended_at_ns = NULL WHERE id = ?",
			doing, err))
		return -1;
	lab_bind_owner(stmt, &at);
	sqlite3_bind_int64(stmt, at, id);
	int result = lab_done(lab, stmt, doing, err);
	sqlite3_finalize(stmt);
	return result;
}

int lab_resume_run(struct lab *lab, int64_t id, struct error *err)
{
	static const char doing[] = "go on with the run in";
	struct run run = { 0 };
	/* of two that ask at once the second one sees what the first one wrote */
	if (lab_begin(lab, doing, err))
		return -1;
	int result = lab_get_run(lab, id, &run, err);
	if (!result)
		result = refuse_going(&run, err);
	if (!result && run.status == RUN_COMPLETE)
		result = error_set(err, EXIT_USAGE, "run %" PRId64 " is complete", id);
	if (!result)
		result = own_run(lab, id, doing, err);
	if (!result)
		result = lab_commit(lab, doing, err);
	lab_rollback(lab);
	run_release(&run);
	return result;
}

/* "@3" -> 3, "last" -> 0; -1 when it is no such thing. */
static long counted_back(const char *text)
{
	long back;
	if (strcmp(text, "last") == 0)
		return 0;
	return *text == '@' && text[1] >= '0' && text[1] <= '9' &&
			       integer_parse(text + 1, 0, INT32_MAX, &back)
		       ? back
		       : -1;
}

static bool run_number(const char *text, long *id)
{
	return *text && strspn(text, "0123456789") == strlen(text) &&
	       integer_parse(text, 0, INT64_MAX, id);
}

static int nothing_found(struct lab *lab, const char *text, struct error *err)
{
	char shown[200];
	run_list runs = { 0 };
	text_list names = { 0 };
	text_display(text, shown, sizeof shown);
	if (lab_list_runs(lab, NULL, 1000, &runs, NULL, err))
		return -1;
	for (size_t i = 0; i < runs.count; i++)
		array_push(&names, runs.items[i].name);
	array_push(&names, NULL);
	const char *near = nearest_word(text, names.items);
	error_set(err, EXIT_USAGE, "there is no run '%s' in the lab", shown);
	if (near)
		text_display(near, shown, sizeof shown);
	if (!runs.count)
		error_hint(err, "it has no runs yet: 'tare time', 'tare noise' or "
				"'tare profile' makes one");
	else if (near)
		error_hint(err, "did you mean '%s'? 'tare list' shows the runs", shown);
	else
		error_hint(err, "the newest is %" PRId64 "; 'tare list' shows the runs",
			   runs.items[0].id);
	for (size_t i = 0; i < runs.count; i++)
		run_release(&runs.items[i]);
	array_release(&runs);
	array_release(&names);
	return -1;
}

int lab_find_run(struct lab *lab, const char *text, unsigned kinds, int64_t *id,
		 enum subject_kind *kind, struct error *err)
{
	long number = -1, back = counted_back(text);
	bool numbered = run_number(text, &number);
	static const char by_place[] = "SELECT id, kind FROM run WHERE (1 << kind) & ?2"
				       " ORDER BY id DESC LIMIT 1 OFFSET ?1";
	static const char settled_first[] = "SELECT id, kind FROM run WHERE (1 << kind) & ?2"
					    " ORDER BY status = 0 AND NOT owner_gone(" LAB_OWNER
					    "), id DESC LIMIT 1 OFFSET ?1";
	/* a number is an id before it is a name */
	static const char by_name[] =
		"SELECT id, kind FROM run WHERE id = ?1 OR name = ?3"
		" ORDER BY id = ?1 DESC, (1 << kind) & ?2 = 0, id DESC LIMIT 1";
	sqlite3_stmt *stmt = NULL;
	if (kinds & LAB_SETTLED)
		lab_add_owner_gone(lab);
	if (lab_prepare(lab, &stmt,
			back < 0	      ? by_name
			: kinds & LAB_SETTLED ? settled_first
					      : by_place,
			"read", err))
		return -1;
	sqlite3_bind_int64(stmt, 1, back >= 0 ? back : numbered ? number : -1);
	sqlite3_bind_int64(stmt, 2, kinds);
	if (back < 0)
		sqlite3_bind_blob64(stmt, 3, text, strlen(text), SQLITE_STATIC);
	int rc = sqlite3_step(stmt), result = 0;
	if (rc == SQLITE_ROW) {
		*id = sqlite3_column_int64(stmt, 0);
		if (kind)
			*kind = (enum subject_kind)sqlite3_column_int(stmt, 1);
	} else if (rc != SQLITE_DONE) {
		result = lab_fail(lab, err, "read");
	} else if (back == 0 && (kinds & LAB_ALL_KINDS) != LAB_ALL_KINDS) {
		*id = 0;
	} else {
		result = nothing_found(lab, text, err);
	}
	sqlite3_finalize(stmt);
	return result;
}

int lab_check_name(const char *name, struct error *err)
{
	long number;
	if (*name && !run_number(name, &number) && counted_back(name) < 0)
		return 0;
	char shown[200];
	text_display(name, shown, sizeof shown);
	error_set(err, EXIT_USAGE, "a run cannot be called '%s'", shown);
	return error_hint(err, *name ? "commands would read that as a run's number or place"
				     : "a name has at least one character");
}

/* Binds the bytes, their repaired text and the run to a statement, and runs that. */
static int relabel_run(struct lab *lab, int64_t run, const char *sql, const char *text,
		       const char *doing, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int at = 1;
	if (lab_prepare(lab, &stmt, sql, doing, err))
		return -1;
	raw_bind(stmt, &at, text);
	sqlite3_bind_int64(stmt, at, run);
	int result = lab_done(lab, stmt, doing, err);
	sqlite3_finalize(stmt);
	return result || sqlite3_changes(lab->db) ? result : no_such_run(run, err);
}

static int retag_run(struct lab *lab, int64_t run, const char *tags, const char *doing,
		     struct error *err)
{
	return relabel_run(lab, run, "UPDATE run SET tags = ?, tags_text = ? WHERE id = ?",
			   *tags ? tags : NULL, doing, err);
}

/* Commits a change of a single transaction unless it failed; ends the transaction. */
static int end_edit(struct lab *lab, int result, const char *doing, struct error *err)
{
	if (!result)
		result = lab_commit(lab, doing, err);
	if (result && (lab->failure == SQLITE_BUSY || lab->failure == SQLITE_LOCKED))
		error_hint(err, "nothing was changed; try again when it is done");
	lab_rollback(lab);
	return result;
}

int lab_edit_run(struct lab *lab, int64_t run, const char *name, const char *tags,
		 struct error *err)
{
	const char *doing = !tags  ? "rename the run in"
			    : name ? "change the run in"
				   : "tag the run in";
	if (name && lab_check_name(name, err))
		return -1;
	lab->failure = 0;
	int result = lab_begin(lab, doing, err);
	if (!result && name)
		result = relabel_run(lab, run,
				     "UPDATE run SET name = ?, name_text = ? WHERE id = ?", name,
				     doing, err);
	if (!result && tags)
		result = retag_run(lab, run, tags, doing, err);
	return end_edit(lab, result, doing, err);
}

int lab_rename_run(struct lab *lab, int64_t run, const char *name, struct error *err)
{
	return lab_edit_run(lab, run, name, NULL, err);
}

int lab_tag_run(struct lab *lab, int64_t run, const char *tags, struct error *err)
{
	return lab_edit_run(lab, run, NULL, tags ? tags : "", err);
}

int lab_change_tags(struct lab *lab, int64_t run, const char *add, const char *remove, char **now,
		    struct error *err)
{
	static const char doing[] = "tag the run in";
	struct run known = { 0 };
	lab->failure = 0;
	/* of two that add at once the second one sees what the first one wrote */
	int result = lab_begin(lab, doing, err);
	if (!result)
		result = lab_get_run(lab, run, &known, err);
	char *tags = tags_change(known.tags, add, remove);
	if (!result)
		result = retag_run(lab, run, tags, doing, err);
	result = end_edit(lab, result, doing, err);
	run_release(&known);
	if (result)
		free(tags);
	else
		*now = tags;
	return result;
}

static int delete_run(struct lab *lab, int64_t run, int64_t invocation, struct error *err)
{
	static const char doing[] = "remove the run from";
	static const char *const steps[] = {
		/* labs made before decision 026 have images */
		"DELETE FROM image WHERE id IN (SELECT 4 * e.id + k.column1 FROM execution e, "
		"(VALUES (0), (1), (2)) k WHERE e.run = ?1)",
		"DELETE FROM run WHERE id = ?1", /* executions and all of theirs go with it */
		"DELETE FROM study WHERE id = ?2 AND NOT EXISTS "
		"(SELECT 1 FROM run WHERE study = ?2)",
	};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		sqlite3_stmt *stmt = NULL;
		if (lab_prepare(lab, &stmt, steps[i], doing, err))
			return -1;
		sqlite3_bind_int64(stmt, 1, run);
		if (sqlite3_bind_parameter_count(stmt) > 1)
			sqlite3_bind_int64(stmt, 2, invocation);
		int result = lab_done(lab, stmt, doing, err);
		sqlite3_finalize(stmt);
		if (result)
			return -1;
	}
	return 0;
}

void lab_give_space_back(struct lab *lab)
{
	sqlite3_stmt *stmt = NULL;
	static const char sql[] = "SELECT f.freelist_count * 2 > p.page_count"
				  " FROM pragma_freelist_count f, pragma_page_count p";
	if (lab_prepare(lab, &stmt, sql, "read", NULL))
		return;
	bool worth_it = sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	if (worth_it)
		sqlite3_exec(lab->db, "VACUUM", NULL, NULL, NULL);
}

int lab_remove_run(struct lab *lab, int64_t id, struct error *err)
{
	static const char doing[] = "remove the run from";
	struct run run = { 0 };
	if (lab_begin(lab, doing, err))
		return -1;
	int result = lab_get_run(lab, id, &run, err);
	if (!result)
		result = refuse_going(&run, err);
	if (!result)
		result = delete_run(lab, id, run.invocation, err);
	if (!result)
		result = lab_commit(lab, doing, err);
	lab_rollback(lab);
	if (!result) {
		lab_forget_profile(lab);
		lab_give_space_back(lab);
	}
	run_release(&run);
	return result;
}

int lab_has_data(struct lab *lab, int64_t run, bool *has, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	if (lab_prepare(lab, &stmt,
			"SELECT EXISTS (SELECT 1 FROM noise WHERE run = ?1) "
			"OR EXISTS (SELECT 1 FROM query_run WHERE run = ?1)",
			"read", err))
		return -1;
	sqlite3_bind_int64(stmt, 1, run);
	int failed = sqlite3_step(stmt) == SQLITE_ROW ? 0 : lab_fail(lab, err, "read");
	*has = !failed && sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	return failed;
}
