/* Profiles, with the code of the functions that have the most samples. */
#include "binary/reader.h"
#include "cmd/kinds.h"
#include "cmd/profile/profile.h"

#define LISTINGS_MOST 40

struct listing_made {
	struct profile_sources *sources;
	instruction_list instructions;
	sleepy_counts counts;
};

struct listings {
	struct reader *reader;
	struct listing_made made[LISTINGS_MOST];
	struct profile_listing list[LISTINGS_MOST];
	size_t count;
};

/* A function that cannot be taken apart is left out. */
static void add_listing(struct listings *l, struct profile *p, const struct sleepy_row *row)
{
	struct error none = ERROR_INIT;
	struct listing_made *made = &l->made[l->count];
	*made = (struct listing_made){ .sources = profile_sources_new(l->reader) };
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

void page_profile_compare(struct page *p, size_t first, const struct loaded_run *before,
			  const struct loaded_run *after)
{
	const struct profile_subject a = loaded_profile(before), b = loaded_profile(after);
	struct sleepy_view of_a, of_b;
	SCOPED(sleepy_diff_release) struct sleepy_diff d = { 0 };
	sleepy_aggregate(a.profile, SLEEPY_FUNCTION, NULL, false, &of_a);
	sleepy_aggregate(b.profile, SLEEPY_FUNCTION, NULL, false, &of_b);
	sleepy_compare(&of_a, &of_b, a.profile->hz, b.profile->hz, &d);
	page_compare_profiles(p, first, page_section_count(p) - 1, &a, &b, &d);
	sleepy_view_release(&of_a);
	sleepy_view_release(&of_b);
}

int page_profile_add(struct page *p, struct lab *lab, struct loaded_run *l, size_t runs,
		     struct error *err)
{
	struct listings listings = { .reader = reader_new(
					     &(struct symbols_options){ .no_code = true }) };
	struct profile *profile = &l->profile;
	struct sleepy_view view = { 0 };
	(void)lab;
	(void)runs;
	(void)err;
	sleepy_aggregate(profile, SLEEPY_FUNCTION, NULL, true, &view);
	for (size_t i = 0; i < view.rows.count && listings.count < LISTINGS_MOST; i++) {
		const struct sleepy_row *row = &view.rows.items[i];
		if (row->self && row->function != PROFILE_NONE &&
		    profile->functions.items[row->function].size &&
		    profile_find_code(profile, row->function))
			add_listing(&listings, profile, row);
	}
	sleepy_view_release(&view);
	const struct profile_subject subject = loaded_profile(l);
	page_add_profile(p, &subject, listings.list, listings.count);
	for (size_t i = 0; i < listings.count; i++) {
		profile_sources_free(listings.made[i].sources);
		array_release(&listings.made[i].instructions);
		array_release(&listings.made[i].counts);
	}
	reader_free(listings.reader);
	return 0;
}
