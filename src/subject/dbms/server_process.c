#include "subject/dbms/server_process.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/invoker.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "base/text.h"

#define COMMAND_PATIENCE_NS UINT64_C(600000000000)

bool server_user_find(const char *name, struct server_user *into)
{
	*into = (struct server_user){ 0 };
	if (!name || geteuid() != 0)
		return true;
	const struct passwd *pw = getpwnam(name);
	if (!pw)
		return false;
	into->change = pw->pw_uid != 0;
	into->name = name;
	snprintf(into->home, sizeof into->home, "%s", pw->pw_dir);
	into->uid = pw->pw_uid;
	into->gid = pw->pw_gid;
	int count = sizeof into->groups / sizeof *into->groups;
	bool all = getgrouplist(name, pw->pw_gid, into->groups, &count) >= 0;
	into->group_count = all ? (size_t)count : 0;
	return all;
}

int server_user_begin(const struct server_user *user, struct as_user *as)
{
	return user->change ? user_begin(as, user->uid, user->gid, user->groups, user->group_count)
			    : 0;
}

/* ---- in the child: nothing but system calls ---- */

enum stage { STAGE_BECOME, STAGE_ENTER, STAGE_OUTPUT, STAGE_EXEC };
struct report {
	enum stage stage;
	int error;
};

struct start {
	char *const *words;
	const struct server_user *user;
	const char *directory;
	int output; /* or -1: a log in the directory */
	int death_signal;
	int report;
	pid_t parent;
};

static bool write_pid(void)
{
	char digits[16], *at = digits + sizeof digits;
	*--at = '\n';
	for (pid_t pid = getpid(); pid; pid /= 10)
		*--at = (char)('0' + pid % 10);
	CLOSED int fd =
		open(SERVER_PID, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	size_t length = (size_t)(digits + sizeof digits - at);
	return fd >= 0 && write(fd, at, length) == (ssize_t)length;
}

static bool redirect(const struct start *s)
{
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC), out = s->output;
	if (out < 0)
		out = open(SERVER_LOG, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
			   0600);
	return in >= 0 && out >= 0 && (s->output >= 0 || write_pid()) && dup2(in, 0) == 0 &&
	       dup2(out, 1) == 1 && dup2(out, 2) == 2;
}

static void tell(const struct start *s, enum stage stage)
{
	struct report report = { .stage = stage, .error = errno };
	ssize_t told = write(s->report, &report, sizeof report);
	_exit(told == (ssize_t)sizeof report ? 126 : 127);
}

__attribute__((noreturn)) static void child(const struct start *s)
{
	sigset_t none;
	sigemptyset(&none);
	setsid();
	const struct server_user *user = s->user;
	if (user->change && !user_become(user->uid, user->gid, user->groups, user->group_count))
		tell(s, STAGE_BECOME);
	/* after the change of user, which clears it */
	if (s->death_signal && prctl(PR_SET_PDEATHSIG, s->death_signal) == 0 &&
	    getppid() != s->parent)
		_exit(127);
	if (s->directory && chdir(s->directory))
		tell(s, STAGE_ENTER);
	if (!redirect(s))
		tell(s, STAGE_OUTPUT);
	close_range(3, UINT_MAX, CLOSE_RANGE_CLOEXEC);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(s->words[0], s->words);
	tell(s, STAGE_EXEC);
	_exit(127);
}

/* ---- in tare ---- */

/* *guarded: for guard_release(). */
static int start(struct start *s, pid_t *pid, int *guarded, struct error *err)
{
	int fds[2];
	*guarded = 0;
	guard_start(); /* so that it need not be forked while the process is unguarded */
	if (pipe2(fds, O_CLOEXEC))
		return error_errno(err, EXIT_ENVIRONMENT, "cannot make a pipe");
	s->report = fds[1];
	s->parent = getpid();
	pid_t made = fork();
	if (made == 0)
		child(s);
	int why = errno;
	if (made > 0)
		*guarded = guard_process(made, s->death_signal);
	struct report report;
	close(fds[1]);
	/* closed by exec: nothing comes */
	ssize_t told = 0;
	while (made > 0 && (told = read(fds[0], &report, sizeof report)) < 0 && errno == EINTR)
		;
	close(fds[0]);
	if (made < 0)
		return error_set(err, EXIT_ENVIRONMENT, "cannot start a process: %s",
				 strerror(why));
	if (told != (ssize_t)sizeof report) {
		*pid = made;
		return 0;
	}
	waitpid(made, NULL, 0);
	guard_release(*guarded);
	*guarded = 0;
	const char *who = s->user->change ? s->user->name : "this user";
	switch (report.stage) {
	case STAGE_BECOME:
		return error_set(err, EXIT_ENVIRONMENT, "cannot become %s: %s", who,
				 strerror(report.error));
	case STAGE_ENTER:
		error_set(err, EXIT_ENVIRONMENT, "%s cannot enter %s: %s", who, s->directory,
			  strerror(report.error));
		return error_hint(err, "the directories above it must let that user through");
	case STAGE_OUTPUT:
		return error_set(err, EXIT_ENVIRONMENT, "cannot write a log in %s: %s",
				 s->directory ? s->directory : "it", strerror(report.error));
	case STAGE_EXEC:
		break;
	}
	return error_set(err, EXIT_ENVIRONMENT, "cannot run %s: %s", s->words[0],
			 strerror(report.error));
}

