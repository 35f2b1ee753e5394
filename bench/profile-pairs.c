/* What profilers that watch the whole system cost a program: it runs alone and beside each of them,
 * taking turns, on one CPU.
 *
 *	bench-profile-pairs ROUNDS CPU RAW PROFILER... -- COMMAND [ARGUMENT...]
 *
 * A PROFILER is one argument, NAME=WORDS: words that blanks separate, ended by SIGINT. Each round
 *has the command alone twice and once beside each profiler, in an order that rotates. What is
 *compared with the mean of the two alone is the command's CPU time and the profiler's in that
 *window together; the second one alone compared with the first is the noise of all this. RAW: a
 *file that gets a line of "name cpu_ns own_ns elapsed_ns" for each execution, or "-".
 *
 * Prints a line for each, and one for the difference of tareX and perfX in percentage points: name,
 *rounds, and for CPU time with the profiler's own, without, elapsed time, and the profiler's own
 *CPU time: the median of (ratio - 1) in %, and its 95 % bootstrap interval. Where the command tells
 *how long its stretches of equal work took (in the file $ROUND_TIMES), a fifth follows: of the
 *stretches of all rounds the 10th percentile, which is of moments when nobody else on the host
 *disturbed, compared with that alone; with the profiler's own.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "stats/random.h"

#define ALONE 2 /* the first so many are the command alone */
#define WORDS_MAX 31
#define SETTLED_NS 5000000u /* of CPU time in a pause: a profiler that is ready takes less */
#define PAUSE_US 100000
#define PAUSES_LEAST 3
#define PAUSES_MOST 100
#define RESAMPLES 1000

typedef ARRAY(double) stretch_list;

struct reading {
	double cpu_ns, own_ns, elapsed_ns;
	stretch_list stretches;
};

struct variant {
	const char *name;
	char *words[WORDS_MAX + 1]; /* none: the command alone */
	ARRAY(struct reading) readings;
};

struct bench {
	int rounds, cpu;
	FILE *raw;
	char times[64]; /* $ROUND_TIMES */
	char **command;
	ARRAY(struct variant) variants;
};

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* One that wants the CPU and does not get it is not idle. */
static bool runnable(const char *task)
{
	char path[400], line[512];
	bool runs = false;
	snprintf(path, sizeof path, "%s/stat", task);
	FILE *stat = fopen(path, "r");
	if (stat && fgets(line, sizeof line, stat)) {
		const char *name_end = strrchr(line, ')');
		runs = name_end && strncmp(name_end, ") R", 3) == 0;
	}
	if (stat)
		fclose(stat);
	return runs;
}

/* CPU time of all threads of a process, of a dead one that was not waited for, too; how many of
 * them want to run is added to *wanting unless that is NULL. */
static uint64_t cpu_of(pid_t pid, int *wanting)
{
	char path[64];
	uint64_t sum = 0;
	snprintf(path, sizeof path, "/proc/%d/task", pid);
	DIR *tasks = opendir(path);
	if (!tasks)
		return 0;
	for (const struct dirent *entry; (entry = readdir(tasks));) {
		char task[330], file[400];
		unsigned long long ns = 0;
		if (entry->d_name[0] == '.')
			continue;
		snprintf(task, sizeof task, "%s/%s", path, entry->d_name);
		snprintf(file, sizeof file, "%s/schedstat", task);
		if (wanting)
			*wanting += runnable(task);
		FILE *stat = fopen(file, "r");
		if (stat && fscanf(stat, "%llu", &ns) == 1)
			sum += ns;
		if (stat)
			fclose(stat);
	}
	closedir(tasks);
	return sum;
}

static pid_t start(char **words, int cpu)
{
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid > 0)
		return pid;
	signal(SIGINT, SIG_DFL); /* a script in the background has it ignored */
	int null = open("/dev/null", O_RDWR);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (cpu >= 0) {
		cpu_set_t set;
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof set, &set))
			die("sched_setaffinity");
	}
	execvp(words[0], words);
	die(words[0]);
	return -1;
}

/* Alone has the same pause: a CPU that was idle for long is another one. */
static void settle(pid_t profiler)
{
	uint64_t before = 0;
	for (int i = 0; i < PAUSES_MOST; i++) {
		usleep(PAUSE_US);
		if (!profiler && i + 1 == PAUSES_LEAST)
			return;
		int wanting = 0;
		uint64_t now = profiler ? cpu_of(profiler, &wanting) : 0;
		if (profiler && i + 1 >= PAUSES_LEAST && !wanting && now - before < SETTLED_NS)
			return;
		before = now;
	}
}

static void stop(const struct variant *v, pid_t profiler)
{
	int status;
	if (waitpid(profiler, &status, WNOHANG) == profiler) {
		fprintf(stderr, "%s ended by itself, status %d\n", v->name, status);
		exit(1);
	}
	kill(profiler, SIGINT);
	for (int i = 0; i < 6000; i++) {
		if (waitpid(profiler, &status, WNOHANG) == profiler)
			return;
		usleep(5000);
	}
	kill(profiler, SIGKILL);
	waitpid(profiler, &status, 0);
	fprintf(stderr, "%s did not end within 30 s of SIGINT\n", v->name);
	exit(1);
}

