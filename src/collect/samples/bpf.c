/* The back end that sees everything: BPF programs count in the kernel, tare reads now and then. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "collect/backend/kernel.h"
#include "collect/bpf/profile.h"
#include "collect/machine/cpus.h"
#include "collect/samples/backend.h"
#include "collect/samples/cgroups.h"
#include "collect/samples/spaces.h"
#include "collect/samples/tally.h"
#include "collect/samples/unwound.h"
#include "collect/speed/tick.h"
#include "profile.skel.h"
#include "record/profile.h"

/* One perf event per CPU, at whose overflows the BPF program is called. */
struct event {
	int fd;
	struct bpf_link *link;
	struct perf_event_mmap_page *ring; /* only for what is told of throttling; NULL: none */
};

struct sample_events {
	struct event *events;
	size_t count, ring_size;
};

/* What samples, other than the tick. */
struct sampled {
	enum profile_mode mode;
	uint32_t hz;
	struct sampled_event event;
};

static int open_event(const struct sampled *what, uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof attr,
		.disabled = 1,
		/* Else an idle CPU, which has no tick, is soon said to be throttled. Counters of
		 * arm64 refuse it; the BPF program leaves out the idle task in any case. */
		.exclude_idle = what->mode == PROFILE_CLOCK,
		.watermark = 1, /* nobody is woken */
		.wakeup_watermark = UINT32_MAX,
	};
	if (what->mode == PROFILE_CLOCK)
		attr.sample_period = 1000000000u / what->hz;
	if (what->mode == PROFILE_CYCLES) {
		attr.type = PERF_TYPE_HARDWARE;
		attr.config = PERF_COUNT_HW_CPU_CYCLES;
		attr.freq = 1;
		attr.sample_freq = what->hz;
	}
	if (what->mode == PROFILE_EVENT)
		samples_event_attr(&what->event, &attr);
	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int refused(const struct sampled *what, uint32_t cpu, struct error *err)
{
	int why = errno;
	if (what->mode == PROFILE_EVENT)
		return samples_event_refused(&what->event, why, err);
	if (what->mode == PROFILE_CYCLES && (why == ENOENT || why == EOPNOTSUPP))
		error_set(err, EXIT_ENVIRONMENT, "this machine has no counter of cycles");
	else
		error_set(err, EXIT_ENVIRONMENT, "cannot sample CPU %u: %s", cpu, strerror(why));
	if (what->mode == PROFILE_CYCLES)
		return error_hint(err, "'--event cpu-clock' needs none");
	return -1;
}

static void sample_events_close(struct sample_events *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->count; i++) {
		if (e->events[i].ring)
			munmap(e->events[i].ring, e->ring_size);
		if (e->events[i].link)
			bpf_link__destroy(e->events[i].link); /* which closes the event */
		else
			close(e->events[i].fd);
	}
	xfree(e->events);
	xfree(e);
}

/* Stopped. hz beyond the kernel's limit is the caller's to refuse. */
static int sample_events_open(struct sample_events **out, const struct sampled *what,
			      const uint32_t *cpus, size_t count, struct error *err)
{
	struct sample_events *e = xcalloc(1, sizeof *e);
	e->events = xcalloc(count, sizeof *e->events);
	e->ring_size = 2 * (size_t)sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < count; i++) {
		struct event *event = &e->events[i];
		event->fd = open_event(what, cpus[i]);
		if (event->fd < 0) {
			refused(what, cpus[i], err);
			sample_events_close(e);
			return -1;
		}
		e->count++;
		void *ring =
			mmap(NULL, e->ring_size, PROT_READ | PROT_WRITE, MAP_SHARED, event->fd, 0);
		event->ring = ring == MAP_FAILED ? NULL : ring;
	}
	*out = e;
	return 0;
}

static int sample_events_start(struct sample_events *e, struct bpf_program *program,
			       struct error *err)
{
	for (size_t i = 0; i < e->count; i++) {
		e->events[i].link = bpf_program__attach_perf_event(program, e->events[i].fd);
		if (!e->events[i].link)
			return error_errno(err, EXIT_ENVIRONMENT, "cannot attach to a perf event");
	}
	return 0;
}

