/* Prints a made-up run of `tare noise` in a form of report/: what the schema check reads, and
 * people who change the layout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "noise-fixture.h"

int main(int argc, char **argv)
{
	static struct noise_fixture f;
	const char *form = argc > 1 ? argv[1] : "text";
	const char *which = argc > 2 ? argv[2] : "guest";
	struct noise_style style = { .style.colour = isatty(1),
				     .most = 10,
				     .style.width = argc > 3 ? (size_t)atoi(argv[3]) : 0,
				     .style.ascii = argc > 4 };
	struct strbuf out = { 0 };
	if (!strcmp(which, "empty"))
		noise_fixture_empty(&f, 2);
	else if (!strcmp(which, "plain"))
		noise_fixture_plain(&f);
	else
		noise_fixture_guest(&f);
	style.per_cpu = !strcmp(form, "cpus");
	style.mode = !strcmp(form, "succession") ? NOISE_BY_SUCCESSION : NOISE_BY_SOURCE;
	style.histograms = style.density = !strcmp(form, "plots");
	if (!strcmp(form, "json"))
		noise_json(&f.view, &out);
	else if (!strcmp(form, "csv") || !strcmp(form, "buckets")) {
		struct table *t = *form == 'c' ? noise_sources_table(&f.view, &style)
					       : noise_histogram_table(&f.view);
		table_render(t, TABLE_CSV, NULL, &out);
		table_free(t);
	} else if (!strcmp(form, "hist"))
		noise_hist(&f.view, 1000, 64, &out);
	else if (!strcmp(form, "top"))
		noise_top(&f.view, 24, &style, &out);
	else if (!strcmp(form, "zoom"))
		noise_zoom(&f.view, 1000, 20000, &style, &out);
	else
		noise_text(&f.view, &style, &out);
	fputs(strbuf_text(&out), stdout);
	strbuf_release(&out);
	noise_fixture_release(&f);
	return 0;
}
