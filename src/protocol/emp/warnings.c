#include "protocol/emp/warnings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "protocol/emp/explain.h"
#include "stats/dip.h"
#include "stats/tests.h"

/* A warning of a test is wrong about once in a hundred sound runs, over the measures it looks at
 * together; and it must also matter: nobody acts on a drift of a thousandth. */
#define FALSE_ALARMS 0.01
#define DRIFT_MATTERS 0.01	     /* of the mean, over the run */
#define MODES_MATTER 0.005	     /* relative error: two equal groups 1 % apart */
#define AUTOCORRELATION_MATTERS 1e-3 /* relative error */
#define FEW 10			     /* EMPv6: ten samples, before rule (II) */
#define WAITING 0.5		     /* of ET: PT is then not what the user waits for */

#define MAD_TO_SIGMA 1.4826 /* of a normal distribution */
/* hyperfine's threshold for a first run: Iglewicz & Hoaglin's modified z score, but high enough for
 * skewed times. The first is one candidate; any other is one of many, so that is set higher. */
#define FIRST_SIGMAS 10
#define OUTLIER_SIGMAS 15
#define OUTLIER_MATTERS 0.05 /* of the median */

#define SHORT_SHELL_NS 5e6 /* hyperfine's too */
#define SHORT_NS 1e5
#define SHORT_TICK_NS 40e6 /* ten ticks of the usual 4 ms */

struct series {
	enum emp_measure m;
	const struct summary *kept, *unfiltered;
	double *values, *all; /* kept; with those rule (II) dropped */
	size_t n, n_all;
};

struct context {
	const struct run *run;
	const struct execution *executions;
	const struct emp_options *options;
	struct emp_result *r;
	struct series series[2]; /* the headline measure, then ET where that is another */
	size_t series_count;
};

static struct emp_warning *add(struct context *c, const char *id)
{
	array_push(&c->r->warnings, (struct emp_warning){ .id = id });
	return &c->r->warnings.items[c->r->warnings.count - 1];
}

__attribute__((format(printf, 2, 3))) static void say(char into[256], const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	vsnprintf(into, 256, fmt, args);
	va_end(args);
}

struct shown {
	char text[32];
};

static struct shown shown(double ns)
{
	struct shown s;
	text_duration(ns, 3, s.text, sizeof s.text);
	return s;
}

/* The run as `tare show` wants it. */
static struct shown run_name(const struct run *run)
{
	struct shown s;
	if (run->id > 0)
		snprintf(s.text, sizeof s.text, "%lld", (long long)run->id);
	else
		snprintf(s.text, sizeof s.text, "RUN");
	return s;
}

struct advice {
	char text[64];
};

/* The command that tells what disturbed an execution. */
static struct advice what_tells(const struct context *c)
{
	struct advice a;
	bool explained = explain_finds_slow(c->executions, c->r->count, c->r);
	snprintf(a.text, sizeof a.text, explained ? "tare explain %s" : "tare show %s --processes",
		 run_name(c->run).text);
	return a;
}

static bool counts(const struct emp_verdict *v)
{
	return v->rule != EMP_WARMUP && v->rule != EMP_FAILED;
}

/* The change over the run as a share of the mean; 0 if it is no drift. */
static double drift_of(const struct context *c, const struct series *s, struct trend *t)
{
	trend_test(s->values, s->n, t);
	double share = s->kept->mean > 0 ? t->change / s->kept->mean : 0;
	bool drifts = t->p < FALSE_ALARMS / (double)c->series_count && fabs(share) > DRIFT_MATTERS;
	return drifts ? share : 0;
}

static void warn_of_drift(struct context *c, const struct series *s, const struct trend *t,
			  double share)
{
	struct emp_warning *w = add(c, "drift");
	say(w->text,
	    "%s %s by %s (%.1f %%) over the run (Mann-Kendall, p = %.2g): its mean says little",
	    emp_label(s->m), share > 0 ? "rose" : "fell", shown(fabs(t->change)).text,
	    100 * fabs(share), t->p);
	if (share > 0)
		say(w->remedy, "something builds up: heat (`tare doctor` judges the clock "
			       "frequency), files or memory; reset it before each execution with "
			       "--prepare CMD");
	else
		say(w->remedy, "it had not settled: --warmup N with more executions, or bring each "
			       "to the same state with --prepare CMD");
}

