#include <stdio.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "lab/lab.h"

static int rename_run(const char *path, const char *which, const char *name)
{
	struct error err = ERROR_INIT;
	struct lab *lab;
	int64_t id;
	if (lab_open(&lab, path, LAB_EDIT, &err))
		return cmd_fail(&err);
	int failed = lab_find_run(lab, which, &id, &err) || lab_rename_run(lab, id, name, &err);
	lab_close(lab);
	if (failed)
		return cmd_fail(&err);
	char shown[200];
	text_display(name, shown, sizeof shown);
	printf("run %lld is now '%s'\n", (long long)id, shown);
	return EXIT_DONE;
}

int cmd_rename(int argc, char **argv)
{
	const char *lab = NULL;
	struct option_spec specs[] = { { 0, "lab", OPTION_TEXT, &lab, "FILE",
					 "the lab to change (default: your own)" },
				       { 0 } };
	text_list operands = { 0 };
	int code = EXIT_DONE;
	if (cmd_options("tare rename [OPTIONS] RUN NAME",
			"Gives a run another name. RUN is a number, a name, 'last' or @1, @2 ...\n",
			specs, argc, argv, &operands, &code)) {
		struct error err = ERROR_INIT;
		if (operands.count != 2) {
			error_set(&err, EXIT_USAGE, "rename: a RUN and its new NAME are needed");
			error_hint(&err, "'tare rename last baseline', for example");
			code = cmd_fail(&err);
		} else {
			code = rename_run(lab, operands.items[0], operands.items[1]);
		}
	}
	array_release(&operands);
	return code;
}
