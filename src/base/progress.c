#include "base/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/text.h"

#define REDRAW_NS 100000000u
#define BAR 24

static bool drawn; /* a line is on the screen */

void progress_init(struct progress *p, const char *label, bool wanted)
{
	*p = (struct progress){ .shown = wanted && isatty(STDERR_FILENO), .label = label };
	p->begun_ns = clock_monotonic_ns();
}

bool progress_due(const struct progress *p)
{
	return p->shown && clock_monotonic_ns() - p->drawn_ns >= REDRAW_NS;
}

static size_t terminal_columns(void)
{
	struct winsize size;
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20 ? size.ws_col : 80;
}

/* One line that never wraps: a wrapped one could not be cleared again. The label gives way, then
 * the note. */
static void draw(const char *label, const char *middle, const char *note)
{
	size_t columns = terminal_columns() - 1, fixed = text_width(middle) + 1;
	bool noted = fixed + 2 + text_width(note) + 8 <= columns;
	if (noted)
		fixed += 2 + text_width(note);
	size_t room = fixed < columns ? columns - fixed : 0, used = 0;
	fputs("\r\033[K", stderr);
	for (size_t n; *label && used < room; label += n, used++) {
		n = utf8_length(label, strlen(label));
		n = n ? n : 1;
		fwrite(label, 1, n, stderr);
	}
	fprintf(stderr, " %s%s%s", middle, noted ? "  " : "", noted ? note : "");
	fflush(stderr);
}

void progress_update(struct progress *p, size_t done, size_t total, const char *note)
{
	if (!progress_due(p))
		return;
	uint64_t now = clock_monotonic_ns();
	SCOPED(strbuf_release) struct strbuf middle = { 0 };
	p->drawn_ns = now;
	drawn = true;
	if (total) {
		size_t filled = done < total ? done * BAR / total : BAR;
		strbuf_putc(&middle, '[');
		for (size_t i = 0; i < BAR; i++)
			strbuf_puts(&middle, i < filled ? "█" : "░");
		strbuf_printf(&middle, "] %zu/%zu", done, total);
	} else {
		strbuf_printf(&middle, "%zu", done);
	}
	if (done && done < total) {
		char left[32];
		double per = (double)(now - p->begun_ns) / (double)done;
		text_duration(per * (double)(total - done), 2, left, sizeof left);
		strbuf_printf(&middle, ", %s left", left);
	}
	draw(p->label, strbuf_text(&middle), note ? note : "");
}

void progress_hide(void)
{
	if (drawn)
		fputs("\r\033[K", stderr);
	drawn = false;
}

void progress_clear(struct progress *p)
{
	drawn = false;
	if (p->shown && p->drawn_ns)
		fputs("\r\033[K", stderr);
	p->drawn_ns = 0;
}
