/* The cutoffs in force on a machine: those of its newest study, and what was edited. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "lab/studies_rows.h"

static const char changing[] = "change the cutoffs in";

int lab_read_identity(struct lab *lab, int64_t machine, char identity[17], struct error *err)
{
	struct machine m = { 0 };
	int result = lab_get_machine(lab, machine, &m, err);
	machine_identity(&m, identity);
	machine_release(&m);
	return result;
}

/* ---- what a cutoff may be ---- */

static uint64_t end_of(const struct cutoff *c)
{
	return c->below_ns ? c->below_ns : UINT64_MAX;
}

static bool overlap(const struct cutoff *a, const struct cutoff *b)
{
	return strcmp(a->daemon, b->daemon) == 0 && a->from_ns < end_of(b) &&
	       b->from_ns < end_of(a);
}

static const struct cutoff *find_overlap(const struct cutoff *c, const struct cutoff *list,
					 size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (overlap(c, &list[i]))
			return &list[i];
	return NULL;
}

static void show_range(const struct cutoff *c, char *out, size_t size)
{
	char from[40], below[40];
	text_duration((double)c->from_ns, 4, from, sizeof from);
	text_duration((double)c->below_ns, 4, below, sizeof below);
	if (c->below_ns)
		snprintf(out, size, "from %s to %s", from, below);
	else
		snprintf(out, size, "from %s on", from);
}

/* Times above INT64_MAX would be negative in SQL. */
static int check_range(const struct cutoff *c, struct error *err)
{
	char range[100];
	if (c->from_ns < end_of(c) && c->from_ns <= INT64_MAX && c->below_ns <= INT64_MAX &&
	    c->cutoff_ns <= INT64_MAX)
		return 0;
	show_range(c, range, sizeof range);
	error_set(err, EXIT_USAGE, "a cutoff cannot be for programs that take %s", range);
	return error_hint(err, "a range ends after it begins");
}

static int overlaps(const struct cutoff *c, const struct cutoff *with, struct error *err)
{
	char name[80], range[100], other[100];
	text_display(c->daemon, name, sizeof name);
	show_range(c, range, sizeof range);
	show_range(with, other, sizeof other);
	error_set(err, EXIT_USAGE,
		  "the range of a cutoff of '%s' (%s) overlaps that of another (%s)", name, range,
		  other);
	return error_hint(err, "change or remove that one first: a program has one cutoff per "
			       "daemon");
}

int lab_check_cutoffs(const struct cutoff *list, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct cutoff *with = find_overlap(&list[i], list, i);
		if (!*list[i].daemon)
			return error_set(err, EXIT_USAGE, "a cutoff has no daemon");
		if (check_range(&list[i], err))
			return -1;
		if (with)
			return overlaps(&list[i], with, err);
	}
	return 0;
}

/* As the kernel has them and daemon_name() leaves them. */
static int check_name(const char *name, struct error *err)
{
	size_t length = strnlen(name, DAEMON_NAME), used = 0;
	while (used < length) {
		size_t n = utf8_length(name + used, length - used);
		if (!n || (unsigned char)name[used] < ' ' || name[used] == 0x7f)
			break;
		used += n;
	}
	if (length && length < DAEMON_NAME - 1 && used == length)
		return 0;
	char shown[80];
	char *copy = xstrndup(name, length);
	text_display(copy, shown, sizeof shown);
	free(copy);
	error_set(err, EXIT_USAGE, "a daemon cannot be called '%s'", shown);
	return error_hint(err, "the kernel's names have 1 to 15 printable bytes");
}

/* ---- reading ---- */

static int read_cutoffs(struct lab *lab, const char *identity, cutoff_list *into, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int result = lab_select(lab, &stmt, cutoff_fields, ARGS(TEXT(identity)), err,
				", id FROM cutoff WHERE identity = ? ORDER BY daemon, from_ns");
	while (lab_row(lab, stmt, "read", &result, err)) {
		struct cutoff c = { 0 };
		int at = 0;
		if (fields_read(stmt, &at, cutoff_fields, &c) || !*c.daemon ||
		    check_range(&c, NULL))
			result = lab_damaged(lab, err, "a cutoff has impossible values");
		c.id = sqlite3_column_int64(stmt, at);
		array_push(into, c);
	}
	return result;
}

/* Where they come from, those being read already. */
static int read_origin(struct lab *lab, const char *identity, struct lab_cutoffs *into,
		       struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int64_t machine = 0;
	int result = lab_bound(lab, &stmt,
			       "SELECT id, made_at_ns, machine FROM daemon_study WHERE identity = ?"
			       " ORDER BY id DESC LIMIT 1",
			       ARGS(TEXT(identity)), "read", err);
	while (lab_row(lab, stmt, "read", &result, err)) {
		into->study = sqlite3_column_int64(stmt, 0);
		into->made_at_ns = sqlite3_column_int64(stmt, 1);
		machine = sqlite3_column_int64(stmt, 2);
	}
	if (result)
		return -1;
	/* a study none of whose cutoffs is left is not where these come from */
	bool any = !into->cutoffs.count;
	for (size_t i = 0; i < into->cutoffs.count; i++)
		any = any || !into->cutoffs.items[i].edited;
	if (into->study && any)
		return lab_get_machine(lab, machine, &into->machine, err);
	into->study = 0;
	return lab_number(lab, "SELECT min(edited_at_ns) FROM cutoff WHERE identity = ?",
			  ARGS(TEXT(identity)), &into->made_at_ns, err);
}

