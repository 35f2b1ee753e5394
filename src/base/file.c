#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/guard.h"
#include "base/invoker.h"
#include "base/links.h"
#include "base/strbuf.h"
#include "base/text.h"

char *file_read_bytes_from(int fd, size_t *length)
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
	return file_read_bytes_from(fd, &length);
}

char *file_read_bytes(const char *path, size_t *length)
{
	CLOSED int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? NULL : file_read_bytes_from(fd, length);
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

static char *without_end(char *text)
{
	if (text) {
		size_t n = strlen(text);
		while (n && strchr(" \t\r\n", text[n - 1]))
			text[--n] = '\0';
	}
	return text;
}

char *file_read_line(const char *path)
{
	return without_end(file_read(path));
}

char *invoker_read(const char *path, size_t *length)
{
	CLOSED int fd = invoker_open(path, O_RDONLY);
	return fd < 0 ? NULL : file_read_bytes_from(fd, length);
}

char *invoker_read_line(const char *path)
{
	size_t length;
	return without_end(invoker_read(path, &length));
}

/* The file that a descriptor of O_PATH stands for, whatever is at its name by now. */
static int reopen(int at, int flags)
{
	char name[64];
	snprintf(name, sizeof name, "/proc/self/fd/%d", at);
	return open(name, flags | O_CLOEXEC);
}

int file_reopen_regular(int at)
{
	struct stat st;
	int fd = -1;
	if (at < 0)
		return -1;
	if (fstat(at, &st) == 0 && S_ISREG(st.st_mode))
		fd = reopen(at, O_RDONLY | O_NONBLOCK);
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

/* The file itself, if its folder may not be written to. Emptied only once it is open. */
static int write_in_place(int at, bool regular, const char *bytes, size_t length)
{
	int fd = reopen(at, O_WRONLY | O_NOCTTY);
	if (fd < 0)
		return -1;
	int failed = (regular && ftruncate(fd, 0)) || write_all(fd, bytes, length);
	return close(fd) != 0 || failed ? -1 : 0;
}

/* In the guard: tare was killed while it wrote a new file beside its place. */
static void remove_beside(const char *path)
{
	AS_USER(as);
	if (invoker_begin(&as, NULL) == 0)
		unlink(path);
}

/* A number for guard_release(). */
static int guard_beside(int folder, const char *name)
{
	char link[64], path[PATH_MAX];
	snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
	ssize_t n = readlink(link, path, sizeof path);
	FREED char *whole = xprintf("%.*s/%s", n > 0 ? (int)n : 0, path, name);
	return n > 0 && n < (ssize_t)sizeof path ? guard_call(remove_beside, whole) : 0;
}

/* Within a folder that is open, so that nobody can put another in its place meanwhile. */
static int write_beside(int folder, const char *name, const char *bytes, size_t length)
{
	uint64_t number;
	if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
		return -1;
	FREED char *beside = xprintf("%.200s.%016" PRIx64, name, number);
	int guarded = guard_beside(folder, beside);
	int fd = openat(folder, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	int failed = fd < 0 || write_all(fd, bytes, length);
	if (fd >= 0 && close(fd) && !failed)
		failed = -1;
	if (!failed)
		failed = renameat(folder, beside, folder, name);
	int saved = errno;
	if (failed && fd >= 0)
		unlinkat(folder, beside, 0);
	guard_release(guarded);
	errno = saved;
	return failed ? -1 : 0;
}

static int write_as_user(const char *path, const char *bytes, size_t length, uid_t user)
{
	struct stat st;
	SCOPED(found_release) struct found found;
	if (links_follow(path, user, &found) || (found.file >= 0 && fstat(found.file, &st)))
		return -1;
	bool regular = found.file < 0 || S_ISREG(st.st_mode);
	/* a device or pipe must not be replaced by a file */
	if (!regular || found.folder < 0)
		return write_in_place(found.file, regular, bytes, length);
	if (!write_beside(found.folder, found.name, bytes, length))
		return 0;
	return found.file >= 0 && (errno == EACCES || errno == EROFS)
		       ? write_in_place(found.file, true, bytes, length)
		       : -1;
}

static int write_anywhere(const char *path, const char *bytes, size_t length, struct error *err)
{
	int given = STDOUT_FILENO;
	if (strcmp(path, "-") == 0 || descriptor_named(path, &given))
		return given < 0 ? -1 : write_all(given, bytes, length);
	struct invoker who;
	AS_USER(as);
	if (invoker_begin(&as, err))
		return -1;
	invoker_get(&who);
	return write_as_user(path, bytes, length, who.present ? who.uid : geteuid());
}

int file_write(const char *path, const char *bytes, size_t length, struct error *err)
{
	struct error who = ERROR_INIT;
	if (!write_anywhere(path, bytes, length, &who))
		return 0;
	if (*who.text) {
		if (err)
			*err = who;
		return -1;
	}
	char shown[256];
	bool room = errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO;
	text_display(strcmp(path, "-") == 0 ? "standard output" : path, shown, sizeof shown);
	return error_errno(err, room ? EXIT_ENVIRONMENT : EXIT_USAGE, "cannot write %s", shown);
}

/* Whether nobody but root can put another folder in the place of one in this folder. */
static bool is_roots_way(int folder)
{
	struct stat st, above;
	CLOSED int at = fcntl(folder, F_DUPFD_CLOEXEC, 0);
	while (at >= 0 && fstat(at, &st) == 0 && st.st_uid == 0 &&
	       (!(st.st_mode & (S_IWGRP | S_IWOTH)) || st.st_mode & S_ISVTX)) {
		int up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		scope_close(&at);
		at = up;
		if (up >= 0 && fstat(up, &above) == 0 && above.st_ino == st.st_ino &&
		    above.st_dev == st.st_dev)
			return true;
	}
	return false;
}

static bool settle(const char *path, bool make)
{
	struct stat st;
	SCOPED(found_release) struct found found;
	size_t length = strlen(path);
	while (length > 1 && path[length - 1] == '/')
		length--;
	FREED char *plain = xstrndup(path, length);
	if (links_follow(plain, geteuid(), &found) || found.folder < 0 ||
	    (geteuid() == 0 && !is_roots_way(found.folder)))
		return false;
	if (make && mkdirat(found.folder, found.name, 0700) && errno != EEXIST)
		return false;
	return lstat(plain, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IRWXG | S_IRWXO));
}

bool directory_is_own(const char *path)
{
	return settle(path, false);
}

bool directory_own(const char *path)
{
	return settle(path, true);
}

static int remove_below(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	return where->level ? remove(path) : 0;
}

void directory_empty(const char *path)
{
	nftw(path, remove_below, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

const char *runtime_directory(void)
{
	const char *told = getenv("TARE_RUNTIME_DIR");
	if (!told || !*told)
		return "/run/tare";
	return *told == '/' ? told : NULL;
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
