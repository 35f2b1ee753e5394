/* Runs of noise, each with its machine's baseline. */
#include "cmd/cmd.h"
#include "cmd/noise/noise.h"
#include "cmd/page/page.h"

/* *stored false: of the run there is nothing yet but itself. */
static int load(struct lab *lab, int64_t id, struct noise_loaded *into, bool *stored,
		struct error *err)
{
	if (lab_has_data(lab, id, stored, err))
		return -1;
	return *stored ? noise_load(into, lab, id, err)
		       : cmd_load_run(lab, id, &into->run, &into->machine, err);
}

/* The baseline where there is one and it is another run; base->run.id 0: there is none. */
static int load_baseline(struct lab *lab, const struct noise_loaded *run, struct noise_loaded *base,
			 struct error *err)
{
	int64_t id = 0;
	bool stored;
	*base = (struct noise_loaded){ 0 };
	if (!run->machine.facts.count)
		return 0;
	if (lab_get_baseline(lab, &run->machine, &id, err))
		return -1;
	return id && id != run->run.id ? load(lab, id, base, &stored, err) : 0;
}

/* A run that was ended before its first round has nothing to compare: that is no error. */
static bool differ(const struct noise_loaded *base, const struct noise_loaded *run,
		   struct jitter_diff *d)
{
	struct error none = ERROR_INIT;
	return base->run.id && jitter_compare(&base->noise, &run->noise, d, &none) == 0;
}

static void compare(struct page *p, size_t first, const void *base, const void *run)
{
	struct jitter_diff d = { 0 };
	if (differ(base, run, &d)) {
		const struct noise_view a = noise_loaded_view(base), b = noise_loaded_view(run);
		page_compare_noise(p, first, page_section_count(p) - 1, &a, &b, &d);
		jitter_diff_release(&d);
	}
}

static int add_stored(struct page *p, struct lab *lab, const struct noise_loaded *run,
		      struct error *err)
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

static void add_nothing(struct page *p, const struct noise_loaded *run)
{
	struct noise_view view = noise_loaded_view(run);
	view.noise = NULL;
	page_add_noise(p, &view, NULL, NULL);
}

static int add(struct page *p, struct lab *lab, int64_t id, void *into, bool *stored,
	       struct error *err)
{
	if (load(lab, id, into, stored, err))
		return -1;
	if (*stored)
		return add_stored(p, lab, into, err);
	add_nothing(p, into);
	return 0;
}

static void release(void *loaded)
{
	noise_loaded_release(loaded);
}

int cmd_page_noises(struct page *p, struct lab *lab, const id_list *runs, struct error *err)
{
	static const struct page_kind kind = { sizeof(struct noise_loaded), add, compare, release };
	return cmd_page_compared(p, lab, runs, &kind, err);
}