/* Of what it said, the first line that tells of an error, else the last that says anything. */
static void telling_line(int fd, char *out, size_t size)
{
	lseek(fd, 0, SEEK_SET);
	char *text = file_read_from(fd), *rest = text, *line, *told = NULL, *last = NULL;
	while ((line = strsep(&rest, "\r\n"))) {
		line += strspn(line, " \t");
		last = *line ? line : last;
		if (!told && strcasestr(line, "error"))
			told = line;
	}
	text_display(told ? told : last ? last : "it said nothing", out, size);
	free(text);
}

static int await_command(pid_t pid, int *status)
{
	uint64_t until = clock_monotonic_ns() + COMMAND_PATIENCE_NS;
	while (clock_monotonic_ns() < until) {
		pid_t ended = waitpid(pid, status, WNOHANG);
		if (ended == pid)
			return 0;
		if (ended < 0 && errno != EINTR)
			return -1;
		poll(NULL, 0, 5);
	}
	kill(-pid, SIGKILL);
	return waitpid(pid, status, 0) == pid ? 0 : -1;
}

int server_command_run(char *const *words, const struct server_user *user, const char *directory,
		       struct error *err)
{
	int status = 0, output = memfd_create("tare", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (output < 0)
		return error_errno(err, EXIT_ENVIRONMENT, "cannot make a file in memory");
	struct start s = { .words = words, .user = user, .directory = directory, .output = output };
	pid_t pid = 0;
	int guarded, failed = start(&s, &pid, &guarded, err);
	if (!failed && (await_command(pid, &status) || status)) {
		char said[500], name[200];
		telling_line(output, said, sizeof said);
		text_display(words[0], name, sizeof name);
		const char *how = WIFSIGNALED(status) ? "was ended by signal" : "failed with";
		failed = error_set(err, EXIT_ENVIRONMENT, "%s %s %d: %s", name, how,
				   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
				   said);
	}
	guard_release(guarded);
	/* a daemon that the command left behind may hold it: it must not fill the memory */
	fcntl(output, F_ADD_SEALS, F_SEAL_WRITE);
	close(output);
	return failed;
}

int server_process_start(char *const *words, const struct server_user *user, const char *directory,
			 int stop_signal, pid_t *pid, int *guarded, struct error *err)
{
	struct start s = { .words = words,
			   .user = user,
			   .directory = directory,
			   .output = -1,
			   .death_signal = stop_signal };
	return start(&s, pid, guarded, err);
}

/* The number may have become another process's: the server's working directory is its data's. */
pid_t server_process_find(const char *directory, const struct server_user *user)
{
	char path[PATH_MAX], cwd[PATH_MAX];
	struct stat st;
	long pid = 0;
	AS_USER(as);
	if (snprintf(path, sizeof path, "%s/" SERVER_PID, directory) >= (int)sizeof path ||
	    server_user_begin(user, &as))
		return 0;
	FREED char *text = file_read_line(path);
	user_end(&as);
	bool told = text && integer_parse(text, 2, INT_MAX, &pid);
	if (!told)
		return 0;
	snprintf(path, sizeof path, "/proc/%ld/cwd", pid);
	ssize_t length = readlink(path, cwd, sizeof cwd - 1);
	if (length < 0)
		return 0;
	cwd[length] = '\0';
	/* that user wrote the number: it must not be another's process, which would be ended */
	snprintf(path, sizeof path, "/proc/%ld", pid);
	bool theirs = stat(path, &st) == 0 && (!user->change || st.st_uid == user->uid);
	return theirs && strcmp(cwd, directory) == 0 ? (pid_t)pid : 0;
}

bool server_process_await_end(pid_t pid, unsigned ms)
{
	CLOSED int fd = process_open(pid);
	if (fd < 0)
		return errno == ESRCH || errno == EINVAL;
	bool ended = process_ends(fd, ms);
	if (ended)
		waitpid(pid, NULL, 0);
	return ended;
}
