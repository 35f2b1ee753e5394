/* Daemon studies on a page. */
#include <stdlib.h>

#include "cmd/calibrate/calibrate.h"
#include "cmd/calibrate/cutoffs.h"
#include "cmd/cmd.h"
#include "cmd/page/page.h"

int cmd_page_study(struct page *p, struct lab *lab, int64_t id, struct error *err)
{
	SCOPED(study_release) struct study s = { 0 };
	SCOPED(machine_release) struct machine machine = { 0 };
	SCOPED(study_input_release) struct study_input in = { .notice = cmd_notice };
	struct page_samples samples[STUDY_LENGTHS] = { 0 };
	bool *is_l[STUDY_LENGTHS] = { 0 };
	int failed = cutoffs_get_study(lab, id, &s, &machine, err) ||
		     study_load_samples(lab, &s, &in, is_l, err);
	for (int l = 0; l < STUDY_LENGTHS; l++)
		if (is_l[l])
			samples[l] = (struct page_samples){ &in.runs[l], is_l[l] };
	if (!failed)
		page_add_study(p, &s, machine.facts.count ? &machine : NULL, samples);
	for (int l = 0; l < STUDY_LENGTHS; l++)
		free(is_l[l]);
	return failed ? -1 : 0;
}
