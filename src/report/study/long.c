/* The table of long-running daemons: what they usually take, what they took, how often, and above
 * which process time a sample is spoilt. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/study/style.h"

#define TIMES 5 /* columns of add_times() */
#define MOST_NUMBERS 8
#define HOUR_NS 3600e9
#define HOURS_FROM (2 * HOUR_NS)

/* As many digits as the error supports, four at most; "?" after an uncertain one. */
static void format_period(const struct study_period *p, const struct style *style, char out[WORDS])
{
	struct scale scale = scale_for((double)p->ns, TIME_UNIT_AUTO);
	char value[WORDS], error[WORDS] = "";
	if (!p->found) {
		snprintf(out, WORDS, "none");
		return;
	}
	if ((double)p->ns >= HOURS_FROM)
		scale = (struct scale){ HOUR_NS, "h", 1 };
	double figure = (double)p->ns / scale.ns;
	int most = 3 - (int)floor(log10(fmax(figure, 1)));
	int decimals = p->error_ns ? ratio_decimals((double)p->error_ns / scale.ns) : most - 1;
	scale.decimals = decimals > most ? most : decimals;
	scale.decimals = scale.decimals < 0 ? 0 : scale.decimals;
	format_figure((double)p->ns, &scale, value);
	/* an error too small for these digits is not worth more of them */
	if (style->width >= NARROW &&
	    (double)p->error_ns / scale.ns * pow(10, scale.decimals) >= 0.5)
		format_figure((double)p->error_ns, &scale, error);
	snprintf(out, WORDS, "%.40s%s%.40s\u00a0%s%s", value,
		 *error ? (style->ascii ? "+-" : "±") : "", error, scale.unit,
		 p->uncertain ? "?" : "");
}

/* "64.0 ms <3600 s" */
static void format_cutoff(const struct cutoff *c, bool ascii, char out[WORDS])
{
	char cutoff[WORDS], from[WORDS], below[WORDS];
	format_ns((double)c->cutoff_ns, cutoff);
	format_ns((double)c->from_ns, from);
	format_ns((double)c->below_ns, below);
	const char *least = ascii ? ">=" : "≥";
	if (!c->from_ns && !c->below_ns)
		snprintf(out, WORDS, "%.40s any", cutoff);
	else if (!c->from_ns)
		snprintf(out, WORDS, "%.40s <%.40s", cutoff, below);
	else if (!c->below_ns)
		snprintf(out, WORDS, "%.40s %s%.40s", cutoff, least, from);
	else
		snprintf(out, WORDS, "%.40s %s%.40s <%.40s", cutoff, least, from, below);
}

/* The cutoff number n of a daemon; NULL: it has no so many. */
static const struct cutoff *cutoff_of(const struct study *s, const char *daemon, size_t n)
{
	for (size_t i = 0; i < s->cutoffs.count; i++)
		if (!strcmp(s->cutoffs.items[i].daemon, daemon) && !n--)
			return &s->cutoffs.items[i];
	return NULL;
}

static void add_times(struct table *t, const struct study_seen *seen)
{
	table_add_number(t, seen->cluster_executions ? (double)seen->cluster_max_ns : NAN);
	table_add_number(t, seen->cluster_executions ? seen->cluster_sigma_ns : NAN);
	table_add_number(t, seen->long_executions ? (double)seen->long_least_ns : NAN);
	table_add_number(t, seen->long_executions ? (double)seen->long_most_ns : NAN);
	if (seen->long_executions)
		table_add_count(t, seen->long_executions);
	else
		table_add_absent(t);
}

