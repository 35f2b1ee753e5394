/* Two profiles compared, for people and as a table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/core/shapes.h"
#include "report/profile/rows.h"
#include "report/time/several.h"

#define NAME_LEAST 12
#define FULL_WIDTH 80 /* below: no CPU time per row */

/* ns of CPU time for each ns of wall time. */
double profile_cpu_per_s(uint64_t samples, double hz, uint64_t elapsed_ns)
{
	return hz > 0 && elapsed_ns ? (double)samples / hz * 1e9 / (double)elapsed_ns : NAN;
}

void profile_change_of(const struct sleepy_diff *d, size_t row, struct profile_change *out)
{
	const struct sleepy_change *c = &d->rows.items[row];
	*out = (struct profile_change){
		.of = *c,
		.before_cpu_per_s =
			profile_cpu_per_s(c->before, d->before_hz, d->before_elapsed_ns),
		.after_cpu_per_s = profile_cpu_per_s(c->after, d->after_hz, d->after_elapsed_ns),
		.sure = sleepy_change_sure(c),
	};
}

static bool shown(const struct sleepy_diff *d, const struct profile_style *style, size_t i)
{
	const struct sleepy_change *c = &d->rows.items[i];
	return fmax(c->before_share, c->after_share) >= style->least_share;
}

/* ---- text ---- */

static void put_side(const char *label, const struct profile_subject *s, uint64_t samples,
		     double hz, uint64_t elapsed_ns, const struct profile_style *style,
		     struct strbuf *out)
{
	struct strbuf text = { 0 };
	char first[16];
	double load = profile_cpu_per_s(samples, hz, elapsed_ns);
	snprintf(first, sizeof first, "  %-8s", label);
	if (s->run && *run_title(s->run))
		strbuf_puts(&text, run_title(s->run));
	else
		put_profile_subject(s->run, &text);
	if (s->run && s->run->id)
		strbuf_printf(&text, " (run %lld)", (long long)s->run->id);
	strbuf_puts(&text, ": ");
	put_samples_count(&text, samples, "sample");
	strbuf_puts(&text, ", ");
	put_profile_mode(s->profile, &text);
	if (isfinite(load))
		strbuf_printf(&text, "; %.3g CPU s per s", load);
	put_paragraph(
		out,
		&(struct paragraph){ .width = profile_width(style), .indent = 10, .first = first },
		strbuf_text(&text));
	strbuf_release(&text);
}

static void put_verdict(const struct sleepy_diff *d, const struct profile_style *style,
			struct strbuf *out)
{
	size_t grown = 0, shrunk = 0, unsure = 0;
	struct strbuf text = { 0 };
	for (size_t i = 0; i < d->rows.count; i++) {
		const struct sleepy_change *c = &d->rows.items[i];
		bool sure = sleepy_change_sure(c);
		grown += sure && c->change > 0;
		shrunk += sure && c->change < 0;
		unsure += !sure;
	}
	if (!d->before || !d->after)
		strbuf_puts(&text, "One of the two has no samples: nothing can be compared.");
	else if (!grown && !shrunk)
		strbuf_printf(&text,
			      "No share of %s %s surely changed: all differences may be chance.",
			      d->rows.count == 1 ? "the one" : "any of the",
			      profile_row_word(d->by, d->rows.count));
	else
		strbuf_printf(
			&text,
			"The share of %zu %s grew and of %zu shrank (p < 0.05, adjusted); %zu "
			"may be the same.",
			grown, profile_row_word(d->by, grown), shrunk, unsure);
	put_paragraph(out, &(struct paragraph){ .width = profile_width(style), .first = "" },
		      strbuf_text(&text));
	strbuf_release(&text);
}

static void format_change(double change, int decimals, char out[WORDS])
{
	char points[WORDS - 1];
	format_points(fabs(change), decimals, out);
	if (*out == '<' || !(fabs(change) > 0))
		return;
	snprintf(points, sizeof points, "%s", out);
	snprintf(out, WORDS, "%c%s", change > 0 ? '+' : '-', points);
}

/* CPU time in ms for each second that passed. */
static void format_load(double load, char out[WORDS])
{
	double ms = load * 1e3;
	if (isnan(ms))
		snprintf(out, WORDS, "-");
	else
		snprintf(out, WORDS, "%.*f", ms >= 99.95 || ms <= 0 ? 0 : ms >= 9.995 ? 1 : 2, ms);
}

enum cell { CHANGE, MARGIN, BEFORE, LOAD_BEFORE, AFTER, LOAD_AFTER, P, CELLS };

static void format_cell(const struct sleepy_diff *d, const struct sleepy_change *c, enum cell cell,
			int decimals, char out[WORDS])
{
	switch (cell) {
	case CHANGE:
		format_change(c->change, decimals, out);
		break;
	case MARGIN:
		format_points((c->high - c->low) / 2, decimals, out);
		break;
	case BEFORE:
		format_points(c->before_share, decimals, out);
		break;
	case AFTER:
		format_points(c->after_share, decimals, out);
		break;
	case LOAD_BEFORE:
		format_load(profile_cpu_per_s(c->before, d->before_hz, d->before_elapsed_ns), out);
		break;
	case LOAD_AFTER:
		format_load(profile_cpu_per_s(c->after, d->after_hz, d->after_elapsed_ns), out);
		break;
	default:
		if (isnan(c->p))
			snprintf(out, WORDS, "-");
		else if (c->p < 0.001)
			snprintf(out, WORDS, "<0.001");
		else
			snprintf(out, WORDS, "%.3f", c->p);
	}
}

