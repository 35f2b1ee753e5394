/* Finds the device of a block request. */
#ifndef TARE_COLLECT_BPF_REQUEST_BPF_H
#define TARE_COLLECT_BPF_REQUEST_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* major << 20
 *
 * minor; 0: unknown */
static __always_inline u32 number_of(struct request *rq)
{
	struct request___before_5_16 *old = (void *)rq;
	struct gendisk *disk;
	if (bpf_core_field_exists(old->rq_disk))
		disk = BPF_CORE_READ(old, rq_disk);
	else
		disk = BPF_CORE_READ(rq, q, disk);
	return disk ? (u32)BPF_CORE_READ(disk, major) << 20 | (u32)BPF_CORE_READ(disk, first_minor)
		    : 0;
}

#endif
