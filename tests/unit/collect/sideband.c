/* Processes and their code, from records made by hand. */
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <cmocka.h>

#include "binary/build_id.h"
#include "collect/samples/appids.h"
#include "collect/samples/sideband.h"

/* Beyond any pid there is: nothing is to be found in /proc. */
#define A 2000000001u
#define B 2000000002u
#define T 2000000003u

static struct sideband *sb;

struct record {
	struct perf_event_header header;
	uint8_t bytes[512];
};

static void put(struct record *r, const void *bytes, size_t size)
{
	memcpy((uint8_t *)r + r->header.size, bytes, size);
	r->header.size = (uint16_t)(r->header.size + size);
}

static struct record record_new(uint32_t type, uint16_t misc)
{
	struct record r = { .header = { .type = type, .misc = misc, .size = sizeof r.header } };
	return r;
}

static void tell(struct record *r, uint64_t time_ns)
{
	/* of its exact size, so that a sanitizer sees what is read behind */
	void *copy = malloc(r->header.size);
	assert_non_null(copy);
	memcpy(copy, r, r->header.size);
	sideband_take(sb, copy, time_ns);
	free(copy);
}

static void put_text(struct record *r, const char *text)
{
	char padded[256] = "";
	size_t size = (strlen(text) + 8) & ~(size_t)7;
	snprintf(padded, sizeof padded, "%s", text);
	put(r, padded, size);
}

static void tell_task(uint32_t type, uint32_t pid, uint32_t ppid, uint32_t tid, uint64_t time_ns)
{
	struct record r = record_new(type, 0);
	uint32_t ids[] = { pid, ppid, tid, ppid };
	put(&r, ids, sizeof ids);
	put(&r, &time_ns, sizeof time_ns);
	tell(&r, time_ns);
}

static void forks(uint32_t parent, uint32_t pid, uint64_t time_ns)
{
	tell_task(PERF_RECORD_FORK, pid, parent, pid, time_ns);
}

static void exits(uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	tell_task(PERF_RECORD_EXIT, pid, 1, tid, time_ns);
}

