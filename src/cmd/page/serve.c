#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/page/page.h"
#include "serve/serve.h"

#define PORT 8273
#define LOOPBACK "127.0.0.1"
#define TOKEN_BYTES 16

#define IDLE 8 /* labs kept open: there are fewer threads */

/* What answers are made from. To make one the lab is opened anew, since an open one remembers what
 * it has read; whether there is something new is asked of one that is kept open. */
struct served {
	char *path;
	bool read_only;
	pthread_mutex_t lock; /* of idle, count, idle_inode */
	struct lab *idle[IDLE];
	size_t count;
	ino_t idle_inode;
	/* only of changed() */
	struct lab *watched;
	uint32_t version;
	ino_t inode;
};

/* ---- errors as HTTP has them ---- */

static int lab_status(const struct error *err, int otherwise)
{
	return err->code == EXIT_USAGE ? otherwise : 503;
}

static int open_for_reading(const struct served *s, struct lab **lab, struct error *err)
{
	return lab_open(lab, s->path, LAB_READ, err) ? 503 : 0;
}

static ino_t inode_of(const char *path)
{
	struct stat st;
	return stat(path, &st) ? 0 : st.st_ino;
}

static void close_idle(struct served *s)
{
	while (s->count)
		lab_close(s->idle[--s->count]);
}

/* A lab for stamps. */
static int borrow(struct served *s, struct lab **lab, struct error *err)
{
	ino_t inode = inode_of(s->path);
	pthread_mutex_lock(&s->lock);
	if (inode != s->idle_inode)
		close_idle(s);
	s->idle_inode = inode;
	*lab = s->count ? s->idle[--s->count] : NULL;
	pthread_mutex_unlock(&s->lock);
	return *lab ? 0 : open_for_reading(s, lab, err);
}

static void give_back(struct served *s, struct lab *lab, int status)
{
	pthread_mutex_lock(&s->lock);
	if (status != 503 && s->count < IDLE && inode_of(s->path) == s->idle_inode) {
		s->idle[s->count++] = lab;
		lab = NULL;
	}
	pthread_mutex_unlock(&s->lock);
	lab_close(lab);
}

/* ---- reports ---- */

static int answer_report(struct lab *lab, const struct request *r, struct strbuf *out,
			 struct error *err)
{
	struct page_request request = { .served = true };
	struct page *page = NULL;
	for (size_t i = 0; i < r->runs.count; i++)
		array_push(&request.runs, r->runs.items[i]);
	for (size_t i = 0; i < r->studies.count; i++)
		array_push(&request.studies, r->studies.items[i]);
	int failed = cmd_make_page(lab, &request, &page, err);
	if (!failed)
		page_json(page, out);
	page_free(page);
	array_release(&request.runs);
	array_release(&request.studies);
	/* it was there when it was looked at, so its state is in the way */
	return failed ? lab_status(err, 409) : 0;
}

static int answer(void *context, const struct request *r, struct strbuf *out, struct error *err)
{
	struct lab *lab;
	int status = open_for_reading(context, &lab, err);
	if (status)
		return status;
	if (r->route == ROUTE_REPORT)
		status = answer_report(lab, r, out, err);
	else if (serve_list(lab, r, out, err))
		status = lab_status(err, 409);
	lab_close(lab);
	return status;
}

static int check_studies(struct lab *lab, const struct request *r, struct error *err)
{
	FREED lab_study_list studies = { 0 };
	int status = lab_list_studies(lab, &studies, err) ? 503 : 0;
	for (size_t i = 0; i < r->studies.count && !status; i++) {
		bool found = false;
		for (size_t k = 0; k < studies.count; k++)
			found = found || studies.items[k].id == r->studies.items[i];
		if (!found) {
			error_set(err, EXIT_USAGE, "there is no study of daemons %lld in the lab",
				  (long long)r->studies.items[i]);
			error_hint(err, "'tare cutoffs studies' shows them");
			status = 404;
		}
	}
	return status;
}

static int stamp(void *context, const struct request *r, uint64_t *into, struct error *err)
{
	struct lab *lab;
	int status = borrow(context, &lab, err);
	if (status)
		return status;
	bool list = r->route == ROUTE_RUNS;
	*into = 0;
	status = r->studies.count ? check_studies(lab, r, err) : 0;
	if (!status && (list || r->studies.count) && lab_stamp_list(lab, list, into, err))
		status = 503;
	for (size_t i = 0; i < r->runs.count && !status; i++) {
		uint64_t one;
		if (lab_stamp_run(lab, r->runs.items[i], &one, err))
			status = lab_status(err, 404);
		else
			*into = *into * 31 + one;
	}
	give_back(context, lab, status);
	return status;
}

