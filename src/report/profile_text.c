#include "report/profile.h"

void profile_head_text(const struct profile_subject *s, const struct profile_style *style,
		       struct strbuf *out)
{
	(void)s;
	(void)style;
	(void)out;
}

void profile_view_text(const struct profile_subject *s, const struct sleepy_view *v,
		       const struct profile_style *style, struct strbuf *out)
{
	(void)s;
	(void)v;
	(void)style;
	(void)out;
}

struct table *profile_view_table(const struct profile_subject *s, const struct sleepy_view *v,
				 const struct profile_style *style)
{
	(void)s;
	(void)v;
	(void)style;
	return NULL;
}

void profile_listing_text(const struct profile_subject *s, const struct profile_listing *l,
			  const struct profile_style *style, struct strbuf *out)
{
	(void)s;
	(void)l;
	(void)style;
	(void)out;
}

struct table *profile_listing_table(const struct profile_subject *s,
				    const struct profile_listing *l)
{
	(void)s;
	(void)l;
	return NULL;
}

void profile_diff_text(const struct profile_subject *before, const struct profile_subject *after,
		       const struct sleepy_diff *d, const struct profile_style *style,
		       struct strbuf *out)
{
	(void)before;
	(void)after;
	(void)d;
	(void)style;
	(void)out;
}

struct table *profile_diff_table(const struct sleepy_diff *d, const struct profile_style *style)
{
	(void)d;
	(void)style;
	return NULL;
}
