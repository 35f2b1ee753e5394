/* The commands. To add one, write cmd/NAME.c with `int cmd_NAME(struct lab_access *lab, int argc,
 * char **argv)`, declare it here, and add a row to the table of main.c, which says what it needs, a
 * man page docs/man/tare-NAME.1.scd and a test tests/cli/NAME.bats. argv[0] is the command's name.
 * The return value is the exit code (base/error.h). */
#ifndef TARE_CMD_CMD_H
#define TARE_CMD_CMD_H

#include <stdbool.h>

#include "base/error.h"
#include "base/options.h"
#include "lab/lab.h"
#include "report/chart/plot.h"
#include "report/core/table.h"

struct subcommand {
	const char *name;
	int (*run)(struct lab_access *lab, int argc, char **argv);
	enum lab_need lab;
	const char *summary; /* one line for `tare --help`; NULL for a part of a command */
};

int cmd_calibrate(struct lab_access *lab, int argc, char **argv);
int cmd_compare(struct lab_access *lab, int argc, char **argv);
int cmd_cutoffs(struct lab_access *lab, int argc, char **argv);
int cmd_daemon(struct lab_access *lab, int argc, char **argv);
int cmd_doctor(struct lab_access *lab, int argc, char **argv);
int cmd_duet(struct lab_access *lab, int argc, char **argv);
int cmd_emp(struct lab_access *lab, int argc, char **argv);
int cmd_explain(struct lab_access *lab, int argc, char **argv);
int cmd_export(struct lab_access *lab, int argc, char **argv);
int cmd_import(struct lab_access *lab, int argc, char **argv);
int cmd_inc(struct lab_access *lab, int argc, char **argv);
int cmd_list(struct lab_access *lab, int argc, char **argv);
int cmd_noise(struct lab_access *lab, int argc, char **argv);
int cmd_plot(struct lab_access *lab, int argc, char **argv);
int cmd_profile(struct lab_access *lab, int argc, char **argv);
int cmd_query(struct lab_access *lab, int argc, char **argv);
int cmd_quiet(struct lab_access *lab, int argc, char **argv);
int cmd_rename(struct lab_access *lab, int argc, char **argv);
int cmd_report(struct lab_access *lab, int argc, char **argv);
int cmd_rm(struct lab_access *lab, int argc, char **argv);
int cmd_serve(struct lab_access *lab, int argc, char **argv);
int cmd_show(struct lab_access *lab, int argc, char **argv);
int cmd_sql(struct lab_access *lab, int argc, char **argv);
int cmd_tag(struct lab_access *lab, int argc, char **argv);
int cmd_time(struct lab_access *lab, int argc, char **argv);
int cmd_version(void);

/* Restores what a killed tare had changed (quiet/quiet.h), and says so. It costs one system call if
 * there is nothing to do. Called before any command. */
void cmd_quiet_recover(void);

/* Prints "tare: text" and the hint on stderr, and returns the exit code. */
int cmd_fail(const struct error *err);
/* "noise: --round wants 10ms or more, not 'x'" */
int cmd_refuse(struct error *err, const char *command, const char *option, const char *value,
	       const char *wanted);

/* The checks of a selftest. */
struct verdict {
	const char *good_word, *bad_word; /* what a line begins with */
	size_t checks, failed;
};
void cmd_judge(struct verdict *v, bool good, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Prints "tare: text" on stderr, for messages that are not errors. */
void cmd_notice(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* For the log of a background process, which is its stderr: writes each trouble, and that it is
 * over, once. said: the last one written. */
void cmd_log_trouble(char said[ERROR_TEXT], const char *trouble, const char *over);

/* Option rows that many commands share. */
#define LAB_OPTION(access, which)                                                            \
	{                                                                                    \
		0, "lab", OPTION_TEXT, &(access)->file, "FILE", which " (default: your own)" \
	}
#define UNIT_OPTION(into, of)                                                 \
	{                                                                     \
		'u', "time-unit", OPTION_CHOICE, into, TIME_UNIT_CHOICES, of, \
			.also = TIME_UNIT_SHORT                               \
	}

/* Parses the options and runs body, which returns the exit code, or -1 with an error. The error is
 * printed unless it has no text. options is shared by specs and body. usage: the "Usage:" lines;
 * about: the text above the options. */
struct cmd_args {
	int argc;
	char **argv;
	text_list operands;
};
typedef int (*cmd_body)(void *options, const struct cmd_args *args, struct error *err);
int cmd_run(const char *usage, const char *about, const struct option_spec *specs, int argc,
	    char **argv, cmd_body body, void *options);

void cmd_add_specs(spec_list *into, const struct option_spec *specs, size_t count);

/* Runs the part of a command that argv[1] names, or the first if it names none. argv[0] becomes
 * both names, such as "noise show". parts end with a name of NULL. takes_command: a COMMAND may
 * follow "--", which the user may have forgotten. */
int cmd_parts(const struct subcommand *parts, bool takes_command, struct lab_access *lab, int argc,
	      char **argv);

/* Says that none of the parts has this name, and which was probably meant. command: NULL for tare
 * itself. */
int cmd_unknown(const struct subcommand *parts, const char *command, const char *word,
		bool takes_command);

/* Whether to colour stdout: it is a terminal, and neither NO_COLOR nor TERM=dumb is set. */
bool cmd_colour(void);
bool cmd_utf8(void); /* by the locale; true without one */

/* Prints the table on stdout. Text is fitted to a terminal, and has any width elsewhere. */
void cmd_print_table(const struct table *t, enum table_format format);

/* Reads at most `most` bytes of a file that a user named, because a device or a pipe may have no
 * end. "-" is standard input; shown: its name for messages. NULL: an error that begins with
 * `words`. The caller frees it. */
#define READ_ALL (SIZE_MAX - 1)
char *cmd_read_file(const char *path, size_t most, const char *words, char shown[200],
		    size_t *length, struct error *err);

/* "tare NAME ARGUMENTS" quoted for a shell. The caller frees it. */
char *cmd_line(int argc, char **argv);

/* The columns of the terminal on stdout; 80 if it is not one. */
int cmd_columns(void);
/* Its lines; 0 if stdout is not a terminal: then nothing is too long. */
int cmd_lines(void);
struct style cmd_plot_style(void);
struct style cmd_style(int unit); /* unit: an enum time_unit; for the terminal on stdout */
/* Prints the text on stdout and frees it. */
void cmd_print(struct strbuf *out);

#endif
