/* The report of `tare noise` for people. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/noise/rows.h"

#define LABEL 14       /* columns of "  Time lost   " */
#define MOST_NAMES 3   /* of a class */
#define NAME_SMALL 0.1 /* of a class: a name with less is not worth a word */
#define MOST_WORST 5
#define MOST_PERIODS 6
#define MOST_UNTOLD 4
#define REMAINDER_NS 1000 /* shorter ones have other causes: caches, the core's other thread */

#define LINE(first) style, first, LABEL
#define SENTENCE(first) style, first, 2

/* ---- what was measured ---- */

static void put_title(const struct noise_view *v, const struct style *style, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	strbuf_puts(&text, "Noise on ");
	put_cpus(v->noise, &text);
	strbuf_printf(&text, " for %s%s, ", AS_NS((double)v->noise->elapsed_ns),
		      run_state_words(v->run));
	put_scheduling(v->noise, &text);
	if (v->run && v->run->id > 0)
		strbuf_printf(&text, ", run %lld", (long long)v->run->id);
	if (v->run && v->run->name && *v->run->name)
		strbuf_printf(&text, ": %s", v->run->name);
	put_headline(out, style->width, style->colour, strbuf_text(&text));
	if (v->run && v->run->tags && *v->run->tags)
		put_wrapped(out, LINE("  Tags        "), "%s", v->run->tags);
}

static void put_measured(const struct noise *n, const struct noise_cpu *c,
			 const struct style *style, struct strbuf *out)
{
	double cpus = c->cpu == UINT32_MAX ? (double)n->cpus.count : 1;
	put_wrapped(out, LINE("  Loop        "),
		    "%s a turn (99.9 %%: %s), clock step %s, threshold %s", AS_NS(c->turn_ns),
		    AS_NS(c->turn_p999_ns), AS_NS(c->step_ns), AS_NS((double)c->threshold_ns));
	put_wrapped(out, LINE("  Watched     "), "%s of %s of CPU time, %u round%s, duty cycle %s",
		    AS_NS(noise_watched_ns(c)), AS_NS(cpus * (double)n->elapsed_ns), c->rounds,
		    c->rounds == 1 ? "" : "s", AS_SHARE(noise_duty(n, c)));
}

static void put_lost(const struct noise_cpu *c, const struct style *style, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf more = { 0 };
	uint64_t min, max;
	double rate = noise_detour_rate(c), lost = noise_lost_share(c);
	char per_s[WORDS] = "-";
	if (!c->total.count) {
		put_wrapped(out, LINE("  Detours     "), "none above the threshold");
		return;
	}
	if (isfinite(rate))
		snprintf(per_s, sizeof per_s, "%.*f", rate < 10 ? 2 : rate < 100 ? 1 : 0, rate);
	if (noise_extremes(c, &min, &max))
		strbuf_printf(&more, ", from %s to %s", AS_NS((double)min), AS_NS((double)max));
	put_wrapped(out, LINE("  Detours     "), "%llu, %s per s%s%s",
		    (unsigned long long)c->total.count, per_s,
		    c->cpu == UINT32_MAX ? " and CPU" : "", strbuf_text(&more));
	strbuf_clear(&more);
	if (c->total.class_ns[NOISE_THROTTLED])
		strbuf_printf(&more, "; of it %s throttled: the price of --priority, not noise",
			      AS_NS((double)c->total.class_ns[NOISE_THROTTLED]));
	put_wrapped(out, LINE("  Time lost   "), "%s, %s of the time looked at: %s per s%s",
		    AS_NS((double)c->total.ns), AS_SHARE(lost),
		    isfinite(lost) ? AS_NS(lost * 1e9) : "-", strbuf_text(&more));
}

/* Where nobody can be named, lengths are all there is. */
static void put_lengths(const struct noise_cpu *c, const struct style *style, struct strbuf *out)
{
	static const double shares[] = { 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999 };
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	strbuf_printf(&text, "half below %s", AS_NS((double)noise_length_below(c, 0.5)));
	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
		if ((double)c->total.count * (1 - shares[i]) >= 1)
			strbuf_printf(&text, ", %g\u00a0%% below %s", 100 * shares[i],
				      AS_NS((double)noise_length_below(c, shares[i])));
	put_wrapped(out, LINE("  Lengths     "), "%s", strbuf_text(&text));
}

