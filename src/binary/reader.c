#include "binary/reader.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/invoker.h"
#include "base/text.h"
#include "binary/reader_private.h"

#define SECOND_NS UINT64_C(1000000000)
#define WANTS_MOST 10000 /* files that one object may need */
#define SERVER_MOST 64	 /* of them from a server */
#define TRIES 2		 /* the second with a process that has read nothing else */
#define BROKEN_MOST 1024
#define BROKEN_NAMED 200 /* bytes of a path */

/* Whose map of JIT code it is, as it was seen while its process lived. */
struct jit_owner {
	uint32_t pid;
	struct jit_map map; /* its table stays empty */
};

struct reader {
	struct symbols_options options;
	struct reader_parts parts;
	char *debug_path;
	pid_t pid; /* 0: none */
	int socket;
	struct strbuf out, in;
	uint64_t told_ns; /* of CPU time */
	ARRAY(struct jit_owner) owners;
	struct kernel_symbols kernel;	     /* only its memory */
	ARRAY(struct profile_object) broken; /* not tried again */
	bool cannot_start;
	char trouble[BROKEN_NAMED + 128];
	/* of what is being asked */
	const struct profile *profile;
	uint32_t object; /* PROFILE_NONE: bytes */
	uint64_t begun_ns, cpu_ns;
	unsigned wants, server_wants;
};

struct reader *reader_new_with(const struct symbols_options *options,
			       const struct reader_parts *parts)
{
	struct reader *r = xcalloc(1, sizeof *r);
	if (options)
		r->options = *options;
	if (r->options.debug_path)
		r->options.debug_path = r->debug_path = xstrdup(r->options.debug_path);
	r->parts = *parts;
	r->socket = -1;
	return r;
}

struct reader *reader_new(const struct symbols_options *options)
{
	/* symbols_fill() itself stops after 5 s of CPU time */
	static const struct reader_parts parts = { symbols_fill, 30 * SECOND_NS, 120 * SECOND_NS };
	return reader_new_with(options, &parts);
}

/* ---- the process ---- */

static uint64_t cpu_ns(const struct reader *r)
{
	clockid_t clock;
	struct timespec now;
	if (!r->pid || clock_getcpuclockid(r->pid, &clock) != 0 || clock_gettime(clock, &now) != 0)
		return 0;
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

uint64_t reader_spent_ns(struct reader *r)
{
	uint64_t now = r ? cpu_ns(r) : 0;
	if (!now)
		return 0;
	uint64_t spent = now > r->told_ns ? now - r->told_ns : 0;
	r->told_ns = now;
	return spent;
}

static void stop(struct reader *r)
{
	if (!r->pid)
		return;
	close(r->socket);
	kill(r->pid, SIGKILL);
	while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
		;
	r->pid = 0;
	r->socket = -1;
}

static bool start(struct reader *r)
{
	int ends[2];
	if (r->pid)
		return true;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	pid_t pid = fork();
	if (pid == 0)
		reader_child(ends[1], &r->options, &r->parts);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return false;
	}
	r->pid = pid;
	r->socket = ends[0];
	r->told_ns = 0;
	return true;
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	stop(r);
	strbuf_release(&r->in);
	strbuf_release(&r->out);
	array_release(&r->owners);
	kernel_release(&r->kernel);
	for (size_t i = 0; i < r->broken.count; i++)
		xfree(r->broken.items[i].path);
	array_release(&r->broken);
	xfree(r->debug_path);
	xfree(r);
}

/* ---- files that it asks for ---- */

/* Nothing else is handed over: not even a process that was taken over sees another kind of file. */
static int only_elf(int fd)
{
	char magic[SELFMAG];
	if (fd < 0 ||
	    (pread(fd, magic, SELFMAG, 0) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0))
		return fd;
	close(fd);
	return -1;
}

/* A name that comes out of a file or a lab: who typed sudo must be able to read it. */
static int open_path(const char *path)
{
	AS_USER(as);
	int fd = path && invoker_begin(&as, NULL) == 0 ? file_open_regular(path) : -1;
	user_end(&as);
	return only_elf(fd);
}

static int open_object(const struct reader *r, const struct profile_object *o)
{
	if (o->kind != OBJECT_FILE)
		return -1;
	return r->options.open ? only_elf(r->options.open(r->options.context, o))
			       : open_path(o->path);
}

