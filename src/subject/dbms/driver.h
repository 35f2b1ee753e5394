/* What each driver implements for dbms.c. Private to subject/dbms/. The functions are documented
 * under the same names in dbms.h; state belongs to the driver. If a function may be NULL, its
 * comment says what dbms.c uses instead. */
#ifndef TARE_SUBJECT_DBMS_DRIVER_H
#define TARE_SUBJECT_DBMS_DRIVER_H

#include <netinet/in.h>

#include "subject/dbms/dbms.h"

struct dbms_driver {
	const char *name;
	const char *const *schemes; /* of URLs, without the colon; ends with NULL */
	enum dbms_cold cold;
	enum dbms_cold (*own_cold)(const void *state); /* NULL: cold */
	int (*open)(void **state, const char *url, const struct dbms_options *o, struct error *err);
	void (*close)(void *state);
	const char *(*own_name)(const void *state); /* NULL: name */
	int (*describe)(void *state, char **version, char **settings, struct error *err);
	bool (*lost)(const void *state);
	void (*disconnect)(void *state);
	int (*connect)(void *state, struct error *err); /* open() does not connect; dbms.c calls
							   this and then runs the settings */
	int (*run)(void *state, const char *sql, struct error *err);
	/* A setting of a connection whose statements may only read; NULL: run */
	int (*set)(void *state, const char *sql, struct error *err);
	int (*number)(void *state, const char *sql, int64_t *value, struct error *err);
	int (*table_exists)(void *state, const char *table, bool *exists, struct error *err);
	const char *(*type)(const void *state, enum column_kind kind, uint32_t length,
			    char out[64]); /* NULL: standard SQL */
	int (*load)(void *state, const char *table, size_t columns, dbms_row_fn next, void *context,
		    struct error *err);
	int (*settle)(void *state, const char *const *tables, size_t count, struct error *err);
	int (*table_bytes)(void *state, const char *table, uint64_t *bytes, struct error *err);
	int (*prepare)(void *state, const char *sql, struct error *err);
	int (*plan)(void *state, struct query_plan *plan, struct error *err);
	/* The transaction around each prepare(), plan() and execute(), unless writes are committed.
	 * A driver guards the statement by its own options. */
	int (*begin)(void *state, struct error *err);
	int (*end)(void *state, enum query_transaction *how, struct error *err);
	/* After the begin() of an execution: prepares again what an end() has dropped, so that
	 * execute() need not. NULL: end() drops nothing. */
	int (*ready)(void *state, struct error *err);
	const char *(*caution)(const void *state); /* NULL: there is none */
	int (*execute)(void *state, const struct dbms_wait *wait, struct dbms_execution *x,
		       struct error *err);
	int (*tasks)(void *state, struct dbms_tasks *into, struct error *err);
	/* these three NULL: there are never any */
	void (*ended)(void *state, const struct dbms_end *ends, size_t count);
	size_t (*workers)(const void *state, const pid_t **pids);
	size_t (*readers)(const void *state, const pid_t **pids);
	int (*forget)(void *state, struct error *err);
};

/* The hint after an error of a statement that tried to write. */
#define DBMS_ALLOW_WRITES "--allow-writes executes it, and rolls back what it wrote"

/* The drivers of this build. */
extern const struct dbms_driver sqlite_driver, postgresql_driver, mariadb_driver, odbc_driver;

/* Loads a client library, which stays loaded, and fills a struct of function pointers in the order
 * of their names (ends with NULL). It is untouched unless the library has all of them. */
int driver_library(void *into, const char *const *names, const char *library, const char *hint,
		   struct error *err);

/* Whether the other end of the socket is on this machine. A network address is also written to
 * `address`. A tunnel looks local. */
bool peer_is_here(int fd, char address[INET6_ADDRSTRLEN]);

/* The number that a task has in its own pid namespace, which a server in a container says, by the
 * text of its status file. 0: unknown. */
pid_t number_within(const char *status);

#endif
