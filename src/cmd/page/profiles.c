/* Profiles, with the code of the functions that have the most samples. */
#include "cmd/cmd.h"
#include "cmd/page/page.h"
#include "cmd/profile/profile.h"

#define LISTINGS_MOST 40

struct listing_made {
	struct profile_sources *sources;
	instruction_list instructions;
	sleepy_counts counts;
};

struct listings {
	struct listing_made made[LISTINGS_MOST];
	struct profile_listing list[LISTINGS_MOST];
	size_t count;
};

/* A function that cannot be taken apart is left out. */
static void add_listing(struct listings *l, struct profile *p, const struct sleepy_row *row)
{
	struct error none = ERROR_INIT;
	struct listing_made *made = &l->made[l->count];
	*made = (struct listing_made){ .sources = profile_sources_new() };
	if (profile_read_code(p, row->function, made->sources, &made->instructions, &none)) {
		profile_sources_free(made->sources);
		array_release(&made->instructions);
		return;
	}
	sleepy_instructions(p, row->function, NULL, &made->counts);
	l->list[l->count++] = (struct profile_listing){ .function = row->function,
							.instructions = &made->instructions,
							.counts = &made->counts,
							.samples = row->self,
							.source = profile_source_line,
							.context = made->sources };
}

static void listings_make(struct listings *l, struct profile *p)
{
	struct sleepy_view view = { 0 };
	sleepy_aggregate(p, SLEEPY_FUNCTION, NULL, true, &view);
	for (size_t i = 0; i < view.rows.count && l->count < LISTINGS_MOST; i++) {
		const struct sleepy_row *row = &view.rows.items[i];
		if (row->self && row->function != PROFILE_NONE &&
		    p->functions.items[row->function].size && profile_find_code(p, row->function))
			add_listing(l, p, row);
	}
	sleepy_view_release(&view);
}

static void listings_release(struct listings *l)
{
	for (size_t i = 0; i < l->count; i++) {
		profile_sources_free(l->made[i].sources);
		array_release(&l->made[i].instructions);
		array_release(&l->made[i].counts);
	}
}

static void compare(struct page *p, size_t first, const void *before, const void *after)
{
	const struct profile_subject a = profile_loaded_subject(before),
				     b = profile_loaded_subject(after);
	struct sleepy_view of_a, of_b;
	struct sleepy_diff d = { 0 };
	sleepy_aggregate(a.profile, SLEEPY_FUNCTION, NULL, false, &of_a);
	sleepy_aggregate(b.profile, SLEEPY_FUNCTION, NULL, false, &of_b);
	sleepy_compare(&of_a, &of_b, a.profile->hz, b.profile->hz, &d);
	page_compare_profiles(p, first, page_section_count(p) - 1, &a, &b, &d);
	sleepy_diff_release(&d);
	sleepy_view_release(&of_a);
	sleepy_view_release(&of_b);
}

/* One that is going may have stored no slice yet: that is no error of the page. */
static int load(struct profile_loaded *into, struct lab *lab, int64_t id, struct error *err)
{
	/* a function is asked for where code is wanted, too */
	const struct profile_filter_options with_code = { .function = "*",
							  .instance = PROFILE_NOT_GIVEN };
	uint64_t begin_ns, bytes;
	if (lab_measure_profile(lab, id, &begin_ns, &bytes, err))
		return -1;
	if (begin_ns || bytes)
		return profile_load_run(into, lab, id, &with_code, err);
	return cmd_load_run(lab, id, &into->run, &into->machine, err);
}

static int add(struct page *p, struct lab *lab, int64_t id, void *into, bool *stored,
	       struct error *err)
{
	struct profile_loaded *l = into;
	struct listings listings = { 0 };
	if (load(l, lab, id, err))
		return -1;
	listings_make(&listings, &l->profile);
	const struct profile_subject subject = profile_loaded_subject(l);
	page_add_profile(p, &subject, listings.list, listings.count);
	listings_release(&listings);
	*stored = l->profile.slices.count;
	return 0;
}

static void release(void *loaded)
{
	profile_loaded_release(loaded);
}

int cmd_page_profiles(struct page *p, struct lab *lab, const id_list *runs, struct error *err)
{
	static const struct page_kind kind = { sizeof(struct profile_loaded), add, compare,
					       release };
	return cmd_page_compared(p, lab, runs, &kind, err);
}
