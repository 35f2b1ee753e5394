#include "binary/cfi.h"

#include <dwarf.h>
#include <string.h>

#include "binary/cfi_program.h"
#include "binary/cfi_reader.h"

#define RETURN_ADDRESS 16 /* its column, x86-64 */

bool cfi_pointer(const uint8_t *bytes, size_t size, size_t at, uint8_t encoding, uint64_t address,
		 uint64_t *value)
{
	struct cfi_section section = { .bytes = bytes, .size = size, .address = address };
	struct reader r = { .section = &section, .at = at, .end = size, .bad = at > size };
	*value = reader_pointer(&r, encoding, address);
	return !r.bad;
}

void cfi_section_clear(struct cfi_section *s)
{
	s->low = UINT64_MAX;
	s->high = 0;
}

void cfi_section_cover(struct cfi_section *s, uint64_t address, uint64_t size)
{
	uint64_t end;
	if (__builtin_add_overflow(address, size, &end))
		return;
	s->low = address < s->low ? address : s->low;
	s->high = end > s->high ? end : s->high;
}

bool cfi_section_bound(struct cfi_section *s)
{
	if (s->high <= s->low)
		return false;
	if (s->high - s->low > UINT32_MAX)
		s->high = s->low + UINT32_MAX;
	return true;
}

typedef ARRAY(struct common) common_list;

static bool read_augmentation(struct reader *r, struct common *c, const char *letters)
{
	c->encoding = DW_EH_PE_absptr;
	c->augmented = letters[0] == 'z';
	if (!letters[0])
		return true;
	if (!c->augmented)
		return false;
	uint64_t length = reader_unsigned(r);
	struct reader data = *r;
	reader_skip(r, length);
	if (r->bad)
		return false;
	data.end = r->at;
	for (const char *letter = letters + 1; *letter; letter++) {
		switch (*letter) {
		case 'R':
			c->encoding = (uint8_t)reader_bytes(&data, 1);
			break;
		case 'L':
			reader_skip(&data, 1);
			break;
		case 'P':
			reader_skip_pointer(&data, (uint8_t)reader_bytes(&data, 1));
			break;
		case 'S': /* a signal frame: its rules tell that too */
			break;
		default:
			return false;
		}
	}
	return !data.bad;
}

static bool read_common(struct reader *r, struct common *c)
{
	uint64_t version = reader_bytes(r, 1);
	if (version != 1 && version != 3)
		return false;
	const char *letters = (const char *)r->section->bytes + r->at;
	size_t length = strnlen(letters, r->end - r->at);
	reader_skip(r, length + 1);
	if (r->bad)
		return false;
	c->code_align = reader_unsigned(r);
	c->data_align = reader_signed(r);
	uint64_t ra = version == 1 ? reader_bytes(r, 1) : reader_unsigned(r);
	if (ra != RETURN_ADDRESS || !read_augmentation(r, c, letters) || r->bad)
		return false;
	struct program p = { .r = r, .common = c };
	if (!program_run(&p))
		return false;
	c->initial = p.state;
	return true;
}

static const struct common *find_common(const common_list *list, size_t at)
{
	size_t low = 0, high = list->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (list->items[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < list->count && list->items[low].at == at ? &list->items[low] : NULL;
}

static void read_entry(struct reader *r, const struct common *c, struct cfi *into)
{
	const struct cfi_section *section = r->section;
	uint64_t begin = reader_pointer(r, c->encoding, 0);
	uint64_t range = reader_format(r, c->encoding), end;
	if (c->augmented)
		reader_skip(r, reader_unsigned(r));
	if (r->bad || !range || __builtin_add_overflow(begin, range, &end) ||
	    begin < section->low || end > section->high)
		return;
	struct program p = {
		.r = r,
		.common = c,
		.state = c->initial,
		.pc = begin,
		.end = end,
		.low = section->low,
		.into = into,
		.first = into->rows.count,
	};
	if (program_run(&p))
		program_advance(&p, end);
	else if (p.pc < end)
		program_row(&p, (struct unwind_row){ .how = UNWIND_NONE });
	array_push(&into->spans, (struct cfi_span){
					 .begin = (uint32_t)(begin - section->low),
					 .end = (uint32_t)(end - section->low),
					 .first = p.first,
					 .count = into->rows.count - p.first,
				 });
}

void cfi_read(struct cfi *into, const struct cfi_section *section)
{
	FREED common_list commons = { 0 };
	struct reader r = { .section = section, .end = section->size };
	while (r.at < section->size) {
		size_t at = r.at;
		uint64_t length = reader_bytes(&r, 4);
		if (!length && section->terminated)
			break;
		struct reader body = r;
		reader_skip(&r, length);
		/* a length of 2^32 - 1 would announce one of 64 bits: no linker writes that here */
		if (r.bad)
			break;
		body.end = r.at;
		size_t id_at = body.at;
		uint64_t id = reader_bytes(&body, 4);
		if (body.bad)
			continue;
		if (!id) {
			struct common c = { .at = at };
			if (read_common(&body, &c))
				array_push(&commons, c);
		} else if (id <= id_at) {
			const struct common *c = find_common(&commons, id_at - id);
			if (c)
				read_entry(&body, c, into);
		}
	}
}

void cfi_release(struct cfi *c)
{
	array_release(&c->spans);
	array_release(&c->rows);
}
