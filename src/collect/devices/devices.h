/* What block devices did for whom while something ran: every request from when it was submitted
 * (block_io_start, where the submitter is current) until it was done. A BPF program writes these
 * into a ring buffer; who is who is decided afterwards. Root or CAP_BPF + CAP_PERFMON; else
 * devices_open() fails with the reason and everything else works as before. */
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

/* From here on requests are kept; those in flight already are of others. */
void devices_begin(struct devices *d);
/* To be called now and then, so that none is lost. */
void devices_drain(struct devices *d);
/* No more are kept; waits (at most 50 ms) for those of before end_ns that are in flight. */
void devices_end(struct devices *d, uint64_t end_ns);

/* Whose requests these are. */
struct devices_owner {
	const pid_t *tids; /* threads */
	size_t tid_count;
	const pid_t *tgids; /* processes */
	size_t tgid_count;
};
struct device_use {
	uint32_t device;	    /* as in record/ledger.h's devices: major << 20 | minor */
	uint64_t own_ns, others_ns; /* integral of own (others') bytes in flight / all in flight */
	uint64_t busy_ns;	    /* any in flight */
	uint64_t own_reads, own_writes, others_reads, others_writes; /* requests */
	uint64_t own_read_bytes, own_write_bytes, others_read_bytes, others_write_bytes;
	/* of all, those whose end the kernel did not tell: taken to last as long as the others did
	 */
	uint64_t untold;
};
typedef ARRAY(struct device_use) device_use_list;
/* Between the two instants (CLOCK_MONOTONIC), by device; a request counts when it was in flight
 * within. It counts on the device it was submitted to, for whom submitted it: what a loop device's
 * worker then does on the disk below is not the owner's, so nothing counts twice (decision 021).
 * lost: requests that nobody knows of. */
void devices_share(const struct devices *d, uint64_t begin_ns, uint64_t end_ns,
		   const struct devices_owner *owner, device_use_list *into, uint64_t *lost);

#endif
