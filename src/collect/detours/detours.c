#include "collect/detours/detours.h"

#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "collect/backend/procfs.h"
#include "collect/detours/loop.h"
#include "collect/detours/smi.h"
#include "collect/detours/untold.h"
#ifdef TARE_BPF
#include "collect/detours/kernel.h"
#endif

#define NOTES (64u << 10) /* detours of one CPU in a round */
#define PROBES 2048u	  /* likewise: more than fit into the longest round */
#define HUGE (2u << 20)
/* A hypervisor takes longer to give a CPU to another and take it back. */
#define STEAL_SHORTEST_NS 5000
/* A CPU takes longer to enter the firmware's mode and leave it. */
#define SMI_SHORTEST_NS 2000
#define CALIBRATE_NS 50000000
#define ROUND_LEAST_NS 10000000

struct watcher { /* one CPU's */
	struct detours *all;
	uint32_t cpu;
	pthread_t thread;
	bool started;
	int failed; /* errno of what it could not set up */
	struct loop loop;
	struct loop_turn turn;
	uint64_t threshold_ns;
	int32_t tid;
	detour_list detours;
	ARRAY(struct speed_sample) speeds;
};

struct detours {
	struct watcher *watchers;
	size_t count;
	int priority;
	double ticks_per_ns;
	/* futexes */
	uint32_t round;	  /* counts up to begin one; odd values are not special */
	uint32_t working; /* loops that have not ended their round, or set-up */
	bool stopping;
	uint64_t round_ns;
	uint64_t most_ns; /* a round may last: less when events came near their room */
	struct detour_round *rounds;
	struct speed_ring *ring; /* NULL: the speed is not watched */
	void *arena;
	size_t arena_size;
	cpu_set_t before; /* this thread's CPUs, to be restored */
	bool moved;
	pid_t rival; /* whose loop was on rival_cpu already; 0: nobody's */
	uint32_t rival_cpu;
	char *interrupts; /* /proc/interrupts at the begin */
	struct strbuf not_seen;
	struct detour_kernel *kernel; /* NULL: no names */
};

/* ---- waiting ---- */

