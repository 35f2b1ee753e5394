/* Runs a command with its ledger and prints one JSON object per execution: what the ledger-*
 * scripts are made of.
 *
 *	bench-ledger [-n REPEATS] [-c CPU] [-f PRIORITY] [-i FILE] COMMAND [ARGUMENT...]
 *
 * -c pins the command; -f makes it SCHED_FIFO; -i appends /proc/interrupts and /proc/softirqs to
 *FILE, right before and right after each execution.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../tests/kernel/closure.h"
#include "base/clock.h"
#include "base/cpus.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "measure/execute.h"

static void print_text(const char *key, const char *text)
{
	printf("\"%s\":\"", key);
	for (; *text; text++)
		if (*text == '"' || *text == '\\' || !isprint((unsigned char)*text))
			printf("\\u%04x", (unsigned char)*text);
		else
			putchar(*text);
	printf("\"");
}

static void print_number(const char *key, uint64_t value)
{
	printf("\"%s\":%llu,", key, (unsigned long long)value);
}

static void print_causes(const char *key, const uint64_t ns[LEDGER_CAUSES])
{
	printf("\"%s\":{", key);
	for (int c = 0; c < LEDGER_CAUSES; c++)
		printf("%s\"%s\":%llu", c ? "," : "", ledger_causes[c].name,
		       (unsigned long long)ns[c]);
	printf("},");
}

static void print_threads(const struct ledger *l)
{
	printf("\"threads\":[");
	for (size_t i = 0; i < l->threads.count; i++) {
		const struct ledger_thread *t = &l->threads.items[i];
		printf("%s{", i ? "," : "");
		print_number("tid", (uint64_t)t->tid);
		print_number("begin_ns", t->begin_ns);
		print_number("end_ns", t->end_ns);
		print_causes("causes", t->account.ns);
		print_text("name", t->name);
		printf("}");
	}
	printf("],");
}

static void print_entries(const struct ledger *l)
{
	printf("\"entries\":[");
	for (size_t i = 0; i < l->entries.count; i++) {
		const struct ledger_entry *e = &l->entries.items[i];
		printf("%s{", i ? "," : "");
		print_number("pid", (uint64_t)e->pid);
		print_number("ns", e->ns);
		print_number("count", e->count);
		printf("\"cause\":\"%s\",", ledger_causes[e->cause].name);
		print_text("name", e->name);
		printf("}");
	}
	printf("],\"interrupts\":[");
	for (size_t i = 0; i < l->interrupts.count; i++) {
		const struct ledger_interrupt *it = &l->interrupts.items[i];
		printf("%s{", i ? "," : "");
		print_number("ns", it->ns);
		print_number("count", it->count);
		print_number("subject_count", it->subject_count);
		printf("\"cause\":\"%s\",", ledger_causes[it->cause].name);
		print_text("name", it->name);
		printf("}");
	}
	printf("],");
}

static void print_cost(const struct ledger *l)
{
	printf("\"events\":{");
	for (int e = 0; e < LEDGER_EVENTS; e++)
		printf("%s\"%s\":{\"count\":%llu,\"ns\":%.1f}", e ? "," : "", ledger_event_names[e],
		       (unsigned long long)l->events[e], l->event_ns[e]);
	printf("},");
	print_number("cost_ns", (uint64_t)ledger_cost_ns(l));
	print_number("subject_cost_ns", (uint64_t)ledger_subject_cost_ns(l));
}

static void print_execution(const struct execution *x)
{
	const struct ledger *l = &x->ledger;
	struct closure c;
	closure_of(x, &c);
	printf("{");
	print_number("status", (uint64_t)x->status);
	print_number("et_ns", x->et_ns);
	print_number("pt_net_ns", x->pt_ns[GRADE_NET]);
	print_number("pt_exec_ns", x->pt_ns[GRADE_EXEC]);
	print_number("begin_ns", l->begin_ns);
	print_number("end_ns", l->end_ns);
	print_number("thread_count", x->totals.threads);
	print_number("unlisted", l->unlisted);
	print_number("lost", l->lost);
	print_number("worst_ns", c.worst_ns);
	printf("\"worst_share\":%.9f,", c.worst_share);
	print_number("beyond", c.beyond);
	print_number("unseen_ns", c.unseen_ns);
	print_number("wall_gap_ns", c.wall_ns);
	print_number("sum_gap_ns", c.sum_ns);
	print_number("entries_gap_ns", c.entries_ns);
	print_causes("causes", l->subject.ns);
	print_causes("wall", l->wall_ns);
	print_threads(l);
	print_entries(l);
	print_cost(l);
	print_text("not_seen", l->not_seen);
	printf("}\n");
	fflush(stdout);
}

static void append_counts(const char *path)
{
	FILE *out = path ? fopen(path, "a") : NULL;
	char *interrupts = out ? file_read("/proc/interrupts") : NULL;
	char *softirqs = out ? file_read("/proc/softirqs") : NULL;
	if (interrupts && softirqs)
		fprintf(out, "# %llu\n%s%s", (unsigned long long)clock_monotonic_ns(), interrupts,
			softirqs);
	free(interrupts);
	free(softirqs);
	if (out)
		fclose(out);
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct collector *c = NULL;
	struct launcher *l = NULL;
	cpu_set_t cpus;
	struct launch launch = { .as_root = true, .iteration = -1 };
	struct execute_options options = { .grace_ns = 5000000000u };
	struct execution x = { 0 };
	const char *counts = NULL;
	long repeats = 1;
	for (int option; (option = getopt(argc, argv, "+n:c:f:i:")) != -1;) {
		if (option == 'n')
			repeats = atol(optarg);
		else if (option == 'c' && cpus_parse(optarg, &cpus))
			launch.cpus = &cpus;
		else if (option == 'f')
			launch.policy = SCHED_FIFO, launch.rt_priority = atoi(optarg);
		else if (option == 'i')
			counts = optarg;
		else
			return 2;
	}
	if (optind >= argc)
		return 2;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	interrupt_watch();
	int failed = collector_open(&c, BACKEND_BPF, &err) ||
		     collector_keep_ledger(c, false, &err) || launcher_new(&l, &launch, &err);
	for (long i = 0; i < repeats && !failed; i++) {
		append_counts(counts);
		failed = execute(c, l, &launch, argv + optind, &options, &x, &err);
		append_counts(counts);
		if (!failed)
			print_execution(&x);
	}
	if (failed)
		fprintf(stderr, "bench-ledger: %s\n", err.text);
	execution_release(&x);
	launcher_free(l);
	collector_close(c);
	return failed ? 1 : 0;
}
