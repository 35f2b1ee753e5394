#include "subject/experiment_columns.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "subject/experiment_domain.h"

#define NAME_MOST 48
#define TEXT_MOST 10000
#define NUMBER_MOST 1000000000000l /* in millionths it is still an int64_t */
#define REFERENCES_MOST 8	   /* one after the other */

bool name_is_plain(const char *name)
{
	size_t n = strlen(name);
	if (!n || n > NAME_MOST || isdigit((unsigned char)*name))
		return false;
	for (; *name; name++)
		if (!isascii(*name) || (!isalnum((unsigned char)*name) && *name != '_'))
			return false;
	return true;
}

struct reader {
	const struct raw_column *raw;
	const struct tree_node *tree;
	const char *path; /* of the column */
	const struct experiment *e;
	struct experiment_table *t;
	struct experiment_column *c;
	struct error *err;
};

#define fail(r, ...) tree_error((r)->tree, (r)->path, (r)->err, __VA_ARGS__)

static bool given(const struct reader *r, const char *key)
{
	return tree_child(tree_find(r->tree, r->path), key) != NULL;
}

/* The first of the keys (ended by NULL) that is there makes the error. */
static int not_with(const struct reader *r, const char *const *keys, const char *why)
{
	for (; *keys; keys++)
		if (given(r, *keys))
			return fail(r, "'%s' means nothing %s", *keys, why);
	return 0;
}

/* ---- ranges ---- */

static int read_bound(const struct reader *r, const char *key, const char *text, int64_t *value)
{
	long number;
	int64_t most = r->c->kind == KIND_INTEGER ? INT32_MAX : NUMBER_MOST;
	if (r->c->kind == KIND_DATE)
		return date_parse(text, value)
			       ? 0
			       : fail(r, "%s: '%s' is not a date such as 1992-01-31", key,
				      DISPLAYED(text, 64));
	if (!integer_parse(text, -most, most, &number))
		return fail(r, "%s: '%s' is not a whole number from %" PRId64 " to %" PRId64, key,
			    DISPLAYED(text, 64), -most, most);
	*value = number;
	return 0;
}

static int read_range(const struct reader *r)
{
	const struct raw_column *raw = r->raw;
	struct experiment_column *c = r->c;
	if (raw->from && read_bound(r, "from", raw->from, &c->from))
		return -1;
	if (raw->to && read_bound(r, "to", raw->to, &c->to))
		return -1;
	c->ranged = raw->from || raw->to;
	if (c->serial)
		return raw->to ? fail(r, "'to' means nothing with serial") : 0;
	if (raw->from && !raw->to)
		return fail(r, "'from' needs 'to'");
	if (c->to < c->from)
		return fail(r, "'to' is less than 'from'");
	return 0;
}

#define DAY_0001_01_01 (-719162)
#define DAY_9999_12_31 2932896

/* Its values have to fit the type. */
static int check_fits(const struct reader *r)
{
	struct column_domain d = column_domain(r->t, r->c);
	__int128 most = d.base + (__int128)(d.count - 1) * d.step;
	if (r->c->kind == KIND_INTEGER && (d.base < INT32_MIN || most > INT32_MAX))
		return fail(r, "its values are too large for an integer: it should be a bigint");
	if (r->c->kind == KIND_DATE && (d.base < DAY_0001_01_01 || most > DAY_9999_12_31))
		return fail(r, "its dates are not all within the years 1 to 9999");
	if (most > INT64_MAX / 2)
		return fail(r, "its values are too large");
	return 0;
}

/* ---- references ---- */

static size_t find_column(const struct experiment_table *t, const char *name)
{
	size_t i = 0;
	while (i < t->columns.count && strcmp(t->columns.items[i].name, name) != 0)
		i++;
	return i;
}

static const struct experiment_table *find_table(const struct reader *r, const char *name,
						 size_t length)
{
	for (const struct experiment_table *t = r->e->tables.items; t < r->t; t++)
		if (strlen(t->name) == length && strncmp(t->name, name, length) == 0)
			return t;
	return NULL;
}

static int find_referred(const struct reader *r)
{
	const char *text = r->raw->references, *dot = strchr(text, '.');
	struct experiment_column *c = r->c;
	c->of = dot ? find_table(r, text, (size_t)(dot - text)) : r->t;
	if (!c->of)
		return fail(r, "there is no table before this one for the reference to '%s'",
			    DISPLAYED(text, 64));
	if (c->of->varies && dot)
		return fail(r, "'%s' is of the table that varies: its rows come and go",
			    DISPLAYED(text, 64));
	/* in its own table, this column is not in the list yet: it finds those before it */
	c->of_column = find_column(c->of, dot ? dot + 1 : text);
	if (c->of_column == c->of->columns.count) {
		c->of = NULL;
		return fail(r, "there is no column '%s' before it to refer to%s",
			    DISPLAYED(text, 64),
			    dot ? "" : "; one of another table is written table.column");
	}
	return 0;
}

