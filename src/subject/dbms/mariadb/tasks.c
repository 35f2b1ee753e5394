#include <errno.h>
#include <jansson.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "subject/dbms/mariadb/private.h"

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

int mariadb_describe(void *state, char **version, char **settings, struct error *err)
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
	json_t *all = json_object();
	MYSQL_ROW row;
	while ((row = m->lib->mysql_fetch_row(result)))
		if (row[0] && row[1]) {
			FREED char *value = text_utf8(row[1]);
			json_object_set_new(all, row[0], json_string(value));
		}
	char *text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(all);
	*settings = text;
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
	bool good = text && integer_parse(text, 1, INT32_MAX, &pid);
	if (!good) {
		char shown[200];
		text_display(path, shown, sizeof shown);
		error_set(err, EXIT_ENVIRONMENT, "cannot read the server's process from %s: %s",
			  shown, text ? "that is no number" : strerror(errno));
		error_hint(err, "connect through its socket: mariadb:///database?socket=/path");
	}
	*process = (pid_t)pid;
	return good ? 0 : -1;
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

int mariadb_tasks(void *state, struct dbms_tasks *into, struct error *err)
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
	found.thread = (pid_t)id;
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
