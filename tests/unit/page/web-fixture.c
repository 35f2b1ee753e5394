#include "web-fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../report/noise-fixture.h"
#include "stats/random.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* About normal, of sigma 1. */
static double bell(struct random *r)
{
	return (random_unit(r) + random_unit(r) + random_unit(r) + random_unit(r) - 2) * sqrt(3);
}

/* ---- executions ---- */

struct sample {
	struct run run;
	struct execution *executions;
	struct emp_result result;
	struct machine machine;
	struct run_view view;
};

static void add_process(struct execution *x, enum role role, const char *name, int32_t pid,
			uint64_t ns)
{
	struct process p = { .role = role, .pid = pid, .present = 1u << TASK_EXEC };
	p.value[TASK_EXEC] = ns;
	snprintf(p.name, sizeof p.name, "%s", name);
	array_push(&x->processes, p);
}

static void add_entry(struct ledger *l, enum ledger_cause cause, const char *name, int32_t pid,
		      uint64_t ns)
{
	struct ledger_entry e = { .cause = cause, .pid = pid, .ns = ns, .count = 2 };
	snprintf(e.name, sizeof e.name, "%s", name);
	array_push(&l->entries, e);
}

static void add_other(struct ledger *l, const char *name, int32_t pid, uint64_t ns,
		      uint64_t delayed_ns, uint64_t io_delayed_ns)
{
	struct ledger_other o = { .pid = pid,
				  .ns = ns,
				  .bursts = 3,
				  .longest_ns = ns / 2,
				  .delayed_ns = delayed_ns,
				  .io_delayed_ns = io_delayed_ns };
	snprintf(o.name, sizeof o.name, "%s", name);
	array_push(&l->others, o);
}

static void add_interrupt(struct ledger *l, enum ledger_cause cause, const char *name, uint64_t ns,
			  uint64_t subject_ns)
{
	struct ledger_interrupt i = {
		.cause = cause, .count = 14, .ns = ns, .subject_count = 4, .subject_ns = subject_ns
	};
	snprintf(i.name, sizeof i.name, "%s", name);
	array_push(&l->interrupts, i);
}

static void fill_execution(struct execution *x, size_t i, size_t count, double mean,
			   struct random *r)
{
	size_t period = count / 12 > 7 ? count / 12 : 7;
	x->warmup = i < 2;
	x->number = (uint32_t)(x->warmup ? i + 1 : i - 1);
	x->status = count > 60 && i == 40;
	bool disturbed = !x->warmup && x->number % period == 5;
	struct ledger *l = &x->ledger;
	uint64_t *wall = l->wall_ns;
	wall[LEDGER_RUN] = (uint64_t)(mean * (1 + 0.004 * bell(r)) * (x->warmup ? 1.3 : 1));
	wall[LEDGER_IRQ] = (uint64_t)(mean * 0.001 * (1 + random_unit(r)));
	wall[LEDGER_SOFTIRQ] = (uint64_t)(mean * 0.0006 * (1 + random_unit(r)));
	wall[LEDGER_QUEUED] = (uint64_t)(mean * (disturbed ? 0.25 + 0.1 * random_unit(r)
							   : 0.0008 * random_unit(r)));
	wall[LEDGER_WAKING] = (uint64_t)(mean * 0.0003 * random_unit(r));
	wall[LEDGER_IO] = x->number % 3 ? 0 : (uint64_t)(mean * 0.002 * random_unit(r));
	wall[LEDGER_UNSEEN] = (uint64_t)(mean * 0.0001);
	for (size_t c = 0; c < LEDGER_CAUSES; c++)
		x->et_ns += l->subject.ns[c] = wall[c];
	l->present = true;
	l->begin_ns = 1000000000;
	l->end_ns = l->begin_ns + x->et_ns;
	x->wait_ns = x->tree_ns = x->et_ns;
	x->pt_ns[GRADE_NET] = wall[LEDGER_RUN];
	x->pt_ns[GRADE_EXEC] = wall[LEDGER_RUN] + wall[LEDGER_IRQ] + wall[LEDGER_SOFTIRQ];
	x->pt_ns[GRADE_TICK] = ABSENT_NS;
	x->user_ns = x->pt_ns[GRADE_EXEC] / 50 * 49;
	x->system_ns = x->pt_ns[GRADE_EXEC] - x->user_ns;
	x->totals.rss_peak_bytes = 1800000 + i % 7 * 4096;
	uint64_t queued = wall[LEDGER_QUEUED];
	add_process(x, ROLE_SUBJECT, "inc", 4711, x->pt_ns[GRADE_EXEC]);
	add_process(x, ROLE_DAEMON, "cron", 812, disturbed ? queued : 9000);
	add_process(x, ROLE_DAEMON, "postgres", 900, 40000);
	add_process(x, ROLE_SELF, "tare", 4000, 90000);
	add_entry(l, LEDGER_QUEUED, "cron", 812, queued);
	add_entry(l, LEDGER_IRQ, "local timer", 0, wall[LEDGER_IRQ]);
	add_entry(l, LEDGER_SOFTIRQ, "timer", 0, wall[LEDGER_SOFTIRQ]);
	add_entry(l, LEDGER_IO, "vda", 0, wall[LEDGER_IO]);
	add_other(l, "cron", 812, 2 * queued, queued, 0);
	add_other(l, "postgres", 900, 40000, 0, 7000);
	add_other(l, "kworker/0:1", 12, 15000, 1000, 0);
	add_interrupt(l, LEDGER_IRQ, "local timer", 42000, 12000);
	add_interrupt(l, LEDGER_SOFTIRQ, "net_rx", 9000, 0);
}

