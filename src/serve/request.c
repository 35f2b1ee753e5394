#include "serve/request.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/strbuf.h"

#define LIST_DEFAULT 200
#define TOKEN_MIN 16
#define TOKEN_MAX 256
#define RUN_PATH "/api/runs/"

int request_refuse(int status, struct error *err, const char *text, const char *hint)
{
	error_set(err, EXIT_USAGE, "%s", text);
	if (hint)
		error_hint(err, "%s", hint);
	return status;
}

/* ---- texts of URLs ---- */

static int hex_value(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* The text that the escaped one stands for; NULL: a bad escape, or a byte of 0. */
static char *unescape(const char *text, size_t length)
{
	char *out = xmalloc(length + 1);
	size_t n = 0;
	for (size_t i = 0; i < length; i++) {
		char c = text[i];
		if (c == '+') {
			c = ' ';
		} else if (c == '%') {
			int high = i + 2 < length ? hex_value(text[i + 1]) : -1;
			int low = i + 2 < length ? hex_value(text[i + 2]) : -1;
			if (high < 0 || low < 0)
				goto bad;
			c = (char)(high * 16 + low);
			i += 2;
		}
		if (!c)
			goto bad;
		out[n++] = c;
	}
	out[n] = '\0';
	return out;
bad:
	free(out);
	return NULL;
}

/* A number as it is written: digits, without zeros before them. */
static bool number_parse(const char *text, int64_t *number)
{
	size_t digits = strspn(text, "0123456789");
	if (!digits || digits > 18 || text[digits] || (*text == '0' && digits > 1))
		return false;
	*number = strtoll(text, NULL, 10);
	return true;
}

/* The same, at least 1. */
static bool id_parse(const char *text, int64_t *id)
{
	return number_parse(text, id) && *id;
}

/* ---- parameters ---- */

static int bad_number(const char *name, int least, struct error *err)
{
	error_set(err, EXIT_USAGE, "%s is not a number from %d on", name, least);
	return 400;
}

static int add_id(request_ids *ids, const char *name, const char *value, struct error *err)
{
	int64_t id;
	if (!id_parse(value, &id))
		return bad_number(name, 1, err);
	for (size_t i = 0; i < ids->count; i++)
		if (ids->items[i] == id)
			return 0;
	if (ids->count == REQUEST_RUNS_MAX)
		return request_refuse(400, err, "too many runs or studies in one request",
				      "at most 16 of each");
	array_push(ids, id);
	return 0;
}

/* What is not known is not an error: a later page may ask with more. */
static int set_parameter(struct request *r, const char *name, const char *value, struct error *err)
{
	bool report = r->route == ROUTE_REPORT, runs = r->route == ROUTE_RUNS;
	int64_t number;
	if (strcmp(name, "token") == 0) {
		free(r->token);
		r->token = xstrdup(value);
	} else if (strcmp(name, "run") == 0 && (report || r->route == ROUTE_EVENTS)) {
		return add_id(&r->runs, name, value, err);
	} else if (strcmp(name, "study") == 0 && report) {
		return add_id(&r->studies, name, value, err);
	} else if (strcmp(name, "like") == 0 && runs) {
		free(r->like);
		r->like = xstrdup(value);
	} else if (strcmp(name, "before") == 0 && runs) {
		if (!id_parse(value, &r->before))
			return bad_number(name, 1, err);
	} else if (strcmp(name, "most") == 0 && runs) {
		if (!id_parse(value, &number))
			return bad_number(name, 1, err);
		r->most = (uint32_t)(number < REQUEST_LIST_MAX ? number : REQUEST_LIST_MAX);
	} else if (strcmp(name, "skip") == 0 && runs) {
		if (!number_parse(value, &number))
			return bad_number(name, 0, err);
		r->skip = (uint32_t)(number < UINT32_MAX ? number : UINT32_MAX);
	} else if (strcmp(name, "sort") == 0 && runs) {
		/* a - before the name sorts descending */
		static const char *const names[] = {
			[SORT_NUMBER] = "id", [SORT_NAME] = "name",	[SORT_COMMAND] = "command",
			[SORT_TAGS] = "tags", [SORT_STATUS] = "status", [SORT_BEGAN] = "began",
			[SORT_MADE] = "made", [SORT_ET] = "et",		[SORT_PT] = "pt",
		};
		_Static_assert(sizeof names / sizeof *names == SORTS, "each has a name");
		r->up = *value != '-';
		for (int i = 0; i < SORTS; i++) {
			if (strcmp(value + !r->up, names[i]) == 0) {
				r->sort = (enum request_sort)i;
				return 0;
			}
		}
		return request_refuse(
			400, err, "runs cannot be sorted by that",
			"id, name, command, tags, status, began, made, et or pt; with a - "
			"before it the other way round");
	}
	return 0;
}

static int parse_query(struct request *r, const char *query, struct error *err)
{
	int status = 0;
	while (*query && !status) {
		size_t length = strcspn(query, "&");
		const char *equals = memchr(query, '=', length);
		size_t name_length = equals ? (size_t)(equals - query) : length;
		FREED char *name = unescape(query, name_length);
		FREED char *value = equals ? unescape(equals + 1, length - name_length - 1)
					   : xstrdup("");
		if (!name || !value)
			status = request_refuse(400, err, "the URL has a bad escape", NULL);
		else if (length)
			status = set_parameter(r, name, value, err);
		query += length + (query[length] == '&');
	}
	return status;
}

/* ---- routes ---- */

/* Whole paths only, as they are written here: nothing is unescaped, joined or normalized, so there
 * is nothing to trick. */
static bool find_route(struct request *r, const char *path, size_t length)
{
	static const struct {
		const char *path;
		enum request_route route;
	} routes[] = {
		{ "/", ROUTE_PAGE },
		{ "/api/runs", ROUTE_RUNS },
		{ "/api/report", ROUTE_REPORT },
		{ "/api/events", ROUTE_EVENTS },
	};
	for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
		if (strlen(routes[i].path) == length && memcmp(path, routes[i].path, length) == 0) {
			r->route = routes[i].route;
			return true;
		}
	}
	char text[32];
	size_t before = strlen(RUN_PATH);
	int64_t id;
	if (length <= before || length - before >= sizeof text ||
	    memcmp(path, RUN_PATH, before) != 0)
		return false;
	memcpy(text, path + before, length - before);
	text[length - before] = '\0';
	if (!id_parse(text, &id))
		return false;
	r->route = ROUTE_RUN;
	array_push(&r->runs, id);
	return true;
}

