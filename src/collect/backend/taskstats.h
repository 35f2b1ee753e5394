/* The kernel's taskstats interface (generic netlink): what a task used, on request or at its exit.
 * Needs CAP_NET_ADMIN in the initial user and pid namespaces. Private to collect/.
 *
 * TASK_USER and TASK_SYSTEM from here are the raw ticks. */
#ifndef TARE_COLLECT_BACKEND_TASKSTATS_H
#define TARE_COLLECT_BACKEND_TASKSTATS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "record/task.h"

struct mnl_socket;
struct nlmsghdr;

struct taskstats_link {
	struct mnl_socket *socket;
	uint16_t family;
	uint64_t overruns; /* times the kernel found the receive buffer full */
};

/* The socket is non-blocking. */
int taskstats_open(struct taskstats_link *link, struct error *err);
/* From now on the link receives every exit on any CPU. */
int taskstats_listen(struct taskstats_link *link, struct error *err);
void taskstats_close(struct taskstats_link *link);

/* One task from a message. It sets present, value, tid, tgid (0: this kernel does not say), ppid,
 * comm, policy, prio (-1 for a real-time task: unknown) and exit_code. */
struct taskstats_answer {
	struct task_record task;
	uint64_t lived_ns;
	uint32_t sequence; /* of the request; 0: an exit */
};

/* Calls take for every message that has arrived, without waiting. Returns how many there were. */
typedef void taskstats_taker(void *context, struct taskstats_answer *answer);
size_t taskstats_receive(struct taskstats_link *link, bool delays, taskstats_taker *take,
			 void *context);

/* Asks about `count` tasks. take sees those that exist; sequence is the index from 1. */
void taskstats_ask(struct taskstats_link *link, const struct task_record *tasks, size_t count,
		   bool delays, taskstats_taker *take, void *context);

/* Parses a message whose outer length was checked, or a struct taskstats of any length. delays: the
 * kernel keeps block-I/O delays. False: not understood. */
bool taskstats_parse(const struct nlmsghdr *message, bool delays, struct taskstats_answer *into);
bool taskstats_decode(const void *bytes, size_t length, bool delays, struct taskstats_answer *into);

#endif
