/* A daemon study for people and programs: what was found, the cutoffs, and the plots it was found
 * by. */
#ifndef TARE_REPORT_STUDY_REPORT_H
#define TARE_REPORT_STUDY_REPORT_H

#include "base/strbuf.h"
#include "protocol/sedona/sedona.h"
#include "record/machine.h"
#include "record/study.h"
#include "report/core/table.h"

/* The study; machine may be NULL. */
void daemons_text(const struct study *s, const struct machine *machine, const struct style *style,
		  struct strbuf *out);
/* docs/schema/study.schema.json */
void daemons_json(const struct study *s, const struct machine *machine, struct strbuf *out);
/* A row per cutoff; the caller renders and frees. */
struct table *daemons_cutoffs(const struct cutoff *cutoffs, size_t count);

/* Samples over time, then the dual-execution scatter at each zoom level, L-samples marked: in
 * braille, or in ASCII. */
void daemons_plots(const struct sedona_run *r, const bool *is_l, const struct study_run *found,
		   const struct style *style, struct strbuf *out);

#endif
