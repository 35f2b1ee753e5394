/* One function by instruction. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/core/shapes.h"
#include "report/profile/rows.h"

#define FOLDED_LEAST 13 /* instructions without samples in a row */
#define TAB_COLUMNS 4

static int by_address(const void *a, const void *b)
{
	const struct sleepy_count *x = a, *y = b;
	return (x->address > y->address) - (x->address < y->address);
}

void listing_of(const struct profile *p, const struct profile_listing *l, struct listing *out)
{
	uint64_t found = 0;
	*out = (struct listing){ .samples = l->samples };
	for (size_t i = 0; i < l->counts->count; i++)
		out->self += l->counts->items[i].self;
	for (size_t i = 0; i < l->instructions->count; i++) {
		const struct instruction *instruction = &l->instructions->items[i];
		struct sleepy_count key = { .address = instruction->address };
		const struct sleepy_count *count =
			l->counts->count ? bsearch(&key, l->counts->items, l->counts->count,
						   sizeof key, by_address)
					 : NULL;
		uint64_t self = count ? count->self : 0;
		array_push(&out->list,
			   (struct listing_line){
				   .instruction = instruction,
				   .function = p->functions.items[l->function].name,
				   .address = instruction->address,
				   .size = instruction->size,
				   .self = self,
				   .share = l->samples ? (double)self / (double)l->samples : NAN,
				   .text = instruction->text,
				   .file = instruction->file,
				   .line = instruction->line });
		found += self;
		out->most = self > out->most ? self : out->most;
	}
	out->elsewhere = out->self > found ? out->self - found : 0;
}

void listing_release(struct listing *l)
{
	array_release(&l->list);
}

/* ---- text ---- */

static void add_line(struct table *t, const struct listing_line *line, const struct listing *of,
		     int decimals)
{
	char words[WORDS];
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	bool hottest = line->self && line->self == of->most;
	const char *colour = hottest ? RED : NULL;
	table_add_shown(t, line->share, line->self ? AS_POINTS(line->share, decimals) : "");
	table_paint(t, colour);
	snprintf(words, sizeof words, "%" PRIu64, line->self);
	table_add_shown(t, (double)line->self, line->self ? words : "");
	table_paint(t, colour);
	snprintf(words, sizeof words, "%" PRIx64, line->address);
	table_add_text(t, words);
	table_paint(t, colour);
	strbuf_printf(&text, "%s%s", hottest ? "> " : "  ", line->text);
	table_add_text(t, strbuf_text(&text));
	table_paint(t, colour);
}

/* A line that is no instruction. */
static void add_words(struct table *t, const char *words, const char *colour)
{
	table_add_shown(t, NAN, "");
	table_add_shown(t, NAN, "");
	table_add_text(t, "");
	table_add_text(t, words);
	table_paint(t, colour);
}

/* The text of a source line, its tabs as a few spaces. */
static void add_source(struct table *t, const struct profile_listing *l,
		       const struct listing_line *line)
{
	const char *slash = strrchr(line->file, '/');
	const char *source = l->source ? l->source(l->context, line->file, line->line) : NULL;
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	strbuf_printf(&text, "%s:%u", slash && slash[1] ? slash + 1 : line->file, line->line);
	if (source)
		strbuf_puts(&text, "  ");
	for (const char *c = source; c && *c; c++)
		if (*c == '\t')
			strbuf_pad(&text, ' ', TAB_COLUMNS);
		else
			strbuf_putc(&text, *c);
	add_words(t, strbuf_text(&text), DIM);
}

/* How many instructions from here have no samples. One that comes right before a sampled one is
 * where its cost is: it is never folded. */
static size_t stretch(const struct listing *lines, size_t from)
{
	size_t end = from, count = lines->list.count;
	while (end < count && !lines->list.items[end].self)
		end++;
	return end < count && end > from ? end - from - 1 : end - from;
}

static void put_lines(const struct profile_listing *l, const struct listing *lines,
		      const struct profile_style *style, struct strbuf *out)
{
	static const struct column columns[] = {
		{ "share", "Share %", COLUMN_PERCENT },
		{ "samples", "Samples", COLUMN_COUNT },
		{ "address", "Address", COLUMN_TEXT, .right = true },
		{ "instruction", "  Instruction", COLUMN_TEXT },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	const struct listing_line *before = NULL;
	int decimals = profile_decimals(l->samples);
	for (size_t i = 0; i < lines->list.count;) {
		const struct listing_line *line = &lines->list.items[i];
		size_t empty = style->all ? 0 : stretch(lines, i);
		if (empty >= FOLDED_LEAST) {
			char words[WORDS];
			snprintf(words, sizeof words, "  … %zu instructions without samples",
				 empty);
			add_words(t, words, NULL);
			i += empty;
			before = NULL;
			continue;
		}
		bool same = before && before->line == line->line && before->file && line->file &&
			    strcmp(before->file, line->file) == 0;
		if (line->file && line->line && !same)
			add_source(t, l, line);
		add_line(t, line, lines, decimals);
		before = line;
		i++;
	}
	table_put(t, &style->style, out);
}

void profile_listing_text(const struct profile_subject *s, const struct profile_listing *l,
			  const struct profile_style *given, struct strbuf *out)
{
	struct profile_style style = profile_normal_style(given);
	const struct profile_function *f = &s->profile->functions.items[l->function];
	const struct paragraph bold = { .width = style.style.width ? style.style.width : 80,
					.first = "",
					.indent = 2,
					.colour = style.style.colour ? BOLD : NULL };
	SCOPED(listing_release) struct listing lines;
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	listing_of(s->profile, l, &lines);
	strbuf_printf(&text, "%s in %s: %llu of ", f->name,
		      s->profile->objects.items[f->object].path, (unsigned long long)lines.self);
	put_samples_count(&text, l->samples, "sample");
	strbuf_printf(&text, " (%s %%), ",
		      AS_POINTS(l->samples ? (double)lines.self / (double)l->samples : NAN,
				profile_decimals(l->samples)));
	put_profile_worth(s->profile, lines.self, &text);
	put_paragraph(out, &bold, strbuf_text(&text));
	if (lines.self)
		put_wrapped(out, &style.style, "", 2, "%s",
			    s->profile->mode == PROFILE_EVENT
				    ? "An address is where the event was noticed: of a page fault "
				      "the instruction itself, of the CPU's events one that comes "
				      "after it."
				    : "An address is what would have come next: its cost is mostly "
				      "of the one before.");
	if (lines.elsewhere)
		put_wrapped(out, &style.style, "", 2,
			    "%llu sample%s at addresses where no instruction of this list begins.",
			    (unsigned long long)lines.elsewhere,
			    lines.elsewhere == 1 ? " is" : "s are");
	put_lines(l, &lines, &style, out);
}

/* ---- as data ---- */

struct table *profile_listing_table(const struct profile_subject *s,
				    const struct profile_listing *l)
{
	struct columns columns = { 0 };
	SCOPED(listing_release) struct listing lines;
	columns_add_fields(&columns, listing_line_shape.fields);
	struct table *t = table_of(&columns);
	listing_of(s->profile, l, &lines);
	for (size_t i = 0; i < lines.list.count; i++)
		table_add_fields(t, listing_line_shape.fields, &lines.list.items[i]);
	return t;
}
