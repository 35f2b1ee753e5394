#include "measure/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "stats/precision.h"

#define PADDING_MAX 4096

struct progress_of {
	uint32_t warmed, done, planned;
	bool begun, finished;
	uint64_t first_ns;	    /* one whole turn, hooks included */
	struct plan_times times;    /* for the stop rule */
	struct precision precision; /* the stop rule; zeroed before the first value */
};

struct plan_run {
	struct collector *c;
	const struct plan *plan;
	const struct plan_events *events;
	struct launcher *subjects, *hooks;
	struct progress_of *of;
	struct execution x;
	uint64_t random;
};

/* xorshift64*: order and padding only need to be unpredictable to the program under test */
uint64_t plan_random(uint64_t *state)
{
	uint64_t s = *state;
	s ^= s >> 12;
	s ^= s << 25;
	s ^= s >> 27;
	*state = s;
	return s * 2685821657736338717u;
}

int plan_hook(const struct plan *plan, struct launcher *hooks, char *const *argv, const char *what,
	      long iteration, struct error *err)
{
	if (!argv)
		return 0;
	struct launch launch = plan->hook_launch;
	launch.iteration = iteration;
	int status;
	if (hook_execute(hooks, &launch, argv, &status, err)) {
		if (err && err->code == EXIT_INTERRUPTED)
			return -1;
		return error_prefix(err, "the %s command", what);
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFSIGNALED(status))
		error_set(err, EXIT_SUBJECT, "the %s command was killed by signal %d", what,
			  WTERMSIG(status));
	else
		error_set(err, EXIT_SUBJECT, "the %s command ended with exit code %d", what,
			  WEXITSTATUS(status));
	return error_hint(err, "append ' || true' to it if that does not matter");
}

static int run_hook(struct plan_run *s, char *const *argv, const char *what, long iteration,
		    struct error *err)
{
	return plan_hook(s->plan, s->hooks, argv, what, iteration, err);
}

int plan_check_outcome(const struct plan *plan, const char *name, enum outcome outcome, int status,
		       struct error *err)
{
	char who[128];
	if (outcome_counts(outcome, status, plan->expected_codes, plan->expected_count,
			   plan->ignore_failure))
		return 0;
	if (name)
		snprintf(who, sizeof who, "'%.100s'", name);
	else
		snprintf(who, sizeof who, "the command");
	switch (outcome) {
	case OUTCOME_TIMED_OUT:
		if (!plan->execute.time_limit_ns) {
			error_set(err, EXIT_SUBJECT, "%s did not end in time and was ended", who);
			return error_hint(err, "raise --max-time if it may take longer");
		}
		error_set(err, EXIT_SUBJECT, "%s was ended at its time limit of %.3g s", who,
			  (double)plan->execute.time_limit_ns / 1e9);
		return error_hint(err, "raise --time-limit if it may take longer");
	case OUTCOME_SIGNALLED:
		error_set(err, EXIT_SUBJECT, "%s was killed by signal %d (%s)", who, status,
			  strsignal(status));
		break;
	default:
		error_set(err, EXIT_SUBJECT, "%s ended with exit code %d", who, status);
	}
	return error_hint(
		err, "--ignore-failure measures it all the same; --show-output shows what it says");
}

#define NOT_FOUND 127 /* by POSIX, what a shell ends with that did not find the command */

/* A command that the shell did not find was never measured: there is nothing to store of it. */
static int check_found(const struct plan *plan, const struct plan_item *item,
		       const struct execution *x, struct error *err)
{
	if (!plan->through_shell || x->outcome != OUTCOME_EXITED || x->status != NOT_FOUND ||
	    outcome_counts(x->outcome, x->status, plan->expected_codes, plan->expected_count,
			   plan->ignore_failure))
		return 0;
	size_t last = 0;
	while (item->argv[last + 1])
		last++;
	error_set(err, EXIT_USAGE, "command not found: '%.200s'", item->argv[last]);
	return error_hint(err,
			  "its shell ended with exit code %d; --show-output shows what it says",
			  NOT_FOUND);
}

/* How many executions the item shall have, as far as is known now. */
static uint32_t target(const struct plan *plan, const struct progress_of *of)
{
	if (plan->runs)
		return plan->runs;
	double wanted = plan->min_runs;
	if (of->first_ns && (double)plan->min_time_ns / (double)of->first_ns > wanted)
		wanted = floor((double)plan->min_time_ns / (double)of->first_ns);
	if (plan->max_runs && wanted > plan->max_runs)
		wanted = plan->max_runs;
	return wanted < UINT32_MAX ? (uint32_t)wanted : UINT32_MAX;
}

static double without(uint64_t value, uint64_t shell)
{
	return value > shell ? (double)(value - shell) : 0;
}

