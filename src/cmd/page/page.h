/* Pages from stored runs: `tare report` writes a page, and `tare serve` sends its document. */
#ifndef TARE_CMD_PAGE_PAGE_H
#define TARE_CMD_PAGE_PAGE_H

#include "base/array.h"
#include "lab/lab.h"
#include "report/page/page.h"
#include "run/load.h"
#include "serve/request.h"

typedef ARRAY(int64_t) id_list;

struct page_request {
	id_list runs;	 /* of any kind */
	id_list studies; /* of daemons; 0: the newest of this machine */
	bool served;
	enum cutoff_use cutoffs; /* applied to runs of `tare time` */
	const char *measure;	 /* what they are judged by; NULL: as they were made */
	int64_t reference; /* the run of `tare time` that others are compared with; 0: the first */
};

/* Sections are ordered by kind: times, studies, noises, profiles, queries. Several of a kind are
 * compared with the first that has data. The caller frees *out. */
int cmd_make_page(struct lab *lab, const struct page_request *request, struct page **out,
		  struct error *err);

/* The list of runs that `tare serve` answers with, as JSON. */
int serve_list(struct lab *lab, const struct request *r, struct strbuf *out, struct error *err);

/* Gives up, for good, what serving the lab at this full path does not need: root, capabilities,
 * files elsewhere, other programs, connections of its own. Before threads are started. Says it on
 * stderr if it stays root. */
void serve_confine(const char *path, bool read_only);

int cmd_page_study(struct page *p, struct lab *lab, int64_t id, struct error *err);

#endif
