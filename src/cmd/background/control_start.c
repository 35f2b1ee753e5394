/* Starting a collector in the background, and what it answers to those who ask later. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/background/control.h"

#define STATUS_PATIENCE_S 30
#define STOP_PATIENCE_S 300 /* what is held is made ready and stored */
#define END_PATIENCE_MS 5000

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

/* ---- who is started ---- */

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

/* ---- who starts it ---- */

int control_running_already(const struct control_place *p, pid_t holder, struct error *err)
{
	struct error none = ERROR_INIT;
	const char *word = control_word(p->kind);
	char *text = control_ask(p, "status", 5, &none);
	json_t *all = text ? json_loads(text, 0, NULL) : NULL;
	long long run = control_number(all, "run");
	if (run)
		error_set(err, EXIT_USAGE, "a %s is running already, pid %d, run %lld", word,
			  (int)holder, run);
	else
		error_set(err, EXIT_USAGE, "a %s is running already, pid %d", word, (int)holder);
	json_decref(all);
	free(text);
	return error_hint(err, "'%s' ends it", control_stop_line(p->kind));
}

/* Waits until it collects, or for its error. */
static int await_news(int fd, pid_t pid, const struct control_place *p, int64_t *id,
		      struct error *err)
{
	struct news news = { 0 };
	ssize_t n;
	while ((n = read(fd, &news, sizeof news)) < 0 && errno == EINTR)
		;
	if (n != (ssize_t)sizeof news) {
		waitpid(pid, NULL, WNOHANG);
		error_set(err, EXIT_ENVIRONMENT, "the %s ended before it began to collect",
			  control_word(p->kind));
		return error_hint(err, "its log is %s", p->log);
	}
	*id = news.id;
	if (!*news.err.text)
		return 0;
	*err = news.err;
	return -1;
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
	close(fds[1]);
	int failed = *pid < 0 ? error_set(err, EXIT_ENVIRONMENT, "cannot start a process: %s",
					  strerror(errno))
			      : await_news(fds[0], *pid, p, id, err);
	close(fds[0]);
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

/* Once it has answered, it has nothing left to do but to end. */
static void await_end(const struct control_place *p)
{
	for (int i = 0; i < END_PATIENCE_MS && control_holder(p); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
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
	if (stop)
		await_end(&place);
	json_t *all = json_loads(text, 0, NULL);
	free(text);
	if (!all)
		error_set(err, EXIT_ENVIRONMENT, "the %s's answer cannot be read",
			  control_word(kind));
	return all;
}
