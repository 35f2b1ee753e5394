/* A profile for people: its head, the system as a whole, what it cannot tell. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/profile/rows.h"

#define LABEL 12	/* columns of "  Sampled   " */
#define KERNEL_MANY 0.2 /* of the samples: worth a note on where they pile up */
#define FEW 100		/* samples by an event: its period is too long */

void put_samples_count(struct strbuf *out, uint64_t count, const char *word)
{
	strbuf_printf(out, "%llu %s%s", (unsigned long long)count, word, count == 1 ? "" : "s");
}

/* ---- head ---- */

#define TITLE_LINES 3
#define SUBJECT_LEAST 24

static void put_title(const struct profile_subject *s, const struct profile_totals *sums,
		      const struct style *style, struct strbuf *out)
{
	const struct paragraph p = { .width = style->width ? style->width : 80,
				     .indent = 2,
				     .first = "" };
	SCOPED(strbuf_release) struct strbuf subject = { 0 }, after = { 0 }, text = { 0 };
	put_profile_subject(s->run, &subject);
	strbuf_printf(&after, " for %s%s", AS_DURATION((double)sums->elapsed_ns, 3),
		      run_state_words(s->run));
	if (s->run && s->run->id > 0)
		strbuf_printf(&after, ", run %lld", (long long)s->run->id);
	if (profile_given_name(s->run))
		strbuf_printf(&after, ": %s", profile_given_name(s->run));
	/* a long command must not hide what comes after it */
	FREED char *safe = display_copy(strbuf_text(&subject));
	size_t most = TITLE_LINES * p.width, columns = text_width(safe);
	columns = columns < most ? columns : most;
	for (bool fits = false; !fits; columns--) {
		SCOPED(strbuf_release) struct strbuf tried = { 0 };
		size_t lines = 0;
		strbuf_clear(&text);
		strbuf_puts(&text, "Profile of ");
		put_middle(&text, safe, columns);
		strbuf_puts(&text, strbuf_text(&after));
		put_paragraph(&tried, &p, strbuf_text(&text));
		for (const char *c = strbuf_text(&tried); *c; c++)
			lines += *c == '\n';
		fits = lines <= TITLE_LINES || columns <= SUBJECT_LEAST;
	}
	put_headline(out, p.width, style->colour, strbuf_text(&text));
	if (s->run && s->run->tags && *s->run->tags)
		put_wrapped(out, style, "  Tags      ", LABEL, "%s", s->run->tags);
}

/* What was sampled, how, and what of it was seen. */
static void put_sampled(const struct profile *p, const struct profile_totals *sums,
			const struct style *style, struct strbuf *out)
{
	static const char *const stacks[PROFILE_STACKS] = {
		[STACKS_NONE] = "no stacks",
		[STACKS_POINTERS] = "stacks by frame pointers",
		[STACKS_EH_FRAME] = "stacks by .eh_frame",
	};
	const struct profile_slice *sum = &sums->slice;
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	put_profile_mode(p, &text);
	put_wrapped(out, style, "  Sampled   ", LABEL, "%s, on %u CPU%s; %s", strbuf_text(&text),
		    p->cpus, p->cpus == 1 ? "" : "s", stacks[p->stacks]);
	strbuf_clear(&text);
	put_samples_count(&text, sum->samples, "sample");
	strbuf_printf(&text, ", %llu user, %llu kernel: ", (unsigned long long)sum->user,
		      (unsigned long long)sum->kernel);
	put_profile_worth(p, sum->samples, &text);
	if (sums->cpu_ns > 0 && p->hz > 0)
		strbuf_printf(&text, ", %s of CPU time",
			      AS_PERCENT(sums->sampled_ns / sums->cpu_ns));
	put_wrapped(out, style, "  Seen      ", LABEL, "%s", strbuf_text(&text));
	if (sum->others) {
		strbuf_clear(&text);
		put_samples_count(&text, sum->others, "sample");
		put_wrapped(out, style, "  Others    ", LABEL,
			    "%s of what was not asked for: left out", strbuf_text(&text));
	}
}

