/* What storing an execution costs: snapshots of this machine's tasks, read from /proc, are made
 * into processes and these go through lab_add_execution(). Prints the cost per execution (median
 * and worst), the bytes per execution and the cost of reading 10,000 of them back. Then the same of
 * a watch of a million bursts. Not a test: it judges nothing. */
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "lab/lab.h"

#define EXECUTIONS 10000
#define FRAMES 40

static void die(const struct error *err)
{
	fprintf(stderr, "bench-lab: %s\n", err->text);
	exit(err->code);
}

static bool read_task(int pid, struct task_record *t)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	char *stat = file_read(path);
	snprintf(path, sizeof path, "/proc/%d/schedstat", pid);
	char *sched = file_read(path);
	snprintf(path, sizeof path, "/proc/%d/status", pid);
	char *status = file_read(path);
	bool good = stat && sched && status;
	if (good) {
		unsigned long long v[40] = { 0 };
		char *at = strrchr(stat, ')') + 3;
		for (int i = 3; i < 40 && at; i++, at = strchr(at, ' '), at += at != NULL)
			v[i] = strtoull(at, NULL, 10);
		*t = (struct task_record){ .present = 0x7ffef, .tid = pid, .tgid = pid };
		t->at_ns = clock_monotonic_ns();
		t->start_ns = v[22] * 10000000 + (unsigned)pid * 7919u % 10000000;
		t->ppid = (int)v[4];
		t->value[TASK_MIN_FLT] = v[10];
		t->value[TASK_MAJ_FLT] = v[12];
		t->value[TASK_USER] = v[14] * 10000000;
		t->value[TASK_SYSTEM] = v[15] * 10000000;
		t->value[TASK_VM] = v[23];
		t->value[TASK_RSS] = v[24] * 4096;
		unsigned long long exec, delay;
		if (sscanf(sched, "%llu %llu", &exec, &delay) == 2) {
			t->value[TASK_EXEC] = exec;
			t->value[TASK_RUN_DELAY] = delay;
		}
		const char *vol = strstr(status, "\nvoluntary"), *non = strstr(status, "nonvol");
		t->value[TASK_NVCSW] = vol ? strtoull(strchr(vol, ':') + 1, NULL, 10) : 0;
		t->value[TASK_NIVCSW] = non ? strtoull(strchr(non, ':') + 1, NULL, 10) : 0;
		t->flags = TASK_IS_LEADER;
		char *name = strchr(stat, '(') + 1, *end = strrchr(stat, ')');
		memcpy(t->comm, name, (size_t)(end - name) < 16 ? (size_t)(end - name) : 15);
	}
	free(stat);
	free(sched);
	free(status);
	return good;
}

