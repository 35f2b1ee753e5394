/* Row n is a pure function of seed and n: each column has a key of its own (by its name, so that a
 * column more changes no other), and its value is the n-th number drawn with it. */
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "subject/experiment.h"
#include "subject/experiment_domain.h"
#include "subject/experiment_random.h"

/* How the value of a column comes from a row's number. */
struct source {
	const struct experiment_column *column;
	struct column_domain domain;
	uint64_t key;	     /* of the value */
	uint64_t null_below; /* of numbers drawn; 0: never NULL */
	uint64_t repeat;
	struct source *of; /* NULL: by itself */
	uint64_t row_key;  /* by which the row there is drawn */
	uint64_t of_rows;  /* 0: the same row */
	int64_t add_step;
	uint64_t add_count; /* 0: nothing to add */
};

struct table_rows {
	uint64_t next, rows;
	size_t columns;
	struct source **sources;
	char **texts;
};

/* Different things about one column want different keys. */
enum purpose { FOR_VALUE, FOR_NULL, FOR_ADD, FOR_TEXT };
static uint64_t key_for(uint64_t key, enum purpose purpose)
{
	return draw(key, (uint64_t)purpose);
}

static struct source *source_open(const struct experiment_table *t, size_t column)
{
	const struct experiment_column *c = &t->columns.items[column];
	struct source *s = xcalloc(1, sizeof *s);
	s->column = c;
	s->domain = column_domain(t, c);
	s->key = draw_key(t->seed, c->name);
	s->repeat = c->repeat ? c->repeat : 1;
	if (c->nulls > 0)
		s->null_below = (uint64_t)(c->nulls * 0x1p63) * 2;
	if (!c->of)
		return s;
	s->of = source_open(c->of, c->of_column);
	if (c->of != t) { /* all that refer to that table take the same row */
		s->of_rows = c->of->rows;
		if (c->within > 0)
			s->of_rows = (uint64_t)((double)s->of_rows * c->within);
		if (!s->of_rows)
			s->of_rows = 1;
		s->row_key = draw_key(t->seed, c->of->name);
	}
	if (c->add_from || c->add_to) {
		s->add_step = column_units(c->kind);
		s->add_count = (uint64_t)(c->add_to - c->add_from) + 1;
	}
	return s;
}

static void source_close(struct source *s)
{
	if (s)
		source_close(s->of);
	free(s);
}

/* Whose text it is, once references are followed; NULL: SQL NULL. */
static const struct source *value_at(const struct source *s, uint64_t n, int64_t *value)
{
	if (s->null_below && draw(key_for(s->key, FOR_NULL), n) < s->null_below)
		return NULL;
	if (s->of) {
		uint64_t row = n;
		if (s->of_rows && s->column->serial)
			row = n / s->repeat % s->of_rows;
		else if (s->of_rows)
			row = draw_below(draw(s->row_key, n / s->repeat), s->of_rows);
		const struct source *origin = value_at(s->of, row, value);
		if (origin && s->add_count) {
			uint64_t more = draw_below(draw(key_for(s->key, FOR_ADD), n), s->add_count);
			*value += (s->column->add_from + (int64_t)more) * s->add_step;
		}
		return origin;
	}
	uint64_t i = n / s->repeat;
	if (!s->column->serial)
		i = draw_below(draw(s->key, i), s->domain.count);
	else if (s->domain.again)
		i %= s->domain.count;
	*value = s->domain.base + (int64_t)i * s->domain.step;
	return s;
}

/* ---- texts ---- */

#define TEXT_LENGTH 16 /* of those whose length is not said */

static uint32_t text_length(const struct experiment_column *c)
{
	if (c->length || !c->words)
		return c->length ? c->length : TEXT_LENGTH;
	size_t longest = 1;
	for (char **w = c->words; *w; w++)
		longest = strlen(*w) > longest ? strlen(*w) : longest;
	return (uint32_t)longest;
}

/* Letters: the value's number at the end, so that different values differ, others before it. */
static void write_letters(const struct source *s, uint64_t value, uint32_t length, char *out)
{
	uint64_t key = draw(key_for(s->key, FOR_TEXT), value), bits = 0;
	uint64_t most = s->domain.count - 1, left = value;
	uint32_t end = length;
	out[length] = '\0';
	do {
		out[--end] = (char)('a' + left % 26);
		left /= 26;
		most /= 26;
	} while (end && (most || left));
	for (uint32_t i = 0; i < end; i++) {
		if (i % 12 == 0)
			bits = draw(key, i);
		out[i] = (char)('a' + bits % 26);
		bits /= 26;
	}
}