static void put_stacks(const struct profile *p, const struct profile_totals *sums,
		       const struct style *style, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	double all = (double)sums->user_stacks;
	int decimals = profile_decimals(sums->user_stacks);
	if (p->stacks == STACKS_NONE || !sums->user_stacks)
		return;
	uint64_t whole = sums->ends[STACK_COMPLETE] + sums->ends[STACK_ELIDED];
	strbuf_printf(&text, "%s %% of %llu reached their thread's start",
		      AS_POINTS((double)whole / all, decimals),
		      (unsigned long long)sums->user_stacks);
	if (sums->ends[STACK_ELIDED])
		strbuf_printf(&text, ", %llu without their middle (deeper than %d frames)",
			      (unsigned long long)sums->ends[STACK_ELIDED], PROFILE_FRAMES_MAX);
	if (sums->ends[STACK_BROKEN])
		strbuf_printf(&text, "; %s %% broke off",
			      AS_POINTS((double)sums->ends[STACK_BROKEN] / all, decimals));
	if (sums->ends[STACK_LIMIT])
		strbuf_printf(&text, "; %llu were too deep to follow",
			      (unsigned long long)sums->ends[STACK_LIMIT]);
	if (sums->ends[STACK_NO_ROOM])
		strbuf_printf(&text, "; %llu found no room",
			      (unsigned long long)sums->ends[STACK_NO_ROOM]);
	put_wrapped(out, style, "  Stacks    ", LABEL, "%s", strbuf_text(&text));
}

static void put_lost(const struct profile *p, const struct profile_slice *sum,
		     const struct style *style, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	if (sum->lost) {
		put_samples_count(&text, sum->lost, "sample");
		strbuf_puts(&text, " found no room (");
		put_profile_worth(p, sum->lost, &text);
		strbuf_putc(&text, ')');
	}
	if (sum->throttled) {
		strbuf_printf(&text, "%ssampling was held back ", text.length ? "; " : "");
		put_samples_count(&text, sum->throttled, "time");
	}
	if (sum->untold) {
		strbuf_puts(&text, text.length ? "; " : "");
		put_samples_count(&text, sum->untold, "event");
		strbuf_puts(&text, " of processes went untold: some code may lack its name");
	}
	if (text.length)
		put_wrapped(out, style, "  Lost      ", LABEL, "%s", strbuf_text(&text));
}

static void put_cost(const struct profile_totals *sums, const struct style *style,
		     struct strbuf *out)
{
	const struct profile_slice *sum = &sums->slice;
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	strbuf_printf(&text, "tare used %s", AS_DURATION((double)sum->self_ns, 3));
	if (sums->cpu_ns > 0)
		strbuf_printf(&text, ", %s of CPU time", AS_PERCENT(sums->self_share));
	/* of entries or of bytes: the share is what both have */
	if (sum->peak_room)
		strbuf_printf(&text, "; fullest buffer %s full",
			      AS_PERCENT((double)sum->peak_used / (double)sum->peak_room));
	put_wrapped(out, style, "  Cost      ", LABEL, "%s", strbuf_text(&text));
}

void profile_head_text(const struct profile_subject *s, const struct profile_style *given,
		       struct strbuf *out)
{
	const struct style style = profile_normal_style(given).style;
	struct profile_totals sums;
	profile_totals_of(s->profile, &sums);
	put_title(s, &sums, &style, out);
	put_sampled(s->profile, &sums, &style, out);
	put_stacks(s->profile, &sums, &style, out);
	put_lost(s->profile, &sums.slice, &style, out);
	put_cost(&sums, &style, out);
}

/* ---- what cannot be told ---- */

size_t profile_notes_of(const struct profile *p, const char *notes[PROFILE_NOTES])
{
	struct profile_totals sums;
	size_t count = 0;
	profile_totals_of(p, &sums);
	if (p->mode == PROFILE_EVENT) {
		notes[count++] = "a sample is the event, not time: the shares are of the events, "
				 "and do not say where time went.";
		if (sums.slice.samples < FEW && p->period > 1)
			notes[count++] = "these are few samples; a smaller --period takes more.";
		return count;
	}
	if (p->mode == PROFILE_TICK && sums.slice.samples)
		notes[count++] = "a program that runs in step with the kernel's tick is seen "
				 "always or never; with -F 997 it is not.";
	if (sums.slice.kernel &&
	    (double)sums.slice.kernel >= KERNEL_MANY * (double)sums.slice.samples &&
	    p->mode != PROFILE_CYCLES)
		notes[count++] = "kernel samples pile up where interrupts are enabled again: what "
				 "ran with them disabled is counted there.";
	return count;
}

