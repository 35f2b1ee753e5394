/* Records as perf would write them, and as it never would: the input is a stream of them, each
 * after a byte that advances the time. What comes out of it must be sound. */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "collect/samples/sideband.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(void *context, struct image_of *image)
{
	struct sideband *sb = context;
	if (image->end_ns || memchr(image->comm, 0, sizeof image->comm) == NULL)
		abort();
	for (size_t i = 0; i < image->mappings.count; i++) {
		const struct mapping *m = &image->mappings.items[i];
		if (m->begin >= m->end || (i && image->mappings.items[i - 1].end > m->begin) ||
		    !sideband_object(sb, m->object) || image_mapping(image, m->begin) != m ||
		    image_mapping(image, m->end - 1) != m)
			abort();
	}
	if (image->executable != PROFILE_NONE && !sideband_object(sb, image->executable))
		abort();
	if (!sideband_find(sb, image->pid, UINT64_MAX))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sideband *sb = sideband_new();
	uint64_t time_ns = 1;
	struct perf_event_header h;
	while (size > sizeof h) {
		time_ns += *data++;
		size--;
		memcpy(&h, data, sizeof h);
		/* a few kinds, so that most are known; never longer than what is left */
		h.type = h.type % (PERF_RECORD_MMAP2 + 1);
		if (h.size < sizeof h)
			h.size = sizeof h;
		if (h.size > size)
			h.size = (uint16_t)size;
		uint8_t *record = xmalloc(h.size);
		memcpy(record, data, h.size);
		memcpy(record, &h, sizeof h);
		sideband_take(sb, (const struct perf_event_header *)(const void *)record, time_ns);
		xfree(record);
		data += h.size;
		size -= h.size;
	}
	sideband_each(sb, check, sb);
	sideband_lost(sb);
	sideband_forget(sb, time_ns / 2);
	sideband_each(sb, check, sb);
	sideband_close(sb);
	return 0;
}