static uint64_t throttled(struct perf_event_mmap_page *ring, size_t room)
{
	const uint8_t *data = (const uint8_t *)ring + room;
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE), count = 0;
	for (uint64_t at = ring->data_tail; at < head;) {
		struct perf_event_header record;
		/* records are multiples of 8 bytes, as is their header: it never wraps */
		memcpy(&record, data + at % room, sizeof record);
		if (record.size < sizeof record)
			break;
		if (record.type == PERF_RECORD_THROTTLE)
			count++;
		at += record.size;
	}
	__atomic_store_n(&ring->data_tail, head, __ATOMIC_RELEASE);
	return count;
}

/* How often the kernel held one back, since the last call. */
static uint64_t sample_events_throttled(struct sample_events *e)
{
	uint64_t count = 0;
	for (size_t i = 0; i < e->count; i++)
		if (e->events[i].ring)
			count += throttled(e->events[i].ring, e->ring_size / 2);
	return count;
}

/* Since boot, by number of the CPU, waiting for I/O included; steps of 10 ms. ABSENT_NS: it is
 * offline. */
static void read_idle(uint64_t *ns, uint32_t room)
{
	FREED char *stat = file_read("/proc/stat");
	const uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	for (uint32_t cpu = 0; cpu < room; cpu++)
		ns[cpu] = ABSENT_NS;
	for (const char *line = stat; line && (line = strstr(line, "\ncpu")); line++) {
		uint32_t cpu;
		uint64_t idle, waiting;
		if (sscanf(line, "\ncpu%" SCNu32 " %*u %*u %*u %" SCNu64 " %" SCNu64, &cpu, &idle,
			   &waiting) == 3 &&
		    cpu < room)
			ns[cpu] = (idle + waiting) * tick_ns;
	}
}

#define DUMP_BYTES (16u << 20)	  /* a power of 2 */
#define LOOK_MOST_NS 1000000000u  /* files of what ended since may be gone */
#define DRAIN_MOST_NS 4000000000u /* images of what ended since are still known */
#define FORGET_NS 10000000000u
#define FRAMES_TYPICAL 40
#define BEAT_STACKS_NS 200000000u /* the kernel side is told of new programs this soon */

struct sampler {
	struct sampled what;
	enum profile_stacks stacks;
	double hz; /* NaN: by an event */
	cpu_list cpus;
	struct profile_bpf *skel;
	struct bpf_link *tick, *fork, *exec, *exit;
	struct sample_events *events; /* NULL: on the tick */
	struct sideband *sideband;
	struct tally *tally;
	struct spaces *spaces;	   /* NULL: no stacks by rows */
	struct ring_buffer *dumps; /* NULL: no stacks */
	uint64_t ips[PROFILE_WALK];
	int epoll;
	struct profile_cpu *counts;  /* by number of the CPU */
	struct profile_words *words; /* NULL: no stacks */
	size_t counts_size, words_size;
	uint32_t room;		/* CPUs that may be */
	bool followed;		/* processes were given */
	ARRAY(uint32_t) pids;	/* these */
	bool by_cgroup;		/* or a cgroup */
	bool learning;		/* stacks were copied since the last look */
	bool all_cpus;		/* also those that come online later */
	uint32_t changes;	/* of the CPUs, up to which there are events */
	struct profile current; /* the slice that is not taken yet */
	uint64_t self_ns;	/* CPU time of tare at its begin */
	uint64_t *idle_ns;	/* of each CPU, then */
	uint64_t drained_ns, told_ns;
};

/* ---- what to sample ---- */

static int no_cgroup(const char *path, const char *why, struct error *err)
{
	return error_set(err, EXIT_USAGE, "no cgroup '%s': %s", path, why);
}

static int choose_cgroup(struct sampler *s, const char *path, struct error *err)
{
	FREED char *mount = cgroup_mount();
	if (!mount) {
		error_set(err, EXIT_ENVIRONMENT, "cgroup v2 is not mounted");
		return error_hint(err, "'mount -t cgroup2 none /sys/fs/cgroup/unified' does it");
	}
	size_t length = strlen(mount);
	bool absolute = strncmp(path, mount, length) == 0;
	FREED char *whole = xprintf("%s/%s", absolute ? "" : mount, path);
	FREED char *real = realpath(whole, NULL);
	struct stat st;
	if (!real || stat(real, &st) != 0)
		return no_cgroup(path, strerror(errno), err);
	if (strncmp(real, mount, length) != 0 || (real[length] && real[length] != '/') ||
	    !S_ISDIR(st.st_mode))
		return no_cgroup(path, "it is not in the hierarchy of cgroup v2", err);
	for (const char *c = real + length; *c; c++)
		s->skel->rodata->cgroup_level += *c == '/' && c[1] && c[1] != '/';
	s->skel->rodata->cgroup_id = st.st_ino;
	s->by_cgroup = true;
	return 0;
}

