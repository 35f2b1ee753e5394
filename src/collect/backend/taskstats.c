#include "collect/backend/taskstats.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <limits.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"

enum {
	ANSWER_SIZE = 8192,
	ASKED_AT_ONCE = 32,  /* their answers fit the default receive buffer with room to spare */
	OLDEST_VERSION = 8,  /* Linux 2.6.32 */
	BROKEN_VERSION = 15, /* fields were put in the middle (6.14); 16 moved them to the end */
};

/* Decoding */

static void set(struct task_record *into, enum task_measure m, uint64_t value)
{
	into->value[m] = value;
	into->present |= UINT64_C(1) << m;
}

static void decode_measures(const struct taskstats *s, bool delays, struct taskstats_answer *into)
{
	struct task_record *t = &into->task;
	set(t, TASK_EXEC, s->cpu_run_virtual_total);
	set(t, TASK_USER, s->ac_utime * 1000);
	set(t, TASK_SYSTEM, s->ac_stime * 1000);
	set(t, TASK_RUN_DELAY, s->cpu_delay_total);
	/* with delayed dequeue the kernel sometimes takes the uptime for a delay: more than the
	 * task's life cannot be */
	if (delays && s->blkio_delay_total <= into->lived_ns)
		set(t, TASK_BLKIO_DELAY, s->blkio_delay_total);
	set(t, TASK_MIN_FLT, s->ac_minflt);
	set(t, TASK_MAJ_FLT, s->ac_majflt);
	set(t, TASK_NVCSW, s->nvcsw);
	set(t, TASK_NIVCSW, s->nivcsw);
	set(t, TASK_RCHAR, s->read_char);
	set(t, TASK_WCHAR, s->write_char);
	/* the kernel rounds its counts of calls down to multiples of 1024 (xacct_add_tsk), as if
	 * they were bytes: a program of a hundred reads would have made none, so they are not taken
	 * at all */
	set(t, TASK_READ_BYTES, s->read_bytes);
	set(t, TASK_WRITE_BYTES, s->write_bytes);
	set(t, TASK_CANCELLED_WRITE_BYTES, s->cancelled_write_bytes);
	if (s->hiwater_rss)
		set(t, TASK_RSS_PEAK, s->hiwater_rss * 1024);
}

bool taskstats_decode(const void *bytes, size_t length, bool delays, struct taskstats_answer *into)
{
	/* the kernel's struct may be shorter or longer than the one known here: it grows at its end
	 */
	struct taskstats s = { 0 };
	if (length < offsetof(struct taskstats, thrashing_count))
		return false;
	memcpy(&s, bytes, length < sizeof s ? length : sizeof s);
	if (s.version < OLDEST_VERSION || s.version == BROKEN_VERSION)
		return false;
	memset(into, 0, sizeof *into);
	struct task_record *t = &into->task;
	t->tid = (int32_t)s.ac_pid;
	t->ppid = (int32_t)s.ac_ppid;
	if (s.version >= 12 && length >= offsetof(struct taskstats, ac_tgetime))
		t->tgid = (int32_t)s.ac_tgid;
	if (t->tgid == t->tid)
		t->flags |= TASK_IS_LEADER;
	memcpy(t->comm, s.ac_comm, sizeof t->comm - 1);
	into->lived_ns = s.ac_etime * 1000;
	decode_measures(&s, delays, into);
	return true;
}

/* The first attribute of that type among `length` bytes of them; NULL: none. */
static const struct nlattr *find_attribute(const void *payload, size_t length, uint16_t type)
{
	const struct nlattr *a = payload;
	for (int left = (int)length; mnl_attr_ok(a, left); a = mnl_attr_next(a)) {
		if (mnl_attr_get_type(a) == type)
			return a;
		left -= (int)MNL_ALIGN(a->nla_len);
	}
	return NULL;
}

static const struct nlattr *attribute_in(const struct nlmsghdr *message, uint16_t type)
{
	size_t length = mnl_nlmsg_get_payload_len(message);
	/* libmnl takes a length beyond INT_MAX for a negative one, which fits everywhere */
	if (length < sizeof(struct genlmsghdr) || message->nlmsg_len > INT_MAX)
		return NULL;
	return find_attribute(mnl_nlmsg_get_payload_offset(message, sizeof(struct genlmsghdr)),
			      length - sizeof(struct genlmsghdr), type);
}

