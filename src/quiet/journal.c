#include "quiet/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

#define TITLE "tare-quiet 1"
#define FIELDS 6

void journal_release(struct journal *j)
{
	if (j->fd >= 0)
		close(j->fd);
	free(j->path);
	changes_release(&j->changes);
	*j = (struct journal)JOURNAL_INIT;
}

static char *boot_id(void)
{
	char *id = file_read_line("/proc/sys/kernel/random/boot_id");
	return id ? id : xstrdup("unknown");
}

/* ---- the place ---- */

static char *journal_path(const struct quiet_options *o, struct error *err)
{
	const char *directory = quiet_is_machine(o) ? runtime_directory() : "/run/tare";
	if (o->journal)
		return xstrdup(o->journal);
	if (!directory) {
		error_set(err, EXIT_USAGE,
			  "cannot tell where the journal is: TARE_RUNTIME_DIR is no full path");
		return NULL;
	}
	return xprintf("%s%s/quiet.journal", o->root ? o->root : "", directory);
}

bool quiet_is_journalled(const struct quiet_options *o)
{
	if (quiet_is_machine(o) && geteuid() != 0)
		return false;
	FREED char *path = journal_path(o, NULL);
	return path && access(path, F_OK) == 0;
}

static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash > path ? xstrndup(path, (size_t)(slash - path))
				     : xstrdup(slash ? "/" : ".");
}

static int directory_make(const char *directory, struct error *err)
{
	FREED char *above = directory_of(directory);
	mkdir(above, 0755); /* if it fails, what comes next says why */
	/* nobody else may put a journal there: root would believe it */
	if (directory_own(directory))
		return 0;
	if (access(directory, F_OK) == 0)
		error_set(err, EXIT_ENVIRONMENT,
			  "cannot keep the journal in %s: it is another's, or open to others",
			  directory);
	else
		error_errno(err, EXIT_ENVIRONMENT, "cannot make %s for the journal", directory);
	return error_hint(err, "nothing was changed; set TARE_RUNTIME_DIR to a directory of "
			       "your own");
}

/* ---- writing ---- */

static void put_field(struct strbuf *out, const char *text)
{
	strbuf_putc(out, '\t');
	for (; *text; text++) {
		const char *plain = strchr("\\\t\n", *text);
		if (plain)
			strbuf_putc(out, '\\');
		strbuf_putc(out, *text == '\t' ? 't' : *text == '\n' ? 'n' : *text);
	}
}

/* All of it or nothing: what comes next must not continue half a line. */
static int append(struct journal *j, const char *text, size_t length)
{
	off_t end = lseek(j->fd, 0, SEEK_END);
	ssize_t n;
	do
		n = write(j->fd, text, length);
	while (n < 0 && errno == EINTR);
	if (n >= 0 && (size_t)n == length)
		return 0;
	int reason = n < 0 ? errno : ENOSPC;
	if (end >= 0 && ftruncate(j->fd, end))
		reason = errno;
	errno = reason;
	return -1;
}

/* Without a name until it is whole and on disk, so there is never half a journal, and a tare that
 * is killed meanwhile leaves nothing. File systems that cannot do so get another name. */
static bool open_nameless(struct journal *j, const char *directory)
{
	j->fd = open(directory, O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
	return j->fd >= 0;
}

static int name_it(const struct journal *j)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", j->fd);
	return linkat(AT_FDCWD, path, AT_FDCWD, j->path, AT_SYMLINK_FOLLOW);
}

static int write_whole(struct journal *j, const char *beside)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	FREED char *boot = boot_id(), *directory = directory_of(j->path);
	strbuf_printf(&text, TITLE "\nboot\t%s\nowner\t%d\t%llu\nsince\t%" PRId64 "\n", boot,
		      j->owner, j->owner_start, j->since_ns);
	for (size_t i = 0; i < j->changes.count; i++) {
		const struct change *c = &j->changes.items[i];
		strbuf_printf(&text, "change\t%d\t%s", (int)c->kind, c->knob);
		put_field(&text, c->what);
		put_field(&text, c->before);
		put_field(&text, c->wanted);
		strbuf_putc(&text, '\n');
	}
	strbuf_puts(&text, "begin\n");
	bool nameless = open_nameless(j, directory);
	if (!nameless) {
		unlink(beside);
		j->fd = open(beside, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			     0600);
	}
	int failed = j->fd < 0 || flock(j->fd, LOCK_EX | LOCK_NB) ||
		     append(j, text.text, text.length) || fsync(j->fd) ||
		     (nameless ? name_it(j) : link(beside, j->path));
	int saved = errno;
	if (!nameless)
		unlink(beside);
	errno = saved;
	CLOSED int above = failed ? -1 : open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!failed && (above < 0 || fsync(above))) {
		saved = errno;
		unlink(j->path);
		errno = saved;
		failed = -1;
	}
	return failed ? -1 : 0;
}

