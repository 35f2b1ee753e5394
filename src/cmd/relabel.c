#include "cmd/relabel.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "record/tags.h"
#include "run/find.h"

struct relabel_options {
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

static int change_some(struct lab *lab, int64_t id, const struct relabel_options *o, char **now,
		       struct error *err)
{
	char *add = joined(&o->add), *remove = joined(&o->remove);
	int failed = lab_change_tags(lab, id, add, remove, now, err);
	free(add);
	free(remove);
	return failed;
}

/* text NULL: some are changed. */
static int relabel_run(const struct relabel *what, const struct relabel_options *o,
		       const char *which, const char *text)
{
	struct error err = ERROR_INIT;
	struct lab *lab = lab_access_open(o->lab, &err);
	char *now = NULL;
	int64_t id;
	if (!lab)
		return cmd_fail(&err);
	int failed = run_find(lab, which, LAB_ALL_KINDS, &id, &err);
	if (!failed)
		failed = text ? what->change(lab, id, text, &err)
			      : change_some(lab, id, o, &now, &err);
	if (failed)
		return cmd_fail(&err);
	char shown[200];
	text = text ? text : now;
	text_display(text, shown, sizeof shown);
	if (*text)
		printf("run %lld is now %s'%s'\n", (long long)id, what->now, shown);
	else
		printf("run %lld has no %s now\n", (long long)id, what->noun);
	free(now);
	return EXIT_DONE;
}

static int show_run(const struct relabel *what, struct lab_access *in, const char *which)
{
	struct error err = ERROR_INIT;
	in->need = READS_LAB;
	struct lab *lab = lab_access_open(in, &err);
	struct run run = { 0 };
	int64_t id;
	if (!lab)
		return cmd_fail(&err);
	int failed = run_find(lab, which, LAB_ALL_KINDS, &id, &err) ||
		     lab_get_run(lab, id, &run, &err);
	if (!failed)
		what->show(&run);
	run_release(&run);
	return failed ? cmd_fail(&err) : EXIT_DONE;
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

static int act(const struct relabel *what, const struct relabel_options *o,
	       const text_list *operands)
{
	struct error err = ERROR_INIT;
	bool some = o->add.count || o->remove.count;
	if (check_tags(&o->add, "--add", &err) || check_tags(&o->remove, "--remove", &err))
		return cmd_fail(&err);
	if (operands->count == 1 && some)
		return relabel_run(what, o, operands->items[0], NULL);
	if (operands->count == 1 && what->show)
		return show_run(what, o->lab, operands->items[0]);
	if (operands->count == 2 && !some)
		return relabel_run(what, o, operands->items[0], operands->items[1]);
	if (some) {
		error_set(&err, EXIT_USAGE, "tag: with --add or --remove one RUN is needed alone");
		error_hint(&err, "'tare tag --add checked last', for example");
	} else {
		error_set(&err, EXIT_USAGE, "%s", what->needed);
		error_hint(&err, "%s, for example", what->example);
	}
	return cmd_fail(&err);
}

int cmd_relabel(const struct relabel *what, struct lab_access *lab, int argc, char **argv)
{
	struct relabel_options o = { .lab = lab };
	struct option_spec specs[] = {
		{ 0, "lab", OPTION_TEXT, &lab->file, "FILE",
		  "the lab it is in (default: your own)" },
		{ 0, "add", OPTION_TEXTS, &o.add, "TAG", "add it to those that the run has" },
		{ 0, "remove", OPTION_TEXTS, &o.remove, "TAG", "take it away from them" },
		{ 0 }
	};
	if (!what->some)
		specs[1] = (struct option_spec){ 0 };
	text_list operands = { 0 };
	int code = EXIT_DONE;
	if (cmd_options(what->usage, what->about, specs, argc, argv, &operands, &code))
		code = act(what, &o, &operands);
	array_release(&o.add);
	array_release(&o.remove);
	array_release(&operands);
	return code;
}
