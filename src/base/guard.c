#include "base/guard.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cgroup.h"
#include "base/file.h"
#include "base/invoker.h"
#include "base/process.h"

#define SLOTS 64
#define TEXT_MOST 1024
#define SERVER_PATIENCE_MS 5000
#define GUARD_PATIENCE_MS 1000
#define GUARD_PRIORITY 50 /* before a subject that takes all CPUs at a real-time priority */

enum kind { FREE, TAKEN, PROCESS, GROUP, FOLDER, CALL };

struct slot {
	_Atomic(enum kind) kind;
	pid_t pid;
	int signal;
	unsigned long long start; /* of the process */
	dev_t device;		  /* of the folder */
	ino_t inode;
	void (*call)(const char *text);
	char text[TEXT_MOST];
};

struct table {
	pid_t guard;
	struct slot slots[SLOTS];
};

static struct {
	struct table *table; /* NULL: there is no guard */
	pid_t tare;
	int fd; /* the guard's pidfd */
	bool grouped;
	int group_fd, group_slot, why_not;
	char own[CGROUP_PATH - 64], group[CGROUP_PATH];
} guard = { .fd = -1, .group_fd = -1 };

/* ---- in the guard, when tare is gone ---- */

static int open_process(const struct slot *s)
{
	struct process_look look;
	int fd = s->pid ? process_open(s->pid) : -1;
	if (fd >= 0 && process_look(s->pid, &look) && look.start == s->start)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool is_its_folder(const struct slot *s, struct stat *st)
{
	return lstat(s->text, st) == 0 && S_ISDIR(st->st_mode) && st->st_dev == s->device &&
	       st->st_ino == s->inode;
}

/* tare was killed as it made the folder: it is empty, and which it was is not known. So it is
 * removed with the rights of who made it or, if it was handed on already, of its owner. */
static void remove_unmade(const char *path)
{
	struct stat st;
	AS_USER(as);
	if (invoker_begin(&as, NULL) || rmdir(path) == 0)
		return;
	user_end(&as);
	if (lstat(path, &st) == 0 && st.st_uid != geteuid() &&
	    user_begin(&as, st.st_uid, st.st_gid, NULL, 0) == 0)
		rmdir(path);
}

/* Others may be able to write in the folder. What they put there is removed with its owner's
 * rights, so a link leads nowhere that the owner could not reach. */
static void remove_folder(const struct slot *s)
{
	struct stat st;
	AS_USER(as);
	if (!s->inode)
		remove_unmade(s->text);
	if (!s->inode || !is_its_folder(s, &st) ||
	    (st.st_uid != geteuid() && user_begin(&as, st.st_uid, st.st_gid, NULL, 0)))
		return;
	directory_empty(s->text);
	int failed = rmdir(s->text);
	user_end(&as);
	/* the folder above may be another's */
	if (failed && is_its_folder(s, &st))
		rmdir(s->text);
}

static void put_right(struct table *t)
{
	int servers[SLOTS];
	/* First whatever runs or is frozen, then settings, then what may take a while. */
	for (int i = 0; i < SLOTS; i++)
		if (t->slots[i].kind == GROUP)
			cgroup_kill(t->slots[i].text);
	for (int i = 0; i < SLOTS; i++) {
		const struct slot *s = &t->slots[i];
		servers[i] = s->kind == PROCESS ? open_process(s) : -1;
		if (servers[i] >= 0 && s->signal) {
			process_signal(servers[i], s->signal);
		} else if (servers[i] >= 0) {
			process_kill_tree(s->pid, servers[i]);
			servers[i] = -1;
		}
	}
	for (int i = 0; i < SLOTS; i++)
		if (t->slots[i].kind == CALL)
			t->slots[i].call(t->slots[i].text);
	for (int i = 0; i < SLOTS; i++)
		if (t->slots[i].kind == GROUP)
			cgroup_clear(t->slots[i].text, NULL);
	for (int i = 0; i < SLOTS; i++)
		if (servers[i] >= 0 && !process_ends(servers[i], SERVER_PATIENCE_MS))
			process_kill_tree(t->slots[i].pid, servers[i]);
	for (int i = 0; i < SLOTS; i++)
		if (t->slots[i].kind == FOLDER)
			remove_folder(&t->slots[i]);
}

/* ---- in the guard, at its start ---- */

/* The guard of a tare that another tare measures must not be ended with that one's subject: it
 * leaves the groups of tares, which are called tare-PID. */
static void leave_groups(void)
{
	char own[CGROUP_PATH];
	if (!cgroup_own(own, sizeof own))
		return;
	for (char *at = strstr(own, "/tare-"); at; at = strstr(at + 1, "/tare-")) {
		size_t length = strlen("/tare-");
		while (isdigit((unsigned char)at[length]))
			length++;
		if (length > strlen("/tare-") && (!at[length] || at[length] == '/')) {
			*at = '\0';
			cgroup_move(own, getpid());
			return;
		}
	}
}

/* So that neither `pgrep -f` nor a reader of ps takes it for tare. */
static void set_title(pid_t tare)
{
	size_t length = 0;
	FREED char *line = file_read_bytes("/proc/self/cmdline", &length);
	prctl(PR_SET_NAME, "tare-guard");
	if (!line || !length || strcmp(line, program_invocation_name) != 0)
		return;
	/* the arguments are one piece of memory that begins with the program's name */
	memset(program_invocation_name, 0, length);
	snprintf(program_invocation_name, length, "tare-guard %d", (int)tare);
}

static bool write_score(const char *text)
{
	CLOSED int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, text, strlen(text)) >= 0;
}