/* The message is { AGGR_PID { PID, STATS } }, and for the last thread of several also AGGR_TGID,
 * whose sums tare makes itself. */
static const struct nlattr *stats_in(const struct nlmsghdr *message)
{
	const struct nlattr *outer = attribute_in(message, TASKSTATS_TYPE_AGGR_PID);
	return outer ? find_attribute(mnl_attr_get_payload(outer), mnl_attr_get_payload_len(outer),
				      TASKSTATS_TYPE_STATS)
		     : NULL;
}

bool taskstats_parse(const struct nlmsghdr *message, bool delays, struct taskstats_answer *into)
{
	const struct nlattr *stats = stats_in(message);
	if (!stats || !taskstats_decode(mnl_attr_get_payload(stats),
					mnl_attr_get_payload_len(stats), delays, into))
		return false;
	into->sequence = message->nlmsg_seq;
	return true;
}

/* The link */

static struct nlmsghdr *message_put(void *at, uint16_t type, uint16_t flags, uint32_t sequence,
				    uint8_t command)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(at);
	message->nlmsg_type = type;
	message->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	message->nlmsg_seq = sequence;
	struct genlmsghdr *head = mnl_nlmsg_put_extra_header(message, sizeof *head);
	head->cmd = command;
	head->version = 1;
	return message;
}

/* Bytes of one answer; -1 with errno. ENOBUFS is counted, and the next one read. */
static ssize_t receive_one(struct taskstats_link *link, void *buffer)
{
	for (;;) {
		ssize_t got =
			recv(mnl_socket_get_fd(link->socket), buffer, ANSWER_SIZE, MSG_DONTWAIT);
		if (got >= 0 || (errno != ENOBUFS && errno != EINTR))
			return got;
		if (errno == ENOBUFS)
			link->overruns++;
	}
}

/* Sends and waits for the first answer: the errno it holds, or 0 with the message in buffer. */
static int ask_once(struct taskstats_link *link, const struct nlmsghdr *question, char *buffer)
{
	if (mnl_socket_sendto(link->socket, question, question->nlmsg_len) < 0)
		return errno;
	struct pollfd poll_for = { mnl_socket_get_fd(link->socket), POLLIN, 0 };
	if (poll(&poll_for, 1, 1000) != 1)
		return ETIMEDOUT;
	ssize_t got = receive_one(link, buffer);
	if (got < 0)
		return errno;
	const struct nlmsghdr *answer = (const void *)buffer;
	if (!mnl_nlmsg_ok(answer, (int)got))
		return EBADMSG;
	if (answer->nlmsg_type != NLMSG_ERROR)
		return 0;
	if (mnl_nlmsg_get_payload_len(answer) < sizeof(struct nlmsgerr))
		return EBADMSG;
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(answer);
	return -e->error;
}

static int find_family(struct taskstats_link *link)
{
	_Alignas(struct nlmsghdr) char buffer[ANSWER_SIZE];
	struct nlmsghdr *question = message_put(buffer, GENL_ID_CTRL, 0, 1, CTRL_CMD_GETFAMILY);
	mnl_attr_put_strz(question, CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME);
	int failed = ask_once(link, question, buffer);
	if (failed)
		return failed;
	const struct nlattr *id = attribute_in((const void *)buffer, CTRL_ATTR_FAMILY_ID);
	if (!id || mnl_attr_validate(id, MNL_TYPE_U16) < 0)
		return EBADMSG;
	link->family = mnl_attr_get_u16(id);
	return 0;
}

/* The version of struct taskstats that this kernel speaks; 0 when it does not answer. */
static unsigned taskstats_version(struct taskstats_link *link)
{
	_Alignas(struct nlmsghdr) char buffer[ANSWER_SIZE];
	struct nlmsghdr *question = message_put(buffer, link->family, 0, 1, TASKSTATS_CMD_GET);
	mnl_attr_put_u32(question, TASKSTATS_CMD_ATTR_PID, (uint32_t)getpid());
	if (ask_once(link, question, buffer) != 0)
		return 0;
	const struct nlattr *stats = stats_in((const void *)buffer);
	uint16_t version = 0;
	if (stats && mnl_attr_get_payload_len(stats) >= sizeof version)
		memcpy(&version, mnl_attr_get_payload(stats), sizeof version);
	return version;
}

