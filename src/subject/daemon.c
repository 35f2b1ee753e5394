#include "subject/daemon.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"

#define NS_PER_S 1000000000u
/* x(j+1) = (a x(j) + b) mod p, as the paper's; the constants are those of Park and Miller. */
#define LCG_A 48271u
#define LCG_B 11u
#define LCG_P 2147483647u
#define STEPS_AT_ONCE 256 /* then it looks whether it has to stop */
/* The clock of a CPU that was idle takes a while to rise: the fastest of many rounds is right. */
#define CALIBRATION_NS 100000000u
#define CALIBRATION_STEPS 100000u

static volatile sig_atomic_t stopped;
/* In memory that the handler changes: a signal between the look at `stopped` and the sleep makes
 * the sleep one that is over. */
static volatile struct timespec deadline;
static volatile uint64_t sink;

void daemon_stop(void)
{
	stopped = 1;
	deadline.tv_sec = 0;
	deadline.tv_nsec = 0;
}

static uint64_t lcg(uint64_t x)
{
	return (LCG_A * x + LCG_B) % LCG_P;
}

static bool work(uint64_t steps)
{
	uint64_t x = sink;
	while (steps && !stopped) {
		uint64_t n = steps < STEPS_AT_ONCE ? steps : STEPS_AT_ONCE;
		steps -= n;
		for (; n; n--)
			x = lcg(x);
	}
	sink = x;
	return !steps;
}

static double step_ns(void)
{
	double best = 1e9;
	uint64_t begin_ns = clock_monotonic_ns(), at_ns = begin_ns;
	while (!stopped && at_ns - begin_ns < CALIBRATION_NS) {
		work(CALIBRATION_STEPS);
		uint64_t now_ns = clock_monotonic_ns();
		double ns = (double)(now_ns - at_ns) / CALIBRATION_STEPS;
		best = ns < best ? ns : best;
		at_ns = now_ns;
	}
	return best;
}

int daemon_check(const struct daemon_plan *p, struct error *err)
{
	if (!*p->name)
		return error_set(err, EXIT_USAGE, "daemon: the name is empty");
	if (strlen(p->name) > DAEMON_NAME_MOST)
		return error_set(err, EXIT_USAGE,
				 "daemon: the name '%s' is too long: the kernel keeps %d bytes",
				 DISPLAYED(p->name, 128), DAEMON_NAME_MOST);
	if (!p->period_ns)
		return error_set(err, EXIT_USAGE, "daemon: the period is 0");
	if (!p->work_ns)
		return error_set(err, EXIT_USAGE, "daemon: the work is 0");
	if (!(p->jitter >= 0 && p->jitter < 1))
		return error_set(err, EXIT_USAGE, "daemon: the jitter must be less than 100%%");
	double least_ns = (double)p->period_ns * (1 - p->jitter);
	if ((double)p->work_ns >= least_ns) {
		char period[64], asked[64];
		text_duration(least_ns, 4, period, sizeof period);
		text_duration((double)p->work_ns, 4, asked, sizeof asked);
		return error_set(err, EXIT_USAGE,
				 "daemon: the work (%s) must be less than the %speriod (%s)", asked,
				 p->jitter > 0 ? "shortest " : "", period);
	}
	if (p->count && p->duration_ns)
		return error_set(err, EXIT_USAGE, "daemon: either a count or a duration");
	if (p->start_ns && p->start_ns < clock_monotonic_ns()) {
		error_set(err, EXIT_USAGE, "daemon: %llu is over already",
			  (unsigned long long)p->start_ns);
		return error_hint(err, "--start-at is in ns of CLOCK_MONOTONIC, since the boot");
	}
	return 0;
}

