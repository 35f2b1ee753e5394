/* SQLite opens files when it needs them: the journal at the first write, temporary files in the
 * middle of a query, and at the end it removes some, by name. So it is not enough to be the invoker
 * while a database is opened; instead the system calls of SQLite that take a name are replaced. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/invoker.h"
#include "base/text.h"

/* A file beside a database. SQLite follows no link to it, and makes it with one name. */
static bool is_beside(const char *path)
{
	return text_ends_with(path, "-wal") || text_ends_with(path, "-shm") ||
	       text_ends_with(path, "-journal");
}

/* Whoever may write to the folder could have given a file of root's a second name there; SQLite
 * would write into it and give it to the owner of the database. */
static int refuse_second_names(const char *path, int fd)
{
	struct stat st;
	if (fd < 0 || geteuid() != 0 || !is_beside(path) || fstat(fd, &st) ||
	    !S_ISREG(st.st_mode) || st.st_nlink <= 1)
		return fd;
	close(fd);
	errno = EMLINK;
	return -1;
}

static int as_invoker_open(const char *path, int flags, int mode)
{
	AS_USER(as);
	if (invoker_begin(&as, NULL))
		return -1;
	return refuse_second_names(path, open(path, flags, mode));
}

/* The call of SQLite's table, which asks what the real user may do: here, what the invoker may. */
static int as_invoker_access(const char *path, int mode)
{
	AS_USER(as);
	return invoker_begin(&as, NULL) ? -1 : faccessat(AT_FDCWD, path, mode, AT_EACCESS);
}

#define AS_INVOKER(call, parameters, arguments)                        \
	static int as_invoker_##call parameters                        \
	{                                                              \
		AS_USER(as);                                           \
		return invoker_begin(&as, NULL) ? -1 : call arguments; \
	}

AS_INVOKER(stat, (const char *path, struct stat *st), (path, st))
AS_INVOKER(lstat, (const char *path, struct stat *st), (path, st))
AS_INVOKER(unlink, (const char *path), (path))
AS_INVOKER(mkdir, (const char *path, mode_t mode), (path, mode))
AS_INVOKER(rmdir, (const char *path), (path))
AS_INVOKER(fchmod, (int fd, mode_t mode), (fd, mode))

static ssize_t as_invoker_readlink(const char *path, char *into, size_t size)
{
	AS_USER(as);
	return invoker_begin(&as, NULL) ? -1 : readlink(path, into, size);
}

/* SQLite gives files beside a database to its owner, which is for root's own databases only. */
static int as_invoker_fchown(int fd, uid_t uid, gid_t gid)
{
	AS_USER(as);
	if (invoker_begin(&as, NULL))
		return -1;
	return geteuid() == 0 ? fchown(fd, uid, gid) : 0;
}

static bool replaced;

static void replace_calls(void)
{
	static const struct {
		const char *name;
		sqlite3_syscall_ptr call;
	} calls[] = {
		{ "open", (sqlite3_syscall_ptr)as_invoker_open },
		{ "access", (sqlite3_syscall_ptr)as_invoker_access },
		{ "stat", (sqlite3_syscall_ptr)as_invoker_stat },
		{ "lstat", (sqlite3_syscall_ptr)as_invoker_lstat },
		{ "readlink", (sqlite3_syscall_ptr)as_invoker_readlink },
		{ "unlink", (sqlite3_syscall_ptr)as_invoker_unlink },
		{ "mkdir", (sqlite3_syscall_ptr)as_invoker_mkdir },
		{ "rmdir", (sqlite3_syscall_ptr)as_invoker_rmdir },
		{ "fchmod", (sqlite3_syscall_ptr)as_invoker_fchmod },
		{ "fchown", (sqlite3_syscall_ptr)as_invoker_fchown },
	};
	sqlite3_vfs *vfs = sqlite3_vfs_find("unix");
	replaced = vfs && vfs->iVersion >= 3;
	for (size_t i = 0; replaced && i < sizeof calls / sizeof *calls; i++)
		replaced = vfs->xSetSystemCall(vfs, calls[i].name, calls[i].call) == SQLITE_OK;
}

int invoker_for_sqlite(struct error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct invoker who;
	pthread_once(&once, replace_calls);
	invoker_get(&who);
	if (replaced || (!who.present && !who.invalid))
		return 0;
	error_set(err, EXIT_ENVIRONMENT,
		  "this SQLite does not let its files be opened as the user who typed sudo");
	return error_hint(err, "'env -u SUDO_UID tare ...' opens them as root");
}