static void page(void *context, struct strbuf *out)
{
	(void)context;
	page_empty(out);
}

/* ---- changes ---- */

static int edit(void *context, int64_t run, const struct request_edit *e, uint64_t waited_ns,
		struct error *err)
{
	const struct served *s = context;
	struct run known = { 0 };
	struct lab *lab;
	if (e->name && lab_check_name(e->name, err))
		return 400;
	if (lab_open(&lab, s->path, LAB_EDIT, err))
		return lab_status(err, 409);
	/* else the last of those who want to change a lab that is locked waits for all of them */
	lab_waited(lab, waited_ns);
	int status = lab_get_run(lab, run, &known, err) ? lab_status(err, 404) : 0;
	if (!status && lab_edit_run(lab, run, e->name, e->tags, err))
		status = lab_status(err, 409);
	run_release(&known);
	lab_close(lab);
	return status;
}

static int states(void *context, struct serve_state *list, size_t count, uint64_t *of_list,
		  struct error *err)
{
	struct lab *lab;
	int status = borrow(context, &lab, err);
	if (status)
		return status;
	if (lab_stamp_list(lab, false, of_list, err))
		status = 503;
	for (size_t i = 0; i < count && !status; i++) {
		struct error none = ERROR_INIT;
		struct run run = { 0 };
		list[i].found = !lab_get_run(lab, list[i].run, &run, &none) &&
				!lab_stamp_run(lab, list[i].run, &list[i].stamp, &none);
		list[i].status = run_status_names[run.status];
		run_release(&run);
		if (!list[i].found && none.code != EXIT_USAGE) {
			*err = none;
			status = 503;
		}
	}
	give_back(context, lab, status);
	return status;
}

/* A lab whose file is another one now is opened again; versions of two openings say nothing. */
static bool changed(void *context)
{
	struct served *s = context;
	uint32_t version = 0;
	ino_t inode = inode_of(s->path);
	bool reopens = !s->watched || inode != s->inode;
	if (inode != s->inode) {
		lab_close(s->watched);
		s->watched = NULL;
		s->inode = inode;
	}
	if (!s->watched && (!inode || lab_open(&s->watched, s->path, LAB_READ, NULL)))
		return false;
	if (lab_version(s->watched, &version, NULL))
		return reopens;
	bool differs = reopens || version != s->version;
	s->version = version;
	return differs;
}

static void confine(void *context)
{
	const struct served *s = context;
	serve_confine(s->path, s->read_only);
}

/* ---- the command ---- */

struct serve_command {
	struct lab_access *lab;
	const char *listen, *token_file;
	long port;
	bool read_only;
};

/* The caller frees. */
static char *choose_token(const struct serve_command *c, struct error *err)
{
	const char *given = getenv("TARE_TOKEN");
	char drawn[2 * TOKEN_BYTES + 1], shown[256], *token;
	unsigned char bytes[TOKEN_BYTES];
	if (c->token_file) {
		token = invoker_read_line(c->token_file);
		if (!token) {
			text_display(c->token_file, shown, sizeof shown);
			error_set(err, EXIT_USAGE, "cannot read the token from %s: %s", shown,
				  strerror(errno));
			return NULL;
		}
	} else if (given && *given) {
		token = xstrdup(given);
	} else if (getrandom(bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes) {
		for (size_t i = 0; i < sizeof bytes; i++)
			snprintf(drawn + 2 * i, 3, "%02x", bytes[i]);
		return xstrdup(drawn);
	} else {
		error_set(err, EXIT_ENVIRONMENT, "cannot draw a random token: %s", strerror(errno));
		return NULL;
	}
	if (request_token_good(token))
		return token;
	free(token);
	error_set(err, EXIT_USAGE, "the token of %s cannot be used",
		  c->token_file ? "--token-file" : "TARE_TOKEN");
	error_hint(err, "16 to 256 letters, digits and - . _ ~; leave it away for a random one");
	return NULL;
}

static int choose_address(const struct serve_command *c, char into[REQUEST_ADDRESS_SIZE],
			  struct error *err)
{
	const char *address = c->listen ? c->listen : LOOPBACK;
	if (strcmp(address, "localhost") == 0)
		address = LOOPBACK;
	if (request_spell_address(address, into))
		return 0;
	char shown[128];
	text_display(address, shown, sizeof shown);
	error_set(err, EXIT_USAGE, "serve: '%s' is not an address to listen at", shown);
	return error_hint(err, "127.0.0.1, ::1, or another one of this machine's, in numbers");
}

/* Where the page is: on stdout, so that a script can read it. */
static void announce(const struct served *s, const char *address, uint16_t port, const char *token)
{
	bool any = request_is_any(address);
	bool six = strchr(address, ':');
	char shown[256];
	text_display(s->path, shown, sizeof shown);
	fprintf(stderr, "Serving %s until Ctrl-C at\n", shown);
	printf("http://%s%s%s:%u/?token=%s\n", six ? "[" : "",
	       any ? (six ? "::1" : LOOPBACK) : address, six ? "]" : "", port, token);
	fflush(stdout);
	if (!request_is_loopback(address))
		fputs("tare: warning: others can reach this address, and what they send and get is\n"
		      "      not encrypted: whoever listens on the way has the token\n",
		      stderr);
}

/* From now on such a signal ends the process at once: what is still being made may take long. */
static void heed_second_signal(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	/* first those that came already, which were heeded */
	pthread_sigmask(SIG_SETMASK, interrupt_mask(), NULL);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		struct sigaction now;
		sigaction(numbers[i], NULL, &now);
		if (now.sa_handler != SIG_IGN)
			signal(numbers[i], SIG_DFL);
	}
}

