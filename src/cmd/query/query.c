/* tare query: the time of queries, by the Tucson Timing Protocol. */
#include "cmd/query/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/cmd.h"

int cmd_query(struct lab_access *lab, int argc, char **argv)
{
	static const struct subcommand parts[] = {
		{ "run", query_record, WRITES_LAB },
		{ "resume", query_resume, EDITS_LAB },
		{ "report", query_report, READS_LAB },
		{ "compare", query_compare, READS_LAB },
		{ "check", query_check, NO_LAB },
		{ "import", query_import, WRITES_LAB },
		{ 0 },
	};
	bool named = false;
	for (const struct subcommand *p = parts; argc > 1 && p->name; p++)
		named |= strcmp(argv[1], p->name) == 0;
	if (named)
		return cmd_parts(parts, false, lab, argc, argv);
	lab->need = WRITES_LAB;
	return query_record(lab, argc, argv); /* anything else is an experiment */
}

int query_scale(const char *text, double *scale, struct error *err)
{
	*scale = 0;
	if (!text || (real_parse(text, scale) && *scale > 0))
		return 0;
	return error_set(err, EXIT_USAGE, "query: --scale takes a number above 0, not '%.60s'",
			 text);
}

int query_experiment(const char *name, double scale, struct experiment *into, struct error *err)
{
	for (size_t i = 0; experiment_names[i]; i++)
		if (strcmp(name, experiment_names[i]) == 0)
			return experiment_builtin(name, scale, into, err);
	char shown[200];
	size_t length;
	char *text = cmd_read_file(name, EXPERIMENT_MOST + 1, "cannot read the experiment ", shown,
				   &length, err);
	if (!text)
		return error_hint(err, "the built-in ones are quick, onepass and tpch");
	const char *slash = strrchr(name, '/');
	FREED char *directory = slash ? xstrndup(name, (size_t)(slash - name)) : xstrdup(".");
	int failed = experiment_parse(text, length, *directory ? directory : "/", into, err);
	free(text);
	return failed ? error_prefix(err, "%s", shown) : 0;
}
