#include "run/record_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/strbuf.h"

/* Watches the CPUs that the subjects may use, wherever a thread can. What it lacks is in the run's
 * not_seen. */
static void open_speed(struct time_recording *t)
{
	const struct launch *launch = &t->p->plan.launch;
	bool real_time = launch->policy == SCHED_FIFO || launch->policy == SCHED_RR;
	struct speed_options options = { .cpus = launch->cpus,
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

int counting_open(struct counters **out, const char *list, const char *counted, struct error *err)
{
	*out = NULL;
	if (list && strcmp(list, "none") == 0)
		return 0;
	if (counters_open(out, list, err))
		return error_prefix(err, "--counters");
	if (!counted || counters_have(*out, counted))
		return 0;
	counters_close(*out);
	*out = NULL;
	if (!counters_hardware(err))
		return error_prefix(err, "--measure %s", counted);
	FREED char *more = xprintf("%s%s%s:u", list ? list : "", list ? "," : "", counted);
	return counters_open(out, more, err) ? error_prefix(err, "--measure %s", counted) : 0;
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
	if (counting_open(&t->counting, t->counters, t->counted, err))
		return -1;
	t->p->plan.execute.counters = t->counting;
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
	const char *uncounted = counters_not_seen(t->counting);
	if (uncounted)
		strbuf_printf(&text, "%s%s", text.length ? " " : "", uncounted);
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

struct speeds_of {
	int64_t run;
	const struct machine *machine;
};

static int note_speeds(struct lab *lab, void *what, struct error *err)
{
	const struct speeds_of *of = what;
	return lab_note_speeds(lab, of->run, of->machine, err);
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
	struct speeds_of of = { run->id, &t->to.machine };
	if (t->stored[item] && t->speed && recorder_wait(&t->to, note_speeds, &of, err))
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
	plan_forget_times(&t->times);
	return recorder_begin(&t->to, &t->runs[item], err);
}

static int on_executed(void *context, size_t item, struct execution *x, struct error *err)
{
	struct time_recording *t = context;
	if (!x->warmup)
		plan_add_times(&t->p->plan, x, &t->times);
	if (recorder_add_execution(&t->to, t->runs[item].id, x, err))
		return -1;
	t->stored[item] = true;
	return 0;
}

static void on_progress(void *context, size_t item, uint32_t done, uint32_t planned)
{
	struct time_recording *t = context;
	(void)item;
	t->progress(t->context, done, planned, plan_mean(&t->p->plan, &t->times));
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
	if (t->p->shell.count &&
	    shell_calibrate(t->collector, plan, &t->p->shell, &t->p->plan.shell, err))
		return -1;
	int failed = plan_run(t->collector, plan, &events, &at, err);
	enum run_status bad = recorded_status(failed, err);
	for (size_t i = 0; i < plan->count; i++) {
		/* in rounds an interruption ends every run short of its count, an error only one */
		bool cut = failed &&
			   (i == at || (bad == RUN_INTERRUPTED && plan->order != ORDER_SEQUENTIAL));
		struct error ending = ERROR_INIT;
		if (end_run(t, i, cut ? bad : RUN_COMPLETE, failed ? &ending : err) == 0)
			continue;
		/* who interrupted it is told what is lost */
		if (failed && bad == RUN_INTERRUPTED && err->code == EXIT_INTERRUPTED)
			*err = ending;
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
	plan_forget_times(&t->times);
	speed_probe_close(t->speed);
	counters_close(t->counting);
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
