/* One function by instruction. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/core/shapes.h"
#include "report/profile/rows.h"

#define FOLDED_LEAST 13 /* instructions without samples in a row */
#define TAB_COLUMNS 4
#define SHARE_COLUMNS 7
#define SAMPLES_COLUMNS 9

static int by_address(const void *a, const void *b)
{
	const struct sleepy_count *x = a, *y = b;
	return (x->address > y->address) - (x->address < y->address);
}

void listing_of(const struct profile *p, const struct profile_listing *l, struct listing *out)
{
	uint64_t found = 0;
	*out = (struct listing){ 0 };
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

struct printer {
	const struct profile_listing *l;
	const struct profile_style *style;
	struct listing lines;
	int decimals;
	size_t address; /* columns */
	struct strbuf *out;
};

static void put_right(struct strbuf *out, const char *text, size_t columns)
{
	size_t width = text_width(text);
	strbuf_pad(out, ' ', width < columns ? columns - width : 0);
	strbuf_puts(out, text);
}

/* What the figures leave of a line. */
static void put_remainder(const struct printer *p, const char *text, size_t used)
{
	char *safe = display_copy(text);
	size_t width = p->style->width;
	put_fitted(p->out, safe, !width ? SIZE_MAX : width > used ? width - used : 1);
	xfree(safe);
}

static size_t margin(const struct printer *p)
{
	return SHARE_COLUMNS + SAMPLES_COLUMNS + 2 + p->address + 3;
}

static void put_instruction(const struct printer *p, const struct listing_line *line)
{
	char share[WORDS] = "", samples[WORDS] = "", address[WORDS];
	bool hottest = line->self && line->self == p->lines.most;
	if (line->self) {
		format_points((double)line->self / (double)p->l->samples, p->decimals, share);
		snprintf(samples, sizeof samples, "%llu", (unsigned long long)line->self);
	}
	snprintf(address, sizeof address, "%" PRIx64, line->instruction->address);
	if (hottest && p->style->colour)
		strbuf_puts(p->out, RED);
	put_right(p->out, share, SHARE_COLUMNS);
	put_right(p->out, samples, SAMPLES_COLUMNS);
	put_right(p->out, address, p->address + 2);
	strbuf_puts(p->out, hottest ? " > " : "   ");
	put_remainder(p, line->instruction->text, margin(p));
	strbuf_puts(p->out, hottest && p->style->colour ? RESET "\n" : "\n");
}

/* The text of a source line, its tabs as a few spaces. */
static void put_source(const struct printer *p, const struct instruction *i)
{
	const char *slash = strrchr(i->file, '/');
	const char *source = p->l->source ? p->l->source(p->l->context, i->file, i->line) : NULL;
	struct strbuf text = { 0 };
	strbuf_printf(&text, "%s:%u", slash && slash[1] ? slash + 1 : i->file, i->line);
	if (source)
		strbuf_puts(&text, "  ");
	for (const char *c = source; c && *c; c++)
		if (*c == '\t')
			strbuf_pad(&text, ' ', TAB_COLUMNS);
		else
			strbuf_putc(&text, *c);
	if (p->style->colour)
		strbuf_puts(p->out, DIM);
	size_t indent = margin(p) - 3;
	strbuf_pad(p->out, ' ', indent);
	put_remainder(p, strbuf_text(&text), indent);
	strbuf_puts(p->out, p->style->colour ? RESET "\n" : "\n");
	strbuf_release(&text);
}

static bool same_source(const struct instruction *a, const struct instruction *b)
{
	return a->line == b->line && a->file && b->file && strcmp(a->file, b->file) == 0;
}

/* How many instructions from here have no samples. One that comes right before a sampled one is
 * where its cost is: it is never folded. */
static size_t stretch(const struct printer *p, size_t from)
{
	size_t end = from, count = p->lines.list.count;
	while (end < count && !p->lines.list.items[end].self)
		end++;
	return end < count && end > from ? end - from - 1 : end - from;
}

static void put_lines(const struct printer *p)
{
	const struct instruction *before = NULL;
	for (size_t i = 0; i < p->lines.list.count;) {
		const struct listing_line *line = &p->lines.list.items[i];
		size_t empty = p->style->all ? 0 : stretch(p, i);
		if (empty >= FOLDED_LEAST) {
			strbuf_pad(p->out, ' ', margin(p));
			strbuf_printf(p->out, "… %zu instructions without samples\n", empty);
			i += empty;
			before = NULL;
			continue;
		}
		if (line->instruction->file && line->instruction->line &&
		    (!before || !same_source(before, line->instruction)))
			put_source(p, line->instruction);
		put_instruction(p, line);
		before = line->instruction;
		i++;
	}
}

static void put_title(const struct profile_subject *s, const struct printer *p)
{
	const struct profile_function *f = &s->profile->functions.items[p->l->function];
	struct paragraph lines = { .width = profile_width(p->style), .first = "", .indent = 2 };
	struct strbuf text = { 0 };
	char share[WORDS];
	format_points(p->l->samples ? (double)p->lines.self / (double)p->l->samples : NAN,
		      p->decimals, share);
	strbuf_printf(&text, "%s in %s: %llu of ", f->name,
		      s->profile->objects.items[f->object].path, (unsigned long long)p->lines.self);
	put_samples_count(&text, p->l->samples, "sample");
	strbuf_printf(&text, " (%s %%), ", share);
	put_cpu_seconds(&text, profile_ns(s->profile, p->lines.self));
	lines.colour = p->style->colour ? BOLD : NULL;
	put_paragraph(p->out, &lines, strbuf_text(&text));
	lines.colour = NULL;
	if (p->lines.self)
		put_paragraph(p->out, &lines,
			      "An address is what would have come next: its cost is mostly of the "
			      "one before.");
	if (p->lines.elsewhere) {
		strbuf_clear(&text);
		put_samples_count(&text, p->lines.elsewhere, "sample");
		strbuf_printf(&text, " %s at addresses where no instruction of this list begins.",
			      p->lines.elsewhere == 1 ? "is" : "are");
		put_paragraph(p->out, &lines, strbuf_text(&text));
	}
	strbuf_release(&text);
}

void profile_listing_text(const struct profile_subject *s, const struct profile_listing *l,
			  const struct profile_style *given, struct strbuf *out)
{
	struct profile_style style = profile_normal_style(given);
	struct printer p = { .l = l, .style = &style, .out = out };
	p.decimals = profile_decimals(l->samples);
	p.address = strlen("Address");
	listing_of(s->profile, l, &p.lines);
	for (size_t i = 0; i < l->instructions->count; i++) {
		int columns = snprintf(NULL, 0, "%" PRIx64, l->instructions->items[i].address);
		if ((size_t)columns > p.address)
			p.address = (size_t)columns;
	}
	put_title(s, &p);
	strbuf_puts(out, style.colour ? BOLD : "");
	put_right(out, "Share %", SHARE_COLUMNS);
	put_right(out, "Samples", SAMPLES_COLUMNS);
	put_right(out, "Address", p.address + 2);
	strbuf_puts(out, "   Instruction");
	strbuf_puts(out, style.colour ? RESET "\n" : "\n");
	put_lines(&p);
	listing_release(&p.lines);
}

/* ---- as data ---- */

struct table *profile_listing_table(const struct profile_subject *s,
				    const struct profile_listing *l)
{
	struct columns columns = { 0 };
	struct listing lines;
	columns_add_fields(&columns, listing_line_shape.fields);
	struct table *t = table_of(&columns);
	listing_of(s->profile, l, &lines);
	for (size_t i = 0; i < lines.list.count; i++)
		table_add_fields(t, listing_line_shape.fields, &lines.list.items[i]);
	listing_release(&lines);
	return t;
}
