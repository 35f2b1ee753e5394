/* Figures of daemon studies. */
#include <stdio.h>

#include "base/text.h"
#include "report/chart/figure_private.h"

static void say_study(struct figure *f, const char *kind, const struct study *s,
		      enum study_length length, const struct machine *machine)
{
	char words[WORDS];
	figure_say(f, "figure", kind);
	snprintf(words, sizeof words, "%lld", (long long)s->id);
	figure_say(f, "study", words);
	format_iso8601(s->made_at_ns, words);
	figure_say(f, "made", words);
	snprintf(words, sizeof words, "the %s one, run %lld of the lab", study_length_name(length),
		 (long long)s->runs[length].run);
	figure_say(f, "samples", words);
	figure_say_machine(f, machine);
}

static void zoom_axis(struct figure_axis *a, const char *label, const struct study_level *l)
{
	figure_axis_time(a, label, (double)l->high_ns);
	double low = (double)l->low_ns, high = (double)l->high_ns;
	/* a bit of room around what lies at the edges */
	double room = 0.02 * (high - low);
	figure_axis_range(a, low - room, high + room);
}

static void add_pairs(struct figure *f, const struct sedona_run *r, const bool *is_l,
		      size_t cluster, size_t outside)
{
	const struct sedona_sample *s = r->samples.items;
	for (size_t i = 0; i + 1 < r->samples.count; i++) {
		if (s[i].number % 2 == 0 || s[i + 1].number != s[i].number + 1)
			continue;
		double row[] = { s[i].number, s[i + 1].number, (double)s[i].et_ns,
				 (double)s[i + 1].et_ns };
		figure_row(f, is_l && (is_l[i] || is_l[i + 1]) ? outside : cluster, row, 4, NULL);
	}
}

int figure_zoom(struct figure *f, const struct study *s, enum study_length length,
		const struct machine *machine, const struct sedona_run *r, const bool *is_l,
		size_t level, struct error *err)
{
	const struct study_run *found = &s->runs[length];
	struct sedona_run steady;
	char words[WORDS];
	if (!found->levels.count)
		return figure_empty(err, "this study has no zoom levels");
	level = level ? level : found->levels.count;
	if (level > found->levels.count)
		return error_set(err, EXIT_USAGE, "study %lld has %zu zoom level%s, not %zu",
				 (long long)s->id, found->levels.count,
				 found->levels.count == 1 ? "" : "s", level);
	const struct study_level *l = &found->levels.items[level - 1];
	say_study(f, "zooms", s, length, machine);
	snprintf(words, sizeof words, "%zu of %zu, %s", level, found->levels.count,
		 study_shape_name(l->shape));
	figure_say(f, "zoom", words);
	size_t cluster =
		figure_block(f, "first\tsecond\tfirst_ns\tsecond_ns", "pairs of the cluster");
	size_t outside =
		figure_block(f, "first\tsecond\tfirst_ns\tsecond_ns", "pairs with an L-sample");
	bool steadied = found->steadied && sedona_steady(r, &steady);
	add_pairs(f, steadied ? &steady : r, is_l, cluster, outside);
	if (steadied)
		array_release(&steady.samples);
	if (!figure_rows(f))
		return figure_empty(err, "this study has no pairs of samples");
	zoom_axis(&f->x, "elapsed time of the first", l);
	zoom_axis(&f->y, "elapsed time of the second", l);
	figure_layer(f, cluster, "points pt 7 ps 0.3 lc rgb '#0072b2'", "central cluster",
		     "($3/%g):($4/%g)", f->x.unit, f->y.unit);
	figure_layer(f, outside, "points pt 2 ps 0.8 lc rgb '#d55e00'", "with an L-sample",
		     "($3/%g):($4/%g)", f->x.unit, f->y.unit);
	f->key = true;
	f->square = true;
	return 0;
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

int figure_periods(struct figure *f, const struct study *s, enum study_length length,
		   const struct machine *machine, const struct sedona_run *r, struct error *err)
{
	size_t rows = 0;
	double last = 0;
	const struct sedona_sample *samples = r->samples.items;
	bool timed = r->samples.count > 1 && samples[0].at_ns &&
		     samples[r->samples.count - 1].at_ns > samples[0].at_ns;
	int64_t origin = earliest(r);
	say_study(f, "periods", s, length, machine);
	size_t block = figure_block(f, "row\tsample\tat_ns\tperiod_ns\tname",
				    "long-running executions of daemons");
	for (size_t i = 0; i < s->daemons.count; i++) {
		const struct study_daemon *d = &s->daemons.items[i];
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
			figure_row(f, block, row, 4, d->name);
			last = fmax(last, row[2]);
		}
		figure_axis_tic(&f->y, (double)rows++, label);
	}
	if (!rows)
		return figure_empty(err, "no daemon of this study was long-running");
	if (timed)
		figure_axis_time(&f->x, "time into the run", last);
	else
		figure_axis_label(&f->x, "sample");
	f->x.notation = timed ? FIGURE_FIGURES : FIGURE_COUNTS;
	figure_axis_from_zero(
		&f->x, timed || !r->samples.count ? last : samples[r->samples.count - 1].number);
	figure_axis_rows(f, rows);
	figure_layer(f, block, "points pt 7 ps 0.6 lc rgb '#0072b2'", NULL, "($%d/%g):1",
		     timed ? 3 : 2, f->x.unit);
	return 0;
}
