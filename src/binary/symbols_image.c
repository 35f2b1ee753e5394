#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "binary/build_id.h"
#include "binary/symbols_private.h"

#define SECTIONS_MAX 65536
#define SEGMENTS_MAX 4096
#define SECTION_NAMES_MAX (1u << 20) /* bytes: they are kept */
#define NOTES_MAX 65536
#define BYTES_MAX (64u << 20) /* a file with holes can pretend any size */

static bool read_at(const struct elf_image *e, uint64_t offset, void *into, size_t size)
{
	if (offset > e->size || size > e->size - offset)
		return false;
	if (e->memory) {
		memcpy(into, e->memory + offset, size);
		return true;
	}
	for (size_t done = 0; done < size;) {
		ssize_t n = pread(e->fd, (char *)into + done, size - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) /* became shorter meanwhile */
			return false;
		done += (size_t)n;
	}
	return true;
}

uint8_t *elf_image_bytes(const struct elf_image *e, uint64_t offset, uint64_t size)
{
	if (offset > e->size || size > e->size - offset || size > BYTES_MAX)
		return NULL;
	uint8_t *bytes = xmalloc(size + 1);
	if (!read_at(e, offset, bytes, size)) {
		xfree(bytes);
		return NULL;
	}
	bytes[size] = 0;
	return bytes;
}

uint8_t *elf_image_section_bytes(const struct elf_image *e, const struct elf_section *s)
{
	if (!s || s->type == SHT_NOBITS || s->size == 0)
		return NULL;
	return elf_image_bytes(e, s->offset, s->size);
}

uint8_t *elf_image_section_begin(const struct elf_image *e, const struct elf_section *s,
				 uint64_t most, uint64_t *size)
{
	if (!s || s->type == SHT_NOBITS || s->size == 0)
		return NULL;
	*size = s->size < most ? s->size : most;
	return elf_image_bytes(e, s->offset, *size);
}

const struct elf_section *elf_image_section(const struct elf_image *e, const char *name)
{
	for (size_t i = 0; i < e->sections.count; i++)
		if (strcmp(e->sections.items[i].name, name) == 0)
			return &e->sections.items[i];
	return NULL;
}

const struct elf_section *elf_image_section_of_type(const struct elf_image *e, uint32_t type)
{
	for (size_t i = 0; i < e->sections.count; i++)
		if (e->sections.items[i].type == type)
			return &e->sections.items[i];
	return NULL;
}

bool elf_image_address(const struct elf_image *e, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < e->segments.count; i++) {
		const struct elf_segment *s = &e->segments.items[i];
		if (offset >= s->offset && offset - s->offset < s->size) {
			*address = s->address + (offset - s->offset);
			return true;
		}
	}
	return false;
}

bool elf_image_offset(const struct elf_image *e, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < e->segments.count; i++) {
		const struct elf_segment *s = &e->segments.items[i];
		if (address >= s->address && address - s->address < s->size) {
			*offset = s->offset + (address - s->address);
			return true;
		}
	}
	return false;
}

/* ---- headers ---- */

static bool read_header(struct elf_image *e, Elf64_Ehdr *h)
{
	unsigned char ident[EI_NIDENT];
	const unsigned char order = BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	if (!read_at(e, 0, ident, sizeof ident) || memcmp(ident, ELFMAG, SELFMAG) != 0 ||
	    ident[EI_DATA] != order)
		return false;
	e->is64 = ident[EI_CLASS] == ELFCLASS64;
	if (e->is64)
		return read_at(e, 0, h, sizeof *h) && h->e_phentsize >= sizeof(Elf64_Phdr);
	Elf32_Ehdr narrow;
	if (ident[EI_CLASS] != ELFCLASS32 || !read_at(e, 0, &narrow, sizeof narrow) ||
	    narrow.e_phentsize < sizeof(Elf32_Phdr))
		return false;
	*h = (Elf64_Ehdr){ .e_type = narrow.e_type,
			   .e_machine = narrow.e_machine,
			   .e_phoff = narrow.e_phoff,
			   .e_shoff = narrow.e_shoff,
			   .e_phentsize = narrow.e_phentsize,
			   .e_phnum = narrow.e_phnum,
			   .e_shentsize = narrow.e_shentsize,
			   .e_shnum = narrow.e_shnum,
			   .e_shstrndx = narrow.e_shstrndx };
	return true;
}

static bool read_segment(const struct elf_image *e, uint64_t offset, Elf64_Phdr *p)
{
	if (e->is64)
		return read_at(e, offset, p, sizeof *p);
	Elf32_Phdr narrow;
	if (!read_at(e, offset, &narrow, sizeof narrow))
		return false;
	*p = (Elf64_Phdr){ .p_type = narrow.p_type,
			   .p_offset = narrow.p_offset,
			   .p_vaddr = narrow.p_vaddr,
			   .p_filesz = narrow.p_filesz,
			   .p_align = narrow.p_align };
	return true;
}

