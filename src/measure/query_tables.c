#include "measure/query_tables.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/strbuf.h"

/* The name of the table with all rows that the one that varies is filled from. */
static char *source_name(const struct experiment_table *t)
{
	struct strbuf name = { 0 };
	strbuf_printf(&name, "%s_all", t->name);
	return strbuf_detach(&name);
}

static const char *serial_column(const struct experiment_table *t)
{
	for (size_t i = 0; i < t->columns.count; i++)
		if (t->columns.items[i].serial)
			return t->columns.items[i].name;
	return NULL;
}

static const struct experiment_table *varying(const struct experiment *e)
{
	for (size_t i = 0; i < e->tables.count; i++)
		if (e->tables.items[i].varies)
			return &e->tables.items[i];
	return NULL;
}

static int run_text(struct dbms *d, struct strbuf *sql, struct error *err)
{
	int failed = dbms_run(d, strbuf_text(sql), err);
	strbuf_release(sql);
	return failed;
}

static int drop(struct dbms *d, const char *name, struct error *err)
{
	struct strbuf sql = { 0 };
	strbuf_printf(&sql, "DROP TABLE %s", name);
	return run_text(d, &sql, err);
}

static int count_rows(struct dbms *d, const char *name, int64_t *rows, struct error *err)
{
	struct strbuf sql = { 0 };
	strbuf_printf(&sql, "SELECT count(*) FROM %s", name);
	int failed = dbms_number(d, strbuf_text(&sql), rows, err);
	strbuf_release(&sql);
	return failed;
}

static int create(struct dbms *d, const struct experiment_table *t, const char *name,
		  struct error *err)
{
	char *sql = table_create_sql(t, name, d);
	int failed = dbms_run(d, sql, err);
	free(sql);
	return failed;
}

static int load(struct dbms *d, const struct experiment_table *t, const char *name, uint64_t rows,
		struct error *err)
{
	struct table_rows *source = table_rows_open(t, rows);
	int failed = dbms_load(d, name, t->columns.count, table_rows_next, source, err);
	table_rows_close(source);
	return failed;
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

/* Makes the table with all its rows under this name, unless it is there and that will do. */
static int make(struct dbms *d, const struct experiment_table *t, const char *name, bool indexed,
		enum query_tables how, struct error *err)
{
	bool exists = false;
	if (dbms_table_exists(d, name, &exists, err))
		return -1;
	if (exists && how == TABLES_NEW) {
		error_set(err, EXIT_USAGE, "table %s is there already", name);
		return error_hint(err, "--reuse takes it as it is, --force drops it first");
	}
	if (exists && how != TABLES_FORCE) {
		int64_t rows = 0;
		if (count_rows(d, name, &rows, err))
			return -1;
		if ((uint64_t)rows == t->rows)
			return dbms_settle(d, &name, 1, err);
		if (how == TABLES_REUSE) {
			error_set(err, EXIT_USAGE,
				  "table %s has %" PRId64 " rows, the experiment's has %" PRIu64,
				  name, rows, t->rows);
			return error_hint(err, "--force drops it and makes it anew");
		}
	}
	/* rows come last, all or none: a table with all of them is whole, wherever a tare was
	 * killed */
	if ((exists && drop(d, name, err)) || create(d, t, name, err) ||
	    (indexed && make_indexes(d, t, err)) || load(d, t, name, t->rows, err))
		return -1;
	return dbms_settle(d, &name, 1, err);
}

/* Nothing is dropped before all names were looked at. */
static int refuse_existing(struct dbms *d, const struct experiment *e, struct error *err)
{
	for (size_t i = 0; i < e->tables.count; i++) {
		bool exists = false;
		if (dbms_table_exists(d, e->tables.items[i].name, &exists, err))
			return -1;
		if (exists) {
			error_set(err, EXIT_USAGE, "table %s is there already",
				  e->tables.items[i].name);
			return error_hint(err, "--reuse takes it as it is, --force drops it first");
		}
	}
	return 0;
}

int query_tables_make(struct dbms *d, const struct experiment *e, enum query_tables how,
		      struct error *err)
{
	if (how == TABLES_NEW && refuse_existing(d, e, err))
		return -1;
	for (size_t i = 0; i < e->tables.count; i++) {
		const struct experiment_table *t = &e->tables.items[i];
		if (t->varies && !serial_column(t))
			continue; /* filled from its generator each time */
		char *name = t->varies ? source_name(t) : xstrdup(t->name);
		int failed = make(d, t, name, !t->varies, how, err);
		free(name);
		if (failed)
			return -1;
	}
	return 0;
}

static int fill(struct dbms *d, const struct experiment_table *t, uint64_t cardinality,
		struct error *err)
{
	const char *serial = serial_column(t);
	if (!serial)
		return load(d, t, t->name, cardinality, err);
	char *source = source_name(t);
	struct strbuf sql = { 0 };
	strbuf_printf(&sql, "INSERT INTO %s SELECT * FROM %s WHERE %s <= %" PRIu64 " ORDER BY %s",
		      t->name, source, serial, cardinality, serial);
	free(source);
	return run_text(d, &sql, err);
}

int query_tables_fill(struct dbms *d, const struct experiment *e, uint64_t cardinality,
		      struct error *err)
{
	const struct experiment_table *t = varying(e);
	bool exists = false;
	if (!t)
		return 0;
	const char *name = t->name;
	if (dbms_table_exists(d, name, &exists, err) || (exists && drop(d, name, err)) ||
	    create(d, t, name, err) || fill(d, t, cardinality, err) || make_indexes(d, t, err))
		return -1;
	return dbms_settle(d, &name, 1, err);
}
