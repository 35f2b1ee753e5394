#include <ctype.h>
#include <elf.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/invoker.h"
#include "binary/symbols_private.h"

#define SLACK_NS INT64_C(1000000000) /* clocks of files and of processes are coarse */
#define MAP_MAX (64 << 20)	     /* bytes of a perf map that are read */

/* "START SIZE name", numbers in hex. Later lines replace earlier ones: code is compiled again. */
void jit_parse(struct jit_map *j, const char *text)
{
	symbol_table_release(&j->table);
	j->table.latest = true;
	SCOPED(strbuf_release) struct strbuf name = { 0 };
	for (const char *line = text, *end; line && *line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (!work_on(j->table.work, 1))
			break;
		if (!isxdigit((unsigned char)*line))
			continue; /* strtoull would pass over any number of empty lines */
		char *rest, *after;
		uint64_t start = strtoull(line, &rest, 16);
		uint64_t size = strtoull(rest, &after, 16);
		size_t length = end ? (size_t)(end - line) : strlen(line);
		const char *stop = line + length;
		if (rest == line || after == rest || after >= stop || *after != ' ' || !size)
			continue;
		strbuf_clear(&name);
		strbuf_add(&name, after + 1, (size_t)(stop - after - 1));
		if (*name.text &&
		    !symbol_table_add(&j->table, start, size, name.text, STB_GLOBAL, STT_FUNC))
			break;
	}
	symbol_table_finish(&j->table);
}

/* What the process calls itself in its own namespace. */
static uint32_t inner_pid(uint32_t pid)
{
	FREED char *status = file_read_proc(pid, "status");
	char *line = status ? strstr(status, "\nNSpid:") : NULL;
	if (line) {
		char *at = line + strlen("\nNSpid:"), *rest;
		for (unsigned long n; (n = strtoul(at, &rest, 10), rest != at && *rest != '\0');) {
			pid = (uint32_t)n;
			at = rest;
			if (*at == '\n')
				break;
		}
	}
	return pid;
}

static int open_map(uint32_t pid)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%u/root", pid);
	CLOSED int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root >= 0) {
		/* no link in there may lead out of the process's own root */
		struct open_how how = { .flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
					.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
		snprintf(path, sizeof path, "tmp/perf-%u.map", inner_pid(pid));
		int fd = file_reopen_regular(
			(int)syscall(SYS_openat2, root, path, &how, sizeof how));
		if (fd >= 0)
			return fd;
	}
	snprintf(path, sizeof path, "/tmp/perf-%u.map", pid);
	return file_reopen_regular(open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW));
}

/* Anyone can put a file into /tmp: it must be the process's user who did. */
static bool may_be_believed(struct jit_map *j, uint32_t pid, uid_t owner)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%u", pid);
	if (stat(path, &st) == 0) {
		j->known = true;
		j->owner = st.st_uid;
	}
	if (owner == 0)
		return true;
	if (j->known)
		return owner == j->owner;
	struct invoker invoker;
	invoker_get(&invoker);
	return owner == geteuid() || (invoker.present && owner == invoker.uid);
}

/* When the process with this pid began, CLOCK_REALTIME; 0: there is none. */
static int64_t began_ns(uint32_t pid)
{
	FREED char *stat = file_read_proc(pid, "stat");
	const char *at = stat ? strrchr(stat, ')') : NULL; /* ends the second field */
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	uint64_t ticks = at ? strtoull(at, NULL, 10) : 0;
	long hz = sysconf(_SC_CLK_TCK);
	if (!at || hz <= 0)
		return 0;
	return clock_realtime_ns() - (int64_t)clock_boottime_ns() +
	       (int64_t)(ticks * (1000000000u / (uint64_t)hz));
}

static bool is_of_its_time(int64_t changed_ns, uint32_t pid, const struct jit_times *times)
{
	int64_t now_ns = began_ns(pid), from = times->began_ns;
	if (from && now_ns > from + SLACK_NS && changed_ns > now_ns)
		return false; /* of who has the pid now */
	if (!from)
		from = now_ns ? now_ns : times->session_ns;
	return from && changed_ns >= from - SLACK_NS;
}

static int64_t changed_ns(const struct stat *st)
{
	return st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec;
}

int jit_open(struct jit_map *j, uint32_t pid, const struct jit_times *times)
{
	struct stat st;
	int fd = open_map(pid);
	if (fd < 0 || (fstat(fd, &st) == 0 && may_be_believed(j, pid, st.st_uid) &&
		       is_of_its_time(changed_ns(&st), pid, times)))
		return fd;
	close(fd);
	return -1;
}

void jit_read(struct jit_map *j, int fd)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return;
	int64_t changed = changed_ns(&st);
	if (changed == j->changed_ns && (uint64_t)st.st_size == j->size)
		return;
	size_t wanted = st.st_size < MAP_MAX ? (size_t)st.st_size : MAP_MAX, done = 0;
	FREED char *text = xmalloc(wanted + 1);
	for (ssize_t n; done < wanted && (n = read(fd, text + done, wanted - done)) > 0;)
		done += (size_t)n;
	text[done] = '\0';
	jit_parse(j, text);
	j->changed_ns = changed;
	j->size = (uint64_t)st.st_size;
}

void jit_release(struct jit_map *j)
{
	symbol_table_release(&j->table);
}
