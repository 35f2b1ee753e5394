#include "collect/backend/connector.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	MESSAGE_SIZE = 4096,
	OUR_MARK = 0x7a4e,
	PATIENCE_MS = 200,
	CPUS_AT_MOST = 1 << 16,
};

static int send_operation(struct connector *c, enum proc_cn_mcast_op operation)
{
	_Alignas(struct nlmsghdr) char buffer[256] = { 0 };
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = NLMSG_DONE;
	struct cn_msg *cn = mnl_nlmsg_put_extra_header(message, sizeof *cn + sizeof operation);
	cn->id.idx = CN_IDX_PROC;
	cn->id.val = CN_VAL_PROC;
	cn->ack = OUR_MARK; /* the answer has one more */
	cn->len = sizeof operation;
	memcpy(cn->data, &operation, sizeof operation);
	return mnl_socket_sendto(c->socket, message, message->nlmsg_len) < 0 ? -1 : 0;
}

static ssize_t receive_one(struct connector *c, void *buffer)
{
	for (;;) {
		ssize_t got =
			recv(mnl_socket_get_fd(c->socket), buffer, MESSAGE_SIZE, MSG_DONTWAIT);
		if (got >= 0 || (errno != ENOBUFS && errno != EINTR))
			return got;
		if (errno == ENOBUFS)
			c->overruns++;
	}
}

/* The event in a message; false when it is none. Old kernels send a shorter one than this header
 * knows, new ones a longer. */
static bool event_in(const struct nlmsghdr *message, struct cn_msg *cn, struct proc_event *event)
{
	size_t length = mnl_nlmsg_get_payload_len(message);
	const char *payload = mnl_nlmsg_get_payload(message);
	if (message->nlmsg_type != NLMSG_DONE || length < sizeof *cn)
		return false;
	memcpy(cn, payload, sizeof *cn);
	length -= sizeof *cn;
	if (cn->id.idx != CN_IDX_PROC || cn->id.val != CN_VAL_PROC)
		return false;
	if (length > cn->len)
		length = cn->len;
	if (length < offsetof(struct proc_event, event_data) + sizeof event->event_data.fork)
		return false;
	memset(event, 0, sizeof *event);
	memcpy(event, payload + sizeof *cn, length < sizeof *event ? length : sizeof *event);
	return true;
}

/* Every CPU numbers its events: a gap is a loss, and says how much was lost. */
static void check_number(struct connector *c, const struct proc_event *event, uint32_t number)
{
	uint32_t cpu = event->cpu;
	if (cpu >= CPUS_AT_MOST)
		return;
	while (c->expected.count <= cpu)
		array_push(&c->expected, 0);
	uint32_t *expected = &c->expected.items[cpu];
	/* answers to listeners are numbered too, but not by older kernels */
	if (event->what == PROC_EVENT_NONE && number != *expected)
		return;
	if (*expected && number != *expected)
		c->missed += (uint32_t)(number - *expected);
	*expected = number + 1;
}

static bool understand(const struct proc_event *event, struct connector_event *into)
{
	into->at_ns = event->timestamp_ns;
	into->parent = 0;
	switch (event->what) {
	case PROC_EVENT_FORK:
		into->kind = CONNECTOR_FORK;
		into->tid = event->event_data.fork.child_pid;
		into->tgid = event->event_data.fork.child_tgid;
		into->parent = event->event_data.fork.parent_tgid;
		return true;
	case PROC_EVENT_EXEC:
		into->kind = CONNECTOR_EXEC;
		into->tid = event->event_data.exec.process_pid;
		into->tgid = event->event_data.exec.process_tgid;
		return true;
	case PROC_EVENT_EXIT:
		into->kind = CONNECTOR_EXIT;
		into->tid = event->event_data.exit.process_pid;
		into->tgid = event->event_data.exit.process_tgid;
		return true;
	default:
		return false;
	}
}

size_t connector_receive(struct connector *c, connector_taker *take, void *context)
{
	_Alignas(struct nlmsghdr) char buffer[MESSAGE_SIZE];
	size_t messages = 0;
	for (ssize_t got; c->socket && (got = receive_one(c, buffer)) > 0;) {
		int left = (int)got;
		for (const struct nlmsghdr *m = (const void *)buffer; mnl_nlmsg_ok(m, left);
		     m = mnl_nlmsg_next(m, &left)) {
			struct cn_msg cn;
			struct proc_event event;
			struct connector_event understood;
			messages++;
			if (!event_in(m, &cn, &event))
				continue;
			check_number(c, &event, cn.seq);
			if (understand(&event, &understood))
				take(context, &understood);
		}
	}
	return messages;
}

/* The kernel is silent towards those it does not serve, so that only its answer proves anything. */
static int await_answer(struct connector *c)
{
	_Alignas(struct nlmsghdr) char buffer[MESSAGE_SIZE];
	uint64_t until = clock_monotonic_ns() + PATIENCE_MS * UINT64_C(1000000);
	while (clock_monotonic_ns() < until) {
		struct pollfd wait = { mnl_socket_get_fd(c->socket), POLLIN, 0 };
		poll(&wait, 1, 10);
		for (ssize_t got; (got = receive_one(c, buffer)) > 0;) {
			const struct nlmsghdr *m = (const void *)buffer;
			struct cn_msg cn;
			struct proc_event event;
			if (mnl_nlmsg_ok(m, (int)got) && event_in(m, &cn, &event) &&
			    event.what == PROC_EVENT_NONE && cn.ack == OUR_MARK + 1)
				return (int)event.event_data.ack.err;
		}
	}
	return ETIMEDOUT;
}

int connector_open(struct connector *c, struct error *err)
{
	*c = (struct connector){ 0 };
	int failed = 0;
	c->socket = mnl_socket_open2(NETLINK_CONNECTOR, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!c->socket || mnl_socket_bind(c->socket, CN_IDX_PROC, MNL_SOCKET_AUTOPID) < 0 ||
	    send_operation(c, PROC_CN_MCAST_LISTEN) != 0)
		failed = errno;
	else
		failed = await_answer(c);
	if (!failed)
		return 0;
	connector_close(c);
	return error_set(err, EXIT_ENVIRONMENT, "cannot listen to the process connector: %s",
			 strerror(failed));
}

void connector_close(struct connector *c)
{
	if (c->socket) {
		/* kernels before 6.6 go on making events for listeners that only close */
		send_operation(c, PROC_CN_MCAST_IGNORE);
		mnl_socket_close(c->socket);
	}
	array_release(&c->expected);
	*c = (struct connector){ 0 };
}

void connector_reset(struct connector *c)
{
	c->overruns = c->missed = 0;
	for (size_t i = 0; i < c->expected.count; i++)
		c->expected.items[i] = 0;
}

uint64_t connector_lost(const struct connector *c)
{
	return c->missed > c->overruns ? c->missed : c->overruns;
}
