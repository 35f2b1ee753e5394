#include "collect/samples/events.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"

struct event {
	int fd;
	struct bpf_link *link;
	struct perf_event_mmap_page *ring; /* only for what is told of throttling; NULL: none */
};

struct sample_events {
	struct event *events;
	size_t count, ring_size;
};

static int open_event(enum profile_mode mode, uint32_t hz, uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof attr,
		.disabled = 1,
		/* Else an idle CPU, which has no tick, is soon said to be throttled. */
		.exclude_idle = 1,
		.sample_period = 1000000000u / hz,
		.watermark = 1, /* nobody is woken */
		.wakeup_watermark = UINT32_MAX,
	};
	if (mode == PROFILE_CYCLES) {
		attr.type = PERF_TYPE_HARDWARE;
		attr.config = PERF_COUNT_HW_CPU_CYCLES;
		attr.freq = 1;
		attr.sample_freq = hz;
	}
	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int refused(enum profile_mode mode, uint32_t cpu, struct error *err)
{
	int why = errno;
	if (mode == PROFILE_CYCLES && (why == ENOENT || why == EOPNOTSUPP))
		error_set(err, EXIT_ENVIRONMENT, "this machine has no counter of cycles");
	else
		error_set(err, EXIT_ENVIRONMENT, "cannot sample CPU %u: %s", cpu, strerror(why));
	if (mode == PROFILE_CYCLES)
		return error_hint(err, "'--event cpu-clock' needs none");
	return -1;
}

int sample_events_open(struct sample_events **out, enum profile_mode mode, uint32_t hz,
		       const uint32_t *cpus, size_t count, struct error *err)
{
	struct sample_events *e = xcalloc(1, sizeof *e);
	e->events = xcalloc(count, sizeof *e->events);
	e->ring_size = 2 * (size_t)sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < count; i++) {
		struct event *event = &e->events[i];
		event->fd = open_event(mode, hz, cpus[i]);
		if (event->fd < 0) {
			refused(mode, cpus[i], err);
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

int sample_events_start(struct sample_events *e, struct bpf_program *program, struct error *err)
{
	for (size_t i = 0; i < e->count; i++) {
		e->events[i].link = bpf_program__attach_perf_event(program, e->events[i].fd);
		if (!e->events[i].link)
			return error_errno(err, EXIT_ENVIRONMENT, "cannot attach to a perf event");
	}
	return 0;
}

void sample_events_stop(struct sample_events *e)
{
	for (size_t i = 0; i < e->count; i++)
		ioctl(e->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

void sample_events_close(struct sample_events *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->count; i++) {
		if (e->events[i].ring)
			munmap(e->events[i].ring, e->ring_size);
		bpf_link__destroy(e->events[i].link);
		close(e->events[i].fd);
	}
	xfree(e->events);
	xfree(e);
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

uint64_t sample_events_throttled(struct sample_events *e)
{
	uint64_t count = 0;
	for (size_t i = 0; i < e->count; i++)
		if (e->events[i].ring)
			count += throttled(e->events[i].ring, e->ring_size / 2);
	return count;
}
