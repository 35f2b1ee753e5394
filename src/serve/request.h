/* What a client may ask for, and whether it may: pure functions over what it sent. Nothing here is
 * believed: a web page of anybody's can make a browser on this machine send most of it. */
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

/* What a list may be sorted by: what a run is called and is, what was made, what came of it. */
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
	request_ids runs; /* of ROUTE_RUN just one */
	request_ids studies;
	char *like;	/* NULL: none */
	int64_t before; /* 0: none */
	uint32_t most, skip;
	enum request_sort sort;
	bool up;     /* the least first */
	char *token; /* as in the URL; NULL: none */
};

/* The URL as it came, still escaped. 0, or the HTTP status with err set; r is to be released in
 * both cases. */
int request_parse(struct request *r, const char *method, const char *url, struct error *err);
void request_release(struct request *r);
/* What a URL of this route may be asked with, as the header Allow has it. */
const char *request_methods(enum request_route route);
/* Sets err, unless hint is NULL with one; gives the status. */
int request_refuse(int status, struct error *err, const char *text, const char *hint);
/* Two requests with the same text have the same answer, token or not; the caller frees. */
char *request_key(const struct request *r);

struct request_edit {
	char *name, *tags; /* NULL: stays as it is */
};
/* A body of POST, JSON. As request_parse(). */
int request_edit_parse(struct request_edit *e, const char *body, size_t length, struct error *err);
void request_edit_release(struct request_edit *e);

/* Where the server is: a numeric address without brackets, and the port. */
struct request_place {
	const char *address;
	uint16_t port;
};
#define REQUEST_ADDRESS_SIZE 46 /* with its end */
/* As it is usually spelled; false: it is no numeric address. */
bool request_spell_address(const char *address, char spelled[REQUEST_ADDRESS_SIZE]);
bool request_is_loopback(const char *address);
bool request_is_any(const char *address); /* every address of this machine */
/* Whether a Host header names this server. By name, not by whom DNS sends here: a page of
 * evil.example whose name leads to 127.0.0.1 would be of the same origin. */
bool request_host_fits(const struct request_place *place, const char *host);
/* An Origin header must be that of a page of this server. */
bool request_origin_fits(const struct request_place *place, const char *origin);

/* In a time that does not tell where they differ. */
bool request_token_fits(const char *token, const char *given);
/* Long enough not to be guessed, and of characters that mean nothing in a URL. */
bool request_token_good(const char *token);

/* Whether an Accept-Encoding header (NULL: none) has gzip. */
bool request_takes_gzip(const char *accept);

#endif
