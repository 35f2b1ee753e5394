#include "collect/devices/devices.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "collect/backend/kernel.h"
#include "collect/devices/share.h"

#include "devices.skel.h" /* after the types in it */

#define REQUESTS_MOST (8u << 20) /* 320 MB */
#define END_PATIENCE_NS 50000000u
#define END_NAP_NS 100000

struct devices {
	struct devices_bpf *skel;
	struct ring_buffer *ring;
	ARRAY(struct device_request) requests;
	uint64_t overflow; /* requests beyond REQUESTS_MOST */
};

static void keep(struct devices *d, const struct device_request *r)
{
	if (d->requests.count < REQUESTS_MOST)
		array_push(&d->requests, *r);
	else
		d->overflow++;
}

static int on_request(void *context, void *data, size_t size)
{
	if (size >= sizeof(struct device_request))
		keep(context, data);
	return 0;
}

int devices_open(struct devices **out, struct error *err)
{
	*out = NULL;
	/* kernels before 6.5 do not say who submits a request */
	SCOPED(kernel_btf_release) struct btf *btf = kernel_btf(err);
	if (!btf)
		return -1;
	if (!kernel_has_pair(btf, "block_io_start") || !kernel_has_pair(btf, "block_io_done"))
		return error_set(err, EXIT_ENVIRONMENT,
				 "this kernel has no tracepoint block_io_start");
	if (!kernel_tells_our_pids())
		return error_set(err, EXIT_ENVIRONMENT,
				 "this is a container: its pids are not the kernel's");
	struct devices *d = xcalloc(1, sizeof *d);
	d->skel = devices_bpf__open();
	int failed = d->skel ? devices_bpf__load(d->skel) : -errno;
	if (!failed)
		failed = devices_bpf__attach(d->skel);
	if (!failed)
		d->ring = ring_buffer__new(bpf_map__fd(d->skel->maps.ring), on_request, d, NULL);
	if (failed || !d->ring) {
		kernel_refused("the requests of all processes to block devices",
			       "programs for block devices", failed ? -failed : errno, err);
		devices_close(d);
		return -1;
	}
	*out = d;
	return 0;
}

void devices_close(struct devices *d)
{
	if (!d)
		return;
	ring_buffer__free(d->ring);
	devices_bpf__destroy(d->skel);
	array_release(&d->requests);
	free(d);
}

static bool any_in_flight(const struct devices *d)
{
	return __atomic_load_n(&d->skel->bss->control.in_flight, __ATOMIC_SEQ_CST) > 0;
}

static void set_active(struct devices *d, uint32_t active)
{
	__atomic_store_n(&d->skel->bss->control.active, active, __ATOMIC_SEQ_CST);
}

void devices_begin(struct devices *d)
{
	set_active(d, 0);
	ring_buffer__consume(d->ring);
	d->requests.count = 0;
	d->overflow = 0;
	if (any_in_flight(d)) {
		/* The last time left them. Walking an empty map takes 100 us, too. */
		kernel_empty_map(bpf_map__fd(d->skel->maps.requests));
	}
	d->skel->bss->control = (struct device_control){ .begin_ns = clock_monotonic_ns() };
	set_active(d, 1);
}

void devices_drain(struct devices *d)
{
	ring_buffer__consume(d->ring);
}

void devices_end(struct devices *d, uint64_t end_ns)
{
	uint64_t until = clock_monotonic_ns() + END_PATIENCE_NS;
	__atomic_store_n(&d->skel->bss->control.end_ns, end_ns, __ATOMIC_SEQ_CST);
	while (any_in_flight(d) && clock_monotonic_ns() < until) {
		nanosleep(&(struct timespec){ .tv_nsec = END_NAP_NS }, NULL);
		LIBBPF_OPTS(bpf_test_run_opts, options);
		bpf_prog_test_run_opts(bpf_program__fd(d->skel->progs.devices_settle), &options);
	}
	set_active(d, 0);
	bool left = any_in_flight(d);
	if (left)
		kernel_wait_for_programs();
	ring_buffer__consume(d->ring);
	if (left) {
		/* These are still in flight. Nobody changes the map any more. */
		int map = bpf_map__fd(d->skel->maps.requests);
		uint64_t key, *previous = NULL;
		struct device_request r;
		while (bpf_map_get_next_key(map, previous, &key) == 0) {
			if (bpf_map_lookup_elem(map, &key, &r) == 0) {
				r.end_ns = DEVICE_IN_FLIGHT;
				keep(d, &r);
			}
			previous = &key;
		}
	}
}

void devices_share(const struct devices *d, uint64_t begin_ns, uint64_t end_ns,
		   const struct devices_owner *owner, device_use_list *into, uint64_t *lost)
{
	*lost = d->skel->bss->control.lost + d->overflow;
	device_requests_share(d->requests.items, d->requests.count, begin_ns, end_ns, owner, into);
}
