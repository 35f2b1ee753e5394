/* What devices.bpf.c reports. Shared with user space. */
#ifndef TARE_COLLECT_BPF_DEVICES_H
#define TARE_COLLECT_BPF_DEVICES_H

#ifndef __bpf__
#include <linux/types.h>
#endif

enum device_request_flag {
	DEVICE_WRITE = 1,
	DEVICE_MERGED = 2, /* into another request, which has its bytes from then on */
	DEVICE_UNTOLD = 4, /* its end was not reported: end_ns is when it was found to be over */
};

#define DEVICE_IN_FLIGHT (~0ull) /* the end of a request that was not over when tare looked */

/* One request, from its submission to its completion by the device. */
struct device_request {
	__u64 begin_ns, end_ns; /* CLOCK_MONOTONIC */
	__u32 device;		/* major << 20 | minor */
	__u32 bytes;
	__s32 tid, tgid; /* of the submitter; 0: submitted before tare looked */
	__u32 flags;
	__u32 unused;
};

struct device_control {
	__u32 active;
	__s32 in_flight;
	__u64 begin_ns;
	__u64 end_ns; /* requests that begin later are not kept; 0: not known yet */
	__u64 lost;   /* requests without room */
};

#endif
