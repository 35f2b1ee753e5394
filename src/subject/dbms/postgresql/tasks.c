/* Which processes of this machine evaluate: the backend, its parallel workers, and from version 18
 * on the I/O workers that read for it. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "subject/dbms/postgresql/postgresql.h"

/* By how much the server's and the kernel's time of a backend's start may differ: the clock may
 * have been set since. */
#define START_TOLERANCE_NS INT64_C(2000000000)

/* ---- the backend ---- */

/* "postgres" begins its name. */
static bool is_postgres(pid_t pid)
{
	FREED char *comm = file_read_proc(pid, "comm");
	return comm && strncmp(comm, "postgres", 8) == 0;
}

/* CLOCK_REALTIME of its start, to 10 ms; -1: it is gone. */
static int64_t start_of(pid_t pid)
{
	FREED char *stat = file_read_proc(pid, "stat");
	const char *at = stat ? strrchr(stat, ')') : NULL;
	unsigned long long ticks;
	/* field 22; the third is the first behind the name */
	if (!at || sscanf(at + 1,
			  " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			  "%*d %*d %llu",
			  &ticks) != 1)
		return -1;
	uint64_t boot_ns = (uint64_t)ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	return clock_realtime_ns() - (int64_t)(clock_boottime_ns() - boot_ns);
}

/* Whether this process is a backend of PostgreSQL that its server calls `said`: the last of its
 * numbers is that of its own pid namespace. */
static bool is_called(pid_t pid, pid_t said, pid_t *parent)
{
	FREED char *status = file_read_proc(pid, "status");
	const char *up = status ? strstr(status, "\nPPid:") : NULL;
	if (!up)
		return false;
	pid_t own = number_within(status);
	*parent = (pid_t)strtol(up + strlen("\nPPid:"), NULL, 10);
	return (own ? own : pid) == said && is_postgres(pid) && is_postgres(*parent);
}

struct search {
	pid_t said;
	int64_t start_ns; /* by the server; 0: it does not say */
	pid_t backend, postmaster;
	int64_t off_ns; /* of the one found */
	size_t found;
};

static void consider(struct search *s, pid_t pid)
{
	pid_t parent;
	if (!is_called(pid, s->said, &parent))
		return;
	int64_t start = start_of(pid), off = 0;
	if (start < 0)
		return;
	if (s->start_ns)
		off = start > s->start_ns ? start - s->start_ns : s->start_ns - start;
	if (off > START_TOLERANCE_NS)
		return;
	if (!s->found++ || off < s->off_ns) {
		s->backend = pid;
		s->postmaster = parent;
		s->off_ns = off;
	}
}

/* The server may number its processes in a namespace of its own, and others may have the same
 * numbers in theirs: when it was started tells which one it is. */
static bool find_backend(struct postgresql *s, pid_t said, bool here, struct error *err)
{
	struct search search = { .said = said };
	int64_t us;
	if (postgresql_driver.number(s,
				     "SELECT coalesce((SELECT (extract(epoch FROM backend_start) * "
				     "1000000)::bigint FROM pg_stat_activity WHERE pid = "
				     "pg_backend_pid()), 0)",
				     &us, err) == 0)
		search.start_ns = us * 1000;
	else if (s->lost)
		return false;
	consider(&search, said);
	DIR *proc = search.found && search.start_ns ? NULL : opendir("/proc");
	for (const struct dirent *e; proc && (e = readdir(proc));) {
		long pid;
		if (integer_parse(e->d_name, 1, INT32_MAX, &pid) && pid != said)
			consider(&search, (pid_t)pid);
	}
	if (proc)
		closedir(proc);
	/* an address of another machine may be a container's, but then all must fit */
	bool sure = search.start_ns ? search.found > 0 : here && search.found == 1;
	s->said = sure ? said : 0;
	s->backend = sure ? search.backend : 0;
	s->postmaster = sure ? search.postmaster : 0;
	return sure;
}

static void each_child(struct postgresql *s, void (*each)(struct postgresql *, pid_t))
{
	char name[32], *end;
	snprintf(name, sizeof name, "task/%d/children", (int)s->postmaster);
	FREED char *children = file_read_proc(s->postmaster, name);
	for (char *at = children; at && *at; at = end) {
		pid_t pid = (pid_t)strtol(at, &end, 10);
		if (end == at)
			break;
		each(s, pid);
	}
}

static void note_reader(struct postgresql *s, pid_t pid)
{
	FREED char *title = file_read_proc(pid, "cmdline");
	if (postgresql_kind(title, s->said) == POSTGRESQL_READER)
		array_push(&s->readers, pid);
}

