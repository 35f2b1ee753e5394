/* The protocol at the paper's size: 555,850 executions, ten of each Q@C, in a lab. `make FILE`
 * generates and stores them; `judge FILE`, in a process of its own, reads them back, judges them
 * and computes the causal model. Prints what each step took and the most memory that was resident.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "lab/lab.h"
#include "protocol/ttp/ttp.h"

#define EXECUTIONS 555850
#define PER_AT 10
#define CARDINALITIES 100
#define MS UINT64_C(1000000)

static uint64_t seed = 20260101;

static uint64_t number(uint64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % below;
}

static void die(const struct error *err)
{
	fprintf(stderr, "ttp-scale: %s\n", err->text);
	exit(err->code);
}

static double seconds_since(uint64_t begin_ns)
{
	return (double)(clock_monotonic_ns() - begin_ns) / 1e9;
}

static void fill_usage(struct query_usage *u, uint64_t ns, uint32_t processes)
{
	u->value[QUERY_USER_NS] = ns * 8 / 10 + number(ns / 50 + 1);
	u->value[QUERY_SYSTEM_NS] = ns * 2 / 10 + number(ns / 50 + 1);
	u->value[QUERY_BLKIO_NS] = ns / 2 + number(ns / 20 + 1);
	u->value[QUERY_READS] = ns / MS + number(100);
	u->value[QUERY_WRITES] = number(10);
	u->value[QUERY_NVCSW] = ns / MS + number(20);
	u->value[QUERY_NIVCSW] = number(20);
	u->value[QUERY_MAJFLT] = number(3);
	u->processes = processes;
}

/* One that takes about as long as others of its Q@C, and is disturbed now and then. */
static struct query_execution make_execution(uint32_t at, uint32_t i)
{
	uint64_t ns = (20 + at % 997) * MS;
	struct query_execution x = { .number = i,
				     .started_at_ns =
					     1700000000000000000 + (int64_t)number(1u << 31),
				     .snapshot_ns = 4 * MS + number(MS),
				     .plan = 0x9e3779b97f4a7c15u * (at / 7 + 1),
				     .query_process = 1,
				     .query_tasks = 1,
				     .rows = at };
	fill_usage(&x.usage[QUERY_QUERY], ns, 1);
	fill_usage(&x.usage[QUERY_UTILITY], ns / 20, 6);
	fill_usage(&x.usage[QUERY_DAEMON], ns / 60, 40);
	fill_usage(&x.usage[QUERY_OWN], MS, 1);
	x.measured_ns = query_process_ns(&x, QUERY_QUERY) + number(ns / 10) + ns / 10;
	if (number(50) == 0)
		x.usage[QUERY_QUERY].value[QUERY_BLKIO_NS] = 2 * x.measured_ns;
	x.utility_most_ns = query_cpu_ns(&x, QUERY_UTILITY) / 2;
	x.blkio_most_ns = x.usage[QUERY_QUERY].value[QUERY_BLKIO_NS];
	x.own_device_ns = ns / 2 + number(ns / 50);
	x.others_device_ns = number(ns / 50);
	x.read_bytes = number(1u << 30);
	x.run_delay_ns = number(MS);
	x.overall_ns[OVERALL_USER] = (ns / (10 * MS) + number(3)) * 10 * MS;
	x.overall_ns[OVERALL_SYSTEM] = (ns / (40 * MS) + number(3)) * 10 * MS;
	x.overall_ns[OVERALL_IDLE] = x.measured_ns / (10 * MS) * 10 * MS;
	x.overall_ns[OVERALL_IOWAIT] = ns / (20 * MS) * 10 * MS;
	return x;
}

static void make_run(struct query_run *q)
{
	uint32_t ats = EXECUTIONS / PER_AT;
	*q = (struct query_run){ .dbms = "generated", .cpus = 2, .planned = PER_AT };
	q->queries = (ats + CARDINALITIES - 1) / CARDINALITIES;
	for (uint32_t i = 0; i < ats; i++) {
		struct query_at at = { .query = i / CARDINALITIES + 1,
				       .cardinality = (i % CARDINALITIES + 1) * 10000 };
		array_reserve(&at.executions, PER_AT);
		for (uint32_t k = 1; k <= PER_AT; k++)
			array_push(&at.executions, make_execution(i, k));
		array_push(&q->at, at);
	}
	/* stored in an order that is not the one they are read in */
	for (uint32_t i = ats - 1; i > 0; i--) {
		size_t k = number(i + 1);
		struct query_at at = q->at.items[i];
		q->at.items[i] = q->at.items[k];
		q->at.items[k] = at;
	}
}

static void make(const char *file)
{
	struct error err = ERROR_INIT;
	struct lab *lab = NULL;
	struct query_run q;
	struct run run = { .kind = SUBJECT_QUERY,
			   .name = xstrdup("ttp-scale"),
			   .planned = EXECUTIONS };
	make_run(&q);
	uint64_t begin = clock_monotonic_ns();
	if (lab_open(&lab, file, LAB_WRITE, &err) || lab_add_run(lab, &run, &err) ||
	    lab_add_query_data(lab, run.id, &q, &err) ||
	    lab_end_run(lab, run.id, RUN_COMPLETE, &err))
		die(&err);
	lab_close(lab);
	printf("stored: %d executions in %.1f s\n", EXECUTIONS, seconds_since(begin));
	run_release(&run);
	query_run_release(&q);
}

static double peak_mib(void)
{
	char *status = file_read("/proc/self/status");
	const char *line = status ? strstr(status, "VmHWM:") : NULL;
	double mib = line ? strtod(line + strlen("VmHWM:"), NULL) / 1024 : 0;
	free(status);
	return mib;
}

static void judge(const char *file)
{
	struct error err = ERROR_INIT;
	struct lab *lab = NULL;
	struct query_run q = { 0 };
	struct ttp_options options = { .form = TTP_ADAPTED };
	struct ttp_result result;
	struct ttp_correlation model[TTP_RELATIONS];
	int64_t run = 0;
	uint64_t begin = clock_monotonic_ns();
	if (lab_open(&lab, file, LAB_READ, &err) ||
	    lab_find_run(lab, "last", LAB_ALL_KINDS, &run, NULL, &err) ||
	    lab_get_query_run(lab, run, &q, &err))
		die(&err);
	lab_close(lab);
	double read = seconds_since(begin);
	ttp_judge(&q, &options, &result);
	double judged = seconds_since(begin);
	ttp_model((const struct query_run *const[]){ &q },
		  (const struct ttp_result *const[]){ &result }, 1, model);
	printf("read: %.2f s, judged: %.2f s, modelled: %.2f s; %.2f s in all, %.0f MiB at most\n",
	       read, judged - read, seconds_since(begin) - judged, seconds_since(begin),
	       peak_mib());
	printf("%zu executions of %zu Q@Cs, kept %zu of %zu; r of %s is %.3f\n", result.executions,
	       result.at_count, result.executions_kept, result.at_kept, ttp_relations[0].id,
	       model[0].r);
	ttp_result_release(&result);
	query_run_release(&q);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "make") == 0)
		make(argv[2]);
	else if (argc == 3 && strcmp(argv[1], "judge") == 0)
		judge(argv[2]);
	else
		return fputs("usage: ttp-scale make|judge FILE\n", stderr), EXIT_USAGE;
	return 0;
}