static int refused(struct error *err, const char *what, int number)
{
	error_set(err, EXIT_ENVIRONMENT, "cannot %s: %s", what, strerror(number));
	switch (number) {
	case EPERM:
	case EACCES:
		return error_hint(err, "run as root or with CAP_NET_ADMIN");
	case ENOENT:
		return error_hint(err, "this kernel is built without CONFIG_TASKSTATS");
	case EINVAL:
		return error_hint(err, "taskstats is not to be had in a container");
	}
	return -1;
}

int taskstats_open(struct taskstats_link *link, struct error *err)
{
	*link = (struct taskstats_link){ 0 };
	link->socket = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!link->socket || mnl_socket_bind(link->socket, 0, MNL_SOCKET_AUTOPID) < 0) {
		refused(err, "open a generic netlink socket", errno);
		taskstats_close(link);
		return -1;
	}
	int failed = find_family(link);
	if (failed) {
		refused(err, "find the kernel's taskstats", failed);
		taskstats_close(link);
		return -1;
	}
	unsigned version = taskstats_version(link);
	if (version == BROKEN_VERSION || (version && version < OLDEST_VERSION)) {
		error_set(err, EXIT_ENVIRONMENT,
			  "taskstats version %u of this kernel has an unusable layout", version);
		error_hint(err, "use the bpf back end or Linux 6.16 or later");
		taskstats_close(link);
		return -1;
	}
	return 0;
}

int taskstats_listen(struct taskstats_link *link, struct error *err)
{
	FREED char *cpus = file_read_line("/sys/devices/system/cpu/possible");
	if (!cpus)
		return error_errno(err, EXIT_ENVIRONMENT,
				   "cannot read /sys/devices/system/cpu/possible");
	_Alignas(struct nlmsghdr) char buffer[ANSWER_SIZE];
	struct nlmsghdr *question =
		message_put(buffer, link->family, NLM_F_ACK, 1, TASKSTATS_CMD_GET);
	bool fits = mnl_attr_put_strz_check(question, sizeof buffer,
					    TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, cpus);
	int failed = fits ? ask_once(link, question, buffer) : E2BIG;
	return failed ? refused(err, "listen to the exits of tasks", failed) : 0;
}

void taskstats_close(struct taskstats_link *link)
{
	/* the kernel drops a listener whose socket is gone */
	if (link->socket)
		mnl_socket_close(link->socket);
	link->socket = NULL;
}

size_t taskstats_receive(struct taskstats_link *link, bool delays, taskstats_taker *take,
			 void *context)
{
	_Alignas(struct nlmsghdr) char buffer[ANSWER_SIZE];
	size_t messages = 0;
	for (ssize_t got; (got = receive_one(link, buffer)) > 0;) {
		int left = (int)got;
		for (const struct nlmsghdr *m = (const void *)buffer; mnl_nlmsg_ok(m, left);
		     m = mnl_nlmsg_next(m, &left)) {
			struct taskstats_answer answer;
			messages++;
			if (m->nlmsg_type == link->family && taskstats_parse(m, delays, &answer))
				take(context, &answer);
		}
	}
	return messages;
}

void taskstats_ask(struct taskstats_link *link, const struct task_record *tasks, size_t count,
		   bool delays, taskstats_taker *take, void *context)
{
	_Alignas(struct nlmsghdr) char buffer[ASKED_AT_ONCE * 32];
	for (size_t i = 0; i < count;) {
		size_t used = 0;
		for (int asked = 0; asked < ASKED_AT_ONCE && i < count; asked++, i++) {
			struct nlmsghdr *question = message_put(buffer + used, link->family, 0,
								(uint32_t)i + 1, TASKSTATS_CMD_GET);
			mnl_attr_put_u32(question, TASKSTATS_CMD_ATTR_PID, (uint32_t)tasks[i].tid);
			used += MNL_ALIGN(question->nlmsg_len);
		}
		/* the kernel answers while it takes the questions */
		if (mnl_socket_sendto(link->socket, buffer, used) > 0)
			taskstats_receive(link, delays, take, context);
	}
}
