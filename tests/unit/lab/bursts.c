#include "bursts.h"

#include <stdio.h>
#include <string.h>

#include "fixture.h"

uint64_t random_below(uint64_t limit)
{
	return random_number() % limit;
}

int64_t begin_watch(struct lab *lab, int64_t machine)
{
	int64_t watch = 0;
	ok(lab_begin_watch(lab, machine, &watch, &err));
	assert_true(watch > 0);
	return watch;
}

void stretch(struct bursts *b, uint64_t begin_ns, uint64_t length_ns)
{
	*b = (struct bursts){ .begin_ns = begin_ns,
			      .end_ns = begin_ns + length_ns,
			      .realtime_ns = EPOCH + (int64_t)begin_ns,
			      .cpus = 4 };
}

void add_process(struct bursts *b, int32_t pid, const char *name)
{
	struct burst_process p = { .pid = pid, .start_ns = (uint64_t)pid * 1000 };
	snprintf(p.name, sizeof p.name, "%s", name);
	p.kernel = pid % 2;
	array_push(&b->processes, p);
}

void add_burst(struct bursts *b, uint64_t begin_ns, uint64_t span_ns, uint32_t process)
{
	array_push(&b->bursts, ((struct burst){ begin_ns, span_ns, span_ns / 2, process, 1, 2 }));
}

void random_bursts(struct bursts *b, size_t processes, size_t bursts)
{
	stretch(b, random_number(), random_below(100) * SECOND);
	b->cpus = 1 + (uint32_t)random_below(UINT16_MAX + 1);
	b->lost = random_value();
	b->realtime_ns = (int64_t)random_number();
	for (size_t i = 0; i < processes; i++) {
		struct burst_process p = { .pid = (int32_t)random_number() };
		p.start_ns = random_value();
		random_name(p.name, sizeof p.name);
		p.kernel = random_below(2);
		p.own = random_below(2);
		array_push(&b->processes, p);
	}
	for (size_t i = 0; i < bursts; i++) {
		struct burst x = { .begin_ns = random_value() };
		x.span_ns = random_value();
		if (x.span_ns > UINT64_MAX - x.begin_ns)
			x.span_ns = UINT64_MAX - x.begin_ns;
		x.busy_ns = random_below(4) ? x.span_ns - x.span_ns / (1 + random_below(9))
					    : x.span_ns;
		x.process = (uint32_t)random_below(processes);
		x.cpu = (uint16_t)random_below(b->cpus);
		x.turns = (uint16_t)random_value();
		array_push(&b->bursts, x);
	}
}

static uint64_t random_length(double mean)
{
	/* a sum of uniform ones, in place of a logarithm */
	uint64_t all = 0;
	for (int i = 0; i < 4; i++)
		all += random_below((uint64_t)mean / 2 + 1);
	return all;
}

void usual_bursts(struct bursts *b, uint64_t begin_ns, size_t count, double step_ns)
{
	stretch(b, begin_ns, 0);
	for (int32_t i = 0; i < 40; i++) {
		char name[16];
		snprintf(name, sizeof name, "daemon-%d", i);
		add_process(b, 300 + i * 7, name);
	}
	uint64_t at = begin_ns;
	for (size_t i = 0; i < count; i++) {
		at += random_length(step_ns);
		uint64_t a = random_below(40), c = random_below(40);
		struct burst x = { .begin_ns = at, .process = (uint32_t)(a * c / 40), .turns = 1 };
		x.cpu = (uint16_t)random_below(2);
		x.span_ns = x.busy_ns = 2000 + random_length(60000);
		if (random_below(4) == 0) {
			x.turns = (uint16_t)(2 + random_below(6));
			x.span_ns += random_length(3e6);
		}
		array_push(&b->bursts, x);
	}
	b->end_ns = at + SECOND / 100;
}

void same_bursts(const struct bursts *a, const struct bursts *b)
{
	assert_int_equal(a->begin_ns, b->begin_ns);
	assert_int_equal(a->end_ns, b->end_ns);
	assert_int_equal(a->realtime_ns, b->realtime_ns);
	assert_int_equal(a->cpus, b->cpus);
	assert_int_equal(a->lost, b->lost);
	assert_int_equal(a->processes.count, b->processes.count);
	for (size_t i = 0; i < a->processes.count; i++) {
		const struct burst_process *p = &a->processes.items[i], *q = &b->processes.items[i];
		assert_true(p->pid == q->pid && p->start_ns == q->start_ns);
		assert_true(p->kernel == q->kernel && p->own == q->own);
		assert_string_equal(p->name, q->name);
	}
	assert_int_equal(a->bursts.count, b->bursts.count);
	if (a->bursts.count)
		assert_memory_equal(a->bursts.items, b->bursts.items,
				    a->bursts.count * sizeof *a->bursts.items);
}

void release_bursts(bursts_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		bursts_release(&list->items[i]);
	array_release(list);
}

bursts_list get_bursts(struct lab *lab, const struct machine *m, int64_t watch, int64_t since,
		       int64_t until)
{
	bursts_list list = { 0 };
	ok(lab_get_bursts(lab, m, watch, since, until, &list, &err));
	return list;
}

void put_stretch(struct lab *lab, int64_t watch, uint64_t begin_ns, uint64_t length_ns)
{
	struct bursts b;
	stretch(&b, begin_ns, length_ns);
	add_process(&b, 10, "cron");
	add_burst(&b, begin_ns + length_ns / 2, 5000, 0);
	b.lost = 1;
	ok(lab_add_bursts(lab, watch, &b, 0, &err));
	bursts_release(&b);
}
