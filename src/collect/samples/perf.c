/* What an ordinary user may sample: his own processes, in user space. One event per thread and
 * CPU, inherited by what it starts; all of a CPU write into one ring, beside what is told of
 * processes. The rings belong to a dummy event on tare itself, so they are there before anything
 * is followed. */
#include "collect/samples/perf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/file.h"
#include "collect/samples/unwound.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define RING_BYTES (512u << 10) /* what the kernel lets every user have, per CPU */
#define RING_BYTES_COPIES (4u << 20)
#define RING_BYTES_LEAST (64u << 10)
#define TICK_HZ 249 /* in place of the kernel's own 250, and not in step with it */
#ifdef TARE_BPF
#define NEEDED "needs root"
#else
#define NEEDED "needs a build with BPF programs"
#endif
#define BEAT_MOST_NS UINT64_C(1000000000)
#define BEAT_LEAST_NS UINT64_C(10000000)

/* ---- events ---- */

static struct perf_event_attr attributes(const struct samples_perf *s, bool sample)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_RINGS_SAMPLE_TYPE | samples_perf_type(s->stacks),
		.sample_id_all = 1,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.exclude_callchain_kernel = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(s->ring_bytes / 2),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	if (s->stacks == STACKS_EH_FRAME) {
		attr.sample_regs_user = samples_perf_registers();
		attr.sample_stack_user = SAMPLES_PERF_STACK_BYTES;
	}
	if (!sample)
		return attr;
	if (s->mode == PROFILE_CYCLES)
		attr.type = PERF_TYPE_HARDWARE;
	attr.config = s->mode == PROFILE_CYCLES ? (uint64_t)PERF_COUNT_HW_CPU_CYCLES
						: (uint64_t)PERF_COUNT_SW_CPU_CLOCK;
	attr.freq = 1;
	attr.sample_freq = s->hz;
	return attr;
}

static int open_event(struct perf_event_attr *attr, pid_t tid, uint32_t cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, tid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int refused(const struct samples_perf *s, int why, struct error *err)
{
	if (why == EACCES || why == EPERM) {
		FREED char *paranoid = file_read_line(PARANOID);
		error_set(err, EXIT_ENVIRONMENT, "may not sample even own processes: %s",
			  strerror(why));
		error_hint(err,
			   "kernel.perf_event_paranoid is %s; 2 or less lets users do it, and root "
			   "may anyway",
			   paranoid ? paranoid : "not readable");
		return -1;
	}
	if (s->mode == PROFILE_CYCLES && (why == ENOENT || why == EOPNOTSUPP || why == ENODEV)) {
		error_set(err, EXIT_ENVIRONMENT, "this machine shows no cycle counter");
		return error_hint(err, "sample by cpu-clock instead");
	}
	if (why == EMFILE || why == ENFILE) {
		error_set(err, EXIT_ENVIRONMENT, "too many threads to sample: %s", strerror(why));
		return error_hint(err, "raise `ulimit -n`: it takes a file per thread and CPU");
	}
	return error_set(err, EXIT_ENVIRONMENT, "cannot sample: %s", strerror(why));
}

/* An event that writes into the ring of its CPU. */
static int add_event(struct samples_perf *s, pid_t tid, size_t cpu, struct error *err)
{
	struct perf_event_attr attr = attributes(s, s->sampled.items[cpu]);
	attr.inherit = 1;
	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task =
		1; /* no build_id: see sideband_ring.c */
	int event = open_event(&attr, tid, s->cpus.items[cpu]);
	if (event < 0)
		return refused(s, errno, err);
	array_push(&s->events, event);
	if (ioctl(event, PERF_EVENT_IOC_SET_OUTPUT, perf_rings_event(s->rings, cpu)) != 0)
		return refused(s, errno, err);
	return 0;
}

static int add_thread(struct samples_perf *s, pid_t tid, struct error *err)
{
	struct error why = ERROR_INIT;
	for (size_t i = 0; i < s->cpus.count; i++) {
		if (add_event(s, tid, i, &why) == 0)
			continue;
		if (kill(tid, 0) != 0 && errno == ESRCH) /* ended meanwhile */
			return 0;
		if (err)
			*err = why;
		return -1;
	}
	return 0;
}

/* ---- what is followed ---- */

static bool among(const pid_t *list, size_t count, pid_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == pid)
			return true;
	return false;
}

