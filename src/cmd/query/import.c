/* tare query import: executions measured elsewhere become a run of the lab. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cmd/cmd.h"
#include "cmd/query/query.h"
#include "import/queries.h"
#include "report/core/json.h"

struct import_options {
	const char *file, *name, *tag, *dbms;
	struct lab_access *lab;
	uint64_t tick_ns;
	long cpus;
	bool cold;
};

static size_t count_executions(const struct query_run *q)
{
	size_t count = 0;
	for (size_t i = 0; i < q->at.count; i++)
		count += q->at.items[i].executions.count;
	return count;
}

static int store(const struct import_options *o, const struct query_run *q, struct lab *lab,
		 char *line, struct error *err)
{
	json_t *all = json_pack("{s:b, s:o}", "imported", 1, "file", json_text(o->file));
	struct run run = { .kind = SUBJECT_QUERY,
			   .name = xstrdup(o->name ? o->name : "imported queries"),
			   .command = xstrdup(line),
			   .conditions = conditions_take(json_dumps(all, JSON_COMPACT)),
			   .backend = BACKEND_PLAIN,
			   .not_seen = xstrdup("anything but what the imported file has."),
			   .started_at_ns = clock_realtime_ns(),
			   .planned = (uint32_t)count_executions(q),
			   .version = xstrdup(TARE_VERSION),
			   .tags = o->tag ? xstrdup(o->tag) : NULL };
	json_decref(all);
	int failed = lab_add_invocation(lab, line, &run.invocation, err) ||
		     lab_add_run(lab, &run, err);
	if (!failed) {
		struct error ignored = ERROR_INIT;
		failed = lab_add_query_data(lab, run.id, q, err);
		lab_end_run(lab, run.id, failed ? RUN_FAILED : RUN_COMPLETE, &ignored);
		if (failed)
			lab_remove_run(lab, run.id, &ignored);
	}
	if (!failed)
		printf("run %" PRId64 ": %zu executions of %zu Q@Cs\n", run.id, count_executions(q),
		       q->at.count);
	run_release(&run);
	return failed;
}

static int import(void *options, const struct cmd_args *args, struct error *err)
{
	struct import_options *o = options;
	SCOPED(query_run_release) struct query_run q = { 0 };
	struct lab *lab = NULL;
	char shown[200];
	size_t length = 0;
	if (args->operands.count != 1)
		return error_set(err, EXIT_USAGE, "query import: one file, not %zu",
				 args->operands.count);
	if (!o->tick_ns)
		return error_set(err, EXIT_USAGE, "query import: a tick is longer than nothing");
	if (o->name && lab_check_name(o->name, err))
		return -1;
	o->file = args->operands.items[0];
	char *text =
		cmd_read_file(o->file, READ_ALL, "query import: cannot read ", shown, &length, err);
	if (!text)
		return -1;
	FREED char *line = cmd_line(args->argc, args->argv);
	int failed = imported_queries_read(text, length, o->tick_ns, &q, err);
	if (failed) {
		error_prefix(err, "import of %s, nothing was stored", shown);
	} else {
		q.imported = true;
		q.cold = o->cold;
		q.cpus = (uint32_t)o->cpus;
		q.tick_ns = o->tick_ns;
		snprintf(q.dbms, sizeof q.dbms, "%s", o->dbms ? o->dbms : "?");
		failed = !(lab = lab_access_open(o->lab, err)) || store(o, &q, lab, line, err);
	}
	free(text);
	return failed ? -1 : EXIT_DONE;
}

int query_import(struct lab_access *lab, int argc, char **argv)
{
	struct import_options o = { .lab = lab, .tick_ns = 10000000, .cpus = 1 };
	struct option_spec specs[] = {
		{ 'n', "name", OPTION_TEXT, &o.name, "NAME", "name of the run" },
		{ 0, "dbms", OPTION_TEXT, &o.dbms, "NAME", "of which DBMS they are" },
		{ 0, "cpus", OPTION_INTEGER, &o.cpus, "NUM", "of the machine (default: 1)",
		  .min = 1, .max = 65536 },
		{ 0, "tick", OPTION_DURATION, &o.tick_ns, "TIME",
		  "length of a tick, for columns in ticks (default: 10ms)" },
		{ 0, "cold", OPTION_FLAG, &o.cold, NULL,
		  "caches were empty before each execution" },
		{ 0, "tag", OPTION_TEXT, &o.tag, "TEXT", "a note kept with the run" },
		LAB_OPTION(lab, "the lab"),
		{ 0 }
	};
	return cmd_run(
		"tare query import [OPTIONS] FILE",
		"Executions of queries that were measured elsewhere, from CSV ('-': standard\n"
		"input): a row each, columns as 'tare query report --executions' prints them.\n",
		specs, argc, argv, import, &o);
}
