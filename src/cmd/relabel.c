#include "cmd/relabel.h"

#include <stdio.h>

#include "base/text.h"
#include "cmd/cmd.h"

static int relabel_run(const struct relabel *what, const char *path, const char *which,
		       const char *text)
{
	struct error err = ERROR_INIT;
	struct lab *lab;
	int64_t id;
	if (lab_open(&lab, path, LAB_EDIT, &err))
		return cmd_fail(&err);
	int failed = lab_find_run(lab, which, &id, &err) || what->change(lab, id, text, &err);
	lab_close(lab);
	if (failed)
		return cmd_fail(&err);
	char shown[200];
	text_display(text, shown, sizeof shown);
	if (*text)
		printf("run %lld is now %s'%s'\n", (long long)id, what->now, shown);
	else
		printf("run %lld has no %s now\n", (long long)id, what->noun);
	return EXIT_DONE;
}

static int show_run(const struct relabel *what, const char *path, const char *which)
{
	struct error err = ERROR_INIT;
	struct lab *lab;
	struct run run = { 0 };
	int64_t id;
	if (lab_open(&lab, path, LAB_READ, &err))
		return cmd_fail(&err);
	int failed = lab_find_run(lab, which, &id, &err) || lab_get_run(lab, id, &run, &err);
	lab_close(lab);
	if (!failed)
		what->show(&run);
	run_release(&run);
	return failed ? cmd_fail(&err) : EXIT_DONE;
}

int cmd_relabel(const struct relabel *what, int argc, char **argv)
{
	const char *lab = NULL;
	struct option_spec specs[] = { { 0, "lab", OPTION_TEXT, &lab, "FILE",
					 "the lab it is in (default: your own)" },
				       { 0 } };
	text_list operands = { 0 };
	int code = EXIT_DONE;
	if (cmd_options(what->usage, what->about, specs, argc, argv, &operands, &code)) {
		struct error err = ERROR_INIT;
		if (operands.count == 1 && what->show) {
			code = show_run(what, lab, operands.items[0]);
		} else if (operands.count != 2) {
			error_set(&err, EXIT_USAGE, "%s", what->needed);
			error_hint(&err, "%s, for example", what->example);
			code = cmd_fail(&err);
		} else {
			code = relabel_run(what, lab, operands.items[0], operands.items[1]);
		}
	}
	array_release(&operands);
	return code;
}
