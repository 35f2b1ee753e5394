/* From requests to shares of device time. Private to collect/. */
#ifndef TARE_COLLECT_DEVICES_SHARE_H
#define TARE_COLLECT_DEVICES_SHARE_H

#include "collect/bpf/devices.h"
#include "collect/devices/devices.h"

/* Like devices_share(), for these requests in any order. */
void device_requests_share(const struct device_request *requests, size_t count, uint64_t begin_ns,
			   uint64_t end_ns, const struct devices_owner *owner,
			   device_use_list *into);

#endif
