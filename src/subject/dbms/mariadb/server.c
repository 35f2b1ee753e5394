#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "subject/dbms/server_kind.h"

#define SOCKET_NAME "mariadb.sock"

static void add(word_list *words, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(word_list *words, const char *fmt, ...)
{
	struct strbuf word = { 0 };
	va_list args;
	va_start(args, fmt);
	strbuf_vprintf(&word, fmt, args);
	va_end(args);
	array_push(words, strbuf_detach(&word));
}

/* Servers are where only root looks for programs. */
static bool add_program(word_list *words, const char *name, struct error *err)
{
	static const char usual[] =
		"/usr/sbin:/usr/bin:/usr/libexec:/usr/local/sbin:/usr/local/bin";
	const char *own = getenv("PATH");
	char *path = own ? file_find_program(own, name) : NULL;
	if (!path)
		path = file_find_program(usual, name);
	if (!path) {
		error_set(err, EXIT_ENVIRONMENT, "%s is not installed", name);
		error_hint(err, "it is in Debian's package mariadb-server-core");
		return false;
	}
	array_push(words, path);
	return true;
}

static bool is_made(const char *data)
{
	FREED char *path = xprintf("%s/mysql/global_priv.frm", data);
	return access(path, F_OK) == 0;
}

static bool make_words(const struct server_place *p, word_list *words, struct error *err)
{
	if (!add_program(words, "mariadb-install-db", err))
		return false;
	add(words, "--no-defaults");
	add(words, "--datadir=%s", p->data);
	/* root needs no password: whoever may use the socket may do all */
	add(words, "--auth-root-authentication-method=normal");
	add(words, "--skip-test-db");
	return true;
}

/* The last setting of a name wins: those that keep the server private come after the user's. */
static bool server_words(const struct server_place *p, word_list *words, struct error *err)
{
	if (!add_program(words, "mariadbd", err))
		return false;
	add(words, "--no-defaults"); /* must be the first */
	add(words, "--skip-log-bin");
	/* a new server's pool is empty, and stays so until somebody asks */
	add(words, "--innodb-buffer-pool-dump-at-shutdown=0");
	add(words, "--innodb-buffer-pool-load-at-startup=0");
	for (const char *const *s = p->settings; s && *s; s++)
		add(words, "--%s", *s);
	add(words, "--datadir=%s", p->data);
	add(words, "--socket=%s/" SOCKET_NAME, p->socket);
	add(words, "--pid-file=%s/mariadb.pid", p->socket);
	add(words, "--skip-networking");
	return true;
}

/* The tables of experiments get a database of their own, made by the first connection. */
static char *url(const struct server_place *p)
{
	struct strbuf text = { 0 };
	strbuf_puts(&text, "mariadb://root@localhost/tare?create=yes&socket=");
	for (const char *c = p->socket; *c; c++)
		if (strchr("%&#?+", *c) || *c <= ' ')
			strbuf_printf(&text, "%%%02X", (unsigned char)*c);
		else
			strbuf_putc(&text, *c);
	strbuf_puts(&text, "/" SOCKET_NAME);
	return strbuf_detach(&text);
}

const struct server_kind mariadb_server = {
	.dbms = "mariadb",
	.user = "mysql",
	.is_made = is_made,
	.make_words = make_words,
	.server_words = server_words,
	.url = url,
	.stop_signal = SIGTERM,
};
