/* Names for addresses: functions, what is inlined in them, source lines. libdwfl finds the files
 * (build-id directories, debug links, debuginfod); the answers come from sorted tables. */
#ifndef TARE_BINARY_SYMBOLS_H
#define TARE_BINARY_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/profile.h"

struct symbols;

struct symbols_options {
	/* A new descriptor of an object's file, or -1; NULL: by its path. What it opens is checked
	 * against the build-id (or inode) of the object. */
	int (*open)(void *context, const struct profile_object *o);
	void *context;
	/* Called between objects, and about every 20 ms while one is read, so that whoever collects
	 * can empty the kernel's buffers meanwhile; NULL: nobody. It must leave these symbols and
	 * the profile that is filled alone. Later than that only where a library does something in
	 * one piece: libdw a large unit's lines, libdebuginfod a wait for its server (a second). */
	void (*breathe)(void *context);
	bool no_lines;		/* functions alone */
	bool no_code;		/* keep no bytes of functions */
	const char *debug_path; /* as in gdb's debug-file-directory; NULL: the usual */
	size_t memory;		/* about what tables may take; the least used go; 0: 256 MB */
};

struct symbols *symbols_new(const struct symbols_options *options);
void symbols_free(struct symbols *s);

/* Gives every location of p that has none its address and frames, and every function with samples
 * its code. Never fails: what cannot be found stays without frames. Files are read once. */
void symbols_fill(struct symbols *s, struct profile *p);

#endif
