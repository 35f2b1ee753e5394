/* A lock, a log and a socket in a directory that is the user's alone, named by the lab and by what
 * is there. */
#include "cmd/background/control.h"

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
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#define ANSWER_MOST 65536
#define WORD_MOST 32
#define WORD_PATIENCE_MS 200 /* for a client's word: it sends it at once */
#define END_PATIENCE_MS 2000
#define CONNECT_PATIENCE_NS 5000000000u
#define BACKLOG 16

/* ---- the place ---- */

/* FNV-1a */
static uint64_t hash(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	return h;
}

#define DIRECTORY_MOST (CONTROL_PATH - 32) /* the names within are shorter */

static bool settle(const char *path, bool make)
{
	return make ? directory_own(path) : directory_is_own(path);
}

/* Below the directory that the system gives a user, which goes when the user logs out: a collector
 * that stays longer is root's. */
static bool find_of_user(char out[DIRECTORY_MOST], bool make)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	unsigned int uid = (unsigned int)geteuid();
	char parent[DIRECTORY_MOST];
	if (runtime && *runtime == '/' && strlen(runtime) + 6 < DIRECTORY_MOST &&
	    directory_is_own(runtime)) {
		snprintf(out, DIRECTORY_MOST, "%.*s/tare", DIRECTORY_MOST - 6, runtime);
		if (settle(out, make))
			return true;
	}
	snprintf(parent, sizeof parent, "/run/user/%u", uid);
	if (directory_is_own(parent)) {
		snprintf(out, DIRECTORY_MOST, "/run/user/%u/tare", uid);
		if (settle(out, make))
			return true;
	}
	snprintf(out, DIRECTORY_MOST, "/tmp/tare-%u", uid);
	return settle(out, make);
}

static bool find_directory(char out[DIRECTORY_MOST], bool make)
{
	const char *told = getenv("TARE_RUNTIME_DIR"), *runtime = runtime_directory();
	if ((!told || !*told) && geteuid() != 0)
		return find_of_user(out, make);
	snprintf(out, DIRECTORY_MOST, "%s", runtime ? runtime : told);
	return runtime && strlen(runtime) < DIRECTORY_MOST && settle(out, make);
}

static const struct {
	const char *word;   /* what users know it as */
	const char *suffix; /* of its files, before what they are */
	const char *stop;   /* what ends it */
} kinds[] = {
	[CONTROL_PROFILE] = { "collector", "", "tare profile stop" },
	[CONTROL_WATCH] = { "watch", ".watch", "tare calibrate --watch-stop" },
};

const char *control_word(enum control_kind kind)
{
	return kinds[kind].word;
}

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
	char *real = realpath(lab_file, NULL);
	uint64_t number = hash(real ? real : lab_file);
	free(real);
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

static struct flock whole_file(void)
{
	return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET };
}

pid_t control_holder(const struct control_place *p)
{
	int fd = open(p->lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct flock lock = whole_file();
	if (fd < 0)
		return 0;
	bool held = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
	close(fd);
	return held ? lock.l_pid : 0;
}

int control_lock(const struct control_place *p, pid_t *holder, struct error *err)
{
	char pid[24];
	struct flock lock = whole_file();
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
	*c = (struct control_server){ .fd = -1 };
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

/* Who may: the collector's own user, and root. */
static bool may_ask(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof peer;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

static void serve_one(struct control_server *c, int fd, control_status_fn status, void *context,
		      struct control_wishes *wishes)
{
	char word[WORD_MOST] = "";
	struct pollfd come = { .fd = fd, .events = POLLIN };
	if (!may_ask(fd)) {
		close(fd);
		return;
	}
	if (poll(&come, 1, WORD_PATIENCE_MS) != 1 || recv(fd, word, sizeof word - 1, 0) <= 0) {
		close(fd);
	} else if (strcmp(word, "status") == 0) {
		char *text = status(context);
		answer(fd, text);
		free(text);
	} else if (strcmp(word, "flush") == 0) {
		array_push(&c->flushing, fd);
		wishes->flush = true;
	} else if (strcmp(word, "stop") == 0) {
		array_push(&c->stopping, fd);
		wishes->stop = true;
	} else {
		answer(fd, "{\"error\": \"what is asked is not known\"}");
	}
}

void control_serve(struct control_server *c, control_status_fn status, void *context,
		   struct control_wishes *wishes)
{
	int fd;
	while ((fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		serve_one(c, fd, status, context, wishes);
}

void control_answer_flushing(struct control_server *c, const char *text)
{
	for (size_t i = 0; i < c->flushing.count; i++)
		answer(c->flushing.items[i], text);
	c->flushing.count = 0;
}

void control_answer_stopping(struct control_server *c, const char *text)
{
	for (size_t i = 0; i < c->stopping.count; i++)
		answer(c->stopping.items[i], text);
	c->stopping.count = 0;
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
}
