#include "protocol/emp/emp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "protocol/emp/choice.h"
#include "protocol/emp/counters.h"
#include "protocol/emp/difference.h"
#include "protocol/emp/warnings.h"

/* Rule (II) drops nothing when all values agree this closely: that is the clock, not the program.
 */
#define RESOLUTION_NS 1000.0
#define RESOLUTION_RELATIVE 1e-6

const char *const emp_measure_names[] = { "et",	    "pt_net",	 "pt_exec",	 "pt_tick", "user",
					  "system", "pt_steady", "instructions", "cycles" };

const char *const emp_rule_names[] = { "kept", "warmup", "failed", "I", "II" };

const char *emp_label(enum emp_measure m)
{
	static const char *const labels[] = { "ET",	"PT", "PT",	      "PT",    "user",
					      "system", "PT", "instructions", "cycles" };
	return labels[m];
}

/* User and system are taken from the PT that is shown, others from themselves. */
static uint64_t taken_from(enum emp_measure m, uint64_t et_ns, const uint64_t *pt_ns)
{
	return m == EMP_PT_NET	  ? pt_ns[GRADE_NET]
	       : m == EMP_PT_EXEC ? pt_ns[GRADE_EXEC]
	       : m == EMP_PT_TICK ? pt_ns[GRADE_TICK]
				  : et_ns;
}

/* -1: it was not counted. */
static int64_t counted(const struct execution *x, enum emp_measure m)
{
	return counter_in_user_mode(&x->counters, emp_measure_names[m]);
}

bool emp_speed(const struct run *run, const struct execution *x, struct steady_input *out)
{
	/* without a ledger the scheduler's own count is the best there is */
	enum grade g = x->pt_ns[GRADE_NET] != ABSENT_NS ? GRADE_NET : GRADE_EXEC;
	uint64_t shell = run->shell_pt_ns[g] == ABSENT_NS ? 0 : run->shell_pt_ns[g];
	uint64_t pt = x->pt_ns[g];
	if (pt == ABSENT_NS || pt <= shell || x->speed.used <= 0)
		return false;
	out->pt_ns = (double)(pt - shell);
	memcpy(out->speed_ns, x->speed.ns, sizeof out->speed_ns);
	return true;
}

/* The measure must have been seen. */
static double value_ns(const struct run *run, const struct execution *x, const struct emp_result *r,
		       enum emp_measure m)
{
	struct steady_input in;
	if (m == EMP_PT_STEADY)
		return emp_speed(run, x, &in) ? steady_value(&r->steady, &in) : NAN;
	if (emp_is_count(m))
		return (double)counted(x, m);
	enum emp_measure source = m == EMP_USER || m == EMP_SYSTEM ? r->headline : m;
	uint64_t value = taken_from(source, x->et_ns, x->pt_ns);
	uint64_t shell = taken_from(source, run->shell_et_ns, run->shell_pt_ns);
	if (shell == ABSENT_NS) /* a shell that was not seen cannot be taken off */
		shell = 0;
	double part = m == EMP_USER ? r->user_share : m == EMP_SYSTEM ? 1 - r->user_share : 1;
	return value > shell ? (double)(value - shell) * part : 0;
}

static void judge_alone(const struct execution *x, const struct emp_options *options,
			struct emp_verdict *v)
{
	if (x->warmup) {
		v->rule = EMP_WARMUP;
		snprintf(v->reason, sizeof v->reason, "a warm-up");
		return;
	}
	if (outcome_counts(x->outcome, x->status, options->expected_codes, options->expected_count,
			   options->ignore_failure))
		return;
	v->rule = EMP_FAILED;
	const char *signal;
	switch (x->outcome) {
	case OUTCOME_TIMED_OUT:
		snprintf(v->reason, sizeof v->reason, "ended by tare at the time limit");
		break;
	case OUTCOME_SIGNALLED:
		signal = sigabbrev_np(x->status);
		snprintf(v->reason, sizeof v->reason, "killed by signal %d%s%s%s", x->status,
			 signal ? " (SIG" : "", signal ? signal : "", signal ? ")" : "");
		break;
	default:
		snprintf(v->reason, sizeof v->reason, "exit status %d", x->status);
	}
}

/* A measure is there when every execution that counts has it; one mean over two grades would mean
 * nothing. */
