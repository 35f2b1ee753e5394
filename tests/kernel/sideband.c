/* The sideband on the live kernel: every process and its code is known, however short it lived.
 * Needs root or CAP_PERFMON. */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "collect/samples/sideband.h"
#include "subject.h"

#define SHORT_LIVED 300

static struct sideband *sb;

static pid_t spawn(const char *path, const char *argument)
{
	char *argv[] = { (char *)path, (char *)argument, NULL };
	pid_t pid;
	assert_int_equal(posix_spawn(&pid, path, NULL, NULL, argv, environ), 0);
	return pid;
}

static bool has(const struct image_of *image, const char *part)
{
	for (size_t i = 0; i < image->mappings.count; i++) {
		uint32_t object = image->mappings.items[i].object;
		if (strstr(sideband_object(sb, object)->object.path, part))
			return true;
	}
	return false;
}

static const char *executable(const struct image_of *image)
{
	return image->executable == PROFILE_NONE
		       ? "(none)"
		       : sideband_object(sb, image->executable)->object.path;
}

static void assert_sound(void *context, struct image_of *image)
{
	(void)context;
	for (size_t i = 0; i < image->mappings.count; i++) {
		const struct mapping *m = &image->mappings.items[i];
		assert_true(m->begin < m->end);
		assert_true(i == 0 || image->mappings.items[i - 1].end <= m->begin);
	}
}

static void short_lived_processes_are_all_known(void **state)
{
	(void)state;
	char real[PATH_MAX];
	assert_non_null(realpath("/bin/true", real));
	static pid_t pids[SHORT_LIVED];
	static uint64_t ended[SHORT_LIVED];
	uint64_t begun = clock_monotonic_ns();
	for (size_t i = 0; i < SHORT_LIVED; i++) {
		pids[i] = spawn("/bin/true", NULL);
		waitpid(pids[i], NULL, 0);
		ended[i] = clock_monotonic_ns();
		if (i % 100 == 99)
			sideband_read(sb);
	}
	sideband_read(sb);
	assert_int_equal(sideband_lost(sb), 0);
	for (size_t i = 0; i < SHORT_LIVED; i++) {
		struct image_of *image = sideband_find(sb, (uint32_t)pids[i], ended[i]);
		assert_non_null(image);
		assert_string_equal(executable(image), real);
		assert_true(has(image, "libc.so") || has(image, "libc-"));
		assert_true(has(image, "[vdso]"));
		assert_string_equal(image->comm, "true");
		assert_int_equal(image->number, 1); /* after the one before its exec */
		assert_true(begun < image->begin_ns && image->begin_ns < image->end_ns);
		assert_true(image->end_ns < ended[i]);
		assert_false(image->kernel);
	}
	sideband_each(sb, assert_sound, NULL);
	sideband_forget(sb, clock_monotonic_ns());
	assert_null(sideband_find(sb, (uint32_t)pids[0], ended[0]));
}

struct spawned {
	pid_t pids[SHORT_LIVED];
	uint64_t ended[SHORT_LIVED];
};

static void *spawn_many(void *context)
{
	struct spawned *s = context;
	for (size_t i = 0; i < SHORT_LIVED; i++) {
		s->pids[i] = spawn(i % 2 ? "/bin/true" : "/bin/false", NULL);
		waitpid(s->pids[i], NULL, 0);
		s->ended[i] = clock_monotonic_ns();
	}
	return NULL;
}

/* Several at a time, on all CPUs, while this reads without a pause: no record overtakes another. */
static void processes_started_at_once_are_not_mixed_up(void **state)
{
	(void)state;
	static struct spawned spawned[3];
	pthread_t threads[3];
	for (size_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, spawn_many, &spawned[i]);
	for (size_t i = 0; i < 3; i++)
		while (pthread_tryjoin_np(threads[i], NULL) != 0)
			sideband_read(sb);
	sideband_read(sb);
	for (size_t i = 0; i < SHORT_LIVED; i++) {
		for (size_t k = 0; k < 3; k++) {
			struct image_of *image = sideband_find(sb, (uint32_t)spawned[k].pids[i],
							       spawned[k].ended[i]);
			assert_non_null(image);
			assert_non_null(strstr(executable(image), i % 2 ? "true" : "false"));
			assert_string_equal(image->comm, i % 2 ? "true" : "false");
			assert_int_equal(image->number, 1);
			assert_true(has(image, "libc."));
			assert_true(image->begin_ns < image->end_ns);
			assert_true(image->end_ns < spawned[k].ended[i]);
		}
	}
	assert_int_equal(sideband_lost(sb), 0);
}

