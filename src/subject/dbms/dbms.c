#include "subject/dbms/dbms.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "subject/dbms/driver.h"

struct dbms {
	const struct dbms_driver *driver;
	void *state;
	char **settings; /* ended by NULL */
	enum query_transaction transaction;
	bool begun; /* dbms_begin() came */
};

static const struct dbms_driver *const drivers[] = {
	&sqlite_driver,
#ifdef HAVE_POSTGRESQL
	&postgresql_driver,
#endif
#ifdef HAVE_MARIADB
	&mariadb_driver,
#endif
#ifdef HAVE_ODBC
	&odbc_driver,
#endif
	NULL,
};

/* Schemes that a tare with every library has. */
static const char *const known_schemes[] = { "sqlite", "postgresql", "postgres", "mariadb",
					     "mysql",  "odbc",	     NULL };

int driver_library(void *into, const char *const *names, const char *library, const char *hint,
		   struct error *err)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	FREED ARRAY(void *) found = { 0 };
	bool whole = handle;
	for (; whole && *names; names++) {
		array_push(&found, dlsym(handle, *names));
		whole = found.items[found.count - 1];
	}
	if (whole && found.items) {
		memcpy(into, found.items, found.count * sizeof *found.items);
		return 0;
	}
	error_set(err, EXIT_ENVIRONMENT, "cannot load %s: %s", library, dlerror());
	if (handle)
		dlclose(handle);
	return error_hint(err, "%s", hint);
}

/* A machine that talks to itself does so from the address that it talks to. */
bool peer_is_here(int fd, char address[INET6_ADDRSTRLEN])
{
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
		struct sockaddr_storage room;
	} here = { 0 }, there = { 0 };
	socklen_t here_size = sizeof here, there_size = sizeof there;
	if (getsockname(fd, &here.any, &here_size) || getpeername(fd, &there.any, &there_size))
		return false;
	if (there.any.sa_family == AF_INET) {
		inet_ntop(AF_INET, &there.four.sin_addr, address, INET6_ADDRSTRLEN);
		return memcmp(&here.four.sin_addr, &there.four.sin_addr,
			      sizeof there.four.sin_addr) == 0;
	}
	if (there.any.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &there.six.sin6_addr, address, INET6_ADDRSTRLEN);
		return memcmp(&here.six.sin6_addr, &there.six.sin6_addr,
			      sizeof there.six.sin6_addr) == 0;
	}
	return there.any.sa_family == AF_UNIX;
}

pid_t number_within(const char *status)
{
	const char *at = strstr(status, "\nNSpid:");
	long own = 0;
	char *end;
	/* one for each namespace, its own last */
	for (at = at ? at + strlen("\nNSpid:") : ""; *at && *at != '\n'; at = end) {
		long number = strtol(at, &end, 10);
		if (end == at)
			break;
		own = number;
	}
	return (pid_t)own;
}

static bool has_scheme(const char *url, const char *scheme)
{
	size_t length = strlen(scheme);
	return strncmp(url, scheme, length) == 0 && url[length] == ':';
}

static const struct dbms_driver *driver_of(const char *url)
{
	for (size_t i = 0; drivers[i]; i++)
		for (const char *const *s = drivers[i]->schemes; *s; s++)
			if (has_scheme(url, *s))
				return drivers[i];
	return NULL;
}

static int no_driver(const char *url, struct error *err)
{
	char shown[200], *scheme = xstrndup(url, strcspn(url, ":"));
	bool more = url[strlen(scheme)] == ':';
	text_display(scheme, shown, sizeof shown);
	xfree(scheme);
	for (size_t i = 0; known_schemes[i]; i++)
		if (has_scheme(url, known_schemes[i])) {
			error_set(err, EXIT_ENVIRONMENT,
				  "this tare was built without a driver for %s", known_schemes[i]);
			return error_hint(err,
					  "build it again with the library that the README names");
		}
	/* what follows may hold a password */
	error_set(err, EXIT_USAGE, "'%s%s' names no database", shown, more ? ":..." : "");
	return error_hint(err, "sqlite:FILE, postgresql://..., mariadb://... or odbc:DSN=...");
}