static void find_present(const struct execution *executions, struct emp_result *r)
{
	size_t measured = 0;
	for (enum emp_measure m = 0; m < EMP_MEASURES; m++)
		r->present[m] = true;
	for (size_t i = 0; i < r->count; i++) {
		if (r->verdicts[i].rule != EMP_KEPT)
			continue;
		measured++;
		for (enum emp_measure m = 0; m < EMP_MEASURES; m++)
			r->present[m] &= emp_is_count(m)
						 ? counted(&executions[i], m) >= 0
						 : taken_from(m, executions[i].et_ns,
							      executions[i].pt_ns) != ABSENT_NS;
	}
	for (enum emp_measure m = 0; m < EMP_MEASURES; m++)
		r->present[m] &= measured > 0;
	r->headline = r->present[EMP_PT_NET]	? EMP_PT_NET
		      : r->present[EMP_PT_EXEC] ? EMP_PT_EXEC
		      : r->present[EMP_PT_TICK] ? EMP_PT_TICK
						: EMP_ET;
	bool split = r->headline != EMP_ET && !isnan(r->user_share);
	r->present[EMP_USER] &= split;
	r->present[EMP_SYSTEM] &= split;
}

/* Fits PT(steady) to what counts. All of it must have been probed, or the mean would be of others
 * than that of PT(net). */
static void fit_steady(const struct run *run, const struct execution *executions,
		       const struct emp_options *options, struct emp_result *r)
{
	struct steady_input *in = xcalloc(r->count, sizeof *in);
	size_t n = 0, counted = 0;
	for (size_t i = 0; i < r->count; i++) {
		if (r->verdicts[i].rule != EMP_KEPT)
			continue;
		counted++;
		n += emp_speed(run, &executions[i], &in[n]);
	}
	steady_fit(in, n, options->speed_ns, &r->steady);
	r->present[EMP_PT_STEADY] = n && n == counted && r->steady.helps;
	bool leads = r->present[EMP_PT_STEADY] && r->steady.better && !options->no_steady;
	bool asked = options->by_measure && r->present[options->measure] &&
		     !emp_is_count(options->measure);
	r->lead = asked ? options->measure : leads ? EMP_PT_STEADY : r->headline;
	xfree(in);
}

/* The interval of PT(steady) also has how well the coefficients are known. */
static void widen(const struct steady_fit *f, struct summary *s)
{
	double reach = s->mean * steady_reach(f);
	s->ci_low = s->mean - hypot(s->mean - s->ci_low, reach);
	s->ci_high = s->mean + hypot(s->ci_high - s->mean, reach);
	if (s->ci_low < 0)
		s->ci_low = 0;
}

double *emp_collect(const struct run *run, const struct execution *executions,
		    const struct emp_result *r, enum emp_measure m, bool outside, size_t *count)
{
	double *values = xmalloc(r->count * sizeof *values);
	*count = 0;
	for (size_t i = 0; r->present[m] && i < r->count; i++) {
		enum emp_rule rule = r->verdicts[i].rule;
		if (rule == EMP_KEPT || (outside && rule == EMP_OUTSIDE))
			values[(*count)++] = value_ns(run, &executions[i], r, m);
	}
	return values;
}

/* What took no longer than the shell is not known to take 0 ± 0. */
static void refuse_zero(struct summary *s)
{
	if (s->n && s->max <= 0)
		s->ci_low = s->ci_high = s->stddev = NAN;
}

static void summarise_all(const struct run *run, const struct execution *executions,
			  const struct emp_result *r, struct summary into[EMP_MEASURES])
{
	for (enum emp_measure m = 0; m < EMP_MEASURES; m++) {
		size_t n;
		double *values = emp_collect(run, executions, r, m, false, &n);
		summarise(values, n, &into[m]);
		if (m == EMP_PT_STEADY && n)
			widen(&r->steady, &into[m]);
		refuse_zero(&into[m]);
		xfree(values);
	}
}

static double range_of(const double *x, size_t n)
{
	double low = INFINITY, high = -INFINITY;
	for (size_t i = 0; i < n; i++) {
		low = fmin(low, x[i]);
		high = fmax(high, x[i]);
	}
	return high - low;
}

/* After rule (II): the interval must allow for it, and for those that it dropped. */
static void summarise_trimmed(const struct run *run, const struct execution *executions,
			      struct emp_result *r)
{
	size_t n_kept, n;
	double *judged = emp_collect(run, executions, r, r->lead, true, &n);
	double *influence = xmalloc(n * sizeof *influence);
	r->outside.undecided =
		trimming_is_undecided(judged, n, r->outside.low_ns, r->outside.high_ns);
	bool one = trimmed_one_may_be_frequent(judged, n, r->outside.low_ns, r->outside.high_ns);
	for (enum emp_measure m = 0; m < EMP_MEASURES; m++) {
		double *kept = emp_collect(run, executions, r, m, false, &n_kept);
		double *all = emp_collect(run, executions, r, m, true, &n);
		if (n)
			trimmed_influence(judged, all, n, r->outside.low_ns, r->outside.high_ns,
					  influence);
		summarise_kept(kept, n_kept, influence, n, &r->kept[m]);
		if (one && n_kept)
			summary_allow_for_all(&r->kept[m], all, n);
		if (m == EMP_PT_STEADY && n_kept)
			widen(&r->steady, &r->kept[m]);
		if (r->outside.undecided && n_kept)
			summary_refuse(&r->kept[m], 2 * n, range_of(all, n));
		refuse_zero(&r->kept[m]);
		xfree(kept);
		xfree(all);
	}
	xfree(judged);
	xfree(influence);
}

