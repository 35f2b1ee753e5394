#include "collect/samples/perf_rings.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"

#define RECORD_MAX 65536 /* perf_event_header.size has 16 bits */

struct ring {
	int event;
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t tail, head; /* as of this reading */
	uint64_t time_ns;    /* of the record at tail */
};

struct perf_rings {
	ARRAY(struct ring) rings;
	size_t bytes, page_bytes;
	size_t peak;
	int poll;
	uint8_t *whole; /* a record that goes around the end of its ring */
};

int perf_rings_new(struct perf_rings **out, size_t bytes, struct error *err)
{
	int poll = epoll_create1(EPOLL_CLOEXEC);
	if (poll < 0)
		return error_errno(err, EXIT_ENVIRONMENT, "cannot wait for perf's rings");
	struct perf_rings *r = xcalloc(1, sizeof *r);
	r->poll = poll;
	r->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	for (r->bytes = r->page_bytes; r->bytes < bytes;)
		r->bytes *= 2;
	r->whole = xmalloc(RECORD_MAX);
	*out = r;
	return 0;
}

void perf_rings_drop(struct perf_rings *r, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		munmap(r->rings.items[i].page, r->page_bytes + r->bytes);
		close(r->rings.items[i].event);
	}
	r->rings.count -= count;
	if (r->rings.count)
		memmove(r->rings.items, r->rings.items + count,
			r->rings.count * sizeof *r->rings.items);
}

void perf_rings_free(struct perf_rings *r)
{
	if (!r)
		return;
	perf_rings_drop(r, r->rings.count);
	array_release(&r->rings);
	close(r->poll);
	xfree(r->whole);
	xfree(r);
}

void perf_rings_wake(struct perf_rings *r, int fd)
{
	struct epoll_event wanted = { .events = EPOLLIN };
	epoll_ctl(r->poll, EPOLL_CTL_ADD, fd, &wanted);
}

int perf_rings_add(struct perf_rings *r, int event, struct error *err)
{
	void *at =
		mmap(NULL, r->page_bytes + r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
	if (at == MAP_FAILED) {
		int why = errno;
		close(event);
		error_set(err, EXIT_ENVIRONMENT, "cannot map a perf ring of %zu KiB: %s",
			  r->bytes / 1024, strerror(why));
		return why == EPERM ? error_hint(err, "raise kernel.perf_event_mlock_kb or "
						      "`ulimit -l`")
				    : -1;
	}
	perf_rings_wake(r, event);
	array_push(&r->rings, (struct ring){ .event = event,
					     .page = at,
					     .data = (const uint8_t *)at + r->page_bytes });
	return 0;
}

size_t perf_rings_count(const struct perf_rings *r)
{
	return r->rings.count;
}

int perf_rings_event(const struct perf_rings *r, size_t i)
{
	return r->rings.items[i].event;
}

int perf_rings_fd(const struct perf_rings *r)
{
	return r->poll;
}

void perf_rings_peak(const struct perf_rings *r, size_t *used, size_t *room)
{
	*used = r->peak;
	*room = r->bytes;
}

/* Bytes of the ring from a position on, in one piece. */
static const void *at(const struct perf_rings *r, const struct ring *ring, uint64_t position,
		      size_t size, uint8_t *spare)
{
	size_t offset = (size_t)(position & (r->bytes - 1)), first = r->bytes - offset;
	if (size <= first)
		return ring->data + offset;
	memcpy(spare, ring->data + offset, first);
	memcpy(spare + first, ring->data, size - first);
	return spare;
}

static uint64_t time_at(const struct perf_rings *r, const struct ring *ring,
			const struct perf_event_header *header)
{
	size_t offset = header->type == PERF_RECORD_SAMPLE
				? offsetof(struct perf_rings_sample, time_ns)
				: header->size - sizeof(uint64_t);
	uint8_t spare[sizeof(uint64_t)];
	uint64_t time_ns;
	memcpy(&time_ns, at(r, ring, ring->tail + offset, sizeof time_ns, spare), sizeof time_ns);
	return time_ns;
}

/* Looks at the record at the tail; a ring that makes no sense is taken for empty. */
static void look(const struct perf_rings *r, struct ring *ring, uint64_t limit_ns)
{
	struct perf_event_header header;
	uint8_t spare[sizeof header];
	ring->time_ns = UINT64_MAX;
	if (ring->head - ring->tail < sizeof header)
		return;
	memcpy(&header, at(r, ring, ring->tail, sizeof header, spare), sizeof header);
	if (header.size < sizeof header + PERF_RINGS_ID_BYTES ||
	    header.size > ring->head - ring->tail) {
		ring->tail = ring->head;
		return;
	}
	uint64_t time_ns = time_at(r, ring, &header);
	if (time_ns <= limit_ns)
		ring->time_ns = time_ns;
}

static struct ring *earliest(struct perf_rings *r)
{
	struct ring *best = NULL;
	for (size_t i = 0; i < r->rings.count; i++) {
		struct ring *ring = &r->rings.items[i];
		if (ring->time_ns != UINT64_MAX && (!best || ring->time_ns < best->time_ns))
			best = ring;
	}
	return best;
}

size_t perf_rings_read(struct perf_rings *r, perf_record_fn each, void *context)
{
	uint64_t limit_ns = clock_monotonic_ns();
	size_t count = 0;
	r->peak = 0;
	for (size_t i = 0; i < r->rings.count; i++) {
		struct ring *ring = &r->rings.items[i];
		ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
		ring->tail = ring->page->data_tail;
		if (ring->head - ring->tail > r->peak)
			r->peak = (size_t)(ring->head - ring->tail);
		look(r, ring, limit_ns);
	}
	for (struct ring *ring; (ring = earliest(r)); count++) {
		struct perf_event_header header;
		uint8_t spare[sizeof header];
		memcpy(&header, at(r, ring, ring->tail, sizeof header, spare), sizeof header);
		const void *record = at(r, ring, ring->tail, header.size, r->whole);
		each(context, record, ring->time_ns);
		ring->tail += header.size;
		look(r, ring, limit_ns);
	}
	for (size_t i = 0; i < r->rings.count; i++) {
		struct ring *ring = &r->rings.items[i];
		__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
	}
	return count;
}
