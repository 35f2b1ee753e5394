#include "subject/dbms/server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
#include "base/guard.h"
#include "base/process.h"
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
	int lock;		     /* the data directory, locked; -1: not yet */
	pid_t pid;		     /* 0: it does not run */
	int guarded, guarded_socket; /* for guard_release() */

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
	AS_USER(as);
	if (invoker_begin(&as, err))
		return -1;
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

static bool is_made(const struct server *s)
{
	AS_USER(as);
	return server_user_begin(&s->user, &as) == 0 && s->kind->is_made(s->data);
}

/* Root is nobody's to name: an experiment may be somebody else's file. */
static int refuse_root(const struct server_user *user, const char *asked, struct error *err)
{
	struct invoker who;
	invoker_get(&who);
	if ((!who.present && !who.invalid) || !asked || user->change)
		return 0;
	error_set(err, EXIT_USAGE, "an experiment run by sudo cannot have the server's user '%s'",
		  asked);
	return error_hint(err, "'env -u SUDO_UID tare query ...' runs it as root");
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
		if (!server_user_find(s->user_name, &s->user)) {
			error_set(err, EXIT_ENVIRONMENT,
				  "there is neither a user '%s' nor 'nobody' to run the server as",
				  s->kind->user);
			return error_hint(err, "name one by 'user:'");
		}
	}
	if (refuse_root(&s->user, asked, err) || resolve(s, d->data, err))
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
	if (is_made(s) || d->make)
		return 0;
	error_set(err, EXIT_USAGE, "%s is no data directory of %s", s->data, s->kind->dbms);
	return error_hint(err, "with 'make: true' tare makes one where there is nothing");
}

/* The commands are the user's own: they run as the user who typed sudo. */
static int find_commands_user(struct server *s, const char *asked, struct error *err)
{
	struct invoker who;
	invoker_get(&who);
	if (invoker_check(&who, err))
		return error_hint(err, "'env -u SUDO_UID tare query ...' runs them as root");
	s->user_name = asked || who.present ? xstrdup(asked ? asked : who.name) : NULL;
	if (!server_user_find(s->user_name, &s->user))
		return error_set(err, EXIT_USAGE, "there is no user '%s' to run 'start' as",
				 s->user_name);
	if (!asked && who.present) {
		/* sudo may have been given another group than the user's first */
		s->user.gid = who.gid;
	}
	return refuse_root(&s->user, asked, err);
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
		failed = find_commands_user(s, d->user, err);
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

static bool is_empty(const struct server *s)
{
	AS_USER(as);
	if (server_user_begin(&s->user, &as))
		return false;
	DIR *directory = opendir(s->data);
	bool empty = true;
	for (struct dirent *e; directory && (e = readdir(directory));)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			empty = false;
	if (directory)
		closedir(directory);
	return empty;
}

/* As the server's user, who could put links there meanwhile. */
static void empty_directory(const struct server *s, const char *path)
{
	AS_USER(as);
	if (server_user_begin(&s->user, &as) == 0)
		directory_empty(path);
}

/* One that is the server's user's alone, made by the invoker and handed over. Somebody else's of
 * that name is not touched. */
static int directory_for(const struct server *s, const char *path, struct error *err)
{
	struct stat st;
	struct invoker who;
	uid_t owner = s->user.change ? s->user.uid : geteuid();
	invoker_get(&who);
	AS_USER(as);
	if (invoker_begin(&as, err))
		return -1;
	if (mkdir(path, 0700) && errno != EEXIST)
		return error_errno(err, EXIT_ENVIRONMENT, "cannot make %s", path);
	user_end(&as);
	/* from here on by its descriptor: its name may become another's */
	CLOSED int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) || (st.st_mode & (S_IRWXG | S_IRWXO)) ||
	    (st.st_uid != owner && st.st_uid != (who.present ? who.uid : geteuid())))
		return error_set(err, EXIT_ENVIRONMENT,
				 "%s is there already, and not this server's", path);
	if (s->user.change && st.st_uid != owner &&
	    fchownat(fd, "", s->user.uid, s->user.gid, AT_EMPTY_PATH))
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
	AS_USER(as);
	if (server_user_begin(&s->user, &as))
		return error_errno(err, EXIT_ENVIRONMENT, "cannot open %s", path);
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

/* The folder above is the invoker's, or in a sticky one like /tmp only its owner may move it. */
static int move_into_place(const struct server *s, const char *beside)
{
	AS_USER(as);
	if (server_user_begin(&s->user, &as) == 0 && rename(beside, s->data) == 0)
		return 0;
	user_end(&as);
	return invoker_begin(&as, NULL) ? -1 : rename(beside, s->data);
}

static void remove_folder(const struct server *s, const char *path)
{
	AS_USER(as);
	if (server_user_begin(&s->user, &as) == 0 && rmdir(path) == 0)
		return;
	user_end(&as);
	if (invoker_begin(&as, NULL) == 0)
		rmdir(path);
}

