#include "protocol/emp/choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* More CPUs at once than the others, as a factor: the sum over CPUs is not how long it took. */
#define PARALLEL 1.2

const char *const emp_why_names[] = { "asked",	  "no_process_time", "waits", "off_cpu",
				      "parallel", "queued",	     "ran" };

const char *emp_measure_title(enum emp_measure m)
{
	static const char *const titles[EMP_MEASURES] = {
		[EMP_ET] = "elapsed time",
		[EMP_PT_NET] = "process time (net)",
		[EMP_PT_EXEC] = "process time (exec)",
		[EMP_PT_TICK] = "process time (tick)",
		[EMP_USER] = "user time",
		[EMP_SYSTEM] = "system time",
		[EMP_PT_STEADY] = "process time (steady)",
		[EMP_INSTRUCTIONS] = "instructions in user mode",
		[EMP_CYCLES] = "cycles in user mode",
	};
	return titles[m];
}

enum emp_measure emp_measure_of(const char *word)
{
	static const char *const words[EMP_MEASURES] = { [EMP_ET] = "et",
							 [EMP_PT_NET] = "net",
							 [EMP_PT_EXEC] = "exec",
							 [EMP_PT_TICK] = "tick",
							 [EMP_PT_STEADY] = "steady",
							 [EMP_INSTRUCTIONS] = "instructions",
							 [EMP_CYCLES] = "cycles" };
	enum emp_measure m = 0;
	while (word && m < EMP_MEASURES && (!words[m] || strcmp(words[m], word) != 0))
		m++;
	return word ? m : EMP_MEASURES;
}

/* ---- where the time of a run went ---- */

void emp_find_spent(const struct execution *executions, struct emp_result *r)
{
	struct execution_spent sum = { 0 };
	double et = 0;
	bool by_ledger = true;
	for (size_t i = 0; i < r->count; i++)
		by_ledger &= r->verdicts[i].rule != EMP_KEPT || executions[i].ledger.present;
	for (size_t i = 0; i < r->count; i++) {
		if (r->verdicts[i].rule != EMP_KEPT)
			continue;
		struct execution_spent s = execution_spent(&executions[i], by_ledger);
		sum.blocked_ns += s.blocked_ns;
		sum.queued_ns += s.queued_ns;
		sum.run_ns += s.run_ns;
		sum.run_wall_ns += s.run_wall_ns;
		et += (double)executions[i].et_ns;
	}
	r->spent = (struct emp_spent){
		.blocked = et > 0 ? sum.blocked_ns / et : NAN,
		.queued = et > 0 ? sum.queued_ns / et : NAN,
		.cpus = sum.run_wall_ns > 0 ? sum.run_ns / sum.run_wall_ns : NAN,
	};
}

/* ---- the choice ---- */

static bool has(const struct emp_result *r, enum emp_measure m)
{
	return r->present[m] && r->kept[m].n;
}

static bool all_have(const struct emp_judged *runs, size_t count, enum emp_measure m)
{
	size_t with = 0;
	for (size_t i = 0; i < count; i++) {
		if (!runs[i].result->kept[EMP_ET].n)
			continue;
		if (!has(runs[i].result, m))
			return false;
		with++;
	}
	return with;
}

/* Not PT(steady): between runs it is not shown to be better (decision 030). */
enum emp_measure emp_best_pt(const struct emp_judged *runs, size_t count)
{
	static const enum emp_measure best[] = { EMP_PT_NET, EMP_PT_EXEC, EMP_PT_TICK };
	for (size_t k = 0; k < sizeof best / sizeof *best; k++)
		if (all_have(runs, count, best[k]))
			return best[k];
	return EMP_ET;
}

/* What all were made for; EMP_MEASURES: nothing, or not the same. */
static enum emp_measure asked_of_all(const struct emp_judged *runs, size_t count)
{
	enum emp_measure asked = count ? emp_measure_of(runs[0].run->conditions.measure)
				       : EMP_MEASURES;
	for (size_t i = 1; i < count; i++)
		if (emp_measure_of(runs[i].run->conditions.measure) != asked)
			return EMP_MEASURES;
	return asked;
}

static void judge_waiting(const struct emp_judged *runs, size_t count, struct emp_choice *out)
{
	double least = INFINITY, queued = 0;
	out->why = EMP_WHY_RAN;
	for (size_t i = 0; i < count; i++) {
		const struct emp_spent *s = &runs[i].result->spent;
		if (!runs[i].result->kept[EMP_ET].n)
			continue;
		if (s->blocked >= SPENT_WAITING && s->blocked > out->share) {
			out->why = isnan(s->queued) ? EMP_WHY_OFF_CPU : EMP_WHY_WAITS;
			out->share = s->blocked;
			out->run = i;
		}
		least = fmin(least, s->cpus);
	}
	for (size_t i = 0; out->why == EMP_WHY_RAN && i < count; i++) {
		const struct emp_spent *s = &runs[i].result->spent;
		if (runs[i].result->kept[EMP_ET].n && s->cpus > PARALLEL * least &&
		    !(s->cpus < out->share)) {
			out->share = s->cpus;
			out->run = i;
		}
	}
	if (out->why == EMP_WHY_RAN && out->share > 0)
		out->why = EMP_WHY_PARALLEL;
	for (size_t i = 0; out->why >= EMP_WHY_QUEUED && i < count; i++) {
		const struct emp_result *r = runs[i].result;
		if (!r->kept[EMP_ET].n || !(r->spent.queued >= SPENT_WAITING) ||
		    r->spent.queued <= queued)
			continue;
		out->why = EMP_WHY_QUEUED;
		out->share = queued = r->spent.queued;
		out->run = i;
	}
}

