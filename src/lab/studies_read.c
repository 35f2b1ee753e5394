/* Studies of daemons out of their tables. What is out of its bounds, or refers to what is not
 * there, is damage. */

#include "lab/studies_rows.h"

struct reader {
	struct lab *lab;
	struct study study;
	size_t seen; /* rows read */
	struct error *err;
};

static int impossible(struct reader *r)
{
	return lab_damaged(r->lab, r->err, "a study has impossible values");
}

/* STUDY_LENGTHS: none of them. */
static enum study_length length_in(sqlite3_stmt *stmt, int column)
{
	int64_t length = sqlite3_column_int64(stmt, column);
	return length >= 0 && length < STUDY_LENGTHS ? (enum study_length)length : STUDY_LENGTHS;
}

static int read_row(struct reader *r, sqlite3_stmt *stmt)
{
	int at = 0;
	if (fields_read(stmt, &at, study_tables[STUDY_ROW].fields, &r->study))
		return impossible(r);
	r->study.id = sqlite3_column_int64(stmt, at);
	return 0;
}

static int read_run(struct reader *r, sqlite3_stmt *stmt)
{
	int at = 0;
	struct study_run run = { .present = true };
	int failed = fields_read(stmt, &at, study_tables[STUDY_RUN].fields, &run);
	enum study_length length = length_in(stmt, at + 1);
	if (failed || length == STUDY_LENGTHS) {
		array_release(&run.l_samples);
		array_release(&run.dropped);
		return impossible(r);
	}
	r->study.runs[length] = run;
	return 0;
}

static int read_level(struct reader *r, sqlite3_stmt *stmt)
{
	int at = 0;
	struct study_level level = { 0 };
	int failed = fields_read(stmt, &at, study_tables[STUDY_LEVEL].fields, &level);
	enum study_length length = length_in(stmt, at + 1);
	if (failed || length == STUDY_LENGTHS)
		return impossible(r);
	struct study_run *run = &r->study.runs[length];
	if (!run->present || sqlite3_column_int64(stmt, at + 2) != (int64_t)run->levels.count)
		return impossible(r);
	array_push(&run->levels, level);
	return 0;
}

static int read_daemon(struct reader *r, sqlite3_stmt *stmt)
{
	int at = 0;
	struct study_daemon d = { 0 };
	if (fields_read(stmt, &at, study_tables[STUDY_DAEMON].fields, &d) ||
	    sqlite3_column_int64(stmt, at + 1) != (int64_t)r->study.daemons.count)
		return impossible(r);
	array_push(&r->study.daemons, d);
	return 0;
}

/* Each daemon has a row of each length. */
static int read_seen(struct reader *r, sqlite3_stmt *stmt)
{
	int at = 0;
	struct study_seen seen = { 0 };
	int failed = fields_read(stmt, &at, study_tables[STUDY_SEEN].fields, &seen);
	size_t daemon = r->seen / STUDY_LENGTHS, length = r->seen % STUDY_LENGTHS;
	if (failed || daemon >= r->study.daemons.count ||
	    sqlite3_column_int64(stmt, at + 1) != (int64_t)daemon ||
	    sqlite3_column_int64(stmt, at + 2) != (int64_t)length) {
		array_release(&seen.samples);
		return impossible(r);
	}
	r->study.daemons.items[daemon].seen[length] = seen;
	r->seen++;
	return 0;
}

static int read_cutoff(struct reader *r, sqlite3_stmt *stmt)
{
	int at = 0;
	struct cutoff c = { 0 };
	if (fields_read(stmt, &at, cutoff_fields, &c) ||
	    sqlite3_column_int64(stmt, at + 1) != (int64_t)r->study.cutoffs.count)
		return impossible(r);
	c.id = sqlite3_column_int64(stmt, at + 2);
	array_push(&r->study.cutoffs, c);
	return 0;
}

static int read_table(struct reader *r, enum study_table t, int64_t study)
{
	static int (*const rows[STUDY_TABLES])(struct reader *, sqlite3_stmt *) = {
		[STUDY_ROW] = read_row,	    [STUDY_RUN] = read_run,
		[STUDY_LEVEL] = read_level, [STUDY_DAEMON] = read_daemon,
		[STUDY_SEEN] = read_seen,   [STUDY_CUTOFF] = read_cutoff,
	};
	const struct lab_table *spec = &study_tables[t];
	sqlite3_stmt *stmt = NULL;
	/* the keys come first of what is behind the fields */
	const char *keys = t == STUDY_ROW ? "id" : spec->more;
	int result = lab_select(r->lab, &stmt, spec->fields, ARGS(NUM(study)), r->err,
				", %s FROM %s WHERE %s = ? ORDER BY %s", keys, spec->name,
				t == STUDY_ROW ? "id" : "study", keys);
	while (lab_row(r->lab, stmt, "read", &result, r->err))
		result = rows[t](r, stmt);
	return result;
}

static int read_all(struct reader *r, const struct machine *m, int64_t id)
{
	char identity[17];
	int result = 0;
	if (!id) {
		machine_identity(m, identity);
		result = lab_number(r->lab, "SELECT max(id) FROM daemon_study WHERE identity = ?",
				    ARGS(TEXT(identity)), &id, r->err);
	}
	for (int t = 0; t < STUDY_TABLES && !result; t++) {
		result = read_table(r, (enum study_table)t, id);
		if (!result && !r->study.id)
			return 0;
	}
	if (!result && r->seen != r->study.daemons.count * STUDY_LENGTHS)
		result = impossible(r);
	return result;
}

int lab_get_study(struct lab *lab, const struct machine *m, int64_t id, bool *found,
		  struct study *into, struct error *err)
{
	struct reader r = { .lab = lab, .err = err };
	bool alone; /* it may be removed meanwhile */
	if (lab_begin_reading(lab, &alone, err))
		return -1;
	int result = read_all(&r, m, id);
	lab_end_reading(lab, alone);
	if (result) {
		study_release(&r.study);
		return -1;
	}
	*found = r.study.id != 0;
	if (*found)
		*into = r.study;
	return 0;
}
