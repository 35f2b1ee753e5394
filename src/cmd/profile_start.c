/* tare profile start: a collector in the background. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/profile.h"
#include "measure/interrupt.h"
#include "report/format.h"

#define LAST_TRIES 3
#define LAST_PAUSE_S 1

/* What the collector tells who started it, once. */
struct start_news {
	int64_t run;
	struct error err; /* text "": it samples */
};

struct collecting {
	const struct profile_options *o;
	struct control_place place;
	struct control_server server;
	struct profile_session session;
	int news_fd;				    /* -1: told already */
	char said[sizeof((struct error *)0)->text]; /* the trouble that is in the log */
};

/* ---- what it says of itself ---- */

static int64_t resident_bytes(void)
{
	char *text = file_read("/proc/self/statm"), *second = text ? strchr(text, ' ') : NULL;
	int64_t pages = second ? strtoll(second, NULL, 10) : 0;
	free(text);
	return pages * sysconf(_SC_PAGESIZE);
}

static int64_t lab_bytes(const char *path)
{
	static const char *const parts[] = { "", "-wal" };
	int64_t sum = 0;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		struct strbuf name = { 0 };
		struct stat st;
		strbuf_printf(&name, "%s%s", path, parts[i]);
		if (stat(strbuf_text(&name), &st) == 0)
			sum += st.st_size;
		strbuf_release(&name);
	}
	return sum;
}

static void set_text(json_t *object, const char *key, const char *text)
{
	char *valid = text_utf8(text);
	json_object_set_new(object, key, json_string(valid));
	free(valid);
}

static char *status_text(const struct collecting *c, const char *trouble, bool running)
{
	const struct profile_session *s = &c->session;
	char since[WORDS];
	format_iso8601(s->run.started_at_ns, since);
	json_t *all = json_pack(
		"{s:b, s:i, s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "running",
		(int)running, "pid", (int)getpid(), "run", (json_int_t)s->run.id, "since", since,
		"samples", (json_int_t)s->taken, "lost", (json_int_t)s->lost, "slices",
		(json_int_t)s->slices, "stored", (json_int_t)s->stored, "held",
		(json_int_t)s->held.slices.count, "dropped", (json_int_t)s->dropped, "rss_bytes",
		(json_int_t)resident_bytes(), "lab_bytes", (json_int_t)lab_bytes(lab_path(s->lab)));
	set_text(all, "name", s->run.name);
	set_text(all, "lab", lab_path(s->lab));
	if (*trouble)
		set_text(all, "error", trouble);
	else
		json_object_set_new(all, "error", json_null());
	char *text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text ? text : xstrdup("{}");
}

static char *status_now(void *context)
{
	const struct collecting *c = context;
	return status_text(c, c->session.trouble.text, true);
}

/* In the log, once each. */
static void note_trouble(struct collecting *c)
{
	const char *text = c->session.trouble.text;
	char when[64];
	if (strcmp(text, c->said) == 0)
		return;
	snprintf(c->said, sizeof c->said, "%s", text);
	text_date(clock_realtime_ns(), when, sizeof when);
	fprintf(stderr, "%s %s\n", when, *text ? text : "slices are stored again");
	fflush(stderr);
}

static void tell(struct collecting *c, const struct error *err)
{
	struct start_news news = { .run = c->session.run.id };
	if (err)
		news.err = *err;
	if (c->news_fd < 0)
		return;
	ssize_t n = write(c->news_fd, &news, sizeof news);
	(void)n; /* who started it may be gone: it samples all the same */
	close(c->news_fd);
	c->news_fd = -1;
}

/* ---- while it goes ---- */

static void on_started(void *context)
{
	tell(context, NULL);
}

static int on_slice(void *context, struct profile *slice, struct error *err)
{
	struct collecting *c = context;
	(void)err;
	profile_session_add(&c->session, slice);
	note_trouble(c);
	if (c->server.flushing.count) {
		char *text = status_now(c);
		control_answer_flushing(&c->server, text);
		free(text);
	}
	return 0;
}

static int on_control(void *context, enum profile_wish *wish, struct error *err)
{
	struct collecting *c = context;
	(void)err;
	control_serve(&c->server, status_now, c, wish);
	return 0;
}

/* ---- from begin to end ---- */

