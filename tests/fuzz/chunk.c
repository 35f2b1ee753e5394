/* Stored bursts are read back from a file that anyone may have changed. The first bytes of the
 * input say how many processes and bursts to expect, and whether to decode the rest as it is, to
 * damage a true chunk with it, or to code it as bursts, which must then come back. The checksum is
 * made good each time: what it would refuse is nothing to look at. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lab/chunk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sum(unsigned char *bytes, size_t length)
{
	uint32_t sum = chunk_checksum(bytes + CHUNK_HEADER, length - CHUNK_HEADER);
	memcpy(bytes + CHUNK_CHECKSUM_AT, &sum, sizeof sum);
	*bytes = 1;
}

/* What is decoded could have been stored. */
static void decode(const void *bytes, size_t length, size_t processes, size_t bursts)
{
	struct bursts into = { .begin_ns = 1000, .cpus = 2 };
	struct error err = ERROR_INIT;
	/* exactly as long as it says */
	unsigned char *copy = xmalloc(length + 1), *again = NULL;
	if (length)
		memcpy(copy, bytes, length);
	if (length >= CHUNK_HEADER)
		check_sum(copy, length);
	if (chunk_decode(copy, length, processes, bursts, &into, &err) == 0) {
		size_t now;
		if (into.processes.count != processes || into.bursts.count != bursts ||
		    chunk_encode(&into, &again, &now, NULL))
			abort();
	} else if (!*err.text || into.processes.items || into.bursts.items) {
		abort();
	}
	bursts_release(&into);
	free(copy);
	free(again);
}

static void make(struct bursts *b, const uint8_t *data, size_t size, size_t processes)
{
	for (size_t i = 0; i < processes; i++) {
		struct burst_process p = { .pid = (int32_t)i, .kernel = i & 1, .own = i & 2 };
		if (size >= sizeof p.start_ns)
			memcpy(&p.start_ns, data, sizeof p.start_ns);
		for (size_t k = 0; k < sizeof p.name - 1 && k < size && data[k]; k++)
			p.name[k] = (char)data[k];
		array_push(&b->processes, p);
	}
	for (; processes && size >= sizeof(struct burst); size -= sizeof(struct burst)) {
		struct burst x;
		memcpy(&x, data, sizeof x);
		data += sizeof x;
		x.process %= (uint32_t)processes;
		x.cpu %= 2;
		if (x.span_ns > UINT64_MAX - x.begin_ns)
			x.span_ns = UINT64_MAX - x.begin_ns;
		if (x.busy_ns > x.span_ns)
			x.busy_ns = x.span_ns;
		array_push(&b->bursts, x);
	}
}

static bool same(const struct bursts *a, const struct bursts *b)
{
	for (size_t i = 0; i < a->processes.count; i++) {
		const struct burst_process *p = &a->processes.items[i], *q = &b->processes.items[i];
		if (p->pid != q->pid || p->start_ns != q->start_ns || p->kernel != q->kernel ||
		    p->own != q->own || strcmp(p->name, q->name) != 0)
			return false;
	}
	return !a->bursts.count || memcmp(a->bursts.items, b->bursts.items,
					  a->bursts.count * sizeof *a->bursts.items) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3)
		return 0;
	size_t processes = data[0], bursts = data[1], length;
	uint8_t how = data[2];
	data += 3;
	size -= 3;
	if (how < 64) {
		decode(data, size, processes, bursts);
		return 0;
	}
	struct bursts b = { .begin_ns = 1000, .cpus = 2 }, back = b;
	unsigned char *bytes;
	make(&b, data, size, processes);
	if (chunk_encode(&b, &bytes, &length, NULL))
		abort();
	if (how < 160) {
		for (size_t i = 0; i + 2 < size && i < 12; i += 3)
			bytes[(data[i] << 8 | data[i + 1]) % length] ^= data[i + 2];
		decode(bytes, how & 1 ? length : how % length, processes, b.bursts.count);
	} else if (chunk_decode(bytes, length, processes, b.bursts.count, &back, NULL) ||
		   !same(&b, &back)) {
		abort();
	}
	free(bytes);
	bursts_release(&b);
	bursts_release(&back);
	return 0;
}
