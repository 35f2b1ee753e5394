#include <stdio.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "lab/lab.h"

static int tag_run(const char *path, const char *which, const char *tags)
{
	struct error err = ERROR_INIT;
	struct lab *lab;
	int64_t id;
	if (lab_open(&lab, path, LAB_EDIT, &err))
		return cmd_fail(&err);
	int failed = lab_find_run(lab, which, &id, &err) || lab_tag_run(lab, id, tags, &err);
	lab_close(lab);
	if (failed)
		return cmd_fail(&err);
	char shown[200];
	text_display(tags, shown, sizeof shown);
	if (*tags)
		printf("run %lld is now tagged '%s'\n", (long long)id, shown);
	else
		printf("run %lld has no tags now\n", (long long)id);
	return EXIT_DONE;
}

int cmd_tag(int argc, char **argv)
{
	const char *lab = NULL;
	struct option_spec specs[] = { { 0, "lab", OPTION_TEXT, &lab, "FILE",
					 "the lab to change (default: your own)" },
				       { 0 } };
	text_list operands = { 0 };
	int code = EXIT_DONE;
	if (cmd_options(
		    "tare tag [OPTIONS] RUN TEXT",
		    "Gives a run tags, in place of those it has; '' takes them away. TEXT is any\n"
		    "text. RUN is a number, a name, 'last' or @1, @2 ...\n",
		    specs, argc, argv, &operands, &code)) {
		struct error err = ERROR_INIT;
		if (operands.count != 2) {
			error_set(&err, EXIT_USAGE, "tag: a RUN and a TEXT are needed");
			error_hint(&err, "'tare tag last \"paper, figure 3\"', for example");
			code = cmd_fail(&err);
		} else {
			code = tag_run(lab, operands.items[0], operands.items[1]);
		}
	}
	array_release(&operands);
	return code;
}
