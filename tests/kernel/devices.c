/* Whom a device served, on the live kernel: a loop device over a file, read and written past the
 * page cache. Needs root, or CAP_BPF and CAP_PERFMON, and a free loop device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/schedule.h"
#include "collect/devices/devices.h"
#include "subject.h"

enum { BLOCK = 65536, BLOCKS = 256, ROUNDS = 8 };

static struct devices *devices;
static struct error err;
static char path[64]; /* of the loop device */
static int loop = -1;
static uint32_t number;
static device_use_list uses;
static uint64_t lost;
/* How long each child waited for its requests, by its own clock: the device cannot have served it
 * for longer, however late a CPU is. */
static uint64_t *waited_ns;

/* A loop device over a file that has no name any more; both are gone when nobody has them open. */
static void make_loop(void)
{
	char name[] = "/var/tmp/tare-devices-XXXXXX", why[160];
	int file = mkstemp(name);
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	if (file < 0 || control < 0)
		skip_all("no file in /var/tmp, or no /dev/loop-control");
	unlink(name);
	static char zeros[BLOCK];
	for (int i = 0; i < BLOCKS; i++)
		assert_int_equal(pwrite(file, zeros, BLOCK, (off_t)i * BLOCK), BLOCK);
	/* another process may take the free one first */
	for (int attempt = 0; attempt < 10 && loop < 0; attempt++) {
		int free_one = ioctl(control, LOOP_CTL_GET_FREE);
		snprintf(path, sizeof path, "/dev/loop%d", free_one);
		int fd = free_one < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC | O_DIRECT);
		if (fd < 0)
			break;
		if (ioctl(fd, LOOP_SET_FD, file) == 0)
			loop = fd;
		else
			close(fd);
	}
	snprintf(why, sizeof why, "no loop device can be had: %s", strerror(errno));
	if (loop < 0)
		skip_all(why);
	struct loop_info64 info = { .lo_flags = LO_FLAGS_AUTOCLEAR };
	assert_int_equal(ioctl(loop, LOOP_SET_STATUS64, &info), 0);
	struct stat st;
	assert_int_equal(fstat(loop, &st), 0);
	number = (uint32_t)(major(st.st_rdev) << 20 | minor(st.st_rdev));
	close(file);
	close(control);
}

static int set_up(void **state)
{
	(void)state;
	if (devices_open(&devices, &err))
		skip_all(err.text);
	make_loop();
	waited_ns = mmap(NULL, 2 * sizeof *waited_ns, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(waited_ns != MAP_FAILED);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	devices_close(devices);
	array_release(&uses);
	close(loop);
	return 0;
}

/* A child that waits for a byte, then reads or writes every block so often. next: where it passes
 * the byte on after each; it waits for it again. -1: it goes on by itself. */
static pid_t start(int gate, int rounds, bool writes, int next, int number_of)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	char byte, *block = aligned_alloc(4096, BLOCK);
	int fd = open(path, O_RDWR | O_DIRECT);
	if (!block || fd < 0 || read(gate, &byte, 1) != 1)
		_exit(1);
	memset(block, 0, BLOCK);
	if (next >= 0 && !schedule_set_fifo(1)) /* what it waits for is the device, not a CPU */
		_exit(3);
	for (int i = 0; i < rounds * BLOCKS; i++) {
		off_t at = (off_t)(i * 7 % BLOCKS) * BLOCK; /* so that nothing merges */
		uint64_t begin = clock_monotonic_ns();
		if ((writes ? pwrite(fd, block, BLOCK, at) : pread(fd, block, BLOCK, at)) != BLOCK)
			_exit(2);
		waited_ns[number_of] += clock_monotonic_ns() - begin;
		bool last = i + 1 == rounds * BLOCKS;
		if (next >= 0 && (write(next, "n", 1) != 1 || (!last && read(gate, &byte, 1) != 1)))
			_exit(4);
	}
	_exit(0);
}