static int apply_settings(struct dbms *d, struct error *err)
{
	int (*set)(void *, const char *, struct error *) = d->driver->run;
	if (d->transaction == QUERY_READ_ONLY && d->driver->set)
		set = d->driver->set;
	for (char **s = d->settings; s && *s; s++)
		if (set(d->state, *s, err))
			return error_prefix(err, "setting '%.80s'", *s);
	return 0;
}

int dbms_open(struct dbms **out, const char *url, const struct dbms_options *options,
	      struct error *err)
{
	static const struct dbms_options none = { 0 };
	bool is_file = !strchr(url, ':') &&
		       (text_ends_with(url, ".db") || text_ends_with(url, ".sqlite") ||
			text_ends_with(url, ".sqlite3"));
	FREED char *made = is_file ? xprintf("sqlite:%s", url) : NULL;
	url = made ? made : url;
	if (!options)
		options = &none;
	const struct dbms_driver *driver = driver_of(url);
	if (!driver) {
		no_driver(url, err);
		return -1;
	}
	struct dbms *d = xcalloc(1, sizeof *d);
	d->driver = driver;
	d->settings = xstrdup_all(options->settings);
	d->transaction = options->transaction;
	int failed = driver->open(&d->state, url, options, err) || dbms_reconnect(d, err);
	if (failed) {
		dbms_close(d);
		return -1;
	}
	*out = d;
	return 0;
}

void dbms_close(struct dbms *d)
{
	if (!d)
		return;
	if (d->state)
		d->driver->close(d->state);
	xfree_all(d->settings);
	free(d);
}

const char *dbms_name(const struct dbms *d)
{
	return d->driver->own_name ? d->driver->own_name(d->state) : d->driver->name;
}

int dbms_describe(struct dbms *d, char **version, char **settings, struct error *err)
{
	return d->driver->describe(d->state, version, settings, err);
}

bool dbms_lost(const struct dbms *d)
{
	return d->driver->lost(d->state);
}

void dbms_disconnect(struct dbms *d)
{
	d->driver->disconnect(d->state);
}

int dbms_reconnect(struct dbms *d, struct error *err)
{
	d->begun = false;
	d->driver->disconnect(d->state);
	if (d->driver->connect(d->state, err))
		return -1;
	if (!apply_settings(d, err))
		return 0;
	d->driver->disconnect(d->state); /* without its settings it is another one */
	return -1;
}

int dbms_run(struct dbms *d, const char *sql, struct error *err)
{
	return d->driver->run(d->state, sql, err);
}

int dbms_number(struct dbms *d, const char *sql, int64_t *value, struct error *err)
{
	return d->driver->number(d->state, sql, value, err);
}

int dbms_table_exists(struct dbms *d, const char *table, bool *exists, struct error *err)
{
	return d->driver->table_exists(d->state, table, exists, err);
}

const char *dbms_type(const struct dbms *d, enum column_kind kind, uint32_t length, char out[64])
{
	static const char *const standard[] = { "INTEGER",	    "BIGINT", "DECIMAL(15,2)",
						"DOUBLE PRECISION", "TEXT",   "DATE" };
	if (d->driver->type)
		return d->driver->type(d->state, kind, length, out);
	if (kind == KIND_TEXT && length)
		snprintf(out, 64, "VARCHAR(%u)", length);
	else
		snprintf(out, 64, "%s", standard[kind]);
	return out;
}

int dbms_load(struct dbms *d, const char *table, size_t columns, dbms_row_fn next, void *context,
	      struct error *err)
{
	return d->driver->load(d->state, table, columns, next, context, err);
}

int dbms_settle(struct dbms *d, const char *const *tables, size_t count, struct error *err)
{
	return d->driver->settle(d->state, tables, count, err);
}

int dbms_table_bytes(struct dbms *d, const char *table, uint64_t *bytes, struct error *err)
{
	return d->driver->table_bytes(d->state, table, bytes, err);
}

