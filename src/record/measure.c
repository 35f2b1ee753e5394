#include "record/measure.h"

const struct measure task_measures[TASK_MEASURES] = {
	[TASK_EXEC] = { "exec", UNIT_NS, "se.sum_exec_runtime", "time on a CPU, by the scheduler" },
	[TASK_USER] = { "user", UNIT_NS, "task.utime", "user time, sampled at the tick" },
	[TASK_SYSTEM] = { "system", UNIT_NS, "task.stime", "system time, sampled at the tick" },
	[TASK_RUN_DELAY] = { "run_delay", UNIT_NS, "sched_info.run_delay",
			     "time runnable, waiting for a CPU" },
	[TASK_BLKIO_DELAY] = { "blkio_delay", UNIT_NS, "delays.blkio_delay",
			       "time blocked on block I/O" },
	[TASK_MIN_FLT] = { "min_flt", UNIT_COUNT, "task.min_flt", "minor page faults" },
	[TASK_MAJ_FLT] = { "maj_flt", UNIT_COUNT, "task.maj_flt", "major page faults" },
	[TASK_NVCSW] = { "nvcsw", UNIT_COUNT, "task.nvcsw", "voluntary context switches" },
	[TASK_NIVCSW] = { "nivcsw", UNIT_COUNT, "task.nivcsw", "involuntary context switches" },
	[TASK_RCHAR] = { "rchar", UNIT_BYTES, "ioac.rchar", "bytes asked for by read calls" },
	[TASK_WCHAR] = { "wchar", UNIT_BYTES, "ioac.wchar", "bytes handed to write calls" },
	[TASK_SYSCR] = { "syscr", UNIT_COUNT, "ioac.syscr", "read calls" },
	[TASK_SYSCW] = { "syscw", UNIT_COUNT, "ioac.syscw", "write calls" },
	[TASK_READ_BYTES] = { "read_bytes", UNIT_BYTES, "ioac.read_bytes",
			      "bytes fetched from storage" },
	[TASK_WRITE_BYTES] = { "write_bytes", UNIT_BYTES, "ioac.write_bytes",
			       "bytes sent to storage" },
	[TASK_CANCELLED_WRITE_BYTES] = { "cancelled_write_bytes", UNIT_BYTES,
					 "ioac.cancelled_write_bytes",
					 "bytes never written because the file was truncated" },
	[TASK_RSS] = { "rss", UNIT_BYTES, "mm.rss_stat", "resident memory" },
	[TASK_RSS_PEAK] = { "rss_peak", UNIT_BYTES, "mm.hiwater_rss", "highest resident memory" },
	[TASK_VM] = { "vm", UNIT_BYTES, "mm.total_vm", "mapped memory" },
};

const struct measure overall_measures[OVERALL_MEASURES] = {
	[OVERALL_USER] = { "user", UNIT_TICKS, "/proc/stat cpu", "user mode" },
	[OVERALL_NICE] = { "nice", UNIT_TICKS, "/proc/stat cpu", "user mode, low priority" },
	[OVERALL_SYSTEM] = { "system", UNIT_TICKS, "/proc/stat cpu", "kernel mode" },
	[OVERALL_IDLE] = { "idle", UNIT_TICKS, "/proc/stat cpu", "nothing to do" },
	[OVERALL_IOWAIT] = { "iowait", UNIT_TICKS, "/proc/stat cpu", "idle with I/O pending" },
	[OVERALL_IRQ] = { "irq", UNIT_TICKS, "/proc/stat cpu", "interrupts" },
	[OVERALL_SOFTIRQ] = { "softirq", UNIT_TICKS, "/proc/stat cpu", "soft interrupts" },
	[OVERALL_STEAL] = { "steal", UNIT_TICKS, "/proc/stat cpu", "taken by the hypervisor" },
	[OVERALL_GUEST] = { "guest", UNIT_TICKS, "/proc/stat cpu", "running a guest" },
	[OVERALL_GUEST_NICE] = { "guest_nice", UNIT_TICKS, "/proc/stat cpu",
				 "running a niced guest" },
	[OVERALL_PAGE_IN] = { "page_in", UNIT_COUNT, "/proc/vmstat pgpgin", "KiB read from disk" },
	[OVERALL_PAGE_OUT] = { "page_out", UNIT_COUNT, "/proc/vmstat pgpgout",
			       "KiB written to disk" },
	[OVERALL_SWAP_IN] = { "swap_in", UNIT_COUNT, "/proc/vmstat pswpin", "pages swapped in" },
	[OVERALL_SWAP_OUT] = { "swap_out", UNIT_COUNT, "/proc/vmstat pswpout",
			       "pages swapped out" },
	[OVERALL_INTERRUPTS] = { "interrupts", UNIT_COUNT, "/proc/stat intr", "interrupts" },
	[OVERALL_SWITCHES] = { "switches", UNIT_COUNT, "/proc/stat ctxt", "context switches" },
	[OVERALL_BOOT_TIME] = { "boot_time", UNIT_ID, "/proc/stat btime", "time of boot" },
	[OVERALL_FORKS] = { "forks", UNIT_COUNT, "/proc/stat processes",
			    "processes and threads made" },
	[OVERALL_RUNNING] = { "running", UNIT_COUNT, "/proc/stat procs_running", "tasks runnable" },
	[OVERALL_BLOCKED] = { "blocked", UNIT_COUNT, "/proc/stat procs_blocked",
			      "tasks blocked on I/O" },
};

const char *unit_name(enum unit unit)
{
	static const char *const names[] = { [UNIT_NS] = "ns",
					     [UNIT_BYTES] = "bytes",
					     [UNIT_COUNT] = "count",
					     [UNIT_TICKS] = "ticks",
					     [UNIT_ID] = "id" };
	return names[unit];
}
