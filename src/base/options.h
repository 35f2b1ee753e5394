/* Command-line options from a table. Each command fills a local struct:
 *
 *	struct option_spec specs[] = {
 *		{ 'r', "runs", OPTION_INTEGER, &o.runs, "NUM", "exactly NUM executions", .min = 1 },
 *		{ 0 } };
 *	options_parse("time", specs, argc, argv, &operands, &err)
 *
 * Letters may be bundled (-iN), values attached (-r10, --runs=10) or follow. "--" ends the options.
 * Operands may stand between options. A long name may be shortened as long as it stays unambiguous.
 */
#ifndef TARE_BASE_OPTIONS_H
#define TARE_BASE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"
#include "base/strbuf.h"

typedef ARRAY(const char *) text_list;

enum option_kind {
	OPTION_FLAG = 1, /* bool */
	OPTION_TEXT,	 /* const char *: the last one given wins */
	OPTION_TEXTS,	 /* text_list: arity strings are appended each time (arity 0 means 1) */
	OPTION_INTEGER,	 /* long, within min..max (max 0: no upper limit) */
	OPTION_DURATION, /* uint64_t, ns */
	OPTION_FRACTION, /* double; "2%" is 0.02 */
	OPTION_CHOICE,	 /* int: the index of the value in `arg`, a list like "text|json|csv" */
	OPTION_OPTIONAL, /* const char *: "" when given without a value, which must be attached with
			    = */
};

struct option_spec {
	char letter;	  /* 0: none */
	const char *name; /* NULL: none */
	enum option_kind kind;
	void *into;
	const char *arg; /* its name in the help */
	const char *help;
	long min, max;
	int arity;
	const char *also; /* of a choice: other spellings, in the same order */
	bool rare;	  /* only in --help-all, so that --help fits a screen */
	bool hidden;	  /* in neither: spellings kept for compatibility */
};

typedef ARRAY(struct option_spec) spec_list;

enum help { HELP_NONE, HELP_SHORT, HELP_ALL };

/* Adds --help/-h and --help-all; if one is given, *help is set and the rest is not checked. The
 * error (EXIT_USAGE) names the option and what is wrong with it; the hint has the name that was
 * probably meant. */
int options_parse(const char *command, const struct option_spec *specs, int argc, char **argv,
		  text_list *operands, enum help *help, struct error *err);

/* The option lines of --help or --help-all, at most 80 columns wide. */
void options_help(const struct option_spec *specs, enum help help, struct strbuf *out);

/* The candidate (NULL-terminated) that the user most likely meant, or NULL. */
const char *nearest_word(const char *word, const char *const *candidates);

/* Splits words as a POSIX shell does: quotes and backslashes, without expansion. Returns -1 on an
 * unclosed quote. words gets malloc'ed strings and a final NULL, which is not counted. */
typedef ARRAY(char *) word_list;
int words_split(const char *text, word_list *words, struct error *err);
void words_release(word_list *words);

#endif
