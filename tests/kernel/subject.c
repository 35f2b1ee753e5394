#include "subject.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static uint64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void burn_ms(unsigned ms)
{
	uint64_t until = cpu_ns() + ms * UINT64_C(1000000);
	while (cpu_ns() < until)
		;
}

void done(struct shared *shared)
{
	atomic_fetch_add(&shared->cpu_ns, cpu_ns());
	_exit(0);
}

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	abort();
}

static pid_t start(subject *run, struct shared *shared, int *gate)
{
	int ends[2];
	need(pipe(ends) == 0, "pipe");
	pid_t pid = fork();
	need(pid >= 0, "fork");
	if (pid == 0) {
		char c;
		close(ends[1]);
		need(read(ends[0], &c, 1) == 1, "gate");
		close(ends[0]);
		run(shared);
		_exit(0);
	}
	close(ends[0]);
	*gate = ends[1];
	return pid;
}

/* Until no child is left but those that were there before. */
static void reap(const struct trial *t, struct outcome_of *o, pid_t pid)
{
	struct rusage usage;
	int status;
	for (;;) {
		pid_t got = wait4(pid, &status, WNOHANG | __WALL, &usage);
		if (got < 0 && errno == ECHILD)
			return;
		need(got >= 0, "wait4");
		if (got == 0) {
			int fd = t->ops->fd && !t->lazy ? t->ops->fd(t->state) : -1;
			struct pollfd wait = { fd, POLLIN, 0 };
			poll(&wait, 1, 1);
			if (t->ops->drain && !t->lazy)
				t->ops->drain(t->state);
			continue;
		}
		if (got == o->root)
			o->reaped_ns = clock_monotonic_ns();
		o->usage_ns +=
			(uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
			(uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
		t->ops->reaped(t->state, got, &usage);
		if (pid > 0)
			return;
	}
}

void trial_run(const struct trial *t, subject *run, struct outcome_of *o)
{
	struct error err = ERROR_INIT;
	*o = (struct outcome_of){ 0 };
	o->shared = mmap(NULL, sizeof *o->shared, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(o->shared != MAP_FAILED, "mmap");
	need(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0, "prctl");
	int gate;
	t->ops->arm(t->state);
	o->root = start(run, o->shared, &gate);
	need(t->ops->adopt(t->state, o->root, &err) == 0, err.text);
	need(t->ops->snapshot(t->state, &o->before, &err) == 0, err.text);
	const struct task_record *root = record_of(&o->before, o->root);
	if (root)
		totals_add(&o->base, root);
	o->released_ns = clock_monotonic_ns();
	need(write(gate, "g", 1) == 1, "gate");
	close(gate);
	if (t->meanwhile)
		t->meanwhile(t->of);
	reap(t, o, o->root);
	if (t->ops->root_end_ns)
		o->root_end_ns = t->ops->root_end_ns(t->state);
	reap(t, o, -1);
	t->ops->finish(t->state, &o->base, &o->exits, &o->totals, &o->lost);
	need(t->ops->snapshot(t->state, &o->after, &err) == 0, err.text);
}

void outcome_release(struct outcome_of *o)
{
	image_release(&o->before);
	image_release(&o->exits);
	image_release(&o->after);
	munmap(o->shared, sizeof *o->shared);
}

const struct task_record *record_of(const struct image *image, pid_t tid)
{
	for (size_t i = 0; i < image->count; i++)
		if (image->tasks[i].tid == tid)
			return &image->tasks[i];
	return NULL;
}

void skip_all(const char *reason)
{
	const char *require = getenv("TARE_TEST_REQUIRE");
	bool required = require && strcmp(require, "1") == 0;
	printf("%s: %s\n", required ? "FAILED, for TARE_TEST_REQUIRE=1" : "skipped", reason);
	exit(required ? 1 : 77);
}
