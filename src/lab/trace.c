#include "lab/trace.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Both bound the memory that a damaged lab may ask for, and keep the sums below from overflowing.
 */
#define EVENTS_MAX (UINT64_C(1) << 32)
#define NAMES_MAX (UINT64_C(1) << 24)

_Static_assert(sizeof(struct trace_name) == 56, "the stored layout must not change");

int trace_encode(const struct trace *t, void **bytes, size_t *length, struct error *err)
{
	size_t events = t->events.count * sizeof *t->events.items;
	size_t names = t->names.count * sizeof *t->names.items;
	size_t room = ZSTD_compressBound(events + names);
	ZSTD_CCtx *z = ZSTD_createCCtx();
	if (!z)
		return error_set(err, EXIT_ENVIRONMENT, "no memory to compress a trace");
	ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	ZSTD_CCtx_setPledgedSrcSize(z, events + names);
	ZSTD_outBuffer out = { xmalloc(room), room, 0 };
	ZSTD_inBuffer in[] = { { t->events.items, events, 0 }, { t->names.items, names, 0 } };
	/* with room for the worst case each call takes all of its input */
	size_t left = ZSTD_compressStream2(z, &out, &in[0], ZSTD_e_continue);
	if (!ZSTD_isError(left))
		left = ZSTD_compressStream2(z, &out, &in[1], ZSTD_e_end);
	ZSTD_freeCCtx(z);
	if (left || in[0].pos != events) {
		free(out.dst);
		return error_set(err, EXIT_ENVIRONMENT, "cannot compress a trace: %s",
				 ZSTD_isError(left) ? ZSTD_getErrorName(left) : "no room");
	}
	*bytes = out.dst;
	*length = out.pos;
	return 0;
}

static int damaged(struct error *err, const char *what)
{
	return error_set(err, EXIT_USAGE, "a stored trace is damaged: %s", what);
}

int trace_decode(const void *bytes, size_t length, size_t events, size_t names, struct trace *into,
		 struct error *err)
{
	if (events > EVENTS_MAX || names > NAMES_MAX)
		return damaged(err, "its length is impossible");
	uint64_t head = (uint64_t)events * sizeof *into->events.items;
	uint64_t plain = head + (uint64_t)names * sizeof *into->names.items;
	/* a block of at most 128 KiB costs 4 bytes at least: no frame of ours asks for more memory
	 */
	if (!bytes || plain > PTRDIFF_MAX || plain / (32 * 1024) > length)
		return damaged(err, "its length is impossible");
	if (ZSTD_findFrameCompressedSize(bytes, length) != length ||
	    ZSTD_getFrameContentSize(bytes, length) != plain)
		return damaged(err, "its length is wrong");
	struct trace t = { .present = true };
	/* in one piece, of which the names are then moved: they are few */
	array_reserve(&t.events, plain / sizeof *t.events.items + 1);
	size_t n = ZSTD_decompress(t.events.items, plain, bytes, length);
	if (ZSTD_isError(n) || n != plain) {
		trace_release(&t);
		return damaged(err, ZSTD_isError(n) ? ZSTD_getErrorName(n) : "it is cut short");
	}
	t.events.count = events;
	array_reserve(&t.names, names + 1);
	memcpy(t.names.items, (const char *)t.events.items + head, plain - head);
	t.names.count = names;
	for (size_t i = 0; i < names; i++) {
		const struct trace_name *name = &t.names.items[i];
		if ((name->cause < LEDGER_CAUSES || name->cause == TRACE_NAMES_WORK) &&
		    memchr(name->name, '\0', sizeof name->name))
			continue;
		trace_release(&t);
		return damaged(err, "a name in it is impossible");
	}
	*into = t;
	return 0;
}
