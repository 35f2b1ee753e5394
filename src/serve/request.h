/* What a client may ask for, and whether it may: pure functions of what it sent. Nothing of that is
 * trusted, because any web page can make a browser on this machine send most of it. */
#ifndef TARE_SERVE_REQUEST_H
#define TARE_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

#define REQUEST_URL_MAX 8192	  /* above: 414 */
#define REQUEST_HEADERS_MAX 16384 /* above: 431 */
#define REQUEST_BODY_MAX 65536	  /* above: 413 */
#define REQUEST_RUNS_MAX 16	  /* in one report */
#define REQUEST_LIST_MAX 1000	  /* runs in one list */

enum request_route { ROUTE_PAGE, ROUTE_RUNS, ROUTE_REPORT, ROUTE_EVENTS, ROUTE_RUN };

/* What a list may be sorted by: the name and state of a run, what was made, and the result. */
enum request_sort {
	SORT_NUMBER,
	SORT_NAME,
	SORT_COMMAND,
	SORT_TAGS,
	SORT_STATUS,
	SORT_BEGAN,
	SORT_MADE,
	SORT_ET,
	SORT_PT,
	SORTS
};

typedef ARRAY(int64_t) request_ids;

struct request {
	enum request_route route;
	bool writes;	  /* POST */
	request_ids runs; /* exactly one for ROUTE_RUN */
	request_ids studies;
	char *like;	/* NULL: none */
	int64_t before; /* 0: none */
	uint32_t most, skip;
	enum request_sort sort;
	bool up;     /* smallest first */
	char *token; /* from the URL; NULL: none */
};

/* Parses the URL, which is still escaped. Returns 0, or the HTTP status with err set. r must be
 * released in both cases. */
int request_parse(struct request *r, const char *method, const char *url, struct error *err);
void request_release(struct request *r);
/* The methods of a route, for the header Allow. */
const char *request_methods(enum request_route route);
/* Sets err, with a hint unless hint is NULL, and returns the status. */
int request_refuse(int status, struct error *err, const char *text, const char *hint);
/* Requests with the same key have the same answer, whatever the token. The caller frees it. */
char *request_key(const struct request *r);

struct request_edit {
	char *name, *tags; /* NULL: unchanged */
};
/* Parses the JSON body of a POST. Returns as request_parse() does. */
int request_edit_parse(struct request_edit *e, const char *body, size_t length, struct error *err);
void request_edit_release(struct request_edit *e);

/* The server's address, numeric and without brackets, and its port. */
struct request_place {
	const char *address;
	uint16_t port;
};
#define REQUEST_ADDRESS_SIZE 46 /* including NUL */
/* The usual spelling; false: it is not a numeric address. */
bool request_spell_address(const char *address, char spelled[REQUEST_ADDRESS_SIZE]);
bool request_is_loopback(const char *address);
bool request_is_any(const char *address); /* every address of this machine */
/* Whether a Host header names this server. It compares names, because a page of evil.example whose
 * name resolves to 127.0.0.1 would otherwise have the same origin. */
bool request_host_fits(const struct request_place *place, const char *host);
/* An Origin header must be that of a page of this server. */
bool request_origin_fits(const struct request_place *place, const char *origin);

/* Compares in a time that does not reveal where they differ. */
bool request_token_fits(const char *token, const char *given);
/* Whether it is too long to be guessed, and has only characters without a meaning in URLs. */
bool request_token_good(const char *token);

/* Whether an Accept-Encoding header (NULL: none) includes gzip. */
bool request_takes_gzip(const char *accept);

#endif
