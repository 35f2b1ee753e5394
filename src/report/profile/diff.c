/* Two profiles compared, for people and as a table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/core/json.h"
#include "report/core/shapes.h"
#include "report/page/documents.h"
#include "report/profile/rows.h"
#include "report/time/several.h"

#define NAME_LEAST 12
#define FULL_WIDTH 80 /* below: no CPU time per row */

/* ns of CPU time for each ns of wall time. */
/* CPU time per elapsed time: `samples` in elapsed_ns; NaN if one is unknown. */
static double profile_cpu_per_s(uint64_t samples, double hz, uint64_t elapsed_ns)
{
	return hz > 0 && elapsed_ns ? (double)samples / hz * 1e9 / (double)elapsed_ns : NAN;
}

/* The rows that are shown. */
static void changes_of(const struct sleepy_diff *d, size_t most, double least_share,
		       struct profile_changes *out)
{
	*out = (struct profile_changes){ .by = d->by };
	for (size_t i = 0; i < d->rows.count && (!most || out->rows.count < most); i++) {
		const struct sleepy_change *c = &d->rows.items[i];
		if (fmax(c->before_share, c->after_share) < least_share)
			continue;
		array_push(&out->rows,
			   (struct profile_change){
				   *c,
				   profile_cpu_per_s(c->before, d->before_hz, d->before_elapsed_ns),
				   profile_cpu_per_s(c->after, d->after_hz, d->after_elapsed_ns),
				   sleepy_change_sure(c) });
	}
}

/* ---- text ---- */

static void put_side(const char *label, const struct profile_subject *s, uint64_t samples,
		     double hz, uint64_t elapsed_ns, const struct style *style, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	double load = profile_cpu_per_s(samples, hz, elapsed_ns);
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
	put_wrapped(out, style, label, 10, "%s", strbuf_text(&text));
}

static void put_verdict(const struct sleepy_diff *d, const struct style *style, struct strbuf *out)
{
	size_t grown = 0, shrunk = 0, unsure = 0;
	for (size_t i = 0; i < d->rows.count; i++) {
		const struct sleepy_change *c = &d->rows.items[i];
		bool sure = sleepy_change_sure(c);
		grown += sure && c->change > 0;
		shrunk += sure && c->change < 0;
		unsure += !sure;
	}
	if (!d->before || !d->after)
		put_wrapped(out, style, "", 0,
			    "One of the two has no samples: nothing can be compared.");
	else if (!grown && !shrunk)
		put_wrapped(out, style, "", 0,
			    "No share of %s %s surely changed: all differences may be chance.",
			    d->rows.count == 1 ? "the one" : "any of the",
			    profile_row_word(d->by, d->rows.count));
	else
		put_wrapped(out, style, "", 0,
			    "The share of %zu %s grew and of %zu shrank (p < 0.05, adjusted); %zu "
			    "may be the same.",
			    grown, profile_row_word(d->by, grown), shrunk, unsure);
}

/* CPU time in ms for each second that passed. */
static void add_load(struct table *t, double load)
{
	char words[WORDS];
	double ms = load * 1e3;
	if (isnan(load)) {
		table_add_absent(t);
		return;
	}
	snprintf(words, sizeof words, "%.*f", ms >= 99.95 || ms <= 0 ? 0 : ms >= 9.995 ? 1 : 2, ms);
	table_add_shown(t, ms, words);
}

static void add_change(struct table *t, const struct profile_change *change)
{
	const struct sleepy_change *c = &change->of;
	SCOPED(strbuf_release) struct strbuf after = { 0 };
	char p[WORDS];
	table_add_number(t, c->change);
	table_add_number(t, (c->high - c->low) / 2);
	table_add_number(t, c->before_share);
	add_load(t, change->before_cpu_per_s);
	table_add_number(t, c->after_share);
	add_load(t, change->after_cpu_per_s);
	snprintf(p, sizeof p, "%.3f", c->p);
	table_add_shown(t, c->p, isnan(c->p) ? "-" : c->p < 0.001 ? "<0.001" : p);
	if (c->where)
		strbuf_printf(&after, " (%s)", c->where);
	table_add_symbol(t, c->kernel && c->where ? "[k] " : "", c->name, strbuf_text(&after));
}

