/* The noise of a run out of its tables. What is out of its bounds, or refers to what is not there,
 * is damage. */
#include <inttypes.h>
#include <string.h>

#include "lab/noise_rows.h"

struct reader {
	struct lab *lab;
	struct noise noise;
	bool found;
	struct error *err;
};

static int impossible(struct reader *r)
{
	return lab_damaged(r->lab, r->err, "noise has impossible values");
}

static struct noise_cpu *cpu_at(struct reader *r, int64_t position)
{
	return position >= 0 && (uint64_t)position < r->noise.cpus.count
		       ? &r->noise.cpus.items[position]
		       : NULL;
}

/* Rows come by key; a list has each of its positions once. */
static bool is_next(sqlite3_stmt *stmt, int column, size_t count)
{
	return sqlite3_column_int64(stmt, column) == (int64_t)count;
}

static int read_run(struct reader *r, sqlite3_stmt *stmt)
{
	int at = 0;
	r->found = true;
	return fields_read(stmt, &at, noise_tables[NOISE_RUN].fields, &r->noise) ? impossible(r)
										 : 0;
}

static int read_cpu(struct reader *r, sqlite3_stmt *stmt)
{
	int at = 0;
	struct noise_cpu c = { 0 };
	if (fields_read(stmt, &at, noise_tables[NOISE_CPU].fields, &c) ||
	    r->noise.cpus.count >= NOISE_CPU_LIMIT || !is_next(stmt, at + 1, r->noise.cpus.count))
		return impossible(r);
	c.buckets = xcalloc(NOISE_BUCKETS, sizeof *c.buckets);
	array_push(&r->noise.cpus, c);
	return 0;
}

static int read_bucket(struct reader *r, sqlite3_stmt *stmt)
{
	int at = 0;
	struct noise_bucket_row row = { 0 };
	int failed = fields_read(stmt, &at, noise_tables[NOISE_BUCKET].fields, &row);
	struct noise_cpu *c = cpu_at(r, sqlite3_column_int64(stmt, at + 1));
	if (failed || !c || row.bucket >= NOISE_BUCKETS)
		return impossible(r);
	c->buckets[row.bucket] = row.detours;
	if (row.master.count || row.master.ns)
		noise_histogram_add(&c->master, row.bucket, row.master.count, row.master.ns);
	return 0;
}

static int read_source(struct reader *r, sqlite3_stmt *stmt)
{
	int at = 0;
	struct noise_source s = { 0 };
	if (fields_read(stmt, &at, noise_tables[NOISE_SOURCE].fields, &s))
		return impossible(r);
	struct noise_cpu *c = cpu_at(r, sqlite3_column_int64(stmt, at + 1));
	if (!c || !is_next(stmt, at + 2, c->sources.count))
		return impossible(r);
	/* a name that is there already, or one too many, gives no new one of that name */
	size_t had = c->sources.count;
	struct noise_source *made = noise_source_get(c, s.class, s.name);
	if (c->sources.count == had || strcmp(made->name, s.name) != 0)
		return impossible(r);
	*made = s;
	return 0;
}

static int read_combination(struct reader *r, sqlite3_stmt *stmt)
{
	int at = 0;
	struct noise_combination x = { 0 };
	if (fields_read(stmt, &at, noise_tables[NOISE_COMBINATION].fields, &x))
		return impossible(r);
	struct noise_cpu *c = cpu_at(r, sqlite3_column_int64(stmt, at + 1));
	if (!c || !is_next(stmt, at + 2, c->combinations.count))
		return impossible(r);
	size_t had = c->combinations.count;
	struct noise_combination *made = noise_combination_get(c, x.name);
	if (c->combinations.count == had || strcmp(made->name, x.name) != 0)
		return impossible(r);
	*made = x;
	return 0;
}

static int read_vector(struct reader *r, sqlite3_stmt *stmt)
{
	int at = 0;
	struct noise_untold u = { 0 };
	int failed = fields_read(stmt, &at, noise_tables[NOISE_VECTOR].fields, &u);
	struct noise_cpu *c = cpu_at(r, sqlite3_column_int64(stmt, at + 1));
	if (failed || !c || !is_next(stmt, at + 2, c->untold.count))
		return impossible(r);
	array_push(&c->untold, u);
	return 0;
}

static int read_part(struct reader *r, sqlite3_stmt *stmt)
{
	int at = 0;
	struct noise_part p = { 0 };
	if (fields_read(stmt, &at, noise_tables[NOISE_PART].fields, &p) ||
	    r->noise.parts.count >= NOISE_PARTS_MAX || !is_next(stmt, at + 1, r->noise.parts.count))
		return impossible(r);
	array_push(&r->noise.parts, p);
	return 0;
}

static int read_longest(struct reader *r, sqlite3_stmt *stmt)
{
	int at = 0;
	struct noise_worst x = { 0 };
	if (fields_read(stmt, &at, noise_tables[NOISE_LONGEST].fields, &x) ||
	    !is_next(stmt, at + 1, r->noise.worst.count))
		return impossible(r);
	at += 2;
	if (sqlite3_column_type(stmt, at) != SQLITE_NULL &&
	    lab_read_trace(r->lab, stmt, at, &x.trace, r->err))
		return -1;
	array_push(&r->noise.worst, x);
	return 0;
}