int postgresql_tasks(void *state, struct dbms_tasks *into, struct error *err)
{
	struct postgresql *s = state;
	char address[INET6_ADDRSTRLEN] = "an unknown address";
	pid_t parent;
	/* not PQbackendPID(): behind a pooler that is the pooler's */
	int64_t number;
	if (postgresql_driver.number(s, "SELECT pg_backend_pid()", &number, err))
		return -1;
	bool known = s->said == number && is_called(s->backend, s->said, &parent);
	bool here = known || peer_is_here(s->pq->PQsocket(s->connection), address);
	if (!known && !find_backend(s, (pid_t)number, here, err)) {
		if (s->lost)
			return -1;
		if (!here)
			return error_set(err, EXIT_ENVIRONMENT,
					 "the server is on another machine: %s", address);
		error_set(err, EXIT_ENVIRONMENT,
			  "the server's process %d is not one of PostgreSQL here", (int)number);
		return error_hint(err,
				  "a tunnel leads elsewhere, and processes of another "
				  "container cannot be seen: measure where the server runs, or "
				  "on the host of its container");
	}
	const char *version = s->pq->PQparameterStatus(s->connection, "server_version");
	s->readers.count = 0;
	if (version && strtol(version, NULL, 10) >= 18)
		each_child(s, note_reader);
	*into = (struct dbms_tasks){ .server = s->postmaster,
				     .process = s->backend,
				     .makes_workers = s->workers_planned != 0,
				     .workers_planned = s->workers_planned,
				     .name = "postgres" };
	return 0;
}

/* ---- parallel workers ---- */

/* "postgres: parallel worker for PID 123 ", "postgres: io worker 0"; behind the first colon there
 * may be the name of the cluster, and "bgworker: " in old versions. */
enum postgresql_kind postgresql_kind(const char *title, pid_t backend)
{
	static const char first[] = "postgres: ", worker[] = "parallel worker for PID ",
			  reader[] = "io worker ";
	if (!title || strncmp(title, first, sizeof first - 1) != 0)
		return POSTGRESQL_UNTITLED;
	const char *of = strstr(title, worker), *io = strstr(title, reader);
	if (of)
		return strtol(of + sizeof worker - 1, NULL, 10) == backend ? POSTGRESQL_WORKER
									   : POSTGRESQL_OTHER;
	if (!io || !isdigit((unsigned char)io[sizeof reader - 1]))
		return POSTGRESQL_OTHER;
	/* a user "io" in a database "worker" has an address there */
	char *end;
	strtol(io + sizeof reader - 1, &end, 10);
	return end[strspn(end, " ")] ? POSTGRESQL_OTHER : POSTGRESQL_READER;
}

static bool has(const pid_t *pids, size_t count, pid_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

static bool is_known(const struct postgresql *s, pid_t pid)
{
	return has(s->others.items, s->others.count, pid) ||
	       has(s->workers.items, s->workers.count, pid);
}

static void note_worker(struct postgresql *s, pid_t pid, const char *title)
{
	enum postgresql_kind kind = postgresql_kind(title, s->said);
	if (kind == POSTGRESQL_WORKER)
		array_push(&s->workers, pid);
	else if (kind != POSTGRESQL_UNTITLED)
		array_push(&s->others, pid);
}

static void look_at(struct postgresql *s, pid_t pid)
{
	if (is_known(s, pid))
		return;
	/* one that was just forked has its parent's title still, and is asked again */
	FREED char *title = file_read_proc(pid, "cmdline");
	note_worker(s, pid, title);
}

void postgresql_look(struct postgresql *s)
{
	each_child(s, look_at);
}

/* A worker ends before its query does. Those without a title are taken for workers as long as the
 * plan has so many; of more, nobody can say which. */
void postgresql_ended(void *state, const struct dbms_end *ends, size_t count)
{
	struct postgresql *s = state;
	FREED ARRAY(pid_t) untitled = { 0 };
	for (size_t i = 0; i < count; i++) {
		if (is_known(s, ends[i].pid))
			continue;
		note_worker(s, ends[i].pid, ends[i].title);
		if (!is_known(s, ends[i].pid))
			array_push(&untitled, ends[i].pid);
	}
	if ((int64_t)(s->workers.count + untitled.count) > s->workers_planned)
		return;
	for (size_t i = 0; i < untitled.count; i++)
		array_push(&s->workers, untitled.items[i]);
}