static void names(uint32_t pid, uint32_t tid, const char *comm, bool exec, uint64_t time_ns)
{
	struct record r = record_new(PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	uint32_t ids[] = { pid, tid };
	put(&r, ids, sizeof ids);
	put_text(&r, comm);
	tell(&r, time_ns);
}

struct map {
	uint64_t begin, size, offset;
	const char *path;
	const char *file; /* stands for its inode; NULL: as told below */
	uint64_t inode, generation;
	uint32_t protection; /* 0: read and execute */
};

static void maps(uint32_t pid, struct map m, uint64_t time_ns)
{
	/* said to hold a build-id because another listener asked for them: it does not */
	struct record r =
		record_new(PERF_RECORD_MMAP2, m.file ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0);
	uint32_t ids[] = { pid, pid }, rights[] = { PROT_READ | PROT_EXEC, MAP_PRIVATE };
	uint8_t file[24] = { 0 };
	if (m.protection)
		rights[0] = m.protection;
	for (const char *c = m.file; c && *c; c++)
		m.inode = m.inode * 31 + (uint64_t)*c;
	uint32_t device[] = { 8, 1 };
	memcpy(file, device, sizeof device);
	memcpy(file + 8, &m.inode, sizeof m.inode);
	memcpy(file + 16, &m.generation, sizeof m.generation);
	put(&r, ids, sizeof ids);
	put(&r, &m.begin, 3 * sizeof(uint64_t));
	put(&r, file, sizeof file);
	put(&r, rights, sizeof rights);
	put_text(&r, m.path);
	tell(&r, time_ns);
}

static int begin(void **state)
{
	(void)state;
	sb = sideband_new();
	return 0;
}

static int end(void **state)
{
	(void)state;
	sideband_close(sb);
	return 0;
}

static const char *path_at(const struct image_of *image, uint64_t address)
{
	const struct mapping *m = image_mapping(image, address);
	return m ? sideband_object(sb, m->object)->object.path : NULL;
}

static const struct profile_object *object_at(const struct image_of *image, uint64_t address)
{
	const struct mapping *m = image_mapping(image, address);
	assert_non_null(m);
	return &sideband_object(sb, m->object)->object;
}

static const char *executable(const struct image_of *image)
{
	assert_true(image->executable != PROFILE_NONE);
	return sideband_object(sb, image->executable)->object.path;
}

static void run_program(uint32_t pid, const char *path, uint64_t time_ns)
{
	names(pid, pid, "prog", true, time_ns);
	maps(pid, (struct map){ 0x1000, 0x1000, 0, path, "prog-id" }, time_ns + 1);
	maps(pid, (struct map){ 0x7000, 0x1000, 0, "/lib/ld-linux.so.2", "ld-id" }, time_ns + 2);
	maps(pid, (struct map){ 0x9000, 0x2000, 0x1000, "/lib/libc.so.6", "libc-id" }, time_ns + 3);
}

static void a_child_has_its_parents_code(void **state)
{
	(void)state;
	run_program(A, "/bin/prog", 100);
	forks(A, B, 200);
	maps(A, (struct map){ 0x20000, 0x1000, 0, "/lib/later.so", "later-id" }, 210);
	struct image_of *child = sideband_find(sb, B, 205), *parent = sideband_find(sb, A, 205);
	assert_non_null(child);
	assert_true(child != parent);
	assert_string_equal(executable(child), "/bin/prog");
	assert_string_equal(child->comm, "prog");
	assert_int_equal(child->mappings.count, 3);
	assert_string_equal(path_at(child, 0x9fff), "/lib/libc.so.6");
	assert_null(path_at(child, 0x20000));
	assert_string_equal(path_at(parent, 0x20000), "/lib/later.so");
	assert_null(sideband_find(sb, B, 199));
	assert_int_equal(child->begin_ns, 200);
}

static void an_exec_begins_anew(void **state)
{
	(void)state;
	run_program(A, "/bin/shell", 100);
	forks(A, B, 200);
	run_program(B, "/bin/other", 300);
	struct image_of *before = sideband_find(sb, B, 250), *after = sideband_find(sb, B, 300);
	assert_string_equal(executable(before), "/bin/shell");
	assert_string_equal(executable(after), "/bin/other");
	assert_int_equal(before->end_ns, 300);
	assert_int_equal(before->number, 0);
	assert_int_equal(after->number, 1);
	assert_int_equal(after->start_ns, before->start_ns);
	assert_string_equal(path_at(after, 0x1000), "/bin/other");
	exits(B, B, 400);
	assert_int_equal(after->end_ns, 400);
	assert_true(sideband_find(sb, B, 401) == after); /* on its way out */
}

static void a_comm_is_the_leaders(void **state)
{
	(void)state;
	run_program(A, "/bin/prog", 100);
	tell_task(PERF_RECORD_FORK, A, A, T, 110);
	names(A, T, "worker", false, 120);
	assert_string_equal(sideband_find(sb, A, 120)->comm, "prog");
	names(A, A, "renamed", false, 130);
	assert_string_equal(sideband_find(sb, A, 130)->comm, "renamed");
	assert_int_equal(sideband_find(sb, A, 130)->begin_ns, 100);
}

static void a_pid_that_is_used_again_is_another(void **state)
{
	(void)state;
	run_program(A, "/bin/prog", 100);
	forks(A, B, 200);
	exits(B, B, 300);
	forks(A, B, 400);
	struct image_of *first = sideband_find(sb, B, 250), *second = sideband_find(sb, B, 400);
	assert_true(first != second);
	assert_int_equal(first->end_ns, 300);
	assert_int_equal(second->end_ns, 0);
	assert_true(first->start_ns != second->start_ns);
	/* its end was lost */
	forks(A, B, 500);
	assert_int_equal(second->end_ns, 500);
	assert_int_equal(sideband_find(sb, B, 500)->end_ns, 0);
	sideband_forget(sb, 450);
	assert_null(sideband_find(sb, B, 250));
	assert_true(sideband_find(sb, B, 450) == second);
}

static void a_process_ends_with_its_last_thread(void **state)
{
	(void)state;
	run_program(A, "/bin/prog", 100);
	forks(A, B, 200);
	tell_task(PERF_RECORD_FORK, B, B, T, 210);
	exits(B, B, 220);
	assert_int_equal(sideband_find(sb, B, 230)->end_ns, 0);
	exits(B, T, 240);
	assert_int_equal(sideband_find(sb, B, 230)->end_ns, 240);
}

static void a_thread_that_execs_becomes_the_leader(void **state)
{
	(void)state;
	run_program(A, "/bin/prog", 100);
	forks(A, B, 200);
	tell_task(PERF_RECORD_FORK, B, B, T, 210);
	exits(B, B, 220);
	run_program(B, "/bin/other", 230);
	struct image_of *image = sideband_find(sb, B, 240);
	assert_string_equal(executable(image), "/bin/other");
	assert_int_equal(image->end_ns, 0);
	exits(B, B, 300);
	assert_int_equal(image->end_ns, 300);
}

static void a_fork_that_comes_late_begins_nothing(void **state)
{
	(void)state;
	run_program(B, "/bin/prog", 300);
	forks(A, B, 200);
	assert_int_equal(sideband_find(sb, B, 310)->mappings.count, 3);
	assert_int_equal(sideband_find(sb, B, 310)->end_ns, 0);
}

static void check_mapping(const struct image_of *image, size_t i, uint64_t from, uint64_t to,
			  uint64_t offset)
{
	const struct mapping *m = &image->mappings.items[i];
	assert_int_equal(m->begin, from);
	assert_int_equal(m->end, to);
	assert_int_equal(m->offset, offset);
}

static void a_mapping_takes_the_place_of_others(void **state)
{
	(void)state;
	names(A, A, "prog", true, 1);
	maps(A, (struct map){ 0x10000, 0x8000, 0x1000, "/a", "a" }, 2);
	struct image_of *image = sideband_find(sb, A, 2);
	uint32_t version = image->version;
	maps(A, (struct map){ 0x12000, 0x1000, 0, "/b", "b" }, 3); /* in its midst */
	assert_true(image->version != version);
	assert_int_equal(image->mappings.count, 3);
	check_mapping(image, 0, 0x10000, 0x12000, 0x1000);
	check_mapping(image, 1, 0x12000, 0x13000, 0);
	check_mapping(image, 2, 0x13000, 0x18000, 0x4000);
	maps(A, (struct map){ 0x11000, 0x4000, 0, "/c", "c" }, 4); /* over parts and a whole */
	assert_int_equal(image->mappings.count, 3);
	check_mapping(image, 0, 0x10000, 0x11000, 0x1000);
	check_mapping(image, 1, 0x11000, 0x15000, 0);
	check_mapping(image, 2, 0x15000, 0x18000, 0x6000);
	maps(A, (struct map){ 0x0f000, 0xa000, 0, "/d", "d" }, 5); /* over all */
	assert_int_equal(image->mappings.count, 1);
	assert_string_equal(path_at(image, 0x18fff), "/d");
	assert_null(path_at(image, 0x19000));
	assert_null(path_at(image, 0x0efff));
	version = image->version;
	maps(A, (struct map){ 0x0f000, 0xa000, 0, "/d", "d" }, 6); /* nothing new */
	assert_int_equal(image->version, version);
	maps(A, (struct map){ 0x30000, 0x1000, 0, "/e", "e", .protection = PROT_READ }, 7);
	assert_null(path_at(image, 0x30000));
}

static void memory_is_one_per_process(void **state)
{
	(void)state;
	static const struct {
		const char *told, *path;
	} cases[] = {
		{ "//anon", "[anon]" },
		{ "[heap]", "[heap]" },
		{ "[stack]", "[stack]" },
		{ "anon_inode:[perf_event]", "[anon]" },
		{ "/dev/zero (deleted)", "[anon]" },
		{ "/anon_hugepage (deleted)", "[anon]" },
		{ "/memfd:jit (deleted)", "[memfd:jit]" },
	};
	run_program(A, "/bin/prog", 100);
	struct image_of *image = sideband_find(sb, A, 200);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t at = 0x100000 * (i + 1);
		maps(A, (struct map){ at, 0x1000, 0, cases[i].told, NULL }, 200 + i);
		const struct profile_object *o = object_at(image, at);
		assert_int_equal(o->kind, OBJECT_MEMORY);
		assert_string_equal(o->path, cases[i].path);
		assert_int_equal(o->pid, A);
		assert_int_equal(image_mapping(image, at)->offset, at);
	}
	assert_string_equal(executable(image), "/bin/prog");
	maps(A, (struct map){ 0x900000, 0x2000, 0, "[vdso]", NULL }, 300);
	assert_int_equal(object_at(image, 0x900000)->kind, OBJECT_VDSO);
	assert_int_equal(image_mapping(image, 0x901000)->offset, 0);
	assert_int_equal(sideband_object_fd(sb, image_mapping(image, 0x900000)->object, A), -1);
	maps(A, (struct map){ 0xa00000, 0x1000, 0, "[vsyscall]", NULL }, 301);
	assert_int_equal(object_at(image, 0xa00000)->kind, OBJECT_MEMORY);
	forks(A, B, 400);
	assert_int_equal(object_at(sideband_find(sb, B, 400), 0x100000)->pid, B);
	/* page by page, as a JIT does: one mapping */
	size_t count = image->mappings.count;
	for (uint64_t i = 0; i < 10; i++)
		maps(A, (struct map){ 0xb00000 + i * 0x1000, 0x1000, 0, "//anon", NULL }, 500 + i);
	assert_int_equal(image->mappings.count, count + 1);
}

