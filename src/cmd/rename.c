#include "cmd/cmd.h"
#include "cmd/relabel.h"

int cmd_rename(struct lab_access *lab, int argc, char **argv)
{
	static const struct relabel what = {
		.usage = "tare rename [OPTIONS] RUN NAME",
		.about =
			"Gives a run another name. RUN is a number, a name, 'last' or @1, @2 ...\n",
		.needed = "rename: a RUN and its new NAME are needed",
		.example = "'tare rename last baseline'",
		.change = lab_rename_run,
		.now = "",
		.noun = "name",
	};
	return cmd_relabel(&what, lab, argc, argv);
}
