/* Cutoffs and zoom levels of a daemon study, row by row. */
#include <math.h>
#include <stdio.h>

#include "report/study/style.h"

void put_sample_numbers(const uint32_t *numbers, size_t count, size_t most, struct strbuf *out)
{
	for (size_t i = 0; i < count && i < most; i++)
		strbuf_printf(out, "%s%u", i ? ", " : "", numbers[i]);
	if (count > most)
		strbuf_printf(out, " and %zu more", count - most);
}

bool daemon_is_long_running(const struct study_daemon *d)
{
	return d->seen[STUDY_SHORT].long_executions || d->seen[STUDY_LONG].long_executions;
}

/* ---- cutoffs ---- */

struct table *daemons_cutoffs(const struct cutoff *cutoffs, size_t count)
{
	static const struct column columns[] = {
		{ "id", "ID", COLUMN_COUNT },
		{ "daemon", "Daemon", COLUMN_TEXT, .code = true },
		{ "from", "Programs from", COLUMN_DURATION },
		{ "below", "Below", COLUMN_DURATION },
		{ "cutoff", "Cutoff", COLUMN_DURATION },
		{ "edited", "Edited", COLUMN_COUNT },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < count; i++) {
		const struct cutoff *c = &cutoffs[i];
		if (c->id > 0)
			table_add_count(t, c->id);
		else
			table_add_absent(t);
		table_add_text(t, c->daemon);
		table_add_number(t, (double)c->from_ns);
		table_add_number(t, c->below_ns ? (double)c->below_ns : NAN);
		table_add_number(t, (double)c->cutoff_ns);
		table_add_count(t, c->edited);
	}
	return t;
}

/* ---- zooms ---- */

#define MOST_DECIMALS 9 /* ns */

/* ET differ in their last digits: one unit for a window, and decimals that tell its ends apart. */
static struct scale daemons_scale(uint64_t low_ns, uint64_t high_ns)
{
	struct scale s = scale_for((double)high_ns, TIME_UNIT_AUTO);
	if (high_ns > low_ns) {
		double apart = (double)(high_ns - low_ns) / s.ns;
		int decimals = 1 - (int)floor(log10(apart)), most = (int)round(log10(s.ns));
		s.decimals = decimals > s.decimals ? decimals : s.decimals;
		s.decimals = s.decimals > most ? most : s.decimals;
	}
	s.decimals = s.decimals > MOST_DECIMALS ? MOST_DECIMALS : s.decimals;
	return s;
}

void format_expected(double count, char out[WORDS])
{
	if (!isfinite(count))
		snprintf(out, WORDS, "-");
	else if (count > 0 && count < 0.005)
		snprintf(out, WORDS, "<0.01");
	else
		snprintf(out, WORDS, "%.*f", count < 1 ? 2 : count < 100 ? 1 : 0, count);
}

void put_daemons_zooms(const struct study *s, const struct style *style, struct strbuf *out)
{
	static const struct column columns[] = {
		{ "zoom", "#", COLUMN_COUNT, .from = NARROW },
		{ "high", "ET up to", COLUMN_DURATION },
		{ "cut", "Slow above", COLUMN_DURATION, .from = NARROW },
		{ "neither", "Neither", COLUMN_COUNT },
		{ "first", "First", COLUMN_COUNT },
		{ "second", "Second", COLUMN_COUNT },
		{ "both", "Both", COLUMN_COUNT },
		{ "both_expected", "Chance", COLUMN_REAL },
		{ "shape", "Shape", COLUMN_TEXT },
	};
	bool any = false;
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++) {
		const struct study_run *r = &s->runs[k];
		if (!r->present || !r->levels.count)
			continue;
		const struct study_level *last = &r->levels.items[r->levels.count - 1];
		struct scale scale = daemons_scale(last->low_ns, last->high_ns);
		struct table *t = table_new(columns, sizeof columns / sizeof *columns);
		array_each(l, &r->levels) {
			const uint32_t counts[] = { l->neither, l->first, l->second, l->both };
			char text[WORDS];
			table_add_count(t, l - r->levels.items + 1);
			table_add_scaled(t, (double)l->high_ns, &scale);
			table_add_scaled(t, (double)l->cut_ns, &scale);
			for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
				table_add_count(t, counts[i]);
			format_expected(l->both_expected, text);
			table_add_shown(t, l->both_expected, text);
			table_add_text(t, study_shape_names[l->shape]);
		}
		strbuf_printf(out, "\nZooms of the %s run: which samples of a pair are slow\n",
			      study_length_names[k]);
		table_put(t, style, out);
		any = true;
	}
	if (any)
		put_wrapped(
			out, style, "", 2,
			"Chance: both, if slow samples came independently of each other. L: rare "
			"daemons, never in both. Corner: a frequent one, or two bands. Symmetric: "
			"nothing stands out, the central cluster.");
}
