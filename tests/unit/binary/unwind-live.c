/* This process's own frames, against backtrace() of glibc: at calls, and at every instruction of
 * some work, by the trap flag. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <alloca.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <cmocka.h>

#include "unwind-objects.h"

#ifdef __x86_64__

#define FRAMES 256
#define DEPTH 50
#define NOINLINE __attribute__((noinline))
/* The copy takes what lies between the variables of a frame too. */
#define COPIES __attribute__((noinline, no_sanitize("address", "undefined")))

struct walk {
	uint64_t ips[FRAMES];
	size_t count;
	enum unwind_result result;
	void *back[FRAMES];
	int back_count;
};

static struct objects objects;
static struct walk seen;
static struct {
	size_t steps, done, wrong, plt;
	uint64_t first_wrong;
} traced;
/* Of the thread that walks; a copy of all of it that the test needs. */
static uint64_t copy[1 << 15];
static uint64_t stack_end;

static void find_stack(void)
{
	pthread_attr_t attributes;
	void *begin;
	size_t size;
	assert_int_equal(pthread_getattr_np(pthread_self(), &attributes), 0);
	assert_int_equal(pthread_attr_getstack(&attributes, &begin, &size), 0);
	pthread_attr_destroy(&attributes);
	stack_end = (uint64_t)(uintptr_t)begin + size;
}

COPIES static struct unwind_memory copy_stack(uint64_t sp)
{
	const volatile uint64_t *from = (const volatile uint64_t *)sp;
	size_t words = (stack_end - sp) / 8;
	words = words < sizeof copy / 8 ? words : sizeof copy / 8;
	for (size_t i = 0; i < words; i++)
		copy[i] = from[i];
	return (struct unwind_memory){ sp, (const uint8_t *)copy, 8 * words };
}

/* sp and bp as they are in the middle of this function, which has a frame. */
NOINLINE static void walk_here(void)
{
	struct unwind_state here;
	__asm__ volatile("lea 0(%%rip), %0\n\t"
			 "mov %%rsp, %1\n\t"
			 "mov %%rbp, %2"
			 : "=&r"(here.ip), "=&r"(here.sp), "=&r"(here.bp));
	struct unwind_memory stack = copy_stack(here.sp);
	seen.result = objects_walk(&objects, here, &stack, seen.ips, FRAMES, &seen.count);
	seen.back_count = backtrace(seen.back, FRAMES);
}

/* Whether from ips[first] on they are what backtrace() told from that on; all: to its end. */
static bool same_as_backtrace(const struct walk *w, size_t first, bool all)
{
	size_t back = 0, count = (size_t)w->back_count;
	while (back < count && (uint64_t)w->back[back] != w->ips[first])
		back++;
	for (size_t i = first; i < w->count; i++, back++) {
		if (back >= count || (uint64_t)w->back[back] != w->ips[i])
			return false;
	}
	return !all || back == count;
}

static void check_seen(void)
{
	assert_int_equal(seen.result, UNWIND_DONE);
	assert_true(seen.count > 4);
	assert_true(same_as_backtrace(&seen, 1, true));
}

NOINLINE static int recurse(int depth)
{
	volatile int here = depth;
	if (depth == 0)
		walk_here();
	else
		here += recurse(depth - 1);
	return here;
}

static size_t count_ip(uint64_t ip)
{
	size_t n = 0;
	for (size_t i = 0; i < seen.count; i++)
		n += seen.ips[i] == ip;
	return n;
}

static void a_deep_recursion_is_walked_as_backtrace_walks_it(void **state)
{
	(void)state;
	find_stack();
	assert_int_equal(recurse(DEPTH), DEPTH * (DEPTH + 1) / 2);
	check_seen();
	/* 0 is walk_here, 1 and 2 are the innermost two */
	assert_int_equal(count_ip(seen.ips[2]), DEPTH);
}

/* A realigned stack: gcc keeps where the caller's frame is beside rbp. */
NOINLINE static int realigned(int size, int (*then)(int))
{
	_Alignas(64) volatile char buffer[64];
	volatile char *more = alloca((size_t)size);
	more[0] = buffer[0] = (char)size;
	int result = then(size) + more[0];
	assert_int_equal((uintptr_t)buffer % 64, 0);
	return result;
}

static void a_realigned_stack_is_walked_as_backtrace_walks_it(void **state)
{
	(void)state;
	find_stack();
	realigned(9, recurse);
	check_seen();
}

static int walk_once;
static int compare_and_walk(const void *a, const void *b)
{
	if (walk_once-- == 1)
		walk_here();
	return *(const int *)a - *(const int *)b;
}

static void sort_some(void)
{
	int numbers[] = { 3, 9, 1, 7, 5, 8, 2, 6, 4, 0 };
	qsort(numbers, 10, sizeof *numbers, compare_and_walk);
	assert_int_equal(numbers[4], 4);
}

static void a_callback_from_libc_is_walked_as_backtrace_walks_it(void **state)
{
	(void)state;
	find_stack();
	walk_once = 7;
	sort_some();
	check_seen();
}

static void on_user(int signal)
{
	(void)signal;
	walk_here();
}