static int sampler_follow(void *state, pid_t pid, struct error *err)
{
	struct sampler *s = state;
	uint32_t tgid = (uint32_t)pid, one = 1;
	s->followed = true;
	array_push(&s->pids, tgid);
	s->skel->bss->control.filtered = 1;
	if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.wanted), &tgid, &one, BPF_NOEXIST) == 0)
		__atomic_fetch_add(&s->skel->bss->control.following, 1, __ATOMIC_SEQ_CST);
	else if (errno != EEXIST)
		return error_errno(err, EXIT_ENVIRONMENT, "cannot follow process %d", (int)pid);
	return 0;
}

/* ---- loading ---- */

static int no_tick(const char *why, struct error *err)
{
	error_set(err, EXIT_ENVIRONMENT, "this kernel's tick cannot be sampled: %s", why);
	return error_hint(err, "'-F 249' uses a timer of its own");
}

static int choose_tick(struct sampler *s, const struct btf *btf, struct error *err)
{
	static const char *const names[] = { "tick_nohz_handler", "tick_sched_timer" };
	uint64_t functions[2];
	int64_t from_rq;
	kernel_functions(names, functions, 2);
	if (!functions[0] && !functions[1])
		return no_tick("/proc/kallsyms does not tell where it is", err);
	if (!kernel_from_rq(btf, "__irq_regs", &from_rq))
		return no_tick("its BTF lacks __irq_regs", err);
	s->skel->rodata->tick_functions[0] = functions[0] ? functions[0] : functions[1];
	s->skel->rodata->tick_functions[1] = functions[1] ? functions[1] : functions[0];
	s->skel->rodata->regs_from_rq = from_rq;
	return 0;
}

static int load(struct sampler *s, const struct samples_options *o, struct error *err)
{
	SCOPED(kernel_btf_release) struct btf *btf = kernel_btf(err);
	if (!btf)
		return -1;
	s->skel = profile_bpf__open();
	if (!s->skel)
		return error_errno(err, EXIT_ENVIRONMENT, "cannot open the BPF programs");
	if ((s->what.mode == PROFILE_TICK && choose_tick(s, btf, err)) ||
	    (o->cgroup && choose_cgroup(s, o->cgroup, err)))
		return -1;
	bpf_program__set_autoload(s->what.mode == PROFILE_TICK ? s->skel->progs.profile_event
							       : s->skel->progs.profile_tick,
				  false);
	s->skel->rodata->user_only = o->no_kernel;
	bool rows = s->stacks == STACKS_EH_FRAME;
	s->skel->rodata->follow_stacks = s->stacks != STACKS_NONE;
	s->skel->rodata->use_rows = rows;
	s->skel->rodata->row_mask = rows ? SPACES_ROWS - 1 : 0;
	s->skel->rodata->dump_room = DUMP_BYTES / 16;
	bpf_map__set_max_entries(s->skel->maps.cpus, s->room);
	bpf_map__set_max_entries(s->skel->maps.words, s->stacks != STACKS_NONE ? s->room : 1);
	bpf_map__set_value_size(s->skel->maps.rows,
				rows ? SPACES_ROWS * (uint32_t)sizeof(struct unwind_row) : 8);
	bpf_map__set_max_entries(s->skel->maps.spaces, rows ? SPACES_TABLES : 1);
	bpf_map__set_max_entries(s->skel->maps.space_of, rows ? SPACES_PROCESSES : 1);
	bpf_map__set_max_entries(s->skel->maps.dumps, rows ? DUMP_BYTES : 4096);
	s->skel->rodata->any_cpu = s->all_cpus;
	for (size_t i = 0; i < s->cpus.count; i++)
		if (s->cpus.items[i] < PROFILE_CPUS)
			s->skel->rodata->sampled_cpus[s->cpus.items[i]] = 1;
	int failed = profile_bpf__load(s->skel);
	if (failed) {
		error_set(err, EXIT_ENVIRONMENT, "the kernel refused the BPF programs: %s",
			  kernel_refusal(-failed));
		return error_hint(err, "REQUIREMENTS in 'man tare' says which kernels take them");
	}
	s->skel->bss->control.filtered = s->by_cgroup;
	s->counts = kernel_map_memory(s->skel->maps.cpus, s->room * sizeof *s->counts, false,
				      &s->counts_size);
	if (s->counts && s->stacks != STACKS_NONE)
		s->words = kernel_map_memory(s->skel->maps.words, s->room * sizeof *s->words, false,
					     &s->words_size);
	if (!s->counts || (s->stacks != STACKS_NONE && !s->words))
		return error_errno(err, EXIT_ENVIRONMENT, "cannot map the memory for samples");
	return 0;
}

