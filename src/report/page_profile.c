/* A profile. */
#include "report/page_private.h"

void page_add_profile(struct page *p, const struct profile_subject *s,
		      const struct profile_listing *listings, size_t count)
{
	(void)listings, (void)count;
	page_add(p, page_head(p, "profile", s->run, s->machine, NULL));
}

void page_compare_profiles(struct page *p, size_t before, size_t after,
			   const struct profile_subject *before_subject,
			   const struct profile_subject *after_subject, const struct sleepy_diff *d)
{
	(void)p, (void)before, (void)after, (void)before_subject, (void)after_subject, (void)d;
}
