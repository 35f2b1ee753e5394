/* The report of `tare explain`. */
#ifndef TARE_REPORT_TIME_EXPLAIN_H
#define TARE_REPORT_TIME_EXPLAIN_H

#include "protocol/emp/explain.h"
#include "report/time/report.h"

/* The begin of explain.schema.json. The copies share the memory of the originals. */
struct explain_head {
	struct run run;
	struct explanation explanation;
	struct execution median;
};

/* For people; explains at most `most` executions (0: all). */
void explain_text(const struct run_view *view, const struct explanation *e, size_t most,
		  const struct style *style, struct strbuf *out);
/* docs/schema/explain.schema.json */
void explain_json(const struct run_view *view, const struct explanation *e, struct strbuf *out);

#endif
