/* Subjects that know how much CPU time they used: the truth that tare's figures are held against.
 * Each appends one line "CPU_NS" to the file named by $BURN_LOG, if any.
 *
 *	burn loop TIME            burns TIME of CPU itself
 *	burn orphan TIME          burns it in a child nobody waits for, and exits at once
 *	burn daemon TIME          the same, double-forked and in a session of its own
 *	burn threads N TIME       N threads burn TIME each
 *	burn forks N TIME         N children one after the other burn TIME each
 *	burn bursts SECONDS SEED MS  disturbs for SECONDS: bursts and pauses of random length, MS on
 *average burn exec TIME            a second thread execs `burn loop TIME`: it takes over the
 *leader's pid burn inc COUNT            a fixed number of additions, without looking at a clock
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
#include <time.h>
#include <unistd.h>

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts;
	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void burn_until(clockid_t id, uint64_t until)
{
	while (read_clock(id) < until)
		;
}

/* Opened first, so that as little as possible comes after the last look at the clock. */
static int open_log(void)
{
	const char *path = getenv("BURN_LOG");
	return path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
}

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

/* "50ms", "1s" or ns */
static uint64_t to_ns(const char *text)
{
	char *end;
	double value = strtod(text, &end);
	double scale = strcmp(end, "s") == 0 ? 1e9 : strcmp(end, "ms") == 0 ? 1e6 : 1;
	return (uint64_t)(value * scale);
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
	fprintf(stderr, "usage: burn loop|orphan|daemon|threads|forks|bursts|exec|inc ...\n");
	return 2;
}
