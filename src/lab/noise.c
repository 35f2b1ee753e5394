/* The noise of a run in its tables: written anew each time, in one transaction. */
#include "lab/noise_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(type, member, kind, name)               \
	{                                             \
		name, kind, 0, offsetof(type, member) \
	}
#define NAME(type, member)                                                              \
	{                                                                               \
		"name", FIELD_NAME, sizeof(((type *)0)->member), offsetof(type, member) \
	}
/* Structs within: `at` is their offset. */
#define AT(offset, kind, name)        \
	{                             \
		name, kind, 0, offset \
	}
#define CLASS(at, class, name) AT((at) + (class) * sizeof(uint64_t), FIELD_U64, name)
#define CLASSES(at)                                                                           \
	CLASS(at, NOISE_IRQ, "irq_ns"), CLASS(at, NOISE_SOFTIRQ, "softirq_ns"),               \
		CLASS(at, NOISE_NMI, "nmi_ns"), CLASS(at, NOISE_THREAD, "thread_ns"),         \
		CLASS(at, NOISE_WORK, "work_ns"), CLASS(at, NOISE_FAULT, "fault_ns"),         \
		CLASS(at, NOISE_THROTTLED, "throttled_ns"),                                   \
		CLASS(at, NOISE_DELIVERY, "delivery_ns"), CLASS(at, NOISE_STEAL, "steal_ns"), \
		CLASS(at, NOISE_HOST, "host_ns"), CLASS(at, NOISE_UNEXPLAINED, "unexplained_ns")
_Static_assert(NOISE_CLASSES == 11, "a new class is a new row of noise_class and new columns");
#define D(at, member, name) AT((at) + offsetof(struct noise_detours, member), FIELD_U64, name)
#define DETOURS(at)                                                       \
	D(at, count, "count"), D(at, ns, "ns"),                           \
		CLASSES((at) + offsetof(struct noise_detours, class_ns)), \
		D(at, overlap_ns, "overlap_ns")
#define S(at, member, kind, name) AT((at) + offsetof(struct noise_spread, member), kind, name)
#define SPREAD(at, prefix)                                                          \
	S(at, count, FIELD_U64, prefix "count"), S(at, ns, FIELD_U64, prefix "ns"), \
		S(at, min_ns, FIELD_U64, prefix "min_ns"),                          \
		S(at, max_ns, FIELD_U64, prefix "max_ns"),                          \
		S(at, squares, FIELD_REAL, prefix "squares")

#define N(member, kind) FIELD(struct noise, member, kind, #member)
static const struct field run_fields[] = {
	N(realtime, FIELD_BOOL),   N(priority, FIELD_I32),  N(kernel, FIELD_BOOL),
	N(steal_told, FIELD_BOOL), N(begin_ns, FIELD_U64),  N(elapsed_ns, FIELD_U64),
	N(part_rounds, FIELD_U32), N(worst_max, FIELD_U32), { 0 },
};
#undef N

