#include "binary/symbols.h"

struct symbols *symbols_new(const struct symbols_options *options)
{
	(void)options;
	return NULL;
}

void symbols_free(struct symbols *s)
{
	(void)s;
}

void symbols_fill(struct symbols *s, struct profile *p)
{
	(void)s;
	(void)p;
}

struct symbols_summary symbols_summary(const struct symbols *s)
{
	(void)s;
	return (struct symbols_summary){ 0 };
}
