/* Prints a made-up daemon study in a form of report/: what the schema check reads, and people who
 * change the layout.
 * usage: study-sample [text|json|csv|plots [STUDY [WIDTH [ascii]]]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/study/report.h"
#include "study-fixture.h"

int main(int argc, char **argv)
{
	struct study_fixture f;
	struct strbuf out = { 0 };
	const char *form = argc > 1 ? argv[1] : "text";
	struct style style = { .width = argc > 3 ? (size_t)atoi(argv[3]) : 0,
			       .colour = isatty(1),
			       .ascii = argc > 4 };
	if (!study_fixture_make(&f, argc > 2 ? argv[2] : "paper"))
		return 2;
	const struct machine *machine = f.machine.facts.count ? &f.machine : NULL;
	if (!strcmp(form, "json"))
		daemons_json(&f.study, machine, &out);
	else if (!strcmp(form, "plots"))
		daemons_plots(&f.runs[0], f.is_l[0], &f.study.runs[0], &style, &out);
	else if (!strcmp(form, "csv")) {
		struct table *t = daemons_cutoffs(f.study.cutoffs.items, f.study.cutoffs.count);
		table_render(t, TABLE_CSV, NULL, &out);
		table_free(t);
	} else
		daemons_text(&f.study, machine, &style, &out);
	fputs(strbuf_text(&out), stdout);
	strbuf_release(&out);
	study_fixture_release(&f);
	return 0;
}
