/* Whom devices served: from the requests to shares of time. Private to collect/. */
#ifndef TARE_COLLECT_DEVICES_SHARE_H
#define TARE_COLLECT_DEVICES_SHARE_H

#include "collect/bpf/devices.h"
#include "collect/devices/devices.h"

/* As devices_share(), over these requests in any order. */
void device_requests_share(const struct device_request *requests, size_t count, uint64_t begin_ns,
			   uint64_t end_ns, const struct devices_owner *owner,
			   device_use_list *into);

#endif