static int read_reference(const struct reader *r)
{
	static const char *const keys[] = { "from", "to", "words", "distinct", "length", NULL };
	const struct raw_column *raw = r->raw;
	struct experiment_column *c = r->c;
	if (not_with(r, keys, "with references: the values are those of the other column") ||
	    find_referred(r) || !c->of)
		return -1;
	int length = 0;
	for (const struct experiment_column *at = c; at->of;
	     at = &at->of->columns.items[at->of_column])
		if (++length > REFERENCES_MOST)
			return fail(r,
				    "it refers to a column that refers to a column, and so on: "
				    "at most %d times",
				    REFERENCES_MOST);
	enum column_kind kind = c->of->columns.items[c->of_column].kind;
	if (given(r, "type") && c->kind != kind)
		return fail(r, "'type' is not that of the column it refers to: leave it out");
	c->kind = kind;
	if (raw->within && (c->of == r->t || !fraction_parse(raw->within, &c->within) ||
			    !(c->within > 0) || c->within > 1))
		return fail(r, "'within' must be a share such as 50%%, of another table's rows");
	if (!raw->add_count)
		return 0;
	c->add_from = raw->add[0];
	c->add_to = raw->add[1];
	if (c->kind == KIND_TEXT)
		return fail(r, "'add' means nothing for a text");
	if (c->add_to < c->add_from || c->add_from < -1000000000 || c->add_to > 1000000000)
		return fail(r, "'add' must be two numbers [least, most] within 1000000000");
	return check_fits(r);
}

/* ---- a column ---- */

static int read_own(const struct reader *r)
{
	static const char *const of_texts[] = { "length", "words", NULL };
	static const char *const of_references[] = { "add", "within", NULL };
	static const char *const of_numbers[] = { "from", "to", NULL };
	const struct raw_column *raw = r->raw;
	struct experiment_column *c = r->c;
	if (!given(r, "type"))
		return fail(r, "the key 'type' is missing");
	if (not_with(r, of_references, "without references"))
		return -1;
	if (c->kind == KIND_TEXT ? not_with(r, of_numbers, "for a text")
				 : not_with(r, of_texts, "for anything but a text"))
		return -1;
	c->length = raw->length;
	if (c->length > TEXT_MOST || (given(r, "length") && !c->length))
		return fail(r, "'length' must be from 1 to %d", TEXT_MOST);
	c->distinct = raw->distinct;
	if (given(r, "distinct") && (!c->distinct || c->distinct > ROWS_MOST))
		return fail(r, "'distinct' must be from 1 to %" PRIu64, ROWS_MOST);
	if (raw->words_count)
		c->words = xcalloc(raw->words_count + 1, sizeof *c->words);
	for (unsigned i = 0; i < raw->words_count; i++) {
		c->words[i] = xstrdup(raw->words[i]);
		if (!*raw->words[i] || (c->length && strlen(raw->words[i]) > c->length))
			return fail(r, "words[%u] is empty or longer than 'length'", i);
	}
	return read_range(r) ? -1 : check_fits(r);
}

static int read_column(const struct reader *r)
{
	const struct raw_column *raw = r->raw;
	struct experiment_column *c = r->c;
	c->kind = (enum column_kind)raw->type;
	c->serial = raw->serial;
	c->primary = raw->primary;
	c->index = raw->index;
	c->repeat = raw->repeat;
	if (!name_is_plain(raw->name))
		return fail(r, NAME_RULE, raw->name);
	for (size_t i = 0; i < r->t->columns.count; i++)
		if (strcasecmp(r->t->columns.items[i].name, raw->name) == 0)
			return fail(r, "two columns are called '%s'", raw->name);
	if (given(r, "repeat") && (!c->repeat || c->repeat > ROWS_MOST))
		return fail(r, "'repeat' must be from 1 to %" PRIu64, ROWS_MOST);
	if (raw->references ? read_reference(r) : read_own(r))
		return -1;
	const char *text = r->raw->nulls;
	if (text && (!fraction_parse(text, &r->c->nulls) || !(r->c->nulls < 1)))
		return fail(r, "nulls: '%s' is not a share such as 5%%", DISPLAYED(text, 64));
	if (r->c->primary && column_may_be_null(r->c))
		return fail(r, "it is in the primary key, but may be NULL");
	return 0;
}

/* ---- a table's columns together ---- */

/* Columns that refer to the same table take the same row of it: which one, any of them may say for
 * all. */
