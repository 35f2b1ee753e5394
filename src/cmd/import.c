/* tare import: data measured elsewhere becomes runs of the lab. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "collect/collect.h"
#include "import/executions.h"
#include "report/core/json.h"

struct import_options {
	const char *file, *name, *tag;
	struct lab_access *lab;
	bool here;
};

static const char not_seen[] = "anything but ET, PT and the daemons that the imported file names.";

/* The name given, with the run's own behind it where there are several; else the run's own, behind
 * the file's where it alone would be read otherwise, as "12". */
static char *name_run(const struct import_options *o, const imported_list *list, size_t run)
{
	struct strbuf name = { 0 };
	const char *own = list->items[run].name;
	if (o->name && list->count == 1) {
		strbuf_puts(&name, o->name);
	} else if (o->name) {
		strbuf_printf(&name, "%s-%s", o->name, own);
	} else if (lab_check_name(own, NULL) == 0) {
		strbuf_puts(&name, own);
	} else {
		const char *slash = strrchr(o->file, '/'), *base = slash ? slash + 1 : o->file;
		const char *dot = strrchr(base, '.');
		size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base);
		if (strcmp(o->file, "-") == 0)
			strbuf_puts(&name, "import");
		else
			strbuf_add(&name, base, length);
		strbuf_printf(&name, "-%s", own);
	}
	return strbuf_detach(&name);
}

struct session {
	const struct import_options *o;
	struct lab *lab;
	int64_t invocation, machine;
	ARRAY(int64_t) added;
};

static int store_run(struct session *s, imported_list *list, size_t which, struct error *err)
{
	struct imported_run *from = &list->items[which];
	json_t *conditions = json_pack("{s:b, s:o, s:o}", "imported", 1, "file",
				       json_text(s->o->file), "run", json_text(from->name));
	struct run run = { .kind = SUBJECT_COMMAND,
			   .invocation = s->invocation,
			   .machine = s->machine,
			   .name = name_run(s->o, list, which),
			   .command = xstrdup(from->name),
			   .conditions = conditions_take(json_dumps(conditions, JSON_COMPACT)),
			   .backend = BACKEND_PLAIN,
			   .not_seen = xstrdup(not_seen),
			   .started_at_ns = clock_realtime_ns(),
			   .planned = (uint32_t)from->executions.count,
			   .version = xstrdup(TARE_VERSION),
			   .tags = s->o->tag ? xstrdup(s->o->tag) : NULL };
	json_decref(conditions);
	int failed = lab_add_run(s->lab, &run, err);
	if (!failed) {
		array_push(&s->added, run.id);
		failed = lab_add_executions(s->lab, run.id, from->executions.items,
					    from->executions.count, err) ||
			 lab_end_run(s->lab, run.id, RUN_COMPLETE, err);
	}
	run_release(&run);
	return failed;
}

/* All of them, or none. */
static int store(struct session *s, imported_list *list, const char *line, struct error *err)
{
	int failed = lab_add_invocation(s->lab, line, &s->invocation, err);
	if (!failed && s->o->here) {
		SCOPED(machine_release) struct machine m = { 0 };
		machine_read(&m);
		failed = lab_add_machine(s->lab, &m, &s->machine, err);
	}
	for (size_t i = 0; !failed && i < list->count; i++)
		failed = store_run(s, list, i, err);
	for (size_t i = 0; failed && i < s->added.count; i++) {
		struct error ignored = ERROR_INIT;
		lab_end_run(s->lab, s->added.items[i], RUN_FAILED, &ignored);
		lab_remove_run(s->lab, s->added.items[i], &ignored);
	}
	return failed;
}

static int import(void *options, const struct cmd_args *args, struct error *err)
{
	struct import_options *o = options;
	struct session s = { .o = o };
	SCOPED(imported_release) imported_list list = { 0 };
	char shown[200];
	size_t length = 0;
	if (args->operands.count != 1) {
		error_set(err, EXIT_USAGE, "import takes one FILE");
		return error_hint(err, "'-' is standard input");
	}
	o->file = args->operands.items[0];
	if (o->name && lab_check_name(o->name, err))
		return -1;
	char *text = cmd_read_file(o->file, READ_ALL, "import: cannot read ", shown, &length, err);
	if (!text)
		return -1;
	int failed = imported_read(text, length, &list, err);
	free(text);
	if (failed)
		return error_prefix(err, "import of %s, nothing was stored", shown);
	FREED char *line = cmd_line(args->argc, args->argv);
	failed = !(s.lab = lab_access_open(o->lab, err)) || store(&s, &list, line, err) ? -1 : 0;
	for (size_t i = 0; i < s.added.count && !failed; i++) {
		FREED char *name = name_run(o, &list, i);
		size_t samples = list.items[i].executions.count;
		uint64_t daemons = list.items[i].daemons;
		text_display(name, shown, sizeof shown);
		printf("run %" PRId64 " '%s': %zu sample%s, %" PRIu64 " execution%s of daemons\n",
		       s.added.items[i], shown, samples, samples == 1 ? "" : "s", daemons,
		       daemons == 1 ? "" : "s");
	}
	array_release(&s.added);
	return failed;
}

int cmd_import(struct lab_access *lab, int argc, char **argv)
{
	struct import_options o = { .lab = lab };
	struct option_spec specs[] = {
		{ 'n', "name", OPTION_TEXT, &o.name, "NAME",
		  "name of the run; of several, what their names begin with" },
		{ 0, "tag", OPTION_TEXT, &o.tag, "TEXT", "a note kept with each run" },
		{ 0, "here", OPTION_FLAG, &o.here, NULL, "it was measured on this machine" },
		LAB_OPTION(lab, "the lab to store in"),
		{ 0 }
	};
	return cmd_run("tare import [OPTIONS] FILE.csv",
		       "Stores samples measured elsewhere, a run for each value of the column "
		       "'run'. The\nfirst line names the columns, in any order:\n\n"
		       "  run,sample,et_ns,pt_ns,daemon,daemon_pt_ns\n\n"
		       "A row for each execution of a daemon in a sample, or one without daemon. "
		       "pt_ns\nmay be empty. FILE - is standard input. Nothing is stored if a row "
		       "is wrong.\n",
		       specs, argc, argv, import, &o);
}
