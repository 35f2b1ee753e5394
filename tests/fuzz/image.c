/* A stored image is read back from a file that anyone may have changed. The first bytes of the
 * input say how many tasks to expect, whether there is a base, and whether to decode the rest as it
 * is or to code it as records, which must then come back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "lab/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void round_trip(struct image_codec *codec, const uint8_t *data, size_t size, bool based)
{
	size_t count = size / sizeof(struct task_record);
	struct image whole = { .count = count, .tasks = xcalloc(count, sizeof *whole.tasks) };
	if (count)
		memcpy(whole.tasks, data, count * sizeof *whole.tasks);
	struct image half = { .count = count / 2, .tasks = whole.tasks + count - count / 2 };
	struct image back = { 0 };
	const void *bytes;
	size_t length;
	if (image_encode(codec, &whole, based ? &half : NULL, &bytes, &length, NULL))
		abort();
	void *copy = xmalloc(length);
	memcpy(copy, bytes, length);
	if (image_decode(codec, copy, length, count, based ? &half : NULL, &back, NULL) ||
	    (count && memcmp(back.tasks, whole.tasks, count * sizeof *whole.tasks) != 0))
		abort();
	free(copy);
	free(whole.tasks);
	image_release(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct image_codec *codec;
	static struct task_record tasks[4] = {
		{ .tid = 1 }, { .tid = 2 }, { .tid = 3 }, { .tid = 4 }
	};
	struct image base = { .count = 4, .tasks = tasks }, into = { 0 };
	struct error err = ERROR_INIT;
	if (!codec)
		codec = image_codec_new();
	if (size < 2)
		return 0;
	bool based = data[1] & 1;
	if (data[1] & 2) {
		round_trip(codec, data + 2, size - 2, based);
	} else if (image_decode(codec, data + 2, size - 2, data[0], based ? &base : NULL, &into,
				&err) == 0) {
		image_release(&into);
	} else if (!*err.text || into.tasks) {
		abort();
	}
	return 0;
}