/* A copy that is none of the standard streams, which may have been closed before. */
static int beyond_streams(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/* No terminal, no descriptor of who started it, nothing of the directory it was in. */
static void detach(struct collecting *c)
{
	const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
	int news = beyond_streams(c->news_fd);
	int null = beyond_streams(open("/dev/null", O_RDWR | O_CLOEXEC));
	int log = beyond_streams(open(c->place.log, flags, 0600));
	setsid();
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(log >= 0 ? log : null, STDERR_FILENO);
	c->news_fd = STDERR_FILENO + 1;
	dup2(news, c->news_fd);
	fcntl(c->news_fd, F_SETFD, FD_CLOEXEC);
	close_range((unsigned int)c->news_fd + 1, ~0U, 0);
}

/* What is held is given some tries: the disk may have room again. */
static int end_session(struct collecting *c, enum run_status status, struct error *err)
{
	for (int i = 1; i < LAST_TRIES; i++) {
		struct error why = ERROR_INIT;
		if (profile_session_store(&c->session, &why) == 0)
			break;
		sleep(LAST_PAUSE_S);
	}
	return profile_session_end(&c->session, status, err);
}

static int open_everything(struct collecting *c, int argc, char **argv, struct error *err)
{
	pid_t holder;
	if (control_lock(&c->place, &holder, err) ||
	    profile_session_open(&c->session, c->o, argc, argv, err) ||
	    control_listen(&c->server, &c->place, err))
		return -1;
	/* the lab is open: a directory that goes does not matter any more */
	return chdir("/") ? error_set(err, EXIT_ENVIRONMENT, "cannot go to /: %s", strerror(errno))
			  : 0;
}

static int collect(struct collecting *c, int argc, char **argv)
{
	struct error err = ERROR_INIT, late = ERROR_INIT;
	const struct profile_options *o = c->o;
	detach(c);
	interrupt_watch();
	int failed = open_everything(c, argc, argv, &err);
	if (!failed) {
		const struct profile_plan plan = { .duration_ns = o->duration_ns,
						   .slice_ns = o->slice_ns,
						   .control_fd = c->server.fd,
						   .control = on_control,
						   .started = on_started };
		failed = profile_run(c->session.samples, &plan, on_slice, c, NULL, &err);
	}
	enum run_status status = !failed			? RUN_COMPLETE
				 : err.code == EXIT_INTERRUPTED ? RUN_INTERRUPTED
								: RUN_FAILED;
	if (failed)
		tell(c, &err); /* who started it knows already when it has sampled */
	if (c->session.run.id &&
	    (end_session(c, status, &late) || profile_session_judge(&c->session, &late)))
		fprintf(stderr, "%s\n", late.text);
	if (failed)
		fprintf(stderr, "%s\n", err.text);
	if (c->session.lab) {
		char *text = status_text(c, *late.text ? late.text : "", false);
		control_answer_flushing(&c->server, text);
		profile_session_close(&c->session);
		control_close(&c->server, &c->place);
		control_answer_stopping(&c->server, text);
		free(text);
	}
	return failed ? (int)err.code : (int)late.code;
}

/* ---- who starts it ---- */

static int running_already(const struct control_place *p, pid_t holder, struct error *err)
{
	struct error none = ERROR_INIT;
	char *text = control_ask(p, "status", 5, &none);
	json_t *all = text ? json_loads(text, 0, NULL) : NULL;
	json_int_t run = json_integer_value(json_object_get(all, "run"));
	if (run)
		error_set(err, EXIT_USAGE, "a collector is running already, pid %d, run %lld",
			  (int)holder, (long long)run);
	else
		error_set(err, EXIT_USAGE, "a collector is running already, pid %d", (int)holder);
	json_decref(all);
	free(text);
	return error_hint(err, "'tare profile stop' ends it");
}

/* Waits until it samples, or for its error. */
static int await_news(int fd, pid_t pid, const struct control_place *p, struct start_news *news,
		      struct error *err)
{
	ssize_t n;
	while ((n = read(fd, news, sizeof *news)) < 0 && errno == EINTR)
		;
	if (n != (ssize_t)sizeof *news) {
		waitpid(pid, NULL, WNOHANG);
		error_set(err, EXIT_ENVIRONMENT, "the collector ended before it sampled");
		return error_hint(err, "its log is %s", p->log);
	}
	if (!*news->err.text)
		return 0;
	*err = news->err;
	return -1;
}

static int start(const struct profile_options *o, int argc, char **argv, struct error *err)
{
	struct collecting c = { .o = o, .server.fd = -1 };
	struct start_news news = { 0 };
	int fds[2];
	if (control_place_find(&c.place, o->lab, true, err))
		return -1;
	pid_t holder = control_holder(&c.place);
	if (holder)
		return running_already(&c.place, holder, err);
	if (pipe2(fds, O_CLOEXEC))
		return error_set(err, EXIT_ENVIRONMENT, "cannot make a pipe: %s", strerror(errno));
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		c.news_fd = fds[1];
		_exit(collect(&c, argc, argv));
	}
	close(fds[1]);
	int failed = pid < 0 ? error_set(err, EXIT_ENVIRONMENT, "cannot start a process: %s",
					 strerror(errno))
			     : await_news(fds[0], pid, &c.place, &news, err);
	close(fds[0]);
	/* two that started at once: the lock let one through */
	if (failed && pid > 0 && err->code == EXIT_USAGE && (holder = control_holder(&c.place)) &&
	    holder != pid)
		return running_already(&c.place, holder, err);
	if (!failed && !o->quiet)
		printf("collecting: run %" PRId64 ", pid %d\n"
		       "'tare profile report %" PRId64 "' shows it so far, 'tare profile stop' "
		       "ends it\n",
		       news.run, (int)pid, news.run);
	return failed;
}

int profile_start(int argc, char **argv)
{
	struct profile_options o;
	spec_list specs = { 0 };
	text_list operands = { 0 };
	int code;
	profile_options_init(&o);
	o.background = true;
	profile_record_specs(&specs, &o);
	array_push(&specs, (struct option_spec){ 0 });
	if (cmd_options(
		    "tare profile start [OPTIONS]",
		    "Samples in the background until 'tare profile stop': one collector for each\n"
		    "user and lab.\n",
		    specs.items, argc, argv, &operands, &code)) {
		struct error err = ERROR_INIT;
		code = profile_options_check(&o, &operands, argc, argv, &err) ||
				       start(&o, argc, argv, &err)
			       ? cmd_fail(&err)
			       : EXIT_DONE;
	}
	profile_options_release(&o);
	array_release(&operands);
	array_release(&specs);
	return code;
}