static void sample_make(struct sample *s, int64_t id, const char *name, size_t count, double mean)
{
	static const struct cutoff cutoffs[] = { { .daemon = "cron", .cutoff_ns = 500000 } };
	const struct emp_options options = { .cutoffs = cutoffs, .cutoff_count = COUNT(cutoffs) };
	struct random r = { (uint64_t)id };
	int64_t at = 1763197953123000000;
	*s = (struct sample){ .run = { .id = id,
				       .name = strdup(name),
				       .command = strdup("inc --loops 7"),
				       .conditions = conditions_take(strdup("{\"runs\": 400}")),
				       .version = strdup("0.1.0"),
				       .backend = BACKEND_BPF,
				       .status = RUN_COMPLETE,
				       .started_at_ns = at,
				       .planned = (uint32_t)count } };
	machine_set(&s->machine, "system.host", "testhost");
	machine_set(&s->machine, "cpu.model", "A CPU");
	machine_set(&s->machine, "kernel.release", "6.18");
	s->executions = calloc(count + 2, sizeof *s->executions);
	for (size_t i = 0; i < count + 2; i++) {
		struct execution *x = &s->executions[i];
		fill_execution(x, i, count, mean, &r);
		x->started_at_ns = at;
		at += (int64_t)x->et_ns + 300000;
	}
	s->run.ended_at_ns = at;
	emp_judge(&s->run, s->executions, count + 2, &options, &s->result);
	s->view = (struct run_view){ &s->run, s->executions, count + 2, &s->result, &s->machine };
}

static void sample_release(struct sample *s)
{
	for (size_t i = 0; i < s->view.count; i++)
		execution_release(&s->executions[i]);
	free(s->executions);
	emp_result_release(&s->result);
	machine_release(&s->machine);
	run_release(&s->run);
}

/* ---- traces ---- */

static void add_event(struct trace *t, unsigned cpu, uint64_t at, enum trace_kind kind, int32_t tid,
		      uint32_t a, uint32_t b)
{
	const char *name = tid == 812	 ? "cron"
			   : tid == 900	 ? "postgres"
			   : tid == 4000 ? "tare"
					 : "inc";
	bool subject = tid == 4711 || tid == 4712, left = a == 4711 || a == 4712;
	unsigned flags = subject ? TRACE_IS_SUBJECT : tid == 4000 ? TRACE_IS_SELF : 0;
	struct trace_event e = { .at_ns = at,
				 .kind = (uint8_t)kind,
				 .cpu = (uint16_t)cpu,
				 .tid = tid,
				 .tgid = subject ? 4711 : tid,
				 .a = a,
				 .b = b };
	if (kind == TRACE_SWITCH && left)
		flags |= TRACE_LEAVER_SUBJECT;
	e.flags = (uint8_t)flags;
	if (tid)
		snprintf(e.comm, sizeof e.comm, "%s", name);
	array_push(&t->events, e);
}

/* CPU 0: the first thread, which cron comes between, and ticks. CPU 1: postgres, tare, an NMI, and
 * the second thread, which waits for the first and then for a device. */
