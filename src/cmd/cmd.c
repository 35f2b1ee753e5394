#include "cmd/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int cmd_fail(const struct error *err)
{
	fprintf(stderr, "tare: %s\n", err->text);
	if (*err->hint)
		fprintf(stderr, "      %s\n", err->hint);
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
