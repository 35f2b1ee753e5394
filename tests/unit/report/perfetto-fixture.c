#include "perfetto-fixture.h"

#include <inttypes.h>
#include <string.h>

static uint32_t chance(struct fixture *f, uint32_t below)
{
	f->seed ^= f->seed << 13;
	f->seed ^= f->seed >> 17;
	f->seed ^= f->seed << 5;
	return f->seed % below;
}

static struct trace_event *add(struct fixture *f, enum trace_kind kind, int cpu,
			       const struct fixture_task *task)
{
	struct trace_event e = { .at_ns = f->now_ns, .kind = (uint8_t)kind, .cpu = (uint16_t)cpu };
	if (task) {
		e.tid = task->tid;
		e.tgid = task->tgid;
		e.flags = (uint8_t)task->flags;
		memcpy(e.comm, task->name, strlen(task->name) < 16 ? strlen(task->name) : 16);
	}
	array_push(&f->trace.events, e);
	return &f->trace.events.items[f->trace.events.count - 1];
}

static bool is_subject(const struct fixture_task *t)
{
	return t->flags & TRACE_IS_SUBJECT;
}

static void become(struct fixture *f, struct fixture_task *t, unsigned state)
{
	if (is_subject(t) || t->state == LEDGER_RUN)
		t->ns[t->state] += f->now_ns - t->since_ns;
	t->state = state;
	t->since_ns = f->now_ns;
}

static void leave(struct fixture *f, int cpu)
{
	int depth = --f->depth[cpu];
	struct trace_event *e = add(f, TRACE_LEAVE, cpu, NULL);
	e->a = f->stack[cpu][depth].cause;
	e->b = f->stack[cpu][depth].source;
	f->interrupts[depth]++;
	f->interrupt_ns[depth] += f->now_ns - f->stack[cpu][depth].since_ns;
}

static void switch_cpu(struct fixture *f, int cpu, int to, unsigned why)
{
	int from = f->running[cpu];
	while (f->depth[cpu])
		leave(f, cpu);
	struct trace_event *e = add(f, TRACE_SWITCH, cpu, to < 0 ? NULL : &f->tasks[to]);
	e->b = why;
	if (from >= 0) {
		struct fixture_task *t = &f->tasks[from];
		e->a = (uint32_t)t->tid;
		if (is_subject(t))
			e->flags |= TRACE_LEAVER_SUBJECT;
		f->busy_ns[cpu] += f->now_ns - t->since_ns;
		become(f, t, why < LEDGER_CAUSES ? why : LEDGER_SLEEP);
		t->cpu = -1;
		t->alive = why != TRACE_ENDED;
	}
	if (to >= 0) {
		become(f, &f->tasks[to], LEDGER_RUN);
		f->tasks[to].cpu = cpu;
	}
	f->running[cpu] = to;
}

static int pick(struct fixture *f, bool queued)
{
	int i = (int)chance(f, FIXTURE_TASKS);
	for (int n = 0; n < FIXTURE_TASKS; n++, i = (i + 1) % FIXTURE_TASKS) {
		const struct fixture_task *t = &f->tasks[i];
		if (t->alive && t->cpu < 0 && queued == (t->state == LEDGER_QUEUED))
			return i;
	}
	return -1;
}

static void schedule(struct fixture *f)
{
	int cpu = (int)chance(f, FIXTURE_CPUS), from = f->running[cpu], to = pick(f, true);
	if (from == to)
		return;
	static const unsigned reasons[] = { LEDGER_QUEUED, LEDGER_FUTEX, LEDGER_PIPE, LEDGER_IO,
					    LEDGER_TIMER,  LEDGER_LOCK,	 LEDGER_FAULT };
	unsigned why = LEDGER_QUEUED;
	if (from >= 0)
		why = is_subject(&f->tasks[from]) ? reasons[chance(f, 7)]
		      : chance(f, 2)		  ? LEDGER_SLEEP
						  : LEDGER_QUEUED;
	switch_cpu(f, cpu, to, why);
}

static void wake(struct fixture *f)
{
	int i = pick(f, false);
	if (i < 0)
		return;
	if (is_subject(&f->tasks[i])) {
		int cpu = (int)chance(f, FIXTURE_CPUS), by = f->running[cpu];
		add(f, TRACE_WAKEUP, cpu, &f->tasks[i])->a = by < 0 ? 0
								    : (uint32_t)f->tasks[by].tid;
	}
	become(f, &f->tasks[i], LEDGER_QUEUED);
}

static void interrupt(struct fixture *f)
{
	static const uint32_t kinds[] = { LEDGER_SOFTIRQ, LEDGER_IRQ, LEDGER_NMI };
	int cpu = (int)chance(f, FIXTURE_CPUS), depth = f->depth[cpu];
	if (depth == FIXTURE_DEPTH || (depth && chance(f, 2))) {
		leave(f, cpu);
		return;
	}
	f->stack[cpu][depth].cause = kinds[depth];
	f->stack[cpu][depth].source = 1 + chance(f, 2);
	f->stack[cpu][depth].since_ns = f->now_ns;
	f->depth[cpu]++;
	struct trace_event *e = add(f, TRACE_ENTER, cpu, NULL);
	e->a = f->stack[cpu][depth].cause;
	e->b = f->stack[cpu][depth].source;
}

/* Two requests that overlap. */
static void request(struct fixture *f)
{
	for (int i = 0; i < 4; i++) {
		const struct fixture_task *t = &f->tasks[i % 2];
		struct trace_event *e = add(f, i < 2 ? TRACE_IO_START : TRACE_IO_DONE, i % 2, t);
		e->a = 0x800010;
		e->b = 4096u << (i % 2);
		if (i % 2)
			e->flags |= TRACE_IS_WRITE;
		f->now_ns += 100;
	}
	f->requests += 2;
	f->request_ns += 400;
}

