/* What the ledger costs per event, in place: the same work with and without it, taking turns, as
 * subject of a real execution. Without is the bpf back end as it is for --no-ledger; without
 * anything attached is the plain one.
 *
 *	bench-ledger-cost [PAIRS]
 *
 * Prints for each kind of event the medians and quartiles of the paired differences.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <linux/bpf.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "measure/execute.h"

#define YIELDS 30000
#define ROUND_TRIPS 15000
#define PACKETS 40000
#define INTERRUPT_EVERY_NS 25000
#define SLICES 60
#define SLICE_NS 4000000

/* What a workload says of itself, on its standard output. */
struct result {
	uint64_t ns;	 /* that the work took */
	uint64_t events; /* of the kind, within */
};

/* ---- the workloads, each in a process of its own ---- */

static uint64_t switches_so_far(void)
{
	struct rusage used;
	getrusage(RUSAGE_SELF, &used);
	return (uint64_t)(used.ru_nvcsw + used.ru_nivcsw);
}

static atomic_int ready;

static void *yield_a_lot(void *unused)
{
	(void)unused;
	atomic_fetch_add(&ready, 1);
	while (atomic_load(&ready) < 2)
		sched_yield();
	for (int i = 0; i < YIELDS; i++)
		sched_yield();
	return NULL;
}

static uint32_t turn; /* futex: whose */

static void *pass_on(void *mine)
{
	uint32_t me = *(uint32_t *)mine;
	for (int i = 0; i < ROUND_TRIPS; i++) {
		while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !me, NULL, NULL, 0);
		__atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return NULL;
}

static struct result in_two_threads(void *(*work)(void *))
{
	pthread_t other;
	uint32_t me = 0, you = 1;
	uint64_t switched = switches_so_far(), begun = clock_monotonic_ns();
	pthread_create(&other, NULL, work, &you);
	work(&me);
	pthread_join(other, NULL);
	return (struct result){ clock_monotonic_ns() - begun, switches_so_far() - switched };
}

/* Of this CPU: the others have ticks of their own. */
static uint64_t timer_interrupts(void)
{
	char *text = file_read("/proc/interrupts"), *at = text ? strstr(text, "LOC:") : NULL;
	unsigned long long n = 0;
	if (at)
		at += 4;
	for (int cpu = sched_getcpu(); at && cpu >= 0; cpu--)
		n = strtoull(at, &at, 10);
	free(text);
	return n;
}

/* A clock that interrupts this thread, and nobody else, as often as asked. */
static int start_clock(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof attr,
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.disabled = 1,
					.sample_period = INTERRUPT_EVERY_NS };
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t add_up(uint64_t count)
{
	uint64_t sum = 0, begun = clock_monotonic_ns();
	for (uint64_t i = 0; i < count; i++) {
		sum += i;
		__asm__ volatile("" : "+r"(sum));
	}
	return clock_monotonic_ns() - begun;
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;
	return (left > right) - (left < right);
}

/* The same additions with and without the clock, slice after slice: what is more is the
 * interrupts'. Interrupts come at a rate, so the time of the work alone would not tell. */
static struct result be_interrupted(uint64_t count)
{
	double more[SLICES];
	int clock = start_clock();
	if (clock < 0) {
		perror("perf_event_open");
		exit(1);
	}
	uint64_t before = timer_interrupts();
	for (int i = 0; i < SLICES; i++) {
		uint64_t ns[2];
		for (int turns = 0; turns < 2; turns++) {
			int on = (i + turns) % 2;
			ioctl(clock, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
			ns[on] = add_up(count);
			ioctl(clock, PERF_EVENT_IOC_DISABLE, 0);
		}
		more[i] = (double)ns[1] - (double)ns[0];
	}
	uint64_t events = timer_interrupts() - before;
	close(clock);
	qsort(more, SLICES, sizeof *more, by_value);
	double median = (more[SLICES / 2 - 1] + more[SLICES / 2]) / 2;
	return (struct result){ median > 0 ? (uint64_t)(median * SLICES) : 0, events };
}

static uint64_t received_softirqs(void)
{
	char *text = file_read("/proc/softirqs"), *at = text ? strstr(text, "NET_RX:") : NULL;
	unsigned long long n = 0;
	if (at)
		at += strlen("NET_RX:");
	for (int cpu = sched_getcpu(); at && cpu >= 0; cpu--)
		n = strtoull(at, &at, 10);
	free(text);
	return n;
}

/* Each packet to itself is one soft interrupt, and unlike a hard one costs a guest little. */
static struct result send_to_itself(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof here;
	char c = 0;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&here, length) ||
	    getsockname(fd, (struct sockaddr *)&here, &length) ||
	    connect(fd, (struct sockaddr *)&here, length)) {
		perror("loopback");
		exit(1);
	}
	uint64_t before = received_softirqs(), begun = clock_monotonic_ns();
	for (int i = 0; i < PACKETS; i++)
		if (send(fd, &c, 1, 0) != 1 || recv(fd, &c, 1, 0) != 1)
			exit(1);
	uint64_t ns = clock_monotonic_ns() - begun;
	close(fd);
	return (struct result){ ns, received_softirqs() - before };
}