static void those_that_ran_before_are_known(void **state)
{
	(void)state;
	struct image_of *self = sideband_find(sb, (uint32_t)getpid(), clock_monotonic_ns());
	char exe[PATH_MAX] = "";
	assert_true(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
	assert_non_null(self);
	assert_string_equal(executable(self), exe);
	assert_true(has(self, "libc"));
	const struct mapping *m = image_mapping(self, (uintptr_t)those_that_ran_before_are_known);
	assert_non_null(m);
	assert_int_equal(m->object, self->executable);
	struct image_of *kthreadd = sideband_find(sb, 2, clock_monotonic_ns());
	if (kthreadd && strcmp(kthreadd->comm, "kthreadd") == 0)
		assert_true(kthreadd->kernel);
}

/* The number of the object that it has libc of. */
static uint32_t libc_of(const struct image_of *image)
{
	for (size_t i = 0; i < image->mappings.count; i++) {
		uint32_t object = image->mappings.items[i].object;
		if (strstr(sideband_object(sb, object)->object.path, "/libc."))
			return object;
	}
	fail_msg("libc is not mapped");
	return 0;
}

/* Both tellings of a file, by /proc and by the kernel, are one object. Its path alone may be
 * another file's, too: a container's. */
static void a_file_is_one_object(void **state)
{
	(void)state;
	uint32_t told_by_proc =
		libc_of(sideband_find(sb, (uint32_t)getpid(), clock_monotonic_ns()));
	pid_t pid = spawn("/bin/true", NULL);
	waitpid(pid, NULL, 0);
	sideband_read(sb);
	struct image_of *image = sideband_find(sb, (uint32_t)pid, clock_monotonic_ns());
	assert_non_null(image);
	assert_int_equal(libc_of(image), told_by_proc);
}

static void a_library_loaded_later_is_seen(void **state)
{
	(void)state;
	struct image_of *self = sideband_find(sb, (uint32_t)getpid(), clock_monotonic_ns());
	uint32_t version = self->version;
	assert_false(has(self, "libsqlite3"));
	void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		skip();
		return;
	}
	const void *symbol = dlsym(library, "sqlite3_open");
	sideband_read(sb);
	self = sideband_find(sb, (uint32_t)getpid(), clock_monotonic_ns());
	assert_true(self->version != version);
	const struct mapping *m = image_mapping(self, (uintptr_t)symbol);
	assert_non_null(m);
	assert_non_null(strstr(sideband_object(sb, m->object)->object.path, "libsqlite3"));
	dlclose(library);
}

static void a_fork_without_exec_has_its_parents_code(void **state)
{
	(void)state;
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	sideband_read(sb);
	struct image_of *child = sideband_find(sb, (uint32_t)pid, clock_monotonic_ns());
	struct image_of *self = sideband_find(sb, (uint32_t)getpid(), clock_monotonic_ns());
	assert_non_null(child);
	assert_int_equal(child->number, 0);
	assert_int_equal(child->executable, self->executable);
	assert_int_equal(child->mappings.count, self->mappings.count);
	assert_true(child->end_ns > child->begin_ns);
}

static void *exec_true(void *unused)
{
	(void)unused;
	execl("/bin/true", "true", (char *)NULL);
	_exit(1);
}

static void an_exec_by_a_thread_is_one_of_the_process(void **state)
{
	(void)state;
	pid_t pid = fork();
	if (pid == 0) {
		pthread_t thread;
		pthread_create(&thread, NULL, exec_true, NULL);
		for (;;)
			pause();
	}
	int status;
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	sideband_read(sb);
	struct image_of *image = sideband_find(sb, (uint32_t)pid, clock_monotonic_ns());
	assert_non_null(image);
	assert_int_equal(image->number, 1);
	assert_string_equal(image->comm, "true");
	assert_true(image->end_ns > image->begin_ns);
}

static void *linger(void *unused)
{
	(void)unused;
	usleep(50000);
	_exit(0);
}

static void a_process_ends_with_its_last_thread(void **state)
{
	(void)state;
	pid_t pid = fork();
	if (pid == 0) {
		pthread_t thread;
		pthread_create(&thread, NULL, linger, NULL);
		pthread_exit(NULL);
	}
	usleep(20000);
	sideband_read(sb);
	struct image_of *image = sideband_find(sb, (uint32_t)pid, clock_monotonic_ns());
	assert_non_null(image);
	assert_int_equal(image->end_ns, 0);
	waitpid(pid, NULL, 0);
	sideband_read(sb);
	assert_true(image->end_ns > image->begin_ns + 40000000);
}

static void copy_file(const char *from, const char *to)
{
	char command[2 * PATH_MAX];
	snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
	assert_int_equal(system(command), 0);
}

static void a_deleted_binary_can_still_be_read(void **state)
{
	(void)state;
	char path[] = "/tmp/tare-sideband-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	copy_file("/bin/sleep", path);
	chmod(path, 0755);
	pid_t pid = spawn(path, "60");
	usleep(50000);
	struct stat before, found;
	assert_int_equal(stat(path, &before), 0);
	unlink(path);
	copy_file("/bin/true", path); /* another file in its place */
	sideband_read(sb);
	struct image_of *image = sideband_find(sb, (uint32_t)pid, clock_monotonic_ns());
	assert_non_null(image);
	assert_string_equal(executable(image), path);
	fd = sideband_object_fd(sb, image->executable, (uint32_t)pid);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &found), 0);
	assert_int_equal(found.st_ino, before.st_ino);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	sideband_read(sb);
	assert_int_equal(sideband_object_fd(sb, image->executable, 0), fd);
	unlink(path);
}

