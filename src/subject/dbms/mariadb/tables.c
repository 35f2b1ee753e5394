#include <mysqld_error.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/text.h"
#include "subject/dbms/mariadb/private.h"

enum {
	STATEMENT_BYTES = 1 << 20, /* of an INSERT */
	LONGEST_VARCHAR = 16383,   /* in utf8mb4 */
	FEW_PAGES = 64,		   /* that are none, in view of a table worth measuring */
};

static int ask_about(struct mariadb *m, const char *what, const char *table, int64_t *value,
		     struct error *err)
{
	SCOPED(strbuf_release) struct strbuf sql = { 0 };
	if (mariadb_need_link(m, err))
		return -1;
	strbuf_printf(&sql,
		      "SELECT %s FROM information_schema.TABLES"
		      " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ",
		      what);
	mariadb_put_text(m, &sql, table);
	return mariadb_number(m, sql.text, value, err);
}

int mariadb_table_exists(void *state, const char *table, bool *exists, struct error *err)
{
	int64_t count;
	if (ask_about(state, "COUNT(*)", table, &count, err))
		return -1;
	*exists = count > 0;
	return 0;
}

/* Pages of the clustered index, which holds the rows. The file is longer by what is reserved for
 * growth, several extents. */
int mariadb_table_bytes(void *state, const char *table, uint64_t *bytes, struct error *err)
{
	int64_t length;
	if (ask_about(state, "COALESCE(SUM(DATA_LENGTH), 0)", table, &length, err))
		return -1;
	*bytes = (uint64_t)length;
	return 0;
}

const char *mariadb_type(const void *state, enum column_kind kind, uint32_t length, char out[64])
{
	static const char *const names[] = { "INT",    "BIGINT", "DECIMAL(15,2)",
					     "DOUBLE", "TEXT",	 "DATE" };
	(void)state;
	if (kind == KIND_TEXT && length && length <= LONGEST_VARCHAR)
		snprintf(out, 64, "VARCHAR(%u)", length);
	else
		snprintf(out, 64, "%s", kind == KIND_TEXT && length ? "MEDIUMTEXT" : names[kind]);
	return out;
}

/* ---- filling ---- */

/* INSERTs of many rows: LOAD DATA LOCAL turns errors into warnings and drops such rows. */
struct filling {
	struct mariadb *m;
	const char *table;
	size_t columns;
	const char **values;
	size_t limit;
	struct strbuf sql;
	size_t rows; /* in sql */
};

static int insert(struct filling *f, struct error *err)
{
	if (f->rows == 0)
		return 0;
	f->rows = 0;
	return mariadb_run(f->m, f->sql.text, err);
}

/* A row is never much longer than what is in f->sql already, so half of the limit is left for it.
 */
static int insert_all(struct filling *f, dbms_row_fn next, void *context, struct error *err)
{
	while (next(context, f->values)) {
		if (f->rows++ == 0) {
			strbuf_clear(&f->sql);
			strbuf_puts(&f->sql, "INSERT INTO ");
			mariadb_put_name(&f->sql, f->table);
			strbuf_puts(&f->sql, " VALUES ");
		} else {
			strbuf_putc(&f->sql, ',');
		}
		for (size_t i = 0; i < f->columns; i++) {
			strbuf_putc(&f->sql, i ? ',' : '(');
			if (f->values[i])
				mariadb_put_text(f->m, &f->sql, f->values[i]);
			else
				strbuf_puts(&f->sql, "NULL");
		}
		strbuf_putc(&f->sql, ')');
		if (f->sql.length >= f->limit && insert(f, err))
			return -1;
	}
	return insert(f, err);
}

static int give_back(struct mariadb *m, struct error *err)
{
	struct error ignored;
	if (!m->lost && mariadb_run(m, "ROLLBACK", &ignored) == 0 &&
	    m->lib->mysql_warning_count(m->link))
		error_hint(
			err,
			"rows from before the error stay: the table's engine has no transactions");
	return -1;
}

