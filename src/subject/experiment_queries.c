#include "subject/experiment_queries.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "subject/experiment_domain.h"
#include "subject/experiment_random.h"

#define TRIES 50	   /* to find one that there is not yet */
#define GROUPS_MOST 1000   /* distinct values of what is grouped by */
#define EQUAL_MOST 10000   /* distinct values of what is compared with one value */
#define SUM_MOST (1 << 30) /* larger values are not summed: SQLite's sum is of 64 bits */

struct maker {
	const struct experiment *e;
	const struct query_recipe *recipe;
	uint64_t key, drawn;
	const struct experiment_table *tables[JOINS_MOST + 1]; /* by correlation name */
	size_t count;
	bool multiplied; /* there is a join that does */
	struct strbuf where;
};

/* A column of a correlation name. */
struct place {
	size_t name, column;
};
typedef ARRAY(struct place) place_list;

static uint64_t below(struct maker *m, uint64_t n)
{
	return draw_below(draw(m->key, m->drawn++), n);
}

static bool chance(struct maker *m, double share)
{
	return (double)below(m, 1u << 20) < share * (1u << 20);
}

static const struct experiment_column *column_of(const struct maker *m, struct place p)
{
	return &m->tables[p.name]->columns.items[p.column];
}

static struct column_domain domain_of(const struct maker *m, struct place p)
{
	return column_domain(m->tables[p.name], column_of(m, p));
}

static bool is_whole(const struct experiment_column *c)
{
	return c->kind == KIND_INTEGER || c->kind == KIND_BIGINT;
}

/* No two rows have the same value. */
static bool is_key(const struct experiment_column *c)
{
	return c->serial && !c->distinct && c->repeat <= 1 && !c->of;
}

static void and (struct maker * m)
{
	if (m->where.length)
		strbuf_puts(&m->where, " AND ");
}

/* ---- joins ---- */

struct join {
	struct place there;
	const struct experiment_table *table;
	size_t column;
};
typedef ARRAY(struct join) join_list;

static void find_joins(const struct maker *m, const struct experiment_table *t, join_list *into)
{
	for (size_t n = 0; n < m->count; n++)
		for (size_t i = 0; i < m->tables[n]->columns.count; i++)
			for (size_t k = 0; k < t->columns.count; k++) {
				const struct experiment_column *a = &m->tables[n]->columns.items[i];
				const struct experiment_column *b = &t->columns.items[k];
				if (is_whole(a) && is_whole(b) &&
				    (is_key(b) || (is_key(a) && !m->multiplied)))
					array_push(into, (struct join){ { n, i }, t, k });
			}
}

static bool add_join(struct maker *m)
{
	FREED join_list joins = { 0 };
	for (size_t i = 0; i < m->e->tables.count; i++)
		find_joins(m, &m->e->tables.items[i], &joins);
	if (!joins.count)
		return false;
	struct join j = joins.items[below(m, joins.count)];
	const struct experiment_column *b = &j.table->columns.items[j.column];
	and(m);
	strbuf_printf(&m->where, "t%zu.%s = t%zu.%s", j.there.name, column_of(m, j.there)->name,
		      m->count, b->name);
	m->multiplied |= !is_key(b);
	m->tables[m->count++] = j.table;
	return true;
}

/* ---- selections ---- */

static void find_places(const struct maker *m, bool (*wanted)(const struct maker *, struct place),
			place_list *into)
{
	for (size_t n = 0; n < m->count; n++)
		for (size_t i = 0; i < m->tables[n]->columns.count; i++)
			if (wanted(m, (struct place){ n, i }))
				array_push(into, (struct place){ n, i });
}

static bool can_range(const struct maker *m, struct place p)
{
	return column_of(m, p)->kind != KIND_TEXT && domain_of(m, p).count >= 2;
}

/* Texts that are made up are nothing to compare with. */
static bool can_equal(const struct maker *m, struct place p)
{
	const struct experiment_column *c = column_of(m, p);
	uint64_t count = domain_of(m, p).count;
	if (c->kind == KIND_TEXT && (c->of || !c->words || c->length))
		return false;
	return c->kind != KIND_REAL && count >= 2 && count <= EQUAL_MOST;
}

static void put_value(struct maker *m, struct place p, uint64_t i)
{
	const struct experiment_column *c = column_of(m, p);
	struct column_domain d = domain_of(m, p);
	if (c->kind == KIND_TEXT) {
		strbuf_putc(&m->where, '\'');
		for (const char *s = c->words[i]; *s; s++) {
			if (*s == '\'')
				strbuf_putc(&m->where, '\'');
			strbuf_putc(&m->where, *s);
		}
		strbuf_putc(&m->where, '\'');
		return;
	}
	char text[COLUMN_VALUE_MOST];
	column_write(c->kind, d.base + (int64_t)i * d.step, text);
	strbuf_printf(&m->where, c->kind == KIND_DATE ? "'%s'" : "%s", text);
}

static void put_name(struct maker *m, struct place p)
{
	and(m);
	strbuf_printf(&m->where, "t%zu.%s", p.name, column_of(m, p)->name);
}

static void put_range(struct maker *m, struct place p, double share)
{
	uint64_t count = domain_of(m, p).count;
	uint64_t width = (uint64_t)((double)count * share);
	width = width < 1 ? 1 : width > count ? count : width;
	uint64_t kind = below(m, 3), from = below(m, count - width + 1);
	put_name(m, p);
	if (kind == 0) {
		strbuf_puts(&m->where, " < ");
		put_value(m, p, width);
	} else if (kind == 1) {
		strbuf_puts(&m->where, " >= ");
		put_value(m, p, count - width);
	} else {
		strbuf_puts(&m->where, " BETWEEN ");
		put_value(m, p, from);
		strbuf_puts(&m->where, " AND ");
		put_value(m, p, from + width - 1);
	}
}

