#include "subject/dbms/mariadb/url.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/options.h"
#include "base/text.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* NULL: an escape is cut short, is none, or stands for a byte of 0. */
static char *unescape(const char *text, size_t length)
{
	char *out = xmalloc(length + 1);
	size_t at = 0;
	for (size_t i = 0; i < length; i++) {
		if (text[i] != '%') {
			out[at++] = text[i];
			continue;
		}
		int high = i + 2 < length ? hex_digit(text[i + 1]) : -1;
		int low = i + 2 < length ? hex_digit(text[i + 2]) : -1;
		if (high < 0 || low < 0 || (high == 0 && low == 0)) {
			free(out);
			return NULL;
		}
		out[at++] = (char)(high * 16 + low);
		i += 2;
	}
	out[at] = '\0';
	return out;
}

/* Puts the unescaped text where it belongs; an empty one is as if it were not given. */
static int take(char **into, const char *what, const char *text, size_t length, struct error *err)
{
	if (length == 0)
		return 0;
	char *value = unescape(text, length);
	if (!value) {
		error_set(err, EXIT_USAGE, "the %s in the URL has a bad %% escape", what);
		return error_hint(err, "a %% itself is written %%25");
	}
	free(*into);
	*into = value;
	return 0;
}

static int take_user(struct mariadb_url *u, const char *text, size_t length, struct error *err)
{
	const char *colon = memchr(text, ':', length);
	size_t user = colon ? (size_t)(colon - text) : length;
	if (take(&u->user, "user", text, user, err))
		return -1;
	return colon ? take(&u->password, "password", colon + 1, length - user - 1, err) : 0;
}

static int take_port(struct mariadb_url *u, const char *text, size_t length, struct error *err)
{
	char *port = xstrndup(text, length), shown[40];
	long value = 0;
	bool good = integer_parse(port, 1, 65535, &value);
	text_display(port, shown, sizeof shown);
	free(port);
	if (!good)
		return error_set(err, EXIT_USAGE, "'%s' is no port; the URL wants 1 to 65535",
				 shown);
	u->port = (unsigned)value;
	return 0;
}

static int take_host(struct mariadb_url *u, const char *text, size_t length, struct error *err)
{
	const char *end = text + length, *host_end;
	if (length && *text == '[') { /* an IPv6 address */
		host_end = memchr(text, ']', length);
		if (!host_end)
			return error_set(err, EXIT_USAGE, "the host in the URL lacks its ]");
		text++;
	} else {
		host_end = memchr(text, ':', length);
		if (!host_end)
			host_end = end;
	}
	if (take(&u->host, "host", text, (size_t)(host_end - text), err))
		return -1;
	if (host_end < end && *host_end == ']')
		host_end++;
	if (host_end == end)
		return 0;
	if (*host_end != ':')
		return error_set(err, EXIT_USAGE, "only a port may follow the host in the URL");
	return take_port(u, host_end + 1, (size_t)(end - host_end - 1), err);
}

static int take_parameter(struct mariadb_url *u, const char *text, size_t length, struct error *err)
{
	static const char *const known[] = { "socket", "create", NULL };
	const char *equals = memchr(text, '=', length);
	size_t name = equals ? (size_t)(equals - text) : length;
	const char *value = text + name + (equals ? 1 : 0);
	size_t left = (size_t)(text + length - value);
	char *word = xstrndup(text, name), shown[40];
	text_display(word, shown, sizeof shown);
	const char *meant = nearest_word(word, known);
	free(word);
	if (equals && strcmp(shown, "socket") == 0)
		return take(&u->socket, "socket", value, left, err);
	if (equals && strcmp(shown, "create") == 0) {
		if (left == 3 && strncmp(value, "yes", 3) == 0)
			u->create = true;
		else if (left != 2 || strncmp(value, "no", 2) != 0)
			return error_set(err, EXIT_USAGE, "the URL's create is yes or no");
		return 0;
	}
	error_set(err, EXIT_USAGE, "'%s' is no parameter of a mariadb URL", shown);
	return error_hint(err, "%s=... is one", meant ? meant : "socket");
}

static int parse(struct mariadb_url *u, const char *url, struct error *err)
{
	const char *rest = strstr(url, "://");
	if (!rest || rest != strchr(url, ':')) {
		error_set(err, EXIT_USAGE, "a mariadb URL has // after its colon");
		return error_hint(err, "mariadb://user:password@host:port/database?socket=/path");
	}
	rest += 3;
	size_t authority = strcspn(rest, "/?");
	const char *at = memrchr(rest, '@', authority); /* passwords are often left unescaped */
	/* then this is no host, and shown it would be a part of the password */
	if (!at && memchr(rest, ':', authority) && strchr(rest + authority, '@')) {
		error_set(err, EXIT_USAGE, "the URL has an @ only behind a / or ?");
		return error_hint(err, "in a password / is written %%2F, ? %%3F");
	}
	if (at && take_user(u, rest, (size_t)(at - rest), err))
		return -1;
	const char *host = at ? at + 1 : rest;
	if (take_host(u, host, (size_t)(rest + authority - host), err))
		return -1;
	rest += authority;
	if (*rest == '/') {
		size_t database = strcspn(++rest, "?");
		if (memchr(rest, '/', database))
			return error_set(err, EXIT_USAGE,
					 "the database in the URL has a /; it is written %%2F");
		if (take(&u->database, "database", rest, database, err))
			return -1;
		rest += database;
	}
	if (*rest == '?') {
		const char *text = rest + 1;
		while (*text) {
			size_t length = strcspn(text, "&");
			if (length && take_parameter(u, text, length, err))
				return -1;
			text += length + (text[length] == '&');
		}
	}
	if (u->socket && ((u->host && strcmp(u->host, "localhost") != 0) || u->port))
		return error_set(err, EXIT_USAGE, "the URL names both a socket and a host or port");
	if (u->create && !u->database)
		return error_set(err, EXIT_USAGE,
				 "create=yes needs the database's name in the URL");
	return 0;
}

int mariadb_url_parse(const char *url, struct mariadb_url *into, struct error *err)
{
	*into = (struct mariadb_url){ 0 };
	if (parse(into, url, err)) {
		mariadb_url_release(into);
		return -1;
	}
	return 0;
}

void mariadb_url_release(struct mariadb_url *u)
{
	free(u->user);
	free(u->password);
	free(u->host);
	free(u->database);
	free(u->socket);
	*u = (struct mariadb_url){ 0 };
}
