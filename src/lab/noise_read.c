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

union row {
	struct noise_cpu cpu;
	struct noise_bucket_row bucket;
	struct noise_source source;
	struct noise_combination combination;
	struct noise_untold vector;
	struct noise_part part;
	struct noise_worst longest;
	struct noise_share share;
	struct noise_length_row length;
	struct noise_speed_point speed;
};

/* NULL: there is no such source or combination. */
static struct noise_histogram *histogram_of(struct noise_cpu *c, uint64_t id)
{
	size_t owner = id >> NOISE_OWNER_SHIFT & (NOISE_OWNER_LIMIT - 1);
	enum length_kind kind = (enum length_kind)(id >> NOISE_KIND_SHIFT & 3);
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

/* Takes a row of a CPU over; false: it is impossible. Rows come by key, and a list has each of its
 * positions once. */
static bool take_of_cpu(struct noise_cpu *c, enum noise_table t, const union row *row,
			size_t position, uint64_t id)
{
	struct noise_source *source;
	struct noise_combination *combination;
	struct noise_histogram *h;
	switch (t) {
	case NOISE_BUCKET: {
		const struct noise_bucket_row *b = &row->bucket;
		if (b->bucket >= NOISE_BUCKETS)
			return false;
		c->buckets[b->bucket] = b->detours;
		if (b->master.count || b->master.ns)
			noise_histogram_add(&c->master, b->bucket, b->master.count, b->master.ns);
		return true;
	}
	case NOISE_SOURCE: /* a name there already, or one too many, gives no new one of that name
			    */
		if (position != c->sources.count)
			return false;
		source = noise_source_get(c, row->source.class, row->source.name);
		if (c->sources.count == position || strcmp(source->name, row->source.name) != 0)
			return false;
		*source = row->source;
		return true;
	case NOISE_COMBINATION:
		if (position != c->combinations.count)
			return false;
		combination = noise_combination_get(c, row->combination.name);
		if (c->combinations.count == position ||
		    strcmp(combination->name, row->combination.name) != 0)
			return false;
		*combination = row->combination;
		return true;
	case NOISE_VECTOR:
		if (position != c->untold.count)
			return false;
		array_push(&c->untold, row->vector);
		return true;
	case NOISE_SPEED:
		if (position != c->speeds.count || position >= NOISE_SPEED_POINTS_MAX)
			return false;
		array_push(&c->speeds, row->speed);
		return true;
	default: /* NOISE_LENGTH */
		h = histogram_of(c, id);
		if (!h || (id & (NOISE_BUCKET_LIMIT - 1)) >= NOISE_BUCKETS)
			return false;
		noise_histogram_add(h, id & (NOISE_BUCKET_LIMIT - 1), row->length.in.count,
				    row->length.in.ns);
		return true;
	}
}

/* An older lab that is only read has no column for SMIs: no time went to them. */
static void without_smis(enum noise_table t, union row *row)
{
	uint64_t *class_ns = t == NOISE_CPU	  ? row->cpu.total.class_ns
			     : t == NOISE_BUCKET  ? row->bucket.detours.class_ns
			     : t == NOISE_LONGEST ? row->longest.class_ns
						  : NULL;
	if (class_ns && class_ns[NOISE_SMI] == ABSENT_NS)
		class_ns[NOISE_SMI] = 0;
}

/* The same for any row. keys: the column of its first key, which is the run or an id. */
static bool take(struct reader *r, enum noise_table t, union row *row, sqlite3_stmt *stmt, int keys)
{
	struct noise *n = &r->noise;
	uint64_t id = (uint64_t)sqlite3_column_int64(stmt, keys);
	uint64_t in_id = id >> NOISE_CPU_SHIFT & (NOISE_CPU_LIMIT - 1);
	uint64_t first = (uint64_t)sqlite3_column_int64(stmt, keys + 1);
	uint64_t cpu = t == NOISE_LENGTH ? in_id : first;
	without_smis(t, row);
	switch (t) {
	case NOISE_CPU:
		if (first != n->cpus.count || first >= NOISE_CPU_LIMIT)
			return false;
		row->cpu.buckets = xcalloc(NOISE_BUCKETS, sizeof *row->cpu.buckets);
		array_push(&n->cpus, row->cpu);
		return true;
	case NOISE_PART:
		if (first != n->parts.count || first >= NOISE_PARTS_MAX)
			return false;
		array_push(&n->parts, row->part);
		return true;
	case NOISE_LONGEST:
		if (first != n->worst.count)
			return false;
		array_push(&n->worst, row->longest);
		return true;
	case NOISE_SHARE: {
		const struct noise_share *s = &row->share;
		if (s->cpu >= n->cpus.count || s->source >= n->cpus.items[s->cpu].sources.count ||
		    in_id >= n->parts.count ||
		    (id & (NOISE_POSITION_LIMIT - 1)) != n->parts.items[in_id].shares.count)
			return false;
		array_push(&n->parts.items[in_id].shares, *s);
		return true;
	}
	default:
		return cpu < n->cpus.count &&
		       take_of_cpu(&n->cpus.items[cpu], t, row,
				   (uint64_t)sqlite3_column_int64(stmt, keys + 2), id);
	}
}

static int read_table(struct reader *r, enum noise_table t, int64_t run)
{
	const struct lab_table *spec = &noise_tables[t];
	sqlite3_stmt *stmt = NULL;
	int result;
	if (strcmp(spec->more, "id") == 0)
		result = lab_select_there(
			r->lab, &stmt, spec->name, spec->fields, ARGS(NUM(run)), r->err,
			", id FROM %s WHERE id BETWEEN ?1 << %d AND (?1 << %d) + %" PRId64
			" ORDER BY id",
			spec->name, NOISE_RUN_SHIFT, NOISE_RUN_SHIFT,
			(INT64_C(1) << NOISE_RUN_SHIFT) - 1);
	else
		result = lab_select_there(r->lab, &stmt, spec->name, spec->fields, ARGS(NUM(run)),
					  r->err, ", %s FROM %s WHERE run = ?1 ORDER BY run%s%s",
					  spec->more, spec->name,
					  strstr(spec->more, "cpu") ? ", cpu" : "",
					  strstr(spec->more, "position") ? ", position" : "");
	while (lab_row(r->lab, stmt, "read", &result, r->err)) {
		union row row;
		int at = 0;
		memset(&row, 0, sizeof row);
		r->found = true;
		if (fields_read(stmt, &at, spec->fields,
				t == NOISE_RUN ? (void *)&r->noise : &row) ||
		    (t != NOISE_RUN && !take(r, t, &row, stmt, at)))
			result = lab_damaged(r->lab, r->err, "noise has impossible values");
		else if (t == NOISE_LONGEST && sqlite3_column_type(stmt, at + 2) != SQLITE_NULL)
			result = lab_read_trace(
				r->lab, stmt, at + 2,
				&r->noise.worst.items[r->noise.worst.count - 1].trace, r->err);
	}
	return result;
}

int lab_get_noise(struct lab *lab, int64_t run, struct noise *into, struct error *err)
{
	struct reader r = { .lab = lab, .err = err };
	bool alone; /* a run that is going is stored again and again */
	if (lab_begin_reading(lab, &alone, err))
		return -1;
	int64_t speeds = 0;
	int result = lab_need_noise(lab, run, err) ||
		     lab_number(lab,
				"SELECT count(*) FROM sqlite_schema WHERE name = 'noise_speed'",
				NULL, &speeds, err);
	for (int t = 0; t < NOISE_TABLES && !result; t++) {
		if (t == NOISE_SPEED && !speeds)
			break;
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