static bool judge_modes(struct context *c, const struct series *s, double alpha)
{
	/* ticks look like modes */
	if (s->n < FEW || s->m == EMP_PT_TICK || s->kept->relative_error < MODES_MATTER)
		return false;
	struct dip d;
	dip_test(s->values, s->n, &d);
	if (d.p >= alpha)
		return false;
	struct groups g;
	two_groups(s->values, s->n, &g);
	struct emp_warning *w = add(c, "bimodal");
	say(w->text, "%s falls into groups: %zu around %s, %zu around %s (dip test, p %s %.2g)",
	    emp_label(s->m), g.n_low, shown(g.mean_low).text, g.n_high, shown(g.mean_high).text,
	    d.p > 0.001 ? "=" : "≤", d.p);
	say(w->remedy,
	    "find what switches between them: `tare show %s --processes`, CPUs of different speed "
	    "(--cpu LIST), cold and warm caches (--warmup N, --prepare CMD)",
	    run_name(c->run).text);
	return true;
}

static bool judge_autocorrelation(struct context *c, const struct series *s)
{
	const struct mean_error *e = &s->kept->error;
	struct autocorrelation a;
	autocorrelation_lag1(s->values, s->n, FALSE_ALARMS / (double)c->series_count, &a);
	if (s->n < FEW || s->kept->relative_error < AUTOCORRELATION_MATTERS ||
	    (a.r1 >= a.low && a.r1 <= a.high))
		return false;
	struct emp_warning *w = add(c, "autocorrelated");
	char known[96] = "the interval allows for it";
	if (e->too_few)
		snprintf(known, sizeof known,
			 "%zu are too few for an interval, about %zu are needed", s->n, e->needed);
	else if (e->effective < 0.8 * (double)s->n)
		snprintf(known, sizeof known, "the mean is known as from %.0f independent ones",
			 e->effective);
	say(w->text, "one %s tells about the next (r = %.2f, chance gives %.2f to %.2f): %s",
	    emp_label(s->m), a.r1, a.low, a.high, known);
	say(w->remedy, "bring each execution to the same state with --prepare CMD, keep it on one "
		       "CPU with --cpu LIST, or take more of them with --runs N");
	return true;
}

static void warn_of_tests(struct context *c)
{
	bool ticks = c->series[0].m == EMP_PT_TICK;
	double modes_alpha = FALSE_ALARMS / (double)(ticks ? 1 : c->series_count);
	bool drift = false, modes = false, related = false;
	for (size_t i = 0; i < c->series_count; i++) {
		const struct series *s = &c->series[i];
		struct trend t;
		double share = drift_of(c, s, &t);
		if (share != 0 && !drift)
			warn_of_drift(c, s, &t, share);
		drift = drift || share != 0;
		modes = modes || judge_modes(c, s, modes_alpha);
		/* a drift makes neighbours alike: one finding, not two; but another measure may
		 * have its own */
		if (share == 0 && !related)
			related = judge_autocorrelation(c, s);
	}
}

static void warn_of_outliers(struct context *c)
{
	const struct series *et = &c->series[c->series_count - 1];
	bool slow_first = false;
	if (et->n_all >= 5) {
		struct summary rest;
		summarise_unordered(et->all + 1, et->n_all - 1, &rest);
		double first = et->all[0], excess = first - rest.median;
		slow_first = first > rest.max && excess > FIRST_SIGMAS * MAD_TO_SIGMA * rest.mad &&
			     excess > OUTLIER_MATTERS * rest.median;
		if (slow_first) {
			struct emp_warning *w = add(c, "slow_first");
			say(w->text, "the first execution took %s, the others %s in the median",
			    shown(first).text, shown(rest.median).text);
			say(w->remedy,
			    "fill the caches first with --warmup N, or empty them before each "
			    "execution with --prepare CMD");
		}
	}
	for (size_t k = 0; k < c->series_count; k++) {
		const struct series *s = &c->series[k];
		const struct summary *u = s->unfiltered;
		if (s->n_all < FEW || s->m == EMP_PT_TICK)
			continue;
		double limit =
			fmax(OUTLIER_SIGMAS * MAD_TO_SIGMA * u->mad, OUTLIER_MATTERS * u->median);
		double farthest = u->median;
		size_t far = 0;
		for (size_t i = slow_first ? 1 : 0; i < s->n_all; i++) {
			double distance = fabs(s->all[i] - u->median);
			far += distance > limit;
			if (distance > fabs(farthest - u->median))
				farthest = s->all[i];
		}
		if (!far)
			continue;
		struct emp_warning *w = add(c, "outliers");
		say(w->text,
		    "%zu of %zu executions lie%s far from the rest: %s %s at the farthest, %s in the median",
		    far, s->n_all, far == 1 ? "s" : "", emp_label(s->m), shown(farthest).text,
		    shown(u->median).text);
		say(w->remedy,
		    "`%s` names what ran then; `tare doctor` tells how to quiet this machine",
		    what_tells(c).text);
		return;
	}
}

