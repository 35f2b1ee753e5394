#include "report/profile.h"

void profile_json(const struct profile_subject *s, const struct sleepy_view *views, size_t count,
		  const struct profile_style *style, struct strbuf *out)
{
	(void)s;
	(void)views;
	(void)count;
	(void)style;
	(void)out;
}

void profile_listing_json(const struct profile_subject *s, const struct profile_listing *l,
			  struct strbuf *out)
{
	(void)s;
	(void)l;
	(void)out;
}

void profile_diff_json(const struct profile_subject *before, const struct profile_subject *after,
		       const struct sleepy_diff *d, struct strbuf *out)
{
	(void)before;
	(void)after;
	(void)d;
	(void)out;
}
