#include "base/array.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *p)
{
	if (!p) {
		fputs("tare: out of memory\n", stderr);
		abort();
	}
	return p;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t size)
{
	return checked(realloc(p, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xstrdup_or_null(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

char *xstrndup(const char *s, size_t n)
{
	return checked(strndup(s, n));
}

void xfree(void *p)
{
	free(p);
}

char **xstrdup_all(const char *const *texts)
{
	size_t count = 0;
	while (texts && texts[count])
		count++;
	char **copy = xcalloc(count + 1, sizeof *copy);
	for (size_t i = 0; i < count; i++)
		copy[i] = xstrdup(texts[i]);
	return copy;
}

void xfree_all(char **texts)
{
	for (char **text = texts; text && *text; text++)
		xfree(*text);
	xfree(texts);
}

void *array_grow(void *items, size_t *capacity, size_t wanted, size_t size)
{
	if (wanted <= *capacity)
		return items;
	size_t grown = *capacity ? *capacity * 2 : 16;
	if (grown < wanted)
		grown = wanted;
	if (grown > SIZE_MAX / size)
		checked(NULL);
	*capacity = grown;
	return xrealloc(items, grown * size);
}
