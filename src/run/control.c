/* A lock, a log and a socket in a directory that is the user's alone, named by the lab and by what
 * is there. */
#include "run/control.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#define ANSWER_MOST 65536
#define WORD_MOST 32
#define WORD_PATIENCE_MS 200 /* for a client's word: it sends it at once */
#define END_PATIENCE_MS 2000
#define STATUS_PATIENCE_S 30
#define STOP_PATIENCE_S 300 /* what is held is made ready and stored */
#define STOPPED_PATIENCE_MS 5000
#define CONNECT_PATIENCE_NS 5000000000u
#define BACKLOG 16

/* ---- the place ---- */

#define DIRECTORY_MOST (CONTROL_PATH - 32) /* the names within are shorter */

/* For root the system's; else below the directory that the system gives a user, which goes when the
 * user logs out: a collector that stays longer is root's. */
static bool find_directory(char out[DIRECTORY_MOST], bool make)
{
	bool (*const settle)(const char *path) = make ? directory_own : directory_is_own;
	const char *told = getenv("TARE_RUNTIME_DIR");
	if ((told && *told) || geteuid() == 0) {
		const char *runtime = runtime_directory();
		snprintf(out, DIRECTORY_MOST, "%s", runtime ? runtime : told);
		return runtime && strlen(runtime) < DIRECTORY_MOST && settle(out);
	}
	char of_system[32];
	snprintf(of_system, sizeof of_system, "/run/user/%u", (unsigned int)geteuid());
	const char *const parents[] = { getenv("XDG_RUNTIME_DIR"), of_system };
	for (size_t i = 0; i < 2; i++) {
		const char *parent = parents[i];
		if (!parent || *parent != '/' || strlen(parent) + 6 >= DIRECTORY_MOST ||
		    !directory_is_own(parent))
			continue;
		snprintf(out, DIRECTORY_MOST, "%.*s/tare", DIRECTORY_MOST - 6, parent);
		if (settle(out))
			return true;
	}
	snprintf(out, DIRECTORY_MOST, "/tmp/tare-%u", (unsigned int)geteuid());
	return settle(out);
}

static const struct {
	const char *word;   /* what users know it as */
	const char *suffix; /* of its files, before what they are */
	const char *stop;   /* what ends it */
} kinds[] = {
	[CONTROL_PROFILE] = { "collector", "", "tare profile stop" },
	[CONTROL_WATCH] = { "watch", ".watch", "tare calibrate --watch-stop" },
};

const char *control_stop_line(enum control_kind kind)
{
	return kinds[kind].stop;
}

static int none_running(enum control_kind kind, struct error *err)
{
	return error_set(err, EXIT_CHECK, "no %s is running", kinds[kind].word);
}