void plan_add_times(const struct plan *plan, const struct execution *x, struct plan_times *t)
{
	struct execution_spent spent = execution_spent(x, x->ledger.present);
	enum grade g = plan->judged_by < PLAN_BY_GRADE
			       ? execution_grade(x)
			       : (enum grade)(plan->judged_by - PLAN_BY_GRADE);
	if (g >= GRADES || x->pt_ns[g] == ABSENT_NS)
		g = execution_grade(x);
	t->raw_et_ns += (double)x->et_ns;
	t->blocked_ns += spent.blocked_ns;
	array_push(&t->et, without(x->et_ns, plan->shell.et_ns));
	t->et_sum += t->et.items[t->et.count - 1];
	if (g >= GRADES || x->pt_ns[g] == ABSENT_NS)
		return;
	array_push(&t->pt, without(x->pt_ns[g], plan->shell.pt_ns[g]));
	t->pt_sum += t->pt.items[t->pt.count - 1];
}

void plan_forget_times(struct plan_times *t)
{
	array_release(&t->et);
	array_release(&t->pt);
	*t = (struct plan_times){ 0 };
}

/* Like emp_choose() of one run. */
static bool by_et(const struct plan *plan, const struct plan_times *t)
{
	bool waits = t->blocked_ns >= SPENT_WAITING * t->raw_et_ns;
	return plan->judged_by == PLAN_BY_ET || t->pt.count < t->et.count ||
	       (plan->judged_by == PLAN_BY_BEST && waits);
}

double plan_mean(const struct plan *plan, const struct plan_times *t)
{
	return t->et.count ? (by_et(plan, t) ? t->et_sum : t->pt_sum) / (double)t->et.count : NAN;
}

static bool is_finished(const struct plan *plan, struct progress_of *of)
{
	of->planned = target(plan, of);
	if (plan->precision <= 0 || plan->runs)
		return of->done >= of->planned;
	if (plan->max_runs && of->done >= plan->max_runs)
		return true;
	if (!of->precision.next)
		precision_begin(&of->precision, plan->precision, plan->min_runs, plan->max_runs);
	const struct plan_times *t = &of->times;
	return precision_reached(&of->precision, by_et(plan, t) ? t->et.items : t->pt.items,
				 t->et.count);
}

void plan_set_output(struct launch *launch, const char *output)
{
	if (!output)
		return;
	launch->output = strcmp(output, "null") == 0	  ? OUTPUT_NULL
			 : strcmp(output, "pipe") == 0	  ? OUTPUT_PIPE
			 : strcmp(output, "inherit") == 0 ? OUTPUT_INHERIT
							  : OUTPUT_FILE;
	launch->output_path = launch->output == OUTPUT_FILE ? output : NULL;
}

uint64_t plan_padding(uint64_t *random)
{
	return 1 + plan_random(random) % PADDING_MAX;
}

static int execute_once(struct plan_run *s, size_t item, bool warmup, struct error *err)
{
	const struct plan *plan = s->plan;
	const struct plan_item *it = &plan->items[item];
	struct progress_of *of = &s->of[item];
	uint64_t begin = clock_monotonic_ns();
	long iteration = warmup ? -1 : (long)of->done;
	if (run_hook(s, it->prepare, "--prepare", iteration, err))
		return -1;
	struct launch launch = plan->launch;
	launch.iteration = iteration;
	launch.directory = it->directory;
	plan_set_output(&launch, it->output);
	if (plan->pad_environment)
		launch.env_padding = plan_padding(&s->random);
	if (execute(s->c, s->subjects, &launch, it->argv, &plan->execute, &s->x, err))
		return -1;
	if (!of->warmed && !of->done && check_found(plan, it, &s->x, err))
		return -1;
	s->x.warmup = warmup;
	s->x.number = warmup ? ++of->warmed : ++of->done;
	if (s->events->executed(s->events->context, item, &s->x, err))
		return -1;
	if (plan_check_outcome(plan, NULL, s->x.outcome, s->x.status, err))
		return -1;
	if (run_hook(s, it->conclude, "--conclude", iteration, err))
		return -1;
	if (!warmup) {
		plan_add_times(plan, &s->x, &of->times);
		if (!of->first_ns)
			of->first_ns = clock_monotonic_ns() - begin;
		of->finished = is_finished(plan, of);
	}
	if (interrupted())
		return error_set(err, EXIT_INTERRUPTED, "interrupted");
	return 0;
}

static void tell(struct plan_run *s, size_t item)
{
	struct progress_of *of = &s->of[item];
	if (s->events->progress)
		s->events->progress(s->events->context, item, of->done, of->planned);
}

static int begin_item(struct plan_run *s, size_t item, struct error *err)
{
	struct progress_of *of = &s->of[item];
	of->begun = true;
	of->planned = s->plan->runs;
	tell(s, item);
	if (s->events->begun(s->events->context, item, err) ||
	    run_hook(s, s->plan->items[item].setup, "--setup", -1, err))
		return -1;
	for (uint32_t i = 0; i < s->plan->warmup; i++)
		if (execute_once(s, item, true, err))
			return -1;
	return 0;
}

