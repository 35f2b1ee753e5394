/* Who made a run or a watch, so that it is known whether it may still be going; and who has the lab
 * locked. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "lab/sqlite.h"

/* Field 22 of /proc/PID/stat; -1 when there is no such process or it cannot be seen; 0, which no
 * process has, of one that has ended and nobody waits for, as in a container without an init. The
 * name in parentheses may hold anything, parentheses too. */
static int64_t process_start(int64_t pid)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
	char *text = file_read(path), *rest = text ? strrchr(text, ')') : NULL;
	int64_t start = -1;
	bool ended = rest && (strncmp(rest, ") Z", 3) == 0 || strncmp(rest, ") X", 3) == 0);
	for (int field = 2; rest && field < 22; field++) {
		rest = strchr(rest, ' ');
		rest += rest != NULL;
	}
	if (rest)
		start = ended ? 0 : strtoll(rest, NULL, 10);
	free(text);
	return start;
}

/* This boot and this pid namespace: pids mean something only within both. */
static void here(char boot[64], char space[64])
{
	char *text = file_read_line("/proc/sys/kernel/random/boot_id");
	snprintf(boot, 64, "%.63s", text ? text : "");
	free(text);
	ssize_t n = readlink("/proc/self/ns/pid", space, 63);
	space[n < 0 ? 0 : n] = '\0';
}

static bool owner_gone(int64_t pid, int64_t start, const char *boot, const char *space)
{
	char boot_now[64], space_now[64];
	here(boot_now, space_now);
	if (strcmp(boot, boot_now) != 0)
		return true;
	if (strcmp(space, space_now) != 0)
		return false; /* another container: it cannot be seen from here */
	int64_t now = process_start(pid);
	if (now >= 0)
		return now != start;
	/* /proc may hide other users' processes; the signal is not sent */
	return pid <= 0 || (kill((pid_t)pid, 0) && errno == ESRCH);
}

void lab_bind_owner(sqlite3_stmt *stmt, int *at)
{
	char boot[64], space[64];
	here(boot, space);
	sqlite3_bind_int64(stmt, (*at)++, getpid());
	sqlite3_bind_int64(stmt, (*at)++, process_start(getpid()));
	sqlite3_bind_text(stmt, (*at)++, boot, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(stmt, (*at)++, space, -1, SQLITE_TRANSIENT);
}

bool lab_owner_gone(sqlite3_stmt *stmt, int at)
{
	const char *boot = (const char *)sqlite3_column_text(stmt, at + 2);
	const char *space = (const char *)sqlite3_column_text(stmt, at + 3);
	return owner_gone(sqlite3_column_int64(stmt, at), sqlite3_column_int64(stmt, at + 1),
			  boot ? boot : "", space ? space : "");
}

static void owner_gone_sql(sqlite3_context *context, int count, sqlite3_value **values)
{
	(void)count;
	const char *boot = (const char *)sqlite3_value_text(values[2]);
	const char *space = (const char *)sqlite3_value_text(values[3]);
	sqlite3_result_int(context, owner_gone(sqlite3_value_int64(values[0]),
					       sqlite3_value_int64(values[1]), boot ? boot : "",
					       space ? space : ""));
}

void lab_add_owner_gone(struct lab *lab)
{
	sqlite3_create_function(lab->db, "owner_gone", 4, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL,
				owner_gone_sql, NULL, NULL);
}

/* read: id and owner of what says going; change: one of them is no more. */
static void mark(struct lab *lab, const char *read, const char *change)
{
	sqlite3_stmt *stmt = NULL, *update = NULL;
	ARRAY(int64_t) gone = { 0 };
	if (lab_prepare(lab, &stmt, read, "read", NULL))
		return;
	while (sqlite3_step(stmt) == SQLITE_ROW)
		if (lab_owner_gone(stmt, 1))
			array_push(&gone, sqlite3_column_int64(stmt, 0));
	sqlite3_finalize(stmt);
	/* readers derive the same, so nothing is lost where this cannot be written, and whoever
	 * opened the lab need not wait for it */
	sqlite3_busy_timeout(lab->db, 0);
	int failed = gone.count ? lab_prepare(lab, &update, change, "write", NULL) : 0;
	for (size_t i = 0; i < gone.count && !failed; i++) {
		sqlite3_bind_int64(update, 1, gone.items[i]);
		failed = lab_done(lab, update, "write", NULL);
	}
	sqlite3_busy_timeout(lab->db, LAB_BUSY_MS);
	sqlite3_finalize(update);
	array_release(&gone);
}

void lab_mark_abandoned(struct lab *lab)
{
	mark(lab, "SELECT id, " LAB_OWNER " FROM run WHERE status = 0",
	     "UPDATE run SET status = 2 WHERE id = ? AND status = 0");
	mark(lab, "SELECT id, " LAB_OWNER " FROM watch WHERE status = 0",
	     "UPDATE watch SET status = 2 WHERE id = ? AND status = 0");
}

/* The bytes that SQLite locks for writing (its os_unix.c): of the -shm file in WAL mode, and of the
 * lab itself with a rollback journal. */
#define WAL_WRITE_BYTE 120
#define RESERVED_BYTE 0x40000001

/* Who has this byte of a file locked for writing, by /proc/locks; 0: it is not known. Asking the
 * file itself would mean to open it, and closing it would drop SQLite's own locks. */
static long locker(const char *path, unsigned long long byte)
{
	struct stat st;
	long found = 0;
	FILE *locks = stat(path, &st) ? NULL : fopen("/proc/locks", "re");
	char line[256];
	while (locks && !found && fgets(line, sizeof line, locks)) {
		long pid;
		unsigned long long inode, from, to;
		if (sscanf(line, "%*s POSIX %*s WRITE %ld %*x:%*x:%llu %llu %llu", &pid, &inode,
			   &from, &to) == 4 &&
		    inode == st.st_ino && from <= byte && byte <= to && pid > 0 && pid != getpid())
			found = pid;
	}
	if (locks)
		fclose(locks);
	return found;
}

bool lab_hindered(const struct lab *lab, char words[LAB_WORDS])
{
	if (lab->failure == SQLITE_FULL) {
		snprintf(words, LAB_WORDS, "the disk is full");
		return true;
	}
	if (lab->failure != SQLITE_BUSY && lab->failure != SQLITE_LOCKED)
		return false;
	struct strbuf path = { 0 };
	char name[64];
	strbuf_printf(&path, "%s-shm", lab->path);
	long pid = locker(path.text, WAL_WRITE_BYTE);
	strbuf_release(&path);
	pid = pid ? pid : locker(lab->path, RESERVED_BYTE);
	snprintf(name, sizeof name, "/proc/%ld/comm", pid);
	char *comm = pid ? file_read_line(name) : NULL;
	text_display(comm ? comm : "", name, sizeof name);
	if (comm)
		snprintf(words, LAB_WORDS, "locked by PID %ld (%.40s)", pid, name);
	else
		snprintf(words, LAB_WORDS, "locked by another program");
	free(comm);
	return true;
}
