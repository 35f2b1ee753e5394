/* Which block devices worked for whom while something ran: every request from its submission
 * (block_io_start, where the submitter is current) to its completion. A BPF program writes the
 * requests into a ring buffer; owners are assigned later. Needs root or CAP_BPF + CAP_PERFMON;
 * otherwise devices_open() fails with the reason, and everything else still works. */
#ifndef TARE_COLLECT_DEVICES_DEVICES_H
#define TARE_COLLECT_DEVICES_DEVICES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"
#include "base/error.h"

struct devices;

int devices_open(struct devices **out, struct error *err);
void devices_close(struct devices *d);

/* Keeps requests from now on. Those already in flight belong to others. */
void devices_begin(struct devices *d);
/* Call it from time to time, so that no request is lost. */
void devices_drain(struct devices *d);
/* Stops keeping requests. Waits at most 50 ms for those that began before end_ns. */
void devices_end(struct devices *d, uint64_t end_ns);

/* Whose requests are `own`. */
struct devices_owner {
	const pid_t *tids; /* threads */
	size_t tid_count;
	const pid_t *tgids; /* processes */
	size_t tgid_count;
};
struct device_use {
	uint32_t device; /* as in record/ledger.h: major << 20 | minor */
	uint64_t own_ns,
		others_ns; /* integral of own (others') bytes in flight / all bytes in flight */
	uint64_t busy_ns;  /* any request in flight */
	uint64_t own_reads, own_writes, others_reads, others_writes; /* requests */
	uint64_t own_read_bytes, own_write_bytes, others_read_bytes, others_write_bytes;
	/* of all, those whose end was not reported; assumed to last as long as the others */
	uint64_t untold;
};
typedef ARRAY(struct device_use) device_use_list;
/* Use by device between the two instants (CLOCK_MONOTONIC). A request counts if it was in flight
 * within them. It counts on the device it was submitted to, for its submitter: what a loop device's
 * worker then does on the disk below is not the owner's, so nothing counts twice (decision 021).
 * lost: requests that were not recorded. */
void devices_share(const struct devices *d, uint64_t begin_ns, uint64_t end_ns,
		   const struct devices_owner *owner, device_use_list *into, uint64_t *lost);

#endif
