#include <dirent.h>
#include <errmsg.h>
#include <errno.h>
#include <jansson.h>
#include <mysqld_error.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "subject/dbms/mariadb/private.h"

/* ---- what it is ---- */

/* What the session has: that is what its queries are evaluated with. */
static const char settings_statement[] =
	"SHOW SESSION VARIABLES WHERE Variable_name IN ('version', 'version_comment',"
	" 'innodb_buffer_pool_size', 'innodb_buffer_pool_dump_at_shutdown',"
	" 'innodb_buffer_pool_load_at_startup', 'innodb_flush_method', 'innodb_use_native_aio',"
	" 'innodb_flush_log_at_trx_commit', 'innodb_page_size', 'innodb_io_capacity',"
	" 'innodb_adaptive_hash_index', 'innodb_read_io_threads', 'innodb_read_ahead_threshold',"
	" 'innodb_random_read_ahead', 'innodb_stats_persistent', 'innodb_stats_persistent_sample_pages',"
	" 'query_cache_type', 'query_cache_size', 'optimizer_switch', 'optimizer_search_depth',"
	" 'optimizer_use_condition_selectivity', 'use_stat_tables', 'join_buffer_size',"
	" 'join_cache_level', 'sort_buffer_size', 'read_buffer_size', 'read_rnd_buffer_size',"
	" 'mrr_buffer_size', 'tmp_table_size', 'max_heap_table_size', 'max_statement_time',"
	" 'performance_schema', 'sql_mode', 'thread_handling', 'tx_isolation',"
	" 'transaction_isolation', 'character_set_server', 'collation_database')";

static int describe(void *state, char **version, char **settings, struct error *err)
{
	struct mariadb *m = state;
	MYSQL_RES *result;
	FREED char *said = NULL;
	if (mariadb_ask(m, settings_statement, &result, err))
		return -1;
	if (mariadb_text(m, "SELECT VERSION()", &said, err)) {
		m->lib->mysql_free_result(result);
		return -1;
	}
	json_auto_t *all = json_object();
	MYSQL_ROW row;
	while ((row = m->lib->mysql_fetch_row(result)))
		if (row[0] && row[1]) {
			FREED char *value = text_utf8(row[1]);
			json_object_set_new(all, row[0], json_string(value));
		}
	*settings = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
	*version = xstrndup(said, strcspn(said, "-")); /* 10.11.14-MariaDB-0+deb12u2 */
	m->lib->mysql_free_result(result);
	return 0;
}

/* ---- who evaluates ---- */

static int is_elsewhere(struct error *err)
{
	error_set(err, EXIT_ENVIRONMENT,
		  "the server is not on this machine, or tare cannot see it");
	return error_hint(err, "measure where the server runs, outside of its container");
}

static int process_by_file(struct mariadb *m, pid_t *process, struct error *err)
{
	FREED char *path = NULL;
	if (mariadb_text(
		    m, "SELECT IF(@@pid_file LIKE '/%', @@pid_file, CONCAT(@@datadir, @@pid_file))",
		    &path, err))
		return -1;
	FREED char *text = file_read_line(path);
	long pid = 0;
	if (text && integer_parse(text, 1, INT32_MAX, &pid)) {
		*process = (pid_t)pid;
		return 0;
	}
	error_set(err, EXIT_ENVIRONMENT, "cannot read the server's process from %s: %s",
		  DISPLAYED(path, 200), text ? "that is no number" : strerror(errno));
	return error_hint(err, "connect through its socket: mariadb:///database?socket=/path");
}

static int process_of(struct mariadb *m, pid_t *process, struct error *err)
{
	int fd = m->lib->mysql_get_socket(m->link);
	struct sockaddr_storage own = { 0 };
	socklen_t length = sizeof own;
	char address[INET6_ADDRSTRLEN];
	if (getsockname(fd, (struct sockaddr *)&own, &length) == 0 && own.ss_family == AF_UNIX) {
		struct ucred peer = { 0 };
		length = sizeof peer;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) || peer.pid <= 0)
			return is_elsewhere(err);
		*process = peer.pid;
		return 0;
	}
	return peer_is_here(fd, address) ? process_by_file(m, process, err) : is_elsewhere(err);
}

/* The thread of the process that has this number in the server's own pid namespace; 0: none. */
static pid_t thread_called(pid_t process, pid_t said)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/task", (int)process);
	DIR *all = opendir(path);
	pid_t found = 0;
	for (const struct dirent *e; all && !found && (e = readdir(all));) {
		long tid;
		if (!integer_parse(e->d_name, 1, INT32_MAX, &tid))
			continue;
		FREED char *status = file_read_proc(tid, "status");
		if (status && number_within(status) == said)
			found = (pid_t)tid;
	}
	if (all)
		closedir(all);
	return found;
}

