/* Prints a made-up page: what the schema check reads, and people who change the page.
 * usage: page-sample json|html [time|hostile|STUDY|parts|run COUNT|runs|noises|profiles|stackless]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "parts-fixture.h"
#include "web-fixture.h"

int main(int argc, char **argv)
{
	struct strbuf out = { 0 };
	const char *which = argc > 2 ? argv[2] : "time";
	struct page *p = strcmp(which, "parts") == 0 ? parts_page()
			 : strcmp(which, "run") == 0
				 ? web_run(strtoul(argc > 3 ? argv[3] : "400", NULL, 10))
			 : strcmp(which, "runs") == 0	   ? web_runs()
			 : strcmp(which, "profiles") == 0  ? web_profiles(true)
			 : strcmp(which, "stackless") == 0 ? web_profiles(false)
			 : strcmp(which, "noises") == 0	   ? web_noises()
							   : page_fixture_make(which);
	if (!p)
		return 2;
	if (argc > 1 && strcmp(argv[1], "html") == 0)
		page_html(p, &out);
	else
		page_json(p, &out);
	fwrite(strbuf_text(&out), 1, out.length, stdout);
	strbuf_release(&out);
	page_free(p);
	return 0;
}
