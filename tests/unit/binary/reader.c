/* The process that reads program files: that it reads as tare itself would, that it can do nothing
 * else, and that tare outlives it. Doubles of symbols_fill() play a process that was taken over. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/confine.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "binary/disassemble.h"
#include "binary/reader_private.h"
#include "record/profile.h"

#define CPU_NS UINT64_C(500000000)
#define WALL_NS UINT64_C(3000000000)

static uint32_t add_sampled(struct profile *p, const char *path, uint64_t offset)
{
	const struct profile_object o = { .path = (char *)path, .kind = OBJECT_FILE };
	uint32_t at = profile_add_location(p, profile_add_object(p, &o), offset);
	profile_add_stack(p, &at, 1, 0, STACK_LEAF);
	return at;
}

static const char *name_of(const struct profile *p, uint32_t location)
{
	uint32_t function = symbols_outermost(p, &p->locations.items[location]);
	return function == PROFILE_NONE ? "" : p->functions.items[function].name;
}

/* What a double has to say, as the name of every location. */
static void say(struct profile *p, const char *text)
{
	for (uint32_t i = 0; i < p->locations.count; i++) {
		const struct profile_function f = { .name = (char *)text, .address = 1, .size = 8 };
		struct profile_frame frame = { .function = profile_add_function(p, &f) };
		profile_set_frames(p, i, 1, &frame, 1);
	}
}

static struct reader *reader_of(void (*fill)(struct symbols *s, struct profile *p))
{
	const struct reader_parts parts = { fill, CPU_NS, WALL_NS };
	return reader_new_with(NULL, &parts);
}

/* ---- it reads ---- */

static void add_all(struct profile *p, const char *path)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	for (uint64_t at = 0; at < (uint64_t)st.st_size && at < 65536; at += 8)
		add_sampled(p, path, at);
}

static void the_names_lines_and_code_are_those_that_tare_itself_would_read(void **state)
{
	(void)state;
	static const char *const files[] = { TARE_SUBJECTS "/subject-plain",
					     TARE_SUBJECTS "/subject-library",
					     TARE_SUBJECTS "/subject-linked" };
	struct profile here = { 0 }, there = { 0 };
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		add_all(&here, files[i]);
		add_all(&there, files[i]);
	}
	struct symbols *s = symbols_new(NULL);
	struct reader *r = reader_new(NULL);
	symbols_fill(s, &here);
	reader_fill(r, &there);
	assert_null(reader_trouble(r));
	assert_true(here.functions.count > 10);
	assert_int_equal(here.functions.count, there.functions.count);
	size_t lines = 0;
	for (size_t i = 0; i < here.locations.count; i++) {
		const struct profile_location *a = &here.locations.items[i];
		const struct profile_location *b = &there.locations.items[i];
		assert_int_equal(a->address, b->address);
		assert_int_equal(a->frames, b->frames);
		for (uint32_t k = 0; k < a->frames; k++) {
			const struct profile_frame *x = &here.frames.items[a->first_frame + k];
			const struct profile_frame *y = &there.frames.items[b->first_frame + k];
			assert_int_equal(x->function, y->function);
			assert_int_equal(x->line, y->line);
			assert_int_equal(!x->file, !y->file);
			if (x->file)
				assert_string_equal(x->file, y->file);
			lines += x->line > 0;
		}
	}
	assert_true(lines > 10);
	assert_true(here.code.count > 5);
	assert_int_equal(here.code.count, there.code.count);
	for (size_t i = 0; i < here.functions.count; i++) {
		const struct profile_function *a = &here.functions.items[i];
		const struct profile_function *b = &there.functions.items[i];
		const struct profile_code *x = profile_find_code(&here, (uint32_t)i);
		const struct profile_code *y = profile_find_code(&there, (uint32_t)i);
		assert_string_equal(a->name, b->name);
		assert_int_equal(a->address, b->address);
		assert_int_equal(a->size, b->size);
		assert_int_equal(!x, !y);
		if (x)
			assert_memory_equal(x->bytes, y->bytes, x->size);
	}
	symbols_free(s);
	reader_free(r);
	profile_release(&here);
	profile_release(&there);
}