static bool load_trace(void *context, const struct execution *x, struct trace *into)
{
	static const struct trace_name names[] = { { LEDGER_IRQ, 1, "local timer" },
						   { LEDGER_SOFTIRQ, 2, "timer" },
						   { LEDGER_NMI, 3, "perf" } };
	uint64_t begin = x->ledger.begin_ns, et = x->et_ns, end = begin + et;
	(void)context;
	if (x->number % 3 && x->ledger.wall_ns[LEDGER_QUEUED] < et / 10)
		return false;
	into->present = true;
	for (size_t i = 0; i < COUNT(names); i++)
		array_push(&into->names, names[i]);
	for (int32_t tid = 4711; tid <= 4712; tid++)
		add_event(into, (unsigned)tid - 4711, begin, TRACE_BEGIN, tid, 1, 0);
	for (uint64_t at = begin, k = 0; at < end; k++) {
		uint64_t until = at + et / 12 < end ? at + et / 12 : end;
		add_event(into, 0, at, TRACE_SWITCH, 4711, k ? 812 : 0, LEDGER_SLEEP);
		for (uint64_t tick = at + 20000; tick + 5000 < until; tick += et / 60) {
			uint32_t cause = tick % 3 ? LEDGER_IRQ : LEDGER_SOFTIRQ;
			add_event(into, 0, tick, TRACE_ENTER, 0, cause, tick % 3 ? 1 : 2);
			add_event(into, 0, tick + 3000, TRACE_LEAVE, 0, cause, tick % 3 ? 1 : 2);
		}
		if (until < end)
			add_event(into, 0, until, TRACE_SWITCH, 812, 4711, LEDGER_QUEUED);
		else
			add_event(into, 0, end, TRACE_SWITCH, 0, 4711, TRACE_ENDED);
		at = until < end ? until + et / 30 : end;
	}
	add_event(into, 1, begin, TRACE_SWITCH, 4712, 0, LEDGER_SLEEP);
	add_event(into, 1, begin + et / 50, TRACE_SWITCH, 900, 4712, LEDGER_FUTEX);
	add_event(into, 1, begin + et / 100 * 40, TRACE_SWITCH, 4000, 900, LEDGER_SLEEP);
	add_event(into, 1, begin + et / 10, TRACE_ENTER, 0, LEDGER_NMI, 3);
	add_event(into, 1, begin + et / 10 + 9000, TRACE_LEAVE, 0, LEDGER_NMI, 3);
	add_event(into, 1, begin + et / 100 * 60, TRACE_WAKEUP, 4712, 4711, 0);
	add_event(into, 1, begin + et / 100 * 60, TRACE_SWITCH, 4712, 4000, LEDGER_SLEEP);
	add_event(into, 1, begin + et / 100 * 90, TRACE_SWITCH, 0, 4712, LEDGER_IO);
	return true;
}

struct page *web_run(size_t count)
{
	static const struct page_traces traces = { load_trace, NULL };
	struct page *p = page_new("run 12", false);
	struct sample s;
	sample_make(&s, 12, "inc 12", count, count > 10000 ? 2e6 : 12e6);
	page_add_time(p, &s.view, 1, &traces);
	sample_release(&s);
	return p;
}

struct page *web_runs(void)
{
	static const struct {
		double mean;
		const char *length;
	} runs[] = {
		{ 12e6, "12ms" }, { 11.96e6, "11.96ms" }, { 120e6, "120ms" }, { 1.2e9, "1.2s" }
	};
	struct page *p = page_new("four runs", false);
	struct page_time_comparison list[COUNT(runs)] = { 0 };
	char sentences[COUNT(runs)][96], name[32];
	struct summary first = { 0 };
	for (size_t k = 0; k < COUNT(runs); k++) {
		struct sample s;
		snprintf(name, sizeof name, "inc of length %zu", k + 1);
		sample_make(&s, (int64_t)k + 1, name, 120, runs[k].mean);
		struct parameter size = { strdup("length"), strdup(runs[k].length) };
		array_push(&s.run.parameters, size);
		page_add_time(p, &s.view, COUNT(runs), NULL);
		const struct summary *kept = &s.result.kept[EMP_PT_NET];
		list[k].section = k;
		if (k) {
			emp_compare_with(&first, kept, 0, 1, &list[k].result);
			snprintf(sentences[k], sizeof sentences[k],
				 "%.31s took %.2f times as long as the first", name,
				 list[k].result.ratio);
			list[k].sentence = sentences[k];
		} else {
			first = *kept;
		}
		sample_release(&s);
	}
	page_compare_times(p, 0, EMP_PT_NET, "", list + 1, COUNT(runs) - 1);
	return p;
}

