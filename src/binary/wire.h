/* Messages between tare and the process that reads program files for it. Private to binary/.
 * Whatever comes from that process may be wrong: nothing is believed that was not checked. */
#ifndef TARE_BINARY_WIRE_H
#define TARE_BINARY_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* What is written into a message. */
void wire_put(struct strbuf *to, uint64_t value);
void wire_put_bytes(struct strbuf *to, const void *bytes, size_t size);
void wire_put_text(struct strbuf *to, const char *text); /* NULL stays NULL */

/* A message that is read from its begin. Past its end, or after anything that does not fit, all
 * values are 0, empty or NULL, and bad is set. */
struct wire_in {
	const uint8_t *at, *end;
	bool bad;
};
struct wire_in wire_read(const struct strbuf *message);
uint64_t wire_get(struct wire_in *in);
uint64_t wire_get_below(struct wire_in *in, uint64_t limit); /* bad, if it is not below */
const uint8_t *wire_get_bytes(struct wire_in *in, size_t *size, size_t most);
const char *wire_get_text(struct wire_in *in); /* within the message */

#define WIRE_MOST (UINT64_C(256) << 20) /* bytes of a message */

/* Called every 20 ms while one waits for the other; false: give up. */
struct wire_patience {
	bool (*wait)(void *context);
	void *context;
};
/* fd: a descriptor to go along, or -1. patience: NULL waits for ever. False: the other is gone, or
 * patience was at its end. */
bool wire_send(int socket, uint32_t kind, const struct strbuf *message, int fd,
	       const struct wire_patience *patience);
/* fd: where to put a descriptor that came along, or -1; NULL: none is taken. */
bool wire_receive(int socket, uint32_t *kind, struct strbuf *message, int *fd,
		  const struct wire_patience *patience);

#endif
