#include "cmd/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

#define FAIL_WIDTH 80
#define FAIL_INDENT "      " /* as wide as "tare: " */

/* Lines end where the text has them end, or at the last space before the edge. */
static void add_wrapped(struct strbuf *out, const char *lead, const char *text)
{
	size_t at = strlen(lead);
	bool first = true; /* word of its line */
	strbuf_puts(out, lead);
	while (*text) {
		char word[sizeof((struct error *)0)->text];
		size_t spaces = strspn(text, " "), n = strcspn(text + spaces, " \n");
		snprintf(word, sizeof word, "%.*s", (int)n, text + spaces);
		size_t width = text_width(word);
		if (!first && n && at + spaces + width > FAIL_WIDTH) {
			strbuf_puts(out, "\n" FAIL_INDENT);
			at = strlen(FAIL_INDENT);
		} else {
			strbuf_printf(out, "%*s", (int)spaces, "");
			at += spaces;
		}
		strbuf_puts(out, word);
		at += width;
		first = false;
		text += spaces + n;
		if (*text == '\n') {
			strbuf_puts(out, "\n" FAIL_INDENT);
			at = strlen(FAIL_INDENT);
			first = true;
			text++;
		}
	}
	strbuf_putc(out, '\n');
}

int cmd_fail(const struct error *err)
{
	struct strbuf out = { 0 };
	add_wrapped(&out, "tare: ", err->text);
	if (*err->hint)
		add_wrapped(&out, FAIL_INDENT, err->hint);
	fputs(strbuf_text(&out), stderr);
	strbuf_release(&out);
	return err->code;
}

bool cmd_options(const char *usage, const char *about, const struct option_spec *specs, int argc,
		 char **argv, text_list *operands, int *code)
{
	struct error err = ERROR_INIT;
	enum help help = HELP_NONE;
	if (options_parse(argv[0], specs, argc, argv, operands, &help, &err)) {
		*code = cmd_fail(&err);
		return false;
	}
	if (!help)
		return true;
	struct strbuf out = { 0 };
	strbuf_printf(&out, "Usage: %s\n", usage);
	if (about && *about)
		strbuf_printf(&out, "%s\n", about);
	options_help(specs, help, &out);
	fputs(strbuf_text(&out), stdout);
	strbuf_release(&out);
	*code = EXIT_DONE;
	return false;
}

bool cmd_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	return isatty(STDOUT_FILENO) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

void cmd_print_table(const struct table *t, enum table_format format)
{
	struct strbuf out = { 0 };
	struct table_style style = { .width = isatty(STDOUT_FILENO) ? (size_t)cmd_columns() : 0,
				     .colour = cmd_colour() };
	table_render(t, format, &style, &out);
	fputs(strbuf_text(&out), stdout);
	strbuf_release(&out);
}

int cmd_columns(void)
{
	struct winsize size;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
		return size.ws_col;
	return 80;
}