static void a_file_is_one_object_however_told(void **state)
{
	(void)state;
	names(A, A, "prog", true, 1);
	struct image_of *image = sideband_find(sb, A, 1);
	maps(A, (struct map){ 0x1000, 0x1000, 0, "/no/such", "one" }, 2);
	maps(A, (struct map){ 0x3000, 0x1000, 0, "/no/such (deleted)", "one" }, 3);
	maps(A, (struct map){ 0x5000, 0x1000, 0, "/no/such", "two" }, 4);
	assert_true(object_at(image, 0x1000) == object_at(image, 0x3000));
	assert_true(object_at(image, 0x1000) != object_at(image, 0x5000));
	/* by its generation, too, where that is told */
	maps(A, (struct map){ 0x10000, 0x1000, 0, "/no/id", NULL, 7, 1 }, 5);
	maps(A, (struct map){ 0x12000, 0x1000, 0, "/no/id", NULL, 7, 1 }, 6);
	maps(A, (struct map){ 0x14000, 0x1000, 0, "/no/id", NULL, 7, 2 }, 7);
	maps(A, (struct map){ 0x16000, 0x1000, 0, "/no/id", NULL, 8, 1 }, 8);
	assert_true(object_at(image, 0x10000) == object_at(image, 0x12000));
	assert_true(object_at(image, 0x10000) != object_at(image, 0x14000));
	assert_true(object_at(image, 0x10000) != object_at(image, 0x16000));
	assert_int_equal(object_at(image, 0x10000)->inode, 7);
	const struct profile_object *o = object_at(image, 0x16000);
	assert_int_equal(sideband_object_like(sb, o), image_mapping(image, 0x16000)->object);
	assert_int_equal(sideband_object_fd(sb, image_mapping(image, 0x16000)->object, 0), -1);
}

