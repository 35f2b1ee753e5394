/* The process that reads. It is a fork of tare without tare's rights, descriptors and shared
 * memory. */
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/file.h"
#include "base/invoker.h"
#include "binary/disassemble.h"
#include "binary/reader_private.h"

/* Of address space, in which libdw maps whole files: large programs have 1 GB of lines. */
#define MEMORY_MOST (UINT64_C(4) << 30)

struct child {
	int socket;
	struct symbols *symbols;
	const struct reader_parts *parts;
	struct strbuf in, out, reply;
};

/* ---- files, which the other side opens ---- */

static int want(struct child *c, enum want what, const void *which, size_t size, char **path)
{
	uint32_t kind;
	int fd;
	strbuf_clear(&c->out);
	wire_put(&c->out, what);
	wire_put_bytes(&c->out, which, size);
	if (!wire_send(c->socket, MESSAGE_WANT, &c->out, -1, NULL) ||
	    !wire_receive(c->socket, &kind, &c->reply, &fd, NULL) || kind != MESSAGE_FILE)
		_exit(1);
	struct wire_in in = wire_read(&c->reply);
	const char *found = wire_get_text(&in);
	if (path)
		*path = xstrdup_or_null(found);
	return fd;
}

static int want_object(void *context, const struct profile_object *o)
{
	(void)o; /* it is the one that was sent */
	return want(context, WANT_OBJECT, "", 0, NULL);
}

static int want_path(void *context, const char *path)
{
	return want(context, WANT_PATH, path, strlen(path) + 1, NULL);
}

static int want_server(void *context, const uint8_t *id, size_t size, char **path)
{
	return want(context, WANT_SERVER, id, size, path);
}

static int want_jit(void *context)
{
	return want(context, WANT_JIT, "", 0, NULL);
}

static int want_kallsyms(void *context)
{
	return want(context, WANT_KALLSYMS, "", 0, NULL);
}

static const struct symbols_files wanted = { want_path, want_server, want_jit, want_kallsyms };

/* ---- answers ---- */

/* A profile of the one object that was sent. */
static void read_object(struct wire_in *in, struct profile *into)
{
	struct profile_object o = { .kind = (enum object_kind)wire_get(in) };
	o.pid = (uint32_t)wire_get(in);
	o.device = wire_get(in);
	o.inode = wire_get(in);
	size_t size;
	const uint8_t *id = wire_get_bytes(in, &size, BUILD_ID_MAX);
	memcpy(o.build_id, id, size);
	o.build_id_size = (uint8_t)size;
	o.path = (char *)wire_get_text(in); /* it is copied */
	profile_add_object(into, &o);
	for (uint64_t left = wire_get(in); left && !in->bad; left--) {
		uint32_t at = profile_add_location(into, 0, wire_get(in));
		if (wire_get(in)) /* a CPU was seen there, so its code is kept */
			profile_add_stack(into, &at, 1, 0, STACK_LEAF);
	}
}

static void write_filled(const struct profile *p, struct strbuf *out)
{
	strbuf_clear(out);
	wire_put(out, p->functions.count);
	for (uint32_t i = 0; i < p->functions.count; i++) {
		const struct profile_function *f = &p->functions.items[i];
		const struct profile_object *o = &p->objects.items[f->object];
		const struct profile_code *code = profile_find_code(p, i);
		wire_put(out, o->kind);
		wire_put_text(out, f->object ? o->path : NULL);
		wire_put_text(out, f->name);
		wire_put(out, f->address);
		wire_put(out, f->size);
		wire_put_text(out, f->file);
		wire_put(out, f->line);
		wire_put_bytes(out, code ? code->bytes : (const uint8_t *)"",
			       code ? code->size : 0);
	}
	for (size_t i = 0; i < p->locations.count; i++) {
		const struct profile_location *l = &p->locations.items[i];
		wire_put(out, l->address);
		wire_put(out, l->frames);
		for (uint32_t k = 0; k < l->frames; k++) {
			const struct profile_frame *f = &p->frames.items[l->first_frame + k];
			wire_put(out, f->function);
			wire_put(out, f->line);
			wire_put_text(out, f->file);
		}
	}
}

static void answer_fill(struct child *c)
{
	struct wire_in in = wire_read(&c->in);
	struct profile p = { 0 };
	read_object(&in, &p);
	c->parts->fill(c->symbols, &p);
	write_filled(&p, &c->out);
	profile_release(&p);
}

static void answer_code(struct child *c)
{
	struct wire_in in = wire_read(&c->in);
	uint64_t address = wire_get(&in);
	size_t size;
	const uint8_t *bytes = wire_get_bytes(&in, &size, WIRE_MOST);
	FREED instruction_list list = { 0 };
	struct error err = ERROR_INIT;
	disassemble(address, bytes, size, &list, &err);
	strbuf_clear(&c->out);
	wire_put(&c->out, (uint64_t)err.code);
	wire_put_text(&c->out, err.text);
	wire_put_text(&c->out, err.hint);
	wire_put(&c->out, list.count);
	for (size_t i = 0; i < list.count; i++) {
		wire_put(&c->out, list.items[i].size);
		wire_put_text(&c->out, list.items[i].text);
	}
}

/* ---- the process ---- */

static void limit(__rlimit_resource_t what, rlim_t most)
{
	setrlimit(what, &(struct rlimit){ most, most });
}

static void confine(int socket)
{
	/* of a terminal's signals only tare itself makes something */
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	struct invoker who;
	sigset_t none;
	pid_t parent = getppid();
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	invoker_get(&who);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	confine_inherited(socket);
	limit(RLIMIT_CORE, 0);
#ifndef TARE_SANITIZED /* whose shadow is larger than any limit */
	limit(RLIMIT_AS, MEMORY_MOST);
#endif
	confine_ids(who.present ? who.uid : NOBODY, who.present ? who.gid : NOBODY, NULL);
	/* after the ids, whose change clears it */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	confine_rights();
	confine_calls(CONFINE_READER);
}

void reader_child(int socket, const struct symbols_options *options,
		  const struct reader_parts *parts)
{
	struct child c = { .socket = socket, .parts = parts };
	struct symbols_options own = *options;
	uint32_t kind;
	confine(socket);
	own.open = want_object;
	own.context = &c;
	own.files = &wanted;
	own.breathe = NULL;
	c.symbols = symbols_new(&own);
	while (wire_receive(socket, &kind, &c.in, NULL, NULL)) {
		if (kind == MESSAGE_FILL)
			answer_fill(&c);
		else
			answer_code(&c);
		if (!wire_send(socket, kind == MESSAGE_FILL ? MESSAGE_FILLED : MESSAGE_CODED,
			       &c.out, -1, NULL))
			break;
	}
	_exit(0);
}
