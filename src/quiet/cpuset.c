/* An isolated partition of CPUs: a cgroup (v2) that has them for itself. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/guard.h"
#include "quiet/change.h"

#define NAME "tare-quiet"

/* Where cgroup v2 is, if it has cpusets to give; NULL: not here. */
static const char *hierarchy(void)
{
	static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		char path[96];
		snprintf(path, sizeof path, "%s/cgroup.controllers", places[i]);
		FREED char *text = file_read_line(path);
		if (text && strstr(text, "cpuset"))
			return places[i];
	}
	return NULL;
}

/* A file of the cgroup at `directory`. */
static char *read_of(const char *directory, const char *file)
{
	FREED char *path = xprintf("%s/%s", directory, file);
	return file_read_line(path);
}

static int write_of(const char *directory, const char *file, const char *value, struct error *err)
{
	FREED char *path = xprintf("%s/%s", directory, file);
	CLOSED int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t length = strlen(value);
	if (fd >= 0 && write(fd, value, length) == (ssize_t)length)
		return 0;
	return error_errno(err, EXIT_ENVIRONMENT, "cannot write '%s' to %s", value, path);
}

static char *parent_of(const char *directory)
{
	return xstrndup(directory, (size_t)(strrchr(directory, '/') - directory));
}

/* It is never gone: not to be there is a value. */
static enum reading cpuset_now(const struct quiet_options *o, const struct change *c, char **value,
			       struct error *err)
{
	struct stat st;
	(void)o;
	*value = NULL;
	if (stat(c->what, &st) == 0) {
		/* Where it is there: its CPUs and kind. A cgroup without cpusets has neither file.
		 */
		static const char *const files[] = { "cpuset.cpus", "cpuset.cpus.partition" };
		SCOPED(strbuf_release) struct strbuf out = { 0 };
		for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
			FREED char *text = read_of(c->what, files[i]);
			if (!text && reading_of_errno(err) == READ_FAILED)
				return READ_FAILED;
			strbuf_printf(&out, "%s%s", i ? " " : "", text ? text : "");
		}
		*value = strbuf_detach(&out);
		return READ_VALUE;
	}
	if (reading_of_errno(err) == READ_FAILED)
		return READ_FAILED;
	FREED char *parent = parent_of(c->what), *given = read_of(parent, "cgroup.subtree_control");
	if (given)
		*value = xstrdup(strstr(given, "cpuset") ? "absent" : "absent -cpuset");
	else
		error_errno(err, EXIT_ENVIRONMENT, "%s", parent);
	return given ? READ_VALUE : READ_FAILED;
}

static int cpuset_remove(const char *directory, const char *parent, bool controller,
			 struct error *err)
{
	struct stat st;
	if (stat(directory, &st) == 0) {
		write_of(directory, "cpuset.cpus.partition", "member", NULL);
		/* whoever is still in there goes to the parent: a cgroup with processes cannot be
		 * removed */
		FREED char *text = read_of(directory, "cgroup.procs");
		char *rest = text;
		for (char *pid; rest && (pid = strsep(&rest, "\n"));)
			if (*pid)
				write_of(parent, "cgroup.procs", pid, NULL);
		if (rmdir(directory) && errno != ENOENT)
			return error_errno(err, EXIT_ENVIRONMENT, "cannot remove %s", directory);
	}
	return controller ? write_of(parent, "cgroup.subtree_control", "-cpuset", err) : 0;
}

/* value: "absent", or "CPUS isolated" */
static int cpuset_put(const struct quiet_options *o, const struct change *c, const char *value,
		      struct error *err)
{
	FREED char *parent = parent_of(c->what);
	bool controller = strstr(c->before, "-cpuset");
	(void)o;
	if (strncmp(value, "absent", 6) == 0)
		return cpuset_remove(c->what, parent, controller, err);
	FREED char *cpus = xstrndup(value, strcspn(value, " "));
	int failed = write_of(parent, "cgroup.subtree_control", "+cpuset", err);
	if (!failed && mkdir(c->what, 0755) && errno != EEXIST)
		failed = error_errno(err, EXIT_ENVIRONMENT, "cannot make %s", c->what);
	if (!failed)
		failed = write_of(c->what, "cpuset.cpus", cpus, err) ||
			 write_of(c->what, "cpuset.cpus.partition", "isolated", err);
	/* the kernel takes the write and says in the file why it cannot be */
	FREED char *kind = failed ? NULL : read_of(c->what, "cpuset.cpus.partition");
	if (kind && strcmp(kind, "isolated") != 0)
		failed = error_set(err, EXIT_ENVIRONMENT, "the kernel says '%s'", kind);
	if (failed) /* half of one is of no use */
		cpuset_remove(c->what, parent, controller, NULL);
	return failed ? -1 : 0;
}

const struct change_ops cpuset_ops = { cpuset_now, cpuset_put };

int plan_cpuset(const struct quiet_options *o, const struct quiet_knob *k, change_list *out,
		struct error *err)
{
	SCOPED(strbuf_release) struct strbuf wanted = { 0 };
	struct error why = ERROR_INIT;
	(void)err;
	if (strcmp(k->name, "cpuset") != 0 || !quiet_is_machine(o))
		return 0;
	const char *where = hierarchy();
	FREED char *path = xprintf("%s/" NAME, where ? where : "/sys/fs/cgroup");
	cpus_text(o->isolate, o->isolate_count, &wanted);
	strbuf_puts(&wanted, " isolated");
	struct change *c = change_add(out, CHANGE_CPUSET, k->name, path, NULL, wanted.text);
	if (!where)
		change_judge(c, QUIET_ABSENT, "cgroup v2 has no cpusets here");
	else if (cpuset_now(o, c, &c->before, &why) != READ_VALUE)
		change_judge(c, QUIET_REFUSED, "it cannot be read: %s", why.text);
	return 0;
}

static int guarded; /* the group that was entered, for guard_release() */

int quiet_enter(const struct quiet_options *o, int pid, struct error *err)
{
	const char *where = quiet_is_machine(o) ? hierarchy() : NULL;
	char number[16];
	struct stat st;
	FREED char *path = xprintf("%s/" NAME, where ? where : "");
	snprintf(number, sizeof number, "%d", pid);
	if (!where || stat(path, &st))
		return 0;
	/* it leaves the group in which the guard would find what it starts */
	quiet_left();
	guarded = guard_group(path);
	return write_of(path, "cgroup.procs", number, err);
}

void quiet_left(void)
{
	guard_release(guarded);
	guarded = 0;
}
