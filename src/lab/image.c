#include "lab/image.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/array.h"
#include "lab/varint.h"

#define FORMAT 1
#define WORDS (sizeof(struct task_record) / sizeof(uint64_t))
#define AT_WORD 1 /* task_record.at_ns */
#define HEADER 6
#define ZSTD_WORTH 96			      /* below, a frame's overhead eats the gain */
#define RECORD_MAX (VARINT_MAX * (2 + WORDS)) /* a record's columns at worst */
#define NONE UINT32_MAX

_Static_assert(offsetof(struct task_record, at_ns) == AT_WORD * sizeof(uint64_t), "at_ns moved");
_Static_assert(sizeof(struct task_record) % sizeof(uint64_t) == 0, "a record is whole words");
_Static_assert(WORDS < 32, "a mask has 32 bits");

typedef ARRAY(unsigned char) bytes_list;

struct image_codec {
	ZSTD_CCtx *compress;
	ZSTD_DCtx *decompress;
	bytes_list columns, out;
	ARRAY(uint32_t) references, masks, slots;
};

struct image_codec *image_codec_new(void)
{
	struct image_codec *c = xcalloc(1, sizeof *c);
	c->compress = ZSTD_createCCtx();
	c->decompress = ZSTD_createDCtx();
	if (c->compress)
		ZSTD_CCtx_setParameter(c->compress, ZSTD_c_compressionLevel, 1);
	return c;
}

void image_codec_free(struct image_codec *c)
{
	if (!c)
		return;
	ZSTD_freeCCtx(c->compress);
	ZSTD_freeDCtx(c->decompress);
	array_release(&c->columns);
	array_release(&c->out);
	array_release(&c->references);
	array_release(&c->masks);
	array_release(&c->slots);
	free(c);
}

/* Records are read and written as words; memcpy keeps that legal and costs nothing. */
static inline uint64_t word_at(const struct task_record *t, size_t w)
{
	uint64_t word;
	memcpy(&word, (const char *)t + w * sizeof word, sizeof word);
	return word;
}

static inline void word_set(struct task_record *t, size_t w, uint64_t word)
{
	memcpy((char *)t + w * sizeof word, &word, sizeof word);
}

/* Over the records, not the bytes: a wrong base is noticed too. Four lanes hide the
 * multiplication's latency. */
static uint32_t checksum(const struct task_record *tasks, size_t count)
{
	uint64_t lane[4] = { 1, 2, 3, 4 };
	size_t words = count * WORDS;
	for (size_t i = 0; i < words; i++) {
		uint64_t word, *h = &lane[i & 3];
		memcpy(&word, (const char *)tasks + i * sizeof word, sizeof word);
		*h ^= word;
		*h = (*h << 29 | *h >> 35) * 0x9e3779b97f4a7c15u;
	}
	uint64_t all = count;
	for (int i = 0; i < 4; i++)
		all = (all ^ lane[i] ^ lane[i] >> 31) * 0xff51afd7ed558ccdu;
	return (uint32_t)(all >> 32);
}

static const struct task_record *predecessor(const struct task_record *tasks, size_t i)
{
	static const struct task_record zero;
	return i ? &tasks[i - 1] : &zero;
}

static inline uint64_t predicted(const struct task_record *tasks, size_t i, size_t w,
				 const struct task_record *in_base)
{
	return word_at(w == AT_WORD || !in_base ? predecessor(tasks, i) : in_base, w);
}

/* Matching tasks of two images: in step while the order agrees, through a hash table else. */
static inline bool same_task(const struct task_record *a, const struct task_record *b)
{
	return a->tid == b->tid && a->start_ns == b->start_ns;
}

static inline size_t slot_of(const struct task_record *t, size_t mask)
{
	uint64_t h = (t->start_ns ^ (uint64_t)(uint32_t)t->tid << 40) * 0x9e3779b97f4a7c15u;
	return (size_t)(h >> 32) & mask;
}

static void index_base(struct image_codec *c, const struct image *base)
{
	size_t size = 16;
	while (size < base->count * 2)
		size *= 2;
	c->slots.count = 0;
	array_reserve(&c->slots, size);
	c->slots.count = size;
	memset(c->slots.items, 0xff, size * sizeof *c->slots.items);
	for (size_t i = 0; i < base->count; i++) {
		size_t at = slot_of(&base->tasks[i], size - 1);
		while (c->slots.items[at] != NONE)
			at = (at + 1) & (size - 1);
		c->slots.items[at] = (uint32_t)i;
	}
}

