/* What profilers that watch the whole system cost a program: it runs alone and beside each of them,
 * taking turns, on one CPU.
 *
 *	bench-profile-pairs ROUNDS CPU RAW PROFILER... -- COMMAND [ARGUMENT...]
 *
 * A PROFILER is one argument, NAME@NS=WORDS: words that blanks separate, ended by SIGINT. Each
 *round has the command alone twice and once beside each profiler, in an order that rotates. RAW: a
 *file that gets a line of "name interrupt_ns" (their median) for each execution, or "-".
 *
 * Prints a line for each, and one for the difference of tareX from the command alone and from
 *perfX, in percentage points: name, rounds, what interruptions take in % of the time, and its 95 %
 *bootstrap interval over the rounds.
 *
 * A profiler interrupts every NS. The command tells how long its stretches of equal work took (in
 *the file $ROUND_TIMES); those that hold such a moment took longer than the stretches around them,
 *by what the interrupt took. The 20th percentile of that over all moments of all rounds is of an
 *interrupt in a quiet moment: others on the host only add. Alone there is none, and the figure is
 *the noise of this; or the timer tick's own where $TICK_NS, the period for those alone, is a
 *tick's.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
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

#define AROUND 10	  /* stretches on either side tell how fast the CPU is */
#define LONGEST_NS 100000 /* more is another task, or the host */
#define LEAST_NS (-20000)
#define BIN_NS 20
#define BINS ((LONGEST_NS * 3 - LEAST_NS) / BIN_NS + 1)
#define QUIET 0.2
#define STEP_NS 5000.	/* of phases */
#define WIDTH_NS 40000. /* of a stretch with what interrupts it */

struct stretch {
	double begin_ns, ns;
};
typedef ARRAY(struct stretch) stretch_list;

struct reading {
	uint32_t *interrupts; /* by what they took, BINS of BIN_NS from LEAST_NS on */
	double typical_ns;    /* their median */
};

struct variant {
	const char *name;
	double period_ns;	    /* 0: it does not interrupt */
	char *words[WORDS_MAX + 1]; /* none: the command alone */
	ARRAY(struct reading) readings;
};

struct bench {
	int rounds, cpu;
	FILE *raw;
	char times[64]; /* $ROUND_TIMES */
	const char *tick_ns;
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
	struct stretch s;
	while (file && fscanf(file, "%lf %lf", &s.begin_ns, &s.ns) == 2)
		array_push(into, s);
	if (file)
		fclose(file);
	unlink(path);
}

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

/* What each stretch took longer than those around it; NaN: another task had the CPU. */
static double *longer(const stretch_list *all)
{
	double *more = xcalloc(all->count, sizeof *more);
	for (size_t i = AROUND; i + AROUND < all->count; i++) {
		double around[2 * AROUND + 1];
		for (size_t k = 0; k <= 2 * AROUND; k++)
			around[k] = all->items[i - AROUND + k].ns;
		more[i] = all->items[i].ns - median(around, 2 * AROUND + 1);
		if (more[i] > LONGEST_NS)
			more[i] = NAN;
	}
	return more;
}

/* At which phase of the period stretches take longer than at all others, by their means. */
static double find_phase(const stretch_list *all, const double *more, double period_ns)
{
	size_t phases = (size_t)(period_ns / STEP_NS), width = (size_t)(WIDTH_NS / STEP_NS), at = 0;
	double *sum = xcalloc(phases, sizeof *sum), *count = xcalloc(phases, sizeof *count);
	double best = -1, begin = all->items[0].begin_ns;
	for (size_t i = 0; i < all->count; i++) {
		double from = all->items[i].begin_ns - begin, to = from + all->items[i].ns;
		for (double t = from; !isnan(more[i]) && t < to; t += STEP_NS) {
			size_t phase = (size_t)(fmod(t, period_ns) / period_ns * (double)phases);
			sum[phase] += more[i] / all->items[i].ns;
			count[phase]++;
		}
	}
	for (size_t i = 0; i < phases; i++) {
		double here = 0;
		for (size_t k = 0; k < width; k++) {
			size_t phase = (i + k) % phases;
			here += count[phase] > 0 ? sum[phase] / count[phase] : 0;
		}
		if (here > best) {
			best = here;
			at = i;
		}
	}
	xfree(sum);
	xfree(count);
	return ((double)at + (double)width / 2) / (double)phases * period_ns;
}