/* executes: for an execution, not for a statement that is prepared or planned. */
static int begin(struct dbms *d, bool executes, struct error *err)
{
	bool begins = d->transaction != QUERY_COMMITTED;
	bool ready = executes && d->driver->ready;
	if ((begins && d->driver->begin(d->state, err)) ||
	    (ready && d->driver->ready(d->state, err))) {
		enum query_transaction how;
		struct error late = ERROR_INIT;
		if (begins && !dbms_lost(d))
			d->driver->end(d->state, &how, &late);
		return -1;
	}
	d->begun = true;
	return 0;
}

int dbms_begin(struct dbms *d, struct error *err)
{
	return begin(d, true, err);
}

int dbms_end(struct dbms *d, enum query_transaction *how, struct error *err)
{
	d->begun = false;
	*how = d->transaction;
	/* a server rolls back what a lost connection left */
	if (d->transaction == QUERY_COMMITTED || dbms_lost(d))
		return 0;
	if (d->driver->end(d->state, how, err))
		return -1;
	if (d->transaction != QUERY_ROLLED_BACK || *how != QUERY_COMMITTED)
		return 0;
	error_set(err, EXIT_USAGE, "what the statement wrote was committed: %s cannot roll it back",
		  dbms_name(d));
	return error_hint(err, "--commit executes it all the same, each time for good");
}

/* Ends what a function began that is no execution. */
static int end_after(struct dbms *d, int failed, struct error *err)
{
	enum query_transaction how;
	struct error late = ERROR_INIT;
	return dbms_end(d, &how, failed ? &late : err) || failed ? -1 : 0;
}

const char *dbms_caution(const struct dbms *d)
{
	return d->transaction == QUERY_READ_ONLY && d->driver->caution
		       ? d->driver->caution(d->state)
		       : NULL;
}

/* A server may run a statement's functions while it prepares or plans it. */
int dbms_prepare(struct dbms *d, const char *sql, struct error *err)
{
	if (begin(d, false, err))
		return -1;
	return end_after(d, d->driver->prepare(d->state, sql, err), err);
}

int dbms_plan(struct dbms *d, struct query_plan *plan, struct error *err)
{
	if (begin(d, false, err))
		return -1;
	return end_after(d, d->driver->plan(d->state, plan, err), err);
}

int dbms_execute(struct dbms *d, const struct dbms_wait *wait, struct dbms_execution *x,
		 struct error *err)
{
	static const struct dbms_wait for_ever = { 0 };
	bool whole = !d->begun;
	if (whole && dbms_begin(d, err))
		return -1;
	int failed = d->driver->execute(d->state, wait ? wait : &for_ever, x, err);
	return whole ? end_after(d, failed, err) : failed;
}

int dbms_run_long(struct dbms *d, const char *sql, const struct dbms_wait *wait, struct error *err)
{
	struct dbms_execution ignored;
	return d->driver->prepare(d->state, sql, err) ||
			       d->driver->execute(d->state, wait, &ignored, err)
		       ? -1
		       : 0;
}

int dbms_tasks(struct dbms *d, struct dbms_tasks *into, struct error *err)
{
	return d->driver->tasks(d->state, into, err);
}

void dbms_ended(struct dbms *d, const struct dbms_end *ends, size_t count)
{
	if (d->driver->ended)
		d->driver->ended(d->state, ends, count);
}

size_t dbms_workers(const struct dbms *d, const pid_t **pids)
{
	return d->driver->workers ? d->driver->workers(d->state, pids) : 0;
}

size_t dbms_readers(const struct dbms *d, const pid_t **pids)
{
	return d->driver->readers ? d->driver->readers(d->state, pids) : 0;
}

enum dbms_cold dbms_cold(const struct dbms *d)
{
	return d->driver->own_cold ? d->driver->own_cold(d->state) : d->driver->cold;
}

int dbms_forget(struct dbms *d, struct error *err)
{
	return d->driver->forget(d->state, err);
}