/* Told by inode, though the file has a build-id: it is read. And a file that is not the one meant
 * is not opened. */
static void a_build_id_is_read_where_it_was_not_told(void **state)
{
	(void)state;
	char exe[PATH_MAX] = "";
	struct stat s = { 0 };
	struct profile_object own = { 0 };
	assert_true(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
	int fd = open(exe, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && fstat(fd, &s) == 0);
	bool has = build_id_read(fd, &own);
	close(fd);
	names(A, A, "prog", true, 1);
	maps(A, (struct map){ 0x1000, 0x1000, 0, exe, NULL, s.st_ino, 0 }, 2);
	struct image_of *image = sideband_find(sb, A, 2);
	assert_int_equal(object_at(image, 0x1000)->build_id_size, own.build_id_size);
	assert_int_equal(object_at(image, 0x1000)->inode, has ? 0 : s.st_ino);
	fd = sideband_object_fd(sb, image->executable, 0);
	assert_true(fd >= 0);
	assert_int_equal(sideband_object_fd(sb, image->executable, 0), fd);
	maps(A, (struct map){ 0x3000, 0x1000, 0, exe, "another" }, 3);
	assert_int_equal(sideband_object_fd(sb, image_mapping(image, 0x3000)->object, 0), -1);
}

static void the_loader_is_not_the_program(void **state)
{
	(void)state;
	names(A, A, "ld.so", true, 1);
	maps(A, (struct map){ 0x1000, 0x1000, 0, "/lib64/ld-linux-x86-64.so.2", "ld" }, 2);
	struct image_of *image = sideband_find(sb, A, 2);
	assert_string_equal(executable(image), "/lib64/ld-linux-x86-64.so.2");
	maps(A, (struct map){ 0x3000, 0x1000, 0, "/bin/prog", "prog" }, 3);
	maps(A, (struct map){ 0x5000, 0x1000, 0, "/lib/libc.so.6", "libc" }, 4);
	assert_string_equal(executable(image), "/bin/prog");
}

/* A library is closed, and another opened in its place. */
static void an_address_belongs_to_what_was_mapped_at_that_time(void **state)
{
	(void)state;
	names(A, A, "prog", true, 1);
	maps(A, (struct map){ 0x1000, 0x2000, 0, "/lib/one.so", "one" }, 10);
	maps(A, (struct map){ 0x1000, 0x1000, 0, "/lib/two.so", "two" }, 20);
	maps(A, (struct map){ 0x1000, 0x1000, 0, "/lib/three.so", "three" }, 30);
	const struct image_of *image = sideband_find(sb, A, 40);
	static const struct {
		uint64_t address, at_ns;
		const char *path;
	} truths[] = {
		{ 0x1800, 15, "/lib/one.so" },	 { 0x1800, 25, "/lib/two.so" },
		{ 0x1800, 35, "/lib/three.so" }, { 0x2800, 15, "/lib/one.so" },
		{ 0x2800, 35, "/lib/one.so" },
	};
	for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
		const struct mapping *m =
			image_mapping_at(image, truths[i].address, truths[i].at_ns);
		assert_non_null(m);
		assert_string_equal(sideband_object(sb, m->object)->object.path, truths[i].path);
	}
	assert_null(image_mapping_at(image, 0x3000, 15));
	/* no more are kept than is reasonable */
	for (uint64_t i = 0; i < 1000; i++)
		maps(A, (struct map){ 0x1000, 0x1000, 0, i % 2 ? "/a" : "/b", i % 2 ? "a" : "b" },
		     50 + i);
	assert_true(image->past.count <= 64);
}

