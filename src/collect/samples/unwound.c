#include "collect/samples/unwound.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

#define WORD 8
#define ROWS_MOST (4u << 20)	 /* 32 MiB */
#define FRAMES_MOST (128u << 20) /* of .eh_frame, or of a file that does not say where it is */
#define FILE_MOST (INT64_C(1) << 36)

/* ---- tables ---- */

static void read_parts(struct unwound_object *o, const uint8_t *image, size_t size)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;
	if (size < sizeof h)
		return;
	memcpy(&h, image, sizeof h);
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64)
		return;
	for (size_t i = 0; i < h.e_phnum; i++) {
		uint64_t at;
		if (__builtin_add_overflow(h.e_phoff, i * sizeof p, &at) || at > size ||
		    size - at < sizeof p)
			return;
		memcpy(&p, image + at, sizeof p);
		if (p.p_type == PT_LOAD && p.p_flags & PF_X)
			array_push(&o->parts, (struct unwound_part){ .offset = p.p_offset,
								     .size = p.p_filesz,
								     .address = p.p_vaddr });
	}
}

static void read_image(struct unwound_object *o, const void *image, size_t size)
{
	read_parts(o, image, size);
	unwind_read(&o->table, image, size);
}

/* A file's bytes where they were read, and zeros elsewhere. Read, not mapped: a file that is cut
 * while it is mapped would end tare. */
struct sparse {
	int fd;
	uint8_t *bytes;
	size_t size;
};

static bool fetch(struct sparse *f, uint64_t offset, uint64_t size)
{
	if (offset > f->size || size > f->size - offset)
		return false;
	for (uint64_t done = 0; done < size;) {
		ssize_t got =
			pread(f->fd, f->bytes + offset + done, size - done, (off_t)(offset + done));
		if (got <= 0)
			return false;
		done += (uint64_t)got;
	}
	return true;
}

/* What unwind_read() looks at: .eh_frame is a few per cent of a file. False: there are no sections
 * to tell where it is. */
static bool fetch_frames(struct sparse *f)
{
	Elf64_Ehdr h;
	if (!fetch(f, 0, sizeof h))
		return false;
	memcpy(&h, f->bytes, sizeof h);
	uint64_t table = (uint64_t)h.e_shnum * sizeof(Elf64_Shdr);
	if (!fetch(f, h.e_phoff, (uint64_t)h.e_phnum * sizeof(Elf64_Phdr)) || !h.e_shnum ||
	    h.e_shentsize != sizeof(Elf64_Shdr) || !fetch(f, h.e_shoff, table) ||
	    h.e_shstrndx >= h.e_shnum)
		return false;
	for (size_t i = 0; i < h.e_shnum; i++) {
		static const char frames[] = ".eh_frame";
		Elf64_Shdr s, names;
		memcpy(&names, f->bytes + h.e_shoff + h.e_shstrndx * sizeof names, sizeof names);
		memcpy(&s, f->bytes + h.e_shoff + i * sizeof s, sizeof s);
		uint64_t name;
		if (__builtin_add_overflow(names.sh_offset, s.sh_name, &name) ||
		    !fetch(f, name, sizeof frames) ||
		    memcmp(f->bytes + name, frames, sizeof frames) != 0)
			continue;
		return s.sh_type != SHT_NOBITS && s.sh_size <= FRAMES_MOST &&
		       fetch(f, s.sh_offset, s.sh_size);
	}
	return false;
}

static void read_file(struct unwound_object *o, int fd)
{
	struct stat s;
	if (fd < 0 || fstat(fd, &s) != 0 || s.st_size <= 0 || s.st_size > FILE_MOST)
		return;
	struct sparse f = { .fd = fd, .size = (size_t)s.st_size };
	f.bytes = mmap(NULL, f.size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (f.bytes == MAP_FAILED)
		return;
	if (fetch_frames(&f) || (f.size <= FRAMES_MOST && fetch(&f, 0, f.size)))
		read_image(o, f.bytes, f.size);
	munmap(f.bytes, f.size);
}

static void release(struct sideband_object *of)
{
	struct unwound_object *o = of->user;
	of->user = NULL;
	if (!o)
		return;
	unwind_release(&o->table);
	array_release(&o->parts);
	xfree(o);
}

/* Files come and go for as long as something is built: tables that nobody asked for in a long time
 * can be read again. */
static void make_room(struct sideband *sb)
{
	size_t rows = 0;
	struct sideband_object *of, *oldest;
	do {
		rows = 0;
		oldest = NULL;
		for (uint32_t i = 0; (of = sideband_object(sb, i)); i++) {
			const struct unwound_object *o = of->user;
			if (!o || !o->table.count)
				continue;
			rows += o->table.count;
			if (!oldest ||
			    o->used_ns < ((const struct unwound_object *)oldest->user)->used_ns)
				oldest = of;
		}
		if (rows > ROWS_MOST)
			release(oldest);
	} while (rows > ROWS_MOST);
}

const struct unwound_object *unwound_object(struct sideband *sb, uint32_t object, uint32_t pid)
{
	struct sideband_object *of = sideband_object(sb, object);
	if (!of)
		return NULL;
	if (of->user) {
		struct unwound_object *known = of->user;
		known->used_ns = clock_monotonic_ns();
		return known;
	}
	make_room(sb);
	sideband_on_gone(sb, release);
	struct unwound_object *o = xcalloc(1, sizeof *o);
	o->used_ns = clock_monotonic_ns();
	if (of->object.kind == OBJECT_VDSO) {
		/* The kernel gives every process the same; this one's can be read. Its size is in
		 * its own headers: the section headers come last. */
		const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); /* NOLINT */
		Elf64_Ehdr h;
		if (image && sizeof(void *) == WORD) {
			memcpy(&h, image, sizeof h);
			read_image(o, image, h.e_shoff + (size_t)h.e_shnum * h.e_shentsize);
		}
	} else if (of->object.kind == OBJECT_FILE) {
		read_file(o, sideband_object_fd(sb, object, pid));
	}
	of->user = o;
	return o;
}

