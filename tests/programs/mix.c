/* A random mix of everything a thread can do with its time, the same for the same seed.
 *
 *	mix SEED N      N actions, each of a few ms at most
 *
 * Appends a line with the names of its actions to $BURN_LOG.
 */
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "own.h"

struct mixer {
	unsigned seed;
	int depth; /* children and threads act too, but have none of their own */
};

static void act(struct mixer *m, long count, FILE *names);

/* 1 us to 4 ms, short ones more often */
static uint64_t some_ns(struct mixer *m)
{
	return 1000u << (rand_r(&m->seed) % 13);
}

static void do_sleep(struct mixer *m)
{
	sleep_ns(some_ns(m));
}

static void do_burn(struct mixer *m)
{
	burn_for(some_ns(m));
}

static void do_yield(struct mixer *m)
{
	(void)m;
	sched_yield();
}

static void do_read(struct mixer *m)
{
	char buffer[65536];
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (rand_r(&m->seed) % 2)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	while (read(fd, buffer, sizeof buffer) > 0)
		;
	close(fd);
}

static void do_write(struct mixer *m)
{
	char path[] = "/var/tmp/tare-mix.XXXXXX", buffer[16384] = { 1 };
	int fd = mkstemp(path);
	if (fd < 0)
		return;
	unlink(path);
	if (write(fd, buffer, sizeof buffer) == sizeof buffer && rand_r(&m->seed) % 2)
		fdatasync(fd);
	close(fd);
}

static void do_fork(struct mixer *m)
{
	long more = m->depth ? 0 : rand_r(&m->seed) % 4;
	pid_t pid = fork();
	if (pid == 0) {
		m->depth++;
		act(m, more, NULL);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void do_vfork_exec(struct mixer *m)
{
	(void)m;
	pid_t pid = vfork();
	if (pid == 0) {
		execlp("true", "true", (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

static void *thread_acts(void *arguments)
{
	struct mixer m = *(struct mixer *)arguments;
	act(&m, m.depth > 1 ? 1 : 3, NULL);
	return NULL;
}

static void do_threads(struct mixer *m)
{
	pthread_t threads[4];
	struct mixer each[4];
	int count = m->depth ? 1 : 1 + rand_r(&m->seed) % 4;
	for (int i = 0; i < count; i++) {
		each[i] = (struct mixer){ m->seed + (unsigned)i, m->depth + 1 };
		pthread_create(&threads[i], NULL, thread_acts, &each[i]);
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

/* A child answers, now and then after a while. */
static void do_socket(struct mixer *m)
{
	char c = 0;
	int ends[2];
	uint64_t pause = rand_r(&m->seed) % 2 ? some_ns(m) : 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return;
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 4 && read(ends[1], &c, 1) == 1; i++) {
			sleep_ns(pause / 4);
			if (write(ends[1], &c, 1) != 1)
				break;
		}
		_exit(0);
	}
	for (int i = 0; i < 4 && write(ends[0], &c, 1) == 1; i++) {
		struct pollfd ready = { .fd = ends[0], .events = POLLIN };
		if (i % 2)
			poll(&ready, 1, 1000);
		if (read(ends[0], &c, 1) != 1)
			break;
	}
	waitpid(pid, NULL, 0);
	close(ends[0]);
	close(ends[1]);
}

static void do_pipe(struct mixer *m)
{
	char buffer[4096];
	int ends[2];
	uint64_t pause = some_ns(m);
	if (pipe(ends))
		return;
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		memset(buffer, 0, sizeof buffer);
		for (int i = 0; i < 40; i++) /* more than it holds: the writer waits too */
			if (write(ends[1], buffer, sizeof buffer) < 0)
				break;
		_exit(0);
	}
	close(ends[1]);
	sleep_ns(pause);
	while (read(ends[0], buffer, sizeof buffer) > 0)
		;
	close(ends[0]);
	waitpid(pid, NULL, 0);
}

static void do_futex(struct mixer *m)
{
	uint32_t word = 0;
	struct timespec most = { 0, (long)some_ns(m) };
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &most, NULL, 0);
}

static void do_fault(struct mixer *m)
{
	size_t size = (size_t)(1 + rand_r(&m->seed) % 256) * 4096;
	volatile char *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	for (size_t at = 0; at < size; at += 4096)
		memory[at] = 1;
	munmap((void *)memory, size);
}

static void do_file_fault(struct mixer *m)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (rand_r(&m->seed) % 2)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	volatile char *memory = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (memory == MAP_FAILED)
		return;
	for (size_t at = 0; at < 8192; at += 4096)
		(void)memory[at];
	munmap((void *)memory, 8192);
}

static const struct {
	const char *name;
	void (*act)(struct mixer *m);
} actions[] = {
	{ "sleep", do_sleep },		 { "burn", do_burn },
	{ "yield", do_yield },		 { "read", do_read },
	{ "write", do_write },		 { "fork", do_fork },
	{ "exec", do_vfork_exec },	 { "threads", do_threads },
	{ "socket", do_socket },	 { "pipe", do_pipe },
	{ "futex", do_futex },		 { "fault", do_fault },
	{ "file-fault", do_file_fault },
};

static void act(struct mixer *m, long count, FILE *names)
{
	for (long i = 0; i < count; i++) {
		size_t which = (size_t)rand_r(&m->seed) % (sizeof actions / sizeof *actions);
		actions[which].act(m);
		if (names)
			fprintf(names, "%s%s", i ? " " : "", actions[which].name);
	}
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: mix SEED N\n");
		return 2;
	}
	struct mixer m = { (unsigned)atol(argv[1]) * 2654435761u, 0 };
	char *text = NULL;
	size_t length = 0;
	FILE *names = open_memstream(&text, &length);
	int log = open_log();
	act(&m, atol(argv[2]), names);
	fclose(names);
	if (log >= 0)
		dprintf(log, "%s\n", text);
	free(text);
	return 0;
}