int journal_create(struct journal *j, const struct quiet_options *o, int owner, struct error *err)
{
	struct process_look look = { 0 };
	char *path = journal_path(o, err);
	if (!path)
		return -1;
	FREED char *directory = directory_of(path);
	j->path = path;
	j->owner = owner;
	j->since_ns = clock_realtime_ns();
	FREED char *beside = xprintf("%s.%d", path, (int)getpid());
	int failed = directory_make(directory, err);
	if (!failed && !process_look(owner, &look))
		failed = error_set(err, EXIT_USAGE, "there is no process %d", owner);
	j->owner_start = look.start;
	if (!failed && write_whole(j, beside)) {
		if (errno == EEXIST)
			failed = error_set(err, EXIT_USAGE,
					   "the machine is being made quiet by "
					   "another process already");
		else
			failed = error_set(err, EXIT_ENVIRONMENT,
					   "cannot write the journal %s: %s: nothing was changed",
					   path, strerror(errno));
	}
	if (failed && j->fd >= 0) {
		close(j->fd);
		j->fd = -1;
	}
	return failed;
}

static int __attribute__((format(printf, 3, 4)))
add_line(struct journal *j, struct error *err, const char *fmt, ...)
{
	SCOPED(strbuf_release) struct strbuf line = { 0 };
	va_list args;
	va_start(args, fmt);
	strbuf_vprintf(&line, fmt, args);
	va_end(args);
	strbuf_putc(&line, '\n');
	if (append(j, line.text, line.length))
		return error_errno(err, EXIT_ENVIRONMENT, "cannot write the journal %s", j->path);
	return 0;
}

int journal_made(struct journal *j, size_t number, const char *after, struct error *err)
{
	SCOPED(strbuf_release) struct strbuf field = { 0 };
	if (after)
		put_field(&field, after);
	return add_line(j, err, "made\t%zu%s", number, strbuf_text(&field));
}

int journal_refused(struct journal *j, size_t number, struct error *err)
{
	return add_line(j, err, "refused\t%zu", number);
}

int journal_keep(struct journal *j, struct error *err)
{
	return add_line(j, err, "keep");
}

int journal_leave(struct journal *j, struct error *err)
{
	return add_line(j, err, "left");
}

int journal_open_use(const struct quiet_options *o, const char *knob, bool make)
{
	FREED char *journal = journal_path(o, NULL);
	FREED char *directory = journal ? directory_of(journal) : NULL;
	if (!journal || (make && directory_make(directory, NULL)))
		return -1;
	FREED char *path = xprintf("%s.%s", journal, knob);
	return open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (make ? O_CREAT : 0), 0600);
}

int journal_restoring(struct journal *j, struct error *err)
{
	struct process_look own = { 0 };
	if (ftruncate(j->fd, j->whole))
		return error_errno(err, EXIT_ENVIRONMENT, "cannot write the journal %s", j->path);
	process_look(getpid(), &own);
	return add_line(j, err, "restoring\t%d\t%llu", (int)getpid(), own.start);
}

int journal_finished(struct journal *j, size_t number, struct error *err)
{
	return add_line(j, err, "finished\t%zu", number);
}

int journal_remove(struct journal *j, struct error *err)
{
	if (unlink(j->path) && errno != ENOENT)
		return error_errno(err, EXIT_ENVIRONMENT, "cannot remove the journal %s", j->path);
	return 0;
}

/* ---- reading ---- */

/* Cuts the line at its tabs and undoes put_field() in place. */
static size_t split(char *line, char *fields[FIELDS])
{
	size_t count = 0;
	for (char *next = line; next && count < FIELDS;) {
		char *from = strsep(&next, "\t"), *to = from;
		fields[count++] = from;
		for (; *from; from++) {
			if (*from == '\\' && from[1]) {
				from++;
				*to++ = *from == 't' ? '\t' : *from == 'n' ? '\n' : *from;
			} else {
				*to++ = *from;
			}
		}
		*to = '\0';
	}
	return count;
}

static bool read_mark(struct journal *j, size_t count, char **f)
{
	long number;
	if (count < 2 || !integer_parse(f[1], 0, (long)j->changes.count - 1, &number))
		return false;
	struct change *c = &j->changes.items[number];
	bool finished = strcmp(f[0], "finished") == 0, refused = strcmp(f[0], "refused") == 0;
	c->begun |= !finished;
	c->finished |= finished || refused;
	if (finished || refused)
		return true;
	free(c->after);
	c->after = count == 3 ? xstrdup(f[2]) : NULL;
	return count <= 3;
}