/* Who had the CPU most while it queued; "" without ledgers. */
static struct shown who_held_it(const struct context *c)
{
	struct shown most = { "" };
	uint64_t most_ns = 0;
	for (size_t i = 0; i < c->r->count; i++) {
		if (c->r->verdicts[i].rule != EMP_KEPT)
			continue;
		array_each(e, &c->executions[i].ledger.entries)
			if (e->cause == LEDGER_QUEUED && e->ns > most_ns &&
			    strcmp(e->name, "itself") != 0) {
				most_ns = e->ns;
				text_display(e->name, most.text, sizeof most.text);
			}
	}
	return most;
}

/* Others had its CPU. That is in ET, but PT is what it would be without them. */
static bool warn_of_contention(struct context *c)
{
	const struct emp_spent *s = &c->r->spent;
	if (!(s->queued >= SPENT_WAITING))
		return false;
	const struct shown who = who_held_it(c);
	struct emp_warning *w = add(c, "contended");
	say(w->text, "the command queued for a CPU %.0f %% of its time%s%s%s", 100 * s->queued,
	    *who.text ? ": " : "", who.text, *who.text ? " had it most" : "");
	say(w->remedy, "%s; `tare doctor` tells how to quiet this machine",
	    s->blocked > WAITING
		    ? "elapsed time has that in it"
		    : "process time does not have that in it: it is the figure to use");
	return true;
}

/* Where PT is so small a part of ET that it says little, but not where one of them is too coarse to
 * tell; and where ET varies far more than PT. */
static void warn_of_et(struct context *c)
{
	const struct emp_spent *spent = &c->r->spent;
	const struct summary *pt = c->series[0].kept, *et = c->series[1].kept;
	bool ticks = c->series[0].m == EMP_PT_TICK;
	double least = ticks ? SHORT_TICK_NS : c->run->shell ? SHORT_SHELL_NS : SHORT_NS;
	if (!et->n || !pt->n)
		return;
	bool long_enough = et->mean >= least;
	bool waiting = long_enough && spent->blocked > WAITING;
	if (waiting) {
		double share = spent->blocked;
		struct emp_warning *w = add(c, "waiting");
		say(w->text,
		    "the command %s %s%.0f %% of its time: process time says little about it",
		    isnan(spent->queued) ? "was off the CPU" : "slept or did I/O",
		    share > 0.99 ? "over " : "", share > 0.99 ? 99.0 : 100 * share);
		if (isnan(spent->queued))
			say(w->remedy, "if other programs had the CPU, it is the figure to use all "
				       "the same (--measure exec); as root, tare tells them apart");
		else
			say(w->remedy, "elapsed time is what it is compared by");
	}
	bool contended = long_enough && warn_of_contention(c);
	/* a PT in ticks is steady only because it is coarse */
	if (contended || et->n < 3 || pt->mean <= 0 || ticks || et->relative_error <= 0.01 ||
	    et->relative_error <= 10 * pt->relative_error)
		return;
	struct emp_warning *w = add(c, "noisy_et");
	say(w->text,
	    "ET varies by %.1f %%, PT by %.2f %%: the program waited, or the machine was disturbed",
	    100 * et->relative_error, 100 * pt->relative_error);
	say(w->remedy, "%s`tare doctor` tells how to quiet this machine, `%s` what ran",
	    waiting ? "" : "PT is the figure to use; ", what_tells(c).text);
}

static void warn_of_too_short(struct context *c)
{
	const struct summary *et = &c->r->kept[EMP_ET], *headline = &c->r->kept[c->r->headline];
	if (!et->n)
		return;
	if (c->run->shell && et->mean < SHORT_SHELL_NS) {
		struct emp_warning *w = add(c, "too_short");
		say(w->text,
		    "ET is %s, after the shell's own %s was taken off: what is left is not exact",
		    shown(et->mean).text, shown((double)c->run->shell_et_ns).text);
		say(w->remedy, "start the program without a shell: -N");
	} else if (et->mean < SHORT_NS) {
		struct emp_warning *w = add(c, "too_short");
		say(w->text, "ET is %s: little more than starting and ending a process takes",
		    shown(et->mean).text);
		say(w->remedy, "let one execution do the work many times over");
	} else if (c->r->headline == EMP_PT_TICK && headline->mean < SHORT_TICK_NS) {
		struct emp_warning *w = add(c, "too_short");
		say(w->text,
		    "PT is %s, counted in ticks of the kernel of 1 to 10 ms: too few of them",
		    shown(headline->mean).text);
		say(w->remedy, "run tare as root, where it reads PT in ns, or let one execution do "
			       "more work");
	}
}

