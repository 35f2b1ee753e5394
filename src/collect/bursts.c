#include "collect/bursts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collect/bpf/bursts.h"
#include "collect/cpus.h"
#include "collect/kernel.h"
#include "record/task.h"

#include "bursts.skel.h" /* after the types in it */

#define BATCH 1024

typedef ARRAY(struct burst_record) record_list;

struct burst_collector {
	struct bursts_bpf *skel;
	struct bpf_link *link;
	struct ring_buffer *ring;
	record_list come;
	uint64_t taken_ns; /* up to when */
	uint64_t lost;
	uint32_t cpus;
};

static int note(void *context, void *data, size_t size)
{
	struct burst_collector *c = context;
	struct burst_record b;
	if (size < sizeof b)
		return 0;
	memcpy(&b, data, sizeof b);
	array_push(&c->come, b);
	return 0;
}

static int refused(int number, struct error *err)
{
	if (number == EPERM || number == EACCES) {
		error_set(err, EXIT_ENVIRONMENT,
			  "not permitted to watch what all processes do on the CPUs");
		return error_hint(err, "run it as root, or with CAP_BPF and CAP_PERFMON");
	}
	return error_set(err, EXIT_ENVIRONMENT, "the kernel refused the BPF program of a watch: %s",
			 strerror(number));
}

static int attach(struct burst_collector *c, struct error *err)
{
	int failed = bursts_bpf__load(c->skel);
	if (failed)
		return refused(-failed, err);
	c->ring = ring_buffer__new(bpf_map__fd(c->skel->maps.ring), note, c, NULL);
	if (!c->ring)
		return refused(errno, err);
	c->link = bpf_program__attach(c->skel->progs.bursts_switch);
	return c->link ? 0 : refused(errno, err);
}

int burst_collector_open(struct burst_collector **out, struct error *err)
{
	struct burst_collector *c = xcalloc(1, sizeof *c);
	*out = NULL;
	kernel_quiet();
	c->skel = bursts_bpf__open();
	if (!c->skel || attach(c, err)) {
		if (!c->skel)
			refused(errno, err);
		burst_collector_close(c);
		return -1;
	}
	c->taken_ns = clock_monotonic_ns();
	c->cpus = (uint32_t)libbpf_num_possible_cpus();
	*out = c;
	return 0;
}

void burst_collector_close(struct burst_collector *c)
{
	if (!c)
		return;
	bpf_link__destroy(c->link);
	ring_buffer__free(c->ring);
	bursts_bpf__destroy(c->skel);
	array_release(&c->come);
	free(c);
}

int burst_collector_fd(const struct burst_collector *c)
{
	return ring_buffer__epoll_fd(c->ring);
}

/* What has no next burst yet. That it is taken away meanwhile may cost a turn that ends right now.
 */
static int take_open(struct burst_collector *c, struct error *err)
{
	static struct burst_key keys[BATCH];
	static struct burst_record values[BATCH];
	int fd = bpf_map__fd(c->skel->maps.open_bursts);
	uint32_t at = 0;
	for (bool first = true;; first = false) {
		uint32_t count = BATCH;
		int failed = bpf_map_lookup_and_delete_batch(fd, first ? NULL : &at, &at, keys,
							     values, &count, NULL);
		if (failed && failed != -ENOENT && failed != -ENOSPC)
			return error_set(err, EXIT_ENVIRONMENT, "cannot read the bursts: %s",
					 strerror(-failed));
		for (uint32_t i = 0; i < count; i++)
			array_push(&c->come, values[i]);
		if (failed)
			return 0;
	}
}

static int by_process(const void *a, const void *b)
{
	const struct burst_record *p = a, *q = b;
	if (p->pid != q->pid)
		return p->pid < q->pid ? -1 : 1;
	if (p->start_ns != q->start_ns)
		return p->start_ns < q->start_ns ? -1 : 1;
	return p->begin_ns < q->begin_ns ? -1 : p->begin_ns > q->begin_ns;
}

static void enter(struct bursts *into, const struct burst_record *r, bool same)
{
	if (!same)
		array_push(&into->processes,
			   ((struct burst_process){ .pid = r->pid, .start_ns = r->start_ns }));
	/* the last name it had, which is the one it chose */
	struct burst_process *p = &into->processes.items[into->processes.count - 1];
	daemon_name(r->comm, p->name);
	p->kernel = r->flags & BURST_IS_KERNEL;
	p->own = r->flags & BURST_IS_OWN;
	uint64_t span_ns = r->end_ns - r->begin_ns;
	struct burst b = {
		.begin_ns = r->begin_ns,
		.span_ns = span_ns,
		/* an open one may be read between its new end and its new sum */
		.busy_ns = r->busy_ns < span_ns ? r->busy_ns : span_ns,
		.process = (uint32_t)(into->processes.count - 1),
		.cpu = r->cpu,
		.turns = r->turns < UINT16_MAX ? (uint16_t)r->turns : UINT16_MAX,
	};
	array_push(&into->bursts, b);
}

int burst_collector_take(struct burst_collector *c, struct bursts *into, struct error *err)
{
	uint64_t now = clock_monotonic_ns();
	c->come.count = 0;
	/* the ring last: what was open when it was read first may be in it by then */
	ring_buffer__consume(c->ring);
	if (take_open(c, err))
		return -1;
	ring_buffer__consume(c->ring);
	if (c->come.count)
		qsort(c->come.items, c->come.count, sizeof *c->come.items, by_process);
	for (size_t i = 0; i < c->come.count; i++) {
		const struct burst_record *r = &c->come.items[i], *before = i ? r - 1 : NULL;
		enter(into, r, before && before->pid == r->pid && before->start_ns == r->start_ns);
	}
	bursts_sort(into);
	into->begin_ns = c->taken_ns;
	into->end_ns = now;
	into->realtime_ns = clock_realtime_ns() - (int64_t)(clock_monotonic_ns() - c->taken_ns);
	into->cpus = c->cpus;
	uint64_t lost = c->skel->bss->control.lost;
	into->lost = lost - c->lost;
	c->lost = lost;
	c->taken_ns = now;
	return 0;
}