/* Enough of an execution's time to have made a difference. */
static bool matters(uint64_t ns, const struct execution *x)
{
	return ns > x->et_ns / 100 || ns > 1000000;
}

/* Of those that count and have a ledger, the one nearest to the median of the lead. */
static const struct execution *usual(const struct run *run, const struct execution *executions,
				     const struct emp_result *r)
{
	const struct execution *nearest = NULL;
	double least = 0;
	for (size_t i = 0; i < r->count; i++) {
		const struct execution *x = &executions[i];
		if (r->verdicts[i].rule != EMP_KEPT || !x->ledger.present)
			continue;
		double off = fabs(value_ns(run, x, r, r->lead) - r->kept[r->lead].median);
		if (!nearest || off < least) {
			nearest = x;
			least = off;
		}
	}
	return nearest;
}

/* The cause outside the subject's own code that x has most of beyond the usual: for ET any of the
 * wall view, for PT what its CPU did meanwhile, summed over the threads; PT(net) holds none. */
static bool put_excess(const struct execution *x, const struct execution *base, enum emp_measure m,
		       char *out, size_t size)
{
	if (!base || base == x || !x->ledger.present)
		return false;
	struct difference d;
	const struct difference_cause *worst = NULL;
	difference_of(x, base, m == EMP_ET ? DIFFERENCE_WALL : DIFFERENCE_ACCOUNT, &d);
	array_each(c, &d.causes) {
		bool held = c->cause != LEDGER_RUN &&
			    (m == EMP_ET ||
			     (m != EMP_PT_NET && m != EMP_PT_STEADY && ledger_on_cpu(c->cause)));
		if (held && c->ns > 0 && (!worst || c->ns > worst->ns))
			worst = c;
	}
	bool found = worst && matters((uint64_t)worst->ns, x);
	if (found) {
		char more[32], who[96] = "", name[64];
		const struct difference_name *n = worst->names.items;
		text_duration((double)worst->ns, 3, more, sizeof more);
		if (worst->names.count && *n->name) {
			text_display(n->name, name, sizeof name);
			if (n->pid)
				snprintf(who, sizeof who, ": %s (pid %d)", name, n->pid);
			else
				snprintf(who, sizeof who, ": %s", name);
		}
		snprintf(out, size, "; %s %s more than usual%s", ledger_causes[worst->cause].name,
			 more, who);
	}
	difference_release(&d);
	return found;
}

/* What its counters say of it. */
static bool put_counted(const struct execution *x, const struct execution *base, char *out,
			size_t size)
{
	SCOPED(strbuf_release) struct strbuf words = { 0 };
	if (base && base != x)
		emp_counters_explain(x, base, &words);
	if (words.length)
		snprintf(out, size, "; %s", strbuf_text(&words));
	return words.length;
}

/* Most of what it ran longer than usual is what a slower CPU costs. */
static bool put_slower(const struct run *run, const struct execution *x,
		       const struct execution *base, const struct emp_result *r, char *out,
		       size_t size)
{
	const struct steady_fit *f = &r->steady;
	struct steady_input in, usual_in;
	if (!r->present[EMP_PT_STEADY] || f->most >= SPEED_KINDS || !base ||
	    !emp_speed(run, x, &in) || !emp_speed(run, base, &usual_in))
		return false;
	double more = in.pt_ns - usual_in.pt_ns;
	double own = steady_value(f, &in) - steady_value(f, &usual_in);
	if (!(more > 0) || !(own < more / 2))
		return false;
	snprintf(out, size, "; the CPU ran at %.0f %% of its best %s (estimated)",
		 100 * steady_speed(f, &in, f->most), speed_kind_phrases[f->most]);
	return true;
}