/* As many words as there is room for. */
static void write_words(const struct source *s, uint64_t value, uint32_t length, char *out)
{
	char **words = s->column->words;
	uint64_t key = draw(key_for(s->key, FOR_TEXT), value), count = 0, used = 0;
	while (words[count])
		count++;
	*out = '\0';
	for (uint64_t i = 0; count; i++) {
		const char *word = words[draw_below(draw(key, i), count)];
		size_t n = strlen(word);
		if (!n || used + (i > 0) + n > length)
			return;
		if (i)
			out[used++] = ' ';
		memcpy(out + used, word, n + 1);
		used += n;
	}
}

static const char *text_of(const struct source *s, int64_t value, char *out)
{
	const struct experiment_column *c = s->column;
	if (c->kind != KIND_TEXT) {
		column_write(c->kind, value, out);
		return out;
	}
	if (c->words && !c->length)
		return c->words[value];
	if (c->words)
		write_words(s, (uint64_t)value, c->length, out);
	else
		write_letters(s, (uint64_t)value, text_length(c), out);
	return out;
}

/* Of a text, as long as the longest; references are followed. */
static uint32_t declared_length(const struct experiment_column *c)
{
	while (c->of)
		c = &c->of->columns.items[c->of_column];
	return c->kind == KIND_TEXT ? text_length(c) : 0;
}

/* ---- rows ---- */

struct table_rows *table_rows_open(const struct experiment_table *t, uint64_t rows)
{
	struct table_rows *r = xcalloc(1, sizeof *r);
	r->rows = rows;
	r->columns = t->columns.count;
	r->sources = xcalloc(r->columns, sizeof(struct source *));
	r->texts = xcalloc(r->columns, sizeof *r->texts);
	for (size_t i = 0; i < r->columns; i++) {
		r->sources[i] = source_open(t, i);
		size_t room = declared_length(&t->columns.items[i]) + 1;
		r->texts[i] = xmalloc(room > COLUMN_VALUE_MOST ? room : COLUMN_VALUE_MOST);
	}
	return r;
}

bool table_rows_next(void *rows, const char **values)
{
	struct table_rows *r = rows;
	if (r->next == r->rows)
		return false;
	for (size_t i = 0; i < r->columns; i++) {
		int64_t value = 0;
		const struct source *s = value_at(r->sources[i], r->next, &value);
		values[i] = s ? text_of(s, value, r->texts[i]) : NULL;
	}
	r->next++;
	return true;
}

void table_rows_close(struct table_rows *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->columns; i++) {
		source_close(r->sources[i]);
		free(r->texts[i]);
	}
	free(r->sources);
	free(r->texts);
	free(r);
}

/* ---- SQL ---- */

char *table_create_sql(const struct experiment_table *t, const char *name, const struct dbms *d)
{
	struct strbuf sql = { 0 }, key = { 0 };
	strbuf_printf(&sql, "CREATE TABLE %s (", name ? name : t->name);
	for (size_t i = 0; i < t->columns.count; i++) {
		const struct experiment_column *c = &t->columns.items[i];
		char type[64];
		strbuf_printf(&sql, "%s%s %s%s", i ? ", " : "", c->name,
			      dbms_type(d, c->kind, declared_length(c), type),
			      column_may_be_null(c) ? "" : " NOT NULL");
		if (c->primary)
			strbuf_printf(&key, "%s%s", key.length ? ", " : "", c->name);
	}
	if (key.length)
		strbuf_printf(&sql, ", PRIMARY KEY (%s)", key.text);
	strbuf_putc(&sql, ')');
	strbuf_release(&key);
	return strbuf_detach(&sql);
}

char *table_index_sql(const struct experiment_table *t, size_t i, const char *name)
{
	const char *columns = NULL;
	size_t seen = 0;
	if (!name)
		name = t->name;
	for (size_t c = 0; c < t->columns.count && !columns; c++)
		if (t->columns.items[c].index && seen++ == i)
			columns = t->columns.items[c].name;
	if (!columns && i - seen < t->indexes.count)
		columns = t->indexes.items[i - seen];
	if (!columns)
		return NULL;
	return xprintf("CREATE INDEX %s_ix%zu ON %s (%s)", name, i + 1, name, columns);
}
