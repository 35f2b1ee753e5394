/* The kernel's process connector: forks, execs and exits as they happen, with their time. Needs
 * CAP_NET_ADMIN in the initial namespaces and CONFIG_PROC_EVENTS. Private to collect/. */
#ifndef TARE_COLLECT_BACKEND_CONNECTOR_H
#define TARE_COLLECT_BACKEND_CONNECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

struct mnl_socket;

struct connector {
	struct mnl_socket *socket; /* NULL: not open */
	uint64_t overruns;	   /* times the kernel found the receive buffer full */
	uint64_t missed;	   /* gaps in the kernel's numbering */
	ARRAY(uint32_t) expected;  /* per CPU, the next number; 0: unknown */
};

enum connector_kind { CONNECTOR_FORK, CONNECTOR_EXEC, CONNECTOR_EXIT };

struct connector_event {
	enum connector_kind kind;
	uint64_t at_ns;	   /* CLOCK_MONOTONIC */
	int32_t tid, tgid; /* of a fork: the child */
	int32_t parent;	   /* tgid; of a new thread: its process's parent */
};

/* The socket is non-blocking. */
int connector_open(struct connector *c, struct error *err);
void connector_close(struct connector *c);

typedef void connector_taker(void *context, const struct connector_event *event);
/* Calls take for every event that has arrived, without waiting. Returns the number of messages. */
size_t connector_receive(struct connector *c, connector_taker *take, void *context);

/* Counts losses from now on, but not earlier gaps, which show at the next event of their CPU. */
void connector_reset(struct connector *c);

/* At least this many events were lost since connector_reset(). */
uint64_t connector_lost(const struct connector *c);

#endif
