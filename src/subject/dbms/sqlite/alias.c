#include "subject/dbms/sqlite/alias.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"

enum kind { NAME, OTHER, END };

struct token {
	enum kind kind;
	bool quoted;
	const char *from, *to; /* of a quoted name: without the quotes */
};

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

static const char *skip_blank(const char *s)
{
	for (;;) {
		if (isspace((unsigned char)*s)) {
			s++;
		} else if (s[0] == '-' && s[1] == '-') {
			s += strcspn(s, "\n");
		} else if (s[0] == '/' && s[1] == '*') {
			const char *end = strstr(s + 2, "*/");
			s = end ? end + 2 : s + strlen(s);
		} else {
			return s;
		}
	}
}

static struct token quoted_token(const char **at, char end)
{
	const char *s = *at + 1;
	while (*s && (*s != end || (end != ']' && s[1] == end)))
		s += 1 + (*s == end);
	struct token t = { end == '\'' ? OTHER : NAME, true, *at + 1, s };
	*at = s + (*s != '\0');
	return t;
}

static struct token next_token(const char **at)
{
	const char *s = *at = skip_blank(*at);
	if (!*s)
		return (struct token){ END, false, s, s };
	if (*s == '"' || *s == '`' || *s == '\'' || *s == '[')
		return quoted_token(at, *s == '[' ? ']' : *s);
	enum kind kind = in_name(*s) ? NAME : OTHER;
	do
		s++;
	while (kind == NAME && in_name(*s));
	struct token t = { kind, false, *at, s };
	*at = s;
	return t;
}

static bool is_word(const struct token *t, const char *word)
{
	size_t length = (size_t)(t->to - t->from);
	return t->kind == NAME && length == strlen(word) && strncasecmp(t->from, word, length) == 0;
}

static bool is_as(const struct token *t)
{
	return !t->quoted && is_word(t, "AS");
}

/* A quote within quotes is written twice. */
static char *unquote(const struct token *t)
{
	char *name = xstrndup(t->from, (size_t)(t->to - t->from));
	if (!t->quoted)
		return name;
	char *to = name;
	for (const char *from = name; *from; from++) {
		*to++ = *from;
		if ((*from == '"' || *from == '`') && from[1] == *from)
			from++;
	}
	*to = '\0';
	return name;
}

char *sqlite_alias_next(const char *sql, const char **at, const char *alias)
{
	const char *s = *at ? *at : sql;
	for (struct token name = next_token(&s); name.kind != END;) {
		const char *after = s; /* the alias may be the name of the next pair */
		struct token second = next_token(&after), third = second;
		if (is_as(&second)) {
			const char *further = after;
			third = next_token(&further);
		}
		if (name.kind == NAME && !is_as(&name) && is_word(&third, alias)) {
			*at = s;
			return unquote(&name);
		}
		s = after;
		name = second;
	}
	*at = s;
	return NULL;
}