static bool is_said(const struct context *c, const char *id)
{
	array_each(w, &c->r->warnings)
		if (strcmp(w->id, id) == 0)
			return true;
	return false;
}

/* More often wrong than a test: but an interval that is missing needs a reason. */
static void warn_of_no_interval(struct context *c)
{
	for (size_t i = 0; i < c->series_count; i++) {
		const struct series *s = &c->series[i];
		bool group = c->r->outside.undecided;
		if (!s->kept->error.too_few ||
		    (!group && (is_said(c, "autocorrelated") || is_said(c, "drift"))))
			continue;
		struct emp_warning *w = add(c, "few");
		if (group)
			say(w->text,
			    "rule II dropped executions that stand apart as a group: %zu are too "
			    "few to say whether they are outliers or a second way to run",
			    s->n_all);
		else
			say(w->text,
			    "one %s may tell about the next, and %zu executions are too few to say "
			    "how well the mean is known",
			    emp_label(s->m), s->n);
		say(w->remedy, "--runs %zu", s->kept->error.needed);
		return;
	}
}

static void warn_of_few(struct context *c)
{
	size_t n = c->r->kept[EMP_ET].n, measured = c->r->unfiltered[EMP_ET].n;
	bool ended = c->run->status == RUN_FAILED || c->run->status == RUN_INTERRUPTED;
	if (measured >= FEW)
		warn_of_no_interval(c);
	/* why there is none was said already; more executions are no remedy */
	if (measured >= FEW || (!measured && (ended || c->r->dropped[EMP_FAILED])))
		return;
	struct emp_warning *w = add(c, "few");
	if (measured)
		say(w->text, "%zu execution%s: too few to rely on the interval", n,
		    n == 1 ? "" : "s");
	else
		say(w->text, "no execution to take a mean of");
	say(w->remedy, "--runs %d, or as many as a wanted precision takes: --precision 0.5%%", FEW);
}

/* The executions that ended in one way. */
struct kind {
	size_t count;
	int status;  /* of the first */
	bool differ; /* the others have another */
};

static void count_kind(struct kind *k, int status)
{
	k->differ = k->differ || (k->count && k->status != status);
	k->status = k->count ? k->status : status;
	k->count++;
}

/* "2 with exit status 3, 1 killed by SIGSEGV"; the figures are left out where there is one kind. */
static void say_kinds(const struct kind kinds[3], size_t failed, struct strbuf *out)
{
	for (enum outcome o = OUTCOME_EXITED; o <= OUTCOME_TIMED_OUT; o++) {
		const struct kind *k = &kinds[o];
		bool all = k->count == failed;
		if (!k->count)
			continue;
		strbuf_puts(out, out->length ? ", " : "");
		if (!all)
			strbuf_printf(out, "%zu %s", k->count, o == OUTCOME_EXITED ? "with " : "");
		const char *signal = o == OUTCOME_SIGNALLED ? sigabbrev_np(k->status) : NULL;
		if (o == OUTCOME_EXITED && k->differ)
			strbuf_printf(out, "%s other than 0",
				      all ? "exit statuses" : "an exit status");
		else if (o == OUTCOME_EXITED)
			strbuf_printf(out, "exit status %d", k->status);
		else if (o == OUTCOME_TIMED_OUT)
			strbuf_puts(out, "ended by tare at the time limit");
		else if (k->differ)
			strbuf_puts(out, "killed by signals");
		else if (signal)
			strbuf_printf(out, "killed by SIG%s", signal);
		else
			strbuf_printf(out, "killed by signal %d", k->status);
	}
}

