#include "subject/dbms/mariadb/private.h"

#include <errmsg.h>
#include <mysqld_error.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Not in the headers of the client's library, or not under one name. */
enum { CONNECTION_KILLED = 1927, NO_PASSWORD_ACCESS = 1698, QUERY_CACHE_DISABLED = 1651 };

enum { CONNECT_SECONDS = 10 };

/* Loaded once and never given back; NULL with EXIT_ENVIRONMENT. */
static const struct mariadb_library *mariadb_library(struct error *err)
{
	static const char *const names[] = {
#define NAME(name) #name,
		MARIADB_FUNCTIONS(NAME)
#undef NAME
			NULL
	};
	static struct mariadb_library library;
	if (library.mysql_init)
		return &library;
	if (driver_library(&library, names, "libmariadb.so.3",
			   "it is in Debian's package libmariadb3", err))
		return NULL;
	/* the first mysql_init() has SIGPIPE ignored in the whole process, which the subjects that
	 * tare starts would inherit; the library itself sends without that signal */
	struct sigaction before;
	sigaction(SIGPIPE, NULL, &before);
	library.mysql_close(library.mysql_init(NULL));
	sigaction(SIGPIPE, &before, NULL);
	return &library;
}

static bool says_lost(unsigned code)
{
	switch (code) {
	case CR_SERVER_GONE_ERROR:
	case CR_SERVER_LOST:
	case CR_SERVER_LOST_EXTENDED:
	case CR_CONNECTION_ERROR:
	case CR_CONN_HOST_ERROR:
	case CR_COMMANDS_OUT_OF_SYNC:
	case CR_MALFORMED_PACKET:
	case CR_ERR_NET_READ:
	case CR_ERR_NET_WRITE:
	case CONNECTION_KILLED:
	case ER_SERVER_SHUTDOWN:
	case ER_NORMAL_SHUTDOWN:
		return true;
	default:
		return false;
	}
}

/* Of the server's answers those that no other statement or URL would mend. */
static bool says_environment(unsigned code)
{
	switch (code) {
	case ER_DISK_FULL:
	case ER_RECORD_FILE_FULL:
	case ER_GET_ERRNO: /* of a storage engine, as 28: no space left */
	case ER_ERROR_ON_WRITE:
	case ER_OUTOFMEMORY:
	case ER_OUT_OF_RESOURCES:
	case ER_CON_COUNT_ERROR:
	case ER_TOO_MANY_USER_CONNECTIONS:
	case ER_LOCK_WAIT_TIMEOUT:
	case ER_LOCK_DEADLOCK:
		return true;
	default:
		return code < ER_HASHCHK || (code >= CR_MIN_ERROR && code <= CR_MAX_ERROR) ||
		       (code >= CER_MIN_ERROR && code <= CER_MAX_ERROR);
	}
}

static bool says_not_you(unsigned code)
{
	return code == ER_ACCESS_DENIED_ERROR || code == ER_DBACCESS_DENIED_ERROR ||
	       code == NO_PASSWORD_ACCESS || code == ER_HOST_NOT_PRIVILEGED;
}

static enum exit_code exit_of(unsigned code)
{
	if (says_lost(code))
		return EXIT_SUBJECT;
	return says_environment(code) ? EXIT_ENVIRONMENT : EXIT_USAGE;
}

int mariadb_failed(struct mariadb *m, struct error *err)
{
	char shown[800];
	unsigned code = m->lib->mysql_errno(m->link);
	m->lost = m->lost || says_lost(code);
	text_display(m->lib->mysql_error(m->link), shown, sizeof shown);
	return error_set(err, exit_of(code), "%s (%u)", *shown ? shown : "the server says nothing",
			 code);
}

bool mariadb_said(const struct mariadb *m, unsigned code)
{
	return m->lib->mysql_errno(m->link) == code;
}

/* ---- connecting ---- */

