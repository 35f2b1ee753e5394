/* What an ordinary user may sample: his own processes, in user space. One event per thread and
 * CPU, inherited by what it starts; all of a CPU write into one ring, beside what is told of
 * processes. The rings belong to a dummy event on tare itself, so they are there before anything
 * is followed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <asm/perf_regs.h>
#endif

#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "collect/bpf/profile.h"
#include "collect/machine/cpus.h"
#include "collect/samples/appids.h"
#include "collect/samples/backend.h"
#include "collect/samples/perf_rings.h"
#include "collect/samples/sideband.h"
#include "collect/samples/unwound.h"

struct samples_perf {
	enum profile_mode mode;
	enum profile_stacks stacks;
	uint32_t hz;
	struct sampled_event event; /* PROFILE_EVENT */
	cpu_list cpus;		    /* all that are online: processes may be told of on any */
	ARRAY(bool) sampled;	    /* of them, those that were asked for */
	size_t ring_bytes;
	size_t frames_most; /* that the kernel follows by frame pointers */
	struct perf_rings *rings;
	ARRAY(int) events; /* which write into the ring of their CPU */
	ARRAY(pid_t) followed;
	struct strbuf not_seen;

	struct sideband *sb;
	struct appids *appids;
	struct profile now; /* since the last take; one slice */
	uint64_t self_ns;   /* CPU time of this process at the last take */
	uint64_t beats;
	bool lost_any;
	bool busy; /* something that is followed lived at the last beat */
};

#define SAMPLES_PERF_STACK_BYTES 16384u

/* Fields of a sample behind struct perf_rings_sample. */
static uint64_t samples_perf_type(enum profile_stacks stacks)
{
	switch (stacks) {
	case STACKS_POINTERS:
		return PERF_SAMPLE_CALLCHAIN;
	case STACKS_EH_FRAME:
		return PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	default:
		return 0;
	}
}

/* rbp, rsp and rip, in this order; 0: there is no .eh_frame unwinding here. */
static uint64_t samples_perf_registers(void)
{
#ifdef __x86_64__
	return UINT64_C(1) << PERF_REG_X86_BP | UINT64_C(1) << PERF_REG_X86_SP |
	       UINT64_C(1) << PERF_REG_X86_IP;
#else
	return 0;
#endif
}

/* The words of a sample behind its fixed part. */
struct rest {
	const uint8_t *at;
	size_t left;
};

static bool take_words(struct rest *r, void *into, size_t count)
{
	size_t size = count * sizeof(uint64_t);
	if (r->left / sizeof(uint64_t) < count)
		return false;
	memcpy(into, r->at, size);
	r->at += size;
	r->left -= size;
	return true;
}

struct walk {
	uint64_t ips[PROFILE_WALK];
	size_t count;
	enum stack_end end;
};

/* What the kernel followed by frame pointers. It does not say why it ended where it did. */
static void walk_chain(struct rest *rest, size_t most, struct walk *w)
{
	uint64_t left, ip;
	size_t count = 0;
	if (!take_words(rest, &left, 1))
		return;
	w->end = STACK_BROKEN;
	for (; left > 0 && take_words(rest, &ip, 1); left--) {
		if (ip >= PERF_CONTEXT_MAX) /* a mark of what follows */
			continue;
		if (count == PROFILE_WALK || (count > 0 && ip == 0))
			break;
		w->ips[count] = count ? ip - 1 : ip;
		count++;
	}
	if (count >= most)
		w->end = STACK_LIMIT;
	if (count > 0)
		w->count = count;
}