int mariadb_load(void *state, const char *table, size_t columns, dbms_row_fn next, void *context,
		 struct error *err)
{
	struct mariadb *m = state;
	int64_t packet = 0;
	struct error ignored;
	/* a value that does not fit its column is an error, whatever the session says */
	if (mariadb_number(m, "SELECT @@max_allowed_packet", &packet, err) ||
	    mariadb_run(m,
			"SET @tare_sql_mode = @@SESSION.sql_mode,"
			" SESSION sql_mode = CONCAT(@@SESSION.sql_mode, ',STRICT_ALL_TABLES')",
			err) ||
	    mariadb_run(m, "START TRANSACTION", err))
		return -1;
	struct filling f = { .m = m, .table = table, .columns = columns };
	f.limit = packet / 2 < STATEMENT_BYTES ? (size_t)packet / 2 : STATEMENT_BYTES;
	f.values = xcalloc(columns ? columns : 1, sizeof *f.values);
	int failed = insert_all(&f, next, context, err);
	if (failed)
		give_back(m, err);
	else
		failed = mariadb_run(m, "COMMIT", err);
	free(f.values);
	strbuf_release(&f.sql);
	if (!m->lost &&
	    mariadb_run(m, "SET SESSION sql_mode = @tare_sql_mode", failed ? &ignored : err))
		return -1;
	return failed;
}

/* ---- to disk, and out of memory ---- */

/* In one statement, which the server ends also when tare is gone: nobody's settings are left
 * changed. Pages are written as fast as the device can, for at most a minute. Before that the
 * server has to purge: it reads the undo log of new rows once more and changes their pages. */
static const char write_dirty_pages[] =
	"BEGIN NOT ATOMIC"
	" DECLARE pct DOUBLE DEFAULT @@GLOBAL.innodb_max_dirty_pages_pct;"
	" DECLARE lwm DOUBLE DEFAULT @@GLOBAL.innodb_max_dirty_pages_pct_lwm;"
	" DECLARE usual, most BIGINT UNSIGNED;"
	" DECLARE dirty, unpurged BIGINT DEFAULT 1; DECLARE turns INT DEFAULT 1200;"
	" DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN"
	"  SET GLOBAL innodb_io_capacity = usual; SET GLOBAL innodb_io_capacity_max = most;"
	"  SET GLOBAL innodb_max_dirty_pages_pct = pct; SET GLOBAL innodb_max_dirty_pages_pct_lwm = lwm;"
	"  RESIGNAL; END;"
	" SET usual = @@GLOBAL.innodb_io_capacity, most = @@GLOBAL.innodb_io_capacity_max;"
	" SET GLOBAL innodb_io_capacity_max = 1000000; SET GLOBAL innodb_io_capacity = 1000000;"
	" SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0; SET GLOBAL innodb_max_dirty_pages_pct = 0;"
	" WHILE dirty + unpurged > 0 AND turns > 0 DO"
	"  SELECT VARIABLE_VALUE INTO unpurged FROM information_schema.GLOBAL_STATUS"
	"   WHERE VARIABLE_NAME = 'INNODB_HISTORY_LIST_LENGTH';"
	"  SELECT VARIABLE_VALUE INTO dirty FROM information_schema.GLOBAL_STATUS"
	"   WHERE VARIABLE_NAME = 'INNODB_BUFFER_POOL_PAGES_DIRTY';"
	"  IF dirty + unpurged > 0 THEN DO SLEEP(0.05); SET turns = turns - 1; END IF;"
	" END WHILE;"
	" SET GLOBAL innodb_io_capacity = usual; SET GLOBAL innodb_io_capacity_max = most;"
	" SET GLOBAL innodb_max_dirty_pages_pct = pct; SET GLOBAL innodb_max_dirty_pages_pct_lwm = lwm;"
	" SELECT dirty;"
	" END";

/* Where tare may not, or the server is MySQL's, the pages are left to the server: the log has
 * them on disk. */
static bool may_not(const struct mariadb *m)
{
	return !m->lost && (mariadb_said(m, ER_SPECIFIC_ACCESS_DENIED_ERROR) ||
			    mariadb_said(m, ER_PARSE_ERROR));
}

/* Evaluates one of these blocks while no other does: it would take the changed settings for the
 * usual ones. The block of a tare that was killed may still be going on. */
static int evaluate_alone(struct mariadb *m, const char *block, int64_t *value, bool *refused,
			  struct error *err)
{
	int64_t locked = 0;
	struct error ignored;
	*refused = false;
	if (mariadb_number(m, "SELECT COALESCE(GET_LOCK('tare.settings', 120), 0)", &locked, err))
		return -1;
	if (!locked)
		return error_set(
			err, EXIT_ENVIRONMENT,
			"another tare has been changing the server's settings for two minutes");
	int failed = mariadb_number(m, block, value, err);
	*refused = failed && may_not(m);
	mariadb_run(m, "DO RELEASE_LOCK('tare.settings')", &ignored);
	return failed;
}

