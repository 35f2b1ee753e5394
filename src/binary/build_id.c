#include "binary/build_id.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#define HEADERS_MAX 128	      /* program headers looked at */
#define NOTES_MAX (16u << 10) /* bytes of notes looked at, in each segment */

static bool read_at(int fd, uint64_t offset, void *into, size_t size)
{
	return offset <= INT64_MAX && pread(fd, into, size, (off_t)offset) == (ssize_t)size;
}

static size_t padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

/* perf and the kernel align notes to 4, whatever their segment says. */
uint8_t build_id_in_notes(const uint8_t *notes, size_t size, uint8_t id[BUILD_ID_MAX])
{
	Elf64_Nhdr n; /* the same in both classes */
	for (size_t at = 0; at + sizeof n <= size;) {
		memcpy(&n, notes + at, sizeof n);
		at += sizeof n;
		if (n.n_namesz > size || n.n_descsz > size ||
		    padded(n.n_namesz) + n.n_descsz > size - at)
			return 0;
		const uint8_t *name = notes + at, *described = name + padded(n.n_namesz);
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == sizeof ELF_NOTE_GNU &&
		    memcmp(name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0 && n.n_descsz > 0 &&
		    n.n_descsz <= BUILD_ID_MAX) {
			memset(id, 0, BUILD_ID_MAX);
			memcpy(id, described, n.n_descsz);
			return (uint8_t)n.n_descsz;
		}
		size_t step = padded(n.n_namesz) + padded(n.n_descsz);
		if (step > size - at)
			return 0;
		at += step;
	}
	return 0;
}

bool build_id_read(int fd, struct profile_object *o)
{
	union {
		Elf64_Ehdr wide;
		Elf32_Ehdr narrow;
		unsigned char ident[EI_NIDENT];
	} h;
	memset(&h, 0, sizeof h);
	if (!read_at(fd, 0, &h, sizeof h.narrow) || memcmp(h.ident, ELFMAG, SELFMAG) != 0)
		return false;
	bool wide = h.ident[EI_CLASS] == ELFCLASS64;
	if (wide && !read_at(fd, 0, &h, sizeof h.wide))
		return false;
	uint64_t table = wide ? h.wide.e_phoff : h.narrow.e_phoff;
	size_t count = wide ? h.wide.e_phnum : h.narrow.e_phnum;
	for (size_t i = 0; i < count && i < HEADERS_MAX; i++) {
		union {
			Elf64_Phdr wide;
			Elf32_Phdr narrow;
			Elf64_Word type; /* first in both */
		} p;
		size_t each = wide ? sizeof p.wide : sizeof p.narrow;
		uint8_t bytes[NOTES_MAX];
		if (table > INT64_MAX / 2 || !read_at(fd, table + i * each, &p, each) ||
		    p.type != PT_NOTE)
			continue;
		uint64_t size = wide ? p.wide.p_filesz : p.narrow.p_filesz;
		size = size < sizeof bytes ? size : sizeof bytes;
		uint8_t found = read_at(fd, wide ? p.wide.p_offset : p.narrow.p_offset, bytes, size)
					? build_id_in_notes(bytes, size, o->build_id)
					: 0;
		if (found) {
			o->build_id_size = found;
			return true;
		}
	}
	return false;
}