static int perf_follow(void *state, pid_t pid, struct error *err)
{
	struct samples_perf *s = state;
	if (among(s->followed.items, s->followed.count, pid))
		return 0;
	/* A thread that starts meanwhile inherits the event, unless its parent has none yet: so
	 * look again until there is no new thread. */
	char path[64];
	ARRAY(pid_t) known = { 0 };
	int failed = 0;
	bool more = true;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	while (more && !failed) {
		DIR *dir = opendir(path);
		more = false;
		for (struct dirent *e; dir && !failed && (e = readdir(dir));) {
			long tid;
			if (!integer_parse(e->d_name, 1, INT32_MAX, &tid) ||
			    among(known.items, known.count, (pid_t)tid))
				continue;
			more = true;
			array_push(&known, (pid_t)tid);
			failed = add_thread(s, (pid_t)tid, err);
		}
		if (dir)
			closedir(dir);
	}
	if (!failed && !known.count)
		failed = error_set(err, EXIT_USAGE, "no process %d", (int)pid);
	array_release(&known);
	if (failed)
		return -1;
	array_push(&s->followed, pid);
	s->busy = true;
	return 0;
}

/* ---- open and close ---- */

static void perf_close(void *state)
{
	struct samples_perf *s = state;
	for (size_t i = 0; i < s->events.count; i++)
		close(s->events.items[i]);
	perf_rings_free(s->rings);
	unwound_release(s->sb);
	sideband_close(s->sb);
	appids_free(s->appids);
	profile_release(&s->now);
	array_release(&s->events);
	array_release(&s->followed);
	array_release(&s->cpus);
	array_release(&s->sampled);
	strbuf_release(&s->not_seen);
	xfree(s);
}

static int add_rings(struct samples_perf *s, struct error *err)
{
	struct perf_event_attr attr = attributes(s, false);
	if (perf_rings_new(&s->rings, s->ring_bytes, err))
		return -1;
	for (size_t i = 0; i < s->cpus.count; i++) {
		int event = open_event(&attr, 0, s->cpus.items[i]);
		if (event < 0)
			return refused(s, errno, err);
		if (perf_rings_add(s->rings, event, err))
			return -1;
	}
	return 0;
}

/* As large as the limits on locked memory allow. */
static int make_rings(struct samples_perf *s, struct error *err)
{
	s->ring_bytes = s->stacks == STACKS_EH_FRAME ? RING_BYTES_COPIES : RING_BYTES;
	for (;; s->ring_bytes /= 2) {
		if (add_rings(s, err) == 0)
			return 0;
		/* without a single one it is not for their size */
		if (!s->rings || s->ring_bytes / 2 < RING_BYTES_LEAST)
			return -1;
		perf_rings_free(s->rings);
		s->rings = NULL;
	}
}

static int set_up(struct samples_perf *s, const struct samples_options *o, struct error *err)
{
	s->mode = o->mode == PROFILE_CYCLES ? PROFILE_CYCLES : PROFILE_CLOCK;
	s->hz = o->mode == PROFILE_TICK ? TICK_HZ : o->hz;
	s->stacks = o->stacks;
	if (s->stacks == STACKS_EH_FRAME && !samples_perf_registers())
		s->stacks = STACKS_POINTERS;
	strbuf_puts(&s->not_seen, "samples of the kernel and of other users' processes: " NEEDED);
	if (o->mode == PROFILE_TICK)
		strbuf_printf(&s->not_seen,
			      "; the kernel's tick cannot be used without, so this is cpu-clock "
			      "at %d Hz",
			      TICK_HZ);
	if (cpus_online(&s->cpus, err))
		return -1;
	for (size_t i = 0; i < s->cpus.count; i++) {
		bool wanted = !o->cpus;
		for (size_t k = 0; o->cpus && k < o->cpu_count; k++)
			wanted = wanted || o->cpus[k] == s->cpus.items[i];
		array_push(&s->sampled, wanted);
	}
	if (make_rings(s, err))
		return -1;
	for (size_t i = 0; i < o->pid_count; i++)
		if (perf_follow(s, o->pids[i], err))
			return -1;
	return 0;
}

/* What only the other back end can do; here it may be missing altogether. */
static int needs_bpf(struct error *err, const char *cannot, const char *instead)
{
#ifdef TARE_BPF
	error_set(err, EXIT_ENVIRONMENT, "%s without root", cannot);
	return error_hint(err, "run as root, or %s", instead);
#else
	error_set(err, EXIT_ENVIRONMENT, "%s: this build has no BPF programs", cannot);
	return error_hint(err, "'make' in the source tree installs what it needs; or %s", instead);
#endif
}

static int perf_open(void **state, const struct samples_options *options, struct error *err)
{
	if (options->cgroup)
		return needs_bpf(err, "cannot sample a cgroup",
				 "profile a command or a process of yours");
	struct samples_perf *s = xcalloc(1, sizeof *s);
	s->sb = sideband_new();
	s->appids = appids_new();
	if (set_up(s, options, err)) {
		perf_close(s);
		return -1;
	}
	*state = s;
	return 0;
}