static void snapshot(struct image *image, size_t repeat)
{
	DIR *proc = opendir("/proc");
	image->begin_ns = clock_monotonic_ns();
	image->count = 0;
	for (struct dirent *e; proc && (e = readdir(proc));) {
		struct task_record t;
		if (atoi(e->d_name) <= 0 || !read_task(atoi(e->d_name), &t))
			continue;
		for (size_t i = 0; i < repeat; i++, t.tid += 100000, t.start_ns += 12345) {
			image->tasks = array_grow(image->tasks, &image->capacity, image->count + 1,
						  sizeof t);
			/* a BPF iterator takes about 0.5 us a task */
			t.at_ns = image->begin_ns + image->count * 500 + (t.at_ns * 31 + i) % 150;
			image->tasks[image->count++] = t;
		}
	}
	if (proc)
		closedir(proc);
	image->end_ns = clock_monotonic_ns();
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static off_t size_of(const char *path)
{
	struct stat st;
	return stat(path, &st) ? 0 : st.st_size;
}

/* As many threads as asked, each with its own details, and what a quiet machine does beside them:
 * with one thread and 8 details it is the ledger of `true`. */
static void make_ledger(struct ledger *l, uint32_t threads, uint32_t details)
{
	static const char *const names[] = { "", "timer", "rcu", "itself", "vda", "read" };
	l->present = true;
	l->begin_ns = clock_monotonic_ns();
	l->end_ns = l->begin_ns + 1000000;
	for (uint32_t i = 0; i < threads; i++) {
		struct ledger_thread t = { .tid = 4000 + (int32_t)i, .tgid = 4000, .name = "true" };
		t.start_ns = t.begin_ns = l->begin_ns + i;
		t.end_ns = l->end_ns;
		for (uint32_t c = 0; c < 8; c++) {
			t.account.ns[c * 2] = 100000 + i * 7 + c;
			t.account.count[c * 2] = c + 1;
		}
		ledger_account_add(&l->subject, &t.account);
		array_push(&l->threads, t);
	}
	memcpy(l->wall_ns, l->subject.ns, sizeof l->wall_ns);
	for (uint32_t i = 0; i < details; i++) {
		struct ledger_entry e = { i * threads / details, (enum ledger_cause)(i % 16) };
		snprintf(e.name, sizeof e.name, "%s", names[i % 6]);
		e.ns = 100000 + i;
		e.count = i % 9;
		array_push(&l->details, e);
		e.thread = 0;
		if (i < 8)
			array_push(&l->entries, e);
	}
	for (int i = 0; i < 6; i++) {
		array_push(&l->others, (struct ledger_other){ .pid = 100 + i,
							      .kernel = true,
							      .name = "rcu_preempt",
							      .ns = 20000,
							      .bursts = 2,
							      .longest_ns = 15000 });
		array_push(&l->interrupts, (struct ledger_interrupt){ LEDGER_IRQ, "virtio1-req.0",
								      4, 9000, 1, 2000 });
	}
	for (int e = 0; e < LEDGER_EVENTS; e++) {
		l->events[e] = 300;
		l->event_ns[e] = 250.5;
	}
}

static void add_many(struct lab *lab, int64_t run, const struct image *frames,
		     const struct ledger *ledger)
{
	struct error err = ERROR_INIT;
	uint64_t *cost = xcalloc(EXECUTIONS, sizeof *cost);
	for (uint32_t n = 0; n < EXECUTIONS; n++) {
		struct execution x = { .number = n + 1, .et_ns = 1000000 + n, .ephemeral = 0 };
		x.before = x.after = (struct overall){ .present = 0xfffff };
		for (int m = 0; m < OVERALL_MEASURES; m++)
			x.before.value[m] = x.after.value[m] = 123456u + n * 7;
		x.totals.present = 0xffff;
		x.tasks_before = frames[n % (FRAMES - 1)];
		x.tasks_after = frames[n % (FRAMES - 1) + 1];
		x.ledger = *ledger;
		processes_between(&x.tasks_before, &x.tasks_after, &x.exits, getpid(), &x);
		uint64_t begin = clock_monotonic_ns();
		if (lab_add_execution(lab, run, &x, &err))
			die(&err);
		cost[n] = clock_monotonic_ns() - begin;
		if (n == 0)
			printf("tasks %zu, processes that ran %zu%s\n", x.tasks_before.count,
			       x.processes.count, ledger->present ? ", with a ledger" : "");
		array_release(&x.processes);
	}
	uint64_t begin = clock_monotonic_ns();
	lab_end_run(lab, run, RUN_COMPLETE, &err);
	uint64_t end_run = clock_monotonic_ns() - begin;
	qsort(cost, EXECUTIONS, sizeof *cost, compare);
	printf("add: median %.1f us, 99%% %.1f us, worst %.1f us; end_run %.1f ms\n",
	       (double)cost[EXECUTIONS / 2] / 1e3, (double)cost[EXECUTIONS / 100 * 99] / 1e3,
	       (double)cost[EXECUTIONS - 1] / 1e3, (double)end_run / 1e6);
	free(cost);
}

static void get_many(struct lab *lab, int64_t run)
{
	struct error err = ERROR_INIT;
	for (int detail = LAB_ROWS; detail <= LAB_THREADS; detail++) {
		execution_list list = { 0 };
		uint64_t begin = clock_monotonic_ns();
		if (lab_get_executions(lab, run, (enum lab_detail)detail, &list, &err))
			die(&err);
		printf("get: detail %d, %zu executions, %.1f ms\n", detail, list.count,
		       (double)(clock_monotonic_ns() - begin) / 1e6);
		for (size_t i = 0; i < list.count; i++)
			execution_release(&list.items[i]);
		array_release(&list);
	}
}

static int64_t add_run(struct lab *lab)
{
	struct error err = ERROR_INIT;
	struct run run = { .name = xstrdup("bench"), .command = xstrdup("true") };
	if (lab_add_run(lab, &run, &err))
		die(&err);
	int64_t id = run.id;
	run_release(&run);
	return id;
}

/* One execution of a crowd. */
static void add_crowd(struct lab *lab)
{
	struct error err = ERROR_INIT;
	struct execution x = { .number = 1 };
	int64_t run = add_run(lab);
	make_ledger(&x.ledger, 5000, 30000);
	uint64_t begin = clock_monotonic_ns();
	if (lab_add_execution(lab, run, &x, &err))
		die(&err);
	printf("5,000 threads, 30,000 details\nadd: %.1f ms\n",
	       (double)(clock_monotonic_ns() - begin) / 1e6);
	execution_release(&x);
	get_many(lab, run);
}

/* ---- a watch ---- */

#define BURSTS 1000000
#define DAEMONS 60

static uint64_t below(uint64_t limit)
{
	static uint64_t state = 20261115;
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % limit;
}

/* Turns of one process are merged when they come within 10 ms: on a quiet machine few do. One
 * process in each chunk is new. */
static void make_bursts(struct bursts *b, uint64_t begin_ns, size_t count, uint64_t many_of_100)
{
	*b = (struct bursts){ .begin_ns = begin_ns, .end_ns = begin_ns, .cpus = 2 };
	for (int i = 0; i < DAEMONS; i++) {
		struct burst_process p = { .pid = 100 + i, .start_ns = (unsigned)i * 123456789u };
		if (i == DAEMONS - 1)
			p.start_ns = begin_ns;
		snprintf(p.name, sizeof p.name, "daemon-%d", i);
		array_push(&b->processes, p);
	}
	for (size_t i = 0; i < count; i++) {
		bool many = below(100) < many_of_100;
		struct burst x = { .begin_ns = b->end_ns += below(6000000), .turns = 1 };
		x.process = (uint32_t)(below(DAEMONS) * below(DAEMONS) / DAEMONS);
		x.cpu = (uint16_t)below(2);
		x.span_ns = x.busy_ns = 3000 + (below(60000) << below(6));
		if (many) {
			x.turns = (uint16_t)(2 + below(8));
			x.span_ns += below(10000000);
		}
		array_push(&b->bursts, x);
	}
}

static void watch(struct lab *lab, size_t in_chunk, uint64_t many_of_100)
{
	struct error err = ERROR_INIT;
	struct machine m = { 0 };
	int64_t machine, id;
	uint64_t at = 1000, wrote = 0;
	lab_watch_list rows = { 0 };
	bursts_list list = { 0 };
	machine_set(&m, "system.host", "bench");
	if (lab_add_machine(lab, &m, &machine, &err) || lab_begin_watch(lab, machine, &id, &err))
		die(&err);
	for (size_t i = 0; i < BURSTS / in_chunk; i++) {
		struct bursts b;
		make_bursts(&b, at, in_chunk, many_of_100);
		at = b.end_ns;
		uint64_t begin = clock_monotonic_ns();
		if (lab_add_bursts(lab, id, &b, UINT64_C(1) << 40, &err))
			die(&err);
		wrote += clock_monotonic_ns() - begin;
		bursts_release(&b);
	}
	uint64_t begin = clock_monotonic_ns();
	if (lab_get_bursts(lab, &m, id, 0, 0, &list, &err) || lab_list_watches(lab, &rows, &err))
		die(&err);
	printf("a watch, %d bursts, %zu a chunk, %" PRIu64
	       " %% of several turns: %.2f bytes per burst, add %.0f ms, get %.0f ms\n",
	       BURSTS, in_chunk, many_of_100, (double)rows.items[0].bytes / BURSTS,
	       (double)wrote / 1e6, (double)(clock_monotonic_ns() - begin) / 1e6);
	for (size_t i = 0; i < list.count; i++)
		bursts_release(&list.items[i]);
	array_release(&list);
	array_release(&rows);
	machine_release(&m);
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct lab *lab;
	char directory[] = "/tmp/bench-lab.XXXXXX", path[64];
	if (!mkdtemp(directory))
		return 1;
	snprintf(path, sizeof path, "%s/lab.db", directory);
	struct image frames[FRAMES] = { 0 };
	for (int i = 0; i < FRAMES; i++)
		snapshot(&frames[i], argc > 1 ? strtoul(argv[1], NULL, 10) : 1);
	if (lab_open(&lab, path, LAB_WRITE, &err))
		die(&err);
	struct ledger ledgers[2] = { 0 };
	off_t before = 0;
	make_ledger(&ledgers[1], 1, 8);
	for (int i = 0; i < 2; i++) {
		int64_t run = add_run(lab);
		add_many(lab, run, frames, &ledgers[i]);
		get_many(lab, run);
		lab_close(lab); /* what is in the -wal file goes into the lab */
		printf("%.0f bytes per execution\n", (double)(size_of(path) - before) / EXECUTIONS);
		before = size_of(path);
		if (lab_open(&lab, path, LAB_WRITE, &err))
			die(&err);
	}
	add_crowd(lab);
	watch(lab, 10000, 10);
	watch(lab, 10000, 70);
	watch(lab, 200, 10);
	lab_close(lab);
	if (argc > 2) {
		printf("%s\n", path);
		return 0;
	}
	unlink(path);
	rmdir(directory);
	return 0;
}
