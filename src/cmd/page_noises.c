/* Runs of noise, each with its machine's baseline. */
#include "cmd/noise.h"
#include "cmd/page.h"

/* The baseline where there is one and it is another run; base->run.id 0: there is none. */
static int load_baseline(struct lab *lab, const struct noise_loaded *run, struct noise_loaded *base,
			 struct error *err)
{
	int64_t id = 0;
	*base = (struct noise_loaded){ 0 };
	if (!run->machine.facts.count)
		return 0;
	if (lab_get_baseline(lab, &run->machine, &id, err))
		return -1;
	return id && id != run->run.id ? noise_load(base, lab, id, err) : 0;
}

/* A run that was ended before its first round has nothing to compare: that is no error. */
static bool differ(const struct noise_loaded *base, const struct noise_loaded *run,
		   struct jitter_diff *d)
{
	struct error none = ERROR_INIT;
	return base->run.id && jitter_compare(&base->noise, &run->noise, d, &none) == 0;
}

static void compare(struct page *p, size_t first, const struct noise_loaded *base,
		    const struct noise_loaded *run)
{
	struct jitter_diff d = { 0 };
	if (differ(base, run, &d)) {
		const struct noise_view a = noise_loaded_view(base), b = noise_loaded_view(run);
		page_compare_noise(p, first, page_section_count(p) - 1, &a, &b, &d);
		jitter_diff_release(&d);
	}
}

static int add(struct page *p, struct lab *lab, const struct noise_loaded *run, struct error *err)
{
	struct noise_loaded base;
	struct jitter_diff d = { 0 };
	if (load_baseline(lab, run, &base, err))
		return -1;
	bool based = differ(&base, run, &d);
	const struct noise_view view = noise_loaded_view(run), baseline = noise_loaded_view(&base);
	page_add_noise(p, &view, based ? &baseline : NULL, based ? &d : NULL);
	if (based)
		jitter_diff_release(&d);
	noise_loaded_release(&base);
	return 0;
}

int cmd_page_noises(struct page *p, struct lab *lab, const id_list *runs, struct error *err)
{
	struct noise_loaded first = { 0 };
	const size_t at = page_section_count(p);
	int failed = 0;
	for (size_t i = 0; i < runs->count && !failed; i++) {
		struct noise_loaded run = { 0 };
		failed = noise_load(&run, lab, runs->items[i], err) || add(p, lab, &run, err);
		if (!failed && i)
			compare(p, at, &first, &run);
		if (!failed && !i)
			first = run;
		else
			noise_loaded_release(&run);
	}
	noise_loaded_release(&first);
	return failed ? -1 : 0;
}
