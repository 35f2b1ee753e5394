/* Duets of the same two sides, taken together: the runs are clusters. Layout, the machine's state
 * and the hour may favour one side for a whole run, so that the interval of one run is too narrow
 * for what another run will find. Pure. */
#ifndef TARE_PROTOCOL_DUET_POOL_H
#define TARE_PROTOCOL_DUET_POOL_H

#include "protocol/duet/duet.h"

struct duet_pool {
	size_t runs;		 /* that have a ratio */
	double ratio, low, high; /* 95 %; with one run, that run's own */
	/* sigma of the log ratio between runs, beyond what their own intervals explain; NaN: one
	 * run */
	double between;
	double share; /* of the variation seen between runs that is not within them (I²); NaN */
};

/* Random effects (DerSimonian & Laird 1986, Controlled Clinical Trials 7, 177-188) with the
 * interval of Hartung & Knapp (2001, Statistics in Medicine 20, 3875-3889), which is Student's over
 * the runs, and never narrower than the one without (Röver et al. 2015, BMC Medical Research
 * Methodology 15, 99). Verdicts without a ratio are left out. */
void duet_pool(const struct duet_verdict *const *verdicts, size_t count, struct duet_pool *out);

#endif
