#include "serve/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "serve/answer.h"
#include "serve/events.h"
#include "serve/library.h"
#include "serve/peers.h"
#include "serve/workers.h"

#define CONNECTIONS_MAX 512
#define CONNECTIONS_OF_ONE 384 /* address: all of loopback is one */
/* With more, the slowest is let go: fewer than all of one address, so that a new one finds a place.
 */
#define CONNECTIONS_ROOM 320
#define CONNECTION_BYTES (40UL << 10) /* a request's line and headers must fit, with room */
#define BODY_IGNORED_MAX (1UL << 20)  /* of a body that is too long, for its end to be awaited */
#define TOO_LONG "the body of the request is too long"
#define SILENT_S 30
#define REQUEST_NS UINT64_C(20000000000) /* for a request to come in whole */
#define ANSWER_NS UINT64_C(600000000000) /* for it to be answered and the answer taken */
#define TICK_NS 500000000

struct server {
	const struct mhd_library *mhd;
	struct MHD_Daemon *daemon;
	struct request_place place;
	char *address, *token;
	bool read_only;
	struct peers peers;
	struct workers *workers;
	struct events *events;
	struct answer *page[2]; /* as it is, and compressed */
	pthread_t ticker;
	pthread_mutex_t lock; /* of stopping */
	pthread_cond_t stopped;
	bool stopping;
};

/* ---- an exchange: a request and its answer ---- */

enum stage { STAGE_NEW, STAGE_BODY, STAGE_WORK, STAGE_DONE };

struct exchange {
	struct work work; /* first: a work is cast back */
	struct server *server;
	struct MHD_Connection *connection;
	struct peer *peer;
	enum stage stage;
	char *url; /* as it came */
	struct strbuf body;
	size_t body_seen; /* bytes, also those not kept */
	/* of the headers */
	size_t header_bytes;
	unsigned hosts;
	const char *host, *origin, *token, *site, *accept, *last_event;
	uint64_t announced; /* length of the body */
};

static void add_header(struct server *s, struct MHD_Response *r, const char *name,
		       const char *value)
{
	s->mhd->MHD_add_response_header(r, name, value);
}

static void add_headers(struct server *s, struct MHD_Response *r, enum request_route route,
			const char *type)
{
	bool page = route == ROUTE_PAGE;
	add_header(s, r, "Content-Type", type);
	add_header(s, r, "Cache-Control", page ? "no-cache" : "no-store");
	add_header(s, r, "X-Content-Type-Options", "nosniff");
	add_header(s, r, "Referrer-Policy", "no-referrer");
	add_header(s, r, "Cross-Origin-Resource-Policy", "same-origin");
	add_header(s, r, "Cross-Origin-Opener-Policy", "same-origin");
	add_header(s, r, "X-Frame-Options", "DENY");
	/* the page itself says what it may load; who may frame it can only be said here */
	add_header(s, r, "Content-Security-Policy",
		   page ? "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
			: "default-src 'none'; frame-ancestors 'none'");
}

static void release_answer(void *context)
{
	answer_release(context);
}

/* Takes the answer. */
static enum MHD_Result send_answer(struct exchange *x, struct answer *a, enum request_route route)
{
	struct server *s = x->server;
	struct MHD_Response *r = s->mhd->MHD_create_response_from_buffer_with_free_callback_cls(
		a->length, a->bytes, release_answer, a);
	if (!r) {
		answer_release(a);
		return MHD_NO;
	}
	add_headers(s, r, route,
		    route == ROUTE_PAGE ? "text/html; charset=utf-8" : "application/json");
	if (a->gzip)
		add_header(s, r, "Content-Encoding", "gzip");
	if (route == ROUTE_PAGE)
		add_header(s, r, "Vary", "Accept-Encoding");
	if (a->status == 405)
		add_header(s, r, "Allow", request_methods(x->work.request.route));
	if (a->status == 503)
		add_header(s, r, "Retry-After", "1");
	x->stage = STAGE_DONE;
	peer_allow(&s->peers, x->peer, PEER_TAKING, ANSWER_NS);
	enum MHD_Result result = s->mhd->MHD_queue_response(x->connection, a->status, r);
	s->mhd->MHD_destroy_response(r);
	return result;
}

static enum MHD_Result send_error(struct exchange *x, int status, const struct error *err)
{
	return send_answer(x, answer_error((unsigned)status, err), ROUTE_RUNS);
}

/* ---- checks ---- */

