#include "lab/chunk.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "lab/varint.h"

#define FORMAT 1
#define LEVEL 1	      /* of zstd: more finds no more, the random bits are kept apart */
#define ZSTD_WORTH 32 /* below, a frame's overhead eats the gain */
#define PROCESS_MAX (2 * VARINT_MAX + 2 + DAEMON_NAME) /* bytes, at worst */
#define PROCESS_MIN 4
enum process_flag { PROCESS_KERNEL = 1, PROCESS_OWN = 2, PROCESS_FLAGS = 4 };

enum column {
	COLUMN_PROCESSES,
	COLUMN_PROCESS,
	COLUMN_CPU,
	COLUMN_TURNS,
	COLUMN_BEGIN,
	COLUMN_SPAN,
	COLUMN_IDLE,
	COLUMN_BITS,
	COLUMNS
};

typedef ARRAY(unsigned char) bytes_list;

static void put_number(bytes_list *to, uint64_t value)
{
	array_reserve(to, VARINT_MAX);
	to->count = (size_t)(varint_put(to->items + to->count, value) - to->items);
}

static void put_bytes(bytes_list *to, const void *bytes, size_t length)
{
	array_reserve(to, length + 1);
	memcpy(to->items + to->count, bytes, length);
	to->count += length;
}

uint32_t chunk_checksum(const unsigned char *bytes, size_t length)
{
	uint64_t h = length;
	for (; length; bytes += 8) {
		uint64_t word = 0;
		size_t n = length < 8 ? length : 8;
		memcpy(&word, bytes, n);
		h = (h ^ word) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
		length -= n;
	}
	return (uint32_t)(h * 0xff51afd7ed558ccdu >> 32);
}

/* ---- a stream of bits ---- */

struct bit_writer {
	bytes_list *to;
	uint64_t pending;
	unsigned count; /* bits in it, below 8 between calls */
};

static void bits_put(struct bit_writer *w, uint64_t value, unsigned count)
{
	while (count) {
		unsigned part = count < 32 ? count : 32;
		w->pending |= (value & ((UINT64_C(1) << part) - 1)) << w->count;
		w->count += part;
		value >>= part;
		count -= part;
		array_reserve(w->to, 8);
		for (; w->count >= 8; w->count -= 8, w->pending >>= 8)
			w->to->items[w->to->count++] = (unsigned char)w->pending;
	}
}

/* Without the highest one, which the width says. */
static void put_wide(bytes_list *widths, struct bit_writer *w, uint64_t value)
{
	unsigned width = value ? 64 - (unsigned)__builtin_clzll(value) : 0;
	array_push(widths, (unsigned char)width);
	if (width > 1)
		bits_put(w, value, width - 1);
}

struct bit_reader {
	const unsigned char *bytes;
	uint64_t at, end; /* bits */
};

static bool get_wide(unsigned char width, struct bit_reader *r, uint64_t *value)
{
	*value = 0;
	if (!width)
		return true;
	unsigned count = width - 1u;
	if (width > 64 || r->end - r->at < count)
		return false;
	for (unsigned got = 0; got < count;) {
		unsigned skip = r->at % 8, part = 8 - skip < count - got ? 8 - skip : count - got;
		uint64_t byte = r->bytes[r->at / 8] >> skip & ((1u << part) - 1);
		*value |= byte << got;
		got += part;
		r->at += part;
	}
	*value |= UINT64_C(1) << count;
	return true;
}

/* ---- encoding ---- */

static bool possible(const struct burst *b, size_t processes, uint32_t cpus)
{
	return b->process < processes && b->cpu < cpus && b->busy_ns <= b->span_ns &&
	       b->span_ns <= UINT64_MAX - b->begin_ns;
}

static void put_processes(const struct bursts *b, bytes_list *to)
{
	array_each(p, &b->processes) {
		size_t length = strnlen(p->name, sizeof p->name - 1);
		put_number(to, zigzag((uint64_t)p->pid));
		put_number(to, p->start_ns);
		array_push(to, (unsigned char)((p->kernel ? PROCESS_KERNEL : 0) |
					       (p->own ? PROCESS_OWN : 0)));
		array_push(to, (unsigned char)length);
		put_bytes(to, p->name, length);
	}
}