/* No cause stands out: who delayed it most, where a delay may be the reason. */
static void explain_by_ledger(const struct execution *x, enum emp_measure m, char *out, size_t size)
{
	const struct ledger_other *most = NULL;
	uint64_t most_ns = 0;
	for (size_t i = 0; m == EMP_ET && i < x->ledger.others.count; i++) {
		const struct ledger_other *o = &x->ledger.others.items[i];
		uint64_t ns = o->delayed_ns + o->io_delayed_ns;
		if (!o->self && ns > most_ns) {
			most_ns = ns;
			most = o;
		}
	}
	if (most && matters(most_ns, x)) {
		char delay[32], name[64];
		text_duration((double)most_ns, 2, delay, sizeof delay);
		text_display(most->name, name, sizeof name);
		snprintf(out, size, "; %s delayed it by %s", name, delay);
	} else if (m != EMP_ET) {
		snprintf(out, size, "; it used more CPU itself");
	}
}

static void explain_outside(const struct run *run, const struct execution *x,
			    const struct execution *base, const struct emp_result *r,
			    struct emp_verdict *v)
{
	enum emp_measure m = r->lead;
	bool above = v->value_ns > v->high_ns;
	char value[32] = "", bound[32] = "", used[32];
	/* as many digits as it takes to tell them apart */
	for (int digits = 4; digits <= 9 && strcmp(value, bound) == 0; digits++) {
		text_duration(v->value_ns, digits, value, sizeof value);
		text_duration(above ? v->high_ns : v->low_ns, digits, bound, sizeof bound);
	}
	int used_bytes = snprintf(v->reason, sizeof v->reason, "%s %s is %s %s (mean %s 2 σ)",
				  emp_label(m), value, above ? "above" : "below", bound,
				  above ? "+" : "−");
	if (!above || used_bytes < 0 || (size_t)used_bytes >= sizeof v->reason)
		return;
	char *rest = v->reason + used_bytes;
	size_t room = sizeof v->reason - (size_t)used_bytes;
	if (put_excess(x, base, m, rest, room) ||
	    (m != EMP_ET && put_counted(x, base, rest, room)) ||
	    (m != EMP_ET && m != EMP_PT_STEADY && put_slower(run, x, base, r, rest, room)))
		return;
	if (x->ledger.present) {
		explain_by_ledger(x, m, rest, room);
		return;
	}
	/* the daemon that used the most CPU time, if that was enough to matter */
	const struct process *busiest = NULL;
	array_each(p, &x->processes)
		if (p->role == ROLE_DAEMON && p->present >> TASK_EXEC & 1 &&
		    (!busiest || p->value[TASK_EXEC] > busiest->value[TASK_EXEC]))
			busiest = p;
	if (!busiest || !matters(busiest->value[TASK_EXEC], x))
		return;
	text_duration((double)busiest->value[TASK_EXEC], 2, used, sizeof used);
	snprintf(rest, room, "; %s ran %s meanwhile", busiest->name, used);
}

/* EMP section 5.2, rule (II): one pass over what rule (I) left (r->kept). Returns how many it
 * dropped. */
static size_t drop_outside(const struct run *run, const struct execution *executions,
			   struct emp_result *r)
{
	const struct summary *s = &r->kept[r->lead];
	double spread = s->max - s->min;
	if (s->n < 3 || s->stddev <= 0 || spread < RESOLUTION_NS ||
	    spread < RESOLUTION_RELATIVE * s->mean)
		return 0;
	size_t dropped = 0;
	double low = s->mean - 2 * s->stddev, high = s->mean + 2 * s->stddev;
	r->outside = (struct emp_bounds){ .applied = true, .low_ns = low, .high_ns = high };
	const struct execution *base = usual(run, executions, r);
	for (size_t i = 0; i < r->count; i++) {
		struct emp_verdict *v = &r->verdicts[i];
		if (v->rule != EMP_KEPT)
			continue;
		double value = value_ns(run, &executions[i], r, r->lead);
		if (value >= low && value <= high)
			continue;
		v->rule = EMP_OUTSIDE;
		v->value_ns = value;
		v->low_ns = low;
		v->high_ns = high;
		explain_outside(run, &executions[i], base, r, v);
		dropped++;
	}
	return dropped;
}

