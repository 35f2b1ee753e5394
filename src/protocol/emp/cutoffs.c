/* EMP's rule (I): what the machine's daemon study says of a program of this length, and whether the
 * study still fits the machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "protocol/emp/cutoffs_validity.h"
#include "protocol/emp/warnings.h"

/* An execution of a daemon that is above its cutoff. */
struct offence {
	const struct process *process;
	const struct cutoff *cutoff;
	uint64_t ns;
};

static struct offence find_worst(const struct execution *x, const cutoff_list *holding)
{
	struct offence worst = { 0 };
	array_each(p, &x->processes) {
		struct offence o = { .process = p };
		if (p->role != ROLE_DAEMON || !process_pt_ns(p, &o.ns))
			continue;
		for (size_t j = 0; j < holding->count; j++) {
			o.cutoff = &holding->items[j];
			if (o.ns <= o.cutoff->cutoff_ns || strcmp(o.cutoff->daemon, p->name) != 0)
				continue;
			/* above its cutoff by more times */
			if (!worst.process ||
			    (double)o.ns * (double)worst.cutoff->cutoff_ns >
				    (double)worst.ns * (double)o.cutoff->cutoff_ns)
				worst = o;
		}
	}
	return worst;
}

static void drop(const struct offence *o, struct emp_verdict *v)
{
	char ran[32] = "", cutoff[32] = "", name[64];
	v->rule = EMP_CUTOFF;
	v->value_ns = (double)o->ns;
	v->low_ns = 0;
	v->high_ns = (double)o->cutoff->cutoff_ns;
	snprintf(v->daemon, sizeof v->daemon, "%s", o->process->name);
	text_display(v->daemon, name, sizeof name);
	/* as many digits as it takes to tell them apart */
	for (int digits = 3; digits <= 12 && strcmp(ran, cutoff) == 0; digits++) {
		text_duration(v->value_ns, digits, ran, sizeof ran);
		text_duration(v->high_ns, digits, cutoff, sizeof cutoff);
	}
	snprintf(v->reason, sizeof v->reason, "%s ran %s, above its cutoff of %s", name, ran,
		 cutoff);
}

size_t emp_drop_by_cutoffs(const struct execution *executions, const struct emp_options *options,
			   struct emp_result *r)
{
	cutoff_list holding = { 0 };
	size_t dropped = 0;
	r->cutoffs = (struct emp_cutoffs){ .count = options->cutoff_count,
					   .program_ns = r->unfiltered[EMP_ET].median,
					   .study = options->origin.study,
					   .made_at_ns = options->origin.made_at_ns };
	for (size_t i = 0; r->unfiltered[EMP_ET].n && i < options->cutoff_count; i++) {
		const struct cutoff *c = &options->cutoffs[i];
		if (r->cutoffs.program_ns >= (double)c->from_ns &&
		    (!c->below_ns || r->cutoffs.program_ns < (double)c->below_ns))
			array_push(&holding, *c);
	}
	r->cutoffs.hold = holding.count;
	for (size_t i = 0; options->cutoff_count && i < r->count; i++) {
		struct emp_verdict *v = &r->verdicts[i];
		if (v->rule != EMP_KEPT)
			continue;
		for (size_t k = 0; k < executions[i].processes.count; k++)
			r->cutoffs.seen |= executions[i].processes.items[k].role == ROLE_DAEMON;
		struct offence worst = find_worst(&executions[i], &holding);
		if (!worst.process)
			continue;
		drop(&worst, v);
		dropped++;
	}
	array_release(&holding);
	return dropped;
}

/* ---- whether they still fit ---- */

static struct emp_warning *add(struct emp_result *r, const char *id)
{
	array_push(&r->warnings, (struct emp_warning){ .id = id });
	return &r->warnings.items[r->warnings.count - 1];
}

static void warn_of_many(struct emp_result *r)
{
	struct tally {
		const char *daemon;
		size_t drops;
	} most = { "", 0 }; /* the daemon that most of the executions were dropped for */
	ARRAY(struct tally) list = { 0 };
	size_t measured = r->unfiltered[EMP_ET].n;
	if (2 * r->dropped[EMP_CUTOFF] <= measured)
		return;
	for (size_t i = 0; i < r->count; i++) {
		const struct emp_verdict *v = &r->verdicts[i];
		size_t at = 0;
		if (v->rule != EMP_CUTOFF)
			continue;
		while (at < list.count && strcmp(list.items[at].daemon, v->daemon) != 0)
			at++;
		if (at == list.count)
			array_push(&list, (struct tally){ v->daemon, 0 });
		if (++list.items[at].drops > most.drops)
			most = list.items[at];
	}
	array_release(&list);
	char name[64];
	text_display(most.daemon, name, sizeof name);
	struct emp_warning *w = add(r, "cutoffs_many");
	snprintf(w->text, sizeof w->text,
		 "cutoffs dropped %zu of %zu executions, %zu of them because of %s: what they call "
		 "infrequent is usual here, so the study does not fit",
		 r->dropped[EMP_CUTOFF], measured, most.drops, name);
	snprintf(w->remedy, sizeof w->remedy,
		 "study this machine again with `tare calibrate`; --no-cutoffs shows the result "
		 "without them");
}

/* Of all kinds together, as a sentence has them: "now runs a, b". */
static void put_daemons(const cutoffs_change_list *list, bool come, struct strbuf *out)
{
	struct strbuf words = { 0 };
	for (size_t i = 0; i < list->count; i++) {
		const char *some = come ? list->items[i].come : list->items[i].gone;
		if (some)
			strbuf_printf(&words, "%s%s", words.length ? ", " : "", some);
	}
	if (words.length)
		strbuf_printf(out, "%s%s %s", out->length ? "; " : "",
			      come ? "now runs" : "no longer runs", words.text);
	strbuf_release(&words);
}

static void warn_of_changes(const struct emp_origin *o, struct emp_result *r)
{
	cutoffs_change_list list = { 0 };
	struct strbuf text = { 0 };
	if (!o->then || !o->now)
		return;
	cutoffs_changes(o->then, o->now, o->quieted, &list);
	array_each(c, &list)
		if (c->name)
			strbuf_printf(&text, "%s%s %s, was %s", text.length ? "; " : "", c->name,
				      c->now, c->then);
	put_daemons(&list, true, &text);
	put_daemons(&list, false, &text);
	if (text.length) {
		char shown[192];
		text_display(text.text, shown, sizeof shown);
		struct emp_warning *w = add(r, "cutoffs_changed");
		snprintf(w->text, sizeof w->text, "the machine is not as it was at its study: %s",
			 shown);
		snprintf(w->remedy, sizeof w->remedy,
			 "its daemons may run longer or at other times now: study it again with "
			 "`tare calibrate`");
	}
	strbuf_release(&text);
	cutoffs_changes_release(&list);
}

void emp_warn_of_cutoffs(const struct run *run, const struct emp_options *options,
			 struct emp_result *r)
{
	if (!r->cutoffs.hold)
		return;
	warn_of_many(r);
	int64_t days;
	if (cutoffs_old(r->cutoffs.made_at_ns, run->started_at_ns, &days)) {
		struct emp_warning *w = add(r, "cutoffs_old");
		snprintf(w->text, sizeof w->text, "the cutoffs were made %lld days %s this run",
			 llabs(days), days > 0 ? "before" : "after");
		snprintf(w->remedy, sizeof w->remedy,
			 "study this machine again with `tare calibrate`");
	}
	warn_of_changes(&options->origin, r);
}
