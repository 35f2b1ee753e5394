/* Where the time of one execution goes outside the timed window: the calls of execute() and the
 *lab's, timed through the linker's --wrap, over many executions of a command.
 *
 *	bench-stages LAB COUNT COMMAND [ARGUMENT...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "lab/lab.h"
#include "measure/execute.h"
#include "record/machine.h"

#define TIMED(type, name, parameters, arguments)              \
	type __real_##name parameters;                        \
	type __wrap_##name parameters;                        \
	static uint64_t name##_ns;                            \
	type __wrap_##name parameters                         \
	{                                                     \
		uint64_t begun_ns = clock_monotonic_ns();     \
		type result = __real_##name arguments;        \
		name##_ns += clock_monotonic_ns() - begun_ns; \
		return result;                                \
	}
#define TIMED_VOID(name, parameters, arguments)               \
	void __real_##name parameters;                        \
	void __wrap_##name parameters;                        \
	static uint64_t name##_ns;                            \
	void __wrap_##name parameters                         \
	{                                                     \
		uint64_t begun_ns = clock_monotonic_ns();     \
		__real_##name arguments;                      \
		name##_ns += clock_monotonic_ns() - begun_ns; \
	}

TIMED(int, command_spawn,
      (struct launcher * l, const struct launch *launch, char *const *argv, struct command *c,
       struct error *err),
      (l, launch, argv, c, err))
TIMED_VOID(command_start, (struct command * c), (c))
TIMED(int, collector_snapshot, (struct collector * c, struct image *image, struct error *err),
      (c, image, err))
TIMED_VOID(overall_read, (struct overall * into), (into))
TIMED_VOID(processes_between,
	   (const struct image *before, const struct image *after, const struct image *exits,
	    int32_t self, struct execution *into),
	   (before, after, exits, self, into))
TIMED_VOID(collector_arm, (struct collector * c), (c))
TIMED_VOID(collector_finish,
	   (struct collector * c, const struct totals *base, struct image *exits,
	    struct totals *totals, uint64_t *lost),
	   (c, base, exits, totals, lost))
TIMED_VOID(collector_take_ledger,
	   (struct collector * c, struct ledger *ledger, struct trace *trace), (c, ledger, trace))
TIMED(int, lab_add_execution,
      (struct lab * lab, int64_t run, struct execution *x, struct error *err), (lab, run, x, err))

static int make_run(struct lab *lab, struct run *run, struct error *err)
{
	struct machine m = { 0 };
	machine_set(&m, "bench", "stages");
	int failed = lab_add_machine(lab, &m, &run->machine, err) ||
		     lab_add_invocation(lab, "bench-stages", &run->invocation, err) ||
		     lab_add_run(lab, run, err);
	machine_release(&m);
	return failed;
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct collector *c;
	struct lab *lab;
	struct launcher *l;
	struct launch launch = { .iteration = -1 };
	struct execute_options options = { .grace_ns = 1000000000 };
	struct execution x = { 0 };
	struct run run = { .name = (char *)"stages",
			   .command = (char *)"stages",
			   .directory = (char *)".",
			   .conditions = { .text = (char *)"{}" },
			   .version = (char *)"0" };
	long count = argc > 3 ? atol(argv[2]) : 0;
	if (count < 1)
		return 2;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	interrupt_watch();
	int failed = collector_open(&c, BACKEND_BPF, &err) ||
		     (!getenv("NO_LEDGER") && collector_keep_ledger(c, false, &err)) ||
		     lab_open(&lab, argv[1], LAB_WRITE, &err) || make_run(lab, &run, &err) ||
		     launcher_new(&l, &launch, &err);
	uint64_t begun_ns = clock_monotonic_ns(), et_ns = 0;
	for (long i = 0; i < count && !failed; i++) {
		failed = execute(c, l, &launch, argv + 3, &options, &x, &err);
		x.number = (uint32_t)i + 1;
		et_ns += x.et_ns;
		failed = failed || lab_add_execution(lab, run.id, &x, &err);
	}
	if (failed) {
		fprintf(stderr, "%s\n", err.text);
		return err.code;
	}
	double per = 1e3 * (double)count;
	printf("%ld executions: %.0f us each, %.0f us of it from exec to exit; arming %.0f us, start %.0f us, gate "
	       "%.0f us, two snapshots %.0f us, two readings of /proc %.0f us, totals %.0f us, ledger %.0f us, matching "
	       "%.0f us, storing %.0f us\n",
	       count, (double)(clock_monotonic_ns() - begun_ns) / per, (double)et_ns / per,
	       (double)collector_arm_ns / per, (double)command_spawn_ns / per,
	       (double)command_start_ns / per, (double)collector_snapshot_ns / per,
	       (double)overall_read_ns / per, (double)collector_finish_ns / per,
	       (double)collector_take_ledger_ns / per, (double)processes_between_ns / per,
	       (double)lab_add_execution_ns / per);
	execution_release(&x);
	launcher_free(l);
	lab_close(lab);
	collector_close(c);
	return 0;
}
