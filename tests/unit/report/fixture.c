#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double value_of(const struct fixture *f, size_t i, enum emp_measure m)
{
	const struct execution *x = &f->executions[i];
	if (m == EMP_USER)
		return f->result.user_share * value_of(f, i, EMP_PT_EXEC);
	if (m == EMP_SYSTEM)
		return (1 - f->result.user_share) * value_of(f, i, EMP_PT_EXEC);
	if (m == EMP_PT_STEADY)
		return value_of(f, i, EMP_PT_NET);
	if (emp_is_count(m))
		return NAN; /* none of its machines counts */
	uint64_t shell = m == EMP_ET ? f->run.shell_et_ns : f->run.shell_pt_ns[m - EMP_PT_NET];
	uint64_t ns = m == EMP_ET ? x->et_ns : x->pt_ns[m - EMP_PT_NET];
	return ns > shell ? (double)(ns - shell) : 0;
}

static void summaries(struct fixture *f, enum emp_measure m)
{
	double kept[FIXTURE_MOST], all[FIXTURE_MOST];
	size_t n = 0, n_all = 0;
	for (size_t i = 0; i < f->view.count; i++) {
		enum emp_rule rule = f->verdicts[i].rule;
		if (rule == EMP_KEPT)
			kept[n++] = value_of(f, i, m);
		if (rule == EMP_KEPT || rule == EMP_CUTOFF || rule == EMP_OUTSIDE)
			all[n_all++] = value_of(f, i, m);
	}
	f->result.kept[m] = f->result.unfiltered[m] = (struct summary){ 0 };
	if (f->result.present[m] && n)
		summarise(kept, n, &f->result.kept[m]);
	if (f->result.present[m] && n_all)
		summarise(all, n_all, &f->result.unfiltered[m]);
}

void fixture_judge(struct fixture *f)
{
	memset(f->result.dropped, 0, sizeof f->result.dropped);
	for (size_t i = 0; i < f->view.count; i++)
		f->result.dropped[f->verdicts[i].rule]++;
	for (enum emp_measure m = 0; m < EMP_MEASURES; m++)
		summaries(f, m);
	f->result.verdicts = f->verdicts;
	f->result.count = f->view.count;
}

static void add_process(struct execution *x, const char *name, enum role role, uint64_t exec_ns)
{
	struct process p = { .role = role,
			     .pid = 100 + (int32_t)x->processes.count,
			     .ppid = 1,
			     .threads = 1,
			     .kernel = !strncmp(name, "kworker", 7),
			     .started = role == ROLE_SUBJECT,
			     .ended = role == ROLE_SUBJECT,
			     .present = 1u << TASK_EXEC };
	p.value[TASK_EXEC] = exec_ns;
	snprintf(p.name, sizeof p.name, "%s", name);
	array_push(&x->processes, p);
}

static void fill_execution(struct execution *x, size_t i, double mean_ms)
{
	/* a fixed wobble of up to 1 % */
	static const int wobble[] = { 3, -5, 0, 9, -2, 4, -7, 1, -3, 6, 2, -1, -8 };
	double factor = 1 + 0.001 * wobble[i % 13];
	uint64_t pt = (uint64_t)(mean_ms * 1e6 * (1 + (factor - 1) / 10));
	x->number = i ? (uint32_t)i : 1;
	x->warmup = i == 0;
	x->started_at_ns = 1763197953123000000 + (int64_t)i * 2000000000;
	x->et_ns = (uint64_t)(mean_ms * 1.02e6 * factor);
	x->wait_ns = x->et_ns + 40000;
	x->tree_ns = x->et_ns;
	x->pt_ns[GRADE_NET] = pt - pt / 1000;
	x->pt_ns[GRADE_EXEC] = pt;
	x->pt_ns[GRADE_TICK] = pt / 4000000 * 4000000;
	x->user_ns = pt / 10 * 9;
	x->system_ns = pt - x->user_ns;
	x->totals.present = (1u << TASK_CUMULATIVE) - 1;
	x->totals.value[TASK_EXEC] = pt;
	x->totals.value[TASK_RUN_DELAY] = x->et_ns / 50;
	x->totals.value[TASK_NIVCSW] = 12;
	x->totals.value[TASK_MIN_FLT] = 345;
	x->totals.rss_peak_bytes = 12 * 1024 * 1024 + i * 4096;
	x->totals.processes = 3;
	x->totals.threads = 5;
	x->before.present = x->after.present = (1u << OVERALL_MEASURES) - 1;
	x->after.value[OVERALL_SWITCHES] = 1000 + i;
	add_process(x, "prog", ROLE_SUBJECT, pt);
	add_process(x, "kworker/0", ROLE_DAEMON, 1200000);
	add_process(x, "sshd", ROLE_DAEMON, 400000 + 1000 * i);
	add_process(x, "sshd", ROLE_DAEMON, 100000);
	add_process(x, "cron", ROLE_DAEMON, 30000);
	add_process(x, "idle", ROLE_DAEMON, 10);
	add_process(x, "tare", ROLE_SELF, 50000);
}