static void begin(struct fixture *f, int i)
{
	struct fixture_task *t = &f->tasks[i];
	add(f, TRACE_BEGIN, 0, t)->a = (uint32_t)f->tasks[0].tid;
	t->alive = t->known = true;
	t->since_ns = f->now_ns;
	t->state = t->cpu < 0 ? LEDGER_QUEUED : LEDGER_RUN;
}

/* Gives it a CPU, ends it there. */
static void end(struct fixture *f, int i)
{
	struct fixture_task *t = &f->tasks[i];
	if (t->cpu < 0) {
		if (t->state != LEDGER_QUEUED) {
			add(f, TRACE_WAKEUP, 1, t);
			become(f, t, LEDGER_QUEUED);
		}
		f->now_ns += 50;
		switch_cpu(f, 1, i, LEDGER_QUEUED);
		f->now_ns += 50;
	}
	add(f, TRACE_END, t->cpu, t);
	switch_cpu(f, t->cpu, -1, TRACE_ENDED);
}

void fixture_make(struct fixture *f, size_t steps)
{
	static const struct fixture_task tasks[FIXTURE_TASKS] = {
		{ 100, 100, "burn", TRACE_IS_SUBJECT, .cpu = -1 },
		{ 101, 100, "worker", TRACE_IS_SUBJECT, .cpu = -1 },
		{ 102, 102, "sh", TRACE_IS_SUBJECT, .cpu = -1 },
		{ 102, 102, "sort", TRACE_IS_SUBJECT, .cpu = -1 }, /* the same tid again */
		{ 50, 50, "postgres", 0, .cpu = -1 },
		{ 51, 50, "writer", 0, .cpu = -1 },
		{ 7, 7, "ksoftirqd/0", TRACE_IS_KERNEL, .cpu = -1 },
		{ 90, 90, "tare", TRACE_IS_SELF, .cpu = -1 },
	};
	static const struct trace_name names[] = { { LEDGER_IRQ, 1, "timer" },
						   { LEDGER_IRQ, 2, "virtio1-req.0" },
						   { LEDGER_SOFTIRQ, 1, "net_rx" },
						   { LEDGER_IO, 0x800010, "vda" } };
	*f = (struct fixture){ .now_ns = FIXTURE_BEGIN, .seed = 12345 };
	memcpy(f->tasks, tasks, sizeof tasks);
	f->trace.present = true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		array_push(&f->trace.names, names[i]);
	for (int i = 0; i < FIXTURE_CPUS; i++)
		f->running[i] = -1;
	/* tare has CPU 0 and the root CPU 1 before the first event */
	f->running[0] = 7;
	f->running[1] = 0;
	f->tasks[7].cpu = 0;
	f->tasks[0].cpu = 1;
	for (int i = 4; i < FIXTURE_TASKS; i++) {
		f->tasks[i].alive = true;
		f->tasks[i].since_ns = f->now_ns;
		f->tasks[i].state = i == 7 ? LEDGER_RUN : LEDGER_SLEEP;
	}
	begin(f, 0);
	for (size_t i = 0; i < steps; i++) {
		f->now_ns += 10 + chance(f, 5000);
		if (i == steps / 8)
			begin(f, 1);
		else if (i == steps / 4)
			begin(f, 2);
		else if (i == steps / 2)
			end(f, 2);
		else if (i == steps * 3 / 4)
			begin(f, 3);
		else if (chance(f, 3) == 0)
			wake(f);
		else if (chance(f, 3) == 0)
			interrupt(f);
		else if (chance(f, 20) == 0)
			request(f);
		else
			schedule(f);
	}
	end(f, 3);
	end(f, 1);
	end(f, 0);
	for (int cpu = 0; cpu < FIXTURE_CPUS; cpu++) {
		while (f->depth[cpu])
			leave(f, cpu);
		if (f->running[cpu] >= 0)
			switch_cpu(f, cpu, -1, LEDGER_SLEEP);
	}
}

void fixture_release(struct fixture *f)
{
	trace_release(&f->trace);
}

void fixture_print(const struct fixture *f, FILE *to)
{
	static const char *const kinds[] = { "softirq", "irq", "nmi" };
	fputs("{\"threads\":[", to);
	for (int i = 0; i < FIXTURE_TASKS; i++) {
		const struct fixture_task *t = &f->tasks[i];
		fprintf(to, "%s{\"tid\":%d,\"pid\":%d,\"name\":\"%s\",\"subject\":%s,\"ns\":{",
			i ? "," : "", t->tid, t->tgid, t->name, is_subject(t) ? "true" : "false");
		const char *comma = "";
		for (int c = 0; c < LEDGER_CAUSES; c++)
			if (t->ns[c]) {
				fprintf(to, "%s\"%s\":%" PRIu64, comma, ledger_causes[c].name,
					t->ns[c]);
				comma = ",";
			}
		fputs("}}", to);
	}
	fputs("],\"cpus\":[", to);
	for (int i = 0; i < FIXTURE_CPUS; i++)
		fprintf(to, "%s%" PRIu64, i ? "," : "", f->busy_ns[i]);
	fputs("],\"interrupts\":{", to);
	for (int i = 0; i < 3; i++)
		fprintf(to, "%s\"%s\":{\"count\":%" PRIu64 ",\"ns\":%" PRIu64 "}", i ? "," : "",
			kinds[i], f->interrupts[i], f->interrupt_ns[i]);
	fprintf(to, "},\"requests\":{\"count\":%" PRIu64 ",\"ns\":%" PRIu64 "}}\n", f->requests,
		f->request_ns);
}
