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

/* The run, or all runs of its study. */
static int add_found(struct lab *lab, const char *which, bool study, run_list *runs,
		     struct error *err)
{
	int64_t id;
	struct run run = { 0 };
	if (run_find(lab, which, LAB_ALL_KINDS, &id, err) || lab_get_run(lab, id, &run, err))
		return -1;
	run_list found = { 0 };
	int failed = study && run.study ? lab_study_runs(lab, run.study, &found, err) : 0;
	for (size_t i = 0; i < found.count; i++)
		add_once(runs, &found.items[i]);
	add_once(runs, &run);
	array_release(&found);
	return failed;
}

/* All are found and judged before the first is removed: "@0 @1" mean what the user saw. */
static int remove_runs(struct lab *lab, const text_list *names, bool study, run_list *runs,
		       struct error *err)
{
	for (size_t i = 0; i < names->count; i++)
		if (add_found(lab, names->items[i], study, runs, err))
			return -1;
	for (size_t i = 0; i < runs->count; i++)
		if (runs->items[i].status == RUN_GOING) {
			error_set(err, EXIT_USAGE, "run %lld is going; nothing was removed",
				  (long long)runs->items[i].id);
			return error_hint(err, "wait for its end or stop it first");
		}
	for (size_t i = 0; i < runs->count; i++) {
		char shown[200];
		if (lab_remove_run(lab, runs->items[i].id, err))
			return -1;
		text_display(runs->items[i].name, shown, sizeof shown);
		printf("removed run %lld '%s'\n", (long long)runs->items[i].id, shown);
	}
	return 0;
}

static int rm(struct lab_access *in, const text_list *names, bool study)
{
	struct error err = ERROR_INIT;
	struct lab *lab = lab_access_open(in, &err);
	run_list runs = { 0 };
	if (!lab)
		return cmd_fail(&err);
	int failed = remove_runs(lab, names, study, &runs, &err);
	for (size_t i = 0; i < runs.count; i++)
		run_release(&runs.items[i]);
	array_release(&runs);
	return failed ? cmd_fail(&err) : EXIT_DONE;
}

int cmd_rm(struct lab_access *lab, int argc, char **argv)
{
	bool study = false;
	struct option_spec specs[] = { { 0, "study", OPTION_FLAG, &study, NULL,
					 "all runs of the same command line as each RUN" },
				       { 0, "lab", OPTION_TEXT, &lab->file, "FILE",
					 "the lab to change (default: your own)" },
				       { 0 } };
	text_list operands = { 0 };
	int code = EXIT_DONE;
	if (cmd_options(
		    "tare rm [OPTIONS] RUN...",
		    "Removes runs for good. RUN is a number, a name (its newest run), 'last' or @1,\n"
		    "@2 ... A run that is going stays.\n",
		    specs, argc, argv, &operands, &code)) {
		struct error err = ERROR_INIT;
		if (!operands.count) {
			error_set(&err, EXIT_USAGE, "rm: which RUN?");
			error_hint(&err, "'tare list' shows the runs");
			code = cmd_fail(&err);
		} else {
			code = rm(lab, &operands, study);
		}
	}
	array_release(&operands);
	return code;
}