static enum MHD_Result note_header(void *context, enum MHD_ValueKind kind, const char *name,
				   const char *value)
{
	struct exchange *x = context;
	(void)kind;
	if (!value)
		value = "";
	x->header_bytes += strlen(name) + strlen(value) + 4;
	const struct {
		const char *name, **into;
	} wanted[] = { { "Host", &x->host },
		       { "Origin", &x->origin },
		       { "X-Tare-Token", &x->token },
		       { "Sec-Fetch-Site", &x->site },
		       { "Accept-Encoding", &x->accept },
		       { "Last-Event-ID", &x->last_event } };
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		if (strcasecmp(name, wanted[i].name) == 0)
			*wanted[i].into = value;
	x->hosts += strcasecmp(name, "Host") == 0;
	if (strcasecmp(name, "Content-Length") == 0)
		x->announced = strtoull(value, NULL, 10);
	return MHD_YES;
}

static int check_sender(const struct exchange *x, struct error *err)
{
	const struct server *s = x->server;
	if (x->header_bytes > REQUEST_HEADERS_MAX)
		return request_refuse(431, err, "the headers of the request are too long", NULL);
	if (x->hosts != 1)
		return request_refuse(400, err, "a request has one Host header", NULL);
	if (!request_host_fits(&s->place, x->host))
		return request_refuse(421, err, "this server does not go by that name",
				      "use the URL that 'tare serve' printed");
	if (x->origin && !request_origin_fits(&s->place, x->origin))
		return request_refuse(403, err, "pages from elsewhere may not ask here", NULL);
	return 0;
}

static int check_right(const struct exchange *x, struct error *err)
{
	const struct server *s = x->server;
	const struct request *r = &x->work.request;
	const char *given = x->token ? x->token : r->token;
	if (r->route == ROUTE_PAGE)
		return 0;
	if (x->site && strcasecmp(x->site, "same-origin") != 0 && strcasecmp(x->site, "none") != 0)
		return request_refuse(403, err, "pages from elsewhere may not ask here", NULL);
	if (!given || !request_token_fits(s->token, given))
		return request_refuse(
			403, err, given ? "the token is not the right one" : "no token was given",
			"use the URL that 'tare serve' printed when it was started last");
	if (r->writes && s->read_only)
		return request_refuse(403, err, "this lab is served for reading only",
				      "start 'tare serve' without --read-only");
	if (r->route == ROUTE_REPORT && !r->runs.count && !r->studies.count)
		return request_refuse(400, err, "no run was named",
				      "/api/report?run=1, for example");
	return 0;
}

/* ---- answers ---- */

static void work_done(struct work *w)
{
	struct exchange *x = (struct exchange *)w;
	/* the library calls handle() again */
	x->server->mhd->MHD_resume_connection(x->connection);
}

static bool work_wanted(const struct work *w)
{
	const struct exchange *x = (const struct exchange *)w;
	return !x->peer->gone;
}

/* ---- events ---- */

/* The connection of a listener, for as long as there is one. */
struct stream {
	struct server *server;
	struct MHD_Connection *connection;
	struct peer *peer;
	struct listener *listener;
};

static void suspend(void *connection)
{
	struct stream *stream = connection;
	stream->server->mhd->MHD_suspend_connection(stream->connection);
}

static void resume(void *connection)
{
	struct stream *stream = connection;
	stream->server->mhd->MHD_resume_connection(stream->connection);
}

static bool gone(void *connection)
{
	struct stream *stream = connection;
	return stream->peer->gone;
}

static const struct events_driver driver = { suspend, resume, gone };

static ssize_t read_stream(void *context, uint64_t position, char *into, size_t room)
{
	struct stream *stream = context;
	(void)position;
	ssize_t n = listener_read(stream->server->events, stream->listener, into, room);
	return n < 0 ? MHD_CONTENT_READER_END_OF_STREAM : n;
}

static void end_stream(void *context)
{
	struct stream *stream = context;
	listener_remove(stream->server->events, stream->listener);
	free(stream);
}

static enum MHD_Result send_events(struct exchange *x)
{
	struct server *s = x->server;
	struct error err = ERROR_INIT;
	struct stream *stream = xcalloc(1, sizeof *stream);
	*stream = (struct stream){ s, x->connection, x->peer, NULL };
	stream->listener = listener_add(s->events, stream, x->work.states,
					x->work.request.runs.count, x->work.list, x->last_event);
	x->work.states = NULL;
	if (!stream->listener) {
		free(stream);
		return send_error(
			x, request_refuse(503, &err, "too many pages listen", "close some"), &err);
	}
	struct MHD_Response *r = s->mhd->MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, 1024, read_stream, stream, end_stream);
	if (!r) {
		end_stream(stream);
		return MHD_NO;
	}
	add_headers(s, r, ROUTE_EVENTS, "text/event-stream");
	x->stage = STAGE_DONE;
	peer_allow(&s->peers, x->peer, PEER_WAITS, 0);
	enum MHD_Result result = s->mhd->MHD_queue_response(x->connection, 200, r);
	s->mhd->MHD_destroy_response(r);
	return result;
}

