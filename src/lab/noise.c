/* The noise of a run in its tables: written anew each time, in one transaction. */
#include "lab/noise_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct lab_table noise_tables[NOISE_TABLES] = {
	[NOISE_RUN] = { "noise", noise_settings_fields, "run", NULL },
	[NOISE_CPU] = { "noise_cpu", noise_cpu_fields, "run, position", NULL },
	[NOISE_BUCKET] = { "noise_bucket", noise_bucket_fields, "run, cpu", NULL },
	[NOISE_SOURCE] = { "noise_source", noise_source_fields, "run, cpu, position, sigma_ns",
			   NULL },
	[NOISE_COMBINATION] = { "noise_combination", noise_combination_fields,
				"run, cpu, position, seen_sigma_ns, told_sigma_ns", NULL },
	[NOISE_VECTOR] = { "noise_vector", noise_untold_fields, "run, cpu, position", NULL },
	[NOISE_PART] = { "noise_part", noise_part_fields, "run, position", NULL },
	[NOISE_LONGEST] = { "noise_longest", noise_worst_fields,
			    "run, position, version, events, names, lost, data", NULL },
	[NOISE_SHARE] = { "noise_share", noise_share_fields, "id", NULL },
	[NOISE_LENGTH] = { "noise_length", noise_length_fields, "id", NULL },
	[NOISE_SPEED] = { "noise_speed", noise_speed_fields, "run, cpu, position", NULL },
};

/* Made when a run of noise is next stored, as columns are that a newer tare adds (grow.c). */
static const char make_speeds[] = "CREATE TABLE IF NOT EXISTS noise_speed ("
				  "run INTEGER NOT NULL REFERENCES noise (run) ON DELETE CASCADE, "
				  "cpu INTEGER NOT NULL, position INTEGER NOT NULL, "
				  "begin_ns INTEGER NOT NULL, length_ns INTEGER NOT NULL, "
				  "probes INTEGER NOT NULL, left_out INTEGER NOT NULL, "
				  "chain_ns REAL, ports_ns REAL, turns_ns REAL, loads_ns REAL, "
				  "PRIMARY KEY (run, cpu, position)) STRICT, WITHOUT ROWID";

/* The numbers in the schema. */
_Static_assert(NOISE_SOURCES_MAX + NOISE_CLASSES <= NOISE_OWNER_LIMIT, "room for a source");
_Static_assert(NOISE_COMBINATIONS_MAX + 1 <= NOISE_OWNER_LIMIT, "room for a combination");
_Static_assert(NOISE_BUCKETS <= NOISE_BUCKET_LIMIT, "room for a bucket");
_Static_assert(NOISE_PARTS_MAX <= NOISE_CPU_LIMIT, "room for a part");
_Static_assert(NOISE_SMI == 11 && NOISE_UNEXPLAINED == 10 && NOISE_HOST == 9 &&
		       NOISE_THROTTLED == 6,
	       "");

/* ---- writing ---- */

static const char storing[] = "store noise in";

struct writer {
	struct lab *lab;
	int64_t run;
	sqlite3_stmt *stmts[NOISE_TABLES];
	struct error *err;
};

/* Binds a row but for what is no key, which begins at the number returned. Tables that are keyed by
 * run take it from the writer, then as many of the two keys as they have. */
static int bind_row(struct writer *w, enum noise_table t, const void *row, uint64_t first,
		    uint64_t second)
{
	const char *keys = noise_tables[t].more;
	sqlite3_stmt *stmt = w->stmts[t];
	int at = 1;
	fields_bind(stmt, &at, noise_tables[t].fields, row);
	if (strcmp(keys, "id") != 0)
		sqlite3_bind_int64(stmt, at++, w->run);
	if (strcmp(keys, "run") != 0)
		sqlite3_bind_int64(stmt, at++, (int64_t)first);
	if (strstr(keys, "cpu, position"))
		sqlite3_bind_int64(stmt, at++, (int64_t)second);
	return at;
}

static int add_row(struct writer *w, enum noise_table t, const void *row, uint64_t first,
		   uint64_t second)
{
	bind_row(w, t, row, first, second);
	return lab_done(w->lab, w->stmts[t], storing, w->err);
}

