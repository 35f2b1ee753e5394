/* The parts of machine_read(). All use one reader. */
#ifndef TARE_COLLECT_MACHINE_FACTS_H
#define TARE_COLLECT_MACHINE_FACTS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/options.h"
#include "base/strbuf.h"
#include "record/machine.h"

/* Like machine_read(), from ROOT/proc, ROOT/sys, ROOT/etc ... Facts that need system calls are read
 * only if root is "". */
void machine_read_from(const char *root, struct machine *into);

struct reader {
	const char *root;
	bool live; /* root is this machine */
	struct machine *into;
};

/* Paths begin with "/", below the root. The caller owns the text; NULL if unreadable. */
char *reader_text(const struct reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
char *reader_line(const struct reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool reader_number(const struct reader *r, long *value, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool reader_exists(const struct reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The target of a symbolic link, as text. */
bool reader_link(const struct reader *r, char *out, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The sorted names in a directory that begin with prefix followed by a digit or, with prefix "",
 * all names that do not begin with a dot. */
void reader_names(const struct reader *r, const char *directory, const char *prefix,
		  word_list *names);

/* Adds a word to a list of distinct words: "a, b". */
void list_add(struct strbuf *list, const char *word);

/* "0-3,8" -> 5; "" -> 0; -1 if it is not such a list. */
long cpulist_count(const char *list);

/* The value of "KEY   : value" or "KEY value" at the start of a line, or NULL. The caller frees
 * it. */
char *field_of(const char *text, const char *key);

void read_cpu(const struct reader *r); /* cpu.c */
void read_place(
	const struct reader *r); /* place.c: hypervisor, container, disks, current directory */
void read_now(const struct reader *r); /* now.c: values that change by themselves */

#endif