void profile_notes_text(const struct profile_subject *s, const struct profile_style *given,
			struct strbuf *out)
{
	const struct style style = profile_normal_style(given).style;
	const char *notes[PROFILE_NOTES];
	size_t count = profile_notes_of(s->profile, notes);
	for (size_t i = 0; i < count; i++)
		put_wrapped(out, &style, "Note: ", 2, "%s", notes[i]);
	if (s->run && s->run->not_seen && *s->run->not_seen)
		put_wrapped(out, &style, "Note: ", 2, "%s", s->run->not_seen);
}

/* ---- a view by system ---- */

/* By an event: nothing is known of the time between two of them. */
static void put_events(const struct sleepy_view *v, bool unseen, const struct style *style,
		       struct strbuf *out)
{
	static const struct column columns[] = {
		{ "state", "Events came", COLUMN_TEXT },
		{ "samples", "Samples", COLUMN_COUNT },
		{ "share", "Share", COLUMN_PERCENT },
		{ "note", "", COLUMN_TEXT },
	};
	static const char *const states[SLEEPY_STATES] = { "in user code", "in the kernel", NULL,
							   "from others",  "not known",	    NULL };
	static const char *const notes[SLEEPY_STATES] = {
		"", "", NULL, "not what was asked for", "samples were lost", NULL
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	int decimals = profile_decimals(v->busy);
	for (size_t i = 0; i < SLEEPY_STATES; i++) {
		uint64_t samples = v->rows.items[i].self;
		double share = v->busy ? (double)samples / (double)v->busy : NAN;
		char shown[WORDS], percent[WORDS + 2];
		if (!states[i] || (!samples && (i > 1 || (i && unseen))))
			continue;
		format_points(share, decimals, shown);
		snprintf(percent, sizeof percent, "%s %%", shown);
		table_add_text(t, states[i]);
		table_add_count(t, (int64_t)samples);
		table_add_shown(t, share, percent);
		table_add_text(t, notes[i]);
	}
	table_put(t, style, out);
}

void put_profile_system(const struct profile_subject *s, const struct sleepy_view *v,
			const struct style *style, struct strbuf *out)
{
	static const struct column columns[] = {
		{ "state", "CPUs were", COLUMN_TEXT },
		{ "samples", "Samples", COLUMN_COUNT },
		{ "time", "Time", COLUMN_DURATION, .digits = 3 },
		{ "share", "CPU time", COLUMN_PERCENT },
		{ "note", "", COLUMN_TEXT },
	};
	static const char *const states[SLEEPY_STATES] = { "in user code", "in the kernel",
							   "idle",	   "busy for others",
							   "not known",	   "not sampled" };
	bool unseen = s->run && s->run->not_seen && *s->run->not_seen;
	const char *const notes[SLEEPY_STATES] = {
		"",
		"",
		"",
		"not what was asked for",
		"samples were lost",
		unseen ? "see the note below" : "late timers or the hypervisor",
	};
	if (s->profile->mode == PROFILE_EVENT) {
		put_events(v, unseen, style, out);
		return;
	}
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	int decimals = profile_decimals(v->busy);
	for (size_t i = 0; i < SLEEPY_STATES; i++) {
		uint64_t samples = v->rows.items[i].self;
		double share = profile_cpu_share(s->profile, v, samples);
		char shown[WORDS], percent[WORDS + 2];
		/* what could not be seen is not none */
		if (!samples && (i > 2 || (i && unseen)))
			continue;
		table_add_text(t, states[i]);
		table_add_count(t, (int64_t)samples);
		table_add_number(t, profile_ns(s->profile, samples));
		format_points(share, decimals, shown);
		snprintf(percent, sizeof percent, "%s %%", shown);
		table_add_shown(t, share, percent);
		table_add_text(t, notes[i]);
	}
	table_put(t, style, out);
}