static bool cell_shown(const struct profile_style *style, enum cell cell)
{
	return !style->width || style->width >= FULL_WIDTH ||
	       (cell != LOAD_BEFORE && cell != LOAD_AFTER);
}

/* Columns that the figures take. */
static size_t figures_width(const struct sleepy_diff *d, const struct profile_style *style,
			    const char *const titles[CELLS], int decimals)
{
	size_t used = 0;
	for (enum cell c = 0; c < CELLS; c++) {
		size_t width = text_width(titles[c]);
		for (size_t i = 0; i < d->rows.count; i++) {
			char text[WORDS];
			format_cell(d, &d->rows.items[i], c, decimals, text);
			width = text_width(text) > width ? text_width(text) : width;
		}
		used += cell_shown(style, c) ? width + 2 : 0;
	}
	return used;
}

static void add_change(struct table *t, const struct sleepy_diff *d, const struct sleepy_change *c,
		       const struct profile_style *style, int decimals, size_t room)
{
	struct strbuf after = { 0 };
	for (enum cell k = 0; k < CELLS; k++) {
		char text[WORDS];
		if (!cell_shown(style, k))
			continue;
		format_cell(d, c, k, decimals, text);
		table_add_text(t, text);
	}
	if (c->where) {
		char *where = display_copy(c->where);
		strbuf_printf(&after, " (%s)", where);
		xfree(where);
	}
	table_add_symbol(t, c->kernel && c->where ? "[k] " : "", c->name, strbuf_text(&after),
			 room);
	strbuf_release(&after);
}

static size_t put_changes(const struct sleepy_diff *d, const struct profile_style *style,
			  struct strbuf *out)
{
	static const char *const titles[CELLS] = { "Change",  "±",    "Before %", "ms/s",
						   "After %", "ms/s", "p" };
	struct column columns[CELLS + 1];
	int decimals = profile_decimals(d->before < d->after ? d->before : d->after);
	size_t used = figures_width(d, style, titles, decimals), width = 0, count = 0;
	size_t room = style->width > used + NAME_LEAST ? style->width - used : NAME_LEAST;
	for (enum cell c = 0; c < CELLS; c++)
		if (cell_shown(style, c))
			columns[width++] =
				(struct column){ "figure", titles[c], COLUMN_TEXT, .right = true };
	columns[width++] = (struct column){ "name", "Of", COLUMN_TEXT };
	struct table *t = table_new(columns, width);
	for (size_t i = 0; i < d->rows.count && (!style->most || count < style->most); i++)
		if (shown(d, style, i)) {
			add_change(t, d, &d->rows.items[i], style, decimals,
				   style->width ? room : 0);
			count++;
		}
	table_render(t, TABLE_TEXT, &(struct style){ .colour = style->colour }, out);
	table_free(t);
	return count;
}

static void put_note(const char *text, const struct profile_style *style, struct strbuf *out)
{
	put_paragraph(out,
		      &(struct paragraph){
			      .width = profile_width(style), .indent = 2, .first = "Note: " },
		      text);
}

static void put_notes(const struct profile *before, const struct profile *after,
		      const struct profile_style *style, struct strbuf *out)
{
	put_note("p and ± know how the samples fell, not how much two runs of the same differ.",
		 style, out);
	if (before->mode != after->mode)
		put_note("they were not sampled in the same way: what one sees in the kernel the "
			 "other may see elsewhere.",
			 style, out);
}

void profile_diff_text(const struct profile_subject *before, const struct profile_subject *after,
		       const struct sleepy_diff *d, const struct profile_style *given,
		       struct strbuf *out)
{
	struct profile_style style = profile_normal_style(given);
	strbuf_printf(out, "Profiles compared by %s\n", sleepy_by_name(d->by));
	put_side("before", before, d->before, d->before_hz, d->before_elapsed_ns, &style, out);
	put_side("after", after, d->after, d->after_hz, d->after_elapsed_ns, &style, out);
	put_verdict(d, &style, out);
	if (!d->before || !d->after || !d->rows.count)
		return;
	put_paragraph(
		out, &(struct paragraph){ .width = profile_width(&style), .first = "" },
		"Shares are of the samples, their change in points ± 95 %; ms/s is CPU time per "
		"second.");
	strbuf_putc(out, '\n');
	size_t count = put_changes(d, &style, out);
	if (count < d->rows.count)
		strbuf_printf(out, "… and %zu more %s\n", d->rows.count - count,
			      profile_row_word(d->by, d->rows.count - count));
	put_notes(before->profile, after->profile, &style, out);
}

/* ---- as data ---- */

struct table *profile_diff_table(const struct sleepy_diff *d, const struct profile_style *given)
{
	struct profile_style style = profile_normal_style(given);
	struct columns columns = { 0 };
	size_t count = 0;
	columns_add_fields(&columns, profile_change_shape.fields);
	struct table *t = table_of(&columns);
	for (size_t i = 0; i < d->rows.count && (!style.most || count < style.most); i++) {
		struct profile_change change;
		if (!shown(d, &style, i))
			continue;
		count++;
		profile_change_of(d, i, &change);
		table_add_fields(t, profile_change_shape.fields, &change);
	}
	return t;
}
