#include "run/record_duet.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/strbuf.h"

/* "new / old", or the reference and how many others. */
static char *command_of(const struct duet *d)
{
	struct strbuf text = { 0 };
	for (size_t i = 0; i < d->sides.count; i++)
		strbuf_printf(&text, "%s%s", i ? " | " : "", d->sides.items[i].command);
	return strbuf_detach(&text);
}

int duet_check_measure(const struct duet *d, enum duet_measure m, struct error *err)
{
	const char *missing = m == DUET_MEASURES ? NULL : duet_measure_missing(d, m);
	if (!missing)
		return 0;
	int code = m == DUET_TURN || m == DUET_ET ? EXIT_USAGE : EXIT_ENVIRONMENT;
	error_set(err, code, "duet: no comparison by --measure %s: %s", duet_measure_names[m],
		  missing);
	return m == DUET_TURN ? error_hint(err, "give --how freezer as well")
	       : m == DUET_ET ? error_hint(err, "give --how whole as well")
			      : -1;
}

static int on_begun(void *context, const struct duet *d, struct error *err)
{
	struct duet_recording *r = context;
	if (duet_check_measure(d, r->measure, err))
		return -1;
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

/* The duet has its parts and looks in memory anyway: what the lab lacks of them is stored together.
 */
static int add_rest(struct lab *lab, void *what, struct error *err)
{
	struct duet_recording *r = what;
	const struct duet *d = &r->duet;
	size_t parts = d->parts.count - r->parts_stored;
	if (parts &&
	    lab_add_duet_parts(lab, r->run.id, d->parts.items + r->parts_stored, parts, NULL, err))
		return -1;
	r->parts_stored = d->parts.count;
	for (; r->looks_stored < d->looks.count; r->looks_stored++)
		if (lab_add_duet_parts(lab, r->run.id, NULL, 0, &d->looks.items[r->looks_stored],
				       err))
			return -1;
	return 0;
}

static int store(struct duet_recording *r, struct error *err)
{
	return recorder_try(&r->to, add_rest, r, err) < 0 ? -1 : 0;
}

static int on_added(void *context, const struct duet *d, size_t count, struct error *err)
{
	struct duet_recording *r = context;
	r->stored |= count && d->parts.items[d->parts.count - count].pair > 0;
	return store(r, err);
}

static int on_looked(void *context, const struct duet *d, bool *done, struct error *err)
{
	struct duet_recording *r = context;
	duet_result_release(&r->result);
	duet_judge(d, r->measure, &r->result);
	r->looked = true;
	*done = r->result.done;
	return store(r, err);
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
	if (!r->p->shell.count)
		return 0;
	if (collector_open(&c, r->plan.backend, err))
		return -1;
	if (r->plan.ledger)
		collector_keep_ledger(c, false, &why);
	struct shell_cost cost;
	int failed = shell_calibrate(c, &r->p->plan, &r->p->shell, &cost, err);
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
	const char *counted = duet_is_count(r->measure) ? duet_measure_names[r->measure] : NULL;
	bool hardware = counters_hardware(counted ? err : NULL);
	if (counted && !hardware)
		return error_prefix(err, "duet: --measure %s", counted);
	/* unless they are asked for, a duet can do without */
	if (hardware &&
	    counting_open(&r->counting, "instructions,cycles", counted, counted ? err : NULL) &&
	    counted)
		return error_prefix(err, "duet");
	r->p->plan.execute.counters = r->counting;
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
	enum run_status status = recorded_status(failed, err);
	if (recorder_wait(&r->to, add_rest, r, failed ? &ending : err) ||
	    recorder_end(&r->to, &r->run, status, r->stored, failed ? &ending : err)) {
		/* who interrupted it is told what is lost */
		if (status == RUN_INTERRUPTED)
			*err = ending;
		failed = -1;
	}
	return failed;
}

void duet_recording_close(struct duet_recording *r)
{
	run_release(&r->run);
	duet_release(&r->duet);
	duet_result_release(&r->result);
	free(r->conditions);
	counters_close(r->counting);
	recorder_close(&r->to);
}
