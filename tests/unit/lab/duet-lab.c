/* Makes a lab with duets for the tests of commands and pages: duet-lab FILE. The runs are 1:
 * faster, 2: open, 3: the same, 4: three sides, 5: whole executions, some failed, 6 and 7: slower
 * than allowed, and not known, 8 and 9: as 1, again, 10: too few pairs, 11: begun only, 12: much
 * faster. */
#include <stdio.h>
#include <stdlib.h>

#include "../fixtures/duet.h"
#include "lab/lab.h"

static int add(struct lab *lab, const char *name, const struct duet_scene *s, struct error *err)
{
	struct run run = { .kind = SUBJECT_DUET,
			   .name = xstrdup(name),
			   .command = xstrdup("tare duet './old input' './new input'"),
			   .version = xstrdup("0.1"),
			   .started_at_ns = INT64_C(1699999999000000000) };
	struct machine m = { 0 };
	machine_set(&m, "cpu.model", "Test CPU");
	machine_set(&m, "kernel.release", "6.1.0");
	struct duet d = duet_made(s);
	int failed = lab_add_machine(lab, &m, &run.machine, err) || lab_add_run(lab, &run, err);
	if (!failed && s->sides && d.sides.count)
		failed = lab_add_duet(lab, run.id, &d, err);
	size_t from = 0;
	for (size_t i = 0; !failed && i <= d.looks.count; i++) {
		uint32_t until = i < d.looks.count ? d.looks.items[i].pairs : UINT32_MAX;
		size_t to = from;
		while (to < d.parts.count && d.parts.items[to].pair <= until)
			to++;
		failed = lab_add_duet_parts(lab, run.id,
					    d.parts.count ? d.parts.items + from : NULL, to - from,
					    i < d.looks.count ? &d.looks.items[i] : NULL, err);
		from = to;
	}
	if (!failed)
		failed = lab_end_run(lab, run.id, RUN_COMPLETE, err);
	duet_release(&d);
	machine_release(&m);
	run_release(&run);
	return failed;
}

int main(int argc, char **argv)
{
	const struct {
		const char *name;
		struct duet_scene s;
	} runs[] = {
		{ "faster",
		  { DUET_SCHEDULER,
		    2,
		    24,
		    { 1, .982 },
		    .004,
		    .08,
		    .look_every = 6,
		    .alone = 4,
		    .seed = 1 } },
		{ "open",
		  { DUET_SCHEDULER, 2, 12, { 1, 1 }, .02, .08, .look_every = 6, .seed = 2 } },
		{ "same",
		  { DUET_FREEZER, 2, 30, { 1, 1 }, .002, .05, .look_every = 10, .seed = 3 } },
		{ "several",
		  { DUET_SCHEDULER,
		    4,
		    15,
		    { 1, .98, 1, 1.3 },
		    .004,
		    .08,
		    .look_every = 5,
		    .seed = 4 } },
		{ "whole",
		  { DUET_WHOLE,
		    2,
		    20,
		    { 1, 1.08 },
		    .01,
		    .02,
		    .look_every = 5,
		    .fail_every = 7,
		    .seed = 5 } },
		{ "gate",
		  { DUET_SCHEDULER,
		    2,
		    20,
		    { 1, 1.03 },
		    .004,
		    .08,
		    .slower = .01,
		    .look_every = 5,
		    .seed = 6 } },
		{ "unsure",
		  { DUET_SCHEDULER,
		    2,
		    8,
		    { 1, 1.01 },
		    .01,
		    .08,
		    .slower = .01,
		    .look_every = 4,
		    .seed = 7 } },
		{ "faster",
		  { DUET_SCHEDULER, 2, 24, { 1, .985 }, .004, .08, .look_every = 6, .seed = 8 } },
		{ "faster",
		  { DUET_SCHEDULER, 2, 24, { 1, .978 }, .004, .08, .look_every = 6, .seed = 9 } },
		{ "few", { DUET_SCHEDULER, 2, 2, { 1, .98 }, .004, .08, .seed = 10 } },
		{ "begun", { .way = DUET_SCHEDULER, .seed = 11 } },
		{ "much",
		  { DUET_SCHEDULER, 2, 12, { 1, .43 }, .004, .08, .look_every = 6, .seed = 12 } },
	};
	struct error err = ERROR_INIT;
	struct lab *lab;
	if (argc != 2 || lab_open(&lab, argv[1], LAB_WRITE, &err)) {
		fprintf(stderr, "duet-lab: %s\n", err.text);
		return 1;
	}
	int failed = 0;
	for (size_t i = 0; i < sizeof runs / sizeof *runs && !failed; i++)
		failed = add(lab, runs[i].name, &runs[i].s, &err);
	lab_close(lab);
	if (failed)
		fprintf(stderr, "duet-lab: %s\n", err.text);
	return failed ? 1 : 0;
}
