#include "import/queries.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/text.h"

#define TICK_NS 10000000 /* of the paper's machines */
#define SHOWN 64
#define NAME 32

/* What a field of a record is: which Q@C it is of, or a column from FIRST on. */
enum { QUERY, CARDINALITY, FIRST, IGNORED = -1 };
#define MOST_COLUMNS 96

struct column {
	char name[NAME];
	struct field_cursor of; /* its leaf, but for the name */
};

struct place {
	int column;
	bool ticks;
};

/* Which execution a record is. The file is read for these alone first, so that each execution can
 * then be read into its own place. */
struct key {
	uint64_t line, cardinality;
	uint32_t query, number;
	size_t record;
};

struct reader {
	struct csv csv;
	uint64_t tick_ns;
	struct column columns[MOST_COLUMNS];
	int known;		     /* columns */
	ARRAY(struct place) places;  /* by field */
	size_t fields[MOST_COLUMNS]; /* by column; SIZE_MAX: it is absent */
	ARRAY(struct key) keys;
	struct query_execution **executions; /* by record */
	struct query_run run;
};

/* The one of this member of struct query_execution. */
#define COLUMN_OF(r, member) column_at(r, offsetof(struct query_execution, member))
static int column_at(const struct reader *r, size_t offset)
{
	int c = FIRST;
	while (c < r->known - 1 && r->columns[c].of.leaf.offset != offset)
		c++;
	return c;
}

/* As the header has it. */
static const char *name_of(const struct reader *r, const struct place *p, char name[NAME])
{
	const char *plain = r->columns[p->column].name;
	int length = (int)strlen(plain) - (p->ticks ? (int)strlen("ns") : 0);
	snprintf(name, NAME, "%.*s%s", length, plain, p->ticks ? "ticks" : "");
	return name;
}

/* ---- the header ---- */

static int bad_header(const struct reader *r, const char *what, const char *name, struct error *err)
{
	char shown[SHOWN];
	const char *names[MOST_COLUMNS + 1] = { NULL };
	for (int c = 0; c < r->known; c++)
		names[c] = r->columns[c].name;
	const char *near = nearest_word(name, names);
	text_display(name, shown, sizeof shown);
	error_set(err, EXIT_USAGE, "line %" PRIu64 ": %s '%s'", r->csv.line, what, shown);
	return near && strcmp(near, name) != 0
		       ? error_hint(err, "did you mean '%s'? tare-query(1) lists them", near)
		       : error_hint(err, "the first line names the columns, among them query, "
					 "cardinality, execution and measured_ns");
}

static struct place place_of(const struct reader *r, const char *name)
{
	size_t length = strlen(name);
	bool ticks = length > strlen("_ticks") && strcmp(name + length - 6, "_ticks") == 0;
	for (int c = 0; c < r->known; c++) {
		const char *plain = r->columns[c].name;
		if (!ticks && strcmp(name, plain) == 0)
			return (struct place){ .column = c };
		if (ticks && r->columns[c].of.leaf.unit == UNIT_NS &&
		    r->columns[c].of.leaf.kind != FIELD_ID && strlen(plain) == length - 3 &&
		    strncmp(name, plain, length - 5) == 0)
			return (struct place){ .column = c, .ticks = true };
	}
	return (struct place){ .column = IGNORED };
}

static int read_header(struct reader *r, struct error *err)
{
	const int needed[] = { QUERY, CARDINALITY, COLUMN_OF(r, number),
			       COLUMN_OF(r, measured_ns) };
	int got = csv_next(&r->csv, err);
	if (got < 0)
		return -1;
	if (!got)
		return error_set(err, EXIT_USAGE, "there is nothing in it");
	for (int c = 0; c < r->known; c++)
		r->fields[c] = SIZE_MAX;
	for (size_t i = 0; i < r->csv.fields.count; i++) {
		const char *name = r->csv.fields.items[i];
		struct place p = place_of(r, name);
		if (p.column == IGNORED && strcmp(name, "dropped_by") != 0)
			return bad_header(r, "there is no column", name, err);
		if (p.column != IGNORED && r->fields[p.column] != SIZE_MAX)
			return bad_header(r, "two columns are of", r->columns[p.column].name, err);
		if (p.column != IGNORED)
			r->fields[p.column] = i;
		array_push(&r->places, p);
	}
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (r->fields[needed[i]] == SIZE_MAX)
			return bad_header(r, "it lacks the column", r->columns[needed[i]].name,
					  err);
	return 0;
}

