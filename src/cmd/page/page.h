/* Pages from what is stored: for `tare report`, which writes one, and `tare serve`, which answers
 * with its document. */
#ifndef TARE_CMD_PAGE_PAGE_H
#define TARE_CMD_PAGE_PAGE_H

#include "base/array.h"
#include "cmd/view.h"
#include "lab/lab.h"
#include "report/page/page.h"

typedef ARRAY(int64_t) id_list;

struct page_request {
	id_list runs;	 /* of any kind */
	id_list studies; /* of daemons; 0: the newest of this machine */
	bool served;
	enum cutoff_use cutoffs; /* applied to runs of `tare time` */
	int64_t reference; /* the one of `tare time` that others are compared with; 0: the first */
};

/* Sections stand by kind: times, studies, noises, profiles, queries; several of a kind are compared
 * with the first of it that has anything. The caller frees *out. */
int cmd_make_page(struct lab *lab, const struct page_request *request, struct page **out,
		  struct error *err);

/* A part each: everything of one kind, and its comparisons. */
int cmd_page_times(struct page *p, struct lab *lab, const struct page_request *request,
		   const id_list *runs, struct error *err);
int cmd_page_studies(struct page *p, struct lab *lab, const id_list *studies, struct error *err);
int cmd_page_noises(struct page *p, struct lab *lab, const id_list *runs, struct error *err);
int cmd_page_profiles(struct page *p, struct lab *lab, const id_list *runs, struct error *err);
int cmd_page_queries(struct page *p, struct lab *lab, const id_list *runs, struct error *err);

/* How runs of a kind become sections, of which each is compared with the first. */
struct page_kind {
	size_t size; /* of what a run is loaded into, which is all zero then */
	/* Loads a run and adds its section. *stored false: there is nothing to compare yet. What
	 * was loaded is released by the caller, also after an error. */
	int (*add)(struct page *p, struct lab *lab, int64_t id, void *into, bool *stored,
		   struct error *err);
	/* The last section with that at `first`. */
	void (*compare)(struct page *p, size_t first, const void *base, const void *run);
	void (*release)(void *loaded);
};
int cmd_page_compared(struct page *p, struct lab *lab, const id_list *runs,
		      const struct page_kind *kind, struct error *err);

#endif
