/* tare noise selftest: the experiments 2.1 to 2.3 of De, Kothari and Mann with synthetic daemons
 * (`tare daemon`), which log themselves what should be found. */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/interrupt.h"
#include "base/invoker.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/noise/noise.h"

#define MS 1000000u
#define DAEMONS 2
#define START_NS (3000u * MS) /* until the daemons' first activation */
#define SETTLE_NS (200u * MS) /* before it the loops begin */
#define EDGE_NS 100000u	      /* between a daemon's clock and the kernel's word, at most */
#define LENGTH_TOLERANCE 0.05 /* issue 4 */
#define TOGETHER 0.5	      /* of the detours of 2.3, at least */
#define PATH_SIZE 256

struct experiment {
	const char *number, *about;
	size_t daemons;
	uint64_t work_ns;
	double periods[DAEMONS]; /* of the option's */
};

static const struct experiment experiments[] = {
	{ "2.1", "one of 2500 µs", 1, 2500000, { 1 } },
	{ "2.2", "two of 2500 µs, periods 5 % apart", 2, 2500000, { 1, 1.05 } },
	{ "2.3", "two of 1200 µs at the same time", 2, 1200000, { 1, 1 } },
};

struct selftest_options {
	const char *cpus;
	bool full;
	uint64_t duration_ns;
	uint64_t period_ns;
	cpu_list chosen;
};

struct span {
	uint64_t begin_ns, end_ns, cpu_ns; /* CLOCK_MONOTONIC; CPU time used */
};
typedef ARRAY(struct span) span_list;

struct daemon {
	char name[16], log[PATH_SIZE];
	pid_t pid; /* 0: ended */
	int guarded;
	span_list activations;
};

/* One experiment under way. */
struct trial {
	const struct selftest_options *o;
	const struct experiment *e;
	char directory[PATH_SIZE - 32];
	int guarded; /* the directory, for guard_release() */
	struct daemon daemons[DAEMONS];
	struct noise_recording recording;
	span_list windows; /* of the rounds */
};

/* ---- the daemons ---- */

/* True: a signal came. */
static bool rest(uint64_t ns)
{
	const struct timespec t = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
	ppoll(NULL, 0, &t, interrupt_mask());
	return interrupted();
}

