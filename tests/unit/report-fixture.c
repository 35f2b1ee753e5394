#include "report-fixture.h"

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
		if (rule == EMP_KEPT || rule == EMP_OUTSIDE)
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
			       .study = 3,
			       .command = strdup(command),
			       .name = strdup(command),
			       .directory = strdup("/tmp"),
			       .conditions = strdup("{\"runs\": 10}"),
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
	f->result.headline = EMP_PT_NET;
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
	f->result.headline = EMP_PT_TICK;
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
