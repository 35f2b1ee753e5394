/* Duets: stored pair by pair as they end, and read back. What is out of its bounds is damage. */
#include <inttypes.h>
#include <stdlib.h>

#include "lab/sqlite.h"

enum duet_table { DUETS, SIDES, PARTS, LOOKS, TABLES };
_Static_assert((int)TABLES == LAB_DUET_TABLES, "");
static const struct lab_table tables[TABLES] = {
	[DUETS] = { "duet", duet_fields, "run", NULL },
	[SIDES] = { "duet_side", duet_side_fields, "run, side", NULL },
	[PARTS] = { "duet_part", duet_part_fields, "run", NULL },
	[LOOKS] = { "duet_look", duet_look_fields, "run", NULL },
};

/* The numbers in the schema's views. */
_Static_assert(DUET_SCHEDULER == 0 && DUET_FREEZER == 1 && DUET_WHOLE == 2 && DUET_WAYS == 3, "");
_Static_assert(OUTCOME_EXITED == 0 && OUTCOME_SIGNALLED == 1 && OUTCOME_TIMED_OUT == 2, "");

static const char storing[] = "store the duet in";

/* Within a transaction. The statements stay prepared: pairs of a short program come often. */
static int insert_row(struct lab *lab, enum duet_table t, int64_t run, const void *row,
		      uint32_t side, struct error *err)
{
	int at = 1;
	sqlite3_stmt **stmt = &lab->duets[t];
	if (!*stmt && lab_prepare_inserts(lab, &tables[t], 1, stmt, storing, err))
		return -1;
	fields_bind(*stmt, &at, tables[t].fields, row);
	sqlite3_bind_int64(*stmt, at++, run);
	if (t == SIDES)
		sqlite3_bind_int64(*stmt, at, side);
	return lab_done(lab, *stmt, storing, err);
}

int lab_add_duet(struct lab *lab, int64_t run, const struct duet *d, struct error *err)
{
	if (lab_begin(lab, storing, err))
		return -1;
	int result = insert_row(lab, DUETS, run, d, 0, err);
	for (size_t i = 0; i < d->sides.count && !result; i++)
		result = insert_row(lab, SIDES, run, &d->sides.items[i], (uint32_t)i, err);
	return lab_finish(lab, result, storing, err);
}

int lab_add_duet_parts(struct lab *lab, int64_t run, const struct duet_part *parts, size_t count,
		       const struct duet_look *look, struct error *err)
{
	if (lab_begin_often(lab, storing, err))
		return -1;
	int result = 0;
	for (size_t i = 0; i < count && !result; i++)
		result = insert_row(lab, PARTS, run, &parts[i], 0, err);
	if (look && !result)
		result = insert_row(lab, LOOKS, run, look, 0, err);
	return lab_finish(lab, result, storing, err);
}

/* Reads the rows into the list at `list`, or, of size 0, the one row into the duet itself. */
static int read_table(struct lab *lab, enum duet_table t, int64_t run, void *list, size_t size,
		      bool *found, struct error *err)
{
	static const char *const order[] = { "run", "side", "id", "id" };
	sqlite3_stmt *stmt = NULL;
	static const char from[] = " FROM %s WHERE run = ? ORDER BY %s";
	int result = t == PARTS ? lab_select_growing(lab, &stmt, LAB_DUET_PART, ARGS(NUM(run)), err,
						     from, tables[t].name, order[t])
				: lab_select(lab, &stmt, tables[t].fields, ARGS(NUM(run)), err,
					     from, tables[t].name, order[t]);
	while (lab_row(lab, stmt, "read", &result, err)) {
		int at = 0;
		*found = true;
		if (fields_read(stmt, &at, tables[t].fields,
				size ? lab_list_add(list, size) : list))
			result = lab_damaged(lab, err, "a duet has impossible values");
	}
	return result;
}

/* What judging relies on. */
static bool sound(const struct duet *d)
{
	bool is = d->sides.count >= 2;
	array_each(s, &d->sides)
		is &= s->name && s->command;
	array_each(p, &d->parts)
		is &= p->side < d->sides.count && p->pair <= 1u << 24;
	return is;
}

int lab_get_duet(struct lab *lab, int64_t run, struct duet *into, struct error *err)
{
	struct duet d = { 0 };
	bool alone, found = false, any; /* the run may be going */
	if (lab_begin_reading(lab, &alone, err))
		return -1;
	int result = lab_need_kind(lab, run, SUBJECT_DUET, "is not one of 'tare duet'", err);
	if (!result)
		result = read_table(lab, DUETS, run, &d, 0, &found, err);
	if (!result && !found)
		result = error_set(err, EXIT_USAGE, "nothing of run %" PRId64 " was stored", run);
	if (!result)
		result = read_table(lab, SIDES, run, &d.sides, sizeof *d.sides.items, &any, err);
	if (!result)
		result = read_table(lab, PARTS, run, &d.parts, sizeof *d.parts.items, &any, err);
	if (!result)
		result = read_table(lab, LOOKS, run, &d.looks, sizeof *d.looks.items, &any, err);
	if (!result && !sound(&d))
		result = lab_damaged(lab, err, "a duet has impossible values");
	lab_end_reading(lab, alone);
	if (result) {
		duet_release(&d);
		return -1;
	}
	*into = d;
	return 0;
}
