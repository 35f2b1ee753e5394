#include "protocol/sleepy.h"

const char *sleepy_by_name(enum sleepy_by by)
{
	(void)by;
	return NULL;
}

void sleepy_aggregate(const struct profile *p, enum sleepy_by by, const struct sleepy_filter *f,
		      bool merge_inlined, struct sleepy_view *into)
{
	(void)p;
	(void)by;
	(void)f;
	(void)merge_inlined;
	(void)into;
}

void sleepy_view_release(struct sleepy_view *v)
{
	(void)v;
}

void sleepy_instructions(const struct profile *p, uint32_t function, const struct sleepy_filter *f,
			 sleepy_counts *into)
{
	(void)p;
	(void)function;
	(void)f;
	(void)into;
}

void sleepy_compare(const struct sleepy_view *before, const struct sleepy_view *after,
		    double before_hz, double after_hz, struct sleepy_diff *into)
{
	(void)before;
	(void)after;
	(void)before_hz;
	(void)after_hz;
	(void)into;
}

void sleepy_diff_release(struct sleepy_diff *d)
{
	(void)d;
}

void sleepy_each(const struct profile *p, const struct sleepy_filter *f, sleepy_stack_fn each,
		 void *context)
{
	(void)p;
	(void)f;
	(void)each;
	(void)context;
}

void sleepy_location_name(const struct profile *p, uint32_t location, char *out, size_t size)
{
	(void)p;
	(void)location;
	(void)out;
	(void)size;
}