static void put_bursts(const struct bursts *b, bytes_list columns[COLUMNS])
{
	struct bit_writer w = { .to = &columns[COLUMN_BITS] };
	uint64_t before = b->begin_ns;
	for (size_t i = 0; i < b->bursts.count; i++) {
		const struct burst *x = &b->bursts.items[i];
		put_number(&columns[COLUMN_PROCESS], x->process);
		put_number(&columns[COLUMN_CPU], x->cpu);
		put_number(&columns[COLUMN_TURNS], x->turns);
		/* the first may have begun before the stretch */
		uint64_t step = x->begin_ns - before;
		put_wide(&columns[COLUMN_BEGIN], &w, i ? step : zigzag(step));
		put_wide(&columns[COLUMN_SPAN], &w, x->span_ns);
		put_wide(&columns[COLUMN_IDLE], &w, x->span_ns - x->busy_ns);
		before = x->begin_ns;
	}
	if (w.count)
		bits_put(&w, 0, 8 - w.count);
}

static int pack(ZSTD_CCtx *z, const bytes_list *column, bytes_list *out, struct error *err)
{
	size_t room = ZSTD_compressBound(column->count), stored = column->count;
	unsigned char *packed = NULL;
	if (column->count >= ZSTD_WORTH) {
		packed = xmalloc(room);
		size_t n = ZSTD_compressCCtx(z, packed, room, column->items, column->count, LEVEL);
		if (ZSTD_isError(n)) {
			free(packed);
			return error_set(err, EXIT_ENVIRONMENT, "cannot compress bursts: %s",
					 ZSTD_getErrorName(n));
		}
		if (n < stored)
			stored = n;
	}
	put_number(out, column->count);
	put_number(out, stored);
	if (stored)
		put_bytes(out, stored < column->count ? packed : column->items, stored);
	free(packed);
	return 0;
}

int chunk_encode(const struct bursts *b, unsigned char **bytes, size_t *length, struct error *err)
{
	bool good = b->bursts.count <= CHUNK_BURSTS_MAX &&
		    b->processes.count <= CHUNK_PROCESSES_MAX;
	for (size_t i = 0; good && i < b->bursts.count; i++)
		good = possible(&b->bursts.items[i], b->processes.count, b->cpus);
	if (!good)
		return error_set(err, EXIT_USAGE, "these bursts are beyond the bounds of a lab");
	ZSTD_CCtx *z = ZSTD_createCCtx();
	if (!z)
		return error_set(err, EXIT_ENVIRONMENT, "no memory to compress bursts");
	bytes_list columns[COLUMNS] = { 0 }, out = { 0 };
	put_bytes(&out, (const unsigned char[CHUNK_HEADER]){ FORMAT }, CHUNK_HEADER);
	put_processes(b, &columns[COLUMN_PROCESSES]);
	put_bursts(b, columns);
	int result = 0;
	for (int c = 0; c < COLUMNS; c++) {
		if (!result)
			result = pack(z, &columns[c], &out, err);
		array_release(&columns[c]);
	}
	ZSTD_freeCCtx(z);
	if (result) {
		array_release(&out);
		return -1;
	}
	uint32_t sum = chunk_checksum(out.items + CHUNK_HEADER, out.count - CHUNK_HEADER);
	memcpy(out.items + CHUNK_CHECKSUM_AT, &sum, sizeof sum);
	*bytes = out.items;
	*length = out.count;
	return 0;
}

/* ---- decoding ---- */

static int damaged(struct error *err, const char *what)
{
	return error_set(err, EXIT_USAGE, "stored bursts are damaged: %s", what);
}

struct reader {
	const unsigned char *from, *end;
};

static bool get_number(struct reader *r, uint64_t limit, uint64_t *value)
{
	const unsigned char *next = varint_get(r->from, r->end, value);
	if (!next || *value > limit)
		return false;
	r->from = next;
	return true;
}

/* A column as it was: exactly so long, or between the two. */
static bool unpack(struct reader *r, uint64_t least, uint64_t most, bytes_list *column)
{
	uint64_t plain, stored;
	if (!get_number(r, most, &plain) || plain < least || !get_number(r, plain, &stored) ||
	    stored > (uint64_t)(r->end - r->from))
		return false;
	const unsigned char *from = r->from;
	r->from += stored;
	/* a block of at most 128 KiB costs 4 bytes at least: no frame of ours asks for more memory
	 */
	if (stored != plain &&
	    (plain / (32 * 1024) > stored || ZSTD_getFrameContentSize(from, stored) != plain))
		return false;
	array_reserve(column, plain + 1);
	column->count = plain;
	if (stored == plain) {
		memcpy(column->items, from, plain);
		return true;
	}
	return ZSTD_decompress(column->items, plain, from, stored) == plain;
}

