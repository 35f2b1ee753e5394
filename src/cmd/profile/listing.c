/* One function by instruction, from the code that was stored with the profile or its file. */
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"
#include "binary/reader.h"
#include "cmd/cmd.h"
#include "cmd/profile/profile.h"

struct choice {
	uint32_t function; /* PROFILE_NONE: none */
	uint64_t samples;  /* of it */
	size_t matching;   /* functions with samples that the name means */
};

/* Of all functions that are meant the one with the most samples: names are not unique. */
static struct choice choose(const struct profile *p, const char *name,
			    const struct sleepy_filter *filter)
{
	struct choice best = { .function = PROFILE_NONE };
	SCOPED(sleepy_view_release) struct sleepy_view view = { 0 };
	sleepy_aggregate(p, SLEEPY_FUNCTION, filter, true, &view);
	for (size_t i = 0; i < view.rows.count; i++) {
		const struct sleepy_row *row = &view.rows.items[i];
		if (row->function == PROFILE_NONE || !row->self)
			continue;
		const struct profile_function *f = &p->functions.items[row->function];
		if (!f->size || !sleepy_function_matches(p, name, row->function))
			continue;
		if (!best.matching++) {
			best.function = row->function;
			best.samples = row->self;
		}
	}
	return best;
}

static int nothing_chosen(const struct profile *p, const struct profile_filter_options *o,
			  struct error *err)
{
	bool found = false, own = false; /* code of its own */
	for (size_t i = 0; i < p->functions.count; i++) {
		const struct profile_function *f = &p->functions.items[i];
		if (!sleepy_function_matches(p, o->function, (uint32_t)i) ||
		    !sleepy_object_matches(p, o->object, f->object))
			continue;
		found = true;
		own |= f->size > 0;
	}
	if (found && !own) {
		error_set(err, EXIT_USAGE, "'%s' has no code of its own: it is inlined everywhere",
			  DISPLAYED(o->function, 128));
		return error_hint(err, "--merge-inlined names the functions that it is in");
	}
	error_set(err, EXIT_USAGE, "no function '%s' has samples", DISPLAYED(o->function, 128));
	return error_hint(err, "'tare profile report --by function' lists those that have");
}

/* The lines of source that samples are known to belong to; innermost. */
static void add_lines(const struct profile *p, uint32_t object, instruction_list *list)
{
	if (!list->count)
		return;
	const uint64_t begin = list->items[0].address;
	const uint64_t last = list->items[list->count - 1].address;
	for (size_t i = 0; i < p->locations.count; i++) {
		const struct profile_location *l = &p->locations.items[i];
		if (l->object != object || !l->frames || l->address < begin ||
		    l->address > last + UINT8_MAX) /* the longest instruction */
			continue;
		const struct profile_frame *frame = &p->frames.items[l->first_frame];
		for (size_t k = 0; frame->line && k < list->count; k++) {
			struct instruction *at = &list->items[k];
			if (l->address < at->address || l->address >= at->address + at->size)
				continue;
			at->line = frame->line;
			at->file = frame->file ? frame->file
					       : p->functions.items[frame->function].file;
		}
	}
}

/* Why there is none. */
static int no_code(const struct profile *p, uint32_t function, struct error *err)
{
	const struct profile_function *f = &p->functions.items[function];
	const struct profile_object *o = &p->objects.items[f->object];
	switch (o->kind) {
	case OBJECT_KERNEL:
	case OBJECT_MODULE:
		error_set(err, EXIT_ENVIRONMENT,
			  "the code of '%.200s' could not be read from the kernel", f->name);
		return error_hint(err, access("/proc/kcore", F_OK)
					       ? "/proc/kcore, which has it, is not there"
					       : "root may read it, in /proc/kcore");
	case OBJECT_JIT:
	case OBJECT_MEMORY:
		error_set(err, EXIT_ENVIRONMENT,
			  "the code of '%.200s' was made while its program ran: it is not kept",
			  f->name);
		return error_hint(err, "'--by instruction' alone has its addresses");
	default:
		error_set(err, EXIT_ENVIRONMENT,
			  "the code of '%.200s' was not stored, and %.200s is not the file that "
			  "was sampled",
			  f->name, o->path);
		return error_hint(err, "it is stored unless --no-code is given or the file cannot "
				       "be read");
	}
}

int profile_read_code(struct profile *p, uint32_t function, struct profile_sources *sources,
		      instruction_list *list, struct error *err)
{
	const struct profile_code *code = profile_find_code(p, function);
	const struct profile_function *f = &p->functions.items[function];
	if (!code) { /* it is in the file, where that is still what was sampled */
		struct reader *r = reader_new(&(struct symbols_options){ .no_lines = true });
		reader_fill(r, p);
		reader_free(r);
		code = profile_find_code(p, function);
		f = &p->functions.items[function];
	}
	if (!code)
		return no_code(p, function, err);
	if (reader_disassemble(profile_sources_reader(sources), f->address, code->bytes, code->size,
			       list, err))
		return -1;
	profile_sources_add_lines(sources, p, f->object, list);
	add_lines(p, f->object, list);
	return 0;
}

int profile_render_listing(const struct loaded_run *l, const struct profile_display *d,
			   struct strbuf *out, struct error *err)
{
	/* code that is found is added: to a profile that is this function's alone to change */
	struct loaded_run own = *l;
	struct profile *p = &own.profile;
	*p = (struct profile){ 0 };
	profile_merge(p, &l->profile);
	struct sleepy_filter filter = profile_filter_make(&d->filter);
	filter.function = NULL; /* the counts are of the function's own code, inlined or not */
	const struct choice c = choose(p, d->filter.function, &filter);
	struct reader *reader = reader_new(&(struct symbols_options){ .no_code = true });
	struct profile_sources *sources = profile_sources_new(reader);
	FREED instruction_list list = { 0 };
	sleepy_counts counts = { 0 };
	int failed = c.function == PROFILE_NONE
			     ? nothing_chosen(p, &d->filter, err)
			     : profile_read_code(p, c.function, sources, &list, err);
	if (!failed) {
		sleepy_instructions(p, c.function, &filter, &counts);
		const struct profile_listing listing = { .function = c.function,
							 .source = profile_source_line,
							 .context = sources,
							 .instructions = &list,
							 .counts = &counts,
							 .samples = c.samples };
		const struct profile_subject subject = loaded_profile(&own);
		const struct profile_style style = profile_style_of(d, p);
		if (d->as == PROFILE_AS_TEXT)
			profile_listing_text(&subject, &listing, &style, out);
		else if (d->as == PROFILE_AS_JSON)
			profile_listing_json(&subject, &listing, out);
		else
			profile_render_table(profile_listing_table(&subject, &listing), d, out);
	}
	if (!failed && c.matching > 1)
		fprintf(stderr,
			"tare: %zu functions are meant; this is the one with the most samples\n",
			c.matching);
	profile_sources_free(sources);
	reader_free(reader);
	array_release(&counts);
	profile_release(p);
	return failed;
}
