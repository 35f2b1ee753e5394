/* Shared by the parts of a page. Private to report/page/. */
#ifndef TARE_REPORT_PAGE_PRIVATE_H
#define TARE_REPORT_PAGE_PRIVATE_H

#include <jansson.h>

#include "report/chart/charts.h"
#include "report/core/json.h"
#include "report/core/shapes.h"
#include "report/page/page.h"

struct page {
	json_t *root, *machines, *sections, *comparisons;
};

/* A section with the common members; those that its shape leaves to be set by hand are null. facts
 * is the struct of the shape, which includes the run. subtitle NULL: the run's command. The caller
 * fills in the rest and passes it to page_add(). */
json_t *page_head(struct page *p, const struct shape *section, const void *facts,
		  const struct run *run, const struct machine *machine, const char *subtitle);
/* Like page_head(), for a run that may have no data: subtitle is then NULL, and a note says so. */
json_t *page_head_stored(struct page *p, const struct shape *section, const struct run *run,
			 const struct machine *machine, struct strbuf *subtitle);
void page_note(json_t *section, const char *text); /* adds a sentence to its notes */
void page_notef(json_t *section, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void page_add(struct page *p, json_t *section);

/* Adds the chart to the section's charts and frees it. failed: there is nothing to draw. */
void page_chart(json_t *section, const char *name, struct chart *c, int failed);

/* The built page, web/dist/page.html, in the program (page_html.c is generated). */
extern const char page_built[];
extern const size_t page_built_size;

#endif
