/* What the ledger's programs cost per event on this machine, from actions with and without them.
 * Batches are short and the fastest counts: what disturbs one of them only makes it slower. */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/ledger.h"

#define BATCHES 12
#define PER_BATCH 150

static long switches_so_far(void)
{
	struct rusage usage = { 0 };
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* Two processes on one CPU that pass it to each other. */
static double time_yields(void)
{
	pid_t partner = fork();
	if (partner < 0)
		return 0;
	if (partner == 0) {
		pid_t parent = getppid();
		while (getppid() == parent)
			for (int i = 0; i < 100; i++)
				sched_yield();
		_exit(0);
	}
	double best = INFINITY;
	for (int b = 0; b < BATCHES; b++) {
		long before = switches_so_far();
		uint64_t begin = clock_monotonic_ns();
		for (int i = 0; i < PER_BATCH; i++)
			sched_yield();
		double ns = (double)(clock_monotonic_ns() - begin);
		/* each switch away has one back */
		double switches = 2.0 * (double)(switches_so_far() - before);
		if (switches > PER_BATCH && ns / switches < best)
			best = ns / switches;
	}
	kill(partner, SIGKILL);
	waitpid(partner, NULL, 0);
	return isinf(best) ? 0 : best;
}

static double time_answers(void)
{
	int there[2], back[2];
	if (pipe(there) != 0)
		return 0;
	if (pipe(back) != 0) {
		close(there[0]);
		close(there[1]);
		return 0;
	}
	char byte = 0;
	pid_t partner = fork();
	if (partner == 0) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	close(there[0]);
	close(back[1]);
	double best = INFINITY;
	bool works = partner > 0;
	for (int b = 0; b < BATCHES && works; b++) {
		uint64_t begin = clock_monotonic_ns();
		for (int i = 0; i < PER_BATCH && works; i++)
			works = write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1;
		double ns = (double)(clock_monotonic_ns() - begin) / PER_BATCH;
		if (ns < best)
			best = ns;
	}
	close(there[1]);
	close(back[0]);
	if (partner > 0)
		waitpid(partner, NULL, 0);
	return works && !isinf(best) ? best : 0;
}

/* To itself, over the loopback device, which delivers in a soft interrupt. */
static double time_packets(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in self = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof self;
	bool works = fd >= 0 && bind(fd, (struct sockaddr *)&self, sizeof self) == 0 &&
		     getsockname(fd, (struct sockaddr *)&self, &length) == 0 &&
		     connect(fd, (struct sockaddr *)&self, sizeof self) == 0;
	double best = INFINITY;
	char byte = 0;
	for (int b = 0; b < BATCHES && works; b++) {
		uint64_t begin = clock_monotonic_ns();
		for (int i = 0; i < PER_BATCH && works; i++)
			works = send(fd, &byte, 1, MSG_DONTWAIT) == 1 &&
				recv(fd, &byte, 1, MSG_DONTWAIT) == 1;
		double ns = (double)(clock_monotonic_ns() - begin) / PER_BATCH;
		if (ns < best)
			best = ns;
	}
	if (fd >= 0)
		close(fd);
	return works && !isinf(best) ? best : 0;
}

void ledger_act(struct ledger_actions *out)
{
	cpu_set_t one;
	int cpu = sched_getcpu();
	CPU_ZERO(&one);
	CPU_SET(cpu > 0 ? cpu : 0, &one);
	sched_setaffinity(0, sizeof one, &one);
	out->yield = time_yields();
	out->answer = time_answers();
	out->packet = time_packets();
}

static double added(double without, double with)
{
	return without > 0 && with > without ? with - without : 0;
}

void ledger_cost(const struct ledger_actions *without, const struct ledger_actions *with,
		 double event_ns[LEDGER_EVENTS])
{
	double one_switch = added(without->yield, with->yield);
	double answer = added(without->answer, with->answer);
	/* where yielding does not switch, a wake-up is taken to cost as much as a switch */
	if (one_switch <= 0)
		one_switch = answer / 4;
	double two_wakeups = answer - 2 * one_switch;
	event_ns[LEDGER_SWITCHES] = one_switch;
	event_ns[LEDGER_WAKEUPS] = two_wakeups > 0 ? two_wakeups / 2 : 0;
	event_ns[LEDGER_INTERRUPTS] =
		without->packet > 0 && with->packet > 0 ? added(without->packet, with->packet) / 2
							: one_switch;
	event_ns[LEDGER_BLOCKS] = one_switch; /* about as much work; too rare to matter */
}