static void walk_copy(struct samples_perf *s, struct image_of *image, struct rest *rest,
		      struct walk *w)
{
	uint64_t abi, registers[3], size, used;
	if (!take_words(rest, &abi, 1) || abi != PERF_SAMPLE_REGS_ABI_64 ||
	    !take_words(rest, registers, 3) || !take_words(rest, &size, 1) || size == 0 ||
	    size > rest->left || rest->left - size < sizeof used)
		return;
	memcpy(&used, rest->at + size, sizeof used);
	struct unwind_state from = { .bp = registers[0], .sp = registers[1], .ip = registers[2] };
	struct unwind_memory stack = { .begin = from.sp,
				       .bytes = rest->at,
				       .size = (size_t)(used < size ? used : size) };
	w->count = unwound(s->sb, image, from, &stack, w->ips, PROFILE_WALK, &w->end);
}

/* Where an address lies. A mapping can be missing only when its record was lost; /proc is ahead of
 * the records that are not read yet, so otherwise it is not asked. */
static uint32_t location_of(struct samples_perf *s, struct image_of *image, uint64_t ip)
{
	const struct mapping *m = image ? image_mapping(image, ip) : NULL;
	if (!m && s->lost_any && image && !image->end_ns && image->user != s->beats) {
		image->user = s->beats;
		if (sideband_refresh(s->sb, image->pid) == image)
			m = image_mapping(image, ip);
	}
	if (!m) {
		struct profile_object unknown = { .path = (char[]){ "[unknown]" },
						  .kind = OBJECT_UNKNOWN };
		return profile_add_location(&s->now, profile_add_object(&s->now, &unknown), ip);
	}
	struct sideband_object *o = sideband_object(s->sb, m->object);
	if (!o->tried) /* while the process lives */
		sideband_object_fd(s->sb, m->object, image->pid);
	return profile_add_location(&s->now, profile_add_object(&s->now, &o->object),
				    m->offset + (ip - m->begin));
}

/* Its own name, which for other threads than the leader only /proc tells. */
static void comm_of(const struct image_of *image, uint32_t pid, uint32_t tid, char comm[16])
{
	char path[64];
	snprintf(comm, 16, "%s", image ? image->comm : "");
	if (image && tid == pid)
		return;
	snprintf(path, sizeof path, "/proc/%u/task/%u/comm", pid, tid);
	FREED char *text = file_read_line(path);
	if (text)
		snprintf(comm, 16, "%s", text);
}

static uint32_t thread_of(struct samples_perf *s, struct image_of *image,
			  const struct perf_rings_sample *told)
{
	struct profile_instance i = { .pid = told->pid, .first_ns = told->time_ns };
	appids_fill(s->appids, &s->now, image, s->sb, &i);
	uint32_t instance = profile_add_instance(&s->now, &i);
	char comm[16];
	for (size_t k = s->now.threads.count; k-- > 0;) {
		const struct profile_thread *t = &s->now.threads.items[k];
		if (t->instance == instance && t->tid == told->tid && told->tid != told->pid)
			return (uint32_t)k;
	}
	comm_of(image, told->pid, told->tid, comm);
	return profile_add_thread(&s->now, instance, told->tid, comm);
}

static void take_sample(struct samples_perf *s, const struct perf_event_header *record)
{
	struct perf_rings_sample told;
	if (record->size < sizeof told)
		return;
	memcpy(&told, record, sizeof told);
	struct image_of *image = sideband_find(s->sb, told.pid, told.time_ns);
	if (!image)
		image = sideband_refresh(s->sb, told.pid);
	struct rest rest = { (const uint8_t *)record + sizeof told, record->size - sizeof told };
	struct walk walk = { .ips = { told.ip }, .count = 1, .end = STACK_LEAF };
	uint32_t locations[PROFILE_FRAMES_MAX];
	/* first, so that what its mappings lack is there when it is unwound */
	locations[0] = location_of(s, image, told.ip);
	if (s->stacks == STACKS_POINTERS)
		walk_chain(&rest, s->frames_most, &walk);
	else if (s->stacks == STACKS_EH_FRAME && image)
		walk_copy(s, image, &rest, &walk);
	size_t kept = unwound_keep(walk.ips, walk.count);
	for (size_t i = 1; i < kept; i++)
		locations[i] = location_of(s, image, walk.ips[i]);
	uint32_t stack =
		profile_add_walked_stack(&s->now, locations, kept, 0, walk.count, walk.end);
	profile_add_sample(&s->now, 0, thread_of(s, image, &told), stack, 1);
	s->now.slices.items[0].samples++;
	s->now.slices.items[0].user++;
}