/* ---- a field ---- */

static int bad(const struct reader *r, size_t field, const char *wanted, struct error *err)
{
	char shown[SHOWN], name[NAME];
	text_display(r->csv.fields.items[field], shown, sizeof shown);
	return error_set(err, EXIT_USAGE, "line %" PRIu64 ", column %s: '%s' is not %s",
			 r->csv.line, name_of(r, &r->places.items[field], name), shown, wanted);
}

static bool number_in(const char *text, unsigned base, uint64_t most, uint64_t *value)
{
	uint64_t v = 0;
	if (!*text)
		return false;
	for (; *text; text++) {
		unsigned digit = *text >= '0' && *text <= '9'	? (unsigned)(*text - '0')
				 : *text >= 'a' && *text <= 'f' ? (unsigned)(*text - 'a') + 10
								: 16;
		if (digit >= base || digit > most || v > (most - digit) / base)
			return false;
		v = v * base + digit;
	}
	*value = v;
	return true;
}

static const char *wanted_of(const struct field *f, bool ticks)
{
	return f->kind == FIELD_BOOL   ? "0 or 1"
	       : f->kind == FIELD_HASH ? "a hash of up to 16 hexadecimal digits"
	       : f->kind == FIELD_ID   ? "a number of ns since 1970"
	       : ticks		       ? "a number of ticks from 0 on"
	       : f->unit == UNIT_NS    ? "a number of ns from 0 on"
				       : "a number from 0 on";
}

/* ---- records, first for their keys ---- */

static int read_key(struct reader *r, struct error *err)
{
	uint64_t query, number;
	struct key k = { .line = r->csv.line, .record = r->keys.count };
	const size_t *fields = r->fields;
	size_t execution = fields[COLUMN_OF(r, number)];
	const char *const *cells = r->csv.fields.items;
	if (r->csv.fields.count != r->places.count)
		return error_set(err, EXIT_USAGE,
				 "line %" PRIu64 ": it has %zu fields, the header %zu columns",
				 k.line, r->csv.fields.count, r->places.count);
	if (!number_in(cells[fields[QUERY]], 10, IMPORTED_QUERIES_MOST, &query) || !query)
		return bad(r, fields[QUERY], "a query's number, from 1 to 1000000", err);
	if (!number_in(cells[fields[CARDINALITY]], 10, INT64_MAX, &k.cardinality))
		return bad(r, fields[CARDINALITY], "a number from 0 on", err);
	if (!number_in(cells[execution], 10, UINT32_MAX, &number) || !number)
		return bad(r, execution, "an execution's number, from 1 on", err);
	k.query = (uint32_t)query;
	k.number = (uint32_t)number;
	array_push(&r->keys, k);
	return 0;
}

