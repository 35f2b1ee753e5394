/* What code was mapped from. The kernel and /proc tell a file by its inode. So that two copies of
 * one program are told apart, and one that is replaced by itself is not, its build-id is read, and
 * an object with a build-id has no inode. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "binary/build_id.h"
#include "collect/samples/sideband_private.h"

#define OBJECTS_MANY 512 /* fewer are all kept */
#define NEEDED_NS \
	UINT64_C(300000000000) /* whoever wants a name asks for its file within this time */

#define FIRST_BUCKETS 256
#define PATH_ROOM 4352 /* PATH_MAX and "/proc/PID/root" */

/* ---- kinds ---- */

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Names of memory without a file, as perf and /proc have them, and ours. */
static const struct {
	const char *told, *path;
} memory_names[] = {
	{ "//anon", "[anon]" },	      { "[anon", "[anon]" },	      { "anon_inode:", "[anon]" },
	{ "/anon_inode:", "[anon]" }, { "/anon_hugepage", "[anon]" }, { "/dev/zero", "[anon]" },
	{ "[heap]", "[heap]" },	      { "[stack", "[stack]" },	      { "/SYSV", "[shm]" },
};

/* The path it is kept under; within room, or from's own. */
static const char *judge(const char *path, enum object_kind *kind, char *room, size_t size)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(path), end = sizeof deleted - 1;
	*kind = OBJECT_MEMORY;
	if (!*path)
		return "[anon]";
	for (size_t i = 0; i < sizeof memory_names / sizeof *memory_names; i++)
		if (begins(path, memory_names[i].told))
			return memory_names[i].path;
	if (length > end && strcmp(path + length - end, deleted) == 0)
		length -= end;
	if (begins(path, "/memfd:")) {
		snprintf(room, size, "[%.*s]", (int)length - 1, path + 1);
		return room;
	}
	if (strcmp(path, "[vdso]") == 0) {
		*kind = OBJECT_VDSO;
		return path;
	}
	if (*path == '[')
		return path;
	*kind = OBJECT_FILE;
	snprintf(room, size, "%.*s", (int)length, path);
	return room;
}

static bool is_own_memory(const struct profile_object *o)
{
	return o->kind == OBJECT_MEMORY && strcmp(o->path, "[vsyscall]") != 0;
}

bool object_is_file(const struct sideband *sb, uint32_t object)
{
	const struct profile_object *o = &sb->objects.items[object]->its.object;
	return o->kind == OBJECT_FILE || begins(o->path, "[memfd:");
}

bool object_is_loader(const struct sideband *sb, uint32_t object)
{
	const char *name = object_name(&sb->objects.items[object]->its.object);
	return begins(name, "ld-linux") || begins(name, "ld-musl") || begins(name, "ld.so") ||
	       begins(name, "ld64.so") || begins(name, "ld-2.");
}

uint64_t object_offset(const struct sideband *sb, uint32_t object, uint64_t begin, uint64_t offset)
{
	switch (sb->objects.items[object]->its.object.kind) {
	case OBJECT_MEMORY:
		return begin;
	case OBJECT_VDSO:
		return 0;
	default:
		return offset;
	}
}

/* ---- opening ---- */

static bool is_it(int fd, const struct object *o, bool certain)
{
	if (o->its.object.build_id_size) {
		struct profile_object found = { 0 };
		return build_id_read(fd, &found) &&
		       found.build_id_size == o->its.object.build_id_size &&
		       memcmp(found.build_id, o->its.object.build_id, found.build_id_size) == 0;
	}
	/* The device is not compared: file systems with subvolumes or layers say two. */
	struct stat s;
	return certain || !o->id.inode || (fstat(fd, &s) == 0 && s.st_ino == o->id.inode);
}

/* The file, if it is the one meant; else closed. */
static int if_it(int fd, const struct object *o, bool certain)
{
	if (fd < 0 || is_it(fd, o, certain))
		return fd;
	close(fd);
	return -1;
}

/* What a process has mapped there, deleted or not. */
static int open_mapped(uint32_t pid, uint64_t begin, uint64_t end)
{
	char path[96];
	snprintf(path, sizeof path, "/proc/%u/map_files/%jx-%jx", pid, (uintmax_t)begin,
		 (uintmax_t)end);
	return file_open_regular(path);
}

static int open_beneath(uint32_t pid, const char *path)
{
	char whole[PATH_ROOM];
	if (snprintf(whole, sizeof whole, "/proc/%u/root%s", pid, path) >= (int)sizeof whole)
		return -1;
	return file_open_regular(whole);
}

/* ---- interning ---- */

static uint32_t hash_of(const char *path, uint32_t pid)
{
	uint32_t hash = 2166136261u ^ pid;
	for (; *path; path++)
		hash = (hash ^ (uint8_t)*path) * 16777619u;
	return hash ^ hash >> 15;
}

