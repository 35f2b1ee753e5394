/* Charts of daemon studies. */
#include <stdio.h>

#include "base/text.h"
#include "report/chart/charts.h"

static void say_study(struct chart *c, const char *kind, const struct study *s,
		      enum study_length length, const struct machine *machine)
{
	char words[WORDS];
	chart_say(c, "figure", kind);
	snprintf(words, sizeof words, "%lld", (long long)s->id);
	chart_say(c, "study", words);
	format_iso8601(s->made_at_ns, words);
	chart_say(c, "made", words);
	snprintf(words, sizeof words, "the %s one, run %lld of the lab", study_length_names[length],
		 (long long)s->runs[length].run);
	chart_say(c, "samples", words);
	chart_say_machine(c, machine);
}

static void zoom_axis(struct chart_axis *a, const char *label, const struct study_level *l)
{
	chart_axis_time(a, label, (double)l->high_ns);
	double low = (double)l->low_ns, high = (double)l->high_ns;
	/* a bit of room around what lies at the edges */
	double room = 0.02 * (high - low);
	chart_axis_range(a, low - room, high + room);
	a->from = low;
	a->to = high;
}

void chart_pairs(struct chart *c, const struct sedona_run *r, const bool *is_l,
		 const struct study_level *l)
{
	const struct sedona_sample *s = r->samples.items;
	size_t blocks[2];
	for (size_t k = 0; k < 2; k++) {
		blocks[k] = chart_block(c, "first\tsecond\tfirst_ns\tsecond_ns",
					k ? "pairs with an L-sample" : "pairs of the cluster");
		chart_add(c, blocks[k], CHART_POINTS, k ? CHART_OUTSIDE : CHART_KEPT,
			  k ? "with an L-sample" : "central cluster", 2, 3);
	}
	for (size_t i = 0; i + 1 < r->samples.count; i++) {
		if (s[i].number % 2 == 0 || s[i + 1].number != s[i].number + 1)
			continue;
		double row[] = { s[i].number, s[i + 1].number, (double)s[i].et_ns,
				 (double)s[i + 1].et_ns };
		chart_row(c, blocks[is_l && (is_l[i] || is_l[i + 1])], row, 4, NULL);
	}
	zoom_axis(&c->x, "elapsed time of the first", l);
	zoom_axis(&c->y, "elapsed time of the second", l);
	c->key = true;
	c->square = true;
}

int chart_zoom(struct chart *c, const struct study *s, enum study_length length,
	       const struct machine *machine, const struct sedona_run *r, const bool *is_l,
	       size_t level, struct error *err)
{
	const struct study_run *found = &s->runs[length];
	struct sedona_run steady;
	char words[WORDS];
	if (!found->levels.count)
		return chart_empty(err, "this study has no zoom levels");
	level = level ? level : found->levels.count;
	if (level > found->levels.count)
		return error_set(err, EXIT_USAGE, "study %lld has %zu zoom level%s, not %zu",
				 (long long)s->id, found->levels.count,
				 found->levels.count == 1 ? "" : "s", level);
	const struct study_level *l = &found->levels.items[level - 1];
	say_study(c, "zooms", s, length, machine);
	snprintf(words, sizeof words, "%zu of %zu, %s", level, found->levels.count,
		 study_shape_names[l->shape]);
	chart_say(c, "zoom", words);
	bool steadied = found->steadied && sedona_steady(r, &steady);
	chart_pairs(c, steadied ? &steady : r, is_l, l);
	if (steadied)
		array_release(&steady.samples);
	return chart_rows(c) ? 0 : chart_empty(err, "this study has no pairs of samples");
}

/* Not that of the first, where the clock was set back. */
static int64_t earliest(const struct sedona_run *r)
{
	int64_t first = INT64_MAX;
	for (size_t i = 0; i < r->samples.count; i++)
		if (r->samples.items[i].at_ns && r->samples.items[i].at_ns < first)
			first = r->samples.items[i].at_ns;
	return first;
}

/* When sample `number` began, since the earliest; NaN: not known. */
static double time_of(const struct sedona_run *r, uint32_t number, int64_t origin)
{
	for (size_t i = 0; i < r->samples.count; i++)
		if (r->samples.items[i].number == number && r->samples.items[i].at_ns)
			return (double)(r->samples.items[i].at_ns - origin);
	return NAN;
}

int chart_periods(struct chart *c, const struct study *s, enum study_length length,
		  const struct machine *machine, const struct sedona_run *r, struct error *err)
{
	size_t rows = 0;
	double last = 0;
	const struct sedona_sample *samples = r->samples.items;
	bool timed = r->samples.count > 1 && samples[0].at_ns &&
		     samples[r->samples.count - 1].at_ns > samples[0].at_ns;
	int64_t origin = earliest(r);
	say_study(c, "periods", s, length, machine);
	size_t block = chart_block(c, "row\tsample\tat_ns\tperiod_ns\tname",
				   "long-running executions of daemons");
	array_each(d, &s->daemons) {
		const struct study_seen *seen = &d->seen[length];
		char label[WORDS], period[WORDS];
		if (!seen->samples.count)
			continue;
		text_duration((double)seen->period.ns, 3, period, sizeof period);
		snprintf(label, sizeof label, "%s%s%.40s%s", d->name,
			 seen->period.found ? " (" : "", seen->period.found ? period : "",
			 seen->period.found ? ")" : "");
		for (size_t k = 0; k < seen->samples.count; k++) {
			double row[] = { (double)rows, seen->samples.items[k],
					 timed ? time_of(r, seen->samples.items[k], origin) : NAN,
					 seen->period.found ? (double)seen->period.ns : NAN };
			chart_row(c, block, row, 4, d->name);
			last = fmax(last, row[2]);
		}
		chart_axis_tick(&c->y, (double)rows++, label);
	}
	if (!rows)
		return chart_empty(err, "no daemon of this study was long-running");
	if (timed)
		chart_axis_time(&c->x, "time into the run", last);
	else
		chart_axis_label(&c->x, "sample");
	c->x.notation = timed ? CHART_FIGURES : CHART_COUNTS;
	chart_axis_from_zero(
		&c->x, timed || !r->samples.count ? last : samples[r->samples.count - 1].number);
	chart_axis_rows(c, rows);
	chart_add(c, block, CHART_POINTS, CHART_KEPT, NULL, timed ? 2 : 1, 0);
	return 0;
}