static int work(const char *name, const char *count)
{
	struct result o;
	/* Nobody else gets this CPU, and each yield or sleep is a switch to the other thread. */
	if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 }))
		perror("SCHED_FIFO");
	if (strcmp(name, "yield") == 0)
		o = in_two_threads(yield_a_lot);
	else if (strcmp(name, "futex") == 0)
		o = in_two_threads(pass_on);
	else if (strcmp(name, "loopback") == 0)
		o = send_to_itself();
	else
		o = be_interrupted(strtoull(count, NULL, 10));
	printf("%llu %llu\n", (unsigned long long)o.ns, (unsigned long long)o.events);
	return 0;
}

/* ---- the pairs ---- */

enum mode { NOTHING, NO_LEDGER, LEDGER, MODES };
static const char *const mode_names[MODES] = { "nothing attached", "without ledger",
					       "with ledger" };

static struct execution x;
static void print_programs(void);
static char output[] = "/tmp/tare-cost.XXXXXX";
static char count_text[32];

static int run_once(enum mode mode, const char *name, int cpu, bool tell, struct result *o,
		    struct error *err)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	struct launch launch = { .as_root = true,
				 .iteration = -1,
				 .cpus = &set,
				 .output = OUTPUT_FILE,
				 .output_path = output };
	struct execute_options options = { .grace_ns = 1000000000 };
	struct collector *c = NULL;
	struct launcher *l = NULL;
	char *argv[] = { (char *)"/proc/self/exe", (char *)"work", (char *)name, count_text, NULL };
	int failed = collector_open(&c, mode == NOTHING ? BACKEND_PLAIN : BACKEND_BPF, err) ||
		     (mode == LEDGER && collector_keep_ledger(c, false, err)) ||
		     launcher_new(&l, &launch, err) ||
		     execute(c, l, &launch, argv, &options, &x, err);
	if (!failed) {
		char *text = file_read(output);
		unsigned long long ns, events;
		if (!text || sscanf(text, "%llu %llu", &ns, &events) != 2 || !events)
			failed = error_set(err, EXIT_SUBJECT, "the workload said nothing");
		else
			*o = (struct result){ ns, events };
		free(text);
	}
	if (!failed && tell)
		print_programs();
	launcher_free(l);
	collector_close(c);
	return failed;
}

static double describe(const char *what, double *values, size_t count)
{
	qsort(values, count, sizeof *values, by_value);
	double median = (values[(count - 1) / 2] + values[count / 2]) / 2;
	printf("  %s: %.1f ns [quartiles %.1f, %.1f] of %zu\n", what, median, values[count / 4],
	       values[count - 1 - count / 4], count);
	return median;
}

/* Times per event in the three modes, round after round, and their differences; the median cost of
 * the ledger. per: as many events of the kind in what the workload calls one. */
static int compare(const char *name, const char *what, size_t pairs, int cpu, double per,
		   double *cost, struct error *err)
{
	double *ns[MODES + 2];
	for (int i = 0; i < MODES + 2; i++)
		ns[i] = xcalloc(pairs, sizeof **ns);
	int failed = 0;
	for (size_t i = 0; i < pairs && !failed; i++) {
		/* each comes first in turn: what drifts does not favour one */
		for (int j = 0; j < MODES && !failed; j++) {
			enum mode mode = (enum mode)((i + (size_t)j) % MODES);
			struct result o = { 0, 1 };
			failed = run_once(mode, name, cpu, false, &o, err);
			ns[mode][i] = (double)o.ns / (double)o.events / per;
		}
		ns[MODES][i] = ns[LEDGER][i] - ns[NO_LEDGER][i];
		ns[MODES + 1][i] = ns[LEDGER][i] - ns[NOTHING][i];
	}
	if (!failed) {
		printf("%s\n", what);
		for (int i = 0; i < MODES; i++)
			describe(mode_names[i], ns[i], pairs);
		*cost = describe("the ledger's cost (with - without ledger)", ns[MODES], pairs);
		describe("all of tare's cost (with - nothing)", ns[MODES + 1], pairs);
		fflush(stdout);
	}
	for (int i = 0; i < MODES + 2; i++)
		xfree(ns[i]);
	return failed;
}

