/* Which processes of this machine evaluate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "subject/dbms/peer.h"
#include "subject/dbms/postgresql/postgresql.h"

static char *proc_read(pid_t pid, const char *name)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return file_read(path);
}

/* "postgres" begins its name. */
static bool is_postgres(pid_t pid)
{
	FREED char *comm = proc_read(pid, "comm");
	return comm && strncmp(comm, "postgres", 8) == 0;
}

int postgresql_tasks(void *state, struct dbms_tasks *into, struct error *err)
{
	struct postgresql *s = state;
	char address[INET6_ADDRSTRLEN] = "an unknown address";
	pid_t backend;
	/* not PQbackendPID(): behind a pooler that is the pooler's */
	int64_t number;
	if (postgresql_driver.number(s, "SELECT pg_backend_pid()", &number, err))
		return -1;
	backend = (pid_t)number;
	if (!peer_is_here(s->pq->PQsocket(s->connection), address))
		return error_set(err, EXIT_ENVIRONMENT, "the server is on another machine: %s",
				 address);
	FREED char *status = proc_read(backend, "status");
	const char *at = status ? strstr(status, "\nPPid:") : NULL;
	pid_t parent = at ? (pid_t)strtol(at + strlen("\nPPid:"), NULL, 10) : 0;
	if (!is_postgres(backend) || !is_postgres(parent)) {
		error_set(err, EXIT_ENVIRONMENT,
			  "the server is on another machine: its process %d is not one of "
			  "PostgreSQL here",
			  (int)backend);
		return error_hint(err, "a server in a container numbers its processes in its own "
				       "way, and a tunnel leads elsewhere: measure where it runs");
	}
	s->backend = backend;
	s->postmaster = parent;
	*into = (struct dbms_tasks){ .server = s->postmaster,
				     .process = s->backend,
				     .makes_workers = s->workers_planned != 0,
				     .name = "postgres" };
	return 0;
}

/* ---- parallel workers ---- */

static bool is_known(const struct postgresql *s, pid_t pid)
{
	for (size_t i = 0; i < s->others.count; i++)
		if (s->others.items[i] == pid)
			return true;
	for (size_t i = 0; i < s->workers.count; i++)
		if (s->workers.items[i] == pid)
			return true;
	return false;
}

static char *read_children(const struct postgresql *s)
{
	char name[32];
	snprintf(name, sizeof name, "task/%d/children", (int)s->postmaster);
	return proc_read(s->postmaster, name);
}

void postgresql_workers_note(struct postgresql *s)
{
	char *children = read_children(s), *end;
	for (char *at = children; at && *at; at = end) {
		pid_t pid = (pid_t)strtol(at, &end, 10);
		if (end == at)
			break;
		if (!is_known(s, pid)) {
			/* By its title, "postgres: parallel worker for PID 123 ". One that was just
			 * forked has its parent's title still, and is asked again. */
			static const char words[] = "parallel worker for PID ";
			FREED char *title = proc_read(pid, "cmdline");
			if (title && strncmp(title, "postgres: ", 10) == 0) {
				const char *of = strstr(title, words);
				if (of && strtol(of + sizeof words - 1, NULL, 10) == s->backend)
					array_push(&s->workers, pid);
				else
					array_push(&s->others, pid);
			}
		}
	}
	free(children);
}

void postgresql_workers_begin(struct postgresql *s)
{
	s->workers.count = s->others.count = 0;
	if (s->postmaster)
		postgresql_workers_note(s);
}
