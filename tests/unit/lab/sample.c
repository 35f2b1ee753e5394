#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fixture.h"

void make_run(struct run *run, const char *name)
{
	*run = (struct run){ .name = xstrdup(name),
			     .command = xstrdup("sleep 1"),
			     .started_at_ns = clock_realtime_ns(),
			     .planned = 10 };
}

int64_t add_run(struct lab *lab, const char *name)
{
	struct run run;
	make_run(&run, name);
	ok(lab_add_run(lab, &run, &err));
	int64_t id = run.id;
	run_release(&run);
	return id;
}

void make_execution(struct execution *x, uint32_t number)
{
	*x = (struct execution){ .number = number, .outcome = OUTCOME_SIGNALLED, .status = 9 };
	x->started_at_ns = 1700000000123456789;
	x->et_ns = 1000 + number;
	x->wait_ns = 2000;
	x->tree_ns = ABSENT_NS;
	x->pt_ns[GRADE_NET] = ABSENT_NS;
	x->pt_ns[GRADE_EXEC] = 900 + number;
	x->pt_ns[GRADE_TICK] = 0;
	x->user_ns = 1;
	x->system_ns = ABSENT_NS;
	x->self_ns = 7;
	x->left_behind = 3;
	x->ended = UINT32_MAX;
	x->lost = UINT64_MAX - 1;
	x->ephemeral = number % 2 ? -1 : 5;
	x->totals = (struct totals){ .present = 0x7fff5,
				     .rss_peak_bytes = UINT64_C(1) << 40,
				     .processes = 2,
				     .threads = 9 };
	for (int m = 0; m < TASK_CUMULATIVE; m++)
		if (x->totals.present >> m & 1)
			x->totals.value[m] = m == 4 ? UINT64_MAX : m == 2 ? 0 : random_value();
	x->before.present = 0xfffff & ~4u;
	x->after.present = 0;
	for (int m = 0; m < OVERALL_MEASURES; m++)
		x->before.value[m] = m == 2 ? 0 : random_value();
	for (int i = 0; i < 5; i++) {
		struct process p = { .role = (enum role)(i % 3),
				     .kernel = i & 1,
				     .started = i & 2,
				     .ended = i & 4,
				     .pid = 100 + i,
				     .ppid = -1,
				     .start_ns = random_value(),
				     .threads = 3,
				     .present = i ? 0x7ffffu : 0,
				     .rss_peak_bytes = 4096 };
		for (int m = 0; i && m < TASK_CUMULATIVE; m++)
			p.value[m] = random_value();
		snprintf(p.name, sizeof p.name, i ? "0123456789abcde%d" : "it's \"%d\"", i);
		array_push(&x->processes, p);
	}
	array_push(&x->counters, (struct counter){ "cycles", 30, 20, 10, 500, 500 });
	array_push(&x->counters, (struct counter){ "cpu/event=0x3c/:u", -1, -1, -1, 500, 0 });
}

void same_execution(const struct execution *a, const struct execution *b)
{
	struct execution x = *a, y = *b;
	assert_int_equal(a->counters.count, b->counters.count);
	for (size_t i = 0; i < a->counters.count; i++)
		assert_memory_equal(&a->counters.items[i], &b->counters.items[i],
				    sizeof *a->counters.items);
	assert_int_equal(a->processes.count, b->processes.count);
	for (size_t i = 0; i < a->processes.count; i++) {
		const struct process *p = &a->processes.items[i], *q = &b->processes.items[i];
		assert_string_equal(p->name, q->name);
		assert_int_equal(p->role, q->role);
		assert_true(p->kernel == q->kernel && p->started == q->started &&
			    p->ended == q->ended);
		assert_true(p->pid == q->pid && p->ppid == q->ppid && p->threads == q->threads);
		assert_int_equal(p->start_ns, q->start_ns);
		assert_int_equal(p->present, q->present);
		assert_int_equal(p->rss_peak_bytes, q->rss_peak_bytes);
		assert_memory_equal(p->value, q->value, sizeof p->value);
	}
	/* the rest is plain numbers; padding is zero in both */
	memset(&x.processes, 0, sizeof x - offsetof(struct execution, processes));
	memset(&y.processes, 0, sizeof y - offsetof(struct execution, processes));
	assert_memory_equal(&x.totals, &y.totals, sizeof x.totals);
	assert_memory_equal(&x.before, &y.before, sizeof x.before);
	assert_memory_equal(&x.after, &y.after, sizeof x.after);
	assert_true(x.id == y.id && x.number == y.number && x.warmup == y.warmup);
	assert_true(x.outcome == y.outcome && x.status == y.status);
	assert_true(x.started_at_ns == y.started_at_ns && x.et_ns == y.et_ns);
	assert_true(x.wait_ns == y.wait_ns && x.tree_ns == y.tree_ns);
	assert_memory_equal(x.pt_ns, y.pt_ns, sizeof x.pt_ns);
	assert_true(x.user_ns == y.user_ns && x.system_ns == y.system_ns);
	assert_true(x.left_behind == y.left_behind && x.ended == y.ended && x.lost == y.lost);
	assert_true(x.ephemeral == y.ephemeral && x.self_ns == y.self_ns);
}

void release_executions(execution_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		execution_release(&list->items[i]);
	array_release(list);
}

size_t count_executions(struct lab *lab, int64_t run, enum lab_detail detail)
{
	execution_list list = { 0 };
	ok(lab_get_executions(lab, run, detail, &list, &err));
	size_t count = list.count;
	release_executions(&list);
	return count;
}
