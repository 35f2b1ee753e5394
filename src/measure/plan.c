#include "measure/plan.h"

#include <math.h>
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
	uint64_t first_ns; /* one whole turn, hooks included */
	double *values;	   /* headline of each execution, for the stop rule */
	size_t value_count, value_capacity;
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

static int report_failure(const struct plan *plan, const struct execution *x, struct error *err)
{
	switch (x->outcome) {
	case OUTCOME_TIMED_OUT:
		error_set(err, EXIT_SUBJECT, "the command was ended at its time limit of %.3g s",
			  (double)plan->execute.time_limit_ns / 1e9);
		return error_hint(err, "raise --time-limit if it may take longer");
	case OUTCOME_SIGNALLED:
		error_set(err, EXIT_SUBJECT, "the command was killed by signal %d (%s)", x->status,
			  strsignal(x->status));
		break;
	default:
		error_set(err, EXIT_SUBJECT, "the command ended with exit code %d", x->status);
	}
	return error_hint(
		err, "--ignore-failure measures it all the same; --show-output shows what it says");
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

static bool is_finished(const struct plan *plan, struct progress_of *of)
{
	of->planned = target(plan, of);
	if (plan->precision <= 0 || plan->runs)
		return of->done >= of->planned;
	if (plan->max_runs && of->done >= plan->max_runs)
		return true;
	if (!of->precision.next)
		precision_begin(&of->precision, plan->precision, plan->min_runs, plan->max_runs);
	return precision_reached(&of->precision, of->values, of->value_count);
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
	s->x.warmup = warmup;
	s->x.number = warmup ? ++of->warmed : ++of->done;
	if (s->events->executed(s->events->context, item, &s->x, err))
		return -1;
	if (!execution_succeeded(&s->x, plan->expected_codes, plan->expected_count) &&
	    (!plan->ignore_failure || s->x.outcome == OUTCOME_TIMED_OUT))
		return report_failure(plan, &s->x, err);
	if (run_hook(s, it->conclude, "--conclude", iteration, err))
		return -1;
	if (!warmup) {
		enum grade g = execution_grade(&s->x);
		uint64_t value = g < GRADES ? s->x.pt_ns[g] : s->x.et_ns;
		uint64_t shell = g < GRADES ? plan->shell.pt_ns[g] : plan->shell.et_ns;
		of->values = array_grow(of->values, &of->value_capacity, of->value_count + 1,
					sizeof *of->values);
		of->values[of->value_count++] = value > shell ? (double)(value - shell) : 0;
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
		free(s.of[i].values);
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

#define CALIBRATION_MAX 64

int shell_calibrate(struct collector *c, const struct plan *plan, char *const *argv, uint32_t runs,
		    struct shell_cost *cost, struct error *err)
{
	uint64_t values[1 + GRADES][CALIBRATION_MAX] = { 0 };
	struct launcher *l = NULL;
	struct execution x = { 0 };
	struct launch launch = plan->launch;
	launch.iteration = -1;
	if (runs > CALIBRATION_MAX)
		runs = CALIBRATION_MAX;
	int failed = launcher_new(&l, &launch, err);
	for (uint32_t i = 0; i <= runs && !failed; i++) {
		failed = execute(c, l, &launch, argv, &plan->execute, &x, err);
		if (failed || i == 0) /* the first fills the caches */
			continue;
		if (x.outcome != OUTCOME_EXITED || x.status != 0) {
			error_set(err, EXIT_USAGE, "the shell '%s' does not run an empty command",
				  argv[0]);
			failed = error_hint(err, "choose another with --shell, or none with -N");
			continue;
		}
		values[0][i - 1] = x.et_ns;
		for (int g = 0; g < GRADES; g++)
			values[1 + g][i - 1] = x.pt_ns[g];
	}
	if (!failed) {
		cost->et_ns = median_of(values[0], runs);
		for (int g = 0; g < GRADES; g++)
			cost->pt_ns[g] = median_of(values[1 + g], runs);
	}
	execution_release(&x);
	launcher_free(l);
	return failed ? -1 : 0;
}