static int take_cpu(int cpu, struct error *err)
{
	size_t size = CPU_ALLOC_SIZE((size_t)cpu + 1);
	cpu_set_t *set = CPU_ALLOC((size_t)cpu + 1);
	if (!set)
		return error_set(err, EXIT_USAGE, "daemon: there is no CPU %d", cpu);
	CPU_ZERO_S(size, set);
	CPU_SET_S((size_t)cpu, size, set);
	int failed = sched_setaffinity(0, size, set) ? errno : 0;
	CPU_FREE(set);
	if (failed == EINVAL)
		return error_set(err, EXIT_USAGE,
				 "daemon: there is no CPU %d, or it is not ours to use", cpu);
	if (failed)
		return error_set(err, EXIT_ENVIRONMENT, "daemon: cannot go to CPU %d: %s", cpu,
				 strerror(failed));
	return 0;
}

/* The paper's daemon raises its priority for the work and lowers it after. Here it keeps it: asleep
 * it disturbs nobody, and it is woken at the priority that it works at, so that it does not wait
 * for the CPU first. */
int daemon_prepare(struct daemon *d, const struct daemon_plan *plan, struct error *err)
{
	struct sched_param priority = { .sched_priority = plan->priority };
	*d = (struct daemon){ .plan = *plan, .random = plan->seed % LCG_P };
	if (plan->cpu >= 0 && take_cpu(plan->cpu, err))
		return -1;
	prctl(PR_SET_NAME, plan->name);
	/* written to, so that all of it is there even where it cannot be locked */
	d->log = xmalloc(DAEMON_LOG_MOST * sizeof *d->log);
	memset(d->log, 0xff, DAEMON_LOG_MOST * sizeof *d->log);
	d->locked = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
	d->steps = (uint64_t)((double)plan->work_ns / step_ns());
	if (!d->steps)
		d->steps = 1;
	d->realtime = plan->realtime && sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
	return 0;
}

/* False: it was told to stop. */
static bool sleep_until(uint64_t at_ns)
{
	deadline.tv_sec = (time_t)(at_ns / NS_PER_S);
	deadline.tv_nsec = (long)(at_ns % NS_PER_S);
	while (!stopped && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME,
					   (const struct timespec *)&deadline, NULL) == EINTR)
		;
	return !stopped;
}

static void activate(struct daemon *d)
{
	const struct daemon_plan *p = &d->plan;
	d->begin_ns = clock_monotonic_ns();
	uint64_t next_ns = p->start_ns ? p->start_ns : d->begin_ns + p->period_ns;
	uint64_t end_ns = p->duration_ns ? d->begin_ns + p->duration_ns : UINT64_MAX;
	while (!p->count || d->activations < p->count) {
		if (!sleep_until(next_ns < end_ns ? next_ns : end_ns) || next_ns >= end_ns)
			return;
		struct daemon_activation a = { .number = d->activations + 1,
					       .begin_ns = clock_monotonic_ns() };
		uint64_t had_ns = clock_thread_cpu_ns();
		if (!work(d->steps))
			return;
		a.cpu_ns = clock_thread_cpu_ns() - had_ns;
		uint64_t now_ns = clock_monotonic_ns();
		a.length_ns = now_ns - a.begin_ns;
		d->log[d->activations++ % DAEMON_LOG_MOST] = a;
		/* what is over is not made up for: the deadlines stay where they are */
		uint64_t over = now_ns > next_ns ? (now_ns - next_ns) / p->period_ns : 0;
		d->missed += over;
		for (int i = 0; i < 3; i++) /* the first numbers after near seeds are near, too */
			d->random = lcg(d->random);
		double share = p->jitter * (2 * (double)d->random / LCG_P - 1);
		next_ns += (over + 1) * p->period_ns +
			   (uint64_t)(int64_t)((double)p->period_ns * share);
	}
}

void daemon_run(struct daemon *d)
{
	activate(d);
	/* What comes now must neither disturb nor be refused memory. */
	if (d->realtime)
		sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
	munlockall();
}

void daemon_release(struct daemon *d)
{
	xfree(d->log);
	*d = (struct daemon){ 0 };
}
