#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "binary/symbols_private.h"

#define REREAD_NS (60 * UINT64_C(1000000000)) /* modules and BPF programs come and go */
#define MODULES_MAX 4096
#define KCORE_SEGMENTS_MAX 65536

/* The number of a module. They stand together: it is the last, or new. */
static uint16_t module_number(struct kernel_symbols *k, const char *name)
{
	size_t count = k->modules.count;
	if (*name != '[')
		return 0;
	for (size_t i = count; i-- > 0;)
		if (strcmp(k->modules.items[i], name) == 0)
			return (uint16_t)(i + 1);
	if (count >= MODULES_MAX)
		return 0;
	array_push(&k->modules, xstrdup(name)); /* NOLINT(bugprone-sizeof-expression) */
	return (uint16_t)(count + 1);
}

const char *kernel_module(const struct kernel_symbols *k, const struct symbol *s)
{
	return s->module ? k->modules.items[s->module - 1] : NULL;
}

static void forget_modules(struct kernel_symbols *k)
{
	for (size_t i = 0; i < k->modules.count; i++)
		xfree(k->modules.items[i]);
	k->modules.count = 0;
}

/* "ffffffff81000000 T name\t[module]" */
static bool parse_line(struct kernel_symbols *k, char *line)
{
	char *rest;
	uint64_t address = strtoull(line, &rest, 16);
	if (rest == line || rest[0] != ' ' || !rest[1] || rest[2] != ' ')
		return true;
	char type = rest[1], *name = rest + 3;
	if (!address)
		return false;
	if (!strchr("TtWw", type))
		return true;
	char *module = name + strcspn(name, "\t ");
	if (*module)
		*module++ = '\0';
	uint8_t binding = type == 'T' ? STB_GLOBAL : type == 't' ? STB_LOCAL : STB_WEAK;
	if (*name && symbol_table_add(&k->table, address, 0, name, binding, STT_FUNC))
		k->table.list.items[k->table.list.count - 1].module = module_number(k, module);
	return true;
}

void kernel_parse(struct kernel_symbols *k, const char *text)
{
	symbol_table_release(&k->table);
	forget_modules(k);
	FREED char *copy = xstrdup(text);
	unsigned hidden = 0;
	for (char *line, *rest = copy; (line = strsep(&rest, "\n"));)
		if (!parse_line(k, line) && ++hidden > 1000 && !k->table.list.count)
			break; /* kptr_restrict: all of them are 0 */
	symbol_table_finish(&k->table);
}

void kernel_open_memory(struct kernel_symbols *k)
{
	Elf64_Ehdr h;
	k->read = true;
	k->kcore = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	if (k->kcore < 0 || pread(k->kcore, &h, sizeof h, 0) != (ssize_t)sizeof h ||
	    memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_phentsize != sizeof(Elf64_Phdr))
		return;
	for (uint32_t i = 0; i < h.e_phnum && i < KCORE_SEGMENTS_MAX; i++) {
		Elf64_Phdr p;
		if (pread(k->kcore, &p, sizeof p, (off_t)(h.e_phoff + i * sizeof p)) !=
		    (ssize_t)sizeof p)
			return;
		if (p.p_type == PT_LOAD)
			array_push(&k->memory, (struct elf_segment){ .offset = p.p_offset,
								     .address = p.p_vaddr,
								     .size = p.p_filesz });
	}
}

static void kernel_read(struct kernel_symbols *k)
{
	/* some 10 MB that the kernel makes line by line */
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	char chunk[16384];
	CLOSED int fd = k->open ? k->open(k->context)
				: open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	ssize_t n;
	while (fd >= 0 && ((n = read(fd, chunk, sizeof chunk)) > 0 || (n < 0 && errno == EINTR))) {
		strbuf_add(&text, chunk, n > 0 ? (size_t)n : 0);
		work_on(k->table.work, 256);
	}
	if (text.length)
		kernel_parse(k, text.text);
	if (!k->read && !k->open)
		kernel_open_memory(k);
	else if (!k->read)
		k->kcore = -1;
	k->read = true;
	k->read_ns = clock_monotonic_ns();
}

const struct symbol *kernel_find(struct kernel_symbols *k, uint64_t address)
{
	if (!k->read)
		kernel_read(k);
	const struct symbol *s = symbol_table_find(&k->table, address);
	if (!s && clock_monotonic_ns() - k->read_ns > REREAD_NS) {
		kernel_read(k);
		s = symbol_table_find(&k->table, address);
	}
	return s;
}

size_t kernel_code(struct kernel_symbols *k, uint64_t address, uint8_t *into, size_t size)
{
	if (!k->read)
		kernel_read(k);
	for (size_t i = 0; i < k->memory.count; i++) {
		const struct elf_segment *s = &k->memory.items[i];
		if (address < s->address || address - s->address >= s->size)
			continue;
		uint64_t away = address - s->address, left = s->size - away;
		ssize_t n =
			pread(k->kcore, into, size < left ? size : left, (off_t)(s->offset + away));
		return n > 0 ? (size_t)n : 0;
	}
	return 0;
}

void kernel_release(struct kernel_symbols *k)
{
	symbol_table_release(&k->table);
	forget_modules(k);
	array_release(&k->modules);
	array_release(&k->memory);
	if (k->read && k->kcore >= 0)
		close(k->kcore);
}
