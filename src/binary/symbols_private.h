/* Shared by the parts of symbols.c. All of this reads files that anyone may have written: each read
 * is checked against the size of the file, and each count is limited. */
#ifndef TARE_BINARY_SYMBOLS_PRIVATE_H
#define TARE_BINARY_SYMBOLS_PRIVATE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "binary/symbols.h"
#include "record/profile.h"

/* ---- files that somebody else opens, because the process that reads them may not ---- */

/* Each returns a descriptor, or -1. */
struct symbols_files {
	int (*path)(void *context, const char *path); /* of debug information */
	/* The file with this build-id from a server, and its malloc'ed path. */
	int (*server)(void *context, const uint8_t *id, size_t size, char **path);
	int (*jit)(void *context); /* the map of the process whose code is being named */
	int (*kallsyms)(void *context);
};

/* ---- symbols.c: limits of reading one file ---- */

struct work {
	void (*breathe)(void *context); /* NULL: not needed */
	void *context;
	uint64_t left_ns; /* of CPU time; 0: nothing more is read */
	uint64_t begun_ns, breathed_ns;
	size_t steps; /* since the clocks were last read */
};

#define WORK_LOOK 1024 /* steps between two readings of the clocks */

/* The time between these two is subtracted from what is left. They do not nest. */
void work_begin(struct work *w);
void work_end(struct work *w);
/* Between those two: counts this many more small steps. False: stop. NULL never stops. */
bool work_on(struct work *w, size_t steps);

/* ---- symbols_image.c: an ELF file, in a descriptor or in memory ---- */

struct elf_segment {
	uint64_t offset, address, size; /* size: in the file */
};
struct elf_section {
	const char *name; /* never NULL */
	uint32_t type, link;
	uint64_t flags, address, offset, size;
};
struct elf_image {
	int fd;		 /* -1: none */
	uint8_t *memory; /* NULL: read from the descriptor */
	uint64_t size;
	bool is64;
	uint16_t machine;
	ARRAY(struct elf_segment) segments; /* only those that are loaded */
	ARRAY(struct elf_section) sections;
	char *names;
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size;
};

/* False: not an ELF file of this machine's byte order. Takes over the descriptor or the memory
 * (from malloc) in any case. */
bool elf_image_open(struct elf_image *e, int fd);
bool elf_image_open_memory(struct elf_image *e, uint8_t *memory, size_t size);
void elf_image_close(struct elf_image *e);
/* A copy with a NUL after it, which the caller frees; NULL: a part is outside the file, or it is
 * implausibly large. */
uint8_t *elf_image_bytes(const struct elf_image *e, uint64_t offset, uint64_t size);
uint8_t *elf_image_section_bytes(const struct elf_image *e, const struct elf_section *s);
/* Its first bytes, at most `most`; *size is how many. */
uint8_t *elf_image_section_begin(const struct elf_image *e, const struct elf_section *s,
				 uint64_t most, uint64_t *size);
const struct elf_section *elf_image_section(const struct elf_image *e, const char *name);
const struct elf_section *elf_image_section_of_type(const struct elf_image *e, uint32_t type);
/* Convert between places in the file and addresses, by the program headers. */
bool elf_image_address(const struct elf_image *e, uint64_t offset, uint64_t *address);
bool elf_image_offset(const struct elf_image *e, uint64_t address, uint64_t *offset);
/* Opens the [vdso] of this process. */
bool elf_image_open_vdso(struct elf_image *e);

/* ---- symbols_table.c: names, sorted by address ---- */

struct symbol {
	uint64_t start, end;
	uint64_t reach; /* the largest end so far */
	uint32_t name;	/* in the table's names */
	uint8_t binding, type;
	uint16_t module; /* of the kernel; 0: the kernel itself */
};
struct symbol_table {
	ARRAY(struct symbol) list;
	struct strbuf names; /* each ends with NUL */
	size_t names_most;   /* bytes; 0: NAMES_MAX */
	struct work *work;   /* the work that it is made in; NULL: no limit */
	bool latest;	     /* of several at one address, take the last instead of the best */
};

/* Limits of one object: 64 MiB each. Symbols may share their names, so a small file could ask for
 * any amount; symbol_table_room() limits it by what the file has. */
#define SYMBOLS_MAX (2u << 20)
#define NAMES_MAX (64u << 20)
#define NAME_LENGTH_MAX 16384 /* longer names are cut */

/* Names from here on take at most this many bytes. */
void symbol_table_room(struct symbol_table *t, uint64_t bytes);
/* False: there is no room, also for further ones. */
bool symbol_table_add(struct symbol_table *t, uint64_t start, uint64_t size, const char *name,
		      uint8_t binding, uint8_t type);
/* Call it last: sorts, gives a size to those without one, and chooses among aliases like perf. */
void symbol_table_finish(struct symbol_table *t);
const struct symbol *symbol_table_find(const struct symbol_table *t, uint64_t address);
const char *symbol_table_name(const struct symbol_table *t, const struct symbol *s);
size_t symbol_table_memory(const struct symbol_table *t);
void symbol_table_release(struct symbol_table *t);

/* The demangled name without parameters, like perf, or a copy if it is not mangled. May be cut. */
char *demangled(const char *name);

/* ---- symbols_elf.c ---- */

/* Reads the symbols of the file, or of its separate debug file if that has more. */
void symbol_table_read(struct symbol_table *t, const struct elf_image *main,
		       const struct elf_image *debug);

/* Adds functions found only in .eh_frame, called NAME+0xADDRESS. */
void symbol_table_read_pieces(struct symbol_table *t, const struct elf_image *e, const char *name);