static void objects_that_nobody_needs_go(void **state)
{
	(void)state;
	enum { MANY = 2000 };
	uint32_t most = 0;
	char path[32];
	run_program(A, "/bin/stays", 10);
	for (uint32_t i = 0; i < MANY; i++) {
		uint64_t now = 100 + i * 10;
		snprintf(path, sizeof path, "/tmp/none-%u", i);
		forks(1, B, now);
		names(B, B, "short", true, now + 1);
		maps(B, (struct map){ 0x1000, 0x1000, 0, path, path }, now + 2);
		const struct mapping *m = image_mapping(sideband_find(sb, B, now + 3), 0x1000);
		assert_non_null(m);
		assert_string_equal(sideband_object(sb, m->object)->object.path, path);
		most = m->object > most ? m->object : most;
		exits(B, B, now + 4);
		sideband_forget(sb, now + 5);
	}
	assert_true(most < 1000);
	assert_string_equal(executable(sideband_find(sb, A, 100 + MANY * 10)), "/bin/stays");
}

static void losses_are_counted_once(void **state)
{
	(void)state;
	struct record r = record_new(PERF_RECORD_LOST, 0);
	uint64_t words[] = { 1, 42 };
	put(&r, words, sizeof words);
	tell(&r, 1);
	tell(&r, 2);
	assert_int_equal(sideband_lost(sb), 84);
	assert_int_equal(sideband_lost(sb), 0);
}