static bool get_processes(const bytes_list *column, size_t count, struct bursts *into)
{
	struct reader r = { column->items, column->items + column->count };
	array_reserve(&into->processes, count + 1);
	for (size_t i = 0; i < count; i++) {
		struct burst_process p = { 0 };
		uint64_t pid, flags, length;
		if (!get_number(&r, UINT64_MAX, &pid) || !get_number(&r, UINT64_MAX, &p.start_ns) ||
		    !get_number(&r, PROCESS_FLAGS - 1, &flags) ||
		    !get_number(&r, sizeof p.name - 1, &length) ||
		    length > (uint64_t)(r.end - r.from) || memchr(r.from, '\0', length))
			return false;
		p.pid = (int32_t)unzigzag(pid);
		p.kernel = flags & PROCESS_KERNEL;
		p.own = flags & PROCESS_OWN;
		memcpy(p.name, r.from, length);
		r.from += length;
		if ((uint64_t)p.pid != unzigzag(pid))
			return false;
		array_push(&into->processes, p);
	}
	return r.from == r.end;
}

static bool get_bursts(const bytes_list columns[COLUMNS], size_t count, struct bursts *into)
{
	struct reader r[COLUMN_BEGIN];
	struct bit_reader bits = { columns[COLUMN_BITS].items, 0, columns[COLUMN_BITS].count * 8 };
	uint64_t before = into->begin_ns;
	for (int c = COLUMN_PROCESS; c < COLUMN_BEGIN; c++)
		r[c] = (struct reader){ columns[c].items, columns[c].items + columns[c].count };
	array_reserve(&into->bursts, count + 1);
	for (size_t i = 0; i < count; i++) {
		uint64_t process, cpu, turns, step, span, idle;
		if (!get_number(&r[COLUMN_PROCESS], UINT32_MAX, &process) ||
		    !get_number(&r[COLUMN_CPU], UINT16_MAX, &cpu) ||
		    !get_number(&r[COLUMN_TURNS], UINT16_MAX, &turns) ||
		    !get_wide(columns[COLUMN_BEGIN].items[i], &bits, &step) ||
		    !get_wide(columns[COLUMN_SPAN].items[i], &bits, &span) ||
		    !get_wide(columns[COLUMN_IDLE].items[i], &bits, &idle))
			return false;
		before += i ? step : unzigzag(step);
		struct burst b = { before,	  span,		  span - idle, (uint32_t)process,
				   (uint16_t)cpu, (uint16_t)turns };
		if (!possible(&b, into->processes.count, into->cpus))
			return false;
		into->bursts.items[into->bursts.count++] = b;
	}
	for (int c = COLUMN_PROCESS; c < COLUMN_BEGIN; c++)
		if (r[c].from != r[c].end)
			return false;
	return bits.end - bits.at < 8;
}

int chunk_decode(const unsigned char *bytes, size_t length, size_t processes, size_t bursts,
		 struct bursts *into, struct error *err)
{
	if (processes > CHUNK_PROCESSES_MAX || bursts > CHUNK_BURSTS_MAX)
		return damaged(err, "there are too many");
	if (!bytes || length < CHUNK_HEADER)
		return damaged(err, "they are cut short");
	if (*bytes != FORMAT)
		return damaged(err, "their format is unknown");
	uint32_t sum;
	memcpy(&sum, bytes + CHUNK_CHECKSUM_AT, sizeof sum);
	if (sum != chunk_checksum(bytes + CHUNK_HEADER, length - CHUNK_HEADER))
		return damaged(err, "their checksum is wrong");
	static const unsigned char most[COLUMNS] = {
		[COLUMN_PROCESS] = 5, [COLUMN_CPU] = 3,	 [COLUMN_TURNS] = 3, [COLUMN_BEGIN] = 1,
		[COLUMN_SPAN] = 1,    [COLUMN_IDLE] = 1, [COLUMN_BITS] = 24
	};
	struct reader r = { bytes + CHUNK_HEADER, bytes + length };
	bytes_list columns[COLUMNS] = { 0 };
	bool good = unpack(&r, processes * PROCESS_MIN, processes * PROCESS_MAX, &columns[0]);
	for (int c = COLUMN_PROCESS; good && c < COLUMNS; c++)
		good = unpack(&r, c == COLUMN_BITS ? 0 : bursts, bursts * most[c], &columns[c]);
	good = good && r.from == r.end && get_processes(&columns[0], processes, into) &&
	       get_bursts(columns, bursts, into);
	for (int c = 0; c < COLUMNS; c++)
		array_release(&columns[c]);
	if (!good) {
		array_release(&into->processes);
		array_release(&into->bursts);
		return damaged(err, "a number in them is impossible");
	}
	return 0;
}
