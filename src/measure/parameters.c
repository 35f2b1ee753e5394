#include "measure/parameters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/text.h"

#define SCAN_MAX 100000

static int add_name(parameter_space *space, const char *name, struct error *err)
{
	char shown[128];
	text_display(name, shown, sizeof shown);
	if (!*name || strpbrk(name, "{}"))
		return error_set(err, EXIT_USAGE, "'%s' cannot be the name of a parameter", shown);
	for (size_t i = 0; i < space->count; i++)
		if (strcmp(space->items[i].name, name) == 0)
			return error_set(err, EXIT_USAGE, "parameter '%s' is given twice", shown);
	array_push(space, (struct parameter_values){ .name = name });
	return 0;
}

static int decimals_of(const char *text)
{
	const char *point = strchr(text, '.');
	return point ? (int)strspn(point + 1, "0123456789") : 0;
}

int parameter_scan(parameter_space *space, const char *name, const char *min, const char *max,
		   const char *step, struct error *err)
{
	double low, high, by = 1;
	if (!real_parse(min, &low) || !real_parse(max, &high) || (step && !real_parse(step, &by)))
		return error_set(err, EXIT_USAGE,
				 "the scan of '%.60s' wants numbers, not '%.40s' to '%.40s'", name,
				 min, max);
	if (by == 0 || (high - low) / by < 0)
		return error_set(err, EXIT_USAGE,
				 "the scan of '%.60s' never gets from %.40s to %.40s", name, min,
				 max);
	double steps = floor((high - low) / by * (1 + 1e-12) + 1e-9);
	if (steps > SCAN_MAX)
		return error_set(err, EXIT_USAGE, "the scan of '%.60s' has more than %d values",
				 name, SCAN_MAX);
	if (add_name(space, name, err))
		return -1;
	int decimals = decimals_of(min);
	if (step && decimals_of(step) > decimals)
		decimals = decimals_of(step);
	word_list *values = &space->items[space->count - 1].values;
	for (long i = 0; i <= (long)steps; i++) {
		struct strbuf sb = { 0 };
		strbuf_printf(&sb, "%.*f", decimals, low + (double)i * by);
		array_push(values, strbuf_detach(&sb));
	}
	return 0;
}

int parameter_list(parameter_space *space, const char *name, const char *values, struct error *err)
{
	if (add_name(space, name, err))
		return -1;
	word_list *list = &space->items[space->count - 1].values;
	struct strbuf sb = { 0 };
	for (const char *c = values; *c; c++) {
		if (*c == '\\' && (c[1] == ',' || c[1] == '\\'))
			strbuf_putc(&sb, *++c);
		else if (*c == ',')
			array_push(list, strbuf_detach(&sb));
		else
			strbuf_putc(&sb, *c);
	}
	array_push(list, strbuf_detach(&sb));
	return 0;
}

void parameter_space_release(parameter_space *space)
{
	for (size_t i = 0; i < space->count; i++)
		words_release(&space->items[i].values);
	array_release(space);
}

size_t parameter_combinations(const parameter_space *space)
{
	size_t n = 1;
	for (size_t i = 0; i < space->count; i++)
		n *= space->items[i].values.count;
	return n;
}

const char *parameter_value(const parameter_space *space, size_t n, size_t p)
{
	for (size_t i = 0; i < p; i++)
		n /= space->items[i].values.count;
	const word_list *values = &space->items[p].values;
	return values->items[n % values->count];
}

char *parameter_fill(const parameter_space *space, size_t n, const char *text)
{
	if (!text)
		return NULL;
	struct strbuf out = { 0 };
	while (*text) {
		size_t matched = space->count;
		for (size_t p = 0; p < space->count && *text == '{'; p++) {
			size_t length = strlen(space->items[p].name);
			if (strncmp(text + 1, space->items[p].name, length) == 0 &&
			    text[1 + length] == '}')
				matched = p;
		}
		if (matched < space->count) {
			strbuf_puts(&out, parameter_value(space, n, matched));
			text += strlen(space->items[matched].name) + 2;
		} else {
			strbuf_putc(&out, *text++);
		}
	}
	return strbuf_detach(&out);
}
