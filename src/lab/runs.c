#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
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
		       SUBJECT_QUERY == 3 && SUBJECT_DUET == 4,
	       "");

int lab_add_machine(struct lab *lab, const struct machine *m, int64_t *id, struct error *err)
{
	static const char doing[] = "store the machine in";
	char fingerprint[17], *facts = machine_to_text(m);
	sqlite3_stmt *add = NULL;
	int64_t found = 0;
	machine_fingerprint(m, fingerprint);
	int result = lab_begin(lab, doing, err);
	if (!result)
		result = lab_number(lab,
				    "SELECT id FROM machine WHERE fingerprint = ? AND facts = ?",
				    ARGS(TEXT(fingerprint), RAW(facts)), &found, err);
	if (!result && !found) {
		int at = 3;
		result = lab_bound(lab, &add,
				   "INSERT INTO machine (fingerprint, first_seen_ns, facts, "
				   "facts_text) VALUES (?, ?, ?, ?)",
				   ARGS(TEXT(fingerprint), NUM(clock_realtime_ns())), doing, err);
		if (!result) {
			raw_bind(add, &at, facts);
			result = lab_done(lab, add, doing, err);
		}
		found = sqlite3_last_insert_rowid(lab->db);
		sqlite3_finalize(add);
	}
	result = lab_finish(lab, result, doing, err);
	if (!result)
		*id = found;
	free(facts);
	return result;
}

int lab_get_machine(struct lab *lab, int64_t id, struct machine *into, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	bool found = false;
	int result = lab_bound(lab, &stmt, "SELECT facts FROM machine WHERE id = ?", ARGS(NUM(id)),
			       "read", err);
	while (lab_row(lab, stmt, "read", &result, err)) {
		char *facts = raw_read(stmt, 0);
		machine_from_text(into, facts ? facts : "");
		free(facts);
		found = true;
	}
	if (!result && !found)
		return error_set(err, EXIT_USAGE, "there is no machine %" PRId64 " in the lab", id);
	return result;
}

int lab_add_invocation(struct lab *lab, const char *command_line, int64_t *id, struct error *err)
{
	static const char doing[] = "store the command line in";
	sqlite3_stmt *stmt = NULL;
	int at = 2, result = lab_begin(lab, doing, err);
	if (!result)
		result = lab_bound(lab, &stmt,
				   "INSERT INTO study (created_at_ns, command_line, "
				   "command_line_text) VALUES (?, ?, ?)",
				   ARGS(NUM(clock_realtime_ns())), doing, err);
	if (!result) {
		raw_bind(stmt, &at, command_line);
		result = lab_done(lab, stmt, doing, err);
	}
	sqlite3_finalize(stmt);
	result = lab_finish(lab, result, doing, err);
	if (!result)
		*id = sqlite3_last_insert_rowid(lab->db);
	return result;
}