static void instructions_are_those_that_tare_itself_would_read(void **state)
{
	(void)state;
	static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3, 0x06, 0x90 };
	FREED instruction_list here = { 0 }, there = { 0 };
	struct error err = ERROR_INIT;
	struct reader *r = reader_new(NULL);
	int failed = disassemble(0x1000, code, sizeof code, &here, &err);
	assert_int_equal(reader_disassemble(r, 0x1000, code, sizeof code, &there, &err), failed);
	assert_int_equal(here.count, there.count);
	for (size_t i = 0; i < here.count; i++) {
		assert_int_equal(here.items[i].address, there.items[i].address);
		assert_int_equal(here.items[i].size, there.items[i].size);
		assert_string_equal(here.items[i].text, there.items[i].text);
	}
	reader_free(r);
}

static void kernel_code_has_names_where_tare_may_read_them(void **state)
{
	(void)state;
	/* any function of the kernel; its address is hidden from most */
	FREED char *all = file_read("/proc/kallsyms");
	const char *line = all ? strstr(all, " T schedule\n") : NULL;
	uint64_t address = 0;
	while (line && line > all && line[-1] != '\n')
		line--;
	if (line)
		address = strtoull(line, NULL, 16);
	if (!address)
		skip();
	struct profile p = { 0 };
	const struct profile_object kernel = { .path = (char *)"[kernel]", .kind = OBJECT_KERNEL };
	uint32_t at = profile_add_location(&p, profile_add_object(&p, &kernel), address + 1);
	profile_add_stack(&p, &at, 1, 1, STACK_LEAF);
	struct reader *r = reader_new(NULL);
	reader_fill(r, &p);
	assert_string_equal(name_of(&p, at), "schedule");
	if (access("/proc/kcore", R_OK) == 0)
		assert_non_null(
			profile_find_code(&p, symbols_outermost(&p, &p.locations.items[at])));
	reader_free(r);
	profile_release(&p);
}

/* ---- it can do nothing else ---- */

static int kept_fd;
static void *kept_memory;

static void note(struct strbuf *to, const char *what, long result)
{
	strbuf_printf(to, "%s %s\n", what, result < 0 ? strerrorname_np(errno) : "done");
}

