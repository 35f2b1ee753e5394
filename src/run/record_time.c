#include "run/record_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/strbuf.h"

#define SHELL_CALIBRATION_RUNS 30

/* Watches the CPUs that the subjects may use, wherever a thread can. What it lacks is in the run's
 * not_seen. */
static void open_speed(struct time_recording *t)
{
	const struct launch *launch = &t->p->plan.launch;
	bool real_time = launch->policy == SCHED_FIFO || launch->policy == SCHED_RR;
	struct speed_options options = { .cpus = launch->cpus,
					 .ease_after_ns = SPEED_EASE_NS,
					 .above_priority = real_time ? launch->rt_priority : 0 };
	if (collector_knows_turns(t->collector)) {
		options.turn = collector_turn;
		options.context = t->collector;
	}
	struct error why = ERROR_INIT;
	if (speed_probe_open(&t->speed, &options, &why))
		t->speed_missing = xstrdup(why.text);
	else if (speed_probe_not_seen(t->speed))
		t->speed_missing = xstrdup(speed_probe_not_seen(t->speed));
	t->p->plan.execute.speed = t->speed;
}

int time_recording_open(struct time_recording *t, struct error *err)
{
	struct error why = ERROR_INIT;
	if (!t->no_ledger)
		collector_expect_ledger(t->backend, t->trace);
	if (collector_open(&t->collector, t->backend, err))
		return -1;
	/* The ledger is kept wherever it can be. */
	if (!t->no_ledger && collector_keep_ledger(t->collector, t->trace, &why)) {
		if (t->must_have_ledger) {
			error_set(err, EXIT_ENVIRONMENT, "no ledger can be kept: %s", why.text);
			return error_hint(err, "%s",
					  *why.hint ? why.hint
						    : "leave out --ledger and --trace, "
						      "or run as root with the bpf back end");
		}
		/* the other back ends say themselves what they do not see */
		if (collector_backend(t->collector) == BACKEND_BPF)
			t->ledger_missing = xstrdup(why.text);
	}
	interrupt_watch();
	if (!t->no_speed)
		open_speed(t);
	if (t->make_quiet && run_quiet_begin(&t->quiet, t->emp, err))
		return error_prefix(err, "time");
	return recorder_add_machine(&t->to, err);
}

static void describe_run(struct time_recording *t, size_t item, struct run *run)
{
	const struct time_command *c = &t->p->commands.items[item];
	const char *not_seen = collector_not_seen(t->collector);
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	*run = (struct run){ .name = xstrdup(c->name),
			     .command = xstrdup(c->text),
			     .shell = t->p->shell.count ? xstrdup(t->shell_name) : NULL,
			     .conditions = conditions_take(xstrdup(t->conditions)),
			     .backend = collector_backend(t->collector),
			     .planned = t->p->plan.runs,
			     .tags = recorded_text(t->tags) };
	strbuf_puts(&text, not_seen ? not_seen : "");
	if (t->ledger_missing)
		strbuf_printf(&text, "%sthe ledger (%s).", not_seen ? " Nor " : "",
			      t->ledger_missing);
	if (t->speed_missing)
		strbuf_printf(&text, "%s%s", text.length ? " " : "", t->speed_missing);
	run->not_seen = text.length ? strbuf_detach(&text) : NULL;
	for (size_t i = 0; c->combination != SIZE_MAX && i < t->p->space.count; i++) {
		const char *value = parameter_value(&t->p->space, c->combination, i);
		array_push(&run->parameters, (struct parameter){ xstrdup(t->p->space.items[i].name),
								 xstrdup(value) });
	}
	if (run->shell) {
		run->shell_et_ns = t->p->plan.shell.et_ns;
		memcpy(run->shell_pt_ns, t->p->plan.shell.pt_ns, sizeof run->shell_pt_ns);
	}
}

