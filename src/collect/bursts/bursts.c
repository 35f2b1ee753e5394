#include "collect/bursts/bursts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "collect/backend/kernel.h"
#include "collect/bpf/bursts.h"
#include "collect/machine/cpus.h"
#include "record/task.h"

#include "bursts.skel.h" /* after the types in it */

typedef ARRAY(struct burst_record) record_list;

/* What was read of a slot, or nothing (begin_ns 0). */
struct taken {
	uint64_t begin_ns, end_ns, busy_ns;
	uint16_t turns;
};

/* What was read last and before: the latter may be handed over while the former is read. */
struct slot {
	struct taken taken[2];
};

struct burst_collector {
	struct bursts_bpf *skel;
	struct burst_record *mapped; /* the slots, as they are now; read-only */
	struct slot *slots;
	size_t slot_count;
	struct bpf_link *link;
	struct ring_buffer *ring;
	record_list come;
	uint64_t taken_ns; /* up to when */
	uint64_t lost;
	uint32_t cpus;
};

/* What of a burst was not read from its slot before. */
static void come(struct burst_collector *c, struct burst_record r)
{
	const struct slot *s = r.slot < c->slot_count ? &c->slots[r.slot] : NULL;
	for (int i = 0; s && i < 2; i++) {
		const struct taken *t = &s->taken[i];
		if (t->begin_ns != r.begin_ns)
			continue;
		if (r.busy_ns <= t->busy_ns || r.end_ns <= t->end_ns)
			return;
		r.begin_ns = t->end_ns;
		r.busy_ns -= t->busy_ns;
		r.turns = r.turns > t->turns ? r.turns - t->turns : 1;
		break;
	}
	if (r.end_ns > r.begin_ns)
		array_push(&c->come, r);
}

static int note(void *context, void *data, size_t size)
{
	if (size >= sizeof(struct burst_record))
		come(context, *(const struct burst_record *)data);
	return 0;
}

static int refused(int number, struct error *err)
{
	return kernel_refused("what all processes do on the CPUs", "program of a watch", number,
			      err);
}

static size_t mapped_bytes(const struct burst_collector *c)
{
	return c->slot_count * sizeof *c->mapped;
}

static int attach(struct burst_collector *c, struct error *err)
{
	struct bursts_bpf *skel = c->skel;
	bpf_map__set_max_entries(skel->maps.slots, (uint32_t)c->slot_count);
	bpf_map__set_max_entries(skel->maps.turns, c->cpus);
	int failed = bursts_bpf__load(skel);
	if (failed)
		return refused(-failed, err);
	void *mapped = mmap(NULL, mapped_bytes(c), PROT_READ, MAP_SHARED,
			    bpf_map__fd(skel->maps.slots), 0);
	if (mapped == MAP_FAILED)
		return refused(errno, err);
	c->mapped = mapped;
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
	int cpus = libbpf_num_possible_cpus();
	c->cpus = cpus > 0 ? (uint32_t)cpus : 1;
	c->slot_count = (size_t)c->cpus * BURST_SLOTS;
	c->slots = xcalloc(c->slot_count, sizeof *c->slots);
	kernel_quiet();
	c->skel = bursts_bpf__open();
	if (!c->skel || attach(c, err)) {
		if (!c->skel)
			refused(errno, err);
		burst_collector_close(c);
		return -1;
	}
	c->taken_ns = clock_monotonic_ns();
	*out = c;
	return 0;
}

void burst_collector_close(struct burst_collector *c)
{
	if (!c)
		return;
	bpf_link__destroy(c->link);
	ring_buffer__free(c->ring);
	if (c->mapped)
		munmap(c->mapped, mapped_bytes(c));
	bursts_bpf__destroy(c->skel);
	free(c->slots);
	array_release(&c->come);
	free(c);
}

int burst_collector_fd(const struct burst_collector *c)
{
	return ring_buffer__epoll_fd(c->ring);
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
		.cpu = (uint16_t)(r->slot / BURST_SLOTS),
		.turns = r->turns,
	};
	array_push(&into->bursts, b);
}

void burst_collector_take(struct burst_collector *c, enum burst_take which, struct bursts *into)
{
	uint64_t now = clock_monotonic_ns();
	c->come.count = 0;
	/* what was open meanwhile may be handed over by now */
	ring_buffer__consume(c->ring);
	if (which == BURSTS_ALL) {
		/* bursts that the kernel has not handed over yet */
		for (size_t i = 0; i < c->slot_count; i++) {
			struct burst_record r;
			struct slot *s = &c->slots[i];
			/* Only a slot that reads twice the same is not being written. The others
			 * come later. */
			struct burst_record again;
			memcpy(&r, &c->mapped[i], sizeof r);
			atomic_thread_fence(memory_order_seq_cst);
			memcpy(&again, &c->mapped[i], sizeof again);
			if (!r.begin_ns || r.end_ns <= r.begin_ns ||
			    memcmp(&r, &again, sizeof again) != 0)
				continue;
			r.slot = (uint32_t)i;
			come(c, r);
			if (s->taken[0].begin_ns != r.begin_ns)
				s->taken[1] = s->taken[0];
			s->taken[0] = (struct taken){ r.begin_ns, r.end_ns, r.busy_ns, r.turns };
		}
		ring_buffer__consume(c->ring);
	}
	array_sort(&c->come, by_process);
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
}