/* With the directory locked, which becomes the data's: the lock stays. */
static int make_locked(struct server *s, const char *beside, struct error *err)
{
	empty_directory(s, beside); /* of a making that was killed */
	struct server_place place = place_of(s);
	SCOPED(words_release) word_list words = { 0 };
	place.data = beside;
	int failed = -1;
	if (s->kind->make_words(&place, &words, err)) {
		array_push(&words, NULL);
		failed = server_command_run(words.items, &s->user, beside, err);
	}
	if (!failed && move_into_place(s, beside))
		failed = error_set(
			err, EXIT_ENVIRONMENT, "cannot make %s: %s%s", s->data, strerror(errno),
			errno == EBUSY ? " (a mount point: name a directory in it)" : "");
	if (failed)
		empty_directory(s, beside);
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
	AS_USER(as);
	FREED char *text = server_user_begin(&s->user, &as) ? NULL : file_read(path);
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
		guard_release(s->guarded); /* of one that ended */
		failed = server_process_start(words.items, &s->user, s->data, s->kind->stop_signal,
					      &s->pid, &s->guarded, err);
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

static int run_command(const struct server *s, const char *command, struct error *err)
{
	/* with the environment of who runs it, not root's */
	static const char as_user[] = "export HOME=\"$1\" USER=\"$2\" LOGNAME=\"$2\"; "
				      "exec /bin/sh -c \"$0\"";
	char *words[] = { (char *)"/bin/sh",	(char *)"-c", (char *)command, NULL, NULL,
			  (char *)s->user.name, NULL };
	if (s->user.change) {
		words[2] = (char *)as_user;
		words[3] = (char *)command;
		words[4] = (char *)s->user.home;
	}
	if (!server_command_run(words, &s->user, NULL, err))
		return 0;
	return error_prefix(err, "'%.120s'", command);
}

/* A server that a killed tare left behind is taken over; one that is just ending is waited for.
 * Where one crashed, processes of it may hold its memory until their queries end: then again. */
static int start_data(struct server *s, struct error *err)
{
	uint64_t until = clock_monotonic_ns() + START_PATIENCE_NS;
	if (!is_made(s)) {
		/* beside its place, where it is moved when it is whole: a tare that is killed
		 * meanwhile leaves nothing that looks like a data directory */
		if (!is_empty(s)) {
			error_set(err, EXIT_USAGE, "%s is not empty, and no data directory of %s",
				  s->data, s->kind->dbms);
			return error_hint(err, "name one that is not there yet");
		}
		FREED char *beside = xprintf("%s" MAKING, s->data);
		/* one that is there may be another tare's until it is locked */
		int coming = access(beside, F_OK) ? guard_folder(beside) : 0;
		int failed = directory_for(s, beside, err) || lock_directory(s, beside, err);
		bool made = !failed && is_made(s); /* by another tare meanwhile */
		int guarded = !failed && !made ? guard_folder(beside) : 0;
		guard_release(coming);
		if (!failed && !made)
			failed = make_locked(s, beside, err);
		guard_release(guarded);
		if (s->lock >= 0 && (failed || made)) {
			remove_folder(s, beside);
			unlock(s);
		}
		if (failed)
			return -1;
	}
	if (lock_data(s, err))
		return -1;
	if (s->own_socket && directory_for(s, s->socket, err))
		return -1;
	if (s->own_socket && !s->guarded_socket)
		s->guarded_socket = guard_folder(s->socket);
	if (!s->pid)
		s->pid = server_process_find(s->data, &s->user);
	bool was_there = s->pid != 0;
	if (was_there && !s->guarded)
		s->guarded = guard_process(s->pid, s->kind->stop_signal);
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

/* In the guard: leaves the server as it was found. text: the user, or nothing, and the command. */
static void run_for_dead(const char *text)
{
	struct server s = { 0 };
	const char *command = strchr(text, '\n');
	FREED char *user = xstrndup(text, (size_t)(command - text));
	if (!*user || (server_user_find(user, &s.user) && s.user.change))
		run_command(&s, command + 1, NULL);
}

static void guard_command(struct server *s, const char *command)
{
	FREED char *text =
		xprintf("%s\n%s", s->user.change ? s->user.name : "", command ? command : "");
	guard_release(s->guarded);
	s->guarded = command ? guard_call(run_for_dead, text) : 0;
}

static int start_by_command(struct server *s, struct error *err)
{
	if (runs(s)) {
		s->found_running = s->found_running || s->state == COMMANDS_UNKNOWN;
		s->state = COMMANDS_STARTED;
		return 0;
	}
	guard_command(s, s->found_running ? NULL : s->stop);
	if (run_command(s, s->start, err))
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
		s->pid = server_process_find(s->data, &s->user);
	if (!s->pid)
		return 0;
	if (!server_process_await_end(s->pid, 0)) {
		/* one that another tare started may have ended since, and its number be another's
		 */
		CLOSED int fd = process_open(s->pid);
		if (fd >= 0 && server_process_find(s->data, &s->user) == s->pid)
			process_signal(fd, s->kind->stop_signal);
		if (!server_process_await_end(s->pid, STOP_PATIENCE_MS))
			return error_set(err, EXIT_ENVIRONMENT,
					 "the server in %s (process %d) does not end", s->data,
					 (int)s->pid);
	}
	s->pid = 0;
	guard_release(s->guarded);
	s->guarded = 0;
	return 0;
}

int server_stop(struct server *s, struct error *err)
{
	if (s->kind)
		return stop_data(s, err);
	if (s->state == COMMANDS_STOPPED)
		return 0;
	guard_command(s, s->found_running || s->state == COMMANDS_UNKNOWN ? s->start : s->stop);
	if (run_command(s, s->stop, err))
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
		run_command(s, s->start, NULL);
	if (s->own_socket && !s->pid)
		remove_folder(s, s->socket);
	guard_release(s->guarded);
	guard_release(s->guarded_socket);
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