static bool read_line(struct journal *j, char *line, bool *begun)
{
	char *f[FIELDS] = { line };
	size_t count = split(line, f);
	if (strcmp(f[0], "boot") == 0 && count == 2) {
		FREED char *boot = boot_id();
		j->stale = strcmp(boot, f[1]) != 0;
		return true;
	}
	if (strcmp(f[0], "owner") == 0 || strcmp(f[0], "restoring") == 0) {
		long pid;
		if (count != 3 || !integer_parse(f[1], 1, INT32_MAX, &pid))
			return false;
		j->owner = (int)pid;
		j->owner_start = strtoull(f[2], NULL, 10);
		return true;
	}
	if (strcmp(f[0], "since") == 0 && count == 2) {
		j->since_ns = strtoll(f[1], NULL, 10);
		return true;
	}
	if (strcmp(f[0], "change") == 0) {
		long kind;
		const struct quiet_knob *k = count == 6 ? quiet_knob_find(f[2]) : NULL;
		if (!k || !integer_parse(f[1], 0, CHANGE_KINDS - 1, &kind))
			return false;
		/* whatever else a file says: root writes to these only */
		if (kind == CHANGE_FILE &&
		    ((strncmp(f[3], "/sys/", 5) != 0 && strncmp(f[3], "/proc/", 6) != 0) ||
		     strstr(f[3], "/../") || text_ends_with(f[3], "/..")))
			return false;
		change_add(&j->changes, (enum change_kind)kind, k->name, f[3], f[4], f[5]);
		return true;
	}
	if (strcmp(f[0], "begin") == 0)
		return *begun = true;
	if (strcmp(f[0], "keep") == 0) {
		j->owner = 0;
		return true;
	}
	if (strcmp(f[0], "left") == 0)
		return j->left = true;
	if (strcmp(f[0], "made") == 0 || strcmp(f[0], "refused") == 0 ||
	    strcmp(f[0], "finished") == 0)
		return read_mark(j, count, f);
	return false;
}

static int read_text(struct journal *j, char *text, struct error *err)
{
	bool begun = false, titled = false;
	size_t number = 0;
	char *end = strrchr(text, '\n');
	j->whole = end ? end + 1 - text : 0;
	if (end)
		end[1] = '\0';
	for (char *line; end && *text;) {
		line = strsep(&text, "\n");
		number++;
		if (!titled ? strcmp(line, TITLE) == 0 : read_line(j, line, &begun)) {
			titled = true;
			continue;
		}
		error_set(err, EXIT_ENVIRONMENT, "cannot understand line %zu of the journal %s",
			  number, j->path);
		return error_hint(err, "put back by hand what it tells of, then remove it");
	}
	if (!begun) {
		error_set(err, EXIT_ENVIRONMENT, "the journal %s is not whole", j->path);
		return error_hint(err, "nothing was changed by its writer: remove it");
	}
	/* The first change that is neither made nor refused may have been made by one that was
	 * killed then. */
	size_t last = 0;
	while (last < j->changes.count && j->changes.items[last].begun)
		last++;
	if (last < j->changes.count)
		j->changes.items[last].begun = true;
	return 0;
}

/* j->fd < 0: there is none. */
static int open_file(struct journal *j, const struct quiet_options *o, struct error *err)
{
	struct stat st;
	j->path = journal_path(o, err);
	if (!j->path)
		return -1;
	j->fd = open(j->path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	/* what cannot be written, on a disk that fails, still says what to put back */
	if (j->fd < 0 && errno != ENOENT && errno != ENOTDIR)
		j->fd = open(j->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (j->fd < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return 0;
		bool denied = errno == EACCES;
		error_errno(err, EXIT_ENVIRONMENT, "cannot open the journal %s", j->path);
		return denied ? error_hint(err, "that takes root") : -1;
	}
	if (fstat(j->fd, &st) || !S_ISREG(st.st_mode) ||
	    (st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & (S_IWGRP | S_IWOTH))) {
		error_set(err, EXIT_ENVIRONMENT,
			  "the journal %s is another's, or others may write it: not believed",
			  j->path);
		return error_hint(err, "look at it, then remove it");
	}
	return 0;
}

/* From what is open: by its name it could be another's by now. */
static int read_file(struct journal *j, struct error *err)
{
	FREED char *text = file_read_from(j->fd);
	return text ? read_text(j, text, err)
		    : error_errno(err, EXIT_ENVIRONMENT, "cannot read the journal %s", j->path);
}

int journal_open(struct journal *j, const struct quiet_options *o, struct error *err)
{
	if (open_file(j, o, err))
		return -1;
	return j->fd >= 0 ? read_file(j, err) : 0;
}

int journal_take(struct journal *j, const struct quiet_options *o, struct error *err)
{
	struct stat here, there;
	if (open_file(j, o, err))
		return -1;
	if (j->fd >= 0 && flock(j->fd, LOCK_EX | LOCK_NB) == 0 && fstat(j->fd, &here) == 0 &&
	    stat(j->path, &there) == 0 && here.st_ino == there.st_ino &&
	    here.st_dev == there.st_dev)
		return read_file(j, err);
	/* another process has it, or it was removed meanwhile */
	journal_release(j);
	return 0;
}

bool journal_is_abandoned(const struct journal *j)
{
	struct process_look look;
	if (j->left)
		return true;
	if (!j->owner)
		return false;
	errno = 0;
	if (!process_look(j->owner, &look))
		return process_is_gone(errno);
	return look.start != j->owner_start || look.state == 'Z';
}