static void read_segments(struct elf_image *e, const Elf64_Ehdr *h)
{
	size_t count = h->e_phnum < SEGMENTS_MAX ? h->e_phnum : SEGMENTS_MAX;
	for (size_t i = 0; i < count; i++) {
		Elf64_Phdr p;
		uint64_t at;
		if (__builtin_add_overflow(h->e_phoff, i * h->e_phentsize, &at) ||
		    !read_segment(e, at, &p))
			return;
		if (p.p_type == PT_LOAD && p.p_filesz) {
			array_push(&e->segments, (struct elf_segment){ .offset = p.p_offset,
								       .address = p.p_vaddr,
								       .size = p.p_filesz });
		} else if (p.p_type == PT_NOTE && !e->build_id_size) {
			size_t size = p.p_filesz < NOTES_MAX ? (size_t)p.p_filesz : NOTES_MAX;
			FREED uint8_t *notes = elf_image_bytes(e, p.p_offset, size);
			if (notes)
				e->build_id_size = build_id_in_notes(notes, size, e->build_id);
		}
	}
}

static bool read_section(const struct elf_image *e, uint64_t offset, Elf64_Shdr *s)
{
	if (e->is64)
		return read_at(e, offset, s, sizeof *s);
	Elf32_Shdr narrow;
	if (!read_at(e, offset, &narrow, sizeof narrow))
		return false;
	*s = (Elf64_Shdr){ .sh_name = narrow.sh_name,
			   .sh_type = narrow.sh_type,
			   .sh_flags = narrow.sh_flags,
			   .sh_addr = narrow.sh_addr,
			   .sh_offset = narrow.sh_offset,
			   .sh_size = narrow.sh_size,
			   .sh_link = narrow.sh_link };
	return true;
}

static void read_sections(struct elf_image *e, const Elf64_Ehdr *h)
{
	size_t count = h->e_shnum;
	uint32_t names = h->e_shstrndx;
	Elf64_Shdr s;
	if (!h->e_shoff || h->e_shentsize < (e->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)) ||
	    !read_section(e, h->e_shoff, &s))
		return;
	if (!count) /* more than fit into the header */
		count = s.sh_size < SECTIONS_MAX ? (size_t)s.sh_size : SECTIONS_MAX;
	if (names == SHN_XINDEX)
		names = s.sh_link;
	FREED uint32_t *at = xcalloc(count + 1, sizeof *at);
	for (size_t i = 0; i < count; i++) {
		if (h->e_shoff > e->size || !read_section(e, h->e_shoff + i * h->e_shentsize, &s))
			break;
		at[i] = s.sh_name;
		array_push(&e->sections, (struct elf_section){ .name = "",
							       .type = s.sh_type,
							       .link = s.sh_link,
							       .flags = s.sh_flags,
							       .address = s.sh_addr,
							       .offset = s.sh_offset,
							       .size = s.sh_size });
	}
	uint64_t size = 0;
	if (names < e->sections.count) {
		e->names = (char *)elf_image_section_begin(e, &e->sections.items[names],
							   SECTION_NAMES_MAX, &size);
	}
	for (size_t i = 0; i < e->sections.count; i++)
		if (e->names && at[i] < size)
			e->sections.items[i].name = e->names + at[i];
}

static bool parse(struct elf_image *e)
{
	Elf64_Ehdr h;
	if (!read_header(e, &h)) {
		elf_image_close(e);
		return false;
	}
	e->machine = h.e_machine;
	read_segments(e, &h);
	read_sections(e, &h);
	return true;
}

bool elf_image_open(struct elf_image *e, int fd)
{
	struct stat st;
	*e = (struct elf_image){ .fd = fd };
	if (fd < 0)
		return false;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0) {
		elf_image_close(e);
		return false;
	}
	e->size = (uint64_t)st.st_size;
	return parse(e);
}

bool elf_image_open_memory(struct elf_image *e, uint8_t *memory, size_t size)
{
	*e = (struct elf_image){ .fd = -1, .memory = memory, .size = size };
	return parse(e);
}

void elf_image_close(struct elf_image *e)
{
	if (e->fd >= 0)
		close(e->fd);
	xfree(e->memory);
	xfree(e->names);
	array_release(&e->segments);
	array_release(&e->sections);
	*e = (struct elf_image){ .fd = -1 };
}

/* ---- the one that has no file ---- */

bool elf_image_open_vdso(struct elf_image *e)
{
	*e = (struct elf_image){ .fd = -1 };
	FREED char *maps = file_read("/proc/self/maps");
	char *rest = maps, *line = NULL;
	while (rest && (line = strsep(&rest, "\n")) && !strstr(line, "[vdso]"))
		line = NULL;
	if (!line)
		return false;
	char *dash;
	uint64_t begin = strtoull(line, &dash, 16);
	size_t size = *dash == '-' ? (size_t)(strtoull(dash + 1, NULL, 16) - begin) : 0;
	CLOSED int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	if (!size || size > 1 << 20 || fd < 0)
		return false;
	uint8_t *bytes = xmalloc(size);
	if (pread(fd, bytes, size, (off_t)begin) == (ssize_t)size)
		return elf_image_open_memory(e, bytes, size);
	xfree(bytes);
	return false;
}