int control_place_of(struct control_place *into, enum control_kind kind, const char *lab_file,
		     bool make, struct error *err)
{
	char directory[DIRECTORY_MOST];
	if (!find_directory(directory, make)) {
		if (!make)
			return none_running(kind, err);
		error_set(err, EXIT_ENVIRONMENT,
			  "no directory can be had for the %s's socket: %s cannot be made, "
			  "is another's or open to others, or its name is too long or no full one",
			  kinds[kind].word, directory);
		return error_hint(err, "set TARE_RUNTIME_DIR to a directory of your own");
	}
	FREED char *real = realpath(lab_file, NULL);
	uint64_t number = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
	for (const char *c = real ? real : lab_file; *c; c++)
		number = (number ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
	const char *suffix = kinds[kind].suffix;
	into->kind = kind;
	snprintf(into->lock, CONTROL_PATH, "%s/%016" PRIx64 "%s.pid", directory, number, suffix);
	snprintf(into->socket, CONTROL_PATH, "%s/%016" PRIx64 "%s.sock", directory, number, suffix);
	snprintf(into->log, CONTROL_PATH, "%s/%016" PRIx64 "%s.log", directory, number, suffix);
	return 0;
}

int control_place_find(struct control_place *into, enum control_kind kind, struct lab_access *lab,
		       struct error *err)
{
	bool make = lab->need == WRITES_LAB;
	struct error why = ERROR_INIT;
	if (lab_access_open(lab, &why))
		return control_place_of(into, kind, lab_path(lab->open), make, err);
	if (!make)
		return error_set(err, EXIT_CHECK, "no %s is running: %s", kinds[kind].word,
				 why.text);
	*err = why;
	return -1;
}

/* ---- the lock ---- */

/* The process that has the lock; 0: none. */
static pid_t control_holder(const struct control_place *p)
{
	int fd = open(p->lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	if (fd < 0)
		return 0;
	bool held = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
	close(fd);
	return held ? lock.l_pid : 0;
}

int control_lock(const struct control_place *p, pid_t *holder, struct error *err)
{
	char pid[24];
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	*holder = 0;
	/* never closed: that would give it up */
	int fd = open(p->lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_set(err, EXIT_ENVIRONMENT, "cannot open %s: %s", p->lock,
				 strerror(errno));
	if (fcntl(fd, F_SETLK, &lock)) {
		*holder = control_holder(p);
		close(fd);
		return error_set(err, EXIT_USAGE, "a %s is running already, pid %d",
				 kinds[p->kind].word, (int)*holder);
	}
	int length = snprintf(pid, sizeof pid, "%d\n", (int)getpid());
	if (ftruncate(fd, 0) || write(fd, pid, (size_t)length) != length)
		return error_set(err, EXIT_ENVIRONMENT, "cannot write %s: %s", p->lock,
				 strerror(errno));
	return 0;
}

/* ---- asking ---- */

static struct sockaddr_un address_of(const struct control_place *p)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	snprintf(address.sun_path, sizeof address.sun_path, "%s", p->socket);
	return address;
}

/* A collector that has the lock and not yet its socket is waited for. */
static int connect_to(const struct control_place *p, struct error *err)
{
	const struct sockaddr_un address = address_of(p);
	uint64_t until = clock_monotonic_ns() + CONNECT_PATIENCE_NS;
	for (;;) {
		pid_t holder = control_holder(p);
		if (!holder)
			return none_running(p->kind, err);
		int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		if (fd >= 0 && connect(fd, (const void *)&address, sizeof address) == 0)
			return fd;
		int reason = errno;
		if (fd >= 0)
			close(fd);
		if (clock_monotonic_ns() > until)
			return error_set(err, EXIT_ENVIRONMENT,
					 "the %s, pid %d, does not answer: %s", kinds[p->kind].word,
					 (int)holder, strerror(reason));
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	}
}

char *control_ask(const struct control_place *p, const char *word, int patience_s,
		  struct error *err)
{
	int fd = connect_to(p, err);
	if (fd < 0)
		return NULL;
	char *answer = xmalloc(ANSWER_MOST + 1);
	struct pollfd come = { .fd = fd, .events = POLLIN };
	bool sent = send(fd, word, strlen(word), MSG_NOSIGNAL) >= 0;
	int came = sent ? poll(&come, 1, patience_s * 1000) : 1;
	ssize_t n = sent && came == 1 ? recv(fd, answer, ANSWER_MOST, 0) : -1;
	close(fd);
	if (n > 0) {
		answer[n] = '\0';
		return answer;
	}
	free(answer);
	/* one that could not begin, or was told to end, is on its way out */
	for (int i = 0; came == 1 && i < END_PATIENCE_MS && control_holder(p); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	pid_t holder = control_holder(p);
	if (!holder)
		none_running(p->kind, err);
	else if (came == 1)
		error_set(err, EXIT_ENVIRONMENT, "the %s, pid %d, did not answer '%s'",
			  kinds[p->kind].word, (int)holder, word);
	else
		error_set(err, EXIT_ENVIRONMENT, "the %s, pid %d, did not answer '%s' within %d s",
			  kinds[p->kind].word, (int)holder, word, patience_s);
	if (holder)
		error_hint(err, "its log is %s", p->log);
	return NULL;
}

/* ---- answering ---- */

int control_listen(struct control_server *c, const struct control_place *p, struct error *err)
{
	const struct sockaddr_un address = address_of(p);
	unlink(p->socket); /* of a collector that was killed: the lock is ours */
	c->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd >= 0 && bind(c->fd, (const void *)&address, sizeof address) == 0 &&
	    listen(c->fd, BACKLOG) == 0)
		return 0;
	return error_set(err, EXIT_ENVIRONMENT, "cannot listen at %s: %s", p->socket,
			 strerror(errno));
}

static void answer(int fd, const char *text)
{
	/* who has gone meanwhile misses nothing */
	ssize_t sent = send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
	(void)sent;
	close(fd);
}

static enum control_wish serve_one(struct control_server *c, int fd, const char *trouble)
{
	char word[WORD_MOST] = "";
	struct pollfd come = { .fd = fd, .events = POLLIN };
	struct ucred peer;
	socklen_t size = sizeof peer;
	/* who may: the collector's own user, and root */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) ||
	    (peer.uid != geteuid() && peer.uid != 0) || poll(&come, 1, WORD_PATIENCE_MS) != 1 ||
	    recv(fd, word, sizeof word - 1, 0) <= 0) {
		close(fd);
	} else if (strcmp(word, "status") == 0) {
		FREED char *text = c->status(c->context, trouble, true);
		answer(fd, text);
	} else if (strcmp(word, "flush") == 0) {
		array_push(&c->flushing, fd);
		return CONTROL_FLUSH;
	} else if (strcmp(word, "stop") == 0) {
		array_push(&c->stopping, fd);
		return CONTROL_STOP;
	} else {
		answer(fd, "{\"error\": \"what is asked is not known\"}");
	}
	return CONTROL_NOTHING;
}