static int open_jit(struct reader *r, const struct profile_object *o)
{
	if (o->kind != OBJECT_JIT && o->kind != OBJECT_MEMORY)
		return -1;
	struct jit_owner *owner = NULL;
	array_each(known, &r->owners)
		if (known->pid == o->pid)
			owner = known;
	if (!owner) {
		array_push(&r->owners, (struct jit_owner){ .pid = o->pid });
		owner = &r->owners.items[r->owners.count - 1];
	}
	return jit_open_of(&owner->map, r->profile, o->pid);
}

static int ask_server(struct reader *r, const uint8_t *id, size_t size, char **path)
{
	struct work work = { .breathe = r->options.breathe,
			     .context = r->options.context,
			     .left_ns = UINT64_MAX };
	if (!size || size > BUILD_ID_MAX || r->server_wants++ >= SERVER_MOST)
		return -1;
	work_begin(&work);
	int fd = only_elf(ask_debuginfod(&work, id, size, path));
	r->begun_ns = clock_monotonic_ns(); /* what a server takes is not the file's fault */
	return fd;
}

static bool hand_over(struct reader *r, const struct wire_patience *patience)
{
	struct wire_in in = wire_read(&r->in);
	enum want what = (enum want)wire_get_below(&in, WANTS);
	size_t size;
	const uint8_t *which = wire_get_bytes(&in, &size, WIRE_MOST);
	if (in.bad || r->object == PROFILE_NONE || r->wants++ >= WANTS_MOST)
		return false;
	const struct profile_object *o = &r->profile->objects.items[r->object];
	FREED char *path = NULL;
	CLOSED int fd = -1;
	switch (what) {
	case WANT_OBJECT:
		fd = open_object(r, o);
		break;
	case WANT_PATH:
		fd = open_path(size && !which[size - 1] ? (const char *)which : NULL);
		break;
	case WANT_SERVER:
		fd = ask_server(r, which, size, &path);
		break;
	case WANT_JIT:
		fd = open_jit(r, o);
		break;
	default:
		if (o->kind == OBJECT_KERNEL || o->kind == OBJECT_MODULE)
			fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	}
	SCOPED(strbuf_release) struct strbuf answer = { 0 };
	wire_put_text(&answer, path);
	return wire_send(r->socket, MESSAGE_FILE, &answer, fd, patience);
}

/* ---- asking ---- */

static bool is_patient(void *context)
{
	const struct reader *r = context;
	if (r->options.breathe)
		r->options.breathe(r->options.context);
	return clock_monotonic_ns() - r->begun_ns < r->parts.wall_ns &&
	       cpu_ns(r) - r->cpu_ns < r->parts.cpu_ns;
}

/* Sends r->out; the answer is in r->in. False: the process ended, or took too long. */
static bool ask_once(struct reader *r, enum message question, enum message answer)
{
	const struct wire_patience patience = { is_patient, r };
	uint32_t kind;
	r->begun_ns = clock_monotonic_ns();
	r->cpu_ns = cpu_ns(r);
	r->wants = r->server_wants = 0;
	bool good = wire_send(r->socket, question, &r->out, -1, &patience);
	while (good && (good = wire_receive(r->socket, &kind, &r->in, NULL, &patience)) &&
	       kind != (uint32_t)answer)
		good = kind == MESSAGE_WANT && is_patient(r) && hand_over(r, &patience);
	return good;
}

static bool ask(struct reader *r, enum message question, enum message answer)
{
	for (int i = 0; i < TRIES; i++) {
		bool fresh = !r->pid;
		if (!start(r)) {
			r->cannot_start = true;
			return false;
		}
		if (ask_once(r, question, answer))
			return true;
		stop(r);
		if (fresh)
			break;
	}
	return false;
}

/* ---- filling in ---- */

static bool is_broken(const struct reader *r, const struct profile_object *o)
{
	array_each(b, &r->broken)
		if (b->pid == o->pid && b->device == o->device && b->inode == o->inode &&
		    b->build_id_size == o->build_id_size &&
		    memcmp(b->build_id, o->build_id, o->build_id_size) == 0 &&
		    strcmp(b->path, o->path) == 0)
			return true;
	return false;
}

static void set_broken(struct reader *r, const struct profile_object *o)
{
	struct profile_object new = *o;
	if (r->broken.count >= BROKEN_MOST)
		return;
	new.path = xstrdup(o->path);
	array_push(&r->broken, new);
}