static int watch(struct sampler *s, int fd, struct error *err)
{
	struct epoll_event e = { .events = EPOLLIN };
	if (fd >= 0 && epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e) != 0)
		return error_errno(err, EXIT_ENVIRONMENT, "cannot watch the kernel's buffers");
	return 0;
}

static int take_dump(void *context, void *data, size_t size);

static void sampler_close(void *state)
{
	struct sampler *s = state;
	bpf_link__destroy(s->tick);
	bpf_link__destroy(s->fork);
	bpf_link__destroy(s->exec);
	bpf_link__destroy(s->exit);
	sample_events_close(s->events);
	ring_buffer__free(s->dumps);
	spaces_close(s->spaces);
	tally_free(s->tally);
	if (s->sideband) {
		unwound_release(s->sideband);
		sideband_close(s->sideband);
	}
	if (s->counts)
		munmap(s->counts, s->counts_size);
	if (s->words)
		munmap(s->words, s->words_size);
	profile_bpf__destroy(s->skel);
	if (s->epoll >= 0)
		close(s->epoll);
	profile_release(&s->current);
	array_release(&s->cpus);
	array_release(&s->pids);
	xfree(s->idle_ns);
	xfree(s);
}

static int open_sampler(struct sampler *s, const struct samples_options *o, struct error *err)
{
	s->all_cpus = !o->cpus;
	if (o->cpus)
		for (size_t i = 0; i < o->cpu_count; i++)
			array_push(&s->cpus, o->cpus[i]);
	else if (cpus_online(&s->cpus, err))
		return -1;
	s->room = (uint32_t)libbpf_num_possible_cpus();
	s->idle_ns = xcalloc(s->room, sizeof *s->idle_ns);
	if (load(s, o, err))
		return -1;
	struct sideband_options options = { .cpus = NULL };
	if (sideband_open(&s->sideband, &options, err))
		return -1;
	s->tally = tally_new(s->sideband);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0 || watch(s, sideband_fd(s->sideband), err))
		return -1;
	if (s->stacks == STACKS_EH_FRAME) {
		if (spaces_open(&s->spaces, s->skel, s->sideband, err))
			return -1;
		spaces_prepare(s->spaces);
	}
	if (s->stacks != STACKS_NONE) {
		s->dumps = ring_buffer__new(bpf_map__fd(s->skel->maps.dumps), take_dump, s, NULL);
		if (!s->dumps)
			return error_errno(err, EXIT_ENVIRONMENT, "cannot map a ring buffer");
		if (watch(s, ring_buffer__epoll_fd(s->dumps), err))
			return -1;
	}
	uint64_t ticks = 1000000000 / tick_period_ns();
	s->hz = s->what.mode == PROFILE_TICK	? (double)ticks
		: s->what.mode == PROFILE_EVENT ? (double)NAN
						: o->hz;
	if (s->what.mode != PROFILE_TICK &&
	    sample_events_open(&s->events, &s->what, s->cpus.items, s->cpus.count, err))
		return -1;
	for (size_t i = 0; i < o->pid_count; i++)
		if (sampler_follow(s, o->pids[i], err))
			return -1;
	return 0;
}

