/* A daemon study for people, in the order of what is asked first: what dropping gains, who it was,
 * who else was seen, and how the central cluster was found. */
#include "report/study/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/study/style.h"

#define LEAST_SAMPLES 6 /* fewer have no cluster: protocol/sedona/sedona.h */
#define MOST_SEEN 5
#define MOST_NUMBERS 30

static size_t runs_present(const struct study *s)
{
	size_t n = 0;
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++)
		n += s->runs[k].present;
	return n;
}

/* ---- what was studied ---- */

static void put_title(const struct study *s, const struct machine *machine,
		      const struct style *style, struct strbuf *out)
{
	static const char *const sources[] = { [STUDY_ACTIVE] = "executions of inc",
					       [STUDY_WATCH] = "windows of a watch",
					       [STUDY_RUNS] = "stored runs" };
	struct strbuf text = { 0 };
	const char *model = machine ? machine_get(machine, "cpu.model") : NULL;
	const char *kernel = machine ? machine_get(machine, "kernel.release") : NULL;
	const int64_t runs[] = { s->runs[STUDY_SHORT].run, s->runs[STUDY_LONG].run };
	strbuf_puts(&text, "Daemon study");
	if (s->id > 0)
		strbuf_printf(&text, " %lld", (long long)s->id);
	strbuf_printf(&text, " of %s", sources[s->source]);
	if (runs[0] > 0 && runs[1] > 0)
		strbuf_printf(&text, " (runs %lld and %lld)", (long long)runs[0],
			      (long long)runs[1]);
	else if (runs[0] > 0 || runs[1] > 0)
		strbuf_printf(&text, " (run %lld)", (long long)(runs[0] > 0 ? runs[0] : runs[1]));
	if (s->made_at_ns) {
		char date[WORDS];
		text_date(s->made_at_ns, date, sizeof date);
		strbuf_printf(&text, ", %s", date);
	}
	put_headline(out, style->width, style->colour, strbuf_text(&text));
	if (model || kernel)
		put_wrapped(out, style, "", 2, "%s%s%s%s", model ? model : "",
			    model && kernel ? ", " : "", kernel ? "Linux " : "",
			    kernel ? kernel : "");
	strbuf_release(&text);
}

/* ---- the runs ---- */

/* ET differ in their last digits: as many as its standard error supports. */
static void add_mean(struct table *t, size_t n, double mean_ns, double sigma_ns)
{
	const struct summary summary = { .n = n, .mean = mean_ns, .stddev = sigma_ns };
	struct scale scale = scale_of_summary(&summary, TIME_UNIT_AUTO);
	table_add_scaled(t, n ? mean_ns : NAN, &scale);
}

static void put_runs(const struct study *s, const struct style *style, struct strbuf *out)
{
	static const struct column columns[] = {
		{ "run", "Run", COLUMN_TEXT },
		{ "length", "Length", COLUMN_DURATION, .digits = 3 },
		{ "samples", "Samples", COLUMN_COUNT },
		{ "cluster", "Cluster", COLUMN_COUNT, .from = NARROW },
		{ "l_samples", "L-samples", COLUMN_COUNT, .from = NARROW },
		{ "dropped", "Dropped", COLUMN_COUNT },
		{ "sigma", "σ of ET", COLUMN_DURATION, .digits = 3, .ascii = "Sigma" },
		{ "kept", "σ kept", COLUMN_DURATION, .digits = 3, .ascii = "kept" },
		{ "ratio", "Ratio", COLUMN_TEXT, .right = true },
		{ "mean", "Mean ET", COLUMN_DURATION, .from = WIDE },
		{ "mean_kept", "Mean kept", COLUMN_DURATION, .from = WIDE },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++) {
		const struct study_run *r = &s->runs[k];
		if (!r->present)
			continue;
		/* "1/906" of what became much smaller, "0.93" of what did not; "-" without a spread
		 */
		double ratio = r->sigma_ns > 0 ? r->sigma_kept_ns / r->sigma_ns : NAN;
		char words[WORDS] = "-";
		if (ratio > 0 && ratio <= 0.1)
			snprintf(words, sizeof words, "1/%.0f", 1 / ratio);
		else if (isfinite(ratio))
			snprintf(words, sizeof words, "%.*f", ratio > 0 ? 2 : 0, ratio);
		size_t kept = r->samples > r->dropped.count ? r->samples - r->dropped.count : 0;
		table_add_text(t, study_length_names[k]);
		table_add_number(t, r->length_ns ? (double)r->length_ns : NAN);
		table_add_count(t, r->samples);
		table_add_count(t, r->cluster);
		table_add_count(t, (int64_t)r->l_samples.count);
		table_add_count(t, (int64_t)r->dropped.count);
		table_add_number(t, r->samples > 1 ? r->sigma_ns : NAN);
		table_add_number(t, kept > 1 ? r->sigma_kept_ns : NAN);
		table_add_text(t, kept > 1 ? words : NULL);
		add_mean(t, r->samples, r->mean_ns, r->sigma_ns);
		add_mean(t, kept, r->mean_kept_ns, r->sigma_kept_ns);
	}
	strbuf_putc(out, '\n');
	table_put(t, style, out);
}

