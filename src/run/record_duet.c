#include "run/record_duet.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/strbuf.h"

#define SHELL_CALIBRATION_RUNS 30

/* "new / old", or the reference and how many others. */
static char *command_of(const struct duet *d)
{
	struct strbuf text = { 0 };
	for (size_t i = 0; i < d->sides.count; i++)
		strbuf_printf(&text, "%s%s", i ? " | " : "", d->sides.items[i].command);
	return strbuf_detach(&text);
}

static int on_begun(void *context, const struct duet *d, struct error *err)
{
	struct duet_recording *r = context;
	r->run = (struct run){ .kind = SUBJECT_DUET,
			       .name = xstrdup(r->name),
			       .command = command_of(d),
			       .shell = r->p->shell.count ? xstrdup(r->shell_name) : NULL,
			       .conditions = conditions_take(xstrdup(r->conditions)),
			       .backend = d->backend,
			       .not_seen = recorded_text(d->lacks),
			       .tags = recorded_text(r->tags),
			       .shell_et_ns = d->shell_et_ns };
	memcpy(r->run.shell_pt_ns, d->shell_pt_ns, sizeof r->run.shell_pt_ns);
	if (recorder_begin(&r->to, &r->run, err) || lab_add_duet(r->to.lab, r->run.id, d, err))
		return -1;
	return 0;
}

static int on_added(void *context, const struct duet *d, size_t count, struct error *err)
{
	struct duet_recording *r = context;
	size_t at = d->parts.count - count;
	if (lab_add_duet_parts(r->to.lab, r->run.id, d->parts.items + at, count, NULL, err))
		return -1;
	r->stored |= d->parts.items[at].pair > 0;
	return 0;
}

static int on_looked(void *context, const struct duet *d, bool *done, struct error *err)
{
	struct duet_recording *r = context;
	duet_result_release(&r->result);
	duet_judge(d, r->measure, &r->result);
	r->looked = true;
	*done = r->result.done;
	return lab_add_duet_parts(r->to.lab, r->run.id, NULL, 0,
				  &d->looks.items[d->looks.count - 1], err);
}

static void on_progress(void *context, uint32_t pairs, uint64_t elapsed_ns)
{
	struct duet_recording *r = context;
	r->progress(r->context, pairs, elapsed_ns, r->looked ? &r->result : NULL);
}

/* What the shell costs is measured first, where there is one. */
static int measure_shell(struct duet_recording *r, struct error *err)
{
	struct collector *c = NULL;
	struct error why = ERROR_INIT;
	FREED word_list shell = { 0 };
	if (!r->p->shell.count)
		return 0;
	for (size_t i = 0; i < r->p->shell.count; i++)
		array_push(&shell, r->p->shell.items[i]);
	array_push(&shell, (char *)"-c");
	array_push(&shell, (char *)"");
	array_push(&shell, NULL);
	if (collector_open(&c, r->plan.backend, err))
		return -1;
	if (r->plan.ledger)
		collector_keep_ledger(c, false, &why);
	struct shell_cost cost;
	int failed =
		shell_calibrate(c, &r->p->plan, shell.items, SHELL_CALIBRATION_RUNS, &cost, err);
	collector_close(c);
	if (failed)
		return -1;
	r->duet.shell_et_ns = cost.et_ns;
	for (int g = 0; g < GRADES; g++)
		r->duet.shell_pt_ns[g] = cost.pt_ns[g] == ABSENT_NS ? 0 : cost.pt_ns[g];
	return 0;
}

int duet_recording_run(struct duet_recording *r, struct error *err)
{
	const struct duet_events events = { .context = r,
					    .begun = on_begun,
					    .added = on_added,
					    .looked = on_looked,
					    .progress = on_progress };
	size_t side;
	const struct plan *plan = &r->p->plan;
	interrupt_watch();
	if (recorder_add_machine(&r->to, err) || measure_shell(r, err))
		return -1;
	r->duet.ignore_failure = plan->ignore_failure;
	for (size_t i = 0; i < plan->expected_count; i++)
		array_push(&r->duet.expected_codes, plan->expected_codes[i]);
	r->plan.plan = plan;
	int failed = duet_run(&r->plan, &r->duet, &events, &side, err);
	if (!r->run.id)
		return failed;
	struct error ending = ERROR_INIT;
	if (recorder_end(&r->to, &r->run, recorded_status(failed, err), r->stored,
			 failed ? &ending : err))
		failed = -1;
	return failed;
}

void duet_recording_close(struct duet_recording *r)
{
	run_release(&r->run);
	duet_release(&r->duet);
	duet_result_release(&r->result);
	free(r->conditions);
	recorder_close(&r->to);
}
