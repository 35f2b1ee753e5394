#include "collect/backend/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"

enum {
	FLAG_EXITING =
		0x00000004, /* include/linux/sched.h, part of the ABI through /proc/PID/stat */
	FLAG_KTHREAD = 0x00200000,
	USER_TICK_NS = 10000000, /* USER_HZ is 100 on every architecture but alpha and ia64 */
};

struct procfs {
	int proc;
	pid_t self;
	bool delays;
	_Alignas(struct dirent64) char entries[16384];
};

/* Parsing */

struct cursor {
	const char *at, *end;
};

/* A decimal integer; a negative one as its two's complement. */
static bool take_number(struct cursor *c, uint64_t *value)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
		c->at++;
	bool negative = c->at < c->end && *c->at == '-';
	c->at += negative;
	const char *first = c->at;
	uint64_t n = 0;
	for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (unsigned)(*c->at - '0'), &n))
			return false;
	*value = negative ? -n : n;
	return c->at > first;
}

static void set(struct task_record *into, enum task_measure m, uint64_t value)
{
	into->value[m] = value;
	into->present |= UINT64_C(1) << m;
}

/* Fields of /proc/PID/stat as proc(5) numbers them. */
enum {
	STAT_PPID = 4,
	STAT_FLAGS = 9,
	STAT_MIN_FLT = 10,
	STAT_MAJ_FLT = 12,
	STAT_UTIME = 14,
	STAT_STIME = 15,
	STAT_THREADS = 20,
	STAT_START = 22,
	STAT_VSIZE = 23,
	STAT_RSS = 24,
	STAT_POLICY = 41, /* the last that every kernel has */
	STAT_BLKIO = 42,
	STAT_FIELDS,
};

bool stat_parse(const char *text, size_t length, struct task_record *into, struct stat_extra *extra)
{
	struct cursor c = { text, text + length };
	uint64_t tid, f[STAT_FIELDS] = { 0 };
	if (!take_number(&c, &tid) || c.end - c.at < 2 || c.at[0] != ' ' || c.at[1] != '(')
		return false;
	/* the name may hold anything, parentheses too; what follows it has none */
	const char *name = c.at + 2, *close = memrchr(name, ')', (size_t)(c.end - name));
	if (!close || c.end - close < 4)
		return false;
	size_t name_length = (size_t)(close - name);
	memset(into->comm, 0, sizeof into->comm);
	memcpy(into->comm, name,
	       name_length < sizeof into->comm ? name_length : sizeof into->comm - 1);
	extra->state = close[2];
	c.at = close + 3;
	int field = STAT_PPID;
	while (field < STAT_FIELDS && take_number(&c, &f[field]))
		field++;
	if (field <= STAT_POLICY)
		return false;
	into->tid = (int32_t)tid;
	into->ppid = (int32_t)f[STAT_PPID];
	into->start_ns = f[STAT_START] * USER_TICK_NS;
	set(into, TASK_MIN_FLT, f[STAT_MIN_FLT]);
	set(into, TASK_MAJ_FLT, f[STAT_MAJ_FLT]);
	set(into, TASK_USER, f[STAT_UTIME] * USER_TICK_NS);
	set(into, TASK_SYSTEM, f[STAT_STIME] * USER_TICK_NS);
	if (f[STAT_FLAGS] & FLAG_KTHREAD) {
		into->flags |= TASK_IS_KERNEL;
	} else {
		set(into, TASK_VM, f[STAT_VSIZE]);
		set(into, TASK_RSS, f[STAT_RSS] * (uint64_t)sysconf(_SC_PAGESIZE));
	}
	extra->flags = (uint32_t)f[STAT_FLAGS];
	extra->threads = f[STAT_THREADS];
	extra->has_blkio = field > STAT_BLKIO;
	extra->blkio_ticks = f[STAT_BLKIO];
	return true;
}

/* Lines "key: number", each of which may be in the table. True when any was. */
struct line {
	const char *key; /* with its colon */
	enum task_measure measure;
	unsigned scale;
};

static bool lines_parse(const char *text, size_t length, const struct line *table, size_t rows,
			struct task_record *into)
{
	bool any = false;
	const char *end = text + length;
	for (const char *at = text; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		/* a line cut short may show a cut number */
		if (!newline)
			break;
		for (size_t i = 0; i < rows; i++) {
			size_t key = strlen(table[i].key);
			if ((size_t)(newline - at) <= key || memcmp(at, table[i].key, key) != 0)
				continue;
			struct cursor c = { at + key, newline };
			uint64_t value;
			if (take_number(&c, &value)) {
				set(into, table[i].measure, value * table[i].scale);
				any = true;
			}
			break;
		}
		at = newline + 1;
	}
	return any;
}