static int read_share(struct reader *r, sqlite3_stmt *stmt)
{
	int at = 0;
	struct noise_share s = { 0 };
	int failed = fields_read(stmt, &at, noise_tables[NOISE_SHARE].fields, &s);
	uint64_t id = (uint64_t)sqlite3_column_int64(stmt, at);
	uint64_t part = id >> NOISE_CPU_SHIFT & (NOISE_CPU_LIMIT - 1);
	const struct noise_cpu *c = cpu_at(r, s.cpu);
	if (failed || !c || s.source >= c->sources.count || part >= r->noise.parts.count)
		return impossible(r);
	struct noise_part *p = &r->noise.parts.items[part];
	if ((id & (NOISE_POSITION_LIMIT - 1)) != p->shares.count)
		return impossible(r);
	array_push(&p->shares, s);
	return 0;
}

/* NULL: there is no such source or combination. */
static struct noise_histogram *histogram_of(struct noise_cpu *c, enum length_kind kind,
					    size_t owner)
{
	size_t count = kind <= LENGTH_INTERVAL ? c->sources.count : c->combinations.count;
	if (owner >= count)
		return NULL;
	switch (kind) {
	case LENGTH_SOURCE:
		return &c->sources.items[owner].lengths;
	case LENGTH_INTERVAL:
		return &c->sources.items[owner].intervals;
	case LENGTH_SEEN:
		return &c->combinations.items[owner].seen_lengths;
	case LENGTH_TOLD:
		return &c->combinations.items[owner].told_lengths;
	}
	return NULL;
}

static int read_length(struct reader *r, sqlite3_stmt *stmt)
{
	int at = 0;
	struct noise_length_row row = { 0 };
	int failed = fields_read(stmt, &at, noise_tables[NOISE_LENGTH].fields, &row);
	uint64_t id = (uint64_t)sqlite3_column_int64(stmt, at);
	struct noise_cpu *c = cpu_at(r, id >> NOISE_CPU_SHIFT & (NOISE_CPU_LIMIT - 1));
	unsigned bucket = id & (NOISE_BUCKET_LIMIT - 1);
	struct noise_histogram *h =
		c ? histogram_of(c, (enum length_kind)(id >> NOISE_KIND_SHIFT & 3),
				 id >> NOISE_OWNER_SHIFT & (NOISE_OWNER_LIMIT - 1))
		  : NULL;
	if (failed || !h || bucket >= NOISE_BUCKETS)
		return impossible(r);
	noise_histogram_add(h, bucket, row.in.count, row.in.ns);
	return 0;
}

static int read_table(struct reader *r, enum noise_table t, int64_t run)
{
	static int (*const rows[NOISE_TABLES])(struct reader *, sqlite3_stmt *) = {
		[NOISE_RUN] = read_run,
		[NOISE_CPU] = read_cpu,
		[NOISE_BUCKET] = read_bucket,
		[NOISE_SOURCE] = read_source,
		[NOISE_COMBINATION] = read_combination,
		[NOISE_VECTOR] = read_vector,
		[NOISE_PART] = read_part,
		[NOISE_LONGEST] = read_longest,
		[NOISE_SHARE] = read_share,
		[NOISE_LENGTH] = read_length,
	};
	const struct lab_table *spec = &noise_tables[t];
	sqlite3_stmt *stmt = NULL;
	int result;
	if (strcmp(spec->more, "id") == 0)
		result = lab_select(
			r->lab, &stmt, spec->fields, ARGS(NUM(run)), r->err,
			", id FROM %s WHERE id BETWEEN ?1 << %d AND (?1 << %d) + %" PRId64
			" ORDER BY id",
			spec->name, NOISE_RUN_SHIFT, NOISE_RUN_SHIFT,
			(INT64_C(1) << NOISE_RUN_SHIFT) - 1);
	else
		result = lab_select(r->lab, &stmt, spec->fields, ARGS(NUM(run)), r->err,
				    ", %s FROM %s WHERE run = ?1 ORDER BY run%s%s", spec->more,
				    spec->name, strstr(spec->more, "cpu") ? ", cpu" : "",
				    strstr(spec->more, "position") ? ", position" : "");
	while (lab_row(r->lab, stmt, "read", &result, r->err))
		result = rows[t](r, stmt);
	return result;
}

int lab_get_noise(struct lab *lab, int64_t run, struct noise *into, struct error *err)
{
	struct reader r = { .lab = lab, .err = err };
	bool alone; /* a run that is going is stored again and again */
	if (lab_begin_reading(lab, &alone, err))
		return -1;
	int result = lab_need_noise(lab, run, err);
	for (int t = 0; t < NOISE_TABLES && !result; t++) {
		result = read_table(&r, (enum noise_table)t, run);
		if (!result && !r.found) {
			error_set(err, EXIT_USAGE, "nothing of run %" PRId64 " was stored", run);
			result = error_hint(err, "one that is going stores its first sums soon");
		}
	}
	lab_end_reading(lab, alone);
	if (result) {
		noise_release(&r.noise);
		return -1;
	}
	*into = r.noise;
	return 0;
}