/* ---- the kernel's own statistics of each program ---- */

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof *attr);
}

static void print_program(uint32_t id)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr of = { .prog_id = id };
	long fd = bpf(BPF_PROG_GET_FD_BY_ID, &of);
	union bpf_attr get = { .info = { .bpf_fd = (uint32_t)fd,
					 .info_len = sizeof info,
					 .info = (uint64_t)(uintptr_t)&info } };
	if (fd >= 0 && bpf(BPF_OBJ_GET_INFO_BY_FD, &get) == 0 && info.run_cnt)
		printf("  %s: %llu runs, %.1f ns each\n", info.name,
		       (unsigned long long)info.run_cnt,
		       (double)info.run_time_ns / (double)info.run_cnt);
	if (fd >= 0)
		close((int)fd);
}

/* Programs that this process holds a link to, which are the attached ones. */
static void print_programs(void)
{
	DIR *fds = opendir("/proc/self/fdinfo");
	for (struct dirent *e; fds && (e = readdir(fds));) {
		char path[300];
		snprintf(path, sizeof path, "/proc/self/fdinfo/%s", e->d_name);
		char *text = e->d_name[0] != '.' ? file_read(path) : NULL;
		char *at = text && strstr(text, "link_id:") ? strstr(text, "prog_id:") : NULL;
		if (at)
			print_program((uint32_t)strtoul(at + strlen("prog_id:"), NULL, 10));
		free(text);
	}
	if (fds)
		closedir(fds);
}

/* The kernel times each run of a program by two looks at its clock, which are in the figures. */
static int ask_the_kernel(int cpu, struct error *err)
{
	static const char *const works[] = { "yield", "futex", "loopback", "clock" };
	union bpf_attr attr = { .enable_stats = { .type = BPF_STATS_RUN_TIME } };
	long stats = bpf(BPF_ENABLE_STATS, &attr);
	int failed = 0;
	for (size_t i = 0; stats >= 0 && i < sizeof works / sizeof *works && !failed; i++) {
		struct result r;
		printf("programs by the kernel's statistics, while the subject does '%s'\n",
		       works[i]);
		failed = run_once(LEDGER, works[i], cpu, true, &r, err);
	}
	if (stats >= 0)
		close((int)stats);
	return failed;
}

/* Additions that take SLICE_NS here, undisturbed. */
static uint64_t calibrate(void)
{
	uint64_t count = 10000000, best = UINT64_MAX;
	for (int i = 0; i < 5; i++) {
		uint64_t ns = add_up(count);
		best = ns < best ? ns : best;
	}
	return count * SLICE_NS / (best ? best : 1);
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	double yield, futex, softirq, irq;
	cpu_set_t allowed;
	int cpu = 0;
	if (argc > 3 && strcmp(argv[1], "work") == 0)
		return work(argv[2], argv[3]);
	long pairs = argc > 1 ? atol(argv[1]) : 31;
	int fd = mkstemp(output);
	if (pairs < 2 || fd < 0)
		return 2;
	close(fd);
	sched_getaffinity(0, sizeof allowed, &allowed);
	for (int i = 0; i < CPU_SETSIZE; i++)
		cpu = CPU_ISSET(i, &allowed) ? i : cpu;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	interrupt_watch();
	snprintf(count_text, sizeof count_text, "%llu", (unsigned long long)calibrate());
	int failed =
		compare("yield", "per sched_switch (two threads yielding on one CPU)",
			(size_t)pairs, cpu, 1, &yield, &err) ||
		compare("futex", "per switch and wake-up (two threads passing a futex on one CPU)",
			(size_t)pairs, cpu, 1, &futex, &err) ||
		compare("loopback",
			"per entry or exit of a soft interrupt (half a packet to itself)",
			(size_t)pairs, cpu, 2, &softirq, &err) ||
		compare("clock", "per entry or exit of a hard interrupt (half a timer interrupt)",
			(size_t)pairs, cpu, 2, &irq, &err) ||
		ask_the_kernel(cpu, &err);
	unlink(output);
	if (failed) {
		fprintf(stderr, "bench-ledger-cost: %s\n", err.text);
		return 1;
	}
	printf("the ledger costs %.0f ns per switch, %.0f ns per wake-up, %.0f ns per entry or exit of a soft, %.0f ns of a hard interrupt\n",
	       yield, futex - yield, softirq, irq);
	execution_release(&x);
	return 0;
}
