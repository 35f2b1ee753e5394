/* A profile. */
#include "report/page/profile_parts.h"

#include <ctype.h>

#include "report/page/documents.h"
#include "report/page/private.h"
#include "report/profile/rows.h"

#define FUNCTIONS_MOST 2000
#define ROWS_MOST 500	   /* of the other views */
#define NODES_MOST 400000  /* of the tree: 8 MB */
#define CHANGES_MOST 5000  /* rows of a comparison */
#define LISTED_MOST 5000   /* instructions of a function */
#define LISTED_TOTAL 20000 /* of all: 5 MB */
#define LISTED_NEAR 10	   /* before and after a sampled one, where not all are listed */
#define NS_PER_MS 1e6

static const enum sleepy_by views[] = { SLEEPY_SYSTEM, SLEEPY_APP,    SLEEPY_INSTANCE,
					SLEEPY_THREAD, SLEEPY_OBJECT, SLEEPY_FUNCTION };
#define VIEWS (sizeof views / sizeof *views)

static json_t *profile_json_of(const struct profile_subject *s)
{
	struct sleepy_view made[VIEWS];
	struct profile_part parts[VIEWS];
	bool stacks = s->profile->stacks != STACKS_NONE;
	for (size_t i = 0; i < VIEWS; i++) {
		bool functions = views[i] == SLEEPY_FUNCTION;
		sleepy_aggregate(s->profile, views[i], NULL, false, &made[i]);
		parts[i].view = &made[i];
		/* with totals also those that only call */
		parts[i].style =
			(struct profile_style){ .most = functions ? FUNCTIONS_MOST : ROWS_MOST,
						.totals = stacks && functions,
						.by_total = stacks && functions };
	}
	json_t *o = profile_document(s, parts, VIEWS);
	for (size_t i = 0; i < VIEWS; i++)
		sleepy_view_release(&made[i]);
	return o;
}

static json_t *slices_json(const struct profile_subject *s)
{
	const struct profile *p = s->profile;
	json_t *o = json_shape(&slices_shape, p);
	uint64_t begin = s->begin_ns	   ? s->begin_ns
			 : p->slices.count ? p->slices.items[0].begin_ns
					   : 0;
	array_each(slice, &p->slices) {
		double from = (double)slice->begin_ns - (double)begin;
		double length = (double)slice->end_ns - (double)slice->begin_ns;
		json_append(o, "at_ms", json_integer((json_int_t)(from / NS_PER_MS)));
		json_append(o, "ms", json_integer((json_int_t)(length / NS_PER_MS)));
		json_append(o, "user", json_count(slice->user));
		json_append(o, "kernel", json_count(slice->kernel));
		json_append(o, "idle", json_count(slice->idle));
	}
	return o;
}

/* ---- listings ---- */

/* The instructions around those with samples. Names of files stay borrowed. */
static void list_near(const struct profile *p, const struct profile_listing *l,
		      instruction_list *out)
{
	struct listing lines;
	size_t end = 0; /* of what is listed so far */
	listing_of(p, l, &lines);
	for (size_t i = 0; i < lines.list.count; i++) {
		if (!lines.list.items[i].self)
			continue;
		size_t from = i > LISTED_NEAR ? i - LISTED_NEAR : 0;
		from = from > end ? from : end;
		for (end = from; end <= i + LISTED_NEAR && end < lines.list.count; end++)
			array_push(out, *lines.list.items[end].instruction);
	}
	listing_release(&lines);
}