static void join(pid_t pid)
{
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Lets the children go; the use of the device that the first of them is the owner of. Two take
 * turns, request by request. */
static const struct device_use *run(int children, int rounds, bool writes)
{
	int gates[2][2];
	pid_t pids[2];
	memset(waited_ns, 0, 2 * sizeof *waited_ns);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pipe(gates[i]), 0);
	for (int i = 0; i < children; i++)
		pids[i] = start(gates[i][0], rounds, writes, children > 1 ? gates[!i][1] : -1, i);
	devices_begin(devices);
	uint64_t begin = clock_monotonic_ns();
	assert_int_equal(write(gates[0][1], "g", 1), 1);
	for (int i = 0; i < children; i++)
		join(pids[i]);
	devices_drain(devices);
	uint64_t end = clock_monotonic_ns();
	devices_end(devices, end);
	struct devices_owner owner = { .tgids = pids, .tgid_count = 1 };
	devices_share(devices, begin, end, &owner, &uses, &lost);
	for (int i = 0; i < 4; i++)
		close(gates[i / 2][i % 2]);
	for (size_t i = 0; i < uses.count; i++) {
		const struct device_use *u = &uses.items[i];
		assert_true(u->busy_ns <= end - begin);
		assert_int_equal(u->own_ns + u->others_ns, u->busy_ns);
		if (u->device == number)
			return u;
	}
	fail_msg("the loop device is not among the %zu that were used", uses.count);
	return NULL;
}

static void reads_of_one_alone_are_all_its_own(void **state)
{
	(void)state;
	const struct device_use *u = run(1, ROUNDS, false);
	assert_int_equal(lost, 0);
	assert_int_equal(u->own_reads, ROUNDS * BLOCKS);
	assert_int_equal(u->own_read_bytes, (uint64_t)ROUNDS * BLOCKS * BLOCK);
	assert_int_equal(u->own_writes, 0);
	assert_true(u->own_ns > 0);
	assert_true(u->own_ns <= waited_ns[0]);
	assert_int_equal(u->others_reads, 0);
	assert_int_equal(u->others_ns, 0);
}

static void writes_are_counted_and_those_of_the_loop_device_are_not(void **state)
{
	(void)state;
	const struct device_use *u = run(1, 1, true);
	assert_int_equal(lost, 0);
	assert_int_equal(u->own_writes, BLOCKS);
	assert_int_equal(u->own_write_bytes, (uint64_t)BLOCKS * BLOCK);
	assert_int_equal(u->own_reads, 0);
	/* what the loop's worker writes to the disk below is not the child's */
	for (size_t i = 0; i < uses.count; i++)
		if (uses.items[i].device != number)
			assert_int_equal(uses.items[i].own_writes, 0);
}

static void each_of_two_readers_is_charged_for_its_own(void **state)
{
	(void)state;
	const struct device_use *u = run(2, ROUNDS, false);
	assert_int_equal(lost, 0);
	assert_int_equal(u->own_reads, ROUNDS * BLOCKS);
	assert_int_equal(u->others_reads, ROUNDS * BLOCKS);
	/* never at once: what is charged to the wrong one is too much for that one */
	assert_true(u->own_ns <= waited_ns[0]);
	assert_true(u->others_ns <= waited_ns[1]);
	/* and most of their waiting was for the device */
	assert_true(u->own_ns > waited_ns[0] / 2);
	assert_true(u->others_ns > waited_ns[1] / 2);
}

/* Before the first, and after one that kept requests. */
static void a_stretch_without_requests_has_none(void **state)
{
	(void)state;
	pid_t nobody = 0;
	struct devices_owner owner = { .tgids = &nobody, .tgid_count = 1 };
	devices_begin(devices);
	uint64_t begin = clock_monotonic_ns();
	devices_end(devices, begin + 1);
	devices_share(devices, begin, begin + 1, &owner, &uses, &lost);
	for (size_t i = 0; i < uses.count; i++)
		assert_int_equal(uses.items[i].own_ns, 0);
	assert_int_equal(lost, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stretch_without_requests_has_none),
		cmocka_unit_test(reads_of_one_alone_are_all_its_own),
		cmocka_unit_test(writes_are_counted_and_those_of_the_loop_device_are_not),
		cmocka_unit_test(each_of_two_readers_is_charged_for_its_own),
		cmocka_unit_test(a_stretch_without_requests_has_none),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
