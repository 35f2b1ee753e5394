#include "base/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

#define HELP_COLUMN 30
#define WIDTH 80
#define CHOICES_COLUMN 11 /* of a list of choices that goes on in a second line */

static const struct option_spec help_spec = { 'h',  "help", OPTION_FLAG,
					      NULL, NULL,   "print this help" };
static const struct option_spec help_all_spec = { 0,	"help-all", OPTION_FLAG,
						  NULL, NULL,	    "every option" };

struct parse {
	const char *command;
	const struct option_spec *specs;
	int argc;
	char **argv;
	int at;
	enum help *help;
	struct error *err;
};

const char *nearest_word(const char *word, const char *const *candidates)
{
	const char *best = NULL;
	size_t best_distance = strlen(word) / 2 < 3 ? strlen(word) / 2 : 3;
	for (; *candidates; candidates++) {
		size_t a = strlen(word), b = strlen(*candidates);
		if (a > 63 || b > 63)
			continue;
		size_t row[64];
		for (size_t j = 0; j <= b; j++)
			row[j] = j;
		for (size_t i = 1; i <= a; i++) {
			size_t diagonal = row[0];
			row[0] = i;
			for (size_t j = 1; j <= b; j++) {
				size_t above = row[j];
				size_t d = diagonal + (word[i - 1] != (*candidates)[j - 1]);
				if (above + 1 < d)
					d = above + 1;
				if (row[j - 1] + 1 < d)
					d = row[j - 1] + 1;
				row[j] = d;
				diagonal = above;
			}
		}
		if (row[b] <= best_distance) {
			if (row[b] == 0)
				return *candidates;
			best_distance = row[b] - 1;
			best = *candidates;
		}
	}
	return best;
}

static const struct option_spec *by_letter(const struct parse *p, char letter)
{
	for (const struct option_spec *s = p->specs; s->kind; s++)
		if (s->letter == letter)
			return s;
	return letter == 'h' ? &help_spec : NULL;
}

static int unknown_long(struct parse *p, const char *name)
{
	FREED text_list names = { 0 };
	for (const struct option_spec *s = p->specs; s->kind; s++)
		if (s->name)
			array_push(&names, s->name);
	array_push(&names, "help");
	array_push(&names, NULL);
	const char *near = nearest_word(name, names.items);
	error_set(p->err, EXIT_USAGE, "%s: unknown option '--%s'", p->command,
		  DISPLAYED(name, 128));
	if (near)
		error_hint(p->err, "did you mean '--%s'?", near);
	else
		error_hint(p->err, "'tare %s --help' lists the options", p->command);
	return -1;
}

static const struct option_spec *by_name(struct parse *p, const char *name, size_t length)
{
	const struct option_spec *found = NULL;
	bool several = false;
	if (length == strlen(help_all_spec.name) && strncmp(name, help_all_spec.name, length) == 0)
		return &help_all_spec;
	for (const struct option_spec *s = p->specs;; s++) {
		const struct option_spec *candidate = s->kind ? s : &help_spec;
		if (candidate->name && strncmp(candidate->name, name, length) == 0) {
			if (!candidate->name[length])
				return candidate;
			several |= found && found->into != candidate->into;
			found = candidate;
		}
		if (!s->kind)
			break;
	}
	char shown[128];
	snprintf(shown, sizeof shown, "%.*s", (int)(length < 100 ? length : 100), name);
	if (several) {
		error_set(p->err, EXIT_USAGE, "%s: option '--%s' is ambiguous", p->command, shown);
		error_hint(p->err, "write it in full; 'tare %s --help' lists the options",
			   p->command);
		return NULL;
	}
	if (!found)
		unknown_long(p, shown);
	return found;
}

static void spelled(const struct option_spec *s, char out[80])
{
	if (s->name)
		snprintf(out, 80, "--%s", s->name);
	else
		snprintf(out, 80, "-%c", s->letter);
}

static int bad_value(struct parse *p, const struct option_spec *s, const char *value,
		     const char *wanted)
{
	char name[80], shown[128];
	spelled(s, name);
	text_display(value, shown, sizeof shown);
	return error_set(p->err, EXIT_USAGE, "%s: %s wants %s, not '%s'", p->command, name, wanted,
			 shown);
}

