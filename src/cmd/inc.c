/* tare inc: the papers' compute-bound program, of known length and nothing but counting. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "subject/inc.h"

struct inc_options {
	long turns;
	bool print, again, verbose;
};

static int find_turns(const struct inc_options *o, const text_list *operands, uint64_t *turns,
		      struct error *err)
{
	uint64_t ns;
	char shown[128];
	if (o->turns && operands->count)
		return error_set(err, EXIT_USAGE, "inc takes a TIME or --turns, not both");
	if (o->turns) {
		*turns = (uint64_t)o->turns;
		return 0;
	}
	if (operands->count != 1) {
		error_set(err, EXIT_USAGE, "inc takes one TIME");
		return error_hint(err, "as in: tare inc 8s");
	}
	if (!duration_parse(operands->items[0], &ns) || ns == 0) {
		text_display(operands->items[0], shown, sizeof shown);
		error_set(err, EXIT_USAGE, "inc: '%s' is not a time", shown);
		return error_hint(err, "give one such as 8s, 250ms or 2m");
	}
	return inc_turns(ns, o->again, turns, err);
}

static int run(void *options, const struct cmd_args *args, struct error *err)
{
	const struct inc_options *o = options;
	uint64_t turns = 0;
	char used[32];
	if (find_turns(o, &args->operands, &turns, err))
		return -1;
	if (o->print) {
		printf("%" PRIu64 "\n", turns);
		return EXIT_DONE;
	}
	uint64_t begin = clock_cpu_ns(), made = inc_run(turns);
	text_duration((double)(clock_cpu_ns() - begin), 5, used, sizeof used);
	if (o->verbose)
		fprintf(stderr, "tare: %" PRIu64 " turns in %s of CPU time\n", made, used);
	return EXIT_DONE;
}

int cmd_inc(struct lab_access *lab, int argc, char **argv)
{
	(void)lab;
	struct inc_options o = { 0 };
	struct option_spec specs[] = { { 0, "turns", OPTION_INTEGER, &o.turns, "NUM",
					 "exactly NUM turns of the loop", .min = 1,
					 .max = LONG_MAX },
				       { 0, "print", OPTION_FLAG, &o.print, NULL,
					 "print how many turns that are, and count nothing" },
				       { 0, "calibrate-again", OPTION_FLAG, &o.again, NULL,
					 "measure anew how fast this CPU counts" },
				       { 'v', "verbose", OPTION_FLAG, &o.verbose, NULL,
					 "say how many turns it made, and their CPU time" },
				       { 0 } };
	return cmd_run("tare inc [OPTIONS] TIME\n       tare inc [OPTIONS] --turns NUM",
		       "Counts for about TIME of CPU time: no memory, no I/O. The same TIME is "
		       "the same\nwork every time on this machine. A program to measure, and to "
		       "measure with.\n",
		       specs, argc, argv, run, &o);
}