static void link_object(struct sideband *sb, uint32_t i)
{
	struct object *o = sb->objects.items[i];
	uint32_t hash = hash_of(o->its.object.path, o->its.object.pid);
	uint32_t *bucket = &sb->object_buckets[hash & (sb->object_bucket_count - 1)];
	o->next = *bucket;
	*bucket = i;
}

static bool same_id(const struct file_id *a, const struct file_id *b)
{
	return a->device == b->device && a->inode == b->inode &&
	       (!a->generation || !b->generation || a->generation == b->generation);
}

static bool same(const struct object *o, const struct object *wanted, bool by_id)
{
	const struct profile_object *a = &o->its.object, *b = &wanted->its.object;
	if (a->kind != b->kind || a->pid != b->pid || strcmp(a->path, b->path) != 0)
		return false;
	if (a->kind != OBJECT_FILE)
		return true;
	if (by_id)
		return o->id.inode && same_id(&o->id, &wanted->id);
	if (a->build_id_size || b->build_id_size)
		return a->build_id_size == b->build_id_size &&
		       memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
	return same_id(&o->id, &wanted->id);
}

static uint32_t find(const struct sideband *sb, const struct object *wanted, bool by_id)
{
	if (!sb->object_bucket_count)
		return PROFILE_NONE;
	uint32_t hash = hash_of(wanted->its.object.path, wanted->its.object.pid);
	uint32_t i = sb->object_buckets[hash & (sb->object_bucket_count - 1)];
	while (i != PROFILE_NONE && !same(sb->objects.items[i], wanted, by_id))
		i = sb->objects.items[i]->next;
	return i;
}

static uint32_t add(struct sideband *sb, const struct object *wanted)
{
	if (sb->objects.count >= sb->object_bucket_count) {
		sb->object_bucket_count = sb->object_bucket_count ? 2 * sb->object_bucket_count
								  : FIRST_BUCKETS;
		xfree(sb->object_buckets);
		sb->object_buckets = xmalloc(sb->object_bucket_count * sizeof *sb->object_buckets);
		memset(sb->object_buckets, 0xff,
		       sb->object_bucket_count * sizeof *sb->object_buckets);
		for (uint32_t i = 0; i < sb->objects.count; i++)
			if (sb->objects.items[i]->its.object.path)
				link_object(sb, i);
	}
	struct object *o = xmalloc(sizeof *o);
	*o = *wanted;
	o->its.object.path = xstrdup(wanted->its.object.path);
	o->its.fd = -1;
	uint32_t number;
	if (sb->unused.count) {
		number = sb->unused.items[--sb->unused.count];
		xfree(sb->objects.items[number]);
		sb->objects.items[number] = o;
	} else {
		number = (uint32_t)sb->objects.count;
		array_push(&sb->objects, o); /* NOLINT(bugprone-sizeof-expression): of pointers */
	}
	link_object(sb, number);
	return number;
}

uint32_t object_intern(struct sideband *sb, const struct origin *from)
{
	char room[PATH_ROOM];
	struct object o = { .id = from->id };
	struct profile_object *its = &o.its.object;
	/* not written to: add() copies it */
	its->path = (char *)judge(from->path, &its->kind, room, sizeof room);
	its->pid = is_own_memory(its) ? from->pid : 0;
	if (its->kind == OBJECT_FILE) {
		uint32_t known = find(sb, &o, true);
		if (known != PROFILE_NONE)
			return known;
		its->device = from->id.device;
		its->inode = from->id.inode;
		/* the kernel told only the inode: read the build-id from the file */
		int fd = if_it(open_beneath(from->pid, o.its.object.path), &o, false);
		if (fd < 0)
			fd = if_it(open_mapped(from->pid, from->begin, from->end), &o, true);
		if (fd < 0)
			fd = if_it(file_open_regular(o.its.object.path), &o, false);
		if (fd >= 0) {
			if (build_id_read(fd, &o.its.object))
				o.its.object.device = o.its.object.inode = 0;
			close(fd);
		}
	}
	uint32_t found = find(sb, &o, false);
	if (found == PROFILE_NONE)
		return add(sb, &o);
	if (o.id.inode)
		sb->objects.items[found]->id = o.id;
	return found;
}

uint32_t object_for_child(struct sideband *sb, uint32_t object, uint32_t pid)
{
	const struct object *of = sb->objects.items[object];
	if (!of->its.object.pid)
		return object;
	struct object o = { .its.object = { .path = of->its.object.path,
					    .kind = of->its.object.kind,
					    .pid = pid } };
	uint32_t found = find(sb, &o, false);
	return found != PROFILE_NONE ? found : add(sb, &o);
}

struct sideband_object *sideband_object(struct sideband *sb, uint32_t object)
{
	return object < sb->objects.count ? &sb->objects.items[object]->its : NULL;
}