void fixture_init(struct fixture *f, const char *command, size_t n, double mean_ms)
{
	*f = (struct fixture){ 0 };
	f->run = (struct run){ .id = 7,
			       .invocation = 3,
			       .command = strdup(command),
			       .name = strdup(command),
			       .directory = strdup("/tmp"),
			       .conditions = conditions_take(strdup("{\"runs\": 10}")),
			       .version = strdup("0.1.0"),
			       .backend = BACKEND_BPF,
			       .status = RUN_COMPLETE,
			       .started_at_ns = 1763197953123000000,
			       .ended_at_ns = 1763197983123000000,
			       .planned = (uint32_t)n };
	machine_set(&f->machine, "cpu.model", "Test CPU");
	for (size_t i = 0; i <= n; i++) {
		fill_execution(&f->executions[i], i, mean_ms);
		f->verdicts[i].rule = i ? EMP_KEPT : EMP_WARMUP;
	}
	for (enum emp_measure m = 0; m < EMP_MEASURES; m++)
		f->result.present[m] = true;
	f->result.headline = f->result.lead = f->result.shown = EMP_PT_NET;
	f->result.user_share = 0.9;
	f->view = (struct run_view){ &f->run, f->executions, n + 1, &f->result, &f->machine };
	fixture_judge(f);
}

void fixture_drop(struct fixture *f, size_t i, enum emp_rule rule, const char *reason)
{
	f->verdicts[i] =
		(struct emp_verdict){ .rule = rule, .value_ns = 3, .low_ns = 1, .high_ns = 2 };
	snprintf(f->verdicts[i].reason, sizeof f->verdicts[i].reason, "%s", reason);
	fixture_judge(f);
}

void fixture_warn(struct fixture *f, const char *id, const char *text, const char *remedy)
{
	struct emp_warning w = { .id = id };
	snprintf(w.text, sizeof w.text, "%s", text);
	snprintf(w.remedy, sizeof w.remedy, "%s", remedy);
	array_push(&f->result.warnings, w);
}

void fixture_plain(struct fixture *f)
{
	f->run.backend = BACKEND_PLAIN;
	f->run.not_seen = strdup("daemons, interrupts and anything that is not the subject's.");
	f->result.headline = f->result.lead = f->result.shown = EMP_PT_TICK;
	f->result.present[EMP_PT_NET] = f->result.present[EMP_PT_EXEC] = false;
	f->result.present[EMP_USER] = f->result.present[EMP_SYSTEM] = false;
	f->result.user_share = NAN;
	for (size_t i = 0; i < f->view.count; i++) {
		struct execution *x = &f->executions[i];
		x->pt_ns[GRADE_NET] = x->pt_ns[GRADE_EXEC] = ABSENT_NS;
		x->user_ns = x->system_ns = ABSENT_NS;
		x->totals.present = 1u << TASK_USER | 1u << TASK_SYSTEM;
		x->before.present = x->after.present = 0;
		x->totals.processes = x->totals.threads = 0;
		x->totals.rss_peak_bytes = 0;
		x->ephemeral = -1;
		x->tree_ns = ABSENT_NS;
		array_release(&x->processes);
	}
	fixture_judge(f);
}

static void add_entry(struct ledger *l, enum ledger_cause cause, const char *name, int32_t pid,
		      uint64_t ns, uint64_t count)
{
	struct ledger_entry e = { .cause = cause, .pid = pid, .ns = ns, .count = count };
	snprintf(e.name, sizeof e.name, "%s", name);
	array_push(&l->entries, e);
	l->subject.count[cause] += count;
}

static void add_other(struct ledger *l, const char *name, int32_t pid, uint64_t ns,
		      uint64_t delayed)
{
	struct ledger_other o = { .pid = pid,
				  .self = !strcmp(name, "tare"),
				  .kernel = !strncmp(name, "kworker", 7),
				  .ns = ns,
				  .bursts = 12,
				  .longest_ns = ns / 8,
				  .delayed_ns = delayed };
	snprintf(o.name, sizeof o.name, "%s", name);
	array_push(&l->others, o);
}