/* ---- who took it ---- */

/* Where the table has no column for them. An inferred class has a sentence of its own, or none. */
static void put_periods(const struct noise_rows *rows, const struct style *style,
			struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	size_t found = 0, more = 0;
	for (size_t i = 0; i < rows->list.count; i++) {
		const struct noise_row *row = &rows->list.items[i];
		if (!isfinite(row->period_ns) || !noise_class_strict(row->class))
			continue;
		if (found++ >= MOST_PERIODS) {
			more++;
			continue;
		}
		strbuf_printf(&text, "%s%s every %s", found > 1 ? ", " : "", row->name,
			      AS_NS(row->period_ns));
		if (row->period_share < 0.995)
			strbuf_printf(&text, " (%.0f\u00a0%% of its intervals)",
				      row->period_share * 100);
	}
	if (more)
		strbuf_printf(&text, ", and %zu more", more);
	if (found)
		put_wrapped(out, SENTENCE("Periodic: "), "%s", strbuf_text(&text));
}

static void put_sources(const struct noise_cpu *c, const struct noise_style *style,
			struct strbuf *out)
{
	SCOPED(noise_rows_release) struct noise_rows rows;
	const char *us = style->style.ascii ? "us" : "µs";
	noise_rows_of(c, style->mode, &rows);
	if (style->mode == NOISE_BY_SOURCE)
		strbuf_printf(out, "\nSources, in %s\n", us);
	else
		strbuf_printf(out, "\nSources that followed each other in a detour, in %s\n", us);
	put_noise_sources(&rows, style->most, style, out);
	if (style->style.width < NOISE_WIDE)
		put_periods(&rows, &style->style, out);
}

/* ---- where the time went ---- */

/* Names that hold much of their class; of classes that are inferred, what they mean. */
static void put_mostly(const struct noise_rows *rows, enum noise_class class, uint64_t ns,
		       struct strbuf *out)
{
	static const char *const meanings[NOISE_CLASSES] = {
		[NOISE_DELIVERY] = "on the way into and out of these",
		[NOISE_STEAL] = "another guest ran, by the steal clock",
		[NOISE_HOST] = "in phase with a period of the host",
		[NOISE_UNEXPLAINED] = "",
		[NOISE_SMI] = "firmware, by the count of SMIs",
	};
	size_t shown = 0;
	if (meanings[class]) {
		strbuf_puts(out, meanings[class]);
		return;
	}
	for (size_t i = 0; i < rows->list.count && shown < MOST_NAMES; i++) {
		const struct noise_row *row = &rows->list.items[i];
		if (row->class != class ||
		    (shown && (double)row->seen.ns < NAME_SMALL * (double)ns))
			continue;
		strbuf_printf(out, "%s%s", shown++ ? ", " : "", row->name);
	}
}

static void add_class(struct table *t, const char *name, double ns, uint64_t all,
		      const char *mostly)
{
	table_add_text(t, name);
	table_add_number(t, ns);
	table_add_number(t, ns / (double)all);
	table_add_text(t, mostly);
}