/* The index of a word in "a|b|c"; -1: it is not there. */
static int find_choice(const char *choices, const char *word)
{
	size_t length = strlen(word);
	for (int index = 0;; index++) {
		size_t n = strcspn(choices, "|");
		if (n == length && strncmp(choices, word, n) == 0)
			return index;
		if (!choices[n])
			return -1;
		choices += n + 1;
	}
}

static int take_value(struct parse *p, const struct option_spec *s, const char *value)
{
	char wanted[96];
	switch (s->kind) {
	case OPTION_TEXT:
		*(const char **)s->into = value;
		return 0;
	case OPTION_TEXTS:
		array_push((text_list *)s->into, value);
		return 0;
	case OPTION_INTEGER: {
		long max = s->max ? s->max : INT32_MAX;
		if (integer_parse(value, s->min, max, s->into))
			return 0;
		if (s->max)
			snprintf(wanted, sizeof wanted, "a whole number from %ld to %ld", s->min,
				 max);
		else
			snprintf(wanted, sizeof wanted, "a whole number of at least %ld", s->min);
		return bad_value(p, s, value, wanted);
	}
	case OPTION_DURATION:
		if (duration_parse(value, s->into))
			return 0;
		return bad_value(p, s, value, "a time such as 500ms, 10s or 2m");
	case OPTION_FRACTION:
		if (fraction_parse(value, s->into))
			return 0;
		bad_value(p, s, value, "a share such as 0.5%");
		if (*value && strspn(value, "0123456789.") == strlen(value))
			error_hint(p->err, "for %s percent, type %s%%", value, value);
		return -1;
	case OPTION_CHOICE: {
		int index = find_choice(s->arg, value);
		if (index < 0 && s->also)
			index = find_choice(s->also, value);
		if (index >= 0) {
			*(int *)s->into = index;
			return 0;
		}
		char name[80], shown[128];
		spelled(s, name);
		text_display(value, shown, sizeof shown);
		error_set(p->err, EXIT_USAGE, "%s: %s cannot be '%s'", p->command, name, shown);
		return error_hint(p->err, "one of: %s", s->arg);
	}
	default:
		return 0;
	}
}

/* attached: the value written together with the option, or NULL. */
static int apply(struct parse *p, const struct option_spec *s, const char *attached)
{
	if (s == &help_spec || s == &help_all_spec) {
		*p->help = s == &help_spec ? HELP_SHORT : HELP_ALL;
		return 0;
	}
	if (s->kind == OPTION_FLAG) {
		if (attached)
			return error_set(p->err, EXIT_USAGE, "%s: --%s takes no value", p->command,
					 s->name);
		*(bool *)s->into = true;
		return 0;
	}
	if (s->kind == OPTION_OPTIONAL) {
		*(const char **)s->into = attached ? attached : "";
		return 0;
	}
	int arity = s->arity ? s->arity : 1;
	for (int i = 0; i < arity; i++) {
		const char *value = attached;
		attached = NULL;
		if (!value) {
			if (p->at >= p->argc) {
				char name[80];
				spelled(s, name);
				return error_set(p->err, EXIT_USAGE, "%s: %s needs %s", p->command,
						 name, s->arg);
			}
			value = p->argv[p->at++];
		}
		if (take_value(p, s, value))
			return -1;
	}
	return 0;
}

static int parse_letters(struct parse *p, const char *letters)
{
	for (; *letters; letters++) {
		const struct option_spec *s = by_letter(p, *letters);
		if (!s) {
			char one[2] = { *letters, 0 }, shown[16];
			text_display(one, shown, sizeof shown);
			error_set(p->err, EXIT_USAGE, "%s: unknown option '-%s'", p->command,
				  shown);
			return error_hint(p->err, "'tare %s --help' lists the options", p->command);
		}
		if (s->kind == OPTION_OPTIONAL && letters[1] == '=')
			return apply(p, s, letters + 2);
		bool flag = s->kind == OPTION_FLAG || s->kind == OPTION_OPTIONAL;
		if (apply(p, s, !flag && letters[1] ? letters + 1 : NULL))
			return -1;
		if (!flag)
			break;
	}
	return 0;
}