static void warn_of_failures(struct context *c)
{
	struct kind kinds[3] = { 0 };
	const struct execution *last = NULL;
	size_t measured = 0, failed = 0;
	for (size_t i = 0; i < c->r->count; i++) {
		const struct execution *x = &c->executions[i];
		last = x;
		if (x->warmup)
			continue;
		measured++;
		if (execution_succeeded(x, c->options->expected_codes, c->options->expected_count))
			continue;
		count_kind(&kinds[x->outcome], x->status);
		failed++;
	}
	struct strbuf text = { 0 };
	/* a warm-up that fails ends the run before anything was measured */
	if (!measured && last && c->run->status == RUN_FAILED &&
	    !execution_succeeded(last, c->options->expected_codes, c->options->expected_count)) {
		count_kind(&kinds[last->outcome], last->status);
		say_kinds(kinds, 1, &text);
		struct emp_warning *w = add(c, "failures");
		say(w->text, "warm-up %u failed: %s; nothing was measured", last->number,
		    strbuf_text(&text));
		say(w->remedy, "see what it says: --show-output; if that is as it should be: "
			       "--ignore-failure");
		strbuf_release(&text);
	}
	if (!failed)
		return;
	size_t late = kinds[OUTCOME_TIMED_OUT].count;
	say_kinds(kinds, failed, &text);
	const char *fate = failed == 1 ? "it is not in the result" : "they are not in the result";
	if (c->options->ignore_failure && !late)
		fate = failed == 1 ? "it counts as measured (--ignore-failure)"
				   : "they count as measured (--ignore-failure)";
	else if (c->options->ignore_failure && late < failed)
		fate = "those at the time limit are not in the result, the others are "
		       "(--ignore-failure)";
	struct emp_warning *w = add(c, "failures");
	say(w->text, "%zu of %zu execution%s failed: %s; %s", failed, measured,
	    measured == 1 ? "" : "s", strbuf_text(&text), fate);
	strbuf_release(&text);
	say(w->remedy, "see what it says: --show-output%s",
	    c->options->ignore_failure ? "" : "; if that is as it should be: --ignore-failure");
}

/* What the collector could not do, over the executions that count. */
static void warn_of_gaps(struct context *c)
{
	size_t measured = 0, leaving = 0;
	unsigned long long left = 0, ended = 0, lost = 0, unseen = 0;
	for (size_t i = 0; i < c->r->count; i++) {
		const struct execution *x = &c->executions[i];
		if (!counts(&c->r->verdicts[i]))
			continue;
		measured++;
		leaving += x->left_behind > 0;
		left += x->left_behind;
		ended += x->ended;
		lost += x->lost;
		unseen += x->ephemeral > 0 ? (unsigned long long)x->ephemeral : 0;
	}
	const struct shown run = run_name(c->run);
	if (leaving) {
		struct emp_warning *w = add(c, "left_behind");
		say(w->text,
		    "%zu of %zu execution%s left processes behind (%llu in all, %llu ended by tare): "
		    "what they did later is not in ET",
		    leaving, measured, measured == 1 ? "" : "s", left, ended);
		say(w->remedy,
		    "`tare show %s --processes` names them; let the program wait for them",
		    run.text);
	}
	if (lost) {
		struct emp_warning *w = add(c, "lost");
		say(w->text, "%llu event%s lost: processes and PT may lack something", lost,
		    lost == 1 ? " was" : "s were");
		say(w->remedy, "measure again on a quieter machine: `tare doctor` tells how");
	}
	/* BPF adds up the subject's tree in the kernel: these are others' */
	if (unseen && c->run->backend != BACKEND_BPF) {
		struct emp_warning *w = add(c, "ephemeral");
		const char *s = unseen == 1 ? "" : "s", *their = unseen == 1 ? "its" : "their";
		if (c->run->backend == BACKEND_PLAIN) /* the kernel's sum at the end has them */
			say(w->text,
			    "%llu task%s came and went without being listed; %s time is in PT if %s "
			    "the subject's thread%s or child%s that %s waited for",
			    unseen, s, their, unseen == 1 ? "it was" : "they were", s,
			    unseen == 1 ? "" : "ren", unseen == 1 ? "was" : "were");
		else
			say(w->text, "%llu task%s came and went unseen: %s time is in no PT",
			    unseen, s, their);
		say(w->remedy, "run tare as root on a kernel with BPF (`tare doctor` tells), where "
			       "every task is seen");
	}
}

void emp_warn(const struct run *run, const struct execution *executions,
	      const struct emp_options *options, struct emp_result *r)
{
	struct context c = { .run = run, .executions = executions, .options = options, .r = r };
	c.series_count = r->headline == EMP_ET ? 1 : 2;
	for (size_t i = 0; i < c.series_count; i++) {
		struct series *s = &c.series[i];
		s->m = i ? EMP_ET : r->headline;
		s->kept = &r->kept[s->m];
		s->unfiltered = &r->unfiltered[s->m];
		s->values = emp_collect(run, executions, r, s->m, false, &s->n);
		s->all = emp_collect(run, executions, r, s->m, true, &s->n_all);
	}
	warn_of_failures(&c);
	emp_warn_of_cutoffs(run, options, r);
	warn_of_few(&c);
	warn_of_too_short(&c);
	warn_of_outliers(&c);
	if (c.series_count > 1)
		warn_of_et(&c);
	warn_of_tests(&c);
	warn_of_gaps(&c);
	for (size_t i = 0; i < c.series_count; i++) {
		xfree(c.series[i].values);
		xfree(c.series[i].all);
	}
}