enum control_wish control_serve(struct control_server *c, const char *trouble)
{
	enum control_wish most = CONTROL_NOTHING;
	int fd;
	while ((fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		enum control_wish wish = serve_one(c, fd, trouble);
		most = wish > most ? wish : most;
	}
	return most;
}

void control_flushed(struct control_server *c, const char *trouble)
{
	FREED char *text = c->flushing.count ? c->status(c->context, trouble, true) : NULL;
	for (size_t i = 0; i < c->flushing.count; i++)
		answer(c->flushing.items[i], text);
	c->flushing.count = 0;
}

void control_ended(struct control_server *c, const char *trouble)
{
	c->last = c->status(c->context, trouble, false);
	for (size_t i = 0; i < c->flushing.count; i++)
		answer(c->flushing.items[i], c->last);
	c->flushing.count = 0;
}

void control_close(struct control_server *c, const struct control_place *p)
{
	struct stat log;
	if (c->fd >= 0) {
		close(c->fd);
		unlink(p->socket);
	}
	c->fd = -1;
	/* the number may soon be another's; the file itself is the lock and stays */
	int emptied = truncate(p->lock, 0);
	(void)emptied;
	if (stat(p->log, &log) == 0 && log.st_size == 0)
		unlink(p->log);
	for (size_t i = 0; i < c->stopping.count; i++)
		answer(c->stopping.items[i], c->last ? c->last : "{}");
	array_release(&c->flushing);
	array_release(&c->stopping);
	free(c->last);
	c->last = NULL;
}

/* ---- starting it ---- */

/* What the collector tells who started it, once. */
struct news {
	int64_t id;
	struct error err; /* text "": it collects */
};

void control_tell(struct control_teller *t, int64_t id, const struct error *err)
{
	struct news news = { .id = id };
	if (err)
		news.err = *err;
	if (t->fd < 0)
		return;
	ssize_t n = write(t->fd, &news, sizeof news);
	(void)n; /* who started it may be gone: it collects all the same */
	close(t->fd);
	t->fd = -1;
}

/* A copy that is none of the standard streams, which may have been closed before. */
static int beyond_streams(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/* No terminal, no descriptor of who started it. */
static void detach(const struct control_place *p, struct control_teller *t)
{
	const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
	int news = beyond_streams(t->fd);
	int null = beyond_streams(open("/dev/null", O_RDWR | O_CLOEXEC));
	int log = beyond_streams(open(p->log, flags, 0600));
	setsid();
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(log >= 0 ? log : null, STDERR_FILENO);
	t->fd = STDERR_FILENO + 1;
	dup2(news, t->fd);
	fcntl(t->fd, F_SETFD, FD_CLOEXEC);
	close_range((unsigned int)t->fd + 1, ~0U, 0);
}

int control_running_already(const struct control_place *p, pid_t holder, struct error *err)
{
	struct error none = ERROR_INIT;
	const char *word = kinds[p->kind].word;
	FREED char *text = control_ask(p, "status", 5, &none);
	json_t *all = text ? json_loads(text, 0, NULL) : NULL;
	long long run = control_number(all, "run");
	if (run)
		error_set(err, EXIT_USAGE, "a %s is running already, pid %d, run %lld", word,
			  (int)holder, run);
	else
		error_set(err, EXIT_USAGE, "a %s is running already, pid %d", word, (int)holder);
	json_decref(all);
	return error_hint(err, "'%s' ends it", kinds[p->kind].stop);
}

int control_start(const struct control_place *p, control_body body, void *context, pid_t *pid,
		  int64_t *id, struct error *err)
{
	int fds[2];
	pid_t holder = control_holder(p);
	if (holder)
		return control_running_already(p, holder, err);
	if (pipe2(fds, O_CLOEXEC))
		return error_set(err, EXIT_ENVIRONMENT, "cannot make a pipe: %s", strerror(errno));
	fflush(NULL);
	*pid = fork();
	if (*pid == 0) {
		struct control_teller t = { .fd = fds[1] };
		detach(p, &t);
		_exit(body(context, &t));
	}
	if (*pid < 0)
		error_set(err, EXIT_ENVIRONMENT, "cannot start a process: %s", strerror(errno));
	close(fds[1]);
	/* until it collects, or for its error */
	struct news news = { 0 };
	ssize_t n = 0;
	while (*pid > 0 && (n = read(fds[0], &news, sizeof news)) < 0 && errno == EINTR)
		;
	close(fds[0]);
	*id = news.id;
	if (*pid > 0 && n != (ssize_t)sizeof news) {
		waitpid(*pid, NULL, WNOHANG);
		error_set(err, EXIT_ENVIRONMENT, "the %s ended before it began to collect",
			  kinds[p->kind].word);
		error_hint(err, "its log is %s", p->log);
	} else if (*news.err.text) {
		*err = news.err;
	}
	int failed = *pid < 0 || n != (ssize_t)sizeof news || *news.err.text ? -1 : 0;
	/* two that started at once: the lock let one through */
	if (failed && *pid > 0 && err->code == EXIT_USAGE && (holder = control_holder(p)) &&
	    holder != *pid)
		return control_running_already(p, holder, err);
	return failed;
}

/* ---- who asks it later ---- */

long long control_number(const json_t *answer, const char *key)
{
	return (long long)json_integer_value(json_object_get(answer, key));
}

const char *control_text(const json_t *answer, const char *key)
{
	const char *text = json_string_value(json_object_get(answer, key));
	return text ? text : "";
}

json_t *control_ask_lab(enum control_kind kind, struct lab_access *lab, const char *word,
			struct error *err)
{
	struct control_place place;
	bool stop = strcmp(word, "stop") == 0;
	if (control_place_find(&place, kind, lab, err))
		return NULL;
	char *text = control_ask(&place, word, stop ? STOP_PATIENCE_S : STATUS_PATIENCE_S, err);
	if (!text)
		return NULL;
	/* Once it has answered, it has nothing left to do but to end. */
	for (int i = 0; stop && i < STOPPED_PATIENCE_MS && control_holder(&place); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	json_t *all = json_loads(text, 0, NULL);
	free(text);
	if (!all)
		error_set(err, EXIT_ENVIRONMENT, "the %s's answer cannot be read",
			  kinds[kind].word);
	return all;
}