int options_parse(const char *command, const struct option_spec *specs, int argc, char **argv,
		  text_list *operands, enum help *help, struct error *err)
{
	struct parse p = { command, specs, argc, argv, 1, help, err };
	bool ended = false;
	while (p.at < argc && !*help) {
		const char *word = argv[p.at++];
		if (ended || word[0] != '-' || !word[1]) {
			array_push(operands, word);
		} else if (strcmp(word, "--") == 0) {
			ended = true;
		} else if (word[1] == '-') {
			size_t length = strcspn(word + 2, "=");
			const struct option_spec *s = by_name(&p, word + 2, length);
			const char *value = word[2 + length] ? word + 3 + length : NULL;
			if (!s || apply(&p, s, value))
				return -1;
		} else if (parse_letters(&p, word + 1)) {
			return -1;
		}
	}
	return 0;
}

static void help_line(const struct option_spec *s, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf left = { 0 };
	if (s->letter)
		strbuf_printf(&left, "  -%c%s", s->letter, s->name ? ", " : "");
	else
		strbuf_puts(&left, "      ");
	if (s->name)
		strbuf_printf(&left, "--%s", s->name);
	if (s->arg && s->kind == OPTION_OPTIONAL)
		strbuf_printf(&left, "[=%s]", s->arg);
	else if (s->arg)
		strbuf_printf(&left, " %s", s->arg);
	size_t column = left.length;
	const char *rest = strbuf_text(&left);
	/* a long list of choices goes on below */
	while (column > WIDTH) {
		size_t n = rest == strbuf_text(&left) ? WIDTH : WIDTH - CHOICES_COLUMN;
		while (n > 0 && rest[n - 1] != '|')
			n--;
		if (!n)
			break;
		strbuf_add(out, rest, n);
		strbuf_putc(out, '\n');
		strbuf_pad(out, ' ', CHOICES_COLUMN);
		rest += n;
		column = CHOICES_COLUMN + strlen(rest);
	}
	strbuf_puts(out, rest);
	if (column + 2 > HELP_COLUMN) {
		strbuf_putc(out, '\n');
		column = 0;
	}
	strbuf_pad(out, ' ', HELP_COLUMN - column);
	column = HELP_COLUMN;
	for (const char *word = s->help; *word;) {
		size_t n = strcspn(word, " ");
		if (column > HELP_COLUMN && column + 1 + n > WIDTH) {
			strbuf_putc(out, '\n');
			strbuf_pad(out, ' ', HELP_COLUMN);
			column = HELP_COLUMN;
		} else if (column > HELP_COLUMN) {
			strbuf_putc(out, ' ');
			column++;
		}
		strbuf_add(out, word, n);
		column += n;
		word += n + (word[n] == ' ');
	}
	strbuf_putc(out, '\n');
}

void options_help(const struct option_spec *specs, enum help help, struct strbuf *out)
{
	bool more = false;
	for (const struct option_spec *s = specs; s->kind; s++) {
		if (s->rare)
			more = true;
		if (s->hidden || (s->rare && help != HELP_ALL))
			continue;
		help_line(s, out);
	}
	help_line(&help_spec, out);
	if (more)
		help_line(&help_all_spec, out);
}

int words_split(const char *text, word_list *words, struct error *err)
{
	SCOPED(strbuf_release) struct strbuf word = { 0 };
	bool inside = false;
	for (const char *c = text; *c; c++) {
		if (strchr(" \t\n", *c)) {
			if (inside)
				array_push(words, strbuf_detach(&word));
			inside = false;
			continue;
		}
		inside = true;
		if (*c == '\\' && c[1]) {
			strbuf_putc(&word, *++c);
		} else if (*c == '\'' || *c == '"') {
			char quote = *c++;
			for (; *c && *c != quote; c++) {
				if (quote == '"' && *c == '\\' && c[1] && strchr("\"\\$`", c[1]))
					c++;
				strbuf_putc(&word, *c);
			}
			if (!*c) {
				words_release(words);
				error_set(err, EXIT_USAGE, "unclosed %c in the command", quote);
				return error_hint(
					err,
					"close the quote, or leave out -N to let a shell read it");
			}
		} else {
			strbuf_putc(&word, *c);
		}
	}
	if (inside)
		array_push(words, strbuf_detach(&word));
	array_push(words, NULL);
	words->count--;
	return 0;
}

void words_release(word_list *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->items[i]);
	array_release(words);
}