bool status_parse(const char *text, size_t length, struct task_record *into)
{
	static const struct line table[] = {
		{ "VmSize:", TASK_VM, 1024 },
		{ "VmHWM:", TASK_RSS_PEAK, 1024 },
		{ "VmRSS:", TASK_RSS, 1024 },
		{ "voluntary_ctxt_switches:", TASK_NVCSW, 1 },
		{ "nonvoluntary_ctxt_switches:", TASK_NIVCSW, 1 },
	};
	return lines_parse(text, length, table, sizeof table / sizeof *table, into);
}

bool io_parse(const char *text, size_t length, struct task_record *into)
{
	static const struct line table[] = {
		{ "rchar:", TASK_RCHAR, 1 },
		{ "wchar:", TASK_WCHAR, 1 },
		{ "syscr:", TASK_SYSCR, 1 },
		{ "syscw:", TASK_SYSCW, 1 },
		{ "read_bytes:", TASK_READ_BYTES, 1 },
		{ "write_bytes:", TASK_WRITE_BYTES, 1 },
		{ "cancelled_write_bytes:", TASK_CANCELLED_WRITE_BYTES, 1 },
	};
	return lines_parse(text, length, table, sizeof table / sizeof *table, into);
}

bool schedstat_parse(const char *text, size_t length, struct task_record *into)
{
	struct cursor c = { text, text + length };
	uint64_t exec, delay, turns;
	if (!take_number(&c, &exec) || !take_number(&c, &delay) || !take_number(&c, &turns) ||
	    c.at == c.end)
		return false;
	/* a kernel without CONFIG_SCHED_INFO prints zeros for everyone; so does a task that has
	 * never run, but that one has no ticks either */
	if (!exec && !turns && (into->value[TASK_USER] || into->value[TASK_SYSTEM]))
		return false;
	set(into, TASK_EXEC, exec);
	set(into, TASK_RUN_DELAY, delay);
	return true;
}

/* Reading */

int procfs_open(struct procfs **out, struct error *err)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0 || faccessat(proc, "self/stat", R_OK, 0) != 0) {
		error_errno(err, EXIT_ENVIRONMENT, "cannot read /proc");
		if (proc >= 0)
			close(proc);
		return error_hint(err, "mount it: mount -t proc proc /proc");
	}
	struct procfs *p = xcalloc(1, sizeof *p);
	p->proc = proc;
	p->self = getpid();
	procfs_delays_kept(p);
	*out = p;
	return 0;
}

void procfs_close(struct procfs *p)
{
	if (!p)
		return;
	close(p->proc);
	free(p);
}

bool procfs_delays_kept(struct procfs *p)
{
	FREED char *text = file_read_line("/proc/sys/kernel/task_delayacct");
	/* kernels before 5.14 have no such file, and keep delays unless booted with nodelayacct */
	p->delays = text ? strcmp(text, "0") != 0 : errno == ENOENT;
	return p->delays;
}

bool procfs_is_gone(const struct stat_extra *extra)
{
	return extra->state == 'Z' || extra->state == 'X' || extra->state == 'x' ||
	       (extra->flags & FLAG_EXITING);
}

/* The bytes of a small file; 0 when it cannot be read, -1 when its task is gone. */
static ssize_t read_at(int directory, const char *name, char *buffer, size_t size)
{
	CLOSED int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ESRCH ? -1 : 0;
	ssize_t got = read(fd, buffer, size);
	if (got < 0)
		got = errno == ESRCH ? -1 : 0;
	return got;
}

static bool read_files(struct procfs *p, int task, unsigned files, struct task_record *into,
		       struct stat_extra *extra)
{
	char text[8192];
	ssize_t got = read_at(task, "stat", text, sizeof text);
	if (got <= 0 || !stat_parse(text, (size_t)got, into, extra))
		return false;
	into->at_ns = clock_monotonic_ns();
	if (p->delays && extra->has_blkio)
		set(into, TASK_BLKIO_DELAY, extra->blkio_ticks * USER_TICK_NS);
	if (files & PROCFS_SCHEDSTAT) {
		if ((got = read_at(task, "schedstat", text, sizeof text)) > 0)
			schedstat_parse(text, (size_t)got, into);
	}
	if (files & PROCFS_STATUS) {
		if ((got = read_at(task, "status", text, sizeof text)) < 0)
			return false;
		status_parse(text, (size_t)got, into);
	}
	if (files & PROCFS_IO) {
		if ((got = read_at(task, "io", text, sizeof text)) > 0)
			io_parse(text, (size_t)got, into);
	}
	return true;
}