static int cannot_connect(const struct mariadb *m, MYSQL *link, struct error *err)
{
	char shown[600];
	unsigned code = m->lib->mysql_errno(link);
	enum exit_code whose = exit_of(code);
	if (whose == EXIT_SUBJECT && !m->was_connected)
		whose = EXIT_ENVIRONMENT;
	text_display(m->lib->mysql_error(link), shown, sizeof shown);
	error_set(err, whose, "cannot connect to MariaDB: %s (%u)", shown, code);
	if (says_not_you(code))
		return error_hint(err, "give the right ones: mariadb://user:password@...");
	if (code == ER_BAD_DB_ERROR)
		return error_hint(err, "name one that exists, or add create=yes to the URL");
	if (code == CR_CONNECTION_ERROR || code == CR_CONN_HOST_ERROR)
		return error_hint(err, "is the server running, and is this its socket or port?");
	return -1;
}

MYSQL *mariadb_link(struct mariadb *m, const char *database, struct error *err)
{
	const struct mariadb_library *lib = m->lib;
	unsigned seconds = CONNECT_SECONDS;
	MYSQL *link = lib->mysql_init(NULL);
	if (!link) {
		error_set(err, EXIT_ENVIRONMENT, "libmariadb cannot make a connection");
		return NULL;
	}
	lib->mysql_options(link, MYSQL_OPT_NONBLOCK, 0);
	lib->mysql_options(link, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
	lib->mysql_options(link, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	if (m->url.port || (m->url.host && strcmp(m->url.host, "localhost") != 0)) {
		unsigned tcp = MYSQL_PROTOCOL_TCP;
		lib->mysql_options(link, MYSQL_OPT_PROTOCOL, &tcp);
	}
	if (lib->mysql_real_connect(link, m->url.host, m->url.user, m->url.password, database,
				    m->url.port, m->url.socket, 0))
		return link;
	cannot_connect(m, link, err);
	lib->mysql_close(link);
	return NULL;
}

/* Results kept by the server spoil times. One that knows no such cache is as good. */
static int set_up(struct mariadb *m, struct error *err)
{
	if (mariadb_run(m, "SET SESSION query_cache_type = OFF", err) &&
	    !mariadb_said(m, ER_UNKNOWN_SYSTEM_VARIABLE) && !mariadb_said(m, QUERY_CACHE_DISABLED))
		return -1;
	if (!m->url.create)
		return 0;
	SCOPED(strbuf_release) struct strbuf sql = { 0 };
	strbuf_puts(&sql, "CREATE DATABASE IF NOT EXISTS ");
	mariadb_put_name(&sql, m->url.database);
	int failed = mariadb_run(m, sql.text, err);
	if (!failed && m->lib->mysql_select_db(m->link, m->url.database))
		failed = mariadb_failed(m, err);
	return failed;
}

static void disconnect_now(void *state)
{
	struct mariadb *m = state;
	if (m->link)
		m->lib->mysql_close(m->link);
	m->link = NULL;
	free(m->sql);
	free(m->written);
	m->sql = m->written = NULL;
}

static int connect_now(void *state, struct error *err)
{
	struct mariadb *m = state;
	disconnect_now(m);
	m->link = mariadb_link(m, m->url.create ? NULL : m->url.database, err);
	m->lost = !m->link;
	if (!m->link)
		return -1;
	if (set_up(m, err)) {
		disconnect_now(m);
		return -1;
	}
	m->was_connected = true;
	return 0;
}

static bool is_lost(const void *state)
{
	const struct mariadb *m = state;
	return m->lost || !m->link;
}

static void close_all(void *state)
{
	struct mariadb *m = state;
	if (!m)
		return;
	disconnect_now(m);
	mariadb_url_release(&m->url);
	free(m);
}

static int open_url(void **state, const char *url, const struct dbms_options *o, struct error *err)
{
	(void)o;
	struct mariadb *m = xcalloc(1, sizeof *m);
	m->lib = mariadb_library(err);
	if (!m->lib || mariadb_url_parse(url, &m->url, err)) {
		free(m);
		return -1;
	}
	*state = m;
	return 0;
}

/* ---- asking ---- */

void mariadb_put_name(struct strbuf *sql, const char *name)
{
	strbuf_putc(sql, '`');
	for (; *name; name++) {
		if (*name == '`')
			strbuf_putc(sql, '`');
		strbuf_putc(sql, *name);
	}
	strbuf_putc(sql, '`');
}

void mariadb_put_text(struct mariadb *m, struct strbuf *sql, const char *text)
{
	size_t length = strlen(text);
	if (!strpbrk(text, "'\\\"\n\r\x1a")) { /* most texts; the library takes its time */
		strbuf_putc(sql, '\'');
		strbuf_add(sql, text, length);
		strbuf_putc(sql, '\'');
		return;
	}
	FREED char *quoted = xmalloc(2 * length + 1);
	size_t wrote = m->lib->mysql_real_escape_string(m->link, quoted, text, length);
	strbuf_putc(sql, '\'');
	strbuf_add(sql, quoted, wrote);
	strbuf_putc(sql, '\'');
}

int mariadb_need_link(struct mariadb *m, struct error *err)
{
	if (m->link)
		return 0;
	return error_set(err, EXIT_SUBJECT, "there is no connection to MariaDB");
}

static int send_statement(struct mariadb *m, const char *sql, struct error *err)
{
	if (mariadb_need_link(m, err))
		return -1;
	return m->lib->mysql_real_query(m->link, sql, strlen(sql)) ? mariadb_failed(m, err) : 0;
}

/* Results that nobody asked for, as of a procedure, must be read before the next statement. */
static int pass_over_results(struct mariadb *m, struct error *err)
{
	int more;
	while ((more = m->lib->mysql_next_result(m->link)) == 0)
		m->lib->mysql_free_result(m->lib->mysql_store_result(m->link));
	return more > 0 ? mariadb_failed(m, err) : 0;
}

int mariadb_run(void *state, const char *sql, struct error *err)
{
	struct mariadb *m = state;
	if (send_statement(m, sql, err))
		return -1;
	m->lib->mysql_free_result(m->lib->mysql_store_result(m->link));
	if (m->lib->mysql_errno(m->link))
		return mariadb_failed(m, err);
	return pass_over_results(m, err);
}

int mariadb_ask(struct mariadb *m, const char *sql, MYSQL_RES **result, struct error *err)
{
	if (send_statement(m, sql, err))
		return -1;
	MYSQL_RES *found = m->lib->mysql_store_result(m->link);
	if (!found && m->lib->mysql_errno(m->link))
		return mariadb_failed(m, err);
	if (!found)
		return error_set(err, EXIT_USAGE, "'%.80s' has no result", sql);
	if (pass_over_results(m, err)) {
		m->lib->mysql_free_result(found);
		return -1;
	}
	*result = found;
	return 0;
}

int mariadb_text(struct mariadb *m, const char *sql, char **text, struct error *err)
{
	MYSQL_RES *result = NULL;
	if (mariadb_ask(m, sql, &result, err))
		return -1;
	MYSQL_ROW row = m->lib->mysql_fetch_row(result);
	if (row)
		*text = xstrdup(row[0] ? row[0] : "");
	m->lib->mysql_free_result(result);
	if (row)
		return 0;
	error_set(err, EXIT_USAGE, "'%.80s' has no row", sql);
	return -1;
}

int mariadb_number(void *state, const char *sql, int64_t *value, struct error *err)
{
	char *text = NULL, *end;
	if (mariadb_text(state, sql, &text, err))
		return -1;
	long long number = strtoll(text, &end, 10);
	bool good = end != text && (*end == '\0' || *end == '.');
	free(text);
	if (!good)
		return error_set(err, EXIT_USAGE, "'%.80s' gives no number", sql);
	*value = number;
	return 0;
}

static const char *const schemes[] = { "mariadb", "mysql", NULL };

const struct dbms_driver mariadb_driver = {
	.name = "mariadb",
	.schemes = schemes,
	.cold = DBMS_COLD_ONLINE,
	.open = open_url,
	.close = close_all,
	.describe = mariadb_describe,
	.lost = is_lost,
	.disconnect = disconnect_now,
	.connect = connect_now,
	.run = mariadb_run,
	.number = mariadb_number,
	.table_exists = mariadb_table_exists,
	.type = mariadb_type,
	.load = mariadb_load,
	.settle = mariadb_settle,
	.table_bytes = mariadb_table_bytes,
	.prepare = mariadb_prepare,
	.plan = mariadb_plan,
	.execute = mariadb_execute,
	.tasks = mariadb_tasks,
	.forget = mariadb_forget,
};