static void try_all(struct symbols *s, struct profile *p)
{
	(void)s;
	struct strbuf tried = { 0 };
	char *words[] = { (char *)"true", NULL };
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "/nowhere" };
	note(&tried, "open", open("/etc/shadow", O_RDONLY));
	note(&tried, "open", open("/dev/null", O_WRONLY));
	note(&tried, "openat2", syscall(SYS_openat2, AT_FDCWD, "/", NULL, 0));
	note(&tried, "exec", execv("/bin/true", words));
	note(&tried, "socket", socket(AF_UNIX, SOCK_STREAM, 0));
	note(&tried, "connect", connect(3, (struct sockaddr *)&at, sizeof at));
	note(&tried, "fork", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	note(&tried, "signal", kill(getpid(), 0));
	note(&tried, "trace", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	note(&tried, "root", setresuid(0, 0, 0));
	note(&tried, "bpf", syscall(SYS_bpf, 0, NULL, 0));
	note(&tried, "perf", syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0));
	note(&tried, "unlink", unlink("/tmp/no-such-file"));
	note(&tried, "mount", syscall(SYS_mount, NULL, NULL, NULL, 0, NULL));
	note(&tried, "code",
	     (long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	note(&tried, "code", mprotect(page, 4096, PROT_READ | PROT_EXEC));
	say(p, tried.text);
}

static void a_reader_that_was_taken_over_can_neither_open_nor_start_nor_reach_anything(void **state)
{
	(void)state;
	struct profile p = { 0 };
	uint32_t at = add_sampled(&p, "/x", 1);
	struct reader *r = reader_of(try_all);
	if (!confine_calls_known())
		skip();
	reader_fill(r, &p);
	const char *tried = name_of(&p, at);
	size_t count = 0;
	for (const char *line = tried; *line; count++) {
		const char *result = strchr(line, ' ') + 1;
		if (strncmp(result, "EPERM\n", 6) != 0)
			fail_msg("not refused: %s", tried);
		line = strchr(line, '\n') + 1;
	}
	assert_int_equal(count, 16);
	reader_free(r);
	profile_release(&p);
}

static void look_around(struct symbols *s, struct profile *p)
{
	(void)s;
	char text[128];
	int flags = fcntl(kept_fd, F_GETFD);
	int descriptor = flags < 0 ? errno : 0;
	int memory = madvise(kept_memory, 4096, MADV_NORMAL) ? errno : 0;
	/* in steps, so that it is not the one large piece that is refused */
	size_t got = 0;
	while (got < 64 && mmap(NULL, (size_t)128 << 20, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED)
		got++;
	snprintf(text, sizeof text, "%d %d %d %zu", (int)getpid(), descriptor == EBADF,
		 memory == ENOMEM, got);
	say(p, text);
}

static uint64_t status_of(int pid, const char *key)
{
	FREED char *status = file_read_proc(pid, "status");
	const char *line = status ? strstr(status, key) : NULL;
	assert_non_null(line);
	return strtoull(line + strlen(key), NULL, 16);
}

static void the_reader_has_no_rights_descriptors_or_shared_memory_of_tare(void **state)
{
	(void)state;
	struct profile p = { 0 };
	int pid, descriptor, memory;
	size_t got;
	kept_fd = open("/dev/null", O_RDONLY);
	kept_memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(kept_fd >= 0 && kept_memory != MAP_FAILED);
	uint32_t at = add_sampled(&p, "/x", 1);
	struct reader *r = reader_of(look_around);
	reader_fill(r, &p);
	assert_int_equal(sscanf(name_of(&p, at), "%d %d %d %zu", &pid, &descriptor, &memory, &got),
			 4);
	assert_true(descriptor);
	assert_true(memory);
#ifndef TARE_SANITIZED
	assert_in_range(got, 1, 32); /* of 128 MiB each */
#endif
	assert_int_equal(status_of(pid, "\nNoNewPrivs:\t"), 1);
	assert_int_equal(status_of(pid, "\nSeccomp:\t"), confine_calls_known() ? 2 : 0);
	assert_int_equal(status_of(pid, "\nCapEff:\t"), 0);
	assert_int_equal(status_of(pid, "\nCapPrm:\t"), 0);
	assert_int_equal(status_of(pid, "\nCapAmb:\t"), 0);
	if (geteuid() == 0) {
		assert_int_not_equal(status_of(pid, "\nUid:\t"), 0);
		assert_int_not_equal(status_of(pid, "\nGid:\t"), 0);
	}
	reader_free(r);
	assert_int_equal(kill(pid, 0), -1); /* it does not outlive its owner */
	profile_release(&p);
	close(kept_fd);
	munmap(kept_memory, 4096);
}

/* ---- tare outlives it ---- */

static void misbehave(struct symbols *s, struct profile *p)
{
	(void)s;
	const char *path = p->objects.items[0].path;
	if (strstr(path, "crash"))
		__builtin_trap();
	for (volatile int i = 0; strstr(path, "hang");)
		i++;
	while (strstr(path, "sleep"))
		pause();
	if (strstr(path, "lie")) {
		/* a function of an object that this one has nothing to do with */
		const struct profile_object o = { .path = (char *)"[x]", .kind = OBJECT_MODULE };
		const struct profile_function f = { .object = profile_add_object(p, &o),
						    .name = (char *)"f" };
		profile_add_function(p, &f);
		return;
	}
	say(p, "good");
}

static void expect_loss_of(const char *bad, bool waited)
{
	struct profile p = { 0 };
	uint32_t first = add_sampled(&p, "/first", 1), lost = add_sampled(&p, bad, 1);
	uint32_t last = add_sampled(&p, "/last", 1);
	struct reader *r = reader_of(misbehave);
	reader_fill(r, &p);
	assert_string_equal(name_of(&p, first), "good");
	assert_string_equal(name_of(&p, lost), "");
	assert_string_equal(name_of(&p, last), "good");
	FREED char *expected =
		xprintf("unreadable: %s: its symbols made the reader crash or hang", bad);
	assert_string_equal(reader_trouble(r), expected);
	/* it is not tried again, and what comes later is read */
	uint32_t more = add_sampled(&p, "/more", 1);
	uint64_t before = clock_monotonic_ns();
	reader_fill(r, &p);
	assert_string_equal(name_of(&p, more), "good");
	if (waited) /* as long as a second try would take */
		assert_true(clock_monotonic_ns() - before < WALL_NS);
	reader_free(r);
	profile_release(&p);
}

static void a_file_that_crashes_the_reader_costs_its_own_names_only(void **state)
{
	(void)state;
	expect_loss_of("/crash", false);
}

static void a_file_that_keeps_the_reader_busy_costs_its_own_names_only(void **state)
{
	(void)state;
	expect_loss_of("/hang", false);
}

static void a_reader_that_waits_for_ever_is_ended(void **state)
{
	(void)state;
	expect_loss_of("/sleep", true);
}

static void a_reader_that_lies_about_objects_is_not_believed(void **state)
{
	(void)state;
	expect_loss_of("/lie", false);
}

/* ---- messages ---- */

static void a_message_that_says_more_than_it_holds_is_bad(void **state)
{
	(void)state;
	struct strbuf m = { 0 };
	size_t size;
	wire_put(&m, 7);
	wire_put_text(&m, "text");
	wire_put_text(&m, NULL);
	wire_put_bytes(&m, "ab", 2);
	struct wire_in in = wire_read(&m);
	assert_int_equal(wire_get_below(&in, 8), 7);
	assert_string_equal(wire_get_text(&in), "text");
	assert_null(wire_get_text(&in));
	assert_memory_equal(wire_get_bytes(&in, &size, 2), "ab", 2);
	assert_false(in.bad);
	assert_ptr_equal(in.at, in.end);
	assert_int_equal(wire_get(&in), 0);
	assert_true(in.bad);
	in = wire_read(&m);
	assert_int_equal(wire_get_below(&in, 7), 0);
	assert_true(in.bad);
	strbuf_clear(&m);
	wire_put(&m, 1000); /* longer than the message */
	in = wire_read(&m);
	assert_null(wire_get_bytes(&in, &size, 2000));
	assert_true(in.bad && size == 0);
	strbuf_clear(&m);
	wire_put_bytes(&m, "abc", 3); /* does not end with NUL */
	in = wire_read(&m);
	assert_null(wire_get_text(&in));
	assert_true(in.bad);
	strbuf_clear(&m);
	wire_put_bytes(&m, "a\0b", 4); /* ends before its end */
	in = wire_read(&m);
	assert_null(wire_get_text(&in));
	assert_true(in.bad);
	strbuf_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_names_lines_and_code_are_those_that_tare_itself_would_read),
		cmocka_unit_test(instructions_are_those_that_tare_itself_would_read),
		cmocka_unit_test(kernel_code_has_names_where_tare_may_read_them),
		cmocka_unit_test(
			a_reader_that_was_taken_over_can_neither_open_nor_start_nor_reach_anything),
		cmocka_unit_test(the_reader_has_no_rights_descriptors_or_shared_memory_of_tare),
		cmocka_unit_test(a_file_that_crashes_the_reader_costs_its_own_names_only),
		cmocka_unit_test(a_file_that_keeps_the_reader_busy_costs_its_own_names_only),
		cmocka_unit_test(a_reader_that_waits_for_ever_is_ended),
		cmocka_unit_test(a_reader_that_lies_about_objects_is_not_believed),
		cmocka_unit_test(a_message_that_says_more_than_it_holds_is_bad),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