static enum MHD_Result answer_whole(struct exchange *x)
{
	struct error err = ERROR_INIT;
	struct request *r = &x->work.request;
	int status = 0;
	if (x->body_seen > REQUEST_BODY_MAX)
		status = request_refuse(413, &err, TOO_LONG, "at most 64 KiB");
	else if (r->writes)
		status = request_edit_parse(&x->work.edit, strbuf_text(&x->body), x->body.length,
					    &err);
	if (status)
		return send_error(x, status, &err);
	if (r->route != ROUTE_PAGE) {
		struct server *s = x->server;
		x->stage = STAGE_WORK;
		x->work.done = work_done;
		x->work.wanted = work_wanted;
		x->work.gzip = request_takes_gzip(x->accept);
		peer_allow(&s->peers, x->peer, PEER_WAITS, ANSWER_NS);
		s->mhd->MHD_suspend_connection(x->connection);
		if (workers_ask(s->workers, &x->work))
			return MHD_YES;
		x->work.answer = workers_stopping();
		s->mhd->MHD_resume_connection(x->connection);
		return MHD_YES;
	}
	return send_answer(x, answer_share(x->server->page[request_takes_gzip(x->accept)]),
			   ROUTE_PAGE);
}

/* ---- what the library calls ---- */

static void *note_url(void *context, const char *url, struct MHD_Connection *connection)
{
	struct server *s = context;
	struct exchange *x = xcalloc(1, sizeof *x);
	x->server = s;
	x->connection = connection;
	x->url = xstrdup(url);
	x->peer = s->mhd->MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
			  ->socket_context;
	return x;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *body,
			      size_t *length, void **own)
{
	struct exchange *x = *own;
	(void)context, (void)connection, (void)url, (void)version;
	switch (x->stage) {
	case STAGE_NEW: {
		/* an answer before the end of the body ends the connection */
		struct error err = ERROR_INIT;
		x->server->mhd->MHD_get_connection_values(x->connection, MHD_HEADER_KIND,
							  note_header, x);
		int status = check_sender(x, &err);
		if (!status)
			status = request_parse(&x->work.request, method, x->url, &err);
		if (!status)
			status = check_right(x, &err);
		if (!status && x->announced > REQUEST_BODY_MAX)
			status = request_refuse(413, &err, TOO_LONG, "at most 64 KiB");
		if (status)
			return send_error(x, status, &err);
		x->stage = STAGE_BODY;
		return MHD_YES;
	}
	case STAGE_BODY:
		if (!*length)
			return answer_whole(x);
		x->body_seen += *length;
		if (x->body_seen <= REQUEST_BODY_MAX && x->work.request.writes)
			strbuf_add(&x->body, body, *length);
		*length = 0;
		return x->body_seen > BODY_IGNORED_MAX ? MHD_NO : MHD_YES;
	case STAGE_WORK: {
		/* the workers have answered */
		struct answer *a = x->work.answer;
		if (!a)
			return send_events(x);
		x->work.answer = NULL;
		return send_answer(x, a, x->work.request.route);
	}
	default:
		/* the answer is on its way; what still comes of a refused body is not wanted */
		*length = 0;
		return MHD_YES;
	}
}

static void complete(void *context, struct MHD_Connection *connection, void **own,
		     enum MHD_RequestTerminationCode how)
{
	struct server *s = context;
	struct exchange *x = *own;
	(void)connection, (void)how;
	if (!x)
		return;
	peer_allow(&s->peers, x->peer, PEER_ASKING, REQUEST_NS); /* for the next */
	request_release(&x->work.request);
	request_edit_release(&x->work.edit);
	answer_release(x->work.answer);
	free(x->work.states);
	strbuf_release(&x->body);
	free(x->url);
	free(x);
	*own = NULL;
}

static void note_connection(void *context, struct MHD_Connection *connection, void **own,
			    enum MHD_ConnectionNotificationCode what)
{
	struct server *s = context;
	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		peer_remove(&s->peers, *own);
		return;
	}
	int fd = s->mhd->MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
			 ->connect_fd;
	*own = peer_add(&s->peers, fd, REQUEST_NS);
}

