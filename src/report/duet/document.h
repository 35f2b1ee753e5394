/* The document of a duet. Private to report/. */
#ifndef TARE_REPORT_DUET_DOCUMENT_H
#define TARE_REPORT_DUET_DOCUMENT_H

#include "report/duet/report.h"

/* What duet_shape describes. */
struct duet_head {
	uint32_t type;
	uint64_t format;
	struct duet data;
	struct duet_result result;
	double elapsed_ns;
	char *sentence; /* of how it was done */
};
/* A verdict with its words. */
struct duet_said {
	struct duet_verdict v;
	const char *name;
	char *sentence, *gate_sentence; /* the second NULL: not asked for */
};

#endif