void emp_choose(const struct emp_judged *runs, size_t count, enum emp_measure asked,
		struct emp_choice *out)
{
	enum emp_measure pt = emp_best_pt(runs, count);
	*out = (struct emp_choice){ .measure = EMP_ET,
				    .why = EMP_WHY_NO_PT,
				    .missed = EMP_MEASURES };
	if (asked == EMP_MEASURES)
		asked = asked_of_all(runs, count);
	if (asked < EMP_MEASURES && all_have(runs, count, asked)) {
		out->measure = asked;
		out->why = EMP_WHY_ASKED;
		return;
	}
	out->missed = asked;
	if (pt == EMP_ET)
		return;
	judge_waiting(runs, count, out);
	if (out->why >= EMP_WHY_QUEUED)
		out->measure = pt;
}

void emp_choice_words(const struct emp_choice *c, const struct emp_judged *runs, struct strbuf *out)
{
	char name[40] = "";
	const char *quote = "'";
	size_t had = out->length;
	if (c->missed < EMP_MEASURES)
		strbuf_printf(out, "not every run has %s", emp_measure_title(c->missed));
	if (c->why <= EMP_WHY_NO_PT || c->why == EMP_WHY_RAN)
		return;
	const struct run *run = runs[c->run].run;
	text_display(run->name && *run->name ? run->name
		     : run->command	     ? run->command
					     : "",
		     name, sizeof name);
	if (!*name) {
		snprintf(name, sizeof name, "it");
		quote = "";
	}
	strbuf_printf(out, "%s%s%s%s ", out->length > had ? "; " : "", quote, name, quote);
	double percent = fmin(100 * c->share, 99.4);
	if (c->why == EMP_WHY_WAITS)
		strbuf_printf(out, "slept or did I/O %.0f %% of its time", percent);
	else if (c->why == EMP_WHY_OFF_CPU)
		strbuf_printf(out, "was off the CPU %.0f %% of its time, which may be sleep or I/O",
			      percent);
	else if (c->why == EMP_WHY_PARALLEL)
		strbuf_printf(out, "used %.1f CPUs at once, others fewer", c->share);
	else
		strbuf_printf(out, "only queued for a CPU, %.0f %% of its time", percent);
}

static size_t summarise_side(const struct emp_judged *runs, size_t count, bool other,
			     enum emp_measure m, struct summary *out)
{
	FREED struct summary *each = xcalloc(count, sizeof *each);
	size_t n = 0;
	for (size_t i = 0; i < count; i++)
		if (runs[i].other == other)
			each[n++] = runs[i].result->kept[m];
	summarise_runs(each, n, out);
	return n;
}

/* How well the coefficients of the sides are known, if each run has its own: the worst run of each.
 */
static struct mean_error own_shifts(const struct emp_judged *runs, size_t count)
{
	double worst[2] = { 0 }, freedom = INFINITY;
	for (size_t i = 0; i < count; i++) {
		const struct steady_fit *f = &runs[i].result->steady;
		worst[runs[i].other] = fmax(worst[runs[i].other], f->shift_error);
		freedom = fmin(freedom, f->freedom);
	}
	return (struct mean_error){ .error = hypot(worst[0], worst[1]), .df = fmax(freedom, 1) };
}

void emp_compare_sides(const struct emp_judged *runs, size_t count, enum emp_measure m,
		       struct emp_comparison *out)
{
	struct summary a, b;
	if (m == EMP_PT_STEADY && emp_compare_at_equal_speed(runs, count, out))
		return;
	size_t runs_a = summarise_side(runs, count, false, m, &a);
	size_t runs_b = summarise_side(runs, count, true, m, &b);
	struct mean_error more = { .df = 1 };
	if (m == EMP_PT_STEADY)
		more = own_shifts(runs, count);
	emp_compare_with(&a, &b, more.error, more.df, out);
	if (m == EMP_PT_STEADY)
		out->test = "Welch's t of the log ratio, each run by its own fit to the speed";
	if (!(a.mean > 0) || !(b.mean > 0)) { /* nothing above the shell's own cost */
		out->ratio = out->ratio_low = out->ratio_high = out->p = NAN;
		out->significant = false;
	}
	out->runs_a = runs_a;
	out->runs_b = runs_b;
}

void emp_find_shown(const struct run *run, struct emp_result *r)
{
	struct run shown = *run;
	const struct emp_judged one = { .run = &shown, .result = r };
	struct emp_choice c;
	/* a count is what runs are compared by, not how long one took */
	if (emp_is_count(emp_measure_of(run->conditions.measure)))
		shown.conditions.measure = NULL;
	emp_choose(&one, 1, EMP_MEASURES, &c);
	/* of one run PT(steady) may be the better process time */
	r->shown = c.why >= EMP_WHY_QUEUED ? r->lead : c.measure;
}
