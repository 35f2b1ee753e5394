/* Reads from a device, and says when.
 *
 *	reader make FILE BYTES                        writes such a file through to the device
 *	reader random NAME FILE BLOCK COUNT|TIME      as NAME, one O_DIRECT read after the other at
 *	                                              random places, COUNT of them or for TIME (2s)
 *	reader cold FILE                              drops the file from the page cache, then reads
 *	                                              it through the cache
 *
 * random and cold append a line "BEGIN_NS END_NS CPU_NS" (CLOCK_MONOTONIC, and how much of it was
 *CPU time, mostly before the request was under way) per read to $BURN_LOG; random ends at SIGTERM
 *too. Exit code 3: the file system has no direct I/O.
 */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "own.h"

#define HUGE ((size_t)2 << 20)
#define MOST 1000000

static volatile sig_atomic_t stopped;
static uint64_t (*reads)[3];
static size_t count;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

static int fail(const char *what)
{
	fprintf(stderr, "reader: %s: %s\n", what, strerror(errno));
	return 1;
}

static void write_log(int log)
{
	FILE *out = log >= 0 ? fdopen(log, "a") : NULL;
	if (!out)
		return;
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%llu %llu %llu\n", (unsigned long long)reads[i][0],
			(unsigned long long)reads[i][1], (unsigned long long)reads[i][2]);
	fclose(out);
}

static ssize_t timed_read(int fd, void *buffer, size_t size, off_t at)
{
	uint64_t cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
	uint64_t begin = read_clock(CLOCK_MONOTONIC);
	ssize_t n = pread(fd, buffer, size, at);
	uint64_t end = read_clock(CLOCK_MONOTONIC);
	if (n > 0 && count < MOST) {
		reads[count][0] = begin;
		reads[count][1] = end;
		reads[count++][2] = read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
	}
	return n;
}

/* Bytes that no layer beneath can squeeze or recognise. */
static int make_file(const char *path, uint64_t bytes)
{
	static uint64_t block[131072];
	uint64_t state = 88172645463325252u;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return fail(path);
	for (uint64_t done = 0; done < bytes; done += sizeof block) {
		for (size_t i = 0; i < sizeof block / sizeof *block; i++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			block[i] = state;
		}
		uint64_t left = bytes - done;
		size_t size = left < sizeof block ? (size_t)left : sizeof block;
		if (write(fd, block, size) != (ssize_t)size)
			return fail(path);
	}
	return fsync(fd) || close(fd) ? fail(path) : 0;
}

static int read_random(char **argv)
{
	size_t block = (size_t)atol(argv[4]);
	const char *much = argv[5];
	bool timed = isalpha((unsigned char)much[strlen(much) - 1]);
	size_t most = timed ? MOST : (size_t)atol(much);
	uint64_t until = timed ? read_clock(CLOCK_MONOTONIC) + to_ns(much) : UINT64_MAX;
	unsigned seed = (unsigned)getpid();
	struct stat st;
	void *buffer;
	int log = open_log();
	int fd = open(argv[3], O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return fail(argv[3]), errno == EINVAL ? 3 : 1;
	/* huge pages: a block of 4 MiB then is one request, not eight */
	size_t room = (block + HUGE - 1) / HUGE * HUGE;
	if (fstat(fd, &st) || (size_t)st.st_size < block || posix_memalign(&buffer, HUGE, room))
		return fail(argv[3]);
	madvise(buffer, room, MADV_HUGEPAGE);
	memset(buffer, 0, room);
	prctl(PR_SET_NAME, argv[2]);
	long blocks = (long)(st.st_size / (off_t)block);
	while (!stopped && count < most && read_clock(CLOCK_MONOTONIC) < until) {
		off_t at = (off_t)(rand_r(&seed) % blocks) * (off_t)block;
		if (timed_read(fd, buffer, block, at) <= 0)
			return fail(argv[3]), errno == EINVAL ? 3 : 1;
	}
	write_log(log);
	return 0;
}

static int read_cold(const char *path)
{
	static char buffer[1 << 17];
	int log = open_log();
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		return fail(path);
	off_t at = 0;
	ssize_t n;
	while ((n = timed_read(fd, buffer, sizeof buffer, at)) > 0)
		at += n;
	write_log(log);
	return n < 0 ? fail(path) : 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";
	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = stop }, NULL);
	reads = calloc(MOST, sizeof *reads);
	if (!reads)
		return 1;
	if (strcmp(mode, "make") == 0 && argc > 3)
		return make_file(argv[2], strtoull(argv[3], NULL, 10));
	if (strcmp(mode, "random") == 0 && argc > 5)
		return read_random(argv);
	if (strcmp(mode, "cold") == 0)
		return read_cold(argv[2]);
	fprintf(stderr, "usage: reader make|random|cold ...\n");
	return 2;
}