static int end_run(struct time_recording *t, size_t item, enum run_status status, struct error *err)
{
	struct run *run = &t->runs[item];
	if (!run->id || run->ended_at_ns)
		return 0;
	run->ended_at_ns = clock_realtime_ns();
	/* one that could not be started has nothing to keep */
	if (recorder_end(&t->to, run, status, t->stored[item], err))
		return -1;
	if (t->stored[item] && t->speed && lab_note_speeds(t->to.lab, run->id, &t->to.machine, err))
		return -1;
	return t->stored[item] ? t->ended(t->context, run, err) : 0;
}

static int on_begun(void *context, size_t item, struct error *err)
{
	struct time_recording *t = context;
	if (t->p->plan.order == ORDER_SEQUENTIAL && item > 0 &&
	    end_run(t, item - 1, RUN_COMPLETE, err))
		return -1;
	describe_run(t, item, &t->runs[item]);
	t->begun(t->context, &t->runs[item]);
	t->sum_ns = 0;
	t->summed = 0;
	return recorder_begin(&t->to, &t->runs[item], err);
}

static int on_executed(void *context, size_t item, struct execution *x, struct error *err)
{
	struct time_recording *t = context;
	enum grade g = execution_grade(x);
	t->sum_ns += (double)(g < GRADES ? x->pt_ns[g] : x->et_ns);
	t->summed++;
	if (lab_add_execution(t->to.lab, t->runs[item].id, x, err))
		return -1;
	t->stored[item] = true;
	return 0;
}

static void on_progress(void *context, size_t item, uint32_t done, uint32_t planned)
{
	struct time_recording *t = context;
	(void)item;
	t->progress(t->context, done, planned, t->summed ? t->sum_ns / (double)t->summed : NAN);
}

int time_recording_run(struct time_recording *t, struct error *err)
{
	const struct plan *plan = &t->p->plan;
	const struct plan_events events = {
		.context = t, .begun = on_begun, .executed = on_executed, .progress = on_progress
	};
	size_t at;
	t->runs = xcalloc(plan->count, sizeof *t->runs);
	t->stored = xcalloc(plan->count, sizeof *t->stored);
	/* orphans of a subject become tare's children, so that none escapes unseen */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* what the shell costs is measured first, where there is one */
	FREED word_list shell = { 0 };
	for (size_t i = 0; i < t->p->shell.count; i++)
		array_push(&shell, t->p->shell.items[i]);
	array_push(&shell, (char *)"-c");
	array_push(&shell, (char *)"");
	array_push(&shell, NULL);
	int failed = t->p->shell.count
			     ? shell_calibrate(t->collector, plan, shell.items,
					       SHELL_CALIBRATION_RUNS, &t->p->plan.shell, err)
			     : 0;
	if (failed)
		return -1;
	failed = plan_run(t->collector, plan, &events, &at, err);
	enum run_status bad = recorded_status(failed, err);
	for (size_t i = 0; i < plan->count; i++) {
		/* in rounds an interruption ends every run short of its count, an error only one */
		bool cut = failed &&
			   (i == at || (bad == RUN_INTERRUPTED && plan->order != ORDER_SEQUENTIAL));
		struct error ending = ERROR_INIT;
		if (end_run(t, i, cut ? bad : RUN_COMPLETE, failed ? &ending : err))
			failed = -1;
	}
	return failed;
}

void time_recording_close(struct time_recording *t)
{
	for (size_t i = 0; t->runs && i < t->p->plan.count; i++)
		run_release(&t->runs[i]);
	free(t->runs);
	free(t->stored);
	free(t->conditions);
	free(t->ledger_missing);
	free(t->speed_missing);
	speed_probe_close(t->speed);
	collector_close(t->collector);
	recorder_close(&t->to);
}

void time_plan_release(struct time_plan *p)
{
	for (size_t i = 0; i < p->commands.count; i++) {
		struct time_command *c = &p->commands.items[i];
		free(c->text);
		free(c->name);
		free(c->output);
		words_release(&c->argv);
		words_release(&c->setup);
		words_release(&c->prepare);
		words_release(&c->conclude);
		words_release(&c->cleanup);
	}
	array_release(&p->commands);
	words_release(&p->shell);
	array_release(&p->codes);
	parameter_space_release(&p->space);
	free(p->items);
}
