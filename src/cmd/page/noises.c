/* Runs of noise, each with its machine's baseline. */
#include "cmd/kinds.h"
#include "cmd/view.h"
#include "protocol/jitter/diff.h"

/* A run that was ended before its first round has nothing to compare: that is no error. */
static bool differ(const struct loaded_run *base, const struct loaded_run *run,
		   struct jitter_diff *d)
{
	struct error none = ERROR_INIT;
	return base->stored && jitter_compare(&base->noise, &run->noise, d, &none) == 0;
}

void page_noise_compare(struct page *p, size_t first, const struct loaded_run *base,
			const struct loaded_run *run)
{
	struct jitter_diff d = { 0 };
	if (differ(base, run, &d)) {
		const struct noise_view a = loaded_noise(base), b = loaded_noise(run);
		page_compare_noise(p, first, page_section_count(p) - 1, &a, &b, &d);
		jitter_diff_release(&d);
	}
}

int page_noise_add(struct page *p, struct lab *lab, struct loaded_run *run, size_t runs,
		   struct error *err)
{
	const struct noise_view view = loaded_noise(run);
	SCOPED(loaded_run_release) struct loaded_run base = { 0 };
	struct jitter_diff d = { 0 };
	int64_t id = 0;
	(void)runs;
	if (run->stored && run->machine.facts.count &&
	    lab_get_baseline(lab, &run->machine, &id, err))
		return -1;
	if (id && id != run->run.id &&
	    run_load(&base, lab, id, &run_kinds[SUBJECT_CPU].page_options, err))
		return -1;
	bool based = differ(&base, run, &d);
	const struct noise_view baseline = loaded_noise(&base);
	page_add_noise(p, &view, based ? &baseline : NULL, based ? &d : NULL);
	if (based)
		jitter_diff_release(&d);
	return 0;
}
