/* Subjects that know how much CPU time they used: the truth that tare's figures are held against.
 * Each appends one line "CPU_NS" to the file named by $BURN_LOG, if any.
 *
 *	burn loop TIME               burns TIME of CPU itself
 *	burn orphan TIME             burns it in a child nobody waits for, and exits at once
 *	burn daemon TIME             the same, double-forked and in a session of its own
 *	burn threads N TIME          N threads burn TIME each
 *	burn forks N TIME            N children one after the other burn TIME each
 *	burn bursts SECONDS SEED MS  disturbs for SECONDS: bursts and pauses, MS on average
 *	burn exec TIME               a second thread execs `burn loop TIME`, as its leader
 *	burn inc COUNT               a fixed number of additions, without looking at a clock
 *	burn mutex N TIME            N threads want one mutex for TIME
 *	burn shortlived N            N threads, then N children, that do nothing
 *	burn reuse N                 N pairs of children, the second with the pid of the first
 */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "own.h"

/* What others used for this, and what this process used until now. */
static void log_used(int log, uint64_t others_ns)
{
	if (log >= 0)
		dprintf(log, "%llu\n",
			(unsigned long long)(others_ns + read_clock(CLOCK_PROCESS_CPUTIME_ID)));
}

static void *burning_thread(void *time_ns)
{
	burn_until(CLOCK_THREAD_CPUTIME_ID, *(uint64_t *)time_ns);
	return NULL;
}

static int burn_in_threads(long count, uint64_t time_ns)
{
	pthread_t threads[256];
	int log = open_log();
	if (count > 256)
		return 2;
	for (long i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, burning_thread, &time_ns);
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	log_used(log, 0);
	return 0;
}

static int burn_in_children(long count, uint64_t time_ns)
{
	int log = open_log();
	for (long i = 0; i < count; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			burn_until(CLOCK_PROCESS_CPUTIME_ID, time_ns);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	struct rusage used;
	getrusage(RUSAGE_CHILDREN, &used);
	uint64_t children = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000u +
			    (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000u;
	log_used(log, children);
	return 0;
}

static int burn_left_behind(uint64_t time_ns, int as_daemon)
{
	int log = open_log();
	uint64_t own = read_clock(CLOCK_PROCESS_CPUTIME_ID);
	if (fork() != 0)
		_exit(0);
	if (as_daemon) {
		setsid();
		own += read_clock(CLOCK_PROCESS_CPUTIME_ID);
		if (fork() != 0)
			_exit(0);
	}
	burn_until(CLOCK_PROCESS_CPUTIME_ID, time_ns);
	log_used(log, own);
	_exit(0);
}

/* Exponentially distributed: now and then one is much longer than the others. */
static uint64_t random_ns(unsigned *seed, double mean_ns)
{
	double u = (rand_r(seed) + 1.0) / (RAND_MAX + 2.0);
	return (uint64_t)(-log(u) * mean_ns);
}

static int disturb(long seconds, unsigned seed, double mean_ns)
{
	uint64_t end = read_clock(CLOCK_MONOTONIC) + (uint64_t)seconds * 1000000000u;
	while (read_clock(CLOCK_MONOTONIC) < end) {
		burn_until(CLOCK_MONOTONIC,
			   read_clock(CLOCK_MONOTONIC) + random_ns(&seed, mean_ns));
		uint64_t pause = random_ns(&seed, mean_ns);
		nanosleep(&(struct timespec){ (time_t)(pause / 1000000000u),
					      (long)(pause % 1000000000u) },
			  NULL);
	}
	return 0;
}

static void *exec_loop(void *arguments)
{
	char **argv = arguments;
	char *loop[] = { argv[0], (char *)"loop", argv[2], NULL };
	execv("/proc/self/exe", loop);
	return NULL;
}

static int exec_from_thread(char **argv)
{
	pthread_t thread;
	pthread_create(&thread, NULL, exec_loop, argv);
	pthread_join(thread, NULL);
	return 1;
}

static int add_up(long count)
{
	int log = open_log();
	uint64_t sum = 0;
	for (long i = 0; i < count; i++) {
		sum += (uint64_t)i;
		__asm__ volatile("" : "+r"(sum)); /* every addition is made */
	}
	log_used(log, 0);
	return 0;
}

struct contest {
	pthread_mutex_t lock;
	uint64_t until_ns, held_ns;
};

/* Holds the lock for a moment, asleep now and then, so that the others come to wait for it. */
static void *contend(void *arguments)
{
	struct contest *c = arguments;
	for (unsigned turn = 0; read_clock(CLOCK_MONOTONIC) < c->until_ns; turn++) {
		pthread_mutex_lock(&c->lock);
		uint64_t from = read_clock(CLOCK_MONOTONIC);
		if (turn % 8 == 7)
			sleep_ns(50000);
		else
			burn_for(20000);
		c->held_ns += read_clock(CLOCK_MONOTONIC) - from;
		pthread_mutex_unlock(&c->lock);
	}
	return NULL;
}

/* The second number it logs is how long the lock was held. */
static int contend_in_threads(long count, uint64_t time_ns)
{
	pthread_t threads[256];
	struct contest c = { .lock = PTHREAD_MUTEX_INITIALIZER,
			     .until_ns = read_clock(CLOCK_MONOTONIC) + time_ns };
	int log = open_log();
	if (count > 256)
		return 2;
	for (long i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, contend, &c);
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	if (log >= 0)
		dprintf(log, "%llu %llu\n",
			(unsigned long long)read_clock(CLOCK_PROCESS_CPUTIME_ID),
			(unsigned long long)c.held_ns);
	return 0;
}

static void *nothing(void *argument)
{
	return argument;
}

static int live_shortly(long count)
{
	int log = open_log();
	for (long i = 0; i < count; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, nothing, NULL))
			return 1;
		pthread_join(thread, NULL);
	}
	for (long i = 0; i < count; i++) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		if (pid < 0)
			return 1;
		waitpid(pid, NULL, 0);
	}
	log_used(log, 0);
	return 0;
}