int lab_get_cutoffs(struct lab *lab, const struct machine *m, struct lab_cutoffs *into,
		    struct error *err)
{
	struct lab_cutoffs got = { 0 };
	char identity[17];
	bool alone;
	machine_identity(m, identity);
	if (lab_begin_reading(lab, &alone, err))
		return -1;
	int result = read_cutoffs(lab, identity, &got.cutoffs, err) ||
		     read_origin(lab, identity, &got, err);
	lab_end_reading(lab, alone);
	if (result) {
		lab_cutoffs_release(&got);
		return -1;
	}
	*into = got;
	return 0;
}

void lab_cutoffs_release(struct lab_cutoffs *c)
{
	array_release(&c->cutoffs);
	machine_release(&c->machine);
	*c = (struct lab_cutoffs){ 0 };
}

/* ---- changing ---- */

/* *id 0: a new one. Of a study, or else by hand at edited_at_ns. */
static int store(struct lab *lab, const char *identity, int64_t study, int64_t edited_at_ns,
		 const struct cutoff *c, int64_t *id, struct error *err)
{
	static const char sql[] =
		"INSERT OR REPLACE INTO cutoff (id, identity, study, edited_at_ns, daemon, from_ns,"
		" below_ns, cutoff_ns, edited) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
	struct cutoff stored = *c;
	stored.edited = !study;
	sqlite3_stmt *stmt = NULL;
	int at = 5;
	if (lab_bound(lab, &stmt, sql, ARGS(ID(*id), TEXT(identity), ID(study), ID(edited_at_ns)),
		      changing, err))
		return -1;
	fields_bind(stmt, &at, cutoff_fields, &stored);
	int result = lab_done(lab, stmt, changing, err);
	sqlite3_finalize(stmt);
	if (!result)
		*id = sqlite3_last_insert_rowid(lab->db);
	return result;
}

int lab_put_in_force(struct lab *lab, const char *identity, int64_t study,
		     const struct cutoff *list, size_t count, enum cutoff_winner winner,
		     int64_t *ids, struct error *err)
{
	cutoff_list before = { 0 };
	int result = read_cutoffs(lab, identity, &before, err);
	size_t kept = 0;
	for (size_t i = 0; i < before.count && !result; i++) {
		struct cutoff c = before.items[i];
		if (c.edited && (winner == EDITED_WINS || !find_overlap(&c, list, count)))
			before.items[kept++] = c;
		else
			result = lab_change(lab, "DELETE FROM cutoff WHERE id = ?", ARGS(NUM(c.id)),
					    changing, err);
	}
	for (size_t i = 0; i < count && !result; i++) {
		ids[i] = 0;
		if (!find_overlap(&list[i], before.items, kept))
			result = store(lab, identity, study, 0, &list[i], &ids[i], err);
	}
	array_release(&before);
	return result;
}

static int no_such_cutoff(int64_t id, struct error *err)
{
	error_set(err, EXIT_USAGE, "there is no cutoff %" PRId64 " of this machine in the lab", id);
	return error_hint(err, "'tare cutoffs' lists them");
}

/* Whether it may be put beside the others. */
static int fits(const struct cutoff *c, const cutoff_list *others, struct error *err)
{
	bool known = !c->id;
	for (size_t i = 0; i < others->count; i++) {
		if (others->items[i].id == c->id)
			known = true;
		else if (overlap(c, &others->items[i]))
			return overlaps(c, &others->items[i], err);
	}
	return known ? 0 : no_such_cutoff(c->id, err);
}

int lab_put_cutoff(struct lab *lab, const struct machine *m, struct cutoff *c, struct error *err)
{
	cutoff_list others = { 0 };
	char identity[17];
	int64_t id = c->id;
	machine_identity(m, identity);
	if (check_name(c->daemon, err) || check_range(c, err) || lab_begin(lab, changing, err))
		return -1;
	int result = read_cutoffs(lab, identity, &others, err) || fits(c, &others, err) ||
		     store(lab, identity, 0, clock_realtime_ns(), c, &id, err);
	array_release(&others);
	if (lab_finish(lab, result, changing, err))
		return -1;
	c->id = id;
	c->edited = true;
	return 0;
}

int lab_replace_cutoffs(struct lab *lab, const struct machine *m, const struct cutoff *list,
			size_t count, int64_t made_at_ns, struct error *err)
{
	char identity[17];
	int result = 0;
	machine_identity(m, identity);
	for (size_t i = 0; i < count; i++)
		if (check_name(list[i].daemon, err))
			return -1;
	if (lab_check_cutoffs(list, count, err) || lab_begin(lab, changing, err))
		return -1;
	/* all go before any comes: a daemon may have several */
	for (size_t i = 0; i < count && !result; i++)
		result = lab_change(lab, "DELETE FROM cutoff WHERE identity = ? AND daemon = ?",
				    ARGS(TEXT(identity), TEXT(list[i].daemon)), changing, err);
	for (size_t i = 0; i < count && !result; i++) {
		int64_t id = 0;
		result = store(lab, identity, 0, made_at_ns ? made_at_ns : clock_realtime_ns(),
			       &list[i], &id, err);
	}
	return lab_finish(lab, result, changing, err);
}

int lab_remove_cutoff(struct lab *lab, const struct machine *m, int64_t id, struct error *err)
{
	char identity[17];
	machine_identity(m, identity);
	if (lab_begin(lab, changing, err))
		return -1;
	int result = lab_change(lab,
				"DELETE FROM cutoff WHERE identity = ?1 AND (id = ?2 OR ?2 = 0)",
				ARGS(TEXT(identity), NUM(id)), changing, err);
	if (!result && id && !sqlite3_changes(lab->db))
		result = no_such_cutoff(id, err);
	return lab_finish(lab, result, changing, err);
}
