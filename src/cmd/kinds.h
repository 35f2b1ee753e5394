/* What can be done with a run, by its kind: the table of `show`, `export`, `report` and `serve`. */
#ifndef TARE_CMD_KINDS_H
#define TARE_CMD_KINDS_H

#include "base/strbuf.h"
#include "report/page/page.h"
#include "run/load.h"

enum run_form_as {
	RUN_TEXT,
	RUN_JSON,
	RUN_CSV,
	RUN_MARKDOWN,
	RUN_ASCIIDOC,
	RUN_ORGMODE,
	RUN_TSV,
	RUN_PERFETTO,
};
struct run_form {
	enum run_form_as as;
	bool executions; /* one row per execution */
	bool brief;	 /* text: the answer without its details, where a kind tells them apart */
	bool exported;	 /* for programs: all rows, whatever people see */
	int unit;	 /* enum time_unit */
};

struct run_kind {
	unsigned exports, of_executions; /* bits of the forms that `tare export` supports */
	const char *goes_out;		 /* a text that lists them */
	void (*prepare)(struct lab *lab, int64_t id); /* called before it is loaded; may be NULL */
	/* Only commands may have several runs. */
	void (*render)(const loaded_list *runs, const struct run_form *form, struct strbuf *out);
	/* Adds its section to a page. The run must be loaded with page_options. */
	struct load_options page_options;
	int (*add_to_page)(struct page *p, struct lab *lab, struct loaded_run *l, size_t runs,
			   struct error *err);
	/* Compares the last section with the one at `first`; NULL: all are compared at the end. */
	void (*compare_on_page)(struct page *p, size_t first, const struct loaded_run *base,
				const struct loaded_run *run);
};
extern const struct run_kind run_kinds[SUBJECT_KINDS];

/* ---- sections of pages (page/) ---- */

int page_times_add(struct page *p, struct lab *lab, struct loaded_run *l, size_t runs,
		   struct error *err);
int page_times_compare(struct page *p, const loaded_list *list, size_t first, int64_t reference,
		       struct error *err);
int page_noise_add(struct page *p, struct lab *lab, struct loaded_run *l, size_t runs,
		   struct error *err);
void page_noise_compare(struct page *p, size_t first, const struct loaded_run *base,
			const struct loaded_run *run);
int page_profile_add(struct page *p, struct lab *lab, struct loaded_run *l, size_t runs,
		     struct error *err);
void page_profile_compare(struct page *p, size_t first, const struct loaded_run *base,
			  const struct loaded_run *run);
int page_queries_add(struct page *p, struct lab *lab, struct loaded_run *l, size_t runs,
		     struct error *err);
void page_queries_compare(struct page *p, size_t first, const struct loaded_run *base,
			  const struct loaded_run *run);
int page_duets_add(struct page *p, struct lab *lab, struct loaded_run *l, size_t runs,
		   struct error *err);
/* All of them together: pooled if they compare the same two. */
void page_duets_compare(struct page *p, const loaded_list *list, const size_t *sections);

#endif
