/* What the ledger's programs cost per event on this machine: actions that cause events, in short
 * batches, in turn with the programs at work and idle; the median of the differences counts, so
 * that neither a disturbed batch nor a slow change of the machine's speed matters. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/ledger/ledger.h"

#define PAIRS 9
#define PER_BATCH 40

/* One batch of an action: its ns per action, negative when it did not work. */
typedef double (*batch_fn)(void *context);

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double added_ns(uint32_t *active, batch_fn batch, void *context)
{
	double difference[PAIRS];
	size_t n = 0;
	batch(context); /* warms up */
	for (int i = 0; i < PAIRS; i++) {
		__atomic_store_n(active, 0, __ATOMIC_SEQ_CST);
		double idle = batch(context);
		__atomic_store_n(active, 1, __ATOMIC_SEQ_CST);
		double working = batch(context);
		if (idle > 0 && working > 0)
			difference[n++] = working - idle;
	}
	if (n < PAIRS / 2)
		return 0;
	qsort(difference, n, sizeof *difference, by_value);
	double median = difference[n / 2];
	return median > 0 ? median : 0;
}

static long switches_so_far(void)
{
	struct rusage usage = { 0 };
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* Two processes on one CPU that pass it to each other; per switch. */
static double yield_batch(void *context)
{
	(void)context;
	long before = switches_so_far();
	uint64_t begin = clock_monotonic_ns();
	for (int i = 0; i < PER_BATCH; i++)
		sched_yield();
	double ns = (double)(clock_monotonic_ns() - begin);
	/* each switch away has one back */
	double switches = 2.0 * (double)(switches_so_far() - before);
	return switches > PER_BATCH ? ns / switches : -1;
}

static double yields(uint32_t *active)
{
	pid_t parent = getpid(), partner = fork();
	if (partner == 0) {
		while (getppid() == parent)
			for (int i = 0; i < 100; i++)
				sched_yield();
		_exit(0);
	}
	if (partner < 0)
		return 0;
	double ns = added_ns(active, yield_batch, NULL);
	kill(partner, SIGKILL);
	waitpid(partner, NULL, 0);
	return ns;
}

/* A byte goes out and one comes back. */
static double answer_batch(void *context)
{
	const int *ends = context;
	char byte = 0;
	uint64_t begin = clock_monotonic_ns();
	for (int i = 0; i < PER_BATCH; i++)
		if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
			return -1;
	return (double)(clock_monotonic_ns() - begin) / PER_BATCH;
}

/* A process that answers; per answer: two switches and two wake-ups. */
static double answers(uint32_t *active)
{
	int there[2], back[2];
	if (pipe(there) != 0)
		return 0;
	if (pipe(back) != 0) {
		close(there[0]);
		close(there[1]);
		return 0;
	}
	pid_t partner = fork();
	if (partner == 0) {
		char byte;
		close(there[1]);
		while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	close(there[0]);
	close(back[1]);
	int ends[] = { back[0], there[1] };
	double ns = partner > 0 ? added_ns(active, answer_batch, ends) : 0;
	close(there[1]);
	close(back[0]);
	if (partner > 0)
		waitpid(partner, NULL, 0);
	return ns;
}

/* To itself, over the loopback device, which delivers in a soft interrupt: two events a packet. */
static double packets(uint32_t *active)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), ends[] = { fd, fd };
	struct sockaddr_in self = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof self;
	bool works = fd >= 0 && bind(fd, (struct sockaddr *)&self, sizeof self) == 0 &&
		     getsockname(fd, (struct sockaddr *)&self, &length) == 0 &&
		     connect(fd, (struct sockaddr *)&self, sizeof self) == 0;
	double ns = works ? added_ns(active, answer_batch, ends) : 0;
	if (fd >= 0)
		close(fd);
	return ns;
}

void ledger_cost_measure(uint32_t *active, double event_ns[LEDGER_EVENTS])
{
	cpu_set_t one;
	int cpu = sched_getcpu();
	CPU_ZERO(&one);
	CPU_SET(cpu > 0 ? cpu : 0, &one);
	sched_setaffinity(0, sizeof one, &one);
	double one_switch = yields(active), answer = answers(active), packet = packets(active);
	/* where yielding does not switch, a wake-up is taken to cost as much as a switch */
	if (one_switch <= 0)
		one_switch = answer / 4;
	double two_wakeups = answer - 2 * one_switch;
	event_ns[LEDGER_SWITCHES] = one_switch;
	event_ns[LEDGER_WAKEUPS] = two_wakeups > 0 ? two_wakeups / 2 : 0;
	event_ns[LEDGER_INTERRUPTS] = packet > 0 ? packet / 2 : one_switch;
	event_ns[LEDGER_BLOCKS] = one_switch; /* about as much work, and rare */
}
