#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../report/fixture.h"
#include "../report/study-fixture.h"

const char *const page_fixture_hostile[] = {
	"</script><script>alert(1)</script>",	    "<!--<script>",
	"\"quoted\" 'and' `that` \\u003c \\",	    "\xe2\x80\xaeright to left\xe2\x80\xac",
	"control \x01\x02\x1b[31m\n\ttab",	    "not UTF-8 \xff\xfe\xc0\x80",
	"]]> &lt; &amp; \xe2\x80\xa8 \xe2\x80\xa9", NULL,
};

/* ---- traces ---- */

static void add_event(struct trace *t, uint64_t at_ns, enum trace_kind kind, int32_t tid,
		      unsigned flags, uint32_t a, uint32_t b)
{
	struct trace_event e = { .at_ns = at_ns,
				 .kind = (uint8_t)kind,
				 .flags = (uint8_t)flags,
				 .tid = tid,
				 .tgid = tid,
				 .a = a,
				 .b = b };
	snprintf(e.comm, sizeof e.comm, "%s", tid == 100 ? "prog" : tid ? "post</gres" : "");
	array_push(&t->events, e);
}

/* prog runs, is interrupted, waits for postgres, runs again. */
static bool load_trace(void *context, const struct execution *x, struct trace *into)
{
	uint64_t at = x->ledger.begin_ns;
	(void)context;
	into->present = true;
	add_event(into, at, TRACE_BEGIN, 100, TRACE_IS_SUBJECT, 1, 0);
	add_event(into, at, TRACE_SWITCH, 100, TRACE_IS_SUBJECT, 0, LEDGER_SLEEP);
	add_event(into, at + 1000, TRACE_ENTER, 0, 0, LEDGER_IRQ, 7);
	add_event(into, at + 3000, TRACE_LEAVE, 0, 0, LEDGER_IRQ, 7);
	add_event(into, at + 9000, TRACE_SWITCH, 50, TRACE_LEAVER_SUBJECT, 100, LEDGER_FUTEX);
	add_event(into, at + 15000, TRACE_WAKEUP, 100, TRACE_IS_SUBJECT, 50, 0);
	add_event(into, at + 16000, TRACE_SWITCH, 100, TRACE_IS_SUBJECT, 50, LEDGER_SLEEP);
	add_event(into, at + x->et_ns, TRACE_SWITCH, 0, TRACE_LEAVER_SUBJECT, 100, TRACE_ENDED);
	return true;
}

/* ---- pages ---- */

static void fill(struct fixture f[4])
{
	fixture_init(&f[0], "./prog --size 10", 12, 1000);
	fixture_drop(&f[0], 4, EMP_OUTSIDE, "process time 1009.3 ms, outside 998.1 to 1006.2 ms");
	f[0].result.outside = (struct emp_bounds){ true, 998.1e6, 1006.2e6 };
	fixture_drop(&f[0], 5, EMP_CUTOFF, "cron ran 562 ms, above its cutoff of 281 ms");
	snprintf(f[0].verdicts[5].daemon, sizeof f[0].verdicts[5].daemon, "cron");
	fixture_ledger(&f[0], false);
	fixture_disturb(&f[0], 7, 61200000);
	fixture_warn(&f[0], "drift", "the elapsed times rise", "Let the machine settle.");
	fixture_parameter(&f[0], "size", "10");
	fixture_init(&f[1], "./prog --size 20", 12, 1905);
	f[1].run.id = 8;
	f[1].run.shell = strdup("/bin/sh");
	f[1].run.shell_et_ns = 1234567;
	f[1].run.shell_pt_ns[GRADE_NET] = 800000;
	fixture_judge(&f[1]);
	fixture_ledger(&f[1], true);
	f[1].executions[3].ledger.present = false;
	fixture_init(&f[2], "./prog --fail", 3, 0.5);
	f[2].run.id = 9;
	for (size_t i = 1; i <= 3; i++) {
		f[2].executions[i].status = 1;
		fixture_drop(&f[2], i, EMP_FAILED, "exited with 1");
	}
	fixture_plain(&f[2]);
	f[2].run.status = RUN_FAILED;
	fixture_init(&f[3], "./prog --interrupted", 0, 1);
	f[3].run.id = 0;
	f[3].run.status = RUN_INTERRUPTED;
}

static struct page *make_time(void)
{
	static const struct page_traces traces = { load_trace, NULL };
	static struct fixture f[4];
	fill(f);
	struct page *p = page_new("four runs", false);
	for (size_t i = 0; i < 4; i++)
		page_add_time(p, &f[i].view, 4, i ? NULL : &traces);
	const struct page_time_comparison c = {
		.section = 1,
		.result = { 10, 12, 1, 1, 1.9, 1.89, 1.91, 0.00001, "Welch", 0, true },
		.sentence = "the second is slower",
	};
	page_compare_times(p, 0, EMP_PT_NET, "why", &c, 1);
	for (size_t i = 0; i < 4; i++)
		fixture_release(&f[i]);
	return p;
}

/* The same bytes again and again: 10 kB of them. */
static char *much_of(const char *text)
{
	struct strbuf out = { 0 };
	while (out.length < 10240)
		strbuf_puts(&out, text);
	return strbuf_detach(&out);
}

/* As much of it as there is room for. */
static void set_name(char *into, size_t size, const char *name)
{
	snprintf(into, size, "%.*s", (int)size - 1, name);
}