const char *request_methods(enum request_route route)
{
	return route == ROUTE_RUN ? "POST" : "GET, HEAD";
}

int request_parse(struct request *r, const char *method, const char *url, struct error *err)
{
	*r = (struct request){ .most = LIST_DEFAULT };
	if (strlen(url) > REQUEST_URL_MAX)
		return request_refuse(414, err, "the URL is too long",
				      "ask for fewer runs at once");
	if (*url != '/')
		return request_refuse(400, err, "the URL is not a path on this server", NULL);
	for (const char *c = url; *c; c++)
		if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 127 || *c == '\\')
			return request_refuse(400, err,
					      "the URL has a character that must be escaped", NULL);
	size_t length = strcspn(url, "?#");
	if (url[length] == '#' || !find_route(r, url, length))
		return request_refuse(404, err, "there is nothing at this URL", "the page is at /");
	bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
	r->writes = strcmp(method, "POST") == 0;
	if (r->route == ROUTE_RUN ? !r->writes : !reads)
		return request_refuse(405, err, "there is no such method at this URL",
				      r->route == ROUTE_RUN ? "it is to be posted to"
							    : "it is to be read");
	return url[length] ? parse_query(r, url + length + 1, err) : 0;
}

void request_release(struct request *r)
{
	array_release(&r->runs);
	array_release(&r->studies);
	free(r->like);
	free(r->token);
	*r = (struct request){ 0 };
}

char *request_key(const struct request *r)
{
	struct strbuf key = { 0 };
	strbuf_printf(&key, "%d %u %" PRId64, (int)r->route, r->most, r->before);
	strbuf_printf(&key, " %u %d%c", r->skip, (int)r->sort, r->up ? '+' : '-');
	for (size_t i = 0; i < r->runs.count; i++)
		strbuf_printf(&key, " r%" PRId64, r->runs.items[i]);
	for (size_t i = 0; i < r->studies.count; i++)
		strbuf_printf(&key, " s%" PRId64, r->studies.items[i]);
	strbuf_printf(&key, " %s", r->like ? r->like : "");
	return strbuf_detach(&key);
}

/* ---- the body of a POST ---- */

int request_edit_parse(struct request_edit *e, const char *body, size_t length, struct error *err)
{
	*e = (struct request_edit){ 0 };
	const struct {
		const char *name;
		char **into;
	} texts[] = { { "name", &e->name }, { "tags", &e->tags } };
	json_auto_t *object = json_loadb(body, length, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(object))
		return request_refuse(400, err, "the body is no JSON object",
				      "{\"name\": \"...\", \"tags\": \"...\"}, or one of both");
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const json_t *value = json_object_get(object, texts[i].name);
		if (value && !json_is_string(value)) {
			error_set(err, EXIT_USAGE, "\"%s\" must be a text", texts[i].name);
			return 400;
		}
		*texts[i].into = xstrdup_or_null(json_string_value(value));
	}
	if (!e->name && !e->tags)
		return request_refuse(400, err, "there is nothing to change",
				      "\"name\", \"tags\" or both must be given");
	return 0;
}

