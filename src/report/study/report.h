/* Reports of a daemon study for people and programs: the findings, the cutoffs, and the plots. */
#ifndef TARE_REPORT_STUDY_REPORT_H
#define TARE_REPORT_STUDY_REPORT_H

#include "base/strbuf.h"
#include "protocol/sedona/sedona.h"
#include "record/machine.h"
#include "record/study.h"
#include "report/core/table.h"

/* machine may be NULL. */
void daemons_text(const struct study *s, const struct machine *machine, const struct style *style,
		  struct strbuf *out);
/* docs/schema/study.schema.json */
void daemons_json(const struct study *s, const struct machine *machine, struct strbuf *out);
/* A row per cutoff. The caller renders and frees it. */
struct table *daemons_cutoffs(const struct cutoff *cutoffs, size_t count);

/* Samples over time, then the dual-execution scatter at each zoom level with L-samples marked, in
 * braille or ASCII. */
void daemons_plots(const struct sedona_run *r, const bool *is_l, const struct study_run *found,
		   const struct style *style, struct strbuf *out);

#endif