static int run_sequentially(struct plan_run *s, size_t *at, struct error *err)
{
	for (*at = 0; *at < s->plan->count; ++*at) {
		if (begin_item(s, *at, err))
			return -1;
		while (!s->of[*at].finished) {
			if (execute_once(s, *at, false, err))
				return -1;
			tell(s, *at);
		}
		s->of[*at].begun = false;
		if (run_hook(s, s->plan->items[*at].cleanup, "--cleanup", -1, err))
			return -1;
	}
	return 0;
}

/* Rounds in which each unfinished item has one turn. */
static int run_in_rounds(struct plan_run *s, size_t *at, struct error *err)
{
	size_t count = s->plan->count, left = count;
	FREED size_t *order = xcalloc(count, sizeof *order);
	int failed = 0;
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (*at = 0; *at < count && !failed; ++*at)
		failed = begin_item(s, *at, err);
	if (failed)
		--*at; /* the loop has gone past the one at fault */
	while (left && !failed) {
		for (size_t i = count; s->plan->order == ORDER_RANDOM && i > 1; i--) {
			size_t j = plan_random(&s->random) % i, kept = order[i - 1];
			order[i - 1] = order[j];
			order[j] = kept;
		}
		for (size_t i = 0; i < count && !failed; i++) {
			*at = order[i];
			if (s->of[*at].finished)
				continue;
			failed = execute_once(s, *at, false, err);
			tell(s, *at);
			left -= s->of[*at].finished;
		}
	}
	return failed;
}

int plan_run(struct collector *c, const struct plan *plan, const struct plan_events *events,
	     size_t *failed_item, struct error *err)
{
	struct plan_run s = { .c = c, .plan = plan, .events = events };
	s.random = plan->seed ? plan->seed : 1;
	*failed_item = plan->count;
	int failed = launcher_new(&s.subjects, &plan->launch, err) ||
		     launcher_new(&s.hooks, &plan->hook_launch, err);
	s.of = xcalloc(plan->count, sizeof *s.of);
	if (!failed) {
		size_t at = 0;
		failed = plan->order == ORDER_SEQUENTIAL ? run_sequentially(&s, &at, err)
							 : run_in_rounds(&s, &at, err);
		if (failed)
			*failed_item = at;
	}
	for (size_t i = 0; i < plan->count; i++) {
		struct error ignored = ERROR_INIT;
		if (s.of[i].begun &&
		    run_hook(&s, plan->items[i].cleanup, "--cleanup", -1, failed ? &ignored : err))
			failed = -1;
		plan_forget_times(&s.of[i].times);
	}
	free(s.of);
	execution_release(&s.x);
	launcher_free(s.subjects);
	launcher_free(s.hooks);
	return failed ? -1 : 0;
}

/* count > 0 */
static uint64_t median_of(uint64_t *values, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) /* a few dozen at most */
		for (uint32_t j = i; j > 0 && values[j] < values[j - 1]; j--) {
			uint64_t kept = values[j];
			values[j] = values[j - 1];
			values[j - 1] = kept;
		}
	return values[count / 2];
}

#define CALIBRATION_RUNS 30

int shell_calibrate(struct collector *c, const struct plan *plan, const word_list *shell,
		    struct shell_cost *cost, struct error *err)
{
	uint64_t values[1 + GRADES][CALIBRATION_RUNS] = { 0 };
	FREED word_list words = { 0 };
	for (size_t i = 0; i < shell->count; i++)
		array_push(&words, shell->items[i]);
	array_push(&words, (char *)"-c");
	array_push(&words, (char *)"");
	array_push(&words, NULL);
	struct launcher *l = NULL;
	struct execution x = { 0 };
	struct launch launch = plan->launch;
	launch.iteration = -1;
	int failed = launcher_new(&l, &launch, err);
	for (uint32_t i = 0; i <= CALIBRATION_RUNS && !failed; i++) {
		failed = execute(c, l, &launch, words.items, &plan->execute, &x, err);
		if (failed || i == 0) /* the first fills the caches */
			continue;
		if (x.outcome != OUTCOME_EXITED || x.status != 0) {
			error_set(err, EXIT_USAGE, "the shell '%s' does not run an empty command",
				  words.items[0]);
			failed = error_hint(err, "choose another with --shell, or none with -N");
			continue;
		}
		values[0][i - 1] = x.et_ns;
		for (int g = 0; g < GRADES; g++)
			values[1 + g][i - 1] = x.pt_ns[g];
	}
	if (!failed) {
		cost->et_ns = median_of(values[0], CALIBRATION_RUNS);
		for (int g = 0; g < GRADES; g++)
			cost->pt_ns[g] = median_of(values[1 + g], CALIBRATION_RUNS);
	}
	execution_release(&x);
	launcher_free(l);
	return failed ? -1 : 0;
}
