#include "unwind-image.h"

#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct head {
	Elf64_Ehdr elf;
	Elf64_Phdr segments[3];
	uint8_t frame_header[8]; /* .eh_frame_hdr, without its table */
};

uint8_t *image_make(const uint8_t *frames, size_t frames_size, size_t *size)
{
	uint32_t to_frames = 4; /* from where the pointer is */
	struct head head = {
		.elf = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB },
			.e_machine = EM_X86_64,
			.e_phoff = offsetof(struct head, segments),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 3,
		},
		.segments = {
			{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = IMAGE_CODE,
			  .p_memsz = IMAGE_CODE_SIZE },
			{ .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = IMAGE_FRAMES - 8,
			  .p_offset = offsetof(struct head, frame_header),
			  .p_filesz = 8 + frames_size, .p_memsz = 8 + frames_size },
			{ .p_type = PT_GNU_EH_FRAME, .p_flags = PF_R,
			  .p_vaddr = IMAGE_FRAMES - 8,
			  .p_offset = offsetof(struct head, frame_header), .p_filesz = 8,
			  .p_memsz = 8 },
		},
		.frame_header = { 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_omit,
				  DW_EH_PE_omit },
	};
	memcpy(head.frame_header + 4, &to_frames, sizeof to_frames);
	size_t before = offsetof(struct head, frame_header) + sizeof head.frame_header;
	uint8_t *image = xmalloc(before + frames_size);
	memcpy(image, &head, before);
	if (frames_size)
		memcpy(image + before, frames, frames_size);
	*size = before + frames_size;
	return image;
}

static void put(struct frames *f, const void *bytes, size_t count)
{
	if (count > sizeof f->bytes - f->size)
		abort();
	if (count)
		memcpy(f->bytes + f->size, bytes, count);
	f->size += count;
}

static void put_byte(struct frames *f, uint8_t byte)
{
	put(f, &byte, 1);
}

static void put_word(struct frames *f, uint32_t word)
{
	put(f, &word, sizeof word);
}

static void end_record(struct frames *f, size_t at)
{
	uint32_t length = (uint32_t)(f->size - at - 4);
	memcpy(f->bytes + at, &length, sizeof length);
}

void frames_common(struct frames *f, uint8_t version, const char *letters, uint8_t encoding,
		   const uint8_t *program, size_t count)
{
	f->common = f->size;
	put_word(f, 0);
	put_word(f, 0);
	put_byte(f, version);
	put(f, letters, strlen(letters) + 1);
	put_byte(f, 1);	   /* code alignment */
	put_byte(f, 0x78); /* data alignment: -8 */
	put_byte(f, 16);   /* return address: in both versions one byte */
	if (letters[0] == 'z') {
		size_t length = f->size;
		put_byte(f, 0);
		for (const char *letter = letters + 1; *letter; letter++) {
			if (*letter == 'R') {
				put_byte(f, encoding);
			} else if (*letter == 'L') {
				put_byte(f, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
			} else if (*letter == 'P') {
				put_byte(f, DW_EH_PE_indirect | DW_EH_PE_pcrel | DW_EH_PE_sdata4);
				put_word(f, 0x1234);
			}
		}
		f->bytes[length] = (uint8_t)(f->size - length - 1);
	}
	put(f, program, count);
	end_record(f, f->common);
}

static void put_value(struct frames *f, uint8_t encoding, uint64_t value)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		put(f, &value, 2);
		break;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		put(f, &value, 4);
		break;
	case DW_EH_PE_uleb128:
		for (; value >= 0x80; value >>= 7)
			put_byte(f, (uint8_t)(value | 0x80));
		put_byte(f, (uint8_t)value);
		break;
	case DW_EH_PE_sleb128: /* positive ones only */
		for (; value >= 0x40; value >>= 7)
			put_byte(f, (uint8_t)(value | 0x80));
		put_byte(f, (uint8_t)value);
		break;
	default:
		put(f, &value, 8);
	}
}

void frames_entry(struct frames *f, uint8_t encoding, uint64_t begin, uint64_t range,
		  const uint8_t *program, size_t count)
{
	size_t at = f->size;
	put_word(f, 0);
	put_word(f, (uint32_t)(f->size - f->common));
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		begin -= IMAGE_FRAMES + f->size;
	put_value(f, encoding, begin);
	put_value(f, encoding, range);
	if (strchr((const char *)f->bytes + f->common + 9, 'z')) {
		put_byte(f, 4); /* as an LSDA's pointer would be */
		put_word(f, 0);
	}
	put(f, program, count);
	end_record(f, at);
}
