/* devices.h in a build without BPF. */
#include "collect/devices/devices.h"

int devices_open(struct devices **out, struct error *err)
{
	*out = NULL;
	error_set(err, EXIT_ENVIRONMENT, "this build has no BPF programs");
	return error_hint(err, "'make' in the source tree installs what it needs");
}

void devices_close(struct devices *d)
{
	(void)d;
}

void devices_begin(struct devices *d)
{
	(void)d;
}

void devices_drain(struct devices *d)
{
	(void)d;
}

void devices_end(struct devices *d, uint64_t end_ns)
{
	(void)d, (void)end_ns;
}

void devices_share(const struct devices *d, uint64_t begin_ns, uint64_t end_ns,
		   const struct devices_owner *owner, device_use_list *into, uint64_t *lost)
{
	(void)d, (void)begin_ns, (void)end_ns, (void)owner;
	into->count = 0;
	*lost = 0;
}
