#include "base/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#define REDRAW_NS 100000000u
#define BAR 24

void progress_init(struct progress *p, const char *label, bool wanted)
{
	*p = (struct progress){ .shown = wanted && isatty(STDERR_FILENO), .label = label };
	p->begun_ns = clock_monotonic_ns();
}

bool progress_due(const struct progress *p)
{
	return p->shown && clock_monotonic_ns() - p->drawn_ns >= REDRAW_NS;
}

void progress_update(struct progress *p, size_t done, size_t total, const char *note)
{
	if (!progress_due(p))
		return;
	uint64_t now = clock_monotonic_ns();
	p->drawn_ns = now;
	fprintf(stderr, "\r\033[K%s ", p->label);
	if (total) {
		size_t filled = done * BAR / total;
		fputc('[', stderr);
		for (size_t i = 0; i < BAR; i++)
			fputs(i < filled ? "█" : "░", stderr);
		fprintf(stderr, "] %zu/%zu", done, total);
		if (done && done < total) {
			char left[32];
			double per = (double)(now - p->begun_ns) / (double)done;
			text_duration(per * (double)(total - done), 2, left, sizeof left);
			fprintf(stderr, ", %s left", left);
		}
	} else {
		fprintf(stderr, "%zu", done);
	}
	if (note && *note)
		fprintf(stderr, "  %s", note);
	fflush(stderr);
}

void progress_clear(struct progress *p)
{
	if (p->shown && p->drawn_ns)
		fputs("\r\033[K", stderr);
	p->drawn_ns = 0;
}
