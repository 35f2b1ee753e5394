/* The machine of a run: an ordered list of facts, each with a dotted key and a text value. A fact
 * that could not be read is not in the list (unavailable is not empty). */
#ifndef TARE_RECORD_MACHINE_H
#define TARE_RECORD_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

struct fact {
	char *key; /* "cpu.model", "cpu.governor", "kernel.release", "disk.vda.scheduler" */
	char *value;
};

struct machine {
	ARRAY(struct fact) facts;
};

void machine_set(struct machine *m, const char *key, const char *value);
void machine_setf(struct machine *m, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
const char *machine_get(const struct machine *m, const char *key); /* NULL: unknown */
long machine_number(const struct machine *m, const char *key, long otherwise);

/* 16 hex digits over the facts that make two runs comparable (not uptime, load, free memory or
 * clock state, which change by themselves). */
void machine_fingerprint(const struct machine *m, char out[17]);

/* Like machine_fingerprint(), over the facts that stay when the kernel or a setting changes: it
 * identifies the machine. */
void machine_identity(const struct machine *m, char out[17]);

/* "key=value" lines with backslash-escaped newlines. Tests keep recorded machines this way. */
char *machine_to_text(const struct machine *m);
void machine_from_text(struct machine *m, const char *text);

void machine_release(struct machine *m);

#endif
