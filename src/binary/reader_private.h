/* The two sides of reader.h. */
#ifndef TARE_BINARY_READER_PRIVATE_H
#define TARE_BINARY_READER_PRIVATE_H

#include "binary/reader.h"
#include "binary/symbols_private.h"
#include "binary/wire.h"

enum message {
	/* to the reader */
	MESSAGE_FILL, /* an object and its locations */
	MESSAGE_CODE, /* an address and bytes */
	MESSAGE_FILE, /* a path, and perhaps a descriptor: the answer to MESSAGE_WANT */
	/* from it */
	MESSAGE_WANT, /* enum want, and which */
	MESSAGE_FILLED,
	MESSAGE_CODED,
};

/* The files that the reader may ask for. */
enum want {
	WANT_OBJECT, /* the one that it was sent */
	WANT_PATH,   /* debug information */
	WANT_SERVER, /* debug information of a build-id, from a server */
	WANT_JIT,    /* the map of the object's process */
	WANT_KALLSYMS,
	WANTS
};

/* What tests replace. */
struct reader_parts {
	void (*fill)(struct symbols *s, struct profile *p);
	uint64_t cpu_ns, wall_ns; /* the most that one object may take */
};
struct reader *reader_new_with(const struct symbols_options *options,
			       const struct reader_parts *parts);

/* ---- reader_child.c ---- */

/* Gives up its rights, then answers at this socket until the other end is closed. */
void reader_child(int socket, const struct symbols_options *options,
		  const struct reader_parts *parts) __attribute__((noreturn));

#endif
