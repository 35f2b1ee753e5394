#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/relabel.h"
#include "record/tags.h"

static void show_tag(const char *tag, size_t length)
{
	size_t room = 4 * length + 4; /* of a byte comes at most \xNN */
	char *copy = xstrndup(tag, length), *shown = xmalloc(room);
	text_display(copy, shown, room);
	puts(shown);
	free(copy);
	free(shown);
}

/* One a line, as the page of tare serve shows them: between commas, without blanks around. Nothing
 * that would be another line, or an order to the terminal, leaves as it is. */
static void show_tags(const struct run *run)
{
	const char *at = run->tags ? run->tags : "", *tag;
	size_t length;
	while ((tag = tags_next(&at, &length)))
		show_tag(tag, length);
}

int cmd_tag(struct lab_access *lab, int argc, char **argv)
{
	static const struct relabel what = {
		.usage = "tare tag [OPTIONS] RUN [TEXT]\n"
			 "       tare tag --add TAG|--remove TAG [OPTIONS] RUN",
		.about =
			"Gives a run tags, in place of those it has; '' takes them away. TEXT is any\n"
			"text, with commas between several tags. --add and --remove change single\n"
			"ones. Without either it prints the tags that the run has, one per line. RUN is\n"
			"a number, a name, 'last' or @1, @2 ...\n",
		.needed = "tag: a RUN is needed, and one TEXT to change its tags",
		.example = "'tare tag last \"paper, figure 3\"'",
		.change = lab_tag_run,
		.some = true,
		.show = show_tags,
		.now = "tagged ",
		.noun = "tags",
	};
	return cmd_relabel(&what, lab, argc, argv);
}