static uint32_t look_up(const struct image_codec *c, const struct image *base,
			const struct task_record *t)
{
	size_t mask = c->slots.count - 1;
	for (size_t at = slot_of(t, mask);; at = (at + 1) & mask) {
		uint32_t i = c->slots.items[at];
		if (i == NONE || same_task(&base->tasks[i], t))
			return i;
	}
}

/* Fills c->references with indexes into base or NONE, and writes their column. */
static unsigned char *put_references(struct image_codec *c, const struct image *image,
				     const struct image *base, unsigned char *to)
{
	c->references.count = 0;
	array_reserve(&c->references, image->count);
	c->references.count = image->count;
	bool indexed = false;
	size_t expected = 0;
	for (size_t i = 0; i < image->count; i++) {
		uint32_t found = NONE;
		if (base && expected < base->count &&
		    same_task(&base->tasks[expected], &image->tasks[i])) {
			found = (uint32_t)expected;
		} else if (base && base->count) {
			if (!indexed)
				index_base(c, base);
			indexed = true;
			found = look_up(c, base, &image->tasks[i]);
		}
		c->references.items[i] = found;
		to = varint_put(to, found == NONE ? 0 : zigzag(found - expected) + 1);
		if (found != NONE)
			expected = found + 1;
	}
	return to;
}

static unsigned char *put_masks(struct image_codec *c, const struct image *image,
				const struct image *base, unsigned char *to)
{
	c->masks.count = 0;
	array_reserve(&c->masks, image->count);
	c->masks.count = image->count;
	for (size_t i = 0; i < image->count; i++) {
		uint32_t mask = 0, at = c->references.items[i];
		const struct task_record *in_base = at == NONE ? NULL : &base->tasks[at];
		for (size_t w = 0; w < WORDS; w++)
			if (word_at(&image->tasks[i], w) != predicted(image->tasks, i, w, in_base))
				mask |= 1u << w;
		c->masks.items[i] = mask;
		to = varint_put(to, mask);
	}
	return to;
}

static unsigned char *put_differences(struct image_codec *c, const struct image *image,
				      const struct image *base, unsigned char *to)
{
	for (size_t w = 0; w < WORDS; w++)
		for (size_t i = 0; i < image->count; i++) {
			if (!(c->masks.items[i] >> w & 1))
				continue;
			uint32_t at = c->references.items[i];
			uint64_t from =
				predicted(image->tasks, i, w, at == NONE ? NULL : &base->tasks[at]);
			to = varint_put(to, zigzag(word_at(&image->tasks[i], w) - from));
		}
	return to;
}

/* Header and columns into c->out: compressed where that is shorter. */
static int pack(struct image_codec *c, uint32_t sum, struct error *err)
{
	size_t length = c->columns.count;
	c->out.count = 0;
	array_reserve(&c->out, HEADER + VARINT_MAX + ZSTD_compressBound(length));
	unsigned char *out = c->out.items;
	*out++ = FORMAT;
	*out++ = 0;
	for (int shift = 0; shift < 32; shift += 8)
		*out++ = (unsigned char)(sum >> shift);
	out = varint_put(out, length);
	size_t stored = length;
	if (length >= ZSTD_WORTH) {
		if (!c->compress)
			return error_set(err, EXIT_ENVIRONMENT, "no memory to compress an image");
		size_t n = ZSTD_compress2(c->compress, out, ZSTD_compressBound(length),
					  c->columns.items, length);
		if (ZSTD_isError(n))
			return error_set(err, EXIT_ENVIRONMENT, "cannot compress an image: %s",
					 ZSTD_getErrorName(n));
		if (n < length) {
			c->out.items[1] = 1;
			stored = n;
		}
	}
	if (!c->out.items[1])
		memcpy(out, c->columns.items, length);
	c->out.count = (size_t)(out - c->out.items) + stored;
	return 0;
}

int image_encode(struct image_codec *c, const struct image *image, const struct image *base,
		 const void **bytes, size_t *length, struct error *err)
{
	if (image->count > IMAGE_TASKS_MAX)
		return error_set(err, EXIT_USAGE, "an image of %zu tasks is more than Linux has",
				 image->count);
	c->columns.count = 0;
	array_reserve(&c->columns, image->count * RECORD_MAX + 1);
	unsigned char *to = c->columns.items;
	to = put_references(c, image, base, to);
	to = put_masks(c, image, base, to);
	to = put_differences(c, image, base, to);
	c->columns.count = (size_t)(to - c->columns.items);
	if (pack(c, checksum(image->tasks, image->count), err))
		return -1;
	*bytes = c->out.items;
	*length = c->out.count;
	return 0;
}

static int damaged(struct error *err, const char *what)
{
	return error_set(err, EXIT_USAGE, "a stored image is damaged: %s", what);
}

