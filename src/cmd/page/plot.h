/* Options of `tare plot`, and the kinds of figures (plot_kinds.c). Private to it. */
#ifndef TARE_CMD_PAGE_PLOT_H
#define TARE_CMD_PAGE_PLOT_H

#include "base/options.h"
#include "lab/lab.h"
#include "report/chart/charts.h"

struct plot_options {
	struct lab_access *lab;
	const char *output, *size, *title, *query, *daemons; /* daemons "": the newest study */
	int format;	/* enum chart_format; -1: by the name */
	int measure;	/* index into compared_measures */
	long top, zoom; /* 0: not given */
	bool wide, together, long_run;
	text_list runs;
};

struct plot_kind {
	const char *name;
	enum subject_kind of; /* SUBJECT_KINDS: a daemon study */
	bool several;	      /* it accepts several runs */
	const char *about;
	int (*make)(const struct plot_options *o, int which, struct chart *c, struct error *err);
	int which;	  /* which of its charts to make */
	unsigned options; /* those it takes in addition to the common ones */
};
extern const struct plot_kind plot_kinds[]; /* ends with a name of NULL; the first of a subject is
					       its default, except for several runs */
/* Finds a kind by name; NULL: there is none. */
const struct plot_kind *plot_kind_find(const char *name);
/* Chooses the kind for these runs: `asked`, or if NULL the first that fits. */
int plot_kind_choose(const struct plot_options *o, const struct plot_kind *asked,
		     const struct plot_kind **into, struct error *err);

#endif
