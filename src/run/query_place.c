#include "run/query_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/invoker.h"
#include "base/strbuf.h"

/* ---- what is shown ---- */

/* odbc:DSN=...;PWD={sec;ret};... */
static char *without_pwd(const char *url)
{
	struct strbuf out = { 0 };
	const char *at = strchr(url, ':') + 1;
	strbuf_add(&out, url, (size_t)(at - url));
	while (*at) {
		const char *key = at + strspn(at, " \t"), *end = at + strcspn(at, ";{");
		bool secret = strncasecmp(key, "PWD", 3) == 0 ||
			      strncasecmp(key, "PASSWORD", 8) == 0;
		if (*end == '{') {
			end++;
			while (*end && !(*end == '}' && end[1] != '}'))
				end += *end == '}' ? 2 : 1; /* a brace in braces is doubled */
			end += strcspn(end, ";");
		}
		end += *end == ';';
		if (!secret)
			strbuf_add(&out, at, (size_t)(end - at));
		at = end;
	}
	return strbuf_detach(&out);
}

/* scheme://user:secret@host... and ...?password=secret. What is secret may hold anything. */
static char *without_password(const char *url)
{
	struct strbuf out = { 0 };
	const char *authority = strstr(url, "://"), *at = strrchr(url, '@');
	const char *colon = authority ? strchr(authority + 3, ':') : NULL;
	if (at && colon && colon < at) {
		strbuf_add(&out, url, (size_t)(colon - url));
		url = at;
	}
	for (const char *word; (word = strstr(url, "password=")); url = word) {
		strbuf_add(&out, url, (size_t)(word - url));
		word += strcspn(word, "&");
		word += *word == '&';
	}
	strbuf_puts(&out, url);
	return strbuf_detach(&out);
}

char *query_url_shown(const char *url)
{
	return strncmp(url, "odbc:", 5) == 0 ? without_pwd(url) : without_password(url);
}

int query_text_shown(const char *text, const char *url, char **shown, struct error *err)
{
	char *harmless = url ? query_url_shown(url) : NULL;
	bool secret = harmless && strcmp(harmless, url) != 0;
	struct strbuf out = { 0 };
	const char *found = secret ? strstr(text, url) : NULL;
	if (secret && !found) {
		free(harmless);
		error_set(err, EXIT_USAGE, "the password in the experiment's URL would be stored");
		return error_hint(err, "write the URL on one line, without escapes, or give it on "
				       "the command line");
	}
	for (; found; found = strstr(text, url)) {
		strbuf_add(&out, text, (size_t)(found - text));
		strbuf_puts(&out, harmless);
		text = found + strlen(url);
	}
	strbuf_puts(&out, text);
	*shown = strbuf_detach(&out);
	free(harmless);
	return 0;
}

/* ---- opened ---- */

/* Only what tare put there: where a resumed run has its file is what a lab says. */
static void remove_tables(const char *directory)
{
	static const char *const endings[] = { "", "-journal", "-wal", "-shm" };
	AS_USER(as);
	if (invoker_begin(&as, NULL))
		return;
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		SCOPED(strbuf_release) struct strbuf path = { 0 };
		strbuf_printf(&path, "%s/tables.db%s", directory, endings[i]);
		unlink(strbuf_text(&path));
	}
	rmdir(directory);
}

static int own_file(struct query_place *p, struct error *err)
{
	const char *where = getenv("TMPDIR");
	struct strbuf path = { 0 };
	strbuf_printf(&path, "%s/tare-query-XXXXXX", where && *where ? where : "/tmp");
	p->directory = strbuf_detach(&path);
	if (!guard_make_folder(p->directory, &p->guarded)) {
		error_set(err, EXIT_ENVIRONMENT, "cannot make a directory for the tables, %s: %s",
			  p->directory, strerror(errno));
		free(p->directory);
		p->directory = NULL;
		return -1;
	}
	strbuf_printf(&path, "sqlite:%s/tables.db", p->directory);
	p->url = strbuf_detach(&path);
	p->own_file = true;
	return 0;
}

static int choose(struct query_place *p, const struct experiment *e, const char *url,
		  const struct query_rig *rig, struct error *err)
{
	const char *own = rig->server ? server_url(rig->server) : NULL;
	bool recalled = p->recalled && url == p->recalled;
	if (recalled && p->own_file) {
		/* the file of tare's own that a resumed run had, as long as it is there */
		const char *path = strchr(url, ':'), *slash = path ? strrchr(path, '/') : NULL;
		AS_USER(as);
		if (slash && invoker_begin(&as, NULL) == 0 &&
		    faccessat(AT_FDCWD, path + 1, R_OK | W_OK, AT_EACCESS) == 0) {
			user_end(&as);
			p->directory = xstrndup(path + 1, (size_t)(slash - path - 1));
			p->guarded = guard_call(remove_tables, p->directory);
			p->url = xstrdup(url);
			return 0;
		}
		url = NULL;
	}
	/* where the socket of tare's own server is may differ from time to time */
	if (own && (!url || recalled))
		url = own;
	if (!url)
		url = e->url;
	if (!url && (e->server.data || e->server.start))
		return error_set(err, EXIT_USAGE,
				 "the experiment's server is started by commands: its 'dbms' says "
				 "where to connect to");
	if (!url && e->tables.count)
		return own_file(p, err);
	if (!url) {
		error_set(err, EXIT_USAGE, "query: in which database?");
		return error_hint(err,
				  "sqlite:FILE, postgresql://..., mariadb://... or odbc:DSN=...");
	}
	/* a file is found again from another directory */
	static const char scheme[] = "sqlite:";
	const char *path = url + sizeof scheme - 1;
	bool file = strncmp(url, scheme, sizeof scheme - 1) == 0 && *path && *path != '/' &&
		    *path != ':';
	FREED char *here = file ? getcwd(NULL, 0) : NULL;
	struct strbuf text = { 0 };
	if (here)
		strbuf_printf(&text, "%s%s/%s", scheme, here, path);
	else
		strbuf_puts(&text, url);
	p->own_file = false;
	p->url = strbuf_detach(&text);
	return 0;
}

int query_place_open(struct query_place *p, const struct experiment *e, const char *url,
		     const char *driver_file, enum query_transaction transaction,
		     struct query_rig *rig, struct error *err)
{
	const struct dbms_options options = {
		.settings = (const char *const *)e->settings,
		.must_exist = !e->tables.count, /* a name with a slip in it makes no file */
		.driver_file = driver_file ? driver_file : e->driver_file,
		.transaction = transaction,
	};
	const struct experiment_server *s = &e->server;
	const struct server_description description = {
		.dbms = e->dbms,
		.data = s->data,
		.make = s->make,
		.start = s->start,
		.stop = s->stop,
		.url = e->url,
		.settings = (const char *const *)s->settings,
		.user = s->user,
	};
	bool elsewhere = url && (!p->recalled || url != p->recalled);
	if (!elsewhere && (s->data || s->start) &&
	    (server_open(&rig->server, &description, err) || server_start(rig->server, err)))
		return -1;
	if (choose(p, e, url, rig, err))
		return -1;
	return dbms_open(&rig->dbms, p->url, &options, err);
}

void query_place_close(struct query_place *p, struct query_rig *rig, bool for_good)
{
	dbms_close(rig->dbms);
	server_close(rig->server);
	rig->dbms = NULL;
	rig->server = NULL;
	if (p->directory && for_good)
		remove_tables(p->directory);
	guard_release(p->guarded);
	free(p->directory);
	free(p->url);
	free(p->recalled);
	*p = (struct query_place){ 0 };
}
