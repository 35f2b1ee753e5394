#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/invoker.h"
#include "base/progress.h"
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

int cmd_refuse(struct error *err, const char *command, const char *option, const char *value,
	       const char *wanted)
{
	return error_set(err, EXIT_USAGE, "%s: --%s wants %s, not '%s'", command, option, wanted,
			 DISPLAYED(value, 128));
}

void cmd_judge(struct verdict *v, bool good, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	fputs(good ? v->good_word : v->bad_word, stdout);
	vprintf(fmt, args);
	putchar('\n');
	va_end(args);
	fflush(stdout);
	v->checks++;
	v->failed += !good;
}

int cmd_fail(const struct error *err)
{
	SCOPED(strbuf_release) struct strbuf out = { 0 };
	add_wrapped(&out, "tare: ", err->text);
	if (*err->hint)
		add_wrapped(&out, FAIL_INDENT, err->hint);
	fputs(strbuf_text(&out), stderr);
	return err->code;
}

void cmd_notice(const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	progress_hide();
	fputs("tare: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
}

void cmd_log_trouble(char said[ERROR_TEXT], const char *trouble, const char *over)
{
	char when[64];
	if (strcmp(trouble, said) == 0)
		return;
	snprintf(said, ERROR_TEXT, "%s", trouble);
	text_date(clock_realtime_ns(), when, sizeof when);
	fprintf(stderr, "%s %s\n", when, *trouble ? trouble : over);
	fflush(stderr);
}

int cmd_run(const char *usage, const char *about, const struct option_spec *specs, int argc,
	    char **argv, cmd_body body, void *options)
{
	struct cmd_args args = { .argc = argc, .argv = argv };
	struct error err = ERROR_INIT;
	enum help help = HELP_NONE;
	int code = EXIT_DONE;
	if (options_parse(argv[0], specs, argc, argv, &args.operands, &help, &err)) {
		code = cmd_fail(&err);
	} else if (help) {
		struct strbuf out = { 0 };
		strbuf_printf(&out, "Usage: %s\n", usage);
		if (about && *about)
			strbuf_printf(&out, "%s\n", about);
		options_help(specs, help, &out);
		cmd_print(&out);
	} else {
		code = body(options, &args, &err);
		if (code < 0)
			code = *err.text ? cmd_fail(&err) : (int)err.code;
	}
	array_release(&args.operands);
	return code;
}

void cmd_add_specs(spec_list *into, const struct option_spec *specs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		array_push(into, specs[i]);
}

/* ---- parts of a command ---- */

int cmd_unknown(const struct subcommand *parts, const char *command, const char *word,
		bool takes_command)
{
	struct error err = ERROR_INIT;
	SCOPED(strbuf_release) struct strbuf all = { 0 };
	FREED text_list names = { 0 };
	char shown[128];
	for (const struct subcommand *s = parts; s->name; s++) {
		array_push(&names, s->name);
		strbuf_printf(&all, "%s%s", all.length ? ", " : "", s->name);
	}
	array_push(&names, NULL);
	const char *near = nearest_word(word, names.items);
	text_display(word, shown, sizeof shown);
	if (command)
		error_set(&err, EXIT_USAGE, "%s: unknown subcommand '%s'", command, shown);
	else
		error_set(&err, EXIT_USAGE, "unknown command '%s'", shown);
	if (near)
		error_hint(&err, "did you mean 'tare %s%s%s'?", command ? command : "",
			   command ? " " : "", near);
	else if (takes_command)
		error_hint(&err, "a COMMAND comes after --: 'tare %s -- %s'", command, shown);
	else if (command)
		error_hint(&err, "one of: %s", strbuf_text(&all));
	else
		error_hint(&err, "'tare --help' lists the commands");
	return cmd_fail(&err);
}

int cmd_parts(const struct subcommand *parts, bool takes_command, struct lab_access *lab, int argc,
	      char **argv)
{
	lab->need = parts->lab;
	if (argc < 2 || argv[1][0] == '-')
		return parts->run(lab, argc, argv);
	for (const struct subcommand *s = parts; s->name; s++) {
		char title[64], *was = argv[1];
		if (strcmp(was, s->name) != 0)
			continue;
		/* messages name a command by its first word */
		snprintf(title, sizeof title, "%s %s", argv[0], s->name);
		argv[1] = title;
		lab->need = s->lab;
		int code = s->run(lab, argc - 1, argv + 1);
		argv[1] = was;
		return code;
	}
	return cmd_unknown(parts, argv[0], argv[1], takes_command);
}

/* ---- the terminal ---- */

bool cmd_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	return isatty(STDOUT_FILENO) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

bool cmd_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = getenv(names[i]);
		if (value && *value)
			return strcmp(value, "C") != 0 && strcmp(value, "POSIX") != 0;
	}
	return true;
}

void cmd_print_table(const struct table *t, enum table_format format)
{
	struct strbuf out = { 0 };
	struct style style = { .width = isatty(STDOUT_FILENO) ? (size_t)cmd_columns() : 0,
			       .colour = cmd_colour() };
	table_render(t, format, &style, &out);
	cmd_print(&out);
}

void cmd_print(struct strbuf *out)
{
	fputs(strbuf_text(out), stdout);
	strbuf_release(out);
}

int cmd_columns(void)
{
	struct winsize size;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
		return size.ws_col;
	return 80;
}

int cmd_lines(void)
{
	struct winsize size;
	return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row
										     : 0;
}

struct style cmd_style(int unit)
{
	return (struct style){ .width = (size_t)cmd_columns(),
			       .colour = cmd_colour(),
			       .unit = (enum time_unit)unit };
}

struct style cmd_plot_style(void)
{
	return (struct style){ .width = (size_t)cmd_columns(),
			       .lines = (size_t)cmd_lines(),
			       .colour = cmd_colour(),
			       .ascii = !cmd_utf8() };
}

char *cmd_read_file(const char *path, size_t most, const char *words, char shown[200],
		    size_t *length, struct error *err)
{
	bool standard = strcmp(path, "-") == 0;
	struct strbuf text = { 0 };
	char part[65536];
	ssize_t n = 0;
	text_display(standard ? "standard input" : path, shown, 200);
	int fd = standard ? dup(STDIN_FILENO) : invoker_open(path, O_RDONLY);
	do {
		size_t room = most - text.length;
		n = fd < 0 ? -1 : read(fd, part, room < sizeof part ? room : sizeof part);
		strbuf_add(&text, part, n > 0 ? (size_t)n : 0);
	} while ((n > 0 && text.length < most) || (n < 0 && fd >= 0 && errno == EINTR));
	if (n < 0)
		error_set(err, EXIT_USAGE, "%s%s: %s", words, shown, strerror(errno));
	if (fd >= 0)
		close(fd);
	*length = text.length;
	strbuf_puts(&text, ""); /* of nothing, too, there is a text */
	char *all = strbuf_detach(&text);
	if (n >= 0)
		return all;
	free(all);
	return NULL;
}

char *cmd_line(int argc, char **argv)
{
	struct strbuf words = { 0 };
	strbuf_printf(&words, "tare %s", argv[0]);
	for (int i = 1; i < argc; i++) {
		FREED char *quoted = text_shell_quoted(argv[i]);
		strbuf_printf(&words, " %s", quoted);
	}
	return strbuf_detach(&words);
}
