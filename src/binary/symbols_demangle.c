#include "binary/symbols_demangle.h"

#include <string.h>
#ifdef TARE_DEMANGLE
#include <libiberty/demangle.h>
#include <setjmp.h>

#define LENGTH_MAX 4096

struct output {
	char *text;
	size_t length, size;
	jmp_buf full;
};

/* A short name can stand for one of 2^100 letters, and the demangler asks nobody whether to go on:
 * it is left behind. What it holds then is on the stack. */
static void add(const char *text, size_t length, void *to)
{
	struct output *o = to;
	if (length >= o->size - o->length)
		longjmp(o->full, 1);
	if (!length) /* then there is no text, either */
		return;
	memcpy(o->text + o->length, text, length);
	o->length += length;
}

static bool try_both(const char *name, struct output *o)
{
	if (setjmp(o->full))
		return false;
	if (rust_demangle_callback(name, DMGL_NO_OPTS, add, o))
		return true;
	o->length = 0;
	return strncmp(name, "_Z", 2) == 0 &&
	       cplus_demangle_v3_callback(name, DMGL_NO_OPTS, add, o);
}

bool demangle(const char *name, char *into, size_t size)
{
	struct output o = { .text = into, .size = size };
	if ((strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0) ||
	    strlen(name) > LENGTH_MAX || !try_both(name, &o) || !o.length)
		return false;
	into[o.length] = '\0';
	return true;
}
#else

bool demangle(const char *name, char *into, size_t size)
{
	(void)name;
	(void)into;
	(void)size;
	return false;
}
#endif