void emp_judge(const struct run *run, const struct execution *executions, size_t count,
	       const struct emp_options *options, struct emp_result *out)
{
	*out = (struct emp_result){ .count = count };
	out->verdicts = xcalloc(count, sizeof *out->verdicts);
	for (size_t i = 0; i < count; i++) {
		struct emp_verdict *v = &out->verdicts[i];
		v->value_ns = v->low_ns = v->high_ns = NAN;
		judge_alone(&executions[i], options, v);
	}
	/* the ticks of one short execution say nothing, those of all of them are a sample */
	double user = 0, both = 0;
	for (size_t i = 0; i < count; i++) {
		const struct execution *x = &executions[i];
		if (out->verdicts[i].rule != EMP_KEPT || x->user_ns == ABSENT_NS ||
		    x->system_ns == ABSENT_NS)
			continue;
		user += (double)x->user_ns;
		both += (double)x->user_ns + (double)x->system_ns;
	}
	out->user_share = both > 0 ? user / both : NAN;
	find_present(executions, out);
	fit_steady(run, executions, options, out);
	summarise_all(run, executions, out, out->unfiltered);
	memcpy(out->kept, out->unfiltered, sizeof out->kept);
	if (emp_drop_by_cutoffs(executions, options, out))
		summarise_all(run, executions, out, out->kept);
	if (!options->keep_outside && drop_outside(run, executions, out))
		summarise_trimmed(run, executions, out);
	for (size_t i = 0; i < count; i++)
		if (out->verdicts[i].rule != EMP_KEPT)
			out->dropped[out->verdicts[i].rule]++;
	emp_find_spent(executions, out);
	emp_find_shown(run, out);
	emp_warn(run, executions, options, out);
}

void emp_result_release(struct emp_result *r)
{
	xfree(r->verdicts);
	array_release(&r->warnings);
	*r = (struct emp_result){ 0 };
}

double *emp_values(const struct run *run, const struct execution *executions,
		   const struct emp_result *r, enum emp_measure m, size_t *count)
{
	return emp_collect(run, executions, r, m, false, count);
}

void emp_compare_with(const struct summary *a, const struct summary *b, double more_error,
		      double more_df, struct emp_comparison *out)
{
	struct mean_ratio ratio;
	ratio_of_summaries_with(a, b, more_error, more_df, &ratio);
	size_t needed_a = a->error.needed, needed_b = b->error.needed;
	*out = (struct emp_comparison){
		.n_a = a->n,
		.n_b = b->n,
		.runs_a = 1,
		.runs_b = 1,
		.ratio = ratio.ratio,
		.ratio_low = ratio.low,
		.ratio_high = ratio.high,
		.p = ratio.p,
		.test = "Welch's t of the log ratio",
		.needed = isfinite(ratio.p)	? 0
			  : needed_a > needed_b ? needed_a
						: needed_b,
		.significant = ratio.p < 0.05,
	};
}

/* What counts of a run, rule II apart, as inputs of a fit. NULL: not all of it was probed. */
static struct steady_input *collect_speeds(const struct emp_judged *j, size_t *n)
{
	const struct emp_result *r = j->result;
	struct steady_input *in = xcalloc(r->count, sizeof *in);
	*n = 0;
	for (size_t i = 0; i < r->count; i++) {
		enum emp_rule rule = r->verdicts[i].rule;
		if (rule != EMP_KEPT && rule != EMP_OUTSIDE)
			continue;
		if (!emp_speed(j->run, &j->executions[i], &in[*n])) {
			xfree(in);
			return NULL;
		}
		++*n;
	}
	return in;
}

static void summarise_side(const struct steady_group *groups, size_t count, bool other,
			   const struct steady_fit *f, struct summary *out)
{
	FREED struct summary *each = xcalloc(count, sizeof *each);
	size_t runs = 0;
	for (size_t g = 0; g < count; g++) {
		if (groups[g].other != other)
			continue;
		FREED double *values = xcalloc(groups[g].n, sizeof *values);
		for (size_t i = 0; i < groups[g].n; i++)
			values[i] = steady_value(f, &groups[g].in[i]);
		summarise(values, groups[g].n, &each[runs++]);
	}
	summarise_runs(each, runs, out);
}

bool emp_compare_at_equal_speed(const struct emp_judged *runs, size_t count,
				struct emp_comparison *out)
{
	FREED struct steady_group *groups = xcalloc(count, sizeof *groups);
	struct steady_fit f = { 0 };
	size_t probed = 0, sides[2] = { 0 };
	for (; probed < count; probed++) {
		groups[probed].other = runs[probed].other;
		groups[probed].in = collect_speeds(&runs[probed], &groups[probed].n);
		if (!groups[probed].in)
			break;
		sides[runs[probed].other]++;
	}
	if (probed == count)
		steady_fit_sides(groups, count, &f);
	if (f.helps) {
		struct summary a, b;
		summarise_side(groups, count, false, &f, &a);
		summarise_side(groups, count, true, &f, &b);
		emp_compare_with(&a, &b, f.shift_error, f.freedom, out);
		out->runs_a = sides[0];
		out->runs_b = sides[1];
	}
	for (size_t g = 0; g < probed; g++)
		xfree((void *)groups[g].in);
	return f.helps;
}