/* The columns into c->columns, whatever way they were stored. */
static int unpack(struct image_codec *c, const unsigned char *from, size_t length, size_t count,
		  uint32_t *sum, struct error *err)
{
	if (length < HEADER + 1)
		return damaged(err, "it is cut short");
	const unsigned char *end = from + length;
	if (from[0] != FORMAT || from[1] > 1)
		return damaged(err, "its format is unknown");
	bool compressed = from[1];
	*sum = (uint32_t)from[2] | (uint32_t)from[3] << 8 | (uint32_t)from[4] << 16 |
	       (uint32_t)from[5] << 24;
	uint64_t plain;
	from = varint_get(from + HEADER, end, &plain);
	/* a reference and a mask for each record at least */
	if (!from || plain > count * RECORD_MAX || plain < count * 2)
		return damaged(err, "its length is impossible");
	size_t stored = (size_t)(end - from);
	if (!compressed && stored != plain)
		return damaged(err, "its length is wrong");
	/* a block of at most 128 KiB costs 4 bytes at least: no frame of ours asks for more memory
	 */
	if (compressed && plain / (32 * 1024) > stored)
		return damaged(err, "its length is impossible");
	if (compressed && (!c->decompress || ZSTD_getFrameContentSize(from, stored) != plain))
		return damaged(err, "its length is wrong");
	c->columns.count = 0;
	array_reserve(&c->columns, plain + 1);
	if (compressed) {
		size_t n =
			ZSTD_decompressDCtx(c->decompress, c->columns.items, plain, from, stored);
		if (ZSTD_isError(n) || n != plain)
			return damaged(err, ZSTD_isError(n) ? ZSTD_getErrorName(n) : "too short");
	} else if (plain) {
		memcpy(c->columns.items, from, plain);
	}
	c->columns.count = plain;
	return 0;
}

static const unsigned char *get_references(struct image_codec *c, const unsigned char *from,
					   const unsigned char *end, size_t count, size_t in_base)
{
	c->references.count = 0;
	array_reserve(&c->references, count);
	c->references.count = count;
	uint64_t expected = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t z;
		if (!(from = varint_get(from, end, &z)))
			return NULL;
		uint64_t at = z ? expected + unzigzag(z - 1) : NONE;
		if (z && at >= in_base)
			return NULL;
		c->references.items[i] = (uint32_t)at;
		if (z)
			expected = at + 1;
	}
	return from;
}

static const unsigned char *get_masks(struct image_codec *c, const unsigned char *from,
				      const unsigned char *end, size_t count)
{
	c->masks.count = 0;
	array_reserve(&c->masks, count);
	c->masks.count = count;
	for (size_t i = 0; i < count; i++) {
		uint64_t mask;
		if (!(from = varint_get(from, end, &mask)) || mask >> WORDS)
			return NULL;
		c->masks.items[i] = (uint32_t)mask;
	}
	return from;
}

/* Column by column, each from the top: a record's predecessor has its word before it needs it. */
static const unsigned char *get_words(const struct image_codec *c, const unsigned char *from,
				      const unsigned char *end, const struct image *base,
				      struct image *into)
{
	for (size_t w = 0; w < WORDS; w++)
		for (size_t i = 0; i < into->count; i++) {
			uint32_t at = c->references.items[i];
			uint64_t z = 0, word = predicted(into->tasks, i, w,
							 at == NONE ? NULL : &base->tasks[at]);
			if (c->masks.items[i] >> w & 1 && !(from = varint_get(from, end, &z)))
				return NULL;
			word_set(&into->tasks[i], w, word + unzigzag(z));
		}
	return from;
}

int image_decode(struct image_codec *c, const void *bytes, size_t length, size_t count,
		 const struct image *base, struct image *into, struct error *err)
{
	uint32_t sum = 0;
	if (count > IMAGE_TASKS_MAX)
		return damaged(err, "it claims more tasks than Linux has");
	if (unpack(c, bytes, length, count, &sum, err))
		return -1;
	const unsigned char *from = c->columns.items, *end = from + c->columns.count;
	struct image image = { .count = count, .capacity = count };
	from = get_references(c, from, end, count, base ? base->count : 0);
	if (from)
		from = get_masks(c, from, end, count);
	if (from) {
		image.tasks = xcalloc(count + 1, sizeof *image.tasks);
		from = get_words(c, from, end, base, &image);
	}
	if (!from || from != end || checksum(image.tasks, count) != sum) {
		free(image.tasks);
		return damaged(err, !from	  ? "a number in it is impossible"
				    : from != end ? "it has bytes too many"
						  : "its checksum is wrong");
	}
	into->tasks = image.tasks;
	into->count = into->capacity = count;
	return 0;
}
