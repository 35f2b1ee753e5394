#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/noise/noise.h"

#define LINES 24

struct noise_screen {
	bool terminal; /* drawn on the alternate screen; else a block each time */
	bool keys;     /* stdin gives single keys */
	struct termios before;
};

struct noise_screen *noise_screen_open(void)
{
	struct noise_screen *s = xcalloc(1, sizeof *s);
	s->terminal = isatty(STDOUT_FILENO);
	if (!s->terminal)
		return s;
	/* the cursor is hidden */
	fputs("\033[?1049h\033[?25l\033[H\033[J", stdout);
	fflush(stdout);
	if (tcgetattr(STDIN_FILENO, &s->before) == 0) {
		struct termios raw = s->before;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		s->keys = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
	}
	return s;
}

bool noise_screen_draw(struct noise_screen *s, const struct noise_view *v,
		       const struct noise_display *d)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	struct noise_style style = noise_style_of(d);
	int lines = cmd_lines();
	noise_top(v, lines >= 10 ? (size_t)lines : LINES, &style, &text);
	if (s->terminal)
		fputs("\033[H", stdout);
	/* each line is cleared behind its end: no flicker */
	for (const char *c = strbuf_text(&text); *c; c++) {
		if (*c == '\n' && s->terminal)
			fputs(c[1] ? "\033[K\n" : "\033[K", stdout);
		else
			putchar(*c);
	}
	fputs(s->terminal ? "\033[J" : "\n", stdout);
	fflush(stdout);
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	bool quit = false;
	char key;
	while (!quit && s->keys && poll(&in, 1, 0) == 1 && (in.revents & POLLIN) &&
	       read(STDIN_FILENO, &key, 1) == 1)
		quit = key == 'q' || key == 'Q';
	return quit;
}

void noise_screen_close(struct noise_screen *s)
{
	if (!s)
		return;
	if (s->keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &s->before);
	if (s->terminal)
		fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	free(s);
}
