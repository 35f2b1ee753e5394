#include "measure/query_tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/strbuf.h"

/* ---- whose they are ---- */

void table_book_add(struct table_book *b, const char *name)
{
	array_push(&b->ours, xstrdup(name));
}

void table_book_release(struct table_book *b)
{
	for (size_t i = 0; i < b->ours.count; i++)
		free(b->ours.items[i]);
	array_release(&b->ours);
}

static bool is_ours(const struct table_book *b, const char *name)
{
	for (size_t i = 0; i < b->ours.count; i++)
		if (strcmp(b->ours.items[i], name) == 0)
			return true;
	return false;
}

/* ---- what there is ---- */

static const struct experiment_table *varying(const struct experiment *e)
{
	for (size_t i = 0; i < e->tables.count; i++)
		if (e->tables.items[i].varies)
			return &e->tables.items[i];
	return NULL;
}

/* A table as the database has it. */
struct place {
	const struct experiment_table *table;
	char *name;
	bool partly; /* it varies: any number of rows is right */
	bool exists;
	uint64_t rows;
};
typedef ARRAY(struct place) place_list;

/* The one that varies is filled from another, NAME_all, which has all rows, if rows are numbered;
 * else from its generator. */
static void list_places(const struct experiment *e, place_list *list)
{
	for (size_t i = 0; i < e->tables.count; i++) {
		const struct experiment_table *t = &e->tables.items[i];
		array_push(list, (struct place){ .table = t,
						 .name = xstrdup(t->name),
						 .partly = t->varies });
		if (!t->varies || !table_numbered(t))
			continue;
		struct strbuf name = { 0 };
		strbuf_printf(&name, "%s_all", t->name);
		array_push(list, (struct place){ .table = t, .name = strbuf_detach(&name) });
	}
}

static void release_places(place_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].name);
	array_release(list);
}

static int look_at(struct dbms *d, struct place *p, struct error *err)
{
	struct strbuf sql = { 0 };
	int64_t rows = 0;
	int failed = dbms_table_exists(d, p->name, &p->exists, err);
	if (!failed && p->exists) {
		strbuf_printf(&sql, "SELECT count(*) FROM %s", p->name);
		failed = dbms_number(d, strbuf_text(&sql), &rows, err);
		strbuf_release(&sql);
	}
	p->rows = (uint64_t)rows;
	return failed;
}

static bool is_whole(const struct place *p)
{
	return p->exists && !p->partly && p->rows == p->table->rows;
}

static int drop(struct dbms *d, const char *name, struct error *err)
{
	SCOPED(strbuf_release) struct strbuf sql = { 0 };
	strbuf_printf(&sql, "DROP TABLE %s", name);
	return dbms_run(d, strbuf_text(&sql), err);
}

/* ---- made ---- */

/* Somebody else's table is in the way. */
static int refuse(const struct place *p, const struct table_book *b, struct error *err)
{
	if (b->others == TABLES_NEW) {
		error_set(err, EXIT_USAGE, "table %s is there already", p->name);
		return error_hint(err,
				  "--reuse takes tables with all their rows as they are, --force "
				  "drops them first");
	}
	if (p->partly)
		error_set(err, EXIT_USAGE,
			  "table %s is there already, and would be filled anew at each cardinality",
			  p->name);
	else
		error_set(err, EXIT_USAGE,
			  "table %s has %" PRIu64 " rows, the experiment's has %" PRIu64, p->name,
			  p->rows, p->table->rows);
	return error_hint(err, "--force drops it and makes it anew");
}

/* With --reuse, one that varies is tare's of an earlier run if what it is filled from is there. */
static bool may_reuse(const place_list *list, const struct place *p)
{
	if (!p->partly)
		return is_whole(p);
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].table == p->table && is_whole(&list->items[i]))
			return true;
	return false;
}

static int make_indexes(struct dbms *d, const struct experiment_table *t, struct error *err)
{
	char *sql;
	int failed = 0;
	for (size_t i = 0; !failed && (sql = table_index_sql(t, i, NULL)); i++) {
		failed = dbms_run(d, sql, err);
		free(sql);
	}
	return failed;
}

static int create(struct dbms *d, const struct experiment_table *t, const char *name,
		  struct error *err)
{
	FREED char *sql = table_create_sql(t, name, d);
	return dbms_run(d, sql, err);
}

