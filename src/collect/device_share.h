/* Whom devices served: from the requests to shares of time. Private to collect/. */
#ifndef TARE_COLLECT_DEVICE_SHARE_H
#define TARE_COLLECT_DEVICE_SHARE_H

#include "collect/bpf/devices.h"
#include "collect/devices.h"

/* As devices_share(), over these requests in any order. Adds to *lost those whose end is not known:
 * they count as requests, but have no time. */
void device_requests_share(const struct device_request *requests, size_t count, uint64_t begin_ns,
			   uint64_t end_ns, const struct devices_owner *owner,
			   device_use_list *into, uint64_t *lost);

#endif