static void add_thread(struct ledger *l, int32_t tid, int32_t tgid, const char *name, uint64_t life,
		       uint64_t run)
{
	struct ledger_thread t = { .tid = tid,
				   .tgid = tgid,
				   .begin_ns = l->begin_ns + (uint64_t)tid,
				   .end_ns = l->begin_ns + (uint64_t)tid + life };
	snprintf(t.name, sizeof t.name, "%s", name);
	t.account.ns[LEDGER_RUN] = run;
	t.account.ns[LEDGER_FUTEX] = life - run;
	struct ledger_entry e = { .thread = (uint32_t)l->threads.count,
				  .cause = LEDGER_FUTEX,
				  .name = "futex",
				  .ns = life - run };
	array_push(&l->threads, t);
	array_push(&l->details, e);
}

static void fill_ledger(struct execution *x, bool threads)
{
	struct ledger *l = &x->ledger;
	uint64_t et = x->et_ns, *wall = l->wall_ns;
	l->present = true;
	l->begin_ns = 1000000000;
	l->end_ns = l->begin_ns + et;
	wall[LEDGER_QUEUED] = et / 1000 * 19;
	wall[LEDGER_IRQ] = et / 1000 * 6;
	wall[LEDGER_STEAL] = et / 1000 * 4;
	wall[LEDGER_RUN] = et - wall[LEDGER_QUEUED] - wall[LEDGER_IRQ] - wall[LEDGER_STEAL];
	memcpy(l->subject.ns, wall, sizeof l->subject.ns);
	l->subject.tick_user_ns = 90;
	l->subject.tick_system_ns = 10;
	add_entry(l, LEDGER_RUN, "", 0, wall[LEDGER_RUN], 13);
	add_entry(l, LEDGER_QUEUED, "postgres", 4711, wall[LEDGER_QUEUED] / 10 * 9, 10);
	add_entry(l, LEDGER_QUEUED, "kworker/0:1", 42,
		  wall[LEDGER_QUEUED] - wall[LEDGER_QUEUED] / 10 * 9, 3);
	add_entry(l, LEDGER_IRQ, "timer", 0, wall[LEDGER_IRQ], 250);
	add_entry(l, LEDGER_STEAL, "", 0, wall[LEDGER_STEAL], 5);
	add_other(l, "postgres", 4711, et / 20, wall[LEDGER_QUEUED] / 10 * 9);
	add_other(l, "kworker/0:1", 42, et / 400, et / 600);
	add_other(l, "tare", 99, 50000, 0);
	array_push(&l->interrupts, (struct ledger_interrupt){ .cause = LEDGER_IRQ,
							      .name = "timer",
							      .count = 500,
							      .ns = 2 * wall[LEDGER_IRQ],
							      .subject_count = 250,
							      .subject_ns = wall[LEDGER_IRQ] });
	for (int e = 0; e < LEDGER_EVENTS; e++) {
		l->events[e] = 1000;
		l->event_ns[e] = 100;
	}
	l->subject_events = 1000;
	x->self_ns = 1200000;
	x->totals.threads = threads ? 6 : 1;
	if (!threads)
		return;
	l->subject.ns[LEDGER_FUTEX] = 3 * et;
	add_entry(l, LEDGER_FUTEX, "futex", 0, 3 * et, 99);
	add_thread(l, 101, 101, "prog", et, et / 2);
	add_thread(l, 102, 101, "worker", et / 2, et / 3);
	add_thread(l, 103, 101, "worker", et / 2, et / 4);
	add_thread(l, 104, 104, "helper", et / 5, et / 9);
	l->unlisted = 2;
	snprintf(l->not_seen, sizeof l->not_seen, "steal, on this kernel");
}

void fixture_ledger(struct fixture *f, bool threads)
{
	for (size_t i = 0; i < f->view.count; i++)
		fill_ledger(&f->executions[i], threads);
}

void fixture_disturb(struct fixture *f, size_t i, uint64_t ns)
{
	struct execution *x = &f->executions[i];
	x->et_ns += ns;
	x->ledger.wall_ns[LEDGER_QUEUED] += ns;
	x->ledger.subject.ns[LEDGER_QUEUED] += ns;
	add_entry(&x->ledger, LEDGER_QUEUED, "stress", 1234, ns, 12);
	add_other(&x->ledger, "stress", 1234, ns, ns);
	fixture_judge(f);
}

void fixture_parameter(struct fixture *f, const char *name, const char *value)
{
	array_push(&f->run.parameters, (struct parameter){ strdup(name), strdup(value) });
}

void fixture_release(struct fixture *f)
{
	for (size_t i = 0; i < f->view.count; i++)
		execution_release(&f->executions[i]);
	run_release(&f->run);
	machine_release(&f->machine);
	array_release(&f->result.warnings);
}
