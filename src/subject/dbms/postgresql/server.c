#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "subject/dbms/server_kind.h"

#define INSTALLED "/usr/lib/postgresql"
#define PORT "5432" /* a part of the socket's name, no more */

/* What made the directory: "15"; the caller frees. NULL: nothing. */
static char *version_of(const char *data)
{
	FREED char *path = xprintf("%s/PG_VERSION", data);
	return file_read_line(path);
}

static bool is_made(const char *data)
{
	FREED char *version = version_of(data);
	return version != NULL;
}

/* The newest that is installed where Debian has it. */
static char *newest(const char *program)
{
	glob_t found = { 0 };
	double best = 0;
	char *path = NULL;
	FREED char *pattern = xprintf(INSTALLED "/*/bin/%s", program);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++) {
			double version = strtod(found.gl_pathv[i] + sizeof INSTALLED, NULL);
			if (version <= best || access(found.gl_pathv[i], X_OK))
				continue;
			best = version;
			free(path);
			path = xstrdup(found.gl_pathv[i]);
		}
	globfree(&found);
	return path;
}

/* Of the version that made the data, which no other can read. */
static char *find_program(const char *program, const char *data, struct error *err)
{
	FREED char *version = version_of(data);
	char *path, shown[32] = "";
	if (version) {
		text_display(version, shown, sizeof shown);
		FREED char *place = xprintf(INSTALLED "/%s/bin", version);
		path = file_find_program(place, program);
	} else {
		path = newest(program);
	}
	const char *own = getenv("PATH");
	if (!path && own)
		path = file_find_program(own, program);
	if (path)
		return path;
	error_set(err, EXIT_ENVIRONMENT,
		  "PostgreSQL%s%s is not installed: no '%s' in " INSTALLED " or PATH",
		  *shown ? " " : "", shown, program);
	error_hint(err, "install the package postgresql%s%s", *shown ? "-" : "", shown);
	return NULL;
}

static void add_words(word_list *words, const char *const *more)
{
	for (; *more; more++)
		array_push(words, xstrdup(*more));
}

/* PostgreSQL never runs as root. */
static bool may_run(const struct server_place *p, struct error *err)
{
	if (geteuid() != 0 || (p->user && strcmp(p->user, "root") != 0))
		return true;
	error_set(err, EXIT_ENVIRONMENT, "PostgreSQL does not run as root");
	error_hint(err, "name another user who shall run it, as 'user:' of the server");
	return false;
}

/* The locale C: texts are sorted alike on every machine. */
static bool make_words(const struct server_place *p, word_list *words, struct error *err)
{
	char *program = may_run(p, err) ? find_program("initdb", p->data, err) : NULL;
	if (!program)
		return false;
	array_push(words, program);
	add_words(words,
		  (const char *const[]){ "-A", "trust", "-U", "postgres", "-N", "--no-instructions",
					 "--locale=C", "--encoding=UTF8", "-D", p->data, NULL });
	return true;
}

/* The last setting of a name wins: those that keep the server private come after the user's. */
static bool server_words(const struct server_place *p, word_list *words, struct error *err)
{
	char *program = may_run(p, err) ? find_program("postgres", p->data, err) : NULL;
	if (!program)
		return false;
	array_push(words, program);
	add_words(words, (const char *const[]){ "-D", p->data, NULL });
	for (const char *const *s = p->settings; s && *s; s++)
		add_words(words, (const char *const[]){ "-c", *s, NULL });
	add_words(words, (const char *const[]){
				 "-c", "listen_addresses=", "-c", "logging_collector=off", "-c",
				 "log_destination=stderr", "-p", PORT, "-k", p->socket, NULL });
	return true;
}

static char *url(const struct server_place *p)
{
	struct strbuf text = { 0 };
	strbuf_puts(&text, "postgresql://postgres@/postgres?host=");
	for (const char *at = p->socket; *at; at++)
		if (strchr("/-_.", *at) || (*at >= '0' && *at <= '9') ||
		    ((*at | 32) >= 'a' && (*at | 32) <= 'z'))
			strbuf_putc(&text, *at);
		else
			strbuf_printf(&text, "%%%02X", (unsigned char)*at);
	strbuf_puts(&text, "&port=" PORT);
	return strbuf_detach(&text);
}

const struct server_kind postgresql_server = {
	.dbms = "postgresql",
	.user = "postgres",
	.is_made = is_made,
	.make_words = make_words,
	.server_words = server_words,
	.url = url,
	.stop_signal = SIGINT, /* "fast": clients are disconnected, everything is written */
};