static void add_listings(json_t *section, const struct profile_subject *s,
			 const struct profile_listing *listings, size_t count)
{
	size_t instructions = 0, in_part = 0, left_out = 0;
	for (size_t i = 0; i < count; i++) {
		struct profile_listing shown = listings[i];
		size_t all = shown.instructions->count;
		instruction_list near = { 0 };
		if (all > LISTED_MOST || instructions + all > LISTED_TOTAL) {
			list_near(s->profile, &listings[i], &near);
			shown.instructions = &near;
		}
		size_t n = shown.instructions->count;
		if (n > LISTED_MOST || instructions + n > LISTED_TOTAL) {
			left_out++;
		} else {
			json_append(section, "listings", profile_listing_document(s, &shown));
			instructions += n;
			in_part += n < all;
		}
		array_release(&near);
	}
	if (in_part)
		page_notef(section,
			   "Code: %zu %s listed only near samples, to keep this page small.",
			   in_part, in_part == 1 ? "function is" : "functions are");
	if (left_out)
		page_notef(section, "Code: %zu %s left out, to keep this page small.", left_out,
			   left_out == 1 ? "long function is" : "long functions are");
}

/* ---- the section ---- */

static void note_cut_rows(json_t *section)
{
	const json_t *list = json_object_get(json_object_get(section, "profile"), "views"), *view;
	size_t i;
	json_array_foreach(list, i, view)
	{
		size_t shown = json_array_size(json_object_get(view, "rows"));
		json_int_t all = json_integer_value(json_object_get(view, "row_count"));
		size_t most = views[i] == SLEEPY_FUNCTION ? FUNCTIONS_MOST : ROWS_MOST;
		if (shown >= most && (size_t)all > shown)
			page_notef(section,
				   "Of %zu %s the %zu with the most samples are in this page.",
				   (size_t)all, profile_row_word(views[i], (size_t)all), shown);
	}
}

void page_add_profile(struct page *p, const struct profile_subject *s,
		      const struct profile_listing *listings, size_t count)
{
	struct strbuf subtitle = { 0 };
	const char *notes[PROFILE_NOTES];
	size_t folded, note_count = profile_notes_of(s->profile, notes);
	uint64_t samples;
	put_profile_subject(s->run, &subtitle);
	strbuf_puts(&subtitle, ", sampled ");
	put_profile_mode(s->profile, &subtitle);
	json_t *o = page_head(p, &profile_section_shape, s->run, s->run, s->machine,
			      strbuf_text(&subtitle));
	if (!s->profile->slices.count)
		page_note(
			o,
			s->run->status == RUN_GOING
				? "Nothing of this profile is stored yet: its first slice comes soon."
				: "Nothing of this profile was stored.");
	json_object_set_new(o, "profile", profile_json_of(s));
	for (size_t i = 0; i < note_count; i++)
		page_notef(o, "%c%s", toupper((unsigned char)*notes[i]), notes[i] + 1);
	note_cut_rows(o);
	json_object_set_new(o, "tree",
			    page_profile_tree(s->profile, NODES_MOST, &folded, &samples));
	if (folded)
		page_notef(o,
			   "The tree of calls is cut: %zu of its leaves, the smallest, with %llu "
			   "samples together, are counted in their callers.",
			   folded, (unsigned long long)samples);
	json_object_set_new(o, "slices", slices_json(s));
	add_listings(o, s, listings, count);
	page_add(p, o);
	strbuf_release(&subtitle);
}

void page_compare_profiles(struct page *p, size_t before, size_t after,
			   const struct profile_subject *before_subject,
			   const struct profile_subject *after_subject, const struct sleepy_diff *d)
{
	json_array_append_new(
		p->comparisons,
		json_pack("{s:s, s:I, s:I, s:o, s:o}", "kind", "profile", "before",
			  (json_int_t)before, "after", (json_int_t)after, "diff",
			  profile_diff_document(before_subject, after_subject, d, CHANGES_MOST),
			  "places",
			  page_profile_places(before_subject->profile, after_subject->profile,
					      NODES_MOST)));
	if (d->rows.count > CHANGES_MOST)
		page_notef(json_array_get(p->sections, after),
			   "Of %zu functions the %d that changed most are in the comparison.",
			   d->rows.count, CHANGES_MOST);
}
