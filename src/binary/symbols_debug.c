#include <dlfcn.h>
#include <elf.h>
#include <elfutils/libdwelf.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "binary/symbols_private.h"

#define USUAL_DIRECTORIES "/usr/lib/debug"
#define COPY_MAX (512u << 20) /* bytes of a file that its owner may change while it is read */
#define SERVER_LIBRARY "libdebuginfod.so.1"
#define ABSENT_MAX 4096
#define COPY_PIECE (4u << 20)
#define UNPACKED_MAX (UINT64_C(1) << 30) /* bytes of debug sections that are compressed */

static int open_path(const struct debug_search *search, const char *path)
{
	return search->open ? search->open(search->context, path) : file_open_regular(path);
}

/* ---- by build-id ---- */

static bool has_build_id(const struct elf_image *e, const uint8_t *id, size_t size)
{
	return e->build_id_size == size && memcmp(e->build_id, id, size) == 0;
}

/* Is it the file at `path`? Takes over the descriptor, and the path where it is. */
static bool fits_build_id(struct debug_file *d, int fd, char *path, const uint8_t *id, size_t size)
{
	if (elf_image_open(&d->image, fd)) {
		if (has_build_id(&d->image, id, size)) {
			d->path = path;
			return true;
		}
		elf_image_close(&d->image);
	}
	free(path);
	return false;
}

static bool find_by_build_id(struct debug_file *d, const struct debug_search *search,
			     const uint8_t *id, size_t size)
{
	if (size < 2)
		return false;
	FREED char *copy = xstrdup(search->directories ? search->directories : USUAL_DIRECTORIES);
	bool found = false;
	for (char *dir, *rest = copy; !found && (dir = strsep(&rest, ":"));) {
		struct strbuf name = { 0 };
		if (*dir != '/')
			continue;
		strbuf_printf(&name, "%s/.build-id/%02x/", dir, id[0]);
		for (size_t i = 1; i < size; i++)
			strbuf_printf(&name, "%02x", id[i]);
		strbuf_puts(&name, ".debug");
		int fd = open_path(search, name.text);
		found = fits_build_id(d, fd, strbuf_detach(&name), id, size);
	}
	return found;
}

/* ---- by the name in .gnu_debuglink ---- */

static bool has_crc(const struct elf_image *e, uint32_t expected, struct work *work)
{
	uint32_t table[256], crc = UINT32_MAX;
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t value = i;
		for (int bit = 0; bit < 8; bit++)
			value = value & 1 ? (value >> 1) ^ 0xedb88320u : value >> 1;
		table[i] = value;
	}
	for (uint64_t at = 0; at < e->size;) {
		uint64_t size = e->size - at < 1 << 20 ? e->size - at : 1 << 20;
		FREED uint8_t *bytes = work_on(work, WORK_LOOK) ? elf_image_bytes(e, at, size)
								: NULL;
		if (!bytes)
			return false;
		for (uint64_t i = 0; i < size; i++)
			crc = table[(crc ^ bytes[i]) & 255] ^ (crc >> 8);
		at += size;
	}
	return ~crc == expected;
}

/* Takes over the path. */
static bool link_fits(struct debug_file *d, const struct elf_image *main, uint32_t crc,
		      const struct debug_search *search, char *path)
{
	struct stat x, y;
	bool fits = elf_image_open(&d->image, open_path(search, path)) &&
		    !(main->fd >= 0 && fstat(d->image.fd, &x) == 0 && fstat(main->fd, &y) == 0 &&
		      x.st_dev == y.st_dev && x.st_ino == y.st_ino);
	if (fits && main->build_id_size && d->image.build_id_size)
		fits = has_build_id(&d->image, main->build_id, main->build_id_size);
	else if (fits)
		fits = d->image.size <= COPY_MAX && has_crc(&d->image, crc, search->work);
	if (fits) {
		d->path = path;
	} else {
		elf_image_close(&d->image);
		xfree(path);
	}
	return fits;
}