static int by_execution(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	if (x->query != y->query)
		return x->query < y->query ? -1 : 1;
	if (x->cardinality != y->cardinality)
		return x->cardinality < y->cardinality ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* The Q@C that these keys are of. */
static int make_at(struct reader *r, const struct key *keys, size_t count, struct error *err)
{
	struct query_at at = { .query = keys->query, .cardinality = keys->cardinality };
	at.executions.items = xcalloc(count, sizeof *at.executions.items);
	at.executions.count = at.executions.capacity = count;
	array_push(&r->run.at, at);
	for (size_t i = 0; i < count; i++) {
		if (i && keys[i].number == keys[i - 1].number)
			return error_set(err, EXIT_USAGE,
					 "line %" PRIu64
					 ", column execution: it has the same query, "
					 "cardinality and execution as line %" PRIu64,
					 keys[i].line, keys[i - 1].line);
		r->executions[keys[i].record] = &at.executions.items[i];
	}
	if (r->run.planned < count)
		r->run.planned = (uint32_t)count;
	r->run.queries = at.query; /* they ascend */
	return 0;
}

static int make_ats(struct reader *r, struct error *err)
{
	const struct key *keys = r->keys.items;
	if (!r->keys.count)
		return error_set(err, EXIT_USAGE, "there is no execution in it");
	r->executions = xcalloc(r->keys.count, sizeof(struct query_execution *));
	qsort(r->keys.items, r->keys.count, sizeof *keys, by_execution);
	for (size_t i = 0, n; i < r->keys.count; i += n) {
		n = 1;
		while (i + n < r->keys.count && keys[i + n].query == keys[i].query &&
		       keys[i + n].cardinality == keys[i].cardinality)
			n++;
		if (make_at(r, keys + i, n, err))
			return -1;
	}
	return 0;
}

/* ---- then for all the rest ---- */

static bool is_given(const struct reader *r, int column)
{
	size_t field = r->fields[column];
	return field != SIZE_MAX && *r->csv.fields.items[field];
}

static int read_execution(struct reader *r, struct query_execution *x, struct error *err)
{
	for (int c = FIRST; c < r->known; c++)
		field_set(&r->columns[c].of, x, false, 0);
	for (size_t i = 0; i < r->places.count; i++) {
		const struct place *p = &r->places.items[i];
		const char *text = r->csv.fields.items[i];
		uint64_t value, unit = p->ticks ? r->tick_ns : 1;
		/* what is empty is missing already */
		if (p->column < FIRST || (!*text && p->column != COLUMN_OF(r, measured_ns)))
			continue;
		const struct field_cursor *c = &r->columns[p->column].of;
		if (!number_in(text, c->leaf.kind == FIELD_HASH ? 16 : 10,
			       field_most(&c->leaf) / unit, &value))
			return bad(r, i, wanted_of(&c->leaf, p->ticks), err);
		if (field_set(c, x, true, (int64_t)(value * unit)))
			return -1;
	}
	/* what the protocol asks for and few files have */
	const uint32_t all = (1u << QUERY_MEASURES) - 1;
	for (int role = 0; role < QUERY_ROLES; role++)
		if (!is_given(r, COLUMN_OF(r, usage[role].processes)))
			x->usage[role].processes = x->usage[role].missing != all;
	x->transaction = QUERY_TRANSACTIONS;
	if (!is_given(r, COLUMN_OF(r, query_process)))
		x->query_process = x->usage[QUERY_QUERY].processes > 0;
	return 0;
}

int imported_queries_read(const char *text, size_t length, uint64_t tick_ns, struct query_run *into,
			  struct error *err)
{
	struct reader r = { .tick_ns = tick_ns ? tick_ns : TICK_NS,
			    .columns = {
				    [QUERY] = { "query" }, [CARDINALITY] = { "cardinality" } } };
	struct field_cursor c = { .fields = query_execution_fields, .without = FIELD_NOT_CSV };
	for (r.known = FIRST; r.known < MOST_COLUMNS && field_next(&c); r.known++) {
		snprintf(r.columns[r.known].name, NAME, "%s", c.leaf.csv);
		r.columns[r.known].of = c;
	}
	csv_begin(&r.csv, text, length);
	int result = read_header(&r, err) ? -1 : 1;
	while (result > 0) {
		result = csv_next(&r.csv, err);
		if (result > 0 && read_key(&r, err))
			result = -1;
	}
	if (!result)
		result = make_ats(&r, err);
	if (!result) {
		csv_release(&r.csv);
		csv_begin(&r.csv, text, length);
		csv_next(&r.csv, err); /* the header */
	}
	for (size_t i = 0; !result && i < r.keys.count; i++)
		result = csv_next(&r.csv, err) != 1 || read_execution(&r, r.executions[i], err) ? -1
												: 0;
	r.run.cpus = 1;
	r.run.imported = true;
	r.run.tick_ns = r.tick_ns;
	if (result)
		query_run_release(&r.run);
	else
		*into = r.run;
	free(r.executions);
	array_release(&r.keys);
	array_release(&r.places);
	csv_release(&r.csv);
	return result;
}
