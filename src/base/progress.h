/* A progress line on stderr, drawn only when that is a terminal. One at a time. */
#ifndef TARE_BASE_PROGRESS_H
#define TARE_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
	bool shown;
	uint64_t begun_ns, drawn_ns;
	const char *label;
};

/* wanted false: never drawn. */
void progress_init(struct progress *p, const char *label, bool wanted);
/* done of total (0: unknown). Redraws at most ten times a second. `note` may be NULL. */
void progress_update(struct progress *p, size_t done, size_t total, const char *note);
/* Whether progress_update() would draw now: lets a caller skip making the note. */
bool progress_due(const struct progress *p);
void progress_clear(struct progress *p);

#endif
