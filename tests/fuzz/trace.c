/* A stored trace is read back from a file that anyone may have changed. The first bytes of the
 * input say how many events and names to expect, and whether to decode the rest as it is, to damage
 * a true trace with it, or to code it as events and names, which must then come back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "lab/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode(const void *bytes, size_t length, size_t events, size_t names)
{
	struct trace into = { 0 };
	struct error err = ERROR_INIT;
	/* exactly as long as it says */
	void *copy = xmalloc(length);
	if (length)
		memcpy(copy, bytes, length);
	if (trace_decode(copy, length, events, names, &into, &err) == 0) {
		if (!into.present || into.events.count != events || into.names.count != names)
			abort();
	} else if (!*err.text || into.present || into.events.items || into.names.items) {
		abort();
	}
	trace_release(&into);
	free(copy);
}

static void make(struct trace *t, const uint8_t *data, size_t size, size_t names)
{
	for (; size >= sizeof(struct trace_event); size -= sizeof(struct trace_event)) {
		struct trace_event e;
		memcpy(&e, data, sizeof e);
		array_push(&t->events, e);
		data += sizeof e;
	}
	for (size_t i = 0; i < names; i++) {
		struct trace_name n = { .cause = (uint32_t)i % LEDGER_CAUSES };
		memcpy(n.name, data, size < sizeof n.name ? size : sizeof n.name - 1);
		array_push(&t->names, n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3)
		return 0;
	size_t events = data[0], names = data[1];
	uint8_t how = data[2];
	data += 3;
	size -= 3;
	if (how < 64) {
		decode(data, size, events, names);
		return 0;
	}
	struct trace t = { 0 }, back = { 0 };
	void *bytes;
	size_t length;
	make(&t, data, size, names);
	if (trace_encode(&t, &bytes, &length, NULL))
		abort();
	if (how < 160) {
		for (size_t i = 0; i + 1 < size && i < 8; i += 2)
			((uint8_t *)bytes)[data[i] % length] ^= data[i + 1];
		decode(bytes, how & 1 ? length : how % length, t.events.count, names);
	} else if (trace_decode(bytes, length, t.events.count, names, &back, NULL) ||
		   (t.events.count && memcmp(back.events.items, t.events.items,
					     t.events.count * sizeof *t.events.items) != 0) ||
		   (names &&
		    memcmp(back.names.items, t.names.items, names * sizeof *t.names.items) != 0)) {
		abort();
	}
	free(bytes);
	trace_release(&t);
	trace_release(&back);
	return 0;
}