/* ---- noise ---- */

struct noise_kind {
	enum noise_class class;
	const char *name;
	double base_rate, run_rate; /* per s of a CPU, in either run */
	double centre_ns, decades;  /* of its lengths, and how far they spread */
};

static const struct noise_kind noise_kinds[] = {
	{ NOISE_IRQ, "timer", 250, 218, 9000, 0.08 },
	{ NOISE_SOFTIRQ, "softirq:rcu", 60, 20, 2500, 0.15 },
	{ NOISE_THREAD, "kworker/1", 12, 40, 30000, 0.2 },
	{ NOISE_THREAD, "systemd-journal", 3, 3, 400000, 0.3 },
	{ NOISE_THREAD, "updatedb", 0, 4, 60000, 0.1 },
	{ NOISE_WORK, "work:vmstat_update", 5, 0, 4000, 0.1 },
	{ NOISE_STEAL, NULL, 2, 2, 1500000, 0.25 },
	{ NOISE_UNEXPLAINED, NULL, 90, 90, 400, 0.15 },
	{ NOISE_HOST, NULL, 40, 40, 16000, 0.05 },
};

struct noise_event {
	uint64_t at_ns;
	const struct noise_kind *kind;
};

static int by_time(const void *a, const void *b)
{
	const struct noise_event *x = a, *y = b;
	return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

/* From 4 to 6 s the sibling is busy; nothing is known of the 9th second. */
static void fill_speeds(struct noise_cpu *c)
{
	struct random r = { 7 + c->cpu };
	for (uint64_t ms = 0; ms < 10040; ms += 10) {
		double slow = 1 + 0.01 * bell(&r), busy = c->cpu && ms / 2000 == 2 ? 1.3 : 1;
		struct speed_sample s = { .ns = { (float)(630 * slow), (float)(1070 * slow * busy),
						  (float)(455 * slow * busy),
						  (float)(2000 * slow * slow) } };
		if (ms / 1000 != 8)
			noise_speed_add(&c->speeds, ms * 1000000, &s);
	}
}

static void fill_noise(struct noise_fixture *f, bool second)
{
	struct random r = { second ? 5 : 3 };
	noise_fixture_empty(f, 2);
	f->run.id = second ? 2 : 1;
	free(f->run.name);
	f->run.name = strdup("noise of CPUs 0-1");
	for (size_t cpu = 0; cpu < 2; cpu++) {
		struct noise_event events[8192];
		size_t count = 0;
		for (size_t k = 0; k < COUNT(noise_kinds); k++) {
			const struct noise_kind *kind = &noise_kinds[k];
			double rate = second ? kind->run_rate : kind->base_rate;
			for (size_t i = 0; i < (size_t)(10 * rate * (cpu ? 1.3 : 1)); i++)
				events[count++] =
					(struct noise_event){ random_below(&r, 10) * 1004000000 +
								      random_below(&r, 999000000),
							      kind };
		}
		qsort(events, count, sizeof *events, by_time);
		for (size_t i = 0; i < count; i++) {
			const struct noise_kind *kind = events[i].kind;
			double ns = kind->centre_ns * pow(10, bell(&r) * kind->decades / 2);
			struct noise_piece pieces[2] = { { NOISE_IRQ, "timer", 9000 } };
			bool tick = kind->class == NOISE_THREAD;
			pieces[tick] = (struct noise_piece){ kind->class, kind->name,
							     ns < 110 ? 110 : (uint64_t)ns };
			noise_fixture_detour(f, cpu, events[i].at_ns, pieces, 1 + tick);
		}
		fill_speeds(&f->noise.cpus.items[cpu]);
	}
}

struct page *web_noises(void)
{
	static struct noise_fixture base, run;
	struct jitter_diff d = { 0 };
	struct error none = ERROR_INIT;
	struct page *p = page_new("noise", false);
	fill_noise(&base, false);
	fill_noise(&run, true);
	if (jitter_compare(&base.noise, &run.noise, &d, &none))
		abort();
	page_add_noise(p, &base.view, NULL, NULL);
	page_add_noise(p, &run.view, &base.view, &d);
	page_compare_noise(p, 0, 1, &base.view, &run.view, &d);
	jitter_diff_release(&d);
	noise_fixture_release(&base);
	noise_fixture_release(&run);
	return p;
}
