/* bursts.h in a build without BPF. */
#include "collect/bursts/bursts.h"

int burst_collector_open(struct burst_collector **out, struct error *err)
{
	*out = NULL;
	error_set(err, EXIT_ENVIRONMENT, "this build has no BPF programs");
	return error_hint(err, "'make' in the source tree installs what it needs");
}

void burst_collector_close(struct burst_collector *c)
{
	(void)c;
}

int burst_collector_fd(const struct burst_collector *c)
{
	(void)c;
	return -1;
}

void burst_collector_take(struct burst_collector *c, enum burst_take which, struct bursts *into)
{
	(void)c, (void)which, (void)into;
}
