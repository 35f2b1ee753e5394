/* A driver file: the statements that ask a DBMS behind ODBC what ODBC itself has no call for.
 * It has lines of the form
 *
 *	key = value
 *
 * A line that begins with a blank continues the value before it, and one that begins with '#' is a
 * comment. The file is UTF-8 and at most 64 KiB. All keys are optional.
 *
 *	name               of the DBMS, for reports (default: odbc)
 *	process_name       of the server's processes, as in /proc/PID/comm
 *	session_id         SQL; gives the number of the server's process that evaluates this
 *	                   connection's queries. Without it, the busiest process of
 *	                   process_name is taken.
 *	session_is_thread  yes or no: whether that number is the kernel's id of a thread
 *	session *          SQL; executed in each new connection
 *	read_only *        SQL; executed at the beginning of a transaction, after which it cannot
 *	                   write. Without it, what protects data is that each execution is rolled
 *	                   back, if the ODBC driver has transactions.
 *	version            SQL; gives the version (default: what the ODBC driver says)
 *	plan               SQL; {sql} stands for the query. Its result is the plan: a line for
 *	                   each row, deeper ones indented. Without it, changes of a plan are not
 *	                   detected.
 *	plan_after         SQL; executed after `plan`; its result is used instead
 *	plan_numbers       keep or drop: whether numbers (costs, rows) are a part of the plan
 *	                   (default: keep)
 *	analyze            SQL; {table} stands for a table; updates its statistics
 *	settle *           SQL; executed after that, to write everything to disk
 *	table_bytes        SQL; {table}; gives the bytes of a table without its indexes
 *	cold               online or restart: whether `flush` empties the server's caches, or
 *	                   only a new server has empty ones (default: online if there is a
 *	                   flush)
 *	flush *            SQL; executed before each cold execution
 *	type_integer, type_bigint, type_decimal, type_real, type_text, type_date
 *	                   how such columns are declared; {length} stands for the length of texts
 *
 * Those marked * may be given more than once. Private to subject/dbms/. */
#ifndef TARE_SUBJECT_DBMS_ODBC_FILE_H
#define TARE_SUBJECT_DBMS_ODBC_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/options.h"
#include "subject/dbms/dbms.h"

struct odbc_file {
	/* NULL: not given */
	char *name, *process_name, *session_id, *version;
	char *plan, *plan_after, *analyze, *table_bytes;
	char *types[KIND_DATE + 1];
	word_list session, read_only, settle, flush;
	bool session_is_thread, drop_numbers;
	enum dbms_cold cold;
};

/* Errors (EXIT_USAGE) name the line and the key, and leave *into unchanged. */
int odbc_file_parse(const char *text, size_t length, struct odbc_file *into, struct error *err);
int odbc_file_read(const char *path, struct odbc_file *into, struct error *err);
void odbc_file_release(struct odbc_file *f);

/* The statement with `mark` ("{sql}") replaced by the value. The caller frees it. */
char *odbc_file_fill(const char *statement, const char *mark, const char *value);

#endif
