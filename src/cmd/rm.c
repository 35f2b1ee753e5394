#include <stdio.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "lab/lab.h"
#include "run/find.h"

static void add_once(run_list *runs, struct run *run)
{
	for (size_t i = 0; i < runs->count; i++)
		if (runs->items[i].id == run->id) {
			run_release(run);
			return;
		}
	array_push(runs, *run);
	*run = (struct run){ 0 };
}

struct rm_options {
	struct lab_access *lab;
	bool together, compact;
};
#define WORTH_SAYING (64 << 20) /* bytes */

/* The run, or all runs of its command line. */
static int add_found(struct lab *lab, const char *which, bool together, run_list *runs,
		     struct error *err)
{
	int64_t id;
	struct run run = { 0 };
	run_list found = { 0 };
	if (run_find(lab, which, LAB_ALL_KINDS, &id, err) || lab_get_run(lab, id, &run, err))
		return -1;
	int failed = together && run.invocation
			     ? lab_invocation_runs(lab, run.invocation, &found, err)
			     : 0;
	for (size_t i = 0; i < found.count; i++)
		add_once(runs, &found.items[i]);
	add_once(runs, &run);
	array_release(&found);
	return failed;
}

/* All are found and judged before the first is removed: "@0 @1" mean what the user saw. */
static int rm(void *options, const struct cmd_args *args, struct error *err)
{
	const struct rm_options *o = options;
	run_list runs = { 0 };
	if (!args->operands.count && !o->compact) {
		error_set(err, EXIT_USAGE, "rm: which RUN?");
		return error_hint(err, "'tare list' shows the runs");
	}
	struct lab *lab = lab_access_open(o->lab, err);
	int failed = lab ? 0 : -1;
	for (size_t i = 0; i < args->operands.count && !failed; i++)
		failed = add_found(lab, args->operands.items[i], o->together, &runs, err);
	for (size_t i = 0; i < runs.count && !failed; i++)
		if (runs.items[i].status == RUN_GOING) {
			error_set(err, EXIT_USAGE, "run %lld is going; nothing was removed",
				  (long long)runs.items[i].id);
			failed = error_hint(err, "wait for its end or stop it first");
		}
	for (size_t i = 0; i < runs.count; i++) {
		char shown[200];
		if (!failed)
			failed = lab_remove_run(lab, runs.items[i].id, err);
		text_display(runs.items[i].name, shown, sizeof shown);
		if (!failed)
			printf("removed run %lld '%s'\n", (long long)runs.items[i].id, shown);
		run_release(&runs.items[i]);
	}
	array_release(&runs);
	if (!failed && o->compact)
		failed = lab_compact(lab, err);
	int64_t unused = failed ? 0 : lab_unused_bytes(lab);
	if (unused > WORTH_SAYING)
		cmd_notice(
			"the lab keeps %lld MiB for new runs; 'tare rm --compact' gives them back",
			(long long)(unused >> 20));
	return failed ? -1 : EXIT_DONE;
}

int cmd_rm(struct lab_access *lab, int argc, char **argv)
{
	struct rm_options o = { .lab = lab };
	struct option_spec specs[] = { { 0, "study", OPTION_FLAG, &o.together, NULL,
					 "all runs of the same command line as each RUN" },
				       { 0, "compact", OPTION_FLAG, &o.compact, NULL,
					 "give all room that is free back to the disk" },
				       LAB_OPTION(lab, "the lab to change"),
				       { 0 } };
	return cmd_run(
		"tare rm [OPTIONS] RUN...\n       tare rm --compact [RUN...]",
		"Removes runs for good. RUN is a number, a name (its newest run), 'last', or @1\n"
		"for the run before the last, @2 ... A run that is going stays.\n",
		specs, argc, argv, rm, &o);
}