bool unwound_address(const struct unwound_object *o, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < o->parts.count; i++) {
		const struct unwound_part *p = &o->parts.items[i];
		if (offset < p->offset || offset - p->offset >= p->size)
			continue;
		*address = p->address + (offset - p->offset);
		return true;
	}
	return false;
}

void unwound_release(struct sideband *sb)
{
	struct sideband_object *of;
	for (uint32_t i = 0; (of = sideband_object(sb, i)); i++)
		release(of);
}

/* ---- frames ---- */

static const struct unwind_row *row_of(struct sideband *sb, struct image_of *image, uint64_t ip,
				       uint64_t *address)
{
	const struct mapping *m = image_mapping(image, ip);
	if (!m)
		return NULL;
	uint64_t offset = m->offset + (ip - m->begin);
	const struct unwound_object *o = unwound_object(sb, m->object, image->pid);
	if (!o || !unwound_address(o, offset, address))
		return NULL;
	const struct unwind_row *row = unwind_find(&o->table, *address);
	return row && (row->how & 0x0f) != UNWIND_NONE ? row : NULL;
}

static bool word_at(const struct unwind_memory *stack, uint64_t address, uint64_t *word)
{
	if (address < stack->begin || address - stack->begin > stack->size ||
	    stack->size - (address - stack->begin) < sizeof *word)
		return false;
	memcpy(word, stack->bytes + (address - stack->begin), sizeof *word);
	return true;
}

/* By the frame pointer: plausible when it is above sp and what it leads to is code. */
static enum unwind_result step_by_pointer(const struct image_of *image,
					  const struct unwind_memory *stack,
					  struct unwind_state *state)
{
	struct unwind_state caller;
	if (state->bp % WORD || state->bp < state->sp || !word_at(stack, state->bp, &caller.bp) ||
	    !word_at(stack, state->bp + WORD, &caller.ip))
		return UNWIND_STUCK;
	if (!caller.ip)
		return UNWIND_DONE;
	if (!image_mapping(image, caller.ip - 1))
		return UNWIND_STUCK;
	caller.sp = state->bp + 2 * WORD;
	*state = caller;
	return UNWIND_CALLER;
}

static enum stack_end end_of(enum unwind_result result)
{
	switch (result) {
	case UNWIND_DONE:
		return STACK_COMPLETE;
	case UNWIND_BEYOND:
		return STACK_LIMIT;
	default:
		return STACK_BROKEN;
	}
}

size_t unwound(struct sideband *sb, struct image_of *image, struct unwind_state from,
	       const struct unwind_memory *stack, uint64_t *ips, size_t max, enum stack_end *end)
{
	struct unwind_state state = from;
	uint64_t ip = from.ip;
	*end = STACK_LIMIT;
	for (size_t count = 0; count < max;) {
		ips[count++] = ip;
		uint64_t address = 0;
		const struct unwind_row *row = row_of(sb, image, ip, &address);
		bool signal = row && (row->how & 0x0f) == UNWIND_SIGNAL;
		enum unwind_result result = row ? unwind_step(row, &state, address & 15, stack)
						: step_by_pointer(image, stack, &state);
		if (signal && count > 1)
			ips[count - 1]++; /* where the handler returns to, not a call */
		if (result != UNWIND_CALLER) {
			*end = end_of(result);
			return count;
		}
		/* a signal did not call: it came before this very instruction */
		ip = signal ? state.ip : state.ip - 1;
		if (!image_mapping(image, ip)) {
			*end = STACK_BROKEN;
			return count;
		}
	}
	return max;
}