static int start_daemon(struct trial *t, size_t i, uint64_t at_ns, struct error *err)
{
	struct daemon *d = &t->daemons[i];
	uint64_t period = (uint64_t)((double)t->o->period_ns * t->e->periods[i]);
	char cpu[16], period_text[32], work[32], start[32], count[32];
	/* of its own, so that another selftest beside this one is not taken for it */
	snprintf(d->name, sizeof d->name, "dummy%u.%u", (unsigned)(i + 1) % 10u,
		 (unsigned)getpid() % 1000000u);
	snprintf(d->log, sizeof d->log, "%s/%s.log", t->directory, d->name);
	snprintf(cpu, sizeof cpu, "%" PRIu32, t->o->chosen.items[0]);
	snprintf(period_text, sizeof period_text, "%" PRIu64 "ns", period);
	snprintf(work, sizeof work, "%" PRIu64 "ns", t->e->work_ns);
	snprintf(start, sizeof start, "%" PRIu64, at_ns);
	/* so many that it outlasts the recording: its exit would be noise of that name, too */
	snprintf(count, sizeof count, "%" PRIu64, t->o->duration_ns / period + 2);
	const char *const argv[] = { "tare",	   "daemon",   "--name",    d->name,  "--cpu",
				     cpu,	   "--period", period_text, "--work", work,
				     "--start-at", start,      "--count",   count,    "--log",
				     d->log,	   NULL };
	/* A spawned child shares tare's memory until its exec; a forked one would make the loops
	 * fault on pages to copy. */
	posix_spawnattr_t attributes;
	posix_spawn_file_actions_t files;
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, interrupt_mask());
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	int failed = posix_spawn(&d->pid, "/proc/self/exe", &files, &attributes,
				 (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	if (!failed) {
		d->guarded = guard_process(d->pid, 0);
		return 0;
	}
	d->pid = 0;
	return error_set(err, EXIT_ENVIRONMENT, "cannot start 'tare daemon': %s", strerror(failed));
}

/* It is of the real-time class once it has set itself up. */
static int wait_until_ready(struct daemon *d, uint64_t until_ns, struct error *err)
{
	bool alive = true;
	while (alive && sched_getscheduler(d->pid) != SCHED_FIFO &&
	       clock_monotonic_ns() < until_ns) {
		if (rest(10 * MS))
			return error_set(err, EXIT_INTERRUPTED, "interrupted");
		alive = waitpid(d->pid, NULL, WNOHANG) == 0;
	}
	if (alive && sched_getscheduler(d->pid) == SCHED_FIFO)
		return 0;
	if (!alive)
		d->pid = 0;
	error_set(err, EXIT_ENVIRONMENT, "a synthetic daemon %s",
		  alive ? "was refused the real-time class, or is slow to start" : "could not run");
	return error_hint(err, "run as root; 'tare daemon' tells more");
}

static int start_daemons(struct trial *t, struct error *err)
{
	uint64_t at = clock_monotonic_ns() + START_NS;
	for (size_t i = 0; i < t->e->daemons; i++)
		if (start_daemon(t, i, at, err))
			return -1;
	for (size_t i = 0; i < t->e->daemons; i++)
		if (wait_until_ready(&t->daemons[i], at - SETTLE_NS, err))
			return -1;
	/* the CPU belongs to nobody else until then */
	uint64_t now = clock_monotonic_ns();
	if (now < at - SETTLE_NS && rest(at - SETTLE_NS - now))
		return error_set(err, EXIT_INTERRUPTED, "interrupted");
	return 0;
}

/* True when none is left after so long. */
static bool wait_daemons(struct trial *t, uint64_t ns)
{
	uint64_t until = clock_monotonic_ns() + ns;
	for (;;) {
		size_t alive = 0;
		for (size_t i = 0; i < DAEMONS; i++) {
			pid_t *pid = &t->daemons[i].pid;
			if (*pid && waitpid(*pid, NULL, WNOHANG) != 0)
				*pid = 0;
			alive += *pid != 0;
		}
		if (!alive)
			return true;
		if (clock_monotonic_ns() >= until || rest(10 * MS))
			return false;
	}
}

/* As `tare daemon --log` writes it: number,begin_ns,length_ns,cpu_ns. */
static int read_log(struct daemon *d, struct error *err)
{
	FREED char *text = invoker_read_line(d->log);
	if (!text)
		return error_set(err, EXIT_ENVIRONMENT, "'tare daemon' left no log at %s", d->log);
	char *rest_of = text, *line;
	while ((line = strsep(&rest_of, "\n"))) {
		uint64_t begin, length, cpu;
		if (sscanf(line, "%*u,%" SCNu64 ",%" SCNu64 ",%" SCNu64, &begin, &length, &cpu) ==
		    3)
			array_push(&d->activations, (struct span){ begin, begin + length, cpu });
	}
	return 0;
}

/* ---- a trial ---- */

static int on_round(void *context, const struct detour_round *rounds, size_t count, bool *enough,
		    struct error *err)
{
	struct trial *t = context;
	(void)enough;
	(void)err;
	array_push(&t->windows, (struct span){ rounds[0].begin_ns, rounds[0].end_ns, 0 });
	noise_recording_add(&t->recording, rounds, count);
	return 0;
}

static int trial_run(struct trial *t, struct error *err)
{
	const char *where = getenv("TMPDIR");
	const struct detours_options options = { .cpus = t->o->chosen.items,
						 .count = t->o->chosen.count,
						 .kernel = true };
	snprintf(t->directory, sizeof t->directory, "%.200s/tare-XXXXXX",
		 where && *where ? where : "/tmp");
	if (!guard_make_folder(t->directory, &t->guarded)) {
		t->directory[0] = 0;
		return error_set(err, EXIT_ENVIRONMENT, "cannot make a temporary directory");
	}
	if (noise_recording_open(&t->recording, &options, NOISE_WORST_DEFAULT, err))
		return -1;
	if (!t->recording.noise.kernel) {
		error_set(err, EXIT_ENVIRONMENT, "nothing can be named here: %s",
			  detours_not_seen(t->recording.detours));
		return error_hint(err, "run as root, on a kernel with BTF");
	}
	const struct noise_plan plan = { t->o->duration_ns, NOISE_ROUND_NS };
	if (start_daemons(t, err) ||
	    noise_run(t->recording.detours, t->o->chosen.count, &plan, on_round, t, err))
		return -1;
	if (!wait_daemons(t, 3 * t->o->period_ns + 5000u * (uint64_t)MS))
		return interrupted() ? error_set(err, EXIT_INTERRUPTED, "interrupted")
				     : error_set(err, EXIT_ENVIRONMENT,
						 "a synthetic daemon does not end");
	for (size_t i = 0; i < t->e->daemons; i++)
		if (read_log(&t->daemons[i], err))
			return -1;
	return 0;
}

static void trial_close(struct trial *t)
{
	/* however the trial ended, no daemon outlives it */
	for (size_t i = 0; i < DAEMONS; i++)
		if (t->daemons[i].pid)
			kill(t->daemons[i].pid, SIGKILL);
	AS_USER(as); /* the daemons wrote as the invoker */
	bool theirs = invoker_begin(&as, NULL) == 0;
	for (size_t i = 0; i < DAEMONS; i++) {
		if (t->daemons[i].pid)
			waitpid(t->daemons[i].pid, NULL, 0);
		guard_release(t->daemons[i].guarded);
		if (*t->daemons[i].log && theirs)
			unlink(t->daemons[i].log);
		array_release(&t->daemons[i].activations);
	}
	if (*t->directory && theirs)
		rmdir(t->directory);
	user_end(&as);
	guard_release(t->guarded);
	noise_recording_close(&t->recording);
	array_release(&t->windows);
}

/* ---- judged ---- */

/* What the daemon logged within the windows. */
struct logged {
	uint64_t inside;	 /* activations wholly in a window */
	double clock_ns, cpu_ns; /* their sums */
	double edge_ns;		 /* of those partly in one, or nearly */
};

static struct logged logged_of(const struct trial *t, const struct daemon *d)
{
	struct logged l = { 0 };
	for (size_t i = 0; i < d->activations.count; i++) {
		const struct span *a = &d->activations.items[i];
		double length = (double)(a->end_ns - a->begin_ns);
		bool inside = false, touched = false;
		for (size_t w = 0; w < t->windows.count; w++) {
			const struct span *window = &t->windows.items[w];
			inside |= a->begin_ns >= window->begin_ns && a->end_ns <= window->end_ns;
			touched |= a->begin_ns < window->end_ns + EDGE_NS &&
				   a->end_ns + EDGE_NS > window->begin_ns;
		}
		l.inside += inside;
		l.clock_ns += inside ? length : 0;
		l.cpu_ns += inside ? (double)a->cpu_ns : 0;
		l.edge_ns += touched && !inside ? length : 0;
	}
	return l;
}

/* Frequency domain: each daemon is a source of its own, all of it found, as long as it was. */
static void judge_daemon(const struct trial *t, const struct daemon *d, struct verdict *v)
{
	struct logged l = logged_of(t, d);
	const struct noise_cpu *c = &t->recording.noise.cpus.items[0];
	const struct noise_source *s = NULL;
	for (size_t i = 0; i < c->sources.count && !s; i++)
		if (c->sources.items[i].class == NOISE_THREAD &&
		    strcmp(c->sources.items[i].name, d->name) == 0)
			s = &c->sources.items[i];
	uint64_t found = s ? s->spread.count : 0;
	double total = s ? (double)s->spread.ns : 0, n = (double)(l.inside ? l.inside : 1);
	/* one that a task of an even higher class interrupts is found in two pieces */
	cmd_judge(v, l.inside && found >= l.inside,
		  "%s: %" PRIu64 " activations logged, %" PRIu64 " turns found", d->name, l.inside,
		  found);
	/* interrupts and steal in it are taken off the source, and are in the daemon's clock but
	 * not in its CPU time; what was at a round's edge may be in it or not */
	double least = fmin(l.clock_ns, l.cpu_ns) * (1 - LENGTH_TOLERANCE);
	double most = (fmax(l.clock_ns, l.cpu_ns) + l.edge_ns) * (1 + LENGTH_TOLERANCE);
	cmd_judge(v, l.inside && total >= least && total <= most,
		  "%s: %s each; by its own clock %s, CPU %s", d->name, AS_DURATION(total / n, 4),
		  AS_DURATION(l.clock_ns / n, 4), AS_DURATION(l.cpu_ns / n, 4));
}

/* Time domain: the two in succession are one source, "..._dummy1_dummy2". On a busy CPU
 * others come before and behind, so there is more than one such name, and their length has a lower
 * bound only. */
static void judge_together(const struct trial *t, struct verdict *v)
{
	const struct noise_cpu *c = &t->recording.noise.cpus.items[0];
	const struct noise_combination *most = NULL;
	const char *one = t->daemons[0].name, *two = t->daemons[1].name;
	struct noise_spread both = { 0 };
	uint64_t any = 0;
	char pair[40], turned[40];
	snprintf(pair, sizeof pair, "%s_%s", one, two);
	snprintf(turned, sizeof turned, "%s_%s", two, one);
	for (size_t i = 0; i < c->combinations.count; i++) {
		const struct noise_combination *x = &c->combinations.items[i];
		any += strstr(x->name, one) || strstr(x->name, two) ? x->seen.count : 0;
		if (!strstr(x->name, pair) && !strstr(x->name, turned))
			continue;
		noise_spread_merge(&both, &x->seen);
		if (!most || x->seen.count > most->seen.count)
			most = x;
	}
	double expected = (double)(DAEMONS * t->e->work_ns);
	cmd_judge(v, (double)both.count > TOGETHER * (double)any,
		  "in succession in %" PRIu64 " of %" PRIu64 " detours, %" PRIu64
		  " of them\n        %s",
		  both.count, any, most ? most->seen.count : 0, most ? most->name : "-");
	cmd_judge(v, both.count && (double)both.min_ns >= (1 - LENGTH_TOLERANCE) * expected,
		  "in succession: mean %s, shortest %s; their work %s",
		  AS_DURATION(noise_spread_mean(&both), 4), AS_DURATION((double)both.min_ns, 4),
		  AS_DURATION(expected, 4));
}

static int run_experiment(const struct selftest_options *o, const struct experiment *e,
			  struct verdict *v, struct error *err)
{
	struct trial t = { .o = o, .e = e };
	printf("Experiment %s: %s; every %s, for %s\n", e->number, e->about,
	       AS_DURATION((double)o->period_ns, 3), AS_DURATION((double)o->duration_ns, 3));
	fflush(stdout);
	int failed = trial_run(&t, err);
	for (size_t i = 0; !failed && i < e->daemons; i++)
		judge_daemon(&t, &t.daemons[i], v);
	if (!failed && e->daemons > 1 && e->periods[0] == e->periods[1])
		judge_together(&t, v);
	trial_close(&t);
	return failed;
}

static int selftest(void *options, const struct cmd_args *args, struct error *err)
{
	struct selftest_options *o = options;
	struct verdict v = { "  pass  ", "  FAIL  " };
	if (args->operands.count)
		return error_set(err, EXIT_USAGE, "noise selftest takes no operands");
	if (noise_cpus(o->cpus, &o->chosen, err))
		return -1;
	if (o->cpus && o->chosen.count != 1)
		return error_set(err, EXIT_USAGE, "noise selftest: one CPU, not %zu",
				 o->chosen.count);
	o->chosen.count = 1;
	o->period_ns = o->full ? 10000u * (uint64_t)MS : 500u * (uint64_t)MS;
	if (o->duration_ns == NOISE_NOT_GIVEN)
		o->duration_ns = o->full ? 600000u * (uint64_t)MS : 5000u * (uint64_t)MS;
	if (o->duration_ns < 3 * o->period_ns) {
		error_set(err, EXIT_USAGE, "noise selftest: --duration is too short");
		return error_hint(err, "at least three periods: 1.5s, or 30s with --full");
	}
	interrupt_watch();
	for (size_t i = 0; i < sizeof experiments / sizeof *experiments; i++)
		if (run_experiment(o, &experiments[i], &v, err))
			return -1;
	if (v.failed)
		printf("%zu of %zu checks failed.\n", v.failed, v.checks);
	else
		printf("All %zu checks passed.\n", v.checks);
	return v.failed ? EXIT_CHECK : EXIT_DONE;
}

int noise_selftest(struct lab_access *lab, int argc, char **argv)
{
	(void)lab;
	struct selftest_options o = { .duration_ns = NOISE_NOT_GIVEN };
	struct option_spec specs[] = { { 'c', "cpus", OPTION_TEXT, &o.cpus, "CPU",
					 "the CPU to measure (default: the second)" },
				       { 'd', "duration", OPTION_DURATION, &o.duration_ns, "TIME",
					 "of each experiment (default: 5s; 10m with --full)" },
				       { 0, "full", OPTION_FLAG, &o.full, NULL,
					 "the paper's periods: 10 s and 10.5 s instead of 0.5 s" },
				       { 0 } };
	int code = cmd_run(
		"tare noise selftest [OPTIONS]",
		"Whether this installation finds and names synthetic daemons: the experiments 2.1\n"
		"to 2.3 of De, Kothari and Mann. Exits with 1 when a check fails.\n",
		specs, argc, argv, selftest, &o);
	array_release(&o.chosen);
	return code;
}