static void put_listed(const char *first, const number_list *numbers, const struct style *style,
		       struct strbuf *out)
{
	struct strbuf text = { 0 };
	put_sample_numbers(numbers->items, numbers->count, MOST_NUMBERS, &text);
	put_wrapped(out, style, first, 2, "%s", strbuf_text(&text));
	strbuf_release(&text);
}

/* What is dropped, and the L-samples that are not. */
static void put_dropped(const struct study_run *r, const char *name, const struct style *style,
			struct strbuf *out)
{
	number_list stay = { 0 };
	char first[WORDS], share[WORDS];
	for (size_t i = 0, at = 0; i < r->l_samples.count; i++) { /* both ascend */
		uint32_t number = r->l_samples.items[i];
		while (at < r->dropped.count && r->dropped.items[at] < number)
			at++;
		if (at == r->dropped.count || r->dropped.items[at] != number)
			array_push(&stay, number);
	}
	if (r->dropped.count) {
		format_percent((double)r->dropped.count / (double)r->samples, share);
		snprintf(first, sizeof first, "Dropped of the %s run (%.40s): ", name, share);
		put_listed(first, &r->dropped, style, out);
	}
	if (stay.count) {
		snprintf(first, sizeof first,
			 "L-sample%s that stay%s, no daemon above its cutoff: ",
			 stay.count == 1 ? "" : "s", stay.count == 1 ? "s" : "");
		put_listed(first, &stay, style, out);
	}
	array_release(&stay);
}

/* ---- in words ---- */

/* What there is to say of a run that has no L-samples. */
static void put_quiet(const struct study_run *r, const char *name, const struct style *style,
		      struct strbuf *out)
{
	char time[WORDS];
	format_ns((double)r->cluster_low_ns, time);
	if (!r->samples)
		put_wrapped(out, style, "", 2, "The %s run has no samples.", name);
	else if (r->samples < LEAST_SAMPLES)
		put_wrapped(out, style, "", 2,
			    "The %s run has %u sample%s: too few to tell slow ones from usual "
			    "ones. It takes %d at least, a hundred or more to see rare daemons.",
			    name, r->samples, r->samples == 1 ? "" : "s", LEAST_SAMPLES);
	else if (r->cluster_low_ns == r->cluster_high_ns)
		put_wrapped(out, style, "", 2,
			    "All samples of the %s run took the same time, %s: none is slow.", name,
			    time);
	else
		put_wrapped(out, style, "", 2,
			    "No sample of the %s run stands out: nothing to drop.", name);
}

