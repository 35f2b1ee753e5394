#include "report/profile.h"

void profile_export(const struct profile_subject *s, const struct sleepy_filter *f,
		    enum profile_format format, struct strbuf *out)
{
	(void)s;
	(void)f;
	(void)format;
	(void)out;
}
