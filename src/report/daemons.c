#include "report/daemons.h"

void daemons_text(const struct study *s, const struct machine *machine,
		  const struct daemons_style *style, struct strbuf *out)
{
	(void)s;
	(void)machine;
	(void)style;
	(void)out;
}
void daemons_json(const struct study *s, const struct machine *machine, struct strbuf *out)
{
	(void)s;
	(void)machine;
	strbuf_puts(out, "{}\n");
}
struct table *daemons_cutoffs(const struct cutoff *cutoffs, size_t count)
{
	(void)cutoffs;
	(void)count;
	return NULL;
}
void daemons_plots(const struct sedona_run *r, const bool *is_l, const struct study_run *found,
		   const struct daemons_style *style, struct strbuf *out)
{
	(void)r;
	(void)is_l;
	(void)found;
	(void)style;
	(void)out;
}
