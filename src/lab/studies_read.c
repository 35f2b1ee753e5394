/* Studies of daemons out of their tables. What is out of its bounds, or refers to what is not
 * there, is damage. */

#include <string.h>

#include "lab/studies_rows.h"

struct reader {
	struct lab *lab;
	struct study study;
	size_t seen; /* rows read */
	struct error *err;
};

union row {
	struct study_run run;
	struct study_level level;
	struct study_daemon daemon;
	struct study_seen seen;
	struct cutoff cutoff;
};

/* Takes a row over; false: it is impossible, and the row is still the caller's. Its keys are the
 * study and two more, if it has so many; a list has each of its positions once. */
static bool take(struct reader *r, enum study_table t, union row *row, uint64_t first,
		 int64_t second)
{
	struct study *s = &r->study;
	switch (t) {
	case STUDY_RUN:
		if (first >= STUDY_LENGTHS)
			return false;
		row->run.present = true;
		s->runs[first] = row->run;
		return true;
	case STUDY_LEVEL:
		if (first >= STUDY_LENGTHS || !s->runs[first].present ||
		    second != (int64_t)s->runs[first].levels.count)
			return false;
		array_push(&s->runs[first].levels, row->level);
		return true;
	case STUDY_DAEMON:
		if (first != s->daemons.count)
			return false;
		array_push(&s->daemons, row->daemon);
		return true;
	case STUDY_SEEN: /* each daemon has a row of each length */
		if (first >= s->daemons.count || first != r->seen / STUDY_LENGTHS ||
		    second != (int64_t)(r->seen % STUDY_LENGTHS))
			return false;
		s->daemons.items[first].seen[second] = row->seen;
		r->seen++;
		return true;
	default: /* STUDY_CUTOFF */
		row->cutoff.id = second;
		if (first != s->cutoffs.count)
			return false;
		array_push(&s->cutoffs, row->cutoff);
		return true;
	}
}

static int impossible(struct reader *r)
{
	return lab_damaged(r->lab, r->err, "a study has impossible values");
}

static int read_table(struct reader *r, enum study_table t, int64_t study)
{
	const struct lab_table *spec = &study_tables[t];
	sqlite3_stmt *stmt = NULL;
	/* the keys come first of what is behind the fields */
	const char *keys = t == STUDY_ROW ? "id" : spec->more;
	int result = lab_select(r->lab, &stmt, spec->fields, ARGS(NUM(study)), r->err,
				", %s FROM %s WHERE %s = ? ORDER BY %s", keys, spec->name,
				t == STUDY_ROW ? "id" : "study", keys);
	while (lab_row(r->lab, stmt, "read", &result, r->err)) {
		union row row;
		bool whole = t == STUDY_ROW;
		int at = 0;
		memset(&row, 0, sizeof row);
		bool sound =
			!fields_read(stmt, &at, spec->fields, whole ? (void *)&r->study : &row);
		if (whole)
			r->study.id = sqlite3_column_int64(stmt, at);
		if (sound &&
		    (whole || take(r, t, &row, (uint64_t)sqlite3_column_int64(stmt, at + 1),
				   sqlite3_column_int64(stmt, at + 2))))
			continue;
		if (t == STUDY_RUN) {
			array_release(&row.run.l_samples);
			array_release(&row.run.dropped);
		} else if (t == STUDY_SEEN) {
			array_release(&row.seen.samples);
		}
		result = impossible(r);
	}
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