/* ---- its life ---- */

static void perf_describe(const void *state, struct profile *into)
{
	const struct samples_perf *s = state;
	into->mode = s->mode;
	into->stacks = s->stacks;
	into->hz = s->hz;
	into->cpus = 0;
	for (size_t i = 0; i < s->sampled.count; i++)
		into->cpus += s->sampled.items[i];
}

static const char *perf_not_seen(const void *state)
{
	return strbuf_text(&((const struct samples_perf *)state)->not_seen);
}

static void begin_slice(struct samples_perf *s)
{
	profile_release(&s->now);
	memset(&s->now, 0, sizeof s->now);
	perf_describe(s, &s->now);
	array_push(&s->now.slices, (struct profile_slice){ .begin_ns = clock_monotonic_ns() });
	s->self_ns = clock_cpu_ns();
}

static int perf_start(void *state, struct error *err)
{
	struct samples_perf *s = state;
	if (!s->followed.count)
		return needs_bpf(err, "cannot sample the whole system",
				 "profile a command: tare profile -- COMMAND");
	begin_slice(s);
	for (size_t i = 0; i < s->events.count; i++)
		if (ioctl(s->events.items[i], PERF_EVENT_IOC_ENABLE, 0) != 0)
			return refused(s, errno, err);
	for (size_t i = 0; i < s->followed.count; i++)
		sideband_refresh(s->sb, (uint32_t)s->followed.items[i]);
	return 0;
}

static void perf_stop(void *state)
{
	struct samples_perf *s = state;
	for (size_t i = 0; i < s->events.count; i++)
		ioctl(s->events.items[i], PERF_EVENT_IOC_DISABLE, 0);
}

/* A quarter of a ring, when a CPU does nothing but what is sampled. */
static uint64_t perf_beat_ns(const void *state)
{
	const struct samples_perf *s = state;
	uint64_t bytes = sizeof(struct perf_rings_sample);
	if (s->stacks == STACKS_POINTERS)
		bytes += (PROFILE_FRAMES_MAX + 2) * sizeof(uint64_t);
	if (s->stacks == STACKS_EH_FRAME)
		bytes += SAMPLES_PERF_STACK_BYTES + 6 * sizeof(uint64_t);
	uint64_t ns = s->ring_bytes / 4 * UINT64_C(1000000000) / (bytes * s->hz);
	return ns < BEAT_LEAST_NS ? BEAT_LEAST_NS : ns > BEAT_MOST_NS ? BEAT_MOST_NS : ns;
}

static int perf_fd(const void *state)
{
	return perf_rings_fd(((const struct samples_perf *)state)->rings);
}

/* When ends may have been lost, /proc has the last word. */
static void count_live(void *context, struct image_of *image)
{
	struct samples_perf *s = context;
	if (s->lost_any && kill((pid_t)image->pid, 0) != 0 && errno == ESRCH)
		image->end_ns = clock_monotonic_ns();
	else
		s->busy = true;
}

static int perf_beat(void *state, struct error *err)
{
	struct samples_perf *s = state;
	(void)err;
	if (!s->now.slices.count)
		return 0;
	samples_perf_read(s);
	s->busy = false;
	sideband_each(s->sb, count_live, s);
	return 0;
}

static int perf_take(void *state, struct profile *into, struct error *err)
{
	struct samples_perf *s = state;
	if (!s->now.slices.count)
		return error_set(err, EXIT_ENVIRONMENT, "sampling has not begun");
	perf_beat(s, err);
	struct profile_slice *slice = &s->now.slices.items[0];
	slice->end_ns = clock_monotonic_ns();
	slice->self_ns = clock_cpu_ns() - s->self_ns;
	/* nothing older can come any more */
	sideband_forget(s->sb, slice->begin_ns);
	profile_merge(into, &s->now);
	begin_slice(s);
	return 0;
}

static int perf_object_fd(void *state, const struct profile_object *o)
{
	struct samples_perf *s = state;
	uint32_t object = sideband_object_like(s->sb, o);
	int fd = object == PROFILE_NONE ? -1 : sideband_object_fd(s->sb, object, 0);
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static bool perf_idle(const void *state)
{
	return !((const struct samples_perf *)state)->busy;
}

const struct samples_ops samples_perf_ops = {
	.backend = BACKEND_PLAIN,
	.open = perf_open,
	.close = perf_close,
	.describe = perf_describe,
	.not_seen = perf_not_seen,
	.follow = perf_follow,
	.start = perf_start,
	.stop = perf_stop,
	.beat_ns = perf_beat_ns,
	.fd = perf_fd,
	.beat = perf_beat,
	.take = perf_take,
	.object_fd = perf_object_fd,
	.idle = perf_idle,
};
