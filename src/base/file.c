#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/text.h"

#define USER_ENTRY_MAX (1UL << 20) /* bytes: a directory service may have long ones */

static char *read_to_end(int fd, size_t *length)
{
	SCOPED(strbuf_release) struct strbuf sb = { 0 };
	char chunk[16384];
	ssize_t n;
	while ((n = read(fd, chunk, sizeof chunk)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return NULL;
		strbuf_add(&sb, chunk, (size_t)n);
	}
	*length = sb.length;
	return strbuf_detach(&sb);
}

char *file_read_from(int fd)
{
	size_t length;
	return read_to_end(fd, &length);
}

char *file_read_bytes(const char *path, size_t *length)
{
	CLOSED int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? NULL : read_to_end(fd, length);
}

char *file_read(const char *path)
{
	size_t length;
	return file_read_bytes(path, &length);
}

char *file_read_proc(long pid, const char *name)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%ld/%s", pid, name);
	return file_read(path);
}

char *file_read_line(const char *path)
{
	char *text = file_read(path);
	if (text) {
		size_t n = strlen(text);
		while (n && strchr(" \t\r\n", text[n - 1]))
			text[--n] = '\0';
	}
	return text;
}

int file_reopen_regular(int at)
{
	struct stat st;
	int fd = -1;
	if (at < 0)
		return -1;
	if (fstat(at, &st) == 0 && S_ISREG(st.st_mode)) {
		char name[64];
		snprintf(name, sizeof name, "/proc/self/fd/%d", at);
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
	close(at);
	return fd;
}

int file_open_regular(const char *path)
{
	return file_reopen_regular(open(path, O_PATH | O_CLOEXEC));
}

static int write_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t n = write(fd, bytes, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		bytes += n;
		length -= (size_t)n;
	}
	return 0;
}

static int write_in_place(const char *path, const char *bytes, size_t length)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return -1;
	int failed = write_all(fd, bytes, length);
	return close(fd) != 0 || failed ? -1 : 0;
}

static int write_beside(const char *path, const char *bytes, size_t length)
{
	FREED char *beside = xprintf("%s.XXXXXX", path);
	int fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return -1;
	mode_t mask = umask(0);
	umask(mask);
	int failed = write_all(fd, bytes, length) || fchmod(fd, 0666 & ~mask);
	failed |= close(fd) != 0;
	if (!failed)
		failed = rename(beside, path);
	if (failed) {
		int saved = errno;
		unlink(beside);
		errno = saved;
	}
	return failed ? -1 : 0;
}

int file_write(const char *path, const char *bytes, size_t length, struct error *err)
{
	int failed;
	struct stat st;
	if (strcmp(path, "-") == 0) {
		failed = write_all(STDOUT_FILENO, bytes, length);
	} else if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		/* a device or pipe (/dev/stdout, a fifo) must not be replaced by a file */
		failed = write_in_place(path, bytes, length);
	} else {
		invoker_begin();
		FREED char *real = realpath(path, NULL); /* where a link leads */
		failed = write_beside(real ? real : path, bytes, length);
		if (failed && real && (errno == EACCES || errno == EROFS))
			failed = write_in_place(real, bytes, length);
		int saved = errno;
		invoker_end();
		errno = saved;
	}
	if (!failed)
		return 0;
	char shown[256];
	bool room = errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO;
	text_display(strcmp(path, "-") == 0 ? "standard output" : path, shown, sizeof shown);
	return error_errno(err, room ? EXIT_ENVIRONMENT : EXIT_USAGE, "cannot write %s", shown);
}

bool directory_is_own(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IRWXG | S_IRWXO));
}

bool directory_own(const char *path)
{
	return (mkdir(path, 0700) == 0 || errno == EEXIST) && directory_is_own(path);
}

const char *runtime_directory(void)
{
	const char *told = getenv("TARE_RUNTIME_DIR");
	if (!told || !*told)
		return "/run/tare";
	return *told == '/' ? told : NULL;
}

/* Not getpwuid(): labs are opened by several threads. */
static bool fill_in_user(struct invoker *into, uid_t uid)
{
	struct passwd entry, *pw = NULL;
	size_t size = 4096;
	FREED char *room = xmalloc(size);
	while (getpwuid_r(uid, &entry, room, size, &pw) == ERANGE && size < USER_ENTRY_MAX) {
		size *= 2;
		room = xrealloc(room, size);
	}
	if (pw) {
		snprintf(into->name, sizeof into->name, "%s", pw->pw_name);
		snprintf(into->home, sizeof into->home, "%s", pw->pw_dir);
	}
	return pw;
}

void invoker_get(struct invoker *into)
{
	*into = (struct invoker){ 0 };
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	long u, g;
	if (geteuid() != 0 || !uid || !*uid || strcmp(uid, "0") == 0)
		return;
	/* the highest number means "no id" */
	if (!integer_parse(uid, 0, UINT32_MAX - 1L, &u) || !gid ||
	    !integer_parse(gid, 0, UINT32_MAX - 1L, &g) || !fill_in_user(into, (uid_t)u)) {
		*into = (struct invoker){ .invalid = true };
		return;
	}
	if (u == 0) {
		*into = (struct invoker){ 0 };
		return;
	}
	into->present = true;
	into->uid = (uid_t)u;
	into->gid = (gid_t)g;
}

void invoker_begin(void)
{
	struct invoker who;
	invoker_get(&who);
	if (who.present) {
		setfsgid(who.gid);
		setfsuid(who.uid);
	}
}

void invoker_end(void)
{
	if (geteuid() == 0) {
		setfsuid(0);
		setfsgid(getegid());
	}
}

int invoker_check(const struct invoker *who, struct error *err)
{
	if (!who->invalid)
		return 0;
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	char user[64], group[64];
	text_display(uid ? uid : "", user, sizeof user);
	text_display(gid ? gid : "", group, sizeof group);
	error_set(err, EXIT_USAGE,
		  "cannot run as the user who typed sudo: SUDO_UID '%s' with SUDO_GID '%s' names "
		  "no user",
		  user, group);
	return error_hint(err, "--as-root runs the command as root");
}

char *file_find_program(const char *directories, const char *name)
{
	SCOPED(strbuf_release) struct strbuf path = { 0 };
	while (*directories) {
		size_t length = strcspn(directories, ":");
		strbuf_clear(&path);
		strbuf_printf(&path, "%.*s/%s", (int)length, directories, name);
		if (length && access(path.text, X_OK) == 0)
			return strbuf_detach(&path);
		directories += length + (directories[length] == ':');
	}
	return NULL;
}
