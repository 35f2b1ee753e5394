/* A lab with what is heavy for a page: a run of so many executions, each with its processes and a
 * ledger, and a profile of so many distinct stacks. `bench-page-lab LAB EXECUTIONS STACKS`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab.h"

#define MS UINT64_C(1000000)
#define CHUNK 1000 /* executions in one transaction */
#define FUNCTIONS 4000
#define DEEPEST 40

static uint64_t seed = 20261116;

static uint32_t below(uint32_t limit)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) % limit);
}

static void check(int failed, const struct error *err)
{
	if (!failed)
		return;
	fprintf(stderr, "bench-page-lab: %s\n", err->text);
	exit(err->code);
}

static void add_process(struct execution *x, enum role role, const char *name, uint64_t ns)
{
	struct process p = { .role = role, .pid = 100 + (int32_t)x->processes.count, .threads = 1 };
	p.present = UINT64_C(1) << TASK_EXEC;
	p.value[TASK_EXEC] = ns;
	snprintf(p.name, sizeof(p.name), "%s", name);
	array_push(&x->processes, p);
}

static void add_entry(struct ledger *l, enum ledger_cause cause, const char *name, uint64_t ns)
{
	struct ledger_entry e = { .cause = cause, .ns = ns, .count = 1 };
	snprintf(e.name, sizeof(e.name), "%s", name);
	l->wall_ns[cause] = l->subject.ns[cause] = ns;
	array_push(&l->entries, e);
}

/* About 10 ms, every 50th with a daemon in it. */
static void make_execution(struct execution *x, uint32_t number)
{
	uint64_t pt = 9 * MS + below(400000), queued = number % 50 ? below(20000) : 2 * MS;
	uint64_t irq = 5000 + below(9000), waking = below(30000);
	*x = (struct execution){ .number = number, .outcome = OUTCOME_EXITED };
	x->started_at_ns = 1763000000 * (int64_t)1000000000 + (int64_t)number * 12000000;
	x->et_ns = x->wait_ns = x->tree_ns = pt + queued + irq + waking;
	x->pt_ns[GRADE_NET] = pt;
	x->pt_ns[GRADE_EXEC] = pt + irq;
	x->pt_ns[GRADE_TICK] = pt / (4 * MS) * 4 * MS;
	x->user_ns = x->system_ns = x->self_ns = ABSENT_NS;
	x->totals = (struct totals){ .rss_peak_bytes = 3 << 20, .processes = 1, .threads = 1 };
	add_process(x, ROLE_SUBJECT, "subject", pt);
	add_process(x, ROLE_DAEMON, number % 50 ? "kworker" : "updatedb", queued);
	x->ledger.present = x->ledger.net = true;
	x->ledger.begin_ns = MS;
	x->ledger.end_ns = MS + x->et_ns;
	add_entry(&x->ledger, LEDGER_RUN, "", pt);
	add_entry(&x->ledger, LEDGER_QUEUED, number % 50 ? "kworker" : "updatedb", queued);
	add_entry(&x->ledger, LEDGER_IRQ, "timer", irq);
	add_entry(&x->ledger, LEDGER_WAKING, "", waking);
}

static void make_executions(struct lab *lab, uint32_t count)
{
	struct error err = ERROR_INIT;
	struct run run = { .kind = SUBJECT_COMMAND,
			   .name = (char *)"many",
			   .command = (char *)"subject",
			   .backend = BACKEND_BPF };
	struct execution *list = xcalloc(CHUNK, sizeof(*list));
	run.started_at_ns = 1763000000 * (int64_t)1000000000;
	check(lab_add_run(lab, &run, &err), &err);
	for (uint32_t done = 0; done < count;) {
		size_t n = 0;
		for (; n < CHUNK && done < count; n++)
			make_execution(&list[n], ++done);
		check(lab_add_executions(lab, run.id, list, n, &err), &err);
		while (n)
			execution_release(&list[--n]);
	}
	check(lab_end_run(lab, run.id, RUN_COMPLETE, &err), &err);
	xfree(list);
}

static uint32_t add_function(struct profile *p, uint32_t number)
{
	char text[64];
	snprintf(text, sizeof(text), "/usr/lib/lib%u.so", number % 40);
	struct profile_object o = { .path = text, .inode = 1000 + number % 40 };
	uint32_t object = profile_add_object(p, &o);
	uint32_t at = profile_add_location(p, object, 0x1000 + (uint64_t)number * 64);
	if (p->locations.items[at].frames)
		return at;
	snprintf(text, sizeof(text), "some_function_of_middling_length_%u", number);
	struct profile_function f = { .object = object, .name = text, .size = 64, .line = 20 };
	f.address = 0x1000 + (uint64_t)number * 64;
	struct profile_frame frame = { .function = profile_add_function(p, &f), .line = 21 };
	profile_set_frames(p, at, f.address, &frame, 1);
	return at;
}

/* A walk through a graph of calls: each function calls three others, so that stacks share their
 * outer part as real ones do. */
static uint32_t add_stack(struct profile *p)
{
	uint32_t links[DEEPEST], depth = 10 + below(DEEPEST - 10), function = below(8);
	for (uint32_t i = 0; i < depth; i++) {
		links[depth - 1 - i] = add_function(p, function);
		uint32_t choice = below(10) < 7 ? 0 : 1 + below(2);
		function = (function * 7919u + choice * 104729u + 13) % FUNCTIONS;
	}
	return profile_add_stack(p, links, depth, 0, STACK_COMPLETE);
}

static void make_profile(struct lab *lab, uint32_t stacks)
{
	struct error err = ERROR_INIT;
	struct run run = { .kind = SUBJECT_SYSTEM, .name = (char *)"stacks" };
	struct profile p = { .hz = 999, .cpus = 2, .mode = PROFILE_CLOCK };
	struct profile_slice slice = { .begin_ns = 1, .end_ns = 100000 * MS };
	p.stacks = STACKS_EH_FRAME;
	uint32_t app = profile_add_app(&p, "server", PROFILE_NONE);
	struct profile_instance i = { .app = app, .pid = 1000, .comm = "server" };
	uint32_t thread = profile_add_thread(&p, profile_add_instance(&p, &i), 1000, "server");
	while (p.stack_list.count < stacks) {
		uint32_t n = 1 + below(4);
		profile_add_sample(&p, 0, thread, add_stack(&p), n);
		slice.samples += n;
	}
	slice.user = slice.samples;
	array_push(&p.slices, slice);
	check(lab_add_run(lab, &run, &err), &err);
	check(lab_add_slices(lab, run.id, &p, &err), &err);
	check(lab_end_run(lab, run.id, RUN_COMPLETE, &err), &err);
	profile_release(&p);
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct lab *lab;
	if (argc != 4)
		return 2;
	check(lab_open(&lab, argv[1], LAB_WRITE, &err), &err);
	make_executions(lab, (uint32_t)strtoul(argv[2], NULL, 10));
	make_profile(lab, (uint32_t)strtoul(argv[3], NULL, 10));
	lab_close(lab);
	return 0;
}