/* What the stretches around each moment, period_ns apart, took longer. */
static void find_interrupts(const char *path, double period_ns, struct reading *r)
{
	stretch_list all = { 0 };
	ARRAY(double) each = { 0 };
	r->interrupts = xcalloc(BINS, sizeof *r->interrupts);
	read_stretches(path, &all);
	if (all.count > 4 * AROUND && period_ns > 0) {
		double *more = longer(&all);
		double at = all.items[0].begin_ns + find_phase(&all, more, period_ns);
		for (size_t i = 1; i + 1 < all.count; i++) {
			if (all.items[i].begin_ns + all.items[i].ns <= at)
				continue;
			double sum = more[i - 1] + more[i] + more[i + 1];
			if (!isnan(sum) && all.items[i].begin_ns <= at)
				array_push(&each, sum);
			at += period_ns;
		}
		xfree(more);
	}
	for (size_t i = 0; i < each.count; i++)
		r->interrupts[(size_t)((fmax(each.items[i], LEAST_NS) - LEAST_NS) / BIN_NS)]++;
	r->typical_ns = each.count ? median(each.items, each.count) : 0;
	array_release(&all);
	array_release(&each);
}

static struct reading execute(struct bench *b, struct variant *v)
{
	pid_t profiler = v->words[0] ? start(v->words, -1) : 0;
	settle(profiler);
	pid_t pid = start(b->command, b->cpu);
	siginfo_t info;
	if (waitid(P_PID, (id_t)pid, &info, WEXITED))
		die("waitid");
	struct reading r = { 0 };
	find_interrupts(b->times, v->period_ns, &r);
	if (info.si_code != CLD_EXITED || info.si_status != 0) {
		fprintf(stderr, "%s failed\n", b->command[0]);
		exit(1);
	}
	if (profiler)
		stop(v, profiler);
	if (b->raw)
		fprintf(b->raw, "%s %.0f\n", v->name, r.typical_ns);
	return r;
}

/* ---- figures ---- */

/* In % of the time, over these rounds. */
static double quiet_share(const struct variant *v, const size_t *rounds, size_t count)
{
	static uint64_t sums[BINS];
	uint64_t all = 0, below = 0;
	memset(sums, 0, sizeof sums);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < BINS; k++)
			sums[k] += v->readings.items[rounds[i]].interrupts[k];
	for (size_t k = 0; k < BINS; k++)
		all += sums[k];
	for (size_t k = 0; all && k < BINS; k++) {
		below += sums[k];
		if ((double)below >= QUIET * (double)all)
			return 100 * (LEAST_NS + ((double)k + 0.5) * BIN_NS) / v->period_ns;
	}
	return 0;
}

/* less: what is taken off; NULL: nothing. */
static void print_quiet(const struct bench *b, const struct variant *v, const struct variant *less)
{
	struct random random = { .state = 1 };
	size_t n = (size_t)b->rounds;
	size_t *rounds = xmalloc(n * sizeof *rounds);
	double *figures = xmalloc((RESAMPLES + 1) * sizeof *figures);
	for (size_t i = 0; i <= RESAMPLES; i++) {
		for (size_t k = 0; k < n; k++)
			rounds[k] = i ? random_below(&random, n) : k;
		figures[i] = quiet_share(v, rounds, n);
		if (less)
			figures[i] -= quiet_share(less, rounds, n);
	}
	qsort(figures + 1, RESAMPLES, sizeof *figures, by_value);
	printf("\t%+.4f\t%+.4f\t%+.4f", figures[0], figures[1 + RESAMPLES / 40],
	       figures[RESAMPLES - RESAMPLES / 40]);
	xfree(rounds);
	xfree(figures);
}

static void report(const struct bench *b)
{
	const struct variant *all = b->variants.items;
	for (size_t i = 1; i < b->variants.count; i++) {
		printf("%s\t%d", all[i].name, b->rounds);
		print_quiet(b, &all[i], NULL);
		putchar('\n');
	}
	/* tareX beside the command alone, and beside perfX */
	for (size_t i = ALONE; i < b->variants.count; i++)
		for (size_t k = 0; k < b->variants.count; k++) {
			if (strncmp(all[i].name, "tare", 4) != 0 ||
			    (k && (strncmp(all[k].name, "perf", 4) != 0 ||
				   strcmp(all[i].name + 4, all[k].name + 4) != 0)))
				continue;
			printf("%s-less-%s\t%d", all[i].name, all[k].name, b->rounds);
			print_quiet(b, &all[i], &all[k]);
			putchar('\n');
		}
}

/* ---- arguments ---- */

static void add_variant(struct bench *b, char *text)
{
	struct variant v = { .name = text };
	char *words = strchr(text, '='), *rest = NULL;
	if (words)
		*words++ = '\0';
	char *period = strchr(text, '@');
	if (period)
		*period++ = '\0';
	v.period_ns = atof(period ? period : b->tick_ns);
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
	b.tick_ns = getenv("TICK_NS") ? getenv("TICK_NS") : "0";
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
				xfree(r.interrupts);
		}
	report(&b);
	for (size_t i = 0; i < count; i++) {
		struct variant *v = &b.variants.items[i];
		for (size_t k = 0; k < v->readings.count; k++)
			xfree(v->readings.items[k].interrupts);
		array_release(&v->readings);
	}
	array_release(&b.variants);
	return b.raw && fclose(b.raw) ? 1 : 0;
}