static void futex_wait(uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static void wait_for_all(struct detours *d)
{
	uint32_t working;
	while ((working = __atomic_load_n(&d->working, __ATOMIC_SEQ_CST)) > 0)
		futex_wait(&d->working, working);
}

/* Only the last one wakes: a wake-up would disturb the loops that are still at it. */
static void has_ended(struct detours *d)
{
	if (__atomic_sub_fetch(&d->working, 1, __ATOMIC_SEQ_CST) == 0)
		futex_wake(&d->working);
}

/* ---- the thread of a CPU ---- */

static void name_loop(uint32_t cpu, char out[16])
{
	snprintf(out, 16, DETOUR_LOOP "%u", cpu % 10000);
}

static void *watch(void *argument)
{
	struct watcher *w = argument;
	struct detours *d = w->all;
	struct sched_param param = { .sched_priority = d->priority };
	cpu_set_t one;
	char name[16];
	CPU_ZERO(&one);
	CPU_SET(w->cpu, &one);
	name_loop(w->cpu, name);
	pthread_setname_np(pthread_self(), name);
	w->tid = (int32_t)syscall(SYS_gettid);
	if (sched_setaffinity(0, sizeof one, &one) != 0 ||
	    (d->priority && sched_setscheduler(0, SCHED_FIFO, &param) != 0))
		w->failed = errno;
	else
		loop_calibrate(&w->loop, &w->turn);
	has_ended(d);
	for (uint32_t round = 0;;) {
		while (__atomic_load_n(&d->round, __ATOMIC_SEQ_CST) == round)
			futex_wait(&d->round, round);
		round = __atomic_load_n(&d->round, __ATOMIC_SEQ_CST);
		if (d->stopping)
			return NULL;
		loop_run(&w->loop, d->round_ns);
		has_ended(d);
	}
}

/* ---- setting up ---- */

static void find_rival(void *context, struct task_record *task, const struct stat_extra *extra)
{
	struct detours *d = context;
	(void)extra;
	for (size_t i = 0; i < d->count && !d->rival && task->tgid != getpid(); i++) {
		char name[16];
		name_loop(d->watchers[i].cpu, name);
		if (strncmp(task->comm, name, sizeof name) == 0) {
			d->rival = task->tgid;
			d->rival_cpu = d->watchers[i].cpu;
		}
	}
}

/* Without /proc nobody is found: the sources will tell. */
static void look_for_rival(struct detours *d)
{
	struct procfs *p;
	struct error ignored = ERROR_INIT;
	if (procfs_open(&p, &ignored))
		return;
	procfs_each(p, PROCFS_STAT, find_rival, d, &ignored);
	procfs_close(p);
}

/* One piece for all notes, on huge pages where there are any, and never paged out: a loop that
 * touches new memory would measure itself. */
static int make_arena(struct detours *d, struct error *err)
{
	size_t notes = NOTES * sizeof(struct detour_note);
	size_t each = notes + PROBES * sizeof(struct loop_probe);
	d->arena_size = (each * d->count + HUGE - 1) / HUGE * HUGE + HUGE;
	d->arena = mmap(NULL, d->arena_size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (d->arena == MAP_FAILED) {
		d->arena = NULL;
		return error_errno(err, EXIT_ENVIRONMENT, "cannot get memory for the detours");
	}
	char *aligned = (char *)d->arena + (HUGE - (uintptr_t)d->arena % HUGE) % HUGE;
	madvise(aligned, d->arena_size - HUGE, MADV_HUGEPAGE);
	memset(aligned, 0, each * d->count);
	for (size_t i = 0; i < d->count; i++) {
		struct loop *l = &d->watchers[i].loop;
		l->notes = (struct detour_note *)(aligned + each * i);
		l->room = NOTES;
		l->probes = (struct loop_probe *)(aligned + each * i + notes);
		l->probe_room = PROBES;
	}
	return 0;
}

static int start(struct detours *d, struct error *err)
{
	__atomic_store_n(&d->working, (uint32_t)d->count, __ATOMIC_SEQ_CST);
	for (size_t i = 0; i < d->count; i++) {
		/* signals go to the thread that starts this one */
		sigset_t all, before;
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		int failed = pthread_create(&d->watchers[i].thread, NULL, watch, &d->watchers[i]);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		d->watchers[i].started = failed == 0;
		if (failed) {
			__atomic_sub_fetch(&d->working, (uint32_t)(d->count - i), __ATOMIC_SEQ_CST);
			wait_for_all(d);
			return error_set(err, EXIT_ENVIRONMENT, "cannot start a thread: %s",
					 strerror(failed));
		}
	}
	wait_for_all(d);
	for (size_t i = 0; i < d->count; i++) {
		const struct watcher *w = &d->watchers[i];
		if (w->failed == EPERM && d->priority) {
			error_set(err, EXIT_ENVIRONMENT, "the real-time class was refused: %s",
				  strerror(w->failed));
			return error_hint(err, "run it as root, or without --priority");
		}
		if (w->failed)
			return error_set(err, EXIT_ENVIRONMENT, "cannot measure CPU %u: %s", w->cpu,
					 strerror(w->failed));
	}
	return 0;
}

static uint64_t wanted_threshold(const struct watcher *w, const struct detours_options *o)
{
	double per_ns = w->all->ticks_per_ns;
	double usual = 5 * (double)w->turn.p999, steps = 10 * w->turn.step;
	switch (o->threshold) {
	case THRESHOLD_PAPER:
		return (uint64_t)(10 * (double)w->turn.least / per_ns);
	case THRESHOLD_NS:
		return o->threshold_ns;
	case THRESHOLD_AUTO:
		break;
	}
	return (uint64_t)((usual > steps ? usual : steps) / per_ns);
}

static void no_names(struct detours *d, const char *why)
{
	strbuf_printf(&d->not_seen, "Who caused a detour (%s): only lengths are known.", why);
}

static void ask_kernel(struct detours *d, const struct detours_options *o)
{
	for (size_t i = 0; i < d->count; i++)
		d->watchers[i].loop.here = -1;
	if (!o->kernel) {
		no_names(d, "not asked for");
		return;
	}
#ifdef TARE_BPF
	struct error why = ERROR_INIT;
	SCOPED(strbuf_release) struct strbuf lacks = { 0 };
	if (detour_kernel_open(&d->kernel, o->cpus, o->count, &lacks, &why))
		no_names(d, *why.hint ? "naming sources needs root, or CAP_BPF and CAP_PERFMON"
				      : why.text);
	else if (lacks.length)
		strbuf_printf(&d->not_seen, "This kernel does not tell of %s.", lacks.text);
	for (size_t i = 0; d->kernel && i < d->count; i++) {
		struct loop *l = &d->watchers[i].loop;
		l->here = detour_kernel_here(d->kernel);
		l->slot = detour_kernel_slot(d->kernel, i);
	}
#else
	no_names(d, "this tare was built without BPF");
#endif
}

int detours_open(struct detours **out, const struct detours_options *options, struct error *err)
{
	struct detours *d = xcalloc(1, sizeof *d);
	d->count = options->count;
	d->priority = options->priority;
	d->most_ns = UINT64_MAX;
	d->watchers = xcalloc(d->count, sizeof *d->watchers);
	d->rounds = xcalloc(d->count, sizeof *d->rounds);
	for (size_t i = 0; i < d->count; i++) {
		d->watchers[i].all = d;
		d->watchers[i].cpu = d->watchers[i].loop.cpu = options->cpus[i];
		d->watchers[i].loop.smi = -1;
	}
	look_for_rival(d);
	/* tare itself moves to other CPUs of its mask, if there are any */
	if (sched_getaffinity(0, sizeof d->before, &d->before) == 0) {
		cpu_set_t rest = d->before;
		for (size_t i = 0; i < d->count; i++)
			CPU_CLR(d->watchers[i].cpu, &rest);
		d->moved = CPU_COUNT(&rest) > 0 && sched_setaffinity(0, sizeof rest, &rest) == 0;
	}
	struct loop_pair a = loop_pair_now();
	struct timespec pause = { .tv_nsec = CALIBRATE_NS };
	nanosleep(&pause, NULL);
	struct loop_pair b = loop_pair_now();
	d->ticks_per_ns = (double)(b.ticks - a.ticks) / (double)(b.ns - a.ns);
	for (size_t i = 0; i < d->count; i++)
		d->watchers[i].loop.ticks_per_ns = d->ticks_per_ns;
	if (make_arena(d, err) || start(d, err)) {
		detours_close(d);
		return -1;
	}
	for (size_t i = 0; i < d->count; i++) {
		struct watcher *w = &d->watchers[i];
		w->threshold_ns = wanted_threshold(w, options);
		double step_ns = w->turn.step / d->ticks_per_ns;
		if ((double)w->threshold_ns < step_ns || !w->threshold_ns) {
			error_set(err, EXIT_USAGE,
				  "the threshold of %llu ns is below the step of the clock, %s",
				  (unsigned long long)w->threshold_ns, AS_DURATION(step_ns, 3));
			error_hint(err, "'--threshold auto' finds one that fits");
			detours_close(d);
			return -1;
		}
		w->loop.threshold = (uint64_t)((double)w->threshold_ns * d->ticks_per_ns);
		w->loop.steal_after = (uint64_t)(STEAL_SHORTEST_NS * d->ticks_per_ns);
		w->loop.smi = smi_open(w->cpu);
		w->loop.smi_after = w->loop.smi < 0 ? UINT64_MAX
						    : (uint64_t)(SMI_SHORTEST_NS * d->ticks_per_ns);
	}
	ask_kernel(d, options);
	if (options->speed) {
		d->ring = speed_ring_new();
		if (!d->ring)
			strbuf_printf(&d->not_seen, "%sThe speed of the CPUs (no memory).",
				      d->not_seen.length ? " " : "");
		for (size_t i = 0; i < d->count; i++)
			d->watchers[i].loop.ring = d->ring;
	}
	/* the threads have their stacks by now */
	if (mlockall(MCL_CURRENT) != 0)
		strbuf_printf(&d->not_seen,
			      "%sThe memory could not be locked (%s): page faults of the loop are "
			      "possible.",
			      d->not_seen.length ? " " : "", strerror(errno));
	d->interrupts = file_read("/proc/interrupts");
	*out = d;
	return 0;
}

void detours_close(struct detours *d)
{
	if (!d)
		return;
	__atomic_store_n(&d->stopping, true, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&d->round, 1, __ATOMIC_SEQ_CST);
	futex_wake(&d->round);
	for (size_t i = 0; i < d->count; i++) {
		if (d->watchers[i].started)
			pthread_join(d->watchers[i].thread, NULL);
		if (d->watchers[i].loop.smi >= 0)
			close(d->watchers[i].loop.smi);
		array_release(&d->watchers[i].detours);
		array_release(&d->watchers[i].speeds);
	}
#ifdef TARE_BPF
	detour_kernel_close(d->kernel);
#endif
	if (d->moved)
		sched_setaffinity(0, sizeof d->before, &d->before);
	munlockall();
	speed_ring_free(d->ring);
	if (d->arena)
		munmap(d->arena, d->arena_size);
	free(d->interrupts);
	free(d->watchers);
	free(d->rounds);
	strbuf_release(&d->not_seen);
	free(d);
}

const char *detours_not_seen(const struct detours *d)
{
	return strbuf_text(&d->not_seen);
}

pid_t detours_rival(const struct detours *d, uint32_t *cpu)
{
	*cpu = d->rival_cpu;
	return d->rival;
}

void detours_describe(const struct detours *d, struct noise *n)
{
	n->realtime = d->priority > 0;
	n->priority = d->priority;
	n->kernel = d->kernel != NULL;
#ifdef TARE_BPF
	n->steal_told = d->kernel && detour_kernel_tells_steal(d->kernel);
#endif
	for (size_t i = 0; i < d->count && i < n->cpus.count; i++) {
		const struct watcher *w = &d->watchers[i];
		struct noise_cpu *c = &n->cpus.items[i];
		c->threshold_ns = w->threshold_ns;
		c->step_ns = w->turn.step / d->ticks_per_ns;
		c->turn_ns = (double)w->turn.median / d->ticks_per_ns;
		c->turn_p999_ns = (double)w->turn.p999 / d->ticks_per_ns;
	}
}

/* ---- a round ---- */

/* The loop's probes as samples; gives the ticks in which it did not watch. */
static uint64_t fill_speeds(struct watcher *w, double per_ns)
{
	const struct loop *l = &w->loop;
	uint64_t unwatched = 0;
	w->speeds.count = 0;
	for (size_t i = 0; i < l->probe_count; i++) {
		const struct loop_probe *p = &l->probes[i];
		struct speed_sample s = {
			.at_ns = l->begin.ns + (uint64_t)((double)(p->at - l->begin.ticks) / per_ns)
		};
		for (enum speed_kind k = 0; k < SPEED_KINDS; k++)
			s.ns[k] = (float)((double)p->ticks[k] / per_ns);
		array_push(&w->speeds, s);
		unwatched += p->resumed - p->at;
	}
	return unwatched;
}

static void fill_round(struct detours *d, size_t index)
{
	struct watcher *w = &d->watchers[index];
	const struct loop *l = &w->loop;
	/* a short round gives no better figure than the one before all */
	double per_ns = l->end.ns - l->begin.ns > CALIBRATE_NS
				? (double)(l->end.ticks - l->begin.ticks) /
					  (double)(l->end.ns - l->begin.ns)
				: d->ticks_per_ns;
	w->detours.count = 0;
	detours_place(l->notes, l->count, per_ns, l->steal_before, &w->detours);
	uint64_t unwatched = fill_speeds(w, per_ns);
	for (size_t i = 0; i < l->count; i++)
		unwatched += l->notes[i].resumed - l->notes[i].after;
	d->rounds[index] = (struct detour_round){
		.cpu = w->cpu,
		.tid = w->tid,
		.realtime = d->priority > 0,
		.kernel = d->kernel != NULL,
		.begin_ns = l->begin.ns,
		.end_ns = l->end.ns,
		.turns = l->turns,
		.unwatched_ns = (uint64_t)((double)unwatched / per_ns),
		.smis_told = l->smis != ABSENT_NS,
		.smis = l->smis,
		.detours = w->detours.items,
		.detour_count = w->detours.count,
		.speeds = w->speeds.items,
		.speed_count = w->speeds.count,
	};
}

int detours_round(struct detours *d, uint64_t ns, const struct detour_round **rounds,
		  struct error *err)
{
	d->round_ns = ns < d->most_ns ? ns : d->most_ns;
	__atomic_store_n(&d->working, (uint32_t)d->count, __ATOMIC_SEQ_CST);
#ifdef TARE_BPF
	if (d->kernel)
		detour_kernel_begin(d->kernel);
#endif
	__atomic_add_fetch(&d->round, 1, __ATOMIC_SEQ_CST);
	futex_wake(&d->round);
	wait_for_all(d);
	double used = 0; /* the share of the room for events that this round needed */
#ifdef TARE_BPF
	if (d->kernel)
		detour_kernel_end(d->kernel);
#endif
	for (size_t i = 0; i < d->count; i++) {
		fill_round(d, i);
#ifdef TARE_BPF
		if (d->kernel) {
			/* in a container the kernel has another number for it */
			d->rounds[i].tid = detour_kernel_slot(d->kernel, i)->tid;
			used = fmax(used, detour_kernel_take(d->kernel, i, &d->rounds[i]));
		}
#endif
	}
#ifdef TARE_BPF
	if (d->kernel)
		detour_kernel_name(d->kernel, d->rounds, d->count);
#endif
	if (used > 0.5 && d->round_ns / 2 > ROUND_LEAST_NS)
		d->most_ns = d->round_ns / 2;
	else if (used < 0.1 && d->most_ns < UINT64_MAX / 2)
		d->most_ns *= 2;
	*rounds = d->rounds;
	for (size_t i = 0; i < d->count; i++)
		if (d->watchers[i].loop.moved) {
			error_set(err, EXIT_ENVIRONMENT,
				  "CPU %u could not be watched any longer: its loop was moved away",
				  d->watchers[i].cpu);
			return error_hint(err, "did it go offline, or its cpuset change?");
		}
	return 0;
}

void detours_untold(struct detours *d, struct noise *n)
{
	FREED char *now = file_read("/proc/interrupts");
	for (size_t i = 0; d->interrupts && now && i < n->cpus.count; i++) {
		n->cpus.items[i].untold.count = 0;
		untold_between(d->interrupts, now, &n->cpus.items[i]);
	}
}
