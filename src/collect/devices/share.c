#include "collect/devices/share.h"

#include <stdlib.h>

/* A flush has none, and takes a device's time all the same. */
#define LEAST_BYTES 512

/* A request comes or goes. */
struct edge {
	uint64_t at_ns;
	uint32_t device;
	int64_t change; /* of the bytes in flight */
	bool own;
};
typedef ARRAY(struct edge) edge_list;

static bool is_among(pid_t id, const pid_t *ids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

static struct device_use *use_of(device_use_list *uses, uint32_t device)
{
	for (size_t i = 0; i < uses->count; i++)
		if (uses->items[i].device == device)
			return &uses->items[i];
	array_push(uses, (struct device_use){ .device = device });
	return &uses->items[uses->count - 1];
}

static void count_request(struct device_use *u, const struct device_request *r, bool own)
{
	if (r->flags & DEVICE_MERGED)
		return;
	bool writes = r->flags & DEVICE_WRITE;
	uint64_t *requests = own      ? writes ? &u->own_writes : &u->own_reads
			     : writes ? &u->others_writes
				      : &u->others_reads;
	uint64_t *bytes = own	   ? writes ? &u->own_write_bytes : &u->own_read_bytes
			  : writes ? &u->others_write_bytes
				   : &u->others_read_bytes;
	++*requests;
	*bytes += r->bytes;
}

static int by_device_and_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* The edges of one device, in order of time; each request has both of its own. */
static void sweep(const struct edge *edges, size_t count, struct device_use *u)
{
	int64_t own = 0, all = 0;
	double own_ns = 0;
	for (size_t i = 0; i + 1 < count; i++) {
		all += edges[i].change;
		own += edges[i].own ? edges[i].change : 0;
		uint64_t ns = edges[i + 1].at_ns - edges[i].at_ns;
		/* within one instant a request may go before it has come */
		if (!ns || all <= 0)
			continue;
		u->busy_ns += ns;
		own_ns += (double)ns * (double)own / (double)all;
	}
	u->own_ns = (uint64_t)(own_ns + 0.5);
	if (u->own_ns > u->busy_ns)
		u->own_ns = u->busy_ns;
	u->others_ns = u->busy_ns - u->own_ns;
}

/* Of the requests of one device in one direction whose end was told. */
struct usual {
	uint32_t device, writes;
	uint64_t sum_ns, count;
};
typedef ARRAY(struct usual) usual_list;

static struct usual *usual_of(usual_list *list, const struct device_request *r)
{
	uint32_t writes = r->flags & DEVICE_WRITE;
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].device == r->device && list->items[i].writes == writes)
			return &list->items[i];
	array_push(list, (struct usual){ .device = r->device, .writes = writes });
	return &list->items[list->count - 1];
}

/* Of one whose end was not told: as long as others like it took, 0 when there are none. */
static uint64_t end_of(const struct device_request *r, usual_list *usual)
{
	if (!(r->flags & DEVICE_UNTOLD))
		return r->end_ns;
	const struct usual *u = usual_of(usual, r);
	uint64_t likely = r->begin_ns + (u->count ? u->sum_ns / u->count : 0);
	return likely < r->end_ns ? likely : r->end_ns;
}

void device_requests_share(const struct device_request *requests, size_t count, uint64_t begin_ns,
			   uint64_t end_ns, const struct devices_owner *owner,
			   device_use_list *into)
{
	FREED usual_list usual = { 0 };
	FREED edge_list edges = { 0 };
	into->count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct device_request *r = &requests[i];
		if (r->flags & (DEVICE_MERGED | DEVICE_UNTOLD) || r->end_ns == DEVICE_IN_FLIGHT)
			continue;
		struct usual *u = usual_of(&usual, r);
		u->sum_ns += r->end_ns - r->begin_ns;
		u->count++;
	}
	for (size_t i = 0; i < count; i++) {
		const struct device_request *r = &requests[i];
		uint64_t until = end_of(r, &usual);
		if (r->begin_ns >= end_ns || until <= begin_ns)
			continue;
		bool own = r->tid && (is_among(r->tid, owner->tids, owner->tid_count) ||
				      is_among(r->tgid, owner->tgids, owner->tgid_count));
		struct device_use *u = use_of(into, r->device);
		count_request(u, r, own);
		u->untold += (r->flags & DEVICE_UNTOLD) != 0;
		uint64_t from = r->begin_ns > begin_ns ? r->begin_ns : begin_ns;
		/* the bytes of one that was merged are the other's */
		bool counts = r->bytes > LEAST_BYTES && !(r->flags & DEVICE_MERGED);
		int64_t bytes = counts ? r->bytes : LEAST_BYTES;
		array_push(&edges, (struct edge){ from, r->device, bytes, own });
		array_push(&edges, (struct edge){ until < end_ns ? until : end_ns, r->device,
						  -bytes, own });
	}
	array_sort(&edges, by_device_and_time);
	for (size_t i = 0, next; i < edges.count; i = next) {
		for (next = i;
		     next < edges.count && edges.items[next].device == edges.items[i].device;)
			next++;
		sweep(edges.items + i, next - i, use_of(into, edges.items[i].device));
	}
}