static int sampler_open(void **state, const struct samples_options *o, struct error *err)
{
	struct sampler *s = xcalloc(1, sizeof *s);
	s->what = (struct sampled){ .mode = o->mode, .hz = o->hz };
	s->stacks = o->stacks;
#if !defined(__x86_64__) /* there are rows of no other (binary/unwind.h) */
	if (s->stacks == STACKS_EH_FRAME)
		s->stacks = STACKS_POINTERS;
#endif
	s->epoll = -1;
	if ((o->mode == PROFILE_EVENT && samples_event_of(o, &s->what.event, err)) ||
	    open_sampler(s, o, err)) {
		sampler_close(s);
		return -1;
	}
	*state = s;
	return 0;
}

/* ---- sampling ---- */

static void sampler_describe(const void *state, struct profile *into)
{
	const struct sampler *s = state;
	into->mode = s->what.mode;
	into->stacks = s->stacks;
	into->hz = s->hz;
	memcpy(into->event, s->what.event.is.name, sizeof into->event);
	into->period = s->what.event.period;
	into->cpus = (uint32_t)s->cpus.count;
	into->realtime_ns = clock_realtime_ns() - (int64_t)clock_monotonic_ns();
}

static void begin_slice(struct sampler *s, uint64_t now)
{
	s->current = (struct profile){ .stacks = s->stacks };
	sampler_describe(s, &s->current);
	array_push(&s->current.slices,
		   (struct profile_slice){ .begin_ns = now, .peak_room = PROFILE_SLOTS });
	tally_begin(s->tally, &s->current);
	s->self_ns = clock_cpu_ns();
	read_idle(s->idle_ns, s->room);
}

static struct bpf_link *attached(struct bpf_program *program, bool *failed)
{
	struct bpf_link *link = bpf_program__attach(program);
	*failed = *failed || !link;
	return link;
}

/* Gone, or a zombie that nobody has buried yet. */
static bool has_ended(uint32_t pid)
{
	FREED char *stat = file_read_proc(pid, "stat");
	const char *state = stat ? strrchr(stat, ')') : NULL;
	return !state || state[1] != ' ' || state[2] == 'Z' || state[2] == 'X';
}

/* Those that ended before their end would have been told. */
static void forget_ended(struct sampler *s)
{
	int wanted = bpf_map__fd(s->skel->maps.wanted);
	for (size_t i = 0; i < s->pids.count; i++) {
		uint32_t tgid = s->pids.items[i];
		if (has_ended(tgid) && bpf_map_delete_elem(wanted, &tgid) == 0)
			__atomic_fetch_sub(&s->skel->bss->control.following, 1, __ATOMIC_SEQ_CST);
	}
}

static int sampler_start(void *state, struct error *err)
{
	struct sampler *s = state;
	bool failed = false;
	s->fork = attached(s->skel->progs.profile_fork, &failed);
	s->exec = attached(s->skel->progs.profile_exec, &failed);
	s->exit = attached(s->skel->progs.profile_exit, &failed);
	s->drained_ns = clock_monotonic_ns();
	begin_slice(s, s->drained_ns);
	if (!failed && s->events) {
		forget_ended(s);
		return sample_events_start(s->events, s->skel->progs.profile_event, err);
	}
	if (!failed)
		s->tick = attached(s->skel->progs.profile_tick, &failed);
	if (failed)
		return error_errno(err, EXIT_ENVIRONMENT, "cannot attach to a tracepoint");
	forget_ended(s);
	return 0;
}

