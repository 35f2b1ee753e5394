#include "subject/dbms/server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "subject/dbms/dbms.h"
#include "subject/dbms/server_kind.h"
#include "subject/dbms/server_process.h"

#define START_PATIENCE_NS UINT64_C(60000000000)
#define STOP_PATIENCE_MS 120000
#define SOCKET_DIRECTORY_MOST 90 /* of the 107 bytes that a socket's path may have */
#define MAKING ".tare-making"	 /* after the data directory's name, until it is whole */

enum by_commands { COMMANDS_UNKNOWN, COMMANDS_STARTED, COMMANDS_STOPPED };

struct server {
	const struct server_kind *kind; /* NULL: by commands */
	char *data, *socket, *url, *user_name;
	char **settings; /* ended by NULL */
	bool own_socket; /* a directory made for it */
	struct server_user user;
	int lock;  /* the data directory, locked; -1: not yet */
	pid_t pid; /* 0: it does not run */

	char *start, *stop;
	enum by_commands state;
	bool found_running; /* before it was ever started: it is to run afterwards */
};

static const struct server_kind *const kinds[] = {
#ifdef HAVE_POSTGRESQL
	&postgresql_server,
#endif
#ifdef HAVE_MARIADB
	&mariadb_server,
#endif
	NULL,
};

static struct server_place place_of(const struct server *s)
{
	return (struct server_place){ .data = s->data,
				      .socket = s->socket,
				      .user = s->user.change ? s->user_name : NULL,
				      .settings = (const char *const *)s->settings };
}

/* ---- opening ---- */

/* As the kernel will say it: absolute, no links. The last part need not be there. */
static int resolve(struct server *s, const char *data, struct error *err)
{
	SCOPED(strbuf_release) struct strbuf path = { 0 };
	strbuf_puts(&path, data);
	while (path.length > 1 && path.text[path.length - 1] == '/')
		path.text[--path.length] = '\0';
	s->data = realpath(path.text, NULL);
	char *slash = strrchr(path.text, '/');
	if (!s->data && errno == ENOENT) {
		const char *name = slash ? slash + 1 : path.text;
		if (slash)
			*slash = '\0';
		FREED char *above = realpath(!slash ? "." : *path.text ? path.text : "/", NULL);
		if (above)
			s->data = xprintf("%s/%s", strcmp(above, "/") ? above : "", name);
	}
	if (s->data)
		return 0;
	char shown[300];
	text_display(data, shown, sizeof shown);
	return error_errno(err, EXIT_USAGE, "no data directory %s", shown);
}

static int open_data(struct server *s, const struct server_description *d, struct error *err)
{
	s->settings = xstrdup_all(d->settings);
	const char *dbms = d->dbms;
	for (size_t i = 0; kinds[i] && !s->kind; i++)
		if (dbms && strcmp(kinds[i]->dbms, dbms) == 0)
			s->kind = kinds[i];
	if (!s->kind) {
		error_set(err, EXIT_USAGE, "tare cannot run a server of '%s' from a data directory",
			  dbms ? dbms : "?");
		return error_hint(err, "describe it by 'start:' and 'stop:' commands");
	}
	const char *asked = d->user;
	/* No DBMS likes to run as root: without a wish, its usual user or nobody. */
	s->user_name = xstrdup(asked ? asked : s->kind->user);
	if (!server_user_find(s->user_name, &s->user)) {
		if (asked)
			return error_set(err, EXIT_USAGE,
					 "there is no user '%s' to run the server as", asked);
		free(s->user_name);
		s->user_name = xstrdup("nobody");
		server_user_find(s->user_name, &s->user);
	}
	if (resolve(s, d->data, err))
		return -1;
	/* The data directory, which is nobody else's business, unless its name is too long for a
	 * socket in it. The same each time, so that a server left behind is found. */
	if (strlen(s->data) <= SOCKET_DIRECTORY_MOST) {
		s->socket = xstrdup(s->data);
	} else {
		s->socket = xprintf("/tmp/tare-%u-%016llx", (unsigned)geteuid(),
				    (unsigned long long)text_hash(s->data));
		s->own_socket = true;
	}
	struct server_place place = place_of(s);
	s->url = s->kind->url(&place);
	bool made = s->kind->is_made(s->data);
	if (made || d->make)
		return 0;
	error_set(err, EXIT_USAGE, "%s is no data directory of %s", s->data, s->kind->dbms);
	return error_hint(err, "with 'make: true' tare makes one where there is nothing");
}