/* A line for each run and for each cutoff: the short run's beside the cutoff of short programs. */
static void add_daemon(struct table *t, const struct study *s, const struct study_daemon *d,
		       const struct style *style)
{
	const struct study_seen *seen[STUDY_LENGTHS] = { NULL };
	size_t runs = 0;
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++)
		if (s->runs[k].present &&
		    (!runs || d->seen[k].cluster_executions || d->seen[k].long_executions))
			seen[runs++] = &d->seen[k];
	for (size_t line = 0; line < runs || cutoff_of(s, d->name, line); line++) {
		const struct cutoff *c = cutoff_of(s, d->name, line);
		char period[WORDS] = "", cutoff[WORDS] = "";
		table_add_text(t, !line ? d->name : line < runs ? "  long run" : "");
		if (line < runs)
			add_times(t, seen[line]);
		for (size_t i = 0; i < TIMES && line >= runs; i++)
			table_add_shown(t, NAN, "");
		if (!line)
			format_period(&d->period, style, period);
		if (c)
			format_cutoff(c, style->ascii, cutoff);
		else if (!line)
			snprintf(cutoff, sizeof cutoff,
				 study_is_undecided(s, d) ? "cannot tell" : "none");
		table_add_text(t, period);
		table_add_text(t, cutoff);
		struct strbuf numbers = { 0 };
		if (line < runs)
			put_sample_numbers(seen[line]->samples.items, seen[line]->samples.count,
					   MOST_NUMBERS, &numbers);
		table_add_text(t, strbuf_text(&numbers));
		strbuf_release(&numbers);
	}
}

/* Why a daemon has no cutoff although a run gives it one. */
static void put_undecided(const struct study_daemon *d, const struct style *style,
			  struct strbuf *out)
{
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++) {
		const struct study_seen *own = &d->seen[k], *other = &d->seen[!k];
		char cutoff[WORDS], usual[WORDS];
		if (!own->has_cutoff || own->cutoff_ns >= other->cluster_max_ns)
			continue;
		format_ns((double)own->cutoff_ns, cutoff);
		format_ns((double)other->cluster_max_ns, usual);
		put_wrapped(out, style, "", 2,
			    "%s: cannot tell. The %s run gives a cutoff of %s, but it takes up to "
			    "%s in usual samples of the %s run.",
			    d->name, study_length_names[k], cutoff, usual,
			    study_length_names[(enum study_length) !k]);
		return;
	}
}

bool put_long_running(const struct study *s, const struct style *style, struct strbuf *out)
{
	static const struct column columns[] = {
		{ "daemon", "Daemon", COLUMN_TEXT },
		{ "cluster_max", "Usual", COLUMN_DURATION, .digits = 3 },
		{ "cluster_sigma", "σ", COLUMN_DURATION, .digits = 3, .ascii = "sigma",
		  .from = NARROW },
		{ "long_least", "Long", COLUMN_DURATION, .digits = 3 },
		{ "long_most", "Longest", COLUMN_DURATION, .digits = 3, .from = WIDE },
		{ "long_executions", "No.", COLUMN_COUNT, .from = NARROW },
		{ "period", "Period", COLUMN_TEXT, .right = true },
		{ "cutoff", "Cutoff", COLUMN_TEXT },
		{ "samples", "In samples", COLUMN_TEXT, .from = WIDE },
	};
	bool uncertain = false;
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	array_each(d, &s->daemons) {
		if (!daemon_is_long_running(d))
			continue;
		uncertain |= d->period.found && d->period.uncertain;
		add_daemon(t, s, d, style);
	}
	if (!table_rows(t)) {
		table_free(t);
		return false;
	}
	strbuf_putc(out, '\n');
	put_coloured(out, style->colour, BOLD, "Long-running daemons, process time in a sample");
	strbuf_putc(out, '\n');
	table_put(t, style, out);
	bool lacks_long = false; /* a daemon has a cutoff for short programs only */
	for (size_t i = 0; i < s->cutoffs.count; i++) {
		const struct cutoff *c = &s->cutoffs.items[i];
		lacks_long |= c->below_ns && !cutoff_find(s->cutoffs.items, s->cutoffs.count,
							  c->daemon, c->below_ns);
	}
	put_wrapped(out, style, "", 2,
		    "Usual: the most in the cluster%s. Long: the least of the long-running ones%s. "
		    "A sample with more than the cutoff is dropped; %s and < say for programs of "
		    "which elapsed time.%s%s",
		    style->width < NARROW ? ""
		    : style->ascii	  ? ", with its sigma"
					  : ", with its σ",
		    style->width < NARROW ? "" : ", No.: how many", style->ascii ? ">=" : "≥",
		    uncertain ? " ?: a period that rests on two occurrences." : "",
		    lacks_long && !s->runs[STUDY_LONG].present
			    ? " What holds for longer programs a long run would tell."
			    : "");
	array_each(d, &s->daemons)
		if (study_is_undecided(s, d))
			put_undecided(d, style, out);
	return true;
}