#define C(member, kind) FIELD(struct noise_cpu, member, kind, #member)
#define H(member, kind)                                                                  \
	AT(offsetof(struct noise_cpu, host) + offsetof(struct noise_host, member), kind, \
	   "host_" #member)
static const struct field cpu_fields[] = {
	C(cpu, FIELD_U32),	     C(rounds, FIELD_U32),
	C(window_ns, FIELD_U64),     C(unwatched_ns, FIELD_U64),
	C(turns, FIELD_U64),	     C(threshold_ns, FIELD_U64),
	C(step_ns, FIELD_REAL),	     C(turn_ns, FIELD_REAL),
	C(turn_p999_ns, FIELD_REAL), DETOURS(offsetof(struct noise_cpu, total)),
	H(rounds, FIELD_U32),	     H(fitted, FIELD_U32),
	H(period_ns, FIELD_REAL),    H(width_ns, FIELD_REAL),
	H(chance, FIELD_REAL),	     H(in_phase, FIELD_U64),
	H(looked_at, FIELD_U64),     C(events, FIELD_U64),
	C(lost, FIELD_U64),	     C(outside, FIELD_U64),
	C(outside_ns, FIELD_U64),    { 0 },
};
#undef C
#undef H

static const struct field bucket_fields[] = {
	FIELD(struct bucket_row, bucket, FIELD_U32, "bucket"),
	FIELD(struct bucket_row, low_ns, FIELD_U64, "low_ns"),
	FIELD(struct bucket_row, high_ns, FIELD_U64, "high_ns"),
	DETOURS(offsetof(struct bucket_row, detours)),
	FIELD(struct bucket_row, master.count, FIELD_U64, "master_count"),
	FIELD(struct bucket_row, master.ns, FIELD_U64, "master_ns"),
	{ 0 },
};

static const struct field source_fields[] = {
	{ "class", FIELD_ENUM, NOISE_CLASSES, offsetof(struct noise_source, class) },
	NAME(struct noise_source, name),
	SPREAD(offsetof(struct noise_source, spread), ""),
	FIELD(struct noise_source, last_ns, FIELD_U64, "last_ns"),
	{ 0 },
};

static const struct field combination_fields[] = {
	NAME(struct noise_combination, name),
	SPREAD(offsetof(struct noise_combination, seen), "seen_"),
	SPREAD(offsetof(struct noise_combination, told), "told_"),
	{ 0 },
};

static const struct field vector_fields[] = {
	NAME(struct noise_untold, name),
	FIELD(struct noise_untold, count, FIELD_U64, "count"),
	{ 0 },
};

#define P(member) FIELD(struct noise_part, member, FIELD_U64, #member)
static const struct field part_fields[] = { P(begin_ns), P(window_ns), P(count), P(ns), { 0 } };
#undef P

static const struct field longest_fields[] = {
	FIELD(struct noise_worst, cpu, FIELD_U32, "cpu"),
	FIELD(struct noise_worst, begin_ns, FIELD_U64, "begin_ns"),
	FIELD(struct noise_worst, ns, FIELD_U64, "ns"),
	CLASSES(offsetof(struct noise_worst, class_ns)),
	NAME(struct noise_worst, name),
	{ 0 },
};

static const struct field share_fields[] = {
	FIELD(struct noise_share, cpu, FIELD_U32, "cpu"),
	FIELD(struct noise_share, source, FIELD_U32, "source"),
	FIELD(struct noise_share, count, FIELD_U64, "count"),
	FIELD(struct noise_share, ns, FIELD_U64, "ns"),
	{ 0 },
};

static const struct field length_fields[] = {
	FIELD(struct length_row, low_ns, FIELD_U64, "low_ns"),
	FIELD(struct length_row, high_ns, FIELD_U64, "high_ns"),
	FIELD(struct length_row, in.count, FIELD_U64, "count"),
	FIELD(struct length_row, in.ns, FIELD_U64, "ns"),
	{ 0 },
};

const struct noise_table_spec noise_tables[NOISE_TABLES] = {
	[NOISE_RUN] = { "noise", run_fields, "run", NULL },
	[NOISE_CPU] = { "noise_cpu", cpu_fields, "run, position", NULL },
	[NOISE_BUCKET] = { "noise_bucket", bucket_fields, "run, cpu", NULL },
	[NOISE_SOURCE] = { "noise_source", source_fields, "run, cpu, position", "sigma_ns" },
	[NOISE_COMBINATION] = { "noise_combination", combination_fields, "run, cpu, position",
				"seen_sigma_ns, told_sigma_ns" },
	[NOISE_VECTOR] = { "noise_vector", vector_fields, "run, cpu, position", NULL },
	[NOISE_PART] = { "noise_part", part_fields, "run, position", NULL },
	[NOISE_LONGEST] = { "noise_longest", longest_fields, "run, position",
			    "version, events, names, lost, data" },
	[NOISE_SHARE] = { "noise_share", share_fields, "id", NULL },
	[NOISE_LENGTH] = { "noise_length", length_fields, "id", NULL },
};

/* The numbers in the schema. */
_Static_assert(NOISE_SOURCES_MAX + NOISE_CLASSES <= NOISE_OWNER_LIMIT, "room for a source");
_Static_assert(NOISE_COMBINATIONS_MAX + 1 <= NOISE_OWNER_LIMIT, "room for a combination");
_Static_assert(NOISE_BUCKETS <= NOISE_BUCKET_LIMIT, "room for a bucket");
_Static_assert(NOISE_PARTS_MAX <= NOISE_CPU_LIMIT, "room for a part");
_Static_assert(NOISE_UNEXPLAINED == 10 && NOISE_HOST == 9 && NOISE_THROTTLED == 6, "");

/* ---- writing ---- */

static const char storing[] = "store noise in";

struct writer {
	struct lab *lab;
	int64_t run;
	sqlite3_stmt *stmts[NOISE_TABLES];
	struct error *err;
};

static int prepare_all(struct writer *w)
{
	int result = 0;
	for (int t = 0; t < NOISE_TABLES && !result; t++) {
		const struct noise_table_spec *spec = &noise_tables[t];
		struct strbuf columns = { 0 };
		fields_columns(spec->fields, true, &columns);
		strbuf_printf(&columns, ", %s", spec->keys);
		if (spec->more)
			strbuf_printf(&columns, ", %s", spec->more);
		char *sql = sql_insert(spec->name, columns.text);
		result = lab_prepare(w->lab, &w->stmts[t], sql, storing, w->err);
		free(sql);
		strbuf_release(&columns);
	}
	return result;
}

/* Binds a row but for `more`, which begins at the number returned. Tables that are keyed by run
 * take it from the writer, then as many of the two keys as they have. */
static int bind_row(struct writer *w, enum noise_table t, const void *row, uint64_t first,
		    uint64_t second)
{
	const char *keys = noise_tables[t].keys;
	sqlite3_stmt *stmt = w->stmts[t];
	int at = 1;
	fields_bind(stmt, &at, noise_tables[t].fields, row);
	if (strcmp(keys, "id") == 0) {
		sqlite3_bind_int64(stmt, at++, (int64_t)first);
		return at;
	}
	sqlite3_bind_int64(stmt, at++, w->run);
	if ((keys = strchr(keys, ',')))
		sqlite3_bind_int64(stmt, at++, (int64_t)first);
	if (keys && strchr(keys + 1, ','))
		sqlite3_bind_int64(stmt, at++, (int64_t)second);
	return at;
}

static int done(struct writer *w, enum noise_table t)
{
	return lab_done(w->lab, w->stmts[t], storing, w->err);
}

static int add_row(struct writer *w, enum noise_table t, const void *row, uint64_t first,
		   uint64_t second)
{
	bind_row(w, t, row, first, second);
	return done(w, t);
}

static int add_lengths(struct writer *w, size_t cpu, enum length_kind kind, size_t owner,
		       const struct noise_histogram *h)
{
	uint64_t id = (uint64_t)w->run << NOISE_RUN_SHIFT | (uint64_t)cpu << NOISE_CPU_SHIFT |
		      (uint64_t)kind << NOISE_KIND_SHIFT | (uint64_t)owner << NOISE_OWNER_SHIFT;
	for (unsigned chunk = 0; chunk < NOISE_CHUNKS; chunk++) {
		unsigned bucket = chunk * NOISE_CHUNK_BUCKETS;
		for (unsigned i = 0; h->chunks[chunk] && i < NOISE_CHUNK_BUCKETS; i++, bucket++) {
			struct length_row row = { .in = h->chunks[chunk][i] };
			if (!row.in.count && !row.in.ns)
				continue;
			row.low_ns = noise_bucket_low(bucket);
			row.high_ns = noise_bucket_low(bucket + 1);
			if (add_row(w, NOISE_LENGTH, &row, id | bucket, 0))
				return -1;
		}
	}
	return 0;
}

static int add_buckets(struct writer *w, size_t cpu, const struct noise_cpu *c)
{
	static const struct noise_detours none;
	for (unsigned i = 0; i < NOISE_BUCKETS; i++) {
		struct bucket_row row = { .bucket = i,
					  .master = noise_histogram_at(&c->master, i) };
		if (c->buckets)
			row.detours = c->buckets[i];
		if (!row.master.count && !row.master.ns &&
		    memcmp(&row.detours, &none, sizeof none) == 0)
			continue;
		row.low_ns = noise_bucket_low(i);
		row.high_ns = noise_bucket_low(i + 1);
		if (add_row(w, NOISE_BUCKET, &row, cpu, 0))
			return -1;
	}
	return 0;
}

static int add_source(struct writer *w, size_t cpu, size_t i, const struct noise_source *s)
{
	int at = bind_row(w, NOISE_SOURCE, s, cpu, i);
	sqlite3_bind_double(w->stmts[NOISE_SOURCE], at, noise_spread_sigma(&s->spread));
	return done(w, NOISE_SOURCE) || add_lengths(w, cpu, LENGTH_SOURCE, i, &s->lengths) ||
	       add_lengths(w, cpu, LENGTH_INTERVAL, i, &s->intervals);
}

static int add_combination(struct writer *w, size_t cpu, size_t i,
			   const struct noise_combination *x)
{
	int at = bind_row(w, NOISE_COMBINATION, x, cpu, i);
	sqlite3_bind_double(w->stmts[NOISE_COMBINATION], at, noise_spread_sigma(&x->seen));
	sqlite3_bind_double(w->stmts[NOISE_COMBINATION], at + 1, noise_spread_sigma(&x->told));
	return done(w, NOISE_COMBINATION) ||
	       add_lengths(w, cpu, LENGTH_SEEN, i, &x->seen_lengths) ||
	       add_lengths(w, cpu, LENGTH_TOLD, i, &x->told_lengths);
}

static int add_cpu(struct writer *w, size_t cpu, const struct noise_cpu *c)
{
	if (add_row(w, NOISE_CPU, c, cpu, 0) || add_buckets(w, cpu, c))
		return -1;
	for (size_t i = 0; i < c->sources.count; i++)
		if (add_source(w, cpu, i, &c->sources.items[i]))
			return -1;
	for (size_t i = 0; i < c->combinations.count; i++)
		if (add_combination(w, cpu, i, &c->combinations.items[i]))
			return -1;
	for (size_t i = 0; i < c->untold.count; i++)
		if (add_row(w, NOISE_VECTOR, &c->untold.items[i], cpu, i))
			return -1;
	return 0;
}

static int add_part(struct writer *w, size_t part, const struct noise_part *p)
{
	uint64_t id = (uint64_t)w->run << NOISE_RUN_SHIFT | (uint64_t)part << NOISE_CPU_SHIFT;
	if (add_row(w, NOISE_PART, p, part, 0))
		return -1;
	for (size_t i = 0; i < p->shares.count; i++)
		if (add_row(w, NOISE_SHARE, &p->shares.items[i], id + i, 0))
			return -1;
	return 0;
}

static int add_longest(struct writer *w, size_t i, const struct noise_worst *x)
{
	int at = bind_row(w, NOISE_LONGEST, x, i, 0);
	sqlite3_stmt *stmt = w->stmts[NOISE_LONGEST];
	for (int column = 0; column < 5 && !x->trace.present; column++)
		sqlite3_bind_null(stmt, at + column);
	if (x->trace.present && lab_bind_trace(w->lab, stmt, at, &x->trace, storing, w->err))
		return -1;
	return done(w, NOISE_LONGEST);
}

static int add_all(struct writer *w, const struct noise *n)
{
	if (add_row(w, NOISE_RUN, n, 0, 0))
		return -1;
	for (size_t i = 0; i < n->cpus.count; i++)
		if (add_cpu(w, i, &n->cpus.items[i]))
			return -1;
	for (size_t i = 0; i < n->parts.count; i++)
		if (add_part(w, i, &n->parts.items[i]))
			return -1;
	for (size_t i = 0; i < n->worst.count; i++)
		if (add_longest(w, i, &n->worst.items[i]))
			return -1;
	return 0;
}

static bool has_room_for_part(const struct noise *n, const struct noise_part *p)
{
	for (size_t i = 0; i < p->shares.count; i++) {
		const struct noise_share *s = &p->shares.items[i];
		if (s->cpu >= n->cpus.count || s->source >= n->cpus.items[s->cpu].sources.count)
			return false;
	}
	return p->shares.count <= NOISE_POSITION_LIMIT;
}

/* What could not be read again is not stored; ids would run into each other, too. */
static bool has_room(int64_t run, const struct noise *n)
{
	bool fits = run < NOISE_RUN_LIMIT && n->cpus.count <= NOISE_CPU_LIMIT &&
		    n->parts.count <= NOISE_PARTS_MAX;
	for (size_t i = 0; fits && i < n->cpus.count; i++)
		fits = n->cpus.items[i].sources.count <= NOISE_SOURCES_MAX + NOISE_CLASSES &&
		       n->cpus.items[i].combinations.count <= NOISE_COMBINATIONS_MAX + 1;
	for (size_t i = 0; fits && i < n->parts.count; i++)
		fits = has_room_for_part(n, &n->parts.items[i]);
	return fits;
}

int lab_need_noise(struct lab *lab, int64_t id, struct error *err)
{
	struct run run = { 0 };
	if (lab_get_run(lab, id, &run, err))
		return -1;
	enum subject_kind kind = run.kind;
	run_release(&run);
	if (kind == SUBJECT_CPU)
		return 0;
	error_set(err, EXIT_USAGE, "run %" PRId64 " is not one of 'tare noise'", id);
	return error_hint(err, "'tare show %" PRId64 "' shows it", id);
}

static int delete_noise(struct lab *lab, int64_t run, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	if (lab_prepare(lab, &stmt, "DELETE FROM noise WHERE run = ?", storing, err))
		return -1;
	sqlite3_bind_int64(stmt, 1, run);
	int result = lab_done(lab, stmt, storing, err);
	sqlite3_finalize(stmt);
	return result;
}

int lab_put_noise(struct lab *lab, int64_t run, const struct noise *n, struct error *err)
{
	struct writer w = { .lab = lab, .run = run, .err = err };
	if (!has_room(run, n))
		return error_set(err, EXIT_USAGE,
				 "the noise of run %" PRId64 " is beyond the bounds of a lab", run);
	if (lab_begin(lab, storing, err))
		return -1;
	int result = lab_need_noise(lab, run, err) || delete_noise(lab, run, err) ||
		     prepare_all(&w) || add_all(&w, n);
	for (int t = 0; t < NOISE_TABLES; t++)
		sqlite3_finalize(w.stmts[t]);
	if (!result)
		result = lab_commit(lab, storing, err);
	lab_rollback(lab);
	return result ? -1 : 0;
}

/* ---- baselines ---- */

/* The machine a run was made on; an error when it does not say. */
static int read_identity(struct lab *lab, int64_t run, char identity[17], struct error *err)
{
	struct run r = { 0 };
	struct machine m = { 0 };
	int result = lab_get_run(lab, run, &r, err);
	if (!result && !r.machine)
		result = error_set(err, EXIT_USAGE,
				   "run %" PRId64 " does not say which machine it was made on",
				   run);
	if (!result)
		result = lab_get_machine(lab, r.machine, &m, err);
	machine_identity(&m, identity);
	machine_release(&m);
	run_release(&r);
	return result;
}

int lab_set_baseline(struct lab *lab, int64_t run, struct error *err)
{
	static const char doing[] = "set the baseline in";
	static const char sql[] =
		"INSERT OR REPLACE INTO noise_baseline (identity, run) VALUES (?, ?)";
	char identity[17];
	sqlite3_stmt *stmt = NULL;
	if (lab_begin(lab, doing, err))
		return -1;
	int result = lab_need_noise(lab, run, err) || read_identity(lab, run, identity, err) ||
		     lab_prepare(lab, &stmt, sql, doing, err);
	if (!result) {
		sqlite3_bind_text(stmt, 1, identity, -1, SQLITE_STATIC);
		sqlite3_bind_int64(stmt, 2, run);
		result = lab_done(lab, stmt, doing, err);
	}
	sqlite3_finalize(stmt);
	if (!result)
		result = lab_commit(lab, doing, err);
	lab_rollback(lab);
	return result ? -1 : 0;
}

int lab_get_baseline(struct lab *lab, const struct machine *m, int64_t *run, struct error *err)
{
	char identity[17];
	sqlite3_stmt *stmt = NULL;
	machine_identity(m, identity);
	if (lab_prepare(lab, &stmt, "SELECT run FROM noise_baseline WHERE identity = ?", "read",
			err))
		return -1;
	sqlite3_bind_text(stmt, 1, identity, -1, SQLITE_STATIC);
	int rc = sqlite3_step(stmt), result = 0;
	if (rc == SQLITE_ROW)
		*run = sqlite3_column_int64(stmt, 0);
	else if (rc == SQLITE_DONE)
		*run = 0;
	else
		result = lab_fail(lab, err, "read");
	sqlite3_finalize(stmt);
	return result;
}
