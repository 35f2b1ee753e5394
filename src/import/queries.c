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

/* What a field of a record is. */
enum { QUERY = QUERY_COLUMNS, CARDINALITY, KNOWN, IGNORED = KNOWN };

struct place {
	int column; /* of query_columns[], or one of the above */
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
	ARRAY(struct place) places; /* by field */
	size_t fields[KNOWN];	    /* by column; SIZE_MAX: it is absent */
	ARRAY(struct key) keys;
	struct query_execution **executions; /* by record */
	struct query_run run;
};

static const char *column_name(int column)
{
	return column == QUERY	       ? "query"
	       : column == CARDINALITY ? "cardinality"
				       : query_columns[column].name;
}

/* The one of this member of struct query_execution. */
#define COLUMN_OF(member) column_at(offsetof(struct query_execution, member))
static int column_at(size_t offset)
{
	int c = 0;
	while (c < QUERY_COLUMNS - 1 && query_columns[c].offset != offset)
		c++;
	return c;
}

/* As the header has it. */
static const char *name_of(const struct place *p, char name[NAME])
{
	const char *plain = column_name(p->column);
	int length = (int)strlen(plain) - (p->ticks ? (int)strlen("ns") : 0);
	snprintf(name, NAME, "%.*s%s", length, plain, p->ticks ? "ticks" : "");
	return name;
}

/* ---- the header ---- */

static int bad_header(const struct reader *r, const char *what, const char *name, struct error *err)
{
	char shown[SHOWN];
	const char *names[KNOWN + 1];
	for (int c = 0; c < KNOWN; c++)
		names[c] = column_name(c);
	names[KNOWN] = NULL;
	const char *near = nearest_word(name, names);
	text_display(name, shown, sizeof shown);
	error_set(err, EXIT_USAGE, "line %" PRIu64 ": %s '%s'", r->csv.line, what, shown);
	return near && strcmp(near, name) != 0
		       ? error_hint(err, "did you mean '%s'? tare-query(1) lists them", near)
		       : error_hint(err, "the first line names the columns, among them query, "
					 "cardinality, execution and measured_ns");
}

/* KNOWN: there is no such one. */
static struct place place_of(const char *name)
{
	size_t length = strlen(name);
	bool ticks = length > strlen("_ticks") && strcmp(name + length - 6, "_ticks") == 0;
	for (int c = 0; c < KNOWN; c++) {
		const char *plain = column_name(c);
		if (!ticks && strcmp(name, plain) == 0)
			return (struct place){ .column = c };
		if (ticks && c < QUERY_COLUMNS && query_columns[c].kind == QUERY_DURATION &&
		    strlen(plain) == length - 3 && strncmp(name, plain, length - 5) == 0)
			return (struct place){ .column = c, .ticks = true };
	}
	return (struct place){ .column = IGNORED };
}

static int read_header(struct reader *r, struct error *err)
{
	const int needed[] = { QUERY, CARDINALITY, COLUMN_OF(number), COLUMN_OF(measured_ns) };
	int got = csv_next(&r->csv, err);
	if (got < 0)
		return -1;
	if (!got)
		return error_set(err, EXIT_USAGE, "there is nothing in it");
	for (int c = 0; c < KNOWN; c++)
		r->fields[c] = SIZE_MAX;
	for (size_t i = 0; i < r->csv.fields.count; i++) {
		const char *name = r->csv.fields.items[i];
		struct place p = place_of(name);
		if (p.column == IGNORED && strcmp(name, "dropped_by") != 0)
			return bad_header(r, "there is no column", name, err);
		if (p.column != IGNORED && r->fields[p.column] != SIZE_MAX)
			return bad_header(r, "two columns are of", column_name(p.column), err);
		if (p.column != IGNORED)
			r->fields[p.column] = i;
		array_push(&r->places, p);
	}
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (r->fields[needed[i]] == SIZE_MAX)
			return bad_header(r, "it lacks the column", column_name(needed[i]), err);
	return 0;
}

