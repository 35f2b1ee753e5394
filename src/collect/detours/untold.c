#include "collect/detours/untold.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Labels of what the programs are told of, or what holds no time of its own. Numbers are devices.
 */
static bool is_told(const char *label, size_t length)
{
	static const char *const told[] = { "LOC", "RES", "CAL", "TLB", "IWI", "TRM", "THR",
					    "DFR", "SPU", "NMI", "PMI", "MCP", "ERR", "MIS" };
	for (size_t i = 0; i < sizeof told / sizeof *told; i++)
		if (strlen(told[i]) == length && strncmp(label, told[i], length) == 0)
			return true;
	return length == 0 || isdigit((unsigned char)*label);
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* The first line names the CPUs online, one a column. Gives how many, and which is this one's: -1
 * for none. */
static int columns_of(const char *text, uint32_t cpu, int *column)
{
	char name[24];
	int count = 0;
	*column = -1;
	snprintf(name, sizeof name, "CPU%u", cpu);
	for (const char *at = skip_blanks(text); *at && *at != '\n'; at = skip_blanks(at)) {
		size_t length = strcspn(at, " \t\n");
		if (length == strlen(name) && strncmp(at, name, length) == 0)
			*column = count;
		count++;
		at += length;
	}
	return count;
}

/* Of a line, the count in the column; *rest is what follows the counts. */
static uint64_t count_in(const char *line, int column, int columns, const char **rest)
{
	uint64_t value = 0;
	const char *at = line + strcspn(line, ":\n");
	at += *at == ':';
	for (int i = 0; i < columns && isdigit((unsigned char)*skip_blanks(at)); i++) {
		char *end;
		unsigned long long number = strtoull(at, &end, 10);
		if (i == column)
			value = number;
		at = end;
	}
	*rest = skip_blanks(at);
	return value;
}

static const char *line_of(const char *text, const char *label, size_t length)
{
	for (const char *line = strchr(text, '\n'); line; line = strchr(line, '\n')) {
		const char *word = skip_blanks(++line);
		if (strncmp(word, label, length) == 0 && word[length] == ':')
			return line;
	}
	return NULL;
}

void untold_between(const char *before, const char *after, struct noise_cpu *c)
{
	int column, old_column;
	int columns = columns_of(after, c->cpu, &column);
	int old_columns = columns_of(before, c->cpu, &old_column);
	if (column < 0 || old_column < 0)
		return;
	for (const char *line = strchr(after, '\n'); line; line = strchr(line, '\n')) {
		const char *label = skip_blanks(++line), *rest, *ignored;
		size_t length = strcspn(label, ":\n");
		if (label[length] != ':' || is_told(label, length))
			continue;
		const char *old = line_of(before, label, length);
		uint64_t now = count_in(line, column, columns, &rest);
		uint64_t then = old ? count_in(old, old_column, old_columns, &ignored) : 0;
		if (now <= then)
			continue;
		struct noise_untold u = { .count = now - then };
		snprintf(u.name, sizeof u.name, "%.*s: %.*s", (int)(length < 8 ? length : 8), label,
			 (int)strcspn(rest, "\n"), rest);
		array_push(&c->untold, u);
	}
}
