/* How machine_read() is split into files: each reads its part through one reader. */
#ifndef TARE_COLLECT_MACHINE_FACTS_H
#define TARE_COLLECT_MACHINE_FACTS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/options.h"
#include "base/strbuf.h"
#include "record/machine.h"

/* As machine_read(), from ROOT/proc, ROOT/sys, ROOT/etc ... What only system calls tell is read
 * when root is "". */
void machine_read_from(const char *root, struct machine *into);

struct reader {
	const char *root;
	bool live; /* root is this machine */
	struct machine *into;
};

/* Paths begin with "/" and are taken below the root. Text is the caller's; NULL when unreadable. */
char *reader_text(const struct reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
char *reader_line(const struct reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool reader_number(const struct reader *r, long *value, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool reader_exists(const struct reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Where a symbolic link leads, its text only. */
bool reader_link(const struct reader *r, char *out, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The sorted names in a directory that begin with prefix and go on with a digit (or, with prefix
 * "", every name but those beginning with a dot). */
void reader_names(const struct reader *r, const char *directory, const char *prefix,
		  word_list *names);

/* A list of distinct words: "a, b". */
void list_add(struct strbuf *list, const char *word);

/* "0-3,8" -> 5; "" -> 0; -1 when it is no such list. */
long cpulist_count(const char *list);

/* The value of "KEY   : value" or "KEY value" at the start of a line of text; NULL when there is
 * none. The caller frees. */
char *field_of(const char *text, const char *key);

void read_cpu(const struct reader *r);	 /* machine_cpu.c */
void read_place(const struct reader *r); /* machine_place.c: hypervisor, container, disks, here */
void read_now(const struct reader *r);	 /* machine_now.c: all that moves by itself */

#endif