/* ---- symbols_debug.c: finding files with debug information ---- */

struct debug_file {
	struct elf_image image; /* fd -1: none */
	char *path;		/* NULL: none */
};
/* Build-ids that no server has, because asking again would mean waiting again. */
struct absent_id {
	uint8_t bytes[BUILD_ID_MAX], size;
};
struct absent {
	ARRAY(struct absent_id) ids;
	size_t next; /* the entry that a new one replaces when there are too many */
};
struct debug_search {
	const char *directories; /* separated by colons; NULL: the default */
	struct work *work;	 /* NULL: no limit */
	struct absent *absent;	 /* NULL: nothing is remembered */
	/* As in symbols_files; NULL: open it here, ask debuginfod. */
	int (*open)(void *context, const char *path);
	int (*ask)(void *context, const uint8_t *id, size_t size, char **path);
	void *context;
};
/* What debuginfod has, as in symbols_files; the context is a struct work. */
int ask_debuginfod(void *context, const uint8_t *id, size_t size, char **path);
/* Finds a separate debug file for the file at `path`. */
bool debug_file_find(struct debug_file *d, const struct elf_image *main, const char *path,
		     const struct debug_search *search);
void debug_file_close(struct debug_file *d);

struct dwarf_files {
	Dwarf *dwarf, *alternative; /* NULL: none */
	int fd, alternative_fd;
	size_t memory; /* copies and unpacked data */
};
/* Opens the separate file (or NULL) or the main one. */
bool dwarf_files_open(struct dwarf_files *into, const struct elf_image *main, const char *path,
		      const struct debug_file *debug, const struct debug_search *search);
void dwarf_files_close(struct dwarf_files *d);

/* ---- symbols_lines.c: inlined functions and lines ---- */

struct lines;
struct line_frame {
	const char *name; /* NULL: unknown */
	const char *decl_file, *file;
	uint32_t decl_line, line;
	bool inlined;
	uint64_t start, size; /* of the function, if it is in one piece */
};
#define LINE_FRAMES_MAX 64

/* Takes over the files. The work must have begun; it is kept for what is read later. */
struct lines *lines_new(struct dwarf_files *files, struct work *work);
void lines_free(struct lines *l);
/* Innermost first; names and files are borrowed until the next call. 0: nothing is known. */
size_t lines_find(struct lines *l, uint64_t address, struct line_frame frames[LINE_FRAMES_MAX]);
size_t lines_memory(const struct lines *l);

/* ---- symbols_kernel.c ---- */

struct kernel_symbols {
	struct symbol_table table;
	ARRAY(char *) modules;		  /* "[name]"; a symbol's module is at its number - 1 */
	ARRAY(struct elf_segment) memory; /* of kcore */
	int kcore;
	bool read;
	uint64_t read_ns;
	/* As in symbols_files; then there is no code, either. NULL: opens them itself. */
	int (*open)(void *context);
	void *context;
};
/* Opens the kernel's memory for kernel_code() alone. */
void kernel_open_memory(struct kernel_symbols *k);
/* From the text of /proc/kallsyms. */
void kernel_parse(struct kernel_symbols *k, const char *text);
const struct symbol *kernel_find(struct kernel_symbols *k, uint64_t address);
/* "[name]"; NULL: the kernel itself. */
const char *kernel_module(const struct kernel_symbols *k, const struct symbol *s);
size_t kernel_code(struct kernel_symbols *k, uint64_t address, uint8_t *into, size_t size);
void kernel_release(struct kernel_symbols *k);

/* Calls `each` for every object of a profile that has locations, with those, in their order.
 * sampled: by location, whether a CPU was seen at it. */
typedef void symbols_each_fn(void *context, struct profile *p, uint32_t object,
			     const uint32_t *locations, size_t count, const bool *sampled);
void symbols_each(struct profile *p, symbols_each_fn *each, void *context);
/* Whether the function of this location has no code yet that could be kept. */
bool symbols_want_code(const struct symbols_options *o, const struct profile *p,
		       const struct profile_location *l);
/* The function itself, of a location with inlined ones; PROFILE_NONE: unknown. */
uint32_t symbols_outermost(const struct profile *p, const struct profile_location *l);
#define CODE_MAX 65536 /* bytes of a function */

/* Takes over a kernel that has already been read. */
struct symbols *symbols_new_with_kernel(const struct symbols_options *options,
					const struct kernel_symbols *kernel);

/* ---- symbols_jit.c ---- */

struct jit_map {
	struct symbol_table table;
	uint64_t size;
	int64_t changed_ns;
	bool known;	/* owner is known */
	uint32_t owner; /* user of the process, seen while it lived */
};
/* The begin of the sampled process and of the session's first slice, CLOCK_REALTIME; 0: unknown. */
struct jit_times {
	int64_t began_ns, session_ns;
};
/* A descriptor of the map of the process, or -1. Maps stay in /tmp and pids are reused, so a map is
 * trusted only if it last changed after the process began and before another process got its pid.
 * If the profile does not have the begin, /proc is used; if the process is gone, too, the map must
 * have changed within the session. */
int jit_open(struct jit_map *j, uint32_t pid, const struct jit_times *times);
/* For a process of a profile. */
int jit_open_of(struct jit_map *j, const struct profile *p, uint32_t pid);
/* Reads a map if it is new or has changed. */
void jit_read(struct jit_map *j, int fd);
/* From the text of a perf map. */
void jit_parse(struct jit_map *j, const char *text);
void jit_release(struct jit_map *j);

#endif