static void read_stretches(const char *path, stretch_list *into)
{
	FILE *file = fopen(path, "re");
	double ns;
	while (file && fscanf(file, "%lf", &ns) == 1)
		array_push(into, ns);
	if (file)
		fclose(file);
	unlink(path);
}

static struct reading execute(struct bench *b, struct variant *v)
{
	pid_t profiler = v->words[0] ? start(v->words, -1) : 0;
	settle(profiler);
	uint64_t own = profiler ? cpu_of(profiler, NULL) : 0, begin = clock_monotonic_ns();
	pid_t pid = start(b->command, b->cpu);
	siginfo_t info;
	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT))
		die("waitid");
	struct reading r = { .elapsed_ns = (double)(clock_monotonic_ns() - begin),
			     .own_ns = profiler ? (double)(cpu_of(profiler, NULL) - own) : 0,
			     .cpu_ns = (double)cpu_of(pid, NULL) };
	waitpid(pid, NULL, 0);
	read_stretches(b->times, &r.stretches);
	if (info.si_code != CLD_EXITED || info.si_status != 0) {
		fprintf(stderr, "%s failed\n", b->command[0]);
		exit(1);
	}
	if (profiler)
		stop(v, profiler);
	if (b->raw)
		fprintf(b->raw, "%s %.0f %.0f %.0f\n", v->name, r.cpu_ns, r.own_ns, r.elapsed_ns);
	return r;
}

/* ---- figures ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
	qsort(x, n, sizeof *x, by_value);
	return (x[(n - 1) / 2] + x[n / 2]) / 2;
}

static void print_median(const double *x, size_t n)
{
	struct random random = { .state = 1 };
	double *picked = xmalloc(n * sizeof *picked),
	       *medians = xmalloc(RESAMPLES * sizeof *medians);
	for (size_t i = 0; i < RESAMPLES; i++) {
		for (size_t j = 0; j < n; j++)
			picked[j] = x[random_below(&random, n)];
		medians[i] = median(picked, n);
	}
	qsort(medians, RESAMPLES, sizeof *medians, by_value);
	memcpy(picked, x, n * sizeof *picked);
	printf("\t%+.4f\t%+.4f\t%+.4f", median(picked, n), medians[RESAMPLES / 40],
	       medians[RESAMPLES - 1 - RESAMPLES / 40]);
	xfree(picked);
	xfree(medians);
}

enum figure { WITH_OWN, WITHOUT_OWN, ELAPSED, OWN, FIGURES };

static double figure_of(const struct bench *b, const struct variant *v, size_t round,
			enum figure figure)
{
	const struct reading *r = &v->readings.items[round];
	const struct variant *alone = b->variants.items;
	const struct reading *first = &alone[0].readings.items[round];
	const struct reading *second = &alone[1].readings.items[round];
	bool control = v < alone + ALONE; /* is not to be compared with itself */
	double cpu = control ? first->cpu_ns : (first->cpu_ns + second->cpu_ns) / 2;
	double elapsed = control ? first->elapsed_ns : (first->elapsed_ns + second->elapsed_ns) / 2;
	switch (figure) {
	case WITH_OWN:
		return 100 * ((r->cpu_ns + r->own_ns) / cpu - 1);
	case WITHOUT_OWN:
		return 100 * (r->cpu_ns / cpu - 1);
	case ELAPSED:
		return 100 * (r->elapsed_ns / elapsed - 1);
	default:
		return 100 * r->own_ns / cpu;
	}
}

/* ---- stretches ---- */

/* The 10th percentile over the stretches of these rounds; 0: there are none. */
static double low_of(const struct variant *v, const size_t *rounds, size_t count)
{
	static stretch_list all;
	all.count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct reading *r = &v->readings.items[rounds[i]];
		for (size_t k = 0; k < r->stretches.count; k++)
			array_push(&all, r->stretches.items[k]);
	}
	if (!all.count)
		return 0;
	qsort(all.items, all.count, sizeof *all.items, by_value);
	return all.items[all.count / 10];
}

/* In % of the same alone, with the profiler's own. */
static double low_figure(const struct bench *b, const struct variant *v, const size_t *rounds,
			 size_t count)
{
	const struct variant *alone = b->variants.items;
	double base = low_of(alone, rounds, count), own = 0;
	if (v >= alone + ALONE)
		base = (base + low_of(alone + 1, rounds, count)) / 2;
	for (size_t i = 0; i < count; i++) {
		const struct reading *r = &v->readings.items[rounds[i]];
		own += r->own_ns / r->elapsed_ns / (double)count;
	}
	return 100 * (low_of(v, rounds, count) / base - 1 + own);
}