static bool find_by_link(struct debug_file *d, const struct elf_image *main, const char *path,
			 const struct debug_search *search)
{
	const struct elf_section *s = elf_image_section(main, ".gnu_debuglink");
	FREED char *name = s && s->size <= 4096 ? (char *)elf_image_section_bytes(main, s) : NULL;
	size_t at = name ? (strlen(name) + 4) & ~(size_t)3 : 0;
	uint32_t crc;
	if (*path != '/' || !name || !*name || strchr(name, '/') || at + sizeof crc > s->size)
		return false;
	memcpy(&crc, name + at, sizeof crc);
	int length = (int)(strrchr(path, '/') - path);
	bool found = link_fits(d, main, crc, search, xprintf("%.*s/%s", length, path, name)) ||
		     link_fits(d, main, crc, search, xprintf("%.*s/.debug/%s", length, path, name));
	FREED char *copy = xstrdup(search->directories ? search->directories : USUAL_DIRECTORIES);
	for (char *dir, *rest = copy; !found && (dir = strsep(&rest, ":"));)
		if (*dir == '/')
			found = link_fits(d, main, crc, search,
					  xprintf("%s%.*s/%s", dir, length, path, name));
	return found;
}

/* ---- from a server, where the user names one ---- */

/* Called while it waits. */
static int progress(void *client, long done, long all)
{
	(void)done;
	(void)all;
	void *(*get)(void *) = NULL;
	void *library = dlopen(SERVER_LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return 0;
	*(void **)&get = dlsym(library, "debuginfod_get_user_data");
	if (get)
		work_on(get(client), WORK_LOOK);
	dlclose(library);
	return 0;
}

int ask_debuginfod(void *context, const uint8_t *id, size_t size, char **path)
{
#ifdef TARE_STATIC
	const char *urls = NULL;
#else
	const char *urls = getenv("DEBUGINFOD_URLS");
#endif
	void *library = urls && *urls ? dlopen(SERVER_LIBRARY, RTLD_LAZY) : NULL;
	if (!library)
		return -1;
	void *(*begin)(void) = NULL;
	void (*end)(void *) = NULL;
	int (*find)(void *, const unsigned char *, int, char **) = NULL;
	*(void **)&begin = dlsym(library, "debuginfod_begin");
	*(void **)&end = dlsym(library, "debuginfod_end");
	*(void **)&find = dlsym(library, "debuginfod_find_debuginfo");
	void (*set)(void *, void *) = NULL;
	void (*set_function)(void *, int (*)(void *, long, long)) = NULL;
	*(void **)&set = dlsym(library, "debuginfod_set_user_data");
	*(void **)&set_function = dlsym(library, "debuginfod_set_progressfn");
	int fd = -1;
	void *client = begin && end && find ? begin() : NULL;
	if (client) {
		char *name = NULL;
		if (set && set_function) {
			set(client, context);
			set_function(client, progress);
		}
		fd = find(client, id, (int)size, &name);
		if (fd >= 0)
			*path = name;
		else
			free(name);
		end(client);
	}
	/* it stays loaded: libcurl beneath it does not like to go */
	return fd;
}

static bool ask_server(struct debug_file *d, const struct elf_image *main,
		       const struct debug_search *search)
{
	const uint8_t *id = main->build_id;
	size_t size = main->build_id_size;
	struct absent *list = search->absent;
	char *path = NULL;
	if (!size)
		return false;
	for (size_t i = 0; list && i < list->ids.count; i++)
		if (list->ids.items[i].size == size &&
		    memcmp(list->ids.items[i].bytes, id, size) == 0)
			return false;
	int fd = search->ask ? search->ask(search->context, id, size, &path)
			     : ask_debuginfod(search->work, id, size, &path);
	if (fits_build_id(d, fd, path, id, size))
		return true;
	struct absent_id new = { .size = (uint8_t)size };
	memcpy(new.bytes, id, size);
	if (list && list->ids.count < ABSENT_MAX)
		array_push(&list->ids, new);
	else if (list)
		list->ids.items[list->next++ % ABSENT_MAX] = new;
	return false;
}

bool debug_file_find(struct debug_file *d, const struct elf_image *main, const char *path,
		     const struct debug_search *search)
{
	*d = (struct debug_file){ .image.fd = -1 };
	return find_by_build_id(d, search, main->build_id, main->build_id_size) ||
	       find_by_link(d, main, path, search) || ask_server(d, main, search);
}

void debug_file_close(struct debug_file *d)
{
	elf_image_close(&d->image);
	free(d->path);
	d->path = NULL;
}

/* ---- for libdw ---- */

/* libdw maps files, and a mapped file that becomes shorter kills its reader: what others than root
 * can write is copied. */
static int private_copy(int fd, size_t *memory, struct work *work)
{
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0)
		return -1;
	if (st.st_uid == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return dup(fd);
	if (st.st_size > COPY_MAX)
		return -1;
	int copy = memfd_create("tare-debug", MFD_CLOEXEC);
	off_t at = 0;
	while (copy >= 0 && at < st.st_size && work_on(work, WORK_LOOK))
		if (sendfile(copy, fd, &at, COPY_PIECE) <= 0)
			break;
	if (copy >= 0 && at < st.st_size) {
		close(copy);
		return -1;
	}
	*memory += (size_t)st.st_size;
	return copy;
}

/* How much the compressed sections say they hold; more than UNPACKED_MAX is too much. */
static uint64_t unpacked_size(const struct elf_image *e)
{
	uint64_t total = 0;
	for (size_t i = 0; i < e->sections.count; i++) {
		const struct elf_section *s = &e->sections.items[i];
		bool old = strncmp(s->name, ".zdebug", 7) == 0;
		if (!old && !(s->flags & SHF_COMPRESSED))
			continue;
		FREED uint8_t *head = elf_image_bytes(e, s->offset, sizeof(Elf64_Chdr));
		uint64_t size = UNPACKED_MAX + 1;
		if (head && old) {
			memcpy(&size, head + 4, sizeof size);
			size = be64toh(size);
		} else if (head && e->is64) {
			memcpy(&size, head + offsetof(Elf64_Chdr, ch_size), sizeof size);
		} else if (head) {
			uint32_t narrow;
			memcpy(&narrow, head + offsetof(Elf32_Chdr, ch_size), sizeof narrow);
			size = narrow;
		}
		if (size > UNPACKED_MAX || (total += size) > UNPACKED_MAX)
			return UNPACKED_MAX + 1;
	}
	return total;
}

static bool has_dwarf(const struct elf_image *e)
{
	const struct elf_section *s = elf_image_section(e, ".debug_info");
	if (!s)
		s = elf_image_section(e, ".zdebug_info");
	return e->fd >= 0 && s && s->type != SHT_NOBITS && unpacked_size(e) <= UNPACKED_MAX;
}

static Dwarf *begin(const struct elf_image *e, int *fd, size_t *memory, struct work *work)
{
	*fd = has_dwarf(e) ? private_copy(e->fd, memory, work) : -1;
	Dwarf *dwarf = *fd >= 0 ? dwarf_begin(*fd, DWARF_C_READ) : NULL;
	if (!dwarf && *fd >= 0) {
		close(*fd);
		*fd = -1;
	}
	*memory += dwarf ? unpacked_size(e) : 0;
	return dwarf;
}

/* What dwz took out of several files into one. libdw would look for it by itself, and would wait
 * for ever on a pipe of that name. */
static bool begin_alternative(struct dwarf_files *into, const char *path,
			      const struct debug_search *search)
{
	const char *name;
	const void *id;
	ssize_t size = dwelf_dwarf_gnu_debugaltlink(into->dwarf, &name, &id);
	if (size == 0)
		return true;
	if (size < 0 || size > BUILD_ID_MAX)
		return false;
	struct debug_file d = { .image.fd = -1 };
	const char *slash = path ? strrchr(path, '/') : NULL;
	bool found = find_by_build_id(&d, search, id, (size_t)size);
	if (!found && (*name == '/' || slash)) {
		char *full = *name == '/' ? xstrdup(name)
					  : xprintf("%.*s/%s", (int)(slash - path), path, name);
		int fd = open_path(search, full);
		found = fits_build_id(&d, fd, full, id, (size_t)size);
	}
	if (found && !elf_image_section(&d.image, ".gnu_debugaltlink"))
		into->alternative =
			begin(&d.image, &into->alternative_fd, &into->memory, search->work);
	debug_file_close(&d);
	if (into->alternative)
		dwarf_setalt(into->dwarf, into->alternative);
	return into->alternative;
}

bool dwarf_files_open(struct dwarf_files *into, const struct elf_image *main, const char *path,
		      const struct debug_file *debug, const struct debug_search *search)
{
	*into = (struct dwarf_files){ .fd = -1, .alternative_fd = -1 };
	bool separate = debug && has_dwarf(&debug->image);
	into->dwarf =
		begin(separate ? &debug->image : main, &into->fd, &into->memory, search->work);
	if (into->dwarf && begin_alternative(into, separate ? debug->path : path, search))
		return true;
	dwarf_files_close(into);
	return false;
}

void dwarf_files_close(struct dwarf_files *d)
{
	if (d->dwarf)
		dwarf_end(d->dwarf);
	if (d->alternative)
		dwarf_end(d->alternative);
	if (d->fd >= 0)
		close(d->fd);
	if (d->alternative_fd >= 0)
		close(d->alternative_fd);
	*d = (struct dwarf_files){ .fd = -1, .alternative_fd = -1 };
}