int server_open(struct server **out, const struct server_description *d, struct error *err)
{
	struct server *s = xcalloc(1, sizeof *s);
	s->lock = -1;
	int failed = 0;
	if (d->data) {
		failed = open_data(s, d, err);
	} else if (d->start && d->stop) {
		s->start = xstrdup(d->start);
		s->stop = xstrdup(d->stop);
		s->url = d->url ? xstrdup(d->url) : NULL;
	} else {
		failed = error_set(err, EXIT_USAGE,
				   "a server needs 'data:', or 'start:' and 'stop:'");
	}
	if (failed) {
		server_close(s);
		return -1;
	}
	*out = s;
	return 0;
}

const char *server_url(const struct server *s)
{
	return s->kind ? s->url : NULL;
}

/* ---- the data directory ---- */

static bool is_empty(const char *path)
{
	DIR *directory = opendir(path);
	bool empty = true;
	for (struct dirent *e; directory && (e = readdir(directory));)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			empty = false;
	if (directory)
		closedir(directory);
	return empty;
}

static int remove_below(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	return where->level ? remove(path) : 0;
}

static void empty_directory(const char *path)
{
	nftw(path, remove_below, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* One that is the server's user's alone. Somebody else's of that name is not touched. */
static int directory_for(const struct server *s, const char *path, struct error *err)
{
	struct stat st;
	uid_t owner = s->user.change ? s->user.uid : geteuid();
	if (mkdir(path, 0700) && errno != EEXIST)
		return error_errno(err, EXIT_ENVIRONMENT, "cannot make %s", path);
	if (lstat(path, &st) || !S_ISDIR(st.st_mode) || (st.st_mode & (S_IRWXG | S_IRWXO)) ||
	    (st.st_uid != owner && st.st_uid != geteuid()))
		return error_set(err, EXIT_ENVIRONMENT,
				 "%s is there already, and not this server's", path);
	if (s->user.change && lchown(path, s->user.uid, s->user.gid))
		return error_errno(err, EXIT_ENVIRONMENT, "cannot give %s to %s", path,
				   s->user.name);
	return 0;
}

static void unlock(struct server *s)
{
	if (s->lock >= 0)
		close(s->lock);
	s->lock = -1;
}

/* Two tares with one server would stop it for each other. It may have been moved or removed before
 * it was locked. */
static int lock_directory(struct server *s, const char *path, struct error *err)
{
	struct stat locked, there;
	s->lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->lock < 0)
		return error_errno(err, EXIT_ENVIRONMENT, "cannot open %s", path);
	if (flock(s->lock, LOCK_EX | LOCK_NB) == 0 && fstat(s->lock, &locked) == 0 &&
	    lstat(path, &there) == 0 && locked.st_dev == there.st_dev &&
	    locked.st_ino == there.st_ino)
		return 0;
	unlock(s);
	error_set(err, EXIT_ENVIRONMENT, "another tare uses the server in %s", s->data);
	return error_hint(err, "wait until it has ended");
}

static int lock_data(struct server *s, struct error *err)
{
	return s->lock >= 0 ? 0 : lock_directory(s, s->data, err);
}

/* With the directory locked, which becomes the data's: the lock stays. */
static int make_locked(struct server *s, const char *beside, struct error *err)
{
	empty_directory(beside); /* of a making that was killed */
	struct server_place place = place_of(s);
	SCOPED(words_release) word_list words = { 0 };
	place.data = beside;
	int failed = -1;
	if (s->kind->make_words(&place, &words, err)) {
		array_push(&words, NULL);
		failed = server_command_run(words.items, &s->user, beside, err);
	}
	if (!failed && rename(beside, s->data))
		failed = error_set(
			err, EXIT_ENVIRONMENT, "cannot make %s: %s%s", s->data, strerror(errno),
			errno == EBUSY ? " (a mount point: name a directory in it)" : "");
	if (failed)
		empty_directory(beside);
	return failed;
}

/* ---- starting and stopping ---- */

/* It takes connections, even if not this one. */
static bool answers(const struct server *s, struct error *err)
{
	struct dbms *d;
	*err = (struct error)ERROR_INIT;
	if (dbms_open(&d, s->url, NULL, err))
		return err->code == EXIT_USAGE;
	dbms_close(d);
	return true;
}

/* What the log says since a byte: the first line with a word of failure in it, or the last one. */
static void log_words(const struct server *s, off_t from, char *out, size_t size)
{
	static const char *const bad[] = { "FATAL", "PANIC", "[ERROR]" };
	FREED char *path = xprintf("%s/" SERVER_LOG, s->data);
	FREED char *text = file_read(path);
	size_t length = text ? strlen(text) : 0;
	const char *chosen = "its log is empty";
	char *rest = NULL, *since = length > (size_t)from ? text + from : NULL;
	for (char *line = since ? strtok_r(since, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest)) {
		chosen = line;
		bool found = false;
		for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
			found = found || strstr(line, bad[i]);
		if (found)
			break;
	}
	text_display(chosen, out, size);
}

/* Until it answers or ended. 1: it ended. */
static int await_answer(const struct server *s, struct error *err)
{
	uint64_t until = clock_monotonic_ns() + START_PATIENCE_NS;
	struct error why = ERROR_INIT;
	while (clock_monotonic_ns() < until) {
		if (answers(s, &why))
			return 0;
		if (!s->kind)
			poll(NULL, 0, 20);
		else if (server_process_await_end(s->pid, 20))
			return 1;
	}
	if (!s->kind)
		return error_set(err, EXIT_ENVIRONMENT,
				 "'%.120s' has started no server that answers: %s", s->start,
				 why.text);
	error_set(err, EXIT_ENVIRONMENT, "the server in %s does not answer: %s", s->data, why.text);
	return error_hint(err, "its log is %s/" SERVER_LOG, s->data);
}

/* 1: it ended at once, which is an error too. */
static int launch(struct server *s, struct error *err)
{
	struct server_place place = place_of(s);
	SCOPED(words_release) word_list words = { 0 };
	struct stat st;
	FREED char *path = xprintf("%s/" SERVER_LOG, s->data);
	off_t before = stat(path, &st) == 0 ? st.st_size : 0;
	int failed = -1;
	if (s->kind->server_words(&place, &words, err)) {
		array_push(&words, NULL);
		failed = server_process_start(words.items, &s->user, s->data, s->kind->stop_signal,
					      &s->pid, err);
	}
	if (failed)
		return -1;
	int ended = await_answer(s, err);
	if (ended > 0) {
		char said[500];
		s->pid = 0;
		log_words(s, before, said, sizeof said);
		error_set(err, EXIT_ENVIRONMENT, "the server in %s ended at once: %s", s->data,
			  said);
		error_hint(err, "its log is %s/" SERVER_LOG, s->data);
	}
	return ended;
}

static int run_command(const char *command, struct error *err)
{
	char *words[] = { (char *)"/bin/sh", (char *)"-c", (char *)command, NULL };
	struct server_user nobody_else = { 0 };
	if (!server_command_run(words, &nobody_else, NULL, err))
		return 0;
	return error_prefix(err, "'%.120s'", command);
}

/* A server that a killed tare left behind is taken over; one that is just ending is waited for.
 * Where one crashed, processes of it may hold its memory until their queries end: then again. */
static int start_data(struct server *s, struct error *err)
{
	uint64_t until = clock_monotonic_ns() + START_PATIENCE_NS;
	if (!s->kind->is_made(s->data)) {
		/* beside its place, where it is moved when it is whole: a tare that is killed
		 * meanwhile leaves nothing that looks like a data directory */
		if (!is_empty(s->data)) {
			error_set(err, EXIT_USAGE, "%s is not empty, and no data directory of %s",
				  s->data, s->kind->dbms);
			return error_hint(err, "name one that is not there yet");
		}
		FREED char *beside = xprintf("%s" MAKING, s->data);
		int failed = directory_for(s, beside, err) || lock_directory(s, beside, err);
		bool made = !failed && s->kind->is_made(s->data); /* by another tare meanwhile */
		if (!failed && !made)
			failed = make_locked(s, beside, err);
		if (s->lock >= 0 && (failed || made)) {
			rmdir(beside);
			unlock(s);
		}
		if (failed)
			return -1;
	}
	if (lock_data(s, err))
		return -1;
	if (s->own_socket && directory_for(s, s->socket, err))
		return -1;
	if (!s->pid)
		s->pid = server_process_find(s->data);
	bool was_there = s->pid != 0;
	int ended = was_there ? await_answer(s, err) : 1;
	if (ended <= 0)
		return ended;
	s->pid = 0;
	while ((ended = launch(s, err)) > 0 && was_there && clock_monotonic_ns() < until)
		poll(NULL, 0, 200);
	return ended ? -1 : 0;
}

/* Where the URL is not known, it is taken to run when it was started, and not before. */
static bool runs(const struct server *s)
{
	struct error ignored;
	if (!s->url)
		return s->state == COMMANDS_STARTED;
	return s->state != COMMANDS_STOPPED && answers(s, &ignored);
}

static int start_by_command(struct server *s, struct error *err)
{
	if (runs(s)) {
		s->found_running = s->found_running || s->state == COMMANDS_UNKNOWN;
		s->state = COMMANDS_STARTED;
		return 0;
	}
	if (run_command(s->start, err))
		return -1;
	s->state = COMMANDS_STARTED;
	return s->url ? await_answer(s, err) : 0;
}

int server_start(struct server *s, struct error *err)
{
	return s->kind ? start_data(s, err) : start_by_command(s, err);
}

static int stop_data(struct server *s, struct error *err)
{
	if (!s->pid && access(s->data, F_OK))
		return 0;
	if (lock_data(s, err))
		return -1;
	if (!s->pid)
		s->pid = server_process_find(s->data);
	if (!s->pid)
		return 0;
	if (!server_process_await_end(s->pid, 0)) {
		kill(s->pid, s->kind->stop_signal);
		if (!server_process_await_end(s->pid, STOP_PATIENCE_MS))
			return error_set(err, EXIT_ENVIRONMENT,
					 "the server in %s (process %d) does not end", s->data,
					 (int)s->pid);
	}
	s->pid = 0;
	return 0;
}

int server_stop(struct server *s, struct error *err)
{
	if (s->kind)
		return stop_data(s, err);
	if (s->state == COMMANDS_STOPPED)
		return 0;
	if (run_command(s->stop, err))
		return -1;
	s->found_running = s->found_running || s->state == COMMANDS_UNKNOWN;
	s->state = COMMANDS_STOPPED;
	return 0;
}

void server_close(struct server *s)
{
	if (!s)
		return;
	/* leave the server as it was found */
	if (s->kind && s->pid)
		stop_data(s, NULL);
	else if (!s->kind && s->state == COMMANDS_STARTED && !s->found_running)
		server_stop(s, NULL);
	else if (!s->kind && s->state == COMMANDS_STOPPED && s->found_running)
		run_command(s->start, NULL);
	if (s->own_socket && !s->pid)
		rmdir(s->socket);
	unlock(s);
	xfree_all(s->settings);
	free(s->data);
	free(s->socket);
	free(s->url);
	free(s->user_name);
	free(s->start);
	free(s->stop);
	free(s);
}
