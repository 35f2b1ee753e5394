#include "cmd/cmd.h"
#include "cmd/relabel.h"

int cmd_tag(int argc, char **argv)
{
	static const struct relabel what = {
		.usage = "tare tag [OPTIONS] RUN TEXT",
		.about =
			"Gives a run tags, in place of those it has; '' takes them away. TEXT is any\n"
			"text. RUN is a number, a name, 'last' or @1, @2 ...\n",
		.needed = "tag: a RUN and a TEXT are needed",
		.example = "'tare tag last \"paper, figure 3\"'",
		.change = lab_tag_run,
		.now = "tagged ",
		.noun = "tags",
	};
	return cmd_relabel(&what, argc, argv);
}