static void write_question(struct strbuf *out, const struct profile *p, uint32_t object,
			   const uint32_t *locations, size_t count, const bool *sampled)
{
	const struct profile_object *o = &p->objects.items[object];
	strbuf_clear(out);
	wire_put(out, o->kind);
	wire_put(out, o->pid);
	wire_put(out, o->device);
	wire_put(out, o->inode);
	wire_put_bytes(out, o->build_id, o->build_id_size);
	wire_put_text(out, o->path);
	wire_put(out, count);
	for (size_t i = 0; i < count; i++) {
		wire_put(out, p->locations.items[locations[i]].offset);
		wire_put(out, sampled[locations[i]]);
	}
}

/* The object of a function: this one, or one of those that symbols_fill() adds. */
static uint32_t object_of(struct profile *p, uint32_t object, enum object_kind kind,
			  const char *path)
{
	const struct profile_object *own = &p->objects.items[object];
	struct profile_object other = { .path = (char *)path, .kind = kind }; /* it is copied */
	if (!path)
		return kind == own->kind ? object : PROFILE_NONE;
	bool module = kind == OBJECT_MODULE && own->kind == OBJECT_KERNEL && *path == '[';
	bool jit = kind == OBJECT_JIT && own->kind == OBJECT_MEMORY && strcmp(path, "[jit]") == 0;
	if (!module && !jit)
		return PROFILE_NONE;
	other.pid = jit ? own->pid : 0;
	return profile_add_object(p, &other);
}

/* Reads the functions into the profile; `into` gets their numbers. */
static void read_functions(struct wire_in *in, struct profile *p, uint32_t object, uint32_t *into,
			   size_t count)
{
	for (size_t i = 0; i < count && !in->bad; i++) {
		enum object_kind kind = (enum object_kind)wire_get_below(in, OBJECT_KINDS);
		const char *path = wire_get_text(in), *name = wire_get_text(in);
		struct profile_function f = { .object = PROFILE_NONE };
		size_t size;
		f.address = wire_get(in);
		f.size = wire_get(in);
		f.file = (char *)wire_get_text(in); /* it is copied */
		f.line = (uint32_t)wire_get_below(in, UINT32_MAX);
		const uint8_t *code = wire_get_bytes(in, &size, CODE_MAX);
		if (!in->bad && name)
			f.object = object_of(p, object, kind, path);
		if (f.object == PROFILE_NONE) {
			in->bad = true;
			return;
		}
		f.name = (char *)name;
		into[i] = profile_add_function(p, &f);
		if (size)
			profile_add_code(p, into[i], code, (uint32_t)size);
	}
}

static void read_location(struct wire_in *in, struct profile *p, uint32_t location,
			  const uint32_t *functions, size_t function_count)
{
	struct profile_frame frames[LINE_FRAMES_MAX + 1];
	uint64_t address = wire_get(in);
	size_t count = wire_get_below(in, LINE_FRAMES_MAX + 2);
	for (size_t i = 0; i < count && !in->bad; i++) {
		uint64_t function = wire_get_below(in, function_count);
		frames[i].line = (uint32_t)wire_get_below(in, UINT32_MAX);
		frames[i].file = (char *)wire_get_text(in); /* it is copied */
		frames[i].function = in->bad ? PROFILE_NONE : functions[function];
	}
	if (!in->bad && !p->locations.items[location].frames)
		profile_set_frames(p, location, address, frames, count);
}

/* The kernel's memory is for tare itself to read: around what a CPU was seen at, and no more. */
static void add_kernel_code(struct reader *r, struct profile *p, uint32_t location)
{
	const struct profile_location *l = &p->locations.items[location];
	if (!symbols_want_code(&r->options, p, l))
		return;
	uint32_t function = symbols_outermost(p, l);
	const struct profile_function *f = &p->functions.items[function];
	if (l->offset < f->address || l->offset - f->address >= f->size ||
	    l->offset - f->address >= CODE_MAX)
		return;
	size_t size = f->size < CODE_MAX ? f->size : CODE_MAX;
	FREED uint8_t *bytes = xmalloc(size);
	if (!r->kernel.read)
		kernel_open_memory(&r->kernel);
	size = kernel_code(&r->kernel, f->address, bytes, size);
	profile_add_code(p, function, bytes, (uint32_t)size);
}

