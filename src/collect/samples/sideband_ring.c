/* The sideband's own rings: a dummy event on each CPU, which counts nothing and tells everything
 * else. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collect/machine/cpus.h"
#include "collect/samples/sideband_private.h"

#define RING_BYTES (512u << 10)

static int watch_cpu(struct sideband *sb, uint32_t cpu, size_t ring_bytes, struct error *err)
{
	/* attr.build_id would save reading files, but the kernel then marks the records of every
	 * other listener as holding a build-id, which they do not: perf aborts on those */
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_RINGS_ID,
		.sample_id_all = 1,
		.disabled = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(ring_bytes / 2),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int event =
		(int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0 && errno == ENODEV) /* went offline */
		return 0;
	if (event < 0) {
		int why = errno;
		error_set(err, EXIT_ENVIRONMENT, "cannot watch the processes of CPU %u: %s", cpu,
			  strerror(why));
		return why == EACCES || why == EPERM ? error_hint(err, "needs root or CAP_PERFMON")
						     : -1;
	}
	return perf_rings_add(sb->rings, event, err);
}

static int watch_online(struct sideband *sb, size_t ring_bytes, struct error *err)
{
	FREED cpu_list online = { 0 };
	int failed = cpus_online(&online, err);
	for (size_t i = 0; !failed && i < online.count; i++)
		failed = watch_cpu(sb, online.items[i], ring_bytes, err);
	return failed;
}

int sideband_open(struct sideband **out, const struct sideband_options *options, struct error *err)
{
	struct sideband *sb = sideband_new();
	size_t bytes = options->ring_bytes ? options->ring_bytes : RING_BYTES;
	int failed = perf_rings_new(&sb->rings, bytes, err);
	for (size_t i = 0; !failed && options->cpus && i < options->cpu_count; i++)
		failed = watch_cpu(sb, options->cpus[i], bytes, err);
	if (!failed && !options->cpus)
		failed = watch_online(sb, bytes, err);
	for (size_t i = 0; !failed && i < perf_rings_count(sb->rings); i++)
		if (ioctl(perf_rings_event(sb->rings, i), PERF_EVENT_IOC_ENABLE, 0) != 0)
			failed = error_errno(err, EXIT_ENVIRONMENT,
					     "cannot begin to watch processes");
	if (failed) {
		sideband_close(sb);
		return -1;
	}
	proc_read_all(sb);
	*out = sb;
	return 0;
}

static void take(void *context, const struct perf_event_header *record, uint64_t time_ns)
{
	sideband_take(context, record, time_ns);
}

bool sideband_read(struct sideband *sb)
{
	if (!sb->rings)
		return false;
	uint64_t lost = sb->lost;
	size_t count = perf_rings_read(sb->rings, take, sb);
	if (sb->lost != lost)
		proc_read_all(sb);
	return count > 0;
}

int sideband_fd(const struct sideband *sb)
{
	return sb->rings ? perf_rings_fd(sb->rings) : -1;
}
