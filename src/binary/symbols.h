/* Names for addresses: functions, inlined functions, source lines. libdwfl finds the files
 * (build-id directories, debug links, debuginfod); the answers come from sorted tables. */
#ifndef TARE_BINARY_SYMBOLS_H
#define TARE_BINARY_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/profile.h"

struct symbols;
struct symbols_files; /* private to binary/ */

struct symbols_options {
	/* A new descriptor for an object's file, or -1; NULL: open its path. The file is checked
	 * against the build-id (or inode) of the object. */
	int (*open)(void *context, const struct profile_object *o);
	void *context;
	/* Called between objects, and about every 20 ms while one is read, so that a collector can
	 * empty the kernel's buffers meanwhile; may be NULL. It must not touch these symbols or the
	 * profile that is filled. It comes later only if a library takes long in one call: libdw
	 * for the lines of a large unit, libdebuginfod waiting for its server (a second). */
	void (*breathe)(void *context);
	/* Who opens the other files, with the same context; NULL: these symbols do. */
	const struct symbols_files *files;
	bool no_lines;		/* only functions */
	bool no_code;		/* do not keep the code of functions */
	const char *debug_path; /* like gdb's debug-file-directory; NULL: the default */
	size_t memory; /* approximate limit of the tables; the least used are dropped; 0: 256 MB */
};

struct symbols *symbols_new(const struct symbols_options *options);
void symbols_free(struct symbols *s);

/* Sets address and frames of every location of p that has none, and the code of every function with
 * samples. It never fails: what cannot be found stays without frames. Files are read once. */
void symbols_fill(struct symbols *s, struct profile *p);

#endif