static int serve(const struct serve_command *c, struct served *s, struct error *err)
{
	struct serve_source source = { s, page, answer, stamp, edit, states, changed, confine };
	char address[REQUEST_ADDRESS_SIZE];
	char *token = choose_address(c, address, err) ? NULL : choose_token(c, err);
	struct server *server = NULL;
	if (!token)
		return -1;
	struct serve_options o = { { address, (uint16_t)c->port }, token, c->read_only };
	signal(SIGPIPE, SIG_IGN);
	interrupt_watch();
	int failed = serve_start(&server, &o, &source, err);
	if (!failed) {
		announce(s, address, serve_port(server), token);
		while (!interrupted())
			ppoll(NULL, 0, NULL, interrupt_mask());
		heed_second_signal();
		serve_stop(server);
	}
	free(token);
	return failed;
}

static int serve_lab(void *options, const struct cmd_args *args, struct error *err)
{
	const struct serve_command *c = options;
	struct served s = { .read_only = c->read_only, .lock = PTHREAD_MUTEX_INITIALIZER };
	if (args->operands.count) {
		error_set(err, EXIT_USAGE, "serve: takes no operands");
		return error_hint(err, "'tare report RUN -o FILE.html' writes the page of one run");
	}
	struct lab *lab = lab_access_open(c->lab, err);
	if (!lab)
		return -1;
	/* the same file whatever becomes of the environment */
	char *full = realpath(lab_path(lab), NULL);
	s.path = full ? full : xstrdup(lab_path(lab));
	lab_access_close(c->lab); /* each answer opens it for itself */
	int failed = serve(c, &s, err);
	lab_close(s.watched);
	close_idle(&s);
	free(s.path);
	return failed ? -1 : EXIT_DONE;
}

int cmd_serve(struct lab_access *lab, int argc, char **argv)
{
	struct serve_command c = { .lab = lab, .port = PORT };
	struct option_spec specs[] = {
		{ 'p', "port", OPTION_INTEGER, &c.port, "NUM",
		  "the port (default 8273; 0: any free one)", .min = 0, .max = 65535 },
		{ 0, "listen", OPTION_TEXT, &c.listen, "ADDRESS",
		  "an address of this machine (default 127.0.0.1: nobody else can reach it)" },
		{ 0, "read-only", OPTION_FLAG, &c.read_only, NULL,
		  "names and tags cannot be changed" },
		{ 0, "token-file", OPTION_TEXT, &c.token_file, "FILE",
		  "the token is in FILE (default: $TARE_TOKEN, else drawn)" },
		LAB_OPTION(lab, "the lab to serve"),
		{ 0 }
	};
	return cmd_run(
		"tare serve [OPTIONS]",
		"The lab in a web browser: its runs, their reports, also while a run goes on.\n"
		"Prints the URL to open, which holds a secret token, and serves until Ctrl-C.\n",
		specs, argc, argv, serve_lab, &c);
}
