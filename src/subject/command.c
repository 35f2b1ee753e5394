#include "subject/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/guard.h"
#include "base/invoker.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "subject/child.h"

static const char *const stage_names[] = {
	[STAGE_EXEC] = "execute it",
	[STAGE_INPUT] = "open its input",
	[STAGE_OUTPUT] = "open its output",
	[STAGE_CPUS] = "pin it to the CPUs given",
	[STAGE_SCHEDULER] = "set its scheduling class",
	[STAGE_NICE] = "set its nice level",
	[STAGE_ASLR] = "turn off address randomisation",
	[STAGE_USER] = "become the user who typed sudo",
	[STAGE_DIRECTORY] = "enter its folder",
};

struct launcher {
	struct invoker user; /* present: drop to it */
	ARRAY(char *) env;   /* NULL-terminated; the last two slots are filled per start */
	size_t env_fixed;
	char padding[8192];
	char iteration[48];
	char name[PATH_MAX], path[PATH_MAX]; /* of the last command: where it was found */
	struct launch launch;
	struct launch_stamp stamp;
	struct child child;
	char *stack;
};

static bool is_replaced(const char *variable, bool dropped)
{
	static const char *const names[] = { "HYPERFINE_ITERATION=", "TARE_PADDING=",
					     /* the user's */
					     "HOME=", "USER=", "LOGNAME=", "MAIL=" };
	for (size_t i = 0; i < (dropped ? sizeof names / sizeof *names : 2); i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

int launcher_new(struct launcher **out, const struct launch *launch, struct error *err)
{
	struct launcher *l = xcalloc(1, sizeof *l);
	if (!launch->as_root)
		invoker_get(&l->user);
	if (invoker_check(&l->user, err)) {
		launcher_free(l);
		return -1;
	}
	for (char **e = environ; *e; e++)
		if (!is_replaced(*e, l->user.present))
			array_push(&l->env, xstrdup(*e));
	if (l->user.present) {
		array_push(&l->env, xprintf("HOME=%s", l->user.home));
		array_push(&l->env, xprintf("USER=%s", l->user.name));
		array_push(&l->env, xprintf("LOGNAME=%s", l->user.name));
	}
	l->env_fixed = l->env.count;
	for (int i = 0; i < 3; i++)
		array_push(&l->env, NULL);
	void *stack = mmap(NULL, CHILD_STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED) {
		launcher_free(l);
		return error_errno(err, EXIT_ENVIRONMENT, "cannot map memory");
	}
	l->stack = stack;
	guard_subjects();
	*out = l;
	return 0;
}

void launcher_free(struct launcher *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->env_fixed; i++)
		free(l->env.items[i]);
	array_release(&l->env);
	if (l->stack)
		munmap(l->stack, CHILD_STACK);
	free(l);
}

/* Looked up before the clock starts, as the subject's user would find it. */
static int find_program(const char *name, char *path, struct error *err)
{
	if (strchr(name, '/')) {
		if (strlen(name) >= PATH_MAX)
			return error_set(err, EXIT_USAGE, "cannot run '%s': the path is too long",
					 DISPLAYED(name, 256));
		memcpy(path, name, strlen(name) + 1);
		return 0; /* execve will tell what is wrong with it */
	}
	const char *list = getenv("PATH");
	int reason = ENOENT;
	for (const char *at = list && *list ? list : "/usr/bin:/bin";; at++) {
		size_t n = strcspn(at, ":");
		int length = snprintf(path, PATH_MAX, "%.*s%s%s", (int)n, at, n ? "/" : "", name);
		struct stat st;
		if (length < PATH_MAX && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
			if (access(path, X_OK) == 0)
				return 0;
			reason = EACCES;
		}
		at += n;
		if (!*at)
			break;
	}
	error_set(err, EXIT_USAGE, "cannot run '%s': %s", DISPLAYED(name, 256),
		  reason == EACCES ? "it is not executable" : "no such command in PATH");
	return error_hint(err, reason == EACCES ? "chmod +x it, or name its interpreter"
						: "check the spelling, or give its path");
}

int command_spawn(struct launcher *l, const struct launch *launch, char *const *argv,
		  struct command *c, struct error *err)
{
	if (!*l->name || strcmp(l->name, argv[0]) != 0) {
		if (find_program(argv[0], l->path, err))
			return -1;
		snprintf(l->name, sizeof l->name, "%s", argv[0]);
	}
	size_t at = l->env_fixed;
	l->env.items[at] = l->env.items[at + 1] = NULL;
	if (launch->iteration >= 0) {
		snprintf(l->iteration, sizeof l->iteration, "HYPERFINE_ITERATION=%ld",
			 launch->iteration);
		l->env.items[at++] = l->iteration;
	}
	if (launch->env_padding) {
		size_t most = sizeof l->padding - 16;
		size_t n = launch->env_padding < most ? launch->env_padding : most;
		memcpy(l->padding, "TARE_PADDING=", 13);
		memset(l->padding + 13, 'X', n);
		l->padding[13 + n] = '\0';
		l->env.items[at] = l->padding;
	}
	l->stamp = (struct launch_stamp){ 0 };
	*c = (struct command){ .pid = -1, .pidfd = -1, .output_fd = -1, .stamp = &l->stamp };
	int fds[2] = { -1, -1 };
	if (launch->output == OUTPUT_PIPE && pipe2(fds, O_CLOEXEC))
		return error_errno(err, EXIT_ENVIRONMENT, "cannot make a pipe");
	l->launch = *launch;
	/* from now on the group is not left to itself when tare exits */
	c->guarded = guard_process(0, 0);
	l->child = (struct child){ .launch = &l->launch,
				   .path = l->path,
				   .argv = argv,
				   .env = l->env.items,
				   .change_user = l->user.present,
				   .uid = l->user.uid,
				   .gid = l->user.gid,
				   .groups = l->user.groups,
				   .group_count = l->user.group_count,
				   .pipe_write = fds[1],
				   .group = guard_subjects(),
				   .parent = getpid(),
				   .stamp = &l->stamp };
	pid_t pid = child_start(&l->child, l->stack);
	int saved = errno;
	if (fds[1] >= 0)
		close(fds[1]);
	c->output_fd = fds[0];
	if (fds[0] >= 0)
		fcntl(fds[0], F_SETFL, O_NONBLOCK);
	if (pid > 0) {
		c->pid = pid;
		c->pidfd = process_open(pid);
		saved = errno;
	}
	if (pid > 0 && l->child.group < 0) {
		int place = c->guarded;
		c->guarded = guard_process(pid, 0);
		guard_release(place);
		/* The guard looks for its tree. If it were killed at once, its children would have
		 * no parent by then. */
		if (c->guarded)
			l->child.death_signal = SIGSTOP;
	}
	if (pid > 0 && c->pidfd >= 0)
		return 0;
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	command_release(c);
	return error_set(err, EXIT_ENVIRONMENT, "cannot start a process: %s", strerror(saved));
}

void command_start(struct command *c)
{
	__atomic_store_n(&c->stamp->gate, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &c->stamp->gate, FUTEX_WAKE, 1, NULL, NULL, 0);
}

int command_started(const struct command *c, const char *name, struct error *err)
{
	int failed = c->stamp->failed;
	if (!failed)
		return 0;
	bool theirs = c->stamp->stage == STAGE_EXEC || c->stamp->stage == STAGE_INPUT ||
		      c->stamp->stage == STAGE_OUTPUT || c->stamp->stage == STAGE_CPUS;
	error_set(err, theirs ? EXIT_USAGE : EXIT_ENVIRONMENT, "cannot run '%s': could not %s: %s",
		  DISPLAYED(name, 256), stage_names[c->stamp->stage], strerror(failed));
	struct stat st;
	bool there = stat(name, &st) == 0;
	if (c->stamp->stage == STAGE_SCHEDULER || c->stamp->stage == STAGE_NICE)
		error_hint(err, "that needs root (or CAP_SYS_NICE)");
	else if (c->stamp->stage != STAGE_EXEC)
		return -1;
	else if (failed == ENOEXEC)
		error_hint(err, "it is neither a program nor a script with a '#!' line");
	else if (failed == ENOENT && there)
		error_hint(
			err,
			"the interpreter that its first line or its ELF header names is missing");
	else if (failed == EACCES && there && S_ISDIR(st.st_mode))
		error_hint(err, "it is a directory");
	else if (failed == EACCES && there)
		error_hint(err, "chmod +x it, or name its interpreter");
	return -1;
}

void command_release(struct command *c)
{
	if (c->pidfd >= 0)
		close(c->pidfd);
	if (c->output_fd >= 0)
		close(c->output_fd);
	c->pidfd = c->output_fd = -1;
	guard_release(c->guarded);
	c->guarded = 0;
}
