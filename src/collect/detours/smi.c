#include "collect/detours/smi.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/counters/events.h"
#include "record/field.h"

/* The kernel has the event where it knows that the CPU has the register MSR_SMI_COUNT
 * (arch/x86/events/msr.c). The unit refuses events that exclude a mode. */
int smi_open(uint32_t cpu)
{
	struct error ignored = ERROR_INIT;
	counter_events list = { 0 };
	if (counter_events_parse("msr/smi/", COUNTER_SYSFS, &list, &ignored))
		return -1;
	struct perf_event_attr a = { .size = sizeof a,
				     .type = list.items[0].type,
				     .config = list.items[0].config };
	array_release(&list);
	return (int)syscall(SYS_perf_event_open, &a, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

uint64_t smi_read(int fd)
{
	uint64_t count;
	return fd >= 0 && read(fd, &count, sizeof count) == sizeof count ? count : ABSENT_NS;
}