int mariadb_settle(void *state, const char *const *tables, size_t count, struct error *err)
{
	struct mariadb *m = state;
	int64_t dirty = 0;
	bool refused;
	if (count) {
		/* ANALYZE reports errors in its result set */
		SCOPED(strbuf_release) struct strbuf sql = { 0 };
		MYSQL_RES *result;
		MYSQL_ROW row;
		strbuf_puts(&sql, "ANALYZE TABLE ");
		for (size_t i = 0; i < count; i++) {
			strbuf_puts(&sql, i ? ", " : "");
			mariadb_put_name(&sql, tables[i]);
		}
		int failed = mariadb_ask(m, sql.text, &result, err);
		if (failed)
			return -1;
		while (!failed && (row = m->lib->mysql_fetch_row(result)))
			if (row[2] && row[3] && strcasecmp(row[2], "error") == 0) {
				char shown[400];
				text_display(row[3], shown, sizeof shown);
				failed = error_set(err, EXIT_USAGE, "%s", shown);
			}
		m->lib->mysql_free_result(result);
		if (failed)
			return -1;
	}
	if (evaluate_alone(m, write_dirty_pages, &dirty, &refused, err))
		return refused ? 0 : -1;
	if (dirty > FEW_PAGES)
		return error_set(err, EXIT_ENVIRONMENT,
				 "%lld pages of InnoDB's pool are not on disk after a minute",
				 (long long)dirty);
	return 0;
}

/* Shrinking throws out all but the 200 or so pages that were used last; a table of its own, larger
 * than the pool now is, drives out those. In one statement, as above. Gives the number of pages of
 * tables that stayed. */
static const char empty_pool[] =
	"BEGIN NOT ATOMIC"
	" DECLARE was BIGINT UNSIGNED DEFAULT @@GLOBAL.innodb_buffer_pool_size;"
	" DECLARE turns INT DEFAULT 20; DECLARE stayed BIGINT;"
	" DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN"
	"  SET GLOBAL innodb_buffer_pool_size = was;"
	"  DROP TEMPORARY TABLE IF EXISTS tare_forget; RESIGNAL; END;"
	" SET GLOBAL innodb_buffer_pool_size = 8388608;"
	" CREATE OR REPLACE TEMPORARY TABLE tare_forget (filler LONGBLOB) ENGINE = InnoDB;"
	" WHILE turns > 0 DO"
	"  INSERT INTO tare_forget VALUES (REPEAT('x', 500000)); SET turns = turns - 1;"
	" END WHILE;"
	" DROP TEMPORARY TABLE tare_forget;"
	" SELECT COUNT(*) INTO stayed FROM information_schema.INNODB_BUFFER_PAGE"
	"  WHERE PAGE_TYPE = 'INDEX';"
	" SET GLOBAL innodb_buffer_pool_size = was;"
	" SELECT stayed;"
	" END";

static int only_by_restart(struct error *err, const char *why)
{
	error_set(err, EXIT_ENVIRONMENT, "this server's pool cannot be emptied while it runs: %s",
		  why);
	return error_hint(err, "let tare run the server from its data directory, or give commands"
			       " that start and stop it");
}

int mariadb_forget(void *state, struct error *err)
{
	struct mariadb *m = state;
	int64_t stayed = 0;
	bool refused;
	/* MariaDB has a largest size since its pool is resized before SET returns, by throwing
	 * pages out (10.11.12, 11.4.6, 11.8.2). Older ones and MySQL do it some time later and move
	 * the pages. */
	struct error unsaid = ERROR_INIT;
	int64_t most;
	if (mariadb_number(m, "SELECT @@GLOBAL.innodb_buffer_pool_size_max", &most, &unsaid) != 0) {
		if (!m->lost && mariadb_said(m, ER_UNKNOWN_SYSTEM_VARIABLE))
			return only_by_restart(err, "it is too old, or MySQL");
		if (err)
			*err = unsaid;
		return -1;
	}
	/* it writes a table of its own */
	if (m->whole_reads && mariadb_run(m, "SET SESSION TRANSACTION READ WRITE", err))
		return -1;
	int failed = evaluate_alone(m, empty_pool, &stayed, &refused, err);
	if (m->whole_reads &&
	    mariadb_run(m, "SET SESSION TRANSACTION READ ONLY", failed ? &unsaid : err))
		failed = -1;
	if (failed)
		return -1;
	if (stayed > FEW_PAGES) {
		char why[64];
		snprintf(why, sizeof why, "%lld pages stayed", (long long)stayed);
		return only_by_restart(err, why);
	}
	return 0;
}
