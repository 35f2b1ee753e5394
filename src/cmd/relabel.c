/* tare rename and tare tag: they give a run another text. */
#include <stdio.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "record/tags.h"
#include "report/core/format.h"
#include "run/find.h"

struct relabel {
	const char *usage, *about;
	const char *needed, *example; /* when there are not two operands: the error and its hint */
	int (*change)(struct lab *lab, int64_t run, const char *text, struct error *err);
	bool some; /* it is tags: --add and --remove change some of them */
	void (*show)(const struct run *run); /* with a RUN alone; NULL: that is an error */
	const char *now, *noun; /* "run 1 is now [now]'text'", "run 1 has no [noun] now" */
};

struct relabel_options {
	const struct relabel *what;
	struct lab_access *lab;
	text_list add, remove;
};

/* The lists as one, with commas; NULL: there are none. The caller frees. */
static char *joined(const text_list *list)
{
	struct strbuf all = { 0 };
	for (size_t i = 0; i < list->count; i++) {
		strbuf_puts(&all, i ? ", " : "");
		strbuf_puts(&all, list->items[i]);
	}
	return list->count ? strbuf_detach(&all) : NULL;
}

/* text NULL: some are changed. */
static int relabel_run(const struct relabel_options *o, const char *which, const char *text,
		       struct error *err)
{
	struct lab *lab = lab_access_open(o->lab, err);
	char *now = NULL, shown[200];
	int64_t id;
	if (!lab || run_find(lab, which, LAB_ALL_KINDS, &id, err))
		return -1;
	if (text) {
		if (o->what->change(lab, id, text, err))
			return -1;
	} else {
		char *add = joined(&o->add), *remove = joined(&o->remove);
		int failed = lab_change_tags(lab, id, add, remove, &now, err);
		free(add);
		free(remove);
		if (failed)
			return -1;
		text = now;
	}
	text_display(text, shown, sizeof shown);
	if (*text)
		printf("run %lld is now %s'%s'\n", (long long)id, o->what->now, shown);
	else
		printf("run %lld has no %s now\n", (long long)id, o->what->noun);
	free(now);
	return EXIT_DONE;
}

static int show_run(const struct relabel_options *o, const char *which, struct error *err)
{
	o->lab->need = READS_LAB;
	struct lab *lab = lab_access_open(o->lab, err);
	SCOPED(run_release) struct run run = { 0 };
	int64_t id;
	int failed = !lab || run_find(lab, which, LAB_ALL_KINDS, &id, err) ||
		     lab_get_run(lab, id, &run, err);
	if (!failed)
		o->what->show(&run);
	return failed ? -1 : EXIT_DONE;
}

/* -1: one of them is none. */
static int check_tags(const text_list *tags, const char *option, struct error *err)
{
	for (size_t i = 0; i < tags->count; i++) {
		if (tags_any(tags->items[i]))
			continue;
		error_set(err, EXIT_USAGE, "tag: %s needs a tag, and nothing is none", option);
		return error_hint(err, "'tare tag RUN \"\"' takes all tags away");
	}
	return 0;
}

static int act(void *options, const struct cmd_args *args, struct error *err)
{
	const struct relabel_options *o = options;
	const char *const *words = args->operands.items;
	const size_t count = args->operands.count;
	const bool some = o->add.count || o->remove.count;
	if (check_tags(&o->add, "--add", err) || check_tags(&o->remove, "--remove", err))
		return -1;
	if (count == 1 && some)
		return relabel_run(o, words[0], NULL, err);
	if (count == 1 && o->what->show)
		return show_run(o, words[0], err);
	if (count == 2 && !some)
		return relabel_run(o, words[0], words[1], err);
	if (some) {
		error_set(err, EXIT_USAGE, "tag: with --add or --remove one RUN is needed alone");
		return error_hint(err, "'tare tag --add checked last', for example");
	}
	error_set(err, EXIT_USAGE, "%s", o->what->needed);
	return error_hint(err, "%s, for example", o->what->example);
}

static int relabel(const struct relabel *what, struct lab_access *lab, int argc, char **argv)
{
	struct relabel_options o = { .what = what, .lab = lab };
	struct option_spec specs[] = {
		LAB_OPTION(lab, "the lab it is in"),
		{ 0, "add", OPTION_TEXTS, &o.add, "TAG", "add it to those that the run has" },
		{ 0, "remove", OPTION_TEXTS, &o.remove, "TAG", "take it away from them" },
		{ 0 }
	};
	if (!what->some)
		specs[1] = (struct option_spec){ 0 };
	int code = cmd_run(what->usage, what->about, specs, argc, argv, act, &o);
	array_release(&o.add);
	array_release(&o.remove);
	return code;
}

int cmd_rename(struct lab_access *lab, int argc, char **argv)
{
	static const struct relabel what = {
		.usage = "tare rename [OPTIONS] RUN NAME",
		.about =
			"Gives a run another name. RUN is a number, a name, 'last', or @1 for the run\n"
			"before the last, @2 for the one before that ...\n",
		.needed = "rename: a RUN and its new NAME are needed",
		.example = "'tare rename last baseline'",
		.change = lab_rename_run,
		.now = "",
		.noun = "name",
	};
	return relabel(&what, lab, argc, argv);
}

/* One a line, as the page of tare serve shows them: between commas, without blanks around. Nothing
 * that would be another line, or an order to the terminal, leaves as it is. */
static void show_tags(const struct run *run)
{
	const char *at = run->tags ? run->tags : "", *tag;
	size_t length;
	while ((tag = tags_next(&at, &length))) {
		char *copy = xstrndup(tag, length), *shown = display_copy(copy);
		puts(shown);
		free(copy);
		xfree(shown);
	}
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
			"a number, a name, 'last', or @1 for the run before the last ...\n",
		.needed = "tag: a RUN is needed, and one TEXT to change its tags",
		.example = "'tare tag last \"paper, figure 3\"'",
		.change = lab_tag_run,
		.some = true,
		.show = show_tags,
		.now = "tagged ",
		.noun = "tags",
	};
	return relabel(&what, lab, argc, argv);
}
