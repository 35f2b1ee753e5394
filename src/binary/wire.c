#include "binary/wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"

#define WAIT_MS 20
#define ABSENT UINT64_MAX /* the length of a text that is NULL */

void wire_put(struct strbuf *to, uint64_t value)
{
	strbuf_add(to, (const char *)&value, sizeof value);
}

void wire_put_bytes(struct strbuf *to, const void *bytes, size_t size)
{
	wire_put(to, size);
	strbuf_add(to, bytes, size);
}

void wire_put_text(struct strbuf *to, const char *text)
{
	if (text)
		wire_put_bytes(to, text, strlen(text) + 1);
	else
		wire_put(to, ABSENT);
}

struct wire_in wire_read(const struct strbuf *message)
{
	const uint8_t *begin = (const uint8_t *)message->text;
	return (struct wire_in){ .at = begin, .end = begin + message->length };
}

static const uint8_t *take(struct wire_in *in, uint64_t size)
{
	const uint8_t *at = in->at;
	if (in->bad || size > (uint64_t)(in->end - in->at)) {
		in->bad = true;
		return NULL;
	}
	in->at += size;
	return at;
}

uint64_t wire_get(struct wire_in *in)
{
	uint64_t value = 0;
	const uint8_t *at = take(in, sizeof value);
	if (at)
		memcpy(&value, at, sizeof value);
	return value;
}

uint64_t wire_get_below(struct wire_in *in, uint64_t limit)
{
	uint64_t value = wire_get(in);
	if (value < limit)
		return value;
	in->bad = true;
	return 0;
}

const uint8_t *wire_get_bytes(struct wire_in *in, size_t *size, size_t most)
{
	*size = wire_get_below(in, most + 1);
	const uint8_t *at = take(in, *size);
	if (!at)
		*size = 0;
	return at;
}

const char *wire_get_text(struct wire_in *in)
{
	uint64_t size = wire_get(in);
	if (size == ABSENT)
		return NULL;
	const uint8_t *at = take(in, size);
	if (at && size && memchr(at, '\0', size) == at + size - 1)
		return (const char *)at;
	in->bad = true;
	return NULL;
}

/* ---- sending and receiving ---- */

struct header {
	uint32_t kind;
	uint32_t length;
};

static bool ready(int socket, short events, const struct wire_patience *patience)
{
	for (;;) {
		struct pollfd p = { .fd = socket, .events = events };
		int n = poll(&p, 1, patience ? WAIT_MS : -1);
		if (n > 0)
			return true;
		if (n < 0 && errno != EINTR)
			return false;
		if (patience && !patience->wait(patience->context))
			return false;
	}
}

/* The whole of size bytes; a descriptor goes with the first. */
static bool transfer(int socket, bool out, void *bytes, size_t size, int *fd,
		     const struct wire_patience *patience)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	for (size_t done = 0; done < size;) {
		struct iovec part = { (char *)bytes + done, size - done };
		struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
		if (fd && done == 0 && (!out || *fd >= 0)) {
			memset(&control, 0, sizeof control);
			m.msg_control = &control;
			m.msg_controllen = sizeof control;
			control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
							   .cmsg_level = SOL_SOCKET,
							   .cmsg_type = SCM_RIGHTS };
			if (out)
				memcpy(CMSG_DATA(&control.header), fd, sizeof *fd);
		}
		ssize_t n = out ? sendmsg(socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT)
				: recvmsg(socket, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
			if (!ready(socket, out ? POLLOUT : POLLIN, patience))
				return false;
			continue;
		}
		if (n <= 0)
			return false;
		const struct cmsghdr *came = out || !fd ? NULL : CMSG_FIRSTHDR(&m);
		if (came && came->cmsg_type == SCM_RIGHTS &&
		    came->cmsg_len == CMSG_LEN(sizeof(int)))
			memcpy(fd, CMSG_DATA(came), sizeof *fd);
		done += (size_t)n;
	}
	return true;
}

bool wire_send(int socket, uint32_t kind, const struct strbuf *message, int fd,
	       const struct wire_patience *patience)
{
	struct header h = { kind, (uint32_t)message->length };
	return message->length <= WIRE_MOST &&
	       transfer(socket, true, &h, sizeof h, &fd, patience) &&
	       transfer(socket, true, message->text, message->length, NULL, patience);
}

bool wire_receive(int socket, uint32_t *kind, struct strbuf *message, int *fd,
		  const struct wire_patience *patience)
{
	struct header h;
	if (fd)
		*fd = -1;
	strbuf_clear(message);
	if (!transfer(socket, false, &h, sizeof h, fd, patience) || h.length > WIRE_MOST)
		return false;
	/* grows with what comes, so that a length alone costs nothing */
	char part[65536];
	while (message->length < h.length) {
		size_t left = h.length - message->length;
		size_t n = left < sizeof part ? left : sizeof part;
		if (!transfer(socket, false, part, n, NULL, patience))
			return false;
		strbuf_add(message, part, n);
	}
	*kind = h.kind;
	return true;
}