bool procfs_task(struct procfs *p, pid_t tgid, pid_t tid, unsigned files, struct task_record *into,
		 struct stat_extra *extra)
{
	memset(into, 0, sizeof *into);
	char path[64];
	snprintf(path, sizeof path, "%d/task/%d", (int)tgid, (int)tid);
	/* through one directory, so that all files are of the same task even if the id is reused */
	CLOSED int task = openat(p->proc, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (task < 0)
		return false;
	bool read = read_files(p, task, files, into, extra);
	into->tgid = tgid;
	if (tgid == tid)
		into->flags |= TASK_IS_LEADER;
	if (tgid == p->self)
		into->flags |= TASK_IS_SELF;
	return read;
}

/* Appends the names in an open directory that are numbers. */
static int list_numbers(struct procfs *p, int directory, procfs_pids *into)
{
	for (;;) {
		ssize_t got = getdents64(directory, p->entries, sizeof p->entries);
		if (got <= 0)
			return (int)got;
		for (ssize_t at = 0; at < got;) {
			const struct dirent64 *entry = (const void *)(p->entries + at);
			struct cursor c = { entry->d_name, entry->d_name + strlen(entry->d_name) };
			uint64_t number;
			if (*c.at != '-' && take_number(&c, &number) && c.at == c.end)
				array_push(into, (pid_t)number);
			at += entry->d_reclen;
		}
	}
}

void procfs_each_thread(struct procfs *p, pid_t tgid, unsigned files, procfs_visitor *each,
			void *context)
{
	struct task_record leader, task;
	struct stat_extra extra;
	if (!procfs_task(p, tgid, tgid, files, &leader, &extra))
		return;
	uint64_t threads = extra.threads;
	each(context, &leader, &extra);
	if (threads == 1)
		return;
	char path[32];
	snprintf(path, sizeof path, "%d/task", (int)tgid);
	CLOSED int directory = openat(p->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return;
	FREED procfs_pids tids = { 0 };
	list_numbers(p, directory, &tids);
	for (size_t i = 0; i < tids.count; i++) {
		if (tids.items[i] != tgid &&
		    procfs_task(p, tgid, tids.items[i], files, &task, &extra))
			each(context, &task, &extra);
	}
}

static int list_processes(struct procfs *p, procfs_pids *pids, struct error *err)
{
	procfs_delays_kept(p);
	if (lseek(p->proc, 0, SEEK_SET) != 0 || list_numbers(p, p->proc, pids) != 0)
		return error_errno(err, EXIT_ENVIRONMENT, "cannot list /proc");
	return 0;
}

int procfs_each(struct procfs *p, unsigned files, procfs_visitor *each, void *context,
		struct error *err)
{
	FREED procfs_pids pids = { 0 };
	int failed = list_processes(p, &pids, err);
	for (size_t i = 0; i < pids.count; i++)
		procfs_each_thread(p, pids.items[i], files, each, context);
	return failed;
}

int procfs_each_process(struct procfs *p, unsigned files, procfs_visitor *each, void *context,
			struct error *err)
{
	FREED procfs_pids pids = { 0 };
	int failed = list_processes(p, &pids, err);
	for (size_t i = 0; i < pids.count; i++) {
		struct task_record leader;
		struct stat_extra extra;
		if (procfs_task(p, pids.items[i], pids.items[i], files, &leader, &extra))
			each(context, &leader, &extra);
	}
	return failed;
}

static void add_child(void *context, struct task_record *task, const struct stat_extra *extra)
{
	(void)extra;
	if (task->ppid == getpid())
		array_push((procfs_pids *)context, task->tgid);
}

void procfs_children(struct procfs *p, procfs_pids *into)
{
	FREED procfs_pids threads = { 0 };
	bool told = false;
	CLOSED int directory = openat(p->proc, "self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory >= 0)
		list_numbers(p, directory, &threads);
	for (size_t i = 0; i < threads.count; i++) {
		char path[64];
		snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)threads.items[i]);
		FREED char *text = file_read(path);
		if (!text)
			continue;
		told = true;
		struct cursor c = { text, text + strlen(text) };
		for (uint64_t child; take_number(&c, &child);)
			array_push(into, (pid_t)child);
	}
	if (!told) /* a kernel without CONFIG_PROC_CHILDREN */
		procfs_each_process(p, PROCFS_STAT, add_child, into, NULL);
}
