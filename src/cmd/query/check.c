/* tare query check: whether an experiment's file is right, and what it would do. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/query/query.h"

struct check_options {
	const char *scale;
	bool show, queries;
};

static void describe(const struct experiment *e)
{
	char limit[32];
	size_t levels = e->cardinalities.count ? e->cardinalities.count : 1;
	text_duration((double)e->time_limit_ns, 3, limit, sizeof limit);
	printf("%s: %zu quer%s", e->name, e->queries.count, e->queries.count == 1 ? "y" : "ies");
	if (e->cardinalities.count)
		printf(" at %zu cardinalit%s from %" PRIu64 " down to %" PRIu64,
		       e->cardinalities.count, e->cardinalities.count == 1 ? "y" : "ies",
		       e->cardinalities.items[0],
		       e->cardinalities.items[e->cardinalities.count - 1]);
	printf(",\n%" PRIu32 " executions each, caches %s, at most %s an execution", e->executions,
	       e->cold ? "cold" : "warm", limit);
	printf("\n%s %zu executions in all%s\n", e->scenario == SCENARIO_ONEPASS ? "at most" : "so",
	       levels * e->queries.count * e->executions,
	       e->scenario == SCENARIO_ONEPASS ? " (onepass: only where the plan changes)" : "");
	for (size_t i = 0; i < e->tables.count; i++)
		printf("  table %s: %" PRIu64 " rows, %zu columns%s\n", e->tables.items[i].name,
		       e->tables.items[i].rows, e->tables.items[i].columns.count,
		       e->tables.items[i].varies ? ", varies" : "");
}

static int check(void *options, const struct cmd_args *args, struct error *err)
{
	const struct check_options *o = options;
	SCOPED(experiment_release) struct experiment e = { 0 };
	double scale;
	if (args->operands.count != 1)
		return error_set(err, EXIT_USAGE, "query check: one experiment, not %zu",
				 args->operands.count);
	if (query_scale(o->scale, &scale, err) ||
	    query_experiment(args->operands.items[0], scale, &e, err))
		return -1;
	if (o->show)
		fputs(e.text, stdout);
	else if (o->queries)
		for (size_t i = 0; i < e.queries.count; i++)
			printf("-- %zu: %s\n%s;\n", i + 1, e.queries.items[i].name,
			       e.queries.items[i].sql);
	else
		describe(&e);
	return EXIT_DONE;
}

int query_check(struct lab_access *lab, int argc, char **argv)
{
	(void)lab;
	struct check_options o = { 0 };
	struct option_spec specs[] = {
		{ 0, "show", OPTION_FLAG, &o.show, NULL,
		  "print the file: of a built-in one, something to begin with" },
		{ 0, "queries", OPTION_FLAG, &o.queries, NULL, "print the queries" },
		{ 0, "scale", OPTION_TEXT, &o.scale, "SCALE",
		  "of tpch: 1 is 6 million rows of lineitem (default: 0.01)" },
		{ 0 }
	};
	return cmd_run(
		"tare query check [OPTIONS] EXPERIMENT",
		"Reads an experiment's file (or takes quick, onepass or tpch, which are built in)\n"
		"and says what it would do. Nothing is connected to.\n",
		specs, argc, argv, check, &o);
}
