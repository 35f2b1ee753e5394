/* Prints the document of a page with made-up noise, profiles and queries: what the schema check
 * reads. usage: page-parts-sample [html] */
#include <stdio.h>

#include "page-parts-fixture.h"

int main(int argc, char **argv)
{
	struct page *p = parts_page();
	struct strbuf out = { 0 };
	(void)argv;
	if (argc > 1)
		page_html(p, &out);
	else
		page_json(p, &out);
	fwrite(strbuf_text(&out), 1, out.length, stdout);
	strbuf_release(&out);
	page_free(p);
	return 0;
}