__attribute__((noreturn)) static void be_guard(struct table *t, int tare_fd, pid_t tare)
{
	setsid();
	user_forget(); /* tare may just be making a file as another user */
	/* it must not keep a terminal or a pipe of tare's open */
	if (tare_fd != 0)
		dup2(tare_fd, 0);
	close_range(1, ~0u, 0);
	for (int fd = 1; fd < 3; fd++)
		if (open("/dev/null", O_RDWR) != fd)
			break;
	set_title(tare);
	FREED char *score = file_read_line("/proc/self/oom_score_adj");
	bool spared = score && write_score("-1000");
	/* not handed on to a service that is started again */
	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK,
			   &(struct sched_param){ .sched_priority = GUARD_PRIORITY });
	leave_groups();
	struct pollfd gone = { .fd = 0, .events = POLLIN };
	while (poll(&gone, 1, -1) != 1)
		;
	if (spared)
		write_score(score);
	put_right(t);
	_exit(0);
}

/* ---- in tare ---- */

/* What is not released yet stays the guard's to do. Otherwise it ends before tare does, so that
 * nobody who waits for tare's tree finds it there. */
static void end(void)
{
	if (!guard.table || guard.tare != getpid())
		return;
	for (int i = 0; i < SLOTS; i++)
		if (i + 1 != guard.group_slot && guard.table->slots[i].kind != FREE)
			return;
	if (guard.group_slot) {
		cgroup_clear(guard.group, guard.own);
		guard_release(guard.group_slot);
	}
	if (process_signal(guard.fd, SIGKILL) == 0)
		process_ends(guard.fd, GUARD_PATIENCE_MS);
}

/* The guard is no child of tare: tare waits for all its children, and may end them. */
static pid_t fork_away(struct table *t, int self)
{
	int reaps = 0;
	pid_t tare = getpid();
	prctl(PR_GET_CHILD_SUBREAPER, &reaps);
	if (reaps)
		prctl(PR_SET_CHILD_SUBREAPER, 0);
	pid_t between = fork();
	if (between == 0) {
		pid_t pid = fork();
		if (pid == 0)
			be_guard(t, self, tare);
		t->guard = pid;
		_exit(0);
	}
	while (between > 0 && waitpid(between, NULL, 0) < 0 && errno == EINTR)
		;
	if (reaps)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	return between > 0 ? t->guard : -1;
}

void guard_start(void)
{
	static bool tried;
	if (tried)
		return;
	tried = true;
	int self = process_open(getpid());
	void *memory = self < 0 ? MAP_FAILED
				: mmap(NULL, sizeof(struct table), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		if (self >= 0)
			close(self);
		return;
	}
	/* signals stay blocked in the guard, with no handler of tare's to run */
	sigset_t all, before;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork_away(memory, self);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(self);
	guard.fd = pid > 0 ? process_open(pid) : -1;
	if (guard.fd < 0) {
		munmap(memory, sizeof(struct table));
		return;
	}
	guard.table = memory;
	guard.tare = getpid();
	atexit(end);
}

static struct slot *take(void)
{
	guard_start();
	for (int i = 0; guard.table && i < SLOTS; i++) {
		enum kind free_one = FREE;
		struct slot *s = &guard.table->slots[i];
		if (atomic_compare_exchange_strong(&s->kind, &free_one, TAKEN))
			return s;
	}
	return NULL;
}

static int give(struct slot *s, enum kind kind)
{
	atomic_store(&s->kind, kind);
	return (int)(s - guard.table->slots) + 1;
}