static void count(void *context, struct image_of *image)
{
	(void)image;
	++*(unsigned *)context;
}

static void records_of_nonsense_do_nothing(void **state)
{
	(void)state;
	static const uint32_t types[] = { PERF_RECORD_FORK, PERF_RECORD_EXIT,  PERF_RECORD_COMM,
					  PERF_RECORD_MMAP, PERF_RECORD_MMAP2, PERF_RECORD_LOST };
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		struct record cut = record_new(types[i], 0), endless = cut;
		tell(&cut, 1);
		memset(endless.bytes, 'x', sizeof endless.bytes);
		endless.header.size = 200;
		if (types[i] != PERF_RECORD_LOST)
			tell(&endless, 1);
	}
	names(0, 0, "idle", false, 1);
	maps(A, (struct map){ UINT64_MAX - 0xfff, 0x2000, 0, "/x", "x" }, 1);
	maps(A, (struct map){ 0x1000, 0, 0, "/x", "x" }, 1);
	unsigned images = 0;
	sideband_each(sb, count, &images);
	assert_int_equal(images, 0);
}

/* ---- appids ---- */

static void fill(struct appids *a, struct profile *p, uint32_t pid, uint64_t at_ns,
		 struct profile_instance *i)
{
	*i = (struct profile_instance){ .pid = pid };
	appids_fill(a, p, sideband_find(sb, pid, at_ns), sb, i);
}

static void instances_are_counted_by_app(void **state)
{
	(void)state;
	struct appids *a = appids_new();
	struct profile p = { 0 }, q = { 0 };
	struct profile_instance i;
	run_program(A, "/bin/prog", 100);
	forks(A, B, 200);
	fill(a, &p, A, 200, &i);
	assert_int_equal(i.number, 0);
	assert_string_equal(p.apps.items[i.app].name, "prog");
	assert_string_equal(p.objects.items[p.apps.items[i.app].object].path, "/bin/prog");
	fill(a, &p, B, 200, &i);
	assert_int_equal(i.number, 1);
	assert_int_equal(i.exec_id, 0);
	run_program(B, "/opt/prog", 300); /* another of the same name */
	fill(a, &p, B, 310, &i);
	assert_int_equal(i.number, 0);
	assert_int_equal(i.exec_id, 1);
	exits(B, B, 400);
	forks(A, B, 500);
	fill(a, &q, B, 500, &i); /* in another profile of the session */
	assert_int_equal(i.number, 2);
	fill(a, &q, A, 500, &i);
	assert_int_equal(i.number, 0);
	fill(a, &q, T, 500, &i);
	assert_string_equal(q.apps.items[i.app].name, "[unknown]");
	assert_int_equal(p.apps.count, 2);
	profile_release(&p);
	profile_release(&q);
	appids_free(a);
}