/* ---- start and end ---- */

static void *run_ticker(void *context)
{
	struct server *s = context;
	pthread_mutex_lock(&s->lock);
	while (!s->stopping) {
		struct timespec until;
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += TICK_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&s->stopped, &s->lock, &until);
		pthread_mutex_unlock(&s->lock);
		peers_check(&s->peers);
		events_tick(s->events);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static int listen_at(struct server *s, uint16_t port, struct error *err)
{
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
	} at = { 0 };
	socklen_t length = sizeof at.four;
	if (inet_pton(AF_INET, s->address, &at.four.sin_addr) == 1) {
		at.four.sin_family = AF_INET;
		at.four.sin_port = htons(port);
	} else if (inet_pton(AF_INET6, s->address, &at.six.sin6_addr) == 1) {
		at.six.sin6_family = AF_INET6;
		at.six.sin6_port = htons(port);
		length = sizeof at.six;
	} else {
		return error_set(err, EXIT_USAGE, "an address to listen at must be numeric");
	}
	int fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
	    bind(fd, &at.any, length) == 0 && listen(fd, CONNECTIONS_MAX) == 0 &&
	    getsockname(fd, &at.any, &length) == 0) {
		s->place.port =
			ntohs(at.any.sa_family == AF_INET ? at.four.sin_port : at.six.sin6_port);
		return fd;
	}
	int number = errno;
	if (fd >= 0)
		close(fd);
	error_set(err, EXIT_ENVIRONMENT, "cannot listen at %s port %u: %s",
		  DISPLAYED(s->address, 128), port, strerror(number));
	return number == EADDRINUSE ? error_hint(err, "choose another with --port NUM; 0 is any "
						      "free one")
				    : -1;
}

static void release(struct server *s)
{
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->stopped);
	peers_release(&s->peers);
	answer_release(s->page[0]);
	answer_release(s->page[1]);
	free(s->address);
	free(s->token);
	free(s);
}

int serve_start(struct server **out, const struct serve_options *o,
		const struct serve_source *source, struct error *err)
{
	const struct mhd_library *mhd = mhd_library(err);
	if (!mhd)
		return -1;
	struct server *s = xcalloc(1, sizeof *s);
	s->mhd = mhd;
	pthread_condattr_t attributes;
	s->address = xstrdup(o->place.address);
	s->place.address = s->address;
	s->token = xstrdup(o->token);
	s->read_only = o->read_only;
	peers_init(&s->peers, CONNECTIONS_ROOM);
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&s->stopped, &attributes);
	pthread_condattr_destroy(&attributes);
	int fd = listen_at(s, o->place.port, err);
	if (fd < 0) {
		release(s);
		return -1;
	}
	for (int gzip = 0; gzip < 2; gzip++) {
		struct strbuf text = { 0 };
		source->page(source->context, &text);
		s->page[gzip] = answer_new(200, &text, gzip);
	}
	if (source->confine)
		source->confine(source->context);
	s->events = events_new(source, &driver);
	s->workers = workers_start(source);
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
	s->daemon = s->mhd->MHD_start_daemon(
		flags, 0, NULL, NULL, handle, s, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)CONNECTIONS_OF_ONE,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENT_S, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_URI_LOG_CALLBACK, note_url, s, MHD_OPTION_NOTIFY_COMPLETED, complete, s,
		MHD_OPTION_NOTIFY_CONNECTION, note_connection, s, MHD_OPTION_END);
	if (!s->daemon) {
		close(fd);
		workers_stop(s->workers);
		workers_free(s->workers);
		events_free(s->events);
		release(s);
		return error_set(err, EXIT_ENVIRONMENT, "cannot start the web server");
	}
	if (pthread_create(&s->ticker, NULL, run_ticker, s))
		abort(); /* like memory that is exhausted */
	*out = s;
	return 0;
}

uint16_t serve_port(const struct server *s)
{
	return s->place.port;
}

/* The library wants no connection suspended at its end. */
void serve_stop(struct server *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->stopping = true;
	pthread_cond_signal(&s->stopped);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->ticker, NULL);
	int fd = s->mhd->MHD_quiesce_daemon(s->daemon);
	workers_stop(s->workers);
	events_close(s->events);
	s->mhd->MHD_stop_daemon(s->daemon);
	if (fd >= 0)
		close(fd);
	workers_free(s->workers);
	events_free(s->events);
	release(s);
}