/* ---- a field ---- */

static int bad(const struct reader *r, size_t field, const char *wanted, struct error *err)
{
	char shown[SHOWN], name[NAME];
	text_display(r->csv.fields.items[field], shown, sizeof shown);
	return error_set(err, EXIT_USAGE, "line %" PRIu64 ", column %s: '%s' is not %s",
			 r->csv.line, name_of(&r->places.items[field], name), shown, wanted);
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

static const char *wanted_of(const struct query_column *c, bool ticks)
{
	switch (c->kind) {
	case QUERY_FLAG:
		return "0 or 1";
	case QUERY_HASH:
		return "a hash of up to 16 hexadecimal digits";
	case QUERY_DURATION:
		return ticks ? "a number of ticks from 0 on" : "a number of ns from 0 on";
	case QUERY_MOMENT:
		return "a number of ns since 1970";
	default:
		return "a number from 0 on";
	}
}

static int read_field(struct reader *r, size_t field, struct query_execution *x, struct error *err)
{
	const struct place *p = &r->places.items[field];
	const struct query_column *c = &query_columns[p->column];
	const char *text = r->csv.fields.items[field];
	uint64_t value, unit = p->ticks ? r->tick_ns : 1;
	if (!*text && p->column != COLUMN_OF(measured_ns))
		return 0; /* it is missing already */
	if (!number_in(text, c->kind == QUERY_HASH ? 16 : 10, query_column_most(c) / unit, &value))
		return bad(r, field, wanted_of(c, p->ticks), err);
	query_column_set(c, x, value * unit);
	return 0;
}

/* ---- records, first for their keys ---- */

static int read_key(struct reader *r, struct error *err)
{
	uint64_t query, number;
	struct key k = { .line = r->csv.line, .record = r->keys.count };
	const size_t *fields = r->fields;
	size_t execution = fields[COLUMN_OF(number)];
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

static bool of_one_at(const struct key *a, const struct key *b)
{
	return a->query == b->query && a->cardinality == b->cardinality;
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
		while (i + n < r->keys.count && of_one_at(&keys[i], &keys[i + n]))
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
	for (int c = 0; c < QUERY_COLUMNS; c++)
		query_column_clear(&query_columns[c], x);
	for (size_t i = 0; i < r->places.count; i++)
		if (r->places.items[i].column < QUERY_COLUMNS && read_field(r, i, x, err))
			return -1;
	/* what the protocol asks for and few files have */
	const uint32_t all = (1u << QUERY_MEASURES) - 1;
	for (int role = 0; role < QUERY_ROLES; role++)
		if (!is_given(r, COLUMN_OF(usage[role].processes)))
			x->usage[role].processes = x->usage[role].missing != all;
	if (!is_given(r, COLUMN_OF(query_process)))
		x->query_process = x->usage[QUERY_QUERY].processes > 0;
	return 0;
}

static int read_keys(struct reader *r, struct error *err)
{
	int got = read_header(r, err) ? -1 : 1;
	while (got > 0) {
		got = csv_next(&r->csv, err);
		if (got > 0 && read_key(r, err))
			got = -1;
	}
	return got;
}

static int read_executions(struct reader *r, struct error *err)
{
	for (size_t i = 0; i < r->keys.count; i++)
		if (csv_next(&r->csv, err) != 1 || read_execution(r, r->executions[i], err))
			return -1;
	return 0;
}

int imported_queries_read(const char *text, size_t length, uint64_t tick_ns, struct query_run *into,
			  struct error *err)
{
	struct reader r = { .tick_ns = tick_ns ? tick_ns : TICK_NS };
	csv_begin(&r.csv, text, length);
	int result = read_keys(&r, err) || make_ats(&r, err) ? -1 : 0;
	if (!result) {
		csv_release(&r.csv);
		csv_begin(&r.csv, text, length);
		csv_next(&r.csv, err); /* the header */
		result = read_executions(&r, err);
	}
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
