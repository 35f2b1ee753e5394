/* A progress line on stderr, drawn only if that is a terminal. Only one at a time. */
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

/* wanted false: never draw it. */
void progress_init(struct progress *p, const char *label, bool wanted);
/* done of total (0: unknown). Redraws at most ten times a second. `note` may be NULL. */
void progress_update(struct progress *p, size_t done, size_t total, const char *note);
/* Whether progress_update() would draw now, so that a caller need not make the note. */
bool progress_due(const struct progress *p);
void progress_clear(struct progress *p);
/* Clears whichever is drawn, for a message in between. It is drawn again with its next update. */
void progress_hide(void);

#endif
