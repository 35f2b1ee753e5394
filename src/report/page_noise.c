/* Noise of CPUs. */
#include "report/page_private.h"

void page_add_noise(struct page *p, const struct noise_view *v, const struct noise_view *baseline,
		    const struct jitter_diff *diff)
{
	(void)baseline, (void)diff;
	page_add(p, page_head(p, "noise", v->run, v->machine, NULL));
}

void page_compare_noise(struct page *p, size_t base, size_t run, const struct noise_view *base_view,
			const struct noise_view *run_view, const struct jitter_diff *d)
{
	(void)p, (void)base, (void)run, (void)base_view, (void)run_view, (void)d;
}