static void add_selection(struct maker *m)
{
	static const double shares[] = { 0.005, 0.02, 0.05, 0.1, 0.2, 0.5 };
	FREED place_list ranges = { 0 }, equals = { 0 };
	find_places(m, can_range, &ranges);
	find_places(m, can_equal, &equals);
	bool equal = equals.count && (!ranges.count || chance(m, 0.3));
	if (equal) {
		struct place p = equals.items[below(m, equals.count)];
		uint64_t i = below(m, domain_of(m, p).count);
		put_name(m, p);
		strbuf_puts(&m->where, " = ");
		put_value(m, p, i);
	} else if (ranges.count) {
		struct place p = ranges.items[below(m, ranges.count)];
		double share = shares[below(m, sizeof shares / sizeof *shares)];
		put_range(m, p, share);
	}
}

/* ---- what is selected ---- */

static bool can_group(const struct maker *m, struct place p)
{
	const struct experiment_column *c = column_of(m, p);
	return c->kind != KIND_REAL && domain_of(m, p).count <= GROUPS_MOST;
}

static bool can_sum(const struct maker *m, struct place p)
{
	const struct experiment_column *c = column_of(m, p);
	struct column_domain d = domain_of(m, p);
	return (is_whole(c) || c->kind == KIND_DECIMAL) && d.base >= -SUM_MOST &&
	       d.count < SUM_MOST && d.step < SUM_MOST &&
	       d.base + (int64_t)d.count * d.step <= SUM_MOST;
}

static bool any(const struct maker *m, struct place p)
{
	(void)m;
	(void)p;
	return true;
}

/* "t0.a, t1.b": up to `most` different ones, fewer where there are no more. */
static void put_columns(struct maker *m, place_list *from, size_t most, struct strbuf *sql)
{
	for (size_t i = 0; i < most && from->count; i++) {
		size_t which = below(m, from->count);
		struct place p = from->items[which];
		strbuf_printf(sql, "%st%zu.%s", i ? ", " : "", p.name, column_of(m, p)->name);
		from->items[which] = from->items[--from->count];
	}
}

static char *make_query(struct maker *m)
{
	SCOPED(strbuf_release) struct strbuf sql = { 0 }, group = { 0 };
	uint64_t joins = below(m, m->recipe->joins + 1);
	for (uint64_t i = 0; i < joins && add_join(m); i++)
		;
	uint64_t selections = below(m, m->recipe->selections + 1);
	for (uint64_t i = 0; i < selections; i++)
		add_selection(m);
	strbuf_puts(&sql, "SELECT ");
	FREED place_list places = { 0 };
	if (chance(m, m->recipe->aggregates)) {
		find_places(m, can_group, &places);
		if (chance(m, 0.6))
			/* more than one may have as many groups as rows */
			put_columns(m, &places, 1, &group);
		if (group.length)
			strbuf_printf(&sql, "%s, ", group.text);
		static const char *const functions[] = { "SUM", "MIN", "MAX", "COUNT" };
		places.count = 0;
		find_places(m, can_sum, &places);
		const char *function = places.count ? functions[below(m, 4)] : "COUNT(*)";
		strbuf_puts(&sql, function);
		if (places.count) {
			struct place p = places.items[below(m, places.count)];
			strbuf_printf(&sql, "(t%zu.%s)", p.name, column_of(m, p)->name);
		}
	} else {
		find_places(m, any, &places);
		put_columns(m, &places, 3, &sql);
		/* few rows are to come back */
		places.count = 0;
		find_places(m, can_range, &places);
		if (places.count)
			put_range(m, places.items[below(m, places.count)], 0.005);
	}
	strbuf_puts(&sql, " FROM ");
	for (size_t n = 0; n < m->count; n++)
		strbuf_printf(&sql, "%s%s t%zu", n ? ", " : "", m->tables[n]->name, n);
	if (m->where.length)
		strbuf_printf(&sql, " WHERE %s", m->where.text);
	if (group.length)
		strbuf_printf(&sql, " GROUP BY %s", group.text);
	return strbuf_detach(&sql);
}

/* ---- a set of them ---- */

static const struct experiment_table *first_table(struct maker *m)
{
	for (size_t i = 0; i < m->e->tables.count; i++)
		if (m->e->tables.items[i].varies)
			return &m->e->tables.items[i];
	return &m->e->tables.items[below(m, m->e->tables.count)];
}

static char *new_query(const struct experiment *e, const struct query_recipe *recipe, uint32_t n)
{
	for (uint64_t t = 0; t < TRIES; t++) {
		/* each by a key of its own: more of them change none */
		struct maker m = { .e = e,
				   .recipe = recipe,
				   .key = draw(draw(recipe->seed, n), t) };
		m.tables[m.count++] = first_table(&m);
		char *sql = make_query(&m);
		strbuf_release(&m.where);
		size_t i = 0;
		while (i < e->queries.count && strcmp(e->queries.items[i].sql, sql) != 0)
			i++;
		if (i == e->queries.count)
			return sql;
		free(sql);
	}
	return NULL;
}

int queries_generate(struct experiment *e, const struct query_recipe *recipe, struct error *err)
{
	for (uint32_t n = 0; n < recipe->count; n++) {
		char *sql = new_query(e, recipe, n);
		if (!sql) {
			error_set(err, EXIT_USAGE,
				  "only %u different queries could be generated, not %u", n,
				  recipe->count);
			return error_hint(err, "ask for fewer, or give the tables more columns");
		}
		array_push(&e->queries, (struct experiment_query){ xprintf("g%u", n + 1), sql });
	}
	return 0;
}