void request_edit_release(struct request_edit *e)
{
	free(e->name);
	free(e->tags);
	*e = (struct request_edit){ 0 };
}

/* ---- who asks ---- */

/* Of either family, as one of IPv6; so are those of IPv4 that are spelled that way. */
static bool parse_address(const char *address, struct in6_addr *six)
{
	struct in_addr four;
	if (inet_pton(AF_INET, address, &four) != 1)
		return inet_pton(AF_INET6, address, six) == 1;
	*six = (struct in6_addr){ 0 };
	six->s6_addr[10] = six->s6_addr[11] = 0xff;
	memcpy(six->s6_addr + 12, &four, sizeof four);
	return true;
}

bool request_spell_address(const char *address, char spelled[REQUEST_ADDRESS_SIZE])
{
	struct in6_addr six;
	struct in_addr four;
	if (inet_pton(AF_INET, address, &four) == 1)
		return inet_ntop(AF_INET, &four, spelled, REQUEST_ADDRESS_SIZE);
	return inet_pton(AF_INET6, address, &six) == 1 &&
	       inet_ntop(AF_INET6, &six, spelled, REQUEST_ADDRESS_SIZE);
}

bool request_is_loopback(const char *address)
{
	struct in6_addr six;
	return parse_address(address, &six) &&
	       (IN6_IS_ADDR_LOOPBACK(&six) ||
		(IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127));
}

bool request_is_any(const char *address)
{
	static const unsigned char none[4];
	struct in6_addr six;
	return parse_address(address, &six) &&
	       (IN6_IS_ADDR_UNSPECIFIED(&six) ||
		(IN6_IS_ADDR_V4MAPPED(&six) && memcmp(six.s6_addr + 12, none, 4) == 0));
}

/* "name:port" or "[address]:port" into a name without brackets; false: neither. The port may be
 * missing where it is the one of HTTP. */
static bool split_host(const char *host, char name[64], unsigned *port)
{
	bool bracket = *host == '[';
	host += bracket;
	size_t length = strcspn(host, bracket ? "]" : ":");
	const char *rest = host + length;
	if (!length || length >= 64 || (bracket && *rest++ != ']'))
		return false;
	memcpy(name, host, length);
	name[length] = '\0';
	*port = 80;
	if (!*rest)
		return true;
	size_t digits = *rest == ':' ? strspn(rest + 1, "0123456789") : 0;
	if (!digits || digits > 5 || rest[1 + digits])
		return false;
	*port = (unsigned)strtoul(rest + 1, NULL, 10);
	return (strchr(name, ':') != NULL) == bracket;
}

bool request_host_fits(const struct request_place *place, const char *host)
{
	char name[64];
	unsigned port;
	struct in6_addr named, here;
	if (!split_host(host, name, &port) || port != place->port)
		return false;
	if (strcasecmp(name, "localhost") == 0 || strcmp(name, "127.0.0.1") == 0 ||
	    strcmp(name, "::1") == 0)
		return true;
	/* an address is no name to be led astray, and browsers spell it their own way */
	return parse_address(name, &named) && parse_address(place->address, &here) &&
	       (IN6_ARE_ADDR_EQUAL(&named, &here) || request_is_any(place->address));
}

bool request_origin_fits(const struct request_place *place, const char *origin)
{
	static const char scheme[] = "http://";
	return strncmp(origin, scheme, strlen(scheme)) == 0 &&
	       request_host_fits(place, origin + strlen(scheme));
}

bool request_token_fits(const char *token, const char *given)
{
	size_t length = strlen(token), other = strlen(given);
	volatile unsigned char differ = length != other;
	for (size_t i = 0; i < length; i++)
		differ |= (unsigned char)(token[i] ^ given[other ? i % other : 0]);
	return !differ;
}

bool request_token_good(const char *token)
{
	size_t length = strlen(token);
	for (const char *c = token; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("-._~", *c))
			return false;
	return length >= TOKEN_MIN && length <= TOKEN_MAX;
}

bool request_takes_gzip(const char *accept)
{
	while (accept && *accept) {
		accept += strspn(accept, " \t,");
		size_t length = strcspn(accept, ",");
		if (strncasecmp(accept, "gzip", 4) == 0 && strchr(",; \t", accept[4])) {
			const char *q = memmem(accept, length, "q=0", 3);
			/* "q=0", "q=0.000" refuse; "q=0.5" does not */
			return !q || strspn(q + 3, ".0") + 3 < strcspn(q, ", \t");
		}
		accept += length;
	}
	return false;
}
