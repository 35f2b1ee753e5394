/* What the process that reads program files answers, once it was taken over: any bytes. The first
 * byte chooses the question, the rest is the answer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Answers are taken from a process of reader.c's own; a process for each input would be too slow.
 */
#include "binary/reader.c" // NOLINT(bugprone-suspicious-include)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LOCATIONS 3

/* What was taken must be whole, whatever was refused. */
static void check_profile(const struct profile *p)
{
	for (size_t i = 0; i < p->functions.count; i++)
		if (p->functions.items[i].object >= p->objects.count || !p->functions.items[i].name)
			abort();
	for (size_t i = 0; i < p->locations.count; i++) {
		const struct profile_location *l = &p->locations.items[i];
		if (l->frames > LINE_FRAMES_MAX + 1 || l->first_frame + l->frames > p->frames.count)
			abort();
		for (uint32_t f = 0; f < l->frames; f++)
			if (p->frames.items[l->first_frame + f].function >= p->functions.count)
				abort();
	}
	for (size_t i = 0; i < p->code.count; i++)
		if (p->code.items[i].size > CODE_MAX)
			abort();
}

/* One of each kind of object that has names; the kernel's memory is none of it. */
static void fill(struct reader *r, uint8_t which)
{
	static const struct {
		enum object_kind kind;
		const char *path;
	} kinds[] = { { OBJECT_FILE, "/bin/true" },
		      { OBJECT_JIT, "[jit]" },
		      { OBJECT_MEMORY, "[memory]" },
		      { OBJECT_KERNEL, "[kernel]" } };
	struct profile p = { 0 };
	const struct profile_object o = { .path = (char *)kinds[which % 4].path,
					  .kind = kinds[which % 4].kind,
					  .pid = which % 4 == 1 || which % 4 == 2 ? 7 : 0 };
	uint32_t object = profile_add_object(&p, &o), locations[LOCATIONS];
	bool sampled[LOCATIONS] = { false };
	for (uint32_t i = 0; i < LOCATIONS; i++) {
		locations[i] = profile_add_location(&p, object, 0x1000 + 16 * i);
		sampled[i] = kinds[which % 4].kind != OBJECT_KERNEL;
	}
	read_answer(r, &p, object, locations, LOCATIONS, sampled);
	check_profile(&p);
	profile_release(&p);
}

static void disassembled(struct reader *r)
{
	const size_t size = 16;
	instruction_list list = { 0 };
	struct error err = ERROR_INIT;
	if (read_instructions(r, 0x1000, size, &list, &err) && !*err.text) {
		uint64_t at = 0x1000;
		for (size_t i = 0; i < list.count; i++) {
			if (list.items[i].address != at ||
			    !memchr(list.items[i].text, '\0', sizeof list.items[i].text))
				abort();
			at += list.items[i].size;
		}
		if (at != 0x1000 + size)
			abort();
	}
	array_release(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader r = { .socket = -1 };
	if (size < 1)
		return 0;
	/* exactly as long as it is: a read beyond is seen */
	r.in = (struct strbuf){ .text = memcpy(xmalloc(size), data + 1, size - 1),
				.length = size - 1 };
	if (*data % 5 == 4)
		disassembled(&r);
	else
		fill(&r, *data % 5);
	xfree(r.in.text);
	return 0;
}