static void what_was_lost_is_read_again(void **state)
{
	(void)state;
	struct sideband *large = sb, *small;
	struct sideband_options options = { .ring_bytes = 4096 };
	assert_int_equal(sideband_open(&small, &options, NULL), 0);
	pid_t kept = spawn("/bin/sleep", "60"), gone = 0;
	for (int i = 0; i < 60; i++) {
		gone = spawn("/bin/true", NULL);
		waitpid(gone, NULL, 0);
	}
	struct pollfd wait = { .fd = sideband_fd(small), .events = POLLIN };
	assert_int_equal(poll(&wait, 1, 1000), 1);
	sideband_read(small);
	/* Losses are told with the next record of the same CPU that finds room. */
	cpu_set_t all, one;
	assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
		waitpid(spawn("/bin/true", NULL), NULL, 0);
	}
	assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
	sideband_read(small);
	sb = small;
	assert_true(sideband_lost(small) > 0);
	struct image_of *image = sideband_find(small, (uint32_t)kept, clock_monotonic_ns());
	assert_non_null(image);
	assert_non_null(strstr(executable(image), "sleep"));
	assert_int_equal(image->end_ns, 0);
	image = sideband_find(small, (uint32_t)gone, clock_monotonic_ns());
	assert_true(!image || image->end_ns);
	kill(kept, SIGKILL);
	waitpid(kept, NULL, 0);
	sideband_close(small);
	sb = large;
}

/* The kernel tells so of a CPU that came, here without one. */
static void cpus_are_watched_again_when_one_came(void **state)
{
	(void)state;
	FILE *tell = fopen("/sys/devices/system/cpu/cpu0/uevent", "w");
	if (!tell)
		skip();
	uint32_t changes = sideband_changes(sb);
	pid_t before = spawn("/bin/sleep", "60");
	assert_true(fputs("online", tell) >= 0);
	assert_int_equal(fclose(tell), 0);
	struct pollfd wait = { .fd = sideband_fd(sb), .events = POLLIN };
	assert_int_equal(poll(&wait, 1, 1000), 1);
	sideband_read(sb);
	assert_int_equal(sideband_changes(sb), changes + 1);
	pid_t after = spawn("/bin/sleep", "61");
	waitpid(spawn("/bin/true", NULL), NULL, 0);
	sideband_read(sb);
	assert_int_equal(sideband_changes(sb), changes + 1);
	for (int i = 0; i < 2; i++) {
		pid_t pid = i ? after : before;
		struct image_of *image = sideband_find(sb, (uint32_t)pid, clock_monotonic_ns());
		assert_non_null(image);
		assert_non_null(strstr(executable(image), "sleep"));
		assert_int_equal(image->number, 1); /* an exec after the fork, once */
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* What it costs, told and not judged: `bench` as argument. */
static double loop_us(bool reading, double *reader_us)
{
	uint64_t begun = clock_monotonic_ns(), read_ns = 0;
	for (int i = 0; i < 1000; i++) {
		waitpid(spawn("/bin/true", NULL), NULL, 0);
		if (reading && i % 50 == 49) {
			uint64_t at = clock_monotonic_ns();
			sideband_read(sb);
			sideband_forget(sb, at);
			read_ns += clock_monotonic_ns() - at;
		}
	}
	*reader_us = (double)read_ns / 1e6;
	return ((double)(clock_monotonic_ns() - begun) - (double)read_ns) / 1e6;
}

static int bench(void)
{
	double reader, none;
	struct sideband_options options = { 0 };
	for (int i = 0; i < 5; i++) {
		double without = loop_us(false, &none);
		uint64_t at = clock_monotonic_ns();
		if (sideband_open(&sb, &options, NULL))
			return 1;
		double open_ms = (double)(clock_monotonic_ns() - at) / 1e6;
		double with = loop_us(true, &reader);
		printf("spawn and wait: %.1f us without, %.1f us with; reader %.2f us per process; "
		       "open %.1f ms; lost %ju\n",
		       without, with, reader, open_ms, (uintmax_t)sideband_lost(sb));
		sideband_close(sb);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "bench") == 0)
		return bench();
	struct error err = ERROR_INIT;
	struct sideband_options options = { 0 };
	if (sideband_open(&sb, &options, &err))
		skip_all(err.text);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_that_ran_before_are_known),
		cmocka_unit_test(short_lived_processes_are_all_known),
		cmocka_unit_test(processes_started_at_once_are_not_mixed_up),
		cmocka_unit_test(a_file_is_one_object),
		cmocka_unit_test(a_library_loaded_later_is_seen),
		cmocka_unit_test(a_fork_without_exec_has_its_parents_code),
		cmocka_unit_test(an_exec_by_a_thread_is_one_of_the_process),
		cmocka_unit_test(a_process_ends_with_its_last_thread),
		cmocka_unit_test(a_deleted_binary_can_still_be_read),
		cmocka_unit_test(what_was_lost_is_read_again),
		cmocka_unit_test(cpus_are_watched_again_when_one_came),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	sideband_close(sb);
	return failed;
}