static void put_classes(const struct noise *n, const struct noise_cpu *c, const struct style *style,
			struct strbuf *out)
{
	static const struct column columns[] = {
		{ "class", "Where the time went", COLUMN_TEXT },
		{ "time", "Time", COLUMN_DURATION, .digits = 4 },
		{ "share", "Share", COLUMN_PERCENT, .decimals = DECIMALS(2) },
		{ "mostly", "", COLUMN_TEXT },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	SCOPED(noise_rows_release) struct noise_rows rows;
	uint64_t strict = 0;
	noise_rows_of(c, NOISE_BY_SOURCE, &rows);
	for (size_t i = 0; i < NOISE_CLASSES; i++) {
		/* what is unexplained comes last */
		enum noise_class class = i == NOISE_UNEXPLAINED ? NOISE_SMI
					 : i == NOISE_SMI	? NOISE_UNEXPLAINED
								: (enum noise_class)i;
		SCOPED(strbuf_release) struct strbuf mostly = { 0 };
		uint64_t ns = c->total.class_ns[class];
		strict += noise_class_strict(class) ? ns : 0;
		if (class == NOISE_DELIVERY)
			add_class(t, "told by the kernel", (double)strict, c->total.ns,
				  "strict: the sum of the above");
		put_mostly(&rows, class, ns, &mostly);
		if (class == NOISE_STEAL && !n->steal_told)
			add_class(t, noise_class_names[class], NAN, c->total.ns, "not seen");
		else if (noise_class_told(n, class) && (ns || class == NOISE_UNEXPLAINED))
			add_class(t, noise_class_names[class], (double)ns, c->total.ns,
				  strbuf_text(&mostly));
	}
	add_class(t, "all", (double)c->total.ns, c->total.ns, "");
	strbuf_putc(out, '\n');
	table_put(t, style, out);
}

/* ---- how much of it has a name ---- */

static void put_coverage(const struct noise *n, const struct noise_cpu *c,
			 const struct style *style, struct strbuf *out)
{
#define SHARE COLUMN_PERCENT, .decimals = DECIMALS(2)
	static const struct column columns[] = {
		{ "detours", "Explained", COLUMN_TEXT },
		{ "count", "Detours", COLUMN_COUNT },
		{ "time", "Time", COLUMN_DURATION, .digits = 4 },
		{ "named", "Named", SHARE },
		{ "strict", "Strict", SHARE },
		{ "overlap", "By overlap", SHARE },
	};
	static const struct {
		uint64_t from_ns;
		const char *name;
	} lines[] = { { 0, "all" }, { 1000, "over 1 µs" }, { 8000, "over 8 µs" } };
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct noise_coverage coverage;
		noise_coverage_of(n, c, lines[i].from_ns, &coverage);
		table_add_text(t, lines[i].name);
		table_add_count(t, (int64_t)coverage.count);
		table_add_number(t, (double)coverage.ns);
		table_add_number(t, coverage.named);
		table_add_number(t, coverage.strict);
		table_add_number(t, coverage.overlap);
	}
	strbuf_putc(out, '\n');
	table_put(t, style, out);
	put_wrapped(
		out, style, "", 0,
		"Shares of the time. Named: in any class but unexplained. Strict: inside what the "
		"kernel told of. By overlap: whole detours in which it told of anything.");
	if (c->total.class_ns[NOISE_THROTTLED])
		strbuf_puts(out, "Throttled time is in none of them.\n");
}

/* ---- what else there is to say ---- */

/* What can be said of the remainder without naming it. */
static void put_unexplained(const struct noise_view *v, const struct noise_cpu *c,
			    const struct style *style, struct strbuf *out)
{
	/* a guest counts the SMIs of its own firmware, not those of the machine */
	const char *hypervisor = v->machine ? machine_get(v->machine, "system.hypervisor") : NULL;
	bool no_smi = hypervisor && strcmp(hypervisor, "none") == 0 && c->smi_count != ABSENT_NS;
	uint64_t all = 0, alone = 0;
	for (unsigned i = noise_bucket_of(REMAINDER_NS); i < NOISE_BUCKETS; i++)
		all += c->buckets[i].class_ns[NOISE_UNEXPLAINED];
	for (size_t i = 0; i < c->combinations.count; i++)
		if (strcmp(c->combinations.items[i].name, noise_class_names[NOISE_UNEXPLAINED]) ==
		    0)
			alone = noise_histogram_sum(&c->combinations.items[i].seen_lengths,
						    noise_bucket_of(REMAINDER_NS), NOISE_BUCKETS)
					.ns;
	if (!v->noise->kernel || !all || !alone)
		return;
	put_wrapped(
		out, SENTENCE("unexplained: "),
		"of the %s in detours over 1 µs, %s in ones in which this kernel told of nothing "
		"at all%s",
		AS_NS((double)all), AS_SHARE(fmin((double)alone / (double)all, 1)),
		no_smi ? " and the CPU counted no SMI: likely the hardware, such as a change "
			 "of the clock rate, or an interrupt without a tracepoint."
		       : ": likely a hypervisor, its host or firmware.");
}