int guard_process(pid_t pid, int signal)
{
	struct process_look look = { 0 };
	struct slot *s = pid && !process_look(pid, &look) ? NULL : take();
	if (!s)
		return 0;
	s->pid = pid;
	s->signal = signal;
	s->start = look.start;
	return give(s, PROCESS);
}

static struct slot *take_text(const char *text)
{
	struct slot *s = strlen(text) < TEXT_MOST ? take() : NULL;
	if (s)
		snprintf(s->text, sizeof s->text, "%s", text);
	return s;
}

int guard_group(const char *path)
{
	struct slot *s = take_text(path);
	return s ? give(s, GROUP) : 0;
}

/* path may not exist yet. */
static int add_folder(const char *path)
{
	struct stat st = { 0 };
	if (lstat(path, &st))
		st.st_ino = 0;
	struct slot *s = take_text(path);
	if (!s)
		return 0;
	s->device = st.st_dev;
	s->inode = st.st_ino;
	return give(s, FOLDER);
}

int guard_folder(const char *path)
{
	FREED char *whole = realpath(path, NULL);
	return add_folder(whole ? whole : path);
}

bool guard_make_folder(char *template, int *number)
{
	size_t length = strlen(template);
	char *unique = template + length - 6;
	FREED char *text = xstrdup(template);
	guard_start(); /* with root's rights */
	AS_USER(as);
	if (invoker_begin(&as, NULL))
		return false;
	for (int i = 0; i < 100; i++) {
		static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					      "0123456789__";
		unsigned char random[6];
		if (getrandom(random, sizeof random, 0) != sizeof random)
			break;
		for (int k = 0; k < 6; k++)
			unique[k] = letters[random[k] % 64];
		if (faccessat(AT_FDCWD, template, F_OK, AT_EACCESS) == 0)
			continue;
		int before = add_folder(template);
		int failed = mkdir(template, 0700);
		if (!failed)
			*number = guard_folder(template);
		guard_release(before);
		if (!failed)
			return true;
		if (errno != EEXIST)
			break;
	}
	memcpy(template, text, length);
	return false;
}

int guard_call(void (*call)(const char *text), const char *text)
{
	struct slot *s = take_text(text);
	if (!s)
		return 0;
	s->call = call;
	return give(s, CALL);
}

void guard_release(int number)
{
	if (number > 0 && guard.table)
		atomic_store(&guard.table->slots[number - 1].kind, FREE);
}

/* ---- the group of subjects ---- */

/* 0, or errno. */
static int make_group(void)
{
	guard_start();
	if (!guard.table || !cgroup_own(guard.own, sizeof guard.own))
		return ENOENT;
	/* another tare, in another namespace, may have this number */
	int failed = EEXIST;
	for (int i = 0; failed == EEXIST && i < 10; i++) {
		char more[8] = "";
		if (i)
			snprintf(more, sizeof more, ".%d", i);
		snprintf(guard.group, sizeof guard.group, "%s/tare-%d%s", guard.own, (int)getpid(),
			 more);
		if (access(guard.group, F_OK) == 0)
			continue;
		/* the guard knows it before it exists */
		guard.group_slot = guard_group(guard.group);
		failed = mkdir(guard.group, 0755) ? errno : 0;
		if (failed)
			guard_release(guard.group_slot);
	}
	char weight[CGROUP_PATH + 16];
	snprintf(weight, sizeof weight, "%s/cpu.weight", guard.group);
	/* Where the group above gives its children the CPU controller (only the root can, while it
	 * has processes), subjects would be scheduled as one of them. */
	if (!failed && access(weight, F_OK) == 0) {
		rmdir(guard.group);
		guard_release(guard.group_slot);
		failed = EOPNOTSUPP;
	}
	if (failed)
		guard.group_slot = 0;
	return failed;
}

int guard_subjects(void)
{
	if (!guard.grouped) {
		guard.grouped = true;
		guard.why_not = make_group();
		if (!guard.why_not) {
			guard.group_fd = open(guard.group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			guard.why_not = guard.group_fd < 0 ? errno : 0;
			/* pressure would be accounted for once more at each switch */
			cgroup_write(guard.group, "cgroup.pressure", "0");
		}
	}
	errno = guard.why_not;
	return guard.group_fd;
}

const char *guard_subjects_path(void)
{
	return guard_subjects() >= 0 ? guard.group : NULL;
}

void guard_enter(const char *group)
{
	int fd = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (guard.group_fd >= 0)
		close(guard.group_fd);
	guard.group_fd = fd;
}