/* less: what is taken off, round by round; NULL: nothing. */
static void print_low(const struct bench *b, const struct variant *v, const struct variant *less)
{
	struct random random = { .state = 1 };
	size_t n = (size_t)b->rounds;
	size_t *rounds = xmalloc(n * sizeof *rounds);
	double *figures = xmalloc((RESAMPLES + 1) * sizeof *figures);
	for (size_t i = 0; i <= RESAMPLES; i++) {
		for (size_t k = 0; k < n; k++)
			rounds[k] = i ? random_below(&random, n) : k;
		figures[i] = low_figure(b, v, rounds, n);
		if (less)
			figures[i] -= low_figure(b, less, rounds, n);
	}
	qsort(figures + 1, RESAMPLES, sizeof *figures, by_value);
	printf("\t%+.4f\t%+.4f\t%+.4f", figures[0], figures[1 + RESAMPLES / 40],
	       figures[RESAMPLES - RESAMPLES / 40]);
	xfree(rounds);
	xfree(figures);
}

static bool has_stretches(const struct bench *b)
{
	return b->variants.items[0].readings.items[0].stretches.count > 1;
}

/* tareX beside perfX, round by round. */
static void report_less(const struct bench *b, const struct variant *tare, double *x)
{
	for (size_t i = ALONE; i < b->variants.count; i++) {
		const struct variant *perf = &b->variants.items[i];
		if (strncmp(tare->name, "tare", 4) != 0 || strncmp(perf->name, "perf", 4) != 0 ||
		    strcmp(tare->name + 4, perf->name + 4) != 0)
			continue;
		printf("%s-less-%s\t%d", tare->name, perf->name, b->rounds);
		for (int figure = 0; figure < FIGURES; figure++) {
			for (size_t round = 0; round < (size_t)b->rounds; round++)
				x[round] = figure_of(b, tare, round, (enum figure)figure) -
					   figure_of(b, perf, round, (enum figure)figure);
			print_median(x, (size_t)b->rounds);
		}
		if (has_stretches(b))
			print_low(b, tare, perf);
		putchar('\n');
	}
}

static void report(const struct bench *b)
{
	double *x = xmalloc((size_t)b->rounds * sizeof *x);
	for (size_t i = 1; i < b->variants.count; i++) {
		const struct variant *v = &b->variants.items[i];
		printf("%s\t%d", v->name, b->rounds);
		for (int figure = 0; figure < FIGURES; figure++) {
			for (size_t round = 0; round < (size_t)b->rounds; round++)
				x[round] = figure_of(b, v, round, (enum figure)figure);
			print_median(x, (size_t)b->rounds);
		}
		if (has_stretches(b))
			print_low(b, v, NULL);
		putchar('\n');
	}
	for (size_t i = ALONE; i < b->variants.count; i++)
		report_less(b, &b->variants.items[i], x);
	xfree(x);
}

/* ---- arguments ---- */

static void add_variant(struct bench *b, char *text)
{
	struct variant v = { .name = text };
	char *words = strchr(text, '='), *rest = NULL;
	if (words)
		*words++ = '\0';
	size_t count = 0;
	for (char *word = words ? strtok_r(words, " ", &rest) : NULL; word && count < WORDS_MAX;
	     word = strtok_r(NULL, " ", &rest))
		v.words[count++] = word;
	array_push(&b->variants, v);
}

int main(int argc, char **argv)
{
	struct bench b = { 0 };
	static char first[] = "alone", second[] = "alone-again";
	int at = 4;
	if (argc < 6)
		return 2;
	b.rounds = atoi(argv[1]);
	b.cpu = atoi(argv[2]);
	if (strcmp(argv[3], "-") != 0 && !(b.raw = fopen(argv[3], "ae")))
		die(argv[3]);
	add_variant(&b, first);
	add_variant(&b, second);
	for (; at < argc && strcmp(argv[at], "--") != 0; at++)
		add_variant(&b, argv[at]);
	b.command = argv + at + 1;
	if (b.rounds < 1 || at + 1 >= argc)
		return 2;
	snprintf(b.times, sizeof b.times, "/tmp/profile-pairs.%d", getpid());
	setenv("ROUND_TIMES", b.times, 1);
	size_t count = b.variants.count;
	for (int round = -1; round < b.rounds; round++) /* the first one warms up */
		for (size_t turn = 0; turn < count; turn++) {
			struct variant *v = &b.variants.items[(turn + (size_t)(round + 1)) % count];
			struct reading r = execute(&b, v);
			if (round >= 0)
				array_push(&v->readings, r);
			else
				array_release(&r.stretches);
		}
	report(&b);
	for (size_t i = 0; i < count; i++) {
		struct variant *v = &b.variants.items[i];
		for (size_t k = 0; k < v->readings.count; k++)
			array_release(&v->readings.items[k].stretches);
		array_release(&v->readings);
	}
	array_release(&b.variants);
	return b.raw && fclose(b.raw) ? 1 : 0;
}