static void take_record(void *context, const struct perf_event_header *record, uint64_t time_ns)
{
	struct samples_perf *s = context;
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		take_sample(s, record);
		break;
	case PERF_RECORD_THROTTLE:
		s->now.slices.items[0].throttled++;
		break;
	default:
		sideband_take(s->sb, record, time_ns);
		break;
	}
}

/* Takes over what the rings hold. */
static void samples_perf_read(struct samples_perf *s)
{
	struct profile_slice *slice = &s->now.slices.items[0];
	size_t used, room;
	s->beats++;
	perf_rings_read(s->rings, take_record, s);
	/* of samples and of what was told of processes: which, the kernel does not say */
	uint64_t lost = sideband_lost(s->sb);
	slice->lost += lost;
	s->lost_any = s->lost_any || lost > 0;
	perf_rings_peak(s->rings, &used, &room);
	slice->peak_room = (uint32_t)room;
	if (used > slice->peak_used)
		slice->peak_used = (uint32_t)used;
}

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define MAX_STACK "/proc/sys/kernel/perf_event_max_stack"
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
	if (s->mode == PROFILE_EVENT) {
		samples_event_attr(&s->event, &attr);
		attr.exclude_kernel = attr.exclude_hv = 1;
		return attr;
	}
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
	if (s->mode == PROFILE_EVENT && why != EMFILE && why != ENFILE)
		return samples_event_refused(&s->event, why, err);
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
		1; /* no build_id: see watch_cpu() */
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
	FREED ARRAY(pid_t) known = { 0 };
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

/* Of what happens in the kernel, user space has nothing. */
static int set_up_event(struct samples_perf *s, const struct samples_options *o, struct error *err)
{
	if (samples_event_of(o, &s->event, err))
		return -1;
	if (!s->event.is.by_kernel && s->event.is.modes & COUNTER_USER)
		return 0;
	error_set(err, EXIT_ENVIRONMENT, "'%s' happens in the kernel, which this user may not see",
		  o->event);
	return error_hint(err, "run it as root");
}

/* Before there is anything to follow. */
static int try_event(const struct samples_perf *s, struct error *err)
{
	struct perf_event_attr attr = attributes(s, true);
	int event = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return refused(s, errno, err);
	close(event);
	return 0;
}

static int set_up(struct samples_perf *s, const struct samples_options *o, struct error *err)
{
	long frames;
	s->mode = o->mode == PROFILE_TICK ? PROFILE_CLOCK : o->mode;
	s->hz = o->mode == PROFILE_TICK	   ? TICK_HZ
		: o->mode == PROFILE_EVENT ? SAMPLES_EVENT_HZ
					   : o->hz;
	if (o->mode == PROFILE_EVENT && set_up_event(s, o, err))
		return -1;
	s->stacks = o->stacks;
	FREED char *most = file_read_line(MAX_STACK);
	if (!most || !integer_parse(most, 1, INT_MAX, &frames))
		frames = PROFILE_DEPTH;
	s->frames_most = frames < PROFILE_WALK ? (size_t)frames : PROFILE_WALK;
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
	if (make_rings(s, err) || (s->mode == PROFILE_EVENT && try_event(s, err)))
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
	into->hz = s->mode == PROFILE_EVENT ? (double)NAN : s->hz;
	memcpy(into->event, s->event.is.name, sizeof into->event);
	into->period = s->event.period;
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
		bytes += (s->frames_most + 2) * sizeof(uint64_t);
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
