/* A program's file may hold anything: the bytes are one, with locations all over it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "binary/symbols.h"
#include "binary/symbols_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
	const uint8_t *data;
	size_t size;
};

static int open_bytes(void *context, const struct profile_object *o)
{
	(void)o;
	const struct bytes *bytes = context;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, bytes->data, bytes->size) != (ssize_t)bytes->size)
		abort();
	return fd;
}

/* What was found must be whole: frames with names, code of a bounded size. */
static void check(const struct profile *p)
{
	for (size_t i = 0; i < p->locations.count; i++) {
		const struct profile_location *l = &p->locations.items[i];
		if (l->frames > LINE_FRAMES_MAX + 1 || l->first_frame + l->frames > p->frames.count)
			abort();
		for (uint32_t f = 0; f < l->frames; f++)
			if (p->frames.items[l->first_frame + f].function >= p->functions.count)
				abort();
	}
	for (size_t i = 0; i < p->code.count; i++)
		if (p->code.items[i].size > 65536)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes = { data, size };
	struct symbols_options options = { .open = open_bytes,
					   .context = &bytes,
					   .debug_path = "/nowhere" };
	struct profile p = { 0 };
	char path[] = "fuzz";
	struct profile_object o = { .path = path, .kind = OBJECT_FILE };
	uint32_t object = profile_add_object(&p, &o);
	for (uint64_t at = 0; at < size + 64; at += size / 64 + 1) {
		uint32_t location = profile_add_location(&p, object, at);
		profile_add_stack(&p, &location, 1, 0, STACK_LEAF);
	}
	struct symbols *s = symbols_new(&options);
	symbols_fill(s, &p);
	check(&p);
	symbols_free(s);
	profile_release(&p);
	char *text = xstrndup((const char *)data, size);
	struct jit_map j = { 0 };
	struct kernel_symbols k = { .kcore = -1 };
	jit_parse(&j, text);
	kernel_parse(&k, text);
	jit_release(&j);
	kernel_release(&k);
	xfree(text);
	return 0;
}