static int tasks(void *state, struct dbms_tasks *into, struct error *err)
{
	struct mariadb *m = state;
	struct dbms_tasks found = { .io_by_process =
					    true }; /* InnoDB's own threads or the kernel's read */
	char path[64];
	if (mariadb_need_link(m, err) || process_of(m, &found.process, err))
		return -1;
	/* the thread stays 0 if a pool of threads serves the connection */
	int64_t id = 0, pooled = 0;
	if (mariadb_number(m, "SELECT @@thread_handling LIKE '%pool%'", &pooled, err))
		return -1;
	if (!pooled && mariadb_number(m,
				      "SELECT TID FROM information_schema.PROCESSLIST"
				      " WHERE ID = CONNECTION_ID()",
				      &id, err)) {
		if (m->lost || !mariadb_said(m, ER_BAD_FIELD_ERROR))
			return -1;
		/* MySQL */
		if (mariadb_number(m,
				   "SELECT THREAD_OS_ID FROM performance_schema.threads"
				   " WHERE PROCESSLIST_ID = CONNECTION_ID()",
				   &id, err))
			return -1;
	}
	FREED char *status = file_read_proc(found.process, "status");
	bool contained = status && number_within(status) && number_within(status) != found.process;
	found.thread = contained && id ? thread_called(found.process, (pid_t)id) : (pid_t)id;
	if (id && !found.thread)
		return is_elsewhere(err);
	found.server = found.process;
	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", found.process,
		 found.thread ? found.thread : found.process);
	if (access(path, F_OK))
		return is_elsewhere(err);
	snprintf(path, sizeof path, "/proc/%d/comm", found.process);
	FREED char *name = file_read_line(path);
	snprintf(found.name, sizeof found.name, "%s", name ? name : "");
	*into = found;
	return 0;
}

/* ---- the connection ---- */

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
	case ER_QUERY_INTERRUPTED: /* by somebody's KILL QUERY */
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
	error_set(err, exit_of(code), "%s (%u)", *shown ? shown : "the server says nothing", code);
	return code == ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION ? error_hint(err, DBMS_ALLOW_WRITES)
								: -1;
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
	if (set_up(m, err) ||
	    (m->whole_reads && mariadb_run(m, "SET SESSION TRANSACTION READ ONLY", err))) {
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
	struct mariadb *m = xcalloc(1, sizeof *m);
	m->reads_only = o->transaction == QUERY_READ_ONLY;
	m->whole_reads = m->reads_only && o->must_exist;
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
	FREED char *text = NULL;
	char *end;
	if (mariadb_text(state, sql, &text, err))
		return -1;
	long long number = strtoll(text, &end, 10);
	if (end == text || (*end != '\0' && *end != '.'))
		return error_set(err, EXIT_USAGE, "'%.80s' gives no number", sql);
	*value = number;
	return 0;
}

/* ---- the transaction around a query ---- */

/* No statement of the client can hold several; a procedure, which could, has no plan and is not
 * executed. */
static int begin(void *state, struct error *err)
{
	struct mariadb *m = state;
	return mariadb_run(m, m->reads_only ? "START TRANSACTION READ ONLY" : "START TRANSACTION",
			   err);
}

static int end(void *state, enum query_transaction *how, struct error *err)
{
	struct mariadb *m = state;
	if (mariadb_need_link(m, err))
		return -1;
	bool open = m->link->server_status & SERVER_STATUS_IN_TRANS;
	if (!open && m->reads_only)
		return error_set(err, EXIT_USAGE,
				 "the statement ended the transaction that protects data");
	if (mariadb_run(m, "ROLLBACK", err))
		return -1;
	/* it warns of tables whose engine has no transactions */
	if (!open || m->lib->mysql_warning_count(m->link))
		*how = QUERY_COMMITTED;
	return 0;
}

static int set(void *state, const char *sql, struct error *err)
{
	struct error late = ERROR_INIT;
	if (begin(state, err))
		return -1;
	int failed = mariadb_run(state, sql, err);
	return mariadb_run(state, failed ? "ROLLBACK" : "COMMIT", failed ? &late : err) || failed
		       ? -1
		       : 0;
}

static const char *const schemes[] = { "mariadb", "mysql", NULL };

const struct dbms_driver mariadb_driver = {
	.name = "mariadb",
	.schemes = schemes,
	.cold = DBMS_COLD_ONLINE,
	.open = open_url,
	.close = close_all,
	.describe = describe,
	.lost = is_lost,
	.disconnect = disconnect_now,
	.connect = connect_now,
	.run = mariadb_run,
	.set = set,
	.number = mariadb_number,
	.table_exists = mariadb_table_exists,
	.type = mariadb_type,
	.load = mariadb_load,
	.settle = mariadb_settle,
	.table_bytes = mariadb_table_bytes,
	.prepare = mariadb_prepare,
	.plan = mariadb_plan,
	.begin = begin,
	.end = end,
	.execute = mariadb_execute,
	.tasks = tasks,
	.forget = mariadb_forget,
};
