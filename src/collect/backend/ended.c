#include "collect/backend/ended.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"

/* Of all its threads, also those that ended. Anybody may ask. */
static bool cpu_of(pid_t pid, uint64_t *ns)
{
	clockid_t clock;
	struct timespec t;
	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return false;
	*ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return true;
}

static bool is_child(pid_t pid, pid_t parent)
{
	FREED char *status = file_read_proc(pid, "status");
	const char *at = status ? strstr(status, "\nPPid:") : NULL;
	return pid == parent || (at && strtol(at + strlen("\nPPid:"), NULL, 10) == parent);
}

/* The processes of the group. False if one is not the parent or a child of it. */
static bool list_living(const struct ended *e, ended_child_list *living)
{
	FREED char *path = xprintf("%s/cgroup.procs", e->group);
	FREED char *text = file_read(path);
	bool own = text != NULL;
	char *end;
	for (char *at = text; at && *at; at = end + strspn(end, "\n")) {
		pid_t pid = (pid_t)strtol(at, &end, 10);
		uint64_t ns;
		if (end == at)
			break;
		if (pid <= 0) { /* outside our pid namespace; to cpu_of() 0 would be ourselves */
			own = false;
			continue;
		}
		if (!cpu_of(pid, &ns)) /* gone */
			continue;
		array_push(living, (struct ended_child){ pid, ns });
		own &= is_child(pid, e->parent);
	}
	return own && living->count > 0;
}

/* "usage_usec 1234\nuser_usec 1000\nsystem_usec 234\n..." */
static bool read_group(struct ended *e)
{
	FREED char *path = xprintf("%s/cpu.stat", e->group);
	FREED char *text = file_read(path);
	unsigned long long user, system;
	const char *at = text ? strstr(text, "user_usec") : NULL;
	if (!at || sscanf(at, "user_usec %llu system_usec %llu", &user, &system) != 2)
		return false;
	e->user_ns = user * 1000;
	e->system_ns = system * 1000;
	return true;
}

static bool read_parent(struct ended *e)
{
	FREED char *stat = file_read_proc(e->parent, "stat");
	const char *at = stat ? strrchr(stat, ')') : NULL;
	unsigned long long user, system;
	/* fields 16 and 17; the third is the first behind the name */
	if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %llu %llu",
			  &user, &system) != 2)
		return false;
	uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	e->user_ns = user * tick_ns;
	e->system_ns = system * tick_ns;
	return true;
}

/* Version 2's: the line that begins with "0::". */
static char *group_of(pid_t pid)
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	FREED char *text = file_read_proc(pid, "cgroup");
	const char *at = text ? strstr(text, "0::/") : NULL;
	if (!at || (at > text && at[-1] != '\n'))
		return NULL;
	at += strlen("0::");
	for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++) {
		FREED char *path = xprintf("%s%.*s", mounts[i], (int)strcspn(at, "\n"), at);
		FREED char *stat = xprintf("%s/cpu.stat", path);
		FREED char *procs = xprintf("%s/cgroup.procs", path);
		if (access(stat, R_OK) == 0 && access(procs, R_OK) == 0)
			return xstrdup(path);
	}
	return NULL;
}

void ended_release(struct ended *e)
{
	free(e->group);
	array_release(&e->living);
	*e = (struct ended){ 0 };
}

void ended_begin(struct ended *e, pid_t parent)
{
	ended_release(e);
	e->parent = parent;
	if (!parent)
		return;
	e->group = group_of(parent);
	if (e->group && read_group(e) && list_living(e, &e->living))
		return;
	free(e->group);
	e->group = NULL;
	if (!read_parent(e))
		e->parent = 0;
}

/* What those in the group that live used since the beginning. */
static uint64_t used_by_living(const struct ended *e, const ended_child_list *now)
{
	uint64_t sum = 0;
	array_each(child, now) {
		uint64_t before = 0;
		array_each(had, &e->living)
			before = had->pid == child->pid ? had->cpu_ns : before;
		sum += child->cpu_ns > before ? child->cpu_ns - before : 0;
	}
	return sum;
}

bool ended_take(struct ended *e, struct task_record *into)
{
	struct ended now = { .parent = e->parent, .group = e->group };
	FREED ended_child_list living = { 0 };
	if (!e->parent || !(e->group ? read_group(&now) : read_parent(&now)))
		return false;
	if (e->group)
		list_living(e, &living); /* others that came meanwhile are left out, too */
	uint64_t user = now.user_ns - e->user_ns, system = now.system_ns - e->system_ns;
	uint64_t all = user + system, others = used_by_living(e, &living);
	*into = (struct task_record){
		.present = UINT64_C(1) << TASK_EXEC | UINT64_C(1) << TASK_USER |
			   UINT64_C(1) << TASK_SYSTEM,
		.at_ns = clock_monotonic_ns(),
		.tid = -e->parent, /* nobody's number */
		.tgid = -e->parent,
		.ppid = e->parent,
		.flags = TASK_IS_SUBJECT | TASK_HAS_EXITED | TASK_IS_SUM,
	};
	into->value[TASK_EXEC] = all > others ? all - others : 0;
	into->value[TASK_USER] = user;
	into->value[TASK_SYSTEM] = system;
	memcpy(into->comm, "(ended)", sizeof "(ended)");
	return true;
}