/* No daemon to show: why not. */
static void put_none(const struct study *s, const struct style *style, struct strbuf *out)
{
	size_t samples = 0, l_samples = 0;
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++) {
		samples += s->runs[k].samples;
		l_samples += s->runs[k].l_samples.count;
	}
	if (!samples)
		return;
	strbuf_putc(out, '\n');
	if (!s->daemons.count)
		put_wrapped(out, style, "", 2, "No daemon was seen in any sample.");
	else
		put_wrapped(out, style, "", 2, "No daemon is long-running: there is no cutoff.");
	if (l_samples)
		put_wrapped(
			out, style, "", 2,
			"The slow samples have another cause, which no daemon's process time "
			"shows: interrupts, the hypervisor, the clock frequency, or the program "
			"itself (tare explain tells).");
}

static void put_words(const struct study *s, const struct style *style, struct strbuf *out)
{
	if (!runs_present(s)) {
		put_wrapped(out, style, "", 2, "There is no run in it: nothing was studied.");
		return;
	}
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++) {
		const struct study_run *r = &s->runs[k];
		const char *name = study_length_names[k];
		bool corner = false;
		if (!r->present)
			continue;
		if (r->l_samples.count || r->dropped.count)
			put_dropped(r, name, style, out);
		else
			put_quiet(r, name, style, out);
		if (r->steadied) {
			char all[WORDS], kept[WORDS];
			format_ns(r->steady_sigma_ns, all);
			format_ns(r->steady_sigma_kept_ns, kept);
			put_wrapped(out, style, "", 2,
				    "The program's own process time varies in the %s run, which "
				    "hides what daemons take: samples are compared by ET with the "
				    "median process time in place of their own. Its %s is %s of "
				    "all and %s of those kept.",
				    name, style->ascii ? "sigma" : "σ", all, kept);
		}
		for (size_t i = 0; i < r->levels.count; i++)
			corner |= r->levels.items[i].shape == STUDY_CORNER;
		if (corner)
			put_wrapped(out, style, "", 2,
				    "In the %s run both of a pair are slow as often as chance "
				    "makes it: a frequent daemon, or two bands. They stay in the "
				    "cluster; no cutoff removes them.",
				    name);
	}
}

/* ---- the others ---- */

struct other {
	const char *name;
	uint64_t usual_ns; /* the most in a cluster */
};

static int compare_others(const void *a, const void *b)
{
	const struct other *x = a, *y = b;
	return ORDER(y->usual_ns, x->usual_ns) ?: strcmp(x->name, y->name);
}

static void put_others(const struct study *s, const struct style *style, struct strbuf *out)
{
	ARRAY(struct other) others = { 0 };
	struct strbuf text = { 0 };
	array_each(d, &s->daemons) {
		uint64_t a = d->seen[STUDY_SHORT].cluster_max_ns,
			 b = d->seen[STUDY_LONG].cluster_max_ns;
		if (!daemon_is_long_running(d))
			array_push(&others, (struct other){ d->name, a > b ? a : b });
	}
	if (!others.count)
		return;
	array_sort(&others, compare_others);
	for (size_t i = 0; i < others.count && i < MOST_SEEN; i++) {
		char time[WORDS];
		bool usual = others.items[i].usual_ns > 0;
		format_ns((double)others.items[i].usual_ns, time);
		strbuf_printf(&text, "%s%s (%s%s)", i ? ", " : "", others.items[i].name,
			      i || !usual ? "" : "at most ", usual ? time : "made no sample slow");
	}
	if (others.count > MOST_SEEN)
		strbuf_printf(&text, " and %zu more", others.count - MOST_SEEN);
	strbuf_putc(out, '\n');
	put_wrapped(out, style, "Seen, but not long-running: ", 2, "%s", strbuf_text(&text));
	strbuf_release(&text);
	array_release(&others);
}

void daemons_text(const struct study *s, const struct machine *machine, const struct style *given,
		  struct strbuf *out)
{
	struct style style = style_normal(given);
	size_t from = out->length;
	put_title(s, machine, &style, out);
	if (runs_present(s))
		put_runs(s, &style, out);
	put_words(s, &style, out);
	if (!put_long_running(s, &style, out))
		put_none(s, &style, out);
	put_others(s, &style, out);
	put_daemons_zooms(s, &style, out);
	style_finish(&style, out, from);
}