static int add_lengths(struct writer *w, size_t cpu, enum length_kind kind, size_t owner,
		       const struct noise_histogram *h)
{
	uint64_t id = (uint64_t)w->run << NOISE_RUN_SHIFT | (uint64_t)cpu << NOISE_CPU_SHIFT |
		      (uint64_t)kind << NOISE_KIND_SHIFT | (uint64_t)owner << NOISE_OWNER_SHIFT;
	for (unsigned chunk = 0; chunk < NOISE_CHUNKS; chunk++) {
		unsigned bucket = chunk * NOISE_CHUNK_BUCKETS;
		for (unsigned i = 0; h->chunks[chunk] && i < NOISE_CHUNK_BUCKETS; i++, bucket++) {
			struct noise_length_row row;
			if (noise_length_row_of(h, bucket, &row) &&
			    add_row(w, NOISE_LENGTH, &row, id | bucket, 0))
				return -1;
		}
	}
	return 0;
}

static int add_buckets(struct writer *w, size_t cpu, const struct noise_cpu *c)
{
	static const struct noise_detours none;
	for (unsigned i = 0; i < NOISE_BUCKETS; i++) {
		struct noise_bucket_row row;
		noise_bucket_row_of(c, i, &row);
		if ((row.master.count || row.master.ns ||
		     memcmp(&row.detours, &none, sizeof none) != 0) &&
		    add_row(w, NOISE_BUCKET, &row, cpu, 0))
			return -1;
	}
	return 0;
}

static int add_cpu(struct writer *w, size_t cpu, const struct noise_cpu *c)
{
	sqlite3_stmt *sources = w->stmts[NOISE_SOURCE], *combinations = w->stmts[NOISE_COMBINATION];
	if (add_row(w, NOISE_CPU, c, cpu, 0) || add_buckets(w, cpu, c))
		return -1;
	for (size_t i = 0; i < c->sources.count; i++) {
		const struct noise_source *s = &c->sources.items[i];
		int at = bind_row(w, NOISE_SOURCE, s, cpu, i);
		sqlite3_bind_double(sources, at, noise_spread_sigma(&s->spread));
		if (lab_done(w->lab, sources, storing, w->err) ||
		    add_lengths(w, cpu, LENGTH_SOURCE, i, &s->lengths) ||
		    add_lengths(w, cpu, LENGTH_INTERVAL, i, &s->intervals))
			return -1;
	}
	for (size_t i = 0; i < c->combinations.count; i++) {
		const struct noise_combination *x = &c->combinations.items[i];
		int at = bind_row(w, NOISE_COMBINATION, x, cpu, i);
		sqlite3_bind_double(combinations, at, noise_spread_sigma(&x->seen));
		sqlite3_bind_double(combinations, at + 1, noise_spread_sigma(&x->told));
		if (lab_done(w->lab, combinations, storing, w->err) ||
		    add_lengths(w, cpu, LENGTH_SEEN, i, &x->seen_lengths) ||
		    add_lengths(w, cpu, LENGTH_TOLD, i, &x->told_lengths))
			return -1;
	}
	for (size_t i = 0; i < c->untold.count; i++)
		if (add_row(w, NOISE_VECTOR, &c->untold.items[i], cpu, i))
			return -1;
	for (size_t i = 0; i < c->speeds.count; i++)
		if (add_row(w, NOISE_SPEED, &c->speeds.items[i], cpu, i))
			return -1;
	return 0;
}

static int add_all(struct writer *w, const struct noise *n)
{
	sqlite3_stmt *stmt = w->stmts[NOISE_LONGEST];
	if (add_row(w, NOISE_RUN, n, 0, 0))
		return -1;
	for (size_t i = 0; i < n->cpus.count; i++)
		if (add_cpu(w, i, &n->cpus.items[i]))
			return -1;
	for (size_t i = 0; i < n->parts.count; i++) {
		const struct noise_part *p = &n->parts.items[i];
		uint64_t id = (uint64_t)w->run << NOISE_RUN_SHIFT | (uint64_t)i << NOISE_CPU_SHIFT;
		if (add_row(w, NOISE_PART, p, i, 0))
			return -1;
		for (size_t k = 0; k < p->shares.count; k++)
			if (add_row(w, NOISE_SHARE, &p->shares.items[k], id + k, 0))
				return -1;
	}
	for (size_t i = 0; i < n->worst.count; i++) {
		const struct noise_worst *x = &n->worst.items[i];
		int at = bind_row(w, NOISE_LONGEST, x, i, 0);
		for (int column = 0; column < 5 && !x->trace.present; column++)
			sqlite3_bind_null(stmt, at + column);
		if ((x->trace.present &&
		     lab_bind_trace(w->lab, stmt, at, &x->trace, storing, w->err)) ||
		    lab_done(w->lab, stmt, storing, w->err))
			return -1;
	}
	return 0;
}