static bool read_answer(struct reader *r, struct profile *p, uint32_t object,
			const uint32_t *locations, size_t count, const bool *sampled)
{
	struct wire_in in = wire_read(&r->in);
	enum object_kind kind = p->objects.items[object].kind;
	size_t function_count = wire_get_below(&in, count * (LINE_FRAMES_MAX + 1) + 1);
	FREED uint32_t *functions = xcalloc(function_count + 1, sizeof *functions);
	read_functions(&in, p, object, functions, function_count);
	for (size_t i = 0; i < count && !in.bad; i++) {
		read_location(&in, p, locations[i], functions, function_count);
		if (sampled[locations[i]] && (kind == OBJECT_KERNEL || kind == OBJECT_MODULE))
			add_kernel_code(r, p, locations[i]);
	}
	return !in.bad && in.at == in.end;
}

static void fill_object(void *context, struct profile *p, uint32_t object,
			const uint32_t *locations, size_t count, const bool *sampled)
{
	struct reader *r = context;
	FREED ARRAY(uint32_t) wanted = { 0 };
	for (size_t i = 0; i < count; i++) {
		const struct profile_location *l = &p->locations.items[locations[i]];
		if (!l->frames || (sampled[locations[i]] && symbols_want_code(&r->options, p, l)))
			array_push(&wanted, locations[i]);
	}
	if (!wanted.count || r->cannot_start || is_broken(r, &p->objects.items[object]))
		return;
	write_question(&r->out, p, object, wanted.items, wanted.count, sampled);
	r->profile = p;
	r->object = object;
	if (!ask(r, MESSAGE_FILL, MESSAGE_FILLED) ||
	    !read_answer(r, p, object, wanted.items, wanted.count, sampled)) {
		stop(r); /* one that answers nonsense is not asked again */
		if (!r->cannot_start)
			set_broken(r, &p->objects.items[object]);
	}
	if (r->options.breathe)
		r->options.breathe(r->options.context);
}

void reader_fill(struct reader *r, struct profile *p)
{
	symbols_each(p, fill_object, r);
}

const char *reader_trouble(struct reader *r)
{
	size_t count = r->broken.count;
	if (r->cannot_start) {
		snprintf(r->trouble, sizeof r->trouble,
			 "no names: a process to read program files could not be started");
	} else if (count) {
		snprintf(r->trouble, sizeof r->trouble,
			 "unreadable: %s: its symbols made the reader crash or hang",
			 DISPLAYED(r->broken.items[0].path, BROKEN_NAMED));
		size_t length = strlen(r->trouble);
		if (count > 1)
			snprintf(r->trouble + length, sizeof r->trouble - length,
				 "; so did those of %zu more", count - 1);
	} else {
		return NULL;
	}
	return r->trouble;
}

/* ---- code ---- */

static bool read_instructions(struct reader *r, uint64_t address, size_t size,
			      instruction_list *into, struct error *err)
{
	struct wire_in in = wire_read(&r->in);
	int code = (int)wire_get_below(&in, EXIT_INTERRUPTED + 1);
	const char *text = wire_get_text(&in), *hint = wire_get_text(&in);
	size_t left = wire_get_below(&in, size + 1), at = 0;
	if (!in.bad && text && *text) {
		error_set(err, (enum exit_code)code, "%s", text);
		error_hint(err, "%s", hint ? hint : "");
		return true;
	}
	for (; left && !in.bad; left--) {
		struct instruction i = { .address = address + at };
		i.size = (uint8_t)wire_get_below(&in, UINT8_MAX + 1);
		const char *words = wire_get_text(&in);
		snprintf(i.text, sizeof i.text, "%s", words ? words : "");
		at += i.size;
		array_push(into, i);
	}
	return !in.bad && at == size;
}

int reader_disassemble(struct reader *r, uint64_t address, const uint8_t *bytes, size_t size,
		       instruction_list *into, struct error *err)
{
	struct error why = ERROR_INIT;
	r->object = PROFILE_NONE;
	strbuf_clear(&r->out);
	wire_put(&r->out, address);
	wire_put_bytes(&r->out, bytes, size);
	if (!ask(r, MESSAGE_CODE, MESSAGE_CODED) ||
	    !read_instructions(r, address, size, into, &why)) {
		stop(r);
		error_set(&why, EXIT_ENVIRONMENT,
			  "cannot show instructions: they made the disassembler crash or hang");
	}
	if (*why.text && err)
		*err = why;
	return *why.text ? -1 : 0;
}
