/* Prints the made-up profile in a form of report/: what the schema check reads, and people who
 * change the layout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile-report.h"

int main(int argc, char **argv)
{
	const char *form = argc > 1 ? argv[1] : "text";
	struct profile_style style = { .style.colour = isatty(1),
				       .style.width = argc > 2 ? (size_t)atoi(argv[2]) : 80,
				       .totals = argc > 3 };
	struct strbuf out = { 0 };
	struct profile_case c;
	profile_case_make(&c);
	if (!strcmp(form, "tick"))
		c.profile.mode = PROFILE_TICK;
	if (!strcmp(form, "empty")) {
		profile_release(&c.profile);
		c.run.id = 0;
	}
	if (!strcmp(form, "json") || !strcmp(form, "empty") || !strcmp(form, "tick"))
		profile_case_json(&c, &style, &out);
	else if (!strcmp(form, "listing-json"))
		profile_listing_json(&c.subject, &c.listing, &out);
	else if (!strcmp(form, "listing"))
		profile_listing_text(&c.subject, &c.listing, &style, &out);
	else if (!strcmp(form, "diff-json"))
		profile_diff_json(&c.subject, &c.subject, &c.diff, &out);
	else if (!strcmp(form, "diff"))
		profile_diff_text(&c.subject, &c.subject, &c.diff, &style, &out);
	else
		profile_case_text(&c, &style, &out);
	fputs(strbuf_text(&out), stdout);
	strbuf_release(&out);
	profile_case_release(&c);
	return 0;
}