/* What could not be read again is not stored; ids would run into each other, too. */
static bool has_room(int64_t run, const struct noise *n)
{
	bool fits = run < NOISE_RUN_LIMIT && n->cpus.count <= NOISE_CPU_LIMIT &&
		    n->parts.count <= NOISE_PARTS_MAX;
	for (size_t i = 0; fits && i < n->cpus.count; i++)
		fits = n->cpus.items[i].speeds.count <= NOISE_SPEED_POINTS_MAX &&
		       n->cpus.items[i].sources.count <= NOISE_SOURCES_MAX + NOISE_CLASSES &&
		       n->cpus.items[i].combinations.count <= NOISE_COMBINATIONS_MAX + 1;
	for (size_t i = 0; fits && i < n->parts.count; i++) {
		const struct noise_part *p = &n->parts.items[i];
		fits = p->shares.count <= NOISE_POSITION_LIMIT;
		for (size_t k = 0; fits && k < p->shares.count; k++) {
			const struct noise_share *s = &p->shares.items[k];
			fits = s->cpu < n->cpus.count &&
			       s->source < n->cpus.items[s->cpu].sources.count;
		}
	}
	return fits;
}

int lab_need_noise(struct lab *lab, int64_t run, struct error *err)
{
	return lab_need_kind(lab, run, SUBJECT_CPU, "is not one of 'tare noise'", err);
}

int lab_put_noise(struct lab *lab, int64_t run, const struct noise *n, struct error *err)
{
	struct writer w = { .lab = lab, .run = run, .err = err };
	if (!has_room(run, n))
		return error_set(err, EXIT_USAGE,
				 "the noise of run %" PRId64 " is beyond the bounds of a lab", run);
	if (lab_begin(lab, storing, err))
		return -1;
	int result =
		lab_need_noise(lab, run, err) ||
		lab_change(lab, "DELETE FROM noise WHERE run = ?", ARGS(NUM(run)), storing, err) ||
		lab_change(lab, make_speeds, NULL, storing, err) ||
		lab_prepare_inserts(lab, noise_tables, NOISE_TABLES, w.stmts, storing, err) ||
		add_all(&w, n);
	for (int t = 0; t < NOISE_TABLES; t++)
		sqlite3_finalize(w.stmts[t]);
	return lab_finish(lab, result, storing, err);
}

/* ---- baselines ---- */

int lab_set_baseline(struct lab *lab, int64_t run, struct error *err)
{
	static const char doing[] = "set the baseline in";
	static const char sql[] =
		"INSERT OR REPLACE INTO noise_baseline (identity, run) VALUES (?, ?)";
	char identity[17];
	struct run r = { 0 };
	struct machine m = { 0 };
	if (lab_begin(lab, doing, err))
		return -1;
	int result = lab_need_noise(lab, run, err) || lab_get_run(lab, run, &r, err);
	if (!result && !r.machine)
		result = error_set(err, EXIT_USAGE,
				   "run %" PRId64 " does not say which machine it was made on",
				   run);
	if (!result)
		result = lab_get_machine(lab, r.machine, &m, err);
	machine_identity(&m, identity);
	if (!result)
		result = lab_change(lab, sql, ARGS(TEXT(identity), NUM(run)), doing, err);
	machine_release(&m);
	run_release(&r);
	return lab_finish(lab, result, doing, err);
}

int lab_get_baseline(struct lab *lab, const struct machine *m, int64_t *run, struct error *err)
{
	char identity[17];
	machine_identity(m, identity);
	return lab_number(lab, "SELECT run FROM noise_baseline WHERE identity = ?",
			  ARGS(TEXT(identity)), run, err);
}