/* Firmware, as far as its interrupts are counted. */
static void put_smis(const struct noise *n, const struct noise_cpu *c, const struct style *style,
		     struct strbuf *out)
{
	if (c->smi_count == ABSENT_NS || !c->smi_count)
		return;
	SCOPED(strbuf_release) struct strbuf more = { 0 };
	if (n->kernel && c->smi_explained)
		strbuf_printf(&more,
			      "; %llu of them in detours with a stretch that nothing else "
			      "explains. These stretches are put down to them: at most %s",
			      (unsigned long long)c->smi_explained,
			      AS_NS((double)c->total.class_ns[NOISE_SMI]));
	else if (n->kernel)
		strbuf_puts(&more, "; none of them in a detour with a stretch that nothing else "
				   "explains");
	put_wrapped(out, SENTENCE("smi: "), "firmware took the CPU%s %llu time%s, by %s count%s.",
		    c->cpu == UINT32_MAX && n->cpus.count > 1 ? "s" : "",
		    (unsigned long long)c->smi_count, c->smi_count == 1 ? "" : "s",
		    c->cpu == UINT32_MAX && n->cpus.count > 1 ? "their" : "its",
		    strbuf_text(&more));
}

static void put_untold(const struct noise_cpu *c, const struct style *style, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	size_t count = c->untold.count;
	for (size_t i = 0; i < count && i < MOST_UNTOLD; i++)
		strbuf_printf(&text, "%s%s (%llu)", i ? ", " : "", c->untold.items[i].name,
			      (unsigned long long)c->untold.items[i].count);
	if (count > MOST_UNTOLD)
		strbuf_printf(&text, " and %zu more", count - MOST_UNTOLD);
	if (count)
		put_wrapped(
			out, SENTENCE("Untold interrupts: "),
			"%s. /proc/interrupts counts them, no tracepoint tells of them: the time "
			"they took is under other names or unexplained.",
			strbuf_text(&text));
}

/* Sentences on one CPU, or on all together. */
static void put_remarks(const struct noise_view *v, const struct noise_cpu *c,
			const struct style *style, struct strbuf *out)
{
	const struct noise *n = v->noise;
	const struct noise_host *h = &c->host;
	if (h->fitted && h->period_ns > 0)
		put_wrapped(out, SENTENCE("host-periodic: "),
			    "an inference: %llu of %llu otherwise unexplained detours are in phase "
			    "with %.2f Hz (fitted in %u of %u rounds); %s would be by chance.",
			    (unsigned long long)h->in_phase, (unsigned long long)h->looked_at,
			    1e9 / h->period_ns, h->fitted, h->rounds, AS_PERCENT(h->chance));
	put_smis(n, c, style, out);
	put_unexplained(v, c, style, out);
	if (n->kernel)
		put_untold(c, style, out);
	if (n->kernel && c->outside)
		put_wrapped(out, SENTENCE("In no detour: "),
			    "%llu occurrence%s, %s together: shorter than the threshold, or while "
			    "the loop made its notes.",
			    (unsigned long long)c->outside, c->outside == 1 ? "" : "s",
			    AS_NS((double)c->outside_ns));
	if (c->lost)
		put_wrapped(out, SENTENCE("Lost: "),
			    "%llu of %llu events of the kernel found no room: some of what is "
			    "unexplained had a name.",
			    (unsigned long long)c->lost, (unsigned long long)c->events + c->lost);
}

void put_noise_not_seen(const struct noise_view *v, const struct style *style, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	if (v->run && v->run->not_seen)
		strbuf_puts(&text, v->run->not_seen);
	while (text.length && text.text[text.length - 1] == ' ')
		text.text[--text.length] = '\0';
	if (!text.length && !v->noise->kernel)
		strbuf_puts(&text, "who caused a detour.");
	/* the first of its sentences goes on after the colon; an acronym stays what it is */
	if (text.length > 1 && islower((unsigned char)text.text[1]))
		text.text[0] = (char)tolower((unsigned char)text.text[0]);
	if (text.length)
		put_wrapped(out, SENTENCE("Not seen: "), "%s", strbuf_text(&text));
}