static void kernel_threads_that_do_the_same_are_one_app(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{ "kworker/0:1-events", "[kworker]" },
		{ "ksoftirqd/12", "[ksoftirqd]" },
		{ "scsi_eh_0", "[scsi_eh]" },
		{ "rcu_preempt", "[rcu_preempt]" },
		{ "kswapd0", "[kswapd]" },
		{ "kdamond.0", "[kdamond]" },
		{ "rcu_exp_gp_kthread_worker", "[rcu_exp_gp_kthread_worker]" },
		{ "rcu_exp_par_gp_kthread_worker/0", "[rcu_exp_par_gp_kthread_worker]" },
		{ "jbd2/vda1-8", "[jbd2]" },
		{ "irq/9-acpi", "[irq]" },
		{ "7", "[7]" },
		{ "", "[]" },
		{ "/", "[/]" },
	};
	char name[APPIDS_THREAD_NAME];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		appids_thread_name(cases[i][0], name);
		assert_string_equal(name, cases[i][1]);
	}
	struct profile p = { 0 };
	struct appids *a = appids_new();
	struct profile_instance i;
	forks(2, A, 10);
	names(A, A, "kworker/1:2", false, 11);
	assert_true(sideband_find(sb, A, 11)->kernel);
	fill(a, &p, A, 12, &i);
	assert_string_equal(p.apps.items[i.app].name, "[kworker]");
	assert_int_equal(p.apps.items[i.app].object, PROFILE_NONE);
	run_program(A, "/sbin/modprobe", 20); /* one that the kernel starts */
	assert_false(sideband_find(sb, A, 30)->kernel);
	profile_release(&p);
	appids_free(a);
}

static void the_cgroup_is_that_of_v2_if_there_is_one(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{ "0::/user.slice\n", "/user.slice" },
		{ "12:cpu,cpuacct:/a\n1:name=systemd:/b\n0::/c:d\n", "/c:d" },
		{ "12:cpu,cpuacct:/a\n1:name=systemd:/b\n", "/b" },
		{ "12:cpu,cpuacct:/a\n11:memory:/b", "/a" },
		{ "nonsense\n:\n", NULL },
		{ "", NULL },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *path = appids_cgroup(cases[i][0]);
		if (cases[i][1])
			assert_string_equal(path, cases[i][1]);
		else
			assert_null(path);
		free(path);
	}
}

#define IN_SIDEBAND(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SIDEBAND(a_child_has_its_parents_code),
		IN_SIDEBAND(an_exec_begins_anew),
		IN_SIDEBAND(a_comm_is_the_leaders),
		IN_SIDEBAND(a_pid_that_is_used_again_is_another),
		IN_SIDEBAND(a_process_ends_with_its_last_thread),
		IN_SIDEBAND(a_thread_that_execs_becomes_the_leader),
		IN_SIDEBAND(a_fork_that_comes_late_begins_nothing),
		IN_SIDEBAND(a_mapping_takes_the_place_of_others),
		IN_SIDEBAND(memory_is_one_per_process),
		IN_SIDEBAND(a_file_is_one_object_however_told),
		IN_SIDEBAND(a_build_id_is_read_where_it_was_not_told),
		IN_SIDEBAND(the_loader_is_not_the_program),
		IN_SIDEBAND(an_address_belongs_to_what_was_mapped_at_that_time),
		IN_SIDEBAND(objects_that_nobody_needs_go),
		IN_SIDEBAND(losses_are_counted_once),
		IN_SIDEBAND(records_of_nonsense_do_nothing),
		IN_SIDEBAND(instances_are_counted_by_app),
		IN_SIDEBAND(kernel_threads_that_do_the_same_are_one_app),
		cmocka_unit_test(the_cgroup_is_that_of_v2_if_there_is_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