static int share_rows(const struct tree_node *tree, const char *path, struct experiment_table *t,
		      struct error *err)
{
	for (size_t i = 0; i < t->columns.count; i++) {
		struct experiment_column *a = &t->columns.items[i];
		for (size_t k = 0; a->of && a->of != t && k < t->columns.count; k++) {
			const struct experiment_column *b = &t->columns.items[k];
			char column[96];
			if (b->of != a->of)
				continue;
			snprintf(column, sizeof column, "%s.columns[%zu]", path, k);
			if ((a->within > 0 && b->within > 0 && a->within != b->within) ||
			    (a->repeat && b->repeat && a->repeat != b->repeat))
				return tree_error(tree, column, err,
						  "'%s' and '%s' refer to one row of '%s': "
						  "'within' and 'repeat' cannot differ",
						  a->name, b->name, a->of->name);
			a->serial |= b->serial;
			a->repeat = b->repeat ? b->repeat : a->repeat;
			a->within = b->within > 0 ? b->within : a->within;
		}
	}
	return 0;
}

/* It has at most so many values. */
static uint64_t values_most(const struct experiment_table *t, const struct experiment_column *c)
{
	const struct experiment_column *origin = c;
	uint64_t count = column_domain(t, c).count, texts = 1;
	while (origin->of)
		origin = &origin->of->columns.items[origin->of_column];
	if (!origin->length || origin->words) /* 26^16 is more than any table's rows */
		return count;
	for (uint32_t i = 0; i < origin->length && texts < count; i++)
		texts *= 26;
	return texts < count ? texts : count;
}

static bool is_unique(const struct experiment_table *t, const struct experiment_column *c)
{
	if (c->of && (c->within > 0 || c->add_from != c->add_to ||
		      !is_unique(c->of, &c->of->columns.items[c->of_column])))
		return false;
	if (c->of == t)
		return true;
	return c->serial && c->repeat <= 1 && !c->words && values_most(t, c) >= t->rows;
}

/* Of a key of several columns, only what cannot be is refused: more rows than combinations. */
static int check_primary(const struct tree_node *tree, const char *path,
			 const struct experiment_table *t, struct error *err)
{
	size_t count = 0, which = 0;
	uint64_t combinations = 1;
	char column[96];
	for (size_t i = 0; i < t->columns.count; i++)
		if (t->columns.items[i].primary) {
			count++;
			which = i;
			if (__builtin_mul_overflow(combinations,
						   values_most(t, &t->columns.items[i]),
						   &combinations))
				combinations = UINT64_MAX;
		}
	const struct experiment_column *last = &t->columns.items[which];
	snprintf(column, sizeof column, "%s.columns[%zu]", path, which);
	if (count == 1 && !is_unique(t, last))
		return tree_error(
			tree, column, err,
			"'%s' is the primary key, but several rows would have one value%s",
			last->name, last->serial ? "" : ": it needs 'serial: true'");
	if (count > 1 && combinations < t->rows)
		return tree_error(tree, column, err,
				  "the columns of the primary key have %" PRIu64
				  " combinations, but the table has %" PRIu64 " rows",
				  combinations, t->rows);
	return 0;
}

int columns_read(const struct raw_table *raw, const struct tree_node *tree, const char *path,
		 const struct experiment *e, struct experiment_table *t, struct error *err)
{
	char inner[96];
	array_reserve(&t->columns, raw->columns_count);
	for (unsigned i = 0; i < raw->columns_count; i++) {
		struct experiment_column *c = &t->columns.items[i];
		snprintf(inner, sizeof inner, "%s.columns[%u]", path, i);
		*c = (struct experiment_column){ .name = xstrdup(raw->columns[i].name) };
		int failed = read_column(
			&(struct reader){ &raw->columns[i], tree, inner, e, t, c, err });
		t->columns.count++;
		if (failed)
			return -1;
	}
	if (share_rows(tree, path, t, err) || check_primary(tree, path, t, err))
		return -1;
	for (unsigned i = 0; i < raw->indexes_count; i++) {
		snprintf(inner, sizeof inner, "%s.indexes[%u]", path, i);
		/* "a,b" becomes "a, b" if these are columns */
		struct strbuf columns = { 0 };
		const char *at = raw->indexes[i];
		int failed = 0;
		do {
			char name[NAME_MOST + 2];
			at += strspn(at, " ,");
			size_t n = strcspn(at, " ,");
			snprintf(name, sizeof name, "%.*s", (int)(n > NAME_MOST ? NAME_MOST : n),
				 at);
			if (n > NAME_MOST || find_column(t, name) == t->columns.count)
				failed = tree_error(tree, inner, err, "there is no column '%s'",
						    DISPLAYED(name, 64));
			strbuf_printf(&columns, "%s%s", columns.length ? ", " : "", name);
			at += n;
			at += strspn(at, " ");
		} while (*at && !failed);
		array_push(&t->indexes, strbuf_detach(&columns));
		if (failed)
			return -1;
	}
	return 0;
}