uint32_t sideband_object_like(const struct sideband *sb, const struct profile_object *o)
{
	struct object wanted = { .its.object = *o,
				 .id = { .device = o->device, .inode = o->inode } };
	return find(sb, &wanted, false);
}

void sideband_on_gone(struct sideband *sb, void (*gone)(struct sideband_object *object))
{
	sb->gone = gone;
}

static void note_used(void *context, struct image_of *image)
{
	uint8_t *used = context;
	for (size_t i = 0; i < image->mappings.count; i++)
		used[image->mappings.items[i].object] = 1;
	if (image->executable != PROFILE_NONE)
		used[image->executable] = 1;
}

static void note_process(struct sideband *sb, void *context, struct process *p)
{
	(void)sb;
	for (size_t i = 0; i < p->images.count; i++)
		note_used(context, p->images.items[i]);
}

void objects_forget(struct sideband *sb)
{
	if (sb->objects.count - sb->unused.count < OBJECTS_MANY)
		return;
	FREED uint8_t *used = xcalloc(sb->objects.count, 1);
	uint64_t now = clock_monotonic_ns();
	process_each(sb, note_process, used);
	for (uint32_t i = 0; i < sb->objects.count; i++) {
		struct object *o = sb->objects.items[i];
		if (used[i] || !o->its.object.path || (o->used_ns && now - o->used_ns < NEEDED_NS))
			continue;
		if (sb->gone)
			sb->gone(&o->its);
		if (o->its.fd >= 0) {
			close(o->its.fd);
			sb->open_files--;
		}
		xfree(o->its.object.path);
		*o = (struct object){ .its.fd = -1 };
		array_push(&sb->unused, i);
	}
	memset(sb->object_buckets, 0xff, sb->object_bucket_count * sizeof *sb->object_buckets);
	for (uint32_t i = 0; i < sb->objects.count; i++)
		if (sb->objects.items[i]->its.object.path)
			link_object(sb, i);
}

void objects_release(struct sideband *sb)
{
	array_release(&sb->unused);
	for (size_t i = 0; i < sb->objects.count; i++) {
		struct object *o = sb->objects.items[i];
		if (o->its.fd >= 0)
			close(o->its.fd);
		xfree(o->its.object.path);
		xfree(o);
	}
	array_release(&sb->objects);
	xfree(sb->object_buckets);
}

/* ---- files kept open ---- */

static void close_oldest(struct sideband *sb)
{
	struct object *oldest = NULL;
	for (size_t i = 0; i < sb->objects.count; i++) {
		struct object *o = sb->objects.items[i];
		if (o->its.fd >= 0 && (!oldest || o->used < oldest->used))
			oldest = o;
	}
	if (!oldest)
		return;
	close(oldest->its.fd);
	oldest->its.fd = -1;
	oldest->its.tried = false;
	sb->open_files--;
}

struct search {
	uint32_t object, pid;
	int fd;
};

/* Through a process that has it mapped. */
static void search_process(struct sideband *sb, void *context, struct process *p)
{
	struct search *s = context;
	const struct image_of *image = process_newest(p);
	const struct object *o = sb->objects.items[s->object];
	if (s->fd >= 0 || image->end_ns || (s->pid && s->pid != p->pid))
		return;
	for (size_t i = 0; i < image->mappings.count && s->fd < 0; i++) {
		const struct mapping *m = &image->mappings.items[i];
		if (m->object != s->object)
			continue;
		s->fd = if_it(open_mapped(p->pid, m->begin, m->end), o, true);
		if (s->fd < 0)
			s->fd = if_it(open_beneath(p->pid, o->its.object.path), o, false);
	}
}

int sideband_object_fd(struct sideband *sb, uint32_t object, uint32_t pid)
{
	if (object >= sb->objects.count)
		return -1;
	struct object *o = sb->objects.items[object];
	o->used = ++sb->uses;
	o->used_ns = clock_monotonic_ns();
	if (o->its.object.kind != OBJECT_FILE || o->its.fd >= 0 ||
	    (o->its.tried && (!pid || pid == o->tried_pid)))
		return o->its.fd;
	if (sb->open_files >= sb->most_files)
		close_oldest(sb);
	o->its.tried = true;
	o->tried_pid = pid;
	struct search s = { .object = object, .pid = pid, .fd = -1 };
	struct process *p = pid ? process_find(sb, pid) : NULL;
	if (p)
		search_process(sb, &s, p);
	if (s.fd < 0)
		s.fd = if_it(file_open_regular(o->its.object.path), o, false);
	s.pid = 0;
	if (s.fd < 0)
		process_each(sb, search_process, &s);
	o->its.fd = s.fd;
	sb->open_files += s.fd >= 0;
	return s.fd;
}