static size_t put_changes(const struct sleepy_diff *d, const struct profile_style *style,
			  struct strbuf *out)
{
	int decimals = profile_decimals(d->before < d->after ? d->before : d->after);
#define POINTS COLUMN_PERCENT, .bare = true, .decimals = DECIMALS(decimals)
	const struct column columns[] = {
		{ "change", "Change", POINTS, .sign = true },
		{ "margin", "±", POINTS },
		{ "before", "Before %", POINTS },
		{ "load_before", "ms/s", COLUMN_REAL, .from = FULL_WIDTH, .if_any = true },
		{ "after", "After %", POINTS },
		{ "load_after", "ms/s", COLUMN_REAL, .from = FULL_WIDTH, .if_any = true },
		{ "p", "p", COLUMN_REAL },
		{ "name", "Of", COLUMN_TEXT, .middle = true, .least = NAME_LEAST },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	struct profile_changes changes;
	changes_of(d, style->most, style->least_share, &changes);
	size_t count = changes.rows.count;
	for (size_t i = 0; i < count; i++)
		add_change(t, &changes.rows.items[i]);
	table_put(t, &style->style, out);
	array_release(&changes.rows);
	return count;
}

void profile_diff_text(const struct profile_subject *before, const struct profile_subject *after,
		       const struct sleepy_diff *d, const struct profile_style *given,
		       struct strbuf *out)
{
	struct profile_style style = profile_normal_style(given);
	strbuf_printf(out, "Profiles compared by %s\n", sleepy_by_names[d->by]);
	put_side("  before  ", before, d->before, d->before_hz, d->before_elapsed_ns, &style.style,
		 out);
	put_side("  after   ", after, d->after, d->after_hz, d->after_elapsed_ns, &style.style,
		 out);
	put_verdict(d, &style.style, out);
	if (!d->before || !d->after || !d->rows.count)
		return;
	put_wrapped(out, &style.style, "", 0,
		    "Shares are of the samples, their change in points ± 95 %%%s",
		    d->before_hz > 0 || d->after_hz > 0 ? "; ms/s is CPU time per second." : ".");
	strbuf_putc(out, '\n');
	size_t count = put_changes(d, &style, out);
	if (count < d->rows.count)
		strbuf_printf(out, "… and %zu more %s\n", d->rows.count - count,
			      profile_row_word(d->by, d->rows.count - count));
	put_wrapped(out, &style.style, "Note: ", 2,
		    "p and ± know how the samples fell, not how much two runs of the same differ.");
	if (strcmp(before->profile->event, after->profile->event) != 0)
		put_wrapped(out, &style.style, "Note: ", 2,
			    "they were not sampled by the same: shares of one thing are compared "
			    "with shares of another.");
	else if (before->profile->mode != after->profile->mode)
		put_wrapped(out, &style.style, "Note: ", 2,
			    "they were not sampled in the same way: what one sees in the kernel "
			    "the other may see elsewhere.");
}

/* ---- as data ---- */

struct table *profile_diff_table(const struct sleepy_diff *d, const struct profile_style *given)
{
	struct profile_style style = profile_normal_style(given);
	struct columns columns = { 0 };
	struct profile_changes changes;
	columns_add_fields(&columns, profile_change_shape.fields);
	struct table *t = table_of(&columns);
	changes_of(d, style.most, style.least_share, &changes);
	for (size_t i = 0; i < changes.rows.count; i++)
		table_add_fields(t, profile_change_shape.fields, &changes.rows.items[i]);
	array_release(&changes.rows);
	return t;
}

static struct profile_side side_of(const struct profile *p, uint64_t samples, double hz,
				   uint64_t elapsed_ns)
{
	return (struct profile_side){ .mode = p->mode,
				      .event = *p->event ? p->event : NULL,
				      .period = p->period,
				      .cpus = p->cpus,
				      .samples = samples,
				      .elapsed_ns = elapsed_ns,
				      .hz = hz,
				      .cpu_per_s = profile_cpu_per_s(samples, hz, elapsed_ns) };
}

json_t *profile_diff_document(const struct profile_subject *before,
			      const struct profile_subject *after, const struct sleepy_diff *d,
			      size_t most)
{
	struct profile_changes changes;
	changes_of(d, most, 0, &changes);
	changes.before = side_of(before->profile, d->before, d->before_hz, d->before_elapsed_ns);
	changes.after = side_of(after->profile, d->after, d->after_hz, d->after_elapsed_ns);
	json_t *root = json_shape(&profile_diff_shape, &changes);
	json_object_set_new(json_object_get(root, "before"), "run", json_run(before->run));
	json_object_set_new(json_object_get(root, "after"), "run", json_run(after->run));
	array_release(&changes.rows);
	return root;
}

void profile_diff_json(const struct profile_subject *before, const struct profile_subject *after,
		       const struct sleepy_diff *d, struct strbuf *out)
{
	put_json(profile_diff_document(before, after, d, 0), 1, out);
}
