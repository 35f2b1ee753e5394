/* The best speed seen of each machine's CPUs, by kind of work. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "lab/sqlite.h"

static const char noting[] = "note the speed of the CPUs";

/* Made when it is first needed, like the columns that a newer tare adds (grow.c): a new version of
 * the schema would make older labs unreadable until something is stored in them. */
static const char make_table[] = "CREATE TABLE IF NOT EXISTS speed_best ("
				 "identity TEXT NOT NULL, kind TEXT NOT NULL, ns REAL NOT NULL, "
				 "run INTEGER REFERENCES run (id) ON DELETE SET NULL, "
				 "at_ns INTEGER NOT NULL, PRIMARY KEY (identity, kind)) "
				 "WITHOUT ROWID";

/* Of the run's executions, the one that is the twentieth part from the best: a single one may have
 * been lucky with its few probes. Executions with fewer probes than these do not count. */
static const char best_of_run[] =
	"INSERT INTO speed_best (identity, kind, ns, run, at_ns) "
	"SELECT ?1, ?2, speed_%1$s_ns, ?3, ?4 FROM execution WHERE run = ?3 AND NOT warmup "
	"AND speed_probes >= 10 AND speed_%1$s_ns > 0 ORDER BY speed_%1$s_ns LIMIT 1 OFFSET "
	"(SELECT count(*) / 20 FROM execution WHERE run = ?3 AND NOT warmup AND speed_probes >= 10) "
	"ON CONFLICT (identity, kind) DO UPDATE SET ns = excluded.ns, run = excluded.run, "
	"at_ns = excluded.at_ns WHERE excluded.ns < ns";

int lab_note_speeds(struct lab *lab, int64_t run, const struct machine *m, struct error *err)
{
	char identity[17];
	machine_identity(m, identity);
	int result = lab_begin(lab, noting, err) || lab_change(lab, make_table, NULL, noting, err);
	for (enum speed_kind k = 0; k < SPEED_KINDS && !result; k++) {
		char sql[640];
		snprintf(sql, sizeof sql, best_of_run, speed_kind_names[k]);
		result = lab_change(lab, sql,
				    ARGS(TEXT(identity), TEXT(speed_kind_names[k]), NUM(run),
					 NUM(clock_realtime_ns())),
				    noting, err);
	}
	return lab_finish(lab, result, noting, err);
}

int lab_get_speeds(struct lab *lab, const struct machine *m, double ns[SPEED_KINDS],
		   struct error *err)
{
	char identity[17];
	machine_identity(m, identity);
	int64_t made;
	for (enum speed_kind k = 0; k < SPEED_KINDS; k++)
		ns[k] = NAN;
	int result = lab_number(lab, "SELECT count(*) FROM sqlite_schema WHERE name = 'speed_best'",
				NULL, &made, err);
	for (enum speed_kind k = 0; k < SPEED_KINDS && made && !result; k++) {
		sqlite3_stmt *stmt;
		result = lab_bound(lab, &stmt,
				   "SELECT ns FROM speed_best WHERE identity = ? AND kind = ?",
				   ARGS(TEXT(identity), TEXT(speed_kind_names[k])), "read", err);
		while (lab_row(lab, stmt, "read", &result, err))
			ns[k] = sqlite3_column_double(stmt, 0);
	}
	return result;
}
