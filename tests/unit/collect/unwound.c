/* Stacks from copies of them: this process's own against backtrace(), and made-up ones of code
 * without .eh_frame. */
#include <execinfo.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#include <cmocka.h>

#include "collect/samples/unwound.h"

#define DEPTH 8
#define FRAMES 64
#define COPY (64u << 10)
#define JIT 2000000001u /* a pid that nothing has */

static struct sideband *sb;

static int begin(void **state)
{
	(void)state;
	sb = sideband_new();
	return 0;
}

static int end(void **state)
{
	(void)state;
	unwound_release(sb);
	sideband_close(sb);
	return 0;
}

struct shot {
	struct unwind_state state;
	uint8_t copy[COPY];
	size_t size;
	void *expected[FRAMES];
	int expected_count;
};

/* By the kernel, page by page: neither a sanitizer nor the stack's end minds. */
static size_t copy_stack(uint64_t from, uint8_t *into)
{
	size_t done = 0;
	while (done < COPY) {
		size_t size = 4096 - (from + done) % 4096;
		struct iovec to = { into + done, size < COPY - done ? size : COPY - done };
		struct iovec of = { (void *)(uintptr_t)(from + done), to.iov_len }; /* NOLINT */
		ssize_t got = process_vm_readv(getpid(), &to, 1, &of, 1, 0);
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

__attribute__((noinline)) static int shoot(struct shot *s)
{
#ifdef __x86_64__
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
			 : "=&r"(s->state.ip), "=&r"(s->state.sp), "=&r"(s->state.bp));
#endif
	s->size = copy_stack(s->state.sp, s->copy);
	s->expected_count = backtrace(s->expected, FRAMES);
	return 1;
}

__attribute__((noinline)) static int descend(struct shot *s, int depth)
{
	volatile int room[32] = { depth };
	int below = depth ? descend(s, depth - 1) : shoot(s);
	return below + (room[0] >= 0);
}

static void a_stack_is_unwound_as_backtrace_says(void **state)
{
	(void)state;
#ifndef __x86_64__
	skip();
#endif
	static struct shot s;
	assert_int_equal(descend(&s, DEPTH), DEPTH + 2);
	struct image_of *image = sideband_refresh(sb, (uint32_t)getpid());
	assert_non_null(image);
	struct unwind_memory stack = { s.state.sp, s.copy, s.size };
	uint64_t ips[FRAMES];
	enum stack_end how;
	size_t count = unwound(sb, image, s.state, &stack, ips, FRAMES, &how);
	assert_int_equal(how, STACK_COMPLETE);
	assert_true(count > DEPTH + 2);
	assert_int_equal(ips[0], s.state.ip);
	/* a sanitizer's backtrace() is itself the innermost frame */
	assert_true(s.expected_count >= (int)count && s.expected_count <= (int)count + 1);
	void **expected = s.expected + (s.expected_count - (int)count);
	for (size_t i = 1; i < count; i++)
		assert_int_equal(ips[i] + 1, (uintptr_t)expected[i]);
	/* no room for all of it */
	assert_int_equal(unwound(sb, image, s.state, &stack, ips, 3, &how), 3);
	assert_int_equal(how, STACK_LIMIT);
	stack.size = 512;
	size_t fewer = unwound(sb, image, s.state, &stack, ips, FRAMES, &how);
	assert_int_equal(how, STACK_LIMIT);
	assert_true(fewer >= 1 && fewer < count);
}

/* Memory that is code, from 0x10000 to 0x20000. */
static struct image_of *jit_image(void)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t begin, size, offset;
		char path[8];
	} map = { { PERF_RECORD_MMAP, 0, sizeof map }, JIT, JIT, 0x10000, 0x10000, 0, "//anon" };
	sideband_take(sb, &map.header, 1);
	return sideband_find(sb, JIT, 1);
}

static void frames_of_a_jit_are_left_by_their_pointers(void **state)
{
	(void)state;
	struct image_of *image = jit_image();
	/* at 0x5000: two frames, the second of which was called by nobody */
	uint64_t words[] = { 7, 0x5020, 0x10100, 7, 0x5038, 0x10200, 7, 0, 0 };
	struct unwind_memory stack = { 0x5000, (const uint8_t *)words, sizeof words };
	struct unwind_state from = { .ip = 0x10050, .sp = 0x5000, .bp = 0x5008 };
	uint64_t ips[8];
	enum stack_end how;
	assert_int_equal(unwound(sb, image, from, &stack, ips, 8, &how), 3);
	assert_int_equal(how, STACK_COMPLETE);
	assert_int_equal(ips[0], 0x10050);
	assert_int_equal(ips[1], 0x100ff);
	assert_int_equal(ips[2], 0x101ff);
}

static void what_is_not_plausible_is_not_followed(void **state)
{
	(void)state;
	struct image_of *image = jit_image();
	uint64_t words[] = { 7, 0x5008, 0x10100, 0x5000, 0x30000, 0 };
	struct unwind_memory stack = { 0x5000, (const uint8_t *)words, sizeof words };
	static const uint64_t pointers[] = {
		0, 0x4ff8, 0x5009, 0x5018, 0x5028, 0x6000, UINT64_MAX
	};
	uint64_t ips[8];
	enum stack_end how;
	for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
		struct unwind_state from = { .ip = 0x10050, .sp = 0x5000, .bp = pointers[i] };
		assert_int_equal(unwound(sb, image, from, &stack, ips, 8, &how), 1);
		assert_int_equal(how, STACK_BROKEN);
	}
	/* one that points to itself */
	struct unwind_state from = { .ip = 0x10050, .sp = 0x5000, .bp = 0x5008 };
	assert_int_equal(unwound(sb, image, from, &stack, ips, 8, &how), 2);
	assert_int_equal(how, STACK_BROKEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_stack_is_unwound_as_backtrace_says, begin, end),
		cmocka_unit_test_setup_teardown(frames_of_a_jit_are_left_by_their_pointers, begin,
						end),
		cmocka_unit_test_setup_teardown(what_is_not_plausible_is_not_followed, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