/* Rows come last, all or none: a table with all of them is whole, wherever a tare was killed. */
static int create_place(struct dbms *d, const struct place *p, struct table_book *b,
			struct error *err)
{
	bool ours = is_ours(b, p->name), forced = !ours && b->others == TABLES_FORCE;
	bool keep = p->exists && !forced && (is_whole(p) || p->partly);
	if (keep)
		return 0;
	if (p->exists && drop(d, p->name, err))
		return -1;
	if (!is_ours(b, p->name)) {
		if (b->note(b->context, p->name, err))
			return -1;
		table_book_add(b, p->name);
	}
	if (create(d, p->table, p->name, err))
		return -1;
	/* NAME_all is only copied from */
	return p->table->varies ? 0 : make_indexes(d, p->table, err);
}

int query_tables_create(struct dbms *d, const struct experiment *e, struct table_book *b,
			struct error *err)
{
	SCOPED(release_places) place_list list = { 0 };
	list_places(e, &list);
	int failed = 0;
	for (size_t i = 0; !failed && i < list.count; i++)
		failed = look_at(d, &list.items[i], err);
	for (size_t i = 0; !failed && i < list.count; i++) {
		const struct place *p = &list.items[i];
		bool taken = p->exists && !is_ours(b, p->name) && b->others != TABLES_FORCE;
		if (taken && (b->others == TABLES_NEW || !may_reuse(&list, p)))
			failed = refuse(p, b, err);
	}
	for (size_t i = 0; !failed && i < list.count; i++)
		failed = create_place(d, &list.items[i], b, err);
	return failed;
}

void query_tables_undo(struct dbms *d, struct table_book *b)
{
	for (; b->ours.count > b->before; b->ours.count--) {
		struct error ignored = ERROR_INIT;
		FREED char *name = b->ours.items[b->ours.count - 1];
		drop(d, name, &ignored);
	}
}

/* ---- filled ---- */

struct interruptible {
	struct table_rows *rows;
	bool cut;
};

static bool next_row(void *context, const char **values)
{
	struct interruptible *i = context;
	i->cut = i->cut || interrupted();
	return !i->cut && table_rows_next(i->rows, values);
}

static int load(struct dbms *d, const struct experiment_table *t, const char *name, uint64_t rows,
		struct error *err)
{
	struct interruptible source = { table_rows_open(t, rows), false };
	int failed = dbms_load(d, name, t->columns.count, next_row, &source, err);
	table_rows_close(source.rows);
	if (source.cut)
		return error_set(err, EXIT_INTERRUPTED, "interrupted");
	return failed;
}

int query_tables_load(struct dbms *d, const struct experiment *e, struct error *err)
{
	place_list list = { 0 };
	int failed = 0;
	list_places(e, &list);
	for (size_t i = 0; !failed && i < list.count; i++) {
		struct place *p = &list.items[i];
		const char *name = p->name;
		if (p->partly)
			continue;
		failed = look_at(d, p, err) ||
			 (!is_whole(p) && load(d, p->table, name, p->table->rows, err)) ||
			 dbms_settle(d, &name, 1, err);
	}
	release_places(&list);
	return failed;
}

static bool is_cut(void *context)
{
	(void)context;
	return interrupted();
}

static int copy_rows(struct dbms *d, const struct experiment_table *t, const char *number,
		     uint64_t cardinality, struct error *err)
{
	const struct dbms_wait wait = { .stop = is_cut };
	SCOPED(strbuf_release) struct strbuf sql = { 0 };
	strbuf_printf(&sql,
		      "INSERT INTO %s SELECT * FROM %s_all WHERE %s <= %" PRIu64 " ORDER BY %s",
		      t->name, t->name, number, cardinality, number);
	return dbms_run_long(d, strbuf_text(&sql), &wait, err);
}

int query_tables_fill(struct dbms *d, const struct experiment *e, uint64_t cardinality,
		      struct error *err)
{
	const struct experiment_table *t = varying(e);
	bool exists = false;
	if (!t)
		return 0;
	const char *name = t->name, *number = table_numbered(t);
	if (dbms_table_exists(d, name, &exists, err) || (exists && drop(d, name, err)) ||
	    create(d, t, name, err) ||
	    (number ? copy_rows(d, t, number, cardinality, err)
		    : load(d, t, name, cardinality, err)) ||
	    make_indexes(d, t, err))
		return -1;
	return dbms_settle(d, &name, 1, err);
}