static void a_signal_handler_is_walked_as_backtrace_walks_it(void **state)
{
	struct sigaction action = { .sa_handler = on_user }, before;
	(void)state;
	find_stack();
	assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
	raise(SIGUSR1);
	sigaction(SIGUSR1, &before, NULL);
	check_seen();
	size_t signals = 0;
	for (size_t i = 1; i < seen.count; i++) {
		const struct unwind_row *row = objects_find(&objects, seen.ips[i] - 1);
		signals += row && (row->how & 0x0f) == UNWIND_SIGNAL;
	}
	assert_int_equal(signals, 1);
}

static void *in_thread(void *context)
{
	(void)context;
	find_stack();
	recurse(DEPTH);
	return NULL;
}

static void the_stack_of_a_thread_is_walked_to_its_end(void **state)
{
	pthread_t thread;
	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, in_thread, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	check_seen();
	assert_int_equal(count_ip(seen.ips[2]), DEPTH);
}

/* What is cut off is said to be beyond, and what is there is told as before. */
NOINLINE static void walk_short(void)
{
	struct unwind_state here;
	uint64_t ips[FRAMES];
	size_t count, beyond = 0;
	__asm__ volatile("lea 0(%%rip), %0\n\t"
			 "mov %%rsp, %1\n\t"
			 "mov %%rbp, %2"
			 : "=&r"(here.ip), "=&r"(here.sp), "=&r"(here.bp));
	struct unwind_memory stack = copy_stack(here.sp);
	seen.result = objects_walk(&objects, here, &stack, seen.ips, FRAMES, &seen.count);
	size_t whole = stack.size;
	for (stack.size = 0; stack.size < whole && stack.size < 8192; stack.size += 4) {
		enum unwind_result result =
			objects_walk(&objects, here, &stack, ips, FRAMES, &count);
		assert_true(result == (count < seen.count ? UNWIND_BEYOND : UNWIND_DONE));
		assert_memory_equal(ips, seen.ips, count * sizeof *ips);
		beyond += result == UNWIND_BEYOND;
	}
	assert_true(beyond > 2);
}

static void a_short_copy_of_the_stack_is_walked_as_far_as_it_goes(void **state)
{
	(void)state;
	find_stack();
	walk_short();
	assert_int_equal(seen.result, UNWIND_DONE);
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
	struct unwind_state at = {
		.ip = (uint64_t)registers[REG_RIP],
		.sp = (uint64_t)registers[REG_RSP],
		.bp = (uint64_t)registers[REG_RBP],
	};
	(void)signal;
	(void)info;
	struct unwind_memory stack = copy_stack(at.sp);
	seen.result = objects_walk(&objects, at, &stack, seen.ips, FRAMES, &seen.count);
	seen.back_count = backtrace(seen.back, FRAMES);
	const struct unwind_row *row = objects_find(&objects, at.ip);
	bool done = seen.result == UNWIND_DONE;
	traced.steps++;
	traced.done += done;
	traced.plt += row && (row->how & 0x0f) == UNWIND_PLT;
	if (!same_as_backtrace(&seen, 0, done) && !traced.wrong++)
		traced.first_wrong = at.ip;
}

static void work(void)
{
	char text[64];
	struct timespec now;
	sort_some();
	realigned(100, abs);
	snprintf(text, sizeof text, "%d %s %.3f", 42, "answer", 2.5);
	clock_gettime(CLOCK_MONOTONIC, &now);
	free(strdup(text));
}

static void set_trap(bool on)
{
	enum { TRAP = 0x100 };
	uint64_t flags = __builtin_ia32_readeflags_u64() & ~(uint64_t)TRAP;
	__builtin_ia32_writeeflags_u64(flags | (on ? TRAP : 0));
}

static void the_stack_is_walked_right_at_every_instruction(void **state)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO }, before;
	(void)state;
	find_stack();
	work(); /* its functions are bound now: the resolver keeps its frame in rbx */
	assert_int_equal(sigaction(SIGTRAP, &action, &before), 0);
	set_trap(true);
	work();
	set_trap(false);
	sigaction(SIGTRAP, &before, NULL);
	print_message("%zu instructions, %zu walked to the end, %zu in a PLT, %zu wrong (%lx)\n",
		      traced.steps, traced.done, traced.plt, traced.wrong, traced.first_wrong);
	assert_true(traced.steps > 1000);
	assert_int_equal(traced.wrong, 0);
	assert_true(traced.plt > 0);
	assert_true(traced.done * 1000 > traced.steps * 995);
}

static int take_objects(void **state)
{
	(void)state;
	backtrace(seen.back, 1); /* loads libgcc */
	objects_take(&objects);
	return 0;
}

static int release_objects(void **state)
{
	(void)state;
	objects_release(&objects);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deep_recursion_is_walked_as_backtrace_walks_it),
		cmocka_unit_test(a_realigned_stack_is_walked_as_backtrace_walks_it),
		cmocka_unit_test(a_callback_from_libc_is_walked_as_backtrace_walks_it),
		cmocka_unit_test(a_signal_handler_is_walked_as_backtrace_walks_it),
		cmocka_unit_test(the_stack_of_a_thread_is_walked_to_its_end),
		cmocka_unit_test(a_short_copy_of_the_stack_is_walked_as_far_as_it_goes),
		cmocka_unit_test(the_stack_is_walked_right_at_every_instruction),
	};
	return cmocka_run_group_tests_name("unwind-live", tests, take_objects, release_objects);
}

#else

int main(void)
{
	puts("not applicable: no rows on this architecture");
	return 77;
}

#endif