static void name_all(struct execution *x, const char *name)
{
	for (size_t i = 0; i < x->processes.count; i++)
		set_name(x->processes.items[i].name, sizeof x->processes.items[i].name, name);
	for (size_t i = 0; i < x->ledger.entries.count; i++)
		set_name(x->ledger.entries.items[i].name, sizeof x->ledger.entries.items[i].name,
			 name);
	for (size_t i = 0; i < x->ledger.interrupts.count; i++)
		set_name(x->ledger.interrupts.items[i].name,
			 sizeof x->ledger.interrupts.items[i].name, name);
}

static struct page *make_hostile(void)
{
	static struct fixture f;
	struct page *p = page_new(page_fixture_hostile[0], false);
	for (size_t i = 0; page_fixture_hostile[i]; i++) {
		const char *name = page_fixture_hostile[i];
		char *command = much_of(name);
		fixture_init(&f, command, 3, 10);
		fixture_ledger(&f, false);
		fixture_drop(&f, 2, EMP_OUTSIDE, name);
		fixture_warn(&f, "drift", name, name);
		fixture_parameter(&f, name, name);
		f.run.id = (int64_t)i + 1;
		f.run.tags = strdup(name);
		f.run.not_seen = strdup(name);
		for (size_t k = 0; k < f.view.count; k++)
			name_all(&f.executions[k], name);
		machine_set(&f.machine, "system.host", name);
		page_add_time(p, &f.view, 1, NULL);
		fixture_release(&f);
		free(command);
	}
	return p;
}

static struct page *make_study(const char *which)
{
	struct study_fixture f;
	struct page_samples samples[STUDY_LENGTHS] = { 0 };
	if (!study_fixture_make(&f, which))
		return NULL;
	struct page *p = page_new("daemons", false);
	for (int l = 0; l < STUDY_LENGTHS; l++)
		if (f.runs[l].samples.count)
			samples[l] = (struct page_samples){ &f.runs[l], f.is_l[l] };
	page_add_study(p, &f.study, f.machine.facts.count ? &f.machine : NULL, samples);
	study_fixture_release(&f);
	return p;
}

struct page *page_fixture_make(const char *which)
{
	if (strcmp(which, "time") == 0)
		return make_time();
	if (strcmp(which, "hostile") == 0)
		return make_hostile();
	return make_study(which);
}

/* ---- many executions ---- */

static uint64_t chance(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (*seed >> 33) % below;
}

static void add_process(struct execution *x, enum role role, const char *name, int32_t pid,
			uint64_t ns)
{
	struct process p = { .role = role, .pid = pid, .present = 1u << TASK_EXEC };
	p.value[TASK_EXEC] = ns;
	snprintf(p.name, sizeof p.name, "%s", name);
	array_push(&x->processes, p);
}

static void fill_ledger(struct execution *x, uint64_t *seed)
{
	static const enum ledger_cause others[] = { LEDGER_IRQ,	   LEDGER_SOFTIRQ, LEDGER_STEAL,
						    LEDGER_QUEUED, LEDGER_IO,	   LEDGER_IO_OTHER,
						    LEDGER_FUTEX,  LEDGER_PIPE,	   LEDGER_WAKING };
	struct ledger *l = &x->ledger;
	uint64_t left = x->et_ns;
	l->present = true;
	l->end_ns = x->et_ns;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		uint64_t ns = chance(seed, left / 20);
		struct ledger_entry e = { .cause = others[i], .pid = 40, .ns = ns, .count = 3 };
		snprintf(e.name, sizeof e.name, "source %u", (unsigned)chance(seed, 200));
		array_push(&l->entries, e);
		l->wall_ns[others[i]] = ns;
		left -= ns;
	}
	l->wall_ns[LEDGER_RUN] = left;
	memcpy(l->subject.ns, l->wall_ns, sizeof l->subject.ns);
}

void page_fixture_big(struct page_fixture_big *b, size_t count)
{
	uint64_t seed = 1;
	*b = (struct page_fixture_big){ .run = { .id = 1,
						 .name = strdup("many"),
						 .command = strdup("./many"),
						 .backend = BACKEND_BPF,
						 .status = RUN_COMPLETE,
						 .started_at_ns = 1763197953123000000 } };
	b->executions = xcalloc(count, sizeof *b->executions);
	for (size_t i = 0; i < count; i++) {
		struct execution *x = &b->executions[i];
		uint64_t pt = 11000000 + chance(&seed, 300000);
		x->number = (uint32_t)i + 1;
		x->started_at_ns = b->run.started_at_ns + (int64_t)i * 15123456;
		x->et_ns = pt + 4000000 + chance(&seed, 300000) +
			   (i % 100 ? 0 : 1000000 + chance(&seed, 90000000));
		x->pt_ns[GRADE_EXEC] = pt + (i % 33 ? 0 : 3000000);
		x->pt_ns[GRADE_NET] = x->pt_ns[GRADE_EXEC] - 100000;
		x->pt_ns[GRADE_TICK] = pt / 4000000 * 4000000;
		x->user_ns = x->system_ns = ABSENT_NS;
		x->totals.rss_peak_bytes = 12345678 + chance(&seed, 1000000);
		add_process(x, ROLE_SUBJECT, "many", 4711, pt);
		for (int k = 0; k < 5; k++)
			add_process(x, ROLE_DAEMON, k % 2 ? "sshd" : "kworker/0:1", 100 + k,
				    chance(&seed, 100000));
		fill_ledger(x, &seed);
	}
	const struct emp_options options = { 0 };
	emp_judge(&b->run, b->executions, count, &options, &b->result);
	b->view = (struct run_view){ &b->run, b->executions, count, &b->result, NULL };
}

void page_fixture_big_release(struct page_fixture_big *b)
{
	for (size_t i = 0; i < b->view.count; i++)
		execution_release(&b->executions[i]);
	xfree(b->executions);
	emp_result_release(&b->result);
	run_release(&b->run);
}