static void sampler_stop(void *state)
{
	struct sampler *s = state;
	for (size_t i = 0; s->events && i < s->events->count; i++)
		ioctl(s->events->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	bpf_link__destroy(s->tick);
	s->tick = NULL;
}

/* The kernel ended the timers of CPUs that went, and those that came have none. If they cannot be
 * opened, perhaps because another CPU just goes, the next beat tries again. */
static int events_again(struct sampler *s, struct error *err)
{
	uint32_t changes = sideband_changes(s->sideband);
	cpu_list online = { 0 };
	struct sample_events *events;
	if (cpus_online(&online, NULL) ||
	    sample_events_open(&events, &s->what, online.items, online.count, NULL)) {
		array_release(&online);
		return 0;
	}
	int failed = sample_events_start(events, s->skel->progs.profile_event, err);
	s->current.slices.items[0].throttled += sample_events_throttled(s->events);
	sample_events_close(s->events);
	s->events = events;
	array_release(&s->cpus);
	s->cpus = online;
	s->changes = changes;
	return failed;
}

/* Of the CPUs that were there then and are now. */
static uint64_t idle_since(const struct sampler *s)
{
	FREED uint64_t *now = xcalloc(s->room, sizeof *now);
	uint64_t sum = 0;
	read_idle(now, s->room);
	for (uint32_t cpu = 0; cpu < s->room; cpu++) {
		bool wanted = s->all_cpus;
		for (size_t i = 0; !wanted && i < s->cpus.count; i++)
			wanted = s->cpus.items[i] == cpu;
		if (wanted && now[cpu] != ABSENT_NS && s->idle_ns[cpu] != ABSENT_NS &&
		    now[cpu] > s->idle_ns[cpu])
			sum += now[cpu] - s->idle_ns[cpu];
	}
	return sum;
}

/* Until samples that are all different have filled half of the room. */
static uint64_t drain_ns(const struct sampler *s)
{
	double room = s->words ? PROFILE_WORDS / FRAMES_TYPICAL : PROFILE_SLOTS;
	double until = room / 2 / (s->hz > 0 ? s->hz : SAMPLES_EVENT_HZ) * 1e9;
	return until < (double)DRAIN_MOST_NS ? (uint64_t)until : DRAIN_MOST_NS;
}

static uint64_t sampler_beat_ns(const void *state)
{
	const struct sampler *s = state;
	uint64_t most = s->spaces && s->learning ? BEAT_STACKS_NS : LOOK_MOST_NS;
	uint64_t drain = drain_ns(s);
	return drain < most ? drain : most;
}

static int sampler_fd(const void *state)
{
	return ((const struct sampler *)state)->epoll;
}

/* ---- reading ---- */

static void read_sideband(struct sampler *s)
{
	s->told_ns = clock_monotonic_ns();
	sideband_read(s->sideband);
}

static int take_dump(void *context, void *data, size_t size)
{
	struct sampler *s = context;
	const struct profile_dump *d = data;
	if (size < sizeof *d || d->size > size - sizeof *d)
		return 0;
	if (d->at_ns > s->told_ns) /* it came while others were looked at */
		read_sideband(s);
	struct image_of *image = sideband_find(s->sideband, d->identity.tgid, d->at_ns);
	struct unwind_state from = { .ip = d->ip, .sp = d->sp, .bp = d->bp };
	struct unwind_memory stack = { .begin = d->sp, .bytes = d->stack, .size = d->size };
	enum stack_end end = STACK_BROKEN;
	size_t count = 1;
	s->ips[0] = d->ip;
	if (image) {
		count = unwound(s->sideband, image, from, &stack, s->ips, PROFILE_WALK, &end);
		spaces_tell(s->spaces, &d->identity, image, d->flags & PROFILE_OUTSIDE);
	}
	tally_dump(s->tally, d, image, s->ips, count, end);
	struct profile_slice *slice = &s->current.slices.items[0];
	if (d->flags & PROFILE_IN_USER)
		slice->user++;
	else
		slice->kernel++;
	return 0;
}

static void read_half(struct sampler *s, uint32_t cpu, uint32_t which)
{
	struct profile_half *half = &s->counts[cpu].halves[which];
	struct profile_slice *slice = &s->current.slices.items[0];
	slice->user += half->user;
	slice->kernel += half->kernel;
	slice->others += half->others;
	slice->lost += half->lost;
	/* of slots or of words for stacks, whichever is fuller, in slots */
	uint32_t full = half->words / (PROFILE_WORDS / PROFILE_SLOTS);
	full = full > half->used ? full : half->used;
	if (full > slice->peak_used)
		slice->peak_used = full;
	const __u64 *words = s->words ? s->words[cpu].halves[which] : NULL;
	for (uint32_t i = 0; i < half->used && i < PROFILE_SLOTS; i++) {
		uint32_t at = half->filled[i] % PROFILE_SLOTS;
		struct profile_slot *slot = &half->slots[at];
		if (slot->count > 0)
			tally_slot(s->tally, slot, half->comms[at], words);
		slot->count = 0;
	}
	if (half->words > 0)
		memset(half->index, 0, sizeof half->index);
	half->user = half->kernel = half->others = half->lost = 0;
	half->used = half->words = half->woken = half->hurried = 0;
	half->css_set = 0;
}

static void take_told(struct sampler *s)
{
	read_sideband(s);
	if (s->dumps) {
		s->learning = ring_buffer__consume(s->dumps) > 0;
		if (s->spaces)
			spaces_look_again(s->spaces);
	}
}

/* The kernel goes on in the other half; this one is read. */
static void drain(struct sampler *s)
{
	uint32_t which = s->skel->bss->control.half & 1;
	__atomic_store_n(&s->skel->bss->control.half, which ^ 1, __ATOMIC_SEQ_CST);
	kernel_wait_for_programs();
	take_told(s);
	/* also those that came online since */
	for (uint32_t cpu = 0; cpu < s->room; cpu++)
		read_half(s, cpu, which);
	s->drained_ns = clock_monotonic_ns();
}

/* Stacks may be deeper than usual, and all different. */
static bool fills_up(const struct sampler *s)
{
	uint32_t which = s->skel->bss->control.half & 1;
	for (uint32_t cpu = 0; cpu < s->room; cpu++) {
		const struct profile_half *half = &s->counts[cpu].halves[which];
		if (__atomic_load_n(&half->used, __ATOMIC_RELAXED) > PROFILE_SLOTS / PROFILE_FULL ||
		    __atomic_load_n(&half->words, __ATOMIC_RELAXED) > PROFILE_WORDS / PROFILE_FULL)
			return true;
	}
	return false;
}

static int sampler_beat(void *state, struct error *err)
{
	struct sampler *s = state;
	if (s->events && s->all_cpus && s->changes != sideband_changes(s->sideband) &&
	    events_again(s, err))
		return -1;
	if (clock_monotonic_ns() - s->drained_ns + sampler_beat_ns(s) / 2 >= drain_ns(s) ||
	    fills_up(s))
		drain(s);
	else
		take_told(s);
	return 0;
}

static int sampler_take(void *state, struct profile *into, struct error *err)
{
	struct sampler *s = state;
	(void)err;
	drain(s);
	uint64_t now = clock_monotonic_ns();
	struct profile_slice *slice = &s->current.slices.items[0];
	slice->end_ns = now;
	slice->samples = slice->user + slice->kernel;
	/* Sampling an idle CPU would wake it, so the number of its samples is computed. It has none
	 * of an event. */
	if (s->hz > 0)
		slice->idle = (uint64_t)((double)idle_since(s) / 1e9 * s->hz + 0.5);
	slice->untold = sideband_lost(s->sideband);
	slice->throttled += s->events ? sample_events_throttled(s->events) : 0;
	slice->self_ns = clock_cpu_ns() - s->self_ns;
	sampler_describe(s, &s->current);
	profile_merge(into, &s->current);
	profile_release(&s->current);
	sideband_forget(s->sideband, now - FORGET_NS);
	tally_forget(s->tally);
	if (s->spaces)
		spaces_forget(s->spaces);
	begin_slice(s, now);
	return 0;
}

static const char *sampler_not_seen(const void *state)
{
	(void)state;
	return NULL;
}

static int sampler_object_fd(void *state, const struct profile_object *o)
{
	struct sampler *s = state;
	uint32_t known = sideband_object_like(s->sideband, o);
	int fd = known == PROFILE_NONE ? -1 : sideband_object_fd(s->sideband, known, 0);
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

static bool sampler_idle(const void *state)
{
	const struct sampler *s = state;
	return s->followed && !s->by_cgroup &&
	       __atomic_load_n(&s->skel->bss->control.following, __ATOMIC_SEQ_CST) == 0;
}

const struct samples_ops samples_bpf_ops = {
	.backend = BACKEND_BPF,
	.open = sampler_open,
	.close = sampler_close,
	.describe = sampler_describe,
	.not_seen = sampler_not_seen,
	.follow = sampler_follow,
	.start = sampler_start,
	.stop = sampler_stop,
	.beat_ns = sampler_beat_ns,
	.fd = sampler_fd,
	.beat = sampler_beat,
	.take = sampler_take,
	.object_fd = sampler_object_fd,
	.idle = sampler_idle,
};
