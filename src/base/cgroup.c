#include "base/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"

#define PATIENCE_LOOKS 200
#define PATIENCE_PAUSE_NS 5000000

/* Where cgroup v2 is mounted, alone or beside v1. */
static bool find_mount(char *into, size_t size)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	bool found = false;
	while (f && !found && (m = getmntent(f))) {
		found = strcmp(m->mnt_type, "cgroup2") == 0 && strlen(m->mnt_dir) < size;
		if (found)
			snprintf(into, size, "%s", m->mnt_dir);
	}
	if (f)
		endmntent(f);
	return found;
}

bool cgroup_own(char *into, size_t size)
{
	char mount[128];
	if (!find_mount(mount, sizeof mount))
		return false;
	FREED char *text = file_read("/proc/self/cgroup");
	char *line = text;
	while (line && strncmp(line, "0::/", 4) != 0)
		line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
	const char *path = line ? line + 4 : "";
	int length = (int)strcspn(path, "\n");
	bool seen = strncmp(path, "..", 2) != 0 &&
		    (size_t)snprintf(into, size, "%s%s%.*s", mount, length ? "/" : "", length,
				     path) < size &&
		    access(into, F_OK) == 0;
	if (!seen)
		snprintf(into, size, "%s", mount);
	return true;
}

bool cgroup_write(const char *group, const char *name, const char *text)
{
	char path[CGROUP_PATH + 32];
	snprintf(path, sizeof path, "%s/%s", group, name);
	CLOSED int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, text, strlen(text)) >= 0;
}

bool cgroup_move(const char *group, pid_t pid)
{
	char text[24];
	snprintf(text, sizeof text, "%d", (int)pid);
	return cgroup_write(group, "cgroup.procs", text);
}

/* Calls visit for each group below. */
static void each_below(const char *group, const char *to, void (*visit)(const char *, const char *))
{
	DIR *directory = opendir(group);
	for (struct dirent *e; directory && (e = readdir(directory));) {
		char path[CGROUP_PATH];
		if (e->d_type == DT_DIR && *e->d_name != '.' &&
		    (size_t)snprintf(path, sizeof path, "%s/%s", group, e->d_name) < sizeof path)
			visit(path, to);
	}
	if (directory)
		closedir(directory);
}

/* Moves or kills each process of the group itself. */
static void empty(const char *group, const char *to)
{
	char path[CGROUP_PATH + 32];
	snprintf(path, sizeof path, "%s/cgroup.procs", group);
	char *pids = file_read(path), *at = pids, *next;
	for (long pid; at && (pid = strtol(at, &next, 10)) > 0; at = next) {
		if (to)
			cgroup_move(to, (pid_t)pid);
		else
			kill((pid_t)pid, SIGKILL);
	}
	free(pids);
}

/* Before Linux 5.14 there is no cgroup.kill. What is frozen neither forks nor exits, so numbers
 * stay those of its processes, and SIGKILL reaches it. */
static void kill_frozen(const char *group, const char *none)
{
	cgroup_write(group, "cgroup.freeze", "1");
	empty(group, none);
	each_below(group, none, kill_frozen);
	cgroup_write(group, "cgroup.freeze", "0");
}

void cgroup_kill(const char *group)
{
	if (!cgroup_write(group, "cgroup.kill", "1"))
		kill_frozen(group, NULL);
}

static void clear_once(const char *group, const char *to)
{
	if (!to)
		cgroup_kill(group);
	cgroup_write(group, "cgroup.freeze", "0");
	if (to)
		empty(group, to);
	each_below(group, to, clear_once);
	rmdir(group);
}

void cgroup_clear(const char *group, const char *to)
{
	for (int i = 0; i < PATIENCE_LOOKS; i++) {
		if (rmdir(group) == 0 || errno == ENOENT)
			return;
		clear_once(group, to);
		if (access(group, F_OK))
			return;
		nanosleep(&(struct timespec){ 0, PATIENCE_PAUSE_NS }, NULL);
	}
}