/* ---- the longest ---- */

static void put_worst(const struct noise *n, const struct style *style, struct strbuf *out)
{
	static const struct column columns[] = {
		{ "into", "Longest: at", COLUMN_DURATION, .unit = TIME_UNIT_SECOND,
		  .decimals = DECIMALS(3) },
		{ "cpu", "CPU", COLUMN_COUNT },
		{ "length", "Length", COLUMN_DURATION, .digits = 3 },
		{ "what", "What", COLUMN_TEXT },
	};
	if (!n->worst.count)
		return;
	/* without names the last column would say nothing */
	struct table *t = table_new(columns, sizeof columns / sizeof *columns - !n->kernel);
	for (size_t i = 0; i < n->worst.count && i < MOST_WORST; i++) {
		const struct noise_worst *w = &n->worst.items[i];
		SCOPED(strbuf_release) struct strbuf what = { 0 };
		enum noise_class most = 0;
		for (enum noise_class class = 0; class < NOISE_CLASSES; class ++)
			if (w->class_ns[class] > w->class_ns[most])
				most = class;
		strbuf_puts(&what, w->name);
		if (w->class_ns[most] && strcmp(w->name, noise_class_names[most]) != 0)
			strbuf_printf(&what, " (%s %s)", noise_class_names[most],
				      AS_NS((double)w->class_ns[most]));
		table_add_number(t, w->begin_ns > n->begin_ns ? (double)(w->begin_ns - n->begin_ns)
							      : 0);
		table_add_count(t, w->cpu);
		table_add_number(t, (double)w->ns);
		if (n->kernel)
			table_add_text(t, strbuf_text(&what));
	}
	strbuf_putc(out, '\n');
	table_put(t, style, out);
}

/* ---- all of it ---- */

static void put_block(const struct noise_view *v, const struct noise_cpu *c,
		      const struct noise_style *style, struct strbuf *notes, struct strbuf *out)
{
	put_measured(v->noise, c, &style->style, out);
	put_lost(c, &style->style, out);
	put_noise_speed(v->noise, c, &style->style, out);
	if (c->total.count && !v->noise->kernel) {
		put_lengths(c, &style->style, out);
	} else if (c->total.count) {
		put_sources(c, style, out);
		put_classes(v->noise, c, &style->style, out);
		put_coverage(v->noise, c, &style->style, out);
	}
	put_remarks(v, c, &style->style, notes);
}

static void put_notes(struct strbuf *notes, struct strbuf *out)
{
	if (notes->length)
		strbuf_printf(out, "\n%s", strbuf_text(notes));
	strbuf_clear(notes);
}

void noise_text(const struct noise_view *v, const struct noise_style *given, struct strbuf *out)
{
	struct noise_style style = noise_normal_style(given);
	const struct noise *n = v->noise;
	struct noise_cpu together;
	SCOPED(strbuf_release) struct strbuf notes = { 0 };
	size_t from = out->length;
	bool blocks = style.per_cpu && n->cpus.count > 1;
	put_title(v, &style.style, out);
	for (size_t i = 0; blocks && i < n->cpus.count; i++) {
		strbuf_printf(out, "\nCPU %u\n", n->cpus.items[i].cpu);
		put_block(v, &n->cpus.items[i], &style, &notes, out);
		put_notes(&notes, out);
	}
	if (blocks)
		strbuf_puts(out, "\nAll CPUs together\n");
	noise_together(n, &together);
	put_block(v, &together, &style, &notes, out);
	put_noise_not_seen(v, &style.style, &notes);
	put_notes(&notes, out);
	if (style.histograms && together.total.count)
		put_noise_histograms(&together, n->kernel, &style.style, out);
	if (style.density && together.total.count)
		put_noise_density(v, &style.style, out);
	put_worst(n, &style.style, out);
	noise_cpu_release(&together);
	style_finish(&style.style, out, from);
}