/* Parameters twice: JSON for queries, and the bytes as they were. */
static void bind_parameters(sqlite3_stmt *stmt, int *at, const struct run *run)
{
	struct strbuf raw = { 0 };
	json_t *object = json_object();
	array_each(p, &run->parameters) {
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
	static const struct lab_table table = { "run", run_fields,
						"parameters, parameters_raw, " LAB_OWNER, NULL };
	struct run stored = *run;
	stored.status = RUN_GOING;
	stored.command = run->command ? run->command : run->name;
	stored.name = run->name ? run->name : run->command;
	sqlite3_stmt *stmt = NULL;
	int at = 1, result = lab_begin(lab, doing, err);
	if (!result)
		result = lab_prepare_inserts(lab, &table, 1, &stmt, doing, err);
	if (!result) {
		fields_bind(stmt, &at, run_fields, &stored);
		bind_parameters(stmt, &at, run);
		lab_bind_owner(stmt, &at);
		result = lab_done(lab, stmt, doing, err);
	}
	sqlite3_finalize(stmt);
	result = lab_finish(lab, result, doing, err);
	if (!result) {
		run->id = sqlite3_last_insert_rowid(lab->db);
		run->status = RUN_GOING;
	}
	return result;
}

static int no_such_run(int64_t id, struct error *err)
{
	error_set(err, EXIT_USAGE, "there is no run %" PRId64 " in the lab", id);
	return error_hint(err, "'tare list' shows the runs");
}

int lab_end_run(struct lab *lab, int64_t run, enum run_status status, struct error *err)
{
	static const char doing[] = "end the run in";
	int result = lab_begin(lab, doing, err);
	if (!result)
		result = lab_change(lab, "UPDATE run SET status = ?, ended_at_ns = ? WHERE id = ?",
				    ARGS(NUM(status), NUM(clock_realtime_ns()), NUM(run)), doing,
				    err);
	if (!result && !sqlite3_changes(lab->db))
		result = no_such_run(run, err);
	if (lab_finish(lab, result, doing, err))
		return -1;
	/* now nobody is being measured; what cannot be moved stays in the -wal file */
	sqlite3_wal_checkpoint_v2(lab->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	return 0;
}

int lab_select_runs(struct lab *lab, sqlite3_stmt **out, const struct arg *args, const char *rest,
		    struct error *err)
{
	return lab_select(lab, out, run_fields, args, err,
			  ", id, parameters_raw, " LAB_OWNER " FROM run %s", rest);
}

int lab_read_run(struct lab *lab, sqlite3_stmt *stmt, struct run *run, struct error *err)
{
	int at = 0;
	*run = (struct run){ 0 };
	bool sound = !fields_read(stmt, &at, run_fields, run);
	run->id = sqlite3_column_int64(stmt, at);
	if (!sound || read_parameters(stmt, at + 1, run)) {
		run_release(run);
		return lab_damaged(lab, err, "a run has impossible values");
	}
	if (run->status == RUN_GOING && lab_owner_gone(stmt, at + 2))
		run->status = RUN_INTERRUPTED;
	return 0;
}

int lab_get_run(struct lab *lab, int64_t id, struct run *into, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	bool found = false;
	int result = lab_select_runs(lab, &stmt, ARGS(NUM(id)), "WHERE id = ?", err);
	while (lab_row(lab, stmt, "read", &result, err)) {
		result = lab_read_run(lab, stmt, into, err);
		found = true;
	}
	if (!result && !found)
		return no_such_run(id, err);
	if (!result)
		into->conditions = conditions_take(into->conditions.text);
	return result;
}

int lab_need_kind(struct lab *lab, int64_t id, enum subject_kind kind, const char *otherwise,
		  struct error *err)
{
	struct run run = { 0 };
	if (lab_get_run(lab, id, &run, err))
		return -1;
	bool of_kind = run.kind == kind;
	run_release(&run);
	if (of_kind)
		return 0;
	error_set(err, EXIT_USAGE, "run %" PRId64 " %s", id, otherwise);
	return error_hint(err, "'tare show %" PRId64 "' shows it", id);
}

static int refuse_going(const struct run *run, struct error *err)
{
	if (run->status != RUN_GOING)
		return 0;
	error_set(err, EXIT_USAGE, "run %" PRId64 " is going", run->id);
	return error_hint(err, "wait for its end or stop it first");
}

int lab_resume_run(struct lab *lab, int64_t id, struct error *err)
{
	static const char doing[] = "go on with the run in";
	struct run run = { 0 };
	sqlite3_stmt *stmt = NULL;
	int at = 1;
	/* of two that ask at once the second one sees what the first one wrote */
	if (lab_begin(lab, doing, err))
		return -1;
	int result = lab_get_run(lab, id, &run, err);
	if (!result)
		result = refuse_going(&run, err);
	if (!result && run.status == RUN_COMPLETE)
		result = error_set(err, EXIT_USAGE, "run %" PRId64 " is complete", id);
	if (!result)
		result = lab_prepare(lab, &stmt,
				     "UPDATE run SET (" LAB_OWNER ") = (?, ?, ?, ?), status = 0,"
				     " ended_at_ns = NULL WHERE id = ?",
				     doing, err);
	if (!result) {
		lab_bind_owner(stmt, &at);
		sqlite3_bind_int64(stmt, at, id);
		result = lab_done(lab, stmt, doing, err);
	}
	sqlite3_finalize(stmt);
	run_release(&run);
	return lab_finish(lab, result, doing, err);
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
	bool found = false;
	if (kinds & LAB_SETTLED)
		lab_add_owner_gone(lab);
	int result = lab_bound(lab, &stmt,
			       back < 0		     ? by_name
			       : kinds & LAB_SETTLED ? settled_first
						     : by_place,
			       ARGS(NUM(back >= 0  ? back
					: numbered ? number
						   : -1),
				    NUM(kinds), RAW(text)),
			       "read", err);
	while (lab_row(lab, stmt, "read", &result, err)) {
		*id = sqlite3_column_int64(stmt, 0);
		if (kind)
			*kind = (enum subject_kind)sqlite3_column_int(stmt, 1);
		found = true;
	}
	if (result || found)
		return result;
	if (back != 0 || (kinds & LAB_ALL_KINDS) == LAB_ALL_KINDS)
		return nothing_found(lab, text, err);
	*id = 0;
	return 0;
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

static int remove_run(struct lab *lab, int64_t id, struct error *err)
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
	struct run run = { 0 };
	if (lab_begin(lab, doing, err))
		return -1;
	int result = lab_get_run(lab, id, &run, err);
	if (!result)
		result = refuse_going(&run, err);
	for (size_t i = 0; i < sizeof steps / sizeof *steps && !result; i++)
		result = lab_change(lab, steps[i], ARGS(NUM(id), NUM(run.invocation)), doing, err);
	run_release(&run);
	return lab_finish(lab, result, doing, err);
}

int lab_remove_run(struct lab *lab, int64_t id, struct error *err)
{
	lab->failure = 0;
	int result = remove_run(lab, id, err);
	/* what is removed makes room for noting that the rest is */
	bool in_part = false;
	while (result && lab->failure == SQLITE_FULL && lab_make_room(lab, id)) {
		in_part = true;
		lab->failure = 0;
		result = remove_run(lab, id, err);
	}
	if (result && lab->failure == SQLITE_FULL && lab_begin_in_place(lab)) {
		lab->failure = 0;
		result = remove_run(lab, id, err); /* little is left of it */
		lab_end_in_place(lab);
	}
	if (result && in_part)
		error_hint(err, "a part of it is gone: make room, and remove it once more");
	if (!result) {
		lab_forget_profile(lab);
		lab_give_space_back(lab);
	}
	return result;
}

int lab_has_data(struct lab *lab, int64_t run, bool *has, struct error *err)
{
	int64_t any;
	int failed = lab_number(lab,
				"SELECT EXISTS (SELECT 1 FROM noise WHERE run = ?1) "
				"OR EXISTS (SELECT 1 FROM query_run WHERE run = ?1) "
				"OR EXISTS (SELECT 1 FROM duet WHERE run = ?1)",
				ARGS(NUM(run)), &any, err);
	*has = any;
	return failed;
}
