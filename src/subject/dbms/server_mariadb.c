#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "subject/dbms/server_mariadb.h"

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

/* A final NULL that is not counted. */
static bool end(word_list *words)
{
	array_push(words, NULL);
	words->count--;
	return true;
}

/* Servers are where only root looks for programs. */
static char *find_in(const char *folders, const char *name)
{
	while (*folders) {
		size_t length = strcspn(folders, ":");
		struct strbuf path = { 0 };
		strbuf_printf(&path, "%.*s/%s", (int)length, folders, name);
		if (length && access(path.text, X_OK) == 0)
			return strbuf_detach(&path);
		strbuf_release(&path);
		folders += length + (folders[length] == ':');
	}
	return NULL;
}

static bool add_program(word_list *words, const char *name, struct error *err)
{
	const char *own = getenv("PATH");
	char *path = own ? find_in(own, name) : NULL;
	if (!path)
		path = find_in("/usr/sbin:/usr/bin:/usr/libexec:/usr/local/sbin:/usr/local/bin",
			       name);
	if (!path) {
		error_set(err, EXIT_ENVIRONMENT, "%s is not installed", name);
		error_hint(err, "it is in Debian's package mariadb-server-core");
		return false;
	}
	array_push(words, path);
	return true;
}

const char *mariadb_server_user(const char *wanted)
{
	return getpwnam(wanted) ? wanted : "nobody";
}

/* mariadbd does not run as root unless that is said; it changes to the user itself. */
static void add_user(word_list *words, const struct server_place *p)
{
	if (geteuid() == 0 && p->user)
		add(words, "--user=%s", mariadb_server_user(p->user));
}

static bool is_made(const char *data)
{
	struct strbuf path = { 0 };
	strbuf_printf(&path, "%s/mysql/global_priv.frm", data);
	bool made = access(path.text, F_OK) == 0;
	strbuf_release(&path);
	return made;
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
	add_user(words, p);
	return end(words);
}

static bool server_words(const struct server_place *p, word_list *words, struct error *err)
{
	if (!add_program(words, "mariadbd", err))
		return false;
	add(words, "--no-defaults"); /* must be the first */
	add(words, "--datadir=%s", p->data);
	add(words, "--socket=%s/" SOCKET_NAME, p->socket);
	add(words, "--pid-file=%s/mariadb.pid", p->socket);
	add(words, "--skip-networking");
	add(words, "--skip-log-bin");
	/* a new server's pool is empty, and stays so until somebody asks */
	add(words, "--innodb-buffer-pool-dump-at-shutdown=0");
	add(words, "--innodb-buffer-pool-load-at-startup=0");
	add_user(words, p);
	for (const char *const *s = p->settings; s && *s; s++)
		add(words, "--%s", *s);
	return end(words);
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

/* The server speaks first: the length of what it says in three bytes, a number, its protocol. An
 * error instead, as of too many connections, begins with 255. */
static bool greets(int fd)
{
	enum { HEAD = 5, PROTOCOL = 10, WAIT_MS = 1000 };
	unsigned char head[HEAD];
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	return poll(&ready, 1, WAIT_MS) == 1 && recv(fd, head, sizeof head, MSG_DONTWAIT) == HEAD &&
	       head[HEAD - 1] == PROTOCOL;
}

bool mariadb_answers(const struct server_place *p)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int length =
		snprintf(address.sun_path, sizeof address.sun_path, "%s/" SOCKET_NAME, p->socket);
	if (length < 0 || (size_t)length >= sizeof address.sun_path)
		return false;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	bool yes = connect(fd, (struct sockaddr *)&address, sizeof address) == 0 && greets(fd);
	close(fd);
	return yes;
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
