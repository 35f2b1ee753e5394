#include "unwind-objects.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct mapped map_file(const char *path)
{
	struct mapped m = { 0 };
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return m;
	if (fstat(fd, &st) == 0 && st.st_size > 0) {
		void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED)
			m = (struct mapped){ bytes, (size_t)st.st_size };
	}
	close(fd);
	return m;
}

void unmap_file(struct mapped *m)
{
	if (m->bytes)
		munmap((void *)m->bytes, m->size);
	*m = (struct mapped){ 0 };
}

struct mapped vdso(void)
{
	struct mapped m = { 0 };
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "re");
	while (maps && fgets(line, sizeof line, maps)) {
		unsigned long begin, end;
		if (strstr(line, "[vdso]") && sscanf(line, "%lx-%lx", &begin, &end) == 2 &&
		    begin == getauxval(AT_SYSINFO_EHDR))
			m = (struct mapped){ (const uint8_t *)begin, end - begin };
	}
	if (maps)
		fclose(maps);
	return m;
}

static int take(struct dl_phdr_info *info, size_t size, void *context)
{
	struct objects *o = context;
	bool is_vdso = info->dlpi_name && strstr(info->dlpi_name, "linux-vdso");
	const char *path = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
	struct object item = { .begin = UINT64_MAX, .bias = info->dlpi_addr };
	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t begin = info->dlpi_addr + segment->p_vaddr;
		if (segment->p_type != PT_LOAD)
			continue;
		item.begin = begin < item.begin ? begin : item.begin;
		item.end = begin + segment->p_memsz;
	}
	struct mapped m = is_vdso ? vdso() : map_file(path);
	unwind_read(&item.table, m.bytes, m.size);
	if (!is_vdso)
		unmap_file(&m);
	if (o->count < sizeof o->items / sizeof *o->items)
		o->items[o->count++] = item;
	return 0;
}

void objects_take(struct objects *o)
{
	o->count = 0;
	dl_iterate_phdr(take, o);
}

void objects_release(struct objects *o)
{
	for (size_t i = 0; i < o->count; i++)
		unwind_release(&o->items[i].table);
	o->count = 0;
}

const struct unwind_row *objects_find(const struct objects *o, uint64_t address)
{
	for (size_t i = 0; i < o->count; i++) {
		const struct object *item = &o->items[i];
		if (address >= item->begin && address < item->end)
			return unwind_find(&item->table, address - item->bias);
	}
	return NULL;
}

enum unwind_result objects_walk(const struct objects *o, struct unwind_state state,
				const struct unwind_memory *stack, uint64_t *ips, size_t room,
				size_t *count)
{
	enum unwind_result result = UNWIND_CALLER;
	bool exact = true;
	*count = 0;
	while (*count < room && result == UNWIND_CALLER) {
		uint64_t at = exact ? state.ip : state.ip - 1;
		const struct unwind_row *row = objects_find(o, at);
		ips[(*count)++] = state.ip;
		exact = row && (row->how & 0x0f) == UNWIND_SIGNAL;
		result = unwind_step(row, &state, at & 15, stack);
	}
	return result;
}