/* Asks the kernel for the pid of a child that has ended; logs how often the next child got it.
 * Others fork too, and not every kernel can be asked. */
static int reuse_pids(long count)
{
	int log = open_log();
	int last = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	long again = 0;
	for (long i = 0; i < count; i++) {
		pid_t before = 0;
		for (int turn = 0; turn < 2; turn++) {
			char text[16];
			int length = snprintf(text, sizeof text, "%d", (int)before - 1);
			if (turn && last >= 0 && pwrite(last, text, (size_t)length, 0) < 0)
				last = -1;
			pid_t pid = fork();
			if (pid == 0)
				_exit(0);
			waitpid(pid, NULL, 0);
			again += turn && pid == before;
			before = pid;
		}
	}
	if (log >= 0)
		dprintf(log, "%ld\n", again);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";
	if (strcmp(mode, "loop") == 0) {
		int log = open_log();
		burn_until(CLOCK_PROCESS_CPUTIME_ID, to_ns(argv[2]));
		log_used(log, 0);
		return 0;
	}
	if (strcmp(mode, "orphan") == 0 || strcmp(mode, "daemon") == 0)
		return burn_left_behind(to_ns(argv[2]), mode[0] == 'd');
	if (strcmp(mode, "threads") == 0 && argc > 3)
		return burn_in_threads(atol(argv[2]), to_ns(argv[3]));
	if (strcmp(mode, "forks") == 0 && argc > 3)
		return burn_in_children(atol(argv[2]), to_ns(argv[3]));
	if (strcmp(mode, "bursts") == 0 && argc > 4)
		return disturb(atol(argv[2]), (unsigned)atol(argv[3]), atof(argv[4]) * 1e6);
	if (strcmp(mode, "exec") == 0)
		return exec_from_thread(argv);
	if (strcmp(mode, "inc") == 0)
		return add_up(atol(argv[2]));
	if (strcmp(mode, "mutex") == 0 && argc > 3)
		return contend_in_threads(atol(argv[2]), to_ns(argv[3]));
	if (strcmp(mode, "shortlived") == 0)
		return live_shortly(atol(argv[2]));
	if (strcmp(mode, "reuse") == 0)
		return reuse_pids(atol(argv[2]));
	fprintf(stderr,
		"usage: burn loop|orphan|daemon|threads|forks|bursts|exec|inc|mutex|shortlived|reuse ...\n");
	return 2;
}
